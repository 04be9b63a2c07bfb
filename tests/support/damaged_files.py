"""
Sessions whose files were damaged: cut, with bits flipped, of another structure. Each is verified, and gone on with.

``python -m tests.support.damaged_files --cases 5000`` makes as many and prints every breach; ``--seed`` repeats a run.

What may come of a damaged directory: findings or a LogError from ``verify``; from ``open`` a LogError (a ConfigError,
where the name of a strategy was hit), or a session that has every acknowledged message up to the damage, and that is
the old one wherever ``verify`` has found nothing.
"""

import argparse
import contextlib
import copy
import json
import logging
import random
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

import attrs

from gc_core import GCConfig, GCError, GCPolicy, GCSession, InstructionSource, Plugins
from gc_core.errors import ConfigError, LogError
from gc_core.storage.audit import verify
from gc_core.storage.checkpoints import sealed
from tests.support.formats import FORMATS, asked, called, came, said, schema_of
from tests.support.inside import store_of, window_of
from tests.support.say import lines

BACKENDS = ("files", "sqlite", "memory")
ODD = (
    *(None, True, False, 0, -1, 1, 7, 10**30, 1.5, -0.0, float("inf"), float("nan"), "", "x", "i1", "i999", "m1"),
    *("\ud800", "../../etc", [], {}, [[]], [None], {"": 0}, [1, 2], [3, 1], ["i1"], {"type": "text"}, "locked"),
)
DEEP = 100_000


@attrs.frozen(kw_only=True)
class Recorded:
    """
    A session that is whole, and what is known of it.

    Attributes:
        directory: Where every copy is damaged: the path is in the window.
        kept: Its files.
        said: Of every acknowledged item its text, and where its line ends in the log.
        request: What it sends when it is opened.

    """

    directory: Path
    kept: Path
    said: dict[str, tuple[str, int]] = attrs.field(repr=False)
    request: str = attrs.field(repr=False)

    def restored(self):
        """Bring the files back as they were."""
        shutil.rmtree(self.directory, ignore_errors=True)
        shutil.copytree(self.kept, self.directory)


def recorded(folder, form, backend, plugins):
    """A session with blocks, changes of its head, collections, an undo, checkpoints and an open call."""
    directory = folder / f"{form}-{backend}"
    config = GCConfig(
        strategy="gc_budget",
        context_limit=3_000,
        output_reservation=0,
        preserve_recent_turns=1,
        checkpoint_every_n_steps=3,
        memory_backend=backend,
        reread_guard="off",
    )
    with GCSession(config, format=form, directory=directory, plugins=plugins) as session:
        speak(session, form)
    kept = directory.with_name(f"{directory.name}.kept")
    shutil.copytree(directory, kept)
    made = Recorded(directory=directory, kept=kept, said={}, request="")
    assert verify(directory) == (), verify(directory)
    with GCSession.open(directory, plugins=plugins) as session:
        for place, record in store_of(session).log.records():
            for item in filter(None, record.items):
                made.said[item] = (session.recall(item), place.end)
        made = attrs.evolve(made, request=rendered(session))
    made.restored()
    return made


def speak(session, form):
    """The conversation."""
    session.register_source(InstructionSource(name="team", policy=GCPolicy.PRESERVABLE, layer=20))
    session.system(base="You are careful.")
    session.tools([schema_of(form, "read")])
    session.append(asked(form, "Mend the parser in a.py. Never touch b.py."))
    for place in range(14):
        if place % 4 == 1:
            session.enrich(clock=f"It is step {place}.")
        if place % 5 == 2:
            session.memory("team", notes=f"We met {place} times.")
        session.pre_send()
        session.post_turn(called(form, f"c{place}", "read", {"path": f"f{place}.py"}))
        session.append(came(form, f"c{place}", "read", lines(25, f"f{place}")))
        if place == 7:
            session.undo()
            session.redo()
            session.pin(item=session.items()[-1].id)
    session.pre_send()
    session.post_turn(said(form, "end", "It is mended."))
    session.system(rules="Be brief.", refresh="now")
    session.append(asked(form, "And then, ünbeirrt?"))
    session.pre_send()
    session.post_turn(called(form, "open", "read", {"path": "late.py"}))


def rendered(session):
    request = window_of(session).render()
    return json.dumps([request.system, request.tools, request.messages], sort_keys=True)


# -- damage ------------------------------------------------------------------------------------------------------------


def damaged(directory, chance):
    """Damage one file; returns which, how, and the first byte of the log that is another one (None: it is whole)."""
    files = sorted(path for path in directory.rglob("*") if path.is_file() and path.name != "lock")
    weights = [8 if path.suffix == ".jsonl" else 2 if path.name == files[-1].name else 1 for path in files]
    (path,) = chance.choices(files, weights)
    before = path.read_bytes()
    lined = path.suffix in {".jsonl", ".json"}
    kinds = [flipped, flipped, cut, hole, zeroed, inserted, emptied]
    kind = chance.choice(kinds + [restructured] * 8 * lined + [relined] * 4 * (path.suffix == ".jsonl"))
    after = kind(path, before, chance)
    if path.name != "master.jsonl":
        return path.name, kind.__name__, None
    return path.name, kind.__name__, first_difference(before, after)


def first_difference(before, after):
    if after is None:
        return 0
    pairs = zip(before, after, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(before), len(after)))


def written(path, data):
    path.write_bytes(data)
    return data


def flipped(path, data, chance):
    """One bit, or some."""
    made = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 4]) if made else 0):
        made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
    return written(path, bytes(made))


def cut(path, data, chance):
    return written(path, data[: chance.randrange(len(data) + 1)])


def hole(path, data, chance):
    """Without some bytes in the middle."""
    start = chance.randrange(len(data) + 1)
    return written(path, data[:start] + data[start + chance.choice([1, 3, 50, 1_000]) :])


def zeroed(path, data, chance):
    """As a file system leaves a block that never came to the disk."""
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.choice([8, 512, 4_096]))
    return written(path, data[:start] + bytes(end - start) + data[end:])


def inserted(path, data, chance):
    start = chance.randrange(len(data) + 1)
    return written(
        path, data[:start] + chance.choice([b"\n", b"{}\n", b"[]\n", b"\xff\xfe", b'"', data[:100]]) + data[start:]
    )


def emptied(path, data, chance):  # noqa: ARG001 - as the others
    """Away, empty, or something else under its name."""
    path.unlink()
    chance.choice([lambda: None, path.touch, path.mkdir, lambda: path.symlink_to("nowhere")])()


def relined(path, data, chance):
    """Lines twice, away, in another order, or glued to each other."""
    made = data.splitlines(keepends=True)
    one, other = (chance.randrange(len(made)) for _ in range(2))
    kind = chance.randrange(4)
    if kind == 0:
        made.insert(other, made[one])
    elif kind == 1:
        del made[one]
    elif kind == 2:
        made[one], made[other] = made[other], made[one]
    else:
        made[one] = made[one].rstrip(b"\n")
    return written(path, b"".join(made))


def restructured(path, data, chance):
    """One value of a line is another one, of another type often, or away; a checkpoint's sum is right often."""
    made = data.splitlines(keepends=True) if path.suffix == ".jsonl" else [data]
    place = chance.randrange(len(made))
    try:
        value = json.loads(made[place])
    except ValueError:
        return written(path, data)
    summed = isinstance(value, dict) and value.pop("sum", None)
    for _ in range(chance.choice([1, 1, 1, 3])):
        value = changed(value, chance)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if chance.random() < 0.02:
        text = text.replace('"', "[" * DEEP + '"', 1)
    line = text.encode("utf-8", "surrogatepass")
    if summed and chance.random() < 0.8:
        line = sealed(line) if line.endswith(b"}") else line
    made[place] = line + b"\n" * (path.suffix == ".jsonl")
    return written(path, b"".join(made))


def changed(value, chance):
    """The JSON value with one value in it changed."""
    inner = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not inner or chance.random() < 0.15:
        return odd(value, chance)
    key = chance.choice(inner)
    if chance.random() < 0.1:
        del value[key]
    else:
        value[key] = changed(value[key], chance)
    return value


def odd(value, chance):
    if isinstance(value, int) and not isinstance(value, bool) and chance.random() < 0.5:
        return value + chance.choice([-1, 1, 100, -100])
    return copy.deepcopy(chance.choice(ODD))


# -- what comes of it --------------------------------------------------------------------------------------------------


def breaches_of(made, first, plugins, seen):
    """What is not allowed of what came of a damaged directory."""
    try:
        findings = verify(made.directory)
    except LogError:
        findings = None
    seen["verify finds nothing" if findings == () else "verify finds it"] += 1
    try:
        session = GCSession.open(made.directory, plugins=plugins)
    except (LogError, ConfigError) as error:
        seen[f"open: {type(error).__name__}"] += 1
        if findings == () and isinstance(error, LogError):
            yield f"open refuses what verify finds sound: {error}"
        return
    seen["opened"] += 1
    with session:
        for item, (text, end) in made.said.items():
            if first is None or end <= first:
                found = recalled(session, item)
                if found != text:
                    yield f"{item} was {text[:60]!r}; now it is {found[:200]!r}"
                    break
        if findings == () and first is None and rendered(session) != made.request:
            yield "the window is another one, and verify finds nothing"
        with contextlib.suppress(*([] if findings == () else [GCError])):
            session.append(asked(session.format, "Go on."))
            session.pre_send()
            session.post_turn(said(session.format, "again", "Very well."))


def recalled(session, item):
    try:
        return session.recall(item)
    except GCError as error:
        return f"{type(error).__name__}: {error}"


def run(cases, seed, folder, *, forms=FORMATS, backends=BACKENDS, report=print):
    """Make so many damaged directories; returns the breaches, each with the seed of its case."""
    plugins, seen, breaches = Plugins.discover(), Counter(), []
    made = [recorded(folder, form, backend, plugins) for form in forms for backend in backends]
    for number in range(seed, seed + cases):
        chance = random.Random(number)  # noqa: S311 - repeatable
        one = made[number % len(made)]
        one.restored()
        name, kind, first = damaged(one.directory, chance)
        where = f"case {number}: {one.directory.name}/{name} {kind}"
        try:
            found = [*breaches_of(one, first, plugins, seen)]
        except Exception:  # noqa: BLE001 - it is a breach
            found = [traceback.format_exc()]
        breaches += [f"{where}: {text}" for text in found]
        seen[kind] += 1
    report(f"{cases:,} damaged directories: {', '.join(f'{count:,} {name}' for name, count in sorted(seen.items()))}")
    return breaches


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    logging.getLogger("gc_core").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="gc-damaged-") as folder:
        breaches = run(given.cases, given.seed, Path(folder))
    for breach in breaches:
        sys.stdout.write(f"{breach}\n")
    sys.stdout.write(f"{len(breaches)} breaches\n")
    sys.exit(bool(breaches))


if __name__ == "__main__":
    main()
