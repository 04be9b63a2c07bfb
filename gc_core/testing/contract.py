"""The base of contracts: rules as test methods, none of which can be weakened silently."""

from __future__ import annotations

import functools
import sys
import threading
import traceback
import unittest
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

C = TypeVar("C", bound="Contract")

_IS_RULE = "is_a_rule_of_gc_core"
_ON_RULES = "test_weakens_no_rule_in_silence"


class Contract:
    """
    Rules that every plugin of a kind keeps; subclass one of the contracts, not this class.

    Attributes:
        seeds: One generated window, request or text for each. More of them find more, and take longer.
        seconds: How long a rule may take. One that takes longer fails, and reports where it hangs: for example in a
            strategy that never stops. After that the other rules of the class are skipped.
        weakened: Rules that do not hold here, by name, each with the reason; they are skipped, and the reason is shown.
            Only a rule named here may be replaced by a method of your own.
        hanging: The rule that has not ended, or ""; set by the rules themselves.

    """

    seeds: ClassVar[tuple[int, ...]] = tuple(range(8))
    seconds: ClassVar[float] = 120.0
    weakened: ClassVar[Mapping[str, str]] = MappingProxyType({})
    hanging: ClassVar[str] = ""

    def __init_subclass__(cls, **more: Any) -> None:
        """Refuse a subclass that replaces the rule about weakened rules: nothing else could detect it."""
        super().__init_subclass__(**more)
        if _ON_RULES in vars(cls):
            raise TypeError(f"{cls.__name__} replaces {_ON_RULES}; name what does not hold in `weakened` instead")

    def test_weakens_no_rule_in_silence(self) -> None:
        """
        Rules that do not hold are named in ``weakened`` with a reason; a replaced or misspelt rule
        would go unnoticed.
        """
        assert self.seeds, "seeds is empty: no rule would look at anything; the default is range(8)"
        rules = dict(self.rules())
        for name, reason in self.weakened.items():
            assert name in rules, f"weakened names {name!r}, which is not a rule here; the rules are {sorted(rules)}"
            assert isinstance(reason, str), f"weakened[{name!r}] = {reason!r}: expected the reason in words"
            assert reason.strip(), f"weakened[{name!r}] has no reason; say why the rule does not hold"
        replaced = {name for name, method in rules.items() if getattr(type(self), name) is not method}
        silent = sorted(replaced - set(self.weakened))
        assert not silent, f"{type(self).__name__} replaces {silent}; name them in `weakened`, each with the reason"

    @classmethod
    def rules(cls) -> Iterator[tuple[str, object]]:
        """Yield the rules of the contract, by name, as gc-core wrote them."""
        for owner in cls.__mro__:
            for name, method in vars(owner).items():
                if getattr(method, _IS_RULE, False):
                    yield name, method


def rule(method: Callable[[C], None]) -> Callable[[C], None]:
    """Return a rule of a contract: skipped, with its reason, if a subclass weakens it."""

    @functools.wraps(method)
    def checked(contract: C) -> None:
        reason = contract.weakened.get(method.__name__, "")
        if isinstance(reason, str) and reason.strip():
            raise unittest.SkipTest(f"weakened: {reason}")  # pytest knows it too, and need not be imported
        _in_time(method, contract)

    setattr(checked, _IS_RULE, True)
    return checked


def _in_time(method: Callable[[C], None], contract: C) -> None:
    """Run a rule in a separate thread, which ends with the process if what it tests never returns."""
    kind, raised = type(contract), list[BaseException]()
    assert not kind.hanging, f"not asked: {kind.hanging} has not come to an end"

    def ask() -> None:
        try:
            method(contract)
        except BaseException as error:  # noqa: BLE001 - raised again below, in the thread of the test
            raised.append(error)

    thread = threading.Thread(target=ask, name=method.__name__, daemon=True)
    thread.start()
    thread.join(kind.seconds)
    if thread.is_alive():
        kind.hanging = f"{kind.__name__}.{method.__name__}"
        raise AssertionError(f"{kind.hanging} takes longer than {kind.seconds:g} s; it is here:\n{_place(thread)}")
    if raised:
        raise raised[0]


def _place(thread: threading.Thread) -> str:
    """Return where a thread is: its six innermost calls, the last one last."""
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - how Python shows where its threads are
    return "".join(traceback.format_stack(frame, limit=6)) if frame is not None else "it has just ended"
