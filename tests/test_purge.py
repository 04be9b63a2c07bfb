"""A purge: the secret is nowhere in the directory, and everything else is where it was."""

import json
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gc_core import ConfigError, GCConfig, GCSession
from gc_core.errors import LogError
from gc_core.providers import format_named
from gc_core.storage import purge as purging
from gc_core.storage.audit import verify
from gc_core.storage.facts import FactKind, FactStore, Promotion
from gc_core.storage.journal import Journal
from gc_core.storage.ledger import Ledger, Purged
from gc_core.storage.master_log import MasterLog
from gc_core.storage.purge import purge
from gc_core.storage.search import SearchIndex
from tests.support.inside import recorder_of, state_of, store_of
from tests.support.say import call, lines, rendered, result, results, schema, small, use, user

SECRET = 'sk-"é\\n€\n🦊/7f'  # noqa: S105 - nobody's


def written(directory, secret=SECRET, format_name="openai"):
    """A session that says a secret everywhere, with collections (one undone), a checkpoint and an index."""
    session = small(3_000, directory=directory, checkpoint_every_n_steps=2, format=format_name)
    session.system(rules=f"Use {secret} and nothing else.")
    session.tools([schema("read", format_name, description=f"Reads with {secret}.")])
    session.append(user(f"My key is {secret}; keep it."))
    for place in range(12):
        session.enrich(now=f"round {place}: {secret}")
        session.pre_send()
        arguments = {"path": f"f{place}", "key": secret, "body": json.dumps({"inner": secret})}
        said = lines(60, f"f{place}") + f"\n{secret}\n" + lines(20) + json.dumps({"k": secret})
        if format_name == "openai":
            session.post_turn(call((f"c{place}", "read", arguments)))
            session.append(result(f"c{place}", said))
        else:
            session.post_turn(use((f"c{place}", "read", arguments)))
            session.append(results((f"c{place}", said)))
    assert session.last_result is not None
    recorder_of(session).undo()
    recorder_of(session).store.checkpoint(state_of(session))
    session.close()


def test_a_state_of_the_task_that_was_masked_can_still_be_brought_back_by_undoing(tmp_path):
    directory = tmp_path / "s"
    config = GCConfig(strategy="gc_progressive", context_limit=4_000, output_reservation=0)
    with GCSession(config, directory=directory) as session:
        session.append(user("Fix the parser. Never open port 80817."))
        for place in range(40):
            session.pre_send()
            session.post_turn(call((f"c{place}", "read", {"path": f"f{place}.py"})))
            session.append(result(f"c{place}", lines(60, f"f{place}")))
        while session.undo():
            pass
    assert verify(directory) == ()
    purge(directory, "80817", by="ada")
    assert verify(directory) == ()
    GCSession.open(directory).close()


def forms(secret):
    """How a file may hold it: as JSON once, twice and three times, with letters as they are and by number."""
    found, layer = set(), {secret}
    for _ in range(3):
        layer = {json.dumps(each, ensure_ascii=ascii_)[1:-1] for each in layer for ascii_ in (True, False)}
        found |= layer
    return {each.encode("utf-8", "surrogatepass") for each in found}


def held(directory, secret=SECRET):
    return [
        path.name
        for path in directory.rglob("*")
        if path.is_file() and any(form in path.read_bytes() for form in forms(secret))
    ]


def purged(directory):
    ledger = Ledger(Journal(directory / "ledger.jsonl", writable=False))
    return [(place, entry.record) for place, entry in ledger.entries() if isinstance(entry.record, Purged)]


def index(directory, format_name="openai"):
    log = MasterLog(Journal(directory / "master.jsonl", writable=False))
    made = SearchIndex(directory / "index.db", log, format_named(format_name))
    made.catch_up()
    made.close()


def contents(directory):
    return {path.name: path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("format_name", ["openai", "anthropic"])
def test_nothing_in_the_directory_holds_the_secret_and_every_place_still_holds(tmp_path, format_name):
    written(tmp_path, format_name=format_name)
    index(tmp_path, format_name)
    (tmp_path / "master.jsonl.torn-7").write_bytes(b'{"at":9,"payload":{"content":"it is ' + min(forms(SECRET)))
    sizes = {name: (tmp_path / name).stat().st_size for name in ("master.jsonl", "ledger.jsonl")}
    assert {"master.jsonl", "ledger.jsonl", "master.jsonl.torn-7"} <= set(held(tmp_path))
    changed = purge(tmp_path, SECRET, by="an operator")
    assert held(tmp_path) == []
    ((place, record),) = purged(tmp_path)
    assert record == changed
    assert changed.by == "an operator"
    assert changed.occurrences > 12 * 4
    assert (tmp_path / "master.jsonl").stat().st_size == sizes["master.jsonl"]
    assert place.start == sizes["ledger.jsonl"]
    assert verify(tmp_path) == ()
    index(tmp_path, format_name)
    assert verify(tmp_path) == ()
    assert held(tmp_path) == []


def test_the_session_goes_on_and_recalls_the_mask(tmp_path):
    written(tmp_path)
    purge(tmp_path, SECRET, by="me")
    mask = "*" * len(SECRET.encode())
    with GCSession.open(tmp_path) as session:
        key = next(item.id for item in session.items() if "My key" in item.text)
        assert mask in session.recall(key)
        while recorder_of(session).undo() is not None:  # a digest that no longer fits would refuse
            pass
        assert mask in rendered(session)
        recorder_of(session).release()
        session.collect_now(target_percent=10)
    assert verify(tmp_path) == ()


def test_purging_again_finds_nothing_and_says_so(tmp_path):
    written(tmp_path)
    purge(tmp_path, SECRET, by="me")
    before = (tmp_path / "master.jsonl").read_bytes()
    assert purge(tmp_path, SECRET, by="me").occurrences == 0
    assert (tmp_path / "master.jsonl").read_bytes() == before
    assert [record.occurrences > 0 for _, record in purged(tmp_path)] == [True, False]


@pytest.mark.parametrize(
    ("step", "survived"),
    [("write_at", 0), ("write_at", 1), ("write_at", 9), ("_renew_digests", 0), ("_write_digests", 1), ("Purged", 0)],
)
def test_a_purge_that_was_killed_is_completed_by_the_next_one(tmp_path, monkeypatch, step, survived):
    written(tmp_path)
    real, left = getattr(purging, step), iter(range(survived))

    def dying(*args):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(purging, step, (lambda **_: dying()) if step == "Purged" else dying)
        with pytest.raises(KeyboardInterrupt):
            purge(tmp_path, SECRET, by="me")
    assert not purged(tmp_path)
    purge(tmp_path, SECRET, by="me")
    assert held(tmp_path) == []
    assert verify(tmp_path) == ()
    GCSession.open(tmp_path).close()


def test_facts_next_to_the_session_are_masked_too(tmp_path):
    written(tmp_path)
    store = FactStore(tmp_path / "facts.jsonl")
    store.promote([Promotion.add(f"The key is {SECRET}.", FactKind.FACT, "i3")], session="s", locate=lambda _: None)
    purge(tmp_path, SECRET, by="me")
    assert held(tmp_path) == []
    (fact,) = FactStore(tmp_path / "facts.jsonl").facts.values()
    assert set(fact.text.removeprefix("The key is ").removesuffix(".")) == {"*"}


@pytest.mark.parametrize(
    ("match", "why"),
    [
        ("assistant", "role"),
        ("tool_calls", "key"),
        ("read", "schemas.0.function.name"),
        ("function", "payload.schemas"),
        ('"path"', "structure"),
        ("conversation", "source"),
        ("gc_truncate", "config|strategy"),
    ],
)
def test_what_would_break_the_files_is_refused_with_nothing_changed(tmp_path, match, why):
    written(tmp_path)
    index(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(LogError, match=rf"cannot be overwritten: .*({why}).*nothing was changed"):
        purge(tmp_path, match, by="me")
    assert contents(tmp_path) == before


def test_a_number_and_an_id_are_refused(tmp_path):
    with small(directory=tmp_path, format="anthropic") as session:
        session.append(user("go"))
        session.append(use(("call_4711", "read", {"pin": 918273645})))
        session.append(results(("call_4711", "pin 918273645")))
    before = contents(tmp_path)
    for match in ("918273645", "call_4711"):
        with pytest.raises(LogError, match="cannot be overwritten"):
            purge(tmp_path, match, by="me")
    assert contents(tmp_path) == before


@pytest.mark.parametrize(("match", "by"), [("abc", "me"), ("", "me"), ("hunter2", "hunter2's owner")])
def test_a_text_that_cannot_be_searched_for_is_refused(tmp_path, match, by):
    written(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(ConfigError):
        purge(tmp_path, match, by=by)
    assert contents(tmp_path) == before


def test_an_open_session_is_not_purged(tmp_path):
    with small(directory=tmp_path) as session:
        session.append(user("hunter2"))
        with pytest.raises(LogError, match="open in another session"):
            purge(tmp_path, "hunter2", by="me")
    assert purge(tmp_path, "hunter2", by="me").occurrences == 1


def test_a_directory_without_a_session_is_left_alone(tmp_path):
    with pytest.raises(LogError, match="holds no session"):
        purge(tmp_path, "hunter2", by="me")
    assert list(tmp_path.iterdir()) == []


def test_an_escape_before_a_word_is_not_part_of_it(tmp_path):
    with small(directory=tmp_path) as session:
        session.append(user("go"))
        session.append(call(("c1", "write", {"body": "first\nice and nice"})))
        session.append(result("c1", "first\nice and nice"))
    purge(tmp_path, "nice", by="me")
    assert verify(tmp_path) == ()
    with GCSession.open(tmp_path) as session:
        texts = [item.text for item in session.items()]
        assert "first\nice and ****" in texts
        assert {"body": "first\nice and ****"} in [json.loads(text) for text in texts if text.startswith("{")]


def test_what_another_program_wrote_by_number_is_found(tmp_path):
    changed = ['{"k": "\\u0068unter2"}', '{\\"k\\": \\"hunter\\u0032\\"}', "h\\u00fcnter2 and hünter2"]
    with small(directory=tmp_path) as session:
        for text in changed:
            session.append(user(text))
    assert purge(tmp_path, "hunter2", by="me").occurrences == 2
    assert purge(tmp_path, "hünter2", by="me").occurrences == 2
    with GCSession.open(tmp_path) as session:
        assert not any("unter" in item.text for item in session.items())


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(secret=st.text(min_size=4, max_size=12))
def test_a_secret_of_any_letters_is_gone(tmp_path, secret):
    shutil.rmtree(tmp_path)
    with small(1_200, directory=tmp_path, strategy="gc_truncate") as session:
        session.append(user(f"a{secret}b"))
        for place in range(4):
            session.pre_send()
            session.post_turn(call((f"q{place}", "zz", {"kk": secret, "jj": json.dumps([secret])})))
            session.append(result(f"q{place}", f"<{secret}>\n{json.dumps(secret)}\n" + lines(40)))
    before = contents(tmp_path)
    try:
        purge(tmp_path, secret, by="@")
    except (LogError, ConfigError):
        assert contents(tmp_path) == before
        return
    assert verify(tmp_path) == ()
    with GCSession.open(tmp_path) as session:
        given = [item for _, record in store_of(session).log.records() for item in record.items if item]
        assert not any(secret in session.recall(item) for item in given)
        assert not any(secret in item.text for item in session.items())
