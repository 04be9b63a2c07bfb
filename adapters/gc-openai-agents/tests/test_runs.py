"""What runs of the SDK have beside their loop: names, agents as tools, recall, a history that the server keeps."""

import re
from pathlib import Path

import pytest
from agents.models.openai_provider import OpenAIProvider
from gc_openai_agents import GCProvider, conversation
from openai import AsyncOpenAI

from agents import Agent, RunConfig, Runner, function_tool, set_default_openai_client
from gc_core import GCConfig
from gc_core.testing import LoopbackProvider
from gc_core.testing.adapters import DONE, file_of
from gc_core.testing.loopback_replies import Reply
from gc_core.values.messages import Usage

README = Path(__file__).parents[1] / "README.md"
USAGE = Usage(input_tokens=100, output_tokens=5)


@function_tool
def bash(command: str) -> str:
    """Run a command."""
    return file_of(command)


def provider_for(server):
    client = AsyncOpenAI(base_url=f"{server.url}/v1", api_key="key-1", max_retries=0)
    config = GCConfig(strategy="gc_budget", context_limit=server.limit, output_reservation=server.limit // 20)
    return GCProvider(config, provider=OpenAIProvider(openai_client=client))


def run(agent, provider, prompt="Read all.", **more):
    config = RunConfig(model_provider=provider, tracing_disabled=True)
    return Runner.run_sync(agent, prompt, run_config=config, max_turns=200, **more)


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
    with Recalling(calls=20, limit=9_000) as server:
        provider = provider_for(server)
        result = run(Agent("reader", tools=[bash, provider.recall_tool()], model="gpt-5"), provider)
    assert result.final_output == DONE
    outputs = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
    places = [number for number, item in enumerate(server.generations) if "recall" in str(item.messages[-2:])]
    recalled = server.generations[places[0]].messages[-1]["output"]
    assert recalled in outputs
    assert re.match(r"cat big_\d+.txt line 0: value 0\n", recalled), recalled[:200]


class Delegating(LoopbackProvider):
    """Hands the work to another agent, which calls ``bash``."""

    def reply_to(self, seen):
        if "helper" not in {tool["name"] for tool in seen.body["tools"]}:
            return super().reply_to(seen)
        if self.next_number(seen) > 1:
            return Reply(USAGE)
        return Reply(USAGE, "call_1", "helper", {"input": "Read all."})


def test_an_agent_used_as_a_tool_is_collected_apart():
    with Delegating(calls=30, limit=9_000) as server, conversation("one"):
        provider = provider_for(server)
        helper = Agent("helper", tools=[bash], model="gpt-5").as_tool("helper", "Helps.", max_turns=100)
        result = run(Agent("chief", tools=[helper], model="gpt-5"), provider, "Let it be read.")
        assert len(provider._lanes._open) == 2
    assert result.final_output == DONE
    assert not server.refusals
    assert len(server.generations) == 33


def test_what_the_server_keeps_passes_as_it_is():
    with LoopbackProvider(calls=3) as server:
        provider = provider_for(server)
        run(Agent("reader", tools=[bash], model="gpt-5"), provider, auto_previous_response_id=True)
        assert len(provider._lanes._open) <= 1  # the first request of a run is a history of its own
    assert [len(seen.messages) for seen in server.generations] == [1, 1, 1, 1]  # each has what is new alone


def test_the_program_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    diff = README.read_text().split("```diff\n")[1].partition("```")[0]
    with LoopbackProvider(calls=3) as server:
        set_default_openai_client(AsyncOpenAI(base_url=f"{server.url}/v1", api_key="key-1"), use_for_tracing=False)
        names = {"tools": [bash]}
        exec("\n".join(line[1:] for line in diff.splitlines() if not line.startswith("-")), names)  # noqa: S102
    assert names["result"].final_output == DONE


@pytest.fixture(autouse=True)
def no_tracing(monkeypatch):
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
