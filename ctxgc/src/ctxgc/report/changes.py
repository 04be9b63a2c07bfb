"""The effect of a ledger record on the window, for a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from ctxgc.report.texts import Texts
from ctxgc.report.values import Change, Removal, Replacement
from gc_core.storage.ledger import Collected, Configured, LedgerRecord, Rewound, Undone
from gc_core.values.items import Form, Item, ItemKind, number_of
from gc_core.values.messages import Message
from gc_core.values.removals import Drop, GCRemovalItem, Stub
from gc_core.window.context import Context

_OWN = frozenset({ItemKind.SUMMARY, ItemKind.TRACE})


@attrs.frozen(kw_only=True)
class Window:
    """
    The window before or after a record.

    Attributes:
        messages: Its messages.
        head: The content before them, for comparison.
        tokens: Tokens of the request.

    """

    messages: tuple[Message, ...]
    head: tuple[object, ...]
    tokens: int

    @classmethod
    def of(cls, context: Context) -> Window:
        """Return the current window."""
        return cls(
            messages=context.messages,
            head=(*((item.id, item.text) for item in context.system), *(schema.payload for schema in context.schemas)),
            tokens=context.budget.total,
        )

    def cached(self, before: Window | None) -> int:
        """Return the tokens at the head of another window too, in whole messages and in cacheable form."""
        return 0 if before is None or before.head != self.head else self.tokens - self.tokens_after_change(before)

    def tokens_after_change(self, before: Window) -> int:
        """Return the tokens from the first message on that another window does not have in its place."""
        same = 0
        for mine, its in zip(self.messages, before.messages, strict=False):
            if mine is not its and mine.digest != its.digest:
                break
            same += 1
        changed = self.messages[same:]
        return sum(message.overhead + sum(item.tokens for item in message.items) for message in changed)


def is_change(record: LedgerRecord) -> bool:
    """Return whether a report shows such a record."""
    return isinstance(record, Collected | Undone | Rewound | Configured)


def change_of(record: LedgerRecord, before: Window, after: Window, texts: Texts) -> Change:
    """Return what a record did; numbers, times and prices are added by the caller."""
    rewritten = after.tokens_after_change(before) if after.head == before.head else after.tokens
    change = Change(
        number=0,
        what="",
        time=0.0,
        before=0,
        reason="",
        tokens_before=before.tokens,
        tokens_after=after.tokens,
        rewritten=rewritten,
    )
    match record:
        case Collected(reason=None):
            return attrs.evolve(change, what="restored", reason="an item was brought back")
        case Collected(reason=reason) if reason is not None:
            return attrs.evolve(
                change,
                what="collected",
                reason=reason.value,
                target=record.target_tokens,
                schemas=tuple(str(_name_of(schema)) for schema in record.schemas),
                removals=tuple(_removals(record, before, after, texts)),
            )
        case Undone(redone=redone):
            what = "redone" if redone else "undone"
            return attrs.evolve(change, what=what, reason=f"the collection at byte {record.place.start} of the ledger")
        case Rewound(why=why):
            return attrs.evolve(change, what="rewound", reason=why)
        case _:
            return attrs.evolve(change, what="configured", reason="another model, window or limit of what may be spent")


def _name_of(schema: object) -> object:
    """Return a schema's name, in the shape of any format."""
    inner = schema.get("function", schema) if isinstance(schema, dict) else {}
    return inner.get("name", "?") if isinstance(inner, dict) else "?"


def _removals(record: Collected, before: Window, after: Window, texts: Texts) -> Iterator[Removal]:
    there = {item.id: item for message in after.messages for item in message.items}
    own = [item for item in there.values() if item.kind in _OWN and item.reference is not None]
    taken: set[str] = set()
    for removal in record.removals:
        taken.update(removal.items)
        replacements = tuple(_replacements(removal, there, own, texts))
        yield Removal(
            action=_action(removal),
            reason=removal.reason,
            phase=removal.phase,
            strategy=removal.strategy,
            freed=removal.tokens_freed,
            items=removal.items,
            replacements=replacements,
        )
    resident = (item for message in before.messages for item in message.items)
    rest = tuple(item for item in resident if item.id not in there and item.id not in taken and item.kind not in _OWN)
    if rest:
        reason = "the content it was bound to changed before it"
        freed = sum(item.tokens for item in rest)
        yield Removal(action="with it", reason=reason, freed=freed, items=tuple(item.id for item in rest))


def _action(removal: GCRemovalItem) -> str:
    match removal.action:
        case Drop():
            return "drop"
        case Stub():
            return "stub"
        case _:
            return "summarize"


def _replacements(
    removal: GCRemovalItem, there: dict[str, Item], own: Iterable[Item], texts: Texts
) -> Iterator[Replacement]:
    """Yield the stubs of its items, and the traces and summaries that cover them."""
    left = set()
    for key in removal.items:
        item = there.get(key)
        if item is None:
            left.add(number_of(key))
        elif item.form is Form.STUB:
            yield Replacement(item=key, kind="stub", text=texts.place(item.text))
    for item in own:
        reference = item.reference
        if reference is not None and any(
            number_of(reference.first) <= number <= number_of(reference.last) for number in left
        ):
            yield Replacement(item=item.id, kind=item.kind.value, text=texts.place(item.text))
