"""
Handing off: another session begins with what it needs of this one, and its result comes back.

Nothing is told twice in other words: of what the parent itself began with, the account of the child takes entries over
as they stand, and everything else is told from originals. So a chain of handoffs begins with no more than one does.
"""

from __future__ import annotations

import contextlib
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

import attrs

from gc_core.collector.summarizing import Steps
from gc_core.errors import LeaseError, SourceError
from gc_core.relevance.name_scan import scan
from gc_core.session.archive import Archive
from gc_core.session.collection_runner import CollectionRunner
from gc_core.session.history import History
from gc_core.session.reader import SessionReader
from gc_core.session.request_head import RequestHead
from gc_core.session.runtime import SEAM, CallGate, Runtime
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
from gc_core.session.subtasks.leases import Lease, Leases
from gc_core.session.task_memory import TaskMemory
from gc_core.storage.contents import Passage
from gc_core.storage.ledger import Ancestor, Collected, Inherited, Observed, Sent
from gc_core.storage.master_log import FILE_NAME, LogRecord
from gc_core.storage.store import Store
from gc_core.summaries.digests import digest_text
from gc_core.summaries.validation import FACTS_HEAD
from gc_core.task.values import TaskState
from gc_core.values.config import GCConfig
from gc_core.values.items import Form, Item, ItemKind, Level, Unit
from gc_core.values.layers import Private, SystemPart, is_own
from gc_core.values.loggers import logger
from gc_core.values.messages import Payload
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import CONVERSATION, PLUGIN, SYSTEM, TASK_STATE, InstructionSource
from gc_core.values.summary import BULLET, SummaryForm, SummaryRequest, entries_of
from gc_core.window.compaction_carryover import carried
from gc_core.window.context import Context

R = TypeVar("R")
C = TypeVar("C", bound="Child")

_log = logger("gc_core.session")

_SAID = frozenset({ItemKind.USER_TEXT, ItemKind.ATTACHMENT, ItemKind.OPAQUE})


class Recalls(Protocol):
    """What can be read of a session: of one that runs, or of its files."""

    def recall(self, item: str, /) -> str:
        """The original text of what a reference names."""

    def contents(self, reference: str, /) -> tuple[Passage, ...]:
        """The same, part by part."""


@attrs.frozen(kw_only=True)
class Handed:
    """
    What a child begins with.

    Attributes:
        opening: Parts, tools, memory and messages that are handed on.
        private: Texts that no shared layer may hold.
        sources: The parent's.
        account: One text that stands for everything else.
        state: The state of the parent's task, with references as the child knows them.
        state_tokens: Tokens of the block that shows it.
        objective: The objective that the parent's host set, or "".
        parent: Who handed it.
        lease: Room at the parent for the result; None when nothing comes back.

    """

    opening: Opening
    private: Private
    sources: tuple[InstructionSource, ...]
    account: str
    state: TaskState
    state_tokens: int
    objective: str
    parent: Handoffs
    lease: Lease | None


class Child(Protocol):
    """Another session, just opened."""

    runtime: Runtime

    def begin_with(self, handed: Handed) -> None:
        """Take what was handed, in the order in which it will be read."""

    def close(self) -> None:
        """End the session."""


class Handoffs:
    """
    Hands parts of a session on to another one, and reads of the sessions from which it was itself handed on.

    Args:
        runtime: The session's.
        gate: Lets one call in at a time, those of children too.
        head: Holds the texts that are private.
        leases: Keep room for results.
        task: Keeps the state of the task.
        archive: Reads originals.
        history: Recalls what was said in this session.
        collections: Knows who writes summaries.

    """

    def __init__(
        self,
        runtime: Runtime,
        gate: CallGate,
        *,
        head: RequestHead,
        leases: Leases,
        task: TaskMemory,
        archive: Archive,
        history: History,
        collections: CollectionRunner,
    ) -> None:
        self._runtime = runtime
        self._gate = gate
        self._head = head
        self._leases = leases
        self._task = task
        self._archive = archive
        self._history = history
        self._collections = collections
        self._hands_back: Lease | None = None
        self._parent: Handoffs | None = None
        self._kin: dict[str, weakref.ref[Handoffs]] = {}

    def hand_back(self, result: object) -> tuple[str, ...]:
        """Give the result to the parent; see ``GCSession.hand_back``."""
        if self._hands_back is None:
            text = "no parent waits for a result: not handed off, handed off with result_tokens = 0, or reopened"
            raise LeaseError(text)
        return self._hands_back.deliver(result)

    def release(self) -> None:
        """The session has ended: the room for its result is free, and nobody before it is known any more."""
        if self._hands_back is not None:
            self._hands_back.release()
            self._hands_back = self._parent = None
        self._kin = {}

    def recall(self, item: str) -> str:
        """The original text of what a reference names, here or in a session before; see ``GCSession.recall``."""
        found = self._elsewhere(item)
        if found is None:
            return self._history.recall(_ids(item))
        return self._of_kin(found["tag"], "recall", lambda kin: kin.recall(found["ids"]))

    def contents(self, reference: str) -> tuple[Passage, ...]:
        """What a reference names, part by part; see ``GCSession.contents``."""
        found = self._elsewhere(reference)
        if found is None:
            return self._history.contents(_ids(reference))
        passages = self._of_kin(found["tag"], "contents", lambda kin: kin.contents(found["ids"]))
        return tuple(attrs.evolve(each, reference=f"{each.reference}@{found['tag']}") for each in passages)

    # -- handing off ---------------------------------------------------------------------------------------------------

    def hand_off(self, wish: HandoffOptions, open_child: Callable[[GCConfig], C]) -> Steps[C]:
        """A child; what is said while its account is written is not in it."""
        runtime = self._runtime
        lease = self._leases.lease_now(wish.result_tokens, wish.name) if wish.result_tokens else None
        with contextlib.ExitStack() as undo:
            if lease is not None:
                undo.callback(lease.release)
            config = wish.config or attrs.evolve(runtime.config, pinned_turn_indices=())
            opening = self._opening(wish, config)
            state = inherited(self._task.look(), tag_of(runtime.store.session))
            text = yield from self._account_of(opening, wish.summary_tokens)
            text = runtime.plugins.redact(text) if runtime.plugins.redacts else text
            child = open_child(config)
            undo.callback(child.close)
            handed = Handed(
                opening=opening,
                private=self._head.private,
                sources=tuple(runtime.context.budget.sources),
                account=text,
                state=state,
                state_tokens=wish.summary_tokens,
                objective=runtime.state.objective.given,
                parent=self,
                lease=lease,
            )
            child.begin_with(handed)
            opened = child.runtime
            _log.info("session handed off", child=opened.store.session, tokens=opened.context.budget.total)
            undo.pop_all()
        return child

    def inherit(self, handed: Handed, text: str) -> None:
        """Write down from whom this session was handed on; ``text`` is what names items of those before."""
        parent = handed.parent
        own, before, kin = parent.lineage()
        known = {tag_of(own.session)}
        known |= {found["tag"] for found in OTHER.finditer(text)}
        known |= {found["tag"] for key in handed.state.references() if (found := OTHER.search(key))}
        # Of a chain of handoffs those are remembered of which something is told.
        ancestors = tuple(each for each in (own, *before) if tag_of(each.session) in known)
        kin = kin | {tag_of(own.session): weakref.ref(parent)}
        self._kin = {tag: each for tag, each in kin.items() if tag in known}
        self._runtime.recorder.inherit(Inherited(ancestors=ancestors, state=handed.state.to_json()))

    def expect_result(self, handed: Handed) -> None:
        """The parent waits for a result, where room is kept for it, and lives on until then."""
        self._hands_back = handed.lease
        self._parent = None if handed.lease is None else handed.parent

    def lineage(self) -> tuple[Ancestor, tuple[Ancestor, ...], dict[str, weakref.ref[Handoffs]]]:
        """The session as an ancestor, those before it, and those of them that run."""
        store = self._runtime.store
        own = Ancestor(session=store.session, directory="" if store.temporary else str(store.directory))
        known = self._inherited
        return own, () if known is None else known.ancestors, self._kin

    def for_child(self, name: str, read: Callable[[Recalls], R]) -> R:
        """What a child reads of this session, as a call of this name."""
        with self._gate.call(name):
            return read(self)

    @property
    def is_over(self) -> bool:
        """Whether the session takes no call any more."""
        return self._gate.is_over

    # -- inside: what is handed on -------------------------------------------------------------------------------------

    def _opening(self, wish: HandoffOptions, config: GCConfig) -> Opening:
        context = self._runtime.state.changed(self._runtime.state.changes, self._runtime.context)
        wants = wish.chooser(source.name for source in self._runtime.context.budget.sources)
        request, rest = _split(self._runtime.context)
        newest = self._newest(rest, wish, config, request)
        stays = {unit.number for unit in (*request, *newest)}
        older = [unit for unit in rest if unit.number not in stays and not unit.pending]
        head = context.head
        schemas = tuple(each for each in head.schemas if wants(PLUGIN.name, self._runtime.format.schema_name(each)))
        names = {self._runtime.format.schema_name(each) for each in schemas}
        return Opening(
            parts=tuple(self._parts_wanted(context, wants)),
            schemas=schemas,
            discoverable=head.discoverable & names,
            memory=tuple(self._memory_wanted(wants)),
            request=tuple(self._payloads(request)),
            newest=tuple(self._payloads(newest)),
            items=tuple(item for unit in older for item in self._originals_of(unit)),
            entries=tuple(self._entries(older)),
            last=self._runtime.context.cursor.items,
        )

    def _parts_wanted(self, context: Context, wants: Callable[[str, str], bool]) -> Iterator[SystemPart]:
        """Parts of the system text; what was said in the system's name within the conversation becomes one."""
        for part in context.head.parts.values():
            if not is_own(part.source, part.name) and wants(part.source, part.name):
                yield part
        tag = tag_of(self._runtime.store.session)
        for item in (item for message in context.messages for item in message.items):
            name = f"{item.id}@{tag}"
            if item.kind is ItemKind.SYSTEM_TEXT and item.source == SYSTEM.name and wants(SYSTEM.name, name):
                yield SystemPart(source=SYSTEM.name, name=name, text=item.text, policy=GCPolicy.LOCKED)

    def _memory_wanted(self, wants: Callable[[str, str], bool]) -> Iterator[tuple[str, str, str]]:
        """The newest memory blocks that are held, those that wait included; what handoffs gave is given anew."""
        blocks = self._runtime.state.blocks
        stands = carried(self._runtime.context, blocks, self._runtime.state.pinned_turns)
        found = {(block.source, block.name): block for block in (*stands, *blocks.waiting)}
        for block in found.values():
            policy = block.policy or self._runtime.context.budget.source(block.source).policy
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
        room -= sum(item.tokens for item in self._runtime.context.head_items())
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
            if place >= cut or (_is_said(unit) and unit.turn == self._runtime.context.cursor.turn):
                yield unit

    def _payloads(self, units: Iterable[Unit]) -> Iterator[Payload]:
        """Messages as they arrived, without what is not of these units; bound thinking stays behind (N3b)."""
        binds = self._runtime.state.binds_thinking
        kept = {
            item.id: item.logged
            for unit in units
            for item in unit.items
            if item.logged is not None and not (binds and item.kind is ItemKind.THINKING)
        }
        for place in sorted(set(kept.values()), key=lambda place: place.start):
            record = self._runtime.store.log.read(place)
            payload = self._of_these(record, kept) if record.source == CONVERSATION.name else None
            if payload is not None:
                yield payload

    def _of_these(self, record: LogRecord, kept: Iterable[str]) -> Payload | None:
        payload, wanted = self._runtime.format.normalise(record.payload), frozenset(kept)
        parts = zip(self._runtime.format.read(payload), record.items, strict=True)
        gone = {part.place: None for part, key in parts if key and key not in wanted}
        return self._runtime.format.edit(payload, gone) if gone else record.payload

    # -- inside: the account -------------------------------------------------------------------------------------------

    def _originals_of(self, unit: Unit) -> Iterator[Item]:
        """What the unit stands for, as it arrived; of a digest nothing, for its entries are taken over."""
        if unit.level is Level.DIGEST or _is_block(unit):
            return
        for item in unit.items:
            if unit.is_summary or unit.is_trace:
                if item.reference is not None:
                    yield from self._archive.span(item.reference, 0)
            elif item.form is Form.WHOLE:
                yield item
            else:
                text = self._archive.original(item)
                whole = attrs.evolve(item, text=text, form=Form.WHOLE, reference=None, scan=scan(text))
                yield attrs.evolve(whole, tokens=item.original_tokens)

    def _entries(self, older: Iterable[Unit]) -> Iterator[str]:
        """What is told already: by the account that this session began with, and by its own digests."""
        known = self._runtime.state.blocks.newest.get((HANDOFF.name, ACCOUNT), "")
        if known:
            yield from entries_of(self._history.recall(known))  # from the log: it may have left the window
        digests = (unit.items[0].text for unit in older if unit.level is Level.DIGEST)
        tag, last = tag_of(self._runtime.store.session), self._runtime.context.cursor.items
        yield from (tagged(entry, tag, last) for text in digests for entry in entries_of(text))

    def _account_of(self, opening: Opening, tokens: int) -> Steps[str]:
        """The account in at most so many tokens; "" where nothing was said and done that is not handed on."""
        if not opening.items and not opening.entries:
            return ""
        session, count = self._runtime.store.session, self._runtime.counter.count
        where = "" if self._runtime.store.temporary else str(self._runtime.directory / FILE_NAME)
        room = max(1, tokens - count(account(session, where, opening.items, ())) - SEAM)
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
        written = yield from self._collections.answering.steps(request)
        entries = (line for line in written.text.splitlines() if line.removeprefix(BULLET) != FACTS_HEAD)
        lines = [tagged(line, tag_of(session), opening.last) for line in entries]
        fitted = digest_text(attrs.evolve(request, entries=tuple(lines)), "")
        return account(session, where, opening.items, fitted.splitlines())

    # -- inside: where it comes from -----------------------------------------------------------------------------------

    @property
    def _inherited(self) -> Inherited | None:
        """What the session was handed, from its files; it stands before everything that was done."""
        known = inheritance(self._runtime.store)
        return None if known is None else known[1]

    def _elsewhere(self, reference: object) -> re.Match[str] | None:
        """A reference to an item of another session; None for one of this session, and for what is no text."""
        found = _tagged(reference)
        return None if found is None or found["tag"] == tag_of(self._runtime.store.session) else found

    def _of_kin(self, tag: str, name: str, read: Callable[[Recalls], R]) -> R:
        """What is read of a session before this one, by its tag."""
        kin = self._kin.get(tag)
        session = None if kin is None else kin()
        if session is not None and not session.is_over:
            return session.for_child(name, read)
        ancestors = () if (known := self._inherited) is None else known.ancestors
        found = next((each for each in ancestors if tag_of(each.session) == tag), None)
        if found is None:
            raise SourceError(f"@{tag}: no session {tag} was handed on to this one")
        if not found.directory:
            raise SourceError(f"@{tag}: session {found.session} has ended, and it had no directory")
        with SessionReader(found.directory) as reader:
            return read(reader)


def inheritance(store: Store) -> tuple[int, Inherited] | None:
    """What a session was handed, from its files, with the place in the log at which it was handed."""
    for _, entry in store.ledger.entries():
        if isinstance(entry.record, Inherited):
            return entry.at, entry.record
        if isinstance(entry.record, Sent | Observed | Collected):
            break
    return None


def first_state(store: Store) -> tuple[TaskState, int]:
    """The state before anything was said here, and the bytes of the log that it tells of already."""
    known = inheritance(store)
    return (TaskState(), 0) if known is None else (TaskState.from_json(known[1].state), known[0])


def _tagged(reference: object) -> re.Match[str] | None:
    """The item of a session by its tag, where the reference names one."""
    return OTHER.search(reference, reference.rfind("[gc:") + 1) if isinstance(reference, str) else None


def _ids(reference: str) -> str:
    """The reference without the tag of its session."""
    found = _tagged(reference)
    return reference if found is None else found["ids"]


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
