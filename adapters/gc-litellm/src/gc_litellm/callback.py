"""The callback for LiteLLM's proxy and SDK."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Self

import attrs
from litellm.integrations.custom_logger import CustomLogger

from gc_core import GCConfig, Usage, load_config
from gc_core.errors import ContextOverflowError, LogError, MessageError
from gc_core.integrations.lanes import Lane, Lanes, Plain, Turn, turn_in
from gc_core.providers import format_named
from gc_core.values.loggers import logger

_log = logger("gc_litellm")

FORMATS: Final = {
    "acompletion": "openai",
    "aresponses": "responses",
    "anthropic_messages": "anthropic",
    "aanthropic_messages": "anthropic",
    "agenerate_content": "gemini",
    "agenerate_content_stream": "gemini",
}
"""By LiteLLM's word for a call."""

_REMEMBERED: Final = 1_000
"""Calls whose reports may still come."""

_PASSED_BY: Final = (ContextOverflowError, MessageError, LogError, OSError)
"""What keeps no request back: it does not fit by any means, or files cannot be read or written."""


CONFIG, DIRECTORY = "GC_LITELLM_CONFIG", "GC_LITELLM_DIRECTORY"
"""Variables of a proxy: a TOML file with a table ``[gc]``, and the directory of the sessions' files."""


@attrs.frozen
class _Call:
    """A call. Its key is the name of its conversation; without one, what all have in common that begin like it."""

    turn: Turn
    key: str
    is_named: bool


class GCCallback(CustomLogger):
    """
    Sends what fits of each request: awaited calls of the SDK, and all of the proxy's, in every API that LiteLLM serves
    for a reply. What the client holds stays whole.

    A conversation is known by ``litellm_session_id`` or ``metadata["session_id"]``, else by its system text and its
    history; behind the proxy also by the client's key. LiteLLM lets no callback send a refused request again: what a
    refusal says of the window is learned, and the next request fits.

    Args:
        config: How it collects. Without one: ``gc_budget``, in the window of the model that is called first.
        directory: The directory of the sessions' files; with one a conversation goes on in another process.
        options: More keyword arguments for each ``GCSession``, such as ``summarizer`` and ``on_event``.

    """

    def __init__(self, config: GCConfig | None = None, *, directory: str | Path | None = None, **options: Any) -> None:
        super().__init__()
        self._lanes = {
            name: Lanes(Plain(), format=name, config=config, directory=directory, **options)
            for name in sorted(set(FORMATS.values()))
        }
        self._calls: OrderedDict[str, _Call] = OrderedDict()
        self._newest: dict[str, str] = {}

    @classmethod
    def from_environment(cls) -> Self:
        """Return the callback of a proxy. Raises ConfigError for a bad file."""
        path = os.environ.get(CONFIG)
        return cls(load_config(path) if path else None, directory=os.environ.get(DIRECTORY))

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
        """Put what fits in the place of the messages, when the deployment is known."""
        name = FORMATS.get(str(getattr(call_type, "value", call_type)))
        turn = None if name is None else turn_in(name, _as_dicts(kwargs))
        if turn is None:
            return None
        call = _Call(turn, _key(kwargs, turn), is_named=bool(_name(kwargs)))
        self._remember(str(kwargs.get("litellm_call_id")), call)
        try:
            with self._lane(call) as lane:
                sent = await asyncio.to_thread(lane.fitted, turn.call)
        except _PASSED_BY as error:
            _log.warning("sent as it came", error=str(error)[:500])
            return None
        return dict(turn.with_messages(sent))

    async def async_post_call_success_deployment_hook(self, request_data: Any, response: Any, call_type: Any) -> None:  # noqa: ARG002 - LiteLLM's signature
        """Take the usage of a reply that is whole, before the next request of its conversation."""
        usage = getattr(response, "usage", None) or (response.get("usage") if isinstance(response, dict) else None)
        if usage is not None:
            self._report(str(request_data.get("litellm_call_id")), usage)

    async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:  # noqa: ARG002 - LiteLLM's signature
        """Take the usage of a streamed reply, if nothing was sent since."""
        usage = getattr(response_obj, "usage", None)
        if usage is not None:
            self._report(str(kwargs.get("litellm_call_id")), usage)

    async def async_log_failure_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:  # noqa: ARG002 - LiteLLM's signature
        """Learn from a refusal for length what the window is."""
        number = str(kwargs.get("litellm_call_id"))
        call = self._calls.get(number)
        self._forgotten(number)
        error = kwargs.get("exception")
        if call is None or error is None or format_named(call.turn.format).refused_size(error) is None:
            return
        try:
            with self._lane(call) as lane:
                await asyncio.to_thread(lane.recovered, call.turn.call, error)
        except _PASSED_BY as failed:
            _log.warning("does not fit", error=str(failed)[:500])

    def close(self) -> None:
        """Close the sessions; a conversation that goes on opens its own again."""
        for lanes in self._lanes.values():
            lanes.close()

    # -- inside --------------------------------------------------------------------------------------------------------

    def _lane(self, call: _Call) -> contextlib.AbstractContextManager[Lane[Mapping[str, Any]]]:
        lanes, sent = self._lanes[call.turn.format], call.turn.call
        return lanes.lane(call.key, sent.model) if call.is_named else lanes.lane_of(sent, call.key)

    def _remember(self, number: str, call: _Call) -> None:
        self._calls[number] = call
        self._newest[call.key] = number
        while len(self._calls) > _REMEMBERED:
            self._forgotten(next(iter(self._calls)))

    def _forgotten(self, number: str) -> _Call | None:
        """Forget a call, and return it if no newer one of the conversation was sent."""
        call = self._calls.pop(number, None)
        if call is None or self._newest.get(call.key) != number:
            return None
        del self._newest[call.key]
        return call

    def _report(self, number: str, usage: Any) -> None:
        """Take a report, unless a newer request of the conversation was sent: it would be taken for that one's."""
        call, counts = self._forgotten(number), _counts(usage)
        if call is None or counts is None:
            return
        try:
            with self._lane(call) as lane:
                lane.report(counts)
        except _PASSED_BY as error:
            _log.warning("usage not taken", error=str(error)[:500])


def _as_dicts(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call; a reply that the program has put back into its list is a model, not a dict."""
    messages = kwargs.get("messages")
    if not isinstance(messages, list):
        return dict(kwargs)
    dumped = [each.model_dump(exclude_none=True) if hasattr(each, "model_dump") else each for each in messages]
    return {**kwargs, "messages": dumped}


def conversation(kwargs: Mapping[str, Any], turn: Turn) -> str:
    """Return what the conversation of a call is known by: the client's own name for it, or how it begins."""
    return _name(kwargs) or turn.key


def _name(kwargs: Mapping[str, Any]) -> str:
    """Return the client's own name for a conversation; "" for none."""
    return str(kwargs.get("litellm_session_id") or _metadata(kwargs).get("session_id") or "")


def _key(kwargs: Mapping[str, Any], turn: Turn) -> str:
    return f"{_metadata(kwargs).get('user_api_key_hash', '')}|{conversation(kwargs, turn)}"


def _metadata(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {**(kwargs.get("litellm_metadata") or {}), **(kwargs.get("metadata") or {})}


def _counts(usage: Any) -> Usage | None:
    """Return LiteLLM's usage, in whichever API's words."""
    report = usage if isinstance(usage, Mapping) else usage.model_dump()
    sent = report.get("prompt_tokens") or report.get("input_tokens") or 0
    details = report.get("prompt_tokens_details") or report.get("input_tokens_details") or {}
    if not sent:
        return None
    beside = 0 if "prompt_tokens" in report else report.get("cache_read_input_tokens") or 0
    return Usage(
        input_tokens=sent + beside,
        output_tokens=report.get("completion_tokens") or report.get("output_tokens") or 0,
        cache_read_tokens=beside or details.get("cached_tokens") or 0,
    )
