"""Verifies that a session's checkpoints match the state that log and ledger yield for their moments."""

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
from gc_core.window.cursor import Cursor

# The errors of code that reads a damaged line as a whole one.
MISFIT = (GCError, ValueError, LookupError, TypeError, AttributeError)

# The fields of a checkpoint that are not compared: tokens depend on the counter, and waiting texts are in no other
# file.
_FOLDED = (
    *("opened", "settings", "head", "cursor", "results", "changes", "newest", "calibration", "pinned_turns", "sent"),
    *("undone", "done", "taken_back", "turns", "thinking", "carried", "cleared"),
    *("given", "compacted_at"),
)


@attrs.frozen(kw_only=True)
class Kept:
    """A checkpoint in a session's directory: its store and its key."""

    among: Checkpoints
    key: str

    def __str__(self) -> str:
        """Return its path, relative to the session's directory."""
        return f"{place_of(self.among.name)}/{self.key}"

    def read(self) -> Checkpoint:
        """Return the checkpoint. Raises LogError if it cannot be read."""
        return self.among.read(self.key)


def moments(among: Iterable[Checkpoints], end: Position) -> dict[Position, list[Kept]]:
    """Return the checkpoints up to a moment."""
    found: dict[Position, list[Kept]] = {}
    for each in among:
        for key, at in each.moments(end).items():
            found.setdefault(at, []).append(Kept(among=each, key=key))
    return found


def place_of(backend: str) -> str:
    """Return where one of gc-core's own backends keeps checkpoints, relative to the session's directory."""
    return FOLDER if backend == FILES else DATABASE


def unlike(checkpoint: Checkpoint, state: SessionState, fresh: SessionState, opened: Opened) -> str:
    """Return how a checkpoint differs from the state of its moment, or ""; it is restored into the fresh state."""
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
    # The following message is compared by its id, as the checkpoint has it.
    return attrs.evolve(value, results=None) if isinstance(value, Cursor) else value


def _plain(message: Message) -> tuple[Any, ...]:
    """Return a message without its tokens, which may have been counted by another counter."""
    items = tuple(attrs.evolve(item, tokens=0, original_tokens=0) for item in message.items)
    return message.id, message.role, message.payload, message.synthetic, message.as_logged, items
