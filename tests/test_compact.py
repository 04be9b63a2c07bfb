"""Plain lists that do not fit: the newest input is shortened last, the original request never."""

import re

import pytest

from gc_core import ContextOverflowError, GCSession, compact
from gc_core.errors import MessageError
from gc_core.providers import format_named
from gc_core.providers.token_counting import counter_for, message_tokens
from tests.support.checker import complaints
from tests.support.say import answer, call, lines, result, user

STRATEGIES = ("gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive")
TASK = re.compile(r"The task as it stood: “([^”]*)”")


def tokens_of(messages, form="openai"):
    counter = counter_for(None, form)
    return sum(message_tokens(message, format_named(form), counter) for message in messages) + 3


# --- the original request ---------------------------------------------------------------------------------------------


PASTE = "What is wrong here?\n" + lines(2_000) + "\nAnswer in one sentence."


@pytest.mark.parametrize(
    "messages",
    [
        [user(PASTE)],
        [user("Hi."), user(PASTE)],
        [user(PASTE), user("Look at the end first.")],
        [user(PASTE), answer("Nothing."), user("Are you sure?")],
    ],
)
def test_an_original_request_above_the_budget_is_an_error_that_names_it(messages):
    """It is LOCKED: what users say before the first reply."""
    with pytest.raises(ContextOverflowError, match="the original request"):
        compact(messages, 2_000)


def test_an_original_request_stays_whole_while_anything_else_can_leave():
    request = user("Fix it.\n" + lines(150))
    kept = compact([request, *reading(10, lines(30))[1:], user(lines(500))], 2_500)
    assert kept[0] == request
    assert tokens_of(kept) <= 2_500


# --- the newest input ------------------------------------------------------------------------------------------------


def reading(turns, newest):
    """An agent that has read files, whose user said something long in each turn, and now its newest result."""
    messages = [user("Fix the parser.")]
    for turn in range(turns):
        messages += [call((f"c{turn}", "read", {"n": turn})), result(f"c{turn}", lines(30)), answer(f"Done {turn}.")]
        messages.append(user(f"request {turn}: {lines(20)}"))
    return [*messages, call(("x", "read", {"n": "x"})), result("x", newest)]


@pytest.mark.parametrize("strategy", [None, "none", *STRATEGIES])
def test_the_newest_result_stays_whole_while_everything_before_it_can_leave_instead(strategy):
    messages = reading(6, lines(200))
    budget = tokens_of([messages[0], *messages[-2:]]) + 120  # for the lines on what left
    kept = compact(messages, budget, strategy=strategy)
    assert complaints("openai", {"messages": kept}) == []
    assert kept[0] == messages[0]
    assert kept[-2:] == messages[-2:]
    assert tokens_of(kept) <= budget


def test_a_newest_result_above_the_budget_keeps_nearly_half_of_it_and_what_users_said_the_rest():
    messages = reading(12, lines(1_000))
    kept = compact(messages, 3_000)
    assert tokens_of(kept[-1:]) > 1_200
    assert 2_700 < tokens_of(kept) <= 3_000
    assert messages[-3] in kept


# --- the task of a chat -----------------------------------------------------------------------------------------------


def chat(questions):
    for place, question in enumerate(questions):
        yield user(question)
        yield answer(f"Answer {place}: " + "the ferry goes over the river by the market bridge. " * 8)


def state_of(messages):
    return next(str(message["content"]) for message in messages if "The task as it stood" in str(message))


def test_the_task_of_a_chat_is_its_newest_questions_and_a_cut_loses_the_oldest():
    questions = [f"Question {place}: where is museum number {place}, and when does it open?" for place in range(60)]
    *messages, _ = chat(questions)
    kept = compact(messages, 1_500, strategy="gc_progressive")
    (task,) = TASK.findall(state_of(kept))
    assert task.endswith(questions[-1])
    assert questions[-5] in task
    assert task.startswith("Question 5")
    assert tokens_of(kept) <= 1_500


def test_a_long_newest_question_is_shown_from_its_beginning():
    *messages, _ = chat([f"Where is museum number {place}?" for place in range(60)])
    messages[-1] = user("Which of these is the nearest? " + "museum " * 150)
    (task,) = TASK.findall(state_of(compact(messages, 2_000, strategy="gc_progressive")))
    assert task.startswith("Which of these is the nearest?")


def test_the_task_of_a_session_with_tools_begins_with_the_original_request():
    messages = [user("Fix the parser in app/main.py.")]
    for turn in range(30):
        messages += [call((f"c{turn}", "read", {"n": turn})), result(f"c{turn}", lines(20)), answer(f"Done {turn}.")]
        messages.append(user(f"Now change part_{turn}.py so that it reads the file {turn} as well."))
    kept = compact(messages, 2_500, strategy="gc_progressive")
    (task,) = TASK.findall(state_of(kept))
    assert task.startswith("Fix the parser in app/main.py.")


BAD = {
    "[2].role: missing, expected one of": {"content": "x"},
    "[2].content[0].text: 5, expected a string": {"role": "user", "content": [{"type": "text", "text": 5}]},
    "[2]: expected a message as a dict or an SDK object, got int": 5,
}
TAKES = {
    "compact": lambda messages: compact(messages, 4_000),
    "sync": lambda messages: GCSession().sync(messages),
    "sync after another list": lambda messages: synced_before(messages[:1]).sync(messages),
    "extend": lambda messages: GCSession().extend(messages),
}


def synced_before(messages):
    session = GCSession()
    session.sync(messages)
    return session


@pytest.mark.parametrize("takes", TAKES)
@pytest.mark.parametrize("said", BAD)
def test_a_malformed_message_of_a_list_is_named_with_its_place(takes, said):
    with pytest.raises(MessageError) as raised:
        TAKES[takes]([user("a"), answer("b"), BAD[said]])
    assert str(raised.value).startswith(said)
