"""
The part of a session that hands off: another session begins with what it needs of this one, and its result comes back.

Nothing is told twice in other words: of what the parent itself began with, the account of the child takes entries over
as they stand, and everything else is told from originals. So a chain of handoffs begins with no more than one does.
"""

from __future__ import annotations

import abc
import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self, TypeVar

import attrs

from gc_core.collector.summarizing import Steps
from gc_core.errors import LeaseError, SourceError
from gc_core.relevance.name_scan import scan
from gc_core.session.reader import SessionReader
from gc_core.session.subtasks.handoff_texts import (
    ACCOUNT,
    HANDOFF,
    OTHER,
    HandoffOptions,
    Opening,
    account,
    inherited,
    tag_of,
    tagged,
)
from gc_core.session.subtasks.leases import Lease, Leasing
from gc_core.session.task_memory import BLOCK
from gc_core.session.timeline import Past, synchronized
from gc_core.storage.contents import Passage
from gc_core.storage.ledger import Ancestor, Collected, Inherited, Observed, Sent
from gc_core.storage.master_log import FILE_NAME, LogRecord
from gc_core.summaries.digests import digest_text
from gc_core.summaries.validation import FACTS_HEAD
from gc_core.task.rendering import state_text
from gc_core.task.values import TaskState
from gc_core.values.config import GCConfig
from gc_core.values.items import Form, Item, ItemKind, Level, Unit
from gc_core.values.layers import SystemPart, is_own
from gc_core.values.loggers import bound, logger
from gc_core.values.messages import Payload
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import CONVERSATION, PLUGIN, SYSTEM, TASK_STATE
from gc_core.values.summary import BULLET, SummaryForm, SummaryRequest, entries_of
from gc_core.window.compaction_carryover import carried
from gc_core.window.context import Context

R = TypeVar("R")

_log = logger("gc_core.session")

_SEAM = 8  # tokens that a text may have more inside a frame than alone
_SAID = frozenset({ItemKind.USER_TEXT, ItemKind.ATTACHMENT, ItemKind.OPAQUE})


class Handing(Leasing):
    """The part of a session that begins other sessions."""

    _hands_back: Lease | None = None
    _kin: dict[str, weakref.ref[Handing]] = {}  # noqa: RUF012 - never changed in place

    def hand_back(self, result: object) -> tuple[str, ...]:
        """
        Give the result of a session that was handed off to its parent, as one note; returns the ids of its items
        there. See ``Lease.deliver``.

        Raises LeaseError when nobody waits for a result, or it came already; SessionClosedError when the parent was
        closed.
        """
        if self._hands_back is None:
            text = "no parent waits for a result: not handed off, handed off with result_tokens = 0, or reopened"
            raise LeaseError(text)
        return self._hands_back.deliver(result)

    @synchronized
    def recall(self, item: str) -> str:
        """
        The original text of an item, as it arrived: resident or not, also of an earlier life of the session.

        Takes an id (``i42``), a range of ids (``i5-i20``), a byte range (``master.jsonl:123-456``), or the whole text
        of a stub or trace that names one. What a range names is told item by item. In a session that was handed off,
        ``i42@5f3a9c`` is an item of one before it. Raises SourceError when the id was never given, LogError when no
        line stands at the bytes.
        """
        found = OTHER.search(item, item.rfind("[gc:") + 1) if isinstance(item, str) else None
        if found is None or found["tag"] == tag_of(self._store.session):
            return super().recall(item if found is None else found["ids"])
        return self._of_kin(found["tag"], lambda kin: kin.recall(found["ids"]))

    @synchronized
    def contents(self, reference: str) -> tuple[Passage, ...]:
        """
        What a reference of a long stretch names, part by part, at most 20 of them: each with a reference of its own,
        to ``recall`` the one that is wanted instead of all. Takes what ``recall`` takes, and raises what it raises.
        """
        found = OTHER.search(reference, reference.rfind("[gc:") + 1) if isinstance(reference, str) else None
        if found is None or found["tag"] == tag_of(self._store.session):
            return super().contents(reference if found is None else found["ids"])
        passages = self._of_kin(found["tag"], lambda kin: kin.contents(found["ids"]))
        return tuple(attrs.evolve(each, reference=f"{each.reference}@{found['tag']}") for each in passages)

    # -- inside: handing off -------------------------------------------------------------------------------------------

    def _handing(self, directory: str | Path | None, wish: HandoffOptions) -> Steps[Self]:
        """A child; what is said while its account is written is not in it."""
        lease = self._leased_now(wish.result_tokens, wish.name) if wish.result_tokens else None
        with contextlib.ExitStack() as undo:
            if lease is not None:
                undo.callback(lease.release)
            config = wish.config or attrs.evolve(self._config, pinned_turn_indices=())
            opening = self._opening(wish, config)
            state = inherited(self._look(), tag_of(self._store.session))
            told = yield from self._account_of(opening, wish.summary_tokens)
            told = self.plugins.redact(told) if self.plugins.redacts else told
            child = self._beside(directory, config)
            undo.callback(child.close)
            with bound(child._scope):
                child._begin(self, opening, told, state, wish.summary_tokens)
            child._hands_back = lease
            _log.info("session handed off", child=child._store.session, tokens=child._context.budget.total)
            undo.pop_all()
        return child

    @abc.abstractmethod
    def close(self) -> None:
        """End the session."""

    @abc.abstractmethod
    def _beside(self, directory: str | Path | None, config: GCConfig) -> Self:
        """Another session with the same format, model, plugins and summarizer."""

    def _begin(self, parent: Handing, opening: Opening, told: str, state: TaskState, state_tokens: int) -> None:
        """What the child was handed, in the order in which it will be read."""
        self._private = parent._private
        for source in parent._context.budget.sources:
            self._recorder.register(source)
        for part in opening.parts:
            self.system(source=part.source, policy=part.policy, **{part.name: part.text})
        self.tools(opening.schemas, discoverable=opening.discoverable)
        for payload in opening.request:
            self.append(payload)
        for owner, name, block in opening.memory:
            self.memory(owner, **{name: block})
        text = state_text(state, state_tokens, self._counter.count).text
        self._recorder.inherit(self._lineage(parent, f"{told}\n{text}", state))
        for whose, name, block in ((HANDOFF, ACCOUNT, told), (TASK_STATE, BLOCK, text)):
            if block:
                self._recorder.register(whose)
                self._state.give(whose.name, {name: block})
        self._prepare()
        for payload in opening.newest:
            self.append(payload)
        if parent._state.objective.given:
            self.objective = parent._state.objective.given

    # -- inside: what is handed on -------------------------------------------------------------------------------------

    def _opening(self, wish: HandoffOptions, config: GCConfig) -> Opening:
        context = self._state.changed(self._state.changes, self._context)
        wants = wish.chooser(source.name for source in self._context.budget.sources)
        request, rest = _split(self._context)
        newest = self._newest(rest, wish, config, request)
        stays = {unit.number for unit in (*request, *newest)}
        older = [unit for unit in rest if unit.number not in stays and not unit.pending]
        head = context.head
        schemas = tuple(each for each in head.schemas if wants(PLUGIN.name, self._format.schema_name(each)))
        names = {self._format.schema_name(each) for each in schemas}
        return Opening(
            parts=tuple(self._parts_wanted(context, wants)),
            schemas=schemas,
            discoverable=head.discoverable & names,
            memory=tuple(self._memory_wanted(wants)),
            request=tuple(self._payloads(request)),
            newest=tuple(self._payloads(newest)),
            items=tuple(item for unit in older for item in self._originals_of(unit)),
            entries=tuple(self._entries(older)),
            last=self._context.cursor.items,
        )

    def _parts_wanted(self, context: Context, wants: Callable[[str, str], bool]) -> Iterator[SystemPart]:
        """Parts of the system text; what was said in the system's name within the conversation becomes one."""
        for part in context.head.parts.values():
            if not is_own(part.source, part.name) and wants(part.source, part.name):
                yield part
        tag = tag_of(self._store.session)
        for item in (item for message in context.messages for item in message.items):
            name = f"{item.id}@{tag}"
            if item.kind is ItemKind.SYSTEM_TEXT and item.source == SYSTEM.name and wants(SYSTEM.name, name):
                yield SystemPart(source=SYSTEM.name, name=name, text=item.text, policy=GCPolicy.LOCKED)

    def _memory_wanted(self, wants: Callable[[str, str], bool]) -> Iterator[tuple[str, str, str]]:
        """The newest memory blocks that are held, those that wait included; what handoffs gave is given anew."""
        blocks = self._state.blocks
        stands = carried(self._context, blocks, self._state.pinned_turns)
        found = {(block.source, block.name): block for block in (*stands, *blocks.waiting)}
        for block in found.values():
            policy = block.policy or self._context.budget.source(block.source).policy
            is_held = block.kind is ItemKind.MEMORY_BLOCK and policy is GCPolicy.LOCKED
            if is_held and block.source not in {HANDOFF.name, TASK_STATE.name} and wants(block.source, block.name):
                yield block.source, block.name, block.text

    def _newest(
        self, rest: Sequence[Unit], wish: HandoffOptions, config: GCConfig, request: Sequence[Unit]
    ) -> list[Unit]:
        """The newest whole steps with what was said between and behind them, and what the running turn began with."""
        places = [place for place, unit in enumerate(rest) if unit.is_step and not unit.pending]
        room = int(config.usable * config.ends_percent / 100.0) if wish.tokens is None else wish.tokens
        room -= sum(map(_original_tokens, request)) + 2 * wish.summary_tokens
        room -= sum(item.tokens for item in self._context.head_items())
        taken: list[Unit] = []
        for steps in range(min(wish.steps, len(places)), -1, -1):
            taken = list(self._since(rest, places, steps))
            if steps <= 1 or sum(map(_original_tokens, taken)) <= room:
                break
        return taken

    def _since(self, rest: Sequence[Unit], places: Sequence[int], steps: int) -> Iterator[Unit]:
        cut = places[-steps] if steps else (places[-1] + 1 if places else 0)
        while steps and cut > 0 and _is_said(rest[cut - 1]):
            cut -= 1
        for place, unit in enumerate(rest):
            if unit.pending or unit.is_trace or unit.is_summary or _is_block(unit):
                continue
            if place >= cut or (_is_said(unit) and unit.turn == self._context.cursor.turn):
                yield unit

    def _payloads(self, units: Iterable[Unit]) -> Iterator[Payload]:
        """Messages as they arrived, without what is not of these units; bound thinking stays behind (N3b)."""
        binds = self._state.binds_thinking
        kept = {
            item.id: item.logged
            for unit in units
            for item in unit.items
            if item.logged is not None and not (binds and item.kind is ItemKind.THINKING)
        }
        for place in sorted(set(kept.values()), key=lambda place: place.start):
            record = self._store.log.read(place)
            payload = self._of_these(record, kept) if record.source == CONVERSATION.name else None
            if payload is not None:
                yield payload

    def _of_these(self, record: LogRecord, kept: Iterable[str]) -> Payload | None:
        payload, wanted = self._format.normalise(record.payload), frozenset(kept)
        parts = zip(self._format.read(payload), record.items, strict=True)
        gone = {part.place: None for part, key in parts if key and key not in wanted}
        return self._format.edit(payload, gone) if gone else record.payload

    # -- inside: the account -------------------------------------------------------------------------------------------

    def _originals_of(self, unit: Unit) -> Iterator[Item]:
        """What the unit stands for, as it arrived; of a digest nothing, for its entries are taken over."""
        if unit.level is Level.DIGEST or _is_block(unit):
            return
        for item in unit.items:
            if unit.is_summary or unit.is_trace:
                if item.reference is not None:
                    yield from self._span(item.reference, 0)
            elif item.form is Form.WHOLE:
                yield item
            else:
                text = self._original(item)
                whole = attrs.evolve(item, text=text, form=Form.WHOLE, reference=None, scan=scan(text))
                yield attrs.evolve(whole, tokens=item.original_tokens)

    def _entries(self, older: Iterable[Unit]) -> Iterator[str]:
        """What is told already: by the account that this session began with, and by its own digests."""
        known = self._state.blocks.newest.get((HANDOFF.name, ACCOUNT), "")
        if known:
            yield from entries_of(super().recall(known))  # from the log: it may have left the window
        digests = (unit.items[0].text for unit in older if unit.level is Level.DIGEST)
        tag, last = tag_of(self._store.session), self._context.cursor.items
        yield from (tagged(entry, tag, last) for text in digests for entry in entries_of(text))

    def _account_of(self, opening: Opening, tokens: int) -> Steps[str]:
        """The account in at most so many tokens; "" where nothing was said and done that is not handed on."""
        if not opening.items and not opening.entries:
            return ""
        session, count = self._store.session, self._counter.count
        where = "" if self._store.temporary else str(self.directory / FILE_NAME)
        room = max(1, tokens - count(account(session, where, opening.items, ())) - _SEAM)
        names = dict.fromkeys(name for item in opening.items for span in item.scan.spans for name in span.names)
        request = SummaryRequest(
            items=opening.items,
            max_tokens=room,
            entries=opening.entries,
            room=room,
            names=tuple(names),
            form=SummaryForm.DIGEST,
            count=count,
        )
        written = yield from self._answering.steps(request)
        entries = (line for line in written.text.splitlines() if line.removeprefix(BULLET) != FACTS_HEAD)
        lines = [tagged(line, tag_of(session), opening.last) for line in entries]
        fitted = digest_text(attrs.evolve(request, entries=tuple(lines)), "")
        return account(session, where, opening.items, fitted.splitlines())

    # -- inside: where it comes from -----------------------------------------------------------------------------------

    def _lineage(self, parent: Handing, text: str, state: TaskState) -> Inherited:
        """Of the sessions before, those of which something is told: a chain of handoffs remembers no more."""
        told = {tag_of(parent._store.session)}
        told |= {found["tag"] for found in OTHER.finditer(text)}
        told |= {found["tag"] for key in state.references() if (found := OTHER.search(key))}
        directory = "" if parent._store.temporary else str(parent.directory)
        own = Ancestor(session=parent._store.session, directory=directory)
        before = () if (known := parent._inherited) is None else known.ancestors
        ancestors = tuple(each for each in (own, *before) if tag_of(each.session) in told)
        self._kin = parent._kin | {tag_of(own.session): weakref.ref(parent)}
        self._kin = {tag: kin for tag, kin in self._kin.items() if tag in told}
        return Inherited(ancestors=ancestors, state=state.to_json())

    @property
    def _inherited(self) -> Inherited | None:
        """What the session was handed, from its files; it stands before everything that was done."""
        known = self._inheritance
        return None if known is None else known[1]

    @property
    def _inheritance(self) -> tuple[int, Inherited] | None:
        """The same, with the place in the log at which it was handed."""
        for _, entry in self._store.ledger.entries():
            if isinstance(entry.record, Inherited):
                return entry.at, entry.record
            if isinstance(entry.record, Sent | Observed | Collected):
                break
        return None

    def _first_state(self) -> tuple[TaskState, int]:
        known = self._inheritance
        return super()._first_state() if known is None else (TaskState.from_json(known[1].state), known[0])

    def _of_kin(self, tag: str, read: Callable[[Past], R]) -> R:
        """What is read of a session before this one, by its tag."""
        kin = self._kin.get(tag)
        session = None if kin is None else kin()
        if session is not None and not session._is_over:
            return read(session)
        ancestors = () if (known := self._inherited) is None else known.ancestors
        found = next((each for each in ancestors if tag_of(each.session) == tag), None)
        if found is None:
            raise SourceError(f"@{tag}: no session {tag} was handed on to this one")
        if not found.directory:
            raise SourceError(f"@{tag}: session {found.session} has ended, and it had no directory")
        with SessionReader(found.directory) as reader:
            return read(reader)

    def _close_files(self) -> None:
        super()._close_files()
        if self._hands_back is not None:
            self._hands_back.release()
            self._hands_back = None
        self._kin = {}


def _split(context: Context) -> tuple[list[Unit], list[Unit]]:
    """The original request, as it was handed on where it was, and all units behind it."""
    units = context.units()
    request: list[Unit] = []
    for unit in units:
        if unit.is_step or any(item.source == HANDOFF.name for item in unit.items):
            break
        if _is_said(unit):
            request.append(unit)
    numbers = {unit.number for unit in request}
    return request, [unit for unit in units if unit.number not in numbers]


def _is_said(unit: Unit) -> bool:
    """Whether it is what a user said."""
    return not unit.is_step and all(item.kind in _SAID and not item.synthetic for item in unit.items)


def _is_block(unit: Unit) -> bool:
    """Whether it is no part of the conversation: enrichment, memory, what the system said."""
    return all(item.source != CONVERSATION.name for item in unit.items)


def _original_tokens(unit: Unit) -> int:
    return sum(item.original_tokens for item in unit.items)
