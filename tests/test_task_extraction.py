"""What is found of the task: demands, decisions, questions, plans, files, errors; and what takes what back."""

import functools
import json

import attrs
import pytest
from ctxgc.evaluation.transcripts import read_transcript
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gc_core import GCConfig, GCSession, Item, ItemKind, Plugins
from gc_core.task import phrases as wording
from gc_core.task import values
from gc_core.task.changes import change_by
from gc_core.task.extractor import DeterministicExtractor
from gc_core.task.strength import Strength, strength_of
from gc_core.task.values import ACTIVE, COMPLETED, PENDING, Constraint, Decision, EntityState, TaskState, references_of
from gc_core.values.policy import GCPolicy
from tests.support.corpus import corpus_dir, require_corpus
from tests.support.messages import openai_sessions_strategy

GATED = [
    (wording._FAILURE_STEMS, wording._FAILS),
    (wording._SUCCESS_STEMS, wording._WORKS),
]
EXTRACTOR = DeterministicExtractor()
SAMPLE = [
    "entire--a318ad73-17a2-4575-845d-8952a1e5958b.jsonl",
    "entire--ac8a4f1a-1917-46bf-b8c1-0c3bab0fbc16.jsonl",
    "gemini-cli--trajectory.jsonl",
    "tau2--retail-chat-ft-026.jsonl",
]
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)


class Talk:
    """Items as a log gives them, one line of a test for each."""

    def __init__(self):
        self.items = []
        self.turn = self.unit = 0

    def user(self, text, **more):
        self.turn += bool(self.items)
        self.unit += 1
        return self._add(ItemKind.USER_TEXT, text, **more)

    def says(self, text, thinking=None):
        self.unit += 1
        if thinking is not None:
            self._add(ItemKind.THINKING, thinking)
        return self._add(ItemKind.ASSISTANT_TEXT, text)

    def call(self, tool, result="done", *, failed=False, thinking=None, text=None, **arguments):
        self.unit += 1
        if thinking is not None:
            self._add(ItemKind.THINKING, thinking)
        if text is not None:
            self._add(ItemKind.ASSISTANT_TEXT, text)
        call = self._add(ItemKind.TOOL_CALL, json.dumps(arguments), name=tool)
        return self._add(ItemKind.TOOL_RESULT, result, name=tool, call=call.id, is_error=failed)

    def state(self):
        return EXTRACTOR.extract(TaskState(), self.items, "")

    def _add(self, kind, text, **more):
        item = Item(
            id=f"i{len(self.items) + 1}", kind=kind, source="conversation", policy=GCPolicy.EPHEMERAL, tokens=0,
            text=text, unit=self.unit, turn=self.turn, original_tokens=more.pop("tokens", len(text) // 4), **more,
        )  # fmt: skip
        self.items.append(item)
        return item


@functools.cache
def items_of(path):
    transcript = read_transcript(path)
    config = GCConfig(strategy="none", context_limit=50_000_000, auto_trigger=False)
    with GCSession(config, format=transcript.format, plugins=Plugins()) as session:
        session.extend(transcript.messages)
        return session.items()


def texts(entries):
    return [entry.text for entry in entries]


def in_force(entries):
    return [entry.text for entry in entries if entry.in_force]


# --- properties over sessions ---------------------------------------------------------------------------------------


def words_of_entry(entry):
    if isinstance(entry, EntityState):
        return []
    pairs = [(entry.item, entry.text)]
    if isinstance(entry, Decision):
        pairs += [(reason.item, reason.text) for reason in entry.reasons]
    return pairs


@pytest.mark.parametrize("name", SAMPLE)
def test_every_entry_of_a_recorded_session_names_items_that_exist_and_hold_its_words(name):
    require_corpus()
    items = {item.id: item for item in items_of(corpus_dir() / name)}
    state = EXTRACTOR.extract(TaskState(), tuple(items.values()), "")
    assert state.entities or state.constraints
    for entry in state.entries():
        assert set(references_of(entry)) <= items.keys()
        for item, text in words_of_entry(entry):
            plain = " ".join(json.dumps(items[item].text, ensure_ascii=False).replace("\\n", " ").split())
            assert text == "no message" or all(
                word in plain for word in json.dumps(text, ensure_ascii=False)[1:-1].split()
            )
    for name_, entity in state.entities.items():
        if entity.kind in {"file", "test", "symbol"}:
            assert name_.rpartition("/")[2] in items[entity.first].text


@pytest.mark.parametrize("name", SAMPLE[1:3])
@pytest.mark.parametrize("size", [1, 7])
def test_pieces_of_a_recorded_session_give_the_same_state_as_the_whole(name, size):
    require_corpus()
    items = items_of(corpus_dir() / name)
    state = TaskState()
    for start in range(0, len(items), size):
        state = EXTRACTOR.extract(state, items[start : start + size], "")
    assert state == EXTRACTOR.extract(TaskState(), items, "")
    assert TaskState.from_json(state.to_json()) == state


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)
@given(messages=openai_sessions_strategy(max_turns=3, max_steps=3), cut=st.integers(0, 40))
def test_made_sessions_give_one_state_wherever_they_are_cut_and_it_survives_json(messages, cut):
    config = GCConfig(strategy="none", context_limit=1_000_000, auto_trigger=False)
    with GCSession(config, plugins=Plugins()) as session:
        session.extend(messages)
        items = session.items()
    state = EXTRACTOR.extract(TaskState(), items, "")
    assert EXTRACTOR.extract(EXTRACTOR.extract(TaskState(), items[:cut], ""), items[cut:], "") == state
    assert TaskState.from_json(state.to_json()) == state
    assert state.references() <= {item.id for item in items}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)
@given(text=st.text(max_size=400))
def test_no_words_of_anybody_break_the_extraction(text):
    talk = Talk()
    talk.user(f"Never use {text} instead of {text}.")
    talk.says(f"I decided to use {text} because {text}.", thinking=text)
    talk.call("bash", text, command=text)
    talk.call("edit", text, path=f"src/{text}.py", new=text)
    state = talk.state()
    assert TaskState.from_json(state.to_json()) == state


def test_a_state_without_new_items_is_the_same_object():
    talk = Talk()
    talk.user("Never commit to main.")
    state = talk.state()
    assert EXTRACTOR.extract(state, (), "") is state
    assert EXTRACTOR.extract(state, (), "Ship it.") == attrs.evolve(state, objective="Ship it.")


# --- demands and decisions, and what takes them back ----------------------------------------------------------------

CONTRADICTED = [
    ("Use Postgres for storage.", "Use SQLite instead of Postgres."),
    ("We must use Redis for the cache.", "Actually, let's use Memcached for the cache instead."),
    ("The timeout must be 30 seconds.", "The timeout must be 60 seconds."),
    ("The timeout must be 30 seconds.", "Actually, make it 60 seconds."),
    ("Use tabs for indentation.", "Use spaces for indentation."),
    ("Never commit to main.", "You may commit to main now."),
    ("Never commit directly to main.", "Forget the rule about committing to main."),
    ("All functions must have docstrings.", "Forget the rule about docstrings."),
    ("We must support Python 3.7.", "We no longer need to support Python 3.7."),
    ("Keep functions under 40 lines.", "Keep functions under 60 lines."),
    ("At most 3 retries are allowed.", "At most 5 retries are allowed."),
    ("Only use the staging database.", "From now on, only use the production database."),
    ("The response format must be JSON.", "The response format must be XML."),
    ("Do not add new dependencies.", "Ignore my earlier instruction about not adding dependencies."),
    ("The max file size must be 5 MB.", "The max file size is now 10 MB."),
]
COMPATIBLE = [
    ("Never edit src/a.py.", "Never edit src/b.py."),
    ("Use pytest for tests.", "Use mypy for types."),
    ("Endpoints must be fast.", "Endpoints must be documented."),
    ("Never commit to main.", "Always write a commit message."),
    ("Never drop Postgres tables.", "Use SQLite instead of Postgres for the cache."),
    ("The timeout must be 30 seconds.", "The retry limit must be 5."),
    ("You must not log passwords.", "You must not log tokens."),
    ("Only Ana may sign invoices.", "Only Ben may sign contracts."),
    ("Use port 8080 for the web server.", "Use port 5432 for the database."),
    ("All code must be in src/.", "All tests must be in tests/."),
]


def test_most_later_words_of_the_user_supersede_what_they_contradict():
    """The others stay in force beside the earlier ones: the newest is shown last."""
    assert sum(change_by(new, [old], last=0) is not None for old, new in CONTRADICTED) >= 0.8 * len(CONTRADICTED)


@pytest.mark.parametrize(("old", "new"), [*CONTRADICTED[:1], *CONTRADICTED[5:8]])
def test_a_later_word_of_the_user_supersedes_what_it_contradicts_and_both_references_stay(old, new):
    talk = Talk()
    first = talk.user(old)
    talk.says("Understood.")
    later = talk.user(new)
    state = talk.state()
    (gone,) = [entry for entry in state.constraints if entry.text == old]
    assert (gone.item, gone.superseded_by) == (first.id, later.id)
    assert old not in in_force(state.constraints)
    assert all(entry.also == (first.id,) for entry in state.constraints if entry.text == new)


@pytest.mark.parametrize(("old", "new"), COMPATIBLE)
def test_what_does_not_contradict_stays_in_force(old, new):
    talk = Talk()
    talk.user(old)
    talk.user(new)
    assert {old, new} <= set(in_force(talk.state().constraints))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The function must be fast.", "The function must be documented."),
        *COMPATIBLE,
    ],
)
def test_what_does_not_contradict_supersedes_nothing_whether_it_is_known_as_a_rule_or_not(old, new):
    assert change_by(new, [old], last=0) is None


def test_the_assistant_takes_its_own_decision_back_but_no_demand_of_the_user():
    talk = Talk()
    talk.user("Never use axios for HTTP calls.")
    talk.says("I decided to use Redis for the sessions because it is known.")
    later = talk.says("I've changed my mind: the sessions go to Postgres instead of Redis, which is not installed.")
    state = talk.state()
    assert in_force(state.constraints) == ["Never use axios for HTTP calls."]
    old, new = state.decisions_made
    assert (old.superseded_by, new.also) == (later.id, (old.item,))


def test_a_demand_of_the_user_takes_back_what_the_assistant_decided():
    talk = Talk()
    talk.user("Store the sessions somewhere.")
    talk.says("I decided to use Redis for the sessions.")
    later = talk.user("No, use Postgres for the sessions instead of Redis.")
    assert [entry.superseded_by for entry in talk.state().decisions_made] == [later.id]


def test_what_is_said_again_after_it_was_taken_back_is_in_force_again():
    talk = Talk()
    talk.user("Never commit to main.")
    talk.user("Forget the rule about committing to main.")
    again = talk.user("Never commit to main.")
    state = talk.state()
    assert [(entry.item, entry.in_force) for entry in state.constraints] == [("i1", False), (again.id, True)]


def test_the_same_demand_twice_is_one_entry():
    talk = Talk()
    talk.user("Never commit to main.")
    talk.user("Never commit to main!")
    (entry,) = talk.state().constraints
    assert (entry.item, entry.times, entry.last) == ("i1", 2, "i2")


def test_questions_pastes_code_and_the_frameworks_text_demand_nothing():
    talk = Talk()
    talk.user("Should we never use tabs?")
    talk.user("You must never do this. " * 200, tokens=1_200)
    talk.user("You must never do that.", synthetic=True)
    talk.user("Look:\n```\nYou must never do this either.\n```")
    talk.user("<system-reminder>You must always be brief.</system-reminder>")
    assert texts(talk.state().constraints) == []


def test_a_decision_keeps_its_reasons_from_the_thinking_that_led_to_it_and_the_sentences_around_it():
    talk = Talk()
    talk.user("Speed it up.")
    talk.says(
        "The list is scanned each time. I decided to use a dict for lookups. This way each lookup is O(1).",
        thinking="Because lookups dominate the profile, a dict will do. The weather is nice since Monday.",
    )
    (decision,) = talk.state().decisions_made
    assert texts(decision.reasons) == [
        "Because lookups dominate the profile, a dict will do.",
        "This way each lookup is O(1).",
    ]
    assert [reason.item for reason in decision.reasons] == ["i2", "i3"]


def test_thinking_of_another_unit_is_not_a_reason():
    talk = Talk()
    talk.user("Speed it up.")
    talk.call("read", path="a.py", thinking="Because lookups dominate, a dict is needed.")
    talk.says("I decided to use a dict for lookups.")
    (decision,) = talk.state().decisions_made
    assert decision.reasons == ()


CHOICES = [
    "I'll skip this refactoring as the current code is clear.",
    "I decided to use Redis for the sessions.",
    "Going with SQLite here, since one process writes.",
    "Decision: the index stays on disk.",
    "We'll keep the old parser for now; the new one can't read the archive.",
    "Ich nehme die zweite Variante, weil sie ohne Migration auskommt.",
    "我决定把缓存放在客户端，因为服务器没有内存了。",
]
NO_CHOICES = [
    "Let me check the callers to understand the usage patterns.",
    "Now let me run the tests.",
    "Would you like me to use the notice approach instead of the prompt?",
    "If you prefer, you can keep the order as it is.",
    "The plan is well-structured.",
    "The choice is yours until the dawn.",
    "I've updated both files.",
    "Shall I use SQLite because it needs no server?",
    "Should I go with Redis instead of Postgres because it is faster?",
]


@pytest.mark.parametrize("text", CHOICES)
def test_what_the_assistant_settles_is_a_decision(text):
    talk = Talk()
    talk.says(text)
    state = talk.state()
    assert texts(state.decisions_made) == [text]
    assert texts(state.query(kind="decision")) == [text]


@pytest.mark.parametrize("text", NO_CHOICES)
def test_a_next_step_a_report_or_an_offer_is_not_a_decision(text):
    talk = Talk()
    talk.says(text)
    assert talk.state().decisions_made == ()


def test_a_demand_that_chooses_is_found_as_a_decision_too_and_a_yes_is_neither():
    talk = Talk()
    talk.user("Use SQLite instead of Postgres.")
    talk.user("Yes, please go ahead with that.")
    state = talk.state()
    assert texts(state.constraints) == ["Use SQLite instead of Postgres."]
    assert texts(state.query(kind="decision")) == texts(state.query(kind="constraint"))
    assert state.decisions_made == ()


def test_patterns_of_words_match_nothing_without_the_letters_that_are_asked_for_first():
    require_corpus()
    for name in SAMPLE:
        for item in items_of(corpus_dir() / name):
            if item.kind is not ItemKind.ASSISTANT_TEXT:
                continue
            for sentence in map(wording.straight, wording.sentences_of(item.text)):
                for stems, pattern in GATED:
                    assert not pattern.search(sentence) or any(stem in sentence.lower() for stem in stems)


# --- questions --------------------------------------------------------------------------------------------------------


def test_a_question_to_the_user_is_open_until_the_user_speaks():
    talk = Talk()
    talk.user("Set up storage.")
    talk.says("Which database should I use?")
    assert in_force(talk.state().open_questions) == ["Which database should I use?"]
    answer = talk.user("SQLite.")
    (question,) = talk.state().open_questions
    assert question.answered_by == answer.id


def test_a_question_of_the_user_is_open_until_a_reply_calls_nothing():
    talk = Talk()
    talk.user("Why does the login fail?")
    talk.call("read", path="login.py", text="Let me look. Is it the token?")
    assert in_force(talk.state().open_questions) == ["Why does the login fail?"]
    talk.says("The token expires too early.")
    assert in_force(talk.state().open_questions) == []


# --- plans ------------------------------------------------------------------------------------------------------------

PLANS = [
    ("TodoWrite", {"todos": [{"content": "A", "status": "completed"}, {"content": "B", "status": "in_progress"}]}),
    ("update_plan", {"plan": [{"step": "A", "status": "completed"}, {"step": "B", "status": "in_progress"}]}),
    ("write_todos", {"todos": [{"description": "A", "status": "done"}, {"description": "B", "status": "active"}]}),
]


@pytest.mark.parametrize(("tool", "arguments"), PLANS)
def test_a_plan_tool_states_the_sub_goals_and_their_status(tool, arguments):
    talk = Talk()
    talk.user("Do A and B.")
    talk.call(tool, **arguments)
    state = talk.state()
    assert [(goal.text, goal.status) for goal in state.sub_goals] == [("A", COMPLETED), ("B", ACTIVE)]


def test_what_the_newest_plan_has_no_more_is_superseded_and_what_is_done_stays():
    talk = Talk()
    talk.user("Do it.")
    talk.call("TodoWrite", todos=[{"content": text, "status": "pending"} for text in ("A", "B", "C")])
    talk.call("TodoWrite", todos=[{"content": "A", "status": "completed"}, {"content": "D", "status": "pending"}])
    goals = {goal.text: goal for goal in talk.state().sub_goals}
    assert [text for text, goal in goals.items() if goal.in_force] == ["A", "D"]
    assert goals["B"].superseded_by == "i4"
    assert (goals["A"].item, goals["A"].since) == ("i2", "i4")


def test_tasks_that_are_made_one_by_one_are_updated_by_their_number():
    talk = Talk()
    talk.user("Do it.")
    talk.call("TaskCreate", subject="First", description="the first")
    talk.call("TaskCreate", subject="Second", description="the second")
    talk.call("TaskUpdate", taskId="2", status="completed")
    assert [(goal.text, goal.status) for goal in talk.state().sub_goals] == [("First", PENDING), ("Second", COMPLETED)]


@pytest.mark.parametrize("text", ["- [x] Read it\n- [ ] Fix it", "My plan:\n1. ✅ Read it\n2. Fix it"])
def test_a_list_in_a_text_is_a_plan_where_it_has_boxes_or_is_announced(text):
    talk = Talk()
    talk.user("Do it.")
    talk.says(text)
    assert [goal.status for goal in talk.state().sub_goals] == [COMPLETED, PENDING]


def test_a_list_that_is_not_called_a_plan_is_not_a_plan():
    talk = Talk()
    talk.user("What is there?")
    talk.says("I found two files:\n1. a.py\n2. b.py")
    assert talk.state().sub_goals == ()


# --- what was touched -------------------------------------------------------------------------------------------------


def test_files_have_the_state_of_the_last_action_and_name_who_changed_them():
    talk = Talk()
    talk.user("Fix it.")
    talk.call("read", path="src/a.py")
    edit = talk.call("edit", path="src/a.py", old="x", new="def fixed():\n    pass")
    talk.call("write_file", path="src/new.py", content="x = 1")
    talk.call("read", result="Error: no such file", failed=True, path="src/gone.py")
    entities = talk.state().entities
    assert {name: entities[name].state for name in ("src/a.py", "src/new.py", "src/gone.py", "fixed")} == {
        "src/a.py": "edited", "src/new.py": "created", "src/gone.py": "failed", "fixed": "edited",
    }  # fmt: skip
    assert entities["src/a.py"].changed == edit.call
    assert [(each.kind, each.target) for each in entities["src/a.py"].relations] == [("edits", "fixed")]


def test_a_failing_test_is_the_cause_of_the_edits_that_follow_and_tests_the_file_of_its_name():
    talk = Talk()
    talk.user("Make the tests pass.")
    talk.call("read", path="src/parser.py")
    talk.call("bash", "FAILED tests/test_parser.py::test_it\n1 failed", command="pytest tests/test_parser.py")
    talk.call("edit", path="src/parser.py", old="a", new="b")
    talk.call("bash", "1 passed", command="pytest tests/test_parser.py")
    test = talk.state().entities["tests/test_parser.py"]
    assert (test.kind, test.state) == ("test", "passed")
    assert [(each.kind, each.target) for each in test.relations] == [
        ("tests", "src/parser.py"),
        ("causes", "src/parser.py"),
    ]


def test_without_a_failing_test_the_turns_request_is_the_cause():
    talk = Talk()
    request = talk.user("Rename it.")
    talk.call("edit", path="src/a.py", old="a", new="b")
    cause = talk.state().entities["turn 0"]
    assert (cause.item, cause.kind, [each.target for each in cause.relations]) == (request.id, "request", ["src/a.py"])


@pytest.mark.parametrize(
    ("known", "name", "text"),
    [
        ("src/app/store.py", "src/main.py", "     1\tfrom app.store import Store\n"),
        ("src/store.ts", "src/main.ts", "import { Store } from './store'\n"),
        ("lib/store.js", "lib/main.js", "const store = require('./store')\n"),
        ("include/store.h", "src/main.c", '#include "store.h"\n'),
    ],
)
def test_a_file_imports_the_known_file_that_its_lines_name(known, name, text):
    talk = Talk()
    talk.user("Look.")
    talk.call("read", path=known)
    shown = talk.call("read", result=text, path=name)
    (relation,) = talk.state().entities[name].relations
    assert (relation.kind, relation.target, relation.item) == ("imports", known, shown.id)


STRENGTHS = [
    ("From now on never write the report in anything but Markdown.", Strength.RULE),
    ("The audit stays with finance, nobody else may see it.", Strength.RULE),
    ("I only want the invoice to be made with the new template.", Strength.STRONG),
    ("I'd prefer the second cheapest flight.", Strength.STRONG),
    ("The staging host is stage-a.internal.", Strength.SAID),
]


@pytest.mark.parametrize(("text", "strength"), STRENGTHS)
def test_a_rule_holds_longer_than_a_preference_and_that_longer_than_a_statement(text, strength):
    assert strength_of(Constraint(text=text, item="i1", turn=0)) is strength


def test_a_yes_to_one_step_is_not_a_lasting_decision_and_one_with_its_reason_is():
    def strength(text, by):
        return strength_of(Decision(text=text, item="i1", turn=0, by=by))

    assert strength("Yes, please proceed with that booking.", "user") is Strength.PASSING
    assert strength("We should add the name of the agent to the log.", "user") is Strength.STRONG
    assert strength("I'll go with the queue since its licence allows it.", "assistant") is Strength.RULE
    assert strength("Decision: the index is built on placid_vole.", "assistant") is Strength.RULE
    assert strength("Now I need to update the callers.", "assistant") is Strength.SAID


# --- errors -----------------------------------------------------------------------------------------------------------


def test_an_error_is_overcome_by_the_next_success_and_names_the_actions_between():
    talk = Talk()
    talk.user("Build it.")
    failed = talk.call("bash", "Error: Cannot find module 'left-pad'", failed=True, command="npm run build")
    install = talk.call("bash", "added 1 package", command="npm install left-pad")
    assert [error.in_force for error in talk.state().error_patterns] == [True]
    built = talk.call("bash", "built in 3 s", command="npm run build -- --silent")
    talk.call("bash", "Error: Cannot find module 'right-pad'", failed=True, command="make all")
    state = talk.state()
    assert [error.in_force for error in state.error_patterns] == [False, True]
    assert state.error_patterns[0].item == failed.id
    assert state.error_patterns[0].resolution.item == built.id
    assert state.error_patterns[0].resolution.after_item == install.call
    assert state.tool_usage_stats["bash"] == values.ToolStats(calls=4, failures=2)


ELSEWHERE = [
    ("bash", {"command": "pytest tests/a.py"}, {"command": "ls"}),
    ("bash", {"command": "pytest tests/a.py"}, {"command": "cat tests/a.py"}),
    ("bash", {"command": "pytest tests/a.py"}, {"command": "sed -i s/1/2/ tests/a.py"}),
    ("bash", {"command": "pytest tests/a.py"}, {"command": "git status"}),
    ("bash", {"command": "pytest"}, {"command": "pytest tests/b.py"}),
    ("bash", {"command": "cargo test"}, {"command": "ls src"}),
    ("bash", {"command": "cat a.txt"}, {"command": "cat b.txt"}),
    ("read_file", {"path": "src/a.py"}, {"path": "lib/a.py"}),
    ("str_replace_editor", {"command": "str_replace", "path": "/a.py"}, {"command": "str_replace", "path": "/b.py"}),
    ("get_order", {"user": "mia_li", "order": "W1001"}, {"user": "raj_s", "order": "W1001"}),
    ("run_tests", {"args": "tests/a.py"}, {"args": "lib/tests/a.py"}),
]


@pytest.mark.parametrize(("tool", "failed", "then"), ELSEWHERE)
def test_no_success_of_another_call_overcomes_an_error(tool, failed, then):
    talk = Talk()
    talk.user("Fix it.")
    talk.call(tool, "Error: 1 failed", failed=True, **failed)
    talk.call(tool, "done", **then)
    (error,) = talk.state().error_patterns
    assert error.in_force
    talk.call(tool, "done", **failed)
    (error,) = talk.state().error_patterns
    assert not error.in_force


def test_a_stated_cause_is_a_lesson_and_overcomes_no_failed_call_until_it_succeeds():
    talk = Talk()
    talk.user("Fix it.")
    talk.call("bash", "ImportError: No module named yaml", failed=True, command="pytest tests/a.py")
    said = talk.says("The ImportError was fixed by adding yaml to the requirements.")
    (error,) = talk.state().error_patterns
    assert error.in_force
    assert texts(error.lessons) == [said.text]
    talk.call("bash", "3 passed", command="pytest tests/a.py")
    (error,) = talk.state().error_patterns
    assert (error.resolution.item, error.resolution.text) == (said.id, said.text)
    assert texts(error.lessons) == [said.text]


def test_the_assistants_explanation_of_the_fix_is_with_the_error():
    talk = Talk()
    talk.user("Start it.")
    talk.call("bash", "Error: connect ECONNREFUSED 127.0.0.1:6379", failed=True, command="npm start")
    start = talk.call("bash", "redis started", command="redis-server --daemonize yes")
    talk.call("bash", "listening", command="npm start")
    statement = talk.says("The ECONNREFUSED error on 6379 was fixed by starting redis first.")
    (error,) = talk.state().error_patterns
    assert (error.resolution.item, error.resolution.text) == (statement.id, statement.text)
    assert error.resolution.after_item == start.call


def test_the_same_failure_again_is_one_pattern_whatever_its_numbers_and_unresolved_again():
    talk = Talk()
    talk.user("Run it.")
    for place in range(3):
        talk.call("bash", f"Error: timed out after {place} seconds of waiting", failed=True, command="run it")
    (error,) = talk.state().error_patterns
    assert (error.times, error.in_force, error.item) == (3, True, "i7")


def test_what_was_said_of_how_a_failure_was_overcome_is_known_again_when_it_comes_back():
    talk = Talk()
    talk.user("Build it.")
    lessons = []
    for place in range(3):
        talk.call("bash", "Error: module was built for another runtime", failed=True, command="make it")
        lessons.append(
            f"It failed because this module was built for a runtime; make it --with=p{place} gets around it."
        )
        talk.call("bash", "ok", text=lessons[-1], command=f"make it --with=part{place}")
    again = talk.call("bash", "Error: module was built for another runtime", failed=True, command="make it")
    (error,) = talk.state().error_patterns
    assert (error.in_force, error.times, error.item) == (True, 4, again.id)
    assert texts(error.lessons) == lessons
    assert {lesson.item for lesson in error.lessons} <= set(references_of(error))


# --- bounds -----------------------------------------------------------------------------------------------------------


REPORTED_ERRORS = [
    "The bug is that `runEnableInteractive` doesn't receive the parameter.",
    "Tests pass, but the linter complains about the repeated string.",
    "There are 3 integration test failures.",
    "It seems there are not enough seats available on flight HAT229.",
    "The execution timed out, maybe the binary is expecting some input.",
]


@pytest.mark.parametrize("text", REPORTED_ERRORS)
def test_a_reported_error_lasts_until_the_assistant_reports_success(text):
    talk = Talk()
    talk.user("Add the flag.")
    statement = talk.says(text)
    (error,) = talk.state().error_patterns
    assert (error.item, error.tool, error.in_force) == (statement.id, "", True)
    talk.call("edit", path="a.py", new="x")
    better = talk.says("All tests pass now.")
    (error,) = talk.state().error_patterns
    assert (error.resolution.item, error.resolution.after) == (better.id, "edit a.py")


@pytest.mark.parametrize("text", ["No errors were found.", "Let me check if there is an issue.", "This might fail."])
def test_a_possible_problem_is_not_an_error(text):
    talk = Talk()
    talk.says(text)
    assert talk.state().error_patterns == ()


@pytest.mark.parametrize(
    ("tool", "result", "fails"),
    [
        ("get_order", "Error: order not found", True),
        ("call_api", '{"error": "", "response": "ok"}', False),
        ("call_api", '{"error": "API key missing", "response": ""}', True),
        ("call_api", "HTTP/1.1 503 Service Unavailable", True),
        ("call_api", "checks\nAssertionError: 1 != 2", True),
        ("read_file", "def fail():\n    raise ValueError\n" * 20, False),
        ("read_file", "The file a.py does not exist.", True),
    ],
)
def test_a_result_is_a_failure_where_it_says_so_and_shows_no_file(tool, result, fails):
    talk = Talk()
    talk.call(tool, result, name="x1")
    assert bool(talk.state().error_patterns) == fails


def test_what_ids_tables_and_paths_name_is_touched():
    talk = Talk()
    talk.user("Look at src/app.py, please.")
    talk.call("cancel_reservation", reservation_id="OBUT9V")
    talk.call("execute_sql", query="SELECT name FROM ships JOIN ports ON ports.id = ships.port")
    entities = talk.state().entities
    assert {name: (each.kind, each.state) for name, each in entities.items()} == {
        "src/app.py": ("file", "named"),
        "OBUT9V": ("record", "cancel reservation"),
        "ships": ("table", "read"),
        "ports": ("table", "read"),
    }
    assert entities["OBUT9V"].changed


def test_beyond_its_bounds_superseded_ones_leave_first_then_the_oldest_and_each_is_counted(monkeypatch):
    monkeypatch.setattr(values, "MOST_CONSTRAINTS", 3)
    talk = Talk()
    talk.user("Never delete the alpha files.")
    talk.user("The timeout must be 30 seconds.")
    talk.user("The timeout must be 60 seconds.")
    talk.user("Never touch the beta service.")
    talk.user("Never rename the gamma module.")
    state = talk.state()
    assert texts(state.constraints) == [
        "The timeout must be 60 seconds.", "Never touch the beta service.", "Never rename the gamma module.",
    ]  # fmt: skip
    assert state.left_out == {"constraint": 2}
