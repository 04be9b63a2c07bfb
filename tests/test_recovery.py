"""The request that asks again after an inconsistent reply holds what the refused one held, and what was undone."""

import functools
import json
import random

import attrs
import pytest
from ctxgc.evaluation.transcripts import read_transcript

from gc_core import GCConfig, GCSession, Inconsistency, ItemKind, Plugins, hookimpl
from gc_core.errors import InconsistentReplyError
from gc_core.events import CollectionFinished, CollectionStarted
from tests.support.corpus import corpus_dir, openai_sessions, require_corpus
from tests.support.grids import chequered, half
from tests.support.say import answer, call, result, user

STRATEGIES = ("gc_truncate", "gc_summarize", "gc_hybrid", "gc_budget", "gc_rolling", "gc_progressive")
SAID = {ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT, ItemKind.TOOL_RESULT}


@attrs.define
class Doubts:
    """Finds replies inconsistent while it is on."""

    on: bool = False

    @hookimpl
    def gc_validate_reply(self):
        return Inconsistency(reason="it is wrong") if self.on else None


@attrs.frozen(kw_only=True)
class Asked:
    """
    What was asked again.

    Attributes:
        fits: With everything that was undone the request fits.
        missing: Texts that the undone collection took, and it does not show.
        lost: Texts of the refused request that it does not show.
        back: Texts that the undone collection took, and it shows again.
        collections: Collections since the reply was refused.
        percent: Tokens of the request, of the usable window.

    """

    fits: bool
    missing: tuple[str, ...]
    lost: tuple[str, ...]
    back: tuple[str, ...]
    collections: int
    percent: float


class Replayed:
    """Plays a session, and has replies refused some time after its collections."""

    def __init__(self, strategy, window, *, format_name="openai", after=(0, 3), most=6, **more):
        plugins, self.doubts = Plugins.discover(), Doubts()
        plugins.register(self.doubts)
        config = GCConfig(strategy=strategy, context_limit=window, output_reservation=0, **more)
        self.collections, self.since, self.after, self.most = 0, 0, after, most
        self.asked, self.shown_before, self.taken, self.undoable = [], {}, {}, False
        self.session = GCSession(config, format=format_name, plugins=plugins, on_event=self.hear)

    def hear(self, event):
        if isinstance(event, CollectionStarted):
            self.shown_before = self.said()
        elif isinstance(event, CollectionFinished):
            self.collections, self.since, self.taken = self.collections + 1, 0, self.shown_before
            self.undoable = True

    def said(self):
        """The texts that people, models and tools said, as the window has them now."""
        return {item.id: item.text for item in self.session.items() if item.kind in SAID and not item.synthetic}

    def play(self, messages):
        with self.session as session:
            for message in messages:
                if message["role"] != "assistant":
                    session.append(message)
                    continue
                session.pre_send()
                if self.is_time:
                    self.refuse()
                session.post_turn(message)
                self.since += 1
            assert not session.plugins.failures
        return self.asked

    @property
    def is_time(self):
        """Each collection is undone once, by turns at once and some replies later."""
        wanted = self.after[self.collections % len(self.after)]
        return self.undoable and self.since >= wanted and len(self.asked) < self.most

    def refuse(self):
        self.undoable = False
        session, usable = self.session, self.session.config.usable
        shown, collections = self.said(), self.collections
        self.doubts.on = True
        with pytest.raises(InconsistentReplyError) as error:
            session.post_turn(answer("This is wrong."))
        self.doubts.on = False
        assert error.value.recovered
        fits = session.budget.total <= usable
        flat = json.dumps(session.pre_send().messages)
        held = {
            key: text for key, text in shown.items() if self.taken.get(key, text) == text
        }  # the rest comes back whole
        took = {key: text for key, text in self.taken.items() if shown.get(key) != text}
        missing = _not_in(flat, took.values())
        self.asked.append(
            Asked(
                fits=fits,
                missing=missing,
                back=tuple(text for text in took.values() if text not in missing),
                lost=_not_in(flat, held.values()),
                collections=self.collections - collections,
                percent=100 * session.budget.total / usable,
            )
        )


def _not_in(flat, texts):
    return tuple(text for text in texts if json.dumps(text)[1:-1] not in flat)


def steps(count, lines=30, seed=2):
    """A task of many calls, whose results are all different."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    yield user("Fix the tests.")
    for place in range(count):
        yield call((f"c{place}", "bash", {"command": f"step {place}"}))
        text = "".join(f"line {row} value {chance.randrange(10**6)} in src/m{place}.py\n" for row in range(lines))
        yield result(f"c{place}", f"RESULT {place} {text}")


@functools.cache
def recorded(name):
    return read_transcript(corpus_dir() / name)


def check(asked):
    """What fits is there whole; otherwise one collection makes it fit."""
    assert asked
    for each in asked:
        if each.fits:
            assert (each.missing, each.lost, each.collections) == ((), (), 0)
        else:
            assert each.collections == 1
        assert each.percent <= 100


@pytest.mark.parametrize(("strategy", "window"), half(chequered(STRATEGIES, [8_000, 32_000])))
def test_the_request_that_asks_again_holds_what_the_refused_one_held_and_what_was_undone(strategy, window):
    asked = Replayed(strategy, window).play(steps(150 if window > 10_000 else 60))
    check(asked)
    assert not any(each.lost for each in asked)
    assert all(each.percent > 90 and each.back for each in asked if not each.fits)


RECORDED = [path.name for path in openai_sessions() if path.stat().st_size > 200_000]


@pytest.mark.parametrize("strategy", half(STRATEGIES))
@pytest.mark.parametrize(
    "name", [name if name == "pi--session.jsonl" else pytest.param(name, marks=pytest.mark.slow) for name in RECORDED]
)
def test_so_it_does_in_recorded_sessions(strategy, name):
    require_corpus()
    transcript = recorded(name)
    check(Replayed(strategy, 32_000, format_name=transcript.format).play(transcript.messages))


def test_what_came_back_stays_while_the_host_says_more_and_may_go_once_it_was_answered():
    played = Replayed("gc_budget", 8_000, after=(0,), most=1)
    session, messages = played.session, list(steps(60))
    place = next(at for at, message in enumerate(messages) if _plays(played, message))
    held = session.pre_send().messages
    session.append(user("Are you sure?"))
    assert session.pre_send().messages == (*held, user("Are you sure?"))
    collections = played.collections
    session.post_turn(answer("Yes."))
    for message in messages[place + 1 : place + 5]:
        session.append(message)
        session.pre_send()
    assert played.collections > collections
    assert not any(item.pinned for item in session.items())
    session.close()


def _plays(played, message):
    """Say a message; return whether the reply to what came before was refused."""
    if message["role"] != "assistant":
        played.session.append(message)
        return False
    played.session.pre_send()
    if played.collections:
        played.refuse()
        return True
    played.session.post_turn(message)
    return False
