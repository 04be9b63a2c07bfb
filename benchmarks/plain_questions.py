"""
How often ``auto_expand`` brings back what a user asks for in plain words, and how often it brings back anything else.

``tests/data/plain_questions.jsonl`` holds questions in nine languages, written before the code that is to answer them:
half of them ask for something said long ago ("wanted"), nothing in the past answers the others (a new task, small talk,
a question about what the window shows, or one that only shares words with the past). Each language has one chat of
some 150 short messages (``plain_chat.jsonl``), with all its facts in the first part; every question is asked in a
branch of it. The half "open" was looked at while the code was made, the half "counted" was only counted: of it, no case
is ever printed. ``python -m benchmarks.plain_questions`` prints both halves, the time that looking takes, and with
``--missed`` the open cases that go wrong.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

from gc_core import GCConfig, GCSession, Item, ItemKind
from gc_core.session.recall_suggestions import suggest_recall

DATA = Path(__file__).parents[1] / "tests" / "data"
OPEN, COUNTED = "open", "counted"

WINDOW = 1_200
"""Tokens of the window: a third of a chat, or less."""

FACTS_WITHIN = 0.45
"""The share of a chat's exchanges among which the facts are said."""

Said = tuple[str, str]
"""Role and text of a message."""


@attrs.frozen(repr=False)
class Case:
    """A question, the messages that tell its answer, and those right before it; not shown when a test fails."""

    id: str
    language: str
    half: str
    wanted: bool
    kind: str
    said: tuple[Said, ...]
    lately: tuple[Said, ...]
    question: str
    answer: str


@attrs.frozen(repr=False)
class Outcome:
    """What came back for a question: the recalled texts, whether they hold the answer, and the seconds of looking."""

    case: Case
    recalled: str
    answered: bool
    seconds: float

    @property
    def is_right(self) -> bool:
        """Whether the answer came back, or nothing where there is none."""
        return self.answered if self.case.wanted else not self.recalled


def cases(language: str) -> list[Case]:
    """The questions in a language."""
    rows = (json.loads(line) for line in (DATA / "plain_questions.jsonl").read_text("utf-8").splitlines())
    own = [row for row in rows if row["language"] == language]
    pairs = ("said", "lately")
    return [Case(**{**row, **{name: tuple(map(tuple, row[name])) for name in pairs}}) for row in own]


def exchanges(language: str) -> list[tuple[Said, ...]]:
    """What else is said in a chat."""
    rows = (json.loads(line) for line in (DATA / "plain_chat.jsonl").read_text("utf-8").splitlines())
    own = [row for row in rows if row["language"] == language]
    return [(("user", row["user"]), ("assistant", row["assistant"])) for row in own]


def languages() -> list[str]:
    """The languages of the questions."""
    rows = (json.loads(line) for line in (DATA / "plain_questions.jsonl").read_text("utf-8").splitlines())
    return list(dict.fromkeys(row["language"] for row in rows))


def chat(language: str) -> list[tuple[Said, ...]]:
    """The exchanges of a chat: the facts are spread over its first part, after the first exchanges."""
    others, facts = exchanges(language), [case.said for case in cases(language) if case.wanted]
    first = int((len(others) + len(facts)) * FACTS_WITHIN) - len(facts)
    places = [2 + place * first // len(facts) for place in range(len(facts))]
    merged: list[tuple[Said, ...]] = []
    for place, exchange in enumerate(others):
        merged += [fact for fact, at in zip(facts, places, strict=True) if at == place]
        merged.append(exchange)
    return merged


def say(session: GCSession, messages: Sequence[Said]) -> None:
    """Say messages through the loop."""
    for role, text in messages:
        if role == "user":
            session.append({"role": role, "content": text})
        else:
            session.pre_send()
            session.post_turn({"role": role, "content": text})


def recalled(session: GCSession) -> str:
    """The texts that the session brought back by itself."""
    return "\n".join(item.text for item in session.items() if item.kind is ItemKind.ENRICHMENT)


def shown(items: Sequence[Item]) -> str:
    """The text of the window."""
    return "\n".join(item.text for item in items)


def asked(session: GCSession, case: Case, directory: Path) -> Outcome | None:
    """The outcome of a question in a branch of the chat; None if the window still shows the answer, as a quote may."""
    with session.fork(directory) as branch:
        say(branch, case.lately)
        if case.wanted and case.answer in shown(branch.items()):
            return None
        before = recalled(branch)
        branch.append({"role": "user", "content": case.question})
        seconds = looked(branch)
        branch.pre_send()
        after = recalled(branch).removeprefix(before)
        return Outcome(case, after, bool(case.answer) and case.answer in after, seconds)


def looked(session: GCSession) -> float:
    """Seconds of looking once for what the newest message asks for, with the index at the end of the log."""
    suggest_recall(session)
    started = time.perf_counter()
    suggest_recall(session)
    return time.perf_counter() - started


def outcomes(language: str, *, half: str = "", expand: bool = True) -> Iterator[Outcome]:
    """The outcomes of a language's questions, or of those of one half."""
    config = GCConfig(context_limit=WINDOW, output_reservation=0, strategy="gc_budget", auto_expand=expand)
    with tempfile.TemporaryDirectory() as folder, GCSession(config, directory=Path(folder) / "chat") as session:
        say(session, list(itertools.chain.from_iterable(chat(language))))
        for case in cases(language):
            found = asked(session, case, Path(folder) / case.id) if half in ("", case.half) else None
            if found is not None:
                yield found


def print_half(found: Sequence[Outcome], half: str) -> None:
    """The shares of one half, in all and by kind."""
    own = [one for one in found if one.case.half == half]
    for kind in dict.fromkeys(one.case.kind for one in own):
        of = [one for one in own if one.case.kind == kind]
        print(f"{half:8} {kind:22} {sum(one.is_right for one in of):3} of {len(of)} right")
    for wanted, words in ((True, "wanted and brought back"), (False, "unwanted and expanded")):
        of = [one for one in own if one.case.wanted == wanted]
        number = sum(one.answered if wanted else bool(one.recalled) for one in of)
        print(f"{half:8} {words:24} {number:3} of {len(of)}: {number / len(of):.0%}")


def print_missed(found: Sequence[Outcome]) -> None:
    """The open cases that went wrong; the counted ones are never shown."""
    for one in found:
        if one.case.half == OPEN and not one.is_right:
            print(f"{one.case.id}: {one.case.question!r} -> {one.recalled!r}")


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--missed", action="store_true", help="also the open cases that go wrong")
    arguments = parser.parse_args()
    found = [one for language in languages() for one in outcomes(language)]
    for half in (OPEN, COUNTED):
        print_half(found, half)
    spent = [one.seconds * 1e6 for one in found]
    print(f"looking takes {statistics.median(spent):,.0f} microseconds a message, at most {max(spent):,.0f}")
    if arguments.missed:
        print_missed(found)


if __name__ == "__main__":
    main()
