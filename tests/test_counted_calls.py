"""A summary that counts more edits, searches or calls than the agent made is refused; one that counts fewer is not."""

import attrs
import pytest

from gc_core.summaries.counted_calls import too_many_calls
from gc_core.summaries.validation import SummaryValidator
from gc_core.values.items import ItemKind
from tests.test_summaries import Made


def session():
    """Six edits, four searches, two commands and two tools of no known kind."""
    made = Made()
    made.user("Rename it, please.")
    for place in range(6):
        made.call("Edit", "ok", file_path=f"/src/a{place}.py", old_string="a", new_string="b")
    for place in range(4):
        made.call("search_flights", "[]", day=place)
    made.call("Bash", "ok", command="make lint")
    made.call("Bash", '29 "Read"', command="git status; git diff | head")
    made.call("get_reservation", "{}", id="OBUT9V")
    made.call("Frobnicate", "{}", queries=["one", "two", "three"])
    return made


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("- `a.py` was changed by 19 edits.", ["19"]),
        ("There were twelve edits, four of them refused.", ["twelve"]),
        ("There were eleven attempts to edit `a.py`.", ["eleven"]),
        ("There were 13 fare searches.", ["13"]),
        ("Fueron 13 búsquedas.", ["13"]),
        ("There were 23 calls in all.", ["23"]),
    ],
)
def test_more_than_there_were_is_an_invention(text, numbers):
    assert list(too_many_calls(text, session().items)) == numbers


@pytest.mark.parametrize(
    "text",
    [
        "There were ten attempts to edit `a.py`.",
        "Six edits were made, three of them in one file, by 8 edits and commands. There were two attempts.",
        "There were nine searches, as a command may have searched and a tool of no known kind.",
        "Había 29 lecturas. The tool counts were 29 reads. The 20 search results and 13 command files were listed.",
        "There were 18 calls, with the parts of commands and three queries of one call.",
        "The 40 files with edits were left. It took 25 s and searches.",
    ],
)
def test_what_may_have_been_is_none(text):
    assert list(too_many_calls(text, session().items)) == []


def test_without_calls_or_after_another_summary_nothing_is_judged():
    items = session().items
    text = "There were 19 edits."
    assert list(too_many_calls(text, [item for item in items if item.kind is not ItemKind.TOOL_CALL])) == []
    assert list(too_many_calls(text, [attrs.evolve(items[0], kind=ItemKind.SUMMARY), *items[1:]])) == []


def test_the_validator_names_them():
    complaints = SummaryValidator().validate(session().request(names=()), "There were 19 edits.")
    assert any("none of the originals says ('19')" in each for each in complaints)
