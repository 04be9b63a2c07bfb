"""What a session reads of what left its window: originals for digests and stubs, and what may come back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from gc_core.collector.cold_tier import ColdTier
from gc_core.errors import LogError
from gc_core.relevance.profiles import GENERAL_PROFILE, CompressionProfile, ProfileChoice
from gc_core.session.spend_limit import Spending
from gc_core.session.timeline import synchronized
from gc_core.storage.master_log import LogRecord, text_of
from gc_core.storage.originals import Reading, RewoundRanges, items_of
from gc_core.storage.state import Position, SessionState
from gc_core.values.items import Form, Item, Part
from gc_core.values.references import ByteRange, Reference
from gc_core.values.results import ColdText
from gc_core.values.sources import CONVERSATION


class Archive(Spending):
    """The part of a session that looks things up in its log. Nothing here collects."""

    _profile_choice: ProfileChoice
    _known_taken_back: RewoundRanges | None = None

    @property
    @synchronized
    def profile(self) -> CompressionProfile:
        """
        What the session holds for important when it shortens texts: the profile that ``compression_profile`` names.

        For "auto" the one that its first steps speak for, decided once, from the log; the general one until then.
        """
        with self.plugins.guarded("profile", "detection"):  # a log that cannot be read is told, and costs a preference
            return self._profile_choice.among(self._parts())
        return GENERAL_PROFILE

    def _parts(self) -> Iterator[Part]:
        """What was said, called and answered, from the beginning."""
        for _, record in self._store.log.records():
            if record.source == CONVERSATION.name:
                yield from self._format.read(self._format.normalise(record.payload))

    @property
    def _cold(self) -> ColdTier | None:
        """What left the window, where a strategy says that it ``promotes``."""
        if not any(getattr(strategy, "promotes", False) is True for _, strategy in self._strategies):
            return None
        threshold = self._config.promote_threshold
        return ColdTier(search=self._search_cold, read=self._cold_item, threshold=threshold)

    def _search_cold(self, query: str, limit: int) -> tuple[ColdText, ...]:
        whole = {item.id for item in self._context.items() if item.form is Form.WHOLE}
        hits = (hit for hit in self.search(query, limit=limit + len(whole) // 8) if hit.item not in whole)
        found = ((hit.item, self._cold_item(hit.item)) for hit in hits if hit.source == CONVERSATION.name)
        texts = (ColdText(item=key, text=item.text, query=query) for key, item in found if item is not None)
        return tuple(itertools.islice(texts, limit))

    def _cold_item(self, key: str) -> Item | None:
        """An item that left the window, or of which a stub stands there, as it arrived; None for any other."""
        resident = self._context.find(key)
        known = None if resident is not None and resident.form is Form.WHOLE else self._logged(int(key[1:]))
        if known is None or self._taken_back.holds(known[0]):
            return None
        return next((item for item in items_of([known[1]], self._format, self._counter) if item.id == key), None)

    def _logged(self, number: int) -> tuple[ByteRange, LogRecord] | None:
        """The line of an item; None, and told, where it cannot be read: a collection goes on without it."""
        with self.plugins.guarded("log", "reading an original"):
            return self._store.log.find(number)
        return None

    def _original(self, item: Item) -> str:
        """The text with which an item arrived, from the log; what stands in the window where that cannot be read."""
        known = self._logged(int(item.id[1:]))
        return item.text if known is None else text_of(known[1], item.id, self._format)

    def _span(self, reference: Reference, behind: int) -> tuple[Item, ...]:
        """What a summary stands for, as it arrived, as far as it can be read, behind the item with this number."""
        resident = frozenset(item.id for item in self._context.items())
        damaged: list[LogError] = []
        reading = Reading(
            log=self._store.log,
            format=self._format,
            counter=self._counter,
            taken_back=self._taken_back,
            damaged=damaged.append,
        )
        items: tuple[Item, ...] = ()
        with self.plugins.guarded("log", "reading originals"):
            items = reading.between(reference, resident, behind)
        with self.plugins.guarded("log", "reading originals"):
            if damaged:
                raise damaged[0]
        return items

    @property
    def _taken_back(self) -> RewoundRanges:
        """What of the log does not count any more; found once, and again when the session went back."""
        if self._known_taken_back is None:
            with self.plugins.guarded("ledger", "reading what was taken back"):
                self._known_taken_back = RewoundRanges.of(self._store.ledger)
        return self._known_taken_back or RewoundRanges()

    def _go_back(self, to: Position, why: str, state: SessionState) -> None:
        super()._go_back(to, why, state)
        self._known_taken_back = None
