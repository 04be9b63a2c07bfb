"""When a request would not fit, the core makes it fit, in a fixed order; or says what cannot be made smaller."""

import json

import pytest

from gc_core import ContextOverflowError, GCPolicy, GCTriggerReason, ItemKind
from gc_core.values.removals import Drop, Stub
from tests.support.checker import complaints
from tests.support.inside import window_of
from tests.support.say import Letters, answer, call, lines, rendered, result, results, small, use, user

LOCKED, PRESERVABLE, PARTIAL, EPHEMERAL = GCPolicy


def bare(window=4_000, **more):
    """A session in which nothing but the last resort removes anything."""
    return small(window, strategy="none", **more)


def phases(session):
    found = []
    for removal in session.last_result.removals:
        if removal.phase not in found:
            found.append(removal.phase)
    return found


def fill(session, turns, size=20):
    for turn in range(turns):
        session.append(user(f"request {turn}"))
        session.append(call((f"c{turn}", "read", {"n": turn})))
        session.append(result(f"c{turn}", lines(size, f"result {turn}")))
        session.append(answer(f"answer {turn}"))


def test_it_is_reported_as_context_limit_with_what_it_took():
    with bare(2_000) as session:
        fill(session, 20)
        session.pre_send()
        found = session.last_result
        assert found.reason is GCTriggerReason.CONTEXT_LIMIT
        assert {name for name, _ in found.freed_by()} == {"last_resort"}
        assert all(removal.reason for removal in found.removals)


def test_old_results_go_before_arguments_before_units_before_cuts():
    with bare(6_000, preserve_recent_turns=2) as session:
        for turn in range(6):
            session.append(user(f"request {turn}"))
            session.append(call((f"c{turn}", "write", {"text": lines(60, f"argument {turn}")})))
            session.append(result(f"c{turn}", lines(40, f"result {turn}")))
            session.append(answer(f"answer {turn}. " + lines(40)))
        session.append(user("Now a large one."))
        session.append(call(("x", "read", {})))
        session.append(result("x", lines(3_000, "large")))
        request = session.pre_send()
        assert request.tokens <= 6_000
        kinds = [
            (type(removal.action), removal.phase, window_of(session).find(removal.items[0]))
            for removal in session.last_result.removals
        ]
        order = [
            "cut"
            if phase == "cut"
            else "unit"
            if action is Drop
            else "result"
            if item is None or item.kind is ItemKind.TOOL_RESULT
            else "argument"
            for action, phase, item in kinds
        ]
        assert sorted(order, key=["result", "argument", "unit", "cut"].index) == order
        assert order[-1] == "cut"


def test_old_results_are_stubbed_oldest_first_and_only_as_many_as_needed():
    with bare(10_000, counter=Letters()) as session:
        session.append(user("u"))
        for place in range(12):
            session.append(call((f"c{place}", "read", {})))
            session.append(result(f"c{place}", f"{place:02} " + "r" * 870))
        session.pre_send()
        stubs = [removal for removal in session.last_result.removals if isinstance(removal.action, Stub)]
        assert stubs == list(session.last_result.removals)
        results_ = [item for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
        short = [item.tokens < 800 for item in results_]
        assert short == sorted(short, reverse=True)
        assert 0 < sum(short) < 12
        assert session.budget.total <= 6_000


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_a_result_of_10_mb_is_cut_and_everything_else_fits(form):
    large = "\n".join(f"line {place} of a very long log, " + "which says little. " * 25 for place in range(20_500))
    assert len(large) > 10_000_000
    with bare(16_000, format=form) as session:
        session.append(user("Why does it fail?"))
        session.append(call(("c", "logs", {})) if form == "openai" else use(("c", "logs", {})))
        session.append(result("c", large) if form == "openai" else results(("c", large)))
        request = session.pre_send()
        assert complaints(form, request.kwargs()) == []
        assert 8_000 < request.tokens <= 16_000
        (cut,) = [item for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
        assert cut.text.startswith("line 0 of")
        assert "line 20499 of" in cut.text
        assert cut.id in cut.text.splitlines()[-1]
        assert session.recall(cut.id) == large


def test_one_endless_line_is_cut_to_head_and_tail():
    with bare(4_000) as session:
        session.append(user("Read it."))
        session.append(call(("c", "read", {})))
        session.append(result("c", "begin " + "word " * 50_000 + "end"))
        assert session.pre_send().tokens <= 4_000
        (cut,) = [item for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
        assert cut.text.startswith("begin")
        assert "end\n" in cut.text


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_whatever_is_too_large_is_cut_to_what_fits_and_recalled_whole(form):
    for text in (lines(10_000), "word " * 20_000, "x" * 100_000, "語" * 20_000, "  \n x" * 20_000):
        with bare(8_000, format=form) as session:
            session.append(user("Read it."))
            session.append(call(("c", "read", {})) if form == "openai" else use(("c", "read", {})))
            (key,) = session.append(result("c", text) if form == "openai" else results(("c", text)))
            request = session.pre_send()
            assert complaints(form, request.kwargs()) == []
            assert request.tokens <= 8_000
            (cut,) = [item for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
            assert key in cut.text.splitlines()[-1]
            assert session.recall(key) == text


def test_a_huge_typed_message_is_cut_and_its_head_and_tail_stay():
    with bare() as session:
        session.append(user("Begin."))
        session.append(answer("Yes."))
        (key,) = session.append(user("Look at this:\n" + lines(5_000) + "\nWhat is wrong?"))
        request = session.pre_send()
        assert request.tokens <= 4_000
        said = request.messages[-1]["content"]
        assert said.startswith("Look at this:")
        assert "What is wrong?" in said
        assert session.recall(key).endswith("What is wrong?")


def test_500_parallel_calls_in_the_newest_step_fit():
    with bare(24_000) as session:
        session.append(user("Read everything."))
        session.append(call(*((f"c{place}", "read", {"path": f"f{place}"}) for place in range(500))))
        for place in range(500):
            session.append(result(f"c{place}", lines(30, f"file {place}")))
        request = session.pre_send()
        assert complaints("openai", request.kwargs()) == []
        assert request.tokens <= 24_000
        assert len(request.messages) == 502


def test_huge_arguments_of_the_newest_call_are_cut_and_stay_a_json_object():
    with bare() as session:
        session.append(user("Write it."))
        session.append(call(("c", "write", {"path": "a.py", "text": lines(5_000), "more": ["x"] * 10})))
        session.append(result("c", lines(3_000)))
        request = session.pre_send()
        assert complaints("openai", request.kwargs()) == []
        assert request.tokens <= 4_000
        arguments = json.loads(request.messages[1]["tool_calls"][0]["function"]["arguments"])
        assert arguments["path"] == "a.py"


def test_preservable_content_goes_in_any_mode_when_nothing_else_is_left():
    for pressure in (90, 0):
        with bare(2_000, counter=Letters(), pressure_percent=pressure, preserve_recent_turns=2) as session:
            session.append(user("u" * 1_400))
            for turn in range(8):
                session.append(answer("a"))
                session.append(user(f"request {turn:2} " + "u" * 140), policy=GCPolicy.PRESERVABLE)
            assert session.budget.total > 2_000
            request = session.pre_send()
            assert request.tokens <= 2_000
            assert "request  7 " in request.messages[-1]["content"]
            assert "preservable" in phases(session)


def test_recent_turns_give_way_only_when_the_old_ones_do_not_suffice():
    with bare(3_000, preserve_recent_turns=3) as session:
        fill(session, 10)
        session.pre_send()
        texts = " ".join(item.text for item in session.items())
        assert all(f"answer {turn}" in texts for turn in (7, 8, 9))


# --- what cannot be made smaller --------------------------------------------------------------------------------------


def assert_overflow(session, *owners):
    before, budget, last = rendered(session), session.budget.snapshot(), session.last_result
    for _ in range(2):
        with pytest.raises(ContextOverflowError) as caught:
            session.pre_send()
        assert (rendered(session), session.budget.snapshot(), session.last_result) == (before, budget, last)
    error = caught.value
    assert error.needed > error.limit == session.config.usable
    assert sum(error.owners.values()) == session.budget.total
    assert list(error.owners.values()) == sorted(error.owners.values(), reverse=True)
    for owner in owners:
        assert owner in error.owners
        assert f"{owner} {error.owners[owner]:,}" in str(error)
    session.switch(context_limit=100_000)
    assert session.pre_send().tokens <= 100_000


def test_locked_content_larger_than_the_window_is_named_with_its_owners():
    with bare(1_000) as session:
        session.system(base=lines(150), rules=lines(120))
        session.append(user("Do it."))
        assert_overflow(session, "system system_text base", "system system_text rules", "conversation turn 0")


def test_an_original_request_larger_than_the_window_is_named():
    with bare(1_000) as session:
        session.append(user(lines(400)))
        assert_overflow(session, "conversation turn 0")


def test_pins_larger_than_the_window_are_named():
    with bare(3_000, pinned_turn_indices=(1, 2)) as session:
        fill(session, 2)
        session.append(user("request 2"))
        session.append(call(("c", "read", {})))
        session.append(result("c", lines(1_000)))
        session.append(answer("answer 2"))
        session.append(user("request 3"))
        assert_overflow(session, "conversation turn 2")


def test_tool_schemas_larger_than_the_window_are_named():
    with bare(1_000) as session:
        session.tools([{"type": "function", "function": {"name": "read", "description": lines(300), "parameters": {}}}])
        session.append(user("Do it."))
        assert_overflow(session, "plugin tool_schema read")


def test_what_waits_for_a_break_may_be_large_and_still_fits_or_is_named():
    with bare(3_000) as session:
        session.system(base="Be brief.")
        session.append(user("Do it."))
        session.pre_send()
        session.post_turn(answer("Yes."))
        session.system(base=lines(300, "rule"))
        for place in range(20):
            session.append(call((f"c{place}", "read", {})))
            session.append(result(f"c{place}", lines(40)))
        request = session.pre_send()
        assert request.tokens <= 3_000
        assert request.messages[0]["content"] == lines(300, "rule")
