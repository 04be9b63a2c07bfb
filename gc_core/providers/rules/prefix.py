"""Compares two requests in cacheable form: a string is one text block, and cache marks do not count."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Mapping, Sequence

from gc_core.values.messages import MARKED_LEVELS, MARKS, NESTED, Payload, Request

_TEXTS = frozenset({"input_text", "output_text"})
"""The types of text blocks in Responses; the role decides which of them a string is."""


def first_change(before: Request, after: Request) -> int | None:
    """Return the index of the first changed message, -1 if system or tools changed, None if nothing did."""
    if not (_all_same(before.system, after.system) and _all_same(before.tools, after.tools)):
        return -1
    others = itertools.compress(itertools.count(), map(operator.is_not, before.messages, after.messages))
    for index in others:  # most messages are the same objects in both
        if not same(before.messages[index], after.messages[index]):
            return index
    shorter = min(len(before.messages), len(after.messages))
    return None if len(before.messages) == len(after.messages) else shorter


def _all_same(before: Sequence[Payload], after: Sequence[Payload]) -> bool:
    return len(before) == len(after) and all(same(old, new) for old, new in zip(before, after, strict=True))


def same(old: Payload, new: Payload) -> bool:
    """Return whether both are equal in cacheable form: a string is one text block, and cache marks do not count."""
    return old is new or old == new or _cacheable(old) == _cacheable(new)


def _cacheable(payload: Payload, levels: int = MARKED_LEVELS) -> dict[str, object]:
    plain = {key: value for key, value in payload.items() if key not in MARKS}
    if plain.get("type") in _TEXTS:
        plain["type"] = "text"
    for field in NESTED if levels else ():
        content = plain.get(field)
        if isinstance(content, list):
            plain[field] = [_cacheable(block, levels - 1) if isinstance(block, Mapping) else block for block in content]
        elif isinstance(content, str) and field == "content":
            plain[field] = [{"type": "text", "text": content}]
    return plain
