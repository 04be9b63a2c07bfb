"""Conversations that take turns at one gateway, each edited at random: none has anything of another one."""

import json
import random
import re

import attrs
import pytest
from gc_gateway.collecting import Collecting
from gc_gateway.dialects import DIALECTS
from gc_gateway.lane_ids import lane_of
from gc_gateway.lanes import Lanes
from gc_gateway.metrics import Metrics
from gc_gateway.settings import Settings

from gc_core import GCConfig
from gc_core.values.messages import without_marks
from tests.support.checker import complaints
from tests.support.edited_lists import FORMATS, EditedList
from tests.support.standin import as_client

WINDOW = 4_000
FIELDS = {"openai": "messages", "anthropic": "messages", "responses": "input", "gemini": "contents"}


class Agents:
    """Two or three agents before one gateway, in memory; ``named`` ones say which conversation it is."""

    def __init__(self, provider, seed, directory, *, named):
        self.chance, self.dialect, self.named = random.Random(seed), DIALECTS[provider], named  # noqa: S311 - no secrets
        self.lists = [EditedList(provider, 1_000 * seed + number) for number in range(self.chance.choice((2, 3)))]
        for number, edited in enumerate(self.lists):
            edited.shapes.count = 30_000 * number + 1_000  # no two lists have a token in common
            edited.blocks = [[edited.shapes.user(15)]]
        config = GCConfig(strategy="gc_budget", output_reservation=0)
        self.settings = Settings(directory=directory, windows={"*": WINDOW}, config=config, open_lanes=2)
        self.metrics = Metrics(lambda: 0)
        self.start()

    def start(self):
        self.lanes = Lanes(self.settings)
        self.collecting = Collecting(self.settings, self.lanes, self.metrics)

    def step(self):
        """One of them changes its list, and asks; return its list, what it changed, and what is sent."""
        if self.chance.random() < 0.05:
            self.lanes.close()
            self.start()
        place = self.chance.randrange(len(self.lists))
        edited = self.lists[place]
        edited.change()
        body = {"model": "m", FIELDS[self.dialect.format]: edited.messages, "tools": []}
        headers = {"x-api-key": "key", **({"x-gc-lane": str(place)} if self.named else {})}
        turn = self.collecting.understood(self.dialect, lane_of("5c0be", headers, body), headers, body, "m")
        changed = self.collecting.changed_body(attrs.evolve(turn, bytes=10**6))
        sent = body if changed is None else json.loads(changed)
        return place, sent[FIELDS[self.dialect.format]]


def follow(provider, seed, directory, *, named, steps):
    agents, before = Agents(provider, seed, directory, named=named), {}
    try:
        for _ in range(steps):
            place, sent = agents.step()
            edited = agents.lists[place]
            assert tokens_in(sent) <= tokens_in(edited.messages), f"nothing of another list ({edited.did})"
            assert complaints(provider, as_client(provider, {FIELDS[provider]: sent})) == []
            if edited.did == "sent again" and place in before:
                assert [*map(bare, sent)] == before[place], "a retry is the same request"
            before[place] = [*map(bare, sent)]
        passed = agents.metrics.page()[0].decode()
        assert 'reason="error"' not in passed
        if named:
            assert len(list(agents.settings.directory.glob("*/master.jsonl"))) <= len(agents.lists)
    finally:
        agents.lanes.close()
        agents.metrics.close()


def tokens_in(messages):
    """The unique tokens, also those in arguments that are JSON inside JSON."""
    return set(re.findall(r"T\d{5}x", json.dumps(messages)))


def bare(message):
    """Without marks, and a string as one text block: clients write both."""
    plain = without_marks(message)
    content = plain.get("content")
    return {**plain, "content": [{"type": "text", "text": content}]} if isinstance(content, str) else plain


@pytest.mark.parametrize("named", [True, False], ids=["by id", "by history"])
@pytest.mark.parametrize("provider", FORMATS)
def test_conversations_that_take_turns_have_nothing_of_each_other(provider, named, tmp_path):
    follow(provider, 1, tmp_path / "lanes", named=named, steps=25)


@pytest.mark.slow
@pytest.mark.parametrize("named", [True, False], ids=["by id", "by history"])
@pytest.mark.parametrize("provider", FORMATS)
def test_hundreds_of_interleaved_histories_keep_apart(provider, named, tmp_path):
    for seed in range(100, 225):
        follow(provider, seed, tmp_path / str(seed), named=named, steps=25)
