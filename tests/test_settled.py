"""
What of real and of written messages is taken for a rule or a decision.

The labels were fixed before the weights; those of ``recorded_rules.jsonl`` and ``recorded_decisions.jsonl`` have been
looked at since.
"""

import json
from pathlib import Path

import pytest

from benchmarks.settled import decisions_in, figures, histories, recorded, rules_in
from tests.support.corpus import require_corpus

DATA = Path(__file__).parent / "data"
WRITTEN = [json.loads(line) for line in (DATA / "decision_wordings.jsonl").read_text("utf-8").splitlines()]


def test_of_what_agents_decide_four_fifths_are_found():
    decided = [row for row in WRITTEN if row["id"].startswith("d")]
    found = [any(row["marker"].lower() in text.lower() for text in decisions_in(row["text"])) for row in decided]
    assert sum(found) >= 0.8 * len(found)


def test_of_near_misses_a_fifth_or_so_is_taken_for_a_decision():
    others = [row for row in WRITTEN if row["id"].startswith("o")]
    assert sum(bool(decisions_in(row["text"])) for row in others) <= 0.22 * len(others)


def test_what_users_of_public_histories_say_of_the_moment_is_mostly_no_rule():
    """The weights before took something in 100 of 379 messages for one, and found 60 of 176 rules."""
    found = figures(list(histories("user_histories.jsonl")), rules_in)
    assert found.false_messages <= 0.12 * found.clean_messages
    assert found.found >= 0.2 * found.wanted


@pytest.mark.parametrize(("name", "most"), [("recorded_rules.jsonl", 0.06), ("recorded_rules_second.jsonl", 0.07)])
def test_what_recorded_users_say_of_the_moment_is_mostly_no_rule(name, most):
    """One in three was taken for one by lists of words, one in seven by the first weights, one in sixteen by others."""
    require_corpus()
    found = figures(list(recorded(name, "rules")), rules_in)
    assert found.false_messages <= most * found.clean_messages


@pytest.mark.parametrize("name", ["recorded_decisions.jsonl", "recorded_decisions_second.jsonl"])
def test_what_recorded_agents_report_and_announce_is_mostly_no_decision(name):
    require_corpus()
    found = figures(list(recorded(name, "decisions")), decisions_in)
    assert found.false_messages <= 0.05 * found.clean_messages


def test_of_recorded_rules_and_decisions_some_are_found():
    require_corpus()
    rules = figures(list(recorded("recorded_rules.jsonl", "rules")), rules_in)
    decisions = figures(list(recorded("recorded_decisions.jsonl", "decisions")), decisions_in)
    assert rules.found >= 0.2 * rules.wanted
    assert decisions.found >= 0.3 * decisions.wanted
