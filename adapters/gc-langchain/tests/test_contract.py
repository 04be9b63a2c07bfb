"""An agent of LangChain keeps the contract of adapters, with two providers' clients."""

import contextlib
from typing import ClassVar

import pytest
from gc_langchain import GCMiddleware
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from gc_core.testing import AdapterContract, Played
from gc_core.testing.adapters import ASYNC, CALL


class OnLangChain(AdapterContract):
    package = "gc_langchain"
    framework = "langchain"
    saver: ClassVar = None

    def model(self, scene):
        raise NotImplementedError

    @contextlib.contextmanager
    def agent(self, scene):
        kind = type(self)
        kind.saver = kind.saver or InMemorySaver()

        @tool(description=scene.about)
        def bash(command: str) -> str:
            return scene.read(command)

        added = [] if scene.config is None else [GCMiddleware(scene.config, directory=scene.directory)]
        made = create_agent(
            self.model(scene), [bash], system_prompt=scene.system, middleware=added, checkpointer=kind.saver
        )
        yield made
        for each in added:
            each.close()

    def config(self, scene):
        return {"configurable": {"thread_id": f"{scene.url} {scene.thread}"}, "recursion_limit": 300}

    def played(self, state):
        messages = state.values["messages"]
        results = [message.text for message in messages if isinstance(message, ToolMessage)]
        return Played(messages[-1].text, results)

    def play(self, scene):
        given, config = {"messages": [("user", scene.prompt)]}, self.config(scene)
        with self.agent(scene) as agent:
            if scene.stream:
                for _ in agent.stream(given, config, stream_mode="messages"):
                    pass
            else:
                agent.invoke(given, config)
            return self.played(agent.get_state(config))

    async def play_async(self, scene):
        given, config = {"messages": [("user", scene.prompt)]}, self.config(scene)
        with self.agent(scene) as agent:
            if scene.stream:
                async for _ in agent.astream(given, config, stream_mode="messages"):
                    pass
            else:
                await agent.ainvoke(given, config)
            return self.played(await agent.aget_state(config))


class TestWithChatCompletions(OnLangChain):
    def model(self, scene):
        return ChatOpenAI(
            model="gpt-5", base_url=f"{scene.url}/v1", api_key=scene.key, max_retries=0, streaming=scene.stream,
            use_responses_api=False,
        )  # fmt: skip


class TestWithMessages(OnLangChain):
    def model(self, scene):
        return ChatAnthropic(
            model="claude-sonnet-4-5", base_url=scene.url, api_key=scene.key, max_retries=0, streaming=scene.stream
        )


class TestWithResponses(OnLangChain):
    modes = (CALL, ASYNC)  # of a streamed reply LangChain keeps less, so that it is sent back in other words

    def model(self, scene):
        return ChatOpenAI(
            model="gpt-5", base_url=f"{scene.url}/v1", api_key=scene.key, max_retries=0, streaming=scene.stream,
            use_responses_api=True,
        )  # fmt: skip


@pytest.fixture(autouse=True)
def no_tracing(monkeypatch):
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
