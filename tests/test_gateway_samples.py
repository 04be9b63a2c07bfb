"""
What ten real clients sent, replayed through the gateway: which requests share a lane, and which are no turns.

The recordings are no part of the repository; without them these tests are skipped, and say so.
"""

import json
import re

import attrs
import pytest
import structlog
from gc_gateway.app import Gateway
from gc_gateway.settings import Settings
from starlette.testclient import TestClient

from tests.support.standin import StandIn
from tests.support.wire import FOLDER, recorded_requests, require_samples

LANES = {
    "aider1": "a",
    "claude1": "- a a a a",
    "claude2_continue": "- claude1:a claude1:a",
    "claude3_subagent": "- a a b c d d c b a",
    "claude4_autocompact": "- a a a (a) a a",
    "claude5_529": "- a a a",
    "claude6_overflow": "- a a a (a) a a a",
    "claude7_bearer": "- a a",
    "claude8_context": "- n n n n n n n n n n n n n",
    "claude9_haiku": "- - a",
    "claude10_hooks": "- a a a (a) (a) a",
    "claude11_mcp": "- a a",
    "claude12_block": "- a a a a a",
    "claude13_tui": "- () a a (a) (a) a",
    "claude14_mcp_deferred": "- a a",
    "cline1": "a a",
    "codex1": "a a a",
    "codex2_resume": "codex1:a",
    "codex3_compact": "a a (a) a a",
    "codex4_openai": "- a a",
    "codex5_overflow": "a a a",
    "codex6_429": "a a a",
    "codex7_mcp": "a a a a a",
    "codex8_subagent": "a a b b a",
    "codex9_compact_openai": "- a a -",
    "gemini1": "() a a a",
    "llm1": "a a",
    "llm2": "llm1:a",
    "mini1": "a a a a a",
    "opencode1": "() a a a",
    "opencode2_chat": "() a a a",
    "opencode3_compact": "() a a a (a) a",
    "opencode4_task": "() a b a",
    "pi1": "a a",
    "pi2": "a a",
    "qwen1": "a a",
}
"""
Of each recorded request in its order: its lane, which another recording may have begun; in brackets where the request
is no turn of it; n for a count, where there is no lane; - for what is passed on.
"""

PARENTS = {"claude3_subagent": ("b", "a"), "codex8_subagent": ("b", "a"), "opencode4_task": ("b", "a")}


class Replay:
    """A gateway in process, before a provider on loopback that takes everything."""

    def __init__(self, directory, provider):
        self.provider = provider
        upstreams = dict.fromkeys(("anthropic", "openai", "responses", "gemini"), provider.url)
        self.settings = Settings(directory=directory, upstreams=upstreams)
        self.events = []

    def __enter__(self):
        structlog.configure(processors=[structlog.contextvars.merge_contextvars, self._keep])
        self.start()
        return self

    def __exit__(self, *exception):
        self._client.__exit__(*exception)
        structlog.reset_defaults()

    def start(self):
        self.gateway = Gateway(self.settings)
        self._client = TestClient(self.gateway.app())
        self._client.__enter__()

    def restart(self):
        self._client.__exit__(None, None, None)
        self.start()

    def send(self, recorded, body=None):
        """Send a request; return its response, and its line in the access log."""
        self.events.clear()
        raw = recorded.raw if body is None else json.dumps(body).encode()
        response = self._client.request(recorded.method, recorded.path, content=raw, headers=recorded.headers)
        (line,) = (event for event in self.events if event["event"] == "request")
        return response, line

    def _keep(self, _logger, _method, event):
        self.events.append(dict(event))
        raise structlog.DropEvent


@attrs.frozen
class Recorded:
    method: str
    path: str
    headers: tuple
    raw: bytes
    body: object


def recording(name):
    """The requests of a file, all of them. The header that tells Codex's compactions was cut, and is put in again."""
    for each in json.loads((FOLDER / f"{name}.json").read_text()):
        headers = [(key.lower(), value) for key, value in each["headers"]]
        own = {"host", "content-length", "connection", "transfer-encoding"}
        kept = tuple((key, value.encode()) for key, value in headers if key not in own)
        raw = b"" if each["body"] is None else json.dumps(each["body"]).encode()
        yield Recorded(each["method"], each["path"], kept, raw, each["body"])


@pytest.fixture(scope="module")
def provider():
    require_samples()
    with StandIn(limit=10**9, key="<key>", calls=0) as standin:
        yield standin


def named(lanes, name, line):
    """The word of a request in the table; ``lanes`` has the words of the lanes that there are."""
    lane = line.get("lane", "")
    if lane and lane not in lanes:
        used = [word.rpartition(":")[2] for word in lanes.values() if word.partition(":")[0] == name]
        lanes[lane] = f"{name}:{'abcdefgh'[len(used)]}"
    word = lanes.get(lane, "").removeprefix(f"{name}:")
    return {"pass": "-", "turn": word, "aside": f"({word})", "count": word or "n"}[line["kind"]]


def test_every_recording_is_in_the_table():
    require_samples()
    assert {path.stem for path in FOLDER.glob("*.json")} == set(LANES)
    assert sum(len(words.split()) - words.split().count("-") for words in LANES.values()) >= len(recorded_requests())


def test_each_request_finds_its_lane_and_leaves_as_it_came(provider, tmp_path):
    found, lanes, parents = {}, {}, {}
    with Replay(tmp_path / "lanes", provider) as replay:
        for name in LANES:
            words = []
            for recorded in recording(name):
                response, line = replay.send(recorded)
                words.append(named(lanes, name, line))
                if recorded.method == "POST":
                    assert provider.seen[-1].raw == recorded.raw
                assert response.status_code == (426 if ("upgrade", b"websocket") in recorded.headers else 200) or (
                    response.status_code == provider.seen[-1].status
                )
            found[name] = " ".join(words)
        for lane in replay.gateway.lanes.open:
            parents[lanes[lane.key]] = (lane.id.name, lane.id.parent)
    assert found == LANES
    for name, (child, parent) in PARENTS.items():
        assert parents[f"{name}:{child}"][1] == parents[f"{name}:{parent}"][0]


# -- the same, with something in them ----------------------------------------------------------------------------------

RESULT = re.compile("(?<!echo )hello-from-tool")


def filled(name, letters=12_000):
    """The requests of a recording whose results have so many letters, other ones each."""
    for recorded in recording(name):
        first, *rest = RESULT.split(recorded.raw.decode())
        texts = (f"{number}: " + f"line{number} " * (letters // 6) for number in range(len(rest)))
        raw = first + "".join(text + each for text, each in zip(texts, rest, strict=True))
        body = json.loads(raw) if raw else None
        yield attrs.evolve(recorded, raw=raw.encode(), body=body)


def log_of(replay, line):
    return (replay.settings.directory / line["lane"] / "master.jsonl").read_bytes()


@pytest.fixture
def replay(tmp_path, provider):
    provider.limit, provider.failures = 10**9, []
    with Replay(tmp_path / "lanes", provider) as replay:
        yield replay


def test_conversations_without_ids_find_their_lanes_after_every_restart(replay):
    lanes = {}
    for name in ("cline1", "llm1", "llm2", "mini1", "pi1", "pi2", "qwen1", "gemini1"):
        words = []
        for recorded in recording(name):
            words.append(named(lanes, name, replay.send(recorded)[1]))
            replay.restart()
        assert " ".join(words) == LANES[name]


@pytest.mark.parametrize(("name", "status"), [("claude5_529", 529), ("codex6_429", 429)])
def test_a_retry_gets_the_same_request_and_is_no_second_entry_in_the_log(replay, provider, name, status):
    provider.failures = [status, status]
    requests = [each for each in recording(name) if each.method == "POST"]
    seen = []
    for recorded in requests:
        response, line = replay.send(recorded)
        seen.append((response.status_code, log_of(replay, line)))
        assert provider.seen[-1].raw == recorded.raw
    assert [code for code, _ in seen] == [status, status, 200]
    assert len({log for _, log in seen}) == 1


@pytest.mark.parametrize("name", ["claude4_autocompact", "claude6_overflow", "claude13_tui", "codex3_compact"])
def test_what_a_client_compacted_away_stays_in_the_log_and_its_call_is_no_part_of_it(replay, name):
    for recorded in filled(name, 2_000):
        _, line = replay.send(recorded)
        if line["kind"] != "pass":
            log = log_of(replay, line) if line.get("lane") else b""
    assert b"line0 line0" in log
    assert b"TEXT ONLY" not in log
    assert b"CHECKPOINT COMPACTION" not in log


def test_a_compaction_is_asked_of_the_window_as_it_stands_after_collections(replay, provider):
    """The client sends its whole list; the lane's window is what the turn before sent."""
    replay.settings = attrs.evolve(replay.settings, windows={"*": 16_000})
    replay.restart()
    kinds = []
    for recorded in filled("claude4_autocompact", 40_000):
        response, line = replay.send(recorded)
        kinds.append(line["kind"])
        assert response.status_code == 200
        if line["kind"] == "aside":
            break
    turn, aside = (seen.body["messages"] for seen in provider.seen[-2:])
    assert aside[:-1] == turn[:-1]
    assert aside[-1]["content"][0]["content"] == turn[-1]["content"][0]["content"]
    assert aside[-1]["content"][-1]["text"].startswith("CRITICAL: Respond with TEXT ONLY")
    assert len(json.dumps(aside)) < len(json.dumps(recorded.body["messages"]))


@pytest.mark.parametrize("name", ["claude6_overflow", "codex5_overflow"])
def test_a_refusal_for_length_never_reaches_the_client_and_is_remembered(replay, provider, name):
    """Claude Code would compact, and Codex end its turn."""
    provider.limit = 6_000
    before = len(provider.seen)
    for recorded in filled(name):
        response, line = replay.send(recorded)
        assert response.status_code in {200, 426}
        if line["kind"] == "aside":
            break
    refused = [seen for seen in provider.seen[before:] if seen.status == 400]
    assert len(refused) == 1
