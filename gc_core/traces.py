"""What the traces at the cuts say, and what they cost: exactly, or at their longest while that is still open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import attrs

from gc_core.items import ItemKind, Part, Unit
from gc_core.protocols import TokenCounter
from gc_core.references import HINTED_FROM, MOST_NAMES, ByteRange, Reference
from gc_core.stubs import reference_over
from gc_core.tokens import part_tokens

_LONGEST_TRACE = Reference(
    tokens=10**7,
    first="i1000000",
    last="i1000001",
    first_turn=10**5,
    last_turn=10**5 + 1,
    calls=(("read_the_file", 100), ("run_command", 100), ("another", 100)),
    preview="how some text of this very length begins",
)
_LONGEST_PLACE = ByteRange(10**9, 10**9 + 1)

_ASKED = frozenset({ItemKind.TOOL_CALL, ItemKind.ASSISTANT_TEXT, ItemKind.USER_TEXT})
_LONGEST_NAME = 60
"""Characters of a name beyond which it would cost too many tokens."""


class Traces:
    """
    Writes references for runs of units, and counts the traces that they make.

    ``cites``: they say which bytes of the log hold what they stand for.
    """

    def __init__(self, counter: TokenCounter, *, cites: bool) -> None:
        self._counter = counter
        self._cites = cites
        self._known: dict[tuple[int, ...], tuple[Reference, int]] = {}
        self._longest_plain = self._longest(HINTED_FROM - 1)
        self._longest_hinted = self._longest(10**7)

    def spanning(self, units: Sequence[Unit]) -> tuple[Reference, int]:
        """The reference for a run of units and its tokens; asked for again whenever the traces are counted."""
        run = tuple([unit.number for unit in units])
        known = self._known.get(run)
        if known is None:
            reference = reference_over([item for unit in units for item in unit.items], cites=self._cites)
            known = self._known[run] = reference, self._tokens(reference)
        return known

    def most(self, left_out: int) -> int:
        """Tokens that a trace for so many that are left out has at most: little ones have no hint."""
        return self._longest_hinted if left_out >= HINTED_FROM else self._longest_plain

    def names_cost(self, reference: Reference | None) -> int:
        """Tokens of the names that a trace hands on; the longest trace is reckoned without any."""
        if reference is None or not reference.names:
            return 0
        return self._tokens(reference) - self._tokens(attrs.evolve(reference, names=()))

    def with_names(self, run: Sequence[Unit], shown: set[str], room: int) -> tuple[Reference, int]:
        """
        The reference for a run that leaves, with as many of the names that the window would lose as there is room for;
        and what these cost. They are ``shown`` from then on.
        """
        reference, tokens = self.spanning(run)
        more = _telling(run, shown)[: MOST_NAMES - len(reference.names)]
        while more:
            longer = attrs.evolve(reference, names=(*reference.names, *more))
            cost = self._tokens(longer) - tokens
            if cost <= room:
                shown.update(more)
                return longer, cost
            more = more[: len(more) // 2]
        return reference, 0

    def _longest(self, tokens: int) -> int:
        place = _LONGEST_PLACE if self._cites else None
        return self._tokens(attrs.evolve(_LONGEST_TRACE, tokens=tokens, place=place))

    def _tokens(self, reference: Reference) -> int:
        part = Part(kind=ItemKind.TRACE, place=(), text=reference.trace_text())
        return part_tokens(part, self._counter) + self._counter.per_message


def _telling(run: Sequence[Unit], shown: AbstractSet[str]) -> list[str]:
    """Names in what was asked and done there that nothing shows any more, the most often named first."""
    counts: Counter[str] = Counter()
    for unit in run:
        for item in unit.items:
            if item.kind in _ASKED:
                # In their order, for a set has another one in every process.
                names = dict.fromkeys(name for span in item.scan.spans for name in span.names)
                counts.update(name for name in names if name not in shown)
    return [name for name, _ in counts.most_common(MOST_NAMES) if len(name) <= _LONGEST_NAME]
