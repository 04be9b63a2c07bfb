"""
A summary goes wrong in the middle of a long session, gc-core notices it in the next reply, and the session goes back.

The summarizer writes, in one collection, what gc-core's extract says with another value in the place of a planted one,
and nobody checks it. The reply that follows builds on the wrong value. ``ContradictionCheck`` finds that the log
contradicts it; the reply is not taken, the collection is undone, and no message is lost.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import attrs

from benchmarks.long_plants import Plant, Stage, plants
from benchmarks.long_session import CODING, Message, Said, long_session, session_files
from gc_core import GCConfig, GCSession, ItemKind, Plugins, Request, SummaryRequest
from gc_core.errors import InconsistentReplyError
from gc_core.plugins.contradictions import ContradictionCheck
from gc_core.storage.state import digest_of_messages
from gc_core.summaries.extractive import ExtractiveSummarizer

FROM_SHARE = 0.6
"""The summary goes wrong behind this share of the steps."""

AGES = (8, 12, 20, 40)
"""Steps after which it is tried with what was planted: often no collection takes it, or none says it in words."""

TARGET_PERCENT = 15.0
"""Down to where the window is collected, so that what was planted is summarised."""

WRONG = "sullen_sparrow_77.py"
"""What the summary says instead."""


@attrs.frozen(kw_only=True)
class Recovery:
    """
    What happened.

    Attributes:
        step: At which call.
        plant: What the summary was wrong about.
        before: Digest of the window before the collection.
        recovered: Digest of the window after the reply was refused.
        kept: No item of a message was lost.
        error_text: The error's own words.
        wrong_shown: The request showed the wrong value, and the right one nowhere.
        right_shown: The request of the retried step shows the right value, and the wrong one nowhere.
        calls: Model calls of the whole run.
        most: Tokens of the largest request.

    """

    step: int
    plant: Plant
    before: str
    recovered: str
    kept: bool
    error_text: str
    wrong_shown: bool
    right_shown: bool
    calls: int = 0
    most: int = 0


@attrs.define
class _Liar:
    """A summarizer that writes a given text, in one collection."""

    instead_of: str = ""

    def summarize(self, request: SummaryRequest) -> str:
        text = ExtractiveSummarizer().summarize(request)
        return text.replace(self.instead_of, WRONG) if self.instead_of else text


@attrs.frozen
class _Credulous:
    """Finds nothing wrong with any summary."""

    def validate(self, request: SummaryRequest, text: str) -> tuple[str, ...]:  # noqa: ARG002 - the contract
        return ()


@attrs.define
class _Runner:
    session: GCSession
    liar: _Liar
    begin: int
    recovery: Recovery | None = None
    calls: int = 0
    most: int = 0
    _sown: dict[str, tuple[int, Plant]] = attrs.Factory(dict)

    def run(self, said: Iterator[Said]) -> Recovery | None:
        for each in said:
            if each.is_reply:
                self._send()
                if self.recovery is None and each.step >= self.begin:
                    self._try(each.step)
            if each.is_reply:
                self.session.post_turn(each.message)
                self.calls += 1
            else:
                self.session.append(each.message)
            for sowing in each.sown:
                if sowing.stage is not Stage.FAILURE:
                    self._sown[sowing.plant.marker] = (each.step, sowing.plant)
        return self.recovery and attrs.evolve(self.recovery, calls=self.calls, most=self.most)

    def _send(self) -> Request:
        request = self.session.pre_send()
        self.most = max(self.most, request.tokens)
        return request

    def _try(self, step: int) -> None:
        """Make a summary wrong about one of the newest plants, where the collection takes it in."""
        for said, plant in reversed(list(self._sown.values())[-8:]):
            if step - said in AGES and self._holds(plant):
                self._corrupt(step, plant)
            if self.recovery is not None:
                return

    def _holds(self, plant: Plant) -> bool:
        items = self.session.items()
        return any(plant.marker in item.text and item.kind is not ItemKind.SUMMARY for item in items)

    def _corrupt(self, step: int, plant: Plant) -> None:
        before, known = self._digest(), self._ids()
        self.liar.instead_of = plant.marker
        self.session.collect_now(target_percent=TARGET_PERCENT)
        self.liar.instead_of = ""
        wrong = _shows(self.session, WRONG) and not _shows(self.session, plant.marker)
        if not wrong:  # it was not summarised, or not in words: nothing has gone wrong
            self.session.undo()
            self.session.release()
            return
        error_text = self._refused(plant)
        recovered = self._digest()
        kept = known <= self._ids()
        self._send()
        right = _shows(self.session, plant.marker) and not _shows(self.session, WRONG)
        self.recovery = Recovery(
            step=step,
            plant=plant,
            before=before,
            recovered=recovered,
            kept=kept,
            error_text=error_text,
            wrong_shown=wrong,
            right_shown=right,
        )

    def _digest(self) -> str:
        return digest_of_messages(self.session.port.context.messages)

    def _ids(self) -> set[str]:
        return {item.id for item in self.session.items() if not item.synthetic}

    def _refused(self, plant: Plant) -> str:
        reply: Message = {"role": "assistant", "content": plant.text.replace(plant.marker, WRONG)}
        try:
            self.session.post_turn(reply)
        except InconsistentReplyError as error:
            return str(error)
        return "the reply was taken"


def _shows(session: GCSession, text: str) -> bool:
    return any(text in item.text for item in session.items())


def run_corrupted(steps: int, strategy: str, window: int) -> Recovery | None:
    """A coding session with one wrong summary; None where no collection ever summarised what was planted."""
    plugins, liar = Plugins.discover(), _Liar()
    plugins.register(ContradictionCheck())
    config = GCConfig(strategy=(strategy,), context_limit=window, output_reservation=0)
    with (
        tempfile.TemporaryDirectory() as directory,
        GCSession(
            config,
            format="openai",
            directory=Path(directory),
            summarizer=liar,
            validator=_Credulous(),
            plugins=plugins,
        ) as session,
    ):
        runner = _Runner(session=session, liar=liar, begin=int(FROM_SHARE * steps))
        return runner.run(long_session(steps, session_files(CODING), plants(steps)))


def print_corruption(steps: int, strategy: str, window: int) -> None:
    """What happened, in Markdown."""
    found = run_corrupted(steps, strategy, window)
    if found is None:
        print("\nNo collection summarised what was planted: nothing went wrong.")
        return
    print(f"\nAt step {found.step:,} a summary said {WRONG!r} for {found.plant.marker!r} ({found.plant.kind.value}).\n")
    for name, value in (
        ("the request shows the wrong value alone", found.wrong_shown),
        ("digest of the window before it", found.before),
        ("digest after the reply was refused", found.recovered),
        ("the same messages are back", found.recovered == found.before),
        ("no item was lost", found.kept),
        ("the retried step shows the right value alone", found.right_shown),
        ("what the error says", found.error_text),
        ("model calls, largest request", f"{found.calls:,}, {found.most:,} tokens of {window:,}"),
    ):
        print(f"- {name}: {value}")
