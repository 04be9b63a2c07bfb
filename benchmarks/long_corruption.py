"""
A summary goes wrong in the middle of a long session, gc-core notices it in the next reply, and the session goes back.

The collections are the session's own, in a window that is small enough for several. From some step on the summarizer
writes what gc-core's extract says with another value in the place of a planted one, and nobody checks it. The next
reply builds on the wrong value. ``check_replies`` finds that the log contradicts it; the reply is not taken, the
collection is undone, and the request that asks again shows all that was there before it and all that came since.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import attrs

from benchmarks.long_plants import Plant, Stage, plants
from benchmarks.long_session import CODING, Message, Said, long_session, session_files
from gc_core import GCConfig, GCSession, Request, SummaryRequest
from gc_core.errors import InconsistentReplyError
from gc_core.events import CollectionFinished, CollectionStarted, Event
from gc_core.summaries.extractive import ExtractiveSummarizer
from gc_core.values.messages import Payload

FROM_SHARE = 0.6
"""The summary goes wrong behind this share of the steps."""

WRONG = "sullen_sparrow_77.py"
"""What the summary says instead."""


@attrs.frozen(kw_only=True)
class Recovery:
    """
    What happened.

    Attributes:
        step: At which call.
        plant: What the summary was wrong about.
        collections: Collections before it.
        kept: The request that asks again shows every message as it was before that collection, and all that came since.
        error_text: The error's own words.
        right_shown: The request that asks again shows the right value, and the wrong one nowhere.
        calls: Model calls of the whole run.
        most: Tokens of the largest request.

    """

    step: int
    plant: Plant
    collections: int
    kept: bool
    error_text: str
    right_shown: bool
    calls: int = 0
    most: int = 0


@attrs.define
class _Liar:
    """A summarizer that, while it lies, is wrong about one of these markers: the first that it has to tell."""

    markers: list[str] = attrs.Factory(list)
    lies: bool = False
    instead_of: str = ""

    def summarize(self, request: SummaryRequest) -> str:
        text = ExtractiveSummarizer().summarize(request)
        if not self.lies:
            return text
        self.instead_of = self.instead_of or next((marker for marker in self.markers if marker in text), "")
        return text.replace(self.instead_of, WRONG) if self.instead_of else text


@attrs.frozen
class _Credulous:
    """Finds nothing wrong with any summary."""

    def validate(self, request: SummaryRequest, text: str) -> tuple[str, ...]:  # noqa: ARG002 - the contract
        return ()


@attrs.define
class _Runner:
    liar: _Liar
    begin: int
    session: GCSession = attrs.field(init=False)
    recovery: Recovery | None = None
    calls: int = 0
    most: int = 0
    collections: int = 0
    _sown: dict[str, Plant] = attrs.Factory(dict)
    _window: list[Payload] = attrs.Factory(list)
    """The messages when a collection began."""

    _undone: list[Payload] = attrs.Factory(list)
    """The messages before the last one that changed something."""

    _since: list[Message] = attrs.Factory(list)

    def hear(self, event: Event) -> None:
        match event:
            case CollectionStarted():
                self._window = [message.payload for message in self.session.port.context.messages]
            case CollectionFinished():
                self.collections, self._undone, self._since = self.collections + 1, self._window, []

    def run(self, said: Iterator[Said]) -> Recovery | None:
        for each in said:
            if each.is_reply:
                self.liar.lies = self.recovery is None and each.step >= self.begin
                self._send()
                if self._is_wrong():
                    self._refuse(each.step)
                self.session.post_turn(each.message)
                self.calls += 1
            else:
                self.session.append(each.message)
            self._since.append(each.message)
            for sowing in each.sown:
                if sowing.stage is not Stage.FAILURE and sowing.plant.marker not in self._sown:
                    self._sown[sowing.plant.marker] = sowing.plant
                    self.liar.markers.append(sowing.plant.marker)
        return self.recovery and attrs.evolve(self.recovery, calls=self.calls, most=self.most)

    def _send(self) -> Request:
        request = self.session.pre_send()
        self.most = max(self.most, request.tokens)
        return request

    def _is_wrong(self) -> bool:
        """Whether the request has the wrong value, and the right one nowhere."""
        shown = _shows(self.session, WRONG) and not _shows(self.session, self.liar.instead_of)
        return self.recovery is None and shown

    def _refuse(self, step: int) -> None:
        plant, collections = self._sown[self.liar.instead_of], self.collections
        error_text = self._refused(plant)
        self.liar.lies = False
        again = self._send().messages
        self.recovery = Recovery(
            step=step,
            plant=plant,
            collections=collections,
            kept=all(message in again for message in (*self._undone, *self._since)),
            error_text=error_text,
            right_shown=_shows(self.session, plant.marker) and not _shows(self.session, WRONG),
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
    liar = _Liar()
    runner = _Runner(liar=liar, begin=int(FROM_SHARE * steps))
    config = GCConfig(strategy=(strategy,), context_limit=window, output_reservation=0, check_replies=True)
    with (
        tempfile.TemporaryDirectory() as directory,
        GCSession(
            config,
            format="openai",
            directory=Path(directory),
            summarizer=liar,
            validator=_Credulous(),
            on_event=runner.hear,
        ) as session,
    ):
        runner.session = session
        return runner.run(long_session(steps, session_files(CODING), plants(steps)))


def print_corruption(steps: int, strategy: str, window: int) -> None:
    """What happened, in Markdown."""
    found = run_corrupted(steps, strategy, window)
    if found is None:
        print("\nNo collection summarised what was planted: nothing went wrong.")
        return
    print(f"\nAt step {found.step:,} a summary said {WRONG!r} for {found.plant.marker!r} ({found.plant.kind.value}).\n")
    for name, value in (
        ("collections before it, all by themselves", found.collections),
        ("what the error says", found.error_text),
        ("the request that asks again shows the right value alone", found.right_shown),
        ("it shows all that was there before the collection, and all that came since", found.kept),
        ("model calls, largest request", f"{found.calls:,}, {found.most:,} tokens of {window:,}"),
    ):
        print(f"- {name}: {value}")
