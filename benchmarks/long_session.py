"""
One session of any length: the recorded ones, one after another, again and again, with other names each time.

Each repetition renames what ``gc_core.relevance.name_scan`` calls a name (paths, symbols, ids, long numbers), the same
name always in the same way, so that nothing a repetition says of a file is true of another one's. What belongs to the
tools (their names, the keys of their arguments) stays. System texts are left out: a session has one, and these have
thirty.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
from ctxgc.evaluation.transcripts import read_transcript

from benchmarks.counting import corpus
from benchmarks.long_plants import Plant, Sowing, Stage, sow
from gc_core.relevance.name_scan import scan

Message = dict[str, Any]

CODING = ("ccviewer", "concat-entire", "entire", "gemini-cli", "moatless", "pi", "swe-agent")
"""How the names of coding sessions begin."""

_TOKEN = re.compile(r"\\[nt]|[A-Za-z0-9_#@~./+\-]{5,}")
"""What may be a name; the escaped line breaks of JSON come first, for they end one."""

_PART = re.compile(r"[A-Za-z0-9_]+")
_ENDING = re.compile(r"(?<=[\w\-])\.[A-Za-z][A-Za-z0-9]{0,4}(?=[.+\-~]*$)", re.ASCII)
"""The ending of a file's name, which tells what it is; behind it may stand what ends a sentence."""

_FIRST_HUMP = re.compile(r"_*(?:[tT]est_?)?(?:[A-Z0-9]+(?![a-z])|[A-Za-z0-9]?[a-z0-9]*)")
_DECIMAL = re.compile(r"-?\d+\.\d+")
_LONG_NUMBER = 5
"""Digits from which a number is a name."""

_MOST_TOKENS = 65_536
_TAG_FIRST, _TAG_SECOND = "KQVXZJWBDFGHLMNPRSTCY", "bdfghjklmnpqrtvwxzac"
MOST_REPETITIONS = len(_TAG_FIRST) * len(_TAG_SECOND)


@attrs.frozen(kw_only=True)
class Said:
    """
    A message of the long session.

    Attributes:
        step: Model calls so far, this one included when the message is a reply.
        message: The message, in OpenAI's shape.
        sown: What was planted in it.
        repetition: The number of earlier passes through the recorded sessions.
        place: Which reply of its repetition it is, from 0 on; -1 for what is planted, and for what is no reply.

    """

    step: int
    message: Message
    sown: tuple[Sowing, ...] = ()
    repetition: int = 0
    place: int = -1

    @property
    def is_reply(self) -> bool:
        """Whether the model says it."""
        return bool(self.message["role"] == "assistant")


@attrs.define
class Numbers:
    """
    Other numbers of the same length, each given away once in a whole stream.

    They are scattered over their range, so that neighbours among the old numbers are none among the new ones.
    """

    _given: Counter[int] = attrs.Factory(Counter)

    def next(self, digits: int) -> str:
        """A number of so many digits. Raises ValueError when all of them have been given away."""
        span = 9 * 10 ** (digits - 1)
        slot = self._given[digits]
        if slot >= span:
            raise ValueError(f"all {span} numbers of {digits} digits have been given away: rename fewer repetitions")
        self._given[digits] += 1
        return str(10 ** (digits - 1) + slot * _stride(span) % span)


def _stride(span: int) -> int:
    """About the golden section of the span, and without a common divisor with it: each slot is met once."""
    wanted = int(span * 0.618) | 1
    return next(step for step in itertools.count(wanted, 2) if math.gcd(step, span) == 1)


class Renamer:
    """
    The names of one repetition: a tag behind the first hump of every word, another number for every long number.

    Endings are left alone, for they tell what a thing is: ``setup.go`` becomes ``setupKb.go``, ``TypeError``
    ``TypeKbError``, ``test_query`` ``test_queryKb``. The tag has two characters, so names of different repetitions
    differ in it or in what is around it.
    """

    def __init__(self, repetition: int, numbers: Numbers) -> None:
        if not 0 <= repetition < MOST_REPETITIONS:
            raise ValueError(f"repetition {repetition}: expected 0 to {MOST_REPETITIONS - 1}")
        second, first = divmod(repetition, len(_TAG_FIRST))
        self._tag = _TAG_FIRST[first] + _TAG_SECOND[second]
        self._repetition = repetition
        self._numbers = numbers
        self._renumbered: dict[str, str] = {}
        self._known: dict[str, str] = {}

    def text(self, text: str) -> str:
        """The text with this repetition's names: one pass."""
        return _TOKEN.sub(self._token, text)

    def value(self, value: Any) -> Any:
        """A JSON value; keys stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.value(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if isinstance(value, int) and not isinstance(value, bool):
            return int(self.text(str(value)))
        if isinstance(value, float) and _DECIMAL.fullmatch(repr(value)):
            return float(self.text(repr(value)))
        return value

    def call_id(self, known: str) -> str:
        """The id of a call, short enough for every provider."""
        return f"{known[-32:]}_{self._repetition}"

    def message(self, message: Message) -> Message:
        """A copy of a message in OpenAI's shape."""
        new = dict(message)
        if isinstance(new.get("content"), str):
            new["content"] = self.text(new["content"])
        if new.get("tool_calls"):
            new["tool_calls"] = [self._call(call) for call in new["tool_calls"]]
        if "tool_call_id" in new:
            new["tool_call_id"] = self.call_id(new["tool_call_id"])
        return new

    def _call(self, call: Message) -> Message:
        function = call["function"]
        arguments = self._arguments(function["arguments"])
        return {**call, "id": self.call_id(call["id"]), "function": {**function, "arguments": arguments}}

    def _arguments(self, arguments: str) -> str:
        try:
            value = json.loads(arguments)
        except ValueError:  # what a model wrote badly stays as bad as it is
            return self.text(arguments)
        return json.dumps(self.value(value), ensure_ascii=False)

    def _token(self, match: re.Match[str]) -> str:
        token = match[0]
        known = self._known.get(token)
        if known is None:
            if len(self._known) >= _MOST_TOKENS:
                self._known.clear()
            known = self._known[token] = self._named(token) if scan(token).names else token
        return known

    def _named(self, token: str) -> str:
        return "/".join(map(self._segment, token.split("/")))

    def _segment(self, segment: str) -> str:
        """What stands between two slashes; its ending stays unless nothing else would change."""
        ending = _ENDING.search(segment)
        at = ending.start() if ending else len(segment)
        stem = _PART.sub(self._part, segment[:at])
        return stem + segment[at:] if stem != segment[:at] else _PART.sub(self._part, segment)

    def _part(self, match: re.Match[str]) -> str:
        part = match[0]
        if part.isdigit():
            return self._number(part) if len(part) >= _LONG_NUMBER else part
        hump = _FIRST_HUMP.match(part)
        at = hump.end() if hump else len(part)
        return part[:at] + self._tag + part[at:]

    def _number(self, number: str) -> str:
        new = self._renumbered.get(number)
        if new is None:
            new = self._renumbered[number] = self._numbers.next(len(number))
        return new


# -- the stream ------------------------------------------------------------------------------------------------------


def session_files(prefixes: Sequence[str] = ()) -> tuple[Path, ...]:
    """The recorded sessions whose names begin so, or all of them, in the order of their names."""
    files = sorted(corpus().glob("*.jsonl"))
    return tuple(file for file in files if not prefixes or file.name.startswith(tuple(prefixes)))


def recorded(files: Sequence[Path]) -> Iterator[tuple[int, Message]]:
    """The messages of these sessions, again and again, with the repetition; only one session is in memory."""
    numbers = Numbers()
    for repetition in itertools.count():
        renamer = Renamer(repetition, numbers)
        for file in files:
            for message in read_transcript(file).messages:
                if message["role"] != "system":
                    yield repetition, renamer.message(dict(message))


def long_session(steps: int, files: Sequence[Path], plants: Iterable[Plant] = ()) -> Iterator[Said]:
    """
    A session of so many model calls; what is planted is said at its step, or as soon as no call waits for a result.

    Calls stay paired with their results as they are in the recorded sessions, where a few were never answered.
    """
    waiting = sorted(sow(plants), key=lambda sowing: (sowing.step, sowing.plant.number))
    step, pending, replies = 0, set[str](), Counter[int]()
    for repetition, message in recorded(files):
        reply = message["role"] == "assistant"
        if reply and not pending:
            for said in _planted(waiting, step):
                if said.is_reply and said.step > steps:
                    return
                step = said.step
                yield said
        step += reply
        if step > steps:
            return
        due = _decisions(waiting, step) if reply else ()
        pending = _pending(pending, message)
        place = replies[repetition] if reply else -1
        replies[repetition] += reply
        yield Said(step=step, message=_with_texts(message, due), sown=due, repetition=repetition, place=place)


def _planted(waiting: list[Sowing], step: int) -> Iterator[Said]:
    """What is due before the next reply and is a message of its own."""
    while waiting and waiting[0].step <= step + 1 and waiting[0].stage is not Stage.REPLY:
        sowing = waiting.pop(0)
        for message in sowing.messages():
            step += message["role"] == "assistant"
            yield Said(step=step, message=message, sown=(sowing,))


def _decisions(waiting: list[Sowing], step: int) -> tuple[Sowing, ...]:
    """What is due and is said in a reply."""
    due = []
    while waiting and waiting[0].step <= step and waiting[0].stage is Stage.REPLY:
        due.append(waiting.pop(0))
    return tuple(due)


def _with_texts(message: Message, due: Sequence[Sowing]) -> Message:
    if not due:
        return message
    texts = [message.get("content") or "", *(sowing.plant.text for sowing in due)]
    return {**message, "content": "\n\n".join(filter(None, texts))}


def _pending(pending: set[str], message: Message) -> set[str]:
    """The calls that wait for results; a message that is no result ends the waiting."""
    if message["role"] == "tool":
        return pending - {message["tool_call_id"]}
    return {call["id"] for call in message.get("tool_calls") or ()}
