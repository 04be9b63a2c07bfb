"""Isolation of plugins: the one place that catches any error of foreign code, and records it."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import attrs

from gc_core.errors import PluginError

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class PluginFailure:
    """
    An error of a plugin.

    Attributes:
        plugin: Its name.
        doing: What it was called for.
        error: What it raised.
        distribution: The installed distribution that it came with; "" if there is none or it does not matter.

    """

    plugin: str
    doing: str
    error: BaseException
    distribution: str = ""

    def __str__(self) -> str:
        """Return one line that names plugin, distribution, occasion and error."""
        of = f" of distribution {self.distribution}" if self.distribution not in {"", self.plugin} else ""
        return f"{self.plugin}{of} failed in {self.doing}: {told(self.error)}"


@attrs.define
class Attempt:
    """The outcome of a call of a plugin's code: ``error`` and ``failure`` are None after a success."""

    error: BaseException | None = None
    failure: PluginFailure | None = None


@contextmanager
def isolated() -> Iterator[Attempt]:
    """
    Catch any error and record it; it is not raised again.

    This includes errors that derive from BaseException only, such as a panic in Rust. Only what ends a process, a
    generator or the surrounding task is raised again: that is up to their owners.
    """
    attempt = Attempt()
    try:
        yield attempt
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        if _is_cancellation(error):
            raise
        attempt.error = error


def _is_cancellation(error: BaseException) -> bool:
    """True if the running task was cancelled from outside; otherwise a CancelledError comes from the plugin itself."""
    if "asyncio" not in sys.modules:  # then there is no task either, and importing it takes 40 ms
        return False
    import asyncio

    if not isinstance(error, asyncio.CancelledError):
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:  # there is no event loop
        return False
    return task is not None and task.cancelling() > 0


def told(error: BaseException) -> str:
    """Return kind and text of an error; the text is replaced if the error's own ``__str__`` fails, plugin code too."""
    with isolated() as attempt:
        text = str.__str__(str(error))
    return f"{type(error).__name__}: {text if attempt.error is None else 'its text cannot be read'}"


def _as_error(error: BaseException) -> Exception:
    """Return an error that may be raised in another thread without ending anything there."""
    if isinstance(error, Exception):
        return error
    made = PluginError(f"it raised {told(error)}")
    made.__cause__ = error
    return made


def run_in_daemon_thread(call: Callable[[], T]) -> Future[T]:
    """
    Run a call in a daemon thread: a plugin that never returns does not delay the exit of the process.

    The future holds the result, or the error that was raised. The caller's context variables, such as a trace, apply.
    """
    from concurrent.futures import Future

    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # it cannot be cancelled: a late result is ignored

    def run() -> None:
        try:
            with isolated() as attempt:
                future.set_result(call())
            if attempt.error is not None:
                future.set_exception(_as_error(attempt.error))
        finally:
            if not future.done():
                future.set_exception(PluginError("it ended its thread instead of answering"))

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), name="gc-core", daemon=True).start()
    return future
