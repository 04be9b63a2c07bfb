"""Which requests of the vendors' clients are requests for a reply, and in which API."""

from __future__ import annotations

import re
from typing import Final

from gc_core.integrations.lanes import Turn, turn_in

_PATHS: Final = {
    "anthropic": re.compile(r".*/messages"),
    "openai": re.compile(r".*/chat/completions"),
    "responses": re.compile(r".*/responses"),
    "gemini": re.compile(r".*/models/(?P<model>[^/:]+):(?:stream)?[gG]enerateContent"),
}


def turn_of(path: str, body: object) -> Turn | None:
    """Return the turn in a request; None for another request, another shape, or a history that the provider keeps."""
    for name, pattern in _PATHS.items():
        found = pattern.fullmatch(path)
        if found is not None:
            return turn_in(name, body, found.groupdict().get("model") or "")
    return None
