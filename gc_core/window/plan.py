"""The plan of one collection: removals, checked and counted, before anything has changed."""

from __future__ import annotations

import attrs

from gc_core.values.removals import GCRemovalItem
from gc_core.values.results import Goal, Refusal
from gc_core.window.context import Edits


@attrs.frozen(kw_only=True)
class Plan:
    """
    The checked removals of one collection, before anything has changed.

    Attributes:
        goal: The goal.
        removals: The accepted proposals, with the tokens that each frees.
        refusals: The refused proposals.
        edits: The edits of the window.
        tokens: Tokens of the request afterwards, without waiting changes of its head.

    """

    goal: Goal
    removals: tuple[GCRemovalItem, ...]
    refusals: tuple[Refusal, ...]
    edits: Edits
    tokens: int
