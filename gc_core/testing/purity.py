"""Checks that code does not depend on chance or the clock, by running it at other moments."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

MOMENTS = (1.0, 123_456_788.5)
"""Seconds that clocks show: an odd and an even one, of different hours, days and years."""

_CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")


@contextlib.contextmanager
def at_moment(moment: float) -> Iterator[None]:
    """Set the clocks and the random numbers to that moment; both are restored afterwards."""
    state = random.getstate()
    readings = {name: int(moment * 10**9) if name.endswith("_ns") else moment for name in _CLOCKS}
    clocks: dict[str, Any] = {name: mock.Mock(return_value=reading) for name, reading in readings.items()}
    random.seed(moment)
    try:
        with mock.patch.multiple(time, **clocks):
            yield
    finally:
        random.setstate(state)
