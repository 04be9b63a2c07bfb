"""The facts of a summary, each with its turn and item, and their wording."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import Final

import attrs

from gc_core.relevance.name_scan import scan
from gc_core.values.escaping import escaped
from gc_core.values.patterns import regex

_PLAIN_QUOTES = str.maketrans({"“": '"', "”": '"'})
_WORD = regex(r"[A-Za-z0-9_#@~./+-]{2,200}")
_EDGE = ".+-~"


class KeptKind(enum.Enum):
    """The kind of a fact, the most important first."""

    CONSTRAINT = "constraint"
    DECISION = "decision"
    OUTCOME = "outcome"
    RESULT = "result"
    ERROR = "error"
    OPEN = "open"
    REQUEST = "request"
    FILE = "file"
    DEED = "deed"
    TOOLS = "tools"
    VALUE = "value"
    CLAIM = "claim"


RANKS: Final = {kind: rank for rank, kind in enumerate(KeptKind)}
"""The ranks of the kinds by importance."""


@attrs.frozen(kw_only=True)
class KeptFact:
    """
    A fact that a summary of its originals should contain.

    Attributes:
        kind: Its kind.
        turn: Turn in which it came up.
        item: Id of the item that states it.
        place: The index of that item among the originals.
        text: The original words, verbatim except for white space; for a file its path, for a value the first one.
        tool: The tool that was called, the key that had the value, the speaker, or "".
        asked: The request of a call, shortened, or the action on a file, or "".
        later: Id of the item that resolved an error, or that has the later value, or "".
        then: The later value, or "".
        unverified: It was claimed, and no result confirmed it.
        aside: It was in a long paste.
        order: Its position among the facts, in order of time.

    """

    kind: KeptKind
    turn: int
    item: str
    place: int
    text: str
    tool: str = ""
    asked: str = ""
    later: str = ""
    then: str = ""
    unverified: bool = False
    aside: bool = False
    order: int = 0

    def sentence(self) -> str:
        """Return it as one line in the past tense, with quotations in quotation marks or backticks."""
        where = f"(turn {self.turn}, {self.item})"
        return escaped(_SENTENCES[self.kind](self, where))

    def marks(self) -> tuple[str, ...]:
        """The paths, ids and numbers in it: a paraphrase must contain at least these."""
        text = f"{self.text} {self.then}" if self.then else self.text
        return () if self.kind is KeptKind.TOOLS else tuple(dict.fromkeys(_marks(escaped(text))))


def quoted(text: str) -> str:
    """Return the text as one line between “ and ”, with nothing in it that would end the quotation."""
    return f"“{plain(text)}”"


def plain(text: str) -> str:
    """Return a text as it appears in a quotation: one line, escaped, its own curly quotation marks straight."""
    return escaped(" ".join(text.split()).translate(_PLAIN_QUOTES))


def coded(text: str) -> str:
    """Return a name or path between backticks, with nothing in it that would end them."""
    name = plain(text).replace("`", chr(39))[:260]
    return f"`{name}`" if name.strip() else "something without a name"


def words_of(text: str) -> frozenset[str]:
    """Return everything in a text that could be a path, id or number, for looking up ``KeptFact.marks``."""
    return frozenset(word.strip(_EDGE) for word in _WORD.findall(text))


def _marks(text: str) -> Iterator[str]:
    names = scan(text).names
    for found in _WORD.findall(text):
        word = found.strip(_EDGE)
        if word in names or (word.isdigit() and len(word) > 1):
            yield word


# -- wording ----------------------------------------------------------------------------------------------


def _outcome_sentence(fact: KeptFact, where: str) -> str:
    return f"The turn ended with {where}{', unverified' if fact.unverified else ''}: {quoted(fact.text)}"


def _error_sentence(fact: KeptFact, where: str) -> str:
    asked = f" {quoted(fact.asked)}" if fact.asked else ""
    end = f"; it succeeded later ({fact.later})." if fact.later else "; no later success was seen."
    return f"{coded(fact.tool)}{asked} failed {where}: {quoted(fact.text)}{end}"


def _open_sentence(fact: KeptFact, where: str) -> str:
    if not fact.tool:
        return f"{quoted(fact.text)} was asked {where}; no answer had come."
    asked = f" {quoted(fact.asked)}" if fact.asked else ""
    return f"{coded(fact.tool)}{asked} was called {where}; no result had come."


def _deed_sentence(fact: KeptFact, where: str) -> str:
    asked = f" {quoted(fact.asked)}" if fact.asked else ""
    return f"{coded(fact.tool)}{asked} gave {where}: {quoted(fact.text)}"


def _value_sentence(fact: KeptFact, where: str) -> str:
    return f"{coded(fact.tool)} was {quoted(fact.text)} {where}, then {quoted(fact.then)} ({fact.later})."


_SENTENCES: Final[dict[KeptKind, Callable[[KeptFact, str], str]]] = {
    KeptKind.CONSTRAINT: lambda fact, where: f"The user required {where}: {quoted(fact.text)}",
    KeptKind.DECISION: lambda fact, where: f"Decided by the {fact.tool} {where}: {quoted(fact.text)}",
    KeptKind.OUTCOME: _outcome_sentence,
    KeptKind.RESULT: _deed_sentence,
    KeptKind.ERROR: _error_sentence,
    KeptKind.OPEN: _open_sentence,
    KeptKind.REQUEST: lambda fact, where: f"The user said {where}: {quoted(fact.text)}",
    KeptKind.FILE: lambda fact, where: f"{coded(fact.text)} was {fact.asked} {where}.",
    KeptKind.DEED: _deed_sentence,
    KeptKind.TOOLS: lambda fact, _: f"Called up to turn {fact.turn}, {fact.item}: {fact.text}.",
    KeptKind.VALUE: _value_sentence,
    KeptKind.CLAIM: lambda fact, where: f"The assistant claimed, unverified {where}: {quoted(fact.text)}",
}
