"""The lines of the panel, created on demand: sources, groups, items; collections, and their removals."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Sequence

import attrs

from ctxgc.cli.console import plain
from ctxgc.inspector.panel import COLLECTED, RESTORED, Doing, Panel
from gc_core.values.items import Form, Item, ItemKind
from gc_core.values.policy import GCPolicy
from gc_core.values.removals import Drop, GCRemovalItem, Stub
from gc_core.window.budget import BudgetEntry

PAGE = 100
"""Lines of a page: a larger group is shown in pages, so that opening it costs little however large it is."""

FRAMING = "\0framing"
"""Key of the line for the overhead of messages and request; no source or item has it."""

_PAGE = "\0page "

_PREVIEW = 160
"""The most characters of a text in a line."""

Path = tuple[str, ...]
"""The place of a line in the tree: the keys from the top."""


@attrs.frozen(kw_only=True)
class Row:
    """
    One line.

    Attributes:
        path: Its place; the last key is its own.
        mark: Its policy as one character, or "".
        policy: The same as a value, or None.
        label: Its label.
        tokens: Its tokens, or what a collection freed.
        percent: Its percentage of the usable window.
        share: Its share of the largest line next to it, from 0 to 1.
        opens: It has lines below it.
        dim: It is empty, or not in effect.

    """

    path: Path
    mark: str = ""
    policy: GCPolicy | None = None
    label: str
    tokens: int
    percent: float = 0.0
    share: float = 0.0
    opens: bool = False
    dim: bool = False

    @property
    def key(self) -> str:
        """Its own key: the id of an item."""
        return self.path[-1]


Rows = Callable[[Path], tuple[Row, ...]]
"""The place whose lines are shown; () is the top."""


def preview(text: str) -> str:
    """Return the beginning of a text, on one line."""
    return plain(text[:_PREVIEW])


# -- the window ------------------------------------------------------------------------------------------------------


def window_rows(panel: Panel, path: Path) -> tuple[Row, ...]:
    """Return the lines of the budget below a place; () if there is nothing (any more)."""
    if not path:
        rows = [_node_row(panel, (source.name,)) for source in panel.budget.sources]
        framing = Row(path=(FRAMING,), label="framing", tokens=panel.budget.overhead, dim=not panel.budget.overhead)
        return _measured(panel, [*rows, framing])
    node = _node(panel, path)
    if node is None:
        return ()
    keys = list(node.nodes)
    page = _page_of(path)
    if page is not None:
        keys = keys[page * PAGE : (page + 1) * PAGE]
    elif len(keys) > PAGE:
        return _measured(panel, [_page_row(path, node, place) for place in range(0, len(keys), PAGE)])
    return _measured(panel, [_node_row(panel, (*path, key)) for key in keys])


def path_of(panel: Panel, item: str) -> Path:
    """Return the place of a resident item's line; () for any other item."""
    found = panel.items.get(item)
    if found is None:
        return ()
    path: Path = (found.source,)
    for key in (f"turn {found.turn}" if found.turn >= 0 else "", item):
        if key:
            node = _node(panel, path)
            if node is None or key not in node.nodes:
                return ()
            if len(node.nodes) > PAGE:
                path = (*path, _page(list(node.nodes).index(key) // PAGE))
            path = (*path, key)
    return path


def matching(panel: Panel, words: str) -> tuple[str, ...]:
    """
    Return the ids of the resident items whose line or text contains all the words, in the order in which the model
    reads them.
    """
    wanted = words.casefold().split()
    return tuple(
        key
        for key, item in panel.items.items()
        if wanted and all(word in f"{_item_label(item)}\n{item.text}".casefold() for word in wanted)
    )


def _page(number: int) -> str:
    return f"{_PAGE}{number}"


def _page_of(path: Path) -> int | None:
    return int(path[-1].removeprefix(_PAGE)) if path[-1].startswith(_PAGE) else None


def _node(panel: Panel, path: Path) -> BudgetEntry | None:
    """Return the node of the budget at a place; for a page the node that it is a part of."""
    if path[0] not in {source.name for source in panel.budget.sources}:
        return None
    node: BudgetEntry | None = panel.budget.entry(path[0])
    for key in path[1:]:
        if node is not None and not key.startswith(_PAGE):
            node = node.nodes.get(key)
    return node


def _node_row(panel: Panel, path: Path) -> Row:
    node = _node(panel, path)
    assert node is not None  # noqa: S101 - it was listed by its parent
    item = panel.items.get(node.key) if len(path) > 1 else None
    label = _item_label(item) if item is not None else _group_label(panel, node)
    return Row(
        path=path,
        mark=node.policy.indicator,
        policy=node.policy,
        label=label,
        tokens=node.tokens,
        opens=bool(node.nodes),
        dim=item is None and not node.nodes,
    )


def _page_row(path: Path, node: BudgetEntry, start: int) -> Row:
    children = list(itertools.islice(node.nodes.values(), start, start + PAGE))
    first, last = _short_label(children[0]), _short_label(children[-1])
    policies = {child.policy for child in children}
    policy = policies.pop() if len(policies) == 1 else GCPolicy.PARTIAL
    return Row(
        path=(*path, _page(start // PAGE)),
        mark=policy.indicator,
        policy=policy,
        label=f"{first} to {last}",
        tokens=sum(child.tokens for child in children),
        opens=True,
    )


def _short_label(node: BudgetEntry) -> str:
    return plain(node.key)


def _group_label(panel: Panel, node: BudgetEntry) -> str:
    """Return a source's name, or a turn with the beginning of the user's message."""
    name = plain(node.label)
    if not name.startswith("turn "):
        return name
    items = (panel.items.get(key) for key in node.nodes)
    said = next((item.text for item in items if item is not None and item.kind is ItemKind.USER_TEXT), "")
    return f"{name} · {preview(said)}" if said else name


def _item_label(item: Item) -> str:
    pinned = "pinned " if item.pinned else ""
    stub = f"stub of {item.original_tokens:,} " if item.form is Form.STUB else ""
    key = f"{item.id} " if item.turn >= 0 else ""
    what = item.kind.value.replace("_", " ")
    said = preview(item.text)
    return plain(f"{key}{pinned}{stub}{what} {item.name}{' · ' * bool(said)}{said}")


def _measured(panel: Panel, rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the lines with values that depend on all of them."""
    largest = max((abs(row.tokens) for row in rows), default=0)
    usable = max(1, panel.usable)
    return tuple(
        attrs.evolve(row, percent=100.0 * row.tokens / usable, share=abs(row.tokens) / largest if largest else 0.0)
        for row in rows
    )


# -- collections -----------------------------------------------------------------------------------------------------


def doing_rows(panel: Panel, path: Path) -> tuple[Row, ...]:
    """Return the changes of the window, the newest first; below a collection, its removals with reasons."""
    if not path:
        return _measured(panel, [_doing_row(panel, doing) for doing in reversed(panel.doings)])
    doing = doing_at(panel, path)
    if doing is None or len(path) > 1:
        return ()
    return _measured(panel, [_removal_row(path, place, each) for place, each in enumerate(doing.removals)])


def doing_at(panel: Panel, path: Path) -> Doing | None:
    """Return the change by its line or that of one of its removals."""
    return next((doing for doing in panel.doings if str(doing.place.start) == path[0]), None)


def removal_at(panel: Panel, path: Path) -> GCRemovalItem | None:
    """Return the removal of a line, or None for other lines."""
    doing = doing_at(panel, path)
    place = int(path[1]) if len(path) > 1 else -1
    return doing.removals[place] if doing is not None and 0 <= place < len(doing.removals) else None


def action_words(removal: GCRemovalItem) -> str:
    """Return what a removal did, in a word or two."""
    match removal.action:
        case Drop():
            return "dropped"
        case Stub():
            return "stubbed"
    return "summarised"


def clock(seconds: float) -> str:
    """Return the local time of day, to the second."""
    return dt.datetime.fromtimestamp(seconds).astimezone().strftime("%H:%M:%S")


def _doing_row(panel: Panel, doing: Doing) -> Row:
    counted = doing.what in {COLLECTED, RESTORED}
    undone = counted and doing.place not in panel.done
    what = doing.why if doing.what == COLLECTED else f"{doing.what} {doing.why}"
    sizes = f" {doing.before:,} to {doing.after:,}" if counted else ""
    return Row(
        path=(str(doing.place.start),),
        label=plain(f"{clock(doing.time)} {what}{sizes}{' (undone)' * undone}"),
        tokens=doing.freed,
        opens=bool(doing.removals),
        dim=undone or not counted,
    )


def _removal_row(path: Path, place: int, removal: GCRemovalItem) -> Row:
    items = removal.items[0] if removal.items else ""
    if len(removal.items) > 1:
        items = f"{items} and {len(removal.items) - 1} more"
    return Row(
        path=(*path, str(place)),
        label=plain(f"{action_words(removal)} {items}: {removal.reason}"),
        tokens=removal.tokens_freed,
    )
