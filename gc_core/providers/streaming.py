"""The calls of a reply that still streams, put together from a provider's events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import attrs


@attrs.define(kw_only=True)
class GrowingCall:
    """A call whose arguments are still coming."""

    call_id: str = ""
    name: str = ""
    pieces: list[str] = attrs.field(factory=list)

    @property
    def arguments(self) -> str:
        """The arguments as far as they have come; none given means no arguments."""
        return "".join(self.pieces) or "{}"


class CallStream(Protocol):
    """Reads the events of a provider's streams; a stream that begins again forgets the one before."""

    def finished(self, event: Mapping[str, Any]) -> Iterator[GrowingCall]:
        """Return the calls to which nothing more comes after this event; what it does not know says nothing to it."""


class NoCalls:
    """For a provider whose streams are not read: no call is known before the reply is whole."""

    def finished(self, event: Mapping[str, Any]) -> Iterator[GrowingCall]:  # noqa: ARG002 - the protocol
        """None."""
        return iter(())
