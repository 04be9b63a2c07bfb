"""
Whatever a host passes to a public function or method, a mistake is an error of gc-core's tree, naming the argument.

Two mistakes are Python's own TypeErrors: an unknown keyword, and one argument too many or too few. Methods of a
strategy's view (``ContextView``) and values that only gc-core makes are not called here: no host does.
"""

import asyncio
import contextlib
import inspect
import math
import re

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import gc_core
from gc_core import (
    AsyncGCSession,
    ColdItem,
    CompressionProfile,
    GCConfig,
    GCPolicy,
    GCRemovalItem,
    GCSession,
    GCTriggerReason,
    Goal,
    Hot,
    InstructionBudget,
    InstructionSource,
    Major,
    Plugins,
    SessionReader,
    Spend,
    Steps,
    Usage,
    Young,
    compact,
    load_config,
    search_sessions,
)
from gc_core.errors import ConfigError, GCError, MessageError, SourceError
from gc_core.storage.facts import FactStore
from tests.support.say import answer, user

ODD = (
    *(0, -1, 7, 10**30, 0.4, 1.5, math.nan, math.inf, -math.inf, True, False, None),
    *("", "text", "a\0b", "\ud800", b"bytes", object(), int, len, ValueError("x")),
    *([], [1], ["x"], [None], (), {}, {"a": 1}, {1: 2}, {"role": "user"}, {"x"}),
)
"""Values of every kind, and within a kind those that are seldom meant."""

KINDS = {
    "str": str,
    "int": int,
    "float": int | float,
    "bool": bool,
    "str | Path": str,
    "GCPolicy": GCPolicy,
    "FactStore": FactStore,
    "InstructionSource": InstructionSource,
    "BaseException": BaseException,
}
"""The types of arguments of which a value of another type has to be refused, as the signatures write them."""

SAID = [user("Hello."), answer("Hi."), user("What now?")]

CALLS = {
    "accept": {"facts": "store", "proposals": []},
    "allow": {"max_total_tokens": 100_000},
    "append": {"message": user("x"), "policy": None},
    "awaited_lease": {"tokens": 100, "name": "x", "wait": 0.0},
    "beside": {"messages": SAID, "system": None, "tools": None},
    "book": {"kind": "worker", "usage": Usage(input_tokens=1), "model": None, "estimated": False},
    "collect_now": {"target_percent": 50, "focus": ""},
    "condense": {"texts": {}, "cap": None},
    "contents": {"reference": "i2"},
    "enrich": {"clock": "noon"},
    "extend": {"messages": [], "policy": None},
    "fork": {"directory": "fork", "at": None},
    "hand_back": {"result": "x"},
    "handoff": {
        "name": "x",
        "filter": None,
        "directory": None,
        "config": None,
        "tokens": None,
        "steps": 5,
        "summary_tokens": 100,
        "result_tokens": 100,
    },
    "history_at_provider": {"where": "conv_1"},
    "lease": {"tokens": 100, "name": "x", "wait": 0.0},
    "listen": {"listener": len},
    "load_facts": {"facts": "store", "cap": 500},
    "memory": {"source": "team", "style": "x"},
    "on_stream": {"text": "", "usage": None},
    "open": {
        "directory": "done",
        "config": None,
        "strategy": None,
        "summarizer": None,
        "validator": None,
        "plugins": None,
        "counter": None,
        "request_counter": None,
        "on_event": None,
    },
    "open_idle": {"directory": "done"},
    "pin": {"turn": None, "item": "i2"},
    "plan": {"target_percent": None, "goal": None},
    "post_turn": {"reply": answer("x"), "usage": None},
    "private": {"user": "ada@x.org"},
    "promote": {"facts": "store", "promotions": []},
    "propose": {"facts": "store", "extractor": None},
    "provider_edits": {"context_management": {}},
    "recall": {"item": "i2"},
    "recover": {"error": ValueError("x")},
    "register_source": {"source": InstructionSource(name="x", policy=GCPolicy.LOCKED)},
    "report_usage": {"usage": Usage(input_tokens=1)},
    "restore": {"item": "i2"},
    "rewind": {"turn": 0},
    "rollback": {"checkpoint": None},
    "rollback_and_repack": {"items": (), "undo_only": False},
    "search": {
        "query": "hello",
        "tool": None,
        "role": None,
        "first_turn": 0,
        "last_turn": 1,
        "since": 0,
        "until": 10**10,
        "entity": "Hello",
        "limit": 3,
    },
    "set_policy": {"item": "i2", "policy": GCPolicy.LOCKED},
    "switch": {"model": None, "context_limit": None, "recall_form": None},
    "sync": {"messages": SAID, "system": None, "tools": None, "marks": False},
    "system": {"source": "system", "policy": GCPolicy.LOCKED, "refresh": "now", "base": "x"},
    "tools": {"schemas": [], "discoverable": (), "refresh": "now"},
    "unpin": {"turn": None, "item": "i2"},
}
"""A call of each public method of a session that takes arguments, by keyword (the source of ``memory`` by place)."""


CALLED = [(kind, name) for kind in (GCSession, AsyncGCSession) for name in CALLS if hasattr(kind, name)]


def methods_with_arguments(cls):
    for name, method in inspect.getmembers(cls, callable):
        if not name.startswith("_") and len(inspect.signature(method).parameters) > (not inspect.ismethod(method)):
            yield name


def test_every_public_method_of_a_session_is_called():
    assert {*methods_with_arguments(GCSession), *methods_with_arguments(AsyncGCSession)} == set(CALLS)


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in (GCSession, AsyncGCSession) for name in CALLS if hasattr(kind, name)]
)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_wrong_argument_of_a_session_is_an_error_of_gc_core(kind, name, data, tmp_path_factory):
    argument, odd = data.draw(st.sampled_from(sorted(CALLS[name]))), data.draw(st.sampled_from(ODD))
    folder = tmp_path_factory.mktemp("s")
    with contextlib.chdir(folder), begun(kind, folder) as session:
        given_arguments = {key: filled(value, folder) for key, value in CALLS[name].items()} | {argument: odd}
        if name in {"pin", "unpin"} and argument == "turn":
            del given_arguments["item"]
        method = getattr(session, name)
        refused = refusal(method, given_arguments)
        assert refused or not is_surely_wrong(method, argument, odd), (name, argument, odd)


def begun(kind, folder):
    with kind(GCConfig(context_limit=32_000), directory=folder / "done"):
        pass
    session = kind(GCConfig(context_limit=32_000), directory=folder / "s")
    session.extend(SAID)
    return session


def filled(value, folder):
    """A path in the folder for what is called like one."""
    places = {"store": lambda: FactStore(folder / "facts.jsonl"), "fork": lambda: folder / "fork"}
    places["done"] = lambda: folder / "done"
    return places[value]() if isinstance(value, str) and value in places else value


def refusal(function, arguments):
    """The error of a call, which has to be gc-core's; None if there is none. What was opened is closed."""
    first = [arguments.pop("source")] if "style" in arguments else []
    try:
        made = function(*first, **arguments)
        made = asyncio.run(made) if inspect.iscoroutine(made) else made
    except GCError as error:
        return error
    except ValueError as error:
        if error is not arguments.get("error"):  # recover() raises again what it does not know
            raise
        return error
    if isinstance(made, GCSession | AsyncGCSession | SessionReader):
        made.close()
    return None


def is_surely_wrong(function, argument, value):
    """Whether a value is of another type than the signature says, for the types that are plain."""
    parameter = inspect.signature(function).parameters.get(argument)
    written = "str" if parameter is None else str(parameter.annotation)
    optional = written.endswith(" | None")
    kind = KINDS.get(written.removesuffix(" | None"))
    if (parameter is None and "search" in function.__name__) or kind is None or (optional and value is None):
        return False
    if kind is int and type(value) is float:  # strategies may calculate
        return False
    return not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)


N = None
UNIT_ARGUMENTS = {"reason": "why", "phase": ""}
VALUES = {
    GCConfig: {name: getattr(GCConfig(), name) for name in inspect.signature(GCConfig).parameters},
    GCConfig().resized: {"context_limit": 8_000, "output_reservation": 100},
    Goal: {
        "target_tokens": 1,
        "reason": GCTriggerReason.MANUAL,
        "pressure_tokens": N,
        "relief_tokens": N,
        "usable_tokens": 0,
        "turns_before": 0,
        "fills": False,
        "young_after": 0,
        "window_percent": 0.0,
        "conversation_percent": 0.0,
        "focus": "",
    },
    InstructionSource: {"name": "x", "policy": GCPolicy.LOCKED, "layer": 5, "cap": N},
    Young: {"tokens": 1, "steps": 1, "least": 1, "on_bound_thinking": False},
    Major: {"target_percent": 5, "base_tokens": N, "more_percent": 5, "conversation_percent": 5, "relief_percent": N},
    Hot: {"percent": 5},
    Steps: {"every": 5},
    Spend: {"tokens": 5},
    ColdItem: {"item": "i1", "relevance": 0.5, "reason": ""},
    CompressionProfile: {
        "name": "x",
        "high_importance": (),
        "low_importance": (),
        "preserve_verbatim": (),
        "tool_output_trim": {},
    },
    GCSession: {
        "config": N,
        "format": "openai",
        "directory": N,
        "model": N,
        "strategy": N,
        "summarizer": N,
        "validator": N,
        "plugins": N,
        "counter": N,
        "request_counter": N,
        "on_event": N,
    },
    SessionReader: {"directory": "nowhere"},
    compact: {
        "messages": SAID,
        "budget": 1_000,
        "strategy": N,
        "format": "openai",
        "system": "",
        "tools": (),
        "config": N,
        "model": N,
        "summarizer": N,
    },
    load_config: {"path": N, "environ": {}},
    search_sessions: {"root": "nowhere", "query": "x", "limit": 3},
    Plugins.discover: {"blocked": ()},
    Plugins().unregister: {"name": "nobody"},
    Plugins().strategy: {"name": "none", "options": {}},
    Plugins().summarizer: {"name": "none", "options": {}},
    Plugins().scorer: {"name": "composite"},
    Plugins().extractor: {"name": "deterministic"},
    Plugins().profile: {"name": "coding"},
    InstructionBudget(context_limit=10).entry: {"source": "system"},
    InstructionBudget(context_limit=10).source: {"name": "system"},
    InstructionBudget(context_limit=10).item: {"key": "i1"},
    InstructionBudget.restore: {"snapshot": InstructionBudget(context_limit=10).snapshot()},
}
"""A call of everything else that a host or a plugin calls, by keyword."""

REMOVALS = {
    "drop": {"unit": "unit", **UNIT_ARGUMENTS},
    "stub": {"item": "item", "keep": 0.3, **UNIT_ARGUMENTS},
    "snip": {"item": "item", "keep": 0.3, **UNIT_ARGUMENTS},
    "trim": {"item": "item", **UNIT_ARGUMENTS},
    "summarize": {"units": "units", "max_tokens": 9, "keep": 0.3, "whole": False, **UNIT_ARGUMENTS},
    "digest": {"units": "units", "max_tokens": 9, "keep": 0.3, **UNIT_ARGUMENTS},
}


@pytest.mark.parametrize("function", VALUES, ids=lambda function: function.__qualname__)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_wrong_argument_of_any_public_function_is_an_error_of_gc_core(function, data):
    argument, odd = data.draw(st.sampled_from(sorted(VALUES[function]))), data.draw(st.sampled_from(ODD))
    assume(argument != "directory" or odd != "text")  # that is a path
    refused = refusal(function, VALUES[function] | {argument: odd})
    assert refused or not is_surely_wrong(function, argument, odd), (argument, odd)


@pytest.mark.parametrize("name", REMOVALS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_wrong_argument_of_a_proposal_is_an_error_of_gc_core(name, data):
    argument, odd = data.draw(st.sampled_from(sorted(REMOVALS[name]))), data.draw(st.sampled_from(ODD))
    with GCSession() as session:
        session.append(user("Hello."))
        units = session.view().units
        known = {"unit": units[0], "units": units, "item": units[0].items[0]}
    arguments = {key: known.get(key, value) for key, value in REMOVALS[name].items()} | {argument: odd}
    method = getattr(GCRemovalItem, name)
    unit = [arguments.pop("unit")] if name == "drop" else []
    refused = refusal(lambda **more: method(*unit, **more), arguments)
    assert refused or not is_surely_wrong(method, argument, odd), (argument, odd)


def test_every_public_function_is_called():
    """But values that only gc-core makes, protocols, types and what a session returns."""
    made_by_hosts = {function.__qualname__.partition(".")[0] for function in VALUES} | {"GCRemovalItem", "Usage"}
    functions = {name for name in gc_core.__all__ if inspect.isfunction(getattr(gc_core, name))}
    assert functions - made_by_hosts == {"percent"}


@pytest.mark.parametrize(
    ("mistake", "error", "text"),
    [
        (lambda _: compact(SAID, budget="32k"), ConfigError, "budget = '32k': expected the most tokens"),
        (lambda _: compact(SAID, 0), ConfigError, "budget = 0"),
        (lambda _: GCSession(directory=5), ConfigError, "directory = 5: expected a path"),
        (lambda session: session.system("text"), SourceError, r'write system\(base="You fix bugs."\)'),
        (lambda session: session.enrich("text"), SourceError, r'write enrich\(clock="It is Friday."\)'),
        (lambda session: session.memory("team", "text"), SourceError, r'write memory\("team", style='),
        (lambda session: session.private("text"), SourceError, r"write private\(user="),
        (lambda session: session.pin(turn=99), SourceError, "turn = 99: the session has turns 0 to 1"),
        (lambda session: session.unpin(turn=99), SourceError, "turn = 99"),
        (lambda session: session.extend(SAID[0]), MessageError, r"expected a list of messages; append\(\) takes one"),
    ],
)
def test_the_error_says_what_to_write(mistake, error, text):
    with GCSession() as session:
        session.extend(SAID)
        with pytest.raises(error, match=text):
            mistake(session)


@pytest.mark.parametrize("keep", ["half", None, True, [1]])
def test_an_option_of_another_type_than_a_strategy_declares_is_refused_with_the_type(keep):
    with pytest.raises(ConfigError, match=rf"strategy 'gc_budget': keep = {re.escape(repr(keep))}: expected a number"):
        Plugins.discover().strategy("gc_budget", {"keep": keep})


def test_a_turn_pinned_in_the_configuration_may_be_unpinned_before_it_begins():
    with GCSession(GCConfig(pinned_turn_indices=[4])) as session:
        session.append(user("Hello."))
        session.unpin(turn=4)
