"""Changes of system text and tool schemas, at the head of the prefix, which wait for a break of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import attrs

from gc_core.events import LayerChanged
from gc_core.providers import provider_named
from gc_core.values.items import Item, ItemKind
from gc_core.values.layers import SystemPart
from gc_core.values.messages import Payload, digest_of
from gc_core.values.sources import PLUGIN
from gc_core.window.context import Context, Edits


@attrs.frozen(kw_only=True)
class Changes:
    """
    The host's changes of the head of the request, until they take effect.

    Attributes:
        parts: Parts of the system text by the ids of their items; an empty text removes one.
        schemas: All tool schemas, and the names of the discoverable ones; None if unchanged.

    """

    parts: Mapping[str, SystemPart] = attrs.field(factory=dict)
    schemas: tuple[tuple[Payload, ...], frozenset[str]] | None = None

    def __bool__(self) -> bool:
        """Return whether anything waits."""
        return bool(self.parts) or self.schemas is not None

    def system(self, parts: Iterable[SystemPart]) -> Self:
        """Return these changes with these parts of the system text."""
        return attrs.evolve(self, parts={**self.parts, **{part.key: part for part in parts}})

    def tools(self, schemas: tuple[Payload, ...], discoverable: frozenset[str]) -> Self:
        """Return these changes with other tool schemas."""
        return attrs.evolve(self, schemas=(schemas, discoverable))

    def merged(self, given: Changes) -> Self:
        """Return these changes with the given ones on top."""
        schemas = self.schemas if given.schemas is None else given.schemas
        return attrs.evolve(self, parts={**self.parts, **given.parts}, schemas=schemas)

    def shares(self, given: Changes) -> bool:
        """Return whether any given change is among these."""
        return bool(self.parts.keys() & given.parts.keys()) or None not in (self.schemas, given.schemas)

    def needed(self, context: Context, *, sent: bool) -> Self:
        """
        Return the changes without those that are in effect. Once something was sent, the same schemas in another order
        are not a change: the order that was sent stays.
        """
        head = context.head
        parts = {key: part for key, part in self.parts.items() if not _is_in_effect(part, head.parts.get(key))}
        schemas = self.schemas
        if schemas is not None and not head.left_out and schemas[1] == head.discoverable:
            given, there = _digests(schemas[0]), _digests(head.schemas)
            if given == there or (sent and sorted(given) == sorted(there)):
                schemas = None
        return attrs.evolve(self, parts=parts, schemas=schemas)

    def applied_to(self, context: Context, *, unbind: bool = False) -> Context:
        """
        Return another context with the changes applied, or the same one if nothing waits.

        With ``unbind``, all thinking is removed: it was bound to the previous head of the request (rule N3b). Raises
        SourceError when they cannot be applied; the given context never changes.
        """
        if not self:
            return context
        bound = (item.id for item in context.items() if unbind and item.kind is ItemKind.THINKING)
        changed = context.edited(Edits(dropped=frozenset(bound)))
        changed.set_system(self.parts.values())
        if self.schemas is not None:
            changed.set_tools(*self.schemas)
        return changed


def layers_changed(
    before: Context,
    after: Context,
    given: Changes,
    *,
    waits: bool,
    format: str,  # noqa: A002 - the session's own word
) -> tuple[LayerChanged, ...]:
    """
    Return what the given layers invalidate, in order: ``before`` is the current window, ``after`` the changed one. A
    text that equals the one sent invalidates nothing.
    """
    schemas = _schemas_changed(before, after, waits=waits, format=format) if given.schemas is not None else ()
    texts, old = ({item.id: item.text for item in context.system} for context in (after, before))
    ordered = dict.fromkeys([*texts, *old])
    changed = [given.parts[key] for key in ordered if key in given.parts and texts.get(key) != old.get(key)]
    return (*schemas, *(_part_changed(part, before, after, waits=waits, format=format) for part in changed))


def _part_changed(
    part: SystemPart,
    before: Context,
    after: Context,
    *,
    waits: bool,
    format: str,  # noqa: A002 - the session's own word
) -> LayerChanged:
    lost = provider_named(format).invalidated_by("system")
    tokens = _tokens(_from(part.key, before.system, after.system)) + _messages(after)
    if "tools" in lost:
        tokens += _tokens(schema.item for schema in after.schemas)
    layer = after.budget.source(part.source).layer
    return LayerChanged(source=part.source, part=part.name, layer=layer, waits=waits, invalidates=lost, tokens=tokens)


def _schemas_changed(
    before: Context,
    after: Context,
    *,
    waits: bool,
    format: str,  # noqa: A002 - the session's own word
) -> tuple[LayerChanged, ...]:
    """Return one change for the whole list: each schema is before the next."""
    old, new = _digests(before.head.schemas), _digests(after.head.schemas)
    if old == new:
        return ()
    same = next((place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    first = min(len(old), len(new)) if same is None else same
    were = {schema.item.name: digest for schema, digest in zip(before.schemas, old, strict=True)}
    are = {schema.item.name: digest for schema, digest in zip(after.schemas, new, strict=True)}
    names = [name for name in {**are, **were} if are.get(name) != were.get(name)]
    moved = [schema.item.name for schema in after.schemas[first:]]
    tokens = _tokens(schema.item for schema in after.schemas[first:]) + _tokens(after.system) + _messages(after)
    changed = LayerChanged(
        source=PLUGIN.name,
        part=", ".join(names or moved),
        layer=PLUGIN.layer,
        waits=waits,
        invalidates=provider_named(format).invalidated_by("tools"),
        tokens=tokens,
    )
    return (changed,)


def _from(key: str, before: Sequence[Item], after: Sequence[Item]) -> Sequence[Item]:
    """Return what is at and after a part; for a removed part, what followed it and still exists."""
    places = [place for place, item in enumerate(after) if item.id == key]
    if places:
        return after[places[0] :]
    after_key = {item.id for item in before[[item.id for item in before].index(key) :]}
    return [item for item in after if item.id in after_key]


def _messages(context: Context) -> int:
    """Return the tokens of everything after the head."""
    head = [*context.system, *(schema.item for schema in context.schemas)]
    return context.budget.total - _tokens(head)


def _tokens(items: Iterable[Item]) -> int:
    return sum(item.tokens for item in items)


def _is_in_effect(part: SystemPart, there: SystemPart | None) -> bool:
    return part == there if part.text.strip() else there is None


def _digests(schemas: Iterable[Payload]) -> list[bytes]:
    return [digest_of(schema) for schema in schemas]
