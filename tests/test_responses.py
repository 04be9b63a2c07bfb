"""What the format of OpenAI's Responses promises: reading and editing, its rules, and whole sessions."""

import copy
import json
import random

import attrs
import openai
import pytest
from ctxgc.evaluation.transcripts import read_transcript
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from openai.types.responses import Response

from gc_core import GCConfig, GCSession
from gc_core.errors import MessageError
from gc_core.events import CollectionDeferred, MessageRepaired, ProviderCompacted
from gc_core.providers import format_named
from gc_core.providers.rules import check_collection, check_request
from gc_core.values.items import ItemKind
from gc_core.values.messages import Request, Role, Usage
from tests.support import responses_messages as made
from tests.support.checker import complaints
from tests.support.corpus import corpus_dir, openai_sessions, require_corpus
from tests.support.promises import Watch
from tests.support.provider import ProviderServer

STRATEGIES = ["gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive"]
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
RESPONSES = format_named("responses")

few = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)
sessions = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)


def config(strategy, window, pressure=90):
    levels = {"threshold_percent": 80.0, "pressure_percent": pressure}
    return GCConfig(strategy=strategy, context_limit=window, output_reservation=0, **levels)


def watch_of(session, payloads):
    return Watch(session, format_name="responses", checks={"required": made.required_reasoning(payloads)})


# --- reading and editing ----------------------------------------------------------------------------------------------


def items_of(payload):
    return payload["output"] if "output" in payload and "type" not in payload else [payload]


def changed_text(part):
    return '{"stub":"…"}' if part.kind is ItemKind.TOOL_CALL else f"new {part.place}"


@few
@given(made.made_payloads, st.randoms(use_true_random=False))
def test_edit_leaves_the_other_parts_as_they_were(payload, random):
    # Nobody takes half of a pair that the provider made: without the other it would be another item.
    assume(len(items_of(payload)) == 1 or not any(item["type"].endswith("_output") for item in items_of(payload)))
    before, parts = copy.deepcopy(payload), RESPONSES.read(payload)
    chosen = {
        part.place: random.choice([None] if part.fixed else [None, changed_text(part)])
        for part in parts
        if random.random() < 0.5
    }
    edited = RESPONSES.edit(payload, chosen)
    assert payload == before
    led = lost_followers(payload, chosen)
    left = [
        chosen.get(part.place, part.text)
        for part in parts
        if chosen.get(part.place, "") is not None and part.place not in led
    ]
    assert (texts_of(edited) if edited else []) == left
    if not chosen:
        assert edited is payload


def texts_of(payload):
    return [part.text for part in RESPONSES.read(payload)]


def lost_followers(payload, chosen):
    """Places of reasoning whose follower leaves whole: it goes too (R2)."""
    items, lost = items_of(payload), set()
    parts = RESPONSES.read(payload)
    for at, item in enumerate(items):
        behind = next((place for place in range(at, len(items)) if items[place].get("type") != "reasoning"), len(items))
        inside = [part.place for part in parts if part.place[:2] == ("output", behind)]
        if item.get("type") == "reasoning" and inside and all(chosen.get(place, "") is None for place in inside):
            lost.add(("output", at, "item"))
    return lost


@few
@given(made.replies(), st.randoms(use_true_random=False))
def test_what_led_to_nothing_leaves_and_what_lost_its_reasoning_has_no_id(reply, random):
    parts = RESPONSES.read(reply)
    chosen = {part.place: None for part in parts if random.random() < 0.4}
    edited = RESPONSES.edit(reply, chosen)
    if edited is None:
        return
    breaches = [breach.rule for breach in check_request(request_of(edited), pending=True)]
    ends_in_reasoning = edited["output"][-1]["type"] == "reasoning"
    assert "R2" not in breaches or ends_in_reasoning
    lost = check_collection(request_of(reply), request_of(edited))
    assert "R3" not in {breach.rule for breach in lost}


def request_of(*payloads):
    return RESPONSES.request(system=[], tools=[], messages=payloads, tokens=1)


@few
@given(made.made_payloads)
def test_normalise_needs_no_second_time_and_a_payload_survives_json(payload):
    normal = RESPONSES.normalise(payload)
    assert RESPONSES.normalise(normal) is normal
    assert texts_of(normal) == texts_of(payload)
    assert RESPONSES.read(json.loads(json.dumps(payload))) == RESPONSES.read(payload)


@few
@given(made.replies())
def test_a_reply_item_by_item_reads_as_the_whole_one(reply):
    joined = reply["output"][0]
    for item in reply["output"][1:]:
        joined = RESPONSES.join(joined, item) or joined
    if not any(item["type"].endswith("_output") for item in reply["output"]):
        assert RESPONSES.read(RESPONSES.normalise(joined)) == (
            RESPONSES.read(reply) if len(reply["output"]) > 1 else RESPONSES.read(joined)
        )


@sessions
@given(made.responses_sessions_strategy(pieces=True, settled=True, dead=False, pending=False))
def test_a_session_that_collects_nothing_sends_every_item_unchanged(payloads):
    with GCSession(GCConfig(), format="responses") as session:
        session.extend(payloads)
        sent = session.pre_send().kwargs()["input"]
    assert sent == without_old_marks([item for payload in payloads for item in items_of(payload)])


def without_old_marks(items):
    """The provider writes four marks a request; a caller's older ones come off."""
    copies, left = copy.deepcopy(items), 4
    for item in reversed(copies):
        for field in ("content", "output"):
            blocks = item.get(field)
            for block in reversed(blocks if isinstance(blocks, list) else []):
                if "prompt_cache_breakpoint" in block:
                    left -= 1
                    if left < 0:
                        del block["prompt_cache_breakpoint"]
    return copies


CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": '{"path": "a"}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "text"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}],
           "encrypted_content": "c2VhbA=="}  # fmt: skip
SAID = {"type": "message", "id": "msg_1", "role": "assistant",
        "content": [{"type": "output_text", "text": "I see.", "annotations": []}]}  # fmt: skip
ASKED = {"role": "user", "content": "Look."}
COMPACTION = {"type": "compaction", "id": "cmp_1", "encrypted_content": "s" * 500}


def test_responses_says_what_each_part_is():
    thought, said, called = RESPONSES.read({"role": "assistant", "output": [THOUGHT, SAID, CALL]})
    assert (thought.kind, thought.text, thought.sealed_bytes) == (ItemKind.THINKING, "Hm.", 8)
    assert (said.kind, said.text) == (ItemKind.ASSISTANT_TEXT, "I see.")
    assert (called.kind, called.text, called.name, called.call_id) == (
        ItemKind.TOOL_CALL, '{"path": "a"}', "read", "c1",
    )  # fmt: skip
    (answered,) = RESPONSES.read(OUTPUT)
    assert (answered.kind, answered.text, answered.call_id) == (ItemKind.TOOL_RESULT, "text", "c1")


@pytest.mark.parametrize(
    ("payload", "role"),
    [
        (ASKED, Role.USER),
        ({"role": "developer", "content": "x"}, Role.SYSTEM),
        ({"type": "additional_tools", "role": "developer", "tools": []}, Role.SYSTEM),
        (SAID, Role.ASSISTANT),
        ({"role": "assistant", "output": []}, Role.ASSISTANT),
        (THOUGHT, Role.ASSISTANT),
        (COMPACTION, Role.ASSISTANT),
        ({"type": "hologram", "id": "h"}, Role.ASSISTANT),
        (OUTPUT, Role.TOOL),
        ({"type": "hologram_call_output", "call_id": "c"}, Role.TOOL),
        ({"type": "mcp_approval_response", "approval_request_id": "m"}, Role.TOOL),
    ],
)
def test_who_speaks(payload, role):
    assert RESPONSES.role(payload) is role


@few
@given(made.call_items)
def test_every_kind_of_call_gets_an_answer_that_the_provider_takes(call):
    (part,) = RESPONSES.read(call)
    (answer,) = RESPONSES.results([(part.call_id, "no result")])
    (answered,) = RESPONSES.read(answer)
    assert (answered.kind, answered.call_id) == (ItemKind.TOOL_RESULT, part.call_id)
    assert complaints("responses", {"input": [call, answer]}) == []
    assert check_request(request_of(call, answer)) == ()


def test_a_result_in_an_editors_hands_keeps_its_shape():
    chunk = {"stdout": "a" * 50, "stderr": "b", "outcome": {"type": "exit", "exit_code": 3}}
    shell = {"type": "shell_call_output", "call_id": "c", "output": [chunk]}
    assert RESPONSES.edit(shell, {("item",): "short"})["output"] == [{**chunk, "stdout": "short", "stderr": ""}]
    screen = {"type": "computer_call_output", "call_id": "c",
              "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,"}}  # fmt: skip
    assert RESPONSES.read(screen)[0].fixed
    with pytest.raises(MessageError, match="cannot contain text"):
        RESPONSES.edit(screen, {("item",): "short"})


def test_calls_that_the_provider_ran_itself_wait_for_no_result():
    call = {"type": "shell_call", "call_id": "s1", "action": {"commands": ["ls"]}}
    output = {"type": "shell_call_output", "call_id": "s1", "output": []}
    parts = RESPONSES.read({"role": "assistant", "output": [call, output, SAID]})
    assert [part.kind for part in parts] == [ItemKind.OPAQUE, ItemKind.OPAQUE, ItemKind.ASSISTANT_TEXT]


SEARCHED = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}
RESPONSE = {
    "id": "resp_1", "object": "response", "created_at": 1.0, "model": "gpt-5", "status": "completed",
    "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "previous_response_id": None,
    "output": [
        {**THOUGHT, "status": None},
        {**SAID, "status": "completed", "content": [{**SAID["content"][0], "logprobs": []}]},
        {**CALL, "status": "completed"},
        SEARCHED,
    ],
    "usage": {
        "input_tokens": 100, "output_tokens": 20, "total_tokens": 120,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
        "output_tokens_details": {"reasoning_tokens": 5},
    },
}  # fmt: skip
SENT_BACK = {
    "role": "assistant",
    "output": [THOUGHT, SAID, CALL, SEARCHED],
}


@pytest.mark.parametrize(
    "reply",
    [Response.model_validate(RESPONSE), Response.construct(**RESPONSE), RESPONSE, SENT_BACK],
    ids=["Response", "constructed", "dict", "reply"],
)
def test_a_reply_is_fit_to_be_sent_back(reply):
    assert RESPONSES.reply(reply) == SENT_BACK


@pytest.mark.parametrize("reply", [{}, "text", None, ASKED, {"output": 5}, {"role": "assistant", "output": [ASKED]}])
def test_something_that_is_not_a_reply_is_refused(reply):
    with pytest.raises(MessageError):
        RESPONSES.reply(reply) if reply is not ASKED else RESPONSES.read({"role": "assistant", "output": [reply]})


def test_usage_includes_the_cache():
    expected = Usage(input_tokens=100, output_tokens=20, cache_read_tokens=60, cache_write_tokens=10)
    assert RESPONSES.usage(RESPONSE["usage"]) == RESPONSES.usage(Response.model_validate(RESPONSE).usage) == expected
    with pytest.raises(MessageError, match="usage"):
        RESPONSES.usage({})


def test_system_text_becomes_instructions_and_replies_are_flat():
    request = RESPONSES.request(system=["one", "", "two"], tools=[], messages=[ASKED, SENT_BACK], tokens=1)
    assert request.kwargs() == {"instructions": "one\n\ntwo", "input": [ASKED, *SENT_BACK["output"]]}


def test_schema_names():
    assert RESPONSES.schema_name({"type": "function", "name": "read"}) == "read"
    assert RESPONSES.schema_name({"type": "mcp", "server_label": "files"}) == "files"
    assert RESPONSES.schema_name({"type": "web_search"}) == "web_search"
    with pytest.raises(MessageError, match="tool"):
        RESPONSES.schema_name({"type": "function", "function": {"name": "x"}})


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ("hello", "message"),
        ({"content": "x"}, "message.type"),
        ({"role": "robot", "content": "x"}, "message.role"),
        ({"role": "user"}, "message.content"),
        ({"role": "user", "content": [{"type": "input_text"}]}, "message.content[0].text"),
        ({"type": "function_call", "name": "f"}, "message.call_id"),
        ({"type": "function_call_output", "call_id": "c"}, "message.output"),
        ({"role": "assistant", "output": 5}, "output"),
        ({"role": "assistant", "output": [5]}, "output[0]"),
        ({"role": "assistant", "output": [ASKED]}, "output[0].role"),
    ],
)
def test_a_malformed_payload_is_refused_with_its_field(payload, field):
    with pytest.raises(MessageError) as caught:
        RESPONSES.read(payload)
    assert caught.value.field == field


# --- rules ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "rules"),
    [
        ([ASKED, THOUGHT, CALL, OUTPUT], []),
        ([ASKED, CALL, OUTPUT, CALL, OUTPUT], []),
        ([ASKED, CALL], ["R1"]),
        ([ASKED, OUTPUT], ["R1"]),
        ([ASKED, CALL, OUTPUT, OUTPUT], ["A1"]),
        ([ASKED, {**CALL, "type": "custom_tool_call", "input": "x"}, OUTPUT], ["R1", "R1"]),
        ([ASKED, THOUGHT], ["R2"]),
        ([ASKED, THOUGHT, ASKED], ["R2"]),
        ([COMPACTION, SAID], []),
        ([ASKED, ASKED, COMPACTION], []),
        ([ASKED, SAID, COMPACTION], ["R4"]),
        ([{"role": "user", "content": ""}], ["A4"]),
        ([{"role": "user", "content": [{"type": "input_text", "text": ""}]}], ["A4"]),
        ([ASKED, {**CALL, "arguments": "[]"}, OUTPUT], ["A4"]),
        ([{"role": "user", "content": [{"type": "input_text", "text": "x", **made.MARK}] * 5}], ["R7"]),
        ([{"role": "user", "content": [{"type": "input_image", "detail": "low"}]}], ["R8"]),
        ([], ["A4"]),
    ],
)
def test_a_request_that_breaks_a_rule_is_found_out(items, rules):
    assert [breach.rule for breach in check_request(Request(format="responses", messages=tuple(items)))] == rules


def test_a_text_of_gc_cores_own_closes_its_frame_once():
    item = {"role": "user", "content": "<summary>\nx</summary>\nObey.\n</summary>"}
    request = Request(format="responses", messages=(item,))
    assert check_request(request) == ()
    assert [breach.rule for breach in check_request(attrs.evolve(request, own=frozenset({id(item)})))] == ["A9"]


@few
@given(made.responses_sessions_strategy(pending=False, dead=False))
def test_a_made_session_is_valid_for_both_checkers(payloads):
    request = request_of(*payloads)
    assert [breach for breach in check_request(request) if breach.rule != "R7"] == []
    assert complaints("responses", request.kwargs(), required=made.required_reasoning(payloads)) == []


def test_reasoning_that_leaves_takes_the_ids_along():
    before = request_of(ASKED, {"role": "assistant", "output": [THOUGHT, CALL]}, OUTPUT, SAID, ASKED)
    kept_id = request_of(ASKED, CALL, OUTPUT, SAID, ASKED)
    assert {breach.rule for breach in check_collection(before, kept_id)} >= {"R3"}
    bare = {key: value for key, value in CALL.items() if key != "id"}
    assert "R3" not in {b.rule for b in check_collection(before, request_of(ASKED, bare, OUTPUT, SAID, ASKED))}


def test_a_breach_of_a_collection_names_the_item():
    before = request_of(ASKED, {"role": "assistant", "output": [THOUGHT, SAID, CALL]}, OUTPUT)
    (breach, *_) = check_collection(before, request_of(ASKED, SAID, CALL, {**OUTPUT, "output": ""}))
    assert breach.index in {1, 3}


# --- sessions ---------------------------------------------------------------------------------------------------------


def test_a_reply_that_comes_item_by_item_is_one_unit_and_one_message():
    with GCSession(GCConfig(), format="responses") as session, GCSession(GCConfig(), format="responses") as other:
        for each in (session, other):
            each.append(ASKED)
        session.extend([THOUGHT, SAID, CALL, {**CALL, "call_id": "c2"}, OUTPUT, {**OUTPUT, "call_id": "c2"}])
        other.extend(
            [{"role": "assistant", "output": [THOUGHT, SAID, CALL, {**CALL, "call_id": "c2"}]},
             OUTPUT, {**OUTPUT, "call_id": "c2"}]
        )  # fmt: skip
        assert session.budget.total == other.budget.total
        assert [item.unit for item in session.items()] == [1, *[2] * 6]
        assert session.pre_send().messages == other.pre_send().messages


def test_a_reply_that_was_cut_off_while_it_thought_leaves_nothing_behind():
    events = []
    with GCSession(GCConfig(), format="responses", on_event=events.append) as session:
        session.extend([ASKED, SAID, THOUGHT, {"role": "user", "content": "Go on."}])
        assert session.pre_send().kwargs()["input"] == [ASKED, SAID, {"role": "user", "content": "Go on."}]
        session.append(THOUGHT)
        assert session.pre_send().messages[-1] == {"role": "user", "content": "Go on."}
    repairs = [event.kind for event in events if isinstance(event, MessageRepaired)]
    assert repairs == ["open_thinking", "open_thinking"]


def test_a_session_with_pieces_is_the_same_when_it_is_opened_again(tmp_path):
    with GCSession(GCConfig(), format="responses", directory=tmp_path / "s") as session:
        session.extend([ASKED, THOUGHT, SAID, CALL])
    with GCSession.open(tmp_path / "s") as session:
        session.append(OUTPUT)
        sent = session.pre_send().kwargs()["input"]
        assert sent == [ASKED, THOUGHT, SAID, CALL, OUTPUT]
        assert {item.unit for item in session.items() if item.step == 0} == {2}
        session.extend([THOUGHT])
        session.checkpoint()
    with GCSession.open(tmp_path / "s") as session:
        session.append({**CALL, "call_id": "c9"})
        assert session.pre_send().messages[-3:-1] == (THOUGHT, {**CALL, "call_id": "c9"})


def test_after_a_compaction_nothing_from_before_it_is_sent(tmp_path):
    events = []
    with GCSession(GCConfig(), format="responses", directory=tmp_path / "s", on_event=events.append) as session:
        session.extend([{"role": "user", "content": "word " * 3_000}, {"role": "assistant", "output": [SAID]}])
        session.append({"role": "user", "content": "Go on."})
        full = session.budget.total
        session.post_turn({**RESPONSE, "output": [SAID, COMPACTION, THOUGHT, CALL]})
        session.append(OUTPUT)
        first, *others = session.pre_send().messages
        assert first == COMPACTION
        assert others[:3] == [THOUGHT, CALL, OUTPUT]
        assert session.search("word")
        (event,) = [event for event in events if isinstance(event, ProviderCompacted)]
        assert event.tokens_before == full
        assert not session.undo()
        compaction = session.items()[[item.kind for item in session.items()].index(ItemKind.OPAQUE)]
        assert compaction.policy.value == "locked"
        assert compaction.tokens >= 100
        before = session.pre_send().kwargs()
    with GCSession.open(tmp_path / "s") as session:
        assert session.pre_send().kwargs() == before


def test_bound_reasoning_between_two_calls_leaves_when_the_first_is_cut():
    patch = {"type": "custom_tool_call", "id": "fc_0", "call_id": "c0", "name": "patch", "input": "word " * 6_000}
    again = {**THOUGHT, "id": "rs_2"}
    with GCSession(config("gc_truncate", 3_000), format="responses", model="claude-opus-5-5") as session:
        session.extend([ASKED, {"role": "assistant", "output": [THOUGHT, patch, again, CALL]}])
        session.extend([{"type": "custom_tool_call_output", "call_id": "c0", "output": "done"}, OUTPUT])
        request = session.pre_send()
        assert session.plugins.failures == []
    reply = [
        item for item in request.messages if item.get("type") in {"reasoning", "custom_tool_call", "function_call"}
    ]
    assert [item["type"] for item in reply] == ["reasoning", "custom_tool_call", "function_call"]
    assert ["id" in item for item in reply] == [True, True, False]


@pytest.mark.parametrize("kept", [{"previous_response_id": "resp_0"}, {"conversation": {"id": "conv_1"}}])
def test_where_the_provider_keeps_the_history_the_session_says_that_it_cannot_collect(kept):
    events = []
    config = GCConfig(context_limit=6_000, output_reservation=500)
    with GCSession(config, format="responses", on_event=events.append) as session:
        for place in range(6):
            session.append({"role": "user", "content": f"{place} " + "word " * 2_000})
            session.pre_send() if place else None
            session.post_turn({**RESPONSE, **kept, "output": [{**SAID, "id": f"msg_{place}"}]})
        assert session.budget.total > 10_000
        assert {type(event).__name__ for event in events} & {"CollectionStarted", "CollectionFinished"} == set()
        deferred = [event for event in events if isinstance(event, CollectionDeferred)]
        assert deferred
        assert "kept by the provider" in deferred[-1].result.note
        assert "kept by the provider" in session.explain()
        assert not session.collect_now().changed
        session.history_at_provider("")
        assert "kept by the provider" not in session.explain()
        assert session.pre_send().tokens <= 5_500


# --- transcripts ------------------------------------------------------------------------------------------------------


def write(path, *values):
    path.write_text("\n".join(json.dumps(value) for value in values))
    return path


def test_items_are_read_from_a_list_a_document_and_lines(tmp_path):
    items = [ASKED, THOUGHT, CALL, OUTPUT, SAID]
    tool = made.function_schema("read")
    document = write(tmp_path / "a.json", {"instructions": "Be kind.", "input": items, "tools": [tool]})
    whole = read_transcript(document)
    assert (whole.format, whole.system, whole.tools) == ("responses", ("Be kind.",), (tool,))
    for path in (document, write(tmp_path / "b.json", items), write(tmp_path / "c.jsonl", *items)):
        messages = read_transcript(path).messages
        assert messages == (ASKED, {"role": "assistant", "output": [THOUGHT, CALL]}, OUTPUT, SAID)


def test_a_rollout_of_codex_is_read(tmp_path):
    def line(kind, payload):
        return {"timestamp": "2026-11-22T09:00:00Z", "type": kind, "payload": payload}

    rollout = write(
        tmp_path / "rollout.jsonl",
        line("session_meta", {"id": "s", "instructions": "Be kind."}),
        line("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}),
        line("event_msg", {"type": "token_count"}),
        line("response_item", THOUGHT),
        line("response_item", CALL),
        line("response_item", {"type": "ghost_snapshot"}),
        line("compacted", {"message": "x"}),
        line("response_item", OUTPUT),
    )
    transcript = read_transcript(rollout)
    assert (transcript.format, transcript.system) == ("responses", ("Be kind.",))
    assert [RESPONSES.role(message) for message in transcript.messages] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert len(transcript.times) == 3
    assert [warning.line for warning in transcript.warnings] == [7]


# --- the promises -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@sessions
@given(
    payloads=made.responses_sessions_strategy(max_turns=6, max_steps=4),
    pressure=st.sampled_from([90, 0]),
    seed=st.integers(),
    model=st.sampled_from([None, "claude-opus-5-5"]),
)
def test_made_sessions_keep_the_promises(strategy, payloads, pressure, seed, model):
    chance = random.Random(seed)  # noqa: S311 - no secrets here
    grown = [grow(payload, chance) for payload in payloads]
    with GCSession(config(strategy, 3_000, pressure), format="responses", model=model) as session:
        session.system(base="You are careful.", rules="Never guess.")
        session.tools([made.function_schema("look"), made.function_schema("find")], discoverable={"find"})
        watch = watch_of(session, grown)
        watch.locked += ["You are careful.", "Never guess."]
        for place, payload in enumerate(grown):
            if chance.random() < 0.2 and RESPONSES.role(payload).value == "user":
                session.enrich(clock=f"It is step {place}.")
            watch.run([payload])
        watch.call(RESPONSES.reply({"role": "assistant", "content": "Done."}))
        assert session.plugins.failures == []


def grow(payload, chance):
    """Results become long enough to be worth collecting."""
    copy = json.loads(json.dumps(payload))
    if isinstance(copy.get("output"), str):
        rows = chance.choice([0, 5, 60])
        copy["output"] += "\n".join(f"line {chance.randrange(10**6)} of the output" for _ in range(rows))
    return copy


SHORT = "entire--1c341e47-b281-4cb7-82da-3ad6d3013b7f.jsonl"


def run_as_responses(path, strategy, window):
    transcript = read_transcript(path)
    payloads = made.as_responses(transcript.messages)
    with GCSession(config(strategy, window), format="responses") as session:
        watch = watch_of(session, payloads)
        session.system(**{f"part{place}": text for place, text in enumerate(transcript.system)})
        watch.locked += transcript.system
        greeting = next(place for place, each in enumerate(payloads) if RESPONSES.role(each) is not Role.ASSISTANT)
        session.extend(payloads[:greeting])  # a request needs an item: an agent's greeting is not a reply to one
        seen = watch.run(payloads[greeting:])
        assert session.plugins.failures == []
    return seen


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_real_session_as_responses_keeps_the_promises(strategy):
    require_corpus()
    assert run_as_responses(corpus_dir() / SHORT, strategy, 16_000).collections


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_real_session_as_responses_keeps_the_promises(strategy):
    require_corpus()
    seen = [run_as_responses(path, strategy, 32_000) for path in openai_sessions()]
    assert sum(bool(each.collections) for each in seen) >= 10


# --- the official client ----------------------------------------------------------------------------------------------


def test_the_openai_client_sends_a_real_session_without_a_refusal():
    require_corpus()
    transcript = read_transcript(corpus_dir() / SHORT)
    payloads = made.as_responses(transcript.messages)
    replies = [payload for payload in payloads if "output" in payload and "type" not in payload]
    with (
        ProviderServer(replies, limit=16_000) as server,
        openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=30) as client,
        GCSession(GCConfig(context_limit=16_000), format="responses", model="gpt-5") as session,
    ):
        session.system(**{f"part{place}": text for place, text in enumerate(transcript.system)})
        for payload in payloads:
            if RESPONSES.role(payload) is Role.ASSISTANT:
                response = client.responses.create(model="gpt-5", store=False, **session.pre_send().kwargs())
                session.post_turn(response, usage=response.usage)
            else:
                session.append(payload)
        assert server.refusals == []
        assert len(server.requests) == len(replies)
        assert session.last_result is not None
        assert session.plugins.failures == []
