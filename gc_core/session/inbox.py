"""Input of a session: messages, enrichment and memory, pins and policies."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

import attrs

from gc_core.errors import GCError, MessageError, SourceError
from gc_core.events import MessageRepaired, ProviderCompacted
from gc_core.relevance.provisional import promised_by
from gc_core.session.masking import Masking
from gc_core.session.runtime import Runtime
from gc_core.storage.recorder import Taken
from gc_core.values.items import Item, number_of
from gc_core.values.loggers import note_turn
from gc_core.values.messages import Payload, Role
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import RESERVED_SOURCES, InstructionSource
from gc_core.values.validators import check_text
from gc_core.window.callers_list import digest_of_given


class Inbox:
    """
    Takes in what the host and the model say. Collects nothing.

    Args:
        runtime: The session's.
        masking: Makes messages ready for the log.
        on_arrival: Called with what arrived, before the listeners.

    Attributes:
        held: Counts changes of policies and pins: a plan made before the last one is stale.

    """

    def __init__(self, runtime: Runtime, masking: Masking, *, on_arrival: Callable[[Taken], None]) -> None:
        self._runtime = runtime
        self._masking = masking
        self._on_arrival = on_arrival
        self._sent_items: int | None = None
        """Number of the newest item in the last request; None until this process has sent one."""
        self._promised: list[str] = []
        """The provider's ids of calls with a provisional answer: their results come late, as text."""
        self._run: int | None = None
        """Number of the item before the user messages that came last in the list that is being taken."""
        self._is_list = False
        self.held = 0

    @contextlib.contextmanager
    def one_list(self, run: int | None = None) -> Iterator[None]:
        """
        Take what follows as one list: a compaction by itself keeps the user messages directly before it (R4). ``run``
        is the number of the item before those with which the known part of the list ends.
        """
        self._run, self._is_list = run, True
        try:
            yield
        finally:
            self._run, self._is_list = None, False

    def append(self, message: object, policy: GCPolicy | None = None, *, listed: bool = False) -> tuple[str, ...]:
        """Take a message of the conversation, which the caller's next list has too if ``listed``."""
        plain = self._masking.unmasked(message)
        if policy is not None:
            check_policy(policy, MessageError)
        return self.take(self._masking.copied(plain), policy, digest_of_given(plain) if listed else "").ids

    def take(self, payload: Payload, policy: GCPolicy | None, given: str = "") -> Taken:
        """Take a message that is ready for the log, with its digest in the caller's list, if it has one."""
        runtime = self._runtime
        before, run = runtime.context.cursor.items, self._run
        kept_after = run if run is not None and runtime.format.follows_users(payload) else None
        taken = runtime.recorder.take(payload, policy, runtime.plugins.classify, given, kept_after)
        is_users = self._is_list and runtime.format.role(payload) is Role.USER
        self._run = (before if run is None else run) if is_users else None
        return self._arrived(taken)

    def place_waiting(self) -> None:
        """Close open calls, and place the waiting blocks at the end."""
        for taken in self._runtime.recorder.prepare():
            self._arrived(taken)

    def give(self, source: str, texts: Mapping[str, str]) -> None:
        """Set new versions of a source's named texts, for the end of the next request."""
        check_text("source", source)
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
        """Pin a turn or an item, or unpin it. Raises SourceError for anything else."""
        if (turn is None) == (item is None):
            raise SourceError(f"pin takes a turn or an item; got turn={turn!r}, item={item!r}")
        if turn is not None and (pinned or turn not in tuple(self._runtime.state.pinned_turns)):
            self._runtime.recorder.turn_began(turn)
        if item is not None:
            self.resident(item)
        self.held += 1
        self._runtime.recorder.pin(turn, item, pinned=pinned)

    def set_policy(self, item: str, policy: GCPolicy) -> None:
        """Change the policy of a resident item."""
        check_policy(policy, SourceError)
        self.resident(item)
        self.held += 1
        self._runtime.recorder.set_policy(item, policy)
        self._runtime.budget_changed()

    def set_objective(self, text: str) -> None:
        """Set the objective; see ``GCSession.objective``."""
        if not isinstance(text, str):
            raise SourceError(f"objective = {text!r:.200}: expected a text")
        if text != self._runtime.state.objective.given:
            self._runtime.recorder.aim(self._masking.text(text))

    def resident(self, item: str) -> Item:
        """Return a resident item. Raises SourceError when there is no item with this id."""
        check_text("item", item)
        found = self._runtime.context.find(item)
        if found is None:
            raise SourceError(f"item {item!r} is not in the window")
        return found

    def note_sent(self) -> None:
        """Note that a request with everything in the window has been rendered."""
        self._sent_items = self._runtime.context.cursor.items

    def is_unsent(self, item: Item) -> bool:
        """Return whether no request of this process contained the item."""
        if self._sent_items is None:
            return not self._runtime.state.sent
        return number_of(item.id) > self._sent_items

    # -- inside --------------------------------------------------------------------------------------------------

    def _is_unread(self, item: Item) -> bool:
        """Return whether the item is unsent and no reply follows it: the host may have sent it without ``pre_send``."""
        messages = self._runtime.context.messages
        newest = next((message for message in reversed(messages) if message.role is Role.ASSISTANT), None)
        replied = 0 if newest is None else max(number_of(each.id) for each in newest.items)
        return self.is_unsent(item) and number_of(item.id) > replied

    def _arrived(self, taken: Taken) -> Taken:
        """Announce what arrived; it is already logged and in the window."""
        note_turn()
        self._on_arrival(taken)
        events = self._runtime.events
        self._promised += [call_id for item in taken.new if (call_id := promised_by(item))]
        for repair in taken.arrival.repairs:
            if repair.call_id in self._promised:
                self._promised.remove(repair.call_id)
                continue
            events.emit(MessageRepaired(kind=repair.kind, text=repair.text))
        if taken.arrival.compacted:
            after = self._runtime.context.budget.total
            events.emit(ProviderCompacted(tokens_before=taken.tokens_before, tokens_after=after))
        if taken.new:
            self._runtime.budget_changed()
        return taken


def check_policy(policy: object, error: type[GCError]) -> None:
    """Raise this error for anything that is not a policy."""
    if not isinstance(policy, GCPolicy):
        raise error(f"policy = {policy!r}: expected a GCPolicy")
