"""Which steps belong to something that is done with: edit, test, pass; or a question and its answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

import gc_core as gc

_MOST_STEPS = 8
"""Steps of a cluster at most: what one line can tell of."""

_ENDED_WELL = re.compile(
    r"\b[1-9]\d{0,6} (?:tests? )?pass(?:ed|ing)\b|\ball tests pass|\bexit(?:ed)?(?: with)?(?: code| status)[: ]{1,2}0\b"
    r"|^ok[ \t]+\S{1,200}[ \t]+(?:\(cached\)|\d[\d.]{0,9}s)|^OK(?: \(.{1,80}\))?$|^PASS\b"
    r"|\bBUILD SUCCESS|\[[\w./-]{1,80} [0-9a-f]{7,40}\]",
    re.MULTILINE,
)
_FAILED = re.compile(r"\b[1-9]\d{0,6} (?:tests? )?(?:fail(?:ed|ing|ures?)|errors?)\b|^FAIL", re.MULTILINE)
_TAIL = 3_000


def resolved_clusters(context: gc.ContextView) -> Iterator[tuple[gc.Unit, ...]]:
    """
    Runs of at least two steps that follow one another in a turn and end in one whose result says that it worked; of an
    old turn also what led to its answer. The oldest first. What a user said is in none of them.
    """
    run: list[gc.Unit] = []
    for unit in context.collectable:
        if not unit.is_step or (run and not _follows(run[-1], unit)):
            run = []
        if not unit.is_step:
            continue
        run.append(unit)
        if _is_resolved(unit):
            if len(run) > 1:
                yield tuple(run[-_MOST_STEPS:])
            run = []


def _follows(earlier: gc.Unit, later: gc.Unit) -> bool:
    return earlier.turn == later.turn and earlier.step + 1 == later.step


def _is_resolved(unit: gc.Unit) -> bool:
    """Whether its results say that something ended well, or it is the text that ends a turn."""
    results = [item for item in unit.items if item.kind is gc.ItemKind.TOOL_RESULT]
    if not results:
        return not any(item.kind is gc.ItemKind.TOOL_CALL for item in unit.items)
    return any(_ended_well(item) for item in results)


def _ended_well(result: gc.Item) -> bool:
    tail = result.text[-_TAIL:]
    return not result.is_error and _ENDED_WELL.search(tail) is not None and _FAILED.search(tail) is None
