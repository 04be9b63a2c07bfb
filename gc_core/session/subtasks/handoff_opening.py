"""The content of a handoff: parts of the head, memory, messages verbatim, and a summary of everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs

from gc_core.collector.summarizing import Steps
from gc_core.relevance.name_scan import scan
from gc_core.session.archive import Archive
from gc_core.session.collection_runner import CollectionRunner
from gc_core.session.history import History
from gc_core.session.runtime import SEAM, Runtime
from gc_core.session.subtasks.handoff_texts import (
    ACCOUNT,
    HANDOFF,
    HandoffOptions,
    Opening,
    account,
    tag_of,
    tagged,
)
from gc_core.storage.master_log import FILE_NAME, LogRecord
from gc_core.values.config import GCConfig
from gc_core.values.items import Form, Item, ItemKind, Level, Unit
from gc_core.values.layers import SystemPart, is_own
from gc_core.values.messages import Payload
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import CONVERSATION, PLUGIN, SYSTEM, TASK_STATE
from gc_core.values.summary import BULLET, SummaryForm, SummaryRequest, entries_of
from gc_core.window.compaction_carryover import carried
from gc_core.window.context import Context

_SAID = frozenset({ItemKind.USER_TEXT, ItemKind.ATTACHMENT, ItemKind.OPAQUE})


class OpeningWriter:
    """
    Chooses and writes what a child starts with.

    Args:
        runtime: The parent's.
        archive: Reads originals.
        history: Recalls the parent's messages.
        collections: Provides the summarizer.

    """

    def __init__(self, runtime: Runtime, archive: Archive, history: History, collections: CollectionRunner) -> None:
        self._runtime = runtime
        self._archive = archive
        self._history = history
        self._collections = collections

    def opening(self, wish: HandoffOptions, config: GCConfig) -> Opening:
        """Return what is handed on verbatim, and what the summary is to be written from."""
        context = self._runtime.state.changed(self._runtime.state.changes, self._runtime.context)
        wants = wish.chooser(source.name for source in self._runtime.context.budget.sources)
        request, rest = _split(self._runtime.context)
        newest = self._newest(rest, wish, config, request)
        stays = {unit.number for unit in (*request, *newest)}
        older = [unit for unit in rest if unit.number not in stays and not unit.pending]
        head = context.head
        schemas = tuple(each for each in head.schemas if wants(PLUGIN.name, self._runtime.format.schema_name(each)))
        names = {self._runtime.format.schema_name(each) for each in schemas}
        return Opening(
            parts=tuple(self._parts_wanted(context, wants)),
            schemas=schemas,
            discoverable=head.discoverable & names,
            memory=tuple(self._memory_wanted(wants)),
            request=tuple(self._payloads(request)),
            newest=tuple(self._payloads(newest)),
            items=tuple(item for unit in older for item in self._originals_of(unit)),
            entries=tuple(self._entries(older)),
            last=self._runtime.context.cursor.items,
        )

    def _parts_wanted(self, context: Context, wants: Callable[[str, str], bool]) -> Iterator[SystemPart]:
        """Yield the parts of the system text; system messages in the conversation become one part."""
        for part in context.head.parts.values():
            if not is_own(part.source, part.name) and wants(part.source, part.name):
                yield part
        tag = tag_of(self._runtime.store.session)
        for item in (item for message in context.messages for item in message.items):
            name = f"{item.id}@{tag}"
            if item.kind is ItemKind.SYSTEM_TEXT and item.source == SYSTEM.name and wants(SYSTEM.name, name):
                yield SystemPart(source=SYSTEM.name, name=name, text=item.text, policy=GCPolicy.LOCKED)

    def _memory_wanted(self, wants: Callable[[str, str], bool]) -> Iterator[tuple[str, str, str]]:
        """Yield the newest protected memory blocks, including waiting ones; blocks of handoffs are written again."""
        blocks = self._runtime.state.blocks
        resident = carried(self._runtime.context, blocks, self._runtime.state.pinned_turns)
        found = {(block.source, block.name): block for block in (*resident, *blocks.waiting)}
        for block in found.values():
            policy = block.policy or self._runtime.context.budget.source(block.source).policy
            is_held = block.kind is ItemKind.MEMORY_BLOCK and policy is GCPolicy.LOCKED
            if is_held and block.source not in {HANDOFF.name, TASK_STATE.name} and wants(block.source, block.name):
                yield block.source, block.name, block.text

    def _newest(
        self, rest: Sequence[Unit], wish: HandoffOptions, config: GCConfig, request: Sequence[Unit]
    ) -> list[Unit]:
        """
        Return the newest whole steps with the texts between and after them, and the start of
        the running turn.
        """
        places = [place for place, unit in enumerate(rest) if unit.is_step and not unit.pending]
        room = int(config.usable * config.ends_percent / 100.0) if wish.tokens is None else wish.tokens
        room -= sum(map(_original_tokens, request)) + 2 * wish.summary_tokens
        room -= sum(item.tokens for item in self._runtime.context.head_items())
        taken: list[Unit] = []
        for steps in range(min(wish.steps, len(places)), -1, -1):
            taken = list(self._since(rest, places, steps))
            if steps <= 1 or sum(map(_original_tokens, taken)) <= room:
                break
        return taken

    def _since(self, rest: Sequence[Unit], places: Sequence[int], steps: int) -> Iterator[Unit]:
        cut = places[-steps] if steps else (places[-1] + 1 if places else 0)
        while steps and cut > 0 and _is_said(rest[cut - 1]):
            cut -= 1
        for place, unit in enumerate(rest):
            if unit.pending or unit.is_trace or unit.is_summary or _is_block(unit):
                continue
            if place >= cut or (_is_said(unit) and unit.turn == self._runtime.context.cursor.turn):
                yield unit

    def _payloads(self, units: Iterable[Unit]) -> Iterator[Payload]:
        """Yield messages as they arrived, without what is not of these units; bound thinking stays after (N3b)."""
        binds = self._runtime.state.binds_thinking
        kept = {
            item.id: item.logged
            for unit in units
            for item in unit.items
            if item.logged is not None and not (binds and item.kind is ItemKind.THINKING)
        }
        for place in sorted(set(kept.values()), key=lambda place: place.start):
            record = self._runtime.store.log.read(place)
            payload = self._of_these(record, kept) if record.source == CONVERSATION.name else None
            if payload is not None:
                yield payload

    def _of_these(self, record: LogRecord, kept: Iterable[str]) -> Payload | None:
        payload, wanted = self._runtime.format.normalise(record.payload), frozenset(kept)
        parts = zip(self._runtime.format.read(payload), record.items, strict=True)
        removed = {part.place: None for part, key in parts if key and key not in wanted}
        return self._runtime.format.edit(payload, removed) if removed else record.payload

    # -- inside: the summary -------------------------------------------------------------------------------------------

    def _originals_of(self, unit: Unit) -> Iterator[Item]:
        """Yield the originals of a unit; nothing for a digest, because its entries are copied."""
        if unit.level is Level.DIGEST or _is_block(unit):
            return
        for item in unit.items:
            if unit.is_summary or unit.is_trace:
                if item.reference is not None:
                    yield from self._archive.span(item.reference, 0)
            elif item.form is Form.WHOLE:
                yield item
            else:
                text = self._archive.original(item)
                whole = attrs.evolve(item, text=text, form=Form.WHOLE, reference=None, scan=scan(text))
                yield attrs.evolve(whole, tokens=item.original_tokens)

    def _entries(self, older: Iterable[Unit]) -> Iterator[str]:
        """Yield existing entries: from the summary that this session started with, and from its own digests."""
        known = self._runtime.state.blocks.newest.get((HANDOFF.name, ACCOUNT), "")
        if known:
            yield from entries_of(self._history.recall(known))  # from the log: it may have left the window
        digests = (unit.items[0].text for unit in older if unit.level is Level.DIGEST)
        tag, last = tag_of(self._runtime.store.session), self._runtime.context.cursor.items
        yield from (tagged(entry, tag, last) for text in digests for entry in entries_of(text))

    def account_of(self, opening: Opening, tokens: int) -> Steps[str]:
        """Return the summary in at most this many tokens; "" if everything that was said and done is handed on."""
        if not opening.items and not opening.entries:
            return ""
        session, count = self._runtime.store.session, self._runtime.counter.count
        where = "" if self._runtime.store.temporary else str(self._runtime.directory / FILE_NAME)
        room = max(1, tokens - count(account(session, where, opening.items, ())) - SEAM)
        from gc_core.summaries.digests import digest_text
        from gc_core.summaries.validation import FACTS_HEAD

        names = dict.fromkeys(name for item in opening.items for span in item.scan.spans for name in span.names)
        request = SummaryRequest(
            items=opening.items,
            max_tokens=room,
            entries=opening.entries,
            room=room,
            names=tuple(names),
            form=SummaryForm.DIGEST,
            count=count,
        )
        written = yield from self._collections.answering.steps(request)
        entries = (line for line in written.text.splitlines() if line.removeprefix(BULLET) != FACTS_HEAD)
        lines = [tagged(line, tag_of(session), opening.last) for line in entries]
        fitted = digest_text(attrs.evolve(request, entries=tuple(lines)), "")
        return account(session, where, opening.items, fitted.splitlines())


def _split(context: Context) -> tuple[list[Unit], list[Unit]]:
    """Return the original request, also one that was itself handed on, and all units after it."""
    units = context.units()
    request: list[Unit] = []
    for unit in units:
        if unit.is_step or any(item.source == HANDOFF.name for item in unit.items):
            break
        if _is_said(unit):
            request.append(unit)
    numbers = {unit.number for unit in request}
    return request, [unit for unit in units if unit.number not in numbers]


def _is_said(unit: Unit) -> bool:
    """Return whether the item is a user's."""
    return not unit.is_step and all(item.kind in _SAID and not item.synthetic for item in unit.items)


def _is_block(unit: Unit) -> bool:
    """Return whether the item is not part of the conversation: enrichment, memory, system messages."""
    return all(item.source != CONVERSATION.name for item in unit.items)


def _original_tokens(unit: Unit) -> int:
    return sum(item.original_tokens for item in unit.items)
