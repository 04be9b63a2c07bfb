"""
The executors of a comparison: this process, local processes, or a Dask cluster.

All are executors in the sense of ``concurrent.futures``. Their input is a module-level function and values.
"""

from __future__ import annotations

import importlib
import itertools
import logging
import multiprocessing
import re
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

import attrs

from gc_core.errors import ConfigError, ExecutorError

PROCESSES = "processes"
"""The executor of local processes, which is the default."""

CONNECT_SECONDS = 10
"""The seconds in which a scheduler must answer."""

_DASK = re.compile(r"dask://(?P<host>[^/\s:]+|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})/?")
_AHEAD = 4
"""Pieces of work queued for each worker of a cluster, so that none waits for the network."""

P = ParamSpec("P")
T = TypeVar("T")
W = TypeVar("W")


@attrs.frozen(kw_only=True)
class Crew:
    """
    An executor with its properties.

    Attributes:
        name: The user's name for it.
        executor: The executor.
        ahead: Pieces of work submitted at once; more would only wait in memory.
        remote: It may not see the files of this machine.
        losses: The errors that its futures raise when a worker is lost.

    """

    name: str
    executor: Executor
    ahead: int
    remote: bool = False
    losses: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def results(self, function: Callable[[W], T], work: Iterable[W]) -> Iterator[T]:
        """
        Yield what the function makes of each piece of work, in the order in which they are done. Work is taken as it is
        needed.

        Raises ExecutorError when a worker is lost.
        """
        pieces = iter(work)
        waiting: set[Future[T]] = set()
        try:
            while True:
                for piece in itertools.islice(pieces, self.ahead - len(waiting)):
                    waiting.add(self.executor.submit(function, piece))
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except self.losses as error:
            raise ExecutorError(
                f"executor {self.name!r} lost a worker ({type(error).__name__}: {error}); where memory was short, take"
                " fewer workers or shorter sessions"
            ) from error


class InThisProcess(Executor):
    """Does each piece of work at once, where it is submitted."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run it. The future is done when it is returned; an error is raised here."""
        future: Future[T] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def check_executor(name: str) -> None:
    """Raise ConfigError for an unknown executor; nothing is started or connected."""
    if name != PROCESSES and _address(name) is None:
        raise ConfigError(f"executor {name!r}: expected {PROCESSES!r} or 'dask://HOST:PORT'")


@contextmanager
def crew_of(name: str, *, workers: int) -> Iterator[Crew]:
    """
    Open the executor of this name for the block. Whatever ends the block early ends its work: waiting jobs are
    cancelled, and processes that it started are stopped.

    Args:
        name: ``processes``, or ``dask://HOST:PORT`` of a cluster's scheduler.
        workers: Local processes; with one or less all is done in this process. A cluster has its own.

    Raises:
        ConfigError: No executor is called so, or the package that it needs is not installed.
        ExecutorError: The scheduler does not answer.

    """
    check_executor(name)
    address = _address(name)
    if address is not None:
        with _dask(name, address) as crew:
            yield crew
    elif workers <= 1:
        yield Crew(name=name, executor=InThisProcess(), ahead=1)
    else:
        with _processes(workers) as crew:
            yield crew


def _address(name: str) -> str | None:
    """Return the address of Dask's scheduler in Dask's form; None for anything else."""
    found = _DASK.fullmatch(name)
    return f"tcp://{found['host']}:{found['port']}" if found and 0 < int(found["port"]) < 1 << 16 else None


# -- local processes -------------------------------------------------------------------------------------------------


@contextmanager
def _processes(count: int) -> Iterator[Crew]:
    """Start processes without forking: a progress bar has its own thread."""
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"), initializer=_begin)
    try:
        # One piece more than there are workers waits, so that none is idle while results are stored.
        yield Crew(name=PROCESSES, executor=pool, ahead=count + 1)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    pool.shutdown()


def _begin() -> None:
    """
    Prepare a new process. Repairs of sessions are reported by ``ctxgc replay``; here they would be for every strategy.
    Ctrl-C reaches it as well as its parent, and is left to the parent.
    """
    logging.getLogger("gc_core").setLevel(logging.ERROR)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# -- Dask ------------------------------------------------------------------------------------------------------------


@contextmanager
def _dask(name: str, address: str) -> Iterator[Crew]:
    try:
        distributed: Any = importlib.import_module("distributed")  # an extra, and untyped
    except ImportError as error:
        raise ConfigError(f'executor {name!r} needs Dask: pip install "ctxgc[cluster]"') from error
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise ExecutorError(f"executor {name!r}: no scheduler answers there within {CONNECT_SECONDS} s") from error
    try:
        workers = sum(client.nthreads().values())
        if not workers:
            raise ExecutorError(f"executor {name!r}: the cluster has no worker; start one with 'dask worker {address}'")
        yield Crew(
            name=name,
            executor=client.get_executor(pure=False),
            ahead=_AHEAD * workers,
            remote=True,
            losses=(distributed.scheduler.KilledWorker, distributed.CancelledError, CancelledError, OSError),
        )
    finally:
        client.close()  # cancels its jobs that no one else waits for
