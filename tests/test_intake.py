"""What a message becomes: turns, units and steps, policies, and repairs of what no provider would take."""

import json

import pytest
from hypothesis import given, settings

from gc_core import GCConfig, GCPolicy, GCSession, ItemKind, Plugins, hookimpl
from gc_core.errors import MessageError
from gc_core.events import MessageRepaired
from gc_core.window.intake import LONG_ARGUMENT_TOKENS
from tests.support.checker import complaints
from tests.support.inside import window_of
from tests.support.messages import anthropic_sessions_strategy, openai_sessions_strategy
from tests.support.say import answer, call, lines, rendered, result, results, schema, use, user

LOCKED, PRESERVABLE, PARTIAL, EPHEMERAL = GCPolicy


def session_with(*messages, form="openai", plugins=None, **config):
    session = GCSession(GCConfig(output_reservation=0, **config), format=form, plugins=plugins or Plugins.discover())
    session.extend(messages)
    return session


def place_of(session):
    """(turn, step, unit, kind) of every item of a message."""
    return [(item.turn, item.step, item.unit, item.kind.value) for item in session.items() if item.unit]


def policies(session, kind):
    return [item.policy for item in session.items() if item.kind is kind]


def repairs_of(form, *messages):
    found = []
    with GCSession(format=form, on_event=found.append) as session:
        session.extend(messages)
        repairs = [event.kind for event in found if isinstance(event, MessageRepaired)]
        return repairs, window_of(session).render()


# --- turns, units, steps ----------------------------------------------------------------------------------------------


def test_a_turn_starts_at_a_user_message_that_follows_no_user_message():
    with session_with(user("a"), user("b"), answer("c"), user("d"), answer("e"), answer("f"), user("g")) as session:
        assert place_of(session) == [
            (0, -1, 1, "user_text"),
            (0, -1, 2, "user_text"),
            (0, 0, 3, "assistant_text"),
            (1, -1, 4, "user_text"),
            (1, 0, 4, "assistant_text"),
            (1, 1, 4, "assistant_text"),
            (2, -1, 7, "user_text"),
        ]


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_a_result_never_starts_a_turn_and_lives_in_the_unit_of_its_call(form):
    """J28."""
    pair = {
        "openai": [call(("c1", "read", {}), ("c2", "grep", {}), text="I look."), result("c1", "x"), result("c2", "y")],
        "anthropic": [use(("c1", "read", {}), ("c2", "grep", {}), text="I look."), results(("c1", "x"), ("c2", "y"))],
    }[form]
    with session_with(user("a"), *pair, answer("done"), form=form) as session:
        units = session.view().units
        assert [[item.kind.value for item in unit.items] for unit in units] == [
            ["user_text"],
            ["assistant_text", "tool_call", "tool_call", "tool_result", "tool_result"],
            ["assistant_text"],
        ]
        assert [(unit.turn, unit.step) for unit in units] == [(0, -1), (0, 0), (0, 1)]
        called = {item.id: item.name for item in session.items() if item.kind is ItemKind.TOOL_CALL}
        answered = [(called[item.call], item.text) for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
        assert answered == [("read", "x"), ("grep", "y")]


def test_results_and_user_text_in_one_message_are_two_units_and_a_new_turn():
    with session_with(user("a"), use(("c1", "read", {})), results(("c1", "x"), text="Go on."), form="anthropic") as s:
        assert place_of(s)[1:] == [(0, 0, 2, "tool_call"), (0, 0, 2, "tool_result"), (1, -1, 3, "user_text")]


def test_numbers_of_turns_do_not_shift_when_turns_leave():
    with GCSession(GCConfig(context_limit=2_000, output_reservation=0, preserve_recent_turns=1)) as session:
        for turn in range(6):
            session.append(user(f"question {turn}"))
            session.pre_send()
            session.post_turn(call((f"c{turn}", "read", {})))
            session.append(result(f"c{turn}", lines(60)))
            session.pre_send()
            session.post_turn(answer("done"))
        assert session.last_result is not None
        assert [unit.turn for unit in session.view().units if unit.items[0].text.startswith("question")] == [*range(6)]


def test_what_the_framework_says_starts_no_turn():
    with session_with(user("a"), answer("b")) as session:
        session.enrich(clock="12:00")
        session.pre_send()
        session.append(answer("c"))
        assert [item.turn for item in session.items()] == [0, 0, 0, 0]
        assert [item.synthetic for item in session.items()] == [False, False, True, False]


def test_a_leading_assistant_message_is_in_turn_0_and_the_request_is_still_the_request():
    with session_with(answer("Hello!"), user("a"), answer("b"), user("c")) as session:
        assert [item.turn for item in session.items()] == [0, 1, 1, 2]
        assert policies(session, ItemKind.USER_TEXT) == [LOCKED, PRESERVABLE]


def test_where_a_user_has_to_speak_first_a_line_precedes_a_leading_assistant_message():
    repairs, request = repairs_of("anthropic", answer("Hello!"), user("a"))
    assert repairs == ["user_first"]
    assert [message["role"] for message in request.messages] == ["user", "assistant", "user"]


@settings(max_examples=40)
@given(openai_sessions_strategy())
def test_every_openai_message_is_rendered_unchanged(messages):
    """J29: splitting and joining loses nothing; only repairs add."""
    with session_with(*messages) as session:
        request = window_of(session).render()
        synthetic = [m.payload for m in window_of(session).messages if m.synthetic]
        assert [payload for payload in request.messages if payload not in synthetic] == messages


@settings(max_examples=40)
@given(anthropic_sessions_strategy())
def test_numbers_of_turns_and_units_only_grow(messages):
    with session_with(*messages, form="anthropic") as session:
        units = session.view().units
        assert [unit.number for unit in units] == sorted({unit.number for unit in units})
        assert [unit.turn for unit in units] == sorted(unit.turn for unit in units)
        for unit in units:
            assert len({item.turn for item in unit.items}) == 1
            calls = any(item.kind is ItemKind.TOOL_CALL for item in unit.items)
            assert len({item.step for item in unit.items}) == 1 or not calls


# --- default policies -------------------------------------------------------------------------------------------------


def test_the_original_request_is_the_whole_first_run_of_user_messages():
    with session_with(user("a"), user("b"), answer("c"), user("d"), user("e")) as session:
        assert policies(session, ItemKind.USER_TEXT) == [LOCKED, LOCKED, PRESERVABLE, PRESERVABLE]


def test_the_original_request_is_locked_however_long_it_is():
    with session_with(user(lines(1_000)), answer("c")) as session:
        assert policies(session, ItemKind.USER_TEXT) == [LOCKED]


def test_what_a_user_says_is_preservable_however_long_it_is():
    with session_with(user("a"), answer("b"), user("word " * 20), answer("c"), user("word " * 5_000)) as session:
        assert policies(session, ItemKind.USER_TEXT)[0] == LOCKED
        assert policies(session, ItemKind.USER_TEXT)[2] == PRESERVABLE


def test_long_arguments_are_ephemeral_and_short_ones_partial():
    long = "word " * (LONG_ARGUMENT_TOKENS + 10)
    asked = call(("c1", "write", {"text": long}), ("c2", "write", {"text": "short"}))
    with session_with(user("a"), asked) as session:
        assert policies(session, ItemKind.TOOL_CALL) == [EPHEMERAL, PARTIAL]


def test_results_thinking_and_attachments_are_ephemeral():
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    messages = [
        user("a"),
        use(("c1", "read", {}), thinking="Hm."),
        results(("c1", "x")),
        answer("b"),
        {"role": "user", "content": [picture, {"type": "text", "text": "See?"}]},
    ]
    with session_with(*messages, form="anthropic") as session:
        for kind in (ItemKind.THINKING, ItemKind.TOOL_RESULT, ItemKind.ATTACHMENT):
            assert policies(session, kind) == [EPHEMERAL]


def test_system_text_and_core_schemas_are_locked_discoverable_schemas_are_ephemeral():
    with session_with(user("a"), {"role": "system", "content": "Be brief."}) as session:
        session.system(base="You fix bugs.")
        session.tools([schema("read"), schema("search")], discoverable={"search"})
        assert policies(session, ItemKind.SYSTEM_TEXT) == [LOCKED, LOCKED]
        assert policies(session, ItemKind.TOOL_SCHEMA) == [LOCKED, EPHEMERAL]


def test_a_clarifying_question_in_front_of_a_turn_with_tools_and_its_answer_are_preservable():
    work = [call(("c1", "read", {})), result("c1", "x"), answer("Done."), user("Thanks.")]
    with session_with(user("Fix it."), answer("Which one?"), user("The first."), *work) as session:
        assert policies(session, ItemKind.ASSISTANT_TEXT) == [PRESERVABLE, PRESERVABLE]
        assert policies(session, ItemKind.USER_TEXT)[:2] == [LOCKED, PRESERVABLE]


def test_question_and_answer_of_a_turn_without_tools_become_one_unit_that_nothing_holds():
    talk = [user("a"), answer("b"), user("How old is it?"), user("In years."), answer("Ten."), user("Thanks.")]
    with session_with(*talk) as session:
        (exchange,) = [unit for unit in session.view().units if unit.is_exchange]
        assert [item.text for item in exchange.items] == ["How old is it?", "In years.", "Ten."]
        assert exchange.policy is PARTIAL
        assert policies(session, ItemKind.USER_TEXT) == [LOCKED, PARTIAL, PARTIAL, PRESERVABLE]


def test_content_that_the_host_holds_is_not_part_of_an_exchange(tmp_path):
    with GCSession(directory=tmp_path / "s") as session:
        session.extend([user("a"), answer("b")])
        session.append(user("Remember the number 7."), policy=PRESERVABLE)
        session.extend([answer("Yes."), user("c")])
        assert policies(session, ItemKind.USER_TEXT) == [LOCKED, PRESERVABLE, PRESERVABLE]
        units = [unit.number for unit in session.view().units]
    with GCSession.open(tmp_path / "s") as session:
        assert policies(session, ItemKind.USER_TEXT) == [LOCKED, PRESERVABLE, PRESERVABLE]
        assert [unit.number for unit in session.view().units] == units


def test_a_demand_stays_preservable_in_a_turn_without_tools_where_the_session_works_with_tools():
    work = [user("a"), call(("c1", "read", {})), result("c1", "x"), answer("Done.")]
    talk = [user("Never touch the CI files."), answer("All right."), user("ok"), answer("Fine."), user("Go on.")]
    with session_with(*work, *talk) as session:
        assert policies(session, ItemKind.USER_TEXT) == [LOCKED, PRESERVABLE, PARTIAL, PRESERVABLE]


def test_the_last_text_only_answer_of_a_turn_with_tools_is_preservable_from_the_next_turn_on():
    talk = [user("a"), call(("c1", "read", {}), text="Let me see."), result("c1", "x"), answer("It is x.")]
    with session_with(*talk) as session:
        assert policies(session, ItemKind.ASSISTANT_TEXT) == [PARTIAL, PARTIAL]
        session.append(user("Thanks."))
        assert policies(session, ItemKind.ASSISTANT_TEXT) == [PARTIAL, PRESERVABLE]
        assert session.budget.preservable == sum(i.tokens for i in session.items() if i.policy is PRESERVABLE)


def test_an_answer_of_a_turn_without_tools_stays_partial():
    with session_with(user("a"), answer("b"), user("c")) as session:
        assert policies(session, ItemKind.ASSISTANT_TEXT) == [PARTIAL]


@pytest.mark.parametrize(
    ("word", "policy", "stubbable"),
    [("locked", LOCKED, 0), ("preservable", PRESERVABLE, 0), ("ephemeral", EPHEMERAL, 1), ("exclude", PARTIAL, 0)],
)
def test_a_tools_results_are_held_as_its_table_says(word, policy, stubbable):
    rounds = [
        m for n in range(4) for m in (call((f"c{n}", "read" if n == 0 else "ls", {})), result(f"c{n}", lines(30)))
    ]
    with session_with(user("a"), *rounds, tools={"read": word}) as session:
        assert policies(session, ItemKind.TOOL_RESULT)[0] is policy
        assert policies(session, ItemKind.TOOL_RESULT)[1] is EPHEMERAL
        assert len([item for item in session.view().stubbable if item.name == "read"]) == stubbable


def test_the_hosts_word_for_a_message_is_the_policy_of_all_its_items():
    with session_with(user("a")) as session:
        session.append(call(("c1", "read", {}), text="I look."), policy=PRESERVABLE)
        session.append(result("c1", "x"), policy=LOCKED)
        assert [item.policy for item in session.items()] == [LOCKED, PRESERVABLE, PRESERVABLE, LOCKED]


# --- classification by plugins ----------------------------------------------------------------------------------------


class Says:
    """A plugin that holds every item so."""

    def __init__(self, policy):
        self.policy = policy

    @hookimpl
    def gc_classify(self, item):  # noqa: ARG002 - the hook's argument
        return self.policy


def plugins_saying(*answers):
    plugins = Plugins()
    for place, each in enumerate(answers):
        plugins.register(Says(each), name=f"says{place}")
    return plugins


def quiet(*messages, plugins, **config):
    return session_with(*messages, plugins=plugins, strategy="none", **config)


@pytest.mark.parametrize("order", [[EPHEMERAL, PRESERVABLE, None], [None, PRESERVABLE, EPHEMERAL]], ids=str)
def test_among_plugins_the_strongest_answer_wins_whatever_the_order(order):
    with quiet(user("a"), answer("b"), plugins=plugins_saying(*order)) as session:
        assert policies(session, ItemKind.ASSISTANT_TEXT) == [PRESERVABLE]


def test_without_an_answer_the_default_applies():
    with quiet(user("a"), answer("b"), plugins=plugins_saying(None, "rubbish")) as session:
        assert policies(session, ItemKind.ASSISTANT_TEXT) == [PARTIAL]


def test_a_plugin_lowers_nothing_that_core_or_host_locked():
    messages = [user("a"), {"role": "system", "content": "Be brief."}, call(("c1", "read", {})), result("c1", "x")]
    with quiet(*messages, plugins=plugins_saying(EPHEMERAL), tools={"read": "locked"}) as session:
        session.append(user("b"), policy=LOCKED)
        assert policies(session, ItemKind.USER_TEXT) == [LOCKED, LOCKED]
        assert policies(session, ItemKind.SYSTEM_TEXT) == [LOCKED]
        assert policies(session, ItemKind.TOOL_RESULT) == [LOCKED]


# --- repairs ----------------------------------------------------------------------------------------------------------


def accepted(form, request):
    return complaints(form, request.kwargs()) == []


def test_a_dead_call_gets_a_synthetic_result_right_after_it():
    repairs, request = repairs_of(
        "openai", user("a"), call(("c1", "read", {}), ("c2", "ls", {})), result("c2", "y"), user("b")
    )
    assert repairs == ["dead_call"]
    assert accepted("openai", request)
    assert [message["role"] for message in request.messages] == ["user", "assistant", "tool", "tool", "user"]
    assert "no result" in request.messages[3]["content"]


def test_all_results_of_a_batch_are_in_one_anthropic_message_the_synthetic_one_too():
    repairs, request = repairs_of(
        "anthropic", user("a"), use(("c1", "read", {}), ("c2", "ls", {})), results(("c2", "y"), text="Go on.")
    )
    assert repairs == ["dead_call"]
    assert accepted("anthropic", request)
    kinds = [block["type"] for block in request.messages[2]["content"]]
    assert kinds == ["tool_result", "tool_result", "text"]


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_a_result_without_its_call_becomes_text(form):
    late = result("c9", "secret") if form == "openai" else results(("c9", "secret"))
    repairs, request = repairs_of(form, user("a"), answer("b"), late)
    assert repairs == ["late_result"]
    assert accepted(form, request)
    assert request.messages[-1]["role"] == "user"
    assert "c9" in request.messages[-1]["content"]
    assert "secret" in request.messages[-1]["content"]


def test_a_second_result_of_one_call_becomes_text():
    talk = [user("a"), call(("c1", "read", {})), result("c1", "first"), result("c1", "second")]
    repairs, request = repairs_of("openai", *talk)
    assert repairs == ["late_result"]
    assert accepted("openai", request)


def test_results_after_the_end_of_their_batch_become_text():
    talk = [user("a"), call(("c1", "read", {})), user("never mind"), result("c1", "late")]
    repairs, request = repairs_of("openai", *talk)
    assert repairs == ["dead_call", "late_result"]
    assert accepted("openai", request)


def test_ids_that_repeat_across_batches_pair_within_their_batch():
    talk = [user("a")]
    for place in range(3):
        talk += [call(("c1", "read", {"n": place})), result("c1", f"answer {place}")]
    with session_with(*talk) as session:
        calls = {item.id: json.loads(item.text)["n"] for item in session.items() if item.kind is ItemKind.TOOL_CALL}
        assert [calls[i.call] for i in session.items() if i.kind is ItemKind.TOOL_RESULT] == [0, 1, 2]


def test_ids_that_repeat_within_a_batch_pair_by_position():
    twice = [
        call(("c1", "read", {"n": 0}), ("c1", "read", {"n": 1})),
        result("c1", "answer 0"),
        result("c1", "answer 1"),
    ]
    with session_with(user("a"), *twice) as session:
        calls = {item.id: json.loads(item.text)["n"] for item in session.items() if item.kind is ItemKind.TOOL_CALL}
        found = [(calls[i.call], i.text) for i in session.items() if i.kind is ItemKind.TOOL_RESULT]
        assert found == [(0, "answer 0"), (1, "answer 1")]
        assert session.view().units[-1].pending is False


def test_results_split_over_messages_are_joined_where_the_provider_wants_one():
    asked = use(("c1", "read", {}), ("c2", "ls", {}), ("c3", "ps", {}))
    talk = [user("a"), asked, results(("c3", "z")), results(("c1", "x")), results(("c2", "y"), text="Go on.")]
    repairs, request = repairs_of("anthropic", *talk)
    assert repairs == []
    assert accepted("anthropic", request)
    assert [message["role"] for message in request.messages] == ["user", "assistant", "user"]


def test_what_was_pinned_or_held_survives_a_join():
    asked = use(("c1", "read", {}), ("c2", "ls", {}))
    with session_with(user("a"), asked, form="anthropic") as session:
        (first,) = session.append(results(("c1", "x")))
        session.pin(item=first)
        session.set_policy(first, LOCKED)
        session.append(results(("c2", "y")))
        (kept,) = [item for item in session.items() if item.id == first]
        assert kept.pinned
        assert kept.policy is LOCKED


@pytest.mark.parametrize("form", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "content", ["", [], "  \n ", [{"type": "text", "text": ""}], [{"type": "text", "text": " "}]], ids=repr
)
def test_a_message_without_content_is_left_out_and_said_so(form, content):
    repairs, request = repairs_of(form, user("a"), answer("b"), user(content), user("c"))
    assert repairs[0] in {"empty_message", "empty_text"}
    assert len(request.messages) == 3
    assert accepted(form, request)


def test_an_empty_text_block_is_left_out_and_its_neighbours_stay():
    blocks = [{"type": "text", "text": "x"}, {"type": "text", "text": ""}, {"type": "text", "text": "y"}]
    repairs, request = repairs_of("anthropic", user(blocks))
    assert repairs == ["empty_text"]
    assert request.messages[0]["content"] == [blocks[0], blocks[2]]


@pytest.mark.parametrize("arguments", ["", "not json", "[1, 2]", '"text"', "null", '{"a": 1'], ids=repr)
def test_arguments_that_are_not_a_json_object_are_wrapped_in_one(arguments):
    repairs, request = repairs_of("openai", user("a"), call(("c1", "read", arguments)), result("c1", "x"))
    assert repairs == ["bad_arguments"]
    sent = request.messages[1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"arguments": arguments}


def test_arguments_that_came_as_an_object_are_the_string_that_they_have_to_be():
    asked = call(("c1", "read", {}))
    asked["tool_calls"][0]["function"]["arguments"] = {"path": "a.py"}
    repairs, request = repairs_of("openai", user("a"), asked, result("c1", "x"))
    assert repairs == []
    assert json.loads(request.messages[1]["tool_calls"][0]["function"]["arguments"]) == {"path": "a.py"}


MALFORMED = [
    ({}, "role"),
    ({"role": "robot", "content": "x"}, "role"),
    ({"role": "user"}, "content"),
    ({"role": "user", "content": 5}, "content"),
    ({"role": "user", "content": [{"text": "x"}]}, r"content\[0\]\.type"),
    ({"role": "user", "content": ["x"]}, r"content\[0\]"),
    ({"role": "user", "content": [{"type": "text"}]}, r"content\[0\]\.text"),
    ({"role": "tool", "content": "x"}, "tool_call_id|role"),
    ({"role": "tool", "tool_call_id": "", "content": "x"}, "tool_call_id|role"),
    ({"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}, "tool_calls|content"),
    ({"role": "assistant", "content": 1, "tool_calls": 5}, "tool_calls|content"),
    ("hello", "expected a message as a dict"),
    (None, "expected a message as a dict"),
    ([user("x")], "expected a message as a dict"),
    ({"role": "user", "content": b"x"}, "not JSON"),
    ({"role": "user", "content": float("nan")}, "not JSON"),
]


@pytest.mark.parametrize("form", ["openai", "anthropic"])
@pytest.mark.parametrize(("message", "field"), MALFORMED, ids=str)
def test_a_malformed_message_is_refused_with_its_field_and_changes_nothing(form, message, field):
    with session_with(user("a"), form=form) as session:
        before, budget = rendered(session), session.budget.snapshot()
        with pytest.raises(MessageError, match=field):
            session.append(message)
        assert (rendered(session), session.budget.snapshot()) == (before, budget)
        assert session.append(user("b")) == ("i2",)


def test_a_message_nested_without_end_is_refused():
    deep = content = []
    for _ in range(200_000):
        content.append([])
        content = content[0]
    loop = {"role": "user", "content": []}
    loop["content"].append(loop)
    with session_with(user("a")) as session:
        for message in (user(deep), loop):
            with pytest.raises(MessageError, match="nested deeper than"):
                session.append(message)


@pytest.mark.parametrize("policy", ["locked", 3, ItemKind.TRACE])
def test_an_invalid_policy_is_refused_and_changes_nothing(policy):
    with session_with(user("a")) as session:
        before = session.budget.snapshot()
        with pytest.raises(MessageError, match=r"policy = .*: expected a GCPolicy"):
            session.append(user("b"), policy=policy)
        assert session.budget.snapshot() == before
        assert session.append(user("b")) == ("i2",)


def test_a_lone_surrogate_and_control_characters_are_ordinary_text_until_they_are_sent():
    odd = "a\ud800b\x00\x1b[0m\u2028"
    with session_with(user(odd)) as session:
        assert session.recall("i1") == odd
        assert session.pre_send().messages[0]["content"] == odd.replace("\ud800", "\ufffd")


def test_a_synthetic_result_is_the_frameworks_also_next_to_a_users_text():
    with GCSession(GCConfig(strategy="none"), format="anthropic") as session:
        session.append({"role": "user", "content": "Go."})
        calls = [{"type": "tool_use", "id": f"toolu_{n}", "name": "read", "input": {}} for n in range(3)]
        session.append({"role": "assistant", "content": calls})
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x = 1"}
        session.append({"role": "user", "content": [result, {"type": "text", "text": "Stop."}]})
        results = [item for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
        assert [(item.text == "x = 1", item.synthetic) for item in results] == [(True, False)] + [(False, True)] * 2
        assert [session.recall(item.id) for item in session.items() if not item.synthetic][-2:] == ["x = 1", "Stop."]
