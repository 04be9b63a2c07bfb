"""One generation request: its lane is found, the window kept, and the body changed only where it has to be."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

import attrs
import structlog

from gc_core import ContextOverflowError, GCError, Request
from gc_core.isolation import isolated
from gc_core.providers import format_named
from gc_gateway.bodies import dumped
from gc_gateway.dialects import Content, Dialect
from gc_gateway.lane_ids import LaneId, is_aside
from gc_gateway.lanes import Lane, Lanes
from gc_gateway.metrics import Metrics
from gc_gateway.overview import Counts
from gc_gateway.settings import Settings

_log = structlog.get_logger("gc_gateway")


@attrs.frozen(kw_only=True)
class Turn:
    """
    A generation request as the gateway understands it.

    Attributes:
        dialect: Its dialect.
        lane: Its lane.
        body: Its body, as JSON.
        content: What it holds.
        is_aside: It is no turn of the lane's conversation.

    """

    dialect: Dialect
    lane: LaneId
    body: Mapping[str, Any] = attrs.field(repr=False)
    content: Content = attrs.field(repr=False)
    is_aside: bool = False


class RefusedForLength(Exception):  # noqa: N818 - a provider's answer, which a session reads as an error
    """A refusal of the provider, as a session reads it."""


class Collecting:
    """
    Keeps lanes' windows. Every method blocks, and is meant for a worker thread.

    What goes wrong in gc-core costs no request: the original body is sent then, with a log line and a count.
    """

    def __init__(self, settings: Settings, lanes: Lanes, metrics: Metrics) -> None:
        self._settings = settings
        self._lanes = lanes
        self._metrics = metrics

    def understood(
        self, dialect: Dialect, lane: LaneId, headers: Mapping[str, str], body: Mapping[str, Any], model: str
    ) -> Turn | None:
        """Return the turn in a body; None if it is of another shape, or its history is the provider's."""
        try:
            content = dialect.read(body, model)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self._metrics.passed("shape")
            _log.info("body not understood", dialect=dialect.format, error=repr(error)[:200])
            return None
        if content.is_elsewhere or not content.messages:
            self._metrics.passed("elsewhere")
            return None
        return Turn(dialect=dialect, lane=lane, body=body, content=content, is_aside=is_aside(headers))

    def changed_body(self, turn: Turn) -> bytes | None:
        """Return the body to send; None where the original goes out as it came."""
        with self._guarded(turn) as outcome, self._lane(turn) as lane:
            window = self._settings.window(turn.content.model)
            if turn.is_aside or lane.is_aside(turn.content):
                request: Request | None = lane.aside(turn.content, window)
            else:
                request = lane.request(turn.content, window)
            outcome.body = None if request is None else self._body(turn, request)
        return outcome.body

    def recovered_body(self, turn: Turn, status: int, answer: bytes) -> bytes | None:
        """Return the body of a second try, when the provider refused the first for its length; None for no such try."""
        refusal = RefusedForLength(f"{status} {answer[:20_000].decode('utf-8', 'replace')}")
        if turn.is_aside or format_named(turn.dialect.format).refused_size(refusal) is None:
            return None
        with self._guarded(turn) as outcome, self._lane(turn) as lane:
            if lane.is_aside(turn.content):
                return None
            request = lane.recovered(refusal)
            self._metrics.recovered()
            outcome.body = self._body(turn, request)
        return outcome.body

    def counted(self, turn: Turn) -> int | None:
        """Return the tokens that would really be sent for a list; None where the provider is to count it."""
        with self._guarded(turn) as outcome, self._lane(turn) as lane:
            beside = lane.session.beside(turn.content.messages, system=turn.content.system, tools=turn.content.tools)
            if beside is None and lane.session.history():
                outcome.tokens = lane.session.config.usable  # a turn would be collected down to that, or below
            elif beside is not None and self._body(turn, beside) is not None:
                outcome.tokens = lane.session.port.estimate(beside.tokens)
        return outcome.tokens

    def report(self, turn: Turn, usage: Mapping[str, Any]) -> None:
        """Take the usage that the provider reported for a turn."""
        if turn.is_aside:
            return
        with self._guarded(turn), self._lane(turn) as lane:
            if lane.is_aside(turn.content):
                return
            lane.session.report_usage(usage)
            reported = format_named(turn.dialect.format).usage(usage)
            cost = lane.cost(turn.content.model, reported)
            lane.counts = lane.counts.plus(
                Counts(cache_read_tokens=reported.cache_read_tokens, spent=cost.spent, spent_without=cost.without)
            )

    # -- inside --------------------------------------------------------------------------------------------------------

    def _lane(self, turn: Turn) -> AbstractContextManager[Lane]:
        return self._lanes.lane(turn.lane, turn.dialect.format, turn.content)

    def _body(self, turn: Turn, request: Request) -> bytes | None:
        """Return the body with the messages of a request; None where they are the client's own."""
        given, system = turn.content.messages, turn.content.system
        same = len(request.messages) == len(given) and all(map(_is, request.messages, given))
        own_system = system is not None and list(request.system) != system
        if same and not own_system:
            self._metrics.unchanged()
            return None
        self._metrics.changed()
        return dumped(turn.dialect.write(turn.body, request.messages, request.system if own_system else None))

    @contextlib.contextmanager
    def _guarded(self, turn: Turn) -> Iterator[_Outcome]:
        """Keep an error of gc-core from the client: the original request is sent then."""
        outcome = _Outcome()
        with isolated() as attempt:
            yield outcome
        error = attempt.error
        if error is None:
            return
        outcome.body = outcome.tokens = None
        self._metrics.passed("overflow" if isinstance(error, ContextOverflowError) else "error")
        _log.warning(
            "sent as it came",
            dialect=turn.dialect.format,
            error=f"{type(error).__name__}: {error}"[:500],
            exc_info=None if isinstance(error, GCError) else error,
        )


@attrs.define
class _Outcome:
    """The body or the tokens that a guarded block found; None where the original request counts."""

    body: bytes | None = None
    tokens: int | None = None


def _is(one: object, other: object) -> bool:
    return one is other
