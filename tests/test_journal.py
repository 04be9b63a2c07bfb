"""Nothing that was acknowledged is lost: not by a crash, not by a full disk, not by a close at the wrong moment."""

import contextlib
import gc
import itertools
import json
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gc_core.errors import LogError
from gc_core.storage.journal import Journal, line_of
from gc_core.values.references import ByteRange

# A forked child here does nothing but write to its own files, and ends without coming back.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

MEGABYTE = 1 << 20
LINES = [line_of({"n": number, "text": "ä\u2028" * number}) for number in range(5)]
WHOLE = b"".join(LINES)


def file_of(folder, data):
    path = Path(folder) / "log.jsonl"
    path.write_bytes(data)
    return path


def aside(path):
    """What was moved aside, by the ends of the names."""
    start = len(f"{path.name}.torn-")
    return {found.name[start:]: found.read_bytes() for found in path.parent.glob(f"{path.name}.torn-*")}


def lines(journal, *span):
    return [line for _, line in journal.lines(*span)]


def bytes_read():
    """Bytes that this process has read, as the system counts them."""
    status = Path("/proc/self/io")
    if not status.exists():
        pytest.skip("the system does not count what is read")
    return int(status.read_text().split()[1])


def forked(work):
    """The id of a child process that does this work and ends, with 0 when nothing was raised."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException:  # noqa: BLE001 - the child must not come back as a second pytest
        traceback.print_exc()
    finally:
        os._exit(code)


def succeeds(work):
    return os.waitstatus_to_exitcode(os.waitpid(forked(work), 0)[1]) == 0


@contextlib.contextmanager
def no_file_longer_than(size):
    """A full disk, as far as one process can have one of its own: writes stop at this size, some of them half-way."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# --- lines ------------------------------------------------------------------------------------------------------------


def test_every_line_is_found_again_by_its_place(tmp_path):
    journal = Journal(tmp_path / "log.jsonl")
    first = journal.append(LINES[:2])
    assert journal.append([]) == ()
    second = journal.append(LINES[2:])
    assert [journal.read(place) for place in first + second] == LINES
    assert list(journal.lines()) == list(zip(first + second, LINES, strict=True))
    assert journal.path.read_bytes() == WHOLE
    assert (journal.size, journal.torn) == (len(WHOLE), 0)


def test_only_its_owner_may_read_a_new_file(tmp_path):
    journal = Journal(tmp_path / "log.jsonl")
    assert journal.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("wrong", [b"", b"{}", b"{}\n{}\n", b"\n{}", b"{\n}\n"])
def test_what_is_not_one_line_is_refused_and_nothing_of_the_append_is_written(tmp_path, wrong):
    journal = Journal(file_of(tmp_path, WHOLE))
    with pytest.raises(LogError, match="not a single line"):
        journal.append([LINES[0], wrong])
    assert journal.path.read_bytes() == WHOLE
    assert journal.size == len(WHOLE)


@pytest.mark.parametrize("step", [1, 3, 7, 1 << 13])
def test_the_first_line_from_every_offset_is_what_a_scan_finds(tmp_path, monkeypatch, step):
    monkeypatch.setattr("gc_core.storage.journal._PROBE", step)
    monkeypatch.setattr("gc_core.storage.journal._CHUNK", step)
    journal = Journal(file_of(tmp_path, WHOLE))
    scanned = list(journal.lines())
    assert [line for _, line in scanned] == LINES
    for offset in range(-2, len(WHOLE) + 3):
        expected = next(((place, line) for place, line in scanned if place.start >= offset), None)
        assert journal.line_from(offset) == expected


def test_lines_begin_and_end_at_the_given_offsets(tmp_path):
    journal = Journal(file_of(tmp_path, WHOLE))
    starts = [place.start for place, _ in journal.lines()] + [len(WHOLE)]
    for low, high in itertools.combinations_with_replacement(range(len(starts)), 2):
        assert lines(journal, starts[low], starts[high]) == LINES[low:high]
    assert lines(journal, 0, len(WHOLE) - 1) == LINES[:-1]
    assert lines(journal, 0, 10 * len(WHOLE)) == LINES


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (0, len(WHOLE) + 1), (5, 3), (1 << 50, 1 << 51), (0, 1 << 62)])
def test_a_place_that_the_file_does_not_have_is_named(tmp_path, start, end):
    journal = Journal(file_of(tmp_path, WHOLE))
    with pytest.raises(LogError, match=rf"log\.jsonl: no bytes {start}-{end}"):
        journal.read(ByteRange(start, end))


def test_a_file_that_somebody_else_has_cut_is_noticed(tmp_path):
    journal = Journal(file_of(tmp_path, WHOLE))
    os.truncate(journal.path, len(WHOLE) - 5)
    with pytest.raises(LogError, match="it ends at"):
        lines(journal)
    with pytest.raises(LogError, match="it ends at"):
        journal.read(ByteRange(0, len(WHOLE)))


def test_a_reader_sees_what_was_whole_when_it_came_and_changes_nothing(tmp_path):
    path = file_of(tmp_path, WHOLE + b'{"half')
    reader = Journal(path, writable=False)
    assert (lines(reader), reader.torn) == (LINES, 6)
    for change in (lambda: reader.append(LINES), lambda: reader.overwrite(ByteRange(0, 1), b"x")):
        with pytest.raises(LogError, match="for reading only"):
            change()
    assert path.read_bytes() == WHOLE + b'{"half'
    assert aside(path) == {}


def test_bytes_are_overwritten_by_as_many_inside_the_file(tmp_path):
    journal = Journal(file_of(tmp_path, WHOLE))
    place = ByteRange(0, len(LINES[0]))
    purged = b'{"n":7,"text":""}\n'
    journal.overwrite(place, purged)
    assert lines(journal) == [purged, *LINES[1:]]
    with pytest.raises(LogError, match="3 bytes do not fit"):
        journal.overwrite(place, b"{}\n")
    with pytest.raises(LogError, match="no bytes"):
        journal.overwrite(ByteRange(len(WHOLE), len(WHOLE) + 3), b"{}\n")
    assert journal.path.read_bytes() == purged + WHOLE[len(purged) :]


# --- torn ends --------------------------------------------------------------------------------------------------------


def test_a_file_cut_at_any_byte_keeps_its_whole_lines_and_loses_no_byte(tmp_path):
    two = len(LINES[-1]) + len(LINES[-2])
    for cut in range(len(WHOLE) - two, len(WHOLE)):
        folder = tmp_path / str(cut)
        folder.mkdir()
        path = file_of(folder, WHOLE[:cut])
        kept = WHOLE[: WHOLE[:cut].rfind(b"\n") + 1]
        journal = Journal(path)
        assert (journal.size, journal.torn) == (len(kept), cut - len(kept))
        assert aside(path) == ({str(len(kept)): WHOLE[len(kept) : cut]} if journal.torn else {})
        (place,) = journal.append([LINES[0]])
        assert journal.read(place) == LINES[0]
        assert path.read_bytes() == kept + LINES[0]
        again = Journal(path)
        assert (again.torn, b"".join(lines(again))) == (0, kept + LINES[0])


def test_several_crashes_at_one_offset_keep_all_their_bytes(tmp_path):
    for number in range(4):
        path = file_of(tmp_path, WHOLE + b"torn %d" % number)
        assert lines(Journal(path)) == LINES
    at = len(WHOLE)
    assert aside(path) == {str(at): b"torn 0", f"{at}-2": b"torn 1", f"{at}-3": b"torn 2", f"{at}-4": b"torn 3"}
    assert {found.stat().st_mode & 0o777 for found in tmp_path.glob("*.torn-*")} == {0o600}


@pytest.mark.parametrize(
    "rest",
    [
        b"\0" * 5_000,
        b"\0" * 5_000 + b"\n",
        b'{"n":1}\xff\n',
        b"\xfe\xff\n",
        b"[1]\n",
        b'"{"\n',
        b'{"n":1\n',
        b"\n\n\n",
        b"garbage\n{\n}\n\0",
        b"[" * 100_000 + b"\n",
    ],
)
@pytest.mark.parametrize("before", [WHOLE, b""])
def test_bytes_after_the_last_line_of_json_are_moved_aside(tmp_path, before, rest):
    path = file_of(tmp_path, before + rest)
    journal = Journal(path)
    assert (path.read_bytes(), journal.size, journal.torn) == (before, len(before), len(rest))
    assert aside(path) == {str(len(before)): rest}
    journal.append(LINES)
    assert path.read_bytes() == before + WHOLE


@pytest.mark.parametrize("bad", [b"\0" * 70 + b"\n", b"\xff\xff\n", b'{"n":\n', b"\n"])
def test_a_damaged_line_in_the_middle_costs_no_line_before_or_after_it(tmp_path, bad):
    damaged = LINES[0] + bad + b"".join(LINES[1:])
    path = file_of(tmp_path, damaged)
    journal = Journal(path)
    assert (journal.torn, lines(journal)) == (0, [LINES[0], bad, *LINES[1:]])
    assert path.read_bytes() == damaged
    assert aside(path) == {}


def test_a_line_nested_deeper_than_can_be_read_from_here_is_not_torn(tmp_path):
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n"
    with pytest.raises(RecursionError):
        json.loads(deep)
    journal = Journal(file_of(tmp_path, WHOLE + deep))
    assert (journal.torn, lines(journal)) == (0, [*LINES, deep])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([LINES[1], b"garbage\n", b"\n", b"{\n", b"\0\0\n"]), max_size=8), st.binary(max_size=20)
)
def test_nothing_is_lost_whatever_the_file_was(parts, rest):
    data = b"".join(parts) + rest
    with tempfile.TemporaryDirectory() as folder:
        path = file_of(folder, data)
        journal = Journal(path)
        kept = path.read_bytes()
        assert kept + b"".join(aside(path).values()) == data
        assert kept.count(LINES[1]) == data.count(LINES[1])
        assert kept == b"" or isinstance(json.loads(lines(journal)[-1]), dict)


def test_a_torn_end_of_50_mb_costs_no_memory(tmp_path):
    path = file_of(tmp_path, WHOLE + b"x" * 50 * MEGABYTE)
    tracemalloc.start()
    try:
        journal = Journal(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (journal.torn, lines(journal)) == (50 * MEGABYTE, LINES)
    assert (tmp_path / f"log.jsonl.torn-{len(WHOLE)}").stat().st_size == 50 * MEGABYTE
    assert peak < 2 * MEGABYTE


@pytest.mark.parametrize("garbage", [b"\n", b"ab\n", b"a { b\n", b"x" * 300_000 + b"\n"])
def test_each_byte_of_a_garbage_end_is_read_a_few_times_at_most(tmp_path, garbage):
    rest = garbage * (MEGABYTE // len(garbage))
    path = file_of(tmp_path, WHOLE + rest)
    before = bytes_read()
    journal = Journal(path)
    assert bytes_read() - before < 4 * len(rest) + MEGABYTE
    assert (journal.size, journal.torn) == (len(WHOLE), len(rest))


def test_torn_bytes_that_cannot_be_moved_aside_stay_where_they_are(tmp_path):
    rest = b"x" * 10_000
    path = file_of(tmp_path, WHOLE + rest)

    def work():
        with no_file_longer_than(5_000), pytest.raises(LogError, match=r"10,000 torn bytes at \d+ cannot be moved"):
            Journal(path)
        assert path.read_bytes() == WHOLE + rest
        assert aside(path) == {}
        assert Journal(path).torn == len(rest)
        assert aside(path) == {str(len(WHOLE)): rest}

    assert succeeds(work)


def test_lines_that_are_cut_off_go_to_a_separate_file(tmp_path):
    journal = Journal(file_of(tmp_path, WHOLE))
    start = len(LINES[0])
    journal.cut(len(WHOLE))
    assert aside(journal.path) == {}
    journal.cut(start)
    assert (journal.size, lines(journal), journal.path.read_bytes()) == (start, LINES[:1], LINES[0])
    assert aside(journal.path) == {str(start): WHOLE[start:]}
    journal.append(LINES[3:])
    assert lines(Journal(journal.path)) == [LINES[0], *LINES[3:]]
    journal.cut(0)
    assert (journal.size, journal.path.read_bytes()) == (0, b"")


@pytest.mark.parametrize("offset", [-1, 1, len(WHOLE) - 1, len(WHOLE) + 1])
def test_nothing_is_cut_where_no_line_begins(tmp_path, offset):
    journal = Journal(file_of(tmp_path, WHOLE))
    with pytest.raises(LogError, match=r"no line begins at|no bytes"):
        journal.cut(offset)
    with pytest.raises(LogError, match="for reading only"):
        Journal(journal.path, writable=False).cut(0)
    assert (journal.path.read_bytes(), aside(journal.path)) == (WHOLE, {})


# --- disks and paths --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [0, 1, len(LINES[0]), len(LINES[0]) + 1, len(WHOLE) - 1])
def test_a_full_disk_takes_all_or_nothing_and_later_it_goes_on(tmp_path, room):
    path = file_of(tmp_path, WHOLE)

    def work():
        journal = Journal(path)
        with no_file_longer_than(len(WHOLE) + room):
            for _ in range(2):
                with pytest.raises(LogError, match=rf"log\.jsonl: {len(WHOLE)} bytes could not be written, and noth"):
                    journal.append(LINES)
                assert path.read_bytes() == WHOLE
                assert journal.size == len(WHOLE)
        places = journal.append(LINES)
        assert [journal.read(place) for place in places] == LINES
        assert lines(Journal(path)) == LINES + LINES

    assert succeeds(work)


def test_what_fits_on_a_nearly_full_disk_is_written(tmp_path):
    path = file_of(tmp_path, WHOLE)

    def work():
        journal = Journal(path)
        with no_file_longer_than(len(WHOLE) + len(LINES[0])):
            with pytest.raises(LogError):
                journal.append([LINES[1]])
            journal.append([LINES[0]])
        assert path.read_bytes() == WHOLE + LINES[0]

    assert succeeds(work)


@pytest.mark.parametrize("writable", [True, False])
@pytest.mark.parametrize("kind", ["folder", "missing folder", "below a file", "pipe", "device", "no name", "long name"])
def test_a_path_that_cannot_be_a_journal_is_named(tmp_path, kind, writable):
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    path = {
        "folder": tmp_path,
        "missing folder": tmp_path / "none" / "log.jsonl",
        "below a file": tmp_path / "file" / "log.jsonl",
        "pipe": tmp_path / "pipe",
        "device": Path(os.devnull),
        "no name": tmp_path / "a\0b",
        "long name": tmp_path / ("x" * 300),
    }[kind]
    with pytest.raises(LogError, match="cannot be opened") as caught:
        Journal(path, writable=writable)
    assert str(path) in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(LogError, match=str(tmp_path)):
        Journal(tmp_path / "log.jsonl")


def test_a_reader_makes_no_file(tmp_path):
    with pytest.raises(LogError, match="cannot be opened"):
        Journal(tmp_path / "log.jsonl", writable=False)
    assert list(tmp_path.iterdir()) == []


def test_what_is_on_the_disk_can_be_waited_for_again_and_again(tmp_path):
    journal = Journal(tmp_path / "log.jsonl")
    for line in LINES:
        journal.append([line])
        journal.sync()
    assert lines(journal) == LINES


# --- closing ----------------------------------------------------------------------------------------------------------


def opened_as(number, folder):
    """Files that this process opens, until one has this number."""
    files = [(folder / "victim").open("w+b", buffering=0)]
    while files[-1].fileno() < number:
        files.append((folder / "victim").open("r+b", buffering=0))
    return files


def test_a_closed_journal_never_touches_the_file_that_got_its_number(tmp_path):
    journal = Journal(file_of(tmp_path, WHOLE))
    number = journal._handle._file.number
    half = journal.lines()
    journal.close()
    journal.close()
    files = opened_as(number, tmp_path)
    assert files[-1].fileno() == number
    files[-1].write(b"mine")
    place = ByteRange(0, 4)
    calls = [
        lambda: journal.append([LINES[0]]),
        lambda: journal.overwrite(place, b"ours"),
        lambda: journal.read(place),
        lambda: journal.line_from(0),
        lambda: next(half),
        journal.sync,
    ]
    for call in calls:
        with pytest.raises(LogError, match=r"log\.jsonl was closed"):
            call()
    assert (tmp_path / "victim").read_bytes() == b"mine"
    assert journal.path.read_bytes() == WHOLE
    for file in files:
        file.close()


def test_a_close_in_the_middle_of_appends_of_another_thread_hits_no_other_file(tmp_path):
    line = line_of({"text": "x" * 200_000})
    for number in range(40):
        journal = Journal(tmp_path / f"{number}.jsonl")
        written = []
        started = threading.Event()

        def work(journal=journal, written=written, started=started):
            with contextlib.suppress(LogError):
                while True:
                    written.extend(journal.append([line]))
                    started.set()

        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        journal.close()
        victims = [(tmp_path / f"victim-{number}-{each}").open("w+b", buffering=0) for each in range(3)]
        thread.join()
        assert [os.fstat(victim.fileno()).st_size for victim in victims] == [0, 0, 0]
        assert len(list(Journal(journal.path).lines())) == len(written)
        for victim in victims:
            victim.close()


def test_an_unreferenced_journal_is_closed_and_so_is_one_that_cannot_be_opened(tmp_path):
    listed = Path("/proc/self/fd")
    if not listed.exists():
        pytest.skip("the system does not list the open files")

    def opened():
        """What is open of these files: other tests' threads may open files of their own meanwhile."""
        found = []
        for link in list(listed.iterdir()):
            with contextlib.suppress(FileNotFoundError):
                found.append(str(link.readlink()))
        return sum(name.startswith(str(tmp_path)) for name in found), found.count(os.devnull)

    gc.collect()
    _, nulls = opened()
    kept = [Journal(tmp_path / f"{number}.jsonl") for number in range(10)]
    assert opened()[0] == 10
    kept[0].close()
    assert opened()[0] == 9
    kept.clear()
    for _ in range(10):
        with contextlib.suppress(LogError):
            Journal(Path(os.devnull))
    gc.collect()
    assert opened() == (0, nulls)


# --- at the same time -------------------------------------------------------------------------------------------------


def test_threads_read_whole_lines_while_one_appends(tmp_path):
    journal = Journal(tmp_path / "log.jsonl")
    made = [line_of({"n": number, "text": "x" * (number * 37 % 9_000)}) for number in range(1_500)]
    done, wrong = threading.Event(), []

    def read(seed):
        chance = random.Random(seed)  # noqa: S311 - no secret
        try:
            while not done.is_set():
                seen = lines(journal)
                assert seen == made[: len(seen)]
                place, line = journal.line_from(chance.randrange(max(1, journal.size))) or (None, None)
                assert place is None or journal.read(place) == line == made[json.loads(line)["n"]]
        except BaseException as error:  # noqa: BLE001 - reported below, by the thread that can fail the test
            wrong.append(error)

    readers = [threading.Thread(target=read, args=(seed,)) for seed in range(3)]
    for reader in readers:
        reader.start()
    for low in range(0, len(made), 3):
        journal.append(made[low : low + 3])
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert lines(journal) == made


def test_what_was_acknowledged_survives_a_kill_at_any_moment(tmp_path):
    """Each life continues after the last one, with lines from a few bytes to more than one write takes at once."""
    path = tmp_path / "log.jsonl"
    chance = random.Random(7)  # noqa: S311 - no secret
    acknowledged = []

    def work(life, out):
        journal = Journal(path)
        for number in itertools.count():
            journal.append([line_of({"life": life, "n": number, "text": "x" * (number * 7_919 % 300_000)})])
            os.write(out, b"%d %d\n" % (life, number))

    for life in range(20):
        ours, theirs = os.pipe()
        child = forked(lambda life=life, theirs=theirs: work(life, theirs))
        os.close(theirs)
        with os.fdopen(ours, "rb") as pipe:
            first = pipe.readline()
            time.sleep(chance.uniform(0, 0.02))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            acknowledged += [tuple(map(int, line.split())) for line in (first, *pipe)]
    journal = Journal(path)
    found = [(record["life"], record["n"]) for record in map(json.loads, lines(journal))]
    assert len(acknowledged) >= 20
    assert set(acknowledged) <= set(found)
    assert found == sorted(set(found))


# --- one line ---------------------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=()))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(texts, values, max_size=4))
def test_every_record_is_one_line_and_read_back_as_it_was(record):
    line = line_of(record)
    assert line.index(b"\n") == len(line) - 1
    assert json.loads(line) == record


@pytest.mark.parametrize("text", ["\ud800", "\udc00\ud800", "😀\ud83d\ude00", "\u2028\u2029\x85", "\0", "\r\n"])
def test_a_last_line_with_odd_letters_is_a_whole_one(tmp_path, text):
    line = line_of({"text": text})
    path = file_of(tmp_path, line)
    journal = Journal(path)
    assert (journal.torn, lines(journal)) == (0, [line])
    assert json.loads(line) == {"text": text}


def test_letters_are_found_by_grep_and_a_lone_surrogate_is_escaped():
    assert line_of({"text": "größer 😀"}) == '{"text":"größer 😀"}\n'.encode()
    assert line_of({"text": "\ud800 ä"}) == b'{"text":"\\ud800 \\u00e4"}\n'


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("record", [{"a": object()}, {(1, 2): 3}, {"a": nested(sys.getrecursionlimit() * 100)}])
def test_what_json_cannot_say_is_refused(record):
    with pytest.raises(LogError, match="cannot be written as JSON"):
        line_of(record)
