"""
A writer that is made to be killed, in a process of its own.

``python -m tests.support.writer DIRECTORY`` imports once, then forks a writer for every line on its standard input: a
JSON object with a directory, a seed and a format. The writer says on the standard output what has been acknowledged,
a line each, before it goes on; the first line is its process id.
"""

import contextlib
import json
import os
import random
import sys
import traceback

from gc_core import ContextOverflowError, GCConfig, GCPolicy, GCSession, InstructionSource, SourceError
from gc_core.tokens import counter_for
from tests.support.say import answer, call, lines, result, results, use, user

WINDOW = 3_000


def config():
    return GCConfig(
        strategy="gc_budget",
        context_limit=WINDOW,
        output_reservation=0,
        preserve_recent_turns=1,
        checkpoint_every_n_steps=2,
    )


def messages(format_name, chance):
    """Without end: what user, model and tools say."""
    place = 0
    while True:
        yield user(f"Request {place}: ünbeirrt {chance.randrange(10**9)}.")
        for _ in range(chance.randrange(1, 6)):
            place += 1
            key, text = f"c{place}", f"{chance.randrange(10**9)}\n{lines(chance.choice([2, 30, 60]), f'f{place}')}"
            if format_name == "anthropic":
                yield use((key, "read", {"path": f"f{place}"}), thinking=f"I look at {place}.")
                yield results((key, text))
            else:
                yield call((key, "read", {"path": f"f{place}"}))
                yield result(key, text)
        yield answer(f"Answer {place}: {chance.randrange(10**9)}.")


def texts_of(message):
    """What recall has to give for each of its items, in their order; "" stands for what is not compared."""
    content = message.get("content")
    if message["role"] == "tool" or isinstance(content, str):
        return [content]
    if isinstance(content, list):
        return [block.get("text", block.get("thinking", block.get("content", ""))) for block in content]
    return [""]


def write(directory, format_name, seed, say):
    """Run a session until somebody kills it."""
    chance = random.Random(seed)  # noqa: S311 - no secrets here
    session = GCSession(config(), format=format_name, directory=directory)
    session.register_source(InstructionSource(name="team", policy=GCPolicy.PRESERVABLE, layer=20))
    session.system(base="You are careful.")
    say({"began": session._store.session})
    for place, message in enumerate(messages(format_name, chance)):
        aside(session, chance, place)
        ids = (told if message["role"] == "assistant" else GCSession.append)(session, message)
        say({"ids": ids, "texts": texts_of(message)})


def told(session, reply):
    """The ids that a reply became: ``post_turn`` says what was collected, so they are read from the log."""
    try:
        session.pre_send()
    except ContextOverflowError:
        return session.append(reply)
    size = session._store.log.size
    session.post_turn(reply)
    (_, record), *_ = session._store.log.records(size)
    return [key for key in record.items if key]


def aside(session, chance, place):
    """What else a host does in between."""
    refresh = chance.choice(["break", "now"])
    resident = [item.id for message in session._context.messages for item in message.items]
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
    """A host that has pinned what was undone is refused, and nothing has changed."""
    with contextlib.suppress(SourceError):
        session.redo()


def run(order):
    """A writer's whole life; it never comes back."""
    try:
        write(order["directory"], order["format"], order["seed"], say)
    except BaseException:  # noqa: BLE001 - it is told, and whoever reads asserts that it was killed instead
        say({"error": traceback.format_exc()[-2_000:]})
    finally:
        os._exit(1)


def serve():
    """Fork a writer for every line; end when there are no more."""
    for format_name in ("openai", "anthropic"):
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
