"""The working context: the messages of the window, kept consistent with the budget."""

from __future__ import annotations

import itertools
import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from gc_core.errors import SourceError
from gc_core.providers.contract import Format
from gc_core.providers.token_counting import framing_tokens, part_tokens, schema_tokens
from gc_core.relevance.working_set import shows_file
from gc_core.values.items import DIGEST_NAME, Form, Item, ItemKind, Unit, number_of
from gc_core.values.json_values import text_in_utf8, value_in_utf8
from gc_core.values.layers import LOG_PART, SystemPart, is_own, is_shared
from gc_core.values.messages import (
    Message,
    Payload,
    Request,
    Role,
    RunningDigest,
    SentPayloads,
    digest_of,
    without_marks,
)
from gc_core.values.names import NOTHING, Scan
from gc_core.values.policy import GCPolicy
from gc_core.values.references import Reference
from gc_core.values.sources import PLUGIN
from gc_core.values.summary import SummaryForm
from gc_core.window.budget import BudgetItem, InstructionBudget
from gc_core.window.cursor import Cursor, OpenCall
from gc_core.window.intake import Arrival, Intake, default_policy
from gc_core.window.stubs import is_stubbable

_SAID = frozenset({Role.USER, Role.TOOL})

_OPENING = 2
"""Messages with which a conversation opens: the request, and what Claude Code says about its environment."""

_OPENED = 4
"""These, and the first step."""
_LEFT_OUT = "gc: tools left out"
"""The part of the system text that names them."""


@attrs.frozen(kw_only=True)
class NewText:
    """The final text of a stub, its tokens, its reference, and the names in it."""

    text: str = attrs.field(repr=False)
    tokens: int
    reference: Reference
    scan: Scan = attrs.field(default=NOTHING, repr=False)


@attrs.frozen(kw_only=True)
class NewSummary:
    """
    The final text of a summary, including its frame, and its reference.

    Attributes:
        number: 1, 2, ... in the session.
        text: The text that the model reads.
        reference: What it covers.
        form: Its form.

    """

    number: int
    text: str = attrs.field(repr=False)
    reference: Reference
    form: SummaryForm = SummaryForm.ACCOUNT

    @property
    def name(self) -> str:
        """The name of its item."""
        return f"{DIGEST_NAME} {self.number}" if self.form is SummaryForm.DIGEST else str(self.number)


@attrs.frozen(kw_only=True)
class Edits:
    """
    The effect of a collection on the window, as results: applying it calls no plugin and writes no text.

    Attributes:
        dropped: Ids of items that leave.
        texts: Replacement texts, by item id.
        traces: References of traces, each by the id of the first item that left there.
        summaries: Summaries, each by the id of the first item of the last unit that it covers.
        schemas: Ids of tool schemas that leave; one line of the system text keeps their names.
        policies: New policies, by item id.

    """

    dropped: frozenset[str] = frozenset()
    texts: Mapping[str, NewText] = attrs.field(factory=dict)
    traces: Mapping[str, Reference] = attrs.field(factory=dict)
    summaries: Mapping[str, NewSummary] = attrs.field(factory=dict)
    schemas: frozenset[str] = frozenset()
    policies: Mapping[str, GCPolicy] = attrs.field(factory=dict)

    def __bool__(self) -> bool:
        """Return whether anything changes."""
        return bool(self.dropped or self.texts or self.schemas)


@attrs.frozen(kw_only=True)
class ConsumedContent:
    """
    Content old enough that the agent has already used it.

    Attributes:
        tokens: Tokens of the items that a stub could replace.
        newest: Number of the newest item that is old enough.

    """

    tokens: int
    newest: int


@attrs.frozen(kw_only=True)
class Schema:
    """A tool schema as it is sent, and its item."""

    payload: Payload
    item: Item

    @cached_property
    def sent(self) -> Payload:
        """The payload as a client can send it: see ``Message.sent``."""
        payload: Payload = value_in_utf8(self.payload)
        return payload


@attrs.frozen(kw_only=True)
class Head:
    """
    The content before the conversation.

    Attributes:
        parts: The parts of the system text by the ids of their items, in order.
        schemas: The tool schemas, in order.
        discoverable: Names of those that are not core.
        left_out: Names of those that were removed to save room.

    """

    parts: Mapping[str, SystemPart]
    schemas: tuple[Payload, ...]
    discoverable: frozenset[str]
    left_out: tuple[str, ...]


class Context:
    """
    The messages, system parts and tool schemas of the window, with the budget that counts them.

    ``apply`` appends what is new and changes nothing else. ``edited`` returns another context: if anything fails before
    the session takes that over, this one is unchanged.
    """

    def __init__(self, *, intake: Intake, budget: InstructionBudget) -> None:
        self.budget = budget
        self.cursor = Cursor()
        self._intake = intake
        self._messages: list[Message] = []
        self._places: dict[str, int] = {}
        self._system: dict[str, Item] = {}
        self._tools: tuple[Schema, ...] = ()
        self._left_out: tuple[str, ...] = ()
        self._marked: list[int] = []
        self._units: dict[int, Unit] = {}
        self._running = RunningDigest()
        self._sent = SentPayloads()
        self._digested: tuple[tuple[object, ...], bytes] = ((), b"")

    # -- contents -------------------------------------------------------------------------------------------

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages of the window, oldest first."""
        return tuple(self._messages)

    @property
    def system(self) -> tuple[Item, ...]:
        """The parts of the system text, in the order in which they are sent."""
        return tuple(self._system.values())

    @property
    def digest(self) -> str:
        """
        The digest of everything that ``render`` sends, in hex, without its cache marks: O(what is new since the last
        call).
        """
        return self._running.of(self._messages, self._head_digest)

    @property
    def schemas(self) -> tuple[Schema, ...]:
        """The tool schemas, in the order in which they are sent."""
        return self._tools

    def head_items(self) -> tuple[Item, ...]:
        """Return the items before the conversation."""
        return (*self._system.values(), *(schema.item for schema in self._tools))

    @property
    def places_system(self) -> bool:
        """True if a system message inside the conversation must be between a user message and a reply (N4)."""
        return self._intake.format.needs_user_first

    @property
    def lacks_user(self) -> bool:
        """True if the system message at the end lacks the user message that must precede it (N4)."""
        before = self._messages[-2].role if len(self._messages) > 1 else None
        return self._last_system is not None and before not in _SAID

    @property
    def cites(self) -> bool:
        """True if references name the bytes of the log, because the system text says where it is."""
        return self._intake.cites and any(item.name == LOG_PART for item in self._system.values())

    def cite_nothing(self) -> None:
        """Name no bytes of the log in references from now on."""
        self._intake = attrs.evolve(self._intake, cites=False)

    @property
    def recalls(self) -> bool:
        """True if removed content can be recalled; otherwise references have no ids."""
        return self._intake.recalls

    @property
    def recall_form(self) -> str:
        """How the model recalls what left, with ``{id}`` in place of the id."""
        return self._intake.recall_form

    def recall_by(self, form: str) -> None:
        """Let references written from now on name the model's own call."""
        self._intake = attrs.evolve(self._intake, recall_form=form)

    @property
    def separates_replies(self) -> bool:
        """True if replies must be separated by something of the user's (G1)."""
        return self._intake.format.alternates

    def replies_meet(self, first: str, last: str, leaves: Callable[[int], bool]) -> bool:
        """
        Return whether a reply would stand after a reply (G1) where the messages from one item to another leave;
        ``leaves`` says which other units do. By messages, for a unit need not be contiguous: a block may stand
        inside an exchange.
        """
        sides = range(self._places[first] - 1, -1, -1), range(self._places[last] + 1, len(self._messages))
        kept = ((self._messages[at] for at in side) for side in sides)
        near = [
            next((each for each in side if not all(leaves(item.unit) for item in each.items)), None) for side in kept
        ]
        return all(message is not None and message.role is Role.ASSISTANT for message in near)

    @property
    def open_calls(self) -> tuple[OpenCall, ...]:
        """Calls that wait for a result."""
        return self.cursor.open_calls

    def items(self) -> Iterator[Item]:
        """Yield every resident item: system parts, tool schemas, then the messages' own."""
        yield from self._system.values()
        yield from (schema.item for schema in self._tools)
        for message in self._messages:
            yield from message.items

    def find(self, key: str) -> Item | None:
        """Return a resident item of a message, or None."""
        place = self._places.get(key)
        if place is None:
            return None
        return next(item for item in self._messages[place].items if item.id == key)

    def units(self) -> tuple[Unit, ...]:
        """Return the units of the messages, oldest first. Unchanged ones are reused."""
        pending = {call.unit for call in self.cursor.open_calls}
        for number in pending:
            self._units.pop(number, None)
        known = self._units
        order = dict.fromkeys([item.unit for message in self._messages for item in message.items])
        grouped: defaultdict[int, list[Item]] = defaultdict(list)
        overhead: defaultdict[int, int] = defaultdict(int)
        for message in self._messages:
            if message.items[0].unit not in known:
                overhead[message.items[0].unit] += message.overhead
            for item in message.items:
                if item.unit not in known:
                    grouped[item.unit].append(item)
        made = {
            number: _unit(number, items, overhead[number], pending=number in pending)
            for number, items in grouped.items()
        }
        units = tuple([known.get(number) or made[number] for number in order])
        self._units = {unit.number: unit for unit in units if not unit.pending}
        return units

    def unused_schemas(self) -> tuple[Unit, ...]:
        """Discoverable tool schemas that no visible call uses, each as a separate unit with a negative number."""
        if all(schema.item.policy is not GCPolicy.EPHEMERAL for schema in self._tools):
            return ()
        called = {item.name for message in self._messages for item in message.items if item.kind is ItemKind.TOOL_CALL}
        return tuple(
            Unit(number=-place, turn=-1, step=-1, items=(schema.item,), tokens=schema.item.tokens)
            for place, schema in enumerate(self._tools, start=1)
            if schema.item.policy is GCPolicy.EPHEMERAL and schema.item.name not in called
        )

    def served(self, after: int, *, steps: int, least: int) -> ConsumedContent:
        """
        Return what came after item number ``after`` and could be stubbed, of items of at least this many tokens that
        show no file in work, now that the agent has taken this many steps since. O(what came since).
        """
        taken = tokens = reached = 0
        for message in reversed(self._messages):
            # What the framework wrote is newer than what it replaces: its numbers do not reflect its place.
            if taken >= steps and not message.synthetic:
                newest = max(number_of(item.id) for item in message.items)
                reached = max(reached, newest)
                if newest <= after:
                    break
                tokens += sum(
                    item.tokens
                    for item in message.items
                    if is_stubbable(item) and item.tokens >= least and number_of(item.id) > after
                    if not shows_file(item, self.find(item.call) if item.call else None)
                )
            taken += message.role is Role.ASSISTANT
        return ConsumedContent(tokens=tokens, newest=reached)

    def tokens_after_change(self, other: Context) -> int:
        """Return the tokens of all messages from the first one that differs from another context."""
        pairs = zip(self._messages, other._messages, strict=False)
        same = next((place for place, (mine, its) in enumerate(pairs) if mine is not its), None)
        changed = self._messages[min(len(self._messages), len(other._messages)) if same is None else same :]
        return sum(message.overhead + sum(item.tokens for item in message.items) for message in changed)

    @property
    def latest_reply(self) -> str:
        """The id of the model's last message, or ""."""
        replies = (message.id for message in reversed(self._messages) if message.role is Role.ASSISTANT)
        return next(replies, "")

    def units_next_to_system(self) -> frozenset[int]:
        """
        Return the units that stay because of a system message inside the conversation. The neighbours of control
        messages: those have no text, so they cannot become one with another system message. And what follows the
        opening system message, if that is larger: it would follow the notice of what left there, and be written to the
        prompt cache again after every collection.
        """
        if not self.places_system:
            return frozenset()
        places = [place for place, message in enumerate(self._messages) if self._is_control(message)]
        beside = [message for place in places for message in self._messages[max(0, place - 1) : place + 2]]
        if len(self._messages) > _OPENING and self._messages[_OPENING - 1].role is Role.SYSTEM:
            opening, step = self._messages[_OPENING - 1 : _OPENING + 1]
            units = {item.unit for item in step.items}
            size = sum(
                item.tokens for message in self._messages[:_OPENED] for item in message.items if item.unit in units
            )
            beside += [step] * (sum(item.tokens for item in opening.items) > size)
        return frozenset(item.unit for message in beside for item in message.items)

    def _is_control(self, message: Message) -> bool:
        return message.role is Role.SYSTEM and self._intake.format.join(message.payload, message.payload) is None

    def newest_input(self) -> frozenset[int]:
        """Return the units in the newest message that is not the model's or the framework's."""
        for message in reversed(self._messages):
            if message.role is Role.TOOL or (message.role is Role.USER and not message.is_own):
                return frozenset(item.unit for item in message.items)
        return frozenset()

    def unanswered(self) -> frozenset[int]:
        """Return the units of the messages after the last reply: no model call has seen them."""
        newest = itertools.takewhile(lambda message: message.role is not Role.ASSISTANT, reversed(self._messages))
        return frozenset(item.unit for message in newest for item in message.items)

    def render(self) -> Request:
        """Return the request: every message as it is, in the provider's shape."""
        self._sent.follow(self._messages)
        request = self._intake.format.request(
            system=[text_in_utf8(item.text) for item in self._system.values()],
            tools=self._marked_tools(),
            messages=self._sent.payloads,
            tokens=self.budget.total,
        )
        stable = sum(map(self._is_shared, self._system.values()))
        return attrs.evolve(request, stable=stable, own=frozenset(self._sent.own.values()))

    # -- arrivals ----------------------------------------------------------------------------------------------

    def apply(self, arrival: Arrival) -> None:
        """Apply the effect of a message on the window: O(what is new)."""
        if arrival.compacted:
            kept = self.users_after(arrival.kept_after)
            self._clear()
            self._add(*kept)
        if arrival.left:
            self._leave(frozenset(arrival.left))
        if arrival.joined is not None:
            self._grow(arrival.joined)
        system, place = self._last_system, len(self._messages) - 1
        self._add(*arrival.messages)
        if system is not None:
            said = itertools.takewhile(lambda message: message.role in _SAID, arrival.messages)
            self._move(place, place + sum(1 for _ in said))
        for key in arrival.held:
            self._hold(key)
        self._join(arrival.exchange)
        self.cursor = arrival.cursor
        if self._last_system is not None:
            self.cursor = attrs.evolve(self.cursor, results=self._last_system)
        self._keep_newest_marks()

    def users_after(self, number: int | None) -> tuple[Message, ...]:
        """Return the user messages at the end whose items arrived after the one with this number; none for None."""
        if number is None:
            return ()
        said = itertools.takewhile(lambda message: _is_said_after(message, number), reversed(self._messages))
        return tuple(said)[::-1]

    def set_policy(self, key: str, policy: GCPolicy) -> None:
        """Set the policy of a resident item; what the provider requires to stay remains LOCKED."""
        item = self.find(key)
        if item is not None and item.required:
            return
        self._replace(key, policy=policy)
        self.budget.set_policy(key, policy)

    def pin(self, key: str, *, pinned: bool) -> None:
        """Pin or unpin a resident item."""
        self._replace(key, pinned=pinned)

    def recount(self, key: str, tokens: int) -> None:
        """Set the tokens that the provider counts for a resident item."""
        self._replace(key, tokens=tokens)
        self.budget.update(key, tokens)

    def counted(self, key: str) -> int:
        """Return the counter's tokens of a resident item as it is, whatever the provider leaves of it."""
        message = self._messages[self._places[key]]
        return next(item.tokens for item in recounted(message, self._intake).items if item.id == key)

    def set_system(self, parts: Iterable[SystemPart]) -> None:
        """
        Replace these parts of the system text; an empty or blank text removes one. They are ordered by their
        sources' layers, then as they were given; gc-core's own lines come last.

        Raises SourceError, with nothing changed, for an unknown source. Caps are checked when a part is given.
        """
        given = {part.key: part for part in parts}
        for part in given.values():
            self.budget.source(part.source)
        opening = bool(self._system)
        for key, part in given.items():
            if key in self._system:
                self.budget.remove(key)
            if part.text.strip():
                self._system[key] = self._part(part)
                self.budget.add(_budget_item(self._system[key]))
            else:
                self._system.pop(key, None)
        self._system = dict(sorted(self._system.items(), key=self._stability))
        self._system_overhead(was=opening)

    def set_tools(self, schemas: Iterable[Payload], discoverable: frozenset[str]) -> None:
        """Replace all tool schemas. Raises SourceError for a duplicate name."""
        named = [(self._intake.format.schema_name(payload), payload) for payload in schemas]
        twice = [name for name, count in Counter(name for name, _ in named).items() if count > 1]
        if twice:
            raise SourceError(f"tool {twice[0]!r} has several schemas")
        tools = tuple(self._schema(name, payload, core=name not in discoverable) for name, payload in named)
        self.budget.check(
            PLUGIN.name, sum(tool.item.tokens for tool in tools) - sum(tool.item.tokens for tool in self._tools)
        )
        for tool in self._tools:
            self.budget.remove(tool.item.id)
        for tool in tools:
            self.budget.add(_budget_item(tool.item))
        self._tools = tools
        self._keep_newest_marks()
        self._name_left_out(())

    # -- a collection's copy -------------------------------------------------------------------------------------

    def edited(self, edits: Edits) -> Context:
        """Return another context with the edits applied; this one does not change."""
        other = Context(intake=self._intake, budget=self.budget.clone())
        other.cursor = self.cursor
        other._system = dict(self._system)
        other._tools, other._left_out, other._digested = self._tools, self._left_out, self._digested
        other._leave_out(edits.schemas)
        leaving = Counter(map(self._places.get, edits.dropped))
        changed = {*leaving, *map(self._places.get, edits.texts)}
        replacements = other._replacements(edits)
        cut = set(map(self._places.get, replacements))
        marked = set(self._marked)
        for place, message in enumerate(self._messages):
            if place not in changed:
                if place in marked:
                    other._marked.append(len(other._messages))
                other._messages.append(message)
            elif leaving[place] == len(message.items) and place not in cut:
                other.budget.overhead -= message.overhead
            else:
                other._take_edited(message, edits, replacements)
        other.budget.remove(
            *edits.dropped
        )  # after the traces are added, so that a turn with only a trace keeps its place
        other._settle_system()
        other._places = {item.id: place for place, message in enumerate(other._messages) for item in message.items}
        touched = {item.unit for place in changed if place is not None for item in self._messages[place].items}
        other._units = {number: unit for number, unit in self._units.items() if number not in touched}
        other._refresh_results()
        for key, policy in edits.policies.items():
            if key in other._places and key in other.budget:
                other.set_policy(key, policy)
        return other

    def recounted(self, intake: Intake) -> Context:
        """Return another context with the same content, counted by another counter."""
        other = Context(intake=intake, budget=self._empty_budget(intake.counter.per_request))
        other.set_head(self.head)
        other._take_over([recounted(message, intake) for message in self._messages], self.cursor)
        return other

    def with_messages(self, messages: Sequence[Message], cursor: Cursor) -> Context:
        """Return another context with the same head and these messages. O(window)."""
        other = Context(intake=self._intake, budget=self._empty_budget(self._intake.counter.per_request))
        other._system, other._tools, other._left_out = dict(self._system), self._tools, self._left_out
        other._digested = self._digested
        for item in (*other._system.values(), *(schema.item for schema in other._tools)):
            other.budget.add(_budget_item(item))
        other._system_overhead(was=False)
        other._take_over(messages, cursor)
        return other

    def system_tokens(self, source: str) -> int:
        """Return tokens of a source's parts of the system text."""
        return sum(item.tokens for item in self._system.values() if item.source == source)

    @property
    def head(self) -> Head:
        """The content before the conversation."""
        return Head(
            parts={
                key: SystemPart(source=item.source, name=item.name, text=item.text, policy=item.policy)
                for key, item in self._system.items()
            },
            schemas=tuple(schema.payload for schema in self._tools),
            discoverable=frozenset(
                schema.item.name for schema in self._tools if schema.item.policy is not GCPolicy.LOCKED
            ),
            left_out=self._left_out,
        )

    def set_head(self, head: Head) -> None:
        """Set the content before the conversation."""
        self.set_tools(head.schemas, head.discoverable)
        self.set_system(head.parts.values())
        self._left_out = head.left_out

    def leave_out(self, names: Iterable[str]) -> None:
        """Remove discoverable schemas, by name; one line of the system text names them."""
        names = frozenset(names)
        found = (schema.item for schema in self._tools if schema.item.policy is not GCPolicy.LOCKED)
        self._leave_out(frozenset(item.id for item in found if item.name in names))

    def bring_in(self, schemas: Iterable[Payload]) -> None:
        """Add removed schemas again after the others, unless the host has set others since."""
        head = self.head
        named = {self._intake.format.schema_name(schema): schema for schema in schemas}
        back = {name: schema for name, schema in named.items() if name in head.left_out}
        if not back:
            return
        left_out = tuple(name for name in head.left_out if name not in back)
        self.set_tools((*head.schemas, *back.values()), head.discoverable | back.keys())
        self._name_left_out(left_out)

    def _empty_budget(self, overhead: int) -> InstructionBudget:
        return InstructionBudget(
            context_limit=self.budget.context_limit,
            output_reservation=self.budget.output_reservation,
            overhead=overhead,
            sources=self.budget.sources,
        )

    def _take_over(self, messages: Sequence[Message], cursor: Cursor) -> None:
        self._add(*messages)
        self.cursor = cursor
        self._keep_newest_marks()
        self._refresh_results()

    def _leave_out(self, schemas: frozenset[str]) -> None:
        """Note removed schemas in the system text, which may change now: the prefix is broken at position 0 anyway."""
        removed = [schema for schema in self._tools if schema.item.id in schemas]
        if not removed:
            return
        for schema in removed:
            self.budget.remove(schema.item.id)
        self._tools = tuple(schema for schema in self._tools if schema.item.id not in schemas)
        self._name_left_out((*self._left_out, *(schema.item.name for schema in removed)))

    def _name_left_out(self, names: tuple[str, ...]) -> None:
        if names or self._left_out:
            self._left_out = names
            text = left_out_text(names) if names else ""
            self.set_system([SystemPart(name=_LEFT_OUT, text=text, policy=GCPolicy.LOCKED)])

    def _take_edited(self, message: Message, edits: Edits, replacements: Mapping[str, Message]) -> None:
        cuts = [replacements[item.id] for item in message.items if item.id in replacements]
        leads = message.items[0].id in edits.dropped
        if leads:
            self._add(*cuts)
        kept = tuple([_edited(item, edits) for item in message.items if item.id not in edits.dropped])
        # A message that leaves completely is not read again: that would take most of the time of a large collection.
        if kept:
            self._keep_changed(message, kept, edits)
        else:
            self.budget.overhead -= message.overhead
        if not leads:
            self._add(*cuts)

    def _keep_changed(self, message: Message, kept: tuple[Item, ...], edits: Edits) -> None:
        for item in kept:
            if item.id in edits.texts:
                self.budget.update(item.id, item.tokens)
        payload = self._intake.format.edit(message.payload, _texts(message, edits, self._intake.format))
        if payload is None:
            self.budget.overhead -= message.overhead
            return
        changed = attrs.evolve(message, payload=payload, items=kept, as_logged=False)
        self._keep(changed, marked=self._intake.format.marks(payload) > 0)

    def _settle_system(self) -> None:
        """
        Put system messages inside the conversation between a user message and a reply again (N4), if what stood beside
        them left: they wait for the next such place, and those that meet there become one message.
        """
        if not self.places_system or not any(message.role is Role.SYSTEM for message in self._messages):
            return
        marked = {id(self._messages[place]) for place in self._marked}
        settled: list[Message] = []
        waiting: Message | None = None
        for message in self._messages:
            if message.role is Role.SYSTEM:
                joined = None if waiting is None else self._as_one(waiting, message, marked)
                if waiting is not None and joined is None:
                    settled.append(waiting)
                waiting = joined or message
                continue
            if waiting is not None and message.role is Role.ASSISTANT and settled and settled[-1].role in _SAID:
                settled.append(waiting)
                waiting = None
            settled.append(message)
        self._messages = settled if waiting is None else [*settled, waiting]
        self._marked = [place for place, message in enumerate(self._messages) if id(message) in marked]

    def _as_one(self, first: Message, second: Message, marked: set[int]) -> Message | None:
        """
        Return two system messages as one; None for control messages. ``marked`` are the identities of messages with
        cache marks.
        """
        payload = self._intake.format.join(first.payload, second.payload)
        if payload is None:
            return None
        whole = attrs.evolve(first, payload=payload, items=(*first.items, *second.items), as_logged=False)
        self.budget.overhead -= second.overhead
        if self._intake.format.marks(payload):
            marked.add(id(whole))
        return whole

    def _keep(self, message: Message, *, marked: bool) -> None:
        place = len(self._messages)
        for item in message.items:
            self._places[item.id] = place
            self._units.pop(item.unit, None)
        if marked:
            self._marked.append(place)
        self._messages.append(message)

    def _replacements(self, edits: Edits) -> dict[str, Message]:
        """Return the messages that replace what leaves, by the item whose place they take."""
        items = {key: trace_item(reference) for key, reference in edits.traces.items()}
        items |= {key: summary_item(summary) for key, summary in edits.summaries.items()}
        arrival = self._intake.framed(self.cursor, *items.values())
        given = (summary.number for summary in edits.summaries.values())
        self.cursor = attrs.evolve(
            arrival.cursor,
            summaries=max(given, default=arrival.cursor.summaries),
            results=self.cursor.results,  # they take the place of something that left, which is seldom the end
        )
        return dict(zip(items, arrival.messages, strict=True))

    def _refresh_results(self) -> None:
        """Let what comes next join the last message as it is now; nothing if another one is the last."""
        results = self.cursor.results
        if results is not None:
            last = self._messages[-1] if self._messages else None
            live = last if last is not None and last.id == results.id else None
            self.cursor = attrs.evolve(self.cursor, results=live)

    # -- inside --------------------------------------------------------------------------------------------------

    @property
    def _head_digest(self) -> bytes:
        """The digest of the content before the conversation; computed again only when it changes."""
        parts = (*self._system.values(), *self._tools)
        known, digest = self._digested
        if len(known) != len(parts) or any(map(operator.is_not, known, parts)):
            texts = [item.text for item in self._system.values()]
            digest = digest_of([texts, [without_marks(schema.payload) for schema in self._tools]])
            self._digested = parts, digest
        return digest

    def _add(self, *messages: Message) -> None:
        for message in messages:
            for item in message.items:
                self.budget.add(_budget_item(item))
            self.budget.overhead += message.overhead
            self._keep(message, marked=self._intake.format.marks(message.payload) > 0)

    def _grow(self, message: Message) -> None:
        for item in message.items:
            self._units.pop(item.unit, None)
            if item.id not in self._places:
                self.budget.add(_budget_item(item))
                self._places[item.id] = len(self._messages) - 1
        self._messages[-1] = message
        if self._intake.format.marks(message.payload) and len(self._messages) - 1 not in self._marked:
            self._marked.append(len(self._messages) - 1)

    @property
    def _last_system(self) -> Message | None:
        """
        The system message at the end of the conversation, if its place is directly before a reply (N4): what
        users and tools say from here on comes before it. Otherwise None.
        """
        last = self._messages[-1] if self._messages and self.places_system else None
        return last if last is not None and last.role is Role.SYSTEM else None

    def _move(self, place: int, to: int) -> None:
        """Move a message back, after those that came since."""
        self._messages.insert(to, self._messages.pop(place))
        for at in range(place, to + 1):
            self._places.update((item.id, at) for item in self._messages[at].items)
        self._marked = sorted(to if at == place else at - (place < at <= to) for at in self._marked)

    def _clear(self) -> None:
        """Remove all messages: the provider's compaction replaces them (R4)."""
        for message in self._messages:
            self.budget.remove(*[item.id for item in message.items])
            self.budget.overhead -= message.overhead
        self._messages, self._places, self._marked, self._units = [], {}, [], {}
        self._running = RunningDigest()  # the next messages do not follow those that it knows

    def _leave(self, ids: frozenset[str]) -> None:
        """Remove these items of the last message, which were never sent."""
        message = self._messages.pop()
        self.budget.remove(*ids)
        for item in message.items:
            self._units.pop(item.unit, None)
            if item.id in ids:
                del self._places[item.id]
        self._marked = [place for place in self._marked if place < len(self._messages)]
        payload = self._intake.format.edit(message.payload, _texts(message, Edits(dropped=ids), self._intake.format))
        if payload is None:
            self.budget.overhead -= message.overhead
            return
        kept = tuple([item for item in message.items if item.id not in ids])
        changed = attrs.evolve(message, payload=payload, items=kept, as_logged=False)
        self._keep(changed, marked=self._intake.format.marks(payload) > 0)

    def _keep_newest_marks(self) -> None:
        """
        A caller marks the newest message of every call, and we keep its older ones: beyond the provider's number of
        marks (N5) the oldest lose theirs. Marks are not part of the cached content, so the prefix does not change.
        """
        format_ = self._intake.format
        room = format_.most_marks - sum(format_.marks(schema.payload) for schema in self._tools)
        for place in reversed(self._marked):
            message = self._messages[place]
            payload = format_.unmarked(message.payload, max(0, room))
            if payload is not message.payload:
                self._messages[place] = attrs.evolve(message, payload=payload, as_logged=False)
            room -= format_.marks(payload)
        self._marked = [place for place in self._marked if format_.marks(self._messages[place].payload)]

    def _marked_tools(self) -> list[Payload]:
        """Return the schemas as they are sent: with more marks than the provider accepts, only the last are kept."""
        format_, payloads = self._intake.format, [schema.sent for schema in self._tools]
        over = sum(map(format_.marks, payloads)) - format_.most_marks
        for place, payload in enumerate(payloads if over > 0 else ()):
            marks = format_.marks(payload)
            payloads[place] = format_.unmarked(payload, max(0, marks - max(0, over)))
            over -= marks
        return payloads

    def _hold(self, key: str) -> None:
        item = self.find(key)
        if item is not None and item.policy in {GCPolicy.PARTIAL, GCPolicy.EPHEMERAL}:
            self.set_policy(key, GCPolicy.PRESERVABLE)

    def _join(self, keys: Sequence[str]) -> None:
        """
        Question and answer of a turn that called no tool are one unit from now on, and nothing holds only one of them:
        but for those of which host or plugins said how they are held.
        """
        messages = dict.fromkeys(self._places[key] for key in keys if key in self._places)
        items = [item for place in messages for item in self._messages[place].items if _is_free(self._messages[place])]
        for item in items:
            self._replace(item.id, unit=items[0].unit, policy=GCPolicy.PARTIAL)
            self.budget.set_policy(item.id, GCPolicy.PARTIAL)

    def _replace(self, key: str, **changes: Any) -> None:
        place = self._places[key]
        message = self._messages[place]
        for item in message.items:
            self._units.pop(item.unit, None)
        items = tuple(attrs.evolve(item, **changes) if item.id == key else item for item in message.items)
        self._messages[place] = attrs.evolve(message, items=items)
        for item in items:
            self._units.pop(item.unit, None)
        if self.cursor.results is not None and self.cursor.results.id == message.id:
            self._refresh_results()

    def _part(self, part: SystemPart) -> Item:
        tokens = self._intake.counter.count(part.text)
        kind = ItemKind.SYSTEM_TEXT
        return _owned(kind, part.source, part.name, text=part.text, tokens=tokens, policy=part.policy)

    def _stability(self, keyed: tuple[str, Item]) -> tuple[bool, int]:
        item = keyed[1]
        return is_own(item.source, item.name), self.budget.source(item.source).layer

    def _is_shared(self, item: Item) -> bool:
        return is_shared(self.budget.source(item.source), item.name)

    def _schema(self, name: str, payload: Payload, *, core: bool) -> Schema:
        policy = GCPolicy.LOCKED if core else GCPolicy.EPHEMERAL
        tokens = schema_tokens(payload, self._intake.counter)
        item = _owned(ItemKind.TOOL_SCHEMA, PLUGIN.name, name, text="", tokens=tokens, policy=policy)
        return Schema(payload=payload, item=item)

    def _system_overhead(self, *, was: bool) -> None:
        """The overhead of system text that is a separate message, counted once."""
        self.budget.overhead += self._intake.counter.per_message * (bool(self._system) - was)


def _is_free(message: Message) -> bool:
    """Return whether its items only have default policies: a message is never split."""
    return all(item.policy is default_policy(item.kind, item.tokens) and not item.pinned for item in message.items)


def recounted(message: Message, intake: Intake) -> Message:
    """Return the message as this counter counts it."""
    parts = intake.format.read(message.payload)
    items = tuple(
        attrs.evolve(item, tokens=part_tokens(part, intake.counter))
        for item, part in zip(message.items, parts, strict=True)
    )
    return attrs.evolve(message, items=items, overhead=framing_tokens(message.payload, intake.format, intake.counter))


def left_out_text(names: Sequence[str]) -> str:
    """Return the line that names the tools whose schemas left the window."""
    return f"[gc: tools left out for room, not callable until they are given again: {', '.join(names)}]"


def trace_item(reference: Reference) -> Item:
    """Return the item of a trace, still without number and tokens."""
    return Item(
        id="",
        kind=ItemKind.TRACE,
        source="conversation",
        policy=GCPolicy.PARTIAL,
        tokens=0,
        original_tokens=reference.tokens,
        text=reference.trace_text(),
        unit=0,
        turn=reference.last_turn,
        reference=reference,
    )


def summary_item(summary: NewSummary) -> Item:
    """Return the item of a summary, still without number and tokens."""
    reference = summary.reference
    return Item(
        id="",
        kind=ItemKind.SUMMARY,
        source="conversation",
        policy=GCPolicy.PRESERVABLE,
        tokens=0,
        original_tokens=reference.tokens,
        text=summary.text,
        unit=0,
        turn=reference.last_turn,
        name=summary.name,
        reference=reference,
    )


def _owned(kind: ItemKind, source: str, name: str, *, text: str, tokens: int, policy: GCPolicy) -> Item:
    return Item(
        id=f"{source}:{name}",
        kind=kind,
        source=source,
        policy=policy,
        tokens=tokens,
        original_tokens=tokens,
        text=text,
        unit=0,
        turn=-1,
        name=name,
    )


def _budget_item(item: Item) -> BudgetItem:
    return BudgetItem(
        key=item.id,
        source=item.source,
        group=f"turn {item.turn}" if item.turn >= 0 else "",
        tokens=item.tokens,
        policy=item.policy,
        label=f"{item.kind.value} {item.name}".rstrip(),
        synthetic=item.synthetic,
    )


def _unit(number: int, items: list[Item], overhead: int, *, pending: bool) -> Unit:
    first = items[0]
    return Unit(
        number=number,
        turn=first.turn,
        step=max([item.step for item in items]),
        items=tuple(items),
        tokens=overhead + sum([item.tokens for item in items]),  # lists: for so few a generator would cost more
        pending=pending,
        pinned=any(item.pinned for item in items),
    )


def _edited(item: Item, edits: Edits) -> Item:
    new = edits.texts.get(item.id)
    if new is None:
        return item
    return attrs.evolve(item, text=new.text, tokens=new.tokens, form=Form.STUB, reference=new.reference, scan=new.scan)


def _texts(message: Message, edits: Edits, format_: Format) -> dict[tuple[str | int, ...], str | None]:
    texts: dict[tuple[str | int, ...], str | None] = {}
    for place, item in zip(format_.places(message.payload), message.items, strict=True):
        if item.id in edits.dropped:
            texts[place] = None
        elif item.id in edits.texts:
            texts[place] = edits.texts[item.id].text
    return texts


def _is_said_after(message: Message, number: int) -> bool:
    """Return whether a user's message, which came from the host, arrived after the item with this number."""
    first = message.items[0]
    return message.role is Role.USER and first.logged is not None and number_of(first.id) > number
