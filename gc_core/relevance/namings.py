"""The words by which calls name what they ask for: whether one asks for the same as before in other words."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from typing import Any, Final

from gc_core.relevance.parts import digest
from gc_core.relevance.rounds import MadeCall

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
        self._calls: OrderedDict[bytes, tuple[tuple[bytes, ...], ...]] = OrderedDict()

    def names_other(self, made: MadeCall, key: bytes) -> bool:
        """Return whether a call names another thing than the calls before for which the same text came; remember it."""
        new = frozenset(made.things).difference(self._only)
        if made.reads:
            is_other = bool(new) and (self._has_form(made, new) or not self._names(made, key))
        else:
            is_other = self._is_like_one(made, key) or not self._names(made, key)
        self._remember(made, key)
        return is_other

    # -- inside --------------------------------------------------------------------------------------------------

    def _names(self, made: MadeCall, key: bytes) -> bool:
        """Return whether a word went with this text only, and the tool with others too: else words tell nothing."""
        if self._only.get(digest("tool", made.name), key) == key:
            return False
        return any(self._only.get(word) == key for word in made.things)

    def _has_form(self, made: MadeCall, new: frozenset[bytes]) -> bool:
        """Return whether a call was made before with other new words in the same places, and remember it."""
        pairs = itertools.pairwise((b"", *made.things))
        places = [word for before, word in pairs if not (word in new and before in new)]  # several may name one thing
        form = digest(made.name, *(_NEW if word in new else word for word in places))
        is_known = form in self._forms
        self._forms[form] = None
        _keep(self._forms, form, MOST_WORDS)
        return is_known

    def _is_like_one(self, made: MadeCall, key: bytes) -> bool:
        """Return whether an earlier call for the text has other words in few of the same places, or may have."""
        if len(made.things) > MOST_COMPARED:
            return True
        return any(_differs_in_few(made.things, words) for words in self._calls.get(key, ()))

    def _remember(self, made: MadeCall, key: bytes) -> None:
        for word in (*made.things, digest("tool", made.name)):
            self._only[word] = key if self._only.get(word, key) == key else _SEVERAL
            _keep(self._only, word, MOST_WORDS)
        if made.reads or len(made.things) > MOST_COMPARED:
            return
        self._calls[key] = (*self._calls.get(key, ()), made.things)[-MOST_CALLS:]
        _keep(self._calls, key, MOST_TEXTS)


def _keep(known: OrderedDict[bytes, Any], newest: bytes, most: int) -> None:
    known.move_to_end(newest)
    if len(known) > most:
        known.popitem(last=False)


def _differs_in_few(one: tuple[bytes, ...], other: tuple[bytes, ...]) -> bool:
    differing = sum(map(bytes.__ne__, one, other))
    return len(one) == len(other) and 0 < differing <= max(_FEW, len(one) // 2)
