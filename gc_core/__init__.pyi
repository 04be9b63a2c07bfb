# The public names, as type checkers and editors read them; ``__init__.py`` imports each when it is first used.

from gc_core.cache.account import CacheReport
from gc_core.errors import ConfigError, ContextOverflowError, GCError, PluginError
from gc_core.plugins.contract import ContextMiddleware, MemoryBackend
from gc_core.plugins.hookspecs import hookimpl
from gc_core.plugins.manager import Plugins
from gc_core.plugins.nogc import NoGC
from gc_core.providers.contract import TokenCounter
from gc_core.relevance.contract import ImportanceScorer
from gc_core.relevance.profiles import CompressionProfile
from gc_core.session.async_session import AsyncGCSession
from gc_core.session.compact import compact
from gc_core.session.config_loading import load_config
from gc_core.session.reader import SessionReader
from gc_core.session.session import GCSession
from gc_core.session.subtasks.lease import Lease
from gc_core.storage.checkpoints import Checkpoint
from gc_core.storage.history import HistoryEntry
from gc_core.storage.search import Hit
from gc_core.storage.search.sessions import search_sessions
from gc_core.task.contract import StateExtractor
from gc_core.task.values import Constraint
from gc_core.values.config import GCConfig
from gc_core.values.items import Form, Item, ItemKind, Level, Turn, Unit
from gc_core.values.messages import Request, Usage
from gc_core.values.policy import GCPolicy
from gc_core.values.protocols import (
    AsyncSummarizer,
    ContextView,
    GCStrategy,
    RegisterStrategy,
    SummarizationValidator,
    Summarizer,
)
from gc_core.values.references import ByteRange
from gc_core.values.removals import GCRemovalItem
from gc_core.values.results import ColdItem, GCResult, GCTriggerReason, Goal, Inconsistency, Refusal
from gc_core.values.sources import ORG, TEAM, USER, InstructionSource
from gc_core.values.summary import SummaryOutcome, SummaryRequest
from gc_core.values.triggers import Hot, Major, ObjectiveChange, Spend, Steps, Trigger, Young
from gc_core.values.validators import percent
from gc_core.values.working_files import WorkingFile
from gc_core.window.budget import InstructionBudget
from gc_core.window.plan import Plan

__all__ = [  # noqa: RUF022 - in plain order, constants among the others
    "AsyncGCSession",
    "AsyncSummarizer",
    "ByteRange",
    "CacheReport",
    "Checkpoint",
    "ColdItem",
    "CompressionProfile",
    "ConfigError",
    "Constraint",
    "ContextMiddleware",
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
    "HistoryEntry",
    "Hit",
    "Hot",
    "ImportanceScorer",
    "Inconsistency",
    "InstructionBudget",
    "InstructionSource",
    "Item",
    "ItemKind",
    "Lease",
    "Level",
    "Major",
    "MemoryBackend",
    "NoGC",
    "ORG",
    "ObjectiveChange",
    "Plan",
    "PluginError",
    "Plugins",
    "Refusal",
    "RegisterStrategy",
    "Request",
    "SessionReader",
    "Spend",
    "StateExtractor",
    "Steps",
    "SummarizationValidator",
    "Summarizer",
    "SummaryOutcome",
    "SummaryRequest",
    "TEAM",
    "TokenCounter",
    "Trigger",
    "Turn",
    "USER",
    "Unit",
    "Usage",
    "WorkingFile",
    "Young",
    "compact",
    "hookimpl",
    "load_config",
    "percent",
    "search_sessions",
]
