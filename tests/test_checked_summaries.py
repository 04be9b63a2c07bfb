"""
What the validator says of summaries that somebody wrote who had not seen it, with floors. It has been fitted to the
recorded ones, to every first row of the one set, and since to the second set, to half of the stretches of the third,
and to 49 honest summaries of recorded sessions.
"""

import hashlib
import json
from pathlib import Path

import attrs
import pytest

from gc_core.summaries.inventions import invented, invented_and_repeated
from gc_core.summaries.validation import SummaryValidator
from tests.support.corpus import corpus_dir, require_corpus
from tests.test_summary_validation import plain_request

DATA = Path(__file__).parent / "data"
ROWS = [json.loads(line) for line in (DATA / "checked_summaries.jsonl").read_text("utf-8").splitlines()]
SECOND = [json.loads(line) for line in (DATA / "checked_summaries_second.jsonl").read_text("utf-8").splitlines()]
THIRD = [json.loads(line) for line in (DATA / "checked_summaries_third.jsonl").read_text("utf-8").splitlines()]


def complaints(originals, summary):
    request = plain_request(100_000)
    (item,) = request.items
    items = tuple(
        attrs.evolve(item, id=f"i{place}", text=text, original_tokens=10**6) for place, text in enumerate(originals)
    )
    return SummaryValidator().validate(attrs.evolve(request, items=items), summary)


def told(row):
    return complaints(row["originals"], row["summary"])


def refused(verdict, words, rows=ROWS[1::2]):
    rows = [row for row in rows if row["verdict"] == verdict]
    found = sum(any(words in each for each in told(row)) for row in rows)
    return 100 * found / len(rows)


def test_inventions_are_refused_and_honest_summaries_are_not():
    assert refused("invention", "none of the originals") >= 92
    assert refused("good", "none of the originals") <= 1


def test_what_a_reply_repeats_of_a_summary_is_judged_as_in_the_whole_summary():
    judged = 0
    for row in THIRD[::3]:
        summary, reply = row["summary"], row["summary"][: len(row["summary"]) // 2]
        found = [each for each in invented(summary, row["originals"]) if each in reply]
        assert list(invented_and_repeated(summary, row["originals"], reply)) == found
        judged += bool(found)
    assert judged > 9


def test_what_is_left_to_do_is_refused():
    assert refused("unfinished", "past tense") >= 93
    assert refused("good", "past tense") <= 2


SORTS = {"short number": (40, 34), "name": (25, 20), "path": (20, 20), "long number": (20, 20)}
"""How many of the second set's inventions are of a sort, and how many of them are found at least."""


@pytest.mark.parametrize("sort", SORTS)
def test_inventions_of_each_sort_are_refused_on_a_second_set(sort):
    """It was held out until 29 November; the rules have been fitted to it since."""
    rows = [row for row in SECOND if row["verdict"] == "invented" and f"; {sort}" in row["note"]]
    found = sum(any("none of the originals" in each for each in told(row)) for row in rows)
    assert (len(rows), found) >= SORTS[sort]


def test_so_it_is_with_honest_and_unfinished_ones():
    assert refused("good", "none of the originals", SECOND) <= 1
    assert refused("unfinished", "past tense", SECOND) >= 90
    assert refused("good", "past tense", SECOND) == 0


def is_held_out(row):
    """The other stretches of the third set were looked at."""
    return int(hashlib.sha256(" ".join(row["originals"]).encode()).hexdigest(), 16) % 2 == 1


def test_so_it_is_on_the_half_of_a_third_set_that_nobody_looked_at():
    rows = [row for row in THIRD if is_held_out(row)]
    assert refused("invented", "none of the originals", rows) >= 76
    assert refused("good", "none of the originals", rows) <= 4
    assert refused("unfinished", "past tense", rows) >= 70
    assert refused("good", "past tense", rows) <= 2


def test_no_recorded_summary_is_refused_for_names_or_numbers_that_its_agent_wrote():
    """The path of the transcript, which the program of the agent adds, is none of them."""
    require_corpus()
    lines = (DATA / "recorded_summaries.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if "native" not in row["session"]]
    assert len(rows) == 11
    found = [each for row in rows for each in complaints(*recorded(row)) if "none of the originals" in each]
    assert [each for each in found if "REDACTED" not in each or "', '" in each] == []


def messages_of(row):
    return [json.loads(line) for line in (corpus_dir() / row["session"]).read_text("utf-8").splitlines()]


def tools_of(messages):
    """The tools that a session calls: its requests declared them, but no record has their schemas."""
    return {call["function"]["name"] for message in messages for call in message.get("tool_calls") or ()}


def recorded(row):
    messages = messages_of(row)
    texts = [json.dumps(message, ensure_ascii=False).replace("\\n", "\n") for message in messages]
    return [*texts[row["from"] : row["to"]], *tools_of(messages)], texts[row["place"]]
