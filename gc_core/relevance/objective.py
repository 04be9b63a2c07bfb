"""The objective of a session: what the agent is after, as its host says, or as the user's own words tell."""

from __future__ import annotations

import functools
from typing import Final

import attrs

from gc_core.relevance.name_scan import scan
from gc_core.relevance.tasking import asks, sets_task
from gc_core.values.items import Item, ItemKind

CHARS: Final = 2_000
"""Characters that are taken of a message: what is after them is a paste."""

MOST_LATER: Final = 4_000
"""Characters of all later messages together; of more the oldest are left out."""

SHARED_SHARE: Final = 0.2
"""A user message of whose names a smaller share than this is known to the objective is about something else."""

LEAST_NAMES: Final = 2
"""Names from which a user message can be about something else."""


@attrs.frozen(kw_only=True)
class Objective:
    """
    What the agent is after.

    Attributes:
        given: What the host set, or "": then the user's words count.
        request: The original request, its beginning: the first message that sets a task, and what came with it.
        later: Later messages that change the task, their beginnings, oldest first.
        changes: How often it has become another one.
        asked: The agent's newest text asks for something.
        turn: That of the original request, -1 before there is one.

    """

    given: str = ""
    request: str = ""
    later: tuple[str, ...] = ()
    changes: int = 0
    asked: bool = False
    turn: int = -1

    @property
    def text(self) -> str:
        """The objective in words; "" before anybody said anything."""
        return self.given or "\n".join(filter(None, (self.request, *self.later)))

    def set_to(self, text: str) -> Objective:
        """As the host says; "" gives it back to the user's words."""
        if text == self.given:
            return self
        return attrs.evolve(self, given=text, changes=self.changes + 1)

    def heard(self, item: Item) -> Objective:
        """After an item: what a user typed counts where it sets a task. O(length of the item, at most ``CHARS``)."""
        if item.kind is ItemKind.ASSISTANT_TEXT:
            asked = asks(item.text)
            return self if asked == self.asked else attrs.evolve(self, asked=asked)
        if (
            item.kind is not ItemKind.USER_TEXT
            or item.synthetic
            or not sets_task(item.text, asked=self.asked and bool(self.request))
        ):
            return self
        said = item.text[:CHARS]
        if self.turn in (-1, item.turn):
            return attrs.evolve(self, turn=item.turn, request="\n".join(filter(None, (self.request, said)))[:CHARS])
        changes = self.changes + (not self.given and self._is_another(said))
        later = (*self.later, said) if said not in self.later else self.later
        while sum(map(len, later)) > MOST_LATER:
            later = later[1:]
        return attrs.evolve(self, later=later, changes=changes)

    def _is_another(self, said: str) -> bool:
        names = _names_in(said)
        if len(names) < LEAST_NAMES:
            return False
        known = frozenset().union(*map(_names_in, (self.given,) if self.given else (self.request, *self.later)))
        return len(names & known) < SHARED_SHARE * len(names)


@functools.lru_cache(maxsize=256)
def _names_in(text: str) -> frozenset[str]:
    """Looked for in every message that is part of it, once."""
    return scan(text).names
