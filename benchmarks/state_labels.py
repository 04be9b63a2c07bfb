"""
A hundred messages of the recorded sessions, and the content that a task's state must have from each: fixed before any
extractor.

A model read them, not a person, in sessions of coding, customer service, databases, chat and puzzles; half of them hold
nothing that outlives their step, so that false alarms can be counted. The repository has no text of theirs: a label is
a place and a hash. ``judge`` takes whatever says what it finds in a session, so nothing here knows how it looks.
"""

from __future__ import annotations

import enum
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from ctxgc.evaluation.transcripts import Transcript, read_transcript

from benchmarks.counting import corpus
from benchmarks.sized import print_row
from gc_core import GCConfig, GCSession

LABELS = Path(__file__).with_name("state_labels.json")

ENOUGH = 0.5
"""Share of a label's words that an entry has to hold to count as it."""

_WORD = re.compile(r"\w{3,}")


class LabelKind(enum.Enum):
    """What a span is."""

    CONSTRAINT = "constraint"
    DECISION = "decision"
    ENTITY = "entity"
    ERROR = "error"
    QUESTION = "question"


@attrs.frozen(kw_only=True)
class StateLabel:
    """
    A span of a message that has to be in the task's state afterwards.

    Attributes:
        kind: What it is.
        span: From where to where in the message's text, in characters.
        sha256: First 16 hexadecimal digits of the span's hash.
        why: Why it has to be known.
        reason: Span of the reason that is stated for it, or None.
        reason_sha256: Hash of that span, or "".
        resolved: Index of the message that holds what resolved an error, or None.

    """

    kind: LabelKind = attrs.field(converter=LabelKind)
    span: tuple[int, int] = attrs.field(converter=tuple)
    sha256: str
    why: str
    reason: tuple[int, int] | None = attrs.field(default=None, converter=attrs.converters.optional(tuple))
    reason_sha256: str = ""
    resolved: int | None = None


@attrs.frozen(kw_only=True)
class LabelledMessage:
    """
    A message that was read.

    Attributes:
        file: File name of the session.
        message: Index of the message in the file.
        role: Whose it is.
        sha256: First 16 hexadecimal digits of the hash of its text.
        labels: What it holds; nothing in about half of them.
        why: Why it holds nothing, or "".

    """

    file: str
    message: int
    role: str
    sha256: str
    labels: tuple[StateLabel, ...]
    why: str = ""

    def text(self, transcript: Transcript) -> str:
        """Its text. Raises ValueError when the file holds another one there."""
        text = str(transcript.messages[self.message - len(transcript.system)].get("content") or "")
        return self._checked(text, self.sha256, "the text")

    def span(self, transcript: Transcript, label: StateLabel) -> str:
        """The labelled span. Raises ValueError when it is not what was labelled."""
        return self._checked(self.text(transcript)[slice(*label.span)], label.sha256, f"the {label.kind.value}")

    def reason(self, transcript: Transcript, label: StateLabel) -> str:
        """The stated reason, or "". Raises ValueError when it is not what was labelled."""
        if label.reason is None:
            return ""
        return self._checked(self.text(transcript)[slice(*label.reason)], label.reason_sha256, "the reason")

    def _checked(self, text: str, sha256: str, what: str) -> str:
        if hashlib.sha256(text.encode()).hexdigest()[:16] != sha256:
            raise ValueError(f"{self.file}: message {self.message}: {what} is not what was labelled")
        return text


def labelled_messages() -> tuple[LabelledMessage, ...]:
    """The hundred messages, by file."""
    rows: list[dict[str, Any]] = json.loads(LABELS.read_text("utf-8"))
    return tuple(
        LabelledMessage(**{**row, "labels": tuple(StateLabel(**label) for label in row["labels"])}) for row in rows
    )


# -- judging ---------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Entry:
    """
    What somebody found in a session.

    Attributes:
        kind: What it is said to be.
        message: Index of the message it was found in, among the transcript's own.
        text: Its words.
        reason: The reason that is kept with it, or "".
        resolved: Index of the message that is kept as what resolved an error, or None.

    """

    kind: LabelKind
    message: int
    text: str
    reason: str = ""
    resolved: int | None = None


Extract = Callable[[Transcript], Iterable[Entry]]
"""Whatever says what it finds in a whole session."""


@attrs.frozen(kw_only=True)
class Score:
    """
    How an extractor did with one kind.

    Attributes:
        labels: Labels of the kind.
        found: Of these, how many an entry of the kind holds.
        mentioned: Of these, how many an entry of any kind holds.
        reasons: Labels with a stated reason that were found, and how many entries kept it.
        resolved: Labels with a resolution that were found, and how many entries know it.
        alarms: Entries of the kind in messages that hold nothing.

    """

    labels: int
    found: int
    mentioned: int
    reasons: tuple[int, int]
    resolved: tuple[int, int]
    alarms: int


def judge(extract: Extract) -> Mapping[LabelKind, Score]:
    """The score of an extractor by kind; each session is read once."""
    rows: list[_Row] = []
    alarms: list[LabelKind] = []
    for file, group in itertools.groupby(labelled_messages(), key=lambda each: each.file):
        transcript = read_transcript(corpus() / file)
        entries = list(extract(transcript))
        for message in group:
            its = [entry for entry in entries if entry.message == message.message - len(transcript.system)]
            rows += (_judged(label, message, its, transcript) for label in message.labels)
            alarms += () if message.labels else (entry.kind for entry in its)
    return {kind: _score([row for row in rows if row.label.kind is kind], alarms.count(kind)) for kind in LabelKind}


@attrs.frozen(kw_only=True)
class _Row:
    label: StateLabel
    found: bool
    mentioned: bool
    kept_reason: bool
    knows_resolution: bool


def _judged(label: StateLabel, message: LabelledMessage, its: Sequence[Entry], transcript: Transcript) -> _Row:
    span, reason = message.span(transcript, label), message.reason(transcript, label)
    holding = [entry for entry in its if holds(entry.text, span)]
    right = [entry for entry in holding if entry.kind is label.kind]
    return _Row(
        label=label,
        found=bool(right),
        mentioned=bool(holding),
        kept_reason=bool(reason) and any(holds(f"{entry.reason} {entry.text}", reason) for entry in right),
        knows_resolution=label.resolved is not None
        and label.resolved - len(transcript.system) in {entry.resolved for entry in right},
    )


def _score(rows: Sequence[_Row], alarms: int) -> Score:
    found = [row for row in rows if row.found]
    reasoned = [row for row in found if row.label.reason is not None]
    resolved = [row for row in found if row.label.resolved is not None]
    return Score(
        labels=len(rows),
        found=len(found),
        mentioned=sum(row.mentioned for row in rows),
        reasons=(len(reasoned), sum(row.kept_reason for row in reasoned)),
        resolved=(len(resolved), sum(row.knows_resolution for row in resolved)),
        alarms=alarms,
    )


def holds(text: str, span: str) -> bool:
    """Whether a text holds a span: literally, or at least half of its words."""
    if span in text:
        return True
    words = {word.lower() for word in _WORD.findall(span)}
    have = {word.lower() for word in _WORD.findall(text)}
    return bool(words) and len(words & have) >= ENOUGH * len(words)


def print_scores(scores: Mapping[LabelKind, Score]) -> None:
    """A row a kind, in Markdown."""
    print_row("kind", "labels", "found", "held by any entry", "reasons kept", "resolutions known", "false alarms")
    print_row("---", *["--:"] * 6)
    for kind, score in scores.items():
        reasons, resolved = (f"{known} of {of}" for of, known in (score.reasons, score.resolved))
        print_row(kind.value, score.labels, score.found, score.mentioned, reasons, resolved, score.alarms)
    print(
        f"\nFalse alarms are entries in the {sum(not each.labels for each in labelled_messages())} messages that hold"
    )
    print("nothing; paths of tool calls may well be entities there.")


# -- gc-core's own ---------------------------------------------------------------------------------------------------


def state_entries(transcript: Transcript) -> Iterator[Entry]:
    """What ``session.state`` holds of a whole session in which nothing is collected; also what was superseded."""
    session = GCSession(
        GCConfig(strategy="none", context_limit=10_000_000, reread_guard="off"), format=transcript.format
    )
    with session:
        said: dict[str, int] = {}
        for place, message in enumerate(transcript.messages):
            said |= dict.fromkeys(session.append(message), place)
        state = session.state
        for constraint in state.constraints:
            yield Entry(kind=LabelKind.CONSTRAINT, message=said[constraint.item], text=constraint.text)
        for decision in state.decisions_made:
            reason = " ".join(each.text for each in decision.reasons)
            yield Entry(kind=LabelKind.DECISION, message=said[decision.item], text=decision.text, reason=reason)
        for question in state.open_questions:
            yield Entry(kind=LabelKind.QUESTION, message=said[question.item], text=question.text)
        for error in state.error_patterns:
            solved = None if error.resolution is None else said.get(error.resolution.item)
            yield Entry(kind=LabelKind.ERROR, message=said[error.item], text=error.text, resolved=solved)
        for name, entity in state.entities.items():
            yield Entry(kind=LabelKind.ENTITY, message=said[entity.item], text=name)


if __name__ == "__main__":
    print_scores(judge(state_entries))
