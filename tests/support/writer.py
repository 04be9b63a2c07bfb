"""
A writer that is made to be killed, in a separate process.

``python -m tests.support.writer DIRECTORY`` imports once, then forks a writer for every line on its standard input: a
JSON object with a directory, a seed, a format and, if it likes, a memory backend. The writer says on the standard
output what has been acknowledged, a line each, before it goes on; the first line is its process id.
"""

import contextlib
import json
import os
import random
import sys
import traceback

from gc_core import ContextOverflowError, GCConfig, GCPolicy, GCSession, InstructionSource
from gc_core.errors import SourceError
from gc_core.providers.token_counting import counter_for
from tests.support.formats import FORMATS, asked, called, came, said
from tests.support.inside import store_of, window_of
from tests.support.say import lines

WINDOW = 3_000


def config(backend):
    return GCConfig(
        strategy="gc_budget",
        context_limit=WINDOW,
        output_reservation=0,
        preserve_recent_turns=1,
        checkpoint_every_n_steps=2,
        task_state_percent=8.0,
        memory_backend=backend,
    )


def messages(format_name, chance):
    """Without end: messages of user, model and tools, and whether each is a reply."""
    place = 0
    while True:
        yield asked(format_name, f"Request {place}: ünbeirrt {chance.randrange(10**9)}. Never touch f0."), False
        for _ in range(chance.randrange(1, 6)):
            place += 1
            key, text = f"c{place}", f"{chance.randrange(10**9)}\n{lines(chance.choice([2, 30, 60]), f'f{place}')}"
            yield called(format_name, key, "read", {"path": f"f{place}"}), True
            yield came(format_name, key, "read", text), False
        yield said(format_name, f"a{place}", f"Answer {place}: {chance.randrange(10**9)}."), True


def texts_of(session, ids):
    """The text that recall has to return for each item from now on: what it gives once it is acknowledged."""
    return [session.recall(key) for key in ids]


def write(order, say):
    """Run a session until somebody kills it."""
    format_name = order["format"]
    chance = random.Random(order["seed"])  # noqa: S311 - no secrets here
    session = GCSession(config(order.get("backend", "files")), format=format_name, directory=order["directory"])
    session.register_source(InstructionSource(name="team", policy=GCPolicy.PRESERVABLE, layer=20))
    session.system(base="You are careful.")
    say({"began": store_of(session).session})
    for place, (message, is_reply) in enumerate(messages(format_name, chance)):
        aside(session, chance, place)
        ids = (reply_with_report if is_reply else GCSession.append)(session, message)
        say({"ids": ids, "texts": texts_of(session, ids)})


def reply_with_report(session, reply):
    """The ids that a reply became: ``post_turn`` says what was collected, so they are read from the log."""
    try:
        session.pre_send()
    except ContextOverflowError:
        return session.append(reply)
    size = store_of(session).log.size
    session.post_turn(reply)
    (_, record), *_ = store_of(session).log.records(size)
    return [key for key in record.items if key]


def aside(session, chance, place):
    """What else a host does in between."""
    refresh = chance.choice(["break", "now"])
    resident = [item.id for message in window_of(session).messages for item in message.items]
    chance.choice(
        [
            lambda: session.enrich(clock=f"It is step {place}."),
            lambda: session.memory("team", notes=f"We met {place} times."),
            lambda: session.system(rules=f"Never guess; {place}.", refresh=refresh),
            lambda: session.collect_now(target_percent=30.0),
            lambda: resident and session.pin(item=chance.choice(resident)),
            lambda: [session.unpin(item=item.id) for item in session.items() if item.pinned],
            session.undo,
            lambda: redo(session),
            session.release,
            *[lambda: None] * 7,
        ]
    )()


def redo(session):
    """A host that has pinned undone items is refused, and nothing has changed."""
    with contextlib.suppress(SourceError):
        session.redo()


def run(order):
    """A writer's whole life; it never comes back."""
    try:
        write(order, say)
    except BaseException:  # noqa: BLE001 - it is reported, and the reader asserts that it was killed instead
        say({"error": traceback.format_exc()[-2_000:]})
    finally:
        os._exit(1)


def serve():
    """Fork a writer for every line; end when there are no more."""
    for format_name in FORMATS:
        counter_for(None, format_name).count("The vocabulary is read once.")
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            run(order)
        say({"pid": child})
        _, status = os.waitpid(child, 0)
        say({"ended": status})


def say(what):
    """One line in one write, so that it is there whole or not at all."""
    os.write(1, json.dumps(what).encode() + b"\n")


if __name__ == "__main__":
    serve()
