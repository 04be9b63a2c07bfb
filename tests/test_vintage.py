"""The contract is frozen: a plugin of that day runs in a session, and nothing that it relies on went or was renamed."""

import ast
import inspect
import json
from pathlib import Path

import attrs
import pytest

import gc_core as gc
from gc_core.plugins import contract as plugin_contract
from gc_core.plugins import hookspecs
from gc_core.relevance import contract as relevance_contract
from gc_core.relevance import importance
from gc_core.task import contract as task_contract
from gc_core.task import values as task_values
from gc_core.testing import (
    ExtractorContract,
    MemoryBackendContract,
    MiddlewareContract,
    ProfileContract,
    ScorerContract,
    StrategyContract,
    ValidatorContract,
)
from gc_core.values import protocols, results
from tests.plugins import vintage
from tests.support.inside import window_of

ROOT = Path(__file__).parents[1]
SNAPSHOT = Path(__file__).parent / "plugins" / "contract.json"
"""What was public on the day of the freeze. Regenerated only when something is added that is to be promised too."""

IMPLEMENTED = (
    *("GCStrategy", "Summarizer", "AsyncSummarizer", "SummarizationValidator", "ImportanceScorer", "StateExtractor"),
    *("MemoryBackend", "ContextMiddleware", "TokenCounter"),
)
"""Protocols that plugins implement: a parameter or a method more would break them."""

OFFERED = (
    *("ContextView", "ScoringWindow", "RegisterStrategy", "RegisterSummarizer", "RegisterScorer", "RegisterProfile"),
    *("RegisterExtractor", "RegisterMemoryBackend", "GCSession", "AsyncGCSession", "Plugins"),
)
"""What plugins and hosts call: it may get more, with defaults."""

VALUES = (
    *("Goal", "GCRemovalItem", "GCResult", "SummaryRequest", "SummaryOutcome", "Item", "Unit", "Turn", "ColdText"),
    *("ColdItem", "Refusal", "Inconsistency", "InstructionSource", "CompressionProfile", "GCConfig", "Young", "Major"),
    *("Hot", "Steps", "Spend", "ObjectiveChange", "TaskState", "Constraint", "Decision"),
)
"""Values: they may get more fields, with defaults."""

HOOKS = {name: list(inspect.signature(hook).parameters) for name, hook in vars(hookspecs).items() if name[:3] == "gc_"}


class TestStrategy(StrategyContract):
    strategy = vintage.Vintage
    seeds = (2,)
    bad_options = ({"keep": 7},)
    weakened = {  # noqa: RUF012 - as an author writes it
        "test_frees_little_more_than_the_goal_needs": "it drops the least important, wherever it stands",
    }


class TestScorer(ScorerContract):
    scorer = vintage.VintageScorer
    seeds = (1,)


class TestProfile(ProfileContract):
    profile = vintage.PROFILE
    seeds = (1,)


class TestExtractor(ExtractorContract):
    extractor = vintage.VintageExtractor
    seeds = (1,)


class TestBackend(MemoryBackendContract):
    backend = vintage.VintageBackend


class TestMiddleware(MiddlewareContract):
    middleware = vintage.VintageMiddleware
    seeds = (1,)


class TestValidator(ValidatorContract):
    validator = vintage.VintageValidator
    seeds = (1,)


# -- in a session ------------------------------------------------------------------------------------------------------


def calls(number):
    call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def lived(session, turns=6):
    for turn in range(turns):
        session.append({"role": "user", "content": f"Request {turn}: you must mend module{turn}.py, hunter2."})
        for step in range(3):
            session.pre_send()
            session.post_turn(calls(f"{turn}-{step}"))
            result = f"def function_{turn}_{step}(): ...\n" * 120
            session.append({"role": "tool", "tool_call_id": f"c{turn}-{step}", "content": result})
        session.pre_send()
        session.post_turn({"role": "assistant", "content": f"Mended module{turn}.py."})


def test_it_loads_and_takes_part_in_everything(tmp_path):
    vintage.HEARD.clear()
    plugins = gc.Plugins()
    plugins.register(vintage, name="vintage")
    plugins.register(vintage.VintageMiddleware(), name="vintage_middleware")
    config = gc.GCConfig(
        **dict.fromkeys(("strategy", "summarizer", "importance_scorer", "memory_backend"), "vintage"),
        **dict.fromkeys(("compression_profile", "state_extractor"), "vintage"),
        context_limit=9_000,
        output_reservation=500,
        preserve_recent_turns=1,
        checkpoint_every_n_steps=4,
        strategies={"vintage": {"keep": 0.1}},
    )
    with gc.GCSession(config, directory=tmp_path, plugins=plugins, validator=vintage.VintageValidator()) as session:
        session.memory("vintage", rule="Be kind.")
        lived(session)
        assert session.pre_send().tokens <= config.usable
        assert session.plugins.failures == []
        assert session.last_result is not None
        was = [message.id for message in window_of(session).messages]
    assert vintage.SHELVES[str(tmp_path)]
    heard = set(vintage.HEARD)
    assert {name for name in HOOKS if "register" not in name} - heard <= {
        "gc_promote",  # only where a strategy works with tiers
        "gc_collection_failed",
        "gc_summary_written",  # only where something was summarised
    }
    assert "hunter2" not in (tmp_path / "master.jsonl").read_text()
    plugins = gc.Plugins()
    plugins.register(vintage, name="vintage")
    with gc.GCSession.open(tmp_path, plugins=plugins, validator=vintage.VintageValidator()) as session:
        assert [message.id for message in window_of(session).messages] == was


def test_it_implements_every_hook_with_all_its_arguments():
    written = json.loads(SNAPSHOT.read_text())["hooks"]
    for name, arguments in written.items():
        hook = vintage.VintageMiddleware.process if name == "gc_process_message" else getattr(vintage, name)
        assert [each for each in inspect.signature(hook).parameters if each != "self"] == arguments


# -- what must stay
# ------------------------------------------------------------------------------------------------------


def parameters(function):
    return {
        name: "required"
        if each.default is each.empty and each.kind not in {each.VAR_KEYWORD, each.VAR_POSITIONAL}
        else ""
        for name, each in inspect.signature(function).parameters.items()
        if name != "self"
    }


def methods(owner):
    found = {}
    for kind in reversed(owner.__mro__):
        for name, value in vars(kind).items():
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            public = not name.startswith("_") or name == "__call__"
            if public and inspect.isfunction(function) and kind.__module__.startswith("gc_core"):
                found[name] = {} if isinstance(value, property) else parameters(function)
    return dict(sorted(found.items()))


def fields(value):
    return {
        each.alias: "" if each.default is not attrs.NOTHING else "required" for each in attrs.fields(value) if each.init
    }


ROOMS = (protocols, results, plugin_contract, relevance_contract, importance, task_contract, task_values)
"""Where parts of the contract are that are not on the front door: no plugin of that day imports them."""


def public(name):
    return next(getattr(room, name) for room in (gc, *ROOMS) if hasattr(room, name))


def contract():
    """What is public now, in the form of the snapshot."""
    return {
        "names": sorted(gc.__all__),
        "hooks": HOOKS,
        "implemented": {name: methods(public(name)) for name in IMPLEMENTED},
        "offered": {name: methods(public(name)) for name in OFFERED},
        "values": {name: fields(public(name)) for name in VALUES},
        "reasons": [reason.value for reason in gc.GCTriggerReason],
        "policies": [policy.value for policy in gc.GCPolicy],
        "kinds": [kind.value for kind in gc.ItemKind],
    }


WRITTEN = json.loads(SNAPSHOT.read_text())
NOW = contract()


@pytest.mark.parametrize("what", ["names", "reasons", "policies", "kinds"])
def test_no_public_name_went(what):
    assert set(WRITTEN[what]) - set(NOW[what]) == set()


def test_every_hook_takes_what_it_took():
    for name, arguments in WRITTEN["hooks"].items():
        assert set(arguments) <= set(NOW["hooks"][name]), name


@pytest.mark.parametrize("name", WRITTEN["implemented"])
def test_what_plugins_implement_is_as_it_was(name):
    """A method or a parameter more would be one that no plugin of that day has."""
    assert NOW["implemented"][name] == WRITTEN["implemented"][name]


@pytest.mark.parametrize("name", WRITTEN["offered"])
def test_what_plugins_call_takes_what_it_took(name):
    for method, taken in WRITTEN["offered"][name].items():
        assert method in NOW["offered"][name], f"{name}.{method} is gone"
        assert_grown(taken, NOW["offered"][name][method], f"{name}.{method}")
        positions = [each for each in NOW["offered"][name][method] if each in taken]
        assert positions == list(taken), f"{name}.{method} has another order"


@pytest.mark.parametrize("name", WRITTEN["values"])
def test_values_have_the_fields_that_they_had(name):
    assert_grown(WRITTEN["values"][name], NOW["values"][name], name)


def assert_grown(then, now, where):
    assert set(then) - set(now) == set(), f"{where} lost or renamed something"
    demanded = [each for each, required in now.items() if required and not then.get(each)]
    assert demanded == [], f"{where} demands what it did not: give {demanded} a default"


def test_collect_has_two_parameters_for_good():
    assert list(inspect.signature(gc.GCStrategy.collect).parameters) == ["self", "context", "goal"]


# -- the flagships -----------------------------------------------------------------------------------------------------


def sources():
    return [
        pytest.param(path, id=f"{path.parent.name}/{path.name}")
        for name in ("gc_rolling", "gc_progressive")
        for path in sorted((ROOT / "plugins" / name / "src").rglob("*.py"))
    ]


@pytest.mark.parametrize("path", [*sources(), pytest.param(Path(vintage.__file__), id="vintage")])
def test_flagships_import_only_public_names(path):
    tree = ast.parse(path.read_text())
    known = {"gc_core"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            deep = [each.name for each in node.names if each.name.startswith("gc_core.")]
            assert deep == []
            known |= {each.asname for each in node.names if each.name == "gc_core" and each.asname}
        if isinstance(node, ast.ImportFrom):
            assert not (node.module or "").startswith("gc_core."), node.module
            if node.module == "gc_core":
                assert {each.name for each in node.names} <= set(gc.__all__)
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known
    }
    assert used - set(gc.__all__) == set()
