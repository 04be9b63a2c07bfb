"""What users laid down in content that leaves: sentences that the text in its place quotes, verbatim."""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final

from gc_core.collector.running_totals import RunningTotals
from gc_core.providers.contract import TokenCounter
from gc_core.values.items import Item, ItemKind, Unit
from gc_core.window.view import WindowView

MOST_RULES: Final = 32
"""The most sentences that are quoted in one place."""

SURE: Final = 2.0
"""The margin up to which a sentence is an unsure rule."""

UNSURE_PART: Final = 3
"""Unsure rules have one part in this many of the room."""

MOST_OTHERS: Final = 8
"""The most of them that are no rules by themselves, only sentences with a binding word."""


class Quotes:
    """
    Finds what users laid down, and chooses what is quoted of it.

    All quotes in the window together stay below a cap of their own, mere sentences with a binding word below that of
    the notices: the likeliest rules come first, of equals the newest; what changes a rule is as likely as the rule.

    Attributes:
        cap: The most tokens of all quotes in the window.
        planned: The quotes in the summaries of this plan.

    """

    def __init__(self, view: WindowView, totals: RunningTotals, counter: TokenCounter) -> None:
        self.cap = view.caps.quotes
        self.planned: tuple[str, ...] = ()
        self._view = view
        self._totals = totals
        self._counter = counter
        self._found: dict[str, tuple[tuple[str, bool], ...]] = {}
        self._costs: dict[str, int] = {}
        self._margins: dict[str, float] = {}
        self._heard_before = 0
        self._rules: dict[str, int] = {}
        self._rules_about: dict[str, list[tuple[int, str]]] = {}
        self._changed_by: dict[str, str] = {}

    def of(self, units: Iterable[Unit]) -> tuple[str, ...]:
        """Return what users laid down in these units, or what is quoted there, each once, in order."""
        self._hear(units := tuple(units))
        heard = itertools.chain.from_iterable(self._in(item) for unit in units for item in unit.items)
        return tuple(dict.fromkeys(sentence for sentence, binds in heard if binds or self._is_rule(sentence)))

    def chosen(self, sentences: Sequence[str], *, leaving: Container[int] = ()) -> tuple[str, ...]:
        """
        Return those of the sentences that are quoted, in order: as many as there is room for beside the quotes of other
        units than the ``leaving`` ones. A rule that was changed is not quoted without what changed it.
        """
        room = self._room(leaving)
        kept: set[str] = set()
        others = 0
        for sentence in self._ranked(sentences):
            cost, margin = self._cost(sentence), self._margin(sentence)
            limits = [limit for limit in room if margin <= limit]
            if len(kept) == MOST_RULES or (margin <= 0 and others == MOST_OTHERS):
                break
            if all(cost <= room[limit] for limit in limits):
                kept.add(sentence)
                others += margin <= 0
                room.update((limit, room[limit] - cost) for limit in limits)
        shown = kept.union(self.planned, self._staying(leaving))
        return tuple(sentence for sentence in sentences if sentence in kept and self._is_told(sentence, shown, leaving))

    def least(self, sentences: Sequence[str]) -> str:
        """Return the sentence that is given up first."""
        return self._ranked(sentences)[-1]

    def rules_of(self, units: Iterable[Unit]) -> tuple[str, ...]:
        """Return the rules among what users laid down in these units."""
        return tuple(filter(self._is_rule, self.of(units)))

    def total(self, sentences: Iterable[str]) -> int:
        """Return the tokens of quoting these sentences."""
        return sum(map(self._cost, sentences))

    def _cost(self, sentence: str) -> int:
        if sentence not in self._costs:
            self._costs[sentence] = self._counter.count(f' "{sentence}"')
        return self._costs[sentence]

    def _room(self, leaving: Container[int]) -> dict[float, int]:
        """Return the tokens that are left for sentences up to each of some margins: unsure ones displace no rule."""
        unsure = self.cap // UNSURE_PART
        room = {math.inf: self.cap, SURE: unsure, 0.0: min(unsure, self._view.caps.notices)}
        for sentence in (*self.planned, *self._staying(leaving)):
            for limit in room:
                room[limit] -= self._cost(sentence) if self._margin(sentence) <= limit else 0
        return room

    def _staying(self, leaving: Container[int]) -> Iterator[str]:
        """Yield the quotes in units that stay."""
        for unit, gone in zip(self._view.units, self._totals.gone, strict=True):
            if not gone and unit.number not in leaving:
                yield from _quoted_in(unit.items[0])

    def _ranked(self, sentences: Sequence[str]) -> list[str]:
        """Return the sentences, first those that are given up last."""
        newest_first = sentences[::-1]
        return sorted(newest_first, key=lambda each: -self._margin(each))

    def _is_rule(self, sentence: str) -> bool:
        """Return whether a sentence is a rule by itself, or changes one."""
        return self._margin(sentence) > 0

    def _margin(self, sentence: str) -> float:
        """Return how surely a sentence is a rule. The models are loaded when something leaves, not with a session."""
        if sentence not in self._margins:
            from gc_core.collector.laid_down import margin_of

            self._margins[sentence] = margin_of(sentence)
        return self._margins[sentence]

    def _hear(self, units: Sequence[Unit]) -> None:
        """Learn the rules in the window up to the last of these units, and what changes them later."""
        end = max((self._view.position(unit.number) + 1 for unit in units if unit.number >= 0), default=0)
        for place in range(self._heard_before, end):
            for sentence, _ in itertools.chain.from_iterable(map(self._in, self._view.units[place].items)):
                self._learn(sentence, place)
        self._heard_before = max(self._heard_before, end)

    def _learn(self, sentence: str, place: int) -> None:
        """Learn a sentence; what changes a rule is quoted at least as surely as the rule."""
        from gc_core.collector.laid_down import changed_of
        from gc_core.task.meaning import words_of

        self._changed_by.pop(sentence, None)
        stems = words_of(sentence)  # a sentence that shares none with a rule does not change it
        near = {number: rule for stem in stems for number, rule in self._rules_about.get(stem, ()) if rule != sentence}
        changed = changed_of(sentence, tuple(near[number] for number in sorted(near))) if near else None
        if changed is not None:
            self._changed_by[changed] = sentence
            self._margins[sentence] = max(self._margin(sentence), self._margin(changed))
        if not self._is_rule(sentence):
            return
        if sentence not in self._rules:
            for stem in stems:
                self._rules_about.setdefault(stem, []).append((len(self._rules), sentence))
        self._rules[sentence] = place

    def _is_told(self, sentence: str, shown: Container[str], leaving: Container[int]) -> bool:
        """Return whether nothing changed a sentence, or what did is ``shown`` or in a message that stays."""
        change = self._changed_by.get(sentence)
        if change is None:
            return True
        return change in shown or self._stays(self._rules[change], leaving)

    def _stays(self, place: int, leaving: Container[int]) -> bool:
        return not self._totals.gone[place] and self._view.units[place].number not in leaving

    def _in(self, item: Item) -> tuple[tuple[str, bool], ...]:
        """Return the sentences of a user, or those that are quoted in the place of some, with whether they bind."""
        if item.kind is not ItemKind.USER_TEXT:
            return tuple((sentence, True) for sentence in _quoted_in(item))
        if item.id not in self._found:
            from gc_core.collector.laid_down import heard_in

            self._found[item.id] = tuple((each.text, each.binds) for each in heard_in(item))
        return self._found[item.id]


def _quoted_in(item: Item) -> tuple[str, ...]:
    """Return what a notice or a summary quotes."""
    return item.reference.said if item.reference is not None else ()
