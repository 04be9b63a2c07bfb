"""What users and assistants say: demands, decisions with their reasons, questions, and how errors were overcome."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from gc_core.items import Item
from gc_core.summaries.finding import PASTE_TOKENS, kept_facts
from gc_core.summaries.kept import KeptKind
from gc_core.summaries.sentences import sentences_with
from gc_core.task.draft import STRONG
from gc_core.task.subjects import RETRACTION_WORDS, meaning
from gc_core.task.values import Decision, Reason

MOST_THOUGHTS: Final = 12
"""Reasons of the thinking of a unit that are remembered until it decides."""

_NEAR = 400
"""Characters around a decision in which its reasons are looked for."""

_MOST_QUESTIONS = 5
_QUESTION_CHARS = 280
_END_CHARS = 2_000

_LASTING_WORDS = (
    *("use", "keep", "stick", "set", "limit", "cap", "name", "call", "store", "target", "follow", "leave", "stay"),
    *("switch", "prefer", "default", "assume", "treat", "from now on"),
)
_LASTING = re.compile(
    r"^(?:\W*(?:please|actually|also|and|then|instead|ok(?:ay)?|so|but|correction|on second thought|change of plans?"
    r"|from now on|wait|no|sorry|let['’]?s)\b[,:;.]?\s*)*\W*"
    r"(?:use|keep|stick (?:with|to)|set(?! up)|limit|cap|name|call|store|target|follow|leave|stay|switch|prefer"
    r"|default to|assume|treat)\b"
    r"|\bfrom now on\b",
    re.IGNORECASE,
)
_CORRECTING_WORDS = (*RETRACTION_WORDS, "actually", "is now", "are now", "correction", "on second thought", "instead")
_NO_DEMAND = re.compile(
    r"^(?:but |and |so |well,? )?i (?:don['’]?t|do not|can['’]?t|cannot|couldn['’]?t|didn['’]?t|should|always|must"
    r"|need to|have to|had to|never)\b(?!.*\bwant\b)"
    r"|\bi (?:\w+ )?(?:don['’]?t|do not|can['’]?t|cannot) (?:remember|know|have|recall|see|understand|think|find)\b"
    r"|^(?:hint|fatal|error|warning|info|debug|usage|note):",
    re.IGNORECASE,
)
_DECIDING_WORDS = (
    *("switching to", "switch to", "switched to", "switching from", "switched from", "moving to", "moved to"),
    *("sticking with", "stick with", "ruled out", "opting for", "rejected"),
    *("the decision", "i'm using", "we're using", "i will go with", "my choice", "instead"),
)
_DECIDES = re.compile(
    r"\b(?:decided|decision|chose|chosen|settled|agreed|opted|opting|rejected|ruled out|my choice)\b"
    r"|\b(?:i|we|let['’]?s)\b.{0,40}\b(?:use|using|go with|going with|went with|switch\w*|stick\w*|keep|kept|prefer)\b"
    r"|^(?:using|use|switch\w*|going with|sticking with|went with)\b",
    re.IGNORECASE,
)
_NO_DECISION = re.compile(
    r"\b(?:use|using)\s+(?:the |a |my )?[`'\"]?[\w-]+[`'\"]?\s+(?:tool|command|agent|skill|subagent)s?\b"
    r"|\b(?:should|shall|could|would) (?:i|we)\b|^if you\b|\bwould you like\b",
    re.IGNORECASE,
)
_REASON_WORDS = (
    *("because", "so that", "since", "due to", "the reason", "in order to", "this avoids", "that avoids", "to avoid"),
    *("this way", "that way", "this keeps", "otherwise", "which means", "therefore", "given that", "this means"),
    *("as it", "as the", "thus", "hence", "so we", "so the"),
)
_FIX_WORDS = (
    *("fixed", "resolved", "solved", "the fix", "root cause", "caused by", "workaround", "worked around", "fixes"),
    *("resolution", "solution was"),
)
_NO_FIX = ("?", "let me", "i'll", "will ", "need", "should", "if ", "not ", "n't", "until", "to be fixed")
_ERROR_LIKE = re.compile(
    r"\b\w*(?:Error|Exception|Warning)\b|\berrors?\b|\bfail\w*|\b(?:E[A-Z]{4,}|[A-Z]+\d{3,})\b|\bcrash"
)
_FENCED = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FRAMEWORK = re.compile(
    r"<((?:system|user|ide|command|local-command|environment|task|context|additional)[\w-]*)(?: [^<>]{0,200})?>"
    r".*?</\1>",
    re.DOTALL,
)
_BULLET = re.compile(r"^\s*(?:[-*•>#]+\s+|\d{1,3}[.)]\s+)*")
_SPLIT = re.compile(r"(?<=[.!?])\s+|\n")


def own_words(item: Item) -> str:
    """What a user wrote: "" for a long paste and for the framework's text; without code and the framework's tags."""
    if item.synthetic or item.original_tokens > PASTE_TOKENS:
        return ""
    text = _FENCED.sub("\n", item.text) if "```" in item.text else item.text
    return _FRAMEWORK.sub("\n", text) if "</" in text else text


def demands_in(item: Item, text: str) -> tuple[list[str], list[str], list[str]]:
    """Sentences of a user: what they demand, what they decide, and what may take something back besides."""
    facts = kept_facts((attrs.evolve(item, text=text),))
    demands = [fact.text for fact in facts if fact.kind is KeptKind.CONSTRAINT and _is_demand(fact.text)]
    decisions = [fact.text for fact in facts if fact.kind is KeptKind.DECISION and not _asks(fact.text)]
    lasting = [each for each in sentences_with(text, _LASTING_WORDS) if _LASTING.search(each) and not _asks(each)]
    demands += [each for each in lasting if each not in demands and each not in decisions]
    known = {*demands, *decisions}
    corrections = [each for each in sentences_with(text, _CORRECTING_WORDS) if each not in known and not _asks(each)]
    return demands, decisions, corrections


def decisions_in(item: Item) -> list[str]:
    """Sentences of an assistant that settle something."""
    facts = kept_facts((item,))
    found = [fact.text for fact in facts if fact.kind is KeptKind.DECISION]
    found += [each for each in sentences_with(item.text, _DECIDING_WORDS) if each not in found]
    return [each for each in found if _DECIDES.search(each) and not _NO_DECISION.search(each) and not _asks(each)]


def reasons_in(item: Item) -> list[Reason]:
    """Sentences that say why."""
    return [Reason(text=text, item=item.id) for text in sentences_with(item.text, _REASON_WORDS)]


def chain_of(decision: Decision, item: Item, own: Sequence[Reason], thoughts: Sequence[Reason]) -> Iterator[Reason]:
    """The reasons of a decision: those of the thinking that speak of it, then those that stand around it."""
    words = meaning(decision.text)
    yield from [thought for thought in thoughts if words & meaning(thought.text)][-3:]
    plain = " ".join(item.text.split())
    place = plain.find(decision.text)
    for reason in own:
        at = plain.find(reason.text)
        if place < 0 or at < 0 or abs(at - place) <= _NEAR + (len(decision.text) if at > place else len(reason.text)):
            yield reason


def questions_in(text: str) -> list[str]:
    """Questions at the end of a text, without code."""
    plain = _FENCED.sub("\n", text[-2 * _END_CHARS :]) if "```" in text else text
    said = (_BULLET.sub("", " ".join(part.split())).strip("*_ ") for part in _SPLIT.split(plain[-_END_CHARS:]))
    found = dict.fromkeys(part for part in said if _is_question(part))
    return list(found)[-_MOST_QUESTIONS:]


def fixes_in(text: str) -> list[str]:
    """Sentences by which an assistant tells how something was overcome."""
    found = sentences_with(text, _FIX_WORDS)
    return [each for each in found if not any(sign in each.lower().replace("’", "'") for sign in _NO_FIX)]


def tells_error(text: str) -> bool:
    """Whether a sentence speaks of an error."""
    return _ERROR_LIKE.search(text) is not None


# -- inside ----------------------------------------------------------------------------------------------------------


def _asks(text: str) -> bool:
    return text.rstrip("\"'”*_) ").endswith("?")


def _is_demand(text: str) -> bool:
    if _asks(text):
        return False
    return not _NO_DEMAND.search(text) or (STRONG.search(text) is not None and " you " in f" {text.lower()} ")


def _is_question(text: str) -> bool:
    return 3 < len(text) <= _QUESTION_CHARS and text.endswith("?") and any(map(str.isalpha, text))  # noqa: PLR2004
