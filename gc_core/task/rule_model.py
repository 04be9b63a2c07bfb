"""
How likely a sentence is a rule: a linear model over hashed features, learned from labelled messages.

The weights are data, two bytes for each of ``BUCKETS`` hashes, made by ``python -m benchmarks.rule_model``. A
sentence costs some two hundred look-ups.
"""

from __future__ import annotations

import functools
import math
import struct
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

from gc_core.task.rule_features import hashes_of

BUCKETS: Final = 1 << 17
"""The number of weights: a power of two, which most features of the training data have to themselves."""

FILE: Final = Path(__file__).with_name("rule_model.bin")
"""The weights."""

LARGEST: Final = 32_767
"""The largest weight, in steps."""

_LAYOUT: Final = struct.Struct("<fff")


@attrs.frozen(kw_only=True)
class Header:
    """
    What precedes the weights in their file.

    Attributes:
        step: The value of one step of a weight.
        intercept: The log-odds of a sentence without features.
        threshold: The log-odds above which a sentence is a rule.

    """

    step: float
    intercept: float
    threshold: float

    def packed(self) -> bytes:
        """Return it as bytes."""
        return _LAYOUT.pack(self.step, self.intercept, self.threshold)


@attrs.frozen
class RuleModel:
    """
    The learned weights.

    Attributes:
        header: Their scale.
        weights: One a bucket, in steps.

    """

    header: Header
    weights: array[int] = attrs.field(repr=False)

    @classmethod
    def load(cls) -> RuleModel:
        """Read the weights."""
        data = FILE.read_bytes()
        step, intercept, threshold = _LAYOUT.unpack_from(data)
        header = Header(step=step, intercept=intercept, threshold=threshold)
        weights = array("h")
        weights.frombytes(data[_LAYOUT.size :])
        if sys.byteorder == "big":
            weights.byteswap()
        return cls(header, weights)

    def margins(self, sentences: Sequence[str]) -> list[float]:
        """Return for each sentence of a message by how much its log-odds are above the threshold."""
        return [self._margin(hashes) for hashes in hashes_of(sentences, BUCKETS)]

    def _margin(self, hashes: frozenset[int]) -> float:
        weights = self.weights
        total = sum(weights[each] for each in hashes) * self.header.step
        return total / math.sqrt(max(1, len(hashes))) + self.header.intercept - self.header.threshold


@functools.cache
def rule_model() -> RuleModel:
    """Return the model, read with the first sentence."""
    return RuleModel.load()
