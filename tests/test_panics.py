"""An error that derives only from BaseException, a panic in Rust for instance, is contained like any other error."""

import asyncio

import pytest

from gc_core import AsyncGCSession, GCConfig, GCRemovalItem, GCSession, Plugins, hookimpl
from tests.support.say import answer, call, lines, result, user


class Panic(BaseException):
    """What code in Rust raises where it panics."""


CONTAINED = (Panic, asyncio.CancelledError, BaseException)
GOES_ON = (KeyboardInterrupt, SystemExit, GeneratorExit)
HOOKS = {
    "gc_classify": "item",
    "gc_review_plan": "plan",
    "gc_validate_reply": "reply, context, recall",
    "gc_process_message": "message",
    "gc_collection_started": "goal",
    "gc_collection_finished": "result",
    "gc_budget_updated": "budget",
    "gc_request_rendered": "request",
}


def raising(error, hook):
    """A plugin whose implementation of this hook raises."""
    space = {"hookimpl": hookimpl, "error": error}
    code = f"class Raises:\n    @hookimpl\n    def {hook}(self, {HOOKS[hook]}):\n        raise error('from inside')\n"
    exec(code, space)  # noqa: S102 - pluggy reads the names of the arguments
    return space["Raises"]()


class Strategy:
    """Raises after its first proposal."""

    def __init__(self, error):
        self.error = error

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        yield GCRemovalItem.drop(context.collectable[0], reason="oldest")
        raise self.error("from inside")


class Summarizer:
    def __init__(self, error):
        self.error = error

    def summarize(self, request):  # noqa: ARG002 - the contract
        raise self.error("from inside")


class AsyncSummarizer(Summarizer):
    async def summarize(self, request):  # noqa: ARG002 - the contract
        await asyncio.sleep(0)
        raise self.error("from inside")


def spoken(session):
    session.append(user("Do it."))
    for place in range(8):
        session.append(call((f"c{place}", "read", {"n": place})))
        session.append(result(f"c{place}", lines(30)))


CONFIG = GCConfig(context_limit=4_000, output_reservation=0)


@pytest.mark.parametrize("error", CONTAINED)
@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_that_panics_is_recorded_and_the_session_goes_on(hook, error):
    plugins = Plugins()
    plugins.register(raising(error, hook), name="rust")
    with GCSession(CONFIG, strategy=Strategy(ZeroDivisionError), plugins=plugins) as session:
        spoken(session)
        session.collect_now(target_percent=40)
        session.pre_send()
        session.post_turn(answer("Done."))
        assert session.budget.total <= CONFIG.usable
    assert {(failure.plugin, type(failure.error)) for failure in plugins.failures if failure.plugin == "rust"} == {
        ("rust", error)
    }


@pytest.mark.parametrize("error", CONTAINED)
def test_a_strategy_that_panics_is_replaced_for_that_pass(error):
    with GCSession(CONFIG, strategy=Strategy(error), plugins=Plugins()) as session:
        spoken(session)
        found = session.collect_now(target_percent=40)
        assert found.failures == (f"Strategy failed in collect: {error.__name__}: from inside",)
        assert session.budget.total <= 1_600


@pytest.mark.parametrize("error", CONTAINED)
@pytest.mark.parametrize("kind", [Summarizer, AsyncSummarizer])
def test_a_summarizer_that_panics_is_replaced_by_the_extract(kind, error):
    config = GCConfig(context_limit=4_000, output_reservation=0, preserve_recent_turns=1, strategy="gc_summarize")

    async def life():
        async with AsyncGCSession(config, summarizer=kind(error)) as session:
            for _ in range(3):
                spoken(session)
                session.append(answer("Done."))
            return await session.collect_now(target_percent=40), session.plugins.failures

    found, failures = asyncio.run(life())
    assert found.tokens_after < found.tokens_before
    assert [failure.doing for failure in failures] == ["summarize"] * len(failures)
    assert failures


def test_the_hosts_own_cancellation_is_not_a_plugin_error():
    class Waits:
        async def summarize(self, request):  # noqa: ARG002 - the contract
            await asyncio.sleep(3_600)

    async def life():
        config = GCConfig(context_limit=4_000, output_reservation=0, preserve_recent_turns=1, strategy="gc_summarize")
        async with AsyncGCSession(config, summarizer=Waits()) as session:
            for _ in range(3):
                spoken(session)
                session.append(answer("Done."))
            task = asyncio.ensure_future(session.collect_now(target_percent=40))
            for _ in range(20):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return session.plugins.failures

    assert asyncio.run(life()) == []


@pytest.mark.parametrize("where", ["when it is imported", "when it registers"])
@pytest.mark.parametrize("error", CONTAINED)
def test_a_plugin_that_panics_before_it_is_there_breaks_nothing_else(where, error, monkeypatch):
    class Registers:
        @hookimpl
        def gc_register_strategies(self, register):  # noqa: ARG002 - the contract
            raise error("from inside")

    class Entry:
        name, dist = "rust", None

        def load(self):
            if where == "when it is imported":
                raise error("from inside")
            return Registers()

    monkeypatch.setattr("gc_core.plugins.manager.installed_entries", lambda: (Entry(),))
    (failure,) = Plugins.discover().failures
    assert (failure.plugin, failure.doing) == ("rust", "loading")
    assert "from inside" in str(failure)


@pytest.mark.parametrize("error", GOES_ON)
def test_what_ends_the_process_goes_on(error):
    plugins = Plugins()
    plugins.register(raising(error, "gc_request_rendered"), name="rust")
    with GCSession(CONFIG, strategy="none", plugins=plugins) as session:
        session.append(user("Do it."))
        with pytest.raises(error):
            session.pre_send()
