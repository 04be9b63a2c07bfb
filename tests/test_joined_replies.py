"""What joins the message before it is decided once: live and when the session is opened again."""

import json
import shutil

import pytest

from gc_core import GCConfig, GCSession, InstructionSource
from gc_core.storage.audit import verify
from gc_core.storage.ledger import Collected, Sent
from gc_core.storage.purge import purge
from gc_core.values.policy import GCPolicy
from tests.support.histories import FORMATS, STRATEGIES, History
from tests.support.inside import state_of, store_of, window_of
from tests.support.say import answer, call, lines, rounds, small, user


def window(session):
    """What would be sent, and every item with what decides over it."""
    request = window_of(session).render()
    items = [
        (item.id, item.policy, item.unit, item.turn, item.step, item.pinned) for item in window_of(session).items()
    ]
    return json.dumps([request.system, request.tools, request.messages], sort_keys=True), items


def assert_opens_as_it_was(session):
    """Closed and opened again it is the same window; so it is when rebuilt without checkpoints."""
    before = window(session)
    session.close()
    assert verify(session.directory) == ()
    with GCSession.open(session.directory) as opened:
        assert window(opened) == before


def sent_in(session):
    return [entry.record for _, entry in store_of(session).ledger.entries() if isinstance(entry.record, Sent)]


# --- what joins -------------------------------------------------------------------------------------------------------


def item(text):
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


def reasoning():
    return {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "thinking"}]}


BLOCKS = {
    "enrichment": lambda session: session.enrich(docs="A text beside."),
    "memory": lambda session: session.memory("notes", todo="Write the test."),
    "nothing": lambda session: session.enrich(docs=""),
}


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(
    "replies", [(item("one"), item("two")), (reasoning(), item("two")), (item("one"), reasoning())]
)
def test_two_replies_with_a_block_between_are_rebuilt_as_they_were_live(tmp_path, block, replies):
    session = GCSession(GCConfig(), format="responses", directory=tmp_path / "s")
    session.register_source(InstructionSource(name="notes", policy=GCPolicy.EPHEMERAL, layer=30))
    session.append(user("Do it."))
    for reply in replies:
        session.pre_send()
        session.append(reply)
        BLOCKS[block](session)
    session.pre_send()
    assert_opens_as_it_was(session)


def test_a_block_ends_the_reply_before_it():
    with GCSession(GCConfig(), format="responses") as session:
        session.append(user("Do it."))
        session.append(item("one"))
        session.enrich(docs="A text beside.")
        session.pre_send()
        session.append(item("two"))
        said = [json.dumps(payload) for payload in session.pre_send().messages]
        places = [next(at for at, text in enumerate(said) if word in text) for word in ("one", "beside", "two")]
        assert places == sorted(places)
        assert len(said) == len(set(said)) == 4


# Where replies come in pieces with every strategy, elsewhere with one each: the product of all would take a minute.
PLAYED = [*(("responses", strategy) for strategy in STRATEGIES), *zip(FORMATS, STRATEGIES[-4:], strict=True)]


@pytest.mark.parametrize(("form", "strategy"), PLAYED)
def test_any_history_opens_as_the_window_that_it_was_also_where_its_process_was_killed(tmp_path, form, strategy):
    for seed in range(2):
        history = History(seed, form, strategy=strategy, directory=tmp_path / str(seed))
        history.play(8)
        killed, before = tmp_path / f"{seed}-killed", window(history.session)
        shutil.copytree(history.session.directory, killed, ignore=shutil.ignore_patterns("index.db*"))
        history.play(8)
        assert history.seen.requests > 3
        assert_opens_as_it_was(history.session)
        assert verify(killed) == ()
        with GCSession.open(killed) as opened:
            assert window(opened) == before


# --- what was sent ----------------------------------------------------------------------------------------------------


def test_every_request_is_noted_with_a_digest_and_the_same_one_again_is_not():
    with small() as session:
        session.append(user("Do it."))
        session.pre_send()
        session.pre_send()
        session.post_turn(answer("Done."))
        session.append(user("Again."))
        session.pre_send()
        digests = [record.digest for record in sent_in(session)]
        assert len(digests) == len(set(digests)) == 2
        assert all(digests)


@pytest.mark.parametrize("form", FORMATS)
def test_an_updated_digest_equals_that_of_a_rebuilt_window(form):
    for seed in range(2):
        session = (history := History(seed, form)).session
        for _ in range(6):
            history.play(2)
            context = window_of(session)
            assert context.digest == context.with_messages(context.messages, context.cursor).digest
        session.close()


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("behind", [0, 2, 4])
def test_requests_after_a_compaction_are_verified_however_much_came_before(tmp_path, before, behind):
    """The digest of the messages before it must not continue into that of the messages after it."""
    session = GCSession(GCConfig(), format="responses", directory=tmp_path / "s")
    for place in range(before):
        session.append(user(f"Do {place}."))
    session.pre_send()
    session.append({"role": "assistant", "output": [{"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}]})
    for place in range(behind):
        session.append(user(f"Then {place}."))
    session.close()
    session = GCSession.open(tmp_path / "s")
    session.pre_send()
    assert_opens_as_it_was(session)


def edited(path, old, new):
    data = path.read_bytes()
    assert data.count(old) == 1
    assert len(old) == len(new)
    path.write_bytes(data.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"the first task", b"the worst task"),
        (b"You fix bugs.", b"You make bug."),
        (b"Finds it fast.", b"Finds it last."),
    ],
)
def test_verify_finds_whatever_is_not_as_it_was_sent(tmp_path, old, new):
    """Where no collection and no checkpoint bears witness: a message, system text, and a tool."""
    session = small(20_000, directory=tmp_path)
    session.system(base="You fix bugs.")
    session.tools(
        [{"type": "function", "function": {"name": "find", "description": "Finds it fast.", "parameters": {}}}]
    )
    session.append(user("This is the first task."))
    rounds(session, 3, task=None)
    session.close()
    assert verify(tmp_path) == ()
    edited(tmp_path / "master.jsonl", old, new)
    (finding,) = verify(tmp_path)  # one damage is reported once
    assert finding.file == "ledger.jsonl"
    assert "the request that was sent has digest" in finding.text


def test_a_purged_session_is_verified_by_what_was_sent_since(tmp_path):
    session = small(directory=tmp_path)
    session.append(user("The key is hunter2hunter2."))
    rounds(session, 30, task=None)
    assert any(isinstance(entry.record, Collected) for _, entry in store_of(session).ledger.entries())
    session.close()
    purge(tmp_path, "hunter2hunter2", by="ops")
    assert verify(tmp_path) == ()
    edited(tmp_path / "master.jsonl", b"The key is", b"Our key is")
    assert verify(tmp_path) != ()


def test_a_session_that_went_back_is_verified_by_what_is_in_force(tmp_path):
    session = small(directory=tmp_path)
    rounds(session, 12)
    session.append(user("Something else."))
    session.pre_send()
    session.rewind(1)
    session.append(user("Another thing. " + lines(30)))
    session.pre_send()
    session.post_turn(call(("x", "read", {})))
    assert_opens_as_it_was(session)


def test_a_session_of_before_digests_opens_and_verifies(tmp_path):
    session = small(directory=tmp_path)
    rounds(session, 4)
    session.close()
    ledger = tmp_path / "ledger.jsonl"
    entries = [json.loads(line) for line in ledger.read_text().splitlines()]
    sent = [entry for entry in entries if entry["kind"] == "sent"]
    for entry in sent:
        entry["kind"] = "first_sent"
        del entry["digest"]
    kept = [entry for entry in entries if entry not in sent[1:]]
    ledger.write_text("".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in kept))
    assert verify(tmp_path) == ()
    with GCSession.open(tmp_path) as opened:
        assert state_of(opened).sent


# --- undoing a collection after which a reply grew --------------------------------------------------------------------


def piece(number, text):
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}


def called(number):
    return {"type": "function_call", "id": f"fc_{number}", "call_id": f"c{number}", "name": "read", "arguments": "{}"}


@pytest.fixture
def grown(tmp_path):
    """A collection took a part of a reply, and further pieces of it came afterwards."""
    config = GCConfig(strategy="gc_truncate", context_limit=2_500, output_reservation=0)
    with GCSession(config, format="responses", directory=tmp_path / "s") as session:
        session.append({"role": "user", "content": "word " * 800}, policy=GCPolicy.LOCKED)
        session.pre_send()
        session.post_turn({"role": "assistant", "output": [piece(1, "word " * 1_800)]})
        session.pre_send()
        assert len(session.history()) == 1
        session.switch(context_limit=8_000)
        session.post_turn({"role": "assistant", "output": [piece(2, "And now the second."), called(3)]})
        session.append({"type": "function_call_output", "call_id": "c3", "output": "done"})
        yield session


def kinds_in(session):
    return [(message.get("type"), message.get("id")) for message in session.pre_send().messages]


@pytest.mark.parametrize("steps", [("undo",), ("undo", "redo"), ("undo", "redo", "undo")])
def test_pieces_that_came_after_a_collection_survive_its_undoing(grown, steps):
    later = [("message", "msg_2"), ("function_call", "fc_3"), ("function_call_output", None)]
    assert kinds_in(grown)[-3:] == later
    for step in steps:
        assert getattr(grown, step)()
        assert kinds_in(grown)[-3:] == later
    assert_opens_as_it_was(grown)
