"""The chat middleware for ``Agent(middleware=[...])``."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from agent_framework import ChatContext, ChatMiddleware, FunctionTool, Message, ResponseStream
from agent_framework.exceptions import ChatClientException
from pydantic import BaseModel

from gc_agent_framework.messages import FrameworkMessages
from gc_core import GCConfig, Usage
from gc_core.integrations.lanes import RECALL, BegunStream, Lane, Lanes, ModelCall

_LAST: Final[contextvars.ContextVar[tuple[str, ModelCall[Message]]]] = contextvars.ContextVar("gc_last_call")
"""The last model call with its conversation's name: a tool that the model calls belongs to it."""


class GCMiddleware(ChatMiddleware):
    """
    Keeps an agent's requests within the window. The history of an agent's session stays whole: only what is sent is
    shorter.

    A conversation is known by its agent session, else by its history. Where the server keeps the history
    (``conversation_id``) everything passes as it is.

    Args:
        config: How it collects. Without one: ``gc_budget``, in the window of the model that is called first.
        directory: The directory of the sessions' files; with one a conversation goes on in another process.
        options: More keyword arguments for each ``GCSession``, such as ``summarizer`` and ``on_event``.

    Raises, from the run: ContextOverflowError when what may not be removed does not fit, and SpendLimitError.

    """

    def __init__(self, config: GCConfig | None = None, *, directory: str | Path | None = None, **options: Any) -> None:
        self._lanes = Lanes(FrameworkMessages(), format="anthropic", config=config, directory=directory, **options)

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Send what fits of the history, in this call alone."""
        if _is_elsewhere(context):
            await call_next()
            return
        name, call = _name(context), _call(context)
        _LAST.set((name, call))

        with self._lane(name, call) as lane:

            async def send(sent: list[Message]) -> Any:
                context.messages = sent
                await call_next()
                return await _begun(context.result, lane) if context.stream else context.result

            context.result = await lane.call_async(call, send, lambda _: None)

        def report(response: Any) -> None:
            with self._lane(name, call) as lane:
                lane.report(_usage(response.usage_details))

        if context.stream:
            context.stream_result_hooks.append(report)
        else:
            report(context.result)

    def recall_tool(self) -> FunctionTool:
        """Return a tool with which an agent of this middleware reads what was left out; add it to the agent's own."""

        def recall(reference: str, offset: int = 0) -> str:
            with self._lane(*_LAST.get(("", ModelCall(messages=())))) as lane:
                return lane.tools.call(RECALL.name, {"reference": reference, "offset": offset})

        return FunctionTool(
            name=RECALL.name, description=RECALL.description, func=recall, input_model=dict(RECALL.parameters)
        )

    def close(self) -> None:
        """Close the sessions; a conversation that goes on opens its own again."""
        self._lanes.close()

    def _lane(self, name: str, call: ModelCall[Message]) -> contextlib.AbstractContextManager[Lane[Message]]:
        return self._lanes.lane(name, call.model) if name else self._lanes.lane_of(call)


async def _begun(stream: ResponseStream[Any, Any], lane: Lane[Message]) -> ResponseStream[Any, Any]:
    """Return a stream with the same updates, whose first ones have come: a refusal comes before content."""
    begun = await BegunStream.of(_with_refusal(stream, lane), _opens)
    if begun.error is not None:
        raise begun.error
    return ResponseStream(begun, finalizer=lambda _: stream.get_final_response())


async def _with_refusal(stream: ResponseStream[Any, Any], lane: Lane[Message]) -> AsyncIterator[Any]:
    """Yield the updates, and raise a refusal among them: the framework takes a failed response for an empty reply."""
    async for update in stream:
        if _event_type(update) == "response.failed":
            error = ChatClientException(f"the provider refused the request: {update.raw_representation.response.error}")
            if lane.refusal(error) is not None:
                raise error
        yield update


def _opens(update: Any) -> bool:
    """Return whether a refusal may come after an update."""
    return _event_type(update) in {"response.created", "response.queued", "response.in_progress"}


def _event_type(update: Any) -> str:
    return str(getattr(update.raw_representation, "type", ""))


def _options(context: ChatContext) -> Mapping[str, Any]:
    return context.options or {}


def _is_elsewhere(context: ChatContext) -> bool:
    return bool(_options(context).get("conversation_id"))


def _name(context: ChatContext) -> str:
    return "" if context.session is None else str(context.session.session_id)


def _call(context: ChatContext) -> ModelCall[Message]:
    options = _options(context)
    system = [str(options.get("instructions") or "")]
    system += [message.text for message in context.messages if message.role == "system"]
    return ModelCall(
        messages=list(context.messages),
        system="\n\n".join(filter(None, system)) or None,
        tools=list(_schemas(options)),
        model=str(options.get("model") or getattr(context.client, "model", None) or ""),
    )


def _schemas(options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the schemas of the tools and of a structured answer, which takes as much room."""
    tools = options.get("tools") or ()
    for tool in tools if isinstance(tools, (list, tuple)) else (tools,):
        if isinstance(tool, FunctionTool):
            yield {"name": tool.name, "description": tool.description, "input_schema": tool.parameters()}
        elif isinstance(tool, Mapping):
            yield {"name": str(tool.get("name") or tool.get("type")), "description": "", "input_schema": dict(tool)}
    answer = options.get("response_format")
    if answer is not None:
        is_model = isinstance(answer, type) and issubclass(answer, BaseModel)
        schema = answer.model_json_schema() if is_model else dict(answer)
        yield {"name": "structured_answer", "description": "", "input_schema": schema}


def _usage(reported: Mapping[str, Any] | None) -> Usage | None:
    if not reported:
        return None
    return Usage(
        input_tokens=reported.get("input_token_count") or 0,
        output_tokens=reported.get("output_token_count") or 0,
        cache_read_tokens=reported.get("cache_read_input_token_count") or 0,
        cache_write_tokens=reported.get("cache_creation_input_token_count") or 0,
    )
