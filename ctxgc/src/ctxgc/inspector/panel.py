"""The contents of the panel at one moment. Only values: the session continues without changing them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs

from gc_core.storage.ledger import Collected, Entry, Purged, Rewound, Undone
from gc_core.storage.state import SessionState, Settings
from gc_core.values.config import GCConfig
from gc_core.values.items import Item
from gc_core.values.references import ByteRange
from gc_core.values.removals import GCRemovalItem
from gc_core.window.budget import InstructionBudget
from gc_core.window.context import Schema

COLLECTED, RESTORED, UNDONE, REDONE, REWOUND, PURGED = (
    "collected",
    "restored",
    "undone",
    "redone",
    "rewound",
    "purged",
)
"""The changes of a window; the terms of ``ctxgc history``."""


@attrs.frozen(kw_only=True)
class Doing:
    """
    A change of the window.

    Attributes:
        place: Its place in the ledger.
        time: Seconds since 1970.
        what: ``collected``, ``restored``, ``undone``, ``redone``, ``rewound`` or ``purged``.
        why: The reason of a collection; otherwise a description.
        before: Tokens of the request before a collection, uncalibrated.
        after: Tokens of it after.
        target: The target of a collection, in tokens.
        removals: The removals of a collection, with reasons.
        summarised: The number of summaries it wrote.

    """

    place: ByteRange
    time: float
    what: str
    why: str
    before: int = 0
    after: int = 0
    target: int = 0
    removals: tuple[GCRemovalItem, ...] = ()
    summarised: int = 0

    @property
    def freed(self) -> int:
        """Tokens that it freed."""
        return self.before - self.after

    @classmethod
    def of(cls, place: ByteRange, entry: Entry) -> Doing | None:
        """Return what an entry of the ledger did to the window, or None."""
        match entry.record:
            case Collected() as record:
                return cls(
                    place=place,
                    time=entry.time,
                    what=RESTORED if record.reason is None else COLLECTED,
                    why="" if record.reason is None else record.reason.value,
                    before=record.tokens_before,
                    after=record.tokens_after,
                    target=record.target_tokens,
                    removals=record.removals,
                    summarised=len(record.summaries),
                )
            case Undone(place=of, redone=redone):
                what = REDONE if redone else UNDONE
                why = f"the collection at byte {of.start:,} of the ledger"
                return cls(place=place, time=entry.time, what=what, why=why)
            case Rewound(why=why):
                return cls(place=place, time=entry.time, what=REWOUND, why=why)
            case Purged(by=by, occurrences=times):
                return cls(place=place, time=entry.time, what=PURGED, why=f"{times} times, for {by}")
        return None


@attrs.frozen(kw_only=True, eq=False)
class Panel:
    """
    A session at one moment.

    Attributes:
        directory: The directory of its files.
        format: Name of the provider's message shape.
        model: The model's name, or None.
        strategy: Names of the strategies, in the order in which they are asked.
        config: Its configuration.
        counter: The counter's name.
        exact: Whether that is the model's own tokenizer.
        estimated: The provider's count of the current request.
        turn: Number of the newest turn, from 0; -1 before the first.
        budget: The tree of sources, groups and items; it is not changed by others.
        items: The resident items by id, in the order in which the model reads them.
        schemas: The tool schemas by the ids of their items.
        doings: The changes of the window, oldest first.
        done: The places in the ledger of those in effect.

    """

    directory: Path
    format: str
    model: str | None
    strategy: tuple[str, ...]
    config: GCConfig
    counter: str
    exact: bool
    estimated: int
    turn: int
    budget: InstructionBudget
    items: Mapping[str, Item]
    schemas: Mapping[str, Schema]
    doings: tuple[Doing, ...]
    done: frozenset[ByteRange]

    @classmethod
    def of(cls, directory: Path, state: SessionState, settings: Settings, doings: tuple[Doing, ...]) -> Panel:
        """Return the panel of a session; values shared with its state are never changed, or copied first."""
        return cls(
            directory=directory,
            format=state.format.name,
            model=state.model,
            strategy=settings.objects or state.config.strategy,
            config=state.config,
            counter=state.counter.name,
            exact=state.counter.exact,
            estimated=state.calibration.estimate(state.context.budget.total),
            turn=state.context.cursor.turn,
            budget=state.context.budget.clone(),
            items={item.id: item for item in state.context.items()},
            schemas={schema.item.id: schema for schema in state.context.schemas},
            doings=doings,
            done=frozenset(state.done),
        )

    @property
    def usable(self) -> int:
        """The most tokens of a request."""
        return self.budget.usable

    @property
    def usage(self) -> float:
        """The provider's count, in percent of the usable tokens."""
        return 100.0 * self.estimated / self.usable if self.usable > 0 else 0.0

    @property
    def collections(self) -> tuple[Doing, ...]:
        """The collections, including undone ones."""
        return tuple(doing for doing in self.doings if doing.what == COLLECTED)

    @property
    def freed(self) -> int:
        """Tokens that the collections in effect freed, each counted when it was carried out."""
        return sum(doing.freed for doing in self.collections if doing.place in self.done)
