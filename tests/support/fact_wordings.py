"""Judges extraction and comparison of facts by labelled wordings: what is right, what is too much, what is missed."""

import json
import math
from itertools import groupby
from pathlib import Path

import attrs

from gc_core import GCConfig, GCSession
from gc_core.facts import FactOp, FactStore

DATA = Path(__file__).parent.parent / "data"


@attrs.frozen
class Figures:
    """Of proposals that change something: how many were right, made and wanted."""

    right: int
    made: int
    wanted: int
    wrong: tuple = ()
    missed: tuple = ()

    @property
    def precision(self):
        return self.right / self.made if self.made else math.nan

    @property
    def recall(self):
        return self.right / self.wanted


def rows_of(name, **wanted):
    rows = map(json.loads, (DATA / name).read_text("utf-8").splitlines())
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def judged(rows, directory):
    """
    The figures of rows in their order; after each one what was right is accepted, and what was wanted is planted where
    it was missed, so that one mistake does not count twice.
    """
    right = made = wanted = 0
    wrong, missed = [], []
    for user, group in groupby(rows, key=lambda row: row["user"]):
        facts, known = FactStore(directory / f"{user}.jsonl"), {}
        for _, session_rows in groupby(group, key=lambda row: row["session"]):
            with GCSession(GCConfig(strategy="none", auto_trigger=False)) as session:
                for row in session_rows:
                    session.append({"role": "user", "content": row["text"]})
                    session.append({"role": "assistant", "content": "Noted."})
                    item = session.items()[-2].id
                    made_here = [
                        each
                        for each in session.propose(facts)
                        if each.stated.item == item and each.op is not FactOp.LEAVE
                    ]
                    left = list(row["expected"])
                    wanted += len(left)
                    made += len(made_here)
                    for each in made_here:
                        match = next((label for label in left if fits(each, label, known)), None)
                        if match is None:
                            wrong.append((row["id"], row["text"], told(each)))
                            continue
                        right += 1
                        left.remove(match)
                        (change,) = session.accept(facts, [each])
                        if change.op is not FactOp.DELETE:
                            known.setdefault(row["id"], []).append(change.fact.id)
                    missed.extend((row["id"], row["text"], label) for label in left)
                    for label in left:
                        plant(session, facts, row, item, label, known)
    return Figures(right, made, wanted, tuple(wrong), tuple(missed))


def fits(proposal, label, known):
    if proposal.op.value != label["op"]:
        return False
    if "of" in label and proposal.fact.id not in known.get(label["of"], ()):
        return False
    return "object" not in label or label["object"].lower() in proposal.stated.object.lower()


def plant(session, facts, row, item, label, known):
    """What the code missed stands in the file as a host would write it, without parts."""
    from gc_core.facts import FactKind, Promotion

    old = next((key for key in known.get(label.get("of"), ()) if key in facts.facts), None)
    if label["op"] == "delete":
        if old:
            session.promote(facts, [Promotion.delete(old, item)])
        return
    text = row["text"] if len(row["expected"]) == 1 else label["object"]
    new = Promotion.add(text, FactKind.FACT, item) if not old else Promotion.update(old, text, item)
    (change,) = session.promote(facts, [new])
    known.setdefault(row["id"], []).append(change.fact.id)


def told(proposal):
    stated = proposal.stated
    return (proposal.op.value, stated.subject, stated.relation, stated.object, proposal.fact and proposal.fact.text)
