"""Recognises phrases that send an agent after a text that is no longer in the window."""

from __future__ import annotations

import re
from typing import Final

from gc_core.values.patterns import regex

_ENDS = 4_000
"""The characters at each end of a text that are searched: a request is in one of them."""

_WHOLE = r"(?:all|everything|every|each|the|this|that|these|those|our|your|my|its|of|entire|whole|full|complete|last)"
_PAST = r"(?:previous|earlier|prior|preceding|past|old|older|above|recent|chat|message|conversation)"
_SAID = (
    r"(?:conversation|chat|dialog(?:ue)?|discussion|exchange|transcript|(?:chat |message |conversation )?history|thread"
    r"|messages|turns)"
)
# "the conversation module" and "messages.py" are the agent's work, not its window.
_NO_CODE = (
    r"(?![\w/(\[=:-]|\.\w)(?! (?:in|from|to|of|on) (?:the |this )?(?:file|log|db|database|table|queue|inbox|repo)\b)"
    r"(?! (?:module|files?|class(?:es)?|tables?|pages?|components?|models?|code|handlers?|store|list|view|api"
    r"|endpoints?|schemas?|tests?|ids?|types?|log|logs|queue|feature|ui|panel|service|object|array|entries)\b)"
)
_LOOK = (
    r"(?:re-?read(?:ing)?|re-?view(?:ing)?|re-?visit(?:ing)?|re-?scan(?:ning)?|read(?:ing)? (?:back )?(?:through|over)"
    r"|read(?:ing)? again|(?:go|going) (?:back )?(?:through|over)|look(?:ing)? (?:back )?(?:through|over|at)"
    r"|scan(?:ning)? (?:back )?(?:through|over)?|(?:refer|going|go) back (?:to|through|over)"
    r"|search(?:ing)? back through)"
)
_AGAIN = r"(?:again )?"

_ASKS: Final = regex(
    rf"\b{_LOOK} {_AGAIN}(?:{_WHOLE} ){{0,3}}(?:{_PAST} ){{0,2}}{_SAID}\b{_NO_CODE}"
    rf"|\b(?:{_LOOK}|read|check|consult) {_AGAIN}(?:everything|all)(?: that)?(?: (?:is|was|has been|we have|we|you|i))?"
    r"(?: (?:said|written|discussed|done|stands))?(?: of (?:the|it))?"
    r" (?:above|so far|in (?:this|the|our) conversation)\b"
    r"|\bre-?read(?:ing)? (?:everything|all of (?:it|this|the above)|the above|from the (?:beginning|start|top))\b"
    r"|\bscroll(?:ing)? (?:all the way )?(?:back )?(?:up|back)"
    rf"(?=$|[.!?,;\n]|(?: (?:and|to|through|in|for))? (?:see|find|check|read|the|our|this|my|your)\b.{{0,40}}\b"
    r"(?:conversation|chat|messages?|history|discussion|said|wrote|asked|above|earlier)\b)"
    r"|\bfrom the (?:very )?(?:beginning|start|top) of (?:this|our|the) (?:conversation|chat|discussion)\b",
    re.IGNORECASE,
)
_DENIED = regex(
    r"(?:\bnot|n't|n’t|\bnever|\bwithout|\binstead of|\brather than|\bno need to|\bavoid|\bcannot|\bno longer|\bstop)"
    r"(?: (?:to|have to|need to|want to|try to|please|ever|be|just|simply))*\s*$",
    re.IGNORECASE,
)
_QUOTED = regex(r"```.*?(?:```|\Z)|“[^“”\n]*”|`[^`\n]+`|\"[^\"\n]*\"", re.DOTALL)

FORBIDDEN: Final = regex(
    r"\bre-?read|\bscroll (?:up|back)|\b(?:re)?view (?:everything|all|the (?:above|conversation|history))|\bsee above\b"
    r"|\b(?:go|look|read) (?:back )?(?:through|over) (?:all|everything|the (?:conversation|messages|history))"
    r"|\b(?:(?:go|look) back (?:at|to) (?:the|what|all)|refer back)\b|\bread (?:everything|all) (?:above|again)",
    re.IGNORECASE,
)
"""Phrases that no text written by gc-core may contain; tests check every one of them."""


def asks_to_reread(text: str) -> str:
    """
    Return the words that ask to go through the conversation again, or "".

    Quotations, backticks and fences ask for nothing, nor do negations ("never re-read ..."). Only the first and last
    4,000 characters are searched.
    """
    searched = text if len(text) <= 2 * _ENDS else f"{text[:_ENDS]}\n{text[-_ENDS:]}"
    prose = _QUOTED.sub(" ", searched)
    prose = re.sub(r"[ \t\r\n]+", " ", prose)
    for found in _ASKS.finditer(prose):
        if not _DENIED.search(prose[max(0, found.start() - 40) : found.start()]):
            return found.group()
    return ""
