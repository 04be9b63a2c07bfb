"""Instruction sources: the owners of text in the window, and their default policies."""

from __future__ import annotations

import attrs

from gc_core.errors import SourceError
from gc_core.values.policy import GCPolicy
from gc_core.values.validators import above, allowing, at_least, of_kind, optional


@attrs.frozen(kw_only=True)
class InstructionSource:
    """
    A source of instructions in the window. Raises SourceError, naming the field, for a value that cannot be.

    Attributes:
        name: Unique in a session.
        policy: The default policy of its content.
        layer: Stability: 0 never changes, larger numbers change more often.
        cap: The most tokens of its content, or None.

    """

    name: str = attrs.field(
        validator=allowing(lambda name: isinstance(name, str) and bool(name), "a name", error=SourceError)
    )
    policy: GCPolicy = attrs.field(validator=of_kind(GCPolicy, "a GCPolicy", error=SourceError))
    layer: int = attrs.field(default=50, validator=at_least(0, error=SourceError))
    cap: int | None = attrs.field(default=None, validator=optional(above(0, error=SourceError)))


SYSTEM = InstructionSource(name="system", policy=GCPolicy.LOCKED, layer=0)
PLUGIN = InstructionSource(name="plugin", policy=GCPolicy.PARTIAL, layer=10)
ORG = InstructionSource(name="org", policy=GCPolicy.LOCKED, layer=20)
TEAM = InstructionSource(name="team", policy=GCPolicy.LOCKED, layer=30)
USER = InstructionSource(name="user", policy=GCPolicy.LOCKED, layer=40)
ENRICHMENT = InstructionSource(name="enrichment", policy=GCPolicy.EPHEMERAL, layer=90)
CONVERSATION = InstructionSource(name="conversation", policy=GCPolicy.PARTIAL, layer=100)

TASK_STATE = InstructionSource(name="task_state", policy=GCPolicy.LOCKED, layer=80)
"""
Holds the text of the task state, if that is wanted. LOCKED, because what it covers has left the window; an older
version is EPHEMERAL. Its text is kept within its limit, which may change with the window.
"""

STATE_NAME = "state"
"""The name of that text."""

RECALLED_NAME = "recalled"
"""
The name of the enrichment in which ``auto_expand`` brings texts back; what a collection brings back has the item's id
behind it.
"""

BUILT_IN_SOURCES = (SYSTEM, PLUGIN, ENRICHMENT, CONVERSATION)
RESERVED_SOURCES = (*BUILT_IN_SOURCES, TASK_STATE)
"""Reserved names: gc-core writes into these sources."""

READY_MADE_SOURCES = (ORG, TEAM, USER)
"""
Memory of an organisation, a team and a user: added with the first part of the system text that names one, unless the
host has registered a source of that name. Layers below that of USER are shared by all sessions.
"""
