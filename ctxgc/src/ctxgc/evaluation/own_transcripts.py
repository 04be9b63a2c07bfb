"""gc-core's own log as a recorded session: the conversation, after the last system text and schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from gc_core.errors import ConfigError
from gc_core.providers import format_named
from gc_core.providers.contract import Format
from gc_core.storage.master_log import PARTS
from gc_core.storage.rebuild import SESSION
from gc_core.values.sources import CONVERSATION, PLUGIN

_OWN_PART = "gc: "
"""The prefix of gc-core's own parts of the system text; a replayed session sets them itself."""


@attrs.frozen(kw_only=True)
class LogHead:
    """The last content before the conversation."""

    texts: tuple[str, ...]
    schemas: tuple[Any, ...]


def format_of_log(lines: Sequence[object]) -> Format | None:
    """
    Return the format of the session whose log these lines are, as the first one says; None for
    lines of something else.
    """
    first = lines[0] if lines else None
    payload = first.get("payload") if isinstance(first, Mapping) and first.get("source") == SESSION else None
    name = payload.get("format") if isinstance(payload, Mapping) and "session" in payload else None
    try:
        return format_named(name) if isinstance(name, str) else None
    except ConfigError:
        return None  # of a gc-core that knows more formats


def is_said(line: Mapping[str, Any]) -> bool:
    """
    Return whether a line of a log is a message; a rewound one is one too, as in ``ctxgc
    export --whole``.
    """
    return line.get("source") == CONVERSATION.name


def head_of_log(lines: Sequence[Mapping[str, Any]]) -> LogHead:
    """Return system text and schemas; without enrichment, memory blocks and gc-core's own lines."""
    texts: dict[tuple[object, str], str] = {}
    schemas: Sequence[Any] = ()
    for line in lines:
        payload = line.get("payload")
        if not isinstance(payload, Mapping):
            continue
        parts = payload.get(PARTS)
        if not is_said(line) and isinstance(parts, Mapping):
            texts |= {(line.get("source"), name): text for name, text in parts.items() if _is_hosts(name)}
        elif line.get("source") == PLUGIN.name and isinstance(payload.get("schemas"), list):
            schemas = payload["schemas"]
    return LogHead(texts=tuple(filter(None, texts.values())), schemas=tuple(schemas))


def _is_hosts(name: str) -> bool:
    return not name.startswith(_OWN_PART)
