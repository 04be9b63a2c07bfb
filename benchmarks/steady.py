"""
The speed of a long session from beginning to end: processor time of each 10,000 messages under ``gc_budget``.

The messages are real where there is a corpus (see ``benchmarks.turns``), over and over. ``python -m benchmarks.steady
20000`` takes fewer of them.
"""

from __future__ import annotations

import itertools
import logging
import os
import platform
import sys
import time
from collections.abc import Iterator

from gc_budget import Budget

from benchmarks.turns import LARGEST, WINDOW, exchanges
from gc_core import GCConfig, GCSession
from gc_core.values.messages import Payload

MESSAGES, BLOCK = 50_000, 10_000

GROWTH = 1.05
"""The target: the slowest of the later blocks in the first."""


def main() -> None:
    """Print the seconds of each block, and the ratio with its target."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES
    print(f"Python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} CPUs; processor seconds")
    seen = []
    for number, seconds in enumerate(blocks(count), start=1):
        seen.append(seconds)
        print(f"  messages to {number * BLOCK:>7,}: {seconds:.1f} s", flush=True)
    if len(seen) > 1:
        ratio = max(seen[1:]) / seen[0]
        text = f"=> the slowest later block takes {ratio:.2f} times the first, target at most {GROWTH:g}"
        print(f"{text}: {'met' if ratio <= GROWTH else 'MISSED'}")


def blocks(count: int) -> Iterator[float]:
    """Processor seconds of each block of messages."""
    config = GCConfig(context_limit=WINDOW, output_reservation=0, reread_guard="off")  # the recorded calls come again
    with GCSession(config, strategy=Budget()) as session:
        coming = messages()
        for _ in range(count // BLOCK):
            start = time.process_time()
            for message in itertools.islice(coming, BLOCK):
                take(session, message)
            yield time.process_time() - start


def messages() -> Iterator[Payload]:
    """Without end; an exchange that would be a good part of the window is left out."""
    small = [exchange for exchange in exchanges("openai") if exchange.tokens <= LARGEST]
    return itertools.chain.from_iterable(exchange.messages for exchange in itertools.cycle(small))


def take(session: GCSession, message: Payload) -> None:
    """Every reply is a model call."""
    if message["role"] == "assistant":
        session.pre_send()
        session.post_turn(message)
    else:
        session.append(message)


if __name__ == "__main__":
    main()
