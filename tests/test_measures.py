"""What the real next message uses, and what of it is visible: figures counted by hand."""

from pathlib import Path

import pytest
from ctxgc.evaluation.call_measures import CallMeasures, Fit, Prompt, Recovery, Share
from ctxgc.evaluation.far_fit import FarFitJudge
from ctxgc.evaluation.identifiers import identifiers
from ctxgc.evaluation.replay import replay
from ctxgc.evaluation.replay_report import summary_of
from ctxgc.evaluation.reuse import uses_of
from ctxgc.evaluation.transcripts import Transcript, read_transcript

from gc_core import GCConfig
from gc_core.errors import SourceError
from gc_core.providers.token_counting import counter_for
from gc_core.values.messages import Request
from gc_core.values.references import Reference
from tests.support.corpus import corpus_dir, require_corpus


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": text}


def calling(name, arguments="{}", call="c1"):
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call, "type": "function", "function": function}],
    }


def answer(text, call="c1"):
    return {"role": "tool", "tool_call_id": call, "content": text}


def transcript(*messages, **fields):
    return Transcript(path=Path("made.jsonl"), messages=messages, **{"format": "openai", **fields})


def request(*messages, **fields):
    return Request(messages=messages, **{"format": "openai", **fields})


# --- the grammar ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see src/app/main.py now", {"src/app/main.py", "main.py"}),
        ("under /usr/lib/", {"/usr/lib/"}),
        ("a/b.c", set()),
        ("12/345678", set()),
        ("order ab12 cd1234", {"cd1234"}),
        ("abcde1 is too plain", set()),
        ("1234 12345 #W2378156", {"12345", "#W2378156"}),
        ("config.yaml, e.g. that", {"config.yaml"}),
        ("gc_core.meter_reading", {"gc_core", "meter_reading"}),
        ("snake_case camelCase HTTPServer plain", {"snake_case", "camelCase", "HTTPServer"}),
        ("_private a_b", set()),
        ("ends_with_dot. ...and_more", {"ends_with_dot", "and_more"}),
        ('{"path": "one\\nsecond_name"}', {"second_name"}),
        ("x" * 198 + "_y", {"x" * 198 + "_y"}),
        ("x" * 199 + "_y", set()),
        ("grüße_aus", set()),
        ("", set()),
    ],
)
def test_identifiers(text, found):
    assert identifiers(text) == found


# --- uses -----------------------------------------------------------------------------------------------------------


def session(*last, gap=20, first="The key is in file_one.txt."):
    """First message, then as many others as the gap says, then what is given."""
    return transcript(user(first), *(user("Nothing.") for _ in range(gap)), *last)


@pytest.mark.parametrize(("gap", "far"), [(19, set()), (20, {"file_one.txt", "file_one"})])
def test_a_use_is_far_when_its_last_occurrence_is_more_than_20_messages_back(gap, far):
    uses = uses_of(session(said("I read file_one.txt."), gap=gap))
    assert uses.far[gap + 1] == far
    assert uses.near[gap + 1] == {"file_one.txt", "file_one"}


def test_what_was_said_in_between_is_not_far():
    uses = uses_of(session(user("file_one.txt"), said("I read file_one.txt.")))
    assert uses.far[22] == set()


def test_identifiers_in_more_than_a_fifth_of_the_messages_do_not_count():
    many = [user("file_one.txt"), user("file_one.txt"), user("Nothing."), user("Nothing."), said("file_one.txt")]
    assert uses_of(transcript(*many)).near[4] == set()


def test_a_system_text_is_an_earlier_message():
    messages = session(said("Rule policy_77."), first="Go.").messages
    assert uses_of(transcript(*messages, system=("Mind policy_77.",))).far[21] == {"policy_77"}


def test_only_what_the_assistant_says_uses():
    uses = uses_of(session(user("file_one.txt")))
    assert uses.far == uses.near == {}


def test_names_and_arguments_of_calls_are_uses_and_thinking_is_none():
    first = "order_one, order_two, order_three"
    thought = {"type": "thinking", "thinking": "order_two", "signature": "c2VhbA=="}
    call = {"type": "tool_use", "id": "c1", "name": "order_one", "input": {"id": "order_three"}}
    made = session({"role": "assistant", "content": [thought, call]}, first=first)
    uses = uses_of(transcript(*made.messages, format="anthropic"))
    assert uses.far[21] == {"order_one", "order_three"}
    assert uses.tools == {"order_one"}


def test_the_future_needs_what_is_used_from_afar_before_it_is_shown_again():
    later = [user("file_two"), said("file_one.txt file_two")]
    uses = uses_of(session(*later, first="file_one.txt and file_two"))
    assert uses.wanted(5) == {"file_one.txt", "file_one"}
    assert uses.wanted(23) == set()


# --- sight ----------------------------------------------------------------------------------------------------------

PLACE = 21


def sight(made, recall=None, window=1_000):
    return FarFitJudge(
        uses_of(made), format=made.format, window=window, recall=recall, counter=counter_for(None, made.format)
    )


def look(made, *messages, recall=None, tokens=100, without=900):
    return sight(made, recall).fit(PLACE, request(*messages), tokens=tokens, without=without)


MADE = session(said("row_1111 and row_2222 and row_3333"), first="a row_1111 b\nc row_2222 d\ne row_3333 f")


def test_far_fit_counts_visible_identifiers_and_far_lines_those_on_a_whole_line():
    fit = look(MADE, user("a row_1111 b\n[...]"), answer("row_2222"))
    assert fit == Fit(
        far=Share(kept=2, whole=3), far_lines=Share(kept=1, whole=3), recovery=Recovery(missed=1), missed=("row_3333",)
    )


def test_a_line_may_be_indented_otherwise():
    assert look(MADE, user("  a row_1111 b  ")).far_lines == Share(kept=1, whole=3)


def test_a_string_in_json_is_a_line_where_it_was_one():
    made = session(said("row_1111"), gap=19)
    made = transcript(calling("write", '{"text": "a row_1111 b\\nrest"}'), *made.messages)
    cut = calling("write", '{"text": "a row_1111 b\\n[...]"}')
    assert look(made, cut).far_lines == Share(kept=1, whole=1)
    assert look(made, answer("a row_1111 b")).far_lines == Share(kept=0, whole=1)


def test_a_prompt_larger_than_the_window_counts_as_zero():
    whole = MADE.messages[0]
    assert look(MADE, whole, tokens=1_000).far == Share(kept=3, whole=3)
    assert look(MADE, whole, tokens=1_001).far == look(MADE, whole, tokens=1_001).far_lines == Share(kept=0, whole=3)


def test_what_was_not_sent_counts_as_zero():
    assert sight(MADE).fit(PLACE, None, tokens=0, without=900).far == Share(kept=0, whole=3)


@pytest.mark.parametrize(("without", "far", "near"), [(800, 0, 3), (801, 3, 0)])
def test_below_80_percent_of_the_window_all_uses_are_near(without, far, near):
    fit = look(MADE, MADE.messages[0], without=without)
    assert (fit.far.whole, fit.near.whole) == (far, near)


def test_system_text_apart_from_the_messages_is_visible():
    made = transcript(*session(said("policy_77")).messages, format="anthropic", system=("Mind policy_77.",))
    block = {"type": "text", "text": "Mind policy_77."}
    seen = request(user("Go."), format="anthropic", system=(block,))
    assert sight(made).fit(PLACE, seen, tokens=100, without=900).far == Share(kept=1, whole=1)


# --- recovery -------------------------------------------------------------------------------------------------------


def archive(**texts):
    def recall(item):
        if item not in texts:
            raise SourceError(item)
        return texts[item]

    return recall


def reference(first, last):
    return Reference(tokens=1_234, first=first, last=last, first_turn=1, last_turn=2, hint="read")


def test_what_a_reference_in_the_prompt_names_is_recovered_newest_first():
    recall = archive(i5="row_1111", i6="row_2222", i8="hello", i9="row_3333")
    fit = look(MADE, user(reference("i4", "i9").trace_text()), recall=recall)
    counts = [counter_for(None, "openai").count(text) for text in ("row_3333", "hello", "row_2222", "row_1111")]
    first, hello, second, third = counts
    assert fit.recovery == Recovery(
        missed=3,
        recovered=3,
        first=1,
        few=2,
        tokens=first + second + third,
        few_tokens=first + (first + hello + second),
    )


def test_a_stub_names_one_item():
    recall = archive(i5="row_1111", i6="row_2222")
    fit = look(MADE, answer(f"rest\n{reference('i5', 'i5').stub_text()}"), recall=recall)
    assert (fit.recovery.missed, fit.recovery.recovered) == (3, 1)


def test_what_no_reference_in_the_prompt_names_is_lost():
    assert look(MADE, user("Go."), recall=archive(i5="row_1111")).recovery == Recovery(missed=3)


def test_names_of_tools_need_no_recovery():
    made = transcript(calling("read_file"), *session(calling("read_file"), gap=19).messages)
    assert look(made, user("Go.")).recovery == Recovery()


def test_a_real_replay_recovers_everything():
    text = "\n".join(f"row_{1000 + number} holds {number}" for number in range(200))
    steps = [
        message
        for step in range(12)
        for message in (calling("work", call=f"d{step}"), answer("Fine. " * 30, f"d{step}"))
    ]
    made = transcript(user("Go."), calling("work"), answer(text), *steps, said("row_1003 and row_1107"))
    config = GCConfig(context_limit=2_500, output_reservation=0, strategy="gc_truncate")
    summary = replay(made, config=config).summary()
    assert (summary.far_fit, summary.far_lines, summary.far_uses, summary.recovered) == (0.0, 0.0, 2, 100.0)


# --- together -------------------------------------------------------------------------------------------------------


def test_figures_of_several_calls_are_pooled():
    fits = [
        Fit(
            far=Share(kept=1, whole=4),
            far_lines=Share(kept=0, whole=4),
            recovery=Recovery(missed=3, recovered=2, tokens=50),
        ),
        Fit(far=Share(kept=5, whole=6), far_lines=Share(kept=4, whole=6), recovery=Recovery(missed=1, first=0)),
        Fit(near=Share(kept=9, whole=10)),
    ]
    calls = [
        CallMeasures(number=number, sent=None, without=Prompt(tokens=1, cached=0), fit=fit)
        for number, fit in enumerate(fits, start=1)
    ]
    summary = summary_of(calls, window=100)
    assert (summary.far_fit, summary.far_lines, summary.far_uses) == (60.0, 40.0, 10)
    assert (summary.near, summary.near_uses) == (90.0, 10)
    assert (summary.recovered, summary.recall_tokens) == (50.0, 25.0)


def test_where_nothing_is_used_there_is_no_percentage():
    summary = summary_of([], window=100)
    assert summary.far_fit is summary.near is summary.recovered is summary.recall_tokens is None


# --- the corpus -----------------------------------------------------------------------------------------------------


def test_a_recorded_session_loses_nothing_for_good():
    require_corpus()
    made = read_transcript(corpus_dir() / "gemini-cli--failed_to_enter_planmode.jsonl")
    config = GCConfig(context_limit=32_000, output_reservation=0, strategy="gc_truncate")
    summary = replay(made, config=config).summary()
    assert summary.far_uses > 10
    assert summary.far_lines <= summary.far_fit < 100
    assert summary.recovered == 100.0
    assert summary.near >= 97
