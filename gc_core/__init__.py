"""
Garbage collection for the context window of LLM agents.

What is listed in ``__all__`` is public; everything else may change with any release.
"""

from gc_core.actions import GCRemovalItem
from gc_core.adoption import adopt
from gc_core.agent_tools import AgentTools
from gc_core.async_session import AsyncGCSession
from gc_core.audit import Finding, verify
from gc_core.backends import FileBackend, InMemoryBackend, SQLiteBackend
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
from gc_core.facts import Fact, FactKind, FactOp, FactStore, Promotion, Statement
from gc_core.hookspecs import hookimpl
from gc_core.importance import CompositeScorer, ScoringWindow
from gc_core.items import Form, Item, ItemKind, Level, Turn, Unit
from gc_core.learning.contract import FactExtractor, Stated
from gc_core.learning.extraction import WordedExtractor
from gc_core.learning.proposals import Proposal
from gc_core.leases import Lease
from gc_core.messages import Request, Usage
from gc_core.nogc import NoGC
from gc_core.past import HistoryEntry
from gc_core.plan import Plan
from gc_core.plugin_contract import ContextMiddleware, MemoryBackend, RegisterMemoryBackend
from gc_core.plugins import Plugins
from gc_core.policy import GCPolicy
from gc_core.profiles import (
    CODING_PROFILE,
    GENERAL_PROFILE,
    OPERATIONS_PROFILE,
    RESEARCH_PROFILE,
    CompressionProfile,
)
from gc_core.protocols import (
    AsyncSummarizer,
    ContextView,
    GCStrategy,
    RegisterStrategy,
    RegisterSummarizer,
    SummarizationValidator,
    Summarizer,
    WorkingSetView,
)
from gc_core.provider_contract import TokenCounter
from gc_core.purge import purge
from gc_core.quality import Recommendation, recommended_target
from gc_core.reader import SessionReader
from gc_core.references import ByteRange
from gc_core.relevance.contract import ImportanceScorer, RegisterProfile, RegisterScorer
from gc_core.request_counts import RequestCounter
from gc_core.results import ColdItem, ColdText, GCResult, GCTriggerReason, Goal, Inconsistency, Refusal
from gc_core.search import Hit
from gc_core.session import GCSession
from gc_core.session_search import search_sessions
from gc_core.settings import load_config
from gc_core.sources import ORG, TEAM, USER, InstructionSource
from gc_core.suggestions import Suggestion, auto_expand, suggest_recall
from gc_core.summaries.extractive import ExtractiveSummarizer
from gc_core.summaries.validation import SummaryValidator
from gc_core.summary import SummaryOutcome, SummaryRequest
from gc_core.task.contract import RegisterExtractor, StateExtractor
from gc_core.task.extraction import DeterministicExtractor
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
from gc_core.triggers import Hot, Major, ObjectiveChange, Spend, Steps, Trigger, Young
from gc_core.worker import ToolResultWorker
from gc_core.working_files import WorkingFile

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
    "Recommendation",
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
    "adopt",
    "auto_expand",
    "compact",
    "hookimpl",
    "load_config",
    "purge",
    "recommended_target",
    "search_sessions",
    "suggest_recall",
    "verify",
]
