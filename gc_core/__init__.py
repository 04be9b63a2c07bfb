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
from gc_core.sources import InstructionSource
from gc_core.suggestions import Suggestion, auto_expand, suggest_recall
from gc_core.summaries.extractive import ExtractiveSummarizer
from gc_core.summaries.validation import SummaryValidator
from gc_core.summary import SummaryOutcome, SummaryRequest

__all__ = [
    "AgentTools",
    "AsyncGCSession",
    "AsyncSummarizer",
    "BudgetUpdated",
    "ByteRange",
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
    "LogError",
    "MessageError",
    "MessageRepaired",
    "NoGC",
    "Plan",
    "PluginError",
    "Plugins",
    "Promotion",
    "Refusal",
    "RegisterStrategy",
    "RegisterSummarizer",
    "RemovalError",
    "Request",
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
    "ThresholdCrossed",
    "TokenCounter",
    "TranscriptError",
    "Turn",
    "Unit",
    "UnknownEncodingError",
    "UnknownStrategyError",
    "Usage",
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
