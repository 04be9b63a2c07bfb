"""
Garbage collection for the context window of LLM agents.

What is listed in ``__all__`` is public; everything else may change with any release.
"""

from gc_core.cache.account import CacheReport
from gc_core.collector.request_counts import RequestCounter
from gc_core.errors import (
    ConfigError,
    ContextOverflowError,
    GCError,
    InconsistentReplyError,
    LeaseError,
    LogError,
    MemoryFileError,
    MessageError,
    PluginError,
    RemovalError,
    RereadLoopError,
    RuleError,
    SessionClosedError,
    SourceError,
    SpendLimitError,
    StateError,
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
    SpendNotice,
    StateCut,
    ThresholdCrossed,
    VolatileLayer,
)
from gc_core.integrations.agent_tools import AgentTools
from gc_core.integrations.tool_worker import ToolResultWorker
from gc_core.learning.contract import FactExtractor, Stated
from gc_core.learning.extraction import WordedExtractor
from gc_core.learning.proposals import Proposal
from gc_core.plugins.checkpoint_backends import FileBackend, InMemoryBackend, SQLiteBackend
from gc_core.plugins.contract import ContextMiddleware, MemoryBackend, RegisterMemoryBackend
from gc_core.plugins.hookspecs import hookimpl
from gc_core.plugins.manager import Plugins
from gc_core.plugins.nogc import NoGC
from gc_core.providers.contract import TokenCounter
from gc_core.relevance.contract import ImportanceScorer, RegisterProfile, RegisterScorer
from gc_core.relevance.importance import CompositeScorer, ScoringWindow
from gc_core.relevance.profiles import (
    CODING_PROFILE,
    GENERAL_PROFILE,
    OPERATIONS_PROFILE,
    RESEARCH_PROFILE,
    CompressionProfile,
)
from gc_core.session.async_session import AsyncGCSession
from gc_core.session.compact import compact
from gc_core.session.config_loading import load_config
from gc_core.session.reader import SessionReader
from gc_core.session.recall_suggestions import Suggestion, auto_expand, suggest_recall
from gc_core.session.session import GCSession
from gc_core.session.subtasks.leases import Lease
from gc_core.session.timeline import HistoryEntry
from gc_core.storage.audit import Finding, verify
from gc_core.storage.checkpoints import Checkpoint
from gc_core.storage.facts import Fact, FactKind, FactOp, FactStore, Promotion, Statement
from gc_core.storage.purge import purge
from gc_core.storage.search import Hit
from gc_core.storage.search.sessions import search_sessions
from gc_core.summaries.extractive import ExtractiveSummarizer
from gc_core.summaries.validation import SummaryValidator
from gc_core.task.contract import RegisterExtractor, StateExtractor
from gc_core.task.extractor import DeterministicExtractor
from gc_core.task.llm import LLMStateExtractor
from gc_core.task.values import (
    Constraint,
    Decision,
    EntityState,
    ErrorPattern,
    OpenQuestion,
    Reason,
    Relation,
    Resolution,
    SubGoal,
    TaskState,
    ToolStats,
)
from gc_core.values.config import GCConfig
from gc_core.values.items import Form, Item, ItemKind, Level, Turn, Unit
from gc_core.values.messages import Request, Usage
from gc_core.values.policy import GCPolicy
from gc_core.values.protocols import (
    AsyncSummarizer,
    ContextView,
    GCStrategy,
    RegisterStrategy,
    RegisterSummarizer,
    SummarizationValidator,
    Summarizer,
    WorkingSetView,
)
from gc_core.values.references import ByteRange
from gc_core.values.removals import GCRemovalItem
from gc_core.values.results import ColdItem, ColdText, GCResult, GCTriggerReason, Goal, Inconsistency, Refusal
from gc_core.values.sources import ORG, TEAM, USER, InstructionSource
from gc_core.values.summary import SummaryOutcome, SummaryRequest
from gc_core.values.triggers import Hot, Major, ObjectiveChange, Spend, Steps, Trigger, Young
from gc_core.values.working_files import WorkingFile
from gc_core.window.budget import InstructionBudget
from gc_core.window.plan import Plan

__all__ = [  # noqa: RUF022 - in plain order, constants among the others
    "AgentTools",
    "AsyncGCSession",
    "AsyncSummarizer",
    "BudgetUpdated",
    "ByteRange",
    "CODING_PROFILE",
    "CacheReport",
    "Checkpoint",
    "ColdItem",
    "ColdText",
    "CollectionDeferred",
    "CollectionFailed",
    "CollectionFinished",
    "CollectionStarted",
    "CompositeScorer",
    "CompressionProfile",
    "ConfigError",
    "Constraint",
    "ContextMiddleware",
    "ContextOverflowError",
    "ContextView",
    "Decision",
    "DeterministicExtractor",
    "EntityState",
    "ErrorPattern",
    "ExtractiveSummarizer",
    "Fact",
    "FactExtractor",
    "FactKind",
    "FactOp",
    "FactStore",
    "FileBackend",
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
    "GENERAL_PROFILE",
    "Goal",
    "HistoryEntry",
    "Hit",
    "Hot",
    "ImportanceScorer",
    "InMemoryBackend",
    "Inconsistency",
    "InconsistentReplyError",
    "InstructionBudget",
    "InstructionSource",
    "Item",
    "ItemKind",
    "LLMStateExtractor",
    "LayerChanged",
    "Lease",
    "LeaseError",
    "Level",
    "LogError",
    "Major",
    "MemoryBackend",
    "MemoryFileError",
    "MessageError",
    "MessageRepaired",
    "NoGC",
    "OPERATIONS_PROFILE",
    "ORG",
    "ObjectiveChange",
    "OpenQuestion",
    "Plan",
    "PluginError",
    "Plugins",
    "Promotion",
    "Proposal",
    "ProviderCompacted",
    "RESEARCH_PROFILE",
    "RateExceeded",
    "Reason",
    "Refusal",
    "RegisterExtractor",
    "RegisterMemoryBackend",
    "RegisterProfile",
    "RegisterScorer",
    "RegisterStrategy",
    "RegisterSummarizer",
    "Relation",
    "RemovalError",
    "Request",
    "RequestCounter",
    "RereadLoopError",
    "RereadNoticed",
    "Resolution",
    "RuleError",
    "SQLiteBackend",
    "ScoringWindow",
    "SessionClosedError",
    "SessionReader",
    "SourceError",
    "Spend",
    "SpendLimitError",
    "SpendNotice",
    "StateCut",
    "StateError",
    "StateExtractor",
    "Stated",
    "Statement",
    "Steps",
    "SubGoal",
    "Suggestion",
    "SummarizationValidator",
    "Summarizer",
    "SummaryOutcome",
    "SummaryRequest",
    "SummaryValidator",
    "TEAM",
    "TaskState",
    "ThresholdCrossed",
    "TokenCounter",
    "ToolResultWorker",
    "ToolStats",
    "TranscriptError",
    "Trigger",
    "Turn",
    "USER",
    "Unit",
    "UnknownEncodingError",
    "UnknownStrategyError",
    "Usage",
    "VolatileLayer",
    "WordedExtractor",
    "WorkingFile",
    "WorkingSetView",
    "Young",
    "auto_expand",
    "compact",
    "hookimpl",
    "load_config",
    "purge",
    "search_sessions",
    "suggest_recall",
    "verify",
]
