"""What is particular to FairShare."""

import json
from collections.abc import Iterator

import pytest
from gc_fair_share import FairShare

import gc_core as gc


def said(session: gc.GCSession, tool: str, place: int, words: int) -> None:
    function = {"name": tool, "arguments": json.dumps({"place": place})}
    call = {"id": f"{tool}{place}", "type": "function", "function": function}
    session.append({"role": "assistant", "content": None, "tool_calls": [call]})
    session.append({"role": "tool", "tool_call_id": call["id"], "content": f"{tool}_{place} " + "and more " * words})


@pytest.fixture
def session() -> Iterator[gc.GCSession]:
    """A talkative tool and a quiet one."""
    with gc.GCSession(strategy=FairShare()) as made:
        made.append({"role": "user", "content": "Look around."})
        for place in range(8):
            said(made, "quiet", place, 150)
            said(made, "loud", place, 900)
        yield made


def shrunk(session: gc.GCSession, target_tokens: int) -> set[str]:
    """Which tools' results gave way."""
    target = 100 * target_tokens / session.config.usable
    gone = {key for removal in session.plan(target_percent=target).plan.removals for key in removal.items}
    return {item.name for item in session.items() if item.id in gone and item.kind is gc.ItemKind.TOOL_RESULT}


def test_the_talkative_tool_gives_way_first(session: gc.GCSession) -> None:
    assert shrunk(session, session.budget.total - 3_000) == {"loud"}


def test_when_its_results_have_shrunk_the_others_follow(session: gc.GCSession) -> None:
    assert shrunk(session, 1_000) == {"loud", "quiet"}


def test_results_that_take_little_room_stay() -> None:
    with gc.GCSession(strategy=FairShare(spare_below=500)) as session:
        session.append({"role": "user", "content": "Look around."})
        for place in range(8):
            said(session, "quiet", place, 150)
        reasons = {removal.reason for removal in session.plan(target_percent=0).plan.removals}
    assert reasons == {"oldest unit"}
