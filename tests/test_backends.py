"""Checkpoints may be kept anywhere: the session is the same, and goes on whatever its backend does."""

import contextlib
import os
import sqlite3
import stat

import attrs
import pytest

from gc_core import ConfigError, GCConfig, GCSession, Plugins, hookimpl
from gc_core.errors import LogError
from gc_core.plugins.checkpoint_backends import FileBackend, SQLiteBackend, check_key
from gc_core.storage.audit import verify
from gc_core.storage.checkpoints import KEPT_NEWEST, Checkpoints, checkpoints_to_prune, key_of, shown
from gc_core.storage.purge import purge
from gc_core.storage.state import Position, digest_of_messages
from tests.support.inside import store_of, window_of

SECRET = "hunter2-and-more"  # noqa: S105 - it is planted


def spoken(session, first, count):
    for number in range(first, first + count):
        session.append({"role": "user", "content": f"Request {number}: mend login{number}.py. {'word ' * 40}"})
        session.pre_send()
        session.post_turn({"role": "assistant", "content": f"Mended login{number}.py."})


def config(backend, **more):
    return GCConfig(**{"memory_backend": backend, "checkpoint_every_n_steps": 1, "strategy": "none", **more})


def digest(session):
    return digest_of_messages(window_of(session).messages)


@attrs.frozen
class Shelf:
    """A third party's backend: one dict for all sessions, by directory."""

    directory: object
    held = {}  # noqa: RUF012 - it outlives the object, as a server does

    @property
    def mine(self):
        return self.held.setdefault(str(self.directory), {})

    def write(self, key, data):
        self.mine[key] = data

    def read(self, key):
        return self.mine.get(key)

    def delete(self, key):
        self.mine.pop(key, None)

    def keys(self, prefix=""):
        return sorted(key for key in self.mine if key.startswith(prefix))


class Raises(Shelf):
    def fail(self, *_):
        raise ConnectionError("no shelf")

    write = read = delete = keys = fail


class AnswersRubbish(Shelf):
    def write(self, key, data):
        """Says nothing, keeps nothing."""

    def read(self, key):  # noqa: ARG002 - the contract
        return "not bytes"

    def keys(self, prefix=""):  # noqa: ARG002 - the contract
        return [key_of(Position(1, 1)), 7]


class AnswersBytesOfNothing(Shelf):
    def read(self, key):  # noqa: ARG002 - the contract
        return b'{"at": [0, 0]}'


HOSTILE = (Raises, AnswersRubbish, AnswersBytesOfNothing)


def offering(backend):
    class Offers:
        @hookimpl
        def gc_register_memory_backends(self, register):
            register("shelf", backend)

    plugins = Plugins()
    plugins.register(Offers(), name="shelf")
    return plugins


@pytest.fixture(autouse=True)
def empty_shelf():
    Shelf.held.clear()


# -- the session is the same -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["files", "sqlite", "memory", "shelf"])
def test_a_session_opened_again_is_the_same_whatever_kept_its_checkpoints(backend, tmp_path):
    plugins = offering(Shelf)
    with GCSession(config(backend), directory=tmp_path, plugins=plugins) as session:
        spoken(session, 0, 4)
        was = digest(session), session.budget.total
    with GCSession.open(tmp_path, plugins=plugins) as session:
        assert (digest(session), session.budget.total) == was
        assert session.config.memory_backend == backend
        spoken(session, 4, 2)
        assert session.plugins.failures == []
    assert verify(tmp_path) == ()


@pytest.mark.parametrize("backend", ["files", "sqlite", "shelf"])
def test_going_back_branching_and_going_on_use_the_same_backend(backend, tmp_path):
    plugins = offering(Shelf)
    with GCSession(config(backend), directory=tmp_path / "a", plugins=plugins) as session:
        spoken(session, 0, 3)
        then = session.checkpoint()
        spoken(session, 3, 2)
        with session.fork(tmp_path / "b") as branch:
            assert digest(branch) == digest(session)
            assert set(store_of(branch).checkpoints.moments()) >= set(store_of(session).checkpoints.moments())
            spoken(branch, 5, 1)
        session.rollback(then)
        assert digest(session) == then.digest
    assert verify(tmp_path / "a") == verify(tmp_path / "b") == ()


def test_one_file_holds_all_checkpoints_of_sqlite_and_only_its_owner_may_read_it(tmp_path):
    with GCSession(config("sqlite"), directory=tmp_path) as session:
        spoken(session, 0, 3)
    names = {path.name for path in tmp_path.iterdir()}
    assert "checkpoints.db" in names
    assert not {"checkpoints", "checkpoints.db-wal", "checkpoints.db-shm", "checkpoints.db-journal"} & names
    assert stat.S_IMODE((tmp_path / "checkpoints.db").stat().st_mode) == 0o600
    assert SQLiteBackend(tmp_path / "checkpoints.db").keys()


def test_a_session_may_change_its_backend_when_it_is_opened(tmp_path):
    with GCSession(config("files"), directory=tmp_path) as session:
        spoken(session, 0, 2)
    with GCSession.open(tmp_path, config("sqlite")) as session:
        spoken(session, 2, 2)
        was = digest(session)
    assert shown(tmp_path, writable=False).name == "sqlite"
    with GCSession.open(tmp_path) as session:
        assert digest(session) == was
        assert session.config.memory_backend == "sqlite"
    assert verify(tmp_path) == ()


def test_a_session_without_a_directory_asks_no_backend_of_a_plugin():
    with GCSession(config("shelf"), plugins=offering(Shelf)) as session:
        spoken(session, 0, 2)
        session.checkpoint()
    assert Shelf.held == {}


# -- whatever it does --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", HOSTILE)
def test_a_backend_that_fails_is_recorded_and_the_session_goes_on(backend, tmp_path):
    plugins = offering(backend)
    with GCSession(config("shelf"), directory=tmp_path, plugins=plugins) as session:
        spoken(session, 0, 3)
        then = digest(session)
        session.rewind(2)
        spoken(session, 2, 1)
        assert digest(session) == then
        was = digest(session)
    with GCSession.open(tmp_path, plugins=offering(backend)) as session:
        assert digest(session) == was
    failures = [str(failure) for failure in plugins.failures]
    assert all(line.startswith("shelf failed in ") for line in failures)
    assert bool(failures) == (backend is not AnswersBytesOfNothing)


def test_a_checkpoint_that_the_host_asks_for_and_that_cannot_be_written_is_an_error(tmp_path):
    with GCSession(config("shelf"), directory=tmp_path, plugins=offering(Raises)) as session:
        spoken(session, 0, 1)
        with pytest.raises(LogError, match=r"checkpoint cannot be written: shelf failed in write: .*no shelf"):
            session.checkpoint()
        with pytest.raises(LogError, match="no checkpoint"):
            session.rollback()


def test_a_backend_that_nothing_offers_is_named_with_those_that_there_are(tmp_path):
    with pytest.raises(ConfigError, match=r"no memory backend 'redis'; installed: \['files', 'memory', 'sqlite'\]"):
        GCSession(config("redis"), directory=tmp_path, plugins=Plugins())


@pytest.mark.parametrize("made", [lambda _: 1 / 0, lambda _: object(), lambda: None], ids=["raises", "none", "no args"])
def test_a_backend_that_cannot_be_made_is_an_error_before_anything_is_said(made, tmp_path):
    with pytest.raises(ConfigError, match="memory backend 'shelf' cannot be created"):
        GCSession(config("shelf"), directory=tmp_path, plugins=offering(made))


def test_an_invalid_database_costs_only_the_checkpoints(tmp_path):
    with GCSession(config("sqlite"), directory=tmp_path) as session:
        spoken(session, 0, 3)
        was = digest(session)
    (tmp_path / "checkpoints.db").write_bytes(b"no database at all" * 100)
    assert [finding.file for finding in verify(tmp_path)] == ["checkpoints.db"]
    with GCSession.open(tmp_path) as session:
        assert digest(session) == was
        spoken(session, 3, 1)  # and it is created again with the next one
    assert verify(tmp_path) == ()
    assert SQLiteBackend(tmp_path / "checkpoints.db").keys()


def test_a_damaged_schema_of_the_checkpoint_database_costs_only_its_checkpoints(tmp_path):
    """SQLite quotes the schema in its error, and Python cannot decode that: UnicodeDecodeError instead of its own."""
    path = tmp_path / "checkpoints.db"
    with GCSession(config("sqlite"), directory=tmp_path) as session:
        spoken(session, 0, 3)
        was = digest(session)
    sound = path.read_bytes()
    begins = sound.index(b"CREATE TABLE")
    for place in range(begins, begins + 60, 6):
        path.write_bytes(sound[:place] + b"\xc1" + sound[place + 1 :])
        assert {finding.file.partition("/")[0] for finding in verify(tmp_path)} <= {"checkpoints.db"}
        with GCSession.open(tmp_path) as session:
            assert digest(session) == was
        with contextlib.suppress(LogError):
            SQLiteBackend(path).keys()
        SQLiteBackend(path).write("a", b"1")
        assert SQLiteBackend(path).read("a") == b"1"


def killed_in_a_write(path):
    """What SQLite leaves of a writer that was killed between its journal and its commit: a hot journal."""
    child = os.fork()
    if not child:
        db = sqlite3.connect(path)
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE kept SET data = ?", (b"x" * 100_000,))
        os._exit(0)
    os.waitpid(child, 0)
    assert path.with_name(f"{path.name}-journal").stat().st_size
    return {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}


def test_a_writer_that_was_killed_in_the_middle_of_a_write_costs_no_checkpoint(tmp_path):
    path = tmp_path / "checkpoints.db"
    with GCSession(config("sqlite"), directory=tmp_path) as session:
        spoken(session, 0, 3)
        was = digest(session)
    keys = SQLiteBackend(path).keys()
    left = killed_in_a_write(path)
    with pytest.raises(LogError, match="was killed"):
        SQLiteBackend(path, writable=False).keys()
    assert [(finding.file, "was killed" in finding.text) for finding in verify(tmp_path)] == [("checkpoints.db", True)]
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir() if each.is_file()} == left
    with GCSession.open(tmp_path) as session:
        assert store_of(session).checkpoints.newest(store_of(session).position)
        assert {*keys} <= {*SQLiteBackend(path).keys()}
        assert digest(session) == was
        spoken(session, 3, 1)
    assert verify(tmp_path) == ()


def test_a_writer_that_was_killed_before_its_first_checkpoint_leaves_a_file_without_any(tmp_path):
    path = tmp_path / "checkpoints.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE other (number INTEGER)")
    assert SQLiteBackend(path).keys() == ()
    assert SQLiteBackend(path).read("a") is None
    SQLiteBackend(path).write("a", b"1")
    assert SQLiteBackend(path).keys() == ("a",)


def test_lost_bytes_take_their_checkpoints_along(tmp_path):
    with GCSession(config("sqlite"), directory=tmp_path) as session:
        spoken(session, 0, 2)
        whole = (tmp_path / "master.jsonl").stat().st_size, (tmp_path / "ledger.jsonl").stat().st_size
        spoken(session, 2, 2)
    for name, size in zip(("master.jsonl", "ledger.jsonl"), whole, strict=True):
        with (tmp_path / name).open("r+b") as file:
            file.truncate(size)
    with GCSession.open(tmp_path) as session:
        ats = store_of(session).checkpoints.moments().values()
        assert all(at.log <= whole[0] and at.ledger <= whole[1] for at in ats)
    assert [finding for finding in verify(tmp_path) if finding.file != "index.db"] == []


@pytest.mark.parametrize("key", ["", ".hidden", "../up", "a/b", "a\\b", "a\0b", "x" * 201, "half.new", "ä", None])
def test_a_key_that_could_name_another_file_is_refused(key, tmp_path):
    with pytest.raises(LogError, match="expected up to 200 letters"):
        check_key(key)
    for method in (FileBackend(tmp_path).read, FileBackend(tmp_path).delete):
        with pytest.raises(LogError):
            method(key)


def test_a_half_written_checkpoint_does_not_count(tmp_path):
    (tmp_path / "unfinished.new").write_bytes(b"{")
    (tmp_path / "a folder").mkdir()
    backend = FileBackend(tmp_path)
    backend.write("a.json", b"1")
    assert backend.keys() == ("a.json",)


# -- secrets -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["files", "sqlite", "shelf"])
def test_a_purge_reaches_the_checkpoints(backend, tmp_path):
    plugins = offering(Shelf)
    with GCSession(config(backend), directory=tmp_path, plugins=plugins) as session:
        session.system(rules=f"The password is {SECRET}.")
        spoken(session, 0, 2)
    assert purge(tmp_path, SECRET, by="ada", plugins=plugins).occurrences > 0
    left = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert left == []
    assert not any(Shelf.held.values())
    with GCSession.open(tmp_path, plugins=plugins) as session:
        assert SECRET not in str(session.pre_send())


def test_a_purge_that_cannot_reach_the_checkpoints_changes_nothing(tmp_path):
    with GCSession(config("shelf"), directory=tmp_path, plugins=offering(Shelf)) as session:
        session.append({"role": "user", "content": f"It is {SECRET}."})
    with pytest.raises(ConfigError, match="no memory backend 'shelf'"):
        purge(tmp_path, SECRET, by="ada", plugins=Plugins())
    assert SECRET.encode() in (tmp_path / "master.jsonl").read_bytes()


# -- how many ----------------------------------------------------------------------------------------------------------


def test_old_checkpoints_are_let_go_of_and_the_way_back_stays_short():
    moments = {}
    for number in range(1, 2_001):
        at = Position(1_000 * number, 10 * number)
        moments[key_of(at)] = at
        for key in checkpoints_to_prune(moments):
            del moments[key]
    kept = [at.log // 1_000 for at in moments.values()]
    assert kept[-KEPT_NEWEST:] == list(range(2_001 - KEPT_NEWEST, 2_001))
    assert len(kept) < KEPT_NEWEST + 60
    for earlier, later in zip([0, *kept], kept, strict=False):
        assert later - earlier <= max(1, (2_000 - earlier) / 3)


def test_a_checkpoint_whose_file_is_gone_can_still_be_gone_back_to(tmp_path):
    with GCSession(config("files"), directory=tmp_path) as session:
        spoken(session, 0, 2)
        then = session.checkpoint()
        spoken(session, 2, 2 * KEPT_NEWEST)
        (tmp_path / "checkpoints" / key_of(then.at)).unlink(missing_ok=True)
        session.rollback(then)
        assert digest(session) == then.digest


def test_a_long_session_keeps_few_checkpoints(tmp_path):
    with GCSession(config("memory"), directory=tmp_path) as session:
        spoken(session, 0, 3 * KEPT_NEWEST)
        kept = store_of(session).checkpoints
        assert KEPT_NEWEST <= len(kept.moments()) < 2.5 * KEPT_NEWEST
        assert isinstance(kept, Checkpoints)
