"""What a user asks for in plain words comes back, if it is clearly meant and the window does not show it."""

import pytest

from benchmarks.plain_questions import COUNTED, languages, outcomes
from gc_core.session.plain_questions import MOST_HOLDING
from gc_core.session.recall_suggestions import auto_expand, suggest_recall
from tests.support.inside import counter_of
from tests.support.say import answer, call, lines, rendered, result, small, user

WIFI = "My sister found out yesterday that the wifi password of the guest house was larkspur-88."
QUESTION = "What was the wifi password for the guest house again?"


def chat(session, *said, more=40):
    """An exchange for each text, then so many others, and a collection that leaves the newest turns alone."""
    session.append(user("Hello."))
    session.post_turn(answer("Hello to you."))
    for text in said:
        session.append(user(text))
        session.pre_send()
        session.post_turn(answer("Noted."))
    for place in range(more):
        session.append(user(f"Subject {place}: {lines(12, f'topic{place}')}"))
        session.pre_send()
        session.post_turn(answer(f"Reply to subject {place}."))
    session.collect_now(target_percent=1)


def ask(session, text):
    session.append(user(text))
    return suggest_recall(session)


@pytest.fixture
def session():
    with small(6_000, preserve_recent_turns=2) as made:
        yield made


def test_the_item_with_most_of_the_questions_words_comes_back(session):
    chat(session, WIFI, "The house of my aunt has a blue door.", "I bought a wifi router.")
    assert WIFI not in rendered(session)
    found, reply = ask(session, QUESTION)
    assert session.recall(found.item) == WIFI
    assert found.names == ("wifi", "password", "guest", "house")
    assert found.reason == "the user asks for wifi, password, guest, house"
    assert found.tokens == counter_of(session).count(WIFI)
    assert session.recall(reply.item) == "Noted."


def test_a_session_that_expands_by_itself_sends_it_with_the_question_and_only_once():
    with small(6_000, preserve_recent_turns=2, auto_expand=True) as session:
        chat(session, WIFI)
        session.append(user(QUESTION))
        session.pre_send()
        assert rendered(session).count(WIFI) == 1
        session.post_turn(answer("It is larkspur-88."))
        session.append(user("And the password of the guest house, is that with a hyphen?"))
        session.pre_send()
        assert rendered(session).count(WIFI) == 1


def test_where_the_setting_is_off_no_index_is_opened(monkeypatch, session):
    chat(session, WIFI)
    monkeypatch.setattr("gc_core.session.history.History.sharing", lambda *_: pytest.fail("looked"))
    session.append(user(QUESTION))
    session.pre_send()


def test_what_the_agent_said_comes_back_with_its_question(session):
    session.append(user("Hello."))
    session.post_turn(answer("Hello to you."))
    session.append(user("I need a name for my bakery in Leeds."))
    session.pre_send()
    session.post_turn(answer("The Crooked Loaf."))
    chat(session)
    found = ask(session, "Which name did you find for the bakery in Leeds?")
    assert [session.recall(each.item) for each in found] == [
        "I need a name for my bakery in Leeds.",
        "The Crooked Loaf.",
    ]


def test_what_the_window_shows_does_not_come_back(session):
    chat(session, WIFI)
    session.append(user(f"As I said: {WIFI}"))
    session.post_turn(answer("Yes."))
    assert ask(session, QUESTION) == ()


def test_what_stands_in_the_window_as_a_stub_does_not_come_back(session):
    chat(session, f"{lines(300)}\n{WIFI}\n{lines(300)}")
    (found, _) = ask(session, QUESTION)
    session.restore(found.item)
    assert suggest_recall(session) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Can you fix it?",
        "Good morning! Did you sleep well?",
        "How do I change the password of a router that has no wifi?",
        "Write a poem about a house by the sea.",
        "Wifi?",
        f"Please shorten this: {QUESTION} Apples, bread, candles, drums, eagles, ferns, grapes, iron, jam, moss.",
        "<reminder of the guest house wifi password>Go on.</reminder>",
    ],
)
def test_what_nothing_in_the_past_answers_brings_nothing_back(session, text):
    chat(session, WIFI)
    assert ask(session, text) == ()


def test_words_that_many_items_have_bring_nothing_back(session):
    chat(session, *(f"The wifi of the guest house fails, case {place}." for place in range(MOST_HOLDING + 1)))
    assert ask(session, "Is the wifi of the guest house all right?") == ()


def test_words_far_apart_in_a_long_text_bring_nothing_back(session):
    chat(session, f"guest {lines(200)} house {lines(200)} wifi {lines(200)} password")
    assert ask(session, QUESTION) == ()


def test_a_long_text_comes_back_around_the_words_within_the_cap(session):
    chat(session, f"{lines(300)}\nwifi\n{lines(300)}\n{WIFI}\n{lines(300)}")
    session.append(user(QUESTION))
    used = auto_expand(session, cap=300)
    session.pre_send()
    assert WIFI in rendered(session)
    assert used[0].tokens > 3_000
    block = next(item for item in session.items() if item.name == "recalled")
    assert block.tokens < 330


def test_a_name_leads_before_plain_words_do(session):
    chat(session, WIFI, "The guest house is managed in guest_house_admin.py by Ingrid.")
    (found,) = ask(session, "Who manages guest_house_admin.py for the wifi of the guest house?")
    assert found.names == ("guest_house_admin.py",)


NEWS = "Lindqvist has a new phone number: 5559999."


@pytest.mark.parametrize(
    ("said_later", "first"), [(NEWS, [NEWS]), ("Tell me the phone number of Lindqvist.", []), ("I like Lindqvist.", [])]
)
def test_what_a_user_said_later_in_the_same_words_comes_back_before_a_result(session, said_later, first):
    phone = f"phone number 5550188 office Malmo {lines(40)}"
    session.append(user("Hello."))
    session.post_turn(call(("c1", "get_user", {"name": "Lindqvist"})))
    session.append(result("c1", phone))
    session.post_turn(answer("Done."))
    chat(session, said_later)
    found = ask(session, "What is the phone number of Lindqvist?")
    assert [session.recall(each.item) for each in found] == [*first, phone]


@pytest.mark.parametrize("said_later", [NEWS, "Write to Lindqvist, I have the phone number."])
def test_what_a_user_said_later_and_the_window_shows_does_not_hide_an_older_result(session, said_later):
    phone = "phone number 5550188 office Malmo"
    session.append(user("Hello."))
    session.post_turn(call(("c1", "get_user", {"name": "Lindqvist"})))
    session.append(result("c1", phone))
    session.post_turn(answer("Done."))
    chat(session)
    session.append(user(said_later))
    session.post_turn(answer("Noted."))
    found = ask(session, "What is the phone number of Lindqvist?")
    assert [session.recall(each.item) for each in found] == [phone]


def test_the_agents_own_words_are_no_question(session):
    chat(session, WIFI)
    session.append(user("Go on."))
    session.pre_send()
    session.post_turn(answer(QUESTION))
    assert suggest_recall(session) == ()


@pytest.fixture(scope="module")
def counted():
    """The half of the questions in nine languages that was only counted: failures name none of them."""
    return [one for language in languages() for one in outcomes(language, half=COUNTED)]


@pytest.mark.slow
def test_seven_of_ten_questions_in_plain_words_bring_back_their_answer(counted):
    found = [one.answered for one in counted if one.case.wanted]
    assert sum(found) >= 0.7 * len(found)


@pytest.mark.slow
def test_at_most_one_of_twenty_questions_without_an_answer_brings_anything_back(counted):
    found = [bool(one.recalled) for one in counted if not one.case.wanted]
    assert sum(found) <= 0.05 * len(found)
