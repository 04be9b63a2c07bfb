"""
Vendors' default handling of a full window, simulated: at fixed sizes, whatever the window.

They are compared like the baselines, and like them leave nothing that could be recalled. Where a vendor's model would
write a summary, a stub copies lines with file names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import attrs

from ctxgc.evaluation.baselines import Baseline, Choice, Fill
from gc_core.values.items import Form, ItemKind, Unit
from gc_core.window.context import Edits

SUMMARY_OPENING = "Summary of the conversation so far (simulated: the newest lines that name a file)"
"""The first line of a simulated summary."""

_LINE_CHARS = 200
"""Characters of a line that a simulated summary takes: a call's arguments are one line, however long."""

_FILE = re.compile(r"[\w-]\.[A-Za-z][A-Za-z0-9]{0,4}\b", re.ASCII)


@attrs.frozen(kw_only=True)
class FlatSummary:
    """
    One flat summary: at ``trigger`` input tokens everything but the first request and the newest exchange becomes one
    text, an earlier summary included, as in Anthropic's ``compact_20260112`` with its default trigger (documentation of
    November 2026) and in coding agents that compact themselves.

    Attributes:
        name: Its name in tables.
        trigger: Tokens of the request from which on it compacts.
        most: Tokens of the summary.

    """

    name: str = "simulated: one flat summary at 150k"
    trigger: int = 150_000
    most: int = 4_000

    def due(self, fill: Fill) -> bool:
        """From the trigger on."""
        return fill.tokens >= self.trigger

    def edits(self, choice: Choice) -> Edits:
        """Return all that may go, as one summary; nothing when a summary is all that may go."""
        units = choice.free
        if all(unit.is_summary for unit in units):
            return Edits()
        summary = choice.summary(units, "\n".join([SUMMARY_OPENING, *self._lines(units, choice)]))
        return Edits(
            dropped=frozenset(item.id for unit in units for item in unit.items),
            summaries={units[-1].items[0].id: summary},
        )

    def _lines(self, units: Sequence[Unit], choice: Choice) -> Sequence[str]:
        """Return the newest lines that name a file, each once, in their order, as many as there is room for."""
        room, lines = self.most - choice.count(SUMMARY_OPENING), list[str]()
        for line in dict.fromkeys(_file_lines(units)):
            room -= choice.count(line) + 1
            if room < 0:
                break
            lines.append(line)
        return lines[::-1]


@attrs.frozen(kw_only=True)
class ToolClearing:
    """
    Tool clearing: from ``trigger`` input tokens on, only the newest ``keep`` tool results stay; a placeholder
    replaces all others, and calls stay whole. Anthropic's ``clear_tool_uses_20250919`` with its defaults
    (documentation of November 2026), which judges the whole history again at every request, whatever it cleared before.

    Attributes:
        name: Its name in tables.
        trigger: Tokens of the history from which on it clears.
        keep: Results that stay.

    """

    name: str = "simulated: tool clearing at 100k keeping 3"
    trigger: int = 100_000
    keep: int = 3

    def due(self, fill: Fill) -> bool:
        """From the trigger on, with cleared results counted in full."""
        return fill.tokens + fill.masked > self.trigger

    def edits(self, choice: Choice) -> Edits:
        """Placeholders."""
        units = sorted((*choice.held, *choice.free), key=lambda unit: unit.number)
        results = [item for unit in units for item in unit.items if item.kind is ItemKind.TOOL_RESULT]
        cleared = [item for item in results[: -self.keep] if item.form is Form.WHOLE and not item.fixed]
        return Edits(texts={item.id: choice.mask(item) for item in cleared})


VENDOR_MODES: tuple[Baseline, ...] = (FlatSummary(), ToolClearing())
"""All of them, as tables list them."""


def _file_lines(units: Sequence[Unit]) -> Iterator[str]:
    """Yield lines that name a file, the newest first."""
    for unit in reversed(units):
        for item in reversed(unit.items):
            for line in reversed(item.text.split("\n")):
                short = line.strip()[:_LINE_CHARS]
                if _FILE.search(short):
                    yield short
