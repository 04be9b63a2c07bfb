"""
gc-core where the calls of POSIX are missing, as on Windows: in memory and with a directory, in a process of its own
that has lost them (``tests/support/without_posix.py``).
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from ctxgc.doctor import file_checks

ROOT = Path(__file__).parents[1]

SOFT = "ignore:only soft file lock is available"
"""What filelock says: it has the locks of Windows only there."""

BEGIN = """
import logging, sys
from tests.support import without_posix
without_posix.take_away()
logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.INFO)
from gc_core import GCConfig, GCSession

def work(session):
    for turn in range(12):
        session.append({"role": "user", "content": f"Question {turn}?"})
        session.pre_send()
        session.post_turn({"role": "assistant", "content": f"Answer {turn}: " + "word " * 100})
    assert session.collect_now(target_percent=5).changed
    session.pre_send()
    assert "Answer 1:" in session.recall("i4")
    assert session.search("Question 7")

CONFIG = GCConfig(strategy="gc_truncate", context_limit=16_000, preserve_recent_turns=2)
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Runs a program without POSIX's calls, and returns what it printed."""

    def run(program):
        lines = textwrap.dedent(BEGIN) + textwrap.dedent(program)
        folder = tmp_path_factory.mktemp("without-posix")
        environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
        ended = subprocess.run(  # noqa: S603 - this Python
            [sys.executable, "-W", "error", "-W", SOFT, "-c", lines],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        assert ended.stderr == ""
        return ended.stdout

    return run


def test_a_session_without_a_directory_works_and_leaves_nothing_behind(done):
    printed = done("""
        from pathlib import Path
        with GCSession(CONFIG) as session:
            work(session)
            assert any(Path.cwd().glob("gc-core-*"))
        assert not any(Path.cwd().glob("gc-core-*"))
    """)
    assert "os.pread" in printed  # what is missing, and what is done without it, is said once
    assert printed.count("os.pread") == 1


def test_a_session_with_a_directory_is_opened_again_purged_and_undone(done):
    done("""
        from gc_core.errors import LogError
        with GCSession(CONFIG, directory="kept") as session:
            work(session)
            try:
                GCSession(CONFIG, directory="kept")
            except LogError as error:
                assert "open in another session" in str(error)
            else:
                raise AssertionError("two writers")
        with GCSession.open("kept") as session:
            assert "Answer 1:" in session.recall("i4")
            assert session.undo()
        from pathlib import Path
        from gc_core.storage.purge import purge
        purge(Path("kept"), "Answer 3", by="me")
        with GCSession.open("kept") as session:
            session.append({"role": "user", "content": "And now?"})
            assert "Answer 3" not in str(session.pre_send().messages)
    """)


def test_the_doctor_asks_no_process_whether_it_lives_by_a_signal_that_would_end_it(monkeypatch):
    monkeypatch.setattr(os, "name", "nt")
    signals = []
    monkeypatch.setattr(os, "kill", lambda *signal: signals.append(signal))
    lives = file_checks._lives(os.getpid())
    monkeypatch.undo()  # pytest itself asks for the system's name
    assert (lives, signals) == (True, [])
