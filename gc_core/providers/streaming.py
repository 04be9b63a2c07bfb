"""Reads the calls of a streaming reply from a provider's events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import attrs


@attrs.define(kw_only=True)
class GrowingCall:
    """A call whose arguments are still arriving."""

    call_id: str = ""
    name: str = ""
    pieces: list[str] = attrs.field(factory=list)

    @property
    def arguments(self) -> str:
        """The arguments so far; none given means no arguments."""
        return "".join(self.pieces) or "{}"


class CallStream(Protocol):
    """Reads the events of a provider's streams; a new stream replaces the previous one."""

    def finished(self, event: Mapping[str, Any]) -> Iterator[GrowingCall]:
        """Return the calls that are complete after this event; unknown events are ignored."""


class NoCalls:
    """The reader of a provider whose streams are not read: calls are known only from the whole reply."""

    def finished(self, event: Mapping[str, Any]) -> Iterator[GrowingCall]:  # noqa: ARG002 - the protocol
        """Return no calls."""
        return iter(())
