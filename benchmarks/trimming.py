"""
``compact`` compared with LangChain's ``trim_messages``, on recorded chats in 8,000 tokens: how many of the newest
exchanges each of them keeps whole, and what else.

``python -m benchmarks.trimming`` prints a table in Markdown. It needs the corpus and the peers' environment of
``make bench-peers``. Both count with the same counter; ``trim_messages`` is called as its documentation does it for
chats: the last messages, from a user's on, with the system message.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
from ctxgc.evaluation.transcripts import read_transcript

from benchmarks.counting import corpus
from benchmarks.ordinary import PACKAGES, count
from benchmarks.peers.catalog import HOME
from benchmarks.sized import made_with, print_row
from gc_core import compact
from gc_core.providers.token_counting import counter_for
from tests.support.ordinary import judge, moments

BUDGET = 8_000
STRATEGIES = ("gc_truncate", "gc_budget", "gc_summarize", "gc_rolling")
_EVERY = 4
_FEWEST = 20
_PER_REQUEST = counter_for(None, "openai").per_request

_TRIM = """
import json, sys
from langchain_core.messages import convert_to_messages, trim_messages
for line in sys.stdin:
    asked = json.loads(line)
    messages = convert_to_messages(asked["messages"])
    for place, message in enumerate(messages):
        message.id = str(place)
    kept = trim_messages(messages, max_tokens=asked["budget"], strategy="last", start_on="human", include_system=True,
        token_counter=lambda some: sum(asked["counts"][int(one.id)] for one in some))
    print(json.dumps([int(one.id) for one in kept]), flush=True)
"""


@attrs.frozen(kw_only=True)
class Kept:
    """What of one history was kept: exchanges whole at its end, tokens of users' text in percent, the first request."""

    exchanges: int
    user: float
    first: bool
    tokens: int


def main() -> None:
    """Print the table."""
    python = HOME / "langchain" / "bin" / "python"
    if not python.exists() or not corpus().is_dir():
        print(f"needs the recorded sessions in {corpus()} and {python} (make bench-peers)")
        return
    print(f"Made {made_with(PACKAGES)}.\n")
    heads = ("session", "system", "requests", "newest exchanges whole", "fewer / equal / more than trim_messages")
    print_row(*heads, "user text %", "original request %", "tokens")
    print_row(*["---"] * 8)
    command = [str(python), "-c", _TRIM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        for path in sorted(corpus().glob("*.jsonl")):
            histories = list(_histories(path))
            if histories:
                _compare(path, histories, process)
        assert process.stdin is not None  # noqa: S101 - it was asked for
        process.stdin.close()


def _histories(path: Path) -> Iterator[list[dict[str, Any]]]:
    """Some moments of a chat at which not everything fits; none of a session that is no chat of many turns."""
    transcript = read_transcript(path)
    messages = [dict(message) for message in transcript.messages]
    users = sum(message["role"] == "user" for message in messages)
    calls = sum(bool(message.get("tool_calls")) for message in messages)
    if transcript.format != "openai" or users < _FEWEST or calls > users:
        return
    for place in moments(messages)[::_EVERY]:
        if sum(map(count, messages[:place])) > BUDGET:
            yield messages[:place]


def _compare(path: Path, histories: Sequence[list[dict[str, Any]]], process: subprocess.Popen[str]) -> None:
    trimmed = [_kept(history, _trimmed(history, process)) for history in histories]
    _print(path, "trim_messages", trimmed, trimmed)
    for strategy in STRATEGIES:
        kept = [_kept(history, compact(history, BUDGET, strategy=strategy)) for history in histories]
        _print(path, strategy, kept, trimmed)


def _trimmed(history: Sequence[dict[str, Any]], process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    assert process.stdin is not None  # noqa: S101 - they were asked for
    assert process.stdout is not None  # noqa: S101
    asked = {"messages": history, "budget": BUDGET - _PER_REQUEST, "counts": [count(message) for message in history]}
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    return [history[place] for place in json.loads(process.stdout.readline())]


def _kept(history: list[dict[str, Any]], sent: list[dict[str, Any]]) -> Kept:
    judged = judge(history, sent, count=count, window=BUDGET)
    return Kept(exchanges=judged.whole_exchanges, user=judged.user_kept, first=judged.first_kept, tokens=judged.tokens)


def _print(path: Path, system: str, kept: Sequence[Kept], trimmed: Sequence[Kept]) -> None:
    pairs = list(zip(kept, trimmed, strict=True))
    fewer = sum(mine.exchanges < its.exchanges for mine, its in pairs)
    more = sum(mine.exchanges > its.exchanges for mine, its in pairs)
    print_row(
        path.stem[:40],
        system,
        len(kept),
        f"{_mean([one.exchanges for one in kept]):.1f}",
        f"{fewer} / {len(kept) - fewer - more} / {more}",
        f"{100 * _mean([one.user for one in kept]):.0f}",
        f"{100 * _mean([one.first for one in kept]):.0f}",
        f"{_mean([one.tokens for one in kept]):,.0f}",
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


if __name__ == "__main__":
    main()
