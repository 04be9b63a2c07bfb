"""
The official clients send real sessions through ``GCSession`` to a server that refuses what the providers refuse, binds
thinking as they do, and caches as they do.
"""

import sys

import anthropic
import openai
import pytest
from ctxgc.evaluation.transcripts import read_transcript

from gc_core import GCConfig, GCPolicy, GCSession
from gc_core.events import CollectionFinished
from tests.support.corpus import corpus_dir, native_sessions, require_corpus
from tests.support.inside import store_of
from tests.support.provider import ProviderServer
from tests.support.say import answer, lines, results, schema, use

CLAUDE = "claude-opus-4-5"
BINDING = "claude-opus-5-5"


def openai_client(server):
    return openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=10)


def anthropic_client(server):
    return anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0, timeout=10)


def replies_of(transcript):
    return [message for message in transcript.messages if message["role"] == "assistant"]


def drive(session, transcript, ask):
    """The session call by call: every assistant message of the recording is what the model answers."""
    if transcript.system:
        session.system(**{f"part{place}": text for place, text in enumerate(transcript.system)})
    session.tools(transcript.tools)
    for message in transcript.messages:
        if message["role"] == "assistant":
            reply = ask(session.pre_send())
            session.post_turn(reply, usage=reply.usage)
        else:
            session.append(message)


@pytest.mark.parametrize("pressure", [95, 0], ids=["threshold", "continuous"])
def test_the_openai_client_sends_a_real_session_without_a_refusal(pressure):
    require_corpus()
    transcript = read_transcript(corpus_dir() / "entire--1c341e47-b281-4cb7-82da-3ad6d3013b7f.jsonl")
    config = GCConfig(context_limit=16_000, pressure_percent=pressure)
    with (
        ProviderServer(replies_of(transcript), limit=16_000) as server,
        openai_client(server) as client,
        GCSession(config, model="gpt-5") as session,
    ):
        usages = []

        def ask(request):
            reply = client.chat.completions.create(model="gpt-5", **request.kwargs())
            usages.append(reply.usage)
            return reply

        drive(session, transcript, ask)
        assert server.refusals == []
        assert len(server.requests) == len(replies_of(transcript))
        read = sum(usage.prompt_tokens_details.cached_tokens for usage in usages)
        rate = read / sum(usage.prompt_tokens for usage in usages)
        sys.stdout.write(f"\ngpt-5, 16k, pressure {pressure} %: {rate:.1%} of input read from the cache\n")
        assert session.last_result is not None
        assert session.plugins.failures == []


def native(name):
    require_corpus()
    (path,) = [path for path in native_sessions("anthropic") if name in path.name]
    return read_transcript(path)


def drive_anthropic(transcript, server, model, window, **options):
    """The usages of a session's calls, and how often it collected."""
    usages, collected = [], []
    config = GCConfig(context_limit=window, **options)
    with anthropic_client(server) as client, GCSession(config, format="anthropic", model=model) as session:
        session.listen(lambda event: collected.append(event) if isinstance(event, CollectionFinished) else None)

        def ask(request):
            reply = client.messages.create(model=model, max_tokens=4_096, **request.kwargs())
            usages.append(reply.usage)
            return reply

        drive(session, transcript, ask)
        assert session.plugins.failures == []
    assert server.refusals == []
    return usages, len(collected)


def hit_rate(usages):
    """Share of all input tokens that was read from the cache."""
    read = sum(usage.cache_read_input_tokens for usage in usages)
    return read / sum(read_and_other(usage) for usage in usages)


def read_and_other(usage):
    return usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens


@pytest.mark.parametrize("model", [CLAUDE, BINDING], ids=["keeps_thinking", "binds_thinking"])
def test_the_anthropic_client_sends_a_real_session_with_thinking_without_a_refusal(model):
    transcript = native("1c341e47")
    with ProviderServer(replies_of(transcript), limit=32_000) as server:
        usages, collected = drive_anthropic(transcript, server, model, 32_000)
    assert len(usages) == len(replies_of(transcript))
    assert collected
    sys.stdout.write(f"\n{model}, 32k, {collected} collections: {hit_rate(usages):.1%} of input read from the cache\n")


def test_without_a_collection_nine_tenths_of_the_input_are_read_from_the_cache():
    transcript = native("130d7b7e")
    with ProviderServer(replies_of(transcript), limit=1_000_000) as server:
        usages, collected = drive_anthropic(transcript, server, "claude-opus-5", 1_000_000)
    assert (len(usages) >= 30, collected) == (True, 0)
    sys.stdout.write(f"\nwithout a collection: {hit_rate(usages):.1%} of input read from the cache\n")
    assert hit_rate(usages) >= 0.9


def test_a_collection_costs_one_break_of_the_cache():
    transcript = native("130d7b7e")
    with ProviderServer(replies_of(transcript), limit=24_000) as server:
        usages, collected = drive_anthropic(transcript, server, BINDING, 24_000, strategy="gc_budget")
    warm = [read_and_other(usage) for usage in usages]
    broken = [
        place
        for place, usage in enumerate(usages[1:], start=1)
        if usage.cache_read_input_tokens < usages[place - 1].cache_read_input_tokens
    ]
    assert collected
    assert len(broken) <= collected
    assert max(warm) <= 24_000
    sys.stdout.write(
        f"\ngc_budget, 24k, {collected} collections: {hit_rate(usages):.1%} of input read from the cache\n"
    )


def test_two_users_of_one_organisation_share_the_prefix_of_their_conversations():
    tools = [schema("read", "anthropic", "Reads a file. " * 300)]
    first = []
    with ProviderServer([answer("Done.")] * 2) as server, anthropic_client(server) as client:
        for name in ("Ann", "Bob"):
            with GCSession(format="anthropic", model="claude-opus-5") as session:
                session.system(base="You fix bugs. " * 300)
                session.tools(tools)
                session.append({"role": "user", "content": f"I am {name}."})
                request = session.pre_send()
                first.append(client.messages.create(model="claude-opus-5", max_tokens=99, **request.kwargs()).usage)
    assert first[0].cache_read_input_tokens == 0
    assert first[1].cache_read_input_tokens > 1_500


def test_the_openai_client_takes_the_cache_key_and_the_marks_of_a_model_that_has_them():
    with (
        ProviderServer([answer("Done.")] * 3, limit=200_000) as server,
        openai_client(server) as client,
        GCSession(model="gpt-6-sol") as session,
    ):
        session.system(base="You fix bugs. " * 400)
        read = []
        for place in range(3):
            session.append({"role": "user", "content": f"request {place}\n" + lines(100)})
            reply = client.chat.completions.create(model="gpt-6-sol", **session.pre_send().kwargs())
            session.post_turn(reply, usage=reply.usage)
            read.append(reply.usage.prompt_tokens_details.cached_tokens)
        assert read == sorted(read)
        assert read[0] == 0 < read[1]
        assert {body["prompt_cache_key"] for body in server.requests} == {store_of(session).session}
        assert "prompt_cache_breakpoint" in str(server.requests[-1])


def steps(number):
    return [use((f"toolu_{place}", "read", {"path": f"f{place}"}), text="Next.") for place in range(number)]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_limit_that_the_host_has_wrong_is_learned_from_the_refusal(provider):
    refused = 0
    with ProviderServer([answer("Next.")] * 60, limit=6_000) as server:
        client = (openai_client if provider == "openai" else anthropic_client)(server)
        more = {"model": "gpt-5"} if provider == "openai" else {"model": CLAUDE, "max_tokens": 500}
        create = client.chat.completions.create if provider == "openai" else client.messages.create
        config = GCConfig(context_limit=200_000, output_reservation=500)
        with client, GCSession(config, format=provider, model=more["model"]) as session:
            for place in range(40):
                session.append({"role": "user", "content": f"request {place}\n" + lines(40)}, policy=GCPolicy.PARTIAL)
                request = session.pre_send()
                try:
                    reply = create(**more, **request.kwargs())
                except (openai.BadRequestError, anthropic.BadRequestError) as error:
                    refused += 1
                    reply = create(**more, **session.recover(error).kwargs())
                session.post_turn(reply, usage=reply.usage)
            assert session.config.context_limit == 6_000
    assert refused == len(server.refusals) == 1


def test_the_loop_of_the_design_runs_as_it_is_written(tmp_path):
    """A loop as the README has it, with the URL of the server."""
    rules_text = "Never guess."
    schemas = [schema("read", "anthropic"), schema("web_search", "anthropic")]

    def run_tools(reply):
        calls = [block for block in reply.content if block.type == "tool_use"]
        return results(*((block.id, lines(120, block.input["path"])) for block in calls))

    with ProviderServer([*steps(30), answer("Fixed.")], limit=8_000) as server, anthropic_client(server) as client:
        session = GCSession(GCConfig(context_limit=8_000), format="anthropic", directory=tmp_path / "sessions" / "42")
        session.system(base="You fix bugs.", rules=rules_text)
        session.tools(schemas, discoverable={"web_search"})
        session.append({"role": "user", "content": "The login test fails."})
        while True:
            request = session.pre_send()
            reply = client.messages.create(model=CLAUDE, max_tokens=4096, **request.kwargs())
            session.post_turn(reply, usage=reply.usage)
            if reply.stop_reason != "tool_use":
                break
            session.append(run_tools(reply))
        assert session.last_result is not None
        session.close()
        assert server.refusals == []
        assert len(server.requests) == 31
        for body in server.requests:
            *said, log = [block["text"] for block in body["system"]]
            assert said == ["You fix bugs.", "Never guess."]
            assert str(tmp_path) in log
            assert body["messages"][0]["content"] == "The login test fails."
    assert len((tmp_path / "sessions" / "42" / "master.jsonl").read_text().splitlines()) == 1 + 31 + 30 + 4


def test_the_openai_client_streams_and_the_session_watches():
    crossed = []
    config = GCConfig(context_limit=6_000, output_reservation=1_000, threshold_percent=80.0)
    with (
        ProviderServer([answer("word " * 300), answer("Done.")], limit=6_000) as server,
        openai_client(server) as client,
        GCSession(config, model="gpt-5") as session,
    ):
        session.append({"role": "user", "content": lines(560)})
        stream = client.chat.completions.create(
            model="gpt-5", stream=True, stream_options={"include_usage": True}, **session.pre_send().kwargs()
        )
        text, usage = "", None
        for chunk in stream:
            piece = chunk.choices[0].delta.content if chunk.choices else ""
            crossed.append(session.on_stream(text=piece or ""))
            text, usage = text + (piece or ""), chunk.usage or usage
        session.post_turn({"role": "assistant", "content": text}, usage=usage)
    assert crossed[-1]
    assert not crossed[0]


def test_the_anthropic_client_streams_and_the_session_watches():
    with (
        ProviderServer([answer("word " * 300)], limit=6_000) as server,
        anthropic_client(server) as client,
        GCSession(GCConfig(context_limit=6_000, output_reservation=1_000), format="anthropic", model=CLAUDE) as session,
    ):
        session.append({"role": "user", "content": lines(300)})
        with client.messages.stream(model=CLAUDE, max_tokens=500, **session.pre_send().kwargs()) as stream:
            for event in stream:
                if event.type == "text":
                    session.on_stream(text=event.text)
                elif event.type == "message_delta":
                    session.on_stream(usage=event.usage)
            reply = stream.get_final_message()
        session.post_turn(reply, usage=reply.usage)
        assert session.items()[-1].text == "word " * 300
