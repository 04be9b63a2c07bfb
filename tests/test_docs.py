"""The documents: their code runs, their links lead somewhere, every hook is in them, and no machine is."""

import ast
import importlib.util
import inspect
import logging
import re
import subprocess
from pathlib import Path

import anthropic
import pytest

from gc_core import AsyncGCSession, GCSession, Plugins, hookspecs, load_config
from gc_core.testing import CounterContract, StrategyContract, SummarizerContract
from tests.support.provider import ProviderServer

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "plugins").glob("*/README.md")),
]
BLOCK = re.compile(r"^```python(?P<mark>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
TABLE = re.compile(r"^```toml\n(?P<toml>\[gc\]\n.*?)^```$", re.MULTILINE | re.DOTALL)
RULE = re.compile(r"^\| `(?P<name>test_\w+)` \| (?P<text>.*) \|$", re.MULTILINE)
HOOK = re.compile(r"^### `(?P<name>gc_\w+)(?P<signature>\(.*)`$", re.MULTILINE)
# Written in pieces, so that this file does not hold them itself.
NOWHERE = ["/" + "work/", "/" + "root/", "index" + "-url", "/" + "home/"]
LOOKING = {"tests/test_cli.py"}
"""Files that look for such names themselves."""

CALLS = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "login.py"}}],
}
DONE = {"role": "assistant", "content": [{"type": "text", "text": "It passes now."}]}


def name_of(path):
    return str(path.relative_to(ROOT))


def blocks(mark=None):
    return [
        pytest.param(found["code"], id=f"{name_of(path)}:{path.read_text()[: found.start()].count(chr(10)) + 1}")
        for path in DOCUMENTS
        for found in BLOCK.finditer(path.read_text())
        if mark is None or found["mark"].strip() == mark
    ]


@pytest.mark.parametrize("code", blocks())
def test_code_in_the_documents_compiles(code):
    ast.parse(code)


@pytest.fixture
def surroundings(tmp_path, monkeypatch):
    """What an example may use without saying where it comes from: an agent's own client, tools and texts."""
    monkeypatch.chdir(tmp_path)
    handlers, level = logging.root.handlers[:], logging.getLogger("gc_core").level
    tools = [{"name": name, "description": name, "input_schema": {"type": "object"}} for name in ("read", "web_search")]
    with (
        ProviderServer([CALLS, DONE]) as server,
        anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0, timeout=10) as client,
    ):
        names = {"client": client, "MODEL": "claude-opus-5", "schemas": tools, "rules_text": "Never guess."}
        names |= {"run_tools": run_tools, "messages": [{"role": "user", "content": "Hello."}], "server": server}
        names["session"] = begun()
        yield names
        for session in [value for value in names.values() if isinstance(value, GCSession | AsyncGCSession)]:
            session.__exit__()  # closes it, unless the example did
    logging.root.handlers[:] = handlers
    logging.getLogger("gc_core").setLevel(level)


def begun():
    """A session in its directory, two turns old."""
    session = GCSession(format="anthropic", directory="begun")
    for turn in range(2):
        session.append({"role": "user", "content": f"Request {turn}: mend login.py."})
        session.pre_send()
        session.post_turn({"role": "assistant", "content": "Done."})
    return session


def run_tools(reply):
    calls = [block for block in reply.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "x = 1"} for call in calls]
    return {"role": "user", "content": results}


@pytest.mark.parametrize("code", blocks("run"))
def test_code_that_is_marked_to_run_runs(code, surroundings):
    exec(compile(code, "document", "exec"), surroundings)  # noqa: S102 - the documents are ours
    assert surroundings["server"].refusals == []


def test_the_loop_in_the_readme_sends_every_call_to_the_provider(surroundings):
    code = next(block.values[0] for block in blocks("run") if "client.messages.create" in block.values[0])
    exec(compile(code, "README.md", "exec"), surroundings)  # noqa: S102 - the documents are ours
    roles = [[message["role"] for message in request["messages"]] for request in surroundings["server"].requests]
    assert roles == [["user"], ["user", "assistant", "user"]]
    assert Path("sessions/42/master.jsonl").stat().st_size > 0


@pytest.mark.parametrize("code", blocks("plugin"))
def test_the_plugin_in_the_documents_is_a_whole_one(code, tmp_path):
    path = tmp_path / "gc_largest.py"
    path.write_text(code)
    module = imported(path)
    plugins = Plugins()
    plugins.register(module)
    strategy = plugins.strategy("largest", {"spare_below": 50})
    with GCSession(strategy=strategy, plugins=plugins) as session:
        for turn in range(12):
            session.append({"role": "user", "content": f"Question {turn}?"})
            session.append({"role": "assistant", "content": "word " * 100 * (1 + turn % 3)})
        result = session.collect_now(target_percent=1)
    assert result.changed
    assert result.failures == ()


def imported(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_hook_is_documented_with_its_signature():
    text = (ROOT / "docs" / "hooks.md").read_text()
    documented = {found["name"]: found["signature"] for found in HOOK.finditer(text)}
    hooks = {name: function for name, function in vars(hookspecs).items() if name.startswith("gc_")}
    assert documented == {name: str(inspect.signature(hook)).replace("'", "") for name, hook in hooks.items()}


def test_every_rule_of_the_kit_is_documented_in_its_own_words():
    text = (ROOT / "docs" / "testing-a-strategy.md").read_text()
    rules = [rule for contract in (StrategyContract, SummarizerContract, CounterContract) for rule in contract.rules()]
    assert RULE.findall(text) == [(name, first_paragraph(method)) for name, method in rules]


def first_paragraph(method):
    return " ".join(inspect.getdoc(method).partition("\n\n")[0].split()).replace("``", "`")


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_configurations_in_the_documents_are_accepted(path, tmp_path):
    for place, found in enumerate(TABLE.finditer(path.read_text())):
        file = tmp_path / f"{place}.toml"
        file.write_text(found["toml"])
        config = load_config(file, environ={})
        for name, options in config.summarizers.items():
            Plugins().summarizer(name, options)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_relative_links_lead_to_files(path):
    targets = [found["target"] for found in LINK.finditer(path.read_text()) if "://" not in found["target"]]
    missing = [target for target in targets if not (path.parent / target.partition("#")[0]).exists()]
    assert missing == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_anchors_name_a_heading(path):
    targets = [found["target"] for found in LINK.finditer(path.read_text()) if "#" in found["target"]]
    for target in targets:
        file, _, anchor = target.partition("#")
        assert "://" in target or anchor in anchors(path.parent / file if file else path)


def anchors(path):
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_no_file_names_a_machine_or_an_index():
    found = {
        (name_of(path), word)
        for path in tracked()
        if name_of(path) not in LOOKING
        for word in NOWHERE
        if word in path.read_text(encoding="utf-8", errors="replace")
    }
    assert found == set()


def tracked():
    """The files under version control; in a copy without it, all that are not made by tools."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607 - git
    if listed.returncode == 0:
        return [path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file()]
    return [path for path in ROOT.rglob("*") if path.is_file() and not made_by_tools(path)]


def made_by_tools(path):
    parts = path.relative_to(ROOT).parts
    return any((part.startswith(".") and part != ".ci") or part in {"__pycache__", "build", "dist"} for part in parts)
