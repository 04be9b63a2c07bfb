"""
The work of a comparison, in pieces for any process: one session, one window, one strategy or baseline.

A piece contains everything needed, including a file that the worker cannot see; its result is small.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Mapping
from pathlib import Path

import attrs

from ctxgc.evaluation.baselines import BASELINES, Baseline
from ctxgc.evaluation.replay import replay, replay_baseline
from ctxgc.evaluation.reuse import Uses, message_texts, uses_of
from ctxgc.evaluation.totals import Sums, sums_of
from ctxgc.evaluation.transcripts import Transcript, read_content, read_transcript
from ctxgc.evaluation.vendor_modes import VENDOR_MODES
from gc_core.errors import GCError, TranscriptError
from gc_core.plugins.manager import Plugins
from gc_core.providers import format_named
from gc_core.providers.token_counting import counter_for
from gc_core.values.config import GCConfig
from gc_core.values.messages import Role

BASELINES_BY_NAME: Mapping[str, Baseline] = {baseline.name: baseline for baseline in (*BASELINES, *VENDOR_MODES)}
"""The systems that strategies are compared with, as tables list them."""


@attrs.frozen(kw_only=True)
class Recording:
    """
    A recorded session, to be read where the work is done.

    Attributes:
        path: Its file.
        packed: The file's content, compressed, if the worker may not see the file.

    """

    path: Path
    packed: bytes | None = attrs.field(default=None, repr=False)

    def taken_along(self) -> Recording:
        """Return it with its content. Raises TranscriptError when the file cannot be read."""
        return attrs.evolve(self, packed=zlib.compress(read_content(self.path)))

    def read(self) -> Transcript:
        """Return the session. Raises TranscriptError if there is none, or if it can be read only once (a pipe)."""
        if self.packed is None and self.path.is_fifo():
            raise TranscriptError(f"{self.path} is a pipe, expected a file: every strategy reads it again")
        return read_transcript(self.path, None if self.packed is None else zlib.decompress(self.packed))


@attrs.frozen(kw_only=True)
class Size:
    """
    The length of a session.

    Attributes:
        path: Its file.
        tokens: Tokens of its texts, without framing or schemas.
        calls: Model calls.
        warnings: Omissions from and repairs of the file, a line each.
        failure: Why it cannot be replayed, or "".

    """

    path: Path
    tokens: int = 0
    calls: int = 0
    warnings: tuple[str, ...] = ()
    failure: str = ""


@attrs.frozen(kw_only=True)
class Work:
    """
    One session, one window, one strategy or baseline.

    Attributes:
        recording: The session.
        config: How to collect, in which window.
        system: Name of the strategy or baseline.

    """

    recording: Recording
    config: GCConfig
    system: str


@attrs.frozen(kw_only=True)
class Outcome:
    """
    The result of a piece of work.

    Attributes:
        path: The session's file.
        window: Tokens that a request might have.
        system: Name of the strategy or baseline.
        sums: The sums of its measures; None if it failed.
        failure: Why, or "".

    """

    path: Path
    window: int
    system: str
    sums: Sums | None = None
    failure: str = ""


BASELINE_PERCENT = 80.0
"""Usage at which systems begin that have a fixed trigger."""


def for_baselines(config: GCConfig) -> GCConfig:
    """Return the configuration for systems with a fixed trigger: at 80 % of the window, where it says nothing lower."""
    target = min(config.target_percent, BASELINE_PERCENT)
    return attrs.evolve(
        config, threshold_percent=min(config.threshold_percent, BASELINE_PERCENT), target_percent=target
    )


def size_of(recording: Recording) -> Size:
    """Return the size of the session; one without a model call is a failure, because nothing can be measured."""
    path = recording.path
    try:
        transcript = recording.read()
    except GCError as error:
        return Size(path=path, failure=named(path, error))
    form = format_named(transcript.format)
    count = counter_for(None, transcript.format).count
    texts = (text for message in transcript.messages for text in message_texts(message, form))
    calls = sum(form.role(message) is Role.ASSISTANT for message in transcript.messages)
    return Size(
        path=path,
        tokens=sum(map(count, transcript.system)) + sum(map(count, texts)),
        calls=calls,
        warnings=tuple(map(str, transcript.warnings)),
        failure="" if calls else f"{path}: no message of the assistant, so no model call to replay",
    )


def measured(work: Work) -> Outcome:
    """Replay the session and add up its measures."""
    path, window, system = work.recording.path, work.config.usable, work.system
    try:
        sums = _sums(work)
    except GCError as error:
        return Outcome(path=path, window=window, system=system, failure=named(path, error))
    return Outcome(path=path, window=window, system=system, sums=sums)


def named(path: Path, error: GCError) -> str:
    """Return the error, with the file that it concerns."""
    return str(error) if str(path) in str(error) else f"{path}: {error}"


def _sums(work: Work) -> Sums:
    transcript, uses = _known(work.recording)
    baseline = BASELINES_BY_NAME.get(work.system)
    if baseline is None:
        plugins = Plugins.discover()
        report = replay(transcript, config=work.config, strategy=work.system, plugins=plugins, uses=uses)
    else:
        report = replay_baseline(transcript, config=for_baselines(work.config), baseline=baseline, uses=uses)
    return sums_of(report.calls, window=report.window)


@functools.lru_cache(maxsize=2)
def _known(recording: Recording) -> tuple[Transcript, Uses]:
    """Return the session, read once for all systems: the work of one session arrives together."""
    transcript = recording.read()
    return transcript, uses_of(transcript)
