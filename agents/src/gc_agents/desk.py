"""What the tools answer: bounded texts about the caller's own session, and nothing beyond it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import attrs

from gc_agents.changes import Change, last_in_force, told_entry
from gc_agents.conversations import Caller, Conversation, Sessions, estimated, looking_back
from gc_core.errors import LogError, SourceError
from gc_core.integrations.agent_tools.looking_back import hit_line, reference_in
from gc_core.storage.search import Hit
from gc_core.values.loggers import logger

_log = logger("gc_agents")

RECALL_TOKENS: Final = 5_000
"""The most tokens that one recall returns, and never more than a quarter of the window."""

RESOURCE_TOKENS: Final = 20_000
"""The most tokens of a resource."""

PAGE_HITS: Final = 10
"""Hits on one page of a search."""

MOST_PAGES: Final = 20
"""The last page that can be asked for."""

MOST_CONVERSATIONS: Final = 40
"""Conversations of one session that are searched and listed, the caller's own first, then the latest."""

MOST_ENTRIES: Final = 200
"""Entries of the history that are shown, the latest."""

_SHARE: Final = 4
_LETTERS: Final = 4
_UNBOUNDED: Final = 100_000_000
"""Tokens of a window that no provider has: the session follows an agent's log, and the window is the agent's own."""
_TAGGED = re.compile(r"(?P<ids>i\d{1,18}(?:-i\d{1,18})?)@(?P<tag>[0-9a-f]{6})\Z", re.ASCII)
_CALL = re.compile(r'reference="(?P<named>[\w-]{1,200})"|(?P<bare>[\w-]{1,200})\Z', re.ASCII)
_ITEM = re.compile(r"i\d{1,18}(?:-i\d{1,18})?(?:@[0-9a-f]{6})?\Z", re.ASCII)


class Desk:
    """
    Answers the tools of an MCP server. Every method blocks, and raises GCErrors whose texts are meant for the model.

    Args:
        sessions: Where the conversations are.

    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def recall(self, caller: Caller, reference: str, offset: int = 0, most: int = RECALL_TOKENS) -> str:
        """Return the original text of what a reference names, from a character on; the rest is named by an offset."""
        if offset < 0:
            raise SourceError(f"offset = {offset}: expected a number of characters, from 0")
        call = _call_in(reference)
        original = self._sessions.original(caller, call) if call else None
        if original is not None:
            return _page(original, call, offset, most)
        asked = reference_in(reference)
        conversation, bare = self._of_reference(caller, asked)
        tag = asked.removeprefix(bare)
        with self._sessions.reading(conversation) as session:
            share = max(1, session.config.usable // _SHARE)
            return looking_back(session, tag).recall(bare, offset, min(most, share))

    def item(self, caller: Caller, item: str) -> str:
        """Return the original text of an item, as a resource. Raises SourceError for what is no id."""
        if not _ITEM.match(item):
            raise SourceError(f"{item!r:.100} is no id; expected one such as i42, i5-i9 or i42@5f3a9c")
        return self.recall(caller, item, most=RESOURCE_TOKENS)

    def search(self, caller: Caller, query: str, tool: str = "", role: str = "", page: int = 1) -> str:
        """Return a page of hits of all conversations of the session, best first."""
        if not 1 <= page <= MOST_PAGES:
            raise SourceError(f"page = {page}: expected a number from 1 to {MOST_PAGES}")
        wanted = page * PAGE_HITS + 1
        found: list[Hit] = []
        for number, conversation in enumerate(self._conversations(caller)):
            try:
                with self._sessions.reading(conversation) as session:
                    hits = looking_back(session).search(query, tool=tool or None, role=role or None, limit=wanted)
            except LogError as error:
                if not number:
                    raise
                _log.warning("conversation not searched", name=conversation.name, error=str(error)[:500])
                continue
            found += [hit if not number else _with_tag(hit, conversation) for hit in hits]
        found.sort(key=lambda hit: -hit.score)
        shown = found[(page - 1) * PAGE_HITS : page * PAGE_HITS]
        lines = [hit_line(hit) for hit in shown]
        if not lines:
            return "nothing found; try fewer or other words, without tool and role" if page == 1 else "no more hits"
        more = [f"[more hits: page={page + 1}]"] if len(found) > page * PAGE_HITS and page < MOST_PAGES else []
        return "\n".join([*lines, *more])

    def status(self, caller: Caller) -> str:
        """Return how full the window is, what holds it, what was left out, and which other conversations there are."""
        own, *others = self._conversations(caller)
        with self._sessions.reading(own) as session:
            counted, usable = session.snapshot()["total"], session.config.usable
            total = estimated(session, counted)
            of = f" of {usable:,}" if usable < _UNBOUNDED else ""
            whose = "" if total == counted else f" by the provider's count, as estimated; by our own {counted:,}:"
            lines = [f"{total:,}{of} tokens{whose}", *looking_back(session).held()]
            pinned = [item.id for item in session.items() if item.pinned]
        if pinned:
            lines.append(f"pinned: {', '.join(pinned[:PAGE_HITS])}{' …' * (len(pinned) > PAGE_HITS)}")
        lines += [f"other conversation of this session: {_named(one)}, items i1@{one.tag} …" for one in others]
        return "\n".join(lines)

    def state(self, caller: Caller, tag: str = "") -> str:
        """Return the state of the task, as far as it was found in what was said; of the conversation with a tag."""
        from gc_core.task.rendering import state_text

        with self._sessions.reading(self._tagged(caller, tag)) as session:
            counter = looking_back(session).counter
            return state_text(session.state, RESOURCE_TOKENS, counter.count).text or "nothing was found yet"

    def history(self, caller: Caller, tag: str = "") -> str:
        """Return what was done to the window, oldest first; to that of the conversation with a tag."""
        with self._sessions.reading(self._tagged(caller, tag)) as session:
            entries = session.history()
        left_out = len(entries) - MOST_ENTRIES
        lines = [told_entry(entry) for entry in entries[-MOST_ENTRIES:]]
        head = [f"[{left_out:,} earlier entries left out]"] if left_out > 0 else []
        return "\n".join([*head, *lines]) or "nothing was done to the window yet"

    def undoable(self, caller: Caller) -> str:
        """Return the collection that would be undone next, as a line; "" if there is none."""
        with self._sessions.reading(self._conversations(caller)[0]) as session:
            entry = last_in_force(session.history())
        return "" if entry is None else told_entry(entry)

    def change(self, caller: Caller, change: Change) -> str:
        """Carry out a change of the window that the item belongs to, or of the caller's own."""
        conversation, item = self._conversations(caller)[0], change.item
        if item:
            conversation, item = self._of_reference(caller, reference_in(item))
        return self._sessions.change(conversation, attrs.evolve(change, item=item))

    # -- inside --------------------------------------------------------------------------------------------------------

    def _conversations(self, caller: Caller) -> Sequence[Conversation]:
        return self._sessions.of(caller)[:MOST_CONVERSATIONS]

    def _tagged(self, caller: Caller, tag: str) -> Conversation:
        """Return the conversation with a tag, the caller's own for none. Raises SourceError for an unknown one."""
        conversations = self._sessions.of(caller)
        found = next((one for one in conversations if one.tag == tag), None) if tag else conversations[0]
        if found is None:
            raise SourceError(f"{tag!r:.100} names no conversation of this session; gc_status lists them")
        return found

    def _of_reference(self, caller: Caller, reference: str) -> tuple[Conversation, str]:
        """Return the conversation of a reference, and the reference there. Raises SourceError for an unknown tag."""
        found = _TAGGED.match(reference)
        return (self._tagged(caller, found["tag"]), found["ids"]) if found else (self._tagged(caller, ""), reference)


def _call_in(reference: str) -> str:
    """Return the id of a call that a reference is, or that a shortened result names; "" for every other reference."""
    last = reference[max(0, reference.rfind("[gc:")) :]
    found = _CALL.search(last) if last != reference or "[gc:" in reference else _CALL.match(reference)
    return "" if found is None or _ITEM.match(reference) else found["named"] or found["bare"]


def _page(text: str, call: str, offset: int, most: int) -> str:
    """Return a part of an original that is in no session, about as long as a recall."""
    if offset >= len(text):
        return f"{call} has {len(text):,} characters of text"
    end = min(len(text), offset + _LETTERS * most)
    line = text.rfind("\n", offset + 2 * most, end) if end < len(text) else -1
    end = line + 1 if line >= 0 else end
    rest = f"[{end:,} of {len(text):,} characters; go on with reference={call}, offset={end}]"
    return text[offset:end] if end == len(text) else f"{text[offset:end]}\n{rest}"


def _with_tag(hit: Hit, conversation: Conversation) -> Hit:
    return attrs.evolve(hit, item=f"{hit.item}@{conversation.tag}")


def _named(conversation: Conversation) -> str:
    return conversation.name[:100] or conversation.directory.name
