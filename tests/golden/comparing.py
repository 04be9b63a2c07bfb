"""Golden files: one JSON line for each case, written, compared and explained."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from tests.golden import commands, hosts, recorded, sessions
from tests.golden.recording import DIGITS, NUMBERS, Case, Recording, digest
from tests.support.corpus import corpus_dir

AROUND = 200
"""Characters that are shown of a difference."""

Line = dict[str, Any]


def all_cases() -> Iterator[Case]:
    for module in (hosts, commands, sessions, recorded):
        yield from module.cases()


def is_wanted(name: str, only: Sequence[str]) -> bool:
    return not only or any(text in name for text in only)


def chosen(only: Sequence[str]) -> list[Case]:
    return [case for case in all_cases() if is_wanted(case.name, only)]


def write(path: Path, *, only: Sequence[str]) -> int:
    """Write a line for each case."""
    path = path.absolute()
    started = time.process_time()
    cases = chosen(only)
    path.write_text("".join(as_line(case.run().line(case.name)) for case in cases))
    print(f"{len(cases)} cases written to {path}, {path.stat().st_size:,} bytes; {time.process_time() - started:.0f} s")
    warn_without_corpus()
    return 0


def as_line(line: Line) -> str:
    return json.dumps(line, separators=(",", ":")) + "\n"


def warn_without_corpus() -> None:
    if not corpus_dir().is_dir():
        print(f"no recorded sessions in {corpus_dir()}: their cases are left out; set GC_CORPUS")


def compare(path: Path, *, only: Sequence[str], old: Path | None) -> int:
    """Name each case that differs, and show the first difference. Returns 1 if there is one."""
    before = {line["case"]: line for line in map(json.loads, path.read_text().splitlines())}
    cases = [case for case in chosen(only) if case.name in before]
    differing = 0
    for case in cases:
        recording = case.run()
        if recording.line(case.name) != before[case.name]:
            differing += 1
            print(f"differs: {case.name}: {changed_numbers(before[case.name], recording)}", flush=True)
            if differing == 1:
                print(explained(case.name, before[case.name], recording, old), flush=True)
    print(f"{len(cases)} cases compared, {differing} differ")
    print_missing(before, {case.name for case in chosen(only)}, only)
    warn_without_corpus()
    return 1 if differing else 0


def print_missing(before: dict[str, Line], now: set[str], only: Sequence[str]) -> None:
    """Say so when the set of cases is not that of the file."""
    gone = [name for name in before if name not in now and is_wanted(name, only)]
    new = [name for name in now if name not in before]
    if gone or new:
        print(f"not compared: {len(gone)} cases of the file that are not run, {len(new)} that it does not have")


def changed_numbers(before: Line, recording: Recording) -> str:
    """The numbers that differ, and in which texts."""
    numbers = [
        f"{name} {before[name]:,} -> {recording.numbers[name]:,}"
        for name in NUMBERS
        if before[name] != recording.numbers[name]
    ]
    kinds = [place.kind for place in differences(before, recording)]
    return ", ".join([*numbers, *(f"{kinds.count(kind)} of {kind}" for kind in dict.fromkeys(kinds))])


@attrs.frozen
class Place:
    """A text of a case: what it is, and its number."""

    kind: str
    number: int


def differences(before: Line, recording: Recording) -> Iterator[Place]:
    """The texts whose digests differ, and those that only one of the two has."""
    for kind in dict.fromkeys([*recording.parts, *before["parts"]]):
        joined = before["parts"].get(kind, "")
        then = [joined[start : start + DIGITS] for start in range(0, len(joined), DIGITS)]
        now = [digest(text)[:DIGITS] for text in recording.parts.get(kind, [])]
        for number in range(max(len(then), len(now))):
            if then[number : number + 1] != now[number : number + 1]:
                yield Place(kind, number)


def explained(name: str, before: Line, recording: Recording, old: Path | None) -> str:
    """The first text that differs, where it does. Without the old code: where it departs from the text before it."""
    place = next(differences(before, recording), None)
    if place is None:
        return "  the digest of the case differs, none of its texts does: write the file again"
    texts = recording.parts.get(place.kind, [])
    now = texts[place.number] if place.number < len(texts) else None
    command = f"python -m tests.golden show {name!r} {place.kind} {place.number}"
    head = f"  first difference: {place.kind} {place.number}; {command}"
    if now is None:
        return f"{head}\n  there is no such text any more"
    if old is not None:
        return f"{head}\n{side_by_side(old_text(old, name, place), now)}"
    earlier = texts[place.number - 1] if place.number else ""
    start = common(earlier, now)
    text = f"  now, from where it departs from the {place.kind} before it (character {start:,}); --old CLONE shows both"
    return f"{head}\n{text}:\n    {now[start : start + AROUND]!r}"


def side_by_side(before: str, now: str) -> str:
    start = max(0, common(before, now) - AROUND // 4)
    pair = ((title, text[start : start + AROUND]) for title, text in (("before", before), ("now", now)))
    return "\n".join([f"  from character {start:,} on:", *(f"    {title:<7}{text!r}" for title, text in pair)])


def common(first: str, second: str) -> int:
    """The number of characters that both begin with."""
    pairs = zip(first, second, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))


def old_text(clone: Path, name: str, place: Place) -> str:
    """The same text as another clone of the repository makes it."""
    path = [clone.absolute(), *sorted(clone.absolute().glob("plugins/*/src"))]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "GC_CORPUS": str(corpus_dir().resolve()),
    }
    command = [sys.executable, "-m", "tests.golden", "show", name, place.kind, str(place.number)]
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, check=True)  # noqa: S603
    return done.stdout.decode("utf-8", "surrogatepass").removesuffix("\n")


def show(name: str, kind: str | None, number: int | None) -> int:
    """Print the texts of a case: all, those of a kind, or one."""
    case = next((case for case in all_cases() if case.name == name), None)
    if case is None:
        print(f"no case {name!r}", file=sys.stderr)
        return 2
    for each, texts in case.run().parts.items():
        for place, text in enumerate(texts):
            if kind in (None, each) and number in (None, place):
                if number is None:
                    print(f"--- {each} {place}")
                sys.stdout.flush()
                sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass") + b"\n")
    return 0
