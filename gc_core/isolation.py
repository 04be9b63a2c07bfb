"""The plugin border: the one place that catches any error of code that is not ours, and keeps what it caught."""

from __future__ import annotations

import contextvars
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
    What a plugin did wrong.

    Attributes:
        plugin: Its name.
        doing: What it was requested.
        error: What it raised.
        distribution: The installed distribution that it came with; "" where that does not matter, or there is none.

    """

    plugin: str
    doing: str
    error: BaseException
    distribution: str = ""

    def __str__(self) -> str:
        """Return one line that names plugin, distribution, occasion and error."""
        of = f" of distribution {self.distribution}" if self.distribution not in {"", self.plugin} else ""
        return f"{self.plugin}{of} failed in {self.doing}: {type(self.error).__name__}: {_told(self.error)}"


@attrs.define
class Attempt:
    """How a call of a plugin's code went: ``error`` and ``failure``, which tells whose it was, are None when well."""

    error: BaseException | None = None
    failure: PluginFailure | None = None


@contextmanager
def isolated() -> Iterator[Attempt]:
    """
    Catch any error; it is kept, and goes no further by itself.

    What derives from BaseException alone too, a panic in Rust for instance. Only what ends a process, a generator or
    the task around it goes on: those are their owners' own doing.
    """
    import asyncio

    attempt = Attempt()
    try:
        yield attempt
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and _is_being_cancelled():
            raise
        attempt.error = error


def _is_being_cancelled() -> bool:
    """Return whether somebody asked the task that is running to end; a CancelledError is a plugin's own otherwise."""
    import asyncio

    try:
        task = asyncio.current_task()
    except RuntimeError:  # there is no event loop
        return False
    return task is not None and task.cancelling() > 0


def _told(error: BaseException) -> str:
    """Return what an error says, or that it cannot say it: that is a plugin's code too."""
    with isolated() as attempt:
        told = str.__str__(str(error))
    return told if attempt.error is None else "it cannot be told"


def _as_error(error: BaseException) -> Exception:
    """Return what may be raised in another thread without ending anything there."""
    if isinstance(error, Exception):
        return error
    made = PluginError(f"it raised {type(error).__name__}: {_told(error)}")
    made.__cause__ = error
    return made


def run_in_daemon_thread(call: Callable[[], T]) -> Future[T]:
    """
    Begin a call in a thread of its own, which ends with the process: a plugin that never answers delays no one's exit.

    The future holds the answer, or the error that was raised. Context variables are the caller's, a trace for instance.
    """
    from concurrent.futures import Future

    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # no one can take the question back: an answer that comes late is of no use

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
