"""What a user lays down in a plain chat is in every later request, as long as anything can be kept."""

import json
import random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gc_core import GCConfig, GCPolicy, GCSession, compact
from gc_core.providers.rules import check_request
from tests.support.grids import chequered, half
from tests.support.histories import FORMATS, SPEAKERS, Reply

STRATEGIES = ["none", "gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive"]
RULES = [
    "From now on always answer in metric units and never mention the competitor Acme by name.",
    "Always answer in metric units.",
    "Never mention the competitor Acme by name.",
    "From now on address me as Dr. Hall and sign with your initials.",
    "Do not propose flights; I only travel by train or ferry, whatever the cost may be.",
    "Please keep every answer below 120 words.",
    "I'm allergic to nuts, so leave them out of every menu.",
    "Use British spelling throughout.",
    "Always quote prices in U.S. dollars, rounded to tens.",
    "Don't book anything before 9 a.m. on weekdays.",
    "Every hotel has to have a lift, because my mother uses a wheelchair.",
    "My budget is 900 euros a week, and you must never go above it.",
    "Antworte immer auf Deutsch, auch wenn ich Englisch schreibe.",
    "Réponds toujours sans jargon technique.",
    "Nunca menciones el precio antes de que lo pida.",
    "请始终用中文回答，不要用英文。",
]
WORDS = [
    *("harbour", "museum", "train", "ticket", "garden", "river", "mountain", "coffee", "market", "bridge", "hostel"),
    *("ferry", "castle", "lake", "forest", "village", "station", "street", "dinner", "weather", "north", "south"),
]
CHATTER = [
    "Tell me about {words}?",
    "I don't know what to do about {words}, it is always raining.",
    "We went to {words} last year and I must say it was only nice without the crowds.",
    "I will take the {words} instead, please tell me more.",
    "OK, thanks!",
    "Please describe {words}, and don't make it too long.",
    "No, I mean the other {words}.",
    "Write me a poem about {words}, with no more than four lines.",
]
PLACES = ["{rule}", "Thank you. {rule}", "{rule} What is there to see in {words}?", "I thought about it.\n\n- {rule}\n"]
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)


def words(rng, number):
    return " ".join(rng.choice(WORDS) for _ in range(number))


def chat_of(seed):
    """A chat made from a seed: the rules, what the user says in each turn with the rules among it, and the answers."""
    rng = random.Random(seed)  # noqa: S311 - the same chat for the same seed
    rules = rng.sample(RULES, rng.randint(1, 6))
    turns = rng.randint(30, 50)
    said = [rng.choice(CHATTER).format(words=words(rng, rng.randint(1, 40))) for _ in range(turns)]
    for rule, turn in zip(rules, rng.sample(range(1, 16), len(rules)), strict=True):
        said[turn] = rng.choice(PLACES).format(rule=rule, words=words(rng, 5))
    answers = [words(rng, rng.randint(1, 200)).capitalize() + "." for _ in range(turns)]
    return rules, said, answers


def holds(messages, rule):
    return rule in json.dumps(list(messages), ensure_ascii=False)


def lost(chat, session, speaker):
    """The rules that a request of this chat lacks after they were stated, with the turn."""
    rules, said, answers = chat
    missing = {}
    for turn, (text, answer) in enumerate(zip(said, answers, strict=True)):
        session.append(speaker.user(text))
        request = session.pre_send()
        for rule in rules:
            if any(rule in before for before in said[: turn + 1]) and not holds(request.messages, rule):
                missing.setdefault(rule, turn)
        session.post_turn(speaker.reply(Reply(parts=(("text", answer),))))
    return missing


def held_before(newest, strategy):
    """How many of nine early rules a request holds whose newest message, which no one may cut, all but fills it."""
    with GCSession(GCConfig(strategy=strategy, context_limit=4_000, output_reservation=500)) as session:
        for text in ("Hello.", *RULES[:9], *map(str, range(30))):
            session.append({"role": "user", "content": text})
            session.pre_send()
            session.post_turn({"role": "assistant", "content": "Noted. " * 60})
        session.append({"role": "user", "content": newest}, policy=GCPolicy.LOCKED)
        return sum(holds(session.pre_send().messages, rule) for rule in RULES[:9])


@pytest.mark.parametrize(("strategy", "form"), half(chequered(STRATEGIES, FORMATS)))
@settings(max_examples=1, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)
@given(
    seed=st.integers(0, 10**6), window=st.sampled_from([4_000, 5_000, 6_000, 8_000]), pressure=st.sampled_from([95, 0])
)
def test_rules_stay_in_a_plain_chat_under_every_strategy_and_in_every_format(strategy, form, seed, window, pressure):
    config = GCConfig(strategy=strategy, context_limit=window, output_reservation=500, pressure_percent=pressure)
    with GCSession(config, format=form) as session:
        assert lost(chat_of(seed), session, SPEAKERS[form]()) == {}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_quotes_give_way_only_where_nothing_else_can_and_the_request_fits(strategy):
    assert held_before("a " * 3_300, strategy) == 9
    assert 0 < held_before("a " * 3_380, strategy) < 9


@pytest.mark.parametrize("form", ["{rule}\n\n{paste}", "{paste}\n\n{rule}", "{rule} {paste}"])
def test_a_rule_before_or_behind_a_long_paste_stays_when_the_paste_leaves(form):
    paste = " ".join(
        f"In year {year} the harbour had {year * 7} ships and a quiet winter." for year in range(1900, 1990)
    )
    with GCSession(GCConfig(strategy="gc_truncate", context_limit=6_000, output_reservation=500)) as session:
        for text in ("Hello.", form.format(rule=RULES[0], paste=paste), *map(str, range(40))):
            session.append({"role": "user", "content": text})
            request = session.pre_send()
            session.post_turn({"role": "assistant", "content": "Noted. " * 80})
        assert holds(request.messages, RULES[0])
        assert not holds(request.messages, "In year 1950")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_rule_about_tags_closes_no_frame_that_quotes_it(strategy):
    rule = 'Always close a block with </summary> and never write <context> or "[gc: 5 tokens left out here]".'
    with GCSession(GCConfig(strategy=strategy, context_limit=4_000, output_reservation=500)) as session:
        for text in ("Hello.", rule, *map(str, range(40))):
            session.append({"role": "user", "content": text})
            request = session.pre_send()
            assert not check_request(request)
            assert not session.plugins.failures
            session.post_turn({"role": "assistant", "content": "Noted. " * 60})
        assert holds(request.messages, "Always close a block with ")
        assert session.last_result.tokens_freed > 0


def test_a_rule_that_was_taken_back_is_quoted_with_what_took_it_back():
    with GCSession(GCConfig(strategy="gc_truncate", context_limit=4_000, output_reservation=500)) as session:
        for text in ("Hello.", RULES[2], "Forget what I said about the competitor Acme.", *map(str, range(30))):
            session.append({"role": "user", "content": text})
            request = session.pre_send()
            session.post_turn({"role": "assistant", "content": "Noted. " * 60})
        text = json.dumps(list(request.messages))
        assert 0 < text.index(RULES[2]) < text.index("Forget what I said about the competitor Acme.")


CHANGED = [
    ("The timeout for callbacks is 30 seconds.", "Make it 60 seconds."),
    ("Use lots of emojis in your answers.", "Forget what I said about emojis."),
    ("Always give amounts in euros.", "Use dollars instead of euros from now on."),
]


def orders_with(said):
    """What a user says in 110 turns: this in some of them, otherwise a question, each with its answer."""
    for turn in range(110):
        yield said.get(turn, f"What is the state of order {1000 + turn}?"), f"Order {turn} is with the carrier. " * 6


@pytest.mark.parametrize(("strategy", "changed"), half(chequered(STRATEGIES, CHANGED)))
def test_what_changed_a_rule_stays_where_the_rule_left_long_before(strategy, changed):
    rule, change = changed
    with GCSession(GCConfig(strategy=strategy, context_limit=4_000, output_reservation=800)) as session:
        for turn, (text, answer) in enumerate(orders_with({10: rule, 50: change})):
            session.append({"role": "user", "content": text})
            request = session.pre_send()
            assert turn < 50 or holds(request.messages, change)
            session.post_turn({"role": "assistant", "content": answer})


@pytest.mark.parametrize(
    "strategy",
    ["gc_summarize", *(pytest.param(name, marks=pytest.mark.slow) for name in ("gc_truncate", "gc_progressive"))],
)
def test_no_changed_rule_is_quoted_alone_in_a_list_that_is_compacted_again_and_again(strategy):
    rule, change = CHANGED[0]
    messages = []
    for turn, (text, answer) in enumerate(orders_with({10: rule, 50: change})):
        messages = compact([*messages, {"role": "user", "content": text}], 3_200, strategy=strategy)
        assert turn < 50 or holds(messages, change) or not holds(messages, rule)
        messages.append({"role": "assistant", "content": answer})


@pytest.mark.parametrize("strategy", half(STRATEGIES))
@settings(max_examples=1, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)
@given(seed=st.integers(0, 10**6))
def test_rules_stay_in_a_list_that_is_compacted_again_and_again(strategy, seed):
    rules, said, answers = chat_of(seed)
    messages = []
    for turn, (text, answer) in enumerate(zip(said, answers, strict=True)):
        messages = compact([*messages, {"role": "user", "content": text}], 3_500, strategy=strategy)
        for rule in rules:
            assert holds(messages, rule) or not any(rule in before for before in said[: turn + 1])
        messages = [*messages, {"role": "assistant", "content": answer}]
