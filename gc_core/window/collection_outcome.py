"""What a collection would do to the window."""

from __future__ import annotations

import attrs

from gc_core.values.results import GCResult
from gc_core.window.context import Context
from gc_core.window.plan import Plan
from gc_core.window.recalled import Recalled


@attrs.frozen(kw_only=True)
class CollectionOutcome:
    """
    What a collection would do to the window: nothing has changed until the session takes ``context`` over.

    Attributes:
        context: The window afterwards; the same object as before when nothing changes.
        plan: The checked removals.
        result: What happened.
        of: The window that it was made for.
        recalled: What comes back at the end of the next request.
        stale: The host acted meanwhile, so that it may not be done any more.
        keeps_head: It breaks nothing that was sent: what waits at the head of the request waits on.
        renewed: Tokens of what left because it is told again: nothing is won by that.

    """

    context: Context
    plan: Plan
    result: GCResult
    of: Context
    recalled: tuple[Recalled, ...] = ()
    stale: bool = False
    keeps_head: bool = False
    renewed: int = 0
