"""
The cost of a long session's report page: reading its files, making the page, and drawing it in a browser.

Needs the corpus: the session of 1,620 messages under ``gc_rolling``, which collects often. Drawing needs a Chromium.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ctxgc.evaluation.transcripts import read_transcript
from ctxgc.report.page import page
from ctxgc.report.reading import read
from ctxgc.report.recording import replay_into

from benchmarks.counting import corpus
from gc_core import GCConfig

SESSION = "concat-entire-336605*.jsonl"
RUNS = 5

SECONDS = 2.0
"""The target: of making the page, and of drawing it."""

_READY = "document.documentElement.dataset.ready === 'yes'"


def main() -> None:
    """Print the medians with their target."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)
    found = next(iter(sorted(corpus().glob(SESSION))), None)
    if found is None:
        print(f"no {SESSION} in {corpus()}: nothing is measured")
        return
    with tempfile.TemporaryDirectory(prefix="gc-bench-") as made:
        directory, written = Path(made) / "session", Path(made) / "page.html"
        often = {"gc_rolling": {"nursery_tokens": 500}}
        config = GCConfig(strategy="gc_rolling", context_limit=100_000, strategies=often)
        replay_into(directory, read_transcript(found), config=config)
        print_verdict("read and made in (processor)", [making(directory, written) for _ in range(RUNS)])
        drawn = list(drawing(written))
        if drawn:
            print_verdict("drawn by Chromium in (wall clock)", drawn)
        else:
            print("no chromium on the path: drawing is not measured")


def making(directory: Path, written: Path) -> float:
    """Processor seconds from the files to the page."""
    start = time.process_time()
    written.write_bytes(page(read(directory)))
    return time.process_time() - start


def drawing(written: Path) -> Iterator[float]:
    """Seconds from the page's address to all that stands on its first screen."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, contextlib.ExitStack() as done:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        done.callback(browser.close)
        for _ in range(RUNS):
            shown = browser.new_page()
            start = time.perf_counter()
            shown.goto(written.as_uri())
            while not shown.evaluate(_READY):
                shown.wait_for_timeout(5)
            yield time.perf_counter() - start
            shown.close()


def print_verdict(text: str, seconds: list[float]) -> None:
    """The median, and whether the target is reached."""
    median = statistics.median(seconds)
    spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
    met = "met" if median < SECONDS else "MISSED"
    print(f"=> {text} {median:.2f} s ({spread}), target under {SECONDS:g} s: {met}")


if __name__ == "__main__":
    main()
