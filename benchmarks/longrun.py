"""
A session of ten thousand model calls: how large, how quick, how much it costs, and what of it is still known.

``python -m benchmarks.longrun [--steps 10000] [--strategy gc_rolling] [--window 100000] [--corrupt]`` runs the stream
of ``long_session`` through a session with a directory on disk. No model is involved: the replies are the recorded
ones. It prints Markdown. ``docs/measurements.md`` says how to read it.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs
from ctxgc.evaluation.baselines import BaselineSession, KeepLast
from ctxgc.evaluation.reuse import message_texts, uses_of
from ctxgc.evaluation.transcripts import Transcript

from benchmarks.counting import corpus
from benchmarks.long_corruption import print_corruption
from benchmarks.long_plants import Kind, Plant, Stage, plants
from benchmarks.long_session import Message, Said, long_session, session_files
from benchmarks.sized import made_with, print_row, quiet
from gc_core import GCConfig, GCSession, Item, ItemKind, Request, Unit
from gc_core.errors import SourceError
from gc_core.providers import format_named
from gc_core.providers.contract import TokenCounter
from gc_core.providers.token_counting import counter_for
from gc_core.values.items import Form, Level
from gc_core.values.sources import CONVERSATION

MARKS = (50, 100, 200, 500, 1_000, 5_000, 10_000)
"""Steps at which the table has a row; the last step of a shorter run has one too."""

JUDGED = (100, 1_000, 5_000, 10_000)
"""Steps at which the plants are looked for."""

EXPECTED: Mapping[int, str] = {100: "~0", 500: "40-60", 5_000: "85-95", 10_000: "95-99"}
"""What the seed (8.5) expects to be saved at a step, in percent."""

RATIOS: Mapping[Level, str] = {Level.CONDENSED: "3-5", Level.SUMMARY: "10-20", Level.DIGEST: "50-100"}
"""What the seed expects of a level: tokens of its originals a token."""

EARLY, LATE = range(150, 250), 100
"""The steps that are called near 200, and how many of the last ones are called late."""

SPAN = 1_000
"""Steps over which their mean time is reported."""

_REFERENCE = re.compile(r"\[gc: [\d,]+ tokens left out[^\]]*?\bi(\d+)(?:-i(\d+))?")

Session = GCSession | BaselineSession


# -- what is found ---------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Found:
    """
    Where a plant is at a step.

    Attributes:
        plant: The plant.
        in_force: Nothing has taken its place yet.
        places: Where its marker stands in the request: "verbatim", "L1", "L2", "L3" or the name of a source.
        referred: Not in the request, but a reference in it leads there.
        searched: Not in the request, but a search for it finds it.
        stale: The marker of what it took the place of stands in the request, and its own does not.

    """

    plant: Plant
    in_force: bool
    places: frozenset[str]
    referred: bool = False
    searched: bool = False
    stale: bool = False


@attrs.frozen(kw_only=True)
class Weight:
    """What a level has in the window: units, tokens, and tokens of the originals that it tells of."""

    units: int
    tokens: int
    original: int


@attrs.frozen(kw_only=True)
class Row:
    """The session at a step: tokens in all and of the request, sums over all requests so far, and bytes of memory."""

    step: int
    raw: int
    prompt: int
    raw_sum: int
    prompt_sum: int
    resident: int
    levels: Mapping[Level, Weight]


@attrs.frozen(kw_only=True)
class Step:
    """Seconds of a step, by the clock and of the processor; its new tokens; where its reply was recorded."""

    seconds: float
    busy: float
    new: int
    repetition: int
    place: int


@attrs.define
class Times:
    """All steps, and the seconds that counting their new text takes, and nothing else."""

    steps: list[Step] = attrs.Factory(list)
    counting: float = 0.0

    def near(self, wanted: Container[int]) -> list[Step]:
        """The steps of these numbers, the first of which is 1."""
        return [step for number, step in enumerate(self.steps, 1) if number in wanted]

    def retold(self, steps: Iterable[Step], repetitions: int) -> list[Step]:
        """The steps with the same recorded replies, so many repetitions later."""
        wanted = {(step.repetition + repetitions, step.place) for step in steps if step.place >= 0}
        return [step for step in self.steps if (step.repetition, step.place) in wanted]


@attrs.frozen(kw_only=True)
class Run:
    """What came of a run; ``over`` counts requests above the window, which only a baseline makes."""

    rows: tuple[Row, ...]
    found: Mapping[int, tuple[Found, ...]]
    times: Times
    seconds: float
    over: int


def level_of(unit: Unit) -> Level:
    """The detail with which a unit still covers its originals."""
    return unit.level


# -- running ---------------------------------------------------------------------------------------------------------


@attrs.define
class _Runner:
    """Drives a session through a stream and keeps the books; what it does for them is in no step's time."""

    session: Session
    window: int
    said: Iterable[Said]
    times: Times = attrs.Factory(Times)
    rows: list[Row] = attrs.Factory(list)
    found: dict[int, tuple[Found, ...]] = attrs.Factory(dict)
    _items: dict[int, tuple[str, ...]] = attrs.Factory(dict)
    _plants: dict[int, Plant] = attrs.Factory(dict)
    _request: Request | None = None
    _raw: int = 0
    _raw_sum: int = 0
    _prompt_sum: int = 0
    _spent: float = 0.0
    _busy: float = 0.0
    _fresh: int = 0
    over: int = 0
    _counter: TokenCounter = attrs.Factory(lambda: counter_for(None, "openai"))

    def run(self, steps: int) -> Run:
        """All of it. Raises RuntimeError for a request that is over the window."""
        begun = time.perf_counter()
        for said in self.said:
            if said.is_reply:
                self._send(said.step)
            self._count(said.message)
            before = self._newest() if said.sown else 0
            self._take(said)
            self._note(said, before)
            if said.is_reply:
                self._close_step(said, last=said.step == steps)
        seconds = time.perf_counter() - begun
        return Run(rows=tuple(self.rows), found=self.found, times=self.times, seconds=seconds, over=self.over)

    def _send(self, step: int) -> None:
        with self._timed():
            request = self._request = self.session.pre_send()
        self.over += request.tokens > self.window
        if self.over and isinstance(self.session, GCSession):
            raise RuntimeError(f"step {step}: a request of {request.tokens} tokens for a window of {self.window}")
        self._prompt_sum += request.tokens
        self._raw_sum += self._raw + self._counter.per_request
        if step in MARKS:
            self._add_row(step, request)
        if step in JUDGED:
            self._judge(step, request)

    def _take(self, said: Said) -> None:
        with self._timed():
            if said.is_reply:
                self.session.post_turn(said.message)
            else:
                self.session.append(said.message)

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        clock, busy = time.perf_counter(), time.thread_time()
        yield
        self._spent += time.perf_counter() - clock
        self._busy += time.thread_time() - busy

    def _count(self, message: Message) -> None:
        """New tokens, and how long it takes to count them and nothing else."""
        texts = message_texts(message, format_named("openai"))
        begun = time.thread_time()
        tokens = sum(map(self._counter.count, texts)) + self._counter.per_message
        self.times.counting += time.thread_time() - begun
        self._raw += tokens
        self._fresh += tokens

    def _note(self, said: Said, before: int) -> None:
        for sowing in said.sown:
            plant = sowing.plant
            if sowing.stage is not Stage.FAILURE:
                self._plants[plant.number] = plant
                new = tuple(f"i{number}" for number in range(before + 1, self._newest() + 1))
                self._items[plant.number] = (*self._items.get(plant.number, ()), *new)

    def _newest(self) -> int:
        return newest_item(self.session)

    def _close_step(self, said: Said, *, last: bool) -> None:
        step = said.step
        done = Step(seconds=self._spent, busy=self._busy, new=self._fresh, repetition=said.repetition, place=said.place)
        self.times.steps.append(done)
        self._spent, self._busy, self._fresh = 0.0, 0.0, 0
        if last and self._request is not None and step not in MARKS:
            self._add_row(step, self._request)
        if last and self._request is not None and step not in JUDGED:
            self._judge(step, self._request)

    def _add_row(self, step: int, request: Request) -> None:
        self.rows.append(
            Row(
                step=step,
                raw=self._raw,
                prompt=request.tokens,
                raw_sum=self._raw_sum,
                prompt_sum=self._prompt_sum,
                resident=resident_bytes(),
                levels=weights(self.session),
            )
        )

    def _judge(self, step: int, request: Request) -> None:
        texts = dict(_places(self.session, request))
        self.found[step] = tuple(
            judged(plant, step, texts, self.session, self._items[plant.number])
            for plant in self._plants.values()
            if plant.step <= step
        )


def newest_item(session: Session) -> int:
    """Number of the newest item of a session; 0 of a baseline, which gives none away."""
    if isinstance(session, BaselineSession):
        return 0
    return max((int(item.id[1:]) for item in session.items() if item.id[1:].isdigit()), default=0)


def weights(session: Session) -> dict[Level, Weight]:
    """What each level has in the window of a session."""
    if isinstance(session, BaselineSession):
        return {}
    found: dict[Level, Weight] = {}
    for unit in session.view().units:
        known = found.get(level_of(unit), Weight(units=0, tokens=0, original=0))
        found[level_of(unit)] = Weight(
            units=known.units + 1,
            tokens=known.tokens + unit.tokens,
            original=known.original + unit.original_tokens,
        )
    return found


def _places(session: Session, request: Request) -> Iterator[tuple[str, str]]:
    """The texts of a request by where they stand."""
    if isinstance(session, BaselineSession):
        form = format_named("openai")
        yield "verbatim", "\n".join(text for message in request.messages for text in message_texts(message, form))
        return
    texts: dict[str, list[str]] = {}
    levels = {item.id: level_of(unit) for unit in session.view().units for item in unit.items}
    for item in session.items():
        texts.setdefault(_place_of(item, levels.get(item.id, Level.VERBATIM)), []).append(item.text)
    yield from ((place, "\n".join(its)) for place, its in texts.items())


def _place_of(item: Item, level: Level) -> str:
    if item.source != CONVERSATION.name:
        return item.source
    if item.kind is ItemKind.SUMMARY:
        return level.value
    return Level.CONDENSED.value if item.form is Form.STUB or item.kind is ItemKind.TRACE else "verbatim"


def judged(plant: Plant, step: int, texts: Mapping[str, str], session: Session, items: Sequence[str]) -> Found:
    """Where a plant is: in the request, behind a reference of it, or where a search finds it."""
    places = frozenset(place for place, text in texts.items() if plant.marker in text)
    found = Found(plant=plant, in_force=plant.in_force(step), places=places)
    if places or isinstance(session, BaselineSession):
        return found
    return attrs.evolve(
        found,
        referred=_is_referred(plant, texts.values(), session, items),
        searched=_is_found(plant, session),
        stale=bool(plant.old) and any(plant.old in text for text in texts.values()),
    )


def _is_referred(plant: Plant, texts: Iterable[str], session: GCSession, items: Sequence[str]) -> bool:
    """Some reference in the request covers an item that holds the plant, and the item can be recalled."""
    own = [int(item[1:]) for item in items if plant.marker in _recalled(session, item)]
    ranges = [(int(first), int(last or first)) for text in texts for first, last in _REFERENCE.findall(text)]
    return any(first <= number <= last for number in own for first, last in ranges)


def _is_found(plant: Plant, session: GCSession) -> bool:
    return any(plant.marker in _recalled(session, hit.item) for hit in session.search(plant.marker))


def _recalled(session: GCSession, item: str) -> str:
    try:
        return session.recall(item)
    except SourceError:
        return ""


def resident_bytes() -> int:
    """Bytes of this process in memory, after a collection of Python's own; 0 where the system does not tell."""
    gc.collect()
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    line = next(line for line in status.read_text("ascii").splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


def run_strategy(steps: int, strategy: str, window: int, files: Sequence[Path]) -> Run:
    """A session that a strategy keeps, in a temporary directory on disk."""
    config = GCConfig(strategy=(strategy,), context_limit=window, output_reservation=0)
    with tempfile.TemporaryDirectory() as directory, GCSession(config, format="openai", directory=directory) as session:
        return _Runner(session=session, window=window, said=long_session(steps, files, plants(steps))).run(steps)


def run_keep_last(steps: int, window: int, files: Sequence[Path]) -> Run:
    """The same stream, of which the newest units that fit are kept."""
    config = GCConfig(context_limit=window, output_reservation=0)
    nothing = uses_of(Transcript(path=Path("long"), format="openai", messages=()))
    session = BaselineSession(KeepLast(), config=config, format="openai", model=None, uses=nothing)
    return _Runner(session=session, window=window, said=long_session(steps, files, plants(steps))).run(steps)


# -- tables ----------------------------------------------------------------------------------------------------------


def print_run(run: Run, next_to: Run, strategy: str) -> None:
    """All tables of a run, with another one beside it."""
    print_savings(run.rows, next_to.rows, strategy)
    print(f"\nRequests over the window: {run.over} of {strategy}, {next_to.over} of keep last.")
    print_times(run.times)
    print_memory(run.rows)
    print_levels(run.rows)
    print_found(run.found, strategy)
    print_found(next_to.found, "keep last")
    print_places(run.found)
    print_missing(run.found)


def print_savings(rows: Sequence[Row], next_to: Sequence[Row], strategy: str) -> None:
    """A row a step: what was sent, and what that saves."""
    print("\nTokens, and percent saved against the whole history (of this request / of all requests so far):\n")
    print_row("step", "raw", "prompt", f"saved by {strategy}", "seed (8.5)", "keep last: prompt", "saved by keep last")
    print_row(*["--:"] * 7)
    for row, other in zip(rows, next_to, strict=True):
        print_row(
            f"{row.step:,}",
            f"{row.raw:,}",
            f"{row.prompt:,}",
            saved(row),
            EXPECTED.get(row.step, ""),
            f"{other.prompt:,}",
            saved(other),
        )


def saved(row: Row) -> str:
    """Percent saved by the request of a row, and by all so far."""
    return f"{_less(row.prompt, row.raw)} / {_less(row.prompt_sum, row.raw_sum)}"


def _less(part: int, whole: int) -> str:
    """Never less than nothing: framing that the raw count leaves out is no loss."""
    return f"{max(0.0, 100.0 * (1 - part / max(1, whole))):.1f}"


def print_times(times: Times) -> None:
    """
    Steps near 200 and the last ones, as they are and for 1,000 new tokens; and beside each the same recorded replies a
    repetition later or earlier, for what is new in a step decides how long it takes.
    """
    early, late = times.near(EARLY), times.near(range(len(times.steps) - LATE + 1, len(times.steps) + 1))
    print("\nMilliseconds a step (append, pre_send and post_turn), by the clock and of the processor:\n")
    print_row("steps", "median", "p95", "median CPU", "mean CPU", "mean new tokens", "CPU for 1,000 new tokens")
    print_row("---", *["--:"] * 6)
    _print_steps(f"{EARLY.start}-{EARLY.stop - 1}", early, f"the last {LATE}", late)
    if again := times.retold(early, 1):
        _print_steps("the replies of the first row", times.retold(early, 0), "the same, told again", again)
    if before := times.retold(late, -1):
        _print_steps("the replies of the last steps, before", before, "those last steps", times.retold(late, 0))
    print(f"\nMean CPU of a step, by {SPAN:,} steps, ms: {', '.join(_by_span(times.steps))}.")
    busy = sum(step.busy for step in times.steps)
    whole = sum(step.seconds for step in times.steps)
    share = 100 * times.counting / busy
    print(f"\n{whole:,.0f} s in all, {busy:,.0f} of the processor; counting the new text takes {share:.0f} % as long.")


def _by_span(steps: Sequence[Step]) -> Iterator[str]:
    """A collection is dear and rare: over a hundred steps the mean says little of how it grows."""
    for at in range(0, len(steps), SPAN):
        yield f"{1_000 * statistics.fmean(step.busy for step in steps[at : at + SPAN]):.1f}"


def _print_steps(name: str, steps: Sequence[Step], other: str, others: Sequence[Step]) -> None:
    if not steps or not others:
        return
    first, second = _step_figures(steps), _step_figures(others)
    print_row(name, *(f"{figure:,.1f}" for figure in first))
    print_row(other, *(f"{figure:,.1f}" for figure in second))
    print_row("ratio", *(f"{late / early:.2f}" for early, late in zip(first, second, strict=True)))


def _step_figures(steps: Sequence[Step]) -> tuple[float, ...]:
    clock = sorted(1_000 * step.seconds for step in steps)
    busy = [1_000 * step.busy for step in steps]
    new = sum(step.new for step in steps)
    high = clock[int(0.95 * (len(clock) - 1))]
    return (
        statistics.median(clock),
        high,
        statistics.median(busy),
        statistics.fmean(busy),
        new / len(steps),
        1_000 * sum(busy) / new,
    )


def print_memory(rows: Sequence[Row]) -> None:
    """Memory by step."""
    print("\nMemory of the process, MB: " + ", ".join(f"{row.resident / 1e6:.0f} at {row.step:,}" for row in rows))


def print_levels(rows: Sequence[Row]) -> None:
    """A row a step: tokens of each level, and how many tokens of the originals one of them stands for."""
    print("\nTokens by level, and tokens of the originals for each of them:\n")
    print_row("step", *(f"{level.value}: tokens" for level in Level), *(f"{level.value}: ratio" for level in RATIOS))
    print_row(*["--:"] * (1 + len(Level) + len(RATIOS)))
    for row in rows:
        known = [row.levels.get(level) for level in Level]
        tokens = (f"{each.tokens:,}" if each else "-" for each in known)
        ratios = (_ratio(row.levels.get(level)) for level in RATIOS)
        print_row(f"{row.step:,}", *tokens, *ratios)
    print_row("seed", *[""] * len(Level), *RATIOS.values())


def _ratio(weight: Weight | None) -> str:
    return f"{weight.original / weight.tokens:.1f}" if weight else "-"


_GROUPS: Mapping[str, Callable[[Found], bool]] = {
    "constraints in force": lambda found: found.plant.kind is Kind.CONSTRAINT and found.in_force,
    "decisions in force": lambda found: found.plant.kind is Kind.DECISION and found.in_force,
    "file paths": lambda found: found.plant.kind is Kind.FILE,
    "error resolutions": lambda found: found.plant.kind is Kind.ERROR,
}


def print_found(found: Mapping[int, Sequence[Found]], name: str) -> None:
    """A row a kind: percent in the request, and with those that a reference of it or a search brings back."""
    print(f"\n{name}: percent of plants in the request / or behind a reference in it / or found by a search (n):\n")
    print_row("", *(f"step {step:,}" for step in found))
    print_row("---", *["--:"] * len(found))
    for group, is_in in _GROUPS.items():
        print_row(group, *(_shares([each for each in its if is_in(each)]) for its in found.values()))
    stale = (sum(each.stale for each in its) for its in found.values())
    print_row("only what was superseded is in the request (count)", *stale)


def _shares(found: Sequence[Found]) -> str:
    if not found:
        return "-"
    visible = [bool(each.places) for each in found]
    referred = [bool(each.places) or each.referred for each in found]
    either = [bool(each.places) or each.referred or each.searched for each in found]
    return " / ".join(f"{100 * sum(its) / len(its):.0f}" for its in (visible, referred, either)) + f" ({len(found)})"


def print_places(found: Mapping[int, Sequence[Found]]) -> None:
    """A row a kind and step: in how many places of each sort the plants stand; one may stand in several."""
    places = sorted({place for its in found.values() for each in its for place in each.places})
    print("\nWhere the plants stand in the request (count; one may stand in several places):\n")
    print_row("", "step", "n", *places, "nowhere")
    print_row("---", *["--:"] * (3 + len(places)))
    for group, is_in in _GROUPS.items():
        for step, its in found.items():
            mine = [each for each in its if is_in(each)]
            counts = Counter(place for each in mine for place in each.places)
            nowhere = sum(not each.places for each in mine)
            print_row(group, f"{step:,}", len(mine), *(counts[place] for place in places), nowhere)


def print_missing(found: Mapping[int, Sequence[Found]]) -> None:
    """What is in force and not in the last request, by the step at which it was said."""
    last = found[max(found)] if found else ()
    for kind in (Kind.CONSTRAINT, Kind.DECISION):
        missing = [each.plant.step for each in last if each.plant.kind is kind and each.in_force and not each.places]
        listed = ", ".join(f"{step:,}" for step in missing) or "none"
        print(f"\nIn force, and not in the last request: {kind.value}s of steps {listed}.")


def main() -> None:
    """Run, and print the tables in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.longrun")
    parser.add_argument("--steps", type=int, default=10_000, help="model calls")
    parser.add_argument("--strategy", default="gc_rolling", help="name of the strategy")
    parser.add_argument("--window", type=int, default=100_000, help="tokens of the window")
    parser.add_argument("--corrupt", action="store_true", help="make a summary wrong on the way, and go back")
    chosen = parser.parse_args()
    if not corpus().is_dir():
        print(f"no recorded sessions in {corpus()}: nothing to keep or to lose; set GC_CORPUS")
        return
    quiet()
    print(f"Made {made_with(packages_of(chosen.strategy))}; {chosen.steps:,} steps, window {chosen.window:,}.")
    if chosen.corrupt:
        print_corruption(chosen.steps, chosen.strategy, chosen.window)
        return
    files = session_files()
    run = run_strategy(chosen.steps, chosen.strategy, chosen.window, files)
    print_run(run, run_keep_last(chosen.steps, chosen.window, files), f"`{chosen.strategy}`")
    print(f"\nThe run took {run.seconds:,.0f} s.")


def packages_of(strategy: str) -> tuple[str, ...]:
    """The packages whose versions matter."""
    return ("gc-core", strategy.replace("_", "-"), "tiktoken")


if __name__ == "__main__":
    main()
