"""What lies in ``agents/`` is what ``ctxgc setup`` writes."""

import json
from pathlib import Path

from gc_agents.setup import EVENTS, HOOK, edits_for

AGENTS = Path(__file__).parents[1] / "agents"


def test_the_files_for_codex_are_those_that_are_written(tmp_path):
    for edit in edits_for("codex", {}, tmp_path, gateway="http://127.0.0.1:8787"):
        assert edit.after == (AGENTS / "codex" / edit.path.name).read_text()


def test_the_plugins_hooks_server_and_commands_are_those_that_are_written(tmp_path):
    settings, state, *commands = edits_for("claude-code", {}, tmp_path)
    plugin = json.loads((AGENTS / "claude-code" / "hooks" / "hooks.json").read_text())["hooks"]
    assert json.loads(settings.after)["hooks"] == plugin
    assert all(plugin[event][0]["hooks"][0]["command"] == HOOK for event in EVENTS)
    server = json.loads((AGENTS / "claude-code" / ".mcp.json").read_text())
    assert json.loads(state.after) == server
    for edit in commands:
        assert edit.after == (AGENTS / "claude-code" / "commands" / edit.path.name).read_text()
