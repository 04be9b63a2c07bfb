"""The head of a request in layers: its order, whose it is, what it may hold, what a change costs, what is shared."""

import json
import random
import shutil
import tempfile
from pathlib import Path

import attrs
import pytest
from ctxgc.evaluation.cache_simulator import CacheSimulator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gc_core import ORG, TEAM, USER, GCPolicy, GCSession, InstructionSource, ItemKind, Plugins
from gc_core.errors import LogError, SourceError
from gc_core.events import BudgetUpdated, LayerChanged, VolatileLayer
from gc_core.providers.cache_terms import terms_of
from gc_core.providers.token_counting import counter_for
from gc_core.relevance.volatile_text import volatile_in
from gc_core.storage.purge import purge
from gc_core.values.sources import ENRICHMENT, SYSTEM
from tests.support.corpus import openai_sessions, require_corpus
from tests.support.inside import store_of, window_of
from tests.support.likeness import assert_alike
from tests.support.promises import canonical
from tests.support.say import Letters, answer, lines, rounds, schema, small, text_of, use, user
from tests.test_promises import QUICK

LOCKED, PRESERVABLE, PARTIAL, EPHEMERAL = GCPolicy
FORMATS = ("openai", "anthropic")
PLUGINS = Plugins.discover()


def system_texts(request):
    """The system texts of a request, in their order."""
    if request.format == "anthropic":
        return [block["text"] for block in request.system]
    if request.messages[0]["role"] != "system":
        return []
    content = request.messages[0]["content"]
    return [content] if isinstance(content, str) else [block["text"] for block in content]


def sent(session):
    """A session that has sent its first request."""
    session.append(user("Do it."))
    request = session.pre_send()
    session.post_turn(answer("Done."))
    return request


def layered(session):
    session.system(source="user", wishes="Be brief.")
    session.system(source="org", conventions="Two spaces.")
    session.system(base="You fix bugs.")
    session.system(source="team", services="We own billing.")


def changes_in(events, kind=LayerChanged):
    return [event for event in events if isinstance(event, kind)]


# --- order and owners -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_name", FORMATS)
def test_parts_are_ordered_by_layer_then_as_given(format_name):
    with small(format=format_name) as session:
        layered(session)
        session.system(source="org", glossary="A PR is a change.")
        session.system(rules="Never guess.")
        texts = ["You fix bugs.", "Never guess.", "Two spaces.", "A PR is a change.", "We own billing.", "Be brief."]
        assert system_texts(sent(session)) == texts


def test_the_ready_made_sources_are_locked_and_stand_between_system_and_enrichment():
    sources = (SYSTEM, ORG, TEAM, USER, ENRICHMENT)
    assert [source.layer for source in sources] == sorted({source.layer for source in sources})
    assert {source.policy for source in (ORG, TEAM, USER)} == {LOCKED}


def test_a_part_belongs_to_its_source_in_the_budget():
    with small(counter=Letters()) as session:
        layered(session)
        assert session.budget.entry("org").tokens == len("Two spaces.")
        assert session.budget.item("org:conventions").tokens == session.budget.entry("org").locked
        assert [item.id for item in session.items()] == [
            "system:base",
            "org:conventions",
            "team:services",
            "user:wishes",
        ]


def test_a_ready_made_source_is_there_once_it_is_named_and_not_before():
    with small() as session:
        assert "org" not in {source.name for source in session.budget.sources}
        session.system(source="org", conventions="Two spaces.")
        assert ORG in session.budget.sources
        with pytest.raises(SourceError, match="no source 'team'"):
            session.memory("team", notes="x")


def test_a_source_of_the_hosts_own_wins_over_the_ready_made_one_of_its_name():
    own = InstructionSource(name="team", policy=PRESERVABLE, layer=70, cap=30)
    with small() as session:
        session.register_source(own)
        layered(session)
        assert system_texts(sent(session))[-1] == "We own billing."
        assert session.budget.item("team:services").policy is PRESERVABLE


def test_two_sources_may_have_parts_of_one_name():
    with small() as session:
        session.system(source="org", rules="One.")
        session.system(source="team", rules="Two.")
        session.system(rules="Three.")
        session.system(source="org", rules="")
        assert system_texts(sent(session)) == ["Three.", "Two."]


@pytest.mark.parametrize("format_name", FORMATS)
def test_gc_cores_own_text_comes_after_everything_shared_and_everything_private(format_name, tmp_path):
    """The path of a session is a session's byte."""
    with small(format=format_name, directory=tmp_path / "own", strategy="gc_budget") as session:
        session.system(base="You fix bugs.")
        session.tools([schema("read", format_name), schema("find", format_name)], discoverable={"find"})
        sent(session)
        session.collect_now(target_percent=0)
        layered(session)
        session.system(rules="Never guess.", refresh="now")
        texts = system_texts(session.pre_send())
        own = [text.startswith("[gc: ") for text in texts]
        assert own == sorted(own)
        assert sum(own) >= 1
        assert texts[-1].startswith("[gc: ")


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_request_says_how_many_of_its_system_texts_are_shared(format_name, tmp_path):
    with small(format=format_name, directory=tmp_path / "own") as session:
        layered(session)
        session.tools([schema("read_file", format_name)])
        request = sent(session)
        assert (request.stable, len(system_texts(request))) == (3, 5)
    with small(format=format_name) as session:
        session.system(source="user", wishes="Be brief.")
        assert sent(session).stable == 0


WRONG = {
    "an unknown source": ("guild", "unknown source 'guild'; known:"),
    "enrichment": ("enrichment", "cannot own system text"),
    "tool schemas": ("plugin", "cannot own system text"),
    "the conversation": ("conversation", "cannot own system text"),
    "a colon": ("a:b", "has a colon in its name"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_source_that_has_no_system_text_is_refused(case):
    source, message = WRONG[case]
    with small() as session:
        session.register_source(InstructionSource(name="a:b", policy=LOCKED))
        with pytest.raises(SourceError, match=message):
            session.system(source=source, rules="x")


# --- caps -------------------------------------------------------------------------------------------------------------


def capped(session, cap):
    session.register_source(InstructionSource(name="org", policy=LOCKED, layer=20, cap=cap))


@pytest.mark.parametrize("was_sent", [False, True])
def test_more_than_the_cap_is_refused_and_changes_nothing(was_sent):
    with small(counter=Letters()) as session:
        capped(session, 30)
        session.system(source="org", conventions="x" * 20)
        if was_sent:
            sent(session)
        before = session.budget.snapshot()
        with pytest.raises(SourceError, match="'org' would have 40 tokens; its cap is 30"):
            session.system(source="org", more="y" * 20)
        assert session.budget.snapshot() == before
        session.system(source="org", conventions="", more="y" * 20)
        session.system(source="org", more="y" * 30)


def test_parts_and_memory_blocks_of_one_source_share_its_cap():
    with small(counter=Letters()) as session:
        capped(session, 100)
        session.system(source="org", conventions="x" * 60)
        with pytest.raises(SourceError, match="its cap is 100"):
            session.memory("org", news="y" * 30)
        with pytest.raises(SourceError, match="its cap is 100"):
            session.system(source="org", conventions="x" * 101)


def test_a_counter_that_counts_more_refuses_no_session_that_was_within_its_cap(tmp_path):
    with small(directory=tmp_path / "own") as session:
        capped(session, 30)
        session.system(source="org", conventions="Two spaces, and no tabs, nowhere at all.")
        sent(session)
    with GCSession.open(tmp_path / "own", counter=Letters()) as other:
        assert other.budget.entry("org").tokens > 30
        other.system(source="org", conventions="", refresh="now")
        assert other.budget.entry("org").tokens == 0


# --- what a change costs ----------------------------------------------------------------------------------------------


def watched(format_name="openai", **more):
    events = []
    session = small(8_000, format=format_name, counter=Letters(), on_event=events.append, **more)
    session.system(base="b" * 10, rules="r" * 20)
    session.system(source="org", conventions="c" * 40)
    session.tools([schema("read", format_name), schema("find", format_name)])
    sent(session)
    events.clear()
    return session, events


def tokens_of(session, *kinds):
    return sum(item.tokens for item in session.items() if item.kind in kinds)


def test_before_the_first_request_nothing_is_invalidated():
    events = []
    with small(on_event=events.append) as session:
        layered(session)
        session.system(base="Another.")
        assert changes_in(events) == []


@pytest.mark.parametrize(
    ("format_name", "lost"), [("anthropic", ("system", "messages")), ("openai", ("tools", "system", "messages"))]
)
def test_a_changed_part_reports_the_tokens_read_again_from_it_on(format_name, lost):
    session, events = watched(format_name)
    with session:
        said = session.budget.total - tokens_of(session, ItemKind.SYSTEM_TEXT, ItemKind.TOOL_SCHEMA)
        schemas = tokens_of(session, ItemKind.TOOL_SCHEMA) if "tools" in lost else 0
        session.system(rules="R" * 25)
        (changed,) = changes_in(events)
        behind = 25 + 40 + said + schemas
        assert changed == LayerChanged(
            source="system", part="rules", layer=0, waits=True, invalidates=lost, tokens=behind
        )


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_changed_schema_loses_everything_from_it_on(format_name):
    session, events = watched(format_name)
    with session:
        session.tools([schema("read", format_name), schema("look", format_name)], refresh="now")
        (changed,) = changes_in(events)
        assert (changed.source, changed.part, changed.waits) == ("plugin", "look, find", False)
        assert changed.invalidates == ("tools", "system", "messages")
        assert changed.tokens == session.budget.total - session.budget.item("plugin:read").tokens


def test_a_removed_part_invalidates_what_followed_it():
    session, events = watched("anthropic")
    with session:
        said = session.budget.total - tokens_of(session, ItemKind.SYSTEM_TEXT, ItemKind.TOOL_SCHEMA)
        session.system(rules="", refresh="now")
        assert [changed.tokens for changed in changes_in(events)] == [40 + said]


def test_a_change_waits_for_the_next_break_and_explain_says_what_it_will_cost():
    session, events = watched()
    with session:
        session.system(source="org", conventions="C" * 41)
        assert "C" * 41 not in text_of(session.pre_send())
        (changed,) = changes_in(events)
        assert changed.waits
        assert f"org:conventions (layer 20): {changed.tokens:,} tokens of tools, system, messages" in session.explain()
        session.post_turn(answer("x"))
        rounds(session, 8)
        session.collect_now(target_percent=20)
        assert session.last_result is not None
        assert "C" * 41 in text_of(session.pre_send())
        assert "read again" not in session.explain()


def test_refresh_now_takes_what_waits_along():
    session, events = watched("anthropic")
    with session:
        session.system(source="org", conventions="C" * 41)
        session.system(rules="R", refresh="now")
        assert [changed.waits for changed in changes_in(events)] == [True, False]
        assert all(text in text_of(session.pre_send()) for text in ("C" * 41, '"R"'))
        assert "wait for the next" not in session.explain()


def test_an_unchanged_text_changes_nothing_and_emits_no_event(tmp_path):
    session, events = watched(directory=tmp_path / "own")
    with session:
        before = (tmp_path / "own" / "master.jsonl").read_bytes()
        for refresh in ("break", "now"):
            session.system(base="b" * 10, nothing="", refresh=refresh)
            session.system(source="org", conventions="c" * 40, refresh=refresh)
            session.tools([schema("read"), schema("find")], refresh=refresh)
        assert events == []
        assert (tmp_path / "own" / "master.jsonl").read_bytes() == before


def test_a_text_that_waits_and_is_given_again_for_now_takes_effect():
    session, events = watched()
    with session:
        session.system(rules="R")
        session.system(rules="R")
        assert len(changes_in(events)) == 1
        session.system(rules="R", refresh="now")
        assert "R" in system_texts(session.pre_send())


def test_a_change_that_is_taken_back_waits_no_more():
    session, events = watched()
    with session:
        session.system(rules="R")
        session.tools([schema("read")])
        session.system(rules="r" * 20)
        session.tools([schema("find"), schema("read")])
        assert "wait for the next" not in session.explain()
        assert [changed.part for changed in changes_in(events)] == ["rules", "find"]


def test_a_part_that_is_only_held_otherwise_invalidates_nothing():
    session, events = watched()
    with session:
        session.system(rules="r" * 20, policy=PRESERVABLE, refresh="now")
        assert changes_in(events) == []
        assert session.budget.item("system:rules").policy is PRESERVABLE


# --- the order of tools -----------------------------------------------------------------------------------------------


def test_the_same_schemas_in_another_order_keep_the_order_that_was_sent(caplog):
    caplog.set_level("INFO", logger="gc_core")  # a command in another test may have quietened it
    names = [f"tool{place}" for place in range(9)]
    session, events = watched()
    with session:
        session.tools(map(schema, names), discoverable=names[:4], refresh="now")
        first = session.pre_send().tools
        events.clear()
        for seed in range(4):
            random.Random(seed).shuffle(names)  # noqa: S311 - no secrets
            turned = [dict(reversed(schema(name).items())) for name in names]
            session.tools(turned, discoverable=[f"tool{place}" for place in range(4)], refresh="now")
            assert json.dumps(session.pre_send().tools) == json.dumps(first)
        assert changes_in(events) == []
    assert "tool order kept" in caplog.text


def test_before_the_first_request_the_last_order_is_the_one_that_is_sent():
    with small() as session:
        session.tools([schema("read"), schema("find")])
        session.tools([schema("find"), schema("read")])
        assert [tool["function"]["name"] for tool in sent(session).tools] == ["find", "read"]


# --- no byte of a user or a session -----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["system", "org", "team"])
def test_a_shared_layer_with_a_private_text_is_refused_by_part_layer_and_name(source):
    with small() as session:
        session.private(user="ada@example.org")
        before = session.budget.snapshot()
        with pytest.raises(
            SourceError, match=rf"{source}:about \(layer \d+\) contains a private value: user"
        ) as refused:
            session.system(source=source, about="You work for ADA@example.org, mostly.")
        assert "ada@example.org" not in str(refused.value).lower()
        assert session.budget.snapshot() == before
        session.system(source="user", about="You work for ada@example.org.")
        session.system(source=source, about="You work for ada@example.organisation and nada@example.org.")


def test_a_tool_schema_with_a_private_text_is_refused():
    with small() as session:
        session.private(user="ada")
        with pytest.raises(SourceError, match=r"plugin:read \(layer 10\) contains a private value: user"):
            session.tools([schema("read", description="Reads a file of Ada's.")])
        session.tools([schema("read", description="Reads the adapter.")])


@pytest.mark.parametrize("was_sent", [False, True])
def test_what_stands_or_waits_already_is_found_when_a_text_is_declared(was_sent):
    with small() as session:
        session.system(base="You fix bugs.")
        if was_sent:
            sent(session)
        session.system(source="org", about="Made for Ada.")
        with pytest.raises(SourceError, match=r"org:about .* private value: user"):
            session.private(user="Ada")
        session.system(base="Ada's.")
        session.system(source="org", about="")
        session.system(base="You fix bugs.")
        session.private(user="Ada")


def test_the_sessions_own_directory_and_id_are_private_in_shared_layers(tmp_path):
    with small(directory=tmp_path / "own") as session:
        key = store_of(session).session
        for text, what in ((f"Logs are in {tmp_path / 'own'}/logs.", "directory"), (f"This is {key}.", "id")):
            with pytest.raises(SourceError, match=f"system:about .* the session's {what}"):
                session.system(about=text)
            session.system(source="user", about=text)


def test_no_file_holds_what_is_private(tmp_path):
    with small(directory=tmp_path / "own", checkpoint_every_n_steps=1) as session:
        session.private(user="ada@example.org")
        session.system(base="You fix bugs.")
        sent(session)
        session.checkpoint()
        for path in (tmp_path / "own").rglob("*"):
            assert not path.is_file() or b"ada@example.org" not in path.read_bytes()


@pytest.mark.parametrize(("value", "message"), [("ab", "at least 3 letters"), (5, "expected a text")])
def test_a_value_that_cannot_be_searched_for_is_refused(value, message):
    with small() as session, pytest.raises(SourceError, match=message):
        session.private(user=value)


def test_a_private_text_can_be_taken_back():
    with small() as session:
        session.private(user="Ada", team="Byron")
        session.private(user="")
        session.system(base="Ada is a language.")
        with pytest.raises(SourceError, match="team"):
            session.system(base="Byron is a poet.")


def test_a_branch_keeps_what_is_private(tmp_path):
    with small(directory=tmp_path / "own") as session:
        session.private(user="Ada")
        sent(session)
        with session.fork(tmp_path / "branch") as branch, pytest.raises(SourceError, match="user"):
            branch.system(base="Ada is a language.")


# --- volatile text ----------------------------------------------------------------------------------------------------

VOLATILE = {
    "Today is 2026-11-22 14:03.": "what day or time it is now",
    "Today's date: Sun Nov 22, 2026": "what day or time it is now",
    "Today's date is **November 22, 2026**.": "what day or time it is now",
    "The current date and time is: 22/11/2026 14:03": "what day or time it is now",
    "Current time: 14:03": "what day or time it is now",
    "<date>It is Friday.</date>": "what day or time it is now",
    "The current time is 2024-05-15 15:00:00 EST.": "what day or time it is now",
    "Built 2026-11-22T08:56:30Z": "a time with its date",
    "Sun Nov 22 08:56:30 UTC 2026": "a time of day",
    "You serve 4caeb77e-48c0-4cf7-b14d-c53ded855ffd.": "a UUID",
    "The server runs as PID 48213.": "the number of a process",
    "Session ID: 8f2k1-zz91": "an id of one session or request",
    "Answer with request_id = 01J9ZQ4T7C.": "an id of one session or request",
    "You are in run_01J9ZQ4T7CABCDEF.": "an id made by chance",
    "State 9e107d9d372bb6826bd81d3542a419d6 holds.": "an id made by chance",
    "Write to /tmp/tmpab12_xyz/out.txt": "a scratch file",
    "Write to /tmp/gc-core-x7k2p9qa/out.txt": "a scratch file",
    "Write to /tmp/job-48213": "a scratch file",
    "Files: /var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T": "a scratch file",
    "timestamp: 1763800000": "a time since 1970",
}

STABLE = [
    "We write Python 3.11 since 2024-05-01.",
    "Office hours are 9:00-17:00, Monday to Friday; the stand-up is at 9:30 am.",
    "The API is versioned by date: 2023-06-01.",
    "If the current date is unknown, ask.",
    "When it is Monday, post the report.",
    "Ask what the current time is.",
    "Today is a good day to fix bugs.",
    "Timestamps look like 2024-05-01T12:00:00Z.",
    "Use `2024-05-01T12:00:00Z` for times and `HH:MM:SS` for clocks.",
    "Times are of the form HH:MM:SS, for example 12:34:56.",
    "An id is a UUID, e.g. 123e4567-e89b-12d3-a456-426614174000.",
    "The nil UUID 00000000-0000-0000-0000-000000000000 means nobody.",
    "See https://example.org/docs/4caeb77e-48c0-4cf7-b14d-c53ded855ffd.",
    "Ids are like:\n```\n4caeb77e-48c0-4cf7-b14d-c53ded855ffd\n```\n",
    "Keep scratch files in /tmp, logs in /tmp/logs/app.log and /tmp/python3.",
    "The session id is in the header X-Session-Id.",
    "Pass the request id: it is required.",
    "Kill the process by its pid.",
    "Colours are #ff8800 and #00ff88; the port is 8080; the ratio is 16:9.",
    "Genesis 1:26, RFC 3339, ISO 8601, chapter 10:12.",
    "Since 1970 time counts in seconds; a timestamp is a number.",
    "The cat ran 1600000000 times.",
]


@pytest.mark.parametrize("text", VOLATILE)
def test_text_that_will_be_another_one_next_time_is_found(text):
    assert [found.why for found in volatile_in(f"You fix bugs.\n{text}\nBe brief.")] == [VOLATILE[text]]


@pytest.mark.parametrize("text", STABLE)
def test_text_that_stays_is_not_taken_for_volatile(text):
    assert list(volatile_in(f"You fix bugs.\n{text}\nBe brief.")) == []


def test_of_the_system_prompts_of_real_sessions_only_those_with_the_time_are_found():
    require_corpus()
    found = set()
    first = [json.loads(path.read_text("utf-8").partition("\n")[0]) for path in openai_sessions()]
    texts = {message["content"] for message in first if message["role"] == "system"}
    for text in texts:
        found.update(each.excerpt for each in volatile_in(text))
    assert len(texts) >= 8
    assert all(excerpt.startswith("The current time is 20") for excerpt in found), found


@pytest.mark.parametrize("source", ["system", "org", "user"])
def test_volatile_text_is_reported_once_and_stays_in_explain(source, caplog, tmp_path):
    events = []
    with small(on_event=events.append, directory=tmp_path / "own") as session:
        for _ in range(2):
            session.system(source=source, clock="Be brief. Today is 2026-11-22 14:03.")
        (found,) = changes_in(events, VolatileLayer)
        excerpt, why = "Today is 2026-11-22 14:03.", "what day or time it is now"
        assert found == VolatileLayer(source=source, part="clock", excerpt=excerpt, why=why)
        assert "layer is volatile" in caplog.text
        sent(session)
        assert f"{source}:clock is volatile ({why}): {excerpt}" in session.explain()
        assert "gc: log is volatile" not in session.explain()
    with GCSession.open(tmp_path / "own") as session:
        assert f"{source}:clock is volatile" in session.explain()


def test_a_volatile_schema_is_reported_too():
    events = []
    with small(on_event=events.append) as session:
        session.tools([schema("read", description="Reads. Session ID: 8f2k1-zz91")])
        assert [found.part for found in changes_in(events, VolatileLayer)] == ["read"]
        assert "plugin:read is volatile" in session.explain()


@given(st.text(alphabet="0123456789abcdefTZtmp/-._: \n`", max_size=3_000))
@settings(max_examples=60, deadline=None, phases=QUICK)
def test_any_text_is_looked_through(text):
    for found in volatile_in(text):
        assert found.excerpt in text
        assert len(found.excerpt) <= 80


# --- two users of one organisation ------------------------------------------------------------------------------------


def user_of_the_org(directory, format_name, name):
    session = small(60_000, format=format_name, directory=directory)
    session.private(user=name)
    session.system(base=lines(120, "base"))
    session.system(source="user", who=f"You help {name}.")
    session.system(source="team", services=lines(60, "team"))
    session.system(source="org", conventions=lines(120, "org"))
    session.tools([schema("read", format_name), schema("find", format_name)], discoverable={"find"})
    session.append(user(f"Hello from {name}."))
    return session


def as_bytes(request):
    """Tools, then the system text, as they are sent; a system message without its closing brackets."""
    system = request.system or request.messages[0]["content"]
    return [json.dumps(list(request.tools)).encode(), *(json.dumps(block).encode() for block in system)]


@pytest.mark.parametrize("format_name", FORMATS)
def test_two_users_send_the_same_bytes_up_to_the_first_private_part(format_name, tmp_path):
    with (
        user_of_the_org(tmp_path / "a", format_name, "Ada") as one,
        user_of_the_org(tmp_path / "b", format_name, "Bob") as two,
    ):
        ada, bob = one.pre_send(), two.pre_send()
    shared = ada.stable + 1
    assert ada.stable == bob.stable == 3
    assert as_bytes(ada)[:shared] == as_bytes(bob)[:shared]
    assert as_bytes(ada)[shared] != as_bytes(bob)[shared]
    assert not any(word in text for text in as_bytes(ada)[:shared] for word in (b"Ada", bytes(tmp_path)))
    whole = [json.dumps(request.system or request.messages[0]).encode() for request in (ada, bob)]
    same = next(place for place, pair in enumerate(zip(*whole, strict=False)) if pair[0] != pair[1])
    assert same > sum(map(len, as_bytes(ada)[1:shared]))


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_user_without_a_layer_of_his_own_shares_the_others_prefix_too(format_name):
    """In cacheable form: a string is one text block."""
    with small(format=format_name) as one, small(format=format_name) as two:
        one.system(base="You fix bugs.")
        two.system(base="You fix bugs.")
        two.system(source="user", wishes="Be brief.")
        texts = [system_texts(sent(session)) for session in (one, two)]
        assert texts[1][:1] == texts[0]


def marked(request):
    """The request with a mark at the end of what is shared, as a host would set it."""
    blocks = list(request.system)
    blocks[request.stable - 1] = {**blocks[request.stable - 1], "cache_control": {"type": "ephemeral"}}
    return attrs.evolve(request, system=tuple(blocks))


def test_the_first_call_of_the_second_user_reads_the_shared_head(tmp_path):
    model = "claude-opus-5"
    counter = counter_for(model, "anthropic")
    cache = CacheSimulator(terms_of(model, "anthropic"), counter)
    with (
        user_of_the_org(tmp_path / "a", "anthropic", "Ada") as one,
        user_of_the_org(tmp_path / "b", "anthropic", "Bob") as two,
    ):
        ada, bob = (marked(window_of(session).render()) for session in (one, two))
        shared = two.budget.entry("plugin").tokens + sum(
            two.budget.entry(name).tokens for name in ("system", "org", "team")
        )
    assert cache.call(ada, 0.0).cache_read_tokens == 0
    assert cache.call(bob, 60.0).cache_read_tokens >= 0.95 * shared > 0


# --- files ------------------------------------------------------------------------------------------------------------


def as_it_is(_copy):
    """The newest checkpoint, and what happened since."""


def without_checkpoints(copy):
    shutil.rmtree(copy / "checkpoints", ignore_errors=True)


def with_a_checkpoint_of_before_there_were_sources(copy):
    """Parts were pairs of text and policy, by name: it is passed over, log and ledger tell the same."""
    for path in (copy / "checkpoints").glob("*.json"):
        saved = json.loads(path.read_text())
        for where in (saved["head"], saved["changes"]):
            parts = where.get("parts", {}).values()
            where["parts"] = {part["name"]: [part["text"], part["policy"]] for part in parts}
        path.write_text(json.dumps(saved))


WAYS = (as_it_is, without_checkpoints, with_a_checkpoint_of_before_there_were_sources)


def assert_opens_alike(session, folder, *, ways=WAYS):
    for way in ways:
        own, aside = session.directory, folder / "aside"
        own.rename(aside)
        try:
            # A thread of the session's own writes the search index meanwhile.
            shutil.copytree(aside, own, ignore=shutil.ignore_patterns("index.db*"))
            (own / "lock").unlink(missing_ok=True)
            way(own)
            with GCSession.open(own, plugins=session.plugins) as other:
                assert_alike(session, other)
        finally:
            own.rename(Path(tempfile.mkdtemp(dir=folder)) / "other")
            aside.rename(own)


def test_layers_are_there_again_after_opening_undoing_and_going_back(tmp_path):
    with small(6_000, directory=tmp_path / "own", checkpoint_every_n_steps=2) as session:
        layered(session)
        rounds(session, 6)
        session.system(source="org", conventions="Four spaces.")
        assert_opens_alike(session, tmp_path)
        session.collect_now(target_percent=20.0)
        assert "Four spaces." in system_texts(session.pre_send())
        assert_opens_alike(session, tmp_path)
        session.undo()
        assert_opens_alike(session, tmp_path)
        session.redo()
        session.append(user("Another task."))
        session.system(source="team", services="We own nothing.", refresh="now")
        session.system(source="user", wishes="")
        assert_opens_alike(session, tmp_path)
        session.rewind(1)
        assert "We own billing." in system_texts(session.pre_send())
        assert_opens_alike(session, tmp_path)


def test_a_log_of_before_there_were_sources_opens(tmp_path):
    """Its lines of system text are of the source system; parts that changed nothing are in it too."""
    with small(directory=tmp_path / "own", checkpoint_every_n_steps=0) as session:
        session.system(base="Old.")
        sent(session)
        session.system(base="New.")
        sent(session)
    log, ledger = (tmp_path / "own" / name for name in ("master.jsonl", "ledger.jsonl"))
    whole = log.read_bytes().splitlines(keepends=True)
    place = max(at for at, line in enumerate(whole) if b'"New."' in line)
    whole.insert(place + 1, whole[place])
    for at, line in enumerate(whole):
        assert at < 1 or b'"source":"session"' in line or b'"source":"system"' in line or b"conversation" in line
    log.write_bytes(b"".join(whole))
    more = len(whole[place])
    kept = [json.loads(line) for line in ledger.read_bytes().splitlines()]
    behind = sum(map(len, whole[: place + 1]))
    moved = [{**entry, "at": entry["at"] + more * (entry["at"] >= behind)} for entry in kept]
    ledger.write_text("".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in moved))
    with GCSession.open(tmp_path / "own") as session:
        assert system_texts(session.pre_send())[0] == "Old."
        session.system(base="New.", refresh="now")
        assert system_texts(session.pre_send())[0] == "New."


def test_a_secret_in_a_layer_is_purged_like_any_other(tmp_path):
    with small(directory=tmp_path / "own", checkpoint_every_n_steps=1) as session:
        session.system(source="org", conventions="The key is sk-verysecret1234.")
        sent(session)
    try:
        purge(tmp_path / "own", "sk-verysecret1234", by="a test")
    except LogError as error:  # pragma: no cover - what it says is the failure
        pytest.fail(str(error))
    assert b"sk-verysecret1234" not in (tmp_path / "own" / "master.jsonl").read_bytes()
    with GCSession.open(tmp_path / "own") as session:
        assert session.budget.item("org:conventions").tokens > 0


def test_a_session_that_was_moved_states_its_place_at_once(tmp_path):
    with small(directory=tmp_path / "own") as session:
        layered(session)
        session.tools([schema("read_file")])
        sent(session)
    (tmp_path / "own").rename(tmp_path / "moved")
    events = []
    with GCSession.open(tmp_path / "moved", on_event=events.append) as session:
        session.append(user("Go on."))
        assert str(tmp_path / "own") not in text_of(session.pre_send())
        assert str(tmp_path / "moved") in text_of(session.pre_send())
        assert [(changed.part, changed.waits) for changed in changes_in(events)] == [("gc: log", False)]


@pytest.mark.parametrize("name", ["", "get_weather", "search_flights"])
def test_a_session_without_a_tool_that_could_read_files_does_not_say_where_its_log_is(name, tmp_path):
    with small(2_000, directory=tmp_path, strategy="gc_truncate") as session:
        session.tools([schema(name)] if name else [])
        for place in range(40):
            session.append(user(f"Tell me more about place {place}."))
            text = text_of(session.pre_send())
            assert str(tmp_path) not in text
            assert "master.jsonl" not in text
            session.post_turn(answer(lines(20)))
        assert "tokens left out here" in text


steps = st.lists(
    st.tuples(
        st.sampled_from(["system", "org", "team", "user", "guild"]),
        st.sampled_from(["base", "rules"]),
        st.sampled_from(["", "One.", "Two.", "Three."]),
        st.sampled_from(["break", "break", "now"]),
        st.sampled_from(["send", "send", "collect", "undo", "tools", "nothing"]),
    ),
    min_size=4,
    max_size=14,
)


@given(steps, st.sampled_from(FORMATS))
@settings(max_examples=10, deadline=None, phases=QUICK, suppress_health_check=list(HealthCheck))
def test_whatever_is_set_the_head_is_sorted_still_and_the_same_when_it_is_opened(tmp_path_factory, walk, format_name):
    """A sent request stays until a collection or an urgent change; the files give the same window."""
    folder = tmp_path_factory.mktemp("walk")
    own = folder / "own"
    with small(3_000, format=format_name, directory=own, checkpoint_every_n_steps=2, plugins=PLUGINS) as session:
        session.register_source(InstructionSource(name="guild", policy=PRESERVABLE, layer=25))
        session.append(user("Do it."))
        before, still, last = [], True, None
        for place, (source, part, text, refresh, then) in enumerate(walk):
            session.system(source=source, refresh=refresh, **{part: text})
            still = still and refresh == "break"
            if then == "tools":
                names = random.Random(place).sample(["read", "find", "look"], 3)  # noqa: S311 - no secrets
                session.tools([schema(name, format_name) for name in names], refresh="break")
            if then in {"collect", "undo"}:
                session.collect_now(target_percent=10.0)
                still = False
            if then == "undo":
                session.undo()
            if then == "send":
                now = head_of(session.pre_send())
                still, last = still and session.last_result is last, session.last_result
                assert not (still and before) or now == before
                before, still = now, True
                session.post_turn(use(("c1", "read", {})) if format_name == "anthropic" else answer("Done."))
                session.append(user(lines(20, f"u{place}")))
            assert_sorted(session)
        assert_opens_alike(session, folder, ways=WAYS[:2])


def head_of(request):
    texts = system_texts(request)
    return [*map(canonical, request.tools), *texts]


def assert_sorted(session):
    system = [item for item in session.items() if item.kind is ItemKind.SYSTEM_TEXT and item.turn < 0]
    layers = [(item.name.startswith("gc: "), session.budget.source(item.source).layer) for item in system]
    assert layers == sorted(layers)


def test_after_a_change_the_reported_budget_is_the_real_one():
    session, events = watched()
    with session:
        session.system(rules="R", refresh="now")
        assert [type(event) for event in events] == [LayerChanged, BudgetUpdated]


def test_another_model_has_a_cache_of_its_own_so_what_waits_takes_effect(tmp_path):
    with GCSession(directory=tmp_path / "s", model="gpt-5") as session:
        session.system(base="You fix bugs.")
        session.append({"role": "user", "content": "Do it."})
        session.pre_send()
        session.system(base="You write tests.")
        assert "You fix bugs." in str(session.pre_send().messages[0])
        session.switch(model="gpt-4o")
        sent = session.pre_send().messages
        assert "You write tests." in str(sent[0])
    with GCSession.open(tmp_path / "s") as again:
        assert again.pre_send().messages == sent
