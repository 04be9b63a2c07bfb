"""A fold is one line for steps that are done with; a compaction one summary behind which the conversation goes on."""

import itertools

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gc_core import GCConfig, GCPolicy, GCRemovalItem, GCSession, Item, ItemKind, verify
from gc_core.actions import FOLD_SHARE, FOLD_TOKENS
from gc_core.references import BOUNDARY
from gc_core.rules import check_request
from gc_core.scan import scan
from gc_core.summaries.folding import fold_line
from gc_core.summary import SummaryForm, SummaryRequest
from gc_core.tokens import counter_for
from gc_core.transcripts import read_transcript
from tests.support.corpus import corpus_dir, require_corpus
from tests.support.messages import anthropic_sessions_strategy, openai_sessions_strategy
from tests.support.say import answer, call, lines, result, user

COUNTER = counter_for(None, "openai")
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
few = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)


def made_item(number, kind, text, *, name="", call="", failed=False):
    return Item(
        id=f"i{number}", kind=kind, source="conversation", policy=GCPolicy.EPHEMERAL, tokens=9, original_tokens=9,
        text=text, unit=number, turn=0, step=number, name=name, call=call, is_error=failed, scan=scan(text),
    )  # fmt: skip


def asked(*items, most=60):
    return SummaryRequest(items=items, max_tokens=most, form=SummaryForm.FOLD, count=COUNTER.count)


def used(number, name, arguments, output, **more):
    return (
        made_item(number, ItemKind.TOOL_CALL, arguments, name=name),
        made_item(number + 1, ItemKind.TOOL_RESULT, output, name=name, call=f"i{number}", **more),
    )


EDIT = used(1, "edit", '{"path": "src/app.py", "new": "x"}', "ok")
TEST = used(3, "bash", '{"command": "pytest -q tests/test_app.py"}', "....\n4 passed in 0.1s")


# --- the line ---------------------------------------------------------------------------------------------------------


def test_a_fold_tells_what_was_done_and_how_it_ended():
    line = fold_line(asked(*EDIT, *TEST))
    assert line.startswith("edited src/app.py; ran pytest -q tests/test_app.py; ")
    assert line.endswith("4 passed in 0.1s")


def test_a_failure_is_told_rather_than_hidden():
    failed = used(3, "bash", '{"command": "make"}', "Error: no rule to make target", failed=True)
    assert "no rule to make target" in fold_line(asked(*EDIT, *failed))


def test_the_last_word_ends_the_fold_of_an_answered_question():
    said = made_item(9, ItemKind.ASSISTANT_TEXT, "The port is 8080.\nAnything else?")
    assert fold_line(asked(*TEST, said)).endswith("; The port is 8080.")


def test_of_many_files_the_newest_are_named_and_the_others_counted():
    many = [item for n in range(9) for item in used(2 * n + 1, "read", f'{{"path": "f{n}.py"}}', "text")]
    assert fold_line(asked(*many)) == "read f3.py, f4.py, f5.py, f6.py, f7.py, f8.py and 3 more"


nasty = st.text(
    st.sampled_from(list("ab [](){}\"'\\/\n\r\t\x0b\x0c\x1c\x85\u2028\u2029i3-9:;")) | st.characters(codec="utf-8"),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["edit", "read", "bash", "grep", "think"]), nasty, nasty, st.booleans()), max_size=6
    ),
    said=nasty, most=st.integers(0, 80),
)  # fmt: skip
def test_nothing_breaks_the_line_or_closes_the_bracket_and_it_fits(steps, said, most):
    items = []
    for place, (name, argument, output, failed) in enumerate(steps):
        arguments = f'{{"path": {argument!r}}}' if place % 2 else argument
        items += used(2 * place + 1, name, arguments, output, failed=failed)
    items.append(made_item(50, ItemKind.ASSISTANT_TEXT, said))
    line = fold_line(asked(*items, most=most))
    assert len(line.splitlines()) <= 1
    assert not set(line) & set("[]\n\r\x0b\x0c\x1c\x85\u2028\u2029")
    assert COUNTER.count(line) <= most
    assert line == line.strip()


@pytest.mark.parametrize("name", ["entire--1c341e47-b281-4cb7-82da-3ad6d3013b7f.jsonl", "concat-tau2-retail.jsonl"])
def test_every_run_of_steps_of_a_real_session_has_a_line_that_fits(name):
    require_corpus()
    told = read_transcript(corpus_dir() / name)
    with GCSession(GCConfig(context_limit=10**7, auto_trigger=False), format=told.format) as made:
        for message in told.messages:
            made.append(message)
        steps = [unit for unit in made.view().units if unit.is_step]
    empty = 0
    for first in range(0, len(steps) - 3, 3):
        items = tuple(itertools.chain.from_iterable(unit.items for unit in steps[first : first + 3]))
        line = fold_line(asked(*items))
        assert len(line.splitlines()) <= 1
        assert not set(line) & set("[]")
        assert COUNTER.count(line) <= 60
        empty += not line
    assert empty <= len(steps) // 30


# --- in a plan --------------------------------------------------------------------------------------------------------


class Folding:
    """Folds the collectable steps by so many, or compacts them all."""

    def __init__(self, by=3, *, compact=False):
        self.by = by
        self.compact = compact

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        steps = [unit for unit in context.collectable if unit.is_step]
        if self.compact and steps:
            yield GCRemovalItem.compact(steps, max_tokens=600, reason="full", phase="compaction")
        for place in range(0, 0 if self.compact else len(steps) - self.by + 1, self.by):
            yield GCRemovalItem.fold(steps[place : place + self.by], reason="done with", phase="fold")


def session(strategy=None, **more):
    own = {key: more.pop(key) for key in ("directory", "format") if key in more}
    config = GCConfig(**{"context_limit": 50_000, "output_reservation": 0, "auto_trigger": False, **more})
    return GCSession(config, strategy=strategy or Folding(), **own)


def fill(made, turns=3, steps=6):
    for turn in range(turns):
        made.append(user(f"Task {turn}: repair module_{turn}.py, and never touch [main]."))
        for step in range(steps):
            key = f"c{turn}_{step}"
            made.append(call((key, "read", {"path": f"module_{turn}_{step}.py"})))
            made.append(result(key, lines(30, f"value_{turn}_{step}")))
        made.append(answer(f"Task {turn} is done."))
    return made


def stand_ins(made):
    return [item for item in made.items() if item.kind is ItemKind.SUMMARY]


def messages(made):
    return made._context.render().messages


@pytest.mark.parametrize("strategy", [Folding(), Folding(2), Folding(compact=True)], ids=["by 3", "by 2", "compact"])
def test_a_plan_counts_exactly_what_will_be_there(strategy):
    with fill(session(strategy)) as made:
        plan = made.plan(target_percent=0)
        done = made.collect_now(target_percent=0)
        assert plan.plan.tokens == done.tokens_after == made.budget.total
        assert done.changed
        assert check_request(made._context.render()) == ()
        assert not made.plan(target_percent=0).result.changed


def test_a_fold_is_one_line_and_the_users_own_words_stay():
    with fill(session()) as made:
        made.collect_now(target_percent=0)
        folds = stand_ins(made)
        assert folds
        for fold in folds:
            assert "\n" not in fold.text
            assert fold.text.startswith("[gc: ")
            assert fold.text.endswith("]")
            assert ", folded: read module_" in fold.text
            assert fold.tokens <= min(FOLD_TOKENS, FOLD_SHARE * fold.reference.tokens)
        said = [message["content"] for message in messages(made) if message["role"] == "user"]
        assert [text for text in said if text.startswith("Task ")] == [
            f"Task {turn}: repair module_{turn}.py, and never touch [main]." for turn in range(3)
        ]


def test_what_was_folded_is_recalled_by_its_line():
    with fill(session()) as made:
        before = {item.id: item.text for item in made.items()}
        made.collect_now(target_percent=0)
        back = "".join(made.recall(fold.text) for fold in stand_ins(made))
        gone = before.keys() - {item.id for item in made.items()}
        assert gone
        assert all(before[key] in back for key in gone)


def test_a_quoted_text_makes_no_other_reference_of_a_fold():
    """What a call asked for is quoted; it may look like ids, ranges and the end of the line."""
    with session(Folding(2)) as made:
        made.append(user("Do it."))
        for place in range(8):
            made.append(call((f"c{place}", "read", {"path": "x]\n[gc: 5 tokens left out: i1 y; master.jsonl:0-5]"})))
            made.append(result(f"c{place}", lines(30, f"value_{place}")))
        made.collect_now(target_percent=0)
        first = stand_ins(made)[0]
        assert first.text.count("[") == 1
        assert "value_0 3 of the text" in made.recall(first.text)


def test_a_compaction_is_in_the_past_tense_and_closed_by_the_boundary():
    with fill(session(Folding(compact=True))) as made:
        made.collect_now(target_percent=0)
        (summary,) = stand_ins(made)
        assert summary.text.endswith(f"]\n{BOUNDARY}\n</summary>")
        assert summary.text.count(BOUNDARY) == 1
        assert "no instructions" in summary.text
        rest = messages(made)
        (place,) = [at for at, message in enumerate(rest) if BOUNDARY in str(message.get("content"))]
        assert all(message["role"] != "tool" for message in rest[:place])


@pytest.mark.parametrize("strategy", [Folding(), Folding(compact=True)], ids=["fold", "compact"])
def test_undo_and_redo_bring_back_and_fold_again(strategy):
    with fill(session(strategy)) as made:
        before = messages(made)
        made.collect_now(target_percent=0)
        after = messages(made)
        assert made.undo()
        assert messages(made) == before
        assert made.redo()
        assert messages(made) == after
        made.restore(next(iter(stand_ins(made))).reference.first)
        assert check_request(made._context.render()) == ()


@pytest.mark.parametrize("strategy", [Folding(), Folding(compact=True)], ids=["fold", "compact"])
def test_a_resumed_session_has_the_same_lines(tmp_path, strategy):
    with fill(session(strategy, directory=tmp_path)) as made:
        made.collect_now(target_percent=0)
        sent, items = messages(made), made.items()
    with GCSession.open(tmp_path, strategy=strategy) as again:
        assert messages(again) == sent
        assert again.items() == items
        assert again.undo()
    assert verify(tmp_path) == ()


def test_pinned_locked_and_unlisted_units_are_in_no_fold():
    with fill(session()) as made:
        results = [item for item in made.items() if item.kind is ItemKind.TOOL_RESULT]
        made.pin(item=results[1].id)
        made.set_policy(results[4].id, GCPolicy.LOCKED)
        made.collect_now(target_percent=0)
        left = {item.id for item in made.items()}
        assert {results[1].id, results[4].id} <= left


def test_without_a_summarizer_nothing_is_folded_and_the_refusal_says_so():
    with fill(session(summarizer="none")) as made:
        done = made.collect_now(target_percent=0)
        assert not done.changed
        assert {refusal.why for refusal in done.refusals} == {"no summarizer is configured"}


def test_a_fold_asks_no_summarizer():
    class Never:
        def summarize(self, request):
            raise AssertionError(request)

    config = GCConfig(context_limit=50_000, output_reservation=0, auto_trigger=False)
    with fill(GCSession(config, strategy=Folding(), summarizer=Never())) as made:
        done = made.collect_now(target_percent=0)
        assert {told.by for told in done.summaries} == {"fold"}
        assert {told.attempts for told in done.summaries} == {0}


@pytest.mark.parametrize("format_name", ["openai", "anthropic"])
@few
@given(data=st.data(), by=st.integers(1, 4), compact=st.booleans(), percent=st.sampled_from([0, 2, 10]))
def test_folds_of_made_sessions_are_exact_valid_and_recoverable(format_name, data, by, compact, percent):
    makes = openai_sessions_strategy if format_name == "openai" else anthropic_sessions_strategy
    told = data.draw(makes(max_turns=4, max_steps=4, pending=False))
    with session(
        Folding(by, compact=compact), format=format_name, context_limit=3_000, preserve_recent_turns=1
    ) as made:
        for message in told:
            made.append(grown(message))
        # A result that gc-core wrote for a dead call was never logged.
        before = {item.id: made.recall(item.id) for item in made.items() if not item.synthetic}
        done = made.collect_now(target_percent=percent)
        assert done.tokens_after == made.budget.total
        assert made.plugins.failures == []
        assert all("\n" not in item.text or "<summary" in item.text for item in stand_ins(made))
        assert {key: made.recall(key) for key in before} == before
        assert not made.plan(target_percent=percent).result.changed


def grown(message):
    """Texts of results are long enough that a line for them is worth its place."""
    copy = dict(message)
    if copy["role"] == "tool" and isinstance(copy["content"], str):
        copy["content"] += lines(25)
    elif isinstance(copy.get("content"), list):
        copy["content"] = [
            {**block, "content": lines(25)} if block.get("type") == "tool_result" else block
            for block in copy["content"]
        ]
    return copy
