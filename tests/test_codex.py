"""The rollouts of Codex, as ``read_transcript`` reads them; the lines are made after codex 0.46 to 0.65."""

import json

import pytest
from ctxgc.evaluation.replay import replay
from ctxgc.evaluation.transcripts import read_transcript

from gc_core import GCConfig
from gc_core.errors import TranscriptError
from gc_core.providers import format_named
from gc_core.values.messages import Role

RESPONSES = format_named("responses")
ASKED = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it."}]}
THOUGHT = {"type": "reasoning", "summary": [], "content": None, "encrypted_content": "c2VjcmV0"}
CALL = {"type": "function_call", "name": "shell", "arguments": '{"command": ["ls"]}', "call_id": "c1"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "a.py"}
PATCH = {
    "type": "custom_tool_call",
    "name": "apply_patch",
    "input": "*** Begin",
    "call_id": "c2",
    "status": "completed",
}
PATCHED = {"type": "custom_tool_call_output", "call_id": "c2", "output": "Done!"}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is fixed."}]}


def line(kind, payload, second=0):
    return {"timestamp": f"2026-11-22T09:00:{second:02}.000Z", "type": kind, "payload": payload}


def item(payload, second=0):
    return line("response_item", payload, second)


META = line("session_meta", {"id": "s", "cwd": "/srv/bot", "base_instructions": {"text": "Be kind."}})
CONTEXT = line("turn_context", {"cwd": "/srv/bot", "model": "gpt-5-codex"})
COUNTED = line("event_msg", {"type": "token_count", "info": None})


@pytest.fixture
def rollout(tmp_path):
    def write(*lines):
        path = tmp_path / "rollout-2026-11-22T09-00-00-s.jsonl"
        path.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in lines))
        return path

    return write


def test_what_was_sent_and_answered_is_read_and_what_is_shown_is_not(rollout):
    event = line("event_msg", {"type": "agent_message", "message": "It is fixed."})
    path = rollout(META, item(ASKED), CONTEXT, item(THOUGHT), item(CALL), COUNTED, item(OUTPUT), item(SAID), event)
    transcript = read_transcript(path)
    assert transcript.format == "responses"
    assert transcript.system == ("Be kind.",)
    assert transcript.messages == (ASKED, {"role": "assistant", "output": [THOUGHT, CALL]}, OUTPUT, SAID)
    assert transcript.warnings == ()


def test_messages_have_the_times_of_their_lines(rollout):
    times = read_transcript(rollout(META, item(ASKED, 1), item(CALL, 5), item(OUTPUT, 7), item(SAID, 8))).times
    assert [time - times[0] for time in times] == [0, 4, 6, 7]


def test_calls_of_custom_tools_have_their_results(rollout):
    transcript = read_transcript(rollout(META, item(ASKED), item(PATCH), item(PATCHED), item(SAID)))
    roles = [RESPONSES.role(message) for message in transcript.messages]
    assert roles == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]


def test_a_compaction_is_reported_and_the_content_before_it_stays(rollout):
    compacted = line("compacted", {"message": "All is well.", "replacement_history": [ASKED]})
    transcript = read_transcript(rollout(META, item(ASKED), item(CALL), item(OUTPUT), compacted, item(SAID)))
    assert transcript.messages == (ASKED, CALL, OUTPUT, SAID)
    assert [(warning.line, "compacted" in warning.text) for warning in transcript.warnings] == [(5, True)]


def test_of_a_fork_the_first_instructions_hold(rollout):
    origin = line("session_meta", {"id": "o", "instructions": "Be quick."})
    assert read_transcript(rollout(META, origin, item(ASKED), item(SAID))).system == ("Be kind.",)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{broken", "the line was left out"),
        (item(7), "payload: 7, expected an object"),
        ({"type": "response_item"}, "payload: None, expected an object"),
        (item({"type": "function_call_output", "output": "x"}), "payload.call_id: missing"),
        (item({"type": "message", "role": "user", "content": 7}), "payload.content"),
    ],
)
def test_a_malformed_line_is_named_with_file_and_line_and_the_others_are_read(rollout, bad, said):
    path = rollout(META, item(ASKED), bad, item(SAID))
    transcript = read_transcript(path)
    assert transcript.messages == (ASKED, SAID)
    (warning,) = transcript.warnings
    assert str(warning).startswith(f"{path}:3: {said}")


def test_a_rollout_in_which_nothing_was_said_is_refused_with_its_first_fault(rollout):
    path = rollout(META, item(7), CONTEXT)
    with pytest.raises(TranscriptError, match=r"no message that can be read.*jsonl:2: payload: 7"):
        read_transcript(path)


def test_a_rollout_can_be_replayed(rollout):
    path = rollout(META, item(ASKED), item(THOUGHT), item(CALL), item(OUTPUT), item(PATCH), item(PATCHED), item(SAID))
    summary = replay(read_transcript(path), config=GCConfig(context_limit=8_000, strategy="none")).summary()
    assert (summary.calls, summary.rule_breaches, summary.locked_bytes_missing) == (3, 0, 0)
