"""Where the recorded sessions are, and what a test does when they are not there."""

import os
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]


def corpus_dir() -> Path:
    """The directory of the recorded sessions: ``$GC_CORPUS``, or the one shared beside the repository."""
    return Path(os.environ.get("GC_CORPUS") or _ROOT.parent / "shared" / "corpus")


def openai_sessions() -> list[Path]:
    """The sessions as OpenAI messages, one a line; none where there is no corpus."""
    return sorted(corpus_dir().glob("*.jsonl"))


def native_sessions(prefix: str = "") -> list[Path]:
    """The sessions as they were recorded whose names begin so (``claude-code``, ``anthropic``, ``gemini``, ``pi``)."""
    found = sorted((corpus_dir() / "native").glob(f"{prefix}*--*"))
    return [path for path in found if path.suffix in {".json", ".jsonl"}]


def require_corpus() -> None:
    """Skip the test, saying so, where there is no corpus; fail it where ``GC_REQUIRE_CORPUS=1`` demands one."""
    if openai_sessions():
        return
    missing = f"no recorded sessions in {corpus_dir()}; set GC_CORPUS"
    if os.environ.get("GC_REQUIRE_CORPUS") == "1":
        pytest.fail(missing)
    pytest.skip(missing)
