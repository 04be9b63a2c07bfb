"""Content needed after it was collected: counted, and reported as the price of collecting too much."""

import json
from pathlib import Path

import pytest

from gc_core import GCRemovalItem
from gc_core.relevance.call_results import text_was_not_found
from gc_core.relevance.needed_again import NeededAgain
from gc_core.values.items import Item, ItemKind
from gc_core.values.policy import GCPolicy
from tests.test_working_set import Agent, lines

LABELLED = [json.loads(line) for line in (Path(__file__).parent / "data/edit_results.jsonl").read_text().splitlines()]


class Drops:
    """Drops all that may go."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        for unit in context.collectable:
            yield GCRemovalItem.drop(unit, reason="it may go")


@pytest.fixture
def agent():
    made = Agent(Drops())
    yield made.reads("src/a.py", lines(0, 60)).rests()
    made.session.close()


def test_a_read_of_a_file_whose_view_was_collected_is_counted_once(agent):
    agent.session.collect_now(target_percent=0)
    agent.reads("/code/src/a.py", lines(0, 60))
    needed = agent.session.cache.needed_again
    assert (needed.reads, needed.edits) == (1, 0)
    assert needed.tokens > 500
    agent.reads("/code/src/a.py", lines(0, 60))
    assert agent.session.cache.needed_again == needed


def test_a_read_without_a_collection_and_a_first_read_are_not(agent):
    agent.reads("src/a.py", lines(0, 60))
    agent.session.collect_now(target_percent=0)
    agent.reads("src/b.py", lines(0, 60))
    assert not agent.session.cache.needed_again


def test_an_edit_whose_text_is_not_found_in_a_collected_file_is_counted_and_explained(agent):
    agent.session.collect_now(target_percent=0)
    agent.does("Edit", "String to replace not found in file.", file_path="src/a.py", old_string="x = 1", new_string="")
    assert agent.session.cache.needed_again == NeededAgain(edits=1)
    assert "1 edits whose text was not found" in agent.session.explain()


def test_an_edit_that_fails_in_a_file_that_was_never_collected_is_not(agent):
    agent.does("Edit", "String to replace not found in file.", file_path="src/a.py", old_string="x = 1", new_string="")
    assert not agent.session.cache.needed_again


# --- wordings by somebody who has not seen the code -----------------------------------------------------------------


def said_not_found(case):
    result = Item(
        id="i2", kind=ItemKind.TOOL_RESULT, source="conversation", policy=GCPolicy.EPHEMERAL, tokens=1,
        text=case["result"], unit=1, turn=0, name=case["tool"], original_tokens=1, is_error=case["is_error"],
    )  # fmt: skip
    return text_was_not_found(result)


# As the first version of the code had it: no word of it was chosen by these cases.
@pytest.mark.parametrize(
    ("outcome", "least", "most"), [("not_found", 80, 100), ("other_failure", 0, 10), ("succeeded", 0, 12)]
)
def test_most_results_are_classified_as_labelled(outcome, least, most):
    found = [said_not_found(case) for case in LABELLED if case["outcome"] == outcome]
    assert least <= 100 * sum(found) / len(found) <= most
