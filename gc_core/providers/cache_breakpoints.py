"""How a provider writes a breakpoint, and which blocks may carry one; the shapes are in each provider's folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from gc_core.values.config import FIVE_MINUTES
from gc_core.values.messages import MARKS, NESTED, Payload


@attrs.frozen(kw_only=True)
class MarkShape:
    """
    How one provider writes a breakpoint.

    Attributes:
        field: The field that makes a block a mark; one of ``MARKS``, which no digest of a message counts.
        kinds: Types of the blocks that may carry one.
        text: Type of the block that a string becomes.
        on_head: Whether tool schemas and system blocks may carry one.
        on_replies: Whether an assistant message may.
        ours: How many of the provider's marks are ours to set; it may set one itself.

    """

    field: str = attrs.field(validator=attrs.validators.in_(MARKS))
    kinds: frozenset[str]
    text: str = "text"
    on_head: bool = False
    on_replies: bool = False
    ours: int

    def value(self, ttl: str) -> dict[str, str]:
        """Return what the field holds; ``ttl`` is said where it is not the default."""
        if self.field != "cache_control":
            return {"mode": "explicit"}
        return {"type": "ephemeral"} if ttl == FIVE_MINUTES else {"type": "ephemeral", "ttl": ttl}

    def life(self, marked: Payload) -> str:
        """Return the life that a mark asks for."""
        mark = marked[self.field]
        ttl = mark.get("ttl") if isinstance(mark, Mapping) else None
        return ttl if isinstance(ttl, str) else FIVE_MINUTES

    def may_carry(self, payload: Payload, block: Payload) -> bool:
        """
        Return whether a block of a message may carry a mark: none on thinking, on empty text, on
        what is not known.
        """
        if payload.get("role") == "assistant" and not self.on_replies:
            return False
        kind = block.get("type")
        return kind in self.kinds and (kind != self.text or bool(block.get("text")))

    def marked(self, payload: Payload, at: int, ttl: str) -> Payload:
        """Return a copy with a mark at this block of a message; -1 marks the payload itself."""
        if at < 0:
            return {**payload, self.field: self.value(ttl)}
        field = field_of(payload)
        blocks = list(self.blocks(payload))
        blocks[at] = {**blocks[at], self.field: self.value(ttl)}
        return {**payload, field: blocks}

    def blocks(self, payload: Payload) -> Sequence[Any]:
        """Return the blocks of a message; a string is one text block, an item without content none."""
        content = payload.get(field_of(payload))
        if isinstance(content, str):
            # A result that is a string, in an item without a role, has no block to be marked, and is not made one.
            return [{"type": self.text, "text": content}] if content and "role" in payload else []
        return content if isinstance(content, list | tuple) else ()


def field_of(payload: Payload) -> str:
    """Return where a message holds its blocks."""
    return next((field for field in NESTED if field in payload), NESTED[0])
