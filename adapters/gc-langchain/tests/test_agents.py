"""What LangChain's agents have beside their loop: checkpointers, sub-agents, recall, structured answers."""

import getpass
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from deepagents import create_deep_agent
from gc_langchain import GCMiddleware
from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy, StructuredOutputValidationError
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

from gc_core import GCConfig
from gc_core.testing import LoopbackProvider
from gc_core.testing.adapters import DONE, file_of
from gc_core.testing.loopback_replies import Reply
from gc_core.values.messages import Usage

POSTGRES = shutil.which("initdb")
USAGE = Usage(input_tokens=100, output_tokens=5)


def model_at(provider):
    return ChatOpenAI(model="gpt-5", base_url=f"{provider.url}/v1", api_key="key-1", max_retries=0)


def config_for(provider):
    return GCConfig(strategy="gc_budget", context_limit=provider.limit, output_reservation=provider.limit // 20)


def bash(command: str) -> str:
    """Run a command."""
    return file_of(command)


def run(agent, prompt="Read all files.", **where):
    settings = {"recursion_limit": 300, "configurable": where}
    return agent.invoke({"messages": [("user", prompt)]}, settings)["messages"]


# -- checkpointers -----------------------------------------------------------------------------------------------------


@pytest.fixture
def sqlite(tmp_path):
    return "sqlite", str(tmp_path / "state.db")


@pytest.fixture
def postgres():
    if POSTGRES is None:
        pytest.skip("initdb is not installed: Debian's postgresql has it")
    user = {"user": "postgres"} if getpass.getuser() == "root" else {}  # PostgreSQL refuses to run as root
    with tempfile.TemporaryDirectory() as data:
        if user:
            shutil.chown(data, "postgres")
        done(POSTGRES, "-D", data, "-U", "gc", "-A", "trust", **user)
        control = Path(POSTGRES).resolve().with_name("pg_ctl")
        options = f"-k {data} -c listen_addresses="
        done(control, "-D", data, "-w", "-o", options, "-l", f"{data}/log", "start", **user)
        yield "postgres", f"host={data} user=gc dbname=postgres"
        done(control, "-D", data, "-m", "fast", "stop", **user)


def done(*command, **more):
    """What a command printed; fails with all of it when the command does."""
    ended = subprocess.run(  # noqa: S603 - ours
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **more,
    )
    assert ended.returncode == 0, ended.stdout[-2000:]
    return ended.stdout


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_thread_goes_on_in_another_process(kind, request, tmp_path):
    kind, where = request.getfixturevalue(kind)
    with LoopbackProvider(calls=24, limit=9_000) as provider:
        first = in_a_process(provider, kind, where, tmp_path / "gc", "Read all files.")
        count, last = len(provider.generations), provider.generations[-1].messages
        provider.calls += 4
        second = in_a_process(provider, kind, where, tmp_path / "gc", "Read some more.")
        next_one = provider.generations[count].messages
    assert first == [2 + 2 * 24, DONE]
    assert second == [4 + 2 * 28, DONE]
    assert not provider.refusals
    assert next_one[: len(last)] == last


def in_a_process(provider, kind, where, directory, prompt):
    script = Path(__file__).with_name("agent_process.py")
    command = [sys.executable, script, provider.url, kind, where, directory, prompt]
    count, _, text = done(*command).splitlines()[-1].partition(" ")
    return [int(count), text]


def test_without_a_checkpointer_each_conversation_has_its_own_session():
    with LoopbackProvider(calls=12, limit=9_000) as provider:
        middleware = GCMiddleware(config_for(provider))
        agent = create_agent(model_at(provider), [bash], middleware=[middleware])
        one, two = run(agent, "Read alpha."), run(agent, "Read omega.")
        assert one[-1].text == two[-1].text == DONE
        assert len(middleware._lanes._open) == 2
        agent.invoke({"messages": [*one, ("user", "Go on.")]})
        assert len(middleware._lanes._open) == 2  # it was one of the two
        middleware.close()
    assert not provider.refusals


@pytest.mark.parametrize("nothing", ["", []])
def test_a_tool_may_return_nothing(nothing):
    def bash(command: str) -> str:  # noqa: ARG001 - the model's argument
        """Run a command."""
        return nothing

    with LoopbackProvider(calls=3) as provider:
        messages = run(create_agent(model_at(provider), [bash], middleware=[GCMiddleware(config_for(provider))]))
    assert messages[-1].text == DONE
    results = [each for seen in provider.generations for each in seen.messages if each["role"] == "tool"]
    assert len(results) == 1 + 2 + 3


# -- recall ------------------------------------------------------------------------------------------------------------


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
        messages = run(create_agent(model_at(provider), [bash], middleware=[GCMiddleware(config_for(provider))]))
    assert messages[-1].text == DONE
    recalled = next(message for message in messages if isinstance(message, ToolMessage) and message.name == "recall")
    assert re.match(r"cat big_\d+.txt line 0: value 0\n", recalled.text), recalled.text[:200]


def test_no_tool_is_added_where_none_is_wanted():
    with LoopbackProvider(calls=1) as provider:
        run(create_agent(model_at(provider), [bash], middleware=[GCMiddleware(recall=False)]))
        names = [tool["function"]["name"] for tool in provider.generations[0].body["tools"]]
    assert names == ["bash"]


# -- deepagents and sub-agents -----------------------------------------------------------------------------------------


def names_in(seen):
    return {tool["function"]["name"] for tool in seen.body["tools"]}


class Delegating(LoopbackProvider):
    """Hands the work to two sub-agents at once; each of them calls ``bash``."""

    def reply_to(self, seen):
        if "task" not in names_in(seen):
            return super().reply_to(seen)
        if self.next_number(seen) > 1:
            return Reply(USAGE)
        return Reply(USAGE, "call_1", "task", {"description": "Read all.", "subagent_type": "general-purpose"})


def deep_agent(provider, name="SummarizationMiddleware"):
    return create_deep_agent(
        model_at(provider),
        [bash],
        system_prompt="You read.",
        middleware=[GCMiddleware(config_for(provider), name=name)],
    )


def test_a_deep_agent_ends_and_its_own_compaction_is_replaced():
    with LoopbackProvider(calls=60) as provider:
        agent = deep_agent(provider)
        messages = run(agent)
    assert messages[-1].text == DONE
    assert not provider.refusals
    results = [message.text for message in messages if isinstance(message, ToolMessage)]
    assert results == [file_of(f"cat big_{number}.txt") for number in range(1, 61)]
    assert not any("summar" in node.lower() for node in agent.nodes)  # a node of the built-in's


def test_a_sub_agent_is_collected_too_and_apart_from_its_caller():
    with Delegating(calls=60) as provider:
        messages = run(deep_agent(provider), thread_id="one")
    assert messages[-1].text == DONE
    assert not provider.refusals
    assert len(provider.generations) > 60
    own = [seen for seen in provider.generations if "task" in names_in(seen)]
    assert max(seen.tokens for seen in own) < 20_000  # the caller's requests have nothing of the sub-agent's


# -- structured answers ------------------------------------------------------------------------------------------------


class Answer(BaseModel):
    """What was found."""

    text: str = Field(description=" ".join(f"Rule {number} is kept." for number in range(500)))


def test_the_schema_of_a_structured_answer_counts():
    with LoopbackProvider(calls=16, limit=9_000) as provider:
        agent = create_agent(
            model_at(provider), [bash], middleware=[GCMiddleware(config_for(provider))],
            response_format=ProviderStrategy(Answer),
        )  # fmt: skip
        with pytest.raises(StructuredOutputValidationError):  # the provider's last reply is no JSON
            run(agent)
    assert len(provider.generations) == 17
    assert not provider.refusals
