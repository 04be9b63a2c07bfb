"""What a contract is: rules as test methods, none of which is weakened in silence."""

from __future__ import annotations

import functools
import unittest
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

C = TypeVar("C", bound="Contract")

_IS_RULE = "is_a_rule_of_gc_core"
_ON_RULES = "test_weakens_no_rule_in_silence"


class Contract:
    """
    Rules that whatever is plugged in keeps; subclass one of the contracts, not this.

    Attributes:
        seeds: One made window, request or text for each. More of them find more, and take longer.
        weakened: Rules that do not hold here, by name, each with the reason; they are skipped, and the reason is shown.
            Only a rule named here may be replaced by a method of your own.

    """

    seeds: ClassVar[tuple[int, ...]] = tuple(range(8))
    weakened: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init_subclass__(cls, **more: Any) -> None:
        """Refuse a subclass that replaces the rule about weakened rules: nothing else could tell it."""
        super().__init_subclass__(**more)
        if _ON_RULES in vars(cls):
            raise TypeError(f"{cls.__name__} replaces {_ON_RULES}; name what does not hold in `weakened` instead")

    def test_weakens_no_rule_in_silence(self) -> None:
        """What does not hold is named in ``weakened`` with a reason; a rule replaced or misspelt would pass unseen."""
        assert self.seeds, "seeds is empty: no rule would look at anything; the default is range(8)"
        rules = dict(self.rules())
        for name, reason in self.weakened.items():
            assert name in rules, f"weakened names {name!r}, which is no rule here; the rules are {sorted(rules)}"
            assert isinstance(reason, str), f"weakened[{name!r}] = {reason!r}: expected the reason in words"
            assert reason.strip(), f"weakened[{name!r}] has no reason; say why the rule does not hold"
        replaced = {name for name, method in rules.items() if getattr(type(self), name) is not method}
        silent = sorted(replaced - set(self.weakened))
        assert not silent, f"{type(self).__name__} replaces {silent}; name them in `weakened`, each with the reason"

    @classmethod
    def rules(cls) -> Iterator[tuple[str, object]]:
        """The rules of the contract, by name, as gc-core wrote them."""
        for owner in cls.__mro__:
            for name, method in vars(owner).items():
                if getattr(method, _IS_RULE, False):
                    yield name, method


def rule(method: Callable[[C], None]) -> Callable[[C], None]:
    """A rule of a contract: skipped, with its reason, where a subclass weakens it."""

    @functools.wraps(method)
    def checked(contract: C) -> None:
        reason = contract.weakened.get(method.__name__, "")
        if isinstance(reason, str) and reason.strip():
            raise unittest.SkipTest(f"weakened: {reason}")  # pytest knows it too, and is not needed to say it
        method(contract)

    setattr(checked, _IS_RULE, True)
    return checked
