"""Values computed once per text, and kept as long as the text is in the window."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerText(Generic[T]):
    """
    A value for each text, computed on first use.

    Bounded by ``keep``: values of texts that have left the window are dropped. A text's hash is computed once, so a
    cached value costs one look-up.
    """

    def __init__(self, make: Callable[[str], T]) -> None:
        self._make = make
        self._known: dict[str, T] = {}

    def __getitem__(self, text: str) -> T:
        """Return the value of a text."""
        try:
            return self._known[text]
        except KeyError:
            value = self._known[text] = self._make(text)
            return value

    def __len__(self) -> int:
        """Return the number of cached values."""
        return len(self._known)

    def keep(self, texts: Iterable[str]) -> None:
        """Drop the values of all other texts."""
        self._known = {text: self._known[text] for text in texts if text in self._known}
