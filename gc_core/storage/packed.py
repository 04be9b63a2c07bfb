"""Lists of places that grow as long as a session lives, packed: everything else in memory is as large as the window."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

import attrs

Place = TypeVar("Place", bound=attrs.AttrsInstance)


class Packed(Generic[Place]):
    """
    A list of values that are two offsets each: 16 bytes a value, where a list of them has some 130.

    Args:
        kind: Makes a value of its two offsets.
        values: Those that it begins with.

    """

    def __init__(self, kind: Callable[[int, int], Place], values: Iterable[Place] = ()) -> None:
        self._kind = kind
        self._offsets = array("q")
        self.extend(values)

    def extend(self, values: Iterable[Place]) -> None:
        """Append values."""
        for value in values:
            self.append(value)

    def append(self, value: Place) -> None:
        """Put a value at the end."""
        self._offsets.extend(attrs.astuple(value))

    def pop(self) -> Place:
        """Take the last value. Raises IndexError if there is none."""
        last = self[-1]
        del self._offsets[-2:]
        return last

    def pairs(self) -> list[list[int]]:
        """Return the offsets of each value."""
        return [[first, second] for first, second in zip(self._offsets[::2], self._offsets[1::2], strict=True)]

    def copy(self) -> Packed[Place]:
        """Return a copy with the same values."""
        other: Packed[Place] = Packed(self._kind)
        other._offsets = self._offsets[:]
        return other

    def cut(self, count: int) -> None:
        """Keep only the first ``count`` values."""
        del self._offsets[2 * count :]

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same values."""
        return isinstance(other, Packed) and self._offsets == other._offsets

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __len__(self) -> int:
        """The number of values."""
        return len(self._offsets) // 2

    def __getitem__(self, place: int) -> Place:
        """Return the value at a place, from the end if it is negative. Raises IndexError."""
        first = 2 * range(len(self))[place]
        return self._kind(self._offsets[first], self._offsets[first + 1])

    def __iter__(self) -> Iterator[Place]:
        """Return the values in their order."""
        return map(self._kind, self._offsets[::2], self._offsets[1::2])
