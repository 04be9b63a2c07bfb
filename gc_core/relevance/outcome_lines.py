"""
Finds lines of an output that report its outcome: failures first, then verdicts.

A line without any name may be the one that matters: it says what failed, while a hundred lines with ids around it do
not. JSON in one line is read by its rows. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs

from gc_core.relevance.name_scan import LONG_LINE
from gc_core.values.patterns import regex

MOST: Final = 16
"""
The most lines of each kind that are found: the first ones, with which it began, and the last, with
which it ended.
"""

_FIRST: Final = 6

_LEAST_ROWS: Final = 3
_LONGEST_ROW: Final = 1_200

_FAILS = (
    *("error", "fail", "exception", "traceback", "fatal", "panic", "denied", "rejected", "refused", "not found"),
    *("timed out", "timeout", "unreachable", "abort", "killed", "mismatch", "invalid", "cannot", "could not", "unable"),
    *("crash", "critical", "missing", "unauthorized", "forbidden", "conflict", "exceeded", "undefined", "violat"),
    *(
        "declined",
        "insufficient",
        "corrupt",
        "not ready",
        "unhealthy",
        "oom",
        "blocked",
        "breach",
        "nok",
        "✗",
        "✘",
        "❌",
    ),
    *("fehler", "fehlgeschlagen", "abgelehnt", "verweigert", "ungültig", "abgebrochen", "nicht gefunden"),
    *(
        "falló",
        "fallo",
        "fallid",
        "rechazad",
        "denegad",
        "inválid",
        "no encontrad",
        "échec",
        "échou",
        "erreur",
        "refusé",
    ),
    *("失败", "错误", "拒绝", "超时", "异常", "无法", "失敗", "エラー", "ошибк", "отказ", "не найден"),
)
_ENDS = (
    *("passed", "warning", "exit code", "exit status", "succeeded", "success", "completed", "complete", "finished"),
    *("total", "summary", "result", "done in", "built", "installed", "added", "applied", "rows affected", "0 row"),
)
"""Words of errors and outcomes. Searched one by one: str.find is many times faster than one pattern for all of them."""

_HARMLESS = regex(
    r"\b(?:0|no|without|zero|ignor\w+|handles?|handling|shows?|catch\w*) (?:\w+ )?"
    r"(?:errors?|fail\w*|warnings?|exceptions?)",
    re.IGNORECASE,
)
_NONE_OF = regex(r"(?<=[^\w.,]0 )|(?<=\bno )|(?<=\bwithout )")
_IS_EMPTY = regex(
    r"\w{0,40}+\\?[\"']?[ \t]*+[:=][ \t]*+(?:0(?:\.0+)?(?!\.?\w)"
    r"|(?:(?:null|none|nil|false)\b|~(?=\s|\Z)|\\?([\"'])(?:null|none)?\\?\1|\[\]|\{\})(?! [a-z]+ ))"
)
"""Before and behind a word in lower case: what says that there was none; a sentence may begin like an empty value."""
_TEST_NAME = regex(
    r"(?<!\S)(?>\S*?(?:fail|error|exception|timeout|invalid|missing))\S*+(?=.{0,400}\b(?:passed|ok)\b)", re.IGNORECASE
)
_TOKEN = regex(r'"(?:[^"\\]++|\\(?s:.))*+(?:"|\\?\Z)|[\[\]{}]')

Row = tuple[int, int]
"""Where a row of JSON in one line begins and ends in its text."""

_Counts = Callable[[str, int, str], bool]
"""Says whether a word counts at a place of a text."""


@attrs.frozen
class OutcomeLine:
    """The place of a line that reports an outcome, and whether it is a failure."""

    start: int
    end: int
    fails: bool


def outcome_lines(text: str) -> tuple[OutcomeLine, ...]:
    """
    Return the lines that report failures, then those that report outcomes, each in order and without repetition; for a
    line that is too long the row of JSON, or else the surroundings of the word.
    """
    lower = text.lower()
    if len(lower) != len(text):  # a few letters have a longer lower case: then only lower-case words are found
        lower = text
    rows = _Rows(text)
    told = {span: _fails(text[span[0] : span[1]]) for span in _found(text, lower, _FAILS, rows, _happened)}
    failing, harmless = (_chosen(span for span, fails in told.items() if fails is each) for each in (True, False))
    known = {*failing, *harmless}
    ending = [span for span in _chosen(set(_found(text, lower, _ENDS, rows, _begins))) if span not in known]
    failures = [OutcomeLine(*span, fails=True) for span in failing]
    doubtful = [OutcomeLine(*span, fails=False) for span in harmless]
    return (
        *failures,
        *[OutcomeLine(*span, fails=False) for span in ending],
        *[each for each in doubtful if _ends(text, each)],
    )


def rows_of(text: str) -> tuple[Row, ...]:
    """
    Return the rows of a text that is JSON in one line, the elements of the container with the most containers; none of
    any other text. O(length).
    """
    return tuple(_largest(text)) if _is_one_line_json(text) else ()


def _found(text: str, lower: str, words: tuple[str, ...], rows: _Rows, counts: _Counts) -> Iterator[tuple[int, int]]:
    for word in words:
        for place in _places(lower, word, counts):
            yield rows.around(place) or _line_around(text, place)


def _chosen(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the first and the last ones, in order."""
    spans = sorted(found)
    return spans if len(spans) <= MOST else [*spans[:_FIRST], *spans[_FIRST - MOST :]]


def _fails(line: str) -> bool:
    """
    Return whether a line reports a failure, ignoring harmless phrases such as "0 errors" or a
    passed test of that name.
    """
    bare = _TEST_NAME.sub("", _HARMLESS.sub("", line)).lower()
    return any(True for word in _FAILS for _ in _places(bare, word, _happened))


def _ends(text: str, line: OutcomeLine) -> bool:
    lower = text[line.start : line.end].lower()
    return any(word in lower for word in _ENDS)


def _places(text: str, word: str, counts: _Counts) -> Iterator[int]:
    """Yield the first and the last places where a word counts."""
    place, count = -1, 0
    while count < MOST:
        place = text.find(word, place + 1)
        if place < 0:
            return
        if counts(text, place, word):
            count += 1
            yield place
    first, place, count = place, len(text), 0
    while count < MOST:
        place = text.rfind(word, first + 1, place)
        if place < 0:
            return
        if counts(text, place, word):
            count += 1
            yield place


def _begins(text: str, place: int, _: str) -> bool:
    return place == 0 or not (text[place - 1].isascii() and text[place - 1].isalpha())


def _happened(text: str, place: int, word: str) -> bool:
    """
    Return whether a failure begins there, and nothing says that there was none: a hundred errors that are null would
    hide the only one that is set.
    """
    if not _begins(text, place, word):
        return False
    return not (_NONE_OF.match(text, place) or _IS_EMPTY.match(text, place + len(word)))


def _line_around(text: str, place: int) -> tuple[int, int]:
    start = max(text.rfind("\n", 0, place) + 1, place - LONG_LINE // 2)
    stop = text.find("\n", place)
    return start, min(len(text) if stop < 0 else stop, place + LONG_LINE // 2)


class _Rows:
    """The rows of a text that is JSON in one line."""

    def __init__(self, text: str) -> None:
        self._rows = rows_of(text)

    def around(self, place: int) -> Row | None:
        """Return the row around a place; None outside all rows, or if it is too long."""
        for start, end in self._rows:
            if start <= place < end:
                return (start, end) if end - start <= _LONGEST_ROW else None
        return None


def _is_one_line_json(text: str) -> bool:
    head = text.lstrip()[:1]
    return head in ("{", "[") and len(text) > LONG_LINE and text.strip().count("\n") * LONG_LINE < len(text)


def _largest(text: str) -> list[Row]:
    """Return the spans of the containers inside the one that has the most of them."""
    open_at: list[int] = []
    children: list[list[Row]] = [[]]
    best: list[Row] = []
    for match in _TOKEN.finditer(text):
        mark = match.group()
        if mark in "[{":
            open_at.append(match.start())
            children.append([])
        elif mark in "]}" and open_at:
            inner = children.pop()
            if len(inner) >= max(_LEAST_ROWS, len(best)):
                best = inner
            children[-1].append((open_at.pop(), match.end()))
    return best
