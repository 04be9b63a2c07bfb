"""The ordinary sessions and circles are what they are called: work that brings something new, and laps that do not."""

import json
import re

import pytest

from tests.support.ordinary_circles import ORDINARY_CIRCLES, is_beside
from tests.support.ordinary_rounds import ordinary_circle, ordinary_honest
from tests.support.ordinary_work import ORDINARY_HONEST

SEEDS = range(30)
EDITS = {"Edit", "Write", "apply_patch", "write_file", "update_contact", "submit_chunk", "write_note"}


def outputs(rounds):
    """Each call's name, arguments and result, with the place of the reply that calls."""
    calls = {}
    for place, (message, _) in enumerate(rounds):
        for each in message.get("tool_calls") or ():
            calls[each["id"]] = place, each["function"]["name"], json.loads(each["function"]["arguments"])
    return [(*calls[message["tool_call_id"]], message["content"]) for message, _ in rounds if message["role"] == "tool"]


def kept_lines(text):
    """The long lines of a text, whichever their numbers are and in whichever order their cells stand."""
    bare = (re.sub(r"^\s*\d+\t", "", line) for line in text.split("\n"))
    return [tuple(sorted(line.split())) for line in bare if len(line) > 12]


def test_there_are_thirty_sorts_of_each():
    assert len(set(ORDINARY_HONEST)) == len(set(ORDINARY_CIRCLES)) == 30


@pytest.mark.parametrize("seed", SEEDS)
def test_an_honest_session_has_many_results(seed):
    _, rounds = ordinary_honest(seed)
    assert sum(len(text) for *_, text in outputs(rounds)) >= 60_000
    assert rounds[0].message["role"] == "user"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_circle_brings_nothing_new(seed):
    name, rounds, begins = ordinary_circle(seed)
    asked = outputs(rounds)
    known = {line for place, *_, text in asked if place < begins for line in kept_lines(text)}
    assert rounds[begins].message["tool_calls"]
    assert not any(message["role"] == "user" for message, _ in rounds[begins:])
    again = [each for each in asked if each[0] >= begins and not is_beside(each[1], each[3])]
    assert len(again) >= 30
    for _, tool, arguments, text in again:
        lines = kept_lines(text)
        shared = sum(line in known for line in lines)
        assert shared >= 0.9 * len(lines) > 0, (name, arguments)
        assert 1_500 <= len(text) <= 9_000, (name, arguments, len(text))
        assert tool not in EDITS


@pytest.mark.parametrize("seed", SEEDS)
def test_the_calls_before_a_circle_ask_for_nothing_twice(seed):
    name, rounds, begins = ordinary_circle(seed)
    known = set()
    for place, _, arguments, text in outputs(rounds):
        lines = set(kept_lines(text))
        if place < begins and len(text) > 300:
            assert len(lines & known) < 0.5 * len(lines), (name, arguments)
            known |= lines


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_circle_asks_for_first_has_left_a_small_window(seed):
    _, rounds, begins = ordinary_circle(seed)
    asked = outputs(rounds)
    first = set(kept_lines(next(text for place, *_, text in asked if place >= begins)))
    since = 0
    for place, *_, text in reversed(asked):
        if place < begins:
            if len(first & set(kept_lines(text))) > 5:
                break
            since += len(text)
    assert since >= 30_000


def test_a_seed_makes_the_same_again():
    for seed in SEEDS:
        assert ordinary_honest(seed) == ordinary_honest(seed)
        assert ordinary_circle(seed) == ordinary_circle(seed)


def test_models_and_tools_take_their_time():
    for seed in SEEDS:
        for rounds in (ordinary_honest(seed)[1], ordinary_circle(seed)[1]):
            for message, seconds in rounds:
                assert message["role"] != "assistant" or 2 <= seconds <= 8
                assert message["role"] != "tool" or seconds >= 0.05
