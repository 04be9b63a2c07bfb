"""What holds for a run of all tests."""

import gc

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """
    What is imported and collected stays to the end: Python's garbage collector need not look through it, which takes a
    quarter of the time of collecting, and a twentieth of the tests' own.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
