"""
Garbage collection for the context window of LLM agents.

What is listed in ``__all__`` is public; everything else may change with any release.
"""

from gc_core.actions import GCRemovalItem
from gc_core.adoption import adopt
from gc_core.agent_tools import AgentTools
from gc_core.async_session import AsyncGCSession
from gc_core.audit import Finding, verify
from gc_core.budget import InstructionBudget
from gc_core.cache.account import CacheReport
from gc_core.checkpoints import Checkpoint
from gc_core.compact import compact
from gc_core.config import GCConfig
from gc_core.errors import (
    ConfigError,
    ContextOverflowError,
    GCError,
    InconsistentReplyError,
    LogError,
    MessageError,
    PluginError,
    RemovalError,
    RereadLoopError,
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
    LayerChanged,
    MessageRepaired,
    ProviderCompacted,
    RateExceeded,
    RereadNoticed,
    ThresholdCrossed,
    VolatileLayer,
)
from gc_core.facts import Fact, FactKind, FactStore, Promotion
from gc_core.hookspecs import hookimpl
from gc_core.items import Form, Item, ItemKind, Turn, Unit
from gc_core.messages import Request, Usage
from gc_core.nogc import NoGC
from gc_core.past import HistoryEntry
from gc_core.plan import Plan
from gc_core.plugins import Plugins
from gc_core.policy import GCPolicy
from gc_core.protocols import (
    AsyncSummarizer,
    ContextView,
    GCStrategy,
    RegisterStrategy,
    RegisterSummarizer,
    SummarizationValidator,
    Summarizer,
    TokenCounter,
)
from gc_core.purge import purge
from gc_core.reader import SessionReader
from gc_core.references import ByteRange
from gc_core.results import GCResult, GCTriggerReason, Goal, Inconsistency, Refusal
from gc_core.search import Hit
from gc_core.session import GCSession
from gc_core.session_search import search_sessions
from gc_core.settings import load_config
from gc_core.sources import ORG, TEAM, USER, InstructionSource
from gc_core.suggestions import Suggestion, auto_expand, suggest_recall
from gc_core.summaries.extractive import ExtractiveSummarizer
from gc_core.summaries.validation import SummaryValidator
from gc_core.summary import SummaryOutcome, SummaryRequest
from gc_core.triggers import Major, Trigger, Young
from gc_core.worker import ToolResultWorker

__all__ = [  # noqa: RUF022 - in plain order, constants among the others
    "AgentTools",
    "AsyncGCSession",
    "AsyncSummarizer",
    "BudgetUpdated",
    "ByteRange",
    "CacheReport",
    "Checkpoint",
    "CollectionDeferred",
    "CollectionFailed",
    "CollectionFinished",
    "CollectionStarted",
    "ConfigError",
    "ContextOverflowError",
    "ContextView",
    "ExtractiveSummarizer",
    "Fact",
    "FactKind",
    "FactStore",
    "Finding",
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
    "HistoryEntry",
    "Hit",
    "Inconsistency",
    "InconsistentReplyError",
    "InstructionBudget",
    "InstructionSource",
    "Item",
    "ItemKind",
    "LayerChanged",
    "LogError",
    "Major",
    "MessageError",
    "MessageRepaired",
    "NoGC",
    "ORG",
    "Plan",
    "PluginError",
    "Plugins",
    "Promotion",
    "ProviderCompacted",
    "RateExceeded",
    "Refusal",
    "RegisterStrategy",
    "RegisterSummarizer",
    "RemovalError",
    "Request",
    "RereadLoopError",
    "RereadNoticed",
    "RuleError",
    "SessionClosedError",
    "SessionReader",
    "SourceError",
    "Suggestion",
    "SummarizationValidator",
    "Summarizer",
    "SummaryOutcome",
    "SummaryRequest",
    "SummaryValidator",
    "TEAM",
    "ThresholdCrossed",
    "TokenCounter",
    "ToolResultWorker",
    "TranscriptError",
    "Trigger",
    "Turn",
    "USER",
    "Unit",
    "UnknownEncodingError",
    "UnknownStrategyError",
    "Usage",
    "VolatileLayer",
    "Young",
    "adopt",
    "auto_expand",
    "compact",
    "hookimpl",
    "load_config",
    "purge",
    "search_sessions",
    "suggest_recall",
    "verify",
]
