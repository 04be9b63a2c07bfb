"""Finds what a text names by an id, a table's name or a path: orders, users, tables, files that were only mentioned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gc_core.relevance.tool_calls import CallKind
from gc_core.values.items import Item
from gc_core.values.patterns import regex

RECORD, TABLE = "record", "table"
"""Kinds of entities: a record with an id, and a table of a database."""

NAMED: Final = "named"
"""The state of a file that was mentioned, and that no call has touched."""

_MOST_NAMED = 4
_ID_CHARS = 64
_SEARCHED_CHARS = 8_000
_VERB = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ID_KEY = regex(
    r"(?:^|_)(?:id|uuid|order|booking|reservation|account|customer|user|ticket|issue|invoice|phone_number"
    r"|tracking_number"
    r"|service|host|database|bucket|queue|topic|table|tablename|repo|branch)$|[a-z]Id$"
)
_OWN_KEY = regex(r"(?:task|session|shell|bash|process|tool|agent|thread|message|cell|request|call)(?:_id|Id)$")
_SQL = regex(r"\s*(select|insert|update|delete|create|alter|drop|truncate|show|desc|describe|with)\b", re.IGNORECASE)
_IN_SQL = regex(
    r"\b(?:from|join|into|update|table|desc"
    r"|describe)\s+(?:if (?:not )?exists\s+)?[`\"\[]?([A-Za-z_]\w{1,60}(?:\.\w{1,60})?)",
    re.IGNORECASE,
)
_NO_TABLE = frozenset({"select", "table", "tables", "set", "information_schema", "dual", "where", "columns", "values"})
_READS = frozenset({"select", "show", "desc", "describe", "with"})
_QUOTED = regex(r"`([^`\s]{3,120})`")
_WITH_SUFFIX = regex(
    r"(?<![\w@:/.-])(?:~?/)?(?:[\w@.-]+/+)*[\w@-][\w@.-]*\.(?:pyi?|jsx?|tsx?|mjs|go|rs|java|kt|c|cc|cpp|h|hpp|cs|rb|php"
    r"|swift|scala|sh|sql|html|s?css|vue|svelte|md|rst|txt|json|ya?ml|toml|ini|cfg|conf|xml|csv|tf|proto|ipynb)"
    r"(?![\w/.-]*\w)",
    re.IGNORECASE,
)


def records_in(item: Item, arguments: Mapping[str, Any] | None, call_kind: CallKind) -> Iterator[tuple[str, str, str]]:
    """Yield name, kind and state of the records in a call's arguments; its tool's name states the action on them."""
    if arguments is None or call_kind is CallKind.NOTE:
        return
    done = " ".join(_VERB.findall(item.name)).lower()[:40] or "called"
    found = 0
    for key, value in arguments.items():
        name = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
        if not _ID_KEY.search(key) or _OWN_KEY.search(key) or not _is_id(name):
            continue
        yield name, TABLE if "table" in key else RECORD, done
        found += 1
        if found == _MOST_NAMED:
            return


def tables_in(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, kind and state of the tables in an SQL statement."""
    began = _SQL.match(text)
    if began is None:
        return
    state = "read" if began[1].lower() in _READS else "edited"
    names = dict.fromkeys(name for name in _IN_SQL.findall(text[:_SEARCHED_CHARS]) if name.lower() not in _NO_TABLE)
    yield from ((name, TABLE, state) for name in list(names)[:_MOST_NAMED])


def paths_in(text: str, *, quoted: bool) -> list[str]:
    """Return the paths in a text; with ``quoted`` only those in backticks, as assistants write them."""
    if "." not in text:
        return []
    if quoted:
        found = [path for path in _QUOTED.findall(text[:_SEARCHED_CHARS]) if _WITH_SUFFIX.fullmatch(path)]
    else:
        found = _WITH_SUFFIX.findall(text[:_SEARCHED_CHARS])
    return list(dict.fromkeys(found))[:_MOST_NAMED]


def _is_id(name: str) -> bool:
    return 1 < len(name) <= _ID_CHARS and not any(map(str.isspace, name)) and any(map(str.isalnum, name))
