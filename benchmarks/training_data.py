"""
The labelled messages that the weights in ``gc_core/task/weights`` are learned from, and whether they still are.

``make sentence-models`` runs it when all weights are written: it notes the digest that a test compares.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from gc_core.task import changes, meaning, sentence_features

DATA: Final = Path(__file__).parents[1] / "tests" / "data"
RULES: Final = (
    "rule_training.jsonl",
    *(f"rule_wordings{name}.jsonl" for name in ("", "_blind", "_development", "_third", "_fourth")),
    *(f"rule_wordings{name}.jsonl" for name in ("_fifth", "_sixth", "_seventh", "_ninth", "_tenth")),
)
DECISIONS: Final = ("decision_training.jsonl",)
CHANGES: Final = "change_training.jsonl"

SOURCE: Final = DATA / "weights_learned_from.txt"
"""The digest of what the committed weights were learned from."""


def digest() -> str:
    """Return the SHA-256 of the messages, their features and the trainers, in hexadecimal digits."""
    messages = [DATA / name for name in (*RULES, *DECISIONS, CHANGES)]
    features = [Path(str(module.__file__)) for module in (sentence_features, meaning, changes)]
    trainers = [Path(__file__).with_name(name) for name in ("sentence_models.py", "change_models.py")]
    read = [*messages, *features, *trainers]
    return hashlib.sha256(b"".join(path.read_bytes() for path in read)).hexdigest()


if __name__ == "__main__":
    SOURCE.write_text(f"{digest()}\n", "utf-8")
