"""The experiments of ``benchmarks.adaptive``: they measure what a replay measures, and each does what it says."""

from pathlib import Path

import attrs
import pytest
from ctxgc.evaluation.call_measures import CACHE_READ, CACHE_WRITE
from ctxgc.evaluation.replay import replay
from ctxgc.evaluation.reuse import uses_of
from ctxgc.evaluation.transcripts import Transcript
from gc_progressive import Progressive
from gc_rolling import Rolling

from benchmarks.adaptive import IDEAS, RATES, ROLLING, Known, Rates, Variant, cost_at, main, run
from benchmarks.adaptive_ideas import (
    ROLLING_LADDER,
    Adaptive,
    Prefetch,
    Reuse,
    WeighedRolling,
    foreseen,
    newest_input,
    reuse_of,
    weighed,
    weights_of,
)
from benchmarks.adaptive_session import TriedSession, replayed
from gc_core import GCConfig, GCRemovalItem
from gc_core.session.recall_suggestions import RECALLED
from tests.support.inside import scheduler_of
from tests.support.say import answer, call, result, user

WINDOW = 2_500


def reading(number, *, last="Done."):
    """A session that reads so many files of some 300 tokens, each with a name of its own, and then says something."""
    messages = [user("Look at the files.")]
    for place in range(number):
        path = f"src/part_{place}.py"
        text = "\n".join(f"line {line} of widget_{place}_part calls helper_{place}_{line}()" for line in range(20))
        messages += [call((f"c{place}", "Read", {"path": path})), result(f"c{place}", text)]
    return session_of(*messages, answer(last))


def session_of(*messages):
    transcript = Transcript(path=Path("made.jsonl"), format="openai", system=("You look at files.",), messages=messages)
    return Known(transcript=transcript, uses=uses_of(transcript))


def measured(known, strategy, **more):
    return replayed(known.transcript, known.uses, window=WINDOW, strategy=strategy, **more)


@pytest.mark.parametrize("strategy", [Rolling(), Progressive()])
def test_a_session_in_which_nothing_is_tried_measures_as_its_replay(strategy):
    known = reading(20, last="helper_0_1 and widget_3_part are wrong.")
    config = GCConfig(context_limit=WINDOW, output_reservation=0)
    expected = replay(known.transcript, config=config, strategy=strategy, uses=known.uses).summary()
    found = measured(known, strategy).summary()
    assert expected.far_uses > 0
    assert (found.far_fit, found.cost, found.tokens_sent) == (expected.far_fit, expected.cost, expected.tokens_sent)


def test_settings_go_down_where_nothing_is_missed():
    hand = Adaptive(ladder=ROLLING_LADDER)
    measured(reading(45), ROLLING_LADDER[2], hand=hand)
    assert hand.levels == [2, 1, 0]


def test_settings_go_up_where_steps_miss_what_left():
    """From the thirtieth file on each step names something of the first ones, which the window lost long ago."""
    known = reading(70)
    messages = list(known.transcript.messages)
    for place in range(30, 70):
        spoken = messages[1 + 2 * place]
        messages[1 + 2 * place] = {**spoken, "content": f"As helper_{place - 30}_13 does."}
    hand = Adaptive(ladder=ROLLING_LADDER)
    measured(session_of(*messages), ROLLING_LADDER[2], hand=hand)
    assert hand.levels[-1] == len(ROLLING_LADDER) - 1


def test_what_is_foreseen_is_brought_back_before_the_call_that_uses_it():
    known = reading(20, last="helper_0_13 is wrong.")
    without = measured(known, Rolling()).summary()
    hand = Prefetch(wanted=foreseen(known.uses), direct=True)
    found = measured(known, Rolling(), hand=hand)
    assert without.far_fit == 0.0
    assert found.summary().far_fit == 100.0
    assert hand.calls == 1


def test_what_the_newest_input_names_is_brought_back_with_its_lost_lines():
    known = session_of(*reading(20).transcript.messages, user("What of widget_0_part?"), answer("helper_0_13 is."))
    hand = Prefetch(wanted=newest_input)
    found = measured(known, Rolling(), hand=hand)
    assert hand.calls == 1
    assert found.calls[-1].tokens <= WINDOW
    assert found.summary().far_fit == 100.0


@attrs.define(eq=False)
class Noted(Prefetch):
    """A prefetch that notes how large what it brought back is."""

    tokens: int = 0

    def after(self, session):
        super().after(session)
        self.tokens = sum(item.tokens for item in session.items() if item.name == RECALLED)


@pytest.mark.parametrize("cap", [100, 400])
def test_a_prefetch_stays_within_its_cap(cap):
    known = session_of(*reading(20).transcript.messages, user("What of widget_0_part?"), answer("Nothing."))
    hand = Noted(wanted=newest_input, cap=cap)
    measured(known, Rolling(), hand=hand)
    assert cap / 2 < hand.tokens < cap + 60  # the frame of enrichment, and the line that names the item


def test_priors_distinguish_tools_by_reuse():
    used = Reuse(kind="Read", names=30, chars=30_000)
    idle = Reuse(kind="Bash", names=0, chars=30_000)
    rare = Reuse(kind="Grep", names=9, chars=9)
    assert weights_of([used, idle, rare]) == {"Read": 1.5, "Bash": 0.5}
    assert weights_of([]) == {}


def test_reuse_is_that_of_the_result_that_carried_the_name():
    known = reading(20, last="helper_0_13 is wrong.")
    found = reuse_of(known.transcript, known.uses)
    assert [one.names for one in found] == [1, *[0] * 19]
    assert {one.kind for one in found} == {"Read .py"}


def test_a_stub_keeps_a_share_by_its_tool():
    seen = []

    @attrs.frozen(kw_only=True)
    class Watched(WeighedRolling):
        def collect(self, context, goal):
            for removal in super().collect(context, goal):
                seen.append(removal)
                yield removal

    heavy = Watched(weights={"Read": 0.5})
    measured(reading(12), heavy)
    stubs = [removal.action.keep for removal in seen if hasattr(removal.action, "keep")]
    assert stubs
    assert max(stubs) <= 0.45


def test_a_removal_that_is_not_a_stub_stays_as_proposed():
    class Empty:
        units = ()

    removal = GCRemovalItem.drop(reason="old")
    assert list(weighed([removal], Empty(), {"Read": 0.5})) == [removal]


def test_cost_at_the_replays_own_rates_is_its_cost():
    report = measured(reading(20), Rolling())
    assert cost_at(Rates(name="own", read=CACHE_READ, write=CACHE_WRITE), [report]) == report.summary().cost
    assert cost_at(RATES[0], []) is None


def test_a_session_uses_the_prices_it_is_given():
    with TriedSession(GCConfig(context_limit=WINDOW, output_reservation=0), strategy=Rolling()) as session:
        assert scheduler_of(session).economics != RATES[3].economics
        session.economics = RATES[3].economics
        assert scheduler_of(session).economics == RATES[3].economics


def test_every_idea_is_compared_with_the_strategies_at_their_defaults():
    for variants in IDEAS.values():
        names = [variant.name for variant in variants]
        assert {"`gc_rolling`", "`gc_progressive`"} <= set(names)
        assert len(names) == len(set(names))


def test_a_variant_is_run_over_any_session():
    assert isinstance(ROLLING, Variant)
    assert run(ROLLING, reading(3), WINDOW).summary().calls == 4


def test_an_unknown_idea_is_refused_with_those_that_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["telepathy"])
    assert "expected some of adaptive, prefetch, priors, packing" in capsys.readouterr().err


def test_without_recorded_sessions_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GC_CORPUS", str(tmp_path / "none"))
    main([])
    assert "set GC_CORPUS" in capsys.readouterr().out
