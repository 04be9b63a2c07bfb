"""What passes for a number is the same everywhere."""

import pytest

from gc_core.values.validators import is_count, is_number

NO_NUMBERS = (True, False, None, "1", float("nan"), float("inf"), -float("inf"), [], 1j)


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_something_that_is_not_a_number_is_not_a_count_either(value):
    assert not is_number(value)
    assert not is_count(value, -1)


def test_a_count_is_whole_and_at_least_the_least():
    assert [value for value in (-1, 0, 1, 2, 1.0) if is_count(value, 1)] == [1, 2]
    assert is_count(0)


def test_a_number_may_be_of_any_size():
    assert all(map(is_number, (0, -1, 0.5, 10**400)))
