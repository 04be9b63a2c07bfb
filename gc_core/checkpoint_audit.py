"""The checkpoints of a session, and whether one agrees with the state that log and ledger give for its moment."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import attrs

from gc_core.checkpoints import DIRECTORY, Checkpoint
from gc_core.errors import GCError
from gc_core.intake import Cursor
from gc_core.ledger import Opened
from gc_core.messages import Message
from gc_core.state import Position, SessionState, digest_of_messages

# What a damaged line makes of the code that takes it for a whole one.
MISFIT = (GCError, ValueError, LookupError, TypeError, AttributeError, RecursionError)

_MOMENT = re.compile(r"(\d+)-(\d+)\.json", re.ASCII)

# Of a checkpoint; tokens depend on the counter, and texts that wait stand in no other file.
_FOLDED = (
    *("opened", "settings", "head", "cursor", "results", "changes", "newest", "calibration", "pinned_turns", "sent"),
    *("undone", "done", "taken_back", "turns", "thinking", "carried", "cleared"),
)


def moments(directory: Path, end: Position) -> dict[Position, Path]:
    """The checkpoints up to a moment."""
    found: dict[Position, Path] = {}
    for path in sorted((directory / DIRECTORY).glob("*.json")):
        name = _MOMENT.fullmatch(path.name)
        if name and int(name[1]) <= end.log and int(name[2]) <= end.ledger:
            found[Position(int(name[1]), int(name[2]))] = path
    return found


def name_of(path: Path) -> str:
    """The name of a checkpoint's file, from the session's directory."""
    return f"{DIRECTORY}/{path.name}"


def unlike(checkpoint: Checkpoint, state: SessionState, fresh: SessionState, opened: Opened) -> str:
    """In what a checkpoint differs from the state of its moment, or ""; it is restored into the fresh state."""
    found = digest_of_messages(state.context.messages)
    if checkpoint.digest != found:
        return f"it has digest {checkpoint.digest}; log and ledger give {found}"
    ours = Checkpoint.of(state, checkpoint.at, opened)
    differing = [name for name in _FOLDED if _field(checkpoint, name) != _field(ours, name)]
    if differing:
        return f"its {differing[0]} is another one than log and ledger give"
    try:
        checkpoint.restore(fresh)
    except MISFIT as error:
        return f"it cannot be restored: {error}"
    for restored, folded in zip(fresh.context.messages, state.context.messages, strict=True):
        if _plain(restored) != _plain(folded):
            return f"message {folded.id} is another one in it than log and ledger give"
    return ""


def _field(checkpoint: Checkpoint, name: str) -> Any:
    value = getattr(checkpoint, name)
    # The message behind it is compared by its id, as the checkpoint has it.
    return attrs.evolve(value, results=None) if isinstance(value, Cursor) else value


def _plain(message: Message) -> tuple[Any, ...]:
    """What a message is, its tokens apart: those may have been counted by another counter."""
    items = tuple(attrs.evolve(item, tokens=0, original_tokens=0) for item in message.items)
    return message.id, message.role, message.payload, message.synthetic, message.as_logged, items
