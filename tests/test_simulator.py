import attrs
import pytest
from ctxgc.evaluation.cache_simulator import CacheSimulator
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gc_core import GCConfig, GCSession
from gc_core.errors import ContextOverflowError, RuleError
from gc_core.providers import format_named
from gc_core.providers.cache_terms import CacheTerms, terms_of
from gc_core.providers.token_counting import counter_for
from gc_core.values.messages import Request
from tests.support.messages import anthropic_sessions_strategy, openai_sessions_strategy

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
COUNTER = counter_for("gpt-4o", "openai")  # exact: a word is a token
CLAUDE = terms_of("claude-sonnet-4-5", "anthropic")
SMALL = attrs.evolve(CLAUDE, least_tokens=10)
PREFIX = CacheTerms(name="prefix", least_tokens=10, dated="2026-01-01")


def words(count, word=" word"):
    return word * count


def text(count, mark=None, word=" word"):
    block = {"type": "text", "text": words(count, word)}
    return block if mark is None else {**block, "cache_control": mark}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def request(*messages, system=(), tools=(), format="anthropic", **options):  # noqa: A002
    return Request(format=format, messages=messages, system=tuple(system), tools=tuple(tools), options=options)


def reads(simulator, sent, at=0.0, **options):
    usage = simulator.call(sent, at, **options)
    return usage.cache_read_tokens, usage.cache_write_tokens


# -- at marks --------------------------------------------------------------------------------------------------------


def test_tokens_after_the_last_mark_are_fresh():
    usage = CacheSimulator(CLAUDE, COUNTER).call(request(user(text(2_000, MARK), text(500))))
    assert usage.cache_write_tokens > 2_000
    assert usage.fresh_tokens == 500


def test_without_a_mark_nothing_is_written_or_read():
    simulator = CacheSimulator(CLAUDE, COUNTER)
    assert reads(simulator, request(user(text(5_000)))) == (0, 0)
    assert reads(simulator, request(user(text(5_000)))) == (0, 0)


@pytest.mark.parametrize("model", ["claude-opus-5", "claude-sonnet-4-5", "claude-opus-4-7", "claude-opus-4-6"])
def test_below_the_minimum_both_counters_are_0(model):
    terms = terms_of(model, "anthropic")
    small, enough = (request(user(text(terms.least_tokens + more, MARK))) for more in (-50, 50))
    simulator = CacheSimulator(terms, COUNTER)
    assert reads(simulator, small) == reads(simulator, small) == (0, 0)
    assert simulator.call(small).fresh_tokens == simulator.call(small).input_tokens
    assert reads(simulator, enough)[1] > terms.least_tokens
    assert reads(simulator, enough)[0] > terms.least_tokens


def test_a_fifth_mark_is_refused():
    with pytest.raises(RuleError, match="5 cache marks, the provider takes 4"):
        CacheSimulator(CLAUDE, COUNTER).call(request(user(*(text(9, MARK) for _ in range(5)))))


def test_marks_of_an_hour_precede_those_of_five_minutes():
    with pytest.raises(RuleError, match="longer life"):
        CacheSimulator(CLAUDE, COUNTER).call(request(user(text(9, MARK), text(9, HOUR))))


def grown(blocks, mark=MARK):
    return request(user(text(50), *(text(3) for _ in range(blocks - 2)), text(3, mark)))


def test_a_mark_finds_what_was_written_20_blocks_back_itself_counted():
    for further, found in ((19, True), (20, False)):
        simulator = CacheSimulator(SMALL, COUNTER)
        simulator.call(grown(5))
        assert bool(reads(simulator, grown(5 + further))[0]) is found


def test_a_second_mark_near_the_last_write_bridges_more_than_20_blocks():
    simulator = CacheSimulator(SMALL, COUNTER)
    _, written = reads(simulator, grown(5))
    blocks = [text(50), *(text(3) for _ in range(28)), text(3, MARK)]
    blocks[4] = text(3, MARK)
    assert reads(simulator, request(user(*blocks)))[0] == written


def test_tools_come_before_system_and_system_before_messages():
    tool = {"name": "read", "input_schema": {"type": "object", "description": words(50)}}
    system, spoken = text(50, MARK), user(text(50, MARK))
    first = request(spoken, system=[system], tools=[{**tool, "cache_control": MARK}])
    for other, kept in (
        (request(user(text(60, MARK)), system=[system], tools=first.tools), True),
        (request(spoken, system=[text(60, MARK)], tools=first.tools), True),
        (request(spoken, system=[system], tools=[{**tool, "name": "write", "cache_control": MARK}]), False),
    ):
        simulator = CacheSimulator(SMALL, COUNTER)
        simulator.call(first)
        assert bool(reads(simulator, other)[0]) is kept


def test_marks_and_the_shape_of_a_text_are_not_part_of_a_prefix():
    simulator = CacheSimulator(SMALL, COUNTER)
    simulator.call(request(user(text(50, MARK))))
    again = request({"role": "user", "content": words(50)}, user(text(9, MARK)))
    assert reads(simulator, again)[0] > 50


def test_an_entry_lives_five_minutes_from_its_last_use():
    simulator = CacheSimulator(SMALL, COUNTER)
    sent = grown(5)
    simulator.call(sent, 1_000)
    assert reads(simulator, sent, 1_300)[0]
    assert reads(simulator, sent, 1_600)[0]
    assert not reads(simulator, sent, 1_901)[0]


def test_an_hour_is_bought_by_its_mark():
    simulator = CacheSimulator(SMALL, COUNTER)
    sent = request(user(text(50)), user(text(30, MARK)), system=[text(60, HOUR)])
    usage = simulator.call(sent, 0)
    assert 60 <= usage.cache_write_1h_tokens < 70
    assert usage.cache_write_tokens > 130
    later = simulator.call(sent, 3_000)
    assert 60 <= later.cache_read_tokens < 70


def test_a_clock_that_goes_backwards_counts_as_no_time_passed():
    simulator = CacheSimulator(SMALL, COUNTER)
    sent = grown(5)
    simulator.call(sent, 1_000)
    assert reads(simulator, sent, 10)[0]
    assert reads(simulator, sent, 300)[0]
    assert not reads(simulator, sent, 700)[0]


def test_an_entry_can_be_read_only_once_its_reply_has_begun():
    simulator = CacheSimulator(SMALL, COUNTER)
    sent = grown(5)
    first, second = (reads(simulator, sent, 0, reply_seconds=2) for _ in range(2))
    assert first == second
    assert first[0] == 0
    assert reads(simulator, sent, 3)[0]


def test_the_second_users_first_call_reads_what_the_first_one_wrote_for_both():
    simulator = CacheSimulator(SMALL, COUNTER)
    head = {"system": [text(80, MARK)], "tools": [{"name": "read", "input_schema": {}}]}
    _, written = reads(simulator, request(user(text(30, word=" one")), **head))
    assert reads(simulator, request(user(text(30, word=" two")), **head))[0] == written


def test_automatic_caching_marks_the_last_block():
    simulator = CacheSimulator(SMALL, COUNTER)
    first = request(user(text(50)), cache_control=MARK)
    usage = simulator.call(first)
    assert usage.cache_write_tokens == usage.input_tokens
    second = request(*first.messages, user(text(9)), cache_control=MARK)
    assert reads(simulator, second)[0] == usage.cache_write_tokens


# -- any prefix ------------------------------------------------------------------------------------------------------


def chat(*texts, **options):
    return request(*({"role": "user", "content": each} for each in texts), format="openai", **options)


def test_openai_reads_whole_steps_from_1024_tokens_on():
    terms = terms_of("gpt-5.4", "openai")
    simulator = CacheSimulator(terms, COUNTER)
    assert reads(simulator, chat(words(1_000))) == reads(simulator, chat(words(1_000))) == (0, 0)
    simulator.call(chat(words(1_500)))
    read, written = reads(simulator, chat(words(1_500), words(300)))
    assert read == 1_500 // 128 * 128
    assert written == 0


def test_openai_bills_writes_from_gpt_5_6_on_and_matches_at_the_ends_of_requests():
    simulator = CacheSimulator(terms_of("gpt-6", "openai"), COUNTER)
    first = simulator.call(chat(words(1_500)))
    assert first.cache_write_tokens == first.input_tokens
    assert reads(simulator, chat(words(1_500), words(300)))[0] == first.input_tokens


def test_explicit_mode_without_a_mark_turns_openais_cache_off():
    simulator = CacheSimulator(terms_of("gpt-6", "openai"), COUNTER)
    sent = chat(words(2_000), prompt_cache_options={"mode": "explicit"})
    assert reads(simulator, sent) == reads(simulator, sent) == (0, 0)


def test_another_cache_key_is_another_cache():
    simulator = CacheSimulator(PREFIX, COUNTER)
    simulator.call(chat(words(50), prompt_cache_key="a"))
    assert reads(simulator, chat(words(50), prompt_cache_key="b")) == (0, 0)
    assert reads(simulator, chat(words(50), prompt_cache_key="a"))[0]


@settings(phases=QUICK, max_examples=30)
@given(st.lists(st.integers(1, 400), min_size=2, max_size=8), st.data())
def test_a_longer_shared_prefix_never_reads_less(sizes, data):
    marked = data.draw(st.booleans())
    short, long = sorted(data.draw(st.tuples(*[st.integers(0, len(sizes))] * 2)))
    first = [words(size) for size in sizes]
    read = []
    for shared in (short, long):
        simulator = CacheSimulator(SMALL if marked else PREFIX, COUNTER)
        options = {"cache_control": MARK} if marked else {}
        for end in range(1, len(first) + 1):
            simulator.call(chat(*first[:end], **options))
        other = [*first[:shared], *(" else" + each for each in first[shared:])]
        read.append(simulator.call(chat(*other, **options)).cache_read_tokens)
    assert read[0] <= read[1]


@settings(phases=QUICK, max_examples=12)
@given(st.data())
@pytest.mark.parametrize(("format_name", "model"), [("anthropic", "claude-opus-5"), ("openai", "gpt-6")])
def test_read_written_and_fresh_tokens_are_all_of_them_in_any_session(format_name, model, data):
    made = {"anthropic": anthropic_sessions_strategy, "openai": openai_sessions_strategy}[format_name]
    terms = attrs.evolve(terms_of(model, format_name), least_tokens=data.draw(st.sampled_from([1, 64, 512])))
    simulator = CacheSimulator(terms, counter_for(model, format_name))
    config = GCConfig(strategy="gc_budget", context_limit=data.draw(st.integers(400, 4_000)), output_reservation=0)
    with GCSession(config, format=format_name, model=model) as session:
        for at, message in enumerate(data.draw(made())):
            if format_named(format_name).role(message).value != "assistant":
                session.append(message)
                continue
            try:
                usage = simulator.call(session.pre_send(), at * data.draw(st.sampled_from([1, 200])))
            except ContextOverflowError:
                break
            split = usage.cache_read_tokens, usage.cache_write_tokens, usage.fresh_tokens
            assert min(split) >= 0
            assert sum(split) == usage.input_tokens
            assert all(part == 0 or usage.input_tokens >= terms.least_tokens for part in split[:2])
            session.post_turn(message)
