"""An agent of Pydantic AI keeps the contract of adapters, with two providers' clients."""

import contextlib
from typing import ClassVar

from anthropic import AsyncAnthropic
from gc_pydantic_ai import GCCapability
from openai import AsyncOpenAI
from pydantic_ai import Agent, Tool, UsageLimits, capture_run_messages
from pydantic_ai.messages import ModelRequest, ToolReturnPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from gc_core.testing import AdapterContract, Played
from gc_core.testing.adapters import ASYNC, ASYNC_STREAM


class OnPydanticAI(AdapterContract):
    package = "gc_pydantic_ai"
    framework = "pydantic_ai"
    modes = (ASYNC, ASYNC_STREAM)
    histories: ClassVar = {}

    @contextlib.contextmanager
    def agent(self, scene):
        def bash(command: str) -> str:
            return scene.read(command)

        added = [] if scene.config is None else [GCCapability(scene.config, directory=scene.directory, recall=False)]
        tool = Tool(bash, description=scene.about)
        try:
            yield Agent(self.model(scene), instructions=scene.system, tools=[tool], capabilities=added)
        finally:
            for each in added:
                each.close()

    async def play_async(self, scene):
        key = (type(self), scene.url, scene.thread)
        more = {
            "message_history": self.histories.get(key), "conversation_id": scene.thread,
            "usage_limits": UsageLimits(request_limit=None),
        }  # fmt: skip
        with self.agent(scene) as agent, capture_run_messages() as said:
            try:
                if scene.stream:
                    async with agent.run_stream(scene.prompt, **more) as result:
                        text = await result.get_output()
                else:
                    text = (await agent.run(scene.prompt, **more)).output
            finally:
                self.histories[key] = list(said)
        parts = [part for message in said if isinstance(message, ModelRequest) for part in message.parts]
        return Played(text, [part.content for part in parts if isinstance(part, ToolReturnPart)])


class TestWithChatCompletions(OnPydanticAI):
    def model(self, scene):
        client = AsyncOpenAI(base_url=f"{scene.url}/v1", api_key=scene.key, max_retries=0)
        return OpenAIChatModel("gpt-5", provider=OpenAIProvider(openai_client=client))


class TestWithMessages(OnPydanticAI):
    def model(self, scene):
        client = AsyncAnthropic(base_url=scene.url, api_key=scene.key, max_retries=0)
        return AnthropicModel("claude-sonnet-4-5", provider=AnthropicProvider(anthropic_client=client))
