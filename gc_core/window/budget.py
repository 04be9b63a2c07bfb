"""The instruction budget: the owners of the window's tokens, with policies."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from gc_core.errors import SourceError
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import BUILT_IN_SOURCES, InstructionSource

_POLICIES = tuple(GCPolicy)
_PLACE = {policy: place for place, policy in enumerate(_POLICIES)}
_LOCKED, _PRESERVABLE, _PARTIAL, _EPHEMERAL = range(4)

Sums = tuple[int, ...]
"""Tokens by policy, then items by policy. A tuple of numbers is not tracked by Python's garbage collector."""

_NOTHING: Sums = (0,) * (2 * len(_POLICIES))

_Path = tuple[str, ...]
"""The place of an item: its source and, if it has one, its group."""


def _sums_of(policy: GCPolicy, tokens: int) -> Sums:
    """Return the sums of one item."""
    sums = list(_NOTHING)
    sums[_PLACE[policy]], sums[len(_POLICIES) + _PLACE[policy]] = tokens, 1
    return tuple(sums)


class BudgetEntry:
    """
    One node of the budget: a source, a group of items (a turn) or an item. Only the budget changes it.

    An item's node never changes; it is replaced. The others belong to one budget, which changes them in place, until it
    is cloned: then both share them, and each copies what it changes. So a collection, which needs its own budget,
    only pays for what it changes.

    Attributes:
        key: Unique among its siblings; for an item its id.
        label: The text for panels.
        synthetic: Written by the framework, not by user, model or tool.
        stored: The policy it was given; ``policy`` is the effective one.
        nodes: Its children by key.
        owner: The budget it belongs to, None for an item's.

    """

    __slots__ = ("_sums", "key", "label", "nodes", "owner", "stored", "synthetic")

    def __init__(
        self, *, key: str, label: str, stored: GCPolicy, synthetic: bool = False, owner: object = None, tokens: int = 0
    ) -> None:
        self.key = key
        self.label = label
        self.synthetic = synthetic
        self.stored = stored
        self.owner = owner
        self.nodes: dict[str, BudgetEntry] = {}
        self._sums = _NOTHING if owner is not None else _sums_of(stored, tokens)

    @property
    def children(self) -> tuple[BudgetEntry, ...]:
        """Its children, in order of arrival."""
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
        """Tokens that are removed only under pressure."""
        return self._sums[_PRESERVABLE]

    @property
    def eligible(self) -> int:
        """Tokens that any collection may remove: EPHEMERAL items, and PARTIAL ones that leave with their unit."""
        return self._sums[_PARTIAL] + self._sums[_EPHEMERAL]

    @property
    def policy(self) -> GCPolicy:
        """
        The effective policy: that of all items below if they agree, otherwise PARTIAL; without
        items the stored one.
        """
        held = [place for place, count in enumerate(self._sums[len(_POLICIES) :]) if count]
        if not held:
            return self.stored
        return _POLICIES[held[0]] if len(held) == 1 else GCPolicy.PARTIAL

    @property
    def sums(self) -> Sums:
        """Tokens and items by policy."""
        return self._sums

    def plus(self, sums: Sums) -> None:
        """Add these sums."""
        self._sums = tuple(map(operator.add, self._sums, sums))

    def minus(self, sums: Sums) -> None:
        """Subtract these sums."""
        self._sums = tuple(map(operator.sub, self._sums, sums))

    def owned(self, owner: object) -> BudgetEntry:
        """Return a copy that belongs to this owner and shares the nodes below it."""
        twin = BudgetEntry(key=self.key, label=self.label, stored=self.stored, synthetic=self.synthetic, owner=owner)
        twin.nodes, twin._sums = self.nodes.copy(), self._sums
        return twin

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON: tokens, policies (effective and stored), indicator, children."""
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
    The budget's record of one item.

    Attributes:
        key: The item's id.
        source: Name of its source.
        group: Its group (a turn), or "" directly below the source.
        tokens: Its tokens.
        policy: Its policy.
        label: The text for panels.
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
    The tree source -> groups -> items with its roll-ups, updated in O(depth) on every change.

    ``total`` is the sum of all item tokens plus the overhead of messages and request: by definition the tokens of the
    rendered request, uncalibrated.
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
        self._owner = object()
        self._root = BudgetEntry(key="total", label="total", stored=GCPolicy.PARTIAL, owner=self._owner)
        self._sources: dict[str, InstructionSource] = {}
        self._paths: dict[str, _Path] = {}
        for source in sources:
            self.register(source)

    # -- changes -------------------------------------------------------------------------------------------------

    def register(self, source: InstructionSource) -> None:
        """Add a source. Raises SourceError when the name is taken by another one."""
        if not self.knows(source):
            self._sources[source.name] = source
            (root,) = self._chain(())
            root.nodes[source.name] = BudgetEntry(
                key=source.name, label=source.name, stored=source.policy, owner=self._owner
            )

    def knows(self, source: InstructionSource) -> bool:
        """Return whether the source is registered. Raises SourceError when its name is taken by another one."""
        known = self._sources.get(source.name)
        if known is not None and known != source:
            raise SourceError(f"source {source.name!r} is registered already as {known}")
        return known is not None

    def add(self, item: BudgetItem) -> None:
        """Add an item. Raises SourceError for an unknown source or a duplicate key. Caps are checked by ``check``."""
        siblings = self.entry(item.source).nodes
        if item.key in self._paths or (not item.group and item.key in siblings):
            raise SourceError(f"item {item.key!r} is already in the budget")
        if item.group in self._paths and item.group in siblings:
            raise SourceError(f"group {item.group!r} is already in the budget, as an item")
        self._graft(item)

    def check(self, source: str, more: int) -> None:
        """Raise SourceError unless the source exists and may have this many more tokens."""
        known = self.source(source)
        held = self.entry(source).tokens
        if known.cap is not None and held + more > known.cap:
            raise SourceError(f"source {source!r} holds {held:,} tokens; {more:,} more are over its cap {known.cap:,}")

    def remove(self, *keys: str) -> None:
        """Remove items. Raises SourceError, with nothing changed, when one is missing."""
        removed: defaultdict[_Path, list[str]] = defaultdict(list)
        try:
            for key in dict.fromkeys(keys):
                removed[self._paths[key]].append(key)
        except KeyError:
            raise SourceError(f"item {key!r} is not in the budget") from None
        for path, leaving in removed.items():
            self._leave(path, leaving)

    def update(self, key: str, tokens: int) -> None:
        """Change an item's tokens."""
        self._change(self.item(key), tokens, self.item(key).stored)

    def set_policy(self, key: str, policy: GCPolicy) -> None:
        """Change an item's policy."""
        self._change(self.item(key), self.item(key).tokens, policy)

    # -- answers -------------------------------------------------------------------------------------------------

    @property
    def total(self) -> int:
        """Tokens of the current request."""
        return self._root.tokens + self.overhead

    @property
    def locked(self) -> int:
        """Tokens that are never removed."""
        return self._root.locked

    @property
    def preservable(self) -> int:
        """Tokens that are removed only under pressure."""
        return self._root.preservable

    @property
    def eligible(self) -> int:
        """Tokens that any collection may remove."""
        return self._root.eligible

    @property
    def reserved(self) -> int:
        """Tokens reserved for the reply."""
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
        """Eligible tokens in percent of the usable ones: what a collection could free."""
        return 100.0 * self.eligible / self.usable if self.usable > 0 else 0.0

    @property
    def sources(self) -> tuple[InstructionSource, ...]:
        """The registered sources."""
        return tuple(self._sources.values())

    def source(self, name: str) -> InstructionSource:
        """Return a registered source. Raises SourceError, naming the known ones."""
        try:
            return self._sources[name]
        except (KeyError, TypeError):
            raise SourceError(f"no source {name!r}; registered: {sorted(self._sources)}") from None

    def entry(self, source: str) -> BudgetEntry:
        """Return the node of a source."""
        self.source(source)
        return self._root.nodes[source]

    def item(self, key: str) -> BudgetEntry:
        """Return the node of an item. Raises SourceError when it is missing."""
        return self._at(self._path(key)).nodes[key]

    def __contains__(self, key: str) -> bool:
        """Return whether an item is in the budget."""
        return key in self._paths

    def __str__(self) -> str:
        """Return one line on the whole, and one for each source: its policy, its tokens and their cap."""
        return "\n".join(
            [f"{self.total:,} of {self.usable:,} tokens, framing {self.overhead:,}", *self._source_lines()]
        )

    # -- copies --------------------------------------------------------------------------------------------------

    def clone(self) -> InstructionBudget:
        """Return an independent copy, which shares what neither changes."""
        copy = InstructionBudget(
            context_limit=self.context_limit,
            output_reservation=self.output_reservation,
            overhead=self.overhead,
            sources=(),
        )
        copy._root, copy._paths, copy._sources = self._root, self._paths.copy(), self._sources.copy()
        self._owner = object()  # existing nodes are shared from now on
        return copy

    def snapshot(self) -> dict[str, Any]:
        """Return plain JSON for a panel: limits, roll-ups and the whole tree. ``restore`` reads it back."""
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
        """Return the budget from a snapshot. Raises SourceError for anything else."""
        try:
            return cls._restored(snapshot)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise SourceError(f"snapshot = {snapshot!r:.200}: expected what snapshot() returned") from error

    @classmethod
    def _restored(cls, snapshot: Mapping[str, Any]) -> InstructionBudget:
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

    def _source_lines(self) -> Iterator[str]:
        for name, source in self._sources.items():
            entry = self._root.nodes[name]
            cap = "" if source.cap is None else f", at most {source.cap:,}"
            yield f"{name} ({entry.policy.value}): {entry.tokens:,}{cap}"

    def _graft(self, item: BudgetItem) -> None:
        path = (item.source, item.group) if item.group else (item.source,)
        leaf = BudgetEntry(
            key=item.key,
            label=item.label or item.key,
            stored=item.policy,
            synthetic=item.synthetic,
            tokens=item.tokens,
        )
        chain = self._chain(path)
        chain[-1].nodes[item.key] = leaf
        for node in chain:
            node.plus(leaf.sums)
        self._paths[item.key] = path

    def _change(self, old: BudgetEntry, tokens: int, policy: GCPolicy) -> None:
        """Replace the node of an item."""
        new = BudgetEntry(key=old.key, label=old.label, stored=policy, synthetic=old.synthetic, tokens=tokens)
        chain = self._chain(self._path(old.key))
        chain[-1].nodes[old.key] = new
        for node in chain:
            node.minus(old.sums)
            node.plus(new.sums)

    def _leave(self, path: _Path, keys: Sequence[str]) -> None:
        """Remove items of one place, and their group when it becomes empty: memory is bounded by the window."""
        place = self._at(path)
        if len(path) > 1 and len(keys) == len(place.nodes):
            chain, less = self._chain(path[:-1]), place.sums
            del chain[-1].nodes[path[-1]]
        else:
            chain = self._chain(path)
            less = _taken(chain[-1], keys)
        for node in chain:
            node.minus(less)
        for key in keys:
            del self._paths[key]

    def _at(self, path: _Path) -> BudgetEntry:
        node = self._root
        for step in path:
            node = node.nodes[step]
        return node

    def _chain(self, path: _Path) -> list[BudgetEntry]:
        """
        Return the nodes from the root down to this place, all of them this budget's own; a group
        that lacks is made.
        """
        if self._root.owner is not self._owner:
            self._root = self._root.owned(self._owner)
        chain = [self._root]
        for key in path:
            siblings = chain[-1].nodes
            node = siblings.get(key) or BudgetEntry(key=key, label=key, stored=GCPolicy.PARTIAL, owner=self._owner)
            siblings[key] = node if node.owner is self._owner else node.owned(self._owner)
            chain.append(siblings[key])
        return chain

    def _path(self, key: str) -> _Path:
        try:
            return self._paths[key]
        except (KeyError, TypeError):
            raise SourceError(f"item {key!r} is not in the budget") from None


def _taken(place: BudgetEntry, keys: Sequence[str]) -> Sums:
    """Remove the children; return their sums. What stays is summed instead if that is less work."""
    removed = [place.nodes.pop(key) for key in keys]
    if len(place.nodes) < len(removed):
        return tuple(map(operator.sub, place.sums, _all_sums(place.nodes.values())))
    return _all_sums(removed)


def _all_sums(items: Iterable[BudgetEntry]) -> Sums:
    sums = list(_NOTHING)
    for item in items:
        if item.nodes:  # a group: its items may have any policies
            sums = list(map(operator.add, sums, item.sums))
            continue
        place = _PLACE[item.stored]
        sums[place] += item.sums[place]
        sums[len(_POLICIES) + place] += 1
    return tuple(sums)


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
