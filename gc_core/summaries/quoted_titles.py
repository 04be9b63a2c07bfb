"""
Judges titles in quotation marks, as of a film or a page: the originals have all their words.

Who made a work that they name is known to whoever knows the work: "Rowling's Harry Potter".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gc_core.summaries.languages import MOST_READ, languages_of
from gc_core.summaries.name_forms import NameForms
from gc_core.values.patterns import regex

_PART: Final = r"(?:[A-ZÀ-Þ][\w'’-]*|of|the|an?|and|in|on|to|for|with|de|la)"
_TITLE = regex(rf"(?:[“„\"](?=[^“”\"\n]{{3,80}}[“”\"])|«(?=[^«»\n]{{3,80}}»))({_PART}(?: {_PART}){{1,8}})[“”\"»]")
_MAKER = regex(
    r"(?P<quoted>¤ ?, )?(?<!\w)((?:[A-ZÀ-Þ][\w-]+ ){0,2}[A-ZÀ-Þ][\w-]+)['’]s? {1,3}"
    r"(?:(?P<work>¤|[A-ZÀ-Þ]\w+)|(?P<sort>novel|film|movie|book|song|album|game|play|poem|story|series)(?!\w))"
)
_QUOTED = regex(r"[\"“](\w+)")
_WORD = regex(r"[A-ZÀ-Þ][a-zà-ÿ]{3,40}(?!\w)")


def unknown_titles(text: str, whole: str) -> Iterator[str]:
    """Yield titles with a word that does not occur in a text of the same language."""
    titles = dict.fromkeys(_TITLE.findall(text))
    if not titles or languages_of(text).isdisjoint(languages_of(whole[:MOST_READ])):
        return
    forms = NameForms(whole)
    for title in titles:
        if not all(map(forms.occur, _WORD.findall(title))):
            yield title


def makers_in(prose: str, whole: str) -> Iterator[str]:
    """Yield the names, word by word, of whoever made a work that stands in quotation marks, there or in a text."""
    quoted = frozenset(_QUOTED.findall(whole))
    for match in _MAKER.finditer(prose):
        work = match["work"]
        if (match["quoted"] and match["sort"]) or work == "¤" or work in quoted:
            yield from _WORD.findall(match[2])
