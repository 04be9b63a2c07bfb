"""A crew makes 60 calls with the lines of the how-to."""

import pytest

from gc_core.testing.adapters import DONE, file_of

pytest.importorskip("crewai")


@pytest.fixture(autouse=True)
def quiet(monkeypatch, tmp_path):
    for name in ("CREWAI_DISABLE_TELEMETRY", "CREWAI_DISABLE_TRACKING", "OTEL_SDK_DISABLED"):
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path))


@pytest.mark.usefixtures("provider")
def test_a_crew_ends_within_the_window(program):
    from crewai import Agent, Crew, Task
    from crewai.tools import tool

    @tool
    def bash(command: str) -> str:
        """Run a command."""
        return file_of(command)

    llm = program("with_crewai").llm
    agent = Agent(role="reader", goal="Read files.", backstory="You read files.", tools=[bash], llm=llm, max_iter=200)
    task = Task(description="Read all files.", expected_output="A word.", agent=agent)
    assert str(Crew(agents=[agent], tasks=[task]).kickoff()) == DONE
