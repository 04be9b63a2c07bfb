"""
A reply that builds on what a summary invented: noticed without a model, from the log.

A summary stands for originals that the log still holds. A name or number that a reply uses, that a summary in the
window tells, and that none of its originals says, is contradicted by the log: the summary went wrong, or somebody
changed it, and the reply believed it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from gc_core.plugins.hookspecs import hookimpl
from gc_core.summaries.inventions import invented
from gc_core.values.items import Item, ItemKind
from gc_core.values.protocols import ContextView
from gc_core.values.results import Inconsistency

_MOST = 5
_CALLED = re.compile(r'"(?:name|id|tool_call_id|call_id)": ?"[^"]*"')  # names of tools are no part of what was said


@attrs.frozen
class ContradictionCheck:
    """
    A plugin that finds a reply inconsistent when it uses a name or number which a summary tells and the log does not.

    Register it with the session's plugins; what follows is ``recovery_strategy``. Reads originals only where a reply
    repeats something of a summary.
    """

    @hookimpl
    def gc_validate_reply(
        self, reply: Mapping[str, Any], context: ContextView, recall: Callable[[str], str]
    ) -> Inconsistency | None:
        """The first summary that the reply believed against the log, and what it is about."""
        said = _CALLED.sub(" ", json.dumps(reply, ensure_ascii=False))
        shown = [item for unit in context.units for item in unit.items]
        for item in shown:
            if item.kind is ItemKind.SUMMARY and item.reference is not None:
                wrong = list(_believed(item, said, shown, recall))
                if wrong:
                    named = ", ".join(map(repr, wrong[:_MOST]))
                    reason = f"the summary {item.id} tells {named}, which nothing that it stands for says"
                    return Inconsistency(reason=reason, items=())
        return None


def _believed(summary: Item, said: str, shown: list[Item], recall: Callable[[str], str]) -> Iterator[str]:
    """What the reply has from the summary alone."""
    elsewhere = "\n".join(item.text for item in shown if item is not summary)
    new = [name for name in invented(summary.text, [elsewhere]) if name in said]
    if new and summary.reference is not None:
        span = f"{summary.reference.first}-{summary.reference.last}"
        yield from (name for name in invented(" ".join(new), [recall(span)]) if name in new)
