"""What the agent is about, judged by labels of somebody who has not seen the code; with floors."""

import contextlib
import functools
import json
from pathlib import Path

import pytest

from gc_core import GCConfig, GCSession
from gc_core.relevance.task_messages import changes_task
from tests.support.corpus import corpus_dir, require_corpus


def rows(name):
    return [json.loads(line) for line in (Path(__file__).parent / "data" / name).read_text("utf-8").splitlines()]


ROWS = rows("objectives.jsonl")
MADE = [row for row in ROWS if "messages" in row]
RECORDED = [row for row in ROWS if "session" in row]
SECOND = rows("objectives_second.jsonl")


@functools.cache
def recorded(name):
    """The lines of a file, the system texts at its head too: labels count them."""
    return [json.loads(line) for line in (corpus_dir() / name).read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def objective_of():
    """
    The objective after so many messages of a history. The sessions go on where they were, as a host's do: the rows of
    one history stand in its order.
    """
    sessions = {}

    def hear(name, messages):
        if name not in sessions or sessions[name][1] > len(messages):
            sessions[name] = (closing.enter_context(GCSession(GCConfig(strategy="none", auto_trigger=False))), 0)
        session, known = sessions[name]
        session.extend(message for message in messages[known:] if message["role"] != "system")
        sessions[name] = (session, len(messages))
        return session.objective

    with contextlib.ExitStack() as closing:
        yield hear


def words(text):
    return " ".join(text.split())


def begins(message):
    content = message["content"] or ""
    text = content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)
    return words(text)[:60]


def judged(row, objective_of):
    """Whether all that belongs to it is in it, whether nothing else is, and whether it ends with what counts now."""
    messages = recorded(row["session"])[: row["upto"]] if "session" in row else row["messages"]
    said = objective_of(row.get("session", id(row)), messages)
    text = words(said)
    wanted = [begins(messages[place]) for place in row["objective"]]
    never = [begins(messages[place]) for place in row["never"]]
    never = [one for one in never if one and not any(one in each for each in wanted)]
    lines = set(map(words, said.splitlines()))
    wrong = [one for one in never if (one in text if len(one) >= 20 else one in lines)]
    return all(one in text for one in wanted), not wrong, begins(messages[row["current"]]) in text


def shares(rows, objective_of):
    """Percent of the rows in which all three hold."""
    found = [judged(row, objective_of) for row in sorted(rows, key=lambda row: row.get("upto", 0))]
    return tuple(100 * sum(one) / len(found) for one in zip(*found, strict=True))


# The code was fitted to the first, third, ... row of a list; the others are unseen.


def test_the_objective_of_made_sessions_in_fourteen_languages(objective_of):
    complete, clean, current = shares(MADE[1::2], objective_of)
    assert complete >= 97
    assert clean >= 88
    assert current >= 97


@pytest.mark.slow
def test_the_objective_of_recorded_sessions(objective_of):
    require_corpus()
    complete, clean, current = shares(RECORDED[1::2], objective_of)
    assert complete >= 93
    assert clean >= 88
    assert current >= 98


def test_the_objective_of_sessions_that_were_made_before_the_code_read_any_of_them(objective_of):
    """Written without reading the code; the half "count" was only ever counted."""
    complete, clean, current = shares([row for row in SECOND if row["half"] == "count"], objective_of)
    assert complete >= 95
    assert clean >= 84
    assert current >= 95


SHORT = rows("short_messages.jsonl")


@pytest.mark.parametrize(("kind", "first", "most"), [("task", False, 8), ("task", True, 5), ("remark", False, 10)])
def test_of_short_messages_that_somebody_else_wrote_few_are_misjudged(kind, first, most):
    """A half of them was only counted."""
    said = [row["text"] for row in SHORT if (row["kind"], row["first"]) == (kind, first)]
    wrong = [text for text in said if changes_task(text, begun=not first, asked=False) != (kind == "task")]
    assert len(wrong) <= most
