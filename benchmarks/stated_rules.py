"""
The share of users' rules that is in the window later, and false rules there.

Each set in ``tests/data`` holds rules, sentences that supersede them, and other sentences, in thirteen languages or
more. The eighth (near misses on purpose), the eleventh, the twelfth and the thirteenth (ordinary days) were each
written by a hand that had not read the code, and no weights were learned from them. Thresholds were chosen with the
eighth in sight, and with the floors of tests on the eleventh and the twelfth; the thirteenth was committed before the
weights that it judges, counted twice, and nothing was chosen by it. All others are in what the weights were learned
from: figures on them say nothing about unseen wordings.
``python -m benchmarks.stated_rules`` prints these four sets, from sentences alone and from long recorded sessions
under every strategy; ``--half NAME`` prints one set, ``--strategy NAME`` one strategy.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from benchmarks.long_session import long_session, session_files
from gc_core import GCConfig, GCSession, Item, ItemKind
from gc_core.task.extractor import DeterministicExtractor
from gc_core.task.values import TaskState
from gc_core.values.policy import GCPolicy

DATA = Path(__file__).parents[1] / "tests" / "data"
HALVES = {
    "tune": "rule_wordings.jsonl",
    "unseen": "rule_wordings.jsonl",
    "second tune": "rule_wordings_blind.jsonl",
    "second unseen": "rule_wordings_blind.jsonl",
    "third unseen": "rule_wordings_third.jsonl",
    "fourth unseen": "rule_wordings_fourth.jsonl",
    "fifth unseen": "rule_wordings_fifth.jsonl",
    "sixth unseen": "rule_wordings_sixth.jsonl",
    "seventh unseen": "rule_wordings_seventh.jsonl",
    "eighth unseen": "rule_wordings_eighth.jsonl",
    "ninth unseen": "rule_wordings_ninth.jsonl",
    "tenth unseen": "rule_wordings_tenth.jsonl",
    "eleventh unseen": "rule_wordings_eleventh.jsonl",
    "twelfth unseen": "rule_wordings_twelfth.jsonl",
    "thirteenth unseen": "rule_wordings_thirteenth.jsonl",
    "development": "rule_wordings_development.jsonl",
}
"""The halves, each with its file."""

RULES, OTHERS = 20, 12
"""Rules and other things that are said in a session, as many of each as in the wordings."""

SHOWN = ("eighth unseen", "eleventh unseen", "twelfth unseen", "thirteenth unseen")
"""The halves that are printed when none is named."""

STRATEGIES = ("gc_progressive", "gc_budget", "gc_rolling", "gc_summarize", "gc_hybrid")
"""The strategies under which a state is written."""

PERCENT = 20.0
"""Share of the window for the state under strategies that ask for none by themselves."""

LONG = 774
"""Calls of the longest recorded session."""

LONGEST = 0.9
"""Share of a session after which nothing is said any more."""

SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\n+")
SHORTEST, BEGINNING = 8, 40
"""A shorter sentence, in characters, may stand in a state by chance; so many of its first ones tell where it stands."""


@attrs.frozen
class Wording:
    """
    What a user says; ``rule`` is the sentence that lays something down, or "", and ``marker`` a part of it, or of the
    text, that stands nowhere else.
    """

    text: str
    rule: str
    marker: str
    kind: str
    is_rule: bool

    def beside_rule(self) -> list[str]:
        """The sentences that lay nothing down."""
        sentences = [" ".join(each.split()) for each in SENTENCE_ENDS.split(self.text)]
        long_enough = [each for each in sentences if len(each) >= SHORTEST]
        rule = " ".join(self.rule.split())
        return [each for each in long_enough if not rule or (each not in rule and rule not in each)]


@attrs.frozen
class Standing:
    """Of what was said, how many rules stand in the request and are demands in its state, and how much else is."""

    rules: int
    in_request: int
    in_state: int
    else_in_state: int

    def plus(self, other: Standing) -> Standing:
        """Of two sessions together."""
        return Standing(*(a + b for a, b in zip(attrs.astuple(self), attrs.astuple(other), strict=True)))


def rows(half: str) -> Iterator[dict[str, Any]]:
    """The lines of one half."""
    for line in (DATA / HALVES[half]).read_text("utf-8").splitlines():
        row = json.loads(line)
        if row.get("split") == half:
            yield row


def wordings(half: str) -> list[Wording]:
    """The rules and the other things of one half."""
    return [
        Wording(row["text"], row.get("rule") or row["text"] if is_rule else "", row["marker"], row["kind"], is_rule)
        for row in rows(half)
        for is_rule in [row["id"].startswith("r")]
        if row["id"][0] in "rn"
    ]


def stated(texts: Sequence[str]) -> list[str]:
    """What is known, and in force, of what a user said in so many messages."""
    items = [
        Item(
            id=f"i{place}", kind=ItemKind.USER_TEXT, source="conversation", policy=GCPolicy.PRESERVABLE, text=text,
            tokens=len(text) // 4, original_tokens=len(text) // 4, unit=place, turn=place,
        )
        for place, text in enumerate(texts, 1)
    ]  # fmt: skip
    state = DeterministicExtractor().extract(TaskState(), items, "")
    demanded = [entry.text for entry in state.constraints if entry.in_force]
    return demanded + [entry.text for entry in state.decisions_made if entry.by == "user" and entry.in_force]


def is_known(marker: str, entries: Sequence[str]) -> bool:
    """Whether one of the entries holds the marker."""
    return any(marker.lower() in entry.lower() for entry in entries)


def standing(
    said: Sequence[Wording],
    strategy: str,
    window: int,
    steps: int,
    names: Sequence[str] = (),
    *,
    percent: float | None = None,
) -> Standing:
    """
    What stands in the last request of a recorded session of so many calls into which this was said; ``percent`` of the
    window is for the state, or what the strategy asks for.
    """
    lot = random.Random(f"rules {len(said)} {steps}")  # noqa: S311 - no secret hangs on it
    at = sorted(lot.sample(range(5, int(steps * LONGEST)), len(said)))
    waiting = list(zip(at, said, strict=True))
    config = GCConfig(strategy=strategy, context_limit=window, output_reservation=0, task_state_percent=percent)
    pending: set[str] = set()
    with GCSession(config, format="openai") as session:
        for one in long_session(steps, session_files(names)):
            if one.is_reply:
                while waiting and not pending and waiting[0][0] <= one.step:
                    session.append({"role": "user", "content": waiting.pop(0)[1].text})
                request = session.pre_send()
                session.post_turn(one.message)
                pending = {call["id"] for call in one.message.get("tool_calls") or ()}
            else:
                session.append(one.message)
                pending.discard(one.message.get("tool_call_id", ""))
        sent = json.dumps(request.messages, ensure_ascii=False).replace('\\"', '"')
        text = "\n".join(item.text for item in session.items() if item.source == "task_state")
        demands = [each.text for each in session.state.constraints if each.in_force]
    stated = "\n".join(each for each in demands if each[:BEGINNING] in text)
    rules = [one for one in said if one.is_rule]
    return Standing(
        rules=len(rules),
        in_request=sum(rule.marker in sent for rule in rules),
        in_state=sum(rule.marker in stated for rule in rules),
        else_in_state=sum(each[:BEGINNING] in stated for one in said for each in one.beside_rule()),
    )


def sessions_of(half: str) -> Iterator[list[Wording]]:
    """What is said in one session after the other, until there is nothing left to say."""
    lot = random.Random(half)  # noqa: S311 - no secret hangs on it
    said = wordings(half)
    lot.shuffle(said)
    rules, others = [one for one in said if one.is_rule], [one for one in said if not one.is_rule]
    for place in range(len(rules) // RULES):
        both = rules[place * RULES : (place + 1) * RULES] + others[place * OTHERS : (place + 1) * OTHERS]
        lot.shuffle(both)
        yield both


def print_wordings(half: str) -> None:
    """What of single messages is taken for a rule, and what supersedes what among all of them."""
    said = wordings(half)
    found = [stated([one.text]) for one in said]
    for kind in dict.fromkeys(one.kind for one in said):
        own = [
            bool(entries) and (not one.is_rule or is_known(one.marker, entries))
            for one, entries in zip(said, found, strict=True)
            if one.kind == kind
        ]
        print(f"{half:8} {kind:18} {sum(own):4} of {len(own)} taken")
    rules = [is_known(one.marker, entries) for one, entries in zip(said, found, strict=True) if one.is_rule]
    others = sum(bool(entries) for one, entries in zip(said, found, strict=True) if not one.is_rule)
    print(f"{half:8} rules known {sum(rules) / len(rules):.1%}, lines taken that are rules "
          f"{sum(rules) / (sum(rules) + others):.1%}")  # fmt: skip


def print_pairs(half: str) -> None:
    """Of the statements that are known: how many a later one replaces, withdraws, or leaves alone."""
    print(f"{half:8} {_changed(half, 's', 'old', 'new')} replaced, {_changed(half, 'w', 'old', 'new')} withdrawn, "
          f"{_changed(half, 'p', 'first', 'second')} changed by one about another thing")  # fmt: skip


def _changed(half: str, letter: str, earlier: str, later: str) -> str:
    """How many earlier statements are no longer in force after the later one, of those that are known."""
    own = [row for row in rows(half) if row["id"][0] == letter]
    known = [row for row in own if is_known(row[earlier]["marker"], stated([row[earlier]["text"]]))]
    both = ((row[earlier]["marker"], stated([row[earlier]["text"], row[later]["text"]])) for row in known)
    return f"{sum(not is_known(marker, entries) for marker, entries in both)} of {len(known)}"


def print_standing(
    half: str, steps: int, window: int, most: int, strategy: str, *, percent: float | None = None
) -> None:
    """What of several sessions' rules stands at their end; a short one is a single recorded session."""
    names = () if steps > LONG else ("concat-entire-336605",)
    total = Standing(0, 0, 0, 0)
    for said in itertools.islice(sessions_of(half), most):
        total = total.plus(standing(said, strategy, window, steps, names, percent=percent))
    shown = total.in_state + total.else_in_state
    print(
        f"{half:8} {strategy} {steps:,} calls at {window:,}: {total.in_request} of {total.rules} rules in the request"
    )
    print(f"{half:8} of {shown} that its state shows {total.in_state / max(1, shown):.1%} are rules", flush=True)


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strategy", action="append", help="one of the strategies; several may be named")
    parser.add_argument("--task-state-percent", type=float, default=PERCENT, help="the state's share, in percent")
    parser.add_argument("--half", action="append", choices=HALVES, help="one of the sets; several may be named")
    parser.add_argument("--long", action="store_true", help="also sessions of 10,000 calls, a minute each")
    arguments = parser.parse_args()
    strategies = arguments.strategy or STRATEGIES
    for half in arguments.half or SHOWN:
        print_wordings(half)
        print_pairs(half)
        for strategy in strategies:
            print_standing(half, LONG, 32_000, 8, strategy, percent=arguments.task_state_percent)
    for half in (arguments.half or SHOWN) if arguments.long else ():
        for strategy in arguments.strategy or STRATEGIES[:1]:
            print_standing(half, 10_000, 100_000, 10, strategy, percent=arguments.task_state_percent)


if __name__ == "__main__":
    main()
