"""The plugin border: the one place that catches any error of code that is not ours, and keeps what it caught."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import attrs

from gc_core.errors import PluginError
from gc_core.logs import logger

T = TypeVar("T")

_log = logger("gc_core.plugins")

QUARANTINE_AFTER = 3
"""Failures in a row after which a strategy, a summarizer, a scorer or a hook's implementation is no longer asked."""

FAILED: Final = object()
"""Instead of an answer: the call failed."""

MOST_FAILURES = 100
"""Failures that are kept: the first half for good, and the newest; memory holds the window, not the history."""


@attrs.frozen(kw_only=True)
class PluginFailure:
    """
    What a plugin did wrong.

    Attributes:
        plugin: Its name.
        doing: What it was asked for.
        error: What it raised.

    """

    plugin: str
    doing: str
    error: Exception

    def __str__(self) -> str:
        """One line that names plugin, occasion and error."""
        return f"{self.plugin} failed in {self.doing}: {type(self.error).__name__}: {_told(self.error)}"


@attrs.define
class Attempt:
    """How a call of a plugin's code went: ``error`` and ``failure``, which tells whose it was, are None when well."""

    error: Exception | None = None
    failure: PluginFailure | None = None


@contextmanager
def border() -> Iterator[Attempt]:
    """Catch any error; it is kept, and goes no further by itself."""
    attempt = Attempt()
    try:
        yield attempt
    except Exception as error:  # noqa: BLE001 - see above
        attempt.error = error


class Faults:
    """
    What plugins did wrong, and which of them failed so often in a row that they are no longer asked.

    Attributes:
        failures: Oldest first; of very many, the first and the newest.

    """

    def __init__(self) -> None:
        self.failures: list[PluginFailure] = []
        self._in_a_row: dict[tuple[str, str], int] = {}

    @contextmanager
    def guarded(self, plugin: str, doing: str) -> Iterator[Attempt]:
        """Run a plugin's code: what it raises is kept and goes no further."""
        with border() as attempt:
            yield attempt
        if attempt.error is not None:
            attempt.failure = self._keep(plugin, doing, attempt.error)

    def attempted(self, plugin: str, doing: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``guarded`` for a call of a hook, as cheap as can be: its answer, or FAILED."""
        try:
            return call(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - see above
            self._keep(plugin, doing, error)
            if self.is_quarantined(plugin, doing):
                _log.error("plugin quarantined", plugin=plugin, doing=doing, failures=QUARANTINE_AFTER)
            return FAILED

    def forgive(self, plugin: str, doing: str) -> None:
        """It went well: failures before that are no repeated ones any more."""
        self._in_a_row.pop((plugin, doing), None)

    def forget(self, plugin: str) -> None:
        """A plugin left: whoever comes under its name begins anew."""
        for key in [key for key in self._in_a_row if key[0] == plugin]:
            del self._in_a_row[key]

    def is_quarantined(self, plugin: str, doing: str) -> bool:
        """Whether it failed so often in a row that it is no longer asked."""
        return self._in_a_row.get((plugin, doing), 0) >= QUARANTINE_AFTER

    def _keep(self, plugin: str, doing: str, error: Exception) -> PluginFailure:
        failure = PluginFailure(plugin=plugin, doing=doing, error=error)
        self.failures.append(failure)
        if len(self.failures) > MOST_FAILURES:
            del self.failures[MOST_FAILURES // 2]
        self._in_a_row[plugin, doing] = self._in_a_row.get((plugin, doing), 0) + 1
        _log.warning("plugin failed", plugin=plugin, doing=doing, error=str(failure))
        return failure


def _told(error: Exception) -> str:
    """What an error says, or that it cannot say it: that is a plugin's code too."""
    with border() as attempt:
        told = str.__str__(str(error))
    return told if attempt.error is None else "it cannot be told"


def started(call: Callable[[], T]) -> Future[T]:
    """
    Begin a call in a thread of its own, which ends with the process: a plugin that never answers delays nobody's exit.

    The future holds the answer, or the error that was raised. Context variables are the caller's, a trace for instance.
    """
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # nobody can take the question back: an answer that comes late is of no use

    def run() -> None:
        try:
            with border() as attempt:
                future.set_result(call())
            if attempt.error is not None:
                future.set_exception(attempt.error)
        finally:
            if not future.done():
                future.set_exception(PluginError("it ended its thread instead of answering"))

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), name="gc-core", daemon=True).start()
    return future
