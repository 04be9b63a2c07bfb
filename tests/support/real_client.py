"""
Runs one real agent against the stand-in provider, and writes what the provider saw as JSON.

    python -m tests.support.real_client CLIENT direct|gateway CALLS FOLDER

It is meant for a network namespace that has loopback alone: the stand-in, the gateway and the agent are all in it. The
agent's environment is empty but for its home, a search path, an invalid credential and what ``ctxgc run`` sets.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import attrs
from gc_gateway.clients import client_of, endpoints_of
from gc_gateway.dialects import DIALECTS

from tests.support.standin import StandIn

ROOT = Path(__file__).parents[2]
NODE = ROOT / ".clients" / "node_modules" / ".bin"
PYTHON = ROOT / ".clients" / "python" / "bin"
RESULT = "seen.json"
SECONDS = 150

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
    """

    program: Path
    arguments: tuple[str, ...]
    environment: dict[str, str]

    @property
    def is_installed(self):
        return self.program.exists()


CLIENTS = {
    "codex": RealClient(
        program=NODE / "codex",
        # A model of the family before: the newest one's tools are written in a language of their own.
        arguments=("exec", "-m", "gpt-5.4", "--json", "--skip-git-repo-check", "-s", "danger-full-access", "{task}"),
        environment={"CODEX_API_KEY": KEY},
    ),
    "opencode": RealClient(
        program=NODE / "opencode",
        arguments=("run", "--format", "json", "-m", "anthropic/claude-opus-4-5", "{task}"),
        environment={"ANTHROPIC_API_KEY": KEY, "OPENCODE_DISABLE_AUTOUPDATE": "1"},
    ),
    "pi": RealClient(
        program=NODE / "pi",
        arguments=("-p", "--provider", "openai", "--model", "gpt-4o", "{task}"),
        environment={"OPENAI_API_KEY": KEY, "PI_OFFLINE": "1"},
    ),
    "llm": RealClient(
        program=PYTHON / "llm",
        arguments=("-m", "gpt-4o", "--functions", READER, "--cl", "100", "{task}"),
        environment={"OPENAI_API_KEY": KEY},
    ),
    "claude": RealClient(
        program=NODE / "claude",
        arguments=("-p", "{task}", "--output-format", "json", "--allowedTools", "Bash"),
        environment={"ANTHROPIC_API_KEY": KEY, "DISABLE_AUTOUPDATER": "1"},
    ),
}


def main(name, way, calls, folder):
    client, calls, folder = CLIENTS[name], int(calls), Path(folder)
    files = folder / "files"
    files.mkdir()
    for number in range(1, calls + 1):
        (files / f"big_{number}.txt").write_text(f"{number}: " + " ".join(f"word{each}" for each in range(400)) + "\n")
    arguments = [each.replace("{task}", TASK.format(calls=calls)) for each in client.arguments]
    with StandIn(calls=calls, limit=LIMIT, key=KEY) as provider:
        command, environment = started(way, [str(client.program), *arguments], client, provider.url, folder)
        ended = subprocess.run(  # noqa: S603 - a client of the table
            command, env=environment, cwd=files, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
    seen = [{"path": each.path, "status": each.status, "tokens": each.tokens} for each in provider.seen]
    bodies = [json.dumps(each.body) for each in provider.generations]
    (folder / RESULT).write_text(
        json.dumps(
            {
                "status": ended.returncode,
                "stdout": ended.stdout,
                "stderr": ended.stderr,
                "seen": seen,
                "last": bodies[-1] if bodies else "",
                "replies": provider.replies,
            }
        )
    )


def started(way, command, client, url, folder):
    """The command and its environment: behind the gateway, or pointed at the provider by the same table."""
    node = shutil.which("node")
    path = [str(Path(sys.executable).parent), *([str(Path(node).parent)] if node else []), "/usr/bin", "/bin"]
    bare = {"HOME": str(folder), "PATH": ":".join(path), **client.environment}
    if way == "direct":
        endpoints = endpoints_of({}, dict.fromkeys(DIALECTS, url))
        urls = {name: f"{url}{endpoint.path}" for name, endpoint in endpoints.items()}
        launch = client_of(command).launch(command, urls, bare, folder)
        return list(launch.command), dict(launch.environment)
    upstreams = [each for name in DIALECTS for each in ("--upstream", f"{name}={url}")]
    run = [sys.executable, "-m", "ctxgc", "run", *upstreams, "--window", f"*={LIMIT}", "--directory", folder / "lanes"]
    return [*map(str, run), "--", *command], {**bare, "PYTHONPATH": os.environ.get("PYTHONPATH", str(ROOT))}


if __name__ == "__main__":
    main(*sys.argv[1:])
