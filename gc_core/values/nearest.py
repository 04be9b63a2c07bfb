"""The name that was meant where an unknown one was written."""

from __future__ import annotations

from collections.abc import Iterable

_SIMILAR = 0.6
"""The least similarity of a suggested name, from 0 to 1, as difflib measures it."""


def nearest(name: str, known: Iterable[str], *, similar: float = _SIMILAR) -> str:
    """Return the known name that is most like this one, whatever their case; "" if none is like it."""
    import difflib

    folded, name = {each.casefold(): each for each in known}, name.casefold()
    found = difflib.get_close_matches(name, folded, cutoff=similar)
    # One wrong letter is likelier than a longer name, which may be more alike: strategi is strategy, not strategies.
    return folded[min(found, key=lambda each: _edits(name, each) > 1)] if found else ""


def _edits(name: str, other: str) -> int:
    """Return how many letters differ."""
    import difflib

    parts = difflib.SequenceMatcher(None, name, other).get_opcodes()
    return sum(max(end - start, to - begin) for tag, start, end, begin, to in parts if tag != "equal")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error about an unknown name: what was probably meant, or nothing."""
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""
