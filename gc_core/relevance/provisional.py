"""Provisional answers: the text of a tool that continues in the background, whose result comes later."""

from __future__ import annotations

from typing import Final

from gc_core.values.items import Item, ItemKind

PROVISIONAL: Final = "[gc: {name} was started, id {call_id}, and is still running; its result comes later, by that id]"
"""
Tools that answer a call which continues in the background; each names its own id, and none of them
says anything new.
"""

STILL_RUNS: Final = PROVISIONAL.rpartition("}")[2]
"""The end of such a text, which is the same for all."""

_BEFORE_ID: Final = PROVISIONAL.partition("{name}")[2].partition("{call_id}")[0]


def promised_by(item: Item) -> str:
    """Return the id of the call whose result an item promises for later; "" if it promises none."""
    if item.kind is not ItemKind.TOOL_RESULT or not item.text.endswith(STILL_RUNS):
        return ""
    return item.text.removesuffix(STILL_RUNS).rpartition(_BEFORE_ID)[2]
