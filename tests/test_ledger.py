"""The lines of a ledger: a record that is written directly has the line that cattrs makes of it."""

import json

import pytest

from gc_core.storage import ledger
from gc_core.storage.ledger import Entry
from gc_core.values.messages import Usage
from gc_core.values.references import ByteRange

NUMBERS = ledger.Numbers(items=1, messages=2, units=3)
RECORDS = (
    ledger.Opened(session="s", format="openai", model=None, config={"a": (1, 2), "b": {"c": None}}, version="1"),
    ledger.Opened(session="s", format="openai", model="m", config={}, version="1", objects=("Mine",)),
    ledger.Sent(),
    ledger.Sent(digest="ab"),
    ledger.Observed(raw=1, reported=2, usage=Usage(input_tokens=3), sent=1.5, counted=True),
    ledger.Observed(raw=1, reported=2),
    ledger.Cleared(gone=("i1", "i2"), back=("i3",), tokens=4),
    ledger.Configured(model=None, context_limit=1, output_reservation=2, max_total_tokens=0),
    ledger.Pinned(item="i1", pinned=True),
    ledger.Pinned(turn=3, pinned=False),
    ledger.Undone(place=ByteRange(1, 2), redone=True),
    ledger.Released(),
    ledger.Rewound(log=1, ledger=2, why="asked", numbers=NUMBERS),
    ledger.Purged(by="ada", occurrences=2),
    ledger.ObjectiveSet(text="ünbeirrt"),
)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_line_is_what_cattrs_makes_of_the_record(record):
    line = Entry(at=5, time=2.0, record=record).line()
    saved = ledger.converter_of_records().unstructure(record)
    head = {"at": 5, "time": 2.0, "kind": json.loads(line)["kind"]}
    assert line == json.dumps({**head, **saved}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    if not isinstance(record, ledger.Opened):  # its configuration is read as JSON has it
        assert Entry.read(line).record == record
