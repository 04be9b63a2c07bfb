"""Finds what earlier calls returned, by their arguments: a file's text seldom contains the file's own name."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence

import attrs

from gc_core.relevance.argument_names import is_same_name, plain_name, subject_of, values_asked
from gc_core.relevance.call_results import failure_in
from gc_core.relevance.mentions import Mention, names_in
from gc_core.relevance.plain_words import PlainWord, together
from gc_core.relevance.tool_calls import CallKind, ToolCall, takes_command, texts_in, updates
from gc_core.session.logged_calls import Called, LoggedCalls
from gc_core.storage.search import Hit
from gc_core.storage.search.sharing import Sharer
from gc_core.values.items import Item, ItemKind, Part, number_of
from gc_core.values.json_values import read_object

_MOST_CALLS = 40  # hits for a name: with more, none is checked for having changed it
_MOST_COMPARED = 6  # of the newest results: which has most of the message's words
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

    def reason_for(self, name: str) -> str:
        """Return why it comes back for a name."""
        return f"what {self.tool} {'wrote to' if self.is_change else 'returned for'} {name}"


@attrs.frozen(kw_only=True)
class Named:
    """
    The earlier calls that named something.

    Attributes:
        known: What they tell about it, or None.
        changed: The number of the last one that may have changed it: what a tool returned before does not count. 0 if
            none may have.

    """

    known: Known | None
    changed: int


class CallFinder:
    """
    Finds earlier calls in the log, and what they returned.

    Args:
        calls: Reads calls in the log.
        search: Searches the log.
        recall: Reads an original, also of an earlier session.

    """

    def __init__(
        self, calls: LoggedCalls, search: Callable[..., tuple[Hit, ...]], recall: Callable[[str], str]
    ) -> None:
        self._logged = calls
        self._search = search
        self._recall = recall

    def repeated(self, call: Item, *, before: int) -> str:
        """Return the id of the result of the last earlier call that named the file, if it is the same call; or ""."""
        hits = self._calls(ToolCall.of(call).files[0].rstrip("/").rpartition("/")[2], before)
        if not hits:
            return ""
        last = max(hits, key=lambda hit: number_of(hit.item))
        if last.tool != call.name or self._recall(last.item) != call.text:
            return ""
        found = self._logged.result(self._logged.called(last))
        return "" if found is None or found[1].is_error else found[0]

    def named(self, mention: Mention, words: Sequence[PlainWord], *, before: int) -> Named | None:
        """Return what earlier calls tell about what is named; None if none named it."""
        calls = self._called(mention.name, before)
        if not calls:
            return None
        changed = max((number_of(call.hit.item) for call in calls if not call.only_reads), default=0)
        return Named(known=self.told(calls, words), changed=changed)

    def called(self, call: Sharer) -> Called:
        """Return a call that was found by words of its arguments: no word alone is its subject."""
        return self._logged.called(call)

    def about_same(self, call: Called, before: int) -> list[Called]:
        """Return the calls that name what a call names with its longest name, the newest first; none without one."""
        names = names_in("\n".join(values_asked(call.part.text)))
        return self._called(names[0], before) if names else []

    def told(self, calls: Sequence[Called], words: Sequence[PlainWord]) -> Known | None:
        """
        Return what calls about the same thing, the newest first, tell.

        Of several results the one with most of some words counts, then one that is not only found, then the newest.
        """
        holding = itertools.islice(self._holding(calls, words), _MOST_COMPARED)
        return max(holding, key=lambda each: (len(each.words), each.kind is not CallKind.SEARCH), default=None)

    def says(self, call: Hit) -> bool:
        """Return whether the arguments of a call are worth reading alone: what it wrote, or a long text."""
        called = self._logged.called(call)
        return len(called.part.text) > _LONGEST_ASKED or updates(called.did)

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
            call = self._logged.called(hit)
            subject = subject_of(call.did, plain)
            is_about = call.did.kind is not CallKind.NOTE or _is_about(call.part, subject)
            if subject and is_about and self._logged.counts(hit):
                found.append(attrs.evolve(call, subject=subject))
        return found if any(call.did.kind is not CallKind.NOTE for call in found) else []

    def _holding(self, calls: Sequence[Called], words: Sequence[PlainWord]) -> Iterator[Known]:
        """Yield what calls returned or wrote, the newest first; nothing from before a call that may have changed it."""
        changed: list[str] = []
        asked: set[tuple[str, str]] = set()
        for place, call in enumerate(calls):
            same = (call.part.name, call.part.text)
            if same in asked or any(is_same_name(call.subject, thing) for thing in changed):
                continue
            result = self._logged.result(call)
            if result is None or _has_failed(result[1], call.did.kind):
                continue
            asked.add(same)  # only now: a later failure does not replace what the same call returned
            if not call.only_reads:
                changed.append(call.subject)
            earlier = [each for each in calls[place + 1 :] if is_same_name(each.subject, call.subject)]
            known = _known(call, result, words, earlier)
            if known is not None:
                yield known


def runs_of(words: Collection[PlainWord]) -> float:
    """Return how many words there are; the pairs of one run are one."""
    return float(len({word.run for word in words}))


def _has_failed(result: Part, kind: CallKind) -> bool:
    """Return whether a call failed; what a run says about failures is its result."""
    is_short = len(result.text) <= _LONGEST_ERROR and kind is not CallKind.RUN
    return result.is_error or (is_short and bool(failure_in(result, kind)))


def _known(
    call: Called, result: tuple[str, Part], words: Sequence[PlainWord], earlier: Sequence[Called]
) -> Known | None:
    """Return what a call tells: one that may have changed what was known of the thing, by its own words."""
    if call.did.kind is CallKind.NOTE:
        return None
    of_call, of_result = _told(call, (call.hit.item, call.part), words), _told(call, result, words)
    if updates(call.did):
        says = _writes_all(call.did) or (of_call.words and _says_what(call.did))
        return attrs.evolve(of_call, is_change=True) if says else None
    if of_result.words or call.only_reads or not earlier:
        return of_result
    if of_call.words and _says_what(call.did):
        return attrs.evolve(of_call, is_change=True)
    # "Done." says nothing of a thing that was read before; of one that is only ever run, the last run is known.
    return None if any(each.only_reads for each in earlier) else of_result


def _told(call: Called, told: tuple[str, Part], words: Sequence[PlainWord]) -> Known:
    item, part = told
    here = together(part.text, words, runs_of)
    return Known(item=item, tool=call.hit.tool, kind=call.did.kind, words=tuple(here.values()))


def _is_about(note: Part, subject: str) -> bool:
    """Return whether an argument is the thing itself, as of an order that is completed; a note only mentions it."""
    arguments = texts_in(read_object(note.text) or {})
    return any(is_same_name(plain_name(value.strip()), subject) for _, value in arguments)


def _writes_all(did: ToolCall) -> bool:
    return did.kind is CallKind.WRITE


def _says_what(did: ToolCall) -> bool:
    """Return whether a change says in its arguments what it wrote, not in a command."""
    return bool(did.paths) or not takes_command(did)
