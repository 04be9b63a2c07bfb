"""Proposals for the facts that sessions share: statements compared with known facts, each with its reason."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from gc_core.learning.contract import Stated
from gc_core.learning.phrases import OF_RULES_ZH, SAY_NOTHING, VALUES
from gc_core.storage.facts import Fact, FactKind, FactOp, FactStore, Promotion, Statement
from gc_core.values.patterns import regex

_STEM: Final = 5
"""Letters by which words are compared: "tutoiement" and "tutoie" are about the same thing."""

_ENOUGH: Final = 0.3
"""The share of the words of an object that must be named where it ends."""

_LOOSE: Final = frozenset({"uses", "is", "runs on", "is on", "does"})
"""Relations between which people switch: "our warehouse is Snowflake" is "we use Snowflake"."""

_WORD: Final = regex(r"[\u3400-\u9fff]+|[^\W_\u3400-\u9fff]+(?:['’][^\W_]+)?")
_CHINESE: Final = regex(r"[\u3400-\u9fff]")


@attrs.frozen(kw_only=True)
class Proposal:
    """
    A proposed change of the facts; nothing is done before the host accepts it.

    Attributes:
        op: ADD, UPDATE, DELETE or LEAVE.
        reason: The reason, in a few words.
        stated: The user's statement.
        fact: The fact that it replaces, ends, or leaves; None for ADD.
        promotion: The promotion that accepting it carries out; None for LEAVE.

    """

    op: FactOp
    reason: str
    stated: Stated
    fact: Fact | None = None
    promotion: Promotion | None = None


@attrs.frozen(kw_only=True)
class Said:
    """
    When an item was said.

    Attributes:
        time: Seconds since 1970.
        turn: The turn of its session.

    """

    time: float
    turn: int


def proposals_for(
    stated: Iterable[Stated], facts: FactStore, said: Mapping[str, Said], session: str
) -> tuple[Proposal, ...]:
    """
    Return the change for each statement, in order: an addition, a replacement, an end, or none.

    A statement repeated in a session is proposed once, in its last form. Statements older than a fact do not change it.

    Args:
        stated: The statements of one session, each of an item in ``said``.
        facts: The known facts.
        said: When each item was said.
        session: Id of that session.

    """
    draft = _Draft(facts=facts, session=session, living=dict(facts.facts))
    for each in stated:
        draft.take(each, said[each.item])
    return tuple(draft.proposals.values())


# -- inside ----------------------------------------------------------------------------------------------------------


@attrs.define(kw_only=True)
class _Draft:
    """The facts as they would be after accepting all proposals, with the proposals by fact id."""

    facts: FactStore
    session: str
    living: dict[str, Fact]
    proposals: dict[str, Proposal] = attrs.field(factory=dict)
    _made: int = 0

    def take(self, stated: Stated, said: Said) -> None:
        states = _states(stated, said)
        if self.facts.has_taken(self.session, stated.item, stated.text):
            return
        old, reason = self._meant(stated)
        if states is None:
            if old is not None and old.since <= said.time:
                self._end_or_replace(old, stated, said, reason)
        elif old is None:
            self._add(stated, states)
        elif _says(old, stated):
            self._leave(old, stated, "it is known already")
        elif old.since > said.time:
            self._leave(old, stated, "a later statement stands")
        else:
            self._replace(old, stated, states, reason)

    def _add(self, stated: Stated, states: Statement) -> None:
        ended = self._just_ended(stated)
        if ended is not None:
            del self.proposals[ended.id]
            self._replace(ended, stated, states, f"in place of {ended.text!r:.80}, which ended with it")
            return
        promotion = Promotion.add(stated.text, stated.kind, stated.item, states)
        new = self._fact(stated, states)
        self.living[new.id] = new
        self.proposals[new.id] = Proposal(
            op=FactOp.ADD, reason="nothing known is about it", stated=stated, promotion=promotion
        )

    def _replace(self, old: Fact, stated: Stated, states: Statement, reason: str) -> None:
        earlier = self.proposals.pop(old.id, None)
        self.living.pop(old.id, None)
        if earlier is not None and earlier.op is FactOp.ADD:
            self._add(stated, states)
            return
        known = old if earlier is None or earlier.fact is None else earlier.fact
        new = self._fact(stated, states)
        self.living[new.id] = new
        if _says(known, stated):
            self._leave(known, stated, "it is known already")
            return
        promotion = Promotion.update(known.id, stated.text, stated.item, states)
        self.proposals[new.id] = Proposal(
            op=FactOp.UPDATE, reason=reason, stated=stated, fact=known, promotion=promotion
        )

    def _end_or_replace(self, old: Fact, stated: Stated, said: Said, reason: str) -> None:
        """Replace a fact if what ends is a value and the sentence names one other; otherwise end it."""
        value = _other_value(old, stated.about or stated.text)
        if value is None or old.kind is FactKind.CONSTRAINT:
            if stated.ends:
                self._end(old, stated, said, reason)
            return
        known = old.states or Statement(
            subject="user", relation="states", object=value, as_of=said.time, turn=said.turn
        )
        stated = attrs.evolve(stated, subject=known.subject, relation=known.relation, object=value, kind=old.kind)
        states = attrs.evolve(known, object=value, as_of=said.time, turn=said.turn)
        self._replace(old, stated, states, reason)

    def _end(self, old: Fact, stated: Stated, said: Said, reason: str) -> None:
        for key, begun in self.proposals.items():
            if begun.op is FactOp.ADD and begun.stated.item == stated.item and _are_alike(old, begun.stated):
                del self.proposals[key], self.living[key]
                new = begun.stated
                self._replace(old, new, _made(new, said), reason)
                return
        earlier = self.proposals.pop(old.id, None)
        self.living.pop(old.id, None)
        if earlier is not None and earlier.op is FactOp.ADD:
            return
        known = old if earlier is None or earlier.fact is None else earlier.fact
        promotion = Promotion.delete(known.id, stated.item, said.time)
        self.proposals[known.id] = Proposal(
            op=FactOp.DELETE, reason=reason, stated=stated, fact=known, promotion=promotion
        )

    def _leave(self, old: Fact, stated: Stated, reason: str) -> None:
        key = f"left {stated.item} {stated.text}"
        self.proposals[key] = Proposal(op=FactOp.LEAVE, reason=reason, stated=stated, fact=old)

    def _just_ended(self, stated: Stated) -> Fact | None:
        """Return a fact about the same thing that this very item has ended: "Ann left. My boss is Bea now."."""
        return next(
            (
                each.fact
                for each in self.proposals.values()
                if each.op is FactOp.DELETE
                and each.fact is not None
                and each.stated.item == stated.item
                and _are_alike(each.fact, stated)
            ),
            None,
        )

    def _fact(self, stated: Stated, states: Statement) -> Fact:
        self._made += 1
        # No fact in a file has this many digits.
        number = f"f9{self._made:017}"
        return Fact(
            id=number, kind=stated.kind, text=stated.text, session=self.session, item=stated.item, states=states
        )

    def _meant(self, stated: Stated) -> tuple[Fact | None, str]:
        """Return the living fact that a statement is about, the newest of several, and how it was identified."""
        newest = sorted(self.living.values(), key=lambda fact: fact.since, reverse=True)
        for fact in newest:
            if _says(fact, stated):
                return fact, "it says the same"
        if stated.object and not stated.several:
            for fact in newest:
                if _is_same_slot(fact, stated):
                    return fact, "the same had another value"
        if stated.changes:
            return self._named_in(stated, newest)
        return None, ""

    def _named_in(self, stated: Stated, newest: list[Fact]) -> tuple[Fact | None, str]:
        named = _words(stated.about or stated.text) - _words(stated.object if not _is_rule(stated) else "")
        scored = [(_share(fact, named, stated), fact) for fact in newest]
        best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
        if best[0] < _ENOUGH or best[1] is None:
            return None, ""
        return best[1], f"it names {_value(best[1])!r:.60} as what is no longer so"


def _states(stated: Stated, said: Said) -> Statement | None:
    return _made(stated, said) if stated.object else None


def _made(stated: Stated, said: Said) -> Statement:
    return Statement(
        subject=stated.subject,
        relation=stated.relation,
        object=stated.object,
        as_of=said.time,
        turn=said.turn,
    )


def _says(fact: Fact, stated: Stated) -> bool:
    """Return whether it states the same about the same thing, in any words."""
    if fact.says(stated.text) and stated.object:
        return True
    states = fact.states
    if states is None or not stated.object:
        return False
    objects = _words(states.object), _words(stated.object)
    loose = {states.relation, stated.relation} <= _LOOSE
    alike = loose or states.relation == stated.relation or _is_same_slot(fact, stated)
    return alike and bool(objects[0]) and objects[0] == objects[1]


def _is_same_slot(fact: Fact, stated: Stated) -> bool:
    states = fact.states
    if states is None or not stated.object or _is_rule(stated) or fact.kind is FactKind.CONSTRAINT:
        return False
    if states.relation.partition(" ")[0] != stated.relation.partition(" ")[0]:
        return False
    if {"user", "we"} >= {states.subject, stated.subject}:
        return states.relation == stated.relation and not stated.several
    one, other = _words(states.subject), _words(stated.subject)
    return one == other or (stated.changes and bool(one & other) and (one <= other or other <= one or len(one) > 1))


def _are_alike(fact: Fact, stated: Stated) -> bool:
    """
    Return whether what ends and what begins in one message belong together: one subject, or relations people switch
    between.
    """
    if fact.states is None or _is_rule(stated):
        return False
    return _is_same_slot(fact, stated) or {fact.states.relation, stated.relation} <= _LOOSE


def _other_value(old: Fact, sentence: str) -> str | None:
    """
    Return the only name, number or address in a sentence that the fact does not have; None if there is none or more
    than one.
    """
    known = _words(old.text)
    found = [value for value in VALUES.findall(sentence) if not _words(value) <= known]
    return found[0].strip("`.,") if len(found) == 1 else None


def _is_rule(stated: Stated) -> bool:
    return stated.kind is FactKind.CONSTRAINT


def _share(fact: Fact, named: frozenset[str], stated: Stated) -> float:
    """Return how much of the words that identify a fact is named, from 0 to 1; further matches decide among equals."""
    value, text = _words(_value(fact)), _words(fact.text)
    if not value:
        return 0.0
    if fact.states is None and stated.object and not _is_rule(stated):
        named |= _words(stated.object)
        shared = len(text & named)
        return shared / len(text) if shared > 1 else 0.0
    if fact.kind is FactKind.CONSTRAINT or fact.states is None:
        if stated.object and not _is_rule(stated):
            return 0.0
        return len(text & named) / max(1, min(len(named), len(text)))
    if stated.object and (_is_rule(stated) or not _is_compatible(fact.states, stated)):
        return 0.0
    share = len(value & named) / len(value)
    return share + 0.1 * len(text & named) / len(text) if share else 0.0


def _is_compatible(states: Statement, stated: Stated) -> bool:
    """Return whether what ends and what begins are of one sort: a new workplace does not end a place of residence."""
    places = {"lives in", "is from"}
    if states.relation in places or stated.relation in places:
        return states.relation in places and stated.relation in places
    return True


def _value(fact: Fact) -> str:
    return fact.text if fact.states is None else fact.states.object


def _words(text: str) -> frozenset[str]:
    """Return the significant words of a text, each by its first letters; for Chinese, each two characters in a row."""
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    words = set[str]()
    for found in _WORD.findall(OF_RULES_ZH.sub(" ", plain)):
        if _CHINESE.search(found):
            words.update(found[place : place + 2] for place in range(max(1, len(found) - 1)))
        elif (word := found.lower().partition("'")[0]) not in SAY_NOTHING:
            words.add(word[:_STEM].rstrip("s") if len(word) > 3 else word)  # noqa: PLR2004 - "bus" is not a plural
    return frozenset(words)
