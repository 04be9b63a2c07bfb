"""
What a later sentence does to an earlier rule: in labelled cases that the model has not seen, and for any sentences.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.stated_rules import rows, stated
from gc_core.task.changes import MOST_COMPARED, Effect, change_by, features_of, pairs_of
from gc_core.task.meaning import meaning_of, words_of

DATA = Path(__file__).parent / "data"
LETTERS = st.characters(exclude_categories=()) | st.sampled_from("aA1 ./_-`’タ规규")
TEXTS = st.text(LETTERS, max_size=200)


@pytest.fixture(scope="module")
def pairs():
    """The pairs of the two sets that no weights were learned from."""
    found = [row for half in ("eleventh unseen", "twelfth unseen") for row in rows(half) if row["id"][0] in "spw"]
    names = {"s": ("old", "new"), "w": ("old", "new"), "p": ("first", "second")}
    return [(row["id"][0], *(row[name]["text"] for name in names[row["id"][0]])) for row in found]


def share(values):
    values = list(values)
    return sum(map(bool, values)) / len(values)


@given(TEXTS, st.lists(TEXTS, max_size=12), st.integers(0, 12))
def test_any_sentence_changes_one_of_those_before_it_or_nothing_and_always_the_same(sentence, earlier, last):
    change = change_by(sentence, earlier, last)
    assert change == change_by(sentence, earlier, last)
    assert change is None or (0 <= change.place < len(earlier) and change.effect is not Effect.NONE)


@given(TEXTS, st.lists(TEXTS, max_size=20), st.integers(0, 20))
def test_no_more_sentences_are_compared_than_a_handful(sentence, earlier, last):
    assert len(pairs_of(sentence, earlier, last)) <= MOST_COMPARED


@given(st.text("don'’t use ", max_size=60), st.text("don'’t use ", max_size=60))
def test_apostrophes_of_either_kind_are_one(sentence, earlier):
    def found(apostrophe):
        straight = [text.replace("’", "'").replace("'", apostrophe) for text in (sentence, earlier)]
        return [frozenset(features_of(pair)) for _, pair in pairs_of(straight[0], [straight[1]], 0)]

    assert found("'") == found("’")


def test_what_shares_nothing_with_a_sentence_is_changed_only_if_it_was_said_just_before():
    rule = "Rechnungen gehen freitags raus."
    for sentence in ("Scrap that.", "Forget what I just said.", "Never mind that last one."):
        assert change_by(sentence, [rule], last=1) is None


def test_the_words_that_every_sentence_has_say_nothing_about_it():
    for sentence in ("That is not for you to do with it.", "das ist es nicht, und das ist er"):
        assert words_of(sentence) == frozenset()
    assert meaning_of("Invoices go to the bookkeeper.").told >= {"=invo", "=book"}


def test_blanks_without_end_are_read():
    assert words_of(" " * 2_000) == frozenset()


def in_force(pairs, letter):
    """For each earlier statement that is known by itself, whether it is still in force after the later one."""
    known = [(old, new) for kind, old, new in pairs if kind == letter and stated([old])]
    return [set(stated([old])) <= set(stated([old, new])) for old, new in known]


def test_of_what_is_withdrawn_seven_of_ten_are_no_longer_in_force(pairs):
    assert share(in_force(pairs, "w")) <= 0.3


def test_of_what_is_replaced_two_of_five_are_no_longer_in_force(pairs):
    """In doubt both stay: the later one is shown last."""
    assert share(in_force(pairs, "s")) <= 0.65


def test_a_similar_rule_about_another_thing_changes_hardly_any(pairs):
    assert share(in_force(pairs, "p")) >= 0.95


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The monthly export stays with the accounts department, nobody else may see it.",
         "I don't need anything else right now."),
        ("For the nightly gateway I'll go with the blue-green approach since it can be rolled back.",
         "Yes, please go ahead with that approach."),
    ],
)  # fmt: skip
def test_what_says_little_of_an_earlier_sentence_withdraws_it_only_right_behind_it(earlier, later):
    assert change_by(later, [earlier, "Answer in German."], last=1) is None
