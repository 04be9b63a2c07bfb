"""Callers who hold the whole list: ``GCSession.sync`` over real sessions and over thousands of edits."""

import asyncio
import copy
import json
from types import MappingProxyType

import pytest

from gc_core import AsyncGCSession, GCConfig, GCSession, compact
from gc_core.errors import ContextOverflowError, MessageError
from gc_core.events import CollectionFinished
from gc_core.providers import format_named
from gc_core.providers.rules import check_request
from gc_core.storage.audit import verify
from gc_core.values.messages import Role
from tests.support.corpus import openai_sessions, require_corpus
from tests.support.edited_lists import FORMATS, EditedList, tokens_in
from tests.support.grids import half
from tests.support.inside import state_of
from tests.support.promises import canonical
from tests.support.say import answer, call, lines, result, results, schema, use, user

WINDOW = 3_000


class Collections:
    """How often a session has collected."""

    def __init__(self):
        self.count = 0

    def __call__(self, event):
        self.count += isinstance(event, CollectionFinished)


def opened(provider="openai", strategy="gc_budget", window=WINDOW, **more):
    config = GCConfig(strategy=strategy, context_limit=window, output_reservation=0)
    return GCSession(config, format=provider, **more)


def sent(request):
    return [canonical(message) for message in request.messages]


def recorded(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def calls_in(messages):
    """The lists that an agent sends over a recorded session, one for each of its model calls."""
    form = format_named("openai")
    for place in range(1, len(messages)):
        if form.role(messages[place]) is Role.ASSISTANT and form.role(messages[place - 1]) is not Role.ASSISTANT:
            yield messages[:place]


# -- edit histories ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", FORMATS)
@pytest.mark.parametrize("strategy", half(["gc_budget", "gc_truncate"]))
@pytest.mark.parametrize("seed", range(2))
def test_whatever_a_caller_does_to_its_list_the_request_is_of_that_list(provider, strategy, seed):
    follow(provider, strategy, seed, steps=30)


@pytest.mark.slow
@pytest.mark.parametrize("provider", FORMATS)
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_edit_histories_keep_the_promises(provider, part):
    for seed in range(1_000 + part * 250, 1_250 + part * 250):
        follow(provider, ("gc_budget", "gc_truncate", "gc_hybrid", "gc_progressive")[seed % 4], seed, steps=20)


def follow(provider, strategy, seed, *, steps):
    edited, collections = EditedList(provider, seed), Collections()
    with opened(provider, strategy, on_event=collections) as session:
        before, tokens_before = None, set()
        for _ in range(steps):
            edited.change()
            held, count = edited.messages, collections.count
            given = copy.deepcopy(held)
            try:
                request = session.sync(held)
            except ContextOverflowError:
                before = None
                continue
            assert held == given, "the caller's list is not touched"
            assert state_of(session).calibration.estimate(request.tokens) <= WINDOW
            assert check_request(request) == ()
            theirs = [message for message in request.messages if not request.is_own(message)]
            assert tokens_in(theirs) <= tokens_in(held), f"nothing of another list ({edited.did})"
            if before is not None and collections.count == count and edited.did in {"extended", "sent again"}:
                assert sent(request)[: len(before)] == before, f"what was sent stands ({edited.did})"
                assert sent(request) == before or edited.did == "extended"
            if sent(request) == list(map(canonical, held)):
                assert all(mine is own for mine, own in zip(request.messages, held, strict=True))
            before, tokens_before = sent(request), tokens_before | tokens_in(held)
        assert tokens_in(json.loads(line) for line in log_lines(session)) >= tokens_before, "the log keeps everything"


def log_lines(session):
    return (session.directory / "master.jsonl").read_text().splitlines()


@pytest.mark.parametrize("provider", FORMATS)
@pytest.mark.parametrize("seed", [100, 101, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(102, 120))])
def test_a_session_that_is_opened_again_sends_the_same_for_the_same_list(tmp_path, provider, seed):
    edited = EditedList(provider, seed)
    config = GCConfig(strategy="gc_budget", context_limit=WINDOW, output_reservation=0, checkpoint_every_n_steps=3)
    session = GCSession(config, format=provider, directory=tmp_path / "s")
    for _ in range(15):
        edited.change()
        request = session.sync(edited.messages)
        session.close()
        assert verify(tmp_path / "s") == ()
        session = GCSession.open(tmp_path / "s")
        assert sent(session.sync(copy.deepcopy(edited.messages))) == sent(request), edited.did
    session.close()


# -- recorded sessions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", openai_sessions()[::4] or [None], ids=lambda path: path.stem[:40] if path else "none")
def test_a_recorded_list_that_needs_no_collection_comes_back_object_for_object(path):
    require_corpus()
    messages = recorded(path)[:300]
    with opened(strategy="none", window=10_000_000) as session:
        for held in calls_in(messages):
            request = session.sync(held)
            assert len(request.messages) == len(held)
            assert all(mine is own for mine, own in zip(request.messages, held, strict=True))


@pytest.mark.parametrize("path", openai_sessions()[1::8] or [None], ids=lambda path: path.stem[:40] if path else "none")
def test_a_recorded_session_given_as_lists_fits_and_does_not_change_between_collections(path):
    require_corpus()
    messages, collections, before, seen = recorded(path)[:400], Collections(), [], 0
    with opened(window=24_000, on_event=collections) as session:
        for held in calls_in(messages):
            request = session.sync(held)
            assert state_of(session).calibration.estimate(request.tokens) <= 24_000
            assert check_request(request) == ()
            if collections.count == seen:
                assert sent(request)[: len(before)] == before
            before, seen = sent(request), collections.count


# -- what left stays away ----------------------------------------------------------------------------------------------


def long_list(steps=12, words=400):
    """A request and so many calls with large results."""
    held = [user("Read the files and tell me what they hold.")]
    for number in range(steps):
        held += [call((f"c{number}", "read", {"path": f"f{number}"})), result(f"c{number}", lines(words, f"w{number}"))]
    return held


def collected_session(**more):
    """A session that has collected for ``long_list``, that list, and what it sends for it."""
    session, held = opened(window=8_000, **more), []
    for place, message in enumerate(long_list(), start=1):
        held.append(message)
        if place % 2:
            request = session.sync(held)
    assert len(session.history()) >= 1
    return session, held, request


def test_an_equal_list_is_a_retry_and_changes_nothing():
    session, held, request = collected_session()
    with session:
        files = [session.directory / name for name in ("master.jsonl", "ledger.jsonl")]
        sizes = [path.stat().st_size for path in files]
        for _ in range(3):
            assert session.sync(copy.deepcopy(held)).messages == request.messages
        assert [path.stat().st_size for path in files] == sizes


def test_a_reminder_that_changes_with_each_call_takes_no_collection_back():
    session, held, _ = collected_session()
    with session:
        first = session.sync([*held, answer("So far."), user("Reminder: it is 10:01.")])
        count = len(session.history())
        for minute in range(2, 9):
            request = session.sync([*held, answer("So far."), user(f"Reminder: it is 10:0{minute}.")])
            assert sent(request)[:-1] == sent(first)[:-1]
            assert request.messages[-1]["content"] == f"Reminder: it is 10:0{minute}."
        assert len(session.history()) == count


def test_a_list_cut_inside_a_summarised_range_goes_back_to_before_that_range():
    session, held, _ = collected_session()
    with session:
        request = session.sync(held[:5])
        assert [*request.messages] == held[:5]


def test_a_compaction_of_the_callers_own_begins_a_new_window_and_loses_nothing():
    session, held, _ = collected_session()
    with session:
        compacted = [user("This session continues an earlier one. Summary: files 0 to 11 were read."), *held[-2:]]
        request = session.sync(compacted)
        assert all(mine is own for mine, own in zip(request.messages, compacted, strict=True))
        assert "w3 5 of the text" in session.recall("i10")
        assert session.search("w3")


def test_a_reply_that_post_turn_took_is_known_in_the_next_list():
    with opened() as session:
        held = [user("What is in a?")]
        session.sync(held)
        session.post_turn(call(("c1", "read", {"path": "a"})))
        held += [call(("c1", "read", {"path": "a"})), result("c1", "It holds a.")]
        request = session.sync(held)
        assert all(mine is own for mine, own in zip(request.messages, held, strict=True))
        assert len(log_lines(session)) == 1 + 3


def test_a_reply_that_the_caller_holds_in_other_words_takes_the_place_of_what_was_taken():
    with opened() as session:
        session.sync([user("What is in a?")])
        session.post_turn(answer("It holds a.\n"))
        held = [user("What is in a?"), answer("It holds a."), user("And b?")]
        assert [*session.sync(held).messages] == held


def test_usage_calibrates_where_the_reply_comes_with_the_next_list():
    with opened() as session:
        request = session.sync([user(lines(100))])
        session.report_usage({"prompt_tokens": request.tokens * 2, "completion_tokens": 5, "total_tokens": 0})
        assert state_of(session).calibration.estimate(1_000) > 1_500


# -- outside the conversation ------------------------------------------------------------------------------------------


def test_a_list_outside_the_conversation_reads_as_the_window_and_is_not_taken_in():
    session, held, request = collected_session()
    with session:
        position = (session.directory / "master.jsonl").stat().st_size
        question = user("Summarise the conversation above.")
        beside = session.beside([*held, question])
        assert [*beside.messages] == [*request.messages, question]
        assert (session.directory / "master.jsonl").stat().st_size == position
        assert session.sync(copy.deepcopy(held)).messages == request.messages


@pytest.mark.parametrize("behind", [(), ({"role": "system", "content": "A hook says so."},)], ids=["last", "not last"])
def test_a_block_that_is_added_to_a_known_message_is_asked_of_the_window(behind):
    """So Claude Code asks for its compaction, with the texts of hooks behind it."""
    question = {"type": "text", "text": "Summarise the conversation above."}
    with opened("anthropic", window=4_000) as session:
        held = [user("Read them.")]
        for number in range(6):
            held += [use((f"c{number}", "read", {})), results((f"c{number}", lines(300, f"w{number}")))]
            request = session.sync([*held, *behind])
        assert session.history()
        last = {**held[-1], "content": [*held[-1]["content"], question]}
        beside = session.beside([*copy.deepcopy(held[:-1]), last, *behind])
        whole = json.dumps(canonical_all(beside.messages))
        assert "Summarise the conversation above." in whole
        known = len(request.messages) - 1
        assert canonical_all(beside.messages[:known]) == canonical_all(request.messages[:known])
        assert tokens_in(request.messages) <= tokens_in(beside.messages)
        assert session.sync([*copy.deepcopy(held), *behind]).messages == request.messages
    with opened("anthropic", window=100_000) as session:
        session.sync([*held, *behind])
        asked = [*held[:-1], last, *behind]
        assert all(mine is own for mine, own in zip(session.beside(asked).messages, asked, strict=True))


def canonical_all(messages):
    return [canonical(message) for message in messages]


def test_a_title_of_the_first_message_is_asked_for_beside_the_conversation():
    session, held, _ = collected_session()
    with session:
        title = [user(held[0]["content"] + " Answer with a title.")]
        assert [*session.beside(title, system="You write titles.", tools=[]).messages] == title


def test_a_list_outside_the_conversation_that_does_not_fit_gives_none():
    session, held, _ = collected_session()
    with session:
        assert session.beside([*held, user(lines(3_000))]) is None


def test_a_refusal_for_length_is_answered_with_the_callers_own_objects():
    session, held, request = collected_session()
    with session:
        refusal = Exception("This model's maximum context length is 4000 tokens. However, you requested 7000 tokens.")
        again = session.recover(refusal)
        assert again.tokens < request.tokens
        assert again.messages[0] is held[0]


# -- cache marks -------------------------------------------------------------------------------------------------------

MARK = MappingProxyType({"cache_control": {"type": "ephemeral", "ttl": "1h"}})


def marks_in(request):
    blocks = [block for message in request.messages for block in message["content"] if isinstance(block, dict)]
    return [block for block in blocks if "cache_control" in block]


def test_the_callers_marks_stay_where_they_are_and_none_is_added():
    with opened("anthropic") as session:
        held = [user([{"type": "text", "text": lines(200), **MARK}]), use(("c1", "read", {})), results(("c1", "It."))]
        request = session.sync(held)
        assert [*request.messages] == held
        assert len(marks_in(request)) == 1
        held = [user(lines(200)), held[1], results(("c1", "It."))]
        held[2]["content"][0].update(MARK)
        request = session.sync(held)
        assert all(mine is own for mine, own in zip(request.messages, held, strict=True))


def test_a_mark_on_what_left_moves_to_the_nearest_block_before_it():
    with opened("anthropic", "gc_truncate", window=4_000) as session:
        held = [user("Read them.")]
        for number in range(6):
            held += [use((f"c{number}", "read", {})), results((f"c{number}", lines(300, f"w{number}")))]
        held[4]["content"][0].update(MARK)
        held[-1]["content"][0].update(MARK)
        request = session.sync(held)
        assert session.history()
        marks = marks_in(request)
        assert [mark["cache_control"] for mark in marks] == [MARK["cache_control"]] * 2
        assert marks[-1] is request.messages[-1]["content"][-1]


def test_marks_are_added_where_they_are_asked_for():
    config = GCConfig(strategy="none", context_limit=100_000, cache_marks=True)
    with GCSession(config, format="anthropic", model="claude-opus-5") as session:
        request = session.sync([user([{"type": "text", "text": lines(3_000)}])], marks=True)
        assert len(marks_in(request)) == 1


# -- system text and tools ---------------------------------------------------------------------------------------------


def test_system_text_and_tools_count_and_come_back_as_they_are():
    system = [{"type": "text", "text": "You read files.", **MARK}, {"type": "text", "text": "Be brief."}]
    tools = [schema("read", "anthropic"), {"type": "web_search_20250305", "name": "web_search"}]
    with opened("anthropic") as session:
        bare = session.sync([user("Hello.")]).tokens
        request = session.sync([user("Hello.")], system=system, tools=tools)
        assert request.tokens > bare
        assert all(mine is own for mine, own in zip(request.system, system, strict=True))
        assert all(mine is own for mine, own in zip(request.tools, tools, strict=True))
        changed = [{"type": "text", "text": "You write files."}]
        assert session.sync([user("Hello.")], system=changed).system == tuple(changed)


def test_a_session_with_a_directory_adds_nothing_to_the_callers_system_text(tmp_path):
    with opened(directory=tmp_path / "s") as session:
        held = [{"role": "system", "content": "You read files."}, user("Hello.")]
        assert [*session.sync(held).messages] == held


@pytest.mark.parametrize("key", ["functionDeclarations", "function_declarations"])
def test_the_tools_of_gemini_are_read_in_both_spellings(key):
    tools = [{key: [{"name": "read", "description": "Reads."}, {"name": "write"}]}, {"googleSearch": {}}]
    with opened("gemini") as session:
        request = session.sync([{"role": "user", "parts": [{"text": "Hello."}]}], tools=tools)
        assert request.kwargs()["config"]["tools"] == tools


@pytest.mark.parametrize("config", [None, GCConfig(strategy="gc_budget")])
def test_a_plain_list_that_fits_comes_back_from_compact_without_a_mark(config):
    """It is long enough to be cached, and the caller sets its own breakpoints."""
    held = [user([{"type": "text", "text": lines(1_000)}])]
    assert compact(held, 100_000, format="anthropic", config=config) == held


# -- errors ------------------------------------------------------------------------------------------------------------


def test_a_malformed_message_is_named_and_the_next_list_goes_on():
    with opened() as session:
        with pytest.raises(MessageError, match="role"):
            session.sync([user("Hello."), {"content": "?"}])
        held = [user("Hello."), answer("Hello."), user("Go on.")]
        assert [*session.sync(held).messages] == held


def test_something_that_is_not_a_list_of_messages_is_refused():
    with opened() as session, pytest.raises(MessageError, match="expected a list of messages"):
        session.sync("Hello.")


# -- event loops -------------------------------------------------------------------------------------------------------


def test_an_async_session_sends_the_same():
    session, held, request = collected_session()
    session.close()
    config = GCConfig(strategy="gc_budget", context_limit=8_000, output_reservation=0)

    async def drive():
        async with AsyncGCSession(config) as other:
            for place in range(1, len(held) + 1, 2):
                again = await other.sync(held[:place])
            return again

    assert sent(asyncio.run(drive())) == sent(request)
