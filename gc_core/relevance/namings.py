"""The words by which calls name what they ask for: whether one asks for the same as before in other words."""

from __future__ import annotations

import itertools
from collections import Counter, OrderedDict
from collections.abc import Iterable
from typing import Final

from gc_core.relevance.parts import digest, keep_newest
from gc_core.relevance.rounds import MadeCall
from gc_core.values.patterns import regex

MOST_WORDS: Final = 10_000
"""The most words, and forms of calls, that are remembered, the latest used; some 200 bytes each."""

MOST_TEXTS: Final = 100
"""The most texts whose calls are remembered, the latest that came."""

MOST_CALLS: Final = 4
"""The most calls that are remembered of one text, the latest."""

MOST_COMPARED: Final = 200
"""The most words of a call that is compared; a longer one is a program, and may do anything."""

_SEVERAL: Final = b"several"
"""Stands for the texts of a word that went with more than one; no digest is that short."""

_NEW: Final = b"new"
"""Stands in the form of a call where any new word may stand."""

_FEW = 3
_LONG_NUMBER = 3
_PIECE = regex(r"[^\W_]+")

Things = tuple[bytes, ...]


class Namings:
    """
    Knows the words with which each text was asked for.

    The same text may answer other things as well: hosts that are set up alike, a script that says the same of each
    input. What tells a circle is a word that only calls for this text have named, and that the call is no earlier one
    with other words in its places.
    """

    def __init__(self) -> None:
        self._only: OrderedDict[bytes, bytes] = OrderedDict()  # by word, or by tool: the only text it went with
        self._forms: OrderedDict[bytes, None] = OrderedDict()
        self._calls: OrderedDict[bytes, tuple[Things, ...]] = OrderedDict()

    def names_other(self, made: MadeCall, key: bytes, text: str) -> bool:
        """
        Return whether a call names another thing than the calls before for which the text of this key came. What the
        ``text`` contains names its thing; "" if it is new. The call is remembered.
        """
        things = tuple(digest("thing", word) for word in made.words)
        said = _said_in(made.words, text)
        new = frozenset(things).difference(self._only, said)
        if made.reads:
            is_other = bool(new) and (self._has_form(made.name, things, new) or not self._names(made.name, things, key))
        else:
            is_other = self._is_like_one(things, key, said) or not self._names(made.name, things, key)
        self._remember(made, things, key)
        return is_other

    # -- inside --------------------------------------------------------------------------------------------------

    def _names(self, name: str, things: Things, key: bytes) -> bool:
        """Return whether a word went with this text only, and the tool with others too: else words tell nothing."""
        if self._only.get(digest("tool", name), key) == key:
            return False
        return any(self._only.get(word) == key for word in things)

    def _has_form(self, name: str, things: Things, new: frozenset[bytes]) -> bool:
        """Return whether a call was made before with other new words in the same places, and remember it."""
        pairs = itertools.pairwise((b"", *things))
        places = [word for before, word in pairs if not (word in new and before in new)]  # several may name one thing
        form = digest(name, *(_NEW if word in new else word for word in places))
        is_known = form in self._forms
        self._forms[form] = None
        keep_newest(self._forms, form, MOST_WORDS)
        return is_known

    def _is_like_one(self, things: Things, key: bytes, said: frozenset[bytes]) -> bool:
        """Return whether an earlier call for the text has other words in few of the same places, or may have."""
        if len(things) > MOST_COMPARED:
            return True
        return any(
            _differs_in_few(things, before) and not self._is_said_otherwise(things, before, key, said)
            for before in self._calls.get(key, ())
        )

    def _is_said_otherwise(self, one: Things, other: Things, key: bytes, said: frozenset[bytes]) -> bool:
        """Return whether all that one call says and the other does not went with this text only, or stands in it."""
        return all(word in said or self._only.get(word) == key for word in (Counter(one) - Counter(other)))

    def _remember(self, made: MadeCall, things: Things, key: bytes) -> None:
        for word in (*things, digest("tool", made.name)):
            self._only[word] = key if self._only.get(word, key) == key else _SEVERAL
            keep_newest(self._only, word, MOST_WORDS)
        if made.reads or len(things) > MOST_COMPARED:
            return
        self._calls[key] = (*self._calls.get(key, ()), things)[-MOST_CALLS:]
        keep_newest(self._calls, key, MOST_TEXTS)


def _said_in(words: Iterable[str], text: str) -> frozenset[bytes]:
    """Return the digests of the words that stand in a text; a short number may stand anywhere."""
    if not text:
        return frozenset()
    pieces = frozenset(_PIECE.findall(text.lower()))
    long = (word for word in words if not (word.isdecimal() and len(word) < _LONG_NUMBER))
    return frozenset(digest("thing", word) for word in long if pieces.issuperset(_PIECE.findall(word)))


def _differs_in_few(one: Things, other: Things) -> bool:
    differing = sum(map(bytes.__ne__, one, other))
    return len(one) == len(other) and 0 < differing <= max(_FEW, len(one) // 2)
