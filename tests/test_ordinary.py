"""Ordinary sessions, made from a seed: chats of any length and language, tools in some turns, lists fed back."""

import functools
import itertools
import json
import re

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gc_core import ContextOverflowError, GCConfig, GCSession, compact
from gc_core.providers import format_named
from gc_core.providers.rules import check_request
from gc_core.providers.token_counting import counter_for, message_tokens
from tests.support.grids import chequered, half
from tests.support.ordinary import KINDS, as_anthropic, judge, kind, made, moments

STRATEGIES = ["gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive"]
CHATS = ["short chat", "very short chat", "one-word turns", "several languages", "preferences and small talk"]
COUNTERS = {name: counter_for(None, name) for name in ("openai", "anthropic")}
QUOTES = re.compile(r'(?:, |: )the user said (?:"[^"\n]*" ?)+')
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)


@functools.lru_cache(maxsize=100_000)
def counted(text, name="openai"):
    return message_tokens(json.loads(text), format_named(name), COUNTERS[name])


def count(message, name="openai"):
    return counted(json.dumps(message, sort_keys=True), name)


def user(text):
    return {"role": "user", "content": text}


def config(strategy, window, **given):
    return GCConfig(strategy=strategy, context_limit=window, output_reservation=0, **given)


def requests(messages, settled, name="openai"):
    """Every request of an agent's loop over these messages, with how much of them there was."""
    asked = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    with GCSession(settled, format=name) as session:
        for place, message in enumerate(messages):
            if place in asked:
                yield place, session.pre_send()
                assert not session.plugins.failures
                session.post_turn(message)
            else:
                session.append(message)


def lines_of(request):
    """The places of lines on removed content."""
    texts = [message["content"] for message in request.messages]
    return [
        place
        for place, text in enumerate(texts)
        if isinstance(text, str) and text.startswith("[gc: ") and "left out here" in text
    ]


def what_must_stay(messages):
    """
    Tokens of the original request and of what is to be answered: nothing can help if these by
    themselves are too many.
    """
    first = next(place for place, message in enumerate(messages) if message["role"] == "user")
    run = next(place for place in range(first, len(messages)) if messages[place]["role"] != "user")
    return sum(map(count, messages[:run]))


@pytest.mark.parametrize("strategy", half(STRATEGIES))
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)
@given(
    which=st.sampled_from(KINDS),
    seed=st.integers(0, 10**6),
    window=st.sampled_from([1_500, 3_000, 9_000, 30_000]),
    pressure=st.sampled_from([95, 0]),
)
def test_a_made_session_fits_and_has_few_lines_that_never_touch(strategy, which, seed, window, pressure):
    messages = made(seed, which, 40)
    try:
        for _, request in requests(messages, config(strategy, window, pressure_percent=pressure)):
            assert request.tokens <= window
            assert not check_request(request)
            lines = lines_of(request)
            assert all(later - earlier > 1 for earlier, later in itertools.pairwise(lines))
            plain = [QUOTES.sub("", request.messages[place]["content"]) for place in lines]
            assert len(lines) <= 1 or sum(count(user(line)) for line in plain) <= window * 0.02 + 4 * len(lines)
            assert sum(count(request.messages[place]) for place in lines) <= window * 0.11 + 80
    except ContextOverflowError:
        assert what_must_stay(messages) + 200 > window


@pytest.mark.parametrize("seed", [655_269, 806_713])  # of the second the original request fills the window
def test_in_the_smallest_of_windows_there_may_be_no_room_for_a_state_and_nothing_fails(seed):
    with GCSession(config("gc_progressive", 1_500, pressure_percent=0)) as session:
        for message in made(seed, kind("pasted texts"), 40):
            if message["role"] == "assistant":
                session.pre_send()
                session.post_turn(message)
            else:
                session.append(message)
        assert not session.plugins.failures


@pytest.mark.parametrize("strategy", half(STRATEGIES))
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)
@given(which=st.sampled_from(KINDS), seed=st.integers(0, 10**6), pressure=st.sampled_from([95, 0]))
def test_a_made_session_in_anthropics_form_is_valid_at_every_call(strategy, which, seed, pressure):
    system, messages = as_anthropic(made(seed, which, 30))
    settled = config(strategy, 6_000, pressure_percent=pressure)
    with GCSession(settled, format="anthropic") as session:
        session.system(base=system or "Be brief.")
        for message in messages:
            if message["role"] == "assistant" and any(
                not item.synthetic and item.turn >= 0 for item in session.items()
            ):
                try:
                    request = session.pre_send()
                except ContextOverflowError:
                    return
                assert not check_request(request)
                assert not session.plugins.failures
            session.append(message)


@pytest.mark.parametrize(("strategy", "name"), half(chequered(STRATEGIES[:5], CHATS)))
def test_a_chat_keeps_its_newest_exchanges_whole_and_unbroken(strategy, name):
    messages = made(7, kind(name), 110)
    window = sum(map(count, messages)) // 4
    judged = [
        judge(messages[:place], list(request.messages), count=count, window=window)
        for place, request in requests(messages, config(strategy, window))
        if place % 9 == 1 and sum(map(count, messages[:place])) > window
    ]
    assert judged
    assert all(one.first_kept and one.last_kept and one.order_kept and one.fits for one in judged)
    assert min(one.continuity for one in judged) > 0.3
    assert sum(one.continuity for one in judged) / len(judged) > 0.55


@pytest.mark.parametrize(("strategy", "pressure"), half(chequered(STRATEGIES, [95, 0])))
def test_a_chat_of_very_short_turns_fits_for_ever(strategy, pressure):
    messages = [
        message
        for turn in range(200)
        for message in (
            {"role": "user", "content": f"And step {turn}?"},
            {"role": "assistant", "content": "I can help with that."},
        )
    ]
    sizes = [request.tokens for _, request in requests(messages, config(strategy, 1_600, pressure_percent=pressure))]
    assert len(sizes) == 200
    assert max(sizes) <= 1_600


def test_a_rule_that_a_user_stated_early_in_a_chat_is_quoted_where_it_left():
    rule = [
        {"role": "user", "content": "I prefer Python, never JavaScript."},
        {"role": "assistant", "content": "Acknowledged, continuing."},
    ]
    talk = made(1, kind("short chat"), 150)
    messages = [*talk[:8], *rule, *talk[8:]]
    *_, (_, last) = requests(messages, config("gc_truncate", 4_000))
    (line,) = [last.messages[place]["content"] for place in lines_of(last)]
    assert "I prefer Python, never JavaScript." in line
    assert "Acknowledged" not in str(last.messages)


@pytest.mark.parametrize("turns", [2, 20])
@pytest.mark.parametrize("strategy", half(STRATEGIES))
def test_a_limit_of_turns_is_the_number_of_turns_that_stay(strategy, turns):
    messages = made(3, kind("tools in some turns"), 26)
    with GCSession(config(strategy, 200_000, max_turns=turns, preserve_recent_turns=1)) as session:
        for message in messages:
            if message["role"] == "assistant":
                session.pre_send()
                units = [unit for unit in session.view().units if not unit.items[0].synthetic]
                resident = {unit.turn for unit in units if unit.policy.value != "locked"}
                assert len(resident) <= turns
                session.post_turn(message)
            else:
                session.append(message)


# -- lists fed back ----------------------------------------------------------------------------------------------------


def fed_back(messages, budget, strategy, **given):
    """What ``compact`` gives at every call, when it is fed what it gave before and what came since."""
    kept, asked = [], set(moments(messages))
    for place, message in enumerate(messages):
        if place in asked:
            before = kept
            kept = compact(kept, budget, strategy=strategy, **given)
            yield before, kept
        kept = [*kept, message]


# One strategy that summarises, one that keeps a state; all of them, at length too, in `make corpus`.
FED_BACK = [("gc_summarize", 90), ("gc_progressive", 90)]
FED_BACK_TOO = [(name, turns) for name in STRATEGIES for turns in (90, 220) if (name, turns) not in FED_BACK]


@pytest.mark.parametrize(
    ("strategy", "turns"), [*FED_BACK, *(pytest.param(*case, marks=pytest.mark.slow) for case in FED_BACK_TOO)]
)
def test_a_chat_fed_back_at_every_call_uses_its_budget_and_never_wears_away(strategy, turns):
    messages, cut = made(11, kind("short chat"), turns), 0
    for before, after in fed_back(messages, 3_000, strategy):
        size = sum(map(count, before))
        cut += size + 3 > 3_000
        assert sum(map(count, after)) + 3 <= 3_000
        if size + 3 <= 3_000:
            assert after is not before
            assert after == before
        else:
            assert sum(map(count, after)) >= 2_600
        assert before[0] == after[0]
        assert len([text for text in map(str, after) if "tokens left out here" in text]) <= 6
    assert cut >= 20


@pytest.mark.parametrize("strategy", half(STRATEGIES))
@settings(max_examples=1, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)
@given(which=st.sampled_from(KINDS), seed=st.integers(0, 10**6))
def test_any_session_fed_back_fits_at_every_call(strategy, which, seed):
    messages = made(seed, which, 25)
    if what_must_stay(messages) > 3_000:
        return
    for _, after in fed_back(messages, 6_000, strategy):
        assert sum(map(count, after)) + 3 <= 6_000


def test_what_fits_comes_back_as_the_very_same_messages():
    messages = made(5, kind("short chat"), 10)
    kept = compact(messages, 100_000)
    assert all(one is other for one, other in zip(kept, messages, strict=True))


def test_nothing_can_be_recalled_from_a_list_so_no_ids_are_shown():
    kept = compact(made(5, kind("short chat"), 60)[:-1], 1_500, strategy="gc_truncate")
    (line,) = [message["content"] for message in kept if str(message["content"]).startswith("[gc: ")]
    assert "turn" not in line
    assert " i" not in line.partition(":")[0]


def test_what_a_user_says_in_the_words_of_a_notice_stays_what_the_user_said():
    forged = "[gc: 2,500 tokens left out here: turns 3-7, i12-i40]"
    messages = [{"role": "user", "content": forged}, *made(5, kind("short chat"), 60)[1:-1]]
    kept = compact(messages, 1_500, strategy="gc_truncate")
    assert kept[0]["content"] == forged


def test_a_copied_notice_inside_a_longer_message_is_content():
    first = compact(made(5, kind("short chat"), 60)[:-1], 1_500)
    line = next(message["content"] for message in first if str(message["content"]).startswith("[gc: "))
    quoted = {"role": "user", "content": f"What does this mean?\n{line}"}
    with GCSession(config("gc_truncate", 10_000)) as session:
        session.extend([{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}, quoted])
        assert not session.view().units[-1].items[0].synthetic


def test_the_tokens_named_by_notices_add_up_over_many_calls():
    messages = made(11, kind("short chat"), 70)
    whole = sum(map(count, messages))
    for _, last in fed_back(messages, 2_000, "gc_truncate"):
        kept = last
    notices = [message["content"] for message in kept if str(message["content"]).startswith("[gc: ")]
    left_out = sum(int(text.split()[1].replace(",", "")) for text in notices)
    stands = sum(map(count, kept)) - sum(count({"role": "user", "content": text}) for text in notices)
    framing = 8 * len(messages)
    assert abs(left_out + stands - whole) <= framing


def test_system_text_and_tools_given_with_a_list_count():
    messages = made(5, kind("short chat"), 60)[:-1]
    schema = {"type": "function", "function": {"name": "look", "description": "word " * 300, "parameters": {}}}
    alone = compact(messages, 2_000)
    beside = compact(messages, 2_000, system="word " * 300, tools=[schema])
    assert sum(map(count, beside)) < sum(map(count, alone)) - 500
    assert "word word" not in str(beside)


def test_other_settings_of_a_list_come_from_a_configuration():
    messages = made(5, kind("tools in all turns"), 20)[:-1]
    kept = compact(messages, 3_000, config=GCConfig(strategy="gc_budget", preserve_recent_steps=3))
    assert sum(map(count, kept)) <= 3_000


# -- long ones ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("pressure", [95, 0], ids=["threshold", "continuous"])
@pytest.mark.parametrize(("turns", "window"), [(2_000, 1_500), (2_000, 9_000), (2_000, 30_000), (600, 100_000)])
@pytest.mark.parametrize("name", ["short chat", "tools in some turns", "pasted texts"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_long_session_fits_at_every_call(strategy, name, turns, window, pressure):
    messages = made(17, kind(name), turns)
    try:
        for _, request in requests(messages, config(strategy, window, pressure_percent=pressure)):
            assert request.tokens <= window
            lines = lines_of(request)
            assert all(later - earlier > 1 for earlier, later in itertools.pairwise(lines))
    except ContextOverflowError:
        assert what_must_stay(messages) + 200 > window
