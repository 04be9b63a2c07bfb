"""Callers who hold the whole list of messages themselves, and pass it with each call."""

from __future__ import annotations

import bisect
import itertools
import json
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from gc_core.cache.moved_marks import mark_moved
from gc_core.errors import MessageError
from gc_core.providers.fields import in_list
from gc_core.providers.token_counting import message_tokens
from gc_core.relevance.compactions import is_compaction
from gc_core.session.inbox import Inbox
from gc_core.session.masking import Masking
from gc_core.session.request_head import RequestHead
from gc_core.session.runtime import Runtime
from gc_core.session.timeline import Timeline
from gc_core.storage.recorder import Taken
from gc_core.values.items import ItemKind
from gc_core.values.layers import is_own
from gc_core.values.messages import Payload, Request, Role, without_marks
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import SYSTEM
from gc_core.values.validators import check_flag, listed
from gc_core.window.callers_list import Given, Spelling, digest_of_given, known_prefix, origins_of
from gc_core.window.context import Edits

_PART = "base"
"""The part of the system text that is the caller's."""


@attrs.frozen(kw_only=True, eq=False)
class CallersList:
    """
    What a caller passed.

    Attributes:
        messages: Its messages, as it holds them.
        copies: Each as plain JSON values, with its digest.
        digests: Of each, in its normal form.
        system: Its system text: blocks, or None where it passed none.
        tools: Its tool schemas, or None.
        marks: The session's own cache breakpoints are wanted instead of the caller's.

    """

    messages: tuple[Any, ...]
    copies: tuple[tuple[Payload, str], ...] = attrs.field(repr=False)
    digests: tuple[str, ...]
    system: tuple[Any, ...] | None = None
    tools: tuple[Any, ...] | None = None
    marks: bool = False

    def find(self, digest: str, start: int) -> int | None:
        """The first place of a message with this digest, from a place on; None if there is none."""
        if start < len(self.digests) and self.digests[start] == digest:
            return start
        places = self._places.get(digest, ())
        at = bisect.bisect_left(places, start)
        return places[at] if at < len(places) else None

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        places: dict[str, list[int]] = {}
        for place, digest in enumerate(self.digests):
            places.setdefault(digest, []).append(place)
        return places


class ListSync:
    """
    Brings a session in step with a caller's list, and gives the caller its own objects back.

    Args:
        runtime: The session's.
        masking: Makes messages ready for the log.
        inbox: Takes them in.
        head: Sets system text and tools.
        timeline: Goes back where a list departs from what is known.

    Attributes:
        current: The list of the last request; None in a session without lists.

    """

    def __init__(
        self, runtime: Runtime, *, masking: Masking, inbox: Inbox, head: RequestHead, timeline: Timeline
    ) -> None:
        self._runtime = runtime
        self._masking = masking
        self._inbox = inbox
        self._head = head
        self._timeline = timeline
        self.current: CallersList | None = None
        self._spellings: tuple[Spelling, ...] = ()
        """What else the next list may begin with: the last request, and the last list."""
        self._is_fed_back = False
        """Whether the current list begins with a request."""
        self._origins: list[int] = []
        """Where in the caller's list each message of the last request is, -1 for nowhere."""
        self._rendered: dict[int, tuple[Payload, str]] = {}
        """Digests of the payloads of the last request, by identity: the window's payloads are hashed once."""
        self._last: tuple[tuple[Payload, str], ...] = ()
        """The last list, copied, with digests: to compare is quicker than to hash."""

    def read(
        self,
        messages: Iterable[object],
        system: str | Iterable[object] | None,
        tools: Iterable[object] | None,
        *,
        marks: bool,
    ) -> CallersList:
        """Return the list with a digest of each message. Raises MessageError for what is not a message."""
        given = listed("messages", messages, "messages", error=MessageError)
        check_flag("marks", marks, error=MessageError)
        pairs = itertools.zip_longest(given, self._last[: len(given)])
        copies = tuple([self._known_or_digested(place, *each) for place, each in enumerate(pairs)])
        return CallersList(
            messages=given,
            copies=copies,
            digests=tuple([digest for _, digest in copies]),
            system=None if system is None else _blocks(system),
            tools=None if tools is None else listed("tools", tools, "tool schemas", error=MessageError),
            marks=marks,
        )

    def digests(self, messages: Sequence[Payload]) -> tuple[str, ...]:
        """The digest of each message; one that stands there in the last list is not hashed again."""
        pairs = itertools.zip_longest(messages, self._last[: len(messages)])
        return tuple([last[1] if last and message == last[0] else digest_of_given(message) for message, last in pairs])

    def take(self, given: CallersList) -> None:
        """
        Take in what is new. Where the list departs from what is known, what came after that point leaves the window. A
        list may begin with the last request in place of what that was made from.

        Raises MessageError and SourceError; messages before the rejected one have been taken by then.
        """
        self._check_not_appended(given)
        if given.system is not None:
            parts = {_PART: "\n\n".join(map(_text_of, given.system))}
            self._head.system(SYSTEM.name, GCPolicy.LOCKED, "now", parts)
        if given.tools is not None:
            self._head.tools(self._runtime.format.declarations(given.tools), (), "now")
        state, self._last = self._runtime.state, given.copies
        digests = self._spelled_out(given.digests)
        self._is_fed_back = digests is not given.digests
        kept = known_prefix(state.given, digests)
        first = len(given.copies) - (len(digests) - kept)
        new = given.copies[first:]
        run = self._run_of_users(given.copies[:first], new, kept)
        if kept < len(state.given):
            self._timeline.branch_off(kept, is_summed_up=self._is_summed_up(new, state.given[kept:]))
        with self._inbox.one_list(run):
            for place, (copy, digest) in enumerate(new, first):
                try:
                    self._inbox.take(without_marks(self._masking.copied(copy)), None, digest)
                except MessageError as error:
                    raise in_list(error, place) from error

    def beside(self, given: CallersList) -> Request | None:
        """
        Return the request for a list that is not a turn of the conversation, with the window's texts for the part of it
        that is known. Nothing is taken in. None if it does not fit, or the window no longer separates that part.

        A known message to which a block was added, as clients ask for a compaction, is known too but for that block.
        """
        state, whole = self._runtime.state, given
        given, added = self._without_addition(given)
        kept, context = known_prefix(state.given, given.digests), state.context
        if kept < len(state.given):
            if not state.can_branch(kept):
                return None
            context = context.edited(Edits(dropped=state.came_after(state.given[kept].items)))
        request, rest = context.render(), given.messages[kept:]
        tokens = request.tokens + sum(map(self._tokens_of, (*rest, *added)))
        tokens += sum(self._runtime.counter.count(_text_of(block)) for block in given.system or ())
        if state.calibration.estimate(tokens) > self._runtime.config.usable:
            return None
        known = attrs.evolve(given, messages=given.messages[:kept], digests=given.digests[:kept])
        ours = self._with_marks(self._own_objects(request.messages, known), known)
        is_unchanged = len(ours) == len(known.messages) and all(map(operator.is_, ours, known.messages))
        messages = whole.messages if is_unchanged else (*_joined([*ours, *rest], added),)
        system, tools = given.system or request.system, request.tools if given.tools is None else given.tools
        return attrs.evolve(request, messages=messages, system=system, tools=tools, tokens=tokens)

    def _without_addition(self, given: CallersList) -> tuple[CallersList, tuple[Payload, ...]]:
        """
        Return the list without the block that was added to the first message that is not known, if it is known but for
        that, and the block.
        """
        known = self._runtime.state.given
        place = known_prefix(known, given.digests)
        if place >= min(len(known), len(given.messages)):
            return given, ()
        message = given.messages[place]
        blocks = message.get("content") if isinstance(message, Mapping) else None
        if not isinstance(blocks, list) or not blocks:
            return given, ()
        before = {**message, "content": blocks[:-1]}
        digest = digest_of_given(self._masking.unmasked(before))
        if digest != known[place].digest:
            return given, ()
        messages = (*given.messages[:place], before, *given.messages[place + 1 :])
        digests = (*given.digests[:place], digest, *given.digests[place + 1 :])
        return attrs.evolve(given, messages=messages, digests=digests), ({**message, "content": blocks[-1:]},)

    def take_reply(self, payload: Payload) -> Taken:
        """Take in a reply that the caller's next list will have: item by item where the provider sends it so."""
        pieces = self._runtime.format.pieces(payload)
        taken = [self._inbox.take(piece, None, digest_of_given(piece)) for piece in pieces]
        return attrs.evolve(taken[-1], new=tuple(item for each in taken for item in each.new))

    def returned(self, request: Request, given: CallersList) -> Request:
        """
        The request with the caller's own objects wherever nothing was changed. Its cache marks stay where they are, and
        one on a removed or changed message moves to the nearest block before it, unless the session sets its own.
        """
        messages = self._own_objects(request.messages, given)
        self._spellings = tuple(self._spellings_of(request.messages, given))
        request = attrs.evolve(request, origins=self._origins_in(request))
        if given.marks:
            pairs = zip(request.messages, messages, strict=True)
            kept = (own if self._is_unmarked(rendered, own) else rendered for rendered, own in pairs)
            return request.recast(zip(request.messages, kept, strict=True))
        messages = self._with_marks(messages, given)
        return attrs.evolve(
            request.recast(zip(request.messages, messages, strict=True)),
            system=self._own_system(request.system, given),
            tools=request.tools if given.tools is None else given.tools,
        )

    # -- inside --------------------------------------------------------------------------------------------------------

    def _run_of_users(
        self, known: Sequence[tuple[Payload, str]], new: Sequence[tuple[Payload, str]], kept: int
    ) -> int | None:
        """
        Return the number of the item before the user messages with which the known part ends. None if it ends with no
        such message, or a compaction follows the whole known list: that one is of the reply to it.
        """
        form, given = self._runtime.format, self._runtime.state.given
        if kept == len(given) and new and form.follows_users(new[0][0]):
            return None
        said = itertools.takewhile(lambda each: form.role(each[0]) is Role.USER, reversed(known))
        count = min(kept, sum(1 for _ in said))
        return given[kept - count].items if count else None

    def _is_summed_up(self, new: Iterable[tuple[Payload, str]], left: Iterable[Given]) -> bool:
        """Return whether a summary, the caller's own or a provider's, is among the new messages: it compacted."""
        form, before = self._runtime.format, {each.digest for each in left}
        unknown = [form.normalise(copy) for copy, digest in new if digest not in before]
        if any(map(form.replaces, unknown)):
            return True
        parts = itertools.chain.from_iterable(map(form.read, unknown))
        return any(part.kind is ItemKind.USER_TEXT and is_compaction(part.text) for part in parts)

    def _check_not_appended(self, given: CallersList) -> None:
        """Raise MessageError for a first list with messages that came one by one: they would be there twice."""
        state = self._runtime.state
        if state.given:
            return
        appended = {digest_of_given(message.payload) for message in state.context.messages if not message.synthetic}
        place = next((place for place, digest in enumerate(given.digests) if digest in appended), None)
        if place is not None:
            raise MessageError(
                f"messages[{place}] has come with append(), extend() or post_turn() before: a session takes messages"
                " one by one, or whole lists with sync() from the first on; give the list to a new session"
            )

    def _spelled_out(self, digests: tuple[str, ...]) -> tuple[str, ...]:
        """Return the digests of the list as it would be if its caller had kept what the requests were made from."""
        known = self._runtime.state.given
        if not known or known_prefix(known, digests) == len(known):
            return digests
        found = (spelling.spelled_out(digests, known) for spelling in itertools.chain(self._spellings, self._window))
        return next((whole for whole in found if whole is not None), digests)

    @property
    def _window(self) -> Iterator[Spelling]:
        """The window as it would be sent now: what a session that was opened again has sent last."""
        yield from self._sent([digest_of_given(message) for message in self._runtime.context.render().messages])

    def _spellings_of(self, messages: Sequence[Payload], given: CallersList) -> Iterator[Spelling]:
        """Yield what the caller's next list may begin with: this request, or this list."""
        yield from self._sent([self._rendered[id(message)][1] for message in messages])
        yield Spelling.of(given.digests, self._runtime.state.given)

    def _sent(self, digests: Sequence[str]) -> Iterator[Spelling]:
        """Yield a request as it was sent, and without a leading system text."""
        for start in (0, max(0, len(digests) - len(self._runtime.context.messages))):
            yield Spelling.of(digests[start:], self._runtime.state.given)

    def _tokens_of(self, message: object) -> int:
        runtime = self._runtime
        payload = runtime.format.normalise(self._masking.unmasked(message))
        return message_tokens(payload, runtime.format, runtime.counter)

    def _known_or_digested(self, place: int, message: object, last: tuple[Payload, str] | None) -> tuple[Payload, str]:
        """Return a copy of the message and its digest; those of the last list if it has not changed since."""
        if last is not None and message == last[0]:
            return last
        try:
            plain = self._masking.unmasked(message)
        except MessageError as error:
            raise in_list(error, place) from error
        return plain, digest_of_given(plain)

    def _own_objects(self, rendered: Sequence[Payload], given: CallersList) -> list[Payload]:
        """Rendered messages, each replaced by the caller's object of the same content and order."""
        known, self._rendered = self._rendered, {}
        answer, origins, reached = list(rendered), [-1] * len(rendered), 0
        for number, payload in enumerate(rendered):
            entry = self._rendered[id(payload)] = known.get(id(payload)) or (payload, digest_of_given(payload))
            place = given.find(entry[1], reached)
            if place is not None:
                origins[number], reached = place, place + 1
                message = given.messages[place]
                answer[number] = message if isinstance(message, Mapping) else payload
        self._origins = origins
        return answer

    def _origins_in(self, request: Request) -> tuple[int, ...]:
        """Where in the caller's list each message came from; a leading system text is none of them."""
        messages = self._runtime.context.messages
        leading = len(request.messages) - len(messages)
        if leading < 0 or request.whole:
            return ()
        if self._is_fed_back:
            return tuple(self._origins)
        return (*itertools.repeat(-1, leading), *origins_of(messages, self._runtime.state.given))

    def _is_unmarked(self, *messages: Payload) -> bool:
        return not any(map(self._runtime.format.marks, messages))

    def _with_marks(self, answer: list[Payload], given: CallersList) -> list[Payload]:
        """Put the marks of messages that are not in the request unchanged on the nearest block before them."""
        count, origins = self._runtime.format.marks, self._origins
        kept = {origin for origin in origins if origin >= 0}
        for place, message in enumerate(given.messages):
            if place in kept or not isinstance(message, Mapping) or not count(message):
                continue
            after = next((number for number, origin in enumerate(origins) if origin > place), len(answer))
            answer[:after] = mark_moved(answer[:after], message, self._runtime.format.name)
        return answer

    def _own_system(self, rendered: tuple[Payload, ...], given: CallersList) -> tuple[Payload, ...]:
        """Return the caller's system blocks, followed by gc-core's own lines."""
        if given.system is None or not rendered:
            return rendered
        own = [item for item in self._runtime.context.system if is_own(item.source, item.name)]
        return (*given.system, *rendered[len(rendered) - len(own) :])


def _joined(messages: list[Payload], added: tuple[Payload, ...]) -> list[Payload]:
    """Return the messages with a block added to the last one; as a message of its own where that one is gone."""
    if not added or not messages or messages[-1].get("role") != added[0].get("role"):
        return [*messages, *added]
    content = messages[-1].get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [*messages[:-1], {**messages[-1], "content": [*(blocks or ()), *added[0]["content"]]}]


def _blocks(system: str | Iterable[object]) -> tuple[Any, ...]:
    return (
        (system,) if isinstance(system, str) else listed("system", system, "text blocks, or a text", error=MessageError)
    )


def _text_of(block: object) -> str:
    if isinstance(block, str):
        return block
    text = block.get("text") if isinstance(block, Mapping) else None
    if not isinstance(text, str):
        raise MessageError(f"system = {json.dumps(block, default=str)[:200]}: expected a text or text blocks")
    return text
