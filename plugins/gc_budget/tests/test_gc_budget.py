"""Five phases in strict order, left as soon as the goal is met; what is alive stays."""

import json

import pytest
from gc_budget import Budget

from gc_core import ConfigError, GCConfig, GCPolicy, GCSession, Goal, ItemKind, Plugins
from tests.support.inside import state_of

FILLER = "\n".join(f"some words of output, line {place}" for place in range(120))


def call(place, name="bash", arguments=None):
    function = {"name": name, "arguments": json.dumps(arguments or {"command": f"step {place}"})}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"c{place}", "type": "function", "function": function}],
    }


def result(place, text):
    return {"role": "tool", "tool_call_id": f"c{place}", "content": text}


def session_of(steps=20, turns=1, options=None, **config):
    settings = {
        "strategy": "budget",
        "context_limit": 100_000,
        "auto_trigger": False,
        "strategies": {"budget": options or {}},
    }
    session = GCSession(GCConfig(**{**settings, **config}))
    place = 0
    for turn in range(turns):
        session.append({"role": "user", "content": f"Request {turn}: do what is needed."})
        for _ in range(steps):
            session.append(call(place))
            session.append(result(place, f"only_here_{place}\n{FILLER}"))
            place += 1
        session.append({"role": "assistant", "content": f"Turn {turn} is done."})
    return session


def phases(result_):
    return [removal.phase for removal in result_.removals]


def test_it_is_registered_under_its_name():
    assert isinstance(Plugins.discover().strategy("gc_budget"), Budget)


def test_phases_come_in_order_and_end_when_the_goal_is_met():
    session = session_of()
    session.enrich(weather="mild " * 200)
    session.pre_send()
    session.post_turn({"role": "assistant", "content": "Noted."})
    session.append({"role": "user", "content": "Go on."})
    easy = session.plan(target_percent=100 * (session.budget.total - 100) / session.budget.usable)
    assert set(phases(easy.result)) == {"1a enrichment"}
    hard = phases(session.plan(target_percent=1).result)
    assert hard == sorted(hard)
    assert set(hard) == {"1a enrichment", "1b ephemeral", "2 partial"}


def test_old_results_become_stubs_that_keep_the_only_line_that_names_something():
    session = session_of()
    done = session.collect_now(target_percent=15)
    stubs = [item for item in session.items() if item.kind is ItemKind.TOOL_RESULT and item.reference]
    assert set(phases(done)) == {"1b ephemeral"}
    assert stubs
    assert all(item.text.startswith("only_here_") for item in stubs)
    assert done.freed_by() == {("budget", "1b ephemeral"): sum(removal.tokens_freed for removal in done.removals)}


def test_superseded_results_go_before_older_ones():
    session = session_of(steps=4)
    for place, pattern in ((90, "port"), (91, "port"), (92, "host"), (93, "user")):
        session.append(call(place, "grep", {"pattern": pattern}))
        session.append(result(place, FILLER))
    first = session.plan(target_percent=5).result.removals[0]
    (stale,) = [item for item in session.items() if item.id == first.items[0]]
    assert first.reason == "superseded"
    assert stale.turn == 0
    assert stale.step == 5


def test_preservable_goes_only_down_to_the_pressure_and_never_in_continuous_mode():
    def talk(**config):
        session = session_of(steps=1, turns=2, context_limit=8_000, output_reservation=0, **config)
        session.append({"role": "user", "content": "The standing orders. " + "Words. " * 2_000}, policy=GCPolicy.LOCKED)
        for place in range(40):
            said = f"Also consider point {place}. " + "Words. " * 40
            session.append({"role": "assistant", "content": "I do."})
            session.append({"role": "user", "content": said}, policy=GCPolicy.PRESERVABLE)
        return session, session.collect_now(target_percent=1)

    session, done = talk(pressure_percent=60, threshold_percent=60)
    assert "3 preservable" in phases(done)
    assert 40 < session.budget.utilisation < 60
    _, done = talk(pressure_percent=0)
    assert "3 preservable" not in phases(done)


def test_locked_and_pinned_content_never_goes():
    session = session_of()
    session.set_policy("i3", GCPolicy.LOCKED)
    session.pin(item="i5")
    texts = {item.id: item.text for item in session.items() if item.id in {"i1", "i3", "i5"}}
    session.collect_now(target_percent=0)
    assert {item.id: item.text for item in session.items() if item.id in texts} == texts


def test_a_tool_can_be_excluded_or_given_its_own_share():
    excluded = session_of(options={"tools": {"bash": "exclude"}}).plan(target_percent=8).result
    assert "1b ephemeral" not in phases(excluded)
    nothing = session_of(options={"tools": {"bash": 0.0}})
    nothing.collect_now(target_percent=15)
    stubs = [item.text for item in nothing.items() if item.kind is ItemKind.TOOL_RESULT and item.reference]
    assert all("\n" not in text for text in stubs)


def test_arguments_are_stubbed_only_when_wanted():
    for wanted in (True, False):
        session = session_of(steps=1)
        session.append(call(50, "send_mail", {"to": "ops", "body": FILLER}))
        session.append(result(50, "ok"))
        for place in range(51, 55):
            session.append(call(place))
            session.append(result(place, "ok"))
        goal = session.plan(target_percent=1).plan.goal
        removals = Budget(stub_arguments=wanted).collect(session.view(), goal)
        offered = {removal.items[0] for removal in removals if removal.phase == "1b ephemeral"}
        calls = {item.id for item in session.items() if item.kind is ItemKind.TOOL_CALL and item.tokens > 250}
        assert bool(calls & offered) is wanted


def code(path, rows=60):
    return "\n".join(f"{path}_name_{row} = compute({row})" for row in range(rows))


def read(session, place, path, rows=60):
    session.append(call(place, "read", {"path": f"{path}.py"}))
    session.append(result(place, code(path, rows)))


def edit(session, place, path, *, old="pass", new="return 1"):
    session.append(call(place, "edit", {"path": f"{path}.py", "old_string": old, "new_string": new}))
    session.append(result(place, "Done."))


def settle(session, first, number=4):
    """Steps after which earlier content is no longer among the newest."""
    for place in range(first, first + number):
        session.append(call(place))
        session.append(result(place, "ok"))


def proposed(session, tokens, phase="1b ephemeral", **options):
    removals = Budget(**options).collect(session.view(), Goal(target_tokens=tokens))
    return [removal for removal in removals if removal.phase == phase]


def less(session, tokens):
    """The target of a collection that has to free so many tokens."""
    return 100 * state_of(session).calibration.estimate(session.budget.total - tokens) / session.budget.usable


def named(session, name, kind=ItemKind.TOOL_RESULT):
    return [item for item in session.items() if item.name == name and item.kind is kind]


def test_repeated_lines_of_an_older_view_leave_and_all_others_stay_whole_and_in_order():
    session = session_of(steps=2)
    read(session, 50, "a")
    read(session, 51, "a", 40)
    settle(session, 52)
    done = session.collect_now(target_percent=less(session, 100))
    assert [(removal.phase, removal.reason) for removal in done.removals] == [("1b ephemeral", "shown again")]
    older, newer = named(session, "read")
    *kept, reference = older.text.split("\n")
    assert kept == ["[...]", *code("a").split("\n")[40:]]
    assert session.recall(reference) == code("a")
    assert newer.text == code("a", 40)


def test_the_old_text_of_an_edit_leaves_and_its_new_text_stays_in_a_json_object():
    session = session_of(steps=2)
    edit(session, 50, "a", old=code("before"), new=code("after"))
    settle(session, 51)
    session.collect_now(target_percent=less(session, 100))
    (left,) = named(session, "edit", ItemKind.TOOL_CALL)
    arguments = json.loads(left.text)
    assert json.loads(session.recall(arguments.pop("left_out")))["old_string"] == code("before")
    assert arguments == {"path": "a.py", "old_string": "[...]", "new_string": code("after")}


def test_of_files_the_least_used_shrink_first_all_views_of_one_together_and_those_in_use_stay_whole():
    session = session_of(steps=2)
    for place, name in enumerate("abcabc"):
        read(session, 50 + place, name, 40 + place)
    edit(session, 60, "a")
    settle(session, 61)
    views = named(session, "read")
    size = sum(item.tokens for item in views) / 3
    shrunk = [
        removal.items[0]
        for removal in proposed(session, 2 * 1.5 * size, files_share=0.5)
        if removal.reason.startswith("its file was last named")
    ]
    assert shrunk == [views[place].id for place in (1, 4, 2, 5)]


def test_steps_that_show_a_file_in_use_are_dropped_last():
    session = session_of(steps=0)
    read(session, 50, "a")
    settle(session, 51, 8)
    shows = next(unit.number for unit in session.view().units if named(session, "read")[0] in unit.items)
    dropped = [removal.action.units[0] for removal in proposed(session, 2_000, "2 partial", files_share=0.9)]
    assert len(dropped) > 2
    assert dropped[-1] == shows
    assert dropped[:-1] == sorted(dropped[:-1])


def test_an_excluded_tool_stays_whole_though_it_shows_a_file_that_is_shown_again_or_not_in_use():
    session = session_of(steps=2)
    for place, name in enumerate("aab"):
        read(session, 50 + place, name)
    settle(session, 53)
    views = {item.id for item in named(session, "read")}
    offered = {removal.items[0] for removal in proposed(session, 0)}
    assert views <= offered
    spared = {removal.items[0] for removal in proposed(session, 0, tools={"read": "exclude"})}
    assert views.isdisjoint(spared)
    assert spared == offered - views


def test_where_arguments_are_not_stubbed_the_old_text_of_an_edit_stays_too():
    for wanted in (True, False):
        session = session_of(steps=2)
        edit(session, 50, "a", old=code("before"), new=code("after"))
        settle(session, 51)
        (call_,) = named(session, "edit", ItemKind.TOOL_CALL)
        offered = {removal.items[0] for removal in proposed(session, 0, stub_arguments=wanted)}
        assert (call_.id in offered) is wanted


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"keep": 1}, "keep"),
        ({"keep": -0.1}, "keep"),
        ({"tools": {"bash": "never"}}, "tools.bash"),
        ({"kep": 1}, "kep"),
    ],
)
def test_bad_options_die_in_the_constructor_with_their_name(options, said):
    with pytest.raises(ConfigError, match=said):
        Plugins.discover().strategy("budget", options)


def test_collecting_again_removes_nothing():
    session = session_of(turns=3)
    goal = session.plan(target_percent=20).plan.goal
    session.collect_now(target_percent=20)
    assert session.plan(goal=goal).plan.removals == ()
