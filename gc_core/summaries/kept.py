"""
What must survive of originals that leave the window, found without a model, each with its turn and item.

Everything here is linear in the text and looks for fixed words before it matches a pattern: lines may be minified,
results may be noise.
"""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import attrs

from gc_core.items import Item, ItemKind
from gc_core.scan import scan
from gc_core.summaries.deeds import Call, Deed, call_of, failure_in, first_line, verdicts_in
from gc_core.summaries.fence import escaped
from gc_core.summary import SummaryRequest

NO_RESULT: Final = "[gc: no result"
"""How the text begins that the framework puts in the place of a result which never came."""

MUST_PART: Final = 4
"""One part in so many of the room is for what no summary may lack: a small budget demands few facts."""

PASTE_TOKENS: Final = 500
"""User text above this size was hardly written by the user: what it demands comes behind everything else."""

_REACH = 280
"""Characters that a sentence has at most on either side of the word that it was found by."""

_SHORT = 160
_MOST_SENTENCES = 40
"""Sentences that one text yields at most, of each sort."""

_MOST_MISSES = 24
"""Facts in a row that do not fit, after which no smaller one is looked for."""

_STOP = re.compile(r"[.!?](?=\s)|\n")
_BULLET = re.compile(r"\s*(?:[-*•>#]+\s+|\d{1,3}[.)]\s+)*")
_PLAIN_QUOTES = str.maketrans({"“": '"', "”": '"'})
_WORD = re.compile(r"[A-Za-z0-9_#@~./+-]{2,200}")
_EDGE = ".+-~"

_DEMANDS = (
    *("must", "never", "always", "do not", "don't", "dont", "only", "avoid", "prefer", "make sure", "ensure"),
    *("instead of", "rather than", "should", "should not", "shouldn't", "cannot", "can't", "have to", "has to"),
    *("need to", "needs to", "require", "required", "requires", "not allowed", "forbidden", "no longer", "please stop"),
    *("at least", "at most", "no more than", "want", "without"),
)
_CHOICES = (
    *("decided", "decision", "we'll use", "we will use", "i'll use", "i will use", "let's use", "lets use", "let's go"),
    *("going with", "go with", "went with", "chose", "chosen", "instead of", "settled on", "agreed", "opted"),
)
_ENDS = ("passed", "pass", "failed", "fixed", "done", "complete", "completed", "created", "committed", "works")
_CLAIMS = (
    *("fixed", "works", "working", "passes", "pass", "passed", "done", "complete", "completed", "verified"),
    *("resolved", "successfully", "implemented"),
)
_NO_CLAIM = ("?", "let me", "i'll", "will ", "need", "should", "if ", "not ", "n't", "to ")
"""What makes a sentence with such a word something else than a claim, where it begins so or ends so."""

_ASSIGNED = re.compile(
    r"^[ \t]*(?:\d{1,6}[→|:\t])?[ \t]*[\"']?([A-Za-z_][\w.-]{1,40})[\"']?[ \t]*[:=][ \t]*"
    r"(\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|[\w./:@+-]{1,60})[ \t]*[,;]?[ \t]*\r?$",
    re.MULTILINE,
)
_ASSIGNED_AMONG = re.compile(
    r"\b([A-Za-z_][\w.-]{1,40})(?: ?= ?|: )(\"[^\"\n]{1,60}\"|[\w./:@+-]{0,59}\w)(?![\w(\[/]| ?[-*+/%&|^<(\[]{1,2} ?\w)"
)
_ATTRIBUTE = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+")
"""A name of code in the place of a value: nobody's setting."""

_SHORT_TEXT = 2_000
"""Characters up to which assignments are looked for in the midst of a line too."""

_MOST_VALUES = 3
"""Values that a key may have had: one with more is a field of many things, not something that changed."""


class KeptKind(enum.Enum):
    """What a fact is, the most important first."""

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


_RANKS: Final = {kind: rank for rank, kind in enumerate(KeptKind)}


@attrs.frozen(kw_only=True)
class KeptFact:
    """
    Something that a summary of its originals should tell.

    Attributes:
        kind: What it is.
        turn: Turn in which it came up.
        item: Id of the item that says so.
        place: Of that item among the originals.
        text: The words of the original, verbatim but for white space; of a file its path, of a value the first one.
        tool: Tool that was called, or key that had the value, or who spoke, or "".
        asked: What a call asked for, shortened, or what was done to a file, or "".
        later: Id of the item that resolved an error, or that has the later value, or "".
        then: The later value, or "".
        unverified: It was claimed, and no result confirmed it.
        aside: It stood in a long paste.
        order: Its place among the facts, in the order of time.

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

    def told(self) -> str:
        """It as one line in the past tense, what is quoted in quotation marks or backticks."""
        where = f"(turn {self.turn}, {self.item})"
        return escaped(_TELLING[self.kind](self, where))

    def marks(self) -> tuple[str, ...]:
        """Paths, ids and numbers in it: who tells it in other words tells at least these."""
        text = f"{self.text} {self.then}" if self.then else self.text
        return () if self.kind is KeptKind.TOOLS else tuple(dict.fromkeys(_marks(escaped(text))))


def quoted(text: str) -> str:
    """The text as one line between “ and ”, with nothing in it that would end the quotation."""
    return f"“{plain(text)}”"


def plain(text: str) -> str:
    """A text as it stands in a quotation: one line, escaped, its own curly quotation marks straight."""
    return escaped(" ".join(text.split())).translate(_PLAIN_QUOTES)


def coded(text: str) -> str:
    """A name or path between backticks, with nothing in it that would end them."""
    return f"`{plain(text).replace('`', chr(39))[:260]}`"


def words_of(text: str) -> frozenset[str]:
    """Everything in a text that a path, id or number could be, for looking up ``KeptFact.marks``."""
    return frozenset(word.strip(_EDGE) for word in _WORD.findall(text))


def _marks(text: str) -> Iterator[str]:
    names = scan(text).names
    for found in _WORD.findall(text):
        word = found.strip(_EDGE)
        if word in names or (word.isdigit() and len(word) > 1):
            yield word


# -- how each is told ----------------------------------------------------------------------------------------------


def _told_outcome(fact: KeptFact, where: str) -> str:
    return f"The turn ended with {where}{', unverified' if fact.unverified else ''}: {quoted(fact.text)}"


def _told_error(fact: KeptFact, where: str) -> str:
    asked = f" {quoted(fact.asked)}" if fact.asked else ""
    end = f"; it succeeded later ({fact.later})." if fact.later else "; no later success was seen."
    return f"{coded(fact.tool)}{asked} failed {where}: {quoted(fact.text)}{end}"


def _told_open(fact: KeptFact, where: str) -> str:
    if not fact.tool:
        return f"{quoted(fact.text)} was asked {where}; no answer had come."
    asked = f" {quoted(fact.asked)}" if fact.asked else ""
    return f"{coded(fact.tool)}{asked} was called {where}; no result had come."


def _told_deed(fact: KeptFact, where: str) -> str:
    asked = f" {quoted(fact.asked)}" if fact.asked else ""
    return f"{coded(fact.tool)}{asked} gave {where}: {quoted(fact.text)}"


def _told_value(fact: KeptFact, where: str) -> str:
    return f"{coded(fact.tool)} was {quoted(fact.text)} {where}, then {quoted(fact.then)} ({fact.later})."


_TELLING: Final[dict[KeptKind, Callable[[KeptFact, str], str]]] = {
    KeptKind.CONSTRAINT: lambda fact, where: f"The user required {where}: {quoted(fact.text)}",
    KeptKind.DECISION: lambda fact, where: f"Decided by the {fact.tool} {where}: {quoted(fact.text)}",
    KeptKind.OUTCOME: _told_outcome,
    KeptKind.RESULT: _told_deed,
    KeptKind.ERROR: _told_error,
    KeptKind.OPEN: _told_open,
    KeptKind.REQUEST: lambda fact, where: f"The user said {where}: {quoted(fact.text)}",
    KeptKind.FILE: lambda fact, where: f"{coded(fact.text)} was {fact.asked} {where}.",
    KeptKind.DEED: _told_deed,
    KeptKind.TOOLS: lambda fact, _: f"Called by turn {fact.turn}: {fact.text}.",
    KeptKind.VALUE: _told_value,
    KeptKind.CLAIM: lambda fact, where: f"The assistant claimed, unverified {where}: {quoted(fact.text)}",
}


# -- finding them --------------------------------------------------------------------------------------------------


def kept_facts(items: Sequence[Item]) -> tuple[KeptFact, ...]:
    """All that is worth telling of the originals, in their order; each text of a kind once. O(length)."""
    calls = {item.id: call_of(item) for item in items if item.kind is ItemKind.TOOL_CALL}
    found = [*_said(items), *_happened(items, calls), *_files(items, calls), *_values(items, calls)]
    ordered = sorted(_each_once(found), key=lambda fact: fact.place)
    return tuple(attrs.evolve(fact, order=order) for order, fact in enumerate(ordered))


def _each_once(found: Iterable[KeptFact]) -> Iterator[KeptFact]:
    """
    The last of equal ones, so that what was said again counts as new; a sentence is of its first kind alone.

    A claim that is a part of an outcome makes that unverified; a request is left out when most of it
    is told as something else.
    """
    last = {(fact.kind, fact.tool, fact.asked, fact.text): fact for fact in found}
    claims: dict[str, list[str]] = {}
    for fact in last.values():
        if fact.kind is KeptKind.CLAIM:
            claims.setdefault(fact.item, []).append(fact.text)
    told: dict[str, list[str]] = {}
    for fact in sorted(last.values(), key=lambda fact: _RANKS[fact.kind]):
        known = told.setdefault(fact.item, [])
        if not any(_says_no_more(fact, text) for text in known):
            known.append(fact.text)
            claimed = fact.kind is KeptKind.OUTCOME and any(text in fact.text for text in claims.get(fact.item, ()))
            yield attrs.evolve(fact, unverified=True) if claimed else fact


def _says_no_more(fact: KeptFact, text: str) -> bool:
    if fact.kind is KeptKind.CLAIM:
        return fact.text in text
    if fact.kind is KeptKind.REQUEST and text in fact.text:
        return 2 * len(text) > len(fact.text)
    return fact.text == text or (fact.kind is KeptKind.REQUEST and fact.text in text)


def _said(items: Sequence[Item]) -> Iterator[KeptFact]:
    """What user and assistant demanded, decided, asked and answered."""
    endings = _endings(items)
    answered = max((place for place, item in enumerate(items) if item.kind is ItemKind.ASSISTANT_TEXT), default=-1)
    for place, item in enumerate(items):
        if item.synthetic:
            continue
        if item.kind is ItemKind.USER_TEXT:
            yield from _demanded(place, item)
            yield from _asked(place, item, is_open=place > answered)
        elif item.kind is ItemKind.ASSISTANT_TEXT:
            yield from _facts(KeptKind.DECISION, place, item, sentences_with(item.text, _CHOICES), tool="assistant")
            if item.unit in endings:
                yield from _facts(KeptKind.OUTCOME, place, item, _ended(item.text))


def _facts(
    kind: KeptKind, place: int, item: Item, texts: Iterable[str], tool: str = "", *, aside: bool = False
) -> Iterator[KeptFact]:
    for text in texts:
        yield KeptFact(kind=kind, turn=item.turn, item=item.id, place=place, text=text, tool=tool, aside=aside)


def _demanded(place: int, item: Item) -> Iterator[KeptFact]:
    aside = item.original_tokens > PASTE_TOKENS
    yield from _facts(KeptKind.CONSTRAINT, place, item, sentences_with(item.text, _DEMANDS), aside=aside)
    yield from _facts(KeptKind.DECISION, place, item, sentences_with(item.text, _CHOICES), "user", aside=aside)


def _asked(place: int, item: Item, *, is_open: bool) -> Iterator[KeptFact]:
    kind = KeptKind.OPEN if is_open else KeptKind.REQUEST
    yield from _facts(kind, place, item, filter(None, [first_line(item.text, _SHORT)]))


def _endings(items: Sequence[Item]) -> frozenset[int]:
    """Units that are the last answer of their turn which is text alone."""
    calling = {item.unit for item in items if item.kind is ItemKind.TOOL_CALL}
    last = {item.turn: item.unit for item in items if item.kind is ItemKind.ASSISTANT_TEXT and item.unit not in calling}
    return frozenset(last.values())


def _ended(text: str) -> Iterator[str]:
    """How an answer begins, and its sentences that say how it went."""
    begun = first_line(text, _SHORT)
    told = [begun, *(sentence for sentence in sentences_with(text, _ENDS)[:2] if sentence not in begun)]
    yield from dict.fromkeys(filter(None, told))


# -- sentences -----------------------------------------------------------------------------------------------------


def sentences_with(text: str, words: Sequence[str]) -> list[str]:
    """The sentences that have one of these words, in their order, verbatim but for white space at their ends."""
    lower = text.lower()
    lower = (lower if len(lower) == len(text) else text).replace("’", "'")
    ends = -1
    sentences: dict[str, None] = {}
    for place in sorted({place for word in words for place in _places(lower, word)}):
        if place < ends:
            continue
        start, ends = _bounds(text, place)
        sentences[" ".join(text[start:ends].split())] = None
        if len(sentences) == _MOST_SENTENCES:
            break
    return [sentence for sentence in sentences if sentence]


def _places(lower: str, word: str) -> Iterator[int]:
    """Where a word stands, as a word of its own; not too often, for a text may be one word a million times."""
    place, size = lower.find(word), len(word)
    for _ in range(_MOST_SENTENCES * 4):
        if place < 0:
            return
        before, after = lower[place - 1 : place], lower[place + size : place + size + 1]
        if not (before.isalnum() or before in {"_", "-", "/", "."} or after.isalnum() or after in {"_", "("}):
            yield place
        place = lower.find(word, place + size)


def _bounds(text: str, place: int) -> tuple[int, int]:
    """Start and end of the sentence around a place, no farther than ``_REACH``; its bullet is no part of it."""
    low, high = max(0, place - _REACH), min(len(text), place + _REACH)
    start = low
    for stop in _STOP.finditer(text, low, place):
        start = stop.end()
    if start == low > 0 and not text[low - 1].isspace():
        start = _after_blank(text, low, place)
    found = _STOP.search(text, place, high)
    if found is not None:
        end = found.start() if found[0] == "\n" else found.end()
    else:
        end = high if high == len(text) else max(text.rfind(" ", place, high), place + 1)
    bullet = _BULLET.match(text, start, place)
    return (start if bullet is None else bullet.end()), end


def _after_blank(text: str, low: int, place: int) -> int:
    blank = text.find(" ", low, place)
    return place if blank < 0 else blank + 1


# -- calls, results and claims -------------------------------------------------------------------------------------


def _happened(items: Sequence[Item], calls: dict[str, Call]) -> Iterator[KeptFact]:
    walk = _Walk(calls=calls)
    for place, item in enumerate(items):
        if item.kind is ItemKind.TOOL_RESULT:
            walk.result(place, item)
        elif item.kind is ItemKind.ASSISTANT_TEXT and not item.synthetic:
            walk.spoke(place, item)
    return walk.facts()


@attrs.define(kw_only=True)
class _Walk:
    """What became of the calls, in the order of their results."""

    calls: dict[str, Call]
    _found: list[KeptFact] = attrs.field(factory=list, init=False)
    _failed: dict[str, list[tuple[int, Call]]] = attrs.field(factory=dict, init=False)
    _tally: dict[str, list[int]] = attrs.field(factory=dict, init=False)
    _turn: int = attrs.field(default=-1, init=False)
    _checked: bool = attrs.field(default=False, init=False)

    def result(self, place: int, item: Item) -> None:
        call = self.calls.get(item.call) or Call.unknown(item.name)
        if item.synthetic and item.text.startswith(NO_RESULT):
            self._add(KeptKind.OPEN, place, item, call.asked or item.name, call)
            return
        error = failure_in(item, call.deed)
        counts = self._tally.setdefault(call.name, [0, 0, place, item.turn])
        counts[:] = counts[0] + 1, counts[1] + bool(error), place, item.turn
        self._check(item.turn, call, failed=bool(error))
        if error:
            self._failed.setdefault(call.name, []).append((len(self._found), call))
            self._add(KeptKind.ERROR, place, item, error, call)
            return
        self._resolve(item, call)
        told = verdicts_in(item.text) if call.deed is Deed.RUN else []
        for line in told:
            self._add(KeptKind.RESULT, place, item, line, call)
        if not told and call.deed in {Deed.RUN, Deed.OTHER} and (line := first_line(item.text, _SHORT)):
            self._add(KeptKind.DEED, place, item, line, call)

    def spoke(self, place: int, item: Item) -> None:
        """Claims count as confirmed when a run or another deed has succeeded since the last edit of the turn."""
        if item.turn != self._turn:
            self._turn, self._checked = item.turn, False
        if self._checked:
            return
        for text in sentences_with(item.text, _CLAIMS):
            if _is_claim(text):
                self._found += _facts(KeptKind.CLAIM, place, item, [text])

    def facts(self) -> Iterator[KeptFact]:
        yield from self._found
        if self._tally:
            place, turn = max((counts[2], counts[3]) for counts in self._tally.values())
            told = ", ".join(_tallied(name, counts) for name, counts in self._tally.items())
            yield KeptFact(kind=KeptKind.TOOLS, turn=turn, item="", place=place, text=told)

    def _add(self, kind: KeptKind, place: int, item: Item, text: str, call: Call) -> None:
        self._found.append(
            KeptFact(kind=kind, turn=item.turn, item=item.id, place=place, text=text, tool=call.name, asked=call.asked)
        )

    def _check(self, turn: int, call: Call, *, failed: bool) -> None:
        if turn != self._turn:
            self._turn, self._checked = turn, False
        if call.deed is Deed.EDIT:
            self._checked = False
        elif call.deed in {Deed.RUN, Deed.OTHER}:
            self._checked = not failed

    def _resolve(self, item: Item, call: Call) -> None:
        """Errors of the same tool on overlapping arguments are resolved by this success."""
        waiting = self._failed.get(call.name, ())
        still = []
        for place, failed in waiting:
            if failed.overlaps(call):
                self._found[place] = attrs.evolve(self._found[place], later=item.id)
            else:
                still.append((place, failed))
        if waiting:
            self._failed[call.name] = still[-_MOST_SENTENCES:]


def _tallied(name: str, counts: Sequence[int]) -> str:
    times = f"{counts[0]} times" if counts[0] > 1 else "once"
    return f"{coded(name)} {times}" + (f" ({counts[1]} failed)" if counts[1] else "")


def _is_claim(sentence: str) -> bool:
    lower = sentence.lower().replace("’", "'")
    return not any(sign in lower for sign in _NO_CLAIM)


# -- files and values ----------------------------------------------------------------------------------------------


def _files(items: Sequence[Item], calls: dict[str, Call]) -> Iterator[KeptFact]:
    """One fact a file: edited if it ever was, else read, with the last call that did so."""
    last: dict[str, KeptFact] = {}
    for place, item in enumerate(items):
        if item.kind is not ItemKind.TOOL_CALL:
            continue
        call = calls[item.id]
        for path in call.paths if call.deed is not Deed.SEARCH else ():
            known = last.get(path)
            if known is None or call.deed is Deed.EDIT or known.asked != Deed.EDIT.value:
                last[path] = KeptFact(
                    kind=KeptKind.FILE, turn=item.turn, item=item.id, place=place, text=path, asked=call.deed.value
                )
    return iter(last.values())


@attrs.frozen
class _Value:
    value: str
    place: int
    item: Item


def _values(items: Sequence[Item], calls: dict[str, Call]) -> Iterator[KeptFact]:
    """Assignments whose value became another one, once and for all."""
    seen: dict[tuple[str, str], list[_Value]] = {}
    for place, item in enumerate(items):
        context, assigned = _assignments(item, calls)
        for key, value in assigned.items():
            values = seen.setdefault((context, key), [])
            if value is not None and (not values or values[-1].value != value):
                values.append(_Value(value, place, item))
    for (_, key), values in seen.items():
        if 1 < len(values) == len({value.value for value in values}) <= _MOST_VALUES:
            for was, then in itertools.pairwise(values):
                yield KeptFact(
                    kind=KeptKind.VALUE, turn=was.item.turn, item=was.item.id, place=then.place,
                    text=was.value, tool=key, then=then.value, later=then.item.id,
                )  # fmt: skip


def _assignments(item: Item, calls: dict[str, Call]) -> tuple[str, dict[str, str | None]]:
    """
    What an item assigns, None to a key with several values, and of which file.

    Values of one file are compared with those of the same file alone: another file's port is another port.
    """
    if item.kind is ItemKind.TOOL_CALL:
        call = calls[item.id]
        texts = call.new_texts if call.deed is Deed.EDIT else ()
    else:
        call = calls.get(item.call) or Call.unknown(item.name)
        texts = (item.text,) if item.kind in _ASSIGNING and not item.synthetic else ()
    is_file = call.deed in {Deed.READ, Deed.EDIT} and bool(call.paths)
    assigned: dict[str, str | None] = {}
    for text in texts:
        pattern = _ASSIGNED_AMONG if len(text) <= _SHORT_TEXT and text[:1] not in {"{", "["} else _ASSIGNED
        for key, written in pattern.findall(text) if ":" in text or "=" in text else ():
            value = written.strip("\"'")
            if value and value != key and (value != written or not _ATTRIBUTE.fullmatch(value)):
                assigned[key] = value if assigned.get(key, value) == value else None
    return (call.paths[0] if is_file else ""), assigned


_ASSIGNING = frozenset({ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT, ItemKind.TOOL_RESULT})


# -- choosing among them -------------------------------------------------------------------------------------------


def room_of(request: SummaryRequest) -> int:
    """Tokens that the summary may have: always fewer than the originals."""
    return min(request.max_tokens, sum(item.original_tokens for item in request.items) - 1)


def fact_tokens(fact: KeptFact, request: SummaryRequest) -> int:
    """Tokens of its line in a list."""
    return request.count(f"- {fact.told()}\n")


def by_priority(facts: Iterable[KeptFact], focus: str = "") -> list[KeptFact]:
    """The most important first: what a paste demands last, of equals what has to do with the focus, then the newest."""
    focussed = focus_pattern(focus)

    def rank(fact: KeptFact) -> tuple[bool, int, bool, int, int]:
        hit = focussed is not None and focussed.search(f"{fact.text} {fact.asked}") is not None
        return fact.aside, _RANKS[fact.kind], not hit, -fact.place, fact.order

    return sorted(facts, key=rank)


def focus_pattern(focus: str) -> re.Pattern[str] | None:
    """Finds the words of the focus; None when it has none."""
    words = dict.fromkeys(re.findall(r"\w{3,}", focus.lower()))
    kept = [re.escape(word) for word in words if word not in _STOP_WORDS][:32]
    return re.compile(rf"\b(?:{'|'.join(kept)})\b", re.IGNORECASE) if kept else None


_STOP_WORDS = frozenset({"the", "and", "for", "with", "that", "this", "from", "all", "keep", "what", "about", "any"})


def chosen(ranked: Sequence[KeptFact], request: SummaryRequest, tokens: int) -> list[KeptFact]:
    """
    The first of these that fit into so many tokens, in their order.

    In the first round no kind takes more than a quarter of them, so that many demands leave room for the rest.
    """
    taken: dict[int, KeptFact] = {}
    costs: dict[int, int] = {}
    left = tokens
    for most in (tokens // 4, tokens):
        spent = dict.fromkeys(KeptKind, 0)
        misses = 0
        for number, fact in enumerate(ranked):
            if number in taken:
                continue
            if misses > _MOST_MISSES or left <= 0:
                break
            if number not in costs:
                costs[number] = fact_tokens(fact, request)
            if costs[number] > left or spent[fact.kind] + costs[number] > most:
                misses += costs[number] > left
                continue
            taken[number] = fact
            spent[fact.kind] += costs[number]
            left -= costs[number]
    return [taken[number] for number in sorted(taken)]


def required_facts(request: SummaryRequest) -> tuple[KeptFact, ...]:
    """What no summary of this request may lack, the most important first: as much as fits a quarter of its room."""
    return tuple(required_of(kept_facts(request.items), request))


def required_of(facts: Iterable[KeptFact], request: SummaryRequest) -> list[KeptFact]:
    """The same of facts that are known already."""
    return chosen(by_priority(facts, request.focus), request, room_of(request) // MUST_PART)


def is_told(fact: KeptFact, text: str, words: frozenset[str]) -> bool:
    """
    Whether a text, made ``plain``, tells a fact: demands verbatim, all else verbatim or with all its marks.

    An outcome without any path, id or number can only be told verbatim; anything else without them need not be told.
    """
    if plain(fact.text) in text:
        return not fact.then or plain(fact.then) in text
    if fact.kind is KeptKind.CONSTRAINT:
        return False
    marks = fact.marks()
    return words.issuperset(marks) if marks else fact.kind is not KeptKind.OUTCOME
