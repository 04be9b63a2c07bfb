"""The conversation manager for ``Agent(conversation_manager=...)``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from strands import ToolContext, tool
from strands.agent.conversation_manager import ConversationManager
from strands.hooks import AgentInitializedEvent, HookRegistry
from strands.middleware import InvokeModelContext, InvokeModelStage, ModelStopReason

from gc_core import GCConfig, Usage
from gc_core.integrations.lanes import RECALL, Lanes, ModelCall
from gc_strands.messages import StrandsMessages


class GCConversationManager(ConversationManager):
    """
    Keeps an agent's requests within the window. ``agent.messages`` stays whole: only what is sent is shorter.

    Takes the place of the sliding window that Strands has by default. Each agent has a session, known by its
    ``session_id`` and ``agent_id``; several agents may share one manager.

    Args:
        config: How it collects. Without one: ``gc_budget``, in the window of the model that is called first.
        directory: The directory of the sessions' files. With one a conversation that a session manager of Strands keeps
            goes on in another process as it was sent; without one its history is read again.
        recall: Give the agent the tool ``recall``, with which it reads what was left out.
        options: More keyword arguments for each ``GCSession``, such as ``summarizer`` and ``on_event``.

    Raises, from the agent's call: ContextOverflowError when what may not be removed does not fit, and SpendLimitError.

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
        self._lanes = Lanes(StrandsMessages(), format="anthropic", config=config, directory=directory, **options)

    def register_hooks(self, registry: HookRegistry, **more: Any) -> None:
        """Wait for the agent to be made."""
        super().register_hooks(registry, **more)
        registry.add_callback(AgentInitializedEvent, self._attach)

    def apply_management(self, agent: Any, **more: Any) -> None:
        """Leave the messages as they are."""

    def reduce_context(self, agent: Any, e: Exception | None = None, **more: Any) -> None:  # noqa: ARG002 - Strands' signature
        """Raise the refusal again: a collection and a second call have not helped."""
        if e is not None:
            raise e

    def restore_from_session(self, state: dict[str, Any]) -> None:
        """Take the whole stored history, also that of an agent whose manager was another one."""
        if state.get("__name__") == type(self).__name__:
            super().restore_from_session(state)

    def close(self) -> None:
        """Close the sessions; a conversation that goes on opens its own again."""
        self._lanes.close()

    # -- inside --------------------------------------------------------------------------------------------------------

    def _attach(self, event: AgentInitializedEvent) -> None:
        event.agent.add_middleware(InvokeModelStage, self._invoked)
        if self._recalls:
            event.agent.tool_registry.process_tools([self._recall_tool()])

    async def _invoked(
        self, context: InvokeModelContext, proceed: Callable[[InvokeModelContext], AsyncIterator[Any]]
    ) -> AsyncIterator[Any]:
        """Send what fits of the history, in this call alone."""
        call = _call(context)

        def start(sent: list[Any]) -> AsyncIterator[Any]:
            return proceed(context.replace(messages=sent))

        with self._lanes.lane(_key(context.agent), call.model) as lane:
            async for event in lane.stream_async(call, start, _usage, opens=_opens):
                yield event

    def _recall_tool(self) -> Any:
        @tool(name=RECALL.name, description=RECALL.description, inputSchema={"json": RECALL.parameters}, context=True)
        def recall(tool_context: ToolContext, reference: str, offset: int = 0) -> str:
            with self._lanes.lane(_key(tool_context.agent)) as lane:
                return lane.tools.call(RECALL.name, {"reference": reference, "offset": offset})

        return recall


def _key(agent: Any) -> str:
    return f"{agent.session_id}|{agent.agent_id}"


def _call(context: InvokeModelContext) -> ModelCall[Any]:
    system = context.system_prompt
    texts = [system] if isinstance(system, str) else [block.get("text", "") for block in system or ()]
    settings = context.model.get_config()
    return ModelCall(
        messages=context.messages,
        system="\n\n".join(texts) or None,
        tools=list(_schemas(context)),
        model=str(settings.get("model_id") or "") if isinstance(settings, Mapping) else "",
    )


def _schemas(context: InvokeModelContext) -> Iterator[dict[str, Any]]:
    """Yield the schemas of the tools and of a structured answer, which takes as much room."""
    for spec in context.tool_specs:
        schema = spec["inputSchema"]
        yield {"name": spec["name"], "description": spec["description"], "input_schema": schema.get("json", schema)}
    answer = context.structured_output_model
    if answer is not None:
        yield {"name": "structured_answer", "description": "", "input_schema": answer.model_json_schema()}


def _opens(event: Any) -> bool:
    """Return whether a refusal may come after an event: some models begin the message before the reply has come."""
    return "messageStart" in (event.get("event") or ())


def _usage(event: Any) -> Usage | None:
    """Return the usage that the last event reports. Some models count what a cache holds in the total alone."""
    if not isinstance(event, ModelStopReason):
        return None
    usage = event["stop"][2]
    return Usage(
        input_tokens=max(usage["inputTokens"], usage["totalTokens"] - usage["outputTokens"]),
        output_tokens=usage["outputTokens"],
        cache_read_tokens=usage.get("cacheReadInputTokens", 0),
        cache_write_tokens=usage.get("cacheWriteInputTokens", 0),
    )
