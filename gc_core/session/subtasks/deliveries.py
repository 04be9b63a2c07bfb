"""The results of sub-tasks: taken into the parent's window, and cut to their leases."""

from __future__ import annotations

from collections.abc import Callable

from gc_core.errors import GCError, LeaseError
from gc_core.session.collection_runner import CollectionRunner
from gc_core.session.condense import Condenser
from gc_core.session.inbox import Inbox
from gc_core.session.masking import Masking
from gc_core.session.runtime import CallGate, Runtime
from gc_core.session.subtasks.lease import DELIVERED, OPEN, Lease
from gc_core.values.framing import SUB_TASK
from gc_core.values.items import ItemKind
from gc_core.values.messages import Payload

_TEXTS = frozenset({ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT, ItemKind.SYSTEM_TEXT, ItemKind.TOOL_RESULT})

Free = Callable[[Lease], None]


class Deliveries:
    """
    Takes in what sub-tasks bring back. A note waits while the model's own calls wait for their results.

    Args:
        runtime: The session's.
        gate: Lets one call in at a time: every thread may deliver.
        masking: Makes results ready for the log.
        inbox: Takes results.
        condenser: Cuts results to their leases.
        collections: Says whether a collection is running.

    """

    def __init__(
        self,
        runtime: Runtime,
        gate: CallGate,
        *,
        masking: Masking,
        inbox: Inbox,
        condenser: Condenser,
        collections: CollectionRunner,
    ) -> None:
        self._runtime = runtime
        self._gate = gate
        self._masking = masking
        self._inbox = inbox
        self._condenser = condenser
        self._collections = collections
        self._waiting: list[tuple[Lease, str]] = []
        self._to_cut: dict[str, int] = {}

    def take(self, lease: Lease, result: object, free: Free) -> tuple[str, ...]:
        """Take a lease's result; ``free`` is called once its tokens are not needed any more. See ``Lease.deliver``."""
        with self._gate.call("_deliver"):
            if lease.state is not OPEN:
                once = "a result can be delivered once, while the lease is open"
                raise LeaseError(f"lease {lease.name!r} was {lease.state}: {once}")
            payload = None if isinstance(result, str) else self._message_of(result)
            if payload is not None and self._holds_results(payload):
                ids = self._delivered_results(lease, payload, free)
            else:
                text = result if isinstance(result, str) else self._text_in(payload)
                if not text.strip():
                    without = "release() frees the room without a result"
                    raise LeaseError(f"the result for lease {lease.name!r} holds no text; {without}")
                ids = self._delivered_text(lease, text, free)
            self._cut()
            return ids

    def _delivered_results(self, lease: Lease, payload: Payload, free: Free) -> tuple[str, ...]:
        ids = self._append(payload)
        results = [key for key in ids if self._is_result(key)]
        share = (lease.tokens - self._runtime.counter.per_message) // max(1, len(results))
        self._to_cut.update(dict.fromkeys(results, max(1, share)))
        lease.state = DELIVERED
        free(lease)
        return ids

    def _delivered_text(self, lease: Lease, text: str, free: Free) -> tuple[str, ...]:
        if self._runtime.context.open_calls or self._collections.is_running:
            # After an open call it could pass for that call's result, and a collection that waits does not know of it.
            self._waiting.append((lease, text))
            lease.state = DELIVERED
            return ()
        return self._note(lease, text, free)

    def _note(self, lease: Lease, text: str, free: Free) -> tuple[str, ...]:
        """Append the note to log and window, whole for the moment."""
        (payload,) = self._runtime.format.results([(SUB_TASK + self._masking.name(lease.name), text)])
        ids = self._append(payload)
        most = lease.tokens - self._runtime.counter.per_message
        self._to_cut.update(dict.fromkeys(filter(self._is_result, ids), most))
        self._cut()
        lease.state = DELIVERED
        free(lease)
        return ids

    def _cut(self) -> None:
        """Cut results that are longer than their lease, as soon as their batch is complete."""
        if not self._to_cut or self._runtime.context.open_calls or self._collections.is_running:
            return
        long: dict[str, str | int] = {}
        for key, tokens in self._to_cut.items():
            item = self._runtime.context.find(key)
            if item is not None and item.tokens > tokens:
                long[key] = tokens
        self._to_cut.clear()
        if long:
            # If this fails the result stays whole, and pre_send handles the rest.
            with self._runtime.plugins.guarded("lease", "condense"), self._gate.call("condense"):
                self._condenser.condense(long)

    def _message_of(self, result: object) -> Payload:
        """Return the message itself, or the one inside the reply object of a provider's client."""
        payload = self._masking.plain(result)
        return payload if payload.keys() & {"role", "type"} else self._masking.plain(self._runtime.format.reply(result))

    def _is_result(self, key: str) -> bool:
        item = self._runtime.context.find(key)
        return item is not None and item.kind is ItemKind.TOOL_RESULT

    def _holds_results(self, payload: Payload) -> bool:
        return any(part.kind is ItemKind.TOOL_RESULT for part in self._runtime.format.read(payload))

    def _text_in(self, payload: Payload | None) -> str:
        parts = () if payload is None else self._runtime.format.read(payload)
        return "\n\n".join(part.text for part in parts if part.kind in _TEXTS and part.text.strip())

    def settle(self, free: Free) -> None:
        """Place the notes that waited, and cut what is longer than its lease; called before a model call."""
        self._cut()
        while self._waiting:
            lease, text = self._waiting.pop(0)
            try:
                self._note(lease, text, free)
            except GCError:  # it is not in the log: it keeps waiting, and its lease stays
                self._waiting.insert(0, (lease, text))
                raise

    def _append(self, payload: Payload) -> tuple[str, ...]:
        with self._gate.call("append"):
            return self._inbox.append(payload)
