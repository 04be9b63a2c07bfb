"""How many files many sessions hold open: few, however many sessions there are, and nothing goes astray for it."""

import contextlib
import json
import random
import resource
import threading
import time
from pathlib import Path

import pytest

from gc_core import GCSession, Plugins
from gc_core.errors import LogError, SessionClosedError
from gc_core.storage import file_handle as handles
from gc_core.storage.journal import Journal, line_of
from gc_core.storage.search import indexer
from gc_core.storage.writer_lock import LOCKS
from tests.support.say import answer, small, user

LISTED = Path("/proc/self/fd")


def open_files(part=""):
    """The files that this process holds open, only those with this part in their name."""
    if not LISTED.exists():
        pytest.skip("the system does not list the open files")
    found = []
    for number in LISTED.iterdir():
        with contextlib.suppress(OSError):
            found.append(str(number.readlink()))
    return [path for path in found if part in path]


@contextlib.contextmanager
def at_most(more):
    """So many more files than now may be open."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(int(each.name) for each in LISTED.iterdir()) + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_as_many_sessions_as_one_likes_may_be_open():
    """Before, each held two files: the 509th failed where a process may have 1,024."""
    assert open_files() != []
    count, plugins = 100, Plugins.discover()
    with at_most(handles.FILES.limit + 20), contextlib.ExitStack() as closing:
        sessions = [closing.enter_context(small(plugins=plugins)) for _ in range(count)]
        for turn in range(2):
            for number, session in enumerate(sessions):
                session.append(user(f"Request {turn} of {number}."))
                session.pre_send()
                session.post_turn(answer(f"Answer {turn} of {number}."))
        for number, session in enumerate(sessions):
            assert [session.recall(f"i{each}") for each in range(1, 5)] == [
                *(f"Request 0 of {number}.", f"Answer 0 of {number}."),
                *(f"Request 1 of {number}.", f"Answer 1 of {number}."),
            ]
        assert len(open_files(".jsonl")) <= handles.FILES.limit


def test_an_idle_session_with_a_directory_holds_no_file_when_others_are_used(tmp_path, monkeypatch):
    monkeypatch.setattr(indexer, "IDLE_SECONDS", 0.01)
    monkeypatch.setattr(LOCKS, "limit", 1)
    monkeypatch.setattr(handles.FILES, "limit", 2)
    with contextlib.ExitStack() as closing:
        sessions = [closing.enter_context(small(directory=tmp_path / f"s{number}")) for number in range(4)]
        for session in sessions:
            session.append(user("A request that can be found."))
            assert session.search("found")
        ends = time.monotonic() + 20
        while open_files("index.db") and time.monotonic() < ends:
            time.sleep(0.01)
        assert open_files("index.db") == []
        assert len(open_files(f"{tmp_path}")) <= LOCKS.limit + handles.FILES.limit
        sessions[0].append(user("Another one, which is found too."))
        assert len(sessions[0].search("found")) == 2


def test_a_thousand_sessions_with_directories_may_be_open(tmp_path):
    """Before, each held its lock: the 1,000th failed where a process may have 1,024 files."""
    plugins = Plugins.discover()
    with at_most(handles.FILES.limit + LOCKS.limit + 40), contextlib.ExitStack() as closing:
        sessions = [
            closing.enter_context(small(plugins=plugins, directory=tmp_path / f"s{number}")) for number in range(300)
        ]
        for number, session in enumerate(sessions):
            session.append(user(f"Request {number}."))
            assert session.recall("i1") == f"Request {number}."


def test_a_session_that_another_thread_closes_frees_its_directory(tmp_path):
    opened = []
    thread = threading.Thread(target=lambda: opened.append(small(directory=tmp_path / "s")))
    thread.start()
    thread.join()
    opened[0].append(user("From that thread."))
    opened[0].close()
    GCSession.open(tmp_path / "s").close()


@pytest.fixture
def rested(tmp_path, monkeypatch):
    """A session with a directory whose lock rests, because three others are used and one lock may stay open."""
    monkeypatch.setattr(LOCKS, "limit", 1)
    with contextlib.ExitStack() as closing:
        first = closing.enter_context(small(directory=tmp_path / "s0"))
        first.append(user("The first request."))
        for number in range(1, 4):
            closing.enter_context(small(directory=tmp_path / f"s{number}")).append(user("Another."))
        assert open_files(f"{tmp_path / 's0'}/lock") == []
        yield first


def test_a_session_whose_lock_rested_goes_on_where_nobody_else_opened_it(rested):
    rested.append(user("The second request."))
    assert len(open_files(f"{rested.directory}/lock")) == 1
    with pytest.raises(LogError, match="is open in another session"):
        GCSession.open(rested.directory)
    assert [rested.recall(key) for key in ("i1", "i2")] == ["The first request.", "The second request."]


@pytest.mark.parametrize(
    "call",
    [
        lambda session: session.append(user("Too late.")),
        lambda session: session.pre_send(),
        lambda session: session.checkpoint(),
        lambda session: session.close(),
    ],
)
def test_a_session_whose_directory_another_opened_while_its_lock_rested_writes_nothing(rested, call):
    with GCSession.open(rested.directory) as other:
        other.append(user("From another session."))
    files = {path: path.read_bytes() for path in Path(rested.directory).rglob("*") if path.is_file()}
    for _ in range(2):
        with pytest.raises(SessionClosedError, match="was opened by another session while this one rested"):
            call(rested)
    with rested:
        pass
    assert {path: path.read_bytes() for path in Path(rested.directory).rglob("*") if path.is_file()} == files
    with GCSession.open(rested.directory) as session:
        assert session.recall("i2") == "From another session."


def test_files_that_take_turns_hold_what_was_written_to_each(tmp_path, monkeypatch):
    monkeypatch.setattr(handles.FILES, "limit", 3)
    journals = [Journal(tmp_path / f"{number}.jsonl") for number in range(8)]
    expected = [[] for _ in journals]

    def work(seed):
        chance = random.Random(seed)  # noqa: S311 - no secrets here
        for _ in range(150):
            number = chance.randrange(seed, len(journals), 4)
            line = line_of({"number": number, "text": "x" * chance.randrange(2_000)})
            (place,) = journals[number].append([line])
            expected[number].append(line)
            assert journals[number].read(place) == line
            if chance.random() < 0.05:
                journals[number].sync()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [[line for _, line in journal.lines()] for journal in journals] == expected
    assert all(expected)
    assert len(open_files(f"{tmp_path}")) <= 3 + len(threads)


@pytest.mark.parametrize("call", [lambda journal: journal.append([b'{"a":2}\n']), lambda journal: [*journal.lines()]])
def test_a_file_that_took_the_place_of_one_that_rested_is_not_touched(tmp_path, monkeypatch, call):
    monkeypatch.setattr(handles.FILES, "limit", 1)
    journal = Journal(tmp_path / "a.jsonl")
    journal.append([b'{"a":1}\n'])
    others = [Journal(tmp_path / f"{number}.jsonl") for number in range(4)]
    assert others
    (tmp_path / "a.jsonl").rename(tmp_path / "gone.jsonl")
    (tmp_path / "a.jsonl").write_bytes(b'{"b":1}\n')
    with pytest.raises(LogError, match="another file has taken its place"):
        call(journal)
    assert (tmp_path / "a.jsonl").read_bytes() == b'{"b":1}\n'
    (tmp_path / "gone.jsonl").rename(tmp_path / "a.jsonl")
    journal.append([b'{"a":2}\n'])
    assert [json.loads(line) for _, line in journal.lines()] == [{"a": 1}, {"a": 2}]


# -- who may read, and where it is written -----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o777, 0o755, 0o770, 0o701])
def test_a_directory_that_was_open_to_others_is_closed_to_them(tmp_path, mode):
    for directory in (tmp_path / "s", tmp_path / "s" / "checkpoints"):
        directory.mkdir()
        directory.chmod(mode)
    with small(directory=tmp_path / "s", checkpoint_every_n_steps=1) as session:
        session.append(user("Hello."))
        session.pre_send()
        session.post_turn(answer("Hello."))
    for directory in (tmp_path / "s", tmp_path / "s" / "checkpoints"):
        assert directory.stat().st_mode & 0o777 == mode & 0o700
    (tmp_path / "s").chmod(mode)
    GCSession.open(tmp_path / "s").close()
    assert (tmp_path / "s").stat().st_mode & 0o777 == mode & 0o700


@pytest.mark.parametrize("name", ["master.jsonl", "ledger.jsonl"])
def test_a_log_that_is_a_link_is_refused_and_what_it_leads_to_stays_as_it_is(tmp_path, name):
    directory = tmp_path / "s"
    directory.mkdir()
    (tmp_path / "elsewhere").write_bytes(b"mine\n")
    (directory / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LogError, match=f"{name} cannot be opened: it is a symbolic link"):
        small(directory=directory)
    assert (tmp_path / "elsewhere").read_bytes() == b"mine\n"


@pytest.mark.parametrize("name", ["index.db", "checkpoints.db", "unfinished.new", "checkpoints/unfinished.new"])
@pytest.mark.parametrize(("backend", "holds"), [("files", b"mine\n"), ("sqlite", b"mine\n"), ("sqlite", b"")])
def test_no_link_in_a_sessions_directory_is_followed_when_it_is_written(tmp_path, name, backend, holds):
    directory = tmp_path / "s"
    (directory / "checkpoints").mkdir(parents=True)
    (tmp_path / "elsewhere").write_bytes(holds)
    (directory / name).symlink_to(tmp_path / "elsewhere")
    with small(directory=directory, checkpoint_every_n_steps=1, memory_backend=backend) as session:
        session.append(user("Hello."))
        session.pre_send()
        session.post_turn(answer("Hello."))
        with contextlib.suppress(LogError):
            session.search("Hello")
    assert (tmp_path / "elsewhere").read_bytes() == holds
    with GCSession.open(directory) as session:
        assert session.recall("i1") == "Hello."
