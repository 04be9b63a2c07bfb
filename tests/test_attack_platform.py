"""What broke leases, handoffs, spend, scoring, profiles and telemetry when it was attacked, and must not again."""

import subprocess
import sys
import textwrap

import attrs
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from gc_core import CompressionProfile, ConfigError, GCConfig, GCSession, Plugins, Usage, hookimpl
from gc_core.collector.scoring import SCORING_SECONDS
from gc_core.errors import LogError, MessageError, SessionClosedError, SpendLimitError
from gc_core.integrations.telemetry import instrument
from gc_core.observer import UNWATCHED
from gc_core.testing import FakeSummarizer
from tests.support.checker import complaints
from tests.support.inside import collections_of, core_of, meter_of, store_of
from tests.support.say import call, lines, result, rounds, small, text_of, user

NOT_COUNTS = [("a", None), (float("nan"), 1), (-5_000, 1), (1.5, 2), (True, 2), (10**400, 1)]

PROCESS = textwrap.dedent("""
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from gc_core import GCSession
    from gc_core.integrations.telemetry import instrument

    early, late, reader = GCSession(), GCSession(), InMemoryMetricReader()
    instrument(early)
    metrics.set_meter_provider(MeterProvider(metric_readers=[reader], shutdown_on_exit=False))
    instrument(late)
    (exported,) = reader.get_metrics_data().resource_metrics
    metrics_of = [metric for scope in exported.scope_metrics for metric in scope.metrics]
    points = [point for metric in metrics_of for point in metric.data.data_points]
    print(len({point.attributes["gen_ai.conversation.id"] for point in points}))
""")


def offering(**hooks):
    """Plugins with one more, which has these hooks."""
    plugins = Plugins.discover()
    plugins.register(type("Offers", (), {name: hookimpl(call) for name, call in hooks.items()})(), name="offers")
    return plugins


# -- spend -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tokens", "output"), NOT_COUNTS)
def test_a_host_books_only_numbers_of_tokens_and_no_unreadable_line_is_written(tokens, output):
    with small() as session:
        before = store_of(session).ledger.size
        with pytest.raises(MessageError, match=r"usage\.input_tokens = .*expected a number of tokens"):
            session.book("workers", Usage(input_tokens=tokens, output_tokens=output))
        iteration = Usage(input_tokens=1, output_tokens=-1)
        with pytest.raises(MessageError, match=r"usage\.output_tokens = -1"):
            session.book("workers", Usage(input_tokens=1, iterations=(iteration,)))
        with pytest.raises(MessageError, match="kind = None"):
            session.book(None, Usage(input_tokens=1))
        assert store_of(session).ledger.size == before
        assert session.cache.total_tokens == 0


@pytest.mark.parametrize("counts", NOT_COUNTS)
def test_a_summarizer_that_reports_no_number_fails_by_itself_and_its_session_can_be_opened_again(tmp_path, counts):
    def rubbish(request):
        request.spent(*counts)
        return "never taken"

    config = GCConfig(strategy="gc_summarize", context_limit=8_000, output_reservation=0, max_total_tokens=10**6)
    with GCSession(config, summarizer=FakeSummarizer(rubbish), directory=tmp_path) as session:
        rounds(session, 25)
        assert session.last_result.summaries
        assert "expected a number of tokens" in str(session.plugins.failures[0])
        spent = meter_of(session).pace.spent
        assert spent > 0
    with GCSession.open(tmp_path, summarizer=FakeSummarizer(rubbish)) as session:
        assert meter_of(session).pace.spent == spent


@pytest.mark.parametrize("limit", [None, 10_000])
def test_a_report_that_no_provider_can_mean_is_refused_and_changes_nothing(limit):
    config = GCConfig(context_limit=20_000, output_reservation=0, max_total_tokens=limit)
    with GCSession(config) as session:
        session.append(user("Go."))
        session.pre_send()
        before = session.snapshot()
        with pytest.raises(MessageError, match=r"prompt_tokens: 1000.*expected a number of tokens"):
            session.post_turn(call(("c1", "read", {})), usage={"prompt_tokens": 10**400, "completion_tokens": 1})
        assert session.snapshot() == before
        session.post_turn(call(("c1", "read", {})), usage={"prompt_tokens": 5, "completion_tokens": 1})
        assert "spend:" in session.explain() or limit is None


def test_a_session_at_its_limit_hands_out_no_request_after_a_refusal_either():
    config = GCConfig(context_limit=20_000, output_reservation=0, max_total_tokens=100_000)
    with GCSession(config) as session:
        rounds(session, 10)
        session.pre_send()
        session.book("workers", Usage(input_tokens=100_000))
        refused = RuntimeError("This model's maximum context length is 2000 tokens. You requested 3500 tokens.")
        with pytest.raises(SpendLimitError):
            session.recover(refused)
        session.allow(max_total_tokens=None)
        assert session.recover(refused).tokens < 2_000


# -- leases ----------------------------------------------------------------------------------------------------------


def test_notes_that_wait_survive_a_log_that_cannot_be_written(monkeypatch):
    with small(20_000) as session:
        session.append(user("Do it."))
        session.pre_send()
        leases = [session.lease(300, name=name) for name in ("one", "two", "three")]
        session.post_turn(call(("c1", "read", {})))
        assert [lease.deliver(f"the {lease.name}") for lease in leases] == [(), (), ()]
        session.append(result("c1", "ok"))
        write, written = store_of(session).log.append, []

        def fails_at_the_second(records):
            written.append(records)
            if len(written) == 2:
                raise LogError("no space left")
            return write(records)

        monkeypatch.setattr(store_of(session).log, "append", fails_at_the_second)
        with pytest.raises(LogError, match="no space left"):
            session.pre_send()
        assert [lease.name for lease in session.leases] == ["two", "three"]
        sent = text_of(session.pre_send())
        assert [sent.count(f"the {name}") for name in ("one", "two", "three")] == [1, 1, 1]
        assert session.leases == ()


def test_notes_that_only_the_last_resort_makes_small_enough_break_no_rule():
    with small(3_000) as session:
        session.append(user("Do it."))
        session.pre_send()
        session.post_turn(call(("c1", "read", {})))
        session.append(result("c1", lines(300)))
        for place in range(6):
            session.lease(100, name=f"task {place}").deliver(f"{place} is done " + "word " * 60)
        session.switch(context_limit=400)
        request = session.pre_send()
        assert request.tokens <= 400
        assert "left out: i4 tool result]" in text_of(request)
        assert complaints("openai", request.kwargs()) == []


def test_a_closed_session_is_reported_in_words_that_its_users_know():
    session = small(20_000)
    session.append(user("Do it."))
    lease = session.lease(300, name="docs")
    session.close()
    with pytest.raises(SessionClosedError, match=r"^deliver\(\) on a closed session"):
        lease.deliver("late")


@pytest.mark.parametrize("wrong", [[["system"]], [{}], [None]])
def test_a_handoff_filter_with_an_invalid_name_is_refused(wrong):
    with small(20_000) as session:
        rounds(session, 2)
        with pytest.raises(ConfigError, match="filter: unknown source"):
            session.handoff(filter=wrong)
        assert session.leases == ()


# -- scorers ---------------------------------------------------------------------------------------------------------


class Slow:
    """A scorer that takes three seconds an item, by a clock of its own."""

    seconds = 0.0

    def score(self, item, window):  # noqa: ARG002 - the protocol
        Slow.seconds += 3
        return 1.0


def test_a_scorer_that_takes_too_long_is_reported_and_the_composite_scores_instead():
    plugins = offering(gc_register_scorers=lambda self, register: register("slow", Slow))  # noqa: ARG005 - a method
    with small(20_000, plugins=plugins) as plain, small(20_000, plugins=plugins, importance_scorer="slow") as session:
        collections_of(session).scoring = attrs.evolve(collections_of(session).scoring, clock=lambda: Slow.seconds)
        for each in (plain, session):
            rounds(each, 10)
        expected = [plain.view().importance(item) for item in plain.items()]
        view = session.view()
        assert [view.importance(item) for item in session.items()] == pytest.approx(expected)
        assert f"took more than {SCORING_SECONDS:g} seconds for 4 of {len(expected)} items" in str(plugins.failures[-1])


# -- profiles --------------------------------------------------------------------------------------------------------

CODE = "\n\n".join(f"def step_{place}(a):\n    return run(a, src/f{place}.py);" for place in range(60))


@pytest.mark.parametrize("listed", ["high_importance", "low_importance"])
def test_a_class_of_paragraphs_may_be_of_high_or_low_importance(listed):
    profile = CompressionProfile(name="mine", **{listed: ("code_snippet", "configuration_change")})
    plugins = offering(gc_register_profiles=lambda self, register: register(profile))  # noqa: ARG005 - a method
    with small(6_000, plugins=plugins, strategy="gc_budget", compression_profile="mine") as session:
        session.append(user("Do it."))
        for place in range(12):
            session.pre_send()
            session.post_turn(call((f"c{place}", "read", {"path": f"src/f{place}.py"})))
            session.append(result(f"c{place}", CODE.replace("src/", f"src{place}/")))
        session.pre_send()
        assert session.last_result.changed
        assert plugins.failures == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"high_importance": None},
        {"low_importance": 5},
        {"preserve_verbatim": [["file_path"]]},
        {"tool_output_trim": ["file_read"]},
        {"tool_output_trim": None},
        {"tool_output_trim": {"file_read": [1]}},
    ],
    ids=str,
)
def test_an_invalid_profile_is_refused_by_name(wrong):
    with pytest.raises(ConfigError, match=f"profile 'mine', {next(iter(wrong))}"):
        CompressionProfile(name="mine", **wrong)


# -- telemetry -------------------------------------------------------------------------------------------------------


def test_sessions_observed_before_and_after_the_process_sets_its_provider_are_both_reported():
    done = subprocess.run([sys.executable, "-c", PROCESS], capture_output=True, text=True, check=False)  # noqa: S603 - Python
    assert (done.stdout.strip(), done.stderr) == ("2", "")


def test_a_session_that_has_ended_is_not_read_any_more():
    session, reader = small(), InMemoryMetricReader()
    instrumentation = instrument(session, meter_provider=MeterProvider([reader], shutdown_on_exit=False))
    rounds(session, 2)
    assert instrumentation.reading().session == store_of(session).session
    core_of(session).observe(UNWATCHED)  # as in the moment between its end and the end of the watching
    session.close()
    assert instrumentation.reading() is None
    assert session.plugins.failures == []
