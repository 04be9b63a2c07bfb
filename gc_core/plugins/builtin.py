"""gc-core's own plugins, registered through the same hooks as all others."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from gc_core.plugins.checkpoint_backends import DATABASE, FOLDER, FileBackend, InMemoryBackend, SQLiteBackend
from gc_core.plugins.contract import RegisterMemoryBackend
from gc_core.plugins.hookspecs import hookimpl
from gc_core.plugins.nogc import NoGC
from gc_core.plugins.registry import ImportedLater
from gc_core.relevance.contract import RegisterProfile, RegisterScorer
from gc_core.task.contract import RegisterExtractor
from gc_core.values.config import FILES, MEMORY, SQLITE
from gc_core.values.protocols import RegisterStrategy, RegisterSummarizer


@hookimpl
def gc_register_strategies(register: RegisterStrategy) -> None:
    """Offer NoGC as ``none``."""
    register("none", NoGC)


@hookimpl
def gc_register_summarizers(register: RegisterSummarizer) -> None:
    """Offer the extract, which needs no model, and the summarizers that ask one."""
    register("extractive", _later("gc_core.summaries.extractive", "ExtractiveSummarizer"))
    register("llm", _later("gc_core.summaries.llm", "LLMSummarizer"))
    register("llm_async", _later("gc_core.summaries.llm", "AsyncLLMSummarizer"))


def _later(module: str, name: str) -> type[Any]:
    """Return a class whose module takes long to import and is seldom needed: the registry imports it on first use."""
    return cast("type[Any]", ImportedLater(module, name))


@hookimpl
def gc_register_scorers(register: RegisterScorer) -> None:
    """Offer the composite scorer."""
    from gc_core.relevance.importance import CompositeScorer

    register("composite", CompositeScorer)


@hookimpl
def gc_register_profiles(register: RegisterProfile) -> None:
    """Offer the general profile, and those for coding, research and operations."""
    from gc_core.relevance.profiles import BUILT_IN_PROFILES

    for profile in BUILT_IN_PROFILES:
        register(profile)


@hookimpl
def gc_register_memory_backends(register: RegisterMemoryBackend) -> None:
    """Offer one file per checkpoint, one SQLite file for all, and the memory of the process."""
    register(FILES, _files)
    register(SQLITE, _sqlite)
    register(MEMORY, InMemoryBackend)


def _files(directory: Path) -> FileBackend:
    """Return the backend with one file per checkpoint, in a separate folder."""
    return FileBackend(directory / FOLDER)


def _sqlite(directory: Path) -> SQLiteBackend:
    """Return the backend with one SQLite file."""
    return SQLiteBackend(directory / DATABASE)


@hookimpl
def gc_register_extractors(register: RegisterExtractor) -> None:
    """Offer the extractor that asks no model."""
    from gc_core.task.extractor import DeterministicExtractor

    register("deterministic", DeterministicExtractor)
