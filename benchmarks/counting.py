"""
The error of the anchored estimate against the provider's reports, and the speed of counting.

Claude Code's transcripts record the usage of each call. Before each one the input is estimated as a session would:
last report, plus own counts of newer content, times the ratio learned so far. What the transcript lacks is missed:
system text and tool schemas (they are in the first report), and reminders that the client puts in without recording.
The first call of a session has no report before it, and the first after a compaction none of the same conversation:
they are listed apart, as "unanchored". The largest errors in the table are calls after the user had left the client
and resumed the session, which then sent other system text and schemas.
"""

from __future__ import annotations

import json
import os
import statistics
import sysconfig
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from gc_core.providers.calibration import Calibration
from gc_core.providers.contract import TokenCounter
from gc_core.providers.token_counting import TiktokenCounter, counter_for, part_tokens
from gc_core.values.items import ItemKind, Part

Record = dict[str, Any]

TARGET = 2.0
"""Percent of the whole request that the error should not pass."""


@attrs.frozen(kw_only=True)
class Call:
    """
    One model call of a transcript.

    Attributes:
        model: The model that answered.
        fresh: What the request held that the one before did not, message by message.
        reported: Input tokens that the provider counted, cache reads and writes included.
        restarted: The conversation was compacted since the call before.

    """

    model: str
    fresh: tuple[tuple[Part, ...], ...]
    reported: int
    restarted: bool


@attrs.frozen(kw_only=True)
class Miss:
    """How far one estimate was off: in percent of the whole request, and of what was new in it."""

    of_request: float
    of_fresh: float


def main() -> None:
    """Print the speed, then the error per session and pooled."""
    print_speed()  # first, while no vocabulary is loaded
    paths = sorted((corpus() / "native").glob("claude-code--*.jsonl"))
    if paths:
        print_errors(paths)
    else:
        print(f"no transcripts in {corpus() / 'native'}: the estimate's error is not measured; set GC_CORPUS")


def corpus() -> Path:
    """Where the recorded sessions lie: $GC_CORPUS, or beside the repository."""
    return Path(os.environ.get("GC_CORPUS", Path(__file__).parents[2] / "shared" / "corpus"))


def print_errors(paths: Sequence[Path]) -> None:
    """One row a session, one for all; |error| in percent of the reported input."""
    print(f"{'session':<12}{'model':<28}{'calls':>6}{'median':>9}{'p90':>9}{'max':>9}{'of the new part':>17}")
    pooled: list[Miss] = []
    apart: list[str] = []
    for path in paths:
        calls = list(read_calls(path))
        found = list(misses(calls))
        pooled += found
        apart += [f"{label(path)} call {n}" for n, call in enumerate(calls) if n == 0 or call.restarted]
        print_row(label(path), calls[0].model, found)
    print_row("pooled", "", pooled)
    errors = [abs(miss.of_request) for miss in pooled]
    verdict = "met" if max(statistics.median(errors), percentile(errors, 90)) <= TARGET else "MISSED"
    print(f"target, at most {TARGET} % at the median and at the 90th percentile: {verdict}")
    print(f"unanchored, not in the table: {', '.join(apart)}")


def print_row(name: str, model: str, found: Sequence[Miss]) -> None:
    """A row of the table; the last column is the median error in percent of what was new."""
    errors = [abs(miss.of_request) for miss in found]
    figures = (statistics.median(errors), percentile(errors, 90), max(errors))
    fresh = statistics.median(abs(miss.of_fresh) for miss in found)
    print(f"{name:<12}{model:<28}{len(found):>6}" + "".join(f"{it:>8.2f}%" for it in figures) + f"{fresh:>16.1f}%")


def misses(calls: Sequence[Call]) -> Iterator[Miss]:
    """The error of each call's estimate, made before its report is taken in."""
    counter = counter_for(calls[0].model, "anthropic")
    calibration = Calibration(exact=counter.exact)
    raw = counter.per_request
    for call in calls:
        if call.restarted:
            raw, calibration = counter.per_request, Calibration(exact=counter.exact, ratio=calibration.ratio)
        raw += sum(message_tokens(parts, counter) for parts in call.fresh)
        if calibration.anchored:
            yield miss(call.reported, calibration.estimate(raw), calibration.anchor_reported)
        calibration = calibration.observed(raw, call.reported)


def miss(reported: int, estimated: int, before: int) -> Miss:
    """Positive when too much was estimated."""
    off = 100.0 * (estimated - reported)
    return Miss(of_request=off / reported, of_fresh=off / max(1, abs(reported - before)))


def message_tokens(parts: Iterable[Part], counter: TokenCounter) -> int:
    """Own count of one message."""
    return counter.per_message + sum(part_tokens(part, counter) for part in parts)


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that so many percent of them do not pass."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def label(path: Path) -> str:
    """A short name of a transcript."""
    return path.stem.removeprefix("claude-code--")[:8]


def read_calls(path: Path) -> Iterator[Call]:
    """
    The calls of the main conversation, in order.

    Lines with the same message id are one reply, as it streamed; a call's usage is the last that its lines report.
    A result may stand between two lines of the reply that it answers: it belongs to the next request.
    """
    fresh: list[tuple[Part, ...]] = []
    reply: list[Part] = []
    open_call: Call | None = None
    current, restarted = "", False
    for record in conversation(path):
        if record["type"] == "system":
            restarted = restarted or record.get("subtype") == "compact_boundary"
        elif record["type"] == "user":
            fresh.append(tuple(user_parts(record["message"]["content"])))
        elif (message := record["message"])["id"] != current:
            if open_call:
                yield open_call
            current, known = message["id"], (tuple(reply), *fresh) if reply else tuple(fresh)
            open_call = Call(model=message["model"], fresh=known, reported=input_tokens(message), restarted=restarted)
            fresh, reply, restarted = [], list(assistant_parts(message)), False
        else:
            open_call = attrs.evolve(open_call, reported=input_tokens(message)) if open_call else None
            reply.extend(assistant_parts(message))
    if open_call:
        yield open_call


def conversation(path: Path) -> Iterator[Record]:
    """Records of the main chain that the model saw or that start it anew; a line may hold two records."""
    decoder = json.JSONDecoder()
    for line in path.read_text(encoding="utf-8").splitlines():
        rest = line.strip()
        while rest:
            record, end = decoder.raw_decode(rest)
            rest = rest[end:].lstrip()
            if is_conversation(record):
                yield record


def is_conversation(record: Record) -> bool:
    """Whether it is of the main chain and no note of the client's own, which is never sent."""
    own = record.get("message", {}).get("model") == "<synthetic>"
    return record.get("type") in {"user", "assistant", "system"} and not record.get("isSidechain") and not own


def input_tokens(message: Record) -> int:
    """All input tokens of a reply's usage."""
    usage = message["usage"]
    kinds = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(usage.get(kind) or 0 for kind in kinds)


def user_parts(content: str | list[Record]) -> Iterator[Part]:
    """Texts and tool results of a user record."""
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        if block["type"] == "tool_result":
            yield Part(kind=ItemKind.TOOL_RESULT, place=(), text=result_text(block.get("content")))
        elif block["type"] == "text":
            yield Part(kind=ItemKind.USER_TEXT, place=(), text=block["text"])


def result_text(content: str | list[Record] | None) -> str:
    """What the model reads of a tool result."""
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content or [])


def assistant_parts(message: Record) -> Iterator[Part]:
    """Texts, thinking and tool calls of a reply's line."""
    for block in message["content"]:
        match block["type"]:
            case "text":
                yield Part(kind=ItemKind.ASSISTANT_TEXT, place=(), text=block["text"])
            case "thinking":
                sealed = len(block.get("signature", ""))
                yield Part(kind=ItemKind.THINKING, place=(), text=block["thinking"], sealed_bytes=sealed)
            case "tool_use":
                arguments = json.dumps(block["input"], ensure_ascii=False)
                yield Part(kind=ItemKind.TOOL_CALL, place=(), text=arguments, name=block["name"])


def print_speed() -> None:
    """Megabytes a second over the modules of the standard library, as first seen and as remembered."""
    texts = [path.read_text("utf-8", "replace") for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))]
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    print(f"{'encoding':<14}{'load':>8}{'cold':>12}{'remembered':>14}   {len(texts)} texts, {megabytes:.1f} MB")
    for name in ("o200k_base", "cl100k_base"):
        counter = TiktokenCounter(name=name)
        load = seconds(counter, [name])
        cold, warm = (megabytes / seconds(counter, texts) for _ in range(2))
        print(f"{name:<14}{load:>7.2f}s{cold:>7.1f} MB/s{warm:>9.0f} MB/s")


def seconds(counter: TokenCounter, texts: Iterable[str]) -> float:
    """Time to count the texts."""
    start = time.perf_counter()
    for text in texts:
        counter.count(text)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
