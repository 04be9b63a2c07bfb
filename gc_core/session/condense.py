"""
Replaces tool results with short notes, before they are sent or later: each becomes a stub whose text the host gives.

Like every collection it is one record of the ledger, and the log keeps the originals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import attrs

from gc_core.collector.last_resort import equal_cap
from gc_core.errors import SourceError
from gc_core.providers.contract import TokenCounter
from gc_core.providers.token_counting import part_tokens
from gc_core.relevance.name_scan import scan
from gc_core.session.collection_runner import CollectionRunner
from gc_core.session.inbox import Inbox
from gc_core.session.runtime import Runtime
from gc_core.storage.state import first_difference
from gc_core.values.escaping import escaped
from gc_core.values.framing import framed, is_framed_result, unframed
from gc_core.values.items import Form, Item, ItemKind, Part, Unit, number_of
from gc_core.values.policy import GCPolicy
from gc_core.values.references import Reference
from gc_core.values.removals import GCRemovalItem
from gc_core.values.results import GCResult, GCTriggerReason, Goal, Refusal
from gc_core.window.collection_outcome import CollectionOutcome
from gc_core.window.context import Context, Edits, NewText
from gc_core.window.plan import Plan
from gc_core.window.stubs import reference_to, write_stub

NAME = "condense"
"""The name that reports use in the place of a strategy's."""


class Condenser:
    """Replaces tool results with notes."""

    def __init__(self, runtime: Runtime, inbox: Inbox, collections: CollectionRunner) -> None:
        self._runtime = runtime
        self._inbox = inbox
        self._collections = collections

    def condense(self, texts: Mapping[str, str | int], *, cap: int | None = None) -> GCResult:
        """Replace tool results with notes; see ``GCSession.condense``."""
        if not isinstance(texts, Mapping):
            raise SourceError(f"texts = {texts!r:.200}: expected a note, or a number of tokens, by item id")
        results = {key: self._result(key, text) for key, text in texts.items()}
        if self._runtime.plugins.redacts:
            texts = {
                key: self._runtime.plugins.redact(text) if isinstance(text, str) else text
                for key, text in texts.items()
            }
        if cap is not None and (type(cap) is not int or cap < 1):
            raise SourceError(f"cap = {cap!r}: expected a whole number of at least 1")
        notes = _Notes(
            self._runtime.context, {unit.number: unit for unit in self._collections.view().units}, self._runtime.counter
        )
        unsent = all(self._inbox.is_unsent(item) for item in results.values())
        collected = self._noted(notes, texts, cap, unsent=unsent)
        goal = collected.plan.goal
        with self._collections.announced(goal):
            collected = self._passed(collected, notes, texts, cap, unsent=unsent)
            if collected.context is collected.of:
                self._collections.announce_deferred(collected.result)
                return collected.result
            self._collections.collector.check(self._runtime.context, collected.context, last_resort=True)
            if not unsent:
                changed = self._runtime.state.changed(self._runtime.state.changes, collected.context)
                collected = attrs.evolve(collected, context=changed)
        self._runtime.recorder.commit(collected, collected.context)
        self._collections.announce_collected(collected.result)
        return collected.result

    # -- inside --------------------------------------------------------------------------------------------------

    def _result(self, key: str, text: object) -> Item:
        item = self._inbox.resident(key)
        if item.kind is not ItemKind.TOOL_RESULT:
            raise SourceError(f"item {key!r} is a {item.kind.value}; only a tool result can be condensed")
        if not (type(text) is int and text >= 0) and not (isinstance(text, str) and text.strip()):
            raise SourceError(f"{key} = {text!r:.200}: expected the text of a note, or a number of tokens")
        return item

    def _passed(
        self,
        collected: CollectionOutcome,
        notes: _Notes,
        texts: Mapping[str, str | int],
        cap: int | None,
        *,
        unsent: bool,
    ) -> CollectionOutcome:
        """Return the outcome without the removals that a review refused."""
        refused: tuple[Refusal, ...] = ()
        while collected.plan.removals:
            answers = self._runtime.plugins.review(collected.plan)
            named = {each for answer in answers for each in answer.removal.items}
            if named.isdisjoint(collected.plan.edits.texts):
                break
            refused += answers
            texts = {key: text for key, text in texts.items() if key not in named}
            collected = self._noted(notes, texts, cap, unsent=unsent, refused=refused)
        return collected

    def _noted(
        self,
        notes: _Notes,
        texts: Mapping[str, str | int],
        cap: int | None,
        *,
        unsent: bool,
        refused: Sequence[Refusal] = (),
    ) -> CollectionOutcome:
        """Return the window with the notes, without changing anything yet."""
        before = self._runtime.context
        written, refusals = notes.written(texts, cap)
        edits = Edits(texts=written, dropped=self._bound_thinking_after(written))
        after = before.edited(edits) if written else before
        removals = tuple(_removal(notes.item(key), text) for key, text in written.items())
        goal = Goal(target_tokens=after.budget.total, reason=GCTriggerReason.MANUAL)
        plan = Plan(goal=goal, removals=removals, refusals=refusals, edits=edits, tokens=after.budget.total)
        place = first_difference(before, after) if written else -1
        result = GCResult(
            reason=goal.reason,
            tokens_before=before.budget.total,
            tokens_after=after.budget.total,
            target_tokens=goal.target_tokens,
            removals=removals,
            refusals=(*refusals, *refused),
            note=_note(refusals, place, unsent=unsent, changed=bool(written)),
            earliest_change=place,
        )
        return CollectionOutcome(context=after, plan=plan, result=result, of=before, keeps_head=unsent)

    def _bound_thinking_after(self, texts: Collection[str]) -> frozenset[str]:
        """Return thinking after the first change, if the model binds it to what precedes it (N3b)."""
        if not texts or not self._runtime.state.binds_thinking:
            return frozenset()
        messages = self._runtime.context.messages
        first = next(at for at, message in enumerate(messages) if any(item.id in texts for item in message.items))
        later = (item for message in messages[first:] for item in message.items)
        return frozenset(item.id for item in later if item.kind is ItemKind.THINKING)


@attrs.frozen
class _Notes:
    """Writes the texts that replace results."""

    context: Context
    units: Mapping[int, Unit]
    counter: TokenCounter

    def item(self, key: str) -> Item:
        """Return a resident item."""
        found = self.context.find(key)
        assert found is not None  # noqa: S101 - the session has checked
        return found

    def written(
        self, texts: Mapping[str, str | int], cap: int | None
    ) -> tuple[dict[str, NewText], tuple[Refusal, ...]]:
        """Return the texts that are smaller than their originals, and why the others were left out."""
        refusals = []
        asked: dict[str, str | int] = {}
        held = 0
        for key, text in texts.items():
            why = self._why_not(self.item(key))
            if why:
                refusals.append(Refusal(removal=_removal(self.item(key)), why=why))
                held += self.item(key).tokens
            else:
                asked[key] = text
        size = None if cap is None else self._size(asked, cap - held)
        written = {}
        for key, new in self._in(asked, size).items():
            if new.tokens < self.item(key).tokens:
                written[key] = new
            elif isinstance(asked[key], str):
                refusals.append(Refusal(removal=_removal(self.item(key)), why="a note would not be smaller"))
        return written, tuple(refusals)

    def _why_not(self, item: Item) -> str:
        unit = self.units[item.unit]
        if item.pinned or unit.pinned:
            return f"item {item.id} is pinned"
        if unit.pending:
            return f"unit {unit.number} waits for a result"
        if item.policy is not GCPolicy.EPHEMERAL or item.form is not Form.WHOLE:
            return f"item {item.id} cannot be condensed ({item.policy.value}, {item.form.value})"
        return ""

    def _size(self, asked: Mapping[str, str | int], cap: int) -> int:
        """Return the size to which the longer texts are cut so that all of them fill the cap; shorter ones stay."""
        least = {key: self._smallest(self.item(key)) for key in asked}
        wanted = {key: self._wanted(self.item(key), text) for key, text in asked.items()}
        free = set(asked)
        while True:
            room = cap - sum(least[key] for key in asked if key not in free)
            size = equal_cap([wanted[key] for key in free], room) if free else 0
            short = {key for key in free if least[key] > size}
            if not short:
                return size
            free -= short

    def _wanted(self, item: Item, text: str | int) -> int:
        if isinstance(text, int):
            return min(max(text, self._smallest(item)), item.tokens)
        return min(self._tokens(item, self._noted(item, escaped(text))), item.tokens)

    def _smallest(self, item: Item) -> int:
        return min(item.tokens, self._tokens(item, self._noted(item)))

    def _in(self, asked: Mapping[str, str | int], size: int | None) -> dict[str, NewText]:
        """Return the texts, newest first: each keeps what would otherwise be missing from the window."""
        shown = {name for item in self.context.items() if item.id not in asked for name in item.scan.names}
        texts = {}
        for key in sorted(asked, key=number_of, reverse=True):
            item, text = self.item(key), asked[key]
            new = self._text(item, text, size, shown)
            texts[key] = new
            shown |= item.scan.names if new.tokens >= item.tokens else new.scan.names
        return {key: texts[key] for key in asked}

    def _text(self, item: Item, text: str | int, size: int | None, shown: set[str]) -> NewText:
        if isinstance(text, int):
            limit = text if size is None else min(text, size)
            if limit >= item.tokens:
                return self._new(item, item.text)
            return self._cut(item, unframed(item), limit, shown)
        whole = self._noted(item, escaped(text))
        if size is None or self._tokens(item, whole) <= size:
            return self._new(item, whole)
        return self._cut(item, escaped(text), size, shown)

    def _cut(self, item: Item, text: str, limit: int, shown: set[str]) -> NewText:
        """Return the important lines of a text, with head and tail, since it has not been read yet."""
        whole = framed(item, text)
        cut = attrs.evolve(item, text=whole, tokens=max(1, self.counter.count(whole)), scan=scan(whole))
        stub = write_stub(cut, limit, self.counter, shown, ends=True, reference=self._reference(item))
        return self._new(item, stub.text)

    def _new(self, item: Item, text: str) -> NewText:
        return NewText(text=text, tokens=self._tokens(item, text), reference=self._reference(item), scan=scan(text))

    def _noted(self, item: Item, *texts: str) -> str:
        return framed(item, "\n".join([*texts, self._reference(item).stub_text()]))

    def _tokens(self, item: Item, text: str) -> int:
        kind = ItemKind.USER_TEXT if is_framed_result(item) else item.kind
        return part_tokens(Part(kind=kind, place=(), text=text), self.counter)

    def _reference(self, item: Item) -> Reference:
        call = self.context.find(item.call) if item.call else None
        context = self.context
        return reference_to(item, call, cites=context.cites, recalls=context.recalls, form=context.recall_form)


def _removal(item: Item, text: NewText | None = None) -> GCRemovalItem:
    keep = 0.0 if text is None else text.tokens / item.tokens
    removal = GCRemovalItem.stub(item, keep=keep, reason="a note stands for it", phase=NAME)
    return attrs.evolve(removal, strategy=NAME, tokens_freed=0 if text is None else item.tokens - text.tokens)


def _note(refusals: Iterable[Refusal], place: int, *, unsent: bool, changed: bool) -> str:
    if changed:
        return "" if unsent else f"what was sent changed: the prompt cache holds up to message {place}"
    reasons = sorted({refusal.why for refusal in refusals})
    return f"nothing was condensed: {reasons[0]}" if reasons else "nothing was condensed: all is short enough"
