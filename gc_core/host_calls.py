"""What the host says to a session: messages, sources of instructions, pins and policies."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from gc_core.config import GCConfig
from gc_core.context import Context
from gc_core.errors import (
    GCError,
    MessageError,
    SourceError,
)
from gc_core.events import (
    BudgetUpdated,
    Event,
    Listener,
    MessageRepaired,
)
from gc_core.items import Item
from gc_core.log import FILE_NAME
from gc_core.logs import logger
from gc_core.masking import without_secrets
from gc_core.messages import Payload
from gc_core.past import Past, serialised
from gc_core.policy import GCPolicy
from gc_core.protocols import (
    Format,
    TokenCounter,
)
from gc_core.recorder import Taken
from gc_core.sources import ENRICHMENT, InstructionSource
from gc_core.state import SessionState

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
    _held = 0
    """How often the host has said how strongly something is held: a plan that was made before may not hold any more."""

    @serialised
    def append(self, message: object, *, policy: GCPolicy | None = None) -> tuple[str, ...]:
        """
        Add a message in the provider's own shape (a dict or an SDK object); returns the ids of its items.

        ``policy`` is your own word for how strongly it is held. Calls that were left without a result get a synthetic
        one before it; what no provider would accept is mended, told as a ``MessageRepaired`` event, and logged as it
        came. Raises MessageError, naming the field, when the message is malformed; nothing has changed then.
        """
        payload = self._plain(message)
        if policy is not None:
            _check_policy(policy, MessageError)
        return self._told(self._recorder.take(payload, policy, self.plugins.classify)).ids

    @serialised
    def extend(self, messages: Iterable[object], *, policy: GCPolicy | None = None) -> None:
        """Add several messages, one after the other."""
        for message in messages:
            self.append(message, policy=policy)

    @serialised
    def system(self, /, *, policy: GCPolicy = GCPolicy.LOCKED, refresh: str = "break", **parts: str) -> None:
        """
        Set named parts of the system text; an empty text removes one.

        Before the first request this takes effect at once; later it would break the prompt cache from position 0 on,
        so it waits for the next collection, unless ``refresh="now"``. Raises SourceError, with nothing changed, for
        what is no text or no policy.
        """
        _check_texts(parts)
        _check_policy(policy, SourceError)
        self._recorder.system(self._masked(parts), policy, now=_is_now(refresh))
        self._tell_budget()

    @serialised
    def tools(self, schemas: Iterable[object], *, discoverable: Iterable[str] = (), refresh: str = "break") -> None:
        """
        Set all tool schemas. Core ones are LOCKED; the ``discoverable`` ones, by name, are EPHEMERAL.

        Takes effect as ``system`` does. Raises SourceError, with nothing changed, for a name twice, and for a
        discoverable one without a schema.
        """
        plain = tuple(self._plain(schema) for schema in schemas)
        names = {self._format.schema_name(schema) for schema in plain}
        discoverable = frozenset(discoverable)
        unknown = sorted(discoverable - names)
        if unknown:
            raise SourceError(f"discoverable tool {unknown[0]!r} has no schema; there are {sorted(names)}")
        self._recorder.tools(plain, discoverable, now=_is_now(refresh))
        self._tell_budget()

    @serialised
    def enrich(self, /, **texts: str) -> None:
        """
        Give named enrichment: text that is made anew every turn. It stands at the end of the next request and stays
        there as sent; the next version of the same name goes to the new end, and the old one may be collected. An empty
        text takes a version back that has not been sent yet.
        """
        self._state.give(ENRICHMENT.name, self._masked(texts))

    @serialised
    def memory(self, source: str, /, **blocks: str) -> None:
        """Give named memory blocks of a registered source; they are placed and replaced as enrichment is."""
        self._state.give(source, self._masked(blocks))

    @serialised
    def register_source(self, source: InstructionSource) -> None:
        """Add a source of instructions. Raises SourceError when the name is taken by another one."""
        self._recorder.register(source)

    @serialised
    def pin(self, *, turn: int | None = None, item: str | None = None) -> None:
        """Hold a turn (by number, counted from 0) or a resident item (by id) against every action."""
        self._set_pin(turn, item, pinned=True)

    @serialised
    def unpin(self, *, turn: int | None = None, item: str | None = None) -> None:
        """Release a pin."""
        self._set_pin(turn, item, pinned=False)

    @serialised
    def set_policy(self, item: str, policy: GCPolicy) -> None:
        """Change how strongly a resident item is held. Raises SourceError when it is not resident."""
        _check_policy(policy, SourceError)
        self._resident(item)
        self._held += 1
        self._recorder.set_policy(item, policy)
        self._tell_budget()

    def listen(self, listener: Listener) -> None:
        """Call this with every event from now on."""
        self._listeners.append(listener)

    # -- inside: what arrives ------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Before a model call: open calls are closed, waiting blocks stand at the end, the log's place is told."""
        if not self._store.temporary:
            self._tell_directory()
        for taken in self._recorder.prepare():
            self._told(taken)

    def _tell_directory(self) -> None:
        """Once, before the first request, so that no break is needed for it; again where a session was moved."""
        line = {_LOG_PART: _LOG_LINE.format(log=self.directory.absolute() / FILE_NAME)}
        state = self._state
        stands = state.context.system_text(_LOG_PART)
        waits = state.changes.parts.get(_LOG_PART, ("",))[0]
        if line[_LOG_PART] not in {stands, waits}:
            self._recorder.system(line, GCPolicy.LOCKED, now=not state.sent)

    def _told(self, taken: Taken) -> Taken:
        """Tell what arrived; it is logged and in the window."""
        for repair in taken.arrival.repairs:
            _log.warning("message repaired", kind=repair.kind, text=repair.text)
            self._tell(MessageRepaired(kind=repair.kind, text=repair.text))
        if taken.new:
            self._tell_budget()
        return taken

    def _plain(self, message: object) -> Payload:
        """The message in plain JSON values, as it is logged: without the secrets that plugins know."""
        plain = _plain(message)
        return without_secrets(plain, self.plugins.redact) if self.plugins.redacts else plain

    def _masked(self, texts: Mapping[str, str]) -> dict[str, str]:
        if not self.plugins.redacts:
            return dict(texts)
        return {name: self.plugins.redact(text) if isinstance(text, str) else text for name, text in texts.items()}

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
        plain = json.loads(json.dumps(message, default=_as_dict, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
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
