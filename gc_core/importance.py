"""
How much an item of the window matters: six terms from what is resident, and the composite that weighs them.

Everything comes from the names that items carry since they entered and from one taking apart of their words, so that a
collection costs O(window) and a step O(what is new).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from gc_core.bm25 import BM25, Bag, bag_of, rarity
from gc_core.errors import ConfigError
from gc_core.items import Item, ItemKind, Unit
from gc_core.per_text import PerText
from gc_core.scan import scan

HALF_LIFE_STEPS = 30
"""Steps after which recency has halved (the seed's 8.4)."""

_CAUSES_HALF = 2
"""Names of an item that later actions use for a causal weight of one half."""
_REFERENCES_HALF = 5
"""Later steps that use one of its names for a reference frequency of one half."""
_UNKNOWN = 0.5
"""The score where no term with a weight has a signal."""

_ACTIONS = frozenset({ItemKind.ASSISTANT_TEXT, ItemKind.TOOL_CALL})

Similarity = Callable[[str, str], float]
"""How near two texts are in meaning, from -1 to 1."""


def _weight(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:  # noqa: ARG001 - attrs' signature
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ConfigError(f"importance_weights.{attribute.name} = {value!r}: expected a number from 0 to 1")


def _half_life(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:  # noqa: ARG001 - attrs' signature
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= sys.float_info.max:
        raise ConfigError(f"{attribute.name} = {value!r}: expected a number of steps above 0")


@attrs.frozen(kw_only=True)
class ImportanceWeights:
    """
    What each term of the composite counts for (the seed's 6.5); only their proportion matters.

    Raises ConfigError, naming it, for a weight that is no number from 0 to 1, and where all of them are 0.

    Attributes:
        recency: How new it is.
        relevance: How well it fits the objective.
        causal: Whether later actions use what it names.
        frequency: How often they do.
        success: How its turn or steps ended.
        domain: What the compression profile says of it.

    """

    recency: float = attrs.field(default=0.25, validator=_weight)
    relevance: float = attrs.field(default=0.25, validator=_weight)
    causal: float = attrs.field(default=0.20, validator=_weight)
    frequency: float = attrs.field(default=0.10, validator=_weight)
    success: float = attrs.field(default=0.10, validator=_weight)
    domain: float = attrs.field(default=0.10, validator=_weight)

    def __attrs_post_init__(self) -> None:
        """Check what only all of them together can say."""
        if not any(attrs.astuple(self)):
            raise ConfigError("importance_weights: all are 0; expected one above 0")

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> ImportanceWeights:
        """Weights by name, the others as they are by default. Raises ConfigError for another name, as for a value."""
        names = [field.name for field in attrs.fields(cls)]
        for name in weights:
            if name not in names:
                raise ConfigError(f"importance_weights.{name} = {weights[name]!r}: expected one of {names}")
        return cls(**weights)


@attrs.frozen
class _Links:
    """How later steps use the names of an item: how many of them, and in how many steps."""

    names: int = 0
    steps: int = 0


class ScoringWindow:
    """
    What a scorer may know of the window, read-only; made once for a collection, and each answer when it is asked for.

    Args:
        units: The resident units, oldest first.
        objective: What the agent is about, "" where nobody said.
        success: How what an item belongs to ended, from 0 to 1, or None.
        domain: What a compression profile says of an item, from 0 to 1, or None where there is no profile.
        similarity: How near two texts are in meaning, or None where nothing tells.
        words: The words of texts, where they are kept from one collection to the next.

    """

    def __init__(
        self,
        units: Sequence[Unit],
        *,
        objective: str = "",
        success: Callable[[Item], float | None] = lambda _: None,
        domain: Callable[[Item], float] | None = None,
        similarity: Similarity | None = None,
        words: PerText[Bag] | None = None,
    ) -> None:
        self._objective = objective
        self._items = tuple(item for unit in units for item in unit.items)
        self._units = units
        self._success = success
        self._domain = domain
        self._similarity = similarity
        self._words = PerText(bag_of) if words is None else words
        self._known_links: dict[str, _Links] = {}

    @property
    def items(self) -> tuple[Item, ...]:
        """The resident items, oldest first."""
        return self._items

    @property
    def objective(self) -> str:
        """What the agent is about, "" where nobody said."""
        return self._objective

    def age(self, item: Item) -> int:
        """Steps that have been taken since the item; 0 for one that is not in the conversation."""
        return self._ages.get(item.unit, 0)

    def recency(self, item: Item, half_life_steps: float = HALF_LIFE_STEPS) -> float:
        """1 for the newest step, one half for each half-life since: ``exp(-ln(2) * age / half_life_steps)``."""
        return math.exp(-math.log(2) * self.age(item) / half_life_steps)

    def relevance(self, item: Item) -> float | None:
        """
        How well the item fits the objective, from 0 to 1; None without an objective.

        The mean of the words (BM25, as a share of the best score in the window) and, where the objective names
        something that the window shows, of its names that the item shows, rare ones counting for more. With embeddings
        half of it is the cosine similarity.
        """
        if not self.objective.strip():
            return None
        found = self._word_scores.get(item.text, 0.0)
        if self._wanted:
            shown = sorted(self._wanted.keys() & item.scan.names)
            found = (found + min(1.0, sum(self._wanted[name] for name in shown))) / 2
        if self._similarity is None:
            return found
        return (found + min(1.0, max(0.0, self._similarity(item.text, self.objective)))) / 2

    def causal_weight(self, item: Item) -> float:
        """Whether later steps act on what the item names: 0 if they use none of its names, one half for 2 of them."""
        return _saturated(self._links(item).names, _CAUSES_HALF)

    def reference_frequency(self, item: Item) -> float:
        """How many later steps use one of its names, in texts or calls: 0 for none, one half for 5 of them."""
        return _saturated(self._links(item).steps, _REFERENCES_HALF)

    def success(self, item: Item) -> float | None:
        """The share of good outcomes of the turn and the steps that the item belongs to; None without a signal."""
        return self._success(item)

    def domain_weight(self, item: Item) -> float | None:
        """What the compression profile says of the item, from 0 to 1; None without a profile."""
        return None if self._domain is None else self._domain(item)

    # -- inside --------------------------------------------------------------------------------------------------

    @cached_property
    def _ages(self) -> dict[int, int]:
        ages, steps = {}, 0
        for unit in reversed(self._units):
            ages[unit.number] = steps
            steps += unit.is_step
        return ages

    @cached_property
    def _word_scores(self) -> dict[str, float]:
        """Of every text in the window, as a share of the best."""
        bags = {item.text: self._words[item.text] for item in self.items}
        told = BM25(list(bags.values()), self._words[self.objective])
        scores = {text: told.score(bag) for text, bag in bags.items()}
        best = max(scores.values(), default=0.0)
        return {text: score / best for text, score in scores.items()} if best else {}

    @cached_property
    def _wanted(self) -> dict[str, float]:
        """The objective's names that the window shows, with what each counts for; together 1."""
        names = scan(self.objective).names
        holding = dict.fromkeys(names, 0)
        for item in self.items:
            for name in names & item.scan.names:
                holding[name] += 1
        # In one order, so that sums are the same in every process.
        rarities = {name: rarity(holding[name], len(self.items)) for name in sorted(names) if holding[name]}
        total = sum(rarities.values())
        return {name: value / total for name, value in rarities.items()}

    @cached_property
    def _used(self) -> dict[str, int]:
        """In which units the agent uses each name in texts and calls: one bit a unit, the oldest lowest."""
        used: dict[str, int] = {}
        for place, unit in enumerate(self._units):
            bit = 1 << place
            for item in unit.items:
                if item.kind in _ACTIONS:
                    for name in item.scan.names:
                        used[name] = used.get(name, 0) | bit
        return used

    @cached_property
    def _places(self) -> dict[int, int]:
        return {unit.number: place for place, unit in enumerate(self._units)}

    def _links(self, item: Item) -> _Links:
        if item.id not in self._known_links:
            self._known_links[item.id] = self._found_links(item)
        return self._known_links[item.id]

    def _found_links(self, item: Item) -> _Links:
        """How the steps behind the item's own unit use its names."""
        place = self._places.get(item.unit)
        if place is None:
            return _Links()
        found = (self._used[name] >> place + 1 for name in item.scan.names if name in self._used)
        later = [steps for steps in found if steps]
        return _Links(len(later), _union(later).bit_count())


def _union(sets: Iterable[int]) -> int:
    union = 0
    for each in sets:
        union |= each
    return union


def _saturated(number: int, half: int) -> float:
    return number / (number + half)


@attrs.frozen(kw_only=True)
class CompositeScorer:
    """
    The weighted mean of six terms, each from 0 to 1. A term without a signal (no objective, no outcome, no profile) has
    its weight shared out over the others in proportion.

    Raises ConfigError for a half-life that is no number above 0.

    Attributes:
        weights: What each term counts for.
        half_life_steps: Steps after which recency has halved.

    """

    weights: ImportanceWeights = ImportanceWeights()
    half_life_steps: float = attrs.field(default=HALF_LIFE_STEPS, validator=_half_life)

    def score(self, item: Item, window: ScoringWindow) -> float:
        """How much the item matters, from 0 to 1."""
        weights = self.weights
        terms = (
            (weights.recency, window.recency(item, self.half_life_steps)),
            (weights.relevance, window.relevance(item)),
            (weights.causal, window.causal_weight(item)),
            (weights.frequency, window.reference_frequency(item)),
            (weights.success, window.success(item)),
            (weights.domain, window.domain_weight(item)),
        )
        total = sum(weight for weight, term in terms if term is not None)
        if not total:
            return _UNKNOWN
        return sum(weight * term for weight, term in terms if term is not None) / total


Scores = Callable[[Sequence[Unit], str], Callable[[Item], float]]
"""How the items of these units are scored for an objective."""


def composite(units: Sequence[Unit], objective: str) -> Callable[[Item], float]:
    """The composite with its defaults, where nothing is known but the window."""
    window = ScoringWindow(units, objective=objective)
    return lambda item: CompositeScorer().score(item, window)
