"""Errors of plugins: kept, logged, and counted, so that a plugin that fails repeatedly is quarantined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from gc_core.isolation import Attempt, PluginFailure, isolated
from gc_core.values.loggers import logger

_log = logger("gc_core.plugins")

QUARANTINE_AFTER: Final = 3
"""Failures in a row after which a strategy, a summarizer, a scorer or a hook implementation is no longer called."""

FAILED: Final = object()
"""The result of a failed call."""

MOST_FAILURES: Final = 100
"""The most failures that are kept: the first half permanently, and the newest; memory is bounded."""


class Faults:
    """
    The errors of plugins, and the plugins that are no longer called after repeated failures.

    Attributes:
        failures: Oldest first; if there are very many, the first and the newest.

    """

    def __init__(self) -> None:
        self.failures: list[PluginFailure] = []
        self._in_a_row: dict[tuple[str, str], int] = {}

    @contextmanager
    def guarded(self, plugin: str, doing: str, distribution: str = "") -> Iterator[Attempt]:
        """Run a plugin's code: its errors are recorded and go no further."""
        with isolated() as attempt:
            yield attempt
        if attempt.error is not None:
            attempt.failure = self._keep(plugin, doing, attempt.error, distribution)

    def attempted(self, plugin: str, doing: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return the result of a hook call under ``guarded``, or FAILED."""
        with self.guarded(plugin, doing):
            return call(*args, **kwargs)
        if self.is_quarantined(plugin, doing):
            _log.warning("plugin quarantined", plugin=plugin, doing=doing, failures=QUARANTINE_AFTER)
        return FAILED

    def forgive(self, plugin: str, doing: str) -> None:
        """Reset the count after a success: earlier failures are not repeated ones any more."""
        self._in_a_row.pop((plugin, doing), None)

    def forget(self, plugin: str) -> None:
        """Forget a plugin that left: a new one under its name starts over."""
        for key in [key for key in self._in_a_row if key[0] == plugin]:
            del self._in_a_row[key]

    def is_quarantined(self, plugin: str, doing: str) -> bool:
        """Return whether it is no longer called after repeated failures."""
        return self._in_a_row.get((plugin, doing), 0) >= QUARANTINE_AFTER

    def _keep(self, plugin: str, doing: str, error: BaseException, distribution: str) -> PluginFailure:
        failure = PluginFailure(plugin=plugin, doing=doing, error=error, distribution=distribution)
        self.failures.append(failure)
        if len(self.failures) > MOST_FAILURES:
            del self.failures[MOST_FAILURES // 2]
        self._in_a_row[plugin, doing] = self._in_a_row.get((plugin, doing), 0) + 1
        _log.warning("plugin failed", plugin=plugin, doing=doing, error=str(failure), exc_info=error)
        return failure
