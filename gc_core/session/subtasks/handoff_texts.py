"""The texts that a handed-off session starts with; each id in them names its session."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

import attrs

from gc_core.errors import ConfigError
from gc_core.task.values import REQUEST, StateCursor, TaskState
from gc_core.values.config import GCConfig
from gc_core.values.items import Item, number_of
from gc_core.values.json_values import Path, key_of, read_json, rebuilt
from gc_core.values.layers import SystemPart
from gc_core.values.messages import Payload
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import InstructionSource

HANDOFF: Final = InstructionSource(name="handoff", policy=GCPolicy.PRESERVABLE, layer=85)
"""Holds the summary of the work before a session began."""

ACCOUNT: Final = "account"
"""The name of its block."""

TAG_CHARS: Final = 6
"""
Characters of a session's id after an item's: ``i42@5f3a9c``. Two of a hundred sessions share them
once in 3,000 times.
"""

LEAST_ACCOUNT: Final = 120
"""The least tokens of a summary: fewer would say almost nothing besides its frame."""

Filter = Callable[[str, str], bool] | Collection[str] | None
"""The sources that a session needs: a function of source and name, or the names of sources; None: all."""

OTHER: Final = re.compile(rf"\b(?P<ids>i\d{{1,18}}(?:-i\d{{1,18}})?)@(?P<tag>[0-9a-f]{{{TAG_CHARS}}})\b", re.ASCII)
"""Items of another session, as these texts name them."""

_OWN = re.compile(r"\bi(\d{1,18})\b(?!@)", re.ASCII)
_QUOTED = re.compile(r"(“[^”]*”|`[^`]*`)")
_ID_KEYS = frozenset(
    {"item", "last", "also", "superseded_by", "since", "answered_by", "first", "changed", "after_item", "newest"}
)


@attrs.frozen(kw_only=True)
class HandoffOptions:
    """
    The options of a handoff; see ``GCSession.handoff``. Raises ConfigError for an invalid number.

    Attributes:
        name: The name of the sub-task.
        filter: The sources that the child needs.
        config: The child's configuration, or None: its parent's.
        tokens: The most tokens of its opening, as far as fewer steps help; None: the target of its collections.
        steps: The number of newest steps handed on verbatim.
        summary_tokens: Tokens of the summary, and again of the task state.
        result_tokens: Tokens of the parent's window that are reserved for the result; 0: nothing is returned.

    """

    name: str
    filter: Filter
    config: GCConfig | None
    tokens: int | None
    steps: int
    summary_tokens: int
    result_tokens: int

    def __attrs_post_init__(self) -> None:
        """Check the numbers."""
        least = {"steps": 0, "summary_tokens": LEAST_ACCOUNT, "result_tokens": 0}
        for option, number in least.items():
            _check(option, getattr(self, option), number)
        if self.tokens is not None:
            _check("tokens", self.tokens, 1)
        if self.config is not None and not isinstance(self.config, GCConfig):
            raise ConfigError(f"config = {self.config!r:.200}: expected a GCConfig")

    def chooser(self, sources: Iterable[str]) -> Callable[[str, str], bool]:
        """Return a test of whether a part of a source is needed. Raises ConfigError for an unknown source."""
        wanted = self.filter
        if wanted is None:
            return lambda _source, _name: True
        if callable(wanted):
            return lambda source, name: bool(wanted(source, name))
        known = sorted(sources)
        if isinstance(wanted, str) or not isinstance(wanted, Collection):
            raise ConfigError(f"filter = {wanted!r:.200}: expected a function of source and name, or names of {known}")
        unknown = sorted((name for name in wanted if name not in known), key=str)
        if unknown:
            raise ConfigError(f"filter: unknown source {unknown[0]!r}; known: {known}")
        names = frozenset(wanted)
        return lambda source, _name: source in names


def _check(option: str, number: object, least: int) -> None:
    if type(number) is not int or number < least:
        raise ConfigError(f"{option} = {number!r:.200}: expected a whole number of at least {least}")


@attrs.frozen(kw_only=True)
class Opening:
    """
    The content that a child starts with, except its texts.

    Attributes:
        parts: Parts of the system text.
        schemas: Tool schemas.
        discoverable: Names of the schemas that are not core.
        memory: Protected memory blocks: source, name, text.
        request: The messages of the original request.
        newest: The newest steps, as they arrived.
        items: The originals of everything else.
        entries: The summary that the parent itself started with, entry by entry.
        last: Number of the newest item.

    """

    parts: tuple[SystemPart, ...]
    schemas: tuple[Payload, ...]
    discoverable: frozenset[str]
    memory: tuple[tuple[str, str, str], ...]
    request: tuple[Payload, ...]
    newest: tuple[Payload, ...]
    items: tuple[Item, ...] = attrs.field(repr=False)
    entries: tuple[str, ...] = attrs.field(repr=False)
    last: int


def tag_of(session: str) -> str:
    """Return the tag that follows an item's id for items of this session."""
    return session[:TAG_CHARS]


def tagged(line: str, tag: str, last: int) -> str:
    """Return the line with its ids tagged as this session's; quotations stay unchanged."""
    stretches = _QUOTED.split(line)
    stretches[::2] = [_OWN.sub(lambda found: _named(found, tag, last), text) for text in stretches[::2]]
    return "".join(stretches)


def _named(found: re.Match[str], tag: str, last: int) -> str:
    return f"{found[0]}@{tag}" if 0 < int(found[1]) <= last else found[0]


def account(session: str, where: str, items: Sequence[Item], entries: Sequence[str]) -> str:
    """Return the block of the summary: a heading, the entries, and where the rest is."""
    tag = tag_of(session)
    head = (
        f"An account of what was said and done before this session began; no instructions. i1@{tag} is an item of"
        f" session {session}: recall takes such an id."
    )
    return "\n".join([head, *entries, *_rest(session, where, items)])


def _rest(session: str, where: str, items: Sequence[Item]) -> list[str]:
    if not items:
        return []
    numbers, turns = [number_of(item.id) for item in items], [item.turn for item in items]
    tokens = sum(item.original_tokens for item in items)
    covered = f"turns {min(turns)}-{max(turns)}, i{min(numbers)}-i{max(numbers)}@{tag_of(session)}"
    place = f"; its log is {where}" if where else ""
    return [f"[gc: {tokens:,} tokens left out here: {covered} of session {session}{place}]"]


def inherited(state: TaskState, tag: str) -> TaskState:
    """
    Return the state as another session continues with it: its references name the earlier session, and its turns none
    of the new one. Entries that only make sense inside a turn are left out.
    """
    entities = {name: each for name, each in state.entities.items() if each.kind != REQUEST}
    cursor = StateCursor(newest=state.cursor.newest)
    saved = read_json(attrs.evolve(state, entities=entities, cursor=cursor).to_json())
    return TaskState.from_json(json.dumps(rebuilt(saved, functools.partial(_inherited_value, tag)), ensure_ascii=False))


def _inherited_value(tag: str, path: Path, value: Any) -> Any:
    key = key_of(path)
    if key == "turn":
        return -1
    if key in _ID_KEYS and isinstance(value, str) and _OWN.fullmatch(value):
        return f"{value}@{tag}"
    return value
