"""
The texts that replace long results, arguments and pastes.

A stub keeps live content: whole lines that are the last carrier of a name, errors and outcomes, in order, with gaps
marked and the reference at the end.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import attrs

from gc_core.providers.contract import TokenCounter
from gc_core.providers.token_counting import part_tokens
from gc_core.relevance.name_scan import LONG_LINE, scan
from gc_core.relevance.named_blocks import named_blocks
from gc_core.relevance.outcome_lines import Row, outcome_lines, rows_of
from gc_core.relevance.profiles import WeighedText, Weighing
from gc_core.relevance.text_cache import PerText
from gc_core.relevance.working_set import kept_stretches, without_replaced
from gc_core.values.escaping import escaped
from gc_core.values.framing import BLOCK_KINDS, framed, is_framed_result, unframed
from gc_core.values.items import Form, Item, ItemKind, Part, number_of
from gc_core.values.json_values import Path, read_object, rebuilt
from gc_core.values.names import Scan
from gc_core.values.patterns import regex
from gc_core.values.policy import GCPolicy
from gc_core.values.references import MOST_NAMES, PLAIN, ByteRange, Reference, Stretch
from gc_core.values.removals import GAP
from gc_core.values.sources import TASK_STATE
from gc_core.window.stretches import stretches_of

STUBBED_KINDS = frozenset(
    {ItemKind.TOOL_RESULT, ItemKind.TOOL_CALL, ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT, ItemKind.ATTACHMENT}
)
"""The kinds that a strategy can stub."""

_SAID = frozenset({ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT})
_HINT_CHARS = 60
_SHORT_CHARS = 300
"""Characters up to which a text among arguments stays: a command is run again, verbatim."""
_ASKED_CHARS, _PREVIEW_CHARS = 40, 40
_PLAIN = str.maketrans({'"': "'", "[": "(", "]": ")"})
_JSON_BEGINS = regex(r'\s*+[\[{]\s*+["\[{]')
_TRIES = 5
_EDGE_SCORE, _NAMELESS_SCORE = 4.0, 1.0
_FAILS_SCORE, _ENDS_SCORE = 6.0, 2.0
_OUTCOME_SHARE = 0.5
"""The share of a stub for lines on outcomes, before any other line: failures first."""
_BLOCKS = 0.6
"""The share of a stub for blocks around recently used names."""
_STRETCHES = 4
"""Ranges kept whole take at most this part of the room: otherwise they would displace all other lines."""


@attrs.frozen(kw_only=True)
class StubText:
    """
    A text that can replace an item.

    Attributes:
        text: The text that the model reads instead.
        tokens: Tokens of the item with this text.
        reference: What it refers to.

    """

    text: str = attrs.field(repr=False)
    tokens: int
    reference: Reference


@attrs.frozen
class _Kept:
    """A range of text that may be kept, its weight, and whether it is important to a profile."""

    start: int
    end: int
    score: float
    important: bool = False
    is_outcome: bool = False


def is_stubbable(item: Item) -> bool:
    """Return whether a stub may replace the item."""
    return (
        item.policy is GCPolicy.EPHEMERAL
        and item.form is Form.WHOLE
        and not (item.pinned or item.fixed)
        and item.kind in STUBBED_KINDS
    )


def is_condensed(item: Item) -> bool:
    """Return whether the item is a stub that a shorter one could replace."""
    return (
        item.policy is GCPolicy.EPHEMERAL
        and item.form is Form.STUB
        and not (item.pinned or item.fixed)
        and item.kind in STUBBED_KINDS
    )


def is_shortened_block(item: Item) -> bool:
    """
    Return whether the item is a block of which the last resort may leave a part: none that gc-core
    knows by its check.
    """
    free = item.policy is not GCPolicy.LOCKED and not item.pinned
    return item.kind in BLOCK_KINDS and item.source != TASK_STATE.name and free


def smallest_stub(item: Item, counter: TokenCounter, reference: Reference | None = None) -> int:
    """Return the tokens of the smallest stub of the item: only its reference."""
    return _tokens(_smallest(item, _of_all(item, reference)), item, counter)


def write_stub(
    item: Item,
    limit: int,
    counter: TokenCounter,
    shown: AbstractSet[str],
    *,
    ends: bool = False,
    reference: Reference | None = None,
    gap: str = GAP,
    weighing: Weighing | None = None,
    most_ordinary: int | None = None,
    named: AbstractSet[str] = frozenset(),
) -> StubText:
    """
    Return a stub of at most ``limit`` tokens, or the smallest possible one.

    ``shown`` are the names that the window shows elsewhere: lines that carry no other are garbage. With ``ends``, for
    content that no one has read yet, head and tail stay too, in what at most three quarters of the room leave over.
    ``gap`` marks each omission. Of an item that is a stub already, some of its lines stay.
    Arguments of a call stay a JSON object. ``weighing`` is a profile at work, which says what stays first;
    of lines that are not important to it at most ``most_ordinary`` characters stay. ``named`` are names whose blocks
    stay first.
    """
    reference = _of_all(item, reference)
    item = _bare(item)
    cutter = _Cutter(shown, gap, ends, item.kind in _SAID, weighing, item, most_ordinary, named)
    chars = int(limit * len(item.text) / max(1, item.tokens))
    for _ in range(_TRIES):
        if chars <= 0:
            break
        text = _shortened(item, reference, chars, cutter)
        tokens = _tokens(text, item, counter)
        if tokens <= limit:
            return _exact(StubText(text=text, tokens=tokens, reference=reference), item, counter)
        chars = int(chars * min(0.9, limit / tokens)) - _HINT_CHARS // 2
    text = _smallest(item, reference)
    return StubText(text=text, tokens=_tokens(text, item, counter), reference=reference)


def trim_stub(
    item: Item, repeated: AbstractSet[str], counter: TokenCounter, *, reference: Reference, gap: str = GAP
) -> StubText:
    """Return a stub without what the window shows again: these lines, or the texts that an edit replaced."""
    line = reference.stub_text()
    arguments = _arguments(item)
    if arguments is not None:
        text = _json({**without_replaced(arguments, gap), "left_out": line})
    else:
        kept = [_Kept(start, end, 0.0) for start, end in kept_stretches(item.text, repeated)]
        text = f"{_joined(item.text, kept, gap)}\n{line}"
    return _exact(StubText(text=text, tokens=_tokens(text, item, counter), reference=reference), item, counter)


def reference_to(
    item: Item, call: Item | None = None, *, cites: bool = False, recalls: bool = True, form: str = PLAIN
) -> Reference:
    """
    Return the reference to a single item: what it was, of a result also what the call asked for, and how it ended.

    With ``cites`` it says which bytes of the log hold it; without ``recalls`` it names no id; ``form`` is how the model
    recalls it.
    """
    return Reference(
        tokens=item.original_tokens,
        first=item.id,
        last=item.id,
        first_turn=item.turn,
        last_turn=item.turn,
        hint=_hint(item, call),
        place=item.logged if cites else None,
        recalls=recalls,
        form=form,
    )


def reference_over(
    items: Sequence[Item],
    *,
    cites: bool = False,
    recalls: bool = True,
    form: str = PLAIN,
    elsewhere: Sequence[Stretch] = (),
) -> Reference:
    """
    Return one reference for adjacent items, without quotes; what a trace among them covers counts as it did. It does
    not name what is named ``elsewhere``.
    """
    tokens, calls, preview = 0, Counter[str](), ""
    names = dict[str, None]()
    places: list[ByteRange] = []
    firsts, lasts, turns = list[str](), list[str](), list[int]()
    for item in items:
        known = item.reference
        firsts.append(item.id if known is None else known.first)
        lasts.append(item.id if known is None else known.last)
        turns += [item.turn] if known is None else [known.first_turn, known.last_turn]
        tokens += item.original_tokens if known is None else known.tokens
        if item.kind is ItemKind.TOOL_CALL:
            calls[item.name] += 1
        elif item.kind in _SAID:
            preview = item.text or preview
        if item.kind is ItemKind.TRACE and known is not None:
            calls.update(dict(known.calls))
            preview = known.preview or preview
            names.update(dict.fromkeys(known.names))
        place = item.logged if known is None else known.place
        if cites and place is not None:
            places.append(place)
    # A summary may cover a range around units that stayed, so neither end need be that of the first or last.
    whole = Reference(
        tokens=tokens,
        first=min(firsts, key=number_of),
        last=max(lasts, key=number_of),
        first_turn=min(turns),
        last_turn=max(turns),
        calls=tuple(calls.most_common()),
        preview=_preview(preview),
        names=tuple(names)[-MOST_NAMES:],
        place=ByteRange(min(each.start for each in places), max(each.end for each in places)) if places else None,
        recalls=recalls,
        form=form,
    )
    named = stretches_of(items, elsewhere)
    return whole if named == whole.stretches else attrs.evolve(whole, parts=named)


def _hint(item: Item, call: Item | None) -> str:
    what = item.name or item.kind.value.replace("_", " ")
    if item.kind is ItemKind.TOOL_CALL:
        return f"arguments of {what}"
    asked = "" if call is None else _asked(call)
    hint = f"{what} {asked}".rstrip()[:_HINT_CHARS]
    return f"{hint}, failed" if item.is_error else hint


def _asked(call: Item) -> str:
    """Return the first short text among a call's arguments, which describes it best."""
    arguments = _arguments(call) or {}
    short = (value for value in arguments.values() if isinstance(value, str) and 0 < len(value) <= _HINT_CHARS)
    return " ".join(next(short, "").split())[:_ASKED_CHARS]


def _preview(text: str) -> str:
    """Return the beginning of a text, without characters that would end the note around it."""
    words = " ".join(text[: 4 * _PREVIEW_CHARS].split())
    return words[:_PREVIEW_CHARS].translate(_PLAIN).strip()


def _beginning(text: str) -> str:
    """Return the beginning of a text in quotes; JSON stays as it was, because otherwise it would look like Python."""
    if not _JSON_BEGINS.match(text):
        return f'"{preview}"' if (preview := _preview(text)) else ""
    words = " ".join(escaped(text[: 4 * _PREVIEW_CHARS]).replace("`", "'").split())
    return f"`{words[:_PREVIEW_CHARS].strip()}`"


def _tokens(text: str, item: Item, counter: TokenCounter) -> int:
    """
    Return the tokens of the item with this text; a stub of an attachment is a text block, a result without its call is
    framed text.
    """
    is_text = item.kind is ItemKind.ATTACHMENT or is_framed_result(item)
    kind = ItemKind.USER_TEXT if is_text else item.kind
    name = item.name if item.kind is ItemKind.TOOL_CALL else ""
    return part_tokens(Part(kind=kind, place=(), text=text, name=name), counter)


def _smallest(item: Item, reference: Reference) -> str:
    line = reference.stub_text()
    return framed(item, line) if _arguments(item) is None else _json({"left_out": line})


def _of_all(item: Item, reference: Reference | None) -> Reference:
    """Return the reference of a stub that keeps nothing."""
    return reference_to(item) if reference is None else attrs.evolve(reference, kept=0)


def _exact(stub: StubText, item: Item, counter: TokenCounter) -> StubText:
    """Return the stub with a reference that does not count what the stub keeps as left out."""
    kept = stub.tokens - smallest_stub(item, counter, stub.reference)
    reference = attrs.evolve(stub.reference, kept=max(0, min(kept, stub.reference.tokens)))
    before, line, behind = stub.text.rpartition(_line(item, stub.reference))
    if not line:  # the reference shows the beginning, and nothing else is kept
        return stub
    text = f"{before}{_line(item, reference)}{behind}"
    return StubText(text=text, tokens=_tokens(text, item, counter), reference=reference)


def _line(item: Item, reference: Reference) -> str:
    """Return the reference as it reads in a stub of the item: in arguments it is inside a value."""
    line = reference.stub_text()
    return line if _arguments(item) is None else _json(line)[1:-1]


def _bare(item: Item) -> Item:
    """Return a stub without its last line, so that a shorter one can be cut from it; anything else as it is."""
    if item.form is Form.WHOLE or item.reference is None:
        return item
    line = _line(item, item.reference)
    if _arguments(item) is not None:
        text = item.text.replace(line, "")
    else:
        inner = unframed(item)
        kept, _, last = inner.rpartition("\n")
        # If nothing else was kept, the line has the beginning of the text, which is not in the reference.
        bare = kept if last.startswith(line.partition(item.reference.first)[0]) else inner.replace(line, "")
        text = framed(item, bare)
    return attrs.evolve(item, text=text, scan=scan(text))


def _shortened(item: Item, reference: Reference, chars: int, cutter: _Cutter) -> str:
    line = reference.stub_text()
    arguments = _arguments(item)
    if arguments is not None:
        return _shortened_arguments(item, arguments, reference, chars - len(line), attrs.evolve(cutter, edges=False))
    text, least = unframed(item), framed(item, line)
    scanned = item.scan if len(text) == len(item.text) else scan(text)
    kept = cutter.cut(text, scanned, chars - len(least) - 1)
    if kept:
        return framed(item, f"{kept}\n{line}")
    previewed = framed(item, reference.stub_text(_beginning(text)))
    return previewed if len(previewed) <= chars else least


def _json(value: Any) -> str:
    """Return compact JSON, as formats read arguments back, so that the same text is counted."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# -- lines -------------------------------------------------------------------------------------------------------


@attrs.frozen
class _Cutter:
    """
    Chooses what to keep of a text.

    Attributes:
        shown: Names that the window shows elsewhere.
        gap: Marks what was left out.
        ends: Keep head and tail as far as there is room.
        edges: The first and the last line have a higher weight.
        weighing: The weights of a profile; None for one that changes nothing.
        item: The item of the texts, if a profile weighs them.
        most_ordinary: The most characters of lines without importance to the profile; None: as many as there is room
            for.
        known: The ranges found in texts that were cut before.
        rows: The rows of texts that are JSON in one line.

    """

    shown: AbstractSet[str]
    gap: str = GAP
    ends: bool = False
    edges: bool = False
    weighing: Weighing | None = None
    item: Item | None = None
    most_ordinary: int | None = None
    named: AbstractSet[str] = frozenset()
    known: dict[tuple[str, bool], tuple[list[_Kept], WeighedText | None]] = attrs.field(factory=dict, repr=False)
    rows: PerText[tuple[Row, ...]] = attrs.field(factory=lambda: PerText(rows_of), repr=False)

    def cut(self, text: str, scanned: Scan, chars: int) -> str:
        """Return what is kept, in at most this many characters: the highest weight for its length first."""
        wanted, weighed = self._wanted(text, scanned)
        room = chars - len(self.gap)
        most = room * 3 // 4 if self.ends else room
        blocks = named_blocks(text, scanned, self.named, int(_BLOCKS * most)) if self.named else []
        taken = sum(end - start + len(self.gap) for start, end in blocks)
        most -= taken
        outcomes, known = self._outcomes(wanted, int(_OUTCOME_SHARE * most))
        if weighed is None:
            rest = [kept for kept in wanted if not _overlaps(kept, outcomes)]
            chosen, spent = self._lines(rest, most - known)
        else:
            chosen, spent = self._whole(wanted, most - known, weighed, outcomes)
        chosen, spent = [*chosen, *outcomes], spent + known
        chosen += [_Kept(start, end, 0.0) for start, end in blocks]
        spent += taken
        if self.ends:
            chosen += _ends(text, self.rows[text], room - spent - 2 * len(self.gap))
        return _joined(text, sorted(chosen, key=lambda kept: (kept.start, kept.end)), self.gap)

    def _wanted(self, text: str, scanned: Scan) -> tuple[list[_Kept], WeighedText | None]:
        """
        Return what is worth keeping, the highest weight for its length first; computed once, however often the text is
        cut.
        """
        key = text, self.edges
        if key not in self.known:
            wanted = [*_carriers(scanned, self.shown), *_outcome_ranges(text), *self._edges(text)]
            weighed = None
            if self.weighing is not None and self.item is not None:
                weighed = self.weighing.of(text, scanned, self.item.kind, self.item.name)
                wanted = _weighed(wanted, weighed)
            wanted.sort(key=lambda kept: kept.score / (kept.end - kept.start + len(self.gap)), reverse=True)
            self.known[key] = wanted, weighed
        return self.known[key]

    def _edges(self, text: str) -> list[_Kept]:
        return _edges(text, self.rows[text]) if self.edges else []

    def _outcomes(self, wanted: Iterable[_Kept], most: int) -> tuple[list[_Kept], int]:
        """Return lines on failures, then on outcomes, the last first because it says how the run ended."""
        outcomes = [kept for kept in wanted if kept.is_outcome]
        return self._lines(sorted(outcomes, key=lambda kept: (-kept.score, -kept.start)), most)

    def _lines(self, wanted: Iterable[_Kept], most: int) -> tuple[list[_Kept], int]:
        """Return what fits, in order of its weight, and the characters that it takes."""
        chosen, spent = [], 0
        for kept in wanted:
            cost = self._cost(kept)
            if spent + cost <= most:
                chosen.append(kept)
                spent += cost
        return chosen, spent

    def _whole(
        self, wanted: Iterable[_Kept], most: int, weighed: WeighedText, outcomes: Sequence[_Kept]
    ) -> tuple[list[_Kept], int]:
        """
        Return the same as a profile wants it: of a line in a verbatim stretch that stretch, if there is room for it,
        and of lines that are not important no more than ``most_ordinary`` characters. A line of ``outcomes`` brings its
        stretch too.
        """
        chosen: list[_Kept] = []
        spent, ordinary, whole = 0, self.most_ordinary or most, most // _STRETCHES
        known: dict[tuple[int, int], bool] = {}
        for line in (kept for kept in wanted if not kept.is_outcome):
            overlaps = _overlaps(line, outcomes)
            cost = 0 if overlaps else self._cost(line)
            if spent + cost > most or (cost > ordinary and not line.important):
                continue
            if any(fits and start <= line.start and line.end <= end for (start, end), fits in known.items()):
                continue  # it is already there
            kept = line
            room = min(most - spent, whole if line.important else min(whole, ordinary))
            stretch = weighed.span_at((line.start, line.end)) if room > cost else None
            if stretch is not None and stretch not in known:
                around = _Kept(*stretch, line.score, line.important)
                known[stretch] = self._cost(around) <= room
                if known[stretch]:
                    kept = around
                    whole -= self._cost(around)
            if kept is line and overlaps:
                continue
            chosen.append(kept)
            spent += self._cost(kept)
            ordinary -= 0 if kept.important else self._cost(kept)
        return chosen, spent

    def _cost(self, kept: _Kept) -> int:
        return kept.end - kept.start + len(self.gap) + 2


def _overlaps(kept: _Kept, others: Iterable[_Kept]) -> bool:
    return any(kept.start < one.end and one.start < kept.end for one in others)


def _weighed(wanted: Iterable[_Kept], weighed: WeighedText) -> list[_Kept]:
    """
    Return the same, weighted by the profile, and the important lines that carry no name. Outcome lines keep their order
    among themselves: a failure that names many files is no more of an outcome than another.
    """
    wanted = list(wanted)
    found: dict[tuple[int, int], float] = {}
    for kept in wanted:
        line = kept.start, kept.end
        found[line] = max(kept.score, found.get(line, 0.0))
    for line in weighed.nameless:
        found.setdefault(line, _NAMELESS_SCORE)
    lines = list(found)
    weights = dict(zip(lines, weighed.weights(lines), strict=True))
    outcomes = [attrs.evolve(kept, important=weights[kept.start, kept.end] > 1) for kept in wanted if kept.is_outcome]
    return [*outcomes, *(_Kept(*line, found[line] * weight, weight > 1) for line, weight in weights.items())]


def _ends(text: str, rows: Sequence[Row], chars: int) -> list[_Kept]:
    """Return head and tail, half of the characters each: in whole rows, and in whole lines if a line break is near."""
    half = chars // 2
    if half <= 0:
        return []
    head, tail = min(half, len(text)), max(0, len(text) - half)
    if rows:
        return _whole_rows(text, rows, head, tail)
    broken = text.rfind("\n", half // 2, head), text.find("\n", tail, tail + half // 2)
    return [
        _Kept(0, broken[0] if broken[0] >= 0 else head, 0.0),
        _Kept(broken[1] + 1 if broken[1] >= 0 else tail, len(text), 0.0),
    ]


def _whole_rows(text: str, rows: Sequence[Row], head: int, tail: int, score: float = 0.0) -> list[_Kept]:
    """Return the text up to ``head`` and from ``tail``; if that is among the rows, up to and from a whole one."""
    if rows and rows[0][0] < head < rows[-1][1]:
        head = max((end for _, end in rows if end <= head), default=head)
    if rows and rows[0][0] < tail < rows[-1][1]:
        tail = min((start for start, _ in rows if start >= tail), default=tail)
    return [_Kept(0, head, score), _Kept(tail, len(text), score)]


def _carriers(scanned: Scan, shown: AbstractSet[str]) -> Iterator[_Kept]:
    """Yield lines that are the last carrier of a name: the last of several in the same text."""
    seen: set[str] = set()
    for span in reversed(scanned.spans):
        fresh = sum(1 for name in span.names if name not in shown and name not in seen)
        seen.update(span.names)
        if fresh:
            yield _Kept(span.start, span.end, fresh)


def _outcome_ranges(text: str) -> list[_Kept]:
    """Return lines on failures and outcomes."""
    return [
        _Kept(each.start, each.end, _FAILS_SCORE if each.fails else _ENDS_SCORE, is_outcome=True)
        for each in outcome_lines(text)
    ]


def _edges(text: str, rows: Sequence[Row]) -> list[_Kept]:
    """Return first and last line of a user's text: the request is often before or after what was pasted."""
    first = text.find("\n")
    head = min(LONG_LINE, len(text) if first < 0 else first)
    tail = max(text.rfind("\n") + 1, len(text) - LONG_LINE)
    return _whole_rows(text, rows, head, tail, _EDGE_SCORE)


def _joined(text: str, chosen: Iterable[_Kept], gap: str) -> str:
    """Return the ranges in order; overlapping ones are joined, a gap marks what is missing between."""
    out: list[str] = []
    reached = 0
    for kept in chosen:
        start = max(kept.start, reached)
        if start >= kept.end:
            continue
        missing = text[reached:start]
        if missing.strip():
            broken = "\n" in missing
            out.append(f"\n{gap}\n" if broken and out else f"{gap}\n" if broken else gap)
        elif out:
            out.append(missing[:1])
        out.append(text[start : kept.end])
        reached = kept.end
    if out and text[reached:].strip():
        out.append(f"\n{gap}" if "\n" in text[reached:] else gap)
    return "".join(out)


# -- arguments ---------------------------------------------------------------------------------------------------


def _arguments(item: Item) -> Mapping[str, Any] | None:
    """Return the arguments of a call; None for anything else, and for free text."""
    if item.kind is not ItemKind.TOOL_CALL:
        return None
    return read_object(item.text)


def _shortened_arguments(
    item: Item, arguments: Mapping[str, Any], reference: Reference, chars: int, cutter: _Cutter
) -> str:
    """
    Return the arguments with their long string values cut to what is alive; other values that are large become a gap.

    Short values stay whole, so that the call still says what it did; the reference ends the last value that was cut.
    """
    share = chars / max(1, len(item.text))
    short = {key: _shortened_value(value, share, cutter) for key, value in arguments.items()}
    cut = [key for key in short if short[key] is not arguments[key]]
    if not cut:
        return _smallest(item, reference)
    line = reference.stub_text()
    last = short[cut[-1]]
    if isinstance(last, str):
        short[cut[-1]] = f"{last}\n{line}"
    else:
        short["left_out"] = line
    return _json(short)


def _shortened_value(value: Any, share: float, cutter: _Cutter) -> Any:
    """Return the same object if it is short enough to stay."""

    def cut(_: Path, text: Any) -> Any:
        if not isinstance(text, str) or len(text) <= _SHORT_CHARS:
            return text
        return cutter.cut(text, scan(text), int(share * len(text))) or cutter.gap

    def small_enough(was: Any, inner: Any) -> Any:
        return inner if len(_json(inner)) <= max(share * len(_json(was)), 2 * _HINT_CHARS) else cutter.gap

    return rebuilt(value, cut, enters=_is_long, leaves_as=small_enough)


def _is_long(_: Path, value: Any) -> bool:
    return len(_json(value)) > 2 * _HINT_CHARS
