"""A short number that the originals neither contain nor explain is found, in any language; counts and sums are not."""

import pytest

from gc_core.summaries.number_words import spelt_in
from gc_core.summaries.unexplained_numbers import unexplained

RUN = [
    "pytest -q\n1 failed, 41 passed in 3.02s",
    "The latency was 17 ms for 3 users. Rent: 2 450 euros. The disk was 91 % full of 512 MB.",
    "42 passed. It took 180.4 s, from 12:10 to 12:55.\nwarning: a\nwarning: b\nwarning: c",
]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("37 tests passed.", ("37",)),
        ("37 Tests liefen durch.", ("37",)),
        ("Прошли 37 тестов.", ("37",)),
        ("テスト 37 件が通った。", ("37",)),
        ("It was used by seven users.", ("seven",)),
        ("The disk was 83 % full.", ("83",)),
        ("The run took 19 minutes.", ("19",)),
        ("The disk had 61,5 MB.", ("61,5",)),
    ],
)
def test_a_number_that_is_not_explained_is_found(text, numbers):
    assert unexplained(text, RUN) == numbers


@pytest.mark.parametrize(
    "text",
    [
        "All 42 tests passed, 41 of them at once.",
        "It was used by two of the users. Three warnings were left.",
        "The run took about 3 minutes. It lasted 45 minutes.",
        "About 98 % of the tests passed. 9 % of the disk were free.",
        "The disk was 90 % full of half a gigabyte. The rent was 2,450 euros.",
        "17 messages were exchanged in v3.11 on 10.0.0.14, in src/37/a.py.",
        "Zehn Dateien und fünfzehn Wege wurden gelesen.",
    ],
)
def test_a_count_a_sum_a_share_and_another_unit_are_explained(text):
    assert unexplained(text, ["padding\n" * 20, *RUN]) == ()


def test_a_number_at_the_end_of_a_clause_is_of_the_noun_before():
    assert unexplained("40 shelves were put up, upstairs 26.", ["40 shelves downstairs, 23 shelves upstairs"]) == (
        "26",
    )


def test_where_there_are_very_many_numbers_each_is_explained():
    assert unexplained("337 tests passed.", [" ".join(f"{number} tests" for number in range(0, 2000, 2))]) == ()


def test_where_there_are_many_of_a_unit_or_noun_some_always_add_up():
    fares = "\n".join(f'"price": {fare}' for fare in range(101, 130, 2))
    assert unexplained("It was $337 in all.", [f"{fares}\nA seat is $20."]) == ()


def test_what_names_one_thing_is_no_quantity():
    assert unexplained("On page 17 and in turn 19 it said so.", ["4 pages, 3 turns, page 2 of turn 1"]) == ()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("seven", 7), ("sieben", 7), ("sept", 7), ("siete", 7), ("sette", 7), ("sete", 7), ("zeven", 7), ("семь", 7),
        ("siedem", 7), ("yedi", 7), ("सात", 7), ("সাত", 7), ("سات", 7), ("سبعة", 7), ("일곱", 7), ("七个", 7),
        ("二十三", 23), ("twenty", 20),
    ],
)  # fmt: skip
def test_numbers_in_words_are_read_in_many_languages(text, number):
    assert number in set(spelt_in(text))
