"""The base class of the formats: defaults that hold for most providers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gc_core.providers import context_length_errors
from gc_core.providers.server_edits import ServerEdits
from gc_core.values.items import Place
from gc_core.values.messages import Payload


class MessageFormat:
    """
    The defaults of ``Format``: no breakpoints, one message for each result, the whole history in every request.

    The shape of a message has no default: ``name``, ``role``, ``read``, ``edit``, ``normalise``, ``results``,
    ``reply``, ``usage``, ``schema_name`` and ``request`` are each format's own.
    """

    most_marks = 0
    alternates = False
    replies_in_pieces = False
    takes_last_thinking = False
    needs_user_first = False

    def speaker(self, payload: Payload) -> str:  # noqa: ARG002 - the protocol
        """Return "": who speaks has a role and no name."""
        return ""

    def with_call_ids(self, payload: Payload, ids: Mapping[Place, str]) -> Payload:  # noqa: ARG002 - the protocol
        """Return the payload unchanged: call ids may repeat."""
        return payload

    def join(self, first: Payload, second: Payload) -> Payload | None:  # noqa: ARG002 - the protocol
        """Return None: every message is sent by itself."""
        return None

    def replaces(self, payload: Payload) -> bool:  # noqa: ARG002 - the protocol
        """Return False: no message replaces what came before it."""
        return False

    def follows_users(self, payload: Payload) -> bool:  # noqa: ARG002 - the protocol
        """Return False: a compaction, if there is any, comes first."""
        return False

    def marks(self, payload: Payload) -> int:  # noqa: ARG002 - the protocol
        """Return 0: messages carry no breakpoints."""
        return 0

    def unmarked(self, payload: Payload, keep: int) -> Payload:  # noqa: ARG002 - the protocol
        """Return the payload unchanged: it carries no breakpoints."""
        return payload

    def user(self, text: str) -> Payload:
        """Return a user message with one text."""
        return {"role": "user", "content": text}

    def pieces(self, reply: Payload) -> tuple[Payload, ...]:
        """Return the reply: it is one message."""
        return (reply,)

    def declarations(self, tools: Sequence[Payload]) -> tuple[Payload, ...]:
        """Return the schemas: each tool is one."""
        return tuple(tools)

    def history_elsewhere(self, reply: object) -> str | None:  # noqa: ARG002 - the protocol
        """Return None: every request carries the whole history, and replies do not say so."""
        return None

    def server_edits(self, reply: object) -> ServerEdits | None:  # noqa: ARG002 - the protocol
        """Return None: the provider does not edit requests."""
        return None

    def refused_size(self, error: BaseException) -> tuple[int | None, int | None] | None:
        """Return the tokens sent and allowed that a context-length refusal names; None for any other error."""
        return context_length_errors.refused_size(error)
