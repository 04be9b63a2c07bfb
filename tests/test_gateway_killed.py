"""``kill -9`` of a gateway, the real process: after a restart each lane goes on with the same words."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading

import httpx2
import pytest

from gc_core import SessionReader
from gc_core.storage.audit import verify
from tests.support.promises import canonical
from tests.support.standin import StandIn

HEADERS = {"x-api-key": "key-1", "anthropic-version": "2023-06-01"}
TOOLS = [{"name": "bash", "description": "Runs.", "input_schema": {"type": "object"}}]
WORDS = " ".join(f"word{number}" for number in range(400))


class Process:
    """``ctxgc gateway`` as a user starts it, on one directory."""

    def __init__(self, directory, provider):
        self.directory, self.provider = directory, provider
        self.start()

    def start(self):
        options = ["--directory", self.directory, "--upstream", f"anthropic={self.provider.url}", "--window", "*=12000"]
        command = [sys.executable, "-m", "ctxgc", "gateway", *map(str, options)]
        self._started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603
        self.url = self._started.stdout.readline().split()[1]

    def kill(self):
        os.kill(self._started.pid, signal.SIGKILL)
        self._started.wait()
        self._started.stdout.close()

    def again(self):
        self.kill()
        self.start()


@pytest.fixture
def provider():
    with StandIn(limit=13_000, calls=10_000) as standin:
        yield standin


@pytest.fixture
def gateway(tmp_path, provider):
    process = Process(tmp_path / "lanes", provider)
    yield process
    process.kill()


def request_of(steps, *, stream=False):
    """The body of an agent's call after so many steps: it has its whole list."""
    held = [{"role": "user", "content": "Read the files."}]
    for number in range(steps):
        use = {"type": "tool_use", "id": f"t{number}", "name": "bash", "input": {"command": f"cat {number}"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"{number}: {WORDS}"}
        held += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return {"model": "m", "max_tokens": 1_000, "messages": held, "tools": TOOLS, "stream": stream}


def posted(gateway, body):
    with httpx2.Client(trust_env=False, headers=HEADERS, timeout=60) as client:
        return client.post(f"{gateway.url}/v1/messages", json=body)


def lane_of(gateway):
    """The directory of the lane: there is only one, whatever happened."""
    (log,) = gateway.directory.glob("*/master.jsonl")
    return log.parent


def collections_of(gateway):
    with SessionReader(lane_of(gateway)) as reader:
        return len(reader.history())


class Witness:
    """What the provider saw of each request, against what it saw before."""

    def __init__(self, gateway):
        self.gateway, self.before, self.collections = gateway, [], 0

    def sees(self, steps, *, stream=False):
        body = request_of(steps, stream=stream)
        assert posted(self.gateway, body).status_code == 200
        self.judge(body)

    def judge(self, body):
        """What was sent stands, unless there was a collection since; what left stays away."""
        sent = self.gateway.provider.generations[-1].body["messages"]
        collections = collections_of(self.gateway)
        assert results_of(body["messages"]).keys() >= results_of(sent).keys()
        for key, text in results_of(self.before).items():
            if text != results_of(body["messages"])[key]:
                assert results_of(sent).get(key, "") != results_of(body["messages"])[key], "what left stays away"
        if collections == self.collections:
            assert [*map(canonical, sent)][: len(self.before)] == [*map(canonical, self.before)]
        self.before, self.collections = sent, collections

    def finds_the_files_in_order(self):
        directory = lane_of(self.gateway)
        assert verify(directory) == ()
        return directory


def results_of(messages):
    blocks = (block for message in messages for block in message["content"] if isinstance(block, dict))
    return {block["tool_use_id"]: block["content"] for block in blocks if block["type"] == "tool_result"}


def window_of(directory):
    with SessionReader(directory) as reader:
        return [canonical(message) for message in reader.window().messages]


def test_a_killed_gateway_goes_on_in_the_same_words(gateway):
    witness = Witness(gateway)
    for steps in (1, 14, 15):
        witness.sees(steps)
    assert witness.collections >= 1
    gateway.kill()
    assert window_of(witness.finds_the_files_in_order()) == [canonical(message) for message in witness.before]
    gateway.start()
    for steps in (15, 16):
        witness.sees(steps)


def test_a_gateway_that_is_killed_in_mid_stream_answers_the_retry_in_the_same_words(gateway, provider):
    witness = Witness(gateway)
    witness.sees(14)
    provider.pause = 0.2
    body = request_of(15, stream=True)
    asked = {"json": body, "headers": HEADERS, "trust_env": False}
    with httpx2.stream("POST", f"{gateway.url}/v1/messages", **asked) as response:
        chunks = response.iter_raw()
        assert b"message_start" in next(chunks)
        witness.judge(body)
        gateway.kill()
        with pytest.raises(httpx2.HTTPError):
            list(chunks)
    witness.finds_the_files_in_order()
    gateway.start()
    provider.pause = 0.0
    witness.sees(15)
    witness.sees(16)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_whenever_a_gateway_is_killed_its_lane_goes_on(gateway, seed):
    """In the middle of a request, which may be collecting, writing or waiting for the provider."""
    chance, witness = random.Random(seed), Witness(gateway)  # noqa: S311 - no secrets here
    witness.sees(1)
    for steps in range(2, 60):
        body = request_of(steps)
        if chance.random() < 0.7:
            witness.sees(steps)
            continue
        asked = threading.Thread(target=_asked_in_vain, args=(gateway, body))
        asked.start()
        asked.join(chance.random() * 0.08)
        seen = len(gateway.provider.generations)
        gateway.kill()
        asked.join()
        if len(gateway.provider.generations) > seen or same_steps(gateway.provider.generations[-1].body, body):
            witness.judge(body)
        witness.finds_the_files_in_order()
        gateway.start()
        witness.sees(steps)


def same_steps(seen, body):
    """True if the provider saw the request for this list: its last message is the same."""
    return json.dumps(seen["messages"][-1])[:60] == json.dumps(body["messages"][-1])[:60]


def _asked_in_vain(gateway, body):
    with contextlib.suppress(httpx2.HTTPError):
        posted(gateway, body)
