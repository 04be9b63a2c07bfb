"""Search: everything that the log holds is found, whatever happens to the index and whatever the query is."""

import contextlib
import itertools
import json
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest
from ctxgc.evaluation.identifiers import identifiers
from hypothesis import given, settings
from hypothesis import strategies as st

from gc_core.errors import LogError
from gc_core.providers import format_named
from gc_core.storage import search
from gc_core.storage.audit import Finding, verify
from gc_core.storage.journal import Journal
from gc_core.storage.master_log import FILE_NAME, LogRecord, MasterLog
from gc_core.storage.search import SearchIndex, index_file, indexing, ranking
from gc_core.storage.search.indexer import Indexer
from gc_core.storage.search.sessions import search_sessions
from tests.support.corpus import openai_sessions, require_corpus

OPENAI = format_named("openai")


class Session:
    """A log with its index, written as a session writes it."""

    def __init__(self, directory, form="openai"):
        directory.mkdir(exist_ok=True, parents=True)
        self.directory, self.form = directory, format_named(form)
        self.log = MasterLog(Journal(directory / FILE_NAME))
        self.items = 0
        self._open = []
        if not self.log.size:
            self.log.append([LogRecord(at=0, source="session", payload={"format": form, "version": 1})])

    def say(self, payload, turn=0, time=0.0, source="conversation", parts=None):
        """Append a message; returns the ids of its items."""
        parts = len(self.form.read(self.form.normalise(payload))) if parts is None else parts
        ids = tuple(f"i{self.items + number + 1}" for number in range(parts))
        role = str(payload.get("role", ""))
        self.log.append(
            [LogRecord(at=self.items, items=ids, role=role, source=source, turn=turn, time=time, payload=payload)]
        )
        self.items += parts
        return ids

    def user(self, text, **where):
        return self.say({"role": "user", "content": text}, **where)[0]

    def call(self, tool, call_id, result, arguments="{}"):
        """A call and its result."""
        function = {"name": tool, "arguments": arguments}
        calls = [{"id": call_id, "type": "function", "function": function}]
        called = self.say({"role": "assistant", "content": None, "tool_calls": calls})[0]
        return called, self.say({"role": "tool", "tool_call_id": call_id, "content": result})[0]

    def index(self, name=index_file.FILE_NAME):
        index = SearchIndex(self.directory / name, self.log, self.form)
        self._open.append(index)
        return index

    def found(self, query, **filters):
        """Ids of the items found by a new process."""
        with contextlib.closing(SearchIndex(self.directory / index_file.FILE_NAME, self.log, self.form)) as index:
            return [hit.item for hit in index.search(query, **filters)]

    def close(self):
        for index in self._open:
            index.close()
        self.log.journal.close()


@pytest.fixture
def session(tmp_path):
    with contextlib.closing(Session(tmp_path / "session")) as made:
        yield made


# --- what is found ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "src/auth/login.py",
        "login",
        "auth/login",
        "LOGIN",
        "login.py",
        '"src auth"',
        "check_password",
        "password",
        "café",
    ],
)
def test_paths_and_names_are_found_whole_and_by_part(session, query):
    wanted = session.user("See src/auth/login.py: check_password fails for CAFE\u0301s, not in the Café.")
    session.user("Something else altogether, of the author's.")
    assert session.found(query) == [wanted]


@pytest.mark.parametrize(("query", "found"), [("наїв", True), ("ελλάδα", True), ("naive", True), ("NAÏVE", True)])
def test_words_of_any_script_are_found_without_case_and_accents(session, query, found):
    session.user("Наїв Ελλάδα naïve")
    assert bool(session.found(query)) is found


def test_a_phrase_is_found_only_in_its_order(session):
    first, second = session.user("red green blue"), session.user("blue green red")
    assert session.found('"red green"') == [first]
    assert session.found('"green red"') == [second]
    assert set(session.found("green red")) == {first, second}


def test_all_words_have_to_match_unless_nothing_holds_all(session):
    both, one = session.user("alpha beta"), session.user("alpha gamma")
    assert session.found("alpha beta") == [both]
    assert set(session.found("beta gamma")) == {both, one}
    assert session.found("beta nowhere") == [both]
    assert session.found("nowhere") == []


def test_a_rare_old_match_is_not_lost_among_new_ones_of_a_common_word(session, monkeypatch):
    monkeypatch.setattr(ranking, "MOST_RANKED", 20)
    rare = session.user("xylophone")
    for number in range(50):
        session.user(f"common {number}")
    assert session.found("common xylophone absent")[0] == rare


def test_the_best_match_comes_first_and_a_limit_holds(session):
    for number in range(30):
        session.user(f"needle and much hay around it, hay hay hay hay number{number}")
    best = session.user("needle needle needle")
    assert session.found("needle")[0] == best
    assert len(session.found("needle")) == 10
    assert len(session.found("needle", limit=3)) == 3
    assert session.found("needle", limit=0) == []
    scores = [hit.score for hit in session.index().search("needle")]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0 or min(scores) >= 0


def test_a_hit_says_what_was_found_and_where(session):
    session.user("before")
    payload = {"role": "user", "content": "word " * 100 + "\nthe needle\nis here" + " word" * 100}
    session.say(payload, turn=3, time=1234.5)
    (hit,) = session.index().search("needle")
    assert (hit.item, hit.role, hit.source, hit.kind) == ("i2", "user", "conversation", "user_text")
    assert (hit.tool, hit.turn, hit.time) == ("", 3, 1234.5)
    assert session.log.read(hit.bytes).payload == payload
    assert "the needle is here" in hit.preview
    assert len(hit.preview) <= 162


@pytest.mark.parametrize(("query", "shown"), [("naive", "Naïve"), ("absent x_y", "X_Y"), ('"z z"', "z,\tz")])
def test_a_preview_shows_the_first_match_without_case_and_accents(session, query, shown):
    session.user("ü word xx_y zz " * 50 + "Naïve X_Y z,\tz" + " behind" * 50)
    (hit,) = session.index().search(query)
    assert " ".join(shown.split()) in hit.preview


def test_every_part_of_a_message_is_a_separate_item(session):
    calls = [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "zgrep"}'}}]
    message = {"role": "assistant", "reasoning_content": "ponder", "content": "speaking", "tool_calls": calls}
    thought, said, called = session.say(message)
    assert [session.found(word) for word in ("ponder", "speaking", "zgrep")] == [[thought], [said], [called]]


def test_arguments_and_results_are_read_without_the_escapes_of_json(session):
    called, answered = session.call(
        "edit", "c1", '{"out": "first\\nsrc/main.py"}', json.dumps({"new": "def f():\n\treturn Zürich"})
    )
    assert session.found('"return Zürich"') == [called]
    assert session.found("src/main.py") == [answered]


# --- tools ------------------------------------------------------------------------------------------------------------


def test_a_result_carries_the_tool_of_its_call(session):
    called, answered = session.call("bash", "c1", "marmalade", '{"of": "marmalade"}')
    session.call("read", "c2", "marmalade")
    assert sorted(session.found("marmalade", tool="bash")) == [called, answered]


def test_of_calls_with_the_same_id_the_last_one_before_counts(session):
    _, first = session.call("bash", "again", "plum")
    _, second = session.call("read", "again", "plum")
    assert session.found("plum", tool="bash") == [first]
    assert session.found("plum", tool="read") == [second]


def test_the_tool_is_known_although_the_call_was_indexed_by_another_process(session):
    session.call("bash", "c0", "")
    calls = [{"id": "late", "type": "function", "function": {"name": "grep", "arguments": "{}"}}]
    session.say({"role": "assistant", "content": None, "tool_calls": calls})
    assert session.found("quince") == []
    answered = session.say({"role": "tool", "tool_call_id": "late", "content": "quince"})
    assert session.found("quince", tool="grep") == [*answered]


def test_the_remembered_calls_are_bounded(session, monkeypatch):
    monkeypatch.setattr(indexing, "_KEPT_CALLS", 5)
    for number in range(40):
        session.call("bash", f"c{number}", "x")
    index = session.index()
    index.catch_up()
    assert index._file.db.execute("SELECT count(*) FROM call").fetchone() == (5,)


def test_results_of_the_other_format_are_found_too(tmp_path):
    with contextlib.closing(Session(tmp_path, form="anthropic")) as session:
        use = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}
        session.say({"role": "assistant", "content": [use]})
        result = {"type": "tool_result", "tool_use_id": "t1", "content": "kumquat"}
        answered = session.say({"role": "user", "content": [result]})
        assert session.found("kumquat", tool="bash") == [*answered]


# --- filters ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "turns"),
    [
        ({"first_turn": 3}, {3, 4}),
        ({"last_turn": 1}, {0, 1}),
        ({"first_turn": 1, "last_turn": 2}, {1, 2}),
        ({"since": 103.0}, {3, 4}),
        ({"until": 100.5}, {0}),
        ({"role": "user"}, {0, 1, 2, 3, 4}),
        ({"role": "assistant"}, set()),
        ({"tool": "\ud800"}, set()),
        ({"entity": "word_2"}, {2}),
        ({"entity": "word_"}, set()),
        ({"entity": "WORD_2"}, set()),
        ({"entity": "!"}, set()),
    ],
)
def test_filters_narrow_a_search(session, filters, turns):
    for turn in range(5):
        session.user(f"apple word_{turn}, and word 2", turn=turn, time=100.0 + turn)
    assert {hit.turn for hit in session.index().search("apple", **filters)} == turns


def test_an_entity_has_to_occur_also_when_only_some_words_match(session):
    session.user("alpha user_id")
    wanted = session.user("beta user_id")
    session.user("beta user_identity")
    assert session.found("beta nowhere", entity="user_id") == [wanted]


# --- any query, any payload -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["", " ", '"', '""', "()*:^-", "\0", "\ud800", "...", "_"])
def test_a_query_without_a_letter_or_digit_finds_nothing(session, query):
    session.user("everything")
    assert session.found(query) == []


@pytest.mark.parametrize(
    "query",
    ['AND OR NOT * ( : "', "NEAR(a b)", "text : x", "a* -b ^c", "'; DROP TABLE item", "word " * 5_000, "a" * 50_000],
)
def test_the_syntax_of_the_engine_means_nothing_in_a_query(session, query):
    session.user("a word")
    session.found(query)


def test_operators_are_words(session):
    wanted = session.user("this OR that")
    session.user("this and that")
    assert session.found("OR") == [wanted]


@pytest.fixture(scope="module")
def standing_index(tmp_path_factory):
    with contextlib.closing(Session(tmp_path_factory.mktemp("standing"))) as session:
        session.user("a word, ä and ß, x_y 12 ½ ǅ 漢字")
        yield session.index()


@settings(deadline=None, max_examples=300)
@given(query=st.text() | st.text('ab" *():^-+{}[].,\\\0AND OR NOT NEAR'), entity=st.none() | st.text(max_size=5))
def test_no_query_raises(standing_index, query, entity):
    for hit in standing_index.search(query, entity=entity):
        assert hit.item == "i1"


@pytest.fixture(scope="module")
def growing_session(tmp_path_factory):
    with contextlib.closing(Session(tmp_path_factory.mktemp("growing"))) as session:
        yield session, session.index()


@settings(deadline=None, max_examples=200)
@given(word=st.text(st.characters(categories=["Lu", "Ll", "Nd"], max_codepoint=0x24F), min_size=1))
def test_any_word_is_found_in_its_text(growing_session, word):
    session, index = growing_session
    wanted = session.user(f"before {word} behind")
    assert wanted in [hit.item for hit in index.search(word, limit=1_000)]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("顺便说一下，民宿的无线网叫海鸥。", "无线网"),
        ("顺便说一下，民宿的无线网叫海鸥。", "民宿 海鸥"),
        ("別荘のパスワードはtsubakiです。", "パスワード"),
        ("別荘のパスワードはtsubakiです。", "tsubaki"),
        ("別荘のパスワードはtsubakiです。", "別荘のパスワード"),
    ],
)
def test_words_are_found_inside_of_a_sentence_without_blanks(session, text, query):
    wanted = session.user(f"{'。' * 200}{text}")
    session.user("海和鸥；パス；民。宿")
    assert session.found(query) == [wanted]
    (hit,) = session.index().search(query)
    assert text in hit.preview


@pytest.mark.parametrize(
    "payload",
    [
        {"role": "nobody", "content": ["raspberry"]},
        {"role": "user", "content": {"deep": [["raspberry"]]}},
        {"odd": {"raspberry": None}},
        {"role": "user", "content": [{"type": "text", "text": "raspberry"}, {"type": "text", "text": "two"}]},
        {"role": "user", "content": "raspberry \ud800"},
    ],
)
def test_a_payload_that_cannot_be_read_is_found_by_its_strings(session, payload):
    session.log.append(
        [LogRecord(at=0, items=("", "i1", "i2")[1:2], role="user", source="conversation", payload=payload)]
    )
    session.items = 1
    behind = session.user("raspberry")
    assert sorted(session.found("raspberry")) == ["i1", behind]


def test_memories_and_enrichments_are_found_and_other_sources_are_not(session):
    session.say({"name": "notes", "text": "damson"}, source="memory:notes", parts=1)
    session.say({"name": "date", "text": "damson"}, source="enrichment", parts=1)
    session.say({"parts": {"rules": "damson"}}, source="system", parts=0)
    hits = session.index().search("damson")
    assert {(hit.kind, hit.source) for hit in hits} == {("memory_block", "memory:notes"), ("enrichment", "enrichment")}


def test_a_part_that_became_no_item_is_passed_over(session):
    blocks = [{"type": "text", "text": "empty"}, {"type": "text", "text": "full"}]
    payload = {"role": "user", "content": blocks}
    session.log.append([LogRecord(at=0, items=("", "i1"), role="user", source="conversation", payload=payload)])
    assert session.found("full") == ["i1"]
    assert session.found("empty") == []


def test_a_line_that_is_not_a_record_hides_nothing_after_it(session):
    session.log.journal.append([b'{"of": "another kind"}\n'])
    behind = session.user("greengage")
    assert session.found("greengage") == [behind]


# --- the file ---------------------------------------------------------------------------------------------------------


def test_catching_up_reads_each_byte_once(session):
    session.user("one")
    index = session.index()
    assert index.catch_up() == session.log.size
    assert index.catch_up() == 0
    before = session.log.size
    session.user("two")
    assert index.catch_up() == session.log.size - before


def test_catching_up_stops_after_the_record_that_reaches_the_most_bytes(session):
    for number in range(20):
        session.user(f"text {number} " * 50)
    index, moved = session.index(), []
    while step := index.catch_up(most_bytes=1_000):
        moved.append(step)
    assert len(moved) > 5
    assert sum(moved) == session.log.size
    assert max(moved) < 3_000


@pytest.mark.parametrize("allowed", range(4))
def test_whoever_is_killed_in_the_middle_leaves_an_index_that_goes_on(session, monkeypatch, allowed):
    words = [f"word{number}" for number in range(10)]
    items = [session.user(f"{word} " * 30) for word in words]
    monkeypatch.setattr(search, "BATCH", 800)
    written = itertools.count()

    def dying(batch, write=indexing._Batch.write):
        write(batch)
        if next(written) == allowed:
            raise KeyboardInterrupt

    index = session.index()
    with monkeypatch.context() as during:
        during.setattr(indexing._Batch, "write", dying)
        with pytest.raises(KeyboardInterrupt):
            index.catch_up()
    for each in (index.search, lambda word: session.index().search(word)):
        assert [[hit.item for hit in each(word)] for word in words] == [[item] for item in items]


def test_a_process_that_is_killed_outright_leaves_an_index_that_goes_on(session):
    items = [session.user(f"word{number} " * 2_000) for number in range(100)]
    script = f"""
import os
from pathlib import Path
from gc_core.storage.search import indexing
from gc_core.providers import format_named
from gc_core.storage.journal import Journal
from gc_core.storage.master_log import MasterLog
from gc_core.storage.search import SearchIndex

log = MasterLog(Journal(Path({str(session.log.journal.path)!r}), writable=False))
index = SearchIndex(Path({str(session.directory / index_file.FILE_NAME)!r}), log, format_named("openai"))
index.catch_up(most_bytes=400_000)
index._file.db.execute("BEGIN IMMEDIATE")
indexing._index_from(index._file.db, log, index._format, index._file.place(), 400_000)
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -9  # noqa: S603 - our own script
    assert [session.found(f"word{number}") for number in range(100)] == [[item] for item in items]


@pytest.mark.parametrize("damage", ["garbage", "other_schema", "other_tables", "beyond", "within", "empty", "torn"])
def test_an_index_that_cannot_be_used_is_rebuilt(session, damage, caplog):
    wanted = session.user("medlar " * 50)
    path = session.directory / index_file.FILE_NAME
    assert session.found("medlar") == [wanted]
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        match damage:
            case "garbage":
                path.write_bytes(b"no database at all" * 1_000)
            case "other_schema":
                db.execute("PRAGMA user_version = 99")
            case "other_tables":
                db.execute("DROP TABLE meta")
            case "beyond":
                db.execute("UPDATE meta SET place = place + 1000")
            case "within":
                db.execute("UPDATE meta SET place = place - 1")
            case "empty":
                db.execute("DELETE FROM meta")
            case "torn":
                data = path.read_bytes()
                path.write_bytes(data[:4_096] + b"\xff" * (len(data) - 4_096))
    assert session.found("medlar") == [wanted]
    assert "rebuilt" in caplog.text
    caplog.clear()
    assert session.found("medlar") == [wanted]
    assert not caplog.text


def test_an_index_is_rebuilt_whichever_byte_of_its_schema_is_damaged(session):
    """SQLite quotes the schema in its error, and Python cannot decode that: UnicodeDecodeError instead of its own."""
    wanted = session.user("medlar " * 50)
    path = session.directory / index_file.FILE_NAME
    assert session.found("medlar") == [wanted]
    sound = path.read_bytes()
    schema = range(sound.index(b"CREATE"), sound.index(b"CREATE TABLE meta") + 40)
    for place in schema[::20]:
        path.write_bytes(sound[:place] + b"\xc1" + sound[place + 1 :])
        assert all(isinstance(finding, Finding) for finding in verify(session.directory))
        assert session.found("medlar") == [wanted], (place, sound[place - 30 : place + 30])


def test_an_index_of_another_log_is_made_anew(tmp_path, caplog):
    with contextlib.closing(Session(tmp_path)) as one:
        one.user("persimmon")
        assert one.found("persimmon")
    one.log.journal.path.unlink()
    with contextlib.closing(Journal(one.log.journal.path)) as journal:
        first = LogRecord(at=0, source="session", payload={"format": "openai", "id": "another"})
        journal.append([first.line()] * 100)
    with contextlib.closing(Session(tmp_path)) as other:
        wanted = other.user("loquat")
        assert other.found("persimmon") == []
        assert other.found("loquat") == [wanted]
    assert "another log" in caplog.text


def test_an_index_that_is_ahead_of_an_older_view_of_the_log_stays(session, caplog):
    first = session.user("sloe")
    with contextlib.closing(Journal(session.log.journal.path, writable=False)) as journal:
        session.user("sloe, written later")
        assert len(session.found("sloe")) == 2
        with contextlib.closing(
            SearchIndex(session.directory / index_file.FILE_NAME, MasterLog(journal), OPENAI)
        ) as old:
            assert [hit.item for hit in old.search("sloe")] == [first]
    assert not caplog.text


def test_a_log_without_a_line_finds_nothing_and_grows(tmp_path):
    with contextlib.closing(Journal(tmp_path / FILE_NAME)) as journal:
        log = MasterLog(journal)
        with contextlib.closing(SearchIndex(tmp_path / index_file.FILE_NAME, log, OPENAI)) as index:
            assert index.search("word") == ()
            payload = {"role": "user", "content": "word"}
            log.append([LogRecord(at=0, items=("i1",), role="user", source="conversation", payload=payload)])
            assert len(index.search("word")) == 1


def test_only_the_owner_may_read_the_files(session):
    session.user("secret")
    index = session.index()
    index.catch_up()
    files = list(session.directory.glob("index.db*"))
    assert len(files) == 3
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_a_file_that_cannot_be_opened_is_an_error_of_the_log(session, tmp_path):
    with pytest.raises(LogError, match="cannot be opened"):
        SearchIndex(tmp_path / "missing" / "index.db", session.log, OPENAI)
    with pytest.raises(LogError, match="cannot be opened"):
        SearchIndex(tmp_path, session.log, OPENAI)


# --- the thread -------------------------------------------------------------------------------------------------------


def patiently(reached):
    """Wait up to ten seconds."""
    for _ in range(1_000):
        if reached():
            return True
        time.sleep(0.01)
    return False


def test_the_thread_indexes_the_announced_records(session):
    indexer = Indexer(session.directory / index_file.FILE_NAME, session.log, OPENAI)
    index = session.index()
    for number in range(3):
        session.user(f"word{number}")
        indexer.notify()
        assert patiently(lambda: index._file.place() == session.log.size)
    indexer.stop()
    assert not indexer._thread.is_alive()


def test_searches_are_complete_while_threads_index_and_nothing_is_indexed_twice(session, monkeypatch):
    monkeypatch.setattr("gc_core.storage.search.indexer._SMALL_BATCH", 2_000)
    path = session.directory / index_file.FILE_NAME
    indexers = [Indexer(path, session.log, OPENAI) for _ in range(3)]
    index = session.index()
    for number in range(300):
        wanted = session.user(f"common unique{number} " * 10)
        for indexer in indexers:
            indexer.notify()
        if number % 7 == 0:
            assert [hit.item for hit in index.search(f"unique{number}")] == [wanted]
    for indexer in indexers:
        indexer.stop()
    index.catch_up()
    counted = Counter(item for (item,) in index._file.db.execute("SELECT id FROM item"))
    assert counted == {f"i{number + 1}": 1 for number in range(300)}


@pytest.mark.parametrize("held", ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE", "BEGIN; SELECT * FROM sqlite_master"])
def test_an_index_that_another_connection_holds_while_it_is_made_is_waited_for(session, held):
    """SQLite itself does not always wait while the journal's mode changes."""
    path = session.directory / index_file.FILE_NAME
    session.user("word")
    for each in session.directory.glob(f"{index_file.FILE_NAME}*"):
        each.unlink()
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE begun(at)")
    for statement in held.split("; "):
        other.execute(statement).fetchall()
    release = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    release.start()
    index = session.index()
    assert [hit.item for hit in index.search("word")] == ["i1"]
    release.join()
    other.close()


def test_what_goes_wrong_in_the_thread_is_a_warning_and_tried_again(session, monkeypatch, caplog):
    session.user("word")
    failing = threading.Event()
    failing.set()

    def broken(index, most_bytes, catch_up=SearchIndex._catch_up):
        if failing.is_set():
            raise LogError("the disk is full")
        return catch_up(index, most_bytes)

    monkeypatch.setattr(SearchIndex, "_catch_up", broken)
    indexer = Indexer(session.directory / index_file.FILE_NAME, session.log, OPENAI)
    assert patiently(lambda: "the disk is full" in caplog.text)
    failing.clear()
    indexer.notify()
    index = session.index()
    assert patiently(lambda: index._file.place() == session.log.size)
    indexer.stop()


# --- many sessions ----------------------------------------------------------------------------------------------------


def test_all_sessions_below_a_directory_are_searched(tmp_path, caplog):
    for place, word in ((".", "fig"), ("a", "fig fig"), ("b/c", "date"), ("d/e/f", "fig"), ("d/e/f/g", "fig")):
        with contextlib.closing(Session(tmp_path / place)) as session:
            session.user(word)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / FILE_NAME).write_text('{"at":0}\n')
    hits = search_sessions(tmp_path, "fig")
    assert {str(path.relative_to(tmp_path)) for path, _ in hits} == {".", "a", "d/e/f"}
    assert hits[0][0] == tmp_path / "a"
    assert len(search_sessions(tmp_path, "fig", limit=2)) == 2
    assert "broken" in caplog.text
    assert not list(tmp_path.rglob("index.db*"))


def test_an_index_next_to_a_log_is_used_and_catches_up(tmp_path):
    with contextlib.closing(Session(tmp_path)) as session:
        session.user("one")
        assert session.found("one")
        session.user("two")
        assert [hit.item for _, hit in search_sessions(tmp_path, "two")] == ["i2"]
        assert session.index()._file.place() == session.log.size


# --- a recorded session -----------------------------------------------------------------------------------------------


def test_every_rare_identifier_of_a_recorded_session_is_found_in_its_item(session):
    require_corpus()
    source = max(openai_sessions(), key=lambda path: path.stat().st_size)
    texts = {}
    for line in source.read_text().splitlines():
        payload = json.loads(line)
        if payload.get("role") in {"user", "assistant", "tool"}:
            ids = session.say(payload)
            texts |= dict(zip(ids, (part.text for part in OPENAI.read(OPENAI.normalise(payload))), strict=True))
    named = {item: identifiers(text) for item, text in texts.items()}
    carriers = Counter(name for names in named.values() for name in names)
    index, missed, asked = session.index(), [], 0
    for item, names in named.items():
        for name in sorted(name for name in names if carriers[name] == 1)[:2]:
            asked += 1
            if item not in [hit.item for hit in index.search(name, entity=name, limit=100)]:
                missed.append((item, name))
    assert asked > 300
    assert missed == []
