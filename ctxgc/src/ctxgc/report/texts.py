"""The texts of a report, once each, and which items were in the window when."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Iterator, Sequence

import attrs

from ctxgc.report.values import ReportItem, Share, Stay
from gc_core.values.items import Form, Item, ItemKind
from gc_core.values.messages import Message
from gc_core.window.context import Context, Schema

_OWN = frozenset({ItemKind.SUMMARY, ItemKind.TRACE})


class Texts:
    """Gives every text a place; the same text has the same one."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        """Return the place of a text."""
        return self._places.setdefault(text, len(self._places))

    def all(self) -> tuple[str, ...]:
        """Return the texts, in the order of their places."""
        return tuple(self._places)


@attrs.define(kw_only=True)
class _Known:
    """An item, and when it was in the window."""

    item: Item
    original: int
    stays: list[Stay] = attrs.Factory(list)
    since: int = 0
    now: Item | None = None


class Presence:
    """
    Follows which items are in the window, moment by moment.

    Only changed messages are read: a moment costs what has changed, and a comparison of the window's message ids.
    """

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._items: dict[str, _Known] = {}
        self._messages: dict[str, Message] = {}
        self._head: tuple[Item, ...] = ()
        self._schemas: tuple[Schema, ...] = ()
        self._kinds: dict[str, int] = {}

    def arrived(self, item: Item, text: str) -> None:
        """Record the arrival of an item with this text; a known item keeps its first text."""
        if item.id not in self._items:
            self._items[item.id] = _Known(item=item, original=self._texts.place(text))

    def see(self, context: Context, moment: int) -> None:
        """Record the window at a moment."""
        head = context.head_items()
        if len(head) != len(self._head) or any(map(operator.is_not, head, self._head)):
            self._follow(_head_items(self._head, self._schemas), _head_items(head, context.schemas), moment)
            self._head, self._schemas = head, context.schemas
        now = {message.id: message for message in context.messages}
        removed = [self._messages[key] for key in self._messages.keys() - now.keys()]
        new = [message for key, message in now.items() if self._messages.get(key) is not message]
        before = [self._messages[message.id] for message in new if message.id in self._messages]
        self._follow(_items_of([*removed, *before]), _items_of(new), moment)
        self._messages = now

    def kinds(self) -> tuple[Share, ...]:
        """Return the tokens of the window by kind, as last recorded."""
        return tuple(Share(name=name, tokens=tokens) for name, tokens in self._kinds.items() if tokens)

    def items(self, end: int) -> tuple[ReportItem, ...]:
        """Return every item; the resident ones have a stay that ends at this moment."""
        for known in self._items.values():
            self._close(known, end)
        return tuple(map(_report_item, self._items.values()))

    # -- inside --------------------------------------------------------------------------------------------------------

    def _follow(self, before: Iterable[Item], after: Iterable[Item], moment: int) -> None:
        now = {item.id: item for item in after}
        for item in before:
            if item.id not in now:
                self._close(self._items[item.id], moment - 1)
        for item in now.values():
            self._extend_stay(item, moment)

    def _extend_stay(self, item: Item, moment: int) -> None:
        self.arrived(item, item.text)
        known = self._items[item.id]
        if known.now is not None and _looks(known.now) == _looks(item):
            return
        self._close(known, moment - 1)
        known.now, known.since = item, moment
        self._count(item, item.tokens)

    def _close(self, known: _Known, last: int) -> None:
        item, known.now = known.now, None
        if item is None:
            return
        self._count(item, -item.tokens)
        if last < known.since:
            return  # it came and went between two moments
        whole = item.form is Form.WHOLE and not item.synthetic and item.source == known.item.source
        text = known.original if whole and item.turn >= 0 else self._texts.place(item.text)
        known.stays.append(
            Stay(
                first=known.since,
                last=last,
                tokens=item.tokens,
                policy=item.policy.value,
                pinned=item.pinned,
                form=item.form.value,
                text=text,
            )
        )

    def _count(self, item: Item, tokens: int) -> None:
        kind = kind_of(item)
        self._kinds[kind] = self._kinds.get(kind, 0) + tokens


def kind_of(item: Item) -> str:
    """Return what an item is in a chart."""
    return "stub" if item.form is Form.STUB and item.kind not in _OWN else item.kind.value


def schema_text(schema: Schema) -> str:
    """Return a tool schema as people read it."""
    return json.dumps(schema.payload, indent=2, ensure_ascii=False)


def _head_items(head: Iterable[Item], schemas: Iterable[Schema]) -> Iterator[Item]:
    """Return the items before the conversation, those of schemas with their text."""
    texts = {schema.item.id: schema_text(schema) for schema in schemas}
    return (attrs.evolve(item, text=texts[item.id]) if item.id in texts else item for item in head)


def _items_of(messages: Sequence[Message]) -> Iterator[Item]:
    for message in messages:
        yield from message.items


def _looks(item: Item) -> tuple[object, ...]:
    return item.tokens, item.policy, item.pinned, item.form, item.text


def _report_item(known: _Known) -> ReportItem:
    item = known.item
    return ReportItem(
        id=item.id,
        kind=item.kind.value,
        name=item.name,
        source=item.source,
        turn=item.turn,
        tokens=item.original_tokens,
        synthetic=item.synthetic,
        original=known.original,
        stays=tuple(known.stays),
    )
