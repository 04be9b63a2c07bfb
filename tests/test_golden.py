"""The golden results of a refactoring: two processes have the same ones, and a change is named."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.comparing import Place, differences, explained
from tests.golden.frozen import anonymous, root, timeless
from tests.golden.recording import Recording

ROOT = Path(__file__).parents[1]
SAMPLE = ("session gemini 2 gc_progressive", "host responses gc_hybrid")


def golden(*arguments, seed, cwd=ROOT):
    """The tool in a process of its own, for it replaces the clock."""
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, "-m", "tests.golden", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)  # noqa: S603


def recording(*requests):
    made = Recording()
    for request in requests:
        made.add("request", request)
    return made


@pytest.mark.slow
def test_a_process_with_other_hashes_in_another_directory_has_the_same_results(tmp_path):
    path = tmp_path / "before.jsonl"
    wrote = golden("write", path, "--only", *SAMPLE, seed="1")
    assert wrote.returncode == 0, wrote.stderr
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert all(line["collections"] > 2 for line in lines), "a sample that collects nothing shows little"
    done = golden("compare", path, "--only", *SAMPLE, seed="2", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 cases compared, 0 differ" in done.stdout


def test_the_first_text_that_differs_is_shown_from_where_it_departs_from_the_one_before():
    before = recording("one", "one two", "one two three").line("case")
    after = recording("one", "one two", "one two four")
    assert list(differences(before, after)) == [Place("request", 2)]
    shown = explained("case", before, after, None)
    assert "first difference: request 2" in shown
    assert "' four'" in shown


def test_texts_that_only_one_side_has_differ():
    assert list(differences(recording("one").line("case"), recording("one", "two"))) == [Place("request", 1)]
    assert "no such text" in explained("case", recording("one", "two").line("case"), recording("one"), None)


def test_times_ids_and_the_directory_make_no_difference():
    assert timeless({"time": 3.5, "inner": [{"seconds": 2, "tokens": 7}]}) == {
        "time": 0,
        "inner": [{"seconds": 0, "tokens": 7}],
    }
    assert anonymous(f"{root()}/work of {'0a' * 16}") == "<root>/work of <id>"
