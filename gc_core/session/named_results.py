"""Finds what an earlier call returned for what a message names, if the message asks for it and the window lacks it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import attrs

from gc_core.relevance.deeds import gives_text
from gc_core.relevance.mentions import Mention, Mentions, names_in, without_names
from gc_core.relevance.name_scan import scan
from gc_core.relevance.plain_words import PlainWord, plain_words, together
from gc_core.relevance.tool_calls import CallKind
from gc_core.session.named_calls import CallFinder, Known, runs_of
from gc_core.session.said_words import SaidWords
from gc_core.session.shown_texts import ShownTexts
from gc_core.storage.search import Hit
from gc_core.values.items import Item, ItemKind, Unit, number_of
from gc_core.values.scripts import folded

MOST_NAMES = 3
"""The most names of one message whose calls are looked for, those asked for first and the longest first."""

LEAST_WORDS = 2
"""The fewest words that what is known shares with a sentence that does something to it."""

_MOST_WORDS = 40
_HITS = 10  # texts with a name among which one is better than what a call returned
_BY_ANYONE = frozenset({ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT})
_BY_AGENT = frozenset({ItemKind.ASSISTANT_TEXT, ItemKind.TOOL_CALL, ItemKind.THINKING})
_IN_FULL = _BY_ANYONE | _BY_AGENT | {ItemKind.TOOL_RESULT}
_SAID = frozenset(kind.value for kind in _BY_ANYONE)


@attrs.frozen
class NamedResult:
    """
    A collected item that tells about what is named.

    Attributes:
        item: Its id.
        words: The message's words in it, as they are spelt there.
        reason: Why it comes back.

    """

    item: str
    words: tuple[str, ...]
    reason: str


@attrs.frozen(kw_only=True)
class NamedResults:
    """
    What is known of the names of a message by earlier calls.

    Attributes:
        found: What is to come back.
        decided: The names for which that is all: earlier calls named them, or they are dismissed.
        changed: Those of which nothing is known any more.
        compared: The searches for texts that say more than a call.

    """

    found: tuple[NamedResult, ...] = ()
    decided: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    compared: int = 0

    def decides(self, name: str) -> bool:
        """Return whether a name, or one that it is part of, is decided."""
        return any(name.lstrip("/") in decided for decided in self.decided)


class ResultFinder:
    """
    Finds what earlier calls returned for the names of the newest words.

    Args:
        calls: Finds earlier calls.
        search: Searches the log.
        recall: Reads an original, also of an earlier session.
        counts: Whether what was found may come back at all.

    """

    def __init__(
        self,
        calls: CallFinder,
        search: Callable[..., tuple[Hit, ...]],
        recall: Callable[[str], str],
        counts: Callable[[Hit], bool],
    ) -> None:
        self._calls = calls
        self._search = search
        self._recall = recall
        self._counts = counts

    def results(self, step: Unit, said: SaidWords, items: Sequence[Item]) -> NamedResults:
        """
        Return what earlier calls tell about the names in a user's words, or the agent's, if the window lacks it.

        It has to be asked for, or to share a word with the sentence besides the name.
        """
        before = number_of(step.items[0].id)
        mentions = Mentions.of(said.text, is_plan=step.is_step)
        asked = _Asked(step, tuple(items), mentions.names)
        wanted = [mention for mention in mentions.named if asked.lacks(mention.name)][:MOST_NAMES]
        found: dict[str, NamedResult] = {}
        decided, changed, compared = {*mentions.dismissed, *names_in(said.rules)}, set(), 0
        for mention in wanted:
            words = asked.words(mention)
            named = self._calls.named(mention, words, before=before)
            if named is None:
                continue
            if named.known is None:
                changed.add(mention.name)
            best = named.known
            if mention.asks and asked.is_by_user and words and not (best and best.words):
                compared += 1
                best = self._said(mention, words, before, changed=named.changed) or best
            if best is not None and self._is_needed(mention, best, asked) and not asked.shows(best):
                found.setdefault(best.item, NamedResult(best.item, best.words, _reason(mention, best)))
                decided.add(mention.name)
            elif asked.is_by_user or not mention.asks:
                decided.add(mention.name)
        return NamedResults(
            found=tuple(found.values()), decided=frozenset(decided), changed=frozenset(changed), compared=compared
        )

    # -- inside --------------------------------------------------------------------------------------------------

    def _is_needed(self, mention: Mention, known: Known, asked: _Asked) -> bool:
        """Return whether what is known is asked for, or has words of a sentence that gives no new text itself."""
        if mention.asks:
            return asked.is_by_user or not _only_searched(mention, known) or bool(known.words)
        least = LEAST_WORDS if mention.is_done_to else 1
        return len(known.words) >= least and not gives_text(mention.about, self._recall(known.item))

    def _said(self, mention: Mention, words: Sequence[PlainWord], before: int, *, changed: int) -> Known | None:
        """Return the text with the name that has most of the message's words, the newest of several; None if none."""
        best: Known | None = None
        for hit in sorted(self._search(mention.name, limit=_HITS), key=lambda hit: -number_of(hit.item)):
            number = number_of(hit.item)
            tells = hit.kind in _SAID or (hit.kind == ItemKind.TOOL_RESULT.value and number > changed)
            if not tells or number >= before or not self._counts(hit):
                continue
            text = self._recall(hit.item)
            here = tuple(together(text, words, runs_of).values()) if mention.name in text else ()
            if len(here) > (len(best.words) if best else 0):
                best = Known(item=hit.item, words=here)
        return best


@attrs.frozen(slots=False)
class _Asked:
    """
    The newest words and the window that they are said in.

    Attributes:
        step: What a user said, or the agent's step.
        items: The window's.
        names: All names of the words.

    """

    step: Unit
    items: tuple[Item, ...]
    names: frozenset[str]

    @property
    def is_by_user(self) -> bool:
        """Whether a user said them."""
        return self.step.items[0].kind is ItemKind.USER_TEXT

    def lacks(self, name: str) -> bool:
        """
        Return whether a name is to be looked for. The agent's are not where it calls for the thing itself, or another
        text of the window has the name.
        """
        if self.is_by_user:
            return True
        own = {item.id for item in self.step.items if item.kind in _BY_AGENT}
        last = name.rpartition("/")[2].lower()
        calls = (item.text.lower() for item in self.step.items if item.kind is ItemKind.TOOL_CALL)
        return not any(last in text for text in calls) and not any(
            name in item.text for item in self.items if item.kind in _IN_FULL and item.id not in own
        )

    def words(self, mention: Mention) -> tuple[PlainWord, ...]:
        """Return what is asked about a name: the plain words beside it, and the other names."""
        parts = plain_words(mention.name, _MOST_WORDS)
        said = plain_words(without_names(mention.about, self.names), _MOST_WORDS)
        plain = [word for word in said if not any(word.is_form(part.text) for part in parts)]
        others = [name for name in sorted(self.names) if name not in mention.name and name in mention.about]
        return (*plain, *(PlainWord(folded(name), -place, True) for place, name in enumerate(others, 1)))

    def shows(self, known: Known) -> bool:
        """Return whether the window shows what is known, with the words that are asked for."""
        return self._shown.shows(known.item, known.words)

    @functools.cached_property
    def _shown(self) -> ShownTexts:
        return ShownTexts.of(self.items)


def _only_searched(mention: Mention, known: Known | None) -> bool:
    """Return whether a symbol was only searched for: a text that has it says more."""
    return known is not None and known.kind is CallKind.SEARCH and bool(scan(mention.name).names)


def _reason(mention: Mention, known: Known) -> str:
    if not known.tool:
        return f"{mention.name} is named, with {', '.join(known.words)}"
    return known.reason_for(mention.name)
