"""The tree of lines: the lines below one are created when it is opened, and kept in step with the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from ctxgc.inspector.printing import fitted
from ctxgc.inspector.rows import Path, Row, Rows
from ctxgc.inspector.texts import bar
from gc_core.values.policy import GCPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator

_BARS = ((100, 20), (60, 8))
"""Columns of a tree from which its bars have a length; below there is no room for one."""


POLICY_COLOURS = """
{widget} {{
    scrollbar-gutter: stable;
    & > .row--locked {{ color: $error; }}
    & > .row--preservable {{ color: $success; }}
    & > .row--partial {{ color: $primary; }}
    & > .row--ephemeral {{ color: $warning; }}
    & > .row--dim {{ text-style: dim; }}
}}
"""
"""The theme's colours for policies, in a widget with these component classes."""


def component(policy: GCPolicy) -> str:
    """Return the theme's name for the colour of a policy."""
    return f"row--{policy.value}"


class RowTree(Tree[Row]):
    """
    Lines with tokens, percent and bar at the right edge.

    ``show`` updates the lines: opened ones stay open, and the cursor stays on its line, or goes to the nearest one
    above if that was removed.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {*map(component, GCPolicy), "row--dim"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open"),
        Binding("left", "close_or_leave", "Close", show=False),
        Binding("right", "open_node", "Open", show=False),
    ]
    DEFAULT_CSS = POLICY_COLOURS.format(widget="RowTree")

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's word
        super().__init__("", id=id)
        self.show_root = False
        self.guide_depth = 2
        self.auto_expand = True
        self._rows: Rows = lambda _: ()

    # -- content -------------------------------------------------------------------------------------------

    def show(self, rows: Rows) -> None:
        """Update the lines."""
        self._rows = rows
        at = self.cursor_node
        path = at.data.path if at is not None and at.data is not None else ()
        line = self.cursor_line
        self._reconcile(self.root, ())
        if self.last_line < 0:
            return
        self._put_cursor(path, line)

    def go_to(self, path: Path) -> bool:
        """Open what is above a line and put the cursor on it; False if it does not exist."""
        node = self._opened(path)
        if node is None:
            return False
        self._look_at(node)
        return True

    def _opened(self, path: Path) -> TreeNode[Row] | None:
        node: TreeNode[Row] = self.root
        for depth in range(len(path)):
            if node is not self.root and not node.is_expanded:
                self._reconcile(node, path[:depth])
                node.expand()
            below = next((each for each in node.children if each.data and each.data.path == path[: depth + 1]), None)
            if below is None:
                return None
            node = below
        return node

    def _put_cursor(self, path: Path, line: int) -> None:
        """Put the cursor back on its line; the view scrolls along, so that the line stays in place."""
        node = self._nearest(path)
        if node is None:
            self.move_cursor_to_line(0)
            return
        top = self.scroll_offset.y
        if self.cursor_node is not node or self.cursor_line != node.line:
            self._look_at(node)
        moved = node.line - line
        if line >= 0 and moved and top:
            self.scroll_to(y=top + moved, animate=False)

    def _nearest(self, path: Path) -> TreeNode[Row] | None:
        """Return the line itself, or the nearest visible one above it."""
        node: TreeNode[Row] | None = None
        for depth in range(len(path)):
            above = self.root if node is None else node
            if above is not self.root and not above.is_expanded:
                break
            below = next((each for each in above.children if each.data and each.data.path == path[: depth + 1]), None)
            if below is None:
                break
            node = below
        return node

    def _look_at(self, node: TreeNode[Row]) -> None:
        if self.last_line >= 0:  # reading it rebuilds outdated lines
            self.move_cursor(node)

    def _reconcile(self, node: TreeNode[Row], path: Path) -> None:
        """Update the lines in place: existing ones stay, missing ones leave, new ones are inserted."""
        rows = self._rows(path)
        wanted = {row.path for row in rows}
        for child in list(node.children):
            if child.data is None or child.data.path not in wanted:
                child.remove()
        there = [child.data.path for child in node.children if child.data is not None]
        known = set(there)
        opened: frozenset[Path] = frozenset()
        if there != [row.path for row in rows if row.path in known]:
            opened = frozenset(_opened_below(node))
            node.remove_children()
        for place, row in enumerate(rows):
            self._put(node, place, row)
        self._open_again(node, opened)

    def _open_again(self, node: TreeNode[Row], opened: frozenset[Path]) -> None:
        """Open lines that were rebuilt because they moved, as deep as they were open."""
        for child in node.children if opened else ():
            if child.data is not None and child.data.path in opened:
                child.expand()
                self._reconcile(child, child.data.path)
                self._open_again(child, opened)

    def _put(self, node: TreeNode[Row], place: int, row: Row) -> None:
        child = node.children[place] if place < len(node.children) else None
        if child is None or child.data is None or child.data.path != row.path:
            before = place if place < len(node.children) else None
            node.add(Text(" "), row, before=before, allow_expand=row.opens)
            return
        if child.data != row:
            child.data = row
            child.allow_expand = row.opens
            child.refresh()
        if child.is_expanded:
            self._reconcile(child, row.path)
        elif child.children:
            child.remove_children()

    # -- keys ----------------------------------------------------------------------------------------------------

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Row]) -> None:
        """Create what is below an opened line."""
        if event.node.data is not None:
            self._reconcile(event.node, event.node.data.path)

    def action_open_node(self) -> None:
        """Open the line, or go to the first one below it."""
        node = self.cursor_node
        if node is not None and node.allow_expand:
            if node.is_expanded:
                self.action_cursor_down()
            else:
                node.expand()

    def action_close_or_leave(self) -> None:
        """Close the line, or go to its parent."""
        node = self.cursor_node
        if node is None:
            return
        if node.is_expanded:
            node.collapse()
        elif node.parent is not None and node.parent is not self.root:
            self.move_cursor(node.parent)

    # -- drawing -------------------------------------------------------------------------------------------------

    def get_label_width(self, node: TreeNode[Row]) -> int:  # noqa: ARG002 - Textual's signature
        """Return the width: lines are as wide as the tree, so none must be drawn to know it."""
        return 0

    def render_label(self, node: TreeNode[Row], base_style: Style, style: Style) -> Text:  # noqa: ARG002
        """Return one line, cut to the available width."""
        row = node.data
        if row is None:
            return Text()
        width = self.size.width - self.guide_depth * (len(row.path) - 1)
        bars = next((long for columns, long in _BARS if self.size.width >= columns), 0)
        figures = f"{row.tokens:>9,} {row.percent:>5.1f} % "
        icon = (self.ICON_NODE_EXPANDED if node.is_expanded else self.ICON_NODE) if node.allow_expand else "  "
        dim = self.get_component_rich_style("row--dim", partial=True) if row.dim else Style()
        colour = dim if row.policy is None else self.get_component_rich_style(component(row.policy), partial=True)
        mark = f"{set_cell_size(row.mark, 2)} " if row.mark else ""
        label = fitted(row.label, max(8, width - sum(map(cell_len, (icon, mark, figures))) - bars))
        return Text.assemble(
            (icon, style), (mark, colour + style), (label, dim + style), (figures, dim + style),
            (bar(row.share, bars) if bars else "", colour + style),
        )  # fmt: skip


def _opened_below(node: TreeNode[Row]) -> Iterator[Path]:
    for child in node.children:
        if child.data is not None and child.is_expanded:
            yield child.data.path
            yield from _opened_below(child)
