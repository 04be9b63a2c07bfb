"""An agent of smolagents makes 60 calls with the lines of the how-to."""

import pytest

from gc_core import Usage
from gc_core.testing import LoopbackProvider
from gc_core.testing.adapters import DONE, file_of
from gc_core.testing.loopback_replies import Reply

smolagents = pytest.importorskip("smolagents")


@pytest.mark.usefixtures("provider")
def test_an_agent_ends_within_the_window(program, monkeypatch):
    @smolagents.tool
    def bash(command: str) -> str:
        """
        Run a command.

        Args:
            command: The command.
        """
        return file_of(command)

    def reply_to(self, seen):
        """Agents of smolagents end by a tool."""
        number = self.next_number(seen)
        usage = Usage(input_tokens=seen.tokens, output_tokens=20)
        return ends(self, seen) if number <= self.calls else Reply(usage, "call_61", "final_answer", {"answer": DONE})

    ends = LoopbackProvider.reply_to
    monkeypatch.setattr(LoopbackProvider, "reply_to", reply_to)
    agent = smolagents.ToolCallingAgent([bash], program("with_smolagents").model, max_steps=70, verbosity_level=0)
    assert agent.run("Read all files.") == DONE
    observations = [step.observations for step in agent.memory.steps[1:61]]
    assert observations == [file_of(f"cat big_{number}.txt") for number in range(1, 61)]
