"""However much a summary tells, its originals are read as often: counted in calls of patterns, no clock."""

import re
import sys

import pytest

from gc_core.summaries.inventions import invented_names
from gc_core.summaries.proper_names import unknown_names
from gc_core.summaries.unexplained_numbers import unknown_numbers

ORIGINAL = "The user and the agent went through the list, with 5 to 19 °C, of it.\n" * 300


def scans_of(work):
    """How often functions that hold a whole original search with a pattern."""
    count = 0

    def count_one(frame, event, called):
        nonlocal count
        is_pattern = event == "c_call" and isinstance(called.__self__, re.Pattern)
        if is_pattern and called.__name__ in {"search", "findall", "finditer", "sub", "split"}:
            count += any(isinstance(each, str) and len(each) >= len(ORIGINAL) // 2 for each in frame.f_locals.values())

    before = sys.getprofile()
    sys.setprofile(count_one)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def names(count):
    return "The agent was told of " + " and ".join(f"N{chr(97 + n // 26)}{chr(97 + n % 26)}xor" for n in range(count))


TOLD = {
    "names": lambda count: unknown_names(names(count), [ORIGINAL]),
    "fields": lambda count: [*invented_names(" ".join(f"thing{n}.field{n}x" for n in range(count)), ORIGINAL)],
    "ranges": lambda count: unknown_numbers(" ".join(f"Lines {n}01-{n}99." for n in range(1, count + 1)), [ORIGINAL]),
    "temperatures": lambda count: unknown_numbers(
        " ".join(f"It was -{n} °C." for n in range(200, 200 + count)), [ORIGINAL]
    ),
}


@pytest.mark.parametrize("sort", TOLD)
def test_more_of_a_sort_is_looked_up_in_what_was_read_once(sort):
    TOLD[sort](20)
    assert scans_of(lambda: TOLD[sort](200)) <= scans_of(lambda: TOLD[sort](20))
