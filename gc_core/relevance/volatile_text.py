"""
Finds text that will be different next time: times of day, today's date, ids made by chance, processes, scratch files.

At the head of a request such a text breaks the prompt cache every time. A false alarm makes people look away from the
next one, so a pattern is here only if what it finds is hardly ever meant to stay: a date in prose is not found, nor an
example, nor text in code marks, nor an id inside a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from gc_core.values.patterns import regex

MOST_LETTERS = 80
"""Of an excerpt."""

_DATE = r"\d{4}-\d{2}-\d{2}"
_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d"
_DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun)\b"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY_OF_MONTH = rf"(?:\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{1,4}}|{_MONTH}\.? \d|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH})"
_WHEN = rf"(?:{_DAY},? )?(?:{_DATE}|{_DAY_OF_MONTH}|{_CLOCK}|{_DAY})"
_IS = r"[*_`\"']{0,2}(?:\s{0,9}[:=]\s{0,9}|\s{1,9}is\s{0,9}:?\s{0,9}(?:now\s{1,9}|currently\s{1,9})?)[*_`\"'<(\[]{0,4}"
_THING = r"(?:date(?: and |[ /&]+)time|date|time|datetime|timestamp|day)"
_TODAY = rf"(?:today(?:['’]s date)?|(?:the )?current (?:local |utc |system )?{_THING}|(?:date|time) (?:right )?now|it)"
_OWNER = r"(?:session|request|trace|run|conversation|thread|correlation|invocation|job|chat|span)"
_PREFIX = r"(?:sess|req|run|thread|conv|chatcmpl|msg|trace)[_-]"
_MIXED = r"(?=\w{0,99}\d)(?=\w{0,99}[a-z])"
_HEX = r"(?=[0-9a-f]{0,63}\d)(?=[0-9a-f]{0,63}[a-f])(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})"
_NAME = rf"(?:tmp[._-]?(?=\w{{0,99}}[\d_])\w{{6,}}|[\w-]{{0,99}}[._-]{_MIXED}\w{{6,}}|[a-z._-]{{0,99}}\d{{4,}})"
_EPOCH = r"(?:timestamp|epoch|unix time|time_?ms|now)"

_NOW = "what day or time it is now"
_KINDS = {
    _NOW: rf"\b{_TODAY}{_IS}{_WHEN}",
    "a time with its date": rf"\b{_DATE}(?:T|,? (?:at )?){_CLOCK}",
    "a time of day": rf"(?<![\d:.]){_CLOCK}:[0-5]\d(?![\d:])",
    "a UUID": r"(?<![\w/-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])",
    "the number of a process": r"\b(?:pid|process id|process number)\b\s{0,9}(?:is\b|[:=#])?\s{0,9}[(\[]?\d{2,7}\b",
    "an id of one session or request": rf"\b{_OWNER}[ _-]?id\b{_IS}(?=[\w-]{{0,99}}\d)[\w-]{{6,}}",
    "an id made by chance": rf"\b{_PREFIX}{_MIXED}\w{{12,}}|(?<![\w/+=-]){_HEX}(?![\w/+=-])",
    "a scratch file": rf"/tmp/(?:[\w.-]{{1,99}}/){{0,20}}{_NAME}(?!\w)|/var/folders/\w\w/\w{{8,}}",  # noqa: S108 - looked for
    "a time since 1970": rf"\b{_EPOCH}\b{_IS}1[6-9]\d{{8}}(?:\d{{3}})?\b",
}
_PATTERNS = tuple((why, regex(pattern, re.IGNORECASE)) for why, pattern in _KINDS.items())

_EXAMPLE = regex(
    r"\b(?:e\.g\.?|i\.e\.|example|examples|format|formatted|formats|such as|like|looks? like|sample|template|regex|"
    r"pattern|returns?|since|until|before|after|from|between|at commit|v?ersion)\b[^\n]{0,40}$",
    re.IGNORECASE,
)
_CONDITION = regex(r"\b(?:if|when|whenever|until|unless|once|while|whether|that)\s+$", re.IGNORECASE)
_BEFORE = 60
_FEWEST_LETTERS = 3


@attrs.frozen(kw_only=True)
class Volatile:
    """
    A text that looks as if it changed with every request.

    Attributes:
        excerpt: The text found.
        why: The kind of value that it looks like.

    """

    excerpt: str
    why: str


def volatile_in(text: str) -> Iterator[Volatile]:
    """Yield what a text holds of each kind, the first of it, in the order of the kinds; of one line only one."""
    kinds: set[str] = set()
    lines: set[int] = set()
    for why, pattern in _PATTERNS:
        for match in pattern.finditer(text) if why not in kinds else ():
            line = text.rfind("\n", 0, match.start()) + 1
            if line not in lines and _is_meant(text, match, why):
                kinds.add(why)
                lines.add(line)
                yield Volatile(excerpt=text[match.start() :].partition("\n")[0][:MOST_LETTERS], why=why)
                break


_TOOK = (
    r"(?:(?:wall|cpu|elapsed|total)(?:[ _-]clock)?[ _-]?time|duration|took|elapsed|real|user|sys|time(?:stamp)?|epoch)"
    r"(?:[ _-]?(?:m?s|secs?|seconds?|millis(?:econds)?))?"
)
_MOMENT = regex(
    rf"\b{_DATE}(?:T|,? (?:at )?){_CLOCK}(?::[0-5]\d(?:[.,]\d{{1,9}})?)?(?:Z|[+-]\d\d:?\d\d)?"
    rf"|(?<![\d:.]){_CLOCK}:[0-5]\d(?:[.,]\d{{1,9}})?(?![\d:])"
    rf"|\b{_TOOK}\"?\s{{0,3}}[:=]?\s{{0,3}}\"?\d+(?:m\d+)?(?:\.\d+)?"
    r"|(?<![\w.])\d+(?:\.\d+)?\s?(?:[mµun]?s|secs?|seconds?|milliseconds)\b",
    re.IGNORECASE,
)
_LONG = 600
_EDGE_LINES, _EDGE = 3, 200


def without_moments(text: str) -> str:
    """
    Return a long text without the times and durations at its edges, where tools say when it was made and how long that
    took. Elsewhere they are its content, as those of a log are, and so is the time in a short text.
    """
    if len(text) < _LONG:
        return text
    lines = text.split("\n")
    if len(lines) > 2 * _EDGE_LINES:
        edges = (*range(_EDGE_LINES), *range(-_EDGE_LINES, 0))
        for place in edges:
            lines[place] = _MOMENT.sub("", lines[place][:_LONG]) + lines[place][_LONG:]
        return "\n".join(lines)
    return _MOMENT.sub("", text[:_EDGE]) + text[_EDGE:-_EDGE] + _MOMENT.sub("", text[-_EDGE:])


def _is_meant(text: str, match: re.Match[str], why: str) -> bool:
    """Return whether it is said of now: no example, no code, no nothing (zeros, one letter again and again)."""
    unlike = {letter for letter in match.group().lower() if letter.isalnum()}
    if len(unlike) < _FEWEST_LETTERS and why != _NOW:
        return False
    before = text[max(0, match.start() - _BEFORE) : match.start()]
    return not (_is_code(text, match) or _EXAMPLE.search(before) or _CONDITION.search(before))


def _is_code(text: str, match: re.Match[str]) -> bool:
    """Inside code marks on its line, or in a block of code."""
    begin = text.rfind("\n", 0, match.start()) + 1
    if text.count("`", begin, match.start()) % 2:
        return True
    return text.count("\n```", 0, match.start()) % 2 == 1
