"""What a user lays down in a message, and how surely."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from gc_core.relevance.demands import Strength, demands_in
from gc_core.task import phrases
from gc_core.task.sentence_models import rule_margins
from gc_core.task.stated_rules import sentences_in
from gc_core.task.statements import own_words
from gc_core.task.withdrawals import withdrawal_in
from gc_core.values.items import Item

LONGEST: Final = 300
"""Characters of a sentence above which it is not quoted: it is narrative."""

_END_CHARS = 600
"""Characters at either end of a long message that may be its user's own."""

_PLAIN = str.maketrans({'"': "'", "[": "(", "]": ")"})


def laid_down(item: Item) -> Iterator[str]:
    """Yield a user's rules, what takes one back, and other short sentences that clearly bind, in order; linear."""
    if item.synthetic:
        return
    own = own_words(item) or _ends(item.text)
    rules = {each.text for each in sentences_in(own) if each.form is not None or _takes_back(each.text)}
    binding = {" ".join(each.text.split()) for each in demands_in(item.text) if each.strength is Strength.CLEAR}
    for sentence in phrases.sentences_of(item.text):
        if (sentence in rules or sentence in binding) and len(sentence) <= LONGEST:
            yield sentence.translate(_PLAIN)


def _ends(text: str) -> str:
    """Return the beginning of the first paragraph of a long text and the end of the last: the rest was pasted."""
    first, last = text.strip().partition("\n\n")[0], text.strip().rpartition("\n\n")[2]
    return f"{first[:_END_CHARS]}\n\n{last[-_END_CHARS:]}"


def _takes_back(sentence: str) -> bool:
    """Return whether a sentence takes back a rule that it names."""
    found = withdrawal_in(phrases.straight(sentence))
    return found is not None and bool(found.named)


def margin_of(sentence: str) -> float:
    """Return how surely a sentence is a rule: above 0 if it is; what takes a rule back is as sure as can be."""
    return math.inf if _takes_back(sentence) else rule_margins([sentence])[0]
