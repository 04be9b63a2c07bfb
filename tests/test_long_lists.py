"""A long list, or a long session, is collected with work in proportion to its length."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gc_core import GCConfig, GCSession, compact
from gc_core.collector import laid_down
from gc_core.collector.quotes import Quotes
from gc_core.values.items import ItemKind
from tests.support.grids import half


def _chat(turns):
    messages = [{"role": "system", "content": "You are helpful."}]
    for turn in range(turns):
        answer = f"Order {turn} left the warehouse on Monday; the tracking number is {turn * 7919}."
        messages.append({"role": "user", "content": f"What is the state of order {turn}?"})
        messages.append({"role": "assistant", "content": answer})
    return [*messages, {"role": "user", "content": "And?"}]


@pytest.mark.parametrize("strategy", half(["gc_truncate", "gc_budget", "gc_summarize"]))
def test_twice_the_turns_are_read_about_twice_as_often_for_the_line_that_stands_for_them(strategy, monkeypatch):
    reads = []
    read = Quotes._in

    def counted(self, item):
        reads[-1] += item.kind is ItemKind.USER_TEXT
        return read(self, item)

    monkeypatch.setattr(Quotes, "_in", counted)
    for turns in (150, 300, 600):
        reads.append(0)
        compact(_chat(turns), 2000, strategy=strategy)
    assert all(fewer > 0 and more < 3 * fewer for fewer, more in pairwise(reads)), reads


@pytest.mark.parametrize("strategy", half(["gc_budget", "gc_rolling", "gc_progressive"]))
def test_what_a_user_said_is_judged_once_not_in_every_collection_again(strategy, monkeypatch):
    judged, collections = [], set()
    config = GCConfig(strategy=strategy, context_limit=12_000, output_reservation=0)
    sentences_in = laid_down.sentences_in
    monkeypatch.setattr(laid_down, "sentences_in", lambda text: judged.append(text) or sentences_in(text))
    with GCSession(config) as session:
        for message in _chat(700)[1:-1]:
            if message["role"] == "user":
                session.append({**message, "content": f"{message['content']} Ask {strategy} before you ship it."})
                session.pre_send()
            else:
                session.post_turn(message)
            collections.add(session.last_result)
    assert len(collections) > 3
    assert 0 < len(judged) == len({*judged})
