"""
Statements of users and assistants: demands, decisions with their reasons, questions, errors and
their resolutions.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from gc_core.summaries.fact_extraction import PASTE_TOKENS
from gc_core.task import phrases
from gc_core.task.meaning import words_of
from gc_core.task.sentence_models import decision_margins
from gc_core.task.stated_rules import Sentence, sentences_in
from gc_core.task.values import Decision, Reason
from gc_core.values.items import Item
from gc_core.values.patterns import regex

MOST_THOUGHTS: Final = 12
"""The most reasons in the thinking of a unit that are kept until it decides."""

MOST_OF_A_KIND: Final = 12
"""The most demands, decisions or failures from one text."""

_NEAR = 400
"""The characters around a decision that may contain its reasons."""

_MOST_QUESTIONS = 5
_QUESTION_CHARS = 280
_END_CHARS = 2_000

_FENCED = regex(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FRAMEWORK = regex(
    r"<((?:system|user|ide|command|local-command|environment|task|context|additional)[\w-]*)(?: [^<>]{0,200})?>"
    r".*?</\1>",
    re.DOTALL,
)
_BULLET = regex(r"^\s*(?:[-*•>#]+\s+|\d{1,3}[.)]\s+)*")
_SPLIT = regex(r"(?<=[.!?])\s+|\n")


@attrs.frozen(kw_only=True)
class Said:
    """
    The sentences of a text about the task, each verbatim except for white space.

    Attributes:
        stated: What the user states: each sentence with the form of a demand, or None for one that may change an
            earlier demand.
        decisions: What the assistant settled.
        reasons: Sentences that give a reason.
        failures: Sentences that say something is wrong.
        fixes: Sentences that say how something was overcome, or what had caused it.
        successes: Sentences that say something works now.

    """

    stated: tuple[Sentence, ...] = ()
    decisions: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    successes: tuple[str, ...] = ()


def own_words(item: Item) -> str:
    """
    Return what a user wrote: "" for a long paste and for the framework's text; without code and the
    framework's tags.
    """
    if item.synthetic or item.original_tokens > PASTE_TOKENS:
        return ""
    text = without_code(item.text)
    return _FRAMEWORK.sub("\n", text) if "</" in text else text


def without_code(text: str) -> str:
    """Return a text without fenced blocks."""
    return _FENCED.sub("\n", text) if "```" in text else text


def by_user(text: str, *, asked: bool = False) -> Said:
    """
    Return what a user says, ``asked`` by the agent or not.

    What a user settles beyond the next step is a demand; a yes, or a choice for the step at hand, is neither.
    """
    sentences = sentences_in(text, asked=asked)
    binding = _most_binding(sentences)
    failures = [one.text for one in sentences if one.form is None and phrases.user_tells_failure(one.text)]
    return Said(
        stated=tuple(one for one in sentences if one in binding or (one.form is None and not phrases.asks(one.text))),
        failures=tuple(failures[:MOST_OF_A_KIND]),
    )


def _most_binding(sentences: Sequence[Sentence]) -> frozenset[Sentence]:
    """Return as many demands as one text may have."""
    demands = sorted((one.form, place) for place, one in enumerate(sentences) if one.form is not None)
    return frozenset(sentences[place] for _, place in demands[:MOST_OF_A_KIND])


def by_assistant(text: str) -> Said:
    """Return what an assistant says, outside code."""
    sentences = phrases.sentences_of(without_code(text))
    plain = [(each, phrases.straight(each)) for each in sentences]
    margins = decision_margins(sentences)
    settled = [margin > 0 and not phrases.asks(words) for (_, words), margin in zip(plain, margins, strict=True)]
    decisions = list(itertools.compress(sentences, settled))
    fixes = [each for each, words in plain if phrases.tells_fix(words)]
    failures = [each for each, words in plain if phrases.tells_failure(words) and each not in fixes]
    return Said(
        decisions=tuple(decisions[:MOST_OF_A_KIND]),
        reasons=tuple(_reasons(sentences, decisions)),
        failures=tuple(failures[:MOST_OF_A_KIND]),
        fixes=tuple(fixes[:MOST_OF_A_KIND]),
        successes=tuple(each for each, words in plain if phrases.tells_success(words)),
    )


def _reasons(sentences: Sequence[str], decisions: Sequence[str]) -> Iterator[str]:
    """Yield reasons, and continuations of a decision."""
    before = ""
    for sentence in sentences if decisions else ():
        plain = phrases.straight(sentence)
        if phrases.says_why(plain) or (before in decisions and phrases.goes_on(plain)):
            yield sentence
        before = sentence


def reasons_in(item: Item) -> list[Reason]:
    """Return the sentences that give a reason."""
    found = (each for each in phrases.sentences_of(item.text) if phrases.says_why(phrases.straight(each)))
    return [Reason(text=text, item=item.id) for text in found]


def chain_of(decision: Decision, item: Item, own: Sequence[str], thoughts: Sequence[Reason]) -> Iterator[Reason]:
    """Yield the reasons of a decision: those of the thinking about it, then those around it."""
    words = words_of(decision.text)
    yield from [thought for thought in thoughts if words & words_of(thought.text)][-3:]
    plain = " ".join(item.text.split())
    place = plain.find(decision.text)
    for reason in own:
        at = plain.find(reason)
        if place < 0 or at < 0 or abs(at - place) <= _NEAR + (len(decision.text) if at > place else len(reason)):
            yield Reason(text=reason, item=item.id)


def questions_in(text: str) -> list[str]:
    """Return the questions at the end of a text, without code."""
    if "?" not in text[-_END_CHARS:]:
        return []
    plain = without_code(text[-2 * _END_CHARS :])
    said = (_BULLET.sub("", " ".join(part.split())).strip("*_ ") for part in _SPLIT.split(plain[-_END_CHARS:]))
    found = dict.fromkeys(part for part in said if _is_question(part))
    return list(found)[-_MOST_QUESTIONS:]


# -- inside ----------------------------------------------------------------------------------------------------------


def _is_question(text: str) -> bool:
    return 3 < len(text) <= _QUESTION_CHARS and text.endswith("?") and any(map(str.isalpha, text))  # noqa: PLR2004
