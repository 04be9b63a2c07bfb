"""Plugins of third parties: what they offer is used by name, and what they break breaks nothing."""

import pytest

from gc_core import GCConfig, GCPolicy, GCSession, ItemKind, Plugins
from gc_core.errors import UnknownStrategyError
from tests.plugins import hostile, two_strategies
from tests.support.checker import complaints
from tests.support.say import call, lines, result, user

BROKEN = "tests.plugins.broken"


def filled(session, number=14):
    session.system(rules="Never guess.")
    session.append(user("Do it, and never touch main.cfg."))
    for place in range(number):
        session.append(call((f"c{place}", "read", {"path": f"f{place}.py"})))
        session.append(result(f"c{place}", lines(30, f"v{place}")))


def installed(monkeypatch, tmp_path, **modules):
    """Distributions under the entry-point group that name these modules."""
    for name, module in modules.items():
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[gc_core]\n{name} = {module}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return Plugins.discover()


def test_a_broken_distribution_is_named_and_takes_nothing_with_it(monkeypatch, tmp_path):
    plugins = installed(monkeypatch, tmp_path, gc_broken=BROKEN, gc_two="tests.plugins.two_strategies")
    (failure,) = plugins.failures
    assert str(failure) == "gc_broken failed in loading: ModuleNotFoundError: No module named 'there_is_no_such_module'"
    assert {"results_first", "steps_next"} <= {info.name for info in plugins.strategies()}
    with pytest.raises(UnknownStrategyError, match="gc_broken failed in loading"):
        plugins.strategy("broken")


def test_two_strategies_of_one_plugin_work_in_their_order_and_each_is_named_in_the_result():
    plugins = Plugins()
    plugins.register(two_strategies)
    config = GCConfig(strategy=["results_first", "gc_steps_next"], context_limit=6_000, output_reservation=0)
    with GCSession(config, plugins=plugins) as session:
        filled(session)
        done = session.collect_now(target_percent=16)
        assert list(done.freed_by()) == [("results_first", "results"), ("gc_steps_next", "units")]
        assert sum(done.freed_by().values()) >= done.tokens_freed > 0


def test_the_summarizer_of_a_plugin_is_chosen_by_name_with_its_own_options():
    plugins = Plugins.discover()
    plugins.register(two_strategies)
    config = GCConfig(
        strategy="gc_summarize",
        context_limit=6_000,
        output_reservation=0,
        summarizer="one_line",
        summarizers={"one_line": {"prefix": "Until then"}},
    )
    with GCSession(config, plugins=plugins) as session:
        filled(session)
        done = session.collect_now(target_percent=20)
        (summary,) = [item for item in session.items() if item.kind is ItemKind.SUMMARY]
        assert done.summaries[0].by == "one_line"
        assert "Until then" in summary.text
        assert complaints("openai", session.pre_send().kwargs()) == []


@pytest.mark.parametrize("keeps", [False, True], ids=["alone", "with one that keeps everything"])
def test_a_hostile_plugin_cannot_break_a_request_or_lose_a_byte(keeps):
    plugins = Plugins.discover()
    plugins.register(hostile, name="hostile")
    if keeps:
        plugins.register(hostile.KeepsEverything(), name="keeps everything")
    config = GCConfig(strategy="hostile", context_limit=3_000, output_reservation=0, summarizer="liar")
    with GCSession(config, plugins=plugins) as session:
        filled(session)
        texts = {item.id: item.text for item in session.items() if item.id.startswith("i")}
        for _ in range(4):
            request = session.pre_send()
            assert request.tokens <= 3_000
            assert complaints("openai", request.kwargs()) == []
            sent = str(request.messages)
            assert "Never guess." in sent
            assert "Do it, and never touch main.cfg." in sent
            assert "<system>" not in sent
            session.post_turn(call((f"d{len(texts)}", "read", {"path": "x"})))
            session.append(result(f"d{len(texts)}", lines(40, "more")))
        assert all(session.recall(key) == text for key, text in texts.items())
        assert all(item.policy is GCPolicy.LOCKED for item in session.items() if item.id in {"i1", "system:rules"})
        assert session.plugins.failures
