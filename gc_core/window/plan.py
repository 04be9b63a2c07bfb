"""The plan of one collection: what leaves and shrinks, checked and counted, before anything has changed."""

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
        goal: What was to be reached.
        removals: The accepted proposals, with the tokens that each frees.
        refusals: The refused ones.
        edits: What carrying it out does to the window.
        tokens: Tokens of the request afterwards, what waits at its head apart.

    """

    goal: Goal
    removals: tuple[GCRemovalItem, ...]
    refusals: tuple[Refusal, ...]
    edits: Edits
    tokens: int
