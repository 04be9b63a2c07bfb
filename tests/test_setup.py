"""``ctxgc setup``: what it writes, what it leaves alone, and that removing gives back what was there."""

import json
import tomllib
from pathlib import Path

import pytest
from ctxgc.cli.app import app
from ctxgc.doctor import diagnose
from gc_agents.commands import COMMANDS
from gc_agents.failure_log import FAILURES
from gc_agents.setup import AGENTS, CODEX_HOOK, EVENTS, HOOK, edits_for
from typer.testing import CliRunner

from gc_core.errors import ConfigError

URL = "http://127.0.0.1:8787/secret"
FILES = {
    "claude-code": (".claude/settings.json", ".claude.json", ".claude/commands/gc.md", ".claude/commands/gc-recall.md"),
    "codex": (".codex/config.toml", ".codex/gc.config.toml", ".codex/hooks.json"),
    "opencode": (".config/opencode/opencode.json",),
}
OWN_HOOK = {"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt"}]}
HELD = {
    ".claude/settings.json": json.dumps({"model": "opus", "hooks": {"PostToolUse": [OWN_HOOK]}}, indent=4),
    ".claude.json": json.dumps({"starts": 7, "mcpServers": {"other": {"command": "x"}}, "é": "ü"}, ensure_ascii=False),
    ".claude/commands/gc.md": None,
    ".claude/commands/gc-recall.md": None,
    ".codex/config.toml": '# mine\nmodel = "gpt-5.4"\n\n[mcp_servers.other]\ncommand = "x"  # kept',
    ".codex/gc.config.toml": 'model = "gpt-5.4"\n',
    ".codex/hooks.json": json.dumps({"hooks": {"SessionStart": [OWN_HOOK], "Stop": [OWN_HOOK]}}, indent=2),
    ".config/opencode/opencode.json": '{\n\t"theme": "dark",\n\t"provider": {\n\t\t"anthropic": {"npm": 1}\n\t}\n}\n',
}


@pytest.fixture(params=[True, False], ids=["with files", "without"])
def home(request, tmp_path):
    for name, text in HELD.items() if request.param else ():
        if text is None:
            continue
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o640)
    return tmp_path


def apply(agent, home, **more):
    more.setdefault("gateway", URL)
    return [edit.apply() for edit in edits_for(agent, {}, home, **more) if edit.changes]


def held(home):
    return {name: (home / name).read_text() if (home / name).exists() else None for name in HELD}


def value(text, name):
    return (
        {}
        if not text
        else text
        if name.endswith(".md")
        else tomllib.loads(text)
        if name.endswith(".toml")
        else json.loads(text)
    )


@pytest.mark.parametrize("agent", AGENTS)
def test_writing_twice_is_writing_once_and_removing_gives_back_what_was_there(agent, home):
    before = held(home)
    backups = apply(agent, home)
    written = held(home)
    assert written != before
    assert apply(agent, home) == []
    assert held(home) == written
    for name, backup in zip(FILES[agent], backups, strict=True):
        assert (backup is None) == (before[name] is None)
        if backup is not None:
            assert backup.read_text() == before[name]
            assert (home / name).stat().st_mode & 0o777 == 0o640
    apply(agent, home, remove=True)
    after = held(home)
    assert {name: value(text, name) for name, text in after.items()} == {
        name: value(text, name) for name, text in before.items()
    }
    if agent == "codex" and before[".codex/config.toml"]:
        assert after[".codex/config.toml"].rstrip("\n") == before[".codex/config.toml"]


def test_claude_code_gets_its_hooks_beside_those_of_the_user(home):
    apply("claude-code", home)
    settings = json.loads((home / ".claude/settings.json").read_text())
    assert set(EVENTS) <= settings["hooks"].keys()
    commands = [each["hooks"][0]["command"] for each in settings["hooks"]["PostToolUse"]]
    assert commands[-1] == HOOK
    assert settings["env"]["ANTHROPIC_BASE_URL"] == URL
    servers = json.loads((home / ".claude.json").read_text())["mcpServers"]
    assert servers["gc"] == {"type": "stdio", "command": "ctxgc", "args": ["mcp"]}


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_hook_that_the_user_added_to_our_entry_stays(agent, home):
    apply(agent, home)
    path = home / (".claude/settings.json" if agent == "claude-code" else ".codex/hooks.json")
    settings = json.loads(path.read_text())
    settings["hooks"]["SessionStart"][-1]["hooks"].insert(0, {"type": "command", "command": "mine"})
    path.write_text(json.dumps(settings))
    apply(agent, home)
    assert path.read_text().count("mine") == 1
    assert path.read_text().count("exec gc-hook") == len(EVENTS if agent == "claude-code" else ["SessionStart"])
    apply(agent, home, remove=True)
    assert "gc-hook" not in path.read_text()
    assert {"type": "command", "command": "mine"} in json.loads(path.read_text())["hooks"]["SessionStart"][-1]["hooks"]


def test_without_a_gateway_the_users_base_url_stays(tmp_path):
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"env": {"ANTHROPIC_BASE_URL": "https://proxy.example"}}')
    apply("claude-code", tmp_path, gateway="")
    apply("claude-code", tmp_path, gateway="", remove=True)
    assert json.loads(path.read_text()) == {"env": {"ANTHROPIC_BASE_URL": "https://proxy.example"}}


def test_a_command_of_the_users_own_stays(tmp_path):
    path = tmp_path / ".claude/commands/gc.md"
    path.parent.mkdir(parents=True)
    path.write_text("Commit with git.\n")
    apply("claude-code", tmp_path)
    assert path.read_text() == "Commit with git.\n"
    assert path.with_name("gc-recall.md").read_text() == COMMANDS["gc-recall.md"]
    apply("claude-code", tmp_path, remove=True)
    assert [each.name for each in path.parent.glob("*.md")] == ["gc.md"]


def test_codex_gets_a_server_and_a_profile_for_the_gateway(home):
    before = held(home)[".codex/gc.config.toml"]
    apply("codex", home)
    config = tomllib.loads((home / ".codex/config.toml").read_text())
    assert config["mcp_servers"]["gc"] == {"command": "ctxgc", "args": ["mcp"]}
    profile = tomllib.loads((home / ".codex/gc.config.toml").read_text())
    assert profile["model_providers"]["gc"]["base_url"] == f"{URL}/v1"
    assert profile["model_provider"] == "gc"
    apply("codex", home, gateway="")
    assert held(home)[".codex/gc.config.toml"] == before


def test_codex_gets_its_hook_beside_those_of_the_user(home):
    apply("codex", home)
    hooks = json.loads((home / ".codex/hooks.json").read_text())["hooks"]
    (own,) = [entry for entry in hooks["SessionStart"] if entry != OWN_HOOK]
    assert own["hooks"] == [{"type": "command", "command": CODEX_HOOK, "timeout": 5}]
    assert hooks.get("Stop", [OWN_HOOK]) == [OWN_HOOK]
    assert (OWN_HOOK in hooks["SessionStart"]) == ("Stop" in hooks)


def test_opencode_gets_the_gateways_own_server(home):
    apply("opencode", home)
    config = json.loads((home / ".config/opencode/opencode.json").read_text())
    assert config["mcp"]["gc"] == {"type": "remote", "url": f"{URL}/mcp", "enabled": True}
    assert config["provider"]["anthropic"]["options"]["baseURL"] == f"{URL}/v1"


@pytest.mark.parametrize(
    ("agent", "name", "text"),
    [
        ("claude-code", ".claude/settings.json", '{"a": 1, // mine\n}'),
        ("claude-code", ".claude/settings.json", "[]"),
        ("claude-code", ".claude/settings.json", '{"hooks": 7}'),
        ("claude-code", ".claude.json", '{"mcpServers": []}'),
        ("codex", ".codex/config.toml", "model = "),
        ("codex", ".codex/hooks.json", '{"hooks": []}'),
        ("codex", ".codex/config.toml", '[mcp_servers.gc]\ncommand = "mine"\n'),
        ("opencode", ".config/opencode/opencode.json", '{"mcp": "x"}'),
    ],
)
def test_a_file_that_is_not_understood_is_refused_and_stays(agent, name, text, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    with pytest.raises(ConfigError, match="nothing was changed"):
        edits_for(agent, {}, tmp_path, gateway=URL)
    assert path.read_text() == text


def test_a_file_that_changed_meanwhile_or_cannot_be_written_stays(tmp_path):
    edit, *_ = edits_for("codex", {}, tmp_path)
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text("model = 'x'\n")
    with pytest.raises(ConfigError, match="changed meanwhile"):
        edit.apply()
    assert (tmp_path / ".codex" / "config.toml").read_text() == "model = 'x'\n"


def test_a_link_keeps_being_one(tmp_path):
    dotfiles = tmp_path / "dotfiles.toml"
    dotfiles.write_text("")
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").symlink_to(dotfiles)
    apply("codex", tmp_path)
    assert (tmp_path / ".codex" / "config.toml").is_symlink()
    assert "mcp_servers" in dotfiles.read_text()


def test_the_command_shows_a_diff_writes_says_where_the_backup_is_and_removes(tmp_path, monkeypatch):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text('model = "gpt-5.4"\n')
    shown = CliRunner().invoke(app, ["setup", "codex", "--show"])
    assert '+command = "ctxgc"' in shown.stdout
    assert (tmp_path / "config.toml").read_text() == 'model = "gpt-5.4"\n'
    wrote = CliRunner().invoke(app, ["setup", "codex"])
    assert wrote.stdout == shown.stdout
    backup = Path(wrote.stderr.partition("backup: ")[2].partition("\n")[0])
    assert backup.read_text() == 'model = "gpt-5.4"\n'
    assert "nothing to change" in CliRunner().invoke(app, ["setup", "codex"]).stderr
    CliRunner().invoke(app, ["setup", "codex", "--remove"])
    assert (tmp_path / "config.toml").read_text() == 'model = "gpt-5.4"\n'
    refused = CliRunner().invoke(app, ["setup", "emacs"])
    assert (refused.exit_code, "cannot be set up" in refused.stderr) == (1, True)


def test_the_doctor_says_what_is_missing_and_what_the_hooks_met(tmp_path):
    environ = {"HOME": str(tmp_path), "PATH": "/nowhere", "GC_AGENTS_DIRECTORY": str(tmp_path / "state")}
    assert [each for each in diagnose(environ=environ) if each.subject == "agents"] == []
    apply("claude-code", tmp_path)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / FAILURES).write_text("2026-11-23T23:15:47Z OSError: No space left on device\n")
    found = [each for each in diagnose(environ=environ) if each.subject == "agents"]
    assert [each.level.value for each in found] == ["error", "warning"]
    assert "gc-hook" in found[0].text
    assert "No space left on device" in found[1].text
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("gc-hook", "ctxgc"):
        (tools / name).write_text("#!/bin/sh\n")
        (tools / name).chmod(0o755)
    (tmp_path / "state" / FAILURES).unlink()
    (healthy,) = [each for each in diagnose(environ={**environ, "PATH": str(tools)}) if each.subject == "agents"]
    assert (healthy.level.value, healthy.text) == ("ok", "Claude Code has gc-core's hooks and server")
