"""Suggestions: collected content that the agent names or requests again; never content in the window."""

import json

import pytest

from gc_core import ConfigError, ContextOverflowError, GCConfig, GCSession
from gc_core.integrations.agent_tools import AgentTools
from gc_core.session.history import History
from gc_core.session.name_carriers import MOST_LOOKED_UP
from gc_core.session.recall_suggestions import MOST_SUGGESTED, Suggestion, auto_expand, suggest_recall
from gc_core.values.items import ItemKind
from tests.support.corpus import openai_sessions, require_corpus
from tests.support.inside import counter_of
from tests.support.say import answer, call, lines, rendered, result, results, small, text_of, use, user

FORMATS = ("openai", "anthropic")
HEADER = "def parse_invoice_header(raw): return raw[:16]"


def said(session, *named, text=None):
    """The agent says and calls something; the reply is taken."""
    session.pre_send()
    make = call if session.format == "openai" else use
    session.post_turn(make(*named, text=text) if named else answer(text))


def answered(session, key, text):
    """A tool's result; returns the ids of its items."""
    openai = session.format == "openai"
    return session.append(result(key, text) if openai else results((key, text)))


def read(session, path, text, key, tool="read_file"):
    said(session, (key, tool, {"path": path}))
    return answered(session, key, text)[0]


def collected(session, first=0):
    """A window in which everything of before has been collected."""
    for place in range(first, first + 8):
        read(session, f"other{place}", lines(60, f"other{place}"), f"o{place}")
    session.collect_now(target_percent=1)


@pytest.fixture(params=FORMATS)
def session(request):
    with small(20_000, format=request.param, preserve_recent_turns=0, pressure_percent=0, target_percent=70) as made:
        made.append(user("Do it."))
        yield made


# --- names ------------------------------------------------------------------------------------------------------------


def test_a_name_whose_only_carrier_was_collected_leads_to_it(session):
    key = read(session, "src/a", HEADER, "c1")
    collected(session)
    assert "parse_invoice_header" not in rendered(session)
    said(session, text="Now I call parse_invoice_header.")
    (suggestion,) = suggest_recall(session)
    assert suggestion == Suggestion(
        item=key,
        reason="the only carriers of parse_invoice_header were collected",
        names=("parse_invoice_header",),
        tokens=counter_of(session).count(HEADER),
    )


def test_a_name_in_the_arguments_of_a_call_leads_to_its_carrier_too(session):
    key = read(session, "src/a", HEADER, "c1")
    collected(session)
    said(session, ("c2", "grep", {"pattern": "parse_invoice_header"}))
    assert [suggestion.item for suggestion in suggest_recall(session)] == [key]


def test_a_result_is_preferred_to_a_mention_and_the_newest_to_an_older_one(session):
    read(session, "src/a", HEADER, "c1")
    key = read(session, "src/b", f"# moved\n{HEADER}", "c2")
    said(session, ("c3", "grep", {"pattern": "parse_invoice_header"}), text="parse_invoice_header again")
    answered(session, "c3", "nothing")
    collected(session)
    said(session, text="Now I call parse_invoice_header.")
    assert [suggestion.item for suggestion in suggest_recall(session)] == [key]


def test_names_that_are_new_or_still_in_the_window_suggest_nothing(session):
    read(session, "src/a", HEADER, "c1")
    assert suggest_recall(session) == ()
    said(session, text="parse_invoice_header and brand_new_name")
    assert suggest_recall(session) == ()
    collected(session)
    read(session, "src/a", HEADER, "c2")
    said(session, text="parse_invoice_header and another_new_name")
    assert suggest_recall(session) == ()


def test_a_name_that_the_steps_own_result_shows_is_not_missed(session):
    read(session, "src/a", HEADER, "c1")
    collected(session)
    said(session, ("c2", "grep", {"pattern": "parse_invoice_header"}))
    assert suggest_recall(session)
    answered(session, "c2", f"src/a: {HEADER}")
    assert suggest_recall(session) == ()


def test_a_name_is_found_letter_by_letter(session):
    read(session, "src/a", "parse_invoice_header_v2 and PARSE_INVOICE_HEADER", "c1")
    collected(session)
    said(session, text="parse_invoice_header")
    assert suggest_recall(session) == ()


def test_what_was_recalled_before_is_never_suggested_in_place_of_the_original(session):
    key = read(session, "src/a", HEADER, "c1")
    collected(session)
    tools = AgentTools(session)
    said(session, ("c2", "recall", {"reference": key}))
    answered(session, "c2", tools.call("recall", {"reference": key}))
    said(session, text="parse_invoice_header")
    auto_expand(session)
    collected(session, first=8)
    said(session, text="Now I call parse_invoice_header.")
    assert [suggestion.item for suggestion in suggest_recall(session)] == [key]


def test_an_item_that_is_in_the_window_is_not_suggested(session):
    read(session, "src/a", "x-parse_invoice_header", "c1")  # a name of its own, for those who look at whole words
    said(session, text="Now I call parse_invoice_header.")
    assert suggest_recall(session) == ()


def test_a_path_that_was_found_is_not_looked_up_again_by_its_parts(session):
    key = read(session, "src/a", "see deep/down/module_file.py", "c1")
    collected(session)
    said(session, text="deep/down/module_file.py")
    (suggestion,) = suggest_recall(session)
    assert (suggestion.item, suggestion.names) == (key, ("deep/down/module_file.py",))


def test_directories_and_relative_paths_are_not_looked_up(session):
    read(session, "src/a", "in deep/down/ and ../../some/config", "c1")
    collected(session)
    said(session, text="in deep/down/ and ../../some/config")
    assert not any({"deep/down/", "../../some/config"} & {*each.names} for each in suggest_recall(session))


def test_there_are_three_suggestions_at_most_and_the_one_with_most_names_leads(session):
    keys = [read(session, f"src/f{place}", f"symbol_number_{place}", f"c{place}") for place in range(6)]
    both = read(session, "src/g", "symbol_of_two other_of_two", "g1")
    collected(session)
    said(session, text=" ".join(f"symbol_number_{place}" for place in range(6)) + " symbol_of_two other_of_two")
    first, *others = suggest_recall(session)
    assert len(others) == MOST_SUGGESTED - 1
    assert first.item == both
    assert set(first.names) == {"symbol_of_two", "other_of_two"}
    assert {suggestion.item for suggestion in others} <= {*keys}


def test_of_a_thousand_names_a_few_are_looked_up(session, monkeypatch):
    read(session, "src/a", HEADER, "c1")
    collected(session)
    said(session, text=" ".join(f"unknown_symbol_{place}" for place in range(1_000)))
    queries, real = [], History.search
    monkeypatch.setattr(History, "search", lambda *a, **filters: queries.append(a) or real(*a, **filters))
    assert suggest_recall(session) == ()
    assert 0 < len(queries) <= MOST_LOOKED_UP


def test_a_session_without_answers_suggests_nothing():
    with small() as session:
        assert suggest_recall(session) == ()
        session.append(user("Where is parse_invoice_header?"))
        assert suggest_recall(session) == ()
        assert auto_expand(session) == ()


def test_what_a_user_names_and_the_window_shows_no_more_is_suggested(session):
    key = read(session, "src/a", HEADER, "c1")
    collected(session)
    said(session, text="Done.")
    session.append(user("And where is parse_invoice_header?"))
    (suggestion,) = suggest_recall(session)
    assert (suggestion.item, suggestion.names) == (key, ("parse_invoice_header",))


def test_a_session_that_expands_by_itself_brings_back_what_the_user_names_with_the_next_request():
    with small(20_000, preserve_recent_turns=0, pressure_percent=0, target_percent=70, auto_expand=True) as session:
        session.append(user("Do it."))
        key = read(session, "src/a", HEADER, "c1")
        collected(session)
        said(session, text="Done.")
        assert HEADER not in rendered(session)
        session.append(user("And where is parse_invoice_header?"))
        session.pre_send()
        assert HEADER in rendered(session)
        assert f"[recalled {key}: " in rendered(session)
        again = rendered(session)
        session.pre_send()
        assert rendered(session) == again


# --- calls ------------------------------------------------------------------------------------------------------------


def test_a_repeated_read_leads_to_the_result_of_the_first_one(session):
    key = read(session, "src/a", "short text", "c1")
    collected(session)
    said(session, ("c2", "read_file", {"path": "src/a"}))
    assert suggest_recall(session)[0].item == key
    assert "answered before" in suggest_recall(session)[0].reason


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("edit_file", {"path": "src/a", "new": "x"}),
        ("bash", {"command": "sed -i s/x/y/ src/a"}),
        ("bash", {"command": "cd src && rm ./a"}),
        ("write_file", {"path": "/repo/src/a", "content": "x"}),
    ],
)
def test_a_read_is_no_longer_valid_once_another_call_named_the_file(session, tool, arguments):
    read(session, "src/a", "short text", "c1")
    said(session, ("c2", tool, arguments))
    answered(session, "c2", "ok")
    collected(session)
    said(session, ("c3", "read_file", {"path": "src/a"}))
    assert not any("answered before" in suggestion.reason for suggestion in suggest_recall(session))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"path": "src/a", "offset": 10}),
        ("read_file", {"path": "src/b"}),
        ("view_file", {"path": "src/a"}),
    ],
)
def test_another_call_is_not_a_repetition(session, tool, arguments):
    read(session, "src/a", "short text", "c1")
    collected(session)
    said(session, ("c2", tool, arguments))
    assert not any("answered before" in suggestion.reason for suggestion in suggest_recall(session))


def test_only_reads_of_a_file_are_taken_for_repetitions(session):
    for key, (tool, arguments) in enumerate([("bash", {"command": "date"}), ("edit_file", {"path": "src/a"})]):
        said(session, (f"c{key}", tool, arguments))
        answered(session, f"c{key}", "short text")
    collected(session)
    said(session, ("d1", "bash", {"command": "date"}), ("d2", "edit_file", {"path": "src/a"}))
    assert not any("answered before" in suggestion.reason for suggestion in suggest_recall(session))


def test_a_repeated_call_that_has_its_result_is_no_matter_any_more(session):
    read(session, "src/a", "short text", "c1")
    collected(session)
    said(session, ("c2", "read_file", {"path": "src/a"}))
    answered(session, "c2", "short text")
    assert suggest_recall(session) == ()


def test_a_repeated_call_whose_result_is_in_the_window_suggests_nothing(session):
    read(session, "src/a", "short text", "c1")
    said(session, ("c2", "read_file", {"path": "src/a"}))
    assert suggest_recall(session) == ()


def test_a_result_is_suggested_once_for_call_and_names(session):
    key = read(session, "src/parser_file.py", "# src/parser_file.py\nclass InvoiceParser: ...", "c1")
    collected(session)
    said(session, ("c2", "read_file", {"path": "src/parser_file.py"}), text="InvoiceParser")
    assert [suggestion.item for suggestion in suggest_recall(session)] == [key]


def test_a_read_that_failed_answers_nothing():
    with small(20_000, format="anthropic", preserve_recent_turns=0) as session:
        session.append(user("Do it."))
        said(session, ("c1", "read_file", {"path": "src/a"}))
        block = {"type": "tool_result", "tool_use_id": "c1", "content": "no such file", "is_error": True}
        session.append({"role": "user", "content": [block]})
        collected(session)
        said(session, ("c2", "read_file", {"path": "src/a"}))
        assert suggest_recall(session) == ()


def test_of_parallel_calls_each_leads_to_its_own_result(session):
    named = [("c1", "read_file", {"path": "src/a"}), ("c2", "read_file", {"path": "src/b"})]
    said(session, *named)
    if session.format == "openai":
        session.extend([result("c2", "text of b"), result("c1", "text of a")])
    else:
        session.append(results(("c2", "text of b"), ("c1", "text of a")))
    collected(session)
    said(session, ("c3", "read_file", {"path": "src/b"}), ("c4", "read_file", {"path": "src/a"}))
    repeated = [suggestion for suggestion in suggest_recall(session) if "answered before" in suggestion.reason]
    assert [session.recall(suggestion.item) for suggestion in repeated] == ["text of b", "text of a"]


def test_of_parallel_calls_without_ids_each_leads_to_its_own_result():
    def calls(*paths):
        session.pre_send()
        named = [{"functionCall": {"name": "read_file", "args": {"path": path}}} for path in paths]
        session.post_turn({"role": "model", "parts": named})

    def answers(*texts):
        named = [{"functionResponse": {"name": "read_file", "response": {"result": text}}} for text in texts]
        return session.append({"role": "user", "parts": named})

    with small(20_000, format="gemini", preserve_recent_turns=0, pressure_percent=0, target_percent=70) as session:
        session.append({"role": "user", "parts": [{"text": "Do it."}]})
        calls("src/a", "src/b")
        keys = answers("text of a", "text of b")
        for place in range(8):
            calls(f"src/other{place}")
            answers(lines(60, f"other{place}"))
        session.collect_now(target_percent=1)
        calls("src/b", "src/a")
        repeated = [each.item for each in suggest_recall(session) if "answered before" in each.reason]
        assert repeated == [keys[1], keys[0]]


# --- auto_expand ------------------------------------------------------------------------------------------------------


def test_suggestions_are_at_the_end_of_the_next_request(session):
    read(session, "src/a", HEADER, "c1")
    collected(session)
    said(session, text="Now I call parse_invoice_header.")
    (used,) = auto_expand(session)
    request = session.pre_send()
    assert HEADER in json.dumps(request.messages[-1])
    assert f"[recalled {used.item}: the only carriers of parse_invoice_header were collected]" in text_of(request)
    assert suggest_recall(session) == ()


def test_where_nothing_is_suggested_nothing_changes(session):
    read(session, "src/a", HEADER, "c1")
    before = rendered(session)
    assert auto_expand(session) == ()
    session.pre_send()
    assert rendered(session) == before


def test_what_is_put_there_keeps_its_cap_and_shows_the_lines_with_the_names(session):
    for place in range(3):
        text = f"{lines(1_000)}\ndef wanted_symbol_{place}(): pass\n{lines(200)}"
        read(session, f"src/f{place}", text, f"c{place}")
        collected(session, first=8 * place)
    said(session, text=" ".join(f"wanted_symbol_{place}" for place in range(3)))
    used = auto_expand(session, cap=600)
    session.pre_send()
    (block,) = [item for item in session.items() if item.kind is ItemKind.ENRICHMENT]
    assert len(used) == 3
    assert 450 < block.tokens <= 600
    for place in range(3):
        assert f"def wanted_symbol_{place}(): pass" in block.text


def test_a_cap_that_is_too_small_for_anything_puts_nothing_there(session):
    read(session, "src/a", HEADER, "c1")
    collected(session)
    said(session, text="Now I call parse_invoice_header.")
    before = rendered(session)
    assert auto_expand(session, cap=5) == ()
    session.pre_send()
    assert rendered(session) == before


@pytest.mark.parametrize("cap", [0, -1, 2.5, True, "2000"])
def test_a_bad_cap_is_refused(session, cap):
    with pytest.raises(ConfigError):
        auto_expand(session, cap=cap)


# --- recorded sessions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["gc_budget", "gc_truncate"])
def test_in_a_recorded_session_every_suggestion_has_what_it_is_suggested_for(strategy):
    require_corpus()
    (path,) = [path for path in openai_sessions() if path.name.startswith("entire--4a364c97")]
    config, seen = GCConfig(context_limit=16_000, output_reservation=1_000), 0
    with GCSession(config, strategy=strategy) as session:
        for message in map(json.loads, path.read_text(encoding="utf-8").splitlines()[:160]):
            if message["role"] != "assistant":
                session.append(message)
                continue
            try:
                session.pre_send()
            except ContextOverflowError:
                session.append(message)
                continue
            session.post_turn(message)
            suggested = suggest_recall(session)
            step = next(unit for unit in reversed(session.view().units) if unit.is_step)
            others = frozenset().union(*(item.scan.names for item in session.items() if item.unit != step.number))
            for suggestion in suggested:
                text = session.recall(suggestion.item)
                assert all(name in text for name in suggestion.names)
                assert others.isdisjoint(suggestion.names)
                assert suggestion.tokens == counter_of(session).count(text)
                seen += 1
    assert seen > 10
