"""The seeds' pages: whatever they name to show an idea exists, and an idea that nothing shows is said to be absent."""

import ast
import functools
import re
from pathlib import Path

import pytest
import typer.main
from ctxgc.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "seeds").glob("*.md"))
CODE = re.compile(r"`([^`\n]+)`")
TEST = re.compile(r"(?P<file>[\w/]+\.py)::(?P<test>\w+)")
OPTION = re.compile(r"(?<= )--[a-z][a-z-]*")
FILE = re.compile(r"(?:gc_core|plugins|tests|benchmarks|examples|docs)/[\w./-]*")
ABSENT = re.compile(r"\*\*(?:not there|removed|not measured)\*\*", re.IGNORECASE)
NOTHING = "—"

COMMANDS = typer.main.get_command(app)
HEADER = ["idea", "in gc-core", "shown by"]


def named(page):
    """Everything that a page names in the form of code."""
    return CODE.findall(page.read_text())


def rows(page):
    """The ideas of a page: the rows of all tables with the three columns."""
    tables = re.split(r"\n\n+", page.read_text())
    for table in tables:
        head, *lines = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines()] or [[]]
        if head == HEADER:
            yield from lines[1:]


@functools.lru_cache(maxsize=256)
def functions_of(file):
    """The names of the functions of a module."""
    path = ROOT / file
    body = ast.parse(path.read_text()).body if path.exists() else []
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_test_that_is_to_show_an_idea_exists(page):
    found = [TEST.fullmatch(text) for text in named(page) if "::" in text.removeprefix("::")]
    assert None not in found
    assert [one[0] for one in found if one["test"] not in functions_of(one["file"])] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_module_that_is_to_be_run_exists_with_its_options(page):
    for command in (text for text in named(page) if text.startswith("python -m ")):
        module = command.split()[2]
        path = ROOT / f"{module.replace('.', '/')}.py"
        assert path.exists(), command
        assert [option for option in OPTION.findall(command) if f'"{option}"' not in path.read_text()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_line_exists_with_its_options(page):
    for command in (text for text in named(page) if text.startswith("ctxgc ")):
        known = [
            option for parameter in COMMANDS.get_command(None, command.split()[1]).params for option in parameter.opts
        ]
        assert set(OPTION.findall(command)) <= set(known), command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_file_that_is_named_exists(page):
    files = {found.partition("::")[0] for text in named(page) for found in FILE.findall(text)}
    assert [file for file in sorted(files) if not (ROOT / file).exists()] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "index"], ids=lambda page: page.stem)
def test_every_idea_is_shown_by_something_or_said_to_be_absent(page):
    ideas = list(rows(page))
    assert len(ideas) > 20
    assert [row for row in ideas if len(row) != len(HEADER)] == []
    assert [row[0] for row in ideas if row[2] == NOTHING and not ABSENT.search(row[1])] == []
    assert [row[0] for row in ideas if row[2] != NOTHING and not CODE.search(row[2])] == []
