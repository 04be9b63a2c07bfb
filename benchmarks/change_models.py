"""
Learns what a later sentence does to an earlier rule, and which words say what a sentence is about.

``make sentence-models`` writes the weights that ``gc_core/task/changes.py`` and ``meaning.py`` read. Pairs are from
``change_training.jsonl``, whose lines hold the rules in force and a later message, and from the older sets of rules;
``--hold`` leaves out one part of them after the other and prints what is found on it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import attrs
import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.sentence_models import PAIRS, fitted_to, lines, own_sentences, rarity_of, ratio_of, rules
from benchmarks.training_data import CHANGES, DATA, RULES
from gc_core.task import sentence_models
from gc_core.task.changes import Effect, features_of, pairs_of
from gc_core.task.meaning import meaning_of, stems_of, weight_of
from gc_core.task.sentence_features import NUMBER, Reading, hash_of
from gc_core.task.sentence_models import FOLDER, LARGEST, LinearModel

BITS: Final = 18
WORD_BITS: Final = 16
STRENGTH: Final = 1.0
THRESHOLDS: Final = (0.0, 2.35, 0.75)
"""
The log-odds above which a sentence replaces or withdraws another one, chosen on parts that were left out. A rule that
is dropped wrongly costs more than one that stays beside its newer version, which is shown too; that one was withdrawn
would not be shown.
"""

COMMON, RARE = 15, 5_000
"""Of so many sentences one has a stem that says nothing, or that says as much as any."""

FEWEST_SENTENCES: Final = 1_000
"""The sentences that a language has at least, or a word of a small one would seem common."""

AMONG: Final = 3
"""The other rules that the first statement of an older pair is put among."""

FOLDS: Final = 5

MOULDS, NUMBERED, PARTS = 1_500, 3_000, 10
"""The rules of which others of the same mould, or with another number, are made, and the parts that they are in."""

LONG_WORD: Final = re.compile(r"[^\W\d_\u3040-\ud7af]{4,}")
HALF: Final = 0.5

EFFECTS: Final = {"s": Effect.REPLACES, "w": Effect.WITHDRAWS, "p": Effect.NONE}
NAMES: Final = {"replaces": Effect.REPLACES, "withdraws": Effect.WITHDRAWS, "none": Effect.NONE}


@attrs.frozen
class Case:
    """A later sentence, the rules in force, of which those from ``last`` on were said just before, and its effect."""

    part: str
    kind: str
    sentence: str
    rules: tuple[str, ...]
    last: int
    which: int | None
    effect: Effect


@attrs.frozen
class Pairs:
    """The pairs of all cases, a row each, with the effect and the case of each."""

    features: csr_matrix
    effects: np.ndarray
    cases: np.ndarray

    @classmethod
    def of(cls, cases: Sequence[Case]) -> Pairs:
        """Return those that are compared."""
        columns: list[int] = []
        ends, effects, owners = [0], [], []
        for number, case in enumerate(cases):
            for place, pair in pairs_of(case.sentence, case.rules, case.last):
                columns += sorted({each & ((1 << BITS) - 1) for each in features_of(pair)})
                ends.append(len(columns))
                effects.append(case.effect if place == case.which else Effect.NONE)
                owners.append(number)
        matrix = csr_matrix((np.ones(len(columns), dtype=np.float32), columns, ends), (len(effects), 1 << BITS))
        return cls(matrix, np.array(effects), np.array(owners))

    def fitted(self, chosen: np.ndarray) -> LinearModel:
        """Return the weights that fit some of the pairs."""
        features, effects = self.features[chosen], self.effects[chosen]
        counts = np.ones(len(effects))
        scale = rarity_of(features) * ratio_of(features, effects, counts)
        return fitted_to(features, effects, counts, scale, strength=STRENGTH, threshold=0.0)


# -- labelled messages -----------------------------------------------------------------------------------------------


def cases() -> Iterator[Case]:
    """Yield all labelled cases, those of one part together."""
    yield from itertools.chain.from_iterable(map(_older, RULES[1:]))
    yield from _changes()
    yield from _moulds()


def _older(file: str) -> Iterator[Case]:
    """Yield the pairs of an older set: by themselves, and among other rules of the language."""
    lot = random.Random(file)  # noqa: S311 - no secret hangs on it
    rows = [json.loads(line) for line in (DATA / file).read_text("utf-8").splitlines()]
    said: dict[str | None, list[str]] = {row.get("language"): [] for row in rows}
    for row in rows:
        if row["id"][0] == "r":
            said[row.get("language")].append(row["text"])
    for row in rows:
        letter = row["id"][0]
        if letter not in PAIRS:
            continue
        old, new = (_sentence(row[name]) for name in PAIRS[letter])
        which = None if letter == "p" else 0
        yield Case(file, letter, new, (old,), 0, which, EFFECTS[letter])
        others = lot.sample(said[row.get("language")], min(AMONG, len(said[row.get("language")])))
        yield Case(file, letter, new, (old, *others), 1 + len(others), which, EFFECTS[letter])


def _sentence(said: dict[str, str]) -> str:
    """Return the sentence of a statement that its marker is in."""
    marker = said.get("marker", said["text"]).lower()
    return next((each for each in own_sentences(said["text"]) if marker in each.lower()), said["text"])


def _changes() -> Iterator[Case]:
    for line in (DATA / CHANGES).read_text("utf-8").splitlines():
        row = json.loads(line)
        for sentence in own_sentences(row["text"]) or (row["text"],):
            plain, said = " ".join(sentence.split()), " ".join(row["sentence"].split())
            is_it = bool(said) and (plain in said or said in plain)
            kind = row["effect"] if is_it or not said else "beside"
            effect = NAMES[row["effect"]] if is_it else Effect.NONE
            rules = tuple(row["rules"])
            yield Case(row["part"], kind, sentence, rules, len(rules) - 1, row["which"] if is_it else None, effect)


def _moulds() -> Iterator[Case]:
    """
    Yield rules beside others of the same mould: with another number it is a new value of the same thing; that begins
    with another thing, or is about two other things, it is a rule beside the first.
    """
    lot = random.Random("moulds")  # noqa: S311 - no secret hangs on it
    said = [each for one in rules() for each, kind in zip(one.sentences, one.classes, strict=True) if kind == 1]
    lot.shuffle(said)
    telling = [found for each in said for found in LONG_WORD.findall(each) if weight_of(f"={found[:6].lower()}") > HALF]
    for place, rule in enumerate(said):
        part = f"moulds {place % PARTS}"
        numbers = list(NUMBER.finditer(rule))
        if len(numbers) == 1 and numbers[0][0].isdigit() and place < NUMBERED:
            other = _with(rule, numbers, [str(int(numbers[0][0]) + lot.randint(1, 40))])
            yield Case(part, "number", other, (rule,), 0, 0, Effect.REPLACES)
        if place >= MOULDS:
            continue
        words = [found for found in LONG_WORD.finditer(rule) if weight_of(f"={found[0][:6].lower()}") > HALF]
        if len(words) > 2:  # noqa: PLR2004
            other = _with(rule, words[:1], lot.sample(telling, 1))
            both = _with(rule, [words[0], words[-1]], lot.sample(telling, 2))
            yield Case(part, "mould", other, (rule,), 0, None, Effect.NONE)
            yield Case(part, "mould", both, (rule,), 0, None, Effect.NONE)


def _with(rule: str, found: Sequence[re.Match[str]], others: Sequence[str]) -> str:
    """Return a rule with other words in these places."""
    for match, other in reversed(list(zip(found, others, strict=True))):
        rule = rule[: match.start()] + other + rule[match.end() :]
    return rule


# -- fitting ---------------------------------------------------------------------------------------------------------


def words() -> LinearModel:
    """Return how much each word says: the less, the larger a share of the sentences of some language have it."""
    held: dict[str, Counter[str]] = {}
    number: Counter[str] = Counter()
    for _, row in lines(RULES):
        language = row.get("language", "")
        for sentence in own_sentences(row.get("text", "")):
            held.setdefault(language, Counter()).update({word for _, word in stems_of(Reading.of(sentence))})
            number[language] += 1
    weights = array("b", [LARGEST]) * (1 << WORD_BITS)
    for language, those in held.items():
        for word, times in those.items():
            bucket = hash_of(word) & ((1 << WORD_BITS) - 1)
            weights[bucket] = min(weights[bucket], _weight(times / max(FEWEST_SENTENCES, number[language])))
    return LinearModel(float(np.float32(1 / LARGEST)), (0.0,), (weights,))


def _weight(share: float) -> int:
    rarity = (math.log(1 / share) - math.log(COMMON)) / (math.log(RARE) - math.log(COMMON))
    return round(LARGEST * min(1.0, max(0.0, rarity)))


def scores(pairs: Pairs, model: LinearModel) -> np.ndarray:
    """Return the scores of each pair, a column an effect."""
    weights = np.array([np.frombuffer(each, dtype=np.int8) for each in model.weights]).T
    sizes = np.sqrt(np.maximum(1, np.asarray(pairs.features.sum(1)).ravel()))
    return (pairs.features @ weights) * model.step / sizes[:, None] + np.array(model.biases)


def above(model: LinearModel, thresholds: Sequence[float]) -> LinearModel:
    """Return the model with a threshold taken off the score of each effect."""
    return attrs.evolve(model, biases=tuple(a - b for a, b in zip(model.biases, thresholds, strict=True)))


def hold_out() -> None:
    """Print what a model that has not seen a fifth of the parts does on it."""
    every = list(cases())
    pairs = Pairs.of(every)
    fold = {part: place % FOLDS for place, part in enumerate(sorted({case.part for case in every}))}
    folds = np.array([fold[every[number].part] for number in pairs.cases])
    found = np.zeros((len(folds), len(Effect)))
    for each in range(FOLDS):
        found[folds == each] = scores(pairs, pairs.fitted(folds != each))[folds == each]
    for replaces, withdraws in ((1.0, 0.0), (1.5, 0.5), THRESHOLDS[1:], (2.5, 1.0), (3.0, 1.5)):
        print(f"{replaces}, {withdraws}: {_figures(every, pairs, found - (0.0, replaces, withdraws))}", flush=True)


def _figures(every: Sequence[Case], pairs: Pairs, found: np.ndarray) -> str:
    best: dict[int, tuple[float, int]] = {}
    for row, number in enumerate(pairs.cases):
        margin = found[row, 1:].max() - found[row, 0]
        best[number] = max(best.get(number, (0.0, -1)), (margin, row))
    right, wrong, said = Counter[str](), Counter[str](), Counter[str]()
    for number, case in enumerate(every):
        row = best.get(number, (0.0, -1))[1]
        said[case.kind] += 1
        right[case.kind] += row >= 0 and pairs.effects[row] != Effect.NONE
        wrong[case.kind] += row >= 0 and pairs.effects[row] == Effect.NONE
    return "; ".join(
        f"{kind} {right[kind] / said[kind]:.1%} right, {wrong[kind] / said[kind]:.1%} wrong of {said[kind]}"
        for kind in said
    )


def main() -> None:
    """Fit and write both models; or print the figures on parts that are left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hold", action="store_true", help="print the figures on held-out parts; write nothing")
    if parser.parse_args().hold:
        hold_out()
        return
    (FOLDER / "words.bin").write_bytes(words().packed())
    forget()
    every = list(cases())
    pairs = Pairs.of(every)
    model = above(pairs.fitted(np.ones(len(pairs.effects), dtype=bool)), THRESHOLDS)
    (FOLDER / "changes.bin").write_bytes(model.packed())
    print(f"changes.bin: {len(every):,} sentences, {len(pairs.effects):,} pairs")


def forget() -> None:
    """Forget the weights that were read, and what was read with them."""
    sentence_models._model.cache_clear()
    meaning_of.cache_clear()


if __name__ == "__main__":
    main()
