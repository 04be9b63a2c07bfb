"""The documents: their code runs, their links lead somewhere, every hook is in them, and no machine is."""

import importlib
import importlib.util
import inspect
import logging
import re
import subprocess
from pathlib import Path

import pytest
import structlog
from ctxgc.cli.app import COMMANDS as COMMANDS_BY_NAME

import gc_core
import gc_core.testing
from gc_core import GCSession, Plugins, load_config
from gc_core.plugins import hookspecs
from gc_core.testing import CounterContract, StrategyContract, SummarizerContract
from tests.support.documents import blocks_of, reading

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(path for place in ("plugins", "examples") for path in (ROOT / place).glob("*/README.md")),
]
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
TABLE = re.compile(r"^```toml\n(?P<toml>\[gc\]\n.*?)^```$", re.MULTILINE | re.DOTALL)
RULE = re.compile(r"^\| `(?P<name>test_\w+)` \| (?P<text>.*) \|$", re.MULTILINE)
HOOK = re.compile(r"^### `(?P<name>gc_\w+)(?P<signature>\(.*)`$", re.MULTILINE)
# Written in pieces, so that this file does not hold them itself.
NOWHERE = ["/" + "work/", "/" + "root/", "index" + "-url", "/" + "home/"]
LOOKING = {"tests/test_cli.py"}
"""Files that look for such names themselves."""


def name_of(path):
    return str(path.relative_to(ROOT))


MOST_WORDS = 45_000
"""Of all pages below ``docs/``, code and tables included."""

MOST_LINES = 150
"""Of the README."""

KINDS = ("how-to", "reference", "explanation", "seeds")


COMMANDS = set(COMMANDS_BY_NAME)
RUNNING = [path for path in DOCUMENTS if any(block.kind in {"python", "sh"} for block in blocks_of(path))]


@pytest.fixture
def reader(tmp_path, monkeypatch):
    own = logging.getLogger("gc_core")
    handlers, own_handlers, level = logging.root.handlers[:], own.handlers[:], own.level
    (tmp_path / "gc_largest.py").write_text(the_plugin().text)
    with reading(tmp_path, monkeypatch) as found:
        yield found
    logging.root.handlers[:], own.handlers[:] = handlers, own_handlers
    own.setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def the_plugin():
    return next(block for block in blocks_of(ROOT / "README.md") if block.mark == "plugin")


@pytest.mark.parametrize("path", RUNNING, ids=name_of)
def test_the_blocks_of_a_page_run_one_after_another(path, reader):
    for block in blocks_of(path):
        reader.does(path, block)
    assert reader.refusals == []


def test_the_loop_in_the_readme_sends_every_call_to_the_provider(reader):
    path = ROOT / "README.md"
    reader.does(path, the_loop(path))
    requests = reader.names["server"].requests
    assert [[message["role"] for message in request["messages"]] for request in requests] == [
        ["user"],
        ["user", "assistant", "user"],
    ]
    assert Path("sessions/42/master.jsonl").stat().st_size > 0


def test_the_loop_in_the_readme_continues_the_session_when_it_is_run_again(reader):
    path = ROOT / "README.md"
    reader.does(path, the_loop(path))
    reader.names["session"].close()
    reader.does(path, the_loop(path))
    requests = reader.names["server"].requests
    assert len(requests) == 4
    assert requests[2]["messages"][:3] == requests[1]["messages"]


def the_loop(path):
    return next(block for block in blocks_of(path) if block.kind == "python" and "client.messages.create" in block.text)


def test_the_plugin_in_the_documents_is_a_whole_one(tmp_path):
    path = tmp_path / "gc_largest.py"
    path.write_text(the_plugin().text)
    module = imported(path)
    plugins = Plugins()
    plugins.register(module)
    assert [info.summary for info in plugins.strategies() if info.name == "largest"] == [module.Largest.__doc__]
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
    text = (ROOT / "docs" / "reference" / "hooks.md").read_text()
    documented = {found["name"]: found["signature"] for found in HOOK.finditer(text)}
    hooks = {name: function for name, function in vars(hookspecs).items() if name.startswith("gc_")}
    assert documented == {name: str(inspect.signature(hook)).replace("'", "") for name, hook in hooks.items()}


def test_every_rule_of_the_kit_is_documented_in_its_own_words():
    text = (ROOT / "docs" / "how-to" / "test-a-strategy.md").read_text()
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


UNBUILT = "# docstrings: run `make docs`, or help(name)\n"
NAMES = re.compile(r"^```\{api\}\n(?P<names>.*?)^```$", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^- .*$", re.MULTILINE)
PAGE = re.compile(r"\]\((?P<page>[^)#]+\.md)\)")
COMMAND = re.compile(r"(?:`|^(?:\$ )?)ctxgc (?P<name>[a-z][a-z-]+)", re.MULTILINE)


def test_every_public_name_is_in_the_reference_once():
    texts = [path.read_text() for path in (ROOT / "docs" / "reference").glob("*.md")]
    boxes = [found["names"] for text in texts for found in NAMES.finditer(text)]
    there = [name for box in boxes for name in box.replace(UNBUILT, "").split()]
    front = [*gc_core.__all__, *(f"testing.{name}" for name in gc_core.testing.__all__)]
    rooms = [name for name in there if name.startswith(("gc_core.", "ctxgc."))]
    assert sorted(set(there) - set(rooms)) == sorted(front)
    assert len(there) == len(set(there))
    for name in rooms:
        module, _, last = name.rpartition(".")
        assert hasattr(importlib.import_module(module), last), name


def test_a_page_whose_docstrings_are_made_with_the_site_says_so_before_its_first_names():
    for path in (ROOT / "docs" / "reference").glob("*.md"):
        first = NAMES.search(path.read_text())
        assert first is None or first["names"].startswith(UNBUILT), path
    assert "`ctxgc --help`" in (ROOT / "docs" / "reference" / "command-line.md").read_text()


def test_every_page_can_be_reached_from_the_index():
    reached, waiting = set(), [ROOT / "docs" / "index.md"]
    while waiting:
        page = waiting.pop().resolve()
        reached.add(page)
        if page.name == "index.md":
            pages = PAGE.findall("\n".join(ENTRY.findall(page.read_text())))
            waiting += [page.parent / entry for entry in pages]
    assert sorted(name_of(page) for page in set(DOCUMENTS) - reached) == []


def test_the_documents_stay_short_and_their_four_kinds_apart():
    pages = list((ROOT / "docs").rglob("*.md"))
    assert sum(len(page.read_text().split()) for page in pages) <= MOST_WORDS
    assert len((ROOT / "README.md").read_text().splitlines()) <= MOST_LINES
    assert {name_of(page.parent) for page in pages} == {"docs", *(f"docs/{kind}" for kind in KINDS)}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_commands_that_are_spoken_of_exist(path):
    spoken = {found["name"] for found in COMMAND.finditer(path.read_text())}
    assert spoken - COMMANDS == set()
