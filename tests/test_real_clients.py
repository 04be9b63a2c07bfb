"""
Real agents, as they are installed, behind ``ctxgc run``: each ends a task that does not fit its provider's window.

``make clients`` installs the agents and runs these tests; without them they skip. Nothing but loopback is reached.
"""

import json
import shutil
import subprocess
import sys

import pytest

from tests.support.real_client import CALLS, CLIENTS, LIMIT, RESULT, ROOT, TALKER, TASK, alone
from tests.support.standin import DONE, OF_AGENTS

pytestmark = pytest.mark.slow


def is_alone_possible():
    """Whether this user may make a network namespace, and bring up its loopback."""
    if not shutil.which("unshare") or not shutil.which("ip"):
        return False
    return subprocess.run(alone(["true"]), capture_output=True, check=False).returncode == 0  # noqa: S603 - our own


def usable(name):
    if not CLIENTS.get(name, TALKER).is_installed:
        pytest.skip(f"{name} is not installed: make clients")
    if not is_alone_possible():
        pytest.skip("a network namespace is not permitted here")
    return name


@pytest.fixture(params=CLIENTS)
def client(request):
    return usable(request.param)


@pytest.fixture(params=[name for name, each in CLIENTS.items() if each.resumes])
def agent(request):
    """A client that names its conversations, goes on with them, and has sub-agents."""
    return usable(request.param)


def driven(client, way, folder, calls=CALLS):
    """What the provider saw, and how the agent ended. What it leaves running ends with it."""
    folder.mkdir()
    command = [sys.executable, "-m", "tests.support.real_client", client, way, str(calls), str(folder)]
    subprocess.run(alone(command), cwd=ROOT, check=True, timeout=600)  # noqa: S603 - our own
    return json.loads((folder / RESULT).read_text())


def refused(result):
    return [seen for seen in result["seen"] if seen["status"] == 400]


def test_without_the_gateway_the_task_fails_or_the_client_compacts(client, tmp_path):
    result = driven(client, "direct", tmp_path / "direct")
    assert refused(result)
    assert result["status"] != 0 or DONE not in result["stdout"] or TASK.format(calls=CALLS) not in result["last"]


def test_behind_the_gateway_every_request_fits_and_the_task_ends(client, tmp_path):
    result = driven(client, "gateway", tmp_path / "gateway")
    assert result["status"] == 0, result["stderr"]
    assert DONE in result["stdout"]
    assert refused(result) == []
    assert max(seen["tokens"] for seen in result["seen"]) <= LIMIT
    assert result["replies"] == CALLS + 1
    assert "big_1.txt to big_60.txt" in result["last"]
    calls, saved, report = result["stderr"].splitlines()[-3:]
    assert calls.startswith(f"ctxgc: {CALLS + 1} calls, ")
    assert "input tokens" in saved
    assert report.startswith("ctxgc: report: ")


def lanes_in(folder):
    return [json.loads(path.read_text()) for path in (folder / "lanes").glob("*/lane.json")]


def test_a_sub_agent_has_a_lane_of_its_own_that_names_its_parent(agent, tmp_path):
    result = driven(agent, "sub-agents", tmp_path / "run")
    assert result["status"] == 0, result["stderr"]
    assert refused(result) == []
    assert sum(bool(seen["agent"]) for seen in result["seen"]) > OF_AGENTS
    main, other = sorted(lanes_in(tmp_path / "run"), key=lambda lane: bool(lane["parent"]))
    assert main["parent"] == ""
    assert other["parent"] == main["name"] != other["name"]


def test_a_resumed_session_goes_on_in_its_lane_also_after_the_gateway_was_restarted(agent, tmp_path):
    result = driven(agent, "resumed", tmp_path / "run", calls=25)
    assert result["status"] == 0, result["stderr"]
    assert refused(result) == []
    assert result["stdout"].count(DONE) >= 3
    assert len(lanes_in(tmp_path / "run")) == 1
    assert result["last"].count("big_1.txt to big_25.txt") == 1
    for start in result["starts"][1:]:
        before = [seen for seen in result["seen"][:start] if seen["tokens"]][-1]
        first = next(seen for seen in result["seen"][start:] if seen["tokens"])
        assert (
            first["read"] >= 0.8 * before["tokens"]
        )  # what was sent before the client ended is sent in the same words


def test_an_agent_without_tools_is_passed_through(tmp_path):
    result = driven(usable("aider"), "gateway", tmp_path / "run")
    assert result["status"] == 0, result["stderr"]
    assert DONE in result["stdout"]
    assert refused(result) == []
    assert "ctxgc: 0 calls" not in result["stderr"]
