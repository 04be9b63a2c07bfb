"""The guardrail for LiteLLM's proxy: a gc-gateway collects, in a process of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import httpx
from litellm.exceptions import Timeout
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.llms.custom_httpx.http_handler import get_async_httpx_client, httpxSpecialProvider

from gc_core.integrations.lanes import Turn, turn_in
from gc_core.values.loggers import logger
from gc_litellm.callback import FORMATS, conversation

_log = logger("gc_litellm")

_PATH: Final = "/v1/collect"
_SECONDS: Final = 30.0


class GCGuardrail(CustomGuardrail):
    """
    Asks a gc-gateway for what fits of each request, in every API of the proxy; the proxy itself keeps nothing.

    A request passes as it came where the gateway does not answer, and where it says that the request cannot fit.

    Args:
        api_base: The gateway's base URL.
        api_key: The gateway's token, if it has one.
        budget: Tokens that a list may have, with system text and tools. Without one: the window that the gateway knows
            for the model's name, which is the proxy's name for it.
        named: What LiteLLM gives every guardrail.

    """

    def __init__(
        self,
        api_base: str = "http://127.0.0.1:8787",
        api_key: str | None = None,
        budget: int | None = None,
        **named: Any,
    ) -> None:
        super().__init__(**named)
        self._url = api_base.rstrip("/") + _PATH
        self._headers = {"x-gc-token": api_key} if api_key else {}
        self._budget = budget
        self._http = get_async_httpx_client(llm_provider=httpxSpecialProvider.GuardrailCallback)

    async def async_pre_call_hook(
        self,
        user_api_key_dict: Any,
        cache: Any,  # noqa: ARG002 - LiteLLM's signature
        data: dict[str, Any],
        call_type: str,
    ) -> dict[str, Any]:
        """Put what fits in the place of the messages."""
        name = FORMATS.get(call_type) or FORMATS.get(f"a{call_type}")
        turn = None if name is None else turn_in(name, data)
        if turn is None:
            return data
        lane = f"{getattr(user_api_key_dict, 'api_key', '')}|{conversation(data, turn)}"
        asked = self._asked(turn, lane)
        try:
            reply = await self._http.post(self._url, json=asked, headers=self._headers, timeout=_SECONDS)
            messages = _messages_in(reply.json())
        except (httpx.HTTPError, Timeout, ValueError, LookupError, TypeError) as error:
            said = error.response.text if isinstance(error, httpx.HTTPStatusError) else str(error)
            _log.warning("sent as it came", error=said[:500])
            return data
        return dict(turn.with_messages(messages))

    def _asked(self, turn: Turn, lane: str) -> Mapping[str, Any]:
        call = turn.call
        given = {
            "dialect": turn.format,
            "model": call.model,
            "messages": list(call.messages),
            "system": call.system,
            "tools": list(call.tools) or None,
            "budget": self._budget,
            "lane": hashlib.blake2b(lane.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest(),
        }
        return {key: each for key, each in given.items() if each is not None}


def _messages_in(answer: Any) -> list[Any]:
    """Return the messages of a gateway's answer. Raises LookupError and TypeError for what is none."""
    messages = answer["messages"]
    if not isinstance(messages, list):
        raise TypeError(f"messages = {type(messages).__name__}: expected a list")
    return messages
