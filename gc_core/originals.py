"""Items as they arrived, read from the log: what a summary stands for, when a digest is written from the originals."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from gc_core.items import Item, ItemKind
from gc_core.log import LogRecord, MasterLog
from gc_core.policy import GCPolicy
from gc_core.protocols import Format, TokenCounter
from gc_core.record_texts import parts_of
from gc_core.references import Reference
from gc_core.scan import scan
from gc_core.sources import CONVERSATION


def originals(
    log: MasterLog,
    reference: Reference,
    format: Format,  # noqa: A002 - the session's own word
    counter: TokenCounter,
    resident: Collection[str],
) -> tuple[Item, ...]:
    """
    The items of the conversation between the ends of a reference, oldest first, but for those that are ``resident``.

    Raises LogError when a line in between cannot be read.
    """
    first, last = log.find(int(reference.first[1:])), log.find(int(reference.last[1:]))
    if first is None or last is None:
        return ()
    records = (record for _, record in log.records(first[0].start, last[0].end))
    said = (record for record in records if record.source == CONVERSATION.name)
    low, high = int(reference.first[1:]), int(reference.last[1:])
    return tuple(
        item for item in items_of(said, format, counter) if low <= int(item.id[1:]) <= high and item.id not in resident
    )


def items_of(records: Iterable[LogRecord], format: Format, counter: TokenCounter) -> Iterator[Item]:  # noqa: A002
    """
    The items of these records as they arrived, each in the unit of its message; results are paired with their calls by
    the newest call of the same id.
    """
    calls: dict[str, str] = {}
    for unit, record in enumerate(records):
        for key, part in parts_of(record, format):
            if part.kind is ItemKind.TOOL_CALL:
                calls[part.call_id] = key
            yield Item(
                id=key,
                kind=part.kind,
                source=record.source,
                policy=record.policies.get(key, GCPolicy.EPHEMERAL),
                tokens=0,
                original_tokens=counter.count(part.text),
                text=part.text,
                unit=unit,
                turn=record.turn,
                name=part.name,
                call=calls.get(part.call_id, "") if part.kind is ItemKind.TOOL_RESULT else "",
                is_error=part.is_error,
                scan=scan(part.text),
            )
