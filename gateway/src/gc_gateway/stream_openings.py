"""The opening of a streamed reply, held back until it is known whether it is a refusal."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any, Final

import zstandard

from gc_gateway.usage import decoder

_MOST_BYTES: Final = 256_000
"""The most bytes of an opening that are held: the first event of Responses repeats the instructions and all tools."""

_BEFORE_CONTENT: Final = frozenset({"response.created", "response.queued", "response.in_progress"})
_FRAMING: Final = (b"event:", b"id:", b"retry:")


class StreamOpening:
    """
    Holds the first bytes of a stream until an event carries content or an error. A keep-alive line ends the wait too,
    because it must reach the client in time.

    Attributes:
        held: The bytes, as they came.
        error: The error that the stream begins with, as JSON; "" for none.

    """

    def __init__(self, content_encoding: str) -> None:
        self.held = b""
        self.error = ""
        self._decode = decoder(content_encoding)
        self._rest = b""

    def holds(self, chunk: bytes) -> bool:
        """Take the next bytes; False when there is no reason to hold them any longer."""
        self.held += chunk
        if self._decode is None or len(self.held) > _MOST_BYTES:
            return False
        try:
            self._rest += self._decode(chunk)
        except (zlib.error, zstandard.ZstdError):
            return False
        *lines, self._rest = self._rest.split(b"\n")
        return len(self._rest) <= _MOST_BYTES and all(map(self._comes_before, lines))

    def _comes_before(self, line: bytes) -> bool:
        """True for a line that may come before content, or a refusal."""
        if not line.startswith(b"data:"):
            return not line.strip() or line.startswith(_FRAMING)
        try:
            event = json.loads(line[5:])
        except (ValueError, RecursionError):
            return False
        if not isinstance(event, Mapping):
            return False
        error = _error_in(event)
        self.error = "" if error is None else json.dumps(error)
        return error is None and event.get("type") in _BEFORE_CONTENT


def _error_in(event: Mapping[str, Any]) -> object:
    """Return the error that an event reports: at its top, in the response that it carries, or the event itself."""
    holders = (each for each in (event, event.get("response")) if isinstance(each, Mapping))
    found = next((holder["error"] for holder in holders if holder.get("error")), None)
    return event if found is None and event.get("type") == "error" else found
