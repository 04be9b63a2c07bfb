"""The learned model of what a rule looks like: its file, and what it answers for any text."""

import math

from hypothesis import given
from hypothesis import strategies as st

from gc_core.task.rule_features import cue_hashes, hashes_of
from gc_core.task.rule_model import BUCKETS, rule_model

TEXTS = st.lists(st.text(max_size=300), max_size=6)


def test_the_file_has_a_weight_for_every_hash_and_most_are_used():
    weights = rule_model().weights
    assert len(weights) == BUCKETS
    assert sum(map(bool, weights)) > BUCKETS / 2


def test_no_two_cues_share_a_weight():
    sides, names = 3, len(cue_hashes(1 << 32)) // 3
    assert len(cue_hashes(BUCKETS)) == sides * names


@given(TEXTS)
def test_any_texts_have_a_finite_margin_each_and_always_the_same(texts):
    margins = rule_model().margins(texts)
    assert len(margins) == len(texts)
    assert all(map(math.isfinite, margins))
    assert margins == rule_model().margins(texts)


@given(st.text(max_size=300))
def test_apostrophes_of_either_kind_are_one(text):
    assert hashes_of([text.replace("'", "’")], BUCKETS) == hashes_of([text.replace("’", "'")], BUCKETS)


def test_what_stands_beside_a_sentence_counts():
    rule = "Always use tabs."
    alone, withdrawn = rule_model().margins([rule])[0], rule_model().margins([rule, "Actually, forget that."])[0]
    assert alone > 0
    assert withdrawn < alone
