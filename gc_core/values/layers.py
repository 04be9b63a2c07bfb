"""
The head of a request in layers, the most stable first: texts that many sessions share come before those of one session.

Everyone who sends the same first bytes reads them from the provider's cache: so a shared layer contains nothing that
belongs to a user or a session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from gc_core.errors import SourceError
from gc_core.values.json_values import keys_and_values
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import CONVERSATION, ENRICHMENT, PLUGIN, READY_MADE_SOURCES, SYSTEM, USER, InstructionSource

OWN = "gc: "
"""The prefix of the names of gc-core's own lines in the system text; they follow all other parts."""

SHORTEST_PRIVATE = 3
"""The least letters of a private value: shorter ones would be found in half of all texts."""

_ELSEWHERE = frozenset({PLUGIN.name, ENRICHMENT.name, CONVERSATION.name})
_FEWEST_NAMES = 3


@attrs.frozen(kw_only=True)
class SystemPart:
    """
    A named part of the system text.

    Attributes:
        source: The source it belongs to.
        name: Its name in the source; two sources may use the same.
        text: What is sent; an empty or blank one removes the part.
        policy: Its policy.

    """

    source: str = SYSTEM.name
    name: str
    text: str = attrs.field(repr=False)
    policy: GCPolicy

    @property
    def key(self) -> str:
        """The id of its item; sources of system text have no colon in their names."""
        return f"{self.source}:{self.name}"


LOG_PART = f"{OWN}log"
"""The part of the system text that says where the log is."""


def is_own(source: str, name: str) -> bool:
    """Return whether it is one of gc-core's own lines, which may name the session."""
    return source == SYSTEM.name and name.startswith(OWN)


def is_shared(source: InstructionSource, name: str) -> bool:
    """Return whether the part comes before everything that belongs to a user or a session."""
    return source.layer < USER.layer and not is_own(source.name, name)


def source_of_system(name: str, registered: Iterable[InstructionSource]) -> InstructionSource:
    """
    Return the source of a part of the system text: the registered one with that name, otherwise the built-in one.

    Raises SourceError for an unknown one, and for one that cannot own system text.
    """
    if name in _ELSEWHERE or ":" in name:
        why = "cannot own system text" if name in _ELSEWHERE else "has a colon in its name"
        raise SourceError(f"source {name!r} {why}; expected a registered or built-in source")
    known = {source.name: source for source in (*READY_MADE_SOURCES, *registered)}
    if name not in known:
        raise SourceError(f"unknown source {name!r}; known: {sorted(known.keys() - _ELSEWHERE)}")
    return known[name]


@attrs.frozen
class Private:
    """
    Texts that no shared layer may contain, by name. They are not stored, and no message repeats them.

    Attributes:
        values: The strings, by name.

    """

    values: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    def updated(self, values: Mapping[str, str]) -> Private:
        """
        Return these values with others added or replaced; an empty text removes a name. Raises SourceError for texts
        that cannot be matched.
        """
        for name, value in values.items():
            if not isinstance(value, str):
                raise SourceError(f"private {name}: expected a text, got {type(value).__name__}")
            if value.strip() and len(value.strip()) < SHORTEST_PRIVATE:
                raise SourceError(f"private {name}: expected at least {SHORTEST_PRIVATE} letters, got {len(value)}")
        merged = {**self.values, **values}
        return Private({name: value.strip() for name, value in merged.items() if value.strip()})

    def of(self, directory: Path, session: str) -> Private:
        """Return these with the session's directory and id. A directory right below the root is shared by many."""
        own = {"the session's id": session} if session else {}
        if len(directory.parts) >= _FEWEST_NAMES:
            own["the session's directory"] = str(directory)
        return Private({**self.values, **own})

    def check(self, part: str, layer: int, texts: Iterable[str]) -> None:
        """Raise SourceError, naming part, layer and value, when a text contains one as a whole word."""
        texts = tuple(texts)
        for name, value in self.values.items():
            word = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
            if any(word.search(text) for text in texts):
                raise SourceError(
                    f"{part} (layer {layer}) contains a private value: {name}. Layers below {USER.layer} are shared by"
                    f" all sessions, which read them from the cache; put it in a part of {USER.name!r}, or at"
                    " the end of a request: enrich(), memory()"
                )


def strings_of(value: Any) -> Iterator[str]:
    """Return the keys and texts inside a tool schema."""
    return (each for each in keys_and_values(value) if isinstance(each, str))
