"""
Leases: room in a session's window that is reserved for what parallel sub-tasks will bring back.

What is leased counts as taken: the request and all leases together never pass the usable window. No file holds a lease:
in a session that is opened again there are none, for the sub-tasks have ended with their process.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Self

import attrs

from gc_core.errors import GCError, LeaseError
from gc_core.session.collection_runner import CollectionRunner
from gc_core.session.condense import Condenser
from gc_core.session.inbox import Inbox
from gc_core.session.masking import Masking
from gc_core.session.runtime import CallGate, Runtime
from gc_core.session.window_meter import WindowMeter
from gc_core.values.framing import SUB_TASK, told_result
from gc_core.values.items import ItemKind
from gc_core.values.messages import Payload

LEAST_NOTE: Final = 60
"""Tokens of a note beside its first line, at least: a reference, and a line that is alive."""

MOST_NAME: Final = 80
"""Characters of a lease's name."""

_SHOWN = 5  # owners that an error names, the largest ones
_TEXTS = frozenset({ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT, ItemKind.SYSTEM_TEXT, ItemKind.TOOL_RESULT})

OPEN, DELIVERED, RELEASED = "open", "delivered", "released"


@attrs.define(eq=False, kw_only=True)
class Lease:
    """
    Room that a session keeps free for one sub-task; made by ``GCSession.lease``.

    Use it as a context manager: what was not delivered is released at its end. Every thread may call it.

    Attributes:
        name: What the sub-task is called.
        tokens: Tokens of the parent's window that its result may have, the message around it included.
        state: ``"open"``, ``"delivered"`` or ``"released"``.

    """

    name: str
    tokens: int
    state: str = OPEN
    _leases: Leases = attrs.field(repr=False)

    def deliver(self, result: object) -> tuple[str, ...]:
        """
        Give the sub-task's result to the session; frees the room, and returns the ids of the items that it became.

        A text stands as one note at the end of the next request. A message in the session's format may be given
        instead: tool results stand as the results of their calls, of every other message the text is told. What has
        more tokens than the lease is cut to what is alive in it, with a reference; the log holds it whole, and
        ``recall`` brings it back. A tool result that the configuration holds is left whole.

        While the model's own calls wait for their results, or a summary is awaited, a note waits too, its room stays
        taken, and () is returned: it is placed by the next ``pre_send``.

        Raises LeaseError when the lease is not open any more or the result holds no text, MessageError for a message
        that is malformed, SessionClosedError.
        """
        return self._leases.deliver(self, result)

    def release(self) -> None:
        """Free the room without a result; nothing happens where that was done, or the session is closed."""
        self._leases.release(self)

    def __enter__(self) -> Self:
        """The lease itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Release it, unless something was delivered."""
        self.release()


@attrs.define(eq=False, kw_only=True)
class Waiting:
    """
    A lease that waits for room.

    Attributes:
        asked: Its name and tokens.
        wake: Told when there is a lease, or none any more.
        lease: What was granted.

    """

    asked: tuple[str, int]
    wake: Callable[[], None]
    lease: Lease | None = None


class Leases:
    """
    Keeps room free for sub-tasks, and takes in what they bring back. A lease is of this object alone.

    Args:
        runtime: The session's.
        gate: Lets one call in at a time: every thread may use a lease.
        masking: Makes results ready for the log.
        meter: Counts what is leased as taken.
        inbox: Takes results.
        condenser: Cuts results to their leases.
        collections: Says whether one is under way.

    """

    def __init__(
        self,
        runtime: Runtime,
        gate: CallGate,
        *,
        masking: Masking,
        meter: WindowMeter,
        inbox: Inbox,
        condenser: Condenser,
        collections: CollectionRunner,
    ) -> None:
        self._runtime = runtime
        self._gate = gate
        self._masking = masking
        self._meter = meter
        self._inbox = inbox
        self._condenser = condenser
        self._collections = collections
        self._held: dict[Lease, None] = {}
        self._queue: deque[Waiting] = deque()
        self._notes_waiting: list[tuple[Lease, str]] = []
        self._to_cut: dict[str, int] = {}

    @property
    def held(self) -> tuple[Lease, ...]:
        """What holds room now, oldest first: open leases, and delivered ones whose note waits."""
        return tuple(self._held)

    def lease(self, tokens: int, *, name: str, wait: float = 0.0) -> Lease:
        """Keep tokens free; see ``GCSession.lease``."""
        check_seconds(wait)
        if not wait:
            return self.lease_now(tokens, name)
        came = threading.Event()
        with self.queued(tokens, name, came.set) as waiting:
            came.wait(wait)
            return self.granted(waiting)

    # -- inside: room --------------------------------------------------------------------------------------------------

    def lease_now(self, tokens: int, name: str) -> Lease:
        """Keep tokens free, or raise LeaseError at once."""
        with self._gate.call("_leased_now"):
            self._check_lease(tokens, name)
            if tokens > self._free:
                raise self._no_room(tokens, name)
            return self._reserved(tokens, name)

    @contextlib.contextmanager
    def queued(self, tokens: int, name: str, wake: Callable[[], None]) -> Iterator[Waiting]:
        """Wait for a lease; at the end nobody waits any more, and what nobody took is free again."""
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
                        self.grant_waiting()  # a smaller one may have stood behind it

    def _join_line(self, waiting: Waiting) -> None:
        with self._gate.call("_join_line"):
            name, tokens = waiting.asked
            self._check_lease(tokens, name)
            if tokens > self._window_of_leases:
                raise self._no_room(tokens, name)
            self._queue.append(waiting)
            self.grant_waiting()

    def granted(self, waiting: Waiting) -> Lease:
        """What one who waited was granted. Raises LeaseError when there is no room."""
        with self._gate.call("_granted"):
            if waiting.lease is None:
                name, tokens = waiting.asked
                raise self._no_room(tokens, name)
            return waiting.lease

    def grant_waiting(self) -> None:
        """Give leases to those who wait, the first ones first, as long as there is room."""
        while self._queue and self._queue[0].asked[1] <= self._free:
            waiting = self._queue.popleft()
            name, tokens = waiting.asked
            waiting.lease = self._reserved(tokens, name)
            waiting.wake()

    def _reserved(self, tokens: int, name: str) -> Lease:
        lease = Lease(name=name, tokens=tokens, leases=self)
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
        """Tokens, as the budget counts, that neither the request as it stands nor a lease holds."""
        moment = self._meter.moment()
        return max(0, self._meter.scheduler.fit(moment) - moment.tokens)

    @property
    def _window_of_leases(self) -> int:
        """Tokens that one could have if nothing else stood in the window."""
        return self._meter.moment().calibration.to_raw(self._runtime.config.usable)

    def _check_lease(self, tokens: object, name: object) -> None:
        if not isinstance(name, str) or not name.strip() or len(name) > MOST_NAME or not name.isprintable():
            expected = f"expected one line of at most {MOST_NAME} characters"
            raise LeaseError(f"name = {name!r:.200}: {expected}")
        counter = self._runtime.counter
        frame = counter.count(told_result(SUB_TASK + self._masking.name(name), "")) + counter.per_message
        least = frame + LEAST_NOTE
        if type(tokens) is not int or tokens < least:
            expected = f"expected a whole number of at least {least}, which a note named {name!r} takes"
            raise LeaseError(f"tokens = {tokens!r:.200}: {expected}", asked=tokens if type(tokens) is int else 0)

    def _no_room(self, tokens: int, name: str) -> LeaseError:
        held, free = self._meter.leased.copy(), self._free
        text = (
            f"a lease of {tokens:,} tokens for {name!r} does not fit: of {self._window_of_leases:,} the request has"
            f" {self._runtime.context.budget.total:,}, {_told(held)} are leased and {free:,} are free; a release or"
            " collect_now() makes room"
        )
        return LeaseError(text, asked=tokens, free=free, leased=held)

    # -- inside: results -----------------------------------------------------------------------------------------------

    def deliver(self, lease: Lease, result: object) -> tuple[str, ...]:
        """Take a lease's result; see ``Lease.deliver``."""
        with self._gate.call("_deliver"):
            if lease.state is not OPEN:
                once = "a result can be delivered once, while the lease is open"
                raise LeaseError(f"lease {lease.name!r} was {lease.state}: {once}")
            payload = None if isinstance(result, str) else self._message_of(result)
            if payload is not None and self._holds_results(payload):
                ids = self._delivered_results(lease, payload)
            else:
                text = result if isinstance(result, str) else self._text_in(payload)
                if not text.strip():
                    without = "release() frees the room without a result"
                    raise LeaseError(f"the result for lease {lease.name!r} holds no text; {without}")
                ids = self._delivered_text(lease, text)
            self._cut()
            return ids

    def _delivered_results(self, lease: Lease, payload: Payload) -> tuple[str, ...]:
        ids = self._append(payload)
        results = [key for key in ids if self._is_result(key)]
        share = (lease.tokens - self._runtime.counter.per_message) // max(1, len(results))
        self._to_cut.update(dict.fromkeys(results, max(1, share)))
        self._ended(lease)
        return ids

    def _delivered_text(self, lease: Lease, text: str) -> tuple[str, ...]:
        if self._runtime.context.open_calls or self._collections.is_running:
            # Behind an open call it could pass for that one's result; and a collection that waits knows nothing of it.
            self._notes_waiting.append((lease, text))
            lease.state = DELIVERED
            return ()
        return self._note(lease, text)

    def _note(self, lease: Lease, text: str) -> tuple[str, ...]:
        """The note in the log and in the window, whole for the moment."""
        (payload,) = self._runtime.format.results([(SUB_TASK + self._masking.name(lease.name), text)])
        ids = self._append(payload)
        most = lease.tokens - self._runtime.counter.per_message
        self._to_cut.update(dict.fromkeys(filter(self._is_result, ids), most))
        self._cut()
        self._ended(lease)
        return ids

    def _ended(self, lease: Lease) -> None:
        lease.state = DELIVERED
        self._freed(lease)

    def _cut(self) -> None:
        """What is longer than its lease becomes what is alive in it, as soon as its batch is whole."""
        if not self._to_cut or self._runtime.context.open_calls or self._collections.is_running:
            return
        long: dict[str, str | int] = {}
        for key, tokens in self._to_cut.items():
            item = self._runtime.context.find(key)
            if item is not None and item.tokens > tokens:
                long[key] = tokens
        self._to_cut.clear()
        if long:
            # Where this fails it stands there whole, and pre_send sees to the rest.
            with self._runtime.plugins.guarded("lease", "condense"), self._gate.call("condense"):
                self._condenser.condense(long)

    def _message_of(self, result: object) -> Payload:
        """A message as it is, or the one inside what a provider's client returned."""
        payload = self._masking.plain(result)
        return payload if payload.keys() & {"role", "type"} else self._masking.plain(self._runtime.format.reply(result))

    def _is_result(self, key: str) -> bool:
        item = self._runtime.context.find(key)
        return item is not None and item.kind is ItemKind.TOOL_RESULT

    def _holds_results(self, payload: Payload) -> bool:
        return any(part.kind is ItemKind.TOOL_RESULT for part in self._runtime.format.read(payload))

    def _text_in(self, payload: Payload | None) -> str:
        parts = () if payload is None else self._runtime.format.read(payload)
        return "\n\n".join(part.text for part in parts if part.kind in _TEXTS and part.text.strip())

    def release(self, lease: Lease) -> None:
        """Free a lease's room without a result."""
        if self._runtime.store.is_inherited:
            return
        with self._gate.lock:
            if lease.state is OPEN:
                lease.state = RELEASED
                if not self._gate.closed:
                    self._freed(lease)

    def settle(self) -> None:
        """Before a model call, once the calls are closed: nothing waits any more."""
        self._cut()
        while self._notes_waiting:
            lease, text = self._notes_waiting.pop(0)
            try:
                self._note(lease, text)
            except GCError:  # it is not in the log: it waits on, and the room for it is kept
                self._notes_waiting.insert(0, (lease, text))
                raise

    def lines(self) -> list[str]:
        """What ``explain`` says of leases."""
        held = self._meter.leased
        return [f"leased for sub-tasks: {_told(held)} tokens"] if held else []

    def wake_all(self) -> None:
        """The session has ended: nobody waits for room any more."""
        for waiting in self._queue:
            waiting.wake()
        self._queue.clear()

    # -- inside: the rest ----------------------------------------------------------------------------------------------

    def _append(self, payload: Payload) -> tuple[str, ...]:
        with self._gate.call("append"):
            return self._inbox.append(payload)


def _told(held: Mapping[str, int]) -> str:
    """All leases, and the largest ones by name."""
    largest = sorted(held.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = [f"{name} {tokens:,}" for name, tokens in largest[:_SHOWN]]
    more = len(largest) - len(shown)
    names = ", ".join([*shown, f"{more} more"] if more else shown)
    return f"{sum(held.values()):,} ({names})" if names else "0"


def check_seconds(wait: object) -> None:
    """Raise LeaseError for what is no number of seconds."""
    if isinstance(wait, bool) or not isinstance(wait, int | float) or not 0 <= wait < float("inf"):
        raise LeaseError(f"wait = {wait!r:.200}: expected seconds, 0 or more")
