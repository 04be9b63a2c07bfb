"""Cues of a sentence: what grammar and closed lists of words say of it, in twelve languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from gc_core.task import passing, stances
from gc_core.task import phrases as wording
from gc_core.task import rule_phrases as phrases
from gc_core.task.forms import form_of, is_said
from gc_core.task.withdrawals import withdrawal_in
from gc_core.values.patterns import regex

_EACH: Final = regex(
    r"\b(?:each|every|any|jede[rsnm]?|stets|chaque|cada|ogni|elke?|każd\w{1,3}|кажд\w{2}|hep|her)\b|每|毎"
    r"|마다",
    re.IGNORECASE,
)
_FIRST: Final = regex(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

_PATTERNS: Final = {
    "address": phrases.ADDRESS,
    "corrects": phrases.CORRECTS,
    "each": _EACH,
    "extent": phrases.EXTENT,
    "general": phrases.GENERAL,
    "happened": phrases.HAPPENED,
    "lays down": phrases.LAYS_DOWN,
    "moment": passing.MOMENT,
    "myself": phrases.MYSELF,
    "norm": phrases.NORM,
    "one step": passing.ONE_STEP,
    "past": phrases.PAST,
    "pointing": phrases.DEICTIC,
    "prefers": phrases.PREFERS,
    "queries": phrases.QUERIES,
    "recent": phrases.RECENT,
    "temporary": phrases.TEMPORARY,
    "this one": phrases.THIS_ONE,
    "thus": phrases.THUS,
    "yes": phrases.YES,
}
_PREDICATES: Final[dict[str, Callable[[str], object]]] = {
    "asks": wording.asks,
    "attributed": stances.is_attributed,
    "imagined": stances.is_imagined,
    "said": is_said,
    "withdrawn": withdrawal_in,
}
_VERBS: Final = {"lasting verb": phrases.LASTING_VERBS, "step verb": phrases.STEP_VERBS}

CUES: Final = (
    *_PATTERNS,
    *_PREDICATES,
    *_VERBS,
    *("form none", "form norm", "form order", "form preference", "form correction", "form statement"),
)
"""The names of all cues."""


def cues_of(plain: str) -> Iterator[str]:
    """Yield the names of the cues of a sentence with straight apostrophes; linear."""
    yield from (name for name, pattern in _PATTERNS.items() if pattern.search(plain))
    yield from (name for name, holds in _PREDICATES.items() if holds(plain))
    first = _FIRST.match(phrases.ADDRESS.sub("", plain))
    if first:
        yield from (name for name, verbs in _VERBS.items() if first[0].lower() in verbs)
    form = form_of(plain)
    yield "form none" if form is None else f"form {form.name.lower()}"
