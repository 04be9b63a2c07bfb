"""The example plugins do what they say."""

import importlib.util
from pathlib import Path

import pytest

from gc_core import GCConfig, GCPolicy, GCSession, ItemKind, Plugins

EXAMPLES = Path(__file__).parents[1] / "examples"


def plugins_with(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    plugins = Plugins.discover()
    plugins.register(module, name=name)
    return plugins


def call(place, name):
    function = {"name": name, "arguments": "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"c{place}", "type": "function", "function": function}],
    }


def steps(session, name, text, count, start=0):
    for place in range(start, start + count):
        session.append(call(place, name))
        session.append({"role": "tool", "tool_call_id": f"c{place}", "content": text})


def policies(session, kind):
    return [item.policy for item in session.items() if item.kind is kind]


def test_a_result_with_a_rule_of_agents_md_is_held():
    session = GCSession(GCConfig(strategy="budget"), plugins=plugins_with("keep_rules"))
    session.append({"role": "user", "content": "Start."})
    steps(session, "read", "AGENTS.md: you must never push to main.\n" + "words\n" * 300, 1)
    steps(session, "read", "nothing of that kind\n" + "words\n" * 300, 1, start=1)
    assert policies(session, ItemKind.TOOL_RESULT) == [GCPolicy.PRESERVABLE, GCPolicy.EPHEMERAL]
    steps(session, "read", "fine", 4, start=2)
    session.collect_now(target_percent=0)
    texts = [item.text for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
    assert any(text.startswith("AGENTS.md: you must never push to main.") and len(text) > 1_000 for text in texts)


def test_a_tools_output_is_decided_anew_at_every_collection():
    plugins = plugins_with("one_shot_tool")
    session = GCSession(GCConfig(strategy="budget", preserve_recent_steps=0), plugins=plugins)
    session.append({"role": "user", "content": "Start."})
    steps(session, "screenshot", "button_submit_form\n" + "pixels of the page\n" * 300, 1)
    session.append({"role": "assistant", "content": "I press button_submit_form."})
    session.append({"role": "user", "content": "Go on."})
    assert session.plan(target_percent=1).plan.edits.policies == {"i3": GCPolicy.PARTIAL}
    steps(session, "click", "ok", 4, start=1)
    assert session.plan(target_percent=1).plan.edits.policies == {"i3": GCPolicy.EPHEMERAL}


@pytest.mark.parametrize("name", ["keep_rules", "one_shot_tool"])
def test_locked_is_never_lowered(name):
    session = GCSession(GCConfig(strategy="budget"), plugins=plugins_with(name))
    session.append({"role": "user", "content": "AGENTS.md says you must ask."})
    session.collect_now(target_percent=0)
    assert policies(session, ItemKind.USER_TEXT) == [GCPolicy.LOCKED]
