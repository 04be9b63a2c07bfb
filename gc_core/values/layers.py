"""
The head of a request in layers, what never changes first: what many sessions share stands before what one alone has.

Everybody who sends the same first bytes reads them from the provider's cache: so a shared layer holds no byte of a user
or of a session.
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
"""How the names of gc-core's own lines in the system text begin; they stand after all other parts."""

SHORTEST_PRIVATE = 3
"""Letters of a private value: shorter ones would be found in half of all texts."""

_ELSEWHERE = frozenset({PLUGIN.name, ENRICHMENT.name, CONVERSATION.name})
_FEWEST_NAMES = 3


@attrs.frozen(kw_only=True)
class SystemPart:
    """
    A named part of the system text.

    Attributes:
        source: The source that it belongs to.
        name: Its name there; two sources may use the same.
        text: What is sent; an empty or blank one removes the part.
        policy: How strongly it is held.

    """

    source: str = SYSTEM.name
    name: str
    text: str = attrs.field(repr=False)
    policy: GCPolicy

    @property
    def key(self) -> str:
        """Id of its item; no source of system text has a colon in its name."""
        return f"{self.source}:{self.name}"


def is_own(source: str, name: str) -> bool:
    """Return whether it is one of gc-core's own lines, which may name the session."""
    return source == SYSTEM.name and name.startswith(OWN)


def is_shared(source: InstructionSource, name: str) -> bool:
    """Return whether a part stands before everything that is a user's or a session's."""
    return source.layer < USER.layer and not is_own(source.name, name)


def source_of_system(name: str, registered: Iterable[InstructionSource]) -> InstructionSource:
    """
    Return the source that a part of the system text may have: the registered one of that name, else the ready-made one.

    Raises SourceError for an unknown one, and for one that cannot own system text.
    """
    if name in _ELSEWHERE or ":" in name:
        why = "cannot own system text" if name in _ELSEWHERE else "has a colon in its name"
        raise SourceError(f"source {name!r} {why}; expected a registered or ready-made source")
    known = {source.name: source for source in (*READY_MADE_SOURCES, *registered)}
    if name not in known:
        raise SourceError(f"no source {name!r}; there are {sorted(known.keys() - _ELSEWHERE)}")
    return known[name]


@attrs.frozen
class Private:
    """
    What no shared layer may hold, by the name under which it is told. No file holds it, and no message repeats it.

    Attributes:
        values: The strings, by name.

    """

    values: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    def told(self, values: Mapping[str, str]) -> Private:
        """These and others; an empty one takes its name back. Raises SourceError for what cannot be looked for."""
        for name, value in values.items():
            if not isinstance(value, str):
                raise SourceError(f"private {name}: expected a text, got {type(value).__name__}")
            if value.strip() and len(value.strip()) < SHORTEST_PRIVATE:
                raise SourceError(f"private {name}: expected at least {SHORTEST_PRIVATE} letters, got {len(value)}")
        merged = {**self.values, **values}
        return Private({name: value.strip() for name, value in merged.items() if value.strip()})

    def of(self, directory: Path, session: str) -> Private:
        """These, the session's directory and its id. A directory right below the root is a place that many share."""
        own = {"the session's id": session} if session else {}
        if len(directory.parts) >= _FEWEST_NAMES:
            own["the session's directory"] = str(directory)
        return Private({**self.values, **own})

    def check(self, part: str, layer: int, texts: Iterable[str]) -> None:
        """Raise SourceError, naming part, layer and value, when a text holds one as a word of its own."""
        texts = tuple(texts)
        for name, value in self.values.items():
            word = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
            if any(word.search(text) for text in texts):
                raise SourceError(
                    f"{part} (layer {layer}) holds a private value: {name}. Layers below {USER.layer} are the same for"
                    f" everybody, so that all read them from the cache; it belongs in a part of {USER.name!r}, or at"
                    " the end of a request: enrich(), memory()"
                )


def strings_of(value: Any) -> Iterator[str]:
    """Return the keys and texts inside a tool schema."""
    return (each for each in keys_and_values(value) if isinstance(each, str))
