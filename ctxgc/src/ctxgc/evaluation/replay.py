"""Replays a recorded session call by call through a session that collects, and measures it from outside."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import attrs

from ctxgc.evaluation.baselines import Baseline, BaselineSession
from ctxgc.evaluation.call_measures import CallMeasures, Overflow, Owner, Share
from ctxgc.evaluation.far_fit import FarFitJudge, Recall
from ctxgc.evaluation.replay_report import ReplayReport
from ctxgc.evaluation.request_judge import Meter
from ctxgc.evaluation.reuse import Uses, uses_of
from ctxgc.evaluation.totals import NO_SHARE
from ctxgc.evaluation.transcripts import Transcript
from gc_core.errors import ContextOverflowError
from gc_core.events import CollectionDeferred, CollectionFinished, CollectionStarted, Event
from gc_core.plugins.manager import Plugins
from gc_core.providers import format_named
from gc_core.providers.token_counting import counter_for
from gc_core.session.session import GCSession
from gc_core.values.config import GCConfig
from gc_core.values.messages import Payload, Request, Role
from gc_core.values.protocols import GCStrategy
from gc_core.values.results import GCTriggerReason, Goal

OnCall = Callable[[int, int], None]
"""Called after every model call with the calls done and in total."""

_NEVER_REPEATED = frozenset({GCTriggerReason.CONTEXT_LIMIT})
"""The last resort stops as soon as the request fits, which is above its goal."""


_WITHOUT_TARGET = frozenset({GCTriggerReason.YOUNG, GCTriggerReason.TURN_LIMIT, *_NEVER_REPEATED})
"""Collections with a goal other than a number of tokens."""


def replay(
    transcript: Transcript,
    *,
    config: GCConfig,
    strategy: GCStrategy | str | Iterable[GCStrategy | str] | None = None,
    model: str | None = None,
    plugins: Plugins | None = None,
    check_repeat: bool = False,
    uses: Uses | None = None,
    on_call: OnCall | None = None,
) -> ReplayReport:
    """
    Replay a session: every assistant message is one model call, with everything before it as its prompt.

    A call that cannot be sent is counted, and the replay continues. Nothing is reserved for replies, which are known.

    Args:
        transcript: The transcript to replay.
        config: How to collect; its ``output_reservation`` is taken for 0.
        strategy: Strategy names or objects instead of ``config.strategy``.
        model: Whose tokens are counted, by default the format's usual model.
        plugins: By default those that are installed.
        check_repeat: Try a second collection with the same goal after each one, as a dry run.
        uses: The session's reuse of earlier identifiers, if known already (``uses_of``).
        on_call: Called with the progress.

    Raises:
        ConfigError: The strategy or one of its options is unknown or wrong.
        MessageError: A message cannot be read in the transcript's format.

    """
    config = attrs.evolve(config, output_reservation=0, reread_guard="off", max_total_tokens=None)
    events = _Events()
    session = GCSession(
        config, format=transcript.format, model=model, strategy=strategy, plugins=plugins, on_event=events
    )
    with session:
        run = _Run(
            session=session,
            events=events,
            meter=Meter(transcript, model=model, window=config.usable),
            sight=_sight(transcript, uses, config, model, session.recall),
            again=(lambda goal: session.plan(goal=goal).result.changed) if check_repeat else None,
        )
        calls = run.calls(transcript, on_call)
    return _report(transcript, config, calls)


def replay_baseline(
    transcript: Transcript,
    *,
    config: GCConfig,
    baseline: Baseline,
    model: str | None = None,
    uses: Uses | None = None,
    on_call: OnCall | None = None,
) -> ReplayReport:
    """
    Replay a session as a baseline would keep it, which obeys no protection and leaves no reference.

    Args:
        transcript: The transcript to replay.
        config: The window, and the percentages at which it is collected and down to which.
        baseline: The baseline that chooses the content.
        model: As for ``replay``.
        uses: As for ``replay``.
        on_call: As for ``replay``.

    Raises:
        MessageError: A message cannot be read in the transcript's format.

    """
    config = attrs.evolve(config, output_reservation=0, reread_guard="off", max_total_tokens=None)
    known = uses or uses_of(transcript)
    run = _Run(
        session=BaselineSession(baseline, config=config, format=transcript.format, model=model, uses=known),
        events=_Events(),
        meter=Meter(transcript, model=model, window=config.usable),
        sight=_sight(transcript, known, config, model, None),
        again=None,
    )
    return _report(transcript, config, run.calls(transcript, on_call))


def _sight(
    transcript: Transcript, uses: Uses | None, config: GCConfig, model: str | None, recall: Recall | None
) -> FarFitJudge:
    return FarFitJudge(
        uses or uses_of(transcript),
        format=transcript.format,
        window=config.usable,
        recall=recall,
        counter=counter_for(model, transcript.format),
    )


def _report(transcript: Transcript, config: GCConfig, calls: tuple[CallMeasures, ...]) -> ReplayReport:
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
    """The events of the session since the last call."""

    goals: list[Goal] = attrs.Factory(list)
    finished: list[Goal] = attrs.Factory(list)
    reached: Share = NO_SHARE
    deferred: int = 0

    def __call__(self, event: Event) -> None:
        match event:
            case CollectionStarted(goal=goal):
                self.goals.append(goal)
            case CollectionFinished(result=result):
                self.finished.append(self.goals[-1])
                if result.reason not in _WITHOUT_TARGET:
                    self.reached = self.reached.plus(Share(kept=int(result.reached), whole=1))
            case CollectionDeferred():
                self.deferred += 1
            case _:
                pass

    def take(self) -> _Events:
        """Return the events, and clear them."""
        taken = attrs.evolve(self)
        self.goals, self.finished, self.deferred, self.reached = [], [], 0, NO_SHARE
        return taken


@attrs.define(kw_only=True)
class _Run:
    """A running replay."""

    session: GCSession | BaselineSession
    events: _Events
    meter: Meter
    sight: FarFitJudge
    again: Callable[[Goal], bool] | None
    _place: int = attrs.field(default=0, init=False)
    _collected: bool = attrs.field(default=False, init=False)
    _ingest: float = attrs.field(default=0.0, init=False)

    def open(self, transcript: Transcript) -> None:
        """Set the content before the first message."""
        if transcript.system:
            names = ["base", *(f"part_{number}" for number in range(2, len(transcript.system) + 1))]
            parts = dict(zip(names, transcript.system, strict=True))
            self.session.system(**parts)  # type: ignore[arg-type]  # no part is named as one of its keywords
        if transcript.tools:
            self.session.tools(transcript.tools)

    def calls(self, transcript: Transcript, on_call: OnCall | None) -> tuple[CallMeasures, ...]:
        """Return every call, measured."""
        self.open(transcript)
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
        """Append a message that is not the model's. It is measured afterwards, because counting fills caches."""
        started = time.perf_counter()
        self.session.append(message)
        self._ingest += time.perf_counter() - started
        self._hear(message)

    def call(self, number: int, reply: Payload) -> CallMeasures:
        """Return one model call with its reply."""
        without = self.meter.without()
        request, overflow, before_seconds = self._send(number)
        sent = None if request is None else self.meter.measure(request)
        before = self.events.take()
        fit = self.sight.fit(
            self._place,
            request,
            tokens=0 if sent is None else sent.prompt.tokens,
            without=without.tokens,
        )
        collected = self._collected or bool(before.finished)
        repeats = [self._finds_more(before)]
        started = time.perf_counter()
        self.session.post_turn(reply)
        after_seconds = time.perf_counter() - started
        after = self.events.take()
        repeats.append(self._finds_more(after))
        self._hear(reply)
        ingest, self._ingest = self._ingest, 0.0
        self._collected = bool(after.finished) or (sent is None and collected)
        return CallMeasures(
            number=number,
            sent=sent,
            overflow=overflow,
            without=without,
            fit=fit,
            collections=tuple(goal.reason for goal in (*before.finished, *after.finished)),
            reached=before.reached.plus(after.reached),
            deferred=before.deferred + after.deferred,
            tried=bool(before.goals or after.goals),
            collected=collected,
            repeats=sum(found is not None for found in repeats),
            repeats_not_empty=sum(found is True for found in repeats),
            seconds=before_seconds + after_seconds,
            ingest_seconds=ingest,
        )

    def _hear(self, message: Payload) -> None:
        self.meter.hear(message)
        self._place += 1

    def _send(self, number: int) -> tuple[Request | None, Overflow | None, float]:
        """Return the request, or what prevented it, and the seconds that ``pre_send`` took."""
        started = time.perf_counter()
        try:
            request = self.session.pre_send()
        except ContextOverflowError as error:
            return None, self._overflow(number, error), time.perf_counter() - started
        return request, None, time.perf_counter() - started

    def _overflow(self, number: int, error: ContextOverflowError) -> Overflow:
        counted = sum(error.owners.values())
        locked = self.meter.locked_tokens
        return Overflow(
            call=number,
            needed=error.needed,
            limit=error.limit,
            locked=locked,
            # An estimated count is sent with a margin, which the needed tokens show.
            only_locked=locked * error.needed > error.limit * counted,
            owners=tuple(Owner(name=name, tokens=tokens) for name, tokens in error.owners.items()),
        )

    def _finds_more(self, events: _Events) -> bool | None:
        """Return whether a second collection right after the last one would find more; None if it was not tried."""
        goals = [goal for goal in events.finished if goal.reason not in _NEVER_REPEATED]
        return self.again(goals[-1]) if goals and self.again is not None else None
