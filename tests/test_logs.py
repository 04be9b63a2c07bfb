"""What gc-core logs: through the host's structlog or the standard library's logging, bound, quiet, without content."""

import ast
import asyncio
import json
import logging
import re
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
import structlog

from gc_core import AsyncGCSession, ContextOverflowError, GCConfig, GCPolicy, GCSession, Plugins, hookimpl
from gc_core.errors import GCError, InconsistentReplyError, RuleError
from gc_core.integrations.tool_worker import ToolResultWorker
from gc_core.session.recall_suggestions import RECALLED, auto_expand, suggest_recall
from gc_core.testing import make_conversation
from gc_core.values.loggers import bound_fields, logger
from gc_core.values.results import Inconsistency, Refusal
from tests.support.inside import store_of
from tests.support.say import answer, call, lines, result, rounds, small, user

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how-to" / "logging.md").read_text()
ROW = re.compile(r"^\| (?P<events>`[^|]*`) \| (?P<levels>[^|]*) \| [^|]*\|(?P<keys>[^|]*)\|$", re.MULTILINE)


@pytest.fixture(autouse=True)
def unconfigured():
    """Every test begins, and leaves off, as a host that has configured nothing."""
    level = logging.getLogger("gc_core").level
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    logging.getLogger("gc_core").setLevel(level)


class Host:
    """A host's structlog: it keeps the events that pass its own filter."""

    def __init__(self):
        self.events = []

    def configure(self, level=logging.DEBUG, **more):
        structlog.configure(
            processors=[structlog.contextvars.merge_contextvars, structlog.processors.add_log_level, self._keep],
            wrapper_class=structlog.make_filtering_bound_logger(level),
            **more,
        )
        return self

    def _keep(self, _logger, _method, event):
        self.events.append(dict(event))
        raise structlog.DropEvent

    def named(self, name):
        return [event for event in self.events if event["event"] == name]

    def names(self):
        return [event["event"] for event in self.events]


@pytest.fixture
def host():
    return Host().configure()


def names_of(events):
    return [event["event"] for event in events]


# ---------------------------------------------------------------- the host's structlog


def test_structlog_that_is_configured_after_a_session_was_made_hears_it():
    with small() as session:
        rounds(session, 3)
        host = Host().configure()
        rounds(session, 20, first=3, task=None)
    assert host.named("collection finished")
    assert {event["logger"] for event in host.named("collection finished")} == {"gc_core.session"}


PROGRAM = """
import json, logging, sys
if "structlog" in sys.argv:
    import structlog
    structlog.configure(processors=[structlog.processors.add_log_level, structlog.processors.JSONRenderer()])
from gc_core import GCConfig, GCSession
with GCSession(GCConfig(strategy="gc_truncate", context_limit=3_000, output_reservation=0)) as session:
    for number in range(30):
        session.append({"role": "user", "content": f"Question {number}? " + "word " * 60})
        session.pre_send()
        session.post_turn({"role": "assistant", "content": "It is so. " * 20})
    session.append({"role": "tool", "tool_call_id": "none", "content": "late"})
    assert session.history()
"""


def ran(*arguments):
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )


def test_structlog_that_was_configured_before_the_import_hears_it():
    entries = [json.loads(line) for line in ran("structlog").stdout.splitlines()]
    assert {"collection not due", "collection began", "collection finished"} <= set(names_of(entries))


def test_where_nothing_is_configured_nothing_is_printed_but_warnings_on_stderr():
    done = ran()
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "message repaired" in line


def test_the_last_configuration_counts_also_when_loggers_are_cached():
    first, second = Host().configure(cache_logger_on_first_use=True), Host()
    with small() as session:
        rounds(session, 2)
        second.configure(cache_logger_on_first_use=True)
        count = len(first.events)
        rounds(session, 2, first=2, task=None)
    assert count
    assert len(first.events) == count
    assert second.events


def test_the_filter_level_of_the_host_counts():
    host = Host().configure(logging.INFO)
    with small() as session:
        rounds(session, 30)
    assert host.named("collection finished")
    assert {event["level"] for event in host.events} == {"info"}


@pytest.mark.parametrize(("level", "is_logged"), [(logging.DEBUG, True), (logging.INFO, False)])
def test_nothing_is_computed_for_what_the_filter_of_the_host_drops(level, is_logged):
    Host().configure(level)
    assert logger("gc_core.session").hears_debug is is_logged


def test_a_wrapper_class_without_a_level_may_get_everything():
    structlog.configure(wrapper_class=structlog.stdlib.BoundLogger)
    assert logger("gc_core.session").hears_debug


def test_context_variables_of_the_host_are_merged_and_hide_nothing(host):
    structlog.contextvars.bind_contextvars(request_id="r-17", session_id="the web's", turn=99)
    with small() as session:
        rounds(session, 30)
        (own,) = {event["gc_session"] for event in host.events}
    assert own == store_of(session).session
    assert {(event["request_id"], event["session_id"], event["turn"]) for event in host.events} == {
        ("r-17", "the web's", 99)
    }


def test_a_host_that_sends_structlog_to_logging_sets_levels_by_logger(caplog):
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    caplog.set_level(logging.INFO, logger="gc_core.session")
    with small() as session:
        rounds(session, 30)
    entries = [json.loads(record.getMessage()) for record in caplog.records if record.name == "gc_core.session"]
    assert set(names_of(entries)) == {"collection finished"}
    assert {event["logger"] for event in entries} == {"gc_core.session"}


@pytest.mark.filterwarnings("error")
def test_a_wrapper_with_async_methods_logs_all_the_same(host):
    async def loop():
        with small() as session:
            rounds(session, 30)

    structlog.configure(wrapper_class=structlog.stdlib.AsyncBoundLogger)
    asyncio.run(loop())
    assert host.named("collection finished")


def test_a_processor_that_raises_harms_no_session_and_is_logged(caplog):
    def broken(_logger, _method, _event):
        raise ValueError("no disk")

    structlog.configure(processors=[broken])
    with small() as session:
        rounds(session, 30)
        assert session.history()
        assert session.plugins.failures == []
    assert {record.gc_event for record in caplog.records} == {"event not logged"}
    assert {record.gc_lost for record in caplog.records} >= {"collection finished"}
    assert all("no disk" in record.getMessage() for record in caplog.records)


# ---------------------------------------------------------------- the standard library's logging


def test_without_structlog_logging_decides_and_has_text_and_attributes(caplog):
    caplog.set_level(logging.INFO, logger="gc_core")
    with small() as session:
        rounds(session, 30)
        result_ = session.last_result
    record = [record for record in caplog.records if record.gc_event == "collection finished"][-1]
    assert record.name == "gc_core.session"
    assert record.levelno == logging.INFO
    assert record.gc_tokens_freed == result_.tokens_freed
    assert record.gc_session == store_of(session).session
    assert record.getMessage().startswith('event="collection finished" reason=threshold tokens_before=')
    assert f"gc_session={record.gc_session}" in record.getMessage()


def test_attributes_of_a_hosts_own_records_do_not_conflict(caplog):
    caplog.set_level(logging.INFO, logger="gc_core")
    made = logging.getLogRecordFactory()

    def factory(*args, **kwargs):
        record = made(*args, **kwargs)
        record.session, record.reason, record.event = "the web's", "none", "request"
        return record

    logging.setLogRecordFactory(factory)
    try:
        with small() as session:
            rounds(session, 30)
    finally:
        logging.setLogRecordFactory(made)
    entries = [record for record in caplog.records if record.gc_event == "collection finished"]
    assert {(record.reason, record.gc_reason) for record in entries} == {("none", "threshold")}


def test_the_caller_of_a_record_is_the_code_that_decided(caplog):
    logger("gc_core.test").warning("something", tokens=5)
    (record,) = caplog.records
    assert record.filename == Path(__file__).name


def test_fields_that_are_bound_stand_in_every_record_inside(caplog):
    with bound_fields(lane="one"), bound_fields(part="a"):
        logger("gc_core.test").warning("inside", tokens=5)
    logger("gc_core.test").warning("outside")
    inside, outside = caplog.records
    assert (inside.gc_lane, inside.gc_part, inside.gc_tokens) == ("one", "a", 5)
    assert not hasattr(outside, "gc_lane")


# ---------------------------------------------------------------- what is bound


def test_all_events_of_a_collection_share_its_id_and_no_two_collections_do(host):
    with small() as session:
        rounds(session, 60)
        done = len(session.history())
    by_id = {}
    for event in host.events:
        by_id.setdefault(event.get("gc_collection"), []).append(event["event"])
    outside = by_id.pop(None)
    assert {"collection not due", "session opened"} <= set(outside)
    assert not {"collection began", "plan made", "collection finished"} & set(outside)
    assert len(by_id) == done > 1
    for names in by_id.values():
        assert names[:2] == ["collection began", "plan made"]
        assert names[-1] == "collection finished"


def test_the_turn_is_that_of_the_moment(host):
    with small(window=100_000) as session:
        for turn in range(3):
            session.append(user(f"Question {turn}?"))
            session.pre_send()
            session.post_turn(answer("Yes."))
    assert [event["gc_turn"] for event in host.named("collection not due")] == [0, 0, 1, 1, 2, 2]


def test_two_sessions_in_one_thread_do_not_mix(host):
    with small() as one, small() as other:
        for place in range(25):
            rounds(one, 1, first=place, task="Do it." if place == 0 else None)
            rounds(other, 1, first=place, size=80, task="Do it." if place == 0 else None)
        expected = {store_of(session).session: len(session.history()) for session in (one, other)}
    found = Counter(event["gc_session"] for event in host.named("collection finished"))
    assert found == expected
    assert len(found) == 2


def test_outside_of_a_session_s_calls_nothing_is_bound(host):
    with small() as session:
        rounds(session, 30)
    logger("gc_core.test").info("afterwards")
    assert host.events[-1] == {"event": "afterwards", "level": "info", "logger": "gc_core.test"}


def test_a_session_called_inside_the_collection_of_another_is_distinguished(host):
    inner = small()

    class Asks:
        @hookimpl
        def gc_collection_started(self, goal):  # noqa: ARG002 - the hook
            inner.pre_send()

    plugins = Plugins.discover()
    plugins.register(Asks(), name="asks")
    with inner, small(plugins=plugins) as outer:
        inner.append(user("Hello."))
        rounds(outer, 30)
        asked = [event for event in host.events if event["gc_session"] == store_of(inner).session]
        assert [event for event in asked if event["event"] == "collection not due"]
        assert {event.get("gc_collection") for event in asked} == {None}
        after = host.named("collection finished")
        assert {event["gc_session"] for event in after} == {store_of(outer).session}
        assert all(event["gc_collection"] for event in after)


def test_what_a_session_hands_off_logs_as_its_own(host):
    with small() as parent:
        parent.append(user("Do it."))
        with parent.handoff() as child:
            (entries,) = host.named("session handed off")
            assert (entries["gc_session"], entries["child"]) == (store_of(parent).session, store_of(child).session)
            opened = [event["gc_session"] for event in host.named("session opened")]
            assert opened == [store_of(parent).session, store_of(child).session]


def test_threads_that_take_turns_do_not_mix(host):
    sessions = [small() for _ in range(3)]
    threads = [threading.Thread(target=rounds, args=(session, 25)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = {store_of(session).session: len(session.history()) for session in sessions}
    assert Counter(event["gc_session"] for event in host.named("collection finished")) == expected
    for session in sessions:
        session.close()


class Says:
    """A summarizer that takes its time, logs, and says the same of everything."""

    def __init__(self, text="The user asked, and it was done."):
        self.text = text

    async def summarize(self, request):  # noqa: ARG002 - the protocol
        await asyncio.sleep(0)
        logger("gc_core.test").info("asked")
        await asyncio.sleep(0)
        return self.text


def summarising(session_class, summarizer, **more):
    config = GCConfig(strategy="gc_summarize", context_limit=3_000, output_reservation=0, reread_guard="off", **more)
    return session_class(config, summarizer=summarizer)


async def talked(session, number=40):
    for turn in range(number):
        session.append(user(f"Question {turn}? {'word ' * 60}"))
        await session.pre_send()
        await session.post_turn(answer("It is so. " * 20))


def test_tasks_of_one_loop_do_not_mix_even_while_a_summary_is_awaited(host):
    async def all_at_once():
        await asyncio.gather(*(talked(session) for session in sessions))

    sessions = [summarising(AsyncGCSession, Says()) for _ in range(3)]
    asyncio.run(all_at_once())
    asked = host.named("asked")
    finished = {event["gc_collection"]: event["gc_session"] for event in host.named("collection finished")}
    assert {event["gc_session"] for event in asked} == {store_of(session).session for session in sessions}
    for event in asked:
        if "gc_collection" in event:  # else it was asked ahead of need
            assert finished[event["gc_collection"]] == event["gc_session"]
    for session in sessions:
        session.close()


def test_a_summarizer_in_a_thread_logs_for_its_session(host):
    class InThread:
        def summarize(self, request):  # noqa: ARG002 - the protocol
            logger("gc_core.test").info("asked", thread=threading.current_thread() is threading.main_thread())
            return "The user asked, and it was done."

    with summarising(GCSession, InThread()) as session:
        for turn in range(40):
            session.append(user(f"Question {turn}? {'word ' * 60}"))
            session.pre_send()
            session.post_turn(answer("It is so. " * 20))
    asked = host.named("asked")
    assert {(event["gc_session"], event["thread"]) for event in asked} == {(store_of(session).session, False)}


class Hears:
    """A plugin that logs, binds and unbinds through structlog itself, in its hooks."""

    def __init__(self, *, clears=False):
        self.clears = clears

    @hookimpl
    def gc_collection_started(self, goal):  # noqa: ARG002 - the hook
        structlog.get_logger().info("heard")
        structlog.contextvars.bind_contextvars(tenant="t-1")
        structlog.contextvars.unbind_contextvars("request_id")
        if self.clears:
            structlog.contextvars.clear_contextvars()

    @hookimpl
    def gc_collection_finished(self, result):  # noqa: ARG002 - the hook
        structlog.get_logger().info("heard the end")


def heard_by(plugin, **more):
    plugins = Plugins.discover()
    plugins.register(plugin, name="hears")
    return small(plugins=plugins, **more)


def test_a_plugins_own_event_in_a_collection_has_its_session_turn_and_collection(host):
    with heard_by(Hears()) as session:
        for turn in range(3):
            rounds(session, 12, first=20 * turn)
    finished = host.named("collection finished")
    assert len(finished) > 2
    assert len({event["gc_turn"] for event in finished}) > 1
    bound = [{key: event[key] for key in ("gc_session", "gc_turn", "gc_collection")} for event in finished]
    assert [{key: event[key] for key in bound[0]} for event in host.named("heard")] == bound
    assert [{key: event[key] for key in bound[0]} for event in host.named("heard the end")] == bound


@pytest.mark.parametrize("clears", [False, True])
def test_what_the_host_has_bound_is_afterwards_as_it_left_it(host, clears):
    structlog.contextvars.bind_contextvars(request_id="r-17", gc_turn="mine")
    with heard_by(Hears(clears=clears)) as session:
        rounds(session, 30)
        assert session.history()
    left = {"gc_turn": "mine"} if clears else {"gc_turn": "mine", "tenant": "t-1"}
    assert structlog.contextvars.get_contextvars() == left
    assert host.events


def test_a_listener_of_a_list_hears_the_turn_that_has_just_begun(host):
    with small(window=100_000, on_event=lambda _: structlog.get_logger().info("listened")) as session:
        said = []
        for turn in range(3):
            said += [user(f"Question {turn}?"), answer("Yes.")]
        session.sync([*said, user("And?")])
        assert host.named("listened")[-1]["gc_turn"] == 3


def test_what_is_called_inside_of_a_collection_of_another_session_has_no_collection(host):
    inner = small()

    class Asks:
        @hookimpl
        def gc_collection_started(self, goal):  # noqa: ARG002 - the hook
            inner.pre_send()
            structlog.get_logger().info("asked")

    inner.append(user("Hello."))
    with inner, heard_by(Asks()) as outer:
        rounds(outer, 30)
        not_due = [
            event for event in host.named("collection not due") if event["gc_session"] == store_of(inner).session
        ]
        assert not_due
        assert {event.get("gc_collection") for event in not_due} == {None}
        assert {event["gc_session"] for event in host.named("asked")} == {store_of(outer).session}
        assert all(event["gc_collection"] for event in host.named("asked"))


def test_plugins_events_do_not_mix_in_threads_and_tasks(host):
    async def all_at_once():
        await asyncio.gather(*(talked(session) for session in tasks))

    plugins = Plugins.discover()
    plugins.register(Hears(), name="hears")
    config = GCConfig(strategy="gc_summarize", context_limit=3_000, output_reservation=0, reread_guard="off")
    tasks = [AsyncGCSession(config, summarizer=Says(), plugins=plugins) for _ in range(3)]
    asyncio.run(all_at_once())
    threads = [heard_by(Hears()) for _ in range(3)]
    started = [threading.Thread(target=rounds, args=(session, 25)) for session in threads]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    expected = Counter(event["gc_session"] for event in host.named("collection finished"))
    assert Counter(event["gc_session"] for event in host.named("heard the end")) == expected
    assert len(expected) == 6
    for session in (*tasks, *threads):
        session.close()
    assert structlog.contextvars.get_contextvars() == {}


def test_without_a_configured_structlog_nothing_is_bound_in_it():
    bound = []

    class Looks:
        @hookimpl
        def gc_collection_started(self, goal):  # noqa: ARG002 - the hook
            bound.append(structlog.contextvars.get_contextvars())

    with heard_by(Looks()) as session:
        rounds(session, 30)
    assert bound
    assert not any(bound)


# ---------------------------------------------------------------- how much


def test_a_call_in_which_nothing_happens_logs_one_event_at_debug(host):
    with small(window=100_000) as session:
        session.append(user("Hello."))
        for place in range(5):
            host.events.clear()
            session.pre_send()
            (sent,) = host.events
            session.post_turn(call((f"c{place}", "read", {"path": "a"})))
            (_, turned) = host.events
            session.append(result(f"c{place}", "x = 1"))
            assert len(host.events) == 2
            assert (sent["level"], sent["event"], sent["call"]) == ("debug", "collection not due", "pre_send")
            assert turned["call"] == "post_turn"
            assert sent["usage_percent"] < sent["begins_percent"]


MODES = {
    "usual": {},
    "continuous": {"pressure_percent": 0.0},
    "held": {"pressure_percent": None, "tools": {"read": "locked"}},
    "by cost": {"pressure_percent": 0.0, "defer": True},
    "nothing": {"strategy": "none"},
}


@pytest.mark.parametrize("mode", MODES)
def test_above_debug_no_event_comes_with_every_call(mode):
    host = Host().configure(logging.INFO)
    made = 0
    with small(window=6_000, model="claude-sonnet-4-5", **MODES[mode]) as session:
        session.append(user("Do it."))
        for place in range(60):
            try:
                rounds(session, 1, first=place, size=20, task=None)
            except ContextOverflowError:
                break
            made += 1
        done = len(session.history())
    assert made > 20
    entries = Counter(host.names())
    assert entries.pop("collection finished", 0) == done  # in continuous mode there may be one a call
    assert [name for name, times in entries.items() if times > made // 4] == []


def test_no_text_of_the_conversation_is_logged(host, tmp_path):
    with GCSession(
        GCConfig(strategy="gc_progressive", context_limit=8_000, output_reservation=0),
        directory=tmp_path / "own",
        format="openai",
    ) as session:
        for turn in range(12):
            session.append(user(f"secretquestion{turn} about secretfile{turn}.py, never touch secretrule{turn}."))
            for step in range(4):
                session.pre_send()
                session.post_turn(call((f"c{turn}-{step}", "read", {"path": f"secretpath{step}.py"})))
                session.append(result(f"c{turn}-{step}", lines(40, "secretline")))
        session.undo()
        session.release()
        session.checkpoint()
    assert host.named("collection finished")
    assert "secret" not in json.dumps(host.events)


# ---------------------------------------------------------------- a decision, an event


def test_generated_sessions_log_why_what_and_how_much(host):
    for seed in range(3):
        conversation = make_conversation(seed)
        with GCSession(
            GCConfig(strategy="gc_budget", context_limit=2_500, output_reservation=0), format=conversation.format
        ) as session:
            try:
                conversation.play(session)
            except GCError:  # a window this small does not hold every one of them
                continue
    finished = host.named("collection finished")
    assert finished
    for event in finished:
        assert event["tokens_before"] - event["tokens_after"] == event["tokens_freed"]
    for event in host.named("collection began"):
        assert event["reason"] != "threshold" or event["usage_percent"] >= 60
    for event in host.named("plan made"):
        forms = [event[f"{form}_removals"] for form in ("dropping", "stubbing", "summarizing", "digesting")]
        assert event["tokens_freed"] == 0 or sum(forms) > 0
    for event in host.events:
        known = documented()[event["event"]]
        assert event["level"] in known.levels
        assert set(event) - BOUND <= known.keys, event["event"]


def test_a_collection_that_is_not_worth_it_says_what_the_cache_would_cost(host):
    with small(window=20_000, pressure_percent=0.0, defer=True, model="claude-sonnet-4-5") as session:
        rounds(session, 70, size=30)
    skipped, kept = host.named("collection skipped"), host.named("collection not due")
    assert any("not worth a break of the prompt cache: rewriting" in event["why"] for event in skipped)
    assert any(event["why"].startswith("held back until") for event in kept)
    assert {event["level"] for event in skipped} <= {"info", "debug"}


def test_a_plan_that_breaks_a_rule_is_a_failed_collection(host, monkeypatch):
    def refused(*_args, **_kwargs):
        raise RuleError("the collected request would break 1 rules")

    with small() as session:
        rounds(session, 8)
        monkeypatch.setattr("gc_core.collector.collector.Collector.check", refused)
        with pytest.raises(RuleError):
            session.collect_now(target_percent=5)
    (event,) = host.named("collection failed")
    assert (event["level"], event["reason"], event["error"]) == ("warning", "manual", "RuleError")
    assert "would break" in event["why"]


def test_removals_that_a_plugin_refuses_are_logged_with_its_reason(host):
    class Reviews:
        @hookimpl
        def gc_review_plan(self, plan):
            return [Refusal(removal=removal, why="it is needed") for removal in plan.removals]

    plugins = Plugins.discover()
    plugins.register(Reviews(), name="reviews")
    with small(plugins=plugins) as session:
        rounds(session, 8)
        session.collect_now(target_percent=5)
    (refused,) = host.named("removals refused")
    assert (refused["why"], refused["removals"] > 0) == ("it is needed", True)
    (skipped,) = host.named("collection skipped")
    assert skipped["reason"] == "manual"


def test_the_last_resort_and_a_request_that_cannot_fit_are_logged(host):
    with small(window=2_000, strategy="none") as session:
        session.append(user("Do it."))
        rounds(session, 4, size=100, task=None)
        session.append(user("Look."), policy=GCPolicy.LOCKED)
        assert host.named("last resort began")
        session.append(user(lines(600)), policy=GCPolicy.LOCKED)
        with pytest.raises(ContextOverflowError):
            session.pre_send()
    (event,) = host.named("request does not fit")
    assert event["tokens"] > event["usable_tokens"] == 2_000


def test_undo_rewind_and_rollback_are_logged(host, tmp_path):
    with small(directory=tmp_path / "own") as session:
        rounds(session, 30)
        gone = session.history()[-1].record.removals[0].items[-1]
        checkpoint = session.checkpoint()
        session.collect_now(target_percent=10)
        before = session.budget.total
        session.undo()
        (undone,) = host.named("collection undone")
        assert (undone["tokens_before"], undone["tokens_after"]) == (before, session.budget.total)
        session.redo()
        session.restore(gone)
        session.release()
        session.rollback(checkpoint)
    names = [
        *("collection undone", "collection redone", "item restored", "pins released"),
        *("session went back", "checkpoint made"),
    ]
    assert {name: len(host.named(name)) > 0 for name in names} == dict.fromkeys(names, True)
    assert host.named("item restored")[0]["item"] == gone


def test_a_session_that_is_opened_again_says_so(host, tmp_path):
    with small(directory=tmp_path / "own") as session:
        session.append(user("Hello."))
    GCSession.open(tmp_path / "own").close()
    assert [event["again"] for event in host.named("session opened")] == [False, True]


def test_an_undo_that_leaves_the_window_too_large_says_so_at_once(host):
    with small(3_000) as session:
        rounds(session, 8)
        session.collect_now(target_percent=5)
        rounds(session, 4, first=8, task=None)
        assert session.undo()
        (event,) = host.named("window too large")
        assert event["tokens"] > event["usable_tokens"] == session.config.usable
        assert "release()" in event["remedy"]
        session.release()
        assert session.pre_send().tokens <= session.config.usable


def test_an_inconsistent_reply_is_logged_without_its_content(host):
    class Finds:
        @hookimpl
        def gc_validate_reply(self, reply, context):  # noqa: ARG002 - the hook
            return Inconsistency(reason="it says secret")

    plugins = Plugins.discover()
    plugins.register(Finds(), name="finds")
    with small(plugins=plugins, recovery_strategy="raise") as session:
        session.append(user("Hello."))
        session.pre_send()
        with pytest.raises(InconsistentReplyError):
            session.post_turn(answer("Yes."))
    (event,) = host.named("reply inconsistent")
    assert (event["findings"], event["recovery"], event["in_a_row"]) == (1, "raise", 1)
    assert "secret" not in json.dumps(host.events)


def test_releasing_where_nothing_is_held_logs_nothing(host):
    with small() as session:
        rounds(session, 30)
        session.release()
        assert host.named("pins released") == []
        session.undo()
        session.release()
        session.release()
    assert len(host.named("pins released")) == 1


def forgotten(session):
    """Read a file, forget it, and let the user name what only that file said."""
    session.append(user("Do it."))
    session.append(call(("first", "read_file", {"path": "src/a"})))
    session.append(result("first", "def secret_symbol_of_one(): pass"))
    rounds(session, 8, size=60, task=None)
    session.collect_now(target_percent=1)
    session.append(answer("Done."))
    session.append(user("And where is secret_symbol_of_one?"))


def test_what_is_brought_back_is_logged_once_by_id_size_and_kind_of_reason(host):
    with small(20_000, preserve_recent_turns=0, pressure_percent=0, target_percent=70, auto_expand=True) as session:
        forgotten(session)
        (wanted,) = suggest_recall(session)
        session.pre_send()
        session.pre_send()
        (block,) = [item for item in session.items() if item.name == RECALLED]
        own = store_of(session).session
    (event,) = host.named("texts brought back")
    assert (event["level"], event["gc_session"], event["items"]) == ("info", own, wanted.item)
    assert event["why"] == "a name had no other carrier"
    assert 0 < event["tokens"] < block.tokens
    assert "secret" not in json.dumps(host.events)


def test_what_waits_to_be_brought_back_is_logged_once_however_often_it_is_asked_for(host):
    with small(20_000, preserve_recent_turns=0, pressure_percent=0, target_percent=70) as session:
        assert auto_expand(session) == ()
        forgotten(session)
        assert host.named("texts brought back") == []
        assert auto_expand(session) == auto_expand(session) != ()
    assert len(host.named("texts brought back")) == 1


class Fails:
    """A plugin that fails where its own code shows up in the traceback."""

    def __init__(self, error):
        self.error = error

    @hookimpl
    def gc_request_rendered(self, request):  # noqa: ARG002 - the hook
        self.break_down()

    def break_down(self):
        raise self.error


def failed(error):
    """Send a request which a plugin fails to observe."""
    plugins = Plugins()
    plugins.register(Fails(error), name="fails")
    with small(plugins=plugins, strategy="none") as session:
        session.append(user("Do it."))
        session.pre_send()
    (failure,) = plugins.failures
    assert failure.error is error


def test_the_traceback_of_a_plugins_error_reaches_the_processors_of_a_configured_structlog(host, capsys):
    error = ZeroDivisionError("on purpose")
    failed(error)
    (event,) = host.named("plugin failed")
    assert (event["level"], event["exc_info"]) == ("warning", error)
    rendered = structlog.processors.format_exc_info(None, "warning", event)["exception"]
    assert "in break_down" in rendered
    assert rendered.endswith("ZeroDivisionError: on purpose")
    assert capsys.readouterr().out == ""


def test_a_structlog_that_is_sent_to_logging_hands_the_traceback_on(caplog):
    structlog.configure(
        processors=[structlog.stdlib.render_to_log_kwargs],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    failed(ZeroDivisionError("on purpose"))
    assert "in break_down" in caplog.text


def test_without_structlog_logging_has_the_traceback_at_the_events_level_and_nothing_is_printed(caplog, capsys):
    error = ZeroDivisionError("on purpose")
    failed(error)
    (record,) = caplog.records
    assert (record.levelname, record.gc_event, record.exc_info[1]) == ("WARNING", "plugin failed", error)
    assert "exc_info" not in record.getMessage()
    assert "in break_down" in caplog.text
    caplog.clear()
    caplog.set_level(logging.ERROR, logger="gc_core")
    failed(error)
    assert caplog.records == []
    assert capsys.readouterr().out == ""


def test_an_unconfigured_program_has_the_traceback_on_stderr_alone():
    program = """
from gc_core import Plugins
with Plugins().guarded("mine", "counting"):
    raise ZeroDivisionError("on purpose")
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == ""
    assert done.stderr.startswith('event="plugin failed" plugin=mine doing=counting ')
    assert done.stderr.endswith("ZeroDivisionError: on purpose\n")


class Unreadable(Exception):  # noqa: N818 - as a plugin may say it
    """Fails wherever it is shown or compared."""

    def __repr__(self):
        raise self

    __str__ = __eq__ = __ne__ = __repr__
    __hash__ = None


@pytest.mark.parametrize("processors", [None, [structlog.processors.JSONRenderer()], [structlog.dev.ConsoleRenderer()]])
def test_an_error_that_cannot_be_read_is_logged_all_the_same(processors, caplog):
    if processors is not None:
        structlog.configure(processors=processors)
    failed(Unreadable())
    assert {record.gc_event for record in caplog.records} <= {"plugin failed", "event not logged"}


def test_a_refusal_of_the_provider_is_logged(host):
    class Refused(Exception):  # noqa: N818 - as the vendors say it
        status_code = 400
        body = {"error": {"code": "context_length_exceeded", "message": "maximum context length is 3000 tokens"}}  # noqa: RUF012

        def __str__(self):
            return "This model's maximum context length is 3000 tokens. However, your messages resulted in 4100 tokens."

    with small() as session:
        rounds(session, 8)
        session.pre_send()
        session.recover(Refused())
    (event,) = host.named("request refused for its length")
    assert (event["refused_tokens"], event["allowed_tokens"]) == (4_100, 3_000)


def test_a_refused_summary_is_logged_by_kind_and_the_accepted_one_by_name(host):
    session = summarising(AsyncGCSession, Says("The port was 98765 and src/never_there.go was deleted."))
    with session:
        asyncio.run(talked(session))
    refused = host.named("summary refused")
    assert {event["by"] for event in refused} == {"Says"}
    assert {event["why"] for event in refused} == {"it tells what none of the originals says"}
    assert {event["by"] for event in host.named("summary taken in")} == {"extractive"}
    assert "98765" not in json.dumps(host.events)


def test_a_circle_is_logged(host):
    with small(reread_guard="warn") as session:
        rounds(session, 30)
        for place in range(12):
            session.pre_send()
            session.post_turn(call((f"again{place}", "read", {"path": "f1"})))
            session.append(result(f"again{place}", lines(40, "f1")))
    assert host.named("circle noticed")
    assert len(host.named("circle noticed")) < 12


def test_a_worker_logs_its_actions_for_its_session(host):
    async def worked():
        async with session, ToolResultWorker(session, {"read": lambda path: f"{path}: x = 1"}) as worker:
            session.append(user("Read it."))
            await session.pre_send()
            reply = call(("c1", "read", {"path": "a"}), ("c2", "write", {}))
            await session.post_turn(reply)
            await worker.answer(reply)

    session = AsyncGCSession(GCConfig(context_limit=50_000))
    asyncio.run(worked())
    (event,) = host.named("calls answered")
    assert (event["calls"], event["failed"], event["provisional"]) == (2, 1, 0)
    assert event["gc_session"] == store_of(session).session


# ---------------------------------------------------------------- the page

BOUND = {"event", "level", "logger", "gc_session", "gc_turn", "gc_collection", "trace_id", "span_id"}


class Row:
    def __init__(self, levels, keys):
        self.levels = levels
        self.keys = set(re.findall(r"`(\w+)`", keys))


def documented():
    table = PAGE.partition("## The events")[2]
    return {
        event: Row(row["levels"], row["keys"])
        for row in ROW.finditer(table)
        for event in re.findall(r"`([^`]+)`", row["events"])
    }


PACKAGES = ("gc_core", "ctxgc", "gateway", "agents", "plugins", "adapters")


def modules():
    """Every module of a distribution, with its path from the root."""
    for name in PACKAGES:
        for path in sorted((ROOT / name).rglob("*.py")):
            place = path.relative_to(ROOT)
            if not {"tests", "node_modules"} & {*place.parts} and not any(part.startswith(".") for part in place.parts):
                yield place, ast.parse(path.read_text(encoding="utf-8"))


def test_one_module_alone_makes_loggers_of_structlog():
    making = {"get_logger", "getLogger", "wrap_logger"}
    found = set()
    for place, tree in modules():
        for node in ast.walk(tree):
            called = (
                isinstance(node, ast.Attribute) and ast.unparse(node).startswith("structlog.") and node.attr in making
            )
            imported = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("structlog")
            if called or (imported and making & {name.name for name in node.names}):
                found.add(place.as_posix())
    assert found == {"gc_core/values/loggers.py"}


def test_the_page_lists_every_event_with_its_level_and_keys():
    found = set()
    for _, tree in modules():
        for level, event, keys in logged(tree):
            found.add(event)
            row = documented()[event]
            assert level in row.levels or level == "log"
            assert keys - BOUND <= row.keys, event
    assert found | {"event not logged"} == set(documented())


def logged(tree):
    """Level, name and keys of each event that a module logs."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
            continue
        function = node.func
        keys = {keyword.arg for keyword in node.keywords if keyword.arg}
        if isinstance(function, ast.Attribute) and ast.unparse(function.value) == "_log":
            yield function.attr, node.args[0].value, keys
        elif isinstance(function, ast.Name) and function.id == "log":
            yield "log", node.args[0].value, keys
