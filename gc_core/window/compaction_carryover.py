"""
Keeps protected content after a provider's compaction.

The provider reads nothing before its compaction. Content that the host or the session holds there (LOCKED or pinned
texts, the newest memory blocks) is therefore sent again, as framed texts at the end of the next request, so that
the model still reads it verbatim.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from gc_core.values.items import Item, ItemKind
from gc_core.values.messages import Message
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import ENRICHMENT
from gc_core.window.context import Context
from gc_core.window.memory_blocks import Block, Blocks

_BLOCKS: Final = frozenset({ItemKind.ENRICHMENT, ItemKind.MEMORY_BLOCK})
_TEXTS: Final = frozenset({ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT, ItemKind.SYSTEM_TEXT, ItemKind.TOOL_RESULT})


def carried(
    context: Context, blocks: Blocks, pinned_turns: Collection[int], kept: Sequence[Message] = ()
) -> tuple[Block, ...]:
    """
    Return blocks with the held content of the window's messages, in their order; named by their items. What the
    ``kept`` messages, which stay in the window, say is not repeated.
    """
    newest, said = frozenset(blocks.newest.values()), {item.text for message in kept for item in message.items}
    return tuple(
        block
        for message in context.messages
        for item in message.items
        if item.text not in said
        for block in _block(item, newest, is_held=_is_held(item, pinned_turns))
    )


def moved(context: Context, blocks: Blocks, leaving: Collection[str]) -> tuple[Block, ...]:
    """Return the newest memory blocks and enrichments among the items that leave, to be placed again at the end."""
    newest = frozenset(blocks.newest.values())
    return tuple(
        Block(source=item.source, name=item.name, text=_unframed(item.text), kind=item.kind, policy=item.policy)
        for message in context.messages
        for item in message.items
        if item.id in leaving and item.id in newest and item.kind in _BLOCKS
    )


def _is_held(item: Item, pinned_turns: Collection[int]) -> bool:
    return item.policy is GCPolicy.LOCKED or item.pinned or item.turn in pinned_turns


def _block(item: Item, newest: Collection[str], *, is_held: bool) -> Iterator[Block]:
    if item.kind in _BLOCKS and item.id in newest and (is_held or item.kind is ItemKind.MEMORY_BLOCK):
        policy = GCPolicy.LOCKED if is_held else item.policy
        yield Block(source=item.source, name=item.name, text=_unframed(item.text), kind=item.kind, policy=policy)
    elif item.kind in _TEXTS and is_held and not item.synthetic and item.text.strip():
        kind = ItemKind.ENRICHMENT
        yield Block(source=ENRICHMENT.name, name=item.id, text=item.text, kind=kind, policy=GCPolicy.LOCKED)


def _unframed(text: str) -> str:
    """Return the text inside a block's frame, which has a separate line on either side."""
    return text.partition("\n")[2].rpartition("\n")[0]
