"""What left the window comes back when plugins say that it matters again: bounded, recorded, and never twice."""

import attrs
import pytest

from gc_core import ColdItem, GCConfig, GCRemovalItem, GCSession, PluginError, Plugins, hookimpl
from gc_core.collector.cold_tier import MOST_EXAMINED, MOST_ITEMS, MOST_TOKENS
from gc_core.storage.ledger import Collected
from gc_core.values.items import ItemKind
from tests.support.inside import core_of, counter_of, moment_of, scheduler_of, state_of, store_of
from tests.support.say import call, lines, rendered, result, user


@attrs.frozen
class Oldest:
    """Drops what is oldest, and works with tiers."""

    promotes: bool = True

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        for unit in context.collectable:
            yield GCRemovalItem.drop(unit, reason="oldest")


class Promoting:
    """Names what a test says; counts how often it is asked."""

    def __init__(self, *named):
        self.named = [ColdItem(item=key, relevance=relevance, reason="a test says so") for key, relevance in named]
        self.asked = 0

    @hookimpl
    def gc_promote(self, context, goal):  # noqa: ARG002 - the hook
        self.asked += 1
        return self.named


class Raising:
    @hookimpl
    def gc_promote(self, context, goal):  # noqa: ARG002 - the hook
        raise RuntimeError("no idea")


def plugins(*hooks):
    made = Plugins()
    for hook in hooks:
        made.register(hook)
    return made


def session(*hooks, strategy=None, directory=None, **more):
    config = GCConfig(context_limit=20_000, output_reservation=0, reread_guard="off", auto_trigger=False, **more)
    return GCSession(config, strategy=strategy or Oldest(), plugins=plugins(*hooks), directory=directory)


def run(made, number, *, first=0, size=40):
    if first == 0:
        made.append(user("Look at all of it."))
    for place in range(first, first + number):
        made.pre_send()
        made.post_turn(call((f"c{place}", "read", {"path": f"f{place}.py"})))
        made.append(result(f"c{place}", lines(size, f"row{place}")))


def enrichment(made):
    return [item for item in made.items() if item.kind is ItemKind.ENRICHMENT]


def collections(made):
    entries = (entry for _, entry in store_of(made).ledger.entries())
    return [entry.record for entry in entries if isinstance(entry.record, Collected)]


def promoted(*named, steps=30, directory=None, **more):
    """A session in which a collection has just brought back what is named."""
    hook = Promoting()
    made = session(hook, directory=directory, **more)
    run(made, steps)
    made.collect_now(target_percent=20)
    run(made, 12, first=steps)
    hook.named = [ColdItem(item=key, relevance=relevance) for key, relevance in named]
    return made, hook


# --- what comes back --------------------------------------------------------------------------------------------------


def test_promoted_content_is_at_the_end_of_the_next_request_by_the_same_ledger_record():
    made, _ = promoted(("i3", 0.9))
    with made:
        known = len(collections(made))
        made.collect_now(target_percent=20)
        assert enrichment(made) == []
        record = collections(made)[-1]
        assert len(collections(made)) == known + 1
        assert [block.name for block in record.recalled] == ["recalled i3"]
        assert record.removals
        last = made.pre_send().messages[-1]
        assert lines(40, "row0") in str(last["content"])
        assert [item.name for item in enrichment(made)] == ["recalled i3"]


@pytest.mark.parametrize(("relevance", "threshold", "comes"), [(0.6, 0.6, False), (0.61, 0.6, True), (1.0, 1.0, False)])
def test_only_what_is_above_the_threshold_comes_back(relevance, threshold, comes):
    made, _ = promoted(("i3", relevance), promote_threshold=threshold)
    with made:
        made.collect_now(target_percent=20)
        made.pre_send()
        assert bool(enrichment(made)) == comes


def test_the_most_relevant_come_back_in_a_bounded_share_and_the_target_holds(monkeypatch):
    share = 0.04
    monkeypatch.setattr("gc_core.collector.cold_tier.MOST_SHARE", share)
    made, _ = promoted(*((f"i{3 + 2 * place}", 0.7 + place / 100) for place in range(15)))
    with made:
        made.collect_now(target_percent=20)
        made.pre_send()
        back = enrichment(made)
        assert 0 < len(back) <= MOST_ITEMS
        assert back[0].name == "recalled i31"
        assert sum(item.tokens for item in back) <= share * made.config.usable
        # The collection made room for it.
        assert made.budget.total <= 0.21 * made.config.usable


def test_no_more_than_five_come_back_whatever_room_there_is():
    made, _ = promoted(*((f"i{3 + 2 * place}", 0.9) for place in range(20)))
    with made:
        made.collect_now(target_percent=30)
        made.pre_send()
        assert len(enrichment(made)) == MOST_ITEMS


def test_of_a_long_item_come_back_the_lines_that_the_window_lacks():
    hook = Promoting()
    with session(hook) as made:
        run(made, 1, size=900)
        run(made, 20, first=1)
        made.collect_now(target_percent=15)
        run(made, 8, first=21)
        hook.named = [ColdItem(item="i3", relevance=0.9)]
        made.collect_now(target_percent=15)
        made.pre_send()
        (item,) = enrichment(made)
        assert item.tokens <= MOST_TOKENS + 50
        assert "[gc: " in item.text
        assert made.recall("i3") == lines(900, "row0")


# --- never twice, and as recorded -------------------------------------------------------------------------------------


def test_content_already_in_the_window_is_not_sent_twice():
    made, _ = promoted(("i3", 0.9))
    with made:
        made.collect_now(target_percent=20)
        made.pre_send()
        run(made, 1, first=42)
        made.collect_now(target_percent=18)
        request = made.pre_send()
        assert str(request.messages).count("row0 39 of the text") == 1


def test_what_one_name_is_promoted_by_twice_comes_back_once():
    made, _ = promoted(("i3", 0.9), ("i3", 0.7))
    with made:
        made.collect_now(target_percent=20)
        assert len(collections(made)[-1].recalled) == 1


def test_it_survives_reopening_before_and_after_it_is_placed(tmp_path):
    for when in ("before", "after", "checkpoint"):
        made, _ = promoted(("i3", 0.9), directory=tmp_path / when)
        with made:
            made.collect_now(target_percent=20)
            if when == "after":
                made.pre_send()
            if when == "checkpoint":
                made.checkpoint()
            before = rendered(made)
        with GCSession.open(tmp_path / when, strategy=Oldest(), plugins=plugins()) as again:
            assert rendered(again) == before
            assert lines(40, "row0") in str(again.pre_send().messages[-1]["content"])
            assert [item.name for item in enrichment(again)] == ["recalled i3"]


def test_a_dry_run_and_a_second_collection_bring_back_nothing():
    made, _ = promoted(("i3", 0.9))
    with made:
        before = rendered(made)
        made.plan(target_percent=20)
        assert state_of(made).blocks.waiting == ()
        assert rendered(made) == before
        made.collect_now(target_percent=20)
        known = len(collections(made))
        assert not made.collect_now(target_percent=20).changed
        assert len(collections(made)) == known


# --- who is asked -----------------------------------------------------------------------------------------------------


def test_a_strategy_that_does_not_work_with_tiers_asks_nobody():
    hook = Promoting(("i3", 0.9))
    with session(hook, strategy=Oldest(promotes=False)) as made:
        run(made, 30)
        made.collect_now(target_percent=20)
        assert hook.asked == 0


def test_nothing_comes_back_where_nothing_has_to_leave():
    made, hook = promoted(("i3", 0.9))
    with made:
        asked = hook.asked
        made.collect_now(target_percent=95)
        assert hook.asked == asked
        assert state_of(made).blocks.waiting == ()


def test_strategies_search_only_what_left():
    seen = []

    class Searching(Oldest):
        def collect(self, context, goal):
            seen.extend(context.search("row0", 5))
            seen.extend(context.search("row29", 5))
            return super().collect(context, goal)

    with session(strategy=Searching()) as made:
        run(made, 30)
        made.collect_now(target_percent=20)
        assert seen == []
        made.collect_now(target_percent=10)
        assert [found.item for found in seen] == ["i3"]
        assert seen[0].text == lines(40, "row0")


# --- junk -------------------------------------------------------------------------------------------------------------


def test_ids_that_are_unknown_resident_or_no_text_of_their_own_are_passed_over():
    made, hook = promoted()
    with made:
        whole = [item.id for item in made.items()]
        hook.named = [ColdItem(item=key, relevance=1.0) for key in ("i999999", *whole)]
        hook.named.append(ColdItem(item="i3", relevance=0.9))
        made.collect_now(target_percent=20)
        assert [block.name for block in collections(made)[-1].recalled] == ["recalled i3"]
        assert made.plugins.failures == []


def test_ten_thousand_items_of_the_greatest_relevance_take_only_a_moment():
    made, hook = promoted()
    with made:
        hook.named = [ColdItem(item=f"i{number}", relevance=1.0) for number in range(1_000_000, 1_010_000)]
        reads = []
        tier = attrs.evolve(core_of(made).archive.cold, read=reads.append)
        assert (
            tier.recalled(made.plugins, made.view(), scheduler_of(made).manual(moment_of(made)), counter_of(made)) == ()
        )
        assert len(reads) == MOST_EXAMINED
        made.collect_now(target_percent=20)
        assert collections(made)[-1].recalled == ()


@pytest.mark.parametrize("answer", [[1], 7, [ColdItem(item="i3", relevance=0.9), "i5"], None])
def test_something_that_is_not_a_cold_item_is_recorded_and_breaks_nothing(answer):
    class Junk:
        @hookimpl
        def gc_promote(self, context, goal):  # noqa: ARG002 - the hook
            return answer

    with session(Junk()) as made:
        run(made, 30)
        assert made.collect_now(target_percent=20).changed
        assert bool(made.plugins.failures) == (answer is not None)


def test_a_plugin_that_raises_is_recorded_and_the_others_are_heard():
    hook = Promoting()
    with session(Raising(), hook) as made:
        run(made, 30)
        made.collect_now(target_percent=20)
        run(made, 12, first=30)
        hook.named = [ColdItem(item="i3", relevance=0.9)]
        made.collect_now(target_percent=20)
        assert [block.name for block in collections(made)[-1].recalled] == ["recalled i3"]
        assert any("no idea" in str(failure) for failure in made.plugins.failures)


@pytest.mark.parametrize(("item", "relevance"), [("x3", 0.5), ("i0", 0.5), ("i3", 1.5), ("i3", float("nan"))])
def test_a_cold_item_that_cannot_be_is_refused(item, relevance):
    with pytest.raises(PluginError, match=r"item|relevance"):
        ColdItem(item=item, relevance=relevance)
