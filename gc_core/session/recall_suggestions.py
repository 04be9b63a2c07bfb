"""Suggests what to recall: what is named or asked for and was collected, and calls that were answered before."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, Unpack

import attrs

from gc_core.errors import ConfigError
from gc_core.relevance.tool_calls import CallKind, ToolCall
from gc_core.session.history import History
from gc_core.session.inbox import Inbox
from gc_core.session.runtime import CallGate, Runtime
from gc_core.storage.search import Filters, Hit
from gc_core.values.items import Form, Item, ItemKind, Unit, number_of
from gc_core.values.loggers import logger
from gc_core.values.references import ByteRange
from gc_core.values.sources import ENRICHMENT, RECALLED_NAME
from gc_core.window.memory_blocks import Block
from gc_core.window.view import WindowView

if TYPE_CHECKING:
    from gc_core.session.name_carriers import CarrierFinder
    from gc_core.session.named_calls import CallFinder
    from gc_core.session.named_results import ResultFinder
    from gc_core.session.plain_questions import PlainQuestions

_log = logger("gc_core.session")

MOST_SUGGESTED = 3
"""The most suggestions at once."""

RECALLED = RECALLED_NAME
"""The enrichment in which ``auto_expand`` brings texts back."""


@attrs.frozen(kw_only=True)
class Suggestion:
    """
    A collected item that seems to be needed next.

    Attributes:
        item: Its id, for ``recall`` or ``restore``.
        reason: The reason, in words.
        names: Names that the agent or the user used and that only this item contains; otherwise words of the message
            or question, as they are spelt there.
        tokens: Tokens of its original text.

    """

    item: str
    reason: str
    names: tuple[str, ...]
    tokens: int


@attrs.frozen
class _Found:
    """
    A suggestion, with its reason for the log.

    Attributes:
        suggestion: What is suggested.
        why: The kind of its reason: no words of the conversation.

    """

    suggestion: Suggestion
    why: str


class Suggestible(Protocol):
    """A session that can be asked for suggestions."""

    @property
    def port(self) -> SuggestionPort:
        """Access from outside the session's calls."""


class SuggestionPort(Protocol):
    """Access to a session's suggestions."""

    @property
    def suggestions(self) -> RecallSuggestions:
        """Suggests what to recall."""


def suggest_recall(session: Suggestible) -> tuple[Suggestion, ...]:
    """
    Return the collected items that are needed next, judging by the newest words: at most three, the most needed
    first.

    The newest words are what a user said since the agent's last step, otherwise that step. A waiting call of it
    that was answered before comes first, if it reads a file that no call has named since. Then what an earlier
    call returned for a file, ticket, address, host, symbol or quoted command that a user asks for or the agent
    names: of several results the one with most of the other words, then the newest; of what a call that names it
    changed since, only what was written. What is done to a thing, or is to be done with it in future, does not ask
    for it, nor does a user's mention that shares no word with it. Then other names that are said or called there
    and that nothing else in the window contains: each leads to the newest item that carried it, a tool's result
    rather than a mention; new names lead nowhere. If none does, rare words lead to the call that shares most of
    them by its arguments, its result and what the agent said of it; otherwise a user's question leads to the item
    with most of them, and to the agent's reply if that is a message. Nothing changes. It takes about a dozen
    searches at most, and the first search of a session without a directory builds its index.
    """
    return session.port.suggestions.suggest()


def auto_expand(session: Suggestible, cap: int = 2_000) -> tuple[Suggestion, ...]:
    """
    Place the suggested texts at the end of the next request, as the enrichment ``recalled``; return the suggestions.

    Call it before ``pre_send``, after appending results, or let the session do so (``auto_expand = true``). Long texts
    are shown around the names; all together take at most ``cap`` tokens, and at most a quarter of the window. Without
    suggestions nothing changes. Raises ConfigError for a cap below 1.
    """
    return session.port.suggestions.expand(cap)


class RecallSuggestions:
    """
    Finds what is missing from the window: names whose only carriers were collected, calls that were answered before.

    Args:
        runtime: The session's.
        gate: Lets one call in at a time.
        history: Searches the log.
        recall: Reads an original, also of an earlier session.
        is_taken_back: Whether a line of the log does not count any more: nothing of it is suggested.
        view: The window as a strategy sees it.
        inbox: Takes what is brought back.

    """

    def __init__(
        self,
        runtime: Runtime,
        gate: CallGate,
        *,
        history: History,
        recall: Callable[[str], str],
        is_taken_back: Callable[[ByteRange], bool],
        view: Callable[[], WindowView],
        inbox: Inbox,
    ) -> None:
        self._runtime = runtime
        self._gate = gate
        self._history = history
        self._recall = recall
        self._is_taken_back = is_taken_back
        self._view = view
        self._inbox = inbox

    def suggest(self) -> tuple[Suggestion, ...]:
        """Return suggestions, the most needed first; see ``suggest_recall``."""
        return tuple(found.suggestion for found in self._found())

    def expand(self, cap: int = 2_000) -> tuple[Suggestion, ...]:
        """Place the suggested texts at the end of the next request; see ``auto_expand``."""
        if type(cap) is not int or cap < 1:
            raise ConfigError(f"cap = {cap!r}: expected a whole number of tokens of at least 1")
        suggested = self._found()
        counter = self._runtime.counter
        frame = Block(source=ENRICHMENT.name, name=RECALLED, text="", kind=ItemKind.ENRICHMENT).framed
        left = min(cap, self._runtime.config.usable // 4) - counter.count(frame) - counter.per_message
        parts: list[str] = []
        used: list[_Found] = []
        for place, found in enumerate(suggested):
            part = self._excerpt(found.suggestion, left // (len(suggested) - place))
            if part:
                parts.append(part)
                used.append(found)
                left -= counter.count(part + "\n\n")
        if parts:
            self._give("\n\n".join(parts), used)
        return tuple(found.suggestion for found in used)

    # -- inside --------------------------------------------------------------------------------------------------

    def _give(self, text: str, used: Sequence[_Found]) -> None:
        """Let the text wait for the next request, and log it unless it waits already or stands in the window."""
        with self._gate.call("enrich"):
            before = self._runtime.state.blocks.waiting
            self._inbox.give(ENRICHMENT.name, {RECALLED: text})
            if any(block not in before for block in self._runtime.state.blocks.waiting):
                _log.info(
                    "texts brought back",
                    items=",".join(found.suggestion.item for found in used),
                    tokens=self._runtime.counter.count(text),
                    why=", ".join(dict.fromkeys(found.why for found in used)),
                )

    def _found(self) -> tuple[_Found, ...]:
        from gc_core.session.said_words import SaidWords  # as the others below

        items = tuple(self._runtime.context.items())
        with self._gate.call("view"):
            step = _newest(self._view().units)
        if step is None:
            return ()
        whole = frozenset(item.id for item in items if item.form is Form.WHOLE)
        repeated = [
            _Found(self._suggested(key, (), why), "a call was repeated")
            for key, why in self._answered_before(step, whole)
        ]
        said = SaidWords.of(step)  # once: it asks the model of rules
        named = self._results.results(step, said, items)
        taken = {found.suggestion.item for found in repeated}
        called = [
            _Found(self._suggested(each.item, each.words, each.reason), "it tells of what is named")
            for each in named.found
            if each.item not in taken
        ]
        taken.update(found.suggestion.item for found in called)
        carried = [
            self._suggested(key, names, f"the only carriers of {', '.join(names)} were collected")
            for key, names in self._carriers.carriers(step, items, named, whole).items()
            if key not in taken
        ]
        carried.sort(key=lambda suggestion: (-len(suggestion.names), -number_of(suggestion.item)))
        lost = (_Found(suggestion, "a name had no other carrier") for suggestion in carried)
        found = (*repeated, *called, *lost)[:MOST_SUGGESTED]
        return found or self._asked_for(step, said.text, items, named.changed | named.decided)

    @functools.cached_property
    def _calls(self) -> CallFinder:
        """Made when it is first needed, because most sessions are never asked; so are the others."""
        from gc_core.session.logged_calls import LoggedCalls
        from gc_core.session.named_calls import CallFinder

        return CallFinder(LoggedCalls(self._runtime, self._is_taken_back), self._search, self._recall)

    @functools.cached_property
    def _carriers(self) -> CarrierFinder:
        from gc_core.session.name_carriers import CarrierFinder

        return CarrierFinder(self._calls, self._search, self._recall, self._is_taken_back)

    @functools.cached_property
    def _results(self) -> ResultFinder:
        from gc_core.session.named_results import ResultFinder

        return ResultFinder(self._calls, self._search, self._recall, lambda hit: not self._is_taken_back(hit.bytes))

    @functools.cached_property
    def _questions(self) -> PlainQuestions:
        from gc_core.session.plain_questions import PlainQuestions
        from gc_core.session.remarks import remark_of

        remarks = functools.partial(remark_of, self._runtime)
        return PlainQuestions(self._history, self._calls, self._recall, remarks, self._is_taken_back)

    def _asked_for(
        self, said: Unit, words_said: str, items: Sequence[Item], without: Collection[str]
    ) -> tuple[_Found, ...]:
        """Return what is asked for in plain words, besides those of some names."""
        with self._gate.call("search"):
            answers = self._questions.answers(said, words_said, items, without)
        suggestions = (self._suggested(answer.item, answer.words, answer.reason) for answer in answers)
        return tuple(_Found(suggestion, "plain words ask for it") for suggestion in suggestions)

    def _search(self, query: str, **filters: Unpack[Filters]) -> tuple[Hit, ...]:
        with self._gate.call("search"):
            return self._history.search(query, **filters)

    def _answered_before(self, step: Unit, whole: frozenset[str]) -> Iterator[tuple[str, str]]:
        """Yield the collected results that still answer a waiting call of the step, each with the reason."""
        answered = {item.call for item in step.items if item.kind is ItemKind.TOOL_RESULT}
        for call in step.items:
            if call.kind is ItemKind.TOOL_CALL and call.id not in answered and _is_read(call):
                key = self._calls.repeated(call, before=number_of(step.items[0].id))
                if key and key not in whole:
                    yield key, f"the same call of {call.name} was answered before, and no call has named the file since"

    def _suggested(self, key: str, names: tuple[str, ...], reason: str) -> Suggestion:
        return Suggestion(item=key, reason=reason, names=names, tokens=self._runtime.counter.count(self._recall(key)))

    def _excerpt(self, suggestion: Suggestion, most: int) -> str:
        """
        Return the text under a line that names its item, in at most this many tokens; of a long text the part around
        the names.
        """
        from gc_core.session.passages import passage_with

        head = f"[recalled {suggestion.item}: {suggestion.reason}]\n"
        room = most - self._runtime.counter.count(head + "\n\n")
        if room < 1:
            return ""
        text = self._recall(suggestion.item)
        is_short = suggestion.tokens <= room
        return head + (text if is_short else passage_with(suggestion.names, text, room, self._runtime.counter))


def _newest(units: Sequence[Unit]) -> Unit | None:
    """Return the unit whose words decide what is needed next; None before the agent has answered."""
    step = next((unit for unit in reversed(units) if unit.is_step), None)
    if step is None:
        return None
    said = (unit for unit in units if unit.number > step.number and unit.items[0].kind is ItemKind.USER_TEXT)
    return max(said, key=lambda unit: unit.number, default=step)


def _is_read(call: Item) -> bool:
    """Return whether the call reads one file, by its name and arguments."""
    did = ToolCall.of(call)
    return did.kind is CallKind.READ and bool(did.files)
