"""``benchmarks.parts``: every request of a replay is watched, and the scorer that knows no difference is asked."""

from pathlib import Path

from benchmarks.parts import EQUAL, Equal, Watch, differing, replayed
from benchmarks.sized import Task
from gc_core import ImportanceScorer, Plugins
from tests.support.say import call, result, small, user

EXAMPLE = Path(__file__).parents[1] / "examples" / "session.jsonl"


def test_each_request_of_a_replay_has_a_digest():
    found = replayed(Task(path=EXAMPLE, window=16_000), "oldest first")
    assert len(found.requests) == len(set(found.requests)) == 73
    assert found.sums.calls == 73


def test_requests_are_compared_place_by_place_and_a_missing_one_differs():
    assert differing("abc", "abc") == 0
    assert differing("abc", "adc") == 1
    assert differing("abc", "bc") == 3


def test_to_the_scorer_of_the_variant_all_items_matter_the_same():
    assert isinstance(Equal(), ImportanceScorer)
    plugins = Plugins.discover()
    plugins.register(Watch())
    with small(1_000_000, strategy="none", importance_scorer=EQUAL, plugins=plugins) as session:
        session.append(user("Mend src/login.py."))
        session.append(call(("c", "bash", {"command": "cat src/login.py"})))
        session.append(result("c", "def login(): ..."))
        assert {session.view().importance(item) for item in session.items()} == {0.5}
    assert plugins.failures == []
