"""
The hooks through which a plugin takes part.

No result depends on the order of plugins, except in the two chains, ``gc_process_message`` and ``gc_redact``, where
each plugin sees the previous one's result. Registering hooks are historic: a plugin is called when it is registered,
however late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from gc_core.plugins.contract import RegisterMemoryBackend
    from gc_core.relevance.contract import RegisterProfile, RegisterScorer
    from gc_core.task.contract import RegisterExtractor
    from gc_core.values.items import Item
    from gc_core.values.messages import Request
    from gc_core.values.policy import GCPolicy
    from gc_core.values.protocols import ContextView, RegisterStrategy, RegisterSummarizer
    from gc_core.values.results import ColdItem, GCResult, Goal, Inconsistency, Refusal
    from gc_core.values.sources import InstructionSource
    from gc_core.values.summary import SummaryRequest
    from gc_core.window.budget import InstructionBudget
    from gc_core.window.plan import Plan

PROJECT = "gc_core"
"""The pluggy project, and the entry-point group; each entry point names a module with ``@hookimpl`` functions."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec(historic=True)
def gc_register_strategies(register: RegisterStrategy) -> None:
    """Offer strategy classes: call ``register(name, class)`` for each."""


@hookspec(historic=True)
def gc_register_summarizers(register: RegisterSummarizer) -> None:
    """Offer summarizer classes: call ``register(name, class)`` for each."""


@hookspec(historic=True)
def gc_register_scorers(register: RegisterScorer) -> None:
    """Offer classes that score importance: call ``register(name, class)`` for each."""


@hookspec(historic=True)
def gc_register_profiles(register: RegisterProfile) -> None:
    """Offer compression profiles: call ``register(profile)`` for each."""


@hookspec(historic=True)
def gc_register_memory_backends(register: RegisterMemoryBackend) -> None:
    """Offer classes that keep checkpoints: call ``register(name, class)`` for each."""


@hookspec(historic=True)
def gc_register_extractors(register: RegisterExtractor) -> None:
    """Offer classes that extract the task state: call ``register(name, class)`` for each."""


@hookspec
def gc_register_sources() -> Iterable[InstructionSource]:  # type: ignore[empty-body]  # a specification
    """Return instruction sources that every session should know."""


@hookspec
def gc_classify(item: Item, age: int, reuse: int) -> GCPolicy | None:
    """
    Return an item's policy, or None; the strongest answer of all plugins wins, and LOCKED is never lowered.

    Called when an item arrives (``age`` and ``reuse`` are 0 then) and again at every collection: ``age`` is the number
    of steps since, ``reuse`` how many of the item's names the agent has used since.
    """


@hookspec
def gc_review_plan(plan: Plan) -> Iterable[Refusal]:  # type: ignore[empty-body]  # a specification
    """Refuse removals of a plan, with a reason each; the collection continues without them."""


@hookspec
def gc_promote(context: ContextView, goal: Goal) -> Iterable[ColdItem]:  # type: ignore[empty-body]  # a specification
    """
    Name removed items that matter again; called when a strategy that works with tiers collects.

    Those above ``promote_threshold`` come back as enrichment at the end of the next request, the most relevant first,
    in at most a quarter of the window; the collection makes room for them.
    """


@hookspec
def gc_summary_written(request: SummaryRequest, text: str) -> Iterable[str]:  # type: ignore[empty-body]  # a specification
    """
    Return ids of items that should stay in the window; called between a summary and the collection that uses it.

    Their units stay as they are and are PRESERVABLE from then on.
    """


@hookspec
def gc_validate_reply(
    reply: Mapping[str, Any], context: ContextView, recall: Callable[[str], str]
) -> Inconsistency | None:
    """
    Return why a reply (the provider's own message) is inconsistent with the window, or None; before it is appended.

    ``recall`` returns the original text of an item or a range of items (``i5-i20``), as ``GCSession.recall`` does. The
    session then applies ``recovery_strategy``, and brings back the collected items that are named.
    """


@hookspec
def gc_process_message(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """
    Return a message (in the provider's own shape) as it should be logged and sent, or None to leave it unchanged.

    Called once, when the host appends it or a reply arrives, before secrets are masked; never when a session is opened
    again. Plugins are called in pluggy's order, each with the previous one's result. Role, calls, results and thinking
    must stay as they are; a change that breaks that, or a rule of the provider, is discarded.
    """


@hookspec
def gc_redact(text: str) -> str | None:
    """
    Mask secrets in a text before it is written, or return None: log, window and model only see the masked text.

    Called for everything that is written: texts of messages, sources, schemas, notes, summaries and facts, and names of
    functions, arguments, blocks, sources and recorded calls. A name that is changed is replaced by ``redacted_`` with a
    number. A provider's ids are not changed.
    """


@hookspec
def gc_collection_started(goal: Goal) -> None:
    """Observe that a collection begins."""


@hookspec
def gc_collection_finished(result: GCResult) -> None:
    """Observe what a collection did."""


@hookspec
def gc_collection_failed(goal: Goal, error: BaseException) -> None:
    """Observe that a collection failed; session, budget and history are as they were."""


@hookspec
def gc_budget_updated(budget: InstructionBudget) -> None:
    """Observe the budget after a change; read-only."""


@hookspec
def gc_request_rendered(request: Request) -> None:
    """Observe a request that is about to be sent; read-only."""
