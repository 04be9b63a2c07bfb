"""Quill as one value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gc_core.providers import Provider
from gc_core.providers.cache_breakpoints import MarkShape
from gc_core.providers.cache_terms import CacheTerms
from gc_core.providers.counting import CountingEndpoint
from gc_core.providers.model_families import ModelFamily
from gc_core.providers.payload_keys import PayloadKeys
from gc_core.providers.provider import EditRules
from gc_core.providers.streaming import GrowingCall
from gc_core.values.messages import Payload
from tests.support.quill.format import QuillFormat
from tests.support.quill.rules import RULES, STAMP, as_messages, stamped

_FAMILY = ModelFamily(name="quill", prefixes=("quill",), factor=1.2)
_TERMS = CacheTerms(
    name="quill",
    prefixes=("quill",),
    writes_at_marks=True,
    most_marks=2,
    look_back=20,
    least_tokens=64,
    explicit_marks="cache_control",
    dated="2026-11-01",
)


def _tool_schema(name: str, description: str, parameters: Mapping[str, Any]) -> Payload:
    return {"ability": name, "about": description, "takes": parameters}


class _Stream:
    def finished(self, event: Mapping[str, Any]) -> Iterator[GrowingCall]:
        if "called" in event:
            yield GrowingCall(call_id=event["key"], name=event["called"], pieces=[event["with"]])


QUILL = Provider(
    format=QuillFormat(),
    rules=RULES,
    edit_rules=EditRules(checks=(stamped,), as_messages=as_messages),
    families=(_FAMILY,),
    default_family=_FAMILY,
    cache_terms=(_TERMS,),
    default_terms=_TERMS,
    breakpoints=(MarkShape(field="cache_control", kinds=frozenset({"text"}), on_head=True, ours=2),),
    reads_in_order=True,
    tool_schema=_tool_schema,
    keys=PayloadKeys(sealed=frozenset({STAMP}), ids=frozenset({"answers"}), schemas=frozenset({"takes", "properties"})),
    call_stream=_Stream,
    counting=CountingEndpoint(name="Quill's weigh", client="Quill", path="dialogs.weigh", count="weight"),
    miss_reason_at=("cache", "why"),
    telemetry_name="quill_works",
    litellm_name="quill",
    is_one_vendor=True,
    wrote=lambda document, messages: "dialog" in document,  # noqa: ARG005 - the document shows it
)
