"""
What the window should hold, of three tiers: hot, warm and cold.

The algorithm is ``ContextPack`` of the seed (6.3): hot units newest first up to their share, warm ones by importance up
to theirs, cold ones in what is left, and then older hot ones again. It chooses; the order in the window stays that of
time, for a request has to stay valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import attrs

from gc_core.items import Unit


def _ratios(ratios: Iterable[float]) -> tuple[float, ...]:
    return tuple(ratios)


def _shares(_: object, field: attrs.Attribute[tuple[float, ...]], ratios: tuple[float, ...]) -> None:
    if len(ratios) != 3 or not all(0 <= ratio <= 1 for ratio in ratios):  # noqa: PLR2004 - hot, warm and cold
        raise ValueError(f"{field.name} = {ratios!r}: expected three shares from 0 to 1, for hot, warm and cold")
    if math.fsum(ratios) > 1 + 1e-9:
        raise ValueError(f"{field.name} = {ratios!r}: together they are more than the window")


@attrs.frozen(kw_only=True)
class Packed:
    """
    What was chosen.

    Attributes:
        kept: What the window should hold, oldest first.
        left_out: What it should not, the least important first.
        tokens: Tokens of what it should hold.

    """

    kept: tuple[Unit, ...]
    left_out: tuple[Unit, ...]
    tokens: int


@attrs.frozen(kw_only=True)
class ContextPacker:
    """
    Chooses the units that a budget of tokens should hold.

    Attributes:
        ratios: Shares of the budget for hot, warm and cold units.

    """

    ratios: tuple[float, ...] = attrs.field(default=(0.40, 0.35, 0.25), converter=_ratios, validator=_shares)

    def pack(
        self,
        *,
        hot: Sequence[Unit],
        warm: Sequence[Unit] = (),
        cold: Sequence[Unit] = (),
        budget: int,
        importance: Callable[[Unit], float],
    ) -> Packed:
        """
        The units of these tiers, each oldest first, that a budget of so many tokens should hold.

        Whole units alone are chosen; one that does not fit is passed over, and smaller ones after it may still fit.
        Asks for the importance of each unit at most once, and for that of hot ones only when they do not all fit.
        """
        choice = _Choice(budget)
        newest_first = hot[::-1]
        choice.take(newest_first, self.ratios[0] * budget)
        known = {unit.number: importance(unit) for unit in (*warm, *cold)}

        def rank(unit: Unit) -> tuple[float, int]:
            return -known[unit.number], -unit.number

        choice.take(sorted(warm, key=rank), self.ratios[1] * budget)
        choice.take(sorted(cold, key=rank), self.ratios[2] * budget)
        choice.take(newest_first, budget)
        choice.take(sorted(warm, key=rank), budget)
        out = [unit for unit in (*hot, *warm, *cold) if unit.number not in choice.taken]
        known |= {unit.number: importance(unit) for unit in out if unit.number not in known}
        return Packed(
            kept=tuple(sorted(choice.taken.values(), key=lambda unit: unit.number)),
            left_out=tuple(sorted(out, key=lambda unit: (known[unit.number], unit.number))),
            tokens=choice.tokens,
        )


class _Choice:
    """The units taken so far."""

    def __init__(self, budget: int) -> None:
        self.taken: dict[int, Unit] = {}
        self.tokens = 0
        self._budget = budget

    def take(self, units: Iterable[Unit], most: float) -> None:
        """Take of these, in their order, what fits into ``most`` tokens and into the budget."""
        spent = 0
        for unit in units:
            fits = spent + unit.tokens <= most and self.tokens + unit.tokens <= self._budget
            if fits and unit.number not in self.taken:
                spent += unit.tokens
                self.tokens += unit.tokens
                self.taken[unit.number] = unit
