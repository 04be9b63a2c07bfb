"""Telemetry, with the real OpenTelemetry SDK: spans, metrics, ids in ledger and log, and nothing unless requested."""

import asyncio
import json
import logging
import subprocess
import sys
import textwrap

import pytest
from ctxgc.evaluation.transcripts import read_transcript
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gc_core import AsyncGCSession, ConfigError, GCConfig, GCSession, Inconsistency, Plugins, hookimpl
from gc_core.errors import InconsistentReplyError, MessageError, SessionClosedError
from gc_core.events import CollectionFinished
from gc_core.integrations.telemetry import instrument
from gc_core.storage.ledger import Entry
from gc_core.testing import AsyncFakeSummarizer, FakeSummarizer
from gc_core.values.loggers import CURRENT, logger
from tests.support.corpus import corpus_dir, require_corpus
from tests.support.inside import store_of
from tests.support.say import answer, rounds, small, user

SECRET = "hunter2-correct-horse"  # noqa: S105 - no secret of anybody's
SESSION = "entire--1c341e47-b281-4cb7-82da-3ad6d3013b7f.jsonl"

WITHOUT = textwrap.dedent("""
    import sys

    sys.modules["opentelemetry"] = None
    from gc_core import ConfigError, GCConfig, GCSession

    with GCSession(GCConfig(strategy="gc_truncate", context_limit=2_000, output_reservation=0)) as session:
        for _ in range(30):
            session.append({"role": "user", "content": "word " * 100})
            session.pre_send()
            session.post_turn({"role": "assistant", "content": "word " * 20})
        assert session.last_result.changed
    assert not [name for name in sys.modules if name.startswith("opentelemetry.")]
    try:
        import gc_core.integrations.telemetry
    except ConfigError as error:
        print(error)
""")


class Exporters:
    """Providers of the SDK that keep their exports."""

    def __init__(self):
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.meters = MeterProvider(metric_readers=[self.reader], shutdown_on_exit=False)

    def instrument(self, session):
        return instrument(session, meter_provider=self.meters, tracer_provider=self.tracers)

    def spans(self, *names):
        return [span for span in self.exporter.get_finished_spans() if not names or span.name in names]

    def points(self, name):
        """The measurements of an instrument, each with its attributes."""
        data = self.reader.get_metrics_data()
        scopes = [] if data is None else [scope for each in data.resource_metrics for scope in each.scope_metrics]
        metrics = [metric for scope in scopes for metric in scope.metrics if metric.name == name]
        return [point for metric in metrics for point in metric.data.data_points]

    def sums(self, name, *keys):
        """Values (of histograms the sums), by some attributes."""
        found = {}
        for point in self.points(name):
            key = tuple(point.attributes.get(each, "") for each in keys)
            found[key] = found.get(key, 0) + (point.sum if hasattr(point, "sum") else point.value)
        return found


@pytest.fixture
def exporters():
    return Exporters()


def pair(span):
    ids = span.get_span_context()
    return f"{trace.format_trace_id(ids.trace_id)}-{trace.format_span_id(ids.span_id)}"


def entries(session):
    """The ledger's entries since the session was made."""
    return [entry for _, entry in store_of(session).ledger.entries()][1:]


def usage(tokens, cached=0):
    details = {"cached_tokens": cached}
    return {"prompt_tokens": tokens, "completion_tokens": 20, "prompt_tokens_details": details}


def replay(session, messages):
    """As an agent's loop: every assistant message is the reply to a request, and every tenth call is reported."""
    results, calls = [], 0
    session.listen(lambda event: results.append(event.result) if isinstance(event, CollectionFinished) else None)
    for message in messages:
        if message["role"] != "assistant":
            session.append(message)
            continue
        request, calls = session.pre_send(), calls + 1
        session.post_turn(message, usage(request.tokens, request.tokens // 2) if calls % 10 == 0 else None)
    return results, calls


@pytest.fixture(scope="module")
def replayed():
    """A recorded session, replayed; with what was heard of it."""
    require_corpus()
    exporters, transcript = Exporters(), read_transcript(corpus_dir() / SESSION)
    config = GCConfig(strategy="gc_hybrid", context_limit=16_000, output_reservation=0, summarizer="extractive")
    session = GCSession(config, format=transcript.format, model="gpt-4o")
    exporters.instrument(session)
    results, calls = replay(session, transcript.messages)
    assert results
    assert session.plugins.failures == []
    yield session, exporters, results, calls
    session.close()


# -- a recorded session ------------------------------------------------------------------------------------------------


def test_the_span_of_every_ledger_record_is_exported(replayed):
    session, exporters, _, _ = replayed
    exported = {pair(span): span for span in exporters.spans()}
    written = entries(session)
    assert len(written) > 5
    assert {entry.span for entry in written} <= exported.keys()
    assert {exported[entry.span].name for entry in written} >= {"gc.collect", "gc.pre_send", "gc.post_turn"}


def test_history_shows_the_span_of_each_collection(replayed):
    session, exporters, results, _ = replayed
    collects = [pair(span) for span in exporters.spans("gc.collect") if span.attributes["gc.outcome"] == "done"]
    assert [entry.span for entry in session.history()] == collects
    assert len(collects) == len(results)


def test_a_collection_is_a_child_of_the_call_that_it_happened_in_and_reports_its_result(replayed):
    _, exporters, results, _ = replayed
    names = {span.get_span_context().span_id: span.name for span in exporters.spans()}
    done = [span for span in exporters.spans("gc.collect") if span.attributes["gc.outcome"] == "done"]
    assert {names[span.parent.span_id] for span in done} <= {"gc.pre_send", "gc.post_turn"}
    for span, result in zip(done, results, strict=True):
        assert span.attributes["gc.reason"] == result.reason.value
        assert span.attributes["gc.tokens.before"] == result.tokens_before
        assert span.attributes["gc.tokens.after"] == result.tokens_after
        assert span.attributes["gc.tokens.shortfall"] == result.shortfall
        assert span.attributes["gc.removals"] == len(result.removals)


def test_what_was_freed_is_what_the_results_say(replayed):
    _, exporters, results, _ = replayed
    expected = {}
    for result in results:
        for removal in result.removals:
            key = (removal.strategy or "core", removal.phase)
            expected[key] = expected.get(key, 0) + removal.tokens_freed
    assert exporters.sums("gc.freed.tokens", "gc.strategy", "gc.phase") == expected
    items = sum(len(removal.items) for result in results for removal in result.removals)
    assert sum(exporters.sums("gc.evictions", "gc.item.kind").values()) == items
    assert ("unknown",) not in exporters.sums("gc.evictions", "gc.item.kind")


def test_collections_are_counted_by_reason(replayed):
    _, exporters, results, _ = replayed
    counted = exporters.sums("gc.collections", "gc.reason", "gc.outcome")
    reasons = {result.reason.value for result in results}
    expected = {(reason, "done"): sum(result.reason.value == reason for result in results) for reason in reasons}
    assert {key: value for key, value in counted.items() if key[1] == "done"} == expected


def test_utilisation_by_source_and_policy_adds_up_to_the_budget(replayed):
    session, exporters, _, _ = replayed
    percent = exporters.sums("gc.window.utilisation", "gc.source", "gc.policy")
    assert sum(percent.values()) == pytest.approx(session.budget.utilisation)
    usable = session.config.usable
    for source in session.snapshot()["sources"]:
        exported = sum(value for (name, _), value in percent.items() if name == source["key"])
        assert exported == pytest.approx(100 * source["tokens"] / usable)


def test_levels_and_tiers_hold_the_conversation(replayed):
    session, exporters, _, _ = replayed
    units = session.view().units
    levels = exporters.sums("gc.level.tokens", "gc.level")
    assert levels.keys() == {("L0",), ("L1",), ("L2",), ("L3",)}
    assert sum(levels.values()) == sum(unit.tokens for unit in units if unit.items[0].source == "conversation")
    tiers = exporters.sums("gc.tier.tokens", "gc.tier")
    assert tiers["hot",] == levels["L0",]
    assert tiers["warm",] == levels["L1",] + levels["L2",] + levels["L3",] > 0
    ratios = exporters.sums("gc.level.ratio", "gc.level")
    assert ratios["L0",] == pytest.approx(1.0)
    assert ratios["L2",] > 1.0


def test_every_call_of_the_model_has_a_span_by_the_conventions(replayed):
    session, exporters, _, calls = replayed
    chats = exporters.spans("chat gpt-4o")
    assert len(chats) == calls
    reported = [span for span in chats if "gen_ai.usage.input_tokens" in span.attributes]
    assert len(reported) == calls // 10
    for span in chats:
        assert span.kind is trace.SpanKind.CLIENT
        assert span.attributes["gen_ai.operation.name"] == "chat"
        assert span.attributes["gen_ai.provider.name"] == "openai"
        assert span.attributes["gen_ai.conversation.id"] == store_of(session).session
        assert span.end_time >= span.start_time
    (read,) = exporters.sums("gen_ai.client.token.usage", "gen_ai.operation.name").values()
    tokens = sum(span.attributes["gen_ai.usage.input_tokens"] + 20 for span in reported)
    assert read == tokens
    cache = exporters.sums("gc.cache.tokens", "gc.cache.kind")
    assert sum(cache.values()) == tokens - 20 * len(reported)
    assert cache["read",] == sum(span.attributes["gen_ai.usage.cache_read.input_tokens"] for span in reported)


def test_importance_is_reported_from_0_to_1_for_at_most_256_items_a_collection(replayed):
    _, exporters, results, _ = replayed
    points = exporters.points("gc.importance")
    assert 0 < sum(point.count for point in points) <= 256 * len(results)
    assert min(point.min for point in points) >= 0
    assert max(point.max for point in points) <= 1


def test_attributes_are_names_and_numbers_and_none_is_long(replayed):
    _, exporters, _, _ = replayed
    values = [value for span in exporters.spans() for value in span.attributes.values()]
    texts = [text for value in values for text in (value if isinstance(value, tuple) else [value])]
    assert max(len(text) for text in texts if isinstance(text, str)) <= 32


# -- other things that happen ----------------------------------------------------------------------------------------


class Model(FakeSummarizer):
    summarization_model = "anthropic/claude-small"


def test_summaries_have_spans_with_what_they_took_and_complaints_are_counted(exporters):
    def paid(request):
        request.spent(300, 40)
        request.spent(100, 10)
        return "too short of facts, but a text."

    config = GCConfig(strategy="gc_summarize", context_limit=4_000, output_reservation=0)
    asked = Model("", paid)
    with GCSession(config, summarizer=asked, model="gpt-4o") as session:
        exporters.instrument(session)
        rounds(session, 30)
        outcomes = session.last_result.summaries
    spans = exporters.spans("chat anthropic/claude-small")
    collects = {span.get_span_context().span_id for span in exporters.spans("gc.collect")}
    assert {span.parent.span_id for span in spans} <= collects
    assert len(spans) == len(asked.requests) == sum(exporters.sums("gc.summary.attempts", "gc.summary.by").values())
    assert sum(exporters.sums("gc.summary.failures", "gc.summary.by").values()) >= 1
    assert outcomes
    exported = spans[1].attributes
    assert (exported["gen_ai.usage.input_tokens"], exported["gen_ai.usage.output_tokens"]) == (400, 50)
    assert exported["gen_ai.provider.name"] == "anthropic"
    by_model = exporters.sums("gen_ai.client.token.usage", "gen_ai.request.model", "gen_ai.token.type")
    assert by_model["anthropic/claude-small", "input"] == 400 * (len(spans) - 1)


class Refuses:
    @hookimpl
    def gc_validate_reply(self, reply):
        return Inconsistency(reason=f"it says {SECRET}") if SECRET in json.dumps(reply) else None


def test_errors_are_reported_only_by_their_type(exporters):
    plugins = Plugins.discover()
    plugins.register(Refuses(), name="refuses")
    with small(plugins=plugins, recovery_strategy="raise") as session:
        exporters.instrument(session)
        with pytest.raises(MessageError):
            session.append({"role": SECRET, "content": SECRET})
        session.append(user(f"The password is {SECRET}."))
        session.pre_send()
        with pytest.raises(InconsistentReplyError):
            session.post_turn(answer(SECRET))
    (failed,) = [span for span in exporters.spans("gc.append") if span.status.status_code is trace.StatusCode.ERROR]
    assert failed.attributes["error.type"] == "FieldError"
    assert [span.attributes.get("error.type") for span in exporters.spans("gc.post_turn")] == ["InconsistentReplyError"]
    assert SECRET not in "".join(span.to_json() for span in exporters.spans())


def test_recalls_and_restores_are_counted(exporters):
    with small() as session:
        exporters.instrument(session)
        rounds(session, 40)
        gone = next(item for removal in session.last_result.removals for item in removal.items)
        session.recall(gone)
        session.recall(gone)
        session.restore(gone)
        assert exporters.sums("gc.recalls", "gc.recall.by") == {("recall",): 2, ("restore",): 1}


def test_a_refused_request_ends_its_call_with_an_error(exporters):
    with small() as session:
        exporters.instrument(session)
        rounds(session, 15)
        session.pre_send()
        refused = RuntimeError(
            "This model's maximum context length is 3000 tokens. However, you requested 3500 tokens."
        )
        session.recover(refused)
        assert [span.attributes.get("error.type") for span in exporters.spans("chat")][-1] == "context_length_exceeded"


def test_calls_that_write_nothing_have_no_span(exporters):
    with small() as session:
        exporters.instrument(session)
        rounds(session, 3)
        before = len(exporters.spans())
        session.view(), session.items(), session.snapshot(), session.explain(), session.on_stream(text="Well")
        session.history(), session.plan(), session.cache, session.debt, session.profile
        assert len(exporters.spans()) == before


def test_a_span_of_the_host_is_the_parent_and_stays_current(exporters):
    with small() as session:
        exporters.instrument(session)
        with exporters.tracers.get_tracer("host").start_as_current_span("step") as step:
            rounds(session, 1)
            assert trace.get_current_span() is step
        parents = {span.parent.span_id for span in exporters.spans("gc.append", "gc.pre_send", "gc.post_turn", "chat")}
        assert parents == {step.get_span_context().span_id}
    assert CURRENT.get() is None


def test_an_async_session_has_the_same_spans_and_tasks_do_not_mix(exporters):
    async def run():
        wide = {"gc_summarize": {"keep": 0.2, "max_summary_tokens": 4_000}}
        limits = {"context_limit": 4_000, "output_reservation": 0, "threshold_percent": 80.0, "pressure_percent": 90.0}
        config = GCConfig(strategy="gc_summarize", reread_guard="off", strategies=wide, **limits)
        async with AsyncGCSession(config, summarizer=AsyncFakeSummarizer()) as session:
            exporters.instrument(session)
            session.append(user("Do it."))
            for place in range(60):
                session.append(user(f"{place} " + "word " * 60))
                _, marked = await asyncio.gather(session.pre_send(), aside(session, place))
                assert marked == f"aside {place}"
                await session.post_turn(answer("Done, as far as it goes. " * 5))
            assert session.last_result.summaries
            assert session.plugins.failures == []
            return entries(session)

    async def aside(session, place):
        await asyncio.sleep(0)
        session.enrich(note=f"aside {place}")
        return f"aside {place}"

    written = asyncio.run(run())
    exported = {pair(span): span for span in exporters.spans()}
    assert {entry.span for entry in written} <= exported.keys()
    assert CURRENT.get() is None
    calls = {span.get_span_context().span_id: span.name for span in exporters.spans()}
    parents = {calls[span.parent.span_id] for span in exporters.spans("gc.summary") if span.parent}
    assert "gc.collect" in parents
    assert all(span.parent is None for span in exporters.spans("gc.enrich"))
    assert len(exporters.spans("chat")) == 60


def test_two_sessions_share_the_gauges_and_each_is_reported_until_it_ends(exporters):
    one, other = small(), small()
    exporters.instrument(one)
    exporters.instrument(other)
    rounds(one, 2)
    rounds(other, 5)
    exported = exporters.sums("gc.window.utilisation", "gen_ai.conversation.id")
    assert exported == {
        (store_of(session).session,): pytest.approx(session.budget.utilisation) for session in (one, other)
    }
    one.close()
    assert exporters.sums("gc.window.utilisation", "gen_ai.conversation.id").keys() == {(store_of(other).session,)}
    other.close()
    assert exporters.points("gc.window.utilisation") == []


class Broken(SpanProcessor):
    def on_start(self, span, parent_context=None):  # noqa: ARG002 - the protocol
        raise OSError("no exporter")

    def on_end(self, span):  # noqa: ARG002 - the protocol
        raise OSError("no exporter")


class BrokenAtEnd(Broken):
    def on_start(self, span, parent_context=None):
        pass


@pytest.mark.parametrize("processor", [Broken(), BrokenAtEnd()], ids=["at_start", "at_end"])
def test_nothing_breaks_when_an_exporter_raises(exporters, processor):
    exporters.tracers.add_span_processor(processor)
    with small() as plain, small() as watched:
        exporters.instrument(watched)
        expected, requests = rounds(plain, 30), rounds(watched, 30)
        assert [request.messages for request in requests] == [request.messages for request in expected]
        assert watched.last_result.changed
        assert {failure.plugin for failure in watched.plugins.failures} == {"telemetry"}
        assert CURRENT.get() is None
        assert not trace.get_current_span().get_span_context().is_valid


def test_observed_sessions_send_the_same_requests(exporters):
    with small() as plain, small() as watched:
        exporters.instrument(watched)
        sent = [[request.messages for request in rounds(session, 30)] for session in (plain, watched)]
        assert sent[0] == sent[1]


def test_stopping_ends_it_and_it_can_begin_again(exporters):
    with small() as session:
        instrumentation = exporters.instrument(session)
        session.append(user("Do it."))
        session.pre_send()
        with pytest.raises(ConfigError, match="is already instrumented"):
            exporters.instrument(session)
        instrumentation.stop()
        instrumentation.stop()
        assert len(exporters.spans("chat")) == 1
        number = len(exporters.spans())
        session.post_turn(answer("Done."), usage(50))
        session.pin(turn=0)
        assert len(exporters.spans()) == number
        assert [entry.span for entry in entries(session)][-2:] == ["", ""]
        with exporters.instrument(session):
            session.unpin(turn=0)
        assert exporters.spans("gc.unpin")
    with pytest.raises(SessionClosedError):
        exporters.instrument(session)


def test_without_a_provider_nothing_is_written_and_all_goes_on():
    with small() as session:
        instrument(session)
        rounds(session, 30)
        assert session.last_result.changed
        assert session.plugins.failures == []
        assert {entry.span for entry in entries(session)} == {""}


def test_a_session_that_is_opened_again_reads_the_spans_and_is_the_same(exporters, tmp_path):
    with small(directory=tmp_path) as session:
        exporters.instrument(session)
        rounds(session, 30)
        messages, history = session.pre_send().messages, session.history()
    with GCSession.open(tmp_path) as again:
        assert again.history() == history
        assert history[0].span
        assert again.pre_send().messages == messages


def test_a_ledger_line_without_a_span_is_as_it_was():
    line = b'{"at":5,"time":1.0,"kind":"released"}\n'
    assert Entry.read(line).span == ""
    assert Entry.read(line).line() == line
    spanned = b'{"at":5,"time":1.0,"kind":"released","span":"aa-bb"}\n'
    assert Entry.read(spanned).line() == spanned


def test_log_lines_carry_session_trace_and_span_while_watched_and_only_then(exporters, caplog):
    caplog.set_level(logging.INFO, logger="gc_core")  # whatever level another test has set
    with small() as session:
        rounds(session, 30)
        assert "trace_id" not in caplog.text
        exporters.instrument(session)
        caplog.clear()
        session.collect_now(target_percent=10)
        (line,) = [record.getMessage() for record in caplog.records if record.gc_event == "collection finished"]
        done = session.history()[-1].span
        assert f"gc_session={store_of(session).session}" in line
        assert f"trace_id={done.partition('-')[0]}" in line
    caplog.clear()
    logger("gc_core.session").warning("later")
    assert "trace_id" not in caplog.text


def test_without_instrument_opentelemetry_is_not_imported_and_may_lack():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)  # noqa: S603 - Python
    assert done.returncode == 0, done.stderr
    assert "gc-core[otel]" in done.stdout
