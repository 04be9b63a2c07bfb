"""Named texts of a source (enrichment, memory blocks): the newest version stands at the end of a request, and stays."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import attrs

from gc_core.errors import SourceError
from gc_core.values.items import Item, ItemKind, number_of
from gc_core.values.messages import digest_of
from gc_core.values.patterns import regex
from gc_core.values.policy import GCPolicy
from gc_core.values.references import check_of
from gc_core.values.sources import TASK_STATE

if TYPE_CHECKING:  # the ledger is read without a window
    from gc_core.providers.contract import TokenCounter
    from gc_core.window.context import Context

_Key = tuple[str, str]

CLOSING = "\n</context>"
"""How the frame of a block ends."""

_CLOSING = regex(r"<(\s*/\s*context)", re.IGNORECASE)


@attrs.frozen(kw_only=True)
class Block:
    """
    A text that stands, or will stand, at the end of a request.

    Attributes:
        source: Name of its source.
        name: Its name there: of one name only the newest version counts.
        text: What was given.
        kind: Enrichment or a memory block.
        policy: How strongly it is held, where that is not its source's business: it goes on after a compaction.

    """

    source: str
    name: str
    text: str
    kind: ItemKind
    policy: GCPolicy | None = None

    @property
    def framed(self) -> str:
        """What is sent; neither text nor name can close the frame by itself (rule A9)."""
        inner = _CLOSING.sub(r"<\\\1", self.text)
        check = f' check="{check_of(inner)}"' if self.source == TASK_STATE.name else ""
        names = f'source="{html.escape(self.source)}" name="{html.escape(self.name)}"'
        return f"<context {names}{check}>\n{inner}{CLOSING}"


class Blocks:
    """
    Which blocks wait, and which item is the newest version of each.

    A version that was sent stays where it is; the next one goes to the new end, and the old one is EPHEMERAL then.
    """

    def __init__(self, waiting: Iterable[Block] = (), newest: Mapping[_Key, str] | None = None) -> None:
        self._waiting: dict[_Key, Block] = {(block.source, block.name): block for block in waiting}
        self._newest: dict[_Key, str] = dict(newest or {})
        self._whole: dict[_Key, tuple[str, bytes]] = {}  # item and text of what was placed; it may be shortened since

    @property
    def waiting(self) -> tuple[Block, ...]:
        """What the next request will have at its end."""
        return tuple(self._waiting.values())

    @property
    def given(self) -> tuple[Block, ...]:
        """What of it the host gave; the log tells of the rest, which goes on after a compaction."""
        return tuple(block for block in self.waiting if block.policy is None)

    @property
    def newest(self) -> Mapping[_Key, str]:
        """Id of the item that is the newest version, by source and name."""
        return self._newest

    def give(
        self, context: Context, source: str, texts: Mapping[str, str], kind: ItemKind, counter: TokenCounter
    ) -> None:
        """
        Take new versions in place of those that still wait; one that stands in the window already, verbatim, is
        not sent again, and an empty one never.

        Raises SourceError for an unknown source, for what is not a text, and when its newest versions together would
        pass its cap.
        """
        for name, text in texts.items():
            if not isinstance(text, str):
                raise SourceError(f"{source} {name} = {text!r:.200}: expected a text")
        blocks = [Block(source=source, name=name, text=text, kind=kind) for name, text in texts.items()]
        self.check_cap(context, source, counter, blocks)
        for block in blocks:
            self._waiting.pop((source, block.name), None)
            if block.text.strip() and not self.stands(context, block):
                self._waiting[source, block.name] = block

    def carry(self, blocks: Iterable[Block]) -> None:
        """Take these up again, unless a newer version waits."""
        for block in blocks:
            self._waiting.setdefault((block.source, block.name), block)

    def recall(self, context: Context, blocks: Iterable[Block]) -> None:
        """What a collection brings back waits too, unless it stands there still."""
        self.carry(block for block in blocks if not self.stands(context, block))

    def withdraw(self, blocks: Iterable[Block]) -> None:
        """What a collection brings back does not, for it was undone; what stands in the window by then stays there."""
        for block in blocks:
            if self._waiting.get((block.source, block.name)) == block:
                del self._waiting[block.source, block.name]

    def taken_back(self, context: Context, source: str, name: str) -> None:
        """The newest version has left the window, for no one had read it: the one before it counts again, if any."""
        self._newest.pop((source, name), None)
        versions = (item for item in context.items() if (item.source, item.name) == (source, name) and item.turn >= 0)
        before = max(versions, key=lambda item: number_of(item.id), default=None)
        if before is None:
            return
        self._newest[source, name] = before.id
        if before.policy is GCPolicy.EPHEMERAL:
            context.set_policy(before.id, context.budget.source(source).policy)

    def placed(self, context: Context, item: Item) -> None:
        """A block has become this item; the version before it is stale."""
        key = (item.source, item.name)
        stale = self._newest.get(key, "")
        if context.find(stale) is not None:
            context.set_policy(stale, GCPolicy.EPHEMERAL)
        self._newest[key] = item.id
        self._whole[key] = item.id, digest_of(item.text)
        self._waiting.pop(key, None)

    def came_back(self, context: Context, items: Iterable[str]) -> None:
        """These items stand in the window again: a version that was in effect when it left is stale beside a newer."""
        for key in items:
            item = context.find(key)
            newest = "" if item is None else self._newest.get((item.source, item.name), "")
            if newest != key and context.find(newest) is not None:
                context.set_policy(key, GCPolicy.EPHEMERAL)

    def check_cap(self, context: Context, source: str, counter: TokenCounter, blocks: Iterable[Block] = ()) -> None:
        """
        Raise SourceError when a source with these blocks would hold more than its cap, its parts of the system text
        counted. Stale versions do not count: they go with the next collection.
        """
        cap = context.budget.source(source).cap
        if cap is None:
            return
        texts = {name: item.text for name, item in self._resident(context, source)}
        texts.update({block.name: block.framed for key, block in self._waiting.items() if key[0] == source})
        texts.update({block.name: block.framed for block in blocks})
        held = sum(map(counter.count, texts.values())) + context.system_tokens(source)
        if held > cap:
            raise SourceError(f"source {source!r} would hold {held:,} tokens; its cap is {cap:,}")

    def stands(self, context: Context, block: Block) -> bool:
        """Return whether the newest version says this, verbatim; one that was shortened for room said it too."""
        item = context.find(self._newest.get((block.source, block.name), ""))
        if item is None or item.text == block.framed:
            return item is not None
        return self._whole.get((block.source, block.name)) == (item.id, digest_of(block.framed))

    def _resident(self, context: Context, source: str) -> Iterator[tuple[str, Item]]:
        for (its, name), key in self._newest.items():
            item = context.find(key)
            if its == source and item is not None:
                yield name, item


def block_item(block: Block, context: Context) -> Item:
    """Return the item that a block becomes, still without number and tokens."""
    return Item(
        id="",
        kind=block.kind,
        source=block.source,
        policy=block.policy or context.budget.source(block.source).policy,
        tokens=0,
        original_tokens=0,
        text=block.framed,
        unit=0,
        turn=context.cursor.turn,
        name=block.name,
    )
