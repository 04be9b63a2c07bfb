"""References name the recall tool as the agent calls it: the id, and of a sub-agent's lane whose it is."""

import httpx2
import pytest
from gc_gateway.dialects import Content
from gc_gateway.recall_tools import recall_tool_in
from gc_gateway.serving import running
from gc_gateway.settings import Settings

from gc_core import GCConfig, GCSession
from gc_core.errors import ConfigError
from gc_core.integrations.agent_tools.looking_back import reference_in
from gc_core.storage.audit import verify
from tests.support.say import lines, results, use
from tests.support.standin import StandIn

FORM = "mcp__gc__gc_recall {id}"
CLAUDE = "5f0c2d6e-0000-4000-8000-000000000001"


def filled(directory, form=FORM, strategy="gc_budget"):
    config = GCConfig(strategy=strategy, context_limit=4_000, output_reservation=0, preserve_recent_turns=1)
    session = GCSession(config, format="anthropic", directory=directory)
    if form:
        session.switch(recall_form=form)
    session.append({"role": "user", "content": "Read the files."})
    for number in range(1, 13):
        session.append(use((f"t{number}", "Read", {"path": f"f{number}"})))
        session.append(results((f"t{number}", lines(120, f"needle{number}"))))
        session.pre_send()
    return session


def references_in(session):
    return [(item, item.reference) for item in session.items() if item.reference is not None]


@pytest.mark.parametrize("strategy", ["gc_budget", "gc_truncate"])
def test_stubs_and_notices_name_the_call_and_are_recalled_as_they_stand(strategy, tmp_path):
    with filled(tmp_path / "one", strategy=strategy) as session:
        found = references_in(session)
        assert found
        for item, reference in found:
            ids = reference.first if reference.first == reference.last else f"{reference.first}-{reference.last}"
            line = item.text.splitlines()[-1]
            assert f"mcp__gc__gc_recall {ids}" in line
            assert reference_in(line) == ids
            assert session.recall(line) == session.recall(ids)
    assert verify(tmp_path / "one") == ()
    with GCSession.open(tmp_path / "one") as session:
        assert [item.text for item, _ in references_in(session)] == [item.text for item, _ in found]


def test_without_a_form_references_are_as_they_were(tmp_path):
    with filled(tmp_path / "one", form=None) as session:
        for item, reference in references_in(session):
            assert f": {reference.first}" in item.text or f", {reference.first}" in item.text


@pytest.mark.parametrize(
    "form", ["", "gc_recall", "a {id} b {id}", "x\n{id}", "[{id}]", '"{id}"', "{id}" * 40, 7, "é{id}"]
)
def test_what_is_no_form_is_refused(form):
    with GCSession() as session, pytest.raises(ConfigError, match="recall_form"):
        session.switch(recall_form=form)


@pytest.mark.parametrize(
    ("tools", "messages", "tool"),
    [
        ([{"name": "mcp__gc__gc_recall"}], [], "mcp__gc__gc_recall"),
        ([{"name": "mcp__plugin_gc_gc__gc_recall"}], [], "mcp__plugin_gc_gc__gc_recall"),
        ([{"type": "function", "function": {"name": "gc_gc_recall"}}], [], "gc_gc_recall"),
        ([{"type": "namespace", "name": "mcp__gc", "tools": [{"name": "gc_recall"}]}], [], "gc_recall"),
        ([{"functionDeclarations": [{"name": "gc_recall"}]}], [], "gc_recall"),
        ([{"name": "Bash"}], [{"role": "system", "content": "deferred: mcp__gc__gc_pin\nmcp__gc__gc_recall"}],
         "mcp__gc__gc_recall"),
        ([{"name": "Bash"}], [{"role": "developer", "content": [{"type": "input_text", "text": "mcp__gc__gc_recall"}]}],
         "mcp__gc__gc_recall"),
        ([{"name": "Bash"}], [{"role": "user", "content": "mcp__evil__gc_recall"}], ""),
        ([{"name": "Bash"}], [{"role": "system", "content": "gc_recall: the original text"}], ""),
        ([{"name": "my_gc_recalls"}, {"name": 7}, "x", {}], [{"role": "system", "content": [7, None]}], ""),
    ],
)  # fmt: skip
def test_the_tool_is_found_as_each_client_declares_it_and_not_in_what_others_say(tools, messages, tool):
    assert recall_tool_in(Content(messages=messages, tools=tools)) == tool


def test_a_lane_names_the_agents_tool_and_a_sub_agents_lane_whose_items_they_are(tmp_path):
    with StandIn(calls=200, limit=8_000) as provider:
        upstreams = dict.fromkeys(("anthropic", "openai", "responses", "gemini"), provider.url)
        settings = Settings(directory=tmp_path / "lanes", upstreams=upstreams, windows={"*": 8_000})
        with running(settings) as (url, gateway):
            main = {"x-claude-code-session-id": CLAUDE}
            for headers in (main, {**main, "x-claude-code-agent-id": "a1"}):
                converse(url, headers)
            lanes = {bool(lane.id.parent): lane.session for lane in gateway.lanes.open}
            assert set(lanes) == {True, False}
            for is_agent, session in lanes.items():
                tag = f"@{session.port.id[:6]}" if is_agent else ""
                (item, reference), *_ = references_in(session)
                assert (
                    f"mcp__gc__gc_recall {reference.first}{tag}" in item.text or f"{reference.last}{tag}" in item.text
                )
                assert session.recall(item.text)


def converse(url, headers):
    tools = [
        {"name": name, "description": "Does.", "input_schema": {"type": "object"}}
        for name in ("bash", "mcp__gc__gc_recall")
    ]
    held = [{"role": "user", "content": "Read the files."}]
    for number in range(8):
        body = {"model": "claude-opus-4-5", "max_tokens": 1000, "messages": held, "tools": tools}
        sent = {"x-api-key": "key-1", **headers}
        reply = httpx2.post(f"{url}/v1/messages", json=body, headers=sent, trust_env=False).json()
        held.append({"role": "assistant", "content": reply["content"]})
        held.append(results((reply["content"][0]["id"], lines(250, f"needle{number}"))))
