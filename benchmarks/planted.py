"""
Facts and constraints in plain words, planted into recorded sessions: what a collector may lose without noticing.

The generator knows how people write things down, and nothing of how anything is collected. Three facts in five carry no
path, number, symbol or other name that a grammar of identifiers would see. Same seed, same facts, same places.
"""

from __future__ import annotations

import enum
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
from ctxgc.evaluation.transcripts import Transcript

Message = dict[str, Any]

EACH = 50
"""Facts at each kind of place."""

PLAIN_SHARE = 0.6
"""Share of the facts that carry no name."""

LONG_LOG, FEWEST_ROWS, MADE_ROWS = 40, 3, 40
"""Lines of a long log, rows of a JSON result that can take a fact, and rows of a made one."""


class Place(enum.Enum):
    """Where a fact stands."""

    USER = "user text"
    LOG = "log"
    ROW = "JSON row"
    SUPERSEDED = "superseded"


@attrs.frozen(kw_only=True)
class Form:
    """
    A way to say a fact of one kind.

    Attributes:
        kind: What it is about.
        text: The sentence, with places for subject and value.
        subjects: What it may be said of.
        values: What may be said; another value is another, contradicting fact.

    """

    kind: str
    text: str
    subjects: tuple[str, ...]
    values: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Fact:
    """A fact, how it is said, and what it was before where it was superseded."""

    kind: str
    text: str
    plain: bool
    place: Place
    old: str = ""


@attrs.frozen(kw_only=True)
class Planted:
    """
    A fact in a session.

    Attributes:
        fact: What was planted.
        message: Index of the message that says it.
        old_message: Index of the message that said what it was before, or -1.

    """

    fact: Fact
    message: int
    old_message: int = -1


@attrs.frozen(kw_only=True)
class PlantedSession:
    """A session with what was planted in it."""

    transcript: Transcript
    planted: tuple[Planted, ...]


# -- the facts -------------------------------------------------------------------------------------------------------

_PEOPLE = ("Ingrid Halvorsen", "Tomasz Wilk", "Amara Okafor", "Bruno Castellani", "Wen Li", "Yusuf Demir")
_WORK = (
    "the loyalty programme",
    "the harbour contract",
    "the spring catalogue",
    "the second warehouse",
    "the patient survey",
    "the choir festival",
    "the annual stocktake",
    "the night train project",
    "the seed exchange",
    "the translation of the handbook",
)
_READERS = (
    "the client",
    "the night shift",
    "our landlord",
    "the museum director",
    "the head nurse",
    "the board",
    "the parents",
    "the supplier in Trieste",
    "the new tenant",
    "the choir master",
)
_MACHINES = (
    "the staging gateway",
    "the ledger service",
    "the label printer",
    "the metrics relay",
    "the invoice worker",
    "the session store",
    "the image resizer",
    "the search replica",
    "the mail bridge",
    "the tariff cache",
)

PLAIN = (
    Form(
        kind="preference",
        text="{subject} prefers {value}",
        subjects=_READERS,
        values=("weekly summaries on Mondays", "short answers without tables", "a phone call over a letter"),
    ),
    Form(
        kind="prohibition",
        text="never touch {subject}, {value}",
        subjects=(
            "the billing tables",
            "the payroll exports",
            "the archive of consent forms",
            "the drafts of the annual report",
            "the shared calendar",
            "the donor list",
            "the old price sheets",
            "the signed leases",
            "the seating plan",
            "the customs papers",
        ),
        values=("whatever the ticket says", "not even in a rehearsal", "unless the auditor sits beside you"),
    ),
    Form(kind="person", text="{subject} is looked after by {value}", subjects=_WORK, values=_PEOPLE),
    Form(
        kind="decision",
        text="for {subject} we decided to {value}",
        subjects=_WORK,
        values=("go without a mobile version", "keep the paper forms", "hire outside help"),
    ),
    Form(
        kind="deadline",
        text="{subject} has to be finished before {value}",
        subjects=_WORK,
        values=("the bank holiday", "the board meets", "the end of the school term"),
    ),
    Form(
        kind="location",
        text="the password for {subject} is kept {value}",
        subjects=_MACHINES,
        values=("in the sealed envelope in the safe", "in the notebook of the treasurer", "with the caretaker"),
    ),
    Form(
        kind="preference",
        text="letters to {subject} are written in {value}",
        subjects=_READERS,
        values=("plain Danish", "formal French", "Portuguese"),
    ),
    Form(
        kind="measure",
        text="moving {subject} took {value}",
        subjects=_MACHINES,
        values=("barely half as long as before", "twice as long as planned", "nearly all night"),
    ),
    Form(
        kind="cause",
        text="{subject} stood still because {value}",
        subjects=_MACHINES,
        values=("the clock had drifted", "two people edited the list at once", "nobody had renewed the certificate"),
    ),
    Form(
        kind="constraint",
        text="whatever goes out to {subject} is read by {value} first",
        subjects=_READERS,
        values=_PEOPLE,
    ),
    Form(
        kind="supplier",
        text="the paper for {subject} comes from {value} only",
        subjects=_WORK,
        values=("the mill by the river", "the cooperative in Trieste", "the brother of the caretaker"),
    ),
    Form(
        kind="diet",
        text="when {subject} comes to lunch there must be no {value} on the table",
        subjects=_READERS,
        values=("shellfish", "walnuts", "honey"),
    ),
    Form(
        kind="order",
        text="{subject} is restarted after all others, {value}",
        subjects=_MACHINES,
        values=("by hand", "while nobody prints", "once the lamps are green"),
    ),
)
"""Without any path, number or symbol."""

NAMED = (
    Form(
        kind="port",
        text="{subject} listens on port {value}",
        subjects=_MACHINES,
        values=("8443", "9107", "31550", "5077"),
    ),
    Form(
        kind="version",
        text="{subject} stays on version {value} until further notice",
        subjects=_MACHINES,
        values=("1.21.4", "3.0.12", "20.9.1"),
    ),
    Form(
        kind="deadline",
        text="{subject} is due on {value}",
        subjects=_WORK,
        values=("2031-04-17", "3 March 2031", "2031-11-02"),
    ),
    Form(
        kind="measure",
        text="{subject} answered in {value} at the peak",
        subjects=_MACHINES,
        values=("412.7 ms", "88.3 ms", "1904 ms"),
    ),
    Form(
        kind="location",
        text="the spare key of {subject} lies under {value}",
        subjects=_MACHINES,
        values=("/srv/keys/omega.pem", "/etc/vault/spare.pem", "/opt/keep/second.pem"),
    ),
    Form(
        kind="constraint",
        text="{value} has to be set before {subject} is started",
        subjects=_MACHINES,
        values=("LEDGER_DRY_RUN=1", "TARIFF_MODE=replay", "NO_FANOUT=1"),
    ),
    Form(
        kind="person",
        text="questions about {subject} go to {value}",
        subjects=_WORK,
        values=("desk7@harbour.example", "wilk@harbour.example", "amara.o@harbour.example"),
    ),
    Form(
        kind="decision",
        text="{subject} goes through {value} from now on",
        subjects=_MACHINES,
        values=("refreshLedgerCache", "batch_settle_v2", "QuoteRouter"),
    ),
)
"""With something that a grammar of identifiers may see."""


def facts(seed: int) -> tuple[Fact, ...]:
    """As many as wanted of every place, all different; of one subject nothing is said twice in the same way."""
    lot = random.Random(f"facts {seed}")  # noqa: S311 - no secret hangs on it
    count = EACH * len(Place)
    plain = round(PLAIN_SHARE * count)
    sayings = [*_sayings(PLAIN, lot)[:plain], *_sayings(NAMED, lot)[: count - plain]]
    lot.shuffle(sayings)
    return tuple(
        _fact(form, subject, place, lot)
        for (form, subject), place in zip(sayings, [place for place in Place for _ in range(EACH)], strict=True)
    )


def _sayings(forms: Iterable[Form], lot: random.Random) -> list[tuple[Form, str]]:
    every = [(form, subject) for form in forms for subject in form.subjects]
    return lot.sample(every, len(every))


def _fact(form: Form, subject: str, place: Place, lot: random.Random) -> Fact:
    value, old = lot.sample(form.values, 2)
    return Fact(
        kind=form.kind,
        text=_said(form, subject, value),
        plain=form in PLAIN,
        place=place,
        old=_said(form, subject, old) if place is Place.SUPERSEDED else "",
    )


def _said(form: Form, subject: str, value: str) -> str:
    return form.text.format(subject=subject, value=value)


# -- the places ------------------------------------------------------------------------------------------------------

_ASIDES = ("By the way, ", "One more thing: ", "Please note: ", "For later, ", "")
_CORRECTIONS = ("Correction: ", "This has changed: ", "Forget what was said before, ")
_LOG_LEADS = ("", "# ", "note: ", "INFO  ", "[notice] ", "    ")
_CHORES = ("swept the yard", "counted the chairs", "watered the plants", "called the plumber", "sorted the post")


def plant(transcripts: Sequence[Transcript], seed: int = 0) -> tuple[PlantedSession, ...]:
    """
    All facts, dealt out to the sessions in turn; each goes into the first half, behind the first request.

    What is superseded later stands in the first quarter, and what supersedes it in the second.
    """
    lot = random.Random(f"places {seed}")  # noqa: S311 - no secret hangs on it
    beds = [_Bed(transcript, lot) for transcript in transcripts]
    with_logs = [bed for bed in beds if bed.logs(bed.half)]
    for number, fact in enumerate(facts(seed)):
        able = with_logs if fact.place is Place.LOG else beds
        able[number % len(able)].take(fact)
    return tuple(bed.session() for bed in beds)


class _Bed:
    """A session into which facts are being planted; places are kept by message, for indexes move."""

    def __init__(self, transcript: Transcript, lot: random.Random) -> None:
        self._transcript = transcript
        self._lot = lot
        self._messages: list[Message] = [dict(message) for message in transcript.messages]
        begin = next(at for at, message in enumerate(self._messages) if message["role"] == "assistant") + 1
        middle = len(self._messages) // 2
        quarter = (begin + middle) // 2
        self.half = self._messages[begin:middle]
        self._quarters = (self._messages[begin:quarter], self._messages[quarter:middle])
        self._taken: list[tuple[Fact, Message, Message | None]] = []

    def take(self, fact: Fact) -> None:
        """Plant it where it wants to stand."""
        if fact.place is not Place.SUPERSEDED:
            self._taken.append((fact, self._put(fact.text, fact.place, self.half, self._lot.choice(_ASIDES)), None))
            return
        first, second = self._quarters
        old = self._put(fact.old, self._any_place(first), first, self._lot.choice(_ASIDES))
        new = self._put(fact.text, self._any_place(second), second, self._lot.choice(_CORRECTIONS))
        self._taken.append((fact, new, old))

    def session(self) -> PlantedSession:
        """The session as it stands now."""
        index = {id(message): at for at, message in enumerate(self._messages)}
        planted = (
            Planted(fact=fact, message=index[id(new)], old_message=-1 if old is None else index[id(old)])
            for fact, new, old in self._taken
        )
        transcript = attrs.evolve(self._transcript, messages=tuple(self._messages))
        return PlantedSession(transcript=transcript, planted=tuple(planted))

    def logs(self, among: Sequence[Message]) -> list[Message]:
        """Long results that are lines of text."""
        return [
            message
            for message in among
            if message["role"] == "tool" and message["content"].count("\n") >= LONG_LOG and not _rows(message)
        ]

    def _any_place(self, among: Sequence[Message]) -> Place:
        places = [Place.USER, Place.LOG, Place.ROW] if self.logs(among) else [Place.USER, Place.ROW]
        return self._lot.choice(places)

    def _put(self, text: str, place: Place, among: Sequence[Message], lead: str) -> Message:
        if place is Place.LOG:
            return self._in_log(text, self._lot.choice(self.logs(among)), lead)
        if place is Place.ROW:
            results = [message for message in among if message["role"] == "tool" and len(_rows(message)) >= FEWEST_ROWS]
            return self._in_row(text, self._lot.choice(results) if results else self._made_result(among), lead)
        return self._by_user(lead + text, among)

    def _by_user(self, text: str, among: Sequence[Message]) -> Message:
        """At the end of what the user says, or as a message of its own before a model call."""
        spoken = [message for message in among if message["role"] == "user" and isinstance(message["content"], str)]
        if spoken and self._lot.random() < 1 / 2:
            message = self._lot.choice(spoken)
            message["content"] += f"\n\n{text}."
            return message
        message = {"role": "user", "content": f"{text}."}
        self._insert(among, message)
        return message

    def _in_log(self, text: str, message: Message, lead: str) -> Message:
        """A line of its own in the middle half; what corrects something says so."""
        lines = message["content"].split("\n")
        begin = lead if lead in _CORRECTIONS else self._lot.choice(_LOG_LEADS)
        lines.insert(self._lot.randrange(len(lines) // 4, 3 * len(lines) // 4), begin + text)
        message["content"] = "\n".join(lines)
        return message

    def _in_row(self, text: str, message: Message, lead: str) -> Message:
        """A note in one of the rows that has none yet."""
        value = json.loads(message["content"])
        rows = _longest_rows(value)
        row = self._lot.choice([row for row in rows if "note" not in row] or rows)
        said = lead + text if lead in _CORRECTIONS else text
        row["note"] = f"{row['note']}; {said}" if "note" in row else said
        message["content"] = json.dumps(value)
        return message

    def _made_result(self, among: Sequence[Message]) -> Message:
        """An exchange of its own, for a session whose tools answer in text."""
        call = f"made_{self._lot.getrandbits(32):08x}"
        function = {"name": "list_entries", "arguments": '{"book": "daily"}'}
        rows = [{"id": number, "by": self._lot.choice(_PEOPLE), "done": self._lot.choice(_CHORES)} for number in _MADE]
        result = {"role": "tool", "tool_call_id": call, "content": json.dumps(rows)}
        calls = [{"id": call, "type": "function", "function": function}]
        self._insert(among, {"role": "assistant", "content": None, "tool_calls": calls}, result)
        return result

    def _insert(self, among: Sequence[Message], *new: Message) -> None:
        """Before a reply: there all earlier calls have their results."""
        reply = self._lot.choice([message for message in among if message["role"] == "assistant"])
        at = next(at for at, message in enumerate(self._messages) if message is reply)
        self._messages[at:at] = new


_MADE = range(1, MADE_ROWS + 1)


def _rows(message: Message) -> list[Message]:
    """The rows of a JSON result, if it is one."""
    content = message["content"]
    if not content.lstrip().startswith(("{", "[")):
        return []
    try:
        return _longest_rows(json.loads(content))
    except ValueError:
        return []


def _longest_rows(value: Any) -> list[Message]:
    """The longest list of objects in a JSON value."""
    return max(_tables(value), key=len, default=[])


def _tables(value: Any) -> Iterator[list[Message]]:
    if isinstance(value, list):
        if value and all(isinstance(row, dict) for row in value):
            yield value
        inner: Iterable[Any] = value
    else:
        inner = value.values() if isinstance(value, dict) else ()
    for each in inner:
        yield from _tables(each)
