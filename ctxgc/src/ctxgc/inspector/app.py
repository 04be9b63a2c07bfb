"""The panel in a terminal, live while another process writes the session."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import re
import time
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widgets import Footer, Input, Static, TextArea, Tree

from ctxgc.cli.console import plain
from ctxgc.inspector.follower import Follower
from ctxgc.inspector.panel import Panel
from ctxgc.inspector.rows import Row, clock, doing_rows, matching, path_of, window_rows
from ctxgc.inspector.texts import Detail, Styles, doing_detail, item_detail, legend, limits, usage, usage_bar, who
from ctxgc.inspector.tree import POLICY_COLOURS, RowTree, component
from gc_core.errors import LogError
from gc_core.values.policy import GCPolicy

POLL_SECONDS = 0.5
"""Seconds between two reads of the files."""

WIDE = 120
"""Columns from which budget and collections are side by side."""

_ID = re.compile(r"i\d{1,18}", re.ASCII)
_WINDOW, _DOINGS = "window", "doings"
_DARK, _LIGHT = "textual-dark", "textual-light"


class Coloured(Static):
    """Text in the theme's colours for policies."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*map(component, GCPolicy)}
    DEFAULT_CSS = POLICY_COLOURS.format(widget="Coloured")

    def colours(self) -> Styles:
        """Return the colour of each policy, in rich's terms."""
        styles = {each: self.get_component_rich_style(component(each), partial=True) for each in GCPolicy}
        return {each: "" if style.color is None else style.color.name for each, style in styles.items()}


class Head(Coloured):
    """The fill of the window, and what will happen to it."""

    DEFAULT_CSS = "Head { height: auto; padding: 0 1; background: $panel; }"
    panel: Panel | None = None

    def show(self, panel: Panel) -> None:
        """Show the current state."""
        self.panel = panel
        self.refresh(layout=True)

    def render(self) -> Text:
        """Return its lines, for the available columns."""
        panel = self.panel
        if panel is None:
            return Text("reading the session ...")
        width = self.size.width or self.app.size.width - 2
        lines = (
            Text.assemble((plain(panel.directory.name), "bold"), "  ", who(panel)),
            usage_bar(panel, width, self.colours()),
            Text(usage(panel), style="bold"),
            Text(limits(panel)),
        )
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return Text("\n").join(lines)


class Legend(Coloured):
    """The meaning of marks and colours."""

    def render(self) -> Text:
        """Return one line."""
        return Text.assemble(("budget    ", "bold"), legend(self.colours()))


class DetailScreen(Screen[None]):
    """The whole of one line: its current text, and with ``o`` the original."""

    CSS = """
    DetailScreen {
        #facts { height: auto; padding: 0 1; background: $panel; }
        #text { border: none; padding: 0 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,backspace,left", "app.pop_screen", "Back"),
        Binding("o", "other", "Original"),
        Binding("q", "app.quit", "Quit"),
    ]

    def __init__(self, detail: Detail) -> None:
        super().__init__()
        self._detail = detail
        self._original = False

    def compose(self) -> ComposeResult:
        """Compose the facts above, the text below."""
        yield Static(id="facts", markup=False)
        yield TextArea(self._detail.text, id="text", read_only=True, soft_wrap=True, show_cursor=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Show which of the two texts it is."""
        self._announce()
        self.query_one(TextArea).focus()

    def action_other(self) -> None:
        """Switch between the two texts."""
        self._original = not self._original
        self.query_one(TextArea).load_text(self._detail.original if self._original else self._detail.text)
        self._announce()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Disable switching without another text."""
        return bool(self._detail.original) if action == "other" else True

    def _announce(self) -> None:
        detail = self._detail
        lines = [Text(detail.title, style="bold"), *map(Text, detail.facts)]
        if detail.original:
            here, there = ("current", detail.source)[:: -1 if self._original else 1]
            lines.append(Text.assemble((here, "reverse"), f"   o: {there}"))
        self.query_one("#facts", Static).update(Text("\n").join(lines))


class InspectorApp(App[None]):
    """
    ``ctxgc inspect DIR`` in a terminal.

    Args:
        seconds: Seconds between two reads of its files.
        seconds: Seconds between two looks at its files.

    """

    TITLE = "ctxgc inspect"
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 - Textual's
    CSS = """
    #panes { height: 1fr; }
    .pane { width: 1fr; }
    .title { padding: 0 1; text-style: bold; height: 1; }
    .-wide #doings-pane { border-left: vkey $panel; }
    .-wide #window-pane { width: 3fr; }
    .-wide #doings-pane { width: 2fr; }
    .-narrow .-back { display: none; }
    #trouble { height: auto; padding: 0 1; color: $text-error; background: $error-muted; display: none; }
    #search { display: none; height: 1; border: none; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,c", "other_pane", "Budget/collections", priority=True),
        Binding("slash", "search", "Search"),
        Binding("n", "match(1)", "Next", show=False),
        Binding("N", "match(-1)", "Previous", show=False),
        Binding("t", "light", "Light/dark"),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, directory: Path, *, seconds: float = POLL_SECONDS) -> None:
        super().__init__()
        self.panel: Panel | None = None
        self.follower = Follower(directory)
        self._seconds = seconds
        self._looking = asyncio.Lock()
        self._words = ""
        self._back_pane = _DOINGS

    def compose(self) -> ComposeResult:
        """Compose the head, both trees, and the keys."""
        yield Head(id="head")
        yield Static(id="trouble", markup=False)
        with Horizontal(id="panes"):
            with Vertical(id="window-pane", classes="pane"):
                yield Legend(classes="title")
                yield RowTree(id=_WINDOW)
            with Vertical(id="doings-pane", classes="pane -back"):
                yield Static("collections, the newest first", classes="title")
                yield RowTree(id=_DOINGS)
        yield Input(id="search", placeholder="words in the window, or the id of any item", compact=True)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Begin to follow the session."""
        self._tree(_WINDOW).focus()
        self.run_worker(self._follow())

    def on_unmount(self) -> None:
        """Stop following the session."""
        self.follower.close()

    # -- following -----------------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(self._seconds)

    async def look(self) -> None:
        """Read the files once, and show what is new; one read at a time."""
        async with self._looking:
            panel, trouble = None, ""
            try:
                panel = await asyncio.to_thread(self.follower.poll)
            except LogError as error:
                trouble = f"{plain(str(error))}; this is the state at {clock(time.time())}"
            with contextlib.suppress(NoMatches):  # the app ended while the files were read
                if panel is not None or trouble:
                    self._say(trouble)
                if panel is not None:
                    self._show(panel)

    def _show(self, panel: Panel) -> None:
        self.panel = panel
        self.query_one(Head).show(panel)
        self._tree(_WINDOW).show(functools.partial(window_rows, panel))
        self._tree(_DOINGS).show(functools.partial(doing_rows, panel))

    def _say(self, trouble: str) -> None:
        line = self.query_one("#trouble", Static)
        if trouble and line.display:
            return  # it was reported when it began
        line.update(trouble)
        line.display = bool(trouble)

    # -- opening -------------------------------------------------------------------------------------------------

    async def on_tree_node_selected(self, event: Tree.NodeSelected[Row]) -> None:
        """Show the whole of a line without lines below it."""
        row = event.node.data
        if row is None or row.opens or self.panel is None:
            return
        panel, follower = self.panel, self.follower
        if event.control.id == _DOINGS:
            await self._open(functools.partial(doing_detail, panel, row.path, follower))
        else:
            await self._open(functools.partial(item_detail, panel, row.key, follower))

    async def _open(self, read: functools.partial[Detail | None]) -> bool:
        """Read in a separate thread, because the follower may be reading the whole session."""
        try:
            detail = await asyncio.to_thread(read)
        except LogError as error:
            self.notify(plain(str(error)), severity="error", markup=False)
            return True
        if detail is not None:
            await self.push_screen(DetailScreen(detail))
        return detail is not None

    # -- searching -----------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        """Ask for the search words."""
        box = self.query_one("#search", Input)
        box.display = True
        box.focus()

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the first match; show the original of an item that is not in the window."""
        self._words = event.value.strip()
        self._end_search()
        if self.panel is None or not self._words:
            return
        if self._words in self.panel.items:
            self._go_to(self._words)
            return
        original = functools.partial(item_detail, self.panel, self._words, self.follower)
        if _ID.fullmatch(self._words) and await self._open(original):
            return
        if matching(self.panel, self._words):
            self.action_match(1)
        else:
            self.notify(f"nothing in the window holds {plain(self._words)!r}", markup=False)

    def action_match(self, step: int) -> None:
        """Go to the next match after the cursor, or the one before it."""
        found = () if self.panel is None else matching(self.panel, self._words)
        if not found:
            return
        node = self._tree(_WINDOW).cursor_node
        here = node.data.key if node is not None and node.data is not None else ""
        start = found.index(here) if here in found else (-1 if step > 0 else 0)
        place = (start + step) % len(found)
        self._go_to(found[place])
        self.notify(f"{place + 1:,} of {len(found):,}: {plain(self._words)}", timeout=2, markup=False)

    def key_escape(self) -> None:
        """End the search."""
        self._end_search()

    def _go_to(self, item: str) -> None:
        if self.panel is not None:
            self._bring_forward(_WINDOW)
            self._tree(_WINDOW).go_to(path_of(self.panel, item))

    def _end_search(self) -> None:
        box = self.query_one("#search", Input)
        box.display = False
        box.clear()
        self._tree(_WINDOW if self._back_pane == _DOINGS else _DOINGS).focus()

    # -- keys ----------------------------------------------------------------------------------------------------

    def action_other_pane(self) -> None:
        """Go to the other tree; in a narrow terminal it replaces this one."""
        self._bring_forward(self._back_pane)

    def action_light(self) -> None:
        """Switch between the light and the dark theme."""
        self.theme = _DARK if self.theme == _LIGHT else _LIGHT

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Treat letters as letters while typing or reading."""
        main = len(self.screen_stack) <= 1 and not isinstance(self.focused, Input)
        return main or action not in {"other_pane", "search", "match", "light"}

    def _bring_forward(self, name: str) -> None:
        self._back_pane = _DOINGS if name == _WINDOW else _WINDOW
        for each in (_WINDOW, _DOINGS):
            self.query_one(f"#{each}-pane").set_class(each == self._back_pane, "-back")
        self._tree(name).focus()

    def _tree(self, name: str) -> RowTree:
        return self.query_one(f"#{name}", RowTree)
