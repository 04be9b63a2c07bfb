"""The parts of a Gemini content: which data they contain, and how calls and results are recognised and paired."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXT = "text"
CALL = "functionCall"
RESPONSE = "functionResponse"
INLINE = "inlineData"
FILE = "fileData"

_NAMES = {kind: kind for kind in (TEXT, CALL, RESPONSE, INLINE, FILE)}
_NAMES |= {"function_call": CALL, "function_response": RESPONSE, "inline_data": INLINE, "file_data": FILE}
_SIGNATURES = ("thoughtSignature", "thought_signature")
# Keys that describe the data of a part.
_ASIDE = frozenset(
    {
        *("thought", *_SIGNATURES, "videoMetadata", "video_metadata", "mediaResolution", "media_resolution"),
        *("partMetadata", "part_metadata"),
    }
)
_OTHER = "other"
_BETWEEN = "#"
"""Separates name and id in the key of a call: no function name may contain it."""


def data_of(part: Mapping[str, Any]) -> tuple[str, str]:
    """Return the key of the part's data, and its name in camelCase; "" for no data, "other" for unknown data."""
    keys = [*data_fields(part)]
    known = [key for key in keys if key in _NAMES]
    if len(keys) == 1 and known:
        return known[0], _NAMES[known[0]]
    if not keys:
        return "", ""
    # Unknown fields next to a call, a result or a text do not make it another part.
    spoken = [key for key in known if _NAMES[key] in {CALL, RESPONSE}] or known
    return (spoken[0], _NAMES[spoken[0]]) if spoken else (keys[0], _OTHER)


def data_fields(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a part that contain data, without its signature and descriptions."""
    return {key: value for key, value in part.items() if key not in _ASIDE and value is not None}


def signature_of(part: Mapping[str, Any]) -> str | None:
    """Return the part's signature, or None."""
    return next((str(part[key]) for key in _SIGNATURES if part.get(key)), None)


def unsigned(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part without its signature."""
    return {key: value for key, value in part.items() if key not in _SIGNATURES}


def is_result(part: object) -> bool:
    """Return whether the part holds a functionResponse."""
    return isinstance(part, Mapping) and data_of(part)[1] == RESPONSE


def call_key(called: Mapping[str, Any]) -> str:
    """Return the key that pairs a call with its result: the name, and the id if there is one."""
    name, call_id = str(called.get("name", "")), called.get("id")
    return f"{name}{_BETWEEN}{call_id}" if isinstance(call_id, str) and call_id else name


def name_and_id(key: str) -> dict[str, str]:
    """Return the fields of a result that answers the call with this key."""
    name, _, call_id = key.partition(_BETWEEN)
    return {"id": call_id, "name": name} if call_id else {"name": name}


def args_of(call: Mapping[str, Any]) -> Any:
    """Return the arguments of a call; none given means no arguments."""
    args = call.get("args")
    return {} if args is None else args
