"""What users laid down in content that leaves: sentences that the text in its place quotes, verbatim."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final

from gc_core.collector.running_totals import RunningTotals
from gc_core.providers.contract import TokenCounter
from gc_core.relevance.demands import Strength, demands_in
from gc_core.task import phrases
from gc_core.task.sentence_models import rule_margins
from gc_core.task.stated_rules import sentences_in
from gc_core.task.statements import own_words
from gc_core.task.withdrawals import withdrawal_in
from gc_core.values.items import Item, ItemKind, Unit
from gc_core.window.view import WindowView

MOST_RULES: Final = 32
"""The most sentences that are quoted in one place."""

MOST_OTHERS: Final = 8
"""The most of them that are no rules by themselves, only sentences with a binding word."""

LONGEST: Final = 300
"""Characters of a sentence above which it is not quoted: it is narrative."""

_PLAIN = str.maketrans({'"': "'", "[": "(", "]": ")"})


class Quotes:
    """
    Finds what users laid down, and chooses what is quoted of it.

    All quotes in the window together stay below a cap of their own, mere sentences with a binding word below that of
    the notices: what takes a rule back comes first, then the likeliest rules, of equals the newest.

    Attributes:
        cap: The most tokens of all quotes in the window.
        planned: Tokens of the quotes in the summaries of this plan.

    """

    def __init__(self, view: WindowView, totals: RunningTotals, counter: TokenCounter) -> None:
        self.cap = view.caps.quotes
        self.planned = 0
        self._view = view
        self._totals = totals
        self._counter = counter
        self._found: dict[str, tuple[str, ...]] = {}
        self._costs: dict[str, int] = {}
        self._margins: dict[str, float] = {}

    def of(self, units: Iterable[Unit]) -> tuple[str, ...]:
        """Return what users laid down in these units, or what is quoted there, each once, in order."""
        return tuple(dict.fromkeys(said for unit in units for item in unit.items for said in self._in(item)))

    def chosen(self, sentences: Sequence[str], *, leaving: Container[int] = ()) -> tuple[str, ...]:
        """
        Return those of the sentences that are quoted, in order: as many as there is room for beside the quotes of other
        units than the ``leaving`` ones.
        """
        staying = self.planned + self._staying(leaving)
        rules = self.cap - staying
        others = min(rules, self._view.caps.notices)
        kept: set[str] = set()
        mere = 0
        for sentence in self._ranked(sentences):
            cost, is_rule = self._cost(sentence), self._is_rule(sentence)
            if len(kept) == MOST_RULES or cost > (rules if is_rule else min(rules, others)):
                continue
            if not is_rule and mere == MOST_OTHERS:
                continue
            kept.add(sentence)
            mere += not is_rule
            rules -= cost
            others -= 0 if is_rule else cost
        return tuple(sentence for sentence in sentences if sentence in kept)

    def least(self, sentences: Sequence[str]) -> str:
        """Return the sentence that is given up first."""
        return self._ranked(sentences)[-1]

    def total(self, sentences: Iterable[str]) -> int:
        """Return the tokens of quoting these sentences."""
        return sum(map(self._cost, sentences))

    def cost_of(self, unit: Unit) -> int:
        """Return the most tokens of quoting what users laid down in a unit."""
        return self.total(self.of((unit,)))

    def _cost(self, sentence: str) -> int:
        if sentence not in self._costs:
            self._costs[sentence] = self._counter.count(f' "{sentence}"')
        return self._costs[sentence]

    def has_rule(self, units: Iterable[Unit]) -> bool:
        """Return whether users laid down a rule in these units."""
        return any(map(self._is_rule, self.of(units)))

    def _staying(self, leaving: Container[int]) -> int:
        """Return the tokens of the quotes in units that stay."""
        staying = (
            unit
            for unit, gone in zip(self._view.units, self._totals.gone, strict=True)
            if not gone and unit.number not in leaving
        )
        return sum(self.total(_quoted_in(unit.items[0])) for unit in staying)

    def _ranked(self, sentences: Sequence[str]) -> list[str]:
        """Return the sentences, first those that are given up last."""
        return sorted(sentences[::-1], key=lambda each: -self._margin(each))

    def _is_rule(self, sentence: str) -> bool:
        """Return whether a sentence is a rule by itself, or takes one back."""
        return self._margin(sentence) > 0

    def _margin(self, sentence: str) -> float:
        if sentence not in self._margins:
            self._margins[sentence] = math.inf if _takes_back(sentence) else rule_margins([sentence])[0]
        return self._margins[sentence]

    def _in(self, item: Item) -> tuple[str, ...]:
        if item.kind is not ItemKind.USER_TEXT:
            return _quoted_in(item)
        if item.id not in self._found:
            self._found[item.id] = tuple(_laid_down(item))
        return self._found[item.id]


def _quoted_in(item: Item) -> tuple[str, ...]:
    """Return what a notice or a summary quotes."""
    return item.reference.said if item.reference is not None else ()


def _laid_down(item: Item) -> Iterator[str]:
    """Yield a user's rules, what takes one back, and other short sentences that clearly bind, in order; linear."""
    if item.synthetic:
        return
    own = own_words(item)
    rules = {each.text for each in sentences_in(own) if each.form is not None or _takes_back(each.text)}
    binding = {" ".join(each.text.split()) for each in demands_in(item.text) if each.strength is Strength.CLEAR}
    for sentence in phrases.sentences_of(item.text):
        if (sentence in rules or sentence in binding) and len(sentence) <= LONGEST:
            yield sentence.translate(_PLAIN)


def _takes_back(sentence: str) -> bool:
    """Return whether a sentence takes back a rule that it names."""
    found = withdrawal_in(phrases.straight(sentence))
    return found is not None and bool(found.named)
