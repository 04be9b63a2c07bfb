"""Breakpoints: where a session sets them, how many, how long they live, and that nothing else of a request changes."""

import copy
import json
import random

import pytest
from ctxgc.evaluation.transcripts import read_transcript
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gc_core import GCConfig, GCSession
from gc_core.cache.breakpoints import Marks
from gc_core.providers.anthropic.betas import BETAS, beta_named
from gc_core.values.messages import Request
from tests.support.checker import as_blocks, complaints
from tests.support.corpus import native_sessions, require_corpus
from tests.support.inside import window_of
from tests.support.messages import anthropic_sessions_strategy
from tests.support.promises import cacheable
from tests.support.provider import before_tokens, positions
from tests.support.provider_cache import PrefixCache, breakpoint_complaint, order_complaint
from tests.support.say import answer, lines, results, schema, user

CLAUDE = "claude-opus-5"
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def marks(model=CLAUDE, format_name="anthropic", key="", **options):
    return Marks(GCConfig(**options), format_name=format_name, model=model, key=key)


def request(*messages, tokens=10_000, **more):
    return Request(format="anthropic", messages=messages, tokens=tokens, **more)


def said(text, **more):
    return {"type": "text", "text": text, **more}


def tools(*names):
    return tuple(schema(name, "anthropic", "Does it. " * 200) for name in names)


def system(*texts):
    return tuple(said(text) for text in texts)


def batch(first, number):
    """A reply with so many calls, and the message with their results."""
    ids = [f"toolu_{first + place}" for place in range(number)]
    calls = [{"type": "tool_use", "id": key, "name": "read", "input": {"path": key}} for key in ids]
    return {"role": "assistant", "content": calls}, results(*((key, lines(20, key)) for key in ids))


def marked(sent, field="cache_control"):
    """Every mark with its place, in the order in which a prefix is cached."""
    found = [
        (name, at, None, piece[field])
        for name in ("tools", "system")
        for at, piece in enumerate(getattr(sent, name))
        if field in piece
    ]
    for at, message in enumerate(sent.messages):
        for place, block in enumerate(as_blocks(message.get("content"))):
            inner = block["content"] if isinstance(block.get("content"), list) else []
            found += [("inner", at, place, part[field]) for part in inner if field in part]
            found += [("messages", at, place, block[field])] if field in block else []
    return found


def places(sent, field="cache_control"):
    return [(name, at, place) for name, at, place, _ in marked(sent, field)]


def bare(sent):
    return [cacheable(payload) for payload in (*sent.tools, *sent.system, *sent.messages)]


# ---------------------------------------------------------------- what holds for every request


def assert_well_marked(sent, own):
    """At most four, in valid places, in order, the caller's kept, and nothing else changed."""
    body = sent.kwargs()
    assert len(marked(sent)) <= 4
    assert complaints("anthropic", body, unique_ids=False) == []
    assert order_complaint(list(positions(body))) is None
    assert [mark for mark in marked(own) if mark not in marked(sent)] == []
    assert bare(sent) == bare(own)


made = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)


@settings(made, max_examples=8)
@given(messages=anthropic_sessions_strategy(max_turns=5, max_steps=5), seed=st.integers(), hour=st.booleans())
def test_made_sessions_are_well_marked(messages, seed, hour):
    chance = random.Random(seed)  # noqa: S311 - no secrets here
    config = GCConfig(context_limit=12_000, output_reservation=0, stable_cache_ttl="1h" if hour else "5m")
    with GCSession(config, format="anthropic", model=CLAUDE) as session:
        session.system(base=lines(60), rules="Never guess.")
        session.tools([schema("look", "anthropic")])
        for message in messages:
            grown = copy.deepcopy(message)
            for block in grown["content"] if isinstance(grown["content"], list) else ():
                if block["type"] == "tool_result" and isinstance(block.get("content"), str):
                    block["content"] += lines(chance.choice([0, 60, 400]))
            if message["role"] == "assistant":
                sent = session.pre_send()
                assert_well_marked(sent, window_of(session).render())
                assert marked(session.pre_send()) == marked(sent)
                session.post_turn(grown)
            else:
                session.append(grown)


def blocks_with_marks(number):
    return st.lists(st.sampled_from([None, MARK]), min_size=number, max_size=number)


@made
@given(data=st.data())
def test_requests_that_grow_and_are_cut_are_well_marked_and_twice_the_same(data):
    draw, placing = data.draw, marks(cache_ttl="5m", stable_cache_ttl=data.draw(st.sampled_from(["5m", "1h"])))
    messages = [user("Do it. " * 300)]
    for first in range(0, 300, 50):
        messages += batch(first, draw(st.integers(1, 30)))
        if draw(st.booleans()):
            cut = draw(st.integers(1, len(messages) - 1))
            messages[cut] = messages[cut] | {"x_trace": first}
        if draw(st.integers(0, 3)) == 0:
            blocks = messages[-1]["content"]
            blocks[-1] = {**blocks[-1], "cache_control": draw(st.sampled_from([MARK, HOUR]))}
            older = [block for message in messages[1:-1] for block in as_blocks(message["content"])]
            for block in older:
                block.pop("cache_control", None)
        asked = request(*copy.deepcopy(messages), system=system(lines(300)), tools=tools("read"))
        before = copy.deepcopy((asked.messages, asked.system, asked.tools))
        sent = placing.placed(asked)
        assert_well_marked(sent, asked)
        assert marked(placing.placed(asked)) == marked(sent)
        assert (asked.messages, asked.system, asked.tools) == before


@pytest.mark.parametrize("window", [1_000_000, 32_000])
def test_a_real_session_is_well_marked(window):
    require_corpus()
    (path,) = [path for path in native_sessions("anthropic") if "130d7b7e" in path.name]
    transcript = read_transcript(path)
    with GCSession(GCConfig(context_limit=window), format="anthropic", model=CLAUDE) as session:
        session.system(**{f"part{place}": text for place, text in enumerate(transcript.system)})
        session.tools(transcript.tools)
        for message in transcript.messages:
            if message["role"] == "assistant":
                sent = session.pre_send()
                assert_well_marked(sent, window_of(session).render())
                is_long = sent.tokens >= 512
                assert (("messages", len(sent.messages) - 1) in [place[:2] for place in places(sent)]) == is_long
                session.post_turn(message)
            else:
                session.append(message)
        assert (session.last_result is None) == (window > 32_000)


# ---------------------------------------------------------------- their places


def test_marks_are_at_the_ends_of_tools_and_system_and_on_the_newest_message():
    sent = marks().placed(request(user("Do it."), system=system("a" * 900, "b" * 900), tools=tools("read", "grep")))
    assert places(sent) == [("tools", 1, None), ("system", 1, None), ("messages", 0, 0)]
    assert sent.messages[0]["content"] == [said("Do it.", cache_control=MARK)]


def test_what_many_sessions_share_ends_with_a_mark_of_its_own():
    sent = marks().placed(request(user("Do it."), system=system(*["a" * 900] * 3), stable=1, tools=tools("read")))
    assert places(sent) == [("tools", 0, None), ("system", 0, None), ("system", 2, None), ("messages", 0, 0)]


def test_the_mark_of_the_newest_message_skips_thinking_empty_text_and_unknown_blocks():
    reply = {"role": "assistant", "content": [said("It is"), {"type": "thinking", "thinking": "a", "signature": "s"}]}
    odd = {"role": "user", "content": [said("Look."), said(""), {"type": "hologram"}]}
    assert places(marks().placed(request(user("Do it."), reply))) == [("messages", 1, 0)]
    assert places(marks().placed(request(odd))) == [("messages", 0, 0)]


def test_a_result_is_marked_itself_and_not_a_block_inside_of_it():
    reply, _ = batch(0, 1)
    sent = marks().placed(request(user("Do it."), reply, results(("toolu_0", [said("x = 1")]))))
    assert places(sent) == [("messages", 2, 0)]


def test_a_tool_that_is_loaded_later_carries_no_mark():
    later = {**tools("grep")[0], "defer_loading": True}
    sent = marks().placed(request(user("Do it."), tools=(*tools("read"), later)))
    assert places(sent)[0] == ("tools", 0, None)


def test_below_the_minimum_of_the_model_there_is_no_mark():
    asked = request(user("Do it. " * 100), system=system("Be brief. " * 20), tokens=1_000)
    assert places(marks("claude-opus-4-5").placed(asked)) == []
    assert places(marks("claude-opus-5").placed(asked)) == [("messages", 0, 0)]


# ---------------------------------------------------------------- what earlier requests wrote


def read_by(cache, sent):
    """What the provider's cache answers to a request."""
    return cache.anthropic(CLAUDE, "", list(positions(sent.kwargs())), 0.0)


@pytest.mark.parametrize("number", [1, 9, 10, 25, 60])
def test_a_turn_with_many_results_still_reads_what_the_request_before_wrote(number):
    placing, cache = marks(), PrefixCache()
    messages = [user("Do it. " * 400)]
    written = read_by(cache, placing.placed(request(*messages))).written
    for first in (0, 100, 200):
        messages += batch(first, number)
        answered = read_by(cache, placing.placed(request(*messages)))
        assert answered.read == written > 0
        written = answered.read + answered.written


def test_without_many_blocks_no_mark_is_spent_on_the_position_before():
    placing = marks()
    messages = [user("Do it. " * 400), *batch(0, 3)]
    placing.placed(request(*messages))
    assert places(placing.placed(request(*messages, *batch(10, 3)))) == [("messages", 4, 2)]


def test_after_a_collection_the_deepest_position_that_still_holds_is_marked():
    placing, cache = marks(), PrefixCache()
    messages = [user("Do it. " * 400)]
    for first in range(0, 120, 12):
        read_by(cache, placing.placed(request(*messages)))
        messages += batch(first, 12)
    messages[7] = {"role": "assistant", "content": [*messages[7]["content"], said("Collected.")]}
    sent = placing.placed(request(*messages))
    assert places(sent) == [("messages", 6, 11), ("messages", 7, 12), ("messages", 20, 11)]
    assert read_by(cache, sent).read == before_tokens(sent.kwargs(), 7)


def test_a_change_right_after_the_last_one_reads_up_to_there():
    """So young collections follow one another, each where the one before ended."""
    placing, cache = marks(), PrefixCache()
    messages = [user("Do it. " * 400)]
    for first in range(0, 240, 12):
        read_by(cache, placing.placed(request(*messages, tokens=60_000)))
        messages += batch(first, 12)
        if first in {96, 192}:  # the results that came since the last such change
            for place in range(2 if first == 96 else 16, len(messages) - 4, 2):
                messages[place] = results((f"toolu_{6 * (place - 2)}", "Collected."))
            if first == 192:
                sent = placing.placed(request(*messages, tokens=60_000))
                assert read_by(cache, sent).read == before_tokens(sent.kwargs(), 15)


def test_what_seals_thinking_does_not_take_the_mark_of_the_system_text():
    placing = marks("claude-opus-4-5")
    sealed = {"type": "thinking", "thinking": "", "signature": "c2Vh" * 100}
    messages = [user("Do it.")]
    for first in range(30):
        reply, answers = batch(first, 1)
        messages += [{**reply, "content": [sealed, *reply["content"]]}, answers]
    sent = placing.placed(request(*messages, system=system("Rule. " * 6_000), tokens=16_000))
    assert ("system", 0, None) in places(sent)


def test_a_window_that_is_another_one_is_marked_without_a_memory():
    placing = marks()
    messages = [user("Do it. " * 400), *batch(0, 30)]
    placing.placed(request(*messages[:1]))
    assert len(places(placing.placed(request(*messages)))) == 2
    placing.forget()
    assert len(places(placing.placed(request(*messages)))) == 1
    other = placing.placed(request(user("Another. " * 400), *messages[1:]))
    assert places(other) == [("messages", 0, 0), ("messages", 2, 29)]


def test_tools_in_another_order_are_another_prefix():
    placing = marks()
    asked = request(user("Do it. " * 300), *batch(0, 30), tools=tools("read", "grep"), system=system("a" * 5_000))
    placing.placed(asked)
    other = request(*asked.messages, *batch(50, 30), tools=tools("grep", "read"), system=asked.system)
    assert places(placing.placed(other)) == [("tools", 1, None), ("system", 0, None), ("messages", 4, 29)]


def test_a_session_whose_tools_change_their_order_goes_on():
    with GCSession(format="anthropic", model=CLAUDE) as session:
        session.tools(tools("read", "grep"))
        session.append(user("Do it. " * 300))
        session.pre_send()
        session.post_turn(answer("Done."))
        session.tools(tools("grep", "read"), refresh="now")
        session.append(user("Again."))
        assert_well_marked(session.pre_send(), window_of(session).render())


# ---------------------------------------------------------------- the caller's own


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_own_marks_on_several_blocks_leave_the_rest_of_four(number):
    placing = [said(lines(100, f"part {place}"), cache_control=MARK) for place in range(number)]
    with GCSession(format="anthropic", model=CLAUDE) as session:
        session.system(base="You fix bugs. " * 300)
        session.tools(tools("read"))
        session.append({"role": "user", "content": [*placing, said("Go on.")]})
        sent = session.pre_send()
        assert_well_marked(sent, window_of(session).render())
        assert len(marked(sent)) == min(4, number + 3)
        assert [place for _, _, place in places(sent) if place is not None][-1] == (
            number if number < 4 else number - 1
        )


def test_marks_inside_of_results_count_and_the_oldest_go():
    reply, _ = batch(0, 5)
    inside = results(*((f"toolu_{place}", [said(lines(200), cache_control=MARK)]) for place in range(5)))
    with GCSession(format="anthropic", model=CLAUDE) as session:
        session.append(user("Do it."))
        session.post_turn(reply)
        session.append(inside)
        assert places(session.pre_send()) == [("inner", 2, place) for place in (1, 2, 3, 4)]


@pytest.mark.parametrize(("theirs", "ours"), [(HOUR, HOUR), (MARK, MARK)])
def test_content_before_a_callers_mark_lives_at_least_as_long(theirs, ours):
    sent = marks().placed(
        request(
            user("a" * 900), {"role": "user", "content": [said("b", cache_control=theirs)]}, system=system("c" * 900)
        )
    )
    assert [mark for *_, mark in marked(sent)] == [ours, theirs]


def test_content_after_a_short_mark_of_the_caller_is_short_too():
    placing = marks(cache_ttl="1h", stable_cache_ttl="1h")
    sent = placing.placed(
        request({"role": "user", "content": [said("b" * 9, cache_control=MARK), said("c")]}, system=system("c" * 900))
    )
    assert [mark for *_, mark in marked(sent)] == [HOUR, MARK, MARK]


def test_the_stable_layers_may_live_longer_than_the_conversation():
    placing = marks(stable_cache_ttl="1h")
    sent = placing.placed(request(user("Do it."), system=system("a" * 900), tools=tools("read")))
    assert [mark for *_, mark in marked(sent)] == [HOUR, HOUR, MARK]


def test_the_window_and_its_budget_know_nothing_of_our_marks():
    with GCSession(format="anthropic", model=CLAUDE) as session:
        session.tools(tools("read"))
        session.append(user("Do it. " * 400))
        before = session.budget.total
        sent = session.pre_send()
        assert "cache_control" not in json.dumps([m.payload for m in window_of(session).messages])
        assert sent.tokens == session.budget.total
        assert sent.tokens >= before


# ---------------------------------------------------------------- other providers, options, off


def chat(*messages):
    return Request(format="openai", messages=messages, tokens=20_000)


def test_openai_models_with_explicit_breakpoints_get_them_on_parts_of_messages():
    placing = marks("gpt-6-sol", "openai")
    messages = [{"role": "system", "content": "Be careful. " * 900}, user("Do it. " * 900)]
    first = placing.placed(chat(*messages))
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages += [
        {"role": "assistant", "content": "I read.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": lines(90)},
    ]
    second = placing.placed(chat(*messages))
    field = "prompt_cache_breakpoint"
    assert places(first, field) == [("messages", 0, 0), ("messages", 1, 0)]
    assert places(second, field) == [("messages", 0, 0), ("messages", 1, 0), ("messages", 3, 0)]
    assert second.messages[3]["content"][0][field] == {"mode": "explicit"}
    assert bare(second) == bare(chat(*messages))
    assert breakpoint_complaint({"model": "gpt-6-sol", **second.kwargs()}) is None


def test_responses_are_marked_on_input_alone():
    placing = marks("gpt-5.6", "responses")
    items = (
        {"role": "user", "content": "Do it. " * 900},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "x = 1"},
    )
    asked = Request(format="responses", messages=items, tokens=9_000)
    sent = placing.placed(asked)
    assert sent.messages[0]["content"][0]["prompt_cache_breakpoint"] == {"mode": "explicit"}
    assert sent.messages[0]["content"][0]["type"] == "input_text"
    assert sent.messages[1:] == items[1:]
    assert bare(sent)[0]["content"] == bare(asked)[0]["content"]


@pytest.mark.parametrize(("model", "format_name"), [("gpt-5", "openai"), ("gemini-3-pro", "gemini"), (None, "openai")])
def test_where_a_provider_caches_without_being_asked_nothing_is_marked(model, format_name):
    asked = Request(format=format_name, messages=(user("Do it. " * 900),), tokens=20_000)
    assert marks(model, format_name).placed(asked).messages == asked.messages


def test_a_cache_key_goes_where_the_provider_has_one():
    asked = chat(user("Do it."))
    assert marks("gpt-5", "openai", "s1").placed(asked).kwargs()["prompt_cache_key"] == "s1"
    named = marks("gpt-5", "openai", "s1", prompt_cache_key="team")
    assert named.placed(asked).kwargs()["prompt_cache_key"] == "team"
    assert "prompt_cache_key" not in marks("llama-4", "openai", "s1").placed(asked).kwargs()
    assert "prompt_cache_key" not in marks(CLAUDE, "anthropic", "s1").placed(request(user("Do it."))).kwargs()


def test_betas_go_into_the_header_whether_they_are_known_or_not():
    sent = marks(betas=["compact-2026-01-12", "tomorrow-2027-01-01"]).placed(request(user("Do it.")))
    assert sent.kwargs()["extra_headers"] == {"anthropic-beta": "compact-2026-01-12,tomorrow-2027-01-01"}
    assert beta_named("compact-2026-01-12").dated == "2026-01-12"
    assert beta_named("tomorrow-2027-01-01") is None
    assert all(beta.name.endswith(beta.dated) and beta.does for beta in BETAS)


def test_without_cache_marks_a_request_is_the_sessions_own():
    asked = request(user("Do it. " * 400))
    assert marks(cache_marks=False).placed(asked) is asked
    assert marks("gpt-5", "openai", "s1", cache_marks=False).placed(asked) is asked


def test_another_model_has_a_cache_of_its_own():
    with GCSession(format="anthropic", model="claude-opus-4-5") as session:
        session.append(user("Do it. " * 400))
        assert places(session.pre_send()) == []
        session.switch(model=CLAUDE)
        assert places(session.pre_send())[-1] == ("messages", 0, 0)


def test_of_more_marks_on_tools_than_pass_the_last_stay():
    with GCSession(GCConfig(context_limit=100_000), format="anthropic", model=CLAUDE) as session:
        session.append({"role": "user", "content": [said("Do it.", cache_control=MARK)]})
        session.tools([{**schema(name, "anthropic"), "cache_control": MARK} for name in "abcdef"])
        sent = session.pre_send()
        assert places(sent) == [("tools", at, None) for at in range(2, 6)]
        assert complaints("anthropic", sent.kwargs()) == []
