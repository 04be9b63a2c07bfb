"""The provider's own compaction and clearing, configured: what requests ask for, and when gc-core collects then."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import openai
import pytest

from gc_core import ConfigError, GCConfig, GCSession, GCTriggerReason, load_config
from gc_core.providers.anthropic.context_editing import merged
from gc_core.providers.rules import check_request
from tests.support.inside import core_of, moment_of, state_of
from tests.support.provider import ProviderServer
from tests.support.say import answer, lines, results, schema, use, user

OPUS = "claude-opus-4-6"
ALL = {"compact_percent": 75, "clear_percent": 50, "thinking_turns": 2}
CONTEXT, COMPACT = "context-management-2025-06-27", "compact-2026-01-12"


def opened(edits, *, window=200_000, format="anthropic", strategy="gc_truncate", **more):  # noqa: A002 - the word users know it by
    levels = {"context_limit": window, "output_reservation": 0, "reread_guard": "off", **more}
    session = GCSession(GCConfig(**levels, provider_edits=edits), strategy=strategy, format=format, model=OPUS)
    session.append(user("Fix the login."))
    return session


def edits_of(request):
    return request.kwargs()["extra_body"]["context_management"]["edits"]


def grown(session, percent, *, first=0):
    """Rounds of call and result until the window is as full."""
    place = first
    while 100 * moment_of(session).estimated < percent * session.config.usable:
        session.pre_send()
        session.post_turn(use((f"c{place}", "read", {"path": f"f{place}"})))
        session.append(results((f"c{place}", lines(1_200, f"f{place}"))))
        place += 1


@contextlib.contextmanager
def _answering(reply):
    """A loopback server that answers everything alike: its URL, and the paths that were asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            asked.append(self.path)
            content = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            """Be quiet."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}", asked
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


# --- what a request asks for ------------------------------------------------------------------------------------------


def test_a_request_to_anthropic_names_every_edit_in_the_order_that_it_wants_with_its_betas():
    with opened(ALL, tools={"memory": "exclude", "read": "ephemeral"}) as session:
        request = session.pre_send()
        assert edits_of(request) == [
            {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 2}},
            {
                "type": "clear_tool_uses_20250919",
                "trigger": {"type": "input_tokens", "value": 100_000},
                "exclude_tools": ["memory"],
            },
            {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 150_000}},
        ]
        assert request.kwargs()["extra_headers"] == {"anthropic-beta": f"{CONTEXT},{COMPACT}"}


def test_betas_of_the_configuration_go_with_them():
    with opened({"clear_percent": 50}, betas=["cache-diagnosis-2026-04-07"]) as session:
        headers = session.pre_send().kwargs()["extra_headers"]
        assert headers == {"anthropic-beta": f"cache-diagnosis-2026-04-07,{CONTEXT}"}


def test_a_request_to_openai_names_the_threshold():
    with opened({"compact_percent": 75}, format="responses") as session:
        assert session.pre_send().kwargs()["context_management"] == [
            {"type": "compaction", "compact_threshold": 150_000}
        ]


def test_without_the_key_requests_are_as_they_were():
    with opened({}) as session:
        assert session.pre_send().kwargs().keys() == {"messages"}


def test_another_window_moves_the_levels():
    with opened(ALL) as session:
        session.switch(context_limit=400_000)
        assert edits_of(session.pre_send())[2]["trigger"]["value"] == 300_000


def test_a_smaller_window_than_anthropic_compacts_is_refused_and_nothing_has_changed():
    with opened(ALL) as session:
        with pytest.raises(ConfigError, match="the provider compacts at 50,000 or more"):
            session.switch(context_limit=60_000)
        assert session.config.context_limit == 200_000


def test_a_window_that_a_refusal_made_smaller_asks_for_no_compaction():
    with opened(ALL) as session:
        session.pre_send()
        core_of(session).allow_window(60_000)
        assert [edit["type"] for edit in edits_of(session.pre_send())] == [
            "clear_thinking_20251015",
            "clear_tool_uses_20250919",
        ]


# --- merged with what the host sends ----------------------------------------------------------------------------------


def test_the_hosts_own_entry_wins_and_each_kind_occurs_once():
    mine = {"type": "clear_tool_uses_20250919", "keep": {"type": "tool_uses", "value": 8}}
    with opened(ALL) as session:
        arguments = session.pre_send().kwargs(context_management={"edits": [mine]}, betas=["x-1", CONTEXT])
        edits = arguments["extra_body"]["context_management"]["edits"]
        assert [edit["type"] for edit in edits] == [
            "clear_thinking_20251015",
            "clear_tool_uses_20250919",
            "compact_20260112",
        ]
        assert edits[1] is mine
        assert arguments["extra_headers"] == {"anthropic-beta": f"x-1,{CONTEXT},{COMPACT}"}
        assert not {"betas", "context_management"} & arguments.keys()


def test_a_later_version_of_an_edit_is_of_the_same_kind():
    with opened(ALL) as session:
        arguments = session.pre_send().kwargs(
            extra_body={"context_management": {"edits": [{"type": "compact_20271231"}]}, "x": 1}
        )
        edits = arguments["extra_body"]["context_management"]["edits"]
        assert [edit["type"] for edit in edits][2:] == ["compact_20271231"]
        assert arguments["extra_body"]["x"] == 1


def test_a_compaction_on_demand_is_sent_by_itself():
    with opened(ALL) as session:
        arguments = session.pre_send().kwargs(compaction={"type": "summarize"}, betas=["compact-2026-09-04"])
        assert "context_management" not in arguments.get("extra_body", {})
        assert arguments["compaction"] == {"type": "summarize"}


def test_the_hosts_threshold_of_openai_wins():
    mine = [{"type": "compaction", "compact_threshold": 7}]
    with opened({"compact_percent": 75}, format="responses") as session:
        assert session.pre_send().kwargs(context_management=mine)["context_management"] == mine
        other = session.pre_send().kwargs(context_management=[{"type": "later"}])["context_management"]
        assert [entry["type"] for entry in other] == ["later", "compaction"]


@pytest.mark.parametrize("own", [{}, {"betas": ["x"], "context_management": {"edits": []}, "temperature": 0}])
def test_without_options_the_hosts_arguments_are_as_they_are(own):
    assert merged({}, own) == own


def test_merging_changes_neither_side():
    options = {
        "extra_headers": {"anthropic-beta": "a"},
        "extra_body": {"context_management": {"edits": [{"type": "x"}]}},
    }
    own = {"betas": ["b"], "context_management": {"edits": [{"type": "y"}]}}
    before = repr((options, own))
    merged(options, own)
    assert repr((options, own)) == before


def test_anthropics_clients_send_it(monkeypatch):
    monkeypatch.setattr("tests.support.provider.complaints", lambda *_, **__: [])
    said = [answer("Done.") | {"content": [{"type": "text", "text": "Done."}]}] * 2
    with (
        ProviderServer(said) as server,
        opened(ALL) as session,
        anthropic.Anthropic(api_key="k", base_url=server.url) as client,
    ):
        for messages in (client.messages, client.beta.messages):
            reply = messages.create(model=OPUS, max_tokens=100, **session.pre_send().kwargs())
            session.post_turn(reply, usage=reply.usage)
            session.append(user("Go on."))
        assert [len(body["context_management"]["edits"]) for body in server.requests] == [3, 3]


@pytest.mark.parametrize("is_inside", [True, False])
def test_what_the_host_passes_to_kwargs_is_merged_and_what_stands_beside_it_is_overridden(is_inside):
    """Anthropic's client lets headers and bodies override its own arguments; ``messages.create`` takes no others."""
    seen = []
    client = anthropic.DefaultHttpxClient(event_hooks={"request": [seen.append]})
    mine = {
        "betas": ["x-1"],
        "context_management": {"edits": [{"type": "clear_tool_uses_20250919", "exclude_tools": ["memory"]}]},
    }
    said = answer("Done.") | {"content": [{"type": "text", "text": "Done."}]}
    with (
        ProviderServer([said]) as server,
        opened({"clear_percent": 50}) as session,
        anthropic.Anthropic(api_key="k", base_url=server.url, http_client=client) as vendor,
    ):
        request = session.pre_send()
        arguments = request.kwargs(**mine) if is_inside else {**mine, **request.kwargs()}
        vendor.beta.messages.create(model=OPUS, max_tokens=100, **arguments)
        (edit,) = server.requests[0]["context_management"]["edits"]
    assert ("exclude_tools" in edit) is is_inside
    assert seen[0].headers["anthropic-beta"] == (f"x-1,{CONTEXT}" if is_inside else CONTEXT)


def test_openais_client_sends_it():
    reply = {
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}]
    }
    with ProviderServer([reply]) as server, opened({"compact_percent": 75}, format="responses") as session:
        client = openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0)
        response = client.responses.create(model="gpt-5", store=False, **session.pre_send().kwargs())
        session.post_turn(response, usage=response.usage)
        client.close()
        assert server.requests[0]["context_management"] == [{"type": "compaction", "compact_threshold": 150_000}]


# --- gc-core collects around it ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["gc_truncate", "gc_budget", "gc_progressive", "gc_rolling"])
def test_nothing_is_collected_before_the_provider_had_its_turn(strategy):
    with opened({"compact_percent": 75}, strategy=strategy, preserve_recent_turns=0) as session:
        grown(session, 88)
        assert session.last_result is None


def test_above_the_threshold_gc_core_collects_where_the_provider_did_not():
    with opened({"compact_percent": 75}, window=70_000, preserve_recent_turns=0) as session:
        grown(session, 91)
        session.pre_send()
        assert session.last_result.reason is GCTriggerReason.THRESHOLD


def test_without_the_key_the_same_session_collects_earlier():
    with opened({}, strategy="gc_progressive", preserve_recent_turns=0) as session:
        grown(session, 88)
        assert session.last_result is not None


def test_keeping_thinking_does_not_change_when_it_collects():
    with opened({"thinking_turns": 2}, strategy="gc_progressive", preserve_recent_turns=0) as session:
        grown(session, 88)
        assert session.last_result is not None


def test_what_the_provider_compacts_is_read_back_and_goes_on():
    with opened({"compact_percent": 75}, window=70_000) as session:
        grown(session, 80)
        before = session.budget.total
        session.pre_send()
        block = {"type": "compaction", "content": "The login was looked at.", "signature": "c2VhbA=="}
        session.post_turn({"role": "assistant", "content": [block, {"type": "text", "text": "On."}]})
        request = session.pre_send()
        assert session.budget.total < before / 2
        assert edits_of(request)[0]["type"] == "compact_20260112"
        assert session.last_result is None


def test_what_the_configuration_spares_counts_in_full_when_the_provider_clears():
    with opened({"clear_percent": 50}, tools={"memory": "exclude"}) as session:
        session.tools([schema("memory", "anthropic"), schema("read", "anthropic")])
        for place, name in enumerate(["memory", "read", "read"]):
            session.pre_send()
            session.post_turn(use((f"c{place}", name, {"path": "f"})))
            session.append(results((f"c{place}", lines(50))))
        session.pre_send()
        applied = [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1, "cleared_input_tokens": 250}]
        said = {"role": "assistant", "content": [{"type": "text", "text": "On."}]}
        session.post_turn({"type": "message", **said, "context_management": {"applied_edits": applied}})
        cleared = [item for item in session.items() if item.id in state_of(session).cleared]
        assert [item.name for item in cleared] == ["read"]


def said(text):
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def compaction(number=1):
    return {"type": "compaction", "id": f"cmp_{number}", "encrypted_content": "c2VhbA=="}


FIX, RULE, NEXT = said("Fix the login."), said("Never touch the schema."), user("Which test is next?")


def compacted_by_openai(request, *output):
    """What OpenAI's client returns for the output of its endpoint."""
    body = {
        "id": "resp_1",
        "object": "response.compaction",
        "created_at": 1,
        "output": output,
        "usage": {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18},
    }
    with _answering(body) as (url, asked), openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client:
        given = client.responses.compact(model="gpt-5", input=request.kwargs()["input"]).output
    assert asked == ["/responses/compact"]
    return given


def worked(directory=None):
    """A session of Responses with a request, an answer and much text."""
    session = GCSession(GCConfig(), format="responses", model="gpt-5", directory=directory)
    session.extend([user("Fix the login."), answer("Which one?"), user("Look at " + lines(2_000)), answer("I will.")])
    return session


def test_what_openai_compacts_on_demand_takes_the_place_of_the_window_as_it_is(tmp_path):
    with worked(tmp_path / "s") as session:
        before = session.budget.total
        session.extend(compacted_by_openai(session.pre_send(), FIX, RULE, compaction()))
        session.append(NEXT)
        request = session.pre_send()
        assert list(request.messages) == [FIX, RULE, compaction(), NEXT]
        assert check_request(request) == ()
        assert session.budget.total < before / 2
        assert session.search("Look at")
    with GCSession.open(tmp_path / "s") as again:
        assert again.pre_send().messages == request.messages


def test_a_second_compaction_on_demand_replaces_the_first():
    with worked() as session:
        session.extend([FIX, RULE, compaction()])
        session.append(NEXT)
        session.post_turn(answer("The second."))
        session.extend(compacted_by_openai(session.pre_send(), FIX, RULE, said("Which test is next?"), compaction(2)))
        assert list(session.pre_send().messages) == [FIX, RULE, said("Which test is next?"), compaction(2)]


def test_only_user_messages_directly_before_the_compaction_in_the_same_list_stay():
    with worked() as session:
        session.append(user("Look again."))
        session.extend([user("Go."), answer("I go."), RULE, compaction(), NEXT])
        sent = list(session.pre_send().messages)
        assert sent[:3] == [RULE, compaction(), NEXT]
        assert [message["role"] for message in sent[3:]] == ["user"]
        assert "Fix the login." in str(sent[3])
        assert not {"Go.", "Look again."} & {str(message.get("content")) for message in sent}


@pytest.mark.parametrize("reply", [{"role": "assistant", "output": [compaction()]}, compaction()])
def test_a_compaction_in_a_reply_replaces_the_question_before_it(reply):
    with worked() as session:
        session.append(NEXT)
        session.pre_send()
        session.post_turn(reply)
        assert session.pre_send().messages[0] == compaction()


def test_a_list_that_openai_compacted_is_sent_as_it_is():
    held = [FIX, RULE, said("Add a test."), compaction(), NEXT]
    with GCSession(GCConfig(), format="responses", model="gpt-5") as session:
        assert list(session.sync(held).messages) == held
        held += [{"role": "assistant", "content": "The second."}, user("Run it.")]
        assert list(session.sync(held).messages) == held


def test_a_list_is_compacted_by_openai_again_and_again(tmp_path):
    config = GCConfig()
    with GCSession(config, format="responses", model="gpt-5", directory=tmp_path / "s") as session:
        held = [FIX, answer("Which one?"), user("Look at " + lines(2_000)), answer("I will."), RULE]
        session.sync(held)
        for number in range(1, 4):
            held = [FIX, RULE, *map(said, ["Look."] * number), compaction(number), user("Look.")]
            assert list(session.sync(held).messages) == held
        assert session.search("Which one?")
    with GCSession.open(tmp_path / "s") as again:
        assert list(again.sync(held).messages) == held


def test_a_list_with_a_compaction_of_the_last_reply_loses_what_that_replaced():
    with GCSession(GCConfig(), format="responses", model="gpt-5") as session:
        held = [FIX, {"role": "assistant", "content": "Which one?"}, NEXT]
        session.sync(held)
        sent = session.sync([*held, compaction(), {"role": "assistant", "content": "The second."}, user("Run it.")])
        assert sent.messages[0] == compaction()


def test_what_the_user_said_before_a_compaction_stays_one_by_one():
    with worked() as session:
        session.extend([FIX, RULE, compaction()])
        session.append(NEXT)
        session.post_turn(answer("The second."))
        session.append(user("Run it."))
        session.pre_send()
        policies = {item.text: (item.unit, item.policy.value) for item in session.items()}
        assert policies[RULE["content"][0]["text"]][1] == "preservable"
        assert len({policies[message["content"][0]["text"]][0] for message in (FIX, RULE)}) == 2


@pytest.mark.parametrize("strategy", ["gc_truncate", "gc_budget", "gc_progressive", "gc_rolling"])
def test_collections_after_a_compaction_on_demand_keep_it_behind_the_user_messages(strategy):
    config = GCConfig(context_limit=30_000, output_reservation=0, reread_guard="off", preserve_recent_turns=0)
    with GCSession(config, strategy=strategy, format="responses", model="gpt-5") as session:
        session.extend([user("Begin."), answer("I begin."), FIX, RULE, compaction()])
        for place in range(12):
            session.append(user(f"Read file {place}."))
            session.pre_send()
            session.post_turn(answer(lines(250, f"f{place}")))
        session.append(NEXT)
        session.collect_now(target_percent=30)
        request = session.pre_send()
        sent = list(request.messages)
        assert check_request(request) == ()
        assert [RULE, compaction()] == [message for message in sent if message in (RULE, compaction())]
        assert session.undo()
        assert list(session.pre_send().messages)[:3] == [FIX, RULE, compaction()]
        session.rewind(2)
        assert list(session.pre_send().messages)[:3] == [FIX, RULE, compaction()]


# --- what cannot be ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ({"compact_percent": 0.75}, r"compact_percent = 0.75: expected percent, not a share; did you mean 75\?"),
        ({"clear_percent": 100}, "clear_percent = 100"),
        ({"clear_percent": True}, "clear_percent = True"),
        ({"thinking_turns": 0}, "thinking_turns = 0: expected a whole number"),
        ({"compact": 75}, r"provider_edits.compact = 75: expected one of \['compact_percent'"),
        ([75], "expected a table"),
        ({"compact_percent": 95}, "a collection begins at 90 %, before the provider's"),
    ],
)
def test_a_value_that_cannot_be_is_refused(edits, said):
    with pytest.raises(ConfigError, match=said):
        GCConfig(provider_edits=edits)


def test_continuous_mode_never_lets_the_provider_come_first():
    with pytest.raises(ConfigError, match="after each call"):
        GCConfig(provider_edits={"clear_percent": 50}, pressure_percent=0)


def test_a_token_budget_counts_as_the_threshold():
    with pytest.raises(ConfigError, match="begins at 40"):
        GCConfig(context_limit=104_096, token_budget=40_000, provider_edits={"clear_percent": 50})


@pytest.mark.parametrize(
    ("format_name", "edits"),
    [("openai", {"compact_percent": 75}), ("gemini", {"clear_percent": 50}), ("responses", {"thinking_turns": 1})],
)
def test_a_provider_that_cannot_do_it_is_named(format_name, edits):
    with pytest.raises(ConfigError, match=f"not supported by the format '{format_name}'"):
        GCSession(GCConfig(provider_edits=edits), format=format_name)


def test_a_session_that_is_opened_again_asks_for_the_same(tmp_path):
    config = GCConfig(context_limit=200_000, output_reservation=0, provider_edits=ALL)
    with GCSession(config, format="anthropic", model=OPUS, directory=tmp_path / "s") as session:
        session.append(user("Fix it."))
        asked = edits_of(session.pre_send())
    with GCSession.open(tmp_path / "s") as again:
        assert edits_of(again.pre_send()) == asked


def test_it_is_a_table_in_toml(tmp_path):
    (tmp_path / "gc.toml").write_text("[gc]\n[gc.provider_edits]\ncompact_percent = 75\n")
    assert load_config(tmp_path / "gc.toml").provider_edits == {"compact_percent": 75}
