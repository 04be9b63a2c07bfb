"""What the later sessions are made of: a talk that is written down round by round, tools as agents have them, texts."""

from typing import Any, NamedTuple

from tests.support.say import answer, call, result, user

NAMED_THINGS = (
    "invoice order basket customer parcel refund ledger tenant quota shard cursor bucket token session widget theme "
    "palette sensor valve meter reading station timetable platform carriage ticket seat voucher coupon warehouse shelf "
    "pallet driver route stop depot crew shift roster payslip pension grant clause annex permit licence audit finding "
    "remedy patient ward dose sample batch assay report figure table"
)
DEEDS = (
    "load save merge split fetch parse render check count group sort filter rank score store drop copy move rename "
    "lock release queue retry cancel approve reject settle post void sum average clip round scale shift pack unpack"
)
TOWNS = "Utrecht Bergen Porto Graz Malmo Lyon Ghent Cork Turku Brno Bilbao Trieste Aarhus Leeds Basel Gdansk"
NOUNS, VERBS, PLACES = NAMED_THINGS.split(), DEEDS.split(), TOWNS.split()


class Round(NamedTuple):
    """A message, and the seconds that pass: before it, or while a model or a tool makes it."""

    message: dict[str, Any]
    seconds: float = 0.0


class Talk:
    """A session as it is written down; ``slow`` is how much longer than usual the model takes for a reply."""

    def __init__(self, random, slow=1.0):
        self.random, self.slow, self.rounds, self.begins = random, slow, [], None

    def user(self, text, *, after=None):
        self.rounds.append(Round(user(text), self.random.uniform(15, 120) if after is None else after))

    def tell(self, text):
        self.rounds.append(Round(answer(text), self._pace()))

    def run(self, tool, output, *, took=None, text=None):
        self.together([(tool, output)], took=took, text=text)

    def together(self, pairs, *, took=None, text=None):
        """Calls in one reply; each takes ``took`` seconds."""
        keys = [f"call_{self.random.getrandbits(64):016x}" for _ in pairs]
        named = [(key, *tool) for key, (tool, _) in zip(keys, pairs, strict=True)]
        self.rounds.append(Round(call(*named, text=text), self._pace()))
        for key, (_, output) in zip(keys, pairs, strict=True):
            seconds = self.random.uniform(0.05, 1.5) if took is None else took
            self.rounds.append(Round(result(key, output), seconds))

    def begin(self):
        """The circle begins with the next call."""
        self.begins = len(self.rounds)

    def _pace(self):
        return self.slow * self.random.uniform(2.0, 8.0)


def bash(command, **more):
    return "Bash", {"command": command, **more}


def read(path, **more):
    return "Read", {"file_path": path, **more}


def edit(path, old, new):
    return "Edit", {"file_path": path, "old_string": old, "new_string": new}


def shell(command, **more):
    """The shell of Codex."""
    return "shell", {"command": ["bash", "-lc", command], **more}


def patch(path, old, new):
    """The edit of Codex."""
    text = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch"
    return "apply_patch", {"input": text}


def sql(query):
    return "execute_sql", {"query": query}


def python(code):
    return "python", {"code": code}


def edited(path):
    return f"The file {path} has been updated."


def words(random, number=2):
    return random.sample(NOUNS, number)


def joined(texts):
    return "\n".join(texts)


def numbered(text, first=1):
    return joined(f"{place:6}\t{line}" for place, line in enumerate(text.split("\n"), first))


def code(random, size):
    """About ``size`` lines of a program."""
    made = ["from __future__ import annotations", ""]
    while len(made) < size:
        one, two, three = words(random, 3)
        verb, other = random.sample(VERBS, 2)
        made += [
            f"def {verb}_{one}({two}, {three}=None):",
            f'    """{verb.capitalize()} the {one} of a {two}, number {random.randrange(10_000)}."""',
            f"    found = {two}.{other}_{three}(limit={random.randrange(2, 999)})",
            f"    if found is None or found.{one} < {random.randrange(99_999)}:",
            f'        raise LookupError("no {three} for {two} {random.randrange(10_000)}")',
            f"    return {other}(found, {three}, rate=0.{random.randrange(1_000):03})",
            "",
        ]
    return joined(made)


def log(random, size, service="api"):
    hour, minute = random.randrange(24), random.randrange(60)
    return joined(
        f"{hour:02}:{minute:02}:{place % 60:02}.{random.randrange(1000):03} {random.choice(['INFO', 'WARN', 'DEBUG'])} "
        f"{service} {random.choice(VERBS)} {random.choice(NOUNS)} id={random.getrandbits(32):08x} "
        f"took={random.randrange(900)}ms"
        for place in range(size)
    )


def prose(random, size):
    """Paragraphs of one sentence or two."""
    return joined(
        f"{random.choice(PLACES)}: a {random.choice(NOUNS)} may {random.choice(VERBS)} a {random.choice(NOUNS)} "
        f"{random.choice(['within', 'after', 'before'])} {random.randrange(2, 400)} days, unless the "
        f"{random.choice(NOUNS)} was {random.choice(VERBS)}ed in {random.randrange(1980, 2026)}."
        for _ in range(size)
    )


def rows(random, size, columns=("id", "place", "kind", "amount")):
    made = [" | ".join(columns)]
    for place in range(size):
        cells = [str(1000 + place), random.choice(PLACES), random.choice(NOUNS)]
        cells += [f"{random.uniform(1, 9000):.2f}" for _ in columns[3:]]
        made.append(" | ".join(cells))
    return joined(made)


def snapshot(random, size, title):
    """A page as Playwright's server shows it."""
    made = [f"- Page Title: {title}", "- Page Snapshot:"]
    for place in range(size):
        kind = random.choice(["link", "button", "textbox", "cell", "heading"])
        made.append(f'  - {kind} "{random.choice(VERBS)} {" ".join(words(random))} {place}" [ref=e{place + 10}]')
    return joined(made)


def hits(random, size):
    """What a search in source files finds."""
    return joined(
        f"src/{random.choice(NOUNS)}/{random.choice(NOUNS)}.py:{random.randrange(1, 900)}:    "
        f"{random.choice(NOUNS)} = {random.choice(VERBS)}_{random.choice(NOUNS)}({random.randrange(9_999)})"
        for _ in range(size)
    )


def settings(random, size):
    """A file of settings."""
    return joined(
        f"  {'_'.join(words(random))}_{place}: {random.choice([random.randrange(9_999), *words(random)])}"
        for place in range(size)
    )


def changed(random, text, number=1):
    """The text with some lines that are new."""
    made = text.split("\n")
    for place in random.sample(range(len(made)), min(number, len(made))):
        made[place] = f"{made[place].rstrip('.')} {random.choice(VERBS)} {random.randrange(100_000)}"
    return joined(made)


def swapped(random):
    """Two short lines of a program, before and after an edit."""
    one, two = words(random)
    return f"{one} = {random.choice(VERBS)}({two})", f"{one} = {random.choice(VERBS)}({two}, {random.randrange(999)})"
