"""The budget panel: it shows what the session itself knows, follows it while it is written, and changes nothing."""

import asyncio
import contextlib
import hashlib
import json
import os
import pty
import random
import shutil
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from ctxgc.adoption import adopt_transcript
from ctxgc.cli.app import app as ctxgc
from ctxgc.evaluation.transcripts import read_transcript
from ctxgc.inspector.app import DetailScreen, InspectorApp
from ctxgc.inspector.follower import Follower
from ctxgc.inspector.rows import PAGE, Row, doing_rows, matching, path_of, window_rows
from ctxgc.inspector.tree import RowTree
from textual.app import App
from textual.widgets import Static, TextArea
from typer.testing import CliRunner

from gc_core import GCConfig, GCSession
from gc_core.errors import LogError
from gc_core.session.reader import SessionReader
from gc_core.storage.purge import purge
from gc_core.values.items import Form
from tests.support import writer
from tests.support.corpus import openai_sessions, require_corpus
from tests.support.inside import recorder_of
from tests.support.say import call, lines, result, results, use, user

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "session.jsonl"
PICTURE = ROOT / "docs" / "images" / "inspect.svg"
SIZES = [(80, 24), (200, 50)]
NARROW, WIDE = SIZES
HOSTILE = "\x1b[31mred\x1b[0m\x07 \x9b2J done"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The example as a session that collected several times, and was closed."""
    directory = tmp_path_factory.mktemp("inspected") / "spare-below"
    transcript = read_transcript(EXAMPLE)
    config = GCConfig(strategy="gc_budget", context_limit=32_000, output_reservation=0)
    with GCSession(config, format=transcript.format, directory=directory, model="gpt-5") as session:
        session.system(base="\n".join(transcript.system))
        session.tools(transcript.tools)
        for message in transcript.messages:
            if message["role"] == "assistant":
                session.pre_send()
                session.post_turn(message)
            else:
                session.append(message)
    return directory


@pytest.fixture
def own(recorded, tmp_path):
    """A copy that may be changed."""
    return Path(shutil.copytree(recorded, tmp_path / "own"))


@pytest.fixture
def follow():
    followers = []

    def begin(directory):
        followers.append(Follower(directory))
        return followers[-1]

    yield begin
    for follower in followers:
        follower.close()


def files(directory):
    found = sorted(path for path in directory.rglob("*") if path.is_file())
    return {path: (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest()) for path in found}


def tree_of(budget):
    """The budget, whatever order its groups were opened in."""
    snapshot = budget.snapshot()

    def ordered(entry):
        return {**entry, "children": sorted(map(ordered, entry["children"]), key=lambda child: child["key"])}

    return {**snapshot, "sources": [ordered(source) for source in snapshot["sources"]]}


def assert_same(panel, session):
    """The panel knows the window as the session does."""
    assert tree_of(panel.budget) == tree_of(session.budget)
    assert list(panel.items.values()) == list(session.items())
    history = [(entry.place, entry.what, entry.in_force) for entry in session.history()]
    assert [(doing.place, doing.what, doing.place in panel.done) for doing in panel.doings] == history


def assert_adds_up(panel, path=(), parent=None):
    """Below every line are lines that sum up to it, and each can be found again."""
    rows = window_rows(panel, path)
    assert sum(row.tokens for row in rows) == (panel.budget.total if parent is None else parent.tokens)
    assert len({row.path for row in rows}) == len(rows) <= max(PAGE, len(panel.budget.sources) + 1)
    for row in rows:
        assert row.label.isprintable()
        if row.opens:
            assert_adds_up(panel, row.path, row)
        elif row.key in panel.items:
            assert path_of(panel, row.key) == row.path


# --- following ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_name", ["openai", "anthropic"])
def test_the_panel_knows_what_the_session_knows_after_every_message(format_name, tmp_path, follow):
    chance = random.Random(7)  # noqa: S311 - no secrets here
    follower = follow(tmp_path / "s")
    with GCSession(writer.config("files"), format=format_name, directory=tmp_path / "s") as session:
        session.system(base="You are careful.")
        session.register_source(writer.InstructionSource(name="team", policy=writer.GCPolicy.PRESERVABLE, layer=20))
        for place, (message, is_reply) in zip(range(40), writer.messages(format_name, chance), strict=False):
            writer.aside(session, chance, place)
            (writer.reply_with_report if is_reply else GCSession.append)(session, message)
            panel = follower.poll()
            assert_same(panel, session)
        assert len(panel.collections) > 1
        assert follower.whole_reads == 1
        assert_adds_up(panel)


def test_what_has_not_changed_is_not_shown_again(recorded, follow):
    follower = follow(recorded)
    assert follower.poll() is not None
    assert follower.poll() is None


def test_where_the_files_say_something_else_of_the_past_the_whole_is_read_again(own, follow):
    follower = follow(own)
    follower.poll()
    with GCSession.open(own) as session:
        assert_same(follower.poll(), session)
        session.rewind(3)
        assert_same(follower.poll(), session)
        session.append(user("The password is hunter2hunter2."))
        assert_same(follower.poll(), session)
    reads = follower.whole_reads
    purge(own, "hunter2hunter2", by="a test")
    panel = follower.poll()
    assert follower.whole_reads == reads + 1
    assert "hunter2" not in "".join(item.text for item in panel.items.values())
    assert panel.doings[-1].what == "purged"


def test_a_torn_last_line_is_waited_for(own, follow):
    log = own / "master.jsonl"
    follower = follow(own)
    before = follower.poll()
    with GCSession.open(own) as session:
        whole = log.read_bytes()
        session.append(user("This line comes in two pieces."))
        line = log.read_bytes()[len(whole) :]
    with log.open("r+b") as file:
        file.truncate(len(whole) + len(line) // 2)
    torn = follower.poll()
    assert torn is None or list(torn.items) == list(before.items)
    with log.open("ab") as file:
        file.write(line[len(line) // 2 :])
    assert "two pieces" in list(follower.poll().items.values())[-1].text


def test_a_damaged_file_is_reported_and_the_next_poll_tries_again(own, follow):
    follower = follow(own)
    follower.poll()
    ledger = own / "ledger.jsonl"
    sound = ledger.read_bytes()
    ledger.write_bytes(sound + b'{"at":1,"time":1,"kind":"nonsense"}\n')
    with pytest.raises(LogError, match=r"ledger\.jsonl"):
        follower.poll()
    ledger.write_bytes(sound)
    assert follower.poll().collections


def test_a_directory_that_vanishes_is_reported_and_found_again(own, follow, tmp_path):
    follower = follow(own)
    follower.poll()
    own.rename(tmp_path / "elsewhere")
    with pytest.raises(LogError, match="own does not exist"):
        follower.poll()
    (tmp_path / "elsewhere").rename(own)
    assert follower.poll().collections


def test_following_locks_nothing_and_writes_nothing(own, follow):
    before = files(own)
    follower = follow(own)
    panel = follower.poll()
    follower.original("i5")
    assert files(own) == before
    with GCSession.open(own) as session:  # which a lock would refuse
        session.append(user("Still there?"))
        assert len(follower.poll().items) == len(panel.items) + 1


# --- lines ----------------------------------------------------------------------------------------------------------


def test_every_line_of_recorded_sessions_adds_up(tmp_path, follow):
    require_corpus()
    for number, path in enumerate(sorted(openai_sessions(), key=lambda path: path.stat().st_size)[20:60:20]):
        adopt_transcript(read_transcript(path), tmp_path / str(number)).close()
        assert_adds_up(follow(tmp_path / str(number)).poll())


def test_a_collection_shows_its_removals_and_reasons(recorded, follow):
    panel = follow(recorded).poll()
    rows = doing_rows(panel, ())
    assert [row.tokens for row in rows] == [doing.freed for doing in reversed(panel.collections)]
    below = doing_rows(panel, rows[0].path)
    removals = panel.collections[-1].removals
    assert [row.tokens for row in below] == [removal.tokens_freed for removal in removals]
    assert all(removal.reason in row.label for row, removal in zip(below, removals, strict=True))


def large(directory):
    """Two thousand items in one turn."""
    config = GCConfig(strategy="none", context_limit=10_000_000)
    with GCSession(config, format="anthropic", directory=directory) as session:
        session.append(user("Count."))
        for hundred in range(10):
            keys = [f"c{hundred}-{place}" for place in range(100)]
            session.append(use(*((key, "count", {"to": key}) for key in keys)))
            session.append(results(*((key, f"{key} counted") for key in keys)))
        session.checkpoint()
    return directory


def test_a_turn_of_thousands_of_items_opens_in_pages(tmp_path):
    large(tmp_path / "s")

    async def look():
        app = InspectorApp(tmp_path / "s")
        async with app.run_test(size=NARROW):
            await app.look()
            tree = app._tree("window")
            assert len(app.panel.items) == 2_001
            assert tree.go_to(path_of(app.panel, "i1700"))
            assert tree.cursor_node.data.key == "i1700"
            assert len(tree._tree_nodes) < 4 * PAGE

    asyncio.run(look())


# --- in a terminal --------------------------------------------------------------------------------------------------


async def opened(pilot, app, key):
    """Go to a line by its key, as a user does by search, and open it."""
    app._go_to(key)
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, DetailScreen))


async def until(pilot, holds):
    """Wait for what a thread or another process is about to do; fails after a minute."""
    async with asyncio.timeout(60):
        while not holds():
            await pilot.pause(0.02)


def said(app, selector):
    return str(app.screen.query_one(selector, Static).render())


def label(node):
    return node.data.label


@pytest.mark.parametrize("size", SIZES)
def test_enter_opens_a_source_then_its_turns_then_an_items_text_and_its_original(size, recorded):
    async def look():
        app = InspectorApp(recorded)
        async with app.run_test(size=size) as pilot:
            await app.look()
            tree = app._tree("window")
            head = str(app.query_one("#head").render())
            assert "gc_budget · gpt-5 · openai" in head
            assert "of 32,000 tokens" in head
            assert f"{len(app.panel.collections)} collections" in head
            await pilot.press("down", "down", "down")
            assert label(tree.cursor_node) == "conversation"
            await pilot.press("enter", "down", "enter", "down")
            assert tree.cursor_node.data.key == "i1"
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, DetailScreen))
            assert app.screen.query_one(TextArea).text == app.panel.items["i1"].text
            await pilot.press("escape")
            stub = next(item for item in app.panel.items.values() if item.form is Form.STUB)
            await opened(pilot, app, stub.id)
            assert app.screen.query_one(TextArea).text == stub.text
            await pilot.press("o")
            with SessionReader(recorded) as reader:
                assert app.screen.query_one(TextArea).text == reader.recall(stub.id)
            assert f"{stub.original_tokens:,} when it arrived" in said(app, "#facts")

    asyncio.run(look())


def test_a_removal_opens_the_originals_of_what_it_took(recorded):
    async def look():
        app = InspectorApp(recorded)
        async with app.run_test(size=NARROW) as pilot:
            await app.look()
            assert not app.query_one("#doings-pane").display
            await pilot.press("c", "enter", "down", "enter")
            assert not app.query_one("#window-pane").display
            await until(pilot, lambda: isinstance(app.screen, DetailScreen))
            removal = app.panel.collections[-1].removals[0]
            assert removal.reason in said(app, "#facts")
            with SessionReader(recorded) as reader:
                assert reader.recall(removal.items[0]) in app.screen.query_one(TextArea).text

    asyncio.run(look())


def test_search_goes_from_match_to_match_and_finds_what_left_by_its_id(recorded):
    async def look():
        app = InspectorApp(recorded)
        async with app.run_test(size=WIDE) as pilot:
            await app.look()
            found = matching(app.panel, "STRATEGY")
            assert len(found) > 2
            tree = app._tree("window")
            await pilot.press("slash", *"strategy", "enter")
            assert tree.cursor_node.data.key == found[0]
            await pilot.press("n")
            assert tree.cursor_node.data.key == found[1]
            await pilot.press("N", "N")
            assert tree.cursor_node.data.key == found[-1]
            gone = next(key for key in (f"i{number}" for number in range(1, 100)) if key not in app.panel.items)
            await pilot.press("slash", *gone, "enter")
            await until(pilot, lambda: isinstance(app.screen, DetailScreen))
            with SessionReader(recorded) as reader:
                assert app.screen.query_one(TextArea).text == reader.recall(gone)

    asyncio.run(look())


def test_the_panel_follows_another_process_and_the_cursor_stays_on_its_item(tmp_path):
    command = [sys.executable, "-m", "tests.support.writer"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        order = {"directory": str(tmp_path / "s"), "seed": 3, "format": "openai"}
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
        pid = next(line["pid"] for line in map(json.loads, process.stdout) if "pid" in line)
        said = []
        drain = threading.Thread(target=lambda: said.extend(process.stdout), daemon=True)
        try:
            drain.start()
            asyncio.run(assert_followed(tmp_path / "s"))
        finally:
            process.stdin.close()
            with contextlib.suppress(ProcessLookupError):  # it has died by itself, and said why
                os.kill(pid, 9)
            process.wait()
            drain.join()
            assert [line for line in said if '"error"' in line] == []
    with SessionReader(tmp_path / "s") as reader:
        follower = Follower(tmp_path / "s")
        panel = follower.poll()
        follower.close()
        assert tree_of(panel.budget) == tree_of(recorder_of(reader).state.context.budget)


async def assert_followed(directory):
    app = InspectorApp(directory, seconds=0.02)
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: app.panel is not None and "i1" in app.panel.items)
        tree = app._tree("window")
        app._go_to("i1")
        seen = app.panel.doings
        away = []  # a rewind of the writer takes the item away for a while; the cursor goes to the line above then

        def followed():
            away.extend(["gone"] * ("i1" not in app.panel.items))
            return len(app.panel.doings) > len(seen) + 2

        await until(pilot, followed)
        assert tree.cursor_node.data.key == "i1" or away or "rewound" in str(app.panel.doings)
        assert tree.cursor_line == tree.cursor_node.line
        assert app.query_one("#trouble").display is False


def test_lines_that_change_places_stay_open_and_keep_the_cursor():
    def rows(below, path):
        return [Row(path=(*path, key), label=key, tokens=1, opens=key in below) for key in below.get(path[-1:], ())]

    class OneTree(App):
        def compose(self):
            yield RowTree(id="window")

    async def look():
        app = OneTree()
        async with app.run_test():
            tree = app.query_one(RowTree)
            tree.show(partial(rows, {(): ("a", "b"), ("b",): ("c", "d"), ("d",): ("e",), "b": (), "d": ()}))
            assert tree.go_to(("b", "d", "e"))
            tree.show(partial(rows, {(): ("b", "a"), ("b",): ("d", "c"), ("d",): ("e",), "b": (), "d": ()}))
            assert tree.cursor_node.data.path == ("b", "d", "e")
            assert tree.cursor_line == tree.cursor_node.line == 2

    asyncio.run(look())


def test_a_cursor_whose_line_is_gone_goes_to_the_one_above(own):
    async def look():
        app = InspectorApp(own, seconds=60)
        async with app.run_test(size=NARROW):
            with GCSession.open(own) as session:
                session.append(user("Soon gone."))
                await app.look()
                last = list(app.panel.items)[-1]
                app._go_to(last)
                session.rewind(session.items()[-1].turn)
                await app.look()
                assert last not in app.panel.items
                assert label(app._tree("window").cursor_node) == "conversation"

    asyncio.run(look())


def test_a_directory_that_vanishes_is_reported_in_the_panel_and_q_quits(own):
    async def look():
        app = InspectorApp(own, seconds=60)
        async with app.run_test(size=NARROW) as pilot:
            await app.look()
            shutil.rmtree(own)
            await app.look()
            assert "does not exist; this is the state at" in said(app, "#trouble")
            assert app.panel.items
            await pilot.press("q")
        assert app.return_code == 0

    asyncio.run(look())


def test_the_documents_picture_is_made_from_a_real_session(recorded):
    async def picture():
        app = InspectorApp(recorded, seconds=60)
        async with app.run_test(size=(132, 36)) as pilot:
            await app.look()
            stub = next(item for item in app.panel.items.values() if item.form is Form.STUB)
            app._go_to(stub.id)
            app._tree("doings").root.children[0].expand()
            await pilot.pause()
            return app.export_screenshot(title="ctxgc inspect sessions/spare-below")

    svg = asyncio.run(picture())
    assert "conversation" in svg
    if os.environ.get("GC_SCREENSHOTS") == "1":
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(svg)


# --- as a command ---------------------------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(ctxgc, [str(argument) for argument in arguments])


def test_into_a_pipe_the_panel_is_printed_once(recorded, follow):
    before = files(recorded)
    done = run("inspect", recorded)
    assert done.exit_code == 0
    panel = follow(recorded).poll()
    assert f"{panel.usage:.1f} %  {panel.estimated:,} of 32,000 tokens" in done.stdout
    assert "◐  turn 5" in done.stdout
    assert done.stdout.count(" threshold ") == len(panel.collections)
    assert files(recorded) == before


def test_where_there_is_no_session_one_line_says_so(tmp_path):
    done = run("inspect", tmp_path / "nowhere")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"error: {tmp_path / 'nowhere'} does not exist\n"


def test_control_sequences_in_texts_do_not_reach_the_terminal(tmp_path):
    with GCSession(directory=tmp_path / "s") as session:
        session.append(user(HOSTILE))
        session.extend([call(("c1", HOSTILE, {"a": 1})), result("c1", HOSTILE + lines(5))])

    async def look():
        app = InspectorApp(tmp_path / "s")
        async with app.run_test(size=NARROW) as pilot:
            await app.look()
            await opened(pilot, app, "i1")
            return app.screen.query_one(TextArea).text + said(app, "#facts")

    for text in (run("inspect", tmp_path / "s").stdout, asyncio.run(look())):
        assert "red" in text
        assert not any(letter in text for letter in "\x1b\x07\x9b")


def test_in_a_real_terminal_it_runs_until_q(recorded):
    parent, child = pty.openpty()
    environ = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    command = [sys.executable, "-m", "ctxgc.__main__", "inspect", str(recorded)]
    with subprocess.Popen(command, stdin=child, stdout=child, stderr=child, env=environ) as process:  # noqa: S603 - ours
        os.close(child)
        seen = b""
        while b"conversation" not in seen:
            seen += os.read(parent, 65_536)
        os.write(parent, b"q")
        drained = threading.Thread(target=drain_until_closed, args=(parent,), daemon=True)
        drained.start()
        assert process.wait(timeout=20) == 0
    os.close(parent)


def drain_until_closed(number):
    try:
        while os.read(number, 65_536):
            pass
    except OSError:
        return
