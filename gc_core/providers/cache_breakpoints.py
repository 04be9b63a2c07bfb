"""How providers write breakpoints, and which blocks may carry one; the shapes are in each provider's folder."""

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
        field: The field that marks a block; one of ``MARKS``, which digests of messages ignore.
        kinds: Types of the blocks that may carry one.
        text: Type of the block that a string is converted to.
        on_head: Whether tool schemas and system blocks may carry one.
        on_replies: Whether assistant messages may.
        ours: The number of the provider's marks that we may set; the provider may set one itself.

    """

    field: str = attrs.field(validator=attrs.validators.in_(MARKS))
    kinds: frozenset[str]
    text: str = "text"
    on_head: bool = False
    on_replies: bool = False
    ours: int

    def value(self, ttl: str) -> dict[str, str]:
        """Return the field's value; ``ttl`` is included unless it is the default."""
        if self.field != "cache_control":
            return {"mode": "explicit"}
        return {"type": "ephemeral"} if ttl == FIVE_MINUTES else {"type": "ephemeral", "ttl": ttl}

    def life(self, marked: Payload) -> str:
        """Return the life that a mark requests."""
        mark = marked[self.field]
        ttl = mark.get("ttl") if isinstance(mark, Mapping) else None
        return ttl if isinstance(ttl, str) else FIVE_MINUTES

    def may_carry(self, payload: Payload, block: Payload) -> bool:
        """Return whether a block of a message may carry a mark: not thinking, empty text or unknown blocks."""
        if payload.get("role") == "assistant" and not self.on_replies:
            return False
        kind = block.get("type")
        return kind in self.kinds and (kind != self.text or bool(block.get("text")))

    def marked(self, payload: Payload, at: int, ttl: str) -> Payload:
        """Return a copy with a mark on this block of a message; -1 marks the payload itself."""
        if at < 0:
            return {**payload, self.field: self.value(ttl)}
        field = field_of(payload)
        blocks = list(self.blocks(payload))
        blocks[at] = {**blocks[at], self.field: self.value(ttl)}
        return {**payload, field: blocks}

    def blocks(self, payload: Payload) -> Sequence[Any]:
        """Return the blocks of a message; a string is one text block, an item without content has none."""
        content = payload.get(field_of(payload))
        if isinstance(content, str):
            # A result that is a string, in an item without a role, has no block to mark, and is not converted.
            return [{"type": self.text, "text": content}] if content and "role" in payload else []
        return content if isinstance(content, list | tuple) else ()


def field_of(payload: Payload) -> str:
    """Return the field in which a message has its blocks."""
    return next((field for field in NESTED if field in payload), NESTED[0])
