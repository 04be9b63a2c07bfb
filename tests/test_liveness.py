"""A line is alive when it is the last carrier of a name; a result is stale when a later one repeats it."""

import pytest

from gc_core import GCConfig, GCSession, ItemKind

READ = '{"file_path": "src/login.py"}'


def session_of(*steps):
    """Steps are (tool, arguments, result, failed)."""
    session = GCSession(GCConfig(strategy="none"))
    session.append({"role": "user", "content": "Fix it."})
    for place, (tool, arguments, result, _) in enumerate(steps):
        call = {"id": f"c{place}", "type": "function", "function": {"name": tool, "arguments": arguments}}
        session.append({"role": "assistant", "content": None, "tool_calls": [call]})
        session.append({"role": "tool", "tool_call_id": f"c{place}", "content": result})
    return session


def results(session):
    return [item for item in session.items() if item.kind is ItemKind.TOOL_RESULT]


def test_the_last_carrier_of_a_name_is_the_newest_item_that_shows_it():
    session = session_of(("bash", "{}", "alpha_one\nbeta_two", 0), ("bash", "{}", "beta_two", 0))
    old, new = results(session)
    alive = session.view().liveness
    assert alive.last_carried(old) == {"alpha_one"}
    assert alive.last_carried(new) == {"beta_two"}


def test_reuse_counts_the_names_that_the_agent_has_used_since():
    session = session_of(
        ("bash", "{}", "alpha_one\nbeta_two\ngamma_three", 0), ("bash", '{"cmd": "grep alpha_one"}', "", 0)
    )
    old, _ = results(session)
    assert session.view().liveness.reuse(old) == 1


@pytest.mark.parametrize(
    ("later", "stale"),
    [
        (("read", READ), True),
        (("write_file", '{"path": "src/login.py", "content": "new"}'), True),
        (("edit", '{"file_path": "src/login.py", "old_string": "a", "new_string": "b"}'), True),
        (("read", '{"file_path": "src/login.py", "offset": 10}'), False),
        (("read", '{"file_path": "src/other.py"}'), False),
    ],
)
def test_a_file_that_is_read_or_written_again_makes_the_old_reading_stale(later, stale):
    session = session_of(("read", READ, "old content", 0), (*later, "done", 0))
    old, new = results(session)
    alive = session.view().liveness
    assert alive.superseded(old) is stale
    assert not alive.superseded(new)


def test_a_failed_command_that_later_succeeds_is_stale_and_not_the_other_way_round():
    def run(first_failed, second_failed):
        session = GCSession(GCConfig(strategy="none"), format="anthropic")
        session.append({"role": "user", "content": "Test."})
        for place, failed in enumerate((first_failed, second_failed)):
            call = {"type": "tool_use", "id": f"t{place}", "name": "bash", "input": {"command": "pytest"}}
            answer = {"type": "tool_result", "tool_use_id": f"t{place}", "content": "...", "is_error": failed}
            session.append({"role": "assistant", "content": [call]})
            session.append({"role": "user", "content": [answer]})
        return [session.view().liveness.superseded(item) for item in results(session)]

    assert run(True, False) == [True, False]
    assert run(False, True) == [False, False]


def test_only_resident_items_carry():
    session = session_of(*[("bash", "{}", f"only_here_{number}\n" + "filler words\n" * 200, 0) for number in range(8)])
    session.collect_now(target_percent=0)
    resident = {item.id for item in session.items()}
    alive = session.view().liveness
    assert set(alive._last.values()) <= set(range(len(resident)))
