"""The planted facts are what the benchmark says of them, and its labels point to lines that are there."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from ctxgc.evaluation.transcripts import Transcript, read_transcript

from benchmarks.evidence import HOSTS, Call, Probe, Round, Task, Verdict, judge, labels
from benchmarks.planted import EACH, Place, facts, plant
from gc_core import GCConfig, GCSession
from gc_core.events import CollectionFinished
from tests.support.corpus import corpus_dir, require_corpus

NAME = re.compile(r"[0-9_/@=]|\w\.\w|[a-z][A-Z]")
SEEDS = [0, 1, 7]


def said(message):
    """All that a message says: its text, and the texts inside a JSON result."""
    return message["content"] or ""


@pytest.fixture(scope="module")
def sessions():
    require_corpus()
    return plant([read_transcript(corpus_dir() / f"{name}.jsonl") for name in HOSTS])


# --- the facts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_seed_gives_the_same_facts(seed):
    assert facts(seed) == facts(seed)
    assert facts(seed) != facts(seed + 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_there_are_two_hundred_facts_fifty_of_each_place(seed):
    assert Counter(fact.place for fact in facts(seed)) == dict.fromkeys(Place, EACH)
    assert len({fact.text for fact in facts(seed)}) == 4 * EACH == 200


@pytest.mark.parametrize("seed", SEEDS)
def test_at_least_half_of_them_carry_no_name(seed):
    plain = [fact for fact in facts(seed) if fact.plain]
    assert 100 <= len(plain) < 200
    assert not [fact.text for fact in plain if NAME.search(fact.text + fact.old)]
    assert all(NAME.search(fact.text) for fact in facts(seed) if not fact.plain)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_superseded_said_something_else_and_nothing_else_did(seed):
    for fact in facts(seed):
        assert bool(fact.old) == (fact.place is Place.SUPERSEDED)
        assert fact.text not in fact.old
        assert fact.old not in fact.text or not fact.old


# --- the places -------------------------------------------------------------------------------------------------------


def test_every_fact_is_where_it_is_said_to_be(sessions):
    assert sum(len(session.planted) for session in sessions) == 200
    for session in sessions:
        messages = session.transcript.messages
        for planted in session.planted:
            assert planted.fact.text in said(messages[planted.message])
            if planted.fact.old:
                assert planted.fact.old in said(messages[planted.old_message])
                assert planted.old_message < planted.message


def test_facts_come_after_the_first_request_and_in_the_first_half(sessions):
    for session in sessions:
        roles = [message["role"] for message in session.transcript.messages]
        for planted in session.planted:
            assert roles.index("assistant") < planted.message < 0.7 * len(roles)


def test_a_fact_in_a_log_is_a_line_in_its_middle(sessions):
    for session in sessions:
        for planted in session.planted:
            if planted.fact.place is Place.LOG:
                lines = said(session.transcript.messages[planted.message]).split("\n")
                at = next(number for number, line in enumerate(lines) if planted.fact.text in line)
                assert len(lines) / 5 < at < 4 * len(lines) / 5


def test_a_fact_in_a_row_leaves_the_result_valid(sessions):
    for session in sessions:
        for planted in session.planted:
            if planted.fact.place is Place.ROW:
                assert planted.fact.text in str(json.loads(said(session.transcript.messages[planted.message])))


def test_planting_changes_nothing_but_the_messages_it_plants_into(sessions):
    for session in sessions:
        original = [*read_transcript(session.transcript.path).messages]
        touched = {place for it in session.planted for place in (it.message, it.old_message)}
        whole = [message for at, message in enumerate(session.transcript.messages) if at not in touched]
        made = [it for it in whole if it not in original]
        assert all(it["tool_calls"][0]["function"]["name"] == "list_entries" for it in made)


def test_planting_twice_gives_the_same_sessions(sessions):
    again = plant([read_transcript(corpus_dir() / f"{name}.jsonl") for name in HOSTS])
    assert [session.planted for session in again] == [session.planted for session in sessions]
    assert [session.transcript.messages for session in again] == [session.transcript.messages for session in sessions]


# --- the labels -------------------------------------------------------------------------------------------------------


def test_there_are_a_hundred_labels_each_of_another_line_or_part():
    assert len({(label.file, label.message, label.line, label.columns) for label in labels()}) == 100


def test_labels_are_in_the_order_of_their_files():
    assert [label.file for label in labels()] == sorted(label.file for label in labels())


def test_every_label_points_to_its_line_and_to_a_much_later_reply():
    require_corpus()
    transcripts = {file: read_transcript(corpus_dir() / file) for file in {label.file for label in labels()}}
    for label in labels():
        transcript = transcripts[label.file]
        shift = len(transcript.system)
        assert label.text(transcript, shift=shift).strip()
        assert transcript.messages[label.needed - shift]["role"] == "assistant"
        assert label.needed - label.message > 20
        assert label.reason


def test_a_label_refuses_a_line_that_is_not_the_one_that_was_labelled():
    transcript = Transcript(path=Path("made"), format="openai", messages=({"role": "user", "content": "x"},) * 5_000)
    with pytest.raises(ValueError, match="is not what was labelled"):
        labels()[0].text(transcript)


# --- judging ----------------------------------------------------------------------------------------------------------


def steps(count):
    """A session with a fact in its first result."""
    yield {"role": "user", "content": "Sort the shelves."}
    for number in range(count):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        lines = "\n".join(f"shelf {number} holds box {line} of plain grey paper" for line in range(40))
        fact = "the client prefers weekly summaries\n" if number == 0 else ""
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": f"c{number}", "content": fact + lines}
    yield {"role": "assistant", "content": "Sorted."}


FACT = "the client prefers weekly summaries"


def look(keeper, window, count, *needed):
    """What became of the fact in these requests; the list has none for a round that never came."""
    messages = tuple(steps(count))
    transcript = Transcript(path=Path("made"), format="openai", messages=messages)
    whens = needed or (Call(len(messages) - 1),)
    probes = tuple(Probe(text=FACT, message=2, needed=when, groups=("all",)) for when in whens)
    return judge(Task(transcript=transcript, probes=probes, keeper=keeper, window=window))


def verdict(keeper, window):
    [finding] = look(keeper, window, 20)
    return finding.verdict


def test_what_is_in_the_request_is_visible():
    assert verdict("gc_truncate", 100_000) is Verdict.VISIBLE


def test_what_was_dropped_is_recalled_through_its_trace():
    assert verdict("gc_truncate", 4_000) is Verdict.TRACED


def test_what_a_baseline_dropped_is_lost():
    assert verdict("keep last", 4_000) is Verdict.LOST


def test_a_request_that_cannot_be_sent_shows_nothing():
    assert verdict("no collection", 4_000) is Verdict.LOST


# --- rounds -----------------------------------------------------------------------------------------------------------


def collecting_calls(strategy, window, count):
    """The place of a reply before which a session reports a collection, after the fact was stated."""
    events = []
    config = GCConfig(context_limit=window, output_reservation=0, strategy=(strategy,))
    session = GCSession(config, format="openai", on_event=events.append)
    for at, message in enumerate(steps(count)):
        if message["role"] != "assistant":
            session.append(message)
            continue
        session.pre_send()
        if any(isinstance(event, CollectionFinished) for event in events):
            yield at
        events.clear()
        session.post_turn(message)


@pytest.mark.parametrize(
    "strategy", ["gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive"]
)
def test_rounds_are_the_collections_that_a_session_reports(strategy):
    calls = list(collecting_calls(strategy, 4_000, 40))
    assert len(calls) >= 5
    found = look(strategy, 4_000, 40, *(Round(number) for number in (1, 2, 5)))
    assert [finding.needed for finding in found] == [Round(1), Round(2), Round(5)]
    assert [2 + finding.since for finding in found] == [calls[0], calls[1], calls[4]]


def test_a_baseline_has_rounds_too():
    found = look("keep last", 4_000, 40, Round(1), Round(2))
    assert [finding.needed for finding in found] == [Round(1), Round(2)]
    assert found[0].since < found[1].since


def test_a_round_that_never_comes_is_not_judged():
    assert look("gc_truncate", 4_000, 40, Round(1_000)) == []
    assert look("gc_truncate", 100_000, 40, Round(1)) == []


def test_statements_after_a_collection_count_their_rounds_from_there():
    calls = list(collecting_calls("gc_truncate", 4_000, 40))
    transcript = Transcript(path=Path("made"), format="openai", messages=tuple(steps(40)))
    probe = Probe(text="no such text", message=calls[1] + 1, needed=Round(1), groups=("all",))
    [finding] = judge(Task(transcript=transcript, probes=(probe,), keeper="gc_truncate", window=4_000))
    assert probe.message + finding.since == calls[2]
