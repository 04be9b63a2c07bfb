"""
Asked again with nothing appended, a session sends the same; and text that no one sent never keeps
it from sending.
"""

import json
import random

import pytest

from gc_core import ContextOverflowError, GCConfig, GCSession
from gc_core.events import CollectionFinished
from gc_core.values.references import Reference
from tests.support.grids import half
from tests.support.say import answer, call, lines, result, user

STRATEGIES = ["gc_truncate", "gc_budget", "gc_rolling", "gc_progressive", "gc_hybrid", "gc_summarize"]


@pytest.mark.parametrize("seed", half([4, 5, 7, 8, 9, 12, 19, 20, 23]))
def test_a_second_pre_send_with_nothing_appended_changes_nothing(seed):
    """Small windows, limits of turns, the state of the task and enrichment: one collection may leave another due."""
    rng = random.Random(seed)  # noqa: S311 - no secrets here
    strategy = rng.choice(STRATEGIES)
    config = GCConfig(
        context_limit=rng.choice([900, 1_800, 3_000, 6_000]),
        output_reservation=0,
        strategy=strategy,
        task_state_percent=rng.choice([None, None, 5, 20]),
        reread_guard="off",
        max_turns=rng.choice([None, 4]),
    )
    collections = []
    with GCSession(config) as session:
        session.listen(lambda event: collections.append(event) if isinstance(event, CollectionFinished) else None)
        session.append(user(f"Fix it. {lines(rng.randint(1, 20))}"))
        for place in range(45):
            if rng.random() < 0.15:
                session.enrich(**{rng.choice("abc"): lines(rng.choice([1, 5, 60]))})
            try:
                sent = json.dumps(session.pre_send().messages)
            except ContextOverflowError:
                break
            known = len(collections)
            assert json.dumps(session.pre_send().messages) == sent
            assert len(collections) == known
            if rng.random() < 0.7:
                session.post_turn(call((f"c{place}", "read", {"path": f"src/f{place % 7}.py"})))
                session.append(result(f"c{place}", lines(rng.choice([1, 5, 20, 100, 300]), f"f{place}")))
            else:
                session.post_turn(answer(f"Done. {lines(rng.randint(1, 30))}"))
                session.append(user(f"Please {place}. {lines(rng.choice([1, 1, 5, 50]))}"))
        assert session.plugins.failures == []


@pytest.mark.parametrize("strategy", ["gc_rolling", "gc_progressive"])
def test_a_session_that_is_opened_sends_what_it_sent_before(tmp_path, strategy):
    """What one collection left for a better moment is no better for the next process."""
    config = GCConfig(context_limit=3_000, output_reservation=0, strategy=strategy, auto_expand=True)
    session = GCSession(config, directory=tmp_path)
    session.append(user("Fix it."))
    for place in range(9):
        session.pre_send()
        session.post_turn(call((f"c{place}", "read", {"path": f"src/f{place % 4}.py"})))
        session.append(result(f"c{place}", lines(5 + 17 * (place % 5), f"f{place}")))
        sent = json.dumps(session.pre_send().messages)
        session.close()
        session = GCSession.open(tmp_path)
        assert json.dumps(session.pre_send().messages) == sent
    session.close()


@pytest.mark.parametrize("shape", ["uSu", "Su", "uS", "S", "uaSu", "uSct", "uSa", "uSSu", "uSaSu", "uSctSct"])
@pytest.mark.parametrize("rows", [125, 140, 300])
def test_a_summary_that_is_too_large_for_the_window_leaves_it(shape, rows):
    """
    As one does that was written for a larger window; no one sent it, so it is not the newest input
    wherever it is.
    """
    reference = Reference(tokens=9_000, first="i1", last="i9", first_turn=0, last_turn=2, recalls=False)
    text = "\n".join(f"The file src/mod_{place}.py was read and value {place} found." for place in range(rows))
    said = {"u": user("Go."), "S": user(reference.summary_text("summary 1", text)), "a": answer("Ok.")}
    said |= {"c": call(("c1", "read", {})), "t": result("c1", "x = 1")}
    with GCSession(GCConfig(context_limit=1_800, output_reservation=0)) as session:
        for letter in shape:
            session.append(said[letter])
        assert session.pre_send().tokens <= 1_800
        if "u" in shape:
            assert any("Go." in json.dumps(message) for message in session.pre_send().messages)
