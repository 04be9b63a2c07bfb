"""
Ordinary sessions: chats, short turns, lists fed back, seventeen windows. One table, a row a case.

``python -m benchmarks.ordinary`` prints it in Markdown. The sessions are made by ``tests/support/ordinary.py`` and
judged by its judge, which know nothing of this library; the labelled texts in ``tests/data`` were written in the same
way. Only names that earlier versions have are used, so the same file runs with older code (``PYTHONPATH``).
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import attrs
from ctxgc.evaluation.replay import replay
from ctxgc.evaluation.totals import sums_of
from ctxgc.evaluation.transcripts import read_transcript

from benchmarks.counting import corpus
from benchmarks.sized import WORKERS, made_with, print_row, quiet
from gc_core import GCConfig, GCSession, compact
from gc_core.errors import GCError
from gc_core.events import CollectionFinished, Event
from gc_core.providers import format_named
from gc_core.providers.token_counting import counter_for, message_tokens
from gc_core.relevance.name_scan import scan
from gc_core.values.items import Item, ItemKind
from gc_core.values.policy import GCPolicy
from gc_core.values.results import GCTriggerReason
from gc_core.window.stubs import write_stub
from tests.support.ordinary import Judged, judge, kind, made, moments

STRATEGIES = ("gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive")
PACKAGES = ("gc-core", "tiktoken")
LONG = "concat-entire-336605.jsonl"
DATA = Path(__file__).parents[1] / "tests" / "data"

_FORMAT = format_named("openai")
_COUNTER = counter_for(None, "openai")
_AIMLESS = {GCTriggerReason.YOUNG, GCTriggerReason.TURN_LIMIT, GCTriggerReason.CONTEXT_LIMIT}


@attrs.frozen(kw_only=True)
class Seen:
    """
    What came of one session.

    Attributes:
        judged: Some of its requests, once something was collected.
        targets: Collections of the whole window that had a number of tokens to reach, and how many reached it.
        last_resorts: Collections by the last resort.
        error: What ended it, or "".
        turns: Turns that were made.

    """

    judged: tuple[Judged, ...] = ()
    targets: tuple[int, int] = (0, 0)
    last_resorts: int = 0
    error: str = ""
    turns: int = 0

    def mean(self, name: str) -> float:
        """The mean of a figure of the judge's; of the continuity where the window could hold something."""
        judged = [one for one in self.judged if name != "continuity" or one.could_hold]
        return statistics.mean(float(getattr(one, name)) for one in judged) if judged else 0.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordinary", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--cases", nargs="*", default=[], help="parts of the cases' names; default: all")
    options = parser.parse_args(arguments)
    names = [name for name in CASES if not options.cases or any(part in name for part in options.cases)]
    print(f"Made {made_with(PACKAGES)}.\n")
    print_row("case", *STRATEGIES)
    print_row("---", *["---"] * len(STRATEGIES))
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn"), initializer=quiet) as pool:
        tasks = [(name, strategy) for name in names for strategy in STRATEGIES]
        cells = dict(zip(tasks, pool.map(_cell, tasks), strict=True))
    for name in names:
        print_row(name, *(cells[name, strategy] for strategy in STRATEGIES))


def _cell(task: tuple[str, str]) -> str:
    name, strategy = task
    return CASES[name](strategy)


# -- how sessions are run --------------------------------------------------------------------------------------------


def count(message: dict[str, Any]) -> int:
    """Tokens of a message."""
    return _counted(json.dumps(message, sort_keys=True))


@functools.lru_cache(maxsize=100_000)
def _counted(text: str) -> int:
    return message_tokens(json.loads(text), _FORMAT, _COUNTER)


def run_steps(messages: Sequence[dict[str, Any]], config: GCConfig, *, every: int = 5) -> Seen:
    """A session as an agent's loop would run it; one of so many requests is judged."""
    finished: list[CollectionFinished] = []

    def hear(event: Event) -> None:
        if isinstance(event, CollectionFinished):
            finished.append(event)

    judged: list[Judged] = []
    error, turns, asked = "", 0, set(moments(list(messages)))
    with GCSession(config, on_event=hear) as session:
        for place, message in enumerate(messages):
            if place not in asked:
                session.append(message)
                continue
            turns += 1
            try:
                sent = session.pre_send()
            except GCError as found:
                error = f"{type(found).__name__} at call {turns}"
                break
            if finished and turns % every == 0:
                history = list(messages[:place])
                judged.append(judge(history, [dict(each) for each in sent.messages], count=count, window=config.usable))
            session.post_turn(message)
    aimed = [event.result for event in finished if event.result.reason not in _AIMLESS]
    return Seen(
        judged=tuple(judged),
        targets=(len(aimed), sum(not result.shortfall for result in aimed)),
        last_resorts=sum(event.result.reason is GCTriggerReason.CONTEXT_LIMIT for event in finished),
        error=error,
        turns=turns,
    )


def _config(strategy: str, window: int, **settings: Any) -> GCConfig:
    return GCConfig(strategy=strategy, context_limit=window, output_reservation=0, **settings)


# -- the cases -------------------------------------------------------------------------------------------------------


def chat(strategy: str) -> str:
    """A chat of 400 short turns in 7,000 tokens."""
    seen = run_steps(made(1, kind("short chat"), 400), _config(strategy, 7_000))
    return _chat_text(seen)


def very_short(strategy: str) -> str:
    """A chat of very short turns in 8,000 tokens."""
    seen = run_steps(made(1, kind("very short chat"), 900), _config(strategy, 8_000), every=25)
    return _chat_text(seen)


def _chat_text(seen: Seen) -> str:
    if seen.error:
        return seen.error
    parts = (
        f"continuity {100 * seen.mean('continuity'):.0f} %",
        f"{seen.mean('whole_exchanges'):.0f} exchanges whole",
        f"written by gc-core {100 * seen.mean('notice_share'):.0f} %",
    )
    return ", ".join(parts)


def fed_back(strategy: str) -> str:
    """``messages = compact(messages, budget=8_000)`` once a call, in a chat and in a session with tools."""
    return "; ".join(f"{name}: {_fed_back(strategy, name, turns)}" for name, turns in _FED_BACK)


_FED_BACK = (("short chat", 400), ("tools in some turns", 150))


def _fed_back(strategy: str, name: str, turns: int) -> str:
    messages = made(1, kind(name), turns)
    asked = set(moments(messages))
    kept: list[Any] = []
    used: list[float] = []
    calls = 0
    for place, message in enumerate(messages):
        if place in asked:
            calls += 1
            full = sum(map(count, kept)) > _BUDGET
            try:
                kept = compact(kept, _BUDGET, strategy=strategy)
            except GCError as found:
                return f"{type(found).__name__} at call {calls}"
            if full:
                used.append(sum(map(count, kept)) / _BUDGET)
        kept = [*kept, message]
    return f"{calls} calls, {100 * statistics.mean(used):.0f} % used (least {100 * min(used):.0f} %)"


_BUDGET = 8_000


def preference(strategy: str) -> str:
    """What a user prefers, said beside small talk, after 150 turns of it in 4,000 tokens."""
    rule = "I prefer Python, never JavaScript."
    messages = made(1, kind("short chat"), 300)
    messages[8:8] = [{"role": "user", "content": rule}, {"role": "assistant", "content": "Acknowledged, continuing."}]
    with GCSession(_config(strategy, 4_000)) as session:
        for message in messages:
            if message["role"] == "assistant":
                session.pre_send()
                session.post_turn(message)
            else:
                session.append(message)
        text = json.dumps(list(session.pre_send().messages))
    return f"rule {'stands' if rule.rstrip('.') in text else 'gone'}, answer {'stands' if 'Acknow' in text else 'gone'}"


def long_chat(strategy: str) -> str:
    """A chat of long answers in 32,000 tokens: what of users' and of the model's text stands whole."""
    messages = made(2, kind("long answers"), 200)
    with GCSession(_config(strategy, 32_000)) as session:
        for message in messages:
            if message["role"] == "assistant":
                session.pre_send()
                session.post_turn(message)
            else:
                session.append(message)
        sent = list(session.pre_send().messages)
    shares = []
    for role in ("user", "assistant"):
        known = [json.dumps(message, sort_keys=True) for message in messages if message["role"] == role]
        shown = {json.dumps(dict(message), sort_keys=True) for message in sent}
        whole = sum(map(_counted, known))
        shares.append(100 * sum(_counted(text) for text in known if text in shown) / whole)
    return f"user {shares[0]:.0f} %, model {shares[1]:.0f} %"


def seventeen(strategy: str) -> str:
    """A recorded coding session of 774 calls in 32,000 tokens, with a threshold."""
    return _seventeen(strategy, {})


def seventeen_continuous(strategy: str) -> str:
    """The same in continuous mode."""
    return _seventeen(strategy, {"pressure_percent": 0})


def _seventeen(strategy: str, settings: dict[str, Any]) -> str:
    path = corpus() / LONG
    if not path.is_file():
        return "no corpus"
    finished: list[Any] = []
    transcript = read_transcript(path)
    config = _config(strategy, 32_000, **settings)
    with GCSession(config, format=transcript.format, on_event=finished.append) as session:
        for message in transcript.messages:
            if message.get("role") == "assistant":
                session.pre_send()
                session.post_turn(message)
            else:
                session.append(message)
    results = [event.result for event in finished if isinstance(event, CollectionFinished)]
    aimed = [result for result in results if result.reason not in _AIMLESS]
    reached = sum(not result.shortfall for result in aimed)
    protected = sum(bool(result.shortfall) and getattr(result, "reached", False) for result in aimed)
    resorts = sum(result.reason is GCTriggerReason.CONTEXT_LIMIT for result in results)
    report = replay(transcript, config=config)
    figures = sums_of(report.calls, window=32_000).summary()
    return (
        f"targets {reached} of {len(aimed)} ({protected} more below what is protected), last resorts {resorts},"
        f" user text {figures.user_text_kept:.0f} %,"
        f" far fit {figures.far_fit or 0:.0f} %, breaks {figures.breaks}, cost {figures.cost or 0:.2f}"
    )


def turn_limit(strategy: str) -> str:
    """``max_turns=20`` in a chat of 150 turns: the most turns that a request holds."""
    messages = made(3, kind("short chat"), 150)
    most = collections = 0

    def hear(event: Event) -> None:
        nonlocal collections
        collections += isinstance(event, CollectionFinished)

    with GCSession(_config(strategy, 100_000, max_turns=20), on_event=hear) as session:
        for message in messages:
            if message["role"] == "assistant":
                session.pre_send()
                most = max(most, len({unit.turn for unit in session.view().units if _is_talk(unit)}))
                session.post_turn(message)
            else:
                session.append(message)
    return f"{most} turns, {collections} collections"


def _is_talk(unit: Any) -> bool:
    return not unit.items[0].synthetic and unit.policy is not GCPolicy.LOCKED


def failures(strategy: str) -> str:
    """Outputs that fail, cut to a quarter and to a tenth: lines that say what failed; alike for all strategies."""
    if strategy != STRATEGIES[0]:
        return ""
    every = map(json.loads, (DATA / "failing_outputs.jsonl").read_text("utf-8").splitlines())
    rows = [row for row in every if row["id"].startswith("fo-")]
    shares = []
    for keep in (0.25, 0.1):
        texts = [(_stubbed(row, keep), wanted) for row in rows for wanted in row["must_keep"]]
        shares.append(100 * sum(wanted in text for text, wanted in texts) / len(texts))
    return f"{shares[0]:.0f} % / {shares[1]:.0f} %"


def _stubbed(row: dict[str, Any], keep: float) -> str:
    text = row["text"]
    tokens = _COUNTER.count(text)
    item = Item(
        id="i5", kind=ItemKind.TOOL_RESULT, source="conversation", policy=GCPolicy.EPHEMERAL, tokens=tokens,
        original_tokens=tokens, text=text, unit=3, turn=1, step=1, name=row["tool"], call="i4", scan=scan(text),
    )  # fmt: skip
    return write_stub(item, int(keep * tokens), _COUNTER, frozenset()).text


CASES: dict[str, Callable[[str], str]] = {
    "a chat of 400 short turns, window 7,000": chat,
    "a chat of 900 very short turns, window 8,000": very_short,
    "a list fed back through `compact(budget=8_000)` at every call": fed_back,
    "a preference said in turn 4 of 300, window 4,000": preference,
    "a chat of 200 long answers, window 32,000: text that stands whole": long_chat,
    "17 windows of 32,000 (concat-entire)": seventeen,
    "the same in continuous mode": seventeen_continuous,
    "`max_turns=20`, 150 turns": turn_limit,
    "lines of failures in stubs of 25 % / 10 % (labelled outputs)": failures,
}


if __name__ == "__main__":
    main()
