"""Rules, and the violations that they find."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import attrs

from gc_core.providers.rules.blocks import blocks_of
from gc_core.values.messages import Payload, Request

Blocks = tuple[int, Payload, Sequence[Payload], Sequence[object]]
"""Index of a message, the message, its content blocks, and their types."""


@attrs.frozen(kw_only=True)
class Violation:
    """
    A place where a request breaks a rule.

    Attributes:
        rule: The rule's number, for example ``"N1"``.
        index: Index of the message in the request, or -1 for the request as a whole.
        text: What is wrong, and what was expected.

    """

    rule: str
    index: int
    text: str

    def __str__(self) -> str:
        """Return the violation in one line, for errors."""
        return f"{self.rule} at message {self.index}: {self.text}" if self.index >= 0 else f"{self.rule}: {self.text}"


@attrs.frozen(kw_only=True)
class Rendered:
    """A request under check, and whether its newest calls may still wait for their results."""

    request: Request
    pending: bool
    _by_role: Mapping[object, list[tuple[int, Payload]]] = attrs.field(init=False, repr=False, eq=False)

    @_by_role.default
    def _grouped(self) -> Mapping[object, list[tuple[int, Payload]]]:
        grouped: defaultdict[object, list[tuple[int, Payload]]] = defaultdict(list)
        for index, message in enumerate(self.request.messages):
            grouped[message.get("role")].append((index, message))
        return grouped

    @cached_property
    def blocks(self) -> Sequence[Blocks]:
        """Index, message, its content blocks and their types, for every message: read once for all rules."""
        read = ((index, message, blocks_of(message)) for index, message in enumerate(self.messages))
        return [
            (index, message, blocks, [block.get("type") for block in blocks] if blocks else [])
            for index, message, blocks in read
        ]

    @property
    def messages(self) -> tuple[Payload, ...]:
        """Its messages, oldest first."""
        return self.request.messages

    def by(self, role: str) -> Sequence[tuple[int, Payload]]:
        """Return the messages of this role, each with its index."""
        return self._by_role.get(role, ())


Rule = Callable[[Rendered], Iterable[Violation]]
"""Finds every violation of one rule in a request; O(window)."""
