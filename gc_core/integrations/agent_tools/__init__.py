"""Tools with which the model itself looks back, pins and frees: schemas and handlers for an agent's loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from gc_core.errors import ConfigError, LogError, MessageError, PluginError, RuleError, SourceError
from gc_core.integrations.agent_tools.looking_back import NOTHING_FOUND, Listed, LookingBack, Past, hit_line
from gc_core.providers import format_named, provider_named
from gc_core.relevance.name_scan import scan
from gc_core.session.facade import SessionFacade
from gc_core.session.session import GCSession
from gc_core.values.agent_tool_schemas import TOOL_NAMES, TOOLS, Tool, checked
from gc_core.values.items import Item, ItemKind
from gc_core.values.messages import Payload
from gc_core.values.policy import GCPolicy
from gc_core.values.results import GCResult
from gc_core.values.sources import CONVERSATION, InstructionSource
from gc_core.values.validators import is_count

NOTES: Final = InstructionSource(name="notes", policy=GCPolicy.LOCKED, layer=80)
"""
Holds the model's own notes. LOCKED, because they are bounded and the only copy that the model reads; an older version
may go as soon as there is a newer one. The tool enforces the limit itself, so that it may differ when a session is
opened.
"""

RECALL_TOKENS: Final = 2_000
"""The most tokens that one recall brings back, and never more than a quarter of the window."""

_SHARE = 4  # a recall may fill one part in this many of the window, and all pins together one


class AgentTools:
    """
    The tools of one session, for the model that it serves.

    Give ``schemas()`` to ``GCSession.tools`` together with your own. After ``post_turn(reply)``, append what
    ``answer(reply)`` returns, beside the results of your own tools. Results are ordinary tool results: EPHEMERAL unless
    ``GCConfig.tools`` says otherwise. Only this object knows how often ``collect`` was used, and what the model has
    pinned; the notes are the session's.

    Args:
        session: The session that the tools act on.
        names: The tools to offer, by default all that the session supports. An ``AsyncGCSession`` has no ``collect``,
            which cannot be awaited here.
        collects_a_turn: Collections that the model may request in one turn.
        note_tokens: The most tokens of the notes.
        listed_only: Recall and search only what came with the messages of the last list of ``sync``: for a session that
            other conversations which begin alike may have used.

    Raises:
        ConfigError: An unknown name, one that the session does not support, or a number below 1.

    """

    def __init__(
        self,
        session: SessionFacade,
        *,
        names: Iterable[str] | None = None,
        collects_a_turn: int = 1,
        note_tokens: int = 1_000,
        listed_only: bool = False,
    ) -> None:
        self._bounds = {"collect": collects_a_turn, "note": note_tokens}
        for option, bound in (("collects_a_turn", collects_a_turn), ("note_tokens", note_tokens)):
            if not is_count(bound, 1):
                raise ConfigError(f"{option} = {bound!r}: expected a whole number of at least 1")
        waits = isinstance(session, GCSession)
        chosen = _chosen(TOOL_NAMES - (set() if waits else {"collect"}) if names is None else names)
        if "collect" in chosen and not waits:
            raise ConfigError("names: the tool 'collect' needs a GCSession; await collect_now() of this one yourself")
        self._session = session
        self._past: Past = Listed(session) if listed_only else session
        self._tools = {tool.name: tool for tool in TOOLS if tool.name in chosen}
        self._collects = (0, 0)
        self._pins: set[str] = set()
        self._handlers: Mapping[str, Callable[..., str]] = {
            "recall": self._recall,
            "search_history": self._search,
            "context_status": self._status,
            "collect": self._collect,
            "pin": self._pin,
            "note": self._note,
        }

    def schemas(self) -> list[Payload]:
        """Return the tools' schemas in the session's format."""
        return [self._schema(tool) for tool in self._tools.values()]

    def handles(self, name: str) -> bool:
        """Return whether ``call`` accepts this name."""
        return name in self._tools

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> str:
        """
        Carry out a call and return the answer for the model.

        Arguments are an object, its JSON text, or nothing. The model's mistakes, and whatever the session cannot do,
        are returned as text. Raises ConfigError for a name that ``handles`` rejects, and SessionClosedError.
        """
        if name not in self._tools:
            raise ConfigError(f"no tool {name!r} here; known: {[*self._tools]}")
        try:
            return self._handlers[name](**checked(arguments, self._tools[name]))
        except (MessageError, SourceError, LogError, PluginError, RuleError) as error:
            return f"{name} failed, nothing was changed: {error}"

    def answer(self, reply: object) -> tuple[Payload, ...]:
        """
        Return the messages that answer a reply's calls of these tools, in the session's format; none if there are none.

        Append them in any order with the results of the other calls: the session joins what the provider wants in one
        message. Raises MessageError for a malformed reply.
        """
        form = format_named(self._session.format)
        parts = form.read(form.reply(reply))
        calls = [part for part in parts if part.kind is ItemKind.TOOL_CALL and self.handles(part.name)]
        return form.results([(part.call_id, self.call(part.name, part.text)) for part in calls])

    # -- looking back --------------------------------------------------------------------------------------------

    def _recall(self, reference: str, offset: int = 0) -> str:
        return self._looking_back().recall(reference, offset, min(RECALL_TOKENS, self._a_share))

    def _search(self, query: str, tool: str | None = None, role: str | None = None, limit: int = 10) -> str:
        hits = self._looking_back().search(query, tool=tool, role=role, limit=limit)
        return "\n".join(map(hit_line, hits)) or NOTHING_FOUND

    def _status(self) -> str:
        lines = [self._session.explain().partition("\n")[0], *self._looking_back().held()]
        return "\n".join(lines)

    def _looking_back(self) -> LookingBack:
        return LookingBack(self._past, self._session.port.counter)

    # -- pinning and freeing -------------------------------------------------------------------------------------

    def _collect(self, focus: str) -> str:
        session, most = self._session, self._bounds["collect"]
        assert isinstance(session, GCSession)  # noqa: S101 - no other one has this tool
        turn = max((item.turn for item in session.items()), default=0)
        done = self._collects[1] if self._collects[0] == turn else 0
        if done >= most:
            return f"refused: collect was used {done} of {most} times in this turn; go on working"
        self._collects = (turn, done + 1)
        names = scan(focus).names
        held = [item for item in session.items() if _can_be_held(item) and not names.isdisjoint(item.scan.names)]
        try:
            for item in held:
                session.pin(item=item.id)
            result = session.collect_now(focus=focus)
        finally:
            for item in held:
                session.unpin(item=item.id)
        return f"{_came_of(result)}; {_told_focus(held, names)}"

    def _pin(self, item: str, pinned: bool = True) -> str:
        if not pinned:
            return self._unpin(item)
        session = self._session
        units = session.view().units
        unit = next((unit for unit in units if any(each.id == item for each in unit.items)), None)
        if unit is not None and not unit.pinned:
            held = sum(each.tokens for each in units if each.pinned) + unit.tokens
            if held > self._a_share:
                return f"refused: pinned would hold {held:,} tokens of at most {self._a_share:,}; release another first"
        if not any(each.id == item and each.pinned for each in session.items()):
            session.pin(item=item)
            self._pins.add(item)
        return f"{item} is pinned"

    def _unpin(self, item: str) -> str:
        if item not in self._pins:
            return f"refused: {item} was not pinned by this tool; it releases {sorted(self._pins) or 'nothing'} alone"
        self._session.unpin(item=item)
        self._pins.discard(item)
        return f"{item} is released"

    def _note(self, text: str, mode: str) -> str:
        if not text.strip():
            return "refused: the text is empty; to forget something, replace the notes by what still holds"
        session, most = self._session, self._bounds["note"]
        old = self._notes() if mode == "append" else ""
        notes = f"{old}\n{text}" if old else text
        tokens = session.port.counter.count(notes)
        if tokens > most:
            return f"refused: the notes would hold {tokens:,} of {most:,} tokens; replace them by a shorter text"
        session.register_source(NOTES)
        session.memory(NOTES.name, notes=notes)
        return f"noted: {tokens:,} of {most:,} tokens"

    # -- inside --------------------------------------------------------------------------------------------------

    @property
    def _a_share(self) -> int:
        """The most tokens that one request of the model may fill."""
        return max(1, self._session.config.usable // _SHARE)

    def _notes(self) -> str:
        """Return the newest text of the notes: a waiting one, otherwise the one in the window."""
        blocks = self._session.port.blocks
        for block in blocks.waiting:
            if (block.source, block.name) == (NOTES.name, "notes"):
                return block.text
        newest = blocks.newest.get((NOTES.name, "notes"))
        return "" if newest is None else self._session.recall(newest)

    def _schema(self, tool: Tool) -> Payload:
        description = tool.description.format(n=self._bounds.get(tool.name))
        return provider_named(self._session.format).tool_schema(tool.name, description, tool.parameters)


def _chosen(names: Iterable[str]) -> frozenset[str]:
    chosen = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in chosen if name not in TOOL_NAMES]
    if unknown:
        raise ConfigError(f"names: unknown tool {unknown[0]!r}; known: {sorted(TOOL_NAMES)}")
    return frozenset(chosen)


def _can_be_held(item: Item) -> bool:
    """Return whether a pin would change anything: not for what the host holds already, or outside the conversation."""
    free = not item.pinned and item.policy is not GCPolicy.LOCKED
    return free and item.source == CONVERSATION.name and item.kind is not ItemKind.TRACE


def _came_of(result: GCResult) -> str:
    if not result.changed:
        return f"nothing was freed: {result.note or 'nothing old may go'}"
    after = f"{result.tokens_before:,} to {result.tokens_after:,} tokens"
    return f"freed {result.tokens_freed:,} tokens ({after}) by {len(result.removals)} removals"


def _told_focus(held: list[Item], names: frozenset[str]) -> str:
    if not names:
        return "the focus names no path, symbol or number, so nothing was held for it"
    return f"held for the focus: {len(held)} items, {sum(item.tokens for item in held):,} tokens"
