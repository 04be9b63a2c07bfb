"""Tracing: what no chain of rare names connects with the objective, the newest steps or what is held is garbage."""

import attrs
from ctxgc.evaluation.transcripts import read_transcript
from hypothesis import HealthCheck, Phase, given, settings

from gc_core import ItemKind
from gc_core.relevance.reachability import MOST_SHARED, Roots, distances
from tests.support.corpus import corpus_dir, require_corpus
from tests.support.inside import collections_of, moment_of, scheduler_of, window_of
from tests.support.messages import openai_sessions_strategy
from tests.support.say import call, result, small, user

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
made = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)


def session_of(*texts, task="Go on.", **more):
    """A request and steps whose results are these texts."""
    session = small(1_000_000, strategy="none", **more)
    session.append(user(task))
    for place, text in enumerate(texts):
        session.append(call((f"c{place}", "bash", {})))
        session.append(result(f"c{place}", text))
    return session


def found(session):
    view = session.view()
    results = [item for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
    return [view.distance(item) for item in results]


REST = ["nothing"] * 12
"""Steps that name nothing, so that a name in two items is a rare one."""


def test_the_newest_steps_are_roots_and_what_shares_a_name_with_them_is_near():
    texts = ["alpha_one beta_two", "beta_two gamma_three", "delta_four", *REST, "gamma_three", "epsilon_five"]
    assert found(session_of(*texts)) == [2, 1, None, *[None] * 12, 0, 0]


def test_the_objective_is_a_root():
    session = session_of("alpha_one beta_two", "beta_two", "gamma_three", *REST)
    assert found(session)[:3] == [None, None, None]
    session.objective = "What became of alpha_one?"
    assert found(session)[:3] == [1, 2, None]


def test_what_is_locked_or_pinned_is_a_root():
    session = session_of("alpha_one", "beta_two", "beta_two gamma_three", *REST, task="Mend alpha_one.")
    results = [item for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
    assert found(session)[:3] == [1, None, None]
    session.pin(item=results[1].id)
    assert found(session)[:3] == [1, 0, 1]
    session.unpin(item=results[1].id)
    session.pin(turn=0)
    assert set(found(session)) == {0}


def test_open_questions_are_roots():
    session = session_of("alpha_one", "beta_two", *REST)
    collector = attrs.evolve(collections_of(session).collector, questions=("Is alpha_one still used?",))
    view = collector._view(
        window_of(session), scheduler_of(session).manual(moment_of(session), 50), session.port.protection
    )
    results = [item for item in session.items() if item.kind is ItemKind.TOOL_RESULT]
    assert [view.distance(item) for item in results[:2]] == [1, None]


def test_a_name_that_everything_shows_connects_nothing():
    shown = ["common_name"] * 10
    assert found(session_of("alpha_one common_name", *shown, *REST))[0] is None
    many = ["common_name"] * (MOST_SHARED + 1)
    session = session_of("alpha_one common_name", *many, *REST * 20)
    assert found(session)[0] is None


def test_an_empty_window_has_no_distances():
    assert distances((), Roots(names=frozenset({"alpha_one"}))) == {}
    with small() as session:
        assert session.view().units == ()


def assert_distances_are_chains(session):
    view = session.view()
    items = [item for unit in view.units for item in unit.items]
    by_distance = {}
    for item in items:
        by_distance.setdefault(view.distance(item), []).append(item)
        assert view.liveness.distance(item) == view.distance(item)
    names = {distance: set().union(*(item.scan.names for item in near)) for distance, near in by_distance.items()}
    for distance in sorted(filter(None, by_distance)):
        nearer = names.get(distance - 1, set()) | (view._roots.names if distance == 1 else set())
        assert all(item.scan.names & nearer for item in by_distance[distance])
    held = view.units[view._recent_from :]
    assert all(view.distance(item) == 0 for unit in held for item in unit.items)


@made
@given(openai_sessions_strategy())
def test_every_distance_is_one_more_than_that_of_an_item_with_a_name_in_common(messages):
    with small(1_000_000, strategy="none") as session:
        session.extend(messages)
        assert_distances_are_chains(session)


def test_real_sessions_have_garbage_and_chains():
    require_corpus()
    for name in ("gemini-cli--trajectory", "moatless--django__django-13028"):
        with small(1_000_000, strategy="none") as session:
            session.extend(dict(each) for each in read_transcript(corpus_dir() / f"{name}.jsonl").messages)
            assert_distances_are_chains(session)
            distances_found = {session.view().distance(item) for item in session.items()}
            assert {0, 1} <= distances_found
