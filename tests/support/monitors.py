"""Made monitors and polls, and a watch that every item which leaves is named by exactly one line of the window."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import attrs

from gc_core import GCConfig, GCSession, ItemKind
from tests.support.formats import asked, called, came, said, schema_of

_LINE = re.compile(r"\[gc: [\d,]+ tokens left out here: (turns? [^:;#\]]*)")
_IDS = re.compile(r"\bi(\d+)(?:-i(\d+))?\b")
A_LINE = 30
"""Tokens of a line: what is smaller than one leaves without."""

_GIVEN = {"enrichment", "task_state"}


@attrs.frozen(kw_only=True)
class Monitor:
    """How a made monitor behaves: what it asks in its turn, how often it polls there, and how long texts are."""

    seed: int
    prompts: int
    timestamps: bool
    polls: int
    result: int
    report: int
    window: int
    rounds: int

    @classmethod
    def of(cls, seed: int) -> Monitor:
        rng = random.Random(seed)  # noqa: S311 - a made conversation
        return cls(
            seed=seed,
            prompts=rng.choice([1, 1, 2, 5]),
            timestamps=rng.random() < 0.3,
            polls=rng.choice([1, 1, 2, 6]),
            result=rng.choice([2, 10, 60]),
            report=rng.choice([1, 8, 40]),
            window=rng.choice([6_000, 8_000, 12_000]),
            rounds=120,
        )

    def prompt(self, turn: int) -> str:
        text = f"Check host web-{turn % self.prompts} and report any change."
        return f"{text} It is {turn // 60}:{turn % 60:02}." if self.timestamps else text

    def messages(self, form: str):
        """Yield turns: the user's message, then replies and results, each with who says it."""
        rng = random.Random(self.seed)  # noqa: S311
        for turn in range(self.rounds):
            yield "user", asked(form, self.prompt(turn))
            for poll in range(rng.choice([0, self.polls, self.polls, self.polls])):
                key = f"c{turn}_{poll}"
                state = rng.choice(["ok", "ok", "degraded"])
                yield "model", called(form, key, "check", {"path": f"web-{turn % self.prompts}"})
                yield "tool", came(form, key, "check", f"status: {state}" + f" load {rng.randrange(99)}" * self.result)
            yield "model", said(form, f"m{turn}", f"Report {turn}: nothing new." * self.report)


class Naming:
    """Watches which items leave a session, and what the lines of its window name."""

    def __init__(self, session: GCSession) -> None:
        self.session = session
        self.collections = 0
        self._known = {}
        self._seen = None

    def look(self, request) -> None:
        for item in self.session.items():
            if item.id[1:].isdigit() and not item.synthetic and item.source not in _GIVEN:
                self._known.setdefault(item.id, item)
        if self.session.last_result is self._seen:
            return
        self._seen = self.session.last_result
        self.collections += 1
        self.assert_each_is_named_once(request)

    def assert_each_is_named_once(self, request) -> None:
        here = {item.id for item in self.session.items()}
        gone = [key for key in self._known if key not in here]
        ranges = sorted(_ranges(str(request.messages)))
        for (first, last), (again, _) in pairwise(ranges):
            assert last < again, f"i{again} is named again: {(first, last)} in {ranges}"
        lost = [int(key[1:]) for key in gone if self._known[key].kind is not ItemKind.THINKING]  # it leaves by itself
        unnamed = [number for number in lost if not any(first <= number <= last for first, last in ranges)]
        tokens = sum(self._known[f"i{number}"].original_tokens for number in unnamed)
        assert tokens < A_LINE, f"nothing names {unnamed[:8]} ({len(unnamed)} of {len(lost)}): {ranges}"
        turns = {item.id for item in self.session.items() if item.kind is ItemKind.USER_TEXT}  # a summary names it too
        stays = [key for ends in ranges for key in (f"i{ends[0]}", f"i{ends[1]}") if key in here - turns]
        assert not stays, f"{stays} are named and have not left: {ranges}"


def _ranges(text):
    for found in _LINE.finditer(text):
        for first, last in _IDS.findall(found.group(1)):
            yield int(first), int(last or first)


def watched(monitor: Monitor, strategy: str, form: str, **more) -> Naming:
    """Return what a monitor's session named, having asserted it at every request."""
    config = GCConfig(strategy=strategy, context_limit=monitor.window, output_reservation=500, **more)
    with GCSession(config, format=form) as session:
        session.system(base="You monitor hosts.")
        session.tools([schema_of(form, "check")])
        naming = Naming(session)
        for who, message in monitor.messages(form):
            if who == "model":
                naming.look(session.pre_send())
                session.post_turn(message)
            else:
                session.append(message)
    return naming
