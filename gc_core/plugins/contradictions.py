"""
Finds replies that the log contradicts, without a model.

Two kinds. A summary replaces originals that the log still has: if a reply uses a name or number that a summary in the
window contains, but none of its originals, the summary was wrong, or someone changed it, and the reply relied on it.
The correct version is in the original that shares most words with the summary's line. And a reply by itself may name an
item that was never logged, say that a file was read or changed of which the log knows nothing, or give a value for
which the log has one other value, and nowhere this one.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from gc_core.errors import SourceError
from gc_core.plugins.hookspecs import hookimpl
from gc_core.plugins.reply_claims import Claims, values_in
from gc_core.summaries.inventions import invented, invented_and_repeated
from gc_core.summaries.quoted_numbers import is_written
from gc_core.values.items import Item, ItemKind, number_of
from gc_core.values.patterns import regex
from gc_core.values.protocols import ContextView
from gc_core.values.references import Reference
from gc_core.values.results import Inconsistency

_MOST = 5
_CALLED = regex(r'"(?:name|id|tool_call_id|call_id)": ?"[^"]*"')  # names of tools are not part of the statement

_WORD = regex(r"[^\W_]{2,}")
_HEADING = regex(r"^\[(i\d+)\]$", 8)  # MULTILINE
_EVERYTHING = "i1-i999999999999"


@attrs.frozen
class ContradictionCheck:
    """
    A plugin that finds a reply inconsistent when it uses a name or number that a summary contains and the log does not,
    or names an item, a file or a value that the log contradicts.

    ``check_replies`` turns it on, as does registering it with the session's plugins; ``recovery_strategy`` decides what
    follows. The finding names the items of the log with the correct version, so that they are brought back. Reads
    originals only if a reply repeats something from a summary, or tells what the window does not show.
    """

    @hookimpl
    def gc_validate_reply(
        self, reply: Mapping[str, Any], context: ContextView, recall: Callable[[str], str]
    ) -> Inconsistency | None:
        """Return the first contradiction, with the items that have the correct version; None if there is none."""
        shown = [item for unit in context.units for item in unit.items]
        return _from_a_summary(reply, shown, recall) or _of_its_own(reply, shown, recall)


def _from_a_summary(reply: Mapping[str, Any], shown: list[Item], recall: Callable[[str], str]) -> Inconsistency | None:
    said = _CALLED.sub(" ", json.dumps(reply, ensure_ascii=False))
    for item in shown:
        if item.kind is ItemKind.SUMMARY and item.reference is not None:
            wrong = list(_believed(item, said, shown, recall))[:_MOST]
            if wrong:
                named = ", ".join(map(repr, wrong))
                reason = f"the summary {item.id} tells {named}, which nothing that it stands for says"
                return Inconsistency(reason=reason, items=_contradicting(item.text, wrong, item.reference, recall))
    return None


def _of_its_own(reply: Mapping[str, Any], shown: list[Item], recall: Callable[[str], str]) -> Inconsistency | None:
    """Return what the reply tells by itself and the log contradicts; the log is read only for what the window lacks."""
    told = Claims.of(reply)
    if not told:
        return None
    window = _Told.of((item.id, item.text) for item in shown)
    told = told.besides(window.has_item, window.has_file, window.has_value)
    if not told:
        return None
    log = _Told.of(_logged(recall))
    told = told.besides(log.has_item, log.has_file, log.has_value)
    if not log.texts or not told:
        return None
    reasons = [f"no item {item} was ever logged" for item in told.items if not _is_logged(item, recall)]
    reasons += [f"the log knows nothing of {file!r}, which the reply has read or changed" for file in told.files]
    known = [(name, value, log.value_of(name)) for name, value in told.values]
    reasons += [f"{name} is {right.value}, not {value}" for name, value, right in known if right is not None]
    items = tuple(right.item for _, _, right in known if right is not None)
    return Inconsistency(reason="; ".join(reasons[:_MOST]), items=items) if reasons else None


@attrs.frozen
class _Known:
    """A value in the log, and the newest item that tells it."""

    value: str
    item: str


@attrs.frozen
class _Told:
    """What a number of items tell."""

    texts: Mapping[str, str]
    whole: str

    @classmethod
    def of(cls, items: Iterable[tuple[str, str]]) -> _Told:
        texts = dict(items)
        return cls(texts, "\n".join(texts.values()).lower())

    def has_item(self, item: str) -> bool:
        return item in self.texts or item in self.whole

    def has_file(self, path: str) -> bool:
        return path.rpartition("/")[2].lower() in self.whole

    def has_value(self, value: str) -> bool:
        if (value.isdecimal() and len(value) < 3) or value.count(".") > 1:  # noqa: PLR2004 - digits of it occur anyway
            return re.search(rf"(?<![\w.-])v?{re.escape(value.lower())}(?!\w|\.\d)", self.whole) is not None
        return value.lower() in self.whole or is_written(value, self.whole)

    def value_of(self, name: str) -> _Known | None:
        """Return the value that a name has wherever it is told; None if there is none, or more than one."""
        if name not in self.whole:
            return None
        told = {value: item for item, text in self.texts.items() for each, value in values_in(text) if each == name}
        return _Known(*told.popitem()) if len(told) == 1 else None


def _logged(recall: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield every item that was ever logged, with its text."""
    with contextlib.suppress(SourceError):
        parts = _HEADING.split(recall(_EVERYTHING))
        yield "", parts[0]
        yield from zip(parts[1::2], parts[2::2], strict=True)


def _is_logged(item: str, recall: Callable[[str], str]) -> bool:
    with contextlib.suppress(SourceError):
        recall(item)
        return True
    return False


def _believed(summary: Item, said: str, shown: list[Item], recall: Callable[[str], str]) -> Iterator[str]:
    """Yield what the reply can only have from the summary."""
    elsewhere = "\n".join(item.text for item in shown if item is not summary)
    new = list(invented_and_repeated(summary.text, [elsewhere], said))
    if new and summary.reference is not None:
        span = f"{summary.reference.first}-{summary.reference.last}"
        yield from (name for name in invented(" ".join(new), [recall(span)]) if name in new)


def _contradicting(
    summary: str, wrong: Iterable[str], reference: Reference, recall: Callable[[str], str]
) -> tuple[str, ...]:
    """
    Return for each wrong name the original about the same thing: one of its lines shares the most words with the
    summary's line, rare words first, of equals the newest. None if no line shares two words.
    """
    originals = dict(_originals(reference, recall))
    common = Counter(word for lines in originals.values() for word in frozenset().union(*lines))
    found = dict[str, None]()
    for name in wrong:
        line = next(line for line in summary.splitlines() if name in line)
        about = _words(line.replace(name, " "))
        best, most = "", 0.0
        for item, lines in originals.items():
            shared = max(
                (sum(1 / common[word] for word in about & words) for words in lines if len(about & words) > 1),
                default=0,
            )
            if shared and shared >= most:
                best, most = item, shared
        found |= {best: None} if best else {}
    return tuple(found)


def _originals(reference: Reference, recall: Callable[[str], str]) -> Iterator[tuple[str, list[frozenset[str]]]]:
    """Yield the originals of a summary, item by item: the words of each line."""
    for number in range(number_of(reference.first), number_of(reference.last) + 1):
        with contextlib.suppress(SourceError):  # not every number in the range belongs to an item
            yield f"i{number}", [_words(line) for line in recall(f"i{number}").splitlines()]


def _words(line: str) -> frozenset[str]:
    return frozenset(_WORD.findall(line.lower()))
