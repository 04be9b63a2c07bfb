"""The last request that was sent, so that a report can say where the next one differs."""

from __future__ import annotations

from gc_core.providers.rules.prefix import first_change, same
from gc_core.values.messages import Request

_LEVELS = ("tools", "system", "messages")
_HEADS = frozenset({"system", "developer"})


class SentPrefix:
    """Follows the requests of a session; most payloads are the same objects again, so comparing them is cheap."""

    def __init__(self) -> None:
        self._last: Request | None = None
        self._changed = ""

    def follow(self, request: Request) -> None:
        """Note a request that is sent."""
        if self._last is not None:
            levels = (self._changed, _change(self._last, request))
            self._changed = min(filter(None, levels), key=_LEVELS.index, default="")
        self._last = request

    def changed(self) -> str:
        """Return the level at which sent content has changed since the last call, or ""."""
        changed, self._changed = self._changed, ""
        return changed


def _change(before: Request, after: Request) -> str:
    if len(before.tools) != len(after.tools) or not all(map(same, before.tools, after.tools)):
        return "tools"
    at = first_change(before, after)
    if at is None or at == len(before.messages):
        return ""
    if at < 0 or before.messages[at].get("role") in _HEADS:
        return "system"
    return "messages"
