"""One generation request: its lane is found, the window kept, and the body changed only where it has to be."""

from __future__ import annotations

import contextlib
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

import attrs

from gc_core import ContextOverflowError, GCError, Request
from gc_core.errors import MessageError
from gc_core.isolation import isolated
from gc_core.providers import format_named
from gc_core.providers.fields import FieldError
from gc_core.providers.token_counting import counter_for
from gc_core.values.loggers import logger
from gc_gateway.bodies import dumped
from gc_gateway.dialects import Content, Dialect
from gc_gateway.lane_ids import LaneId, is_aside
from gc_gateway.lanes import Lane, Lanes, begins_aside
from gc_gateway.metrics import Metrics
from gc_gateway.overview import Counts
from gc_gateway.request_log import RequestLine, noted
from gc_gateway.settings import Settings

_log = logger("gc_gateway")

_MOST_BYTES_PER_TOKEN: Final = 8
"""Texts have fewer: longer bodies are not counted, because they do not fit."""


@attrs.frozen(kw_only=True)
class Turn:
    """
    A generation request as the gateway understands it.

    Attributes:
        dialect: Its dialect.
        lane: Its lane.
        body: Its body, as JSON.
        content: What it holds.
        bytes: Of the request's body, decompressed, or more.
        is_aside: It is no turn of the lane's conversation.
        line: Its line of the access log.

    """

    dialect: Dialect
    lane: LaneId
    body: Mapping[str, Any] = attrs.field(repr=False)
    content: Content = attrs.field(repr=False)
    bytes: int = 0
    is_aside: bool = False
    line: RequestLine = attrs.field(factory=RequestLine, repr=False)


class RefusedForLength(Exception):  # noqa: N818 - a provider's answer, which a session reads as an error
    """A refusal of the provider, as a session reads it."""


class Collecting:
    """
    Keeps lanes' windows. Every method but ``queue_usage`` blocks, and is meant for a worker thread.

    What goes wrong in gc-core costs no request: the original body is sent then, with a log line and a count.
    """

    def __init__(self, settings: Settings, lanes: Lanes, metrics: Metrics) -> None:
        self._settings = settings
        self._lanes = lanes
        self._metrics = metrics
        self._usage: dict[str, list[tuple[Turn, Mapping[str, Any]]]] = {}
        self._usage_lock = threading.Lock()

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
            why = "its history is the provider's" if content.is_elsewhere else "it has no messages"
            _log.info("body not understood", dialect=dialect.format, error=why)
            return None
        return Turn(dialect=dialect, lane=lane, body=body, content=content, is_aside=is_aside(headers))

    def changed_body(self, turn: Turn) -> bytes | None:
        """Return the body to send; None where the original goes out as it came."""
        window = self._settings.window(turn.content.model)
        with self._guarded(turn) as outcome:
            if self._begins_nothing(turn, window):
                turn.line.kind = "aside"
                self._metrics.unchanged()
                return None
            outcome.body = self._changed(turn, window)
        if outcome.failed and turn.line.kind != "aside":
            self._lanes.passed(counted=turn.line.kind == "turn")
        return outcome.body

    def _changed(self, turn: Turn, window: int) -> bytes | None:
        with self._lane(turn) as lane:
            self._take_queued(lane)
            if turn.is_aside or lane.is_aside(turn.content):
                turn.line.kind = "aside"
                request: Request | None = lane.aside(turn.content, window)
            else:
                turn.line.kind = "turn"
                with noted(turn.line, lane):
                    request = lane.request(turn.content, window)
            return None if request is None else self._body(turn, request)

    def recovered_body(self, turn: Turn, status: int, answer: bytes) -> bytes | None:
        """Return the body of a second try, when the provider refused the first for its length; None for no such try."""
        refusal = RefusedForLength(f"{status} {answer[:20_000].decode('utf-8', 'replace')}")
        if turn.is_aside or not turn.line.lane or format_named(turn.dialect.format).refused_size(refusal) is None:
            return None
        with self._guarded(turn) as outcome, self._lane_again(turn) as lane:
            if lane.is_aside(turn.content):
                return None
            with noted(turn.line, lane):
                request = lane.recovered(refusal, turn.content)
            self._metrics.recovered()
            outcome.body = self._body(turn, request)
        return outcome.body

    def counted(self, turn: Turn) -> int | None:
        """Return the tokens that would really be sent for a list; None where the provider is to count it."""
        turn.line.kind = "count"
        with self._guarded(turn) as outcome:
            turn.line.lane = self._lanes.known(turn.lane, turn.content)
            if turn.line.lane:
                outcome.tokens = self._counted(turn)
        return outcome.tokens

    def _counted(self, turn: Turn) -> int | None:
        with self._lane_again(turn) as lane:
            beside = lane.session.beside(turn.content.messages, system=turn.content.system, tools=turn.content.tools)
            if beside is None and lane.session.history():
                return lane.session.config.usable  # a turn would be collected down to that, or below
            if beside is not None and self._body(turn, beside) is not None:
                return lane.session.port.estimate(beside.tokens)
            return None

    def queue_usage(self, turn: Turn, usage: Mapping[str, Any]) -> None:
        """Keep the usage that the provider reported for a turn, until its lane is held next."""
        if turn.is_aside or not turn.line.lane:
            return
        with self._usage_lock:
            self._usage.setdefault(turn.line.lane, []).append((turn, usage))

    def take_usage(self, turn: Turn) -> None:
        """Take the usage that is queued for a turn's lane, unless a later turn has done so."""
        if turn.line.lane in self._usage:
            with self._guarded(turn), self._lane_again(turn) as lane:
                self._take_queued(lane)

    def _take_queued(self, lane: Lane) -> None:
        with self._usage_lock:
            queued = self._usage.pop(lane.key, [])
        for turn, usage in queued:
            with self._guarded(turn):
                _take_usage(lane, turn, usage)

    # -- inside --------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _lane(self, turn: Turn) -> Iterator[Lane]:
        with self._lanes.lane(turn.lane, turn.dialect.format, turn.content) as lane:
            turn.line.lane = lane.key
            yield lane

    def _lane_again(self, turn: Turn) -> AbstractContextManager[Lane]:
        return self._lanes.again(turn.line.lane, turn.lane, turn.dialect.format, turn.content)

    def _begins_nothing(self, turn: Turn, window: int) -> bool:
        """
        True for a request that fits, and asks for something where there is no conversation yet: a title, or as Gemini
        CLI in a schema which model is to answer, or whether it goes round in circles.
        """
        content, lane = turn.content, turn.lane
        routes = content.has_schema and not content.tools and not lane.name
        begins = (routes or begins_aside(lane, content)) and not self._lanes.known(lane, content)
        return begins and _fits(turn, window)

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
        outcome.body, outcome.tokens, outcome.failed = None, None, True
        self._metrics.passed("overflow" if isinstance(error, ContextOverflowError) else "error")
        _log.warning(
            "sent as it came",
            dialect=turn.dialect.format,
            lane=turn.line.lane,
            error=_said(error),
            trace="" if isinstance(error, GCError) else "".join(traceback.format_tb(error.__traceback__)),
        )


@attrs.define
class _Outcome:
    """The body or the tokens that a guarded block found; None where the original request counts, or it failed."""

    body: bytes | None = None
    tokens: int | None = None
    failed: bool = False


def _take_usage(lane: Lane, turn: Turn, usage: Mapping[str, Any]) -> None:
    if lane.is_aside(turn.content):
        return
    lane.session.report_usage(usage)
    reported = format_named(turn.dialect.format).usage(usage)
    cost = lane.cost(turn.content.model, reported)
    lane.counts = lane.counts.plus(
        Counts(cache_read_tokens=reported.cache_read_tokens, spent=cost.spent, spent_without=cost.without)
    )


def _fits(turn: Turn, window: int) -> bool:
    """True for a body within half of the window, the rest being the reply's. No token has less than one byte."""
    half = window // 2
    if turn.bytes <= half or turn.bytes > _MOST_BYTES_PER_TOKEN * half:
        return turn.bytes <= half
    counter = counter_for(turn.content.model or None, turn.dialect.format)
    return counter.count(dumped(dict(turn.body)).decode("ascii")) <= half


def _said(error: BaseException) -> str:
    """Return what may be logged of an error: the text of one about a message quotes it, but not what was expected."""
    if isinstance(error, FieldError):
        return f"{type(error).__name__}: {error.field}: expected {error.expected}"[:500]
    quotes = isinstance(error, MessageError) or not isinstance(error, GCError)
    return type(error).__name__ if quotes else f"{type(error).__name__}: {error}"[:500]


def _is(one: object, other: object) -> bool:
    return one is other
