"""
Claude Code and Codex, as they are installed, with the MCP server and the plugin inside them, against a scripted
provider on loopback: ``make clients`` installs the agents and runs these tests; without them they skip.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import time

import pytest
from ctxgc.following import Follower

from gc_core.errors import TranscriptError
from tests.support.real_client import CLIENTS, RESULT, ROOT, alone
from tests.support.standin import DONE
from tests.test_real_clients import is_alone_possible

pytestmark = pytest.mark.slow

LOGS = {
    "claude": ".claude/projects/*/*.jsonl",
    "codex": ".codex/sessions/*/*/*/rollout-*.jsonl",
    "gemini": ".gemini/tmp/*/chats/*.json*",
    "pi": ".pi/agent/sessions/**/*.jsonl",
    "opencode": ".local/share/opencode/opencode.db",
}
RULE = "Never touch billing.py"


def bash(number):
    return ["Bash", {"command": f"cat big_{number}.txt", "description": "Reads a file."}]


def shell(number):
    return ["exec_command", {"cmd": f"cat big_{number}.txt"}]


def claude(name, **arguments):
    return [f"mcp__plugin_gc_gc__{name}", arguments]


def codex(name, **arguments):
    return [f"mcp__gc/{name}", arguments]


@pytest.fixture(autouse=True)
def network():
    if not is_alone_possible():
        pytest.skip("a network namespace is not permitted here")


def driven(client, way, script, folder, **variables):
    if not CLIENTS[client].is_installed:
        pytest.skip(f"{client} is not installed: make clients")
    folder.mkdir()
    command = [sys.executable, "-m", "tests.support.real_agent", client, way, json.dumps(script), str(folder)]
    environment = {**os.environ, **variables}
    subprocess.run(alone(command), cwd=ROOT, env=environment, check=True, timeout=250)  # noqa: S603 - our own
    found = json.loads((folder / RESULT).read_text())
    assert found["status"] == 0, (found["stderr"], found["stdout"], found["tokens"])
    return found


def texts_of(body):
    """Every text of a request, in order: what was said, asked, and answered."""
    for message in body.get("messages") or body.get("input") or ():
        content = next((message[key] for key in ("content", "output", "arguments") if message.get(key)), "")
        for block in content if isinstance(content, list) else [content]:
            if isinstance(block, str):
                yield block
                continue
            inner = block.get("content")
            for each in inner if isinstance(inner, list) else [inner or block.get("text") or ""]:
                yield each if isinstance(each, str) else each.get("text", "")


def ever_told(found):
    """Every text of every request: what a collection left out later was told before."""
    return [text for body in found["bodies"] for text in texts_of(body)]


@pytest.mark.parametrize("way", ["plugin", "gateway"])
def test_claude_code_looks_back_pins_and_notes_with_and_without_the_gateway(way, tmp_path):
    looks = [claude("gc_status"), claude("gc_search", query="needle2"), claude("gc_recall", reference="toolu_call_1")]
    changes = [claude("gc_note", text="Ada owns it."), claude("gc_undo")]
    script = [*(bash(number) for number in range(1, 20)), *looks, *changes, bash(30)]
    found = driven("claude", way, script, tmp_path / way)
    told = ever_told(found)
    (recalled,) = {text for text in told if text.startswith("needle1 line 0 ") and "go on with" in text}
    assert "needle1 line 600 of the file" in recalled
    assert any(" turn 0 Bash tool result: needle2" in text for text in told)
    assert any("held by: " in text for text in told)
    assert any(text.startswith("noted: ") for text in told)
    answers = ("nothing was undone: the user declined", "nothing was collected here that could be undone", "undone: ")
    assert any(answer in text for text in told for answer in answers)
    shortened = [text for text in told if text.endswith('all of it: gc_recall reference="toolu_call_19"]')]
    assert "AssertionError: refused 19" in shortened[0]
    if way == "gateway":
        assert "collections" in found["stderr"]
        assert any("Ada owns it." in text and text.startswith("<context ") for text in told)


def test_claude_code_behind_the_gateway_pins_and_undoes_when_its_user_agrees(tmp_path):
    looks = [claude("gc_pin", item="i5"), claude("gc_undo"), claude("gc_status")]
    script = [*(bash(number) for number in range(1, 20)), *looks, bash(30)]
    told = ever_told(driven("claude", "gateway", script, tmp_path / "undo", ACCEPT="1"))
    assert "i5 is pinned" in told
    (undone,) = {text for text in told if text.startswith("undone: ")}
    assert re.search(r"collected .* to .* tokens; \d+ items came back \(i\d+, .* of 36,000 tokens now$", undone)
    (status,) = {text for text in told if " of 36,000 tokens by the provider" in text}
    assert "pinned: i5, " in status


def test_after_claude_codes_own_compaction_rules_and_an_index_are_back(tmp_path):
    script = [*(bash(number) for number in range(1, 21)), claude("gc_recall", reference="i1")]
    found = driven("claude", "plugin", script, tmp_path / "compacted", LIMIT="36000")
    assert found["summaries"] > 0
    asked = next(at for at, body in enumerate(found["bodies"]) if "TEXT ONLY" in [*texts_of(body)][-1])
    prompt = [*texts_of(found["bodies"][asked])][-1]
    assert RULE in prompt
    assert "What can be read again" in prompt
    after = "\n".join(texts_of(found["bodies"][asked + 1]))
    assert RULE in after
    assert "gc_search finds it, gc_recall shows it" in after
    assert "Read the files. Never touch billing.py." in [*texts_of(found["bodies"][-1])]


@pytest.mark.parametrize(("way", "is_stopped"), [("plugin", False), ("gateway", True)])
def test_claude_codes_automatic_compaction_is_stopped_while_the_gateway_holds_the_window(way, is_stopped, tmp_path):
    script = [bash(number) for number in range(1, 20)]
    found = driven("claude", way, script, tmp_path / way, COMPACT_AT="100000", COMPACT_PERCENT="35")
    assert ('"decision": "block"' in found["hooks"]) == is_stopped
    assert (found["summaries"] == 0) == is_stopped
    assert ("collections" in found["stderr"]) == is_stopped
    assert "All files were read." in found["stdout"]


def test_results_of_50_mb_and_binary_ones_are_no_harm_to_claude_code(tmp_path):
    odd = [
        ["Bash", {"command": command, "description": "Prints."}]
        for command in ("head -c 50000000 /dev/zero | tr '\\0' x", "head -c 20000 /dev/urandom")
    ]
    found = driven("claude", "plugin", [*odd, bash(1), claude("gc_recall", reference="toolu_call_3")], tmp_path / "odd")
    assert any("needle1 line 600 of the file" in text for text in texts_of(found["bodies"][-1]))


def test_codex_looks_back_pins_and_notes_behind_the_gateway(tmp_path):
    looks = [codex("gc_status"), codex("gc_search", query="needle2"), codex("gc_recall", reference="i5")]
    changes = [codex("gc_pin", item="i5"), codex("gc_undo"), codex("gc_note", text="Ada owns it.")]
    script = [*(shell(number) for number in range(1, 15)), *looks, *changes, shell(30)]
    found = driven("codex", "gateway", script, tmp_path / "codex", LIMIT="40000")
    told = ever_told(found)
    assert "Read the files. Never touch billing.py." in told
    assert any(" turn 0 exec_command tool result: " in text for text in told)
    assert any("held by: " in text for text in told)
    assert any(text.startswith("noted: ") for text in told)
    assert "i5 is pinned" in told
    assert "nothing was undone: the user declined" in told  # codex exec asks nobody, and says no
    assert any("Ada owns it." in text and text.startswith("<context ") for text in told)


def test_what_ctxgc_setup_writes_is_what_claude_code_reads(tmp_path):
    script = [*(bash(number) for number in range(1, 4)), ["mcp__gc__gc_recall", {"reference": "toolu_call_2"}]]
    told = ever_told(driven("claude", "setup", script, tmp_path / "set_up"))
    assert any(text.endswith('gc_recall reference="toolu_call_2"]') for text in told)
    assert any("needle2 line 600 of the file" in text for text in told)


@pytest.mark.parametrize(("way", "prefix", "server"), [("plugin", "gc:", "plugin_gc_gc"), ("setup", "", "gc")])
def test_the_commands_reach_the_model_and_its_answer_is_the_servers(way, prefix, server, tmp_path):
    look, told = [f"mcp__{server}__gc_status", {}], f"/{prefix}gc"
    told = ever_told(driven("claude", way, [bash(1), look], tmp_path / "status", TASK=told))
    assert any(text.startswith("Call the tool gc_status of the MCP server gc") for text in told)
    assert any(re.match(r"[\d,]+ tokens.*\nheld by: ", text) for text in told)
    look = [f"mcp__{server}__gc_recall", {"reference": "toolu_call_1"}]
    told = ever_told(
        driven("claude", way, [bash(1), look], tmp_path / "recall", TASK=f"/{prefix}gc-recall toolu_call_1")
    )
    assert any(text.startswith("Arguments: toolu_call_1\n") for text in told)
    assert any(text.startswith("needle1 line 0 of the file") and "go on with" in text for text in told)


def test_what_ctxgc_setup_writes_is_what_codex_reads(tmp_path):
    script = [shell(1), shell(2), codex("gc_search", query="needle1"), codex("gc_recall", reference="i4")]
    told = ever_told(driven("codex", "setup", script, tmp_path / "set_up"))
    assert any(" turn 0 exec_command tool result: " in text for text in told)


def test_after_codexs_own_compaction_rules_and_an_index_are_back(tmp_path):
    script = [*(shell(number) for number in range(1, 9)), codex("gc_recall", reference="i4")]
    found = driven("codex", "profile", script, tmp_path / "compacted", COMPACT_AT="24000")
    assert found["summaries"] > 0
    asked = next(at for at, body in enumerate(found["bodies"]) if "CHECKPOINT" in [*texts_of(body)][-1])
    *_, after = texts_of(found["bodies"][asked + 1])
    assert RULE in after
    assert "gc_search finds it, gc_recall shows it" in after
    assert [*texts_of(found["bodies"][-1])][-1] == "Read the files. Never touch billing.py."


def test_a_sub_agent_of_claude_code_recalls_by_the_ids_that_its_own_references_name(tmp_path):
    task = {"description": "Reads.", "prompt": "Read the files, please.", "subagent_type": "general-purpose"}
    # Both agents run side by side, and whoever asks first has the next call of the script.
    looks = [claude("gc_recall", reference="{newest}")] * 4
    script = [["Agent", task], *(bash(number) for number in range(1, 25)), *looks]
    found = driven("claude", "gateway", script, tmp_path / "sub", LIMIT="36000")
    told = ever_told(found)
    named = {
        match for text in told for match in re.findall(r"mcp__plugin_gc_gc__gc_recall (i[\di-]+@[0-9a-f]{6})", text)
    }
    assert named
    answers = dict(pair for body in found["bodies"] for pair in answers_in(body, "gc_recall"))
    asked = {reference: answer for reference, answer in answers.items() if reference != "nothing"}
    assert asked
    assert set(asked) <= named
    assert not any(answer.startswith("Error") for answer in asked.values())


def test_a_sub_agent_of_codex_recalls_by_the_ids_that_its_own_references_name(tmp_path):
    spawned = ["spawn_agent", {"message": "Read the files, please.", "task_name": "reads_files"}]
    reads = [shell(number) for number in range(1, 31)]
    its = json.dumps([*reads[:5], codex("gc_recall", reference="{newest}"), *reads[5:7]])
    found = driven("codex", "gateway", [spawned, *reads], tmp_path / "sub", LIMIT="30000", OF_AGENTS=its)
    of_sub_agent = [body for body in found["bodies"] if "Read the files, please." in json.dumps(body["input"][:6])]
    recalled = dict(pair for body in of_sub_agent for pair in recalled_in(body["input"]))
    assert recalled
    assert all(re.fullmatch(r"i[\di-]+@[0-9a-f]{6}", reference) for reference in recalled)
    assert all(answer.startswith(f"{reference} has ") for reference, answer in recalled.items())
    assert all(re.search(r'\ni6@[0-9a-f]{6} .*"cmd cat big_1.txt"', answer) for answer in recalled.values())


def recalled_in(items):
    """The references that Codex's calls of gc_recall named, each with what was answered."""
    outputs = {each["call_id"]: each["output"] for each in items if each.get("type") == "function_call_output"}
    for each in items:
        if each.get("type") == "function_call" and each["name"] == "gc_recall" and each["call_id"] in outputs:
            yield json.loads(each["arguments"])["reference"], outputs[each["call_id"]][-1]["text"]


def answers_in(body, tool):
    """The references that calls of a tool named, each with what was answered."""
    blocks = [
        block for message in body.get("messages") or () for block in message["content"] if isinstance(block, dict)
    ]
    results = {block["tool_use_id"]: block for block in blocks if block["type"] == "tool_result"}
    for block in blocks:
        if block["type"] == "tool_use" and block["name"].endswith(tool) and block["id"] in results:
            content = results[block["id"]]["content"]
            yield block["input"]["reference"], content if isinstance(content, str) else content[0]["text"]


@pytest.fixture
def plugin_of_opencode():
    if not (ROOT / "agents" / "opencode" / "node_modules").is_dir():
        pytest.skip("the plugin's dependencies are not installed: make opencode-plugin")


def opencode_reads(number):
    return ["bash", {"command": f"cat big_{number}.txt", "description": "Reads."}]


@pytest.mark.usefixtures("plugin_of_opencode")
def test_the_plugin_of_opencode_passes_its_own_tests_in_node():
    command = ["npm", "test", "--prefix", "agents/opencode", "--silent"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "# fail 0" in ended.stdout


@pytest.mark.usefixtures("plugin_of_opencode")
def test_opencode_reads_back_what_its_plugin_shortened(tmp_path):
    script = [*(opencode_reads(number) for number in range(1, 4)), ["gc_recall", {"reference": "toolu_call_2"}]]
    told = ever_told(driven("opencode", "plugin", script, tmp_path / "opencode"))
    assert any(text.endswith('gc_recall reference="toolu_call_2"]') for text in told)
    assert any("needle2 line 600 of the file" in text for text in told)


@pytest.mark.usefixtures("plugin_of_opencode")
def test_opencodes_own_compaction_is_told_to_keep_rules_and_what_can_be_read_back(tmp_path):
    script = [*(opencode_reads(number) for number in range(1, 12)), ["gc_recall", {"reference": "toolu_call_2"}]]
    found = driven("opencode", "plugin", script, tmp_path / "opencode", COMPACT_AT="20000")
    asked = [text for text in ever_told(found) if "Keep every rule that the user" in text]
    assert asked
    assert "toolu_call_2" in asked[0]
    assert any("needle2 line 600 of the file" in text for text in ever_told(found))


@pytest.mark.usefixtures("plugin_of_opencode")
def test_opencode_with_its_plugin_and_a_gateway_ends_a_task_that_its_window_does_not_hold(tmp_path):
    script = [*(opencode_reads(number) for number in range(1, 25)), ["gc_recall", {"reference": "toolu_call_2"}]]
    found = driven("opencode", "collect", script, tmp_path / "opencode", LIMIT="24000")
    first, second = found["tokens"][1:3]
    assert first + len(script) * (second - first) > 24000 > max(found["tokens"])
    told = [*texts_of(found["bodies"][-1])]
    assert any(text.endswith('[gc: all of it: gc_recall reference="toolu_call_1"]') for text in told)
    assert any("needle2 line 600 of the file" in text for text in told)


@pytest.mark.parametrize("client", LOGS)
def test_the_log_of_an_agent_is_followed_while_it_runs(client, tmp_path):
    if not CLIENTS[client].is_installed:
        pytest.skip(f"{client} is not installed: make clients")
    folder, follower, looks = tmp_path / client, None, 0
    folder.mkdir()
    command = [sys.executable, "-m", "tests.support.real_client", client, "unlimited", "8", str(folder)]
    with contextlib.ExitStack() as stack:
        agent = stack.enter_context(subprocess.Popen(alone(command), cwd=ROOT))  # noqa: S603 - our own
        while agent.poll() is None:
            time.sleep(0.05)
            log = next(folder.glob(LOGS[client]), None)
            with contextlib.suppress(TranscriptError):  # a database that has no session yet
                if follower is None and log is not None:
                    follower = stack.enter_context(Follower(log, tmp_path / "session"))
            looks += follower is not None and follower.look() > 0
        follower.look(ended=True)
        told = "\n".join(follower.session.recall(item.id) for item in follower.session.items() if item.id[0] == "i")
        assert looks > 1
        assert all(f"{number}: word0 word1 " in told for number in range(1, 9))
        assert DONE in told


def test_the_plugin_alone_sends_fewer_tokens_and_everything_is_still_recalled(tmp_path):
    script = [*(bash(number) for number in range(1, 31)), claude("gc_recall", reference="toolu_call_7")]
    with_it = driven("claude", "plugin", script, tmp_path / "with", LIMIT="400000")
    without = driven("claude", "bare", script[:-1], tmp_path / "without", LIMIT="400000")
    sent, whole = sum(with_it["tokens"][:31]), sum(without["tokens"][:31])
    print(f"30 calls: {sent:,} tokens with the plugin, {whole:,} without")  # noqa: T201 - a figure of `make clients`
    assert sent < 0.7 * whole
    assert any("needle7 line 600 of the file" in text for text in texts_of(with_it["bodies"][-1]))
