"""
Decides which user messages change an agent's task, and which only keep it going.

An acknowledgement, a greeting, a remark, a word that says "go on", a control word and an answer to a question set no
task. All are recognised by form, not by a list of them: a control word is one token that is marked or in capitals; a
remark is a short clause without a name, a number, a path, and without a word that orders, limits or complains. Those
words are listed, verbs of work among them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

from gc_core.relevance import message_forms as forms
from gc_core.relevance.compactions import is_compaction
from gc_core.relevance.name_scan import scan
from gc_core.values.patterns import regex

MOST_ACKNOWLEDGED: Final = 2
"""The most words of a clause that states nothing unless one of them orders or limits something."""

MOST_GREETING: Final = 3
"""The most words of one that sets no first task."""

MOST_REMARK: Final = 4
"""The most words of one that does not change the task there is."""

MOST_SPOKEN: Final = 9
"""The most words of one that also begins like a remark, or ends with a "!"."""

MOST_PRAISE: Final = 6
"""The most words of one that approves."""

MOST_ANSWER: Final = 80
"""The most words of an answer to what the agent asked."""

MOST_CLAUSES: Final = 12
"""The clauses that are read."""

LEAST_QUESTION: Final = 3
"""The least words of a question that is a task."""

_SEARCHED_CHARS = 400
_END = 300
_INJECTED = regex(
    r"\s*(?:<(?:system-reminder|local-command-\w+|environment_context|user_instructions|session_context"
    r"|bash-(?:stdout|stderr|input)|task-notification|user-memory-input|instructions)\b"
    r"|caveat: the messages below|this is the gemini cli|base directory for this skill|# ?agents\.md instructions"
    r"|\[request interrupted|operation stopped by hook|ran `|this is not the first time you try this task)",
    re.IGNORECASE,
)
_COMMAND = regex(r"\s*<command-\w+>")
_ARGUMENTS = regex(r"<command-args>\s*[^\s<]+\s+[^\s<]")
_CONTROL = regex(
    r"\W*(?:exit|quit|stop|clear|abort|cancel)\W*"
    r"|/[\w:.-]+(?:\s+\S+)?"
    r"|[\\:!][\w!]{1,9}"
    r"|\[[^\]\n]{0,200}\]"
    r"|[^\w\s]{2,}\s?\w[^\n]{0,40}?[^\w\s!?.。！？]{2,}"
    r"|[#<({~*/_|]++\s?[\w-]++[#>)}~*/_|]*",
    re.IGNORECASE,
)
_MARKED = regex(r"(?<![#*=])[#*=]{2,}+[^\w#*=]{0,9}[\w-]{1,99}[^\w#*=]{0,9}[#*=]{2,}+")
_ENDED = regex(r"(?<![#*=<\[{|_])[#*=<\[{|_]{2,}+\s?[A-Z][A-Z_-]{1,40}\s?[#*=>\]}|_]{2,}\s*$")
_QUESTION_ENDS = "?？؟"
_EXCLAIMS = "!！"
_QUOTES = frozenset('`"“„«「')


def changes_task(text: str, *, begun: bool, asked: bool) -> bool:
    """
    Return whether a user's message sets the agent's task, or changes one that has begun; ``asked``: the agent had ended
    with a question.

    Only reads the beginning. O(1).
    """
    said = _said(text)
    if begun and asked and _answers(said):
        return False
    most = MOST_REMARK if begun else MOST_GREETING
    return not all(_is_remark(each, most) for each in _clauses(said))


def sets_task(text: str) -> bool:
    """
    Return whether a text says something about a task, and is no mere acknowledgement or control word.

    Only reads the beginning. O(1).
    """
    return any(map(_states, _clauses(_said(text))))


def asks(text: str) -> bool:
    """
    Return whether an agent's text ends with a question, or asks to be given something; nothing else
    counts as asking.
    """
    end = text[-_END:]
    return forms.ASKS.search(end) is not None and forms.OFFERS.search(end) is None


def _clauses(said: str) -> Iterator[str]:
    return (found[0] for found in itertools.islice(forms.CLAUSE.finditer(said), MOST_CLAUSES))


def _said(text: str) -> str:
    """Return the beginning of the user's own words, "" if there are none but control words and farewells."""
    said = text[:_SEARCHED_CHARS].replace("’", "'").strip()
    end = text[-_END:]
    if is_compaction(text) or _INJECTED.match(said) or _controls(said):
        return ""
    return "" if _ENDED.search(end) and forms.POLITE.search(end) else _MARKED.sub(" ", said)


def _controls(said: str) -> bool:
    """Return whether it is a command with at most one argument, or one token that is marked or in capitals."""
    if _COMMAND.match(said):
        return _ARGUMENTS.search(said) is None
    bare = said.strip("_-.! ")
    return _CONTROL.fullmatch(said) is not None or (bare.isupper() and bare.replace("_", "").replace("-", "").isalnum())


def _states(clause: str) -> bool:
    """Return whether a clause has more words than an acknowledgement, or says something of a task."""
    if _size(forms.GOES_ON.sub(" ", clause)) <= MOST_ACKNOWLEDGED or _is_chat(clause):
        return not _is_remark(clause, MOST_REMARK)
    return True


def _is_remark(clause: str, most: int) -> bool:
    """Return whether a clause says nothing of a task; it has at most so many words if they have no form of a remark."""
    said = clause.strip()
    rest = forms.GOES_ON.sub(" ", said)
    size = _size(rest)
    if _is_chat(said):
        return True
    if said[-1] in _QUESTION_ENDS:
        return size < LEAST_QUESTION
    if forms.INTENDS.match(said) and not _specific(said) and not forms.CHANGES.search(said):
        return True
    return size <= max(most, _most_words(said)) and not _is_about_work(said, rest)


def _most_words(said: str) -> int:
    """Return the most words of a remark by its form, 0 if it has none."""
    if said[-1] in _EXCLAIMS or forms.SPOKEN.match(said):
        return MOST_SPOKEN
    return MOST_PRAISE if forms.PRAISES.search(said) else 0


def _is_chat(said: str) -> bool:
    """Return whether it has no letters, is a choice, a question that is no work, or thanks for work."""
    if not any(map(str.isalpha, said)) or forms.CHOICE.fullmatch(said) or forms.CHATS.search(said):
        return True
    return forms.THANKS_FOR.match(said) is not None and not forms.orders(said)


def _is_about_work(said: str, rest: str) -> bool:
    """Return whether a clause names, orders or limits something; ``rest``: what is left without "go on"."""
    if _specific(rest) or forms.TURNS.match(said) or forms.orders(rest) or forms.limits(rest):
        return True
    return not _most_words(said) and forms.OBJECT.match(forms.GOES_ON.sub("go", said)) is not None


def _specific(said: str) -> bool:
    """Return whether it has a number, a name, a path or a quotation."""
    return any(map(str.isdigit, said)) or not _QUOTES.isdisjoint(said) or bool(scan(said).names)


def _size(said: str) -> float:
    """Return the number of words; languages without spaces have two or three letters a word."""
    dense, syllables = len(forms.DENSE.findall(said)), len(forms.SYLLABLE.findall(said))
    spaced = forms.SYLLABLE.sub(" ", forms.DENSE.sub(" ", said)).replace("-", " ").split()
    return sum(any(map(str.isalnum, word)) for word in spaced) + dense / 2 + syllables / 3


def _answers(said: str) -> bool:
    """Return whether it agrees, says what the user has or lacks, or orders and asks nothing."""
    if _size(said) > MOST_ANSWER:
        return False
    if forms.LACKS.search(said):
        return True
    if forms.CHANGES.search(said):
        return False
    if forms.orders(said) or said[-1:] in _QUESTION_ENDS:
        return any(form.match(said) for form in (forms.AGREES, forms.OF_SELF))
    return True
