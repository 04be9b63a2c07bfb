"""What gc-core offers itself, through the same door as every plugin."""

from __future__ import annotations

from gc_core.hookspecs import hookimpl
from gc_core.nogc import NoGC
from gc_core.protocols import RegisterStrategy, RegisterSummarizer
from gc_core.summaries.extractive import ExtractiveSummarizer
from gc_core.summaries.llm import AsyncLLMSummarizer, LLMSummarizer


@hookimpl
def gc_register_strategies(register: RegisterStrategy) -> None:
    """Offer NoGC as ``none``."""
    register("none", NoGC)


@hookimpl
def gc_register_summarizers(register: RegisterSummarizer) -> None:
    """Offer the extract, which needs no model, and the summarizers that ask one."""
    register("extractive", ExtractiveSummarizer)
    register("llm", LLMSummarizer)
    register("llm_async", AsyncLLMSummarizer)
