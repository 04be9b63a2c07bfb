"""How a framework's own messages are read and written in a provider's shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from gc_core.values.messages import Payload

M = TypeVar("M")
B = TypeVar("B")


class MessageCodec(Protocol[M]):
    """Reads and writes the messages of one framework; one of them is one message in the shape of the lanes' format."""

    def payload(self, message: M) -> Payload | None:
        """
        Return the message in the provider's shape, in plain JSON values; the same message always gives the same.

        None for a message of an unknown type, and for one with content that the shape cannot hold: it stays in every
        request as it is, where it stands, and is neither counted nor collected.
        """
        ...

    def edited(self, message: M, payload: Payload) -> M:
        """Return a copy of the message with the content of its payload after a collection; the message stays as is."""
        ...

    def written(self, payload: Payload) -> M:
        """Return a message for one that gc-core wrote itself: a user's text, or a result where a call has none."""
        ...


class Plain:
    """For frameworks whose messages are the provider's own, as dicts."""

    def payload(self, message: Mapping[str, Any]) -> Payload | None:
        """Return the message itself."""
        return message

    def edited(self, message: Mapping[str, Any], payload: Payload) -> Mapping[str, Any]:  # noqa: ARG002 - the protocol
        """Return the payload, which is a message."""
        return payload

    def written(self, payload: Payload) -> Mapping[str, Any]:
        """Return the payload, which is a message."""
        return payload


def matched_blocks(
    blocks: Iterable[tuple[B, Payload]], edited: Iterable[Payload], change: Callable[[B | None, Payload], B]
) -> Iterator[B]:
    """
    Yield the framework's own blocks for a message after a collection.

    A block whose payload is unchanged is yielded itself. For any other ``change`` is asked, with the block that it
    replaces: the one with the same call id, or else the next that has gone; None if there is none.

    Args:
        blocks: The blocks before, each with its payload.
        edited: The payloads after, in the same order; some of them missing, some with other texts.
        change: Returns a block with the content of a payload.

    """
    waiting = list(blocks)
    after = list(edited)
    for place, payload in enumerate(after):  # not by position: a format may put results first
        found = next((number for number, (_, before) in enumerate(waiting) if before == payload), None)
        if found is None:
            found = _replaced(waiting, payload, after[place + 1 :])
            yield change(None if found is None else waiting[found][0], payload)
        else:
            yield waiting[found][0]
        if found is not None:
            del waiting[found]


def _replaced(waiting: Sequence[tuple[Any, Payload]], payload: Payload, later: Sequence[Payload]) -> int | None:
    key = _call_of(payload)
    if key is not None:
        return next((number for number, (_, before) in enumerate(waiting) if _call_of(before) == key), None)
    gone = (number for number, (_, before) in enumerate(waiting) if _call_of(before) is None and before not in later)
    return next(gone, None)


def _call_of(payload: Payload) -> tuple[str, Any] | None:
    """The call that a block makes or answers."""
    return next(((key, payload[key]) for key in ("tool_use_id", "tool_call_id", "id") if payload.get(key)), None)
