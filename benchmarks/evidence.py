"""
Evidence other than names: the planted facts and hand-labelled lines that a collector keeps.

A fact is judged in the last request of its session, and in the first one after 1, 2 and 5 collections since it was
said; a labelled line in the request of the call that needed it, where the whole history is above the threshold (below
it nothing is collected). ``docs/measurements.md`` says how to read it.
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
from ctxgc.evaluation.baselines import BASELINES, BaselineSession
from ctxgc.evaluation.reuse import uses_of
from ctxgc.evaluation.transcripts import Transcript, read_transcript

from benchmarks.counting import corpus
from benchmarks.planted import Place, Planted, PlantedSession, plant
from gc_core import ContextOverflowError, GCConfig, GCSession, Request
from gc_core.errors import SourceError

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

STRATEGIES = ("gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive")
NO_COLLECTION = "no collection"
COMPARED = ("keep last", "mask then drop", "random units")
"""The baselines; the oracle is left out, for what it knows is which names will be used."""

FACT_WINDOWS, LABEL_WINDOWS = (16_000, 32_000), (8_000, 16_000, 32_000)

ROUNDS = (1, 2, 5)
"""Collections since a fact was said, after which it is looked for."""

ALL = "all"

_NAME = re.compile(r"\d|_|\w/\w|\w\.\w|[a-z][A-Z]")
_REFERENCE = re.compile(r"\[gc: [\d,]+ tokens left out(?:( here): turns? [\d-]+,|:) i(\d+)(?:-i(\d+))?")
_NOTHING = Request(format="openai", messages=(), tokens=0)


class Verdict(enum.Enum):
    """What became of a text."""

    VISIBLE = "visible"
    STUBBED = "recalled through a stub"
    TRACED = "recalled through a trace or a summary"
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


@attrs.frozen
class Call:
    """In the request that this assistant message answered; ``message`` is its index."""

    message: int


@attrs.frozen
class Round:
    """In the first request after so many collections since the text was said; never when there are fewer."""

    number: int


When = Call | Round
"""In which request a text is looked for."""


@attrs.frozen(kw_only=True)
class Probe:
    """
    A text that is looked for.

    Attributes:
        text: The text.
        old: What must not stand without it, or "".
        message: Index of the message that holds it.
        needed: In which request it is looked for.
        groups: The rows of the table that it belongs to.

    """

    text: str
    old: str = ""
    message: int
    needed: When
    groups: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Finding:
    """
    What became of a probe.

    Attributes:
        groups: The probe's.
        needed: The probe's.
        verdict: Where its text is.
        replaced: It had an older text, which does not count any more.
        stale: The older text is visible, and the newer is not.
        history: Tokens of the request; without a collection, of the whole history.
        since: Messages between the text and the request.

    """

    groups: tuple[str, ...]
    needed: When
    verdict: Verdict
    replaced: bool
    stale: bool
    history: int
    since: int


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
    names = ("gc-core", *(name.replace("_", "-") for name in STRATEGIES), "tiktoken")
    packages = ", ".join(f"{name} {version(name)}" for name in names)
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
    """The sessions with planted facts, each looked for in the last request and after some collections."""
    for session in plant([read_transcript(corpus() / f"{name}.jsonl") for name in HOSTS]):
        yield session.transcript, tuple(_fact_probes(session))


def _fact_probes(session: PlantedSession) -> Iterator[Probe]:
    spoken = [at for at, message in enumerate(session.transcript.messages) if message["role"] == "assistant"]
    for planted in session.planted:
        last = Probe(
            text=planted.fact.text,
            old=planted.fact.old,
            message=planted.message,
            needed=Call(spoken[-1]),
            groups=_fact_groups(planted, planted.fact.place.value),
        )
        yield last
        for number in ROUNDS:
            yield attrs.evolve(last, needed=Round(number), groups=_fact_groups(planted, "log or row"))


def _fact_groups(planted: Planted, in_result: str) -> tuple[str, ...]:
    fact = planted.fact
    if fact.place not in {Place.LOG, Place.ROW}:
        return (fact.place.value, ALL)
    return (f"{in_result}, {'without' if fact.plain else 'with'} a name", ALL)


def labels() -> tuple[Label, ...]:
    """The labelled lines."""
    rows: list[dict[str, Any]] = json.loads(LABELS.read_text("utf-8"))
    return tuple(Label(**{**row, "columns": tuple(row["columns"]) if "columns" in row else None}) for row in rows)


def label_tasks() -> Iterator[Material]:
    """The sessions with labels, cut behind the last call that needed one."""
    for file, group in itertools.groupby(labels(), key=lambda label: label.file):
        its = list(group)
        transcript = read_transcript(corpus() / file)
        shift = len(transcript.system)
        probes = tuple(_label_probe(label, transcript, shift) for label in its)
        last = max(label.needed for label in its) - shift
        yield attrs.evolve(transcript, messages=transcript.messages[: last + 1]), probes


def _label_probe(label: Label, transcript: Transcript, shift: int) -> Probe:
    """System texts at the head are no messages of a transcript: indexes are those of the file."""
    role = str(transcript.messages[label.message - shift]["role"])
    text = label.text(transcript, shift=shift)
    by_name = f"by {role}, {'with' if _NAME.search(text) else 'without'} a name"
    return Probe(
        text=text,
        message=label.message - shift,
        needed=Call(label.needed - shift),
        groups=(by_name, label.kind, ALL),
    )


# -- judging ---------------------------------------------------------------------------------------------------------


def judge(task: Task) -> list[Finding]:
    """Replay the session, and look for every probe in the request in which it is needed."""
    session = keeper(task.keeper, task.window, task.transcript)
    holders = {probe.message for probe in task.probes}
    calls = {probe.needed.message for probe in task.probes if isinstance(probe.needed, Call)}
    clock = _Clock()
    found: list[Finding] = []
    _open(session, task.transcript)
    for at, message in enumerate(task.transcript.messages):
        before = _newest(session) if at in holders else 0
        if message["role"] == "assistant":
            # Also where nothing is looked for the request is made, for that is when a window is collected.
            if at in calls or task.keeper != NO_COLLECTION:
                clock.send(at, _request(session))
                found += _findings([probe for probe in task.probes if clock.is_due(probe)], task, session, clock)
            session.post_turn(message)
        else:
            session.append(message)
        if at in holders:
            clock.hear(at, range(before + 1, _newest(session) + 1))
    return found


@attrs.define
class _Clock:
    """
    Which call it is, and how many collections there were so far, by one rule for all who keep a session.

    A collection is where a message that was sent before is gone or changed: a baseline says nothing of its own. What is
    collected in several steps between two calls counts once.
    """

    at: int = 0
    request: Request = _NOTHING
    items: dict[int, range] = attrs.Factory(dict)
    _sent: list[Any] = attrs.Factory(list)
    _collections: int = 0
    _collected: bool = False
    _said: dict[int, int] = attrs.Factory(dict)

    def hear(self, at: int, items: range) -> None:
        """A message that holds something, and the numbers of its items."""
        self.items[at] = items
        self._said[at] = self._collections

    def send(self, at: int, request: Request) -> None:
        """The request of the call whose reply is the message there. What could not be made sends nothing."""
        now: list[Any] = [*request.system, *request.messages]
        self.at, self.request = at, request
        self._collected = bool(now) and now[: len(self._sent)] != self._sent
        self._collections += self._collected
        self._sent = now or self._sent

    def is_due(self, probe: Probe) -> bool:
        """Whether this is the request in which the probe is looked for."""
        if isinstance(probe.needed, Call):
            return probe.needed.message == self.at
        said = self._said.get(probe.message)
        return said is not None and self._collected and self._collections - said == probe.needed.number


def keeper(name: str, window: int, transcript: Transcript) -> GCSession | BaselineSession:
    """
    A session that a strategy or a baseline keeps; nothing is reserved for replies, which are known.

    The identifiers that the transcript uses are not given: only the oracle would ask.
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


def _request(session: GCSession | BaselineSession) -> Request:
    try:
        return session.pre_send()
    except ContextOverflowError as error:
        return attrs.evolve(_NOTHING, tokens=error.needed)


def _findings(
    due: Sequence[Probe], task: Task, session: GCSession | BaselineSession, clock: _Clock
) -> Iterator[Finding]:
    text = _text(clock.request, task.window) if due else ""
    for probe in due:
        verdict = _verdict(probe, text, session, clock.items[probe.message])
        yield Finding(
            groups=probe.groups,
            needed=probe.needed,
            verdict=verdict,
            replaced=bool(probe.old),
            stale=bool(probe.old) and probe.old in text and verdict is not Verdict.VISIBLE,
            history=clock.request.tokens,
            since=clock.at - probe.message,
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
        for here, first, last in _REFERENCE.findall(text):
            if any(int(first) <= number <= int(last or first) for number in own):
                return Verdict.TRACED if here else Verdict.STUBBED
    return Verdict.LOST


def _recalls(session: GCSession, number: int, text: str) -> bool:
    try:
        return text in session.recall(f"i{number}")
    except SourceError:
        return False


# -- tables ----------------------------------------------------------------------------------------------------------


def print_tables(title: str, material: Sequence[Material], windows: Sequence[int], pool: ProcessPoolExecutor) -> None:
    """Tables a window; calls whose whole history is below the threshold are left out, for all alike."""
    whole = list(pool.map(judge, _tasks(material, NO_COLLECTION, windows[-1])))
    for window in windows:
        least = window * GCConfig().threshold_percent / 100
        above = [[finding.history > least for finding in findings] for findings in whole]
        judged = {name: pool.map(judge, _tasks(material, name, window)) for name in (*COMPARED, *STRATEGIES)}
        kept = {name: list(found) for name, found in judged.items()}
        columns = {NO_COLLECTION: [_none(finding, window) for finding in _above(whole, above)]}
        print_table(
            f"{title}, window {window:,}",
            columns | {name: list(_above(_at_calls(found), above)) for name, found in kept.items()},
        )
        if rounds := _probes_by_round(material):
            flat = {name: list(itertools.chain(*found)) for name, found in kept.items()}
            print_rounds(f"after collections, window {window:,}", rounds, flat)


def _tasks(material: Sequence[Material], name: str, window: int) -> Iterator[Task]:
    return (Task(transcript=each, probes=probes, keeper=name, window=window) for each, probes in material)


def _at_calls(found: Iterable[Sequence[Finding]]) -> Iterator[list[Finding]]:
    return ([each for each in its if isinstance(each.needed, Call)] for its in found)


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
    print()
    print_row(title, "n", columns)
    for group in _in_order(groups):
        print_row(f"  {group}", groups[group], (_shares(_of(found, group)) for found in columns.values()))
    print_row("  only by trace or summary, %", len(every), map(_traced, columns.values()))
    if any(each.replaced for each in every):
        stale = (sum(each.stale for each in found) for found in columns.values())
        print_row("  old statement alone, count", sum(each.replaced for each in every), stale)
    means = (_mean(each.history for each in found) for found in columns.values())
    print_row("  mean tokens of these requests", len(every), means)


def _probes_by_round(material: Sequence[Material]) -> dict[int, Counter[str]]:
    """How many probes of each group there are, by round; fewer are judged where there are fewer collections."""
    counts: dict[int, Counter[str]] = {}
    for probe in itertools.chain(*(probes for _, probes in material)):
        if isinstance(probe.needed, Round):
            counts.setdefault(probe.needed.number, Counter()).update(probe.groups)
    return counts


def print_rounds(title: str, rounds: Mapping[int, Mapping[str, int]], columns: Mapping[str, Sequence[Finding]]) -> None:
    """The same by rounds; how many are judged differs by who keeps, so every cell says it."""
    print()
    print_row(title, "n", columns)
    for number, groups in sorted(rounds.items()):
        at = {name: [each for each in found if each.needed == Round(number)] for name, found in columns.items()}
        print(f"  after {number}")
        for group in _in_order(groups):
            its = [_of(found, group) for found in at.values()]
            print_row(f"    {group}", groups[group], (f"{_shares(each)} ({len(each)})" for each in its))
        replaced = [[each for each in found if each.replaced] for found in at.values()]
        stale = (f"{sum(each.stale for each in found)} ({len(found)})" for found in replaced)
        print_row("    only by trace or summary, %", groups[ALL], map(_traced, at.values()))
        print_row("    old statement alone, count", groups[Place.SUPERSEDED.value], stale)
        print_row(
            "    mean messages since", groups[ALL], (_mean(each.since for each in found) for found in at.values())
        )


def print_row(head: str, count: object, cells: Iterable[object]) -> None:
    """One line of a table."""
    print(f"{head:<33}{count:>4}" + "".join(f"{cell:>16}" for cell in cells))


def _in_order(groups: Iterable[str]) -> list[str]:
    return sorted(groups, key=lambda group: (group == ALL, group))


def _of(found: Sequence[Finding], group: str) -> list[Finding]:
    return [each for each in found if group in each.groups]


def _traced(found: Sequence[Finding]) -> str:
    return _percent(found, lambda each: each.verdict is Verdict.TRACED)


def _mean(numbers: Iterable[int]) -> str:
    known = list(numbers)
    return f"{sum(known) // len(known):,}" if known else "-"


def _shares(found: Sequence[Finding]) -> str:
    visible = _percent(found, lambda each: each.verdict is Verdict.VISIBLE)
    return f"{visible} / {_percent(found, lambda each: each.verdict is not Verdict.LOST)}"


def _percent(found: Sequence[Finding], of: Callable[[Finding], bool]) -> str:
    return f"{100 * sum(map(of, found)) / len(found):.0f}" if found else "-"


if __name__ == "__main__":
    main()
