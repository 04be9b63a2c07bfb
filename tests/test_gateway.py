"""The gateway between the vendors' own clients and a provider on loopback that enforces its rules."""

import asyncio
import contextlib
import gzip
import http.client
import json
import socket
import socketserver
import threading
import time
from urllib.parse import urlsplit

import anthropic
import attrs
import httpx2
import openai
import pytest
from gc_gateway.serving import bound, running
from gc_gateway.settings import Settings
from gc_gateway.upstream import joined
from google import genai

from gc_core import GCConfig, SessionReader
from tests.support.grids import chequered
from tests.support.standin import DONE, StandIn, tokens_of

TASK = "Read the files big_1.txt to big_30.txt and say when all are read. Never write to any of them."
WORDS = " ".join(f"word{number}" for number in range(800))
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


@pytest.fixture
def provider():
    with StandIn(calls=30) as standin:
        yield standin


@pytest.fixture
def settings(tmp_path, provider):
    upstreams = dict.fromkeys(("anthropic", "openai", "responses", "gemini"), provider.url)
    config = GCConfig(strategy="gc_budget")
    return Settings(directory=tmp_path / "lanes", upstreams=upstreams, windows={"*": 24_000}, config=config)


@pytest.fixture
def gateway(settings):
    with running(settings) as (url, gateway):
        gateway.url = url
        yield gateway


def content_of(number):
    return f"{number}: {WORDS}"


# -- agents, each with its vendor's client -----------------------------------------------------------------------------


def messages_agent(url, *, stream=False, headers=None, task=TASK, steps=40, held=None):
    with anthropic.Anthropic(base_url=url, api_key="key-1", max_retries=0, default_headers=headers or {}) as client:
        tools = [{"name": "bash", "description": "Runs.", "input_schema": SCHEMA}]
        held = [] if held is None else held
        held.append({"role": "user", "content": task})
        for number in range(1, steps):
            asked = {
                "model": "stand-in",
                "max_tokens": 1_000,
                "messages": held,
                "tools": tools,
                "system": "You read files.",
            }
            if stream:
                with client.messages.stream(**asked) as events:
                    reply = events.get_final_message()
            else:
                reply = client.messages.create(**asked)
            held.append(
                {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in reply.content]}
            )
            if reply.stop_reason != "tool_use":
                return reply.content[0].text
            answer = {"type": "tool_result", "tool_use_id": reply.content[0].id, "content": content_of(number)}
            held.append({"role": "user", "content": [answer]})
        raise AssertionError("it does not end")


def chat_agent(url, *, stream=False, headers=None, task=TASK, steps=40):
    with openai.OpenAI(base_url=f"{url}/v1", api_key="key-1", max_retries=0, default_headers=headers or {}) as client:
        tools = [{"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}]
        held = [{"role": "system", "content": "You read files."}, {"role": "user", "content": task}]
        for number in range(1, steps):
            asked = {"model": "stand-in", "messages": held, "tools": tools}
            if stream:
                with client.chat.completions.stream(**asked) as events:
                    message = events.get_final_completion().choices[0].message
            else:
                message = client.chat.completions.create(**asked).choices[0].message
            held.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            if not message.tool_calls:
                return message.content
            for call in held[-1]["tool_calls"]:
                call["function"].pop("parsed_arguments", None)
            held.append({"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": content_of(number)})
        raise AssertionError("it does not end")


def responses_agent(url, *, stream=False, headers=None, task=TASK, steps=40):
    with openai.OpenAI(base_url=f"{url}/v1", api_key="key-1", max_retries=0, default_headers=headers or {}) as client:
        tools = [{"type": "function", "name": "bash", "parameters": SCHEMA, "strict": False}]
        held = [{"role": "user", "content": task}]
        for number in range(1, steps):
            asked = {
                "model": "stand-in",
                "input": held,
                "tools": tools,
                "instructions": "You read files.",
                "store": False,
            }
            if stream:
                with client.responses.stream(**asked) as events:
                    reply = events.get_final_response()
            else:
                reply = client.responses.create(**asked)
            held += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in reply.output]
            calls = [item for item in reply.output if item.type == "function_call"]
            if not calls:
                return reply.output_text
            held.append({"type": "function_call_output", "call_id": calls[0].call_id, "output": content_of(number)})
        raise AssertionError("it does not end")


def gemini_agent(url, *, stream=False, headers=None, task=TASK, steps=40):
    with genai.Client(api_key="key-1", http_options={"base_url": url, "headers": headers or {}}) as client:
        return asked_of_gemini(client, stream=stream, task=task, steps=steps)


def asked_of_gemini(client, *, stream, task, steps):
    declared = {"name": "bash", "description": "Runs.", "parameters_json_schema": SCHEMA}
    config = {"tools": [{"function_declarations": [declared]}], "system_instruction": "You read files."}
    held = [{"role": "user", "parts": [{"text": task}]}]
    for number in range(1, steps):
        asked = {"model": "stand-in", "contents": held, "config": config}
        if stream:
            reply = [*client.models.generate_content_stream(**asked)][-1]
        else:
            reply = client.models.generate_content(**asked)
        content = reply.candidates[0].content
        held.append(content.model_dump(mode="json", exclude_none=True))
        if not reply.function_calls:
            return reply.text
        answer = {"id": reply.function_calls[0].id, "name": "bash", "response": {"output": content_of(number)}}
        held.append({"role": "user", "parts": [{"function_response": answer}]})
    raise AssertionError("it does not end")


AGENTS = {
    "anthropic": messages_agent,
    "openai": chat_agent,
    "responses": responses_agent,
    "gemini": gemini_agent,
}


@pytest.mark.parametrize("dialect", AGENTS)
def test_without_the_gateway_the_task_fails_on_the_limit(provider, dialect):
    with pytest.raises(Exception, match=r"too long|maximum context length|exceeds the maximum"):
        AGENTS[dialect](provider.url)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("dialect", AGENTS)
def test_with_the_gateway_the_task_ends_and_every_request_fits(provider, gateway, dialect, stream):
    assert AGENTS[dialect](gateway.url, stream=stream) == DONE
    assert len(provider.generations) == 31
    assert provider.refusals == []
    assert all(TASK in seen.raw.decode() for seen in provider.generations)
    (lane,) = gateway.lanes.open
    assert lane.counts.calls == 31
    assert lane.counts.collections >= 1


@pytest.mark.parametrize("dialect", AGENTS)
def test_a_refusal_for_length_is_answered_by_a_deeper_collection(provider, settings, dialect):
    """The gateway believes in a larger window than the provider has."""
    settings = attrs.evolve(settings, windows={"*": 60_000})
    with running(settings) as (url, _):
        assert AGENTS[dialect](url) == DONE
    assert 1 <= len(provider.refusals) <= 3, "its size is remembered"


@pytest.mark.parametrize("dialect", AGENTS)
def test_a_refusal_for_length_in_a_stream_is_answered_like_one_with_a_status(provider, settings, dialect):
    provider.refuses_late = True
    settings = attrs.evolve(settings, windows={"*": 60_000})
    with running(settings) as (url, _):
        assert AGENTS[dialect](url, stream=True) == DONE
    assert 1 <= len(provider.refusals) <= 3, "its size is remembered"


@pytest.mark.parametrize("dialect", AGENTS)
def test_what_needs_no_collection_leaves_byte_for_byte(provider, gateway, dialect):
    sent = []
    provider.calls = 3
    AGENTS[dialect](gateway.url)
    bodies = [seen.raw for seen in provider.generations]
    assert len(bodies) == 4
    with StandIn(calls=3) as direct:
        AGENTS[dialect](direct.url)
        sent = [seen.raw for seen in direct.generations]
    assert bodies == sent


VERSIONS = {"anthropic": "/v1", "openai": "/v1", "responses": "/v1", "gemini": "/v1beta"}


@pytest.mark.parametrize("end", ["", "/", "VERSION", "VERSION/"])
@pytest.mark.parametrize("dialect", AGENTS)
def test_an_upstream_may_end_with_the_version_of_its_api(provider, settings, dialect, end):
    provider.calls = 1
    below = "/team/api"
    base = provider.url + below + end.replace("VERSION", VERSIONS[dialect])
    with running(attrs.evolve(settings, upstreams={dialect: base})) as (url, _):
        AGENTS[dialect](url)
    assert len(provider.generations) == 2
    for seen in provider.generations:
        assert seen.path.startswith(f"{below}/v1")
        assert seen.path.count("/v1") == 1


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("http://v1", "/v1/messages", "http://v1/v1/messages"),
        ("https://host/api/v4", "/v1/chat/completions", "https://host/api/v4/chat/completions"),
        ("https://host/v1", "/chat/completions", "https://host/v1/chat/completions"),
        ("https://host/v1", "/v1", "https://host/v1"),
        ("https://host/v1", "/v1beta/models", "https://host/v1/models"),
        ("https://host/v1/team", "/v1/models", "https://host/v1/team/v1/models"),
        ("https://host/vault", "/v1/models", "https://host/vault/v1/models"),
    ],
)
def test_only_a_version_at_the_end_of_the_base_url_stands_for_that_of_the_path(base, path, url):
    assert joined(base, path) == url


def post(gateway, path, body, **headers):
    given = {"x-api-key": "key-1", "anthropic-version": "2023-06-01", **headers}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.post(f"{gateway.url}{path}", content=content, headers=given, trust_env=False)


HELLO = {"model": "stand-in", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello."}]}


def texts_in(messages):
    """The contents of all results."""
    blocks = (block for message in messages for block in message["content"] if isinstance(block, dict))
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


def read_on(url, steps):
    """Let an agent make so many calls, and return the list that it holds when it makes the last one."""
    held = []
    with pytest.raises(AssertionError, match="does not end"):
        messages_agent(url, steps=steps + 1, held=held)
    return held[:-2]


# -- lanes -------------------------------------------------------------------------------------------------------------


def test_two_agents_of_one_session_have_lanes_of_their_own(provider, gateway):
    provider.calls = 4
    main = {"X-Claude-Code-Session-Id": "s1"}
    messages_agent(gateway.url, headers=main)
    messages_agent(gateway.url, headers={**main, "x-claude-code-agent-id": "a1"}, task="Search.")
    assert sorted(lane.id.name for lane in gateway.lanes.open) == ["claude-code:s1:", "claude-code:s1:a1"]
    assert [lane.id.parent for lane in gateway.lanes.open] == ["", "claude-code:s1:"]


def test_two_users_with_the_same_ids_never_share_a_lane(provider, gateway):
    for key in ("key-1", "key-2"):
        provider.key = key
        assert post(gateway, "/v1/messages", HELLO, **{"x-api-key": key, "x-gc-lane": "same"}).status_code == 200
    assert len(gateway.lanes.open) == 2


def test_conversations_without_ids_are_told_apart_by_their_history(provider, gateway):
    provider.calls = 0
    for _ in range(2):
        for name in ("Ada", "Bob"):
            held = [{"role": "user", "content": f"I am {name}."}]
            for question in ("Who am I?", "Again?", "And now?"):
                post(gateway, "/v1/messages", {**HELLO, "messages": held})
                held = [*held, {"role": "assistant", "content": DONE}, {"role": "user", "content": question}]
    assert len(gateway.lanes.open) == 2


@pytest.mark.parametrize(("dialect", "headers"), chequered(["chat", "responses"], [{}, {"x-gc-lane": "a"}]))
def test_a_system_message_that_changes_with_every_request_leaves_a_conversation_in_its_lane(
    provider, gateway, dialect, headers
):
    provider.calls = 30
    path, field = {"chat": ("/v1/chat/completions", "messages"), "responses": ("/v1/responses", "input")}[dialect]
    bash = {"name": "bash", "parameters": SCHEMA}
    tools = [{"type": "function", **({"function": bash} if dialect == "chat" else bash)}]
    held = [{"role": "user", "content": TASK}]
    for number in range(31):
        clock = [
            {"role": "system", "content": "You read."},
            {"role": "developer", "content": f"It is 12:{number:02d}."},
        ]
        reply = post(gateway, path, {"model": "stand-in", "tools": tools, field: [*clock, *held]}, **headers).json()
        assert provider.generations[-1].body[field][:2] == clock
        held += chat_step(reply, number) if dialect == "chat" else responses_step(reply, number)
    (lane,) = gateway.lanes.open
    assert lane.counts.collections >= 1
    assert (lane.session.directory / "master.jsonl").read_text().count("14: word0 word1 ") == 1


def chat_step(reply, number):
    message = reply["choices"][0]["message"]
    calls = message.get("tool_calls") or ()
    return [message, *({"role": "tool", "tool_call_id": each["id"], "content": content_of(number)} for each in calls)]


def responses_step(reply, number):
    calls = [each for each in reply["output"] if each["type"] == "function_call"]
    outputs = [{"type": "function_call_output", "call_id": each["call_id"]} for each in calls]
    return [*reply["output"], *({**each, "output": content_of(number)} for each in outputs)]


def test_a_conversation_whose_system_message_changes_is_found_again_after_a_restart(provider, settings):
    provider.calls = 0
    held = [{"role": "user", "content": "Hello."}]
    for number in range(3):
        with running(settings) as (url, gateway):
            gateway.url = url
            clock = {"role": "system", "content": f"It is 12:{number:02d}."}
            post(gateway, "/v1/chat/completions", {**HELLO, "messages": [clock, *held]})
        held += [{"role": "assistant", "content": DONE}, {"role": "user", "content": f"And {number}?"}]
    assert len([*settings.directory.glob("*/master.jsonl")]) == 1


def test_two_agents_with_one_task_are_told_apart_by_their_system_messages(provider, gateway):
    provider.calls = 0
    systems = {name: {"role": "system", "content": f"You are {name}."} for name in ("Ada", "Bob")}
    held = {name: [{"role": "user", "content": "Who are you?"}] for name in systems}
    for question in ("Again?", "And now?"):
        for name, system in systems.items():
            post(gateway, "/v1/chat/completions", {**HELLO, "messages": [system, *held[name]]})
            held[name] += [{"role": "assistant", "content": name}, {"role": "user", "content": question}]
    assert sorted(lane.counts.calls for lane in gateway.lanes.open) == [2, 2]


def test_a_lane_goes_on_in_the_same_words_after_a_restart(provider, settings):
    provider.calls = 1_000

    with running(settings) as (url, _):
        held = read_on(url, 20)
    first = provider.generations[-1].body
    with running(settings) as (url, gateway):
        gateway.url = url
        assert post(gateway, "/v1/messages", {**first, "messages": held}).status_code == 200
        assert len(gateway.lanes.open) == 1
    again = json.dumps(provider.generations[-1].body)
    stubs = [text for text in texts_in(first["messages"]) if text.startswith("[gc:")]
    assert stubs
    assert all(json.dumps(text) in again for text in stubs)


def test_an_idle_lane_leaves_memory_and_comes_back(provider, gateway):
    provider.calls = 0
    post(gateway, "/v1/messages", HELLO, **{"x-gc-lane": "a"})
    for _ in range(100):  # the usage of the reply is taken beside it, and opens the lane once more
        gateway.lanes.close_idle(now=1e12)
        time.sleep(0.01)
    assert gateway.lanes.open == ()
    held = [*HELLO["messages"], {"role": "assistant", "content": DONE}, {"role": "user", "content": "And?"}]
    assert post(gateway, "/v1/messages", {**HELLO, "messages": held}, **{"x-gc-lane": "a"}).status_code == 200
    (lane,) = gateway.lanes.open
    with SessionReader(lane.session.directory) as reader:
        assert reader.recall("i3") == "And?"


# -- side requests -----------------------------------------------------------------------------------------------------


def test_a_request_for_a_title_does_not_advance_the_lane(provider, gateway):
    lane_header = {"X-Claude-Code-Session-Id": "s1"}
    provider.calls = 20
    messages_agent(gateway.url, headers=lane_header)
    (lane,) = gateway.lanes.open
    calls, size = lane.counts.calls, (lane.session.directory / "master.jsonl").stat().st_size
    title = {
        **HELLO,
        "system": "Write a title.",
        "messages": [{"role": "user", "content": f"<session>{TASK}</session>"}],
    }
    assert post(gateway, "/v1/messages", title, **lane_header).status_code == 200
    assert provider.generations[-1].body == title
    assert (lane.counts.calls, (lane.session.directory / "master.jsonl").stat().st_size) == (calls, size)


@pytest.mark.parametrize("header", ["x-session-id", "X-Claude-Code-Session-Id", "thread-id"])
def test_a_title_that_is_asked_for_before_the_first_turn_is_no_turn(provider, gateway, header):
    """opencode asks for the title first, in the same session."""
    provider.calls = 3
    title = {**HELLO, "system": "Write a title."}
    assert post(gateway, "/v1/messages", title, **{header: "s1"}).status_code == 200
    assert provider.generations[-1].body == title
    messages_agent(gateway.url, headers={header: "s1"})
    (lane,) = gateway.lanes.open
    assert lane.counts.calls == 4
    assert "Write a title." not in (lane.session.directory / "master.jsonl").read_text()


# -- counting ----------------------------------------------------------------------------------------------------------


def test_count_tokens_answers_what_would_really_be_sent(provider, gateway):
    provider.calls = 1_000
    held = read_on(gateway.url, 20)
    sent = provider.generations[-1]
    whole = {**sent.body, "messages": held}
    counted = post(gateway, "/v1/messages/count_tokens", whole).json()["input_tokens"]
    assert counted < tokens_of(whole)
    assert counted <= 24_000


def test_what_fits_is_counted_by_the_provider(gateway):
    counted = post(gateway, "/v1/messages/count_tokens", HELLO)
    assert counted.json()["input_tokens"] == tokens_of(HELLO)


@pytest.mark.parametrize(("reply", "usable"), [({"max_tokens": 4_000}, 20_000), ({}, 24_000 - 4_096)])
def test_the_reply_is_reserved_once(gateway, reply, usable):
    body = {"model": "stand-in", "messages": HELLO["messages"], **reply}
    assert post(gateway, "/v1/chat/completions", body, authorization="Bearer key-1").status_code == 200
    (lane,) = gateway.lanes.open
    assert lane.session.config.usable == usable


def test_a_call_that_fits_nowhere_is_counted_and_sent_as_it_came(provider, gateway):
    provider.limit = 100_000
    body = {**HELLO, "messages": [{"role": "user", "content": "Keep this. " * 20_000}]}
    assert post(gateway, "/v1/messages", body, **{"x-gc-lane": "a"}).status_code == 200
    assert provider.seen[-1].raw == json.dumps(body).encode()
    totals = gateway.lanes.totals()
    assert (totals.calls, totals.passed) == (1, 1)


# -- what passes -------------------------------------------------------------------------------------------------------


def test_other_paths_pass_through(provider, gateway):
    answer = httpx2.get(f"{gateway.url}/v1/models?limit=5", headers={"x-api-key": "key-1"}, trust_env=False)
    assert answer.json()["data"] == [{"id": "stand-in"}]
    assert provider.seen[-1].path == "/v1/models?limit=5"
    assert answer.headers["request-id"] == "req_1"


def test_a_compressed_body_passes_as_it_came(provider, gateway):
    body = gzip.compress(json.dumps(HELLO).encode())
    assert post(gateway, "/v1/messages", body, **{"content-encoding": "gzip"}).status_code == 200
    assert provider.seen[-1].raw == body


def test_a_compressed_reply_passes_as_it_came(provider, gateway):
    provider.encode = True
    answer = post(gateway, "/v1/messages", HELLO, **{"accept-encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.json()["content"][0]["text"] == DONE


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"messages": 5}', b'{"messages": []}', b"\xff\xfe", b"null"])
def test_a_body_that_is_not_understood_is_the_providers_business(provider, gateway, body):
    answer = post(gateway, "/v1/messages", body)
    assert answer.status_code == 400
    assert provider.seen[-1].raw == body


@pytest.mark.parametrize("status", [429, 500, 529])
def test_errors_of_the_provider_pass_unchanged(provider, gateway, status):
    provider.failures = [status]
    answer = post(gateway, "/v1/messages", HELLO)
    assert answer.status_code == status
    assert answer.json()["error"]["message"] == "overloaded"


def test_history_that_the_provider_keeps_is_left_alone(provider, gateway):
    body = {"model": "m", "input": [{"role": "user", "content": "Hello."}], "previous_response_id": "resp_1"}
    post(gateway, "/v1/responses", body, authorization="Bearer key-1")
    assert provider.seen[-1].body == body
    assert gateway.lanes.open == ()


# -- security ----------------------------------------------------------------------------------------------------------


def test_a_websocket_is_answered_with_426(gateway):
    headers = {"upgrade": "websocket", "connection": "Upgrade"}
    assert httpx2.get(f"{gateway.url}/v1/responses", headers=headers, trust_env=False).status_code == 426


def test_a_body_that_is_too_long_is_413_in_the_dialects_shape(provider, settings):
    with running(attrs.evolve(settings, body_bytes=1_000)) as (url, gateway):
        gateway.url = url
        answer = post(gateway, "/v1/messages", b"x" * 1_001)
        assert answer.status_code == 413
        assert answer.json()["error"]["type"] == "request_too_large"
        bomb = gzip.compress(b'{"messages": "' + b"x" * 100_000 + b'"}')
        assert post(gateway, "/v1/messages", bomb, **{"content-encoding": "gzip"}).status_code == 413
    assert provider.seen == []


def test_a_token_is_asked_for_and_never_sent_on(provider, settings):
    with running(attrs.evolve(settings, token="secret-token")) as (url, gateway):  # noqa: S106 - no real one
        bare = url.removesuffix("/secret-token")
        gateway.url = bare
        assert post(gateway, "/v1/messages", HELLO).status_code == 401
        assert "is missing" in post(gateway, "/v1/messages", HELLO).text
        for path, headers in (
            ("/v1/messages", {"x-gc-token": "wrong"}),
            ("/wrong/v1/messages", {}),
            ("/wrong/mcp", {}),
        ):
            refused = post(gateway, path, HELLO, **headers)
            assert refused.status_code == 401
            assert "is wrong" in refused.text
        assert post(gateway, "/v1/messages", HELLO, **{"x-gc-token": "secret-token"}).status_code == 200
        gateway.url = url
        assert post(gateway, "/v1/messages", HELLO).status_code == 200
    assert not any("secret-token" in json.dumps([seen.path, seen.headers]) for seen in provider.seen)


def test_credentials_are_nowhere_in_the_files(provider, settings):
    with running(settings) as (url, gateway):
        gateway.url = url
        post(gateway, "/v1/messages", HELLO)
    assert len(provider.seen) == 1
    files = [path for path in settings.directory.rglob("*") if path.is_file()]
    assert files
    assert not any(b"key-1" in path.read_bytes() for path in files)
    assert settings.directory.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "path", ["/v1/../../etc/passwd", "//evil.example/v1/messages", "/v1/..%2f..", "/http://evil.example/"]
)
def test_no_path_leads_to_another_host(provider, gateway, path):
    connection = http.client.HTTPConnection(urlsplit(gateway.url).netloc)
    with contextlib.closing(connection):
        connection.putrequest("GET", path)
        connection.endheaders()
        assert connection.getresponse().status in {200, 400}
    assert all(seen.headers["host"].startswith("127.0.0.1") for seen in provider.seen)


# -- fail open ---------------------------------------------------------------------------------------------------------


def test_if_gc_core_fails_the_original_request_is_sent(provider, gateway, monkeypatch):
    def broken(*_):
        raise ValueError("broken")

    monkeypatch.setattr("gc_gateway.lanes.Lane.request", broken)
    assert post(gateway, "/v1/messages", HELLO).status_code == 200
    assert provider.seen[-1].raw == json.dumps(HELLO).encode()
    metrics = httpx2.get(f"{gateway.url}/metrics", trust_env=False).text
    assert "gc_gateway_passed_total{" in metrics


def test_an_upstream_that_is_not_there_is_502_in_the_dialects_shape(settings):
    upstreams = {"anthropic": "http://127.0.0.1:9"}
    with running(attrs.evolve(settings, upstreams=upstreams)) as (url, gateway):
        gateway.url = url
        answer = post(gateway, "/v1/messages", HELLO)
        assert answer.status_code == 502
        assert answer.json()["type"] == "error"


@pytest.mark.parametrize(
    ("upstream", "said"),
    [
        ("http://127.0.0.1:9", "cannot be reached: connection refused"),
        ("http://no-such-host.invalid", "cannot be reached: unknown host"),
        ("https://127.0.0.1:{port}", "cannot be reached: "),
        ("http://127.0.0.1:{port}", "closed the connection before it answered"),
    ],
)
def test_an_upstream_that_does_not_answer_is_reported_with_what_it_did(settings, upstream, said):
    with closing_every_connection() as port:
        base = upstream.format(port=port)
        with running(attrs.evolve(settings, upstreams={"anthropic": base})) as (url, gateway):
            gateway.url = url
            error = post(gateway, "/v1/messages", HELLO).json()["error"]["message"]
    assert error.startswith(f"the upstream {base} {said}")
    assert not error.endswith("Error")


@contextlib.contextmanager
def closing_every_connection():
    """A server that closes each connection once it has read something; yields its port."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            self.rfile.read1()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_health_is_answered(gateway):
    assert httpx2.get(f"{gateway.url}/healthz", trust_env=False).text == "ok\n"
    assert httpx2.get(f"{gateway.url}/readyz", trust_env=False).status_code == 200


# -- connections -------------------------------------------------------------------------------------------------------


def test_the_end_of_an_answer_does_not_wait_until_its_beginning_is_acknowledged(settings):
    assert asyncio.run(nodelay_of_an_accepted_connection(settings))


async def nodelay_of_an_accepted_connection(settings):
    """Whether small packets are sent at once on a connection that asyncio accepts on the gateway's socket."""
    accepted = asyncio.get_running_loop().create_future()
    server = await asyncio.start_server(lambda _, writer: accepted.set_result(writer), sock=bound(settings))
    async with server:
        _, ours = await asyncio.open_connection(*server.sockets[0].getsockname())
        theirs = await accepted
        nodelay = theirs.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        for writer in (ours, theirs):
            writer.close()
            await writer.wait_closed()
    return nodelay
