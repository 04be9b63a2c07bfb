"""
Whether something is done to what a clause names: it needs nothing that is known of it.

Told by where the thing stands: it begins the sentence, or stands right behind its only verb ("Je désactive web-2",
"Schließ OPS-7 bitte"). Whoever needs something of it names that first ("the address of web-2", "based on OPS-7").
"""

from __future__ import annotations

from gc_core.relevance.plain_words import plain_words
from gc_core.values.patterns import regex
from gc_core.values.scripts import DENSE, HANGUL, folded

_MOST_CHARS = 60
"""Characters before the object of a short clause."""

_WITHOUT_BLANKS = regex(rf"[{DENSE}{HANGUL}]")
_ARTICLE = regex(
    r"(?<!\w)(?:the|an?|der|die|das|dem|den|eine?[nmrs]?|une?|les?|la|l['’]|el|los|las|una|un|uno|il|lo|o|um|uma|het|de"
    r"|een|ett)\s*$"
)
_JOINED = regex(r"[\w./:@#-]+\Z")
_OWNS = regex(r"\S*(?: [A-Z]\S*)*['’](?:s|\w*[ıiuü]n)(?!\w)")


_QUOTED = regex(
    r"\"([^\"\n]{2,80})\"|“([^”\n]{2,80})”|[«„]\s?([^«»“”\n]{2,80}?)\s?[»“”]|»([^«»\n]{2,80})«|「([^」\n]{2,80})」"
    r"|『([^』\n]{2,80})』|(?<!\w)['‘]([^'’\n]{2,80})['’](?![A-Za-z])"
)


def gives_text(sentence: str, known: str) -> bool:
    """Return whether a sentence quotes what is not known yet, as a title or a name that a thing is to have."""
    quoted = (next(filter(None, found.groups())) for found in _QUOTED.finditer(sentence))
    return any(folded(each) not in folded(known) for each in quoted)


def is_done_to(sentence: str, start: int) -> bool:
    """Return whether a sentence, by the word order of languages with blanks, does something to the thing at a place."""
    whole = _JOINED.search(sentence, 0, start)
    start = whole.start() if whole else start
    before, thing = folded(sentence[:start]), sentence[start:]
    if start > _MOST_CHARS or _WITHOUT_BLANKS.search(sentence):
        return False
    verb = _ARTICLE.sub("", before).split()
    if not verb:
        return True
    return _OWNS.match(thing) is None and any(plain_words(verb[-1], 1)) and len(plain_words(before, 2)) == 1
