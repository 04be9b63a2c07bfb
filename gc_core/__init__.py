"""
Garbage collection for the context window of LLM agents.

The names that a host or a strategy writes are here; everything else is imported from its room, for example
``gc_core.events``.
A name is imported from its room when it is first used, so that a bare ``import gc_core`` costs next to nothing.
"""

import importlib

_ROOMS = {
    "gc_core.cache.account": ("CacheReport",),
    "gc_core.errors": (
        "ConfigError",
        "ContextOverflowError",
        "GCError",
        "PluginError",
    ),
    "gc_core.plugins.contract": (
        "ContextMiddleware",
        "MemoryBackend",
    ),
    "gc_core.plugins.hookspecs": ("hookimpl",),
    "gc_core.plugins.manager": ("Plugins",),
    "gc_core.plugins.nogc": ("NoGC",),
    "gc_core.providers.contract": ("TokenCounter",),
    "gc_core.relevance.contract": ("ImportanceScorer",),
    "gc_core.relevance.profiles": ("CompressionProfile",),
    "gc_core.session.async_session": ("AsyncGCSession",),
    "gc_core.session.compact": ("compact",),
    "gc_core.session.config_loading": ("load_config",),
    "gc_core.session.reader": ("SessionReader",),
    "gc_core.session.session": ("GCSession",),
    "gc_core.session.subtasks.lease": ("Lease",),
    "gc_core.storage.checkpoints": ("Checkpoint",),
    "gc_core.storage.history": ("HistoryEntry",),
    "gc_core.storage.search": ("Hit",),
    "gc_core.storage.search.sessions": ("search_sessions",),
    "gc_core.task.contract": ("StateExtractor",),
    "gc_core.task.values": ("Constraint",),
    "gc_core.values.config": ("GCConfig",),
    "gc_core.values.items": (
        "Form",
        "Item",
        "ItemKind",
        "Level",
        "Turn",
        "Unit",
    ),
    "gc_core.values.messages": (
        "Request",
        "Usage",
    ),
    "gc_core.values.policy": ("GCPolicy",),
    "gc_core.values.protocols": (
        "AsyncSummarizer",
        "ContextView",
        "GCStrategy",
        "RegisterStrategy",
        "SummarizationValidator",
        "Summarizer",
    ),
    "gc_core.values.references": ("ByteRange",),
    "gc_core.values.removals": ("GCRemovalItem",),
    "gc_core.values.results": (
        "ColdItem",
        "GCResult",
        "GCTriggerReason",
        "Goal",
        "Inconsistency",
        "Refusal",
    ),
    "gc_core.values.sources": (
        "InstructionSource",
        "ORG",
        "TEAM",
        "USER",
    ),
    "gc_core.values.summary": (
        "SummaryOutcome",
        "SummaryRequest",
    ),
    "gc_core.values.triggers": (
        "Hot",
        "Major",
        "ObjectiveChange",
        "Spend",
        "Steps",
        "Trigger",
        "Young",
    ),
    "gc_core.values.validators": ("percent",),
    "gc_core.values.working_files": ("WorkingFile",),
    "gc_core.window.budget": ("InstructionBudget",),
    "gc_core.window.plan": ("Plan",),
}
"""The public names by the module that defines each; ``__init__.pyi`` says the same to type checkers."""

_HOMES = {name: module for module, names in _ROOMS.items() for name in names}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - __init__.pyi has the list


def __getattr__(name: str) -> object:
    """Import a public name from its room. Raises AttributeError for any other."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
