"""
Leases: tokens of a session's window reserved for what parallel sub-tasks will return.

Leased tokens count as used: the request and all leases together never exceed the usable window. Leases are not stored:
a session that is opened again has none, because the sub-tasks ended with their process.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gc_core.errors import LeaseError
from gc_core.session.masking import Masking
from gc_core.session.runtime import CallGate, Runtime
from gc_core.session.subtasks.deliveries import Deliveries
from gc_core.session.subtasks.lease import OPEN, RELEASED, Lease, Waiting
from gc_core.session.window_meter import WindowMeter
from gc_core.values.framing import SUB_TASK, framed_result

LEAST_NOTE: Final = 60
"""The least tokens of a note besides its first line: a reference and one line of content."""

MOST_NAME: Final = 80
"""The most characters of a lease's name."""

_SHOWN = 5  # the largest owners, which an error names


class Leases:
    """
    Reserves tokens for sub-tasks, and takes their results. Leases exist in this object only.

    Args:
        runtime: The session's.
        gate: Lets one call in at a time: every thread may use a lease.
        masking: Masks the names of leases.
        meter: Counts leased tokens as used.
        deliveries: Takes results.

    """

    def __init__(
        self,
        runtime: Runtime,
        gate: CallGate,
        *,
        masking: Masking,
        meter: WindowMeter,
        deliveries: Deliveries,
    ) -> None:
        self._runtime = runtime
        self._gate = gate
        self._masking = masking
        self._meter = meter
        self._held: dict[Lease, None] = {}
        self._queue: deque[Waiting] = deque()
        self._deliveries = deliveries

    @property
    def held(self) -> tuple[Lease, ...]:
        """Everything that reserves tokens now, oldest first: open leases, and delivered ones whose note waits."""
        return tuple(self._held)

    def lease(self, tokens: int, *, name: str, wait: float = 0.0) -> Lease:
        """Reserve tokens; see ``GCSession.lease``."""
        check_seconds(wait)
        if not wait:
            return self.lease_now(tokens, name)
        came = threading.Event()
        with self.queued(tokens, name, came.set) as waiting:
            came.wait(wait)
            return self.granted(waiting)

    # -- inside: room --------------------------------------------------------------------------------------------------

    def lease_now(self, tokens: int, name: str) -> Lease:
        """Reserve tokens, or raise LeaseError at once."""
        with self._gate.call("_leased_now"):
            self._check_lease(tokens, name)
            if tokens > self._free:
                raise self._no_room(tokens, name)
            return self._reserved(tokens, name)

    @contextlib.contextmanager
    def queued(self, tokens: int, name: str, wake: Callable[[], None]) -> Iterator[Waiting]:
        """Wait for a lease; on exit the wait ends, and a lease that was not taken is released."""
        waiting = Waiting(asked=(name, tokens), wake=wake)
        self._join_line(waiting)
        try:
            yield waiting
        except BaseException:
            if waiting.lease is not None:
                self.release(waiting.lease)
            raise
        finally:
            with self._gate.lock:
                if waiting in self._queue:
                    self._queue.remove(waiting)
                    if not self._gate.closed:
                        self.grant_waiting()  # a smaller request may be next in line

    def _join_line(self, waiting: Waiting) -> None:
        with self._gate.call("_join_line"):
            name, tokens = waiting.asked
            self._check_lease(tokens, name)
            if tokens > self._window_of_leases:
                raise self._no_room(tokens, name)
            self._queue.append(waiting)
            self.grant_waiting()

    def granted(self, waiting: Waiting) -> Lease:
        """Return the lease that was granted to a waiting request. Raises LeaseError if there is none."""
        with self._gate.call("_granted"):
            if waiting.lease is None:
                name, tokens = waiting.asked
                raise self._no_room(tokens, name)
            return waiting.lease

    def grant_waiting(self) -> None:
        """Grant queued leases in order while there is room."""
        while self._queue and self._queue[0].asked[1] <= self._free:
            waiting = self._queue.popleft()
            name, tokens = waiting.asked
            waiting.lease = self._reserved(tokens, name)
            waiting.wake()

    def _reserved(self, tokens: int, name: str) -> Lease:
        lease = Lease(name=name, tokens=tokens, holder=self)
        self._held[lease] = None
        self._meter.reserve(name, tokens)
        return lease

    def _freed(self, lease: Lease) -> None:
        if lease in self._held:
            del self._held[lease]
            self._meter.free(lease.name, lease.tokens)
            self.grant_waiting()

    @property
    def _free(self) -> int:
        """Tokens, as the budget counts, that neither the request nor a lease uses."""
        moment = self._meter.moment()
        return max(0, self._meter.scheduler.fit(moment) - moment.tokens)

    @property
    def _window_of_leases(self) -> int:
        """Tokens that a lease could have in an empty window."""
        return self._meter.moment().calibration.to_raw(self._runtime.config.usable)

    def _check_lease(self, tokens: object, name: object) -> None:
        if not isinstance(name, str) or not name.strip() or len(name) > MOST_NAME or not name.isprintable():
            expected = f"expected one line of at most {MOST_NAME} characters"
            raise LeaseError(f"name = {name!r:.200}: {expected}")
        counter = self._runtime.counter
        frame = counter.count(framed_result(SUB_TASK + self._masking.name(name), "")) + counter.per_message
        least = frame + LEAST_NOTE
        if type(tokens) is not int or tokens < least:
            expected = f"expected a whole number of at least {least}, which a note named {name!r} takes"
            raise LeaseError(f"tokens = {tokens!r:.200}: {expected}", asked=tokens if type(tokens) is int else 0)

    def _no_room(self, tokens: int, name: str) -> LeaseError:
        held, free = self._meter.leased.copy(), self._free
        text = (
            f"a lease of {tokens:,} tokens for {name!r} does not fit: of {self._window_of_leases:,} the request has"
            f" {self._runtime.context.budget.total:,}, {_described(held)} are leased and {free:,} are free;"
            " a release or collect_now() makes room"
        )
        return LeaseError(text, asked=tokens, free=free, leased=held)

    def deliver(self, lease: Lease, result: object) -> tuple[str, ...]:
        """Take a lease's result; see ``Lease.deliver``."""
        return self._deliveries.take(lease, result, self._freed)

    def settle(self) -> None:
        """Place the notes that waited for a model call."""
        self._deliveries.settle(self._freed)

    def release(self, lease: Lease) -> None:
        """Release a lease without a result."""
        if self._runtime.store.is_inherited:
            return
        with self._gate.lock:
            if lease.state is OPEN:
                lease.state = RELEASED
                if not self._gate.closed:
                    self._freed(lease)

    def lines(self) -> list[str]:
        """Return the lines of ``explain`` on leases."""
        held = self._meter.leased
        return [f"leased for sub-tasks: {_described(held)} tokens"] if held else []

    def wake_all(self) -> None:
        """Wake all waiting requests: the session has ended."""
        for waiting in self._queue:
            waiting.wake()
        self._queue.clear()


def _described(held: Mapping[str, int]) -> str:
    """Describe all leases, and the largest by name."""
    largest = sorted(held.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = [f"{name} {tokens:,}" for name, tokens in largest[:_SHOWN]]
    more = len(largest) - len(shown)
    names = ", ".join([*shown, f"{more} more"] if more else shown)
    return f"{sum(held.values()):,} ({names})" if names else "0"


def check_seconds(wait: object) -> None:
    """Raise LeaseError for anything that is not a number of seconds."""
    if isinstance(wait, bool) or not isinstance(wait, int | float) or not 0 <= wait < float("inf"):
        raise LeaseError(f"wait = {wait!r:.200}: expected seconds, 0 or more")
