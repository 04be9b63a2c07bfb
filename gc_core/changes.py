"""Changes of system text and tool schemas, which stand at the head of the prefix and wait for a break of it."""

from __future__ import annotations

from collections.abc import Mapping

from gc_core.context import Context
from gc_core.messages import Payload
from gc_core.policy import GCPolicy


class Changes:
    """What the host changed at the head of the request, until it takes effect."""

    def __init__(self) -> None:
        self._system: dict[str, tuple[str, GCPolicy]] = {}
        self._tools: tuple[tuple[Payload, ...], frozenset[str]] | None = None

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self._system) or self._tools is not None

    def system(self, parts: Mapping[str, str], policy: GCPolicy) -> None:
        """Named parts of the system text are to have these texts; an empty text removes a part."""
        self._system.update({name: (text, policy) for name, text in parts.items()})

    def tools(self, schemas: tuple[Payload, ...], discoverable: frozenset[str]) -> None:
        """The tool schemas are to be these."""
        self._tools = (schemas, discoverable)

    def take_effect(self, context: Context) -> None:
        """Carry out what waits. Raises SourceError, with nothing changed, when a source would pass its cap."""
        if self._system:
            context.set_system(self._system)
            self._system = {}
        if self._tools is not None:
            context.set_tools(*self._tools)
            self._tools = None
