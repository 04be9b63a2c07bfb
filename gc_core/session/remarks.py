"""Finds the call whose result an agent's remark is about: it often says in the user's words what was found."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from gc_core.relevance.mentions import asks, sentences_in
from gc_core.relevance.request_words import NOT_FOUND_OR_NEXT
from gc_core.session.runtime import Runtime
from gc_core.storage.master_log import LogRecord
from gc_core.storage.search.record_texts import parts_of
from gc_core.storage.search.sharing import Sharer
from gc_core.values.agent_tool_schemas import is_agent_tool
from gc_core.values.items import ItemKind, Part
from gc_core.values.references import ByteRange
from gc_core.values.scripts import folded

LONGEST_REMARK = 200
"""Characters of a remark: a longer text reports on more than one call."""


@attrs.frozen
class Remark:
    """
    What the agent said right after a result.

    Attributes:
        item: The id of the text.
        text: Its sentences about what came back: not those that ask, deny, or say what comes next.
        call: The call that the result answers.

    """

    item: str
    text: str
    call: Sharer


def remark_of(runtime: Runtime, said: Sharer) -> Remark | None:
    """
    Return what an agent's text says of the only call before it; None if it says nothing of what came back, is long,
    calls something itself, or follows no result.
    """
    record = runtime.store.log.read(said.bytes)
    parts = list(parts_of(record, runtime.format))
    if len(parts) != 1 or len(parts[0][1].text) > LONGEST_REMARK:
        return None
    about = "\n".join(filter(_is_about_result, sentences_in(parts[0][1].text)))
    if not about:
        return None
    before = _before(runtime, record)
    result = next(before, None)
    calling = next(before, None)
    if result is None or calling is None:
        return None
    results, calls = _of_kind(runtime, result, ItemKind.TOOL_RESULT), _of_kind(runtime, calling, ItemKind.TOOL_CALL)
    if len(results) != 1 or len(calls) != 1 or results[0][1].call_id != calls[0][1].call_id:
        return None
    key, call = calls[0]
    sharer = Sharer(item=key, kind=ItemKind.TOOL_CALL.value, tool=call.name, bytes=calling[0], words=())
    return None if is_agent_tool(call.name) else Remark(said.item, about, sharer)


# -- inside ----------------------------------------------------------------------------------------------------------


def _is_about_result(sentence: str) -> bool:
    return not asks(sentence) and NOT_FOUND_OR_NEXT.search(folded(sentence)) is None


def _before(runtime: Runtime, record: LogRecord) -> Iterator[tuple[ByteRange, LogRecord]]:
    """Yield the lines before one, the newest first."""
    at = record.at
    while at and (found := runtime.store.log.find(at)) is not None:
        at = found[1].at
        yield found


def _of_kind(runtime: Runtime, line: tuple[ByteRange, LogRecord], kind: ItemKind) -> list[tuple[str, Part]]:
    return [(key, part) for key, part in parts_of(line[1], runtime.format) if part.kind is kind]
