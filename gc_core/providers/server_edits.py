"""
Content that a provider leaves out of a request on demand, and its reports about it.

It does so for each request again, with the whole history sent again: a report describes one request, and the next one
replaces it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from gc_core.errors import ConfigError
from gc_core.values.items import Item, ItemKind
from gc_core.values.messages import Message
from gc_core.values.provider_edits import ProviderEdits

PLACEHOLDER: Final = "[cleared]"
"""The tokens that a cleared result counts: a provider puts a placeholder there, whose text it need not publish."""


@attrs.frozen(kw_only=True)
class ServerEdits:
    """
    The content left out of one request.

    Attributes:
        tool_uses: Calls whose results were cleared, the oldest ones.
        thinking_turns: Replies whose thinking was cleared, the oldest ones.
        dropped: Blocks of thinking that were dropped individually, each as its message and its place in it.
        tokens: Input tokens that the provider says were cleared.

    """

    tool_uses: int = 0
    thinking_turns: int = 0
    dropped: tuple[tuple[int, int], ...] = ()
    tokens: int = 0

    @property
    def is_empty(self) -> bool:
        """True if nothing was left out."""
        return not (self.tool_uses or self.thinking_turns or self.dropped)


@attrs.frozen(kw_only=True)
class ServerConfig:
    """
    The tools whose results the provider does not clear.

    Attributes:
        excluded: Names of tools whose results are never cleared.
        inputs: Tools whose arguments are cleared with their results: all (True), none (False), or these.

    """

    excluded: frozenset[str] = frozenset()
    inputs: bool | frozenset[str] = False

    def clears_input(self, name: str) -> bool:
        """Return whether the arguments of a call of this tool are cleared with its result."""
        return self.inputs if isinstance(self.inputs, bool) else name in self.inputs


def _no_options(edits: ProviderEdits, usable: int, spared: Iterable[str]) -> dict[str, Any]:  # noqa: ARG001
    return {}


def _no_config(options: Mapping[str, Any], by_host: Mapping[str, Any] | None) -> ServerConfig:  # noqa: ARG001
    return ServerConfig()


@attrs.frozen(kw_only=True)
class ServerSide:
    """
    How a provider is asked to edit the window by itself; by default it cannot.

    Attributes:
        keys: The supported keys of ``GCConfig.provider_edits``.
        least_compaction: Input tokens below which it accepts no compaction trigger.
        options: Returns the options that request the edits, given the usable tokens and the names of the tools whose
            results must not be cleared.
        config: Returns the tools it does not clear, given these options and the ``context_management`` that the host
            sends. Raises SourceError for an invalid one.

    """

    keys: frozenset[str] = frozenset()
    least_compaction: int = 0
    options: Callable[[ProviderEdits, int, Iterable[str]], dict[str, Any]] = _no_options
    config: Callable[[Mapping[str, Any], Mapping[str, Any] | None], ServerConfig] = _no_config

    def check(self, edits: ProviderEdits, format: str, usable: int) -> None:  # noqa: A002 - the session's own word
        """Raise ConfigError for edits that the provider of this format does not support, or not at this size."""
        for name in edits.asked:
            if name not in self.keys:
                raise ConfigError(f"provider_edits.{name}: not supported by the format {format!r}")
        least = edits.compact_percent and int(usable * edits.compact_percent / 100)
        if least is not None and least < self.least_compaction:
            raise ConfigError(
                f"provider_edits.compact_percent = {edits.compact_percent}: {least:,} of {usable:,} tokens; the"
                f" provider compacts at {self.least_compaction:,} or more"
            )


NO_SERVER_EDITS: Final = ServerSide()


def left_out(edits: ServerEdits, messages: Sequence[Message], config: ServerConfig) -> frozenset[str]:
    """Return the ids of the items that the provider left out of the request with these messages."""
    found = {item.id for item in _cleared(edits, messages, config)}
    found.update(item.id for item in _thinking(messages, edits.thinking_turns))
    for index, place in edits.dropped:
        if index < len(messages) and place < len(messages[index].items):
            found.add(messages[index].items[place].id)
    return frozenset(found)


def _cleared(edits: ServerEdits, messages: Iterable[Message], config: ServerConfig) -> Iterator[Item]:
    """Yield the oldest results, and the calls they answer if arguments are cleared too."""
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
    """Yield the thinking of the oldest replies that have any."""
    for message in messages if turns > 0 else ():
        thinking = [item for item in message.items if item.kind is ItemKind.THINKING]
        if thinking:
            if turns <= 0:
                return
            turns -= 1
            yield from thinking
