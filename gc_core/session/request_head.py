"""
The head of a session's requests: parts of the system text, tool schemas, and the private texts they
must not contain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import attrs

from gc_core.errors import SourceError
from gc_core.events import LayerChanged, VolatileLayer
from gc_core.relevance.tool_calls import could_read_files
from gc_core.relevance.volatile_text import volatile_in
from gc_core.session.inbox import check_policy
from gc_core.session.masking import Masking
from gc_core.session.runtime import Runtime
from gc_core.storage.master_log import FILE_NAME
from gc_core.values.layers import LOG_PART, Private, is_own, is_shared, source_of_system, strings_of
from gc_core.values.loggers import logger
from gc_core.values.policy import GCPolicy
from gc_core.values.sources import PLUGIN, InstructionSource
from gc_core.values.validators import check_text, listed
from gc_core.window.pending_head import layers_changed

_log = logger("gc_core.session")

_LOG_LINE = (
    "[gc: what is left out of this conversation is kept. {log} holds it; master.jsonl:START-END are bytes of that file,"
    " offsets from 0: tail -c +$((START+1)) FILE | head -c $((END-START))]"
)
"""The LOCKED line that tells a model with a shell where to find removed content."""


def _is_there(line: str) -> bool:
    """Return whether the log that a line names is still there: that of a fork's parent is, with the same bytes."""
    before, after = _LOG_LINE.split("{log}")
    return Path(line.removeprefix(before).removesuffix(after)).exists()


class RequestHead:
    """
    Sets the system text and the tools.

    Attributes:
        private: Texts that no shared layer may contain.

    """

    def __init__(self, runtime: Runtime, masking: Masking) -> None:
        self._runtime = runtime
        self._masking = masking
        self.private = Private()

    def system(self, source: str, policy: GCPolicy | attrs.NothingType, refresh: str, parts: Mapping[str, str]) -> None:
        """Set named parts of the system text; see ``GCSession.system``."""
        _check_texts({"source": source, **parts})
        source = self._masking.name(source)
        now, owner = _is_now(refresh), source_of_system(source, self._runtime.context.budget.sources)
        held = owner.policy if policy is attrs.NOTHING else policy
        check_policy(held, SourceError)
        texts = self._masking.texts(parts)
        for name, text in texts.items():
            self._check_shared(owner, name, (text,), self.private)
        self._runtime.recorder.register(owner)
        changed = self._runtime.recorder.system(texts, held, now=now, source=owner.name)
        self._announce(changed, owner.name, texts)

    def tools(self, schemas: Iterable[object], discoverable: Iterable[str], refresh: str) -> None:
        """Set all tool schemas; see ``GCSession.tools``."""
        form = self._runtime.format
        plain = tuple(map(self._masking.plain, listed("schemas", schemas, "tool schemas")))
        named = {form.schema_name(schema): "\n".join(strings_of(schema)) for schema in plain}
        discoverable = frozenset(
            map(self._masking.name, listed("discoverable", discoverable, "tools' names", kinds=str))
        )
        unknown = sorted(discoverable - named.keys())
        if unknown:
            raise SourceError(f"discoverable tool {unknown[0]!r} has no schema; there are {sorted(named)}")
        now = _is_now(refresh)
        for name, text in named.items():
            self._check_shared(PLUGIN, name, (text,), self.private)
        self._announce(self._runtime.recorder.tools(plain, discoverable, now=now), PLUGIN.name, named)
        order = [form.schema_name(schema) for schema in plain]
        kept = [schema.item.name for schema in self._runtime.context.schemas]
        if order != kept and sorted(order) == sorted(kept) and self._runtime.state.changes.schemas is None:
            _log.info("tool order kept", tools=len(kept))

    def declare_private(self, values: Mapping[str, str]) -> None:
        """Declare texts that no shared layer may contain; see ``GCSession.private``."""
        private = self.private.updated(values)
        context, waiting = self._runtime.context, self._runtime.state.changes
        parts = {**context.head.parts, **waiting.parts}
        for part in parts.values():
            self._check_shared(context.budget.source(part.source), part.name, (part.text,), private)
        waits = () if waiting.schemas is None else waiting.schemas[0]
        for schema in (*context.head.schemas, *waits):
            self._check_shared(PLUGIN, self._runtime.format.schema_name(schema), strings_of(schema), private)
        self.private = private

    def name_log(self) -> None:
        """
        Name the log's path, in a session with a directory whose tools could read it: once, before the first request if
        the tools are there by then, so that it breaks nothing; again, at once, after the session was moved.
        """
        if self._runtime.store.temporary:
            return
        line, state = _LOG_LINE.format(log=self._runtime.directory.absolute() / FILE_NAME), self._runtime.state
        waits = [part.text for part in state.changes.parts.values() if part.name == LOG_PART]
        present = [item.text for item in state.context.system if item.name == LOG_PART]
        if line not in (*waits, *present) and (present or self._log_is_readable()):
            now = not state.sent or not all(map(_is_there, present))
            self._announce_layers(self._runtime.recorder.system({LOG_PART: line}, GCPolicy.LOCKED, now=now))

    def lines(self) -> list[str]:
        """Return the lines of ``explain`` on the head: pending changes and their cost, and volatile texts."""
        state, context = self._runtime.state, self._runtime.context
        lines = ["system or tool changes wait for the next collection"] if state.changes else []
        after = state.changed(state.changes, context)
        for each in layers_changed(context, after, state.changes, waits=True, format=state.format.name):
            lost = ", ".join(each.invalidates)
            lines.append(f"{each.source}:{each.part} (layer {each.layer}): {each.tokens:,} tokens of {lost} read again")
        texts = {item.id: item.text for item in context.system if not is_own(item.source, item.name)}
        texts |= {schema.item.id: "\n".join(strings_of(schema.payload)) for schema in context.schemas}
        for key, text in texts.items():
            lines.extend(f"{key} is volatile ({found.why}): {found.excerpt}" for found in volatile_in(text))
        return lines

    # -- inside --------------------------------------------------------------------------------------------------

    def _log_is_readable(self) -> bool:
        """Return whether a tool could read files. A host that names no tools may have some; a late line costs more."""
        schemas = self._runtime.context.head.schemas
        return any(could_read_files(self._runtime.format.schema_name(schema), schema) for schema in schemas)

    def _check_shared(self, source: InstructionSource, name: str, texts: Iterable[str], private: Private) -> None:
        if is_shared(source, name):
            whole = private.of(self._runtime.directory.absolute(), self._runtime.store.session)
            whole.check(f"{source.name}:{name}", source.layer, texts)

    def _announce(self, changed: tuple[LayerChanged, ...] | None, source: str, texts: Mapping[str, str]) -> None:
        """Announce changes of the head; a text that is not new was announced before."""
        if changed is None:
            return
        for name, text in texts.items():
            for found in volatile_in(text):
                event = VolatileLayer(source=source, part=name, excerpt=found.excerpt, why=found.why)
                self._runtime.events.emit(event)
        self._announce_layers(changed)
        self._runtime.budget_changed()

    def _announce_layers(self, changed: tuple[LayerChanged, ...] | None) -> None:
        for each in changed or ():
            self._runtime.events.emit(each)


def _is_now(refresh: str) -> bool:
    if refresh not in ("break", "now"):
        raise SourceError(f'refresh = {refresh!r}: expected "break" or "now"')
    return refresh == "now"


def _check_texts(texts: Mapping[str, object]) -> None:
    for name, text in texts.items():
        check_text(name, text)
