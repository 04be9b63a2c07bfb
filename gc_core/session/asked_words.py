"""What a message asks for in plain words, and the weight of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import attrs

from gc_core.relevance.argument_names import joined_names
from gc_core.relevance.bm25 import rarity
from gc_core.relevance.mentions import Needs, without_names
from gc_core.relevance.plain_words import PlainWord, plain_words, spelt, together
from gc_core.storage.search.sharing import Sharer, Sharing
from gc_core.values.items import Form, Item, ItemKind, Unit
from gc_core.values.patterns import regex

MOST_HOLDING = 16
"""The most items with a word that is rare; in a short session one in twenty, and at least two."""

MOST_WORDS = 16
"""The most words of a message that say something: a text with more is a task."""

LEAST_WORDS = 2
"""The fewest rare words that an item shares with the message for which it comes back."""

LEAST_SHARE, LEAST_SHARE_OF_RESULT = 0.5, 0.7
"""The share of the weight of the message's words that must stand together in what was said, or a tool returned."""

SAID = frozenset(kind.value for kind in (ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT, ItemKind.MEMORY_BLOCK))
"""Kinds of what was said, as values."""

_ONE_IN = 20
_LONGEST = 2_000  # characters of a message
_NOT_WORDS = regex(r"https?://\S+|<[^<>\n]{1,80}>")
"""Addresses, and the tags of what a program wrote into a user's message."""


@attrs.frozen(kw_only=True)
class AskedWords:
    """
    The words of a message that say something.

    Attributes:
        text: The message: what a user said, or an agent in its step.
        own: The arguments of the step's calls.
        is_plan: An agent said it in its step.
        words: The words: all of a user's; of an agent's those that may mean something of the past.
        meant: Those in sentences that may mean something of the past.
        asking: Those in sentences that ask for it.
        names: What is joined by signs in the message.

    """

    text: str
    own: str
    is_plan: bool = False
    words: tuple[PlainWord, ...] = ()
    meant: frozenset[PlainWord] = frozenset()
    asking: frozenset[PlainWord] = frozenset()
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, said: Unit, words_said: str, without: Collection[str]) -> AskedWords:
        """Return those of what was said in a unit, as ``SaidWords`` has it; without the words of some names."""
        own = "\n".join(item.text for item in said.items if item.kind is ItemKind.TOOL_CALL)
        text = without_names(_NOT_WORDS.sub(" ", words_said), without)
        if len(text) > _LONGEST:
            return cls(text=text, own=own)
        needs = Needs.of(text, is_plan=said.is_step)
        parts = [part for name in without for part in plain_words(name, MOST_WORDS)]
        found = plain_words(needs.text if said.is_step else text, MOST_WORDS)
        words = tuple(word for word in found if not any(word.is_form(part.text) for part in parts))
        meant, asking = (frozenset(spelt(part, words)) for part in (needs.text, needs.asks))
        names = joined_names(text)
        return cls(text=text, own=own, is_plan=said.is_step, words=words, meant=meant, asking=asking, names=names)


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
        least = LEAST_SHARE if each.kind in SAID else LEAST_SHARE_OF_RESULT
        return self.share(words) >= least and len({word.run for word in self.rare & set(words)}) >= LEAST_WORDS

    def shown_for_others(self, items: Sequence[Item]) -> float:
        """Return the greatest share of a text that stands in the window for what left it."""
        texts = (item.text for item in items if item.form is not Form.WHOLE or item.synthetic)
        return max((self.share(together(text, tuple(self.weights), self.share)) for text in texts), default=0.0)


# -- inside ----------------------------------------------------------------------------------------------------------


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
