"""Hooks behave as pluggy documents them: order, wrappers, late and blocked plugins; who fails is isolated and named."""

import pytest

from gc_core import GCConfig, GCPolicy, GCSession, Plugins, hookimpl
from gc_core.errors import PluginError
from gc_core.plugins import MASKED, QUARANTINE_AFTER
from tests.support.say import rendered, small, user

KEEP = GCConfig(strategy="none", auto_trigger=False)


def classifier(answer, seen=None, **order):
    class Plugin:
        @hookimpl(**order)
        def gc_classify(self, item):  # noqa: ARG002 - the hook's
            if seen is not None:
                seen.append(answer)
            if isinstance(answer, Exception):
                raise answer
            return answer

    return Plugin()


def redactor(change, **order):
    class Plugin:
        @hookimpl(**order)
        def gc_redact(self, text):
            return change(text)

    return Plugin()


def plugins_with(*made):
    plugins = Plugins()
    for place, each in enumerate(made):
        plugins.register(each, name=f"p{place}")
    return plugins


def classified(plugins):
    return plugins.classify(object())


def failing(plugins):
    return [failure.plugin for failure in plugins.failures]


# --- order ------------------------------------------------------------------------------------------------------------


def test_the_last_registered_is_asked_first_but_for_those_that_say_otherwise():
    seen = []
    policies = [GCPolicy.LOCKED, GCPolicy.PARTIAL, GCPolicy.EPHEMERAL, GCPolicy.PRESERVABLE]
    orders = [{"tryfirst": True}, {}, {}, {"trylast": True}]
    made = [classifier(policy, seen, **order) for policy, order in zip(policies, orders, strict=True)]
    classified(plugins_with(*made))
    assert seen == [policies[0], policies[2], policies[1], policies[3]]


def test_each_redactor_gets_what_the_one_before_it_left_in_pluggys_order():
    made = [redactor(lambda text: text + " first"), redactor(lambda text: text + " last", trylast=True)]
    assert plugins_with(*made).redact("text") == "text first last"
    made = [redactor(lambda text: text + " last"), redactor(lambda text: text + " first", tryfirst=True)]
    assert plugins_with(*made).redact("text") == "text first last"


# --- wrappers ---------------------------------------------------------------------------------------------------------


class NewStyle:
    @hookimpl(wrapper=True)
    def gc_classify(self, item):  # noqa: ARG002
        answers = yield
        return [*answers, GCPolicy.LOCKED]

    @hookimpl(wrapper=True)
    def gc_redact(self, text):  # noqa: ARG002
        answers = yield
        return [*answers[:-1], answers[-1].upper()]


class OldStyle:
    @hookimpl(hookwrapper=True)
    def gc_classify(self, item):  # noqa: ARG002
        outcome = yield
        outcome.force_result([*outcome.get_result(), GCPolicy.LOCKED])


@pytest.mark.parametrize("wrapper", [NewStyle(), OldStyle()])
def test_wrappers_of_both_styles_change_what_comes_of_a_hook(wrapper):
    plugins = plugins_with(wrapper, classifier(GCPolicy.EPHEMERAL))
    assert classified(plugins) is GCPolicy.LOCKED
    assert failing(plugins) == []


def test_a_wrapper_changes_what_redactors_left():
    assert plugins_with(NewStyle(), redactor(lambda text: text + "!")).redact("text") == "TEXT!"


class FailsBefore:
    @hookimpl(wrapper=True)
    def gc_classify(self, item):  # noqa: ARG002
        raise ZeroDivisionError
        yield


class FailsBehind:
    @hookimpl(wrapper=True)
    def gc_classify(self, item):  # noqa: ARG002
        yield
        raise ZeroDivisionError


class FailsBehindOld:
    @hookimpl(hookwrapper=True)
    def gc_classify(self, item):  # noqa: ARG002
        yield
        raise ZeroDivisionError


class ReturnsRubbish:
    @hookimpl(wrapper=True)
    def gc_classify(self, item):  # noqa: ARG002
        yield
        return 7


class YieldsTwice:
    @hookimpl(wrapper=True)
    def gc_classify(self, item):  # noqa: ARG002
        yield
        yield


@pytest.mark.parametrize("wrapper", [FailsBefore(), FailsBehind(), FailsBehindOld(), ReturnsRubbish(), YieldsTwice()])
def test_a_wrapper_that_fails_is_named_and_what_it_wraps_counts(wrapper):
    plugins = plugins_with(wrapper, classifier(GCPolicy.PARTIAL))
    assert classified(plugins) is GCPolicy.PARTIAL
    assert failing(plugins) == ["p0"]


# --- isolation --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [ZeroDivisionError(), 7, "locked"])
def test_an_implementation_that_fails_or_answers_rubbish_is_named_and_the_others_count(answer):
    plugins = plugins_with(classifier(answer), classifier(GCPolicy.PARTIAL))
    assert classified(plugins) is GCPolicy.PARTIAL
    assert failing(plugins) == ["p0"]


def test_an_implementation_that_fails_several_times_in_a_row_is_asked_no_more():
    seen = []
    plugins = plugins_with(classifier(ZeroDivisionError(), seen))
    for _ in range(QUARANTINE_AFTER + 5):
        classified(plugins)
    assert len(seen) == len(plugins.failures) == QUARANTINE_AFTER


def test_a_success_in_between_forgives_what_failed_before():
    asked = []

    class Plugin:
        @hookimpl
        def gc_classify(self, item):  # noqa: ARG002
            asked.append(1)
            if len(asked) % QUARANTINE_AFTER:
                raise ZeroDivisionError

    plugins = plugins_with(Plugin())
    for _ in range(3 * QUARANTINE_AFTER):
        classified(plugins)
    assert len(asked) == 3 * QUARANTINE_AFTER


def test_a_redactor_that_is_asked_no_more_lets_nothing_through():
    plugins = plugins_with(redactor(lambda _: 1 / 0))
    assert {plugins.redact("secret") for _ in range(QUARANTINE_AFTER + 3)} == {MASKED}


def test_messages_go_through_a_session_as_every_plugin_leaves_them():
    def adds(word):
        class Plugin:
            @hookimpl
            def gc_process_message(self, message):
                message["content"] += f" {word}"
                return message

        return Plugin()

    with small(strategy="none", plugins=plugins_with(adds("one"), adds("two"))) as session:
        session.append(user("zero"))
        assert "zero two one" in rendered(session)


# --- coming and going -------------------------------------------------------------------------------------------------


def test_a_plugin_that_is_registered_after_a_session_began_is_asked_from_then_on():
    plugins = Plugins.discover()
    with GCSession(KEEP, plugins=plugins) as session:
        session.append(user("before"))
        plugins.register(redactor(lambda text: text.replace("secret", "***")), name="late")
        session.append(user("my secret"))
        assert "my ***" in rendered(session)


def test_a_plugin_that_is_unregistered_is_asked_no_more_and_its_offers_are_gone():
    class Plugin:
        @hookimpl
        def gc_register_strategies(self, register):
            register("mine", type("Mine", (), {"collect": lambda *_: ()}))

        @hookimpl
        def gc_classify(self, item):  # noqa: ARG002
            return GCPolicy.LOCKED

    plugins = plugins_with(Plugin())
    plugins.unregister("p0")
    assert classified(plugins) is None
    assert "mine" not in [info.name for info in plugins.strategies()]
    plugins.register(Plugin(), name="p0")
    assert classified(plugins) is GCPolicy.LOCKED
    with pytest.raises(PluginError, match=r"no plugin 'p9' is registered; there are \['gc_core', 'p0'\]"):
        plugins.unregister("p9")


def test_a_blocked_plugin_is_neither_loaded_nor_registered():
    plugins = Plugins.discover(blocked=["gc_budget", "mine"])
    names = [info.name for info in plugins.strategies()]
    assert "budget" not in names
    assert "truncate" in names
    plugins.register(classifier(GCPolicy.LOCKED), name="mine")
    assert classified(plugins) is None
    assert plugins.manager.is_blocked("mine")


def test_pluggys_own_manager_tells_who_is_there():
    plugins = plugins_with(classifier(GCPolicy.LOCKED))
    assert [name for name, _ in plugins.manager.list_name_plugin()] == ["gc_core", "p0"]
    (implementation,) = plugins.manager.hook.gc_classify.get_hookimpls()
    assert implementation.plugin_name == "p0"
