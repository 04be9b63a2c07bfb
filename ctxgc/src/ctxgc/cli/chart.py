"""
A chart of the window's fill for a terminal: one column per call, lines where collections begin and end.

Drawn here with block characters, in eighty lines, because plotting libraries for terminals change their interface with
every major version (plotext 5 and 6 share none). Without colour, so that it reads the same in a file.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import attrs

WIDTH = 100
"""Characters of the whole chart, including its labels."""

HEIGHT = 15
"""Rows up to the window."""

_WIDEST_BAR = 4


@attrs.frozen(kw_only=True)
class Level:
    """A line across the chart: its name and its height, in tokens."""

    name: str
    tokens: int


@attrs.frozen(kw_only=True)
class Ink:
    """
    The characters of a chart.

    Attributes:
        bars: A cell that is empty, partly filled in growing parts, and full.
        span: A cell between the least and the most of a column.
        line: A level without a bar.
        missing: A call that was not sent.
        side: The left axis.
        foot: The lower axis.
        corner: Where both meet.

    """

    bars: str
    span: str
    line: str
    missing: str
    side: str
    foot: str
    corner: str


BLOCKS = Ink(bars=" ▁▂▃▄▅▆▇█", span="░", line="┄", missing="×", side="│", foot="─", corner="└")
ASCII = Ink(bars=" .#", span=":", line="-", missing="x", side="|", foot="-", corner="+")


@attrs.frozen(kw_only=True)
class _Column:
    """The calls that share a column: the least and the most tokens of them; None if none was sent."""

    least: int | None
    most: int


def fill_chart(
    fill: Sequence[int], levels: Sequence[Level], *, width: int = WIDTH, height: int = HEIGHT, ink: Ink = BLOCKS
) -> str:
    """
    Return tokens by call as bars, in at most ``width`` characters per line; 0 tokens is a call that was not sent.

    If calls outnumber columns, a column is filled to the least of its calls and shaded up to the most.
    """
    top = max([1, *fill, *(level.tokens for level in levels)])
    unit = top / height
    labels = _labels(levels, unit)
    margin = max(len(label) for label in [*labels.values(), "0"])
    columns = tuple(_columns(fill, max(1, width - margin - 2)))
    rows = [
        f"{labels.get(row, ''):>{margin}} {ink.side}"
        + "".join(_cell(c, row, unit, level=row in labels, ink=ink) for c in columns)
        for row in range(height, -1, -1)
    ]
    foot = f"{'0':>{margin}} {ink.corner}{ink.foot * len(columns)}"
    return "\n".join([*(row.rstrip() for row in rows), foot, _calls_axis(margin, len(fill), len(columns))])


def _labels(levels: Sequence[Level], unit: float) -> dict[int, str]:
    """Return the labels left of a row with levels. A level is drawn above the bars that just reach it."""
    named: dict[int, list[str]] = {}
    for level in levels:
        named.setdefault(int(level.tokens / unit + 1e-9), []).append(f"{level.name} {level.tokens:,}")
    return {row: ", ".join(names) for row, names in named.items()}


def _columns(fill: Sequence[int], width: int) -> Iterator[_Column]:
    if not fill:
        return
    if len(fill) <= width:
        bar = min(_WIDEST_BAR, width // len(fill))
        yield from itertools.chain.from_iterable([_column([tokens])] * bar for tokens in fill)
        return
    share = math.ceil(len(fill) / width)
    yield from (_column(fill[first : first + share]) for first in range(0, len(fill), share))


def _column(calls: Sequence[int]) -> _Column:
    return _Column(least=min((tokens for tokens in calls if tokens), default=None), most=max(calls))


def _cell(column: _Column, row: int, unit: float, *, level: bool, ink: Ink) -> str:
    if column.least is None:
        return ink.missing if row == 0 else _empty(ink, level=level)
    filled, reached = column.least / unit - row, column.most / unit - row
    if filled >= 1:
        return ink.bars[-1]
    if reached > 0 and column.most > column.least:
        return ink.span if reached >= 1 or filled <= 0 else ink.bars[_part(filled, ink)]
    part = _part(filled, ink)
    return ink.bars[part] if part else _empty(ink, level=level)


def _part(filled: float, ink: Ink) -> int:
    """Return the partial cell for a fraction."""
    return round(max(0.0, filled) * (len(ink.bars) - 1))


def _empty(ink: Ink, *, level: bool) -> str:
    return ink.line if level else ink.bars[0]


def _calls_axis(margin: int, calls: int, width: int) -> str:
    last = f"call {calls}" if calls else ""
    return (f"{'':>{margin}}  1" + f"{last:>{max(0, width - 1)}}").rstrip()
