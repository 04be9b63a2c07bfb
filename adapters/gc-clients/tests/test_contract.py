"""The loops of the vendors' clients keep the contract of adapters."""

import json
from typing import ClassVar

import anthropic
import openai
import pytest
from gc_clients import async_gc_client, gc_client
from gc_clients.anthropic import GCMiddleware
from google import genai

from gc_core.isolation import isolated
from gc_core.testing import AdapterContract, LoopbackProvider, Played
from gc_core.testing.adapters import ASYNC_STREAM, DONE, MODES, STREAM


class OnAClient(AdapterContract):
    """A loop over a client, written by hand: ``ask`` sends the history and returns the reply as it is sent back."""

    package = "gc_clients"
    framework = "httpx2"
    histories: ClassVar = {}

    def refused(self, mode, limit=8_000, **how):
        """A run in a window that is smaller than its configuration says; the provider refuses in this way."""
        with LoopbackProvider(calls=16, limit=limit) as provider, isolated() as attempt:
            for name, value in how.items():
                setattr(provider, name, value)
            played = self._played(provider, mode, config=self._config(4 * 8_000))
            assert played.text == DONE
        return provider, attempt.error

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("status", [413, 422])
    def test_a_refusal_for_length_has_one_of_these_statuses(self, mode, status):
        provider, error = self.refused(mode, refuses_with=status)
        assert error is None
        assert 0 < len(provider.refusals) <= 2

    @pytest.mark.parametrize("mode", [STREAM, ASYNC_STREAM])
    def test_a_refusal_that_opens_a_stream_is_answered_by_a_collection(self, mode):
        provider, error = self.refused(mode, refuses_late=True)
        assert error is None
        assert 0 < len(provider.refusals) <= 2

    @pytest.mark.parametrize("mode", [STREAM, ASYNC_STREAM])
    def test_a_refusal_that_no_collection_mends_comes_out_of_the_stream(self, mode):
        provider, error = self.refused(mode, limit=10, refuses_late=True)
        assert error is not None
        assert 1 <= len(provider.generations) <= 2

    def history(self, scene):
        found = self.histories.setdefault((type(self), scene.url, scene.thread), [])
        found.append(self.user(scene.prompt))
        return found

    def user(self, text):
        return {"role": "user", "content": text}

    def tools(self, scene):
        schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
        return [self.tool(scene.about, schema)]

    def options(self, scene):
        return {} if scene.config is None else {"config": scene.config, "directory": scene.directory}

    def played(self, history, text):
        return Played(text, [result for message in history for result in self.results(message)])

    def play(self, scene):
        history = self.history(scene)
        with self.client(scene) as client:
            while True:
                reply = self.ask(client, scene, history)
                text, answers = self.answered(reply, history, scene)
                if not answers:
                    return self.played(history, text)

    async def play_async(self, scene):
        history = self.history(scene)
        async with self.async_client(scene) as client:
            while True:
                reply = await self.ask_async(client, scene, history)
                text, answers = self.answered(reply, history, scene)
                if not answers:
                    return self.played(history, text)


class OnAnthropic(OnAClient):
    def tool(self, about, schema):
        return {"name": "bash", "description": about, "input_schema": schema}

    def arguments(self, scene, history):
        return {
            "model": "claude-sonnet-4-5", "max_tokens": 400, "system": scene.system, "messages": history,
            "tools": self.tools(scene), "extra_headers": {"x-gc-lane": scene.thread},
        }  # fmt: skip

    def ask(self, client, scene, history):
        if not scene.stream:
            return client.messages.create(**self.arguments(scene, history))
        with client.messages.stream(**self.arguments(scene, history)) as stream:
            return stream.get_final_message()

    async def ask_async(self, client, scene, history):
        if not scene.stream:
            return await client.messages.create(**self.arguments(scene, history))
        async with client.messages.stream(**self.arguments(scene, history)) as stream:
            return await stream.get_final_message()

    def answered(self, reply, history, scene):
        history.append(
            {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in reply.content]}
        )
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": scene.read(block.input["command"])}
            for block in reply.content
            if block.type == "tool_use"
        ]
        if results:
            history.append({"role": "user", "content": results})
        return "".join(block.text for block in reply.content if block.type == "text"), results

    def results(self, message):
        blocks = message["content"] if isinstance(message["content"], list) else []
        return [block["content"] for block in blocks if block["type"] == "tool_result"]


class TestAnthropicMiddleware(OnAnthropic):
    package = "gc_clients.anthropic"
    framework = "anthropic"

    def client(self, scene):
        added = {} if scene.config is None else {"middleware": [self.middleware(scene)]}
        return Closing(anthropic.Anthropic(base_url=scene.url, api_key=scene.key, max_retries=0, **added), added)

    def async_client(self, scene):
        added = {} if scene.config is None else {"middleware": [self.middleware(scene)]}
        return Closing(anthropic.AsyncAnthropic(base_url=scene.url, api_key=scene.key, max_retries=0, **added), added)

    def middleware(self, scene):
        return GCMiddleware(**self.options(scene))


class Closing:
    """A client that closes its middleware when it is closed."""

    def __init__(self, client, added):
        self.client, self.middleware = client, added.get("middleware", [])

    def __enter__(self):
        return self.client

    def __exit__(self, *_):
        self.client.close()
        for each in self.middleware:
            each.close()

    async def __aenter__(self):
        return self.client

    async def __aexit__(self, *_):
        await self.client.close()
        for each in self.middleware:
            each.close()


class TestAnthropicTransport(OnAnthropic):
    def client(self, scene):
        added = {} if scene.config is None else {"http_client": gc_client(**self.options(scene))}
        return anthropic.Anthropic(base_url=scene.url, api_key=scene.key, max_retries=0, **added)

    def async_client(self, scene):
        added = {} if scene.config is None else {"http_client": async_gc_client(**self.options(scene))}
        return anthropic.AsyncAnthropic(base_url=scene.url, api_key=scene.key, max_retries=0, **added)


class TestChatCompletions(OnAClient):
    def tool(self, about, schema):
        return {"type": "function", "function": {"name": "bash", "description": about, "parameters": schema}}

    def client(self, scene):
        added = {} if scene.config is None else {"http_client": gc_client(**self.options(scene))}
        return openai.OpenAI(base_url=f"{scene.url}/v1", api_key=scene.key, max_retries=0, **added)

    def async_client(self, scene):
        added = {} if scene.config is None else {"http_client": async_gc_client(**self.options(scene))}
        return openai.AsyncOpenAI(base_url=f"{scene.url}/v1", api_key=scene.key, max_retries=0, **added)

    def arguments(self, scene, history):
        messages = [{"role": "system", "content": scene.system}, *history]
        lane = {"x-gc-lane": scene.thread}
        return {"model": "gpt-5", "messages": messages, "tools": self.tools(scene), "extra_headers": lane}

    def ask(self, client, scene, history):
        if not scene.stream:
            return client.chat.completions.create(**self.arguments(scene, history)).choices[0].message
        with client.chat.completions.stream(**self.arguments(scene, history)) as stream:
            return stream.get_final_completion().choices[0].message

    async def ask_async(self, client, scene, history):
        if not scene.stream:
            return (await client.chat.completions.create(**self.arguments(scene, history))).choices[0].message
        async with client.chat.completions.stream(**self.arguments(scene, history)) as stream:
            return (await stream.get_final_completion()).choices[0].message

    def answered(self, reply, history, scene):
        calls = [
            {"id": call.id, "type": "function", "function": {"name": "bash", "arguments": call.function.arguments}}
            for call in reply.tool_calls or ()
        ]
        history.append({"role": "assistant", "content": reply.content, **({"tool_calls": calls} if calls else {})})
        for call in calls:
            text = scene.read(json.loads(call["function"]["arguments"])["command"])
            history.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        return reply.content, calls

    def results(self, message):
        return [message["content"]] if message["role"] == "tool" else []


class TestResponses(TestChatCompletions):
    def tool(self, about, schema):
        return {"type": "function", "name": "bash", "description": about, "parameters": schema}

    def arguments(self, scene, history):
        return {
            "model": "gpt-5", "input": history, "instructions": scene.system, "tools": self.tools(scene),
            "store": False, "extra_headers": {"x-gc-lane": scene.thread},
        }  # fmt: skip

    def ask(self, client, scene, history):
        if not scene.stream:
            return client.responses.create(**self.arguments(scene, history))
        stream = client.responses.create(**self.arguments(scene, history), stream=True)
        return whole(list(stream))

    async def ask_async(self, client, scene, history):
        if not scene.stream:
            return await client.responses.create(**self.arguments(scene, history))
        stream = await client.responses.create(**self.arguments(scene, history), stream=True)
        return whole([event async for event in stream])

    def answered(self, reply, history, scene):
        history += [item.model_dump(exclude_none=True) for item in reply.output]
        calls = [item for item in reply.output if item.type == "function_call"]
        for call in calls:
            text = scene.read(json.loads(call.arguments)["command"])
            history.append({"type": "function_call_output", "call_id": call.call_id, "output": text})
        return reply.output_text, calls

    def results(self, message):
        return [message["output"]] if message.get("type") == "function_call_output" else []


def whole(events):
    """The response of the last event. One that failed is no error to the client."""
    response = events[-1].response
    if response.error is not None:
        raise LookupError(response.error.message)
    return response


class TestGemini(OnAClient):
    def user(self, text):
        return {"role": "user", "parts": [{"text": text}]}

    def options_for(self, scene, name, made):
        added = {} if scene.config is None else {name: made(**self.options(scene))}
        return {"api_key": scene.key, "http_options": {"base_url": scene.url, **added}}

    def client(self, scene):
        return genai.Client(**self.options_for(scene, "httpx_client", gc_client))

    def async_client(self, scene):
        return genai.Client(**self.options_for(scene, "httpx_async_client", async_gc_client)).aio

    def arguments(self, scene, history):
        declared = {"name": "bash", "description": scene.about}
        declared["parameters_json_schema"] = {"type": "object", "properties": {"command": {"type": "string"}}}
        return {
            "model": "gemini-3-pro", "contents": history,
            "config": {
                "system_instruction": scene.system, "tools": [{"function_declarations": [declared]}],
                "http_options": {"headers": {"x-gc-lane": scene.thread}},
            },
        }  # fmt: skip

    def ask(self, client, scene, history):
        if not scene.stream:
            return client.models.generate_content(**self.arguments(scene, history))
        (only,) = client.models.generate_content_stream(**self.arguments(scene, history))
        return only

    async def ask_async(self, client, scene, history):
        if not scene.stream:
            return await client.models.generate_content(**self.arguments(scene, history))
        stream = await client.models.generate_content_stream(**self.arguments(scene, history))
        (only,) = [each async for each in stream]
        return only

    def answered(self, reply, history, scene):
        content = reply.candidates[0].content
        history.append(content.model_dump(exclude_none=True, mode="json"))
        calls = reply.function_calls or []
        answers = [
            {
                "function_response": {
                    "id": call.id,
                    "name": "bash",
                    "response": {"output": scene.read(call.args["command"])},
                }
            }
            for call in calls
        ]
        if answers:
            history.append({"role": "user", "parts": answers})
        return "" if calls else reply.text, answers

    def results(self, message):
        return [p["function_response"]["response"]["output"] for p in message["parts"] if "function_response" in p]
