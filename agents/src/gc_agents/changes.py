"""The changes of a window that an agent may ask for, and how they are carried out."""

from __future__ import annotations

import datetime as dt
from typing import Final

import attrs

from gc_core import GCSession, HistoryEntry
from gc_core.errors import LogError, SourceError
from gc_core.integrations.agent_tools import AgentTools

PIN, UNPIN, UNDO, NOTE = CHANGES = ("gc_pin", "gc_unpin", "gc_undo", "gc_note")
"""The tools that change something."""

NOTHING_TO_UNDO: Final = "nothing was collected here that could be undone"

_SHOWN = 8
"""The most ids in a line."""


@attrs.frozen(kw_only=True)
class Change:
    """
    A change.

    Attributes:
        tool: The tool that asks for it, one of ``CHANGES``.
        item: The item to pin or to release.
        text: The note.
        mode: ``append`` or ``replace``, for a note.

    """

    tool: str
    item: str = ""
    text: str = ""
    mode: str = ""


def carry_out(session: GCSession, change: Change) -> str:
    """Carry out a change; return what came of it, for the model. Raises SourceError for what cannot be."""
    tools = AgentTools(session, names=["pin", "note"])
    if change.tool == PIN:
        if session.port.find(change.item) is None:
            raise SourceError(
                f"{change.item!r:.100} is not in the window; gc_recall shows it, gc_note keeps a fact of it"
            )
        return tools.call("pin", {"item": change.item})
    if change.tool == NOTE:
        return tools.call("note", {"text": change.text, "mode": change.mode})
    return _unpinned(session, change.item) if change.tool == UNPIN else _undone(session)


def place_notes(session: GCSession) -> None:
    """Write the notes into a session that sends no request: they would be lost with it. Raises LogError."""
    port = session.port
    if port.open_calls:
        raise LogError("calls of this session wait for their results; nobody writes it now that could take a note")
    port.place_waiting()


def last_in_force(entries: tuple[HistoryEntry, ...]) -> HistoryEntry | None:
    """Return the collection that would be undone next; None if there is none."""
    return next((entry for entry in reversed(entries) if entry.in_force), None)


def told_entry(entry: HistoryEntry) -> str:
    """Return what was done to the window, with its time, as one line."""
    return f"{_when(entry)} {entry.text}{' (undone)' * (entry.is_collection and not entry.in_force)}"


def _when(entry: HistoryEntry) -> str:
    return f"{dt.datetime.fromtimestamp(entry.time, tz=dt.UTC).isoformat(timespec='seconds')} {entry.what}"


def _unpinned(session: GCSession, item: str) -> str:
    if not any(each.id == item and each.pinned for each in session.items()):
        raise SourceError(f"{item!r:.100} is not a pinned item of the window")
    session.unpin(item=item)
    return f"{item} is released"


def _undone(session: GCSession) -> str:
    """Undo the last collection, unless the window would not fit with what comes back."""
    entry = last_in_force(session.history())
    if entry is None:
        raise SourceError(NOTHING_TO_UNDO)
    tokens, usable = session.port.estimate_undone(), session.config.usable
    before = session.port.estimate(session.budget.total)
    if tokens is None:
        raise SourceError(NOTHING_TO_UNDO)
    if tokens > max(before, usable):
        text = f"with what would come back the window would have {tokens:,} tokens of at most {usable:,}"
        raise SourceError(f"{text}; recall single items instead")
    forms = {item.id: item.form for item in session.items()}
    session.undo()
    came = [item.id for item in session.items() if forms.get(item.id) is not item.form]
    named = ", ".join(came[:_SHOWN]) + ", …" * bool(came[_SHOWN:])
    # Without the entry's sizes: the ledger has them in gc-core's own count.
    return f"undone: {_when(entry)}; {len(came)} items came back ({named}); {tokens:,} of {usable:,} tokens now"
