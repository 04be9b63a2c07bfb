"""Lists that come back with gc-core's own texts in them: each text counts once, and none of them is anybody's words."""

import random
import re

import pytest

from gc_core import GCConfig, GCSession, compact
from gc_core.errors import MessageError
from gc_core.providers import format_named
from gc_core.values.references import without_references
from tests.support.checker import complaints
from tests.support.grids import every_other_pair, half
from tests.support.histories import FORMATS, SPEAKERS, Reply

STRATEGIES = ("gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive")
TURNS = 30
BUDGET = 3_500
RULES = {
    2: "Never mention Acme to a customer.",
    11: "From now on always answer in metric units.",
    23: "Do not touch the folder vendor/, and use tabs.",
}
STATE = re.compile(r'<context source="task_state".*?</context>', re.DOTALL)
SUMMARY = re.compile(r"<summary name=.*?</summary>", re.DOTALL)
NOTICE = re.compile(r"^\[gc: [\d,]+ tokens left out[^\n]*\]$", re.MULTILINE)
ID = re.compile(r"\bi\d+\b")
_WORDS = ("harbour", "museum", "train", "ticket", "garden", "river", "market", "bridge", "ferry", "castle", "parser")


def words(letters, number):
    return " ".join(letters.choice(_WORDS) for _ in range(number))


def turns(form, *, tools, seed=3):
    """Yield what a user says in each turn, its message, and those that follow: an answer, with calls before it."""
    speaker, letters = SPEAKERS[form](), random.Random(seed)  # noqa: S311 - no secret
    for number in range(TURNS):
        asked = RULES.get(number, f"Question {number}: what about the {words(letters, 25)}?")
        after = []
        for place in range(2 if tools and number % 3 else 0):
            key = f"c{number}-{place}"
            after.append(speaker.reply(Reply(parts=(("call", key, "read", f"src/{words(letters, 1)}{number}.py"),))))
            after += speaker.results([(key, "read", words(letters, 60))])
        after.append(speaker.reply(Reply(parts=(("text", f"Answer {number}: {words(letters, 90)}."),))))
        yield asked, speaker.user(asked), after


def texts_of(form, messages):
    """The texts of these messages."""
    reading = format_named(form)
    return [part.text for message in messages for part in reading.read(reading.normalise(message))]


def quoted_in(state):
    """The demands and the objective in a state."""
    _, head, demanded = state.partition("Demanded by the user, and in force:\n")
    rows = re.match(r"(?:(?:\([^“”\n]*\) )?“[^\n]*\n)*", demanded).group() if head else ""
    task = re.search(r"The task as it stood[^“\n]*“([^”\n]*)”", state)
    return re.findall(r"“([^”]*)”", rows), task.group(1) if task else ""


def judge(form, messages, said):
    """What the promises on lists that come back forbid in this list."""
    whole = "\n".join(texts_of(form, messages))
    plain = " ".join(" ".join(said).split())
    states = STATE.findall(whole)
    assert len(states) <= 1
    for state in states:
        demands, task = quoted_in(state)
        assert all(demand in plain for demand in demands), demands
        assert all(each in plain for each in re.split(r"(?<=[.?]) ", task.removesuffix(" ..."))), task
    assert len(SUMMARY.findall(whole)) <= 10
    return whole


@pytest.mark.parametrize(("strategy", "form", "tools"), half(every_other_pair(STRATEGIES, FORMATS, [False, True])))
def test_a_list_fed_back_to_compact_has_one_state_of_what_the_user_said(strategy, form, tools):
    kept, said = [], []
    for asked, message, after in turns(form, tools=tools):
        said.append(asked)
        kept = compact([*kept, message], BUDGET, strategy=strategy, format=form)
        whole = judge(form, kept, said)
        own = "\n".join((*STATE.findall(whole), *SUMMARY.findall(whole), *NOTICE.findall(whole)))
        assert not ID.findall(own)
        kept = [*kept, *after]
    if strategy == "gc_progressive":
        assert all(rule.rstrip(".") in whole for rule in RULES.values())


@pytest.mark.parametrize(("strategy", "form", "tools"), half(every_other_pair(STRATEGIES, FORMATS, [False, True])))
def test_the_output_of_sync_fed_back_is_the_whole_list_to_the_session(strategy, form, tools):
    config = GCConfig(strategy=strategy, context_limit=BUDGET, output_reservation=0)
    history, back, said = [], [], []
    with GCSession(config, format=form) as whole, GCSession(config, format=form) as fed:
        for asked, message, after in turns(form, tools=tools):
            said.append(asked)
            history, back = [*history, message], [*back, message]
            request = fed.sync(back)
            judge(form, request.messages, said)
            assert complaints(form, request.kwargs()) == []
            assert list(request.messages) == list(whole.sync(history).messages)
            history, back = [*history, *after], [*request.messages, *after]


@pytest.mark.parametrize("form", half(FORMATS))
def test_the_output_may_be_fed_back_to_a_session_that_was_opened_again(form, tmp_path):
    config = GCConfig(strategy="gc_progressive", context_limit=BUDGET, output_reservation=0)
    history, back = [], []
    with GCSession(config, format=form) as whole:
        for number, (_, message, after) in enumerate(turns(form, tools=True)):
            history, back = [*history, message], [*back, message]
            fed = GCSession.open(tmp_path / "s") if number else GCSession(config, format=form, directory=tmp_path / "s")
            with fed:
                request = fed.sync(back)
            assert list(request.messages) == list(whole.sync(history).messages)
            history, back = [*history, *after], [*request.messages, *after]


def test_the_same_list_again_is_a_retry_also_when_it_was_fed_back():
    with GCSession(GCConfig(strategy="gc_truncate", context_limit=BUDGET, output_reservation=0)) as session:
        back = []
        for _, message, after in turns("openai", tools=False):
            back = [*back, message]
            request = session.sync(back)
            items = len(session.items())
            assert session.sync(back).messages == request.messages
            assert len(session.items()) == items
            back = [*request.messages, *after]


def test_a_request_with_its_system_text_may_be_fed_back():
    with GCSession(GCConfig(strategy="gc_truncate", context_limit=BUDGET, output_reservation=0)) as session:
        back = []
        for _, message, after in turns("openai", tools=False):
            request = session.sync([*back, message], system="Be brief.")
            assert [each["role"] for each in request.messages].count("system") == 1
            back = [*request.messages, *after]


def test_a_list_with_messages_that_append_took_is_refused():
    question = {"role": "user", "content": "q1"}
    with GCSession() as session:
        session.append(question)
        session.post_turn({"role": "assistant", "content": "r1"})
        with pytest.raises(MessageError, match=r"messages\[0\] has come with append"):
            session.sync([question, {"role": "assistant", "content": "r1"}, {"role": "user", "content": "q2"}])
        assert len(session.items()) == 2


def test_a_message_appended_between_two_lists_is_known_in_the_next_one():
    texts = (("user", "q1"), ("assistant", "r1"), ("user", "q2"))
    messages = [{"role": role, "content": text} for role, text in texts]
    with GCSession() as session:
        session.sync(messages[:1])
        session.post_turn(messages[1])
        session.append(messages[2])
        assert list(session.sync(messages).messages) == messages


def test_a_line_between_two_replies_is_nobodys_words_when_it_comes_back():
    replies = [{"role": "model", "parts": [{"text": text}]} for text in ("Well.", "And so on.")]
    asked = {"role": "user", "parts": [{"text": "Fix the parser in app/main.py."}]}
    with GCSession(format="gemini") as session:
        session.extend([*replies, asked])
        sent = list(session.pre_send().messages)
    with GCSession(format="gemini") as session:
        session.extend(sent)
        assert list(session.pre_send().messages) == sent
        assert session.objective == "Fix the parser in app/main.py."


@pytest.mark.parametrize(
    ("told", "bare"),
    [
        ("- The turn ended with (turn 0, i2): “Hello (turn 1, i2)”", "- The turn ended with: “Hello (turn 1, i2)”"),
        ("- `run` failed (turn 3, i9): “e”; it succeeded later (i12).", "- `run` failed: “e”; it succeeded later."),
        ("- Called up to turn 3, i40: read 3 times.", "- Called: read 3 times."),
        ("(i3, by the user, in place of i2) “a” The reasons were: “b” (i4)", "(by the user) “a” The reasons were: “b”"),
        ("The task as it stood at i41: “a”.", "The task as it stood: “a”."),
        ("`src/`: a.py i41, b.py i52", "`src/`: a.py, b.py"),
        ("```\ni12 read:\nf (i2, x)\n```\n- b (i2)", "```\nread:\nf (i2, x)\n```\n- b"),
    ],
)
def test_a_text_for_a_list_has_no_references_but_in_what_it_quotes(told, bare):
    assert without_references(told) == bare
