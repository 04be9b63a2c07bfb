"""The checkpoints of a session, and whether one agrees with the state that log and ledger give for its moment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from gc_core.errors import GCError
from gc_core.plugins.checkpoint_backends import DATABASE, FOLDER
from gc_core.storage.checkpoints import Checkpoint, Checkpoints
from gc_core.storage.ledger import Opened
from gc_core.storage.state import Position, SessionState, digest_of_messages
from gc_core.values.config import FILES
from gc_core.values.messages import Message
from gc_core.window.intake import Cursor

# What a damaged line makes of the code that takes it for a whole one.
MISFIT = (GCError, ValueError, LookupError, TypeError, AttributeError)

# Of a checkpoint; tokens depend on the counter, and texts that wait stand in no other file.
_FOLDED = (
    *("opened", "settings", "head", "cursor", "results", "changes", "newest", "calibration", "pinned_turns", "sent"),
    *("undone", "done", "taken_back", "turns", "thinking", "carried", "cleared"),
)


@attrs.frozen(kw_only=True)
class Kept:
    """A checkpoint that lies in a session's directory: among which ones, and under which key."""

    among: Checkpoints
    key: str

    def __str__(self) -> str:
        """Return where it is, from the session's directory."""
        return f"{place_of(self.among.name)}/{self.key}"

    def read(self) -> Checkpoint:
        """Return the checkpoint. Raises LogError where it cannot be read."""
        return self.among.read(self.key)


def moments(among: Iterable[Checkpoints], end: Position) -> dict[Position, list[Kept]]:
    """Return the checkpoints up to a moment."""
    found: dict[Position, list[Kept]] = {}
    for each in among:
        for key, at in each.moments(end).items():
            found.setdefault(at, []).append(Kept(among=each, key=key))
    return found


def place_of(backend: str) -> str:
    """Return what one of gc-core's own backends keeps checkpoints in, from the session's directory."""
    return FOLDER if backend == FILES else DATABASE


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
    # The message after it is compared by its id, as the checkpoint has it.
    return attrs.evolve(value, results=None) if isinstance(value, Cursor) else value


def _plain(message: Message) -> tuple[Any, ...]:
    """Return what a message is, its tokens apart: those may have been counted by another counter."""
    items = tuple(attrs.evolve(item, tokens=0, original_tokens=0) for item in message.items)
    return message.id, message.role, message.payload, message.synthetic, message.as_logged, items
