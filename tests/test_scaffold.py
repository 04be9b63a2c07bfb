"""``ctxgc new-strategy``: what it refuses, what it writes, and that the files pass every check."""

import os
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pytest
from ctxgc.cli.app import app
from ctxgc.cli.scaffold import new_package
from typer.testing import CliRunner

CACHE = Path(__file__).parents[1] / ".mypy_cache" / "made"
FILES = {
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "src/gc_oldest_first/__init__.py",
    "src/gc_oldest_first/py.typed",
    "tests/test_contract.py",
    "tests/test_gc_oldest_first.py",
}


def run(*arguments):
    return CliRunner().invoke(app, ["new-strategy", *(str(argument) for argument in arguments)])


def texts(directory):
    files = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_text(encoding="utf-8") for path in files}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A package whose name has two words."""
    return new_package("gc-Oldest-First", tmp_path_factory.mktemp("made"), installed=()).directory


def python(*arguments, cwd, **environ):
    """Run a module of the test environment and tell how it ended."""
    command = [sys.executable, "-m", *(str(argument) for argument in arguments)]
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
    ended = subprocess.run(command, cwd=cwd, env=own | environ, capture_output=True, text=True, check=False)  # noqa: S603 - Python
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


# --- what is written ------------------------------------------------------------------------------------------------


def test_a_package_has_all_that_it_takes_and_nothing_left_to_fill_in(package):
    written = texts(package)
    assert set(written) == FILES
    assert [name for name, text in written.items() if "$" in text] == []


def test_every_template_is_used(package):
    templates = [path for path in resources.files("ctxgc.cli").joinpath("templates").iterdir() if path.is_file()]
    assert len(templates) == len(texts(package)) - 1  # py.typed is empty


@pytest.mark.parametrize("name", ["oldest-first", "oldest_first", "Oldest-First", "gc_gc-oldest-first"])
def test_one_name_in_every_spelling(name, package, tmp_path):
    assert texts(new_package(name, tmp_path, installed=()).directory) == texts(package)


def test_module_distribution_and_strategy_have_the_names_that_go_together(package):
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    assert package.name == "gc_oldest_first"
    assert project["name"] == "gc-oldest-first"
    assert project["entry-points"] == {"gc_core": {"gc_oldest_first": "gc_oldest_first"}}
    assert 'register("oldest_first", OldestFirst)' in (package / "src/gc_oldest_first/__init__.py").read_text()


def test_the_licence_names_no_person(package):
    assert "Copyright (c) the authors of gc-oldest-first\n" in (package / "LICENSE").read_text()


def test_the_written_files_are_listed_with_three_next_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("oldest-first")
    written, _, following = done.stdout.partition("\nnext:\n")
    assert done.exit_code == 0
    assert {line.strip() for line in written.splitlines()[1:] if line} == {f"gc_oldest_first/{name}" for name in FILES}
    assert [line.strip() for line in following.splitlines()] == [
        "pip install -e 'gc_oldest_first[test]'",
        "pytest gc_oldest_first",
        "ctxgc replay SESSION --strategy oldest_first --window 32000",
    ]


def test_an_empty_directory_will_do_and_parents_are_made(tmp_path):
    (tmp_path / "a" / "gc_oldest_first").mkdir(parents=True)
    assert run("oldest-first", "--directory", tmp_path / "a").exit_code == 0
    assert run("oldest-first", "--directory", tmp_path / "b" / "c").exit_code == 0


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("two words", "error: strategy name 'two words': expected letters from a to z and digits, a letter first"),
        ("1st", "a letter first"),
        ("", "strategy name ''"),
        ("gc-", "strategy name 'gc-'"),
        ("-first", "No such option"),
        ("_first", "a letter first"),
        ("first_", "underscores between words"),
        ("a--b", "single hyphens"),
        ("größte", "letters from a to z"),
        ("../up", "strategy name '../up'"),
        ("tidy\n", r"strategy name 'tidy\n'"),
        ("true", "the class would be True, which means something else already; expected another name"),
        ("iterator", "the class would be Iterator"),
        ("none", "strategy 'none' is already installed by 'gc_core'"),
        ("gc_truncate", "strategy 'gc_truncate' is already installed by 'gc_truncate'; expected a name other than ['"),
        ("core", "a module gc_core is already installed"),
    ],
)
def test_a_name_that_will_not_do_is_refused_and_nothing_is_written(name, said, tmp_path):
    done = run(name, "--directory", tmp_path)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_directory_with_something_in_it_is_left_as_it_is(tmp_path):
    (tmp_path / "gc_tidy").mkdir()
    (tmp_path / "gc_tidy" / "mine.txt").write_text("mine")
    done = run("tidy", "--directory", tmp_path)
    assert done.exit_code == 2
    assert (
        f"error: {tmp_path / 'gc_tidy'} is not empty; expected a directory that is empty"
        " or does not exist" in done.stderr
    )
    assert texts(tmp_path) == {"gc_tidy/mine.txt": "mine"}


def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "gc_tidy").write_text("mine")
    done = run("tidy", "--directory", tmp_path)
    assert done.exit_code == 2
    assert f"{tmp_path / 'gc_tidy'} is a file; expected a directory" in done.stderr


def test_a_parent_that_is_a_file_is_named(tmp_path):
    (tmp_path / "file").write_text("mine")
    done = run("tidy", "--directory", tmp_path / "file")
    assert done.exit_code == 2
    assert f"{tmp_path / 'file' / 'gc_tidy'} cannot be written: " in done.stderr


# --- what is written is right ---------------------------------------------------------------------------------------


def test_it_passes_ruff_as_ruff_comes(package):
    python("ruff", "check", "--isolated", "--no-cache", ".", cwd=package)
    python("ruff", "format", "--isolated", "--no-cache", "--check", ".", cwd=package)


def test_it_passes_mypy_at_its_strictest(package):
    """What mypy knows of gc-core and of the standard library is kept for the next run."""
    python("mypy", "--strict", "--cache-dir", CACHE, "src", "tests", cwd=package, MYPYPATH="src")
