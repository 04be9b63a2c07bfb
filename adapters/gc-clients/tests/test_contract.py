"""The loops of the vendors' clients keep the contract of adapters."""

import json
from typing import ClassVar

import anthropic
import openai
from gc_clients import async_gc_client, gc_client
from gc_clients.anthropic import GCMiddleware
from google import genai

from gc_core.testing import AdapterContract, Played
from gc_core.testing.adapters import ASYNC, ASYNC_STREAM, CALL, STREAM


class OnAClient(AdapterContract):
    """A loop over a client, written by hand: ``ask`` sends the history and returns the reply as it is sent back."""

    package = "gc_clients"
    framework = "httpx2"
    histories: ClassVar = {}

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
    modes = (CALL, ASYNC)

    def tool(self, about, schema):
        return {"type": "function", "name": "bash", "description": about, "parameters": schema}

    def arguments(self, scene, history):
        return {
            "model": "gpt-5", "input": history, "instructions": scene.system, "tools": self.tools(scene),
            "store": False, "extra_headers": {"x-gc-lane": scene.thread},
        }  # fmt: skip

    def ask(self, client, scene, history):
        return client.responses.create(**self.arguments(scene, history))

    async def ask_async(self, client, scene, history):
        return await client.responses.create(**self.arguments(scene, history))

    def answered(self, reply, history, scene):
        history += [item.model_dump(exclude_none=True) for item in reply.output]
        calls = [item for item in reply.output if item.type == "function_call"]
        for call in calls:
            text = scene.read(json.loads(call.arguments)["command"])
            history.append({"type": "function_call_output", "call_id": call.call_id, "output": text})
        return reply.output_text, calls

    def results(self, message):
        return [message["output"]] if message.get("type") == "function_call_output" else []


class TestGemini(OnAClient):
    modes = (CALL, STREAM, ASYNC, ASYNC_STREAM)

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
