"""A process that forks with sessions open: they stay the parent's, and a child touches nothing of them."""

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import traceback
import warnings

import pytest

from gc_core import AsyncGCSession, GCSession
from gc_core.errors import LogError, SessionClosedError
from gc_core.session.reader import SessionReader
from tests.support.inside import core_of
from tests.support.likeness import assert_books_are_right
from tests.support.say import answer, rounds, small, user

BEGIN = """
import json, os, sys
from pathlib import Path
from gc_core import GCSession
from gc_core.errors import SessionClosedError
from tests.support.say import answer, rounds, small, user

def emit(**what):
    os.write(1, json.dumps(what).encode() + b"\\n")

def files(session):
    found = (path for path in sorted(session.directory.rglob("*")) if path.is_file() and "index" not in path.name)
    return {path.name: path.read_bytes() for path in found}

directory = Path(sys.argv[1]) / "session"
"""


def ran(script, tmp_path, **more):
    """The output of a separate process, line by line; it ends as Python does, with all that is called at exit."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", BEGIN + textwrap.dedent(script), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, **more)  # noqa: S603 - our own script
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b"", done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


EVERY_CALL = """
CALLS = {
    "append": lambda session: session.append(user("From the child.")),
    "enrich": lambda session: session.enrich(clock="late"),
    "system": lambda session: session.system(rules="No."),
    "pre_send": lambda session: session.pre_send(),
    "post_turn": lambda session: session.post_turn(answer("No.")),
    "collect_now": lambda session: session.collect_now(),
    "recall": lambda session: session.recall("i1"),
    "search": lambda session: session.search("line"),
    "undo": lambda session: session.undo(),
    "checkpoint": lambda session: session.checkpoint(),
    "fork": lambda session: session.fork(directory.with_name("branch")),
    "explain": lambda session: session.explain(),
    "close": lambda session: session.close(),
}
"""


@pytest.mark.parametrize("where", ["directory", "None"])
def test_every_call_of_a_forked_child_is_refused_and_its_exit_touches_nothing(where, tmp_path):
    script = (
        EVERY_CALL
        + f"""
session = small(3_000, directory={where}, checkpoint_every_n_steps=2)
with session:
    rounds(session, 12)
    session.search("line")
    lease = session.lease(500, name="part")
    before = files(session)
    child = os.fork()
    if not child:
        refused = {{}}
        with lease:
            for name, called in CALLS.items():
                try:
                    called(session)
                except SessionClosedError as error:
                    refused[name] = str(error)
        emit(refused=refused, calls=sorted(CALLS))
        sys.exit()
    _, status = os.waitpid(child, 0)
    emit(status=status, same=files(session) == before, lease=lease.state, items=len(session.items()))
    session.append(user("From the parent."))
    session.pre_send()
    session.post_turn(answer("Yes."))
    emit(said=session.recall(session.append(user("Go on."))[0]), found=bool(session.search("parent")))
    kept = session.directory
emit(exists=kept.exists())
"""
    )
    child, parent, went_on, closed = ran(script, tmp_path)
    assert sorted(child["refused"]) == child["calls"]
    for name, text in child["refused"].items():
        assert text.startswith(f"{name}()")
        assert "fork" in text
        assert "GCSession.open" in text
    assert (parent["status"], parent["same"], parent["lease"]) == (0, True, "open")
    assert parent["items"]
    assert went_on == {"said": "Go on.", "found": True}
    assert closed["exists"] is (where == "directory")
    if where == "directory":
        with GCSession.open(tmp_path / "session") as session:
            assert_books_are_right(session)


def forked(work):
    """What a child that this process forks tells, and its status; it ends at once, for it is a pytest too."""
    reads, writes = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12: there are other threads
        child = os.fork()
    if not child:
        signal.alarm(30)
        result = {}
        try:
            result = work()
        except BaseException:  # noqa: BLE001 - the child must not come back as a second pytest
            result = traceback.format_exc()
        finally:
            os.write(writes, json.dumps(result).encode())
            os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as file:
        result = json.loads(file.read() or b"null")
    os.waitpid(child, 0)
    return result


def opens(directory):
    try:
        GCSession.open(directory).close()
    except LogError:
        return False
    return True


def refused(called):
    try:
        called()
    except SessionClosedError:
        return True
    return False


def test_only_the_parent_keeps_the_lock(tmp_path):
    """A child that lets go of the session does not give it back; one that outlives its parent's does not keep it."""
    directory = tmp_path / "session"
    held = [small(3_000, directory=directory)]
    assert forked(lambda: [held.clear(), gc.collect()][:1]) == [None]
    assert not opens(directory)

    def child():
        held[0].__exit__()
        return opens(directory)

    assert forked(child) is False
    held.pop().close()
    assert forked(lambda: opens(directory)) is True
    session = GCSession.open(directory)
    ends, wait = os.pipe()
    child = os.fork()
    if not child:
        os.close(wait)
        os.read(ends, 1)  # as long as the parent lives with it
        os._exit(0)
    session.close()
    assert opens(directory)
    os.close(wait)
    os.close(ends)
    os.waitpid(child, 0)


def test_a_child_is_refused_though_another_thread_was_at_work_in_the_session(tmp_path):
    session = small(3_000, directory=tmp_path / "session")
    rounds(session, 2)
    inside, done = threading.Event(), threading.Event()

    def work():
        with core_of(session).gate.lock:
            inside.set()
            done.wait()

    def child():
        with small(3_000) as own:  # sessions of its own are as good as ever
            rounds(own, 3)
            return refused(session.pre_send), len(own.items())

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    assert forked(child) == [True, 7]
    done.set()
    thread.join()
    session.close()


def test_an_async_session_is_refused_in_a_child_too():
    async def life():
        async with AsyncGCSession() as session:
            session.append(user("Hello."))
            steps = session.pre_send()
            refusals = forked(
                lambda: [refused(lambda: steps.send(None)), refused(lambda: session.append(answer("No.")))]
            )
            steps.close()
            return refusals, (await session.pre_send()).messages

    assert asyncio.run(life()) == ([True, True], (user("Hello."),))


def test_a_reader_is_refused_in_a_child_too_and_its_index_stays_the_parents(tmp_path):
    with small(3_000, directory=tmp_path / "session") as session:
        rounds(session, 3)
    with SessionReader(tmp_path / "session") as reader:
        assert reader.search("Do it")
        assert forked(lambda: refused(lambda: reader.search("Do it"))) is True
        assert reader.search("Do it")
