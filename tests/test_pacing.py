"""A session keeps to max_total_tokens: it slows down, tells the agent, and ends; opened again it goes on counting."""

import itertools
import json

import attrs
import pytest
from ctxgc.evaluation.replay import replay
from ctxgc.evaluation.transcripts import read_transcript
from hypothesis import given, settings
from hypothesis import strategies as st

from gc_core import ConfigError, GCConfig, GCSession, Plugins, Usage, hookimpl
from gc_core.cache.economics import economics_of
from gc_core.collector.scheduler import Moment, Scheduler
from gc_core.collector.spend_pacing import LEAST_CALLS, LEAST_SHARE, Pace
from gc_core.errors import InconsistentReplyError, SpendLimitError
from gc_core.events import SpendNotice
from gc_core.providers.calibration import Calibration
from gc_core.storage.ledger import Entry
from gc_core.storage.usage_ledger import REFUSED, UNREPORTED
from gc_core.values.results import GCTriggerReason, Inconsistency
from tests.support.corpus import corpus_dir, require_corpus
from tests.support.inside import core_of, meter_of, scheduler_of
from tests.support.messages import openai_sessions_strategy
from tests.support.say import answer, call, lines, result, user
from tests.test_promises import QUICK, SAMPLE

WINDOW = 16_000
TOKENS = st.integers(0, 10**7)
LIMITS = st.integers(1, 10**7)


def paces(allowed=LIMITS):
    return st.builds(
        Pace, allowed=allowed, spent=TOKENS, calls=st.integers(0, 10**4), output_tokens=st.integers(0, 10**5)
    )


# -- the pace --------------------------------------------------------------------------------------------------------


@given(pace=paces(), more=TOKENS, calls=st.integers(0, 100), target=st.integers(1, 10**6))
def test_the_share_of_the_target_never_rises_by_spending(pace, more, calls, target):
    later = attrs.evolve(pace, spent=pace.spent + more, calls=pace.calls + calls, output_tokens=0)
    before = attrs.evolve(pace, output_tokens=0)
    assert LEAST_SHARE <= later.share(target) <= before.share(target) <= 1


@given(pace=paces(st.none()), target=st.integers(0, 10**6))
def test_without_a_limit_nothing_is_paced_announced_or_ended(pace, target):
    assert (pace.share(target), pace.ends_soon, pace.is_over, pace.words()) == (1, False, False, "")


@given(pace=paces(), target=st.integers(1, 10**6))
def test_calls_at_the_affordable_target_are_paid_by_what_is_left(pace, target):
    share = pace.share(target)
    reply = pace.output_tokens / pace.calls if pace.calls else 0
    if LEAST_SHARE < share < 1:
        assert pace.spent + pace.expected_calls * (share * target + reply) == pytest.approx(pace.allowed)
    assert pace.expected_calls == max(LEAST_CALLS, pace.calls)


def scheduler(pace=None, **more):
    """One whose window grows so fast that a collection begins at the threshold, at the latest moment."""
    levels = {"threshold_percent": 80.0, "pressure_percent": 90.0, **more}
    config = GCConfig(context_limit=100_000, output_reservation=0, **levels)
    return Scheduler(config=config, economics=economics_of(None), pace=pace or Pace(), growth=1e9)


@given(pace=paces())
def test_threshold_and_target_come_down_in_proportion(pace):
    plain, paced = scheduler(), scheduler(pace)
    assert paced.target_percent / plain.target_percent == pytest.approx(
        paced.threshold_percent / plain.threshold_percent
    )
    assert 15 <= paced.target_percent <= 60


@pytest.mark.parametrize("pressure", [90, 0])
def test_a_window_that_is_too_expensive_is_collected_below_its_threshold(pressure):
    moment = Moment(tokens=55_000, calibration=Calibration(exact=True), calls=20)
    pace = Pace(allowed=2_000_000, spent=1_000_000, calls=25)
    assert scheduler(pressure_percent=pressure).before_send(moment) is None
    assert scheduler(pace, pressure_percent=pressure).after_turn(moment, crossed=False).target_tokens == 40_000


# -- real sessions ---------------------------------------------------------------------------------------------------


@attrs.define
class Run:
    """What a session showed that was played until its limit, or to its end."""

    totals: list = attrs.Factory(list)
    targets: list = attrs.Factory(list)
    largest: int = 0
    error: SpendLimitError | None = None
    notices: list = attrs.Factory(list)
    warned: list = attrs.Factory(list)


def config(limit, **more):
    return GCConfig(
        strategy="gc_budget",
        context_limit=WINDOW,
        output_reservation=0,
        max_total_tokens=limit,
        reread_guard="off",
        **more,
    )


def usage(request, reply, place, every):
    """A made report: what was counted, and a tenth more; None for calls without a report."""
    if not every or place % every:
        return None
    tokens = request.tokens * 11 // 10
    cached = {"cached_tokens": tokens // 2}
    return {"prompt_tokens": tokens, "completion_tokens": len(str(reply)) // 4, "prompt_tokens_details": cached}


def play(messages, limit, *, directory=None, every=1, reopen=0):
    """Play a session's messages as an agent's loop would; opened again after each ``reopen`` calls."""
    run = Run()

    def notice(event):
        if isinstance(event, SpendNotice):
            run.notices.append(event)

    session = GCSession(config(limit), directory=directory, on_event=notice)
    calls = 0
    try:
        for message in messages:
            if message["role"] != "assistant":
                session.append(message)
                continue
            try:
                request = session.pre_send()
            except SpendLimitError as error:
                run.error = error
                break
            calls += 1
            if any("gc: spend limit" in str(each) for each in request.messages[-3:]):
                run.warned.append(calls)
            before = session.cache.total_tokens
            session.post_turn(message, usage=usage(request, message, calls, every))
            run.totals.append(session.cache.total_tokens)
            run.largest = max(run.largest, run.totals[-1] - before)
            run.targets.append(scheduler_of(session).target_percent)
            if reopen and calls % reopen == 0:
                before = meter_of(session).pace
                session.close()
                session = GCSession.open(directory, on_event=notice)
                assert meter_of(session).pace == before
    finally:
        session.close()
    return run


def recorded(name):
    require_corpus()
    return list(read_transcript(corpus_dir() / name).messages)


@pytest.mark.parametrize(("name", "every"), [(SAMPLE[0], 1), (SAMPLE[1], 3), (SAMPLE[2], 1), (SAMPLE[2], 0)], ids=str)
def test_a_real_session_slows_down_and_ends_within_a_call_of_its_limit(name, every):
    messages = recorded(name)
    whole = play(messages, 10**9, every=every)
    assert set(whole.targets) == {60.0}
    limit = whole.totals[-1] // 2
    run = play(messages, limit, every=every)
    assert all(before < limit for before in run.totals[:-1])
    assert run.totals[-1] <= limit + run.largest
    assert run.targets == sorted(run.targets, reverse=True)
    assert run.targets[-1] < 60
    unpaced = sum(total < limit for total in whole.totals)
    assert len(run.totals) > unpaced
    if run.error is not None:
        assert (run.error.spent, run.error.allowed) == (run.totals[-1], limit)
    reached = [total >= 0.9 * limit for total in run.totals[:-1]]
    assert len(run.notices) == any(reached)
    if run.notices:
        assert run.warned[0] == reached.index(True) + 2


def test_a_session_that_is_opened_again_is_paced_as_if_it_had_not_been(tmp_path):
    messages = recorded(SAMPLE[0])
    limit = play(messages, 10**9).totals[-1] // 2
    once = play(messages, limit)
    again = play(messages, limit, directory=tmp_path / "again", reopen=7)
    assert again.targets == sorted(again.targets, reverse=True)
    assert again.totals[-1] <= limit + again.largest
    assert [len(once.notices), once.error is None] == [len(again.notices), again.error is None]


@settings(max_examples=6, deadline=None, phases=QUICK)
@given(messages=openai_sessions_strategy(max_turns=5, max_steps=4, pending=False), limit=st.integers(50, 5_000))
def test_a_made_session_never_spends_more_than_its_limit_and_one_call(messages, limit):
    run = play(messages, limit, every=2)
    assert all(total < limit for total in run.totals[:-1])
    assert run.targets == sorted(run.targets, reverse=True)
    assert len(run.notices) <= 1


# -- what counts -----------------------------------------------------------------------------------------------------


def spent(session):
    session.explain()
    return meter_of(session).pace.spent


def step(session, place, report=None, size=20):
    request = session.pre_send()
    session.post_turn(call((f"c{place}", "read", {"path": f"f{place}.py"})), usage=report)
    session.append(result(f"c{place}", lines(size, f"row{place}")))
    return request


def begun(limit=100_000, **more):
    session = GCSession(config(limit), **more)
    session.append(user("Look at all of it."))
    return session


def test_cache_reads_and_calls_outside_the_conversation_count():
    with begun() as session:
        cached = {"prompt_tokens": 1_000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 900}}
        step(session, 0, cached)
        session.book("workers", Usage(input_tokens=500, output_tokens=50))
        assert spent(session) == 1_560


def test_a_call_without_a_report_counts_by_the_sessions_own_estimate_and_is_marked():
    with begun() as session:
        request = step(session, 0)
        (apart,) = session.cache.apart
        assert (apart.kind, apart.spend.estimated, apart.spend.calls) == (UNREPORTED, True, 1)
        assert apart.spend.input_tokens == request.tokens
        assert apart.spend.output_tokens > 0
        assert meter_of(session).pace.calls == 1


def test_without_a_limit_nothing_is_booked_and_nothing_is_read():
    with begun(None) as session:
        step(session, 0)
        assert session.cache.apart == ()
        assert "spend:" not in session.explain()


class Strict:
    @hookimpl
    def gc_validate_reply(self, reply, context):  # noqa: ARG002 - the hook's
        return Inconsistency(reason="never so") if reply.get("content") == "wrong" else None


@pytest.mark.parametrize("report", [None, {"prompt_tokens": 700, "completion_tokens": 7}])
def test_a_reply_that_is_not_taken_is_paid_all_the_same(tmp_path, report):
    plugins = Plugins.discover()
    plugins.register(Strict())
    with begun(directory=tmp_path / "s", plugins=plugins) as session:
        step(session, 0)
        session.checkpoint()
        before = spent(session)
        session.pre_send()
        with pytest.raises(InconsistentReplyError):
            session.post_turn(answer("wrong"), usage=report)
        assert spent(session) >= before + (707 if report else 50)
        assert REFUSED in {each.kind for each in session.cache.apart}


def test_what_a_rollback_takes_back_stays_spent(tmp_path):
    with begun(directory=tmp_path / "s") as session:
        session.checkpoint()
        step(session, 0)
        before = spent(session)
        session.rollback()
        assert spent(session) == before > 0


# -- the notice and the end ------------------------------------------------------------------------------------------


def report(tokens):
    return {"prompt_tokens": tokens, "completion_tokens": 0}


def test_the_agent_is_warned_once_at_the_end_of_the_request():
    events = []
    with begun(10_000, on_event=events.append) as session:
        step(session, 0, report(9_000))
        request = session.pre_send()
        assert "Bring the work to an end now" in str(request.messages[-1])
        session.post_turn(answer("I finish."), usage=report(100))
        session.append(user("Go on."))
        assert "Bring the work" not in str(session.pre_send().messages[-1])
    assert [event for event in events if isinstance(event, SpendNotice)] == [SpendNotice(spent=9_000, allowed=10_000)]


def test_at_the_limit_nothing_is_sent_and_nothing_changes_until_it_is_raised(tmp_path):
    with begun(10_000, directory=tmp_path / "s") as session:
        step(session, 0, report(10_000))
        files = [tmp_path / "s" / name for name in ("master.jsonl", "ledger.jsonl")]
        before = session.snapshot(), [path.read_bytes() for path in files]
        for _ in range(2):
            with pytest.raises(SpendLimitError, match=r"10,000 tokens.*max_total_tokens = 10,000.*allow\(") as error:
                session.pre_send()
        assert (error.value.spent, error.value.allowed) == (10_000, 10_000)
        assert (session.snapshot(), [path.read_bytes() for path in files]) == before
        session.allow(max_total_tokens=50_000)
        step(session, 1, report(1_000))
        assert "spend: 11,000 of 50,000 tokens (22.0 %); 10 more calls are expected" in session.explain()


@pytest.mark.parametrize("limit", [50_000, None])
def test_a_raised_limit_stays_in_force_when_the_session_is_opened_again(tmp_path, limit):
    with begun(10_000, directory=tmp_path / "s") as session:
        step(session, 0, report(10_000))
        session.allow(max_total_tokens=limit)
    with GCSession.open(tmp_path / "s") as session:
        assert session.config.max_total_tokens == limit
        session.pre_send()
        session.checkpoint()
        session.rollback()
        assert session.config.max_total_tokens == limit
    with GCSession.open(tmp_path / "s", config(10_000)) as session, pytest.raises(SpendLimitError):
        session.pre_send()


def test_a_raised_limit_is_announced_when_it_ends_too():
    events = []
    with begun(10_000, on_event=events.append) as session:
        step(session, 0, report(9_500))
        step(session, 1, report(100))
        session.allow(max_total_tokens=20_000)
        step(session, 2, report(9_000))
        session.pre_send()
    assert [event.allowed for event in events if isinstance(event, SpendNotice)] == [10_000, 20_000]


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "many"])
def test_an_invalid_limit_is_refused_and_nothing_changes(value):
    with begun(10_000) as session:
        with pytest.raises(ConfigError, match=f"max_total_tokens = {value!r}: expected"):
            session.allow(max_total_tokens=value)
        assert session.config.max_total_tokens == 10_000


def test_a_change_of_the_window_that_an_older_version_wrote_says_nothing_of_the_limit(tmp_path):
    with begun(10_000, directory=tmp_path / "s") as session:
        session.switch(context_limit=20_000)
    path = tmp_path / "s" / "ledger.jsonl"
    saved = [json.loads(line) for line in path.read_text().splitlines()]
    (configured,) = [line for line in saved if line["kind"] == "configured"]
    assert configured.pop("max_total_tokens") == 10_000
    for line in saved:
        if "config" in line:
            line["config"]["checkpoint_steps"] = line["config"].pop("checkpoint_every_n_steps")
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in saved))
    Entry.read(path.read_bytes().splitlines()[-1])
    with GCSession.open(tmp_path / "s") as session:
        assert (session.config.max_total_tokens, session.config.context_limit) == (10_000, 20_000)


def test_a_replay_repeats_the_whole_session_whatever_it_may_spend():
    require_corpus()
    transcript = read_transcript(corpus_dir() / SAMPLE[2])
    assert len(replay(transcript, config=config(1)).calls) > 2


# -- token_budget ----------------------------------------------------------------------------------------------------


def test_a_collection_begins_at_the_token_budget_and_the_target_moves_with_it():
    moment = Moment(tokens=40_000, calibration=Calibration(exact=True))
    goal = scheduler(token_budget=40_000).before_send(moment)
    assert (goal.reason, goal.target_tokens) == (GCTriggerReason.THRESHOLD, 30_000)
    assert scheduler(token_budget=40_001).before_send(moment) is None
    assert scheduler(token_budget=95_000).target_percent == 60


def test_a_session_stays_at_its_token_budget():
    with GCSession(config(None, token_budget=5_000)) as session:
        session.append(user("Look at all of it."))
        sizes = [step(session, place, size=60).tokens for place in range(40)]
    assert max(sizes) < 6_000
    assert sum(later < before for before, later in itertools.pairwise(sizes)) > 2


def test_a_token_budget_that_no_request_may_have_is_refused():
    with pytest.raises(ConfigError, match="token_budget = 5000: expected at most 4000, what a request may have"):
        GCConfig(context_limit=5_000, output_reservation=1_000, token_budget=5_000)
    with GCSession(config(None, token_budget=5_000)) as session, pytest.raises(ConfigError, match="token_budget"):
        session.switch(context_limit=4_000)


def test_a_window_that_the_provider_says_is_smaller_cuts_the_token_budget_for_as_long_as_it_holds():
    with GCSession(config(None, token_budget=5_000)) as session:
        core_of(session).allow_window(4_000)
        assert session.config.token_budget == 4_000
        session.switch(context_limit=WINDOW)
        assert session.config.token_budget == 5_000
