"""Makes a request fit when collections did not: shortens blocks, takes the last resort, or raises the error."""

from __future__ import annotations

import attrs

from gc_core.collector.summarizing import Steps
from gc_core.errors import ContextOverflowError
from gc_core.session.collection_runner import CollectionRunner
from gc_core.session.provider_state import ProviderState
from gc_core.session.runtime import Runtime
from gc_core.session.task_memory import TaskMemory
from gc_core.session.window_meter import WindowMeter
from gc_core.values.items import Item, ItemKind
from gc_core.values.loggers import bound_collection, logger
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import CONVERSATION
from gc_core.window.stubs import is_shortened_block

_GIVEN_BY_USER = frozenset({ItemKind.USER_TEXT, ItemKind.ATTACHMENT})

_log = logger("gc_core.session")


class RequestFitter:
    """
    Makes the next request fit in the usable window.

    Args:
        runtime: The session's.
        meter: Measures the window.
        provider: Says whether the provider keeps the history, and shortens it itself.
        task: Places the task state, which gives way last.
        collections: Runs the last resort and commits it.

    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        meter: WindowMeter,
        provider: ProviderState,
        task: TaskMemory,
        collections: CollectionRunner,
    ) -> None:
        self._runtime = runtime
        self._meter = meter
        self._provider = provider
        self._task = task
        self._collections = collections

    def make_it_fit(self) -> Steps[None]:
        """
        Make the request fit. The task state is placed before the last resort and gives way when nothing else helps.
        Content that the last resort removed is covered by the state in this request too, if there is room. Raises
        ContextOverflowError when nothing helps.
        """
        self._task.place()
        try:
            yield from self._shrink()
        except ContextOverflowError:
            if not self._task.give_way():
                raise
            yield from self._shrink()
        self._task.restate_if_missing()
        self._task.place()

    def _shrink(self) -> Steps[None]:
        """
        Take the last resort; raises ContextOverflowError if it does not help. It may run twice: changes that waited for
        a break take effect with the first pass, and may be large.
        """
        if self._provider.kept_at:
            return  # the provider keeps the history and shortens it itself
        for _ in range(2 * self._runtime.config.auto_trigger):
            if self._meter.scheduler.fits(self._meter.moment()):
                return
            yield from self.last_resort(self._meter.scheduler.fit(self._meter.moment()))
        if not self._meter.scheduler.fits(self._meter.moment()):
            raise self.overflow()

    def shorten_blocks(self) -> Steps[None]:
        """
        Shorten blocks that have not been sent and would not fit whatever a collection removed. Their policy allows that
        unless they are LOCKED, and no history has to leave for them.
        """
        moment = self._meter.moment()
        if self._provider.kept_at or not self._runtime.config.auto_trigger or self._meter.scheduler.fits(moment):
            return
        if not any(is_shortened_block(message.items[0]) for message in self._runtime.context.messages):
            return
        with bound_collection(), self._runtime.plugins.guarded("collection", "shortening blocks"):
            goal = self._meter.scheduler.overflow(moment)
            collected = yield from self._collections.attempt(
                goal, fit=self._meter.scheduler.fit(moment), blocks_only=True
            )
            if not collected.stale and collected.context is not self._runtime.context:
                self._collections.commit(collected)

    def last_resort(self, fit: int) -> Steps[None]:
        """Remove whatever may go until the request has at most ``fit`` tokens; change nothing if that does not help."""
        goal = self._meter.scheduler.overflow(self._meter.moment())
        if not self._runtime.context.recalls:  # a list is used up to its budget, whatever target a strategy declares
            goal = attrs.evolve(goal, target_tokens=fit)
        with bound_collection():
            _log.info("last resort began", tokens=self._meter.moment().tokens, room_tokens=fit)
            collected = yield from self._collections.attempt(goal, fit=fit)
            if (
                not collected.stale
                and collected.context is not self._runtime.context
                and collected.result.tokens_after <= fit
            ):
                self._collections.commit(collected)

    def overflow(self) -> ContextOverflowError:
        """Return the error that names the owners of the tokens."""
        items = tuple(self._runtime.context.items())
        asked = sum(item.tokens for item in items if _is_request(item))
        hint = f"; {asked:,} tokens are the original request, which is never shortened" if asked else ""
        back = sum(item.tokens for item in items if item.id in self._runtime.state.undone)
        if back:
            hint += f"; {back:,} tokens that undo or restore brought back are pinned until release()"
        needed = self._meter.moment().taken
        _log.warning("request does not fit", tokens=needed, usable_tokens=self._runtime.config.usable)
        return ContextOverflowError(limit=self._runtime.config.usable, needed=needed, owners=self.owners(), hint=hint)

    def owners(self) -> dict[str, int]:
        """Return the tokens by owner: sources, turns of the conversation, and leases."""
        owners: dict[str, int] = {"overhead of messages": self._runtime.context.budget.overhead}
        for source in self._runtime.context.budget.sources:
            entry = self._runtime.context.budget.entry(source.name)
            for child in entry.children:
                owner = f"{source.name} {child.label}"
                owners[owner] = owners.get(owner, 0) + child.tokens
        leased = {f"lease {name!r}": tokens for name, tokens in self._meter.leased.items()}
        return {owner: tokens for owner, tokens in owners.items() if tokens} | leased


def _is_request(item: Item) -> bool:
    return item.kind in _GIVEN_BY_USER and item.source == CONVERSATION.name and item.policy is GCPolicy.LOCKED
