"""A sample of the session fuzzer; `make fuzz` runs it whole."""

import logging

import attrs
import pytest

from gc_core import GCSession, Request
from tests.fuzz.counting import least_tokens, tokens
from tests.fuzz.histories import Script, Step, make_script
from tests.fuzz.promises import Held, Sealed, log_breaches
from tests.fuzz.running import run
from tests.fuzz.telling import as_code
from tests.fuzz.validity import complaints

SEEDS = (
    *range(1, 21),
    *(501259, 901572, 902845, 904125, 904317, 904965, 905466, 2000712, 2003600, 2011647, 2019718, 3005273),
    *(3018262, 4008074, 4015278, 5003201, 5009112, 6002890, 8014837, 8017865),
)
"""Twenty, and those that showed a breach once."""


@pytest.fixture(scope="module")
def found():
    logging.disable(logging.CRITICAL)
    try:
        return {breach.kind: seed for seed in SEEDS for breach in run(make_script(seed)).breaches}
    finally:
        logging.disable(logging.NOTSET)


def test_no_session_of_the_sample_breaks_a_promise(found):
    assert found == {}


def test_a_seed_makes_the_same_script_each_time():
    assert make_script(7) == make_script(7)


def test_a_script_is_printed_as_valid_python():
    for seed in range(1, 21):
        compile(as_code(make_script(seed)), "fuzzed", "exec")


def test_a_held_text_that_is_missing_is_a_breach():
    held = Held()
    held.hold("original", "Fix the login test.")
    there = Request(format="openai", messages=({"role": "user", "content": "Fix the login test."},))
    gone = Request(format="openai", messages=({"role": "user", "content": "Fix the login"},))
    assert list(held.breaches(there)) == []
    assert [breach.kind for breach in held.breaches(gone)] == ["held: original is not in the request"]


def test_a_sealed_block_that_was_changed_is_a_breach():
    sealed = Sealed()
    block = {"type": "thinking", "thinking": "hm", "signature": "s1"}
    sealed.take({"role": "assistant", "content": [block]})
    kept = Request(format="anthropic", messages=({"role": "assistant", "content": [block]},))
    changed = Request(format="anthropic", messages=({"role": "assistant", "content": [{**block, "thinking": ""}]},))
    assert list(sealed.breaches(kept)) == []
    assert len(list(sealed.breaches(changed))) == 1


def test_a_message_that_is_not_in_the_log_is_a_breach(tmp_path):
    (tmp_path / "master.jsonl").write_text('{"payload":{"role":"user","content":"a"}}\n')
    assert list(log_breaches(tmp_path, ['{"content":"a","role":"user"}'])) == []
    assert len(list(log_breaches(tmp_path, ['{"content":"b","role":"user"}']))) == 1


def script_of(*steps):
    config = {"context_limit": 3_000, "output_reservation": 0}
    return Script(seed=0, format="openai", model=None, config=config, steps=steps)


def said(text):
    return Step("append", {"message": {"role": "user", "content": text}, "policy": None, "role": "user"})


def answered(text):
    return Step("call", {"reply": {"role": "assistant", "content": text}, "usage": None})


def without_the_first_words(request, _calls):
    return attrs.evolve(request, messages=request.messages[2:])


def with_another_word_each_time(request, calls):
    return attrs.evolve(request, messages=({"role": "user", "content": f"{calls}"}, *request.messages))


def with_more_than_fits(request, _calls):
    return attrs.evolve(request, messages=(*request.messages, {"role": "user", "content": "word " * 4_000}))


def with_a_result_that_nobody_asked_for(request, _calls):
    return attrs.evolve(request, messages=(*request.messages, {"role": "tool", "tool_call_id": "x", "content": "x"}))


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (without_the_first_words, "held"),
        (with_another_word_each_time, "still"),
        (with_more_than_fits, "fits"),
        (with_a_result_that_nobody_asked_for, "valid"),
    ],
)
def test_a_session_that_sends_something_else_is_found_out(monkeypatch, spoil, kind):
    script = script_of(said("Fix the login test."), answered("Which?"), said("All of it."), answered("Done."))
    assert run(script).breaches == []
    send, calls = GCSession.pre_send, []

    def spoiled(session):
        calls.append(1)
        return spoil(send(session), len(calls))

    monkeypatch.setattr(GCSession, "pre_send", spoiled)
    assert kind in {breach.kind.split(":")[0] for breach in run(script).breaches}


def chat(*messages):
    return {"messages": [{"role": "user", "content": "Go on."}, *messages]}


CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("provider", "request_", "rule"),
    [
        ("openai", chat({"role": "assistant", "tool_calls": [CALL]}), "C1"),
        ("openai", chat({"role": "tool", "tool_call_id": "c1", "content": "x"}), "C1"),
        ("openai", chat({"role": "assistant", "content": "", "reasoning_content": "hm"}), "C2"),
        (
            "anthropic",
            chat({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}),
            "N3",
        ),
        ("anthropic", chat({"role": "assistant", "content": "x"}, {"role": "system", "content": "x"}), "N4"),
        (
            "anthropic",
            chat({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {}}]}),
            "N1",
        ),
        ("responses", {"input": [{"type": "reasoning", "id": "rs_1"}, {"role": "user", "content": "x"}]}, "R2"),
        ("responses", {"input": [{"type": "function_call_output", "call_id": "a", "output": "x"}]}, "R1"),
        ("gemini", {"contents": [{"role": "user", "parts": [{"text": "", "thought": True}]}]}, "G5"),
        ("gemini", {"contents": [{"role": "model", "parts": [{"text": "x"}]}]}, "G4"),
    ],
)
def test_the_validator_refuses_what_the_provider_refuses(provider, request_, rule):
    assert any(rule in complaint for complaint in complaints(provider, request_))


def test_the_counter_reads_text_by_its_place_and_never_by_its_key():
    text = "the whole of it " * 200
    response = {"mimeType": "text/plain", "data": text}
    part = {"functionResponse": {"name": "read", "response": response}}
    assert least_tokens("gemini", {"contents": [{"role": "user", "parts": [part]}]}) > tokens(text) * 0.9
    output = {"type": "function_call_output", "call_id": "a", "output": f"data:text/plain;base64,{text}"}
    assert least_tokens("responses", {"input": [output]}) > tokens(text) * 0.9


def test_the_counter_counts_no_image():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 5_000}}
    assert least_tokens("openai", {"messages": [{"role": "user", "content": [image]}]}) == 0
