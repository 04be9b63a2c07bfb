"""The commands about a session's files, as a user types them."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
from ctxgc.cli.app import COMMANDS, app
from typer.testing import CliRunner

from gc_core import GCConfig, GCSession
from gc_core.errors import LogError
from gc_core.session.reader import SessionReader
from gc_core.storage import store
from gc_core.storage.master_log import FILE_NAME
from tests.support.corpus import native_sessions, require_corpus
from tests.support.inside import window_of

LEVELS = {"threshold_percent": 80.0, "pressure_percent": 90.0}
CONFIG = GCConfig(strategy="gc_truncate", context_limit=3_000, output_reservation=0, preserve_recent_turns=1, **LEVELS)
CLAUDE_CODE = native_sessions("claude-code")[:1]


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def failed(done, said):
    """Failed with one clear line and nothing on stdout."""
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    return True


def talk(session, turns=8, word="line"):
    """Some turns of one call each; about 400 tokens a turn."""
    for number in range(turns):
        call = {"name": "read", "arguments": json.dumps({"path": f"src/f{number}.py"})}
        session.append({"role": "user", "content": f"Request {number}: ünbeirrt."})
        session.pre_send()
        session.post_turn(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}],
            }
        )
        text = "\n".join(f"{word} {place} of f{number}" for place in range(60))
        session.append({"role": "tool", "tool_call_id": f"c{number}", "content": text})
        session.pre_send()
        session.post_turn({"role": "assistant", "content": f"Answer {number}."})


def made(directory, **options):
    with GCSession(CONFIG, directory=directory, **options) as session:
        session.system(base="Be brief.")
        talk(session)
        assert len(session.history()) >= 2
    return directory


@pytest.fixture
def directory(tmp_path):
    """A session that was collected several times, and closed."""
    return made(tmp_path / "s")


@pytest.fixture
def live(tmp_path):
    """A session that holds the lock."""
    with GCSession(CONFIG, directory=tmp_path / "live") as session:
        session.system(base="Be brief.")
        talk(session)
        yield session


@pytest.fixture
def foreign(tmp_path):
    path = tmp_path / "foreign.jsonl"
    lines = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Say when."},
        {"role": "assistant", "content": "When."},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def files(directory):
    return {
        str(path.relative_to(directory)): (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in directory.rglob("*")
        if path.is_file()
    }


# --- recall ---------------------------------------------------------------------------------------------------------


def test_one_item_is_exactly_its_text(directory):
    done = run("recall", directory, "i3")
    assert done.exit_code == 0
    assert done.stdout == "\n".join(f"line {place} of f0" for place in range(60))


def test_several_items_are_printed_under_their_ids(directory):
    assert run("recall", directory, "i1", "i4").stdout == "[i1]\nRequest 0: ünbeirrt.\n\n[i4]\nAnswer 0.\n"
    assert run("recall", directory, "i4-i5").stdout == "[i4]\nAnswer 0.\n\n[i5]\nRequest 1: ünbeirrt.\n"


def test_a_byte_range_is_a_reference_too(directory):
    hit = json.loads(run("search", directory, "Answer 0", "--json").stdout)[0]["hit"]
    place = f"{FILE_NAME}:{hit['bytes']['start']}-{hit['bytes']['end']}"
    assert run("recall", directory, place).stdout == "Answer 0."


def test_one_unknown_item_among_several_prints_none(directory):
    assert failed(run("recall", directory, "i1", "i9000"), "'i9000' was ever logged")


def test_a_range_where_no_line_stands_is_an_error(directory):
    assert failed(run("recall", directory, f"{FILE_NAME}:3-9"), "bytes 3-9")


def test_a_lone_surrogate_is_recalled_unchanged_and_exported_as_it_is_sent(tmp_path):
    with GCSession(CONFIG, directory=tmp_path / "odd") as session:
        session.append({"role": "user", "content": "half \ud83d of a letter"})
    done = run("recall", tmp_path / "odd", "i1")
    assert (done.exit_code, done.stdout_bytes) == (0, "half \ud83d of a letter".encode("utf-8", "surrogatepass"))
    exported = json.loads(run("export", tmp_path / "odd").stdout)
    assert exported["messages"][0]["content"] == "half \ufffd of a letter"  # as it is sent


# --- search ---------------------------------------------------------------------------------------------------------


def test_a_hit_is_a_line_with_item_turn_kind_and_preview(directory):
    done = run("search", directory, "Answer 3", "--limit", 1)
    assert done.stdout == "i16  turn 3  assistant_text  Answer 3.\n"


def test_many_sessions_are_searched_and_named(tmp_path):
    for name in ("a", "b"):
        with GCSession(directory=tmp_path / "root" / name) as session:
            session.append({"role": "user", "content": f"The word is {name}{name}."})
    lines = run("search", tmp_path / "root", "word").stdout.splitlines()
    assert sorted(Path(line.split("  ")[0]).name for line in lines) == ["a", "b"]


@pytest.mark.parametrize(
    ("options", "turns"),
    [
        (["--tool", "read", "--limit", 100], {0, 1, 2, 3, 4, 5, 6, 7}),
        (["--first-turn", 6], {6, 7}),
        (["--last-turn", 1], {0, 1}),
        (["--entity", "f4"], {4}),
        (["--role", "tool", "--limit", 1], {7}),
        (["--role", "user"], set()),
    ],
)
def test_filters_narrow_a_search(directory, options, turns):
    found = json.loads(run("search", directory, "line", "--json", *options).stdout)
    assert {entry["hit"]["turn"] for entry in found} == turns
    assert all(entry["session"] == str(directory) for entry in found)


@pytest.mark.parametrize("query", ["", "  "])
def test_a_search_for_nothing_is_refused(directory, query):
    done = run("search", directory, query)
    assert done.exit_code == 2
    assert "it is empty, expected words" in done.stderr


@pytest.mark.parametrize("match", ["", "A"])
def test_a_text_that_cannot_be_purged_is_refused_before_it_is_asked(directory, match):
    assert failed(run("purge", directory, "--match", match, stdin="y\n"), "4 or more")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--session", "missing"], "missing does not exist; expected a session's directory"),
        (["--lanes", "missing"], "--lanes missing: expected the directory of a gateway"),
        (["--session", ".", "--lanes", "."], "--session and --lanes: expected one of them"),
    ],
)
def test_mcp_does_not_start_where_there_is_nothing_to_serve(options, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert failed(run("mcp", *options), said)


def test_nothing_found_is_not_an_error(directory):
    done = run("search", directory, "xylophone")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "nothing found\n")


def test_a_preview_does_not_steer_the_terminal(tmp_path):
    with GCSession(directory=tmp_path / "odd") as session:
        session.append({"role": "user", "content": "red \x1b[31m alert"})
    assert run("search", tmp_path / "odd", "alert").stdout == "i1  turn 0  user_text  red \ufffd[31m alert\n"


def test_a_directory_without_sessions_is_an_error(tmp_path):
    assert failed(run("search", tmp_path, "word"), "holds no session")


# --- history and undo -----------------------------------------------------------------------------------------------


def test_history_has_a_line_for_each_collection_with_its_time(directory):
    lines = run("history", directory).stdout.splitlines()
    assert len(lines) >= 2
    assert all("  collected  threshold: " in line and line[10] == "T" for line in lines)


def test_history_as_json_says_what_is_in_force(directory):
    assert run("undo", directory).exit_code == 0
    entries = json.loads(run("history", directory, "--json").stdout)
    assert [entry["what"] for entry in entries[-2:]] == ["collected", "undone"]
    assert [entry["in_force"] for entry in entries] == [True] * (len(entries) - 2) + [False, False]
    assert run("history", directory).stdout.splitlines()[-2].endswith("  (undone)")


def test_a_session_to_which_nothing_was_done_has_no_history(foreign):
    done = run("history", foreign)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "no changes recorded\n")
    assert run("history", foreign, "--json").stdout == "[]\n"


def test_undo_brings_back_what_it_says(directory):
    before = len(run("export", directory).stdout)
    done = run("undo", directory)
    assert done.exit_code == 0
    assert done.stdout.startswith("undone: collected 20")
    assert "items came back (i" in done.stdout
    assert len(run("export", directory).stdout) > before


def with_room(directory):
    """The session, in a window in which everything fits."""
    with GCSession.open(directory, attrs.evolve(CONFIG, context_limit=100_000)):
        return directory


def reported(directory, *, per_token):
    """The session after a call whose provider counted so many tokens for each of ours."""
    with GCSession.open(directory) as session:
        session.append({"role": "user", "content": "Go on."})
        tokens = session.pre_send().tokens
        usage = {"prompt_tokens": int(per_token * tokens), "completion_tokens": 3}
        session.post_turn({"role": "assistant", "content": "I did."}, usage=usage)
    return directory


def test_an_undo_that_would_not_fit_is_refused_and_says_by_how_much(directory):
    before, entries = run("export", directory).stdout, run("history", directory, "--json").stdout
    done = run("undo", directory, "--times", "90")
    refused = done.stderr.replace(",", "")
    tokens, excess, usable = map(int, re.search(r"would have (\d+) tokens (\d+) more than the (\d+)", refused).groups())
    assert (done.exit_code, tokens - excess) == (1, usable)
    assert re.search(rf"ctxgc recall {directory} i\d+", done.stderr)
    undone = len(done.stdout.splitlines())
    assert f"{undone} of 90 undone" in done.stderr
    if not undone:
        assert run("export", directory).stdout == before
        assert run("history", directory, "--json").stdout == entries
    with GCSession.open(directory) as session:
        session.append({"role": "user", "content": "Go on."})
        session.pre_send()


@pytest.mark.parametrize("per_token", [0.6, 1.4])
def test_undo_counts_as_the_provider_does_as_inspect_shows_it(directory, per_token):
    reported(directory, per_token=per_token)
    shown = re.search(r"[\d,]+ of [\d,]+ tokens", run("inspect", directory).stdout).group()
    with_room(directory)
    room = re.search(r"of [\d,]+ tokens", run("inspect", directory).stdout).group()
    done = run("undo", directory).stdout
    after = re.search(r"[\d,]+ of [\d,]+ tokens", run("inspect", directory).stdout).group()
    assert done.endswith(f": {after} now, {shown.split()[0]} before\n")
    assert after.endswith(room)
    assert len(re.findall(r"[\d,]+ of", done)) == 1


def test_whether_an_undo_fits_is_judged_by_the_providers_count(directory):
    assert "would have" in run("undo", reported(directory, per_token=1.9)).stderr


def test_what_undo_brought_back_stays_until_it_is_released(directory):
    assert run("undo", with_room(directory)).exit_code == 0
    with GCSession.open(directory) as session:
        assert any(item.pinned for item in session.items())
    done = run("release", directory)
    assert done.exit_code == 0
    assert "may be collected again" in done.stdout
    with GCSession.open(directory, CONFIG) as session:
        assert not any(item.pinned for item in session.items())
        session.append({"role": "user", "content": "Go on."})
        session.pre_send()


def test_undoing_everything_gives_the_log(directory):
    times = len(json.loads(run("history", with_room(directory), "--json").stdout))
    assert len(run("undo", directory, "--times", times).stdout.splitlines()) == times
    window, whole = (json.loads(run("export", directory, *more).stdout) for more in ([], ["--whole"]))
    assert window["messages"] == whole["messages"]
    assert failed(run("undo", directory), "nothing to undo")
    assert run("verify", directory).exit_code == 0


def test_undoing_more_than_there_is_says_how_many_were_undone(directory):
    done = run("undo", with_room(directory), "--times", 90)
    assert done.exit_code == 1
    assert f"nothing to undo; {len(done.stdout.splitlines())} of 90 undone" in done.stderr


def test_undo_needs_no_strategy_that_the_session_used(tmp_path, monkeypatch):
    made(tmp_path / "s")
    monkeypatch.setattr("gc_core.plugins.manager.installed_entries", tuple)
    assert run("undo", tmp_path / "s").exit_code == 0


def test_undo_leaves_the_settings_as_the_agent_left_them(tmp_path):
    made(tmp_path / "s")
    with GCSession.open(tmp_path / "s") as session:
        known = session.config
    assert known.strategy != ("none",)
    assert run("undo", tmp_path / "s").exit_code == 0
    with GCSession.open(tmp_path / "s") as session:
        assert session.config == known


# --- export ---------------------------------------------------------------------------------------------------------


def test_the_window_is_exported_as_the_session_would_send_it(directory):
    with GCSession.open(directory) as session:
        expected = json.loads(json.dumps(window_of(session).render().kwargs()))
    assert json.loads(run("export", directory, "--format", "openai").stdout) == expected


def test_anthropic_has_its_system_apart_and_tools_come_with_it(tmp_path):
    schema = {"name": "read", "input_schema": {"type": "object"}}
    with GCSession(format="anthropic", directory=tmp_path / "s") as session:
        session.system(base="Be brief.")
        session.tools([schema])
        session.append({"role": "user", "content": "Go."})
    document = json.loads(run("export", tmp_path / "s", "--format", "anthropic").stdout)
    assert document == {
        "messages": [{"role": "user", "content": "Go."}],
        "system": [{"type": "text", "text": "Be brief."}],
        "tools": [schema],
    }


def test_the_whole_log_holds_what_left_the_window(directory):
    whole = json.loads(run("export", directory, "--whole").stdout)["messages"]
    window = json.loads(run("export", directory).stdout)["messages"]
    assert len(whole) == 1 + 4 * 8
    assert whole[0] == window[0]
    assert "line 0 of f0" in json.dumps(whole)
    assert "line 0 of f0" not in json.dumps(window)


def test_another_format_is_refused(directory):
    assert failed(run("export", directory, "--format", "anthropic"), "the format openai, not anthropic")
    assert run("export", directory, "--format", "smoke").exit_code == 2


# --- verify and purge -----------------------------------------------------------------------------------------------


def test_files_that_agree_are_said_to(directory):
    done = run("verify", directory)
    assert (done.exit_code, done.stdout) == (0, "log, index, ledger, digests agree\n")


def test_what_does_not_agree_is_a_line_each(directory):
    with (directory / "ledger.jsonl").open("ab") as file:
        file.write(b'{"at":99999999,"time":1.0,"kind":"released"}\n')
    done = run("verify", directory)
    assert done.exit_code == 1
    assert "ledger.jsonl" in done.stdout
    assert "agree" not in done.stdout


def test_a_purged_text_is_gone_and_the_files_agree(directory):
    assert run("search", directory, "Answer 3").exit_code == 0
    done = run("purge", directory, "--match", "Answer 3", "--by", "me", "--yes")
    assert done.exit_code == 0
    assert done.stdout.startswith("overwritten once in log and ledger of ")
    assert ", for me;" in done.stdout
    assert not any(b"Answer 3" in path.read_bytes() for path in directory.rglob("*") if path.is_file())
    assert run("verify", directory).exit_code == 0
    assert run("recall", directory, "i16").stdout == "*" * 8 + "."


def test_a_purge_asks_first_and_no_means_no(directory):
    before = files(directory)
    done = run("purge", directory, "--match", "Answer 3", stdin="n\n")
    assert done.exit_code == 1
    assert "overwritten" not in done.stdout
    assert "for ever" in done.stderr
    assert files(directory) == before
    assert run("purge", directory, "--match", "Answer 3", stdin="y\n").exit_code == 0


def test_a_purge_is_in_the_name_of_who_is_logged_in(directory, monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "somebody")
    assert ", for somebody;" in run("purge", directory, "--match", "Answer 3", "--yes").stdout


def test_a_text_that_is_nowhere_is_said_to_be(directory):
    assert run("purge", directory, "--match", "xylophone", "--yes").stdout.startswith("not found in ")


def test_a_text_that_is_too_short_to_purge_is_refused(directory):
    assert failed(run("purge", directory, "--match", "A", "--yes"), "4 or more")


# --- a session that is alive, and one that cannot be written --------------------------------------------------------

READING = [
    ("recall", "{}", "i3"),
    ("search", "{}", "Answer"),
    ("history", "{}"),
    ("export", "{}"),
    ("export", "--whole", "{}"),
    ("verify", "{}"),
]


def reading(command, path):
    return run(*(part.format(path) for part in command))


@pytest.mark.parametrize("command", READING, ids="-".join)
def test_a_session_can_be_read_while_it_is_written(live, command):
    done = reading(command, live.directory)
    assert (done.exit_code, bool(done.stdout), done.stderr) == (0, True, "")
    talk(live, turns=2, word="later")
    assert reading(command, live.directory).exit_code == 0


@pytest.mark.parametrize("command", [("undo", "{}"), ("purge", "{}", "--match", "Answer 3", "--yes")], ids="-".join)
def test_a_session_that_is_written_is_not_changed(live, command):
    done = reading(command, live.directory)
    assert failed(done, "one writer")
    assert "close that session, or make the change in the process that has it open" in done.stderr
    assert f"lsof {live.directory / 'lock'}" in done.stderr


@pytest.mark.parametrize("command", READING, ids="-".join)
def test_reading_changes_no_file(directory, command):
    before = files(directory)
    assert reading(command, directory).exit_code == 0
    after = files(directory)
    # The search index may catch up with the log; what is the session's own may not change.
    kept = [name for name in before if not name.startswith("index.db")]
    assert [before[name] for name in kept] == [after[name] for name in kept]
    assert {name for name in after if not name.startswith("index.db")} == set(kept)


@pytest.mark.parametrize("command", READING, ids="-".join)
def test_reading_makes_no_file_where_there_is_no_index(directory, command):
    for path in directory.glob("index.db*"):
        path.unlink()
    before = files(directory)
    done = reading(command, directory)
    assert (done.exit_code, bool(done.stdout)) == (0, True)
    assert files(directory) == before


def test_an_index_that_may_not_be_written_is_left_alone(directory, monkeypatch):
    (directory / "index.db").write_bytes(b"of another time")
    before, access = files(directory), os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))
    assert run("search", directory, "Answer 3", "--limit", 1).stdout.startswith("i16 ")
    assert files(directory) == before


def test_a_reader_sees_one_moment_whatever_is_written_meanwhile(live):
    with SessionReader(live.directory) as reader:
        window, done = reader.window().messages, reader.history()
        talk(live, turns=4)
        assert (reader.window().messages, reader.history()) == (window, done)
        assert len(live.history()) > len(done)


def test_what_the_ledger_says_of_a_later_log_is_left_out(live, monkeypatch):
    """Between the opening of log and ledger, the session goes on."""
    before, plain = len(live.history()), store.Ledger

    def late(journal):
        if not journal._writable:
            talk(live, turns=4)
            journal = type(journal)(journal.path, writable=False)
        return plain(journal)

    monkeypatch.setattr(store, "Ledger", late)
    with SessionReader(live.directory) as reader:
        assert len(live.history()) > before
        assert len(reader.history()) == before


@pytest.mark.parametrize("change", ["undo", "checkpoint", "release"])
def test_a_reader_changes_nothing(directory, change):
    before = files(directory)
    with SessionReader(directory) as reader, pytest.raises(LogError, match="reading only"):
        getattr(reader, change)()
    assert files(directory) == before


# --- foreign logs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", READING[:-1], ids="-".join)
def test_a_foreign_log_is_read_as_if_it_were_a_session(foreign, command):
    before = files(foreign.parent)
    command = tuple(part.replace("i3", "i1").replace("Answer", "when") for part in command)
    assert reading(command, foreign).exit_code == 0
    assert files(foreign.parent) == before


def test_a_foreign_log_says_what_it_holds(foreign):
    assert run("recall", foreign, "i1").stdout == "Say when."
    assert run("search", foreign, "when").stdout.splitlines()[0].startswith("i")
    messages = json.loads(run("export", foreign, "--format", "openai").stdout)["messages"]
    assert [message["content"] for message in messages] == ["Be brief.", "Say when.", "When."]


def test_our_own_log_may_be_named_instead_of_its_directory(directory):
    assert run("recall", directory / FILE_NAME, "i4").stdout == "Answer 0."


def test_a_line_that_was_left_out_is_a_warning(foreign):
    with foreign.open("a") as file:
        file.write("{broken\n")
    done = run("recall", foreign, "i1")
    assert (done.exit_code, done.stdout) == (0, "Say when.")
    assert f"warning: {foreign}:4: the line was left out" in done.stderr


def test_adopt_makes_a_session_that_goes_on(foreign, tmp_path):
    done = run("adopt", foreign, tmp_path / "own")
    assert done.exit_code == 0
    assert done.stdout.startswith("adopted 2 messages (openai, ")
    assert "original timestamps are not kept" in done.stdout
    assert run("verify", tmp_path / "own").exit_code == 0
    assert failed(run("adopt", foreign, tmp_path / "own"), "not empty")


def test_there_are_recorded_sessions():
    require_corpus()


@pytest.mark.parametrize("path", CLAUDE_CODE, ids=lambda path: path.stem)
def test_a_claude_code_session_is_adopted_and_searched(path, tmp_path):
    assert run("adopt", path, tmp_path / "own").exit_code == 0
    assert run("verify", tmp_path / "own").exit_code == 0
    own, foreign = (run("search", where, "error").stdout for where in (tmp_path / "own", path))
    assert own == foreign != ""


# --- what is wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [*READING, ("undo", "{}")], ids="-".join)
@pytest.mark.parametrize(("name", "said"), [("nowhere", "does not exist"), ("empty", "holds no session")])
def test_where_there_is_no_session_it_says_so(tmp_path, command, name, said):
    (tmp_path / "empty").mkdir()
    assert failed(reading(command, tmp_path / name), said)


@pytest.mark.parametrize("command", [("undo", "{}"), ("verify", "{}"), ("purge", "{}", "--match", "text", "--yes")])
def test_a_file_is_not_a_session_to_change_or_verify(foreign, command):
    assert failed(reading(command, foreign), "is a file")


def test_a_damaged_log_is_an_error_without_a_traceback(directory):
    path = directory / FILE_NAME
    lines = path.read_bytes().split(b"\n")
    lines[3] = b"x" * len(lines[3])
    path.write_bytes(b"\n".join(lines))
    assert failed(run("export", "--whole", directory), "master.jsonl")


# --- the console script ---------------------------------------------------------------------------------------------


def test_the_console_script_pipes_an_item_byte_by_byte(directory):
    script = Path(sys.executable).with_name("ctxgc")
    if not script.is_file():
        pytest.skip(f"no console script beside {sys.executable}")
    done = subprocess.run([script, "recall", directory, "i1"], capture_output=True, check=True)  # noqa: S603 - ours
    assert (done.stdout, done.stderr) == ("Request 0: ünbeirrt.".encode(), b"")


def test_every_command_is_listed_with_a_help_of_its_own():
    listed = run("--help").stdout
    for name in COMMANDS:
        assert f"  {name} " in listed
        assert run(name, "--help").exit_code == 0


# --- memory across sessions -----------------------------------------------------------------------------------------


@pytest.fixture
def stated(tmp_path):
    """A session in which a user stated two facts, and the path of a file of facts that is not there."""
    directory, file = tmp_path / "session", tmp_path / "facts.jsonl"
    with GCSession(CONFIG, directory=directory) as session:
        session.append({"role": "user", "content": "I live in Lisbon. We deploy to Heroku."})
    return directory, file


def test_propose_lists_what_users_stated_and_writes_nothing(stated):
    done = run("propose", *stated)
    assert done.exit_code == 0
    assert [line.split(" [")[0] for line in done.stdout.splitlines()] == [
        "1. add: I live in Lisbon.",
        "2. add: We deploy to Heroku.",
    ]
    assert not stated[1].exists()


def test_propose_carries_out_what_accept_names_and_facts_finds_it(stated):
    done = run("propose", *stated, "--accept", "2")
    assert done.stdout.splitlines()[-1].startswith("add: [fact] We deploy to Heroku. (f1, ")
    found = run("facts", stated[1], "heroku").stdout.splitlines()
    assert len(found) == 1
    assert "[fact] We deploy to Heroku. (f1, " in found[0]
    (document,) = json.loads(run("facts", stated[1], "--relation", "deploy", "--json").stdout)
    assert document["states"]["object"] == "Heroku"
    assert run("facts", stated[1], "--at", "2001-01-01").stdout == ""


def test_propose_and_accept_read_a_session_that_another_process_has_open(stated):
    with GCSession.open(stated[0]):
        done = run("propose", *stated, "--accept", "2")
    assert (done.exit_code, done.stdout.splitlines()[0].split(" [")[0]) == (0, "1. add: I live in Lisbon.")
    assert "We deploy to Heroku." in run("facts", stated[1], "heroku").stdout


def test_propose_refuses_a_number_that_it_did_not_give(stated):
    assert failed(run("propose", *stated, "--accept", "3"), "no proposal 3; there are 2")
    assert not stated[1].exists()


def test_facts_of_no_file_is_an_error(tmp_path):
    assert failed(run("facts", tmp_path / "none.jsonl"), "is not a file; expected one that")
