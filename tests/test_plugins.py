"""Plugins are found by entry point and called in isolation: what one does wrong is kept, named, and breaks nothing."""

import importlib.metadata
import shutil
import sys
from pathlib import Path

import attrs
import pytest

from gc_core import (
    ConfigError,
    GCConfig,
    GCPolicy,
    GCRemovalItem,
    GCSession,
    InstructionSource,
    NoGC,
    PluginError,
    Plugins,
    Refusal,
    hookimpl,
)
from gc_core.errors import UnknownStrategyError
from gc_core.plugins.faults import MOST_FAILURES, QUARANTINE_AFTER
from gc_core.plugins.registry import OWN
from gc_core.values.removals import Drop
from tests.support.checker import complaints
from tests.support.inside import meter_of, window_of
from tests.support.say import answer, call, lines, rendered, result, small, user

ROOT = Path(__file__).parents[1]

# --- found by entry point ---------------------------------------------------------------------------------------------

GOOD = '''
"""A plugin."""
import gc_core as gc

class Good:
    """Frees nothing, well."""
    def collect(self, context, goal):
        return []

@gc.hookimpl
def gc_register_strategies(register):
    register("good", Good)
'''

BROKEN = {
    "raises when imported": "raise RuntimeError('no luck')",
    "has a syntax error": "def (",
    "misses a dependency": "import there_is_no_such_module",
    "ends the process": "import sys; sys.exit(3)",
    "raises when it registers": GOOD.replace('register("good", Good)', 'register("good", Good); 1 / 0'),
    "implements an unknown hook": GOOD + "\n@gc.hookimpl\ndef gc_collect_everything(): pass\n",
    "implements a hook as a coroutine function": GOOD + "\n@gc.hookimpl\nasync def gc_request_rendered(): pass\n",
    "asks for an unknown argument": GOOD + "\n@gc.hookimpl\ndef gc_classify(item, wish): pass\n",
    "offers what is no class": GOOD.replace("Good)", "5)"),
    "offers it without a name": GOOD.replace('"good"', '""'),
    "takes a name that is taken": GOOD.replace('"good"', '"gc_none"'),
}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a distribution: a module and a dist-info directory with its entry point, on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))
    written = []

    def write(name, code, *, entry=None):
        (tmp_path / f"{name}.py").write_text(code)
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[gc_core]\n{entry or name} = {name}\n")
        written.append(name)

    yield write
    for name in written:
        sys.modules.pop(name, None)


def installed(plugins):
    return [info.name for info in plugins.strategies()]


def test_an_installed_distribution_is_found_by_its_entry_point(install):
    install("gc_third_party", GOOD)
    plugins = Plugins.discover()
    assert "good" in installed(plugins)
    (info,) = [info for info in plugins.strategies() if info.name == "good"]
    assert (info.summary, info.plugin) == ("Frees nothing, well.", "gc_third_party")
    with GCSession(GCConfig(strategy="good")) as session:
        session.append(user("a"))
        session.pre_send()


def test_files_that_an_agent_writes_beside_its_program_do_not_have_the_distributions_read_again(install, monkeypatch):
    install("gc_third_party", GOOD)
    read, beside = [], Path(sys.path[0])
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: read.append(1) or ())
    for number in range(3):
        (beside / f"note-{number}.md").write_text("Done.")
        Plugins.discover()
    assert read == [1]


def test_a_distribution_that_comes_or_goes_has_them_read_again(install):
    install("gc_third_party", GOOD)
    assert "good" in installed(Plugins.discover())
    shutil.rmtree(Path(sys.path[0]) / "gc_third_party-1.0.dist-info")
    assert "good" not in installed(Plugins.discover())
    install("gc_third_party_later", GOOD)
    assert "good" in installed(Plugins.discover())


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_breaks_nothing_else_and_nothing_of_it_is_left(case, install):
    install("gc_aa_broken", BROKEN[case])
    install("gc_zz_good", GOOD)
    plugins = Plugins.discover()
    assert {"good", "none", "gc_truncate"} <= set(installed(plugins))
    (failure,) = plugins.failures
    assert (failure.plugin, failure.doing) == ("gc_aa_broken", "loading")
    assert "gc_aa_broken failed in loading" in str(failure)
    with pytest.raises(UnknownStrategyError) as error:
        plugins.strategy("nope")
    assert "no strategy 'nope'; installed: ['" in str(error.value)
    assert "gc_aa_broken failed in loading" in str(error.value)
    with small(2_000, plugins=plugins) as session:
        session.append(user("a"))
        assert session.pre_send().messages == (user("a"),)


def test_a_distribution_that_comes_or_goes_meanwhile_is_seen_by_the_next_session(install, tmp_path):
    install("gc_first", GOOD)
    assert "good" in installed(Plugins.discover())
    install("gc_second", GOOD.replace('"good"', '"other"'))
    assert {"good", "other"} <= set(installed(Plugins.discover()))
    shutil.rmtree(tmp_path / "gc_first-1.0.dist-info")
    now = set(installed(Plugins.discover()))
    assert "other" in now
    assert "good" not in now


def test_two_distributions_under_one_entry_point_name_do_not_break_each_other(install):
    install("gc_one", GOOD, entry="same")
    install("gc_two", GOOD.replace('"good"', '"other"'), entry="same")
    plugins = Plugins.discover()
    assert len({"good", "other"} & set(installed(plugins))) == 1
    assert "same' is already registered" in str(plugins.failures[0])
    assert plugins.failures[0].distribution in {"gc_one", "gc_two"}


def offering(name):
    return GOOD.replace('"good"', repr(name))


@pytest.mark.parametrize("entry", [None, "gc_aa", "gc_zz", "gc_budget"])
@pytest.mark.parametrize("name", ["budget", "gc_budget"])
def test_a_name_of_gc_cores_own_strategies_stays_its_own(install, name, entry):
    """Wherever the squatter is in the order of names, under an entry point of the same name even."""
    install("squatter", offering(name), entry=entry)
    plugins = Plugins.discover()
    assert type(plugins.strategy("gc_budget")).__module__.startswith("gc_budget")
    (failure,) = plugins.failures
    assert failure.distribution == "squatter"
    assert "squatter" in str(failure)
    assert "budget" in str(failure)


@pytest.mark.parametrize("name", sorted(OWN))
def test_a_name_of_gc_cores_own_strategies_is_not_taken_where_that_is_not_installed_either(install, name):
    install("squatter", offering(f"gc_{name}"))
    plugins = Plugins.discover(blocked=[f"gc_{name}"])
    assert name not in installed(plugins)
    assert f"'gc_{name}' is reserved for gc-core" in str(plugins.failures[0])
    plugins.register(Offers(**{name: Takes}))  # a host's own code may
    assert name in installed(plugins)


def test_the_names_of_gc_cores_own_strategies_are_those_that_it_has():
    assert {f"gc_{name}" for name in OWN} == {path.name for path in (ROOT / "plugins").iterdir() if path.is_dir()}


@pytest.mark.parametrize("entry", [None, "gc_aa", "gc_zz"])
def test_a_name_belongs_to_the_distribution_that_bears_it(install, entry):
    install("squatter", offering("gc_mine"), entry=entry)
    install("gc_mine", offering("mine").replace("Frees nothing", "Frees nothing of mine"))
    plugins = Plugins.discover()
    (info,) = [info for info in plugins.strategies() if info.name == "mine"]
    assert (info.plugin, info.summary) == ("gc_mine", "Frees nothing of mine, well.")
    (failure,) = plugins.failures
    assert failure.distribution == "squatter"
    assert not plugins.manager.has_plugin(entry or "squatter")


def test_of_two_that_do_not_bear_the_name_one_has_it_and_the_other_is_named(install):
    install("one", offering("mine"))
    install("two", offering("mine"))
    plugins = Plugins.discover()
    assert "mine" in installed(plugins)
    (failure,) = plugins.failures
    assert {failure.distribution, *(info.plugin for info in plugins.strategies() if info.name == "mine")} == {
        "one",
        "two",
    }


@pytest.mark.parametrize("name", ["gc_truncate", "truncate"])
def test_a_strategy_is_chosen_by_name_with_or_without_its_prefix(name):
    with small(strategy=name) as session:
        assert type(meter_of(session).declared.strategies[0][1]).__name__ == "Truncate"


def test_a_strategy_object_needs_no_registration():
    with GCSession(strategy=Takes(), plugins=Plugins()) as session:
        fill(session)
        assert session.collect_now(target_percent=0).freed_by()


def test_what_is_registered_twice_is_refused():
    plugins = Plugins()
    one = Offers(good=Takes)
    plugins.register(one, name="one")
    with pytest.raises(PluginError, match="'one' is already registered"):
        plugins.register(Offers(other=Takes), name="one")
    with pytest.raises(PluginError, match="is already registered"):
        plugins.register(one, name="again")
    with pytest.raises(PluginError, match="'gc_good' is already offered by 'one'"):
        plugins.register(Offers(fresh=Takes, gc_good=Takes), name="two")
    assert installed(plugins) == ["good", "none"]
    plugins.register(Offers(fresh=Takes), name="two")
    assert installed(plugins) == ["fresh", "good", "none"]


# --- strategies, good and bad -----------------------------------------------------------------------------------------


class Offers:
    """A plugin that offers these strategies."""

    def __init__(self, **classes):
        self.classes = classes

    @hookimpl
    def gc_register_strategies(self, register):
        for name, cls in self.classes.items():
            register(name, cls)


class Takes:
    """Drops the oldest units."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        for unit in context.collectable:
            yield GCRemovalItem.drop(unit, reason="oldest", phase="oldest")


class RecentFirst:
    """Drops the steps of recent turns before the old ones, each as a whole list."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        units = sorted(context.collectable, key=context.is_recent, reverse=True)
        return [GCRemovalItem.drop(unit, reason="recent first") for unit in units]


class Bad:
    """A strategy of which each kind does something else wrong."""

    def __init__(self, kind):
        self.kind = kind

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        return getattr(self, self.kind)(context)

    def raises_at_once(self, context):  # noqa: ARG002 - as the others
        raise ZeroDivisionError("at once")

    def raises_after_some(self, context):
        for unit in context.collectable[:2]:
            yield GCRemovalItem.drop(unit, reason="oldest")
        raise ZeroDivisionError("after some")

    def gives_nothing_to_iterate(self, context):  # noqa: ARG002 - as the others
        return 5

    def gives_none(self, context):  # noqa: ARG002 - as the others
        return None

    def yields_rubbish(self, context):  # noqa: ARG002 - as the others
        yield from [None, "drop it", 5]

    def yields_units(self, context):
        return list(context.collectable)

    def never_stops(self, context):
        while True:
            yield GCRemovalItem.drop(context.units[0], reason="again")

    def drops_what_is_not_there(self, context):  # noqa: ARG002 - as the others
        yield GCRemovalItem(action=Drop((10**6,)), reason="elsewhere", items=("i1000000",))

    def names_other_items(self, context):
        yield GCRemovalItem(action=Drop((context.collectable[0].number,)), reason="mixed up", items=("i1",))

    def changes_what_it_sees(self, context):
        context.collectable[0].items[0].tokens = 0
        return ()

    def clears_what_it_sees(self, context):
        context.collectable.clear()
        return ()


KINDS = [name for name in vars(Bad) if name[0] != "_" and name != "collect"]


def fill(session, number=12):
    session.append(user("Do it."))
    for place in range(number):
        session.append(call((f"c{place}", "read", {"n": place})))
        session.append(result(f"c{place}", lines(30)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_strategy_is_recorded_and_replaced_by_the_last_resort_for_that_pass(kind):
    with GCSession(
        GCConfig(context_limit=4_000, output_reservation=0), strategy=Bad(kind), plugins=Plugins()
    ) as session:
        fill(session)
        found = session.collect_now(target_percent=40)
        assert session.budget.total <= 1_600
        assert "last_resort" in {strategy for strategy, _ in found.freed_by()} or kind == "raises_after_some"
        assert len(found.failures) == 1
        assert found.failures[0].startswith("Bad failed in collect: ")
        assert found.failures[0] in session.explain()
        assert complaints("openai", session.pre_send().kwargs()) == []
        assert session.pre_send().messages[0] == user("Do it.")


def test_proposals_made_for_another_session_are_rubbish_here():
    with small(100_000) as other:
        fill(other, 30)
        foreign = [GCRemovalItem.drop(unit, reason="foreign") for unit in reversed(other.view().collectable)]

    class Foreign:
        def collect(self, context, goal):  # noqa: ARG002 - the contract
            return foreign

    with GCSession(
        GCConfig(context_limit=4_000, output_reservation=0), strategy=Foreign(), plugins=Plugins()
    ) as session:
        fill(session, 6)
        found = session.collect_now(target_percent=20)
        assert len(found.failures) == 1
        assert "not in this window" in found.failures[0]


def test_a_strategy_that_fails_three_times_is_asked_no_more():
    asked = []

    class Fails:
        def collect(self, context, goal):  # noqa: ARG002 - the contract
            asked.append(1)
            raise ZeroDivisionError

    with GCSession(GCConfig(context_limit=4_000, output_reservation=0), strategy=Fails(), plugins=Plugins()) as session:
        for place in range(QUARANTINE_AFTER + 2):
            session.append(user(f"request {place}"))
            for step in range(4):
                session.append(call((f"c{place}{step}", "read", {})))
                session.append(result(f"c{place}{step}", lines(30)))
            last = session.collect_now(target_percent=10)
        assert len(asked) == QUARANTINE_AFTER
        assert last.failures == ("Fails is quarantined after repeated failures",)


def test_a_strategy_that_succeeds_in_between_is_forgiven():
    asked = []

    class Moody:
        def collect(self, context, goal):  # noqa: ARG002 - the contract
            asked.append(1)
            if len(asked) % QUARANTINE_AFTER:
                raise ZeroDivisionError
            return ()

    with GCSession(GCConfig(context_limit=4_000, output_reservation=0), strategy=Moody(), plugins=Plugins()) as session:
        for place in range(2 * QUARANTINE_AFTER + 1):
            session.append(user(f"request {place}"))
            for step in range(4):
                session.append(call((f"c{place}{step}", "read", {})))
                session.append(result(f"c{place}{step}", lines(30)))
            session.collect_now(target_percent=10)
        assert len(asked) == 2 * QUARANTINE_AFTER + 1


def test_other_failures_of_a_plugin_do_not_quarantine_its_strategy():
    class Observes(Offers):
        @hookimpl
        def gc_budget_updated(self, budget):  # noqa: ARG002 - the hook
            raise ZeroDivisionError

    plugins = Plugins()
    plugins.register(Observes(takes=Takes), name="takes")
    for _ in range(QUARANTINE_AFTER):
        with pytest.raises(ConfigError):
            plugins.strategy("takes", {"wrong": 1})
    with small(4_000, strategy="takes", plugins=plugins) as session:
        fill(session)
        assert session.collect_now(target_percent=20).failures == ()
        assert ("takes", "oldest") in session.last_result.freed_by()


def test_several_strategies_are_asked_in_order_and_each_is_named_in_the_result():
    class First:
        def collect(self, context, goal):  # noqa: ARG002 - the contract
            yield GCRemovalItem.drop(context.collectable[0], reason="first", phase="one")

    with GCSession(GCConfig(context_limit=4_000, output_reservation=0), strategy=[First(), "none", Takes()]) as session:
        fill(session)
        found = session.collect_now(target_percent=30)
        assert list(found.freed_by()) == [("First", "one"), ("Takes", "oldest")]
        # Traces at the cuts cost something: less is freed than removed.
        assert found.tokens_freed <= sum(found.freed_by().values())


def test_a_strategy_that_suffices_leaves_the_next_one_unasked():
    with GCSession(GCConfig(context_limit=4_000, output_reservation=0), strategy=[Takes(), Bad("raises_at_once")]) as s:
        fill(s)
        found = s.collect_now(target_percent=30)
        assert found.failures == ()
        assert {name for name, _ in found.freed_by()} == {"Takes"}


def test_one_failing_strategy_of_several_is_not_replaced_by_the_last_resort():
    with GCSession(GCConfig(context_limit=4_000, output_reservation=0), strategy=[Bad("yields_rubbish"), Takes()]) as s:
        fill(s)
        found = s.collect_now(target_percent=30)
        assert len(found.failures) == 1
        assert {name for name, _ in found.freed_by()} == {"Takes"}


@pytest.mark.parametrize("chosen", ["none", "gc_none", NoGC()])
def test_no_gc_collects_nothing(chosen):
    with GCSession(GCConfig(context_limit=4_000, output_reservation=0), strategy=chosen, plugins=Plugins()) as session:
        fill(session, 10)
        before = rendered(session)
        assert session.collect_now(target_percent=0).removals == ()
        assert rendered(session) == before


# --- options ----------------------------------------------------------------------------------------------------------


@attrs.frozen
class Picky:
    """Takes options."""

    keep: int = attrs.field(default=2, validator=[attrs.validators.instance_of(int), attrs.validators.ge(0)])
    word: str = "x"

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        return ()


class Raises:
    """Cannot be made."""

    def __init__(self):
        raise ZeroDivisionError("in the constructor")

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        return ()


class Shapeless:
    """Has no collect."""


@pytest.fixture
def picky():
    plugins = Plugins()
    plugins.register(Offers(picky=Picky, raises=Raises, shapeless=Shapeless), name="offers")
    return plugins


def test_options_are_the_strategys_own_fields(picky):
    assert picky.strategy("gc_picky", {"keep": 5}) == Picky(keep=5)
    (info,) = [info for info in picky.strategies() if info.name == "picky"]
    assert [(o.name, o.type, o.default) for o in info.options] == [("keep", "int", "2"), ("word", "str", "'x'")]


def test_a_default_is_shown_as_a_user_would_write_it():
    @attrs.frozen
    class Shown(NoGC):
        """It has defaults of every kind."""

        needed: int
        tools: dict = attrs.field(factory=dict)
        names: tuple = ()
        clock: object = attrs.field(factory=lambda: 1 / 0)

    plugins = Plugins()
    plugins.register(Offers(shown=Shown), name="offers")
    (info,) = [info for info in plugins.strategies() if info.name == "shown"]
    assert [option.default for option in info.options] == ["", "{}", "()", "computed"]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("picky", {"keep": -1}, r"'picky' refused its options \{'keep': -1\}.*'keep' must be >= 0"),
        ("picky", {"keep": "2"}, r"'picky': keep = '2': expected a whole number"),
        ("picky", {"kep": 1}, r"'picky' has no option 'kep'; it has \['keep', 'word'\]"),
        ("raises", {}, "'raises' refused its options.*ZeroDivisionError: in the constructor"),
        ("shapeless", {}, "'shapeless' refused its options.*has no collect"),
        ("none", {"keep": 1}, r"'none' has no option 'keep'; it has \[\]"),
    ],
)
def test_a_bad_option_or_class_dies_when_the_session_is_made(picky, name, options, message):
    config = GCConfig(strategy=name, strategies={name: options})
    with pytest.raises(ConfigError, match=message):
        GCSession(config, plugins=picky)


def test_an_unknown_strategy_is_named_with_those_that_there_are(picky):
    message = r"no strategy 'gc_nope'; installed: \['none', 'picky', 'raises', 'shapeless'\]; did you mean none\?"
    with pytest.raises(UnknownStrategyError, match=message):
        GCSession(strategy="gc_nope", plugins=picky)


# --- hooks ------------------------------------------------------------------------------------------------------------


class Reviews:
    """Refuses removals."""

    def __init__(self, refuse):
        self.refuse = refuse

    @hookimpl
    def gc_review_plan(self, plan):
        return self.refuse(plan)


def reviewed(refuse):
    plugins = Plugins()
    plugins.register(Reviews(refuse), name="reviews")
    with GCSession(GCConfig(context_limit=4_000, output_reservation=0), strategy=Takes(), plugins=plugins) as session:
        fill(session)
        found = session.collect_now(target_percent=30)
        assert complaints("openai", session.pre_send().kwargs()) == []
        return found, session


def test_a_review_refuses_removals_with_its_reason():
    plans = []

    def first_only(plan):
        plans.append(plan)
        return [Refusal(removal=plan.removals[0], why="still needed")] if len(plans) == 1 else []

    found, session = reviewed(first_only)
    assert [refusal.why for refusal in found.refusals if refusal.why == "still needed"] == ["still needed"]
    assert found.removals
    assert any(item.text.startswith("line 0") and item.step == 0 for item in window_of(session).items())


def test_after_a_refusal_the_plan_goes_on_with_what_else_strategies_propose():
    first, _ = reviewed(lambda plan: ())  # noqa: ARG005 - the hook's argument
    refused = set(first.removals[0].items)
    found, _ = reviewed(
        lambda plan: [Refusal(removal=it, why="keep") for it in plan.removals if refused & set(it.items)]
    )
    assert not any(refused & set(removal.items) for removal in found.removals)
    assert found.tokens_after <= found.target_tokens


def test_when_a_review_refuses_what_is_old_recent_steps_go_instead():
    """They had been postponed, because the old turns would have sufficed."""
    plugins = Plugins()

    def keep_the_old(plan):
        return [Refusal(removal=removal, why="keep") for removal in plan.removals if removal.items[0] in old]

    plugins.register(Reviews(keep_the_old), name="reviews")
    config = GCConfig(context_limit=8_000, output_reservation=0, preserve_recent_turns=1, auto_trigger=False)
    with GCSession(config, strategy=RecentFirst(), plugins=plugins) as session:
        fill(session)
        session.extend([answer("Done."), user("Go on.")])
        for place in range(20, 32):
            session.extend([call((f"c{place}", "read", {"n": place})), result(f"c{place}", lines(30))])
        view = session.view()
        old = {item.id for unit in view.collectable if not view.is_recent(unit) for item in unit.items}
        target = 100 * session.budget.total // config.usable - 10
        found = session.collect_now(target_percent=target)
    assert found.removals
    assert not any(old & set(removal.items) for removal in found.removals)
    assert found.tokens_after <= found.target_tokens


def test_what_comes_after_a_refusal_is_reviewed_too():
    seen = set()

    def keep_all(plan):
        seen.update(removal.items for removal in plan.removals)
        return [Refusal(removal=removal, why="no") for removal in plan.removals]

    found, _ = reviewed(keep_all)
    assert found.removals == ()
    assert {refusal.removal.items for refusal in found.refusals if refusal.why == "no"} == seen


def test_a_review_that_never_agrees_is_asked_a_few_times():
    plans = []

    def first_of_each(plan):
        plans.append(plan)
        return [Refusal(removal=plan.removals[0], why="no")]

    found, _ = reviewed(first_of_each)
    assert len(plans) == 5
    assert {removal.items for removal in found.removals} == {removal.items for removal in plans[-1].removals[1:]}


def test_a_failure_of_a_strategy_is_reported_once_though_its_plan_is_reviewed_again():
    plans = []

    def first_only(plan):
        plans.append(plan)
        return [Refusal(removal=plan.removals[0], why="no")] if len(plans) == 1 else []

    plugins = Plugins()
    plugins.register(Reviews(first_only), name="reviews")
    config = GCConfig(context_limit=4_000, output_reservation=0)
    with GCSession(config, strategy=Bad("raises_after_some"), plugins=plugins) as session:
        fill(session)
        found = session.collect_now(target_percent=40)
    assert (len(plans), len(found.failures), len(plugins.failures)) == (2, 1, 1)


def test_a_review_that_refuses_everything_leaves_everything():
    found, _ = reviewed(lambda plan: (Refusal(removal=removal, why="no") for removal in plan.removals))
    assert (found.removals, found.tokens_freed) == ((), 0)


@pytest.mark.parametrize(
    "rubbish",
    [
        lambda plan: 5,  # noqa: ARG005 - the hook's argument
        lambda plan: ["no"],  # noqa: ARG005 - the hook's argument
        lambda plan: (1 / 0 for _ in plan.removals),
        lambda plan: plan.nothing,
    ],
    ids=["a number", "words", "a failing generator", "an error"],
)
def test_a_review_that_answers_rubbish_is_recorded_and_ignored(rubbish):
    found, session = reviewed(rubbish)
    assert found.removals
    assert {(failure.plugin, failure.doing) for failure in session.plugins.failures} == {("reviews", "gc_review_plan")}


class Failing:
    """Every observer raises."""

    @hookimpl
    def gc_collection_started(self, goal):  # noqa: ARG002 - the hook
        raise ZeroDivisionError

    @hookimpl
    def gc_collection_finished(self, result):  # noqa: ARG002 - the hook
        raise ZeroDivisionError

    @hookimpl
    def gc_budget_updated(self, budget):  # noqa: ARG002 - the hook
        raise ZeroDivisionError

    @hookimpl
    def gc_request_rendered(self, request):  # noqa: ARG002 - the hook
        raise ZeroDivisionError

    @hookimpl
    def gc_classify(self, item):  # noqa: ARG002 - the hook
        raise ZeroDivisionError


class Watching:
    """Every observer writes down what it saw."""

    def __init__(self):
        self.seen = []

    @hookimpl
    def gc_collection_started(self, goal):
        self.seen.append(("started", goal.reason.value))

    @hookimpl
    def gc_collection_finished(self, result):
        self.seen.append(("finished", result.reason.value))

    @hookimpl
    def gc_request_rendered(self, request):
        self.seen.append(("rendered", len(request.messages)))


def test_observers_that_raise_break_neither_session_nor_other_observers():
    plugins, watching = Plugins(), Watching()
    plugins.register(Failing(), name="failing")
    plugins.register(watching, name="watching")
    with GCSession(GCConfig(context_limit=4_000, output_reservation=0), strategy=Takes(), plugins=plugins) as session:
        fill(session)
        session.collect_now(target_percent=30)
        request = session.pre_send()
    assert watching.seen == [("started", "manual"), ("finished", "manual"), ("rendered", len(request.messages))]
    assert {failure.plugin for failure in plugins.failures} == {"failing"}


def test_a_listener_that_raises_is_kept_and_the_others_are_called():
    received = []
    with small(plugins=Plugins.discover(), on_event=lambda event: 1 / 0) as session:  # noqa: ARG005 - a listener
        session.listen(received.append)
        session.append(user("a"))
        assert len(received) == 1
        assert "listener failed in BudgetUpdated: ZeroDivisionError" in str(session.plugins.failures[0])


def test_of_very_many_failures_the_first_and_the_newest_are_kept():
    plugins = Plugins()
    for place in range(5 * MOST_FAILURES):
        with plugins.guarded("noisy", f"call {place}"):
            raise ZeroDivisionError
    assert len(plugins.failures) == MOST_FAILURES
    assert plugins.failures[0].doing == "call 0"
    assert plugins.failures[-1].doing == f"call {5 * MOST_FAILURES - 1}"


# --- sources ----------------------------------------------------------------------------------------------------------


class Brings:
    """A plugin that brings sources."""

    def __init__(self, *sources):
        self.sources = sources

    @hookimpl
    def gc_register_sources(self):
        return self.sources


TEAM = InstructionSource(name="team", policy=GCPolicy.PRESERVABLE)


def test_a_plugin_brings_sources():
    plugins = Plugins()
    plugins.register(Brings(TEAM), name="one")
    plugins.register(Brings(TEAM), name="two")
    with GCSession(strategy="none", plugins=plugins) as session:
        session.memory("team", notes="We meet at ten.")
        assert session.budget.source("team") == TEAM
        assert plugins.failures == []


@pytest.mark.parametrize(
    "sources",
    [
        (InstructionSource(name="system", policy=GCPolicy.EPHEMERAL),),
        (TEAM, InstructionSource(name="team", policy=GCPolicy.LOCKED)),
        ("team",),
    ],
    ids=["the core's own", "two that differ", "rubbish"],
)
def test_sources_that_cannot_be_taken_break_no_session(sources):
    plugins = Plugins()
    plugins.register(Brings(*sources), name="brings")
    with GCSession(strategy="none", plugins=plugins) as session:
        session.append(answer("a"))
        assert session.budget.source("system").policy is GCPolicy.LOCKED
        assert "team" not in {source.name for source in session.budget.sources}
        assert plugins.failures


def test_a_hook_with_an_unknown_argument_is_named():
    class Wrong:
        @hookimpl
        def gc_classify(self, itm):
            """The hook has no such argument."""

    with pytest.raises(PluginError, match="itm"):
        Plugins().register(Wrong())


def test_a_misspelt_strategy_gets_a_suggestion():
    with pytest.raises(UnknownStrategyError, match=r"did you mean gc_budget\?$"):
        Plugins.discover().strategy("gc_bugdet")
