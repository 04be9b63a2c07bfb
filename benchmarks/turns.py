"""
The cost of a model call without the model, of a long session, and of a large collection.

The sessions are made of real messages where there is a corpus (see ``benchmarks.counting``), else of made ones. Times
are wall time of this process, Python's own garbage collector included. A call is ``pre_send`` and ``post_turn``; taking
in the reply is part of ``post_turn``. The target leaves that out, so it is measured by itself as well, in a twin
session.
"""

from __future__ import annotations

import gc
import itertools
import json
import logging
import os
import platform
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import attrs
from ctxgc.evaluation.transcripts import read_transcript
from gc_truncate import Truncate

from benchmarks.counting import corpus, percentile
from gc_core import GCConfig, GCSession, Goal
from gc_core.collector.permissions import Rights
from gc_core.collector.planner import Planner
from gc_core.errors import TranscriptError
from gc_core.events import CollectionStarted, Event
from gc_core.providers import format_named
from gc_core.providers.rules import check_collection, check_request
from gc_core.providers.token_counting import counter_for, part_tokens
from gc_core.window.view import Protection, WindowView, Zone

Message = dict[str, Any]
T = TypeVar("T")

MESSAGES, TOKENS, CALLS = 1_000, 200_000, 500
"""Size of the full window, and how many calls are measured in it."""

WINDOW, EARLY, LAST, SPAN = 32_000, 1_000, 10_000, 500
"""The small window, an early call and the last of its session, and how many calls at its ends are compared."""

LARGEST = 4_000
"""Tokens up to which an exchange enters the small window: a larger one would be a good part of it."""

ITEMS = 10_000
"""Live items of the large collection."""

CALL_MS, RATIO, GROWTH, COLLECTION_MS = 5.0, 1.2, 1.1, 100.0
"""The targets: p99 of a call; late calls in early ones; late memory in early memory; a collection."""


@attrs.frozen(kw_only=True)
class Exchange:
    """What belongs together: a user's message, or a reply with all its results."""

    messages: tuple[Message, ...]
    tokens: int


@attrs.frozen(kw_only=True)
class Call:
    """Milliseconds of one model call, and whether a collection was tried in it."""

    before: float
    after: float
    collected: bool

    @property
    def whole(self) -> float:
        """Both together."""
        return self.before + self.after


def main() -> None:
    """Print every figure with its target."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)  # recorded sessions have messages that need mending
    where = f"{platform.machine()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"
    print(f"Python {platform.python_version()} on {where}; milliseconds")
    print(f"{'':<52}{'calls':>7}{'median':>9}{'p99':>9}{'max':>9}")
    for name in ("openai", "anthropic"):
        known = list(exchanges(name))
        print(f"{name}: {len(known):,} exchanges, {'real' if any(transcripts(name)) else 'MADE: no corpus'}")
        print_full(name, known)
        print_long(name, known)
        print_collection(name, known)
        if name == "openai":
            print_memory(name, known)  # minutes under tracemalloc, and no matter of the format


# -- a call in a full window -----------------------------------------------------------------------------------------


def print_full(name: str, known: Sequence[Exchange]) -> None:
    """Calls without a collection in a window that is large and full."""
    stream = evenly(known, TOKENS / MESSAGES)
    with opened(name) as session, opened(name) as twin, opened(name) as first:
        fill(session, stream, lambda: session.budget.total < TOKENS)
        size = f"{session.budget.total:,} tokens in {len(session.pre_send().messages):,} messages"
        calls = list(itertools.islice(run(session, stream), CALLS))
        beyond = list(itertools.islice(without_ingesting(session, twin, first, stream), CALLS))
    print_row(f"  pre_send, from {size} on", [call.before for call in calls])
    print_row("  post_turn, the reply taken in", [call.after for call in calls])
    print_row("  both", [call.whole for call in calls])
    p99 = print_row("  both, less taking in the reply", beyond)
    print_verdict(f"p99 {p99:.2f} ms beyond ingesting, target under {CALL_MS:g} ms", met=p99 < CALL_MS)


def without_ingesting(
    session: GCSession, twin: GCSession, first: GCSession, stream: Iterable[Exchange]
) -> Iterator[float]:
    """Milliseconds of a call, less those of appending its reply to a twin; a third session counts the texts before."""
    for message in itertools.chain.from_iterable(exchange.messages for exchange in stream):
        first.append(message)
        _, ingesting = timed(lambda said=message: twin.append(said))  # type: ignore[misc]  # the loop's own value
        if message["role"] == "assistant":
            _, before = timed(session.pre_send)
            _, after = timed(lambda said=message: session.post_turn(said))  # type: ignore[misc]  # as above
            yield before + after - ingesting
        else:
            session.append(message)


def opened(name: str) -> GCSession:
    """A session without a limit that matters."""
    return GCSession(
        GCConfig(context_limit=10**9, auto_trigger=False, reread_guard="off"), format=name, strategy=Truncate()
    )


# -- a long session in a small window --------------------------------------------------------------------------------


def print_long(name: str, known: Sequence[Exchange]) -> None:
    """Early and late calls of a long session."""
    calls = list(long_session(name, known))
    plain = [[call.whole for call in span if not call.collected] for span in (calls[100 : 100 + SPAN], calls[-SPAN:])]
    print_row(f"  {WINDOW:,} window, calls 100-{100 + SPAN}, no collection", plain[0])
    print_row(f"  {WINDOW:,} window, calls {LAST - SPAN:,}-{LAST:,}, no collection", plain[1])
    print_row("  the calls with a collection", [call.whole for call in calls if call.collected])
    ratio = statistics.median(plain[1]) / statistics.median(plain[0])
    print_verdict(f"late calls take {ratio:.2f} times early ones, target at most {RATIO:g}", met=ratio <= RATIO)


def print_memory(name: str, known: Sequence[Exchange]) -> None:
    """
    What a session holds for each live item at call 1,000 and at the last: live memory of Python with it, less that once
    it is closed and dropped. So what the process remembers of texts, whatever the session, is not among it; that is
    bounded by 65,536 counts, as many tokens with their names and 4,096 calls, some 25 MB when full.
    """
    tracemalloc.start()
    early, late = (held(name, known, calls) for calls in (EARLY, LAST))
    tracemalloc.stop()
    print(f"  a session holds {early / 1e3:.2f} kB a live item at call {EARLY:,}, {late / 1e3:.2f} kB at call {LAST:,}")
    text = f"late memory is {late / early:.2f} times early memory, target at most {GROWTH:g}"
    print_verdict(text, met=late <= GROWTH * early)


def held(name: str, known: Sequence[Exchange], calls: int) -> float:
    """Bytes that a session holds for each live item after so many calls."""
    with small_window(name) as session:
        for _ in itertools.islice(run(session, small(known)), calls):
            pass
        items = len(session.items())
        gc.collect()
        whole = tracemalloc.get_traced_memory()[0]
    del session
    gc.collect()
    return (whole - tracemalloc.get_traced_memory()[0]) / items


def long_session(name: str, known: Sequence[Exchange]) -> Iterator[Call]:
    """Calls in a small window."""
    with small_window(name) as session:
        yield from itertools.islice(run(session, small(known)), LAST)


def small_window(name: str) -> GCSession:
    """A session in the small window."""
    config = GCConfig(context_limit=WINDOW, output_reservation=0, reread_guard="off")  # the recorded calls come again
    return GCSession(config, format=name, strategy=Truncate())


def small(known: Sequence[Exchange]) -> Iterator[Exchange]:
    """Exchanges that are no good part of the small window, over and over."""
    return itertools.cycle([exchange for exchange in known if exchange.tokens <= LARGEST])


# -- a large collection ----------------------------------------------------------------------------------------------


def print_collection(name: str, known: Sequence[Exchange]) -> None:
    """One collection over many items, whole and in its parts."""
    with opened(name) as session:
        fill(session, evenly(known, 100), lambda: len(session.items()) < ITEMS)
        goal = Goal(target_tokens=session.budget.total // 2)
        runs = [timed(lambda: session.plan(goal=goal)) for _ in range(5)]
        result = runs[0][0].result
        freed = f"{result.tokens_freed:,} of {result.tokens_before:,} tokens by {len(result.removals):,} removals"
        print(f"  a collection over {len(session.items()):,} items frees {freed}; best of {len(runs)} runs")
        for part, cost in parts(session, goal):
            print(f"    {part:<56}{cost:>9.1f}")
    best = min(cost for _, cost in runs)
    print_verdict(f"whole {best:.1f} ms, target under {COLLECTION_MS:g} ms", met=best < COLLECTION_MS)


def parts(session: GCSession, goal: Goal) -> Iterator[tuple[str, float]]:
    """The parts of a collection with their milliseconds, carried out one by one as the collector does."""
    context, counter = session.port.context, session.port.counter
    view = WindowView(context, Protection(recent_turns=5, recent_steps=2))
    yield "view: units, zones", timed(lambda: (view.units, view.zones))[1]
    planner, cost = timed(lambda: Planner(context, view, goal, counter))
    yield "planning: its tables", cost
    yield "planning: proposals", timed(lambda: propose(planner, view, goal))[1]
    plan, cost = timed(planner.finish)
    yield "planning: texts and traces", cost
    after, cost = timed(lambda: context.edited(plan.edits))
    yield "edit: a copy and its budget", cost
    requests, cost = timed(lambda: (context.render(), after.render()))
    yield "render: before and after", cost
    yield "rules: the request", timed(lambda: check_request(requests[1]))[1]
    yield "rules: the change", timed(lambda: check_collection(*requests))[1]


def propose(planner: Planner, view: WindowView, goal: Goal) -> None:
    """Pull the strategy until the goal is met."""
    rights = Rights(zones=frozenset({Zone.OLD, Zone.RECENT}))
    for removal in Truncate().collect(view, goal):
        planner.offer(removal, rights)
        if planner.met:
            break
    planner.settle()


# -- running ---------------------------------------------------------------------------------------------------------


def run(session: GCSession, stream: Iterable[Exchange]) -> Iterator[Call]:
    """Every reply is a model call; what comes between them is appended and not measured."""
    collections: list[Event] = []
    session.listen(lambda event: collections.append(event) if isinstance(event, CollectionStarted) else None)
    for message in itertools.chain.from_iterable(exchange.messages for exchange in stream):
        if message["role"] != "assistant":
            session.append(message)
            continue
        collections.clear()
        _, before = timed(session.pre_send)
        _, after = timed(lambda said=message: session.post_turn(said))  # type: ignore[misc]  # the loop's own value
        yield Call(before=before, after=after, collected=bool(collections))


def fill(session: GCSession, stream: Iterable[Exchange], wanted: Callable[[], bool]) -> None:
    """Append exchanges as long as they are wanted."""
    for exchange in stream:
        if not wanted():
            return
        session.extend(exchange.messages)


def evenly(known: Sequence[Exchange], mean: float) -> Iterator[Exchange]:
    """Exchanges in their order, over and over, without those that would lift the mean of a message above this."""
    tokens, messages = 0, 0
    for exchange in itertools.cycle(known):
        more = messages + len(exchange.messages)
        small = exchange.tokens <= mean * len(exchange.messages)
        if small or tokens + exchange.tokens <= mean * max(more, 20):
            tokens, messages = tokens + exchange.tokens, more
            yield exchange


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What the work returns, and its milliseconds."""
    start = time.perf_counter()
    result = work()
    return result, 1000 * (time.perf_counter() - start)


def print_row(label: str, figures: Sequence[float]) -> float:
    """A row of milliseconds; returns the 99th percentile."""
    p99 = percentile(figures, 99)
    print(f"{label:<52}{len(figures):>7}{statistics.median(figures):>9.2f}{p99:>9.2f}{max(figures):>9.2f}")
    return p99


def print_verdict(text: str, *, met: bool) -> None:
    """Whether a target is reached."""
    print(f"  => {text}: {'met' if met else 'MISSED'}")


# -- material --------------------------------------------------------------------------------------------------------


def exchanges(name: str) -> Iterator[Exchange]:
    """The exchanges of all recorded sessions of a format, one session after the other; without any, made ones."""
    recorded = itertools.chain.from_iterable(transcripts(name)) if any(transcripts(name)) else made(name)
    counter, reader = counter_for(None, name), format_named(name)
    group: list[Message] = []
    for message in recorded:
        if group and not is_answer(message):
            tokens = sum(part_tokens(part, counter) for each in group for part in reader.read(each))
            yield Exchange(messages=tuple(group), tokens=tokens)
            group = []
        group.append(message)


def transcripts(name: str) -> Iterator[list[Message]]:
    """The messages of each recorded session, system texts left out."""
    lie, pattern = (corpus(), "*--*.jsonl") if name == "openai" else (corpus() / "native", "anthropic--*.json")
    for path in sorted(lie.glob(pattern)):
        try:
            transcript = read_transcript(path)
        except TranscriptError:
            continue  # the corpus holds other vendors' files too
        yield [dict(message) for message in transcript.messages if message["role"] != "system"]


def is_answer(message: Message) -> bool:
    """Whether it holds tool results, which belong to the reply before them."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return message["role"] == "tool" or any(block.get("type") == "tool_result" for block in blocks)


def made(name: str) -> Iterator[Message]:
    """A user's message after every ten steps of a call and its result."""
    for number in range(5_000):
        if number % 10 == 0:
            yield {"role": "user", "content": f"Look for the cause of failure {number} and mend it."}
        lines = "\n".join(f"src/module_{number}.py:{line}: value = {number * line}" for line in range(number % 40))
        yield from made_step(name, f"call_{number}", lines or "Done.")


def made_step(name: str, call: str, lines: str) -> tuple[Message, Message]:
    """A call and its result."""
    if name == "anthropic":
        use = {"type": "tool_use", "id": call, "name": "search", "input": {"pattern": call}}
        result = {"type": "tool_result", "tool_use_id": call, "content": lines}
        return {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}
    function = {"name": "search", "arguments": json.dumps({"pattern": call})}
    calls = [{"id": call, "type": "function", "function": function}]
    return {"role": "assistant", "tool_calls": calls}, {"role": "tool", "tool_call_id": call, "content": lines}


if __name__ == "__main__":
    main()
