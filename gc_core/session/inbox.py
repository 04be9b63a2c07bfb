"""What arrives in a session: messages, enrichment and memory, pins and policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from gc_core.errors import GCError, MessageError, SourceError
from gc_core.events import MessageRepaired, ProviderCompacted
from gc_core.session.masking import Masking
from gc_core.session.runtime import Runtime
from gc_core.storage.recorder import Taken
from gc_core.values.items import Item, number_of
from gc_core.values.messages import Payload, Role
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import RESERVED_SOURCES, InstructionSource


class Inbox:
    """
    Takes in what the host and the model say. Nothing here collects.

    Args:
        runtime: The session's.
        masking: Makes messages ready for the log.
        on_arrival: Sees what arrived before anybody is told of it.

    Attributes:
        held: How often the host has said how strongly something is held: a plan that was made before may not hold.

    """

    def __init__(self, runtime: Runtime, masking: Masking, *, on_arrival: Callable[[Taken], None]) -> None:
        self._runtime = runtime
        self._masking = masking
        self._on_arrival = on_arrival
        self._sent_items: int | None = None
        """Number of the newest item in the last request; None before this process made one."""
        self.held = 0

    def append(self, message: object, policy: GCPolicy | None = None) -> tuple[str, ...]:
        """Take a message of the conversation; see ``GCSession.append``."""
        payload = self._masking.message(message)
        if policy is not None:
            check_policy(policy, MessageError)
        return self.take(payload, policy).ids

    def take(self, payload: Payload, policy: GCPolicy | None, given: str = "") -> Taken:
        """Take a message that is ready for the log, with its digest in the caller's list, if it has one."""
        return self._arrived(self._runtime.recorder.take(payload, policy, self._runtime.plugins.classify, given))

    def place_waiting(self) -> None:
        """Close open calls, and place the blocks that wait at the end."""
        for taken in self._runtime.recorder.prepare():
            self._arrived(taken)

    def give(self, source: str, texts: Mapping[str, str]) -> None:
        """Take new versions of a source's named texts, for the end of the next request."""
        before = self._runtime.context
        self._runtime.recorder.give(self._masking.name(source), self._masking.texts(texts), self._is_unread)
        if self._runtime.context is not before:
            self._runtime.budget_changed()

    def register_source(self, source: InstructionSource) -> None:
        """Add a source of instructions; see ``GCSession.register_source``."""
        if not isinstance(source, InstructionSource):
            raise SourceError(f"source = {source!r:.200}: expected an InstructionSource")
        if any(own.name == source.name and own != source for own in RESERVED_SOURCES):
            raise SourceError(f"source {source.name!r} is gc-core's own; give yours another name")
        self._runtime.recorder.register(attrs.evolve(source, name=self._masking.name(source.name)))

    def set_pin(self, turn: int | None, item: str | None, *, pinned: bool) -> None:
        """Pin a turn or an item, or release it. Raises SourceError for what is neither."""
        if (turn is None) == (item is None):
            raise SourceError(f"pin takes a turn or an item; got turn={turn!r}, item={item!r}")
        if turn is not None and (type(turn) is not int or turn < 0):
            raise SourceError(f"turn = {turn!r}: expected a turn's number, counted from 0")
        if item is not None:
            self.resident(item)
        self.held += 1
        self._runtime.recorder.pin(turn, item, pinned=pinned)

    def set_policy(self, item: str, policy: GCPolicy) -> None:
        """Change how strongly a resident item is held."""
        check_policy(policy, SourceError)
        self.resident(item)
        self.held += 1
        self._runtime.recorder.set_policy(item, policy)
        self._runtime.budget_changed()

    def set_objective(self, text: str) -> None:
        """Set what the agent is after; see ``GCSession.objective``."""
        if not isinstance(text, str):
            raise SourceError(f"objective = {text!r:.200}: expected a text")
        if text != self._runtime.state.objective.given:
            self._runtime.recorder.aim(self._masking.text(text))

    def resident(self, item: str) -> Item:
        """Return a resident item. Raises SourceError when there is no this id."""
        found = self._runtime.context.find(item)
        if found is None:
            raise SourceError(f"item {item!r} is not in the window")
        return found

    def note_sent(self) -> None:
        """A request has been rendered with all that is in the window."""
        self._sent_items = self._runtime.context.cursor.items

    def is_unsent(self, item: Item) -> bool:
        """Return whether no request had the item; of what another process may have sent that is not known."""
        if self._sent_items is None:
            return not self._runtime.state.sent
        return number_of(item.id) > self._sent_items

    # -- inside --------------------------------------------------------------------------------------------------

    def _is_unread(self, item: Item) -> bool:
        """Return the same, and no reply stands after it: the host may have sent what no ``pre_send`` gave."""
        messages = self._runtime.context.messages
        newest = next((message for message in reversed(messages) if message.role is Role.ASSISTANT), None)
        replied = 0 if newest is None else max(number_of(each.id) for each in newest.items)
        return self.is_unsent(item) and number_of(item.id) > replied

    def _arrived(self, taken: Taken) -> Taken:
        """Announce what arrived; it is logged and in the window."""
        self._on_arrival(taken)
        events = self._runtime.events
        for repair in taken.arrival.repairs:
            events.emit(MessageRepaired(kind=repair.kind, text=repair.text))
        if taken.arrival.compacted:
            after = self._runtime.context.budget.total
            events.emit(ProviderCompacted(tokens_before=taken.tokens_before, tokens_after=after))
        if taken.new:
            self._runtime.budget_changed()
        return taken


def check_policy(policy: object, error: type[GCError]) -> None:
    """Raise this error for what is no policy."""
    if not isinstance(policy, GCPolicy):
        raise error(f"policy = {policy!r}: expected a GCPolicy")
