"""A loop over LiteLLM's SDK keeps the contract of adapters."""

import asyncio
import contextlib
import json
import threading
from typing import ClassVar

import litellm
from gc_litellm import GCCallback

from gc_core.testing import AdapterContract, Played
from gc_core.testing.adapters import ASYNC, ASYNC_STREAM, DONE

_RECOVERS = "LiteLLM lets no callback send a request again; the next one fits, see the rule that stands in its place"


LOCK, RUNS = threading.Lock(), []


@contextlib.contextmanager
def registered(scene):
    """A callback while runs need one. LiteLLM keeps the first of a class, so that runs beside each other share it."""
    with LOCK:
        if not RUNS:
            litellm.callbacks.append(GCCallback(scene.config, directory=scene.directory))
        RUNS.append(scene)
    try:
        yield
    finally:
        with LOCK:
            RUNS.remove(scene)
            if not RUNS:
                (callback,) = (each for each in litellm.callbacks if isinstance(each, GCCallback))
                litellm.logging_callback_manager._reset_all_callbacks()
                callback.close()


class OnLiteLLM(AdapterContract):
    package = "gc_litellm"
    framework = "litellm"
    modes = (ASYNC,)
    histories: ClassVar = {}
    weakened: ClassVar = {"test_a_refusal_for_length_is_answered_by_a_collection": _RECOVERS}
    model: ClassVar = ""
    tries = 1

    def test_a_refusal_for_length_is_answered_by_a_collection(self):
        """After a refusal the program's next try fits."""
        self.tries = 3
        with self._provider() as provider:
            assert self._played(provider, config=self._config(4 * provider.limit)).text == DONE
        assert 1 <= len(provider.refusals) <= 2

    async def play_async(self, scene):
        history = self.histories.setdefault((type(self), scene.url, scene.thread), [])
        history.append({"role": "user", "content": scene.prompt})
        with contextlib.nullcontext() if scene.config is None else registered(scene):
            while True:
                message = await self.asked(scene, history)
                history.append(message)
                for call in message.tool_calls or ():
                    text = scene.read(json.loads(call.function.arguments)["command"])
                    history.append({"role": "tool", "tool_call_id": call.id, "content": text})
                if not message.tool_calls:
                    results = [each["content"] for each in history if isinstance(each, dict) and each["role"] == "tool"]
                    return Played(message.content, results)

    async def asked(self, scene, history):
        """A program that tries again after a refusal."""
        for last in [False] * (self.tries - 1) + [True]:
            try:
                return await self.ask(scene, history)
            except litellm.ContextWindowExceededError:
                if last:
                    raise
                await asyncio.sleep(0.2)  # LiteLLM tells its callbacks of a failure beside the caller
        return None

    async def ask(self, scene, history):
        schema = {"type": "object", "properties": {"command": {"type": "string"}}}
        tool = {"type": "function", "function": {"name": "bash", "description": scene.about, "parameters": schema}}
        base = scene.url if self.model.startswith("anthropic") else f"{scene.url}/v1"
        reply = await litellm.acompletion(
            model=self.model, messages=[{"role": "system", "content": scene.system}, *history], tools=[tool],
            api_base=base, api_key=scene.key, num_retries=0, max_retries=0, stream=scene.stream, max_tokens=400,
            litellm_session_id=scene.thread,
        )  # fmt: skip
        if scene.stream:
            reply = litellm.stream_chunk_builder([chunk async for chunk in reply])
        return reply.choices[0].message


class TestChatCompletions(OnLiteLLM):
    model = "openai/gpt-5-mini"


class TestStreamed(OnLiteLLM):
    """Apart: a streamed reply's usage comes beside the caller, and so a collection may come a call later."""

    model = "openai/gpt-5-mini"
    modes = (ASYNC_STREAM,)
    weakened: ClassVar = {
        **OnLiteLLM.weakened,
        "test_usage_calibrates": "a streamed reply's usage may come after the next request, and is left out then",
    }


class TestMessages(OnLiteLLM):
    model = "anthropic/claude-sonnet-4-5"
