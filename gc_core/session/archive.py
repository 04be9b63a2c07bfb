"""Reads what left the window: originals for digests and stubs, and items that may return."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from gc_core.collector.cold_tier import ColdTier
from gc_core.errors import LogError
from gc_core.plugins.manager import Named
from gc_core.relevance.profiles import GENERAL_PROFILE, CompressionProfile, ProfileChoice
from gc_core.session.history import History
from gc_core.session.runtime import Runtime
from gc_core.storage.master_log import LogRecord, text_of
from gc_core.storage.originals import Reading, TakenBack, items_of
from gc_core.values.items import Form, Item, Part, number_of
from gc_core.values.references import ByteRange, Reference
from gc_core.values.results import ColdText
from gc_core.values.sources import CONVERSATION


class Archive:
    """
    Looks up originals and removed items in the log. Collects nothing.

    Args:
        runtime: The session's.
        history: Searches the log.
        strategies: The strategies that collect: one of them may promote items that left the window.
        profile: Chooses the compression profile.

    """

    def __init__(
        self, runtime: Runtime, history: History, strategies: tuple[Named, ...], profile: ProfileChoice
    ) -> None:
        self._runtime = runtime
        self._history = history
        self._strategies = strategies
        self._profile_choice = profile
        self._known_taken_back: TakenBack | None = None

    @property
    def profile(self) -> CompressionProfile:
        """
        The compression profile, which decides what is important when texts are shortened.

        For "auto" it is chosen once, from the first steps in the log; until then the general profile applies.
        """
        with self._runtime.plugins.guarded(
            "profile", "detection"
        ):  # a log that cannot be read is reported; only the preference is lost
            return self._profile_choice.among(self._parts())
        return GENERAL_PROFILE

    def _parts(self) -> Iterator[Part]:
        """Yield the user's texts, the calls and the results, from the beginning."""
        for _, record in self._runtime.store.log.records():
            if record.source == CONVERSATION.name:
                yield from self._runtime.format.read(self._runtime.format.normalise(record.payload))

    @property
    def cold(self) -> ColdTier | None:
        """Access to what left the window, if a strategy ``promotes``."""
        if not any(getattr(strategy, "promotes", False) is True for _, strategy in self._strategies):
            return None
        threshold = self._runtime.config.promote_threshold
        return ColdTier(search=self.search_cold, read=self.cold_item, threshold=threshold)

    def search_cold(self, query: str, limit: int) -> tuple[ColdText, ...]:
        """Search what left the window; return matches as they arrived, best first."""
        whole = {item.id for item in self._runtime.context.items() if item.form is Form.WHOLE}
        hits = (hit for hit in self._history.search(query, limit=limit + len(whole) // 8) if hit.item not in whole)
        found = ((hit.item, self.cold_item(hit.item)) for hit in hits if hit.source == CONVERSATION.name)
        texts = (ColdText(item=key, text=item.text, query=query) for key, item in found if item is not None)
        return tuple(itertools.islice(texts, limit))

    def cold_item(self, key: str) -> Item | None:
        """Return an item that left the window, or whose stub is resident, as it arrived; None for any other."""
        resident = self._runtime.context.find(key)
        known = None if resident is not None and resident.form is Form.WHOLE else self._logged(number_of(key))
        if known is None or self.is_taken_back(known[0]):
            return None
        return next(
            (item for item in items_of([known[1]], self._runtime.format, self._runtime.counter) if item.id == key), None
        )

    def _logged(self, number: int) -> tuple[ByteRange, LogRecord] | None:
        """Return the line of an item; None, after a report, if it cannot be read: a collection continues without it."""
        with self._runtime.plugins.guarded("log", "reading an original"):
            return self._runtime.store.log.find(number)
        return None

    def original(self, item: Item) -> str:
        """Return the original text of an item from the log, or its current text if the log cannot be read."""
        known = self._logged(number_of(item.id))
        return item.text if known is None else text_of(known[1], item.id, self._runtime.format)

    def span(self, reference: Reference, after: int) -> tuple[Item, ...]:
        """Return the originals that a summary covers, after the item with this number, as far as they can be read."""
        resident = frozenset(item.id for item in self._runtime.context.items())
        damaged: list[LogError] = []
        reading = Reading(
            log=self._runtime.store.log,
            format=self._runtime.format,
            counter=self._runtime.counter,
            taken_back=self._taken_back,
            damaged=damaged.append,
        )
        items: tuple[Item, ...] = ()
        with self._runtime.plugins.guarded("log", "reading originals"):
            items = reading.between(reference, resident, after)
        with self._runtime.plugins.guarded("log", "reading originals"):
            if damaged:
                raise damaged[0]
        return items

    def is_taken_back(self, place: ByteRange) -> bool:
        """Return whether a line of the log was rewound, or left the caller's list."""
        return self._taken_back.holds(place)

    @property
    def _taken_back(self) -> TakenBack:
        """The parts of the log that do not count any more; computed once, and again after a rewind."""
        if self._known_taken_back is None:
            with self._runtime.plugins.guarded("ledger", "reading what was taken back"):
                self._known_taken_back = TakenBack.of(self._runtime.store.ledger)
        return self._known_taken_back or TakenBack()

    def forget(self) -> None:
        """Compute what was taken back again: the session was rewound."""
        self._known_taken_back = None

    def take_back(self, start: int, end: int) -> None:
        """Note that this part of the log left the caller's list."""
        if self._known_taken_back is not None:
            self._known_taken_back = self._known_taken_back.also((start, end))
