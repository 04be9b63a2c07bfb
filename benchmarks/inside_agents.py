"""
What gc-core does inside Claude Code without a gateway, and how long its hooks and its server take.

    python -m benchmarks.inside_agents [--page agents/README.md]

The real Claude Code makes 300 calls at a stand-in provider with a window of 200,000 tokens, with the plugin and without
it: of three calls one returns 21,700 characters, one 8,700 and one 90. Then each result is searched for and read back.
Times are of pairs, one after the other, twenty each: a hook beside a Python that does nothing, the server beside one of
the same library with one tool. ``--page`` puts the figures there, between ``<!-- inside -->`` and ``<!-- end -->``.
Claude Code is that of ``make clients-installed``.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
from gc_agents.agent_folder import AgentFolder
from gc_agents.agent_sessions import AgentSessions, Places
from gc_agents.conversations import Caller
from gc_agents.desk import Desk
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from gc_core.errors import GCError
from tests.support.real_client import RESULT, ROOT, alone, versions

CALLS = 300
WINDOW = 200_000
PAIRS = 20
_PLACE = re.compile(r"(<!-- inside -->\n).*?(<!-- end -->)", re.DOTALL)
_REST = re.compile(r"\n\[[\d,]+ of [\d,]+ characters; go on with reference=\S+, offset=(\d+)\]\Z")
_COMMANDS = ("cat big_{n}.txt", "head -n 300 big_{n}.txt", "head -n 3 big_{n}.txt")
_HOOK = [sys.executable, "-m", "gc_agents.hook"]
_NOTHING = [sys.executable, "-c", "import sys; sys.stdin.buffer.read()"]
_ONE_TOOL = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("one")
@server.tool(structured_output=False)
async def one() -> str:
    return "one"
server.run()
"""


def command(number: int) -> str:
    """What a call runs."""
    return _COMMANDS[number % len(_COMMANDS)].format(n=number)


# -- 300 calls ---------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Session:
    """A session of Claude Code."""

    folder: Path
    result: dict[str, Any] = attrs.field(repr=False)

    @property
    def tokens(self) -> int:
        """Input tokens of all requests."""
        return sum(self.result["tokens"])

    def original(self, number: int) -> str:
        """What a call returned."""
        cwd = self.folder / "files"
        return subprocess.run(command(number).split(), cwd=cwd, check=True, capture_output=True, text=True).stdout  # noqa: S603

    @property
    def in_window(self) -> int:
        """How many results the last request has whole."""
        last = json.dumps(self.result["bodies"][-1])
        return sum(json.dumps(self.original(number).rstrip("\n"))[1:-1] in last for number in range(1, CALLS + 1))

    @property
    def agent_folder(self) -> AgentFolder:
        """Where the plugin keeps what belongs to it."""
        (path,) = (self.folder / "state" / "claude-code").iterdir()
        return AgentFolder(path)

    @property
    def read_back(self) -> int:
        """How many results are found by a search for their first line, and come back character for character."""
        folder = self.agent_folder
        places = Places(lanes=self.folder / "lanes", followed=self.folder / "state")
        sessions = AgentSessions(places, {"CLAUDE_CODE_SESSION_ID": folder.path.name})
        desk = Desk(sessions)
        found = sum(found_whole(desk, number, self.original(number)) for number in range(1, CALLS + 1))
        sessions.close()
        return found


def found_whole(desk: Desk, number: int, original: str) -> bool:
    """Whether a result is found by a search, and all its pages are the original."""
    hit = next((line for line in desk.search(Caller(), f"needle{number}", role="tool").splitlines()), "")
    text, offset = "", 0
    while True:
        try:
            page = desk.recall(Caller(), hit.partition(" ")[0], offset)
        except GCError:
            return False
        rest = _REST.search(page)
        text += page if rest is None else page[: rest.start()]
        if rest is None:
            return text.rstrip("\n") == original.rstrip("\n")
        offset = int(rest[1])


def session(way: str, folder: Path) -> Session:
    """Drive Claude Code, in a network that has loopback alone."""
    script = [["Bash", {"command": command(number), "description": "Reads."}] for number in range(1, CALLS + 1)]
    own = {"LIMIT": str(WINDOW), "COMPACT_AT": str(WINDOW), "FILES": str(CALLS), "SECONDS": "900"}
    started = [sys.executable, "-m", "tests.support.real_agent", "claude", way, json.dumps(script), str(folder)]
    folder.mkdir()
    subprocess.run(alone(started), cwd=ROOT, env={**os.environ, **own}, check=True)  # noqa: S603 - our own
    return Session(folder=folder, result=json.loads((folder / RESULT).read_text()))


def of_sessions(with_it: Session, without: Session) -> Iterable[str]:
    """The table of both sessions."""
    yield f"| {CALLS} calls in Claude Code {versions()['claude']} | with the plugin | without |"
    yield "|---|--:|--:|"
    yield f"| input tokens sent | {with_it.tokens:,} | {without.tokens:,} |"
    yield f"| compactions | {with_it.result['summaries']} | {without.result['summaries']} |"
    yield f"| results whole in the last request | {with_it.in_window} | {without.in_window} |"
    yield f"| results found by a search and read back, character for character | {with_it.read_back} | 0 |"


# -- times -------------------------------------------------------------------------------------------------------------


def row(name: str, both: list[tuple[float, float]]) -> str:
    """A line with the median of each of two times, in milliseconds."""
    ours, beside = (1000 * statistics.median(each) for each in zip(*both, strict=True))
    return f"| {name} | {ours:.0f} ms | {beside:.0f} ms |"


def seconds(started: list[str], given: bytes, **environ: str) -> float:
    """How long a process takes from its start to its end."""
    began = time.perf_counter()
    subprocess.run(started, input=given, env={**os.environ, **environ}, capture_output=True, check=True)  # noqa: S603
    return time.perf_counter() - began


def of_hooks(found: Session) -> Iterable[str]:
    """A line for each hook."""
    told = {"session_id": found.agent_folder.path.name, "transcript_path": str(found.agent_folder.transcript)}
    long = {"stdout": found.original(3), "stderr": "", "interrupted": False, "isImage": False}
    of_bash = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "toolu_1"}
    events: dict[str, dict[str, Any]] = {
        "PostToolUse, a short result": {**of_bash, "tool_response": {**long, "stdout": "hello"}},
        "PostToolUse, 21,700 characters": {**of_bash, "tool_response": long},
        "PreCompact": {"hook_event_name": "PreCompact", "trigger": "auto"},
        "SessionStart after a compaction": {"hook_event_name": "SessionStart", "source": "compact"},
    }
    state = str(found.folder / "state")
    for name, event in events.items():
        given = json.dumps({**told, **event}).encode()
        both = [(seconds(_HOOK, given, GC_AGENTS_DIRECTORY=state), seconds(_NOTHING, given)) for _ in range(PAIRS)]
        yield row(f"hook {name}", both)


async def answered(arguments: list[str], calls: list[tuple[str, dict[str, Any]]]) -> list[float]:
    """Seconds from the start of a server to the list of its tools, then of each call."""
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    began = time.perf_counter()
    async with Client(stdio_client(parameters)) as client:
        await client.list_tools()
        took = [time.perf_counter() - began]
        for name, given in calls:
            began = time.perf_counter()
            await client.call_tool(name, given)
            took.append(time.perf_counter() - began)
    return took


def of_server(found: Session) -> Iterable[str]:
    """A line for the start of the server, and for each tool that reads."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("gc_status", {}), ("gc_recall", {"reference": "i5"}), ("gc_search", {"query": "needle100"}),
    ]  # fmt: skip
    of_ours = ["-m", "ctxgc", "mcp", "--session", str(found.agent_folder.session)]
    warm = [asked[0], *asked]  # the first call opens the session
    both = [
        (asyncio.run(answered(of_ours, warm)), asyncio.run(answered(["-c", _ONE_TOOL], [("one", {})] * len(warm))))
        for _ in range(PAIRS)
    ]
    names = [
        "server, from its start to its list of tools",
        "first call, which opens the session",
        *(n for n, _ in asked),
    ]
    for at, name in enumerate(names):
        yield row(name, [(ours[at], beside[at]) for ours, beside in both])


def figures(folder: Path) -> Iterable[str]:
    """The page's lines."""
    with_it, without = session("plugin", folder / "with"), session("bare", folder / "without")
    machine = f"Python {platform.python_version()}, {os.cpu_count()} processors"
    yield f"{dt.datetime.now(tz=dt.UTC).date()}, `python -m benchmarks.inside_agents`, {machine}; times are medians of"
    yield f"{PAIRS} pairs, beside a Python that does nothing and a server of the same library with one tool.\n"
    yield from of_sessions(with_it, without)
    yield "\n| time | gc-core | beside it |\n|---|--:|--:|"
    yield from of_hooks(with_it)
    yield from of_server(with_it)


def main() -> None:
    """Print the figures, or put them into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join(figures(Path(folder)))
    sys.stdout.write(f"{text}\n")
    if options.page:
        page = options.page.read_text()
        options.page.write_text(_PLACE.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page))


if __name__ == "__main__":
    main()
