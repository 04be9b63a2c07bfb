"""
Finds statements by fixed words: users' statements about themselves, their environment and how to work,
in any message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from gc_core.learning import phrases as wording
from gc_core.learning.contract import Stated
from gc_core.learning.phrases import Shape
from gc_core.storage.facts import FactKind
from gc_core.task.phrases import sentences_of, straight
from gc_core.task.statements import own_words
from gc_core.values.items import Item, ItemKind
from gc_core.values.patterns import regex

MOST_CHARS: Final = 300
"""The most characters of a sentence that is read: users state facts in short ones."""

_RULE_CHARS: Final = 12
"""The least letters of a rule: "always" by itself is an answer."""

_CHINESE: Final = regex(r"[\u3400-\u9fff]")
_ENDS: Final = regex(r"(?<=[。！？；])")
_CLAUSES: Final = regex(
    r"\s{0,9}[,;，；、](?!\d)\s{0,9}|\s{1,9}[-–—]{1,9}\s{1,9}|(?<=\w): {1,9}"
    r"|\s{1,9}(?:and|so|but|und|et|y)\s{1,9}(?=(?:i|i'm|we|my|our|it's|nobody|everyone|the whole|ich|wir"
    r"|mein\w*|je|j'\w+|nous|mon|ma|vivo|soy|mi)(?!\w))",
    re.IGNORECASE,
)
_ASKS: Final = regex(r"[?？]\W*$|(?:吗|呢|来着|是不是)\W*$|^\W*[¿]")
_DECLINED: Final = frozenset(
    {"it", "that", "this", "them", "those", "him", "her", "eso", "ça", "das", "es", "这个", "那个"}
)


@attrs.frozen
class WordedExtractor:
    """
    Finds statements by fixed words, in English, German, French, Spanish and Chinese; asks no model.

    Questions, quotations, guesses, what others said, requests for one answer and temporary conditions are not
    statements, nor is anything about a password or key.
    """

    def extract(self, items: Sequence[Item]) -> Sequence[Stated]:
        """Return what these items state, in order. O(their text)."""
        return [stated for item in items if item.kind is ItemKind.USER_TEXT for stated in _in_text(item)]


def _in_text(item: Item) -> Iterator[Stated]:
    for line in sentences_of(own_words(item)):
        for sentence in _ENDS.split(line):
            plain = straight(sentence).strip()
            if plain and len(plain) <= MOST_CHARS and not _is_no_statement(plain):
                yield from _in_sentence(plain, item.id)


def _is_no_statement(sentence: str) -> bool:
    if _ASKS.search(sentence) or wording.LOGGED.search(sentence) or wording.QUOTED.search(sentence):
        return True
    chinese = _CHINESE.search(sentence) is not None
    refused = (
        (wording.UNSURE_ZH, wording.PASSING_ZH, wording.REPORTED_ZH, wording.PRIVATE_ZH)
        if chinese
        else (wording.UNSURE, wording.PASSING, wording.REPORTED, wording.PRIVATE)
    )
    if any(pattern.search(sentence) for pattern in refused):
        return True
    head, colon, _ = sentence.replace("：", ":").partition(":")
    if colon and " " in sentence and not wording.NOTED.search(head) and not re.search(r":\S", sentence):
        return True
    asked = wording.ASKED_FOR_ZH if chinese else wording.ASKED_FOR
    bare = _without_lead(sentence)
    return asked.match(bare) is not None and not _is_rule(bare) and not _ends(bare)


@attrs.frozen
class _Found:
    """A clause that matches a shape, taken apart."""

    clause: str
    shape: Shape
    subject: str
    relation: str
    object: str


def _in_sentence(sentence: str, item: str) -> Iterator[Stated]:
    ends = _ends(sentence)
    if _is_rule(sentence) and not ends:
        yield _rule(sentence, item)
        return
    changes = ends or _changes(sentence)
    # The words of what ends are not a statement: "we don't use it any more".
    statements = [each for each in _found_in(sentence) if not _ends(each.clause) or _names_new(each.clause)]
    for each in statements:
        otherwise = changes or each.shape.changes
        yield Stated(
            item=item,
            text=sentence if len(statements) == 1 else each.clause,
            subject=each.subject,
            relation=each.relation,
            object=each.object,
            changes=otherwise,
            ends=ends,
            about=sentence if otherwise else "",
            several=each.shape.several,
        )
    if changes and not statements:
        yield Stated(item=item, text=sentence, changes=True, ends=ends, about=sentence)


def _rule(sentence: str, item: str) -> Stated:
    return Stated(
        item=item,
        text=sentence,
        subject="assistant",
        relation="follows",
        object=sentence,
        kind=FactKind.CONSTRAINT,
        changes=_changes(sentence),
        about=sentence,
        several=True,
    )


def _is_rule(sentence: str) -> bool:
    bare = _without_lead(sentence)
    if wording.OF_MYSELF.match(bare) or wording.OF_THINGS.match(bare):
        return False
    if wording.LASTING_FIRST.match(bare):
        return len(bare) >= _RULE_CHARS
    if _CHINESE.search(sentence):
        return wording.LASTING_ZH.search(sentence) is not None
    rule = wording.EVERY.match(bare) or wording.MANNER.search(bare) or wording.LASTING.search(sentence)
    return len(bare) >= _RULE_CHARS and rule is not None


def _ends(text: str) -> bool:
    return (wording.ENDS_ZH if _CHINESE.search(text) else wording.ENDS).search(text) is not None


def _changes(text: str) -> bool:
    return (wording.CHANGED_ZH if _CHINESE.search(text) else wording.CHANGED).search(text) is not None


def _names_new(clause: str) -> bool:
    """Return whether it ends one thing and names another: "switched from R to Python"."""
    return any(shape.changes and shape.pattern.match(clause) for shape in wording.SHAPES)


def _clauses(sentence: str) -> Iterator[str]:
    whole = sentence.strip(" .!。！…")
    yield from filter(None, (_without_lead(part).strip(" .!。！…") for part in _CLAUSES.split(whole)))


def _without_lead(text: str) -> str:
    return wording.LEAD_ZH.sub("", wording.LEAD.sub("", text))


def _found_in(sentence: str) -> Iterator[_Found]:
    """Yield the clauses that match a shape, each with the first matching one."""
    greeted = wording.GREETED.match(sentence)
    for clause in _clauses(sentence):
        if greeted and clause.endswith(greeted["o"]):
            yield _Found(clause, wording.SHAPES[0], "user", "is called", greeted["o"])
        elif (found := _shaped(clause)) is not None:
            yield found


def _shaped(clause: str) -> _Found | None:
    plain = wording.TAIL.sub("", clause)
    for shape in wording.SHAPES:
        match = shape.pattern.match(plain) or (shape.pattern.match(clause) if plain != clause else None)
        if match is None:
            continue
        parts = match.groupdict()
        object_ = wording.TAIL.sub("", parts["o"]).strip(" `'.")
        if object_ and object_.lower() not in _DECLINED:
            subject = " ".join((parts.get("s") or shape.subject).lower().split())
            return _Found(clause, shape, subject, shape.relation or str(parts.get("r") or "does"), object_)
    return None
