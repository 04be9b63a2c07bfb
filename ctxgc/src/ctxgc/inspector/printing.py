"""The panel once, as text: for a pipe, a log, or a terminal without the extra ``inspect``."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from ctxgc.cli.console import plain
from ctxgc.inspector.panel import Panel
from ctxgc.inspector.rows import Row, Rows, doing_rows, window_rows
from ctxgc.inspector.texts import Styles, bar, legend, limits, usage, usage_bar, who
from gc_core.values.policy import GCPolicy

MOST_LINES = 20
"""The most lines below a source, and the most collections: the newest."""

STYLES: Styles = {
    GCPolicy.LOCKED: "magenta",
    GCPolicy.PRESERVABLE: "green",
    GCPolicy.PARTIAL: "cyan",
    GCPolicy.EPHEMERAL: "yellow",
}

_BAR = 20


def print_panel(panel: Panel, console: Console) -> None:
    """Print the panel: sources with their groups, and the changes of the window."""
    for line in panel_lines(panel, console.width):
        console.print(line, soft_wrap=True)


def panel_lines(panel: Panel, width: int) -> Iterator[Text]:
    """Yield its lines, for this many columns."""
    yield Text(plain(str(panel.directory)), style="bold")
    yield Text(who(panel))
    yield Text()
    yield usage_bar(panel, width, STYLES)
    yield Text(usage(panel), style="bold")
    yield Text(limits(panel))
    yield legend(STYLES)
    yield Text()
    for row in window_rows(panel, ()):
        yield line_of(row, width, STYLES, depth=0)
        yield from _below(lambda path: window_rows(panel, path), row, width)
    if panel.doings:
        yield Text()
        yield Text("collections, the newest first", style="bold")
        yield from _some(doing_rows(panel, ())[:MOST_LINES], len(panel.doings), width, depth=0)


def line_of(row: Row, width: int, styles: Styles, *, depth: int, bar_width: int = _BAR) -> Text:
    """Return one line in this many columns: mark and label, then tokens, percent of the window and bar."""
    style = "dim" if row.dim else styles[row.policy] if row.policy is not None else ""
    figures = f"{row.tokens:>10,} {row.percent:>6.1f} % "
    label = f"{'  ' * depth}{set_cell_size(row.mark, 2)} {row.label}" if row.mark else f"{'  ' * depth}   {row.label}"
    room = max(8, width - cell_len(figures) - bar_width)
    return Text.assemble(
        (fitted(label, room), "dim" if row.dim else ""), (figures, "dim" * row.dim), (bar(row.share, bar_width), style)
    )


def _below(rows: Rows, row: Row, width: int) -> Iterator[Text]:
    """Yield the groups of a source; of very many the newest. Their contents are only shown in the terminal."""
    below = rows(row.path) if row.opens else ()
    yield from _some(below[-MOST_LINES:], len(below), width, depth=1)


def _some(rows: tuple[Row, ...], count: int, width: int, *, depth: int) -> Iterator[Text]:
    if count > len(rows):
        yield Text(f"{'  ' * depth}   {count - len(rows):,} older ones are left out", style="dim")
    for row in rows:
        yield line_of(row, width, STYLES, depth=depth)


def fitted(label: str, room: int) -> str:
    """Return the text in exactly this many columns; a cut is marked."""
    return set_cell_size(label, room) if cell_len(label) <= room else set_cell_size(label, room - 1) + "…"
