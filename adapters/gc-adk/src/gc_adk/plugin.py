"""The plugin for ``App(plugins=[...])``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools import FunctionTool, ToolContext
from google.genai.types import Content, GenerateContentConfig, Tool
from pydantic import TypeAdapter

from gc_adk.messages import Contents, plain
from gc_core import GCConfig, Usage
from gc_core.integrations.lanes import RECALL, Lanes, ModelCall


class GCPlugin(BasePlugin):
    """
    Keeps the requests of an app's agents within the window. The session's events stay whole: only what is sent is
    shorter.

    Each agent has a session of its own in each session of the app.

    Args:
        config: How it collects. Without one: ``gc_budget``, in the window of the model that is called first.
        directory: The directory of the sessions' files. With one a conversation that a session service keeps goes on in
            another process as it was sent; without one its history is read again.
        recall: Give the agents the tool ``recall``, with which they read what was left out.
        name: The plugin's name.
        options: More keyword arguments for each ``GCSession``, such as ``summarizer`` and ``on_event``.

    Raises, from the run, inside a RuntimeError of the kit: ContextOverflowError when what may not be removed does not
    fit, and SpendLimitError.

    """

    def __init__(
        self,
        config: GCConfig | None = None,
        *,
        directory: str | Path | None = None,
        recall: bool = True,
        name: str = "gc",
        **options: Any,
    ) -> None:
        super().__init__(name)
        self._lanes = Lanes(Contents(), format="gemini", config=config, directory=directory, **options)
        self._recall = FunctionTool(self._recall_function()) if recall else None
        self._calls: dict[str, ModelCall[Content]] = {}

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Send what fits of the history, in this call alone."""
        if getattr(llm_request, "previous_interaction_id", None):
            return  # the server keeps the history
        if self._recall is not None and RECALL.name not in llm_request.tools_dict:
            llm_request.append_tools([self._recall])
        key, call = _key(callback_context), _call(llm_request)
        with self._lanes.lane(key, call.model) as lane:
            llm_request.contents = await asyncio.to_thread(lane.fitted, call)
        self._calls[key] = call

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        """Take the usage that the model reports."""
        key, reported = _key(callback_context), llm_response.usage_metadata
        call = None if llm_response.partial else self._calls.pop(key, None)
        if call is None or reported is None:
            return
        replied = (reported.candidates_token_count or 0) + (reported.thoughts_token_count or 0)
        usage = Usage(
            input_tokens=reported.prompt_token_count or 0,
            output_tokens=replied,
            cache_read_tokens=reported.cached_content_token_count or 0,
        )
        with self._lanes.lane(key, call.model) as lane:
            lane.report(usage)

    async def on_model_error_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
    ) -> LlmResponse | None:
        """After a refusal for length, collect and ask the model once more: the kit itself repeats no call."""
        key = _key(callback_context)
        call = self._calls.pop(key, None)
        if call is None:
            return None
        with self._lanes.lane(key, call.model) as lane:
            if lane.refusal(error) is None:
                return None  # the kit raises it as it is, after other callbacks have seen it
            llm_request.contents = await asyncio.to_thread(lane.recovered, call, error)
        model = callback_context.get_invocation_context().agent.canonical_model
        responses = [response async for response in model.generate_content_async(llm_request)]
        self._calls[key] = call
        return responses[-1]

    async def close(self) -> None:
        """Close the sessions; a conversation that goes on opens its own again."""
        self._lanes.close()

    # -- inside --------------------------------------------------------------------------------------------------------

    def _recall_function(self) -> Any:
        def recall(reference: str, tool_context: ToolContext, offset: int = 0) -> str:
            with self._lanes.lane(_key(tool_context)) as lane:
                return lane.tools.call(RECALL.name, {"reference": reference, "offset": offset})

        recall.__doc__ = RECALL.description
        return recall


def _key(context: CallbackContext) -> str:
    session = context.session
    return f"{session.app_name}|{session.user_id}|{session.id}|{context.agent_name}"


def _call(request: LlmRequest) -> ModelCall[Content]:
    system = request.config.system_instruction
    parts = system.parts or () if isinstance(system, Content) else ()
    return ModelCall(
        messages=list(request.contents),
        system=system if isinstance(system, str) else "\n\n".join(part.text or "" for part in parts) or None,
        tools=list(_schemas(request.config)),
        model=request.model or "",
    )


def _schemas(config: GenerateContentConfig) -> Iterator[dict[str, Any]]:
    """Yield the schemas of the tools and of a structured answer, which takes as much room."""
    yield from (plain(tool) for tool in config.tools or () if isinstance(tool, Tool))
    answer = config.response_json_schema or config.response_schema
    if answer is not None:
        schema = answer if isinstance(answer, dict) else TypeAdapter(answer).json_schema()
        yield {"functionDeclarations": [{"name": "structured_answer", "description": "", "parameters": schema}]}
