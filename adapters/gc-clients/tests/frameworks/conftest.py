"""The programs of docs/how-to/frameworks.md, each of which begins with its file's name."""

import re
import sys
import types
from pathlib import Path

import pytest

from gc_core import GCConfig
from gc_core.testing import LoopbackProvider

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "frameworks.md"
PROGRAMS = dict(re.findall(r"```py\n# (\w+)\.py\n(.*?)```", PAGE.read_text(), re.DOTALL))


def run_program(name, **names):
    module = types.ModuleType(name)
    vars(module).update(names)
    exec(PROGRAMS[name], vars(module))  # noqa: S102 - the page's code
    return module


@pytest.fixture
def program(monkeypatch):
    """Runs a program of the page; returns all names that it has then."""
    config = GCConfig(strategy="gc_budget", context_limit=27_000, output_reservation=1_500)

    def run(name):
        if "gc_httpx" in PROGRAMS[name]:
            monkeypatch.setitem(sys.modules, "gc_httpx", run_program("gc_httpx"))
        return run_program(name, config=config)

    return run


@pytest.fixture
def provider(monkeypatch):
    """A provider whose run of 60 calls has to be in order."""
    monkeypatch.setenv("OPENAI_API_KEY", "key-1")
    with LoopbackProvider() as made:
        for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
            monkeypatch.setenv(name, f"{made.url}/v1")
        yield made
    assert not made.refusals
    assert len(made.generations) >= made.calls + 1
    assert max(seen.tokens for seen in made.generations) > made.limit // 2
