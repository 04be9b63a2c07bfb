"""A model around a model: it sends what fits of the history."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.items import ModelResponse
from agents.models.interface import Model, ModelProvider
from agents.tool_context import ToolContext

from agents import FunctionTool, MultiProvider
from agents import Usage as RunUsage
from gc_core import GCConfig, Usage
from gc_core.integrations.lanes import RECALL, Lanes, ModelCall, Plain
from gc_openai_agents.sessions import CONVERSATION

_POSITIONS = ("system_instructions", "input", "model_settings", "tools", "output_schema", "handoffs", "tracing")
_BEFORE_REFUSAL = ("response.created", "response.queued", "response.in_progress", "response.failed", "error")


class GCModel(Model):
    """
    Sends to a model what fits of each run's history. The history itself, and a session of the SDK, stay whole.

    A conversation is known by the name that ``LaneSession`` or ``conversation`` gives it, and by its history: agents
    used as tools have their own. Where the server keeps the history (``previous_response_id``, ``conversation_id``)
    everything passes as it is.

    Args:
        model: Any model of the SDK.
        config: How it collects. Without one: ``gc_budget``, in the window of the model.
        directory: The directory of the sessions' files; with one a conversation goes on in another process.
        lanes: The lanes of another model that share their conversations; then no other argument is looked at.
        options: More keyword arguments for each ``gc_core.GCSession``, such as ``summarizer`` and ``on_event``.

    """

    def __init__(
        self,
        model: Model,
        config: GCConfig | None = None,
        *,
        directory: str | Path | None = None,
        lanes: Lanes[Any] | None = None,
        **options: Any,
    ) -> None:
        self._model = model
        self._lanes = lanes or Lanes(Plain(), format="responses", config=config, directory=directory, **options)

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        """Return the model's response to what fits; see ``Model.get_response``."""
        request = {**dict(zip(_POSITIONS, given, strict=False)), **named}
        if _is_elsewhere(request):
            return await self._model.get_response(**request)
        call = self._call(request)

        async def send(sent: list[Any]) -> ModelResponse:
            return await self._model.get_response(**{**request, "input": _input(request, call, sent)})

        with self._lanes.lane_of(call, CONVERSATION.get()) as lane:
            return await lane.call_async(call, send, lambda response: _counts(response.usage))

    async def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:  # type: ignore[override]
        """Stream the model's response to what fits; see ``Model.stream_response``."""
        request = {**dict(zip(_POSITIONS, given, strict=False)), **named}
        if _is_elsewhere(request):
            async for event in self._model.stream_response(**request):
                yield event
            return
        call = self._call(request)

        def start(sent: list[Any]) -> AsyncIterator[Any]:
            return self._model.stream_response(**{**request, "input": _input(request, call, sent)})

        with self._lanes.lane_of(call, CONVERSATION.get()) as lane:
            async for event in lane.stream_async(call, start, _counts_of_event, opens=_opens):
                yield event

    async def close(self) -> None:
        """Close the sessions, and the model; a conversation that goes on opens its own again."""
        self._lanes.close()
        await self._model.close()

    def recall_tool(self) -> FunctionTool:
        """Return a tool with which an agent of this model reads what was left out; add it to the agent's own."""
        return _recall_tool(self._lanes)

    def get_retry_advice(self, request: Any) -> Any:
        """Return the model's own advice."""
        return self._model.get_retry_advice(request)

    def _call(self, request: Mapping[str, Any]) -> ModelCall[Any]:
        schemas = [*map(_schema, request["tools"]), *map(_handoff, request["handoffs"])]
        return ModelCall(
            messages=_messages(request["input"]),
            system=request["system_instructions"],
            tools=[*schemas, *_answer_schema(request["output_schema"])],
            model=str(getattr(self._model, "model", "")),
        )


class GCProvider(ModelProvider):
    """
    Wraps each model of a provider: ``RunConfig(model_provider=GCProvider())``. Agents that hand a conversation over to
    each other share its session.

    Args:
        config: How it collects; see ``GCModel``.
        directory: The directory of the sessions' files.
        provider: Finds the models; by default the SDK's own, which serves every agent whose model is a name.
        options: More keyword arguments for each ``gc_core.GCSession``.

    """

    def __init__(
        self,
        config: GCConfig | None = None,
        *,
        directory: str | Path | None = None,
        provider: ModelProvider | None = None,
        **options: Any,
    ) -> None:
        self._provider = provider or MultiProvider()
        self._lanes = Lanes(Plain(), format="responses", config=config, directory=directory, **options)

    def get_model(self, model_name: str | None) -> Model:
        """Return the provider's model, wrapped."""
        return GCModel(self._provider.get_model(model_name), lanes=self._lanes)

    def recall_tool(self) -> FunctionTool:
        """Return a tool with which an agent reads what was left out; add it to the agent's own."""
        return _recall_tool(self._lanes)

    async def aclose(self) -> None:
        """Close the sessions, and the provider; a conversation that goes on opens its own again."""
        self._lanes.close()
        await self._provider.aclose()


def _recall_tool(lanes: Lanes[Any]) -> FunctionTool:
    async def recall(context: ToolContext[Any], arguments: str) -> str:
        with lanes.lane_of(ModelCall(messages=_messages(context.turn_input)), CONVERSATION.get()) as lane:
            return await asyncio.to_thread(lane.tools.call, RECALL.name, arguments)

    schema = dict(RECALL.parameters)
    return FunctionTool(RECALL.name, RECALL.description, schema, recall, strict_json_schema=False)


def _messages(given: str | Sequence[Any]) -> Sequence[Any]:
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _is_elsewhere(request: Mapping[str, Any]) -> bool:
    return bool(request.get("previous_response_id") or request.get("conversation_id"))


def _input(request: Mapping[str, Any], call: ModelCall[Any], sent: Sequence[Any]) -> Any:
    """Return the input to send: a text where it was one, and stands alone."""
    alone = isinstance(request["input"], str) and len(sent) == 1 and sent[0] is call.messages[0]
    return request["input"] if alone else list(sent)


def _schema(tool: Any) -> dict[str, Any]:
    """Return a tool's schema; one that the provider runs itself is counted by its name alone."""
    parameters = getattr(tool, "params_json_schema", {})
    return {
        "type": "function",
        "name": tool.name,
        "description": getattr(tool, "description", ""),
        "parameters": parameters,
    }


def _handoff(handoff: Any) -> dict[str, Any]:
    head = {"type": "function", "name": handoff.tool_name, "description": handoff.tool_description}
    return {**head, "parameters": handoff.input_json_schema}


def _answer_schema(output_schema: Any) -> Iterator[dict[str, Any]]:
    if output_schema is not None and not output_schema.is_plain_text():
        yield {"type": "function", "name": "structured_answer", "parameters": output_schema.json_schema()}


def _opens(event: Any) -> bool:
    """Return whether a refusal may come after an event: the SDK raises it when the event that reports it was taken."""
    return event.type in _BEFORE_REFUSAL


def _counts_of_event(event: Any) -> Usage | None:
    usage = event.response.usage if event.type == "response.completed" else None
    return None if usage is None else _counts(usage)


def _counts(usage: RunUsage | Any) -> Usage:
    details = usage.input_tokens_details
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=(details.cached_tokens or 0) if details is not None else 0,
    )
