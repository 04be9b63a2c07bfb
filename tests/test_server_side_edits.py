"""What Anthropic does to a conversation by itself: compactions, cleared results and thinking, server tools."""

import json

import anthropic
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gc_core import GCConfig, GCPolicy, GCRemovalItem, GCSession, InstructionSource
from gc_core.errors import MessageError, RuleError, SourceError
from gc_core.providers import format_named
from gc_core.providers.rules import check_collection, check_request
from gc_core.providers.server_edits import PLACEHOLDER
from gc_core.values.messages import Request
from tests.support.checker import complaints
from tests.support.inside import counter_of, state_of, window_of
from tests.support.messages import anthropic_sessions_strategy
from tests.support.promises import Watch, canonical, recount, texts_of
from tests.support.say import lines, results, schema, small, use, user

ANTHROPIC = format_named("anthropic")
KEEPS = "claude-opus-4-5"
BLOCK = {
    "type": "compaction",
    "content": "The user asked for a fix. main.go was read.",
    "signature": "c2VhbA==",
    "encrypted_content": "b3BhcXVl",
    "tool_changes": [],
}
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
made = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)


def said(text):
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def compacted(*more, **changed):
    return {"role": "assistant", "content": [{**BLOCK, **changed}, *more]}


def steps(session, number, *, size=40, first=0, thinking=None):
    """Rounds of call and result through the loop."""
    for place in range(first, first + number):
        session.pre_send()
        session.post_turn(use((f"c{place}", "read", {"path": f"f{place}"}), thinking=thinking))
        session.append(results((f"c{place}", lines(size, f"f{place}"))))


def opened(window=100_000, **more):
    session = small(window, format="anthropic", **{"model": KEEPS, **more})
    session.system(base="You fix bugs.")
    session.tools([schema("read", "anthropic")])
    session.append(user("Fix the login."))
    return session


def assert_sound(session, request):
    assert complaints("anthropic", request.kwargs()) == []
    assert check_request(request) == ()
    assert recount(request, ANTHROPIC, counter_of(session)) == session.budget.total == request.tokens


# --- N6: compactions --------------------------------------------------------------------------------------------------


def test_content_before_a_compaction_leaves_and_the_block_comes_first_verbatim():
    with opened() as session:
        steps(session, 6)
        before = session.budget.total
        session.pre_send()
        reply = compacted({"type": "text", "text": "I go on."}, *use(("d", "read", {}))["content"])
        session.post_turn(reply)
        session.append(results(("d", "ok")))
        request = session.pre_send()
        assert json.dumps(request.messages[0]) == json.dumps(reply)
        assert session.budget.total < before / 2
        assert_sound(session, request)


def test_held_content_is_carried_over_a_compaction():
    with opened() as session:
        steps(session, 3)
        (pinned,) = session.append(user("Never touch the schema."))
        session.pin(item=pinned)
        session.pre_send()
        session.post_turn(compacted({"type": "text", "text": "I go on."}))
        sent = "\n".join(text for message in session.pre_send().messages for text in texts_of(message))
        assert "Fix the login." in sent
        assert "Never touch the schema." in sent
        held = [item for item in session.items() if "Fix the login." in item.text]
        assert [item.policy for item in held] == [GCPolicy.LOCKED]


@pytest.mark.parametrize("more", [[{"type": "text", "text": "I go on."}], use(("d", "read", {}))["content"]])
def test_a_compaction_that_failed_leaves_with_its_reply(more):
    """It replaces nothing, so it is collected like its neighbours."""
    with opened(preserve_recent_turns=0, preserve_recent_steps=1) as session:
        session.pre_send()
        session.post_turn(compacted(*more, content=None))
        if more[0]["type"] == "tool_use":
            session.append(results(("d", lines(20))))
        else:
            session.append(user("Go on."))
        steps(session, 4)
        session.pre_send()
        session.collect_now(target_percent=0)
        request = session.pre_send()
        assert session.plugins.failures == []
        assert not any(
            block["type"] == "compaction"
            for message in request.messages
            for block in message["content"]
            if isinstance(block, dict)
        )
        assert_sound(session, request)


def test_a_second_compaction_carries_the_same_on():
    with opened() as session:
        for place in range(3):
            steps(session, 2, first=10 * place)
            session.pre_send()
            session.post_turn(compacted({"type": "text", "text": f"Again {place}."}, content=f"Summary {place}."))
        request = session.pre_send()
        sent = [text for message in request.messages for text in texts_of(message)]
        assert sum("Fix the login." in text for text in sent) == 1
        assert [block["content"] for block in request.messages[0]["content"][:1]] == ["Summary 2."]
        assert_sound(session, request)


def test_memory_is_carried_over_a_compaction():
    with opened() as session:
        session.register_source(InstructionSource(name="notes", policy=GCPolicy.PRESERVABLE, layer=50))
        session.memory("notes", plan="Old plan.")
        steps(session, 1)
        session.memory("notes", plan="New plan.")
        steps(session, 1, first=1)
        session.pre_send()
        session.post_turn(compacted({"type": "text", "text": "On."}))
        text = str(session.pre_send().messages)
        assert "New plan." in text
        assert "Old plan." not in text


def test_the_log_has_all_and_recall_works():
    with opened() as session:
        (asked,) = session.append(user("The token is 4711."))
        steps(session, 3)
        session.pre_send()
        session.post_turn(compacted({"type": "text", "text": "On."}))
        assert session.recall(asked) == "The token is 4711."
        assert "f1 39" not in str(session.pre_send().messages)
        assert session.search("f1 39")


def test_content_collected_before_a_compaction_cannot_return_before_it():
    with opened(3_000) as session:
        steps(session, 20)
        assert state_of(session).done
        session.pre_send()
        session.post_turn(compacted({"type": "text", "text": "On."}))
        assert session.undo() is False
        with pytest.raises(RuleError, match="first message"):
            session.restore("i5")
        assert_sound(session, session.pre_send())


def test_a_failed_compaction_changes_nothing():
    with opened() as session:
        steps(session, 3)
        count = len(session.pre_send().messages)
        session.post_turn(compacted({"type": "text", "text": "On."}, content=None))
        session.append(user("Go on."))
        request = session.pre_send()
        assert len(request.messages) == count + 2
        assert json.dumps(request.messages[count]["content"][0]) == json.dumps({**BLOCK, "content": None})
        assert_sound(session, request)


def test_an_empty_compaction_is_refused_and_nothing_has_changed():
    with opened() as session:
        session.pre_send()
        before = session.budget.total
        with pytest.raises(MessageError, match=r"content\[0\].content"):
            session.post_turn(compacted(content=""))
        assert session.budget.total == before
    request = Request(format="anthropic", messages=(compacted(content=""), user("Go on.")))
    assert {breach.rule for breach in check_request(request)} >= {"N6"}
    assert complaints("anthropic", request.kwargs())


def test_a_compaction_in_the_middle_of_a_reply_comes_first():
    with opened() as session:
        steps(session, 2)
        session.pre_send()
        session.post_turn(
            {"role": "assistant", "content": [{"type": "text", "text": "Before."}, BLOCK, *said("After.")["content"]]}
        )
        request = session.pre_send()
        assert request.messages[0] == {"role": "assistant", "content": [BLOCK, *said("After.")["content"]]}
        assert_sound(session, request)


def test_a_compaction_on_demand_is_sent_back_first_with_what_comes_then():
    with opened() as session:
        steps(session, 3)
        session.pre_send()
        session.post_turn(compacted())
        session.append(user("And now?"))
        request = session.pre_send()
        assert request.messages[0] == compacted()
        assert "And now?" in texts_of(request.messages[1])
        assert_sound(session, request)


def test_a_session_may_begin_with_a_compaction():
    with small(10_000, format="anthropic") as session:
        session.append(compacted())
        session.append(user("Go on."))
        request = session.pre_send()
        assert [message["role"] for message in request.messages] == ["assistant", "user"]
        assert_sound(session, request)


@pytest.mark.parametrize("strategy", ["gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid"])
@pytest.mark.parametrize("model", [None, KEEPS], ids=["binds", "keeps"])
def test_collections_never_touch_a_compaction(strategy, model):
    with opened(3_000, strategy=strategy, model=model) as session:
        session.post_turn(compacted({"type": "text", "text": "I begin."}))
        watch = Watch(session, format_name="anthropic")
        for place in range(30):
            request = watch.call(use((f"c{place}", "read", {"path": f"f{place}"}), thinking="Hm."))
            assert json.dumps(request.messages[0]["content"][0]) == json.dumps(BLOCK)
            session.append(results((f"c{place}", lines(40, f"f{place}"))))
        assert sum(watch.seen.collections.values())
        assert session.plugins.failures == []


def test_a_session_with_compactions_is_opened_again_as_it_was(tmp_path):
    with opened(directory=tmp_path / "s", checkpoint_every_n_steps=1) as session:
        steps(session, 3)
        session.pre_send()
        session.post_turn(compacted({"type": "text", "text": "On."}))
        tokens = session.budget.total
    with GCSession.open(tmp_path / "s") as session:  # before what is held was sent again
        assert session.budget.total == tokens
        request = session.pre_send()
        assert "Fix the login." in str(request.messages)
        assert_sound(session, request)
        session.post_turn(said("Further."))
        tokens, sent = session.budget.total, window_of(session).render()
    with GCSession.open(tmp_path / "s") as session:
        assert session.budget.total == tokens
        assert [canonical(message) for message in window_of(session).render().messages] == [
            canonical(message) for message in sent.messages
        ]
        assert [item.policy for item in session.items() if "Fix the login." in item.text] == [GCPolicy.LOCKED]


def test_without_its_checkpoints_it_is_the_same(tmp_path):
    with opened(directory=tmp_path / "s", checkpoint_every_n_steps=0) as session:
        steps(session, 3)
        session.pre_send()
        session.post_turn(compacted({"type": "text", "text": "On."}))
    with GCSession.open(tmp_path / "s") as session:
        assert "Fix the login." in str(session.pre_send().messages)


def test_going_back_before_a_compaction_brings_the_conversation_back():
    with opened() as session:
        steps(session, 2)
        session.append(user("Next."))
        session.pre_send()
        session.post_turn(compacted({"type": "text", "text": "On."}))
        session.rewind(1)
        text = str(session.pre_send().messages)
        assert "f1 39 of the text" in text
        assert text.count("Fix the login.") == 1


# --- N7, N8: what stays in its place ----------------------------------------------------------------------------------

SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
FALLBACK = {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": {"type": "refusal"}}
TEXT = {"type": "text", "text": "Found."}


def request_of(*messages, tokens=10):
    return Request(format="anthropic", messages=messages, tokens=tokens)


def replied(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def test_the_result_of_a_server_tool_needs_its_call():
    fine = request_of(user("Go."), replied(SEARCH, FOUND, TEXT))
    torn = request_of(user("Go."), replied(FOUND, TEXT))
    assert check_request(fine) == ()
    assert complaints("anthropic", fine.kwargs()) == []
    assert [breach.rule for breach in check_request(torn)] == ["N8"]
    assert complaints("anthropic", torn.kwargs())


@pytest.mark.parametrize(
    "after",
    [
        replied(TEXT, SEARCH, FOUND),
        replied(SEARCH, FOUND, FALLBACK, TEXT),
        replied(FALLBACK, TEXT, SEARCH),
        replied({**FALLBACK, "to": {"model": "c"}}, TEXT, SEARCH, FOUND),
    ],
)
def test_blocks_of_the_provider_stay_in_their_places(after):
    before = request_of(user("Go."), replied(FALLBACK, TEXT, SEARCH, FOUND), user("On."), tokens=20)
    changed = request_of(user("Go."), after, user("On."))
    assert "N8" in {breach.rule for breach in check_collection(before, changed)}


def test_a_change_of_tools_stays():
    change = {"role": "system", "content": [{"type": "tool_addition", "tool": {"type": "tool_reference", "name": "x"}}]}
    before = request_of(user("Go."), change, replied(TEXT), user("On."), tokens=20)
    after = request_of(user("Go."), replied(TEXT), user("On."))
    assert "N8" in {breach.rule for breach in check_collection(before, after)}


@pytest.mark.parametrize("strategy", ["gc_truncate", "gc_budget"])
def test_a_server_tool_that_spans_two_replies_is_never_torn(strategy):
    with opened(3_000, strategy=strategy) as session:
        session.pre_send()
        session.post_turn(replied(SEARCH))
        session.pre_send()
        session.post_turn(replied(FOUND, TEXT, *use(("c", "read", {}))["content"]))
        session.append(results(("c", "ok")))
        watch = Watch(session, format_name="anthropic")
        for place in range(30):
            watch.call(use((f"c{place}", "read", {"path": f"f{place}"})))
            session.append(results((f"c{place}", lines(40, f"f{place}"))))
        text = str(session.pre_send().messages)
        assert "'s1'" in text
        assert sum(watch.seen.collections.values())
        assert session.plugins.failures == []


def test_a_change_of_tools_is_locked():
    block = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "x"}}
    (part,) = ANTHROPIC.read({"role": "user", "content": [block]})
    assert part.held


# --- cleared by the provider ------------------------------------------------------------------------------------------


def message(content, edits=None, **more):
    """A whole reply as the API sends it."""
    report = {} if edits is None else {"context_management": {"applied_edits": edits}}
    return {"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use", **report, **more}


def cleared(uses, tokens=0):
    return {"type": "clear_tool_uses_20250919", "cleared_tool_uses": uses, "cleared_input_tokens": tokens}


def calls(key):
    return use((key, "read", {"path": key}))["content"]


def placeholder(session):
    item = next(item for item in session.items() if item.id in state_of(session).cleared)
    return state_of(session)._left_of(item)


def test_cleared_results_count_what_the_provider_leaves():
    with opened() as session:
        steps(session, 6)
        session.pre_send()
        whole = session.budget.total
        session.post_turn(message(calls("d"), [cleared(4, 900)]))
        oldest = [item for item in session.items() if item.kind.value == "tool_result"][:4]
        assert {item.id for item in oldest} == state_of(session).cleared
        assert {item.tokens for item in oldest} == {placeholder(session)}
        saved = sum(item.original_tokens - item.tokens for item in oldest)
        reply = sum(item.tokens for item in session.items()[-1:]) + counter_of(session).per_message
        assert session.budget.total == whole - saved + reply
        assert "leaves 4 items out (900 tokens by its own count)" in session.explain()
        assert "f0" in str(window_of(session).render().messages)  # the whole history is sent again


def test_the_next_report_takes_the_place_of_the_last():
    with opened() as session:
        steps(session, 6)
        session.pre_send()
        session.post_turn(message(calls("d"), [cleared(4)]))
        session.append(results(("d", "ok")))
        session.pre_send()
        session.post_turn(message(calls("e"), [cleared(2)]))
        assert len(state_of(session).cleared) == 2
        session.append(results(("e", "ok")))
        session.pre_send()
        session.post_turn(message(calls("f"), []))
        assert state_of(session).cleared == frozenset()
        assert all(item.tokens == item.original_tokens for item in session.items())
        assert "itself leaves" not in session.explain()


def test_a_message_without_a_report_leaves_the_last_one_in_force():
    with opened() as session:
        steps(session, 6)
        session.pre_send()
        session.post_turn(message(calls("d"), [cleared(4)]))
        session.append(results(("d", "ok")))
        session.pre_send()
        session.post_turn({"role": "assistant", "content": calls("e")})
        assert len(state_of(session).cleared) == 4


def test_cleared_content_is_not_collected_again():
    class Stubs:
        def collect(self, context, goal):  # noqa: ARG002 - the protocol
            return [GCRemovalItem.stub(item, keep=0.0, reason="old") for item in context.stubbable]

    with small(100_000, strategy=Stubs(), format="anthropic", model=KEEPS) as session:
        session.append(user("Do it."))
        steps(session, 8)
        session.pre_send()
        session.post_turn(message(calls("d"), [cleared(5)]))
        session.append(results(("d", "ok")))
        out = state_of(session).cleared
        before = session.budget.total
        result = session.collect_now(target_percent=0)
        taken = {key for removal in result.removals for key in removal.items}
        assert taken
        assert taken.isdisjoint(out)
        assert result.tokens_freed == before - session.budget.total
        assert session.collect_now(target_percent=0).removals == ()


def test_excluded_tools_count_in_full_when_the_host_says_so():
    with opened() as session:
        session.tools([schema("read", "anthropic"), schema("note", "anthropic")])
        for place, name in enumerate(["note", "read", "note", "read", "read"]):
            session.pre_send()
            session.post_turn(use((f"c{place}", name, {"path": "x" * 200})))
            session.append(results((f"c{place}", lines(40))))
        edit = {"type": "clear_tool_uses_20250919", "exclude_tools": ["note"], "clear_tool_inputs": True}
        session.provider_edits({"edits": [edit]})
        session.pre_send()
        session.post_turn(message(calls("d"), [cleared(2)]))
        out = [item for item in session.items() if item.id in state_of(session).cleared]
        assert {item.name for item in out} == {"read"}
        assert sorted(item.kind.value for item in out) == ["tool_call"] * 2 + ["tool_result"] * 2
        with pytest.raises(SourceError, match="context_management"):
            session.provider_edits({"edits": "all"})


def test_cleared_thinking_costs_nothing():
    with opened() as session:
        steps(session, 4, thinking="I think about it for long. " * 20)
        session.pre_send()
        edit = {"type": "clear_thinking_20251015", "cleared_thinking_turns": 3, "cleared_input_tokens": 5}
        session.post_turn(message(calls("d"), [edit]))
        thinking = [item.tokens for item in session.items() if item.kind.value == "thinking"]
        assert thinking[:3] == [0, 0, 0]
        assert thinking[3] > 0


def test_thinking_that_the_provider_dropped_costs_nothing():
    with opened() as session:
        steps(session, 2, thinking="I think about it for long. " * 20)
        session.pre_send()
        dropped = {"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"}
        session.post_turn(message(calls("d"), input_transformations=[dropped]))
        assert [item.tokens > 0 for item in session.items() if item.kind.value == "thinking"] == [False, True]
        with pytest.raises(MessageError, match="path"):
            session.post_turn(message(calls("e"), input_transformations=[{**dropped, "path": "messages.x"}]))


def test_the_report_is_compared_with_what_was_left():
    with opened() as session:
        steps(session, 6)
        whole = session.pre_send().tokens
        session.post_turn(message(calls("d"), [cleared(4)]), {"input_tokens": 700, "output_tokens": 5})
        assert state_of(session).calibration.anchor_raw < whole
        assert state_of(session).calibration.anchor_reported == 700


def test_what_was_cleared_is_so_when_the_session_is_opened_again(tmp_path):
    for every in (0, 1):
        place = tmp_path / str(every)
        with opened(directory=place, checkpoint_every_n_steps=every) as session:
            steps(session, 6)
            session.pre_send()
            session.post_turn(message(calls("d"), [cleared(4)]))
            tokens, out = session.budget.total, state_of(session).cleared
        with GCSession.open(place) as session:
            assert session.budget.total == tokens
            assert state_of(session).cleared == out


def test_what_a_collection_took_and_undo_brings_back_counts_in_full():
    with opened(3_000) as session:
        steps(session, 4)
        session.pre_send()
        session.post_turn(message(calls("d"), [cleared(2)]))
        session.append(results(("d", "ok")))
        steps(session, 8, first=4)
        session.collect_now(target_percent=0)
        assert session.undo()
        for item in session.items():
            if item.kind.value != "trace" and item.id not in state_of(session).cleared and item.form.value == "whole":
                assert item.tokens == item.original_tokens


def test_the_official_client_s_message_is_read():
    usage = {"input_tokens": 1, "output_tokens": 1}
    whole = message(calls("d"), [cleared(3, 40)], id="m", model="claude-opus-5", usage=usage)
    built = anthropic.types.beta.BetaMessage.model_validate(whole)
    assert ANTHROPIC.server_edits(built).tool_uses == 3
    assert ANTHROPIC.server_edits(built).tokens == 40
    assert ANTHROPIC.server_edits({"role": "assistant", "content": "x"}) is None
    assert format_named("openai").server_edits({"choices": []}) is None
    assert PLACEHOLDER


# --- the promises -----------------------------------------------------------------------------------------------------


class Counted(Watch):
    """Counts as the provider does: what it leaves out costs what it leaves."""

    def assert_the_budget_is_what_is_rendered(self, request):
        state = state_of(self.session)
        out = [item for item in self.session.items() if item.id in state.cleared]
        saved = sum(window_of(self.session).counted(item.id) - item.tokens for item in out)
        assert recount(request, self.format, counter_of(self.session)) - saved == self.session.budget.total


@pytest.mark.parametrize("strategy", ["gc_truncate", "gc_budget"])
@made
@given(
    messages=anthropic_sessions_strategy(max_turns=5, max_steps=4, pending=False, dead=False),
    pressure=st.sampled_from([90, 0]),
    chance=st.randoms(use_true_random=False),
)
def test_made_sessions_with_compactions_and_cleared_results_keep_the_promises(
    strategy, messages, pressure, chance, tmp_path_factory
):
    where = tmp_path_factory.mktemp("made") / "s"
    levels = {"threshold_percent": 80.0, "pressure_percent": pressure}
    config = GCConfig(strategy=strategy, context_limit=3_000, output_reservation=0, **levels)
    with GCSession(config, format="anthropic", directory=where, model=KEEPS) as session:
        session.system(base="You are careful.")
        watch = Counted(session, format_name="anthropic", repeated_ids=True)
        watch.locked.append("You are careful.")
        for each in messages:
            grown = json.loads(json.dumps(each))
            for block in grown["content"] if isinstance(grown["content"], list) else ():
                if block["type"] == "tool_result" and isinstance(block.get("content"), str):
                    block["content"] += lines(chance.choice([0, 5, 60]))
            if grown["role"] != "assistant":
                watch.run([grown])
                continue
            drawn = chance.random()
            if drawn < 0.15 and isinstance(grown["content"], list):
                watch.run([{**grown, "content": [BLOCK, *grown["content"]]}])
                watch._collected = 1  # the provider broke the prefix
                continue
            if drawn < 0.5:
                grown = message(grown["content"], [cleared(chance.randrange(5))])
            watch.run([grown])
        tokens = session.budget.total
        payloads = [canonical(payload) for payload in window_of(session).render().messages]
        assert session.plugins.failures == []
    with GCSession.open(where) as session:
        assert session.budget.total == tokens
        assert [canonical(payload) for payload in window_of(session).render().messages] == payloads
