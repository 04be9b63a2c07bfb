"""
The picture of ``benchmarks.frontier``: two panels over the cost, drawn by hand as SVG.

Its background is transparent and its colours are of middle lightness, so that it reads on light pages and on dark ones:
a picture in a page does not know which of the two the page is.
"""

from __future__ import annotations

import enum
import html
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs

WIDTH, HEIGHT = 1_000, 560
PANEL_WIDTH, PANEL_HEIGHT = 410, 400
TOP, LEFTS = 90, (70, 560)

TEXT, GRID, GREY = "#7a7a7a", "#80808040", "#8c8c8c"
COLOURS = {70.0: "#d9772b", 80.0: "#3f8fd2", 90.0: "#2f9e62"}
UNLIMITED, STRATEGY = "#a765c9", "#cf5c73"
FONT = "font-family='Helvetica, Arial, sans-serif'"

_CHAR = 6.8
"""Width of a letter of a label, about."""

_NEAR = 14.0
"""From here on a label needs a line that leads to it."""

_ROOM = 0.6
"""Steps of an axis that stay free at its ends, at least."""


class Kind(enum.Enum):
    """What a dot stands for."""

    SETTING = "setting"
    STRATEGY = "strategy"
    BASELINE = "baseline"


@attrs.frozen(kw_only=True)
class Line:
    """Settings that differ in their target alone."""

    threshold: float
    limited: bool

    @property
    def colour(self) -> str:
        """As the legend has it."""
        return COLOURS[self.threshold] if self.limited else UNLIMITED

    def __str__(self) -> str:
        """As the legend calls it."""
        limit = "" if self.limited else ", no limit in large windows"
        return f"from {self.threshold:g} %{limit}"


@attrs.frozen(kw_only=True)
class Dot:
    """A setting in both panels."""

    name: str
    kind: Kind
    line: Line | None
    is_default: bool
    cost: float
    misses: float
    far_fit: float

    @property
    def colour(self) -> str:
        """That of its line, or of its kind."""
        if self.line is not None:
            return self.line.colour
        return STRATEGY if self.kind is Kind.STRATEGY else GREY

    @property
    def label(self) -> str:
        """What stands beside it."""
        return f"default: {self.name}" if self.is_default else self.name


@attrs.frozen(kw_only=True)
class Axis:
    """A measure, from where to where it is drawn, and the pixels that this takes."""

    low: float
    high: float
    step: float
    begin: float
    end: float

    @classmethod
    def of(cls, figures: Iterable[float], step: float, begin: float, end: float) -> Axis:
        """From whole steps to whole steps, with room for a label around the figures."""
        known = list(figures)
        low = math.floor(min(known) / step - _ROOM) * step
        return cls(low=low, high=math.ceil(max(known) / step + _ROOM) * step, step=step, begin=begin, end=end)

    def at(self, figure: float) -> float:
        """Where a figure stands."""
        return self.begin + (figure - self.low) / (self.high - self.low) * (self.end - self.begin)

    @property
    def ticks(self) -> list[float]:
        """The whole steps."""
        return [self.low + number * self.step for number in range(round((self.high - self.low) / self.step) + 1)]


@attrs.frozen(kw_only=True)
class Box:
    """A rectangle that nothing else should be written on."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        """How much of it the other one covers."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, wide) * max(0.0, high)

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """Its point that is nearest to a place."""
        return min(max(x, self.left), self.right), min(max(y, self.top), self.bottom)

    def away(self, x: float, y: float) -> float:
        """How far it is from a place."""
        return math.dist((x, y), self.nearest(x, y))


@attrs.frozen(kw_only=True)
class Panel:
    """One measure over the cost."""

    title: str
    of: Callable[[Dot], float]
    x: Axis
    y: Axis

    def place(self, dot: Dot) -> tuple[float, float]:
        """Where a dot stands."""
        return self.x.at(dot.cost), self.y.at(self.of(dot))


def picture(dots: Iterable[Dot]) -> str:
    """The drawing, as SVG."""
    known = list(dots)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT} font-size="12" role="img">',
        "<title>Edits that miss, and far fit, over the cost of gc_rolling's settings</title>",
        *_legend(known),
        *itertools.chain.from_iterable(_panel(panel, known) for panel in _panels(known)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _panels(dots: Sequence[Dot]) -> Iterator[Panel]:
    kinds: tuple[tuple[str, Callable[[Dot], float], float], ...] = (
        ("edits that miss % (lower is better)", lambda dot: dot.misses, 1.0),
        ("far fit % (higher is better)", lambda dot: dot.far_fit, 2.0),
    )
    for left, (title, of, step) in zip(LEFTS, kinds, strict=True):
        yield Panel(
            title=title,
            of=of,
            x=Axis.of((dot.cost for dot in dots), 0.02, left, left + PANEL_WIDTH),
            y=Axis.of(map(of, dots), step, TOP + PANEL_HEIGHT, TOP),
        )


# -- the legend ------------------------------------------------------------------------------------------------------


def _legend(dots: Iterable[Dot]) -> Iterator[str]:
    lines = dict.fromkeys(dot.line for dot in dots if dot.line is not None)
    yield _text(LEFTS[0], 22, "gc_rolling, collections begin at the latest", size=13)
    left = LEFTS[0] + 285.0
    for line in lines:
        yield _stroke([(left, 18), (left + 26, 18)], line)
        yield _text(left + 32, 22, str(line), size=13, colour=line.colour)
        left += 32 + 7 * len(str(line)) + 22
    yield _diamond(LEFTS[0] + 5, 42, STRATEGY)
    yield _text(LEFTS[0] + 16, 46, "other strategies", size=13, colour=STRATEGY)
    yield _square(LEFTS[0] + 140, 42, GREY)
    yield _text(LEFTS[0] + 151, 46, "baselines", size=13, colour=GREY)
    yield _text(LEFTS[0] + 285, 46, "labels on the lines: down to so many % of the window", size=13)


# -- a panel ---------------------------------------------------------------------------------------------------------


def _panel(panel: Panel, dots: Sequence[Dot]) -> Iterator[str]:
    yield from _frame(panel)
    its = [dot for dot in dots if dot.line is not None]
    for line, group in itertools.groupby(its, key=lambda dot: dot.line):
        if line is not None:
            yield _stroke([panel.place(dot) for dot in group], line)
    yield from (_mark(dot, *panel.place(dot)) for dot in dots)
    yield from _labels(panel, dots)


def _frame(panel: Panel) -> Iterator[str]:
    x, y = panel.x, panel.y
    for tick in x.ticks:
        yield _rule(x.at(tick), y.begin, x.at(tick), y.end)
        yield _text(x.at(tick), y.begin + 18, f"{tick:.2f}", anchor="middle")
    for tick in y.ticks:
        yield _rule(x.begin, y.at(tick), x.end, y.at(tick))
        yield _text(x.begin - 8, y.at(tick) + 4, f"{tick:g}", anchor="end")
    yield _text(x.begin, y.end - 12, panel.title, size=13, weight="bold")
    yield _text((x.begin + x.end) / 2, y.begin + 40, "cost with misses (1 = no collection)", anchor="middle", size=13)


def _mark(dot: Dot, x: float, y: float) -> str:
    if dot.kind is Kind.STRATEGY:
        return _diamond(x, y, dot.colour)
    if dot.kind is Kind.BASELINE:
        return _square(x, y, dot.colour)
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.4" fill="{dot.colour}"/>'
    ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8.5" fill="none" stroke="{TEXT}" stroke-width="2"/>'
    return circle + ring if dot.is_default else circle


# -- labels ----------------------------------------------------------------------------------------------------------


def _labels(panel: Panel, dots: Sequence[Dot]) -> Iterator[str]:
    """Each where it covers least; the default first, then what stands alone, then the ends of the lines."""
    taken = [_around(*panel.place(dot), 9.0 if dot.is_default else 6.0) for dot in dots]
    taken += [_around(x, y, 2.5) for x, y in _along_lines(panel, dots)]
    named = [dot for dot in dots if dot.kind is not Kind.SETTING or dot.is_default or _is_end(dot, dots)]
    for dot in sorted(named, key=lambda dot: (not dot.is_default, dot.line is not None)):
        x, y = panel.place(dot)
        box = min(_candidates(panel, x, y, len(dot.label)), key=lambda box: _price(box, taken, x, y))
        taken.append(attrs.evolve(box, left=box.left - 4, right=box.right + 4))
        colour = TEXT if dot.is_default else dot.colour
        if box.away(x, y) > _NEAR:
            yield _rule(x, y, *box.nearest(x, y), colour=colour)
        yield _text(box.left, box.bottom - 3, dot.label, colour=colour, weight="bold" if dot.is_default else "normal")


def _is_end(dot: Dot, dots: Sequence[Dot]) -> bool:
    names = [each.name for each in dots if each.line == dot.line]
    return dot.line is not None and dot.name in {names[0], names[-1]}


def _along_lines(panel: Panel, dots: Sequence[Dot]) -> Iterator[tuple[float, float]]:
    """Points on the lines between the dots."""
    for before, after in itertools.pairwise(dots):
        if before.line is not None and before.line == after.line:
            (x, y), (right, down) = panel.place(before), panel.place(after)
            yield from ((x + part / 8 * (right - x), y + part / 8 * (down - y)) for part in range(1, 8))


def _candidates(panel: Panel, x: float, y: float, letters: int) -> Iterator[Box]:
    """Places around a dot, inside the panel."""
    wide, high = letters * _CHAR, 13.0
    for away in (12.0, 18.0, 26.0, 36.0, 48.0, 62.0):
        for turn in range(16):
            across, down = math.cos(turn * math.pi / 8), math.sin(turn * math.pi / 8)
            left, top = x + away * across - wide * (1 - across) / 2, y + away * down - high / 2
            if left >= panel.x.begin + 2 and left + wide <= panel.x.end + 8:
                yield Box(left=left, top=top, right=left + wide, bottom=top + high)


def _price(box: Box, taken: Iterable[Box], x: float, y: float) -> float:
    """What a label would cover, and how far it is from its dot."""
    return 4.0 * sum(map(box.overlap, taken)) + box.away(x, y)


def _around(x: float, y: float, radius: float) -> Box:
    return Box(left=x - radius, top=y - radius, right=x + radius, bottom=y + radius)


# -- shapes ----------------------------------------------------------------------------------------------------------


def _stroke(places: Iterable[tuple[float, float]], line: Line) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dashes = "" if line.limited else ' stroke-dasharray="6 4"'
    return f'<polyline points="{points}" fill="none" stroke="{line.colour}" stroke-width="2"{dashes}/>'


def _rule(x: float, y: float, right: float, down: float, *, colour: str = GRID) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{right:.1f}" y2="{down:.1f}" stroke="{colour}"/>'


def _diamond(x: float, y: float, colour: str) -> str:
    return f'<path d="M {x:.1f} {y - 6:.1f} l 6 6 l -6 6 l -6 -6 z" fill="{colour}"/>'


def _square(x: float, y: float, colour: str) -> str:
    return f'<rect x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9" fill="{colour}"/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, weight: str = "normal", colour: str = TEXT
) -> str:
    attributes = f'text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" fill="{colour}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{html.escape(text)}</text>'
