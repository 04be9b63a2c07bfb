"""
What a user states that applies beyond the next step, and in which form.

People state rules in any words, so no list of words decides: a linear model that was learned from labelled messages
does (``sentence_models``). ``quotations`` decides whose words a sentence is.
"""

from __future__ import annotations

import attrs

from gc_core.task import phrases, quotations
from gc_core.task.forms import Form, form_of
from gc_core.task.sentence_models import rule_margins

MOST_SENTENCES = 24
"""The most sentences of a message in which a mere statement counts: a longer message is a document."""

MOST_ANSWER = 12
"""The most words of a message that answers what the agent asked."""

STATEMENT_CHARS = 240
"""The most characters of a mere statement."""

QUESTION = 2.0
"""The margin above which a question is a rule: few are ("Can you please always run the linter before you commit?")."""


@attrs.frozen
class Sentence:
    """A user's sentence, verbatim except for white space; its form, or None if it states nothing."""

    text: str
    form: Form | None


def sentences_in(text: str, *, asked: bool = False) -> list[Sentence]:
    """
    Return the sentences of a user's own words, without quotations; linear.

    Mere statements do not count in a document, beside a quotation on its line, nor in a short answer to what the agent
    had ``asked``.
    """
    own = quotations.own_words(text)
    sentences, beside = quotations.sentences_of(own), quotations.sentences_beside(own)
    states = not (asked and len(text.split()) <= MOST_ANSWER) and len(sentences) + len(beside) <= MOST_SENTENCES
    return [
        Sentence(each, _form_in(each, states=states and each not in beside) if _is_rule(each, margin) else None)
        for each, margin in zip(sentences, rule_margins(sentences), strict=True)
    ]


def is_plainly_rule(sentence: str) -> bool:
    """Return whether a sentence lays down a rule so plainly that it asks for nothing besides."""
    return rule_margins([sentence])[0] > QUESTION


def _is_rule(sentence: str, margin: float) -> bool:
    return margin > (QUESTION if phrases.asks(sentence) else 0)


def _form_in(sentence: str, *, states: bool) -> Form | None:
    """Return the form of a rule; None for a mere statement where these do not count, or that is long."""
    form = form_of(sentence)
    if form is not Form.STATEMENT:
        return form
    return Form.STATEMENT if states and len(sentence) <= STATEMENT_CHARS else None
