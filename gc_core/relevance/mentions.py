"""
What a message names, and whether it asks for it: files, addresses, tickets, hosts, symbols and quoted commands.

Names are found by their form, in any language, and a question mark asks in any. Word order tells what is done to them
(``deeds``), and the commonest words what is asked, looked back at, forgotten, made or done with (``request_words``).
In an agent's words about its next step, whatever else is named is needed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

import attrs

from gc_core.relevance.deeds import is_done_to
from gc_core.relevance.name_scan import scan
from gc_core.relevance.plain_words import has_words
from gc_core.relevance.request_words import (
    DOES,
    FINISHED,
    FORGETS,
    HAS_DONE,
    INTERROGATIVE,
    LOOKS_BACK,
    MARK,
    NEW,
    PLEASES,
    SAME,
    SAYS_WHICH,
    TAKEN_FROM,
    USES,
)
from gc_core.values.patterns import regex
from gc_core.values.scripts import DENSE, HANGUL, folded

LONGEST = 2_000
"""Characters of a message: what is longer is a paste, and asks for nothing it names."""

_NAME = regex(
    rf"https?://[^\s\"'`<>(){DENSE}{HANGUL}、。「」『』，]+"
    r"|`[^`\n]{3,80}`"
    r"|(?<![\w./@-])[\w./@-]*\w\.[A-Za-z][A-Za-z0-9]{0,9}(?![A-Za-z0-9_])"  # a file or host, of any letters
    r"|(?<![A-Za-z0-9_-])[A-Za-z]{1,10}-\d{1,9}(?![A-Za-z0-9_]|-\d)"
    r"|(?<!\w)#\d{1,9}(?![A-Za-z0-9_])"
    r"|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)"
    r"|(?<![A-Za-z0-9_./-])(?:[A-Z][a-z]+file|README|LICENSE|CHANGELOG)(?![A-Za-z0-9_/]|\.\w)"
)
_SHORTEST = 4
_SYMBOL = regex(r"\w+")
_SENTENCE = regex(r"(?<=[.!?])(?<!\b[A-Z][a-z]\.)(?<!\b[A-Z][a-z]{2}\.)[\s\"'»”)]+|(?<=[。！？])|\n")  # not after Dr.
_CLAUSE = regex(r"(?<=[,:;.!?])\s+|(?<=[，、：；])|\s[-–—]{1,3}\s")

_LEAST_WORDS = 3
"""The words that a request has besides its name, if it needs the thing for something else."""


@attrs.frozen(kw_only=True)
class Mention:
    """
    A name in a message.

    Attributes:
        name: The name, as it is spelt there.
        asks: The sentence asks for it, or looks back at it.
        about: The words that say what about it is meant: its sentence, or the whole message where that asks.
        is_done_to: The sentence does something to it.

    """

    name: str
    asks: bool
    about: str
    is_done_to: bool = False


@attrs.frozen(kw_only=True)
class Mentions:
    """
    The names in a message.

    Attributes:
        named: Those that may be meant as something of the past, those asked for first.
        dismissed: Those that are done with, or to be forgotten, made, deleted or run; of symbols only those that are
            done with or to be forgotten, because the rest may concern a part of one.

    """

    named: tuple[Mention, ...] = ()
    dismissed: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """All names."""
        return self.dismissed.union(mention.name for mention in self.named)

    @classmethod
    def of(cls, text: str, *, is_plan: bool = False) -> Mentions:
        """
        Return the names of a message; none of one longer than ``LONGEST``.

        In a plan, an agent's words about its next step, whatever is named is asked for if it is not dismissed.
        """
        if len(text) > LONGEST:
            return cls()
        found = list(_found(text, is_plan=is_plan))
        named = dict.fromkeys(sorted((each for each, gone in found if not gone), key=_order))
        return cls(named=tuple(named), dismissed=frozenset(each.name for each, gone in found if gone))


@attrs.frozen
class Needs:
    """
    What of a message may mean something of the past.

    Attributes:
        text: Its clauses without those about what is done, done with or to be done, and without what is called new.
        asks: Those of them that ask for something; in an agent's words about its next step all of them.

    """

    text: str = ""
    asks: str = ""

    @classmethod
    def of(cls, text: str, *, is_plan: bool = False) -> Needs:
        """Return those of a message, in a plan of an agent's words about its next step; of a paste none."""
        if len(text) > LONGEST:
            return cls()
        clauses = [clause for clause in _clauses(text) if not clause.ends and not _does(clause, is_plan=is_plan)]
        other = () if is_plan else dict.fromkeys(clause.sentence for clause in clauses if not clause.asks)
        needing = {sentence for sentence in other if _needs(sentence, is_taken=False)}
        asks = [clause for clause in clauses if is_plan or clause.asks or clause.sentence in needing]
        return cls(*("\n".join(_without_new(each, is_plan) for each in kept) for kept in (clauses, asks)))


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]


def asks(sentence: str, *, by_mark: bool = False) -> bool:
    """Return whether a sentence asks for something, or looks back at it; by a question mark only, if wanted."""
    plain = folded(sentence)
    patterns = (MARK,) if by_mark else (MARK, INTERROGATIVE, LOOKS_BACK)
    return any(pattern.search(plain) is not None for pattern in patterns)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of a text, the longest first, without those inside of longer ones."""
    formed = (each.group().strip("`").rstrip("./:;!?") for each in _NAME.finditer(text))
    names: list[str] = []
    for name in sorted({*formed, *scan(text).names}, key=lambda name: (-len(name), name)):
        if (len(name) >= _SHORTEST or name[0] == "#") and not any(_is_part(name, longer) for longer in names):
            names.append(name)
    return tuple(names)


def without_names(text: str, names: Iterable[str]) -> str:
    """Return a text with a sign in the place of each of some names: their parts are no words of it."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "_")
    return text


# -- inside ----------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class _Clause:
    """
    A clause of a message.

    Attributes:
        text: The clause.
        sentence: Its sentence.
        names: The names in it.
        asks: Its sentence asks for something, or looks back at it.
        about: The words that say what is meant: its sentence, or the whole message where that asks.
        ends: What it names is done with, or to be forgotten.
        does: What it names is to be made, deleted or run.

    """

    text: str
    sentence: str
    names: tuple[str, ...]
    asks: bool
    about: str
    ends: bool
    does: bool

    @property
    def plain(self) -> str:
        """The clause without its names, case and accents."""
        return folded(without_names(self.text, self.names))

    @property
    def has_done(self) -> bool:
        """Whether it tells what the agent has done, if an agent says it."""
        return HAS_DONE.search(self.plain) is not None


def _found(text: str, *, is_plan: bool) -> Iterator[tuple[Mention, bool]]:
    """Yield the names clause by clause, and whether each is dismissed."""
    for clause in _clauses(text):
        request = without_names(clause.sentence, clause.names)
        is_same = _is_same(request)
        needs_of = functools.cache(functools.partial(_needs, request))
        for name in clause.names:
            is_taken = TAKEN_FROM.search(folded(clause.text.partition(name)[0])) is not None
            is_symbol = _SYMBOL.fullmatch(name) is not None
            is_deed = not is_symbol and is_done_to(clause.sentence, name) and not is_same
            needs = clause.asks or (is_plan and not is_deed) or needs_of(is_taken=is_taken, is_deed=is_deed)
            is_made = clause.does and not is_symbol and not (is_taken or is_same)
            is_gone = clause.ends or is_made or (is_plan and clause.has_done)
            yield Mention(name=name, asks=needs, about=clause.about, is_done_to=is_deed), is_gone


def _clauses(text: str) -> Iterator[_Clause]:
    sentences = sentences_in(text)
    asking = [asks(without_names(sentence, names_in(sentence))) for sentence in sentences]
    all_looks_back = LOOKS_BACK.search(folded(text)) is not None
    for sentence, is_asking in zip(sentences, asking, strict=True):
        clauses = _CLAUSE.split(sentence)
        clause_asks = [asks(clause) for clause in clauses]
        for clause, itself_asks in zip(clauses, clause_asks, strict=True):
            names = names_in(clause)
            plain = folded(without_names(clause, names))
            looks_back = all_looks_back or asks(plain)
            others_ask = sum(asking) > is_asking or sum(clause_asks) > itself_asks
            is_question = others_ask or INTERROGATIVE.search(plain) is not None
            yield _Clause(
                text=clause,
                sentence=sentence,
                names=names,
                asks=is_asking,
                about=text if any(asking) else sentence,
                ends=FORGETS.search(plain) is not None or (not looks_back and _is_finished(plain)),
                does=DOES.search(plain) is not None and not is_question,
            )


def _does(clause: _Clause, *, is_plan: bool) -> bool:
    """Return whether something is done to what a clause is about, or was done by the agent."""
    if is_plan and _is_same(clause.plain):
        return False
    return clause.does or (is_plan and clause.has_done)


def _without_new(clause: _Clause, is_plan: bool) -> str:
    """Return a clause without what it calls new: an earlier one is not meant."""
    if clause.asks and not is_plan:
        return clause.text
    places = [found.span() for found in NEW.finditer(folded(clause.text))]
    kept = clause.text
    for start, end in reversed(places):
        kept = f"{kept[:start]} {kept[end:]}"
    return kept


def _is_same(request: str) -> bool:
    return SAME.search(folded(request)) is not None


def _is_finished(plain: str) -> bool:
    return FINISHED.search(SAYS_WHICH.sub(" ", plain)) is not None


def _needs(request: str, *, is_taken: bool, is_deed: bool = False) -> bool:
    """Return whether a request uses what it names, or asks for something else with it than a deed."""
    plain = folded(request)
    if USES.search(plain) is not None or _is_same(plain):
        return True
    is_request = is_taken or (not is_deed and PLEASES.search(plain) is not None)
    return is_request and has_words(plain, _LEAST_WORDS)


def _is_part(name: str, longer: str) -> bool:
    """Return whether a name is in a longer one, which is not just the name with an ending or other words at it."""
    is_bare = longer.startswith(f"{name}-") or (name.isascii() and not longer.isascii())
    return name in longer and not is_bare


def _order(mention: Mention) -> tuple[bool, int]:
    return not mention.asks, -len(mention.name)
