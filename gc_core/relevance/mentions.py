"""
What a message names, and whether it asks for it: files, addresses, tickets, hosts, symbols and quoted commands.

Names are found by their form, in any language, and a question mark asks in any. Word order tells what is done to them
(``deeds``), and the commonest words what is asked, looked back at, forgotten, made or done with (``request_words``).
In an agent's words about its next step, whatever else is named is needed. A sentence is judged as a whole, but what it
forgets, makes or runs by clauses.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

import attrs

from gc_core.relevance.deeds import is_done_to
from gc_core.relevance.name_scan import scan
from gc_core.relevance.request_words import (
    DOES,
    DRAWS_ON,
    FINISHED,
    FORGETS,
    HAS_DONE,
    INTERROGATIVE,
    LOOKS_BACK,
    MARK,
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
_CLAUSE = regex(r"(?<=[,:;])\s+|(?<=[，、：；])|\s[-–—]{1,3}\s")
_AND = regex(r"\s(?:and|und|et|y|e|en|i|и|och|og|ve)\s")
_MOST_CHARS = 40
"""Characters after a conjunction in which a question or request begins."""


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
        dismissed: Those that are done with, or to be forgotten, made, deleted or run.

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
        sentences = _sentences(text, is_plan=is_plan)
        found = [each.mention(name) for each in sentences for name in each.names if name not in each.dismissed]
        found.sort(key=lambda each: (not each.asks, -len(each.name)))
        return cls(
            named=tuple(dict.fromkeys(found)), dismissed=frozenset().union(*(each.dismissed for each in sentences))
        )


@attrs.frozen
class Needs:
    """
    What of a message may mean something of the past.

    Attributes:
        text: Its sentences without the clauses about what is done, done with or to be done.
        asks: Those of them that ask for something; in an agent's words about its next step all of them.

    """

    text: str = ""
    asks: str = ""

    @classmethod
    def of(cls, text: str, *, is_plan: bool = False) -> Needs:
        """Return those of a message, in a plan of an agent's words about its next step; of a paste none."""
        kept = [each for each in _sentences(text, is_plan=is_plan) if each.kept]
        asking = (each.kept for each in kept if is_plan or each.asks)
        return cls("\n".join(each.kept for each in kept), "\n".join(asking))


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


@attrs.frozen(kw_only=True, slots=False)
class _Sentence:
    """
    A sentence of a message.

    Attributes:
        text: The sentence.
        names: The names in it.
        is_plan: An agent says it about its next step.
        about: The words that say what is meant: the sentence, or the whole message where that asks.

    """

    text: str
    names: tuple[str, ...]
    is_plan: bool
    about: str = ""

    @functools.cached_property
    def plain(self) -> str:
        """The sentence without its names, case and accents."""
        return folded(without_names(self.text, self.names))

    @functools.cached_property
    def asks(self) -> bool:
        """Whether it asks for something, looks back at it, or draws on it."""
        return asks(self.plain) or self.draws_on

    @property
    def draws_on(self) -> bool:
        """Whether it uses something, or takes something from it."""
        return DRAWS_ON.search(self.plain) is not None

    @functools.cached_property
    def dismissed(self) -> frozenset[str]:
        """The names that it is done with, or that no clause has but to forget, make, delete or run them."""
        if self._is_over:
            return frozenset(self.names)
        named = {(name, self._drops(clause, name)) for clause in self._clauses for name in clause.names}
        return frozenset(name for name, is_dropped in named if is_dropped and (name, False) not in named)

    @functools.cached_property
    def kept(self) -> str:
        """Its clauses that may mean something of the past."""
        return "" if self._is_over else " ".join(each.text for each in self._clauses if not self._drops(each))

    @property
    def _is_over(self) -> bool:
        """Whether what it is about is done with, or the agent has done it."""
        is_finished = not self.asks and FINISHED.search(self.plain) is not None
        return is_finished or (self.is_plan and HAS_DONE.search(self.plain) is not None)

    @functools.cached_property
    def _needs_more(self) -> bool:
        """Whether it needs something for what it makes or runs, or besides that."""
        return self.draws_on or any(each.asks for each in self._clauses)

    @functools.cached_property
    def _clauses(self) -> tuple[_Clause, ...]:
        clauses = (part for each in _CLAUSE.split(self.text) for part in _parts_asking(each))
        return tuple(map(_Clause.of, clauses))

    def _drops(self, clause: _Clause, name: str = "") -> bool:
        """Return whether a clause forgets or makes what it names; of a symbol a part may be meant."""
        is_made = clause.does and not self._needs_more
        return clause.forgets or (is_made and _SYMBOL.fullmatch(name) is None)

    def mention(self, name: str) -> Mention:
        """Return the mention of one of its names."""
        is_deed = _SYMBOL.fullmatch(name) is None and is_done_to(self.text, name)  # a part of a symbol may be meant
        needs = self.asks or (self.is_plan and not is_deed)
        return Mention(name=name, asks=needs, about=self.about, is_done_to=is_deed)


@attrs.frozen(kw_only=True)
class _Clause:
    """
    A clause of a sentence.

    Attributes:
        text: The clause.
        names: The names in it.
        forgets: It wants something forgotten, and is no question.
        does: It makes, deletes or runs something.
        asks: It has a question word, or looks back at something without doing anything.

    """

    text: str
    names: tuple[str, ...]
    forgets: bool
    does: bool
    asks: bool

    @classmethod
    def of(cls, text: str) -> _Clause:
        """Return a clause as it is judged."""
        names = names_in(text)
        plain = folded(without_names(text, names))
        does = DOES.search(plain) is not None
        return cls(
            text=text,
            names=names,
            forgets=FORGETS.search(plain) is not None and MARK.search(plain) is None,
            does=does,
            asks=INTERROGATIVE.search(plain) is not None or (not does and LOOKS_BACK.search(plain) is not None),
        )


def _parts_asking(clause: str) -> Iterator[str]:
    """Yield a clause's parts: a conjunction before a question word, or a word that looks back, begins a part."""
    start = 0
    for found in _AND.finditer(clause):
        next_words = folded(clause[found.end() : found.end() + _MOST_CHARS])
        if INTERROGATIVE.match(next_words) or LOOKS_BACK.match(next_words):
            yield clause[start : found.start()]
            start = found.start()
    yield clause[start:]


def _sentences(text: str, *, is_plan: bool) -> list[_Sentence]:
    """Return the sentences of a message; none of a paste."""
    if len(text) > LONGEST:
        return []
    found = [_Sentence(text=each, names=names_in(each), is_plan=is_plan) for each in sentences_in(text)]
    is_asked = any(each.asks for each in found)
    return [attrs.evolve(each, about=text if is_asked else each.text) for each in found]


def _is_part(name: str, longer: str) -> bool:
    """Return whether a name is in a longer one, which is not just the name with an ending or other words at it."""
    is_bare = longer.startswith(f"{name}-") or (name.isascii() and not longer.isascii())
    return name in longer and not is_bare
