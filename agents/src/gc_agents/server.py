"""
The MCP server: tools and resources of an agent on its own session.

Clients that defer the tools of servers see their names and the instructions alone until they search: both say what
there is in a line each.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Final, Literal

import anyio.to_thread
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from gc_agents.changes import NOTE, NOTHING_TO_UNDO, PIN, UNDO, UNPIN, Change
from gc_agents.conversations import KEY_HEADER, Caller
from gc_agents.desk import Desk
from gc_core.errors import GCError

INSTRUCTIONS: Final = """What left the context window can be read again; nothing is lost.
gc_recall: the original text of what a [gc: …] line names.
gc_search: search all that was said or returned here, with ids to recall.
gc_status: how full the window is, by what, and what was left out.
gc_pin, gc_unpin: keep an item in the window, or release it.
gc_undo: undo the last collection; everything it removed comes back.
gc_note: keep a goal or decision in sight for good."""

_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

Reference = Annotated[str, Field(description="i42, i5-i9, i42@5f3a9c or a whole [gc: ...] line")]
Offset = Annotated[int, Field(description="characters to skip", ge=0)]
Query = Annotated[str, Field(description='words; "quotes" make a phrase')]
Tool = Annotated[str, Field(description="this tool alone")]
Role = Annotated[Literal["", "user", "assistant", "tool"], Field(description="this role alone")]
Page = Annotated[int, Field(description="page of hits, from 1", ge=1)]
Id = Annotated[str, Field(description="an item's id, i42")]
Text = Annotated[str, Field(description="what to keep in sight")]
Mode = Annotated[Literal["append", "replace"], Field(description="beside the notes so far, or instead of them")]


class Undoing(BaseModel):
    """What a user is asked before a collection is undone."""

    undo: bool = Field(title="Undo it", description="Everything that it removed comes back into the window.")


def server_of(desk: Desk, version: str = "") -> MCPServer:
    """Return the server whose tools a desk answers."""
    server = MCPServer("gc", title="gc-core", instructions=INSTRUCTIONS, version=version, log_level="WARNING")
    _add_reading_tools(server, desk)
    _add_changing_tools(server, desk)
    _add_undo(server, desk)
    _add_resources(server, desk)
    return server


def _add_reading_tools(server: MCPServer, desk: Desk) -> None:
    @server.tool(annotations=_READS, structured_output=False)
    async def gc_recall(reference: Reference, ctx: Context, offset: Offset = 0) -> str:
        """Get the original text of what was left out of the context."""
        return await _told(desk.recall, caller_of(ctx), reference, offset)

    @server.tool(annotations=_READS, structured_output=False)
    async def gc_search(query: Query, ctx: Context, tool: Tool = "", role: Role = "", page: Page = 1) -> str:
        """Search all that was ever said or returned here, with ids to recall."""
        return await _told(desk.search, caller_of(ctx), query, tool, role, page)

    @server.tool(annotations=_READS, structured_output=False)
    async def gc_status(ctx: Context) -> str:
        """How full the context is, by what, and what was left out."""
        return await _told(desk.status, caller_of(ctx))


def _add_changing_tools(server: MCPServer, desk: Desk) -> None:
    @server.tool(annotations=_WRITES, structured_output=False)
    async def gc_pin(item: Id, ctx: Context) -> str:
        """Keep an item in the context, whatever is collected."""
        return await _told(desk.change, caller_of(ctx), Change(tool=PIN, item=item))

    @server.tool(annotations=_WRITES, structured_output=False)
    async def gc_unpin(item: Id, ctx: Context) -> str:
        """Release a pinned item."""
        return await _told(desk.change, caller_of(ctx), Change(tool=UNPIN, item=item))

    @server.tool(annotations=_WRITES, structured_output=False)
    async def gc_note(text: Text, ctx: Context, mode: Mode = "append") -> str:
        """Keep goals and decisions in sight for good."""
        return await _told(desk.change, caller_of(ctx), Change(tool=NOTE, text=text, mode=mode))


def _add_undo(server: MCPServer, desk: Desk) -> None:
    async def asked(ctx: Context) -> Undoing | Elicit[Undoing]:
        """Ask the user where the client can, and nobody where it cannot, or where there is nothing to undo."""
        line = await _told(desk.undoable, caller_of(ctx))
        if not line:
            raise ToolError(NOTHING_TO_UNDO)
        if not _asks(ctx):
            return Undoing(undo=True)
        return Elicit(f"Undo this collection? {line}", Undoing)

    @server.tool(annotations=_WRITES, structured_output=False)
    async def gc_undo(ctx: Context, answer: Annotated[ElicitationResult[Undoing], Resolve(asked)]) -> str:
        """Undo the last collection; everything it removed comes back."""
        if not isinstance(answer, AcceptedElicitation) or not answer.data.undo:
            return "nothing was undone: the user declined"
        return await _told(desk.change, caller_of(ctx), Change(tool=UNDO))


def _add_resources(server: MCPServer, desk: Desk) -> None:
    @server.resource("gc://items/{item}", mime_type="text/plain")
    async def item(item: str, ctx: Context) -> str:
        """The original text of an item."""
        return await _read(desk.item, caller_of(ctx), item)

    # With a variable, because the library hands the context of a call to templates alone.
    @server.resource("gc://state{?of}", mime_type="text/plain")
    async def state(ctx: Context, of: str = "") -> str:
        """The state of the task: demands, decisions, questions, files, errors. of=5f3a9c: of that conversation."""
        return await _read(desk.state, caller_of(ctx), of)

    @server.resource("gc://history{?of}", mime_type="text/plain")
    async def history(ctx: Context, of: str = "") -> str:
        """What was done to the window, oldest first. of=5f3a9c: to that conversation's."""
        return await _read(desk.history, caller_of(ctx), of)


# -- calls -------------------------------------------------------------------------------------------------------------


async def _told(answer: Callable[..., str], *arguments: object) -> str:
    """Return the answer, found in a thread of its own. Raises ToolError, with what was wrong, for the model."""
    try:
        return await anyio.to_thread.run_sync(partial(answer, *arguments))
    except GCError as error:
        raise ToolError(str(error)) from error


async def _read(answer: Callable[..., str], *arguments: object) -> str:
    try:
        return await anyio.to_thread.run_sync(partial(answer, *arguments))
    except GCError as error:
        raise ResourceError(str(error)) from error


def caller_of(ctx: Context) -> Caller:
    """Return who calls: Codex says so in ``_meta``, an HTTP client in its headers, Claude Code in neither."""
    headers = ctx.headers or {}
    return Caller(
        thread=_thread_in(ctx.request_context.meta),
        lane=headers.get("x-gc-lane", ""),
        key=headers.get(KEY_HEADER, ""),
        claude=headers.get("x-claude-code-session-id", ""),
    )


def _thread_in(meta: Any) -> str:
    """Return the thread that Codex names in the metadata of a call, an object or its JSON text."""
    told = meta.get("x-codex-turn-metadata") if isinstance(meta, Mapping) else None
    try:
        found = json.loads(told) if isinstance(told, str) else told
    except ValueError:
        return ""
    thread = found.get("thread_id") if isinstance(found, Mapping) else None
    return thread if isinstance(thread, str) else ""


def _asks(ctx: Context) -> bool:
    capabilities = ctx.client_capabilities
    return capabilities is not None and capabilities.elicitation is not None
