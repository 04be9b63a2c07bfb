"""
Handing off: another session starts with what it needs of this one, and returns its result.

Nothing is paraphrased twice: entries of the summary that the parent itself started with are copied, and everything else
is summarized from originals. So a chain of handoffs starts no longer than a single one.
"""

from __future__ import annotations

import contextlib
import re
import weakref
from collections.abc import Callable
from typing import Protocol, TypeVar

import attrs

from gc_core.collector.summarizing import Steps
from gc_core.errors import LeaseError, SourceError
from gc_core.session.history import History
from gc_core.session.reader import SessionReader
from gc_core.session.request_head import RequestHead
from gc_core.session.runtime import CallGate, Runtime
from gc_core.session.subtasks.handoff_opening import OpeningWriter
from gc_core.session.subtasks.handoff_texts import (
    OTHER,
    HandoffOptions,
    Opening,
    inherited,
    tag_of,
)
from gc_core.session.subtasks.lease import Lease
from gc_core.session.subtasks.leases import Leases
from gc_core.session.task_memory import TaskMemory
from gc_core.storage.contents import Passage
from gc_core.storage.ledger import Ancestor, Collected, Inherited, Observed, Sent
from gc_core.storage.store import Store
from gc_core.task.values import TaskState
from gc_core.values.config import GCConfig
from gc_core.values.layers import Private
from gc_core.values.loggers import logger
from gc_core.values.sources import InstructionSource

R = TypeVar("R")
C = TypeVar("C", bound="Child")

_log = logger("gc_core.session")


class Recalls(Protocol):
    """The readable parts of a session, running or not."""

    def recall(self, item: str, /) -> str:
        """Return the original text of what a reference names."""

    def contents(self, reference: str, /) -> tuple[Passage, ...]:
        """Return the parts of what a reference names."""


@attrs.frozen(kw_only=True)
class Handed:
    """
    The content that a child starts with.

    Attributes:
        opening: Parts, tools, memory and messages that are handed on.
        private: Texts that no shared layer may contain.
        sources: The parent's sources.
        account: The summary of everything else.
        state: The state of the parent's task, with references that the child can resolve.
        state_tokens: Tokens of the block that shows it.
        objective: The objective that the parent's host set, or "".
        parent: The parent's handoffs.
        lease: Tokens reserved at the parent for the result; None when nothing is returned.

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
        """Take over the handed-on content, in the order in which it will be read."""

    def close(self) -> None:
        """End the session."""


class Handoffs:
    """
    Hands parts of a session to another one, and reads the sessions that this one was handed off from.

    Args:
        runtime: The session's.
        gate: Lets one call in at a time, including children's.
        head: Holds the private texts.
        leases: Reserve tokens for results.
        task: Holds the task state.
        history: Recalls this session's messages.
        writer: Writes what a child starts with.

    """

    def __init__(
        self,
        runtime: Runtime,
        gate: CallGate,
        *,
        head: RequestHead,
        leases: Leases,
        task: TaskMemory,
        history: History,
        writer: OpeningWriter,
    ) -> None:
        self._runtime = runtime
        self._gate = gate
        self._head = head
        self._leases = leases
        self._task = task
        self._history = history
        self._writer = writer
        self._hands_back: Lease | None = None
        self._parent: Handoffs | None = None
        self._kin: dict[str, weakref.ref[Handoffs]] = {}

    def hand_back(self, result: object) -> tuple[str, ...]:
        """Deliver the result to the parent; see ``GCSession.hand_back``."""
        if self._hands_back is None:
            text = "no parent waits for a result: not handed off, handed off with result_tokens = 0, or reopened"
            raise LeaseError(text)
        return self._hands_back.deliver(result)

    def release(self) -> None:
        """Release the lease and the references to earlier sessions: this one has ended."""
        if self._hands_back is not None:
            self._hands_back.release()
            self._hands_back = self._parent = None
        self._kin = {}

    def recall(self, item: str) -> str:
        """
        Return the original text of what a reference names, here or in an earlier session; see
        ``GCSession.recall``.
        """
        found = self._elsewhere(item)
        if found is None:
            return self._history.recall(_ids(item))
        return self._of_kin(found["tag"], "recall", lambda kin: kin.recall(found["ids"]))

    def contents(self, reference: str) -> tuple[Passage, ...]:
        """Return what a reference names, part by part; see ``GCSession.contents``."""
        found = self._elsewhere(reference)
        if found is None:
            return self._history.contents(_ids(reference))
        passages = self._of_kin(found["tag"], "contents", lambda kin: kin.contents(found["ids"]))
        return tuple(attrs.evolve(each, reference=f"{each.reference}@{found['tag']}") for each in passages)

    # -- handing off ---------------------------------------------------------------------------------------------------

    def hand_off(self, wish: HandoffOptions, open_child: Callable[[GCConfig], C]) -> Steps[C]:
        """Open a child; messages that arrive while its summary is written are not part of it."""
        runtime = self._runtime
        lease = self._leases.lease_now(wish.result_tokens, wish.name) if wish.result_tokens else None
        with contextlib.ExitStack() as undo:
            if lease is not None:
                undo.callback(lease.release)
            config = wish.config or attrs.evolve(runtime.config, pinned_turn_indices=())
            opening = self._writer.opening(wish, config)
            state = inherited(self._task.reader.look(), tag_of(runtime.store.session))
            text = yield from self._writer.account_of(opening, wish.summary_tokens)
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
        """Record the parent of this session; ``text`` contains the references to items of earlier ones."""
        parent = handed.parent
        own, before, kin = parent.lineage()
        known = {tag_of(own.session)}
        known |= {found["tag"] for found in OTHER.finditer(text)}
        known |= {found["tag"] for key in handed.state.references() if (found := OTHER.search(key))}
        # Of a chain of handoffs, only those ancestors are kept that the text refers to.
        ancestors = tuple(each for each in (own, *before) if tag_of(each.session) in known)
        kin = kin | {tag_of(own.session): weakref.ref(parent)}
        self._kin = {tag: each for tag, each in kin.items() if tag in known}
        self._runtime.recorder.inherit(Inherited(ancestors=ancestors, state=handed.state.to_json()))

    def expect_result(self, handed: Handed) -> None:
        """Note that the parent waits for a result, if it reserved tokens, and keep it alive until then."""
        self._hands_back = handed.lease
        self._parent = None if handed.lease is None else handed.parent

    def lineage(self) -> tuple[Ancestor, tuple[Ancestor, ...], dict[str, weakref.ref[Handoffs]]]:
        """Return the session as an ancestor, its ancestors, and those of them that are running."""
        store = self._runtime.store
        own = Ancestor(session=store.session, directory="" if store.temporary else str(store.directory))
        known = self._inherited
        return own, () if known is None else known.ancestors, self._kin

    def for_child(self, name: str, read: Callable[[Recalls], R]) -> R:
        """Read this session for a child, as a call of this name."""
        with self._gate.call(name):
            return read(self)

    @property
    def is_over(self) -> bool:
        """True if the session takes no more calls."""
        return self._gate.is_over

    # -- inside: where it comes from -----------------------------------------------------------------------------------

    @property
    def _inherited(self) -> Inherited | None:
        """The content that the session was handed, from its files; it is recorded before everything else."""
        known = inheritance(self._runtime.store)
        return None if known is None else known[1]

    def _elsewhere(self, reference: object) -> re.Match[str] | None:
        """Return a reference to an item of another session; None for one of this session and for anything but text."""
        found = _tagged(reference)
        return None if found is None or found["tag"] == tag_of(self._runtime.store.session) else found

    def _of_kin(self, tag: str, name: str, read: Callable[[Recalls], R]) -> R:
        """Read an earlier session, by its tag."""
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
    """Return what a session was handed, from its files, with its place in the log; None if it was not handed off."""
    for _, entry in store.ledger.entries():
        if isinstance(entry.record, Inherited):
            return entry.at, entry.record
        if isinstance(entry.record, Sent | Observed | Collected):
            break
    return None


def first_state(store: Store) -> tuple[TaskState, int]:
    """Return the state at the start, and the bytes of the log that it already covers."""
    known = inheritance(store)
    return (TaskState(), 0) if known is None else (TaskState.from_json(known[1].state), known[0])


def _tagged(reference: object) -> re.Match[str] | None:
    """Return the item and the session's tag, if the reference names one."""
    return OTHER.search(reference, reference.rfind("[gc:") + 1) if isinstance(reference, str) else None


def _ids(reference: str) -> str:
    """Return the reference without the tag of its session."""
    found = _tagged(reference)
    return reference if found is None else found["ids"]
