"""
What a later sentence does to what was laid down before: nothing, or it replaces or withdraws some of it.

People say so in any words, or by saying only what applies now. A linear model over what two sentences share, where
they differ and the words of the later one was learned from labelled pairs (``benchmarks.change_models``).
"""

from __future__ import annotations

import enum
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import attrs

from gc_core.task.meaning import Meaning, meaning_of
from gc_core.task.sentence_features import hash_of
from gc_core.task.sentence_models import change_scores

MOST_COMPARED: Final = 8
"""The most earlier sentences that one is compared with: those that share most with it."""

LEAST_ABOUT: Final = 0.2
"""
The least share of what an earlier sentence says that one which withdraws it has too, unless it came right behind: with
less it is about something else, as "I don't need anything else" is. Of labelled withdrawals 96 % have more.
"""

_LEAST_SHARED = 0.05
_LEVELS = 3
_PARTS = 6
_MOST = 4
_NONE = 9


class Effect(enum.IntEnum):
    """What a sentence does to an earlier one."""

    NONE = 0
    REPLACES = 1
    WITHDRAWS = 2


@attrs.frozen
class Change:
    """The place of the sentence that is changed, and how."""

    place: int
    effect: Effect


@attrs.frozen
class Pair:
    """
    A later sentence and an earlier one.

    Attributes:
        new: The later one.
        old: The earlier one.
        shared: The stems of both.
        of_old: The share of the earlier one's weight that both have, from 0 to 1.
        of_new: The share of the later one's weight.
        is_nearest: No other earlier one shares more that is its own.
        is_last: The earlier one was said just before.

    """

    new: Meaning
    old: Meaning
    shared: AbstractSet[str]
    of_old: float
    of_new: float
    is_nearest: bool
    is_last: bool


def change_by(sentence: str, earlier: Sequence[str], last: int) -> Change | None:
    """
    Return what a sentence changes among earlier ones, of which those from ``last`` on were said just before; None if
    nothing.
    """
    best, most = None, 0.0
    for place, pair in pairs_of(sentence, earlier, last):
        scores = change_scores(frozenset(features_of(pair)))
        effect = max(Effect, key=lambda each: scores[each])
        if effect is Effect.WITHDRAWS and pair.of_old < LEAST_ABOUT and not pair.is_last:
            continue
        margin = scores[effect] - scores[Effect.NONE]
        if margin > most:
            best, most = Change(place, effect), margin
    return best


def pairs_of(sentence: str, earlier: Sequence[str], last: int) -> list[tuple[int, Pair]]:
    """Return the pairs that are worth a look: what shares something with the sentence, or was said just before."""
    new = meaning_of(sentence)
    olds = [(place, meaning_of(each)) for place, each in enumerate(earlier)]
    near = [(place, old, new.weights.keys() & old.weights.keys()) for place, old in olds
            if place >= last or not new.told.isdisjoint(old.told)]  # fmt: skip
    said = Counter(stem for _, _, shared in near for stem in shared)
    own = {place: sum(old.weights[stem] / said[stem] for stem in shared) for place, old, shared in near}
    nearest = max(own.values(), default=0.0)
    compared = sorted(near, key=lambda each: (own[each[0]], each[0]))[-MOST_COMPARED:]
    return [
        (place, Pair(new, old, shared, _share(shared, old), _share(shared, new),
                     own[place] == nearest > _LEAST_SHARED, place >= last))
        for place, old, shared in compared
    ]  # fmt: skip


def features_of(pair: Pair) -> Iterator[int]:
    """Yield the hashes of the features of a pair, of 32 bits each; linear in the length of both."""
    return map(hash_of, _features(pair))


def _share(shared: AbstractSet[str], of: Meaning) -> float:
    every = sum(of.weights.values())
    return sum(of.weights[stem] for stem in shared) / every if every else 0.0


def _features(pair: Pair) -> Iterator[str]:
    most = max(pair.of_old, pair.of_new)
    level = 0 if most < _LEAST_SHARED else 1 if most < 1 / _LEVELS else 2
    yield from _of_share(pair, level)
    yield from _of_order(pair, level)
    yield from _of_ends(pair, level)
    yield from _of_tokens(pair)
    tokens = pair.new.tokens
    for word in itertools.chain(tokens, map(" ".join, itertools.pairwise(("<", *tokens, ">")))):
        yield f"w{word}"
        yield f"w{word}|{level > 0}{pair.is_nearest}"
    yield from (f"s{stem}" for stem in pair.shared)
    yield from (f"n{stem}" for stem in pair.new.weights if stem not in pair.shared)
    yield from (f"o{stem}" for stem in pair.old.weights if stem not in pair.shared)


def _of_share(pair: Pair, level: int) -> Iterator[str]:
    """Yield how much both share, how long they are, and whether they differ in numbers."""
    of_old, of_new = (min(_PARTS - 1, int(_PARTS * each)) if level else _NONE for each in (pair.of_old, pair.of_new))
    weight = sum(pair.old.weights[stem] for stem in pair.shared)
    yield from (f"old {of_old}", f"new {of_new}", f"both {of_old} {of_new}", f"weight {min(_MOST, round(2 * weight))}")
    yield from (f"is last {pair.is_last and not level}", f"nearest {pair.is_nearest} {level}")
    yield f"nearest {pair.is_nearest} of {of_old}"
    yield from (f"long {min(len(pair.new.tokens) // 3, 8)}", f"was long {min(len(pair.old.tokens) // 3, 6)}")
    new, old = pair.new.numbers, pair.old.numbers
    yield f"numbers {bool(new)} {bool(old)} {new == old} {level}"


def _of_order(pair: Pair, level: int) -> Iterator[str]:
    """Yield whether each begins and ends with what the other says too, and where it says something else."""
    new = [stem for stem in pair.new.order if stem in pair.new.told]
    old = [stem for stem in pair.old.order if stem in pair.old.told]
    begins, began = _is_in(new[:1], pair.shared), _is_in(old[:1], pair.shared)
    ends, ended = _is_in(new[-1:], pair.shared), _is_in(old[-1:], pair.shared)
    yield from (f"begins {begins} {level}", f"began {began} {level}", f"beginnings {begins} {began} {level}")
    yield from (f"ends {ends} {level}", f"ended {ended} {level}", f"endings {ends} {ended} {level}")
    yield f"frame {begins} {began} {ends} {ended}"
    (differs, at), (differed, was_at) = _difference(new, pair.shared), _difference(old, pair.shared)
    yield from (f"differs at {at} {level}", f"differed at {was_at} {level}", f"differ at {at} {was_at} {level}")
    yield f"differ in {differs} {differed} {level}"
    yield f"differ in {differs} {differed} numbers {pair.new.numbers != pair.old.numbers} {level}"
    yield f"same {min(5, len(pair.shared & pair.new.told))}"


def _is_in(stems: Sequence[str], shared: AbstractSet[str]) -> str:
    return "-" if not stems else str(stems[0] in shared)


def _difference(stems: Sequence[str], shared: AbstractSet[str]) -> tuple[int, str]:
    """Return how many stems the other one has not, and in which third of the sentence they are."""
    places = [place for place, stem in enumerate(stems) if stem not in shared]
    if not places:
        return 0, "-"
    middle = sum(places) / len(places) / max(1, len(stems) - 1)
    return min(_MOST, len(places)), str(min(_LEVELS - 1, int(_LEVELS * middle)))


def _of_ends(pair: Pair, level: int) -> Iterator[str]:
    """Yield how many words at the beginning and at the end are the same."""
    new, old = pair.new.tokens, pair.old.tokens
    same = itertools.takewhile(lambda both: both[0] == both[1], zip(new, old, strict=False))
    yield f"begin alike {min(_MOST, sum(1 for _ in same))} {level}"
    same = itertools.takewhile(lambda both: both[0] == both[1], zip(reversed(new), reversed(old), strict=False))
    yield f"end alike {min(_MOST, sum(1 for _ in same))} {level}"


def _of_tokens(pair: Pair) -> Iterator[str]:
    """Yield how many words each has that the other has not, and whether numbers and names in code are the same."""
    new, old = frozenset(pair.new.tokens), frozenset(pair.old.tokens)
    differs, differed = min(_MOST, len(new - old)), min(_MOST, len(old - new))
    values = f"{bool(pair.new.numbers)} {pair.new.numbers == pair.old.numbers} {pair.new.names == pair.old.names}"
    yield f"words {differs} {differed} values {values}"
    yield f"as long {len(pair.new.tokens) == len(pair.old.tokens)} {differs} {differed} values {values}"
