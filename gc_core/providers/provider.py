"""What gc-core knows of one provider's API, as one value. Each provider's folder makes its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from gc_core.providers.cache_breakpoints import MarkShape
from gc_core.providers.cache_terms import CacheTerms
from gc_core.providers.client_arguments import joined
from gc_core.providers.contract import Format
from gc_core.providers.counting import CountingEndpoint
from gc_core.providers.model_families import ModelFamily
from gc_core.providers.payload_keys import PayloadKeys
from gc_core.providers.rules.violations import Rule, Violation
from gc_core.providers.server_edits import NO_SERVER_EDITS, ServerSide
from gc_core.providers.streaming import CallStream, NoCalls
from gc_core.values.messages import Payload, Request

LEVELS: Final = ("tools", "system", "messages")
"""The levels of a request, in the order in which a provider that says so reads them."""

EditRule = Callable[[Request, Request], Iterable[Violation]]
"""Finds what a collection changed and may not, between the request before and the one after; O(window)."""

ToolSchema = Callable[[str, str, Mapping[str, Any]], Payload]
"""A tool's schema, of its name, its description and the JSON schema of its parameters."""


def _as_it_is(request: Request) -> Request:
    return request


def _at_index(request: Request, index: int) -> int:  # noqa: ARG001 - the place does not depend on the request
    return index


def _not_known(document: Mapping[str, Any], messages: Sequence[object]) -> bool:  # noqa: ARG001 - it has nothing alone
    return False


def _no_betas(names: Iterable[str]) -> dict[str, Any]:  # noqa: ARG001 - there are none
    return {}


@attrs.frozen(kw_only=True)
class EditRules:
    """
    What a collection must not change: signed parts, bound reasoning, blocks of the provider's own.

    Attributes:
        checks: The provider's own rules. Those that hold for all of them are in ``gc_core.providers.rules.edits``.
        as_messages: The request as messages with a ``role`` and ``content`` blocks, in which the rules of all formats
            read it.
        sent_index: Where a message of ``as_messages`` begins in the request as it is sent; -1 stays -1.

    """

    checks: tuple[EditRule, ...] = ()
    as_messages: Callable[[Request], Request] = _as_it_is
    sent_index: Callable[[Request, int], int] = _at_index


@attrs.frozen(kw_only=True)
class Provider:
    """
    Everything that gc-core knows of one provider's API. Adding a provider is one folder and one line in
    ``gc_core.providers``.

    Attributes:
        format: Reads, edits and makes its messages and requests.
        rules: What a request has to obey.
        edit_rules: What a collection must not change.
        families: The models whose tokens are known, by family.
        default_family: The family of a session without a model.
        cache_terms: What is promised about the prompt cache, by models.
        default_terms: The terms of a session without a model, and of a model that no provider lists.
        breakpoints: How a cache breakpoint is written, one shape for each field that the terms may name.
        reads_in_order: It reads tools, system text, messages, and a change loses its own level and all later ones.
        tool_schema: A tool's schema in this format.
        joined_options: A session's options and a host's own arguments as one set, of which the host's win.
        server_side: How it is asked to edit the window by itself.
        keys: What the keys of its payloads say of the values below them.
        takes_cache_key: A request may name the cache it should go to, where the model's terms say so too.
        beta_options: The options by which a request asks for betas, by their names.
        call_stream: Makes a reader of the calls in a streamed reply.
        counting: Where its client counts whole requests; None where it does not.
        miss_reason_at: Where a reply says why the prompt cache was missed, key by key.
        telemetry_name: What OpenTelemetry calls it (``gen_ai.provider.name``).
        system_is_message: The system text is a message that opens the conversation, not apart from it.
        wrote: Whether a recorded document and its messages are in this format, by what only it has; for transcripts,
            which do not say. The first provider is taken where none says so.
        litellm_name: What litellm calls it, before the slash of a model's name.
        is_one_vendor: Whether only this vendor speaks the format, so that a session's model can be asked through it.

    """

    format: Format
    rules: tuple[Rule, ...]
    edit_rules: EditRules = attrs.field(factory=EditRules)
    families: tuple[ModelFamily, ...] = ()
    default_family: ModelFamily
    cache_terms: tuple[CacheTerms, ...] = ()
    default_terms: CacheTerms
    breakpoints: tuple[MarkShape, ...] = ()
    reads_in_order: bool = False
    tool_schema: ToolSchema
    joined_options: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]] = joined
    server_side: ServerSide = NO_SERVER_EDITS
    keys: PayloadKeys = attrs.field(factory=PayloadKeys)
    takes_cache_key: bool = False
    beta_options: Callable[[Iterable[str]], dict[str, Any]] = _no_betas
    call_stream: Callable[[], CallStream] = NoCalls
    counting: CountingEndpoint | None = None
    miss_reason_at: tuple[str, ...] = ()
    telemetry_name: str
    system_is_message: bool = False
    wrote: Callable[[Mapping[str, Any], Sequence[object]], bool] = _not_known
    litellm_name: str = ""
    is_one_vendor: bool = False

    @property
    def name(self) -> str:
        """What a session's ``format=`` names."""
        return self.format.name

    def breakpoint_shape(self, field: str) -> MarkShape | None:
        """Return how a breakpoint of this field is written; None where there is none to set."""
        return next((shape for shape in self.breakpoints if shape.field == field), None)

    def invalidated_by(self, level: str) -> tuple[str, ...]:
        """
        Return what of a request must be read again when tools or system text change, in the provider's order.

        Where it is not known in which order tools and system text are read, both are taken for lost with either.
        """
        return LEVELS[LEVELS.index(level) :] if self.reads_in_order else LEVELS
