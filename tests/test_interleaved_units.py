"""A unit need not be contiguous: a block, a line or system text may be inside the exchange of a turn."""

import attrs
import pytest

from gc_core import GCRemovalItem
from tests.support.checker import complaints
from tests.support.histories import FORMATS, SPEAKERS, Reply
from tests.support.say import small


@attrs.frozen
class Drops:
    """Drops the units that contain one of these words."""

    words: tuple[str, ...]

    def collect(self, context, goal):  # noqa: ARG002 - the protocol
        units = [*context.collectable, *context.preservable]
        units = [unit for unit in units if any(word in item.text for item in unit.items for word in self.words)]
        return [GCRemovalItem.drop(unit, reason="named") for unit in units]


def interleaved(form, strategy, size):
    """An exchange with a block between its two answers, and a turn that calls a tool at once."""
    speaker = SPEAKERS[form]()
    session = small(3_000, format=form, strategy=strategy, preserve_recent_turns=1, preserve_recent_steps=1)

    def reply(*parts):
        session.pre_send()
        session.post_turn(speaker.reply(Reply(parts=parts)))

    session.append(speaker.user("Go."))
    reply(("text", "Gone. " + "word " * 40))
    session.append(speaker.user("QUESTION " + "word " * size))
    reply(("text", "ANSWER one. " + "word " * 40))
    session.enrich(docs="BLOCK " + "word " * size)
    reply(("text", "ANSWER two. " + "word " * 40))
    session.append(speaker.user("WISH " + "word " * size))
    reply(("call", "c1", "read", "a.py"))
    for message in speaker.results([("c1", "read", "RESULT " + "word " * 50)]):
        session.append(message)
    reply(("text", "Done."))
    for place in range(4):
        session.append(speaker.user(f"More {place}."))
        reply(("text", f"Done {place}."))
    return session


WORDS = [
    ("WISH",),
    ("BLOCK",),
    ("BLOCK", "WISH"),
    ("RESULT", "WISH"),
    ("ANSWER",),
    ("ANSWER", "WISH"),
    ("QUESTION", "RESULT"),
]


@pytest.mark.parametrize("words", WORDS, ids=" and ".join)
def test_what_leaves_around_an_interleaved_unit_leaves_a_valid_request(words):
    """Small and large: small units may leave no trace that would be between two replies."""
    sizes = (10, 45, 120)
    for form, size in (*(("gemini", size) for size in sizes), *zip(FORMATS[:-1], sizes, strict=True)):
        with interleaved(form, Drops(words), size) as session:
            goal = attrs.evolve(session.plan(target_percent=1).plan.goal, pressure_tokens=0)
            planned = session.plan(goal=goal)
            assert planned.result.removals or size == 10
            assert complaints(form, planned.context.render().kwargs()) == []
