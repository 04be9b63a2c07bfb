"""
Learns what a rule looks like, and writes the weights that ``gc_core/task/rule_model.py`` reads.

``python -m benchmarks.rule_model`` reads the labelled messages below (written by hand for this, in fourteen languages;
plain rules put together from subjects and predicates, part "plain"; and older sets that were looked at; none of the
sets that figures are quoted from), fits a logistic regression over the features of ``gc_core/task/rule_features.py``,
and writes ``gc_core/task/rule_model.bin``: ``make rule-model`` makes the same bytes from the same data. ``--hold FILE``
leaves one file, or one part of the first, out and prints the figures on it.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from gc_core.task import stated_rules
from gc_core.task.rule_features import cue_hashes, hashes_of
from gc_core.task.rule_model import BUCKETS, FILE, LARGEST, Header

DATA: Final = Path(__file__).parents[1] / "tests" / "data"
FILES: Final = (
    "rule_training.jsonl",
    "rule_wordings.jsonl",
    "rule_wordings_blind.jsonl",
    "rule_wordings_development.jsonl",
    "rule_wordings_third.jsonl",
    "rule_wordings_fourth.jsonl",
)

PAIRS: Final = {"s": ("old", "new"), "p": ("first", "second"), "w": ("old", "new")}
"""The statements of the lines that hold two."""

STRENGTH: Final = 0.5
"""The inverse of the regularisation; chosen on held-out files, as is the next value."""

CUES_COUNT: Final = 3.0
"""How much more a cue counts than a word: it is regularised less."""

LIGHTER: Final = {"pair": 0.5, "en_second": 0.5, "world_second": 0.5}
"""What counts less, by kind or part: bare statements, and near misses of each other, which users rarely put so."""

THRESHOLD: Final = -0.4
"""The log-odds above which a sentence is a rule: on held-out files it knows 88 to 90 % of the rules by themselves."""

RECALL: Final = 0.92
"""The share of rules of a held-out file that has to be known: it sets the threshold."""


@attrs.frozen
class Example:
    """A message's sentences, with which of them are rules."""

    file: str
    kind: str
    is_rule: bool
    sentences: tuple[str, ...]
    rules: tuple[bool, ...]


def examples() -> Iterator[Example]:
    """Yield all labelled messages."""
    for file in FILES:
        for line in (DATA / file).read_text("utf-8").splitlines():
            yield from _examples(file, json.loads(line))


def _examples(file: str, row: dict[str, Any]) -> Iterator[Example]:
    """Yield the messages of a line: one, or a pair of statements; of a pair that takes back, the second is no rule."""
    letter = row["id"][0]
    if letter in "rn":
        yield _example(row.get("part", file), row, is_rule=letter == "r")
    for name in PAIRS.get(letter, ()):
        yield _example(file, {"kind": "pair", **row[name]}, is_rule=(letter, name) != ("w", "new"))


def _example(file: str, row: dict[str, Any], *, is_rule: bool) -> Example:
    sentences = stated_rules.own_sentences(row["text"])
    rule = " ".join((row.get("rule") or row["text"]).split())
    rules = tuple(is_rule and _is_of(" ".join(one.split()), rule, row["marker"]) for one in sentences)
    return Example(file, row["kind"], is_rule, sentences, rules)


def _is_of(sentence: str, rule: str, marker: str) -> bool:
    return sentence in rule or rule in sentence or marker.lower() in sentence.lower()


def matrix(given: Sequence[Example]) -> tuple[csr_matrix, np.ndarray]:
    """Return the features of all sentences, a row each, with the labels."""
    columns: list[int] = []
    ends, labels = [0], []
    for one in given:
        for hashes, is_rule in zip(hashes_of(one.sentences, BUCKETS), one.rules, strict=True):
            columns += sorted(hashes)
            ends.append(len(columns))
            labels.append(is_rule)
    shape = (len(labels), BUCKETS)
    return csr_matrix((np.ones(len(columns), dtype=np.float32), columns, ends), shape=shape), np.array(labels)


def weighted(features: csr_matrix, rarity: np.ndarray) -> csr_matrix:
    """Return features by their rarity, over the root of their number."""
    counts = np.maximum(1, np.asarray(features.sum(1)).ravel())
    return csr_matrix(features.multiply(rarity[None, :]).tocsr().multiply(1 / np.sqrt(counts)[:, None]))


def fitted(given: Sequence[Example], strength: float = STRENGTH) -> tuple[np.ndarray, float]:
    """Return the weight of each bucket, and the intercept."""
    features, labels = matrix(given)
    held = np.asarray((features > 0).sum(0)).ravel()
    rarity = np.log((1 + features.shape[0]) / (1 + held)) + 1
    rarity[sorted(cue_hashes(BUCKETS))] *= CUES_COUNT
    counts = [LIGHTER.get(one.kind, LIGHTER.get(one.file, 1.0)) for one in given for _ in one.sentences]
    model = LogisticRegression(C=strength, max_iter=300)
    model.fit(weighted(features, rarity), labels, sample_weight=counts)
    return model.coef_[0] * rarity, float(model.intercept_[0])


def quantised(weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Return weights as whole numbers of two bytes, and the value of one step."""
    step = float(np.abs(weights).max()) / LARGEST
    return np.round(weights / step).astype("<i2"), step


def scores(given: Sequence[Example], weights: np.ndarray, intercept: float) -> np.ndarray:
    """Return the log-odds of all sentences."""
    features, _ = matrix(given)
    return weighted(features, np.ones(BUCKETS)) @ weights + intercept


@attrs.frozen
class Figures:
    """Of a threshold: the shares of rules that are known and of other messages that are taken."""

    threshold: float
    known: float
    taken: float

    @property
    def precision(self) -> float:
        """Return the share of rules in what is taken of 20 rules and 12 others: the mix of ``stated_rules``."""
        return 20 * self.known / max(1e-9, 20 * self.known + 12 * self.taken)


def figures(given: Sequence[Example], found: np.ndarray, threshold: float) -> Figures:
    """Return what a threshold does to messages."""
    known = taken = place = 0
    for one in given:
        own = found[place : place + len(one.sentences)] > threshold
        place += len(one.sentences)
        known += one.is_rule and any(own & np.array(one.rules, dtype=bool))
        taken += not one.is_rule and any(own)
    rules = sum(one.is_rule for one in given)
    return Figures(threshold, known / rules, taken / (len(given) - rules))


def threshold_for(given: Sequence[Example], found: np.ndarray, recall: float) -> Figures:
    """Return the figures of the highest threshold that knows this share of the rules."""
    tried = (figures(given, found, threshold) for threshold in np.arange(3, -4, -0.05))
    return next(each for each in tried if each.known >= recall)


def hold_out(given: Sequence[Example], files: Iterable[str], strength: float = STRENGTH) -> None:
    """Print the figures on files that are left out, each by itself."""
    for file in files:
        kept = [one for one in given if one.file != file]
        held = [one for one in given if one.file == file and one.kind != "pair"]
        weights, intercept = fitted(kept, strength)
        small, step = quantised(weights)
        found = scores(held, small * step, intercept)
        for recall in (0.88, 0.9, RECALL, 0.94):
            each = threshold_for(held, found, recall)
            print(f"{file:40} threshold {each.threshold:5.2f}: {each.known:.1%} of rules known, "
                  f"{each.taken:.1%} of others taken, precision {each.precision:.1%}", flush=True)  # fmt: skip


def main() -> None:
    """Fit, and write; or print the figures on files that are left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hold", action="append", metavar="FILE")
    parser.add_argument("--strength", type=float, default=STRENGTH)
    parser.add_argument("--threshold", type=float, default=THRESHOLD, help="log-odds above which a sentence is a rule")
    arguments = parser.parse_args()
    given = list(examples())
    if arguments.hold:
        hold_out(given, arguments.hold, arguments.strength)
        return
    weights, intercept = fitted(given, arguments.strength)
    small, step = quantised(weights)
    FILE.write_bytes(Header(step=step, intercept=intercept, threshold=arguments.threshold).packed() + small.tobytes())
    used = int(np.count_nonzero(small))
    print(f"{FILE.name}: {len(given):,} messages, {used:,} of {BUCKETS:,} weights are not 0, step {step:.4f}, "
          f"size {math.ceil(FILE.stat().st_size / 1024)} kB")  # fmt: skip


if __name__ == "__main__":
    main()
