"""Finds what earlier calls returned, by their arguments: a file's text seldom contains the file's own name."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import attrs

from gc_core.relevance.argument_names import argument_name, is_same_name, plain_name, subject_of
from gc_core.relevance.call_results import failure_in
from gc_core.relevance.mentions import Mention
from gc_core.relevance.plain_words import PlainWord, plain_words, together
from gc_core.relevance.tool_calls import CallKind, ToolCall, takes_command, updates
from gc_core.session.runtime import Runtime
from gc_core.storage.master_log import LogRecord
from gc_core.storage.search import Hit
from gc_core.storage.search.record_texts import parts_of
from gc_core.storage.search.sharing import Sharer, Sharing
from gc_core.values.agent_tool_schemas import is_agent_tool
from gc_core.values.items import Item, ItemKind, Part, number_of
from gc_core.values.references import ByteRange

_MOST_CALLS = 40  # hits for a name: with more, none is checked for having changed it
_RESULTS_WITHIN = 64  # items after a call that may be its result
_MOST_WORDS = 80  # of a message: one with more is a paste
_MOST_COMPARED = 6  # of the newest results: which has most of the message's words
_MOST_SHARING = 60  # items with a word: with more, it says nothing about a call
_MOST_READ = 24  # calls with the message's rarer words whose arguments are read
_LONGEST_ASKED = 400  # characters of arguments that only ask for something
_LONGEST_ERROR = 400  # characters: a longer text that begins like an error may be a file about errors


@attrs.frozen(kw_only=True)
class Known:
    """
    What is known of something by an earlier call that named it.

    Attributes:
        item: The id of the call's result; of the call if that wrote it.
        tool: The tool's name.
        kind: What the call did.
        words: The message's words that stand together in it, as they are spelt there.
        is_change: It is the call that wrote it.

    """

    item: str
    tool: str = ""
    kind: CallKind = CallKind.OTHER
    words: tuple[str, ...] = ()
    is_change: bool = False


@attrs.frozen(kw_only=True)
class Named:
    """
    The earlier calls that named something.

    Attributes:
        known: What they tell about it, or None.
        is_changed: One of them changed it: what a tool returned before does not count.

    """

    known: Known | None
    is_changed: bool


@attrs.frozen
class Called:
    """A call in the log, what it did, and the word of its arguments that means what is named."""

    hit: Hit | Sharer
    record: LogRecord
    part: Part
    did: ToolCall
    subject: str


class CallFinder:
    """
    Finds earlier calls in the log, and what they returned.

    Args:
        runtime: The session's.
        search: Searches the log.
        share: Finds the items that share rare words with a message.
        recall: Reads an original, also of an earlier session.
        is_taken_back: Whether a line of the log does not count any more.

    """

    def __init__(
        self,
        runtime: Runtime,
        search: Callable[..., tuple[Hit, ...]],
        share: Callable[[Sequence[PlainWord], int], Sharing],
        recall: Callable[[str], str],
        is_taken_back: Callable[[ByteRange], bool],
    ) -> None:
        self._runtime = runtime
        self._search = search
        self._share = share
        self._recall = recall
        self._is_taken_back = is_taken_back

    def repeated(self, call: Item, *, before: int) -> str:
        """Return the id of the result of the last earlier call that named the file, if it is the same call; or ""."""
        hits = self._calls(ToolCall.of(call).files[0].rstrip("/").rpartition("/")[2], before)
        if not hits:
            return ""
        last = max(hits, key=lambda hit: number_of(hit.item))
        if last.tool != call.name or self._recall(last.item) != call.text:
            return ""
        record, part = self._read(last)
        found = self._result(record, part)
        return "" if found is None or found[1].is_error else found[0]

    def valued(self, text: str, *, before: int) -> Mapping[str, Sequence[Called]]:
        """Return the values of earlier calls' arguments that a text names, as it spells them, with these calls."""
        words = plain_words(text, _MOST_WORDS)
        sharers = self._share(words, _MOST_SHARING).sharers if words else ()
        calls = [each for each in sharers if each.kind == ItemKind.TOOL_CALL.value and number_of(each.item) < before]
        found: defaultdict[str, list[Called]] = defaultdict(list)
        for each in sorted(calls, key=lambda each: -len(each.words))[:_MOST_READ]:
            record, part = self._read(each)
            name = argument_name(part.text, text)
            if name is not None and self._may_tell(each, part):
                found[name.name].append(Called(each, record, part, ToolCall.of(part), plain_name(name.value)))
        return {name: sorted(calls, key=lambda call: -number_of(call.hit.item)) for name, calls in found.items()}

    def named(
        self,
        mention: Mention,
        words: Sequence[PlainWord],
        is_shown: Callable[[Known], bool],
        *,
        before: int,
        valued: Sequence[Called] = (),
    ) -> Named | None:
        """
        Return what earlier calls tell about what is named; None if none named it.

        Of several results the one with most of the words counts, then one that the window shows, then the newest.
        """
        calls = self._called(mention.name, before) or valued
        if not calls:
            return None
        holding = list(itertools.islice(self._holding(calls, words), _MOST_COMPARED))
        best = max(
            holding,
            key=lambda each: (len(each.words), each.kind is not CallKind.SEARCH, is_shown(each)),
            default=None,
        )
        return Named(known=best, is_changed=any(updates(call.did) for call in calls))

    def says(self, call: Hit) -> bool:
        """Return whether the arguments of a call are worth reading alone: what it wrote, or a long text."""
        _, part = self._read(call)
        return len(part.text) > _LONGEST_ASKED or updates(ToolCall.of(part))

    # -- inside --------------------------------------------------------------------------------------------------

    def _calls(self, words: str, before: int) -> list[Hit]:
        """Return the earlier calls with some words; none if there may be more."""
        hits = self._search('"{}"'.format(words.replace('"', " ")), role="assistant", limit=_MOST_CALLS)
        calls = [hit for hit in hits if hit.kind == ItemKind.TOOL_CALL.value and number_of(hit.item) < before]
        return calls if len(hits) < _MOST_CALLS else []

    def _called(self, name: str, before: int) -> list[Called]:
        """Return the calls whose arguments mean what is named, the newest first."""
        plain = plain_name(name)
        hits = self._calls(plain if "://" in name or name.startswith("//") else plain.rpartition("/")[2], before)
        found = []
        for hit in sorted(hits, key=lambda hit: -number_of(hit.item)):
            record, part = self._read(hit)
            did = ToolCall.of(part)
            subject = subject_of(did, plain)
            if subject and self._may_tell(hit, part):
                found.append(Called(hit, record, part, did, subject))
        return found

    def _holding(self, calls: Sequence[Called], words: Sequence[PlainWord]) -> Iterator[Known]:
        """Yield what calls returned or wrote, the newest first; of a file nothing from before its last change."""
        changed: list[str] = []
        asked: set[tuple[str, str]] = set()
        for call in calls:
            same = (call.part.name, call.part.text)
            if same in asked or any(is_same_name(call.subject, file) for file in changed):
                continue
            asked.add(same)
            result = self._result(call.record, call.part)
            if result is None or _has_failed(result[1], call.did.kind):
                continue
            if updates(call.did):
                changed.append(call.subject)
            known = self._known(call, result, words)
            if known is not None:
                yield known

    def _known(self, call: Called, result: tuple[str, Part], words: Sequence[PlainWord]) -> Known | None:
        """Return what a call tells: a change by its own words, in part only if they are the message's."""
        is_change = updates(call.did)
        item, part = (call.hit.item, call.part) if is_change else result
        here = together(part.text, words, runs_of)
        if is_change and not (_writes_all(call.did) or (here and _says_what(call.did))):
            return None
        return Known(item=item, tool=call.hit.tool, kind=call.did.kind, words=tuple(here.values()), is_change=is_change)

    def _may_tell(self, call: Hit | Sharer, part: Part) -> bool:
        is_out = is_agent_tool(call.tool) or self._is_taken_back(call.bytes)
        return not is_out and ToolCall.of(part).kind is not CallKind.NOTE

    def _read(self, call: Hit | Sharer) -> tuple[LogRecord, Part]:
        record = self._runtime.store.log.read(call.bytes)
        return record, dict(parts_of(record, self._runtime.format))[call.item]

    def _result(self, record: LogRecord, called: Part) -> tuple[str, Part] | None:
        """Return the result that answers a call, by the ids of the log; None if there is none or it was taken back."""
        log, number = self._runtime.store.log, record.at + len(record.items)
        for later in range(number + 1, number + _RESULTS_WITHIN):
            found = log.find(later)
            if found is None:
                continue
            parts = parts_of(found[1], self._runtime.format) if found[1].role else ()
            for key, part in parts:
                if part.kind is ItemKind.TOOL_RESULT and part.call_id == called.call_id:
                    return None if self._is_taken_back(found[0]) else (key, part)
        return None


def runs_of(words: Collection[PlainWord]) -> float:
    """Return how many words there are; the pairs of one run are one."""
    return float(len({word.run for word in words}))


def _has_failed(result: Part, kind: CallKind) -> bool:
    """Return whether a call failed; what a run says about failures is its result."""
    is_short = len(result.text) <= _LONGEST_ERROR and kind is not CallKind.RUN
    return result.is_error or (is_short and bool(failure_in(result, kind)))


def _writes_all(did: ToolCall) -> bool:
    return did.kind is CallKind.WRITE


def _says_what(did: ToolCall) -> bool:
    """Return whether a change says in its arguments what it wrote, not in a command."""
    return bool(did.paths) or not takes_command(did)
