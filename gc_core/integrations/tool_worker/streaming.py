"""The calls of a reply that still streams: each is there as soon as its arguments are complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from gc_core.integrations.tool_worker.calls import ToolCall
from gc_core.providers.replies import plain


@attrs.define(kw_only=True)
class _Growing:
    """A call whose arguments are still coming."""

    call_id: str = ""
    name: str = ""
    pieces: list[str] = attrs.field(factory=list)

    def complete(self) -> ToolCall | None:
        """The call; None where the arguments are no whole JSON object, or it has no name."""
        call = ToolCall(call_id=self.call_id, name=self.name, arguments="".join(self.pieces) or "{}")
        return call if self.call_id and self.name and call.values is not None else None


@attrs.define
class StreamedCalls:
    """
    Puts calls together from the events of a stream, Anthropic's or Chat Completions' chunks, as SDK objects or dicts.

    What it does not know says nothing to it. A stream that begins anew forgets the one before.
    """

    _growing: dict[int, _Growing] = attrs.field(factory=dict)
    _stream: object = None

    def completed(self, event: object) -> tuple[ToolCall, ...]:
        """The calls that are complete with this event."""
        told = plain(event)
        if not isinstance(told, Mapping):
            return ()
        grown = self._of_chunk(told) if "choices" in told else self._of_event(told)
        return tuple(call for call in (each.complete() for each in grown) if call is not None)

    # -- Anthropic -----------------------------------------------------------------------------------------------

    def _of_event(self, event: Mapping[str, Any]) -> Iterator[_Growing]:
        match event:
            case {"type": "message_start"}:
                self._growing = {}
            case {
                "type": "content_block_start",
                "index": int(index),
                "content_block": {"type": "tool_use", "id": str(key), "name": str(name)},
            }:
                self._growing[index] = _Growing(call_id=key, name=name)
            case {"type": "content_block_delta", "index": int(index), "delta": {"partial_json": str(piece)}}:
                if index in self._growing:
                    self._growing[index].pieces.append(piece)
            case {"type": "content_block_stop", "index": int(index)} if index in self._growing:
                yield self._growing.pop(index)

    # -- Chat Completions ----------------------------------------------------------------------------------------

    def _of_chunk(self, chunk: Mapping[str, Any]) -> Iterator[_Growing]:
        """A call is complete when the next one begins, or the choice ends."""
        if chunk.get("id") != self._stream:
            self._growing, self._stream = {}, chunk.get("id")
        match chunk["choices"]:
            case [{"delta": {"tool_calls": [*pieces]}}, *_]:
                for piece in pieces:
                    yield from self._grown(piece)
        match chunk["choices"]:
            case [{"finish_reason": str()}, *_]:
                yield from self._before(None)

    def _grown(self, piece: object) -> Iterator[_Growing]:
        match piece:
            case {"index": int(index), "function": Mapping() as function, **rest}:
                yield from self._before(index)
                call = self._growing.setdefault(index, _Growing())
                call.call_id = str(rest.get("id") or call.call_id)
                call.name = str(function.get("name") or call.name)
                call.pieces.append(function.get("arguments") or "")

    def _before(self, index: int | None) -> Iterator[_Growing]:
        for other in sorted(self._growing):
            if index is None or other < index:
                yield self._growing.pop(other)
