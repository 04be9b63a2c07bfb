"""Chat Completions' chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from gc_core.providers.streaming import GrowingCall


@attrs.define
class ChunkStream:
    """A call is complete when the next one begins, or the choice ends."""

    _growing: dict[int, GrowingCall] = attrs.field(factory=dict)
    _stream: object = None

    def finished(self, event: Mapping[str, Any]) -> Iterator[GrowingCall]:
        """Yield the calls that are complete with this chunk."""
        if "choices" not in event:
            return
        if event.get("id") != self._stream:
            self._growing, self._stream = {}, event.get("id")
        match event["choices"]:
            case [{"delta": {"tool_calls": [*pieces]}}, *_]:
                for piece in pieces:
                    yield from self._grown(piece)
        match event["choices"]:
            case [{"finish_reason": str()}, *_]:
                yield from self._before(None)

    def _grown(self, piece: object) -> Iterator[GrowingCall]:
        match piece:
            case {"index": int(index), "function": Mapping() as function, **rest}:
                yield from self._before(index)
                call = self._growing.setdefault(index, GrowingCall())
                call.call_id = str(rest.get("id") or call.call_id)
                call.name = str(function.get("name") or call.name)
                call.pieces.append(function.get("arguments") or "")

    def _before(self, index: int | None) -> Iterator[GrowingCall]:
        for other in sorted(self._growing):
            if index is None or other < index:
                yield self._growing.pop(other)
