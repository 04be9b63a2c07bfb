"""Which files the agent works on, which of their lines were superseded, and what of them a collection leaves."""

import itertools
import json

import pytest
from ctxgc.evaluation.quotes import quotable_lines
from hypothesis import given, settings
from hypothesis import strategies as st

from gc_core import GCConfig, GCRemovalItem, GCSession
from gc_core.relevance.name_scan import scan
from gc_core.relevance.named_blocks import named_blocks
from gc_core.relevance.working_set import code_lines, kept_stretches
from gc_core.values.items import Form, ItemKind

NUMBERS = itertools.count(1)


def lines(first, last, word="compute"):
    return "\n".join(f"    value_{number} = {word}({number}, {number + 1})" for number in range(first, last))


def numbered(text, first=1):
    return "\n".join(f"{number:6d}→{line}" for number, line in enumerate(text.split("\n"), first))


class Agent:
    """Says what the agent does, one step each."""

    def __init__(self, strategy="none", **config):
        limits = {"context_limit": 1_000_000, "output_reservation": 0, "auto_trigger": False} | config
        self.session = GCSession(GCConfig(**limits), format="openai", strategy=strategy)
        self.session.append({"role": "user", "content": "Mend it."})

    def does(self, name, result, **arguments):
        call = f"c{next(NUMBERS)}"
        function = {"name": name, "arguments": json.dumps(arguments)}
        self.session.pre_send()
        self.session.post_turn(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": call, "type": "function", "function": function}],
            }
        )
        self.session.append({"role": "tool", "tool_call_id": call, "content": result})
        return self

    def reads(self, path, text, **arguments):
        return self.does("Read", numbered(text), file_path=path, **arguments)

    def edits(self, path, old, new):
        return self.does("Edit", "The file was updated.", file_path=path, old_string=old, new_string=new)

    def rests(self, steps=3):
        for step in range(steps):
            self.does("Bash", f"On step {step} all was quiet.", command=f"sleep {step}")
        return self

    @property
    def view(self):
        return self.session.view()

    @property
    def working(self):
        return self.view.working_set

    def text_of(self, item):
        return next(each for each in self.session.items() if each.id == item.id).text

    def result_of(self, path):
        call = next(item for item in self.session.items() if item.kind is ItemKind.TOOL_CALL and path in item.text)
        return next(item for item in self.session.items() if item.call == call.id)


@pytest.fixture
def agent():
    with_agent = Agent()
    yield with_agent
    with_agent.session.close()


class Trims:
    """Leaves out all that is superseded, and nothing else."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        for item in context.working_set.superseded:
            yield GCRemovalItem.trim(item, reason="shown again")


def test_results_of_reading_and_changing_a_file_and_what_was_written_are_in_the_working_set(agent):
    agent.reads("a.py", lines(0, 9)).edits("a.py", "old line here", "new line here").does("Bash", "out", command="ls")
    held = [(item.kind.value, item.name) for item in agent.session.items() if agent.working.holds(item)]
    assert held == [("tool_result", "Read"), ("tool_call", "Edit"), ("tool_result", "Edit")]


@pytest.mark.parametrize("command", ["cat a.py", "sed -n '1,9p' a.py", "cd src && head -50 a.py"])
def test_a_view_by_a_shell_command_is_a_view(agent, command):
    agent.does("Bash", lines(0, 9), command=command)
    assert [file.name for file in agent.working.files] == ["a.py"]


def test_a_search_that_shows_lines_of_a_file_is_not_a_view(agent):
    agent.does("Bash", f"a.py:3:{lines(3, 4)}", command="grep -n value_3 a.py")
    assert agent.working.files == ()


def test_a_file_is_one_whether_its_whole_path_is_named_or_the_end_of_it(agent):
    agent.reads("/code/src/a.py", lines(0, 9)).reads("src/a.py", lines(20, 29)).reads("/code/other/a.py", lines(0, 3))
    assert sorted(file.name for file in agent.working.files) == ["/code/other/a.py", "/code/src/a.py"]


def test_the_file_longest_untouched_shrinks_first_and_a_touch_counts(agent):
    for name in ("a.py", "b.py", "c.py"):
        agent.reads(name, lines(0, 9, name[0]))
    agent.edits("a.py", lines(1, 2, "a"), "x = 1").rests()
    assert [file.name for file in agent.working.files] == ["b.py", "c.py", "a.py"]


def test_a_large_file_shrinks_sooner_than_its_idle_steps_say(agent):
    agent.reads("small.py", lines(0, 9)).reads("large.py", lines(0, 400)).rests()
    assert [file.name for file in agent.working.files] == ["large.py", "small.py"]


def test_files_beyond_a_room_are_as_few_as_leave_the_others_in_it(agent):
    for name in ("a.py", "b.py", "c.py"):
        agent.reads(name, lines(0, 30, name[0]))
    agent.rests()
    tokens = agent.working.files[0].open_tokens
    assert [file.name for file in agent.working.beyond(10 * tokens)] == []
    assert [file.name for file in agent.working.beyond(2 * tokens + 9)] == ["a.py"]
    assert [file.name for file in agent.working.beyond(0)] == ["a.py", "b.py", "c.py"]


def test_a_unit_keeps_a_file_in_use_and_no_other(agent):
    agent.reads("a.py", lines(0, 30, "a")).reads("b.py", lines(0, 30, "b")).rests()
    room = agent.working.files[0].open_tokens + 9
    first, second = [unit for unit in agent.view.units if any(item.name == "Read" for item in unit.items)]
    assert not agent.working.keeps(first, room)
    assert agent.working.keeps(second, room)


def test_how_a_run_failed_is_held_until_it_passes(agent):
    agent.does("Bash", "1 failed, 3 passed", command="pytest -q tests/a.py")
    failed = agent.result_of("pytest")
    assert agent.working.holds(failed)
    agent.does("Bash", "4 passed", command="pytest -q tests/a.py")
    assert not agent.working.holds(failed)


def test_the_newest_plan_is_held_and_older_ones_are_not(agent):
    agent.does("TodoWrite", "ok", todos=["first thing"]).does("TodoWrite", "ok", todos=["second thing"])
    held = [item.text for item in agent.session.items() if item.name == "TodoWrite" and agent.working.holds(item)]
    assert len(held) == 1
    assert "second" in held[0]


# --- what was superseded --------------------------------------------------------------------------------------------


def test_lines_that_a_later_view_repeats_leave_and_every_other_line_stays_in_order():
    agent = Agent(Trims())
    agent.reads("a.py", lines(0, 40)).reads("a.py", lines(20, 60)).rests()
    older = agent.result_of("a.py")
    agent.session.collect_now(target_percent=0)
    text = agent.text_of(older)
    assert list(code_lines(text.partition("\n[...]")[0])) == list(code_lines(lines(0, 20)))
    assert "value_30" not in text
    assert f"{older.id} Read" in text
    agent.session.close()


def test_a_view_of_another_file_repeats_nothing(agent):
    agent.reads("a.py", lines(0, 40)).reads("b.py", lines(0, 40)).rests()
    assert agent.working.superseded == ()


def test_a_few_repeated_lines_are_not_worth_their_marks(agent):
    agent.reads("a.py", lines(0, 40)).reads("a.py", lines(36, 80)).rests()
    assert agent.working.superseded == ()


def test_the_old_text_of_an_edit_leaves_and_its_new_text_stays_in_a_json_object():
    agent = Agent(Trims())
    agent.edits("a.py", lines(0, 40, "old"), lines(0, 40, "new")).rests()
    edit = next(item for item in agent.session.items() if item.name == "Edit")
    agent.session.collect_now(target_percent=0)
    arguments = json.loads(agent.text_of(edit))
    assert arguments["new_string"] == lines(0, 40, "new")
    assert arguments["file_path"] == "a.py"
    assert "value_3" not in arguments["old_string"]
    agent.session.close()


texts = st.lists(st.sampled_from(["", "}", "x = 1", *(f"    line_number_{n} = {n}" for n in range(12))]), max_size=30)


@settings(max_examples=60)
@given(text=texts, repeated=st.frozensets(st.sampled_from([f"line_number_{n} = {n}" for n in range(12)])))
def test_stretches_hold_every_line_that_is_not_repeated_and_none_that_is(text, repeated):
    joined = "\n".join(text)
    kept = [joined[start:end] for start, end in kept_stretches(joined, repeated)]
    stays = [line for stretch in kept for line in code_lines(stretch)]
    assert stays == [line for line in code_lines(joined) if line not in repeated]


# --- blocks ---------------------------------------------------------------------------------------------------------


def test_blocks_surround_the_names_that_were_used_and_within_their_room():
    text = lines(0, 200)
    blocks = named_blocks(text, scan(text), frozenset({"value_100"}), 2_000)
    assert len(blocks) == 1
    shown = text[blocks[0][0] : blocks[0][1]]
    assert "value_100" in shown
    assert "value_95" in shown
    assert "value_150" not in shown
    assert named_blocks(text, scan(text), frozenset({"value_100"}), 20) == []


def test_a_name_on_every_line_distinguishes_nothing():
    text = lines(0, 50, "compute_all")
    assert named_blocks(text, scan(text), frozenset({"compute_all"}), 2_000) == []


# --- the strategies -------------------------------------------------------------------------------------------------

WINDOW = 16_000
KEEPING = ("gc_rolling", "gc_progressive", "gc_budget", "gc_summarize", "gc_hybrid")


def worked(strategy, path="in_use.py"):
    """A file that is edited again and again, among much else that is read and run."""
    agent = Agent(strategy, context_limit=WINDOW, auto_trigger=True)
    agent.reads(path, lines(0, 60))
    for step in range(40):
        agent.reads(f"other_{step}.py", lines(0, 25, f"other_{step}"))
        agent.does("Bash", "\n".join(f"{n} ok {step}" for n in range(60)), command=f"make part_{step}")
        if step % 4 == 0:
            agent.edits(path, f"    value_{step} = compute({step}, {step + 1})", f"    value_{step} = mended({step})")
    return agent


@pytest.mark.parametrize("strategy", KEEPING)
def test_a_file_that_the_agent_goes_on_editing_stays_whole(strategy):
    agent = worked(strategy)
    request = agent.session.pre_send()
    shown = {line for message in request.messages for line in quotable_lines(json.dumps(message["content"]))}
    texts = "\n".join(str(message.get("content")) for message in request.messages)
    missing = [number for number in range(60) if f"value_{number} = compute({number}, {number + 1})" not in texts]
    assert missing == [], (strategy, len(shown))
    assert request.tokens <= WINDOW
    agent.session.close()


@pytest.mark.parametrize("strategy", ["gc_rolling", "gc_progressive"])
def test_no_nursery_takes_what_the_working_set_holds(strategy):
    agent = worked(strategy)
    whole = [item for item in agent.session.items() if agent.working.holds(item) and item.form is Form.WHOLE]
    assert whole
    young = {item.id for item in agent.view.young}
    assert not young & {item.id for item in agent.session.items() if agent.working.holds(item)}
    agent.session.close()
