"""The file that keeps how far the state of the task is known: read for the log, ignored where it does not fit."""

import json
import stat

import pytest

from gc_core import GCConfig, GCSession, Plugins, hookimpl
from gc_core.storage.audit import verify
from gc_core.storage.purge import purge
from gc_core.storage.task_state_file import FILE_NAME
from gc_core.task.extractor import DeterministicExtractor

SEEN = []


class Counting:
    """The core's own extractor, telling how many items it was given."""

    def extract(self, state, items, objective):
        SEEN.append(len(items))
        return DeterministicExtractor().extract(state, items, objective)


class Plugin:
    @hookimpl
    def gc_register_extractors(self, register):
        register("counting", Counting)


def plugins():
    made = Plugins()
    made.register(Plugin(), name="counting")
    return made


def session_in(directory, extractor="counting"):
    config = GCConfig(strategy="none", context_limit=500_000, auto_trigger=False, state_extractor=extractor)
    return GCSession(config, directory=directory, plugins=plugins())


def reopened(directory, **more):
    SEEN.clear()
    return GCSession.open(directory, plugins=plugins(), **more)


def talk(session, turns, first=0):
    for number in range(first, first + turns):
        session.append({"role": "user", "content": f"Never delete table number{number}."})
        call = {"name": "bash", "arguments": json.dumps({"command": f"python run{number}.py"})}
        session.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}],
            }
        )
        session.append({"role": "tool", "tool_call_id": f"c{number}", "content": "Error: no such file" * (number % 2)})
        session.append({"role": "assistant", "content": "I'll use a list instead because it keeps the order."})


def test_a_session_that_is_opened_again_reads_on_where_its_state_ended(tmp_path):
    with session_in(tmp_path) as session:
        talk(session, 5)
        known = session.state
        talk(session, 1, first=5)
    with reopened(tmp_path) as session:
        state = session.state
        assert sum(SEEN) == 4
    assert state != known
    (tmp_path / FILE_NAME).unlink()
    with reopened(tmp_path) as session:
        assert session.state == state
        assert sum(SEEN) == 24


def test_a_result_after_the_end_of_the_file_finds_its_call(tmp_path):
    with session_in(tmp_path) as session:
        talk(session, 1)
        call = {"name": "bash", "arguments": '{"command": "pytest"}'}
        calls = [{"id": "late", "type": "function", "function": call}]
        session.append({"role": "assistant", "content": None, "tool_calls": calls})
        assert session.state.tool_usage_stats["bash"].failures == 0
    with reopened(tmp_path) as session:
        session.append({"role": "tool", "tool_call_id": "late", "content": "Error: no tests"})
        (error,) = session.state.error_patterns
    assert (error.tool, error.asked) == ("bash", "pytest")


def test_the_file_is_only_for_its_owner_and_no_file_is_written_for_an_unused_state(tmp_path):
    with session_in(tmp_path) as session:
        talk(session, 2)
    assert not (tmp_path / FILE_NAME).exists()
    with reopened(tmp_path) as session:
        assert session.state.constraints
        session.checkpoint()
        assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600
    assert verify(tmp_path) == ()


def test_what_was_rewound_since_makes_the_file_worth_nothing(tmp_path):
    with session_in(tmp_path) as session:
        talk(session, 4)
        assert len(session.state.constraints) == 4
    with reopened(tmp_path) as session:
        session.rewind(1)
        talk(session, 1, first=7)
        assert [entry.text[-8:] for entry in session.state.constraints] == ["number0.", "number7."]
    with reopened(tmp_path) as session:
        assert [entry.text[-8:] for entry in session.state.constraints] == ["number0.", "number7."]
        assert SEEN == []


def spoiled(change):
    def spoil(path):
        saved = json.loads(path.read_text())
        change(saved)
        path.write_text(json.dumps(saved))

    return spoil


@pytest.mark.parametrize(
    ("spoil", "is_reported"),
    [
        (lambda path: path.write_bytes(b"{"), "cannot be read"),
        (spoiled(lambda saved: saved.update(session="another")), "of session 'another'"),
        (spoiled(lambda saved: saved.update(log=saved["log"] + 10_000)), "bytes of a log of"),
        (spoiled(lambda saved: saved.update(state="[]")), "cannot be read"),
        (spoiled(lambda saved: saved.update(mark="00")), ""),
        (spoiled(lambda saved: saved.update(version=0)), ""),
    ],
)
def test_a_file_that_does_not_fit_is_skipped_and_verify_reports_it(tmp_path, spoil, is_reported):
    with session_in(tmp_path) as session:
        talk(session, 2)
        state = session.state
    spoil(tmp_path / FILE_NAME)
    found = [finding.text for finding in verify(tmp_path) if finding.file == FILE_NAME]
    assert bool(found) == bool(is_reported)
    assert all(is_reported in text for text in found)
    with reopened(tmp_path) as session:
        assert session.state == state
        assert sum(SEEN) == 8
    assert verify(tmp_path) == ()


def test_the_state_that_another_extractor_found_is_not_taken(tmp_path):
    with session_in(tmp_path, "deterministic") as session:
        talk(session, 2)
        assert session.state.constraints
    config = GCConfig(strategy="none", context_limit=500_000, auto_trigger=False, state_extractor="counting")
    with reopened(tmp_path, config=config) as session:
        assert session.state.constraints
        assert sum(SEEN) == 8


def test_a_purge_leaves_nothing_of_it(tmp_path):
    with session_in(tmp_path) as session:
        session.append({"role": "user", "content": "Never print hunter2secret."})
        assert session.state.constraints
    purge(tmp_path, "hunter2secret", by="an operator")
    assert not any(b"hunter2secret" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    with reopened(tmp_path) as session:
        assert session.state.constraints[0].text == "Never print *************."


def test_a_branch_finds_its_state_itself(tmp_path):
    with session_in(tmp_path / "a") as session:
        talk(session, 3)
        state = session.state
        with session.fork(tmp_path / "b") as branch:
            assert not (tmp_path / "b" / FILE_NAME).exists()
            assert branch.state == state
