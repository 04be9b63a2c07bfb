"""
Figures in the documents: each table is of today's code and unedited, or says as of which commit it is; what the READMEs
say of the recorded session is what a replay says. One replay under every strategy shows all of it.
"""

import json
import re

import attrs
import pytest

from benchmarks import example
from benchmarks.stamps import PAGES, ROOT, digest_of, known_basis, put, renewed, stamped, unstamped
from gc_core.errors import ConfigError

TABLES = [table for page in PAGES for table in stamped(page)]
DEFINITIONS = {"measure"}
"""First columns of tables that have no figures."""


@pytest.fixture(scope="module")
def done():
    return example.run()


def named(value):
    return f"{value.page.relative_to(ROOT)}: {value.command}" if hasattr(value, "page") else ""


@pytest.mark.parametrize("table", TABLES, ids=named)
def test_a_table_is_of_today_or_says_as_of_when_it_is(table, done):
    assert list(table.troubles(known_basis(done.behaviour))) == []


def test_every_table_of_figures_has_a_stamp():
    without = {row.strip("| ").partition(" |")[0] for page in PAGES[:2] for row in unstamped(page)}
    assert without == DEFINITIONS


def test_the_tables_of_the_strategies_are_made_by_this_run(done):
    for page, table in example.tables(done):
        (found,) = [each for each in stamped(page) if each.command == example.MADE_BY]
        assert found.body.strip() == table


def test_what_pages_say_of_the_recorded_session_is_what_this_run_says(done):
    for page, sentence in example.sentences(done):
        assert sentence in page.read_text(encoding="utf-8"), page


def test_the_summary_that_the_reference_shows_is_one_of_this_run(done):
    shown = (ROOT / "docs" / "reference" / "summaries.md").read_text(encoding="utf-8")
    (summary,) = re.findall(r"^<summary .*?^</summary>$", shown, re.MULTILINE | re.DOTALL)
    assert json.dumps(summary, ensure_ascii=False).strip('"').encode() in done.texts["gc_summarize"]


def test_every_row_of_the_readmes_comparison_is_one_of_the_benchmarks():
    pages = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/benchmarks.md")]
    comparison = pages[0].partition("## Compared with other systems")[2].partition("\n## ")[0]
    rows, measured = figures(comparison), figures(pages[1])
    assert len(rows) == 8
    (peers,) = [table for table in TABLES if table.command == "make bench-peers"]
    assert peers.as_of is None or f"commit {peers.as_of}" in comparison
    for row in rows:
        assert any(is_part(row, other) for other in measured), row


def figures(page):
    """The rows of tables as their figures, ``.65`` as ``0.65``; the first cell is a name."""
    rows = re.findall(r"^\|[^|\n]*\|(.*)\|$", page, re.MULTILINE)
    cells = [[re.sub(r"^\.", "0.", cell.strip()) for cell in row.split("|")] for row in rows]
    return [row for row in cells if any(cell[:1].isdigit() for cell in row)]


def is_part(row, other):
    left = iter(other)
    return all(cell in left for cell in row)


# -- the stamps themselves ---------------------------------------------------------------------------------------------


@pytest.fixture
def page(tmp_path):
    """A page with one table, made by today's code."""
    path = tmp_path / "page.md"
    path.write_text("# Page\n\n<!-- table: make it; -->\n<!-- end -->\n\nthe end | 2 |\n")
    put(path, "make it", "| a |\n| --- |\n| 1 |", {"behaviour": "aa", "corpus": "bb"})
    return path


def troubles(page, **basis):
    (table,) = stamped(page)
    return [trouble.partition(":")[0] for trouble in table.troubles(basis)]


def test_a_table_that_was_made_today_has_no_trouble(page):
    assert troubles(page, behaviour="aa", corpus="bb") == troubles(page, behaviour="aa") == []
    assert page.read_text().endswith("<!-- end -->\n\nthe end | 2 |\n")


def test_a_first_table_leaves_the_one_behind_it_where_it_is(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- table: first; -->\n<!-- end -->\n\n## More\n\n<!-- table: second; -->\n\n| 2 |\n\n<!-- end -->\n"
    )
    put(page, "first", "| 1 |")
    assert [(table.command, table.body.strip()) for table in stamped(page)] == [("first", "| 1 |"), ("second", "| 2 |")]
    assert "## More" in page.read_text()


def test_an_edited_figure_is_found(page):
    page.write_text(page.read_text().replace("| 1 |", "| 2 |"))
    assert troubles(page, behaviour="aa") == ["was edited by hand"]


def test_a_table_whose_strategies_or_sessions_have_changed_is_found(page):
    assert troubles(page, behaviour="ac") == troubles(page, behaviour="aa", corpus="bc")
    assert troubles(page, behaviour="ac") == ["is older than what it depends on"]


def test_a_stamp_without_the_behaviour_is_invalid(page):
    put(page, "make it", "| 1 |")
    assert troubles(page, behaviour="aa") == ["is older than what it depends on"]


def test_a_table_as_of_a_commit_has_to_say_so(page):
    put(page, "make it", "| 1 |", {"as-of": "abc1234"})
    assert troubles(page, behaviour="zz") == ["does not tell its readers that it is as of commit abc1234"]
    put(page, "make it", "As of 2026-01-01, commit abc1234.\n\n| 1 |", {"as-of": "abc1234"})
    assert troubles(page, behaviour="zz") == []


def test_a_page_without_a_place_for_the_table_is_refused():
    with pytest.raises(ConfigError, match="the page has no <!-- table: make it; -->"):
        renewed("# Page", "make it", "| 1 |", {})


def test_the_digest_of_what_strategies_send_sees_one_letter(done):
    other = dict(done.texts) | {"gc_hybrid": done.texts["gc_hybrid"].replace(b"e", b"f", 1)}
    assert attrs.evolve(done, texts=other).behaviour != done.behaviour
    assert digest_of(" a\n") == digest_of("a") != digest_of("b")
