"""Anthropic's stream events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from gc_core.providers.streaming import GrowingCall


@attrs.define
class MessageStream:
    """A call is complete when its content block stops."""

    _growing: dict[int, GrowingCall] = attrs.field(factory=dict)

    def finished(self, event: Mapping[str, Any]) -> Iterator[GrowingCall]:
        """Yield the call whose block stops with this event."""
        match event:
            case {"type": "message_start"}:
                self._growing = {}
            case {
                "type": "content_block_start",
                "index": int(index),
                "content_block": {"type": "tool_use", "id": str(key), "name": str(name)},
            }:
                self._growing[index] = GrowingCall(call_id=key, name=name)
            case {"type": "content_block_delta", "index": int(index), "delta": {"partial_json": str(piece)}}:
                if index in self._growing:
                    self._growing[index].pieces.append(piece)
            case {"type": "content_block_stop", "index": int(index)} if index in self._growing:
                yield self._growing.pop(index)
