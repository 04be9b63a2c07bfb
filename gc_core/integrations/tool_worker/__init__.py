"""
A tool worker: carries out the model's tool calls concurrently, and replaces long results with short notes.

A call that takes too long gets a provisional answer, so that the model can continue; its result is added later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Self

import attrs

from gc_core.errors import ConfigError, MessageError, SessionClosedError
from gc_core.integrations.tool_worker.calls import Outcome, Tool, ToolCall, calls_of, carried_out, checked_tools
from gc_core.integrations.tool_worker.notes import Awaited, Notes, named
from gc_core.integrations.tool_worker.streaming import StreamedCalls
from gc_core.providers import format_named, provider_named
from gc_core.relevance.provisional import PROVISIONAL
from gc_core.session.async_session import AsyncGCSession
from gc_core.values.loggers import logger
from gc_core.values.protocols import AsyncSummarizer, Summarizer
from gc_core.values.validators import is_count, is_number
from gc_core.window.cursor import OpenCall

_log = logger("gc_core.worker")

_NOTE_PART: Final = 4  # a note has at most one part in this many of what counts as long
_LEAST_NOTE: Final = 80  # the least tokens of a note: fewer would add little to its reference


@attrs.define(eq=False, kw_only=True)
class _Work:
    """
    A call that is being carried out.

    Attributes:
        call: The model's call.
        task: Carries it out, and has a note written.
        outcome: Its outcome, once it has ended.
        note: The note on a long result, if one was written.
        awaited: The result that the window waits for; None while the reply still streams.
        known: Set when ``awaited`` is.
        is_long: The result is to be replaced by a note.

    """

    call: ToolCall
    task: asyncio.Task[None] | None = None
    outcome: Outcome | None = None
    note: str | None = None
    awaited: Awaited | None = None
    known: asyncio.Event = attrs.field(factory=asyncio.Event)
    is_long: bool = False

    def awaits(self, awaited: Awaited) -> None:
        """Note that the reply is in the window."""
        self.awaited = awaited
        self.known.set()


class ToolResultWorker:
    """
    Carries out the tool calls of a session's model: after ``post_turn(reply)``, ``await answer(reply)``.

    The calls of a reply run concurrently, async tools in the event loop, others in a thread each. An error of a tool
    becomes a result that reports it. Results are appended in the order of the calls, whole, so that the log has them;
    before they are sent, long ones become notes (``session.condense``).

    Use one worker for one session, as a context manager: at its end no task is left. A tool that runs in a thread
    cannot be stopped; its result is ignored.

    Args:
        session: The session that takes the results.
        tools: The functions, by the names that the model knows. A function gets the arguments by name and returns a
            text, or JSON values.
        summarizer: Writes notes on long results, for example a cheap model; without one, and if it fails, a long result
            is cut to its important lines.
        condense_above: Tokens above which a result is long.
        cap: The most tokens of the results of one reply together; never more than the window has room for.
        patience: Seconds after which a reply is answered with the results so far, provisionally for running calls;
            None: once all calls have ended.
        note_seconds: Seconds to wait for one answer of the summarizer.

    Raises:
        ConfigError: A tool that is not a function, an invalid summarizer, or an invalid number.

    """

    def __init__(
        self,
        session: AsyncGCSession,
        tools: Mapping[str, Tool],
        *,
        summarizer: Summarizer | AsyncSummarizer | None = None,
        condense_above: int = 1_000,
        cap: int = 8_000,
        patience: float | None = None,
        note_seconds: float = 20.0,
    ) -> None:
        for option, number in (("condense_above", condense_above), ("cap", cap)):
            if not is_count(number, 1):
                raise ConfigError(f"{option} = {number!r}: expected a whole number of at least 1")
        for option, seconds in (("patience", patience), ("note_seconds", note_seconds)):
            if seconds is not None and not (is_number(seconds) and seconds >= 0):
                raise ConfigError(f"{option} = {seconds!r}: expected seconds")
        if summarizer is not None and not isinstance(summarizer, Summarizer):
            raise ConfigError(f"summarizer = {summarizer!r:.200}: expected an object with summarize(request)")
        self._session = session
        self._tools = checked_tools(tools)
        self._notes = Notes.of(session, summarizer, above=condense_above, seconds=note_seconds)
        self._above, self._cap, self._patience = condense_above, cap, patience
        self._streamed = StreamedCalls(provider_named(session.format).call_stream())
        self._early: list[_Work] = []
        self._late: list[_Work] = []
        self._batch: list[_Work] = []
        self._closed = False

    async def __aenter__(self) -> Self:
        """Return the worker itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop everything that still runs."""
        await self.close()

    @property
    def running(self) -> tuple[str, ...]:
        """The provider's ids of calls with a provisional answer whose results are not in the window yet."""
        return tuple(work.call.call_id for work in self._late)

    def on_stream(self, event: object) -> None:
        """
        Report an event of the streaming reply: a call starts as soon as its arguments are complete.

        Accepts the events of the session's provider, if its streams are read (``Provider.call_stream``); unknown events
        are ignored. Arguments that are not a whole JSON object start nothing. ``answer`` takes over what runs, and
        stops what the reply does not call.
        """
        for call in self._streamed.completed(event):
            if call.name in self._tools:
                self._early.append(self._started(call))

    async def answer(self, reply: object) -> tuple[str, ...]:
        """
        Carry out the calls of a reply that ``post_turn`` has appended; return the ids of the results in the window.

        Late results of earlier calls follow them. If it is cancelled, so are the calls of this reply, and none of them
        has a result. Raises MessageError for a reply that the session does not wait for, SessionClosedError after
        ``close``.
        """
        if self._closed:
            raise SessionClosedError("answer() on a closed worker; create another one")
        form = format_named(self._session.format)
        calls = calls_of(form.reply(reply), form)
        batch = [self._taken_over(call) for call in calls]
        self._batch += batch
        early, self._early = self._early, []
        try:
            await _stopped(early)
            for work, awaited in zip(batch, self._awaited(calls), strict=True):
                work.awaits(awaited)
            await _ended(batch, self._patience)
            _check(batch)
        except (asyncio.CancelledError, MessageError):
            await _stopped(batch)
            raise
        finally:
            self._batch = [work for work in self._batch if work not in batch]
        return (*await self._entered(batch), *await self.deliver())

    async def deliver(self, *, wait: bool = False) -> tuple[str, ...]:
        """
        Append the late results so far, or (``wait``) all when they are complete; return their ids.

        Each is at the end of the next request, as a text that names its call. ``answer`` does this too: call it when
        the model called nothing, and results are still missing.
        """
        if wait:
            await _ended(self._late, None)
        _check(self._late)
        came = [work for work in self._late if work.task is not None and work.task.done()]
        if not came or self._session.port.open_calls:  # after an open call it could pass for that one's result
            return ()
        self._late = [work for work in self._late if work not in came]
        ids = [key for work in came for key in self._appended([work])]
        self._condensed(dict(zip(ids, came, strict=True)))
        with self._session.port.logged():
            _log.debug("late results delivered", results=len(ids), outstanding=len(self._late))
        return tuple(ids)

    async def close(self) -> None:
        """
        Stop everything that still runs; no task is left. A waiting ``answer`` of another task ends, with unfinished
        calls reported as cancelled.
        """
        self._closed = True
        left = [*self._early, *self._late, *self._batch]
        self._early, self._late = [], []
        await _stopped(left)

    # -- calls ---------------------------------------------------------------------------------------------------

    def _taken_over(self, call: ToolCall) -> _Work:
        """Return the running work of this call, or start it now."""
        for work in self._early:
            if work.call.is_same(call):
                self._early.remove(work)
                return work
        return self._started(call)

    def _started(self, call: ToolCall) -> _Work:
        work = _Work(call=call)
        with self._session.port.logged():  # the task inherits it
            work.task = asyncio.create_task(self._done(work), name=f"gc-core {call.name}")
        return work

    async def _done(self, work: _Work) -> None:
        """Run the tool and write a note on its result; without the secrets that plugins recognise."""
        outcome = await carried_out(work.call, self._tools)
        plugins = self._session.plugins
        text = plugins.redact(outcome.text) if plugins.redacts else outcome.text
        outcome = attrs.evolve(outcome, text=text)
        work.is_long = self._notes.are_for(outcome, work.call.name)
        work.outcome = outcome
        if work.is_long:
            await work.known.wait()
            assert work.awaited is not None  # noqa: S101 - it was waited for
            with self._session.plugins.guarded("worker", "note"):  # a long result without a note is cut
                work.note = await self._notes.note(outcome, work.awaited)

    def _awaited(self, calls: Sequence[ToolCall]) -> Iterator[Awaited]:
        """Yield what the window waits for, in the order of the calls."""
        waiting = list(self._session.port.open_calls)
        first = self._session.port.next_item
        room = max(_LEAST_NOTE, min(self._above // _NOTE_PART, self._cap // max(1, len(calls))))
        for place, call in enumerate(calls):
            known = next((each for each in waiting if _answers(each, call)), None)
            if known is None:
                text = "give answer() the reply that post_turn() took, before the next request"
                raise MessageError(f"the session waits for no result of call {call.call_id!r} ({call.name}); {text}")
            waiting.remove(known)
            yield Awaited(call=known, item=f"i{first + place}", room=room)

    # -- results -------------------------------------------------------------------------------------------------

    async def _entered(self, batch: Sequence[_Work]) -> tuple[str, ...]:
        """Append the results of a batch; unfinished calls keep running and get provisional answers."""
        slow = [work for work in batch if work.outcome is not None and work.task is not None and not work.task.done()]
        self._late += [work for work in batch if work.outcome is None]
        ids = self._appended(batch)
        self._condensed(dict(zip(ids, batch, strict=True)))
        with self._session.port.logged():
            _log_answered(batch)
        await _stopped(slow)  # their notes are too late
        return ids

    def _appended(self, batch: Sequence[_Work]) -> tuple[str, ...]:
        """Append the whole texts to log and window."""
        form = format_named(self._session.format)
        results = [(work.call.call_id, _text_of(work)) for work in batch]
        failed = {place for place, work in enumerate(batch) if work.outcome is not None and work.outcome.is_error}
        return tuple(key for payload in form.results(results, failed) for key in self._session.append(payload))

    def _condensed(self, results: Mapping[str, _Work]) -> None:
        """Condense long results, and make all of them fit into the cap and the window."""
        session = self._session
        renamed = {work.awaited.item: key for key, work in results.items() if work.awaited is not None}
        items = {item.id: item for item in session.items() if item.id in results}
        texts: dict[str, str | int] = {}
        for key, work in results.items():
            texts[key] = items[key].tokens
            if work.is_long and work.awaited is not None:
                texts[key] = work.awaited.room if work.note is None else named(work.note, renamed)
        held = sum(item.tokens for item in items.values())
        room = session.port.most_tokens - (session.budget.total - held)
        cap = max(1, min(self._cap, room))
        if held > cap or any(work.is_long for work in results.values()):
            with session.plugins.guarded("worker", "condense"):  # the results stay whole then; pre_send handles
                session.condense(texts, cap=cap)


def _answers(waiting: OpenCall, call: ToolCall) -> bool:
    return (waiting.call_id, waiting.name) == (call.call_id, call.name)


def _text_of(work: _Work) -> str:
    if work.outcome is not None:
        return work.outcome.text
    return PROVISIONAL.format(name=work.call.name, call_id=work.call.call_id)


def _log_answered(batch: Sequence[_Work]) -> None:
    _log.debug(
        "calls answered",
        calls=len(batch),
        provisional=sum(work.outcome is None for work in batch),
        failed=sum(work.outcome is not None and work.outcome.is_error for work in batch),
        notes=sum(work.note is not None for work in batch),
    )


def _check(works: Iterable[_Work]) -> None:
    """Treat a call that something else has cancelled as failed; raise our own errors."""
    for work in works:
        if work.outcome is None and work.task is not None and work.task.done():
            if not work.task.cancelled():
                work.task.result()
            work.outcome = Outcome(text=f"failed: {work.call.name} was cancelled", is_error=True)


async def _ended(works: Iterable[_Work], seconds: float | None) -> None:
    """Wait for them, at most this many seconds."""
    tasks = [work.task for work in works if work.task is not None]
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)


async def _stopped(works: Iterable[_Work]) -> None:
    """Cancel them, and wait until they have ended."""
    tasks = [work.task for work in works if work.task is not None]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
