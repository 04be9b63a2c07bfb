"""An agent of Strands keeps the contract of adapters, with two providers' clients."""

import contextlib
import tempfile
from typing import ClassVar

import pytest
from gc_strands import GCConversationManager
from strands import Agent, tool
from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel
from strands.session.file_session_manager import FileSessionManager

from gc_core.testing import AdapterContract, Played
from gc_core.testing.adapters import ASYNC, ASYNC_STREAM, CALL, DONE


class OnStrands(AdapterContract):
    package = "gc_strands"
    framework = "strands"
    modes = (CALL, ASYNC, ASYNC_STREAM)
    storage: ClassVar = tempfile.TemporaryDirectory()

    def model(self, scene):
        raise NotImplementedError

    @contextlib.contextmanager
    def agent(self, scene):
        @tool(description=scene.about)
        def bash(command: str) -> str:
            return scene.read(command)

        manager = None if scene.config is None else GCConversationManager(scene.config, directory=scene.directory)
        name = f"{type(self).__name__}-{scene.url.rpartition(':')[2]}-{scene.thread}".replace(" ", "-")
        yield Agent(
            self.model(scene), tools=[bash], system_prompt=scene.system, conversation_manager=manager,
            session_manager=FileSessionManager(name, storage_dir=self.storage.name), callback_handler=None,
            retry_strategy=None,
        )  # fmt: skip
        if manager is not None:
            manager.close()

    def played(self, agent, result):
        blocks = [block for message in agent.messages for block in message["content"]]
        results = [block["toolResult"]["content"][0]["text"] for block in blocks if "toolResult" in block]
        return Played(str(result).strip(), results)

    def play(self, scene):
        with self.agent(scene) as agent:
            return self.played(agent, agent(scene.prompt))

    async def play_async(self, scene):
        with self.agent(scene) as agent:
            result = None
            if scene.stream:
                async for event in agent.stream_async(scene.prompt):
                    result = event.get("result", result)
            else:
                result = await agent.invoke_async(scene.prompt)
            return self.played(agent, result)

    def test_a_refusal_that_opens_a_stream_is_answered_by_a_collection(self):
        with self._provider() as provider:
            provider.refuses_late = True
            assert self._played(provider, ASYNC_STREAM, config=self._config(4 * provider.limit)).text == DONE
        assert 0 < len(provider.refusals) <= 2


class TestWithChatCompletions(OnStrands):
    def model(self, scene):
        arguments = {"base_url": f"{scene.url}/v1", "api_key": scene.key, "max_retries": 0}
        return OpenAIModel(client_args=arguments, model_id="gpt-5")


class TestWithMessages(OnStrands):
    def model(self, scene):
        arguments = {"base_url": scene.url, "api_key": scene.key, "max_retries": 0}
        return AnthropicModel(client_args=arguments, model_id="claude-sonnet-4-5", max_tokens=400)


@pytest.fixture(scope="module", autouse=True)
def no_files_stay():
    yield
    OnStrands.storage.cleanup()
