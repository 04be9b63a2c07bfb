"""Which requests are read, and what becomes of the others; the changes of the README, made."""

import json
from pathlib import Path

import anthropic
import httpx2
import openai
import pytest
from gc_clients import GCTransport, gc_client
from gc_clients.bodies import turn_of

from gc_core import GCConfig
from gc_core.testing import LoopbackProvider
from gc_core.testing.adapters import DONE, file_of

README = Path(__file__).parents[1] / "README.md"
DIFFS = [part.partition("```")[0] for part in README.read_text().split("```diff\n")[1:]]
HELLO = [{"role": "user", "content": "Hello"}]


class Echo(httpx2.BaseTransport):
    """Keeps requests, and answers with nothing."""

    def __init__(self):
        self.seen = []

    def handle_request(self, request):
        self.seen.append(request)
        return httpx2.Response(200, json={})


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages/count_tokens", {"messages": HELLO}),
        ("/v1/embeddings", {"input": ["Hello"]}),
        ("/v1/messages", {"messages": "Hello"}),
        ("/v1/messages", {"messages": HELLO, "thread": {"type": "continue", "previous_message_id": "m"}}),
        ("/v1/responses", {"input": HELLO, "previous_response_id": "r1"}),
        ("/v1/responses", {"input": HELLO, "conversation": "c1"}),
        ("/v1/responses", {"input": "Hello"}),
        ("/v1beta/models/gemini-3:generateContent", {"contents": HELLO, "cachedContent": "c1"}),
        ("/v1/chat/completions", ["Hello"]),
    ],
)
def test_other_requests_pass_byte_for_byte(path, body):
    echo = Echo()
    content = json.dumps(body, indent=3).encode()
    with httpx2.Client(transport=GCTransport(inner=echo)) as client:
        client.post(f"http://provider{path}", content=content, headers={"content-type": "application/json"})
    assert turn_of(path, body) is None
    assert echo.seen[0].content == content


def test_a_request_that_fits_passes_byte_for_byte_but_for_the_name_of_its_lane():
    echo = Echo()
    content = json.dumps({"model": "m", "messages": HELLO}, indent=3).encode()
    headers = {"content-type": "application/json", "x-gc-lane": "one"}
    with httpx2.Client(transport=GCTransport(inner=echo)) as client:
        client.post("http://provider/v1/messages", content=content, headers=headers)
    assert echo.seen[0].content == content
    assert "x-gc-lane" not in echo.seen[0].headers


def test_conversations_are_told_apart_by_what_they_begin_with():
    one = turn_of("/v1/messages", {"messages": HELLO, "system": "Be brief."})
    grown = turn_of(
        "/v1/messages", {"messages": [*HELLO, {"role": "assistant", "content": "Yes"}], "system": "Be brief."}
    )
    other = turn_of("/v1/messages", {"messages": HELLO, "system": [{"type": "text", "text": "Be long."}]})
    assert one.key == grown.key != other.key


def test_what_cannot_fit_is_refused_in_the_providers_own_words():
    with LoopbackProvider(limit=500) as provider:
        config = GCConfig(strategy="gc_budget", context_limit=500, output_reservation=0)
        client = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="key-1", http_client=gc_client(config))
        with client, pytest.raises(openai.BadRequestError, match="maximum context length is 500"):
            client.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": file_of("all")}])
    assert len(provider.generations) == 1


CREATED = b'event: response.created\ndata: {"type":"response.created","response":{"error":null}}\n\n'
BEGUN = b'data: {"choices":[{"delta":{"content":"Yes"}}]}\n\n'
BUSY = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
TOO_LONG = b'data: {"error":{"message":"too long","code":"context_length_exceeded"}}\n\n'
ALIVE = b": alive\n\n"


class Chunks(httpx2.SyncByteStream):
    def __init__(self, chunks):
        self.chunks, self.closed = chunks, False

    def __iter__(self):
        yield from self.chunks

    def close(self):
        self.closed = True


class Streaming(httpx2.BaseTransport):
    """Answers each request with the next chunks, when the stream before was closed."""

    def __init__(self, *answers):
        self.answers, self.streams = list(answers), []

    def handle_request(self, _request):
        assert all(stream.closed for stream in self.streams)
        self.streams.append(Chunks(self.answers.pop(0)))
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=self.streams[-1])


@pytest.mark.parametrize(
    "chunks",
    [
        (CREATED, BEGUN),
        (CREATED[:9], CREATED[9:] + BEGUN, BEGUN),
        (BUSY,),
        (CREATED, BUSY),
        (BEGUN, TOO_LONG),
        (TOO_LONG,),
        (ALIVE, TOO_LONG),
        (CREATED,),
        (),
    ],
    ids=lambda chunks: " ".join(str(chunk[:12]) for chunk in chunks),
)
def test_a_stream_passes_byte_for_byte(chunks):
    """An error too, and a refusal for length where a reply has begun, or nothing more can leave."""
    inner = Streaming(chunks)
    with httpx2.Client(transport=GCTransport(inner=inner)) as client:
        body = {"model": "m", "messages": HELLO}
        assert client.post("http://provider/v1/chat/completions", json=body).content == b"".join(chunks)
    assert [stream.closed for stream in inner.streams] == [True]


def test_a_refused_stream_is_closed_before_the_second_request():
    inner = Streaming((TOO_LONG,), (BEGUN,))
    config = GCConfig(strategy="gc_budget", context_limit=30_000, output_reservation=0)
    messages = [*HELLO]
    for number in range(12):
        function = {"name": "bash", "arguments": "{}"}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": file_of(str(number))})
    with httpx2.Client(transport=GCTransport(config, inner=inner)) as client:
        answer = client.post("http://provider/v1/chat/completions", json={"model": "m", "messages": messages})
        assert answer.content == BEGUN
    assert [stream.closed for stream in inner.streams] == [True, True]


@pytest.mark.parametrize("is_kept", [True, False])
def test_on_a_full_disk_requests_go_out_as_they_came(is_kept, tmp_path, monkeypatch):
    def write(_handle, _data, _place):
        raise OSError(28, "No space left on device")

    echo, body = Echo(), {"model": "m", "messages": HELLO}
    with httpx2.Client(transport=GCTransport(inner=echo, directory=tmp_path if is_kept else None)) as client:
        client.post("http://provider/v1/chat/completions", json=body)
        with monkeypatch.context() as full:
            full.setattr("gc_core.storage.file_handle.write_at", write)
            for said in ([*HELLO, {"role": "assistant", "content": "Yes?"}], [{"role": "user", "content": "Another"}]):
                answer = client.post("http://provider/v1/chat/completions", json={**body, "messages": said})
                assert answer.status_code == 200
                assert json.loads(echo.seen[-1].content)["messages"] == said


def test_a_cache_mark_on_a_message_that_stays_is_sent_where_it_was():
    with LoopbackProvider(limit=9_000) as provider:
        config = GCConfig(strategy="gc_budget", context_limit=9_000, output_reservation=0)
        messages = [{"role": "user", "content": "Read all."}]
        for number in range(14):
            call = {"type": "tool_use", "id": f"t{number}", "name": "bash", "input": {}}
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": file_of(str(number))}
            messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        messages[-1]["content"][0]["cache_control"] = {"type": "ephemeral"}
        with anthropic.Anthropic(base_url=provider.url, api_key="key-1", http_client=gc_client(config)) as client:
            client.messages.create(model="claude-sonnet-4-5", max_tokens=9, messages=messages)
    sent = provider.generations[0].messages
    assert len(provider.generations[0].raw) < len(json.dumps(messages))
    assert sent[-1] == messages[-1]
    assert sum("cache_control" in json.dumps(message) for message in sent) == 1


@pytest.mark.parametrize("diff", DIFFS, ids=["anthropic", "openai", "google"])
def test_the_client_of_the_readme_answers(diff, monkeypatch):
    names = {}
    with LoopbackProvider(calls=0) as provider:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", provider.url)
        for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
            monkeypatch.setenv(name, "key-1")
        exec("\n".join(line[1:] for line in diff.splitlines() if not line.startswith("-")), names)  # noqa: S102
        client = names["client"]
        if isinstance(client, anthropic.Anthropic):
            text = client.messages.create(model="claude-sonnet-4-5", max_tokens=9, messages=HELLO).content[0].text
        elif isinstance(client, openai.OpenAI):
            text = client.chat.completions.create(model="gpt-5", messages=HELLO).choices[0].message.content
        else:
            text = client.models.generate_content(model="gemini-3-pro", contents="Hello").text
        client.close()
    assert text == DONE
