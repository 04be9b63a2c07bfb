"""Every record is read back as it was and found by each of its items, whatever is around it."""

import tempfile
import tracemalloc
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gc_core import GCPolicy
from gc_core.errors import LogError
from gc_core.storage.journal import Journal
from gc_core.storage.master_log import LogRecord, MasterLog

MEGABYTE = 1 << 20


def record(at, items=(), text="", **more):
    return LogRecord(
        at=at,
        items=tuple(items),
        role="user",
        source="conversation",
        policies={key: GCPolicy.EPHEMERAL for key in items if key},
        payload={"role": "user", "content": text},
        **more,
    )


def log_in(folder):
    return MasterLog(Journal(Path(folder) / "master.jsonl"))


def log_of(folder, records):
    log = log_in(folder)
    log.append(records)
    return log


def numbered(count, text=""):
    """Records of one item each."""
    return [record(number, [f"i{number + 1}"], text) for number in range(count)]


def damaged(folder, count, *bad):
    """A log of one item a record, some of which are given by number and say other bytes."""
    lines = [each.line() for each in numbered(count)]
    for number, line in bad:
        lines[number - 1] = line
    (folder / "master.jsonl").write_bytes(b"".join(lines))
    return log_in(folder)


# --- read back --------------------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=()))
payloads = st.dictionaries(
    texts,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=3,
)
records = st.builds(
    LogRecord,
    at=st.integers(0, 10**9),
    items=st.lists(texts, max_size=3).map(tuple),
    role=texts,
    source=texts,
    turn=st.integers(0, 10**6),
    time=st.integers(0, 4 * 10**12).map(lambda thousandths: thousandths / 1_000),
    policies=st.dictionaries(texts, st.sampled_from(list(GCPolicy)), max_size=3),
    payload=payloads,
)


@settings(max_examples=80, deadline=None)
@given(st.lists(records, max_size=5))
def test_a_place_gives_back_the_same_record(written):
    with tempfile.TemporaryDirectory() as folder:
        log = log_in(folder)
        places = [place for each in written for place in log.append([each])]
        assert [log.read(place) for place in places] == written
        assert list(log.records()) == list(zip(places, written, strict=True))
        again = log_in(folder)
        assert (again.journal.torn, list(again.records())) == (0, list(log.records()))


def test_records_are_written_together_or_not_at_all(tmp_path):
    log = log_of(tmp_path, numbered(3))
    size = log.size
    with pytest.raises(LogError, match="cannot be written as JSON"):
        log.append([record(3, ["i4"]), attrs.evolve(record(4, ["i5"]), payload={"content": object()})])
    assert log.size == size == log.journal.path.stat().st_size
    assert log.find(4) is None


def test_records_are_read_from_the_middle_on(tmp_path):
    log = log_in(tmp_path)
    places = log.append(numbered(5))
    assert [place for place, _ in log.records(places[2].start)] == list(places[2:])
    assert [each.at for _, each in log.records(places[1].start, places[3].end)] == [1, 2, 3]


@pytest.mark.parametrize(
    "line",
    [b"{}\n", b"[]\n", b"1\n", b"\0\0\n", b"\xff\n", b'{"at":0,"items":[]}\n', b'{"a":' * 100_000 + b"\n", b"\n"],
)
def test_a_line_of_another_form_is_not_a_record(line):
    with pytest.raises(LogError, match="not a valid line of a master log"):
        LogRecord.read(line)


@pytest.mark.parametrize(("field", "value"), [("items", None), ("policies", []), ("policies", {"i1": "eternal"})])
def test_a_record_with_a_malformed_field_is_invalid(field, value):
    line = record(0, ["i1"]).line()
    assert LogRecord.read(line).items == ("i1",)
    old = {"items": b'["i1"]', "policies": b'{"i1":"ephemeral"}'}[field]
    new = {None: b"null", "[]": b"[]"}.get(value if value is None else str(value), b'{"i1":"eternal"}')
    assert old in line
    with pytest.raises(LogError, match="not a valid line of a master log"):
        LogRecord.read(line.replace(old, new))


# --- found ------------------------------------------------------------------------------------------------------------

# Of each record: how many numbers are left out before each of its items, None for a part that became none; its length.
shapes = st.lists(
    st.tuples(
        st.lists(st.none() | st.sampled_from([0, 0, 0, 1, 5]), max_size=3),
        st.sampled_from([0, 0, 0, 10, 9_000, 40_000]),
    ),
    max_size=25,
)


def shaped(plan):
    made, number = [], 0
    for gaps, length in plan:
        at, items = number, []
        for gap in gaps:
            if gap is not None:
                number += gap + 1
            items.append("" if gap is None else f"i{number}")
        made.append(record(at, items, "x" * length))
    return made, number


@settings(max_examples=80, deadline=None)
@given(shapes)
def test_every_item_is_found_where_a_scan_finds_it_and_no_other_is(plan):
    made, last = shaped(plan)
    with tempfile.TemporaryDirectory() as folder:
        log = log_of(folder, made)
        for number in range(-1, last + 3):
            expected = next(((place, each) for place, each in log.records() if f"i{number}" in each.items), None)
            assert log.find(number) == expected


def test_what_was_appended_is_found_at_once_and_after_a_restart(tmp_path):
    log = log_in(tmp_path)
    for each in numbered(200, "x" * 500):
        log.append([each])
        assert log.find(each.at + 1)[1] == each
    again = log_in(tmp_path)
    assert [again.find(number)[1].at for number in range(1, 201)] == list(range(200))


def test_a_log_cut_at_any_byte_finds_every_item_of_its_whole_records_and_goes_on(tmp_path):
    made = numbered(6)
    lines = [each.line() for each in made]
    data = b"".join(lines)
    path = tmp_path / "master.jsonl"
    for cut in range(len(data) - len(lines[-1]) - len(lines[-2]), len(data)):
        path.write_bytes(data[:cut])
        log = log_in(tmp_path)
        whole = data[:cut].count(b"\n")
        assert log.journal.torn == cut - len(b"".join(lines[:whole]))
        assert [each for _, each in log.records()] == made[:whole]
        log.append(made[whole:])
        assert [log.find(number)[1] for number in range(1, 7)] == made
        assert path.read_bytes() == data


@pytest.mark.parametrize("bad", [b"\0" * 300 + b"\n", b"\xff\n", b"\n", b'{"at":\n', b'{"at":' + b"9" * 5_000 + b",\n"])
@pytest.mark.parametrize("number", [1, 2, 32, 63])
def test_a_damaged_line_costs_only_its_own_items(tmp_path, bad, number):
    """One line in the very middle would be met by every search."""
    log = damaged(tmp_path, 64, (number, bad))
    for other in range(1, 65):
        if other != number:
            assert log.find(other)[1].at == other - 1
    with pytest.raises(LogError, match=r"master\.jsonl, bytes \d+-\d+: not a valid line of a master log"):
        log.find(number)
    assert (log.find(0), log.find(65)) == (None, None)


@pytest.mark.parametrize("bad", range(0, 40, 3))
@pytest.mark.parametrize("at", [0, 1, 2, 3, 5, 7, 8, 11, 10**6])
def test_a_number_that_was_changed_hides_no_item_of_another_line(tmp_path, bad, at):
    """It is still a line of the log, but leads a search by halves to the wrong side."""
    log = MasterLog(Journal(tmp_path / "log.jsonl"))
    for number in range(40):
        payload = {"role": "user", "content": "x" * (number * 7 % 50)}
        log.append(
            [LogRecord(at=number, items=(f"i{number + 1}",), role="user", source="conversation", payload=payload)]
        )
    lines = log.journal.path.read_bytes().splitlines(keepends=True)
    lines[bad] = lines[bad].replace(b'"at":%d,' % bad, b'"at":%d,' % at, 1)
    log.journal.path.write_bytes(b"".join(lines))
    damaged = MasterLog(Journal(log.journal.path))
    for number in range(1, 41):
        assert f"i{number}" in damaged.find(number)[1].items


def test_most_lines_may_be_damaged(tmp_path):
    log = damaged(tmp_path, 200, *((number, b"\0garbage\n") for number in range(2, 200) if number % 50))
    assert [log.find(number)[1].at for number in (1, 50, 100, 150, 200)] == [0, 49, 99, 149, 199]


def test_a_damaged_line_is_named_by_its_place_and_those_around_it_are_read(tmp_path):
    log = damaged(tmp_path, 4, (3, record(2, ["i3"]).line()[:-20] + b"\0" * 19 + b"\n"))
    places = [place for place, _ in log.journal.lines()]
    assert [log.read(places[each]).at for each in (0, 1, 3)] == [0, 1, 3]
    named = rf"master\.jsonl, bytes {places[2].start}-{places[2].end}: not a valid line of a master log"
    for call in (lambda: log.read(places[2]), lambda: log.find(3), lambda: list(log.records())):
        with pytest.raises(LogError, match=named):
            call()
    assert [each.at for _, each in log.records(0, places[1].end)] == [0, 1]
    assert [each.at for _, each in log.records(places[3].start)] == [3]


def test_a_message_of_50_mb_is_found_and_so_are_its_neighbours(tmp_path):
    made = numbered(200)
    made[100] = record(100, ["i101"], "ä" * 25 * MEGABYTE)
    log = log_of(tmp_path, made)
    assert log.size > 50 * MEGABYTE
    tracemalloc.start()
    try:
        for number in (1, 100, 101, 102, 200):
            place, found = log.find(number)
            assert found.at == number - 1
        assert log.read(log.find(101)[0]) == made[100]
        del found, place
        assert [each.at for _, each in log.records()] == list(range(200))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert log_in(tmp_path).journal.torn == 0
    assert peak < 400 * MEGABYTE
