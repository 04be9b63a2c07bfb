"""What ``auto_expand`` makes of named things in three sets by people who had not seen it."""

import pytest

from benchmarks.named_questions import cases, outcome


def answered_and_expanded(rows):
    found = [outcome(case, "gc_budget") for case in rows]
    wanted = [each for each in found if each.case.answer]
    return sum(each.answered for each in wanted), sum(each.expanded for each in found if not each.case.answer)


def test_of_a_part_of_the_first_set_each_answer_comes_back_and_nothing_else():
    rows = cases("named_questions")[::48]
    assert answered_and_expanded(rows) == (sum(bool(case.answer) for case in rows), 0)


@pytest.mark.slow
def test_of_the_second_set_nine_of_ten_answers_come_back_and_few_others_are_expanded():
    answered, expanded = answered_and_expanded(cases("named_questions_second"))
    assert answered >= 108
    assert expanded <= 3


@pytest.mark.slow
def test_of_the_half_of_the_third_set_that_was_held_out_eight_of_ten_answers_come_back_and_a_third_of_others_at_most():
    held_out = [case for case in cases("named_questions_third") if int(case.id[1:]) % 2]
    answered, expanded = answered_and_expanded(held_out)
    assert answered >= 50
    assert expanded <= 14
