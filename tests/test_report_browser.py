"""The page of a report in a real browser: it is drawn, agrees with the session, and can be used by keyboard."""

import os
from pathlib import Path

import pytest
from ctxgc.evaluation.transcripts import read_transcript
from ctxgc.report.page import page
from ctxgc.report.reading import read
from ctxgc.report.recording import replay_into

from gc_core import GCConfig, GCSession
from tests.support.browser import opened, require_chromium, running, until
from tests.support.corpus import corpus_dir, require_corpus
from tests.support.say import answer, user

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "examples" / "session.jsonl"
IMAGES = ROOT / "docs" / "images"
WIDE = {"width": 1320, "height": 1000}
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">\u202e\u2028\x00 \ud800 <b>&amp;\r\n"
TRACES = "() => document.getElementById('window').data.map(({meta, x, y, text}) => ({meta, x, y, text}))"
SHOWN = "() => document.querySelector('#item-texts pre').textContent"
INSIDE = "() => document.activeElement.id || document.activeElement.tagName"


@pytest.fixture(scope="module")
def browser():
    require_chromium()
    with running() as browser:
        yield browser


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The report of the demo, and where its page is."""
    root = tmp_path_factory.mktemp("demo")
    config = GCConfig(strategy="gc_budget", context_limit=16_000)
    replay_into(root / "session", read_transcript(DEMO), config=config, model="claude-sonnet-4-5")
    report = read(root / "session", name=DEMO.name)
    (root / "page.html").write_bytes(page(report))
    return report, root / "page.html"


@pytest.fixture(scope="module")
def drawn(browser, demo):
    with opened(browser, demo[1], viewport=WIDE) as page:
        yield page


@pytest.fixture
def shown(drawn):
    """
    The page of the demo as it is when it is opened: drawing it again for every test would take most of
    their time.
    """
    yield drawn
    drawn.evaluate("""() => {
        document.getElementById('item').close();
        for (const node of document.querySelectorAll('#changes details')) node.open = false;
    }""")
    drawn.locator("#query").fill("")
    drawn.evaluate("document.activeElement.blur()")


def first_removed(report):
    """The first collection's first item, and its original."""
    key = report.collections[0].removals[0].items[0]
    (item,) = [item for item in report.items if item.id == key]
    return key, report.texts[item.original]


@pytest.mark.parametrize("division", ["kinds", "sources", "policies"])
def test_the_chart_has_every_call_and_adds_up_to_its_request(division, shown, demo):
    report, _ = demo
    shown.locator(f"input[value={division}]").check(force=True)
    until(shown, f"document.getElementById('window').data[0].meta === '{first_part(report, division)}'")
    traces = shown.evaluate(TRACES)
    areas = [trace for trace in traces if trace["meta"] not in {"limit", "changes"}]
    assert {trace["meta"] for trace in areas} == {
        share.name for call in report.calls for share in getattr(call, division)
    }
    assert all(trace["x"] == [call.number for call in report.calls] for trace in areas)
    assert [sum(column) for column in zip(*(trace["y"] for trace in areas), strict=True)] == [
        call.tokens for call in report.calls
    ]
    assert shown.locator("#window .scatterlayer .trace").count() == len(traces)


def first_part(report, division):
    """What lies at the bottom of the stack."""
    names = {share.name for call in report.calls for share in getattr(call, division)}
    return next(name for name in ("system_text", "system", "locked") if name in names)


def test_the_mark_of_a_collection_says_what_was_taken_and_why(shown, demo):
    report, _ = demo
    change = report.collections[0]
    (marks,) = [trace for trace in shown.evaluate(TRACES) if trace["meta"] == "changes"]
    assert marks["x"] == [each.before for each in report.collections]
    assert f"collection 1 ({change.reason}) by gc_budget: −{change.freed:,} tokens" in marks["text"][0]
    assert f"stub, {change.removals[0].reason}" in marks["text"][0]
    box = shown.locator("#window .nsewdrag").first.bounding_box()
    place = shown.evaluate("x => document.getElementById('window')._fullLayout.xaxis.l2p(x)", change.before)
    shown.mouse.move(box["x"] + place, box["y"] + box["height"] / 2)
    shown.locator("#window .hoverlayer", has_text="collection 1 (threshold)").wait_for()


def test_a_click_on_what_left_opens_its_original_letter_by_letter(shown, demo):
    key, original = first_removed(demo[0])
    shown.locator("#change-1 summary").click()
    shown.locator(f"#change-1 button[data-item={key}]").first.click()
    assert shown.locator("#item").is_visible()
    assert shown.evaluate(SHOWN) == original
    assert "[gc: " in shown.locator("#item-texts pre").nth(1).text_content()
    shown.locator("#close").click()
    assert not shown.locator("#item").is_visible()


def test_the_budget_of_every_call_is_that_of_its_request(shown, demo):
    report, _ = demo
    assert int(shown.locator("#tree").get_attribute("data-tokens")) == report.tokens
    for number in (1, 40):
        shown.locator("#slider").fill(str(number))
        until(shown, f"document.getElementById('tree').dataset.tokens === '{report.calls[number - 1].tokens}'")
    locked = shown.locator("#tree .row", has_text="system").first
    assert "●" in locked.text_content()


def test_search_finds_texts_that_left_and_opens_them(shown, demo):
    key, original = first_removed(demo[0])
    phrase = original.splitlines()[0].strip()[:40]
    shown.locator("#query").fill(f'"{phrase}"')
    hit = shown.locator(f"#results button[data-item={key}]")
    assert phrase in hit.locator("mark").text_content()
    hit.click()
    assert shown.evaluate(SHOWN) == original
    shown.keyboard.press("Escape")
    shown.locator("#query").fill("nobody ever said this")
    assert shown.locator("#count").text_content() == "0 items"


def test_everything_can_be_reached_by_keyboard(shown, demo):
    report, _ = demo
    shown.keyboard.press("/")
    assert shown.evaluate(INSIDE) == "query"
    shown.keyboard.press("Escape")
    for _ in range(12):
        if shown.evaluate(INSIDE) == "window":
            break
        shown.keyboard.press("Tab")
    shown.keyboard.press("Home")
    shown.keyboard.press("ArrowRight")
    shown.locator("#said", has_text=f"Call 2: {report.calls[1].tokens:,}").wait_for()
    shown.keyboard.press("PageDown")
    shown.locator("#said", has_text=f"Call {report.collections[0].before}:").wait_for()
    shown.keyboard.press("Enter")
    assert shown.locator("#change-1").get_attribute("open") is not None
    shown.locator("#change-1 .removal").first.wait_for()
    shown.keyboard.press("ArrowDown")
    outline = shown.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    shown.keyboard.press("Enter")
    assert (outline, shown.locator("#item").is_visible()) == ("solid", True)
    assert shown.evaluate(SHOWN) == first_removed(report)[1]
    shown.keyboard.press("Escape")
    assert not shown.locator("#item").is_visible()
    assert shown.evaluate("() => document.activeElement.dataset.item") == first_removed(report)[0]


def test_it_is_dark_where_that_is_preferred_and_where_it_is_switched(browser, shown, demo):
    ground = "() => getComputedStyle(document.body).backgroundColor"
    with opened(browser, demo[1], viewport=WIDE, color_scheme="dark") as dark:
        preferred = dark.evaluate(ground)
        dark.locator("#theme").click()
        assert dark.evaluate(ground) == shown.evaluate(ground) != preferred


def test_cache_and_cost_are_drawn_by_call_and_cumulated(shown, demo):
    costs = [call.cost for call in demo[0].calls]
    shown.locator("#cache").scroll_into_view_if_needed()
    until(shown, "document.getElementById('cost').data !== undefined")
    drawn = "id => document.getElementById(id).data.map(({meta, y}) => [meta, y])"
    assert dict(shown.evaluate(drawn, "cache"))["read"] == [cost.read for cost in costs]
    shown.locator("input[name=sums][value=all]").check(force=True)
    assert dict(shown.evaluate(drawn, "cache"))["written"][-1] == sum(cost.written for cost in costs)
    assert shown.evaluate(drawn, "cost")[0][1][-1] == pytest.approx(sum(cost.price for cost in costs))


def test_what_a_session_says_never_runs_nor_what_was_put_into_its_page(browser, tmp_path):
    with GCSession(GCConfig(), directory=tmp_path / "s") as session:
        session.system(base=HOSTILE)
        session.append(user(HOSTILE))
        session.pre_send()
        session.post_turn(answer("Done."))
    report = read(tmp_path / "s", name=HOSTILE.encode("utf-8", "replace").decode())
    (tmp_path / "page.html").write_bytes(page(report))
    with opened(browser, tmp_path / "page.html", refusing=True) as shown:
        shown.locator("#query").fill("onerror")
        shown.locator("#results button[data-item=i1]").click()
        # Lone surrogates do not come through the driver: the browser says which letters it has.
        letters = (
            "() => [...document.querySelector('#item-texts pre').textContent].map(letter => letter.codePointAt(0))"
        )
        assert shown.evaluate(letters) == [ord(letter) for letter in HOSTILE]
        assert (shown.title() == "owned", shown.locator("img").count()) == (False, 0)
        assert shown.evaluate("fetch('https://example.org/').then(() => 'went', () => 'refused')") == "refused"
        run = "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))"
        shown.evaluate(run)
        assert shown.evaluate("window.ran") is None


@pytest.mark.skipif(os.environ.get("GC_SCREENSHOTS") != "1", reason="the pictures of the documents: GC_SCREENSHOTS=1")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_for_the_documents(scheme, browser, demo):
    IMAGES.mkdir(exist_ok=True)
    with opened(browser, demo[1], viewport=WIDE, color_scheme=scheme) as shown:
        if scheme == "light":
            shown.locator("section[aria-labelledby=window-title]").screenshot(path=IMAGES / "window.png")
        shown.locator("#change-2 summary").click()
        shown.locator("#tree summary", has_text="turn 3").click()
        shown.mouse.move(0, 0)
        shown.screenshot(path=IMAGES / f"report-{scheme}.png")
    assert (IMAGES / f"report-{scheme}.png").stat().st_size < 300_000


@pytest.mark.slow
def test_the_report_of_1600_messages_is_small_and_drawn(browser, tmp_path):
    require_corpus()
    (path,) = corpus_dir().glob("concat-entire-336605*.jsonl")
    often = {"gc_rolling": {"nursery_tokens": 500}}
    config = GCConfig(strategy="gc_rolling", context_limit=100_000, strategies=often)
    replay_into(tmp_path / "s", read_transcript(path), config=config)
    written = page(read(tmp_path / "s"))
    assert len(written) < 10_000_000
    (tmp_path / "page.html").write_bytes(written)
    with opened(browser, tmp_path / "page.html") as shown:
        assert shown.locator("#changes details").count() > 100
