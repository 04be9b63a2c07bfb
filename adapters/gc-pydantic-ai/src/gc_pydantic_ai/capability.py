"""The capability for ``Agent(capabilities=[...])``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import RetryModelRequest
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
from pydantic_ai.toolsets import FunctionToolset

from gc_core import GCConfig, Usage
from gc_core.integrations.lanes import RECALL, Lanes, ModelCall
from gc_pydantic_ai.messages import PydanticMessages


class GCCapability(AbstractCapability[Any]):
    """
    Keeps an agent's requests within the window. The run's messages stay whole: only what is sent is shorter.

    Each conversation, by Pydantic AI's own id, has a session; an agent that another one calls has its own.

    Args:
        config: How it collects. Without one: ``gc_budget``, in the window of the model that is called first.
        directory: The directory of the sessions' files; with one a conversation goes on in another process.
        recall: Give the agent the tool ``recall``, with which it reads what was left out.
        options: More keyword arguments for each ``GCSession``, such as ``summarizer`` and ``on_event``.

    """

    def __init__(
        self,
        config: GCConfig | None = None,
        *,
        directory: str | Path | None = None,
        recall: bool = True,
        **options: Any,
    ) -> None:
        super().__init__()
        self._recalls = recall
        self._lanes = Lanes(PydanticMessages(), format="anthropic", config=config, directory=directory, **options)

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Send what fits of the history, in this attempt alone."""
        call = _call(request_context)
        with self._lanes.lane(_key(ctx), call.model) as lane:
            request_context.messages = await asyncio.to_thread(lane.fitted, call)
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Take the usage that the model reports."""
        usage = response.usage
        with self._lanes.lane(_key(ctx), _model_of(request_context)) as lane:
            lane.report(
                Usage(
                    input_tokens=usage.input_tokens,
                    output_tokens=usage.output_tokens,
                    cache_read_tokens=usage.cache_read_tokens,
                    cache_write_tokens=usage.cache_write_tokens,
                )
            )
        return response

    async def on_model_request_error(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, error: Exception
    ) -> ModelResponse:
        """After a refusal for length, collect and ask for one more attempt."""
        call = _call(request_context)
        if request_context.attempt > 1:
            raise error
        with self._lanes.lane(_key(ctx), call.model) as lane:
            await asyncio.to_thread(lane.recovered, call, error)
        raise RetryModelRequest from error

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the tool with which the agent reads what was left out."""
        if not self._recalls:
            return None

        def recall(ctx: RunContext[Any], reference: str, offset: int = 0) -> str:
            with self._lanes.lane(_key(ctx)) as lane:
                return lane.tools.call(RECALL.name, {"reference": reference, "offset": offset})

        toolset = FunctionToolset[Any]()
        toolset.add_function(recall, name=RECALL.name, description=RECALL.description)
        return toolset

    def close(self) -> None:
        """Close the sessions; a conversation that goes on opens its own again."""
        self._lanes.close()


def _key(ctx: RunContext[Any]) -> str:
    return ctx.conversation_id or ctx.run_id or ""


def _model_of(request: ModelRequestContext) -> str:
    return request.model.model_name


def _call(request: ModelRequestContext) -> ModelCall[ModelMessage]:
    parameters = request.model_request_parameters
    instructions = [part.content for part in parameters.instruction_parts or ()]
    return ModelCall(
        messages=request.messages,
        system="\n\n".join(instructions) or None,
        tools=list(_schemas(parameters)),
        model=_model_of(request),
    )


def _schemas(parameters: ModelRequestParameters) -> Iterator[dict[str, Any]]:
    """Yield the schemas of the tools and of a structured answer, which takes as much room."""
    for tool in (*parameters.function_tools, *parameters.output_tools):
        yield {"name": tool.name, "description": tool.description or "", "input_schema": tool.parameters_json_schema}
    answer = parameters.output_object
    if answer is not None:
        yield {"name": "structured_answer", "description": answer.description or "", "input_schema": answer.json_schema}
