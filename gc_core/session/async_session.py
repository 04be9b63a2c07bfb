"""The session for agents in an event loop: the same calls, with those that may wait awaited."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from gc_core.collector.background_summaries import Coming
from gc_core.collector.summarizing import Answering, Steps, driven_async
from gc_core.session.facade import SessionFacade
from gc_core.session.subtasks.handoff_texts import Filter, HandoffOptions
from gc_core.session.subtasks.lease import Lease
from gc_core.session.subtasks.leases import check_seconds
from gc_core.values.config import GCConfig
from gc_core.values.loggers import bound
from gc_core.values.messages import Request
from gc_core.values.results import GCResult
from gc_core.values.summary import SummaryRequest

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class _Awaiting:
    """Awaits answers in the session's event loop, from either kind of summarizer."""

    def check(self, answering: Answering) -> None:
        """Accept either kind."""

    def begin(self, answering: Answering, request: SummaryRequest) -> Coming:
        """Request a summary in the background."""
        import asyncio

        return asyncio.ensure_future(driven_async(answering.steps(request), answering.ask_async))


class AsyncGCSession(SessionFacade):
    """
    ``GCSession`` for an event loop: ``pre_send``, ``sync``, ``post_turn``, ``collect_now``, ``count_now``, ``recover``,
    ``handoff`` and ``awaited_lease`` are awaited; all other calls are the same and never wait.

    While a summary is awaited other tasks run, and may call the session: what they append is kept after the collection;
    when they pin, set a policy or undo, the collection is abandoned and the next call collects again. Calls that may
    collect wait for each other. A summarizer that is not async runs in a thread. It takes the same arguments.
    """

    _asks = _Awaiting()
    _turn: asyncio.Lock | None = None

    async def __aenter__(self) -> Self:
        """Return the session itself."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Close the session unless it is closed."""
        self.__exit__(*exception)

    async def pre_send(self) -> Request:
        """Return the request for the next model call; see ``GCSession.pre_send``."""
        return await self._driven("pre_send", self._core.sending)

    async def sync(
        self,
        messages: Iterable[object],
        *,
        system: str | Iterable[object] | None = None,
        tools: Iterable[object] | None = None,
        marks: bool = False,
    ) -> Request:
        """Return the request for a list that the caller holds; see ``GCSession.sync``."""
        lists = self._core.lists
        return await self._driven("sync", lambda: self._core.syncing(lists.read(messages, system, tools, marks=marks)))

    async def post_turn(self, reply: object, usage: object | None = None) -> GCResult | None:
        """Append the model's reply and record the usage it reported; see ``GCSession.post_turn``."""
        return await self._driven("post_turn", lambda: self._core.turning(reply, usage))

    async def collect_now(self, *, target_percent: float | None = None, focus: str = "") -> GCResult:
        """Collect down to the target, whatever the usage; see ``GCSession.collect_now``."""
        return await self._driven("collect_now", lambda: self._core.collecting(target_percent, focus))

    async def count_now(self) -> int:
        """Return the tokens of the current request as ``request_counter`` counts them; see ``GCSession.count_now``."""
        return await self._driven("count_now", self._core.counting)

    async def recover(self, error: BaseException) -> Request:
        """Collect after the provider refused a request for its length; see ``GCSession.recover``."""
        return await self._driven("recover", lambda: self._core.recovering(error))

    async def handoff(
        self,
        *,
        name: str = "handoff",
        filter: Filter = None,  # noqa: A002 - the word users know it by
        directory: str | Path | None = None,
        config: GCConfig | None = None,
        tokens: int | None = None,
        steps: int = 5,
        summary_tokens: int = 1_000,
        result_tokens: int = 1_000,
    ) -> AsyncGCSession:
        """Open a child; see ``GCSession.handoff``. What is said while its summary is awaited is not part of it."""
        options = HandoffOptions(
            name=name,
            filter=filter,
            config=config,
            tokens=tokens,
            steps=steps,
            summary_tokens=summary_tokens,
            result_tokens=result_tokens,
        )
        core = self._core
        open_child = functools.partial(core.open_child, directory)
        child = await self._driven("handoff", lambda: core.handoffs.hand_off(options, open_child))
        return self._of(child)

    async def awaited_lease(self, tokens: int, *, name: str, wait: float | None = None) -> Lease:
        """
        Await a lease for up to this many seconds, or without a limit (None).

        Callers are served in order. Like ``lease`` it starts no collection: a wait without a limit lasts until a
        release, or a collection of another call such as ``collect_now``, makes room.

        Raises LeaseError when none is granted in time, and at once for more tokens than the window has;
        SessionClosedError.
        """
        import asyncio

        if wait is not None:
            check_seconds(wait)
        loop, came = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended, and the wait with it
                loop.call_soon_threadsafe(came.set)

        with self._core.leases.queued(tokens, name, wake) as waiting:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(came.wait(), wait)
            return self._core.leases.granted(waiting)

    # -- inside --------------------------------------------------------------------------------------------------

    async def _driven(self, name: str, make: Callable[[], Steps[T]]) -> T:
        """Run the steps, awaiting each question; one such call at a time."""
        import asyncio

        self._turn = self._turn or asyncio.Lock()
        async with self._turn:
            core, gate = self._core, self._gate
            with bound(gate.scope), core.runtime.events.observer.call(name):
                with gate.entered(name):
                    steps = make()
                return await driven_async(steps, core.collections.answering.ask_async, lambda: gate.entered(name))
