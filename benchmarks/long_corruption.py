"""
A summary goes wrong in the middle of a long session, a plugin notices it in the next reply, and the session goes back.

The summarizer writes, in one collection, what gc-core's extract says with another value in the place of a planted one,
and nobody checks it. The reply that follows builds on the wrong value. A ``gc_validate_reply`` plugin that knows the
right one finds the reply inconsistent and names the collected items; the reply is not taken.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from benchmarks.long_plants import Plant, Stage, plants
from benchmarks.long_session import CODING, Message, Said, long_session, session_files
from gc_core import (
    GCConfig,
    GCSession,
    Inconsistency,
    InconsistentReplyError,
    ItemKind,
    Plugins,
    Request,
    SummaryRequest,
    hookimpl,
)
from gc_core.summaries.extractive import ExtractiveSummarizer

FROM_SHARE = 0.6
"""The summary goes wrong behind this share of the steps."""

AGES = (8, 12, 20, 40)
"""Steps after which it is tried with what was planted: often no collection takes it, or none says it in words."""

TARGET_PERCENT = 15.0
"""Down to where the window is collected, so that what was planted is summarised."""

WRONG = "sullen sparrow"
"""What the summary says instead."""


@attrs.frozen(kw_only=True)
class Recovery:
    """
    What happened.

    Attributes:
        step: At which call.
        plant: What the summary was wrong about.
        checkpoint: Digest of the checkpoint before the collection.
        recovered: Digest of the window after the reply was refused.
        told: The error's own words.
        wrong_shown: The request showed the wrong value, and the right one nowhere.
        right_shown: The request of the retried step shows the right value, and the wrong one nowhere.
        calls: Model calls of the whole run.
        most: Tokens of the largest request.

    """

    step: int
    plant: Plant
    checkpoint: str
    recovered: str
    told: str
    wrong_shown: bool
    right_shown: bool
    calls: int = 0
    most: int = 0


@attrs.define
class _Liar:
    """A summarizer that says what it is told to say, in one collection."""

    instead_of: str = ""

    def summarize(self, request: SummaryRequest) -> str:
        text = ExtractiveSummarizer().summarize(request)
        return text.replace(self.instead_of, WRONG) if self.instead_of else text


@attrs.frozen
class _Credulous:
    """Finds nothing wrong with any summary."""

    def validate(self, request: SummaryRequest, text: str) -> tuple[str, ...]:  # noqa: ARG002 - the contract
        return ()


@attrs.define(eq=False)
class _Witness:
    """A plugin of a host that knows what was decided, and in which items."""

    items: tuple[str, ...] = ()

    @hookimpl
    def gc_validate_reply(self, reply: Mapping[str, Any]) -> Inconsistency | None:
        if WRONG not in json.dumps(reply):
            return None
        return Inconsistency(reason=f"nobody ever said {WRONG!r}", items=self.items)


@attrs.define
class _Runner:
    session: GCSession
    liar: _Liar
    witness: _Witness
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
            holders = self._holders(plant) if step - said in AGES else ()
            if holders:
                self._corrupt(step, plant, holders)
            if self.recovery is not None:
                return

    def _holders(self, plant: Plant) -> tuple[str, ...]:
        items = self.session.items()
        return tuple(item.id for item in items if plant.marker in item.text and item.kind is not ItemKind.SUMMARY)

    def _corrupt(self, step: int, plant: Plant, holders: tuple[str, ...]) -> None:
        checkpoint = self.session.checkpoint()
        self.liar.instead_of = plant.marker
        self.session.collect_now(target_percent=TARGET_PERCENT)
        self.liar.instead_of = ""
        wrong = _shows(self.session, WRONG) and not _shows(self.session, plant.marker)
        if not wrong:  # it was not summarised, or not in words: nothing has gone wrong
            self.session.rollback(checkpoint)
            return
        self.witness.items = holders
        told = self._refused(plant)
        recovered = self.session.checkpoint().digest
        self._send()
        right = _shows(self.session, plant.marker) and not _shows(self.session, WRONG)
        self.recovery = Recovery(
            step=step,
            plant=plant,
            checkpoint=checkpoint.digest,
            recovered=recovered,
            told=told,
            wrong_shown=wrong,
            right_shown=right,
        )

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
    witness, plugins, liar = _Witness(), Plugins.discover(), _Liar()
    plugins.register(witness)
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
        runner = _Runner(session=session, liar=liar, witness=witness, begin=int(FROM_SHARE * steps))
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
        ("digest of the checkpoint before it", found.checkpoint),
        ("digest after the reply was refused", found.recovered),
        ("the checkpoint's digest is back", found.recovered == found.checkpoint),
        ("the retried step shows the right value alone", found.right_shown),
        ("what the error says", found.told),
        ("model calls, largest request", f"{found.calls:,}, {found.most:,} tokens of {window:,}"),
    ):
        print(f"- {name}: {value}")
