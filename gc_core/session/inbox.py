"""What the host says to a session: messages, sources of instructions, pins and policies."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from gc_core.errors import (
    GCError,
    MessageError,
    SourceError,
)
from gc_core.events import (
    BudgetUpdated,
    Event,
    LayerChanged,
    Listener,
    MessageRepaired,
    ProviderCompacted,
    VolatileLayer,
)
from gc_core.plugins.middleware import processed
from gc_core.plugins.redaction import masked_name, without_secret_names, without_secrets
from gc_core.providers import provider_named
from gc_core.providers.contract import Format, TokenCounter
from gc_core.relevance.volatile_text import volatile_in
from gc_core.session.event_logs import log_event
from gc_core.session.timeline import Past, synchronized
from gc_core.storage.master_log import FILE_NAME
from gc_core.storage.recorder import Taken
from gc_core.storage.state import SessionState
from gc_core.values.config import GCConfig
from gc_core.values.items import Item
from gc_core.values.json_values import DepthError, check_depth, read_json
from gc_core.values.layers import Private, is_own, is_shared, source_of_system, strings_of
from gc_core.values.loggers import logger
from gc_core.values.messages import Payload, Role
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import ENRICHMENT, PLUGIN, RESERVED_SOURCES, SYSTEM, InstructionSource
from gc_core.window.context import Context
from gc_core.window.pending_head import layers_changed

_log = logger("gc_core.session")

_LOG_PART = "gc: log"
_LOG_LINE = (
    "[gc: what is left out of this conversation is kept. {log} holds it; master.jsonl:START-END are bytes of that file,"
    " offsets from 0: tail -c +$((START+1)) FILE | head -c $((END-START))]"
)
"""The LOCKED line with which a model that can run commands finds what left."""


class HostCalls(Past):
    """The part of a session that listens. Nothing here collects."""

    _listeners: list[Listener]
    _private = Private()
    _held = 0
    """How often the host has said how strongly something is held: a plan that was made before may not hold any more."""
    _sent_items: int | None = None
    """Number of the newest item in the last request; None before this process made one."""

    @synchronized
    def append(self, message: object, *, policy: GCPolicy | None = None) -> tuple[str, ...]:
        """
        Add a message in the provider's own shape (a dict or an SDK object); returns the ids of its items.

        ``policy`` is your own word for how strongly it is held. Calls that were left without a result get a synthetic
        one before it; what no provider would accept is mended, told as a ``MessageRepaired`` event, and logged as it
        came. Raises MessageError, naming the field, when the message is malformed; nothing has changed then.
        """
        payload = self._message(message)
        if policy is not None:
            _check_policy(policy, MessageError)
        return self._told(self._recorder.take(payload, policy, self.plugins.classify)).ids

    @synchronized
    def extend(self, messages: Iterable[object], *, policy: GCPolicy | None = None) -> None:
        """Add several messages, one after the other."""
        for message in messages:
            self.append(message, policy=policy)

    @synchronized
    def system(
        self,
        /,
        *,
        source: str = SYSTEM.name,
        policy: GCPolicy | attrs.NothingType = attrs.NOTHING,
        refresh: str = "break",
        **parts: str,
    ) -> None:
        """
        Set named parts of the system text; an empty text removes one, and one that stands already changes nothing.

        ``source`` says whose they are: one that you registered, or ``"org"``, ``"team"``, ``"user"``, which are ready
        made. Parts stand in the order of their sources' layers, then in that in which they were given. ``policy`` is
        the source's own unless you say otherwise.

        Before the first request this takes effect at once; later it would break the prompt cache, so it waits for the
        next collection, unless ``refresh="now"``; a ``LayerChanged`` event says what it invalidates. A text that looks
        as if it were another one with every request is told as a ``VolatileLayer`` event.

        Raises SourceError, with nothing changed, for what is no text or no policy, for an unknown source, for more than
        its cap, and for a shared layer that holds what is ``private``.
        """
        _check_texts(parts)
        source = self._masked_name(source)
        now, owner = _is_now(refresh), source_of_system(source, self._context.budget.sources)
        held = owner.policy if policy is attrs.NOTHING else policy
        _check_policy(held, SourceError)
        texts = self._masked(parts)
        for name, text in texts.items():
            self._check_shared(owner, name, (text,), self._private)
        self._recorder.register(owner)
        changed = self._recorder.system(texts, held, now=now, source=owner.name)
        self._tell_head(changed, owner.name, texts)

    @synchronized
    def tools(self, schemas: Iterable[object], *, discoverable: Iterable[str] = (), refresh: str = "break") -> None:
        """
        Set all tool schemas. Core ones are LOCKED; the ``discoverable`` ones, by name, are EPHEMERAL.

        Takes effect as ``system`` does, and is a shared layer. The same schemas in another order change nothing: the
        order that was sent stands. Raises SourceError, with nothing changed, for a name twice, for a discoverable one
        without a schema, and for a schema that holds what is ``private``.
        """
        plain = tuple(self._plain(schema) for schema in schemas)
        named = {self._format.schema_name(schema): "\n".join(strings_of(schema)) for schema in plain}
        discoverable = frozenset(map(self._masked_name, discoverable))
        unknown = sorted(discoverable - named.keys())
        if unknown:
            raise SourceError(f"discoverable tool {unknown[0]!r} has no schema; there are {sorted(named)}")
        now = _is_now(refresh)
        for name, text in named.items():
            self._check_shared(PLUGIN, name, (text,), self._private)
        self._tell_head(self._recorder.tools(plain, discoverable, now=now), PLUGIN.name, named)
        order = [self._format.schema_name(schema) for schema in plain]
        kept = [schema.item.name for schema in self._context.schemas]
        if order != kept and sorted(order) == sorted(kept) and self._state.changes.schemas is None:
            _log.info("tool order kept", tools=len(kept))

    @synchronized
    def private(self, /, **values: str) -> None:
        """
        Declare texts that belong to a user or to this session, by a name of your own: ``private(user="ada@x.org")``.

        No layer below that of ``"user"``, and no tool schema, may hold one of them, the session's id or its directory:
        other sessions share these layers. They are looked for as whole words, whatever their case; an empty text takes
        a name back. No file holds them: tell them again when a session is opened again.

        Raises SourceError, naming part, layer and name but never the text, when one stands there or waits; what is less
        than three letters long cannot be looked for. Nothing is declared then.
        """
        private = self._private.told(values)
        context, waiting = self._context, self._state.changes
        parts = {**context.head.parts, **waiting.parts}
        for part in parts.values():
            self._check_shared(context.budget.source(part.source), part.name, (part.text,), private)
        waits = () if waiting.schemas is None else waiting.schemas[0]
        for schema in (*context.head.schemas, *waits):
            self._check_shared(PLUGIN, self._format.schema_name(schema), strings_of(schema), private)
        self._private = private

    @synchronized
    def enrich(self, /, **texts: str) -> None:
        """
        Give named enrichment: text that is made anew every turn. It stands at the end of the next request and stays
        there as sent; the next version of the same name goes to the new end, and the old one may be collected.

        A version that has not been sent yet, because ``pre_send`` raised for instance, is replaced by the next one; an
        empty text takes it back. What would not fit whatever left is shortened, or left out, as every collection is
        reported. Raises SourceError for what is no text, and for more than a cap.
        """
        self._give(ENRICHMENT.name, texts)

    @synchronized
    def memory(self, source: str, /, **blocks: str) -> None:
        """
        Give named memory blocks of a registered source; they are placed, replaced and taken back as enrichment is. Of a
        LOCKED source they are not shortened: ``pre_send`` raises ContextOverflowError while they do not fit.
        """
        self._give(source, blocks)

    @synchronized
    def register_source(self, source: InstructionSource) -> None:
        """
        Add a source of instructions. Raises SourceError when the name is taken by another one, or reserved, and for
        what is no source.
        """
        if not isinstance(source, InstructionSource):
            raise SourceError(f"source = {source!r:.200}: expected an InstructionSource")
        if any(own.name == source.name and own != source for own in RESERVED_SOURCES):
            raise SourceError(f"source {source.name!r} is gc-core's own; give yours another name")
        self._recorder.register(attrs.evolve(source, name=self._masked_name(source.name)))

    @synchronized
    def pin(self, *, turn: int | None = None, item: str | None = None) -> None:
        """
        Hold a turn (by number, counted from 0) or a resident item (by id) against every action. Raises SourceError for
        what is neither.
        """
        self._set_pin(turn, item, pinned=True)

    @synchronized
    def unpin(self, *, turn: int | None = None, item: str | None = None) -> None:
        """Release a pin. Raises SourceError as ``pin`` does."""
        self._set_pin(turn, item, pinned=False)

    @synchronized
    def set_policy(self, item: str, policy: GCPolicy) -> None:
        """Change how strongly a resident item is held. Raises SourceError when it is not resident."""
        _check_policy(policy, SourceError)
        self._resident(item)
        self._held += 1
        self._recorder.set_policy(item, policy)
        self._tell_budget()

    @property
    def objective(self) -> str:
        """
        What the agent is after: what you set, else the original request with every later message that changes the task.

        Strategies weigh what is in the window by it. It has become another one when you set it, and when a user message
        shares few names with it. "" gives it back to the user's words. Raises SourceError for what is no text.
        """
        return self._state.objective.text

    @objective.setter
    def objective(self, text: str) -> None:
        self._aim(text)

    @synchronized
    def _aim(self, text: str) -> None:
        if not isinstance(text, str):
            raise SourceError(f"objective = {text!r:.200}: expected a text")
        if text != self._state.objective.given:
            self._recorder.aim(self.plugins.redact(text) if self.plugins.redacts else text)

    def listen(self, listener: Listener) -> None:
        """Call this with every event from now on."""
        self._listeners.append(listener)

    # -- inside: blocks ------------------------------------------------------------------------------------------------

    def _give(self, source: str, texts: Mapping[str, str]) -> None:
        before = self._context
        self._recorder.give(self._masked_name(source), self._masked(texts), self._is_unread)
        if self._context is not before:
            self._tell_budget()

    def _is_unsent(self, item: Item) -> bool:
        """Whether no request had the item; of what another process may have sent that is not known."""
        if self._sent_items is None:
            return not self._state.sent
        return int(item.id[1:]) > self._sent_items

    def _is_unread(self, item: Item) -> bool:
        """The same, and no reply stands behind it: the host may have sent what no ``pre_send`` gave."""
        newest = next((m for m in reversed(self._context.messages) if m.role is Role.ASSISTANT), None)
        replied = 0 if newest is None else max(int(each.id[1:]) for each in newest.items)
        return self._is_unsent(item) and int(item.id[1:]) > replied

    # -- inside: what arrives ------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Before a model call: open calls are closed, waiting blocks stand at the end, the log's place is told."""
        if not self._store.temporary:
            self._tell_directory()
        for taken in self._recorder.prepare():
            self._told(taken)

    def _tell_directory(self) -> None:
        """Once, before the first request, so that no break is needed for it; again where a session was moved."""
        line, state = _LOG_LINE.format(log=self.directory.absolute() / FILE_NAME), self._state
        waits = [part.text for part in state.changes.parts.values() if part.name == _LOG_PART]
        stands = [item.text for item in self._context.system if item.name == _LOG_PART]
        if line not in (*waits, *stands):
            self._tell_changed(self._recorder.system({_LOG_PART: line}, GCPolicy.LOCKED, now=not state.sent))

    def _check_shared(self, source: InstructionSource, name: str, texts: Iterable[str], private: Private) -> None:
        if is_shared(source, name):
            whole = private.of(self.directory.absolute(), self._store.session)
            whole.check(f"{source.name}:{name}", source.layer, texts)

    def _tell_head(self, changed: tuple[LayerChanged, ...] | None, source: str, texts: Mapping[str, str]) -> None:
        """Tell what the head is now, or will be; a text that is not new was told before."""
        if changed is None:
            return
        for name, text in texts.items():
            for found in volatile_in(text):
                self._tell(VolatileLayer(source=source, part=name, excerpt=found.excerpt, why=found.why))
        self._tell_changed(changed)
        self._tell_budget()

    def _tell_changed(self, changed: tuple[LayerChanged, ...] | None) -> None:
        for each in changed or ():
            self._tell(each)

    def _head_lines(self) -> list[str]:
        """What is to be known of the head, for ``explain``: what waits and what it costs, what is volatile."""
        state, context = self._state, self._context
        lines = ["system or tool changes wait for the next collection"] if state.changes else []
        after = state.changed(state.changes, context)
        for each in layers_changed(context, after, state.changes, waits=True, format=self.format):
            lost = ", ".join(each.invalidates)
            lines.append(f"{each.source}:{each.part} (layer {each.layer}): {each.tokens:,} tokens of {lost} read anew")
        texts = {item.id: item.text for item in context.system if not is_own(item.source, item.name)}
        texts |= {schema.item.id: "\n".join(strings_of(schema.payload)) for schema in context.schemas}
        for key, text in texts.items():
            lines.extend(f"{key} is volatile ({found.why}): {found.excerpt}" for found in volatile_in(text))
        return lines

    def _told(self, taken: Taken) -> Taken:
        """Tell what arrived; it is logged and in the window."""
        for repair in taken.arrival.repairs:
            self._tell(MessageRepaired(kind=repair.kind, text=repair.text))
        if taken.arrival.compacted:
            after = self._context.budget.total
            self._tell(ProviderCompacted(tokens_before=taken.tokens_before, tokens_after=after))
        if taken.new:
            self._tell_budget()
        return taken

    def _message(self, message: object) -> Payload:
        """A message of the conversation as it is logged: as middleware leaves it, then without secrets."""
        if not self.plugins.processes:
            return self._plain(message)
        return self._plain(processed(_plain(message), self.plugins, self._format))

    def _plain(self, message: object) -> Payload:
        """The message in plain JSON values, as it is logged: without the secrets that plugins know."""
        plain = _plain(message)
        keys = provider_named(self.format).keys
        return without_secrets(plain, self.plugins.redact, keys) if self.plugins.redacts else plain

    def _masked(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Named texts as they are logged: without secrets, in the names too."""
        return without_secret_names(texts, self.plugins.redact) if self.plugins.redacts else dict(texts)

    def _masked_name(self, name: str) -> str:
        return masked_name(name, self.plugins.redact) if self.plugins.redacts else name

    def _set_pin(self, turn: int | None, item: str | None, *, pinned: bool) -> None:
        if (turn is None) == (item is None):
            raise SourceError(f"pin takes a turn or an item; got turn={turn!r}, item={item!r}")
        if turn is not None and (type(turn) is not int or turn < 0):
            raise SourceError(f"turn = {turn!r}: expected a turn's number, counted from 0")
        if item is not None:
            self._resident(item)
        self._held += 1
        self._recorder.pin(turn, item, pinned=pinned)

    def _resident(self, item: str) -> Item:
        found = self._context.find(item)
        if found is None:
            raise SourceError(f"item {item!r} is not in the window")
        return found

    # -- inside: the rest ----------------------------------------------------------------------------------------------

    @property
    def _state(self) -> SessionState:
        return self._recorder.state

    @property
    def _context(self) -> Context:
        return self._state.context

    @property
    def _config(self) -> GCConfig:
        return self._state.config

    @property
    def _counter(self) -> TokenCounter:
        return self._state.counter

    @property
    def _format(self) -> Format:
        return self._state.format

    def _tell_budget(self) -> None:
        self._tell(BudgetUpdated(tokens=self._context.budget.total, utilisation=self._context.budget.utilisation))
        self.plugins.budget_updated(self._context.budget)

    def _tell(self, event: Event) -> None:
        log_event(event)
        self._watch.told(event)
        for listener in self._listeners:
            with self.plugins.guarded("listener", type(event).__name__):
                listener(event)


def _is_now(refresh: str) -> bool:
    if refresh not in {"break", "now"}:
        raise SourceError(f'refresh = {refresh!r}: expected "break" or "now"')
    return refresh == "now"


def _plain(message: object) -> Payload:
    """A copy in plain JSON values, so that nobody can change it from outside; SDK objects say themselves as dicts."""
    if not isinstance(message, Mapping) and not hasattr(message, "model_dump"):
        raise MessageError(f"expected a message as a dict or an SDK object, got {type(message).__name__}")
    try:
        check_depth(message)
        plain = read_json(json.dumps(message, default=_as_dict, ensure_ascii=False, allow_nan=False))
    except DepthError as error:
        raise MessageError(f"message is {error}") from error
    except (TypeError, ValueError) as error:
        raise MessageError(f"message is not JSON: {error}") from error
    return plain  # type: ignore[no-any-return]  # JSON of a mapping is a dict


def _as_dict(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        # The SDKs' models hold values that pydantic never validated; its warnings about them say nothing.
        return value.model_dump(mode="json", exclude_none=True, warnings=False)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _check_policy(policy: object, error: type[GCError]) -> None:
    if not isinstance(policy, GCPolicy):
        raise error(f"policy = {policy!r}: expected a GCPolicy")


def _check_texts(texts: Mapping[str, object]) -> None:
    for name, text in texts.items():
        if not isinstance(text, str):
            raise SourceError(f"{name} = {text!r:.200}: expected a text")
