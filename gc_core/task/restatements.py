"""
Whether a later sentence gives the same attribute of the same thing another value, without a word that says so.

Two sentences do when they are the same but for one place at the end, which a preposition or a copula introduces, or
when what one of them begins with occurs in the other and both give a value of the same kind.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from gc_core.task import rule_phrases as phrases
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
_ORDERS: Final = _set("to as at by via under")
"""Words that introduce a value in an order: what follows an "in" or a "for" there is where it applies."""

_BEFORE_ORDERS: Final = _set("only please never always")
_VERBS: Final = phrases.LASTING_VERBS | phrases.EITHER_VERBS | phrases.STEP_VERBS

_NUMBER: Final = regex(r"^\d[\d.,:]*(?:st|nd|rd|th)?%?$")
_DAY: Final = regex(
    r"^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|lunes"
    r"|martes|miércoles|jueves"
    r"|viernes|sábados?|domingos?|(?:lun|mar|mercre|jeu|vendre|same)dis?|dimanches?|(?:lune|marte|mercole|giove"
    r"|vener)dì|sabato|domenica)$"
)
_PLACE: Final = regex(r"^[\w.-]+(?:[/:][\w.-]+)+$|^\w[\w-]*(?:\.[\w-]+){1,5}$")
_NEGATIVE: Final = regex(
    r"\b(?:never|not|no|don't|dont|without|nie|niemals|kein\w*|nicht|jamais|pas|nunca|mai|non|não|nooit|geen|nigdy"
    r"|никогда|не|asla)\b",
    re.IGNORECASE,
)
_NAMED: Final = regex(r"\s(?P<by>\w{1,7}) (?P<name>[A-ZÀ-ÖØ-ÞА-ЯĄĆĘŁŚŻŹ][\w-]{1,30})\W{0,3}$")
_COUNTED: Final = _set("issue issues pr step task section test case page line item ticket phase chapter")
"""Words whose number names a thing."""

_SHORTEST_ROOT, _ENDING, _LONGEST_ENDING = 4, 2, 5
_MOST_VALUE, _MOST_TAIL, _MOST_DENSE, _FEW_DENSE = 4, 1, 6, 3


@attrs.frozen
class Shape:
    """
    The words of a sentence as it is compared.

    Attributes:
        words: All of them, in lower case, without words that only mark a change.
        lead: What it begins with: the significant words before the first word that introduces something.
        values: Its values, each with what it is of: the unit of a number, "day" or "place".
        dense: Its letters, where it is written without blanks.
        negative: It forbids something.
        orders: It begins with a verb.

    """

    words: tuple[str, ...]
    lead: frozenset[str]
    values: tuple[tuple[str, str], ...]
    dense: str
    negative: bool
    orders: bool


@functools.lru_cache(maxsize=4_096)
def shape_of(text: str) -> Shape:
    """Return the shape of a sentence; linear, and cached."""
    plain = _CUES.sub("", phrases.LASTING.sub("", text.replace("’", "'"))).strip()
    words = tuple(word.lower().rstrip(".:/'-").removesuffix("'s") for word in _WORD.findall(plain))
    dense = "".join(letter for letter in plain if letter.isalnum()) if _DENSE.search(plain) else ""
    return Shape(
        words=words,
        lead=frozenset(_lead(words)),
        values=(*_values(words), *_names(plain)),
        dense=dense,
        negative=_NEGATIVE.search(plain) is not None,
        orders=next((word for word in words if word not in _BEFORE_ORDERS), "") in _VERBS,
    )


def restates(new: Shape, old: Shape) -> bool:
    """Return whether the newer of two sentences gives the same thing another value."""
    if new.negative != old.negative or new.words == old.words:
        return False
    if new.dense and old.dense:
        return _differ_in_letters(new.dense, old.dense)
    return _differ_in_value(new, old) or _is_of_same_thing(new, old)


def are_of_other_things(new: Shape, old: Shape) -> bool:
    """Return whether each begins with what the other does not mention."""
    if not new.lead or not old.lead or new.dense or old.dense or new.orders:
        return False
    return not _shares(new.lead, old.words) and not _shares(old.lead, new.words)


def is_among(word: str, words: Iterable[str]) -> bool:
    """Return whether a word is among others, in whatever form: a common beginning is enough."""
    return any(_same(word, other) for other in words)


# -- inside ----------------------------------------------------------------------------------------------------------


def _lead(words: Sequence[str]) -> Iterable[str]:
    found = False
    for word in words:
        if word in _FUNCTION or (not found and (_kind(word) or word in _LEADING)):
            continue
        if word in _LEADING or _kind(word):
            return
        found = True
        yield word


def _values(words: Sequence[str]) -> Iterable[tuple[str, str]]:
    for place, word in enumerate(words):
        kind = _kind(word)
        if kind == "number" and not (place and words[place - 1] in _COUNTED):
            unit = words[place + 1] if place + 1 < len(words) and words[place + 1] not in _LEADING else ""
            yield word, "%" if word.endswith("%") else unit.rstrip("s")
        elif kind in {"day", "place"}:
            yield word, kind


def _names(plain: str) -> Iterable[tuple[str, str]]:
    """Yield the name at the end of a sentence with the word that introduces it."""
    found = _NAMED.search(plain)
    if found and found["by"].lower() in _LEADING:
        by = found["by"].lower()
        yield found["name"], "is" if by in _COPULAS else by


def _kind(word: str) -> str:
    if _NUMBER.match(word):
        return "number"
    return "day" if _DAY.match(word) else "place" if _PLACE.match(word) else ""


def _differ_in_value(new: Shape, old: Shape) -> bool:
    """Return whether they are the same words but for one value at the end."""
    before = _common(new.words, old.words)
    after = min(_common(new.words[::-1], old.words[::-1]), len(new.words) - before, len(old.words) - before)
    spots = [words[before : len(words) - after] for words in (new.words, old.words)]
    if not all(0 < len(spot) <= _MOST_VALUE for spot in spots) or after > _MOST_TAIL:
        return False
    head = new.words[:before]
    if not any(word not in _LEADING and word not in _FUNCTION for word in head):
        return False
    kinds = {_kind(spot[0]) for spot in spots}
    if len(kinds) > 1:
        return False
    if kinds != {""}:
        return head[-1] not in _COUNTED and not (new.negative and kinds == {"place"})
    if new.negative or (new.orders and head[-1] not in _ORDERS):
        return False
    return _introduces(head) or (after == _MOST_TAIL and not new.words[-1].isascii())


def _introduces(head: Sequence[str]) -> bool:
    """Return whether words end with a preposition, and maybe an article: a copula leads to many things."""
    return next((word for word in reversed(head) if word not in _FUNCTION), "") in _LEADING - _COPULAS


def _common(some: Sequence[str], others: Sequence[str]) -> int:
    pairs = enumerate(zip(some, others, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(some), len(others)))


def _differ_in_letters(new: str, old: str) -> bool:
    """Return whether texts without blanks differ in one place, after what they are about."""
    before = _common(new, old)
    after = min(_common(new[::-1], old[::-1]), len(new) - before, len(old) - before)
    spots = (len(new) - before - after, len(old) - before - after)
    return before >= _FEW_DENSE and all(0 < spot <= _MOST_DENSE for spot in spots)


def _is_of_same_thing(new: Shape, old: Shape) -> bool:
    """Return whether what one begins with is in the other, and both give another value of the same kind."""
    if not any(kind == was and value != known for value, kind in new.values for known, was in old.values):
        return False
    if set(new.values) & set(old.values):
        return False
    return any(
        one.lead and not one.orders and all(is_among(word, other.words) for word in one.lead)
        for one, other in ((new, old), (old, new))
    )


def _shares(lead: Iterable[str], words: Sequence[str]) -> bool:
    return any(is_among(word, words) for word in lead)


def _same(word: str, other: str) -> bool:
    if word == other:
        return True
    least = min(len(word), len(other))
    root = max(_SHORTEST_ROOT, least - _ENDING)
    return least >= _SHORTEST_ROOT and word[:root] == other[:root] and abs(len(word) - len(other)) <= _LONGEST_ENDING
