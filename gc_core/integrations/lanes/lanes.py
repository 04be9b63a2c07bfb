"""The lanes of a program: each conversation's session, in memory while it is used."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import uuid
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

import attrs

from gc_core.errors import LogError
from gc_core.integrations.lanes.codec import MessageCodec
from gc_core.integrations.lanes.histories import Histories
from gc_core.integrations.lanes.lane import Lane, ModelCall
from gc_core.isolation import isolated
from gc_core.session.session import GCSession
from gc_core.values.config import GCConfig
from gc_core.values.folders import private
from gc_core.values.loggers import logger

_log = logger("gc_core.lanes")

M = TypeVar("M")

MOST_OPEN = 100
"""Lanes in memory; the least used ones that are idle are closed first."""

_WINDOW = 200_000
"""Tokens of the window of a model that the price list does not name."""


class Lanes(Generic[M]):
    """
    The lanes of a program, by name or by history. Safe to call from threads.

    A lane without a directory is forgotten when it is closed, and its conversation is read again from the framework's
    own history. One with a directory goes on where it was, also in another process; while another process has it open,
    its conversation is read again, into a directory beside it.

    Args:
        codec: Reads and writes the framework's messages.
        format: The shape into which it reads them: ``"openai"``, ``"anthropic"``, ``"responses"`` or ``"gemini"``.
        config: How the lanes collect. Without one: ``gc_budget``, in the window of the model of the first call, or
            200,000 tokens for a model that is not listed.
        directory: The directory of the lanes' files; without one they are temporary.
        options: More keyword arguments for each ``GCSession``, such as ``summarizer`` and ``on_event``.

    """

    def __init__(
        self,
        codec: MessageCodec[M],
        *,
        format: str,  # noqa: A002 - the word users know it by
        config: GCConfig | None = None,
        directory: str | Path | None = None,
        **options: Any,
    ) -> None:
        self._codec = codec
        self._format = format
        self._config = config
        self._directory = None if directory is None else Path(directory)
        self._options = options
        self._open: OrderedDict[str, Lane[M]] = OrderedDict()
        self._histories = Histories(self._directory)
        self._mutex = threading.Lock()

    @contextlib.contextmanager
    def lane(self, key: str, model: str = "") -> Iterator[Lane[M]]:
        """
        Hold the lane of a conversation: it stays open inside the block. ``model`` sets the window of a new one.

        Raises ConfigError for a configuration or an option that no session accepts.
        """
        with self._held(self._digest(key), model, is_named=True) as lane:  # formats may share a directory
            yield lane

    @contextlib.contextmanager
    def lane_of(self, call: ModelCall[M], scope: str = "") -> Iterator[Lane[M]]:
        """
        Hold the lane of a conversation that has no name: of those in the scope the one whose history the call's list
        goes on with, else a new one. Conversations that begin alike part when their lists do, and the tools of none
        read what another one said. Raises what ``lane`` raises.
        """
        name = self._digest(scope)
        with isolated() as attempt:  # of a list that cannot be read, the lane says so
            payloads = filter(None, map(self._codec.payload, call.messages))
            history = self._histories.read(name, [*payloads], self._session)
        found = None if attempt.error is not None else self._histories.find(history)
        goes_on = found is not None and found.goes_on(history, self._session(found.key))
        folder = found.key if found is not None and goes_on else f"{name}-{uuid.uuid4().hex[:16]}"
        with self._held(folder, call.model, is_named=False) as lane:
            try:
                yield lane
            finally:
                if attempt.error is None:
                    self._histories.remember(history, folder, self._directory and lane.session.directory)

    def close(self) -> None:
        """Close all lanes. One that is asked for later is opened again."""
        with self._mutex:
            for lane in self._open.values():
                lane.session.close()
            self._open.clear()

    # -- inside --------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _held(self, folder: str, model: str, *, is_named: bool) -> Iterator[Lane[M]]:
        with self._mutex:
            lane = self._open.get(folder) or Lane(self._opened(folder, model), self._codec, is_named=is_named)
            self._open[folder] = lane
            self._open.move_to_end(folder)
            lane.users += 1
            self._close_least_used()
        try:
            yield lane
        finally:
            with self._mutex:
                lane.users -= 1

    def _digest(self, key: str) -> str:
        named = f"{self._format}|{key}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(named, digest_size=16).hexdigest()

    def _session(self, folder: str) -> GCSession | None:
        """Return the session of a lane in memory."""
        with self._mutex:
            lane = self._open.get(folder)
        return None if lane is None else lane.session

    def _close_least_used(self) -> None:
        idle = [key for key, lane in self._open.items() if not lane.users]
        for key in idle[: max(0, len(self._open) - MOST_OPEN)]:
            self._open.pop(key).session.close()

    def _opened(self, folder: str, model: str) -> GCSession:
        config = self._config or _config_for(model)
        directory = None
        if self._directory is not None:
            directory = private(self._directory) / folder
            with contextlib.suppress(FileNotFoundError):
                session = self._continued(directory, config)
                if session is not None:
                    return session
                directory = directory.with_name(f"{directory.name}-{uuid.uuid4().hex[:8]}")
        more = {"model": model or None, "directory": directory, **self._options}
        return GCSession(config, format=self._format, **more)

    def _continued(self, directory: Path, config: GCConfig) -> GCSession | None:
        """Return the session of a directory; None if it cannot be opened. Raises FileNotFoundError if there is none."""
        (directory / "master.jsonl").stat()
        try:
            return GCSession.open(directory, config, **self._options)
        except LogError as error:
            _log.warning("lane cannot be opened", lane=directory.name, error=str(error)[:500])
            return None


def _config_for(model: str) -> GCConfig:
    from gc_core.providers.prices import window_of

    config = GCConfig(strategy="gc_budget")
    return attrs.evolve(config, context_limit=(window_of(model) if model else 0) or _WINDOW)
