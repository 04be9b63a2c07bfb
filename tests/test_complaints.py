"""What users of other systems complain about (docs/complaints.md), where no other test looks at it yet."""

import json
import re
from pathlib import Path

import pytest

from gc_core import ContextOverflowError, GCConfig, GCSession, GCTriggerReason, ItemKind, Plugins
from gc_core.events import CollectionFinished
from tests.support.checker import complaints
from tests.support.promises import canonical
from tests.support.say import call, lines, result, results, schema, use, user

ROOT = Path(__file__).parents[1]
STRATEGIES = ["gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive"]
FORMATS = ["openai", "anthropic"]
TOOL = "mcp__files__read-file"
"""A name with all that systems like to change."""

PLUGINS = Plugins.discover()
FILES = re.compile(r"`((?:gc_core|plugins|tests|examples|benchmarks)/[\w./-]+)`")
NAMED = re.compile(r"(?P<file>(?:tests|plugins)/[\w/]+\.py)::(?P<test>test_\w+)")


def session_with(strategy="gc_truncate", window=6_000, *, format="openai", **more):  # noqa: A002 - the session's word
    """A session with a small window, and what it collected."""
    own = {key: more.pop(key) for key in ("directory", "model") if key in more}
    config = GCConfig(strategy=strategy, context_limit=window, output_reservation=0, reread_guard="off", **more)
    collected = []
    session = GCSession(config, format=format, **own)
    session.listen(lambda event: collected.append(event.result) if isinstance(event, CollectionFinished) else None)
    return session, collected


def called(session, *keys):
    """A reply that calls the tool, once for each key."""
    named = [(key, TOOL, {"path": f"{key}.py"}) for key in keys]
    return call(*named) if session.format == "openai" else use(*named)


def answered(session, key, size=60):
    text = f"{key}.py\n{lines(size, key)}"
    return result(key, text) if session.format == "openai" else results((key, text))


def work(session, steps, *, first=0, size=60):
    """So many model calls with a tool call and its result each; the requests."""
    requests = []
    for place in range(first, first + steps):
        requests.append(session.pre_send())
        session.post_turn(called(session, f"c{place}"))
        session.append(answered(session, f"c{place}", size))
    return requests


def taken(session):
    """The next request, which the provider has to take."""
    request = session.pre_send()
    assert complaints(session.format, request.kwargs()) == []
    return request


def text_of(request):
    return json.dumps([*request.system, *request.messages], ensure_ascii=False)


def names_in(request):
    """Names of the tools that the request's calls name."""
    openai = (call["function"]["name"] for message in request.messages for call in message.get("tool_calls") or ())
    blocks = (
        block for message in request.messages if isinstance(message["content"], list) for block in message["content"]
    )
    return {*openai, *(block["name"] for block in blocks if block.get("type") == "tool_use")}


# -- structure (1 to 11, 31) -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", FORMATS)
def test_at_every_depth_calls_keep_their_results_users_their_words_and_tools_their_names(kind, strategy):
    """Half of the batches lack one result, as they do in the reports: a cut must not fall between the others."""
    session, collected = session_with(strategy, 200_000, format=kind, preserve_recent_turns=1)
    with session:
        for turn in range(6):
            session.append(user(f"Wish number {turn}: keep it."))
            for step in range(3):
                key = f"c{turn}x{step}"
                session.append(called(session, key, f"{key}dead") if step % 2 else called(session, key))
                session.append(answered(session, key))
        taken(session)
        for target in (4, 3, 2, 1):
            session.collect_now(target_percent=target)
            request = taken(session)
            assert all(f"Wish number {turn}: keep it." in text_of(request) for turn in range(6))
            assert names_in(request) == {TOOL}
        texts = [item.text for item in session.items() if item.kind in {ItemKind.SUMMARY, ItemKind.TRACE}]
        assert collected
        assert all(TOOL in text for text in texts if "read-file" in text or "read_file" in text)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_history_of_tool_calls_alone_is_collected_all_the_same(kind, strategy):
    session, collected = session_with(strategy, format=kind)
    with session:
        for place in range(40):
            session.append(called(session, f"c{place}"))
            session.append(answered(session, f"c{place}"))
        assert taken(session).tokens <= 6_000
        assert {result.reason for result in collected} == {GCTriggerReason.THRESHOLD}


@pytest.mark.parametrize("kind", FORMATS)
def test_a_confirmation_many_collections_later_is_honoured(kind):
    session, collected = session_with("gc_budget", format=kind)
    with session:
        session.append(user("Delete it once I have said yes."))
        session.append(called(session, "ask"))
        session.collect_now(target_percent=0)
        assert session.view().units[-1].pending  # what waits is not collected
        session.append(user("What would it delete?"))
        work(session, 30)
        session.append(result("ask", "yes, delete") if kind == "openai" else results(("ask", "yes, delete")))
        assert "yes, delete" in text_of(taken(session))
        assert len(collected) >= 3


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_call_without_a_result_stops_no_collection(strategy):
    session, collected = session_with(strategy)
    with session:
        session.append(user("Do it."))
        session.append(called(session, "dead"))
        assert max(request.tokens for request in work(session, 30)) <= 6_000
        assert len(collected) >= 3
        taken(session)


# -- loops without progress (16 to 19) -------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_where_hardly_anything_may_go_collections_are_few_and_each_frees_something(strategy):
    session, collected = session_with(strategy, 8_000)
    with session:
        session.system(rules="word " * 6_600)  # LOCKED, and above the threshold by itself
        session.append(user("Do it."))
        work(session, 30, size=12)
        assert min(result.tokens_freed for result in collected) >= 0.05 * 8_000
        assert len(collected) <= 30 / 2
        before = len(collected)
        assert taken(session).messages == taken(session).messages
        assert len(collected) <= before + 1


def test_a_request_that_can_never_fit_is_reported_at_once_and_every_time():
    session, collected = session_with("gc_summarize")
    with session:
        session.system(rules="word " * 7_000)
        session.append(user("Do it."))
        for _ in range(3):
            with pytest.raises(ContextOverflowError, match="rules"):
                session.pre_send()
        assert collected == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_another_model_with_a_smaller_window_needs_one_pass(strategy):
    session, collected = session_with(strategy, 60_000)
    with session:
        session.append(user("Do it."))
        for place in range(40):  # as they come from elsewhere: nothing is collected meanwhile
            session.append(called(session, f"c{place}"))
            session.append(answered(session, f"c{place}"))
        session.switch(context_limit=6_000)
        assert taken(session).tokens <= 6_000
        assert taken(session).tokens <= 6_000
        assert len(collected) == 1


# -- lost tools (30) -------------------------------------------------------------------------------------------------


def test_a_tool_that_was_left_out_is_named_and_comes_back_when_it_is_given_again():
    session, _ = session_with("gc_budget", 5_000)
    tools = [schema(TOOL), schema("web_search", description="Searches. " * 300)]
    with session:
        session.tools(tools, discoverable={"web_search"})
        session.append(user("Do it."))
        work(session, 12)
        session.collect_now(target_percent=5)
        request = taken(session)
        assert [tool["function"]["name"] for tool in request.tools] == [TOOL]
        assert "not callable until they are given again: web_search]" in text_of(request)
        session.tools(tools, discoverable={"web_search"}, refresh="now")
        assert len(taken(session).tools) == 2


def test_a_tool_that_the_agent_uses_is_never_left_out():
    session, _ = session_with("gc_budget", 5_000)
    with session:
        session.tools([schema(TOOL, description="Reads. " * 300)], discoverable={TOOL})
        session.append(user("Do it."))
        work(session, 12)
        session.collect_now(target_percent=5)
        assert len(taken(session).tools) == 1


# -- the cache (33 to 35) --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", [*STRATEGIES, ("gc_budget", "gc_summarize")], ids=str)
def test_in_a_long_turn_the_prefix_breaks_once_a_collection_and_never_besides(strategy):
    """However many strategies take part: two passes one after the other would be two breaks."""
    session, collected = session_with(strategy)
    breaks, seen, sent = 0, 0, []
    with session:
        session.append(user("Do it."))
        for place in range(36):
            now = [canonical(message) for message in session.pre_send().messages]
            if now[: len(sent)] != sent:
                breaks += 1
                assert len(collected) > seen
            seen, sent = len(collected), now
            session.post_turn(called(session, f"c{place}"))
            session.append(answered(session, f"c{place}"))
    assert 0 < breaks <= len(collected)


# -- the way back (40, 41) -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_in_one_long_tool_loop_summaries_follow_and_a_reopened_session_has_them(strategy, tmp_path):
    session, collected = session_with(strategy, directory=tmp_path / "session")
    with session:
        session.append(user("Do it."))
        work(session, 32)
        before = taken(session)
    with GCSession.open(tmp_path / "session") as opened:
        assert opened.pre_send().messages == before.messages
        (hit,) = opened.search("c3 59 of the text", role="tool", entity="c3.py")
        assert opened.recall(hit.item) == f"c3.py\n{lines(60, 'c3')}"
        assert "c3 59 of the text" not in text_of(before)
    assert len(collected) >= 2


# -- the page itself -------------------------------------------------------------------------------------------------


def test_every_report_of_the_list_is_on_the_page():
    page = (ROOT / "docs" / "complaints.md").read_text()
    rows = re.findall(r"^\| (\d+(?:, \d+)*) \|", page, re.MULTILINE)
    assert sorted(int(number) for row in rows for number in row.split(", ")) == list(range(1, 43))
    assert len(set(re.findall(r"https://github\.com/[\w.-]+/[\w.-]+/issues/\d+", page))) == 60


def test_every_test_that_a_document_names_is_there():
    missing = [
        f"{path.relative_to(ROOT)}: {found['file']}::{found['test']}"
        for path in sorted((ROOT / "docs").rglob("*.md"))
        for found in NAMED.finditer(path.read_text())
        if f"def {found['test']}(" not in source(found["file"])
    ]
    assert missing == []


def source(name):
    path = ROOT / name
    return path.read_text() if path.is_file() else ""


@pytest.mark.parametrize("folder", ["seeds", "explanation", "."])
def test_every_file_that_these_pages_name_is_there(folder):
    pages = sorted((ROOT / "docs" / folder).glob("*.md")) if folder != "." else [ROOT / "docs" / "complaints.md"]
    named = {name for page in pages for name in FILES.findall(page.read_text())}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
