"""The rules for what a collection may do to thinking (N3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from gc_core.providers.rules.blocks import THINKING, blocks_of, latest_reply, said_in, thinking_runs
from gc_core.providers.rules.prefix import first_change, same
from gc_core.providers.rules.violations import Violation
from gc_core.values.messages import Request


def kept_thinking(before: Request, after: Request) -> Iterator[Violation]:
    """N3: remaining thinking is byte-identical, in order, and a run of thinking blocks stays or leaves as a whole."""
    kept = list(thinking_runs(after.messages))
    if not kept:
        return  # common with models that bind thinking; nothing to compare
    places: dict[str, deque[int]] = {}
    for place, (_, run) in enumerate(thinking_runs(before.messages)):
        places.setdefault(run, deque()).append(place)
    reached = -1
    for index, run in kept:
        candidates = places.get(run, deque())
        while candidates and candidates[0] <= reached:
            candidates.popleft()
        if candidates:
            reached = candidates.popleft()
        else:
            yield Violation(
                rule="N3", index=index, text="thinking that was edited, split or moved; keep a run or drop it"
            )


def latest_thinking(before: Request, after: Request) -> Iterator[Violation]:
    """N3: the latest reply keeps its thinking."""
    was, now = latest_reply(before), latest_reply(after)
    if was is None or now is None or said_in(before.messages[was]) != said_in(after.messages[now]):
        return  # another reply is the latest now, and its thinking is not known here
    if list(thinking_runs(before.messages[was : was + 1])) != list(thinking_runs(after.messages[now : now + 1])):
        yield Violation(
            rule="N3", index=now, text="the thinking of the latest reply was modified; it has to stay verbatim"
        )


def bound_thinking(before: Request, after: Request) -> Iterator[Violation]:
    """N3b: after the first change all thinking is invalid."""
    index = first_change(before, after)
    if index is None:
        return
    start = max(index, 0)
    for offset, message in enumerate(after.messages[start:]):
        untouched = _common(before, after, start) if offset == 0 and index >= 0 else 0
        if any(block.get("type") in THINKING for block in blocks_of(message)[untouched:]):
            yield Violation(rule="N3b", index=start + offset, text="thinking bound to what changed before it; strip it")


def _common(before: Request, after: Request, index: int) -> int:
    """Return how many leading blocks of this message are unchanged."""
    if index >= len(before.messages):
        return 0
    pairs = list(zip(blocks_of(before.messages[index]), blocks_of(after.messages[index]), strict=False))
    return next((count for count, (old, new) in enumerate(pairs) if not same(old, new)), len(pairs))
