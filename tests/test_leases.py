"""Leases: what parallel sub-tasks bring back never makes a window too small, whoever ends first."""

import asyncio
import contextlib
import threading

import pytest
from ctxgc.evaluation.transcripts import read_transcript
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gc_core import AsyncGCSession, ContextOverflowError, Form, GCConfig, GCPolicy, GCSession, ItemKind
from gc_core.errors import LeaseError, MessageError, SessionClosedError
from gc_core.events import MessageRepaired
from gc_core.testing import AsyncFakeSummarizer
from tests.support.checker import complaints
from tests.support.corpus import corpus_dir, require_corpus
from tests.support.inside import core_of, state_of
from tests.support.likeness import assert_books_are_right, assert_same, likeness
from tests.support.messages import openai_sessions_strategy
from tests.support.promises import Watch
from tests.support.say import answer, call, lines, result, results, rounds, small, text_of, use, user

FORMATS = ("openai", "anthropic", "responses", "gemini")
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
LONG = lines(500, "long") + "\nerror: port 8081 was taken"


def said(text, form):
    if form == "gemini":
        return {"role": "user", "parts": [{"text": text}]}
    return user(text)


def begun(**more):
    session = small(more.pop("window", 20_000), **more)
    session.append(said("Do it.", session.format))
    session.pre_send()
    return session


def item_of(session, key):
    return next(item for item in session.items() if item.id == key)


def taken(session):
    """Tokens of the request with everything that is leased, as the provider will count."""
    leased = sum(lease.tokens for lease in session.leases)
    return state_of(session).calibration.estimate(session.budget.total + leased)


# --- what a lease is --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_a_result_is_one_note_at_the_end_of_the_next_request(form):
    events = []
    with begun(format=form, on_event=events.append) as session:
        with session.lease(500, name="docs") as lease:
            (key,) = lease.deliver("The port is set in app.py.")
        request = session.pre_send()
        last = str(request.messages[-1])
        assert "The port is set in app.py." in last
        assert "sub-task docs" in last
        assert (lease.state, session.leases) == ("delivered", ())
        assert item_of(session, key).synthetic
        assert session.recall(key) == "The port is set in app.py."
        assert complaints(form, request.kwargs()) == []
        assert not [event for event in events if isinstance(event, MessageRepaired)]
        assert_books_are_right(session)


@pytest.mark.parametrize("form", FORMATS)
def test_a_long_result_is_cut_to_its_lease_and_the_log_holds_it_whole(form, tmp_path):
    with begun(format=form, directory=tmp_path / "s") as session:
        before = session.budget.total
        (key,) = session.lease(400, name="tests").deliver(LONG)
        item = item_of(session, key)
        assert session.budget.total - before <= 400
        assert item.form is Form.STUB
        assert "port 8081 was taken" in item.text
        assert session.recall(key) == session.recall(item.text) == LONG
        assert_books_are_right(session)
        session.lease(400, name="more")
        was = likeness(session, ledger=False)
    with GCSession.open(tmp_path / "s") as again:
        assert again.leases == ()  # a lease is in no file: its sub-task ended with its process
        assert_same(was, likeness(again, ledger=False))


def test_a_lease_that_is_not_used_frees_its_room_at_its_end():
    with begun() as session:
        with session.lease(5_000, name="docs") as lease:
            assert [each.name for each in session.leases] == ["docs"]
            assert "docs 5,000" in session.explain()
        assert (session.leases, lease.state) == ((), "released")
        lease.release()
        session.lease(19_000, name="again").release()


def test_what_is_leased_counts_as_taken():
    with begun(window=10_000) as session:
        rounds(session, 20, task=None)
        free = session.budget.total
        session.pre_send()
        assert session.budget.total == free < 7_100
        session.lease(10_000 - free - 100, name="docs")
        session.pre_send()  # usage is above the threshold with it
        assert session.last_result is not None
        assert session.budget.total < free
        assert taken(session) <= 10_000


def test_a_request_that_no_collection_makes_small_enough_names_the_leases():
    with begun(window=6_000) as session:
        session.lease(4_500, name="docs")
        session.append(user(lines(400)), policy=GCPolicy.LOCKED)
        with pytest.raises(ContextOverflowError, match="lease 'docs' 4,500"):
            session.pre_send()
        for lease in session.leases:
            lease.release()
        session.pre_send()


# --- results of calls -------------------------------------------------------------------------------------------------


def test_a_tool_result_becomes_the_result_of_its_call_and_is_cut_when_its_batch_is_complete():
    with begun() as session:
        leases = [session.lease(300, name=f"task {place}") for place in range(3)]
        session.post_turn(call(*((f"c{place}", "delegate", {"n": place}) for place in range(3))))
        keys = [leases[place].deliver(result(f"c{place}", f"{place} {LONG}"))[0] for place in (2, 0, 1)]
        request = session.pre_send()
        assert complaints("openai", request.kwargs()) == []
        assert all(item_of(session, key).tokens <= 300 for key in keys)
        assert [session.recall(key)[:2] for key in keys] == ["2 ", "0 ", "1 "]
        assert session.leases == ()


def test_a_note_waits_for_the_results_that_the_model_waits_for():
    with begun(format="anthropic") as session:
        lease = session.lease(300, name="docs")
        session.post_turn(use(("c1", "read", {}), ("c2", "read", {})))
        assert lease.deliver(LONG) == ()
        assert [each.name for each in session.leases] == ["docs"]
        with pytest.raises(LeaseError, match="was delivered"):
            lease.deliver("again")
        session.append(results(("c2", "two"), ("c1", "one")))
        request = session.pre_send()
        assert complaints("anthropic", request.kwargs()) == []
        assert "sub-task docs" in str(request.messages[-1])
        assert session.leases == ()
        assert session.recall(session.items()[-1].id) == LONG


def test_results_of_parallel_calls_may_come_in_any_order_and_one_by_one():
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        with begun(format="anthropic") as session:
            session.post_turn(use(*((f"c{place}", "read", {"n": place}) for place in range(3))))
            for place in order:
                session.append(results((f"c{place}", f"answer {place}")))
            request = session.pre_send()
            assert complaints("anthropic", request.kwargs()) == []
            called = {item.id: item for item in session.items() if item.kind is ItemKind.TOOL_CALL}
            pairs = [(called[item.call].text, item.text) for item in session.items() if item.call]
            assert sorted(pairs) == [(f'{{"n":{place}}}', f"answer {place}") for place in range(3)]


def test_the_text_of_a_reply_is_delivered():
    with begun() as session:
        (key,) = session.lease(300, name="docs").deliver({"choices": [{"message": answer("It was app.py.")}]})
        assert session.recall(key) == "It was app.py."
        with pytest.raises(LeaseError, match="holds no text"):
            session.lease(300, name="docs").deliver(call(("c1", "read", {})))
        with pytest.raises(MessageError):
            session.lease(300, name="docs").deliver({"role": "nobody"})
        assert len(session.leases) == 2  # they are open still


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", [-5, 0, 3, True, 2.5, "many", None])
def test_a_lease_is_a_whole_number_of_tokens(tokens):
    with begun() as session, pytest.raises(LeaseError, match="expected a whole number of at least"):
        session.lease(tokens, name="docs")


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "x" * 81, None])
def test_a_lease_has_a_name_of_one_line(name):
    with begun() as session, pytest.raises(LeaseError, match="name = "):
        session.lease(1_000, name=name)


@pytest.mark.parametrize("wait", [-1, float("nan"), float("inf"), "long", True])
def test_a_lease_waits_for_seconds(wait):
    with begun() as session, pytest.raises(LeaseError, match="wait = "):
        session.lease(1_000, name="docs", wait=wait)


def test_the_error_names_what_was_asked_what_is_leased_by_whom_and_what_is_free():
    with begun() as session:
        session.lease(9_000, name="docs")
        session.lease(9_000, name="tests")
        with pytest.raises(LeaseError, match=r"5,000 tokens for 'more'.*docs 9,000, tests 9,000") as caught:
            session.lease(5_000, name="more")
        assert caught.value.asked == 5_000
        assert caught.value.leased == {"docs": 9_000, "tests": 9_000}
        assert caught.value.free == 2_000 - session.budget.total


def test_more_than_the_window_is_refused_at_once():
    with begun() as session, pytest.raises(LeaseError, match="does not fit"):
        session.lease(20_001, name="docs", wait=60)


def test_what_was_released_or_whose_session_is_closed_takes_no_result():
    session = begun()
    lease, other = session.lease(300, name="docs"), session.lease(300, name="tests")
    lease.release()
    with pytest.raises(LeaseError, match="was released"):
        lease.deliver("late")
    session.close()
    with pytest.raises(SessionClosedError):
        other.deliver("late")
    other.release()
    with pytest.raises(SessionClosedError):
        session.lease(300, name="docs")


# --- a thousand sub-tasks ---------------------------------------------------------------------------------------------


def test_a_thousand_threads_never_lease_more_than_the_window_has():
    with begun(window=50_000) as session:
        refused, over = [], []

        def sub_task(place):
            try:
                with session.lease(1_000, name=f"task {place}") as lease:
                    if place % 3:
                        lease.deliver(f"task {place} ended: {place * 7}")
                    if taken(session) > 50_000:
                        over.append(place)
            except LeaseError:
                refused.append(place)

        threads = [threading.Thread(target=sub_task, args=(place,)) for place in range(1_000)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert over == []
        assert session.leases == ()
        session.pre_send()
        delivered = [place for place in range(1_000) if place % 3 and place not in refused]
        assert all(f"task {place} ended" in text_of(session.pre_send()) for place in delivered[-5:])


def test_a_thousand_tasks_of_an_event_loop_wait_for_room_and_end_out_of_order():
    async def run():
        config = GCConfig(context_limit=50_000, output_reservation=0, strategy="gc_truncate")
        async with AsyncGCSession(config) as session:
            session.append(user("Do it."))
            await session.pre_send()
            most = 0

            async def sub_task(place):
                nonlocal most
                with await session.awaited_lease(1_000, name=f"task {place}") as lease:
                    most = max(most, taken(session))
                    for _ in range(place % 7):
                        await asyncio.sleep(0)
                    return lease.deliver(f"task {place} ended")

            ids = await asyncio.gather(*map(sub_task, range(1_000)))
            request = await session.pre_send()
            assert len({key for each in ids for key in each}) == 1_000
            assert 40_000 < most <= 50_000
            assert request.tokens <= 50_000
            assert "task 999 ended" in session.recall(ids[999][0])

    asyncio.run(run())


def test_who_waits_gets_the_room_that_comes_free_in_the_order_of_asking():
    with begun() as session:
        first = session.lease(15_000, name="first")
        order = []

        def wait_for(name, tokens):
            with session.lease(tokens, name=name, wait=30):
                order.append(name)

        threads = []
        for place, (name, tokens) in enumerate((("large", 15_000), ("small", 1_000))):
            threads.append(threading.Thread(target=wait_for, args=(name, tokens)))
            threads[-1].start()
            while len(core_of(session).leases._queue) <= place:
                pass
        assert session.leases == (first,)  # the small one would fit, and waits its turn
        first.release()
        for thread in threads:
            thread.join()
        assert sorted(order) == ["large", "small"]
        assert session.leases == ()


def test_no_lease_collects_and_who_waits_has_the_room_that_a_collection_makes():
    async def run():
        config = GCConfig(context_limit=20_000, output_reservation=0, strategy="gc_truncate")
        async with AsyncGCSession(config) as session:
            session.append(user("Do it."))
            for number in range(30):
                session.append(answer(lines(40, f"step {number}")))
                session.append(user("Go on."))
            before = (await session.pre_send()).messages
            with pytest.raises(LeaseError, match=r"collect_now\(\) makes room"):
                session.lease(18_000, name="tests", wait=0.01)
            waiting = asyncio.ensure_future(session.awaited_lease(18_000, name="tests"))
            await asyncio.sleep(0)
            assert (await session.pre_send()).messages == before
            assert not waiting.done()
            await session.collect_now(target_percent=5)
            assert (await waiting).tokens == 18_000

    asyncio.run(run())


def test_a_request_that_times_out_says_so_and_blocks_no_other():
    async def run():
        async with AsyncGCSession(GCConfig(context_limit=20_000)) as session:
            held = session.lease(10_000, name="docs")
            with pytest.raises(LeaseError, match="does not fit"):
                await session.awaited_lease(10_000, name="tests", wait=0.01)
            waiting = asyncio.ensure_future(session.awaited_lease(10_000, name="tests"))
            await asyncio.sleep(0)
            behind = asyncio.ensure_future(session.awaited_lease(200, name="small"))
            await asyncio.sleep(0)
            assert not behind.done()
            waiting.cancel()
            assert (await behind).name == "small"
            closing = asyncio.ensure_future(session.awaited_lease(10_000, name="tests"))
            await asyncio.sleep(0)
            session.close()
            with pytest.raises(SessionClosedError):
                await closing
            held.release()

    asyncio.run(run())


def test_a_note_that_comes_while_a_summary_is_awaited_waits_for_the_next_request():
    async def run():
        config = GCConfig(context_limit=6_000, output_reservation=0, strategy="gc_summarize", reread_guard="off")
        delivered = []

        class Slow(AsyncFakeSummarizer):
            async def summarize(self, request):
                delivered.append(lease.deliver(LONG))
                return await super().summarize(request)

        async with AsyncGCSession(config, summarizer=Slow()) as session:
            session.append(user("Do it."))
            lease = session.lease(400, name="docs")
            for place in range(30):
                await session.pre_send()
                await session.post_turn(call((f"c{place}", "read", {"path": f"f{place}"})))
                session.append(result(f"c{place}", lines(40, f"f{place}")))
                if delivered:
                    break
            assert delivered == [()]
            request = await session.pre_send()
            assert request.tokens <= 6_000
            assert "sub-task docs" in text_of(request)
            assert session.plugins.failures == []

    asyncio.run(run())


# --- properties -------------------------------------------------------------------------------------------------------


@settings(max_examples=8, phases=QUICK)
@given(openai_sessions_strategy(dead=False, pending=False), st.data())
def test_whatever_is_said_meanwhile_every_request_fits_with_all_that_is_leased_or_the_leases_are_named(messages, data):
    with small(3_000, strategy="gc_budget") as session:
        watch = Watch(session)
        leases = []
        for message in messages:
            if data.draw(st.booleans()):
                with contextlib.suppress(LeaseError):
                    leases.append(session.lease(data.draw(st.integers(100, 900)), name=f"task {len(leases)}"))
            elif leases and data.draw(st.booleans()):
                lease = leases.pop(data.draw(st.integers(0, len(leases) - 1)))
                lease.deliver(data.draw(st.sampled_from(["short", LONG])))
            watch.run([message])
            if watch.seen.overflows:  # what is held has grown since the leases were given, and nothing more may go
                assert all("lease 'task" in str(error) for error in watch.seen.overflows)
                break
        for lease in leases:
            lease.release()


def test_a_recorded_session_fits_with_what_is_leased():
    require_corpus()
    transcript = read_transcript(corpus_dir() / "entire--ac8a4f1a-1917-46bf-b8c1-0c3bab0fbc16.jsonl")
    with small(16_000, strategy="gc_budget", format=transcript.format) as session:
        session.lease(4_000, name="docs")
        watch = Watch(session, format_name=transcript.format)
        watch.run(transcript.messages[:120])
        assert watch.seen.collections
        assert not watch.seen.overflows
        session.pre_send()
        assert taken(session) <= 16_000
