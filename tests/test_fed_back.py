"""Lists that come back with gc-core's own texts in them: each text counts once, and none of them is anybody's words."""

import random
import re

import pytest

from gc_core import GCConfig, GCSession, compact
from gc_core.providers import format_named
from tests.support.checker import complaints
from tests.support.histories import FORMATS, SPEAKERS, Reply

STRATEGIES = ("gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive")
TURNS = 60
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
_WORDS = "harbour museum train ticket garden river coffee market bridge hostel ferry castle lake forest parser".split()


def words(letters, number):
    return " ".join(letters.choice(_WORDS) for _ in range(number))


def turns(form, *, tools, seed=3):
    """Yield what a user says in each turn, its message, and those that follow: an answer, with calls before it."""
    speaker, letters = SPEAKERS[form](), random.Random(seed)
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


@pytest.mark.parametrize("tools", [False, True], ids=["chat", "tools"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("strategy", STRATEGIES)
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


@pytest.mark.parametrize("tools", [False, True], ids=["chat", "tools"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("strategy", STRATEGIES)
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
