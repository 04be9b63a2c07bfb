"""Where the recorded sessions are, and what a test does when they are not there."""

import os
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]


def corpus_dir() -> Path:
    """The directory of the recorded sessions: ``$GC_CORPUS``, or the one shared next to the repository."""
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
    if os.environ.get("GC_REQUIRE_CORPUS") == "1":
        pytest.fail(_missing())
    pytest.skip(_missing())


def skipped_for(place: tuple[str, int, str]) -> tuple[str, int, str]:
    """
    Where and why a test was skipped, said alike for all that lack the corpus, so that they are one line at the end of a
    run: those that ask for it, and those that have a case for each of its sessions.
    """
    lacks = _missing() in place[2] or "got empty parameter set" in place[2]
    return (__file__, 1, f"Skipped: {_missing()}") if lacks and not openai_sessions() else place


def _missing() -> str:
    return f"no recorded sessions in {corpus_dir()}; set GC_CORPUS"
