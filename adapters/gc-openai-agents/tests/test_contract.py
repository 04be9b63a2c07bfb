"""An agent of the OpenAI Agents SDK keeps the contract of adapters, over Responses and Chat Completions."""

import contextlib
import json
from typing import ClassVar

from gc_openai_agents import GCModel, LaneSession
from openai import AsyncOpenAI

from agents import (
    Agent,
    FunctionTool,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    set_tracing_disabled,
)
from gc_core.testing import AdapterContract, Played
from gc_core.testing.adapters import ASYNC, ASYNC_STREAM, DONE

set_tracing_disabled(True)


class OnAgents(AdapterContract):
    package = "gc_openai_agents"
    framework = "agents"
    modes = (ASYNC, ASYNC_STREAM)
    sessions: ClassVar = {}
    kind = OpenAIResponsesModel

    @contextlib.asynccontextmanager
    async def agent(self, scene):
        async def read(_context, arguments):
            return scene.read(json.loads(arguments)["command"])

        schema = {
            "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"],
            "additionalProperties": False,
        }  # fmt: skip
        tool = FunctionTool("bash", scene.about, schema, read)
        client = AsyncOpenAI(base_url=f"{scene.url}/v1", api_key=scene.key, max_retries=0)
        model = self.kind(model="gpt-5", openai_client=client)
        if scene.config is not None:
            model = GCModel(model, scene.config, directory=scene.directory)
        try:
            yield Agent("reader", instructions=scene.system, tools=[tool], model=model)
        finally:
            await model.close()
            await client.close()

    async def play_async(self, scene):
        key = (type(self), scene.url, scene.thread)
        session = self.sessions.setdefault(key, SQLiteSession(scene.thread))
        more = {"session": LaneSession(session), "max_turns": 200, "run_config": RunConfig(tracing_disabled=True)}
        async with self.agent(scene) as agent:
            if scene.stream:
                result = Runner.run_streamed(agent, scene.prompt, **more)
                async for _ in result.stream_events():
                    pass
            else:
                result = await Runner.run(agent, scene.prompt, **more)
        items = await session.get_items()
        return Played(
            result.final_output, [item["output"] for item in items if item.get("type") == "function_call_output"]
        )

    def test_a_refusal_that_opens_a_stream_is_answered_by_a_collection(self):
        with self._provider() as provider:
            provider.refuses_late = True
            assert self._played(provider, ASYNC_STREAM, config=self._config(4 * provider.limit)).text == DONE
        assert 0 < len(provider.refusals) <= 2


class TestWithResponses(OnAgents):
    pass


class TestWithChatCompletions(OnAgents):
    kind = OpenAIChatCompletionsModel
