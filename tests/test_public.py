"""The public surface: what ``gc_core.__all__`` lists is there, says what it does, and costs nothing to import."""

import inspect
import subprocess
import sys
import textwrap

import pytest

import gc_core

PUBLIC = [getattr(gc_core, name) for name in gc_core.__all__]
CLASSES = [value for value in PUBLIC if inspect.isclass(value)]
FUNCTIONS = [value for value in PUBLIC if inspect.isfunction(value)]

MOST_MODULES = 410
"""Python's own included, which are 33."""

AT_IMPORT = textwrap.dedent("""
    import sys

    def refuse(event, arguments):
        if event.startswith(("socket.", "urllib.", "subprocess.")):
            raise AssertionError(f"{event} while importing")

    sys.addaudithook(refuse)
    import gc_core
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


@pytest.mark.parametrize("value", [*CLASSES, *FUNCTIONS], ids=lambda value: value.__name__)
def test_every_public_class_and_function_says_what_it_promises(value):
    assert len((value.__doc__ or "").split()) > 2


@pytest.mark.parametrize("function", list(members()))
def test_every_public_method_says_what_it_promises(function):
    assert (function.__doc__ or "").strip()


def test_importing_opens_no_connection_and_loads_nothing_that_is_not_needed():
    command = [sys.executable, "-c", AT_IMPORT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - Python itself
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "gc_core" in loaded
    later = {"asyncio", "cattrs", "filelock", "importlib.metadata", "sqlite3", "structlog", "tiktoken"}
    assert not loaded & {*later, "typer", "plotext", "requests"}
    assert len(loaded) <= MOST_MODULES
