"""Compares what numbers are of: words that differ only in their ending, and all that tells how tests went."""

from __future__ import annotations

from gc_core.summaries.units import TESTS


def are_of(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Return whether one of some words is the same as one of others."""
    return any(is_same(one, other) for one in words for other in others)


def is_same(one: str, other: str) -> bool:
    """Return whether two words differ only in their ending, or both tell how tests went."""
    return is_form_of(one, other) or (one.startswith(TESTS) and other.startswith(TESTS))


def is_form_of(one: str, other: str) -> bool:
    """Return whether two words differ only in their ending."""
    least = min(len(one), len(other))
    same = next((place for place in range(least) if one[place] != other[place]), least)
    return one == other or (least >= 3 and same >= max(3, least - 1) and max(len(one), len(other)) - same <= 3)  # noqa: PLR2004


def stem(word: str) -> str:
    """Return a word without a plural's s."""
    return word if len(word) < 4 else word.removesuffix("s")  # noqa: PLR2004
