"""Statements of a tool's result about its call: failures, verdicts, and edits whose text was not found."""

from __future__ import annotations

import re

from gc_core.relevance.tool_calls import CallKind, cut_line, first_line, one_line
from gc_core.values.items import Item, Part
from gc_core.values.patterns import regex

_HEAD, _TAIL = 300, 3_000
_LINE = 280
_MOST_VERDICTS = 2

_FAILED_HEAD = regex(
    r"\s*(?:<tool_use_error>|\{\"error\"|\[?(?:fatal )?error\b|exception\b|traceback \(|fatal:|failed\b|failure\b"
    r"|command failed|exit code:? [1-9]|permission denied|no such file|execution timed out|timed out)",
    re.IGNORECASE,
)
_FAILED_TAIL = regex(
    r"^(?:FAIL(?:ED)?\b.*|npm ERR!.*|Traceback \(most.*|\w*Error: .*|error(?:\[\w+\])?: .*|fatal: .*)$"
    r"|\b[1-9]\d{0,6} (?:tests? )?fail(?:ed|ing|ures?)\b|\bexit(?:ed)?(?: with)?(?: code| status)[: ]{1,2}[1-9]"
    r"|\bcommand not found\b",
    re.MULTILINE,
)
_ONLY_EXIT_CODE = regex(r"exit code:? \d+:?", re.IGNORECASE)
_VERDICT = regex(
    r"\b\d{1,7} (?:tests? )?(?:passed|failed|failing|passing|failures?|errors?|warnings?)\b|^(?:PASS|FAIL|ok)\b"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)\b|\ball tests pass"
    r"|^\[[\w./-]{1,80}(?: \(root-commit\))? [0-9a-f]{7,40}\]|\bcommit [0-9a-f]{7,40}\b|\bBUILD (?:SUCCESS|FAIL)|^OK\b",
    re.MULTILINE,
)


def failure_in(item: Item | Part, kind: CallKind) -> str:
    """Return the line in which a result reports that its call failed, or ""."""
    text = item.text
    if item.is_error or _FAILED_HEAD.match(text[:_HEAD]):
        return _error_line(text) or "no message"
    if kind is not CallKind.RUN:
        return ""
    tail = text[-_TAIL:]
    found = _last(_FAILED_TAIL, tail)
    if found is None:
        return ""
    return _error_line(text) if found[0].startswith("Traceback") else _line_at(tail, found.start())


def verdicts_in(text: str) -> list[str]:
    """Return the last lines of a result that say how a run ended: passed, failed, exit codes, commits."""
    tail = text[-_TAIL:]
    lines = dict.fromkeys(_line_at(tail, found.start()) for found in _VERDICT.finditer(tail))
    return [line for line in lines if line][-_MOST_VERDICTS:]


def _error_line(text: str) -> str:
    """Return the first line of an error; for a traceback the last, which names it."""
    if "Traceback (most recent call last)" in text[:_HEAD] or "Traceback (most recent call last)" in text[-_TAIL:]:
        lines = [line for line in text[-_TAIL:].split("\n") if line.strip()]
        return cut_line(one_line(lines[-1]), _LINE) if lines else ""
    line = first_line(text, _LINE)
    if not _ONLY_EXIT_CODE.fullmatch(line):
        return line
    rest = first_line(text[text.find(line) + len(line) :], _LINE - len(line))
    return f"{line} {rest}".rstrip()


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007 - the last one is what is requested
        pass
    return found


def _line_at(text: str, place: int) -> str:
    """Return the line around a place; for a very long one what follows the place."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    end = len(text) if end < 0 else end
    return cut_line(one_line(text[start if place - start <= _LINE // 2 else place : end]), _LINE)


_NOT_FOUND = regex(
    r"not found|no (?:exact |close )?match"
    r"|no (?:occurrences?|such (?:text|string)|replacements?\b.{0,20}(?:made|performed))"
    r"|(?:could not|couldn't|cannot|can't|can not|unable to|failed to|did not|didn't) (?:\w+ )?"
    r"(?:find|locate|match|apply|appear)"
    r"|(?:does not|doesn't|do not|don't) (?:\w+ )?(?:match|contain|appear|apply|exist in)"
    r"|isn't (?:in|present)|not present"
    r"|\b(?:0|zero) (?:occurrences?|match|replacements?)|hunks? .{0,20}fail|patch failed|invalid context|mismatch"
    r"|nicht gefunden|kommt .{0,30}nicht vor|introuvable|pas (?:été )?trouv|no se (?:ha )?encontr|no encontrad"
    r"|未找到|找不到|没有找到|不匹配|見つかり?ま?せ?ん|見つから|一致しま|ありません",
    re.IGNORECASE,
)
_OF_A_FILE = regex(
    r"no such file|file (?:was )?not found|file .{0,80}(?:does not|doesn't) exist"
    r"|(?:cannot|could not|couldn't) (?:open|read|find) (?:the )?file|not found: /"
    r"|path .{0,60}(?:not found|does not exist)|command not found|tool not found|must (?:be )?read"
    r"|has not been read|modified since|ENOENT",
    re.IGNORECASE,
)
_SEVERAL = regex(
    r"multiple|more than (?:one|once)|not unique|ambiguous|\b(?:[2-9]|\d{2,4}) (?:occurrences|matches)|several|mehrfach"
    r"|plusieurs|varias|多个|複数",
    re.IGNORECASE,
)
_DONE = regex(
    r"\s*(?:\W{0,3})?(?:the file\b.{0,200}has been|file .{0,120}(?:updated|edited|saved)"
    r"|success|done\b|ok\b|updated|applied|edited|replaced|wrote|\d+ replacements?"
    r"|edit applied|patch applied|changes? (?:applied|made|saved))",
    re.IGNORECASE,
)
_SAID_CHARS = 400


def text_was_not_found(result: Item) -> bool:
    """
    Return whether the result of an edit says that the text to replace is not in the file: by the phrases that tools use
    for that, at the beginning of the result, unless it reports success.
    """
    said = result.text[:_SAID_CHARS]
    if not result.is_error and _DONE.match(said):
        return False
    lines = [line for line in said.split("\n") if line.strip()]
    message = said if result.is_error else "\n".join(lines[:2])
    return bool(_NOT_FOUND.search(message)) and not _OF_A_FILE.search(message) and not _SEVERAL.search(message)
