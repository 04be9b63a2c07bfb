"""Oldest turns first, whole, and only as many as the goal needs."""

import json

import pytest
from gc_truncate import Truncate

from gc_core import ConfigError, GCConfig, GCPolicy, GCSession, ItemKind, Plugins

FILLER = "\n".join(f"line {place} of the output" for place in range(40))


def turn_of(place, steps=2):
    messages = [{"role": "user", "content": f"request {place}"}]
    for step in range(steps):
        function = {"name": "read", "arguments": json.dumps({"path": f"f{place}.{step}"})}
        key = f"c{place}.{step}"
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": key, "type": "function", "function": function}],
            }
        )
        messages.append({"role": "tool", "tool_call_id": key, "content": f"result {place}.{step}\n{FILLER}"})
    return [*messages, {"role": "assistant", "content": f"answer {place}"}]


def session_of(turns, steps=2, **config):
    session = GCSession(
        GCConfig(**{"strategy": "gc_truncate", "context_limit": 100_000, "auto_trigger": False, **config})
    )
    for place in range(turns):
        session.extend(turn_of(place, steps))
    return session


def results_left(session):
    return [item.text.split("\n")[0] for item in session.items() if item.kind is ItemKind.TOOL_RESULT]


def said(session):
    return [item.text for item in session.items() if item.kind is ItemKind.USER_TEXT]


def percent(session, share):
    """The target, in percent of the window, that leaves this share of the request."""
    return 100 * session.budget.total * share / session.config.usable


def test_it_is_found_by_its_entry_point_under_both_names():
    plugins = Plugins.discover()
    assert plugins.strategy("truncate") == plugins.strategy("gc_truncate") == Truncate()
    (info,) = [info for info in plugins.strategies() if info.name == "gc_truncate"]
    assert info.plugin == "gc_truncate"
    assert info.options == ()


def test_it_has_no_options():
    with pytest.raises(ConfigError, match="'truncate' has no option 'keep'"):
        Plugins.discover().strategy("truncate", {"keep": 1})


@pytest.mark.parametrize("share", [0.9, 0.7, 0.5])
def test_the_oldest_turns_go_first_whole_and_only_as_many_as_the_goal_needs(share):
    with session_of(20) as session:
        before = session.budget.total
        found = session.collect_now(target_percent=percent(session, share))
        assert session.budget.total <= found.target_tokens
        left = [int(text.split()[1].split(".")[0]) for text in results_left(session)]
        oldest = min(left)
        assert left == [turn for turn in range(oldest, 20) for _ in range(2)]
        # One turn fewer would have missed the target.
        assert session.budget.total + before // 20 + 30 > found.target_tokens
        assert {phase for _, phase in found.freed_by()} == {"turns"}


def test_a_turn_is_one_removal_whose_reason_says_why():
    with session_of(20) as session:
        found = session.collect_now(target_percent=percent(session, 0.7))
        assert {removal.reason for removal in found.removals} == {"oldest turn"}
        assert [len(removal.action.units) for removal in found.removals] == [len(r.items) // 2 for r in found.removals]


def test_the_recent_turns_stay_as_long_as_the_old_ones_suffice():
    with session_of(20, preserve_recent_turns=6) as session:
        session.collect_now(target_percent=percent(session, 0.5))
        assert all(f"result {turn}.{step}" in results_left(session) for turn in range(14, 20) for step in range(2))


def test_when_the_old_turns_do_not_suffice_the_oldest_steps_of_the_recent_ones_go():
    with session_of(3, steps=10) as session:
        found = session.collect_now(target_percent=percent(session, 0.5))
        assert {phase for _, phase in found.freed_by()} == {"steps"}
        left = results_left(session)
        everything = [f"result {turn}.{step}" for turn in range(3) for step in range(10)]
        assert left == everything[-len(left) :]
        assert said(session) == ["request 0", "request 1", "request 2"]


def test_a_single_turn_of_many_steps_keeps_its_request_and_its_newest_steps():
    with session_of(1, steps=60) as session:
        session.collect_now(target_percent=0)
        assert said(session) == ["request 0"]
        assert results_left(session) == ["result 0.59"]


def test_what_users_said_stays_below_pressure():
    with session_of(20, pressure_percent=90) as session:
        session.collect_now(target_percent=0)
        assert said(session) == [f"request {place}" for place in range(20)]


def test_under_pressure_the_oldest_user_messages_go_too_but_not_the_original_request():
    with GCSession(
        GCConfig(strategy="gc_truncate", context_limit=3_000, output_reservation=0, auto_trigger=False)
    ) as s:
        s.append({"role": "user", "content": "request 0 " + "word " * 1_900})
        for place in range(1, 12):
            s.append({"role": "assistant", "content": "Yes."})
            held = {"role": "user", "content": f"request {place} " + "word " * 80}
            s.append(held, policy=GCPolicy.PRESERVABLE)
        s.append({"role": "user", "content": "The last."})
        found = s.collect_now()
        assert ("gc_truncate", "preservable") in found.freed_by()
        assert said(s)[0].startswith("request 0 ")
        assert not any(text.startswith("request 1 ") for text in said(s))
        assert said(s)[-1] == "The last."


@pytest.mark.parametrize("share", [0.6, 0.2, 0])
def test_a_second_collection_is_empty(share):
    with session_of(20) as session:
        target = percent(session, share)
        assert session.collect_now(target_percent=target).changed
        assert session.collect_now(target_percent=target).removals == ()


def test_what_fits_is_left_alone():
    with session_of(5) as session:
        assert session.collect_now(target_percent=90).removals == ()


def test_removed_content_is_named_by_a_trace_and_recalled_from_the_log():
    with session_of(20) as session:
        keys = {item.id for item in session.items() if item.kind is ItemKind.TOOL_RESULT}
        session.collect_now(target_percent=percent(session, 0.5))
        left = {item.id for item in session.items()}
        traces = [item.text for item in session.items() if item.kind is ItemKind.TRACE]
        assert traces
        assert all("tokens left out here" in text for text in traces)
        assert all(session.recall(key).startswith("result ") for key in keys - left)
