"""Converts a provider's messages to items of the window: numbered, classified, counted, repaired if necessary."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import attrs

from gc_core.errors import MessageError
from gc_core.providers.contract import Format, TokenCounter
from gc_core.providers.token_counting import framing_tokens, part_tokens
from gc_core.relevance.demands import is_demand
from gc_core.relevance.name_scan import scan
from gc_core.values.framing import SUB_TASK, framed_result
from gc_core.values.items import DIGEST_NAME, Form, Item, ItemKind, Part, Place
from gc_core.values.json_values import all_have_utf8, read_object
from gc_core.values.messages import Message, Payload, Role
from gc_core.values.names import NOTHING
from gc_core.values.policy import GCPolicy
from gc_core.values.references import PLAIN, ByteRange, Reference
from gc_core.values.sources import CONVERSATION, STATE_NAME, SYSTEM, TASK_STATE
from gc_core.window.cursor import Cursor, OpenCall
from gc_core.window.own_texts import BEFORE_ALL, BEFORE_REPLY, BEFORE_SYSTEM, OwnText, own_message, own_stub

LONG_ARGUMENT_TOKENS = 250
"""Arguments of a call above this size are EPHEMERAL: their long strings may be stubbed."""

LONG_ANSWER_TOKENS = 250
"""Assistant texts above this size are EPHEMERAL, unless they turn out to be a turn's last answer."""

_LONG = {ItemKind.TOOL_CALL: LONG_ARGUMENT_TOKENS, ItemKind.ASSISTANT_TEXT: LONG_ANSWER_TOKENS}

_OPEN_THINKING = "a reply ended with thinking that led to nothing; it was left out"

DEAD_CALL_TEXT = "[gc: no result: the call ended without an answer]"

_TEXT_KINDS = frozenset({ItemKind.SYSTEM_TEXT, ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT})
_REMOVABLE_BY_ITSELF = frozenset({ItemKind.THINKING, ItemKind.TOOL_RESULT, ItemKind.ATTACHMENT})

_STAND_INS = frozenset({ItemKind.TRACE, ItemKind.SUMMARY})

_QUESTION_MARKS = ("?", "？", "؟")

OWN_POLICIES = {
    ItemKind.TRACE: GCPolicy.PARTIAL,
    ItemKind.SUMMARY: GCPolicy.PRESERVABLE,
    ItemKind.MEMORY_BLOCK: GCPolicy.EPHEMERAL,
    ItemKind.USER_TEXT: GCPolicy.LOCKED,
}
"""The kinds of gc-core's own texts when they come back in a list as user text, with their policies."""

Classify = Callable[[Item], GCPolicy | None]
"""Asks the plugins for an item's policy; None if none of them classifies."""


@attrs.frozen(kw_only=True)
class Repair:
    """
    A repair of something that no provider would accept; the log keeps the original.

    Attributes:
        kind: ``dead_call``, ``late_result``, ``empty_message``, ``empty_text``, ``bad_arguments``, ``user_first``,
            ``user_between``, ``open_thinking``, ``repeated_id`` or ``lone_surrogate``.
        text: What was wrong and what was done, in words.
        call_id: The provider's id of the call whose result came late, or "".

    """

    kind: str
    text: str
    call_id: str = ""


_SURROGATE = Repair(kind="lone_surrogate", text="half a letter has no form in UTF-8; U+FFFD is sent for it")


@attrs.frozen(kw_only=True)
class Arrival:
    """
    The effect of a message on the window.

    Attributes:
        messages: Messages to add at the end.
        joined: The new version of the window's last message.
        left: Items at the end of the window's last message that leave before everything else.
        compacted: Everything in the window leaves first: the provider's own compaction replaces it (rule R4).
        kept_after: But user messages at its end whose items are numbered after this stay before the compaction.
        held: Items that become PRESERVABLE, because their role is known now.
        exchange: Items that become one unit: the question and the answer of a turn that called no tool.
        repairs: The repairs.
        cursor: The numbering afterwards.

    """

    messages: tuple[Message, ...] = ()
    joined: Message | None = None
    left: tuple[str, ...] = ()
    compacted: bool = False
    kept_after: int | None = None
    held: tuple[str, ...] = ()
    exchange: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()
    cursor: Cursor

    @property
    def has_nothing(self) -> bool:
        """Whether the window stays as it is."""
        changes = self.messages or self.left or self.held or self.exchange or self.repairs
        return not changes and self.joined is None and not self.compacted

    def items(self) -> tuple[Item, ...]:
        """Return all items of its messages, including existing ones of a joined message."""
        joined = () if self.joined is None else (self.joined,)
        return tuple(item for message in (*joined, *self.messages) for item in message.items)

    def keeping(self, number: int | None) -> Arrival:
        """Return it with the user messages after this item kept; they are no question that it answers."""
        if number is None or not self.compacted:
            return self
        own = tuple(item.id for item in self.items())
        return attrs.evolve(self, kept_after=number, cursor=attrs.evolve(self.cursor, exchange=own))

    def logged(self, ids: Collection[str], place: ByteRange, payload: Payload) -> Arrival:
        """Return it with the place of its line in the master log in the items of that line."""
        if not any(ids):
            return self
        stamped = {
            message.id: _stamped(message, ids, place, payload)
            for message in (*self.messages, *(() if self.joined is None else (self.joined,)))
        }
        results = self.cursor.results
        if results is not None and results.id in stamped:
            results = stamped[results.id]
        return attrs.evolve(
            self,
            messages=tuple([stamped[message.id] for message in self.messages]),
            joined=None if self.joined is None else stamped[self.joined.id],
            cursor=self.cursor if results is self.cursor.results else attrs.evolve(self.cursor, results=results),
        )

    def then(self, later: Arrival) -> Arrival:
        """Return both as one."""
        if self.has_nothing:
            return later
        messages, joined = ((), None) if later.compacted else (self.messages, self.joined)
        if later.joined is not None and messages:
            messages = (*messages[:-1], later.joined)
        elif later.joined is not None:
            joined = later.joined
        return Arrival(
            messages=(*messages, *later.messages),
            joined=joined,
            left=(*self.left, *later.left),
            compacted=self.compacted or later.compacted,
            kept_after=later.kept_after if later.compacted else self.kept_after,
            held=(*self.held, *later.held),
            exchange=(*self.exchange, *later.exchange),
            repairs=(*self.repairs, *later.repairs),
            cursor=later.cursor,
        )


@attrs.frozen(kw_only=True)
class Intake:
    """
    Converts messages to items. Pure: the window changes only when an ``Arrival`` is applied.

    Attributes:
        format: The provider's shape.
        counter: Counts tokens.
        classify: Asks the plugins.
        cites: References name the bytes of the log.
        recalls: Removed content can be recalled.
        recall_form: How the model recalls it, with ``{id}`` in place of the id.
        tools: Policy by tool name, for the results of that tool.

    """

    format: Format
    counter: TokenCounter
    classify: Classify
    tools: Mapping[str, GCPolicy] = attrs.field(factory=dict)
    cites: bool = False
    recalls: bool = True
    recall_form: str = PLAIN
    _newest: list[tuple[Payload, tuple[Part, ...]]] = attrs.field(factory=list, init=False, eq=False, repr=False)

    def _parts(self, payload: Payload) -> tuple[Part, ...]:
        """Return the parts of a payload. Those of the newest are kept: each step of an arrival reads them."""
        for known, parts in self._newest:
            if known is payload:
                return parts
        parts = self.format.read(payload)
        self._newest[:] = [(payload, parts)]
        return parts

    def take(
        self, payload: Payload, cursor: Cursor, *, policy: GCPolicy | None = None, became: Sequence[str] = ()
    ) -> Arrival:
        """
        Return the message as items, with whatever must come before it. Raises MessageError when it is malformed.

        ``policy`` is the host's own word for all of its items. ``became`` are the items that its parts became, "" for
        none, where it is taken from the log: what an earlier gc-core did not repair stays in the window.
        """
        role = self.format.role(payload)
        mended, repairs = self._mend(self.format.normalise(payload), role, became)
        if mended is None:
            return Arrival(cursor=cursor, repairs=repairs)
        start = Arrival(cursor=cursor, repairs=repairs if all_have_utf8(mended) else (*repairs, _SURROGATE))
        if role is Role.ASSISTANT:
            return self._reply_with_unique_ids(mended, start, policy)
        if role is Role.SYSTEM:
            closed = start.then(self.close(cursor))
            return closed.then(self._system(mended, attrs.evolve(closed.cursor, results=_system_in(cursor)), policy))
        return start.then(self._from_user(self._addressed(mended, cursor), cursor, policy))

    def close(self, cursor: Cursor) -> Arrival:
        """
        Answer every open call with a synthetic result: no request may carry a call without one (rule A1).

        A reply in pieces is complete then: thinking at its end, which leads to nothing, leaves (rule R2).
        """
        if cursor.results is None and not cursor.open_calls:
            return Arrival(cursor=cursor)
        arrival = _without_open_thinking(cursor)
        if not cursor.open_calls:
            return attrs.evolve(arrival, cursor=attrs.evolve(cursor, results=None))
        dead = tuple(_dead(call) for call in cursor.open_calls)
        arrival = attrs.evolve(arrival, repairs=(*arrival.repairs, *dead))
        for payload in self.format.results([(call.call_id, DEAD_CALL_TEXT) for call in cursor.open_calls]):
            arrival = arrival.then(self._results(payload, arrival.cursor, None, synthetic=True))
        return arrival.then(Arrival(cursor=attrs.evolve(arrival.cursor, results=None)))

    def before_system(self, cursor: Cursor) -> Arrival:
        """Return a user line to be placed before a system message that came after a reply (N4)."""
        repair = Repair(kind="user_between", text="system text follows a reply; a user line is inserted between them")
        line = self._user_line(BEFORE_SYSTEM, repair, cursor)
        # Once it was sent, a first reply needs no other user line before it.
        return attrs.evolve(line, cursor=attrs.evolve(line.cursor, started=True))

    def framed(self, cursor: Cursor, *items: Item) -> Arrival:
        """
        Place user messages that the framework writes, one per text; numbers and tokens are filled in here.

        What comes next is placed after them, so it joins nothing before them.
        """
        more = len(items)
        after = attrs.evolve(
            cursor, items=cursor.items + more, messages=cursor.messages + more, units=cursor.units + more, results=None
        )
        messages = tuple(self._framed(cursor, place, item) for place, item in enumerate(items, start=1))
        return Arrival(messages=messages, cursor=after)

    def _framed(self, cursor: Cursor, place: int, item: Item) -> Message:
        payload = self.format.user(item.text)
        (part,) = self._parts(payload)
        tokens = part_tokens(part, self.counter)
        whole = attrs.evolve(
            item,
            id=f"i{cursor.items + place}",
            unit=cursor.units + place,
            tokens=tokens,
            original_tokens=item.original_tokens or tokens,
            synthetic=True,
            scan=NOTHING if item.kind is ItemKind.TRACE else scan(item.text),
        )
        return Message(
            id=f"m{cursor.messages + place}",
            role=Role.USER,
            payload=payload,
            items=(whole,),
            overhead=self.counter.per_message,
            synthetic=True,
        )

    # -- by role -------------------------------------------------------------------------------------------------

    def _system(self, payload: Payload, cursor: Cursor, policy: GCPolicy | None) -> Arrival:
        """Read system text inside the conversation; if its place is restricted, adjacent ones are one message (N4)."""
        earlier = _system_in(cursor)
        unit = cursor.units + 1 if earlier is None else earlier.items[0].unit
        draft = _Draft(source=SYSTEM.name, unit=unit, turn=cursor.turn, policy=policy or GCPolicy.LOCKED)
        cursor = attrs.evolve(cursor, units=max(cursor.units, unit))
        arrival = self._message(payload, Role.SYSTEM, [draft] * len(self._parts(payload)), cursor)
        return arrival if earlier is None else self._joined(arrival, earlier)

    def _reply(self, payload: Payload, cursor: Cursor, policy: GCPolicy | None) -> Arrival:
        """Return a reply, or a further piece of one if the format supports pieces."""
        if self.format.replaces(payload):
            opened = attrs.evolve(cursor, open_calls=(), results=None, started=True)
            return attrs.evolve(self._assistant(payload, opened, policy), compacted=True)
        so_far = cursor.results
        if so_far is not None and so_far.role is Role.ASSISTANT:
            whole = self.format.join(so_far.payload, payload)
            if whole is not None:
                return self._grown(so_far, whole, payload, cursor, policy)
        closed = self.close(cursor)
        return closed.then(self._assistant(payload, closed.cursor, policy))

    def _grown(
        self, so_far: Message, whole: Payload, payload: Payload, cursor: Cursor, policy: GCPolicy | None
    ) -> Arrival:
        """
        Return a further piece of the reply at the end: the same message, the same unit,
        the same step.
        """
        first = so_far.items[0]
        draft = _Draft(source=CONVERSATION.name, unit=first.unit, turn=first.turn, step=first.step, policy=policy)
        arrival = self._message(payload, Role.ASSISTANT, [draft] * len(self._parts(payload)), cursor)
        (piece,) = arrival.messages
        grown = attrs.evolve(so_far, payload=whole, items=(*so_far.items, *piece.items), as_logged=False)
        after = _after_assistant(arrival.cursor, grown, self._parts(whole))
        return Arrival(joined=grown, cursor=attrs.evolve(after, messages=cursor.messages, results=grown))

    def _assistant(self, payload: Payload, cursor: Cursor, policy: GCPolicy | None) -> Arrival:
        before = self._user_first(cursor)
        cursor = before.cursor
        cursor = attrs.evolve(
            cursor,
            units=cursor.units + 1,
            step=cursor.step + 1,
            started=True,
            user_run=False,
            request_open=not cursor.requested,
        )
        draft = _Draft(source=CONVERSATION.name, unit=cursor.units, turn=cursor.turn, step=cursor.step, policy=policy)
        parts = self._parts(payload)
        # A compaction replaces what was LOCKED too.
        held = [attrs.evolve(draft, required=True)] if self.format.replaces(payload) else [draft]
        arrival = self._message(payload, Role.ASSISTANT, held + [draft] * (len(parts) - 1), cursor)
        (message,) = arrival.messages
        after = _after_assistant(arrival.cursor, message, parts)
        if self.format.replies_in_pieces:
            after = attrs.evolve(after, results=message)
        return before.then(attrs.evolve(arrival, cursor=after))

    def _user_first(self, cursor: Cursor) -> Arrival:
        if cursor.started and cursor.replied and self.format.alternates:
            repair = Repair(kind="user_between", text="a reply follows a reply; a user line is inserted between them")
            return self._user_line(BEFORE_REPLY, repair, cursor)
        if cursor.started or not self.format.needs_user_first:
            return Arrival(cursor=cursor)
        repair = Repair(
            kind="user_first", text="the conversation starts with the assistant; a user line is inserted before it"
        )
        return self._user_line(BEFORE_ALL, repair, cursor)

    def _user_line(self, text: str, repair: Repair, cursor: Cursor) -> Arrival:
        item = Item(
            id="", kind=ItemKind.USER_TEXT, source=CONVERSATION.name, policy=GCPolicy.LOCKED, tokens=0,
            text=text, unit=0, turn=cursor.turn, original_tokens=0,
        )  # fmt: skip
        return attrs.evolve(self.framed(cursor, item), repairs=(repair,))

    def _from_user(self, payload: Payload, cursor: Cursor, policy: GCPolicy | None) -> Arrival:
        """Read results for the unit that called; what the user said next to them becomes a separate unit."""
        parts = self._parts(payload)
        own = own_message(parts[0].text) if len(parts) == 1 and parts[0].kind is ItemKind.USER_TEXT else None
        if own is not None:
            closed = self.close(cursor)
            return closed.then(self._own(payload, closed.cursor, own))
        late = _late(parts, cursor)
        arrival = Arrival(cursor=cursor)
        rest: Payload | None = payload
        if late:
            rest = self.format.edit(payload, {part.place: None for part in late})
        if rest is not None:
            arrival = arrival.then(self._on_time(rest, cursor, policy))
        for part in late:
            arrival = arrival.then(self._late_result(part, arrival.cursor))
        return arrival

    def _own(self, payload: Payload, cursor: Cursor, own: OwnText) -> Arrival:
        """
        Return a notice, summary or state that gc-core wrote, back in a list: neither said by a user nor to be answered.
        What a user says after a notice or summary is not part of what was said before it.
        """
        cursor = attrs.evolve(cursor, units=cursor.units + 1, started=True, replied=False)
        if own.kind is not ItemKind.MEMORY_BLOCK:
            is_open = cursor.request_open and not cursor.requested
            cursor = attrs.evolve(cursor, user_run=False, exchange=(), request_open=is_open)
            cursor = attrs.evolve(cursor, summaries=max(cursor.summaries, own.number))
        is_state = own.kind is ItemKind.MEMORY_BLOCK
        source, name = (TASK_STATE.name, STATE_NAME) if is_state else (CONVERSATION.name, "")
        draft = _Draft(source=source, unit=cursor.units, turn=cursor.turn, name=name, synthetic=True)
        arrival = self._message(payload, Role.USER, [draft], cursor)
        (message,) = arrival.messages
        item = attrs.evolve(message.items[0], kind=own.kind, policy=OWN_POLICIES[own.kind])
        if own.kind in _STAND_INS:
            item = attrs.evolve(item, original_tokens=own.tokens, reference=self._reference(item, own))
        if own.kind is ItemKind.SUMMARY:
            item = attrs.evolve(item, name=f"{DIGEST_NAME} {own.number}" if own.is_digest else str(own.number))
        return attrs.evolve(arrival, messages=(attrs.evolve(message, items=(item,)),))

    def _reference(self, item: Item, own: OwnText) -> Reference:
        return Reference(
            tokens=own.tokens,
            first=item.id,
            last=item.id,
            first_turn=item.turn,
            last_turn=item.turn,
            hint=own.hint,
            said=own.said,
            names=own.names,
            recalls=self.recalls,
            form=self.recall_form,
        )

    def _on_time(self, payload: Payload, cursor: Cursor, policy: GCPolicy | None) -> Arrival:
        kinds = {part.kind for part in self._parts(payload)}
        if ItemKind.TOOL_RESULT not in kinds:
            closed = self.close(cursor)
            return closed.then(self._user(payload, closed.cursor, policy))
        if kinds == {ItemKind.TOOL_RESULT}:
            return self._results(payload, cursor, policy)
        if self.format.alternates:
            return self._results_then_user(payload, cursor, policy)
        return self._results_and_user(payload, cursor, policy)

    def _results_then_user(self, payload: Payload, cursor: Cursor, policy: GCPolicy | None) -> Arrival:
        """Split results and user text in one message into two, if results need a separate message (rule G2)."""
        parts = self._parts(payload)
        answers = [part.place for part in parts if part.kind is ItemKind.TOOL_RESULT]
        results = self.format.edit(payload, {part.place: None for part in parts if part.place not in answers})
        said = self.format.edit(payload, dict.fromkeys(answers))
        arrival = Arrival(cursor=cursor) if results is None else self._results(results, cursor, policy)
        arrival = arrival.then(self.close(arrival.cursor))
        return arrival if said is None else arrival.then(self._user(said, arrival.cursor, policy))

    def _user(self, payload: Payload, cursor: Cursor, policy: GCPolicy | None) -> Arrival:
        ended = cursor
        cursor = _turned(cursor)
        draft = self._user_draft(cursor, policy)
        arrival = self._message(payload, Role.USER, [draft] * len(self._parts(payload)), cursor)
        return _after_turn(ended, attrs.evolve(arrival, cursor=_asking(arrival, policy)))

    def _user_draft(self, cursor: Cursor, policy: GCPolicy | None) -> _Draft:
        """Return the draft of a user message; the original request, the whole first run of them, is LOCKED."""
        held = policy or (GCPolicy.LOCKED if cursor.request_open else None)
        return _Draft(source=CONVERSATION.name, unit=cursor.units, turn=cursor.turn, policy=held)

    def _results(
        self, payload: Payload, cursor: Cursor, policy: GCPolicy | None, *, synthetic: bool = False
    ) -> Arrival:
        """
        Only results. If a format wants one message for a batch, the earlier results are joined with these.

        The reply that they answer is whole, as in ``close``.
        """
        parts = self._parts(payload)
        calls, left = _paired(parts, cursor.open_calls)
        drafts = [_draft_of(call, policy, synthetic=synthetic) for call in calls]
        arrival = self._message(payload, Role.TOOL, drafts, attrs.evolve(cursor, open_calls=left))
        return _without_open_thinking(cursor).then(self._joined(arrival, cursor.results))

    def _results_and_user(self, payload: Payload, cursor: Cursor, policy: GCPolicy | None) -> Arrival:
        """Read results and user text in one message: one message of two units; missing results are added to it."""
        whole, repairs = self._completed(payload, cursor)
        parts = self._parts(whole)
        results = [part for part in parts if part.kind is ItemKind.TOOL_RESULT]
        calls, _ = _paired(results, cursor.open_calls)
        after = attrs.evolve(_turned(cursor), open_calls=())
        said = self._user_draft(after, policy)
        real = len(results) - len(repairs)  # missing results are after existing ones
        drafts = [_draft_of(call, policy, synthetic=place >= real) for place, call in enumerate(calls)]
        drafts += [said] * (len(parts) - len(results))
        arrival = self._joined(self._message(whole, Role.USER, drafts, after), cursor.results)
        return attrs.evolve(arrival, repairs=repairs, cursor=attrs.evolve(arrival.cursor, results=None))

    def _completed(self, payload: Payload, cursor: Cursor) -> tuple[Payload, tuple[Repair, ...]]:
        """Return the message with synthetic results for the calls that it leaves open."""
        results = [part for part in self._parts(payload) if part.kind is ItemKind.TOOL_RESULT]
        _, open_calls = _paired(results, cursor.open_calls)
        for answer in self.format.results([(call.call_id, DEAD_CALL_TEXT) for call in open_calls]):
            payload = self.format.join(payload, answer) or payload
        return payload, tuple(_dead(call) for call in open_calls)

    def _joined(self, arrival: Arrival, earlier: Message | None) -> Arrival:
        (message,) = arrival.messages
        payload = None if earlier is None else self.format.join(earlier.payload, message.payload)
        if earlier is None or payload is None:
            return attrs.evolve(arrival, cursor=attrs.evolve(arrival.cursor, results=message))
        whole = attrs.evolve(earlier, payload=payload, items=(*earlier.items, *message.items), as_logged=False)
        cursor = attrs.evolve(arrival.cursor, messages=arrival.cursor.messages - 1, results=whole)
        return attrs.evolve(arrival, messages=(), joined=whole, cursor=cursor)

    def _late_result(self, part: Part, cursor: Cursor) -> Arrival:
        """
        Return a result whose call is gone or was closed as text: as a result it would be refused (rule A1). The same
        holds for the result of a sub-task, for which there never was a call.
        """
        closed = self.close(attrs.evolve(cursor, replied=False))
        is_note = part.call_id.startswith(SUB_TASK)
        text = framed_result(part.call_id, part.text, is_error=part.is_error)
        item = Item(
            id="", kind=ItemKind.TOOL_RESULT, source=CONVERSATION.name, policy=GCPolicy.EPHEMERAL, tokens=0, text=text,
            unit=0, turn=closed.cursor.turn, is_error=part.is_error, original_tokens=0,
        )  # fmt: skip
        repair = Repair(
            kind="late_result",
            text=f"a result for {part.call_id!r} came without its call; it becomes text",
            call_id=part.call_id,
        )
        repairs = () if is_note else (repair,)
        return closed.then(attrs.evolve(self.framed(closed.cursor, item), repairs=repairs))

    # -- one message ---------------------------------------------------------------------------------------------

    def _message(self, payload: Payload, role: Role, drafts: Sequence[_Draft], cursor: Cursor) -> Arrival:
        parts = self._parts(payload)
        items = tuple(
            self._item(part, draft, f"i{cursor.items + place}")
            for place, (part, draft) in enumerate(zip(parts, drafts, strict=True), start=1)
        )
        synthetic = all(item.synthetic for item in items)
        message = Message(
            id=f"m{cursor.messages + 1}",
            role=role,
            payload=payload,
            items=items,
            overhead=framing_tokens(payload, self.format, self.counter),
            synthetic=synthetic,
        )
        after = attrs.evolve(cursor, items=cursor.items + len(items), messages=cursor.messages + 1)
        return Arrival(messages=(message,), cursor=after)

    def _item(self, part: Part, draft: _Draft, key: str) -> Item:
        tokens, name = part_tokens(part, self.counter), part.name or draft.name
        item = Item(
            id=key,
            kind=part.kind,
            source=draft.source,
            policy=draft.policy or self._configured(part.kind, name) or default_policy(part.kind, tokens),
            tokens=tokens,
            original_tokens=tokens,
            text=part.text,
            unit=draft.unit,
            turn=draft.turn,
            step=draft.step,
            name=name,
            call=draft.call,
            is_error=part.is_error,
            synthetic=draft.synthetic,
            fixed=part.fixed,
            scan=scan(part.text),
        )
        if part.held or draft.required:
            return attrs.evolve(item, policy=GCPolicy.LOCKED, required=True)
        own = own_stub(part.text) if part.kind in _TEXT_KINDS or part.kind is ItemKind.TOOL_RESULT else None
        if own is not None:
            line = attrs.evolve(part, text=part.text[part.text.rfind("\n") + 1 :])
            kept = max(0, tokens - part_tokens(line, self.counter))
            reference = attrs.evolve(self._reference(item, own), tokens=own.tokens + kept, kept=kept)
            item = attrs.evolve(item, form=Form.STUB, original_tokens=reference.tokens, reference=reference)
        return self._classified(item) if draft.policy is None else item

    def _classified(self, item: Item) -> Item:
        """Return the item with the plugins' strongest answer, if they have one; LOCKED stays."""
        policy = None if item.policy is GCPolicy.LOCKED else self.classify(item)
        return item if policy is None or policy is item.policy else attrs.evolve(item, policy=policy)

    def _configured(self, kind: ItemKind, name: str) -> GCPolicy | None:
        """Return the configured policy of a tool's results."""
        return self.tools.get(name) if kind is ItemKind.TOOL_RESULT else None

    def _mend(self, payload: Payload, role: Role, became: Sequence[str]) -> tuple[Payload | None, tuple[Repair, ...]]:
        """
        Remove empty texts and thinking that leads to nothing, and make arguments a JSON object. None when nothing is
        left (rules A4, C2, C3, N1, N3).
        """
        parts = self._parts(payload)
        if not parts:
            return None, (Repair(kind="empty_message", text="a message without content was left out"),)
        texts: dict[Place, str | None] = {}
        repairs = []
        for part in parts:
            if part.kind in _TEXT_KINDS and not part.text.strip():
                texts[part.place] = None
                repairs.append(Repair(kind="empty_text", text=f"empty text at {_where(part.place)} was left out"))
            elif part.kind is ItemKind.TOOL_CALL and not part.free_text and read_object(part.text) is None:
                texts[part.place] = json.dumps({"arguments": part.text}, ensure_ascii=False)
                repairs.append(
                    Repair(
                        kind="bad_arguments", text=f"arguments of {part.name} are not a JSON object; they were wrapped"
                    )
                )
        if role is Role.ASSISTANT and not self.format.takes_last_thinking:
            thinking = _last_thinking(parts, texts)
            texts.update(dict.fromkeys(thinking))
            repairs += [Repair(kind="open_thinking", text=_OPEN_THINKING)] * bool(thinking)
        in_window = [part.place for part, item in zip(parts, became, strict=False) if item]
        texts = {place: text for place, text in texts.items() if text is not None or place not in in_window}
        return (self.format.edit(payload, texts) if texts else payload), tuple(repairs)

    def _reply_with_unique_ids(self, payload: Payload, start: Arrival, policy: GCPolicy | None) -> Arrival:
        """
        Return a reply in which later calls with the id of another call have a new one: OpenAI and Anthropic refuse
        repeated ids.
        """
        given: dict[str, str] = {}
        ids: dict[Place, str] = {}
        for part in self._parts(payload):
            if part.kind is ItemKind.TOOL_CALL and part.call_id:
                new = next(each for each in _ids_like(part.call_id) if each not in given)
                given[new] = part.call_id
                if new != part.call_id:
                    ids[part.place] = new
        renamed = self.format.with_call_ids(payload, ids)
        arrival = start.then(self._reply(renamed, start.cursor, policy))
        if renamed is payload:
            return arrival
        text = f"calls of one reply share an id; {', '.join(map(repr, ids.values()))} is sent for the later ones"
        calls = tuple(attrs.evolve(call, given_id=given[call.call_id]) for call in arrival.cursor.open_calls)
        repairs = (*arrival.repairs, Repair(kind="repeated_id", text=text))
        return attrs.evolve(arrival, repairs=repairs, cursor=attrs.evolve(arrival.cursor, open_calls=calls))

    def _addressed(self, payload: Payload, cursor: Cursor) -> Payload:
        """Return the message with its results naming the ids that their calls are sent with."""
        waiting, ids = list(cursor.open_calls), dict[Place, str]()
        for part in self._parts(payload):
            call = _call_of(part, waiting) if part.kind is ItemKind.TOOL_RESULT else None
            if call is not None:
                waiting.remove(call)
                if call.given_id and part.call_id != call.call_id:
                    ids[part.place] = call.call_id
        return self.format.with_call_ids(payload, ids)


def _ids_like(call_id: str) -> Iterator[str]:
    """Yield the id, and then variants of it."""
    yield call_id
    yield from (f"{call_id}-{number}" for number in itertools.count(2))


def _last_thinking(parts: Sequence[Part], texts: Mapping[Place, str | None]) -> list[Place]:
    """Return the places of the thinking at the end of a reply, after editing these texts."""
    kept = [part for part in parts if texts.get(part.place, "") is not None]
    return [part.place for part in itertools.takewhile(lambda part: part.kind is ItemKind.THINKING, reversed(kept))]


def _stamped(message: Message, ids: Collection[str], place: ByteRange, payload: Payload) -> Message:
    items = tuple([attrs.evolve(item, logged=place) if item.id in ids else item for item in message.items])
    return attrs.evolve(message, items=items, as_logged=message.payload is payload)


@attrs.frozen(kw_only=True)
class _Draft:
    """The fields that an item inherits from its message."""

    source: str
    unit: int
    turn: int
    step: int = -1
    policy: GCPolicy | None = None
    name: str = ""
    call: str = ""
    synthetic: bool = False
    required: bool = False


def default_policy(kind: ItemKind, tokens: int) -> GCPolicy:
    """Return the policy of an item of this kind and size that nobody gives another one."""
    if kind is ItemKind.USER_TEXT:
        return GCPolicy.PRESERVABLE
    long = _LONG.get(kind)
    if long is not None:
        return GCPolicy.EPHEMERAL if tokens > long else GCPolicy.PARTIAL
    return GCPolicy.EPHEMERAL if kind in _REMOVABLE_BY_ITSELF else GCPolicy.PARTIAL


def _turned(cursor: Cursor) -> Cursor:
    """Return the cursor at a new user message: a new turn, unless it follows a user message or is the first."""
    fresh = not cursor.started
    asked = cursor.exchange if cursor.asks and not cursor.used_tools else ()
    cursor = attrs.evolve(cursor, units=cursor.units + 1, started=True, requested=True, answer=(), asks=False)
    cursor = attrs.evolve(cursor, replied=False)
    if cursor.user_run:
        return cursor
    turn = cursor.turn if fresh else cursor.turn + 1
    return attrs.evolve(cursor, user_run=True, turn=turn, step=-1, used_tools=False, exchange=(), asked=asked)


def _after_turn(ended: Cursor, arrival: Arrival) -> Arrival:
    """
    Return a user message with the kind of the turn that it ends: an exchange, or a turn that used tools, whose answer
    stays, as does a question of the model before it.
    """
    if ended.user_run:
        return arrival
    if ended.used_tools:
        return attrs.evolve(arrival, held=(*ended.asked, *ended.answer))
    return attrs.evolve(arrival, exchange=ended.exchange)


def _asking(arrival: Arrival, policy: GCPolicy | None) -> Cursor:
    """
    Return the cursor after a user message, which may become part of an exchange: not the original request, nor a
    message whose policy the host set, nor a demand in a session that works with tools.
    """
    cursor = arrival.cursor
    items = [item for message in arrival.messages for item in message.items if item.policy is not GCPolicy.LOCKED]
    if policy is not None or (cursor.has_tools and any(is_demand(item.text) for item in items)):
        return cursor
    return attrs.evolve(cursor, exchange=(*cursor.exchange, *[item.id for item in items]))


def _system_in(cursor: Cursor) -> Message | None:
    """Return the system message that the next one joins, if there is one."""
    return cursor.results if cursor.results is not None and cursor.results.role is Role.SYSTEM else None


def _paired(parts: Sequence[Part], waiting: Sequence[OpenCall]) -> tuple[list[OpenCall], tuple[OpenCall, ...]]:
    """
    Return the call that each result answers, by id and, if ids repeat or are missing, in order; and the remaining
    calls.
    """
    left = list(waiting)
    calls = []
    for part in parts:
        call = _call_of(part, left)
        if call is None:
            raise MessageError(f"a result for {part.call_id!r}, which no open call waits for")
        left.remove(call)
        calls.append(call)
    return calls, tuple(left)


def _draft_of(call: OpenCall, policy: GCPolicy | None, *, synthetic: bool) -> _Draft:
    return _Draft(
        source=CONVERSATION.name,
        unit=call.unit,
        turn=call.turn,
        step=call.step,
        policy=policy,
        name=call.name,
        call=call.item,
        synthetic=synthetic,
    )


def _without_open_thinking(cursor: Cursor) -> Arrival:
    """Remove thinking at the end of a reply in pieces: nothing follows it any more, and it cannot be sent by itself."""
    reply = cursor.results
    if reply is None or reply.role is not Role.ASSISTANT:
        return Arrival(cursor=cursor)
    thinking = itertools.takewhile(lambda item: item.kind is ItemKind.THINKING, reversed(reply.items))
    left = tuple(item.id for item in thinking)
    repairs = (Repair(kind="open_thinking", text=_OPEN_THINKING),) if left else ()
    return Arrival(cursor=cursor, left=left, repairs=repairs)


def _dead(call: OpenCall) -> Repair:
    return Repair(kind="dead_call", text=f"call {call.item} ({call.name}) had no result; a synthetic one follows it")


def _after_assistant(cursor: Cursor, message: Message, parts: Sequence[Part]) -> Cursor:
    calls = tuple(
        OpenCall(item=item.id, call_id=part.call_id, name=part.name, unit=item.unit, turn=item.turn, step=item.step)
        for item, part in zip(message.items, parts, strict=True)
        if part.kind is ItemKind.TOOL_CALL
    )
    texts = [item for item in message.items if item.kind is ItemKind.ASSISTANT_TEXT]
    answer = () if calls else tuple(item.id for item in texts)
    return attrs.evolve(
        cursor,
        open_calls=calls,
        results=None,
        used_tools=cursor.used_tools or bool(calls),
        has_tools=cursor.has_tools or bool(calls),
        replied=not calls,
        answer=answer,
        exchange=tuple(dict.fromkeys((*cursor.exchange, *[item.id for item in message.items]))),
        asks=bool(answer) and texts[-1].text.rstrip().endswith(_QUESTION_MARKS),
    )


def _late(parts: Sequence[Part], cursor: Cursor) -> list[Part]:
    """Return the results that answer no open call."""
    waiting = list(cursor.open_calls)
    late = []
    for part in parts:
        if part.kind is not ItemKind.TOOL_RESULT:
            continue
        call = _call_of(part, waiting)
        if call is None:
            late.append(part)
        else:
            waiting.remove(call)
    return late


def _call_of(result: Part, waiting: Sequence[OpenCall]) -> OpenCall | None:
    """
    Return the first call that the result answers, by id; by name if call or result has none.

    Gemini's ids are optional: a call without one is paired by its name.
    """
    same = next((call for call in waiting if call.has_id(result.call_id)), None)
    if same is not None or not result.name:
        return same
    named = (call for call in waiting if call.name == result.name)
    return next((call for call in named if call.name in {call.call_id, result.call_id}), None)


def _where(place: Place) -> str:
    return ".".join(str(step) for step in place)
