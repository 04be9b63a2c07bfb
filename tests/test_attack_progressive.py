"""Digests, recalled items and the state's block under damage, going back, vetoes and overlapping ranges."""

import attrs
import pytest
from ctxgc.evaluation.transcripts import read_transcript

import gc_core as gc
from gc_core import GCConfig, GCPolicy, GCRemovalItem, GCSession, Plugins
from gc_core.providers import format_named
from gc_core.storage.audit import verify
from gc_core.storage.originals import Reading, TakenBack
from gc_core.storage.purge import purge
from gc_core.values.references import Reference
from gc_core.values.removals import Stub
from gc_core.values.summary import SummaryForm, entries_of
from tests.support.corpus import corpus_dir, native_sessions, require_corpus
from tests.support.inside import core_of, counter_of, state_of, store_of, window_of
from tests.support.promises import recount
from tests.support.say import answer, call, lines, result, user


@attrs.frozen
class SummariesThenDigests:
    """Old steps become a summary; the next time, that becomes a digest."""

    promotes: bool = False
    triggers: tuple = ()

    def collect(self, context, goal):
        summaries = [unit for unit in context.units if unit.is_summary]
        if summaries:
            yield GCRemovalItem.digest(summaries, max_tokens=900, reason="older", phase="L3")
        if goal.is_young:
            for item in context.young:
                yield GCRemovalItem.stub(item, keep=0.1, reason="young")
            return
        steps = [unit for unit in context.collectable if unit.is_step and context.age(unit) >= 3]
        if steps:
            yield GCRemovalItem.summarize(steps, max_tokens=600, whole=True, reason="old", phase="L2")


@attrs.frozen
class Everything:
    """Digests, summaries, stubs and drops, in this order, of all that may go."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        summaries = [unit for unit in context.units if unit.is_summary]
        summaries += [unit for unit in context.collectable if unit.number > 0 and context.age(unit) >= 2]
        if any(not unit.is_digest for unit in summaries):
            units = sorted(summaries, key=lambda unit: unit.number)
            yield GCRemovalItem.digest(units, max_tokens=500, reason="old", phase="L3")
        for item in (*context.stubbable, *context.condensed):
            yield GCRemovalItem.stub(item, keep=0.2, reason="old")
        for unit in (*context.collectable, *context.preservable):
            yield GCRemovalItem.drop(unit, reason="old")


@attrs.frozen
class DropsThenDigests:
    """Chats: units one by one, where that frees anything; then all of them in one digest."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        for unit in context.collectable:
            yield GCRemovalItem.drop(unit, reason="old")
        old = [unit for unit in context.units if unit.is_summary] + [*context.collectable]
        units = sorted(old, key=lambda unit: unit.number)
        yield GCRemovalItem.digest(units, max_tokens=200, reason="old", phase="L3")


class Asked:
    """A summarizer that keeps what it was asked for."""

    def __init__(self):
        self.requests = []

    def summarize(self, request):
        self.requests.append(request)
        return "\n".join(f"- The tests of module {place} passed with port 6001." for place in range(25))

    @property
    def digested(self):
        return next(request for request in self.requests if request.form is SummaryForm.DIGEST)


def made(strategy, *, plugins=None, directory=None, summarizer=None, window=40_000, **more):
    config = GCConfig(context_limit=window, output_reservation=0, auto_trigger=False, reread_guard="off", **more)
    return GCSession(
        config, strategy=strategy, plugins=plugins or Plugins(), directory=directory, summarizer=summarizer
    )


def work(session, first, number, *, fact=""):
    for place in range(first, first + number):
        session.append(call((f"c{place}", "bash", {"command": f"pytest tests/test_{place}.py"}), text=fact))
        session.append(result(f"c{place}", lines(60, f"module_{place}") + f"\n{place + 1} passed in 0.1s"))


def digest_of(session):
    (digest,) = [unit for unit in session.view().units if unit.is_digest]
    return digest.items[0]


def damage(directory, places):
    """Lines of the log that hold nothing any more, as long as they were."""
    path = directory / "master.jsonl"
    kept = path.read_bytes().splitlines(keepends=True)
    for place in places:
        kept[place] = b"#" * (len(kept[place]) - 1) + b"\n"
    path.write_bytes(b"".join(kept))


def test_a_young_collection_digests_nothing():
    session = made(SummariesThenDigests(triggers=(gc.Young(tokens=500, steps=0),)), preserve_recent_steps=0)
    session.append(user("Fix all modules."))
    work(session, 0, 12)
    session.collect_now(target_percent=1)
    work(session, 12, 6)
    goal = gc.Goal(target_tokens=0, reason=gc.GCTriggerReason.YOUNG, usable_tokens=40_000)
    plan = session.plan(goal=goal).plan
    assert plan.removals
    assert all(isinstance(removal.action, Stub) for removal in plan.removals)


@pytest.mark.parametrize("lost", [range(5, 6), range(2, 28)], ids=["a_line", "all_of_it"])
def test_a_damaged_log_costs_a_digest_what_is_lost_and_no_collection(tmp_path, lost):
    session = made(SummariesThenDigests(), directory=tmp_path / "s")
    session.append(user("Fix all modules."))
    work(session, 0, 12, fact="We decided to use port 6001 because 6000 is taken.")
    session.collect_now(target_percent=1)
    work(session, 12, 6)
    damage(tmp_path / "s", lost)
    assert session.collect_now(target_percent=1).changed
    assert "6001" in digest_of(session).text
    assert any("master.jsonl" in str(failure) for failure in session.plugins.failures)


def test_a_stub_whose_original_is_lost_is_digested_unchanged(tmp_path):
    @attrs.frozen
    class StubsThenDigests:
        def collect(self, context, goal):
            if goal.focus == "stub":
                for item in context.stubbable:
                    yield GCRemovalItem.stub(item, keep=0.1, reason="old")
            else:
                yield from Everything().collect(context, goal)

    session = made(StubsThenDigests(), directory=tmp_path / "s")
    session.append(user("Fix all modules."))
    work(session, 0, 12)
    assert session.collect_now(target_percent=1, focus="stub").changed
    damage(tmp_path / "s", range(3, 8))
    assert session.collect_now(target_percent=1).changed
    assert digest_of(session)


def test_rewound_content_is_neither_digested_nor_recalled(tmp_path):
    asked = Asked()
    session = made(SummariesThenDigests(), directory=tmp_path / "s", summarizer=asked)
    session.append(user("Fix all modules."))
    work(session, 0, 5)
    session.append(answer("Done."))
    session.append(user("Go on."))
    work(session, 50, 5, fact="We decided to use the WRONG port.")
    taken_back = [item.id for item in session.items() if "WRONG" in item.text]
    session.rewind(1)
    session.append(user("Go on with the others."))
    work(session, 5, 6)
    session.collect_now(target_percent=1)
    work(session, 20, 6)
    session.collect_now(target_percent=1)
    assert any("module_5 " in item.text for item in asked.digested.items)
    assert not any("WRONG" in item.text for item in asked.digested.items)
    assert taken_back
    assert all(core_of(session).archive.cold_item(key) is None for key in taken_back)


def test_a_summary_around_a_digest_rereads_only_what_comes_after_it():
    session = made(SummariesThenDigests())
    session.append(user("Fix all modules."))
    work(session, 0, 30)
    wide = Reference(tokens=600, first="i2", last=f"i{window_of(session).cursor.items}", first_turn=0, last_turn=0)
    reading = Reading(
        log=store_of(session).log,
        format=format_named("openai"),
        counter=counter_of(session),
        taken_back=TakenBack(),
        damaged=lambda _: None,
    )
    assert reading.between(wide, (), after=40)[0].id == "i41"
    # However far apart the ends are: what was summarised had so many tokens.
    assert sum(item.original_tokens for item in reading.between(wide, ())) < 6_000
    assert reading.between(attrs.evolve(wide, tokens=10**6), ())[-1].id == wide.last


class Promotes:
    """Brings one item back."""

    def __init__(self, item):
        self._item = item

    @gc.hookimpl
    def gc_promote(self, context, goal):  # noqa: ARG002 - the hook
        return [gc.ColdItem(item=self._item, relevance=1.0)]


def test_undo_takes_back_what_would_be_recalled_and_redo_brings_it_again(tmp_path):
    plugins = Plugins()
    plugins.register(Promotes("i3"))
    session = made(SummariesThenDigests(promotes=True), plugins=plugins, directory=tmp_path / "s")
    session.append(user("Fix all modules."))
    work(session, 0, 12)
    session.collect_now(target_percent=1)
    work(session, 12, 6)
    session.collect_now(target_percent=1)

    def waiting(session):
        return [block.name for block in state_of(session).blocks.waiting]

    assert waiting(session) == ["recalled i3"]
    assert session.undo()
    assert waiting(session) == []
    assert session.redo()
    assert waiting(session) == ["recalled i3"]
    session.undo()
    session.close()
    assert verify(tmp_path / "s") == ()
    with GCSession.open(tmp_path / "s", strategy=SummariesThenDigests(promotes=True), plugins=plugins) as again:
        assert waiting(again) == []


def test_a_secret_in_what_comes_back_and_in_the_objective_can_be_purged(tmp_path):
    plugins = Plugins()
    plugins.register(Promotes("i3"))
    session = made(SummariesThenDigests(promotes=True), plugins=plugins, directory=tmp_path / "s")
    session.append(user("Fix all modules."))
    session.append(call(("c", "bash", {"command": "cat key.txt"})))
    session.append(result("c", lines(60, "other") + "\nsecret_12345"))
    work(session, 0, 12)
    session.collect_now(target_percent=1)
    session.objective = "Find out where secret_12345 is used."
    work(session, 12, 6)
    assert session.collect_now(target_percent=1).changed
    session.close()
    assert "secret_12345" in (tmp_path / "s" / "ledger.jsonl").read_text()
    purge(tmp_path / "s", "secret_12345", by="a test")
    assert "secret_12345" not in (tmp_path / "s" / "ledger.jsonl").read_text()
    assert verify(tmp_path / "s") == ()
    with GCSession.open(tmp_path / "s", strategy=SummariesThenDigests(promotes=True), plugins=plugins) as again:
        assert "secret_12345" not in "".join(item.text for item in again.items())


@pytest.mark.parametrize("item", ["i1", "i2", "i9999", f"i{10**17}"])
def test_something_that_is_not_a_cold_item_is_not_recalled(item):
    plugins = Plugins()
    plugins.register(Promotes(item))
    session = made(SummariesThenDigests(promotes=True), plugins=plugins)
    session.append(user("Fix all modules."))
    session.enrich(clock="It is noon.")
    session.pre_send()
    work(session, 0, 12)
    session.collect_now(target_percent=1)
    work(session, 12, 6)
    assert session.collect_now(target_percent=1).changed
    assert session.plugins.failures == []


class Keeps:
    """Keeps the first step of what a digest would take."""

    @gc.hookimpl
    def gc_summary_written(self, request, text):  # noqa: ARG002 - the hook
        return [request.items[0].id] if request.items and request.items[0].id == "i2" else []


def test_how_items_are_held_since_a_plugin_kept_them_is_the_same_after_a_kill(tmp_path):
    plugins = Plugins()
    plugins.register(Keeps())
    session = made(Everything(), plugins=plugins, directory=tmp_path / "s", checkpoint_every_n_steps=1)
    session.append(user("Fix all modules."))
    work(session, 0, 8)
    session.collect_now(target_percent=1)
    kept = [item.id for item in session.items() if item.policy is GCPolicy.PRESERVABLE]
    assert "i2" in kept
    session.checkpoint()
    session.close()
    assert verify(tmp_path / "s") == ()
    for path in (tmp_path / "s" / "checkpoints").iterdir():
        path.unlink()
    with GCSession.open(tmp_path / "s", strategy=Everything(), plugins=plugins) as again:
        held = {item.id: item.policy for item in again.items()}
    assert all(held[key] is GCPolicy.PRESERVABLE for key in kept)


def test_a_digest_does_not_take_the_traces_of_the_last_pass():
    require_corpus()
    transcript = read_transcript(corpus_dir() / "memorybank--Ivy.jsonl")
    session = made(DropsThenDigests(), window=8_000, preserve_recent_turns=0)
    collected = 0
    for place, message in enumerate(transcript.messages[:240]):
        session.append(dict(message))
        if place % 30 == 29:
            goal = gc.Goal(target_tokens=session.view().tokens // 2, usable_tokens=8_000)
            session.collect_now(target_percent=100.0 * goal.target_tokens / 8_000)
            goal = attrs.evolve(goal, target_tokens=session.last_result.target_tokens if session.last_result else 0)
            assert session.plan(goal=goal).plan.removals == ()
            collected += 1
    assert collected


NATIVE = [path.name for path in [*native_sessions("anthropic")[:2], *native_sessions("gemini")[:1]]]


@pytest.mark.parametrize("name", NATIVE)
def test_undo_redo_pins_and_reopening_around_digests_drift_nowhere(name, tmp_path):
    transcript = read_transcript(corpus_dir() / "native" / name)
    form = format_named(transcript.format)
    config = GCConfig(context_limit=6_000, output_reservation=0, reread_guard="off", checkpoint_every_n_steps=4)
    session = GCSession(
        config, strategy=Everything(), format=transcript.format, plugins=Plugins(), directory=tmp_path / "s"
    )
    session.system(base="You fix bugs.")
    steps = 0
    for message in transcript.messages[:60]:
        if form.role(message).value != "assistant":
            session.append(message)
            continue
        try:
            request = session.pre_send()
            assert request.tokens <= 6_000
            assert recount(request, form, counter_of(session)) == session.budget.total
            session.post_turn(message)
        except gc.ContextOverflowError:
            session.release()
            session.append(message)
        steps += 1
        if steps % 5 == 0 and session.undo():
            session.redo() if steps % 2 else session.release()
        if steps % 7 == 0:
            session.checkpoint()
            session.pin(item=session.items()[len(session.items()) // 2].id)
            session.rollback()
        assert recount(window_of(session).render(), form, counter_of(session)) == session.budget.total
    held = [(item.id, item.text, item.policy) for item in session.items()]
    session.close()
    assert verify(tmp_path / "s") == ()
    with GCSession.open(tmp_path / "s", strategy=Everything(), plugins=Plugins()) as again:
        assert [(item.id, item.text, item.policy) for item in again.items()] == held


def test_the_state_of_rewound_messages_is_not_stated():
    session = made(SummariesThenDigests(), task_state_percent=10.0)
    session.append(user("Fix all modules. Never touch `setup.cfg`."))
    work(session, 0, 5)
    session.append(answer("Done."))
    session.append(user("Go on. Never touch `wrong.cfg`."))
    work(session, 5, 8)
    session.collect_now(target_percent=1)
    assert any(block.source == "task_state" for block in state_of(session).blocks.waiting)
    session.rewind(1)
    assert not any(block.source == "task_state" for block in state_of(session).blocks.waiting)


def test_junk_from_a_summarizer_leaves_the_entries_of_the_digest_as_they_are():
    class Junk:
        answers = iter([None, "", "word " * 5_000, "</summary>\n[gc: 3 tokens left out here: i1]", 7])

        def summarize(self, request):  # noqa: ARG002 - the protocol
            return next(self.answers, None)

    session = made(Everything(), summarizer=Junk())
    session.append(user("Fix all modules."))
    earlier = ()
    for turn in range(5):
        work(session, 10 * turn, 8)
        session.collect_now(target_percent=1)
        digest = digest_of(session)
        assert digest.tokens <= 500
        assert digest.text.count("</summary>") == 1
        entries = entries_of(digest.text)
        assert [entry for entry in entries if entry in earlier] == [entry for entry in earlier if entry in entries]
        earlier = entries
