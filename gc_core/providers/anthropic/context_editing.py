"""
What a provider left out of a request by itself, as its reply tells.

It does so for each request anew, with the whole history sent again: a report stands for one request, and the next one
takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from gc_core.errors import SourceError
from gc_core.providers.server_edits import ServerEdits
from gc_core.values.items import Item, ItemKind
from gc_core.values.messages import Message

PLACEHOLDER: Final = "[cleared]"
"""
What a cleared result is counted as: Anthropic puts a placeholder there, whose words it does not publish (guide to
context editing, August 2026).
"""


@attrs.frozen(kw_only=True)
class ServerConfig:
    """
    What of its ``context_management`` the host told: which tools the provider leaves alone.

    Attributes:
        excluded: Names of tools whose results are never cleared.
        inputs: Tools whose arguments are cleared with their results: all (True), none (False), or these.

    """

    excluded: frozenset[str] = frozenset()
    inputs: bool | frozenset[str] = False

    @classmethod
    def of(cls, context_management: Mapping[str, Any]) -> ServerConfig:
        """Of the value that the host gives to Anthropic's client. Raises SourceError when that is none."""
        edits = context_management.get("edits") if isinstance(context_management, Mapping) else None
        if not isinstance(edits, Sequence) or not all(isinstance(edit, Mapping) for edit in edits):
            raise SourceError(f"context_management = {context_management!r:.200}: expected {{'edits': [...]}}")
        for edit in edits:
            if str(edit.get("type")).startswith("clear_tool_uses"):
                inputs = edit.get("clear_tool_inputs") or False
                named = inputs if isinstance(inputs, bool) else frozenset(inputs)
                return cls(excluded=frozenset(edit.get("exclude_tools") or ()), inputs=named)
        return cls()

    def clears_input(self, name: str) -> bool:
        """Whether the arguments of a call of this tool go with its result."""
        return self.inputs if isinstance(self.inputs, bool) else name in self.inputs


def left_out(edits: ServerEdits, messages: Sequence[Message], config: ServerConfig) -> frozenset[str]:
    """Ids of the items that the provider left out of the request that these messages were."""
    found = {item.id for item in _cleared(edits, messages, config)}
    found.update(item.id for item in _thinking(messages, edits.thinking_turns))
    for index, place in edits.dropped:
        if index < len(messages) and place < len(messages[index].items):
            found.add(messages[index].items[place].id)
    return frozenset(found)


def _cleared(edits: ServerEdits, messages: Iterable[Message], config: ServerConfig) -> Iterator[Item]:
    """The oldest results, and the calls that they answer where arguments are cleared too."""
    left = edits.tool_uses
    calls: dict[str, Item] = {}
    for message in messages:
        for item in message.items:
            if left <= 0:
                return
            if item.kind is ItemKind.TOOL_CALL:
                calls[item.id] = item
            elif item.kind is ItemKind.TOOL_RESULT and item.call and item.name not in config.excluded:
                left -= 1
                yield item
                if config.clears_input(item.name) and item.call in calls:
                    yield calls[item.call]


def _thinking(messages: Iterable[Message], turns: int) -> Iterator[Item]:
    """The thinking of the oldest replies that have some."""
    for message in messages if turns > 0 else ():
        thinking = [item for item in message.items if item.kind is ItemKind.THINKING]
        if thinking:
            if turns <= 0:
                return
            turns -= 1
            yield from thinking
