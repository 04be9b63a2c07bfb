"""Changes of system text and tool schemas, which stand at the head of the prefix and wait for a break of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import attrs

from gc_core.context import Context, Edits
from gc_core.items import ItemKind
from gc_core.messages import Payload
from gc_core.policy import GCPolicy


@attrs.frozen(kw_only=True)
class Changes:
    """
    What the host changed at the head of the request, until it takes effect.

    Attributes:
        parts: Texts and policies of the system text's parts, by name; an empty text removes a part.
        schemas: All tool schemas, and the names of those that are discoverable; None when they stay.

    """

    parts: Mapping[str, tuple[str, GCPolicy]] = attrs.field(factory=dict)
    schemas: tuple[tuple[Payload, ...], frozenset[str]] | None = None

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self.parts) or self.schemas is not None

    def system(self, parts: Mapping[str, str], policy: GCPolicy) -> Self:
        """These, and named parts of the system text with these texts."""
        return attrs.evolve(self, parts={**self.parts, **{name: (text, policy) for name, text in parts.items()}})

    def tools(self, schemas: tuple[Payload, ...], discoverable: frozenset[str]) -> Self:
        """These, with other tool schemas."""
        return attrs.evolve(self, schemas=(schemas, discoverable))

    def applied_to(self, context: Context, *, unbind: bool = False) -> Context:
        """
        Another context in which they are carried out, or the same one when nothing waits.

        With ``unbind``, all thinking goes: it was bound to the head of the request as it was (rule N3b). Raises
        SourceError when they cannot be carried out; the context given is never changed.
        """
        if not self:
            return context
        bound = (item.id for item in context.items() if unbind and item.kind is ItemKind.THINKING)
        changed = context.edited(Edits(dropped=frozenset(bound)))
        changed.set_system(self.parts)
        if self.schemas is not None:
            changed.set_tools(*self.schemas)
        return changed
