"""What the agent is after: as the host says, else in the user's own words; it outlives whatever a session outlives."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gc_core import GCConfig, GCRemovalItem, GCSession, Plugins
from gc_core.errors import SourceError
from gc_core.events import CollectionFinished
from gc_core.relevance.name_scan import scan
from gc_core.relevance.objective import CHARS, MOST_LATER, SHARED_SHARE, Objective
from gc_core.relevance.task_messages import changes_task, sets_task
from gc_core.values.triggers import Major, ObjectiveChange
from tests.support.inside import state_of
from tests.support.say import call, lines, result, rounds, small, user

FIRST = "Make parser.py and lexer.py accept tabs."


def after(*said):
    """The objective after what user and agent said in turns; the user begins."""
    with small() as session:
        for place, text in enumerate(said):
            session.append(user(text) if place % 2 == 0 else {"role": "assistant", "content": text})
        return session.objective


class Keen:
    """Asks for a collection whenever the objective changes, and drops what is oldest."""

    triggers = (Major(target_percent=45.0), ObjectiveChange())

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        for unit in context.collectable:
            yield GCRemovalItem.drop(unit, reason="oldest")


def changes(session):
    return state_of(session).objective.changes


def held(session):
    return state_of(session).objective


# --- whose words it is ------------------------------------------------------------------------------------------------


def test_it_is_the_original_request_and_every_later_message_that_changes_the_task():
    with small() as session:
        assert session.objective == ""
        session.append(user(FIRST))
        assert session.objective == FIRST
        rounds(session, 2, task=None)
        session.append(user("Go on."))
        assert session.objective == FIRST
        rounds(session, 1, first=2, task=None)
        session.append(user("And parser.py first."))
        session.append(user("Thanks, go on."))
        session.append(user("Also add a test."))
        assert session.objective == f"{FIRST}\nAnd parser.py first.\nAlso add a test."


def test_who_greets_first_or_answers_sets_no_task():
    with small() as session:
        session.append({"role": "assistant", "content": "Hello! How can I help?"})
        for said in ("Hi!", "/help", "[Request interrupted by user]", "###STOP###"):
            session.append(user(said))
            assert session.objective == ""
        session.append(user(FIRST))
        session.append({"role": "assistant", "content": "Which version do you use?"})
        session.append(user("3.12"))
        assert session.objective == FIRST


BEHIND_THANKS = (
    "Merci ! Maintenant, corrige le menu.",
    "Gracias. Ahora arregla la cola de correos.",
    "ありがとう。次はログイン画面を直してください。",
    "谢谢。现在请修复登录页面。",
    "Спасибо. Теперь исправь отчёт.",
    "grazie, ora sistema il menu",
    "obrigado, agora corrija o menu",
    "dzięki, teraz napraw menu",
    "Teşekkürler. Şimdi menüyü düzelt.",
    "감사합니다. 이제 메뉴를 고쳐 주세요.",
    "Tack. Sidfoten visar fel telefonnummer.",
    "Danke, im Kopf steht das alte Datum.",
)


@pytest.mark.parametrize("said", BEHIND_THANKS)
def test_what_follows_thanks_is_a_task_in_every_language(said):
    assert after(FIRST, "Done.", said, "Done.", "go on") == f"{FIRST}\n{said}"


@pytest.mark.parametrize(
    "said",
    [
        *(
            "in Spanish please",
            "Bitte als PDF",
            "en anglais",
            "Give me a summary",
            "rebase onto main",
            "Traduis en anglais",
        ),
        *(
            "bigger font",
            "two columns",
            "The link is dead",
            "Das Logo ist unscharf",
            "Con imágenes",
            "короче, пожалуйста",
        ),
        *(
            "Переведи на английский",
            "再举个例子",
            "英語で",
            "제목을 굵게",
            "tabs, not spaces",
            "dark mode too",
            "no emojis",
        ),
    ],
)
def test_a_few_words_that_say_what_and_how_are_a_task(said):
    assert after(FIRST, "Done.", said) == f"{FIRST}\n{said}"


@pytest.mark.parametrize(
    "said",
    [
        *(
            "TERMINATE",
            "###OUT-OF-SCOPE###",
            "<<END>>",
            "<END_OF_CONVERSATION>",
            "TASK_COMPLETE",
            "__END__",
            "EOF",
            "END",
        ),
        *(
            "<|end|>",
            "/model opus",
            ":wq",
            "\\q",
            "<command-name>/clear</command-name>",
            "КОНЕЦ_ДИАЛОГА",
            "[[all-done]]",
        ),
    ],
)
def test_a_control_word_is_none_wherever_it_stands(said):
    assert after(said, "?", FIRST, "Done.", said) == FIRST
    assert after(FIRST, "Done.", "Add a CSV download.", "Done.", f"Thanks, that is all. {said}") != ""


def test_a_command_with_words_of_its_own_is_a_task():
    said = "<command-name>/plan</command-name>\n<command-args>a todo app in Rust</command-args>"
    assert after(said) == said


@pytest.mark.parametrize(
    "said",
    [
        *(
            "Sure thing.",
            "approved",
            "no problem",
            "わかりました",
            "хорошо, идём дальше",
            "ottimo lavoro",
            "Moin",
            "Chapeau !",
        ),
        *(
            "Justo lo que quería",
            "That's exactly what I was after",
            "Det blev jättebra",
            "Bundan iyisi olamaz",
            "Keren",
        ),
        *(
            "Die Tests sind grün, danke",
            "You're quick!",
            "Couldn't be happier with it",
            "Sieht gut aus",
            "辛苦了",
        ),
        *("Is that ok?", "What do I do next?", "Thank you for the quick help with the report", "I'll test it tomorrow"),
    ],
)
def test_a_short_remark_that_names_and_orders_nothing_is_none(said):
    assert after(FIRST, "Done.", "Add a CSV download.", "Done.", said) == f"{FIRST}\nAdd a CSV download."


@pytest.mark.parametrize(
    ("question", "said", "counts"),
    [
        ("Shall I cancel reservation S61CZX?", "Yes, please cancel the reservation S61CZX. Thank you!", False),
        ("Could you give me your e-mail address?", "I'm sorry, but I don't remember it. Is there another way?", False),
        ("Which version do you use?", "We had 3.11 until last summer, and now it is 3.12 on every machine.", False),
        (
            "If you provide your user ID, I can look it up.",
            "Sure, it is mia_li_3668. Can you find it with that?",
            False,
        ),
        ("Shall I go on?", "Yes, but keep the old table readable.", True),
        ("Shall I go on?", "No, write the plan first.", True),
        ("Anything else?", "The footer is broken.", True),
    ],
)
def test_an_answer_is_none_unless_it_changes_what_was_asked(question, said, counts):
    assert after(FIRST, question, said) == (f"{FIRST}\n{said}" if counts else FIRST)


def test_a_request_with_a_bold_word_and_thanks_is_a_request():
    said = "Rename the module ledger and update **all** imports. Thanks!"
    assert after(FIRST, "Done.", said) == f"{FIRST}\n{said}"


@given(st.text(max_size=600))
def test_whatever_is_said_is_a_task_or_none(said):
    assert changes_task(said, begun=True, asked=False) in {True, False}
    assert sets_task(said) in {True, False}


@pytest.mark.parametrize("piece", ["a ", "a, ", "!!", "#=", "(a", "thanks ", "i think i ", "真", "A_", "the a ", "."])
def test_a_long_message_takes_no_longer_than_its_beginning(piece):
    changes_task(piece * 200, begun=True, asked=True)
    start = time.perf_counter()
    for _ in range(20):
        changes_task(piece * 100_000, begun=True, asked=True)
    assert time.perf_counter() - start < 2


def test_what_the_host_sets_counts_until_it_is_given_back():
    with small() as session:
        session.append(user(FIRST))
        session.objective = "Release version 2."
        assert session.objective == "Release version 2."
        session.append(user("Look at server.py and client.py, please."))
        assert session.objective == "Release version 2."
        session.objective = ""
        assert session.objective.startswith(FIRST)


def test_the_same_words_again_are_not_a_change_and_a_non_text_is_refused():
    with small() as session:
        session.objective = "Release version 2."
        before = changes(session)
        session.objective = "Release version 2."
        assert changes(session) == before
        for wrong in (None, 3, ["a"]):
            with pytest.raises(SourceError, match=r"objective = .*expected a text"):
                session.objective = wrong


def test_results_replies_and_what_the_framework_wrote_say_nothing_of_it():
    with small() as session:
        session.append(user(FIRST))
        before = held(session)
        rounds(session, 3, task=None)
        session.enrich(weather="mild in other_place.py and more_places.py")
        session.pre_send()
        assert held(session) == before


# --- when it becomes another one --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "is_another"),
    [
        ("Now look at server.py and client.py.", True),
        ("Now look at parser.py and lexer.py.", False),
        ("parser.py is fine; what of tokens.py and grammar.py?", False),
        ("Go on.", False),
        ("What of server.py?", False),
        ("", False),
    ],
)
def test_a_user_message_that_shares_few_names_makes_it_another_one(said, is_another):
    with small() as session:
        session.append(user(FIRST))
        rounds(session, 1, task=None)
        session.append(user(said or " "))
        assert changes(session) == is_another


@given(known=st.sets(st.integers(0, 30), min_size=2), new=st.sets(st.integers(0, 30), min_size=2))
def test_it_changes_exactly_when_the_shared_share_of_names_is_small(known, new):
    def named(numbers):
        return " ".join(f"module_{number}.py" for number in sorted(numbers))

    start = Objective(request=named(known))
    said = scan(named(new)).names
    shared = len(said & scan(start.text).names) / len(said)
    assert start._is_another(named(new)) == (shared < SHARED_SHARE)


def test_only_the_beginning_of_a_long_request_is_taken():
    with small(40_000) as session:
        session.append(user(lines(4_000)))
        assert len(session.objective) == CHARS


# --- what it outlives -------------------------------------------------------------------------------------------------


def test_it_survives_reopening_with_and_without_a_checkpoint(tmp_path):
    for way in ("log", "checkpoint"):
        with small(directory=tmp_path / way) as session:
            session.append(user(FIRST))
            rounds(session, 2, task=None)
            session.append(user("Now look at server.py and client.py."))
            session.objective = "Release version 2."
            if way == "checkpoint":
                session.checkpoint()
            before = held(session)
        with GCSession.open(tmp_path / way, plugins=Plugins.discover()) as again:
            assert held(again) == before


def test_a_rewind_and_a_rollback_bring_back_the_one_of_then(tmp_path):
    with small(directory=tmp_path / "s") as session:
        session.append(user(FIRST))
        rounds(session, 2, task=None)
        then = held(session)
        point = session.checkpoint()
        session.append(user("Now look at server.py and client.py."))
        session.objective = "Release version 2."
        rounds(session, 1, first=2, task=None)
        session.rollback(point)
        assert held(session) == then
        session.append(user("Now look at server.py and client.py."))
        rounds(session, 1, first=3, task=None)
        session.objective = "Release version 3."
        session.rewind(1)
        assert held(session) == then


# --- one that changes every step --------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["host", "user"])
def test_an_objective_that_changes_every_step_costs_no_storm_of_collections(way):
    events = []
    config = GCConfig(context_limit=16_000, output_reservation=0, reread_guard="off", preserve_recent_turns=1)
    with GCSession(
        config, strategy=Keen(), model="claude-opus-4-5", plugins=Plugins(), on_event=events.append
    ) as session:
        session.append(user(FIRST))
        for place in range(120):
            if way == "host":
                session.objective = f"Look at module_{place}.py and part_{place}.py."
            elif place:
                session.append(user(f"Look at module_{place}.py and part_{place}.py."))
            session.pre_send()
            session.post_turn(call((f"c{place}", "read", {"path": f"f{place}.py"})))
            session.append(result(f"c{place}", lines(20, f"row{place}")))
        assert changes(session) >= 119
        assert len(held(session).text) <= 2 * MOST_LATER
        # Each has to be worth its break, and the window above its target again.
        assert 0 < sum(isinstance(event, CollectionFinished) for event in events) <= 40
