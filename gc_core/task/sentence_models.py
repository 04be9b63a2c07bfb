"""
How likely a sentence is a rule or a decision, in which form, and what it changes: linear models over hashed features.

Their weights are data, one byte each, learned from labelled messages by ``make sentence-models``. A
sentence costs two to three hundred look-ups.
"""

from __future__ import annotations

import functools
import math
import struct
import zlib
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

from gc_core.task.sentence_features import hashes_of

FOLDER: Final = Path(__file__).with_name("weights")
"""The weights of each model, in a file of its name."""

LARGEST: Final = 15
"""The largest weight, in steps."""

_HEAD: Final = struct.Struct("<If")


@attrs.frozen
class LinearModel:
    """
    Learned weights.

    Attributes:
        step: The value of one step of a weight.
        biases: For each class, its score for a sentence without features.
        weights: For each class one weight a bucket, in steps; the number of buckets is a power of two.

    """

    step: float
    biases: tuple[float, ...]
    weights: tuple[array[int], ...] = attrs.field(repr=False)

    @classmethod
    def load(cls, name: str) -> LinearModel:
        """Read the weights of one model."""
        return cls.of((FOLDER / f"{name}.bin").read_bytes())

    @classmethod
    def of(cls, packed: bytes) -> LinearModel:
        """Read what ``packed`` returned."""
        data = zlib.decompress(packed)
        classes, step = _HEAD.unpack_from(data)
        biases = struct.unpack_from(f"<{classes}f", data, _HEAD.size)
        weights = memoryview(data)[_HEAD.size + 4 * classes :]
        buckets = len(weights) // classes
        return cls(step, biases, tuple(_read(weights[at : at + buckets]) for at in range(0, len(weights), buckets)))

    def packed(self) -> bytes:
        """Return it as bytes."""
        head = _HEAD.pack(len(self.biases), self.step) + struct.pack(f"<{len(self.biases)}f", *self.biases)
        return zlib.compress(head + b"".join(each.tobytes() for each in self.weights), level=9)

    def scores(self, hashes: frozenset[int]) -> list[float]:
        """Return the score of each class for the features of a sentence: log-odds above the threshold if it is one."""
        mask = len(self.weights[0]) - 1
        places = [each & mask for each in hashes]
        scale = self.step / math.sqrt(max(1, len(places)))
        return [
            bias + scale * sum(map(weights.__getitem__, places))
            for bias, weights in zip(self.biases, self.weights, strict=True)
        ]


def _read(packed: memoryview) -> array[int]:
    weights = array("b")
    weights.frombytes(packed)
    return weights


def rule_margins(sentences: Sequence[str]) -> list[float]:
    """Return for each sentence of a user's message by how much its log-odds of being a rule exceed the threshold."""
    return [_model("rules").scores(hashes)[0] for hashes in hashes_of(sentences)]


def decision_margins(sentences: Sequence[str]) -> list[float]:
    """Return for each sentence of an assistant's message by how much its log-odds of settling something exceed it."""
    return [_model("decisions").scores(hashes)[0] for hashes in hashes_of(sentences)]


def form_scores(rule: str) -> list[float]:
    """Return for each ``Form``, in order, a score that is higher the likelier the form is that of a rule."""
    return _model("forms").scores(hashes_of([rule])[0])


def change_scores(hashes: frozenset[int]) -> list[float]:
    """Return the scores of what a sentence does to an earlier one: nothing, it replaces it, or withdraws it."""
    return _model("changes").scores(hashes)


def weight_of_word(word: int) -> float:
    """Return how much a word, of which this is the hash, says, from 0 to 1."""
    model = _model("words")
    return model.step * model.weights[0][word & (len(model.weights[0]) - 1)]


@functools.cache
def _model(name: str) -> LinearModel:
    """Return a model, read when it is first needed."""
    return LinearModel.load(name)
