"""
What of recorded messages is taken for a rule or a decision, and what of written ones for a decision.

Each set was committed before the first weights that it judged. Of recorded messages only places and hashes are kept:

- ``recorded_rules_second.jsonl``, ``recorded_decisions_second.jsonl``: 343 messages of users and 500 of assistants,
  drawn from the recorded sessions and labelled by one reader. The last thresholds were chosen with the users' figures
  in sight.
- ``user_histories_second.jsonl``: 500 messages as users sent them to coding agents and assistants in 81 public
  histories, each rewritten about another subject by a hand that had not read the code, and labelled by two readers.
  What one of them alone took for a rule is doubtful.
- ``user_histories.jsonl``: 467 others of 58 histories, made the same way. The last thresholds were chosen with its
  figures in sight.
- ``recorded_rules.jsonl``, ``recorded_decisions.jsonl``: 500 and 600 other recorded messages. Their errors were looked
  at when the present weights were learned, so they are a development set now.
- ``decision_wordings.jsonl``: 300 written messages of assistants.

``python -m benchmarks.settled`` prints all figures; ``--standing`` prints how many of the recorded rules are in the
last request of their sessions, whether the state knows them or a user's message is still there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from benchmarks.counting import corpus
from benchmarks.stated_rules import STRATEGIES
from gc_core import GCConfig, GCSession, Item, ItemKind
from gc_core.task.extractor import DeterministicExtractor
from gc_core.task.values import TaskState
from gc_core.values.policy import GCPolicy

DATA = Path(__file__).parents[1] / "tests" / "data"

ENOUGH = 0.6
"""Share of an entry's words that a label has to hold to be it."""


@attrs.frozen
class Labelled:
    """A message, with what has to be found in it, and what may be: a careful reader was in doubt."""

    text: str
    wanted: tuple[str, ...]
    doubtful: tuple[str, ...]


@attrs.frozen
class Figures:
    """What was found of so many, in how many messages without any there is an entry, and entries that are none."""

    found: int
    wanted: int
    false_messages: int
    clean_messages: int
    false_entries: int


def state_of(text: str, kind: ItemKind) -> TaskState:
    """The state after a single message."""
    tokens = len(text) // 4
    item = Item(
        id="i1", kind=kind, source="conversation", policy=GCPolicy.PRESERVABLE, text=text, tokens=tokens,
        original_tokens=tokens, unit=1, turn=1,
    )  # fmt: skip
    return DeterministicExtractor().extract(TaskState(), [item], "")


def rules_in(text: str) -> list[str]:
    """What a user's message lays down."""
    return [entry.text for entry in state_of(text, ItemKind.USER_TEXT).constraints]


def decisions_in(text: str) -> list[str]:
    """What an assistant's message settles."""
    return [entry.text for entry in state_of(text, ItemKind.ASSISTANT_TEXT).decisions_made]


def recorded(name: str, kind: str) -> Iterator[Labelled]:
    """The labelled messages of the recorded sessions. Raises ValueError if a session's text is another one."""
    lines: dict[str, list[str]] = {}
    for row in _rows(name):
        if row["file"] not in lines:
            lines[row["file"]] = (corpus() / row["file"]).read_text("utf-8").splitlines()
        text = _text(json.loads(lines[row["file"]][row["line"]])["content"])
        if _digest(text) != row["sha256"]:
            raise ValueError(f"{row['file']}, line {row['line']}: another text than the one that was labelled")
        spans = [each["span"] for each in row[kind]]
        yield Labelled(text, tuple(text[a:b] for a, b in spans), tuple(text[a:b] for a, b in row.get("doubtful", ())))


def histories(name: str) -> Iterator[Labelled]:
    """The rewritten messages of users in public histories."""
    return (Labelled(row["text"], tuple(row["rules"]), tuple(row["doubtful"])) for row in _rows(name))


def figures(given: Sequence[Labelled], found_in: Callable[[str], list[str]]) -> Figures:
    """Compare what is found with the labels."""
    found = wanted = false_messages = clean = false_entries = 0
    for one in given:
        entries = found_in(one.text)
        found += sum(any(_is(entry, label) for entry in entries) for label in one.wanted)
        wanted += len(one.wanted)
        false = [entry for entry in entries if not any(_is(entry, each) for each in one.wanted + one.doubtful)]
        false_entries += len(false)
        if not one.wanted and not one.doubtful:
            clean += 1
            false_messages += bool(false)
    return Figures(found, wanted, false_messages, clean, false_entries)


def print_figures(name: str, given: Iterator[Labelled], found_in: Callable[[str], list[str]]) -> None:
    """Print what is found in labelled messages."""
    each = figures(list(given), found_in)
    print(
        f"{name}: {each.found} of {each.wanted} found; in {each.false_messages} of {each.clean_messages} "
        f"messages without any there is one; {each.false_entries} entries are none"
    )


def print_written_decisions() -> None:
    """Print what is found in written messages: decisions, those with the reason that is given, and others."""
    rows = list(_rows("decision_wordings.jsonl"))
    with_one = [(row, state_of(row["text"], ItemKind.ASSISTANT_TEXT).decisions_made) for row in rows]
    known = [(row, [each for each in found if row["marker"].lower() in each.text.lower()]) for row, found in with_one]
    decided = [(row, found) for row, found in known if row["id"].startswith("d")]
    others = [bool(found) for row, found in with_one if row["id"].startswith("o")]
    reasoned = [
        any(
            row["reason"].lower() in " ".join([each.text, *(why.text for why in each.reasons)]).lower()
            for each in found
        )
        for row, found in decided
        if row["reason"]
    ]
    print(f"written decisions: {sum(bool(found) for _, found in decided)} of {len(decided)} found, {sum(reasoned)} of "
          f"{len(reasoned)} with the reason that is given; {sum(others)} of {len(others)} others have one")  # fmt: skip


def _rows(name: str) -> Iterator[dict[str, Any]]:
    return map(json.loads, (DATA / name).read_text("utf-8").splitlines())


def _text(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content if block.get("type") == "text")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _is(entry: str, label: str) -> bool:
    """Whether an entry is what a label holds: one is in the other, or they share most of the entry's words."""
    plain, words = " ".join(label.split()), set(entry.split())
    return entry in plain or plain in entry or len(words & set(plain.split())) > ENOUGH * len(words)


def recorded_rules() -> dict[str, list[str]]:
    """The rules that were labelled in each recorded session."""
    rules: dict[str, list[str]] = {}
    for name in ("recorded_rules.jsonl", "recorded_rules_second.jsonl"):
        for row, said in zip(_rows(name), recorded(name, "rules"), strict=True):
            if said.wanted:
                rules.setdefault(row["file"], []).extend(said.wanted)
    return rules


def last_request(file: str, strategy: str, window: int) -> str:
    """The text of the last request of a recorded session, with one blank wherever there is white space."""
    config = GCConfig(strategy=strategy, context_limit=window, output_reservation=0, task_state_percent=20.0)
    sent: Sequence[Mapping[str, Any]] = ()
    with GCSession(config, format="openai") as session:
        for place, line in enumerate((corpus() / file).read_text("utf-8").splitlines()):
            message = json.loads(line)
            if message["role"] == "assistant":
                sent = session.pre_send().messages
                session.post_turn(message)
            elif message["role"] != "system" or not place:
                session.append(message)
    return " ".join(" ".join(_text(message.get("content") or "") for message in sent).split())


def print_standing() -> None:
    """Print how many of the recorded rules are in the last request of their sessions, under each strategy."""
    rules = recorded_rules()
    number = sum(map(len, rules.values()))
    for window in (16_000, 32_000):
        for strategy in STRATEGIES:
            ends = [(last_request(file, strategy, window), said) for file, said in rules.items()]
            there = sum(" ".join(rule.split()) in end for end, said in ends for rule in said)
            print(f"recorded rules, {strategy} at {window:,}: {there} of {number} in the last request", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--standing", action="store_true", help="how many recorded rules are in the last request")
    if parser.parse_args().standing:
        print_standing()
        sys.exit()
    print_written_decisions()
    print_figures("rules, public histories, second", histories("user_histories_second.jsonl"), rules_in)
    print_figures("rules, public histories, looked at", histories("user_histories.jsonl"), rules_in)
    print_figures("rules, recorded, second", recorded("recorded_rules_second.jsonl", "rules"), rules_in)
    print_figures("rules, recorded, looked at", recorded("recorded_rules.jsonl", "rules"), rules_in)
    second = recorded("recorded_decisions_second.jsonl", "decisions")
    print_figures("decisions, recorded, second", second, decisions_in)
    print_figures("decisions, recorded, looked at", recorded("recorded_decisions.jsonl", "decisions"), decisions_in)
