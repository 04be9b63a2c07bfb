"""
How often ``auto_expand`` brings back what a user or the agent names, and how often it brings back anything else.

Three sets hold early tool calls with their results, and what is said much later: a question or a step that names the
file, ticket, command or document again ("wanted"), or one that needs nothing of it. They were written by people who had
not seen the code. The first two were looked at since, and the third in part: its odd numbers are held out, and never
printed. Each row is a session of its own: the call, its result, and then other calls until it has left the window.
``python -m benchmarks.named_questions [--strategy gc_budget]`` counts both.
"""

from __future__ import annotations

import argparse
import itertools
import json
import secrets
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from gc_core import GCConfig, GCSession, ItemKind

DATA = Path(__file__).parents[1] / "tests" / "data"
SETS = ("named_questions", "named_questions_second", "named_questions_third")
STRATEGIES = ("gc_truncate", "gc_budget", "gc_progressive")
WINDOW = 4_000
OTHERS = 40
"""Calls between the one that is named and what names it."""

WORDS = 80
"""Words in the result of each."""


@attrs.frozen(repr=False)
class Case:
    """An early call, what is said later, and the answer; not shown when a test fails."""

    id: str
    language: str
    asks: str
    kind: str
    tool: str
    arguments: Mapping[str, Any]
    result: str
    said: str
    later: str
    answer: str


@attrs.frozen
class Outcome:
    """Whether the request holds the answer, and whether anything was brought back."""

    case: Case
    answered: bool
    expanded: bool


def cases(name: str) -> list[Case]:
    """Return the rows of a set."""
    return [Case(**json.loads(line)) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def outcome(case: Case, strategy: str, *, expand: bool = True) -> Outcome:
    """Return what happens in one session."""
    config = GCConfig(context_limit=WINDOW, output_reservation=200, strategy=strategy, auto_expand=expand)
    with GCSession(config) as session:
        _work(session, case)
        if case.asks == "user":
            session.append({"role": "user", "content": case.later})
        else:
            _step(session, case.later, "note", {}, "ok")
        sent = session.pre_send()
        expanded = any(item.kind is ItemKind.ENRICHMENT for item in session.items())
        text = json.dumps([message.get("content") for message in sent.messages], ensure_ascii=False)
        return Outcome(case, bool(case.answer) and json.dumps(case.answer, ensure_ascii=False)[1:-1] in text, expanded)


def _work(session: GCSession, case: Case) -> None:
    session.append({"role": "user", "content": "Look at this, and then go through the other records one by one."})
    _step(session, "", case.tool, case.arguments, case.result)
    session.pre_send()
    session.post_turn({"role": "assistant", "content": case.said})
    for number in range(OTHERS):
        session.append({"role": "user", "content": f"Record {number}."})
        words = " ".join(f"w{number}x{place}" for place in range(WORDS))
        _step(session, "", "read_record", {"number": number}, words)
        session.pre_send()
        session.post_turn({"role": "assistant", "content": f"Record {number} is read."})


def _step(session: GCSession, text: str, tool: str, arguments: Mapping[str, Any], result: str) -> None:
    session.pre_send()
    key = f"call_{secrets.token_hex(8)}"
    called = {"id": key, "type": "function", "function": {"name": tool, "arguments": json.dumps(dict(arguments))}}
    session.post_turn({"role": "assistant", "content": text or None, "tool_calls": [called]})
    session.append({"role": "tool", "tool_call_id": key, "content": result})


def print_figures(name: str, strategy: str, *, expand: bool) -> None:
    """Print how many of a set are answered, by who names and by kind, and how many others are expanded."""
    found = [outcome(case, strategy, expand=expand) for case in cases(name)]
    wanted, others = ([each for each in found if bool(each.case.answer) is is_wanted] for is_wanted in (True, False))
    print(f"{name}, {strategy}, auto_expand = {expand}: {_share(wanted)} answered; {_expanded(others)} others expanded")
    for field in ("asks", "kind", "language"):
        right = Counter(getattr(each.case, field) for each in wanted if each.answered)
        every = Counter(getattr(each.case, field) for each in wanted)
        print(f"  by {field}: " + ", ".join(f"{key} {right[key]} of {every[key]}" for key in every))


def _share(found: list[Outcome]) -> str:
    return f"{sum(each.answered for each in found)} of {len(found)}"


def _expanded(found: list[Outcome]) -> str:
    return f"{sum(each.expanded for each in found)} of {len(found)}"


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strategy", action="append", help="one of the strategies; several may be named")
    parser.add_argument("--without", action="store_true", help="without auto_expand")
    arguments = parser.parse_args()
    for name, strategy in itertools.product(SETS, arguments.strategy or STRATEGIES):
        print_figures(name, strategy, expand=not arguments.without)


if __name__ == "__main__":
    main()
