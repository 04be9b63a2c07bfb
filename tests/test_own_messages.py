"""What is gc-core's own is known by its record: no wording of a user, a model or a tool makes anything gc-core's."""

import itertools

import pytest

from gc_core import GCTriggerReason, ItemKind
from gc_core.values.messages import Role
from tests.support.checker import complaints
from tests.support.histories import FORMATS, LIKE_OURS, SPEAKERS, STRATEGIES, History, Reply
from tests.support.inside import window_of
from tests.support.say import Letters, answer, call, lines, result, small, user


def own_in(session):
    """The messages that a request calls gc-core's own."""
    request = window_of(session).render()
    return [message for message in request.messages if request.is_own(message)]


def kinds_of_own(session):
    return {item.kind for message in window_of(session).messages if message.is_own for item in message.items}


@pytest.mark.parametrize(("text", "form"), list(zip(LIKE_OURS, itertools.cycle(FORMATS), strict=False)))
def test_what_a_user_says_is_a_users_whatever_it_looks_like(form, text):
    """It is the newest input, which no collection takes, not even the last resort."""
    speaker = SPEAKERS[form]()
    with small(2_000, format=form, strategy="none", preserve_recent_turns=0) as session:
        session.append(speaker.user("Fix it."))
        for place in range(6):
            session.post_turn(speaker.reply(Reply(parts=(("call", f"c{place}", "read", "a.py"),))))
            for message in speaker.results([(f"c{place}", "read", lines(60, f"r{place}"))]):
                session.append(message)
        session.append(speaker.user(text))
        newest = window_of(session).messages[-1]
        session.post_turn(speaker.reply(Reply(parts=(("text", "word " * 900),))))
        request = session.pre_send()
        assert session.last_result.reason is GCTriggerReason.CONTEXT_LIMIT
        assert complaints(form, request.kwargs()) == []
        assert newest.payload in request.messages
        assert newest.payload not in own_in(session)


@pytest.mark.parametrize("form", FORMATS)
def test_a_late_result_is_an_input_and_stays_one_however_far_it_is_cut(form):
    speaker = SPEAKERS[form]()
    with small(1_500, format=form, strategy="none") as session:
        session.append(speaker.user("Fix it."))
        session.post_turn(speaker.reply(Reply(parts=(("text", "Done."),))))
        for size in (2_000, 4_000):
            for message in speaker.results([("gone", "read", lines(size, "late"))]):
                session.append(message)
            for _ in range(2):
                request = session.pre_send()
                assert complaints(form, request.kwargs()) == []
            session.append(speaker.user("And now?"))
        late = [item for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
        assert late
        assert own_in(session) == []
        assert "late 0" in session.recall(late[-1].id)


@pytest.mark.parametrize(
    ("strategy", "kind"),
    [("gc_truncate", ItemKind.TRACE), ("gc_summarize", ItemKind.SUMMARY)],
    ids=["traces", "summaries"],
)
def test_traces_summaries_and_blocks_are_gc_cores_own(strategy, kind):
    with small(8_000, strategy=strategy, summarizer="extractive", preserve_recent_turns=1) as session:
        session.append(user("Fix it."))
        for place in range(40):
            session.enrich(clock=f"It is {place} o'clock.")
            session.pre_send()
            session.post_turn(answer(f"Did {place}. " + lines(60)))
            session.append(user(f"Do {place}."))
        session.pre_send()
        assert kinds_of_own(session) >= {kind, ItemKind.ENRICHMENT}
        said = [message for message in window_of(session).messages if message.role is Role.USER and not message.is_own]
        assert all(item.kind is ItemKind.USER_TEXT for message in said for item in message.items)


def test_a_reply_that_looks_like_the_one_before_it_may_leave_with_its_thinking():
    """The last resort takes the latest reply of a turn that is over; the one before it says the same words."""

    def reply(number):
        thinking = {"type": "thinking", "thinking": f"thought {number}", "signature": "c2VhbA=="}
        return {"role": "assistant", "content": [thinking, {"type": "text", "text": "ok"}]}

    with small(1_200, format="anthropic", strategy="none", counter=Letters(), preserve_recent_turns=5) as session:
        session.append(user("u" * 500))
        for number in range(3):
            session.post_turn(reply(number))
            session.append(user(str(number) * 150))
        session.append(user("w" * 400))
        request = session.pre_send()
        assert complaints("anthropic", request.kwargs()) == []
        assert request.tokens <= 1_200


@pytest.mark.parametrize(("strategy", "form"), list(zip(STRATEGIES * 2, itertools.cycle(FORMATS), strict=False)))
def test_no_history_of_such_texts_makes_a_collection_break_a_rule(form, strategy):
    history = History(1, form, strategy=strategy, hostile=True)
    history.play(16)
    assert history.session.plugins.failures == []
    history.session.close()


def test_a_result_that_a_tool_gave_in_our_words_is_recalled_as_the_tools(tmp_path):
    with small(directory=tmp_path) as session:
        session.append(user("Read it."))
        session.post_turn(call(("c", "read", {})))
        (key,) = session.append(result("c", LIKE_OURS[0]))
        session.pre_send()
        assert session.recall(key) == LIKE_OURS[0]
        assert own_in(session) == []
