"""Instruction sources: who puts text into the window, and how strongly it is held by default."""

from __future__ import annotations

import attrs

from gc_core.values.policy import GCPolicy


@attrs.frozen(kw_only=True)
class InstructionSource:
    """
    A source of instructions that occupies the window.

    Attributes:
        name: Unique in a session.
        policy: The default policy of what it holds.
        layer: Stability: 0 never changes, larger numbers change more often.
        cap: Tokens that it may hold at most, or None.

    """

    name: str = attrs.field(validator=attrs.validators.min_len(1))
    policy: GCPolicy = attrs.field(validator=attrs.validators.instance_of(GCPolicy))
    layer: int = attrs.field(default=50, validator=attrs.validators.ge(0))
    cap: int | None = attrs.field(default=None, validator=attrs.validators.optional(attrs.validators.gt(0)))


SYSTEM = InstructionSource(name="system", policy=GCPolicy.LOCKED, layer=0)
PLUGIN = InstructionSource(name="plugin", policy=GCPolicy.PARTIAL, layer=10)
ORG = InstructionSource(name="org", policy=GCPolicy.LOCKED, layer=20)
TEAM = InstructionSource(name="team", policy=GCPolicy.LOCKED, layer=30)
USER = InstructionSource(name="user", policy=GCPolicy.LOCKED, layer=40)
ENRICHMENT = InstructionSource(name="enrichment", policy=GCPolicy.EPHEMERAL, layer=90)
CONVERSATION = InstructionSource(name="conversation", policy=GCPolicy.PARTIAL, layer=100)

TASK_STATE = InstructionSource(name="task_state", policy=GCPolicy.LOCKED, layer=80)
"""
Holds the text of the task's state, where that is wanted. LOCKED, for what it tells has left the window; a version
before is EPHEMERAL. The text itself is kept within its bound, which may become another one when the window does.
"""

BUILT_IN_SOURCES = (SYSTEM, PLUGIN, ENRICHMENT, CONVERSATION)
RESERVED_SOURCES = (*BUILT_IN_SOURCES, TASK_STATE)
"""No one else may have a source of these names: gc-core writes into them."""

READY_MADE_SOURCES = (ORG, TEAM, USER)
"""Memory of an organisation, a team and a user: in a session from the first part of the system text that names one,
unless the host has registered another source of that name. Layers below that of USER are the same for everybody."""
