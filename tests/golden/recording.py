"""What a case produces: named lists of texts, and a few numbers for readers."""

from __future__ import annotations

import enum
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs

from tests.fuzz.plain import deep
from tests.golden.frozen import anonymous, fresh_root

DIGITS = 4
"""Hex digits of one text's digest: it only has to tell which text differs; the case's own digest tells whether."""

NUMBERS = ("requests", "tokens", "collections", "removed")


@attrs.define
class Recording:
    """
    What happened in one case.

    Attributes:
        parts: Texts by what they are ("request", "ledger", ...), in order.
        numbers: Counts of requests, tokens sent, collections and removed items.

    """

    parts: dict[str, list[str]] = attrs.Factory(dict)
    numbers: Counter[str] = attrs.Factory(Counter)

    def add(self, kind: str, value: Any) -> None:
        """Record a text, or a JSON value."""
        text = value if isinstance(value, str) else as_json(value)
        self.parts.setdefault(kind, []).append(anonymous(text))

    def add_line(self, kind: str, value: Any) -> None:
        """Record a line of the one text of this kind: many small things need no digest each."""
        text = anonymous(value if isinstance(value, str) else as_json(value))
        self.parts.setdefault(kind, [""])[0] += f"{text}\n"

    def hear(self, event: Any) -> None:
        """Record an event of a session, by its type, and what a collection removed."""
        self.add_line("events", type(event).__name__)
        result = getattr(event, "result", None)
        if result is not None:
            self.numbers["collections"] += 1
            self.numbers["removed"] += len(result.removals)

    def line(self, name: str) -> dict[str, Any]:
        """The line of a golden file."""
        digests = {kind: [digest(text) for text in texts] for kind, texts in self.parts.items()}
        return {
            "case": name,
            "sha256": digest(json.dumps(digests)),
            **{name: self.numbers[name] for name in NUMBERS},
            "parts": {kind: "".join(each[:DIGITS] for each in found) for kind, found in digests.items()},
        }


@attrs.frozen
class Case:
    """A name that stays the same, and what records the case."""

    name: str
    record: Callable[[Recording], None]

    def run(self) -> Recording:
        """Record the case in an empty directory."""
        recording = Recording()
        with fresh_root():
            self.record(recording)
        return recording


@contextmanager
def noting_errors(recording: Recording, where: str) -> Iterator[None]:
    """Record the type of an error; its text may be reworded."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever is raised is a result
        recording.add("error", f"{where}: {type(error).__name__}")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def as_json(value: Any) -> str:
    """JSON as it would be sent; what JSON does not know is written as text."""
    with deep():
        return json.dumps(value, default=plain)


def plain(value: object) -> Any:
    """Read-only mappings and attrs values as dicts, sets in order, everything else as text."""
    if isinstance(value, Mapping):
        return dict(value)
    if attrs.has(type(value)):
        return attrs.asdict(value, recurse=False)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return str(value)
