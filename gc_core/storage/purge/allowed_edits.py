"""
The fields of a line that a purge may overwrite: only texts, and nothing that identifies or
connects parts of a session.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from gc_core.errors import GCError, LogError
from gc_core.providers import provider_named
from gc_core.providers.contract import Format
from gc_core.providers.payload_keys import BINARY
from gc_core.storage.facts import FactChange
from gc_core.storage.ledger import Collected, Entry
from gc_core.storage.master_log import PARTS, LogRecord
from gc_core.storage.rebuild import SESSION
from gc_core.values.items import ItemKind, Part
from gc_core.values.json_values import DEEPEST_RECORD, leaves, read_json
from gc_core.values.messages import Payload
from gc_core.values.sources import CONVERSATION, PLUGIN
from gc_core.window.patches import SavedMessage

_NAMED = frozenset({"type", "name"})
"""Keys of a tool schema whose values are its structure."""

_Keys = tuple[str | int, ...]

_NOTHING: tuple[_Keys, Any] = ((), None)
"""Stands for a missing leaf when one of two values has none left."""


def check_log_line(old: bytes, new: bytes, *, form: Format) -> None:
    """Raise LogError, saying where, unless a line of the log may be changed like this."""
    before, after = LogRecord.read(old), LogRecord.read(new)
    paths = _changed_line(old, new)
    _refuse(path for path in paths if path[0] != "payload" or before.source == SESSION)
    if before.source == CONVERSATION.name:
        _check_message(before.payload, after.payload, form)
    elif PARTS in before.payload:
        _refuse(path for path in paths if path[1] != PARTS)
    elif before.source == PLUGIN.name:
        _refuse(path for path in paths if path[1] != "schemas")
        _check_schemas(before.payload["schemas"], after.payload["schemas"])
    else:
        _refuse(path for path in paths if path[1] != "text")


def check_ledger_line(old: bytes, new: bytes, *, form: Format) -> None:
    """Raise LogError, saying where, unless a line of the ledger may be changed like this."""
    before, after = Entry.read(old).record, Entry.read(new).record
    _refuse(path for path in _changed_line(old, new) if not _is_text(path))
    if isinstance(before, Collected) and isinstance(after, Collected):
        _check_schemas(before.schemas, after.schemas)
        for one, other in zip(_messages(before), _messages(after), strict=True):
            if one.payload is not None and other.payload is not None:
                _check_message(one.payload, other.payload, form)


def check_fact(old: bytes, new: bytes) -> None:
    """Raise LogError, saying where, unless a line of a facts file may be changed like this."""
    FactChange.read(new)
    _refuse(path for path in _changed_line(old, new) if path != ("text",))


def _is_text(path: _Keys) -> bool:
    """Return whether it is a text in an entry of the ledger: written by people or plugins, and not used as a key."""
    match path:
        case ("hunks", *rest):
            return "payload" in rest or "names" in rest or rest[-1] in {"hint", "preview"}
        case ("removals", *_, "reason" | "phase") | ("recalled", _, "text") | ("summaries", _, "complaints", _):
            return True
    return path[0] in {"schemas", "why", "by", "text"}


def _messages(record: Collected) -> Iterator[SavedMessage]:
    for hunk in record.hunks:
        yield from (*hunk.removed, *hunk.inserted)


def _check_message(old: Payload, new: Payload, form: Format) -> None:
    """Check that a message keeps its parts, with only their texts changed."""
    keys = provider_named(form.name).keys
    bound = keys.sealed | keys.media | {BINARY}  # not text: the provider would refuse a changed byte
    _refuse(
        path
        for path in _changed(old, new)
        if keys.arguments.isdisjoint(path) and (path[-1] in bound or str(_at(old, path)).startswith("data:"))
    )
    try:
        same = form.role(old) is form.role(new) and form.marks(old) == form.marks(new)
        same = same and [*map(_frame, _parts(old, form))] == [*map(_frame, _parts(new, form))]
    except (GCError, ValueError) as error:
        raise LogError(f"the message would not be valid any more: {error}") from error
    if not same:
        raise LogError("it is an id, a name or another part of the message's structure")


def _parts(payload: Payload, form: Format) -> tuple[Part, ...]:
    return form.read(form.normalise(payload))


def _frame(part: Part) -> tuple[Part, Any]:
    """Return a part without its texts; for arguments, their structure."""
    shape = None
    if part.kind is ItemKind.TOOL_CALL and not part.free_text:
        with contextlib.suppress(ValueError):  # a model's output need not be JSON
            shape = [(path, "" if isinstance(leaf, str) else leaf) for path, leaf in leaves(read_json(part.text))]
    return attrs.evolve(part, text=""), shape


def _check_schemas(old: Iterable[Payload], new: Iterable[Payload]) -> None:
    _refuse(path for path in _changed([*old], [*new], ("schemas",)) if path[-1] in _NAMED)


def _changed_line(old: bytes, new: bytes) -> list[_Keys]:
    return _changed(read_json(old, DEEPEST_RECORD), read_json(new, DEEPEST_RECORD))


def _changed(old: Any, new: Any, path: _Keys = ()) -> list[_Keys]:
    """Return the paths at which two JSON values have different texts. Raises LogError for other differences."""
    found = []
    for before, after in itertools.zip_longest(leaves(old), leaves(new), fillvalue=_NOTHING):
        (here, was), (there, now) = before, after
        is_text = here == there and isinstance(was, str) and isinstance(now, str)
        if not is_text and (here != there or was != now or type(was) is not type(now)):
            above = _dotted((*path, *_shared(here, there)))
            raise LogError(f"it is a key{f' below {above}' if above else ''}")
        if was != now:
            found.append((*path, *here))
    return found


def _shared(one: _Keys, other: _Keys) -> _Keys:
    """Return the common beginning of two paths; for the same path, its parent."""
    same = [*itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))]
    return one[: min(len(same), max(len(one), len(other)) - 1)]


def _at(value: Any, path: _Keys) -> Any:
    for key in path:
        value = value[key]
    return value


def _refuse(paths: Iterable[_Keys]) -> None:
    for path in paths:
        raise LogError(f"it is in {_dotted(path)}, which is not a text")


def _dotted(path: _Keys) -> str:
    return ".".join(map(str, path))
