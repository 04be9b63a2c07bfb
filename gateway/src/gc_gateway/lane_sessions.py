"""The lanes of a gateway as an MCP server sees them: read as they are, and changed between two requests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from gc_agents.changes import NOTE, Change, carry_out, place_notes
from gc_agents.conversations import NOT_HELD, Caller, Conversation, Readable, tag_in
from gc_agents.desk import Desk
from gc_agents.lane_folders import LaneFolders
from gc_agents.server import server_of
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from gc_core import SessionReader
from gc_core.errors import SourceError
from gc_gateway.lane_ids import is_key
from gc_gateway.lanes import Lane, Lanes
from gc_gateway.settings import Settings


def manager_of(settings: Settings, lanes: Lanes) -> StreamableHTTPSessionManager:
    """Return what serves MCP over streamable HTTP for a gateway's lanes; it has not begun yet."""
    server = server_of(Desk(LaneSessions(settings, lanes)))
    # Makes the manager. Who may call was asked before; what the library asks would keep out every name but its own.
    server.streamable_http_app(transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False))
    return server.session_manager


class LaneSessions:
    """
    The conversations of a gateway's lanes.

    Args:
        settings: Those of the gateway.
        lanes: Its lanes.

    """

    def __init__(self, settings: Settings, lanes: Lanes) -> None:
        self._root = settings.directory
        self._lanes = lanes
        self._folders = LaneFolders(settings.directory)

    def of(self, caller: Caller) -> tuple[Conversation, ...]:
        """Return the caller's conversation, then the others of its session. Raises SourceError if none is known."""
        if caller.key:
            return self._of_key(caller.key)
        name = _name_of(caller)
        found = self._folders.family(name) if name else self._only()
        if not found:
            text = f"{NOT_HELD}: {name or 'the call names none, and there are several or none'}"
            raise SourceError(f"{text}; name it by the header x-gc-lane, as the requests to the provider do")
        return found

    @contextlib.contextmanager
    def reading(self, conversation: Conversation) -> Iterator[Readable]:
        """Read a lane in memory as it is, any other from its files. Raises LogError."""
        lane = self._lanes.find(conversation.directory.name)
        if lane is not None:
            yield lane.session
            return
        with SessionReader(conversation.directory) as reader:
            yield reader

    def original(self, _caller: Caller, _call: str) -> None:
        """Return None: what hooks shorten is kept by the server that the agent starts."""

    def change(self, conversation: Conversation, change: Change) -> str:
        """Carry out a change, between two requests of the lane. Raises LogError and SourceError."""
        key = conversation.directory.name
        with self._lanes.changing(key) as session:
            told = carry_out(session, change)
            if change.tool == NOTE and self._lanes.find(key) is None:
                place_notes(session)
        return told

    # -- inside --------------------------------------------------------------------------------------------------------

    def _of_key(self, key: str) -> tuple[Conversation, ...]:
        lane = self._lanes.find(key) if is_key(key) else None
        if lane is None:
            raise SourceError(f"{NOT_HELD}: {key[:100]!r}")
        others = self._folders.family(lane.id.name) if lane.id.name else ()
        return (_conversation(lane), *(one for one in others if one.directory.name != key))

    def _only(self) -> tuple[Conversation, ...]:
        """Return the only conversation in memory that no other one started, with those that it started."""
        roots = [lane for lane in self._lanes.open if not lane.id.parent]
        if len(roots) != 1:
            return ()
        return self._of_key(roots[0].key)


def _conversation(lane: Lane) -> Conversation:
    return Conversation(directory=lane.session.directory, name=lane.id.name, tag=tag_in(lane.session.directory))


def _name_of(caller: Caller) -> str:
    """Return the name of the caller's lane, as the gateway calls it; "" if the call says none."""
    names: Mapping[str, str] = {
        "gc:{}": caller.lane,
        "codex:{}": caller.thread,
        "claude-code:{}:": caller.claude,
    }
    return next((name.format(given) for name, given in names.items() if given), "")
