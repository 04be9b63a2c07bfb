"""What strategies are compared with, and the comparison itself."""

import json
from pathlib import Path

import pytest
from ctxgc.cli.app import app
from ctxgc.evaluation.baselines import (
    BASELINES,
    MASK,
    BaselineSession,
    KeepLast,
    MaskThenDrop,
    NoCollection,
    Oracle,
    RandomUnits,
)
from ctxgc.evaluation.call_measures import Share
from ctxgc.evaluation.comparison import Spread, compare, spread
from ctxgc.evaluation.jobs import BASELINES_BY_NAME
from ctxgc.evaluation.replay import replay_baseline
from ctxgc.evaluation.reuse import uses_of
from ctxgc.evaluation.transcripts import Transcript, read_transcript
from typer.testing import CliRunner

from gc_core import GCConfig
from tests.support.corpus import corpus_dir, require_corpus

EXAMPLE = Path(__file__).parents[1] / "examples" / "session.jsonl"
COLLECTING = [baseline for baseline in BASELINES if baseline.name != "no collection"]


def call(step):
    function = {"name": "read", "arguments": "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"c{step}", "type": "function", "function": function}],
    }


def answer(step, text):
    return {"role": "tool", "tool_call_id": f"c{step}", "content": text}


def session(steps, tokens=100, special=None):
    """A step costs 100 tokens for its result and a few for its call; a special one shows two names."""
    messages = [{"role": "user", "content": "Begin."}]
    for step in range(steps):
        text = "hello" + " hello" * (tokens - 1)
        messages += [call(step), answer(step, f"{text} key_4711" if step == special else text)]
    messages.append({"role": "assistant", "content": "It was key_4711."})
    return Transcript(path=Path("made.jsonl"), format="openai", messages=tuple(messages))


def last_request(baseline, made, window=2_000):
    config = GCConfig(context_limit=window, output_reservation=0)
    kept = BaselineSession(baseline, config=config, format="openai", model=None, uses=uses_of(made))
    request = None
    for message in made.messages:
        if message["role"] == "assistant":
            request = kept.pre_send()
            kept.post_turn(message)
        else:
            kept.append(message)
    return request.messages


def results(messages):
    return [message["tool_call_id"] for message in messages if message["role"] == "tool"]


# --- what each keeps ------------------------------------------------------------------------------------------------


def test_keep_last_keeps_the_first_request_and_an_unbroken_end():
    kept = last_request(KeepLast(), session(30))
    numbers = [int(name[1:]) for name in results(kept)]
    assert kept[0] == {"role": "user", "content": "Begin."}
    assert numbers == list(range(numbers[0], 30))
    assert numbers[0] > 5


def test_mask_then_drop_masks_the_oldest_results_first():
    kept = last_request(MaskThenDrop(), session(16))
    masked = [message["content"] == MASK for message in kept if message["role"] == "tool"]
    assert len(masked) == 16
    assert masked == sorted(masked, reverse=True)
    assert 0 < sum(masked) < 16


def test_mask_then_drop_drops_what_masks_do_not_suffice_for():
    kept = last_request(MaskThenDrop(), session(120), window=1_000)
    assert len(results(kept)) < 100
    assert results(kept)[-1] == "c119"


def test_random_units_are_the_same_in_every_run_and_others_with_another_seed():
    one, again, other = (last_request(RandomUnits(seed=seed), session(40)) for seed in (1, 1, 2))
    assert results(one) == results(again) != results(other)


def test_no_collection_keeps_everything():
    assert len(results(last_request(NoCollection(), session(40)))) == 40


def test_the_oracle_keeps_what_will_be_used_where_the_newest_units_do_not():
    made = session(30, special=2)
    assert "c2" in results(last_request(Oracle(), made))
    assert "c2" not in results(last_request(KeepLast(), made))


# --- promises -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("baseline", COLLECTING, ids=lambda baseline: baseline.name)
@pytest.mark.parametrize("window", [16_000, 32_000])
def test_baselines_fit_the_window_with_valid_requests_and_what_is_locked(baseline, window):
    config = GCConfig(context_limit=window)
    summary = replay_baseline(read_transcript(EXAMPLE), config=config, baseline=baseline).summary()
    assert (summary.calls_over, summary.rule_breaches, summary.locked_bytes_missing) == (0, 0, 0)
    assert summary.first_request_kept == 100.0
    assert summary.breaks > 0


def test_a_full_window_goes_down_to_the_target():
    levels = {"threshold_percent": 80.0, "target_percent": 60.0}
    report = replay_baseline(
        session(30), config=GCConfig(context_limit=2_000, output_reservation=0, **levels), baseline=KeepLast()
    )
    assert max(report.fill) < 1_600
    drops = [after for before, after in zip(report.fill, report.fill[1:], strict=False) if after < before]
    assert drops
    assert all(1_000 < after <= 1_200 for after in drops)


def test_no_collection_costs_what_it_costs():
    summary = replay_baseline(
        session(30), config=GCConfig(context_limit=2_000, output_reservation=0), baseline=NoCollection()
    ).summary()
    assert (summary.cost, summary.breaks) == (1.0, 0)
    assert summary.calls_over == summary.calls_over_without > 10
    assert summary.far_fit == 0.0 if summary.far_uses else summary.far_fit is None


@pytest.mark.parametrize("baseline", COLLECTING, ids=lambda baseline: baseline.name)
def test_baselines_keep_a_recorded_session_in_its_window(baseline):
    require_corpus()
    made = read_transcript(corpus_dir() / "concat-tau2-retail.jsonl")
    summary = replay_baseline(made, config=GCConfig(context_limit=32_000), baseline=baseline).summary()
    assert (summary.calls_over, summary.rule_breaches, summary.locked_bytes_missing) == (0, 0, 0)
    assert summary.near == 100.0


# --- how far chance could move it -----------------------------------------------------------------------------------


def test_a_spread_pools_averages_and_draws_again():
    found = spread([Share(kept=1, whole=1), Share(kept=1, whole=3), Share()])
    assert (found.pooled, found.mean, found.cases) == (50.0, pytest.approx((100 + 100 / 3) / 2), 4)
    assert found.low == pytest.approx(100 / 3)
    assert found.high == 100.0


def test_a_spread_is_the_same_for_the_same_shares():
    shares = [Share(kept=number, whole=10) for number in range(10)]
    assert spread(shares) == spread(shares)
    assert spread(shares) != spread(shares, seed=1)
    assert spread(shares).low < spread(shares).pooled < spread(shares).high


def test_one_session_has_no_spread_and_nothing_used_has_none_at_all():
    assert spread([Share(kept=1, whole=4)]) == Spread(pooled=25.0, mean=25.0, low=25.0, high=25.0, cases=4)
    assert spread([Share()]) is spread([]) is None


# --- the comparison -------------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "made.jsonl"
    path.write_text("".join(json.dumps(message) + "\n" for message in session(40, special=1).messages))
    return path


def test_all_systems_are_measured_at_every_window(small):
    done = []
    comparison = compare(
        [small],
        config=GCConfig(),
        strategies=["gc_truncate"],
        windows=[2_000, 3_000],
        on_done=lambda now, all_: done.append((now, all_)),
    )
    for table, window in zip(comparison.tables, (2_000, 3_000), strict=True):
        assert (table.window, table.sessions) == (window, ("made.jsonl",))
        assert {row.system for row in table.rows} == {"gc_truncate", *BASELINES_BY_NAME}
        assert [row.baseline for row in table.rows] == [False] + [True] * 7
    assert done[-1] == (16, 16)


def test_only_sized_sessions_are_compared_when_asked(small):
    sizes = {2_000: 1, 900: 0, 5_000: 0}
    comparison = compare([small], config=GCConfig(), strategies=["none"], windows=list(sizes), sized=True)
    assert {table.window: len(table.sessions) for table in comparison.tables} == sizes


def test_a_file_that_cannot_be_read_is_named_and_the_others_go_on(small, tmp_path):
    comparison = compare([tmp_path / "no.jsonl", small], config=GCConfig(), strategies=["none"], windows=[2_000])
    assert len(comparison.failures) == 1
    assert "no.jsonl" in comparison.failures[0]
    assert comparison.tables[0].sessions == ("made.jsonl",)


def run(*arguments):
    return CliRunner().invoke(app, ["compare", *(str(argument) for argument in arguments)])


def test_markdown_has_a_table_a_window_and_one_by_session(small):
    shown = run(small, "--window", "2000", "--workers", 1, "--markdown").stdout
    assert shown.startswith("Made 20")
    assert "### Window 2,000 (1 session, 41 calls" in shown
    assert "| gc_truncate |" in shown
    assert "| *oracle (greedy)* |" in shown
    assert "| made.jsonl |" in shown


def test_tables_are_shown_by_default_one_a_window_after_their_mean(small):
    shown = run(small, "--window", "2000,3000", "--workers", 1)
    assert shown.exit_code == 0
    titles = [line.strip() for line in shown.stdout.splitlines() if line.startswith(("Mean of", "Window "))]
    assert [title.partition(" (")[0] for title in titles] == ["Mean of 2 windows", "Window 2,000", "Window 3,000"]
    assert shown.stdout.count("far fit %") == 3


def test_one_window_has_no_mean(small):
    shown = run(small, "--window", "2000", "--workers", 1).stdout
    assert "Mean of" not in shown
    assert shown.count("far fit %") == 1


@pytest.mark.parametrize(("option", "value"), [("--window", "many"), ("--window", "0"), ("--strategy", "nope")])
def test_a_wrong_option_is_explained_before_anything_runs(small, option, value):
    done = run(small, option, value)
    assert done.exit_code == 2
    assert value in done.stderr
    assert done.stdout == ""
