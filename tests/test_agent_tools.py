"""The model's own tools: they do what they say, within bounds, and a model's mistake is reported and not raised."""

import json

import pytest

from gc_core import AsyncGCSession, ConfigError, Form, GCConfig, GCPolicy, GCSession, InstructionSource
from gc_core.errors import SessionClosedError
from gc_core.integrations.agent_tools import RECALL_TOKENS, AgentTools
from gc_core.providers.token_counting import schema_tokens
from gc_core.storage.contents import MOST_PASSAGES
from gc_core.values.agent_tool_schemas import TOOL_NAMES
from gc_core.values.items import ItemKind
from tests.support.checker import complaints
from tests.support.inside import counter_of, runtime_of, store_of
from tests.support.say import answer, call, lines, rendered, result, results, rounds, small, text_of, use, user

FORMATS = ("openai", "anthropic")


@pytest.fixture
def session():
    with small(20_000, preserve_recent_turns=1) as made:
        yield made


@pytest.fixture
def tools(session):
    return AgentTools(session)


def asks(session, name, arguments, key="k1"):
    """A reply that calls one tool, taken by the session."""
    reply = call((key, name, arguments)) if session.format == "openai" else use((key, name, arguments))
    session.pre_send()
    session.post_turn(reply)
    return reply


def used(session, tools, name, arguments, key="k1"):
    """One call through the whole loop; the text that the model reads."""
    session.extend(tools.answer(asks(session, name, arguments, key)))
    return session.items()[-1].text


def id_of(session, text):
    return next(item.id for item in session.items() if text in item.text)


# --- schemas ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_all_six_schemas_cost_less_than_600_tokens(form):
    with small(format=form) as session:
        schemas = AgentTools(session).schemas()
        assert len(schemas) == len(TOOL_NAMES) == 6
        assert sum(schema_tokens(schema, counter_of(session)) for schema in schemas) < 600


@pytest.mark.parametrize("form", FORMATS)
def test_schemas_are_what_the_provider_takes(form):
    with small(format=form) as session:
        session.tools(AgentTools(session).schemas())
        session.append(user("Do it."))
        request = session.pre_send()
        assert complaints(form, request.kwargs()) == []
        assert {runtime_of(session).format.schema_name(schema) for schema in request.tools} == TOOL_NAMES


def test_every_schema_says_what_is_required_and_allows_nothing_else(tools):
    for schema in tools.schemas():
        parameters = schema["function"]["parameters"]
        assert parameters["additionalProperties"] is False
        assert set(parameters["required"]) <= set(parameters["properties"])


def test_schemas_state_the_bounds_of_the_host(session):
    schemas = json.dumps(AgentTools(session, collects_a_turn=7, note_tokens=321).schemas())
    assert "At most 7 a turn" in schemas
    assert "at most 321 tokens" in schemas


def test_each_tool_can_be_left_out(session):
    for name in TOOL_NAMES:
        tools = AgentTools(session, names=TOOL_NAMES - {name})
        assert not tools.handles(name)
        assert name not in {schema["function"]["name"] for schema in tools.schemas()}
        with pytest.raises(ConfigError, match=name):
            tools.call(name, {})


@pytest.mark.parametrize(
    "options", [{"names": ["recal"]}, {"names": "recal"}, {"collects_a_turn": 0}, {"note_tokens": True}]
)
def test_a_bad_option_is_refused_at_once(session, options):
    with pytest.raises(ConfigError):
        AgentTools(session, **options)


# --- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_only_our_calls_are_answered_and_the_others_fit_in_on_either_side(form):
    for ours_first in (True, False):
        with small(20_000, format=form) as session:
            tools = AgentTools(session)
            session.append(user("Do it."))
            session.pre_send()
            named = (
                ("c1", "read", {"path": "a.py"}),
                ("c2", "context_status", {}),
                ("c3", "recall", {"reference": "i1"}),
            )
            reply = call(*named) if form == "openai" else use(*named)
            session.post_turn(reply)
            ours = tools.answer(reply)
            theirs = [result("c1", "text of a")] if form == "openai" else [results(("c1", "text of a"))]
            session.extend([*ours, *theirs] if ours_first else [*theirs, *ours])
            request = session.pre_send()
            assert complaints(form, request.kwargs()) == []
            answered = [item.text for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
            assert len(answered) == 3
            assert "Do it." in answered
            assert "left out here" not in text_of(request)


@pytest.mark.parametrize("form", FORMATS)
def test_a_reply_without_our_calls_has_no_answer(form):
    with small(format=form) as session:
        tools = AgentTools(session)
        assert tools.answer(answer("Done.")) == ()
        assert tools.answer(call(("c1", "read", {})) if form == "openai" else use(("c1", "read", {}))) == ()


@pytest.mark.parametrize("form", FORMATS)
def test_what_the_tools_return_is_ephemeral(form):
    with small(20_000, format=form) as session:
        tools = AgentTools(session)
        session.append(user("Do it."))
        for place, (name, arguments) in enumerate(
            [
                ("recall", {"reference": "i1"}),
                ("search_history", {"query": "it"}),
                ("context_status", {}),
                ("collect", {"focus": ""}),
                ("pin", {"item": "i1"}),
                ("note", {"text": "x", "mode": "append"}),
            ]
        ):
            used(session, tools, name, arguments, key=f"k{place}")
        policies = [item.policy for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
        assert policies == [GCPolicy.EPHEMERAL] * 6


# --- recall -----------------------------------------------------------------------------------------------------------


def test_recall_gives_the_original_of_a_collected_item(session, tools):
    rounds(session, 30)
    session.collect_now(target_percent=5)
    gone = next(item.reference.first for item in session.items() if item.reference is not None)
    assert tools.call("recall", {"reference": gone}) == session.recall(gone)


def test_recall_takes_the_whole_line_of_a_stub_and_of_a_trace(session, tools):
    rounds(session, 60)
    session.collect_now(target_percent=5)
    cut = [item for item in session.items() if item.reference is not None]
    assert {item.kind for item in cut} >= {ItemKind.TRACE}
    for item in cut:
        text = tools.call("recall", {"reference": item.text})
        assert "failed" not in text[:20]
        if "recall the part that you need" in text:
            part = text.splitlines()[1].split()[0]
            text = tools.call("recall", {"reference": part})
        assert session.recall(item.reference.first)[:40] in text


def test_a_recall_is_bounded_and_says_how_to_get_the_rest(session, tools):
    session.append(user("Do it."))
    text = lines(5_000)
    (key,) = session.append(user(text))
    counter, got, arguments, times = counter_of(session), "", {"reference": key}, 0
    while True:
        part = tools.call("recall", arguments)
        assert counter.count(part) <= RECALL_TOKENS + 40
        body, rest, end = part.rpartition("\n[")
        got += body if rest else part
        times += 1
        if not rest:
            break
        arguments = {"reference": key, "offset": int(end.rpartition("offset=")[2].rstrip("]"))}
    assert got == text
    assert times > 5


@pytest.mark.parametrize("text", ["x" * 10_000_000, "漢字かな🙂" * 200_000, "1 " * 2_000_000])
def test_a_huge_line_is_cut_too(text):
    with small(1_000_000) as session:
        session.append(user("Do it."))
        session.pre_send()
        session.post_turn(call(("c1", "cat", {})))
        (key,) = session.append(result("c1", text))
        tools = AgentTools(session)
        part = tools.call("recall", {"reference": key})
        assert counter_of(session).count(part) <= RECALL_TOKENS + 40
        assert part.startswith(text[:50])


def test_a_recall_fills_a_quarter_of_a_small_window_at_most():
    with small(1_000, auto_trigger=False) as session:
        session.append(user("Do it."))
        (key,) = session.append(user(lines(2_000)))
        assert counter_of(session).count(AgentTools(session).call("recall", {"reference": key})) <= 250 + 40


def test_a_long_range_is_a_table_of_contents_first_and_its_parts_can_be_recalled(session, tools):
    rounds(session, 30)
    table = tools.call("recall", {"reference": "i1-i61"}).splitlines()
    assert table[0].startswith("i1-i61 has ")
    assert table[0].endswith("recall the part that you need:")
    assert len(table) <= 1 + MOST_PASSAGES
    references = [line.split()[0] for line in table[1:]]
    assert references[0].startswith("i1-")
    assert references[-1].endswith("i61")
    assert "read" in table[1]
    part = tools.call("recall", {"reference": references[3]})
    assert part.startswith(f"[{references[3].partition('-')[0]}]")


def test_the_bytes_of_a_whole_summary_are_a_table_of_contents_too(session, tools):
    rounds(session, 30)
    end = store_of(session).log.size
    table = tools.call("recall", {"reference": f"master.jsonl:0-{end}"})
    assert counter_of(session).count(table) <= RECALL_TOKENS + 40
    assert "recall the part that you need" in table
    assert f"[gc: summary; master.jsonl:0-{end}]" not in table


def test_a_table_of_contents_names_every_item_once_in_parts_that_follow_each_other(session):
    rounds(session, 30)
    passages = session.contents("i1-i61")
    ids = [number for passage in passages for number in numbers(passage.reference)]
    assert ids == list(range(1, 62))
    assert sum(passage.items for passage in passages) == 61


def numbers(reference):
    first, _, last = reference.replace("i", "").partition("-")
    return range(int(first), int(last or first) + 1)


# --- search -----------------------------------------------------------------------------------------------------------


def test_search_finds_what_left_the_window_and_names_its_id(session, tools):
    rounds(session, 30)
    session.collect_now(target_percent=5)
    assert "line 7 of the text" not in rendered(session)
    found = tools.call("search_history", {"query": "f3 7", "limit": 1})
    key = found.split()[0]
    assert "f3 7 of the text" in session.recall(key)
    assert found.startswith(f"{key} turn 0 read tool result: ")
    assert len(found.splitlines()) == 1


def test_search_leaves_out_what_the_tools_were_asked(session, tools):
    rounds(session, 2)
    for place in range(12):
        used(session, tools, "search_history", {"query": "f1 39 text"}, key=f"s{place}")
    found = tools.call("search_history", {"query": "f1 39 text", "limit": 20})
    assert "search_history" not in found
    assert found.startswith("i5 ")


def test_search_filters_by_tool_and_role(session, tools):
    rounds(session, 2)
    session.append(user("What of f1 39?"))
    by_user = tools.call("search_history", {"query": "f1 39", "role": "user"})
    assert [line.split()[3] for line in by_user.splitlines()] == ["user"]
    assert tools.call("search_history", {"query": "f1 39", "tool": "write"}).startswith("nothing found")


# --- status -----------------------------------------------------------------------------------------------------------


def test_the_status_reports_usage_owners_and_omissions(session, tools):
    rounds(session, 60)
    session.collect_now(target_percent=10)
    status = tools.call("context_status")
    left_out = [item.reference for item in session.items() if item.reference is not None]
    assert f"{session.budget.total:,} of 20,000 tokens" in status
    assert f"conversation {session.budget.entry('conversation').tokens:,}" in status
    assert f"left out: {sum(each.tokens for each in left_out):,} tokens in {len(left_out)} places" in status
    assert left_out[-1].first in status
    largest = max(session.items(), key=lambda item: item.tokens)
    assert f"largest: {largest.id} read tool result {largest.tokens:,}" in status
    assert counter_of(session).count(status) < 300


# --- collect ----------------------------------------------------------------------------------------------------------


def focused(session, focus):
    """Rounds over files of which one is looked for again, then a collection by the model."""
    session.append(user("Do it, with src/file_2.py too."))
    for place in range(12):
        session.pre_send()
        session.post_turn(call((f"c{place}", "read", {"path": f"src/file_{place}.py"})))
        session.append(result(f"c{place}", lines(60, f"file_{place}")))
    text = used(session, AgentTools(session), "collect", {"focus": focus})
    return text, [item for item in session.items() if item.kind is ItemKind.TOOL_RESULT]


def test_collect_keeps_what_the_focus_names_and_frees_the_rest():
    with small(20_000, auto_trigger=False, target_percent=1, preserve_recent_turns=0) as session:
        text, kept = focused(session, "go on with src/file_2.py")
        assert text.startswith("freed ")
        whole = [item for item in kept if item.form is Form.WHOLE and "file_2 59 of" in item.text]
        assert len(whole) == 1
        assert not any("file_3 59 of" in item.text for item in kept)
        assert "held for the focus: 3 items" in text, "the read with its result, and the call of collect itself"
        assert not any(item.pinned for item in session.items())


def test_collect_without_names_in_its_focus_says_that_it_held_nothing():
    with small(20_000, auto_trigger=False, target_percent=1, preserve_recent_turns=0) as session:
        text, kept = focused(session, "go on with the work")
        assert "names no path" in text
        assert not any("file_2 59 of" in item.text for item in kept)


def test_collect_does_not_release_what_the_host_has_pinned():
    with small(20_000, preserve_recent_turns=0) as session:
        session.append(user("Do it."))
        session.pre_send()
        session.post_turn(call(("c1", "read", {"path": "src/file_2.py"})))
        (key,) = session.append(result("c1", "text of src/file_2.py"))
        session.pin(item=key)
        AgentTools(session).call("collect", {"focus": "src/file_2.py"})
        assert [item.id for item in session.items() if item.pinned] == [key]


def test_collect_is_refused_after_so_many_in_a_turn_and_allowed_in_the_next(session):
    tools = AgentTools(session, collects_a_turn=2)
    rounds(session, 3)
    refused = [tools.call("collect", {"focus": ""}).startswith("refused") for _ in range(4)]
    assert refused == [False, False, True, True]
    session.post_turn(answer("Done."))
    session.append(user("And this."))
    assert not tools.call("collect", {"focus": ""}).startswith("refused")


def test_collect_says_so_when_nothing_may_go(session, tools):
    session.append(user("Do it."))
    assert tools.call("collect", {"focus": ""}).startswith("nothing was freed")


# --- pin --------------------------------------------------------------------------------------------------------------


def test_a_pinned_item_stays_until_it_is_released():
    with small(20_000, preserve_recent_turns=0) as session:
        tools = AgentTools(session)
        rounds(session, 20)
        key = id_of(session, "f3 39 of the text")
        assert tools.call("pin", {"item": key}) == f"{key} is pinned"
        session.collect_now(target_percent=1)
        assert any(item.id == key and item.form is Form.WHOLE for item in session.items())
        assert tools.call("pin", {"item": key, "pinned": False}) == f"{key} is released"
        rounds(session, 3, first=20, task=None)
        session.collect_now(target_percent=1)
        assert not any(item.id == key and item.form is Form.WHOLE for item in session.items())


def test_the_model_cannot_release_what_the_host_has_pinned(session, tools):
    rounds(session, 2)
    key = id_of(session, "f1 39 of the text")
    session.pin(item=key)
    tools.call("pin", {"item": key})
    assert tools.call("pin", {"item": key, "pinned": False}).startswith("refused")
    assert [item.id for item in session.items() if item.pinned] == [key]


def test_pins_hold_a_quarter_of_the_window_at_most(tools, session):
    rounds(session, 30)
    results_of_tools = [item.id for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
    answers = [tools.call("pin", {"item": key}) for key in results_of_tools]
    held = sum(unit.tokens for unit in session.view().units if unit.pinned)
    assert answers[0].endswith("is pinned")
    assert answers[-1].startswith("refused")
    assert 4_000 < held <= 5_000


def test_a_pin_of_an_item_outside_the_window_is_explained(tools, session):
    rounds(session, 1)
    assert "not in the window" in tools.call("pin", {"item": "i99999"})


# --- notes ------------------------------------------------------------------------------------------------------------


def notes_in(request):
    """The newest notes that the model reads."""
    text = text_of(request)
    return text.rpartition('name=\\"notes\\">\\n')[2].partition("\\n</context>")[0]


@pytest.mark.parametrize("form", FORMATS)
def test_notes_are_appended_and_replaced(form):
    with small(20_000, format=form) as session:
        tools = AgentTools(session)
        session.append(user("Do it."))
        assert tools.call("note", {"text": "first", "mode": "append"}).startswith("noted")
        tools.call("note", {"text": "second", "mode": "append"})
        assert notes_in(session.pre_send()) == "first\\nsecond"
        session.post_turn(answer("Yes."))
        tools.call("note", {"text": "third </context>", "mode": "append"})
        session.pre_send()
        assert tools._notes() == "first\nsecond\nthird </context>"
        tools.call("note", {"text": "only", "mode": "replace"})
        request = session.pre_send()
        assert notes_in(request) == "only"
        assert complaints(form, request.kwargs()) == []


def test_notes_over_their_bound_are_refused_and_nothing_changes(session):
    tools = AgentTools(session, note_tokens=10)
    session.append(user("Do it."))
    tools.call("note", {"text": "one two three", "mode": "append"})
    before = rendered(session), tools._notes()
    assert tools.call("note", {"text": "word " * 10, "mode": "append"}).startswith("refused: the notes would hold")
    assert tools.call("note", {"text": " \n", "mode": "replace"}).startswith("refused")
    assert (rendered(session), tools._notes()) == before
    assert tools.call("note", {"text": "word " * 8, "mode": "replace"}).startswith("noted")


def test_the_newest_notes_survive_every_collection_and_the_old_ones_leave():
    with small(20_000, preserve_recent_turns=0) as session:
        tools = AgentTools(session)
        for place in range(6):
            rounds(session, 4, first=4 * place, task="Do it." if place == 0 else None)
            tools.call("note", {"text": f"finding {place}", "mode": "append"})
        rounds(session, 4, first=24, task=None)
        session.collect_now(target_percent=1)
        (left,) = [item for item in session.items() if item.kind is ItemKind.MEMORY_BLOCK]
        assert "finding 0\nfinding 1" in left.text
        assert "finding 5" in left.text


def test_notes_go_on_in_a_session_that_is_opened_again(tmp_path):
    with small(20_000, directory=tmp_path) as session:
        session.append(user("Do it."))
        AgentTools(session).call("note", {"text": "first", "mode": "append"})
        session.pre_send()
        session.post_turn(answer("Yes."))
    with GCSession.open(tmp_path) as session:
        tools = AgentTools(session, note_tokens=50)
        tools.call("note", {"text": "second", "mode": "append"})
        assert notes_in(session.pre_send()) == "first\\nsecond"


def test_a_rewound_session_has_the_notes_of_then(session, tools):
    session.append(user("Do it."))
    tools.call("note", {"text": "early", "mode": "append"})
    session.pre_send()
    session.post_turn(answer("Yes."))
    session.append(user("Go on."))
    tools.call("note", {"text": "late", "mode": "append"})
    session.pre_send()
    session.rewind(1)
    tools.call("note", {"text": "other", "mode": "append"})
    assert notes_in(session.pre_send()) == "early\\nother"


def test_notes_whose_name_the_host_has_taken_are_explained(session, tools):
    session.register_source(InstructionSource(name="notes", policy=GCPolicy.PARTIAL))
    assert "registered already" in tools.call("note", {"text": "x", "mode": "append"})


# --- what a model gets wrong ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("recall", None, "reference is missing"),
        ("recall", "", "reference is missing"),
        ("recall", "i42", "not JSON"),
        ("recall", '{"reference": "i1"', "not JSON"),
        ("recall", "[" * 100_000, "not JSON"),
        ("recall", '["i1"]', "expected an object"),
        ("recall", '"i1"', "expected an object"),
        ("recall", {"reference": 1}, 'expected {"type": "string"}'),
        ("recall", {"reference": None}, "reference is missing"),
        ("recall", {"reference": "i99999"}, "no item"),
        ("recall", {"reference": ""}, "no item"),
        ("recall", {"reference": "\ud800"}, "no item"),
        ("recall", {"reference": "i5-i2"}, "a range goes upwards: i2-i5"),
        ("recall", {"reference": "i" + "9" * 5_000}, "no item"),
        ("recall", {"reference": "i99999-i999999999999"}, "no item"),
        ("recall", {"reference": "master.jsonl:3-9"}, "failed"),
        ("recall", {"reference": "master.jsonl:0-999999999999"}, "failed"),
        ("recall", {"reference": "i1", "offset": -1}, '"minimum": 0'),
        ("recall", {"reference": "i1", "offset": True}, "integer"),
        ("recall", {"reference": "i1", "offset": 10**30}, "characters of text"),
        ("recall", {"reference": "i1", "line": 3}, "no argument 'line'; there are ['reference', 'offset']"),
        ("search_history", {"query": "x", "limit": 0}, '"minimum": 1'),
        ("search_history", {"query": "x", "limit": "5"}, "integer"),
        ("search_history", {"query": "x", "limit": 10**9}, '"maximum": 20'),
        ("search_history", {"query": "x", "role": "system"}, "enum"),
        ("search_history", {"query": ["x"]}, "string"),
        ("search_history", {"query": ""}, "nothing found"),
        ("search_history", {"query": '"*" AND NEAR( \x00 \ud800'}, "nothing found"),
        ("context_status", {"all": True}, "no argument"),
        ("collect", {}, "focus is missing"),
        ("pin", {"item": "i0"}, "not in the window"),
        ("pin", {"item": "i1; drop", "pinned": False}, "refused"),
        ("pin", {"item": "i1", "pinned": "yes"}, "boolean"),
        ("note", {"text": "x"}, "mode is missing"),
        ("note", {"text": "x", "mode": "insert"}, "enum"),
    ],
)
def test_a_mistake_is_explained_and_changes_nothing(session, tools, name, arguments, expected):
    rounds(session, 2)
    before = rendered(session), [item.pinned for item in session.items()]
    text = tools.call(name, arguments)
    assert expected in text
    assert len(text) < 700
    assert (rendered(session), [item.pinned for item in session.items()]) == before


def test_of_a_query_of_a_megabyte_no_more_than_the_head_is_searched_for(session, tools):
    rounds(session, 2)
    assert "nothing found" in tools.call("search_history", {"query": "x" * 1_000_000})
    long = tools.call("search_history", {"query": "f1 39 " * 200_000})
    assert long == tools.call("search_history", {"query": "f1 39 " * 500})


def test_a_text_that_has_no_utf8_form_can_be_noted(session, tools):
    session.append(user("Do it."))
    assert tools.call("note", {"text": "half a letter \ud83d", "mode": "append"}).startswith("noted")
    session.pre_send()


def test_arguments_may_come_as_json_text(session, tools):
    session.append(user("Do it."))
    assert tools.call("recall", '{"reference": "i1", "offset": null}') == "Do it."


def test_a_closed_session_refuses(session, tools):
    session.close()
    with pytest.raises(SessionClosedError):
        tools.call("context_status", {})


def test_an_unknown_tool_is_the_hosts_mistake(tools):
    assert not tools.handles("bash")
    with pytest.raises(ConfigError, match="no tool 'bash' here"):
        tools.call("bash", {})


def test_a_session_whose_collections_are_awaited_has_no_tool_to_collect():
    with AsyncGCSession(GCConfig(strategy="gc_truncate")) as session:
        names = {schema["function"]["name"] for schema in AgentTools(session).schemas()}
        assert names == {"recall", "search_history", "context_status", "pin", "note"}
        with pytest.raises(ConfigError, match="'collect' needs a GCSession"):
            AgentTools(session, names=["collect"])
