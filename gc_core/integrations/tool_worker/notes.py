"""The notes of a worker: a cheap summarizer's text on a long result, before the result is in the window."""

from __future__ import annotations

import re
from typing import Final

import attrs

from gc_core.collector.summarizing import EXTRACTIVE, Answering, driven_async
from gc_core.integrations.tool_worker.calls import Outcome
from gc_core.relevance.name_scan import scan
from gc_core.session.facade import SessionFacade
from gc_core.values.items import Item, ItemKind
from gc_core.values.messages import Usage
from gc_core.values.policy import GCPolicy
from gc_core.values.protocols import AsyncSummarizer, Summarizer
from gc_core.values.sources import CONVERSATION
from gc_core.values.summary import SummaryRequest
from gc_core.window.cursor import OpenCall

WORKER: Final = "worker"
"""The kinds under which the tokens of notes are recorded: reported by the summarizer, or estimated."""

_HEAD: Final = "Note on the result, not its text:"


@attrs.frozen(kw_only=True)
class Awaited:
    """
    A result that the window waits for.

    Attributes:
        call: The call as the session knows it.
        item: The id that the result will have if nothing comes in between; ``named`` corrects a note with another id.
        room: The most tokens of its note.

    """

    call: OpenCall
    item: str
    room: int


@attrs.frozen(kw_only=True)
class Notes:
    """
    Writes notes on long results.

    Attributes:
        session: The session of the window.
        answering: The summarizer, or None.
        above: Tokens above which a result is long.

    """

    session: SessionFacade
    answering: Answering | None
    above: int

    @classmethod
    def of(
        cls, session: SessionFacade, summarizer: Summarizer | AsyncSummarizer | None, *, above: int, seconds: float
    ) -> Notes:
        """Return the notes of this summarizer, validated like the session's summaries."""
        own = session.port.answering
        answering = attrs.evolve(own, name=type(summarizer).__name__, summarizer=summarizer, seconds=seconds)
        return cls(session=session, answering=None if summarizer is None else answering, above=above)

    def are_for(self, outcome: Outcome, tool: str) -> bool:
        """Return whether a result is long, and its tool's results are not protected by the configuration."""
        policy = self.session.config.tool_policies().get(tool, GCPolicy.EPHEMERAL)
        return policy is GCPolicy.EPHEMERAL and self.session.port.counter.count(outcome.text) > self.above

    async def note(self, outcome: Outcome, awaited: Awaited) -> str | None:
        """Return the note; None without a summarizer, or if its text is not acceptable."""
        if self.answering is None:
            return None
        request = self._request(outcome, awaited)
        reported: list[Usage] = []
        answering = attrs.evolve(
            self.answering, spent=lambda read, wrote: reported.append(Usage(input_tokens=read, output_tokens=wrote))
        )
        try:
            written = await driven_async(answering.steps(request), answering.ask_async)
        finally:  # the usage of a late note is recorded as well
            for usage in reported:
                self.session.book(WORKER, usage, model=answering.model)
        if written.attempts and not reported:
            tokens = sum(item.original_tokens for item in request.items), request.count(written.text)
            usage = Usage(input_tokens=tokens[0] * written.attempts, output_tokens=tokens[1] * written.attempts)
            self.session.book(WORKER, usage, model=answering.model, estimated=True)
        return None if written.by == EXTRACTIVE else f"{_HEAD}\n{written.text}"

    def _request(self, outcome: Outcome, awaited: Awaited) -> SummaryRequest:
        session, call = self.session, awaited.call
        tokens = session.port.counter.count(outcome.text)
        result = Item(
            id=awaited.item, kind=ItemKind.TOOL_RESULT, source=CONVERSATION.name, policy=GCPolicy.EPHEMERAL,
            tokens=tokens, original_tokens=tokens, text=outcome.text, unit=call.unit, turn=call.turn, step=call.step,
            name=call.name, call=call.item, is_error=outcome.is_error, scan=scan(outcome.text),
        )  # fmt: skip
        asked = session.port.find(call.item)
        items = (result,) if asked is None else (asked, result)
        shown = {name for item in session.items() for name in item.scan.names}
        names = dict.fromkeys(name for span in result.scan.spans for name in span.names if name not in shown)
        room = awaited.room - session.port.counter.count(_HEAD) - 1
        return SummaryRequest(items=items, max_tokens=room, names=tuple(names), count=session.port.counter.count)


def named(note: str, ids: dict[str, str]) -> str:
    """Return the note with these ids in the place of others, which it was written with."""
    if all(old == new for old, new in ids.items()):
        return note
    old_ids = re.compile(rf"\b(?:{'|'.join(map(re.escape, ids))})\b")
    return old_ids.sub(lambda found: ids[found[0]], note)
