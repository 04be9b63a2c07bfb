"""A reply that believes what a summary invented is noticed from the log, and one that uses what was said is not."""

import json

import pytest
from ctxgc.evaluation.transcripts import read_transcript

from gc_core import GCConfig, GCSession, ItemKind, Plugins
from gc_core.errors import InconsistentReplyError
from gc_core.plugins.contradictions import ContradictionCheck
from gc_core.summaries.extractive import ExtractiveSummarizer
from tests.support.corpus import corpus_dir, require_corpus
from tests.support.say import answer, call, result, user


class Liar:
    """An extract that tells what was said, with another value in the place of the right one."""

    def __init__(self, said, right, wrong):
        self.said, self.right, self.wrong = said, right, wrong

    def summarize(self, request):
        text = ExtractiveSummarizer().summarize(request)
        summary = text if self.right in text else f"{text}\n{self.said}"
        return summary.replace(self.right, self.wrong)


class Credulous:
    def validate(self, request, text):  # noqa: ARG002 - the contract
        return ()


SAID = "server listens on port 48173"


def corrupted(said=SAID, right="48173", wrong="59999", at=2, **more):
    """A session whose one summary says another value than the log, by default a port, with nothing behind it."""
    plugins = Plugins.discover()
    plugins.register(ContradictionCheck())
    config = GCConfig(strategy="gc_summarize", context_limit=8_000, output_reservation=0, auto_trigger=False, **more)
    session = GCSession(config, plugins=plugins, summarizer=Liar(said, right, wrong), validator=Credulous())
    session.append(user("Start the server."))
    for place in range(12):
        session.pre_send()
        session.post_turn(call((f"c{place}", "bash", {"command": f"step {place}"})))
        text = f"{said}\n" if place == at else f"line {place}\n"
        session.append(result(f"c{place}", text + "some output of it\n" * 40))
    session.collect_now(target_percent=20)
    texts = [item.text for item in session.items() if item.kind is ItemKind.SUMMARY]
    assert any(wrong in text for text in texts)
    return session


def test_a_reply_that_uses_an_invented_value_is_refused_and_the_retried_step_sees_the_right_one():
    with corrupted() as session:
        session.pre_send()
        with pytest.raises(InconsistentReplyError, match="59999") as error:
            session.post_turn(call(("w", "bash", {"command": "curl localhost:59999"})))
        assert error.value.recovered
        text = json.dumps(session.pre_send().messages)
        assert "48173" in text
        assert "59999" not in text
        session.post_turn(call(("r", "bash", {"command": "curl localhost:48173"})))


WRONG = {
    "a port": (SAID, "48173", "59999"),
    "a file": ("wrote the report to out/summary_2025.csv", "out/summary_2025.csv", "out/summary_2024.csv"),
    "a commit": ("HEAD is now at 9fceb02 fix the parser", "9fceb02", "1b2c3d4"),
    "a version": ("Successfully installed requests-2.31.0", "requests-2.31.0", "requests-1.2.3"),
    "a symbol": ("added the function parse_header to the module", "parse_header", "read_footer"),
}


@pytest.mark.parametrize("at", [0, 2, 4])
@pytest.mark.parametrize("said", WRONG.values(), ids=WRONG)
def test_a_finding_names_the_item_with_the_right_value(said, at):
    text, right, wrong = said
    with corrupted(text, right, wrong, at) as session:
        reply = call(("w", "bash", {"command": f"use {wrong}"}))
        found = ContradictionCheck().gc_validate_reply(reply, session.view(), session.recall)
        assert [right in session.recall(item) for item in found.items] == [True]


def test_where_undoing_does_not_fit_only_the_item_with_the_right_value_comes_back():
    with corrupted() as session:
        for place in range(6):
            session.append(user(f"Question {place}: " + "and what about this part of it? " * 120))
            session.pre_send()
            session.post_turn(answer(f"That part {place} is fine."))
        session.pre_send()
        with pytest.raises(InconsistentReplyError) as error:
            session.post_turn(call(("w", "bash", {"command": "curl localhost:59999"})))
        assert error.value.recovered
        assert "48173" in json.dumps(session.pre_send().messages)


def test_a_reply_that_does_not_use_it_is_taken():
    with corrupted() as session:
        session.pre_send()
        session.post_turn(answer("The server was started on 127.0.0.1, as 12345 others."))


RECORDED = [
    ("gc_summarize", "entire--24a2*.jsonl", 80),
    pytest.param("gc_progressive", "pi--session.jsonl", 200, marks=pytest.mark.slow),
    pytest.param("gc_progressive", "entire--24a2*.jsonl", 80, marks=pytest.mark.slow),
    pytest.param("gc_summarize", "pi--session.jsonl", 200, marks=pytest.mark.slow),
]
"""Strategy, session, and more replies than which it has."""


@pytest.mark.parametrize(("strategy", "name", "fewer"), RECORDED)
def test_no_reply_of_recorded_sessions_is_refused(strategy, name, fewer):
    require_corpus()
    plugins = Plugins.discover()
    plugins.register(ContradictionCheck())
    (path,) = corpus_dir().glob(name)
    transcript, replies = read_transcript(path), 0
    config = GCConfig(strategy=strategy, context_limit=32_000, output_reservation=0)
    with GCSession(config, format=transcript.format, plugins=plugins) as session:
        for message in transcript.messages:
            if message["role"] == "assistant":
                session.pre_send()
                session.post_turn(message)
                replies += 1
            else:
                session.append(message)
        assert any(item.kind is ItemKind.SUMMARY for item in session.items())
    assert not session.plugins.failures
    assert replies > fewer
