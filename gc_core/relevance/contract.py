"""The contracts for judging importance: scorers and compression profiles."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from gc_core.relevance.importance import ScoringWindow
from gc_core.relevance.profiles import CompressionProfile
from gc_core.values.items import Item


@runtime_checkable
class ImportanceScorer(Protocol):
    """
    Scores the importance of an item.

    Called for every resident item, once per collection, when a strategy first asks for an importance. If it raises, or
    returns anything but a number from 0 to 1, the composite replaces it; after three such collections permanently.
    """

    def score(self, item: Item, window: ScoringWindow) -> float:
        """Return the item's importance, from 0 to 1."""


class RegisterScorer(Protocol):
    """The argument of ``gc_register_scorers``: call it once for each scorer class that you offer."""

    def __call__(self, name: str, scorer: type[ImportanceScorer]) -> None:
        """Offer a scorer class under a name that a configuration can use."""


class RegisterProfile(Protocol):
    """The argument of ``gc_register_profiles``: call it once for each compression profile that you offer."""

    def __call__(self, profile: CompressionProfile) -> None:
        """Offer a profile under its own name, which a configuration can use."""
