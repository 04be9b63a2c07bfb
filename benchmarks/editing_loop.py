"""
An agent that edits by exact replacement from what its prompt shows, and reads again what it misses, until the end.

``python -m benchmarks.editing_loop [--systems NAME ...] [--sessions PART ...] [--no-peers] [--json FILE]`` goes through
the recorded sessions that edit, message by message, in a window of a third of their length: how many calls and tokens
it takes with each strategy, baseline and peer. It prints Markdown.

Before a recorded message that edits, every line that its edits replace has to be in the prompt, whole. Where one
does not, the agent makes one more call: it reads the file again, or recalls what a reference in the prompt names. No
model is there: what the agent says is recorded, and it knows what it is about to edit.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
import json
import platform
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

import attrs
from ctxgc.evaluation.baselines import BASELINES, Baseline, BaselineSession, Choice, Fill, NoCollection
from ctxgc.evaluation.call_measures import Prompt
from ctxgc.evaluation.quotes import REPLACED_KEYS, QuotedLine, quotable_lines, quotes_of
from ctxgc.evaluation.request_judge import Meter
from ctxgc.evaluation.reuse import Uses, message_texts, uses_of
from ctxgc.evaluation.transcripts import Transcript, read_transcript

from benchmarks.counting import corpus
from benchmarks.peers.catalog import HOME, PEERS, Peer
from benchmarks.peers.process import AdapterProcess, PeerCallError, PeerError
from benchmarks.peers.replaying import errors_by_kind
from benchmarks.sized import calls_of, made_with, print_row, quiet, session_files, shown, text_tokens
from gc_core import GCConfig, GCSession
from gc_core.errors import ContextOverflowError, SourceError
from gc_core.providers import format_named
from gc_core.values.items import ItemKind, Part
from gc_core.values.messages import Payload, Request, Role
from gc_core.window.context import Edits

STRATEGIES = ("gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive")
PACKAGES = ("gc-core", *STRATEGIES, "tiktoken")
WORKERS = 2

LEAST_TOKENS = 12_000
"""Tokens of text that a session has more than."""

MOST_CALLS = 700
"""Model calls of a session, at most."""

PARTS = 3
"""Of a session's text, one of so many is the window: every session has to collect."""

LEAST_WINDOW, MOST_WINDOW = 8_000, 100_000

MOST_EXTRA = 4
"""Calls that an agent makes at most for what one message misses."""

MOST_LINES = 200
"""Lines of a file that it reads at once."""

_FORMAT = "openai"
_UNKNOWN = "\0"
"""A line of a file that has not been shown yet."""

_PATH_KEYS = ("file_path", "path", "filePath", "filename", "absolute_path", "target_file")
_CONTENT_KEYS = ("content", "file_text", "contents")
_NEW_KEYS = ("new_string", "new_str", "newText", "new_text", "replace", "replacement")
_EVERYWHERE_KEYS = ("replace_all", "allow_multiple")
_START_KEYS = ("offset", "start_line")
_PART_KEYS = (*_START_KEYS, "limit", "end_line", "view_range")

_READING = re.compile(r"read|view|open|cat\b", re.IGNORECASE)
_NUMBERED = re.compile(r"^ *(\d{1,6})(?:→|\t)(.*)$", re.MULTILINE)
_REFUSED = re.compile(
    r"\s*(?:<tool_use_error>|\{\"error\"|error\b|(?:ENOENT|EISDIR|EACCES):|the user doesn't want|could not|no changes"
    r"|\[no tool result|<observation>\s*string\b)",
    re.IGNORECASE,
)
"""How the result of a call begins that did nothing."""

_NOTES = re.compile(
    r"\A\s*IMPORTANT: .*?--- FILE CONTENT[^\n]*\n|\n*\[\d+ more lines in file\.[^\n]*\]\s*\Z", re.DOTALL
)
"""What tools say of a part of a file that they show without numbers."""

_REFERENCE = re.compile(r"\[gc: [\d,]+ tokens left out(?: here: turns? \d+(?:-\d+)?,|:) i(\d+)(?:-i(\d+))?")


# -- what is compared ------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class System:
    """A strategy, baseline or peer; with ``recalls`` the agent can recall what the prompt names."""

    name: str
    recalls: bool = False
    peer: Peer | None = None

    @property
    def label(self) -> str:
        """What the table calls it."""
        return f"{self.name} + recall" if self.recalls else self.name


SYSTEMS = (
    *(System(name=name, recalls=recalls) for name in STRATEGIES for recalls in (False, True)),
    *(System(name=baseline.name) for baseline in BASELINES),
    *(System(name=peer.name, peer=peer) for peer in PEERS),
)


@attrs.frozen(kw_only=True, eq=False)
class Recording:
    """
    A session to re-enact.

    Attributes:
        transcript: What was said.
        uses: What its messages use, the lines of its edits among it.
        window: Tokens that a prompt may have.
        prices: Of each recorded call without any collection, by its place among the messages.

    """

    transcript: Transcript
    uses: Uses
    window: int
    prices: Mapping[int, float]


@attrs.frozen(kw_only=True)
class Figures:
    """
    What came of one session with one system.

    Attributes:
        session: Name of its file.
        system: What the table calls the system.
        window: Tokens that a prompt may have.
        calls: Recorded calls.
        reads: Calls that read something again.
        recalls: Calls that recalled something.
        edits: Edits that quote something.
        failed: Those of them that still missed a line.
        tokens: Of all prompts.
        price: Of all prompts, in tokens: what is cached is cheap, what is new is dear.
        price_without: Of the prompts of the same recorded calls without any collection.
        over: Calls whose prompt was larger than the window, or could not be made.
        errors: What a peer raised, a line each.

    """

    session: str
    system: str
    window: int
    calls: int
    reads: int
    recalls: int
    edits: int
    failed: int
    tokens: int
    price: float
    price_without: float
    over: int
    errors: tuple[str, ...] = ()


def window_of(tokens: int) -> int:
    """A third of a session, in whole thousands."""
    return max(LEAST_WINDOW, min(MOST_WINDOW, tokens // PARTS // 1_000 * 1_000))


def recording_of(transcript: Transcript, *, window: int) -> Recording:
    """A session with what the loop has to know of it."""
    prices = dict(_prices(transcript))
    return Recording(transcript=transcript, uses=uses_of(transcript), window=window, prices=prices)


def _prices(transcript: Transcript) -> Iterator[tuple[int, float]]:
    """The price of each call when nothing ever leaves: all of the prompt before is in the cache."""
    meter, before = Meter(transcript), 0
    for place, message in enumerate(transcript.messages):
        if format_named(_FORMAT).role(message) is Role.ASSISTANT:
            yield place, Prompt(tokens=meter.tokens_without, cached=min(before, meter.tokens_without)).cost
            before = meter.tokens_without
        meter.hear(message)


# -- the files -------------------------------------------------------------------------------------------------------


@attrs.define
class Files:
    """
    The files that a session works on, as its reads, writes and edits tell them.

    What else changes them, a command for instance, is not seen before the next read.
    """

    _texts: dict[str, str] = attrs.Factory(dict)

    def hear(self, call: Part, result: str) -> None:
        """A call and what came of it."""
        arguments = _arguments(call)
        path = path_of(call)
        if not path or _REFUSED.match(result):
            return
        replacements = list(_replacements(arguments))
        content = _first(arguments, _CONTENT_KEYS, str)
        if replacements:
            self._edit(path, replacements, most=-1 if any(map(arguments.get, _EVERYWHERE_KEYS)) else 1)
        elif content is not None:
            self._put(path, content)
        elif _READING.match(call.name) or arguments.get("command") == "view":
            self._read(path, arguments, result)

    def around(self, lines: Iterable[str], path: str = "") -> str | None:
        """
        Up to 200 lines, with their numbers, around these, from a file that has them all; None where none has.

        The file at ``path`` is looked at first, and then the one that was seen last.
        """
        wanted = frozenset(lines)
        likely = [path] if path in self._texts else []
        found = (_excerpt(self._numbered(each), wanted) for each in (*likely, *reversed(self._texts)))
        return next((text for text in found if text is not None), None)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _numbered(self, path: str) -> list[str]:
        lines = enumerate(self._texts[path].split("\n"), 1)
        return [f"{number:>6}→{line}" for number, line in lines if line != _UNKNOWN]

    def _put(self, path: str, text: str) -> None:
        self._texts.pop(path, None)  # what is put last stands last
        self._texts[path] = text

    def _edit(self, path: str, replacements: Iterable[tuple[str, str]], *, most: int) -> None:
        text = self._texts.get(path, _UNKNOWN)
        for old, new in replacements:
            text = text.replace(old, new, most)
        self._put(path, text)

    def _read(self, path: str, arguments: Mapping[str, Any], result: str) -> None:
        whole = not any(map(arguments.get, _PART_KEYS))
        lines = [_UNKNOWN] if whole else self._texts.get(path, _UNKNOWN).split("\n")
        for number, line in _lines_read(result, _first(arguments, _START_KEYS, int) or 1):
            lines.extend([_UNKNOWN] * (number - len(lines)))
            lines[number - 1] = line
        self._put(path, "\n".join(lines))


def path_of(call: Part) -> str:
    """The file that a call is about, "" where its arguments name none."""
    return _first(_arguments(call), _PATH_KEYS, str) or ""


def _lines_read(result: str, start: int) -> Iterator[tuple[int, str]]:
    """Lines of a file with their numbers, which a tool shows in front of them or not at all."""
    numbered = _NUMBERED.findall(result)
    plain = _NOTES.sub("", result).split("\n")
    if 2 * len(numbered) >= sum(bool(line.strip()) for line in plain):
        return ((int(number), line) for number, line in numbered if int(number))
    return enumerate(plain, max(1, start))


def _excerpt(lines: Sequence[str], wanted: frozenset[str]) -> str | None:
    """The stretch of at most 200 lines that has most of what is wanted; None where the lines lack some of it."""
    if not wanted <= quotable_lines("\n".join(lines)):
        return None
    hits = [(at, held) for at, line in enumerate(lines) if (held := wanted & quotable_lines(line))]
    if not hits:
        return None
    _, back, first = max((*_reach(hits, at), at) for at, _ in hits)
    begin = max(0, first - (MOST_LINES + back) // 2)
    return "\n".join(lines[begin : begin + MOST_LINES])


def _reach(hits: Iterable[tuple[int, frozenset[str]]], first: int) -> tuple[int, int]:
    """How many wanted lines a stretch from here on has, and how far back it is from the last of them to here."""
    seen: set[str] = set()
    last = first
    for at, held in hits:
        if first <= at < first + MOST_LINES and not held <= seen:
            seen |= held
            last = at
    return len(seen), first - last


def _arguments(call: Part) -> Mapping[str, Any]:
    """The arguments of a call; none where they are no JSON object."""
    value = _json(call.text)
    return value if isinstance(value, dict) else {}


def _replacements(value: Any) -> Iterator[tuple[str, str]]:
    """Old and new texts, wherever they are adjacent in the arguments of a call."""
    if isinstance(value, dict):
        old, new = _first(value, sorted(REPLACED_KEYS), str), _first(value, _NEW_KEYS, str)
        if old and new is not None:
            yield old, new
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _replacements(inner)


def _first(arguments: Mapping[str, Any], keys: Iterable[str], kind: type[Any]) -> Any:
    """The first of these arguments that is of this kind."""
    return next((arguments[key] for key in keys if isinstance(arguments.get(key), kind)), None)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


# -- who keeps the window --------------------------------------------------------------------------------------------


class Keeper(Protocol):
    """Keeps the window of one session."""

    @property
    def recall(self) -> Callable[[str], str] | None:
        """Brings the original of an item back by its id; None where nothing does."""

    @property
    def errors(self) -> Sequence[str]:
        """What went wrong in calls, a line each."""

    def append(self, message: Payload) -> None:
        """Take what the model did not say."""

    def reply(self, message: Payload) -> None:
        """Take the model's reply."""

    def request(self, place: int) -> Request | None:
        """What would be sent before the recorded message at this place; None where nothing can be."""


@attrs.frozen(kw_only=True)
class _Strategy:
    """A session of gc-core."""

    session: GCSession
    recall: Callable[[str], str] | None
    errors: Sequence[str] = ()

    def append(self, message: Payload) -> None:
        self.session.append(message)

    def reply(self, message: Payload) -> None:
        self.session.post_turn(message)

    def request(self, place: int) -> Request | None:  # noqa: ARG002 - the contract
        try:
            return self.session.pre_send()
        except ContextOverflowError:
            return None


@attrs.define
class _InStep:
    """A baseline that gets places of the recording: with them the oracle looks ahead."""

    baseline: Baseline
    place: int = 0

    @property
    def name(self) -> str:
        return self.baseline.name

    def due(self, fill: Fill) -> bool:
        return self.baseline.due(fill)

    def edits(self, choice: Choice) -> Edits:
        return self.baseline.edits(attrs.evolve(choice, place=self.place))


@attrs.frozen(kw_only=True)
class _Baseline:
    """A session that a baseline keeps."""

    session: BaselineSession
    baseline: _InStep
    recall: None = None
    errors: Sequence[str] = ()

    def append(self, message: Payload) -> None:
        self.session.append(message)

    def reply(self, message: Payload) -> None:
        self.session.post_turn(message)

    def request(self, place: int) -> Request | None:
        self.baseline.place = place
        return self.session.pre_send()


@attrs.define(kw_only=True)
class _Peer:
    """A peer in a separate process, which gets new messages; the history is repaired as for a baseline."""

    process: AdapterProcess
    history: BaselineSession
    recall: None = None
    errors: list[str] = attrs.field(factory=list)
    _calls: int = attrs.field(default=0, init=False)
    _dead: bool = attrs.field(default=False, init=False)
    _announced: int = attrs.field(default=0, init=False)
    _written: dict[str, Payload] = attrs.field(factory=dict, init=False)

    def append(self, message: Payload) -> None:
        self.history.append(message)

    def reply(self, message: Payload) -> None:
        self.history.append(message)

    def request(self, place: int) -> Request | None:  # noqa: ARG002 - the contract
        whole = self.history.pre_send()
        heads = sum(1 for _ in itertools.takewhile(lambda message: message["role"] == "system", whole.messages))
        answer = self._answer(whole.messages[heads:])
        return None if answer is None else attrs.evolve(whole, messages=(*whole.messages[:heads], *answer))

    def _answer(self, messages: Sequence[Payload]) -> list[Payload] | None:
        """What the peer would send; None where it failed."""
        new, self._announced = messages[self._announced :], len(messages)
        self._calls += 1
        if self._dead:
            return None
        try:
            said = self.process.call(self._calls, new).messages
        except PeerError as error:
            self.errors.append(str(error))
            self._dead = not isinstance(error, PeerCallError)
            return None
        return [messages[one] if isinstance(one, int) else self._one(one) for one in said]

    def _one(self, message: Payload) -> Payload:
        """One object for equal messages: what measures them reads each object once."""
        return self._written.setdefault(json.dumps(message, sort_keys=True), message)


@contextlib.contextmanager
def kept_by(system: System, recording: Recording, home: Path = HOME) -> Iterator[Keeper]:
    """Whoever keeps a session's window, at its beginning. Raises PeerError when a peer does not start."""
    transcript = recording.transcript
    config = GCConfig(context_limit=recording.window, output_reservation=0, reread_guard="off")
    baseline = _InStep(next((one for one in BASELINES if one.name == system.name), NoCollection()))
    if system.name in STRATEGIES:
        with GCSession(config, format=_FORMAT, strategy=system.name) as session:
            _open(session, transcript)
            yield _Strategy(session=session, recall=session.recall if system.recalls else None)
        return
    kept = BaselineSession(baseline, config=config, format=_FORMAT, model=None, uses=recording.uses)
    _open(kept, transcript)
    if system.peer is None:
        yield _Baseline(session=kept, baseline=baseline)
        return
    with _process(system.peer, transcript, config, home) as process:
        yield _Peer(process=process, history=kept)


def _process(peer: Peer, transcript: Transcript, config: GCConfig, home: Path) -> AdapterProcess:
    """A peer's process: window, trigger and target are less by system text and tool schemas."""
    head, limit = Meter(transcript).tokens_without, config.context_limit
    return AdapterProcess(
        peer,
        window=limit - head,
        trigger=int(limit * config.threshold_percent / 100) - head,
        target=int(limit * config.target_percent / 100) - head,
        home=home,
    )


def _open(session: GCSession | BaselineSession, transcript: Transcript) -> None:
    """The content before the first message."""
    if transcript.system:
        names = ["base", *(f"part_{number}" for number in range(2, len(transcript.system) + 1))]
        parts = dict(zip(names, transcript.system, strict=True))
        session.system(**parts)  # type: ignore[arg-type]  # no part is named as one of its keywords
    if transcript.tools:
        session.tools(transcript.tools)


# -- the loop --------------------------------------------------------------------------------------------------------


@attrs.define
class _Texts:
    """Which of the lines that are quoted stand in texts, each of which is read once."""

    quoted: frozenset[str]
    _known: dict[str, frozenset[str]] = attrs.field(factory=dict, init=False)

    def lines(self, text: str) -> frozenset[str]:
        """Those in one text."""
        if text not in self._known:
            self._known[text] = self.quoted & quotable_lines(text)
        return self._known[text]

    def lines_of(self, request: Request) -> frozenset[str]:
        """Those in a request."""
        return frozenset().union(*map(self.lines, _texts_of(request)))


@attrs.define
class _Originals:
    """What can be recalled, as far as a request names it."""

    recall: Callable[[str], str]
    texts: _Texts
    _known: dict[int, str] = attrs.field(factory=dict, init=False)

    def newest(self, request: Request, missing: frozenset[str]) -> int | None:
        """The newest item that has one of the missing lines; None where none has any."""
        ranges = {(int(found[1]), int(found[2] or found[1])) for found in _references(request)}
        numbers = {number for first, last in ranges for number in range(first, last + 1)}
        held = (number for number in sorted(numbers, reverse=True) if missing & self.texts.lines(self.text(number)))
        return next(held, None)

    def text(self, number: int) -> str:
        """The original of an item, "" where no message has one of this number."""
        if number not in self._known:
            try:
                self._known[number] = self.recall(f"i{number}")
            except SourceError:
                self._known[number] = ""
        return self._known[number]


@attrs.define(kw_only=True)
class _Loop:
    """One session under way, with one system."""

    recording: Recording
    keeper: Keeper
    meter: Meter
    texts: _Texts
    originals: _Originals | None
    files: Files = attrs.field(factory=Files, init=False)
    prompts: list[Prompt | None] = attrs.field(factory=list, init=False)
    extra: Counter[str] = attrs.field(factory=Counter, init=False)
    failed: int = attrs.field(default=0, init=False)
    price_without: float = attrs.field(default=0.0, init=False)
    _called: dict[str, Part] = attrs.field(factory=dict, init=False)

    def run(self) -> None:
        """All of it, as it was recorded and with what the agent does beside it."""
        for place, message in enumerate(self.recording.transcript.messages):
            if format_named(_FORMAT).role(message) is Role.ASSISTANT:
                self._call(place, message)
                self._reply(message)
            else:
                self._append(message)
            self._note_files(message)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _call(self, place: int, message: Payload) -> None:
        """One recorded call, and before it as many others as it needs."""
        edits = self.recording.uses.quotes.edits.get(place, ())
        path = _path_in(message) if edits else ""
        request = self._ask(place)
        missing = self._missing(edits, request)
        for _ in range(MOST_EXTRA):
            if request is None or not missing:
                break
            self._fetch(request, missing[0], path)
            request = self._ask(place)
            missing = self._missing(edits, request)
        self.failed += len(missing)
        if self.prompts[-1] is not None:
            self.price_without += self.recording.prices[place]

    def _ask(self, place: int) -> Request | None:
        """The prompt of the next call, counted; None where it is over the window, or there is none."""
        request = self.keeper.request(place)
        prompt = None if request is None else self.meter.measure(request).prompt
        self.prompts.append(prompt)
        return None if _is_over(prompt, self.recording.window) else request

    def _missing(self, edits: Sequence[Sequence[QuotedLine]], request: Request | None) -> list[list[QuotedLine]]:
        """What the edits quote and the request does not show, of each edit that misses something."""
        shown = self.texts.lines_of(request) if edits and request is not None else frozenset()
        lost = ([line for line in edit if line.text not in shown] for edit in edits)
        return [lines for lines in lost if lines]

    def _fetch(self, request: Request, missing: Sequence[QuotedLine], path: str) -> None:
        """One more call, which brings back what one edit misses."""
        lines = frozenset(line.text for line in missing)
        number = None if self.originals is None else self.originals.newest(request, lines)
        if self.originals is not None and number is not None:
            self._fetched("recall", {"reference": f"i{number}"}, self.originals.text(number))
        else:
            text = self.files.around(lines, path) or self._last_holders(missing)
            self._fetched("read_again", {"path": path} if path else {}, text)

    def _last_holders(self, missing: Sequence[QuotedLine]) -> str:
        """The texts in which these lines last occurred."""
        holders: dict[int, set[str]] = {}
        for line in missing:
            holders.setdefault(line.holder, set()).add(line.text)
        texts = self.recording.uses.quotes.holders
        return "\n\n".join(_readable(texts[holder], lines) for holder, lines in holders.items())

    def _fetched(self, tool: str, arguments: Mapping[str, str], text: str) -> None:
        self.extra[tool] += 1
        key = f"extra_{self.extra.total()}"
        function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
        calls = [{"id": key, "type": "function", "function": function}]
        self._reply({"role": "assistant", "content": None, "tool_calls": calls})
        self._append({"role": "tool", "tool_call_id": key, "content": text})

    def _reply(self, message: Payload) -> None:
        self.keeper.reply(message)
        self.meter.hear(message)

    def _append(self, message: Payload) -> None:
        self.keeper.append(message)
        self.meter.hear(message)

    def _note_files(self, message: Payload) -> None:
        for part in format_named(_FORMAT).read(message):
            if part.kind is ItemKind.TOOL_CALL:
                self._called[part.call_id] = part
            elif part.kind is ItemKind.TOOL_RESULT and part.call_id in self._called:
                self.files.hear(self._called.pop(part.call_id), part.text)


def played(recording: Recording, system: System, home: Path = HOME) -> Figures:
    """One session with one system, until its end. Raises PeerError when a peer does not start."""
    quotes = recording.uses.quotes
    edits = [edit for edits in quotes.edits.values() for edit in edits]
    texts = _Texts(frozenset(line.text for edit in edits for line in edit))
    with kept_by(system, recording, home) as keeper:
        originals = None if keeper.recall is None else _Originals(keeper.recall, texts)
        meter = Meter(recording.transcript)
        loop = _Loop(recording=recording, keeper=keeper, meter=meter, texts=texts, originals=originals)
        loop.run()
    sent = [prompt for prompt in loop.prompts if prompt is not None]
    return Figures(
        session=recording.transcript.path.name,
        system=system.label,
        window=recording.window,
        calls=len(recording.prices),
        reads=loop.extra["read_again"],
        recalls=loop.extra["recall"],
        edits=len(edits),
        failed=loop.failed,
        tokens=sum(prompt.tokens for prompt in sent),
        price=sum(prompt.cost for prompt in sent),
        price_without=loop.price_without,
        over=sum(_is_over(prompt, recording.window) for prompt in loop.prompts),
        errors=tuple(keeper.errors),
    )


def _is_over(prompt: Prompt | None, window: int) -> bool:
    return prompt is None or prompt.tokens > window


def _texts_of(request: Request) -> Iterator[str]:
    form = format_named(_FORMAT)
    for message in request.messages:
        yield from message_texts(message, form)


def _references(request: Request) -> Iterator[re.Match[str]]:
    for text in _texts_of(request):
        if "[gc: " in text:
            yield from _REFERENCE.finditer(text)


def _path_in(message: Payload) -> str:
    """The file that the calls of a message are about, "" where they are about none or several."""
    calls = (part for part in format_named(_FORMAT).read(message) if part.kind is ItemKind.TOOL_CALL)
    paths = {path for call in calls if (path := path_of(call))}
    return paths.pop() if len(paths) == 1 else ""


def _readable(text: str, lines: set[str]) -> str:
    """A text as a file would show it: of the arguments of a call the strings, where the lines stand in them."""
    strings = "\n".join(_strings(_json(text)))
    return strings if lines <= quotable_lines(strings) else text


# -- running ---------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Task:
    """One session with one system."""

    path: Path
    system: System


@attrs.frozen(kw_only=True)
class Outcome:
    """What came of it: figures, or why there are none."""

    task: Task
    figures: Figures | None = None
    failure: str = ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table in Markdown, progress on stderr."""
    options = _options(arguments)
    if not corpus().is_dir():
        print(f"no recorded sessions in {corpus()}: nothing to edit; set GC_CORPUS")
        return
    systems = [system for system in SYSTEMS if _is_wanted(system, options)]
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn"), initializer=quiet) as pool:
        named = [path for path in session_files() if _has_part(path.name, options.sessions)]
        paths = [path for path, fits in zip(named, pool.map(is_editing, named), strict=True) if fits]
        # Those of one session are adjacent: it is read once.
        tasks = [Task(path=path, system=system) for path in paths for system in systems]
        done = []
        for outcome in pool.map(_outcome, tasks):
            done.append(outcome)
            print(f"\r{len(done)} of {len(tasks)} sessions", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    figures = [outcome.figures for outcome in done if outcome.figures is not None]
    print_all(figures, [outcome.failure for outcome in done if outcome.failure])
    if options.json:
        options.json.write_text(json.dumps([attrs.asdict(one) for one in figures], indent=1), encoding="utf-8")


def is_editing(path: Path) -> bool:
    """Whether a session edits, in a format that everybody reads, and is neither too short nor too long."""
    transcript = read_transcript(path)
    if transcript.format != _FORMAT or calls_of(transcript) > MOST_CALLS:
        return False
    return bool(quotes_of(transcript).edits) and text_tokens(transcript) > LEAST_TOKENS


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.editing_loop", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--systems", nargs="*", default=[], help="how their names begin; default: all")
    parser.add_argument("--sessions", nargs="*", default=[], help="parts of the sessions' names; default: all")
    parser.add_argument("--no-peers", action="store_true", help="only strategies and baselines")
    parser.add_argument("--json", type=Path, help="write the figures of each session here")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.systems if not any(one.label.startswith(name) for one in SYSTEMS)]
    if unknown:
        parser.error(f"no system {unknown[0]!r}; there are: {', '.join(one.label for one in SYSTEMS)}")
    return options


def _is_wanted(system: System, options: argparse.Namespace) -> bool:
    if options.no_peers and system.peer is not None:
        return False
    return not options.systems or any(system.label.startswith(name) for name in options.systems)


def _has_part(name: str, parts: Sequence[str]) -> bool:
    return not parts or any(part in name for part in parts)


def _outcome(task: Task) -> Outcome:
    try:
        return Outcome(task=task, figures=played(_known(task.path), task.system))
    except PeerError as error:
        return Outcome(task=task, failure=str(error))


@functools.lru_cache(maxsize=2)
def _known(path: Path) -> Recording:
    transcript = read_transcript(path)
    return recording_of(transcript, window=window_of(text_tokens(transcript)))


# -- the table -------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Row:
    """A system over all sessions."""

    system: str
    sessions: int
    edits: int
    reads: int
    recalls: int
    failed: int
    calls: int
    tokens: int
    cost: float
    over: int

    @property
    def rank(self) -> tuple[int, int, int]:
        """By calls to the end, then tokens; a system that some session is missing of stands last."""
        return -self.sessions, self.calls, self.tokens


def row_of(its: Sequence[Figures]) -> Row:
    """The figures of one system, pooled."""
    reads, recalls = sum(one.reads for one in its), sum(one.recalls for one in its)
    without = sum(one.price_without for one in its)
    return Row(
        system=its[0].system,
        sessions=len(its),
        edits=sum(one.edits for one in its),
        reads=reads,
        recalls=recalls,
        failed=sum(one.failed for one in its),
        calls=sum(one.calls for one in its) + reads + recalls,
        tokens=sum(one.tokens for one in its),
        cost=sum(one.price for one in its) / without if without else 0.0,
        over=sum(one.over for one in its),
    )


def print_all(figures: Sequence[Figures], failures: Iterable[str]) -> None:
    """When and with what it was made, the table, and what went wrong."""
    windows = {one.session: one.window for one in figures}
    print(f"Made {made_with(PACKAGES)}, {platform.machine()}.\n")
    if windows:
        least, most = min(windows.values()), max(windows.values())
        print(f"{len(windows)} sessions, each in a window of a third of it: {least:,} to {most:,} tokens.")
        print("Behind an edit that failed the recording goes on; an agent would make more calls there.\n")
    systems = {one.system: [each for each in figures if each.system == one.system] for one in figures}
    print_rows(sorted(map(row_of, systems.values()), key=lambda row: row.rank))
    errors = errors_by_kind([error for one in figures for error in one.errors])
    for text in (*dict.fromkeys(failures), *(f"{error} ({count} times)" for error, count in errors.items())):
        print(f"\n{text}")


def print_rows(rows: Iterable[Row]) -> None:
    """A row a system, in this order."""
    heads = ("extra reads", "recalls", "edits that failed", "calls to the end", "tokens sent (M)", "cost", "calls over")
    print_row("system", "sessions", "edits", *heads)
    print_row("---", *["--:"] * (2 + len(heads)))
    for row in rows:
        counts = (row.sessions, row.edits, row.reads, row.recalls, row.failed, row.calls)
        print_row(
            row.system, *(f"{count:,}" for count in counts), shown(row.tokens / 1e6, 2), shown(row.cost, 3), row.over
        )


if __name__ == "__main__":
    main()
