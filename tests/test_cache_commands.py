import json

import pytest
from ctxgc.cli.app import app
from ctxgc.evaluation.priced_replay import price
from ctxgc.evaluation.transcripts import Transcript, read_transcript
from typer.testing import CliRunner

from gc_core import GCConfig, GCSession
from tests.support.corpus import corpus_dir, native_sessions, require_corpus

MODEL = "claude-sonnet-4-5"
CONFIG = GCConfig(strategy="gc_budget", context_limit=12_000, output_reservation=0)


def ctxgc(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def lines(number, word):
    return "\n".join(f"{number} {line} {word * 12}" for line in range(60))


def spoken(calls):
    for number in range(calls):
        yield {"role": "user", "content": lines(number, " ask")}
        yield {"role": "assistant", "content": lines(number, " answer")}


def recorded(tmp_path, calls=20, *, step=None):
    path = tmp_path / "session.jsonl"
    messages = list(spoken(calls))
    if step is not None:
        for at, message in enumerate(messages):
            message["timestamp"] = f"2026-01-01T00:{at * step // 60:02}:{at * step % 60:02}Z"
    path.write_text("\n".join(map(json.dumps, messages)))
    return path


# -- replays ---------------------------------------------------------------------------------------------------------


def transcript(tmp_path, **more):
    return read_transcript(recorded(tmp_path, **more))


def test_a_session_is_priced_with_collection_and_without(tmp_path):
    priced = price(transcript(tmp_path), model="gpt-5.4", config=CONFIG)
    kept, whole = priced.run(collected=True), priced.run(collected=False)
    assert kept.collections > 0
    assert 0 < kept.breaks <= kept.collections
    assert (whole.collections, whole.breaks) == (0, 0)
    assert kept.spend.input_tokens < whole.spend.input_tokens
    assert kept.spend.output_tokens == whole.spend.output_tokens
    assert kept.spend.usd > 0
    assert priced.source.package == "genai-prices"
    assert priced.run(collected=True, gaps=True) is None


def test_claude_behind_a_gateway_of_openais_format_is_read_from_its_cache(tmp_path):
    whole = price(transcript(tmp_path), model=MODEL, config=CONFIG).run(collected=False)
    assert whole.spend.hit_percent > 75
    assert whole.spend.fresh_tokens < whole.spend.input_tokens / 10


def test_gaps_of_the_recording_cool_the_cache(tmp_path):
    long = transcript(tmp_path, step=160)
    priced = price(long, model="gpt-5.4", config=CONFIG)
    warm, cold = (priced.run(collected=False, gaps=gaps) for gaps in (False, True))
    assert warm.spend.read_tokens > cold.spend.read_tokens
    assert (cold.breaks, warm.breaks) == (0, 0)
    assert "idle" in cold.misses[0].text


def test_short_gaps_change_nothing(tmp_path):
    priced = price(transcript(tmp_path, step=20), model="gpt-5.4", config=CONFIG)
    for collected in (True, False):
        kept, gaps = (priced.run(collected=collected, gaps=gaps) for gaps in (False, True))
        assert kept.spend == gaps.spend


def test_an_unknown_model_is_simulated_without_a_price(tmp_path):
    priced = price(transcript(tmp_path), model="nobodys-model", config=CONFIG)
    assert priced.source is None
    assert priced.run(collected=True).spend.usd is None
    assert priced.run(collected=True).spend.read_tokens > 0


def test_a_call_that_cannot_be_sent_is_counted():
    messages = [*spoken(1), {"role": "user", "content": "more"}, {"role": "assistant", "content": "no"}]
    path = Transcript(
        path=corpus_dir() / "made", format="openai", system=(lines(0, " rule"),), messages=tuple(messages)
    )
    priced = price(path, model="gpt-5.4", config=GCConfig(context_limit=500, output_reservation=0))
    assert priced.run(collected=True).unsent == 2
    assert priced.run(collected=False).unsent == 0


def test_a_real_session_is_priced_with_the_gaps_of_its_clock():
    require_corpus()
    (path,) = [path for path in native_sessions("claude-code") if "130d7b7e" in path.name]
    read = read_transcript(path)
    assert len(read.times) == len(read.messages)
    priced = price(read, model=MODEL, config=GCConfig(strategy="gc_budget", context_limit=32_000))
    for run in priced.runs:
        spend = run.spend
        assert spend.read_tokens + spend.written_tokens + spend.fresh_tokens == spend.input_tokens
        assert run.breaks <= run.collections
    assert priced.run(collected=True, gaps=True).spend.usd > priced.run(collected=True).spend.usd


def test_replay_shows_prices_only_for_a_model(tmp_path):
    path = recorded(tmp_path, calls=8)
    plain = ctxgc("replay", path, "--window", 12_000, "--no-chart")
    priced = ctxgc("replay", path, "--window", 12_000, "--no-chart", "--model", "gpt-5.4")
    assert "simulated" not in plain.output
    assert "with collection, gaps left out: $" in priced.output
    assert "without, in an unlimited window" in priced.output


def test_replay_names_the_price_that_is_missing_and_goes_on(tmp_path):
    done = ctxgc("replay", recorded(tmp_path, calls=4), "--no-chart", "--model", "nobodys-model")
    assert done.exit_code == 0
    assert "does not know this model" in done.output


def test_replay_says_once_that_the_tokens_of_an_unknown_model_are_estimated(tmp_path):
    path = recorded(tmp_path, calls=4)
    done = ctxgc("replay", path, path, "--no-chart", "--model", "nobodys-model")
    assert done.stderr.count("warning: model 'nobodys-model' is not listed: its tokens are estimated at ") == 1
    assert "is not listed" not in ctxgc("replay", path, "--no-chart", "--model", "gpt-5.4").stderr


def test_replay_as_json_holds_the_prices(tmp_path):
    done = ctxgc("replay", recorded(tmp_path, calls=4), "--json", "--model", "gpt-5.4")
    (priced,) = json.loads(done.stdout)["prices"]
    assert priced["model"] == "gpt-5.4"
    assert priced["runs"][0]["spend"]["cost"] > 0


# -- a recorded session ----------------------------------------------------------------------------------------------


@pytest.fixture
def session_dir(tmp_path):
    reply = {"role": "assistant", "content": [{"type": "text", "text": "fine"}]}
    with GCSession(GCConfig(), format="anthropic", model=MODEL, directory=tmp_path / "s") as session:
        for number in range(3):
            session.append({"role": "user", "content": f"{number}"})
            session.pre_send()
            written = {"cache_read_input_tokens": 0, "cache_creation_input_tokens": 5_000}
            session.post_turn(reply, usage={"input_tokens": 3, "output_tokens": 2} | written)
            if number == 1:
                session.system(base="new rules", refresh="now")
    return tmp_path / "s"


def test_cache_lists_calls_and_explains_each_break(session_dir):
    done = ctxgc("cache", session_dir)
    assert done.exit_code == 0
    assert "5,003 input tokens,   0.0 % (0 read, 5,000 written, 3 fresh), $0.0188" in done.output
    assert "5,000 tokens missed: the system text changed" in done.output
    assert "3 calls, 15,009 input tokens, 0.0 % read from the cache" in done.output
    assert "all together $0.05" in done.output


def test_cache_as_json_holds_every_call(session_dir):
    document = json.loads(ctxgc("cache", session_dir, "--json").stdout)
    assert [call["number"] for call in document["calls"]] == [1, 2, 3]
    assert document["calls"][2]["miss"]["cause"] == "system"
    assert document["cost"] == pytest.approx(document["report"]["spend"]["cost"])


def test_cache_says_so_when_nothing_was_reported_or_no_session_is_there(tmp_path):
    with GCSession(GCConfig(), directory=tmp_path / "s") as session:
        session.append({"role": "user", "content": "hi"})
    assert "no provider has reported a call" in ctxgc("cache", tmp_path / "s").output
    missing = ctxgc("cache", tmp_path / "nowhere")
    assert missing.exit_code == 1
    assert "holds no session" in missing.output
