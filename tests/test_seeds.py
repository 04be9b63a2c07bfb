"""
The seeds' pages: whatever they name to show an idea exists, an idea that nothing shows is said to be absent, each idea
has one row, and each figure says on which data it was measured.
"""

import ast
import functools
import itertools
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
TARGET = re.compile(r"^([a-z-]+):", re.MULTILINE)

WORD = re.compile(r"[\w.]*\d[\w.]*|\w{4,}")
"""What a row speaks of: numbers, and words that are more than glue."""
LEAST_ALIKE, LEAST_ALIKE_BY_ONE_TEST = 0.6, 0.25
"""Shares of the words of the shorter row from which two rows say the same; the second, where one test shows both."""

DATA_WORD = re.compile(r"^\| (?P<word>[a-z ]+) \| ", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\([^)]*\)")
ASIDE = re.compile(r"\((?=[^)]*\w)[^)]*\)")
"""A parenthesis that is not of code or signs alone."""
FIGURE = re.compile(r"(?<![\w.,])(?:\d[\d,.]* (?:of \d[\d,]*|to 1\b|(?:to [\d.]+ )?%)|\.\d{2,3})")
"""A share, a ratio, percent, or a part of one: ``42 of 57``, ``107 to 1``, ``27 to 34 %``, ``.634``."""
SETTING = re.compile(r"\b(?:at|at most|at least|down to|stubs? of|target of)$", re.IGNORECASE)
"""What stands before a number that somebody chose, and nobody measured."""

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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_target_of_make_that_is_named_exists(page):
    targets = TARGET.findall((ROOT / "Makefile").read_text())
    assert [text for text in named(page) if text.startswith("make ") and text.split()[1] not in targets] == []


# -- each idea once ----------------------------------------------------------------------------------------------------


def say_the_same(one, other):
    """Whether two rows share so many words that a reader would take them for one; fewer are enough by the same test."""
    words, others = (set(WORD.findall(f"{row[0]} {row[1]}".lower())) for row in (one, other))
    tests, other_tests = ({text for text in CODE.findall(row[2]) if "::" in text} for row in (one, other))
    least = LEAST_ALIKE_BY_ONE_TEST if tests & other_tests else LEAST_ALIKE
    return len(words & others) >= least * max(1, min(len(words), len(others)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_two_rows_of_a_page_say_the_same(page):
    pairs = itertools.combinations(rows(page), 2)
    assert [(one[0], other[0]) for one, other in pairs if say_the_same(one, other)] == []


SHOWN = "`tests/test_x.py::test_a`"
ONCE = ["Trimming to the last N turns", "`max_turns`; the original request stays. 20 of 150 stay (made)", SHOWN]
TWICE = [
    [
        "Trimming to the last turns, or a summary",
        "`max_turns` keeps the original request. 20 of 150 stay (made)",
        "`x`",
    ],
    ["The newest messages", "`max_turns`, and the original request beside them", SHOWN],
]
ANOTHER = [
    ["Old turns leave, except recent and pinned ones", "those that show files in use are the last", SHOWN],
    ["A turn limit for chats", "`gc_hybrid` writes summaries; the original request stays", "`x`"],
]


@pytest.mark.parametrize("other", TWICE)
def test_rows_of_the_same_words_are_one_idea(other):
    assert say_the_same(ONCE, other)
    assert say_the_same(other, ONCE)


@pytest.mark.parametrize("other", ANOTHER)
def test_rows_that_share_a_test_or_a_few_words_are_two_ideas(other):
    assert not say_the_same(ONCE, other)


# -- where figures come from -------------------------------------------------------------------------------------------


@functools.cache
def data_words():
    """The words that the index defines for data."""
    table = (ROOT / "docs" / "seeds" / "index.md").read_text().partition("| word | meaning |")[2]
    return frozenset(DATA_WORD.findall(table))


def names_data(aside):
    """Whether one part of a parenthesis is a word for data, and nothing else."""
    return not data_words().isdisjoint(part.strip() for part in re.split("[,;]", aside.strip("()")))


def asides(cell):
    """The parentheses of a cell, without code and links."""
    return list(ASIDE.finditer(LINK.sub("", CODE.sub("", cell))))


def without_data(cell):
    """The figures of a cell behind which no parenthesis names the data."""
    text = LINK.sub("", CODE.sub("", cell))
    last = max((aside.start() for aside in asides(cell) if names_data(aside[0])), default=-1)
    return [
        found[0]
        for found in FIGURE.finditer(text)
        if found.start() > last and not SETTING.search(text[: found.start()].rstrip())
    ]


def test_the_index_defines_words_for_data():
    assert {"blind", "held out", "fitted", "made", "recorded"} <= data_words()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_figure_says_on_which_data_it_was_measured(page):
    assert {row[0]: found for row in rows(page) if (found := without_data(row[1]))} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_parentheses_name_data_by_the_words_of_the_index(page):
    assert [(row[0], aside[0]) for row in rows(page) for aside in asides(row[1]) if not names_data(aside[0])] == []


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("Misses 9.3 % of edits at cost .634 (fitted)", []),
        ("42 of 57 refused (held out; English), 3 of 78 (fitted)", []),
        ("at the latest at 90 %, down to 60 %; at most 2 % of the window, stubs of 25 %", []),
        ("10 to 20 wanted, `keep=.25`, [.25 of it](page.md)", []),
        ("99.4 % (fitted), 27 to 34 % after 17 windows", ["27 to 34 %"]),
        ("AUC .873 (nine sessions, cross-checked)", [".873"]),
        ("38 of 56 refused (half fitted)", ["38 of 56"]),
        ("114 to 1 at 10,000 steps", ["114 to 1"]),
    ],
)
def test_a_figure_without_a_word_for_its_data_is_found(cell, found):
    assert without_data(cell) == found
