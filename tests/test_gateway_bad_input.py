"""What the gateway does with bad input of clients and upstreams, and with requests that want to go elsewhere."""

import contextlib
import gzip
import http.client
import json
import re
import shutil
import socket
import stat
import threading
from pathlib import Path
from urllib.parse import urlsplit

import attrs
import httpx2
import pytest
import zstandard
from gc_agents.announcements import FOLDER
from gc_gateway import upstream
from gc_gateway.serving import running
from gc_gateway.settings import Settings
from gc_gateway.settings_loading import load_settings
from gc_gateway.stream_openings import StreamOpening

from gc_core import ConfigError, GCError, Plugins, hookimpl
from tests.support.standin import StandIn

HEADERS = {"x-api-key": "key-1", "anthropic-version": "2023-06-01", "content-type": "application/json"}
HELLO = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello."}]}
TOOLS = [{"name": "bash", "description": "Runs.", "input_schema": {"type": "object"}}]
DIALECTS = ("anthropic", "openai", "responses", "gemini")
ROOT = Path(__file__).parents[1]


@pytest.fixture
def provider():
    with StandIn(calls=0) as standin:
        yield standin


@pytest.fixture
def settings(tmp_path, provider):
    upstreams = dict.fromkeys(DIALECTS, provider.url)
    return Settings(directory=tmp_path / "lanes", upstreams=upstreams, windows={"*": 8_000})


@pytest.fixture
def gateway(settings):
    with running(settings) as (url, gateway):
        gateway.url = url
        yield gateway


def posted(url, body=HELLO, path="/v1/messages", **headers):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    with httpx2.Client(trust_env=False, timeout=20) as client:
        return client.post(f"{url}{path}", content=content, headers={**HEADERS, **headers})


def dialogue(url, request, *, half_close=False):
    """Send bytes as they are; return what comes back until the connection is closed."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), 10) as connection:
        connection.sendall(request)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        with contextlib.suppress(ConnectionError):
            while chunk := connection.recv(65_536):
                received += chunk
        return received


def raw_request(target, body=b"", *, length=None, more=b""):
    head = f"POST {target} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: key-1\r\nconnection: close\r\n".encode()
    size = len(body) if length is None else length
    return head + more + f"content-length: {size}\r\n\r\n".encode() + body


def texts_in(directory):
    return b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())


# -- where requests go -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        *(
            "http://evil.example/v1/messages",
            "//evil.example/v1/messages",
            "/v1/%2e%2e/secrets",
            "/v1/%2E%2E%2Fsecrets",
        ),
        *("/v1/..;/secrets/..", "/v1/%252e%252e/secrets", "/v1/a\\..\\b", "/..%5c..%5csecrets"),
    ],
)
def test_no_target_leads_out_of_the_upstream(provider, gateway, target):
    answer = dialogue(gateway.url, raw_request(target, json.dumps(HELLO).encode()))
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 404"))
    assert provider.seen == []


def test_no_line_of_a_header_is_smuggled_in_by_a_path(provider, gateway):
    dialogue(gateway.url, raw_request("/v1/models%0d%0ahost:%20evil.example%0d%0ax-injected:%201"))
    assert all("x-injected" not in seen.headers for seen in provider.seen)
    assert all(seen.headers["host"].startswith("127.0.0.1") for seen in provider.seen)


def test_a_host_header_does_not_choose_the_upstream(provider, gateway):
    answer = posted(gateway.url, host="evil.example", **{"x-forwarded-host": "evil.example"})
    assert answer.status_code == 200
    assert provider.seen[-1].headers["host"].startswith("127.0.0.1")


def test_an_address_for_others_needs_a_token(tmp_path):
    with pytest.raises(ConfigError, match="set a token"):
        Settings(directory=tmp_path, host="0.0.0.0")  # noqa: S104 - it is refused


def test_the_credentials_of_an_upstream_are_in_no_error(settings):
    upstreams = dict.fromkeys(DIALECTS, "http://user:secret@127.0.0.1:9")
    with running(attrs.evolve(settings, upstreams=upstreams)) as (url, _):
        answer = posted(url)
    assert answer.status_code == 502
    assert "secret" not in answer.text
    assert "127.0.0.1:9" in answer.json()["error"]["message"]
    for wrong in ("ftp://user:secret@host", "user:secret@host", "http://user:se/cret@host?x", "http://u:secret@[::1"):
        with pytest.raises(ConfigError, match="expected a base URL") as refused:
            Settings(directory=settings.directory, upstreams={"openai": wrong})
        assert "cret" not in str(refused.value)


def test_headers_pass_byte_for_byte_whatever_letters_they_have(provider, gateway):
    """Codex tells the working directory in one."""
    body = json.dumps(HELLO).encode()
    folder = '{"cwd": "/srv/zoë/日本"}'.encode()
    answer = dialogue(
        gateway.url, raw_request("/v1/messages", body, more=b"x-codex-turn-metadata: " + folder + b"\r\n")
    )
    assert answer.startswith(b"HTTP/1.1 200")
    assert provider.seen[-1].headers["x-codex-turn-metadata"].encode("latin-1") == folder


# -- bodies ------------------------------------------------------------------------------------------------------------


def test_a_body_without_a_declared_length_is_refused_as_soon_as_it_is_too_long(provider, settings):
    def endless():
        while True:
            yield b"x" * 10_000

    with running(attrs.evolve(settings, body_bytes=100_000)) as (url, _), httpx2.Client(trust_env=False) as client:
        with contextlib.suppress(httpx2.WriteError):
            assert client.post(f"{url}/v1/messages", content=endless(), headers=HEADERS).status_code == 413
        bomb = zstandard.compress(b'{"messages": "' + b"x" * 1_000_000 + b'"}')
        assert posted(url, bomb, **{"content-encoding": "zstd"}).status_code == 413
        assert posted(url).status_code == 200
    assert len(provider.seen) == 1


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_a_body_that_is_not_compressed_as_it_says_is_400(provider, gateway, encoding):
    answer = posted(gateway.url, b"not compressed at all", **{"content-encoding": encoding})
    assert answer.status_code == 400
    assert answer.json()["type"] == "error"
    assert provider.seen == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages", {"model": "m", "input": "Hello."}),
        ("/v1/messages", {"contents": [{"role": "user", "parts": [{"text": "Hello."}]}]}),
        ("/v1/chat/completions", {"model": "m", "contents": []}),
        ("/v1/responses", HELLO),
        ("/v1beta/models/m:generateContent", HELLO),
        ("/v1/messages", {**HELLO, "messages": [{"role": "model", "parts": [{"text": "Hello."}]}]}),
        ("/v1/messages", {**HELLO, "messages": ["Hello.", 5, None]}),
        ("/v1/messages", {**HELLO, "messages": [{"role": "user", "content": {"type": "text"}}]}),
        ("/v1/messages", {**HELLO, "system": 5, "tools": "none", "max_tokens": "many"}),
        ("/v1/messages", {**HELLO, "output_config": [], "thread": "x", "metadata": {"user_id": "{"}}),
        ("/v1/responses", {"model": "m", "input": [5]}),
        ("/v1beta/models/m:generateContent", {"contents": [{"parts": 5}], "generationConfig": 5}),
    ],
)
def test_what_another_dialect_says_goes_on_as_it_came_and_is_the_providers_business(provider, gateway, path, body):
    before = json.dumps(body).encode()
    posted(gateway.url, before, path)
    assert provider.seen[-1].raw == before
    assert posted(gateway.url).status_code == 200


def test_a_body_that_ends_too_early_reaches_nobody(provider, gateway):
    body = json.dumps(HELLO).encode()
    dialogue(gateway.url, raw_request("/v1/messages", body[:40], length=len(body)), half_close=True)
    assert provider.seen == []
    assert [path.name for path in gateway.settings.directory.glob("*") if path.name != FOLDER] == []
    assert posted(gateway.url).status_code == 200


def test_a_slow_client_keeps_nobody_waiting(provider, gateway):
    body, parts = json.dumps(HELLO).encode(), urlsplit(gateway.url)
    with socket.create_connection((parts.hostname, parts.port), 10) as slow:
        slow.sendall(raw_request("/v1/messages", body[:10], length=len(body)))
        for _ in range(3):
            assert posted(gateway.url).status_code == 200
        slow.sendall(body[10:])
        assert slow.recv(100).startswith(b"HTTP/1.1 200")
    assert provider.seen[-1].raw == body


# -- clients that leave, and upstreams that misbehave ------------------------------------------------------------------


class Upstream:
    """Answers every request with the bytes of a script, piece by piece; a pause where it says None."""

    def __init__(self, *script, leaves=True):
        self.script, self.leaves, self.closed = script, leaves, threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._listening.close()
        self._thread.join()

    def _serve(self):
        self._listening.settimeout(0.05)
        while not self._done.is_set():
            with contextlib.suppress(OSError), self._listening.accept()[0] as connection:
                self._answer(connection)

    def _answer(self, connection):
        connection.settimeout(5)
        _read_request(connection)
        connection.settimeout(0.05)
        for piece in self.script:
            if piece is not None:
                connection.sendall(piece)
                continue
            while not self._done.is_set():  # it stalls, until it is left
                with contextlib.suppress(TimeoutError):
                    if not connection.recv(65_536):
                        self.closed.set()
                        return
        if not self.leaves:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset


def _read_request(connection):
    """Read a request with its body: a connection that is closed with unread bytes is reset."""
    with connection.makefile("rb") as stream:
        headers = http.client.parse_headers(stream) if stream.readline() else {}
        stream.read(int(headers.get("content-length", 0)))


STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
STARTED = b'event: message_start\ndata: {"type": "message_start", "message": {"usage": {"input_tokens": 50}}}\n\n'
FAILED = b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'


def chunk(data):
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


@contextlib.contextmanager
def before(upstream_of, settings):
    """A gateway before an upstream."""
    with (
        upstream_of,
        running(attrs.evolve(settings, upstreams=dict.fromkeys(DIALECTS, upstream_of.url))) as (url, gateway),
    ):
        gateway.url = url
        yield gateway


def streamed(url):
    """What a client gets of a stream, and whether that was all."""
    body, received = {**HELLO, "stream": True, "tools": TOOLS}, b""
    with httpx2.stream("POST", f"{url}/v1/messages", json=body, headers=HEADERS, trust_env=False, timeout=20) as answer:
        try:
            for piece in answer.iter_raw():
                received += piece
        except httpx2.HTTPError:
            return received, False
    return (received, True) if answer.status_code == 200 else (b"", False)


@pytest.mark.parametrize("leaves", [True, False], ids=["ends", "resets"])
def test_a_stream_that_breaks_off_is_no_whole_one_for_the_client(settings, leaves):
    with before(Upstream(STREAM, chunk(STARTED), leaves=leaves), settings) as gateway:
        received, whole = streamed(gateway.url)
        assert not whole
        assert received in {STARTED, b""}
        assert httpx2.get(f"{gateway.url}/healthz", trust_env=False).status_code == 200
        (lane,) = gateway.lanes.open
        assert lane.counts.calls == 1


CREATED = b'event: response.created\r\ndata: {"type": "response.created", "response": {"error": null}}\r\n\r\n'
NOT_JSON = b"data: it exceeds the context window\n\n"
REFUSED_LATE = b'data: {"type": "error", "error": {"message": "prompt is too long: 9 tokens > 5 maximum"}}\n\n'


@pytest.mark.parametrize(
    "events",
    [
        (STARTED, FAILED),
        (FAILED,),
        (CREATED, FAILED),
        (CREATED[:9], CREATED[9:], CREATED, STARTED),
        (CREATED,),
        (b": alive\n\n", STARTED, b": alive\n\n"),
        (NOT_JSON, b"data: [DONE]\n\n"),
        (b'data: {"type": []}\n\n', b"data: [DONE]\n\n"),
        (STARTED, REFUSED_LATE),
        (REFUSED_LATE,),
    ],
    ids=lambda events: str([event[:25] for event in events]),
)
def test_a_stream_passes_as_it_is(settings, events):
    """An error too, and a refusal for length where a reply has begun, or nothing more can leave."""
    with before(Upstream(STREAM, *map(chunk, events), b"0\r\n\r\n"), settings) as gateway:
        assert streamed(gateway.url) == (b"".join(events), True)


def test_no_more_of_a_stream_is_held_than_its_first_event_may_have():
    opening, sent = StreamOpening(""), 0
    while opening.holds(b"data: [" + b"1," * 5_000):
        sent += 1
    assert 10 < sent < 50
    assert len(opening.held) < 300_000


def test_a_stream_in_an_encoding_passes_as_it_is(settings):
    sent = gzip.compress(CREATED + FAILED)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\n\r\n"
    with before(Upstream(head, sent), settings) as gateway:
        assert streamed(gateway.url) == (sent, True)


def test_what_was_held_of_a_stream_that_breaks_off_reaches_the_client(settings):
    with before(Upstream(STREAM, chunk(CREATED)), settings) as gateway:
        assert streamed(gateway.url) == (CREATED, False)


def test_a_client_that_leaves_before_the_first_event_leaves_the_upstream_too(settings):
    stalls = Upstream(STREAM, chunk(CREATED), None)
    with before(stalls, settings) as gateway:
        body = {**HELLO, "stream": True}
        with httpx2.stream("POST", f"{gateway.url}/v1/messages", json=body, headers=HEADERS, trust_env=False) as answer:
            assert answer.status_code == 200, "its headers do not wait"
        assert stalls.closed.wait(10)


def test_an_upstream_that_stalls_is_given_up_after_a_while(settings, monkeypatch):
    monkeypatch.setattr(upstream, "TIMEOUT", httpx2.Timeout(5.0, read=0.2))
    with before(Upstream(STREAM, chunk(STARTED), None), settings) as gateway:
        assert streamed(gateway.url) == (STARTED, False)
    with before(Upstream(None), settings) as gateway:
        answer = posted(gateway.url)
        assert answer.status_code == 502
        assert answer.json()["type"] == "error"


def test_a_client_that_leaves_in_mid_stream_leaves_the_upstream_too_and_the_lane_goes_on(settings):
    stalls = Upstream(STREAM, chunk(STARTED), None)
    with before(stalls, settings) as gateway:
        body = {**HELLO, "stream": True}
        with httpx2.stream("POST", f"{gateway.url}/v1/messages", json=body, headers=HEADERS, trust_env=False) as answer:
            assert next(answer.iter_raw()) == STARTED
        assert stalls.closed.wait(10)
        (lane,) = gateway.lanes.open
        assert lane.lock.acquire(timeout=10)  # it is given back right after the upstream is left
        lane.lock.release()
        assert lane.counts.calls == 1


def test_json_in_json_that_is_too_deep_to_read_is_the_providers_business(provider, gateway):
    deep = '{"a":' + "[" * 20_000
    for body, headers in (({**HELLO, "metadata": {"user_id": deep}}, {}), (HELLO, {"x-codex-turn-metadata": deep})):
        assert posted(gateway.url, body, **headers).status_code == 200
        assert provider.seen[-1].body == body


def test_a_reply_that_is_too_deep_to_read_passes_whole(settings):
    reply = b'{"usage": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(reply)}\r\n\r\n"
    with before(Upstream(head.encode() + reply), settings) as gateway:
        assert raw_answer(gateway.url) == (reply, None)


REFUSED = b'{"type": "error", "error": {"type": "invalid_request_error", "message": "top_k: too small"}}'


def raw_answer(url, **headers):
    """The bytes of an answer, and its encoding."""
    with httpx2.stream(
        "POST", f"{url}/v1/messages", json=HELLO, headers={**HEADERS, **headers}, trust_env=False
    ) as answer:
        return b"".join(answer.iter_raw()), answer.headers.get("content-encoding")


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip", "rot13"])
def test_a_refusal_passes_as_it_came_in_whatever_encoding(settings, encoding):
    sent = {"zstd": zstandard.compress, "gzip": gzip.compress}.get(encoding, lambda data: data[::-1])(REFUSED)
    head = f"HTTP/1.1 400 Bad Request\r\ncontent-encoding: {encoding}\r\ncontent-length: {len(sent)}\r\n\r\n"
    with before(Upstream(head.encode() + sent), settings) as gateway:
        assert raw_answer(gateway.url, **{"accept-encoding": encoding}) == (sent, encoding)


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("gzip, deflate, br, zstd", "gzip, deflate, zstd"),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip;q=0.8"),
        ("br", "identity"),
        ("gzip,deflate", "gzip,deflate"),
    ],
)
def test_a_turn_is_answered_in_an_encoding_that_can_be_read(provider, gateway, given, asked):
    """Else no refusal for length would be understood, and no usage."""
    posted(gateway.url, **{"accept-encoding": given})
    assert provider.seen[-1].headers["accept-encoding"] == asked


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ((b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}",), None),
        ((b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{} and more",), b"{}"),
        ((b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",), None),
        ((b"no HTTP at all\r\n\r\n",), None),
        ((b"",), None),
    ],
    ids=["too short", "too long", "no chunk", "no HTTP", "nothing"],
)
def test_an_upstream_that_lies_is_an_error_or_what_it_declared(settings, script, said):
    with before(Upstream(*script), settings) as gateway:
        try:
            answer = posted(gateway.url)
        except httpx2.HTTPError:
            assert said is None
        else:
            assert (answer.status_code, answer.content) == (200, said) if said else answer.status_code == 502
        assert httpx2.get(f"{gateway.url}/readyz", trust_env=False).status_code == 200


# -- files -------------------------------------------------------------------------------------------------------------


def test_directories_and_files_are_their_owners_alone(gateway):
    assert posted(gateway.url).status_code == 200
    found = [gateway.settings.directory, *gateway.settings.directory.rglob("*")]
    assert len(found) > 3
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in found if path.is_dir())


def test_secrets_that_a_plugin_knows_reach_no_file_and_no_provider(provider, settings, monkeypatch):
    class Knows:
        @hookimpl
        def gc_redact(self, text):
            return text.replace("hunter2", "[secret]")

    plugins = Plugins.discover()
    plugins.register(Knows(), name="knows")
    monkeypatch.setattr("gc_gateway.lanes.Plugins.discover", lambda: plugins)
    body = {**HELLO, "messages": [{"role": "user", "content": "My password is hunter2."}]}
    with running(settings) as (url, _):
        for name in ("a", ""):
            assert posted(url, body, **{"x-gc-lane": name}).status_code == 200
    assert b"[secret]" in texts_in(settings.directory)
    for text in (texts_in(settings.directory), *(seen.raw for seen in provider.seen)):
        assert b"hunter2" not in text


# -- the file of settings ----------------------------------------------------------------------------------------------


WRONG_FILES = {
    "[gatway]\nport = 5\n": "[gatway] is not read: call it [gateway]",
    "[gc]\n[gatway]\nport = 5\n": "[gatway] is not read: call it [gateway]",
    "[gc]\n[tool.gc-gateway]\nport = 5\n": "[tool.gc-gateway] is not read: call it [gateway]",
    '[gc]\n[windows]\n"*" = 8000\n': "[windows] is not read: call it [gateway.windows]",
    "port = 5\n[gc]\n": "port is not read: write port in the table [gateway]",
    "[project]\n": "has neither a table [gateway] nor a table [gc]; it has ['project']",
    "[gateway\n": "cannot be read",
    "gateway = 5\n": "gateway = 5; expected a table [gateway]",
    "[gateway]\nprt = 5\n": "no key prt = 5; did you mean port?",
    "[gateway]\nxylophone = 5\n": "no key xylophone = 5; known: ['body_bytes', ",
    "[gateway]\ndirectory = 5\n": "directory = 5: expected the path of a directory",
    "[gateway]\nhost = 5\n": "host = 5: expected an address",
    "[gateway]\nport = 'x'\n": "port = 'x': expected a whole number from 0 to 65535",
    "[gateway]\nport = 99999\n": "port = 99999: expected a whole number from 0 to 65535",
    "[gateway]\ntoken = 5\n": "token is of type int: expected a text",
    "[gateway]\ndefault_window = 'x'\n": "default_window = 'x': expected a whole number of at least 1",
    "[gateway]\nbody_bytes = 0\n": "body_bytes = 0: expected a whole number of at least 1",
    "[gateway]\nidle_seconds = 'x'\n": "idle_seconds = 'x': expected a number of seconds",
    "[gateway]\nidle_seconds = nan\n": "idle_seconds = nan: expected a number of seconds",
    "[gateway]\nopen_lanes = -1\n": "open_lanes = -1: expected a whole number of at least 1",
    "[gateway]\nopen_lanes = true\n": "open_lanes = True: expected a whole number of at least 1",
    "[gateway]\nwindows = 8000\n": "windows = 8000: expected a table of model = tokens",
    '[gateway.windows]\n"*" = "8000"\n': """windows."*" = '8000': expected a whole number of tokens""",
    "[gateway]\nupstreams = 'http://x'\n": "upstreams = 'http://x': expected a table of dialect = URL",
    "[gateway.upstreams]\nopenai = 5\n": "upstreams.openai = 5: expected a base URL",
    "[gateway.upstreams]\nopnai = 'http://x'\n": "upstreams.opnai = 'http://x': expected one of the dialects "
    "['anthropic', 'gemini', 'openai', 'responses']; did you mean openai?",
    "[gc]\ntarget_percnt = 50\n": "unknown key 'target_percnt' = 50; did you mean target_percent?",
    "[gc.provider_edits]\ncompact_percent = 50\n": "provider_edits = {'compact_percent': 50}: expected none",
}


def test_calls_whose_lane_cannot_be_opened_pass_and_are_counted_once_each(provider, gateway, settings):
    shutil.rmtree(settings.directory)
    settings.directory.touch()
    for _ in range(2):
        assert posted(gateway.url, {**HELLO, "tools": TOOLS}).status_code == 200
    totals = gateway.lanes.totals()
    assert (totals.calls, totals.passed, len(provider.generations)) == (2, 2, 2)
    assert gateway.lanes.busiest == ""


def test_the_file_of_settings_in_the_documents_is_read(tmp_path):
    page = (ROOT / "docs" / "how-to" / "gateway.md").read_text()
    (tmp_path / "gc.toml").write_text(page.partition("```toml\n")[2].partition("```")[0])
    settings = load_settings(tmp_path / "gc.toml")
    assert (settings.port, settings.window("gpt-5-mini"), settings.default_window) == (8787, 128_000, 200_000)
    assert settings.upstream("openai") == "https://proxy.example/v1"


@pytest.mark.parametrize("text", WRONG_FILES)
def test_a_wrong_file_of_settings_is_an_error_that_says_what_would_be_right(tmp_path, text):
    (tmp_path / "gc.toml").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(WRONG_FILES[text])):
        load_settings(tmp_path / "gc.toml", host=None)


def test_a_wrong_table_of_the_file_is_an_error_beside_a_flag_for_the_same_table(tmp_path):
    (tmp_path / "gc.toml").write_text("[gateway]\nwindows = 8000\n")
    with pytest.raises(ConfigError, match="windows = 8000"):
        load_settings(tmp_path / "gc.toml", windows={"gpt-5": 9_000})


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        ("PROT", "1", "unknown environment variable GC_GATEWAY_PROT = '1'; did you mean GC_GATEWAY_PORT?"),
        ("XYLOPHONE", "1", "unknown environment variable GC_GATEWAY_XYLOPHONE = '1'; known: ['GC_GATEWAY_BODY"),
        ("UPSTREAM_OPNAI", "http://x", "GC_GATEWAY_UPSTREAM_OPNAI = 'http://x'; did you mean GC_GATEWAY_UPSTREAM_OP"),
        ("UPSTREAM_OPENAI", "x:80", "upstreams.openai = 'x:80': expected a base URL"),
        ("WINDOWS", "8000", "GC_GATEWAY_WINDOWS = '8000': a table has no variable; write [gateway.windows] in a file"),
        ("PORT", "x", "GC_GATEWAY_PORT = 'x': expected a whole number"),
        ("PORT", "99999", "port = 99999: expected a whole number from 0 to 65535"),
        ("IDLE_SECONDS", "x", "GC_GATEWAY_IDLE_SECONDS = 'x': expected a number"),
        ("OPEN_LANES", "-1", "open_lanes = -1: expected a whole number of at least 1"),
    ],
)
def test_a_wrong_variable_is_an_error_that_says_what_would_be_right(monkeypatch, variable, text, said):
    monkeypatch.setenv(f"GC_GATEWAY_{variable}", text)
    with pytest.raises(ConfigError, match=re.escape(said)):
        load_settings()


def test_a_misspelt_token_is_not_repeated(monkeypatch, tmp_path):
    (tmp_path / "gc.toml").write_text("[gateway]\ntokn = 's3cret'\n")
    with pytest.raises(ConfigError, match=r"no key tokn; did you mean token\?"):
        load_settings(tmp_path / "gc.toml")
    monkeypatch.setenv("GC_GATEWAY_TOKN", "s3cret")
    with pytest.raises(ConfigError, match=r"variable GC_GATEWAY_TOKN; did you mean GC_GATEWAY_TOKEN\?"):
        load_settings()


def test_every_scalar_key_has_a_variable_and_the_agents_own_is_left_alone(monkeypatch):
    monkeypatch.setenv("GC_GATEWAY_IDLE_SECONDS", "2.5")
    monkeypatch.setenv("GC_GATEWAY_OPEN_LANES", "7")
    monkeypatch.setenv("GC_GATEWAY_URL", "http://127.0.0.1:8787")
    settings = load_settings()
    assert (settings.idle_seconds, settings.open_lanes) == (2.5, 7)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('strategy = "gc_bugdet"', "no strategy 'gc_bugdet'; installed: .*; did you mean gc_budget?"),
        ("strategies.gc_budget.kep = 1", "strategy 'gc_budget' has no option 'kep'; it has .*; did you mean keep?"),
        ('memory_backend = "fls"', "no memory backend 'fls'; .*; did you mean files?"),
        ('summarizer = "lm"', "no summarizer 'lm'; .*; did you mean llm?"),
    ],
)
def test_a_name_that_no_lane_could_resolve_stops_the_gateway_before_it_listens(tmp_path, text, said):
    (tmp_path / "gc.toml").write_text(f"[gc]\n{text}\n")
    settings = load_settings(tmp_path / "gc.toml", directory=tmp_path / "lanes")
    with pytest.raises(ConfigError, match=said.replace("?", r"\?")), running(settings):
        pass


def test_a_summarizer_that_asks_the_conversations_own_model_is_no_error_at_the_start(tmp_path):
    (tmp_path / "gc.toml").write_text('[gc]\nsummarizer = "llm"\n')
    with running(load_settings(tmp_path / "gc.toml", directory=tmp_path / "lanes")) as (url, _):
        assert url


def test_a_directory_that_cannot_be_made_stops_the_gateway(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(GCError, match="cannot be created"), running(Settings(directory=tmp_path / "file" / "lanes")):
        pass


def test_the_strategy_that_a_file_names_is_taken_also_where_it_is_the_default_of_the_library(tmp_path, monkeypatch):
    path = tmp_path / "gc.toml"
    for text, strategy in (("[gc]\n", "gc_budget"), ('[gc]\nstrategy = "gc_truncate"\n', "gc_truncate")):
        path.write_text(text)
        assert load_settings(path).config.strategy == (strategy,)
    monkeypatch.setenv("GC_STRATEGY", "gc_truncate")
    assert load_settings().config.strategy == ("gc_truncate",)


@pytest.mark.parametrize("given", ["file", "environment"])
def test_a_context_limit_is_the_window_of_every_model_that_no_pattern_names(given, tmp_path, monkeypatch):
    path = tmp_path / "gc.toml"
    path.write_text('[gateway.windows]\n"gpt-5*" = 90_000\n' + "[gc]\ncontext_limit = 64_000\n" * (given == "file"))
    if given == "environment":
        monkeypatch.setenv("GC_CONTEXT_LIMIT", "64000")
    settings = load_settings(path)
    assert (settings.window("gpt-5-mini"), settings.window("claude-sonnet-4-5"), settings.window("mine")) == (
        90_000, 64_000, 64_000,
    )  # fmt: skip


def test_a_table_of_the_library_beside_the_gateways_is_not_left_unread(tmp_path):
    (tmp_path / "gc.toml").write_text("[gateway]\nport = 5\n[gc_core]\ntarget_percent = 50\n")
    with pytest.raises(ConfigError, match=r"\[gc_core\] is not read: call it \[gc\]"):
        load_settings(tmp_path / "gc.toml")


def test_a_file_of_settings_may_have_the_gateways_table_alone(tmp_path):
    (tmp_path / "gc.toml").write_text('[gateway]\nport = 5\n[gateway.windows]\n"*" = 9000\n')
    assert load_settings(tmp_path / "gc.toml").window("any") == 9_000
