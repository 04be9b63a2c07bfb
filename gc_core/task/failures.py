"""Whether a result reports that its call failed: as in summaries, with more words if it shows no file."""

from __future__ import annotations

import re

from gc_core.relevance.call_results import failure_in
from gc_core.relevance.tool_calls import CHANGES, CallKind, first_line
from gc_core.values.items import Item
from gc_core.values.patterns import regex

_LINE = 280
_HEAD, _TAIL = 600, 1_500
_NO_ERROR = regex(r"\s*\{\s*\"error\"\s*:\s*(?:\"\"|null|false|\[\]|\{\}|0\b)")
_SHORT = 240
"""Characters up to which a result is a message, rather than content."""

_REFUSED = regex(
    r"\b(?:does not|doesn't) exist\b|\bno such (?:file|table|column|directory)\b|\bnot found\b"
    r"|\b(?:unable|failed) to\b|\bpermission denied\b|\bis (?:invalid|not allowed)\b|\bnot enough\b",
    re.IGNORECASE,
)
_NOT_EDITED = regex(
    r"no replacement was performed|did not appear verbatim|string to replace not found|has not been read yet"
    r"|no changes (?:were )?made|could not (?:find|be applied)|is not unique|patch (?:failed|does not apply)",
    re.IGNORECASE,
)
_STATED = regex(
    r"\bHTTP(?:/[\d.]+)?(?: status)?(?: code)?[ :]{1,2}[45]\d\d\b|\"?\bstatus_?(?:code)?\"?\s*[:=]\s*\"?[45]\d\d\b"
    r"|\b(?:400 bad request|401 unauthorized|403 forbidden|404 not found|409 conflict|429 too many requests"
    r"|500 internal server error|502 bad gateway|503 service unavailable|504 gateway)"
    r"|\"error\"\s*:\s*(?:\"[^\"]|\{\s*\"|true)|^Traceback \(most recent call last\)"
    r"|^(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b: .{0,200}$|^(?:assertion failed|panic:)"
    r"|^\S{1,200}(?:\(\d+,\d+\)|:\d+(?::\d+)?):? (?:fatal )?error\b|: command not found$"
    r"|\b(?:user|order|item|file|record|reservation|resource|page|flight|product|line|customer|account) not found\b",
    re.IGNORECASE | re.MULTILINE,
)


def failure_of(item: Item, kind: CallKind) -> str:
    """Return the line in which a result reports a failure, or ""; a file about errors does not count."""
    if not item.is_error and _NO_ERROR.match(item.text[:_HEAD]):
        return ""
    known = failure_in(item, kind)
    if known or kind is CallKind.NOTE:
        return known
    if len(item.text) <= _SHORT and _REFUSED.search(item.text):
        return first_line(item.text, _LINE)
    if kind in {CallKind.READ, CallKind.SEARCH}:
        return ""
    if kind in CHANGES:
        return first_line(item.text, _LINE) if _NOT_EDITED.search(item.text[:_HEAD]) else ""
    return _stated_failure(item.text)


def _stated_failure(text: str) -> str:
    ends = (text,) if len(text) <= _HEAD + _TAIL else (text[:_HEAD], text[-_TAIL:])
    for part in ends:
        found = _STATED.search(part)
        if found is not None:
            start = part.rfind("\n", 0, found.start()) + 1
            end = part.find("\n", found.end())
            line = part[start : len(part) if end < 0 else end]
            begin = max(0, found.start() - start - _LINE // 2) if len(line) > _LINE else 0
            return " ".join(line[begin : begin + _LINE].split())
    return ""
