"""What every adapter stands on: lanes, their messages, and the contract, which catches adapters that break it."""

import asyncio
import contextlib
import http.client
import json
import shutil
from typing import ClassVar
from urllib.parse import urlsplit

import pytest

from gc_core import GCConfig, GCSession, SessionReader
from gc_core.errors import ContextOverflowError, LogError
from gc_core.integrations.lanes import Lanes, ModelCall, Plain, matched_blocks, needs
from gc_core.testing import AdapterContract, LoopbackProvider, Played
from gc_core.testing.adapters import ASYNC, CALL, DONE, file_of
from gc_core.values.messages import Usage

CONFIG = GCConfig(strategy="gc_budget", context_limit=9_000, output_reservation=450)


def history(steps, prompt="Read all files."):
    messages = [{"role": "user", "content": prompt}]
    for number in range(1, steps + 1):
        function = {"name": "bash", "arguments": json.dumps({"command": f"cat big_{number}.txt"})}
        calls = [{"id": f"call_{number}", "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": file_of(str(number))})
    return messages


# -- lanes -------------------------------------------------------------------------------------------------------------


class Numbered(Plain):
    """Messages of a framework: a number and a dict. It knows no message whose role is ``odd``."""

    def payload(self, message):
        return None if message[1]["role"] == "odd" else message[1]

    def edited(self, message, payload):
        return (message[0], payload)

    def written(self, payload):
        return (None, payload)


@pytest.fixture
def lanes():
    made = Lanes(Numbered(), format="openai", config=CONFIG)
    yield made
    made.close()


def test_each_message_comes_back_as_itself_or_as_a_copy_of_what_it_was(lanes):
    given = list(enumerate(history(20)))
    with lanes.lane("one") as lane:
        sent = lane.fitted(ModelCall(messages=given))
    own = [message for message in sent if message[0] is not None]
    assert sorted(number for number, _ in own) == [number for number, _ in own]
    for number, payload in own:
        before = given[number][1]
        assert (payload["role"], payload.get("tool_call_id")) == (before["role"], before.get("tool_call_id"))
    changed = [number for number, payload in own if payload is not given[number][1]]
    assert changed or len(own) < len(given)
    assert all(each is given[each[0]] for each in own if each[0] not in changed)


def test_messages_of_unknown_types_stay_where_they_stand(lanes):
    given = list(enumerate(history(20)))
    odd = [(-1, {"role": "odd"}), (-2, {"role": "odd"})]
    given[9:9], given[-2:-2] = odd[:1], odd[1:]
    with lanes.lane("one") as lane:
        sent = lane.fitted(ModelCall(messages=given))
    for each in odd:
        place, before = sent.index(each), given.index(each)
        numbers = [number for number, _ in sent[:place] if number is not None and number >= 0]
        assert all(number < before for number in numbers)
        assert all(number >= before - 2 for number, _ in sent[place + 1 :] if number is not None and number >= 0)


def test_a_refusal_is_found_among_the_causes_of_an_error(lanes):
    refusal, sizes = ValueError("prompt is too long: 8600 tokens > 8000 maximum"), []

    def send(sent):
        sizes.append(len(json.dumps(sent)))
        if len(sizes) == 1:
            raise LookupError("how a framework reports a provider's error") from refusal
        return "reply"

    with lanes.lane("one") as lane:
        assert lane.call(ModelCall(messages=list(enumerate(history(20)))), send, lambda _: None) == "reply"
    assert sizes[1] < sizes[0]


TOO_LONG = ValueError("prompt is too long: 8600 tokens > 8000 maximum")


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (["opens", "opens", TOO_LONG], (["opens", "reply"], None, 2)),
        (["opens", ValueError("overloaded")], (["opens"], "overloaded", 1)),
        (["opens", "opens"], (["opens", "opens"], None, 1)),
        (["reply", TOO_LONG], (["reply"], "prompt is too", 1)),
    ],
    ids=["refused", "another error", "no content", "refused after content"],
)
def test_a_stream_is_refused_after_events_that_come_before_content(lanes, first, expected):
    """They are passed on with what comes after them; another error comes where it came."""
    calls, events = iter([first, ["opens", "reply"]]), []

    async def start(_sent):
        for each in next(calls):
            if isinstance(each, ValueError):
                raise each
            yield each

    async def run():
        with lanes.lane("one") as lane:
            given = ModelCall(messages=list(enumerate(history(20))))
            async for event in lane.stream_async(given, start, lambda _: None, opens=lambda event: event == "opens"):
                events.append(event)  # noqa: PERF401 - what comes before an error counts

    seen, error, asked = expected
    with pytest.raises(ValueError, match=error) if error else contextlib.nullcontext():
        asyncio.run(run())
    assert events == seen
    assert len(list(calls)) == 2 - asked


def test_a_refused_stream_begins_again_with_less_and_its_usage_is_taken(lanes):
    sizes = []

    async def start(sent):
        sizes.append(len(json.dumps(sent)))
        if len(sizes) == 1:
            raise ValueError("prompt is too long: 8600 tokens > 8000 maximum")
        for event in ("be", "gun", Usage(input_tokens=8_900)):
            yield event

    async def run():
        with lanes.lane("one") as lane:
            given = ModelCall(messages=list(enumerate(history(20))))
            before = lane.session.port.estimate(1_000)
            events = lane.stream_async(given, start, lambda event: event if isinstance(event, Usage) else None)
            return [event async for event in events], before, lane.session.port.estimate(1_000)

    events, before, after = asyncio.run(run())
    assert events[:2] == ["be", "gun"]
    assert sizes[1] < sizes[0]
    assert len(sizes) == 2
    assert after > before


def test_an_error_that_is_no_refusal_is_raised_as_it_is(lanes):
    error = ValueError("no such model")

    async def send(_sent):
        raise error

    async def run():
        with lanes.lane("one") as lane:
            await lane.call_async(ModelCall(messages=list(enumerate(history(2)))), send, lambda _: None)

    with pytest.raises(ValueError, match="no such model") as caught:
        asyncio.run(run())
    assert caught.value is error


def test_a_lane_that_is_in_use_elsewhere_is_read_again_beside_it(tmp_path):
    given = ModelCall(messages=list(enumerate(history(20))))
    first, second = (Lanes(Numbered(), format="openai", config=CONFIG, directory=tmp_path) for _ in range(2))
    with first.lane("one") as lane, second.lane("one") as other:
        assert lane.fitted(given) == other.fitted(given)
        assert lane.session.directory != other.session.directory
    first.close()
    second.close()
    third = Lanes(Numbered(), format="openai", config=CONFIG, directory=tmp_path)
    with third.lane("one") as lane:
        assert lane.session.history()  # it goes on where the first one was
    third.close()


class Crooked(Numbered):
    """Reads a message as something that is none, or not at all."""

    def payload(self, message):
        if message[1] == "crooked":
            return {"role": "assistant", "content": None, "tool_calls": [{"id": None}]}
        return super().payload(message)


@pytest.mark.parametrize("odd", ["crooked", 5])
def test_a_list_that_cannot_be_read_is_sent_as_it_came(odd):
    given = [(0, {"role": "user", "content": "Read."}), (1, odd)]
    lanes = Lanes(Crooked(), format="openai", config=CONFIG)
    with contextlib.closing(lanes), lanes.lane("one") as lane:
        assert lane.call(ModelCall(messages=given), lambda sent: sent, lambda _: None) == given


def test_on_a_full_disk_a_list_is_sent_as_it_came(lanes, monkeypatch):
    def write(_handle, _data, _place):
        raise OSError(28, "No space left on device")

    given = list(enumerate(history(1)))
    with lanes.lane("one") as lane:
        monkeypatch.setattr("gc_core.storage.file_handle.write_at", write)
        assert lane.call(ModelCall(messages=given), lambda sent: sent, lambda _: None) == given
        monkeypatch.undo()
        assert lane.fitted(ModelCall(messages=list(enumerate(history(20))))) != list(enumerate(history(20)))


@pytest.mark.parametrize("left", [b"", b'{"at": 0, "sou'])
def test_a_lane_that_a_killed_process_had_hardly_begun_is_begun_again(left, tmp_path):
    given = ModelCall(messages=list(enumerate(history(20))))
    for _ in range(2):
        lanes = Lanes(Numbered(), format="openai", config=CONFIG, directory=tmp_path)
        with contextlib.closing(lanes), lanes.lane("one") as lane:
            assert lane.fitted(given)
        (directory,) = [path.parent for path in tmp_path.glob("*/master.jsonl") if "-" not in path.parent.name]
        for path in directory.iterdir():
            path.write_bytes(left if path.name == "master.jsonl" else b"") if path.is_file() else shutil.rmtree(path)
    for opened in (GCSession.open, GCSession.open_idle, SessionReader):
        with pytest.raises(LogError):
            opened(directory)


def test_a_conversation_of_one_name_in_two_formats_is_two_in_one_directory(tmp_path):
    calls = [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]
    results = [{"type": "tool_result", "tool_use_id": "c1", "content": file_of("1")}]
    asked = {"role": "user", "content": "Read."}
    lists = {
        "openai": [
            asked,
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c1", "content": file_of("1")},
        ],
        "anthropic": [
            asked,
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "bash", "input": {}}]},
            {"role": "user", "content": results},
        ],
    }
    for name, messages in lists.items():
        lanes = Lanes(Plain(), format=name, directory=tmp_path)
        with contextlib.closing(lanes), lanes.lane("the client's \ud800 name") as lane:
            assert lane.session.format == name
            assert lane.fitted(ModelCall(messages=messages)) == messages


def test_only_idle_lanes_leave_memory(lanes, monkeypatch):
    monkeypatch.setattr("gc_core.integrations.lanes.lanes.MOST_OPEN", 2)
    with lanes.lane("held") as held:
        sessions = [held.session]
        for key in ("one", "two", "three"):
            with lanes.lane(key) as lane:
                sessions.append(lane.session)
        assert [session.port.is_closed for session in sessions] == [False, True, True, False]
        held.fitted(ModelCall(messages=list(enumerate(history(1)))))


def test_what_cannot_fit_is_an_error_that_names_its_owners(lanes):
    given = list(enumerate(history(1, prompt=file_of("x") * 12)))
    with lanes.lane("one") as lane, pytest.raises(ContextOverflowError, match="turn 0"):
        lane.fitted(ModelCall(messages=given))


def test_blocks_are_matched_by_content_then_by_call_then_in_order():
    before = [{"type": "text", "text": text} for text in "ab"] + [{"type": "use", "id": "c", "input": 1}]
    after = [
        {"type": "use", "id": "c", "input": 2},
        before[0],
        {"type": "text", "text": "B"},
        {"type": "text", "text": "new"},
    ]
    pairs = list(zip("abc", before, strict=True))
    assert list(matched_blocks(pairs, after, lambda old, new: (old, new.get("text")))) == [
        ("c", None), "a", ("b", "B"), (None, "new"),
    ]  # fmt: skip


def test_a_missing_framework_is_named_with_the_command():
    told = r'gc-mine needs mine>=2, and .*: pip install gc-mine "mine>=2"'
    with pytest.raises(ImportError, match=told), needs("mine>=2", distribution="gc-mine"):
        import no_such_framework  # noqa: F401


def test_a_usage_report_may_be_a_value_of_ours(lanes):
    given = ModelCall(messages=list(enumerate(history(4))))
    with lanes.lane("one") as lane:
        sent = lane.session.port
        lane.fitted(given)
        before = sent.estimate(1_000)
        lane.report(Usage(input_tokens=8_000))
        assert sent.estimate(1_000) > before


# -- the contract ------------------------------------------------------------------------------------------------------


class Loop(AdapterContract):
    """The smallest agent: a loop over HTTP. Its adapter is ``Lanes`` with the provider's own messages."""

    package = "gc_core.integrations.lanes"
    framework = "attrs"
    modes = (CALL, ASYNC)
    calls = 40
    limit = 20_000
    histories: ClassVar = {}
    weakened: ClassVar = {"test_a_missing_framework_is_named": "it has no framework"}

    def play(self, scene):
        messages = self.histories.setdefault((type(self), scene.url, scene.thread), [])
        messages.append({"role": "user", "content": scene.prompt})
        lanes = self.lanes(scene)
        try:
            while True:
                reply = self.ask(scene, lanes, messages)
                messages.append(reply["choices"][0]["message"])
                for call in messages[-1].get("tool_calls", ()):
                    text = scene.read(json.loads(call["function"]["arguments"])["command"])
                    messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
                if messages[-1]["role"] == "assistant":
                    results = [message["content"] for message in messages if message["role"] == "tool"]
                    return Played(messages[-1]["content"], results)
        finally:
            if lanes is not None:
                lanes.close()

    async def play_async(self, scene):
        return await asyncio.to_thread(self.play, scene)

    def lanes(self, scene):
        if scene.config is None:
            return None
        return Lanes(Plain(), format="openai", config=scene.config, directory=scene.directory)

    def ask(self, scene, lanes, messages):
        def send(sent):
            system = {"role": "system", "content": scene.system}
            return self.posted(scene, {"messages": [system, *sent], "tools": [self.tool(scene)]})

        if lanes is None:
            return send(messages)
        given = ModelCall(messages=messages, system=scene.system, tools=[self.tool(scene)])
        with lanes.lane(scene.thread) as lane:
            return lane.call(given, send, self.usage)

    def usage(self, reply):
        return Usage(input_tokens=reply["usage"]["prompt_tokens"], output_tokens=20)

    def tool(self, scene):
        schema = {"type": "object", "properties": {"command": {"type": "string"}}}
        return {"type": "function", "function": {"name": "bash", "description": scene.about, "parameters": schema}}

    def posted(self, scene, body):
        connection = http.client.HTTPConnection(urlsplit(scene.url).netloc)
        headers = {"authorization": f"Bearer {scene.key}", "content-type": "application/json"}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        answer = connection.getresponse()
        told = answer.read().decode()
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {told}")
        return json.loads(told)


class TestLoop(Loop):
    pass


class Idle(Loop):
    """Sends everything."""

    def ask(self, scene, _lanes, messages):
        return super().ask(scene, None, messages)


class Deaf(Loop):
    """Takes no usage."""

    def usage(self, _reply):
        return None


class Forgetful(Loop):
    """Cuts the framework's own history to what was sent."""

    def ask(self, scene, lanes, messages):
        with lanes.lane(scene.thread) as lane:
            messages[:] = lane.fitted(ModelCall(messages=messages))
        return super().ask(scene, lanes, messages)


class Restless(Loop):
    """Decides anew with every call."""

    def ask(self, scene, lanes, messages):
        return super().ask(scene, lanes and self.lanes(scene), messages)

    def lanes(self, scene):
        return scene.config and Lanes(Plain(), format="openai", config=scene.config)


class Mixed(Loop):
    """Has one session for all threads, and their messages in one list."""

    def ask(self, scene, lanes, messages):
        shared = self.histories.setdefault(("all", scene.url), [])
        shared += [message for message in messages if message not in shared]
        return super().ask(scene, lanes, shared)


class Stubborn(Loop):
    """Lets a refusal through."""

    def ask(self, scene, lanes, messages):
        if lanes is None:
            return super().ask(scene, None, messages)
        with lanes.lane(scene.thread) as lane:
            return super().ask(scene, None, lane.fitted(ModelCall(messages=messages)))


BROKEN = [
    (Idle, "test_the_request_fits"),
    (Deaf, "test_usage_calibrates"),
    (Forgetful, "test_the_frameworks_history_stays_whole"),
    (Restless, "test_another_process_goes_on_as_it_was_sent"),
    (Mixed, "test_runs_beside_each_other_do_not_meet"),
    (Stubborn, "test_a_refusal_for_length_is_answered_by_a_collection"),
]


@pytest.mark.parametrize(("broken", "rule"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_an_adapter_that_breaks_a_rule_is_caught_by_it(broken, rule):
    with pytest.raises((AssertionError, RuntimeError)):
        getattr(broken(), rule)()


def test_the_provider_refuses_what_is_not_valid():
    with LoopbackProvider(calls=0) as provider:
        body = {"messages": history(2)[:-1]}  # the last call has no result
        status = []
        for each in (body, {"messages": history(2)}):
            connection = http.client.HTTPConnection(urlsplit(provider.url).netloc)
            headers = {"authorization": "Bearer key-1"}
            connection.request("POST", "/v1/chat/completions", json.dumps(each), headers)
            answer = connection.getresponse()
            status.append((answer.status, DONE in answer.read().decode()))
            connection.close()
    assert status == [(400, False), (200, True)]
