"""Grids of cases: `make test` runs a part that has every value of each axis, `make corpus` the rest."""

import itertools

import pytest


def chequered(first, second):
    """Each value with every other one of the other axis, as on a board; the rest is slow."""
    return [
        pytest.param(one, other, marks=[pytest.mark.slow] * ((row + column) % 2))
        for (row, one), (column, other) in itertools.product(enumerate(first), enumerate(second))
    ]


def in_turn(first, second):
    """Each value of the first axis with one of the other, in turn; the rest is slow."""
    return [
        pytest.param(one, other, marks=[pytest.mark.slow] * (row % len(second) != column))
        for (row, one), (column, other) in itertools.product(enumerate(first), enumerate(second))
    ]


def every_other_pair(first, second, third):
    """Every other pair of the first two axes, as on a board, with one value of the third in turn; the rest is slow."""
    return [
        pytest.param(
            one,
            other,
            last,
            marks=[pytest.mark.slow] * ((row + column) % 2 or (row + column) // 2 % len(third) != place),
        )
        for (row, one), (column, other), (place, last) in itertools.product(
            enumerate(first), enumerate(second), enumerate(third)
        )
    ]


def half(values):
    """Every other of the values, or of the parameters that are not slow; the rest is slow."""
    left = itertools.count()
    return [_slower(each) if next(left) % 2 else each for each in map(_parameter, values) if not _is_slow(each)] + [
        each for each in map(_parameter, values) if _is_slow(each)
    ]


def _parameter(value):
    return value if isinstance(value, type(pytest.param())) else pytest.param(value)


def _is_slow(parameter):
    return any(mark.name == "slow" for mark in parameter.marks)


def _slower(parameter):
    return pytest.param(*parameter.values, marks=pytest.mark.slow)
