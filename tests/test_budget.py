"""The budget is the sum of its items, whatever is added, changed and removed; and it can be written and read back."""

import json

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gc_core import GCPolicy, InstructionBudget, InstructionSource
from gc_core.errors import SourceError
from gc_core.values.sources import BUILT_IN_SOURCES
from gc_core.window.budget import BudgetItem

LOCKED, PRESERVABLE, PARTIAL, EPHEMERAL = GCPolicy
SOURCES = [source.name for source in BUILT_IN_SOURCES]


def budget(limit=1_000, **more):
    return InstructionBudget(context_limit=limit, **more)


def item(key, tokens=10, policy=EPHEMERAL, source="conversation", group="turn 0", **more):
    return BudgetItem(key=key, source=source, group=group, tokens=tokens, policy=policy, **more)


# --- roll-ups against a recomputation ---------------------------------------------------------------------------------

changes = st.lists(
    st.tuples(
        st.sampled_from(["add", "remove", "update", "policy", "overhead"]),
        st.integers(0, 12),
        st.integers(0, 500),
        st.sampled_from(list(GCPolicy)),
        st.sampled_from(SOURCES),
        st.sampled_from(["", "turn 0", "turn 1", "i3"]),
    ),
    max_size=40,
)


def play(changes_):
    """The same changes on a budget and on a plain dictionary."""
    real, naive = budget(), {}
    for what, number, tokens, policy, source, group in changes_:
        key = f"i{number}"
        try:
            if what == "add":
                real.add(item(key, tokens, policy, source, group))
                naive[key] = [tokens, policy, source, group]
            elif what == "remove":
                real.remove(key)
                del naive[key]
            elif what == "update":
                real.update(key, tokens)
                naive[key][0] = tokens
            elif what == "policy":
                real.set_policy(key, policy)
                naive[key][1] = policy
            else:
                real.overhead = tokens
        except SourceError:
            continue
    return real, naive


def sums(naive, *policies):
    return sum(tokens for tokens, policy, *_ in naive.values() if policy in policies)


def effective(policies, stored):
    kinds = set(policies)
    return stored if not kinds else kinds.pop() if len(kinds) == 1 else PARTIAL


@settings(max_examples=150)
@given(changes)
def test_every_roll_up_is_what_a_recomputation_finds(changes_):
    real, naive = play(changes_)
    assert real.total == sums(naive, *GCPolicy) + real.overhead
    assert real.locked == sums(naive, LOCKED)
    assert real.preservable == sums(naive, PRESERVABLE)
    assert real.eligible == sums(naive, EPHEMERAL, PARTIAL)
    for source in BUILT_IN_SOURCES:
        here = {key: value for key, value in naive.items() if value[2] == source.name}
        entry = real.entry(source.name)
        assert (entry.tokens, entry.locked, entry.preservable, entry.eligible) == (
            sums(here, *GCPolicy),
            sums(here, LOCKED),
            sums(here, PRESERVABLE),
            sums(here, EPHEMERAL, PARTIAL),
        )
        assert entry.policy is effective([policy for _, policy, *_ in here.values()], source.policy)


@settings(max_examples=100)
@given(changes)
def test_a_group_is_there_as_long_as_it_holds_something(changes_):
    real, naive = play(changes_)
    for source in SOURCES:
        held = {group or key for key, (_, _, owner, group) in naive.items() if owner == source}
        assert {child.key for child in real.entry(source).children} == held


@settings(max_examples=100)
@given(changes)
def test_what_was_written_down_is_read_back(changes_):
    real, _ = play(changes_)
    saved = json.loads(json.dumps(real.snapshot()))
    again = InstructionBudget.restore(saved)
    assert again.snapshot() == real.snapshot() == saved


@settings(max_examples=60)
@given(changes)
def test_a_clone_is_equal_and_independent(changes_):
    real, _ = play(changes_)
    before = real.snapshot()
    copy = real.clone()
    assert copy.snapshot() == before
    copy.add(item("new", 7))
    copy.overhead += 1
    copy.register(InstructionSource(name="team", policy=PRESERVABLE))
    assert real.snapshot() == before


@settings(max_examples=60)
@given(changes)
def test_what_happens_to_the_original_changes_no_clone(changes_):
    real, keys = play(changes_)
    copies = [real.clone(), real.clone()]
    second = copies[0].clone()
    saved = real.snapshot()
    for key in sorted(keys):
        real.set_policy(key, LOCKED)
        real.update(key, 999)
    real.add(item("new", 7))
    copies[1].remove(*keys)
    assert copies[0].snapshot() == second.snapshot() == saved
    assert copies[1].total == copies[1].overhead
    assert real.total == real.overhead + 7 + 999 * len(keys)


def test_items_next_to_a_group_leave_without_the_groups_content():
    one = budget()
    for key in ("a", "b"):
        one.add(attrs.evolve(item(key, 0), group=""))
    one.add(attrs.evolve(item("c", 1), group="turn 0", policy=LOCKED))
    one.remove("a", "b")
    assert (one.total, one.locked) == (1, 1)
    one.remove("c")
    assert one.total == 0


def test_removing_several_is_all_or_nothing():
    one = budget()
    one.add(item("a", 300))
    one.add(item("b", 400))
    before = one.snapshot()
    with pytest.raises(SourceError, match="'c' is not in the budget"):
        one.remove("a", "c")
    assert one.snapshot() == before
    one.remove("a", "b", "a")
    assert (one.total, one.entry("conversation").children) == (0, ())


# --- single behaviours ------------------------------------------------------------------------------------------------


def test_a_parent_is_the_sum_of_its_children_and_never_has_tokens_of_its_own():
    """W14: what was in the parent before came back when its last child left."""
    one = budget()
    one.add(item("a", 300))
    one.add(item("b", 400, source="system", group=""))
    assert one.entry("conversation").tokens == 300
    one.remove("a")
    assert one.entry("conversation").tokens == 0
    assert one.total == 400


def test_locked_children_of_an_ephemeral_source_are_not_eligible():
    """W15."""
    one = budget()
    one.add(item("a", 300, LOCKED, source="enrichment", group=""))
    assert (one.eligible, one.locked) == (0, 300)


def test_the_effective_policy_is_what_all_agree_on_else_partial():
    one = budget()
    conversation = one.entry("conversation")
    assert conversation.policy is PARTIAL
    one.add(item("a", 1, LOCKED))
    assert conversation.policy is LOCKED
    one.add(item("b", 1, EPHEMERAL, group="turn 1"))
    assert conversation.policy is PARTIAL
    assert [child.policy for child in conversation.children] == [LOCKED, EPHEMERAL]


def test_a_restored_source_keeps_its_stored_policy_where_the_effective_one_differs():
    """W16: a container that was written down as locked stayed locked for ever."""
    one = budget()
    one.add(item("a", 100, LOCKED))
    saved = one.snapshot()
    (conversation,) = [source for source in saved["sources"] if source["key"] == "conversation"]
    assert (conversation["policy"], conversation["stored_policy"]) == ("locked", "partial")
    again = InstructionBudget.restore(saved)
    again.add(item("b", 500))
    assert (again.eligible, again.locked) == (500, 100)
    again.remove("a")
    again.remove("b")
    assert again.entry("conversation").policy is PARTIAL


def test_every_policy_has_an_indicator_and_an_entry_shows_the_effective_one():
    one = budget()
    one.add(item("a", 1, LOCKED))
    assert len({policy.indicator for policy in GCPolicy}) == len(GCPolicy)
    assert one.entry("conversation").as_json()["indicator"] == LOCKED.indicator


def test_every_built_in_source_has_its_default_policy():
    one = budget()
    assert {source.name: source.policy for source in one.sources} == {
        "system": LOCKED,
        "plugin": PARTIAL,
        "enrichment": EPHEMERAL,
        "conversation": PARTIAL,
    }


def test_an_empty_budget_is_all_zero_and_all_available():
    one = budget()
    assert (one.total, one.eligible, one.utilisation, one.headroom, one.available) == (0, 0, 0, 0, 1_000)


def test_percentages_are_of_the_usable_window_and_nothing_is_negative():
    one = budget(1_000, output_reservation=200)
    one.add(item("a", 400))
    assert (one.usable, one.reserved, one.utilisation, one.headroom, one.available) == (800, 200, 50.0, 50.0, 400)
    one.add(item("b", 600, LOCKED))
    assert (one.utilisation, one.headroom, one.available) == (125.0, 50.0, 0)


def test_without_a_window_there_are_no_percentages():
    one = budget(0)
    one.add(item("a", 400))
    assert (one.utilisation, one.headroom, one.available) == (0.0, 0.0, 0)


def test_a_snapshot_names_limits_roll_ups_and_tree_and_marks_synthetic_text():
    one = budget(overhead=3)
    one.add(item("i1", 10, LOCKED, label="user_text"))
    one.add(item("i2", 20, synthetic=True, label="trace"))
    saved = one.snapshot()
    assert {key: saved[key] for key in ("context_limit", "total", "locked", "eligible", "available", "overhead")} == {
        "context_limit": 1_000,
        "total": 33,
        "locked": 10,
        "eligible": 20,
        "available": 967,
        "overhead": 3,
    }
    (turn,) = next(source for source in saved["sources"] if source["key"] == "conversation")["children"]
    assert [(child["label"], child["synthetic"]) for child in turn["children"]] == [
        ("user_text", False),
        ("trace", True),
    ]


def test_a_printed_budget_has_a_line_for_the_whole_and_one_for_each_source():
    memory = InstructionSource(name="memory", policy=LOCKED, cap=4_000)
    made = budget(200_000, output_reservation=8_000, overhead=7, sources=(*BUILT_IN_SOURCES, memory))
    made.add(item("i1", 1_234, LOCKED, "memory", ""))
    made.add(item("i2", 500))
    assert str(made).splitlines() == [
        "1,741 of 192,000 tokens, framing 7",
        "system (locked): 0",
        "plugin (partial): 0",
        "enrichment (ephemeral): 0",
        "conversation (ephemeral): 500",
        "memory (locked): 1,234, at most 4,000",
    ]


def test_a_key_twice_is_refused_and_changes_nothing():
    one = budget()
    one.add(item("a", 10))
    before = one.snapshot()
    with pytest.raises(SourceError, match="'a' is already in the budget"):
        one.add(item("a", 99, source="system", group=""))
    assert one.snapshot() == before


def test_an_item_and_a_group_cannot_have_one_name():
    one = budget()
    one.add(item("i1", 10, group="turn 0"))
    one.add(item("x", 10, group=""))
    before = one.snapshot()
    with pytest.raises(SourceError, match="already"):
        one.add(item("y", 5, group="x"))
    with pytest.raises(SourceError, match="already"):
        one.add(item("turn 0", 5, group=""))
    assert one.snapshot() == before


@pytest.mark.parametrize("change", ["add", "entry", "source", "check"])
def test_an_unknown_source_is_named_with_those_that_there_are(change):
    one = budget()
    arguments = {"add": (item("a", source="team"),), "check": ("team", 5)}.get(change, ("team",))
    with pytest.raises(SourceError, match=r"no source 'team'; registered: \['conversation', .*'system'\]"):
        getattr(one, change)(*arguments)


@pytest.mark.parametrize("change", ["remove", "item", "update", "set_policy"])
def test_an_unknown_item_is_named(change):
    more = {"update": (5,), "set_policy": (LOCKED,)}.get(change, ())
    with pytest.raises(SourceError, match="'i9' is not in the budget"):
        getattr(budget(), change)("i9", *more)


def test_a_cap_is_checked_before_anything_is_added():
    one = budget()
    one.register(InstructionSource(name="team", policy=PRESERVABLE, cap=100))
    one.add(item("a", 60, source="team", group=""))
    one.check("team", 40)
    with pytest.raises(SourceError, match="'team' holds 60 tokens; 41 more are over its cap 100"):
        one.check("team", 41)


def test_a_source_may_be_registered_twice_alike_but_not_otherwise():
    one = budget()
    team = InstructionSource(name="team", policy=PRESERVABLE)
    one.register(team)
    one.register(team)
    with pytest.raises(SourceError, match="registered already"):
        one.register(InstructionSource(name="team", policy=LOCKED))
    assert one.source("team") == team


@pytest.mark.parametrize("wrong", [{"name": ""}, {"layer": -1}, {"cap": 0}, {"policy": "locked"}])
def test_a_bad_source_dies_in_its_constructor(wrong):
    with pytest.raises(SourceError, match=next(iter(wrong))):
        InstructionSource(**{"name": "team", "policy": PRESERVABLE, **wrong})
