"""
The sized sessions of the corpus, and shared output of several benchmarks.

A sized session is that of ``ctxgc compare --sized``: longer than the window, at most four windows long, of at most 500
calls.
"""

from __future__ import annotations

import logging
import platform
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import attrs
from ctxgc.evaluation.comparison import MOST_CALLS, MOST_WINDOWS
from ctxgc.evaluation.reuse import message_texts
from ctxgc.evaluation.transcripts import Transcript, read_transcript

from benchmarks.counting import corpus
from gc_core.providers import format_named
from gc_core.providers.token_counting import counter_for
from gc_core.values.messages import Role

WORKERS = 2


@attrs.frozen(kw_only=True)
class Task:
    """One session at one window."""

    path: Path
    window: int


def session_files() -> list[Path]:
    """The sessions of the corpus, the largest first, so that nobody waits for the last one alone."""
    return sorted(corpus().glob("*.jsonl"), key=lambda path: -path.stat().st_size)


def sized(path: Path, windows: Iterable[int]) -> tuple[Task, ...]:
    """Those of the windows that a session suits."""
    transcript = read_transcript(path)
    if calls_of(transcript) > MOST_CALLS:
        return ()
    tokens = text_tokens(transcript)
    return tuple(Task(path=path, window=each) for each in windows if each < tokens <= MOST_WINDOWS * each)


def long(path: Path, windows: Iterable[int]) -> tuple[Task, ...]:
    """Those of the windows for which a session is longer than a sized one."""
    transcript = read_transcript(path)
    tokens, many = text_tokens(transcript), calls_of(transcript) > MOST_CALLS
    return tuple(
        Task(path=path, window=each) for each in windows if tokens > MOST_WINDOWS * each or (many and tokens > each)
    )


def calls_of(transcript: Transcript) -> int:
    """Model calls of a session."""
    form = format_named(transcript.format)
    return sum(form.role(message) is Role.ASSISTANT for message in transcript.messages)


def text_tokens(transcript: Transcript) -> int:
    """Tokens of a session's text alone: no framing, no schemas."""
    form = format_named(transcript.format)
    count = counter_for(None, transcript.format).count
    texts = (text for message in transcript.messages for text in message_texts(message, form))
    return sum(map(count, transcript.system)) + sum(map(count, texts))


def made_with(packages: Sequence[str]) -> str:
    """Date, versions of these packages, and of Python."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return f"{time.strftime('%Y-%m-%d')}, {versions}, Python {platform.python_version()}"


def quiet() -> None:
    """What is mended in a message is no news here."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)


# -- what is printed -------------------------------------------------------------------------------------------------


def shown(figure: float | None, digits: int = 1) -> str:
    """A figure, or a dash where there is none."""
    return "-" if figure is None else f"{figure:.{digits}f}"


def row(*cells: object) -> str:
    """One line of a table in Markdown."""
    return f"| {' | '.join(map(str, cells))} |"


def print_row(*cells: object) -> None:
    """Print one line of a table in Markdown."""
    print(row(*cells))
