"""The changes that the README tells its reader to make, made."""

from pathlib import Path

import pytest

from gc_core.testing import LoopbackProvider
from gc_core.testing.adapters import DONE, file_of

README = Path(__file__).parents[1] / "README.md"
DIFFS = [part.partition("```")[0] for part in README.read_text().split("```diff\n")[1:]]


def program(diff):
    """The user's program after the change."""
    return "\n".join(line[1:] for line in diff.splitlines() if not line.startswith("-"))


@pytest.mark.parametrize("diff", DIFFS[:2], ids=["create_agent", "create_deep_agent"])
def test_the_agent_of_the_readme_runs(diff):
    from langchain_openai import ChatOpenAI

    def bash(command: str) -> str:
        """Run a command."""
        return file_of(command)

    with LoopbackProvider(calls=3) as provider:
        model = ChatOpenAI(model="gpt-5", base_url=f"{provider.url}/v1", api_key="key-1")
        names = {"model": model, "tools": [bash]}
        exec(program(diff), names)  # noqa: S102 - the README's code
        state = names["agent"].invoke({"messages": [("system", "Read."), ("user", "Read all files.")]})
        assert state["messages"][-1].text == DONE
        assert "recall" in provider.seen[0].raw.decode()


def test_the_function_of_the_readme_trims():
    from langchain_core.messages import AIMessage, HumanMessage

    names = {"messages": [HumanMessage("Hello"), AIMessage("Yes?")] * 3}
    exec(program(DIFFS[2]), names)  # noqa: S102 - the README's code
    assert [message.text for message in names["messages"]] == ["Hello", "Yes?"] * 3
