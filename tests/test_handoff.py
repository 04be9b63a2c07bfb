"""Handoffs: a child begins with what it needs and no more, its references can be resolved, its result comes back."""

import asyncio
import importlib.util
import re
from pathlib import Path

import attrs
import pytest
from ctxgc.evaluation.transcripts import read_transcript
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gc_core import AsyncGCSession, ConfigError, GCConfig, GCPolicy, GCSession, InstructionSource
from gc_core.errors import LeaseError, LogError, SessionClosedError, SourceError
from gc_core.integrations.agent_tools import AgentTools
from gc_core.storage.audit import verify
from gc_core.testing import AsyncFakeSummarizer, FakeSummarizer
from tests.support.checker import complaints
from tests.support.corpus import corpus_dir, native_sessions, require_corpus
from tests.support.gemini_messages import gemini_sessions_strategy
from tests.support.inside import collections_of, window_of
from tests.support.likeness import assert_books_are_right, assert_same, likeness
from tests.support.messages import anthropic_sessions_strategy, openai_sessions_strategy
from tests.support.promises import Watch, canonical
from tests.support.responses_messages import responses_sessions_strategy
from tests.support.say import answer, call, lines, result, schema, small, text_of, user

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
REFERENCE = re.compile(r"i\d+@[0-9a-f]{6}")


def work(session, number, *, first=0, size=40):
    """So many steps, each of them with a decision and sometimes an error."""
    for place in range(first, first + number):
        session.pre_send()
        path = {"path": f"src/f{place}.py"}
        session.post_turn(call((f"c{place}", "read", path), text=f"I decided to use plan {place}, it is smaller."))
        error = f"\nerror: port {8000 + place} was taken" if place % 3 == 0 else ""
        session.append(result(f"c{place}", lines(size, f"f{place}") + error))


def begun(window=20_000, steps=10, **more):
    more = {"threshold_percent": 80.0, "pressure_percent": 90.0} | more
    session = small(window, strategy="gc_budget", **more)
    session.system(base="You fix bugs.", rules="Never push to main.")
    session.system(source="team", style="Write tests first.")
    session.tools([schema("read"), schema("web_search")], discoverable={"web_search"})
    session.append(user("The login fails. You must never touch src/auth.py."))
    work(session, steps)
    return session


def block_of(request, source):
    return next((str(each) for each in request.messages if f'<context source="{source}"' in str(each)), "")


# --- what a child begins with -----------------------------------------------------------------------------------------


def test_a_child_begins_with_sources_request_account_state_and_the_newest_steps():
    with begun() as session, session.handoff(steps=2) as child:
        request = child.pre_send()
        assert "".join(each["text"] for each in request.messages[0]["content"]).startswith("You fix bugs.Never push")
        assert request.messages[1]["content"] == "The login fails. You must never touch src/auth.py."
        assert [source.layer for source in child.budget.sources if source.name == "team"] == [30]
        assert len(request.tools) == 2
        assert "must never touch src/auth.py" in block_of(request, "task_state")
        assert "I decided to use plan" in block_of(request, "handoff")
        newest = [*map(canonical, window_of(session).render().messages)][-4:]
        assert [*map(canonical, request.messages)][-4:] == newest
        assert complaints("openai", request.kwargs()) == []
        assert (child.config, child.format) == (session.config, session.format)
        assert_books_are_right(child)


def test_every_reference_in_a_handoff_finds_its_original():
    with begun(6_000, steps=20) as session, session.handoff(result_tokens=0) as child:
        keys = REFERENCE.findall(text_of(child.pre_send()))
        assert len(keys) > 10
        for key in keys:
            assert child.recall(key) == session.recall(key.partition("@")[0])
        whole = block_of(child.pre_send(), "handoff")
        references = re.findall(r"\[gc: [^\]]*\]", whole)
        recalled = "\n".join(map(child.recall, references))
        assert any(session.recall(f"i{number}") in recalled for number in range(3, 60, 3))
        with pytest.raises(SourceError, match="no session abcdef was handed on"):
            child.recall("i4@abcdef")
        tools = AgentTools(child)
        assert session.recall("i4") in tools.call("recall", {"reference": keys[-1].replace(keys[-1][:-7], "i4")})


def test_the_newest_steps_are_handed_on_verbatim_even_where_the_parent_has_stubs():
    with begun(6_000, steps=0) as session:
        work(session, 6, size=300)
        assert any(item.reference is not None for item in session.items())
        wide = GCConfig(context_limit=50_000)
        with session.handoff(steps=3, config=wide, result_tokens=0) as child:
            text = text_of(child.pre_send())
            assert all(f"f{place} 150 of the text" in text for place in (3, 4, 5))


def test_a_small_window_gets_fewer_steps_and_its_request_fits():
    with begun(steps=20) as session:
        small_one = attrs.evolve(session.config, context_limit=4_000)
        with session.handoff(steps=20, summary_tokens=400, config=small_one) as child:
            request = child.pre_send()
            steps = [each for each in request.messages if each["role"] == "assistant"]
            assert 1 <= len(steps) < 20
            assert request.tokens <= 4_000


def test_a_call_that_waits_for_its_result_is_not_handed_on():
    with begun(steps=3) as session:
        session.post_turn(call(("c9", "delegate", {})))
        with session.handoff() as child:
            request = child.pre_send()
            assert "delegate" not in text_of(request)
            assert complaints("openai", request.kwargs()) == []
            assert child.hand_back("It is done.") == ()  # a note waits for the results that the model waits for
        session.append(result("c9", "see the note"))
        assert "It is done." in str(session.pre_send().messages[-1])


@pytest.mark.parametrize(
    ("chosen", "system", "tools"),
    [
        (None, {"base", "rules", "style"}, {"read", "web_search"}),
        ({"system", "plugin"}, {"base", "rules"}, {"read", "web_search"}),
        (["team"], {"style"}, set()),
        (lambda _, name: name in {"rules", "read"}, {"rules"}, {"read"}),
    ],
)
def test_a_filter_says_which_sources_a_child_needs(chosen, system, tools):
    with begun(steps=2) as session, session.handoff(filter=chosen) as child:
        assert {part.name for part in window_of(child).head.parts.values()} == system
        assert {each.item.name for each in window_of(child).schemas} == tools


def test_held_memory_and_what_was_said_in_the_systems_name_go_along():
    with begun(steps=2) as session:
        session.register_source(InstructionSource(name="laws", policy=GCPolicy.LOCKED, layer=70))
        session.memory("laws", first="Speak the truth.")
        session.append({"role": "system", "content": "From now on answer in German."})
        work(session, 3, first=2)
        with session.handoff(steps=1) as child:
            text = text_of(child.pre_send())
            assert "Speak the truth." in text
            assert text.count("From now on answer in German.") == 1


def test_an_objective_that_the_host_set_is_the_childs_too():
    with begun(steps=2) as session:
        session.objective = "Make the login pass."
        with session.handoff() as child:
            assert child.objective == "Make the login pass."


# --- chains -----------------------------------------------------------------------------------------------------------


def test_over_ten_handoffs_the_opening_does_not_grow_and_what_binds_stays():
    chain, sizes = [begun(steps=20)], []
    for generation in range(1, 11):
        child = chain[-1].handoff(summary_tokens=600, result_tokens=0)
        request = child.pre_send()
        sizes.append(request.tokens)
        assert "must never touch src/auth.py" in block_of(request, "task_state")
        assert "must never touch src/auth.py" in str(request.messages[1])
        assert block_of(request, "handoff").count("An account of") == 1
        work(child, 20, first=20 * generation)
        chain.append(child)
    assert max(sizes) <= 1.1 * sizes[0]
    tags = {key.partition("@")[2] for key in REFERENCE.findall(text_of(window_of(chain[-1]).render()))}
    assert len(tags) > 1  # entries of earlier sessions were taken over unchanged
    for key in REFERENCE.findall(text_of(window_of(chain[-1]).render())):
        assert chain[-1].recall(key)
    for session in chain:
        session.close()


def test_a_childs_task_is_handed_on_to_the_next_child_and_not_held_for_ever():
    with begun() as session, session.handoff(steps=0) as child:
        child.append(user("Look at the tests alone: tests/test_login.py."))
        work(child, 8, first=30)
        with child.handoff(steps=2) as grandchild:
            request = grandchild.pre_send()
            assert "tests/test_login.py" in text_of(request)  # the running turn is about it
            grandchild.append(answer("Done."))
            work(grandchild, 1, first=50)
            grandchild.append(user("And now src/other.py."))
            work(grandchild, 8, first=60)
            with grandchild.handoff(steps=2) as last:
                requests = [each for each in last.pre_send().messages if each["role"] == "user"]
                assert requests[0]["content"] == "The login fails. You must never touch src/auth.py."
                assert not any(str(each["content"]).startswith("Look at the tests") for each in requests)


def test_inherited_content_belongs_to_no_turn_of_the_child():
    with begun(steps=6) as session, session.handoff(steps=1) as child:
        assert child.state.constraints
        inherited = [entry for entry in child.state.entries() if "@" in entry.item]
        assert inherited
        assert all(entry.turn == -1 for entry in inherited)


def test_a_child_with_a_directory_goes_on_as_any_session(tmp_path):
    session = begun(directory=tmp_path / "parent")
    child = session.handoff(directory=tmp_path / "child")
    request = child.pre_send()
    (key, *_) = REFERENCE.findall(block_of(request, "handoff"))[1:]
    was, state, original = likeness(child, ledger=False), child.state, child.recall(key)
    child.close()
    session.close()
    with GCSession.open(tmp_path / "child") as again:
        assert_same(was, likeness(again, ledger=False))
        assert again.state == state
        assert again.recall(key) == original  # from the parent's files
        assert str(tmp_path / "parent" / "master.jsonl") in text_of(request)
        with pytest.raises(LeaseError, match="no parent waits"):
            again.hand_back("late")
    assert verify(tmp_path / "child") == verify(tmp_path / "parent") == ()


def test_without_a_directory_a_parents_originals_end_with_it():
    session = begun()
    with session.handoff() as child:
        (key, *_) = REFERENCE.findall(block_of(child.pre_send(), "handoff"))[1:]
        session.close()
        with pytest.raises(SourceError, match="has ended, and it had no directory"):
            child.recall(key)
        work(child, 2, first=40)  # it goes on all the same
        with pytest.raises(SessionClosedError):
            child.hand_back("late")


# --- what comes back --------------------------------------------------------------------------------------------------


def test_a_childs_result_is_one_note_of_its_parent():
    with begun(steps=3) as session:
        session.post_turn(answer("I hand it over."))
        with session.handoff(name="tests", result_tokens=500) as child:
            assert [(lease.name, lease.tokens) for lease in session.leases] == [("tests", 500)]
            work(child, 2, first=40)
            (key,) = child.hand_back(lines(400) + "\nerror: port 8081 was taken")
            with pytest.raises(LeaseError, match="was delivered"):
                child.hand_back("again")
        assert session.leases == ()
        note = str(session.pre_send().messages[-1])
        assert "sub-task tests" in note
        assert "port 8081 was taken" in note
        assert session.recall(key).startswith("line 0 of the text")


def test_closing_a_child_frees_the_room_for_its_result():
    with begun(steps=2) as session:
        session.handoff(result_tokens=2_000).close()
        assert session.leases == ()
        with session.handoff(result_tokens=0) as child:
            assert session.leases == ()
            with pytest.raises(LeaseError, match="no parent waits"):
                child.hand_back("x")
        with pytest.raises(LeaseError, match="no parent waits"):
            session.hand_back("x")


def test_a_session_without_room_for_the_result_hands_nothing_off(tmp_path):
    with begun(steps=2) as session:
        session.lease(18_000, name="docs")
        with pytest.raises(LeaseError, match="does not fit"):
            session.handoff(directory=tmp_path / "child", result_tokens=5_000)
        assert not (tmp_path / "child").exists()


# --- summarizers ------------------------------------------------------------------------------------------------------


def test_the_sessions_summarizer_is_asked_once_and_only_for_originals():
    asked = []

    class Watched(FakeSummarizer):
        def summarize(self, request):
            asked.append(request)
            return super().summarize(request)

    with small(8_000, strategy="gc_summarize", summarizer_timeout=5) as plain:
        config = plain.config
    with GCSession(config, strategy="gc_summarize", summarizer=Watched()) as session:
        session.append(user("Do it."))
        work(session, 30)
        asked.clear()
        with session.handoff(steps=2, result_tokens=0) as child:
            assert len(asked) == 1
            assert all(not item.synthetic and item.reference is None for item in asked[0].items)
            assert block_of(child.pre_send(), "handoff")
            assert collections_of(child).answering.summarizer is collections_of(session).answering.summarizer


def test_an_async_session_hands_off_an_async_one():
    async def run():
        config = GCConfig(context_limit=20_000, reread_guard="off")
        async with AsyncGCSession(config, summarizer=AsyncFakeSummarizer()) as session:
            session.append(user("Do it."))
            for place in range(8):
                await session.pre_send()
                await session.post_turn(call((f"c{place}", "read", {"path": f"f{place}"})))
                session.append(result(f"c{place}", lines(40, f"f{place}")))
            children = await asyncio.gather(*(session.handoff(name=f"task {n}", steps=1) for n in range(3)))
            assert [lease.name for lease in session.leases] == ["task 0", "task 1", "task 2"]
            for child in reversed(children):
                assert complaints("openai", (await child.pre_send()).kwargs()) == []
                child.hand_back(f"{child.format} done")
                child.close()
            assert text_of(await session.pre_send()).count("openai done") == 3

    asyncio.run(run())


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": -1},
        {"steps": True},
        {"summary_tokens": 5},
        {"result_tokens": -1},
        {"tokens": 0},
        {"config": {"context_limit": 5}},
        {"filter": "system"},
        {"filter": ["system", "nobody"]},
        {"filter": 7},
    ],
)
def test_what_cannot_be_is_named_and_nothing_is_leased(wrong):
    with begun(steps=1) as session:
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            session.handoff(**wrong)
        assert session.leases == ()


def test_a_directory_that_holds_a_session_is_refused(tmp_path):
    with begun(steps=1, directory=tmp_path / "s") as session:
        with pytest.raises(LogError):
            session.handoff(directory=tmp_path / "s")
        assert session.leases == ()


def test_an_empty_session_hands_an_empty_one_off():
    with small() as session, session.handoff(result_tokens=0) as child:
        child.append(user("Do it."))
        assert len(child.pre_send().messages) == 1


# --- properties -------------------------------------------------------------------------------------------------------


def handed(session, form, messages, *, repeated=True, **wish):
    """A child after a conversation; its request keeps every promise, and it goes on."""
    watch = Watch(session, format_name=form, repeated_ids=repeated)
    watch.run(messages)
    with session.handoff(result_tokens=0, **wish) as child:
        assert child.plugins.failures == []
        child_watch = Watch(child, format_name=form, repeated_ids=repeated)
        child_watch.locked = [text for text in watch.locked if text]
        child_watch.call(answer("I go on.") if form != "gemini" else {"role": "model", "parts": [{"text": "I go on."}]})
        return child_watch.seen


@settings(max_examples=6, phases=QUICK)
@given(openai_sessions_strategy(), st.integers(0, 4))
def test_a_child_of_any_openai_session_begins_with_a_valid_request(messages, steps):
    with small(20_000, strategy="gc_budget") as session:
        handed(session, "openai", messages, steps=steps)


@settings(max_examples=5, phases=QUICK)
@given(responses_sessions_strategy() | gemini_sessions_strategy(), st.integers(0, 3))
def test_a_child_of_any_other_session_begins_with_a_valid_request(messages, steps):
    form = "gemini" if "parts" in messages[0] else "responses"
    with small(20_000, strategy="gc_budget", format=form) as session:
        Watch(session, format_name=form).run(messages)
        with session.handoff(result_tokens=0, steps=steps) as child:
            assert complaints(form, child.pre_send().kwargs()) == []
            assert child.plugins.failures == []


@settings(max_examples=6, phases=QUICK)
@given(anthropic_sessions_strategy(), st.integers(0, 4), st.sampled_from([None, "claude-opus-4-5"]))
def test_a_child_of_any_anthropic_session_begins_with_a_valid_request(messages, steps, model):
    with small(20_000, strategy="gc_budget", format="anthropic", model=model) as session:
        handed(session, "anthropic", messages, steps=steps)


def test_children_of_recorded_sessions_begin_with_valid_requests_that_fit():
    require_corpus()
    paths = [corpus_dir() / "entire--ac8a4f1a-1917-46bf-b8c1-0c3bab0fbc16.jsonl", native_sessions("gemini")[0]]
    for path in paths:
        transcript = read_transcript(path)
        with small(16_000, strategy="gc_budget", format=transcript.format) as session:
            seen = handed(session, transcript.format, transcript.messages[:80], repeated=False)
        assert seen.calls == 1


def test_the_example_brings_every_result_back():
    path = Path(__file__).parents[1] / "examples" / "handoff.py"
    spec = importlib.util.spec_from_file_location("handoff_example", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    request = asyncio.run(module.researched("Why does the login fail?"))
    assert complaints("openai", request.kwargs()) == []
    assert [str(request.messages).count(f"sub-task {name}") for name in module.TASKS] == [1, 1, 1]
