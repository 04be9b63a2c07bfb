"""A session as its files tell it, without its lock: another process may be writing it meanwhile."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from pathlib import Path
from typing import NoReturn, Self

from gc_core.errors import LogError
from gc_core.plugins.manager import Plugins
from gc_core.session.timeline import Past
from gc_core.storage.checkpoints import Checkpoint
from gc_core.storage.master_log import FILE_NAME
from gc_core.storage.recorder import Recorder
from gc_core.storage.search import index_file
from gc_core.storage.state import Settings
from gc_core.storage.store import Store
from gc_core.storage.usage_ledger import LedgerAccount
from gc_core.values.folders import TemporaryFolder
from gc_core.values.loggers import Scope
from gc_core.values.messages import Request
from gc_core.values.sources import CONVERSATION


class SessionReader(Past):
    """
    Recall, search, history and export of a session at the moment at which it was opened.

    Takes no lock and changes nothing, also where nothing may be written: the search index beside the log is used when
    it can be written, else one is made and thrown away. What would change the session raises LogError.

    Args:
        directory: The session's.

    Raises:
        LogError: There is no session, or its files cannot be read or do not fit together.

    """

    def __init__(self, directory: str | Path) -> None:
        directory = Path(directory)
        if not (directory / FILE_NAME).is_file():
            raise LogError(f"{directory} holds no session: there is no {FILE_NAME}")
        self._lock = threading.RLock()
        self._closed = False
        self._indexer = None
        self._temporary = contextlib.ExitStack()
        self.plugins = Plugins()
        store = Store(directory, writable=False)
        with contextlib.ExitStack() as undo:
            undo.callback(store.close)
            _end_at_one_moment(store)
            self._settings = Settings.of(store.settings(), None, None)
            fresh = functools.partial(self._settings.fresh, store.payload, cites=True)
            recorder = self._recorder = Recorder(store, store.state_at(store.position, fresh))
            self._scope = Scope(session=store.session, turn=lambda: recorder.state.context.cursor.turn)
            undo.pop_all()

    def originals(self, references: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        """
        Each item that the references name, with its original text: see ``recall``.

        Raises SourceError, naming the reference, when one of them names nothing that was ever logged.
        """
        return tuple(found for reference in references for found in self._recalled(reference))

    def window(self) -> Request:
        """The request as it stands. What waits for the next one is not in the files."""
        return self._recorder.state.context.render()

    def whole(self) -> Request:
        """
        Every message of the log as it arrived, also those that were taken back, behind the newest system and tools.

        Enrichment, memory blocks and synthetic results are no messages of the log.
        """
        state = self._recorder.state
        messages = [record.payload for _, record in self._store.log.records() if record.source == CONVERSATION.name]
        head = state.context.head
        texts = [part.text for part in head.parts.values()]
        return state.format.request(system=texts, tools=head.schemas, messages=messages, tokens=0)

    def account(self) -> LedgerAccount:
        """The accounts with the provider's prompt cache, call by call."""
        return LedgerAccount(self._store.ledger, self._settings.format)

    def checkpoint(self) -> Checkpoint:
        """Raises LogError."""
        self._refuse()

    def close(self) -> None:
        """Close the files."""
        self._closed = True
        self._close_files()
        self._temporary.close()

    def __enter__(self) -> Self:
        """The reader itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it; a forked child leaves it to its parent."""
        if not self._store.is_inherited:
            self.close()

    # -- inside --------------------------------------------------------------------------------------------------

    @functools.cached_property
    def _index_path(self) -> Path:
        path = self.directory / index_file.FILE_NAME
        if path.is_file() and os.access(path, os.W_OK) and os.access(self.directory, os.W_OK):
            return path
        return self._temporary.enter_context(contextlib.closing(TemporaryFolder())).path / index_file.FILE_NAME

    def _window_changed(self) -> None:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise LogError(f"{self.directory} was opened for reading alone")


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
