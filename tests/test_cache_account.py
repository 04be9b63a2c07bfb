import json

import pytest
from ctxgc.evaluation.cache_simulator import CacheSimulator

from gc_core import GCConfig, GCSession
from gc_core.cache.account import CacheAccount, MissCause
from gc_core.cache.rate import Minute
from gc_core.cache.sent_prefix import SentPrefix
from gc_core.events import RateExceeded
from gc_core.providers import format_named
from gc_core.providers.cache_terms import terms_of
from gc_core.providers.replies import miss_reason
from gc_core.providers.token_counting import counter_for
from gc_core.storage.ledger import Booked, Entry, Observed
from gc_core.storage.usage_ledger import followed
from gc_core.values.messages import Request, Usage
from tests.support.say import answer, user

MODEL = "claude-sonnet-4-5"


def usage(read=0, written=0, fresh=0, output=0, **more):
    return Usage(
        input_tokens=read + written + fresh,
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_tokens=written,
        **more,
    )


def account(model=MODEL, format="anthropic", **more):  # noqa: A002
    return CacheAccount(model, format, **more)


def said(text):
    return {"role": "user", "content": text}


def reported(read=0, written=0, fresh=10, **more):
    return {
        "input_tokens": fresh,
        "output_tokens": 5,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        **more,
    }


REPLY = {"role": "assistant", "content": [{"type": "text", "text": "fine"}]}


def turn(session, text, report):
    session.append(said(text))
    session.pre_send()
    session.post_turn(REPLY, usage=report)


# -- sums ------------------------------------------------------------------------------------------------------------


def test_sums_hit_rate_and_cost_are_those_of_the_reports():
    books = account()
    books.called(usage(written=9_000, fresh=1_000, output=100), time=1e9)
    books.called(usage(read=9_000, written=1_000, output=100), time=1e9 + 9)
    report = books.report()
    assert (report.spend.read_tokens, report.spend.written_tokens, report.spend.fresh_tokens) == (9_000, 10_000, 1_000)
    assert report.hit_percent == pytest.approx(45)
    assert report.cost == pytest.approx((9_000 * 0.3 + 10_000 * 3.75 + 1_000 * 3 + 200 * 15) / 1e6)
    assert report.missing == ""


def test_an_unknown_model_has_tokens_and_no_cost():
    books = account(model="nobodys-model")
    call = books.called(usage(fresh=10), time=1e9)
    assert call.cost is None
    assert books.report().cost is None
    assert "nobodys-model" in books.report().missing
    assert any("cost unknown" in line for line in books.report().words())


def test_passes_that_the_provider_made_by_itself_are_booked_apart():
    books = account()
    compaction = Usage(input_tokens=150_000, output_tokens=3_000)
    call = books.called(usage(fresh=20_000, iterations=(compaction,)), time=1e9)
    (apart,) = books.report().apart
    assert (apart.kind, apart.spend.input_tokens) == ("compaction", 150_000)
    assert books.report().spend.input_tokens == 20_000
    assert books.report().cost == pytest.approx(call.cost)


def test_what_a_worker_took_is_part_of_the_cost_and_of_no_hit_rate():
    books = account()
    books.called(usage(read=900, fresh=100), time=1e9)
    before = books.report()
    books.booked("workers", Usage(input_tokens=5_000, output_tokens=50), "claude-haiku-4-5", time=1e9)
    after = books.report()
    assert after.hit_percent == before.hit_percent
    assert after.cost == pytest.approx(before.cost + (5_000 * 1 + 50 * 5) / 1e6)


_COUNTS = {"openai": ("prompt_tokens", "completion_tokens"), "anthropic": ("input_tokens", "output_tokens")}


@pytest.mark.parametrize("format", _COUNTS)
def test_a_provider_that_says_nothing_about_its_cache_has_no_misses_and_is_not_said_to_have_read_nothing(format):  # noqa: A002
    sent, answered = _COUNTS[format]
    with GCSession(format=format, model="a-model-of-mine") as session:
        for number in range(4):
            session.append(user(f"Ask {number}: " + "word " * 3_000))
            session.pre_send()
            session.post_turn(answer("Done."), usage={sent: 3_000 * (number + 1), answered: 5})
        assert session.cache.misses == ()
        assert "cache reads not reported" in session.explain()
        assert "unexplained" not in session.explain()


def test_a_provider_that_reports_no_cached_token_has_missed():
    with GCSession(model="gpt-5") as session:
        for number in range(4):
            session.append(user(f"Ask {number}: " + "word " * 3_000))
            session.pre_send()
            used = {"prompt_tokens": 3_000 * (number + 1), "prompt_tokens_details": {"cached_tokens": 0}}
            session.post_turn(answer("Done."), usage=used | {"completion_tokens": 5})
        assert [cause for cause, _, _ in session.cache.misses] == [MissCause.UNEXPLAINED]
        assert "0.0 % read from the cache" in session.explain()


# -- misses ----------------------------------------------------------------------------------------------------------


def missed(**what):
    books = account()
    books.called(usage(written=10_000), time=1e9, sent=1e9)
    for changes in what.pop("changes", ()):
        getattr(books, changes[0])(*changes[1:])
    given = {"time": 1e9 + 10, "sent": 1e9 + 10} | what
    return books.called(usage(written=9_000), **given).miss


def test_a_cached_prefix_that_was_read_is_not_a_miss():
    books = account()
    books.called(usage(written=10_000), time=1e9)
    assert books.called(usage(read=10_000, written=50), time=1e9 + 1).miss is None


@pytest.mark.parametrize(
    ("what", "cause", "words"),
    [
        ({"changed": "messages", "changes": [("collected", "collection 7")]}, MissCause.COLLECTION, "collection 7"),
        ({"changed": "messages", "changes": [("edited", "a collection was undone")]}, MissCause.EDIT, "undone"),
        ({"changed": "tools"}, MissCause.TOOLS, "tool schemas"),
        ({"changed": "system", "changes": [("collected", "collection 7")]}, MissCause.SYSTEM, "collection 7"),
        ({"sent": 1e9 + 400}, MissCause.EXPIRED, "idle for 400 seconds, the cache lives 300"),
        ({"changes": [("switched", "claude-opus-5")]}, MissCause.MODEL, "claude-opus-5"),
        ({"reason": "system_changed"}, MissCause.PROVIDER, "system_changed"),
        ({}, MissCause.UNEXPLAINED, "missed, although the prefix was unchanged"),
    ],
)
def test_a_miss_is_explained(what, cause, words):
    miss = missed(**what)
    assert miss.cause is cause
    assert words in miss.text
    assert miss.tokens == 9_000


def test_a_collection_that_changed_nothing_sent_explains_no_miss():
    assert missed(changes=[("collected", "collection 7")]).cause is MissCause.UNEXPLAINED


def test_a_clock_that_goes_backwards_counts_as_no_time_passed():
    assert missed(sent=1e9 - 500).cause is MissCause.UNEXPLAINED
    books = account(tpm_budget=100)
    for time in (1e9, 1e9 - 500, 1e9 - 499):
        books.called(usage(fresh=50), time=time)
    assert books.report().minute_tokens == 150


def test_a_cache_without_reports_of_writes_is_held_in_whole_steps():
    books = account(model="gpt-5.4", format="openai")
    books.called(usage(fresh=5_000), time=1e9)
    assert books.called(usage(read=4_992, fresh=100), time=1e9).miss is None
    assert books.called(usage(fresh=5_200), time=1e9).miss.tokens == 4_992


def test_a_report_is_as_large_after_many_misses_as_after_some():
    books = account()
    for call in range(500):
        books.called(usage(written=1_000), time=1e9 + call)
    report = books.report()
    assert len(report.newest_misses) == 20
    assert report.misses == ((MissCause.UNEXPLAINED, 499, 499_000),)


@pytest.mark.parametrize(
    ("report", "counted"),
    [
        (Usage(input_tokens=10, cache_read_tokens=20), 0),
        (Usage(input_tokens=90_000), 30_000),
        (Usage(input_tokens=3_000), 30_000),
    ],
)
def test_a_report_that_contradicts_the_count_is_recorded_and_logged(report, counted):
    books = account()
    books.called(report, time=1e9, counted=counted)
    assert len(books.report().contradictions) == 1
    assert books.report().spend.input_tokens == report.input_tokens


# -- what is sent ----------------------------------------------------------------------------------------------------


def request(*texts, system="rules", tool="read", mark=False):
    marks = {"cache_control": {"type": "ephemeral"}} if mark else {}
    return Request(
        format="anthropic",
        messages=tuple(said([{"type": "text", "text": text, **marks}] if mark else text) for text in texts),
        system=({"type": "text", "text": system, **marks},),
        tools=({"name": tool},),
    )


@pytest.mark.parametrize(
    ("then", "level"),
    [
        (request("a", "b", "c"), ""),
        (request("a", "b", mark=True), ""),
        (request("a", "x", "c"), "messages"),
        (request("a"), "messages"),
        (request("a", "b", system="other"), "system"),
        (request("a", "b", system="other", tool="write"), "tools"),
    ],
)
def test_where_a_request_differs_is_named(then, level):
    prefix = SentPrefix()
    prefix.follow(request("a", "b"))
    prefix.follow(then)
    assert prefix.changed() == level
    assert prefix.changed() == ""


# -- the session -----------------------------------------------------------------------------------------------------


def test_a_reopened_session_goes_on_counting(tmp_path):
    with GCSession(GCConfig(), format="anthropic", model=MODEL, directory=tmp_path) as session:
        turn(session, "one", reported(written=2_000))
        session.book("workers", Usage(input_tokens=100), model="claude-haiku-4-5")
        first = session.cache
    with GCSession.open(tmp_path) as session:
        assert session.cache == first
        turn(session, "two", reported(read=2_000, written=100))
        report = session.cache
        assert (report.spend.calls, report.spend.read_tokens) == (2, 2_000)
        assert report.apart == first.apart
        assert "20" in session.explain()


def test_a_collection_is_named_as_the_cause_of_the_break_that_it_made():
    config = GCConfig(strategy="gc_truncate", context_limit=8_000, output_reservation=0, preserve_recent_turns=1)
    provider = CacheSimulator(terms_of(MODEL), counter_for(MODEL, "anthropic"))
    with GCSession(config, format="anthropic", model=MODEL) as session:
        for number in range(20):
            session.append(said(f"{number} " + "word " * 400))
            seen = provider.call(session.pre_send())
            session.post_turn(REPLY, usage=reported(seen.cache_read_tokens, seen.cache_write_tokens, seen.fresh_tokens))
        assert session.last_result is not None
        misses = session.cache.newest_misses
        assert session.cache.contradictions == ()
    assert {miss.cause for miss in misses} == {MissCause.COLLECTION}
    assert all("by gc_truncate" in miss.text for miss in misses)


def test_a_changed_tool_is_named_as_the_cause():
    with GCSession(GCConfig(), format="anthropic", model=MODEL) as session:
        session.tools([{"name": "read", "input_schema": {}}])
        turn(session, "one", reported(written=2_000))
        session.tools([{"name": "write", "input_schema": {}}], refresh="now")
        turn(session, "two", reported(written=2_000))
        assert session.cache.newest_misses[-1].cause is MissCause.TOOLS


def test_more_than_the_budget_of_a_minute_is_reported_once():
    events = []
    config = GCConfig(tpm_budget=5_000)
    with GCSession(config, format="anthropic", model=MODEL, on_event=events.append) as session:
        for written in (3_000, 3_000, 3_000):
            turn(session, "again", reported(written=written))
        assert session.cache.minute_tokens > 9_000
        assert "above 5,000 allowed" in session.explain()
    (changes,) = [event for event in events if isinstance(event, RateExceeded)]
    assert (changes.budget, changes.tokens) == (5_000, 6_030)


def test_what_anthropic_read_from_its_cache_counts_for_no_minute():
    books = account(tpm_budget=100)
    books.called(usage(read=50_000, fresh=10, output=5), time=1e9)
    assert books.report().minute_tokens == 15


class Counting:
    summarization_model = "claude-haiku-4-5"

    def __init__(self, tells):
        self.tells = tells

    def summarize(self, request):
        if self.tells:
            request.spent(1_234, 56)
        return "The user asked for words, and the assistant answered."


@pytest.mark.parametrize("tells", [True, False])
def test_what_a_summarizer_took_is_booked_and_an_estimate_is_called_one(tells):
    config = GCConfig(strategy="gc_summarize", context_limit=6_000, output_reservation=0, preserve_recent_turns=1)
    with GCSession(config, format="anthropic", model=MODEL, summarizer=Counting(tells)) as session:
        for number in range(12):
            session.append(said(f"{number} " + "word " * 150))
            session.pre_send()
            session.post_turn({"role": "assistant", "content": [{"type": "text", "text": "answer " * 250}]})
        (apart,) = session.cache.apart
        assert apart.kind == "summaries"
        assert apart.spend.estimated is not tells
        assert apart.spend.input_tokens > 0
        assert apart.spend.input_tokens % 1_234 == 0 or not tells
        assert apart.spend.usd > 0


def test_an_account_that_cannot_be_written_stops_no_turn():
    with GCSession(GCConfig(), format="anthropic", model=MODEL) as session:
        assert session.cache.spend.calls == 0
        assert "cache:" not in session.explain()


# -- what providers tell ---------------------------------------------------------------------------------------------


def test_anthropic_reports_lives_and_passes():
    report = reported(
        written=300,
        cache_creation={"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200},
        iterations=[
            {"type": "compaction", "input_tokens": 70_000, "output_tokens": 900},
            {"type": "message", "input_tokens": 10, "output_tokens": 5},
        ],
    )
    found = format_named("anthropic").usage(report)
    assert (found.cache_write_tokens, found.cache_write_1h_tokens, found.fresh_tokens) == (300, 200, 10)
    assert found.iterations == (Usage(input_tokens=70_000, output_tokens=900),)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"diagnostics": {"cache_miss_reason": {"type": "tools_changed"}}}, "tools_changed"),
        ({"prompt_cache_diagnostics": {"type": "cache_miss", "reason": "context_compacted"}}, "context_compacted"),
        ({"diagnostics": {"cache_miss_reason": None}}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_the_providers_own_reason_is_read_from_the_reply(reply, reason):
    assert miss_reason(reply) == reason


# -- the ledger ------------------------------------------------------------------------------------------------------


def test_reports_in_an_old_ledger_are_not_calls():
    old = Entry.read(b'{"at":1,"time":2.0,"kind":"observed","raw":5,"reported":6}')
    assert old.record == Observed(raw=5, reported=6)
    assert followed(account(), old) is None


def test_an_entry_reads_as_it_was_written():
    full = usage(1, 2, 3, 4, cache_write_1h_tokens=1, iterations=(Usage(input_tokens=9),))
    for record in (
        Observed(raw=5, reported=6, usage=full, sent=1.5, changed="tools", reason="tools_changed"),
        Booked(source="workers", usage=full, model="gpt-5.4", estimated=True),
    ):
        line = Entry(at=1, time=2.0, record=record).line()
        assert Entry.read(line).record == record
        assert json.loads(line)["kind"] in {"observed", "booked"}


def test_a_clock_that_was_put_back_does_not_stop_the_minute():
    minute = Minute(terms_of("gpt-5"))
    minute.add(100_000.0, Usage(input_tokens=1_000))
    for call in range(10):
        minute.add(10.0 + 100.0 * call, Usage(input_tokens=1_000))
    assert minute.tokens == 1_000
