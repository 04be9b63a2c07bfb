"""
Evidence of another kind than names: what of planted facts and of hand-labelled lines a collector keeps.

A fact is judged in the last request of its session; a labelled line in the request of the call that needed it, where
the whole history is above the threshold (below it nothing is collected). ``docs/evidence.md`` says how to read it.
"""

from __future__ import annotations

import enum
import hashlib
import itertools
import json
import logging
import platform
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs

from benchmarks.counting import corpus
from benchmarks.planted import Place, Planted, PlantedSession, plant
from gc_core import ContextOverflowError, GCConfig, GCSession, Request, SourceError
from gc_core.baselines import BASELINES, BaselineSession
from gc_core.transcripts import Transcript, read_transcript
from gc_core.uses import uses_of

LABELS = Path(__file__).with_name("labels.json")

HOSTS = (
    "concat-tau-bench-airline",
    "concat-tau2-retail",
    "entire--0822e04b-5551-4de8-a98a-5660c689e49b",
    "entire--130d7b7e-5801-4345-9bd6-f32fd9b8429b",
    "entire--1c341e47-b281-4cb7-82da-3ad6d3013b7f",
    "entire--aa4038a5-34b6-41e4-8541-9cca654dcbc5",
    "entire--ac8a4f1a-1917-46bf-b8c1-0c3bab0fbc16",
    "entire--d1423492-e4f5-4a86-a997-1f1c8d09a940",
    "gemini-cli--trajectory",
    "pi--session",
)
"""The sessions that facts are planted into: 37k to 150k tokens, of five sources."""

STRATEGIES = ("gc_truncate", "gc_budget")
NO_COLLECTION = "no collection"
COMPARED = ("keep last", "mask then drop", "random units")
"""The baselines; the oracle is left out, for what it knows is which names will be used."""

FACT_WINDOWS, LABEL_WINDOWS = (16_000, 32_000), (8_000, 16_000, 32_000)

ALL = "all"

_NAME = re.compile(r"\d|_|\w/\w|\w\.\w|[a-z][A-Z]")
_REFERENCE = re.compile(r"\[gc: [\d,]+ tokens left out(?: here: turns? [\d-]+,|:) i(\d+)(?:-i(\d+))?")


class Verdict(enum.Enum):
    """What became of a text."""

    VISIBLE = "visible"
    STUBBED = "recalled through a stub"
    TRACED = "recalled through a trace"
    LOST = "lost"


@attrs.frozen(kw_only=True)
class Label:
    """
    A line of the corpus that mattered later, as somebody judged who read the session.

    Attributes:
        file: File name of the session.
        message: Index of the message that holds it.
        line: Number of the line in the message's text, from 0 on.
        sha256: First 16 hexadecimal digits of the line's hash.
        needed: Index of the assistant message that needed it.
        kind: What the line is.
        reason: How it mattered.
        columns: From where to where in a line that is long, as rows of JSON are; None for the whole line.

    """

    file: str
    message: int
    line: int
    sha256: str
    needed: int
    kind: str
    reason: str
    columns: tuple[int, int] | None = None

    def text(self, transcript: Transcript, *, shift: int = 0) -> str:
        """The line, or its part. Raises ValueError when it is not the one that was labelled."""
        lines = str(transcript.messages[self.message - shift]["content"]).split("\n")
        line = lines[self.line] if self.line < len(lines) else ""
        if hashlib.sha256(line.encode()).hexdigest()[:16] != self.sha256:
            raise ValueError(f"{self.file}: message {self.message}, line {self.line} is not what was labelled")
        return line if self.columns is None else line[slice(*self.columns)]


@attrs.frozen(kw_only=True)
class Probe:
    """
    A text that is looked for.

    Attributes:
        text: The text.
        old: What must not stand without it, or "".
        message: Index of the message that holds it.
        needed: Index of the assistant message in whose request it is looked for.
        groups: The columns of the table that it belongs to.

    """

    text: str
    old: str = ""
    message: int
    needed: int
    groups: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Finding:
    """
    What became of a probe.

    Attributes:
        groups: The probe's.
        verdict: Where its text is.
        replaced: It had an older text, which does not count any more.
        stale: The older text is visible, and the newer is not.
        history: Tokens of the request; without a collection, of the whole history.

    """

    groups: tuple[str, ...]
    verdict: Verdict
    replaced: bool
    stale: bool
    history: int


@attrs.frozen(kw_only=True)
class Task:
    """One session, the probes into it, and who keeps it at which window."""

    transcript: Transcript
    probes: tuple[Probe, ...]
    keeper: str
    window: int


Material = tuple[Transcript, tuple[Probe, ...]]
"""A session and what is looked for in it."""


def main() -> None:
    """Print a table for each window: planted facts first, then labelled lines."""
    if not corpus().is_dir():
        print(f"no recorded sessions in {corpus()}: nothing to keep or to lose; set GC_CORPUS")
        return
    packages = ", ".join(f"{name} {version(name)}" for name in ("gc-core", "gc-truncate", "gc-budget", "tiktoken"))
    print(f"{time.strftime('%Y-%m-%d')}, Python {platform.python_version()}, {packages}")
    print("percent visible / visible or recalled through a reference that stands in the request; (n) judged")
    with ProcessPoolExecutor(initializer=_quiet) as pool:
        print_tables("planted facts", list(fact_tasks()), FACT_WINDOWS, pool)
        print_tables("labelled lines", list(label_tasks()), LABEL_WINDOWS, pool)


def _quiet() -> None:
    """What is mended in a message is no news here."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)


# -- what is looked for ----------------------------------------------------------------------------------------------


def fact_tasks() -> Iterator[Material]:
    """The sessions with planted facts, each looked for in the last request."""
    for session in plant([read_transcript(corpus() / f"{name}.jsonl") for name in HOSTS]):
        yield session.transcript, tuple(_fact_probes(session))


def _fact_probes(session: PlantedSession) -> Iterator[Probe]:
    spoken = [at for at, message in enumerate(session.transcript.messages) if message["role"] == "assistant"]
    for planted in session.planted:
        yield Probe(
            text=planted.fact.text,
            old=planted.fact.old,
            message=planted.message,
            needed=spoken[-1],
            groups=_fact_groups(planted),
        )


def _fact_groups(planted: Planted) -> tuple[str, ...]:
    fact = planted.fact
    if fact.place not in {Place.LOG, Place.ROW}:
        return (fact.place.value, ALL)
    return (f"{fact.place.value}, {'without' if fact.plain else 'with'} a name", ALL)


def labels() -> tuple[Label, ...]:
    """The labelled lines."""
    rows: list[dict[str, Any]] = json.loads(LABELS.read_text("utf-8"))
    return tuple(Label(**{**row, "columns": tuple(row["columns"]) if "columns" in row else None}) for row in rows)


def label_tasks() -> Iterator[Material]:
    """The sessions with labels, cut behind the last call that needed one."""
    for file, group in itertools.groupby(labels(), key=lambda label: label.file):
        transcript = read_transcript(corpus() / file)
        shift = len(transcript.system)
        probes = tuple(_label_probe(label, transcript, shift) for label in group)
        last = max(probe.needed for probe in probes)
        yield attrs.evolve(transcript, messages=transcript.messages[: last + 1]), probes


def _label_probe(label: Label, transcript: Transcript, shift: int) -> Probe:
    """System texts at the head are no messages of a transcript: indexes are those of the file."""
    role = str(transcript.messages[label.message - shift]["role"])
    text = label.text(transcript, shift=shift)
    by_name = f"by {role}, {'with' if _NAME.search(text) else 'without'} a name"
    return Probe(
        text=text,
        message=label.message - shift,
        needed=label.needed - shift,
        groups=(by_name, label.kind, ALL),
    )


# -- judging ---------------------------------------------------------------------------------------------------------


def judge(task: Task) -> list[Finding]:
    """Replay the session up to the last call that matters, and look for every probe in its request."""
    session = keeper(task.keeper, task.window, task.transcript)
    holders = {probe.message for probe in task.probes}
    items: dict[int, range] = {}
    found: list[Finding] = []
    _open(session, task.transcript)
    for at, message in enumerate(task.transcript.messages):
        before = _newest(session) if at in holders else 0
        if message["role"] == "assistant":
            found += _findings(task, session, at, items)
            session.post_turn(message)
        else:
            session.append(message)
        if at in holders:
            items[at] = range(before + 1, _newest(session) + 1)
    return found


def keeper(name: str, window: int, transcript: Transcript) -> GCSession | BaselineSession:
    """
    A session that a strategy or a baseline keeps; nothing is reserved for replies, which are known.

    What the transcript uses is not told: only the oracle would ask.
    """
    config = GCConfig(context_limit=window, output_reservation=0, strategy=STRATEGIES[0])
    for baseline in BASELINES:
        if baseline.name == name:
            nothing = uses_of(attrs.evolve(transcript, messages=()))
            return BaselineSession(baseline, config=config, format="openai", model=None, uses=nothing)
    return GCSession(attrs.evolve(config, strategy=(name,)), format="openai")


def _open(session: GCSession | BaselineSession, transcript: Transcript) -> None:
    parts = {f"part_{number}": text for number, text in enumerate(transcript.system)}
    if parts:
        session.system(**parts)  # type: ignore[arg-type]  # no part is named as one of its keywords
    if transcript.tools:
        session.tools(transcript.tools)


def _newest(session: GCSession | BaselineSession) -> int:
    """Number of the newest item; a baseline gives none away, for it recalls nothing."""
    if isinstance(session, BaselineSession):
        return 0
    return max((int(item.id[1:]) for item in session.items() if item.id[1:].isdigit()), default=0)


def _findings(
    task: Task, session: GCSession | BaselineSession, at: int, items: Mapping[int, range]
) -> Iterator[Finding]:
    """Also where nothing is looked for the request is made, for that is when a window is collected."""
    probes = [probe for probe in task.probes if probe.needed == at]
    if not probes and task.keeper == NO_COLLECTION:
        return
    try:
        request = session.pre_send()
    except ContextOverflowError as error:
        request = Request(format="openai", messages=(), tokens=error.needed)
    text = _text(request, task.window) if probes else ""
    for probe in probes:
        verdict = _verdict(probe, text, session, items[probe.message])
        yield Finding(
            groups=probe.groups,
            verdict=verdict,
            replaced=bool(probe.old),
            stale=bool(probe.old) and probe.old in text and verdict is not Verdict.VISIBLE,
            history=request.tokens,
        )


def _text(request: Request, window: int) -> str:
    """What the model reads; nothing when the request is too large to be sent."""
    return "" if request.tokens > window else "\n".join(_strings([*request.system, *request.messages]))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _strings(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _verdict(probe: Probe, text: str, session: GCSession | BaselineSession, items: Iterable[int]) -> Verdict:
    if probe.text in text:
        return Verdict.VISIBLE
    if isinstance(session, GCSession):
        own = [number for number in items if _recalls(session, number, probe.text)]
        for first, last in _REFERENCE.findall(text):
            if any(int(first) <= number <= int(last or first) for number in own):
                return Verdict.TRACED if last else Verdict.STUBBED
    return Verdict.LOST


def _recalls(session: GCSession, number: int, text: str) -> bool:
    try:
        return text in session.recall(f"i{number}")
    except SourceError:
        return False


# -- tables ----------------------------------------------------------------------------------------------------------


def print_tables(title: str, material: Sequence[Material], windows: Sequence[int], pool: ProcessPoolExecutor) -> None:
    """A table a window; calls whose whole history is below the threshold are left out, for all alike."""
    whole = list(pool.map(judge, _tasks(material, NO_COLLECTION, windows[-1])))
    for window in windows:
        least = window * GCConfig().threshold_percent / 100
        above = [[finding.history > least for finding in findings] for findings in whole]
        kept = {name: pool.map(judge, _tasks(material, name, window)) for name in (*COMPARED, *STRATEGIES)}
        columns = {NO_COLLECTION: [_none(finding, window) for finding in _above(whole, above)]}
        print_table(
            f"{title}, window {window:,}",
            columns | {name: list(_above(found, above)) for name, found in kept.items()},
        )


def _tasks(material: Sequence[Material], name: str, window: int) -> Iterator[Task]:
    return (Task(transcript=each, probes=probes, keeper=name, window=window) for each, probes in material)


def _above(found: Iterable[Sequence[Finding]], above: Sequence[Sequence[bool]]) -> Iterator[Finding]:
    for its, keep in zip(found, above, strict=True):
        yield from itertools.compress(its, keep)


def _none(finding: Finding, window: int) -> Finding:
    """Without a collection everything is visible as long as it can be sent."""
    return attrs.evolve(finding, verdict=Verdict.VISIBLE if finding.history <= window else Verdict.LOST, stale=False)


def print_table(title: str, columns: Mapping[str, Sequence[Finding]]) -> None:
    """A row a group, a column for each who keeps; counts and means at the end."""
    every = next(iter(columns.values()))
    groups = Counter(group for each in every for group in each.groups)
    print(f"\n{title:<34}{'n':>5}" + "".join(f"{name:>16}" for name in columns))
    for group in sorted(groups, key=lambda group: (group == ALL, group)):
        print_row(f"  {group}", groups[group], (_shares(found, group) for found in columns.values()))
    traced = (_percent(found, lambda each: each.verdict is Verdict.TRACED) for found in columns.values())
    print_row("  only through a trace, percent", len(every), traced)
    if any(each.replaced for each in every):
        stale = (str(sum(each.stale for each in found)) for found in columns.values())
        print_row("  old statement alone, count", sum(each.replaced for each in every), stale)
    means = (f"{sum(each.history for each in found) // max(1, len(found)):,}" for found in columns.values())
    print_row("  mean tokens of these requests", len(every), means)


def print_row(head: str, count: int, cells: Iterable[str]) -> None:
    """One line of a table."""
    print(f"{head:<34}{count:>5}" + "".join(f"{cell:>16}" for cell in cells))


def _shares(found: Sequence[Finding], group: str) -> str:
    own = [each for each in found if group in each.groups]
    visible = _percent(own, lambda each: each.verdict is Verdict.VISIBLE)
    return f"{visible} / {_percent(own, lambda each: each.verdict is not Verdict.LOST)}"


def _percent(found: Sequence[Finding], of: Callable[[Finding], bool]) -> str:
    return f"{100 * sum(map(of, found)) / len(found):.0f}" if found else "-"


if __name__ == "__main__":
    main()
