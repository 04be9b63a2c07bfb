"""What is found out of a text once, and kept as long as the text is in the window."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerText(Generic[T]):
    """
    A value for each text, made when it is first asked for.

    Bounded by ``keep``: what is known of texts that have left the window is forgotten. A text's hash is computed once,
    so a value that is known costs one look-up.
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
        """Return texts of which the value is known."""
        return len(self._known)

    def keep(self, texts: Iterable[str]) -> None:
        """Forget what is known of all other texts."""
        self._known = {text: self._known[text] for text in texts if text in self._known}
