"""Stores facts for later sessions, and loads those of earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import attrs

from gc_core.errors import SourceError
from gc_core.plugins.redaction import masked_name
from gc_core.session.runtime import SEAM, Runtime
from gc_core.storage.originals import TakenBack, items_of
from gc_core.values.items import Item, ItemKind, number_of
from gc_core.values.messages import Role
from gc_core.values.policy import GCPolicy
from gc_core.values.references import ByteRange
from gc_core.values.sources import CONVERSATION, InstructionSource
from gc_core.values.validators import check_kind, listed
from gc_core.window.memory_blocks import Block

if TYPE_CHECKING:
    from gc_core.learning.contract import FactExtractor
    from gc_core.learning.proposals import Proposal, Said
    from gc_core.storage.facts import FactChange, FactStore, Promotion

_FACTS, _KNOWN, _FACTS_LAYER = "facts", "known", 20


class SessionFacts:
    """Promotes facts from a session's log, and loads those of earlier sessions."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def promote(self, facts: FactStore, promotions: Iterable[Promotion]) -> tuple[FactChange, ...]:
        """Store facts for later sessions; see ``GCSession.promote``."""
        from gc_core.storage.facts import Promotion

        _check_store(facts)
        promotions = listed("promotions", promotions, "Promotions", kinds=Promotion)
        if self._runtime.plugins.redacts:
            promotions = [self._redacted(each) for each in promotions]
        return facts.promote(promotions, session=self._runtime.store.session, locate=self._line_of)

    def propose(self, facts: FactStore, extractor: FactExtractor | None = None) -> tuple[Proposal, ...]:
        """Find facts worth storing; see ``GCSession.propose``."""
        from gc_core.learning.extraction import WordedExtractor
        from gc_core.learning.proposals import proposals_for

        _check_store(facts)
        finder = WordedExtractor() if extractor is None else extractor
        if not callable(getattr(finder, "extract", None)):
            raise SourceError(f"extractor = {extractor!r:.200}: expected an object with a method extract()")
        said = dict(self._user_items())
        items = tuple(item for item, _ in said.values())
        stated = finder.extract(items)
        for each in stated:
            if each.item not in said:
                raise SourceError(f"{each.text!r:.100} is of item {each.item!r}, which is not a user's text here")
        moments = {key: moment for key, (_, moment) in said.items()}
        return proposals_for(stated, facts, moments, self._runtime.store.session)

    def load(self, facts: FactStore, cap: int) -> None:
        """Place what earlier sessions stored at the end of the next request; see ``GCSession.load_facts``."""
        _check_store(facts)
        check_kind("cap", cap, int, "the most tokens")
        self._runtime.recorder.register(
            InstructionSource(name=_FACTS, policy=GCPolicy.PRESERVABLE, layer=_FACTS_LAYER, cap=cap)
        )
        counter = self._runtime.counter
        frame = counter.count(Block(source=_FACTS, name=_KNOWN, text="", kind=ItemKind.MEMORY_BLOCK).framed)
        text = facts.text(counter, max(0, cap - frame - SEAM), self._runtime.state.objective.text)
        self._runtime.state.give(_FACTS, {_KNOWN: text})

    # -- inside --------------------------------------------------------------------------------------------------

    def _line_of(self, item: str) -> ByteRange:
        found = self._runtime.store.log.find(number_of(item))
        if found is None:
            raise SourceError(f"no item {item!r} was ever logged; a fact needs an item that states it")
        return found[0]

    def _redacted(self, promotion: Promotion) -> Promotion:
        redact, states = self._runtime.plugins.redact, promotion.states
        if states is not None:
            relation = masked_name(states.relation, redact)
            states = attrs.evolve(
                states, subject=redact(states.subject), relation=relation, object=redact(states.object)
            )
        return attrs.evolve(promotion, text=redact(promotion.text) if promotion.text else None, states=states)

    def _user_items(self) -> Iterator[tuple[str, tuple[Item, Said]]]:
        """Yield what users said, unless it was taken back, with its time."""
        from gc_core.learning.proposals import Said

        state, log = self._runtime.state, self._runtime.store.log
        taken_back = TakenBack.of(self._runtime.store.ledger)
        for place, record in log.records(0, log.size):
            if record.role != Role.USER.value or record.source != CONVERSATION.name or taken_back.holds(place):
                continue
            for item in items_of([record], state.format, state.counter):
                if item.kind is ItemKind.USER_TEXT:
                    yield item.id, (item, Said(time=record.time, turn=record.turn))


def promotions_of(proposals: Iterable[Proposal]) -> list[Promotion]:
    """Return what proposals would store. Raises SourceError for anything but proposals."""
    from gc_core.learning.proposals import Proposal

    found = listed("proposals", proposals, "Proposals", kinds=Proposal)
    return [each.promotion for each in found if each.promotion is not None]


def _check_store(facts: object) -> None:
    from gc_core.storage.facts import FactStore

    check_kind("facts", facts, FactStore, "a FactStore")
