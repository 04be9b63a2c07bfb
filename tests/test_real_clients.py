"""
Real agents, as they are installed, behind ``ctxgc run``: each ends a task that does not fit its provider's window.

``make clients`` installs the agents and runs these tests; without them they skip. Nothing but loopback is reached.
"""

import json
import shutil
import subprocess
import sys

import pytest

from tests.support.real_client import CLIENTS, LIMIT, RESULT, ROOT, TASK
from tests.support.standin import DONE

pytestmark = pytest.mark.slow

CALLS = 60
ALONE = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


def is_alone_possible():
    """Whether this user may make a network namespace, and bring up its loopback."""
    if not shutil.which("unshare") or not shutil.which("ip"):
        return False
    return subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode == 0  # noqa: S603 - our own


@pytest.fixture(params=CLIENTS)
def client(request):
    if not CLIENTS[request.param].is_installed:
        pytest.skip(f"{request.param} is not installed: make clients")
    if not is_alone_possible():
        pytest.skip("a network namespace is not permitted here")
    return request.param


def driven(client, way, folder):
    """What the provider saw, and how the agent ended."""
    folder.mkdir()
    command = [sys.executable, "-m", "tests.support.real_client", client, way, str(CALLS), str(folder)]
    subprocess.run([*ALONE, *command], cwd=ROOT, check=True, timeout=200)  # noqa: S603 - our own
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
