"""An agent of Microsoft's Agent Framework keeps the contract of adapters, over Chat Completions and Responses."""

import contextlib
from typing import ClassVar

from agent_framework import Agent, AgentSession, FunctionTool, InMemoryHistoryProvider
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from gc_agent_framework import GCMiddleware
from openai import AsyncOpenAI

from gc_core.testing import AdapterContract, Played
from gc_core.testing.adapters import ASYNC, ASYNC_STREAM, DONE


class OnAgentFramework(AdapterContract):
    package = "gc_agent_framework"
    framework = "agent_framework"
    modes = (ASYNC, ASYNC_STREAM)
    sessions: ClassVar = {}
    kind = OpenAIChatCompletionClient
    options: ClassVar = {}

    @contextlib.asynccontextmanager
    async def agent(self, scene):
        schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
        bash = FunctionTool(name="bash", description=scene.about, func=scene.read, input_model=schema)
        added = [] if scene.config is None else [GCMiddleware(scene.config, directory=scene.directory)]
        async with AsyncOpenAI(base_url=f"{scene.url}/v1", api_key=scene.key, max_retries=0) as http:
            client = self.kind(model="gpt-5", async_client=http)
            client.function_invocation_configuration["max_iterations"] = 100
            yield Agent(
                client, scene.system, tools=[bash], middleware=added, default_options=self.options,
                context_providers=[InMemoryHistoryProvider()],
            )  # fmt: skip
        for each in added:
            each.close()

    async def play_async(self, scene):
        key = (type(self), scene.url, scene.thread)
        session = self.sessions.setdefault(key, AgentSession(session_id=scene.thread))
        async with self.agent(scene) as agent:
            if scene.stream:
                stream = agent.run(scene.prompt, session=session, stream=True)
                async for _ in stream:
                    pass
                response = await stream.get_final_response()
            else:
                response = await agent.run(scene.prompt, session=session)
        messages = session.state["in_memory"]["messages"]
        contents = [content for message in messages for content in message.contents]
        results = [content.result for content in contents if content.type == "function_result"]
        return Played(response.text, results)

    def test_a_refusal_that_opens_a_stream_is_answered_by_a_collection(self):
        with self._provider() as provider:
            provider.refuses_late = True
            assert self._played(provider, ASYNC_STREAM, config=self._config(4 * provider.limit)).text == DONE
        assert 0 < len(provider.refusals) <= 2


class TestWithChatCompletions(OnAgentFramework):
    weakened: ClassVar = {
        "test_another_process_goes_on_as_it_was_sent": "the framework adds the agent's name to replies that it stores"
    }


class TestWithResponses(OnAgentFramework):
    kind = OpenAIChatClient
    modes = (ASYNC,)  # of a streamed call the framework keeps no status, so that it is sent back in other words
    options: ClassVar = {"store": False}  # else the server keeps the history, and nothing can be collected
