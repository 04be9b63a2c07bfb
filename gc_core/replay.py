"""A recorded session, replayed call by call through a session that collects, and measured from outside."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import attrs

from gc_core.config import GCConfig
from gc_core.errors import ContextOverflowError
from gc_core.events import CollectionDeferred, CollectionFinished, CollectionStarted, Event
from gc_core.formats import format_named
from gc_core.measures import CallMeasures, Overflow, Owner, ReplayReport, Sent
from gc_core.messages import Payload, Role
from gc_core.meter import Meter
from gc_core.plugins import Plugins
from gc_core.protocols import GCStrategy
from gc_core.results import GCTriggerReason, Goal
from gc_core.session import GCSession
from gc_core.transcripts import Transcript

OnCall = Callable[[int, int], None]
"""Told after every model call: calls done, and calls that there are in all."""

_NEVER_REPEATED = frozenset({GCTriggerReason.CONTEXT_LIMIT})
"""The last resort stops as soon as the request fits, which is above its goal."""


def replay(
    transcript: Transcript,
    *,
    config: GCConfig,
    strategy: GCStrategy | str | Iterable[GCStrategy | str] | None = None,
    model: str | None = None,
    plugins: Plugins | None = None,
    check_repeat: bool = False,
    on_call: OnCall | None = None,
) -> ReplayReport:
    """
    Replay a session: every assistant message is one model call, with everything before it as its prompt.

    A call that cannot be sent is counted, and the replay goes on. Nothing is reserved for replies, which are known.

    Args:
        transcript: What to replay.
        config: How to collect; its ``output_reservation`` is taken for 0.
        strategy: Strategy names or objects instead of ``config.strategy``.
        model: Whose tokens are counted, by default the format's usual model.
        plugins: By default those that are installed.
        check_repeat: Try a second collection with the same goal behind each one, as a dry run.
        on_call: Told of the progress.

    Raises:
        ConfigError: The strategy or one of its options is unknown or wrong.
        MessageError: A message cannot be read in the transcript's format.

    """
    config = attrs.evolve(config, output_reservation=0)
    events = _Events()
    session = GCSession(
        config, format=transcript.format, model=model, strategy=strategy, plugins=plugins, on_event=events
    )
    with session:
        run = _Run(session=session, events=events, meter=Meter(transcript, model=model), repeat=check_repeat)
        run.open(transcript)
        calls = run.calls(transcript, on_call)
    return ReplayReport(
        session=transcript.path.name,
        format=transcript.format,
        window=config.usable,
        threshold_percent=config.threshold_percent,
        target_percent=config.target_percent,
        calls=calls,
    )


@attrs.define
class _Events:
    """What the session told since it was last asked."""

    goals: list[Goal] = attrs.Factory(list)
    finished: list[Goal] = attrs.Factory(list)
    deferred: int = 0

    def __call__(self, event: Event) -> None:
        match event:
            case CollectionStarted(goal=goal):
                self.goals.append(goal)
            case CollectionFinished():
                self.finished.append(self.goals[-1])
            case CollectionDeferred():
                self.deferred += 1
            case _:
                pass

    def take(self) -> _Events:
        """What was told, and forget it."""
        told = attrs.evolve(self)
        self.goals, self.finished, self.deferred = [], [], 0
        return told


@attrs.define(kw_only=True)
class _Run:
    """One replay under way."""

    session: GCSession
    events: _Events
    meter: Meter
    repeat: bool
    _collected: bool = attrs.field(default=False, init=False)
    _ingest: float = attrs.field(default=0.0, init=False)

    def open(self, transcript: Transcript) -> None:
        """What stands before the first message."""
        if transcript.system:
            names = ["base", *(f"part_{number}" for number in range(2, len(transcript.system) + 1))]
            parts = dict(zip(names, transcript.system, strict=True))
            self.session.system(**parts)  # type: ignore[arg-type]  # no part is named as one of its keywords
        if transcript.tools:
            self.session.tools(transcript.tools)

    def calls(self, transcript: Transcript, on_call: OnCall | None) -> tuple[CallMeasures, ...]:
        """Every call, measured."""
        form = format_named(transcript.format)
        roles = [form.role(message) for message in transcript.messages]
        calls: list[CallMeasures] = []
        for role, message in zip(roles, transcript.messages, strict=True):
            if role is Role.ASSISTANT:
                calls.append(self.call(len(calls) + 1, message))
                if on_call is not None:
                    on_call(len(calls), roles.count(Role.ASSISTANT))
            else:
                self.append(message)
        return tuple(calls)

    def append(self, message: Payload) -> None:
        """A message that the model did not say. It is measured afterwards: counting warms what counts next."""
        started = time.perf_counter()
        self.session.append(message)
        self._ingest += time.perf_counter() - started
        self.meter.hear(message)

    def call(self, number: int, reply: Payload) -> CallMeasures:
        """One model call and its reply."""
        without = self.meter.without()
        sent, overflow, before_seconds = self._send(number)
        before = self.events.take()
        collected = self._collected or bool(before.finished)
        repeats = [self._finds_more(before)]
        started = time.perf_counter()
        self.session.post_turn(reply)
        after_seconds = time.perf_counter() - started
        after = self.events.take()
        repeats.append(self._finds_more(after))
        self.meter.hear(reply)
        ingest, self._ingest = self._ingest, 0.0
        self._collected = bool(after.finished) or (sent is None and collected)
        return CallMeasures(
            number=number,
            sent=sent,
            overflow=overflow,
            without=without,
            collections=tuple(goal.reason for goal in (*before.finished, *after.finished)),
            deferred=before.deferred + after.deferred,
            tried=bool(before.goals or after.goals),
            collected=collected,
            repeats=sum(found is not None for found in repeats),
            repeats_not_empty=sum(found is True for found in repeats),
            seconds=before_seconds + after_seconds,
            ingest_seconds=ingest,
        )

    def _send(self, number: int) -> tuple[Sent | None, Overflow | None, float]:
        """The request judged, or why there is none, and the seconds that ``pre_send`` took."""
        started = time.perf_counter()
        try:
            request = self.session.pre_send()
        except ContextOverflowError as error:
            return None, self._overflow(number, error), time.perf_counter() - started
        seconds = time.perf_counter() - started
        return self.meter.measure(request), None, seconds

    def _overflow(self, number: int, error: ContextOverflowError) -> Overflow:
        counted = sum(error.owners.values())
        locked = self.meter.locked_tokens
        return Overflow(
            call=number,
            needed=error.needed,
            limit=error.limit,
            locked=locked,
            # An estimated count is sent with a margin: what is needed says how large it is.
            locked_alone=locked * error.needed > error.limit * counted,
            owners=tuple(Owner(name=name, tokens=tokens) for name, tokens in error.owners.items()),
        )

    def _finds_more(self, told: _Events) -> bool | None:
        """Whether a second collection right behind the last one would find more; None when it is not tried."""
        goals = [goal for goal in told.finished if goal.reason not in _NEVER_REPEATED]
        if not goals or not self.repeat:
            return None
        return self.session.plan(goal=goals[-1]).result.changed
