"""
Tracing liveness: the items reachable from the roots through names that few items share.

An item that no chain of shared names connects with the agent's objective and current work is what a tracing collector
calls garbage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from gc_core.values.items import Item

MOST_SHARED = 40
"""The most items that may share a name that connects them: names that occur everywhere connect nothing."""
MOST_SHARE = 0.2
"""The same as a share of all items."""
_LEAST_SHARED = 2


@attrs.frozen(kw_only=True)
class Roots:
    """
    The roots of tracing.

    Attributes:
        items: Ids of resident items.
        names: Further names: those of the objective and of open questions.

    """

    items: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


NO_ROOTS = Roots()


def distances(items: Sequence[Item], roots: Roots) -> Mapping[str, int]:
    """
    Return how many shared names lie between each item and the nearest root, by item id: 0 is a root, 1 shares a name
    with a root.

    Items missing from it are unreachable. Names that more than 20 % of the items or more than 40 items show connect
    nothing. O(names of the items).
    """
    showing = _showing(items)
    found = {item.id: 0 for item in items if item.id in roots.items}
    reached = [item for item in items if item.id in found]
    names = set(roots.names).union(*(item.scan.names for item in reached))
    distance = 0
    while names:
        distance += 1
        reached = [item for name in names for item in showing.pop(name, ()) if item.id not in found]
        found.update((item.id, distance) for item in reached)
        names = set().union(*(item.scan.names for item in reached))
    return found


def _showing(items: Sequence[Item]) -> dict[str, list[Item]]:
    """Return the items that show each name, without the names that too many show."""
    showing: dict[str, list[Item]] = {}
    for item in items:
        for name in item.scan.names:
            showing.setdefault(name, []).append(item)
    most = min(MOST_SHARED, max(_LEAST_SHARED, int(MOST_SHARE * len(items))))
    return {name: each for name, each in showing.items() if len(each) <= most}
