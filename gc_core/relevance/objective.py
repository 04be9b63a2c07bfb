"""The objective of a session, as its host sets it, or as the user's own words say."""

from __future__ import annotations

import functools
from typing import Final

import attrs

from gc_core.relevance.name_scan import scan
from gc_core.values.items import Item, ItemKind

CHARS: Final = 2_000
"""The characters used of a message: the rest is a paste."""

MOST_LATER: Final = 4_000
"""The characters used of all later messages together; the oldest are left out first."""

SHARED_SHARE: Final = 0.2
"""A user message with a smaller share of names known to the objective is about something else."""

LEAST_NAMES: Final = 2
"""The least names of a user message that can be about something else."""


@attrs.frozen(kw_only=True)
class Objective:
    """
    The agent's objective.

    Attributes:
        given: The host's objective, or "": then the user's words count.
        request: The beginning of the original request: the first message that sets a task, and what came with it.
        later: The beginnings of later messages that change the task, oldest first.
        changes: The number of changes.
        asked: The agent's newest text asks for something.
        turn: The turn of the original request, -1 before there is one.

    """

    given: str = ""
    request: str = ""
    later: tuple[str, ...] = ()
    changes: int = 0
    asked: bool = False
    turn: int = -1

    @property
    def text(self) -> str:
        """The objective in words; "" before there is one."""
        return self.given or "\n".join(filter(None, (self.request, *self.later)))

    def newest(self, chars: int) -> str:
        """
        Return the host's objective, or else the user's newest messages that set a task: as many as have at most this
        many characters together, and at least one.
        """
        messages = [self.given] if self.given else [*filter(None, (self.request, *self.later))]
        while sum(map(len, messages)) > chars and len(messages) > 1:
            del messages[0]
        return "\n".join(messages)

    def set_to(self, text: str) -> Objective:
        """Return the objective set by the host; "" returns to the user's words."""
        if text == self.given:
            return self
        return attrs.evolve(self, given=text, changes=self.changes + 1)

    def updated(self, item: Item) -> Objective:
        """
        Return the objective after an item: user messages count if they set a task. O(length of the item, at most
        ``CHARS``).
        """
        # Loaded with the first message: a session begins sooner.
        from gc_core.relevance.task_messages import asks, changes_task

        if item.kind is ItemKind.ASSISTANT_TEXT:
            asked = asks(item.text)
            return self if asked == self.asked else attrs.evolve(self, asked=asked)
        if (
            item.kind is not ItemKind.USER_TEXT
            or item.synthetic
            or not changes_task(item.text, begun=bool(self.request), asked=self.asked)
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
    """Return the names in a message of the objective, computed once."""
    return scan(text).names
