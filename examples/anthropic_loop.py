"""
An agent's loop with the official ``anthropic`` client, kept inside its window.

With a key in ``ANTHROPIC_API_KEY`` (the client reads ``ANTHROPIC_BASE_URL`` too)::

    python examples/anthropic_loop.py "What does this project do?" .
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import anthropic
from anthropic.types import Message, ToolUseBlock

import gc_core as gc
from gc_core.events import CollectionFinished
from gc_core.integrations.agent_tools import AgentTools

MODEL = os.environ.get("MODEL", "claude-opus-5")
SYSTEM = "You answer questions about the files of a directory. Read before you answer; name the files."
TOOLS = [
    {
        "name": "list_files",
        "description": "The names of all files of the directory.",
        "input_schema": {"type": "object", "properties": {}},
    },
    {
        "name": "read_file",
        "description": "The text of a file, by the name that list_files tells.",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
]


def answered(
    client: anthropic.Anthropic,
    question: str,
    root: Path,
    *,
    config: gc.GCConfig | None = None,
    directory: Path | None = None,
    on_event: Callable[[object], None] | None = None,
) -> str:
    """What the agent says in the end; with a ``directory`` the session can be looked at, and gone on with."""
    config = config or gc.GCConfig(strategy="gc_budget", context_limit=200_000)
    session = gc.GCSession(config, format="anthropic", model=MODEL, directory=directory, on_event=on_event)
    with session:
        memory = AgentTools(session, names=("recall", "search_history"))
        session.system(base=SYSTEM)
        session.tools([*TOOLS, *memory.schemas()])
        session.append({"role": "user", "content": question})
        while True:
            reply = asked(client, session)
            session.post_turn(reply, usage=reply.usage)
            if reply.stop_reason != "tool_use":
                return "".join(block.text for block in reply.content if block.type == "text")
            for message in memory.answer(reply):  # what the agent wants back from its own past
                session.append(message)
            calls = [block for block in reply.content if block.type == "tool_use" and not memory.handles(block.name)]
            if calls:
                session.append({"role": "user", "content": [result(call, root) for call in calls]})


def asked(client: anthropic.Anthropic, session: gc.GCSession) -> Message:
    """One model call; where the provider finds it too long, a smaller one."""
    request = session.pre_send()
    while True:
        try:
            reply: Message = client.messages.create(
                model=MODEL, max_tokens=session.config.output_reservation, **request.kwargs()
            )
        except anthropic.BadRequestError as error:
            request = session.recover(error)  # raises it again where it is not about length
        else:
            return reply


def result(call: ToolUseBlock, root: Path) -> dict[str, object]:
    """A tool's result; an error is reported to the model, which can correct it."""
    answer: dict[str, object] = {"type": "tool_result", "tool_use_id": call.id}
    try:
        return answer | {"content": used(call.name, dict(call.input), root)}
    except (OSError, KeyError, ValueError) as error:
        return answer | {"content": f"{type(error).__name__}: {error}", "is_error": True}


def used(tool: str, arguments: dict[str, object], root: Path) -> str:
    """Run one tool; nothing outside of ``root`` can be read."""
    files = {str(path.relative_to(root)): path for path in sorted(root.rglob("*")) if path.is_file()}
    if tool == "list_files":
        return "\n".join(files) or "no files"
    return files[str(arguments["path"])].read_text(encoding="utf-8", errors="replace")


def print_event(event: object) -> None:
    """Say when something was collected."""
    if isinstance(event, CollectionFinished):
        print(f"[{event.result.tokens_freed:,} tokens collected]", file=sys.stderr)


if __name__ == "__main__":
    print(answered(anthropic.Anthropic(), sys.argv[1], Path(sys.argv[2]), on_event=print_event))
