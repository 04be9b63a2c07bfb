"""The words of a question that say what it is about, and where a text has them."""

import time

import pytest

from gc_core.relevance.plain_words import PASSAGE, plain_words, together
from gc_core.values.scripts import folded, parted

MOST = 16


def words(text, most=MOST):
    return [word.text for word in plain_words(text, most)]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What was the wifi password for the guest house again?", ["wifi", "password", "guest", "house"]),
        ("Wie war noch mal das Kennwort für das WLAN?", ["kennwort", "wlan"]),
        ("C'était quoi déjà le mot de passe du chalet ?", ["mot", "passe", "chalet"]),
        ("¿Cuál era la contraseña de la casa?", ["contrasena", "casa"]),
        ("Какой там был пароль на даче?", ["пароль", "даче"]),
        ("民宿的密码是什么？", ["民宿", "密码"]),
        ("別荘のパスワード、何だっけ？", ["別荘", "パスワード"]),
        ("Can you fix it?", ["fix"]),
        ("So what do you think about that?", []),
        ("", []),
    ],
)
def test_words_that_only_ask_or_join_are_left_out(question, said):
    assert words(question) == said


def test_a_word_counts_once_in_whatever_form_it_comes_again():
    assert words("the teacher of the teachers") == ["teacher"]


def test_numbers_of_three_digits_are_words_and_short_words_are_not():
    assert words("is 233 or 17 in B12, at 5?") == ["233", "b12"]


def test_a_text_of_many_words_is_no_question_and_costs_no_more_than_its_beginning():
    text = " ".join(f"word{chr(97 + place % 26)}{place}x" for place in range(200_000))
    started = time.process_time()
    assert words(text) == []
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("rehearse", "rehearsal"),
        ("tabletten", "tablette"),
        ("kommen", "kommt"),
        ("cat", "cats"),
        ("собрание", "собрания"),
    ],
)
def test_forms_of_a_word_begin_alike(word, other):
    (asked,) = plain_words(word, MOST)
    assert asked.is_form(other)
    assert other.startswith(asked.beginning)


@pytest.mark.parametrize(("word", "other"), [("mirror", "mir"), ("password", "passport"), ("plant", "airplant")])
def test_words_that_only_look_alike_are_no_forms_of_each_other(word, other):
    (asked,) = plain_words(word, MOST)
    assert not asked.is_form(other)


def test_words_are_found_as_they_are_spelt_in_the_text():
    asked = plain_words("is Zoë allergic to the hazelnut", MOST)
    assert [*together("ZOE is ALLERGIC to Hazelnuts.", asked, len).values()] == ["ZOE", "ALLERGIC", "Hazelnuts"]


def test_a_word_inside_of_another_one_is_not_found():
    assert together("a breathtaking bandwidth", plain_words("the wide taking", MOST), len) == {}


def test_pairs_of_han_characters_are_found_inside_of_a_sentence():
    asked = plain_words("民宿的密码", MOST)
    assert [*together("顺便说一下，民宿的无线网密码是", asked, len).values()] == ["民宿", "密码"]


def test_words_that_stand_far_apart_are_not_together():
    asked = plain_words("guest house wifi", MOST)
    far = "." * (PASSAGE + 1)
    assert [*together(f"guest{far}the wifi of the house{far}", asked, len).values()] == ["wifi", "house"]


@pytest.mark.parametrize("text", ["İstanbul ışık", "naïve Überprüfung ß", "日本語 ガ", "\ud800 lone", "e\u0301"])
def test_a_folded_text_has_every_character_in_its_place(text):
    assert len(folded(text)) == len(text)


def test_each_han_character_and_each_run_of_kana_is_a_word_of_its_own():
    assert parted("別荘のパスワードはabc").split() == ["別", "荘", "の", "パスワード", "は", "abc"]
