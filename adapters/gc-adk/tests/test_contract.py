"""An agent of the Agent Development Kit keeps the contract of adapters."""

import contextlib
from typing import ClassVar

import pytest
from gc_adk import GCPlugin
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models.google_llm import Gemini
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai.types import Content, Part

from gc_core.testing import AdapterContract, Played
from gc_core.testing.adapters import ASYNC, ASYNC_STREAM


class TestOnGemini(AdapterContract):
    package = "gc_adk"
    framework = "google.adk"
    modes = (ASYNC, ASYNC_STREAM)
    sessions: ClassVar = InMemorySessionService()

    @contextlib.asynccontextmanager
    async def runner(self, scene):
        def bash(command: str) -> str:
            return scene.read(command)

        bash.__doc__ = scene.about
        model = Gemini(model="gemini-2.5-flash", base_url=scene.url)
        agent = LlmAgent(name="reader", model=model, instruction=scene.system, tools=[bash])
        plugins = [] if scene.config is None else [GCPlugin(scene.config, directory=scene.directory)]
        made = Runner(app=App(name="files", root_agent=agent, plugins=plugins), session_service=self.sessions)
        try:
            yield made
        finally:
            await made.close()

    async def play_async(self, scene):
        where = {"user_id": "one", "session_id": f"{scene.url} {scene.thread}"}
        if await self.sessions.get_session(app_name="files", **where) is None:
            await self.sessions.create_session(app_name="files", **where)
        mode = RunConfig(streaming_mode=StreamingMode.SSE if scene.stream else StreamingMode.NONE)
        async with self.runner(scene) as runner:
            prompt = Content(role="user", parts=[Part(text=scene.prompt)])
            async for _ in runner.run_async(new_message=prompt, run_config=mode, **where):
                pass
        events = (await self.sessions.get_session(app_name="files", **where)).events
        responses = [response for event in events for response in event.get_function_responses()]
        return Played(events[-1].content.parts[-1].text, [response.response["result"] for response in responses])


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", "key-1")
