"""
Edits, one by one: the lines that the window no longer showed, their removals, and the content there now.

``python -m benchmarks.edits --json FILE`` goes through the sized sessions at two windows with ``gc_rolling`` and writes
what it found of every edit that quotes lines of its history. ``--before FILE`` compares with such a file of an earlier
run, of other code for instance, ``--against NAME`` with another strategy; both print in Markdown how many edits miss
lines, and ten that missed some before and miss none now.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import attrs
import cattrs
from ctxgc.evaluation.quotes import QuotedLine, Quotes, quotable_lines, quotes_of
from ctxgc.evaluation.reuse import message_texts
from ctxgc.evaluation.transcripts import Transcript, read_transcript

from benchmarks.counting import corpus
from benchmarks.edit_trail import Line, Trail
from benchmarks.editing_loop import path_of
from benchmarks.sized import WORKERS, Task, quiet, row, session_files, sized
from gc_core import GCConfig, GCSession, Plugins
from gc_core.errors import ContextOverflowError
from gc_core.providers import format_named
from gc_core.values.items import ItemKind
from gc_core.values.messages import Payload, Request, Role

WINDOWS = (32_000, 64_000)
STRATEGY = "gc_rolling"
SHOWN = 10
HEADS = (
    *("session", "window", "call", "file edited"),
    *("a line that was missing", "what had removed it", "what stands there now"),
)
MOST_CHARS = 80
"""Characters of a line of somebody's code that are quoted."""


@attrs.frozen(kw_only=True)
class Edit:
    """
    One call that edits, and what the window showed of the lines that it replaces.

    Attributes:
        session: Name of its file, without the ending.
        window: Tokens that a request may have.
        call: Number of the model call, from 1 on.
        place: Which edit of the call it is, from 0 on.
        file: What is edited, its last two names; "" where the call names none.
        lines: The lines that it replaces and that occur in the history.

    """

    session: str
    window: int
    call: int
    place: int
    file: str
    lines: tuple[Line, ...]

    @property
    def key(self) -> tuple[str, int, int, int]:
        """Its identity."""
        return self.session, self.window, self.call, self.place

    @property
    def missing(self) -> tuple[Line, ...]:
        """Those that occur nowhere in the request."""
        return tuple(line for line in self.lines if not line.holder)


@attrs.frozen(kw_only=True)
class Found:
    """What a strategy showed of all edits."""

    strategy: str
    edits: tuple[Edit, ...]


@attrs.frozen(kw_only=True)
class Pair:
    """The same edit before and now."""

    before: Edit
    now: Edit

    @property
    def is_gained(self) -> bool:
        """It missed a line, and misses none."""
        return bool(self.before.missing) and not self.now.missing

    @property
    def is_lost(self) -> bool:
        """It missed nothing, and misses a line."""
        return bool(self.now.missing) and not self.before.missing


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, write, compare."""
    options = _options(arguments)
    if not corpus().is_dir():
        print(f"no recorded sessions in {corpus()}: no edits to support; set GC_CORPUS")
        return
    now = _read(options.now) if options.now else measured(options.strategy)
    if options.json:
        options.json.write_text(json.dumps(cattrs.unstructure(now), indent=1), "utf-8")
    if not options.before and not options.against:
        return
    before = _read(options.before) if options.before else measured(options.against)
    print("\n".join(markdown(before, now)))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.edits", description=__doc__)
    parser.add_argument("--strategy", default=STRATEGY, help="what is measured; default: gc_rolling")
    parser.add_argument("--json", type=Path, help="write what was found of every edit here")
    parser.add_argument("--now", type=Path, help="take that from this JSON file instead of measuring")
    parser.add_argument("--before", type=Path, help="compare with this JSON file")
    parser.add_argument("--against", help="compare with this strategy")
    return parser.parse_args(arguments)


def _read(path: Path) -> Found:
    return cattrs.structure(json.loads(path.read_text("utf-8")), Found)


# -- replaying -------------------------------------------------------------------------------------------------------


def measured(strategy: str) -> Found:
    """Every edit of every sized session."""
    with ProcessPoolExecutor(WORKERS, initializer=quiet) as pool:
        tasks = [task for path in session_files() for task in sized(path, WINDOWS)]
        found = pool.map(functools.partial(_edits_of, strategy), tasks)
        return Found(strategy=strategy, edits=tuple(sorted(itertools.chain.from_iterable(found), key=_key)))


def _key(edit: Edit) -> tuple[str, int, int, int]:
    return edit.key


def _edits_of(strategy: str, task: Task) -> tuple[Edit, ...]:
    """One session, message by message."""
    transcript = read_transcript(task.path)
    plugins, quotes = Plugins.discover(), quotes_of(transcript)
    trail = Trail(wanted=quotes.lines)
    plugins.register(trail)
    config = GCConfig(context_limit=task.window, output_reservation=0, reread_guard="off")
    with GCSession(config, format=transcript.format, strategy=strategy, plugins=plugins) as session:
        if transcript.system:
            session.system(base="\n\n".join(transcript.system))
        if transcript.tools:
            session.tools(transcript.tools)
        walk = _Walk(task=task, transcript=transcript, quotes=quotes, session=session, trail=trail)
        return tuple(walk.edits())


@attrs.frozen(kw_only=True)
class _Walk:
    """A way through a recorded session."""

    task: Task
    transcript: Transcript
    quotes: Quotes
    session: GCSession
    trail: Trail

    def edits(self) -> Iterator[Edit]:
        """Every edit, at the moment of its call."""
        form, call = format_named(self.transcript.format), 0
        for place, message in enumerate(self.transcript.messages):
            if form.role(message) is Role.ASSISTANT:
                call += 1
                request = _request(self.session)
                self.trail.look(self.session, call=call)
                yield from self._edits_at(place, call, request)
                self.session.post_turn(message)
            else:
                self.session.append(message)
            self.trail.look(self.session, call=call)

    def _edits_at(self, place: int, call: int, request: Request | None) -> Iterator[Edit]:
        edits = self.quotes.edits.get(place, ())
        shown = _lines_shown(request, self.transcript.format) if edits and request else frozenset[str]()
        files = _files(self.transcript.messages[place], edits, self.transcript.format)
        for number, (lines, file) in enumerate(zip(edits, files, strict=True)):
            yield Edit(
                session=self.task.path.stem,
                window=self.task.window,
                call=call,
                place=number,
                file=file,
                lines=tuple(self.trail.line(line, self.session, is_shown=line.text in shown) for line in lines),
            )


def _request(session: GCSession) -> Request | None:
    try:
        return session.pre_send()
    except ContextOverflowError:
        return None


def _lines_shown(request: Request, format: str) -> frozenset[str]:  # noqa: A002 - the word users know it by
    form = format_named(format)
    heads = (str(block.get("text", "")) for block in request.system)
    texts = (text for payload in request.messages for text in message_texts(payload, form))
    return frozenset().union(*map(quotable_lines, (*heads, *texts)))


def _files(message: Payload, edits: Iterable[Sequence[QuotedLine]], format: str) -> Iterator[str]:  # noqa: A002
    """The file of each edit: that of the first call left which has all its lines."""
    left = [part for part in format_named(format).read(message) if part.kind is ItemKind.TOOL_CALL]
    for lines in edits:
        wanted = {line.text for line in lines}
        at = next(at for at, part in enumerate(left) if wanted <= quotable_lines(part.text))
        yield "/".join(Path(path_of(left[at])).parts[-2:])
        del left[: at + 1]


# -- what is shown ---------------------------------------------------------------------------------------------------


def markdown(before: Found, now: Found) -> Iterator[str]:
    """How many edits miss a line, and ten that do no more."""
    pairs = pairs_of(before, now)
    name = "before" if before.strategy == now.strategy else f"`{before.strategy}`"
    yield row("window", "edits", f"miss a line, {name}", "miss a line, now", "support gained", "support lost")
    yield row(*["--:"] * 6)
    for window in WINDOWS:
        yield _counts(window, [pair for pair in pairs if pair.now.window == window])
    yield ""
    yield row(*HEADS)
    yield row("---", "--:", "--:", *["---"] * 4)
    yield from map(_gained_row, chosen(pairs))


def pairs_of(before: Found, now: Found) -> list[Pair]:
    """The edits of both, in their order."""
    known: Mapping[tuple[str, int, int, int], Edit] = {edit.key: edit for edit in before.edits}
    return [Pair(before=known[edit.key], now=edit) for edit in now.edits if edit.key in known]


def chosen(pairs: Iterable[Pair]) -> list[Pair]:
    """Ten edits that are supported now: of every session the first, then the next, each file once."""
    waiting: dict[str, dict[str, Pair]] = defaultdict(dict)
    for pair in pairs:
        if pair.is_gained:
            waiting[pair.now.session].setdefault(pair.now.file, pair)
    rounds = itertools.zip_longest(*(its.values() for its in waiting.values()))
    found = (pair for taken in rounds for pair in taken if pair is not None)
    return sorted(itertools.islice(found, SHOWN), key=lambda pair: pair.now.key)


def _counts(window: int, pairs: Sequence[Pair]) -> str:
    return row(
        f"{window:,}",
        len(pairs),
        sum(bool(pair.before.missing) for pair in pairs),
        sum(bool(pair.now.missing) for pair in pairs),
        sum(pair.is_gained for pair in pairs),
        sum(pair.is_lost for pair in pairs),
    )


def _gained_row(pair: Pair) -> str:
    line = max(pair.before.missing, key=lambda line: (len(line.text) <= MOST_CHARS, len(line.text)))
    holder = next(each.holder for each in pair.now.lines if each.text == line.text)
    source, _, rest = pair.now.session.rpartition("--")
    name = f"{source}--{rest[:12]}" if source else rest
    return row(name, f"{pair.now.window:,}", pair.now.call, f"`{pair.now.file}`", _code(line.text), line.loss, holder)


def _code(text: str) -> str:
    """A line as code in a table; what ends a cell or the code stands behind a backslash or between two marks."""
    short = text[:MOST_CHARS].replace("|", "\\|")
    return f"`` {short} ``" if "`" in short else f"`{short}`"


if __name__ == "__main__":
    main()
