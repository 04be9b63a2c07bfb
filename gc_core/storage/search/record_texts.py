"""The searchable content of a record: its items, each with its text as people would write it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from gc_core.errors import MessageError
from gc_core.providers.contract import Format
from gc_core.storage.master_log import LogRecord
from gc_core.values.items import ItemKind, Part
from gc_core.values.json_values import keys_and_values, read_json
from gc_core.values.patterns import regex
from gc_core.values.sources import CONVERSATION, ENRICHMENT
from gc_core.window.own_texts import said_in

_SAID = frozenset({ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT})

# JSON inside a text: "\nsrc" is the path src on a new line, not a word nsrc.
_ESCAPED_BREAK = regex(r"\\[ntr]")


def parts_of(record: LogRecord, form: Format) -> Iterator[tuple[str, Part]]:
    """Yield the items of a record with their parts; all strings under the first item if it cannot be read."""
    named = [item for item in record.items if item]
    parts = _read(record, form) if named else ()
    if parts is not None and len(parts) == len(record.items):
        yield from ((item, part) for item, part in zip(record.items, parts, strict=True) if item)
    elif named:
        yield named[0], Part(kind=ItemKind.OPAQUE, place=(), text=_words(record.payload))


def spoken_parts_of(record: LogRecord, form: Format) -> Iterator[tuple[str, Part]]:
    """Yield the items of a record with their parts, without gc-core's own texts that came back in a caller's list."""
    named = list(parts_of(record, form))
    for key, part in named:
        if record.source == CONVERSATION.name and part.kind in _SAID:
            text = said_in(part.text, is_whole=len(named) == 1 and part.kind is ItemKind.USER_TEXT)
            if not text:
                continue
            part = part if text == part.text else attrs.evolve(part, text=text)  # noqa: PLW2901 - the same, cleaned
        yield key, part


def readable(part: Part) -> str:
    """Return the text of a part as people would write it: arguments and results without JSON escapes."""
    text = part.text
    if part.kind is ItemKind.TOOL_CALL and not part.free_text:
        with contextlib.suppress(ValueError):
            text = _words(read_json(text))
    return unescaped(text)


def unescaped(text: str) -> str:
    """Return the text with escaped line breaks replaced by spaces, every character in its place."""
    return _ESCAPED_BREAK.sub("  ", text) if "\\" in text else text


def _read(record: LogRecord, form: Format) -> Sequence[Part] | None:
    payload = record.payload
    if record.source != CONVERSATION.name and isinstance(payload, Mapping) and isinstance(payload.get("text"), str):
        kind = ItemKind.ENRICHMENT if record.source == ENRICHMENT.name else ItemKind.MEMORY_BLOCK
        return (Part(kind=kind, place=(), text=payload["text"]),)
    try:
        return form.read(form.normalise(payload))
    except MessageError:
        return None


def _words(value: Any) -> str:
    return "\n".join(str(each) for each in keys_and_values(value) if each is not None)
