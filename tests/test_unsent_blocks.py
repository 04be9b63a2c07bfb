"""Named texts that have not been sent: what does not fit is shortened or left out, and every one can be taken back."""

import json
import random

import pytest

from gc_core import ContextOverflowError, GCConfig, GCPolicy, GCSession, GCTriggerReason, InstructionSource
from gc_core.events import CollectionFinished
from gc_core.providers import format_named
from gc_core.providers.rules import check_request
from gc_core.storage.audit import verify
from tests.support.inside import counter_of, state_of
from tests.support.likeness import likeness
from tests.support.promises import recount
from tests.support.say import answer, call, lines, result, rounds, small, text_of, user

FORMATS = ("openai", "anthropic", "responses", "gemini")
HELD_SOFTLY = (GCPolicy.EPHEMERAL, GCPolicy.PARTIAL, GCPolicy.PRESERVABLE)


def said(format_name, text):
    return {"role": "user", "parts": [{"text": text}]} if format_name == "gemini" else user(text)


def replied(format_name, text):
    return {"role": "model", "parts": [{"text": text}]} if format_name == "gemini" else answer(text)


def opened(format_name="openai", window=4_000, **more):
    config = GCConfig(context_limit=window, output_reservation=0, strategy="gc_budget", **more)
    session = GCSession(config, format=format_name)
    for policy in GCPolicy:
        session.register_source(InstructionSource(name=policy.value, policy=policy))
    session.append(said(format_name, "Fix the login test."))
    return session


def assert_sound(session, request):
    assert state_of(session).calibration.estimate(request.tokens) <= session.config.usable
    assert check_request(request) == ()
    assert recount(request, format_named(session.format), counter_of(session)) == request.tokens
    assert session.plugins.failures == []


# --- what does not fit ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("source", ["enrichment", *(policy.value for policy in HELD_SOFTLY)])
@pytest.mark.parametrize("rows", [900, 6_000])
def test_a_block_that_would_not_fit_whatever_left_is_shortened_and_reported(format_name, source, rows):
    with opened(format_name) as session:
        finished = []
        session.listen(lambda event: finished.append(event) if isinstance(event, CollectionFinished) else None)
        text = lines(rows)
        session.enrich(docs=text) if source == "enrichment" else session.memory(source, docs=text)
        request = session.pre_send()
        assert_sound(session, request)
        (event,) = finished
        assert event.result.reason is GCTriggerReason.CONTEXT_LIMIT
        (key,) = event.result.removals[0].items
        assert session.recall(key) == text
        sent = text_of(request)
        assert "line 0 of the text" in sent
        assert f"line {rows - 1} of the text" in sent
        assert sent.count("</context>") == 1
        assert f"left out: {key} docs" in sent


def test_the_history_does_not_leave_for_a_block_that_has_to_be_shortened_anyway():
    with small(8_000) as session:
        rounds(session, 6, size=60)
        placed = [item.id for item in session.items()]
        session.enrich(docs=lines(20_000))
        assert_sound(session, session.pre_send())
        assert [item.id for item in session.items()][: len(placed)] == placed


def test_a_shortened_block_that_is_given_again_word_for_word_is_not_sent_again():
    with opened() as session:
        for place in range(5):
            session.enrich(docs=lines(5_000))
            request = session.pre_send()
            assert text_of(request).count("<context") == 1
            session.post_turn(answer(f"Done {place}."))
            session.append(user("Go on."))
        assert len(session.history()) == 1


@pytest.mark.parametrize("format_name", FORMATS)
def test_blocks_too_many_to_be_shortened_are_left_out(format_name):
    with opened(format_name, window=1_000) as session:
        session.enrich(**{f"note{place}": f"Note {place} tells of nothing." for place in range(100)})
        request = session.pre_send()
        assert_sound(session, request)
        assert 0 < text_of(request).count("<context") < 100
        assert "Fix the login test." in text_of(request)


@pytest.mark.parametrize("seed", range(16))
def test_whatever_is_given_a_request_is_sent_and_the_session_goes_on_as_it_was(seed, tmp_path):
    """Blocks of all sizes and sources, replaced and taken back, between replies, in small windows."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    format_name = rng.choice(FORMATS)
    config = GCConfig(context_limit=rng.choice([1_200, 3_000, 8_000]), output_reservation=0, strategy="gc_budget")
    sources = ["enrichment", *(policy.value for policy in HELD_SOFTLY), GCPolicy.LOCKED.value]
    with GCSession(config, format=format_name, directory=tmp_path) as session:
        for policy in GCPolicy:
            session.register_source(InstructionSource(name=policy.value, policy=policy))
        for place in range(8):
            session.append(said(format_name, f"Task {place}: {lines(rng.randint(1, 30))}"))
            for _ in range(rng.randint(0, 3)):
                source, name = rng.choice(sources), rng.choice("abc")
                text = rng.choice(["", f"{place} {lines(rng.choice([1, 5, 60, 900]))}"])
                session.enrich(**{name: text}) if source == "enrichment" else session.memory(source, **{name: text})
            try:
                request = session.pre_send()
            except ContextOverflowError:
                session.memory("locked", a="", b="", c="")
                request = session.pre_send()
            assert_sound(session, request)
            session.post_turn(replied(format_name, f"Done {place}. {lines(rng.randint(1, 20))}"))
        before = likeness(session, ledger=False)
    with GCSession.open(tmp_path) as again:
        assert likeness(again, ledger=False) == before
    assert verify(tmp_path) == ()


# --- what is taken back -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("auto_trigger", [True, False])
def test_a_locked_block_that_overflowed_is_taken_back_or_replaced(format_name, auto_trigger):
    with opened(format_name, auto_trigger=auto_trigger) as session:
        plain = json.dumps(session.pre_send().messages)
    for text in ("", "Short."):
        with opened(format_name, auto_trigger=auto_trigger) as session:
            session.memory("locked", docs=lines(3_000))
            for _ in range(2):
                with pytest.raises(ContextOverflowError, match="locked turn 0"):
                    session.pre_send()
            session.memory("locked", docs=text)
            request = session.pre_send()
            assert_sound(session, request)
            assert (json.dumps(request.messages) == plain) is not bool(text)
            assert text_of(request).count("<context") == bool(text)


def test_a_version_that_was_taken_back_leaves_the_one_before_it_in_force():
    with opened() as session:
        session.memory("locked", docs="The first version.")
        session.pre_send()
        session.post_turn(answer("b"))
        session.append(user("c"))
        session.memory("locked", docs=lines(3_000))
        with pytest.raises(ContextOverflowError):
            session.pre_send()
        session.memory("locked", docs="")
        assert "The first version." in text_of(session.pre_send())
        (block,) = [item for item in session.items() if item.source == "locked"]
        assert block.policy is GCPolicy.LOCKED
        session.memory("locked", docs="The first version.")
        assert text_of(session.pre_send()).count("<context") == 1


def test_what_was_sent_is_not_taken_back():
    with opened() as session:
        session.enrich(docs="Stays.")
        session.pre_send()
        session.enrich(docs="")
        assert "Stays." in text_of(session.pre_send())


def test_content_before_a_reply_is_not_withdrawn_though_no_pre_send_returned_it():
    with opened() as session:
        session.memory("locked", docs=lines(3_000))
        with pytest.raises(ContextOverflowError):
            session.pre_send()
        session.post_turn(answer("Read all the same."))
        session.memory("locked", docs="")
        assert any(item.source == "locked" for item in session.items())


def test_a_block_that_is_taken_back_stays_so_when_the_session_is_opened_again(tmp_path):
    config = GCConfig(context_limit=4_000, output_reservation=0, strategy="gc_budget")
    with GCSession(config, directory=tmp_path) as session:
        session.register_source(InstructionSource(name="team", policy=GCPolicy.LOCKED))
        session.append(user("Do it."))
        session.memory("team", docs=lines(3_000))
        with pytest.raises(ContextOverflowError):
            session.pre_send()
        session.append(user("And this."))
        session.memory("team", docs="Short.")
        before = likeness(session, ledger=False)
    with GCSession.open(tmp_path) as again:
        assert likeness(again, ledger=False) == before
        assert "Short." not in text_of(again.pre_send())  # what waits is in no file
    assert verify(tmp_path) == ()


def test_undo_after_a_block_was_withdrawn_says_nothing_to_undo_or_really_undoes():
    with small(6_000) as session:
        session.register_source(InstructionSource(name="team", policy=GCPolicy.LOCKED))
        rounds(session, 25)
        session.memory("team", docs=lines(3_000))
        with pytest.raises(ContextOverflowError):
            session.pre_send()
        session.memory("team", docs="")
        session.undo()
        session.release()
        assert_sound(session, session.pre_send())


def test_a_call_answered_after_an_overflow_continues():
    with opened() as session:
        session.pre_send()
        session.post_turn(call(("c1", "read", {"path": "a.py"})))
        session.append(result("c1", "x = 1"))
        session.memory("locked", docs=lines(3_000))
        with pytest.raises(ContextOverflowError):
            session.pre_send()
        session.memory("locked", docs="Short.")
        assert_sound(session, session.pre_send())
