"""The guardrail beside a gateway: conversations stay apart, and a gateway that is away holds nothing up."""

import asyncio
import http.server
import json
import threading
from types import SimpleNamespace

import pytest
from gc_gateway.serving import running
from gc_gateway.settings import Settings
from gc_litellm import GCGuardrail

from gc_core.testing.adapters import file_of

TOKEN = "of-this-test"  # noqa: S105 - opens nothing else


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    settings = Settings(port=0, directory=tmp_path_factory.mktemp("lanes"), token=TOKEN)
    with running(settings) as (url, _):
        yield url.removesuffix(f"/{TOKEN}")


def history(steps):
    messages = [{"role": "user", "content": "Read all files."}]
    for number in range(steps):
        call = {"type": "tool_use", "id": f"call_{number}", "name": "bash", "input": {"command": "cat"}}
        result = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": file_of(str(number))}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return messages


def sent(guardrail, steps, key="key-1", **more):
    data = {"model": "claude", "max_tokens": 100, "system": "You read.", "messages": history(steps), **more}
    caller = SimpleNamespace(api_key=key)
    return asyncio.run(guardrail.async_pre_call_hook(caller, None, data, "anthropic_messages")), data


def test_a_conversation_goes_on_as_it_was_sent(gateway):
    guardrail = GCGuardrail(gateway, TOKEN, 9_000, guardrail_name="gc")
    (first, given), (later, _) = sent(guardrail, 16), sent(guardrail, 17)
    assert len(json.dumps(first["messages"])) < len(json.dumps(given["messages"])) // 2
    assert later["messages"][: len(first["messages"])] == first["messages"]
    assert {**first, "messages": None} == {**given, "messages": None}
    assert given["messages"] == history(16)  # the caller's own list


def test_callers_have_conversations_of_their_own(gateway):
    guardrail = GCGuardrail(gateway, TOKEN, 9_000, guardrail_name="gc")
    (one, _), (other, _) = sent(guardrail, 20, "key-2"), sent(guardrail, 16, "key-3")
    assert len(one["messages"]) != len(other["messages"])
    again, _ = sent(guardrail, 20, "key-2", litellm_session_id="another")
    assert again["messages"] == one["messages"]


def test_a_request_passes_as_it_came_where_no_gateway_answers(gateway):
    for url, token in (("http://127.0.0.1:1", TOKEN), (gateway, "another")):
        answer, given = sent(GCGuardrail(url, token, 9_000, guardrail_name="gc"), 16)
        assert answer is given


class Other(http.server.BaseHTTPRequestHandler):
    """Another program where the gateway was: it answers at once, or not in time."""

    answer: bytes | None = b""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        if self.answer is None:
            self.server.released.wait(20)
            return
        self.send_response(200)
        self.send_header("content-length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("said", [b"<html>It works!</html>", b"[1]", b"{}", b'{"messages": null}', None])
def test_a_request_passes_as_it_came_where_something_else_answers(said, monkeypatch):
    monkeypatch.setattr("gc_litellm.guardrail._SECONDS", 0.3)
    handler = type("Answering", (Other,), {"answer": said})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.released = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        answer, given = sent(GCGuardrail(url, guardrail_name="gc"), 2)
        server.released.set()
        server.shutdown()
    assert answer is given
