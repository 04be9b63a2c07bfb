"""What ten real clients sent goes through ``sync`` unchanged where nothing has to be collected."""

import pytest

from gc_core import GCConfig, GCSession
from tests.support.wire import recorded_requests, require_samples

NOTHING = GCConfig(strategy="none", context_limit=10_000_000)


@pytest.mark.parametrize("recorded", recorded_requests() or [None], ids=str)
def test_each_recorded_request_comes_back_object_for_object(recorded):
    require_samples()
    with GCSession(NOTHING, format=recorded.format) as session:
        request = session.sync(recorded.messages, system=recorded.system, tools=recorded.tools)
    assert len(request.messages) == len(recorded.messages)
    assert all(mine is own for mine, own in zip(request.messages, recorded.messages, strict=True))
    assert [*request.system] == (recorded.system or [])
    assert [*request.tools] == (recorded.tools or [])


def test_a_whole_recording_given_to_one_session_comes_back_as_it_is():
    """Titles, sub-agents and compactions too: each departs from the list before it."""
    require_samples()
    sessions = {}
    for recorded in recorded_requests():
        key = recorded.client, recorded.format
        session = sessions.setdefault(key, GCSession(NOTHING, format=recorded.format))
        request = session.sync(recorded.messages, system=recorded.system, tools=recorded.tools)
        assert all(mine is own for mine, own in zip(request.messages, recorded.messages, strict=True)), recorded
    for session in sessions.values():
        session.close()
