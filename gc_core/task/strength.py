"""How long a demand or a decision applies, by its words: a rule outlives the step that it was stated for."""

from __future__ import annotations

import enum
import functools
import re
from typing import Final

from gc_core.task.forms import Form, form_of
from gc_core.task.values import Constraint, Decision
from gc_core.values.patterns import regex

_STRONG: Final = regex(
    r"\b(?:must|never|always|do not|don['’]?t|only|avoid|make sure|ensure|required?|requires|except|not allowed"
    r"|forbidden|no longer|at least|at most|no more than|instead of|rather than|ha(?:ve|s) to|should not|shouldn['’]t"
    r"|prefer|decided|decision|chose|chosen|settled|agreed|opted|switch(?:ed|ing)|sticking with)\b",
    re.IGNORECASE,
)
_SETTLED: Final = regex(
    r"\b(?:decided|decision|chose|chosen|settled|agreed|opted|instead of|rather than|switch(?:ed|ing)?|stick(?:ing)?"
    r"|(?:go|going|went) with|(?:we|I)(?:['’]ll| will) (?:use|keep|store|take|go)|(?:best|right|better|simplest)"
    r" (?:approach|way|option|solution|choice|design)|recommend\w*)\b",
    re.IGNORECASE,
)
_WHY: Final = regex(
    r"\b(?:because|since|so that|due to|in order to|reason|as (?:it|the|its|two)|given that)\b|;", re.IGNORECASE
)
_SAYS_SO: Final = regex(r"\bdecision\W{0,3}:", re.IGNORECASE)
_CONFIRMS: Final = regex(
    r"^\W*(?:(?:yes|yeah|yep|sure|ok(?:ay)?|great|perfect|uh|alright|please|go ahead)\b[,.! ]*)+"
    r"|\b(?:proceed|go ahead) (?:with|and)\b|\bin (?:the )?(?:future|mind)\b",
    re.IGNORECASE,
)


class Strength(enum.IntEnum):
    """The strength of an entry, the strongest first."""

    RULE = 0
    """It says that it applies permanently, or why it was settled so, or what the user prefers."""

    STRONG = 1
    """It says so in strong words, or the user decided it."""

    SAID = 2
    """It was stated."""

    PASSING = 3
    """A yes to one step, or what someone says about themselves."""


def is_strong(text: str) -> bool:
    """Return whether a sentence has a strong word."""
    return _STRONG.search(text) is not None


def strength_of(entry: Constraint | Decision) -> Strength:
    """Return its strength by its words only; linear."""
    if isinstance(entry, Constraint):
        return _of_demand(entry.text)
    return _of_decision(entry.text, entry.by, bool(entry.reasons))


def _of_demand(text: str) -> Strength:
    form = form_of(text)
    if form in {Form.NORM, Form.ORDER}:
        return Strength.RULE
    return Strength.STRONG if form in {Form.PREFERENCE, Form.CORRECTION} else Strength.SAID


@functools.lru_cache(maxsize=1_024)
def _of_decision(text: str, by: str, has_reasons: bool) -> Strength:
    if by == "user" and _CONFIRMS.search(text):
        return Strength.PASSING
    if _SAYS_SO.search(text) or (_SETTLED.search(text) and (has_reasons or _WHY.search(text))):
        return Strength.RULE
    if by == "user" and form_of(text) is Form.PREFERENCE:
        return Strength.RULE
    return Strength.STRONG if by == "user" or is_strong(text) else Strength.SAID
