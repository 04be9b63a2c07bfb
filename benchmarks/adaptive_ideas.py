"""
The ideas of ``benchmarks.adaptive``: settings that follow the misses, recall ahead of the step, priors of other
sessions.

The first two reach into the session's gears: a strategy is pure, and its triggers are read once.
"""

from __future__ import annotations

import collections
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import attrs
from ctxgc.evaluation.identifiers import identifiers
from ctxgc.evaluation.reuse import Uses
from ctxgc.evaluation.transcripts import Transcript
from gc_progressive import Progressive
from gc_rolling import Rolling

from benchmarks.adaptive_session import TriedSession
from gc_core import ContextView, GCRemovalItem, Goal, Item, ItemKind
from gc_core.providers import format_named
from gc_core.session.recall_suggestions import RECALLED, auto_expand
from gc_core.values.items import Form, Part
from gc_core.values.protocols import GCStrategy
from gc_core.values.removals import Stub

# -- 1. settings that follow the misses --------------------------------------------------------------------------------

SAID: Final = frozenset({ItemKind.ASSISTANT_TEXT, ItemKind.TOOL_CALL})
_ANSWERED: Final = frozenset({ItemKind.TOOL_RESULT, ItemKind.USER_TEXT})
_KEPT: Final = SAID | _ANSWERED

Ladder = tuple[GCStrategy, ...]
"""Settings from those that keep least to those that keep most; the default stands in the middle."""

_PACE: Final = (0.5, 0.7, 1.0, 1.5, 2.0)
_PROGRESSIVE: Final = Progressive()
_ROLLING: Final = Rolling()


def _paced(ages: tuple[int, int, int], pace: float) -> tuple[int, int, int]:
    first, second, third = (int(age * pace) for age in ages)
    return first, second, third


PROGRESSIVE_LADDER: Final[Ladder] = tuple(
    Progressive(
        ages=_paced(_PROGRESSIVE.ages, pace),  # type: ignore[arg-type]  # mypy reads the converter's own variable
        nursery_tokens=int(_PROGRESSIVE.nursery_tokens * pace),
        target_percent=target,
    )
    for pace, target in zip(_PACE, (35.0, 40.0, 45.0, 52.0, 60.0), strict=True)
)
ROLLING_LADDER: Final[Ladder] = tuple(
    Rolling(nursery_tokens=int(_ROLLING.nursery_tokens * pace), target_percent=target)
    for pace, target in zip(_PACE, (40.0, 45.0, 50.0, 55.0, 60.0), strict=True)
)


@attrs.define(eq=False)
class Adaptive:
    """
    Every ten steps one setting up the ladder when many of the last twenty missed something, one down when none did.

    A step misses a name when it says or calls it, the session had it before, and the request showed it nowhere: there a
    live agent would have had to recall. Nothing moves before the first twenty steps.

    Attributes:
        ladder: The settings.
        high: Share of the steps that miss something from which more is kept.
        every: Steps from one look to the next.
        of: Steps that are looked at.
        levels: The settings that were in force, one after the other.

    """

    ladder: Ladder
    high: float = 0.15
    every: int = 10
    of: int = 20
    levels: list[int] = attrs.field(init=False)
    _missed: collections.deque[bool] = attrs.field(factory=collections.deque, init=False)
    _seen: set[str] = attrs.field(factory=set, init=False)
    _shown: frozenset[str] = attrs.field(default=frozenset(), init=False)
    _newest: int = attrs.field(default=0, init=False)
    _steps: int = attrs.field(default=0, init=False)

    @levels.default
    def _middle(self) -> list[int]:
        return [len(self.ladder) // 2]

    def before(self, session: TriedSession) -> None:
        """Look at what the newest step missed, and change the settings when it is time."""
        new = [item for item in session.items() if number_of(item) > self._newest]
        said = _names(item for item in new if item.kind in SAID)
        if said:
            self._missed.append(bool((said & self._seen) - self._shown))
            self._steps += 1
            if len(self._missed) > self.of:
                self._missed.popleft()
            if self._steps % self.every == 0 and len(self._missed) == self.of:
                self._move(session)
        self._seen |= _names(new)

    def after(self, session: TriedSession) -> None:
        """Remember what the call was shown."""
        items = session.items()
        self._shown = _names(items)
        self._newest = max(map(number_of, items), default=0)

    def _move(self, session: TriedSession) -> None:
        rate = sum(self._missed) / self.of
        step = 1 if rate >= self.high else -1 if rate == 0 else 0
        level = min(max(self.levels[-1] + step, 0), len(self.ladder) - 1)
        if level != self.levels[-1]:
            self.levels.append(level)
            session.use(self.ladder[level])


def number_of(item: Item) -> int:
    """The number in the id of an item of the conversation; 0 of system texts and schemas, which stand before it."""
    return int(item.id[1:]) if item.id[1:].isdecimal() else 0


def _names(items: Iterable[Item]) -> frozenset[str]:
    return frozenset().union(*(item.scan.names for item in items))


# -- 2. recall ahead of the step ---------------------------------------------------------------------------------------

Wanted = Callable[[TriedSession, "Prefetch"], frozenset[str]]
"""Names for which something is to be brought back before the next call."""


@attrs.define(eq=False)
class Suggested:
    """Before every call what the product's own ``auto_expand`` suggests: what the newest step missed."""

    cap: int = 2_000

    def before(self, session: TriedSession) -> None:
        """Recall."""
        auto_expand(session, self.cap)

    def after(self, session: TriedSession) -> None:
        """Nothing."""


@attrs.define(eq=False)
class Prefetch:
    """
    Before every call the lines of collected items that what just came in is about, and that the window lost.

    Attributes:
        wanted: Which names lead to items.
        cap: Tokens of one call.
        rare: A name that more items than this carry leads nowhere.
        direct: Only lines with a wanted name come back, else all that carry a name which the window shows nowhere.
        calls: Calls before which something was brought back.

    """

    wanted: Wanted
    cap: int = 1_000
    rare: int = 3
    direct: bool = False
    calls: int = 0
    _carriers: dict[str, list[str]] = attrs.field(factory=dict, init=False)
    _names: dict[str, frozenset[str]] = attrs.field(factory=dict, init=False)
    newest: int = attrs.field(default=0, init=False)

    def before(self, session: TriedSession) -> None:
        """Look for what left and is named, the most often named first, and bring its lines back."""
        items = session.items()
        shown, whole = _names(items), {item.id for item in items if item.form is Form.WHOLE}
        named: collections.Counter[str] = collections.Counter()
        wanted = self.wanted(session, self)
        for name in wanted:
            carriers = [each for each in self._carriers.get(name, ()) if each not in whole]
            if self.direct and carriers:
                named[carriers[-1]] += 1
            elif len(carriers) <= self.rare:
                named.update(carriers)
        text = self._lines(session, named, wanted - shown if self.direct else None, shown)
        if text:
            session.enrich(**{RECALLED: text})
            self.calls += 1
        self._take(items)

    def after(self, session: TriedSession) -> None:
        """Everything up to here has been looked at."""
        self.newest = max(map(number_of, session.items()), default=0)

    def _lines(
        self, session: TriedSession, named: Mapping[str, int], only: frozenset[str] | None, shown: frozenset[str]
    ) -> str:
        counter, left, parts = session.port.counter, self.cap, list[str]()
        for key, _ in sorted(named.items(), key=lambda pair: (-pair[1], -int(pair[0][1:]))):
            lost = self._names[key] - shown if only is None else self._names[key] & only
            if not lost:
                continue
            parts.append(f"[recalled {key}]")
            for line in session.recall(key).split("\n"):
                tokens = counter.count(line) if not lost.isdisjoint(identifiers(line)) else left + 1
                if tokens <= left:
                    left -= tokens
                    parts.append(line)
        return "\n".join(parts) if any(not part.startswith("[recalled") for part in parts) else ""

    def _take(self, items: Iterable[Item]) -> None:
        """Items as they arrive, whole."""
        for item in items:
            if number_of(item) > self.newest and item.kind in _KEPT and not item.synthetic:
                self._names[item.id] = item.scan.names
                for name in item.scan.names:
                    self._carriers.setdefault(name, []).append(item.id)


def newest_input(session: TriedSession, prefetch: Prefetch) -> frozenset[str]:
    """Names in the newest user message or results, and in the calls that they answer."""
    return _names(item for item in session.items() if number_of(item) > prefetch.newest and item.kind in _KEPT)


def foreseen(uses: Uses) -> Wanted:
    """What the next message will use from afar: nobody can know it; the most that any prefetch could bring."""
    return lambda session, _: uses.far.get(session.place, frozenset())


# -- 3. priors from finished sessions ----------------------------------------------------------------------------------

_SUFFIX = re.compile(r'\.([A-Za-z0-9]{1,5})["\s]')
_LEAST, _MOST = 0.5, 1.5
_MOST_KEPT = 0.95
_LEAST_CHARS = 20_000
"""Characters of results below which a kind of result says nothing."""


def kind_of(name: str, arguments: str) -> str:
    """What kind of result it is: the tool, and the suffix of the first file that its arguments name."""
    found = _SUFFIX.search(arguments)
    return f"{name} .{found[1].lower()}" if found else name


@attrs.frozen(kw_only=True)
class Reuse:
    """Of one kind of result in finished sessions: names that were used from afar later, and characters."""

    kind: str
    names: int
    chars: int


def reuse_of(transcript: Transcript, uses: Uses) -> list[Reuse]:
    """How much of a session's results was used again from afar, result by result."""
    form, calls, found = format_named(transcript.format), dict[str, Part](), []
    last = {name: place for place in sorted(uses.far) for name in uses.far[place]}
    for place, message in enumerate(transcript.messages):
        for part in form.read(message):
            if part.kind is ItemKind.TOOL_CALL:
                calls[part.call_id] = part
            elif part.kind is ItemKind.TOOL_RESULT and part.call_id in calls:
                call = calls[part.call_id]
                used = sum(last.get(name, -1) > place for name in identifiers(part.text))
                found.append(Reuse(kind=kind_of(call.name, call.text), names=used, chars=len(part.text)))
    return found


def weights_of(found: Iterable[Reuse]) -> Mapping[str, float]:
    """The reuse of each kind in multiples of the mean, from 0.5 to 1.5, without kinds that were seen too rarely."""
    names, chars = collections.Counter[str](), collections.Counter[str]()
    for one in found:
        names[one.kind] += one.names
        chars[one.kind] += one.chars
    mean = names.total() / max(1, chars.total())
    return {
        kind: min(_MOST, max(_LEAST, names[kind] / chars[kind] / mean))
        for kind in chars
        if chars[kind] >= _LEAST_CHARS and mean
    }


@attrs.frozen(kw_only=True)
class WeighedRolling(Rolling):
    """Snips keep more of what was used again in other sessions."""

    weights: Mapping[str, float] = attrs.field(factory=dict)

    def collect(self, context: ContextView, goal: Goal) -> Iterator[GCRemovalItem]:
        """The same proposals with other shares."""
        return weighed(super().collect(context, goal), context, self.weights)


@attrs.frozen(kw_only=True)
class WeighedProgressive(Progressive):
    """Stubs keep more of what was used again in other sessions."""

    weights: Mapping[str, float] = attrs.field(factory=dict)

    def collect(self, context: ContextView, goal: Goal) -> Iterator[GCRemovalItem]:
        """The same proposals with other shares."""
        return weighed(super().collect(context, goal), context, self.weights)


def weighed(
    removals: Iterable[GCRemovalItem], context: ContextView, weights: Mapping[str, float]
) -> Iterator[GCRemovalItem]:
    """Removals whose stubs keep a share by the kind of result."""
    items = {item.id: item for unit in context.units for item in unit.items}

    @functools.cache
    def weight(key: str) -> float:
        item = items[key]
        arguments = items[item.call].text if item.call in items else ""
        kinds = (kind_of(item.name, arguments), item.name)
        return next((weights[kind] for kind in kinds if kind in weights), 1.0)

    for removal in removals:
        action = removal.action
        if isinstance(action, Stub) and items[action.item].kind is ItemKind.TOOL_RESULT:
            kept = min(max(action.keep, _MOST_KEPT), action.keep * weight(action.item))
            yield attrs.evolve(removal, action=attrs.evolve(action, keep=kept))
        else:
            yield removal
