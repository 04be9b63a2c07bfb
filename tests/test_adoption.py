"""Another program's log as a session: all of it is there, and everything works on it."""

import json

import attrs
import pytest
from ctxgc.adoption import adopt
from ctxgc.evaluation.transcripts import read_transcript

from gc_core import GCConfig, GCSession
from gc_core.errors import LogError, TranscriptError
from gc_core.providers import format_named
from gc_core.storage.audit import verify
from gc_core.storage.master_log import FILE_NAME, LogRecord
from gc_core.values.sources import CONVERSATION
from tests.support.corpus import native_sessions, require_corpus

CLAUDE_CODE = native_sessions("claude-code")
SMALL = GCConfig(strategy="gc_truncate", context_limit=20_000, output_reservation=0, preserve_recent_turns=1)


@pytest.fixture
def foreign(tmp_path):
    """A short OpenAI log with two system texts, a call and its result."""
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}
    lines = [
        {"role": "system", "content": "Be brief."},
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Read a.py."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "x = 1\n" * 200},
        {"role": "assistant", "content": "x is 1."},
    ]
    path = tmp_path / "foreign.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def logged(directory):
    records = map(LogRecord.read, (directory / FILE_NAME).read_bytes().splitlines(keepends=True))
    return [record for record in records if record.source == CONVERSATION.name]


def test_there_are_recorded_sessions():
    require_corpus()


@pytest.mark.parametrize("path", CLAUDE_CODE, ids=lambda path: path.stem)
def test_a_claude_code_session_is_in_the_master_log_whole_and_in_order(path, tmp_path):
    transcript = read_transcript(path)
    with adopt(path, tmp_path / "own") as session:
        assert session.history() == ()
    assert [record.payload for record in logged(tmp_path / "own")] == list(transcript.messages)
    assert verify(tmp_path / "own") == ()


@pytest.mark.parametrize("path", CLAUDE_CODE[:1], ids=lambda path: path.stem)
def test_every_item_of_an_adopted_log_is_recalled_after_the_first_request_collected(path, tmp_path):
    with adopt(path, tmp_path / "own", SMALL) as session:
        assert session.budget.total > SMALL.usable
        request = session.pre_send()
        assert request.tokens <= SMALL.usable
        assert [entry.what for entry in session.history()]
        form = format_named("anthropic")
        for record in logged(tmp_path / "own"):
            parts = form.read(form.normalise(record.payload))
            for item, part in zip(record.items, parts, strict=True):
                assert not item or session.recall(item) == part.text
    assert verify(tmp_path / "own") == ()


def test_reading_collects_nothing_and_the_first_request_does(foreign, tmp_path):
    config = attrs.evolve(SMALL, context_limit=200, preserve_recent_steps=0)
    with adopt(foreign, tmp_path / "own", config) as session:
        assert (session.history(), session.budget.total > 200) == ((), True)
        session.append({"role": "user", "content": "And now?"})
        assert session.pre_send().tokens <= 200
        assert len(session.history()) == 1


def test_system_texts_lead_the_request_and_tools_come_with_it(tmp_path):
    tool = {"type": "function", "function": {"name": "read"}}
    path = tmp_path / "s.json"
    head = [{"role": "system", "content": "Be brief."}, {"role": "system", "content": "Be kind."}]
    path.write_text(json.dumps({"messages": [*head, {"role": "user", "content": "Go."}], "tools": [tool]}))
    with adopt(path, tmp_path / "own") as session:
        request = session.pre_send()
    assert [block["text"] for block in request.messages[0]["content"]][:2] == ["Be brief.", "Be kind."]
    assert request.tools == (tool,)


def test_an_adopted_session_goes_on_in_another_process_life(foreign, tmp_path):
    with adopt(foreign, tmp_path / "own") as session:
        tokens, texts = session.budget.total, [item.text for item in session.items()]
    with GCSession.open(tmp_path / "own") as session:
        assert (session.budget.total, [item.text for item in session.items()]) == (tokens, texts)
        assert [hit.item for hit in session.search("kind brief x")]
        session.append({"role": "user", "content": "On."})


def test_a_directory_that_is_used_is_refused_and_not_touched(foreign, tmp_path):
    used = tmp_path / "used"
    used.mkdir()
    (used / "notes.txt").write_text("mine")
    with pytest.raises(LogError, match="used is not empty"):
        adopt(foreign, used)
    assert [path.name for path in used.iterdir()] == ["notes.txt"]


def test_a_file_where_the_directory_should_be_is_refused(foreign):
    with pytest.raises(LogError, match=r"foreign\.jsonl is a file; expected a directory"):
        adopt(foreign, foreign)


def test_a_log_that_cannot_be_read_leaves_no_directory(tmp_path):
    with pytest.raises(TranscriptError, match="nowhere"):
        adopt(tmp_path / "nowhere.jsonl", tmp_path / "own")
    assert not (tmp_path / "own").exists()


def test_nothing_is_left_when_adopting_fails_midway(foreign, tmp_path, monkeypatch):
    def fail(*_):
        raise LogError("the disk is full")

    monkeypatch.setattr(GCSession, "extend", fail)
    with pytest.raises(LogError, match="full"):
        adopt(foreign, tmp_path / "own")
    assert not (tmp_path / "own").exists()


def test_omissions_are_logged(foreign, tmp_path, caplog):
    with foreign.open("a") as file:
        file.write("{broken\n")
    adopt(foreign, tmp_path / "own").close()
    assert "foreign.jsonl:7: the line was left out" in caplog.text


# --- gptme ------------------------------------------------------------------------------------------------------------


def test_a_gptme_conversation_opens_as_a_master_log(tmp_path):
    path = tmp_path / "conversation.jsonl"
    lines = [
        ("system", "You are gptme.", {"pinned": True}),
        ("user", "List the files.", {}),
        ("assistant", 'I look.\n@shell(call-1): {"command": "ls"}', {}),
        ("system", "a.py\nb.py", {"call_id": "call-1"}),
        ("assistant", "```shell\ncat a.py\n```", {}),
        ("system", "Ran command: `cat a.py`\nx = 1", {}),
    ]
    path.write_text(
        "".join(
            json.dumps({"role": role, "content": content, "timestamp": f"2026-01-02T03:04:0{at}", **more}) + "\n"
            for at, (role, content, more) in enumerate(lines)
        )
    )
    with adopt(path, tmp_path / "own") as session:
        assert [hit.tool for hit in session.search("b.py", role="tool")] == ["shell"]
        request = session.pre_send()
    assert [message["role"] for message in request.messages] == [
        "system", "user", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    assert verify(tmp_path / "own") == ()
