"""Recognises a provider's refusal before any of its reply was passed on: by its status, or as a stream opens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from gc_core.values.json_values import read_json

REFUSALS: Final = frozenset({400, 413, 422})
"""Statuses of a refusal for length."""

MOST_BYTES: Final = 256_000
"""The most bytes of an opening that are held: the first event of Responses repeats the instructions and all tools."""

_BEFORE_CONTENT: Final = frozenset({"response.created", "response.queued", "response.in_progress"})
_FRAMING: Final = (b"event:", b"id:", b"retry:")


class Opening:
    """
    The first bytes of a stream of events, until one carries content or an error. A keep-alive line ends the wait too,
    because it must reach the client in time.

    Attributes:
        error: The error that the stream begins with, as JSON; "" for none.

    """

    def __init__(self) -> None:
        self.error = ""
        self._size = 0
        self._rest = b""

    def waits(self, chunk: bytes) -> bool:
        """Take the next bytes, without their encoding; False when there is no reason to hold them any longer."""
        self._size += len(chunk)
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return self._size <= MOST_BYTES and all(map(self._comes_before, lines))

    def _comes_before(self, line: bytes) -> bool:
        """True for a line that may come before content, or a refusal."""
        if not line.startswith(b"data:"):
            return not line.strip() or line.startswith(_FRAMING)
        try:
            event = read_json(line[5:])
        except ValueError:
            return False
        if not isinstance(event, Mapping):
            return False
        error = _error_in(event)
        self.error = "" if error is None else json.dumps(error)
        kind = event.get("type")
        return error is None and isinstance(kind, str) and kind in _BEFORE_CONTENT


def _error_in(event: Mapping[str, Any]) -> object:
    """Return the error that an event reports: at its top, in the response that it carries, or the event itself."""
    holders = (each for each in (event, event.get("response")) if isinstance(each, Mapping))
    found = next((holder["error"] for holder in holders if holder.get("error")), None)
    return event if found is None and event.get("type") == "error" else found
