"""What can be plugged in to judge what matters: importance scorers and compression profiles."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from gc_core.relevance.importance import ScoringWindow
from gc_core.relevance.profiles import CompressionProfile
from gc_core.values.items import Item


@runtime_checkable
class ImportanceScorer(Protocol):
    """
    Says how much an item of the window matters.

    Asked for every resident item, once a collection, when a strategy first asks for an importance. Where it raises, or
    one score is not a number from 0 to 1, the composite scores in its place; after three such collections for good.
    """

    def score(self, item: Item, window: ScoringWindow) -> float:
        """Return how much the item matters, from 0 to 1."""


class RegisterScorer(Protocol):
    """What ``gc_register_scorers`` receives: call it once for each scorer class on offer."""

    def __call__(self, name: str, scorer: type[ImportanceScorer]) -> None:
        """Offer a scorer class under a name that a configuration can use."""


class RegisterProfile(Protocol):
    """What ``gc_register_profiles`` receives: call it once for each compression profile on offer."""

    def __call__(self, profile: CompressionProfile) -> None:
        """Offer a profile under its own name, which a configuration can use."""
