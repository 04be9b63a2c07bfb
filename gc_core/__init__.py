"""
Garbage collection for the context window of LLM agents.

What is listed in ``__all__`` is public; everything else may change with any release.
"""

from gc_core.actions import GCRemovalItem
from gc_core.budget import InstructionBudget
from gc_core.compact import compact
from gc_core.config import GCConfig
from gc_core.errors import (
    ConfigError,
    ContextOverflowError,
    GCError,
    MessageError,
    PluginError,
    RemovalError,
    RuleError,
    SessionClosedError,
    SourceError,
    TranscriptError,
    UnknownEncodingError,
    UnknownStrategyError,
)
from gc_core.events import (
    BudgetUpdated,
    CollectionDeferred,
    CollectionFailed,
    CollectionFinished,
    CollectionStarted,
    MessageRepaired,
    ThresholdCrossed,
)
from gc_core.hookspecs import hookimpl
from gc_core.items import Form, Item, ItemKind, Turn, Unit
from gc_core.messages import Request, Usage
from gc_core.nogc import NoGC
from gc_core.planning import Plan
from gc_core.plugins import Plugins
from gc_core.policy import GCPolicy
from gc_core.protocols import ContextView, GCStrategy, RegisterStrategy, TokenCounter
from gc_core.results import GCResult, GCTriggerReason, Goal, Refusal
from gc_core.session import GCSession
from gc_core.settings import load_config
from gc_core.sources import InstructionSource

__all__ = [
    "BudgetUpdated",
    "CollectionDeferred",
    "CollectionFailed",
    "CollectionFinished",
    "CollectionStarted",
    "ConfigError",
    "ContextOverflowError",
    "ContextView",
    "Form",
    "GCConfig",
    "GCError",
    "GCPolicy",
    "GCRemovalItem",
    "GCResult",
    "GCSession",
    "GCStrategy",
    "GCTriggerReason",
    "Goal",
    "InstructionBudget",
    "InstructionSource",
    "Item",
    "ItemKind",
    "MessageError",
    "MessageRepaired",
    "NoGC",
    "Plan",
    "PluginError",
    "Plugins",
    "Refusal",
    "RegisterStrategy",
    "RemovalError",
    "Request",
    "RuleError",
    "SessionClosedError",
    "SourceError",
    "ThresholdCrossed",
    "TokenCounter",
    "TranscriptError",
    "Turn",
    "Unit",
    "UnknownEncodingError",
    "UnknownStrategyError",
    "Usage",
    "compact",
    "hookimpl",
    "load_config",
]
