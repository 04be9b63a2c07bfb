"""What ``ctxgc`` prints, with placeholders for times and paths."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.histories import STRATEGIES
from tests.golden import entry
from tests.golden.frozen import timeless
from tests.golden.hosts import lived
from tests.golden.recording import Case, Recording

CLONE = Path(__file__).parents[2]
EXAMPLE = str(CLONE / "examples" / "session.jsonl")

COMMANDS = (
    "strategies",
    "new-strategy",
    "replay",
    "recall",
    "search",
    "history",
    "export",
    "facts",
    "propose",
    "undo",
    "release",
    "verify",
    "purge",
    "adopt",
    "cache",
    "compare",
    "inspect",
    "doctor",
    "report",
)

OF_A_SESSION = (
    "history work",
    "history work --json",
    "search work timeout",
    "search work timeout --json",
    "search work timeout --tool bash --limit 3",
    "recall work i5",
    "recall work i5-i9",
    "recall work i99999",
    "export work",
    "export work --whole",
    "cache work",
    "cache work --json",
    "inspect work --once",
    "verify work",
    "doctor",
    "doctor work",
    "doctor work --json",
    "facts facts.jsonl",
    "facts facts.jsonl cache --json",
    "propose work facts.jsonl",
    "propose work more.jsonl",
    "report work --output page.html",
    "undo work",
    "release work",
    "purge work --match 8081 --by ada --yes",
    "history work",
    "verify work",
    "history nowhere",
)

DATA = re.compile(r'(?<=id="data">)([A-Za-z0-9+/=\s]+)(?=</script>)')
HASH = re.compile(r"sha256-[A-Za-z0-9+/=]+")

DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d| UTC)?)?")
CLOCK_TIME = re.compile(r"\b\d\d:\d\d:\d\d\b")
DURATION = re.compile(r"\b\d[\d,]*(?:\.\d+)? ?(?:ms|seconds?|s)\b")
UNIX_TIME = re.compile(r"\b18[3-9]\d{7}(?:\.\d+)?\b")


def cases() -> Iterator[Case]:
    """Help, replays, comparisons, and everything that reads or changes a session's directory."""
    yield Case("ctxgc help", helped)
    yield Case("ctxgc replay", replayed)
    yield Case("ctxgc compare", compared)
    yield Case("ctxgc directory", in_a_directory)


def helped(recording: Recording) -> None:
    run(recording, "--help")
    for name in COMMANDS:
        run(recording, name, "--help")
    run(recording, "strategies")
    run(recording, "new-strategy", "oldest-first")
    for path in sorted(Path("gc_oldest_first").rglob("*")):
        if path.is_file():
            recording.add(f"new {path}", path.read_text())


def replayed(recording: Recording) -> None:
    for strategy in STRATEGIES:
        run(recording, "replay", EXAMPLE, "--strategy", strategy, "--window", "16000")
    run(recording, "replay", EXAMPLE, "--strategy", "gc_budget", "--window", "24000", "--json")
    run(recording, "replay", EXAMPLE, "--strategy", "gc_budget", "--option", "keep=0.2", "--no-chart")
    run(recording, "replay", EXAMPLE, "--strategy", "nope")
    run(recording, "replay", EXAMPLE, "--strategy", "gc_rolling", "--window", "9000", "--pressure", "0", "--chart")
    run(recording, "report", EXAMPLE, "--strategy", "gc_hybrid", "--window", "16000", "--output", "page.html")
    record_page(recording)


def compared(recording: Recording) -> None:
    strategies = "gc_truncate,gc_hybrid,gc_progressive"
    command = ("compare", EXAMPLE, "--window", "12000,16000", "--workers", "1", "--strategy", strategies)
    for output in ("--json", "--by-length"):
        run(recording, *command, output)


def in_a_directory(recording: Recording) -> None:
    """The files of a whole host, read and changed by every command."""
    lived("openai", "gc_progressive", Recording())
    for line in OF_A_SESSION:
        run(recording, *line.split())  # the page of a session numbers its texts in the order of a set: not recorded
    run(recording, "adopt", EXAMPLE, "adopted")
    run(recording, "history", "adopted")


def run(recording: Recording, *arguments: str) -> None:
    """Run a command; what it prints is recorded under its own name."""
    code, out, err = entry.ctxgc(*arguments)
    recording.add(masked(f"ctxgc {' '.join(arguments)}"), f"exit {code}\n{masked(out)}\n{masked(err)}")


def record_page(recording: Recording) -> None:
    page = Path("page.html")
    recording.add("page", masked(unpacked(page.read_text())) if page.is_file() else "no page")


def unpacked(page: str) -> str:
    """A page with its data in the clear, so that ids and times in them can be masked."""
    page = DATA.sub(lambda found: zlib.decompress(base64.b64decode(found[1])).decode(), page)
    return HASH.sub("<hash>", page)


def masked(text: str) -> str:
    """A text without paths of this machine and times."""
    with contextlib.suppress(ValueError):
        text = json.dumps(timeless(json.loads(text)), indent=1)
    text = text.replace(str(CLONE), "<clone>").replace(sys.prefix, "<environment>")
    for pattern, name in ((DATE, "<date>"), (CLOCK_TIME, "<time>"), (DURATION, "<duration>"), (UNIX_TIME, "<time>")):
        text = pattern.sub(name, text)
    return text
