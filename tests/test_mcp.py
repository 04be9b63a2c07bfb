"""The MCP server, called by the official client over stdio and HTTP, in process only where nothing else is at stake."""

import asyncio
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from gc_agents.agent_sessions import AgentSessions, Places
from gc_agents.changes import UNDO, Change, carry_out
from gc_agents.conversations import NOT_HELD
from gc_agents.desk import RECALL_TOKENS, Desk
from gc_agents.server import server_of
from gc_gateway.serving import running
from gc_gateway.settings import Settings
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from gc_core import GCConfig, GCSession, SessionReader
from gc_core.values.items import ItemKind
from tests.support.standin import StandIn

CLAUDE, THREAD = "5f0c2d6e-0000-4000-8000-000000000001", "0199aaaa-0000-7000-8000-000000000002"
TOKEN = "secret-1"  # noqa: S105 - of a gateway that ends with its test
TOOLS = ["gc_note", "gc_pin", "gc_recall", "gc_search", "gc_status", "gc_undo", "gc_unpin"]
CONFIG = GCConfig(strategy="gc_budget", context_limit=10_000, output_reservation=0, preserve_recent_turns=1)


def noise(number):
    most = 700 if number == 1 else 120
    return f"file {number}: needle{number}\n" + "\n".join(f"line {number}.{each} of words" for each in range(most))


def filled(directory, name="", parent="", *, words="", keep=False):
    """A session of calls and results, of which the old ones were collected; as the gateway would have left it."""
    directory.mkdir(parents=True)
    meta = {"client": "test", "format": "anthropic", "name": name, "parent": parent}
    (directory / "lane.json").write_text(json.dumps(meta))
    session = GCSession(CONFIG, format="anthropic", directory=directory)
    session.append({"role": "user", "content": f"Read the files{words}. Never write to any of them."})
    for number in range(1, 13):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"path": f"big_{number}.txt"}}
        session.append({"role": "assistant", "content": [call]})
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": noise(number)}
        session.append({"role": "user", "content": [result]})
        session.pre_send()
    assert session.history()
    if keep:
        return session
    session.close()
    return directory


@contextlib.asynccontextmanager
async def asking(*, session=None, lanes=None, environ=None, answer=None, mode="auto"):
    """A client of the server in this process."""
    nowhere = Path("/nowhere")
    places = Places(session=session, lanes=lanes or nowhere, followed=nowhere)
    server = server_of(Desk(AgentSessions(places, environ or {})))
    async with Client(server, elicitation_callback=answer, mode=mode) as client:
        yield client


@contextlib.asynccontextmanager
async def over_stdio(*options, environ=None):
    """A client of the server as an agent starts it."""
    keep = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "HOME")
    base = {name: os.environ[name] for name in keep if name in os.environ}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "ctxgc", "mcp", *map(str, options)], env={**base, **(environ or {})}
    )
    async with Client(stdio_client(server)) as client:
        yield client


@contextlib.asynccontextmanager
async def over_http(url, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        httpx2.AsyncClient(headers=named, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def text(result):
    return "".join(block.text for block in result.content)


async def said(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    assert result.structured_content is None
    return text(result)


async def refused(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return text(result)


def resident(directory):
    """The newest result in the window."""
    with SessionReader(directory) as reader:
        return [item.id for item in reader.items() if item.name == "Read"][-1]


# -- what there is -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_sees_the_tools_in_a_line_each_and_names_in_the_instructions(tmp_path, mode):
    async def look():
        async with asking(session=tmp_path / "none", mode=mode) as client:
            tools = (await client.list_tools()).tools
            templates = (await client.list_resource_templates()).resource_templates
            return client.instructions, tools, templates

    instructions, tools, templates = asyncio.run(look())
    assert sorted(tool.name for tool in tools) == TOOLS
    assert all(tool.name in instructions for tool in tools)
    assert len(instructions) < 700
    assert all("\n" not in tool.description and len(tool.description) < 80 for tool in tools)
    assert all(tool.output_schema is None for tool in tools)
    assert [tool.name for tool in tools if tool.annotations.read_only_hint] == ["gc_recall", "gc_search", "gc_status"]
    assert sorted(each.uri_template.partition("{")[0] for each in templates) == [
        "gc://history", "gc://items/", "gc://state",
    ]  # fmt: skip


def test_recall_is_verbatim_plain_text_in_pages_that_join_to_the_original(tmp_path):
    directory, whole = filled(tmp_path / "one"), "[gc: 9,000 tokens left out: i3 Read big_1.txt]"

    async def pages():
        async with asking(session=directory) as client:
            read, parts = 0, []
            while True:
                page = await said(client, "gc_recall", reference=whole, offset=read)
                body, _, last = page.rpartition("\n[")
                if not last.startswith(tuple("0123456789")):
                    return [*parts, page]
                parts.append(body)
                read = int(last.rpartition("offset=")[2].rstrip("]"))

    parts = asyncio.run(pages())
    assert "".join(parts) == noise(1)
    assert len(parts) > 1
    assert max(map(len, parts)) < 8 * RECALL_TOKENS


def test_search_is_ordered_and_paged_and_says_how_to_go_on(tmp_path):
    directory = filled(tmp_path / "one")

    async def look():
        async with asking(session=directory) as client:
            found = await said(client, "gc_search", query="needle3")
            first = await said(client, "gc_search", query="words")
            second = await said(client, "gc_search", query="words", page=2)
            none = await said(client, "gc_search", query="nowhere-to-be-found")
            return found, first, second, none

    found, first, second, none = asyncio.run(look())
    assert "needle3" in found.splitlines()[0]
    assert first.splitlines()[-1] == "[more hits: page=2]"
    assert len(first.splitlines()) == 11
    assert not set(first.splitlines()) & set(second.splitlines())
    assert none.startswith("nothing found")


def test_status_state_and_history_are_read_and_items_are_resources(tmp_path):
    directory = filled(tmp_path / "one")

    async def look():
        async with asking(session=directory) as client:
            uris = ("gc://state", "gc://history", "gc://items/i3")
            contents = [(await client.read_resource(uri)).contents[0].text for uri in uris]
            return await said(client, "gc_status"), *contents

    status, state, history, content = asyncio.run(look())
    assert " of 10,000 tokens" in status.splitlines()[0]
    assert "left out: " in status
    assert "Never write to any of them." in state
    assert " collected " in history
    assert content.startswith("file 1: needle1\n")


# -- whose session -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("left", [b"", b"noise\n", None])
def test_a_search_passes_by_a_sub_agents_conversation_that_cannot_be_read(left, tmp_path):
    filled(tmp_path / "lanes" / "ab-01", f"claude-code:{CLAUDE}:")
    other = filled(tmp_path / "lanes" / "ab-02", f"claude-code:{CLAUDE}:a1", f"claude-code:{CLAUDE}:")
    (other / "master.jsonl").unlink()
    if left is not None:
        (other / "master.jsonl").write_bytes(left)

    async def look():
        async with asking(lanes=tmp_path / "lanes", environ={"CLAUDE_CODE_SESSION_ID": CLAUDE}) as client:
            return await said(client, "gc_search", query="needle3")

    assert "needle3" in asyncio.run(look())


def test_the_environment_of_claude_code_names_the_session_and_sub_agents_have_ids_of_their_own(tmp_path):
    filled(tmp_path / "lanes" / "ab-01", f"claude-code:{CLAUDE}:")
    agent = filled(
        tmp_path / "lanes" / "ab-02", f"claude-code:{CLAUDE}:a1", f"claude-code:{CLAUDE}:", words=" yourself"
    )
    other = filled(tmp_path / "lanes" / "ab-03", "claude-code:another:", words=" elsewhere")
    with SessionReader(agent) as reader:
        tag = reader.id[:6]
    with SessionReader(other) as reader:
        foreign = reader.id[:6]

    async def look():
        environ = {"CLAUDE_CODE_SESSION_ID": CLAUDE}
        async with asking(lanes=tmp_path / "lanes", environ=environ) as client:
            own = await said(client, "gc_recall", reference="i1")
            theirs = await said(client, "gc_recall", reference=f"i1@{tag}")
            hits = await said(client, "gc_search", query="yourself")
            status = await said(client, "gc_status")
            nobody = await refused(client, "gc_recall", reference=f"i1@{foreign}")
            elsewhere = await said(client, "gc_search", query="elsewhere")
            return own, theirs, hits, status, nobody, elsewhere

    own, theirs, hits, status, nobody, elsewhere = asyncio.run(look())
    assert own == "Read the files. Never write to any of them."
    assert theirs == "Read the files yourself. Never write to any of them."
    assert hits.splitlines()[0].startswith(f"i1@{tag} ")
    assert f"items i1@{tag}" in status
    assert foreign not in status
    assert "names no conversation of this session" in nobody
    assert elsewhere.startswith("nothing found")


def test_what_goes_on_in_a_sub_agents_conversation_is_named_with_its_tag(tmp_path):
    filled(tmp_path / "lanes" / "ab-01", f"claude-code:{CLAUDE}:")
    agent = filled(tmp_path / "lanes" / "ab-02", f"claude-code:{CLAUDE}:a1", f"claude-code:{CLAUDE}:")
    with SessionReader(agent) as reader:
        tag = reader.id[:6]

    async def look():
        environ = {"CLAUDE_CODE_SESSION_ID": CLAUDE}
        async with asking(lanes=tmp_path / "lanes", environ=environ) as client:
            page = await said(client, "gc_recall", reference=f"i3@{tag}")
            return page, await said(client, "gc_recall", reference=f"i2-i20@{tag}")

    page, table = asyncio.run(look())
    assert f"go on with reference=i3@{tag}, offset=" in page
    head, *lines = table.splitlines()
    assert head.startswith(f"i2-i20@{tag} has ")
    assert all(re.match(rf"i\d+(-i\d+)?@{tag} turn ", line) for line in lines)


@pytest.mark.parametrize("as_text", [True, False])
def test_codex_names_its_thread_in_the_metadata_of_each_call(tmp_path, as_text):
    filled(tmp_path / "lanes" / "ab-01", f"codex:{THREAD}")
    filled(tmp_path / "lanes" / "ab-02", "codex:child", f"codex:{THREAD}", words=" below")
    turn = {"session_id": THREAD, "thread_id": "child", "turn_id": "1"}
    meta = {"callId": "c1", "x-codex-turn-metadata": json.dumps(turn) if as_text else turn}

    async def look():
        async with asking(lanes=tmp_path / "lanes", mode="legacy") as client:
            named = await client.call_tool("gc_recall", {"reference": "i1"}, meta=meta)
            bare = await refused(client, "gc_recall", reference="i1")
            return text(named), bare

    named, bare = asyncio.run(look())
    assert named == "Read the files below. Never write to any of them."
    assert "does not say which session" in bare


@pytest.mark.parametrize(
    "reference",
    ["i999999", "../../etc/passwd", "", "master.jsonl:0-99999999999", "x" * 100_000, "i0", "[gc: ", "\0"],
)
def test_what_names_nothing_of_the_session_is_refused_in_words(tmp_path, reference):
    directory = filled(tmp_path / "one")
    (tmp_path / "secret.txt").write_text("hunter2")

    async def look():
        async with asking(session=directory) as client:
            answer = await client.call_tool("gc_recall", {"reference": reference})
            with pytest.raises(MCPError):
                await client.read_resource("gc://items/..%2F..%2Fsecret.txt")
            return answer

    answer = asyncio.run(look())
    assert answer.is_error
    assert len(text(answer)) < 1_000


@pytest.mark.parametrize("identity", ["../../x", "", "a/b", "nobody-knows-it"])
def test_an_unknown_or_crooked_session_id_says_what_would_be_right(tmp_path, identity):
    async def look():
        environ = {"CLAUDE_CODE_SESSION_ID": identity, "GC_AGENTS_DIRECTORY": str(tmp_path)}
        async with asking(lanes=tmp_path / "lanes", environ=environ) as client:
            return await refused(client, "gc_status")

    told = asyncio.run(look())
    assert "--session DIR" in told or "nothing is known of session" in told


# -- changes -----------------------------------------------------------------------------------------------------------


def test_without_a_writer_the_session_is_opened_for_a_pin_a_note_and_their_release(tmp_path):
    directory = filled(tmp_path / "one")
    item = resident(directory)

    async def change():
        async with asking(session=directory) as client:
            pinned = await said(client, "gc_pin", item=item)
            released = await said(client, "gc_unpin", item=item)
            again = await refused(client, "gc_unpin", item=item)
            await said(client, "gc_pin", item=item)
            noted = await said(client, "gc_note", text="Ada wants tests first.")
            return pinned, released, again, noted

    pinned, released, again, noted = asyncio.run(change())
    assert (pinned, released) == (f"{item} is pinned", f"{item} is released")
    assert "not a pinned item" in again
    assert noted.startswith("noted: ")
    with GCSession.open(directory) as session:
        assert [each.id for each in session.items() if each.pinned] == [item]
        assert "Ada wants tests first." in str(session.pre_send().messages)


def test_beside_a_live_writer_everything_reads_and_a_change_says_why_not(tmp_path):
    session = filled(tmp_path / "one", keep=True)

    async def look():
        async with asking(session=tmp_path / "one") as client:
            before = await said(client, "gc_search", query="marmalade")
            session.append({"role": "assistant", "content": "Now marmalade."})
            after = await said(client, "gc_search", query="marmalade")
            return before, after, await refused(client, "gc_pin", item="i1")

    with session:
        before, after, pin = asyncio.run(look())
    assert before.startswith("nothing found")
    assert "marmalade" in after
    assert "is open in another session" in pin


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("answer", ["accept", "decline", "no", None])
def test_undo_asks_where_the_client_offers_it_and_does_what_the_user_says(tmp_path, answer, mode):
    directory = filled(tmp_path / "one")
    with GCSession.open(directory, GCConfig(strategy="gc_budget", context_limit=90_000)) as session:
        resident = session.budget.total
    asked = []

    async def answered(_context, params):
        asked.append(params.message)
        content = {"undo": answer == "accept"} if answer in {"accept", "no"} else None
        return ElicitResult(action="accept" if answer == "no" else answer, content=content)

    async def undo():
        callback = answered if answer else None
        async with asking(session=directory, answer=callback, mode=mode) as client:
            return text(await client.call_tool("gc_undo", {}))

    told = asyncio.run(undo())
    with SessionReader(directory) as reader:
        total = sum(entry["tokens"] for entry in reader.snapshot()["sources"])
    assert len(asked) == (answer is not None)
    if answer in {"accept", None}:
        assert told.startswith("undone: ")
        assert total > resident
    else:
        assert told == "nothing was undone: the user declined"
        assert total <= resident


def test_what_would_not_fit_again_is_not_undone(tmp_path):
    directory = filled(tmp_path / "one")

    async def undo():
        async with asking(session=directory) as client:
            return [text(await client.call_tool("gc_undo", {})) for _ in range(3)]

    told = asyncio.run(undo())
    refused = sum("recall single items instead" in each for each in told)
    assert refused
    with GCSession.open(directory) as session:
        assert [entry.what for entry in session.history() if not entry.is_collection] == ["undone"] * (3 - refused)
        assert session.budget.total <= session.config.usable


def test_what_fits_by_the_providers_count_is_undone(tmp_path):
    with filled(tmp_path / "one", keep=True) as session:
        session.report_usage({"input_tokens": session.budget.total // 3, "output_tokens": 10})
        while session.budget.total <= session.config.usable:
            assert carry_out(session, Change(tool=UNDO)).startswith("undone: ")
        counted = session.budget.total
    assert asyncio.run(status_of(tmp_path / "one")).endswith(f"by our own {counted:,}:")


async def status_of(directory):
    async with asking(session=directory) as client:
        return (await said(client, "gc_status")).splitlines()[0]


# -- over HTTP ---------------------------------------------------------------------------------------------------------


def test_the_server_serves_http_at_a_port(tmp_path):
    directory = filled(tmp_path / "one")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "ctxgc", "mcp", "--session", str(directory), "--http", str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:  # noqa: S603 - ours
        try:
            assert asyncio.run(_when_it_answers(f"http://127.0.0.1:{port}/mcp")).startswith("Read the files.")
        finally:
            server.terminate()


async def _when_it_answers(url):
    for _ in range(200):
        try:
            async with over_http(url) as client:
                return await said(client, "gc_recall", reference="i1")
        except* (httpx2.HTTPError, MCPError):
            await asyncio.sleep(0.05)
    return ""


class Agent:
    """Sends a conversation of ever more calls through a gateway, as Claude Code would."""

    def __init__(self, url, **headers):
        self.url, self.headers = f"{url}/v1/messages", {"x-api-key": "key-1", **headers}
        self.held = [{"role": "user", "content": "Read the files. Never write to any of them."}]

    def goes_on(self, calls, *, description="Runs.", **more):
        tools = [{"name": "bash", "description": description, "input_schema": {"type": "object"}}]
        for _ in range(calls):
            body = {"model": "claude-opus-4-5", "max_tokens": 1000, "messages": self.held, "tools": tools, **more}
            reply = httpx2.post(self.url, json=body, headers=self.headers, trust_env=False).json()
            self.held.append({"role": "assistant", "content": reply["content"]})
            block = reply["content"][0]
            result = {"type": "tool_result", "tool_use_id": block["id"], "content": noise(len(self.held) // 2)}
            self.held.append({"role": "user", "content": [result]})


@pytest.fixture
def behind(tmp_path):
    """A gateway before a provider, and an agent that has filled its window."""
    with StandIn(calls=200, limit=8_000) as provider:
        upstreams = dict.fromkeys(("anthropic", "openai", "responses", "gemini"), provider.url)
        settings = Settings(directory=tmp_path / "lanes", upstreams=upstreams, windows={"*": 8_000}, token=TOKEN)
        with running(settings) as (url, gateway):
            agent = Agent(url, **{"x-claude-code-session-id": CLAUDE})
            agent.goes_on(8)
            yield url, gateway, agent, provider


def newest_results(gateway):
    """The two newest results in the only lane's window."""
    (lane,) = gateway.lanes.open
    return [each.id for each in lane.session.items() if each.kind is ItemKind.TOOL_RESULT][-2:]


def test_the_gateway_has_the_server_mounted_and_the_lane_is_the_callers(behind):
    url, gateway, agent, provider = behind

    async def look():
        async with over_http(f"{url}/mcp", x_claude_code_session_id=CLAUDE) as client:
            own = await said(client, "gc_search", query="needle1")
            note = await said(client, "gc_note", text="Marmalade matters.")
            pin = await said(client, "gc_pin", item=item)
            return own, note, pin

    (item, _) = newest_results(gateway)
    own, note, pin = asyncio.run(look())
    assert "needle1" in own
    assert (note.startswith("noted: "), pin) == (True, f"{item} is pinned")
    agent.goes_on(1)
    assert "Marmalade matters." in provider.generations[-1].raw.decode()
    (lane,) = gateway.lanes.open
    assert [each.id for each in lane.session.items() if each.pinned] == [item]


def test_the_status_of_a_lane_counts_the_system_prompt_the_tools_and_what_is_around_messages(behind):
    url, gateway, agent, _ = behind

    async def status():
        async with over_http(f"{url}/mcp", x_claude_code_session_id=CLAUDE) as client:
            return await said(client, "gc_status")

    agent.goes_on(1, description="runs " * 300, system="be kind " * 200)
    (lane,) = gateway.lanes.open
    first, held, *_ = asyncio.run(status()).splitlines()
    counted, usable = lane.session.budget.total, lane.session.config.usable
    total = lane.session.port.estimate(counted)
    assert first == f"{total:,} of {usable:,} tokens by the provider's count, as estimated; by our own {counted:,}:"
    system, tools = re.match(r"held by: system (\d+), plugin (\d+), conversation", held).groups()
    assert 400 <= int(system) < 500
    assert 300 <= int(tools) < 400


def test_a_server_that_the_agent_started_reaches_the_lane_through_the_gateway(behind, tmp_path):
    _, gateway, agent, provider = behind

    async def change():
        environ = {"CLAUDE_CODE_SESSION_ID": CLAUDE}
        async with over_stdio("--lanes", tmp_path / "lanes", environ=environ) as client:
            recalled = await said(client, "gc_recall", reference="i1")
            pinned = await said(client, "gc_pin", item=item)
            unknown = await refused(client, "gc_unpin", item=free)
            noted = await said(client, "gc_note", text="Marmalade matters.")
            undone = await client.call_tool("gc_undo", {})
            return recalled, pinned, unknown, noted, undone

    item, free = newest_results(gateway)
    recalled, pinned, unknown, noted, _ = asyncio.run(change())
    assert recalled == agent.held[0]["content"]
    assert (pinned, noted.startswith("noted: ")) == (f"{item} is pinned", True)
    assert unknown == f"Error executing tool gc_unpin: {free!r} is not a pinned item of the window"
    agent.goes_on(1)
    assert "Marmalade matters." in provider.generations[-1].raw.decode()
    (lane,) = gateway.lanes.open
    assert item in [each.id for each in lane.session.items() if each.pinned]


def test_without_the_token_and_from_a_web_page_the_gateway_tells_nothing(behind):
    url, _, _, _ = behind
    bare = url.removesuffix(f"/{TOKEN}")
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accepts = {"accept": "application/json, text/event-stream"}
    assert httpx2.post(f"{bare}/mcp", json=body, headers=accepts, trust_env=False).status_code == 401
    page = {**accepts, "origin": "https://example.org"}
    assert httpx2.post(f"{url}/mcp", json=body, headers=page, trust_env=False).status_code == 403


def test_with_the_token_the_server_answers_by_whatever_name_it_is_called(behind):
    url, _, _, _ = behind
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for host in ("gateway.example:8787", "gateway.example", "localhost"):
        headers = {"accept": "application/json, text/event-stream", "host": host}
        asked = httpx2.post(f"{url}/mcp", json=body, headers=headers, trust_env=False)
        assert asked.status_code != 421, asked.text


def test_a_lane_that_a_gateway_does_not_hold_is_named_so(behind):
    url, _, _, _ = behind

    async def look():
        async with over_http(f"{url}/mcp", x_gc_lane_key="0a-0b") as client:
            return await refused(client, "gc_status")

    assert NOT_HELD in asyncio.run(look())


def test_a_gateway_that_cannot_say_where_it_is_serves_all_the_same(tmp_path):
    (tmp_path / "lanes").mkdir()
    (tmp_path / "lanes" / "gateways").write_text("a file")
    with running(Settings(directory=tmp_path / "lanes")) as (url, _):
        assert httpx2.get(f"{url}/healthz", trust_env=False).text == "ok\n"


def test_a_server_that_cannot_begin_is_answered_for_and_begun_by_the_next_request(tmp_path, monkeypatch):
    run = StreamableHTTPSessionManager.run
    failures = ["first"]

    @contextlib.asynccontextmanager
    async def run_later(manager):
        if failures:
            raise OSError(failures.pop())
        async with run(manager):
            yield

    monkeypatch.setattr(StreamableHTTPSessionManager, "run", run_later)
    settings = Settings(directory=tmp_path / "lanes")
    with running(settings) as (url, _):
        (file,) = (tmp_path / "lanes" / "gateways").iterdir()
        assert httpx2.post(f"{url}/mcp", json={}, timeout=20, trust_env=False).status_code == 500

        async def names():
            async with over_http(f"{url}/mcp") as client:
                return sorted(tool.name for tool in (await client.list_tools()).tools)

        assert asyncio.run(names()) == TOOLS
    assert not file.exists()


def test_a_gateway_that_has_ended_is_not_asked_and_leaves_no_file(tmp_path):
    settings = Settings(directory=tmp_path / "lanes")
    with running(settings):
        (file,) = (tmp_path / "lanes" / "gateways").iterdir()
        assert file.stat().st_mode & 0o777 == 0o600
    assert not file.exists()
    item = resident(filled(tmp_path / "lanes" / "ab-01", f"claude-code:{CLAUDE}:"))
    dead = {"url": "http://127.0.0.1:1", "process": 2**22 - 1}
    alive = {"url": "http://127.0.0.1:1", "process": os.getpid()}
    for number, told in enumerate((dead, alive)):
        (tmp_path / "lanes" / "gateways" / f"{number}.json").write_text(json.dumps(told))
    (tmp_path / "lanes" / "gateways" / "x.json").write_text("{broken")

    async def change():
        environ = {"CLAUDE_CODE_SESSION_ID": CLAUDE}
        async with asking(lanes=tmp_path / "lanes", environ=environ) as client:
            return await said(client, "gc_pin", item=item)

    assert asyncio.run(change()) == f"{item} is pinned"
