"""An agent of LlamaIndex makes 60 calls with the lines of the how-to."""

import asyncio

import pytest

from gc_core.testing.adapters import DONE, file_of

workflow = pytest.importorskip("llama_index.core.agent.workflow")


def bash(command: str) -> str:
    """Run a command."""
    return file_of(command)


@pytest.mark.usefixtures("provider")
@pytest.mark.parametrize("streaming", [False, True])
def test_an_agent_ends_within_the_window(program, streaming):
    llm = program("with_llama_index").llm

    async def run():
        agent = workflow.FunctionAgent(tools=[bash], llm=llm, streaming=streaming, system_prompt="You read files.")
        return await agent.run("Read all files.", max_iterations=200)

    reply = asyncio.run(run())
    assert str(reply) == DONE
    outputs = [call.tool_output.raw_output for call in reply.tool_calls]
    assert outputs == [file_of(f"cat big_{number}.txt") for number in range(1, 61)]
