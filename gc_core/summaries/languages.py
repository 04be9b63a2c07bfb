"""Tells the language of a text by its small words."""

from __future__ import annotations

from collections import Counter
from typing import Final

from gc_core.values.patterns import regex

_WORDS: Final = {
    "en": "the an of to by and with was were is it that this for",
    "de": "der die das und ich nicht mit für ist war wurde den von auf",
    "fr": "le la les des une est avec pour dans sur par et du pas à qui été a",
    "es": "el la los las una con para por que del está fue se y es en",
    "it": "il la le lo gli che una con per nel della sono è di e non",
    "pt": "o a os uma com para que não do da em foi no ao e",
    "nl": "de het een van voor met en niet is zijn op te dat",
    "pl": "nie się jest na z w do i po że to są",
    "sv": "och att det som en på är för av med inte",
    "tr": "ve bir bu için ile da de çok olarak sonra",
    "ru": "и в на не что для по с из у как это",
}
_WORD = regex(r"(?<!\w)[^\W\d_]+(?!\w)")

MOST_READ: Final = 20_000
"""So many characters tell the language of a text."""


def languages_of(text: str) -> frozenset[str]:
    """Return the codes of the languages of which most small words occur: mostly one, none without such words."""
    words = Counter(_WORD.findall(text[:MOST_READ].lower()))
    votes = {language: sum(words[word] for word in small.split()) for language, small in _WORDS.items()}
    most = max(votes.values())
    return frozenset(language for language, count in votes.items() if count == most > 0)
