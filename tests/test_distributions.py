"""What is installed is what was built: wheels, an environment with nothing else, and a strategy of one's own in it."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from filelock import FileLock
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.corpus import openai_sessions, require_corpus

ROOT = Path(__file__).parents[1]
CTXGC = ROOT / "ctxgc"
PLUGINS = [path.parent for path in sorted((ROOT / "plugins").glob("*/pyproject.toml"))]
OUTSIDE = ("PYTEST", "PYTHON", "GC_", "PIP_", "COV_")
"""How variables begin that belong to this run of the tests."""
LEVELS = "threshold_percent = 80\npressure_percent = 90\n"
CONFIG = f'[gc]\nstrategy = "tidy"\n{LEVELS}\n[gc.strategies.tidy]\nkeep = 0.3\n'

BUILD = """
import os, sys
from hatchling.build import build_wheel
for source in sys.argv[2:]:
    os.chdir(source)
    build_wheel(sys.argv[1])
"""
"""What pip asks of the build backend; pip itself would start three processes for each distribution."""


class Environment:
    """
    A virtual environment that holds our wheels, and of other people's distributions those that the wheels declare.

    Those are copied, file by file as their RECORD lists them, out of the environment that the tests run in. So nothing
    is asked of an index, which takes half a minute, and yet the environment is a real one: what a wheel forgot to
    declare is missing in it, and it cannot see the development install, of which nothing is copied. The usual short
    cut, a path to the other site-packages, would show its metadata, and so every plugin's entry point, installed or
    not.
    """

    def __init__(self, root):
        self.root = root
        self.wheels = root / "wheels"
        self.python = root / "venv" / "bin" / "python"

    @property
    def site(self):
        return next((self.root / "venv").glob("lib/python*/site-packages"))

    def make(self):
        shutil.rmtree(self.root, ignore_errors=True)
        venv.create(self.root / "venv", symlinks=True)
        self.install(ROOT, CTXGC, *PLUGINS)
        (self.root / "written").write_text(self.run("ctxgc", "new-strategy", "tidy", "--directory", self.root))
        self.install(self.root / "gc_tidy")
        (self.root / "ready").touch()

    def install(self, *sources):
        """Build a wheel of each, and install it with what it declares."""
        before = set(self.wheels.glob("*.whl"))
        self.wheels.mkdir(exist_ok=True)
        done(sys.executable, "-c", BUILD, self.wheels, *sources, cwd=self.root)
        self.pip("install", "-q", "--no-deps", "--no-index", *sorted(set(self.wheels.glob("*.whl")) - before))
        for distribution in declared(self.site):
            copy(distribution, self.site)

    def pip(self, *arguments):
        return done(sys.executable, "-m", "pip", "--python", self.python, *arguments, cwd=self.root)

    def run(self, command, *arguments):
        return done(self.python.with_name(command), *arguments, cwd=self.root)


def done(*command, cwd):
    """What a command printed; fails with all of it when the command does."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(OUTSIDE)}
    arguments = [str(part) for part in command]
    ended = subprocess.run(arguments, cwd=cwd, env=environ, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert ended.returncode == 0, f"{arguments}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


def declared(site):
    """Other people's distributions that those in a directory need, and what these need in turn, as installed here."""
    there = {canonicalize_name(each.name): each for each in importlib.metadata.distributions(path=[str(site)])}
    ours = [name for name in there if name.startswith("gc-")]
    waiting, seen, found = [Requirement(f"{name}[cli,test]") for name in ours], set(), {}
    while waiting:
        needed = waiting.pop()
        name = canonicalize_name(needed.name)
        if (name, frozenset(needed.extras)) in seen:
            continue
        seen.add((name, frozenset(needed.extras)))
        if name not in there:
            found[name] = importlib.metadata.distribution(name)
        requires = (there | found)[name].requires or ()
        waiting += [each for each in map(Requirement, requires) if applies(each, needed.extras)]
    return found.values()


def applies(requirement, extras):
    return requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras))


def copy(distribution, site):
    for file in distribution.files:
        source = Path(file.locate())
        if ".." not in file.parts and source.is_file():
            (site / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, site / file)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Made once, by whichever worker comes first."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made = Environment(shared / "distributions")
    with FileLock(shared / "distributions.lock"):
        if not (made.root / "ready").exists():
            made.make()
    return made


def test_every_distribution_declares_what_it_needs(environment):
    names = {path.name.partition("-")[0] for path in environment.wheels.iterdir()}
    assert names == {"ctxgc", "gc_core", "gc_tidy", *(path.name for path in PLUGINS)}
    environment.pip("check")


def test_nothing_comes_from_the_development_install(environment):
    modules = ["ctxgc", "gc_core", "gc_core.testing", "gc_tidy", *(path.name for path in PLUGINS)]
    code = f"import sys, {', '.join(modules)}; print(*(sys.modules[name].__file__ for name in {modules}), sep='\\n')"
    files = environment.run("python", "-c", code).splitlines()
    assert [file for file in files if not Path(file).is_relative_to(environment.site)] == []
    paths = environment.run("python", "-c", "import sys; print(*sys.path, sep='\\n')").splitlines()
    assert [path for path in paths if path and Path(path).is_relative_to(ROOT)] == []


def test_what_is_installed_is_listed_and_nothing_failed_to_load(environment):
    lines = environment.run("ctxgc", "strategies").splitlines()
    rows = dict(line.split()[:2] for line in lines if line[:1].strip())
    names = ("gc_budget", "gc_hybrid", "gc_progressive", "gc_rolling", "gc_summarize", "gc_truncate")
    brought = {"tidy": "gc_tidy"} | {name: name for name in names}
    assert rows.items() >= {**brought, "none": "gc_core"}.items()
    assert "plugin" not in rows  # how the line of one that failed begins


def test_a_new_strategy_says_what_was_written_and_what_to_do_next(environment):
    said = (environment.root / "written").read_text()
    package = environment.root / "gc_tidy"
    assert all(f"  {path}\n" in said for path in package.rglob("*") if path.is_file())
    assert f"pip install -e '{package}[test]'" in said


def test_a_new_strategy_is_selected_in_toml_and_replays_a_session(environment):
    assert_it_collects(environment, ROOT / "examples" / "session.jsonl")


@pytest.mark.slow
def test_a_new_strategy_replays_a_session_of_the_corpus(environment):
    require_corpus()
    large = [path for path in openai_sessions() if path.stat().st_size > 200_000]
    assert_it_collects(environment, min(large, key=lambda path: path.stat().st_size))


def assert_it_collects(environment, session):
    config = environment.root / "gc.toml"
    config.write_text(CONFIG)
    replayed = environment.run("ctxgc", "replay", session, "--config", config, "--window", 16_000, "--json")
    document = json.loads(replayed)
    assert document["config"]["strategy"] == ["tidy"]
    assert {collection["reason"] for collection in document["pooled"]["collections"]} == {"threshold"}
    wrong = ("calls_over", "rule_breaches", "locked_bytes_missing", "repeats_not_empty")
    assert {name: document["pooled"][name] for name in wrong} == dict.fromkeys(wrong, 0)


@pytest.mark.slow
def test_the_tests_of_a_new_strategy_pass_as_they_are_written(environment):
    result = environment.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "gc_tidy")
    assert " passed" in result
    assert "skipped" not in result


def test_a_name_that_was_installed_since_is_taken(environment):
    with pytest.raises(AssertionError, match="strategy 'tidy' is already installed by 'gc_tidy'"):
        environment.run("ctxgc", "new-strategy", "tidy", "--directory", "elsewhere")
