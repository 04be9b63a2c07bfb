"""
Finds replies that rely on something a summary invented, without a model, from the log.

A summary replaces originals that the log still has. If a reply uses a name or number that a summary in the window
contains, but none of its originals, the log contradicts it: the summary was wrong, or someone changed it, and the reply
relied on it. The correct version is in the original that shares most words with the summary's line.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from gc_core.errors import SourceError
from gc_core.plugins.hookspecs import hookimpl
from gc_core.summaries.inventions import invented
from gc_core.values.items import Item, ItemKind, number_of
from gc_core.values.patterns import regex
from gc_core.values.protocols import ContextView
from gc_core.values.references import Reference
from gc_core.values.results import Inconsistency

_MOST = 5
_CALLED = regex(r'"(?:name|id|tool_call_id|call_id)": ?"[^"]*"')  # names of tools are not part of the statement

_WORD = regex(r"[^\W_]{2,}")


@attrs.frozen
class ContradictionCheck:
    """
    A plugin that finds a reply inconsistent when it uses a name or number that a summary contains and the log does not.

    Register it with the session's plugins; ``recovery_strategy`` decides what follows. The finding names the items of
    the log with the correct version, so that they are brought back. Reads originals only if a reply repeats something
    from a summary.
    """

    @hookimpl
    def gc_validate_reply(
        self, reply: Mapping[str, Any], context: ContextView, recall: Callable[[str], str]
    ) -> Inconsistency | None:
        """
        Return the first invention that the reply relied on, its subject, and the items with the correct version; None
        if there is no invention.
        """
        said = _CALLED.sub(" ", json.dumps(reply, ensure_ascii=False))
        shown = [item for unit in context.units for item in unit.items]
        for item in shown:
            if item.kind is ItemKind.SUMMARY and item.reference is not None:
                wrong = list(_believed(item, said, shown, recall))[:_MOST]
                if wrong:
                    named = ", ".join(map(repr, wrong))
                    reason = f"the summary {item.id} tells {named}, which nothing that it stands for says"
                    return Inconsistency(reason=reason, items=_contradicting(item.text, wrong, item.reference, recall))
        return None


def _believed(summary: Item, said: str, shown: list[Item], recall: Callable[[str], str]) -> Iterator[str]:
    """Yield what the reply can only have from the summary."""
    elsewhere = "\n".join(item.text for item in shown if item is not summary)
    new = [name for name in invented(summary.text, [elsewhere]) if name in said]
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
