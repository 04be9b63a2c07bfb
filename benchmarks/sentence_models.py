"""
Learns what a rule and a decision look like, and writes the weights that ``gc_core/task/sentence_models.py`` reads.

``make sentence-models`` fits a logistic regression over the features of ``gc_core/task/sentence_features.py`` to the
labelled messages below, and makes the same bytes from the same data. The messages were written by hand for this, in
fourteen languages (each file has several parts, each by another hand), and older sets that were looked at are among
them; none of the sets that figures are quoted from is. ``--hold`` fits the models again and again, each time without
one part of their data, and prints what they do on that part: thresholds are chosen by this.
"""

from __future__ import annotations

import argparse
import json
import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from benchmarks.training_data import DATA, DECISIONS, RULES
from gc_core.task import phrases, quotations, statements
from gc_core.task.forms import Form
from gc_core.task.sentence_features import hashes_of
from gc_core.task.sentence_models import FOLDER, LARGEST, LinearModel

PAIRS: Final = {"s": ("old", "new"), "p": ("first", "second"), "w": ("old", "new")}
"""The statements of the lines that hold two."""

FORMS: Final = {
    "normative": Form.NORM,
    "imperative": Form.ORDER,
    "preference": Form.PREFERENCE,
    "correction": Form.CORRECTION,
    "fact": Form.STATEMENT,
}

COUNTS: Final = {
    "pair": 0.5, "en_second": 0.5, "world_second": 0.5, "direct": 3.0, "plain": 3.0, "history": 2.0, "register": 2.0,
}  # fmt: skip
"""
How much some messages count, by kind or part: near misses of each other, which users rarely put so, less; what is said
in so many words every day most, or the near misses would teach that "must" is said of what is no rule; and what is
written as whole conversations run, with as few rules as these have, more too. Of a long one each sentence counts less.
"""

LEAST: Final = 0.05
"""What is added to the log-ratio of a feature, so that one that tells nothing by itself may count beside others."""

FEWEST: Final = 3
"""The sentences in which a feature has to be to have a weight."""

CONVERSATIONS: Final = frozenset({"history", "register"})
"""The kinds of users' messages that were written as conversations run."""

PART: Final = 0.25
"""The share of a label's characters that a sentence in it needs to be part of it: a list's "1." is none."""

DOUBTFUL: Final = -1
"""The class of a sentence that a careful reader could take for either: nothing is learned from it."""

MIX: Final = (20, 12)
"""Messages with and without what is sought, in whose mix the precision is printed: that of ``stated_rules``."""


@attrs.frozen
class Example:
    """A message's sentences, with the class of each; in binary models 1 is what is sought."""

    part: str
    kind: str
    is_one: bool
    sentences: tuple[str, ...]
    classes: tuple[int, ...]


@attrs.frozen(kw_only=True)
class Task:
    """
    What is learned.

    Attributes:
        name: The name of its file of weights.
        examples: Its labelled messages.
        bits: Its number of buckets, as a power of two.
        strength: The inverse of the regularisation.
        threshold: The log-odds above which a sentence is one.

    """

    name: str
    examples: Callable[[], Iterator[Example]]
    bits: int
    strength: float
    threshold: float = 0.0


# -- labelled messages -----------------------------------------------------------------------------------------------


def lines(files: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of the files, each with its part."""
    for file in files:
        for line in (DATA / file).read_text("utf-8").splitlines():
            row = json.loads(line)
            yield row.get("part", file), row


def rules() -> Iterator[Example]:
    """Yield the messages of users; of a pair that takes back, the second is no rule."""
    for part, row in lines(RULES):
        letter = row["id"][0]
        if letter in "rn":
            yield _rule(part, row, is_one=letter == "r")
        if letter == "h":
            yield _message(part, row, own_sentences(row["text"]), row["rules"])
        for name in PAIRS.get(letter, ()):
            yield _rule(part, {"kind": "pair", **row[name]}, is_one=(letter, name) != ("w", "new"))


def _rule(part: str, row: Mapping[str, Any], *, is_one: bool) -> Example:
    sentences = own_sentences(row["text"])
    rule = " ".join((row.get("rule") or row["text"]).split())
    return Example(part, row["kind"], is_one, sentences, tuple(
        int(is_one and _is_of(" ".join(one.split()), rule, row["marker"])) for one in sentences
    ))  # fmt: skip


def own_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a user's message that are the user's own."""
    return tuple(quotations.sentences_of(quotations.own_words(text)))


def _message(part: str, row: Mapping[str, Any], sentences: tuple[str, ...], sought: Sequence[str]) -> Example:
    """Return a whole message as people send them, with all that is sought in it, and what is doubtful."""
    return Example(part, row["kind"], bool(sought), sentences, tuple(
        int(_is_among(one, sought)) or DOUBTFUL * _is_among(one, row["doubtful"]) for one in sentences
    ))  # fmt: skip


def _is_among(sentence: str, whole: Sequence[str]) -> bool:
    plain = " ".join(sentence.split())
    labels = [" ".join(each.split()) for each in whole]
    return any(each in plain or (plain in each and len(plain) >= PART * len(each)) for each in labels)


def _is_of(sentence: str, said: str, marker: str) -> bool:
    return sentence in said or said in sentence or marker.lower() in sentence.lower()


def forms() -> Iterator[Example]:
    """Yield the rules by themselves, each with its form."""
    for one in rules():
        for sentence, is_rule in zip(one.sentences, one.classes, strict=True):
            if is_rule == 1 and one.kind in FORMS:
                yield Example(one.part, one.kind, True, (sentence,), (FORMS[one.kind],))


def decisions() -> Iterator[Example]:
    """Yield the messages of assistants."""
    for part, row in lines(DECISIONS):
        sentences = tuple(phrases.sentences_of(statements.without_code(row["text"])))
        if row["id"].startswith("h"):
            yield _message(part, row, sentences, [each["text"] for each in row["decisions"]])
            continue
        is_one = row["id"][0] == "d"
        found = tuple(int(is_one and row["marker"].lower() in each.lower()) for each in sentences)
        yield Example(part, row.get("kind", "decision"), is_one, sentences, found)


TASKS: Final = (
    Task(name="rules", examples=rules, bits=21, strength=1.0, threshold=-0.75),
    Task(name="forms", examples=forms, bits=16, strength=0.5),
    Task(name="decisions", examples=decisions, bits=18, strength=2.0, threshold=-0.9),
)
"""What is learned; strengths, sizes and thresholds were chosen on held-out parts."""


# -- fitting ---------------------------------------------------------------------------------------------------------


@attrs.frozen
class Rows:
    """The features of all sentences, a row each, with their classes, weights and parts."""

    features: csr_matrix
    classes: np.ndarray
    counts: np.ndarray
    parts: np.ndarray

    @classmethod
    def of(cls, given: Sequence[Example], bits: int) -> Rows:
        """Return those of messages."""
        columns: list[int] = []
        ends = [0]
        for one in given:
            for hashes in hashes_of(one.sentences):
                columns += sorted({each & ((1 << bits) - 1) for each in hashes})
                ends.append(len(columns))
        every = [(one, kind) for one in given for kind in one.classes]
        features = csr_matrix((np.ones(len(columns), dtype=np.float32), columns, ends), (len(every), 1 << bits))
        counts = [_count_of(one) for one, _ in every]
        parts = np.array([one.part for one, _ in every], dtype=object)
        return cls(features, np.array([kind for _, kind in every]), np.array(counts), parts)

    def only(self, chosen: np.ndarray) -> Rows:
        """Return some of the rows."""
        return Rows(self.features[chosen], self.classes[chosen], self.counts[chosen], self.parts[chosen])


def _count_of(one: Example) -> float:
    """Return how much each sentence of a message counts."""
    count = COUNTS.get(one.kind, COUNTS.get(one.part, 1.0))
    return count / math.sqrt(len(one.sentences)) if one.kind in CONVERSATIONS else count


def fitted(rows: Rows, task: Task) -> LinearModel:
    """Return the weights that fit these rows."""
    rows = rows.only(rows.classes != DOUBTFUL)
    scale = rarity_of(rows.features)
    if len(np.unique(rows.classes)) == 2:  # noqa: PLR2004
        scale = scale * ratio_of(rows.features, rows.classes, rows.counts)
    return fitted_to(rows.features, rows.classes, rows.counts, scale, strength=task.strength, threshold=task.threshold)


def fitted_to(
    features: csr_matrix,
    classes: np.ndarray,
    counts: np.ndarray,
    scale: np.ndarray,
    *,
    strength: float,
    threshold: float,
) -> LinearModel:
    """Return the weights that fit features, of which each counts by a scale; the threshold is taken off the scores."""
    model = LogisticRegression(C=strength, max_iter=300)
    model.fit(_weighted(features, scale), classes, sample_weight=counts)
    weights = model.coef_ * scale
    step = float(np.quantile(np.abs(weights), 0.9995)) / LARGEST
    whole = np.clip(np.round(weights / step), -LARGEST, LARGEST).astype(np.int8)
    biases = tuple(float(np.float32(each - threshold)) for each in model.intercept_)
    return LinearModel(float(np.float32(step)), biases, tuple(array("b", each.tobytes()) for each in whole))


def rarity_of(features: csr_matrix) -> np.ndarray:
    """Return how much each feature counts by how rare it is."""
    held = np.asarray((features > 0).sum(0)).ravel()
    return np.where(held < FEWEST, 0.0, np.log((1 + features.shape[0]) / (1 + held)) + 1)


def ratio_of(features: csr_matrix, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """
    Return how much each feature tells what is sought from what is not.

    It is the root of the log-ratio by which Wang and Manning (2012, "Baselines and bigrams") scale features.
    """
    with_it, without = (1 + np.asarray(features.T @ (counts * each)).ravel() for each in (classes > 0, classes == 0))
    return np.sqrt(np.abs(np.log((with_it / with_it.sum()) / (without / without.sum()))) + LEAST)


def _weighted(features: csr_matrix, scale: np.ndarray) -> csr_matrix:
    """Return features by how much they count, over the root of their number."""
    sizes = np.maximum(1, np.asarray(features.sum(1)).ravel())
    return csr_matrix(features.multiply(scale[None, :]).tocsr().multiply(1 / np.sqrt(sizes)[:, None]))


def scores(rows: Rows, model: LinearModel) -> np.ndarray:
    """Return the log-odds of all rows, a column a class."""
    plain = _weighted(rows.features, np.ones(rows.features.shape[1]))
    weights = np.array([np.frombuffer(each, dtype=np.int8) for each in model.weights]).T
    return plain @ (weights * model.step) + np.array(model.biases)


# -- held-out parts --------------------------------------------------------------------------------------------------


def hold_out(task: Task) -> None:
    """Print what a model that has not seen a part of the data does on it, for each part."""
    given = list(task.examples())
    rows = Rows.of(given, task.bits)
    for part in dict.fromkeys(one.part for one in given):
        held = rows.parts == part
        if held.all():
            continue
        found = scores(rows.only(held), fitted(rows.only(~held), task))
        known = [one for one in given if one.part == part]
        print(f"{task.name:10} {part:32} {_figures(known, found, rows.classes[held])}", flush=True)


def _figures(given: Sequence[Example], found: np.ndarray, classes: np.ndarray) -> str:
    if found.shape[1] > 1:
        return f"{(found.argmax(1) == classes).mean():.1%} of {len(classes)} right"
    return "; ".join(_at(given, found[:, 0] > margin, margin) for margin in (-0.6, -0.3, 0.0, 0.3, 0.6))


def _at(given: Sequence[Example], taken: np.ndarray, margin: float) -> str:
    """Return the figures when so much more than the threshold is asked for."""
    known = others = place = 0
    for one in given:
        own = taken[place : place + len(one.sentences)]
        place += len(one.sentences)
        classes = np.array(one.classes)
        known += one.is_one and bool((own & (classes > 0)).any())
        others += not one.is_one and one.kind != "pair" and bool((own & (classes == 0)).any())
    number = sum(one.is_one for one in given)
    recall = known / max(1, number)
    false = others / max(1, sum(not one.is_one and one.kind != "pair" for one in given))
    right, wrong = MIX[0] * recall, MIX[1] * false
    return f"{margin:+.1f}: {recall:.1%} known, precision {right / max(1e-9, right + wrong):.1%}"


def main() -> None:
    """Fit and write all models, or those named; or print the figures on parts that are left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="; ".join(task.name for task in TASKS))
    parser.add_argument("--hold", action="store_true", help="print the figures on held-out parts; write nothing")
    arguments = parser.parse_args()
    for task in TASKS:
        if arguments.names and task.name not in arguments.names:
            continue
        if arguments.hold:
            hold_out(task)
            continue
        given = list(task.examples())
        model = fitted(Rows.of(given, task.bits), task)
        file = FOLDER / f"{task.name}.bin"
        file.write_bytes(model.packed())
        print(f"{file.name}: {len(given):,} messages, {math.ceil(file.stat().st_size / 1024)} kB")


if __name__ == "__main__":
    main()
