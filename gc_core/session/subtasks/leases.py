"""
Leases: room in a session's window that is reserved for what parallel sub-tasks will bring back.

What is leased counts as taken: the request and all leases together never pass the usable window. No file holds a lease:
in a session that is opened again there are none, for the sub-tasks have ended with their process.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Self

import attrs

from gc_core.collector.summarizing import Steps
from gc_core.errors import GCError, LeaseError
from gc_core.session.task_memory import Remembering
from gc_core.session.timeline import synchronized
from gc_core.values.config import GCConfig
from gc_core.values.framing import SUB_TASK, told_result
from gc_core.values.items import ItemKind
from gc_core.values.messages import Payload
from gc_core.values.results import Goal
from gc_core.window.collection_outcome import CollectionOutcome

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
    _session: Leasing = attrs.field(repr=False)

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
        return self._session._deliver(self, result)

    def release(self) -> None:
        """Free the room without a result; nothing happens where that was done, or the session is closed."""
        self._session._released(self)

    def __enter__(self) -> Self:
        """The lease itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Release it, unless something was delivered."""
        self.release()


@attrs.define(eq=False, kw_only=True)
class _Waiting:
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


class Leasing(Remembering):
    """The part of a session that keeps room free. A lease is of this object alone."""

    _passes = 0
    """Collections that are under way: while one awaits a summary, another task may call the session."""

    @functools.cached_property
    def _held_leases(self) -> dict[Lease, None]:
        return {}

    @functools.cached_property
    def _queue(self) -> deque[_Waiting]:
        return deque()

    @functools.cached_property
    def _notes_waiting(self) -> list[tuple[Lease, str]]:
        return []

    @functools.cached_property
    def _to_cut(self) -> dict[str, int]:
        return {}

    @property
    @synchronized
    def leases(self) -> tuple[Lease, ...]:
        """What holds room now, oldest first: open leases, and delivered ones whose note waits."""
        return tuple(self._held_leases)

    def lease(self, tokens: int, *, name: str, wait: float = 0.0) -> Lease:
        """
        Keep so many tokens of the window free for what a sub-task will bring back.

        The request and all leases together never have more tokens than a request may have: what is leased counts as
        taken, so collections begin earlier. With ``wait`` it waits so many seconds for room, in the order of those who
        asked; ``AsyncGCSession.awaited_lease`` does so in an event loop.

        Raises LeaseError, naming what was asked for, what is leased by whom, and what is free, when there is no room;
        and for a name or number that cannot be. Raises SessionClosedError.
        """
        check_seconds(wait)
        if not wait:
            return self._leased_now(tokens, name)
        came = threading.Event()
        with self._in_line(tokens, name, came.set) as waiting:
            came.wait(wait)
            return self._granted(waiting)

    # -- inside: room --------------------------------------------------------------------------------------------------

    @synchronized
    def _leased_now(self, tokens: int, name: str) -> Lease:
        self._check_lease(tokens, name)
        if tokens > self._free:
            raise self._no_room(tokens, name)
        return self._reserved(tokens, name)

    @contextlib.contextmanager
    def _in_line(self, tokens: int, name: str, wake: Callable[[], None]) -> Iterator[_Waiting]:
        """Wait for a lease; at the end nobody waits any more, and what nobody took is free again."""
        waiting = _Waiting(asked=(name, tokens), wake=wake)
        self._join_line(waiting)
        try:
            yield waiting
        except BaseException:
            if waiting.lease is not None:
                self._released(waiting.lease)
            raise
        finally:
            with self._lock:
                if waiting in self._queue:
                    self._queue.remove(waiting)
                    if not self._closed:
                        self._serve_line()  # a smaller one may have stood behind it

    @synchronized
    def _join_line(self, waiting: _Waiting) -> None:
        name, tokens = waiting.asked
        self._check_lease(tokens, name)
        if tokens > self._window_of_leases:
            raise self._no_room(tokens, name)
        self._queue.append(waiting)
        self._serve_line()

    @synchronized
    def _granted(self, waiting: _Waiting) -> Lease:
        if waiting.lease is None:
            name, tokens = waiting.asked
            raise self._no_room(tokens, name)
        return waiting.lease

    def _serve_line(self) -> None:
        """Give leases to those who wait, the first ones first, as long as there is room."""
        while self._queue and self._queue[0].asked[1] <= self._free:
            waiting = self._queue.popleft()
            name, tokens = waiting.asked
            waiting.lease = self._reserved(tokens, name)
            waiting.wake()

    def _reserved(self, tokens: int, name: str) -> Lease:
        lease = Lease(name=name, tokens=tokens, session=self)
        self._held_leases[lease] = None
        self._leased_tokens += tokens
        self._waits_above = 0  # what was not worth a collection may be now
        return lease

    def _freed(self, lease: Lease) -> None:
        if lease in self._held_leases:
            del self._held_leases[lease]
            self._leased_tokens -= lease.tokens
            self._serve_line()

    @property
    def _free(self) -> int:
        """Tokens, as the budget counts, that neither the request as it stands nor a lease holds."""
        moment = self._moment()
        return max(0, self._scheduler.fit(moment) - moment.tokens)

    @property
    def _by_name(self) -> Counter[str]:
        """Leased tokens; sub-tasks of the same name together."""
        held = Counter[str]()
        for lease in self._held_leases:
            held[lease.name] += lease.tokens
        return held

    @property
    def _window_of_leases(self) -> int:
        """Tokens that one could have if nothing else stood in the window."""
        return self._moment().calibration.to_raw(self._config.usable)

    def _check_lease(self, tokens: object, name: object) -> None:
        if not isinstance(name, str) or not name.strip() or len(name) > MOST_NAME or not name.isprintable():
            expected = f"expected one line of at most {MOST_NAME} characters"
            raise LeaseError(f"name = {name!r:.200}: {expected}")
        frame = self._counter.count(told_result(SUB_TASK + self._masked_name(name), "")) + self._counter.per_message
        least = frame + LEAST_NOTE
        if type(tokens) is not int or tokens < least:
            expected = f"expected a whole number of at least {least}, which a note named {name!r} takes"
            raise LeaseError(f"tokens = {tokens!r:.200}: {expected}", asked=tokens if type(tokens) is int else 0)

    def _no_room(self, tokens: int, name: str) -> LeaseError:
        held, free = self._by_name, self._free
        text = (
            f"a lease of {tokens:,} tokens for {name!r} does not fit: of {self._window_of_leases:,} the request has"
            f" {self._context.budget.total:,}, {_told(held)} are leased and {free:,} are free; a release or"
            " collect_now() makes room"
        )
        return LeaseError(text, asked=tokens, free=free, leased=held)

    # -- inside: results -----------------------------------------------------------------------------------------------

    @synchronized
    def _deliver(self, lease: Lease, result: object) -> tuple[str, ...]:
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
        ids = self.append(payload)
        results = [key for key in ids if self._is_result(key)]
        share = (lease.tokens - self._counter.per_message) // max(1, len(results))
        self._to_cut.update(dict.fromkeys(results, max(1, share)))
        self._ended(lease)
        return ids

    def _delivered_text(self, lease: Lease, text: str) -> tuple[str, ...]:
        if self._context.open_calls or self._passes:
            # Behind an open call it could pass for that one's result; and a collection that waits knows nothing of it.
            self._notes_waiting.append((lease, text))
            lease.state = DELIVERED
            return ()
        return self._note(lease, text)

    def _note(self, lease: Lease, text: str) -> tuple[str, ...]:
        """The note in the log and in the window, whole for the moment."""
        (payload,) = self._format.results([(SUB_TASK + self._masked_name(lease.name), text)])
        ids = self.append(payload)
        self._to_cut.update(dict.fromkeys(filter(self._is_result, ids), lease.tokens - self._counter.per_message))
        self._cut()
        self._ended(lease)
        return ids

    def _ended(self, lease: Lease) -> None:
        lease.state = DELIVERED
        self._freed(lease)

    def _cut(self) -> None:
        """What is longer than its lease becomes what is alive in it, as soon as its batch is whole."""
        if not self._to_cut or self._context.open_calls or self._passes:
            return
        long: dict[str, str | int] = {}
        for key, tokens in self._to_cut.items():
            item = self._context.find(key)
            if item is not None and item.tokens > tokens:
                long[key] = tokens
        self._to_cut.clear()
        if long:
            with self.plugins.guarded("lease", "condense"):  # it stands there whole then; pre_send sees to the rest
                self.condense(long)

    def _message_of(self, result: object) -> Payload:
        """A message as it is, or the one inside what a provider's client returned."""
        payload = self._plain(result)
        return payload if payload.keys() & {"role", "type"} else self._plain(self._format.reply(result))

    def _is_result(self, key: str) -> bool:
        item = self._context.find(key)
        return item is not None and item.kind is ItemKind.TOOL_RESULT

    def _holds_results(self, payload: Payload) -> bool:
        return any(part.kind is ItemKind.TOOL_RESULT for part in self._format.read(payload))

    def _text_in(self, payload: Payload | None) -> str:
        parts = () if payload is None else self._format.read(payload)
        return "\n\n".join(part.text for part in parts if part.kind in _TEXTS and part.text.strip())

    def _released(self, lease: Lease) -> None:
        if self._store.is_inherited:
            return
        with self._lock:
            if lease.state is OPEN:
                lease.state = RELEASED
                if not self._closed:
                    self._freed(lease)

    # -- inside: what goes on besides ----------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Once the calls are closed nothing waits any more."""
        super()._prepare()
        self._cut()
        while self._notes_waiting:
            lease, text = self._notes_waiting.pop(0)
            try:
                self._note(lease, text)
            except GCError:  # it is not in the log: it waits on, and the room for it is kept
                self._notes_waiting.insert(0, (lease, text))
                raise

    def _attempting(self, goal: Goal, *, fit: int | None, blocks_only: bool = False) -> Steps[CollectionOutcome]:
        self._passes += 1
        try:
            return (yield from super()._attempting(goal, fit=fit, blocks_only=blocks_only))
        finally:
            self._passes -= 1

    def _tell_budget(self) -> None:
        super()._tell_budget()
        self._serve_line()

    def _configure(self, config: GCConfig, model: str | None = None) -> None:
        super()._configure(config, model)
        self._serve_line()

    def _owners(self) -> dict[str, int]:
        return super()._owners() | {f"lease {name!r}": tokens for name, tokens in self._by_name.items()}

    def _lease_lines(self) -> list[str]:
        """What ``explain`` says of leases."""
        held = self._by_name
        return [f"leased for sub-tasks: {_told(held)} tokens"] if held else []

    def _close_files(self) -> None:
        super()._close_files()
        for waiting in self._queue:
            waiting.wake()
        self._queue.clear()


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
