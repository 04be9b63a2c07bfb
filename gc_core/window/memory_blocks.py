"""
Named texts of a source (enrichment, memory blocks): the newest version is at the end of a request,
and stays there.
"""

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
from gc_core.values.sources import ENRICHMENT, RECALLED_NAME, TASK_STATE

if TYPE_CHECKING:  # the ledger is read without a window
    from gc_core.providers.contract import TokenCounter
    from gc_core.window.context import Context

_Key = tuple[str, str]

CLOSING = "\n</context>"
"""The closing line of a block's frame."""

_CLOSING = regex(r"<(\s*/\s*context)", re.IGNORECASE)


@attrs.frozen(kw_only=True)
class Block:
    """
    A text that is, or will be, at the end of a request.

    Attributes:
        source: Name of its source.
        name: Its name in the source: only the newest version of a name counts.
        text: Its text.
        kind: Enrichment or a memory block.
        policy: Its policy, if not the source's: it is kept after a compaction.

    """

    source: str
    name: str
    text: str
    kind: ItemKind
    policy: GCPolicy | None = None

    @property
    def is_quote(self) -> bool:
        """Whether gc-core made it from the log: the task state, or what it recalled."""
        return self.source == TASK_STATE.name or (
            self.source == ENRICHMENT.name and self.name.partition(" ")[0] == RECALLED_NAME
        )

    @property
    def framed(self) -> str:
        """The text that is sent; neither text nor name can close the frame (rule A9)."""
        inner = _CLOSING.sub(r"<\\\1", self.text)
        check = f' check="{check_of(inner)}"' if self.source == TASK_STATE.name else ""
        names = f'source="{html.escape(self.source)}" name="{html.escape(self.name)}"'
        return f"<context {names}{check}>\n{inner}{CLOSING}"


class Blocks:
    """
    The blocks that wait, and the newest version of each.

    A version that was sent stays where it is; the next one goes to the new end, and the old one becomes EPHEMERAL.
    """

    def __init__(self, waiting: Iterable[Block] = (), newest: Mapping[_Key, str] | None = None) -> None:
        self._waiting: dict[_Key, Block] = {(block.source, block.name): block for block in waiting}
        self._newest: dict[_Key, str] = dict(newest or {})
        self._whole: dict[_Key, tuple[str, bytes]] = {}  # item and text of placed blocks, which may be shortened later

    @property
    def waiting(self) -> tuple[Block, ...]:
        """The blocks at the end of the next request."""
        return tuple(self._waiting.values())

    @property
    def given(self) -> tuple[Block, ...]:
        """Those that the host gave; the rest is in the log, and is kept after a compaction."""
        return tuple(block for block in self.waiting if block.policy is None)

    @property
    def newest(self) -> Mapping[_Key, str]:
        """Id of the item with the newest version, by source and name."""
        return self._newest

    def give(
        self, context: Context, source: str, texts: Mapping[str, str], kind: ItemKind, counter: TokenCounter
    ) -> None:
        """
        Set new versions in place of those that still wait; one that is already in the window, verbatim, is not sent
        again, and an empty one never.

        Raises SourceError for an unknown source, for anything but text, and when the source's newest versions would
        exceed its cap.
        """
        for name, text in texts.items():
            if not isinstance(text, str):
                raise SourceError(f"{source} {name} = {text!r:.200}: expected a text")
        blocks = [Block(source=source, name=name, text=text, kind=kind) for name, text in texts.items()]
        self.check_cap(context, source, counter, blocks)
        for block in blocks:
            self._waiting.pop((source, block.name), None)
            if block.text.strip() and not self.is_current(context, block):
                self._waiting[source, block.name] = block

    def forget_quotes(self) -> None:
        """Let nothing wait that gc-core quotes from the log: part of the log was taken back."""
        self._waiting = {key: block for key, block in self._waiting.items() if not block.is_quote}

    def carry(self, blocks: Iterable[Block]) -> None:
        """Let these wait again, unless a newer version does."""
        for block in blocks:
            self._waiting.setdefault((block.source, block.name), block)

    def recall(self, context: Context, blocks: Iterable[Block]) -> None:
        """Let blocks that a collection brings back wait too, unless it is still in the window."""
        self.carry(block for block in blocks if not self.is_current(context, block))

    def withdraw(self, blocks: Iterable[Block]) -> None:
        """Withdraw the blocks that an undone collection would bring back; those already in the window stay."""
        for block in blocks:
            if self._waiting.get((block.source, block.name)) == block:
                del self._waiting[block.source, block.name]

    def taken_back(self, context: Context, source: str, name: str) -> None:
        """Note that the newest version left the window unread: the previous one counts again, if any."""
        self._newest.pop((source, name), None)
        versions = (item for item in context.items() if (item.source, item.name) == (source, name) and item.turn >= 0)
        before = max(versions, key=lambda item: number_of(item.id), default=None)
        if before is None:
            return
        self._newest[source, name] = before.id
        if before.policy is GCPolicy.EPHEMERAL:
            context.set_policy(before.id, context.budget.source(source).policy)

    def placed(self, context: Context, item: Item) -> None:
        """Note that a block has become this item; the previous version is stale."""
        key = (item.source, item.name)
        stale = self._newest.get(key, "")
        if context.find(stale) is not None:
            context.set_policy(stale, GCPolicy.EPHEMERAL)
        self._newest[key] = item.id
        self._whole[key] = item.id, digest_of(item.text)
        self._waiting.pop(key, None)

    def came_back(self, context: Context, items: Iterable[str]) -> None:
        """Note that these items are back: a version that was current when it left is stale next to a newer one."""
        for key in items:
            item = context.find(key)
            newest = "" if item is None else self._newest.get((item.source, item.name), "")
            if newest != key and context.find(newest) is not None:
                context.set_policy(key, GCPolicy.EPHEMERAL)

    def check_cap(self, context: Context, source: str, counter: TokenCounter, blocks: Iterable[Block] = ()) -> None:
        """
        Raise SourceError when a source with these blocks would exceed its cap, including its system text. Stale
        versions do not count: they leave with the next collection.
        """
        cap = context.budget.source(source).cap
        if cap is None:
            return
        texts = {name: item.text for name, item in self._resident(context, source)}
        texts.update({block.name: block.framed for key, block in self._waiting.items() if key[0] == source})
        texts.update({block.name: block.framed for block in blocks})
        held = sum(map(counter.count, texts.values())) + context.system_tokens(source)
        if held > cap:
            raise SourceError(f"source {source!r} would have {held:,} tokens; its cap is {cap:,}")

    def is_current(self, context: Context, block: Block) -> bool:
        """Return whether the newest version has this text, verbatim, even if it was shortened."""
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
    """Return the item of a block, still without number and tokens."""
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
