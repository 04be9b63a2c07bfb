"""The effect that a collection would have on the window."""

from __future__ import annotations

import attrs

from gc_core.values.results import GCResult
from gc_core.window.context import Context
from gc_core.window.plan import Plan
from gc_core.window.recalled import Recalled


@attrs.frozen(kw_only=True)
class CollectionOutcome:
    """
    The effect that a collection would have on the window: nothing changes until the session uses ``context``.

    Attributes:
        context: The window afterwards; the same object if nothing changes.
        plan: The checked removals.
        result: The result.
        of: The window that it was made for.
        recalled: What is brought back at the end of the next request.
        stale: The host acted meanwhile, so that it may not be committed any more.
        keeps_head: It breaks nothing that was sent: changes of the head keep waiting.
        renewed: Tokens of removed items that are sent again in a newer version, so they free nothing.

    """

    context: Context
    plan: Plan
    result: GCResult
    of: Context
    recalled: tuple[Recalled, ...] = ()
    stale: bool = False
    keeps_head: bool = False
    renewed: int = 0
