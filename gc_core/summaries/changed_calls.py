"""Finds calls whose numbers the originals contradict: ``round(x, 2)`` contradicts ``round(x, 3)``."""

from __future__ import annotations

from collections.abc import Iterable

from gc_core.values.patterns import regex

_CALL = regex(r"(?<!\w)([A-Za-z_][A-Za-z0-9_]{1,59}\([^()\n]{0,80}\d[^()\n]{0,80}\))")
_SPACE = regex(r"[\s\"'`\\]+")
_NOT_CODE = regex(r"[\W_]+")
_DIGITS = regex(r"\d+")


def changed_calls(text: str, originals: Iterable[str]) -> list[str]:
    """Return calls that the originals have only with other numbers in the same places, in order."""
    calls = _CALL.findall(text)
    if not calls:
        return []
    whole = "\n".join(originals)
    code = _NOT_CODE.sub("", whole)
    shapes = set(map(_shape, _CALL.findall(whole)))
    return [call for call in calls if _NOT_CODE.sub("", call) not in code and _shape(call) in shapes]


def _shape(call: str) -> str:
    """Return a call without spaces and quotes, and with one sign for each number."""
    return _DIGITS.sub("0", _SPACE.sub("", call))
