"""The chart of the window's fill, drawn without a terminal."""

import pytest
from ctxgc.cli.chart import ASCII, Level, fill_chart

WINDOW = Level(name="window", tokens=100)


def rows(*fill, levels=(WINDOW,), **options):
    """Only the bars, from the top down, without labels and axes."""
    lines = fill_chart(fill, levels, height=10, **options).splitlines()[:-2]
    return [line.partition("│")[2] for line in lines]


def column(drawn, place):
    return "".join(row[place : place + 1] or " " for row in drawn)


def test_a_bar_is_as_high_as_its_tokens():
    drawn = rows(50, 100, 5)
    assert column(drawn, 0) == "┄     █████"
    assert column(drawn, 4) == "┄██████████"
    assert column(drawn, 8) == "┄" + " " * 9 + "▄"


def test_a_few_calls_get_bars_of_several_columns():
    assert rows(100)[1] == "████"


def test_a_level_is_drawn_where_no_bar_is_and_named_on_the_left():
    chart = fill_chart([70, 40], [WINDOW, Level(name="target", tokens=60)], height=10)
    (target,) = [line for line in chart.splitlines() if "target 60" in line]
    assert target.endswith("│████┄┄┄┄")


def test_levels_in_one_row_share_its_label():
    chart = fill_chart([10], [WINDOW, Level(name="threshold", tokens=80), Level(name="target", tokens=80)])
    assert "threshold 80, target 80 │" in chart


def test_a_call_that_was_not_sent_is_marked_at_the_foot():
    assert column(rows(50, 0), 4) == "┄" + " " * 9 + "×"


def test_more_calls_than_columns_are_shaded_from_the_least_to_the_most():
    drawn = rows(*[20, 80] * 100)
    assert column(drawn, 0) == "┄  ░░░░░░██"
    assert max(map(len, drawn)) <= 100


def test_a_sawtooth_shows_its_teeth():
    heights = [column(rows(*range(60, 80, 5), *range(60, 80, 5)), place).count("█") for place in range(0, 32, 4)]
    assert heights == [6, 6, 7, 7, 6, 6, 7, 7]


@pytest.mark.parametrize("fill", [(), (0,), (0, 0)])
def test_a_session_without_a_request_is_drawn_too(fill):
    assert "window 100" in fill_chart(fill, [WINDOW])


def test_no_line_is_wider_than_asked_for():
    chart = fill_chart(range(5_000), [WINDOW], width=60)
    assert max(map(len, chart.splitlines())) <= 60


def test_the_last_call_is_named_below():
    assert fill_chart(range(1, 51), [WINDOW]).splitlines()[-1].endswith("call 50")


def test_plain_characters_suffice():
    chart = fill_chart([50, 0, 100, *range(300)], [WINDOW, Level(name="target", tokens=60)], ink=ASCII)
    assert chart.isascii()
    assert "#" in chart
