"""
Speed of summaries without a model: the extract by itself, and with the core's additions; CPU time,
medians of seven.
"""

from __future__ import annotations

import functools
import itertools
import logging
from collections.abc import Sequence

from benchmarks.liveness import filled, print_figure, seconds
from benchmarks.turns import made, transcripts
from gc_core import GCConfig, GCSession
from gc_core.providers.token_counting import TiktokenCounter
from gc_core.summaries.extractive import ExtractiveSummarizer
from gc_core.summaries.validation import SummaryValidator, with_facts
from gc_core.values.items import Item
from gc_core.values.messages import Payload
from gc_core.values.summary import SummaryRequest

MOST_EXTRACT, MOST_ALL = 150.0, 300.0
"""ms for 100k tokens: the extract by itself, and with the facts and the checks that the core adds."""

SUMMARISED = 120_000

ROOMS = (500, 2_000, 8_000)


def main() -> None:
    """Print ms for 100k tokens of originals, for rooms of several sizes, with their targets."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)  # recorded sessions have messages that need mending
    messages = list(itertools.chain.from_iterable(transcripts("openai"))) or list(made("openai"))
    items = tuple(filled(messages, 200_000).items())
    for room in ROOMS:
        print_room(items, room)
    print_collection(messages)


def print_collection(messages: Sequence[Payload]) -> None:
    """A whole collection that summarises 100k tokens: proposals, extract, checks, edits."""
    config = GCConfig(context_limit=400_000, output_reservation=0, strategy="gc_summarize", auto_trigger=False)
    with GCSession(config) as session:
        for message in messages:
            if session.budget.total >= SUMMARISED:
                break
            session.append(message)
        collect = functools.partial(session.plan, target_percent=0)
        freed = collect().result.tokens_freed
        took = 1e3 * seconds(collect)
    what = f"collection that summarises {freed:,} tokens, ms"
    print_figure(what, took, f"at most {MOST_ALL:g}", met=took <= MOST_ALL)


def print_room(items: tuple[Item, ...], room: int) -> None:
    """One room: the extract, and the core's work until it is accepted."""
    names = tuple(dict.fromkeys(name for item in items for span in item.scan.spans for name in span.names))
    request = SummaryRequest(items=items, max_tokens=room, names=names, count=TiktokenCounter().count)
    scale = 1e3 * 100_000 / sum(item.original_tokens for item in items)
    extract = scale * seconds(functools.partial(ExtractiveSummarizer().summarize, request))
    whole = scale * seconds(functools.partial(checked, request))
    what = f"summary of {room:,} tokens, ms per 100k tokens"
    print_figure(what, extract, f"at most {MOST_EXTRACT:g}", met=extract <= MOST_EXTRACT)
    print_figure("  with facts and checks", whole, f"at most {MOST_ALL:g}", met=whole <= MOST_ALL)


def checked(request: SummaryRequest) -> None:
    """The core's work with an extract."""
    text = with_facts(request, ExtractiveSummarizer().summarize(request))
    SummaryValidator().validate(request, text)


if __name__ == "__main__":
    main()
