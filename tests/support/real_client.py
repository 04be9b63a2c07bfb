"""
Runs one real agent against the stand-in provider, and writes what the provider saw as JSON.

    python -m tests.support.real_client CLIENT direct|unlimited|gateway|sub-agents|resumed CALLS FOLDER

It is meant for a network namespace that has loopback alone: the stand-in, the gateway and the agent are all in it. The
agent's environment is empty but for its home, a search path, an invalid credential and what ``ctxgc run`` sets.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
from gc_gateway.clients import client_of, endpoints_of
from gc_gateway.dialects import DIALECTS
from gc_gateway.serving import running
from gc_gateway.settings import Settings

from tests.support.standin import DONE, StandIn, agent_of

ROOT = Path(__file__).parents[2]
NODE = ROOT / ".clients" / "node_modules" / ".bin"
PYTHON = ROOT / ".clients" / "python" / "bin"
AIDER = ROOT / ".clients" / "aider" / "bin"
RESULT = "seen.json"
CALLS = 60
SECONDS = 150
SPAWNS = 3
"""The call with which the model starts a sub-agent."""
MORE = "Read ten files more."
MORE_CALLS = 10

JSON = dict[str, Any]

KEY = "key-1"
LIMIT = 30_000
TASK = "Read the files big_1.txt to big_{calls}.txt, each whole, and say when all are read. Never write to any of them."
READER = """
import pathlib
def bash(command: str) -> str:
    "Runs a command."
    return pathlib.Path(command.split()[-1]).read_text()
"""


@attrs.frozen(kw_only=True)
class RealClient:
    """
    An agent of a pinned version; ``arguments`` are those of a run without a terminal, ``{task}`` among them.

    ``package`` is the one that has it; ``files`` are those of its home, ``{url}`` standing for the provider's; ``last``
    is the command with which it ends its work, if a text does not. ``resumes`` are the arguments of a run that goes on
    with ``{session}``, which ``session`` finds in what the first run said.
    """

    package: str
    program: Path
    arguments: tuple[str, ...]
    environment: dict[str, str]
    files: dict[str, JSON] = attrs.field(factory=dict)
    last: str = ""
    resumes: tuple[str, ...] = ()
    session: str = ""

    @property
    def is_installed(self):
        return self.program.exists()


CLIENTS = {
    "codex": RealClient(
        package="@openai/codex",
        program=NODE / "codex",
        # A model of the family before: the newest one's tools are written in a language of their own.
        arguments=("exec", "-m", "gpt-5.4", "--json", "--skip-git-repo-check", "-s", "danger-full-access", "{task}"),
        environment={"CODEX_API_KEY": KEY},
        resumes=(
            "exec",
            "-m",
            "gpt-5.4",
            "--json",
            "--skip-git-repo-check",
            "-s",
            "danger-full-access",
            "resume",
            "{session}",
            "{task}",
        ),
        session=r'"thread_id":"([^"]+)"',
    ),
    "opencode": RealClient(
        package="opencode-ai",
        program=NODE / "opencode",
        arguments=("run", "--format", "json", "-m", "anthropic/claude-opus-4-5", "{task}"),
        environment={
            "ANTHROPIC_API_KEY": KEY,
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "npm_config_fetch_retries": "0",  # of what it would install into its folder
        },
        resumes=("run", "--format", "json", "-m", "anthropic/claude-opus-4-5", "--session", "{session}", "{task}"),
        session=r'"sessionID":"([^"]+)"',
    ),
    "pi": RealClient(
        package="@mariozechner/pi-coding-agent",
        program=NODE / "pi",
        arguments=("-p", "--provider", "openai", "--model", "gpt-4o", "{task}"),
        environment={"OPENAI_API_KEY": KEY, "PI_OFFLINE": "1"},
    ),
    "llm": RealClient(
        package="llm",
        program=PYTHON / "llm",
        arguments=("-m", "gpt-4o", "--functions", READER, "--cl", "100", "{task}"),
        environment={"OPENAI_API_KEY": KEY},
    ),
    "claude": RealClient(
        package="@anthropic-ai/claude-code",
        program=NODE / "claude",
        arguments=("-p", "{task}", "--output-format", "json", "--allowedTools", "Bash"),
        environment={"ANTHROPIC_API_KEY": KEY, "DISABLE_AUTOUPDATER": "1"},
        resumes=("-p", "{task}", "--resume", "{session}", "--output-format", "json", "--allowedTools", "Bash"),
        session=r'"session_id":"([^"]+)"',
    ),
    "gemini": RealClient(
        package="@google/gemini-cli",
        program=NODE / "gemini",
        arguments=("-p", "{task}", "--yolo", "--output-format", "json"),
        environment={"GEMINI_API_KEY": KEY, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        files={".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}}},
    ),
    "qwen": RealClient(
        package="@qwen-code/qwen-code",
        program=NODE / "qwen",
        arguments=("-p", "{task}", "--yolo", "--auth-type", "openai"),
        environment={"OPENAI_API_KEY": KEY, "OPENAI_MODEL": "gpt-4o"},
    ),
    "cline": RealClient(
        package="cline",
        program=NODE / "cline",
        arguments=("--json", "{task}"),
        environment={},
        files={
            ".cline/data/settings/providers.json": {
                "version": 1,
                "lastUsedProvider": "openai-compatible",
                "providers": {
                    "openai-compatible": {
                        "settings": {
                            "provider": "openai-compatible",
                            "apiKey": KEY,
                            "model": "gpt-4o",
                            "baseUrl": "{url}/v1",
                        },
                        "updatedAt": "2026-11-23T00:00:00.000Z",
                        "tokenSource": "manual",
                    }
                },
            }
        },
    ),
    "mini": RealClient(
        package="mini-swe-agent",
        program=PYTHON / "mini",
        arguments=("-m", "openai/gpt-4o", "-t", "{task}", "-y", "--exit-immediately", "-l", "0"),
        environment={"OPENAI_API_KEY": KEY, "MSWEA_CONFIGURED": "true", "MSWEA_COST_TRACKING": "ignore_errors"},
        last=f"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo {DONE}",
    ),
}


TALKER = RealClient(
    package="aider-chat",
    program=AIDER / "aider",
    arguments=(
        "--message", "{task}", "--yes-always", "--no-git", "--no-check-update", "--no-show-model-warnings",
        "--analytics-disable", "--model", "openai/gpt-4o",
    ),
    environment={"OPENAI_API_KEY": KEY},
)  # fmt: skip
"""aider has no tools: it asks, and edits files by what the text says."""

NAMES = {name: client_of([name]).name for name in CLIENTS}
"""The agents' names, for people."""


def versions() -> dict[str, str]:
    """The versions of the agents, as ``make clients`` pins them."""
    package = json.loads((ROOT / "tests" / "clients" / "package.json").read_text())
    pinned = package["dependencies"] | package["devDependencies"]
    for file in ("requirements-ci.txt", "requirements-clients.txt"):
        lines = (ROOT / "tests" / "clients" / file).read_text().splitlines()
        pinned |= dict(line.split("==") for line in lines if "==" in line)
    return {name: pinned[each.package] for name, each in CLIENTS.items()}


def alone(command: list[str]) -> list[str]:
    """A command in a network that has loopback alone; whatever it leaves running ends with it."""
    return [
        *("unshare", "--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"),
        *("sh", "-c", 'ip link set lo up && exec "$@"', "sh"),
        *command,
    ]


def main(name, way, calls, folder):
    client, calls, folder = CLIENTS.get(name, TALKER), int(calls), Path(folder)
    files = folder / "files"
    files.mkdir()
    (folder / "tmp").mkdir()
    for number in range(1, 2 * calls):
        (files / f"big_{number}.txt").write_text(f"{number}: " + " ".join(f"word{each}" for each in range(400)) + "\n")
    spawns = SPAWNS if way == "sub-agents" else 0
    limit = 10 * LIMIT if way == "unlimited" else LIMIT
    with StandIn(calls=calls, limit=limit, key=KEY, last=client.last, spawns=spawns) as provider:
        for place, content in client.files.items():
            (folder / place).parent.mkdir(parents=True)
            (folder / place).write_text(json.dumps(content).replace("{url}", provider.url))
        command = [
            str(client.program),
            *(each.replace("{task}", TASK.format(calls=calls)) for each in client.arguments),
        ]
        starts: list[int] = []
        if way == "resumed":
            runs = resumed(client, command, provider, folder, starts)
        else:
            runs = [ran(*started(way, command, client, provider.url, folder), files)]
    (folder / RESULT).write_text(json.dumps({**told(runs), **seen(provider), "starts": starts}))


def told(runs):
    """How the runs of the agent ended."""
    return {
        "status": max(abs(run.returncode) for run in runs),
        "stdout": "\n".join(run.stdout for run in runs),
        "stderr": "\n".join(run.stderr for run in runs),
    }


def seen(provider):
    """What the provider saw, and what it answered."""
    requests = [
        {
            "path": each.path,
            "status": each.status,
            "tokens": each.tokens,
            "read": each.used.read if each.used else 0,
            "agent": agent_of(each.headers),
        }
        for each in provider.seen
    ]
    bodies = [json.dumps(each.body) for each in provider.generations]
    return {"seen": requests, "last": bodies[-1] if bodies else "", "replies": provider.replies}


def ran(command, environment, files):
    return subprocess.run(  # noqa: S603 - a client of the table
        command, env=environment, cwd=files, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=SECONDS, check=False,
    )  # fmt: skip


def resumed(client, command, provider, folder, starts):
    """
    The task, a second one in the same session, and a third one after the gateway was restarted; ``starts`` gets the
    number of requests before each.
    """
    upstreams = dict.fromkeys(DIALECTS, provider.url)
    settings = Settings(directory=folder / "lanes", upstreams=upstreams, windows={"*": LIMIT})
    runs = []

    def run_behind(url, command):
        urls = {name: f"{url}{each.path}" for name, each in endpoints_of({}, upstreams).items()}
        launch = client_of(command).launch(command, urls, bare_environment(client, folder), folder)
        starts.append(len(provider.seen))
        runs.append(ran(list(launch.command), dict(launch.environment), folder / "files"))

    with running(settings) as (url, _):
        run_behind(url, command)
        session = re.search(client.session, runs[0].stdout)[1]
        again = [str(client.program), *(each.format(session=session, task=MORE) for each in client.resumes)]
        provider.go_on(MORE_CALLS)
        run_behind(url, again)
    with running(settings) as (url, _):
        provider.go_on(MORE_CALLS)
        run_behind(url, again)
    return runs


def bare_environment(client, folder):
    node = shutil.which("node")
    path = [str(Path(sys.executable).parent), *([str(Path(node).parent)] if node else []), "/usr/bin", "/bin"]
    return {"HOME": str(folder), "TMPDIR": str(folder / "tmp"), "PATH": ":".join(path), **client.environment}


def started(way, command, client, url, folder):
    """The command and its environment: behind the gateway, or pointed at the provider by the same table."""
    bare = bare_environment(client, folder)
    if way in {"direct", "unlimited"}:
        endpoints = endpoints_of({}, dict.fromkeys(DIALECTS, url))
        urls = {name: f"{url}{endpoint.path}" for name, endpoint in endpoints.items()}
        launch = client_of(command).launch(command, urls, bare, folder)
        return list(launch.command), dict(launch.environment)
    upstreams = [each for name in DIALECTS for each in ("--upstream", f"{name}={url}")]
    run = [sys.executable, "-m", "ctxgc", "run", *upstreams, "--window", f"*={LIMIT}", "--directory", folder / "lanes"]
    return [*map(str, run), "--", *command], {**bare, "PYTHONPATH": os.environ.get("PYTHONPATH", str(ROOT))}


if __name__ == "__main__":
    main(*sys.argv[1:])
