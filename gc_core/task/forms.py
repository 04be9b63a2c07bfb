"""In which form a user states a rule: a norm, an order, a preference, a correction, or a plain statement."""

from __future__ import annotations

import enum
import functools

from gc_core.task.sentence_models import form_scores


class Form(enum.IntEnum):
    """The form of a statement, the most binding first."""

    NORM = 0
    """It says what must, may not, always or never is."""

    ORDER = 1
    """It tells the agent how to work, beyond the next step."""

    PREFERENCE = 2
    """It states a preference."""

    CORRECTION = 3
    """It corrects something."""

    STATEMENT = 4
    """It describes something."""


@functools.lru_cache(maxsize=4_096)
def form_of(rule: str) -> Form:
    """Return the likeliest form of a sentence that is a rule, by a learned model. Cached; linear."""
    scores = form_scores(rule)
    return max(Form, key=lambda form: scores[form])
