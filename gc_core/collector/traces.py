"""The texts of the traces at the cuts, and their cost: exact, or at their longest while that is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import attrs

from gc_core.providers.contract import TokenCounter
from gc_core.providers.token_counting import part_tokens
from gc_core.values.items import ItemKind, Part, Unit
from gc_core.values.references import HINTED_FROM, MOST_NAMES, PLAIN, ByteRange, Reference, Stretch
from gc_core.window.stubs import reference_over

LEAST_TIMES = 4
"""A trace is written only if it replaces at least this many times its own tokens."""

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
"""Characters of a name above which it would cost too many tokens."""


@attrs.frozen(kw_only=True)
class Notice:
    """
    A trace that a plan writes.

    Attributes:
        units: The units that it covers, oldest first, including absorbed traces.
        heard: Those whose users it may quote: also units that no notice covers.
        takes_place_of: The item whose place it takes: the first that left there.
        reference: Its content.
        tokens: Its tokens, including its message.
        quoted: Those of its quotes.

    """

    units: tuple[Unit, ...]
    takes_place_of: str
    reference: Reference
    tokens: int
    heard: tuple[Unit, ...] = ()
    quoted: int = 0


class Traces:
    """
    Writes references for runs of units, and counts their traces.

    ``cites``: they name the bytes of the log with the originals; without ``recalls`` they have no ids; ``form`` is how
    the model recalls them.
    """

    def __init__(self, counter: TokenCounter, *, cites: bool, recalls: bool = True, form: str = PLAIN) -> None:
        self._counter = counter
        self._cites = cites
        self._recalls = recalls
        self._form = form
        self._known: dict[tuple[tuple[int, ...], tuple[Stretch, ...]], tuple[Reference, int]] = {}
        self._longest_plain = self._longest(HINTED_FROM - 1)
        self._longest_hinted = self._longest(10**7)

    def spanning(self, units: Sequence[Unit], elsewhere: tuple[Stretch, ...] = ()) -> tuple[Reference, int]:
        """
        Return the reference for a run of units, without what is named ``elsewhere``, and its tokens; called whenever
        the traces are counted.
        """
        run = tuple([unit.number for unit in units]), elsewhere
        known = self._known.get(run)
        if known is None:
            items = [item for unit in units for item in unit.items]
            reference = reference_over(
                items, cites=self._cites, recalls=self._recalls, form=self._form, elsewhere=elsewhere
            )
            known = self._known[run] = reference, self.tokens(reference)
        return known

    def fitted(self, reference: Reference, most: int) -> tuple[Reference, int]:
        """Return the reference with as much of its details as this many tokens allow; and its tokens."""
        tokens = self.tokens(reference)
        while tokens > most and reference.names:
            reference = attrs.evolve(reference, names=reference.names[(len(reference.names) + 1) // 2 :])
            tokens = self.tokens(reference)
        if tokens > most and reference.preview:
            reference = attrs.evolve(reference, preview="")
            tokens = self.tokens(reference)
        return reference, tokens

    def most(self, left_out: int) -> int:
        """Return the most tokens of a trace for this many left-out tokens: small ones have no hint."""
        if left_out < LEAST_TIMES * 8:
            return 0
        return self._longest_hinted if left_out >= HINTED_FROM else self._longest_plain

    def carried_cost(self, reference: Reference | None) -> int:
        """Return the tokens of a trace's details; the longest trace is counted without any."""
        if reference is None or not (reference.names or reference.said):
            return 0
        return self.tokens(reference) - self.tokens(attrs.evolve(reference, names=(), said=()))

    def quotes_cost(self, reference: Reference) -> int:
        """Return the tokens of the quotes in a trace."""
        return self.tokens(reference) - self.tokens(attrs.evolve(reference, said=())) if reference.said else 0

    def quoting(self, notice: Notice, said: tuple[str, ...]) -> Notice:
        """Return a notice that quotes these sentences."""
        reference = attrs.evolve(notice.reference, said=said)
        tokens = self.tokens(reference)
        quoted = notice.quoted + tokens - notice.tokens
        return attrs.evolve(notice, reference=reference, tokens=tokens, quoted=quoted)

    def with_names(self, notice: Notice, shown: set[str], room: int) -> tuple[Reference, int]:
        """
        Return the notice's reference with names that the window would lose, as many as there is room for; and what
        these cost. They are ``shown`` from then on.
        """
        run, reference, tokens = notice.units, notice.reference, notice.tokens
        more = _lost_names(run, shown)[: MOST_NAMES - len(reference.names)]
        while more:
            longer = attrs.evolve(reference, names=(*reference.names, *more))
            cost = self.tokens(longer) - tokens
            if cost <= room:
                shown.update(more)
                return longer, cost
            more = more[: len(more) // 2]
        return reference, 0

    def tokens(self, reference: Reference) -> int:
        """Return the tokens of the trace for a reference, including its message."""
        part = Part(kind=ItemKind.TRACE, place=(), text=reference.trace_text())
        return part_tokens(part, self._counter) + self._counter.per_message

    def _longest(self, tokens: int) -> int:
        place = _LONGEST_PLACE if self._cites else None
        longest = attrs.evolve(_LONGEST_TRACE, tokens=tokens, place=place, recalls=self._recalls, form=self._form)
        return self.tokens(longest)


def _lost_names(run: Sequence[Unit], shown: AbstractSet[str]) -> list[str]:
    """Return names of requests and actions there that nothing shows any more, the most frequent first."""
    counts: Counter[str] = Counter()
    for unit in run:
        for item in unit.items:
            if item.kind in _ASKED and (lost := item.scan.names - shown):
                # In their order, for a set has another one in every process.
                names = [name for span in item.scan.spans for name in span.names if name in lost]
                counts.update([*dict.fromkeys(names)])
    return [name for name, _ in counts.most_common(MOST_NAMES) if len(name) <= _LONGEST_NAME]
