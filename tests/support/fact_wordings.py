"""Judges extraction and comparison of facts by labelled wordings: what is right, what is too much, what is missed."""

import json
import math
from collections import defaultdict
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import attrs

from gc_core import GCConfig, GCSession
from gc_core.storage.facts import FactKind, FactOp, FactStore, Promotion

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
    users = [
        User(FactStore(directory / f"{user}.jsonl"), list(group)) for user, group in groupby(rows, itemgetter("user"))
    ]
    for user in users:
        user.talk()
    return Figures(
        right=sum(user.right for user in users),
        made=sum(user.right + len(user.wrong) for user in users),
        wanted=sum(user.right + len(user.missed) for user in users),
        wrong=tuple(each for user in users for each in user.wrong),
        missed=tuple(each for user in users for each in user.missed),
    )


@attrs.define
class User:
    """Whoever says the rows, with what is known of them."""

    facts: FactStore
    rows: list
    right: int = 0
    wrong: list = attrs.field(factory=list)
    missed: list = attrs.field(factory=list)
    known: dict = attrs.field(factory=lambda: defaultdict(list))

    def talk(self):
        for _, rows in groupby(self.rows, itemgetter("session")):
            with GCSession(GCConfig(strategy="none", auto_trigger=False)) as session:
                for row in rows:
                    session.append({"role": "user", "content": row["text"]})
                    item = session.items()[-1].id
                    session.append({"role": "assistant", "content": "Noted."})
                    self.judge(session, row, item)

    def judge(self, session, row, item):
        left = list(row["expected"])
        for each in session.propose(self.facts):
            if each.stated.item != item or each.op is FactOp.LEAVE:
                continue
            match = next((label for label in left if self.fits(each, label)), None)
            if match is None:
                self.wrong.append((row["id"], row["text"], each.op.value, each.stated))
                continue
            self.right += 1
            left.remove(match)
            self.know(row, session.accept(self.facts, [each]))
        for label in left:
            self.missed.append((row["id"], row["text"], label))
            self.know(row, session.promote(self.facts, self.planted(row, label, item)))

    def fits(self, proposal, label):
        if proposal.op.value != label["op"]:
            return False
        if "of" in label and proposal.fact.id not in self.known[label["of"]]:
            return False
        return label.get("object", "").lower() in proposal.stated.object.lower()

    def planted(self, row, label, item):
        """What was missed, as a host would write it: without parts."""
        old = next((key for key in self.known[label.get("of")] if key in self.facts.facts), None)
        text = row["text"] if len(row["expected"]) == 1 else label["object"]
        if label["op"] == "delete":
            return [Promotion.delete(old, item)] if old else []
        return [Promotion.update(old, text, item) if old else Promotion.add(text, FactKind.FACT, item)]

    def know(self, row, changes):
        self.known[row["id"]] += [change.fact.id for change in changes if change.op is not FactOp.DELETE]
