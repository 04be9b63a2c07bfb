"""The instruction budget: who occupies the window, with how many tokens, and how strongly it is held."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import attrs

from gc_core.errors import SourceError
from gc_core.policy import GCPolicy
from gc_core.sources import BUILT_IN_SOURCES, InstructionSource

_POLICIES = tuple(GCPolicy)
_PLACE = {policy: place for place, policy in enumerate(_POLICIES)}
_LOCKED, _PRESERVABLE, _PARTIAL, _EPHEMERAL = range(4)


class BudgetEntry:
    """
    One node of the budget: a source, a group of items (a turn) or an item. Read-only for everybody but the budget.

    Attributes:
        key: Unique among its siblings; for an item its id.
        label: What a panel shows.
        synthetic: Written by the framework, not by user, model or tool.
        stored: The policy it was given; ``policy`` is the effective one.
        parent: The node above, None for the root.
        nodes: Its children by key.

    """

    __slots__ = ("_sums", "key", "label", "nodes", "parent", "stored", "synthetic")

    def __init__(
        self, *, key: str, label: str, stored: GCPolicy, parent: BudgetEntry | None, synthetic: bool = False
    ) -> None:
        self.key = key
        self.label = label
        self.synthetic = synthetic
        self.stored = stored
        self.parent = parent
        self.nodes: dict[str, BudgetEntry] = {}
        self._sums = [0] * (2 * len(_POLICIES))  # tokens by policy, then items by policy: one list, for quick copies

    @property
    def children(self) -> tuple[BudgetEntry, ...]:
        """Its children, in the order in which they came."""
        return tuple(self.nodes.values())

    @property
    def tokens(self) -> int:
        """Tokens of everything below it."""
        return sum(self._sums[: len(_POLICIES)])

    @property
    def locked(self) -> int:
        """Tokens that are LOCKED."""
        return self._sums[_LOCKED]

    @property
    def preservable(self) -> int:
        """Tokens that leave only under pressure."""
        return self._sums[_PRESERVABLE]

    @property
    def eligible(self) -> int:
        """Tokens that any collection may take: EPHEMERAL items, and PARTIAL ones that leave with their unit."""
        return self._sums[_PARTIAL] + self._sums[_EPHEMERAL]

    @property
    def policy(self) -> GCPolicy:
        """The effective policy: what all items below agree on, else PARTIAL; without items the stored one."""
        held = [place for place, count in enumerate(self._sums[len(_POLICIES) :]) if count]
        if not held:
            return self.stored
        return _POLICIES[held[0]] if len(held) == 1 else GCPolicy.PARTIAL

    def adjust(self, policy: GCPolicy, tokens: int, count: int) -> None:
        """Add tokens and items of a policy here and in every node above: O(depth)."""
        place = _PLACE[policy]
        node: BudgetEntry | None = self
        while node is not None:
            node._sums[place] += tokens
            node._sums[len(_POLICIES) + place] += count
            node = node.parent

    def copied(
        self, parent: BudgetEntry | None, without: AbstractSet[BudgetEntry], twins: dict[BudgetEntry, BudgetEntry]
    ) -> BudgetEntry:
        """
        A copy of the node with what is below it, but for these items and for groups that have no others. ``twins``
        learns the copy of each node.
        """
        twin = BudgetEntry.__new__(BudgetEntry)  # by hand: every item of the window is copied in every collection
        twin.key, twin.label, twin.stored, twin.synthetic = self.key, self.label, self.stored, self.synthetic
        twin.parent, twin.nodes, twin._sums = parent, {}, self._sums.copy()
        twins[self] = twin
        for key, node in self.nodes.items():
            if node in without:
                twin._sums = list(map(operator.sub, twin._sums, node._sums))
                continue
            child = node.copied(twin, without, twins)
            if child._sums != node._sums:
                less = map(operator.sub, child._sums, node._sums)
                twin._sums = list(map(operator.add, twin._sums, less))
            if child.nodes or not node.nodes or parent is None:
                twin.nodes[key] = child
        return twin

    def as_json(self) -> dict[str, Any]:
        """Plain JSON: tokens, policies (effective and stored), indicator, children."""
        return {
            "key": self.key,
            "label": self.label,
            "tokens": self.tokens,
            "policy": self.policy.value,
            "stored_policy": self.stored.value,
            "indicator": self.policy.indicator,
            "locked": self.locked,
            "preservable": self.preservable,
            "eligible": self.eligible,
            "synthetic": self.synthetic,
            "children": [child.as_json() for child in self.nodes.values()],
        }


@attrs.frozen(kw_only=True)
class BudgetItem:
    """
    What the budget knows of one item.

    Attributes:
        key: The item's id.
        source: Name of its source.
        group: The group it stands in (a turn), or "" directly below the source.
        tokens: What it costs.
        policy: How strongly it is held.
        label: What a panel shows.
        synthetic: Written by the framework.

    """

    key: str
    source: str
    group: str = ""
    tokens: int
    policy: GCPolicy
    label: str = ""
    synthetic: bool = False


class InstructionBudget:
    """
    The tree source -> groups -> items with its roll-ups, adjusted in O(depth) on every change.

    ``total`` is the sum of all item tokens plus the overhead of messages and request: by definition what the rendered
    request costs, uncalibrated.
    """

    def __init__(
        self,
        *,
        context_limit: int,
        output_reservation: int = 0,
        overhead: int = 0,
        sources: Iterable[InstructionSource] = BUILT_IN_SOURCES,
    ) -> None:
        self.context_limit = context_limit
        self.output_reservation = output_reservation
        self.overhead = overhead
        self._root = BudgetEntry(key="total", label="total", stored=GCPolicy.PARTIAL, parent=None)
        self._sources: dict[str, InstructionSource] = {}
        self._leaves: dict[str, BudgetEntry] = {}
        for source in sources:
            self.register(source)

    # -- changes -------------------------------------------------------------------------------------------------

    def register(self, source: InstructionSource) -> None:
        """Add a source. Raises SourceError when the name is taken by another one."""
        if self._sources.get(source.name, source) != source:
            raise SourceError(f"source {source.name!r} is registered already as {self._sources[source.name]}")
        if source.name not in self._sources:
            self._sources[source.name] = source
            self._root.nodes[source.name] = BudgetEntry(
                key=source.name, label=source.name, stored=source.policy, parent=self._root
            )

    def add(self, item: BudgetItem) -> None:
        """Add an item. Raises SourceError for an unknown source or a key twice. Caps are looked at by ``check``."""
        siblings = self.entry(item.source).nodes
        if item.key in self._leaves or (not item.group and item.key in siblings):
            raise SourceError(f"item {item.key!r} is in the budget already")
        if item.group in self._leaves and item.group in siblings:
            raise SourceError(f"group {item.group!r} is in the budget already, as an item")
        self._graft(item)

    def check(self, source: str, more: int) -> None:
        """Raise SourceError unless the source exists and may hold this many tokens more."""
        known = self.source(source)
        held = self.entry(source).tokens
        if known.cap is not None and held + more > known.cap:
            raise SourceError(f"source {source!r} holds {held:,} tokens; {more:,} more are over its cap {known.cap:,}")

    def remove(self, key: str) -> None:
        """Take an item out. Raises SourceError when it is not there."""
        leaf = self._leaf(key)
        leaf.adjust(leaf.stored, -leaf.tokens, -1)
        del self._leaves[key]
        self._unlink(leaf)

    def update(self, key: str, tokens: int) -> None:
        """Change an item's tokens."""
        leaf = self._leaf(key)
        leaf.adjust(leaf.stored, tokens - leaf.tokens, 0)

    def set_policy(self, key: str, policy: GCPolicy) -> None:
        """Change how strongly an item is held."""
        leaf = self._leaf(key)
        tokens = leaf.tokens
        leaf.adjust(leaf.stored, -tokens, -1)
        leaf.stored = policy
        leaf.adjust(policy, tokens, 1)

    # -- answers -------------------------------------------------------------------------------------------------

    @property
    def total(self) -> int:
        """Tokens of the request as it stands."""
        return self._root.tokens + self.overhead

    @property
    def locked(self) -> int:
        """Tokens that are never removed."""
        return self._root.locked

    @property
    def preservable(self) -> int:
        """Tokens that leave only under pressure."""
        return self._root.preservable

    @property
    def eligible(self) -> int:
        """Tokens that any collection may take."""
        return self._root.eligible

    @property
    def reserved(self) -> int:
        """Tokens kept free for the reply."""
        return self.output_reservation

    @property
    def usable(self) -> int:
        """Tokens that a request may have: ``context_limit - output_reservation``."""
        return self.context_limit - self.output_reservation

    @property
    def available(self) -> int:
        """Usable tokens still free; never negative."""
        return max(0, self.usable - self.total)

    @property
    def utilisation(self) -> float:
        """Total in percent of the usable tokens; may exceed 100."""
        return 100.0 * self.total / self.usable if self.usable > 0 else 0.0

    @property
    def headroom(self) -> float:
        """Eligible tokens in percent of the usable ones: what a collection could win."""
        return 100.0 * self.eligible / self.usable if self.usable > 0 else 0.0

    @property
    def sources(self) -> tuple[InstructionSource, ...]:
        """The registered sources."""
        return tuple(self._sources.values())

    def source(self, name: str) -> InstructionSource:
        """A registered source. Raises SourceError, naming the known ones."""
        try:
            return self._sources[name]
        except KeyError:
            raise SourceError(f"no source {name!r}; registered: {sorted(self._sources)}") from None

    def entry(self, source: str) -> BudgetEntry:
        """The node of a source."""
        self.source(source)
        return self._root.nodes[source]

    def item(self, key: str) -> BudgetEntry:
        """The node of an item. Raises SourceError when it is not there."""
        return self._leaf(key)

    def __contains__(self, key: str) -> bool:
        """Whether an item is in the budget."""
        return key in self._leaves

    # -- copies --------------------------------------------------------------------------------------------------

    def clone(self, *, without: Iterable[str] = ()) -> InstructionBudget:
        """An independent copy, but for the items with these keys."""
        copy = InstructionBudget(
            context_limit=self.context_limit,
            output_reservation=self.output_reservation,
            overhead=self.overhead,
            sources=self.sources,
        )
        gone = {self._leaf(key) for key in without}
        twins: dict[BudgetEntry, BudgetEntry] = {}
        copy._root = self._root.copied(None, gone, twins)
        copy._leaves = {key: twins[leaf] for key, leaf in self._leaves.items() if leaf in twins}
        return copy

    def snapshot(self) -> dict[str, Any]:
        """Plain JSON for a panel: limits, roll-ups and the whole tree. ``restore`` reads it back."""
        return {
            "context_limit": self.context_limit,
            "output_reservation": self.output_reservation,
            "overhead": self.overhead,
            "total": self.total,
            "locked": self.locked,
            "preservable": self.preservable,
            "eligible": self.eligible,
            "reserved": self.reserved,
            "available": self.available,
            "utilisation": round(self.utilisation, 2),
            "headroom": round(self.headroom, 2),
            "sources": [
                {"layer": source.layer, "cap": source.cap, **self.entry(source.name).as_json()}
                for source in self._sources.values()
            ],
        }

    @classmethod
    def restore(cls, snapshot: Mapping[str, Any]) -> InstructionBudget:
        """The budget that a snapshot was taken of."""
        budget = cls(
            context_limit=snapshot["context_limit"],
            output_reservation=snapshot["output_reservation"],
            overhead=snapshot["overhead"],
            sources=[_source(saved) for saved in snapshot["sources"]],
        )
        for saved in snapshot["sources"]:
            for item in _saved_items(saved):
                budget._graft(item)
        return budget

    # -- inside --------------------------------------------------------------------------------------------------

    def _graft(self, item: BudgetItem) -> None:
        parent = self._group(item.source, item.group)
        leaf = BudgetEntry(
            key=item.key, label=item.label or item.key, stored=item.policy, parent=parent, synthetic=item.synthetic
        )
        parent.nodes[item.key] = leaf
        self._leaves[item.key] = leaf
        leaf.adjust(item.policy, item.tokens, 1)

    def _group(self, source: str, group: str) -> BudgetEntry:
        parent = self.entry(source)
        if not group:
            return parent
        if group not in parent.nodes:
            entry = BudgetEntry(key=group, label=group, stored=GCPolicy.PARTIAL, parent=parent)
            parent.nodes[group] = entry
        return parent.nodes[group]

    def _leaf(self, key: str) -> BudgetEntry:
        try:
            return self._leaves[key]
        except KeyError:
            raise SourceError(f"item {key!r} is not in the budget") from None

    def _unlink(self, node: BudgetEntry) -> None:
        """Take a node out, and its group when that is empty now: memory holds the window, not the history."""
        parent = node.parent
        if parent is None or parent is self._root:
            return
        del parent.nodes[node.key]
        if not parent.nodes:
            self._unlink(parent)


def _source(saved: Mapping[str, Any]) -> InstructionSource:
    return InstructionSource(
        name=saved["key"], policy=GCPolicy(saved["stored_policy"]), layer=saved["layer"], cap=saved["cap"]
    )


def _saved_items(source: Mapping[str, Any]) -> Iterator[BudgetItem]:
    for child in source["children"]:
        if child["children"]:
            yield from (_saved(source["key"], child["key"], leaf) for leaf in child["children"])
        else:
            yield _saved(source["key"], "", child)


def _saved(source: str, group: str, leaf: Mapping[str, Any]) -> BudgetItem:
    return BudgetItem(
        key=leaf["key"],
        source=source,
        group=group,
        tokens=leaf["tokens"],
        policy=GCPolicy(leaf["stored_policy"]),
        label=leaf["label"],
        synthetic=leaf["synthetic"],
    )
