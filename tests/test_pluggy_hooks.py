"""
Hooks work as pluggy documents: order, wrappers, blocking, late registration; and a failure affects no other
implementation.
"""

import asyncio
import copy
import sys

import attrs
import pluggy
import pytest

from gc_core import ConfigError, GCConfig, GCPolicy, GCSession, GCTriggerReason, PluginError, Plugins, hookimpl
from gc_core.errors import SourceError
from gc_core.plugins import hookspecs
from gc_core.plugins.faults import QUARANTINE_AFTER
from gc_core.plugins.hook_calls import MASKED
from gc_core.values.results import ColdItem, Goal, Inconsistency, Refusal
from gc_core.values.sources import InstructionSource
from tests.support.say import small, user

GOAL = Goal(target_tokens=0, reason=GCTriggerReason.MANUAL)
SOURCE = InstructionSource(name="team", policy=GCPolicy.PRESERVABLE)
COLD = ColdItem(item="i1", relevance=0.5, reason="named")
FOUND = Inconsistency(reason="it contradicts the log", items=())
REFUSED = Refusal(removal=None, why="needed")
MESSAGE = {"role": "user", "content": "Go"}
LONGER = {"role": "user", "content": "Go on"}


def taken(plugin, before, answer):  # noqa: ARG001 - what reads the answers of middleware has these
    if not isinstance(answer, dict):
        raise PluginError(f"{answer!r} is no message")
    return answer


@attrs.frozen
class Case:
    """A hook: how gc-core calls it, what implementations answer, what is read of that, and of no answer; rubbish."""

    call: object
    answer: object = None
    read: object = None
    nothing: object = None
    rubbish: object = None


CASES = {
    "gc_classify": Case(lambda p: p.classify(None), GCPolicy.PRESERVABLE, GCPolicy.PRESERVABLE, None, "strong"),
    "gc_register_sources": Case(lambda p: p.sources(), (SOURCE,), (SOURCE,), (), 5),
    "gc_promote": Case(lambda p: p.promote(None, GOAL), [COLD], [COLD], [], ["i1"]),
    "gc_review_plan": Case(lambda p: p.review(None), [REFUSED], (REFUSED,), (), ["no"]),
    "gc_summary_written": Case(lambda p: p.preserve(None, "text"), ["i1"], frozenset({"i1"}), frozenset(), [1]),
    "gc_validate_reply": Case(lambda p: p.validate({}, None, str), FOUND, (FOUND,), (), "wrong"),
    "gc_process_message": Case(
        lambda p: p.process(MESSAGE, taken),
        {**MESSAGE, "content": "Go on"},
        {**MESSAGE, "content": "Go on"},
        MESSAGE,
        5,
    ),
    "gc_redact": Case(lambda p: p.redact("secret"), "******", "******", "secret", 5),
    "gc_collection_started": Case(lambda p: p.collection_started(GOAL)),
    "gc_collection_finished": Case(lambda p: p.collection_finished(None)),
    "gc_collection_failed": Case(lambda p: p.collection_failed(GOAL, ValueError())),
    "gc_budget_updated": Case(lambda p: p.budget_updated(None)),
    "gc_request_rendered": Case(lambda p: p.request_rendered(None)),
}
ANSWERED = [name for name, case in CASES.items() if case.answer is not None]
REGISTERS = [name for name in vars(hookspecs) if name.startswith("gc_register_") and name != "gc_register_sources"]


def implementing(hook, body, **options):
    """A plugin that implements one hook, without arguments."""

    class Plugin:
        pass

    Plugin.implementation = staticmethod(hookimpl(specname=hook, **options)(body))
    return Plugin()


def with_plugins(*each):
    """Plugins under the names p0, p1, and so on, in this order."""
    plugins = Plugins()
    for place, plugin in enumerate(each):
        plugins.register(plugin, name=f"p{place}")
    return plugins


def fails(*_):
    raise ZeroDivisionError("on purpose")


def failures(plugins):
    return [(failure.plugin, failure.doing) for failure in plugins.failures]


def test_every_hook_has_a_case():
    hooks = [name for name in vars(hookspecs) if name.startswith("gc_")]
    assert sorted([*CASES, *REGISTERS]) == sorted(hooks)


# --- order ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hook", CASES)
def test_the_newest_comes_first_after_tryfirst_and_before_trylast(hook):
    received = []

    def says(word, **options):
        return implementing(hook, lambda: received.append(word), **options)

    plugins = with_plugins(
        says("first", tryfirst=True),
        says("last", trylast=True),
        says("old"),
        says("new"),
        says("last too", trylast=True),
    )
    CASES[hook].call(plugins)
    assert received == ["first", "new", "old", "last", "last too"]
    assert plugins.failures == []


@pytest.mark.parametrize("hook", CASES)
def test_wrappers_of_both_styles_surround_all_implementations(hook):
    received = []

    def new_style():
        received.append("new style")
        answers = yield
        received.append("/new style")
        return answers

    def old_style():
        received.append("old style")
        outcome = yield
        outcome.get_result()
        received.append("/old style")

    plugins = with_plugins(
        implementing(hook, new_style, wrapper=True),
        implementing(hook, lambda: received.append("implementation"), tryfirst=True),
        implementing(hook, old_style, hookwrapper=True),
    )
    CASES[hook].call(plugins)
    assert received == ["old style", "new style", "implementation", "/new style", "/old style"]
    assert plugins.failures == []


def adds(word, **options):
    class Adds:
        @hookimpl(**options)
        def gc_redact(self, text):
            return f"{text} {word}"

        @hookimpl(**options)
        def gc_process_message(self, message):
            message["content"] += f" {word}"
            return message

    return Adds()


def appends(word):
    """The same with only middleware."""
    return implementing("gc_process_message", lambda message: {**message, "content": f"{message['content']} {word}"})


def test_in_a_chain_each_sees_what_the_one_before_left():
    plugins = with_plugins(adds("last", trylast=True), adds("b"), adds("a"), adds("first", tryfirst=True))
    assert plugins.redact("Go") == "Go first a b last"
    assert plugins.process(MESSAGE, taken)["content"] == "Go first a b last"
    assert MESSAGE["content"] == "Go"


def test_an_implementation_of_a_chain_may_leave_out_its_argument():
    plugins = with_plugins(adds("b"), implementing("gc_redact", lambda: "masked"), adds("a"))
    assert plugins.redact("Go") == "masked b"


def test_a_default_for_the_argument_of_a_hook_changes_nothing():
    class Defaults:
        @hookimpl
        def gc_redact(self, text="none"):
            return text if text == "none" else f"{text} b"

    assert with_plugins(Defaults(), adds("a")).redact("Go") in {"Go a b", "none"}  # since pluggy 1.7, the former


def test_chains_within_chains_do_not_mix():
    class Asks:
        @hookimpl
        def gc_process_message(self, message):
            inner = {**message, "content": "inner"}
            assert plugins.redact("x") == "x a"
            assert plugins.manager.hook.gc_redact(text="y") == ["y a"]
            return {**message, "content": f"{message['content']} {inner['content']}"}

    plugins = with_plugins(Asks(), adds("a"))
    assert plugins.process(MESSAGE, taken)["content"] == "Go a inner"
    assert plugins.failures == []


# --- wrappers ---------------------------------------------------------------------------------------------------------


def keeps_nothing():
    yield
    return []


def forces_nothing():
    outcome = yield
    outcome.force_result([])


@pytest.mark.parametrize("hook", ANSWERED)
@pytest.mark.parametrize("style", ["wrapper", "hookwrapper"])
def test_a_wrapper_decides_the_result(hook, style):
    case = CASES[hook]
    wrapper = implementing(hook, {"wrapper": keeps_nothing, "hookwrapper": forces_nothing}[style], **{style: True})
    plugins = with_plugins(implementing(hook, lambda: case.answer))
    assert case.call(plugins) == case.read
    plugins.register(wrapper, name="wrapper")
    assert case.call(plugins) == case.nothing
    assert plugins.failures == []


def raises_before():
    raise ZeroDivisionError
    yield


def raises_after():
    answers = yield
    answers.clear()
    raise ZeroDivisionError


def forgets_to_return():
    yield


def answers_rubbish():
    yield
    return [object()]


def yields_twice():
    answers = yield
    yield answers


def never_yields():
    return
    yield


def old_raises_after():
    outcome = yield
    outcome.get_result().clear()
    raise ZeroDivisionError


def forces_rubbish():
    outcome = yield
    outcome.force_result(5)


def forces_an_exception():
    outcome = yield
    outcome.force_exception(ZeroDivisionError())


NEW_STYLE = (raises_before, raises_after, forgets_to_return, answers_rubbish, yields_twice, never_yields)
OLD_STYLE = (raises_before, old_raises_after, forces_rubbish, forces_an_exception, yields_twice, never_yields)
BROKEN = [
    *(pytest.param(body, "wrapper", id=f"new style {body.__name__}") for body in NEW_STYLE),
    *(pytest.param(body, "hookwrapper", id=f"old style {body.__name__}") for body in OLD_STYLE),
]


@pytest.mark.parametrize(("body", "style"), BROKEN)
@pytest.mark.parametrize("hook", ANSWERED)
def test_a_wrapper_that_fails_loses_nothing_of_what_others_answered(hook, body, style):
    case = CASES[hook]
    plugins = with_plugins(implementing(hook, lambda: case.answer), implementing(hook, body, **{style: True}))
    assert case.call(plugins) == (MASKED if hook == "gc_redact" else case.read)
    assert failures(plugins) == [("p1", hook)]


@pytest.mark.parametrize("hook", [name for name in CASES if name not in ANSWERED])
def test_a_wrapper_around_observers_need_not_return_anything(hook):
    received = []
    plugins = with_plugins(
        implementing(hook, lambda: received.append(1)), implementing(hook, forgets_to_return, wrapper=True)
    )
    CASES[hook].call(plugins)
    assert (received, plugins.failures) == ([1], [])


def test_a_wrapper_cannot_change_the_answers_of_others_in_place():
    class Spoils:
        @hookimpl(wrapper=True)
        def gc_process_message(self, message):
            message["content"] = "spoilt"
            answers = yield
            answers[-1]["content"] = "spoilt too"
            raise ZeroDivisionError

    plugins = with_plugins(adds("on"), Spoils())
    assert plugins.process(MESSAGE, taken)["content"] == "Go on"


def test_what_a_wrapper_makes_of_a_message_is_read_as_every_answer_is():
    class Wraps:
        @hookimpl(wrapper=True)
        def gc_process_message(self):
            answers = yield
            return [*answers, {**answers[-1], "role": "assistant"}]

    with GCSession(plugins=with_plugins(appends("on"), Wraps()), strategy="none") as session:
        session.append(user("Go"))
        assert session.pre_send().messages == (user("Go on"),)
        assert "changed the role" in str(session.plugins.failures[0])


@pytest.mark.parametrize("style", ["wrapper", "hookwrapper"])
def test_an_interruption_ends_a_wrapper_and_goes_on(style):
    ended = []

    def wraps():
        try:
            yield
        finally:
            ended.append(style)

    def interrupts():
        raise KeyboardInterrupt

    plugins = with_plugins(implementing("gc_classify", interrupts), implementing("gc_classify", wraps, **{style: True}))
    with pytest.raises(KeyboardInterrupt):
        plugins.classify(None)
    assert (ended, plugins.failures) == ([style], [])


# --- isolation and quarantine -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("hook", CASES)
def test_an_implementation_that_raises_fails_by_itself(hook):
    case, received = CASES[hook], []

    def answers():
        received.append(1)
        return case.answer

    nobody = implementing(hook, lambda: received.append(1))
    plugins = with_plugins(nobody, implementing(hook, fails), implementing(hook, answers))
    assert case.call(plugins) == (MASKED if hook == "gc_redact" else case.read)
    assert received == [1, 1]
    assert failures(plugins) == [("p1", hook)]


@pytest.mark.parametrize("hook", ANSWERED)
def test_rubbish_is_the_failure_of_whoever_answered_it(hook):
    case = CASES[hook]
    plugins = with_plugins(implementing(hook, lambda: case.answer), implementing(hook, lambda: case.rubbish))
    assert case.call(plugins) == (MASKED if hook == "gc_redact" else case.read)
    assert failures(plugins) == [("p1", hook)]


@pytest.mark.parametrize("hook", [name for name in CASES if name != "gc_redact"])
@pytest.mark.parametrize("style", ["plain", "wrapper", "hookwrapper"])
def test_three_failures_in_a_row_are_the_last(hook, style, caplog):
    asked = []

    def plain():
        asked.append(1)
        fails()

    def around():
        asked.append(1)
        yield
        fails()

    body, options = (plain, {}) if style == "plain" else (around, {style: True})
    plugins = with_plugins(implementing(hook, body, **options))
    for _ in range(QUARANTINE_AFTER + 2):
        assert CASES[hook].call(plugins) == CASES[hook].nothing
    assert len(asked) == len(plugins.failures) == QUARANTINE_AFTER
    assert plugins.is_quarantined("p0", hook)
    assert [record.levelname for record in caplog.records if "quarantine" in record.message] == ["WARNING"]
    plugins.forgive("p0", hook)
    CASES[hook].call(plugins)
    assert len(asked) == QUARANTINE_AFTER + 1


@pytest.mark.parametrize("style", ["plain", "wrapper"])
def test_a_success_in_between_forgives(style):
    asked = []

    def plain():
        asked.append(1)
        if len(asked) % QUARANTINE_AFTER:
            fails()

    def around():
        answers = yield
        plain()
        return answers

    body, options = (plain, {}) if style == "plain" else (around, {style: True})
    plugins = with_plugins(implementing("gc_classify", body, **options))
    for _ in range(4 * QUARANTINE_AFTER):
        plugins.classify(None)
    assert len(asked) == 4 * QUARANTINE_AFTER
    assert not plugins.is_quarantined("p0", "gc_classify")


def test_quarantine_is_for_one_hook_of_one_plugin():
    class Half:
        @hookimpl
        def gc_classify(self):
            return fails()

        @hookimpl
        def gc_summary_written(self):
            return ["i1"]

    plugins = with_plugins(Half(), implementing("gc_classify", lambda: GCPolicy.PRESERVABLE))
    for _ in range(QUARANTINE_AFTER):
        assert plugins.classify(None) is GCPolicy.PRESERVABLE
    assert plugins.is_quarantined("p0", "gc_classify")
    assert plugins.preserve(None, "") == {"i1"}


def test_a_redactor_that_keeps_failing_masks_every_text_until_it_works_again():
    asked = []

    class Moody:
        @hookimpl
        def gc_redact(self, text):
            asked.append(text)
            return text.replace("hunter2", "****") if "\udc00" not in text else fails()

    plugins = with_plugins(Moody(), adds("and more"))
    for _ in range(QUARANTINE_AFTER + 2):
        assert plugins.redact("hunter2 \udc00") == MASKED
    assert len(asked) == QUARANTINE_AFTER + 2
    assert not plugins.is_quarantined("p0", "gc_redact")
    assert plugins.redact("hunter2") == "**** and more"


def test_no_wrapper_brings_back_what_a_failing_redactor_would_have_masked():
    class Restores:
        @hookimpl(wrapper=True)
        def gc_redact(self, text):
            yield
            return [text]

    assert with_plugins(implementing("gc_redact", fails), Restores()).redact("hunter2") == MASKED


def test_a_redactor_that_fails_is_masked_for_whoever_calls_the_hook_themselves():
    assert with_plugins(implementing("gc_redact", fails)).manager.hook.gc_redact(text="hunter2") == [MASKED]


def test_nothing_leaks_into_the_files_of_a_session(tmp_path):
    plugins = with_plugins(implementing("gc_redact", fails))
    with GCSession(plugins=plugins, strategy="none", directory=tmp_path) as session:
        for number in range(2 * QUARANTINE_AFTER):
            session.append(user(f"hunter2 {number}"))
            session.post_turn({"role": "assistant", "content": "hunter2"})
        assert "hunter2" not in str(session.pre_send().messages)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"hunter2" in path.read_bytes()]


# --- what pluggy's users expect ---------------------------------------------------------------------------------------


def test_the_manager_is_pluggys_and_knows_the_plugins_as_they_are():
    plugin = adds("a")
    plugins = Plugins()
    assert plugins.register(plugin, name="mine") == "mine"
    assert isinstance(plugins.manager, pluggy.PluginManager)
    assert dict(plugins.manager.list_name_plugin())["mine"] is plugin
    assert plugins.manager.get_plugin("mine") is plugin


def test_a_module_is_registered_under_its_own_name():
    plugins = Plugins()
    plugins.register(sys.modules[__name__])
    assert plugins.manager.get_name(sys.modules[__name__]) == __name__


def test_an_implementation_registered_with_the_manager_fails_by_itself_too():
    plugins = Plugins()
    plugins.manager.register(implementing("gc_classify", fails), "direct")
    assert plugins.classify(None) is None
    assert failures(plugins) == [("direct", "gc_classify")]


def test_pluggy_calls_the_function_inside_a_hookimpl():
    """Isolation rests on this: ``HookImpl.function`` is public, its being called from there is documented nowhere."""
    manager = pluggy.PluginManager("gc_core")
    manager.add_hookspecs(hookspecs)
    manager.register(implementing("gc_redact", fails))
    (implementation,) = manager.hook.gc_redact.get_hookimpls()
    implementation.function = lambda: "called"
    assert manager.hook.gc_redact(text="x") == ["called"]


def test_the_manager_reports_calls_as_usual():
    plugins, calls = with_plugins(adds("a")), []
    undo = plugins.manager.add_hookcall_monitoring(
        before=lambda name, implementations, arguments: calls.append((name, len(implementations), arguments)),
        after=lambda outcome, *_: calls.append(outcome.get_result()),
    )
    plugins.redact("Go")
    undo()
    plugins.redact("Go")
    assert calls == [("gc_redact", 1, {"text": "Go"}), ["Go a"]]


def offers(**classes):
    class Offers:
        @hookimpl
        def gc_register_strategies(self, register):
            for name, cls in classes.items():
                register(name, cls)

    return Offers()


class Idle:
    """Collects nothing."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        return ()


def test_who_comes_late_takes_part_from_then_on():
    plugins = Plugins.discover()
    with small(100_000, plugins=plugins) as session:
        session.append(user("Go"))
        plugins.register(appends("on"), name="late")
        plugins.register(offers(idle=Idle), name="late too")
        session.append(user("Go"))
        assert [message["content"] for message in session.pre_send().messages] == ["Go", "Go on"]
    assert isinstance(plugins.strategy("idle"), Idle)


def test_who_is_unregistered_leaves_with_what_it_offered_and_may_come_again():
    class Both:
        @hookimpl
        def gc_register_strategies(self, register):
            register("idle", Idle)

        @hookimpl
        def gc_redact(self):
            return fails()

    plugins, plugin = Plugins(), Both()
    for _ in range(2):
        plugins.register(plugin, name="both")
        assert [info.name for info in plugins.strategies()] == ["idle", "none"]
        assert plugins.redacts
        plugins.unregister("both")
        assert [info.name for info in plugins.strategies()] == ["none"]
        assert not plugins.redacts
        assert plugins.redact("Go") == "Go"


def test_unregistering_ends_a_quarantine():
    plugin = implementing("gc_classify", fails)
    plugins = with_plugins(plugin)
    for _ in range(QUARANTINE_AFTER):
        plugins.classify(None)
    plugins.unregister("p0")
    assert not plugins.is_quarantined("p0", "gc_classify")


def test_unregistering_an_unknown_plugin_names_the_known_ones():
    with pytest.raises(PluginError, match=r"no plugin 'nobody' is registered; registered: \['gc_core', 'p0'\]"):
        with_plugins(adds("a")).unregister("nobody")


def test_a_blocked_plugin_is_not_even_imported(monkeypatch):
    imported = []

    @attrs.frozen
    class Entry:
        name: str
        dist: object = None

        def load(self):
            imported.append(self.name)
            return offers(**{self.name: Idle})

    monkeypatch.setattr("gc_core.plugins.manager.installed_entries", lambda: (Entry("aa"), Entry("bb")))
    plugins = Plugins.discover(blocked=["aa"])
    assert imported == ["bb"]
    assert [info.name for info in plugins.strategies()] == ["bb", "none"]
    assert plugins.manager.is_blocked("aa")
    assert plugins.failures == []
    assert plugins.register(offers(aa=Idle), name="aa") is None
    with pytest.raises(ConfigError, match=r"no strategy 'aa'; .*'aa is blocked'"):
        plugins.strategy("aa")


def test_blocking_unregisters_who_is_there_and_unblocking_lets_it_in_again():
    plugins, plugin = Plugins(), offers(idle=Idle)
    plugins.register(plugin, name="mine")
    plugins.manager.set_blocked("mine")
    assert [info.name for info in plugins.strategies()] == ["none"]
    plugins.manager.unblock("mine")
    plugins.register(plugin, name="mine")
    assert [info.name for info in plugins.strategies()] == ["idle", "none"]


def test_gc_core_itself_cannot_be_blocked():
    with pytest.raises(ConfigError, match="blocked = 'gc_core': gc-core itself cannot be blocked"):
        Plugins.discover(blocked=["gc_budget", "gc_core"])


def test_one_name_to_block_is_not_taken_for_its_letters():
    with pytest.raises(ConfigError, match="blocked = 'gc_budget': expected a list of plugins' names"):
        Plugins.discover(blocked="gc_budget")


def test_installed_plugins_are_asked_in_the_order_of_their_names(monkeypatch):
    @attrs.frozen
    class Entry:
        name: str
        dist: object = None

        def load(self):
            return adds(self.name)

    monkeypatch.setattr("gc_core.plugins.manager.installed_entries", lambda: (Entry("a"), Entry("b"), Entry("c")))
    assert Plugins.discover().redact("Go") == "Go a b c"


# --- historic hooks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hook", REGISTERS)
def test_hooks_that_register_are_historic_so_a_wrapper_is_refused(hook):
    assert getattr(Plugins().manager.hook, hook).is_historic()
    plugin = implementing(hook, forgets_to_return, wrapper=True)
    with pytest.raises(PluginError, match="historic incompatible with"):
        with_plugins(plugin)


def test_offers_are_taken_only_while_the_plugin_is_registered():
    kept = []
    plugins = with_plugins(implementing("gc_register_strategies", lambda: None))

    class Keeps:
        @hookimpl
        def gc_register_strategies(self, register):
            kept.append(register)
            register(name="idle", cls=Idle)

    plugins.register(Keeps(), name="keeps")
    with pytest.raises(PluginError, match="offered when no plugin is being registered"):
        kept[0]("late", Idle)
    assert [info.name for info in plugins.strategies()] == ["idle", "none"]
    assert {info.name: info.plugin for info in plugins.strategies()}["idle"] == "keeps"


class Theirs:
    """Hooks of another project that lives in the same plugins."""

    hookspec = pluggy.HookspecMarker("gc_core")

    @hookspec(historic=True)
    def their_start(self, word):
        """Told to everybody, early or late."""

    @hookspec(firstresult=True)
    def their_choice(self):
        """The first answer counts."""


def test_hooks_of_other_projects_are_left_to_pluggy():
    received = []

    class Hears:
        @hookimpl
        def their_start(self, word):
            received.append(word)

        @hookimpl
        def their_choice(self):
            return "mine"

    plugins = Plugins()
    plugins.manager.add_hookspecs(Theirs)
    plugins.manager.hook.their_start.call_historic(kwargs={"word": "begun"})
    plugins.register(Hears(), name="late")
    assert received == ["begun"]
    assert plugins.manager.hook.their_choice() == "mine"
    plugins.register(implementing("their_choice", fails), name="fails")
    with pytest.raises(ZeroDivisionError):
        plugins.manager.hook.their_choice()
    assert plugins.failures == []


def test_a_hook_whose_specification_comes_later_is_blamed_on_nobody_else():
    received = []
    plugins = Plugins()
    plugins.manager.register(implementing("their_choice", lambda: "mine"), "mine")
    assert plugins.register(adds("a"), name="innocent") == "innocent"
    with pytest.raises(PluginError, match=r"^plugin 'guilty' cannot be registered: unknown hook 'their_choise'$"):
        plugins.register(implementing("their_choise", fails), name="guilty")
    with pytest.raises(PluginError, match=r"^plugin 'too early' .*: unknown hook 'their_choice'$"):
        plugins.register(implementing("their_choice", fails), name="too early")
    plugins.register(implementing("their_wish", fails, optionalhook=True), name="optional")
    plugins.manager.add_hookspecs(Theirs)
    assert plugins.manager.hook.their_choice() == "mine"
    plugins.register(implementing("their_choice", lambda: received.append(1)), name="in time")
    assert (plugins.manager.hook.their_choice(), received) == ("mine", [1])


def test_a_plugin_that_fails_on_historic_calls_is_not_registered():
    plugins = Plugins()
    plugins.manager.add_hookspecs(Theirs)
    plugins.manager.hook.their_start.call_historic(kwargs={"word": "begun"})

    class Fails:
        @hookimpl
        def their_start(self, word):
            raise ZeroDivisionError(word)

        @hookimpl
        def gc_register_strategies(self, register):
            register("idle", Idle)

    with pytest.raises(PluginError, match="begun"):
        plugins.register(Fails(), name="fails")
    assert [name for name, _ in plugins.manager.list_name_plugin()] == ["gc_core"]
    assert [info.name for info in plugins.strategies()] == ["none"]


# --- coroutine functions ----------------------------------------------------------------------------------------------


async def coroutine():
    return None


async def asynchronous_generator():
    yield


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("body", [coroutine, asynchronous_generator])
@pytest.mark.parametrize("hook", [*CASES, *REGISTERS])
def test_a_hook_that_is_a_coroutine_function_is_refused_instead_of_never_run(hook, body):
    plugins, plugin = Plugins(), implementing(hook, body)
    said = f"{hook} of 'mine' is a coroutine function, .*hooks are plain functions"
    with pytest.raises(PluginError, match=f"^plugin 'mine' cannot be registered: {said}"):
        plugins.register(plugin, name="mine")
    with pytest.raises(PluginError, match=said):
        plugins.manager.register(plugin, "mine")
    assert [name for name, _ in plugins.manager.list_name_plugin()] == ["gc_core"]


def test_a_method_that_is_a_coroutine_function_is_refused_by_its_hook_and_nothing_of_the_plugin_stays():
    class Watches:
        @hookimpl
        def gc_register_strategies(self, register):
            register("idle", Idle)

        @hookimpl
        async def gc_request_rendered(self, request):
            """Never run."""

    plugins = Plugins()
    with pytest.raises(PluginError, match="'mine' cannot be registered: gc_request_rendered of 'mine' is a coroutine"):
        plugins.register(Watches(), name="mine")
    assert [info.name for info in plugins.strategies()] == ["none"]


def test_a_host_may_await_its_own_hooks():
    plugins = Plugins()
    plugins.manager.add_hookspecs(Theirs)
    plugins.register(implementing("their_choice", coroutine), name="mine")
    assert asyncio.run(plugins.manager.hook.their_choice()) is None


# --- in a session -----------------------------------------------------------------------------------------------------


def test_a_validator_that_recalls_without_a_log_gets_an_error():
    class Recalls:
        @hookimpl
        def gc_validate_reply(self, recall):
            recall("i1")

    plugins = with_plugins(Recalls())
    assert plugins.validate({}, None) == ()
    assert isinstance(plugins.failures[0].error, SourceError)
    assert plugins.validate({}, None, str) == ()
    assert len(plugins.failures) == 1


def test_a_wrapper_classifies_in_a_session():
    class Softens:
        @hookimpl(wrapper=True)
        def gc_classify(self, item):
            answers = yield
            return [GCPolicy.EPHEMERAL for _ in answers] if "draft" in item.text else answers

    class Holds:
        @hookimpl
        def gc_classify(self):
            return GCPolicy.LOCKED

    plugins = with_plugins(Softens(), Holds())
    with GCSession(GCConfig(strategy="none"), plugins=plugins) as session:
        session.extend([user("Go"), {"role": "assistant", "content": "a"}, user("draft"), user("kept")])
        held = {item.text: item.policy for item in session.items()}
    assert held["kept"] is GCPolicy.LOCKED
    assert held["draft"] is not GCPolicy.LOCKED
    assert plugins.failures == []


def test_the_message_of_a_host_is_never_changed():
    message = {"role": "user", "content": [{"type": "text", "text": "Go"}]}
    before = copy.deepcopy(message)

    class Spoils:
        @hookimpl
        def gc_process_message(self, message):
            message["content"][0]["text"] = "spoilt"

        @hookimpl(specname="gc_process_message", wrapper=True)
        def around(self, message):
            message["content"].clear()
            return (yield)

    assert with_plugins(Spoils()).process(message, taken) == before == message
