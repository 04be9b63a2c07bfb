"""Which conversation a request belongs to, by what its client sends."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import attrs

_CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
_CHARS = 24
_KEY = re.compile(r"[0-9a-f]+(?:-[0-9a-f]+)+")


@attrs.frozen(kw_only=True)
class LaneId:
    """
    The identity of a lane.

    Attributes:
        scope: Digest of credential, upstream and dialect: lanes of two scopes never meet, whatever ids a client sends.
        name: The client's own id of the conversation, or "": then the history itself identifies it.
        parent: The name of the lane of the agent that started this one, or "".
        client: The sender, for people.
        is_agent: Its client is an agent, whose turns have tools.

    """

    scope: str
    name: str = ""
    parent: str = ""
    client: str = ""
    is_agent: bool = False

    @property
    def folder(self) -> str:
        """The name of the lane's directory, for a lane with a name."""
        return f"{self.scope}-{_digest(self.name)}"


def scope_of(dialect: str, upstream: str, headers: Mapping[str, str], query_key: str = "") -> str:
    """Return the digest of dialect, upstream and credential, in whichever header it comes."""
    given = (headers.get(name, "").removeprefix("Bearer ") for name in _CREDENTIALS)
    credentials = sorted(filter(None, {*given, query_key.removeprefix("key=")}))
    return _digest(json.dumps([dialect, upstream, credentials]))


def lane_of(scope: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> LaneId:
    """
    Return the lane of a request, from its headers (lower-case names) and body.

    In this order: our own header, Claude Code's session and agent, Codex's thread, opencode's session.
    """
    client = headers.get("user-agent", "").partition("/")[0]
    own = headers.get("x-gc-lane", "")
    if own:
        return LaneId(scope=scope, name=f"gc:{own}", client=client)
    claude = headers.get("x-claude-code-session-id") or _session_in(body.get("metadata"))
    if claude:
        agent, parent = headers.get("x-claude-code-agent-id", ""), headers.get("x-claude-code-parent-agent-id", "")
        of = f"claude-code:{claude}:{parent}" if agent else ""
        return LaneId(scope=scope, name=f"claude-code:{claude}:{agent}", parent=of, client=client, is_agent=True)
    thread = headers.get("thread-id", "")
    if thread:
        parent = headers.get("x-codex-parent-thread-id", "")
        of = f"codex:{parent}" if parent else ""
        return LaneId(scope=scope, name=f"codex:{thread}", parent=of, client=client, is_agent=True)
    opencode = headers.get("x-session-id") or headers.get("x-session-affinity", "")
    if opencode:
        parent = headers.get("x-parent-session-id", "")
        of = f"opencode:{parent}" if parent else ""
        return LaneId(scope=scope, name=f"opencode:{opencode}", parent=of, client=client, is_agent=True)
    return LaneId(scope=scope, client=client)


def is_key(text: str) -> bool:
    """True for what may be the name of a lane's directory."""
    return _KEY.fullmatch(text) is not None


def is_aside(headers: Mapping[str, str]) -> bool:
    """True if the client says that the request is not a turn of the conversation: Codex's compactions and warm-ups."""
    try:
        metadata = json.loads(headers.get("x-codex-turn-metadata", "{}"))
    except (ValueError, RecursionError):
        return False
    return isinstance(metadata, Mapping) and metadata.get("request_kind") in {"compaction", "prewarm"}


def _session_in(metadata: object) -> str:
    """Return the session in Claude Code's ``metadata.user_id``, which is a JSON text."""
    text = metadata.get("user_id") if isinstance(metadata, Mapping) else None
    try:
        parsed = json.loads(text) if isinstance(text, str) and text.startswith("{") else None
    except (ValueError, RecursionError):
        return ""
    return str(parsed.get("session_id", "")) if isinstance(parsed, Mapping) else ""


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()[:_CHARS]
