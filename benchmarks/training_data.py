"""The labelled messages that the weights in ``gc_core/task/weights`` are learned from, and whether they still are."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from gc_core.task import sentence_features

DATA: Final = Path(__file__).parents[1] / "tests" / "data"
RULES: Final = (
    "rule_training.jsonl",
    *(f"rule_wordings{name}.jsonl" for name in ("", "_blind", "_development", "_third", "_fourth")),
    *(f"rule_wordings{name}.jsonl" for name in ("_fifth", "_sixth", "_seventh")),
)
DECISIONS: Final = ("decision_training.jsonl",)

SOURCE: Final = DATA / "weights_learned_from.txt"
"""The digest of what the committed weights were learned from."""


def digest() -> str:
    """Return the SHA-256 of the messages, their features and the trainer, in hexadecimal digits."""
    trainer = Path(__file__).with_name("sentence_models.py")
    read = [*(DATA / name for name in RULES + DECISIONS), Path(sentence_features.__file__), trainer]
    return hashlib.sha256(b"".join(path.read_bytes() for path in read)).hexdigest()
