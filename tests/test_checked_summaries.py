"""
What the validator says of summaries that somebody wrote who has not seen it, with floors: judged on every second row;
it was fitted to the others, and to the recorded ones.
"""

import json
from pathlib import Path

import attrs

from gc_core.summaries.inventions import invented
from gc_core.summaries.validation import SummaryValidator
from tests.support.corpus import corpus_dir, require_corpus
from tests.test_summary_validation import plain_request

DATA = Path(__file__).parent / "data"
ROWS = [json.loads(line) for line in (DATA / "checked_summaries.jsonl").read_text("utf-8").splitlines()]
SECOND = [json.loads(line) for line in (DATA / "checked_summaries_second.jsonl").read_text("utf-8").splitlines()]


def complaints(originals, summary):
    request = plain_request(100_000)
    (item,) = request.items
    items = tuple(
        attrs.evolve(item, id=f"i{place}", text=text, original_tokens=10**6) for place, text in enumerate(originals)
    )
    return SummaryValidator().validate(attrs.evolve(request, items=items), summary)


def refused(verdict, words, rows=ROWS[1::2]):
    rows = [row for row in rows if row["verdict"] == verdict]
    found = sum(any(words in each for each in complaints(row["originals"], row["summary"])) for row in rows)
    return 100 * found / len(rows)


def test_inventions_are_refused_and_honest_summaries_are_not():
    assert refused("invention", "none of the originals") >= 76
    assert refused("good", "none of the originals") <= 4


def test_what_is_left_to_do_is_refused():
    assert refused("unfinished", "past tense") >= 82
    assert refused("good", "past tense") <= 2


def test_so_it_is_on_a_second_set():
    """Only its totals were looked at, never its rows. What only happened never, without a new name, is not known."""
    named = [row for row in SECOND if row["note"] != "event only"]
    assert refused("invented", "none of the originals", named) >= 50
    assert refused("good", "none of the originals", SECOND) <= 2
    assert refused("unfinished", "past tense", SECOND) >= 70
    assert refused("good", "past tense", SECOND) == 0


def test_of_recorded_summaries_only_names_that_their_originals_lack_are_refused():
    require_corpus()
    lines = (DATA / "recorded_summaries.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if "native" not in row["session"]]
    found = [name for row in rows for name in invented(*recorded(row))]
    # The path of the transcript, which the agent's program adds, and a tool of the agent: no record has its schemas.
    assert {name for name in found if "REDACTED" not in name} <= {"ExitPlanMode"}


def recorded(row):
    messages = [json.loads(line) for line in (corpus_dir() / row["session"]).read_text("utf-8").splitlines()]
    texts = [json.dumps(message, ensure_ascii=False).replace("\\n", "\n") for message in messages]
    return texts[row["place"]], texts[row["from"] : row["to"]]
