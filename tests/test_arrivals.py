"""What no provider would take is mended when it arrives, in every format; the log keeps it as it came."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gc_core import GCConfig, GCPolicy, GCSession, SessionReader
from gc_core.events import MessageRepaired
from gc_core.storage.audit import verify
from gc_core.values.json_values import text_in_utf8, value_in_utf8
from tests.fuzz import validity
from tests.support.checker import complaints
from tests.support.histories import FORMATS, History
from tests.support.inside import window_of
from tests.support.say import answer, call, result, results, small, use, user

THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="}
TEXT = {"type": "text", "text": "Well."}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
CALLED = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "read", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "x = 1"}
SYSTEM = {"role": "system", "content": "Be brief."}
EMPTY_RESULTS = {
    "null": None,
    "no blocks": [],
    "an empty text": [{"type": "text", "text": ""}],
    "a text and an empty one": [{"type": "text", "text": "x"}, {"type": "text", "text": ""}],
}
EMPTY_OUTPUTS = {
    "null": None,
    "no blocks": [],
    "an empty text": [{"type": "input_text", "text": ""}],
    "empty texts of two kinds": [{"type": "output_text", "text": ""}, {"type": "input_text", "text": ""}],
    "a text and an empty one": [{"type": "input_text", "text": "x"}, {"type": "input_text", "text": ""}],
}


def said(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def model(*parts):
    return {"role": "model", "parts": list(parts)}


def contents(text):
    return {"role": "user", "parts": [{"text": text}]}


SHAPES = {
    "anthropic": {
        "a reply of thinking alone": [user("Go."), said(THOUGHT), user("And?")],
        "thinking at the end of a reply": [user("Go."), said(TEXT, THOUGHT), user("And?")],
        "thinking without a text at the end of a first reply": [said(TEXT, {**THOUGHT, "thinking": ""}), user("And?")],
        "thinking behind white space": [user("Go."), said(THOUGHT, {"type": "text", "text": " "}), user("And?")],
        "system text behind a reply": [user("Go."), said(TEXT), SYSTEM],
        "system text behind a reply, then a user": [user("Go."), said(TEXT), SYSTEM, user("And?")],
        "system text before a user message": [user("Go."), SYSTEM, user("And?")],
        "system text twice": [user("Go."), SYSTEM, SYSTEM],
        "system text twice, a user message between": [user("Go."), SYSTEM, user("And?"), SYSTEM, user("So?")],
        "system text first": [SYSTEM, user("Go.")],
        "system text alone": [SYSTEM],
        "system text before a first reply": [SYSTEM, said(TEXT), user("Go.")],
        "system text between a call and its result": [
            user("Go."), use(("c", "read", {})), SYSTEM,
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]},
        ],
        **{
            f"a result of {name}": [user("Go."), use(("c", "read", {})), results(("c", content))]
            for name, content in EMPTY_RESULTS.items()
        },
        "a result of an empty text, and what the user says": [
            user("Go."), use(("c", "read", {})), results(("c", [{"type": "text", "text": ""}]), text="And?"),
        ],
    },
    "openai": {
        "reasoning beside an empty content": [
            user("Go."), {"role": "assistant", "content": "", "reasoning_content": "Hm."}, user("And?"),
        ],
        "reasoning beside no content": [user("Go."), {"role": "assistant", "content": None, "reasoning": "Hm."}],
        "reasoning beside white space": [
            user("Go."), {"role": "assistant", "content": "\n", "reasoning_content": "Hm."}, user("And?"),
        ],
        "a result of null": [user("Go."), call(("c", "read", {})), {**result("c", "x"), "content": None}],
        "a result without content": [user("Go."), call(("c", "read", {})), {"role": "tool", "tool_call_id": "c"}],
        **{
            f"a result of {name}": [user("Go."), call(("c", "read", {})), result("c", content)]
            for name, content in EMPTY_RESULTS.items()
        },
    },
    "responses": {
        "reasoning behind a call": [user("Go."), {"role": "assistant", "output": [CALLED, REASONING]}, OUTPUT],
        "reasoning behind a call, item by item": [user("Go."), CALLED, REASONING, OUTPUT],
        "a reply of reasoning alone": [user("Go."), REASONING, user("And?")],
        "reasoning before a message that says nothing": [
            user("Go."),
            {"role": "assistant", "output": [REASONING, {"type": "message", "role": "assistant", "content": []}]},
            user("And?"),
        ],
        **{
            f"an output of {name}": [user("Go."), CALLED, {**OUTPUT, "output": content}]
            for name, content in EMPTY_OUTPUTS.items()
        },
        "an output that is missing": [user("Go."), CALLED, {"type": "function_call_output", "call_id": "c"}],
        "an output of an empty text of a custom tool": [
            user("Go."),
            {"type": "custom_tool_call", "call_id": "c", "name": "run", "input": "x"},
            {"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_text", "text": ""}]},
        ],
    },
    "gemini": {
        "a thought without a text": [contents("Go."), model({"text": "", "thought": True}), contents("And?")],
        "a thought without a text in a first reply": [
            model({"text": "Well."}, {"text": "", "thought": True}), contents("And?"),
        ],
        "a thought with the words of the line before a first reply": [
            model({"text": "Well."}, {"text": "[gc: the conversation starts here]", "thought": True}), contents("And?"),
        ],
        "a thought of white space": [contents("Go."), model({"text": " ", "thought": True}, {"text": "Well."})],
        "a thought without data": [contents("Go."), model({"thought": True}, {"text": "Well."}), contents("And?")],
        **{
            f"a result whose response is {name}": [
                contents("Go."), model({"functionCall": {"name": "read", "args": {}}}),
                {"role": "user", "parts": [{"functionResponse": {"name": "read", **response}}]},
            ]
            for name, response in {"null": {"response": None}, "missing": {}}.items()
        },
        "a result whose response is null, in snake case": [
            contents("Go."), model({"function_call": {"name": "read", "args": {}}}),
            {"role": "user", "parts": [{"function_response": {"name": "read", "response": None}}]},
        ],
    },
}  # fmt: skip
CASES = [(form, name) for form, shapes in SHAPES.items() for name in shapes]


@pytest.mark.parametrize(("form", "name"), CASES)
def test_a_shape_that_no_provider_takes_is_mended(tmp_path, form, name):
    """By itself, with a block after it, and when the session is opened again."""
    with small(format=form, directory=tmp_path) as session:
        for message in SHAPES[form][name]:
            session.append(message)
        assert complaints(form, session.pre_send().kwargs()) == []
        session.enrich(docs="Another text.")
        request = session.pre_send()
        assert complaints(form, request.kwargs()) == []
        assert validity.complaints(form, request.kwargs()) == []
        assert request.tokens == session.budget.total
    assert verify(tmp_path) == ()
    with GCSession.open(tmp_path) as opened:
        assert opened.pre_send().messages == request.messages


@pytest.mark.parametrize("form", FORMATS)
def test_whatever_shapes_arrive_every_request_is_one_that_the_provider_takes(form):
    for seed in range(100, 103):
        history = History(seed, form, hostile=True, window=6_000)
        history.play(16)
        history.session.close()


def test_system_text_is_placed_before_the_next_reply_and_none_of_it_is_lost():
    with small(format="anthropic") as session:
        session.append(user("Go."))
        session.append(SYSTEM)
        session.append(user("And?"))
        session.append({"role": "system", "content": "Be kind."})
        session.enrich(docs="A text beside.")
        *before, last = session.pre_send().messages
        assert [message["role"] for message in before] == ["user"] * 3
        assert last["role"] == "system"
        assert [block["text"] for block in last["content"]] == ["Be brief.", "Be kind."]
        session.post_turn(answer("Yes."))
        session.append(user("More?"))
        assert [message["role"] for message in session.pre_send().messages][-3:] == ["system", "assistant", "user"]


@pytest.mark.parametrize("reply", [said(TEXT), use(("c", "read", {}))])
def test_a_first_reply_changes_nothing_of_the_system_text_that_was_sent_before_it(tmp_path, reply):
    with small(format="anthropic", directory=tmp_path) as session:
        session.append(SYSTEM)
        sent = session.pre_send().messages
        session.post_turn(reply)
        assert session.pre_send().messages[: len(sent)] == sent
    assert verify(tmp_path) == ()


def test_system_text_in_a_valid_place_is_sent_unchanged():
    with small(format="anthropic") as session:
        for message in (user("Go."), SYSTEM, answer("Yes."), user("And?"), SYSTEM):
            session.append(message)
        assert list(session.pre_send().messages) == [user("Go."), SYSTEM, answer("Yes."), user("And?"), SYSTEM]


def test_a_collection_leaves_system_text_between_a_user_message_and_a_reply():
    with small(2_000, format="anthropic", strategy="gc_truncate", preserve_recent_turns=0) as session:
        session.append(user("Go."))
        for place in range(30):
            session.append(user(f"Do {place}. " + "word " * 30))
            if place % 5 == 0:
                session.append(SYSTEM)
            assert complaints("anthropic", session.pre_send().kwargs()) == []
            session.post_turn(answer(f"Did {place}. " + "word " * 30))
        assert session.last_result.removals
        assert session.plugins.failures == []


def test_repairs_are_reported_and_the_log_keeps_the_original(tmp_path):
    events = []
    with small(format="anthropic", directory=tmp_path, on_event=events.append) as session:
        session.append(user("Go."))
        session.append(said(THOUGHT))
        assert [event.kind for event in events if isinstance(event, MessageRepaired)] == ["open_thinking"]
        assert [message["role"] for message in session.pre_send().messages] == ["user"]
    logged = [json.loads(line)["payload"] for line in (tmp_path / "master.jsonl").read_text().splitlines()]
    assert said(THOUGHT) in logged


def test_a_session_of_before_opens_with_the_reply_of_reasoning_that_its_server_took(tmp_path):
    """Some servers that speak Chat Completions take it; a ledger names the messages that came after it."""
    with small(directory=tmp_path) as session:
        session.append(user("Go."))
        session.pre_send()
    log = tmp_path / "master.jsonl"
    _, arrived, *_ = log.read_text().splitlines()
    record = json.loads(arrived)
    thought = {"role": "assistant", "content": "", "reasoning_content": "Hm."}
    later = {
        **record,
        "at": 1,
        "items": ["i2"],
        "role": "assistant",
        "policies": {"i2": "ephemeral"},
        "payload": thought,
    }
    with log.open("a") as file:
        file.write(json.dumps(later) + "\n")
    with GCSession.open(tmp_path) as opened:
        assert [item.id for item in opened.items() if item.source == "conversation"] == ["i1", "i2"]
        opened.append(user("And?"))
    assert verify(tmp_path) == ()


def test_a_reply_that_may_go_on_keeps_its_reasoning_until_it_is_whole():
    with small(format="responses") as session:
        session.append(user("Go."))
        session.append(CALLED)
        session.append(REASONING)
        session.append({**CALLED, "id": "fc_2", "call_id": "d"})
        session.append(OUTPUT)
        session.append({**OUTPUT, "call_id": "d"})
        kinds = [item.get("type", "message") for item in session.pre_send().messages]
        assert kinds == [
            *("message", "function_call", "reasoning", "function_call", "function_call_output", "function_call_output")
        ]


# -- lone surrogates ---------------------------------------------------------------------------------------------------

HALF = "half \ud83d of a letter, another half \udc00"
SENT = "half \ufffd of a letter, another half \ufffd"


def with_halves(form):
    """A text, a name, arguments (keys too) and a result, each with lone surrogates, in the shape of a format."""
    arguments = {HALF: [HALF, {"deep": HALF}]}
    asked, answered = {"role": "user", "content": HALF}, {"role": "assistant", "content": HALF}
    if form == "openai":
        return [asked, call((HALF, HALF, json.dumps(arguments, ensure_ascii=False))), result(HALF, HALF), answered]
    if form == "anthropic":
        answers = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": HALF}]}
        return [asked, use(("c", HALF, arguments)), answers, answered]
    if form == "responses":
        called = {**CALLED, "name": HALF, "arguments": json.dumps(arguments, ensure_ascii=False)}
        return [asked, called, {**OUTPUT, "output": HALF}, answered]
    called = {"functionCall": {"name": HALF, "args": arguments}}
    answers = {"functionResponse": {"name": HALF, "response": {"output": HALF}}}
    return [contents(HALF), model(called), {"role": "user", "parts": [answers]}, model({"text": HALF})]


def schema_with_halves(form):
    inner = {"name": "read", "description": HALF}
    match form:
        case "openai":
            return {"type": "function", "function": inner}
        case "anthropic":
            return {**inner, "input_schema": {"type": "object"}}
        case "responses":
            return {"type": "function", **inner}
    return inner


@pytest.mark.parametrize("form", FORMATS)
def test_half_a_letter_is_sent_as_a_replacement_character_and_stays_in_the_log(tmp_path, form):
    events = []
    with small(format=form, directory=tmp_path, on_event=events.append) as session:
        session.system(base=HALF)
        session.tools([schema_with_halves(form)])
        messages = with_halves(form)
        for message in messages:
            session.append(message)
        session.enrich(docs=HALF)
        request = session.pre_send()
        sent = json.dumps(request.kwargs(), ensure_ascii=False)
        sent.encode()
        assert sent.count(SENT) > len(messages)
        assert "half \ud83d" not in sent
        assert request.tokens == session.budget.total
        assert [event.kind for event in events if isinstance(event, MessageRepaired)] == ["lone_surrogate"] * 4
        assert session.pre_send().messages == request.messages
    assert verify(tmp_path) == ()
    logged = [json.loads(line)["payload"] for line in (tmp_path / "master.jsonl").read_text().splitlines()]
    assert all(message in logged for message in messages)
    with GCSession.open(tmp_path) as opened:
        assert [message.payload for message in window_of(opened).messages][: len(messages)] == messages
        assert opened.pre_send().kwargs() == request.kwargs()
    with SessionReader(tmp_path) as reader:
        assert reader.window().messages == request.messages


@pytest.mark.parametrize("form", FORMATS)
def test_a_message_without_half_letters_is_sent_as_the_same_object(form):
    asked = contents("Größe 日本 😀") if form == "gemini" else user("Größe 日本 😀")
    with small(format=form) as session:
        session.append(asked)
        before = window_of(session).messages[-1].payload
        assert session.pre_send().messages[-1] is before


@given(st.text(alphabet=st.characters()))
def test_every_text_can_be_written_once_its_half_letters_are_replaced(text):
    made = text_in_utf8(text)
    made.encode()
    assert (made is text) == (not any("\ud800" <= letter <= "\udfff" for letter in text))
    assert text_in_utf8(made) is made


def test_two_halves_side_by_side_are_the_letter_that_they_are():
    assert text_in_utf8("a\ud83d\ude00b\ud800") == "a\U0001f600b\ufffd"


def test_a_value_that_can_be_written_is_not_copied():
    value = {"a": ["ä", {"日": 1.5, "b": None}]}
    assert value_in_utf8(value) is value


def test_a_reply_of_calls_whose_content_is_an_empty_list_has_none(tmp_path):
    reply = {**call(("c1", "read", {})), "content": []}
    with GCSession(GCConfig(strategy="none"), format="openai", directory=tmp_path / "s") as session:
        session.append({"role": "user", "content": "Read it."})
        session.append(reply)
        session.append({"role": "tool", "tool_call_id": "c1", "content": "done"})
        sent = session.pre_send().messages
        assert [each["content"] for each in sent if each["role"] == "assistant"] == [None]
    with GCSession.open(tmp_path / "s") as session:
        assert session.pre_send().messages == sent


def test_what_the_provider_requires_to_stay_is_locked_whatever_the_host_says():
    """A compaction replaces all that was before it: without it the provider would read an empty history (N6)."""
    config = GCConfig(strategy="gc_truncate", context_limit=2_500, output_reservation=0)
    with GCSession(config, format="anthropic") as session:
        session.append({"role": "user", "content": "Do the work."})
        session.pre_send()
        compaction = {"type": "compaction", "content": "It was done."}
        session.post_turn({"role": "assistant", "content": [compaction, {"type": "text", "text": "On."}]})
        (item,) = (item for item in session.items() if item.text and "It was done." in item.text)
        for policy in (GCPolicy.PRESERVABLE, GCPolicy.EPHEMERAL):
            session.set_policy(item.id, policy)
        for number in range(6):
            session.append({"role": "user", "content": f"{number} " + "word " * 500})
            assert session.pre_send().messages[0]["content"][0] == compaction
            session.post_turn({"role": "assistant", "content": "Yes."})
