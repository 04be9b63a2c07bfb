"""Moves a caller's own breakpoint when the message that carried it is not sent unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gc_core.providers import provider_named
from gc_core.providers.cache_breakpoints import MarkShape
from gc_core.values.json_values import objects
from gc_core.values.messages import Payload


def mark_moved(messages: Sequence[Payload], marked: Payload, format_name: str) -> list[Payload]:
    """
    Return the messages with the breakpoint of another message on the last block that can carry it; a block that has
    one keeps its own. Returns them unchanged if no block can carry one.
    """
    moved = list(messages)
    for shape in provider_named(format_name).breakpoints:
        life = _life_in(marked, shape)
        place = next(_markable(moved, shape), None) if life else None
        if place is None:
            continue
        number, at = place
        if shape.field not in shape.blocks(moved[number])[at]:
            moved[number] = shape.marked(moved[number], at, life)
        return moved
    return moved


def _markable(messages: Sequence[Payload], shape: MarkShape) -> Iterator[tuple[int, int]]:
    """Blocks that can carry a breakpoint, by message and block number, the last first."""
    for number in range(len(messages) - 1, -1, -1):
        blocks = shape.blocks(messages[number])
        for at in range(len(blocks) - 1, -1, -1):
            if shape.may_carry(messages[number], blocks[at]):
                yield number, at


def _life_in(payload: Payload, shape: MarkShape) -> str:
    """Return the life that the last breakpoint in a message asks for, or ""."""
    found = [shape.life(block) for block in objects(payload) if shape.field in block]
    return found[-1] if found else ""
