"""Which lines an edit quotes, and whether a prompt shows them: figures counted by hand."""

import json
from pathlib import Path

import pytest
from ctxgc.evaluation.call_measures import CallMeasures, Fit, Prompt, Share
from ctxgc.evaluation.far_fit import FarFitJudge
from ctxgc.evaluation.quotes import quotable_lines, quotes_of
from ctxgc.evaluation.reuse import uses_of
from ctxgc.evaluation.totals import sums_of
from ctxgc.evaluation.transcripts import Transcript

from gc_core.providers.token_counting import counter_for
from gc_core.values.messages import Request

FILE = "     1→def first_line():\n     2→    return compute(1)\n"


def user(text):
    return {"role": "user", "content": text}


def calling(name, call="c1", **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call, "type": "function", "function": function}],
    }


def answer(text, call="c1"):
    return {"role": "tool", "tool_call_id": call, "content": text}


def transcript(*messages):
    return Transcript(path=Path("made.jsonl"), messages=messages, format="openai")


def edit(old="def first_line():\n    return compute(1)", call="e1", key="old_string"):
    return calling("Edit", call, file_path="a.py", **{key: old}, new_string="def second_line(): ...")


def far(*last, gap=20):
    """A read, as many messages as the gap says, then what is given."""
    return transcript(user("Go."), calling("Read", path="a.py"), answer(FILE), *[user("Nothing.")] * gap, *last)


def fitted(made, *shown, place=-1, tokens=100, window=1_000, without=900):
    sight = FarFitJudge(uses_of(made), format="openai", window=window, recall=None, counter=counter_for(None, "openai"))
    request = Request(messages=shown, format="openai")
    return sight.fit(place % len(made.messages), request, tokens=tokens, without=without)


@pytest.mark.parametrize("shape", ["  12→{}", "12\t{}", "a/b.go:12:{}", "12:{}", "12 {}", "  12| {}", "\t{}  "])
def test_a_leading_line_number_is_not_part_of_a_line(shape):
    bare = shape != "12 {}"
    assert ("return compute(1)" in quotable_lines(shape.format("return compute(1)"))) is bare


def test_short_lines_and_blank_ones_are_never_quoted():
    assert quotable_lines("}\n\n  return\n 1234567\n") == frozenset()


def test_strings_inside_arguments_have_lines_too():
    assert "return compute(1)" in quotable_lines(json.dumps({"content": "x\n    return compute(1)\n"}))


@pytest.mark.parametrize("key", ["old_string", "old_str", "oldText", "old_text", "search", "find"])
def test_an_edit_quotes_the_lines_that_it_replaces(key):
    made = far(edit(key=key))
    [lines] = quotes_of(made).edits[len(made.messages) - 1]
    assert [(line.text, line.back) for line in lines] == [("def first_line():", 21), ("return compute(1)", 21)]


def test_several_edits_in_one_call_count_as_one():
    two = [{"oldText": "def first_line():"}, {"oldText": "    return compute(1)"}]
    made = far(calling("edit", path="a.py", edits=two))
    [lines] = quotes_of(made).edits[len(made.messages) - 1]
    assert len(lines) == 2


def test_lines_that_occur_nowhere_are_not_quotes():
    made = far(edit(old="never_stood_anywhere()"))
    assert quotes_of(made).edits == {}


def test_an_edit_misses_when_one_of_its_lines_does_not_stand_whole():
    made = far(edit())
    whole = fitted(made, answer(FILE))
    assert (whole.edits, whole.far_quotes, whole.near_quotes) == (
        Share(kept=1, whole=1),
        Share(kept=2, whole=2),
        Share(),
    )
    cut = fitted(made, answer("def first_line():\n return compute(1) # and more"))
    assert (cut.edits, cut.far_quotes) == (Share(kept=0, whole=1), Share(kept=1, whole=2))


def test_names_alone_please_nobody():
    made = far(edit())
    assert fitted(made, answer("first_line compute return def")).edits == Share(kept=0, whole=1)


def test_near_quotes_are_counted_separately():
    made = far(edit(), gap=19)
    assert fitted(made, answer(FILE)).near_quotes == Share(kept=2, whole=2)


def test_edits_count_before_the_window_is_full_and_far_quotes_do_not():
    fit = fitted(far(edit()), answer(FILE), without=800)
    assert (fit.edits, fit.far_quotes) == (Share(kept=1, whole=1), Share())


def test_a_prompt_over_the_window_misses_everything():
    assert fitted(far(edit()), answer(FILE), tokens=1_001).edits == Share(kept=0, whole=1)


def test_a_miss_costs_the_prompt_again_and_what_holds_the_lines():
    counter = counter_for(None, "openai")
    fit = fitted(far(edit()), user("Go."), tokens=200)
    assert fit.miss_price == pytest.approx(0.1 * 200 + 1.25 * (counter.count(FILE) + 60))
    assert fitted(far(edit()), answer(FILE)).miss_price == 0


def test_lines_of_other_arguments_that_come_from_afar_are_verbatim_reuse():
    command = "pytest tests/test_everything.py -k slow"
    made = transcript(
        user("Go."),
        calling("Bash", command=command),
        answer("ok"),
        *[user("Nothing.")] * 20,
        calling("Bash", command=command),
    )
    assert quotes_of(made).reused == {23: frozenset({command})}
    assert fitted(made, user(command)).reuse == Share(kept=1, whole=1)
    assert fitted(made, user(f"{command} -x")).reuse == Share(kept=0, whole=1)


def test_the_text_that_an_edit_replaces_is_not_verbatim_reuse():
    long = "    return compute(1) + compute(2)"
    made = transcript(user("Go."), user(long), *[user("Nothing.")] * 20, edit(old=long))
    assert quotes_of(made).reused == {}


def test_figures_of_several_calls_are_pooled():
    fits = [Fit(edits=Share(kept=1, whole=1)), Fit(edits=Share(kept=0, whole=3), miss_price=50.0)]
    calls = [CallMeasures(number=1, sent=None, fit=fit, without=Prompt(tokens=100, cached=0)) for fit in fits]
    summary = sums_of(calls, window=100).summary()
    assert (summary.edits_that_miss, summary.edits) == (75.0, 4)
