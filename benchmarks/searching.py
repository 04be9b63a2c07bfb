"""
Speed of the search index: filling it, its size, and searches in a long log, these in wall time.

``python -m benchmarks.searching [messages]`` makes a log of that many messages in a temporary directory, 4,000 bytes
each on average, of the recorded sessions or, without them, of made ones. 100,000 messages need 600 MB there.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ctxgc.evaluation.identifiers import identifiers

from benchmarks.counting import percentile
from benchmarks.turns import made, transcripts
from gc_core.providers import format_named
from gc_core.storage.journal import Journal
from gc_core.storage.master_log import LogRecord, MasterLog
from gc_core.storage.search import SearchIndex
from gc_core.storage.search.index_file import FILE_NAME

MESSAGES = 10_000
MEAN_BYTES = 4_000
SEARCHES = 200
SEED = 7
PHRASE = slice(4, 7)
"""Words of a text that make a phrase."""
TURN = 20
"""Messages of a turn."""

LEAST_SPEED = 10.0
"""MB/s"""
MOST_MEDIAN = 50.0
"""ms"""

Message = dict[str, Any]


def main() -> None:
    """Print MB/s of indexing, the size of the index, and milliseconds of searches, with their targets."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES
    with tempfile.TemporaryDirectory() as directory, contextlib.closing(Journal(Path(directory) / "log")) as journal:
        log = MasterLog(journal)
        known = write(log, messages)
        with contextlib.closing(SearchIndex(Path(directory) / FILE_NAME, log, format_named("openai"))) as index:
            print(f"{messages:,} messages, {log.size / 1e6:,.0f} MB")
            print_filling(index, log)
            print_searches(index, queries(known))


def print_filling(index: SearchIndex, log: MasterLog) -> None:
    """All of the log at once."""
    start = time.process_time()
    _, spent = timed(index.catch_up)
    speed = log.size / 1e6 / (time.process_time() - start)
    size = sum(path.stat().st_size for path in index.path.parent.glob(f"{index.path.name}*"))
    print_figure("indexing, MB/s of CPU time", speed, f"at least {LEAST_SPEED:g}", met=speed >= LEAST_SPEED)
    print(f"{'indexing, MB/s of wall time':<44}{log.size / 1e6 / spent:>8.1f}")
    print(f"{'index, % of the log':<44}{100 * size / log.size:>8.1f}")


def print_searches(index: SearchIndex, asked: dict[str, list[str]]) -> None:
    """Each kind of query, then all of them."""
    spent = {kind: [1e3 * timed(lambda: index.search(query))[1] for query in asked[kind]] for kind in asked}  # noqa: B023
    for kind, figures in spent.items():
        print(f"{f'  {kind}, median and p99, ms':<44}{statistics.median(figures):>8.1f}{percentile(figures, 99):>8.1f}")
    figures = list(itertools.chain.from_iterable(spent.values()))
    median = statistics.median(figures)
    print_figure("searches, median ms", median, f"at most {MOST_MEDIAN:g}", met=median <= MOST_MEDIAN)
    print(f"{'searches, p99 ms':<44}{percentile(figures, 99):>8.1f}")


def write(log: MasterLog, count: int) -> list[str]:
    """Fill the log; returns texts of which queries are made."""
    texts: list[str] = []
    reader, items = format_named("openai"), 0
    for number, message in enumerate(itertools.islice(stream(), count)):
        parts = reader.read(message)
        ids = tuple(f"i{items + place}" for place, _ in enumerate(parts, start=1))
        record = LogRecord(
            at=items, items=ids, role=message["role"], source="conversation", turn=number // TURN, payload=message
        )
        log.append([record])
        items += len(parts)
        if number % 10 == 0:
            texts.extend(part.text for part in parts)
    return texts


def stream() -> Iterator[Message]:
    """Messages without end, contents joined in a random order until their mean is the wanted one."""
    known = list(itertools.chain.from_iterable(transcripts("openai"))) or list(made("openai"))
    said = [str(message["content"]) for message in known if message.get("content")]
    chance = random.Random(SEED)  # noqa: S311 - no secret
    more = round(MEAN_BYTES / statistics.mean(map(len, said)))
    for message in itertools.cycle(known):
        content = str(message.get("content") or "")
        filling = chance.choices(said, k=more)
        yield {**message, "content": "\n".join((content, *filling))}


def queries(texts: Sequence[str]) -> dict[str, list[str]]:
    """Queries of each kind, a quarter of all each."""
    chance = random.Random(SEED)  # noqa: S311 - no secret
    words = Counter(word for text in texts[:2_000] for word in set(text.split()) if word.isalpha())
    common, rare = [word for word, _ in words.most_common(100)], [word for word in words if words[word] == 1]
    names = [name for text in texts[:200] for name in sorted(identifiers(text))]
    paths = [name for name in names if "/" in name] or names
    runs = [text.split() for text in texts if len(text.split()) >= PHRASE.stop]
    count = SEARCHES // 4
    return {
        "common words": [" ".join(chance.sample(common, k=1 + number % 2)) for number in range(count)],
        "rare words": [chance.choice(rare or common) for _ in range(count)],
        "phrases": [json.dumps(" ".join(chance.choice(runs)[PHRASE]), ensure_ascii=False) for _ in range(count)],
        "paths and names": [chance.choice(paths or common) for _ in range(count)],
    }


def timed(work: Any) -> tuple[Any, float]:
    """What the work returns, and its seconds."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def print_figure(what: str, figure: float, target: str, *, met: bool) -> None:
    """One line: what, figure, target, and whether it is met."""
    print(f"{what:<44}{figure:>8.1f}  {target:<28}{'met' if met else 'MISSED'}")


if __name__ == "__main__":
    main()
