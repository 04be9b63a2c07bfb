"""The contracts of a provider's message format and of a token counter."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Protocol

from gc_core.providers.server_edits import ServerEdits
from gc_core.values.items import Image, Part, Place
from gc_core.values.messages import Payload, Request, Role, Usage


class TokenCounter(Protocol):
    """Counts tokens as one model does, exactly or as a declared estimate."""

    @property
    def name(self) -> str:
        """The name that reports use."""

    @property
    def exact(self) -> bool:
        """True if it is the model's own tokenizer."""

    @property
    def per_message(self) -> int:
        """Tokens of framing for each message."""

    @property
    def per_request(self) -> int:
        """Tokens for each request."""

    def count(self, text: str) -> int:
        """Return the tokens of a text; special tokens in it are ordinary text. Never raises for any string."""

    def count_image(self, image: Image) -> int:
        """Return the tokens of an image."""

    def count_thinking(self, part: Part) -> int:
        """Return the tokens of a thinking part of the newest turn."""


class Format(Protocol):
    """
    One provider's message shape: reads payloads into parts, writes edited copies, builds requests.

    Payloads are JSON values (dicts, lists, strings, numbers); a format never changes one in place.

    Attributes:
        name: The value of a session's ``format=`` argument.
        most_marks: The most cache marks in a request, 0 if the provider has none.
        alternates: Results have separate messages, and replies do not follow replies (Gemini: G1, G2).
        replies_in_pieces: A reply may arrive item by item: adjacent payloads of the model are one message (Responses).
        takes_last_thinking: Thinking may be the last part of a reply, or its only one; in a format with pieces, of one
            piece, because others may follow.
        needs_user_first: The conversation has to start with a user message.

    """

    name: str
    most_marks: int
    alternates: bool
    replies_in_pieces: bool
    takes_last_thinking: bool
    needs_user_first: bool

    def role(self, payload: Payload) -> Role:
        """Return who speaks. Raises MessageError, naming the field, for an invalid role."""

    def speaker(self, payload: Payload) -> str:
        """Return the name that a message gives to who speaks, apart from the role, and that is sent; "" for none."""

    def read(self, payload: Payload) -> tuple[Part, ...]:
        """
        Return the parts of one message, in order; every block is in exactly one part.

        Raises MessageError naming the field and what was expected.
        """

    def places(self, payload: Payload) -> Sequence[Place]:
        """Return the places of the parts of a message that was read before."""

    def edit(self, payload: Payload, texts: Mapping[Place, str | None]) -> Payload | None:
        """
        Return a copy in which the parts at these places have another text, or (None) are removed.

        ``read`` of the copy returns the remaining parts in the same order. Other blocks are the same objects. None when
        nothing is left. The text of a tool call is its arguments as one JSON object.
        """

    def with_call_ids(self, payload: Payload, ids: Mapping[Place, str]) -> Payload:
        """
        Return a copy in which the calls and results at these places have other ids; the payload itself if the provider
        accepts repeated ids.
        """

    def normalise(self, payload: Payload) -> Payload:
        """Return the payload itself, or a copy in the order that the provider requires (tool results first)."""

    def join(self, first: Payload, second: Payload) -> Payload | None:
        """
        Return one message for two, if the provider wants all results of a batch in one message, or accepts replies in
        pieces; otherwise None.
        """

    def replaces(self, payload: Payload) -> bool:
        """Return whether the provider's own compaction replaces everything before this message (R4)."""

    def follows_users(self, payload: Payload) -> bool:
        """Return whether it is a compaction before which the provider wants user messages: a compacted window (R4)."""

    def marks(self, payload: Payload) -> int:
        """Return the number of cache marks in a message or tool schema."""

    def unmarked(self, payload: Payload, keep: int) -> Payload:
        """Return a copy with only its last ``keep`` cache marks; the payload itself if it has no more."""

    def user(self, text: str) -> Payload:
        """Return a user message written by the framework."""

    def results(self, answers: Sequence[tuple[str, str]], failed: Container[int] = ()) -> tuple[Payload, ...]:
        """
        Return the messages that answer calls: pairs of call id and text, in the order of the calls; ``failed`` are the
        indices of those whose tool failed, which are flagged if the provider has a flag.
        """

    def reply(self, reply: object) -> Payload:
        """Return the assistant message in what the provider's client returned: an SDK object, a dict or a message."""

    def pieces(self, reply: Payload) -> tuple[Payload, ...]:
        """
        Return a reply as a caller's next list contains it: item by item if the provider sends it so, otherwise as it
        is.
        """

    def history_elsewhere(self, reply: object) -> str | None:
        """
        Return where the provider stores the history of this reply (R5), "" if the host sends it all; None if the reply
        does not say.
        """

    def usage(self, usage: object) -> Usage:
        """Return the provider's usage report, an SDK object or a dict, as a ``Usage``."""

    def server_edits(self, reply: object) -> ServerEdits | None:
        """
        Return what the provider left out of the request that this reply answers; None if the reply does not say, so
        that the last report stays valid. Raises MessageError for a report that cannot be read.
        """

    def declarations(self, tools: Sequence[Payload]) -> tuple[Payload, ...]:
        """Tool schemas one by one, where a tool may hold several (Gemini)."""

    def schema_name(self, schema: Payload) -> str:
        """Return the tool name in a schema of this format; raises MessageError when there is none."""

    def request(
        self, *, system: Sequence[str], tools: Sequence[Payload], messages: Sequence[Payload], tokens: int
    ) -> Request:
        """Build the request from these system texts, schemas and messages."""

    def refused_size(self, error: BaseException) -> tuple[int | None, int | None] | None:
        """
        Return the tokens sent and allowed that a context-length refusal names, each None if it is not named.

        None when the error is not a context-length refusal.
        """
