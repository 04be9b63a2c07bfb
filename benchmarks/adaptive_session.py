"""A session that ``benchmarks.adaptive`` may reach into, where a plugin cannot, and its replay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import attrs
from ctxgc.evaluation.call_measures import CallMeasures
from ctxgc.evaluation.far_fit import FarFitJudge
from ctxgc.evaluation.replay_report import ReplayReport
from ctxgc.evaluation.request_judge import Meter
from ctxgc.evaluation.reuse import Uses
from ctxgc.evaluation.transcripts import Transcript

from gc_core import ContextOverflowError, GCConfig, GCSession, Request
from gc_core.cache.economics import Economics
from gc_core.collector.scheduler import Scheduler
from gc_core.providers import format_named
from gc_core.providers.token_counting import counter_for
from gc_core.session.window_meter import WindowMeter
from gc_core.values.messages import Role
from gc_core.values.protocols import GCStrategy


class Hand(Protocol):
    """What an experiment does to a session around each model call."""

    def before(self, session: TriedSession) -> None:
        """Everything that the call answers is appended."""

    def after(self, session: TriedSession) -> None:
        """The request is rendered."""


class Hands:
    """None at all: the session as it is."""

    def before(self, session: TriedSession) -> None:
        """Nothing."""

    def after(self, session: TriedSession) -> None:
        """Nothing."""


class _TriedMeter(WindowMeter):
    """A meter whose scheduler reckons with other prices."""

    economics: Economics | None = None

    @property
    def scheduler(self) -> Scheduler:
        """With these prices, where there are any."""
        scheduler = super().scheduler
        return scheduler if self.economics is None else attrs.evolve(scheduler, economics=self.economics)


class TriedSession(GCSession):
    """A session that can be given other settings at any moment, and other prices to reckon with."""

    hand: Hand = Hands()
    place = 0

    @property
    def economics(self) -> Economics | None:
        """The prices that it was given."""
        meter = self._core.meter
        return meter.economics if isinstance(meter, _TriedMeter) else None

    @economics.setter
    def economics(self, economics: Economics | None) -> None:
        meter = self._core.meter
        meter.__class__ = _TriedMeter  # the collaborators hold the meter itself
        assert isinstance(meter, _TriedMeter)  # noqa: S101 - for the type
        meter.economics = economics

    def pre_send(self) -> Request:
        """The request, with what the experiment does before and after it."""
        self.hand.before(self)
        request = super().pre_send()
        self.hand.after(self)
        return request

    def use(self, strategy: GCStrategy) -> None:
        """Collect by this strategy from now on, its triggers included."""
        meter = self._core.meter
        meter.declared.strategies = ((meter.declared.strategies[0][0], strategy),)


def replayed(
    transcript: Transcript,
    uses: Uses,
    *,
    window: int,
    strategy: GCStrategy,
    hand: Hand | None = None,
    economics: Economics | None = None,
) -> ReplayReport:
    """
    A session replayed as ``ctxgc.evaluation.replay`` does, with an experiment in it; collections and times are not
    reported.
    """
    config = GCConfig(context_limit=window, output_reservation=0, reread_guard="off")
    session = TriedSession(config, format=transcript.format, strategy=strategy)
    session.hand, session.economics = hand or Hands(), economics
    with session:
        calls = tuple(_calls(session, transcript, uses, window))
    return ReplayReport(
        session=transcript.path.name,
        format=transcript.format,
        window=window,
        threshold_percent=config.threshold_percent,
        target_percent=config.ends_percent,
        calls=calls,
    )


def _calls(session: TriedSession, transcript: Transcript, uses: Uses, window: int) -> Iterator[CallMeasures]:
    meter, form = Meter(transcript), format_named(transcript.format)
    counter = counter_for(None, transcript.format)
    sight = FarFitJudge(uses, format=transcript.format, window=window, recall=None, counter=counter)
    if transcript.system:
        names = ["base", *(f"part_{number}" for number in range(2, len(transcript.system) + 1))]
        session.system(**dict(zip(names, transcript.system, strict=True)))  # type: ignore[arg-type]  # no keyword
    if transcript.tools:
        session.tools(transcript.tools)
    number = 0
    for place, message in enumerate(transcript.messages):
        session.place = place
        if form.role(message) is Role.ASSISTANT:
            without, request = meter.without(), _sent(session)
            sent = None if request is None else meter.measure(request)
            tokens = 0 if sent is None else sent.prompt.tokens
            fit = sight.fit(place, request, tokens=tokens, without=without.tokens)
            session.post_turn(message)
            number += 1
            yield CallMeasures(number=number, sent=sent, without=without, fit=fit)
        else:
            session.append(message)
        meter.hear(message)


def _sent(session: GCSession) -> Request | None:
    try:
        return session.pre_send()
    except ContextOverflowError:
        return None
