"""The name that was meant where an unknown one was written."""

from __future__ import annotations

from collections.abc import Iterable

_SIMILAR = 0.6
"""The least similarity of a suggested name, from 0 to 1, as difflib measures it."""


def nearest(name: str, known: Iterable[str], *, similar: float = _SIMILAR) -> str:
    """Return the known name that is most like this one, whatever their case; "" if none is like it."""
    import difflib

    folded = {each.casefold(): each for each in known}
    found = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=similar)
    return folded[found[0]] if found else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error about an unknown name: what was probably meant, or nothing."""
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""
