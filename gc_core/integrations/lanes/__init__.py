"""
Conversations of a framework, each with a session of its own: what every adapter stands on.

An adapter says how a message of its framework reads in a provider's shape (``MessageCodec``), which conversation a
model call belongs to (a key), and how the call is made. The rest is here.
"""

from gc_core.integrations.lanes.begun_streams import BegunStream
from gc_core.integrations.lanes.bodies import Turn, turn_in
from gc_core.integrations.lanes.codec import MessageCodec, Plain, matched_blocks
from gc_core.integrations.lanes.histories import Histories, History
from gc_core.integrations.lanes.lane import RECALL, Lane, ModelCall
from gc_core.integrations.lanes.lanes import Lanes
from gc_core.integrations.lanes.missing import needs
from gc_core.integrations.lanes.openings import REFUSALS, Opening

__all__ = [
    "RECALL",
    "REFUSALS",
    "BegunStream",
    "Histories",
    "History",
    "Lane",
    "Lanes",
    "MessageCodec",
    "ModelCall",
    "Opening",
    "Plain",
    "Turn",
    "matched_blocks",
    "needs",
    "turn_in",
]
