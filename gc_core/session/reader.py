"""A session read from its files, without its lock: another process may be writing it meanwhile."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self, Unpack

from gc_core.errors import LogError
from gc_core.plugins.manager import Plugins
from gc_core.providers.contract import TokenCounter
from gc_core.session.facts import SessionFacts
from gc_core.session.history import History
from gc_core.session.runtime import CallGate, Events, Runtime, synchronized
from gc_core.storage.contents import Passage
from gc_core.storage.history import HistoryEntry
from gc_core.storage.master_log import FILE_NAME
from gc_core.storage.recorder import Recorder
from gc_core.storage.search import Filters, Hit, index_file
from gc_core.storage.state import Settings
from gc_core.storage.store import Store
from gc_core.storage.usage_ledger import LedgerAccount
from gc_core.values.config import GCConfig
from gc_core.values.folders import TemporaryFolder
from gc_core.values.items import Item
from gc_core.values.messages import Request
from gc_core.values.sources import CONVERSATION
from gc_core.values.validators import check_kind, listed, path_of

if TYPE_CHECKING:
    from gc_core.learning.contract import FactExtractor
    from gc_core.learning.proposals import Proposal
    from gc_core.storage.facts import FactChange, FactStore, Promotion
    from gc_core.task.values import TaskState


class SessionReader:
    """
    Recall, search, history and export of a session as it was when it was opened.

    Takes no lock and changes nothing, so it works where writing is not allowed: the search index next to the log is
    used if it can be written, otherwise a temporary one is made. Methods that would change the session raise LogError.

    Args:
        directory: The session's.

    Raises:
        LogError: There is no session, or its files cannot be read or contradict each other.
        ConfigError: The directory is not a path.

    """

    def __init__(self, directory: str | Path) -> None:
        directory = path_of("directory", directory)
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
        """The name of the provider's message shape, for example ``"openai"``."""
        return self._runtime.format.name

    @property
    def directory(self) -> Path:
        """The directory of the session's files."""
        return self._runtime.directory

    @property
    def id(self) -> str:
        """The session's id."""
        return self._runtime.store.session

    @property
    def config(self) -> GCConfig:
        """The configuration with which the session was last opened."""
        return self._runtime.config

    @property
    def counter(self) -> TokenCounter:
        """The token counter."""
        return self._runtime.counter

    @synchronized
    def items(self) -> tuple[Item, ...]:
        """Return the resident items."""
        return tuple(self._runtime.context.items())

    @synchronized
    def snapshot(self) -> dict[str, Any]:
        """Return the budget as plain JSON: limits, roll-ups and the whole tree."""
        return self._runtime.context.budget.snapshot()

    def estimate(self, tokens: int) -> int:
        """Convert this many tokens of the budget to the provider's count, as its reports calibrated it."""
        check_kind("tokens", tokens, int, "a number of tokens")
        return self._runtime.state.calibration.estimate(tokens)

    @property
    @synchronized
    def state(self) -> TaskState:
        """
        The task state found in everything said in this session, without what an earlier one handed on. Raises LogError
        when the log cannot be read.
        """
        from gc_core.session.task_reader import TaskReader
        from gc_core.task.extractor import DeterministicExtractor
        from gc_core.task.values import TaskState

        return TaskReader(
            self._runtime, extractor=DeterministicExtractor(), first=lambda: (TaskState(), 0)
        ).look()  # fmt: skip

    @synchronized
    def recall(self, item: str) -> str:
        """Return the original text of an item, whether it is resident or not; see ``GCSession.recall``."""
        return self._history.recall(item)

    @synchronized
    def contents(self, reference: str) -> tuple[Passage, ...]:
        """
        Return the parts of what a long reference names, at most 20: each with its own reference, so that one can
        be recalled instead of all. Takes what ``recall`` takes, and raises what it raises.
        """
        return self._history.contents(reference)

    @synchronized
    def search(self, query: str, **filters: Unpack[Filters]) -> tuple[Hit, ...]:
        """Search everything that was ever said; see ``GCSession.search``."""
        return self._history.search(query, **filters)

    @synchronized
    def history(self) -> tuple[HistoryEntry, ...]:
        """Return the changes of the window, oldest first; reads the whole ledger."""
        return self._history.entries()

    @synchronized
    def promote(self, facts: FactStore, promotions: Iterable[Promotion]) -> tuple[FactChange, ...]:
        """Store facts for later sessions; see ``GCSession.promote``."""
        return self._facts.promote(facts, promotions)

    @synchronized
    def propose(self, facts: FactStore, extractor: FactExtractor | None = None) -> tuple[Proposal, ...]:
        """Propose facts that this session's users stated; see ``GCSession.propose``."""
        return self._facts.propose(facts, extractor)

    @synchronized
    def accept(self, facts: FactStore, proposals: Iterable[Proposal]) -> tuple[FactChange, ...]:
        """Store what ``propose`` proposed; see ``GCSession.accept``."""
        return self.promote(facts, [each.promotion for each in proposals if each.promotion is not None])

    def originals(self, references: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        """
        Return the items that the references name, each with its original text: see ``recall``.

        Raises SourceError, naming the reference, when one of them names nothing that was ever logged.
        """
        return tuple(
            found
            for reference in listed("references", references, "references")
            for found in self._history.originals(reference)
        )

    def window(self) -> Request:
        """Return the current request. Blocks that wait for the next one are not in the files."""
        return self._runtime.context.render()

    def whole(self) -> Request:
        """
        Return every message of the log as it arrived, including rewound ones, after the newest system text and tools.

        Enrichment, memory blocks and synthetic results are not messages of the log.
        """
        state = self._runtime.state
        messages = [
            record.payload for _, record in self._runtime.store.log.records() if record.source == CONVERSATION.name
        ]
        head = state.context.head
        texts = [part.text for part in head.parts.values()]
        return state.format.request(system=texts, tools=head.schemas, messages=messages, tokens=0)

    def account(self) -> LedgerAccount:
        """Return the usage of the provider's prompt cache, call by call."""
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
        """Close the reader; a forked child leaves that to its parent."""
        if not self._runtime.store.is_inherited:
            self.close()

    # -- calls that would change the session: each raises LogError
    # -------------------------------------------------------

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
        raise LogError(f"{self.directory} was opened for reading only")


class _Index:
    """The place of the search index: next to the log if that can be written, otherwise a temporary directory."""

    def __init__(self, directory: Path, temporary: contextlib.ExitStack) -> None:
        self._directory = directory
        self._temporary = temporary
        self._path: Path | None = None

    def path(self) -> Path:
        """Return the path; determined once."""
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
    Ignore what the ledger says of a log longer than the one seen: it was written since.

    The log was opened first, so what is missing in the ledger was not written by then either.
    """
    newest = store.newest_checkpoint()
    for place, entry in store.ledger.entries(0 if newest is None else newest.at.ledger):
        if entry.at > store.log.size:
            store.ledger.journal.size = place.start
            return
