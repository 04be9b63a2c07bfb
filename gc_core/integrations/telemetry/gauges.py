"""
Gauges, read from sessions when the metrics are read, each session by its id.

A meter creates an instrument of a name once, with the callbacks of the first caller: so there is one set of gauges for
each meter provider, which reads all sessions.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from opentelemetry import metrics
from opentelemetry.metrics import CallbackOptions, Meter, MeterProvider, Observation

from gc_core.integrations.telemetry.genai import CONVERSATION, Attributes
from gc_core.integrations.telemetry.snapshot import Reading

Measurements = Iterator[tuple[float, Attributes]]


class Watched(Protocol):
    """A session that can be read."""

    def reading(self) -> Reading | None:
        """Return the current snapshot, or the last one; None when there is nothing to report."""


class Gauges:
    """The gauges of one meter provider. Sessions are held weakly."""

    def __init__(self, meter: Meter) -> None:
        self._sessions: weakref.WeakSet[Watched] = weakref.WeakSet()
        self._lock = threading.Lock()  # metrics are read in a separate thread
        gauge = meter.create_observable_gauge
        gauge("gc.window.utilisation", [self._asking(_utilisation)], "%", "Of the usable window, by source and policy")
        gauge("gc.level.tokens", [self._asking(_levels)], "{token}", "Tokens of the conversation by level")
        gauge("gc.tier.tokens", [self._asking(_tiers)], "{token}", "Tokens by tier")
        gauge("gc.level.ratio", [self._asking(_ratios)], "1", "Tokens as they arrived over tokens now, by level")
        gauge("gc.session.cost", [self._asking(_cost)], "{USD}", "What the session has cost, where prices are known")

    def watch(self, session: Watched) -> None:
        """Read this session too."""
        with self._lock:
            self._sessions.add(session)

    def forget(self, session: Watched) -> None:
        """Stop reading this session."""
        with self._lock:
            self._sessions.discard(session)

    def _asking(self, measure: Callable[[Reading], Measurements]) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def observe(_options: CallbackOptions) -> Iterable[Observation]:
            with self._lock:
                sessions = tuple(self._sessions)
            readings = filter(None, (session.reading() for session in sessions))
            return [
                Observation(value, {CONVERSATION: reading.session, **attributes})
                for reading in readings
                for value, attributes in measure(reading)
            ]

        return observe


_OF_PROVIDERS: weakref.WeakKeyDictionary[MeterProvider, Gauges] = weakref.WeakKeyDictionary()


_OF_PROCESS: list[Gauges] = []
"""
The gauges of the process's own provider, at most one set: OpenTelemetry passes them from its placeholder to the
provider that the process sets later, where they could not be created again.
"""
_LOCK = threading.Lock()


def gauges_of(provider: MeterProvider, meter: Meter) -> Gauges:
    """Return the gauges of a provider, created with the first session."""
    with _LOCK:
        if provider not in _OF_PROVIDERS:
            known = _OF_PROCESS if provider is metrics.get_meter_provider() else []
            if not known:
                known.append(Gauges(meter))
            _OF_PROVIDERS[provider] = known[0]
        return _OF_PROVIDERS[provider]


def _utilisation(reading: Reading) -> Measurements:
    for (source, policy), percent in reading.utilisation.items():
        yield percent, {"gc.source": source, **({"gc.policy": policy} if policy else {})}


def _levels(reading: Reading) -> Measurements:
    return ((tokens, {"gc.level": level}) for level, tokens in reading.levels.items())


def _tiers(reading: Reading) -> Measurements:
    return ((tokens, {"gc.tier": tier}) for tier, tokens in reading.tiers.items())


def _ratios(reading: Reading) -> Measurements:
    return ((ratio, {"gc.level": level}) for level, ratio in reading.ratios.items())


def _cost(reading: Reading) -> Measurements:
    if reading.cost is not None:
        yield reading.cost, {}
