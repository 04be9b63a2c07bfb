"""The calls of a streaming reply: each is available as soon as its arguments are complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from gc_core.integrations.tool_worker.calls import ToolCall
from gc_core.providers.replies import plain
from gc_core.providers.streaming import CallStream, GrowingCall


@attrs.frozen
class StreamedCalls:
    """Assembles calls from the events of a provider's stream, as SDK objects or dicts."""

    _stream: CallStream

    def completed(self, event: object) -> tuple[ToolCall, ...]:
        """Return the calls that are complete with this event, and whose arguments are whole JSON objects."""
        plain_event = plain(event)
        if not isinstance(plain_event, Mapping):
            return ()
        return tuple(_whole(self._stream.finished(plain_event)))


def _whole(calls: Iterator[GrowingCall]) -> Iterator[ToolCall]:
    for grown in calls:
        call = ToolCall(call_id=grown.call_id, name=grown.name, arguments=grown.arguments)
        if grown.call_id and grown.name and call.values is not None:
            yield call
