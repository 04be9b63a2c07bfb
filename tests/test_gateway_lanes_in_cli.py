"""The commands of ``ctxgc`` take a lane of the gateway: by its id on the page and in the log, or by its client's."""

import httpx2
import pytest
from ctxgc.cli.app import app
from gc_gateway.serving import running
from gc_gateway.settings import Settings
from typer.testing import CliRunner

from tests.support.standin import StandIn

HEADERS = {"x-api-key": "key-1", "anthropic-version": "2023-06-01"}


@pytest.fixture(scope="module")
def lanes(tmp_path_factory):
    """A directory with three lanes; the main agent's has been collected for."""
    directory = tmp_path_factory.mktemp("gateway") / "lanes"
    with StandIn(calls=0) as provider:
        settings = Settings(directory=directory, upstreams={"anthropic": provider.url}, windows={"*": 8_000})
        with running(settings) as (url, _), httpx2.Client(headers=HEADERS, trust_env=False) as client:
            for headers, results in (({}, 20), ({"x-claude-code-agent-id": "agent-1"}, 1)):
                ids = {"x-claude-code-session-id": "session-1", **headers}
                assert client.post(f"{url}/v1/messages", json=body(results), headers=ids).status_code == 200
            assert client.post(f"{url}/v1/messages", json=body(2)).status_code == 200
    return directory


def body(results):
    held = [{"role": "user", "content": "Read the files."}]
    for number in range(results):
        use = {"type": "tool_use", "id": f"t{number}", "name": "bash", "input": {"command": f"cat {number}"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"{number}: " + "line " * 600}
        held += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    tools = [{"name": "bash", "description": "Runs.", "input_schema": {"type": "object"}}]
    return {"model": "m", "max_tokens": 1_000, "messages": held, "tools": tools}


def ctxgc(lanes, *arguments):
    return CliRunner().invoke(app, [*map(str, arguments)], env={"GC_GATEWAY_DIRECTORY": str(lanes)})


def key_of(lanes, name):
    (file,) = (file for file in lanes.glob("*/lane.json") if f'"name": "{name}"' in file.read_text())
    return file.parent.name


@pytest.mark.parametrize("called", ["key", "page", "client", "full name", "path"])
def test_a_lane_is_called_as_it_is_shown_or_as_its_client_calls_it(lanes, called):
    key = key_of(lanes, "claude-code:session-1:")
    names = {
        "key": key, "page": key.rpartition("-")[2][:8], "client": "session-1", "full name": "claude-code:session-1:",
        "path": lanes / key[:30],
    }  # fmt: skip
    done = ctxgc(lanes, "history", names[called])
    assert done.exit_code == 0, done.output
    assert "collected" in done.stdout


@pytest.mark.parametrize(
    ("command", "more", "said"),
    [
        ("recall", ["i2"], "cat 0"),
        ("search", ["cat 7"], "turn"),
        ("inspect", ["--once"], "gc_budget"),
        ("verify", [], "agree"),
        ("export", [], "tool_use"),
    ],
)
def test_every_command_on_a_session_takes_a_lane(lanes, command, more, said):
    done = ctxgc(lanes, command, "session-1", *more)
    assert done.exit_code == 0, done.output
    assert said in done.stdout


def test_a_report_is_made_of_a_lane(lanes, tmp_path):
    done = ctxgc(lanes, "report", "session-1", "-o", tmp_path / "report.html")
    assert done.exit_code == 0, done.output
    assert "1 collections" in done.stdout


@pytest.mark.parametrize(
    ("wanted", "said"),
    [("sesion-1", "did you mean session-1"), ("session-1:agent-2", "did you mean session-1:agent-1")],
)
def test_what_is_nearly_a_lane_is_asked_back(lanes, wanted, said):
    done = ctxgc(lanes, "history", wanted)
    assert done.exit_code == 2
    assert said in " ".join(done.output.replace("│", " ").split())


def test_the_beginning_of_several_lanes_is_asked_back(lanes):
    scope = key_of(lanes, "claude-code:session-1:").partition("-")[0]
    done = ctxgc(lanes, "history", scope[:10])
    assert done.exit_code == 2
    assert "is the beginning of 3 lanes" in " ".join(done.output.replace("│", " ").split())


def test_what_is_nothing_like_a_lane_is_a_path_that_is_missing(lanes, tmp_path):
    for wanted in ("nothing-of-the-sort", tmp_path / "missing"):
        done = ctxgc(lanes, "history", wanted)
        assert done.exit_code == 1
        assert "does not exist" in done.output
