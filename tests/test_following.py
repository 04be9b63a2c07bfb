"""The logs of agents that run now: followed while they are cut, rotated, rewritten and resumed."""

import json
import os
import signal
import sqlite3
import subprocess
import sys

import pytest
from ctxgc.evaluation.transcripts import read_transcript
from ctxgc.following import QUIET_SECONDS, Follower, settled

from gc_core import SessionReader
from gc_core.errors import LogError
from gc_core.providers import format_named
from gc_core.storage.audit import verify
from gc_core.storage.master_log import FILE_NAME, LogRecord
from gc_core.values.sources import CONVERSATION

ROUNDS = 4


def lines_of(records):
    return [json.dumps(record) + "\n" for record in records]


def claude_code():
    """As Claude Code 2.1 writes: a line for each block, and much that is no message."""
    yield {"type": "queue-operation", "operation": "enqueue", "content": "Read."}
    yield {
        "type": "user",
        "uuid": "u0",
        "isSidechain": False,
        "message": {"role": "user", "content": "Read the files."},
    }
    yield {"type": "attachment", "uuid": "a0", "attachment": {"type": "environment"}}
    for number in range(ROUNDS):
        reply = {"id": f"msg_{number}", "role": "assistant"}
        text, use = {"type": "text", "text": f"I read {number}."}, tool_use(number)
        yield {"type": "assistant", "uuid": f"t{number}", "message": {**reply, "content": [text]}}
        yield {"type": "assistant", "uuid": f"c{number}", "message": {**reply, "content": [use]}}
        result = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": f"content {number} " * 40}
        yield {"type": "user", "uuid": f"r{number}", "message": {"role": "user", "content": [result]}}
    yield {"type": "assistant", "uuid": "end", "message": {"id": "m", "role": "assistant", "content": said("Done.")}}


def said(text):
    return [{"type": "text", "text": text}]


def tool_use(number):
    return {"type": "tool_use", "id": f"call_{number}", "name": "Bash", "input": {"command": f"cat {number}"}}


def codex():
    meta = {"id": "thread", "cwd": "here", "base_instructions": {"text": "You are Codex."}}
    yield {"timestamp": "2026-11-23T22:58:39.055Z", "type": "session_meta", "payload": meta}
    yield item({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Read the files."}]})
    for number in range(ROUNDS):
        called = {"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": f"call_{number}"}
        yield item(called)
        yield {"type": "event_msg", "payload": {"type": "token_count"}}
        yield item({"type": "function_call_output", "call_id": f"call_{number}", "output": f"content {number} " * 40})
    yield item({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]})


def item(payload):
    return {"timestamp": "2026-11-23T22:58:40.000Z", "type": "response_item", "payload": payload}


def pi():
    yield {"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-23T22:59:29.312Z", "cwd": "here"}
    yield {"type": "model_change", "id": "0", "parentId": None, "modelId": "gpt-4o"}
    yield entry("u", "0", {"role": "user", "content": said("Read the files.")})
    last = "u"
    for number in range(ROUNDS):
        called = {
            "type": "toolCall",
            "id": f"call_{number}|fc_{number}",
            "name": "bash",
            "arguments": {"command": "cat"},
        }
        yield entry(f"c{number}", last, {"role": "assistant", "content": [called], "timestamp": 1795474769869})
        result = {"role": "toolResult", "toolCallId": f"call_{number}|fc_{number}", "toolName": "bash"}
        yield entry(
            f"r{number}", f"c{number}", {**result, "content": said(f"content {number} " * 40), "isError": False}
        )
        last = f"r{number}"
    yield entry("end", last, {"role": "assistant", "content": said("Done.")})


def entry(key, parent, message):
    return {"type": "message", "id": key, "parentId": parent, "message": message}


def gemini():
    yield {"sessionId": "s", "projectHash": "h", "startTime": "2026-11-23T23:02:14.495Z", "kind": "main"}
    first = {
        "id": "0",
        "timestamp": "2026-11-23T23:02:14.524Z",
        "type": "user",
        "content": [{"text": "<session_context>"}],
    }
    yield {"$set": {"messages": [first], "lastUpdated": "2026-11-23T23:02:14.524Z"}}
    yield {"id": "u", "type": "user", "content": [{"text": "Read the files."}]}
    for number in range(ROUNDS):
        reply = {"id": f"g{number}", "type": "gemini", "content": "", "thoughts": [], "model": "gemini-3.1-pro"}
        yield reply
        response = {
            "id": f"call_{number}",
            "name": "run_shell_command",
            "response": {"output": f"content {number} " * 40},
        }
        call = {"id": f"call_{number}", "name": "run_shell_command", "args": {"command": f"cat {number}"}}
        yield {**reply, "toolCalls": [{**call, "result": [{"functionResponse": response}], "status": "success"}]}
        yield {"id": f"r{number}", "type": "user", "content": [{"functionResponse": response}]}
        yield {"$set": {"lastUpdated": "2026-11-23T23:03:45.823Z"}}
    yield {"id": "end", "type": "gemini", "content": "Done.", "model": "gemini-3.1-pro"}


AGENTS = {"claude code": claude_code, "codex": codex, "pi": pi, "gemini cli": gemini}


@pytest.fixture(params=AGENTS)
def lines(request):
    return lines_of(AGENTS[request.param]())


def messages_in(directory):
    records = map(LogRecord.read, (directory / FILE_NAME).read_bytes().splitlines(keepends=True))
    return [record.payload for record in records if record.source == CONVERSATION.name]


def test_a_log_that_grows_and_is_cut_in_mid_line_ends_as_if_it_had_been_read_once(lines, tmp_path):
    log, directory = tmp_path / "log.jsonl", tmp_path / "own"
    whole = "".join(lines)
    with Follower(log, directory) as follower:
        assert follower.look() == 0
        for end in range(0, len(whole), 301):
            log.write_text(whole[:end])
            follower.look()
        log.write_text(whole)
        follower.look(ended=True)
        assert follower.look(ended=True) == 0
    assert messages_in(directory) == list(read_transcript(log).messages)
    assert verify(directory) == ()
    with SessionReader(directory) as reader:
        assert reader.search("content 3")
        assert [each.what for each in reader.history()] == []


def test_a_reply_is_taken_once_it_is_whole_and_the_last_one_when_the_log_is_quiet(lines, tmp_path):
    log, directory = tmp_path / "log.jsonl", tmp_path / "own"
    log.write_text("".join(lines))
    with Follower(log, directory) as follower:
        follower.look(now=0.0)
        assert "Done." not in str(messages_in(directory)[-1])
        follower.look(now=1.0)
        assert "Done." not in str(messages_in(directory)[-1])
        assert follower.look(now=QUIET_SECONDS) > 0
        assert "Done." in str(messages_in(directory)[-1])
        assert follower.look(now=100.0) == 0


def test_following_goes_on_where_another_process_left_off(lines, tmp_path):
    log, directory = tmp_path / "log.jsonl", tmp_path / "own"
    for end in range(1, len(lines) + 1):
        log.write_text("".join(lines[:end]))
        with Follower(log, directory) as follower:
            follower.look()
    with Follower(log, directory) as follower:
        follower.look(ended=True)
    assert messages_in(directory) == list(read_transcript(log).messages)
    assert verify(directory) == ()


def test_of_a_rotated_log_what_was_there_stays_to_be_found(tmp_path):
    log, directory = tmp_path / "log.jsonl", tmp_path / "own"
    log.write_text("".join(lines_of(claude_code())))
    with Follower(log, directory) as follower:
        follower.look(ended=True)
        log.rename(tmp_path / "log.1")
        assert follower.look() == 0
        other = {"type": "user", "uuid": "x", "message": {"role": "user", "content": "Now marmalade."}}
        log.write_text(json.dumps(other) + "\n")
        assert follower.look(ended=True) == 1
    with SessionReader(directory) as reader:
        assert reader.search("marmalade")
        assert reader.search('"content 2"')
        assert "marmalade" in str(reader.window().messages)
    assert verify(directory) == ()


def test_a_log_cut_back_goes_on_from_there(tmp_path):
    log, directory = tmp_path / "log.jsonl", tmp_path / "own"
    lines = lines_of(claude_code())
    log.write_text("".join(lines))
    other = {"type": "user", "uuid": "x", "message": {"role": "user", "content": "Rather marmalade."}}
    with Follower(log, directory) as follower:
        follower.look(ended=True)
        log.write_text("".join(lines[:6]) + json.dumps(other) + "\n")
        follower.look(ended=True)
    with SessionReader(directory) as reader:
        window = str(reader.window().messages)
    assert ("marmalade" in window, "content 0" in window, "content 3" in window) == (True, True, False)
    assert verify(directory) == ()


@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"{", b'{"v": 99, "kind": "frame", "data": "AAAA"}\n', b"\x00\xff" * 500, b"[1, 2]\n", b"null\n"],
)
def test_a_log_of_an_unknown_version_is_waited_for(content, tmp_path):
    log, directory = tmp_path / "log.jsonl", tmp_path / "own"
    log.write_bytes(content)
    with Follower(log, directory) as follower:
        assert follower.look(ended=True) == 0
        assert follower.session is None
        log.write_text("".join(lines_of(claude_code())))
        assert follower.look(ended=True) > 0


def test_lines_of_an_unknown_kind_between_known_ones_are_passed_over(tmp_path):
    log = tmp_path / "log.jsonl"
    odd = ["{broken\n", '{"type": "user"}\n', '{"type": "user", "message": {"role": "user", "content": 7}}\n', "[]\n"]
    known = lines_of(claude_code())
    log.write_text("".join(line for pair in zip(known, odd * 9, strict=False) for line in pair))
    with Follower(log, tmp_path / "own") as follower:
        follower.look(ended=True)
    clean = tmp_path / "clean.jsonl"
    clean.write_text("".join(known))
    assert messages_in(tmp_path / "own") == list(read_transcript(clean).messages)


def test_a_directory_of_something_else_is_refused(tmp_path):
    one, other, directory = tmp_path / "one.jsonl", tmp_path / "other.jsonl", tmp_path / "own"
    for log in (one, other):
        log.write_text("".join(lines_of(claude_code())))
    with Follower(one, directory) as follower:
        follower.look(ended=True)
    with pytest.raises(LogError, match=r"follows .*one\.jsonl, not .*other\.jsonl"):
        Follower(other, directory)
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "notes.txt").write_text("mine")
    with pytest.raises(LogError, match="is not empty"):
        Follower(one, tmp_path / "used")


def test_an_interrupted_call_is_taken_when_the_user_goes_on():
    form = format_named("anthropic")
    user, call = {"role": "user", "content": "Go."}, {"role": "assistant", "content": [tool_use(0)]}
    again = {"role": "user", "content": "Rather stop."}
    assert settled([user, call], form, is_quiet=True) == 1
    assert settled([user, call, again], form, is_quiet=True) == 3
    assert settled([user, {"role": "assistant", "content": "Yes."}], form, is_quiet=False) == 1


# -- opencode ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def opencode(tmp_path):
    """A file as opencode 1.18 writes it, with a session, and one that is older; another process has it open."""
    path = tmp_path / "opencode.db"
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE session (id TEXT, parent_id TEXT, time_updated INTEGER)")
    database.execute("CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)")
    database.execute("CREATE TABLE part (id TEXT, message_id TEXT, data TEXT)")
    database.executemany(
        "INSERT INTO session VALUES (?, ?, ?)", [("old", None, 1), ("new", None, 2), ("sub", "new", 3)]
    )
    add(database, "old", "m0", 1, "user", {"type": "text", "text": "Long ago."})
    add(database, "new", "m1", 2, "user", {"type": "text", "text": "Read the files."})
    yield path, database
    database.close()


def add(database, session, key, time, role, *parts):
    database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (key, session, time, json.dumps({"role": role})))
    rows = [(f"{key}{number}", key, json.dumps(part)) for number, part in enumerate(parts)]
    database.executemany("INSERT INTO part VALUES (?, ?, ?)", rows)
    database.commit()


def tool(number, status, **state):
    state = {"status": status, "input": {"command": f"cat {number}"}, **state}
    return {"type": "tool", "tool": "bash", "callID": f"call_{number}", "state": state}


def test_the_newest_session_of_opencode_is_followed_while_it_is_written(opencode, tmp_path):
    path, database = opencode
    with Follower(path, tmp_path / "own") as follower:
        follower.look()
        add(database, "new", "m2", 3, "assistant", {"type": "step-start"}, tool(1, "running"))
        follower.look(ended=True)
        assert len(messages_in(tmp_path / "own")) == 1
        done = json.dumps(tool(1, "completed", output="content 1"))
        database.execute("UPDATE part SET data = ? WHERE id = 'm21'", (done,))
        database.execute("UPDATE session SET time_updated = 9 WHERE id = 'old'")
        add(database, "new", "m3", 4, "assistant", tool(2, "error", error="no such file"))
        follower.look(ended=True)
    roles = [message["role"] for message in messages_in(tmp_path / "own")]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    with SessionReader(tmp_path / "own") as reader:
        assert [hit.tool for hit in reader.search("content 1")][:1] == ["bash"]
        assert reader.search("Long ago") == ()
    with Follower(path, tmp_path / "own") as follower:
        assert follower.look(ended=True) == 0  # still the one that was chosen first


def test_a_session_of_opencode_is_named_and_another_programs_database_refused(opencode, tmp_path):
    path, _ = opencode
    assert read_transcript(path, session="old").messages[0]["content"][0]["text"] == "Long ago."
    other = tmp_path / "other.db"
    sqlite3.connect(other).execute("CREATE TABLE t (x)")
    with Follower(other, tmp_path / "own") as follower:
        assert follower.look(ended=True) == 0


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_command_follows_until_a_signal_and_search_and_report_work_meanwhile(tmp_path):
    log, directory = tmp_path / "log.jsonl", tmp_path / "own"
    lines = lines_of(claude_code())
    log.write_text("".join(lines[:6]))
    command = [sys.executable, "-m", "ctxgc", "adopt", str(log), str(directory), "--follow"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ}) as started:  # noqa: S603 - ours
        assert started.stderr.readline().startswith("following ")
        assert started.stderr.readline().endswith(" messages\n")
        with SessionReader(directory) as reader:
            assert reader.search("content 0")
        log.write_text("".join(lines))
        started.send_signal(signal.SIGTERM)
        assert started.wait(30) == 0
    assert messages_in(directory) == list(read_transcript(log).messages)
