"""
The report of a session's directory: one pass over its log and ledger, with the window recorded before every reply.

The window just before a reply's line is what was sent; before the report of its usage, where the reply comes with the
next list, as it does through the gateway. What was rewound later is left out, but was paid: a note says how much.
"""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from ctxgc.evaluation.call_measures import Prompt
from ctxgc.report.changes import Window, change_of, is_change
from ctxgc.report.costs import Costing, reported, rewriting, simulated
from ctxgc.report.texts import Presence, Texts
from ctxgc.report.values import Call, Change, Cost, Report, Share
from gc_core.cache.account import CacheAccount, CallAccount
from gc_core.errors import LogError
from gc_core.relevance.needed_again import NeededAgain, NeedWatch
from gc_core.session.reader import SessionReader
from gc_core.storage.ledger import Entry, Observed, Opened, Rewound
from gc_core.storage.master_log import LogRecord
from gc_core.storage.rebuild import apply_log_records, enter, standing_of
from gc_core.storage.search.record_texts import parts_of
from gc_core.storage.state import Position, SessionState
from gc_core.storage.usage_ledger import followed
from gc_core.values.messages import Role
from gc_core.values.policy import GCPolicy
from gc_core.values.references import ByteRange
from gc_core.values.sources import CONVERSATION

FRAMING = "framing"
"""The overhead of messages and request beyond their items, as a part of the window."""

_UNKNOWN = Cost(read=0, written=0, fresh=0, price=0.0)


def read(directory: str | Path, *, name: str = "") -> Report:
    """
    Return the report of the session in a directory, as its files are at this moment.

    Takes no lock and writes nothing; data that another process writes meanwhile is left out, a torn last line too.
    O(session), and O(window) for every model call. ``name`` is what the page calls it, by default the directory's name.

    Raises LogError, naming file and bytes, when there is not a session or its files do not fit together.
    """
    with _Walk(directory) as walk:
        return walk.report(name)


@attrs.define
class _Seen:
    """The findings so far."""

    texts: Texts = attrs.Factory(Texts)
    presence: Presence = attrs.field(init=False)
    calls: list[Call] = attrs.Factory(list)
    costings: list[Costing] = attrs.Factory(list)
    changes: list[tuple[ByteRange, Change]] = attrs.Factory(list)
    framing: list[int] = attrs.Factory(list)
    needs: NeedWatch = attrs.Factory(NeedWatch)
    sent: Window | None = None
    replying: bool = False
    answered: bool = False
    awaited: bool = False

    def __attrs_post_init__(self) -> None:
        self.presence = Presence(self.texts)

    def hear(self, record: LogRecord) -> None:
        """Note a line of the log: whether it is a reply, and the one that a reported call waits for has come."""
        self.replying = _is_reply(record)
        if record.source == CONVERSATION.name:
            self.answered, self.awaited = self.replying, False

    def is_of_last_call(self, observed: Observed) -> bool:
        """Return whether a report is the last call's: it has none yet, and nothing was sent after its reply."""
        if not self.calls or self.costings[-1].worth.recorded:
            return False
        return self.answered or 0 < observed.sent < self.calls[-1].time


class _Walk(SessionReader):
    """A session read from its beginning, record by record."""

    def report(self, name: str) -> Report:
        """Return all of it."""
        state, seen = self._runtime.settings.fresh(self._runtime.store.payload, cites=True), _Seen()
        ledger, end = self._runtime.store.ledger, self._runtime.store.position
        entries = [*ledger.entries(end=end.ledger)]  # taken apart once: most of its time is the collections'
        accounts = self._accounts(entries)
        for place, entry in self._steps(state, seen, standing_of(entries, ledger, Position())):
            self._enter(state, seen, place, entry)
            account = accounts.pop(place, None)
            if account is not None:
                _report(state, seen, entry, account)
        seen.presence.see(state.context, len(seen.calls) + 1)
        seen.framing.append(state.context.budget.overhead)
        return self._made(state, seen, accounts, name)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _steps(
        self, state: SessionState, seen: _Seen, entries: Iterable[tuple[ByteRange, Entry]]
    ) -> Iterator[tuple[ByteRange, Entry]]:
        """Yield the entries in force, each once the lines of the log before it have been taken."""
        log, ledger, end = self._runtime.store.log, self._runtime.store.ledger, self._runtime.store.position
        reached = Position()
        for place, entry in entries:
            if entry.at < reached.log:
                where = f"{ledger.journal.path}: bytes {place.start}-{place.end}"
                raise LogError(f"{where} speak of {entry.at} bytes of the log; those before reach to {reached.log}")
            until = entry.record.log if isinstance(entry.record, Rewound) else entry.at
            self._take(state, seen, reached, min(until, end.log))
            yield place, entry
            reached = Position(entry.at, place.end)
        self._take(state, seen, reached, log.size)

    def _take(self, state: SessionState, seen: _Seen, reached: Position, end: int) -> None:
        """Apply lines of the log, and record the window before each reply."""
        for place, record in self._runtime.store.log.records(reached.log, end):
            if _is_reply(record) and not seen.awaited and not _goes_on(state, seen):
                _see(state, seen, record.time)
            seen.hear(record)
            apply_log_records(state, self._runtime.store.log, Position(place.start, reached.ledger), place.end)
            for key, part in parts_of(record, state.format):
                item = state.context.find(key)
                if item is not None:
                    seen.presence.arrived(item, part.text)
                    seen.needs.arrived((item,), state.context.find)

    def _enter(self, state: SessionState, seen: _Seen, place: ByteRange, entry: Entry) -> None:
        record, before, context = entry.record, None, state.context
        if is_change(record):
            before = Window.of(state.context)
            seen.presence.see(state.context, len(seen.calls) + 1)  # what came and leaves between two calls
        enter(state, self._runtime.store.ledger, place, entry)
        seen.replying = seen.replying and isinstance(record, Observed)
        if isinstance(record, Opened):
            _resize(state, record)
        if before is not None:
            seen.needs.collected(context.items(), context.find, state.context.find)
            change = change_of(record, before, Window.of(state.context), seen.texts)
            price = rewriting(change.rewritten, state.model, state.format.name, entry.time) if seen.sent else None
            numbered = attrs.evolve(
                change,
                number=len(seen.changes) + 1,
                time=entry.time,
                before=len(seen.calls) + 1,
                rewritten=change.rewritten if seen.sent else 0,
                rewriting_price=price,
            )
            seen.changes.append((place, numbered))

    def _accounts(self, entries: Iterable[tuple[ByteRange, Entry]]) -> dict[ByteRange, CallAccount]:
        """Return the provider's reports by the places of their entries, including those that were rewound."""
        account = CacheAccount(None, self._runtime.settings.format)
        calls = ((place, followed(account, entry)) for place, entry in entries)
        return {place: call for place, call in calls if call is not None}

    def _made(self, state: SessionState, seen: _Seen, taken_back: dict[ByteRange, CallAccount], name: str) -> Report:
        priced = bool(seen.costings) and all(costing.usd is not None for costing in seen.costings)
        costs = [costing.cost(priced=priced) for costing in seen.costings]
        done = set(state.done)
        items = seen.presence.items(len(seen.calls) + 1)
        return Report(
            name=name or self.directory.name,
            format=state.format.name,
            model=state.model or "",
            strategies=(*self._runtime.settings.config.strategy, *self._runtime.settings.objects),
            version=importlib.metadata.version("gc-core"),
            made=time.time(),
            tokens=state.context.budget.total,
            framing=tuple(seen.framing),
            limit=state.context.budget.usable,
            priced=priced,
            notes=tuple(_notes(costs, taken_back, seen.needs.needed, priced=priced)),
            calls=tuple(attrs.evolve(call, cost=cost) for call, cost in zip(seen.calls, costs, strict=True)),
            changes=tuple(
                attrs.evolve(change, in_force=place in done or change.what not in {"collected", "restored"})
                for place, change in seen.changes
            ),
            items=items,
            texts=seen.texts.all(),
        )


def _goes_on(state: SessionState, seen: _Seen) -> bool:
    """Return whether a line continues the reply before it: Responses has one item per line."""
    results = state.context.cursor.results
    return seen.replying and results is not None and results.role is Role.ASSISTANT


def _is_reply(record: LogRecord) -> bool:
    return record.source == CONVERSATION.name and record.role == Role.ASSISTANT.value


def _report(state: SessionState, seen: _Seen, entry: Entry, account: CallAccount) -> None:
    """Record the usage of a call: the last one's, or that of a call whose reply is still to come."""
    if isinstance(entry.record, Observed) and not seen.is_of_last_call(entry.record):
        _see(state, seen, entry.time)
        seen.awaited = True
    seen.costings[-1] = reported(account, state.model, state.format.name)


def _see(state: SessionState, seen: _Seen, moment: float) -> None:
    """Record the window as it is sent for the reply that came at this time."""
    number, window, budget = len(seen.calls) + 1, Window.of(state.context), state.context.budget
    cached = window.cached(seen.sent)
    seen.presence.see(state.context, number)
    framing = Share(name=FRAMING, tokens=budget.overhead)
    entries = [budget.entry(source.name) for source in budget.sources]
    policies = [sum(entry.sums[place] for entry in entries) for place in range(len(GCPolicy))]
    prompt = Prompt(tokens=window.tokens, cached=cached)
    seen.costings.append(simulated(prompt, state.model, state.format.name, moment))
    seen.framing.append(budget.overhead)
    seen.calls.append(
        Call(
            number=number,
            time=moment,
            turn=state.context.cursor.turn,
            tokens=window.tokens,
            limit=budget.usable,
            cached=cached,
            sources=(*(Share(name=each.key, tokens=each.tokens) for each in entries if each.tokens), framing),
            policies=(
                *(Share(name=p.value, tokens=t) for p, t in zip(GCPolicy, policies, strict=True) if t),
                framing,
            ),
            kinds=(*seen.presence.kinds(), framing),
            cost=_UNKNOWN,
        )
    )
    seen.sent = window


def _resize(state: SessionState, record: Opened) -> None:
    """Set the window to the size of this opening; a session may be reopened with another one."""
    budget = state.context.budget
    limit, reserved = record.config.get("context_limit"), record.config.get("output_reservation")
    if isinstance(limit, int) and isinstance(reserved, int):
        budget.context_limit, budget.output_reservation = limit, reserved


def _notes(
    costs: list[Cost], taken_back: dict[ByteRange, CallAccount], needed: NeededAgain, *, priced: bool
) -> Iterator[str]:
    if needed:
        yield f"{str(needed).capitalize()}."
    reported_calls = sum(cost.recorded for cost in costs)
    if costs and reported_calls < len(costs):
        missing = f"The usage of {len(costs) - reported_calls:,} of {len(costs):,} calls was not"
        of = missing if reported_calls else "No call's usage was"
        yield (
            f"{of} reported by a provider. Their cost is simulated: the prefix shared with the previous prompt counts "
            "0.1 of the input price, the rest 1.25; replies are left out."
        )
    if costs and not priced:
        yield "No price of the model is known: cost is in tokens of plain input."
    if taken_back:
        paid = sum(call.cost or 0.0 for call in taken_back.values())
        yield (
            f"{len(taken_back):,} calls were rewound later and are not shown; they were paid nevertheless"
            + (f" (${paid:,.4f})." if paid else ".")
        )
