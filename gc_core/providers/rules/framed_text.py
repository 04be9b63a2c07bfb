"""The rules for texts that the framework writes: summaries, traces, framed context (A6, A9)."""

from __future__ import annotations

from collections.abc import Iterator

from gc_core.providers.rules.blocks import blocks_of
from gc_core.providers.rules.violations import Rendered, Violation
from gc_core.values.messages import Payload

FRAMES = (("<summary", "</summary>"), ("<context", "</context>"))
"""The opening and closing lines of the framework's texts."""

_NOT_IN_A_NOTE = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})


def check_framed(text: str, closing: str) -> tuple[Violation, ...]:
    """
    A9: a framed text closes its frame once, at its very end.

    Its content is untrusted: a closing tag inside would let the rest pass for an instruction.
    """
    found = text.count(closing)
    if found == 1 and text.rstrip().endswith(closing):
        return ()
    return (Violation(rule="A9", index=-1, text=f"{closing!r} occurs {found} times; expected once, at the end"),)


def a6(rendered: Rendered) -> Iterator[Violation]:
    """A6: a message that the framework wrote is text: no calls, no results, no reasoning."""
    for index, message in _own(rendered):
        inside = {block.get("type") for block in blocks_of(message)} & _NOT_IN_A_NOTE
        if inside or "tool_calls" in message or "reasoning_content" in message:
            yield Violation(rule="A6", index=index, text="a summary or trace with calls, results or reasoning in it")


def a9(rendered: Rendered) -> Iterator[Violation]:
    """A9: in a framed message all text is inside a frame, so that no quotation can pass for an instruction."""
    for index, message in _own(rendered):
        text = opening_of(message)
        for opening, closing in FRAMES:
            if text.startswith(opening) and not _is_closed_once(text, opening, closing):
                yield Violation(rule="A9", index=index, text=f"{closing!r} inside the frame; escape what is quoted")


def _own(rendered: Rendered) -> Iterator[tuple[int, Payload]]:
    """Return the messages that the framework wrote: by the session's record, since anyone can write similar ones."""
    request = rendered.request
    return ((index, message) for index, message in rendered.by("user") if request.is_own(message))


def _is_closed_once(text: str, opening: str, closing: str) -> bool:
    """Return whether the frames are closed; several whole frames in a row are fine."""
    *frames, rest = text.split(closing)
    return bool(frames) and not rest.strip() and all(frame.lstrip().startswith(opening) for frame in frames)


def opening_of(message: Payload) -> str:
    """Return the opening of a message's frame, or ""."""
    content = message.get("content")
    if isinstance(content, list) and content and content[0].get("type") == "text":
        content = content[0].get("text")
    return content if isinstance(content, str) else ""
