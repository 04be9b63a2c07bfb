"""What agents of the framework have beside their loop: the README's program, recall, stored history, messages."""

import asyncio
import re
from pathlib import Path

import pytest
from agent_framework import Agent, AgentSession, Content, Message
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from gc_agent_framework import GCMiddleware
from gc_agent_framework.messages import FrameworkMessages
from openai import AsyncOpenAI
from pydantic import BaseModel, Field

from gc_core import GCConfig, Usage
from gc_core.testing import LoopbackProvider
from gc_core.testing.adapters import DONE, file_of
from gc_core.testing.loopback_replies import Reply

README = Path(__file__).parents[1] / "README.md"
USAGE = Usage(input_tokens=100, output_tokens=5)


def bash(command: str) -> str:
    """Run a command."""
    return file_of(command)


def client_at(provider, kind=OpenAIChatCompletionClient):
    http = AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="key-1", max_retries=0)
    return kind(model="gpt-5", async_client=http)


def config_for(provider):
    return GCConfig(strategy="gc_budget", context_limit=provider.limit, output_reservation=provider.limit // 20)


def run(agent, *prompts, stream=False, **more):
    async def run_all():
        for prompt in prompts:
            response = agent.run(prompt, stream=stream, **more)
            response = await (response.get_final_response() if stream else response)
        return response

    return asyncio.run(run_all())


def test_the_agent_of_the_readme_runs():
    diff = README.read_text().split("```diff\n")[1].partition("```")[0]
    program = "\n".join(line[1:] for line in diff.splitlines() if not line.startswith("-"))
    with LoopbackProvider(calls=3) as provider:
        names = {"client": client_at(provider), "tools": [bash]}
        exec(program, names)  # noqa: S102 - the README's code
        assert run(names["agent"], "Read all files.").text == DONE
        assert "recall" in provider.seen[0].raw.decode()


class Recalling(LoopbackProvider):
    """Asks once for something that a stub names."""

    asked = ""

    def reply_to(self, seen):
        named = re.search(r"\[gc:[^]]*?\b(i\d+)", seen.raw.decode())
        if named is None or self.asked:
            return super().reply_to(seen)
        self.asked = named.group(1)
        return Reply(USAGE, f"call_{self.next_number(seen)}", "recall", {"reference": self.asked})


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_agent_recalls_what_was_left_out(stream):
    with Recalling(calls=20, limit=9_000) as provider:
        gc = GCMiddleware(config_for(provider))
        agent = Agent(client_at(provider), tools=[bash, gc.recall_tool()], middleware=[gc])
        response = run(agent, "Read all files.", stream=stream)
    assert response.text == DONE
    contents = [content for message in response.messages for content in message.contents]
    asked = {each.call_id for each in contents if each.type == "function_call" and each.name == "recall"}
    (recalled,) = [each.result for each in contents if each.type == "function_result" and each.call_id in asked]
    assert re.match(r"cat big_\d+.txt line 0: value 0\n", recalled), recalled[:200]


def test_a_stored_history_passes_as_it_is():
    with LoopbackProvider(calls=3) as provider:
        gc = GCMiddleware(config_for(provider))
        agent = Agent(client_at(provider, OpenAIChatClient), tools=[bash], middleware=[gc])
        run(agent, "Read all files.", "Go on.", session=AgentSession())
    stored = [seen for seen in provider.generations if seen.body.get("previous_response_id")]
    assert stored
    assert max(len(seen.messages) for seen in stored) < 3


class Answer(BaseModel):
    """What was found."""

    text: str = Field(description=" ".join(f"Rule {number} is kept." for number in range(500)))


def test_the_schema_of_a_structured_answer_counts():
    with LoopbackProvider(calls=16, limit=9_000) as provider:
        agent = Agent(client_at(provider), tools=[bash], middleware=[GCMiddleware(config_for(provider))])
        run(agent, "Read all files.", options={"response_format": Answer})
    assert len(provider.generations) == 17
    assert not provider.refusals


def test_contents_that_were_not_edited_stay_as_they_are():
    image = Content.from_data(b"\x89PNG\xff", "image/png")
    result = Content.from_function_result("call_1", result=[Content.from_text("long"), image])
    other = Content.from_hosted_file("file_1")
    message = Message("tool", [result, other], author_name="reader")
    payload = FrameworkMessages().payload(message)
    assert [block["type"] for block in payload["content"]] == ["tool_result", "hosted_file"]
    assert [block["type"] for block in payload["content"][0]["content"]] == ["text", "image"]
    changed = {**payload["content"][0], "content": "stub"}
    edited = FrameworkMessages().edited(message, {**payload, "content": [changed, payload["content"][1]]})
    assert edited.contents[0].result == "stub"
    assert edited.contents[0].call_id == "call_1"
    assert edited.contents[1] is other
    assert (edited.role, edited.author_name) == ("tool", "reader")
    assert message.contents[0].result == "long"


def test_a_reply_keeps_its_thinking_and_arguments_with_faults():
    thought = Content.from_text_reasoning(text="Hm.", protected_data="s")
    faulty = Content.from_function_call("call_1", "bash", arguments='{"command": ')
    message = Message("assistant", [thought, faulty])
    payload = FrameworkMessages().payload(message)
    assert payload["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    assert payload["content"][1]["input"] == {"arguments": '{"command": '}
    without = FrameworkMessages().edited(message, {**payload, "content": payload["content"][1:]})
    assert without.contents == [faulty]
    assert FrameworkMessages().payload(Message("system", ["You read."])) is None


class Delegating(LoopbackProvider):
    """Hands the work to an agent that is a tool; that one calls ``bash``."""

    def reply_to(self, seen):
        names = {each["function"]["name"] for each in seen.body["tools"]}
        if "helper" not in names:
            return super().reply_to(seen)
        if self.next_number(seen) > 1:
            return Reply(USAGE)
        return Reply(USAGE, "call_1", "helper", {"task": "Read all."})


def test_an_agent_that_is_a_tool_has_a_session_of_its_own():
    with Delegating(calls=30, limit=9_000) as provider:
        gc = GCMiddleware(config_for(provider))
        client = client_at(provider)
        client.function_invocation_configuration["max_iterations"] = 100
        helper = Agent(client, name="helper", description="Reads.", tools=[bash], middleware=[gc])
        agent = Agent(client_at(provider), tools=[helper.as_tool()], middleware=[gc])
        assert run(agent, "Read all files.", session=AgentSession()).text == DONE
        assert len(gc._lanes._open) == 2
    assert len(provider.generations) == 31 + 2
    assert not provider.refusals
