"""The objective of a session: what the agent is after, as its host says, or as the user's own words tell."""

from __future__ import annotations

from typing import Final

import attrs

from gc_core.items import Item, ItemKind
from gc_core.scan import scan

CHARS: Final = 2_000
"""Characters that are taken of the original request, and of the newest user message: what is behind them is a paste."""

SHARED_SHARE: Final = 0.2
"""A user message of whose names a smaller share than this is known to the objective is about something else."""

LEAST_NAMES: Final = 2
"""Names from which a user message can be about something else: "go on" is about what was said before."""


@attrs.frozen(kw_only=True)
class Objective:
    """
    What the agent is after.

    Attributes:
        given: What the host set, or "": then the user's words count.
        request: The original request, its beginning.
        newest: The newest user message behind it, its beginning.
        changes: How often it has become another one.

    """

    given: str = ""
    request: str = ""
    newest: str = ""
    changes: int = 0

    @property
    def text(self) -> str:
        """The objective in words; "" before anybody said anything."""
        return self.given or "\n".join(filter(None, (self.request, self.newest)))

    def set_to(self, text: str) -> Objective:
        """As the host says; "" gives it back to the user's words."""
        if text == self.given:
            return self
        return attrs.evolve(self, given=text, changes=self.changes + 1)

    def heard(self, item: Item) -> Objective:
        """After an item: only what a user typed says something of it. O(length of the item, at most ``CHARS``)."""
        if item.kind is not ItemKind.USER_TEXT or item.synthetic:
            return self
        said = item.text[:CHARS]
        if item.turn == 0:
            return attrs.evolve(self, request="\n".join(filter(None, (self.request, said)))[:CHARS])
        changes = self.changes + (not self.given and self._is_another(said))
        return attrs.evolve(self, newest=said, changes=changes)

    def _is_another(self, said: str) -> bool:
        names = scan(said).names
        if len(names) < LEAST_NAMES:
            return False
        return len(names & scan(self.text).names) < SHARED_SHARE * len(names)
