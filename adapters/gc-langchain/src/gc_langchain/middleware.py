"""The middleware for ``create_agent`` and ``create_deep_agent``."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config

from gc_core import GCConfig, Usage
from gc_core.integrations.lanes import RECALL, Lane, Lanes, ModelCall
from gc_langchain.messages import LangChainMessages


class GCMiddleware(AgentMiddleware[Any, Any, Any]):
    """
    Keeps an agent's requests within the window. The agent's state stays whole: only what is sent is shorter.

    Each thread has a session of its own, and so has each sub-agent; without a checkpointer, each conversation by the id
    of its first message. Works for ``invoke`` and ``ainvoke``, ``stream`` and ``astream``.

    Args:
        config: How it collects. Without one: ``gc_budget``, in the window of the model that is called first.
        directory: The directory of the sessions' files. With one a conversation goes on in another process as it was
            sent, beside the checkpointer's state; without one its history is read again.
        recall: Give the agent the tool ``recall``, with which it reads what was left out.
        name: The middleware's name. ``"SummarizationMiddleware"`` takes the place of the built-in compaction of
            deepagents, in its sub-agents too.
        options: More keyword arguments for each ``GCSession``, such as ``summarizer`` and ``on_event``.

    Raises, from the agent's call: ContextOverflowError when what may not be removed does not fit, and SpendLimitError.

    """

    def __init__(
        self,
        config: GCConfig | None = None,
        *,
        directory: str | Path | None = None,
        recall: bool = True,
        name: str = "GCMiddleware",
        **options: Any,
    ) -> None:
        super().__init__()
        self._name = name
        self._lanes = Lanes(LangChainMessages(), format="openai", config=config, directory=directory, **options)
        self.tools = [self._recall_tool()] if recall else []

    @property
    def name(self) -> str:
        """The middleware's name."""
        return self._name

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Send what fits of the history."""
        with self._lane(request.messages, _model_of(request.model)) as lane:
            return lane.call(_call(request), lambda sent: handler(request.override(messages=sent)), _usage)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Send what fits of the history."""
        with self._lane(request.messages, _model_of(request.model)) as lane:
            return await lane.call_async(_call(request), lambda sent: handler(request.override(messages=sent)), _usage)

    def close(self) -> None:
        """Close the sessions; a conversation that goes on opens its own again."""
        self._lanes.close()

    # -- inside --------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _lane(self, messages: Sequence[BaseMessage], model: str = "") -> Iterator[Lane[BaseMessage]]:
        with self._lanes.lane(_key(get_config(), messages), model) as lane:
            yield lane

    def _recall_tool(self) -> StructuredTool:
        def recall(runtime: ToolRuntime, reference: str, offset: int = 0) -> str:
            with self._lane(runtime.state["messages"]) as lane:
                return lane.tools.call(RECALL.name, {"reference": reference, "offset": offset})

        return StructuredTool.from_function(recall, name=RECALL.name, description=RECALL.description)


def _key(config: Mapping[str, Any], messages: Sequence[BaseMessage]) -> str:
    """
    Return the conversation that a model call belongs to: its thread; in a sub-agent or a sub-graph, whose steps have
    namespaces of their own each time, also its path and its first message.
    """
    where = config.get("configurable", {})
    thread = where.get("thread_id")
    path = [step.partition(":")[0] for step in str(where.get("checkpoint_ns", "")).split("|")[:-1]]
    if thread is not None and not path:
        return str(thread)
    first = messages[0] if messages else None
    begins = "" if first is None else first.id or hashlib.blake2b(repr(first.content).encode()).hexdigest()
    return "|".join([str(thread or ""), *path, begins])


def _call(request: ModelRequest[Any]) -> ModelCall[BaseMessage]:
    system = request.system_message
    return ModelCall(
        messages=request.messages,
        system=None if system is None else system.text,
        tools=[_schema(tool) for tool in (*request.tools, *_answer_schema(request.response_format))],
        model=_model_of(request.model),
    )


def _schema(tool: Any) -> dict[str, Any]:
    """Return a tool's schema; a provider's own tool is a dict, and counts by what it says."""
    if isinstance(tool, Mapping) and "function" not in tool:
        name = str(tool.get("name") or tool.get("type") or "tool")
        return {"type": "function", "function": {"name": name, "parameters": dict(tool)}}
    return convert_to_openai_tool(tool)


def _answer_schema(response_format: Any) -> Iterator[dict[str, Any]]:
    """Yield the schema of a structured answer that the provider enforces; as a tool it is among the tools."""
    spec = getattr(response_format, "schema_spec", None)
    if spec is not None:
        function = {"name": "structured_answer", "parameters": spec.json_schema}
        yield {"type": "function", "function": function}


def _model_of(model: Any) -> str:
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    return name.removeprefix("models/") if isinstance(name, str) else ""


def _usage(response: Any) -> Usage | None:
    """Return the usage that the reply reports."""
    response = getattr(response, "model_response", response)
    result = getattr(response, "result", [response])
    reported = next((each.usage_metadata for each in result if isinstance(each, AIMessage)), None)
    if not reported:
        return None
    details = reported.get("input_token_details") or {}
    return attrs.evolve(
        Usage(input_tokens=reported["input_tokens"], output_tokens=reported["output_tokens"]),
        cache_read_tokens=details.get("cache_read") or 0,
        cache_write_tokens=details.get("cache_creation") or 0,
    )
