"""What Strands' agents have beside their loop: the README's program, recall, stored sessions, structured answers."""

import re
from pathlib import Path

import pytest
from gc_strands import GCConversationManager
from gc_strands.messages import StrandsMessages
from pydantic import BaseModel, Field
from strands import Agent, tool
from strands.agent.conversation_manager import SummarizingConversationManager
from strands.models.openai import OpenAIModel
from strands.session.file_session_manager import FileSessionManager
from strands.types.exceptions import StructuredOutputException

from gc_core import GCConfig, Usage
from gc_core.testing import LoopbackProvider
from gc_core.testing.adapters import DONE, file_of
from gc_core.testing.loopback_replies import Reply

README = Path(__file__).parents[1] / "README.md"
USAGE = Usage(input_tokens=100, output_tokens=5)


@tool
def bash(command: str) -> str:
    """Run a command."""
    return file_of(command)


def model_at(provider):
    arguments = {"base_url": f"{provider.url}/v1", "api_key": "key-1", "max_retries": 0}
    return OpenAIModel(client_args=arguments, model_id="gpt-5")


def agent_at(provider, **more):
    config = GCConfig(strategy="gc_budget", context_limit=provider.limit, output_reservation=provider.limit // 20)
    manager = GCConversationManager(config)
    return Agent(model_at(provider), tools=[bash], conversation_manager=manager, callback_handler=None, **more)


def results_in(agent):
    blocks = [block for message in agent.messages for block in message["content"]]
    return [block["toolResult"] for block in blocks if "toolResult" in block]


def test_the_agent_of_the_readme_runs():
    diff = README.read_text().split("```diff\n")[1].partition("```")[0]
    program = "\n".join(line[1:] for line in diff.splitlines() if not line.startswith("-"))
    with LoopbackProvider(calls=3) as provider:
        names = {"model": model_at(provider), "tools": [bash]}
        exec(program, names)  # noqa: S102 - the README's code
        assert str(names["agent"]("Read all files.")).strip() == DONE
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
        agent = agent_at(provider)
        assert str(agent("Read all files.")).strip() == DONE
    calls = [block["toolUse"] for message in agent.messages for block in message["content"] if "toolUse" in block]
    recalls = {call["toolUseId"] for call in calls if call["name"] == "recall"}
    (recalled,) = [result["content"][0]["text"] for result in results_in(agent) if result["toolUseId"] in recalls]
    assert re.match(r"cat big_\d+.txt line 0: value 0\n", recalled), recalled[:200]


def test_a_stored_session_of_another_manager_is_taken_over_whole(tmp_path):
    with LoopbackProvider(calls=4) as provider:
        stored = FileSessionManager("one", storage_dir=str(tmp_path))
        first = Agent(
            model_at(provider), tools=[bash], conversation_manager=SummarizingConversationManager(),
            session_manager=stored, callback_handler=None,
        )  # fmt: skip
        first("Read all files.")
        provider.calls += 2
        agent = agent_at(provider, session_manager=FileSessionManager("one", storage_dir=str(tmp_path)))
        assert str(agent("Read two more.")).strip() == DONE
    assert [result["toolUseId"] for result in results_in(agent)] == [f"call_{number}" for number in range(1, 7)]


class Answer(BaseModel):
    """What was found."""

    text: str = Field(description=" ".join(f"Rule {number} is kept." for number in range(500)))


def test_the_schema_of_a_structured_answer_counts():
    with LoopbackProvider(calls=16, limit=9_000) as provider:
        agent = agent_at(provider)
        with pytest.raises(StructuredOutputException):  # the provider's last reply is no answer
            agent("Read all files.", structured_output_model=Answer)
    assert len(provider.generations) >= 17
    assert not provider.refusals


MESSAGE = {
    "role": "user",
    "content": [
        {"toolResult": {"toolUseId": "call_1", "status": "success", "content": [{"text": "long"}, {"json": {"a": 1}}]}},
        {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}},
        {"video": {"format": "mp4", "source": {"bytes": b"\x00"}}},
        {"cachePoint": {"type": "default"}},
        {"text": ""},
    ],
}


def test_blocks_that_were_not_edited_stay_as_they_are():
    payload = StrandsMessages().payload(MESSAGE)
    assert [block["type"] for block in payload["content"]] == ["tool_result", "image", "video"]
    result, *others = payload["content"]
    edited = StrandsMessages().edited(MESSAGE, {**payload, "content": [{**result, "content": "stub"}, *others]})
    stub = {"toolUseId": "call_1", "status": "success", "content": [{"text": "stub"}]}
    assert edited["content"][0]["toolResult"] == stub
    assert edited["content"][1:] == MESSAGE["content"][1:3]
    assert StrandsMessages().edited(MESSAGE, payload)["content"][0] is MESSAGE["content"][0]


def test_a_reply_keeps_its_thinking_and_its_call():
    thought = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}}
    hidden = {"reasoningContent": {"redactedContent": b"secret"}}
    call = {"toolUse": {"toolUseId": "call_1", "name": "bash", "input": {"command": "long"}, "reasoningSignature": "r"}}
    message = {"role": "assistant", "content": [thought, hidden, call]}
    payload = StrandsMessages().payload(message)
    assert [block["type"] for block in payload["content"]] == ["thinking", "redacted_thinking", "tool_use"]
    changed = {**payload["content"][2], "input": {"command": "short"}}
    edited = StrandsMessages().edited(message, {**payload, "content": [*payload["content"][:2], changed]})
    assert edited["content"][:2] == [thought, hidden]
    assert edited["content"][2]["toolUse"] == {**call["toolUse"], "input": {"command": "short"}}


class Delegating(LoopbackProvider):
    """Hands the work to an agent that is a tool; that one calls ``bash``."""

    def reply_to(self, seen):
        names = {each["function"]["name"] for each in seen.body["tools"]}
        if "helper" not in names:
            return super().reply_to(seen)
        if self.next_number(seen) > 1:
            return Reply(USAGE)
        return Reply(USAGE, "call_1", "helper", {"input": "Read all."})


def test_an_agent_that_is_a_tool_has_a_session_of_its_own():
    with Delegating(calls=30, limit=9_000) as provider:
        helper = agent_at(provider, name="helper", description="Reads.")
        agent = Agent(
            model_at(provider), tools=[helper.as_tool()], conversation_manager=helper.conversation_manager,
            callback_handler=None,
        )  # fmt: skip
        assert str(agent("Read all files.")).strip() == DONE
        assert len(helper.conversation_manager._lanes._open) == 2
    assert len(provider.generations) == 31 + 2
    assert not provider.refusals
