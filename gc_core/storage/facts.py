"""Memory across sessions: facts, decisions and constraints promoted at close, each with its reference."""

from __future__ import annotations

import bisect
import contextlib
import enum
import functools
import itertools
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import attrs

from gc_core.errors import LogError
from gc_core.providers.contract import TokenCounter
from gc_core.relevance.bm25 import rarity
from gc_core.storage.journal import Journal, line_of
from gc_core.values.json_values import read_json
from gc_core.values.patterns import regex
from gc_core.values.references import ByteRange

FILE_NAME: Final = "facts.jsonl"

LOCK_SECONDS: Final = 30
"""Seconds that a promotion waits for another one into the same file; each takes some milliseconds."""

_WORD: Final = regex(r"[\u3400-\u9fff]|\w{2,}")
"""The words of a text; a Chinese character is one, because Chinese has no separators."""

_HEAD: Final = "Known from earlier sessions, as (fact, item of that session):"


class FactKind(enum.Enum):
    """The kind of a fact, the strongest first: facts are shown in this order, and left out from its end."""

    CONSTRAINT = "constraint"
    DECISION = "decision"
    FACT = "fact"


class FactOp(enum.Enum):
    """An operation on a fact; LEAVE is never written."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"
    LEAVE = "leave"


_WRITTEN: Final = {op.value: op for op in (FactOp.ADD, FactOp.UPDATE, FactOp.DELETE)}


def _as_read(text: str) -> str:
    """Return the text as JSON reads it back, with surrogate pairs joined."""
    paired: str = read_json(json.dumps(text))
    return paired


def _place(saved: ByteRange | Mapping[str, int] | None) -> ByteRange | None:
    return saved if saved is None or isinstance(saved, ByteRange) else ByteRange(int(saved["start"]), int(saved["end"]))


_a_text = attrs.validators.matches_re(r"\s*\S.*", re.DOTALL)
_an_item = attrs.validators.matches_re(r"i[0-9]+")


@attrs.frozen(kw_only=True)
class Statement:
    """
    The parts of a fact.

    Attributes:
        subject: Its subject, for example "user" or "staging database".
        relation: The relation of the object to it, for example "lives in".
        object: The value, as it was said.
        as_of: Seconds since 1970 at which it was said: the fact is valid from then on.
        turn: The turn of its session in which it was said.

    """

    subject: str = attrs.field(converter=_as_read, validator=_a_text)
    relation: str = attrs.field(converter=_as_read, validator=_a_text)
    object: str = attrs.field(converter=_as_read, validator=_a_text)
    as_of: float = attrs.field(converter=float)
    turn: int = attrs.field(converter=int)


def _statement(saved: Statement | Mapping[str, Any] | None) -> Statement | None:
    if saved is None or isinstance(saved, Statement):
        return saved
    return Statement(**{field.name: saved[field.name] for field in attrs.fields(Statement)})


@attrs.frozen(kw_only=True)
class Fact:
    """
    A fact that a session learned, and its source.

    Attributes:
        id: "f1", "f2", ... in the order of a facts file; never given twice.
        kind: What it is.
        text: Its text, as it was proposed; never blank.
        session: Id of the session whose item states it.
        item: Id of that item, for instance "i42"; another session's "i42" is another item.
        bytes: The item's line in that session's master log, or None.
        time: Seconds since 1970 at which it was promoted.
        replaces: Id of the fact that it replaced, or "".
        states: Subject, relation and object, and when it was said; None if it was not taken apart.

    """

    id: str = attrs.field(validator=attrs.validators.matches_re(r"f[1-9][0-9]{0,17}"))
    kind: FactKind = attrs.field(converter=FactKind)
    text: str = attrs.field(validator=_a_text)
    session: str = attrs.field(validator=attrs.validators.instance_of(str))
    item: str = attrs.field(validator=_an_item)
    bytes: ByteRange | None = attrs.field(default=None, converter=_place)
    time: float = attrs.field(default=0.0, converter=float)
    replaces: str = attrs.field(default="", validator=attrs.validators.instance_of(str))
    states: Statement | None = attrs.field(default=None, converter=_statement)

    @property
    def since(self) -> float:
        """Seconds since 1970 from which it is valid: when it was said, or when it was promoted if that is unknown."""
        return self.time if self.states is None else self.states.as_of

    @property
    def line(self) -> str:
        """The fact on one line, whatever its text contains: kind, text and short reference."""
        return f"- [{self.kind.value}] {_on_one_line(self.text)} ({self.id}, {self.item})"

    def says(self, text: str) -> bool:
        """Return whether it has the same text, ignoring white space."""
        return _on_one_line(self.text) == _on_one_line(text)


@attrs.frozen(kw_only=True)
class Promotion:
    """
    A proposal for one fact by a host, or a model that it asks: created by ``add``, ``update`` or ``delete``.

    Each names the item of this session that states it. Without a proposal a fact stays as it is. A blank text and an
    item id of another form raise ValueError.
    """

    op: FactOp
    item: str = attrs.field(validator=_an_item)
    text: str | None = attrs.field(
        default=None, converter=attrs.converters.optional(_as_read), validator=attrs.validators.optional(_a_text)
    )
    kind: FactKind | None = None
    fact_id: str = ""
    states: Statement | None = None
    as_of: float | None = attrs.field(default=None, converter=attrs.converters.optional(float))

    @classmethod
    def add(cls, text: str, kind: FactKind, item: str, states: Statement | None = None) -> Promotion:
        """Propose a new fact; ignored if a living fact of any kind says the same."""
        return cls(op=FactOp.ADD, text=text, kind=FactKind(kind), item=item, states=states)

    @classmethod
    def update(cls, fact_id: str, text: str, item: str, states: Statement | None = None) -> Promotion:
        """Propose another text for a living fact, whose kind stays; ignored if that fact says the same."""
        return cls(op=FactOp.UPDATE, fact_id=fact_id, text=text, item=item, states=states)

    @classmethod
    def delete(cls, fact_id: str, item: str, as_of: float | None = None) -> Promotion:
        """Propose to end a living fact, since ``as_of`` (seconds since 1970) if that is known."""
        return cls(op=FactOp.DELETE, fact_id=fact_id, item=item, as_of=as_of)


@attrs.frozen
class FactChange:
    """
    A change of the facts.

    Attributes:
        op: ADD, UPDATE, DELETE or LEAVE.
        fact: The new fact; for DELETE the removed one, with the reference of its end; for LEAVE the existing one,
            unchanged.

    """

    op: FactOp
    fact: Fact

    def line(self) -> bytes:
        """Return the line of a facts file."""
        saved = attrs.asdict(self.fact, value_serializer=lambda _, __, value: getattr(value, "value", value))
        return line_of({"op": self.op.value, **saved})

    @classmethod
    def read(cls, line: bytes) -> FactChange:
        """
        Return the change in a line; fields of a later version are ignored. Raises LogError for a
        line of another form.
        """
        try:
            saved = read_json(line)
            # Early files have no "states".
            known = [field.name for field in attrs.fields(Fact) if field.name != "states"]
            fact = Fact(**{name: saved[name] for name in known}, states=saved.get("states"))
            return cls(_WRITTEN[saved["op"]], fact)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise LogError(
                f"not a valid line of a facts file: {line[:200]!r}; {type(error).__name__}: {error}"
            ) from error


class FactStore:
    """
    The facts of one file, to which any number of sessions promote, one after the other or at the same time.

    It shows the file as it was when the store was created or last promoted. Reading takes no lock and creates no file;
    nothing stays open.

    Args:
        path: The file, ``facts.jsonl``; a missing one has no facts. ``facts.jsonl.lock`` is next to it.

    Raises:
        LogError: The file cannot be read, or a line is invalid; names the file and the byte at which the line begins.

    """

    def __init__(self, path: str | Path) -> None:
        # Resolved: another name of the same file has the same lock, and a host may change its directory.
        self.path = Path(path).resolve()
        self._memory = _Memory()
        try:
            if self.path.exists():
                with contextlib.closing(Journal(self.path, writable=False)) as journal:
                    self._memory = _folded(journal)
        except OSError as error:
            raise LogError(f"{self.path} cannot be read: {error}") from error

    @property
    def facts(self) -> Mapping[str, Fact]:
        """The living facts by id, the newest last."""
        return MappingProxyType(self._memory.living)

    def history(self, fact_id: str) -> tuple[FactChange, ...]:
        """Return the history of a fact, oldest first: its predecessors, its successors, its end. Raises LogError."""
        if fact_id not in self._memory.chains:
            raise LogError(f"{self.path}: there never was a fact {fact_id!r}")
        return tuple(self._memory.chains[fact_id])

    def find(
        self, words: str = "", *, subject: str = "", relation: str = "", at: float | None = None
    ) -> tuple[Fact, ...]:
        """
        Return the facts that are valid now, or were at a time: those with most of the words first, then the newest.

        Args:
            words: Free words, ignoring case. A fact must have one of them, in its text or its parts.
            subject: Only facts about this subject, ignoring case.
            relation: Only facts with this relation, ignoring case.
            at: Seconds since 1970: facts valid then, by the times at which they were said.

        """
        held = self.facts.values() if at is None else self._memory.held(at)
        wanted = [
            fact
            for fact in held
            if _is(subject, "" if fact.states is None else fact.states.subject)
            and _is(relation, "" if fact.states is None else fact.states.relation)
        ]
        scores = _scores(wanted, words)
        found = [pair for pair in zip(wanted, scores, strict=True) if pair[1] > 0 or not words.strip()]
        found.sort(key=lambda pair: (-pair[1], -pair[0].since))
        return tuple(fact for fact, _ in found)

    def has_taken(self, session: str, item: str, text: str) -> bool:
        """Return whether this text of this item was ever a fact, or ended one."""
        return any(
            (change.fact.session, change.fact.item) == (session, item) and change.fact.says(text)
            for chain in self._memory.chains.values()
            for change in chain
        )

    def promote(
        self, promotions: Iterable[Promotion], *, session: str, locate: Callable[[str], ByteRange | None]
    ) -> tuple[FactChange, ...]:
        """
        Carry out promotions in order, all or none, and return the operation for each.

        Returns when the changes are on the disk. No text is stored twice: an update to the text of another living fact
        deletes the fact. Raises LogError, with nothing written, when a fact does not exist any more (another session
        may have changed it: ``facts`` is up to date then) or when the file cannot be written. Only a loss of power in
        the middle, or a disk that does not confirm (also a LogError), may leave some of the changes in the file.

        Args:
            promotions: The proposals.
            session: Id of the session that closes.
            locate: Returns the line of an item in the session's master log, or None.

        """
        now = round(time.time(), 3)
        # The host's code runs before the lock is taken, so that others do not wait for it.
        made = [
            (each, functools.partial(Fact, session=session, item=each.item, bytes=locate(each.item), time=now))
            for each in promotions
        ]
        if not made:
            return ()
        with self._writing() as journal:
            self._memory, draft = _folded(journal), _folded(journal)
            try:
                changes = tuple(draft.carry_out(*each) for each in made)
            except LogError as error:
                living = ", ".join(self.facts) or "none"
                raise LogError(f"{self.path}: nothing was promoted: {error}; living: {living}") from error
            journal.append(change.line() for change in changes if change.op is not FactOp.LEAVE)
            self._memory = draft
        return changes

    def text(self, counter: TokenCounter, cap: int, about: str = "") -> str:
        """
        Return the living facts as a block for a source, in at most ``cap`` tokens; "" if there are none, or no room.

        Constraints come first, then decisions, then facts, each the newest last. If there are too many, the oldest of
        the last kind are left out first (before them facts too long to fit by themselves, and those that share no rare
        word with ``about``, except constraints), and a last line counts them. The frame that a block gets in the window
        is not counted.
        """
        facts = sorted(self.facts.values(), key=_rank)
        if counter.count(whole := self._block(facts, 0)) <= cap:
            return whole

        spoken_of = _spoken_of(facts, about)

        def left_out(fact: Fact) -> tuple[bool, bool, int]:
            single = self._block([fact], len(facts) - 1)
            matters = fact.kind is FactKind.CONSTRAINT or fact.id in spoken_of
            return counter.count(single) <= cap, matters, -_rank(fact)

        def without(number: int) -> str:
            return self._block(sorted(leaving[number:], key=_rank), number)

        leaving, numbers = sorted(facts, key=left_out), range(1, len(facts) + 1)
        enough = bisect.bisect_left(numbers, True, key=lambda number: counter.count(without(number)) <= cap)
        return without(numbers[enough]) if enough < len(numbers) else ""

    def _block(self, shown: list[Fact], left_out: int) -> str:
        lines = [_HEAD, *(fact.line for fact in shown)] if shown else []
        if left_out:
            lines.append(f"[gc: {left_out:,} left out, in {_on_one_line(str(self.path))}]")
        return "\n".join(lines)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Journal]:
        """Lock the journal: another session's repair could otherwise cut off a line that is being written."""
        from filelock import FileLock

        try:
            with (
                FileLock(f"{self.path}.lock", timeout=LOCK_SECONDS),
                contextlib.closing(Journal(self.path)) as journal,
            ):
                yield journal
                journal.sync()
        except OSError as error:
            raise LogError(f"{self.path}: no facts can be promoted: {error}") from error


# -- inside ----------------------------------------------------------------------------------------------------------


class _Memory:
    """The changes of a file, applied: the living facts, and the history of each."""

    def __init__(self) -> None:
        self.living: dict[str, Fact] = {}
        # All facts of a chain of updates share one list.
        self.chains: dict[str, list[FactChange]] = {}
        self._last = 0

    def carry_out(self, promotion: Promotion, made: Callable[..., Fact]) -> FactChange:
        """Apply a promotion and return the change; ``made`` is the fact without id, kind, text and what it replaces."""
        change = self._answer(promotion, made)
        if change.op is not FactOp.LEAVE:
            self.apply(change)
        return change

    def apply(self, change: FactChange) -> None:
        """Apply a change. Raises LogError when it does not fit the previous ones."""
        fact, chain = change.fact, list[FactChange]()
        if change.op is not FactOp.ADD:
            replaced = self._living(fact.replaces if change.op is FactOp.UPDATE else fact.id)
            chain = self.chains[replaced.id]
            del self.living[replaced.id]
        if change.op is not FactOp.DELETE:
            if fact.id in self.chains:
                raise LogError(f"a second fact {fact.id}")
            self.living[fact.id] = fact
        chain.append(change)
        self.chains[fact.id] = chain
        self._last = max(self._last, int(fact.id[1:]))

    def held(self, at: float) -> list[Fact]:
        """Return the facts that were valid at a time: said by then, and neither replaced nor ended."""
        chains = {id(chain): chain for chain in self.chains.values()}
        return [fact for chain in chains.values() for fact in _held(chain, at)]

    def _answer(self, promotion: Promotion, made: Callable[..., Fact]) -> FactChange:
        text, new = promotion.text, f"f{self._last + 1}"
        twin = None if text is None else next((fact for fact in self.living.values() if fact.says(text)), None)
        if promotion.op is FactOp.ADD:
            if twin is not None:
                return FactChange(FactOp.LEAVE, twin)
            return FactChange(FactOp.ADD, made(id=new, kind=promotion.kind, text=text, states=promotion.states))
        old = self._living(promotion.fact_id)
        if twin is old:
            return FactChange(FactOp.LEAVE, old)
        if text is None or twin is not None:
            end = made(id=old.id, kind=old.kind, text=old.text, replaces=old.replaces)
            return FactChange(FactOp.DELETE, attrs.evolve(end, states=_ended(old, promotion)))
        states = promotion.states
        return FactChange(FactOp.UPDATE, made(id=new, kind=old.kind, text=text, replaces=old.id, states=states))

    def _living(self, fact_id: str) -> Fact:
        if fact_id not in self.living:
            raise LogError(f"no living fact {fact_id!r}")
        return self.living[fact_id]


def _folded(journal: Journal) -> _Memory:
    memory = _Memory()
    for place, line in journal.lines():
        try:
            memory.apply(FactChange.read(line))
        except LogError as error:
            raise LogError(f"{journal.path}, byte {place.start:,}: {error}") from error
    return memory


def _held(chain: Sequence[FactChange], at: float) -> Iterator[Fact]:
    """Yield the facts of a chain that were valid at a time: each ends with the next change."""
    for change, after in itertools.zip_longest(chain, chain[1:]):
        end = math.inf if after is None else after.fact.since
        if change.op is not FactOp.DELETE and change.fact.since <= at < end:
            yield change.fact


def _is(wanted: str, value: str) -> bool:
    return not wanted or wanted.casefold() == value.casefold()


def _scores(facts: Sequence[Fact], words: str) -> list[float]:
    """Return how well each fact matches the words: a rare word counts more, one in every fact almost nothing."""
    wanted = list(dict.fromkeys(_WORD.findall(words.casefold())))
    texts = [_searched(fact) for fact in facts]
    weights = {word: rarity(sum(word in text for text in texts), len(texts)) for word in wanted}
    return [sum(weight for word, weight in weights.items() if word in text) for text in texts]


def _spoken_of(facts: Sequence[Fact], about: str) -> frozenset[str]:
    """Return the ids of the facts that share a word with a text which most facts do not have."""
    texts = {fact.id: set(_WORD.findall(_searched(fact))) for fact in facts}
    shared = [words & set(_WORD.findall(about.casefold())) for words in texts.values()]
    often = Counter(word for words in shared for word in words)
    return frozenset(
        key for key, words in zip(texts, shared, strict=True) if any(2 * often[w] <= len(facts) for w in words)
    )


def _searched(fact: Fact) -> str:
    parts = () if fact.states is None else (fact.states.subject, fact.states.relation, fact.states.object)
    return " ".join((fact.text, *parts)).casefold()


def _ended(old: Fact, promotion: Promotion) -> Statement | None:
    """Return the parts of an ended fact, with the time of its end; None if that is unknown."""
    said = promotion.as_of if promotion.states is None else promotion.states.as_of
    return None if old.states is None or said is None else attrs.evolve(old.states, as_of=said)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _rank(fact: Fact) -> int:
    return list(FactKind).index(fact.kind)
