"""Works out what percentages the numbers that belong together are of each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from gc_core.summaries.number_groups import NumberGroups
from gc_core.summaries.results import measures, percentages


def shares_of(groups: NumberGroups) -> Iterator[float]:
    """Yield percentages of numbers in those of their groups and in their sums, of their growth, and what is left."""
    yield from (100 - value for each in groups.quantities if each.kind == "share" for value in each.values)
    pairs = (pair for line in groups.lines for pair in itertools.permutations(measures(line, ""), 2))
    yield from (100 * part / (part + other) for part, other in pairs if part + other)
    alike = [measures(group, kind) for group in groups.near for kind in {each.kind for each in group} - {"share"}]
    totals = [(each, sum(group)) for group in alike if len(group) > 2 for each in group]  # noqa: PLR2004
    yield from (100 * part / total for part, total in totals if total)
    yield from itertools.chain(*map(percentages, alike))
