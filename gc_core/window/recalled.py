"""A collected item that is brought back."""

from __future__ import annotations

from typing import Final

import attrs

from gc_core.values.items import ItemKind
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import ENRICHMENT, RECALLED_NAME
from gc_core.window.memory_blocks import Block

RECALLED: Final = f"{RECALLED_NAME} "
"""The prefix of the names of enrichment that a collection brought back."""


@attrs.frozen(kw_only=True)
class Recalled:
    """
    A collected item that is brought back, as enrichment at the end of the next request.

    Attributes:
        item: Its id.
        text: The text, without the frame of enrichment.
        tokens: Its tokens there, including frame and message.

    """

    item: str
    text: str = attrs.field(repr=False)
    tokens: int

    @property
    def block(self) -> Block:
        """The block that waits for the end of the next request."""
        return Block(
            source=ENRICHMENT.name,
            name=f"{RECALLED}{self.item}",
            text=self.text,
            kind=ItemKind.ENRICHMENT,
            policy=GCPolicy.EPHEMERAL,
        )
