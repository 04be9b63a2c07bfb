"""What sessions learn from what users state: proposed with reasons, written only when accepted, found by time."""

import json

import attrs
import pytest

from gc_core import GCConfig, GCSession, Plugins, hookimpl
from gc_core.errors import LogError, SourceError
from gc_core.learning.contract import Stated
from gc_core.storage.facts import FactKind, FactOp, FactStore
from tests.support.fact_wordings import judged, rows_of

CONFIG = GCConfig(strategy="none", auto_trigger=False)


@pytest.fixture
def facts(tmp_path):
    return FactStore(tmp_path / "facts.jsonl")


def said(*texts, **options):
    """A session in which a user says these texts; close it."""
    session = GCSession(CONFIG, **options)
    for text in texts:
        session.append({"role": "user", "content": text})
        session.append({"role": "assistant", "content": "I live in Paris. My name is Bot."})
    return session


def proposed(facts, *texts):
    with said(*texts) as session:
        return session.propose(facts)


def learn(facts, *texts):
    with said(*texts) as session:
        return session.accept(facts, session.propose(facts))


def shown(proposals):
    return [(each.op.value, each.stated.object or each.stated.text) for each in proposals]


# --- labelled wordings ----------------------------------------------------------------------------------------------

# "tune" and "unseen" were written before the code by its own author, who knew both; "fresh" and "last" before the code
# was fitted to them; "final" after it was done: that one says how it does on wordings that it has not seen.
FLOORS = {
    "tune": (0.95, 0.90),
    "unseen": (0.90, 0.88),
    "fresh": (0.88, 0.78),
    "last": (0.88, 0.68),
    "final": (0.93, 0.65),
}


@pytest.mark.parametrize("split", FLOORS)
def test_what_is_proposed_for_labelled_wordings_is_mostly_right(split, tmp_path):
    figures = judged(rows_of("fact_wordings.jsonl", split=split), tmp_path)
    precision, recall = FLOORS[split]
    assert figures.precision >= precision, figures.wrong
    assert figures.recall >= recall, figures.missed


# --- proposing ------------------------------------------------------------------------------------------------------


def test_proposing_writes_nothing(facts, tmp_path):
    assert shown(proposed(facts, "I live in Berlin.")) == [("add", "Berlin")]
    assert list(tmp_path.iterdir()) == []


def test_an_accepted_fact_has_its_parts_its_time_and_its_source(facts):
    with said("Hello.", "I live in Berlin.") as session:
        (change,) = session.accept(facts, session.propose(facts))
        fact = FactStore(facts.path).facts["f1"]
        assert fact == change.fact
        assert session.recall(fact.item) == "I live in Berlin."
    assert (fact.states.subject, fact.states.relation, fact.states.object) == ("user", "lives in", "Berlin")
    assert fact.states.turn == 1
    assert 0 < fact.states.as_of <= fact.time
    assert fact.kind is FactKind.FACT


def test_the_assistants_statements_are_not_facts(facts):
    assert proposed(facts, "Thanks!") == ()


def test_a_standing_instruction_is_a_constraint(facts):
    (change,) = learn(facts, "Always use tabs in this repo.")
    assert (change.fact.kind, change.fact.states.relation) == (FactKind.CONSTRAINT, "follows")


def test_another_value_replaces_the_old_one_and_a_fact_that_is_known_is_left(facts):
    learn(facts, "I live in Lisbon.")
    update, leave = proposed(facts, "I moved to Berlin.", "I live in Berlin.")
    assert (update.op, update.fact.id, update.reason) == (FactOp.UPDATE, "f1", "the same had another value")
    assert (leave.op, leave.promotion, leave.reason) == (FactOp.LEAVE, None, "it is known already")


@pytest.mark.parametrize(
    "text", ["Forget the tabs rule.", "The tabs rule is gone.", "Tabs are no longer needed in this repo."]
)
def test_what_is_taken_back_is_deleted(facts, text):
    learn(facts, "Always use tabs in this repo.")
    (change,) = learn(facts, text)
    assert change.op is FactOp.DELETE
    assert facts.facts == {}


def test_retracting_an_unknown_fact_proposes_nothing(facts):
    assert proposed(facts, "Forget the tabs rule.", "We no longer use Jira.") == ()


def test_what_was_said_twice_in_a_session_is_proposed_as_it_was_said_last(facts):
    assert shown(proposed(facts, "I live in Lisbon.", "I moved to Berlin.")) == [("add", "Berlin")]
    learn(facts, "I live in Rome.")
    (update,) = proposed(facts, "I live in Lisbon.", "I moved to Berlin.")
    assert (update.op, update.stated.object, update.fact.states.object) == (FactOp.UPDATE, "Berlin", "Rome")


def test_what_was_said_and_taken_back_in_one_session_leaves_nothing(facts):
    assert proposed(facts, "Always use tabs in this repo.", "Forget the tabs rule.") == ()


def test_what_was_accepted_is_not_proposed_again_not_even_after_it_ended(facts):
    with said("I live in Lisbon.", "Always use tabs in this repo.") as session:
        session.accept(facts, session.propose(facts))
        assert session.propose(facts) == ()
        learn(facts, "Forget the tabs rule.")
        assert session.propose(FactStore(facts.path)) == ()


def test_what_was_said_before_a_fact_does_not_change_it(facts):
    with said("I live in Lisbon.") as earlier:
        learn(facts, "I moved to Berlin.")
        (proposal,) = earlier.propose(facts)
    assert (proposal.op, proposal.reason) == (FactOp.LEAVE, "a later statement stands")


def test_rewound_statements_were_never_made(facts):
    with said("Hello.", "I live in Lisbon.") as session:
        session.pre_send()
        session.rewind(1)
        assert session.propose(facts) == ()


def test_of_two_sessions_that_change_one_fact_the_second_gets_an_error_and_writes_nothing(facts):
    learn(facts, "I live in Lisbon.")
    with said("I moved to Berlin.") as one, said("I moved to Rome.") as other:
        first, second = FactStore(facts.path), FactStore(facts.path)
        proposals = other.propose(second)
        one.accept(first, one.propose(first))
        with pytest.raises(LogError, match="nothing was promoted: no living fact 'f1'"):
            other.accept(second, proposals)
        assert [fact.states.object for fact in second.facts.values()] == ["Berlin"]


@pytest.mark.parametrize(
    "text",
    [
        "If I lived in Berlin, what would change?",
        'He said "I live in Berlin".',
        "Let's say my name is Bob.",
        "My password is hunter2.",
        "```\nI live in Berlin.\n```",
        "Translate: I live in Berlin",
    ],
)
def test_a_sentence_that_is_not_a_statement_is_not_proposed(facts, text):
    assert proposed(facts, text) == ()


def test_a_secret_that_a_plugin_masks_is_in_no_part_of_a_fact(facts):
    class Mask:
        @hookimpl
        def gc_redact(self, text):
            return text.replace("10.0.0.8", "[masked]")

    plugins = Plugins.discover()
    stated = Stated(item="i1", text="db at 10.0.0.8", subject="db 10.0.0.8", relation="is at", object="10.0.0.8")
    with said("The database.", plugins=plugins) as session:
        plugins.register(Mask())
        session.accept(facts, session.propose(facts, Fixed([attrs.evolve(stated, item=session.items()[0].id)])))
    assert "10.0.0.8" not in facts.path.read_text()


# --- extractors -----------------------------------------------------------------------------------------------------


@attrs.frozen
class Fixed:
    """Returns the given statements."""

    stated: list

    def extract(self, items):  # noqa: ARG002 - the protocol's
        return self.stated


def test_an_extractor_of_the_hosts_gets_the_texts_of_users_and_gc_core_decides(facts):
    class Bees:
        def extract(self, items):
            assert [item.text for item in items] == ["Bees live here."]
            return [Stated(item=items[0].id, text="Bees.", subject="user", relation="keeps", object="bees")]

    with said("Bees live here.") as session:
        session.accept(facts, session.propose(facts, Bees()))
    with said("Bees live here.") as session:
        assert [each.op for each in session.propose(facts, Bees())] == [FactOp.LEAVE]


def test_an_extractor_that_names_an_unknown_item_is_refused(facts):
    stated = Stated(item="i99", text="x", subject="a", relation="b", object="c")
    with said("Hello.") as session, pytest.raises(SourceError, match="'i99', which is not a user's text"):
        session.propose(facts, Fixed([stated]))


@pytest.mark.parametrize("parts", [{"subject": "user"}, {"subject": "user", "relation": "is"}, {}])
def test_half_a_statement_dies_in_the_constructor(parts):
    with pytest.raises(ValueError, match=r"expected subject, relation and object|changes nothing"):
        Stated(item="i1", text="x", **parts)


# --- finding --------------------------------------------------------------------------------------------------------


def dated(facts, *pairs):
    """Makes facts of one chain by hand: (time, city)."""
    lines = []
    for number, (time, city) in enumerate(pairs, 1):
        states = {"subject": "user", "relation": "lives in", "object": city, "as_of": time, "turn": 0}
        lines.append({
            "op": "add" if number == 1 else "update", "id": f"f{number}", "kind": "fact", "text": f"I live in {city}.",
            "session": "s", "item": "i1", "bytes": None, "time": 1_000.0,
            "replaces": "" if number == 1 else f"f{number - 1}", "states": states,
        })  # fmt: skip
    facts.path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return FactStore(facts.path)


@pytest.mark.parametrize(
    ("at", "city"), [(99, []), (100, ["Lisbon"]), (199, ["Lisbon"]), (200, ["Berlin"]), (None, ["Berlin"])]
)
def test_what_held_at_a_time_is_found_by_when_it_was_said(facts, at, city):
    store = dated(facts, (100, "Lisbon"), (200, "Berlin"))
    assert [fact.states.object for fact in store.find(at=at)] == city


def test_what_was_deleted_held_until_the_user_said_so(facts):
    learn(facts, "Always use tabs in this repo.")
    born = facts.facts["f1"].since
    learn(facts, "Forget the tabs rule.")
    assert facts.find("tabs") == ()
    assert [fact.id for fact in facts.find("tabs", at=born)] == ["f1"]
    ended = facts.history("f1")[-1].fact
    assert ended.since <= ended.time


def test_facts_are_found_by_subject_relation_and_words_in_any_case_and_script(facts):
    learn(facts, "I live in Lisbon.", "We deploy to Heroku.", "我对花生过敏。", "The staging server is at db7.local.")
    assert [fact.states.object for fact in facts.find(subject="STAGING SERVER")] == ["db7.local"]
    assert [fact.states.object for fact in facts.find(relation="lives in")] == ["Lisbon"]
    assert [fact.states.object for fact in facts.find("heroku, perhaps")] == ["Heroku"]
    assert [fact.states.object for fact in facts.find("花生")] == ["花生"]
    assert facts.find("nothing of it") == ()


def test_a_file_of_before_facts_had_parts_is_read(facts):
    store = dated(facts, (100, "Lisbon"))
    line = json.loads(store.path.read_text())
    del line["states"]
    store.path.write_text(json.dumps(line) + "\n")
    assert FactStore(store.path).find("lisbon")[0].states is None


def test_facts_reach_a_later_session_those_that_its_objective_names_before_newer_ones(facts, monkeypatch):
    foods = ("peanuts", "milk", "eggs", "shellfish", "wheat", "soy", "sesame", "celery", "mustard", "lupin")
    learn(facts, "We deploy to Heroku.", *(f"I'm allergic to {food}." for food in foods))
    assert len(facts.facts) == 11
    monkeypatch.setattr(facts, "path", facts.path.relative_to(facts.path.parent))
    with GCSession(CONFIG) as session:
        session.append({"role": "user", "content": "Why is it slow to deploy to Heroku?"})
        session.load_facts(facts, cap=120)
        text = json.dumps(session.pre_send().messages)
    assert "We deploy to Heroku." in text
    assert "allergic to lupin" in text
    assert "allergic to peanuts" not in text
