"""
A reply that builds on what a summary invented: noticed without a model, from the log.

A summary stands for originals that the log still holds. A name or number that a reply uses, that a summary in the
window tells, and that none of its originals says, is contradicted by the log: the summary went wrong, or somebody
changed it, and the reply believed it. The original that shares most words with the summary's line tells it otherwise.
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
_CALLED = regex(r'"(?:name|id|tool_call_id|call_id)": ?"[^"]*"')  # names of tools are no part of what was said

_WORD = regex(r"[^\W_]{2,}")


@attrs.frozen
class ContradictionCheck:
    """
    A plugin that finds a reply inconsistent when it uses a name or number which a summary tells and the log does not.

    Register it with the session's plugins; what follows is ``recovery_strategy``. The finding names the items of the
    log that tell it otherwise, so that they come back. Reads originals only where a reply repeats something of a
    summary.
    """

    @hookimpl
    def gc_validate_reply(
        self, reply: Mapping[str, Any], context: ContextView, recall: Callable[[str], str]
    ) -> Inconsistency | None:
        """The first summary that the reply believed against the log, what it is about, and what tells it otherwise."""
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
    """Yield what the reply has from the summary alone."""
    elsewhere = "\n".join(item.text for item in shown if item is not summary)
    new = [name for name in invented(summary.text, [elsewhere]) if name in said]
    if new and summary.reference is not None:
        span = f"{summary.reference.first}-{summary.reference.last}"
        yield from (name for name in invented(" ".join(new), [recall(span)]) if name in new)


def _contradicting(
    summary: str, wrong: Iterable[str], reference: Reference, recall: Callable[[str], str]
) -> tuple[str, ...]:
    """
    Of each wrong name the original that is about the same: a line of it shares the most with the summary's line, words
    that few originals say before others; of equals the newest. None where no line shares two words.
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
    """Yield what a summary stands for, item by item: the words of each line."""
    for number in range(number_of(reference.first), number_of(reference.last) + 1):
        with contextlib.suppress(SourceError):  # not every number between is one of an item
            yield f"i{number}", [_words(line) for line in recall(f"i{number}").splitlines()]


def _words(line: str) -> frozenset[str]:
    return frozenset(_WORD.findall(line.lower()))
