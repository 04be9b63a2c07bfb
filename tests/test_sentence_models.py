"""The learned models of what sentences are: their files, and what they answer for any text."""

import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.training_data import SOURCE, digest
from gc_core.task.forms import Form, form_of
from gc_core.task.sentence_features import hashes_of
from gc_core.task.sentence_models import LinearModel, decision_margins, form_scores, rule_margins

LETTERS = st.characters(exclude_categories=()) | st.sampled_from("aA1 ./_-`’タ규")
TEXTS = st.lists(st.text(LETTERS, max_size=300), max_size=6)


@pytest.mark.parametrize(("name", "classes"), [("rules", 1), ("decisions", 1), ("forms", len(Form))])
def test_a_file_of_weights_has_as_many_buckets_for_each_class_a_power_of_two(name, classes):
    model = LinearModel.load(name)
    sizes = {len(weights) for weights in model.weights}
    assert len(model.weights) == len(model.biases) == classes
    assert len(sizes) == 1
    assert sizes.pop().bit_count() == 1


def test_the_weights_were_learned_from_the_messages_features_and_trainer_that_stand_beside_them():
    """If not, run ``make sentence-models``, and count again what is said of them (``benchmarks.settled``)."""
    assert SOURCE.read_text("utf-8").strip() == digest()


WEIGHTS = st.lists(st.integers(-127, 127), min_size=8, max_size=8).map(lambda given: array("b", given))


@given(st.lists(WEIGHTS, min_size=1, max_size=5), st.floats(0.0009765625, 2, width=32))
def test_packed_weights_are_read_as_they_were(weights, step):
    model = LinearModel(step, tuple(map(float, range(len(weights)))), tuple(weights))
    assert LinearModel.of(model.packed()) == model


@pytest.mark.parametrize("margins", [rule_margins, decision_margins])
@given(texts=TEXTS)
def test_any_texts_have_a_finite_margin_each_and_always_the_same(margins, texts):
    found = margins(texts)
    assert len(found) == len(texts)
    assert all(map(math.isfinite, found))
    assert found == margins(texts)


@given(st.text(max_size=300))
def test_any_text_has_a_score_for_every_form_and_is_of_the_likeliest(text):
    scores = form_scores(text)
    assert len(scores) == len(Form)
    assert scores[form_of(text)] == max(scores)


@given(st.text(alphabet="don'’t use ", max_size=60))
def test_apostrophes_of_either_kind_are_one(text):
    assert hashes_of([text.replace("'", "’")]) == hashes_of([text.replace("’", "'")])


def test_what_stands_beside_a_sentence_counts():
    rule = "Always use tabs."
    alone, withdrawn = rule_margins([rule])[0], rule_margins([rule, "Actually, forget that."])[0]
    assert alone > 0
    assert withdrawn < alone
