"""The live page of a gateway: over HTTP, and in a real browser while lanes fill."""

import contextlib
import json
import os
import re
import sys
import time
from pathlib import Path

import attrs
import httpx2
import pytest
from gc_gateway.lanes import tokens_left_out
from gc_gateway.serving import running
from gc_gateway.settings import Settings

from tests.support import browser as chrome
from tests.support.standin import DONE, StandIn

WORDS = " ".join(f"word{number}" for number in range(400))
HOSTILE = "<img src=x onerror=\"document.title='owned'\">'\"&amp;</script>"
HTML = {"accept": "text/html,application/xhtml+xml"}
TOKEN = "secret-token"  # noqa: S105 - no real one


@pytest.fixture
def provider():
    with StandIn(calls=0) as standin:
        yield standin


@pytest.fixture
def settings(tmp_path, provider):
    upstreams = dict.fromkeys(("anthropic", "openai", "responses", "gemini"), provider.url)
    return Settings(directory=tmp_path / "lanes", upstreams=upstreams, windows={"*": 12_000})


@pytest.fixture
def gateway(settings):
    with started(settings) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """A gateway without lanes, shared."""
    with StandIn(calls=0) as provider:
        upstreams = dict.fromkeys(("anthropic", "openai", "responses", "gemini"), provider.url)
        with started(Settings(directory=tmp_path_factory.mktemp("quiet"), upstreams=upstreams)) as gateway:
            gateway.provider = provider
            yield gateway


@contextlib.contextmanager
def started(settings):
    with running(settings) as (url, gateway), httpx2.Client(trust_env=False) as gateway.client:
        gateway.url = url
        yield gateway


def turns(gateway, number, *, held=None, model="stand-in", **headers):
    """Take so many turns of a conversation; returns its list, to go on from."""
    held = [{"role": "user", "content": "Read on."}] if held is None else held
    for _ in range(number):
        asked = {"model": model, "max_tokens": 100, "messages": held}
        given = {"x-api-key": "key-1", "anthropic-version": "2023-06-01", **headers}
        answer = gateway.client.post(f"{gateway.url}/v1/messages", json=asked, headers=given)
        assert answer.status_code == 200, answer.text
        held = [*held, {"role": "assistant", "content": DONE}, {"role": "user", "content": f"{len(held)}: {WORDS}"}]
    return held


def get(gateway, path, **headers):
    return gateway.client.get(f"{gateway.url}{path}", headers={**HTML, **headers})


# -- what is shown -----------------------------------------------------------------------------------------------------


def test_the_overview_says_what_was_given_and_what_was_sent(gateway):
    turns(gateway, 20)
    overview = gateway.lanes.overview()
    (lane,) = overview.lanes
    assert (lane.counts.calls, lane.counts.collections) == (20, len(lane.latest))
    assert lane.counts.collections >= 1
    assert 0 < lane.tokens <= lane.limit < 12_000
    assert overview.totals == lane.counts
    assert lane.counts.sent_tokens < lane.counts.given_tokens
    assert all(each.tokens_freed > 0 and each.reason for each in lane.latest)


def test_nothing_is_saved_where_nothing_was_collected(gateway):
    turns(gateway, 3)
    totals = gateway.lanes.overview().totals
    assert (totals.calls, totals.given_tokens) == (3, totals.sent_tokens)


def test_what_left_out_weighs_is_about_a_token_for_four_letters_and_nothing_for_images():
    kept, text = {"role": "user", "content": "Hello."}, {"role": "user", "content": "a word " * 1_000}
    image = {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo" * 10_000}}
    stub = {"role": "user", "content": "[gc: left out]"}
    assert tokens_left_out([kept, text], [kept, text]) == 0
    assert tokens_left_out([kept, text], [kept]) == 7_004 // 4
    assert tokens_left_out([kept, text], [kept, stub]) == (7_000 - 14) // 4
    assert tokens_left_out([kept, {"role": "user", "content": [image]}], [kept]) < 10
    assert tokens_left_out([kept], [kept, text]) == 0


def test_a_lane_that_left_memory_is_still_shown_and_counts_once(gateway):
    held = turns(gateway, 2, **{"x-gc-lane": "a"})
    for _ in range(50):  # the usage of the reply is taken beside it, and opens the lane once more
        gateway.lanes.close_idle(now=1e12)
        time.sleep(0.01)
    overview = gateway.lanes.overview()
    assert [(lane.name, lane.is_open) for lane in overview.lanes] == [("gc:a", False)]
    assert overview.totals.calls == 2
    turns(gateway, 1, held=held, **{"x-gc-lane": "a"})
    overview = gateway.lanes.overview()
    assert [(lane.name, lane.is_open) for lane in overview.lanes] == [("gc:a", True)]
    assert overview.totals.calls == 3


# -- over HTTP ---------------------------------------------------------------------------------------------------------


def test_a_page_that_nobody_else_may_frame_feed_or_read(quiet):
    page = get(quiet, "/")
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert {"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "connect-src 'self'"} <= {
        each.strip() for each in policy.split(";")
    }
    assert "unsafe" not in policy
    assert (page.headers["cache-control"], page.headers["referrer-policy"]) == ("no-store", "no-referrer")
    assert re.findall(r"(?:src|href)=\"(?!data:)[^\"]*\"|https?://", page.text) == []
    assert policy != get(quiet, "/").headers["content-security-policy"]


@pytest.mark.parametrize(
    ("method", "path", "accept"),
    [
        ("GET", "/", "application/json"),
        ("GET", "/", "*/*"),
        ("GET", "/events", "*/*"),
        ("GET", "/lanes/0-0", "application/json"),
        ("GET", "/v1/models", "text/html"),
        ("POST", "/", "text/html"),
    ],
)
def test_every_other_request_passes_upstream(quiet, method, path, accept):
    quiet.provider.seen.clear()
    quiet.client.request(method, f"{quiet.url}{path}", headers={"accept": accept})
    assert [seen.path for seen in quiet.provider.seen] == [path]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::1", ""])
@pytest.mark.parametrize("path", ["/", "/events", "/lanes/0-0"])
def test_a_name_that_was_made_to_lead_here_is_shown_nothing(quiet, host, path):
    answer = get(quiet, path, accept="text/html, text/event-stream", host=host)
    assert answer.status_code in {400, 403}
    assert "data:" not in answer.text.replace('href="data:,"', "")


def test_the_page_asks_for_the_token_and_leads_to_the_path_with_it(provider, settings):
    with started(attrs.evolve(settings, token=TOKEN)) as gateway:
        whole, gateway.url = gateway.url, gateway.url.removesuffix(f"/{TOKEN}")
        asking = get(gateway, "/")
        assert (asking.status_code, TOKEN in asking.text) == (401, False)
        for path in ("/events", "/lanes/0-0"):
            assert get(gateway, path, accept="text/html, text/event-stream").status_code == 401
        for wrong in ({"token": "wrong"}, {"token": ""}, {}, {"other": TOKEN}):
            assert gateway.client.post(f"{gateway.url}/", data=wrong).status_code == 401
        right = gateway.client.post(f"{gateway.url}/", data={"token": TOKEN})
        assert (right.status_code, right.headers["location"]) == (303, f"/{TOKEN}/")
        assert get(gateway, f"/{TOKEN}/").status_code == 200
        without_slash = gateway.client.get(whole, headers=HTML)
        assert (without_slash.status_code, without_slash.headers["location"]) == (307, f"/{TOKEN}/")
    assert provider.seen == []


@pytest.mark.parametrize("key", ["0-0", "..%2f..", "%2e%2e", "lane.json", "", "a-b/c-d", "x" * 300])
def test_there_is_no_report_but_a_lanes_own(quiet, key):
    assert get(quiet, f"/lanes/{key}").status_code in {400, 404}


def test_without_the_workbench_a_report_says_what_to_install(gateway, monkeypatch):
    turns(gateway, 1)
    (lane,) = gateway.lanes.open
    monkeypatch.setitem(sys.modules, "ctxgc.report.page", None)
    answer = get(gateway, f"/lanes/{lane.key}")
    assert answer.status_code == 501
    assert "pip install &quot;gc-gateway[report]&quot;" in answer.text


# -- in a browser ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    chrome.require_chromium()
    with chrome.running() as browser:
        yield browser


@contextlib.contextmanager
def opened(browser, url, *, refused=""):
    """A page; nothing is asked for but this gateway, and the console says nothing but the refusals of the test."""
    context = browser.new_context(viewport={"width": 1000, "height": 800})
    page = context.new_page()
    troubles, asked = [], []
    context.on("console", lambda said: troubles.append(said.text) if said.type in {"error", "warning"} else None)
    context.on("weberror", lambda error: troubles.append(str(error.error)))
    context.on("request", lambda request: asked.append(request.url))
    try:
        page.goto(url)
        yield page
        assert bool(troubles) is bool(refused), troubles
        assert [trouble for trouble in troubles if refused not in trouble] == []
        origin = "/".join(url.split("/")[:3])
        assert [each for each in asked if not each.startswith((origin, "data:"))] == []
    finally:
        context.close()


def figures(page):
    return dict(page.evaluate("[...document.querySelectorAll('dd')].map(node => [node.id, node.textContent])"))


def test_lanes_fill_and_are_collected_while_the_page_is_open(browser, gateway):
    with opened(browser, gateway.url) as page:
        page.locator("#none").wait_for()
        held = turns(gateway, 3)
        bar = page.locator("article [role=progressbar]")
        chrome.until(page, "document.querySelector('article .done')?.textContent.startsWith('calls 3 ')")
        little = int(bar.get_attribute("aria-valuenow"))
        held = turns(gateway, 3, held=held)
        chrome.until(page, "document.querySelector('article .done').textContent.startsWith('calls 6 ')")
        assert int(bar.get_attribute("aria-valuenow")) > little > 0
        assert page.evaluate("document.querySelector('.bar i').getBoundingClientRect().width") > 10
        assert page.locator("li").count() == 0
        turns(gateway, 14, held=held)
        chrome.until(page, "document.querySelector('article .done').textContent.startsWith('calls 20 ')")
        (lane,) = gateway.lanes.overview().lanes
        assert page.locator("li").count() == lane.counts.collections
        newest = lane.latest[-1]
        assert newest.reason.replace("_", " ") in page.locator("li").first.text_content()
        assert f"{newest.tokens_freed:,} tokens freed" in page.locator("li").first.text_content()
        assert f"{lane.tokens:,} of {lane.limit:,} tokens" in page.locator(".window").text_content()
        saved = lane.counts.given_tokens - lane.counts.sent_tokens
        assert saved > 0
        assert figures(page)["saved"].startswith(f"{saved:,} (")
        assert figures(page)["calls"] == "20"


def test_a_lane_opens_as_its_report_with_every_original(browser, settings):
    with started(attrs.evolve(settings, token=TOKEN)) as gateway:
        turns(gateway, 12)
        with opened(browser, f"{gateway.url}/") as page:
            page.locator("article a").wait_for()
            with page.context.expect_page() as opening:
                page.locator("article a").click()
            report = opening.value
            chrome.until(report, "document.documentElement?.dataset.ready === 'yes'")
            report.locator("#query").fill('"word399"')
            report.locator("#results button").first.click()
            assert WORDS in report.evaluate("document.querySelector('#item-texts pre').textContent")


def test_what_clients_send_is_text(browser, gateway):
    turns(gateway, 1, **{"x-gc-lane": HOSTILE, "user-agent": f"{HOSTILE}"})
    with opened(browser, gateway.url) as page:
        page.locator("article a").wait_for()
        assert page.locator("article a").text_content() == f"gc:{HOSTILE}"
        assert (page.title(), page.locator("img").count()) == ("gc-gateway", 0)
        page.evaluate("document.body.append(Object.assign(document.createElement('b'), {title: 'here'}))")
        assert page.locator("article b").count() == 0


def test_the_page_runs_no_script_and_asks_no_host_but_its_own(browser, quiet):
    with opened(browser, quiet.url, refused="Content Security Policy") as page:
        page.locator("#none").wait_for()
        assert page.evaluate("fetch('https://example.org/').then(() => 'went', () => 'refused')") == "refused"
        run = "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))"
        page.evaluate(run)
        assert page.evaluate("window.ran") is None


def test_the_money_is_shown_where_the_model_has_a_listed_price(browser, gateway):
    held = turns(gateway, 1)
    with opened(browser, gateway.url) as page:
        page.locator("article").wait_for()
        assert "money" not in figures(page)
        turns(gateway, 20, held=held, model="claude-sonnet-4-5")
        chrome.until(page, "document.querySelector('article .done').textContent.startsWith('calls 21 ')")
        page.locator("#money").wait_for()
        totals = gateway.lanes.overview().totals
        saved = f"{totals.spent_without - totals.spent:.2f}"
        chrome.until(page, f"document.getElementById('money').textContent === '{saved}'")


def test_who_has_the_token_signs_in(browser, settings):
    with started(attrs.evolve(settings, token=TOKEN)) as gateway:
        bare = gateway.url.removesuffix(TOKEN)
        with opened(browser, bare, refused="401 (Unauthorized)") as page:
            page.get_by_label("token").fill("wrong")
            page.keyboard.press("Enter")
            page.get_by_text("This is not the token.").wait_for()
            page.get_by_label("token").fill(TOKEN)
            page.keyboard.press("Enter")
            page.locator("#none").wait_for()
            chrome.until(page, "document.getElementById('state').textContent === 'live'")


def test_an_open_page_does_not_keep_the_gateway_from_stopping(browser, settings):
    with started(settings) as gateway:
        context = browser.new_context()
        page = context.new_page()
        page.goto(gateway.url)
        chrome.until(page, "document.getElementById('state').textContent === 'live'")
    chrome.until(page, "document.getElementById('state').textContent.startsWith('not connected')")
    context.close()


def test_an_event_is_one_line_of_json(gateway):
    turns(gateway, 1)
    with gateway.client.stream("GET", f"{gateway.url}/events", headers={"accept": "text/event-stream"}) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        line = next(stream.iter_lines())
    assert json.loads(line.removeprefix("data: "))["lanes"][0]["counts"]["calls"] == 1


@pytest.mark.skipif(os.environ.get("GC_SCREENSHOTS") != "1", reason="the pictures of the documents: GC_SCREENSHOTS=1")
def test_the_picture_for_the_documents(browser, gateway):
    main = {"X-Claude-Code-Session-Id": "4f1c9d5e", "user-agent": "claude-cli/2.1"}
    turns(gateway, 25, **main)
    turns(gateway, 5, **main, **{"x-claude-code-agent-id": "a1"})
    picture = Path(__file__).parents[1] / "docs" / "images" / "gateway.png"
    with opened(browser, gateway.url) as page:
        page.locator("article").nth(1).wait_for()
        page.screenshot(path=picture, full_page=True, clip={"x": 0, "y": 0, "width": 1000, "height": 560})
    assert picture.stat().st_size < 100_000
