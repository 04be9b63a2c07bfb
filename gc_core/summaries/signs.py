"""Finds temperatures below zero of which the originals say only that they are above."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gc_core.values.patterns import regex

_DEGREES = r" ?(?:°|℃|degrees?\b|celsius\b|grad[oi]?s?\b|graden\b|degrés\b|stopni|градус|度)"
_BELOW = regex(rf"(?<![\w.,)\]-])(?:[-−]|minus ?)(\d{{1,3}}(?:[.,]\d)?){_DEGREES}", re.IGNORECASE)


def wrong_signs(text: str, whole: str) -> Iterator[str]:
    """Yield temperatures below zero of a text that another has without a minus alone."""
    below = {degrees.replace(",", ".") for degrees in _BELOW.findall(whole)}
    for match in _BELOW.finditer(text):
        degrees = match[1].replace(",", ".")
        above = rf"(?<![\d.,−-]){re.escape(degrees)}{_DEGREES}"
        if degrees not in below and re.search(above, whole.replace(",", "."), re.IGNORECASE):
            yield match[0]
