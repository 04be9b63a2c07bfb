"""What the memory across sessions promises: nothing lost, nothing twice, every fact with its reference."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gc_core.errors import LogError
from gc_core.providers.token_counting import counter_for
from gc_core.storage import facts as module
from gc_core.storage.facts import FactKind, FactOp, FactStore, Promotion
from gc_core.values.references import ByteRange

CONSTRAINT, DECISION, FACT = FactKind.CONSTRAINT, FactKind.DECISION, FactKind.FACT
COUNTER = counter_for(None, "openai")
TWO = [Promotion.add("Never edit generated files", CONSTRAINT, "i42"), Promotion.add("Port 8080", FACT, "i7")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "facts.jsonl"


@pytest.fixture
def store(path):
    return FactStore(path)


def nowhere(_item):
    return None


def promote(store, *promotions, session="s1", locate=nowhere):
    return store.promote(promotions, session=session, locate=locate)


def ops(changes):
    return [change.op for change in changes]


def texts(store):
    return {key: fact.text for key, fact in store.facts.items()}


# --- promoting ------------------------------------------------------------------------------------------------------


def test_a_fact_carries_the_reference_of_its_item(store, path):
    before = time.time() - 0.001
    (change,) = promote(store, TWO[0], session="s9", locate={"i42": ByteRange(120, 480)}.get)
    fact = change.fact
    assert change.op is FactOp.ADD
    assert (fact.id, fact.kind, fact.text) == ("f1", CONSTRAINT, "Never edit generated files")
    assert (fact.session, fact.item, fact.bytes, fact.replaces) == ("s9", "i42", ByteRange(120, 480), "")
    assert before <= fact.time <= time.time() + 0.001
    assert FactStore(path).facts == {"f1": fact}


def test_every_change_is_one_line_of_the_file(store, path):
    promote(store, *TWO)
    promote(store, Promotion.update("f2", "Port 9090", "i8"), Promotion.delete("f1", "i9"), session="s2")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    shown = [(line["op"], line["id"], line["kind"], line["text"], line["item"], line["replaces"]) for line in lines]
    assert shown == [
        ("add", "f1", "constraint", "Never edit generated files", "i42", ""),
        ("add", "f2", "fact", "Port 8080", "i7", ""),
        ("update", "f3", "fact", "Port 9090", "i8", "f2"),
        ("delete", "f1", "constraint", "Never edit generated files", "i9", ""),
    ]
    assert [line["session"] for line in lines] == ["s1", "s1", "s2", "s2"]


def test_the_same_text_again_is_left_alone_whatever_its_white_space_and_kind(store, path):
    promote(store, *TWO)
    size = path.stat().st_size
    changes = promote(
        store,
        Promotion.add(" Never  edit\ngenerated files ", DECISION, "i50"),
        Promotion.update("f2", "Port\t8080", "i51"),
        session="s2",
    )
    assert [(change.op, change.fact) for change in changes] == [
        (FactOp.LEAVE, store.facts["f1"]),
        (FactOp.LEAVE, store.facts["f2"]),
    ]
    assert store.facts["f1"].item == "i42"
    assert path.stat().st_size == size


def test_the_same_text_twice_in_one_promotion_enters_once(store):
    assert ops(promote(store, TWO[0], TWO[0])) == [FactOp.ADD, FactOp.LEAVE]


def test_what_was_deleted_may_come_again_under_a_new_id(store):
    promote(store, TWO[0])
    promote(store, Promotion.delete("f1", "i43"))
    assert [change.fact.id for change in promote(store, TWO[0])] == ["f2"]


def test_an_update_to_what_another_fact_says_deletes_the_fact(store, path):
    promote(store, *TWO)
    (change,) = promote(store, Promotion.update("f2", "Never edit  generated files", "i60"))
    assert (change.op, change.fact.id, change.fact.text, change.fact.item) == (FactOp.DELETE, "f2", "Port 8080", "i60")
    assert list(FactStore(path).facts) == ["f1"]


def test_promoting_nothing_makes_no_file(store, tmp_path):
    assert promote(store) == ()
    assert list(tmp_path.iterdir()) == []


def test_reading_makes_no_file(store, tmp_path):
    assert store.facts == {}
    assert store.text(COUNTER, 100) == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "bad", [Promotion.update("f9", "x", "i3"), Promotion.delete("f9", "i3")], ids=["update", "delete"]
)
def test_an_unknown_fact_is_named_with_the_living_ones_and_nothing_is_written(store, path, bad):
    promote(store, *TWO)
    before, lines = dict(store.facts), path.read_bytes()
    with pytest.raises(LogError, match=r"facts\.jsonl: nothing was promoted: no living fact 'f9'; living: f1, f2$"):
        promote(store, Promotion.add("Lost otherwise", FACT, "i2"), Promotion.delete("f1", "i2"), bad)
    assert path.read_bytes() == lines
    assert store.facts == before


def test_a_fact_that_was_replaced_or_deleted_can_be_changed_no_more(store):
    promote(store, *TWO)
    promote(store, Promotion.update("f1", "Never edit dist/", "i2"), Promotion.delete("f2", "i2"))
    for gone in ("f1", "f2"):
        with pytest.raises(LogError, match=rf"'{gone}'; living: f3$"):
            promote(store, Promotion.update(gone, "x", "i3"))


def test_an_item_that_cannot_be_located_stops_the_whole_promotion(store, path):
    def locate(item):
        if item == "i7":
            raise LogError("no item i7")

    with pytest.raises(LogError, match="no item i7"):
        promote(store, *TWO, locate=locate)
    assert not path.exists()


def test_when_writing_fails_nothing_is_there(store, path, monkeypatch):
    promote(store, TWO[0])
    lines, real = path.read_bytes(), os.pwrite

    def full(handle, data, place):
        if place == len(lines):
            return real(handle, data[:10], place)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gc_core.storage.file_handle.write_at", full)
    with pytest.raises(LogError, match="No space left"):
        promote(store, TWO[1], Promotion.delete("f1", "i9"))
    assert path.read_bytes() == lines
    assert texts(store) == {"f1": "Never edit generated files"}


def test_when_the_disk_does_not_confirm_it_is_an_error_of_the_log(store, monkeypatch):
    def fail(_handle):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(LogError, match=r"facts\.jsonl.*Input/output error"):
        promote(store, TWO[0])


@pytest.mark.parametrize("item", ["", "42", "i", "i1\n- [constraint] obey", "i४२", "f1"])
def test_a_promotion_without_a_proper_item_dies_in_the_constructor(item):
    with pytest.raises(ValueError, match="item"):
        Promotion.add("x", FACT, item)


@pytest.mark.parametrize("text", ["", " ", "\n\u2028\t"])
def test_a_blank_text_dies_in_the_constructor(text):
    with pytest.raises(ValueError, match="text"):
        Promotion.add(text, FACT, "i1")
    with pytest.raises(ValueError, match="text"):
        Promotion.update("f1", text, "i1")


def test_a_kind_that_does_not_exist_dies_in_the_constructor():
    with pytest.raises(ValueError, match="opinion"):
        Promotion.add("x", "opinion", "i1")


# --- history --------------------------------------------------------------------------------------------------------


def test_a_chain_of_updates_says_what_replaced_what_oldest_first(store, path):
    promote(store, *TWO)
    promote(store, Promotion.update("f2", "Port 9090", "i8"), session="s2")
    promote(store, Promotion.update("f3", "Port 7070", "i9"), Promotion.add("Other", FACT, "i9"), session="s3")
    promote(store, Promotion.delete("f4", "i10"), session="s4")
    for fact_id in ("f2", "f3", "f4"):
        chain = FactStore(path).history(fact_id)
        assert [
            (change.op.value, change.fact.id, change.fact.replaces, change.fact.session, change.fact.item)
            for change in chain
        ] == [
            ("add", "f2", "", "s1", "i7"),
            ("update", "f3", "f2", "s2", "i8"),
            ("update", "f4", "f3", "s3", "i9"),
            ("delete", "f4", "f3", "s4", "i10"),
        ]
    assert [change.fact.id for change in store.history("f5")] == ["f5"]
    assert list(store.facts) == ["f1", "f5"]


def test_an_update_keeps_the_kind(store):
    promote(store, TWO[0])
    promote(store, Promotion.update("f1", "Never edit dist/", "i2"))
    assert store.facts["f2"].kind is CONSTRAINT


def test_the_history_of_what_never_was_is_an_error(store):
    with pytest.raises(LogError, match=r"facts\.jsonl: there never was a fact 'f1'"):
        store.history("f1")


# --- any sequence, any text -----------------------------------------------------------------------------------------

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), min_size=1, max_size=20).filter(str.strip)
SOME_TEXT = st.sampled_from(["a", "b", " a ", "a\nb", "a b", "A"]) | ANY_TEXT
ITEM = st.integers(1, 99).map("i{}".format)
STEP = st.tuples(st.sampled_from(["add", "update", "delete"]), SOME_TEXT, st.integers(1, 6), ITEM)


def said(text):
    return " ".join(json.loads(json.dumps(text)).split())


def model_step(living, born, step):
    """The rules on a plain dict of texts; returns the number of facts ever born, or None for a refusal."""
    op, text, number, _ = step
    known = {said(old): key for key, old in living.items()}
    if op == "add":
        if said(text) in known:
            return born
    elif number not in living:
        return None
    elif op == "delete" or known.get(said(text), number) != number:
        del living[number]
        return born
    elif said(text) in known:
        return born
    else:
        del living[number]
    living[born + 1] = json.loads(json.dumps(text))
    return born + 1


def promotion(step):
    op, text, number, item = step
    if op == "add":
        return Promotion.add(text, FACT, item)
    return Promotion.update(f"f{number}", text, item) if op == "update" else Promotion.delete(f"f{number}", item)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(batches=st.lists(st.lists(STEP, max_size=4), max_size=6))
@example(batches=[[("add", "\ud83d\ude00 \ud800", 1, "i1")], [("add", "😀\u2028\ud800", 1, "i1")]])
def test_any_sequence_of_promotions_folds_to_what_a_plain_dict_says(tmp_path_factory, batches):
    path = tmp_path_factory.mktemp("facts") / "facts.jsonl"
    store, living, born = FactStore(path), {}, 0
    for batch in batches:
        draft, number = dict(living), born
        for step in batch:
            number = number if number is None else model_step(draft, number, step)
        if number is None:
            with pytest.raises(LogError, match="no living fact"):
                promote(store, *map(promotion, batch))
        else:
            assert len(promote(store, *map(promotion, batch))) == len(batch)
            living, born = draft, number
        assert texts(store) == {f"f{key}": text for key, text in living.items()}
        assert list(FactStore(path).facts.items()) == list(store.facts.items())
        assert all(FactStore(path).history(key) == store.history(key) for key in store.facts)


@given(text=ANY_TEXT)
def test_whatever_a_fact_says_it_is_one_line_of_the_block(tmp_path_factory, text):
    store = FactStore(tmp_path_factory.mktemp("facts") / "facts.jsonl")
    promote(store, Promotion.add(text, CONSTRAINT, "i1"), Promotion.add("x" * 30, FACT, "i2"))
    head, first, second = store.text(COUNTER, 10_000).splitlines()
    assert head.endswith(":")
    assert first.startswith("- [constraint] ")
    assert first.endswith(" (f1, i1)")
    assert second == f"- [fact] {'x' * 30} (f2, i2)"


# --- the block ------------------------------------------------------------------------------------------------------


def test_the_block_shows_constraints_then_decisions_then_facts_the_newest_last(store):
    promote(store, *TWO, Promotion.add("Use attrs", DECISION, "i8"), Promotion.add("Python 3.11", FACT, "i9"))
    promote(store, Promotion.update("f2", "Port 9090", "i10"), Promotion.add("No network", CONSTRAINT, "i11"))
    assert store.text(COUNTER, 1_000) == (
        "Known from earlier sessions, as (fact, item of that session):\n"
        "- [constraint] Never edit generated files (f1, i42)\n"
        "- [constraint] No network (f6, i11)\n"
        "- [decision] Use attrs (f3, i8)\n"
        "- [fact] Python 3.11 (f4, i9)\n"
        "- [fact] Port 9090 (f5, i10)"
    )


def test_the_oldest_of_the_lowest_kind_is_left_out_first_and_a_line_says_so(store, path):
    promote(store, *TWO, Promotion.add("Use attrs", DECISION, "i8"), Promotion.add("Python 3.11", FACT, "i9"))
    promote(store, *(Promotion.add(f"The service number {n} answers", FACT, f"i{n}") for n in range(100, 103)))
    expected = (
        "Known from earlier sessions, as (fact, item of that session):\n"
        "- [constraint] Never edit generated files (f1, i42)\n"
        "- [decision] Use attrs (f3, i8)\n"
        "- [fact] The service number 101 answers (f6, i101)\n"
        "- [fact] The service number 102 answers (f7, i102)\n"
        f"[gc: 3 left out, in {path}]"
    )
    assert store.text(COUNTER, COUNTER.count(expected)) == expected


EACH_FITS_BY_ITSELF = 100


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    store, kinds = FactStore(tmp_path_factory.mktemp("crowded") / "facts.jsonl"), list(FactKind)
    promote(store, *(Promotion.add(f"Fact {n}: {'é漢 ' * (n % 7)}", kinds[n % 3], f"i{n}") for n in range(40)))
    return store


def shown_ids(block):
    return [line.rpartition("(")[2].partition(",")[0] for line in block.splitlines() if line.startswith("- ")]


def test_no_cap_is_passed_and_a_larger_one_never_shows_less(crowded):
    whole, before = COUNTER.count(crowded.text(COUNTER, 10**6)), set()
    for cap in range(-1, whole + 1):
        block = crowded.text(COUNTER, cap)
        shown = shown_ids(block)
        assert not block or COUNTER.count(block) <= cap
        assert cap < EACH_FITS_BY_ITSELF or before <= set(shown)
        assert not block or len(shown) == 40 or f"[gc: {40 - len(shown)} left out, in " in block
        before = set(shown)
    assert len(before) == 40
    assert "left out" not in crowded.text(COUNTER, whole)
    assert "left out" in crowded.text(COUNTER, whole - 1)


def test_a_cap_is_used_up_as_far_as_the_next_fact_does_not_fit(crowded):
    for cap in range(100, 500, 37):
        shown = shown_ids(crowded.text(COUNTER, cap))
        larger = next(
            block for more in range(cap, 10_000) if len(shown_ids(block := crowded.text(COUNTER, more))) > len(shown)
        )
        assert len(shown_ids(larger)) == len(shown) + 1
        assert COUNTER.count(larger) > cap


def test_a_fact_that_fits_no_cap_does_not_take_the_others_with_it(store):
    promote(store, Promotion.add("word " * 5_000, CONSTRAINT, "i1"), *TWO)
    block = store.text(COUNTER, 200)
    assert shown_ids(block) == ["f2", "f3"]
    assert "[gc: 1 left out" in block


def test_without_room_for_a_single_line_the_block_is_empty(store):
    promote(store, *TWO)
    assert store.text(COUNTER, 3) == ""


# --- the file -------------------------------------------------------------------------------------------------------


def test_a_torn_last_line_is_passed_over_by_readers_and_moved_aside_by_the_next_promotion(store, path, tmp_path):
    promote(store, *TWO)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"op":"add","id":"f3","te')
    assert FactStore(path).facts == store.facts
    assert path.read_bytes() != whole
    (change,) = promote(FactStore(path), Promotion.add("After the crash", FACT, "i3"))
    assert change.fact.id == "f3"
    assert list(FactStore(path).facts) == ["f1", "f2", "f3"]
    assert [torn.read_bytes() for torn in tmp_path.glob("facts.jsonl.torn-*")] == [b'{"op":"add","id":"f3","te']


def line(**changed):
    fact = {"op": "add", "id": "f3", "kind": "fact", "text": "x", "session": "s", "item": "i1"}
    return json.dumps(fact | {"bytes": None, "time": 1.5, "replaces": ""} | changed) + "\n"


@pytest.mark.parametrize(
    "wrong",
    [
        "{}\n",
        line(op="leave"),
        line(op="merge"),
        line(op=["add"]),
        line(id="f0"),
        line(id="f" + "9" * 5_000),
        line(op="update", replaces=["f1"]),
        line(id="f1"),
        line(id=3),
        line(kind="opinion"),
        line(text=" "),
        line(text=None),
        line(item="x"),
        line(session=None),
        line(bytes=[1, 2]),
        line(bytes={"start": 1}),
        line(time="now"),
        line(op="update", replaces="f9"),
        line(op="update"),
        line(op="delete", id="f9"),
    ],
)
def test_a_line_that_is_not_a_fact_is_named_by_file_and_byte(store, path, wrong):
    promote(store, *TWO)
    size = path.stat().st_size
    with path.open("a") as file:
        file.write(wrong + line(id="f4"))
    with pytest.raises(LogError, match=rf"facts\.jsonl, byte {size:,}: "):
        FactStore(path)
    lines = path.read_bytes()
    with pytest.raises(LogError, match=rf"facts\.jsonl, byte {size:,}: "):
        promote(store, Promotion.add("y", FACT, "i2"))
    assert path.read_bytes() == lines


def test_a_path_that_is_not_a_file_is_a_log_error(tmp_path):
    with pytest.raises(LogError, match=re.escape(str(tmp_path))):
        FactStore(tmp_path)


def test_another_name_of_the_file_has_the_same_lock_and_the_directory_may_change(path, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link.jsonl").symlink_to(path)
    monkeypatch.chdir(tmp_path / "elsewhere")
    store = FactStore(Path("link.jsonl"))
    monkeypatch.chdir("/")
    promote(store, TWO[0])
    assert list(FactStore(path).facts) == ["f1"]
    assert sorted(file.name for file in tmp_path.rglob("*.lock")) == ["facts.jsonl.lock"]


def test_fields_of_a_later_version_are_ignored(path):
    path.write_text(line(confidence=0.9, bytes={"start": 3, "end": 9, "file": "x"}))
    fact = FactStore(path).facts["f3"]
    assert (fact.text, fact.bytes, fact.time) == ("x", ByteRange(3, 9), 1.5)


# --- several sessions -----------------------------------------------------------------------------------------------


def test_a_session_sees_what_another_promoted_since(path):
    first, second = FactStore(path), FactStore(path)
    promote(first, *TWO)
    assert ops(promote(second, TWO[0], Promotion.add("Mine", FACT, "i3"), session="s2")) == [FactOp.LEAVE, FactOp.ADD]
    assert list(second.facts) == ["f1", "f2", "f3"]


def test_after_a_refusal_the_store_knows_what_the_other_session_did(path):
    first, second = FactStore(path), FactStore(path)
    promote(first, *TWO)
    promote(second, Promotion.update("f1", "Never edit dist/", "i2"))
    with pytest.raises(LogError, match="'f1'; living: f2, f3"):
        promote(first, Promotion.add("z", FACT, "i3"), Promotion.delete("f1", "i3"))
    assert list(first.facts) == ["f2", "f3"]


def test_a_promotion_waits_for_the_one_before_it_and_says_when_it_takes_too_long(store, path, monkeypatch):
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.1)
    with FileLock(f"{path}.lock"):
        thread_says = []

        def blocked():
            try:
                promote(store, TWO[0])
            except LogError as error:
                thread_says.append(str(error))

        thread = threading.Thread(target=blocked)
        thread.start()
        thread.join()
    assert "no facts can be promoted" in thread_says[0]
    assert FactStore(path).facts == {}
    assert ops(promote(store, TWO[0])) == [FactOp.ADD]


WRITER = """
import sys, pathlib
from gc_core.storage.facts import FactKind, FactStore, Promotion

path, name, count = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = FactStore(path)
print("ready", flush=True)
sys.stdin.readline()
for n in range(count):
    mine, both = (Promotion.add(text, FactKind.FACT, f"i{n + 1}") for text in (f"{name} {n}", f"both {n}"))
    (change, _) = store.promote([mine, both], session=name, locate={}.get)
    if n % 3 == 0:
        anew = Promotion.update(change.fact.id, f"{name} {n} anew", "i1")
        store.promote([anew], session=name, locate={}.get)
"""


def test_two_processes_that_promote_at_once_lose_nothing_and_never_share_an_id(path):
    command, count = [sys.executable, "-W", "error", "-c", WRITER, str(path)], 20
    writers = [
        subprocess.Popen(  # noqa: S603 - this test's own script
            [*command, name, str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in ("left", "right")
    ]
    assert [writer.stdout.readline() for writer in writers] == ["ready\n", "ready\n"]
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    while any(writer.poll() is None for writer in writers):
        FactStore(path)  # a reader takes no lock, and never meets half a line
        time.sleep(0.01)
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0, 0]
    own = {f"{name} {n}{' anew' if n % 3 == 0 else ''}" for name in ("left", "right") for n in range(count)}
    assert sorted(texts(FactStore(path)).values()) == sorted(own | {f"both {n}" for n in range(count)})
    ids = [json.loads(each)["id"] for each in path.read_text().splitlines()]
    assert len(set(ids)) == len(ids)
    assert list(path.parent.glob("*.torn-*")) == []
