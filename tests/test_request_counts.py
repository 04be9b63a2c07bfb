"""Exact counts of whole requests: vendors' own clients against a loopback endpoint, in a session that needs them."""

import asyncio
import functools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import openai
import pytest
from google import genai
from google.genai import types

from gc_core import AsyncGCSession, ConfigError, GCConfig, GCSession
from gc_core.collector import request_counts as room
from gc_core.collector.request_counts import RequestCounter
from gc_core.providers.calibration import Calibration
from tests.support.inside import moment_of, state_of
from tests.support.say import answer, lines, schema, user

WINDOW = 20_000
HOUSE = "house-model"
"""Nobody knows how it counts."""


class Endpoint:
    """A vendor's counting endpoint on 127.0.0.1: a token for two letters of the body, unless ``status`` refuses."""

    def __init__(self, status=200):
        endpoint = self
        self.bodies, self.paths, self.headers, self.status = [], [], [], status

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                endpoint.bodies.append(body)
                endpoint.paths.append(self.path)
                endpoint.headers.append(dict(self.headers))
                tokens = len(json.dumps(body)) // 2
                counted = {"input_tokens": tokens, "object": "response.input_tokens", "totalTokens": tokens}
                content = json.dumps(counted if endpoint.status == 200 else {"error": {"message": "no"}}).encode()
                self.send_response(endpoint.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                """Be quiet."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    def __enter__(self):
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        return self

    def __exit__(self, *_):
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def tokens(self, place=-1):
        return len(json.dumps(self.bodies[place])) // 2


MADE = []


@pytest.fixture(autouse=True)
def _closed_clients():
    """A client that only Python's garbage collector closes may leave a socket to some other test."""
    yield
    while MADE:
        client = MADE.pop()
        if not isinstance(client, anthropic.AsyncAnthropic):  # that one is closed in its loop
            client.close()


def kept(client):
    MADE.append(client)
    return client


def claude(endpoint, make=anthropic.Anthropic):
    return kept(make(api_key="k", base_url=endpoint.url, max_retries=0))


def gemini(endpoint, **more):
    return kept(genai.Client(api_key="k", http_options=types.HttpOptions(base_url=endpoint.url), **more))


def in_a_loop(test):
    @functools.wraps(test)
    def run():
        asyncio.run(test())

    return run


CLIENTS = {
    "anthropic": ("claude-next-9", claude, "/v1/messages/count_tokens"),
    "responses": (
        HOUSE,
        lambda endpoint: kept(openai.OpenAI(api_key="k", base_url=endpoint.url + "/v1", max_retries=0)),
        "/v1/responses/input_tokens",
    ),
    "gemini": ("gemini-9", gemini, "/v1/models/gemini-9:countTokens"),
}


def said(format_name, text):
    if format_name == "gemini":
        return {"role": "user", "parts": [{"text": text}]}
    return {"role": "user", "content": text}


def declared(format_name):
    if format_name == "anthropic":
        return schema("read", "anthropic")
    named = {"name": "read", "description": "Does it."}
    return named if format_name == "gemini" else {"type": "function", **named, "parameters": {"type": "object"}}


def opened(counter, *, session=GCSession, window=WINDOW, format="openai", model=None, **more):  # noqa: A002 - the word users know it by
    config = GCConfig(context_limit=window, output_reservation=0, reread_guard="off", **more)
    return session(config, strategy="gc_truncate", format=format, model=model, request_counter=counter)


def a_third_more(request, model):  # noqa: ARG001 - what a counter is called with
    """A vendor whose tokenizer makes a third more of everything than an unknown model is taken for."""
    return request.tokens * 4 // 3


def filled(session, number=3, size=1_600):
    """Exchanges of a plain chat, so that their own count is near two thirds of the window."""
    for place in range(number):
        session.append(user(f"{place} " + lines(size // 2, f"q{place}")))
        session.append(answer(lines(size // 2, f"a{place}")))
    session.append(user("And now?"))


# --- the vendors' clients ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_name", CLIENTS)
def test_a_vendors_client_counts_the_request_with_system_text_and_tools(format_name):
    model, make, path = CLIENTS[format_name]
    with Endpoint() as endpoint, opened(make(endpoint), format=format_name, model=model) as session:
        session.system(base="You fix bugs.")
        session.tools([declared(format_name)])
        session.append(said(format_name, "The login test fails."))
        assert session.count_now() == endpoint.tokens()
        assert [each.partition("?")[0] for each in endpoint.paths] == [path]
        body = json.dumps(endpoint.bodies[0])
        assert all(text in body for text in ("You fix bugs.", "The login test fails.", "Does it."))


def test_the_gemini_api_gets_the_whole_request_in_the_field_that_it_has_for_that():
    with Endpoint() as endpoint, opened(gemini(endpoint), format="gemini", model="gemini-9") as session:
        session.system(base="You fix bugs.")
        session.append(said("gemini", "The login test fails."))
        session.count_now()
        whole = endpoint.bodies[0]["generateContentRequest"]
        assert whole["model"] == "models/gemini-9"
        assert whole["contents"] == [said("gemini", "The login test fails.")]
        assert whole["system_instruction"] == {"parts": [{"text": "You fix bugs."}]}


def test_betas_go_with_what_is_counted():
    with (
        Endpoint() as endpoint,
        opened(claude(endpoint), format="anthropic", model="claude-next-9", betas=["compact-2026-01-12"]) as session,
    ):
        session.append(user("Fix it."))
        session.count_now()
        assert endpoint.headers[0]["anthropic-beta"] == "compact-2026-01-12"


@in_a_loop
async def test_an_async_client_is_awaited_and_a_sync_one_runs_in_a_thread():
    for make in (anthropic.AsyncAnthropic, anthropic.Anthropic):
        with Endpoint() as endpoint:
            client = claude(endpoint, make)
            session = opened(client, session=AsyncGCSession, format="anthropic", model="claude-next-9")
            async with session:
                session.append(user("Fix it."))
                assert await session.count_now() == endpoint.tokens()
            await client.close() if make is anthropic.AsyncAnthropic else client.close()


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")  # google-genai 3.4 with aiohttp 3.14
@in_a_loop
async def test_the_client_of_gemini_is_asked_through_its_async_half():
    with Endpoint() as endpoint:
        client = gemini(endpoint)
        async with opened(client, session=AsyncGCSession, format="gemini", model="gemini-9") as session:
            session.append(said("gemini", "Fix it."))
            assert await session.count_now() == endpoint.tokens()
        await client.aio.aclose()


# --- what it decides --------------------------------------------------------------------------------------------------


def test_a_request_that_own_counts_would_let_pass_is_collected():
    with opened(None, model=HOUSE, window=34_000) as session:
        filled(session, 2)
        assert session.pre_send().tokens * 4 / 3 > session.config.usable
    with opened(a_third_more, model=HOUSE, window=34_000) as session:
        filled(session, 2)
        assert session.pre_send().tokens * 4 / 3 <= session.config.usable
        assert session.last_result is not None


def test_a_request_that_own_counts_would_collect_for_nothing_stays():
    for counter, collects in ((None, True), (lambda request, model: request.tokens * 2 // 3, False)):  # noqa: ARG005
        with opened(counter, model=HOUSE, window=30_000, preserve_recent_turns=1) as session:
            filled(session, 8, size=400)
            session.pre_send()
            assert (session.last_result is not None) is collects


def test_nobody_is_asked_while_the_window_is_far_from_the_threshold():
    asked = []
    with opened(lambda request, model: asked.append(model) or request.tokens, model=HOUSE, window=34_000) as session:
        filled(session, 1)
        session.pre_send()
        session.post_turn(answer("Done."))
        assert asked == []


def test_nobody_is_asked_about_what_a_usage_report_has_told():
    asked = []
    with opened(lambda request, model: asked.append(model) or request.tokens, model=HOUSE, window=34_000) as session:
        filled(session, 2)
        request = session.pre_send()
        session.post_turn(answer("Done."), usage={"prompt_tokens": request.tokens, "completion_tokens": 2})
        session.append(user("Go on."))
        session.pre_send()
        assert len(asked) == 1


def test_the_ratio_of_an_unknown_model_is_in_its_first_count():
    assert Calibration().observed(10_000, 13_000, counted=True).estimate(20_000) == 26_000
    assert Calibration().observed(10_000, 13_000).estimate(20_000) == 23_000  # a report may hide overhead
    assert Calibration(exact=True).observed(10_000, 13_000, counted=True).ratio == 1.0


def test_a_session_that_is_opened_again_counts_as_it_did(tmp_path):
    config = GCConfig(context_limit=WINDOW, output_reservation=0)
    with GCSession(config, directory=tmp_path / "s", model=HOUSE, request_counter=a_third_more) as session:
        filled(session, 2)
        counted = session.count_now()
    with GCSession.open(tmp_path / "s") as again:
        assert f"{counted:,} of {WINDOW:,} tokens" in again.explain()


def test_explain_names_who_counted():
    with opened(a_third_more) as session:
        filled(session, 1)
        tokens = session.count_now()
        assert f"a_third_more counted {tokens:,} tokens, gc-core {session.budget.total:,}" in session.explain()


# --- what it costs ----------------------------------------------------------------------------------------------------


def test_what_was_counted_once_is_remembered_between_sessions_whatever_their_marks():
    with Endpoint() as endpoint:
        counter = RequestCounter(claude(endpoint))
        for _ in range(3):
            with opened(counter, format="anthropic", model="claude-next-9") as session:
                session.append(user("Fix it."))
                session.count_now()
        assert len(endpoint.bodies) == 1


def test_another_model_is_asked_for_again():
    counter = RequestCounter(a_third_more)
    with opened(counter, model=HOUSE) as session:
        session.append(user("Fix it."))
        session.count_now()
        session.switch(model="house-model-2")
        assert session.count_now()
    assert len(counter._known) == 2


def test_a_fork_asks_the_same_counter(tmp_path):
    with opened(a_third_more) as session:
        filled(session, 1)
        session.count_now()
        with session.fork(tmp_path / "fork") as branch:
            assert branch.count_now() == session.count_now()


# --- when it fails ----------------------------------------------------------------------------------------------------


def test_an_endpoint_that_refuses_leaves_the_own_counts_and_the_reason():
    with Endpoint(500) as endpoint, opened(claude(endpoint), format="anthropic", model="claude-next-9") as session:
        filled(session, 2)
        estimated = moment_of(session).estimated
        assert session.count_now() == estimated
        assert session.pre_send().messages
        assert "Anthropic's count_tokens failed in count: InternalServerError" in str(session.plugins.failures[0])


def test_after_three_failures_it_is_asked_no_more():
    with Endpoint(500) as endpoint, opened(claude(endpoint), format="anthropic", model="claude-next-9") as session:
        session.append(user("Fix it."))
        for _ in range(5):
            session.count_now()
        assert len(endpoint.bodies) == 3


@pytest.mark.parametrize("said_to_be", [0, -3, "many", None, True, 2**60])
def test_an_answer_that_is_not_a_number_of_tokens_is_a_failure(said_to_be):
    with opened(lambda request, model: said_to_be) as session:  # noqa: ARG005
        session.append(user("Fix it."))
        assert session.count_now() == moment_of(session).estimated
        assert "expected a number of tokens" in str(session.plugins.failures[0])


def test_nobody_waits_for_an_endpoint_that_hangs(monkeypatch):
    monkeypatch.setattr("gc_core.collector.summarizing.COUNT_SECONDS", 0.01)
    come = threading.Event()
    with opened(lambda request, model: come.wait(10)) as session:  # noqa: ARG005
        session.append(user("Fix it."))
        assert session.count_now() == moment_of(session).estimated
        assert "no count within 0.01 seconds" in str(session.plugins.failures[0])
        come.set()


@in_a_loop
async def test_what_is_said_while_a_count_is_awaited_is_not_in_it_and_stays():
    asked, go = asyncio.Event(), asyncio.Event()

    async def counts(request, model):  # noqa: ARG001 - what a counter is called with
        asked.set()
        await go.wait()
        return request.tokens * 2

    async with opened(counts, session=AsyncGCSession) as session:
        session.append(user("Fix it."))
        before = session.budget.total
        counting = asyncio.ensure_future(session.count_now())
        await asked.wait()
        session.append(user("And the other one, " + lines(20)))
        go.set()
        tokens = await counting
        assert tokens > 2 * before
        assert state_of(session).calibration.anchor_raw == before


# --- what cannot count ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["claude", 3, object(), dict])
def test_what_cannot_count_is_refused(given):
    with pytest.raises(
        ConfigError, match=r"request_counter = .*: expected a client of Anthropic, OpenAI, google-genai"
    ):
        opened(given)


def test_a_client_of_another_vendor_is_refused():
    with pytest.raises(ConfigError, match="counts requests of the format 'anthropic', and the session's is 'openai'"):
        opened(anthropic.Anthropic(api_key="k"))


def test_a_client_has_to_be_told_the_model():
    with pytest.raises(ConfigError, match="pass model="):
        opened(anthropic.Anthropic(api_key="k"), format="anthropic")


def test_what_can_only_be_awaited_needs_an_async_session():
    with pytest.raises(ConfigError, match="use AsyncGCSession"):
        opened(anthropic.AsyncAnthropic(api_key="k"), format="anthropic", model="claude-next-9")


def test_without_a_counter_there_is_nothing_to_count_now():
    with opened(None) as session, pytest.raises(ConfigError, match="pass request_counter="):
        session.count_now()


def test_the_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(room, "REMEMBERED", 2)
    counter = RequestCounter(a_third_more)
    with opened(counter) as session:
        for place in range(4):
            session.append(user(f"Text {place}."))
            session.count_now()
    assert len(counter._known) == 2
