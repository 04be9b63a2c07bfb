"""What a replay measures, on sessions small enough to count by hand."""

import os
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
from ctxgc.evaluation.call_measures import CallMeasures, Prompt, Sent, Share
from ctxgc.evaluation.replay import replay
from ctxgc.evaluation.replay_report import pooled, summary_of
from ctxgc.evaluation.request_judge import Meter
from ctxgc.evaluation.totals import ReasonCount
from ctxgc.evaluation.transcripts import Transcript

from gc_core import GCConfig, Plugins, hookimpl
from gc_core.errors import MessageError, UnknownStrategyError
from gc_core.values.messages import Request
from gc_core.values.results import GCTriggerReason

# In o200k_base "hello" is one token and so is " hello"; a message costs 3 more, and a request 3.


def words(tokens):
    return "hello" + " hello" * (tokens - 1)


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": text}


def calling(name):
    function = {"name": "read", "arguments": "{}"}
    return {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [{"id": name, "type": "function", "function": function}],
    }


def result(name, text):
    return {"role": "tool", "tool_call_id": name, "content": text}


def transcript(*messages, **fields):
    return Transcript(path=Path("made.jsonl"), messages=messages, **{"format": "openai", **fields})


def request(*messages, **fields):
    return Request(messages=messages, **{"format": "openai", **fields})


def config(window, **fields):
    return GCConfig(**{"context_limit": window, "output_reservation": 0, "strategy": "none", **fields})


def replayed(*messages, window=100_000, system=(), tools=(), **options):
    fields = {name: options.pop(name) for name in list(options) if name in attrs.fields_dict(GCConfig)}
    return replay(transcript(*messages, system=system, tools=tools), config=config(window, **fields), **options)


# --- tokens, prefixes and cost --------------------------------------------------------------------------------------


def test_counts_a_request_again():
    sent = Meter(transcript()).measure(request(user(words(10)), said(words(20))))
    assert sent.prompt == Prompt(tokens=3 + 14 + 24, cached=0)


def test_believes_no_count_of_the_session():
    assert Meter(transcript()).measure(request(user(words(10)), tokens=1)).prompt.tokens == 17


def test_counts_system_and_tools_of_anthropic_before_the_messages():
    meter = Meter(transcript(format="anthropic"), model="gpt-4o")
    system = ({"type": "text", "text": words(10)},)
    meter.measure(request(user("hello"), format="anthropic", system=system))
    sent = meter.measure(request(user("hello"), format="anthropic", system=system))
    assert sent.prompt == Prompt(tokens=3 + 10 + 5, cached=3 + 10 + 5)


def test_the_cached_part_is_the_common_prefix_in_whole_messages():
    meter = Meter(transcript())
    meter.measure(request(user(words(7)), said(words(17))))
    sent = meter.measure(request(user(words(7)), said(words(16)), user(words(7))))
    assert sent.prompt == Prompt(tokens=3 + 11 + 20 + 11, cached=3 + 11)
    assert sent.prompt.cost == pytest.approx(0.1 * 14 + 1.25 * 31)


def test_messages_that_differ_only_in_cache_marks_are_the_same():
    meter = Meter(transcript())
    meter.measure(request(user("hello")))
    marked = {"role": "user", "content": [{"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}]}
    assert meter.measure(request(marked)).unchanged == 1


@pytest.mark.parametrize(("kept", "broke"), [(5, False), (4, False), (3, False), (2, True), (0, True)])
def test_the_last_two_messages_may_change_without_a_break(kept, broke):
    messages = [user(f"message {number}") for number in range(5)]
    meter = Meter(transcript())
    meter.measure(request(*messages))
    sent = meter.measure(request(*messages[:kept], user("new")))
    assert (sent.broke, sent.whole) == (broke, kept == 5)


def test_another_tool_schema_is_a_break_at_the_very_start():
    tool = {"type": "function", "function": {"name": "read"}}
    meter = Meter(transcript())
    meter.measure(request(user("hello")))
    sent = meter.measure(request(user("hello"), tools=(tool,)))
    assert (sent.broke, sent.unchanged, sent.prompt.cached) == (True, 0, 0)


def test_cost_without_collection_is_one_by_definition():
    report = replayed(user(words(7)), said(words(17)), user(words(27)), said("hello"))
    first, second = report.calls
    assert (first.without, second.without) == (Prompt(tokens=14, cached=0), Prompt(tokens=66, cached=14))
    assert [call.sent.prompt for call in report.calls] == [first.without, second.without]
    assert report.summary().cost == 1.0


def test_cost_compares_the_prices_of_all_prompts():
    calls = [
        CallMeasures(number=1, sent=Sent(prompt=Prompt(tokens=100, cached=0)), without=Prompt(tokens=100, cached=0)),
        CallMeasures(number=2, sent=Sent(prompt=Prompt(tokens=100, cached=50)), without=Prompt(tokens=300, cached=100)),
    ]
    with_collection = 125 + (5 + 62.5)
    without = 125 + (10 + 250)
    assert summary_of(calls, window=200).cost == pytest.approx(with_collection / without)


# --- what must not be missing ---------------------------------------------------------------------------------------


def test_bytes_of_a_missing_system_text_are_counted():
    meter = Meter(transcript(system=("Be brief.", "Né")))
    sent = meter.measure(request({"role": "system", "content": "Be brief."}, user("Go.")))
    assert sent.locked_missing == len("Né".encode())


def test_the_whole_first_run_of_user_messages_is_locked():
    meter = Meter(transcript())
    for message in (user("Fix it."), user("Quickly!"), said("Yes."), user("And then?")):
        meter.hear(message)
    assert meter.measure(request(user("Fix it."))).locked_missing == len("Quickly!")


def test_a_text_may_stand_inside_a_longer_one():
    meter = Meter(transcript(system=("Be brief.", "Be kind.")))
    assert meter.measure(request({"role": "system", "content": "Be brief.\n\nBe kind."})).locked_missing == 0


def test_a_text_that_stood_there_is_missed_once_it_is_gone():
    meter = Meter(transcript())
    first, reply = user("Fix it."), said("Yes.")
    meter.hear(first)
    assert [meter.measure(request(*sent)).locked_missing for sent in ([first], [first, reply], [reply])] == [0, 0, 7]


def test_a_missing_tool_schema_is_counted_as_json():
    tool = {"type": "function", "function": {"name": "read"}}
    meter = Meter(transcript(tools=(tool,)))
    assert meter.measure(request(user("Go."))).locked_missing > 0
    assert meter.measure(request(user("Go."), tools=(tool,))).locked_missing == 0


def test_a_system_message_in_the_middle_is_locked_too():
    meter = Meter(transcript())
    for message in (user("Go."), said("Yes."), {"role": "system", "content": "Stop at noon."}):
        meter.hear(message)
    assert meter.measure(request(user("Go."), said("Yes."))).locked_missing == len("Stop at noon.")


def test_kept_user_text_is_measured_in_tokens_and_repeated_texts_count_twice():
    meter = Meter(transcript())
    for message in (user(words(10)), said("Yes."), user(words(5)), said("Yes."), user(words(5))):
        meter.hear(message)
    sent = meter.measure(request(user(words(10)), user(words(5))))
    assert sent.user_text == Share(kept=15, whole=20)
    assert sent.first_request == Share(kept=10, whole=10)


def test_a_paste_counts_as_what_the_user_said():
    meter = Meter(transcript())
    for message in (user("hello"), said("Yes."), user(words(2_001))):
        meter.hear(message)
    assert meter.measure(request(user("hello"))).user_text == Share(kept=1, whole=2_002)


def test_the_newest_exchanges_that_stand_whole_are_counted_by_what_the_window_could_hold():
    meter = Meter(transcript(), window=100)
    talk = [user("first"), said("Yes.")]
    for turn in range(6):
        talk += [user(f"{turn} {words(5)}"), said(f"{words(5)} {turn}")]
    for message in (*talk, user("last")):
        meter.hear(message)
    whole = meter.measure(request(talk[0], *talk[-8:], user("last"))).continuity
    assert whole.kept == whole.whole > 0
    broken = meter.measure(request(talk[0], *talk[-8:-2], talk[-1], user("last"))).continuity
    assert (broken.kept, broken.whole) == (0, whole.whole)
    noted = request(talk[0], user("[gc: 9 tokens left out here]"), *talk[-2:], user("last"))
    assert 0 < meter.measure(noted).continuity.kept < whole.kept
    assert meter.measure(noted).notices.kept > 0


class Spoiler:
    """A plugin that changes what the session sends."""

    @hookimpl
    def gc_request_rendered(self, request):
        request.messages[0]["content"] = "Be quick."


def test_a_plugin_that_spoils_a_request_is_found_out():
    plugins = Plugins()
    plugins.register(Spoiler())
    report = replayed(user("Fix the test."), said("Yes."), said("Done."), plugins=plugins)
    assert report.summary().locked_bytes_missing == 2 * len("Fix the test.")


def test_a_request_that_the_provider_would_refuse_is_counted_with_its_call():
    calls = [
        CallMeasures(
            number=7, sent=Meter(transcript()).measure(request(result("c1", "x"))), without=Prompt(tokens=1, cached=0)
        )
    ]
    assert summary_of(calls, window=100).rule_breaches == 1
    assert "c1" in calls[0].sent.breaches[0]


def test_a_change_without_a_collection_is_a_drift():
    changed = Sent(prompt=Prompt(tokens=1, cached=0), whole=False)
    call = CallMeasures(number=2, sent=changed, without=Prompt(tokens=1, cached=0))
    assert summary_of([call, attrs.evolve(call, collected=True)], window=100).drifts == 1


# --- thinking -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "counted"), [("claude-opus-4-1", False), ("claude-opus-4-6", True)])
def test_thinking_of_earlier_turns_counts_where_the_provider_keeps_it(model, counted):
    thought = {"type": "thinking", "thinking": words(50), "signature": "c2VhbA=="}
    reply = {"role": "assistant", "content": [thought, {"type": "text", "text": "Yes."}]}
    bare = {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]}
    sizes = []
    for middle in (reply, bare):
        messages = (user("Go."), middle, user("On."))
        meter = Meter(transcript(format="anthropic"), model=model)
        for message in messages:
            meter.hear(message)
        sizes.append((meter.measure(request(*messages, format="anthropic")).prompt.tokens, meter.tokens_without))
    (thinking, thinking_without), (plain, plain_without) = sizes
    assert (thinking > plain, thinking_without > plain_without) == (counted, counted)


# --- whole replays --------------------------------------------------------------------------------------------------


def long_session(steps, tokens=200):
    """After 10 tokens of opening, each step has 228: 17 for the call, 211 for its result."""
    yield user("Read everything.")
    for step in range(steps):
        yield calling(f"c{step}")
        yield result(f"c{step}", words(tokens))
    yield said("Done.")


def test_every_assistant_message_is_one_call():
    report = replayed(*long_session(3))
    assert [call.number for call in report.calls] == [1, 2, 3, 4]
    assert report.fill == (10, 10 + 228, 10 + 2 * 228, 10 + 3 * 228)


def test_a_long_session_stays_in_its_window():
    report = replayed(*long_session(30), window=2_000, strategy="gc_truncate", check_repeat=True)
    summary = report.summary()
    assert max(report.fill) <= 2_000
    assert summary.collections == (ReasonCount(reason=GCTriggerReason.THRESHOLD, count=summary.collected),)
    assert (summary.calls_over, summary.rule_breaches, summary.locked_bytes_missing, summary.drifts) == (0, 0, 0, 0)
    assert 0 < summary.breaks <= summary.collected
    assert (summary.repeats, summary.repeats_not_empty) == (summary.collected, 0)
    assert summary.calls_over_without == sum(call.without.tokens > 2_000 for call in report.calls) > 10
    assert summary.tokens_sent < summary.tokens_without
    assert summary.user_text_kept == summary.first_request_kept == 100.0


def test_every_call_of_the_continuous_mode_ends_at_or_below_the_target():
    report = replayed(*long_session(30), window=2_000, strategy="gc_truncate", pressure_percent=0)
    reasons = {reason for call in report.calls for reason in call.collections}
    assert GCTriggerReason.CONTINUOUS in reasons
    assert max(report.fill) <= 2_000


def test_calls_in_which_a_collection_was_tried_are_timed_apart():
    summary = replayed(*long_session(30), window=2_000, strategy="gc_truncate").summary()
    assert summary.collecting.calls + summary.plain.calls == summary.calls == summary.ingest.calls == 31
    assert 0 < summary.collecting.calls < summary.plain.calls


def test_locked_content_larger_than_the_window_is_listed_apart_and_the_replay_goes_on():
    report = replayed(user("Go."), said("Yes."), user("On."), said("Done."), window=100, system=(words(120),))
    summary = report.summary()
    assert (summary.calls, summary.calls_over, summary.calls_over_locked) == (2, 0, 2)
    assert report.fill == (0, 0)
    assert report.overflows[0].only_locked
    assert report.overflows[0].owners[0].tokens == 120
    assert summary.cost is None


def test_what_does_not_fit_though_locked_content_would_is_a_call_over():
    report = replayed(*long_session(3), window=500, auto_trigger=False)
    summary = report.summary()
    assert (summary.calls_over, summary.calls_over_locked) == (1, 0)
    assert [overflow.call for overflow in report.overflows] == [4]
    assert not report.overflows[0].only_locked


def test_calls_that_were_not_sent_are_left_out_on_both_sides():
    report = replayed(*long_session(3), window=500, auto_trigger=False)
    sent = [call for call in report.calls if call.sent is not None]
    assert report.summary().tokens_without == sum(call.without.tokens for call in sent)
    assert report.summary().cost == 1.0


def test_progress_is_reported_after_every_call():
    reported = []
    replayed(*long_session(2), on_call=lambda done, calls: reported.append((done, calls)))
    assert reported == [(1, 3), (2, 3), (3, 3)]


def test_the_model_in_the_transcript_may_speak_first():
    report = replayed(said("Hello!"), user("Hi."), said("Bye."))
    assert report.summary().locked_bytes_missing == 0
    assert len(report.calls) == 2


def test_a_session_without_a_call_has_no_cost():
    summary = replayed(user("Go.")).summary()
    assert (summary.calls, summary.cost, summary.plain.calls) == (0, None, 0)


def test_an_unknown_strategy_is_reported_before_anything_runs():
    with pytest.raises(UnknownStrategyError, match="nope"):
        replayed(user("Go."), strategy="nope")


def test_messages_of_another_format_are_refused():
    with pytest.raises(MessageError):
        replay(transcript(result("c1", "x"), format="anthropic"), config=config(100))


# --- several sessions -----------------------------------------------------------------------------------------------


def test_pooled_figures_weigh_every_call_alike():
    one, two = replayed(*long_session(1)), replayed(*long_session(5))
    together = pooled([one, two])
    assert together.calls == 8
    assert together.tokens_sent == one.summary().tokens_sent + two.summary().tokens_sent


def test_times_are_medians_and_what_99_of_100_stay_within():
    calls = [
        CallMeasures(number=number, sent=None, without=Prompt(tokens=1, cached=0), seconds=number / 1000)
        for number in range(1, 201)
    ]
    timing = summary_of(calls, window=100).plain
    assert (timing.calls, timing.median_ms, timing.p99_ms) == (200, pytest.approx(100.5), pytest.approx(198.0))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["gc_rolling", "gc_progressive"])
def test_a_replay_is_the_same_in_every_process(strategy):
    """Sets have another order in every process; nothing that is sent may depend on it."""
    command = [sys.executable, "-c", "from ctxgc.__main__ import main; main()", "replay", "examples/session.jsonl"]
    reported = []
    for seed in ("1", "2"):
        done = subprocess.run(  # noqa: S603 - our own command
            [*command, "--window", "16000", "--strategy", strategy],
            cwd=Path(__file__).parents[1],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        reported.append(
            [line.split() for line in done.stdout.splitlines() if line.startswith(("tokens sent", "far fit"))]
        )
    assert reported[0] == reported[1]
    assert reported[0]
