"""Importance: what a window answers of items, the composite of two answers, and plugins' scorers, which may fail."""

import functools
import math
import statistics

import pytest
from ctxgc.evaluation.transcripts import read_transcript
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import gc_core as gc
from benchmarks.importance import ORDERS, Half, auc, half_of
from gc_core import ConfigError, GCConfig, ImportanceScorer, Plugins
from gc_core.collector.scoring import Scoring
from gc_core.relevance.bm25 import BM25, bag_of
from gc_core.relevance.importance import CompositeScorer, ScoringWindow
from gc_core.relevance.text_cache import PerText
from tests.support.corpus import corpus_dir, require_corpus
from tests.support.inside import meter_of
from tests.support.messages import openai_sessions_strategy
from tests.support.say import answer, call, lines, result, small, user

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
made = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), phases=QUICK)


def session_of(*results, task="Mend the login.", window=1_000_000, **more):
    """A request and steps that each run a tool: (arguments, result)."""
    session = small(window, strategy="none", **more)
    session.append(user(task))
    for place, (arguments, text) in enumerate(results):
        session.append(call((f"c{place}", "bash", {"command": arguments})))
        session.append(result(f"c{place}", text))
    return session


def window_of(session, **more):
    return ScoringWindow(session.view().units, **more)


def results_of(session):
    return [item for item in session.items() if item.kind is gc.ItemKind.TOOL_RESULT]


# -- the terms -------------------------------------------------------------------------------------------------------


def test_recency_halves_with_every_half_life_and_is_a_tenth_after_a_hundred_steps():
    session = session_of(*[("ls", "nothing")] * 101)
    window, found = window_of(session), results_of(session)
    assert window.age(found[-1]) == 0
    assert window.age(found[-31]) == 30
    assert window.recency(found[-1]) == 1
    assert window.recency(found[-31]) == pytest.approx(0.5)
    assert window.recency(found[0]) == pytest.approx(0.099, abs=0.001)
    assert window.recency(found[-31], half_life_steps=10) == pytest.approx(0.125)


def test_relevance_is_higher_for_items_that_share_words_and_names_with_the_objective():
    session = session_of(("a", "the login form of src/auth/login.py"), ("b", "the colours of the footer"))
    about, other = results_of(session)
    window = window_of(session, objective="Why does the login in src/auth/login.py fail?")
    assert 0 <= window.relevance(other) < 0.2 < window.relevance(about) <= 1


def test_without_an_objective_nothing_is_relevant_or_irrelevant():
    session = session_of(("a", "the login form"))
    assert window_of(session).relevance(results_of(session)[0]) is None
    assert window_of(session, objective=" \n").relevance(results_of(session)[0]) is None


def test_a_rare_word_of_the_query_says_more_than_a_common_one():
    texts = ["the parser", "the lexer", "the parser", "the parser", "the parser"]
    bags = [bag_of(text) for text in texts]
    ranking = BM25(bags, bag_of("The parser or the LEXER?"))
    assert ranking.score(bags[1]) > ranking.score(bags[0]) > 0
    assert ranking.score(bag_of("none of it")) == 0


@pytest.mark.parametrize(
    "text", ["naïve Überprüfung", "日本語 の テスト", "a→b“quoted”—dash", "\ud800 lone"], ids=ascii
)
def test_words_of_other_scripts_are_words_and_signs_are_none(text):
    assert BM25([bag_of(text)], bag_of(text.upper())).score(bag_of(text)) >= 0
    assert set(bag_of("a→b“quoted”—dash").counts) == {b"a", b"b", b"quoted", b"dash"}
    assert "überprüfung".encode() in bag_of("Überprüfung").counts


def test_what_later_steps_name_is_referred_to_and_what_the_own_step_names_is_not():
    session = session_of(
        ("grep alpha_one", "alpha_one is in core/alpha.py"), ("cat core/alpha.py", "beta_two"), ("ls", "")
    )
    used, unused, _ = results_of(session)
    window = window_of(session)
    assert window.reference_frequency(used) > 0 == window.reference_frequency(unused)
    first_call = next(item for item in session.items() if item.kind is gc.ItemKind.TOOL_CALL)
    assert window.reference_frequency(first_call) == 0


def test_reference_frequency_grows_with_the_steps_that_use_a_name():
    often = [("cat core/alpha.py", "")] * 5
    session = session_of(("ls", "core/alpha.py"), ("ls", "core/beta.py gamma_three"), *often, ("cat core/beta.py", ""))
    alpha, beta, *_ = results_of(session)
    window = window_of(session)
    assert window.reference_frequency(alpha) == pytest.approx(0.5)
    assert window.reference_frequency(alpha) > window.reference_frequency(beta) > 0


# -- the composite ---------------------------------------------------------------------------------------------------


def test_the_composite_is_the_mean_of_recency_and_of_reference_frequency():
    session = session_of(("ls", "core/alpha.py"), ("cat core/alpha.py", ""))
    window = window_of(session, objective="another thing")
    for item in window.items:
        expected = (window.recency(item) + window.reference_frequency(item)) / 2
        assert CompositeScorer().score(item, window) == pytest.approx(expected)


@made
@given(openai_sessions_strategy(), st.text(max_size=60))
def test_every_score_is_a_number_from_0_to_1(messages, objective):
    with small(1_000_000, strategy="none") as session:
        session.extend(messages)
        window = window_of(session, objective=objective)
        for item in session.items():
            assert 0 <= CompositeScorer().score(item, window) <= 1
            assert 0 <= session.view().importance(item) <= 1


# -- scorers of others -----------------------------------------------------------------------------------------------


class Bad:
    """A scorer that scores every item but one."""

    answer = 0.0

    def score(self, item, window):
        if item is window.items[-1]:
            return self.bad()
        return 1.0

    def bad(self):
        return self.answer


def offering(scorer, name="other"):
    class Plugin:
        @gc.hookimpl
        def gc_register_scorers(self, register):
            register(name, scorer)

    plugins = Plugins.discover()
    plugins.register(Plugin())
    return plugins


class Asks:
    """A strategy that stubs what matters least, and so asks for the importance of everything."""

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        for item in sorted(context.stubbable, key=context.importance):
            yield gc.GCRemovalItem.stub(item, keep=0.1, reason="matters least")


RUBBISH = [math.nan, math.inf, -math.inf, -0.01, 1.01, None, "0.5", True, [0.5], 1j]


@pytest.mark.parametrize("value", RUBBISH, ids=repr)
def test_a_scorer_that_answers_rubbish_is_recorded_and_the_composite_scores_instead(value):
    plugins = offering(type("Rubbish", (Bad,), {"answer": value}))
    with session_of(("a", lines(40)), ("ls", "core/alpha.py")) as known:
        expected = [known.view().importance(item) for item in known.items()]
    with session_of(("a", lines(40)), ("ls", "core/alpha.py"), importance_scorer="other", plugins=plugins) as session:
        view, newest = session.view(), session.items()[-1]
        assert [view.importance(item) for item in session.items()] == expected
        (failure,) = plugins.failures
        assert str(failure) == (
            f"other failed in score: PluginError: scorer 'other' scored item {newest.id} {value!r}; expected 0 to 1"
        )


def test_a_scorer_that_raises_breaks_no_collection_and_is_quarantined_after_three_failures():
    asked = []

    class Raises(Bad):
        def bad(self):
            asked.append(self)
            raise ZeroDivisionError("by nothing")

    plugins = offering(Raises)
    with session_of(
        *[(f"c{place}", lines(60)) for place in range(12)], window=50_000, importance_scorer="other", plugins=plugins
    ) as session:
        meter_of(session).declared.strategies = (("Asks", Asks()),)
        for percent in (5, 4.4, 3.8, 3.2, 2.6):
            assert session.collect_now(target_percent=percent).failures == ()
        assert len(asked) == 3
        assert [str(failure) for failure in plugins.failures] == [
            "other failed in score: ZeroDivisionError: by nothing"
        ] * 3


def test_a_scorer_of_a_plugin_decides_what_matters():
    class Shortest:
        def score(self, item, window):  # noqa: ARG002 - the contract
            return 1 / (1 + len(item.text))

    assert isinstance(Shortest(), ImportanceScorer)
    plugins = offering(Shortest)
    with session_of(("a", lines(40)), ("b", "ok"), importance_scorer="other", plugins=plugins) as session:
        long, short = results_of(session)
        assert session.view().importance(short) == pytest.approx(1 / 3)
        assert session.view().importance(long) < 0.01


def test_nothing_is_scored_before_a_score_is_requested():
    class Never:
        def score(self, item, window):
            raise AssertionError(item, window)

    plugins = offering(Never)
    with small(4_000, strategy="gc_truncate", importance_scorer="other", plugins=plugins) as session:
        for place in range(12):
            session.append(user(f"turn {place}"))
            session.append(answer(lines(40)))
        assert session.collect_now(target_percent=40).changed
    assert plugins.failures == []


def test_an_unknown_scorer_is_named_with_what_is_installed():
    with pytest.raises(ConfigError, match=r"no scorer 'best'; installed: \['composite'\]"):
        small(strategy="none", importance_scorer="best", plugins=Plugins())


def test_what_is_known_of_texts_is_forgotten_when_they_leave_the_window():
    scoring = Scoring.of(GCConfig(), Plugins())
    with session_of(*[("ls", f"core/alpha_{place}.py") for place in range(9)]) as session:
        units = session.view().units
        item = units[0].items[0]
        scoring(units, "alpha")._window.relevance(item)
        assert len(scoring.words) > 9
        scoring(units[:1], "alpha")._window.relevance(item)
        assert len(scoring.words) == 2
        assert len(PerText(len)) == 0


# -- real sessions ---------------------------------------------------------------------------------------------------

NINE, TEN = (frozenset(map(str, range(number))) for number in (9, 10))


@pytest.mark.parametrize(
    ("name", "unused", "fitted"),
    [("pi--session", TEN, True), ("swe-agent--crypto--katy", NINE, False), ("concat-tau2-retail", TEN, False)],
)
def test_only_single_sessions_with_ten_items_on_either_side_are_those_that_the_composite_was_chosen_on(
    name, unused, fitted
):
    assert Half(name=name, units=(), request="", used=TEN, unused=unused).is_fitted is fitted


SESSIONS = ("gemini-cli--failed_to_enter_planmode", "gemini-cli--trajectory", "pi--session")


def test_what_the_agent_will_use_scores_above_what_it_will_not_in_real_sessions():
    require_corpus()
    paths = [corpus_dir() / f"{name}.jsonl" for name in SESSIONS]
    halves = [half_of(path.stem, [dict(each) for each in read_transcript(path).messages]) for path in paths]
    windows = [ScoringWindow(half.units, objective=half.request) for half in halves]

    def found(name):
        pairs = zip(halves, windows, strict=True)
        return [auc(half, functools.partial(ORDERS[name], window)) for half, window in pairs]

    composite = found("composite")
    assert min(composite) > 0.75
    assert statistics.mean(composite) > max(statistics.mean(found(name)) for name in ORDERS if name != "composite")
