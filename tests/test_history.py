"""The changes of a window, read only from the ledger: the same as the session itself knows."""

import random

import attrs
import pytest

from gc_core import GCConfig, GCSession
from gc_core.errors import GCError, LogError
from gc_core.storage.history import read_history
from gc_core.storage.ledger import FILE_NAME
from tests.support.grids import half
from tests.support.inside import state_of

CONFIG = GCConfig(
    strategy="gc_truncate", context_limit=2_000, output_reservation=0, preserve_recent_turns=1, threshold_percent=80.0
)


def say(session, number):
    session.append({"role": "user", "content": f"Request {number}: " + "some words " * 80})
    session.pre_send()
    session.post_turn({"role": "assistant", "content": f"Answer {number}: " + "other words " * 80})


def act(session, turns, choice):
    """One thing that a host may do; what cannot be done now is refused."""
    try:
        match choice:
            case "undo":
                session.undo()
            case "redo":
                session.redo()
            case "release":
                session.release()
            case "collect":
                session.collect_now(target_percent=20.0)
            case "restore":
                session.restore(f"i{1 + turns // 2}")
            case "rewind":
                session.rewind(max(1, state_of(session).context.cursor.turn - 1))
            case _:
                say(session, turns)
    except GCError:
        pass


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "session"


@pytest.mark.parametrize("seed", half(range(6)))
def test_the_ledger_by_itself_says_what_is_in_force(directory, seed):
    chance = random.Random(seed)  # noqa: S311 - test data, not a secret
    choices = ["say"] * 6 + ["undo"] * 3 + ["redo"] * 2 + ["release", "collect", "restore", "rewind"]
    kinds = set()
    with GCSession(CONFIG, directory=directory) as session:
        for turn in range(60):
            act(session, turn, chance.choice(choices))
            found = read_history(directory)
            assert [entry.place for entry in found if entry.in_force] == sorted(
                state_of(session).done, key=lambda place: place.start
            )
            assert found == tuple(attrs.evolve(entry, record=None) for entry in session.history())
            kinds |= {entry.what for entry in found}
        assert all((entry.record is not None) == entry.is_collection for entry in session.history())
    assert {"collected", "undone", "rewound"} <= kinds


def test_an_invalid_ledger_line_is_named(directory):
    with GCSession(CONFIG, directory=directory) as session:
        say(session, 1)
    ledger = directory / FILE_NAME
    size = ledger.stat().st_size
    for line in (b'{"at":0}\n', b'{"at":"0","kind":"sent"}\n', b'{"at":0,"time":1.0,"kind":"collected"}\n'):
        with ledger.open("ab") as file:
            file.write(line)
        with pytest.raises(LogError, match=f"bytes {size}-.*not a valid ledger line"):
            read_history(directory)
        with ledger.open("r+b") as file:
            file.truncate(size)


def test_an_undoing_of_another_collection_than_the_last_one_is_named(directory):
    with GCSession(CONFIG, directory=directory) as session:
        say(session, 1)
    with (directory / FILE_NAME).open("ab") as file:
        file.write(b'{"at":0,"time":1.0,"kind":"undone","place":[5,9]}\n')
    with pytest.raises(LogError, match="that at 5 is not the last one"):
        read_history(directory)


def test_what_was_written_while_the_log_was_read_is_left_out(directory):
    with GCSession(CONFIG, directory=directory) as session:
        for number in range(8):
            say(session, number)
    before = read_history(directory)
    assert before
    size = (directory / "master.jsonl").stat().st_size
    with (directory / FILE_NAME).open("ab") as file:
        file.write(b'{"at":%d,"time":1.0,"kind":"purged","by":"ada","occurrences":1}\n' % (size + 1))
    assert read_history(directory) == before


def test_a_directory_without_a_session_has_no_history(tmp_path):
    with pytest.raises(LogError, match="holds no session"):
        read_history(tmp_path)
