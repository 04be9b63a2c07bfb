"""A recorded session, replayed through a peer and measured as gc-core's own strategies are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs
from ctxgc.evaluation.baselines import BaselineSession, NoCollection
from ctxgc.evaluation.call_measures import CallMeasures
from ctxgc.evaluation.far_fit import FarFitJudge
from ctxgc.evaluation.replay_report import ReplayReport
from ctxgc.evaluation.request_judge import Meter
from ctxgc.evaluation.reuse import Uses
from ctxgc.evaluation.transcripts import Transcript

from benchmarks.peers.catalog import HOME, Peer
from benchmarks.peers.process import ANSWER_SECONDS, AdapterProcess, Answer, PeerCallError, PeerError
from gc_core.providers import format_named
from gc_core.providers.token_counting import counter_for
from gc_core.values.config import GCConfig
from gc_core.values.messages import Payload, Request, Role


@attrs.frozen(kw_only=True)
class PeerReplay:
    """
    What a peer did to a session.

    Attributes:
        report: Every call. One in which the peer failed was not sent.
        errors: What it raised, and how its process ended, a line each.

    """

    report: ReplayReport
    errors: tuple[str, ...]


def replay_peer(
    transcript: Transcript,
    *,
    peer: Peer,
    config: GCConfig,
    uses: Uses,
    home: Path = HOME,
    patience: float = ANSWER_SECONDS,
) -> PeerReplay:
    """
    Replay a session: before every assistant message the peer gets the new messages, and answers with its request.

    System text and tool schemas are the session's own for every peer; window, trigger and target are less by their
    tokens. What no provider would accept in the transcript is mended before a peer sees it, as it is for a baseline.

    Args:
        transcript: What to replay, in OpenAI's format.
        peer: Which system.
        config: Window, trigger and target.
        uses: What the session's messages use.
        home: Where the peers' environments are.
        patience: Seconds that an answer may take.

    Raises:
        PeerError: The transcript is in another format, or the peer does not start.

    """
    if transcript.format != "openai":
        raise PeerError(f"{transcript.path}: format {transcript.format!r}; the peers get messages of 'openai'")
    meter = Meter(transcript, window=config.usable)
    head = meter.tokens_without
    limit = config.context_limit
    process = AdapterProcess(
        peer,
        window=limit - head,
        trigger=int(limit * config.threshold_percent / 100) - head,
        target=int(limit * config.target_percent / 100) - head,
        home=home,
        patience=patience,
    )
    with process:
        run = _Run(
            process=process,
            history=_history(transcript, config, uses),
            meter=meter,
            sight=FarFitJudge(
                uses, format="openai", window=limit, recall=None, counter=counter_for(None, transcript.format)
            ),
        )
        calls = tuple(run.calls(transcript))
    report = ReplayReport(
        session=transcript.path.name,
        format=transcript.format,
        window=limit,
        threshold_percent=config.threshold_percent,
        target_percent=config.target_percent,
        calls=calls,
    )
    return PeerReplay(report=report, errors=tuple(run.errors))


# -- inside ----------------------------------------------------------------------------------------------------------


def _history(transcript: Transcript, config: GCConfig, uses: Uses) -> BaselineSession:
    """A session that never collects: it mends what has to be mended."""
    config = attrs.evolve(config, output_reservation=0)
    history = BaselineSession(NoCollection(), config=config, format=transcript.format, model=None, uses=uses)
    if transcript.system:
        history.system(**{f"part_{number}": text for number, text in enumerate(transcript.system)})
    if transcript.tools:
        history.tools(transcript.tools)
    return history


@attrs.define(kw_only=True)
class _Run:
    """One replay under way."""

    process: AdapterProcess
    history: BaselineSession
    meter: Meter
    sight: FarFitJudge
    errors: list[str] = attrs.field(factory=list)
    _dead: bool = attrs.field(default=False, init=False)
    _sent: tuple[Payload, ...] = attrs.field(default=(), init=False)
    _written: dict[str, Payload] = attrs.field(factory=dict, init=False)

    def calls(self, transcript: Transcript) -> Iterator[CallMeasures]:
        """Every call, measured."""
        form = format_named(transcript.format)
        number = 0
        for place, message in enumerate(transcript.messages):
            if form.role(message) is Role.ASSISTANT:
                number += 1
                yield self._call(number, place)
            self.history.append(message)
            self.meter.hear(message)

    def _call(self, number: int, place: int) -> CallMeasures:
        without = self.meter.without()
        whole = self.history.pre_send()
        answer = self._answer(number, whole)
        request = None if answer is None else self._request(whole, answer)
        sent = None if request is None else self.meter.measure(request)
        tokens = 0 if sent is None else sent.prompt.tokens
        fit = self.sight.fit(place, request, tokens=tokens, without=without.tokens)
        seconds = 0.0 if answer is None else answer.seconds
        return CallMeasures(number=number, sent=sent, without=without, fit=fit, seconds=seconds)

    def _answer(self, number: int, whole: Request) -> Answer | None:
        """What the peer says; None where it failed."""
        if self._dead:
            return None
        messages = whole.messages[_heads(whole) :]
        before = len(self._sent)
        if any(old is not new for old, new in zip(self._sent, messages, strict=False)):
            raise PeerError(f"call {number}: the history changed behind a peer, expected messages only at its end")
        self._sent = messages
        try:
            return self.process.call(number, messages[before:])
        except PeerCallError as error:
            self.errors.append(str(error))
        except PeerError as error:
            self.errors.append(str(error))
            self._dead = True
        return None

    def _request(self, whole: Request, answer: Answer) -> Request:
        said = [self._sent[one] if isinstance(one, int) else self._one(one) for one in answer.messages]
        return attrs.evolve(whole, messages=(*whole.messages[: _heads(whole)], *said))

    def _one(self, message: Mapping[str, object]) -> Payload:
        """One object for equal messages: what measures them reads each object once."""
        return self._written.setdefault(json.dumps(message, sort_keys=True), message)


def _heads(request: Request) -> int:
    """Messages of system text at the head."""
    return next((at for at, one in enumerate(request.messages) if one["role"] != "system"), len(request.messages))


def errors_by_kind(errors: Sequence[str]) -> dict[str, int]:
    """How often each error came, without the number of the call."""
    kinds: dict[str, int] = {}
    for error in errors:
        head, _, text = error.partition(": call ")
        kind = f"{head}: {text.partition(': ')[2]}" if text else head
        kinds[kind] = kinds.get(kind, 0) + 1
    return kinds
