"""The opening of a streamed reply, held back until it is known whether it is a refusal."""

from __future__ import annotations

import zlib

import zstandard

from gc_core.integrations.lanes import Opening
from gc_core.integrations.lanes.openings import MOST_BYTES
from gc_gateway.usage import decoder


class StreamOpening:
    """
    Holds the first bytes of a stream until its opening shows content or an error. A stream in an encoding that cannot
    be read is not held.

    Attributes:
        held: The bytes, as they came.

    """

    def __init__(self, content_encoding: str) -> None:
        self.held = b""
        self._opening = Opening()
        self._decode = decoder(content_encoding)

    @property
    def error(self) -> str:
        """The error that the stream begins with, as JSON; "" for none."""
        return self._opening.error

    def holds(self, chunk: bytes) -> bool:
        """Take the next bytes; False when there is no reason to hold them any longer."""
        self.held += chunk
        if self._decode is None or len(self.held) > MOST_BYTES:
            return False
        try:
            return self._opening.waits(self._decode(chunk))
        except (zlib.error, zstandard.ZstdError):
            return False
