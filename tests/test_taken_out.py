"""What a user takes out of the list, or what was rewound, is in no later request."""

import pytest

from gc_core import GCConfig, GCSession
from gc_core.session.reader import SessionReader
from tests.support.grids import half
from tests.support.say import user

RULE = "Always write the answers to Mr Kowalski in Polish."
OTHER = "Always write the answers to Mr Kowalski in Dutch."
HIDDEN = "The wifi password of the flat is tulip-9-orchid."
ASKED = "What was the wifi password of the flat again?"
STRATEGIES = ["gc_truncate", "gc_budget", "gc_hybrid", "gc_summarize", "gc_progressive", "gc_rolling"]
FORMATS = ["openai", "anthropic"]


def opened(strategy="gc_progressive", provider="openai", **more):
    directory = more.pop("directory", None)
    config = GCConfig(strategy=strategy, context_limit=6_000, output_reservation=800, **more)
    return GCSession(config, format=provider, directory=directory)


def said(text):
    return {"role": "assistant", "content": text}


def orders(first, count=30):
    """A chat of this many questions, each with its answer."""
    for number in range(first, first + count):
        mail = f"the customer has a mail with the tracking number {number * 7919}. "
        yield user(f"What is the state of order {number}?")
        yield said(f"Order {number} left the warehouse on Monday and is with the carrier; {mail}" * 3)


def with_rule(session):
    """The list of a chat in which a rule was said that has been collected."""
    held = [user("You help me with orders."), said("Yes."), *orders(0, 10), user(RULE), said("Sure."), *orders(10)]
    session.sync(held[:-1])
    session.post_turn(held[-1])
    return held


def with_secret(session):
    held = [user("You help me."), said("Yes."), user(HIDDEN), said("Noted."), *orders(0)]
    session.sync(held[:-1])
    session.post_turn(held[-1])
    return held


def requests(session, held, asked, count=3):
    """What is sent when the user asks again and again, with much said between."""
    for number in range(count):
        held.append(user(asked))
        yield str(session.sync(held).messages)
        held += [said("I do not know."), *orders(100 * (number + 1))]
        session.sync(held[:-1])
        session.post_turn(held[-1])


def rules(session):
    return [each.text for each in session.state.constraints]


# -- the task state ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", FORMATS)
@pytest.mark.parametrize("strategy", half(STRATEGIES))
def test_a_rule_that_the_user_deletes_is_in_no_later_request_and_not_in_the_state(strategy, provider):
    with opened(strategy, provider) as session:
        held = with_rule(session)
        assert RULE in rules(session)
        place = held.index(user(RULE))
        del held[place : place + 2]
        assert not any("Polish" in sent for sent in requests(session, held, "And now?"))
        assert rules(session) == []


@pytest.mark.parametrize("strategy", half(STRATEGIES))
def test_of_a_rule_that_the_user_edits_only_the_new_words_are_in_force(strategy):
    with opened(strategy) as session:
        held = with_rule(session)
        held[held.index(user(RULE)) :] = [user(OTHER), said("Sure."), *orders(10)]
        assert not any("Polish" in sent for sent in requests(session, held, "And now?"))
        assert rules(session) == [OTHER]


def test_a_rule_said_before_what_the_user_deletes_stays_in_the_state():
    with opened() as session:
        held = with_rule(session)
        del held[-4:-2]
        assert "Polish" in [*requests(session, held, "And now?")][-1]
        assert rules(session) == [RULE]


@pytest.mark.parametrize("is_looked_at", [True, False])
def test_a_deleted_rule_is_not_in_the_state_of_a_session_that_is_opened_again(tmp_path, is_looked_at):
    with opened(directory=tmp_path) as session:
        held = with_rule(session)
        assert RULE in rules(session)
    with GCSession.open(tmp_path) as session:
        place = held.index(user(RULE))
        del held[place : place + 2]
        session.sync([*held, user("And now?")])
        assert not is_looked_at or rules(session) == []
    with GCSession.open(tmp_path) as session:
        assert rules(session) == []
    with SessionReader(tmp_path) as reader:
        assert rules(reader) == []


def test_a_rollback_to_before_the_deletion_brings_the_rule_back():
    with opened() as session:
        held = with_rule(session)
        checkpoint = session.checkpoint()
        place = held.index(user(RULE))
        session.sync([*held[:place], *held[place + 2 :], user("And now?")])
        assert rules(session) == []
        session.rollback(checkpoint)
        assert rules(session) == [RULE]


def test_what_the_caller_itself_sums_up_stays_in_the_state():
    with opened() as session:
        held = with_rule(session)
        summary = user("This session is being continued from a previous conversation. The user asked for orders.")
        compacted = [summary, *held[-2:]]
        assert [*requests(session, compacted, "And now?")]
        assert rules(session) == [RULE]


def test_a_last_message_that_changes_with_each_call_leaves_a_state_of_what_is_said_now():
    with opened() as session:
        held = with_rule(session)
        for number in range(12):
            reminder = user(f"Go on. Never ship order {number} before noon.")
            assert f"order {number - 1} before" not in str(session.sync([*held, reminder]).messages)
            held += [user(f"Step {number}?"), said(f"Step {number} is done.")]
            assert f"Never ship order {number} before noon." in rules(session)
            assert len(rules(session)) == 2


# -- what is brought back ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", FORMATS)
@pytest.mark.parametrize("strategy", half(STRATEGIES))
def test_what_the_user_deletes_is_not_expanded_when_it_is_asked_for(strategy, provider):
    with opened(strategy, provider, auto_expand=True) as session:
        held = with_secret(session)
        assert "tulip-9-orchid" in str(session.sync([*held, user(ASKED)]).messages)
        del held[2:4]
        assert not any("tulip" in sent for sent in requests(session, held, ASKED))


def test_what_was_expanded_leaves_with_the_message_that_it_quotes():
    with opened(auto_expand=True) as session:
        held = [*with_secret(session), user(ASKED)]
        assert "tulip-9-orchid" in str(session.sync(held).messages)
        del held[2:4]
        assert "tulip" not in str(session.sync(held).messages)


def test_a_reply_that_was_made_again_is_not_expanded_with_the_message_it_answered():
    with opened("gc_budget", auto_expand=True) as session:
        held = [user("You help me."), said("Yes."), user(HIDDEN), said("The neighbour is called Zoltan."), *orders(0)]
        session.sync(held[:-1])
        session.post_turn(held[-1])
        held[3] = said("Noted.")
        for sent in requests(session, held, ASKED):
            assert "Zoltan" not in sent


def test_a_name_that_only_a_deleted_message_has_leads_nowhere():
    with opened("gc_budget", auto_expand=True) as session:
        held = with_secret(session)
        del held[2:4]
        assert not any("password" in sent for sent in requests(session, held, "What opens tulip-9-orchid?"))


def test_what_was_rewound_is_not_expanded_when_it_is_asked_for():
    with opened("gc_budget", auto_expand=True) as session:
        for text in ("You help me.", HIDDEN):
            session.append(user(text))
            session.pre_send()
            session.post_turn(said("Yes."))
        session.rewind(1)
        session.extend(orders(0, 5))
        session.append(user(ASKED))
        assert "tulip" not in str(session.pre_send().messages)
        assert "tulip" in session.recall(session.search("tulip")[-1].item)
