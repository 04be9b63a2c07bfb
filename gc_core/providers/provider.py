"""A provider's API as one value. Each provider's folder defines its own."""

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
"""The levels of a request, in the order in which a provider with ``reads_in_order`` reads them."""

EditRule = Callable[[Request, Request], Iterable[Violation]]
"""Finds forbidden changes of a collection, between the request before and the one after; O(window)."""

ToolSchema = Callable[[str, str, Mapping[str, Any]], Payload]
"""Builds a tool's schema from its name, its description and the JSON schema of its parameters."""


def _as_it_is(request: Request) -> Request:
    return request


def _at_index(request: Request, index: int) -> int:  # noqa: ARG001 - the place does not depend on the request
    return index


def _not_known(document: Mapping[str, Any], messages: Sequence[object]) -> bool:  # noqa: ARG001 - the default reads neither
    return False


def _no_betas(names: Iterable[str]) -> dict[str, Any]:  # noqa: ARG001 - there are none
    return {}


@attrs.frozen(kw_only=True)
class EditRules:
    """
    Parts that a collection must not change: signed parts, bound reasoning, the provider's own blocks.

    Attributes:
        checks: The provider's own rules. The rules for all providers are in ``gc_core.providers.rules.edits``.
        as_messages: Returns the request as messages with a ``role`` and ``content`` blocks, in which the rules for all
            formats read it.
        sent_index: Returns where a message of ``as_messages`` begins in the request as it is sent; -1 stays -1.

    """

    checks: tuple[EditRule, ...] = ()
    as_messages: Callable[[Request], Request] = _as_it_is
    sent_index: Callable[[Request, int], int] = _at_index


@attrs.frozen(kw_only=True)
class Provider:
    """
    Everything that gc-core knows about one provider's API. Adding a provider is one folder and one line in
    ``gc_core.providers``.

    Attributes:
        format: Reads, edits and builds its messages and requests.
        rules: The rules for requests.
        edit_rules: The rules for collections.
        families: Its models, by family.
        default_family: The family of a session without a model.
        cache_terms: The terms of its prompt cache, by models.
        default_terms: The terms of a session without a model, and of a model that no provider lists.
        breakpoints: The shapes of its cache breakpoints, one for each field that the terms may name.
        reads_in_order: It reads tools, system text, messages; a change invalidates its own level and all later ones.
        tool_schema: Builds a tool's schema in this format.
        joined_options: Joins a session's options and a host's own arguments, of which the host's win.
        server_side: How it is asked to edit the window by itself.
        keys: The keys of its payloads.
        takes_cache_key: A request may name its cache, if the model's terms say so too.
        beta_options: Returns the options that enable betas, by name.
        call_stream: Creates a reader of the calls in a streamed reply.
        counting: Its client's endpoint for counting whole requests, or None.
        miss_reason_at: The path in a reply to the reason of a cache miss, key by key.
        telemetry_name: Its name in OpenTelemetry (``gen_ai.provider.name``).
        system_is_message: The system text is a message that opens the conversation, not apart from it.
        wrote: Returns whether a recorded document with its messages is in this format, by features that only it has;
            for transcripts, which do not say. The first provider is the default.
        litellm_name: Its name in litellm, before the slash of a model's name.
        is_one_vendor: Only this vendor uses the format, so a session's model can be asked through it.

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
        """The value of a session's ``format=``."""
        return self.format.name

    def breakpoint_shape(self, field: str) -> MarkShape | None:
        """Return the shape of breakpoints with this field; None if there are none to set."""
        return next((shape for shape in self.breakpoints if shape.field == field), None)

    def invalidated_by(self, level: str) -> tuple[str, ...]:
        """
        Return the levels of a request that must be read again when tools or system text change, in the provider's
        order.

        If the order of tools and system text is unknown, a change of either invalidates both.
        """
        return LEVELS[LEVELS.index(level) :] if self.reads_in_order else LEVELS
