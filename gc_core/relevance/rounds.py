"""
What a call and its result are to the re-read guard: which text was read, and whether it brought anything.

A large text that was read before is the same text, whatever words asked for it. A small result belongs to its call. A
thought, a plan that ticks nothing off, and an error that says no more than the call said bring nothing.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import posixpath
import re
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Final

import attrs

from gc_core.relevance.call_results import failure_in
from gc_core.relevance.only_reads import file_read, only_reads
from gc_core.relevance.polls import SMALL, asks_for_state, tells_state, waits
from gc_core.relevance.tool_calls import PARTIAL, CallKind, ToolCall, command_in, words_of
from gc_core.relevance.volatile_text import without_moments
from gc_core.values.items import Item
from gc_core.values.json_values import objects, read_json, strings
from gc_core.values.patterns import regex

ALIKE: Final = 0.8
"""
Share of the lines of two texts that both have, from which a part of a file was read before: nine tenths of each.
"""

MOST_PARTS: Final = 200
"""The most parts of files whose lines are remembered, the latest read."""

MOST_LINES: Final = 100
"""Lines of such a part that are compared, chosen by their content; some 40 bytes each."""

_LOOKS_BACK = frozenset({"recall", "search_history", "context_status"})
_DESCRIBES = frozenset({"description", "explanation", "reason", "rationale", "intent", "justification", "thought"})
_THINKS = frozenset({"think", "thinking", "thought", "thoughts", "sequentialthinking", "reflect", "reflection"})
_PLANS = frozenset({"todo", "todos", "plan", "planner", "checklist"})
_DONE = frozenset({"done", "completed", "complete", "finished", "closed", "checked"})
_NUMBERED = regex(r"^[ \t]{0,9}L?(\d{1,7})(?:\t|→|[|:]| {1,3}\|)", re.MULTILINE)
_WORD = regex(r"[\w.-]+")
_PROGRAM = regex(r"(?:^|[|;&\n])[ \t]{0,9}[\w.-]{1,99}")
_SCHEMES = frozenset({"http", "https"})
_TICK = regex(r"\[[xX✓✔]\]|[✓✔✅☑]")
_SPOKEN = regex(r"[^\W\d_]+|\d+")
_NOT_THERE = regex(
    r"not found|no such|does(?: not|n't) exist|denied|timed? ?out|connection refused|unreachable|too large"
    r"|is a directory|out of range|unknown|not allowed",
    re.IGNORECASE,
)
_STATUS = regex(r"\W{0,3}(?:HTTP\S{0,4} |status(?: code)?:? |error )?[45]\d\d[ :,-]{1,3}[A-Z]")
_SHOWN = 120  # characters of a call in a notice
_SHORT = 200  # characters of an error
_HEAD_LINES = 3


@attrs.frozen
class Target:
    """
    What a call reads, or reads a part of.

    Attributes:
        file: The path of a file.
        whole: The call without its range, where it names no file but a range; "" otherwise.

    """

    file: str = ""
    whole: str = ""

    @classmethod
    def of(cls, call: ToolCall, arguments: str, read: Any) -> Target:
        """Return the target of a call that reads."""
        if file := file_read(call, arguments):
            return cls(file=posixpath.normpath(file.replace("\\", "/")).lstrip("/"))
        if not isinstance(read, dict) or PARTIAL.isdisjoint(read):
            return cls()
        rest = {key: value for key, value in read.items() if key not in PARTIAL}
        return cls(whole=json.dumps([call.name, rest], sort_keys=True))

    @property
    def is_named(self) -> bool:
        """Return whether the call names any."""
        return bool(self.file or self.whole)

    def is_same(self, other: Target) -> bool:
        """Return whether both may be one thing: a shorter path is the end of the longer."""
        one, two = self.file, other.file
        return self == other or (bool(one and two) and (one.endswith(f"/{two}") or two.endswith(f"/{one}")))

    def is_other_file(self, other: Target) -> bool:
        """Return whether both are files, and not the same."""
        return bool(self.file and other.file) and not self.is_same(other)


@attrs.frozen(kw_only=True)
class MadeCall:
    """
    A call whose result has not come.

    Attributes:
        name: The tool's name.
        arguments: Its arguments.
        digest: Of both, without what makes no difference.
        shown: The call in a notice.
        looks_back: It looks for collected content.
        waits: It lets time pass.
        asks: It asks for a state.
        changes: It changes files.
        reads: It surely changes nothing.
        target: What it reads, or reads a part of.
        things: Digests of words by which it may name what it asks for; none of a search, whose words are ways to ask.

    """

    name: str
    arguments: str
    digest: bytes
    shown: str
    looks_back: bool
    waits: bool
    asks: bool
    changes: bool
    reads: bool
    target: Target
    things: frozenset[bytes]

    @classmethod
    def of(cls, item: Item) -> MadeCall:
        """Return the call of an item."""
        call, shown = ToolCall.of(item), f"{item.name}({item.text})"
        asks, read = asks_for_state(item.name, item.text), _read(item.text)
        reads = not asks and only_reads(call, item.text)
        return cls(
            name=item.name,
            arguments=item.text,
            digest=digest(item.name, item.text if read is None else json.dumps(_plain(read), sort_keys=True)),
            shown=shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}...",
            looks_back=item.name in _LOOKS_BACK,
            waits=waits(item.name, item.text),
            asks=asks,
            changes=call.changes,
            reads=reads,
            target=Target.of(call, item.text, read) if reads else Target(),
            things=frozenset(digest("thing", word) for word in _things(call, read)),
        )

    def is_cheap(self, result: Item) -> bool:
        """Return whether a round costs no more than a look at a state; an edit is none."""
        return not (self.looks_back or self.changes) and (
            self.asks or result.original_tokens <= SMALL or tells_state(result.text)
        )

    def brings_text(self, result: Item) -> bool:
        """Return whether what came is a text that was read: larger than a state, and no error."""
        return self.reads and result.original_tokens > SMALL and not self.failed(result)

    def failed(self, result: Item) -> bool:
        """Return whether a result is no more than an error; an attempt to do something has to have failed to begin."""
        if self.changes or len(result.text) > _SHORT:
            return self.reads and result.is_error
        if self.reads and (failure_in(result, CallKind.OTHER) or _STATUS.match(result.text)):
            return True
        return _NOT_THERE.search(result.text) is not None

    def is_thought(self, result: Item) -> bool:
        """Return whether the call only took a thought, and its result says no more."""
        return not words_of(self.name).isdisjoint(_THINKS) and _says_little(result)

    def is_plan(self, result: Item) -> bool:
        """Return whether the call wrote a plan, and its result says no more."""
        return not self.reads and not words_of(self.name).isdisjoint(_PLANS) and _says_little(result)

    def ticked(self) -> Iterator[bytes]:
        """Yield a digest of each entry of a plan that is marked as done."""
        read = _read(self.arguments)
        yield from (digest(self.name, "ticked", entry) for entry in _ticked(self.arguments if read is None else read))

    def remainder(self, result: Item) -> bytes:
        """Return a digest of what a result says that the call did not say: without its arguments and any number."""
        known = {*_SPOKEN.findall(self.arguments)}
        said = [word for word in _SPOKEN.findall(result.text) if word not in known and not word.isdecimal()]
        return digest(self.name, "remainder", *said)


def text_key(text: str) -> bytes:
    """Return the digest of a text that was read, without numbers of lines and the moment at which it was made."""
    return digest("text", without_moments(_unnumbered(text)).strip())


@attrs.frozen
class _Part:
    """A part of a file: the text that it is a version of, and lines of it."""

    root: bytes
    target: Target
    lines: frozenset[int]


class Parts:
    """
    Knows parts of files by their lines, so that a range that begins a few lines later is the same text.

    The same call with another result is a file that changed; only another call can be another range of the same.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, _Part] = OrderedDict()

    def root(self, key: bytes, target: Target, text: str, *, is_other_call: bool) -> bytes:
        """
        Return the key of the first text of which a text is a version; its own, if it is none. Files that read alike, as
        licences do, are not the same.
        """
        known = self._known.get(key)
        if known is not None and known.target.is_other_file(target):
            key = digest(key, target.file)
            known = self._known.get(key)
        if known is not None:
            self._known.move_to_end(key)
            return known.root
        lines = _lines_of(text)
        alike = self._alike(target, lines) if is_other_call else None
        self._known[key] = _Part(key if alike is None else alike.root, target, lines)
        if len(self._known) > MOST_PARTS:
            self._known.popitem(last=False)
        return self._known[key].root

    def _alike(self, target: Target, lines: frozenset[int]) -> _Part | None:
        its = (part for part in reversed(self._known.values()) if part.target.is_same(target))
        return next((part for part in its if _share(part.lines, lines) >= ALIKE), None)


def digest(*pieces: str | bytes) -> bytes:
    """Return a digest of texts, in order."""
    made = hashlib.blake2b(digest_size=16)
    for piece in pieces:
        raw = piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogatepass")
        made.update(len(raw).to_bytes(8, "big") + raw)
    return made.digest()


# -- inside ----------------------------------------------------------------------------------------------------------


def _read(arguments: str) -> Any:
    """Return what arguments hold; None if they are not JSON."""
    try:
        return read_json(arguments)
    except ValueError:
        return None


def _plain(read: Any) -> Any:
    """Return arguments without what merely describes the call."""
    if isinstance(read, dict) and not read.keys() <= _DESCRIBES:
        return {key: value for key, value in read.items() if key not in _DESCRIBES}
    return read


def _things(call: ToolCall, read: Any) -> Iterator[str]:
    """Yield words that may name a thing: no range or option, and of a command no program and no number."""
    if call.kind is CallKind.SEARCH or not isinstance(read, dict):
        return
    is_command = bool(command_in(read))
    address = read.get("url")  # of a page the address says all; without the place on it
    meant = {"url": address.partition("#")[0]} if isinstance(address, str) else read
    for key, value in meant.items():
        if key in PARTIAL | _DESCRIBES:
            continue
        text = value if isinstance(value, str) else json.dumps(value)
        for word in _WORD.findall(_PROGRAM.sub(" ", text) if is_command else text):
            if not (word.startswith("-") or word in _SCHEMES or (is_command and word.isdecimal())):
                yield word.strip(".-").lower()


def _says_little(result: Item) -> bool:
    return result.original_tokens <= SMALL and not result.is_error


def _unnumbered(text: str) -> str:
    """Return a text without the numbers that a tool put before its lines."""
    numbers = [found and int(found[1]) for found in map(_NUMBERED.match, text.split("\n", _HEAD_LINES + 1))]
    if any(one is not None and other == one + 1 for one, other in itertools.pairwise(numbers)):
        return _NUMBERED.sub("", text)
    return text


def _lines_of(text: str) -> frozenset[int]:
    """Return digests of a text's lines, the same ones of the same lines wherever they stand."""
    found = {zlib.crc32(line.strip().encode("utf-8", "replace")) for line in _unnumbered(text).split("\n")}
    return frozenset(sorted(found)[:MOST_LINES])


def _share(one: frozenset[int], other: frozenset[int]) -> float:
    """Return the share of lines that both have, by the smallest digests of all."""
    all_lines = sorted(one | other)[:MOST_LINES]
    return sum(line in one and line in other for line in all_lines) / len(all_lines)


def _ticked(read: Any) -> Iterator[str]:
    """Yield the entries that are marked as done: lines with a tick, and objects with such a state."""
    texts = (read,) if isinstance(read, str) else (text for _, text in strings(read))
    yield from (line.strip() for text in texts for line in text.split("\n") if _TICK.search(line))
    for each in objects(read):
        if any(_is_done(key, value) for key, value in each.items()):
            yield json.dumps(_plain(each), sort_keys=True)


def _is_done(key: str, value: Any) -> bool:
    return (isinstance(value, str) and value.lower() in _DONE) or (value is True and key.lower() in _DONE)
