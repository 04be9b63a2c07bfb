"""The public surface: what ``gc_core.__all__`` lists is there, says what it does, and costs nothing to import."""

import ast
import inspect
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import gc_core

PUBLIC = [getattr(gc_core, name) for name in gc_core.__all__]
CLASSES = [value for value in PUBLIC if inspect.isclass(value)]
FUNCTIONS = [value for value in PUBLIC if inspect.isfunction(value)]

MOST_MODULES = 45
"""After ``import gc_core``, Python's own included, which are 33."""

MOST_MODULES_OF_A_SESSION = 423
"""After ``from gc_core import GCSession``, which leaves out what a first request does not take."""

AT_IMPORT = textwrap.dedent("""
    import sys

    def refuse(event, arguments):
        if event.startswith(("socket.", "urllib.", "subprocess.")):
            raise AssertionError(f"{event} while importing")

    sys.addaudithook(refuse)
    import gc_core
    print(*sys.modules)
    gc_core.GCSession
    print(*sys.modules)
""")

FIRST_REQUEST = textwrap.dedent("""
    import sys
    from gc_core import GCConfig, GCSession

    session = GCSession(GCConfig(strategy="gc_budget", context_limit=8_000, output_reservation=1_000))
    session.append({"role": "user", "content": "Why does the login test fail?"})
    session.pre_send()
    print(*sys.modules)
""")


def members():
    for owner in CLASSES:
        for name, value in vars(owner).items():
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if not name.startswith("_") and inspect.isfunction(function):
                yield pytest.param(function, id=f"{owner.__name__}.{name}")


def test_public_names_are_sorted_and_each_is_there_once():
    assert gc_core.__all__ == sorted(set(gc_core.__all__))


def test_what_can_be_imported_from_the_package_is_public():
    there = {name for name, value in vars(gc_core).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert there == set(gc_core.__all__)
    assert set(gc_core.__all__) <= set(dir(gc_core))


def test_type_checkers_know_the_names_by_the_rooms_from_which_they_are_imported():
    stub = ast.parse(Path(gc_core.__file__).with_suffix(".pyi").read_text())
    imported = {name.name: each.module for each in stub.body if isinstance(each, ast.ImportFrom) for name in each.names}
    (listed,) = (ast.literal_eval(each.value) for each in stub.body if isinstance(each, ast.Assign))
    assert imported == gc_core._HOMES
    assert listed == gc_core.__all__


def test_a_name_that_is_not_public_is_named():
    with pytest.raises(AttributeError, match="'gc_core' has no attribute 'GCSesion'"):
        gc_core.GCSesion  # noqa: B018 - asking is the point


@pytest.mark.parametrize("value", [*CLASSES, *FUNCTIONS], ids=lambda value: value.__name__)
def test_every_public_class_and_function_says_what_it_promises(value):
    assert len((value.__doc__ or "").split()) > 2


@pytest.mark.parametrize("function", list(members()))
def test_every_public_method_says_what_it_promises(function):
    assert (function.__doc__ or "").strip()


def loaded_by(program):
    """The modules that a program prints, line by line, but for the one that Debian's Python loads by itself."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - Python itself
    assert done.returncode == 0, done.stderr
    return [set(line.split()) - {"sitecustomize"} for line in done.stdout.splitlines()]


def test_importing_opens_no_connection_and_loads_nothing_that_is_not_needed():
    alone, with_session = loaded_by(AT_IMPORT)
    assert {name for name in alone if name.startswith("gc_core.")} == set()
    assert len(alone) <= MOST_MODULES
    assert "gc_core.session.session" in with_session
    later = {"asyncio", "cattrs", "filelock", "importlib.metadata", "sqlite3", "structlog", "tiktoken"}
    assert not with_session & {*later, "typer", "plotext", "requests"}
    assert len(with_session) <= MOST_MODULES_OF_A_SESSION


def test_the_first_request_of_a_session_loads_nothing_that_takes_long_and_is_not_needed():
    (loaded,) = loaded_by(FIRST_REQUEST)
    assert not loaded & {"asyncio", "cattrs", "filelock", "litellm", "sqlite3", "structlog", "tiktoken"}
    assert "gc_core.summaries.llm" not in loaded


def test_the_history_of_a_session_is_listed_without_one(tmp_path):
    with gc_core.GCSession(directory=tmp_path / "session") as session:
        session.append({"role": "user", "content": "Hello."})
    arguments = ["ctxgc", "history", str(tmp_path / "session")]
    program = "\n".join(
        [
            "import sys",
            "from ctxgc.cli.app import app",
            f"sys.argv = {arguments!r}",
            "app(standalone_mode=False)",
            "print(*sys.modules)",
        ]
    )
    (loaded,) = loaded_by(program)
    assert "gc_core.storage.history" in loaded
    assert not loaded & {"cattrs", "pluggy", "tiktoken", "gc_core.providers", "gc_core.window.context"}
