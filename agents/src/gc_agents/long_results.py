"""Shortens a long tool result on arrival, in the tool's own shape: head, tail, and the lines that say how it went."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gc_agents.places import LONGEST
from gc_core.relevance.outcome_lines import outcome_lines

SHORTENED: Final = 6_000
"""About how many characters stay of a longer one."""

_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "Bash": ("stdout", "stderr"),
    "BashOutput": ("stdout", "stderr"),
    "Grep": ("content",),
    "WebFetch": ("result",),
}
"""
The texts of a tool's result, by tool. What an agent reads in order to edit it is not among them: a file stays whole.
"""

_OWN: Final = ("gc_recall", "gc_search", "gc_status")
_MCP: Final = "mcp__"
_SEARCHED: Final = 1_000_000
_HEAD, _TOLD = 0.2, 0.5
_LETTERS: Final = 4
_GAP: Final = "[...]"


def shortened_response(tool: str, response: Any, call: str) -> Any:
    """Return a result of the same shape with short texts; None where it has no text that may be shortened."""
    changed = False

    def short(text: str) -> str:
        nonlocal changed
        if len(text) <= LONGEST:
            return text
        changed = True
        return shortened(text, tool, call)

    found = _mapped(tool, response, short)
    return found if changed else None


def original_of(tool: str, response: Any) -> str:
    """Return the texts of a result, as they came."""
    texts: list[str] = []

    def note(text: str) -> str:
        texts.append(text)
        return text

    _mapped(tool, response, note)
    return "\n".join(filter(None, texts))


def shortened(text: str, tool: str, call: str) -> str:
    """Return the head, the lines on failures and outcomes, the tail, and a line that names the original."""
    head = _line_end(text, int(_HEAD * SHORTENED))
    tail = _line_begin(text, len(text) - int((1 - _HEAD - _TOLD) * SHORTENED))
    kept, room = [(0, head), (tail, len(text))], int(_TOLD * SHORTENED)
    for start, end in _told(text):
        if head <= start and end <= tail and end - start <= room:
            kept.append((start, end))
            room -= end - start
    lines, last = list[str](), 0
    for start, end in sorted(kept):
        lines += [_GAP] if start > last else []
        lines.append(text[start:end].rstrip("\n"))
        last = end
    left_out = (len(text) - sum(end - start for start, end in kept)) // _LETTERS
    reference = f"[gc: about {left_out:,} tokens left out: {tool}; all of it: {reference_line(call)}]"
    return "\n".join([*lines, reference])


def reference_line(call: str) -> str:
    """Return how the original of a call's result is recalled."""
    return f'gc_recall reference="{call}"'


def _told(text: str) -> list[tuple[int, int]]:
    """Return the places of lines on failures, then on outcomes; of a very long text in its head and its tail."""
    if len(text) <= 2 * _SEARCHED:
        return [(told.start, told.end) for told in outcome_lines(text)]
    behind = len(text) - _SEARCHED
    found = [(told.start, told.end) for told in outcome_lines(text[:_SEARCHED])]
    return [*((told.start + behind, told.end + behind) for told in outcome_lines(text[behind:])), *found]


def _line_end(text: str, at: int) -> int:
    end = text.rfind("\n", at // 2, at)
    return at if end < 0 else end + 1


def _line_begin(text: str, at: int) -> int:
    begin = text.find("\n", at, at + (len(text) - at) // 2)
    return at if begin < 0 else begin + 1


def _mapped(tool: str, response: Any, change: Callable[[str], str]) -> Any:
    """Return a result with its texts changed. Whatever has another shape than the tool's stays as it is."""
    if tool.startswith(_MCP) and not tool.endswith(_OWN):
        return _mapped_blocks(response, change)
    if not isinstance(response, Mapping) or response.get("isImage") or "persistedOutputPath" in response:
        return response  # of one that is too long, Claude Code itself keeps a file, and shows a preview
    texts = {name: change(response[name]) for name in _FIELDS.get(tool, ()) if isinstance(response.get(name), str)}
    return {**response, **texts}


def _mapped_blocks(response: Any, change: Callable[[str], str]) -> Any:
    """Return the result of an MCP tool with its texts changed: a text, or a list of blocks."""
    if isinstance(response, str):
        return change(response)
    if not isinstance(response, list):
        return response
    return [
        {**block, "text": change(block["text"])}
        if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str)
        else block
        for block in response
    ]
