"""Texts of several domains, and a script that says them: what the unseen rounds are made of."""

import random

import attrs

from tests.support.say import answer, call, result, user

WORDS = (
    "invoice ledger parcel customer shelf pump valve tenant lease ticket orchard harbour ferry timetable ward dosage "
    "sample probe reactor turbine warehouse pallet supplier refund voucher passenger gate runway crew syllabus pupil "
    "grade archive scan folder rehearsal score chorus recipe oven batch flour seedling meadow survey"
)
DOING = "checks moves weighs books returns splits signs merges stores rejects counts prints labels sorts"
NOUNS, VERBS = WORDS.split(), DOING.split()
LEVELS = ("INFO", "INFO", "INFO", "WARN", "DEBUG", "ERROR")
LETTERS_A_TOKEN = {  # measured, so that a text has about the tokens that it is asked for
    "python": 3.6, "log": 2.5, "table": 2.2, "contract": 4.8, "page": 3.8, "json": 2.4,
    "mail": 4.1, "listing": 2.3, "hits": 3.4, "settings": 2.6, "tests": 3.3, "record": 3.0,
}  # fmt: skip


def python_line(chance, noun, number):
    other = chance.choice(NOUNS)
    return f"def {noun}_{number}({other}):\n    return {other}.{chance.choice(VERBS)}({chance.randrange(900)})\n"


def log_line(chance, noun, number):
    time = f"2031-04-{number % 28 + 1:02} {chance.randrange(24):02}:{number % 60:02}"
    return f"{time} {chance.choice(LEVELS)} {noun}: {chance.choice(NOUNS)} {chance.randrange(10_000)} done"


def table_line(chance, noun, number):
    return f"{number},{noun}-{chance.randrange(1_000)},{chance.choice(NOUNS)},{chance.uniform(1, 900):.2f}"


def contract_line(chance, noun, number):
    one, other = chance.choice(NOUNS), chance.choice(NOUNS)
    passes = f"{number}. The {noun} passes to the other party once the {one} has been accepted in writing"
    return f"{passes}, unless the {other} was late."


def page_line(chance, noun, number):
    start = f"## {noun.capitalize()} {number}\n\n" if number % 6 == 0 else ""
    return (
        f"{start}Whoever looks after the {noun} {chance.choice(VERBS)} each [{chance.choice(NOUNS)}](#{number}) first."
    )


def json_line(chance, noun, number):
    return f'{{"id": {number}, "{noun}": "{chance.choice(NOUNS)}", "amount": {chance.randrange(5_000)}}},'


def mail_line(chance, noun, number):
    start = f"\nFrom: {chance.choice(NOUNS)}@office.example\n" if number % 8 == 0 else ""
    return f"{start}About the {noun}: our {chance.choice(NOUNS)} {chance.choice(VERBS)} it this week, I am told."


def listing_line(chance, noun, number):
    size, day = chance.randrange(90_000), number % 28 + 1
    return f"-rw-r--r-- 1 build build {size:>6} Apr {day:>2} 09:14 {noun}_{chance.choice(NOUNS)}_{number}.dat"


def hits_line(chance, noun, number):
    place = f"src/{chance.choice(NOUNS)}/{chance.choice(NOUNS)}.ts:{number * 7 + chance.randrange(7)}"
    return f"{place}: const {noun} = {chance.choice(VERBS)}({chance.choice(NOUNS)})"


def settings_line(chance, noun, number):
    enabled = chance.choice(("yes", "no"))
    return f"{noun}_{number}:\n  {chance.choice(NOUNS)}: {chance.randrange(500)}\n  enabled: {enabled}"


def tests_line(chance, noun, number):
    return f"tests/test_{noun}.py::test_{chance.choice(NOUNS)}_{chance.choice(VERBS)}_{number} PASSED"


def record_line(chance, noun, number):
    measured = f"pulse {chance.randrange(55, 110)}, temperature {chance.uniform(36, 39):.1f}"
    return f"{number % 28 + 1:02}.03. {noun}, {measured}, {chance.choice(NOUNS)} noted"


LINES = {
    "python": python_line, "log": log_line, "table": table_line, "contract": contract_line, "page": page_line,
    "json": json_line, "mail": mail_line, "listing": listing_line, "hits": hits_line, "settings": settings_line,
    "tests": tests_line, "record": record_line,
}  # fmt: skip
READERS = (
    ("read_file", "path"), ("Read", "file_path"), ("view", "file"), ("fs.read", "uri"), ("open_document", "name"),
    ("mcp__files__get", "target"),
)  # fmt: skip
SHELLS = (("bash", "command"), ("shell", "cmd"), ("run_terminal_cmd", "command_line"), ("execute", "input"))


def text(chance, kind, tokens):
    """A text of a kind, of about so many tokens."""
    noun, made, letters = chance.choice(NOUNS), [], tokens * LETTERS_A_TOKEN[kind]
    while letters > 0:
        made.append(LINES[kind](chance, noun, len(made) + 1))
        letters -= len(made[-1]) + 1
    return "\n".join(made)


@attrs.frozen(kw_only=True)
class Round:
    """A message, and the seconds that pass before it."""

    message: dict
    seconds: float = 0.0


class Script:
    """
    A session that is being written, by chance that its sort and seed decide.

    The model is a fast, an ordinary or a slow one, texts are longer in one session than in another, and the tools for
    files and commands have other names: all this holds for the whole session.
    """

    def __init__(self, sort, seed, *, scales=(0.9, 1.4)):
        self.chance = random.Random(f"unseen {sort} {seed}")  # noqa: S311 - repeatable
        self.pace = self.chance.choice(((0.4, 1.5), (1.0, 5.0), (4.0, 18.0)))
        self.scale = self.chance.uniform(*scales)
        self.reader, self.shell = self.chance.choice(READERS), self.chance.choice(SHELLS)
        self.rounds = []
        self._calls = 0

    def user(self, words, *, after=30.0):
        """What a user, or a scheduler in a user's place, says."""
        self._add(user(words), after)

    def say(self, words):
        """An answer of the model."""
        self._add(answer(words), self._thinks())

    def call(self, name, arguments, shown, *, takes=0.2, note=None):
        """One call and its result, which comes after the seconds that the tool takes or waits."""
        self.together((name, arguments, shown), takes=takes, note=note)

    def together(self, *called, takes=0.2, note=None):
        """Calls of one reply, and their results."""
        keys = [f"call_{self._calls + place}" for place in range(len(called))]
        self._calls += len(called)
        named = [(key, name, arguments) for key, (name, arguments, _) in zip(keys, called, strict=True)]
        self._add(call(*named, text=note), self._thinks())
        for key, (_, _, shown) in zip(keys, called, strict=True):
            self._add(result(key, shown), takes)

    def read(self, path, shown, **more):
        """A file is read by the tool that this session has for it."""
        name, key = self.reader
        self.call(name, {key: path}, shown, **more)

    def run(self, command, shown, **more):
        """A command is run by the tool that this session has for it."""
        name, key = self.shell
        self.call(name, {key: command}, shown, **more)

    def text(self, kind, tokens):
        """A new text of a kind, larger or smaller by the scale of this session."""
        return text(self.chance, kind, tokens * self.scale)

    def times(self, number):
        """So often, or up to half as often again."""
        return self.chance.randrange(number, number + number // 2 + 1)

    def noun(self):
        return self.chance.choice(NOUNS)

    def nouns(self, number):
        """So many different ones."""
        return self.chance.sample(NOUNS, number)

    def _thinks(self):
        return self.chance.uniform(*self.pace)

    def _add(self, message, seconds):
        self.rounds.append(Round(message=message, seconds=seconds))
