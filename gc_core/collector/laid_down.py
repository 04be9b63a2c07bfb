"""What a user lays down in a message, how surely, and what changes it later."""

from __future__ import annotations

import functools
from typing import Final

import attrs

from gc_core.relevance.demands import Strength, demands_in
from gc_core.task import phrases
from gc_core.task.changes import change_by
from gc_core.task.sentence_models import rule_margins
from gc_core.task.stated_rules import sentences_in
from gc_core.task.statements import own_words
from gc_core.values.items import Item

LONGEST: Final = 300
"""Characters of a sentence above which it is not quoted: it is narrative."""

_KEPT_CHARS = 4_000
"""Characters of a message up to which what it says is kept: a plan hears the window from its beginning."""

_END_CHARS = 600
"""Characters at either end of a long message that may be its user's own."""

_PLAIN = str.maketrans({'"': "'", "[": "(", "]": ")"})


@attrs.frozen
class Heard:
    """A short sentence of a user's, and whether it binds by itself: it is a rule, or has a binding word."""

    text: str
    binds: bool


def heard_in(item: Item) -> tuple[Heard, ...]:
    """Return the short sentences of a user's message, in order; linear, and kept for the next plan if it is short."""
    if item.synthetic:
        return ()
    read = _heard if len(item.text) <= _KEPT_CHARS else _heard.__wrapped__
    return read(item.text, own_words(item) or _ends(item.text))


@functools.lru_cache(maxsize=512)
def _heard(text: str, own: str) -> tuple[Heard, ...]:
    stated = {each.text: each.form is not None for each in sentences_in(own)}
    binding = {" ".join(each.text.split()) for each in demands_in(text) if each.strength is Strength.CLEAR}
    return tuple(
        Heard(sentence.translate(_PLAIN), stated.get(sentence, False) or sentence in binding)
        for sentence in phrases.sentences_of(text)
        if (sentence in stated or sentence in binding) and len(sentence) <= LONGEST
    )


def _ends(text: str) -> str:
    """Return the beginning of the first paragraph of a long text and the end of the last: the rest was pasted."""
    first, last = text.strip().partition("\n\n")[0], text.strip().rpartition("\n\n")[2]
    return f"{first[:_END_CHARS]}\n\n{last[-_END_CHARS:]}"


@functools.lru_cache(maxsize=4_096)
def changed_of(sentence: str, earlier: tuple[str, ...]) -> str | None:
    """Return the one of those before it that a sentence replaces or withdraws, or None; kept for the next plan."""
    change = None if phrases.asks(sentence) else change_by(sentence, earlier, len(earlier))
    return None if change is None else earlier[change.place]


@functools.lru_cache(maxsize=4_096)
def margin_of(sentence: str) -> float:
    """Return how surely a sentence is a rule: above 0 if it is; kept for the next plan."""
    return rule_margins([sentence])[0]
