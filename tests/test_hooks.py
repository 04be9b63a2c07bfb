"""What Claude Code's hooks answer, started as it starts them; and that nothing they meet breaks the agent."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from gc_agents.agent_folder import AgentFolder
from gc_agents.agent_sessions import AgentSessions, Places
from gc_agents.announcements import RunningGateway, announce
from gc_agents.changes import NOTE, PIN, Change
from gc_agents.conversations import Caller
from gc_agents.desk import Desk
from gc_agents.failure_log import FAILURES
from gc_agents.hook import MOST_INPUT_BYTES, answer_to
from gc_agents.live_log import LiveLog
from gc_agents.places import LONGEST

from gc_core import SessionReader
from gc_core.errors import SourceError

PLUGIN = Path(__file__).parents[1] / "agents" / "claude-code"
SESSION = "5f0c2d6e-0000-4000-8000-000000000001"
FAILED = "E   AssertionError: login of ada was refused"


def long_output():
    lines = [f"tests/test_{number}.py::test_{number} ran in {number} ms" for number in range(1_000)]
    return "\n".join([*lines[:500], FAILED, *lines[500:], "=== 1 failed, 999 passed in 12.00s ==="])


@pytest.fixture
def environ(tmp_path):
    return {"GC_AGENTS_DIRECTORY": str(tmp_path / "state"), "GC_GATEWAY_DIRECTORY": str(tmp_path / "lanes")}


@pytest.fixture
def folder(tmp_path):
    return AgentFolder.of(tmp_path / "state", "claude-code", SESSION)


def event(name, **more):
    base = {"session_id": SESSION, "transcript_path": "/nowhere/log.jsonl", "cwd": "/", "hook_event_name": name}
    return json.dumps({**base, **more}).encode()


def after(tool, response, call="toolu_1"):
    return event("PostToolUse", tool_name=tool, tool_input={}, tool_response=response, tool_use_id=call)


def bash(stdout="", stderr="", **more):
    return {"stdout": stdout, "stderr": stderr, "interrupted": False, "isImage": False, **more}


def replaced(answer):
    return json.loads(answer)["hookSpecificOutput"]["updatedToolOutput"]


def desk(tmp_path):
    places = Places(lanes=tmp_path / "lanes", followed=tmp_path / "state")
    return Desk(AgentSessions(places, {"CLAUDE_CODE_SESSION_ID": SESSION}))


# -- PostToolUse -------------------------------------------------------------------------------------------------------


def test_a_long_result_is_shortened_in_its_own_shape_with_its_failures_and_read_back_whole(environ, tmp_path):
    response = bash(long_output(), noOutputExpected=False)
    found = replaced(answer_to(after("Bash", response), environ))
    assert found.keys() == response.keys()
    assert {**found, "stdout": ""} == {**response, "stdout": ""}
    assert len(found["stdout"]) < 8_000
    assert FAILED in found["stdout"]
    assert found["stdout"].startswith("tests/test_0.py")
    assert "=== 1 failed, 999 passed" in found["stdout"]
    reference = found["stdout"].splitlines()[-1]
    assert reference.endswith('gc_recall reference="toolu_1"]')
    pages, at = [], 0
    while True:
        page = desk(tmp_path).recall(Caller(), reference, at)
        body, _, rest = page.rpartition("\n[")
        if "go on with" not in rest:
            break
        pages.append(body)
        at = int(rest.rpartition("offset=")[2].rstrip("]"))
    assert "".join([*pages, page]) == long_output()
    assert desk(tmp_path).recall(Caller(), "toolu_1").startswith("tests/test_0.py")


@pytest.mark.parametrize(
    ("tool", "response"),
    [
        ("Bash", bash("x" * LONGEST)),
        ("Bash", bash("x" * 2 * LONGEST, isImage=True)),
        ("Bash", bash("x" * 2 * LONGEST, persistedOutputPath="/nowhere/bimj.txt", persistedOutputSize=34_920)),
        ("Bash", "x" * 2 * LONGEST),
        ("Bash", ["x" * 2 * LONGEST]),
        ("Bash", {"stdout": 7, "more": "x" * 2 * LONGEST}),
        ("Bash", None),
        ("Read", {"type": "text", "file": {"filePath": "a.py", "content": "x\n" * LONGEST}}),
        ("Unheard", {"stdout": "x" * 2 * LONGEST}),
        ("mcp__gc__gc_recall", [{"type": "text", "text": "x" * 2 * LONGEST}]),
        ("mcp__other__look", {"odd": "x" * 2 * LONGEST}),
        ("mcp__other__look", [{"type": "image", "data": "x" * 2 * LONGEST}, 7, None]),
    ],
)
def test_what_is_short_of_another_shape_or_read_to_be_edited_stays_as_it_is(tool, response, environ, folder):
    assert answer_to(after(tool, response), environ) == ""
    assert folder.original("toolu_1") is None


@pytest.mark.parametrize("response", ["x\n" * LONGEST, [{"type": "text", "text": "x\n" * LONGEST}]])
def test_results_of_mcp_servers_are_shortened_too(response, environ):
    found = replaced(answer_to(after("mcp__other__look", response), environ))
    assert type(found) is type(response)
    assert len(json.dumps(found)) < 9_000


def test_binary_noise_and_lone_surrogates_are_kept_and_read_back(environ, folder):
    noise = "".join(chr(number) for number in range(32)) * 1_000 + "\ud800" * 10
    found = replaced(answer_to(after("Bash", bash(noise)), environ))
    assert len(found["stdout"]) < 9_000
    assert folder.original("toolu_1") == noise


@pytest.mark.parametrize("call", ["../../x", "", "a/b", "x" * 300, None, 7])
def test_a_crooked_id_of_a_call_or_session_writes_nothing(call, environ, tmp_path):
    with pytest.raises(ValueError, match="expected letters"):
        answer_to(after("Bash", bash(long_output()), call), environ)
    told = json.loads(after("Bash", bash(long_output())))
    with pytest.raises(ValueError, match="expected letters"):
        answer_to(json.dumps({**told, "session_id": call}).encode(), environ)
    assert not list(tmp_path.rglob("*.txt"))


def test_the_original_of_another_session_is_not_read(environ, tmp_path):
    told = json.loads(after("Bash", bash(long_output())))
    answer_to(json.dumps({**told, "session_id": "another"}).encode(), environ)
    with pytest.raises(SourceError, match="nothing is known of session"):
        desk(tmp_path).recall(Caller(), "toolu_1")


def test_originals_are_for_their_owner_alone(environ, folder):
    answer_to(after("Bash", bash(long_output())), environ)
    (path,) = (folder.path / "originals").iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


# -- compaction --------------------------------------------------------------------------------------------------------


def written(tmp_path, count=20):
    """A transcript with a rule, and calls of which the first were long ago."""
    lines = [{"type": "user", "uuid": "u", "message": {"role": "user", "content": "Fix it. Never touch billing.py."}}]
    for number in range(count):
        use = {"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {"command": f"cat {number}"}}
        lines.append({"type": "assistant", "uuid": f"a{number}", "message": {"id": f"m{number}", "role": "assistant",
                      "content": [use]}})  # fmt: skip
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"needle{number} found"}
        lines.append({"type": "user", "uuid": f"r{number}", "message": {"role": "user", "content": [result]}})
    path = tmp_path / "transcript.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def followed(environ, folder, tmp_path):
    """A session whose log the agent's own server has followed."""
    started = event("SessionStart", source="startup", transcript_path=str(written(tmp_path)))
    assert answer_to(started, environ) == ""
    live = LiveLog(folder)
    live.look()
    yield live
    live.close()


def test_rules_and_state_are_in_the_summary_prompt_and_back_after_the_compaction(followed, environ):
    prompt = answer_to(event("PreCompact", trigger="auto", custom_instructions=None), environ)
    assert "Never touch billing.py" in prompt
    path = str(followed._folder.transcript)
    context = json.loads(answer_to(event("SessionStart", source="compact", transcript_path=path), environ))
    text = context["hookSpecificOutput"]["additionalContext"]
    assert "Never touch billing.py" in text
    assert "gc_recall" in text
    assert len(text) < 20_100
    assert answer_to(event("SessionStart", source="resume", transcript_path=path), environ) == ""


def test_search_recall_notes_and_pins_work_on_the_followed_log(followed, environ, folder, tmp_path):
    sessions = AgentSessions(
        Places(lanes=tmp_path / "lanes", followed=tmp_path / "state"), {"CLAUDE_CODE_SESSION_ID": SESSION}
    )
    sessions._live[folder.session] = followed
    asked = Desk(sessions)
    hit = asked.search(Caller(), "needle3").split()[0]
    assert asked.recall(Caller(), hit) == "needle3 found"
    assert asked.change(Caller(), Change(tool=PIN, item=hit)) == f"{hit} is pinned"
    assert asked.change(Caller(), Change(tool=NOTE, text="Ada is the owner.", mode="append")).startswith("noted")
    carried = answer_to(event("PreCompact", trigger="manual"), environ)
    assert "Ada is the owner." in carried
    assert f"[{hit}] needle3 found" in carried
    with (tmp_path / "transcript.jsonl").open("a") as log:
        said = {"type": "user", "uuid": "x", "message": {"role": "user", "content": "And marmalade."}}
        log.write(json.dumps(said) + "\n")
    assert "marmalade" in asked.search(Caller(), "marmalade")
    with SessionReader(folder.session) as reader:
        assert reader.recall(hit) == "needle3 found"


def test_what_was_shortened_is_found_and_recalled_whole_in_the_followed_log(environ, folder, tmp_path):
    path = written(tmp_path, 2)
    answer_to(event("SessionStart", source="startup", transcript_path=str(path)), environ)
    short = replaced(answer_to(after("Bash", bash(long_output()), "c1"), environ))["stdout"]
    lines = path.read_text().splitlines()
    lines[-1] = lines[-1].replace("needle1 found", json.dumps(short)[1:-1])
    path.write_text(
        "\n".join(
            [*lines, json.dumps({"type": "user", "uuid": "x", "message": {"role": "user", "content": "Go on."}}), ""]
        )
    )
    live = LiveLog(folder)
    live.look()
    live.close()
    asked = desk(tmp_path)
    hit = asked.search(Caller(), "test_777")
    assert hit.startswith("i5 ")
    assert asked.recall(Caller(), "i5").startswith(long_output()[:1_000])


@pytest.mark.usefixtures("followed")
def test_an_automatic_compaction_is_stopped_while_a_gateway_keeps_the_window(environ, tmp_path):
    url = "http://127.0.0.1:4711/token"
    announce(tmp_path / "lanes", RunningGateway(url=url, process=os.getpid()))
    behind = {**environ, "ANTHROPIC_BASE_URL": url}
    stopped = json.loads(answer_to(event("PreCompact", trigger="auto"), behind))
    assert stopped["decision"] == "block"
    by_hand = answer_to(event("PreCompact", trigger="manual"), behind)
    assert "Never touch billing.py" in by_hand
    assert "What can be read again" not in by_hand  # the gateway has other ids
    elsewhere = {**environ, "ANTHROPIC_BASE_URL": "https://api.anthropic.com"}
    assert not answer_to(event("PreCompact", trigger="auto"), elsewhere).startswith("{")


def test_without_anything_kept_a_compaction_is_left_alone(environ):
    assert answer_to(event("PreCompact", trigger="auto"), environ) == ""
    assert answer_to(event("SessionStart", source="compact"), environ) == ""


def test_on_a_full_disk_the_server_reads_what_it_has_and_follows_on_once_there_is_room(
    followed, tmp_path, monkeypatch, caplog
):
    def write(_handle, _data, _place):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("gc_core.storage.file_handle.write_at", write)
        with (tmp_path / "transcript.jsonl").open("a") as log:
            said = {"type": "user", "uuid": "x", "message": {"role": "user", "content": "And marmalade."}}
            log.write(json.dumps(said) + "\n")
        followed.look()
        assert "No space left on device" in caplog.text
        assert "log not followed: " in (tmp_path / "state" / FAILURES).read_text()
        assert "needle3" in desk(tmp_path).search(Caller(), "needle3")
    followed.look()
    assert "marmalade" in desk(tmp_path).search(Caller(), "marmalade")


@pytest.mark.usefixtures("followed")
def test_two_servers_of_one_session_agree_on_one_writer(folder, tmp_path):
    other = LiveLog(folder)
    other.look()
    assert other.session is None
    assert "needle3" in desk(tmp_path).search(Caller(), "needle3")


# -- Codex -------------------------------------------------------------------------------------------------------------

THREAD = "0199aaaa-0000-7000-8000-000000000002"


def rollout(tmp_path):
    said = [
        ("message", {"role": "user", "content": [{"type": "input_text", "text": "Fix it. Never touch billing.py."}]}),
        ("function_call", {"call_id": "c1", "name": "exec_command", "arguments": '{"cmd": "cat a.py"}'}),
        ("function_call_output", {"call_id": "c1", "output": "needle1 found"}),
        ("message", {"role": "assistant", "content": [{"type": "output_text", "text": "I go on."}]}),
    ]
    lines = [{"type": "session_meta", "payload": {"id": THREAD, "cwd": "/"}}]
    lines += [{"type": "response_item", "payload": {"type": kind, **more}} for kind, more in said]
    lines.append({"type": "compacted", "payload": {"message": "The files were read."}})
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def of_codex(path, source):
    told = {"session_id": THREAD, "transcript_path": str(path), "hook_event_name": "SessionStart", "source": source}
    return json.dumps(told).encode()


def test_after_codexs_compaction_rules_and_state_are_back(environ, tmp_path):
    path = rollout(tmp_path)
    assert answer_to(of_codex(path, "startup"), environ, "codex") == ""
    text = json.loads(answer_to(of_codex(path, "compact"), environ, "codex"))["hookSpecificOutput"]["additionalContext"]
    assert "Never touch billing.py" in text
    assert "needle1 found" in text
    sessions = AgentSessions(Places(lanes=tmp_path / "lanes", followed=tmp_path / "state"), {})
    assert Desk(sessions).recall(Caller(thread=THREAD), "i1") == "Fix it. Never touch billing.py."
    sessions.close()


def test_a_session_of_codex_with_a_lane_of_a_gateway_is_left_to_the_gateway(environ, tmp_path):
    lane = tmp_path / "lanes" / "ab-01"
    lane.mkdir(parents=True)
    (lane / "lane.json").write_text(json.dumps({"name": f"codex:{THREAD}", "parent": ""}))
    assert answer_to(of_codex(rollout(tmp_path), "compact"), environ, "codex") == ""
    assert not (tmp_path / "state").exists()


def test_an_unknown_agent_is_refused(environ, tmp_path):
    with pytest.raises(ValueError, match="expected nothing, or codex"):
        answer_to(of_codex(tmp_path, "startup"), environ, "../x")


# -- as Claude Code starts them ----------------------------------------------------------------------------------------


def started(given, environ):
    keep = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ}
    command = [sys.executable, "-m", "gc_agents.hook"]
    return subprocess.run(command, input=given, env={**keep, **environ}, capture_output=True, check=False)  # noqa: S603 - ours


@pytest.mark.parametrize(
    "given",
    [
        b"", b"{", b"null", b"[]", b"{}", b"\xff\xfe", b"[" * 100_000, event("PostToolUse"), event("PreCompact")[:-9],
        b'{"a": "' + b"x" * MOST_INPUT_BYTES + b'"}',
    ],
)  # fmt: skip
def test_whatever_comes_in_the_agent_goes_on_and_the_log_says_what_happened(given, environ, tmp_path):
    ended = started(given, environ)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    if given != event("PostToolUse"):
        (line,) = (tmp_path / "state" / FAILURES).read_text().splitlines()
        assert "Error: " in line
        assert len(line) <= 500


def test_an_answer_is_utf_8_whatever_the_systems_encoding_is(environ, folder):
    folder.carry("Grüße zuerst ☃")
    ended = started(event("PreCompact", trigger="manual"), {**environ, "PYTHONIOENCODING": "cp1252"})
    assert ended.stdout.decode().endswith("Grüße zuerst ☃")


def test_of_a_result_of_50_mb_only_the_beginning_is_read_and_it_stays_as_it_is(environ, tmp_path):
    ended = started(after("Bash", bash("\0\x1b[31mnoise" * 4_000_000)), environ)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert "an input of more than 1,000,000 bytes" in (tmp_path / "state" / FAILURES).read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_on_a_full_disk_the_result_stays_as_it_is(environ, tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "claude-code").symlink_to("/dev/full")
    (tmp_path / "state" / FAILURES).symlink_to("/dev/full")
    ended = started(after("Bash", bash(long_output())), environ)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_the_plugin_names_an_entry_point_and_leaves_an_agent_alone_that_has_none():
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    assert sorted(hooks) == ["PostToolUse", "PreCompact", "SessionStart"]
    for (entry,) in hooks.values():
        (hook,) = entry["hooks"]
        bare = {"PATH": "/usr/bin:/bin"}
        ended = subprocess.run(["sh", "-c", hook["command"]], input=b"{}", env=bare, capture_output=True, check=False)  # noqa: S603, S607
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    servers = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]
    assert [servers["gc"]["command"], *servers["gc"]["args"]] == ["ctxgc", "mcp"]


@pytest.mark.slow
def test_each_hook_takes_less_than_150_ms_of_the_processor_start_up_included(environ, tmp_path):
    path = str(written(tmp_path))
    inputs = {
        "short result": after("Bash", bash("hello")),
        "long result": after("Bash", bash(long_output())),
        "very long result": after("Bash", bash("an error in a line of words\n" * 30_000)),
        "compaction": event("PreCompact", trigger="auto"),
        "start": event("SessionStart", source="compact", transcript_path=path),
    }
    for name, given in inputs.items():
        spent = min(processor_time(given, environ) for _ in range(5))
        print(f"{name}: {1000 * spent:.0f} ms")  # noqa: T201 - `make clients` shows it
        assert spent < 0.15, name


def processor_time(given, environ):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started(given, {**environ, "PYTHONPYCACHEPREFIX": environ["GC_AGENTS_DIRECTORY"] + "-bytecode"})
    after_it = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after_it.ru_utime + after_it.ru_stime - before.ru_utime - before.ru_stime
