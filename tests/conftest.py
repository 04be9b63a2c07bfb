"""What holds for a run of all tests."""

import gc
import logging
import os
import tempfile

import pytest

from tests.support.corpus import skipped_for

os.environ["PYTHONDONTWRITEBYTECODE"] = ""
"""The processes that tests start keep what they compiled: there are a hundred of them."""


_STATE = tempfile.TemporaryDirectory(prefix="gc-state-")
os.environ["XDG_STATE_HOME"] = _STATE.name
"""Agents' hooks, gateways and sessions of whoever runs the tests stay out of them."""


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """
    What is imported and collected stays to the end: Python's garbage collector need not look through it, which takes a
    quarter of the time of collecting, and a twentieth of the tests' own. And it need not look after every 700 objects,
    which takes a tenth of it: a session makes so many at every message.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(300_000)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol():
    """A command that is run in a test's process sets what is logged; the next test finds it as it was."""
    own = logging.getLogger("gc_core")
    level = own.level
    try:
        return (yield)
    finally:
        own.setLevel(level)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple):
        report.longrepr = skipped_for(report.longrepr)
    return report
