"""What the kit's agents have beside their loop: the README's program, recall, agents as tools, structured answers."""

import asyncio
import re
from pathlib import Path

import pytest
from gc_adk import GCPlugin
from gc_adk.messages import Contents
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.google_llm import Gemini
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai.types import Blob, Content, FunctionCall, FunctionResponse, Part
from pydantic import BaseModel, Field

from gc_core import GCConfig, Usage
from gc_core.testing import LoopbackProvider
from gc_core.testing.adapters import DONE, file_of
from gc_core.testing.loopback_replies import Reply

README = Path(__file__).parents[1] / "README.md"
USAGE = Usage(input_tokens=100, output_tokens=5)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", "key-1")


def bash(command: str) -> str:
    """Run a command."""
    return file_of(command)


def model_at(provider):
    return Gemini(model="gemini-2.5-flash", base_url=provider.url)


def app_at(provider, **more):
    config = GCConfig(strategy="gc_budget", context_limit=provider.limit, output_reservation=provider.limit // 20)
    agent = LlmAgent(name="reader", model=model_at(provider), **{"tools": [bash], **more})
    return App(name="files", root_agent=agent, plugins=[GCPlugin(config)])


def run(app, prompt="Read all files."):
    async def run_async():
        runner = InMemoryRunner(app=app)
        return await runner.run_debug(prompt, quiet=True)

    return asyncio.run(run_async())


def test_the_app_of_the_readme_runs():
    diff = README.read_text().split("```diff\n")[1].partition("```")[0]
    program = "\n".join(line[1:] for line in diff.splitlines() if not line.startswith("-"))
    with LoopbackProvider(calls=3) as provider:
        names = {"model": model_at(provider), "tools": [bash]}
        exec(program, names)  # noqa: S102 - the README's code
        assert run(names["app"])[-1].content.parts[0].text == DONE
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


def test_the_agent_recalls_what_was_left_out():
    with Recalling(calls=20, limit=9_000) as provider:
        events = run(app_at(provider))
    assert events[-1].content.parts[0].text == DONE
    responses = [response for event in events for response in event.get_function_responses()]
    (recalled,) = [response.response["result"] for response in responses if response.name == "recall"]
    assert re.match(r"cat big_\d+.txt line 0: value 0\n", recalled), recalled[:200]


def names_in(seen):
    return {each["name"] for tool in seen.body["tools"] for each in tool["functionDeclarations"]}


class Delegating(LoopbackProvider):
    """Hands the work to an agent that is a tool; that one calls ``bash``."""

    def reply_to(self, seen):
        if "helper" not in names_in(seen):
            return super().reply_to(seen)
        if self.next_number(seen) > 1:
            return Reply(USAGE)
        return Reply(USAGE, "call_1", "helper", {"request": "Read all."})


def test_an_agent_that_is_a_tool_is_collected_too_and_apart_from_its_caller():
    with Delegating(calls=30, limit=9_000) as provider:
        helper = LlmAgent(name="helper", description="Reads.", model=model_at(provider), tools=[bash])
        events = run(app_at(provider, tools=[AgentTool(helper)]))
    assert events[-1].content.parts[0].text == DONE
    assert len(provider.generations) == 31 + 2
    assert not provider.refusals
    own = [seen for seen in provider.generations if "helper" in names_in(seen)]
    assert max(seen.tokens for seen in own) < 2_000  # the caller's requests have nothing of the helper's


def unreachable(**more):
    model = Gemini(model="gemini-2.5-flash", base_url="http://127.0.0.1:1")
    return LlmAgent(name="reader", model=model, **more)


def test_an_error_that_is_no_refusal_is_raised_as_without_the_plugin():
    with pytest.raises(Exception, match="connect") as plain:
        run(App(name="files", root_agent=unreachable()))
    plugin = GCPlugin()
    with pytest.raises(type(plain.value)):
        run(App(name="files", root_agent=unreachable(), plugins=[plugin]))
    assert not plugin._calls


def test_an_agents_own_callback_answers_an_error():
    def answer(callback_context, llm_request, error):  # noqa: ARG001 - the kit's names
        return LlmResponse(content=Content(role="model", parts=[Part(text="Later.")]))

    agent = unreachable(on_model_error_callback=answer)
    events = run(App(name="files", root_agent=agent, plugins=[GCPlugin()]))
    assert events[-1].content.parts[0].text == "Later."


class Answer(BaseModel):
    """What was found."""

    text: str = Field(description=" ".join(f"Rule {number} is kept." for number in range(500)))


def test_the_schema_of_a_structured_answer_counts():
    with LoopbackProvider(calls=16, limit=9_000) as provider:
        run(app_at(provider, output_schema=Answer))
    assert len(provider.generations) == 17
    assert not provider.refusals


def test_parts_that_were_not_edited_stay_as_they_are():
    image = Part(inline_data=Blob(data=b"\x89PNG\xff", mime_type="image/png"))
    call = Part(function_call=FunctionCall(name="bash", args={"command": "ls"}), thought_signature=b"\xfe\xff")
    response = Part(function_response=FunctionResponse(name="bash", response={"result": "long"}))
    message = Content(role="user", parts=[image, call, response])
    payload = Contents().payload(message)
    changed = {"functionResponse": {**payload["parts"][2]["functionResponse"], "response": {"result": "stub"}}}
    edited = Contents().edited(message, {**payload, "parts": [*payload["parts"][:2], changed]})
    assert edited.parts[0] is image
    assert edited.parts[1] is call
    assert edited.parts[2].function_response.response == {"result": "stub"}
    assert Contents().written(payload) == message
