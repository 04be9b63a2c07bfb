"""The requests to a model for a summary, and their division into parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import attrs

from gc_core.errors import SummaryError
from gc_core.summaries.litellm_client import facts_of
from gc_core.summaries.llm_options import ModelOptions
from gc_core.summaries.prompt import TRANSCRIPT, fenced, filled, item_text, names_text
from gc_core.values.items import Item
from gc_core.values.summary import SummaryRequest

UNKNOWN_WINDOW: Final = 16_000
"""Assumed input tokens of a model unknown to litellm: a common setting for local models."""

MARGIN: Final = 0.9
"""The share of the model's input that is used: the session counts its own model's tokens, not this one's."""

OUTPUT_MARGIN: Final = 1.25
"""Output tokens allowed for a token of the summary, for the same reason; the prompt states the limit."""

LEAST_SHARE: Final = 64
"""The least tokens of the summary of one part; a shorter record would say nothing."""

LEAST_ROOM: Final = 256
"""The least tokens of transcript that a request must have room for in addition to its prompt."""


@attrs.frozen(kw_only=True)
class _TranscriptItem:
    """An item as it appears in the transcript."""

    item: Item
    text: str
    tokens: int


@attrs.frozen(kw_only=True)
class Part:
    """The items that one call summarises, and the tokens of its text."""

    items: tuple[Item, ...]
    transcript: str
    max_tokens: int
    heading: str = ""


@attrs.frozen(kw_only=True)
class ModelQuestion:
    """A request for a summary as a question to a model."""

    options: ModelOptions
    request: SummaryRequest

    # ------------------------------------------------------------------ arguments

    def arguments(self, part: Part) -> dict[str, Any]:
        """Return the call for one part, in litellm's form."""
        options = self.options
        given = {"api_base": options.api_base, "api_key": options.api_key}
        return {
            "model": options.summarization_model,
            "messages": [
                {"role": "system", "content": self._instructions(part.max_tokens)},
                {"role": "user", "content": self._data(part)},
            ],
            "max_tokens": self._output_tokens(part.max_tokens),
            "temperature": options.temperature,
            "timeout": options.timeout_seconds,
            # Attempts are counted by the summarizer; the provider's client would add its own.
            "max_retries": 0,
            "num_retries": 0,
            # Models that think accept no temperature.
            "drop_params": True,
            **{name: value for name, value in given.items() if value is not None},
        }

    def _instructions(self, max_tokens: int) -> str:
        request = self.request
        return filled(
            self.options.summarization_prompt,
            max_tokens=max_tokens,
            focus=request.focus,
            complaints=request.complaints,
        )

    def _data(self, part: Part) -> str:
        request = self.request
        names = [name for name in request.names if any(name in item.text for item in part.items)]
        pieces = (
            fenced(TRANSCRIPT, part.transcript),
            names_text(names, count=request.count, tokens=_tokens_of_names(part.max_tokens)),
            f"The transcript has ended. Write its record now, in at most {part.max_tokens} tokens.",
        )
        return "\n\n".join(piece for piece in pieces if piece)

    def _output_tokens(self, max_tokens: int) -> int:
        facts = facts_of(self.options.summarization_model)
        wanted = int(max_tokens * OUTPUT_MARGIN) + (self.options.reasoning_tokens if facts.reasons else 0)
        return min(wanted, facts.output_tokens or wanted)

    # ------------------------------------------------------------------ parts

    def parts(self) -> tuple[Part, ...]:
        """
        Return all items in order, each in one part, with ``max_tokens`` distributed over the parts. Raises SummaryError
        if it does not suffice.
        """
        request, room = self.request, self._room()
        groups = self._groups(room)
        if len(groups) == 1:
            return (_part(groups[0], request.max_tokens),)
        headings = [f"Part {at} of {len(groups)} ({_turns(group)}):" for at, group in enumerate(groups, 1)]
        # Each heading and the separators of the parts: two line ends, and one.
        shared = request.max_tokens - sum(request.count(heading) + 2 for heading in headings)
        if shared < LEAST_SHARE * len(groups):
            raise SummaryError(
                f"{self.options.summarization_model} can be sent {room:,} tokens of transcript at a time, which makes "
                f"{len(groups)} parts, and {request.max_tokens:,} tokens are too few to summarise each; "
                "a model with a larger window is needed, or a smaller tool_output_tokens"
            )
        sizes = [sum(entry.tokens for entry in group) for group in groups]
        return tuple(
            _part(group, share, heading)
            for group, share, heading in zip(groups, _shares(shared, sizes), headings, strict=True)
        )

    def _groups(self, room: int) -> list[list[_TranscriptItem]]:
        groups: list[list[_TranscriptItem]] = [[]]
        filled_to = 0
        for entry in (self._entry(item, room) for item in self.request.items):
            if groups[-1] and filled_to + entry.tokens > room:
                groups.append([])
                filled_to = 0
            groups[-1].append(entry)
            filled_to += entry.tokens
        return groups

    def _entry(self, item: Item, room: int) -> _TranscriptItem:
        count = self.request.count
        # A heading and the mark of a cut need some of the room of an item that fills a part by itself.
        most = room - LEAST_SHARE
        text = item_text(item, count=count, tool_output_tokens=self.options.tool_output_tokens, most=most)
        return _TranscriptItem(item=item, text=text, tokens=count(text) + 2)

    def _room(self) -> int:
        """Return the tokens of transcript that one call may have."""
        model, max_tokens = self.options.summarization_model, self.request.max_tokens
        facts = facts_of(model)
        known = facts.input_tokens - self._output_tokens(max_tokens) if facts.input_tokens else UNKNOWN_WINDOW
        around = self.request.count(self._instructions(max_tokens)) + LEAST_SHARE
        whole = int((self.options.input_tokens or known) * MARGIN)
        room = whole - around - _tokens_of_names(max_tokens)
        if room < LEAST_ROOM:
            raise SummaryError(
                f"{model} can be sent {whole:,} tokens, of which the prompt leaves {room:,} "
                f"for the transcript; input_tokens must be larger"
            )
        return room


def _part(group: Sequence[_TranscriptItem], max_tokens: int, heading: str = "") -> Part:
    return Part(
        items=tuple(entry.item for entry in group),
        transcript="\n\n".join(entry.text for entry in group),
        max_tokens=max_tokens,
        heading=heading,
    )


def _shares(tokens: int, sizes: Sequence[int]) -> list[int]:
    """Return the tokens distributed by size, each share at least LEAST_SHARE."""
    spare = tokens - LEAST_SHARE * len(sizes)
    return [LEAST_SHARE + spare * size // sum(sizes) for size in sizes]


def _turns(group: Sequence[_TranscriptItem]) -> str:
    first, last = group[0].item.turn, group[-1].item.turn
    return f"turn {first}" if first == last else f"turns {first} to {last}"


def _tokens_of_names(max_tokens: int) -> int:
    # A summary with only names would say nothing.
    return max_tokens // 3
