"""
Whether a call only reads: what comes back from it may then be known, however it was asked for.

Only what surely reads is taken for reading. A call whose effect is unknown may have done something, and doing the same
to another thing is work, even if each answers in the same words.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Final

from gc_core.relevance.shell import Effect, read_command
from gc_core.relevance.tool_calls import CallKind, ToolCall, texts_in, words_of
from gc_core.values.json_values import read_object
from gc_core.values.patterns import regex

STATEMENTS: Final = frozenset({"sql", "query", "q", "statement"})
"""Arguments that may contain an SQL statement."""

_READ: Final = frozenset(
    {"read", "get", "list", "fetch", "search", "find", "show", "view", "open", "query", "lookup", "look", "load"}
    | {"describe", "grep", "glob", "cat", "ls", "diff", "log", "logs", "blame", "retrieve", "browse", "inspect"}
    | {"select", "crawl", "scrape", "recall", "history", "extract", "head", "tail"}
)
_ACT: Final = frozenset(
    {"set", "create", "update", "delete", "remove", "send", "put", "write", "edit", "replace", "insert", "append"}
    | {"rename", "click", "press", "submit", "buy", "reply", "start", "stop", "restart", "apply", "deploy", "upload"}
    | {"save", "next", "previous", "scroll", "run", "execute", "install", "undo"}
    | {"reset", "clear", "purge", "wipe", "flush", "clean", "prune", "move", "cancel"}
)
_RUNS: Final = frozenset({"run", "execute"})
_STATEMENT = regex(r"\s{0,99}(?:select|with|show|describe|explain|pragma)\b", re.IGNORECASE)
_CHANGES_ROWS = regex(r"\b(?:insert|update|delete|drop|alter|create|truncate|merge|into)\s", re.IGNORECASE)
_LOOKS = regex(
    r"\s{0,9}(?:(?:git|kubectl|docker)(?: -\S{1,99}(?: [^\s-]\S{0,99})?){0,4} (?:show|log|diff|blame|status|ls-files"
    r"|grep|get|describe|logs|ps|inspect|images)|gh (?:pr|issue|run) (?:view|diff|list|checks)|journalctl|head|tail"
    r"|cat|nl|curl(?!.* (?:-\w{0,9}[XdFTOo]|--(?:data|json|request|form|output|upload)))|grep|rg|ls|sed -n(?!.*\bw )|wc"
    r"|cd|column|jq|sort(?!.* (?:-o|--output))|uniq|cut|tr)"
    r"\b[^>`$]{0,2000}"
)
_CLIENT = regex(
    r"\s{0,9}(?:psql|mysql|mariadb|sqlite3|duckdb)"
    r"(?: -[hUudpP] ?[\w./:@-]{1,99}| -[tAXqxEN]{1,9}| --(?:host|user|username|dbname|port)[= ][\w./:@-]{1,99}"
    r"| --(?:csv|no-align|tuples-only|batch)| [\w/.][\w./:-]{0,98}){0,12}"
    r"(?: -[tAXqxEN]{0,9}[ce]| --(?:command|execute))?[ =]{0,2}(?:\"([^\"\\`$;]{1,2000});?\"|'([^'\\`$;]{1,2000});?')"
    r"\s{0,9}(?:\|\s{0,9}(?:head|tail|column|cat)\b[^\"'|;&>`$\n]{0,99})?"
)
"""A client of SQL with one statement, and with no option that writes or runs anything else."""

_PIECES = regex(r"\|\|?|&&|;|\n")
_MOST = 2_000  # characters of a command or statement


def only_reads(call: ToolCall, arguments: str) -> bool:
    """Return whether a call surely changes nothing."""
    if call.changes:
        return False
    commands = _commands(arguments)
    if len(commands) > 1 or (commands and call.kind is not CallKind.READ):
        return all(any(map(_is_reading_command, words)) for words in commands)
    if call.kind is CallKind.READ:
        return True
    words = words_of(call.name)
    if selects(call, arguments):
        return True
    return words.isdisjoint(_ACT) and (call.kind is CallKind.SEARCH or not words.isdisjoint(_READ))


def selects(call: ToolCall, arguments: str) -> bool:
    """Return whether a call runs an SQL statement that surely changes nothing."""
    statements = list(_arguments(arguments, STATEMENTS.__contains__))
    is_query = bool(statements) and words_of(call.name).isdisjoint(_ACT - _RUNS)
    return is_query and all(map(_is_reading_statement, statements))


def file_read(call: ToolCall, arguments: str) -> str:
    """Return the only file that a call shows, as it names it, or ""; an older version of a file is not the file."""
    files = call.files if call.kind is CallKind.READ else ()
    for command in () if files else _arguments(arguments, _holds_command):
        reading = read_command(command)
        files = reading.files if reading.effect is Effect.READS else ()
    return files[0] if len(files) == 1 else ""


def _arguments(arguments: str, is_meant: Callable[[str], bool]) -> Iterator[str]:
    """Yield the arguments under the names that are meant."""
    return (text[:_MOST] for key, text in texts_in(read_object(arguments) or {}) if is_meant(key))


def _commands(arguments: str) -> list[list[str]]:
    """Return the texts of each argument that is a command; a list of words is one command."""
    found = texts_in(read_object(arguments) or {})
    by_name = itertools.groupby((each for each in found if _holds_command(each[0])), key=lambda each: each[0])
    return [[text[:_MOST] for _, text in each] for _, each in by_name]


def _holds_command(key: str) -> bool:
    return key in {"input", "script"} or "command" in key.lower() or "cmd" in key.lower()


def _is_reading_statement(statement: str) -> bool:
    return _STATEMENT.match(statement) is not None and not _CHANGES_ROWS.search(statement)


def _is_reading_command(command: str) -> bool:
    if read_command(command).effect in {Effect.SEARCHES, Effect.READS}:
        return True
    if client := _CLIENT.fullmatch(command):
        return _is_reading_statement(client[1] or client[2])
    pieces = [piece for piece in _PIECES.split(command) if piece.strip()]
    return bool(pieces) and all(_LOOKS.fullmatch(piece) for piece in pieces)
