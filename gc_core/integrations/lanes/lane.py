"""One conversation of a framework, and the model calls that it makes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import cached_property
from typing import Final, Generic, TypeVar

import attrs

from gc_core.errors import (
    ConfigError,
    ContextOverflowError,
    GCError,
    MessageError,
    RereadLoopError,
    SessionClosedError,
    SpendLimitError,
)
from gc_core.integrations.agent_tools import AgentTools
from gc_core.integrations.lanes.begun_streams import BegunStream
from gc_core.integrations.lanes.codec import MessageCodec
from gc_core.isolation import isolated
from gc_core.providers import format_named
from gc_core.session.session import GCSession
from gc_core.values.agent_tool_schemas import TOOLS
from gc_core.values.loggers import logger
from gc_core.values.messages import Payload, Request, Usage

M = TypeVar("M")
R = TypeVar("R")
E = TypeVar("E")

_log = logger("gc_core.lanes")

_RAISED: Final = (ContextOverflowError, SpendLimitError, RereadLoopError, ConfigError, SessionClosedError)
"""What the user has to know; whatever else goes wrong in gc-core costs no call."""

RECALL: Final = next(tool for tool in TOOLS if tool.name == "recall")
"""The tool with which the model reads what was left out: its name, description and parameters."""


@attrs.frozen(kw_only=True)
class ModelCall(Generic[M]):
    """
    What a framework is about to send.

    Attributes:
        messages: The whole history, in the framework's own messages, without a system text that stands apart.
        system: The system text, or None if it is among the messages.
        tools: The tools' schemas, and what else is sent beside the messages and takes room, such as the schema of a
            structured answer, each in the shape of a tool's schema.
        model: The model's name, or "".

    """

    messages: Sequence[M] = attrs.field(repr=False)
    system: str | None = attrs.field(default=None, repr=False)
    tools: Sequence[Payload] = attrs.field(default=(), repr=False)
    model: str = ""


@attrs.define(eq=False)
class Lane(Generic[M]):
    """
    One conversation. Safe to call from threads; the framework's own messages are never changed.

    Attributes:
        session: Its session.
        codec: Reads and writes its messages.
        is_named: Its conversation has a name. One without may have begun in a lane that others used, too.
        users: The calls that use it now.

    """

    session: GCSession
    codec: MessageCodec[M] = attrs.field(repr=False)
    is_named: bool = True
    users: int = 0

    def call(self, given: ModelCall[M], send: Callable[[list[M]], R], usage: Callable[[R], Usage | None]) -> R:
        """
        Make a model call with what fits of the history. A refusal for its length is answered once, by a collection and
        a second call.

        Args:
            given: What the framework is about to send.
            send: Sends these messages in place of its own, and returns the reply.
            usage: Returns the usage that a reply reports; None if it reports none.

        Raises:
            ContextOverflowError: What may not be removed does not fit.
            SpendLimitError: The session has spent what it may.

        What ``send`` raises is raised again.

        """
        sent = self.fitted(given)
        with isolated() as attempt:
            reply = send(sent)
        if attempt.error is not None:
            reply = send(self.recovered(given, attempt.error))
        self.report(usage(reply))
        return reply

    async def call_async(
        self, given: ModelCall[M], send: Callable[[list[M]], Awaitable[R]], usage: Callable[[R], Usage | None]
    ) -> R:
        """Do what ``call`` does, without holding up the event loop: collections run in a thread."""
        sent = await asyncio.to_thread(self.fitted, given)
        with isolated() as attempt:
            reply = await send(sent)
        if attempt.error is not None:
            reply = await send(await asyncio.to_thread(self.recovered, given, attempt.error))
        self.report(usage(reply))
        return reply

    async def stream_async(
        self,
        given: ModelCall[M],
        start: Callable[[list[M]], AsyncIterator[E]],
        usage: Callable[[E], Usage | None],
        *,
        opens: Callable[[E], bool] = lambda _: False,
    ) -> AsyncIterator[E]:
        """
        Do what ``call_async`` does for a reply in events, each of which may report usage. A refusal comes first, or
        after events of which ``opens`` is true: they are passed on with the next one.
        """

        async def send(sent: list[M]) -> BegunStream[E]:
            begun = await BegunStream.of(start(sent), opens)
            if begun.error is not None and self.refusal(begun.error) is not None:
                raise begun.error
            return begun

        async for event in await self.call_async(given, send, lambda _: None):
            self.report(usage(event))
            yield event

    def fitted(self, given: ModelCall[M]) -> list[M]:
        """
        Return the messages to send: the framework's own objects wherever nothing was changed, and all of them where the
        list cannot be read, or the session's files cannot be written.

        Raises ContextOverflowError and SpendLimitError, as ``call`` does.
        """
        with isolated() as attempt:
            return self._fitted(given)
        error = attempt.error
        if isinstance(error, _RAISED):
            raise error
        quotes = isinstance(error, MessageError) or not isinstance(error, GCError)  # the conversation, in its text
        _log.warning("sent as it came", error=type(error).__name__ if quotes else str(error)[:500])
        return list(given.messages)

    def recovered(self, given: ModelCall[M], error: BaseException) -> list[M]:
        """
        Return fewer messages, after the provider refused those of ``fitted`` for their length. Raises any other error
        again, and ContextOverflowError when nothing more may be removed.
        """
        refusal = self.refusal(error)
        if refusal is None:
            raise error
        self.session.recover(refusal)
        return self.fitted(given)  # a run beside this one may have shown the session another list meanwhile

    def refusal(self, error: BaseException) -> BaseException | None:
        """Return the refusal for length that an error is, or was caused by; None for any other error."""
        read = format_named(self.session.format).refused_size
        return next((each for each in _with_causes(error) if read(each) is not None), None)

    def report(self, usage: Usage | None) -> None:
        """Take the usage that the provider reported for the last call; None for no report."""
        if usage is not None and usage.input_tokens:
            self.session.report_usage(usage)

    def _fitted(self, given: ModelCall[M]) -> list[M]:
        if given.model and given.model != self.session.port.model:
            self.session.switch(model=given.model)
        listed = _Listed.of(given.messages, self.codec)
        return listed.returned(self.session.sync(listed.payloads, system=given.system, tools=given.tools))

    @cached_property
    def tools(self) -> AgentTools:
        """The tool with which the model reads what was left out."""
        return AgentTools(self.session, names=[RECALL.name], listed_only=not self.is_named)


@attrs.frozen
class _Listed(Generic[M]):
    """A framework's list, with the payloads of the messages that the session sees."""

    messages: Sequence[M]
    codec: MessageCodec[M]
    payloads: tuple[Payload, ...]
    places: tuple[int, ...]
    """The place of each payload's message in the list."""

    @classmethod
    def of(cls, messages: Sequence[M], codec: MessageCodec[M]) -> _Listed[M]:
        read = [(place, codec.payload(message)) for place, message in enumerate(messages)]
        known = [(place, payload) for place, payload in read if payload is not None]
        return cls(messages, codec, tuple(payload for _, payload in known), tuple(place for place, _ in known))

    def returned(self, request: Request) -> list[M]:
        """Return the framework's messages for a request; those of unknown types stand where they stood."""
        answer: list[M] = []
        seen = set(self.places)
        unknown = [place for place in range(len(self.messages)) if place not in seen]
        for place, message in self._messages(request):
            while unknown and unknown[0] < place:
                answer.append(self.messages[unknown.pop(0)])
            answer.append(message)
        return [*answer, *(self.messages[place] for place in unknown)]

    def _messages(self, request: Request) -> Iterator[tuple[int, M]]:
        """Yield each message with its place in the list, -1 for one that is not of it."""
        own = {id(payload): place for payload, place in zip(self.payloads, self.places, strict=True)}
        origins = request.origins or (-1,) * len(request.messages)
        for payload, origin in zip(request.messages, origins, strict=True):
            place = own.get(id(payload), -1)
            if place >= 0:
                yield place, self.messages[place]
            elif origin >= 0:
                place = self.places[origin]
                yield place, self.codec.edited(self.messages[place], payload)
            elif payload.get("role") != "system":  # the framework sends its system text itself
                yield -1, self.codec.written(payload)


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what caused it: frameworks wrap those of a provider's client."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or each.__context__
