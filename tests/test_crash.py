"""Writers that are really killed: what was acknowledged is there, and the session goes on."""

import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import attrs
import pytest

from gc_core import GCSession, ItemKind, Plugins
from gc_core.providers.rules import check_request
from tests.support.formats import FORMATS, asked, said
from tests.support.inside import state_of, window_of
from tests.support.likeness import assert_books_are_right, assert_same, copied, likeness

ROOT = Path(__file__).parents[1]
BLOCKS = {ItemKind.ENRICHMENT, ItemKind.MEMORY_BLOCK}
LONGEST = 0.5
"""Seconds that a writer lives at most."""


@attrs.define
class Writers:
    """A process that forks writers, so that their imports are paid for once."""

    process: subprocess.Popen
    unread: bytes = b""

    def killed(self, order, seconds):
        """What a writer acknowledged until it was killed, so many seconds after its session had begun."""
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()
        pid, began, acknowledged = 0, None, []
        while True:
            left = None if began is None else max(0.0, began + seconds - time.monotonic())
            for line in self.heard(left):
                assert "error" not in line, f"{order}: {line['error']}"
                if "ended" in line:
                    assert line["ended"] == signal.SIGKILL, f"the writer died by itself: {order}"
                    return acknowledged
                pid = line.get("pid", pid)
                began = time.monotonic() if "began" in line else began
                acknowledged += [line] if "ids" in line else []
            if pid and began is not None and time.monotonic() >= began + seconds:
                os.kill(pid, signal.SIGKILL)
                pid, seconds = 0, 60.0

    def heard(self, seconds):
        """The lines that come until then, or the first ones; the writer must never wait for a reader."""
        number = self.process.stdout.fileno()
        if select.select([number], [], [], seconds)[0]:
            data = os.read(number, 1 << 16)
            assert data, "the process of the writers has ended"
            *whole, self.unread = (self.unread + data).split(b"\n")
            yield from map(json.loads, whole)


@pytest.fixture
def writers():
    command = [sys.executable, "-m", "tests.support.writer"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe) as process:  # noqa: S603 - our own module
        yield Writers(process)
        process.stdin.close()


def test_nothing_acknowledged_is_lost_when_the_writer_is_killed(writers, tmp_path):
    survive(writers, tmp_path, rounds=6, seed=1)


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_in_a_thousand_crashes(writers, tmp_path):
    survive(writers, tmp_path, rounds=int(os.environ.get("GC_CRASHES", "1000")), seed=random.randrange(10**6))  # noqa: S311 - no secrets here


def survive(writers, folder, *, rounds, seed):
    """Kill so many writers, each at a moment of its own, and open what they left."""
    chance = random.Random(seed)  # noqa: S311 - no secrets here
    plugins, seen = Plugins.discover(), Counter()
    for place in range(rounds):
        directory = folder / f"round{place}"
        order = {
            "directory": str(directory),
            "seed": f"{seed}.{place}",
            "format": FORMATS[place % len(FORMATS)],
            "backend": chance.choice(["files", "files", "sqlite"]),
        }
        acknowledged = writers.killed(order, LONGEST * chance.random() ** 2)
        seen["messages acknowledged"] += len(acknowledged)
        seen["checkpoints"] += len(list(directory.glob("checkpoints/*.json")))
        seen["checkpoints torn"] += len(list(directory.glob("checkpoints/*.new")))
        try:
            assert_survived(directory, acknowledged, plugins, seen)
        except BaseException as error:
            error.add_note(f"{order}, {len(acknowledged)} acknowledged")
            raise
        shutil.rmtree(directory)
    figures = ", ".join(f"{number:,} {name}" for name, number in seen.items())
    sys.stdout.write(f"\n{rounds} writers killed (seed {seed}): {figures}, 0 lost\n")


def folded(directory, plugins):
    """The state from log and ledger only, opened in their place: the path may be in the window."""
    aside = directory.rename(directory.with_name("aside"))
    copied(aside, directory)
    without_checkpoints(directory)
    with GCSession.open(directory, plugins=plugins) as session:
        found = likeness(session)
    shutil.rmtree(directory)
    aside.rename(directory)
    return found


def without_checkpoints(directory):
    shutil.rmtree(directory / "checkpoints", ignore_errors=True)
    for path in directory.glob("checkpoints.db*"):
        path.unlink()


def assert_survived(directory, acknowledged, plugins, seen):
    expected = folded(directory, plugins)
    with GCSession.open(directory, plugins=plugins) as session:
        seen["collections"] += len(state_of(session).done)
        seen["blocks"] += sum(item.kind in BLOCKS for item in session.items())
        seen["lines torn"] += len(list(directory.glob("*.torn-*")))
        for message in acknowledged:
            for key, text in zip(message["ids"], message["texts"], strict=True):
                assert not text or session.recall(key) == text
        assert_same(expected, likeness(session))
        if window_of(session).messages:  # it may have been killed before anything was said
            assert check_request(window_of(session).render(), pending=True) == ()
        for item in session.items():
            if item.pinned:
                session.unpin(item=item.id)
        session.append(asked(session.format, "Go on."))
        assert check_request(session.pre_send()) == ()
        session.post_turn(said(session.format, "again", "Very well."))
        assert_books_are_right(session)
