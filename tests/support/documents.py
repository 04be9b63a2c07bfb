"""
A reader who does what a page says, block by block: runs its code and its commands in an empty directory, and compares
what is printed with what the page shows.

Official clients that read their addresses from the environment talk to servers on loopback; nothing leaves the machine.
"""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import attrs
import pytest
import typer.main
from ctxgc.cli.app import app
from typer.testing import CliRunner

from gc_core import AsyncGCSession, GCConfig, GCSession
from tests.support.gemini_server import GeminiLoopback
from tests.support.provider import ProviderServer

JSON = dict[str, Any]

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(?P<kind>[a-z]+)(?P<mark>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"\A# (?P<name>[\w./-]+\.py)\n")
HEX = re.compile(r"\b(?:[0-9a-f]{8}|[0-9a-f]{32})\b")
FIGURE = re.compile(r"\d+(?:[.,]\d+)*(?: ?k\b)?")
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b(?!\.)")
EXTRA = re.compile(r"(?P<name>gc-core|ctxgc|\.(?:/[\w-]+)*)\[(?P<extras>[\w,]+)\]")
SOURCES = {"gc-core": ".", "ctxgc": "ctxgc"}
"""Where the distributions are whose extras a page may name."""
LONG = {"compare", "gateway", "inspect", "run"}
"""Commands that take long, or wait for somebody: that they exist, with these options, is all that is looked at."""


@attrs.frozen(kw_only=True)
class Block:
    """A fenced block: its kind (``python``), the word after that (``output``), its text and its first line."""

    kind: str
    mark: str
    text: str
    line: int


def blocks_of(path: Path) -> list[Block]:
    text = path.read_text()
    return [
        Block(
            kind=found["kind"],
            mark=found["mark"].strip(),
            text=found["text"],
            line=text[: found.start("text")].count("\n") + 1,
        )
        for found in BLOCK.finditer(text)
    ]


class Provider(ProviderServer):
    """Every model of a document: it calls the first tool that it is given, reads the result, and is done."""

    def answer(self, provider: str, body: JSON) -> tuple[int, JSON]:
        tools = body.get("tools") or []
        wanted = bool(tools) and not _is_result(provider, (body.get("messages") or body.get("input"))[-1])
        self._replies = iter([_call(provider, len(self.requests), tools[0]) if wanted else _done(provider)])
        return super().answer(provider, body)


def _is_result(provider: str, newest: JSON) -> bool:
    if provider == "openai":
        return newest["role"] == "tool"
    if provider == "responses":
        return newest.get("type") == "function_call_output"
    content = newest["content"]
    return isinstance(content, list) and any(block["type"] == "tool_result" for block in content)


def _call(provider: str, number: int, tool: JSON) -> JSON:
    arguments = '{"path": "login.py"}'
    if provider == "responses":
        item = {"type": "function_call", "call_id": f"call_{number}", "name": tool["name"], "arguments": arguments}
        return {"role": "assistant", "output": [item]}
    if provider == "openai":
        function = {"name": tool["function"]["name"], "arguments": arguments}
        calls = [{"id": f"call_{number}", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    use = {"type": "tool_use", "id": f"toolu_{number}", "name": tool["name"], "input": {"path": "login.py"}}
    return {"role": "assistant", "content": [use]}


def _done(provider: str) -> JSON:
    if provider == "responses":
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It passes now."}]}
        return {"role": "assistant", "output": [item]}
    return {"role": "assistant", "content": "It passes now."}


@contextlib.contextmanager
def reading(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """A reader in an empty directory, with what an example may use without saying where it comes from."""
    monkeypatch.chdir(directory)
    monkeypatch.syspath_prepend(str(directory))
    (directory / "examples").symlink_to(ROOT / "examples")
    calls = [{"role": "model", "parts": [{"functionCall": {"name": "read", "args": {"path": "login.py"}}}]}]
    said = [{"role": "model", "parts": [{"text": "It passes now."}]}]
    with Provider() as server, GeminiLoopback([*calls, *said, *said]) as gemini:
        for name, value in addresses(server, gemini).items():
            monkeypatch.setenv(name, value)
        with anthropic.Anthropic(max_retries=0, timeout=10) as client:
            reader = Reader(directory, {**given(), "client": client, "server": server}, [server, gemini])
            yield reader
            reader.close()


def addresses(server: Provider, gemini: GeminiLoopback) -> dict[str, str]:
    """The environment in which every official client finds its provider on loopback."""
    return {
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": "none",
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "OPENAI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": gemini.url,
        "GEMINI_API_KEY": "none",
    }


def given() -> JSON:
    """The environment of an agent: a model, tools, texts, a session of two turns."""
    tools = [{"name": name, "description": name, "input_schema": {"type": "object"}} for name in ("read", "web_search")]
    return {
        "__name__": "document",
        "MODEL": "claude-opus-5",
        "schemas": tools,
        "rules_text": "Never guess.",
        "run_tools": run_tools,
        "messages": [{"role": "user", "content": "Hello."}],
        "session": begun(),
    }


def begun() -> GCSession:
    """A session in its directory, two turns old."""
    session = GCSession(GCConfig(), format="anthropic", directory="begun")
    for turn in range(2):
        session.append({"role": "user", "content": f"Request {turn}: mend login.py."})
        session.pre_send()
        session.post_turn({"role": "assistant", "content": "Done."})
    return session


def run_tools(reply: Any) -> JSON:
    """The results of a reply's calls: every file holds one line."""
    calls = [block for block in reply.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "x = 1"} for call in calls]
    return {"role": "user", "content": results}


class Reader:
    """Does what the blocks of one page say, in their order, with one set of names; keeps what was printed last."""

    def __init__(self, directory: Path, names: JSON, servers: list[Provider | GeminiLoopback]) -> None:
        self.names = names
        self._directory = directory
        self._servers = servers
        self._seen: list[Any] = []
        self._printed = ""

    @property
    def refusals(self) -> list[str]:
        """The providers' refusals of all requests of the page."""
        return [refusal for server in self._servers for refusal in server.refusals]

    def does(self, path: Path, block: Block) -> None:
        """Run a block of code or commands; compare a block of output; pass over the others."""
        if block.kind == "python":
            self._python(path, block)
        elif block.kind == "sh":
            self._shows("".join(self._command(path, line) for line in commands_in(block.text)))
        elif block.mark == "output":
            assert without_figures(block.text) == without_figures(self._printed), self._printed

    def close(self) -> None:
        """Close every session that an example left open."""
        for value in [*self._seen, *self.names.values()]:
            if isinstance(value, GCSession | AsyncGCSession):
                value.__exit__()

    def _python(self, path: Path, block: Block) -> None:
        code = compile("\n" * (block.line - 1) + block.text, str(path), "exec")
        named = FILE.match(block.text)
        if named is not None or block.mark == "plugin":
            (self._directory / (named["name"] if named else "plugin.py")).write_text(block.text)
            return
        self._seen += self.names.values()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, self.names)  # noqa: S102 - the documents are ours
        self._shows(printed.getvalue())

    def _shows(self, printed: str) -> None:
        self._printed = printed or self._printed

    def _command(self, path: Path, line: str) -> str:
        line, _, file = line.partition(" > ")
        program, *arguments = shlex.split(line, comments=True)
        if file:
            (self._directory / file).write_text(self._command(path, line))
            return ""
        if program == "ctxgc":
            return ctxgc(arguments)
        if program == "python":
            return self._script(arguments)
        assert program in CHECKED, f"{line}: a reader cannot tell whether this works"
        CHECKED[program](arguments, path.parent)
        return ""

    def _script(self, arguments: list[str]) -> str:
        """In this process, where the clients are loaded already; what it imported of this directory is forgotten."""
        before, known = sys.argv, set(sys.modules)
        sys.argv = arguments
        try:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                runpy.run_path(arguments[0], run_name="__main__")
        finally:
            sys.argv = before
            for name in set(sys.modules) - known:
                if (self._directory / f"{name}.py").exists():
                    del sys.modules[name]
        return printed.getvalue()


def commands_in(text: str) -> list[str]:
    """The lines of a shell block, continued ones joined, without empty ones and pure comments."""
    lines = (line.strip() for line in text.replace("\\\n", " ").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def without_figures(text: str) -> str:
    """White space, numbers and ids in hex are not compared: they change with every release or run."""
    return " ".join(FIGURE.sub("N", HEX.sub("0", text)).split())


def ctxgc(arguments: list[str]) -> str:
    """Run a command in this process; with a placeholder among its arguments, look only whether it would be read."""
    command = typer.main.get_command(app).get_command(None, arguments[0])
    if arguments[0] in LONG or PLACEHOLDER.search(" ".join(arguments)):
        command.make_context(arguments[0], arguments[1:], resilient_parsing=True)
        return ""
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def check_make(arguments: list[str], _: Path) -> None:
    text = (ROOT / "Makefile").read_text()
    assert [name for name in arguments if "=" not in name and f"\n{name}:" not in text] == []


def check_pip(arguments: list[str], directory: Path) -> None:
    """
    The directories and extras that it names exist: of gc-core, of ctxgc or of the package that the page is about.

    The clone itself comes first: otherwise pip takes an installed gc-core for what the others need, and gives up.
    """
    what = [argument for argument in arguments[1:] if not argument.startswith("-")]
    assert [place for place, name in enumerate(what) if name == "." or name.startswith(".[")] in ([], [0]), what
    base = directory if (directory / "pyproject.toml").exists() else ROOT
    for argument in arguments[1:]:
        if named := EXTRA.match(argument):
            source = ROOT / SOURCES[named["name"]] if named["name"] in SOURCES else base / named["name"]
            text = (source / "pyproject.toml").read_text()
            assert [extra for extra in named["extras"].split(",") if f"\n{extra} = [" not in text] == [], argument
        elif argument.startswith("./"):
            assert list(ROOT.glob(argument)), argument


def check_nothing(_: list[str], __: Path) -> None:
    """What belongs to the shell, or to a package that the reader has yet to make."""


CHECKED = {
    "make": check_make,
    "pip": check_pip,
    "pytest": check_nothing,
    "git": check_nothing,
    "cd": check_nothing,
    "mkdir": check_nothing,
    "grep": check_nothing,
}
