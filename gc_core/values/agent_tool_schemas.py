"""The tools that a model may have: their schemas, and the check of their arguments."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from typing import Any, Final

import attrs

from gc_core.errors import MessageError
from gc_core.values.json_values import read_json

_MOST_HITS = 20
_TYPES: Final = {"string": str, "integer": int, "boolean": bool}

_Schema = Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Tool:
    """A tool as the model sees it; ``{n}`` in its description is the limit that the host chose."""

    name: str
    description: str
    properties: Mapping[str, _Schema] = attrs.field(factory=dict)
    required: tuple[str, ...] = ()

    @property
    def parameters(self) -> _Schema:
        """Its parameters as a JSON schema."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


TOOLS: Final = (
    Tool(
        name="recall",
        description="Get the original text of what was left out of the context.",
        properties={
            "reference": {"type": "string", "description": "i42, i5-i9 or a whole [gc: ...] line"},
            "offset": {"type": "integer", "minimum": 0, "description": "characters to skip"},
        },
        required=("reference",),
    ),
    Tool(
        name="search_history",
        description="Search all that was ever said or returned here, with ids to recall.",
        properties={
            "query": {"type": "string"},
            "tool": {"type": "string", "description": "this tool alone"},
            "role": {"type": "string", "enum": ["user", "assistant", "tool"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": _MOST_HITS},
        },
        required=("query",),
    ),
    Tool(name="context_status", description="How full the context is, by what, and what was left out."),
    Tool(
        name="collect",
        description="Free context: old content is left out, and can be recalled. At most {n} a turn.",
        properties={"focus": {"type": "string", "description": "paths and symbols you go on with"}},
        required=("focus",),
    ),
    Tool(
        name="pin",
        description="Keep an item (i42) in the context, or release it (pinned=false).",
        properties={"item": {"type": "string"}, "pinned": {"type": "boolean"}},
        required=("item",),
    ),
    Tool(
        name="note",
        description="Keep goals and decisions in sight for good; at most {n} tokens in all.",
        properties={"text": {"type": "string"}, "mode": {"type": "string", "enum": ["append", "replace"]}},
        required=("text", "mode"),
    ),
)

TOOL_NAMES: Final = frozenset(tool.name for tool in TOOLS)
"""
The names of all of these tools. Their results repeat what the log holds: they are EPHEMERAL by default, and strategies
that summarise leave them out.
"""

MCP_NAMES: Final = frozenset({"gc_recall", "gc_search", "gc_status", "gc_pin", "gc_unpin", "gc_undo", "gc_note"})
"""The names of the MCP server's tools; clients put the server's name before them (``mcp__gc__gc_recall``)."""


def is_agent_tool(name: str) -> bool:
    """Return whether a tool is one of these, under whatever prefix an MCP client gives it: its results are copies."""
    return name in TOOL_NAMES or any(name.endswith(own) and _is_prefix(name[: -len(own)]) for own in MCP_NAMES)


def _is_prefix(text: str) -> bool:
    return not text or text.endswith(("_", ".", "/", "-"))


def checked(arguments: Mapping[str, Any] | str | None, tool: Tool) -> dict[str, Any]:
    """
    Return the arguments of a call, given as an object, its JSON text, or nothing; null counts as absent.

    Raises MessageError, naming what was expected, unless they fit the schema.
    """
    given = _given(arguments)
    _check(given, tool)
    return given


def _given(arguments: Mapping[str, Any] | str | None) -> dict[str, Any]:
    """Return the arguments without nulls. Raises MessageError if they are not an object."""
    given: Any = arguments or {}
    if isinstance(given, str):
        try:
            given = read_json(given)
        except ValueError as error:
            raise MessageError(f"arguments are not JSON: {error}") from error
    if not isinstance(given, Mapping):
        raise MessageError(f"arguments = {reprlib.repr(given)}: expected an object")
    return {name: value for name, value in given.items() if value is not None}


def _check(given: Mapping[str, Any], tool: Tool) -> None:
    for name in tool.required:
        if name not in given:
            raise MessageError(f"{name} is missing; arguments are {[*tool.properties]}")
    for name, value in given.items():
        if name not in tool.properties:
            raise MessageError(f"no argument {reprlib.repr(name)}; there are {[*tool.properties]}")
        if not _fits(value, tool.properties[name]):
            expected = {key: value for key, value in tool.properties[name].items() if key != "description"}
            raise MessageError(f"{name} = {reprlib.repr(value)}: expected {json.dumps(expected)}")


def _fits(value: Any, schema: _Schema) -> bool:
    if type(value) is not _TYPES[schema["type"]] or value not in schema.get("enum", [value]):
        return False
    return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
