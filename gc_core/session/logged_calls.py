"""Reads calls in the log, each with the result that answers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs

from gc_core.relevance.only_reads import only_reads
from gc_core.relevance.tool_calls import ToolCall
from gc_core.session.runtime import Runtime
from gc_core.storage.master_log import LogRecord
from gc_core.storage.search import Hit
from gc_core.storage.search.record_texts import parts_of
from gc_core.storage.search.sharing import Sharer
from gc_core.values.agent_tool_schemas import is_agent_tool
from gc_core.values.items import ItemKind, Part
from gc_core.values.references import ByteRange

_RESULTS_WITHIN = 64  # items after a call that may be its result


@attrs.frozen
class Called:
    """A call in the log, what it did, and the word of its arguments that means what is named."""

    hit: Hit | Sharer
    record: LogRecord
    part: Part
    did: ToolCall
    subject: str = ""

    @property
    def only_reads(self) -> bool:
        """Whether it surely changed nothing."""
        return only_reads(self.did, self.part.text)


class LoggedCalls:
    """
    Reads calls in the log.

    Args:
        runtime: The session's.
        is_taken_back: Whether a line of the log does not count any more.

    """

    def __init__(self, runtime: Runtime, is_taken_back: Callable[[ByteRange], bool]) -> None:
        self._runtime = runtime
        self._is_taken_back = is_taken_back

    def counts(self, call: Hit | Sharer) -> bool:
        """Return whether a call may count: it is none by which the agent looks back, and was not taken back."""
        return not is_agent_tool(call.tool) and not self._is_taken_back(call.bytes)

    def called(self, call: Hit | Sharer) -> Called:
        """Return a call as it was made."""
        record = self._runtime.store.log.read(call.bytes)
        part = dict(parts_of(record, self._runtime.format))[call.item]
        return Called(hit=call, record=record, part=part, did=ToolCall.of(part))

    def result(self, call: Called) -> tuple[str, Part] | None:
        """
        Return the result that answers a call; None if there is none or it was taken back.

        Of calls of one message that have no ids of their own, the first is answered by the first result, and so on.
        """
        form = self._runtime.format
        same = [key for key, part in parts_of(call.record, form) if _pairs(part, ItemKind.TOOL_CALL, call.part)]
        number = same.index(call.hit.item)
        for later in self._later(call.record):
            parts = list(parts_of(later[1], form)) if later[1].role else []
            results = [(key, part) for key, part in parts if _pairs(part, ItemKind.TOOL_RESULT, call.part)]
            if number < len(results):
                return None if self._is_taken_back(later[0]) else results[number]
            number -= len(results)
            if any(_pairs(part, ItemKind.TOOL_CALL, call.part) for _, part in parts):
                return None  # what follows answers another message's calls
        return None

    # -- inside --------------------------------------------------------------------------------------------------

    def _later(self, record: LogRecord) -> Iterator[tuple[ByteRange, LogRecord]]:
        """Yield the lines after a call that may hold its result, each once."""
        log, end = self._runtime.store.log, record.at + len(record.items)
        at = record.at
        for number in range(end + 1, end + _RESULTS_WITHIN):
            found = log.find(number)
            if found is not None and found[1].at != at:
                at = found[1].at
                yield found


def _pairs(part: Part, kind: ItemKind, called: Part) -> bool:
    return part.kind is kind and part.call_id == called.call_id
