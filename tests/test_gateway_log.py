"""What the gateway logs: a line for each request, with its lane and its collection, and nothing that was said."""

import json
import logging

import attrs
import httpx2
import pytest
import structlog
from gc_gateway.serving import running
from gc_gateway.settings import Settings

from tests.support.standin import StandIn

HEADERS = {"x-api-key": "key-1", "anthropic-version": "2023-06-01", "X-Claude-Code-Session-Id": "s1"}
GEMINI = {"x-goog-api-key": "key-1"}
TOOLS = [{"name": "bash", "description": "Runs.", "input_schema": {"type": "object"}}]


@pytest.fixture
def logged():
    """The events of the gateway and of gc-core, as ctxgc configures structlog."""
    events = []

    def keep(_logger, _method, event):
        events.append(dict(event))
        raise structlog.DropEvent

    structlog.configure(processors=[structlog.contextvars.merge_contextvars, keep])
    yield events
    structlog.reset_defaults()


@pytest.fixture
def provider():
    with StandIn(calls=0) as standin:
        yield standin


@pytest.fixture
def settings(tmp_path, provider):
    upstreams = dict.fromkeys(("anthropic", "openai", "responses", "gemini"), provider.url)
    return Settings(directory=tmp_path / "lanes", upstreams=upstreams, windows={"*": 8_000}, token="secret-token")  # noqa: S106 - no real one


def lines_of(events):
    return [event for event in events if event["event"] == "request"]


def body_of(results):
    held = [{"role": "user", "content": "secretword: read the files."}]
    for number in range(results):
        use = {"type": "tool_use", "id": f"t{number}", "name": "bash", "input": {"command": f"cat {number}"}}
        text = f"{number}: " + "secretline " * 300
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        held += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return {"model": "m", "max_tokens": 1_000, "messages": held, "tools": TOOLS}


def test_each_request_has_a_line_with_its_lane_its_tokens_and_its_collection(logged, settings):
    with running(settings) as (url, gateway), httpx2.Client(trust_env=False, headers=HEADERS) as client:
        for results in (1, 20):
            assert client.post(f"{url}/v1/messages?key=secretkey", json=body_of(results)).status_code == 200
        (lane,) = gateway.lanes.open
        assert client.get(f"{url}/v1/models").status_code == 200
        assert client.get(f"{url.removesuffix(settings.token)}healthz").status_code == 200
    first, second, other = lines_of(logged)
    for line in (first, second):
        told = {key: line.get(key) for key in ("method", "path", "dialect", "kind", "lane", "status")}
        assert told == {
            "method": "POST", "path": "/v1/messages", "dialect": "anthropic", "kind": "turn", "lane": lane.key,
            "status": 200,
        }  # fmt: skip
        assert line["ms"] > 0
    assert ("collection" in first, first["tokens_before"]) == (False, first["tokens_after"])
    assert second["tokens_before"] > 2 * second["tokens_after"]
    (finished,) = (event for event in logged if event["event"] == "collection finished")
    assert (finished["gc_collection"], finished["lane"]) == (second["collection"], lane.key)
    assert (other["path"], other["kind"], "lane" in other) == ("/v1/models", "pass", False)


def test_a_message_of_another_shape_is_logged_with_its_field_and_without_what_it_says(logged, settings):
    called = {"role": "assistant", "content": None, "function_call": {"name": "secretname", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "secretword"}, called, {"role": "function", "name": "f", "content": "secretline"},
    ]  # fmt: skip
    with running(settings) as (url, _), httpx2.Client(trust_env=False, headers=GEMINI) as client:
        client.post(f"{url}/v1/chat/completions", json={"model": "m", "messages": messages})
    (sent,) = (event for event in logged if event["event"] == "sent as it came")
    assert sent["error"].startswith("FieldError: [2].role: expected one of ['assistant', 'developer', ")
    assert "secret" not in json.dumps(sent)


def test_where_only_logging_listens_records_have_the_lane_as_an_attribute(caplog, settings):
    caplog.set_level(logging.INFO, logger="gc_core")
    with running(settings) as (url, gateway), httpx2.Client(trust_env=False, headers=HEADERS) as client:
        assert client.post(f"{url}/v1/messages", json=body_of(20)).status_code == 200
        (lane,) = gateway.lanes.open
    (finished,) = (record for record in caplog.records if record.gc_event == "collection finished")
    assert finished.gc_lane == lane.key
    assert f"lane={lane.key}" in finished.getMessage()


def test_refused_requests_and_those_of_the_page_have_lines_too(logged, settings):
    with running(settings) as (url, _), httpx2.Client(trust_env=False) as client:
        bare = url.removesuffix("/secret-token")
        assert client.post(f"{bare}/v1/messages", json=body_of(1)).status_code == 401
        assert client.get(f"{url}/", headers={"accept": "text/html"}).status_code == 200
        collect = {"dialect": "anthropic", "model": "m", "messages": body_of(20)["messages"], "budget": 3_000}
        assert client.post(f"{url}/v1/collect", json={**collect, "lane": "mine"}).status_code == 200
        assert client.post(f"{url}/v1/messages", content=b"x", headers={"upgrade": "websocket"}).status_code == 426
    refused, page, collected, upgrade = lines_of(logged)
    assert (refused["path"], refused["status"]) == ("(no token)", 401)
    assert (page["path"], page["kind"], page["status"]) == ("/", "page", 200)
    assert (collected["kind"], collected["tokens_after"] <= 3_000, bool(collected["lane"])) == ("collect", True, True)
    assert collected["collection"]
    assert upgrade["status"] == 426


def test_neither_credentials_nor_content_are_logged(logged, settings):
    with running(settings) as (url, _), httpx2.Client(trust_env=False, headers=HEADERS) as client:
        client.post(f"{url}/v1/messages?key=secretkey", json=body_of(20))
        client.post(f"{url}/v1/messages", json={**body_of(1), "system": [{"type": "text", "text": 5, "s": "secret"}]})
        client.post(f"{url}/v1/messages", json={**body_of(1), "messages": [{"role": "secretrole", "content": 5}]})
        client.post(f"{url}/v1/messages", json={"messages": "secret"})
    assert len(lines_of(logged)) == 4
    told = json.dumps(logged, default=repr)
    assert "secret" not in told
    assert "key-1" not in told


def test_a_stream_is_logged_when_it_has_ended(logged, settings, provider):
    provider.pause = 0.02
    asked = {"headers": HEADERS, "json": {**body_of(1), "stream": True}, "trust_env": False}
    with running(settings) as (url, _), httpx2.stream("POST", f"{url}/v1/messages", **asked) as response:
        assert response.status_code == 200
        assert lines_of(logged) == []
        response.read()
    (line,) = lines_of(logged)
    assert line["ms"] >= 20


def test_a_question_in_a_schema_that_fits_by_its_tokens_begins_no_lane(logged, settings):
    """Gemini CLI asks so whether it goes round in circles, with the last messages of its conversation."""
    settings = attrs.evolve(settings, token="")
    answers = {"responseMimeType": "application/json", "responseJsonSchema": {"type": "object", "properties": {}}}
    kinds = []
    for words in (300, 2_500, 9_000):  # of four letters and more: 2,500 have more bytes than half of the window tokens
        contents = [{"role": "user", "parts": [{"text": "word " * words}]}]
        with running(settings) as (url, _), httpx2.Client(trust_env=False, headers=GEMINI) as client:
            path = "/v1beta/models/gemini-3-flash:generateContent"
            answer = client.post(f"{url}{path}", json={"contents": contents, "generationConfig": answers})
            assert answer.status_code == 200
        kinds.append((lines_of(logged)[-1]["kind"], len(list(settings.directory.glob("*/master.jsonl")))))
    assert kinds == [("aside", 0), ("aside", 0), ("turn", 1)]
