"""The triggers that the strategies of a session declare."""

from __future__ import annotations

from gc_core.errors import PluginError
from gc_core.plugins.manager import Named
from gc_core.session.runtime import Runtime
from gc_core.values.results import Goal
from gc_core.values.triggers import Trigger, Young


class DeclaredTriggers:
    """
    Reads the triggers of the strategies once, and says which hold in this session.

    Args:
        runtime: The session's.
        strategies: The strategies that collect, by name.

    Attributes:
        strategies: The strategies that collect, by name.

    """

    def __init__(self, runtime: Runtime, strategies: tuple[Named, ...]) -> None:
        self._runtime = runtime
        self.strategies = strategies
        self._read_of: tuple[Named, ...] = ()
        self._read: tuple[tuple[Named, tuple[Trigger, ...]], ...] = ()

    def active(self) -> tuple[Trigger, ...]:
        """Return all triggers that hold in this session."""
        return tuple(trigger for _, triggers in self._by_strategy() for trigger in triggers if self._holds(trigger))

    def strategies_for(self, goal: Goal) -> tuple[Named, ...]:
        """Return the strategies that a goal concerns: for a young collection those with a trigger for young content."""
        if not goal.is_young:
            return self.strategies
        return tuple(
            strategy
            for strategy, triggers in self._by_strategy()
            if any(isinstance(trigger, Young) and self._holds(trigger) for trigger in triggers)
        )

    def _by_strategy(self) -> tuple[tuple[Named, tuple[Trigger, ...]], ...]:
        """Return each strategy with its triggers; without triggers if its declaration is invalid."""
        if self._read_of is not self.strategies:
            read = []
            for name, strategy in self.strategies:
                triggers: tuple[Trigger, ...] = ()
                with self._runtime.plugins.guarded(name, "triggers"):
                    triggers = _checked(getattr(strategy, "triggers", ()))
                read.append(((name, strategy), triggers))
            self._read_of, self._read = self.strategies, tuple(read)
        return self._read

    def _holds(self, trigger: Trigger) -> bool:
        return not (isinstance(trigger, Young) and self._runtime.state.binds_thinking) or trigger.on_bound_thinking


def _checked(triggers: object) -> tuple[Trigger, ...]:
    if not isinstance(triggers, tuple) or not all(isinstance(each, Trigger) for each in triggers):
        raise PluginError(f"triggers = {triggers!r:.200}: expected a tuple of gc_core.Trigger values")
    return triggers
