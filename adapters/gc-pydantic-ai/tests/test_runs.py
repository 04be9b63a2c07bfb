"""What runs of Pydantic AI have beside their loop: recall, agents that call agents, structured answers."""

import re
from pathlib import Path

import pytest
from gc_pydantic_ai import GCCapability
from openai import AsyncOpenAI
from pydantic import BaseModel, Field
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelRequest, ToolReturnPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.output import NativeOutput
from pydantic_ai.providers.openai import OpenAIProvider

from gc_core import GCConfig
from gc_core.testing import LoopbackProvider
from gc_core.testing.adapters import DONE, file_of
from gc_core.testing.loopback_replies import Reply
from gc_core.values.messages import Usage

README = Path(__file__).parents[1] / "README.md"
USAGE = Usage(input_tokens=100, output_tokens=5)
LIMITS = UsageLimits(request_limit=None)


def bash(command: str) -> str:
    """Run a command."""
    return file_of(command)


def model_at(provider):
    client = AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="key-1", max_retries=0)
    return OpenAIChatModel("gpt-5", provider=OpenAIProvider(openai_client=client))


def capability_for(provider, **more):
    config = GCConfig(strategy="gc_budget", context_limit=provider.limit, output_reservation=provider.limit // 20)
    return GCCapability(config, **more)


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
        agent = Agent(model_at(provider), tools=[bash], capabilities=[capability_for(provider)])
        result = agent.run_sync("Read all.", usage_limits=LIMITS)
    assert result.output == DONE
    parts = [part for message in result.all_messages() if isinstance(message, ModelRequest) for part in message.parts]
    recalled = next(part.content for part in parts if isinstance(part, ToolReturnPart) and part.tool_name == "recall")
    assert re.match(r"cat big_\d+.txt line 0: value 0\n", recalled), recalled[:200]


class Delegating(LoopbackProvider):
    """Hands the work to another agent, which calls ``bash``."""

    def reply_to(self, seen):
        if "helper" not in {tool["function"]["name"] for tool in seen.body["tools"]}:
            return super().reply_to(seen)
        if self.next_number(seen) > 1:
            return Reply(USAGE)
        return Reply(USAGE, "call_1", "helper", {"task": "Read all."})


def test_an_agent_that_another_one_calls_is_collected_apart():
    with Delegating(calls=30, limit=9_000) as provider:
        capability = capability_for(provider)
        reader = Agent(model_at(provider), tools=[bash], capabilities=[capability])
        chief = Agent(model_at(provider), capabilities=[capability])

        @chief.tool_plain
        async def helper(task: str) -> str:
            return (await reader.run(task, usage_limits=LIMITS)).output

        assert chief.run_sync("Let it be read.").output == DONE
        assert len(capability._lanes._open) == 2
    assert not provider.refusals
    assert len(provider.generations) == 33


class Answer(BaseModel):
    """What was found."""

    text: str = Field(description=" ".join(f"Rule {number} is kept." for number in range(500)))


def test_the_schema_of_a_structured_answer_counts():
    with LoopbackProvider(calls=16, limit=9_000) as provider:
        agent = Agent(
            model_at(provider), tools=[bash], output_type=NativeOutput(Answer), capabilities=[capability_for(provider)],
            retries=0,
        )  # fmt: skip
        with pytest.raises(UnexpectedModelBehavior):  # the provider's last reply is no JSON
            agent.run_sync("Read all.", usage_limits=LIMITS)
    assert not provider.refusals
    assert len(provider.generations) >= 17


def test_the_agent_of_the_readme_runs():
    diff = README.read_text().split("```diff\n")[1].partition("```")[0]
    with LoopbackProvider(calls=3) as provider:
        names = {"model": model_at(provider), "tools": [bash]}
        exec("\n".join(line[1:] for line in diff.splitlines() if not line.startswith("-")), names)  # noqa: S102
        assert names["agent"].run_sync("Read all.").output == DONE
        assert "recall" in provider.seen[0].raw.decode()
