"""
What ``benchmarks.adaptive`` tries: settings that follow the misses, recall ahead of the step, priors, other prices.

It reaches into the session's gears, where a plugin cannot: a strategy is pure, and its triggers are read once.
"""

from __future__ import annotations

import collections
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Protocol

import attrs
from gc_progressive import Progressive
from gc_rolling import Rolling

from gc_core import (
    ContextOverflowError,
    ContextView,
    GCConfig,
    GCRemovalItem,
    GCSession,
    Goal,
    Item,
    ItemKind,
    Request,
)
from gc_core.actions import Stub
from gc_core.cache.economics import Economics
from gc_core.formats import format_named
from gc_core.identifiers import identifiers
from gc_core.items import Form, Part
from gc_core.measures import CallMeasures, ReplayReport
from gc_core.messages import Role
from gc_core.meter import Meter
from gc_core.protocols import GCStrategy
from gc_core.scheduler import Scheduler
from gc_core.sight import Sight
from gc_core.suggestions import RECALLED, auto_expand
from gc_core.tokens import counter_for
from gc_core.transcripts import Transcript
from gc_core.uses import Uses

# -- a session that an experiment may reach into -----------------------------------------------------------------------


class Hand(Protocol):
    """What an experiment does to a session around each model call."""

    def before(self, session: TriedSession) -> None:
        """Everything that the call answers is appended."""

    def after(self, session: TriedSession) -> None:
        """The request is rendered."""


class Hands:
    """None at all: the session as it is."""

    def before(self, session: TriedSession) -> None:
        """Nothing."""

    def after(self, session: TriedSession) -> None:
        """Nothing."""


class TriedSession(GCSession):
    """A session that can be given other settings at any moment, and other prices to reckon with."""

    hand: Hand = Hands()
    economics: Economics | None = None
    place = 0

    @property
    def _scheduler(self) -> Scheduler:
        scheduler = super()._scheduler
        return scheduler if self.economics is None else attrs.evolve(scheduler, economics=self.economics)

    def pre_send(self) -> Request:
        """The request, with what the experiment does before and after it."""
        self.hand.before(self)
        request = super().pre_send()
        self.hand.after(self)
        return request

    def use(self, strategy: GCStrategy) -> None:
        """Collect by this strategy from now on, its triggers included."""
        self._strategies = ((self._strategies[0][0], strategy),)
        self.__dict__.pop("_declared", None)


def replayed(
    transcript: Transcript,
    uses: Uses,
    *,
    window: int,
    strategy: GCStrategy,
    hand: Hand | None = None,
    economics: Economics | None = None,
) -> ReplayReport:
    """A session replayed as ``gc_core.replay`` does, with a hand in it; collections and times are not told."""
    config = GCConfig(context_limit=window, output_reservation=0, reread_guard=False)
    session = TriedSession(config, format=transcript.format, strategy=strategy)
    session.hand, session.economics = hand or Hands(), economics
    with session:
        calls = tuple(_calls(session, transcript, uses, window))
    return ReplayReport(
        session=transcript.path.name,
        format=transcript.format,
        window=window,
        threshold_percent=config.threshold_percent,
        target_percent=config.ends_percent,
        calls=calls,
    )


def _calls(session: TriedSession, transcript: Transcript, uses: Uses, window: int) -> Iterator[CallMeasures]:
    meter, form = Meter(transcript), format_named(transcript.format)
    counter = counter_for(None, transcript.format)
    sight = Sight(uses, format=transcript.format, window=window, recall=None, counter=counter)
    if transcript.system:
        names = ["base", *(f"part_{number}" for number in range(2, len(transcript.system) + 1))]
        session.system(**dict(zip(names, transcript.system, strict=True)))  # type: ignore[arg-type]  # no keyword
    if transcript.tools:
        session.tools(transcript.tools)
    number = 0
    for place, message in enumerate(transcript.messages):
        session.place = place
        if form.role(message) is Role.ASSISTANT:
            without, request = meter.without(), _sent(session)
            sent = None if request is None else meter.measure(request)
            tokens = 0 if sent is None else sent.prompt.tokens
            fit = sight.fit(place, request, tokens=tokens, without=without.tokens)
            session.post_turn(message)
            number += 1
            yield CallMeasures(number=number, sent=sent, without=without, fit=fit)
        else:
            session.append(message)
        meter.hear(message)


def _sent(session: GCSession) -> Request | None:
    try:
        return session.pre_send()
    except ContextOverflowError:
        return None


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
        counter, left, parts = session._counter, self.cap, list[str]()
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

KindOf = Callable[[str, str], str]
"""What kind of result it is, by the tool's name and the arguments of the call."""


def by_tool(name: str, _: str) -> str:
    """The tool alone."""
    return name


def by_suffix(name: str, arguments: str) -> str:
    """The tool, and the suffix of the first file that its arguments name."""
    found = _SUFFIX.search(arguments)
    return f"{name} .{found[1].lower()}" if found else name


@attrs.frozen(kw_only=True)
class Reuse:
    """Of one kind of result in finished sessions: names that were used from afar later, and characters."""

    kind: str
    names: int
    chars: int


def reuse_of(transcript: Transcript, uses: Uses, kind_of: KindOf) -> list[Reuse]:
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
    kind_of: KindOf = by_tool

    def collect(self, context: ContextView, goal: Goal) -> Iterator[GCRemovalItem]:
        """The same proposals with other shares."""
        return weighed(super().collect(context, goal), context, self.weights, self.kind_of)


@attrs.frozen(kw_only=True)
class WeighedProgressive(Progressive):
    """Stubs keep more of what was used again in other sessions."""

    weights: Mapping[str, float] = attrs.field(factory=dict)
    kind_of: KindOf = by_tool

    def collect(self, context: ContextView, goal: Goal) -> Iterator[GCRemovalItem]:
        """The same proposals with other shares."""
        return weighed(super().collect(context, goal), context, self.weights, self.kind_of)


def weighed(
    removals: Iterable[GCRemovalItem], context: ContextView, weights: Mapping[str, float], kind_of: KindOf
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
