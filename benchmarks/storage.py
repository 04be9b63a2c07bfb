"""
The cost of the master log, and of opening a long session.

The session is made through ``GCSession`` in a temporary directory: steps of a call and a result of real text where
there is a corpus, else of made text. Opening is measured in a separate process, imports left out, with its peak
memory.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from gc_truncate import Truncate

from benchmarks.turns import exchanges
from gc_core import GCConfig, GCSession
from gc_core.storage.journal import Journal
from gc_core.storage.master_log import LogRecord, MasterLog
from gc_core.values.messages import Payload

RECORDS, RECORD_CHARS = 20_000, 1_000
"""Records of the log that are appended one by one, and characters of each."""

MESSAGES, MESSAGE_CHARS = 100_000, 4_000
"""Messages of the long session, and characters of a tool result, so that the log has about 400 MB."""

WINDOW = 200_000

APPENDS, OPEN_SECONDS, OPEN_MB = 10_000, 1.0, 200
"""The targets: records a second; seconds and MB of memory to open the session and render its request."""


def main() -> None:
    """Print every figure with its target. With ``--open DIRECTORY`` only open that session, for the parent process."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)
    if sys.argv[1:2] == ["--open"]:
        print(json.dumps(opening(Path(sys.argv[2]))))
        return
    count = int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES
    print(f"Python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} CPUs")
    with tempfile.TemporaryDirectory(prefix="gc-bench-") as directory:
        print_log(Path(directory))
        print_opening(Path(directory) / "session", count)


def print_log(directory: Path) -> None:
    """Appending records one by one, as a session does."""
    log = MasterLog(Journal(directory / "log.jsonl"))
    text = "x" * RECORD_CHARS
    start = time.perf_counter()
    for number in range(RECORDS):
        log.append([_record(number, text)])
    rate = RECORDS / (time.perf_counter() - start)
    verdict(f"log: {rate:,.0f} records of 1 kB a second, target at least {APPENDS:,}", met=rate >= APPENDS)


def _record(number: int, text: str) -> LogRecord:
    payload = {"role": "user", "content": text}
    return LogRecord(at=number, items=(f"i{number + 1}",), role="user", source="conversation", payload=payload)


def print_opening(directory: Path, count: int) -> None:
    """Making the long session, then opening it in a fresh process."""
    start = time.perf_counter()
    config = GCConfig(context_limit=WINDOW, output_reservation=0)
    with GCSession(config, directory=directory, strategy=Truncate()) as session:
        for message in itertools.islice(steps(), count):
            if message["role"] == "assistant":
                session.pre_send()
                session.post_turn(message)
            else:
                session.append(message)
    made = time.perf_counter() - start
    size = (directory / "master.jsonl").stat().st_size / 1e6
    print(f"made {count:,} messages, {size:,.0f} MB of log, in {made:,.0f} s")
    command = [sys.executable, "-m", "benchmarks.storage", "--open", str(directory)]
    command = [sys.executable, "-m", "benchmarks.storage", "--open", str(directory)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - this very file
    seen = json.loads(answer.stdout)
    text = f"opened and rendered ({seen['messages']:,} messages, {seen['tokens']:,} tokens) in {seen['seconds']:.2f} s"
    verdict(f"{text}, target under {OPEN_SECONDS:g} s", met=seen["seconds"] < OPEN_SECONDS)
    verdict(f"peak memory {seen['mb']:.0f} MB, target under {OPEN_MB} MB", met=seen["mb"] < OPEN_MB)


def opening(directory: Path) -> dict[str, float]:
    """Seconds to open a session and to render, peak MB of this process, and what came of it."""
    start = time.perf_counter()
    with GCSession.open(directory, strategy=Truncate()) as session:
        request = session.pre_send()
        seconds = time.perf_counter() - start
        return {
            "seconds": seconds,
            "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
            "messages": len(request.messages),
            "tokens": request.tokens,
        }


def steps() -> Iterator[Payload]:
    """A user's message, then steps of a call and its result, without end."""
    texts = itertools.cycle(texts_of_size())
    for number in itertools.count():
        if number % 50 == 0:
            yield {"role": "user", "content": f"Look into failure {number} and mend it."}
        arguments = json.dumps({"path": f"src/module_{number % 977}.py"})
        function = {"name": "read_file", "arguments": arguments}
        yield {"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}]}
        yield {"role": "tool", "tool_call_id": f"c{number}", "content": next(texts)}


def texts_of_size() -> list[str]:
    """Real text in pieces that make the log about as large as it is to be."""
    said = "\n".join(
        str(message.get("content") or "") for exchange in exchanges("openai") for message in exchange.messages
    )
    size = 2 * MESSAGE_CHARS  # every other message is a call
    return [said[start : start + size] for start in range(0, min(len(said), 400 * size), size)]


def verdict(text: str, *, met: bool) -> None:
    """Whether a target is reached."""
    print(f"=> {text}: {'met' if met else 'MISSED'}")


if __name__ == "__main__":
    main()
