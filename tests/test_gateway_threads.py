"""Requests beside each other: none waits for another lane's, and lanes that leave memory meanwhile lose nothing."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import attrs
import httpx2
import pytest
from gc_gateway.dialects import Content
from gc_gateway.lane_ids import LaneId
from gc_gateway.lanes import Lane, Lanes
from gc_gateway.serving import running
from gc_gateway.settings import Settings

from gc_core import GCSession
from tests.support.standin import StandIn

HEADERS = {"x-api-key": "key-1", "anthropic-version": "2023-06-01"}
TOOLS = [{"name": "bash", "description": "Runs.", "input_schema": {"type": "object"}}]


@pytest.fixture
def provider():
    with StandIn(calls=0, limit=10**9) as standin:
        yield standin


@pytest.fixture
def settings(tmp_path, provider):
    return Settings(directory=tmp_path / "lanes", upstreams={"anthropic": provider.url}, windows={"*": 8_000})


def body_of(name, results):
    held = [{"role": "user", "content": f"{name}: read the files."}]
    for number in range(results):
        use = {"type": "tool_use", "id": f"t{number}", "name": "bash", "input": {"command": f"cat {number}"}}
        text = f"{name} {number}: " + "line " * 400
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        held += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return {"model": "m", "max_tokens": 1_000, "messages": held, "tools": TOOLS}


def posted(url, lane, body):
    with httpx2.Client(trust_env=False, headers={**HEADERS, "x-gc-lane": lane}, timeout=30) as client:
        return client.post(f"{url}/v1/messages", json=body).status_code


def test_requests_that_wait_for_one_lane_keep_no_other_lane_waiting(provider, settings, monkeypatch):
    """A collection takes its time, and its client asks fifty times more."""
    goes_on, request = threading.Event(), Lane.request

    def slow(lane, content, window):
        if lane.id.name == "gc:slow":
            assert goes_on.wait(20)
        return request(lane, content, window)

    monkeypatch.setattr(Lane, "request", slow)
    provider._http.socket.listen(200)
    with running(settings) as (url, _), ThreadPoolExecutor(60) as pool:
        waiting = [pool.submit(posted, url, "slow", body_of("slow", 1)) for _ in range(50)]
        assert [posted(url, f"other{number}", body_of("other", 1)) for number in range(3)] == [200] * 3
        assert not any(each.done() for each in waiting)
        goes_on.set()
        assert {each.result() for each in waiting} == {200}


@pytest.mark.parametrize("named", [True, False], ids=["by id", "by history"])
def test_lanes_that_leave_memory_between_requests_keep_what_left(settings, provider, named):
    """Only two have room in it, and eight take turns at the same time."""
    settings = attrs.evolve(settings, open_lanes=2)
    with running(settings) as (url, gateway), ThreadPoolExecutor(8) as pool:

        def conversation(number):
            name = f"lane{number}"
            return [posted(url, name if named else "", body_of(name, results)) for results in (1, 6, 12, 13)]

        assert [*pool.map(conversation, range(8))] == [[200] * 4] * 8
        assert len(gateway.lanes.open) <= 2 + 8
        assert gateway.lanes.totals().calls == 32
        assert len({path.parent for path in settings.directory.glob("*/master.jsonl")}) == 8
    last = {}
    for seen in provider.generations:
        name = seen.body["messages"][0]["content"].partition(":")[0]
        stubs = [text for text in texts_of(seen.body) if text.startswith("[gc")]
        assert all(text.startswith((name, "[gc")) for text in texts_of(seen.body)), "another lane's"
        assert set(last.get(name, ())) <= set(stubs), "what left stays away in the same words"
        last[name] = stubs
    assert all(last.values())


def texts_of(body):
    blocks = (block for message in body["messages"] for block in message["content"] if isinstance(block, dict))
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


def test_the_least_used_lane_leaves_memory_when_another_one_comes(settings):
    settings = attrs.evolve(settings, open_lanes=2)
    with running(settings) as (url, gateway):
        for name in ("a", "b", "a", "c"):
            assert posted(url, name, body_of(name, 1)) == 200
        assert sorted(lane.id.name for lane in gateway.lanes.open) == ["gc:a", "gc:c"]


def test_a_lane_that_leaves_memory_as_a_request_asks_for_it_is_opened_for_it(settings, monkeypatch):
    """Room for one, and twelve take turns at it, so that nearly every request meets a lane that is just leaving."""
    closed = GCSession.close
    monkeypatch.setattr(GCSession, "close", lambda session: (time.sleep(0.002), closed(session)))
    lanes = Lanes(attrs.evolve(settings, open_lanes=1))

    def turns(number):
        for results in range(1, 25):
            content = Content(messages=body_of(str(number), results)["messages"])
            with lanes.lane(LaneId(scope="s", name=str(number % 6)), "anthropic", content) as lane:
                assert lane.session.budget.total >= 0
                lane.session.switch(model="m")

    with ThreadPoolExecutor(12) as pool:
        assert [*pool.map(turns, range(12))] == [None] * 12
    lanes.close()


def test_a_gateway_ends_although_a_request_is_still_inside_a_lane(settings):
    """What a client left goes on in its thread."""
    lanes, inside, goes_on = Lanes(settings), threading.Event(), threading.Event()

    def request():
        content = Content(messages=body_of("a", 1)["messages"])
        with lanes.lane(LaneId(scope="s"), "anthropic", content):
            inside.set()
            assert goes_on.wait(20)

    threads = [threading.Thread(target=request, daemon=True), threading.Thread(target=lanes.close, daemon=True)]
    threads[0].start()
    assert inside.wait(20)
    threads[1].start()
    threads[1].join(0.1)
    goes_on.set()
    for each in threads:
        each.join(5)
    assert not any(each.is_alive() for each in threads)
    assert not lanes.open
