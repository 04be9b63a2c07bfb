"""
Whether something is done to what a sentence names: it needs nothing that is known of it.

Told by where the thing stands: it begins the sentence, or stands right behind its only verb ("Je désactive web-2",
"Schließ OPS-7 bitte"); in Chinese, Japanese and Korean by what marks an object. Whoever needs something of a thing says
what first ("the address of web-2", "based on OPS-7").
"""

from __future__ import annotations

from gc_core.relevance.plain_words import plain_words
from gc_core.values.patterns import regex
from gc_core.values.scripts import IN_EAST_ASIA, folded

USING = (
    "use|reuse|apply|follow|match|verwende|nimm|nehme|benutze|folge|utilise[rz]?|prends|suis|usa|uso|utiliz[ao]"
    "|aplic[ao]|segu[io]|gebruik|neem|volg|uzyj|uzywam|zastosuj|stosuje|используй\\w*|использую|возьми\\w*|kullan\\w*"
    "|anvand|anvander|foljer|brug|bruger"
)
"""A pattern for the verbs, without case and accents, by which a thing is used and not changed."""

ARTICLES = "the|der|die|das|dem|den|eine?[nmrs]?|une?|les?|la|el|los|las|una|uno|il|lo|uma|het|een|ett"
"""A pattern for the articles that are hardly anything else."""

_ARTICLE = regex(rf"(?<!\w)(?:{ARTICLES}|an?|l['’]|um|o|de)\s?$")
_OBJECT_BEFORE = regex(r"[把将將]\s?[\"“「『《]?\Z")
_OBJECT_BEHIND = regex(r"[\"”」』》`]?\s?(?:を|[을를](?!\w))")
_USES = regex(rf"(?<!\w)(?:{USING})(?!\w)")
_BREAK = regex(r"[^\w./:@#-]")
_OWNS = regex(r"\S*(?: [A-Z]\S*)*['’](?:s|\w*[ıiuü]n)(?!\w)")
_QUOTED = regex(
    r"\"([^\"\n]{2,80})\"|“([^”\n]{2,80})”|[«„]\s?([^«»“”\n]{2,80}?)\s?[»“”]|»([^«»\n]{2,80})«|「([^」\n]{2,80})」"
    r"|『([^』\n]{2,80})』|(?<!\w)['‘]([^'’\n]{2,80})['’](?![A-Za-z])"
)


def gives_text(sentence: str, known: str) -> bool:
    """Return whether a sentence quotes what is not known yet, as a title or a name that a thing is to have."""
    quoted = (next(filter(None, found.groups())) for found in _QUOTED.finditer(sentence))
    return any(folded(each) not in folded(known) for each in quoted)


def is_done_to(sentence: str, thing: str) -> bool:
    """Return whether a sentence does something to what it names, by its word order, or by the thing's case."""
    start = sentence.find(thing)
    if IN_EAST_ASIA.search(sentence):
        marked = _OBJECT_BEFORE.search(sentence, 0, start) or _OBJECT_BEHIND.match(sentence, start + len(thing))
        return marked is not None
    start = max((each.end() for each in _BREAK.finditer(sentence, 0, start)), default=0)
    before = folded(sentence[:start])
    verb = _ARTICLE.sub("", before).split()
    if not verb:
        return True
    if _USES.search(before) is not None:
        return False
    is_first = any(plain_words(verb[-1], 1)) and len(plain_words(before, 2)) == 1
    return is_first and _OWNS.match(sentence, start) is None
