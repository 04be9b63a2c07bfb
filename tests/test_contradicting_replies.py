"""Replies that name an item, a file or a value which the log contradicts are refused, and others are taken."""

import json
from pathlib import Path

import pytest

from gc_core import GCConfig, GCSession, Plugins
from gc_core.errors import InconsistentReplyError
from gc_core.plugins.contradictions import ContradictionCheck
from gc_core.plugins.reply_claims import Claims, files_worked_on
from tests.support.corpus import openai_sessions, require_corpus
from tests.support.say import answer, call, result, user

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "contradicting_replies.jsonl").read_text("utf-8").splitlines()
]


def said(case, **more):
    """A session in which the log of a case was said, and all but the newest of it was collected."""
    config = GCConfig(
        strategy="gc_truncate", context_limit=8_000, output_reservation=0, **{"check_replies": True, **more}
    )
    session = GCSession(config, plugins=Plugins.discover())
    for place, (kind, text) in enumerate(case["log"]):
        if kind == "user":
            session.append(user(text))
        elif kind == "call":
            name, _, arguments = text.partition(" ")
            session.post_turn(call((f"c{place + 1}", name, arguments)))
        else:
            session.append(result(f"c{place}", text))
    for place in range(10):
        session.append(user(f"And part {place}?"))
        session.pre_send()
        session.post_turn(answer(f"Part {place} is as it was. " + "There is nothing more to say about it. " * 20))
    session.collect_now(target_percent=5)
    session.append(user("Well?"))
    return session


def refused(case):
    with said(case, recovery_strategy="raise") as session:
        session.pre_send()
        try:
            session.post_turn(answer(case["reply"]))
        except InconsistentReplyError as error:
            return str(error)
        finally:
            assert not session.plugins.failures
    return ""


def of(half, *, contradicting):
    return [case for case in CASES if case["half"] == half and bool(case["contradicts"]) is contradicting]


@pytest.mark.parametrize("case", of("seen", contradicting=True), ids=lambda case: case["contradicts"])
def test_what_the_log_contradicts_is_refused(case):
    assert case["contradicts"] in refused(case)


@pytest.mark.parametrize("case", of("seen", contradicting=False), ids=lambda case: case["reply"][:40])
def test_what_it_does_not_contradict_is_taken(case):
    assert refused(case) == ""


def test_on_replies_that_were_only_counted_most_are_found_and_at_most_one_wrongly():
    """
    First measured: 13 of 15, and one of 15 wrongly; nobody looked which. All 15 since sums of logged numbers are not
    taken for its values any more, which an auditor's example showed.
    """
    found = [case["contradicts"] in refused(case) for case in of("counted", contradicting=True)]
    wrong = [bool(refused(case)) for case in of("counted", contradicting=False)]
    assert (len(found), len(wrong)) == (15, 15)
    assert sum(found) >= 14
    assert sum(wrong) <= 1


SETTINGS = [
    ["user", "Deploy the shop. The staging database is called shop_stage. We use Python 3.12."],
    ["call", 'read_file {"path": "src/cart.py"}'],
    ["result", "timeout = 30\nMAX_ITEMS = 50\nversion = '2.4.1'\nw3_75 w9_45\n"],
    ["call", 'read_file {"path": "conf/a.toml"}'],
    ["result", "depth = 3"],
    ["call", 'read_file {"path": "conf/b.toml"}'],
    ["result", "depth = 4"],
    ["call", 'bash {"command": "sed -i s/retries=2/retries=7/ conf/c.ini"}'],
    ["result", "retries=2 workers=5"],
]


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("MAX_ITEMS is 75 in src/cart.py.", "max_items is 50, not 75"),
        ("The `timeout` is set to 45.", "timeout is 30, not 45"),
        ("It has timeout = 45, as before.", "timeout is 30, not 45"),
        ("The version in cart.py is 3.0.0.", "version is 2.4.1, not 3.0.0"),
        ("version = '2.5.0' is what cart.py has.", "version is 2.4.1, not 2.5.0"),
        ("The database is called shop_prod.", "database is shop_stage, not shop_prod"),
        ("Updated `lib/tax.py` earlier, tests pass.", "lib/tax.py"),
    ],
)
def test_short_values_versions_and_what_something_is_called_are_compared_with_the_log(reply, told):
    assert told in refused({"log": SETTINGS, "reply": reply})


@pytest.mark.parametrize(
    "reply",
    [
        "MAX_ITEMS is 50, the timeout is 30 and the version is 2.4.1.",
        "The timeout should be set to 45.",
        "I will set the timeout to 45.",
        "The timeout is now 45.",
        "The depth is 3 in conf/a.toml.",
        "retries is 7.",
        "The latest React version is 19.1.0.",
        "Is the timeout 45?",
        "The database is called twice. It is called shop_stage.",
        "Updated the docs. Updated `src/cart.py` as well.",
        "Step: 2 of 3. The exit code is 1, the total is 17.",
        "The timeout is 30 seconds, so that 12 calls take 6 minutes.",
        "The answer is 42.",
        "Python is 3.12; the timeout is 45 % too long.",
    ],
)
def test_right_and_new_values_are_taken(reply):
    assert refused({"log": SETTINGS, "reply": reply}) == ""


@pytest.mark.parametrize(
    ("before", "reply"),
    [
        ("Progress is 40", "Progress is 45"),
        ("Temperature is 20 in Bern.", "Temperature is 23 in Rome."),
        ("Lives: 3. Your move.", "You were hit. Lives: 2. Your move."),
        ("There is 3 left.", "There is 1 left."),
    ],
)
def test_a_short_value_that_prose_names_may_change(before, reply):
    assert refused({"log": [["user", "Track it."], ["user", before]], "reply": reply}) == ""


def replies_of(path):
    """Each recorded reply, with the texts of all messages before it."""
    before = []
    for message in map(json.loads, path.read_text("utf-8").splitlines()):
        if message["role"] == "assistant":
            yield message, before
        before.append(message)


def written(messages):
    texts = (json.dumps(message, ensure_ascii=False) for message in messages)
    return "\n\n".join(f"[i{place}]\n{text}" for place, text in enumerate(texts))


def test_hardly_a_recorded_reply_is_refused_where_the_window_shows_nothing():
    """Measured again since short values count: none of 5,305; 48 of them claim something."""
    require_corpus()
    refusals, count = 0, 0
    for path in openai_sessions():
        for reply, before in replies_of(path):
            found = ContradictionCheck().gc_validate_reply(reply, Nothing(), lambda _, before=before: written(before))
            refusals, count = refusals + (found is not None), count + 1
    assert count > 5_000
    assert refusals <= 0.005 * count


class Nothing:
    """A window without content."""

    units = ()


def test_the_right_value_comes_back_when_the_collection_that_took_it_is_undone():
    (case,) = [case for case in CASES if case["contradicts"] == "59999"]
    with said(case) as session:
        session.pre_send()
        with pytest.raises(InconsistentReplyError, match="port is 48173, not 59999") as error:
            session.post_turn(answer(case["reply"]))
        assert error.value.recovered
        assert "48173" in json.dumps(session.pre_send().messages)
        session.post_turn(answer("The server listens on port 48173."))


def test_nothing_is_checked_unless_it_is_asked_for():
    with said(CASES[0], check_replies=False) as session:
        session.post_turn(answer(CASES[0]["reply"]))


@pytest.mark.parametrize(
    "reply",
    [
        {"role": "assistant", "content": [{"type": "text", "text": "I edited src/a.py."}]},
        {"role": "assistant", "content": "I edited src/a.py."},
        {"role": "model", "parts": [{"text": "I edited src/a.py."}]},
        {"output": [{"type": "message", "content": [{"type": "output_text", "text": "I edited src/a.py."}]}]},
    ],
    ids=["anthropic", "openai", "gemini", "responses"],
)
def test_claims_are_found_in_every_providers_shape(reply):
    assert Claims.of(reply).files == ("src/a.py",)


@pytest.mark.parametrize(
    "text",
    [
        "```sh\n# I edited src/a.py\nport: 12345\n```",
        "<think>I edited src/a.py</think>Done.",
        "If I edited src/a.py, would the port be 12345?",
        "I never read src/a.py.",
        "I read the docs of Node.js and all of src/*.py.",
        "The port will be 12345.",
        "Version 1.2.345 was released on 2024-05-17 at 12:30:45.",
    ],
)
def test_plans_questions_negations_and_code_claim_nothing(text):
    assert not Claims.of({"role": "assistant", "content": text})


def test_a_file_that_the_replys_own_call_names_is_known():
    reply = call(("c", "edit", {"path": "src/a.py"}), text="I have just changed src/a.py.")
    assert not Claims.of(reply)


@pytest.mark.parametrize(
    ("reply", "files"),
    [
        ("I updated src/app.py and tests/test_app.py.", ("src/app.py", "tests/test_app.py")),
        ("I read `a/b.py`, `c/d.py` and e/f.py, but not g.py.", ("a/b.py", "c/d.py", "e/f.py")),
        ("J'ai modifié src/a.py et src/b.py.", ("src/a.py", "src/b.py")),
        ("I updated src/app.py so that tests/test_app.py passes.", ("src/app.py",)),
    ],
)
def test_of_a_list_every_file_is_claimed_and_of_a_sentence_the_first(reply, files):
    assert files_worked_on(reply) == files
