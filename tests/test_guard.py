"""The re-read guard: words that ask for what was collected, calls that go in circles, and an end to both."""

import ast
import functools
import json
import re
from pathlib import Path

import attrs
import pytest
from ctxgc.evaluation.transcripts import read_transcript

import gc_core
from gc_core import GCConfig, GCPolicy, GCSession
from gc_core.errors import RereadLoopError
from gc_core.events import RereadNoticed
from gc_core.integrations.agent_tools import AgentTools
from gc_core.providers import format_named
from gc_core.relevance.circles import FURTHER, LAP, NOTICED_AT, POLLED
from gc_core.relevance.polls import PAUSE, SLOW, asks_for_state
from gc_core.relevance.provisional import PROVISIONAL
from gc_core.relevance.reread_guard import RereadGuard
from gc_core.relevance.reread_phrases import FORBIDDEN, asks_to_reread
from gc_core.values.framing import framed_result
from gc_core.values.items import Item, ItemKind
from tests.support.corpus import native_sessions, openai_sessions, require_corpus
from tests.support.inside import core_of, recorder_of, state_of, window_of
from tests.support.say import answer, call, result, rounds, schema, text_of, user
from tests.support.say import small as unwatched

small = functools.partial(unwatched, reread_guard="raise")

ROOT = Path(__file__).parents[1]
CIRCLES = "concat-intercode-sql.jsonl"
"""The one recorded session whose agent goes in circles: it sends one query up to ten times."""

# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Re-read the conversation and tell me what is left.",
        "Please reread our whole conversation history first.",
        "Review everything above before you answer.",
        "First go through all the messages, then decide.",
        "Go back through all of our earlier messages.",
        "Let me re-read everything from the start.",
        "I need to look back through the conversation to find the token.",
        "Scroll up and see what I wrote about the key.",
        "Just scroll up.",
        "Check everything we said so far.",
        "Start over from the beginning of this conversation.",
        "I'll review the previous messages again.",
        "Read all of the above again: re-read all of the above.",
        "Going back over the chat history now.",
    ],
)
def test_words_that_ask_for_the_whole_conversation_are_found(text):
    assert asks_to_reread(text)


@pytest.mark.parametrize(
    "text",
    [
        "Let me re-read main.go.",
        "I'll re-read the file and go through all the issues.",
        "Review the conversation module for bugs.",
        "Look at messages.py and review the messages table.",
        "Never re-read the conversation; go on from the summary.",
        "There is no need to go through all the messages.",
        'The phrase "re-read the conversation" is a trap.',
        "Run `scroll up` in the pager.",
        "Fixed a bug where the list would scroll up by itself in the chat view of the panel",
        "Please continue the conversation from where we left it off without asking the user.",
        "Review all uncommitted changes.",
        "Go through the messages in the inbox file and delete the spam.",
        "The scroll position resets; scroll up the page in the test.",
        "",
    ],
)
def test_ordinary_words_raise_no_alarm(text):
    assert asks_to_reread(text) == ""


def test_no_text_of_the_recorded_sessions_is_a_false_alarm():
    require_corpus()
    alarms, texts = [], 0
    for path in [*openai_sessions(), *native_sessions("anthropic"), *native_sessions("claude-code")]:
        transcript = read_transcript(path)
        form = format_named(transcript.format)
        parts = [part for message in transcript.messages for part in form.read(message)]
        said = [part.text for part in parts if part.kind in {ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT}]
        texts += len(said)
        alarms += [words for text in (*said, *transcript.system) if (words := asks_to_reread(text))]
    assert texts > 3_000
    assert alarms == []


# --- the framework's own texts ----------------------------------------------------------------------------------------

# Patterns that look for such words are no texts, and a validator names what it found; errors are read by the host, and
# summaries that are bad on purpose are in the test kit.
NOT_OURS = {"reread_phrases.py", "validation.py", "errors.py"}
DENIED = re.compile(r'\bno "[^"]*"')


def written(path):
    """Every text in a module but its docstrings, templates put together."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    # What documents a class, a function or a constant is an expression of its own.
    docs = {node.value for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(piece.value) if isinstance(piece, ast.Constant) else "x" for piece in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docs:
            yield node.value


def sources():
    core = Path(gc_core.__file__).parent
    plugins = (ROOT / "plugins").glob("*/src/**/*.py")
    paths = [path for path in (*core.rglob("*.py"), *plugins) if path.name not in NOT_OURS]
    return [path for path in paths if core / "testing" not in path.parents]


def test_no_text_of_the_framework_says_such_words():
    texts = [(path.name, DENIED.sub("", text)) for path in sources() for text in written(path)]
    assert [named for named in texts if " " in named[1] and FORBIDDEN.search(named[1])] == []
    assert len(texts) > 3_000


@pytest.mark.parametrize("strategy", ["gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid"])
def test_nothing_that_a_session_writes_into_its_window_says_such_words(strategy):
    with small(2_000, strategy=strategy) as session:
        rounds(session, 40)
        ours = [item.text for item in session.items() if item.synthetic or item.reference is not None]
        assert ours
        assert [text for text in ours if FORBIDDEN.search(text) or asks_to_reread(text)] == []


# --- warnings ---------------------------------------------------------------------------------------------------------


def collected(events=None, **more):
    """A session in which something was collected, with the recall tool."""
    session = small(3_000, on_event=events.append if events is not None else None, **more)
    session.tools([*AgentTools(session, names=["recall"]).schemas(), schema("read")])
    rounds(session, 40)
    assert state_of(session).done
    return session


def noticed(events):
    return [event for event in events if isinstance(event, RereadNoticed)]


def test_a_prompt_that_asks_for_what_was_collected_is_answered_at_the_end_of_the_next_request():
    events = []
    with collected(events) as session:
        session.append(user("Re-read the conversation and tell me the first path."))
        newest = core_of(session).rereads.newest_reference()
        request = session.pre_send()
        assert [(event.kind, event.times) for event in noticed(events)] == [("asked", 1)]
        assert 'name="gc: circle"' in str(request.messages[-1])
        assert f'recall with reference="{newest}"' in str(request.messages[-1])
        assert session.recall(newest)
        session.post_turn(call(("r1", "recall", {"reference": newest})))
        session.append(result("r1", "f3 line 1"))
        session.pre_send()
        assert len(noticed(events)) == 1


def test_nothing_is_said_where_nothing_was_collected():
    events = []
    with small(100_000, on_event=events.append) as session:
        session.append(user("Re-read the conversation."))
        for place in range(30):
            session.pre_send()
            session.post_turn(call((f"c{place}", "read", {"path": "a"})))
            session.append(result(f"c{place}", "the same"))
        session.pre_send()
        assert noticed(events) == []


def test_a_system_text_that_asks_is_noticed_after_a_collection():
    events = []
    with small(2_000, on_event=events.append) as session:
        session.system(rules="Always go through all the messages before you answer.")
        session.append(user("Do it."))
        session.pre_send()
        assert noticed(events) == []
        session.post_turn(answer("I begin."))
        rounds(session, 40)
        assert len(noticed(events)) == 1


def test_enrichment_that_asks_is_noticed_once():
    events = []
    with collected(events) as session:
        session.enrich(hint="Scroll up and read what the user said.")
        session.pre_send()
        session.post_turn(answer("I went on."))
        session.append(user("Go on."))
        session.enrich(hint="Scroll up and read what the user said.")
        session.pre_send()
        assert [event.kind for event in noticed(events)] == ["asked"]


def test_without_a_recall_tool_the_agent_is_told_the_place_in_the_log_instead():
    with small(2_000) as session:
        rounds(session, 40)
        session.append(user("Review everything above."))
        text = text_of(session.pre_send())
        assert "can be asked of the user" in text
        assert "recall with" not in text


# --- circles ----------------------------------------------------------------------------------------------------------


def circle(session, number, *, name="recall", arguments=None, said="I have to re-read the conversation.", text="same"):
    """An agent that does the same for ever; returns how many calls it got."""
    for place in range(number):
        session.pre_send()
        said_now = said(place) if callable(said) else said
        key = f"loop{place}"
        session.post_turn(call((key, name, arguments or {"reference": "i5"}), text=said_now))
        session.append(result(key, text(place) if callable(text) else text))
    return number


@pytest.mark.parametrize("said", ["I have to re-read the conversation.", None, lambda place: f"Attempt {place}."])
def test_an_agent_that_recalls_the_same_for_ever_is_ended(said):
    events = []
    with collected(events) as session:
        with pytest.raises(RereadLoopError, match="goes in circles") as ended:
            circle(session, 100, said=said)
        assert ended.value.times <= NOTICED_AT + FURTHER
        assert noticed(events)
        with pytest.raises(RereadLoopError):
            session.pre_send()


def test_without_the_guard_it_runs_on():
    with collected(reread_guard="off") as session:
        assert circle(session, 60) == 60


def until_ended(session, step, most=200):
    """Model calls until the guard ends the loop."""
    for calls in range(most):
        try:
            session.pre_send()
        except RereadLoopError:
            return calls
        step()
    return most


def test_a_real_loop_with_the_recall_tool_is_ended():
    with small(3_000) as session:
        tools = AgentTools(session, names=["recall"])
        session.tools(tools.schemas())
        rounds(session, 40)
        reply = call(("same", "recall", {"reference": "i5"}), text="Let me re-read the conversation.")
        calls = until_ended(session, lambda: (session.post_turn(reply), session.extend(tools.answer(reply))))
        assert calls <= NOTICED_AT + FURTHER + 1


def test_an_agent_that_only_says_so_is_ended():
    with collected() as session:
        said = answer("Let me re-read the conversation.")
        calls = until_ended(session, lambda: (session.post_turn(said), session.append(user("Continue."))))
        assert calls <= FURTHER + 2


def test_a_new_user_message_lets_it_go_on():
    with collected() as session:
        with pytest.raises(RereadLoopError):
            circle(session, 100)
        session.append(user("Forget that. Write the report."))
        session.pre_send()
        session.post_turn(answer("The report was written."))


def test_a_poll_whose_answer_changes_is_progress():
    events = []
    with collected(events) as session:
        circle(session, 40, name="status", arguments={"job": 1}, said=None, text=lambda place: f"{place} % done")
        assert noticed(events) == []


def test_a_call_whose_result_was_never_collected_is_in_no_circle():
    events = []
    with collected(events) as session:
        circle(session, 8, name="status", arguments={"job": 1}, said=None, text="running")
        assert noticed(events) == []


def test_a_call_whose_result_was_collected_is_noticed_and_ended():
    events = []
    with collected(events) as session, pytest.raises(RereadLoopError):
        circle(session, 200, name="read", arguments={"path": "f3"}, said=None, text="line\n" * 200)
    assert noticed(events)


def test_a_warning_ends_nothing_and_is_repeated():
    events = []
    with collected(events, reread_guard="warn") as session:
        assert circle(session, 40, said=None) == 40
        assert [event.times for event in noticed(events)] == list(range(NOTICED_AT, 41, FURTHER))


def test_order_of_keys_and_blanks_make_no_other_call():
    events = []
    with collected(events, reread_guard="warn") as session:
        for place in range(8):
            text = '{"reference": "i5", "n": 1}' if place % 2 else '{ "n":1,"reference":"i5" }'
            circle(session, 1, arguments=text, said=None)
    assert [event.times for event in noticed(events)] == [NOTICED_AT]


@pytest.mark.parametrize("seconds", [PAUSE + 1, 300])
def test_time_between_the_rounds_makes_it_a_poll(seconds):
    events = []
    with collected(events) as session:
        clock = core_of(session).rereads.guard._time.clock = Clock()
        for _ in range(40):
            clock.now += seconds
            circle(session, 1, said=None)
        assert noticed(events) == []


class Rounds:
    """An agent that makes the same call, and a clock."""

    def __init__(self, session, **call):
        self.session, self.call, self.made = session, call, 0
        self.clock = core_of(session).rereads.guard._time.clock = Clock()

    def go(self, number, *, host=0.0, tool=0.0):
        for _ in range(number):
            self.made += 1
            made = {"name": "read", "arguments": {"path": "big"}, "text": BIG} | self.call
            self.clock.now += host
            self.session.pre_send()
            key = f"r{self.made}"
            arguments, text = (one(self.made) if callable(one) else one for one in (made["arguments"], made["text"]))
            self.session.post_turn(call((key, made["name"], arguments)))
            self.clock.now += tool
            self.session.append(result(key, text))


BIG = "\n".join(f"row {place} of a table that is long enough to be collected" for place in range(90))
STATE = "\n".join(f"step {place} queued" for place in range(60))


@pytest.mark.parametrize(("host", "tool"), [(2.0, 0.0), (0.0, 2.0), (6.0, 0.5)])
def test_a_small_result_every_two_seconds_is_a_poll(host, tool):
    events = []
    with collected(events) as session:
        Rounds(session, text=STATE).go(60, host=host, tool=tool)
        assert noticed(events) == []


def test_a_small_result_at_once_is_not():
    events = []
    with collected(events, reread_guard="warn") as session:
        Rounds(session, text=STATE).go(30, host=0.3, tool=0.3)
        assert noticed(events)


@pytest.mark.parametrize(
    "call",
    [
        {"name": "get_build_status"},
        {"name": "bash", "arguments": {"command": "systemctl status web"}},
        {"name": "ci", "text": f"status: in_progress\n{BIG}"},
        {"name": "bash", "arguments": {"command": "sleep 2 && kubectl get all"}},
        {"name": "queue", "arguments": {"delay_seconds": 2}},
    ],
)
def test_a_large_state_every_two_seconds_is_a_poll(call):
    events = []
    with collected(events) as session:
        Rounds(session, **call).go(30, tool=2.0)
        assert noticed(events) == []


def test_states_that_take_turns_are_a_poll():
    events = []
    with collected(events) as session:
        Rounds(session, text=lambda place: f"{'green' if place % 2 else 'yellow'}\n{STATE}").go(60, tool=2.0)
        assert noticed(events) == []


@pytest.mark.parametrize(
    "call",
    [
        {"arguments": lambda place: {"path": "big", "description": f"look once more, {place}"}},
        {"text": lambda place: f"Exit code: 0\nWall time: 0.{place} seconds\nOutput:\n{BIG}"},
        {"text": lambda place: f"{BIG}\n[2026-03-01T10:00:{place:02d}Z]"},
        {"text": lambda place: json.dumps({"output": BIG, "metadata": {"duration_seconds": place / 7}})},
    ],
)
def test_what_describes_a_call_and_when_a_result_was_made_are_no_news(call):
    events = []
    with collected(events, reread_guard="warn") as session:
        Rounds(session, **call).go(30, host=0.5)
        assert noticed(events)


def test_the_arguments_that_are_left_make_another_call():
    events = []
    with collected(events) as session:
        Rounds(session, arguments=lambda place: {"description": f"part {place}"}).go(30)
        Rounds(session, arguments=lambda place: {"path": f"f{place}", "description": "read"}).go(30)
        assert noticed(events) == []


def test_a_log_whose_lines_have_other_times_is_news():
    events = []
    with collected(events) as session:
        log = "\n".join("2026-03-01T10:00:{:02d}Z heartbeat" for _ in range(30))
        Rounds(session, text=lambda place: log.format(*range(place, place + 30))).go(25, host=0.2)
        assert noticed(events) == []


def test_a_slow_tool_makes_no_poll():
    events = []
    with collected(events, reread_guard="warn") as session:
        Rounds(session, name="search").go(20, tool=11.0)
        assert noticed(events)


def test_a_tool_that_takes_most_of_a_minute_waits():
    events = []
    with collected(events) as session:
        Rounds(session, name="fetch").go(40, tool=SLOW)
        assert noticed(events) == []


def test_the_same_edit_every_few_seconds_is_no_poll():
    events = []
    with collected(events, reread_guard="warn") as session:
        edit = {"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}
        Rounds(session, name="edit", arguments=edit, text=STATE).go(40, tool=3.0)
        assert noticed(events)


@pytest.mark.parametrize(("seconds", "stops"), [(0.2, True), (6.0, False)])
def test_in_a_list_that_the_caller_holds_time_counts_from_the_reported_reply(seconds, stops):
    events, messages = [], [user("Find it.")]
    with small(3_000, on_event=events.append, reread_guard="warn") as session:
        clock = core_of(session).rereads.guard._time.clock = Clock()
        for place in range(60):
            session.sync(messages)
            clock.now += 20
            session.report_usage({"prompt_tokens": 100, "completion_tokens": 10})
            clock.now += seconds
            path = f"f{place}" if place < 20 else "f3"
            messages = [*messages, call((f"c{place}", "read", {"path": path})), result(f"c{place}", f"{path}\n{BIG}")]
        assert bool(noticed(events)) is stops


@pytest.mark.parametrize(("seconds", "stops"), [(30, True), (60, False)])
def test_in_such_a_list_without_usage_only_what_takes_long_between_two_rounds_is_a_wait(seconds, stops):
    """Nobody can tell how much of it the model took."""
    events, messages = [], [user("Find it.")]
    with small(3_000, on_event=events.append, reread_guard="warn") as session:
        clock = core_of(session).rereads.guard._time.clock = Clock()
        for place in range(60):
            session.sync(messages)
            clock.now += seconds
            path = f"f{place}" if place < 20 else "f3"
            messages = [*messages, call((f"c{place}", "read", {"path": path})), result(f"c{place}", f"{path}\n{BIG}")]
        assert bool(noticed(events)) is stops


def test_the_time_that_the_model_takes_makes_no_poll():
    events = []
    with collected(events, reread_guard="warn") as session:
        clock = core_of(session).rereads.guard._time.clock = Clock()
        for place in range(8):
            session.pre_send()
            clock.now += 60
            session.post_turn(call((f"m{place}", "recall", {"reference": "i5"})))
            session.append(result(f"m{place}", "same"))
    assert [event.times for event in noticed(events)] == [NOTICED_AT]


def test_the_time_that_the_model_takes_for_a_reply_without_a_call_is_no_pause():
    events = []
    with collected(events, reread_guard="warn") as session:
        clock = core_of(session).rereads.guard._time.clock = Clock()
        for place in range(8):
            session.pre_send()
            clock.now += PAUSE
            session.post_turn(answer(f"I still look into it, {place}."))
            session.pre_send()
            session.post_turn(call((f"m{place}", "recall", {"reference": "i5"})))
            session.append(result(f"m{place}", "same"))
    assert [event.times for event in noticed(events)] == [NOTICED_AT]


def test_a_user_who_says_the_same_again_is_not_a_circle():
    events = []
    with collected(events) as session:
        for _ in range(40):
            session.append(user("Check the server."))
            circle(session, 1, said=None)
            session.pre_send()
            session.post_turn(answer("All fine."))
        assert noticed(events) == []


class Clock:
    """Seconds that stand still until somebody moves them."""

    now = 0.0

    def __call__(self):
        return self.now


def test_work_between_the_same_calls_is_progress():
    events = []
    with collected(events) as session:
        for place in range(30):
            circle(session, 1, name="run_tests", arguments={}, said=None, text="1 failed")
            circle(session, 1, name="edit", arguments={"try": place}, said=None, text="ok")
        assert noticed(events) == []


def test_an_agent_that_goes_through_the_same_items_again_and_again_is_ended():
    def four():
        for place in range(4):
            reply = call((f"c{place}", "recall", {"reference": f"i{place}"}))
            session.post_turn(reply)
            session.append(result(f"c{place}", f"text {place}"))

    with collected() as session:
        assert until_ended(session, four) < 20


def test_parallel_calls_of_one_step_count_once():
    events = []
    with collected(events) as session:
        session.pre_send()
        session.post_turn(call(*((f"p{place}", "recall", {"reference": "i5"}) for place in range(12))))
        session.extend(result(f"p{place}", "same") for place in range(12))
        session.pre_send()
        assert noticed(events) == []


def calls_until_noticed(reads):
    """Of calls by the name of what they read, each read before: how many until the guard speaks, or None."""
    guard = RereadGuard()
    for place, name in enumerate([*sorted(set(reads)), "another", *reads]):
        asked = Item(
            id=f"i{2 * place + 1}", kind=ItemKind.TOOL_CALL, source="conversation", policy=GCPolicy.EPHEMERAL,
            tokens=1, original_tokens=1, text=json.dumps({"path": name}), unit=place, turn=0, step=place, name="read",
        )  # fmt: skip
        came = attrs.evolve(asked, id=f"i{2 * place + 2}", kind=ItemKind.TOOL_RESULT, text=f"of {name}", call=asked.id)
        guard.see([asked, came], collected=True)
        if guard.look() is not None:
            return place - len(set(reads))
    return None


@pytest.mark.parametrize("files", [*range(1, 13), 20])
def test_files_read_once_more_are_not_a_circle_and_the_second_lap_of_many_is(files):
    lap = [f"file {place:02d}" for place in range(files)]
    assert calls_until_noticed(lap) is None
    assert calls_until_noticed(lap * 4) == (max(LAP, files + 1) if files > 2 else NOTICED_AT + 2 * (files - 1))


def test_a_session_that_is_opened_again_starts_counting_again(tmp_path):
    with collected(directory=tmp_path / "s") as session, pytest.raises(RereadLoopError):
        circle(session, 100)
    with GCSession.open(tmp_path / "s") as session:
        session.pre_send()


def test_the_session_is_as_it_was_when_the_loop_was_ended():
    with collected() as session:
        with pytest.raises(RereadLoopError):
            circle(session, 100)
        before = json.dumps(window_of(session).render().messages)
        with pytest.raises(RereadLoopError):
            session.pre_send()
        assert json.dumps(window_of(session).render().messages) == before


@pytest.mark.slow
def test_no_recorded_session_is_ended():
    require_corpus()
    assert set(circles_in(openai_sessions())) == {CIRCLES}


def test_real_circles_are_noticed_and_end_by_themselves():
    require_corpus()
    found = circles_in([path for path in openai_sessions() if path.name == CIRCLES], 600)
    assert found[CIRCLES]


def circles_in(paths, messages=None):
    """What the guard would have noticed, had something been collected from the start; it ends none of them."""
    circles = {}
    for path in paths:
        transcript = read_transcript(path)
        with GCSession(GCConfig(strategy="none", auto_trigger=False), format=transcript.format) as session:
            guard = RereadGuard()
            for message in transcript.messages[:messages]:
                taken = recorder_of(session).take(message, None, session.plugins.classify)
                guard.see(taken.new, collected=True)
                notice = guard.look()
                assert notice is None or not notice.goes_on, (path.name, notice)
                if notice is not None:
                    circles.setdefault(path.name, []).append(notice.what)
    return circles


def test_a_call_that_is_always_still_running_is_a_circle_and_its_late_news_is_progress():
    def seen(news):
        guard, ended = RereadGuard(), None
        for place in range(NOTICED_AT + POLLED + 5):
            asked = Item(
                id=f"i{3 * place + 1}", kind=ItemKind.TOOL_CALL, source="conversation", policy=GCPolicy.EPHEMERAL,
                tokens=1, original_tokens=1, text="{}", unit=place, turn=0, step=place, name="build",
            )  # fmt: skip
            text = PROVISIONAL.format(name="build", call_id=f"call_{place}")
            running = attrs.evolve(asked, id=f"i{3 * place + 2}", kind=ItemKind.TOOL_RESULT, text=text, call=asked.id)
            late = framed_result(f"call_{place}", f"built {place if news else 0}")
            came = attrs.evolve(running, id=f"i{3 * place + 3}", text=late, call="", synthetic=True)
            for item in (asked, running, came):
                guard.see([item], collected=True)
            notice = guard.look()
            if notice is not None and notice.goes_on:
                ended = place
                break
        return ended

    assert seen(news=False) is not None
    assert seen(news=True) is None


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("mcp__status__search_docs", False),
        ("mcp__watch__read_file", False),
        ("mcp__ci__get_status", True),
        ("waitForEvent", True),
    ],
)
def test_the_name_of_a_server_does_not_say_what_its_tool_asks_for(name, asks):
    assert asks_for_state(name, "{}") is asks
