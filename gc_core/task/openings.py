"""What a sentence begins with: a later sentence that begins with something else corrects nothing in an earlier one."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from gc_core.task import phrases
from gc_core.task.forms import Form, form_of
from gc_core.values.patterns import regex


def _set(*languages: str) -> frozenset[str]:
    return frozenset(word for language in languages for word in language.split())


_WORD: Final = regex(r"[\w@#][\w./:@#%'-]*")
_DENSE: Final = regex(r"[\u3040-\u30ff\u3400-\u9fff]")
_CUES: Final = regex(
    r"^\W*+(?:(?:no|nope|nein|non|nee|não|nie|нет|hayır|actually|correction|sorry|perdón|scusa|pardon|desculpa|wait"
    r"|ok(?:ay)?|so|and|but"
    r"|change of plans?|new rule|eigentlich|en fait|en realidad|in realtà|na verdade|eigenlijk|właściwie"
    r"|на самом деле|aslında)\b\W*)+"
    r"|(?<![\w'-])(?:now|instead|doch|jetzt|ahora|adesso|agora|nu|teraz|теперь|artık)(?![\w'-])"
    r"|^(?:从现在起|从今天起|今后|以后|今後は?|これからは?)[、,，]?",
    re.IGNORECASE,
)


_COPULAS: Final = _set(
    "is are be was called named it's that's ist sind heißt lautet est sont es son é è são sono zijn jest są"
)
_LEADING: Final = _COPULAS | _set(
    "at on in to by from of for as via with per until till up about under over has have had may must should can will",
    "gets get goes live lives sits stays need needs require requires hold holds show shows am im an auf",
    "bei mit um ab bis zu zum zur nach von wird werden",
    "à au aux en par vers dès al a ao às aos em por para com sai está alle alla ai nel nella su op om",
    "naar te bij wordt",
    "o w z na do po od to в на к по с до от у",
)
"""Words that introduce a value."""

_FUNCTION: Final = _set(
    "the our your my their his her its this that these those we you i they it all each every any some",
    "and or please only",
    "der die das den dem des ein eine einen einer unser unsere le la les l un une des notre nos el los",
    "las una nuestro nuestra il lo",
    "gli nostro nostra os um uma nosso nossa het een de onze nasz nasza наш наша bizim",
)

_NUMBER: Final = regex(r"^\d[\d.,:]*(?:st|nd|rd|th)?%?$")
_DAY: Final = regex(
    r"^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|lunes"
    r"|martes|miércoles|jueves"
    r"|viernes|sábados?|domingos?|(?:lun|mar|mercre|jeu|vendre|same)dis?|dimanches?|(?:lune|marte|mercole|giove"
    r"|vener)dì|sabato|domenica)$"
)
_PLACE: Final = regex(r"^[\w.-]+(?:[/:][\w.-]+)+$|^\w[\w-]*(?:\.[\w-]+){1,5}$")
_SHORTEST_ROOT, _ENDING, _LONGEST_ENDING = 4, 2, 5


@attrs.frozen
class Opening:
    """
    The beginning of a sentence, as it is compared.

    Attributes:
        words: All its words, in lower case, without words that only mark a change.
        lead: The significant words before the first word that introduces something.
        is_dense: It is written without blanks.
        lays_down: It says how something is or has to be: its form is a norm or a statement.

    """

    words: tuple[str, ...]
    lead: frozenset[str]
    is_dense: bool
    lays_down: bool


@functools.lru_cache(maxsize=4_096)
def opening_of(text: str) -> Opening:
    """Return the opening of a sentence; linear, and cached."""
    plain = _CUES.sub("", phrases.LASTING.sub("", text.replace("’", "'").replace("`", ""))).strip()
    words = tuple(word.lower().rstrip(".:/'-").removesuffix("'s") for word in _WORD.findall(plain))
    return Opening(
        words=words,
        lead=frozenset(_lead(words)),
        is_dense=_DENSE.search(plain) is not None,
        lays_down=form_of(text) in {Form.NORM, Form.STATEMENT},
    )


def are_of_other_things(new: Opening, old: Opening) -> bool:
    """Return whether each begins with what the other does not mention."""
    if not new.lead or not old.lead or new.is_dense or old.is_dense or not new.lays_down:
        return False
    return not _shares(new.lead, old.words) and not _shares(old.lead, new.words)


def is_among(word: str, words: Iterable[str]) -> bool:
    """Return whether a word is among others, in whatever form: a common beginning is enough."""
    return any(_same(word, other) for other in words)


# -- inside ----------------------------------------------------------------------------------------------------------


def _lead(words: Sequence[str]) -> Iterable[str]:
    found = False
    for word in words:
        if word in _FUNCTION or (not found and (_is_value(word) or word in _LEADING)):
            continue
        if word in _LEADING or _is_value(word):
            return
        found = True
        yield word


def _is_value(word: str) -> bool:
    return any(pattern.match(word) for pattern in (_NUMBER, _DAY, _PLACE))


def _shares(lead: Iterable[str], words: Sequence[str]) -> bool:
    return any(is_among(word, words) for word in lead)


def _same(word: str, other: str) -> bool:
    if word == other:
        return True
    least = min(len(word), len(other))
    root = max(_SHORTEST_ROOT, least - _ENDING)
    return least >= _SHORTEST_ROOT and word[:root] == other[:root] and abs(len(word) - len(other)) <= _LONGEST_ENDING
