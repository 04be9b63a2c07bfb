"""A session as its files tell it, without its lock: another process may be writing it meanwhile."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Self, Unpack

from gc_core.errors import LogError
from gc_core.plugins.manager import Plugins
from gc_core.session.facts import SessionFacts
from gc_core.session.history import History, HistoryEntry
from gc_core.session.runtime import CallGate, Events, Runtime, synchronized
from gc_core.storage.contents import Passage
from gc_core.storage.facts import FactChange, FactStore, Promotion
from gc_core.storage.master_log import FILE_NAME
from gc_core.storage.recorder import Recorder
from gc_core.storage.search import Filters, Hit, index_file
from gc_core.storage.state import Settings
from gc_core.storage.store import Store
from gc_core.storage.usage_ledger import LedgerAccount
from gc_core.values.folders import TemporaryFolder
from gc_core.values.messages import Request
from gc_core.values.sources import CONVERSATION

if TYPE_CHECKING:
    from gc_core.learning.contract import FactExtractor
    from gc_core.learning.proposals import Proposal


class SessionReader:
    """
    Recall, search, history and export of a session at the moment at which it was opened.

    Takes no lock and changes nothing, also where nothing may be written: the search index beside the log is used when
    it can be written, else one is made and thrown away. What would change the session raises LogError.

    Args:
        directory: The session's.

    Raises:
        LogError: There is not a session, or its files cannot be read or do not fit together.

    """

    def __init__(self, directory: str | Path) -> None:
        directory = Path(directory)
        if not (directory / FILE_NAME).is_file():
            raise LogError(f"{directory} holds no session: there is no {FILE_NAME}")
        self._temporary = contextlib.ExitStack()
        self.plugins = Plugins()
        store = Store(directory, writable=False)
        with contextlib.ExitStack() as undo:
            undo.callback(store.close)
            _end_at_one_moment(store)
            settings = Settings.of(store.settings(), None, None)
            fresh = functools.partial(settings.fresh, store.payload, cites=True)
            recorder = Recorder(store, store.state_at(store.position, fresh))
            self._runtime = Runtime(
                plugins=self.plugins, recorder=recorder, events=Events(self.plugins), settings=settings
            )
            undo.pop_all()
        self._gate = CallGate(self._runtime)
        index = _Index(store.directory, self._temporary)
        self._history = History(self._runtime, index.path)
        self._facts = SessionFacts(self._runtime)

    @property
    def format(self) -> str:
        """Name of the provider's message shape, ``"openai"`` for instance."""
        return self._runtime.format.name

    @property
    def directory(self) -> Path:
        """Where the session's files lie."""
        return self._runtime.directory

    @synchronized
    def recall(self, item: str) -> str:
        """
        Return the original text of an item, as it arrived: resident or not, also of an earlier life of the session.

        Takes an id (``i42``), a range of ids (``i5-i20``), a byte range (``master.jsonl:123-456``), or the whole text
        of a stub or trace that names one. What a range names is told item by item. Raises SourceError when the id was
        never given, LogError when no line stands at the bytes.
        """
        return self._history.recall(item)

    @synchronized
    def contents(self, reference: str) -> tuple[Passage, ...]:
        """
        Return what a reference of a long stretch names, part by part, at most 20 of them: each with a reference of its
        own, to ``recall`` the one that is wanted instead of all. Takes what ``recall`` takes, and raises what it
        raises.
        """
        return self._history.contents(reference)

    @synchronized
    def search(self, query: str, **filters: Unpack[Filters]) -> tuple[Hit, ...]:
        """
        Return what was ever said that matches, best first, at most ``limit`` (10): see ``SearchIndex.search``.

        Filters: tool, role, first_turn, last_turn, since, until (seconds since 1970), entity. Over finished sessions
        see ``gc_core.search_sessions``.
        """
        return self._history.search(query, **filters)

    @synchronized
    def history(self) -> tuple[HistoryEntry, ...]:
        """Return what was done to the window, oldest first; reads the whole ledger."""
        return self._history.entries()

    @synchronized
    def promote(self, facts: FactStore, promotions: Iterable[Promotion]) -> tuple[FactChange, ...]:
        """
        Keep facts, decisions and constraints for later sessions, each with the item of this one that tells it; before
        ``close``. All or none. Raises SourceError when an item was never logged, LogError when one names a fact that
        does not live, or they cannot be written.
        """
        return self._facts.promote(facts, promotions)

    @synchronized
    def propose(self, facts: FactStore, extractor: FactExtractor | None = None) -> tuple[Proposal, ...]:
        """
        Return what this session's users said that is worth knowing later, compared with what is known: additions,
        updates, deletions, and what is left as it is. Nothing is written: hand what you confirm to ``accept``.

        Reads the whole log. What was accepted before, or said before a fact was, is not proposed again; what you
        passed over is. Raises LogError when the log cannot be read, SourceError when the extractor names an item that
        no user said.

        Args:
            facts: What is known; read again with ``FactStore(path)`` where another session may have promoted.
            extractor: Finds the statements, for instance by a model; by default ``WordedExtractor``.

        """
        return self._facts.propose(facts, extractor)

    @synchronized
    def accept(self, facts: FactStore, proposals: Iterable[Proposal]) -> tuple[FactChange, ...]:
        """
        Carry out what ``propose`` proposed, as ``promote`` does: all or none, and in their order.

        Raises LogError, with nothing written, when another session has changed one of the facts since; propose again.
        """
        return self.promote(facts, [each.promotion for each in proposals if each.promotion is not None])

    def originals(self, references: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        """
        Return each item that the references name, with its original text: see ``recall``.

        Raises SourceError, naming the reference, when one of them names nothing that was ever logged.
        """
        return tuple(found for reference in references for found in self._history.originals(reference))

    def window(self) -> Request:
        """Return the request as it is. What waits for the next one is not in the files."""
        return self._runtime.context.render()

    def whole(self) -> Request:
        """
        Return every message of the log as it arrived, also those that were taken back, after the newest system and
        tools.

        Enrichment, memory blocks and synthetic results are no messages of the log.
        """
        state = self._runtime.state
        messages = [
            record.payload for _, record in self._runtime.store.log.records() if record.source == CONVERSATION.name
        ]
        head = state.context.head
        texts = [part.text for part in head.parts.values()]
        return state.format.request(system=texts, tools=head.schemas, messages=messages, tokens=0)

    def account(self) -> LedgerAccount:
        """Return the accounts with the provider's prompt cache, call by call."""
        return LedgerAccount(self._runtime.store.ledger, self._runtime.settings.format)

    def close(self) -> None:
        """Close the files."""
        self._gate.closed = True
        self._history.close()
        self._runtime.store.close()
        self._temporary.close()

    def __enter__(self) -> Self:
        """Return the reader itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it; a forked child leaves it to its parent."""
        if not self._runtime.store.is_inherited:
            self.close()

    # -- what would change the session: each raises LogError -------------------------------------------------------

    def undo(self) -> NoReturn:
        """Raises LogError."""
        self._refuse()

    def redo(self) -> NoReturn:
        """Raises LogError."""
        self._refuse()

    def restore(self, _item: str) -> NoReturn:
        """Raises LogError."""
        self._refuse()

    def release(self) -> NoReturn:
        """Raises LogError."""
        self._refuse()

    def rewind(self, _turn: int) -> NoReturn:
        """Raises LogError."""
        self._refuse()

    def checkpoint(self) -> NoReturn:
        """Raises LogError."""
        self._refuse()

    def rollback(self, _checkpoint: object = None) -> NoReturn:
        """Raises LogError."""
        self._refuse()

    def load_facts(self, _facts: FactStore, *, cap: int = 1_000) -> NoReturn:  # noqa: ARG002 - as of a session
        """Raises LogError."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise LogError(f"{self.directory} was opened for reading alone")


class _Index:
    """Where the search index lies: beside the log where that can be written, else in a folder that is thrown away."""

    def __init__(self, directory: Path, temporary: contextlib.ExitStack) -> None:
        self._directory = directory
        self._temporary = temporary
        self._path: Path | None = None

    def path(self) -> Path:
        """Found once."""
        if self._path is None:
            self._path = self._found()
        return self._path

    def _found(self) -> Path:
        path = self._directory / index_file.FILE_NAME
        if path.is_file() and os.access(path, os.W_OK) and os.access(self._directory, os.W_OK):
            return path
        return self._temporary.enter_context(contextlib.closing(TemporaryFolder())).path / index_file.FILE_NAME


def _end_at_one_moment(store: Store) -> None:
    """
    Leave out what the ledger says of a log that is longer than it was seen: it was written since.

    The log was opened first, so what the ledger lacks of that log was not written then either.
    """
    newest = store.newest_checkpoint()
    for place, entry in store.ledger.entries(0 if newest is None else newest.at.ledger):
        if entry.at > store.log.size:
            store.ledger.journal.size = place.start
            return
