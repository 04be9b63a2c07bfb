"""A digest grows by entries from originals, never beyond its cap, and says nothing twice in other words."""

import re

import attrs
import pytest
from ctxgc.evaluation.transcripts import read_transcript

from gc_core import GCConfig, GCRemovalItem, GCSession, Plugins
from gc_core.providers.rules import check_request
from gc_core.providers.token_counting import counter_for
from gc_core.storage.audit import verify
from gc_core.summaries.digests import digest_text
from gc_core.values.summary import SummaryForm, SummaryRequest, entries_of
from tests.support.corpus import corpus_dir, require_corpus
from tests.support.inside import collections_of
from tests.support.say import answer, call, lines, result, user

COUNTER = counter_for(None, "openai")
CAP = 900


@attrs.frozen
class Digests:
    """Everything that is older than so many steps goes into one digest."""

    age: int = 3
    cap: int = CAP

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        old = [unit for unit in context.units if unit.is_summary]
        old += [unit for unit in context.collectable if unit.is_step and context.age(unit) >= self.age]
        if old:
            units = sorted(old, key=lambda unit: unit.number)
            yield GCRemovalItem.digest(units, max_tokens=self.cap, reason="old", phase="L3")


@attrs.frozen
class SummariesThenDigests:
    """Old steps become a summary; the next time, that becomes a digest."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        summaries = [unit for unit in context.units if unit.is_summary]
        if summaries:
            yield GCRemovalItem.digest(summaries, max_tokens=CAP, reason="older", phase="L3")
        steps = [unit for unit in context.collectable if unit.is_step and context.age(unit) >= 3]
        if steps:
            yield GCRemovalItem.summarize(steps, max_tokens=600, whole=True, reason="old", phase="L2")


def made(strategy, window=40_000, **more):
    config = GCConfig(context_limit=window, output_reservation=0, auto_trigger=False, reread_guard="off", **more)
    return GCSession(config, strategy=strategy, plugins=Plugins())


def work(session, first, number, *, fact=""):
    for place in range(first, first + number):
        session.append(call((f"c{place}", "bash", {"command": f"pytest tests/test_{place}.py"}), text=fact))
        session.append(result(f"c{place}", lines(60, f"module_{place}") + f"\n{place + 1} passed in 0.1s"))


def digests_of(session):
    return [unit for unit in session.view().units if unit.is_digest]


def test_old_steps_become_one_digest_that_grows_by_what_is_new():
    session = made(Digests())
    session.append(user("Fix all modules."))
    work(session, 0, 8)
    session.collect_now(target_percent=1)
    (first,) = digests_of(session)
    entries = entries_of(first.items[0].text)
    assert entries
    work(session, 8, 8)
    session.collect_now(target_percent=1)
    (second,) = digests_of(session)
    assert [each for each in entries_of(second.items[0].text) if each in entries] == list(entries)
    assert second.items[0].reference.tokens > first.items[0].reference.tokens
    assert check_request(session.pre_send()) == ()


def test_a_full_digest_selects_and_keeps_its_cap():
    session = made(Digests(cap=400))
    session.append(user("Fix all modules."))
    known, reached = set(), 0
    for turn in range(12):
        work(session, 10 * turn, 10, fact=f"We decided to use port {5000 + turn} because {turn} is free.")
        session.collect_now(target_percent=1)
        (digest,) = digests_of(session)
        assert digest.tokens <= 400
        entries = entries_of(digest.items[0].text)
        new = {entry for entry in entries if entry not in known}
        assert all(int(re.search(r", i(\d+)\)", entry)[1]) > reached for entry in new), new
        known.update(entries)
        reached = int(digest.items[0].reference.last[1:])


def test_a_summary_is_digested_from_its_originals_read_from_the_log():
    session = made(SummariesThenDigests())
    session.append(user("Fix all modules."))
    work(session, 0, 12, fact="We decided to use port 6001 because 6000 is taken.")
    session.collect_now(target_percent=1)
    assert not digests_of(session)
    summary = next(unit for unit in session.view().units if unit.is_summary)
    work(session, 12, 6)
    requests = []
    collections_of(session).answering = attrs.evolve(
        collections_of(session).answering, name="spy", summarizer=_Spy(requests)
    )
    session.collect_now(target_percent=1)
    (digest,) = digests_of(session)
    asked = next(request for request in requests if request.form is SummaryForm.DIGEST)
    reference = summary.items[0].reference
    assert asked.items[0].id == reference.first
    assert asked.items[-1].id == reference.last
    assert any("module_0 59" in item.text for item in asked.items)
    assert "6001" in digest.items[0].text


class _Spy:
    def __init__(self, requests):
        self._requests = requests

    def summarize(self, request):
        self._requests.append(request)
        return "- Decided by the assistant (turn 0, i2): “We decided to use port 6001 because 6000 is taken.”"


def test_undo_brings_back_what_a_digest_replaces():
    session = made(Digests())
    session.append(user("Fix all modules."))
    work(session, 0, 8)
    before = [item.text for item in session.items()]
    session.collect_now(target_percent=1)
    assert digests_of(session)
    assert session.undo()
    assert [item.text for item in session.items()] == before


def test_a_digest_takes_the_traces_before_it():
    @attrs.frozen
    class DropsThenDigests:
        def collect(self, context, goal):
            if goal.focus == "drop":
                yield GCRemovalItem.drop(context.collectable[0], context.collectable[1], reason="old")
            else:
                yield from Digests().collect(context, goal)

    session = made(DropsThenDigests())
    session.append(user("Fix all modules."))
    work(session, 0, 12)
    session.collect_now(target_percent=1, focus="drop")
    assert any(unit.is_trace for unit in session.view().units)
    work(session, 12, 1)  # a trace of the last pass stays: a second one with nothing between is empty
    session.collect_now(target_percent=1)
    assert not any(unit.is_trace for unit in session.view().units)
    (digest,) = digests_of(session)
    assert digest.items[0].reference.first == "i2"


def test_a_digest_without_anything_new_is_refused():
    session = made(Digests())
    session.append(user("Fix all modules."))
    work(session, 0, 8)
    session.collect_now(target_percent=1)
    again = session.collect_now(target_percent=1)
    assert not again.changed


def test_entries_stay_word_for_word_and_newer_ones_follow():
    request = SummaryRequest(
        items=(), max_tokens=50, form=SummaryForm.DIGEST, room=200, count=COUNTER.count,
        entries=("- Decided by the user (turn 1, i4): “Use a.”", "- `x.py` was read (turn 1, i5)."),
    )  # fmt: skip
    text = digest_text(request, "What happened:\n* `y.py` was edited (turn 9, i90).\n")
    assert text.splitlines() == [*request.entries, "- `y.py` was edited (turn 9, i90)."]


def test_where_it_is_full_what_binds_the_agent_outlives_what_was_read():
    entries = tuple(f"- `file_{place}.py` was read (turn 1, i{place})." for place in range(60))
    rule = "- The user required (turn 1, i1): “Never touch the lock file.”"
    request = SummaryRequest(
        items=(), max_tokens=50, form=SummaryForm.DIGEST, room=150, count=COUNTER.count, entries=(rule, *entries)
    )
    kept = digest_text(request, "").splitlines()
    assert kept[0] == rule
    assert kept[-1] == entries[-1]
    assert COUNTER.count("\n".join(kept)) <= 150


def test_with_a_task_state_a_full_digest_keeps_fixes_of_failures_before_demands():
    failed = [f"- `run` failed (turn {n}, i{n}0): step {n}; it succeeded later (turn {n}, i{n}5)" for n in range(1, 9)]
    demanded = [f"- The user required (turn {n}, i{n}1): “Never touch table {n}.”" for n in range(1, 9)]
    request = SummaryRequest(
        items=(), max_tokens=50, form=SummaryForm.DIGEST, room=260, count=COUNTER.count, entries=(*failed, *demanded)
    )
    assert set(demanded) <= set(digest_text(request, "").splitlines())
    assert set(failed) <= set(digest_text(attrs.evolve(request, stated=True), "").splitlines())


@pytest.mark.parametrize("name", ["concat-tau2-retail.jsonl"])
def test_over_real_sessions_digests_fit_verify_and_reopen(name, tmp_path):
    require_corpus()
    transcript = read_transcript(corpus_dir() / name)
    config = GCConfig(context_limit=16_000, output_reservation=0)
    session = GCSession(config, strategy=Digests(age=5, cap=1_500), plugins=Plugins(), directory=tmp_path / "s")
    for message in transcript.messages[:110]:
        payload = dict(message)
        if payload["role"] == "assistant":
            request = session.pre_send()
            assert request.tokens <= 16_000
            assert check_request(request) == ()
            session.post_turn(payload)
        else:
            session.append(payload)
    found = digests_of(session)
    assert len(found) <= 1
    held = [item.text for item in session.items()]
    session.close()
    assert not [finding for finding in verify(tmp_path / "s") if finding.severity == "error"]
    with GCSession.open(tmp_path / "s", strategy=Digests(age=5, cap=1_500), plugins=Plugins()) as again:
        assert [item.text for item in again.items()] == held


def test_an_answer_may_be_digested_too_when_it_is_a_step():
    session = made(Digests())
    session.append(user("Fix all modules."))
    work(session, 0, 6)
    session.append(answer("All modules are fixed."))
    session.append(user("Thanks, go on."))
    work(session, 6, 6)
    session.collect_now(target_percent=1)
    assert len(digests_of(session)) == 1
