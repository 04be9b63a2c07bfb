"""Finds the end of an excerpt of a long text."""

from __future__ import annotations

from gc_core.providers.contract import TokenCounter


def excerpt_end(text: str, start: int, tokens: int, counter: TokenCounter) -> int:
    """
    Return the end of an excerpt from ``start`` with at most this many tokens: at the end of a line if there is one
    nearby.
    """
    chars = min(len(text) - start, 8 * tokens)
    while chars > 1 and (counted := counter.count(text[start : start + chars])) > tokens:
        chars = max(1, int(chars * min(0.95, tokens / counted)))
    end = start + chars
    if end == len(text):
        return end
    line = text.rfind("\n", start + chars // 2, end)
    return end if line < 0 else line + 1
