"""Five phases in strict order, left as soon as the goal is met; what is alive stays."""

import json

import pytest
from gc_budget import Budget

from gc_core import ConfigError, GCConfig, GCPolicy, GCSession, ItemKind, Plugins

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
    for place, arguments in (
        (90, {"path": "a_file.py"}),
        (91, {"path": "a_file.py"}),
        (92, {"command": "x"}),
        (93, {"command": "y"}),
    ):
        session.append(call(place, "read", arguments))
        session.append(result(place, FILLER))
    first = session.plan(target_percent=5).result.removals[0]
    (stale,) = [item for item in session.items() if item.id == first.items[0]]
    assert first.reason == "superseded"
    assert stale.turn == 0
    assert stale.step == 5


def test_preservable_goes_only_down_to_the_pressure_and_never_in_continuous_mode():
    def talk(**config):
        session = session_of(steps=1, turns=2, context_limit=8_000, output_reservation=0, **config)
        for place in range(60):
            session.append({"role": "user", "content": f"Also consider point {place}. " + "Words. " * 40})
            session.append({"role": "assistant", "content": "I do."})
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
        session.append(call(50, "write", {"path": "x.py", "content": FILLER}))
        session.append(result(50, "ok"))
        for place in range(51, 55):
            session.append(call(place))
            session.append(result(place, "ok"))
        goal = session.plan(target_percent=1).plan.goal
        removals = Budget(stub_arguments=wanted).collect(session.view(), goal)
        offered = {removal.items[0] for removal in removals if removal.phase == "1b ephemeral"}
        calls = {item.id for item in session.items() if item.kind is ItemKind.TOOL_CALL and item.tokens > 250}
        assert bool(calls & offered) is wanted


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
