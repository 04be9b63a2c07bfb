"""What gc-core asks of a provider's message format and of a token counter."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Protocol

from gc_core.providers.server_edits import ServerEdits
from gc_core.values.items import Image, Part, Place
from gc_core.values.messages import Payload, Request, Role, Usage


class TokenCounter(Protocol):
    """Counts tokens as one model does, exactly or by an estimate that says so."""

    @property
    def name(self) -> str:
        """What a report calls it."""

    @property
    def exact(self) -> bool:
        """Whether it is the model's own tokenizer."""

    @property
    def per_message(self) -> int:
        """Tokens of framing that every message costs."""

    @property
    def per_request(self) -> int:
        """Tokens that every request costs once."""

    def count(self, text: str) -> int:
        """Return tokens of a text; special tokens in it are ordinary text. Never raises for any string."""

    def count_image(self, image: Image) -> int:
        """Return tokens of an image."""

    def count_thinking(self, part: Part) -> int:
        """Return tokens of a thinking part of the newest turn."""


class Format(Protocol):
    """
    One provider's message shape: reads payloads into parts, writes edited copies, makes requests.

    Payloads are JSON values (dicts, lists, strings, numbers); a format never changes one in place.

    Attributes:
        name: What a session's ``format=`` argument names.
        most_marks: Cache marks that a request may carry, 0 when the provider has none.
        alternates: Results are by themselves in their message, and a reply follows no reply (Gemini: G1, G2).
        replies_in_pieces: A reply may come item by item: payloads of the model side by side are one message
            (Responses).
        takes_last_thinking: Thinking may be the last part of a reply, or its only one; in a format of pieces, of one of
            them, for others may follow.
        needs_user_first: The conversation has to start with a user message.

    """

    name: str
    most_marks: int
    alternates: bool
    replies_in_pieces: bool
    takes_last_thinking: bool
    needs_user_first: bool

    def role(self, payload: Payload) -> Role:
        """Who speaks. Raises MessageError, naming the field, when the payload says it wrongly."""

    def read(self, payload: Payload) -> tuple[Part, ...]:
        """
        Return the parts of one message, in its order; every block is in exactly one part.

        Raises MessageError naming the field and what was expected.
        """

    def edit(self, payload: Payload, texts: Mapping[Place, str | None]) -> Payload | None:
        """
        Return a copy in which the parts at these places have another text, or (None) are gone.

        ``read`` of the copy yields the remaining parts in the same order. Blocks not named are the same objects.
        None when nothing is left. The text of a tool call is its arguments as one JSON object.
        """

    def with_call_ids(self, payload: Payload, ids: Mapping[Place, str]) -> Payload:
        """
        Return a copy in which the calls and results at these places have other ids; the payload itself where the
        provider takes ids that repeat.
        """

    def normalise(self, payload: Payload) -> Payload:
        """Return the payload itself, or a copy in the order that the provider demands (tool results first)."""

    def join(self, first: Payload, second: Payload) -> Payload | None:
        """
        Return one message for two, where the provider wants all results of a batch in one message, or takes a reply in
        pieces; else None.
        """

    def replaces(self, payload: Payload) -> bool:
        """Return whether the provider's own compaction stands for everything before this message (R4)."""

    def marks(self, payload: Payload) -> int:
        """Return how many cache marks a message or tool schema carries."""

    def unmarked(self, payload: Payload, keep: int) -> Payload:
        """Return a copy with only its last ``keep`` cache marks; the payload itself when it has no more."""

    def user(self, text: str) -> Payload:
        """Return a user message that the framework writes."""

    def results(self, answers: Sequence[tuple[str, str]], failed: Container[int] = ()) -> tuple[Payload, ...]:
        """
        Messages that answer calls: (call id, text) each, in the order of the calls; ``failed`` are the places of those
        whose tool failed, which are flagged where the provider has a flag.
        """

    def reply(self, reply: object) -> Payload:
        """
        Return the assistant message inside what the provider's client returned: an SDK object, a
        dict or a message.
        """

    def pieces(self, reply: Payload) -> tuple[Payload, ...]:
        """A reply as a caller's next list holds it: item by item where the provider sends it so, else as it is."""

    def history_elsewhere(self, reply: object) -> str | None:
        """
        Return where the provider keeps the history that this reply belongs to (R5), "" where the host sends it all;
        None when the reply does not tell.
        """

    def usage(self, usage: object) -> Usage:
        """Return the provider's usage report, an SDK object or a dict, in our words."""

    def server_edits(self, reply: object) -> ServerEdits | None:
        """
        Return what the provider itself left out of the request that this reply answers; None when the reply does not
        tell: the last report stands then. Raises MessageError for a report that cannot be read.
        """

    def declarations(self, tools: Sequence[Payload]) -> tuple[Payload, ...]:
        """Tool schemas one by one, where a tool may hold several (Gemini)."""

    def schema_name(self, schema: Payload) -> str:
        """Return the tool name in a schema of this format; raises MessageError when there is none."""

    def request(
        self, *, system: Sequence[str], tools: Sequence[Payload], messages: Sequence[Payload], tokens: int
    ) -> Request:
        """Return the request of these system texts, schemas and messages."""

    def refused_size(self, error: BaseException) -> tuple[int | None, int | None] | None:
        """
        (tokens sent, tokens allowed) that a context-length refusal names, each None where it is not named.

        None when the error is not a context-length refusal.
        """
