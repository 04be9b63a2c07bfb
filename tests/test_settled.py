"""What of real and of written messages is taken for a rule or a decision: labels that were fixed before the weights."""

import json
from pathlib import Path

from benchmarks.settled import decisions_in, figures, recorded, rules_in
from tests.support.corpus import require_corpus

DATA = Path(__file__).parent / "data"
WRITTEN = [json.loads(line) for line in (DATA / "decision_wordings.jsonl").read_text("utf-8").splitlines()]


def test_of_what_agents_decide_three_quarters_are_found():
    decided = [row for row in WRITTEN if row["id"].startswith("d")]
    found = [any(row["marker"].lower() in text.lower() for text in decisions_in(row["text"])) for row in decided]
    assert sum(found) >= 0.75 * len(found)


def test_of_near_misses_a_quarter_at_most_is_taken_for_a_decision():
    others = [row for row in WRITTEN if row["id"].startswith("o")]
    assert sum(bool(decisions_in(row["text"])) for row in others) <= 0.25 * len(others)


def test_what_recorded_users_say_of_the_moment_is_mostly_no_rule():
    """One in three was taken for one by the patterns that were here before."""
    require_corpus()
    found = figures(list(recorded("recorded_rules.jsonl", "rules")), rules_in)
    assert found.false_messages <= 0.15 * found.clean_messages
    assert found.found >= 0.25 * found.wanted


def test_what_recorded_agents_report_and_announce_is_mostly_no_decision():
    require_corpus()
    found = figures(list(recorded("recorded_decisions.jsonl", "decisions")), decisions_in)
    assert found.false_messages <= 0.07 * found.clean_messages
    assert found.found >= 0.3 * found.wanted
