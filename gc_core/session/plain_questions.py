"""Finds what a user asks for in plain words: the item that has most of them, if it is not in the window any more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import attrs

from gc_core.relevance.bm25 import rarity
from gc_core.relevance.plain_words import PlainWord, plain_words, together
from gc_core.session.history import History
from gc_core.storage.search.sharing import Sharer, Sharing
from gc_core.values.agent_tool_schemas import is_agent_tool
from gc_core.values.items import Form, Item, ItemKind, Unit, number_of
from gc_core.values.patterns import regex
from gc_core.values.references import ByteRange

MOST_HOLDING = 16
"""The most items with a word that is rare; in a short session one in twenty, and at least two."""

MOST_WORDS = 16
"""The most words of a question that say something: a text with more is a task."""

LEAST_WORDS = 2
"""The fewest rare words that an item shares with the question for which it comes back."""

LEAST_SHARE, LEAST_SHARE_OF_RESULT = 0.5, 0.7
"""The share of the weight of the question's words that must stand together in what was said, or a tool returned."""

_LOOKED_AT = 3  # of the best items: whether their words stand together
_LONGEST = 2_000  # characters of a question
_ONE_IN = 20
_SAID = frozenset(kind.value for kind in (ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT, ItemKind.MEMORY_BLOCK))
_NOT_WORDS = regex(r"https?://\S+|<[^<>\n]{1,80}>")
"""Addresses, and the tags of what a program wrote into a user's message."""


@attrs.frozen
class Answer:
    """
    An item that a question means.

    Attributes:
        item: Its id.
        words: The question's words in it, as they are spelt there.

    """

    item: str
    words: tuple[str, ...]


class PlainQuestions:
    """
    Finds items by the plain words of a user's question.

    Args:
        history: Searches the log.
        recall: Reads an original, also of an earlier session.
        is_taken_back: Whether a line of the log does not count any more: nothing of it answers.

    """

    def __init__(
        self, history: History, recall: Callable[[str], str], is_taken_back: Callable[[ByteRange], bool]
    ) -> None:
        self._history = history
        self._recall = recall
        self._is_taken_back = is_taken_back

    def answers(self, question: Unit, items: Sequence[Item]) -> tuple[Answer, ...]:
        """
        Return the collected item that a question clearly means, and if it is a user's message what the agent said to
        it at once; nothing if there is none, or the window shows as much.

        The item has at least two rare words of the question, which with the others near them have most of the weight.
        """
        words = _asked(question)
        if len({word.run for word in words}) < LEAST_WORDS:
            return ()
        found = self._history.sharing(words, MOST_HOLDING + 1)  # the question is one of them
        meaning = Meaning.of(words, found)
        whole = {item.id for item in items if item.form is Form.WHOLE}
        before = number_of(question.items[0].id)
        earlier = [
            each for each in found.sharers if number_of(each.item) < before and not self._is_taken_back(each.bytes)
        ]
        shown = max((meaning.share(each.words) for each in earlier if each.item in whole), default=0.0)
        meant = [each for each in earlier if _may_return(each, whole) and meaning.share(each.words) > shown]
        for each in sorted(meant, key=lambda each: -meaning.share(each.words))[:_LOOKED_AT]:
            here = together(self._recall(each.item), words, meaning.share)
            if meaning.is_clear(here, each) and meaning.share(here) > max(shown, meaning.shown_for_others(items)):
                return self._with_reply(each, here, whole)
        return ()

    # -- inside --------------------------------------------------------------------------------------------------

    def _with_reply(self, each: Sharer, here: Mapping[PlainWord, str], whole: Collection[str]) -> tuple[Answer, ...]:
        found = Answer(each.item, tuple(here.values()))
        reply = self._history.reply_to(each.item) if each.kind == ItemKind.USER_TEXT.value else None
        if reply is None or reply[1] in whole or self._is_taken_back(reply[0]):
            return (found,)
        return found, Answer(reply[1], ())


@attrs.frozen
class Meaning:
    """
    The weight of a question's words: the rarer, the heavier. The pairs of one run weigh together as much as one word.

    Attributes:
        weights: The weight of each word.
        rare: The words that few items have.

    """

    weights: Mapping[PlainWord, float]
    rare: frozenset[PlainWord]

    @classmethod
    def of(cls, words: Sequence[PlainWord], found: Sharing) -> Meaning:
        """Return the weights of words, by the items that have them besides the question."""
        holding = {word: max(0, found.counts[word] - 1) for word in words}
        known = [word for word in words if not _is_between(word, holding)]
        runs = [word.run for word in known]
        most = min(MOST_HOLDING, max(2, found.items // _ONE_IN))
        return cls(
            {word: rarity(holding[word], found.items) / runs.count(word.run) for word in known},
            frozenset(word for word in known if holding[word] <= most),
        )

    def share(self, words: Collection[PlainWord]) -> float:
        """Return the share of all weight that some words have."""
        return sum(self.weights.get(word, 0.0) for word in words) / sum(self.weights.values())

    def is_clear(self, words: Collection[PlainWord], each: Sharer) -> bool:
        """Return whether these words are enough for the item that they are in to be meant."""
        least = LEAST_SHARE if each.kind in _SAID else LEAST_SHARE_OF_RESULT
        return self.share(words) >= least and len({word.run for word in self.rare & set(words)}) >= LEAST_WORDS

    def shown_for_others(self, items: Sequence[Item]) -> float:
        """Return the greatest share of a text that stands in the window for what left it."""
        texts = (item.text for item in items if item.form is not Form.WHOLE or item.synthetic)
        return max((self.share(together(text, tuple(self.weights), self.share)) for text in texts), default=0.0)


def _is_between(word: PlainWord, holding: Mapping[PlainWord, int]) -> bool:
    """Return whether a pair only joins two words: no item has it, but one has a pair with one of its characters."""
    return (
        word.is_pair
        and not holding[word]
        and any(
            number and other.is_pair and (other.text[0] == word.text[1] or other.text[1] == word.text[0])
            for other, number in holding.items()
        )
    )


def _asked(question: Unit) -> tuple[PlainWord, ...]:
    """Return the words of what a user said; names are looked up by themselves."""
    said = [item for item in question.items if item.kind is ItemKind.USER_TEXT and not item.synthetic]
    text = _NOT_WORDS.sub(" ", "\n".join(item.text for item in said))
    if len(text) > _LONGEST:
        return ()
    for name in sorted(frozenset().union(*(item.scan.names for item in said)), key=len, reverse=True):
        text = text.replace(name, " ")
    return plain_words(text, MOST_WORDS)


def _may_return(each: Sharer, whole: Collection[str]) -> bool:
    """Return whether the item was collected, and is not a copy that was recalled before."""
    is_said = each.kind in _SAID or each.kind == ItemKind.TOOL_RESULT.value
    return is_said and each.item not in whole and not is_agent_tool(each.tool)
