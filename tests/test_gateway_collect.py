"""``POST /v1/collect``: a list of messages in, one that fits out."""

import gzip
import json
import shlex
import shutil
import subprocess
from pathlib import Path

import attrs
import httpx2
import pytest
from gc_gateway.serving import running
from gc_gateway.settings import Settings

from gc_core import compact
from tests.support.checker import complaints
from tests.support.documents import blocks_of
from tests.support.standin import StandIn, as_client

WORDS = " ".join(f"word{number}" for number in range(300))
TASK = "Read the files big_1.txt to big_20.txt. Never write to any of them."


def anthropic_list(results):
    yield {"role": "user", "content": TASK}
    for number in range(results):
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": "read", "input": {"path": f"big_{number}.txt"}}
        yield {"role": "assistant", "content": [use]}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": f"{number}: {WORDS}"}
        yield {"role": "user", "content": [result]}


def chat_list(results):
    yield {"role": "system", "content": "You read files."}
    yield {"role": "user", "content": TASK}
    for number in range(results):
        function = {"name": "read", "arguments": json.dumps({"path": f"big_{number}.txt"})}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": f"call_{number}", "content": f"{number}: {WORDS}"}


def responses_list(results):
    yield {"role": "user", "content": TASK}
    for number in range(results):
        arguments = json.dumps({"path": f"big_{number}.txt"})
        yield {"type": "function_call", "call_id": f"call_{number}", "name": "read", "arguments": arguments}
        yield {"type": "function_call_output", "call_id": f"call_{number}", "output": f"{number}: {WORDS}"}


def gemini_list(results):
    yield {"role": "user", "parts": [{"text": TASK}]}
    for number in range(results):
        call = {"id": f"call_{number}", "name": "read", "args": {"path": f"big_{number}.txt"}}
        yield {"role": "model", "parts": [{"functionCall": call}]}
        answer = {"id": f"call_{number}", "name": "read", "response": {"output": f"{number}: {WORDS}"}}
        yield {"role": "user", "parts": [{"functionResponse": answer}]}


LISTS = {"anthropic": anthropic_list, "openai": chat_list, "responses": responses_list, "gemini": gemini_list}
FIELDS = {"anthropic": "messages", "openai": "messages", "responses": "input", "gemini": "contents"}
TOOLS = {
    "anthropic": [{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}],
    "openai": [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}],
    "responses": [{"type": "function", "name": "read", "parameters": {"type": "object"}}],
    "gemini": [{"functionDeclarations": [{"name": "read", "parameters": {"type": "object"}}]}],
}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    """One gateway; whatever reaches its upstream is wrong."""
    with StandIn() as provider:
        upstreams = dict.fromkeys(LISTS, provider.url)
        directory = tmp_path_factory.mktemp("gateway") / "lanes"
        with running(Settings(directory=directory, upstreams=upstreams, windows={"*": 24_000})) as (url, gateway):
            gateway.url = url
            with httpx2.Client(trust_env=False) as gateway.client:
                yield gateway
        assert provider.seen == []


def asked(dialect="anthropic", *, results=20, **fields):
    return {"dialect": dialect, "model": "stand-in", "messages": [*LISTS[dialect](results)], "budget": 5_000, **fields}


def post(gateway, body, **headers):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return gateway.client.post(f"{gateway.url}/v1/collect", content=content, headers=headers)


@pytest.mark.parametrize("lane", [None, "mine"])
@pytest.mark.parametrize("dialect", LISTS)
def test_a_list_that_is_too_long_comes_back_valid_and_within_its_budget(gateway, dialect, lane):
    body = asked(dialect, tools=TOOLS[dialect], lane=lane)
    answer = post(gateway, body).json()
    assert answer["collected"] is True
    assert 0 < answer["tokens"] <= 5_000
    assert len(json.dumps(answer["messages"])) < len(json.dumps(body["messages"])) / 2
    assert TASK in json.dumps(answer["messages"])
    assert complaints(dialect, as_client(dialect, {FIELDS[dialect]: answer["messages"]})) == []
    assert answer.get("lane") == lane


@pytest.mark.parametrize("lane", [None, "short"])
@pytest.mark.parametrize("dialect", LISTS)
def test_a_list_that_fits_comes_back_as_it_is(gateway, dialect, lane):
    body = asked(dialect, results=2, lane=lane)
    answer = post(gateway, body).json()
    assert (answer["messages"], answer["collected"]) == (body["messages"], False)


def test_without_a_lane_it_is_compact_and_leaves_nothing(gateway):
    before = {*gateway.settings.directory.glob("*")}
    body = asked()
    answer = post(gateway, body).json()
    config = attrs.evolve(gateway.settings.config, cache_marks=False)
    kept = compact(body["messages"], 5_000, format="anthropic", config=config, model="stand-in")
    assert answer["messages"] == kept
    assert {*gateway.settings.directory.glob("*")} == before


@pytest.mark.parametrize("lane", [None, "marks"])
def test_the_callers_cache_marks_stay_and_none_are_added(gateway, lane):
    for results in (2, 20):
        body = asked(results=results, lane=lane)
        body["messages"][-1]["content"][0]["cache_control"] = {"type": "ephemeral"}
        kept = post(gateway, body).json()["messages"]
        assert kept[-1] == body["messages"][-1]
        assert json.dumps(kept).count("cache_control") == 1


def test_without_a_budget_it_is_the_window_of_the_model(gateway):
    body = asked(results=60)
    del body["budget"]
    assert 20_000 < post(gateway, body).json()["tokens"] <= 24_000


def test_in_a_lane_what_left_stays_away_in_the_same_words(gateway):
    whole = [*anthropic_list(40)]
    first = post(gateway, asked(lane="long", messages=whole[:41])).json()
    second = post(gateway, asked(lane="long", messages=whole[:43])).json()
    assert second["messages"][: len(first["messages"]) - 1] == first["messages"][:-1]
    assert post(gateway, asked(lane="long", messages=whole[:43])).json()["messages"] == second["messages"]


@pytest.mark.parametrize("dialect", ["anthropic", "responses", "gemini"])
@pytest.mark.parametrize("lane", [None, "with a system text"])
@pytest.mark.parametrize("system", ["You read files.", [{"type": "text", "text": "You read files."}]])
def test_the_system_text_comes_back_as_it_was_spelled(gateway, dialect, lane, system):
    answer = post(gateway, asked(dialect, results=2, system=system, lane=lane)).json()
    assert answer["system"] == system
    assert answer["tokens"] > post(gateway, asked(dialect, results=2)).json()["tokens"]


@pytest.mark.parametrize("budget", [1_000, 5_000, 100_000])
def test_the_window_of_a_lane_is_the_budget(gateway, budget):
    post(gateway, asked(results=1, budget=budget, lane=f"of {budget}"))
    (lane,) = [lane for lane in gateway.lanes.open if lane.id.name.endswith(f"of {budget}")]
    assert lane.session.config.usable == budget


def test_a_lane_is_the_callers_own(gateway):
    """Two callers, and an agent behind the gateway, use the same name."""
    before = {lane.key for lane in gateway.lanes.open}
    for key in ("key-1", "key-2"):
        post(gateway, asked(results=2, lane="same"), authorization=f"Bearer {key}")
    lanes = [lane for lane in gateway.lanes.open if lane.key not in before]
    assert len({lane.key for lane in lanes}) == 2
    assert not any(lane.id.name.startswith("gc:") for lane in lanes)


def test_a_compressed_body_is_read(gateway):
    body = gzip.compress(json.dumps(asked()).encode())
    assert post(gateway, body, **{"content-encoding": "gzip"}).json()["collected"] is True


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe"])
def test_a_body_that_is_no_json_object_is_refused(gateway, body):
    answer = post(gateway, body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "body")


WRONG = {
    "dialect": [None, "", 5, "smoke", "Anthropic"],
    "model": [None, "", 5, [], "m" * 201],
    "messages": [None, [], {}, "Hello.", [5], [{}], [{"role": "user"}], [{"role": 5, "content": "Hello."}]],
    "system": [5, [5], [{}], {"text": "You"}, [{"type": "text", "text": None}]],
    "tools": [5, "read", [5], {"name": "read"}, [None]],
    "budget": [0, -1, "5000", 1.5, True, None, []],
    "lane": ["", 5, [], "n" * 201],
    "budgets": [5],
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in WRONG.items() for value in values])
def test_a_field_that_is_wrong_is_named(gateway, field, value):
    for lane in ({}, {"lane": "wrong"}):
        answer = post(gateway, {**asked(results=1), **lane, field: value})
        error = answer.json()["error"]
        assert (answer.status_code, error["field"], error["type"]) == (400, field, "invalid_request_error")
        assert len(error["message"]) < 1_000


MALFORMED = [
    ("anthropic", {}, "messages[1].role: missing"),
    ("anthropic", {"role": "narrator", "content": "x"}, "messages[1].role: 'narrator', expected one of"),
    ("anthropic", {"role": "user", "content": 5}, "messages[1].content: 5, expected a string or a list of blocks"),
    ("openai", {"role": "user", "content": [{"type": "text", "text": 5}]}, "messages[1].content[0].text: 5, expected"),
    ("openai", {"role": "assistant", "content": None, "tool_calls": [5]}, "messages[1].tool_calls[0]: 5, expected"),
    ("responses", {"role": "user", "content": 5}, "messages[1].content: 5, expected"),
    ("gemini", {"role": "user", "parts": [5]}, "messages[1].parts[0]: 5, expected an object"),
    ("anthropic", 5, "messages[1] = 5: expected an object"),
]


@pytest.mark.parametrize(("dialect", "message", "said"), MALFORMED)
@pytest.mark.parametrize("lane", [None, "malformed"])
def test_a_malformed_message_is_named_by_its_place_and_field(gateway, dialect, message, said, lane):
    first = next(LISTS[dialect](0)) if dialect != "openai" else {"role": "user", "content": TASK}
    error = post(gateway, asked(dialect, messages=[first, message], lane=lane)).json()["error"]
    assert error["message"].startswith(said)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("tools", [*TOOLS["anthropic"], {"name": 5}], "tools[1].name: 5, expected a non-empty string"),
        ("tools", [*TOOLS["anthropic"], 5], "tools[1] = 5: expected an object"),
        ("system", [{"type": "text", "text": "You read."}, {}], "system[1] = {}: expected a block with a text"),
    ],
)
def test_a_malformed_tool_or_block_is_named_by_its_place(gateway, field, value, said):
    assert post(gateway, asked(results=1, **{field: value})).json()["error"]["message"] == said


@pytest.mark.parametrize("dialect", LISTS)
@pytest.mark.parametrize("tools", [[{}], [{"name": 5}], [{"function": []}], [{"functionDeclarations": 5}]])
def test_tools_of_another_shape_never_break_it(gateway, dialect, tools):
    for lane in (None, f"odd tools {tools}"):
        answer = post(gateway, asked(dialect, results=1, tools=tools, lane=lane))
        assert answer.status_code == 200 or answer.json()["error"]["field"] == "tools"


def test_a_system_text_beside_the_messages_of_chat_completions_is_refused(gateway):
    answer = post(gateway, asked("openai", system="You read files."))
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "system")


@pytest.mark.parametrize("lane", [None, "too small"])
def test_a_budget_that_the_task_alone_exceeds_is_413(gateway, lane):
    body = asked(budget=100, lane=lane, messages=[{"role": "user", "content": WORDS}])
    answer = post(gateway, body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (413, "budget")


def test_half_a_letter_is_repaired(gateway):
    answer = post(gateway, asked(messages=[{"role": "user", "content": "half a letter: \ud83d"}]))
    assert answer.json()["messages"] == [{"role": "user", "content": "half a letter: \ufffd"}]


def test_a_body_that_is_too_long_is_413_in_json_and_the_token_is_asked_for(gateway):
    own = attrs.evolve(gateway.settings, body_bytes=1_000, token="secret-token")  # noqa: S106 - no real one
    with running(own) as (url, other):
        other.url, other.client = url, gateway.client
        answer = post(other, asked())
        assert (answer.status_code, answer.json()["error"]["field"]) == (413, "body")
        other.url = url.removesuffix("/secret-token")
        answer = post(other, asked(results=0))
        assert (answer.status_code, answer.json()["error"]["field"]) == (401, "x-gc-token")
        assert post(other, asked(results=0), **{"x-gc-token": "secret-token"}).status_code == 200


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on the path")
def test_the_request_of_the_documents_is_answered_as_they_say(gateway):
    page = Path(__file__).parents[1] / "docs" / "how-to" / "gateway.md"
    (block,) = [block for block in blocks_of(page) if block.kind == "console"]
    command = shlex.split(block.text.replace("http://127.0.0.1:8787", gateway.url))
    shown = subprocess.run([*command, "--noproxy", "*"], capture_output=True, check=True).stdout  # noqa: S603 - curl
    answer = json.loads(shown)
    told = json.dumps({**answer, "messages": "..."}).replace('"..."', "[...]")
    assert f"It answers `{told}`" in page.read_text()


def test_what_a_web_page_may_send_without_asking_is_refused(gateway):
    """A form's types need no preflight request; JSON does."""
    lanes = gateway.lanes.open
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        assert post(gateway, asked(lane="page"), **{"content-type": kind}).status_code == 415
    assert gateway.lanes.open == lanes
