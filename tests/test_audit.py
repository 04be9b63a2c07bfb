"""verify: an untouched session agrees with itself, and whatever is damaged is named."""

import json
import os
import random
import shutil
import sqlite3

import pytest
from ctxgc.evaluation.transcripts import read_transcript

from gc_core import GCConfig, GCPolicy, GCSession, InstructionSource, Plugins, hookimpl
from gc_core.errors import LogError
from gc_core.providers import format_named
from gc_core.storage.audit import Finding, verify
from gc_core.storage.checkpoints import sealed
from gc_core.storage.journal import Journal
from gc_core.storage.master_log import MasterLog
from gc_core.storage.search import SearchIndex
from gc_core.values.references import ByteRange
from tests.support.corpus import corpus_dir, require_corpus
from tests.support.grids import half
from tests.support.inside import recorder_of, runtime_of, state_of, store_of, window_of
from tests.support.say import call, rounds, schema, small, user

SAMPLE = [
    "entire--1c341e47-b281-4cb7-82da-3ad6d3013b7f.jsonl",
    "gemini-cli--failed_to_enter_planmode.jsonl",
    "tau-bench--airline-007-t0.jsonl",
]


def spoken(session):
    """Something of everything: sources, enrichment, pins, collections, undone and done again, an open call."""
    session.system(rules="Be brief.")
    session.tools([schema("read")])
    rounds(session, 10)
    session.enrich(now="It is noon.")
    session.pin(turn=0)
    recorder_of(session).undo()
    recorder_of(session).redo()
    rounds(session, 6, first=10, task="And then?")
    session.system(rules="Be very brief.", refresh="now")
    session.append(call(("open", "read", {})))
    return session


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Made once: every test damages a copy."""
    directory = tmp_path_factory.mktemp("recorded") / "session"
    with spoken(small(3_000, directory=directory, checkpoint_every_n_steps=4)) as session:
        assert len(state_of(session).done) > 2
    index(directory)
    return directory


@pytest.fixture
def session_dir(recorded, tmp_path):
    directory = tmp_path / "session"
    shutil.copytree(recorded, directory)
    assert verify(directory) == ()
    return directory


def index(directory):
    log = MasterLog(Journal(directory / "master.jsonl", writable=False))
    made = SearchIndex(directory / "index.db", log, format_named("openai"))
    made.catch_up()
    made.close()


def contents(directory):
    found = sorted(path for path in directory.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in found}


def named(directory, **more):
    """What verify says, as file and text."""
    return [(finding.file, finding.text) for finding in verify(directory, **more)]


def split(path):
    return path.read_bytes().splitlines(keepends=True)


def rewrite(path, made):
    path.write_bytes(b"".join(made))


def kinds(directory):
    return [json.loads(line)["kind"] for line in split(directory / "ledger.jsonl")]


# -- what agrees -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["gc_truncate", "gc_budget"])
@pytest.mark.parametrize("name", half(SAMPLE))
def test_a_real_session_agrees_with_itself(tmp_path, name, strategy):
    require_corpus()
    transcript = read_transcript(corpus_dir() / name)
    config = GCConfig(strategy=strategy, context_limit=16_000, output_reservation=0, checkpoint_every_n_steps=5)
    with GCSession(config, format=transcript.format, directory=tmp_path) as session:
        session.system(**{f"part{place}": text for place, text in enumerate(transcript.system)})
        session.tools(transcript.tools)
        for place, message in enumerate(transcript.messages):
            if message["role"] == "assistant":
                session.pre_send()
                session.post_turn(message)
            else:
                session.append(message)
            if place % 17 == 0:
                session.enrich(now=f"message {place}")
            if place % 40 == 39:
                recorder_of(session).undo()
    assert len(list((tmp_path / "checkpoints").glob("*.json"))) > 1
    assert verify(tmp_path) == ()


def test_what_was_taken_back_is_not_compared(session_dir):
    with GCSession.open(session_dir) as session:
        rounds(session, 3, first=20, task="Wrong way.")
        recorder_of(session).store.checkpoint(state_of(session))
        to = recorder_of(session).turn_began(window_of(session).cursor.turn)
        settings = runtime_of(session).settings
        state = store_of(session).state_at(to, lambda: settings.fresh(store_of(session).payload))
        recorder_of(session).rewind(to, state, "wrong way")
        rounds(session, 3, first=30, task="Right way.")
    assert "rewound" in kinds(session_dir)
    assert verify(session_dir) == ()


def test_nothing_is_changed_and_no_lock_is_taken(session_dir):
    before = contents(session_dir)
    verify(session_dir)
    assert contents(session_dir) == before


def test_a_session_that_is_being_written_can_be_verified(session_dir):
    with GCSession.open(session_dir) as session:
        rounds(session, 2, first=40, task="More.")
        assert verify(session_dir) == ()


def test_what_is_written_meanwhile_does_not_count(session_dir, monkeypatch):
    session = GCSession.open(session_dir)
    real = Journal.__init__

    def slow(journal, path, *, writable=True):
        real(journal, path, writable=writable)
        if path.name == "master.jsonl" and not writable:
            rounds(session, 9, first=50, task="In between.")  # the ledger then names more than was seen of the log
            with path.open("ab") as file:
                file.write(b'{"at":')  # a line on its way

    monkeypatch.setattr(Journal, "__init__", slow)
    found = [finding for finding in verify(session_dir) if "torn" not in finding.text]
    monkeypatch.undo()
    assert found == []
    store_of(session).close()


def test_the_sources_of_plugins_are_in_the_ledger(tmp_path):
    class Mail:
        @hookimpl
        def gc_register_sources(self):
            return [InstructionSource(name="mail", policy=GCPolicy.EPHEMERAL)]

    plugins = Plugins.discover()
    plugins.register(Mail())
    with small(directory=tmp_path, plugins=plugins) as session:
        session.append(user("go"))
        session.memory("mail", inbox="empty")
        session.pre_send()
    assert verify(tmp_path) == ()
    GCSession.open(tmp_path, plugins=Plugins.discover()).close()


def test_a_directory_without_a_session_is_refused(tmp_path):
    with pytest.raises(LogError, match="holds no session"):
        verify(tmp_path)


# -- the log -----------------------------------------------------------------------------------------------------------


def test_another_letter_in_a_message_shows_in_a_digest(session_dir):
    log = session_dir / "master.jsonl"
    log.write_bytes(log.read_bytes().replace(b"f3 7 of the text", b"f3 8 of the text", 1))
    assert any("have digest" in text for _, text in named(session_dir))


def test_another_id_is_named_with_its_line(session_dir):
    log = session_dir / "master.jsonl"
    made = split(log)
    place = next(at for at, line in enumerate(made) if b'"items":["i8"]' in line)
    made[place] = made[place].replace(b'"items":["i8"]', b'"items":["i7"]')
    rewrite(log, made)
    start = sum(map(len, made[:place]))
    found = [finding for finding in verify(session_dir) if finding.file == "master.jsonl"]
    assert found[0].place == ByteRange(start, start + len(made[place]))
    assert "i7" in found[0].text


def test_an_id_that_was_never_numbered_is_named(session_dir):
    log = session_dir / "master.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"items":["i8"]', b'"items":["i9"]'))
    assert any(file == "master.jsonl" and "i9" in text for file, text in named(session_dir))


@pytest.mark.parametrize("place", [2, 9, 20])
def test_a_line_that_is_gone_is_named(session_dir, place):
    log = session_dir / "master.jsonl"
    made = split(log)
    rewrite(log, made[:place] + made[place + 1 :])
    found = named(session_dir)
    assert any("no line of the log begins" in text for _, text in found)
    assert any(file == "master.jsonl" and "does not fit what is before it" in text for file, text in found)


def test_two_lines_that_changed_places_are_named(session_dir):
    log = session_dir / "master.jsonl"
    made = split(log)
    made[6], made[7] = made[7], made[6]
    rewrite(log, made)
    found = named(session_dir)
    assert any(file == "master.jsonl" and "came before it" in text for file, text in found)


def test_a_line_that_is_not_json_is_named_and_ends_the_comparison(session_dir):
    log = session_dir / "master.jsonl"
    made = split(log)
    made[5] = b"?" + made[5][1:]
    rewrite(log, made)
    found = verify(session_dir)
    assert found[0].file == "master.jsonl"
    assert found[0].place.start == sum(map(len, made[:5]))
    assert "cannot be read" in found[0].text
    assert not any("digest" in finding.text for finding in found)


def test_a_first_line_of_another_session_is_named(session_dir):
    log = session_dir / "master.jsonl"
    made = split(log)
    rewrite(log, [made[0].replace(b'"source":"session"', b'"source":"sessiom"'), *made[1:]])
    assert any("whose log" in text for _, text in named(session_dir))


def test_a_turn_that_was_changed_is_named(session_dir):
    log = session_dir / "master.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"turn":0', b'"turn":1', 8))
    assert any("it says that it came in turn 1" in text for _, text in named(session_dir))


def test_torn_bytes_are_named_while_they_are_in_the_file(session_dir):
    size = (session_dir / "master.jsonl").stat().st_size
    with (session_dir / "master.jsonl").open("ab") as file:
        file.write(b'{"at":3')
    (finding,) = verify(session_dir)
    assert finding == Finding(
        file="master.jsonl", place=ByteRange(size, size + 7), text="7 torn bytes after the last whole line"
    )
    assert str(finding) == f"master.jsonl, bytes {size}-{size + 7}: 7 torn bytes after the last whole line"


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_log_that_was_cut_short_is_named(session_dir, share):
    log = session_dir / "master.jsonl"
    os.truncate(log, int(log.stat().st_size * share))
    found = named(session_dir)
    assert any("names byte" in text for _, text in found)
    assert any("index" in file for file, _ in found)


# -- the ledger --------------------------------------------------------------------------------------------------------


def test_a_final_text_that_was_edited_shows_in_the_digest_of_its_collection(session_dir):
    ledger = session_dir / "ledger.jsonl"
    made = split(ledger)
    place = kinds(session_dir).index("collected")
    assert b"left out here" in made[place]
    made[place] = made[place].replace(b"left out here", b"left out hera")
    rewrite(ledger, made)
    found = [finding for finding in verify(session_dir) if finding.file == "ledger.jsonl"]
    assert found[0].place.start == sum(map(len, made[:place]))
    assert found[0].text.startswith("after it, the messages have digest")


def test_a_place_that_holds_another_item_is_named(session_dir):
    ledger = session_dir / "ledger.jsonl"
    made = split(ledger)
    place = kinds(session_dir).index("collected")
    saved = json.loads(made[place])
    gone = saved["hunks"][0]["gone"]
    gone[0]["items"][0]["logged"], gone[1]["items"][0]["logged"] = (
        gone[1]["items"][0]["logged"],
        gone[0]["items"][0]["logged"],
    )
    made[place] = json.dumps(saved, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    rewrite(ledger, made)
    assert any("is not in the line of the log at" in text for _, text in named(session_dir))


def test_a_collection_that_is_gone_is_named(session_dir):
    ledger = session_dir / "ledger.jsonl"
    made = split(ledger)
    del made[kinds(session_dir).index("collected")]
    rewrite(ledger, made)
    assert any(file == "ledger.jsonl" for file, _ in named(session_dir))


def test_an_invalid_ledger_line_is_named(session_dir):
    ledger = session_dir / "ledger.jsonl"
    made = split(ledger)
    made[2] = b'{"at":1}\n'
    rewrite(ledger, made)
    found = verify(session_dir)
    assert found[0].file == "ledger.jsonl"
    assert found[0].place.start == sum(map(len, made[:2]))


def test_a_ledger_that_is_gone_is_named(session_dir):
    (session_dir / "ledger.jsonl").unlink()
    assert [file for file, _ in named(session_dir)] == ["ledger.jsonl"]


def test_an_undo_without_its_collection_is_named(session_dir):
    ledger = session_dir / "ledger.jsonl"
    made = split(ledger)
    place = kinds(session_dir).index("undone")
    saved = json.loads(made[place])
    saved["place"] = [0, len(made[0])]
    made[place] = json.dumps(saved, separators=(",", ":")).encode() + b"\n"
    rewrite(ledger, made)
    assert any("hold no collection" in text for _, text in named(session_dir))


# -- checkpoints and index ---------------------------------------------------------------------------------------------


def newest(directory):
    return max((directory / "checkpoints").glob("*.json"))


def test_a_torn_checkpoint_is_named(session_dir):
    path = newest(session_dir)
    path.write_bytes(path.read_bytes()[:-9])
    ((file, text),) = named(session_dir)
    assert (file, text.startswith("it cannot be read")) == (f"checkpoints/{path.name}", True)


def changed(path, change):
    """The checkpoint says something else, and its sum is right."""
    saved = json.loads(path.read_text())
    del saved["sum"]
    change(saved)
    path.write_bytes(sealed(json.dumps(saved).encode()))


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("session", "another", "it is of session 'another'"),
        ("digest", "0" * 32, "it has digest 000"),
        ("at", [1, 2], "it says that it is of 1-2"),
        ("sent", False, "its sent is another one"),
        ("pinned_turns", [7], "its pinned_turns is another one"),
    ],
)
def test_a_checkpoint_that_says_something_else_is_named(session_dir, key, value, why):
    path = newest(session_dir)
    changed(path, lambda saved: saved.update({key: value}))
    ((file, text),) = named(session_dir)
    assert file == f"checkpoints/{path.name}"
    assert why in text


def test_a_checkpoint_that_restores_to_other_items_is_named(session_dir):
    path = newest(session_dir)
    item = json.loads(path.read_text())["messages"][0]["items"][0]
    changed(path, lambda saved: saved["messages"][0]["items"][0].update(pinned=not item.get("pinned", False)))
    ((file, text),) = named(session_dir)
    assert file == f"checkpoints/{path.name}"
    assert "another one" in text


def test_a_checkpoint_of_no_moment_is_named(session_dir):
    path = newest(session_dir)
    log, ledger = json.loads(path.read_text())["at"]
    made = path.rename(path.with_name(f"{log - 1:015d}-{ledger:015d}.json"))
    changed(made, lambda saved: saved.update(at=[log - 1, ledger]))
    ((file, text),) = named(session_dir)
    assert (file, "had no moment" in text) == (f"checkpoints/{made.name}", True)


def test_a_ledger_that_says_another_session_is_named(session_dir):
    ledger = session_dir / "ledger.jsonl"
    made = split(ledger)
    made[0] = made[0].replace(b'"session":"', b'"session":"e', 1)
    rewrite(ledger, made)
    assert any("it is of session 'e" in text for file, text in named(session_dir) if file == "ledger.jsonl")


def test_an_index_with_an_invalid_position_is_named_and_rebuilt(session_dir):
    db = sqlite3.connect(session_dir / "index.db")
    db.execute("UPDATE meta SET place = 'x'")
    db.commit()
    db.close()
    ((file, text),) = named(session_dir)
    assert (file, "made up to 'x'" in text) == ("index.db", True)
    index(session_dir)
    assert verify(session_dir) == ()


def test_an_index_of_another_log_is_named(session_dir, tmp_path):
    with small(directory=tmp_path / "other") as session:
        session.append(user("go"))
    index(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "index.db", session_dir)
    assert ("index.db", "it is of another log") in named(session_dir)


def test_an_item_that_the_index_has_elsewhere_is_named(session_dir):
    with sqlite3.connect(session_dir / "index.db") as db:
        db.execute("UPDATE item SET id = 'i999' WHERE row = 3")
    db.close()
    assert any(file == "index.db" and "i999" in text for file, text in named(session_dir))


def test_an_index_that_is_not_a_database_is_named(session_dir):
    (session_dir / "index.db").write_bytes(b"no database at all" * 100)
    ((file, text),) = named(session_dir)
    assert (file, "cannot be read" in text) == ("index.db", True)


@pytest.mark.parametrize("seed", range(20))
def test_verify_only_reports_whichever_byte_of_the_files_changes(session_dir, seed):
    """No damage makes it raise; where opening the session would fail, it says something."""
    chance = random.Random(seed)  # noqa: S311 - repeatable
    path = chance.choice([session_dir / "master.jsonl", session_dir / "ledger.jsonl", newest(session_dir)])
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 1, 5])):
        data[chance.randrange(len(data))] = chance.choice(b'\n"{}[],:0\\\xff az')
    path.write_bytes(data)
    found = verify(session_dir)
    shutil.rmtree(session_dir / "checkpoints")
    try:
        GCSession.open(session_dir).close()
    except Exception:  # noqa: BLE001 - whatever it is, it was said before
        assert found


def test_a_reference_to_no_whole_lines_is_named(session_dir):
    ledger = session_dir / "ledger.jsonl"
    made = split(ledger)
    place = kinds(session_dir).index("collected")
    saved = json.loads(made[place])
    (item, *_) = [item for hunk in saved["hunks"] for each in hunk["come"] for item in each["items"]]
    item["reference"]["place"][0] += 1
    made[place] = json.dumps(saved, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    rewrite(ledger, made)
    assert any("are not whole lines" in text for _, text in named(session_dir))
