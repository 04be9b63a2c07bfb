"""The official clients send real sessions through ``GCSession`` to a server that refuses what the providers refuse."""

import anthropic
import openai
import pytest

from gc_core import GCConfig, GCPolicy, GCSession
from gc_core.transcripts import read_transcript
from tests.support.corpus import corpus_dir, native_sessions, require_corpus
from tests.support.provider import ProviderServer
from tests.support.say import answer, lines, results, schema, use

CLAUDE = "claude-opus-4-5"


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


@pytest.mark.parametrize("pressure", [90, 0], ids=["threshold", "continuous"])
def test_the_openai_client_sends_a_real_session_without_a_refusal(pressure):
    require_corpus()
    transcript = read_transcript(corpus_dir() / "entire--1c341e47-b281-4cb7-82da-3ad6d3013b7f.jsonl")
    config = GCConfig(context_limit=16_000, pressure_percent=pressure)
    with (
        ProviderServer(replies_of(transcript), limit=16_000) as server,
        openai_client(server) as client,
        GCSession(config, model="gpt-5") as session,
    ):
        drive(session, transcript, lambda r: client.chat.completions.create(model="gpt-5", **r.kwargs()))
        assert server.refusals == []
        assert len(server.requests) == len(replies_of(transcript))
        assert session.last_result is not None
        assert session.plugins.failures == []


def test_the_anthropic_client_sends_a_real_session_with_thinking_without_a_refusal():
    require_corpus()
    (path,) = [path for path in native_sessions("anthropic") if "1c341e47" in path.name]
    transcript = read_transcript(path)
    with (
        ProviderServer(replies_of(transcript), limit=32_000) as server,
        anthropic_client(server) as client,
        GCSession(GCConfig(context_limit=32_000), format="anthropic", model=CLAUDE) as session,
    ):
        drive(session, transcript, lambda r: client.messages.create(model=CLAUDE, max_tokens=4_096, **r.kwargs()))
        assert server.refusals == []
        assert len(server.requests) == len(replies_of(transcript))
        assert session.last_result is not None
        assert session.plugins.failures == []


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
    """DESIGN.md, "What it looks like to its users", with the server's URL."""
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
    with (
        ProviderServer([answer("word " * 300), answer("Done.")], limit=6_000) as server,
        openai_client(server) as client,
        GCSession(GCConfig(context_limit=6_000, output_reservation=1_000), model="gpt-5") as session,
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
