"""
Runs one real agent with what gc-agents puts inside it, against a scripted provider, and writes what both saw as JSON.

    python -m tests.support.real_agent CLIENT WAY SCRIPT FOLDER

WAY is ``plugin`` (Claude Code's plugin, no gateway), ``gateway`` (the plugin behind ``ctxgc run``), ``setup`` (what
``ctxgc setup`` writes), ``profile`` (the same for Codex, with its profile for a gateway), ``collect`` (opencode's
plugin, which asks a gateway what to shorten) or ``bare``. SCRIPT is a JSON list of calls, each a name and its
arguments. Meant for a network namespace that has loopback alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from gc_gateway.clients import client_of, endpoints_of
from gc_gateway.dialects import DIALECTS
from gc_gateway.serving import running
from gc_gateway.settings import Settings

from tests.support.real_client import CLIENTS, KEY, NODE, RESULT, ROOT
from tests.support.scripted_standin import ScriptedStandIn

SECONDS = int(os.environ.get("SECONDS", "170"))
FILES = int(os.environ.get("FILES", "39"))
TASK = os.environ.get("TASK", "Read the files. Never touch billing.py.")
PLUGIN = ROOT / "agents" / "claude-code"
HOOKS = "answers_of_hooks"
NODE_PATH = [str(Path(node).parent)] if (node := shutil.which("node")) else []
LIMIT = int(os.environ.get("LIMIT", "60000"))
COMPACT_AT = os.environ.get("COMPACT_AT", "500000")
CODE = os.environ.get("PYTHONPATH", str(ROOT))


def main(name, way, script, folder):
    folder = Path(folder)
    files, tools = folder / "files", folder / "bin"
    files.mkdir()
    tools.mkdir()
    for number in range(1, FILES + 1):
        lines = "\n".join(f"needle{number} line {each} of the file" for each in range(750))
        (files / f"big_{number}.txt").write_text(f"{lines}\nE   AssertionError: refused {number}\n")
    for command, module in (("ctxgc", "ctxgc"), ("gc-hook", "gc_agents.hook")):
        path = f"PYTHONPATH={CODE}"  # of what it starts Codex keeps few variables
        noted = f' | tee -a "{folder / HOOKS}"' if command == "gc-hook" else ""
        (tools / command).write_text(f'#!/bin/sh\n{path} {sys.executable} -m {module} "$@"{noted}\n')
        (tools / command).chmod(0o755)
    environment = {
        "HOME": str(folder),
        "PATH": ":".join([str(tools), str(Path(sys.executable).parent), *NODE_PATH, "/usr/bin", "/bin"]),
        "PYTHONPATH": CODE,
        "GC_AGENTS_DIRECTORY": str(folder / "state"),
        "GC_GATEWAY_DIRECTORY": str(folder / "lanes"),
    }
    of_agents = json.loads(os.environ.get("OF_AGENTS", "[]"))
    with (
        ScriptedStandIn(json.loads(script), of_agents, limit=LIMIT, key=KEY) as provider,
        contextlib.ExitStack() as stack,
    ):
        if way == "collect":
            settings = Settings(directory=folder / "lanes", windows={"*": LIMIT * 3 // 4})
            environment["GC_GATEWAY_URL"], _ = stack.enter_context(running(settings))
        command, environment = AGENTS[name](way, environment, folder, provider.url)
        if way == "gateway":
            upstreams = [each for dialect in DIALECTS for each in ("--upstream", f"{dialect}={provider.url}")]
            window = ("--window", f"*={LIMIT * 3 // 4}", "--directory", str(folder / "lanes"))
            command = [sys.executable, "-m", "ctxgc", "run", *upstreams, *window, "--", *command]
        else:
            endpoints = endpoints_of({}, dict.fromkeys(DIALECTS, provider.url))
            urls = {dialect: f"{provider.url}{endpoint.path}" for dialect, endpoint in endpoints.items()}
            launch = client_of(command).launch(command, urls, environment, folder)
            command, environment = list(launch.command), dict(launch.environment)
        ended = subprocess.run(  # noqa: S603 - a client of the table
            command, env=environment, cwd=files, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
    told = {
        "status": ended.returncode,
        "stdout": ended.stdout,
        "stderr": ended.stderr,
        "bodies": [each.body for each in provider.generations],
        "tokens": [each.tokens for each in provider.generations],
        "summaries": provider.summaries,
        "hooks": (folder / HOOKS).read_text() if (folder / HOOKS).exists() else "",
    }
    (folder / RESULT).write_text(json.dumps(told))


def _claude(way, environment, _folder, _url):
    own = {
        "ANTHROPIC_API_KEY": KEY,
        "DISABLE_AUTOUPDATER": "1",
        "ENABLE_TOOL_SEARCH": "false",
        "CLAUDE_CODE_AUTO_COMPACT_WINDOW": COMPACT_AT,
    }
    if os.environ.get("COMPACT_PERCENT"):
        own["CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"] = os.environ["COMPACT_PERCENT"]
    plugin = () if way in {"bare", "setup"} else ("--plugin-dir", str(PLUGIN))
    if way == "setup":
        _set_up("claude-code", environment)
    if os.environ.get("ACCEPT"):
        plugin += ("--settings", json.dumps({"hooks": {"Elicitation": [{"hooks": [ACCEPTS]}]}}))
    tools = "Bash,Task,Agent,mcp__gc,mcp__plugin_gc_gc"
    command = [str(NODE / "claude"), "-p", TASK, "--output-format", "json", "--allowedTools", tools, *plugin]
    return command, {**environment, **own}


ACCEPTED = {"hookEventName": "Elicitation", "action": "accept", "content": {"undo": True}}
ACCEPTS = {"type": "command", "command": f"echo '{json.dumps({'hookSpecificOutput': ACCEPTED})}'"}
"""A hook that says yes where a server asks the user: with -p nobody could."""


def _codex(way, environment, folder, url):
    home = folder / ".codex"
    home.mkdir()
    names = ("PATH", "PYTHONPATH", "GC_AGENTS_DIRECTORY", "GC_GATEWAY_DIRECTORY", "HOME")
    variables = ", ".join(f"{name} = {json.dumps(environment[name])}" for name in names)
    server = f'[mcp_servers.gc]\ncommand = "ctxgc"\nargs = ["mcp"]\nenv = {{ {variables} }}\nstartup_timeout_sec = 60\n'
    (home / "config.toml").write_text(server if way in {"plugin", "gateway"} else "")
    if way in {"setup", "profile"}:
        _set_up("codex", environment, *(("--gateway", url) if way == "profile" else ()))
    command = [
        str(NODE / "codex"), "exec", "-m", "gpt-5.4", "--json", "--skip-git-repo-check", "-s", "danger-full-access",
        "--dangerously-bypass-hook-trust", *(("-p", "gc") if way == "profile" else ()),
        "-c", f"model_auto_compact_token_limit={COMPACT_AT}", TASK,
    ]  # fmt: skip
    return command, {**environment, "CODEX_API_KEY": KEY}


def _opencode(_way, environment, folder, _url):
    config = folder / ".config" / "opencode"
    config.mkdir(parents=True)
    plugin = (ROOT / "agents" / "opencode" / "src" / "gc.ts").as_uri()
    limit = {"context": int(COMPACT_AT), "output": 4_000}
    models = {"anthropic": {"models": {"claude-opus-4-5": {"limit": limit}}}}
    (config / "opencode.json").write_text(json.dumps({"plugin": [plugin], "provider": models}))
    own = CLIENTS["opencode"].environment
    command = [str(NODE / "opencode"), "run", "--format", "json", "-m", "anthropic/claude-opus-4-5", TASK]
    return command, {**environment, **own}


def _set_up(agent, environment, *options):
    command = [sys.executable, "-m", "ctxgc", "setup", agent, *options]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - ours


AGENTS = {"claude": _claude, "codex": _codex, "opencode": _opencode}

if __name__ == "__main__":
    main(*sys.argv[1:])
