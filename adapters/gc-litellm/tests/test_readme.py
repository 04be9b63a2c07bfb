"""The program of the README, run."""

import asyncio
from pathlib import Path

import litellm

from gc_core.testing import LoopbackProvider
from gc_core.testing.adapters import DONE

README = Path(__file__).parents[1] / "README.md"


def test_the_program_of_the_readme_answers(monkeypatch):
    diff = README.read_text().split("```diff\n")[1].partition("```")[0]
    lines = [line[1:] for line in diff.splitlines() if not line.startswith("-")]
    program = "async def run(model, messages):\n" + "\n".join(f"    {line}" for line in lines) + "\n    return reply\n"
    names = {}
    exec(program, names)  # noqa: S102 - the README's code
    with LoopbackProvider(calls=0) as provider:
        monkeypatch.setenv("OPENAI_API_KEY", "key-1")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        monkeypatch.setattr(litellm, "callbacks", [])
        reply = asyncio.run(names["run"]("openai/gpt-5-mini", [{"role": "user", "content": "Hello"}]))
    assert reply.choices[0].message.content == DONE
