"""
A provider's rules, as checks of a rendered request and of the change that a collection makes.

The rules are numbered as in the reference of provider rules: A for all formats, C for OpenAI Chat Completions, N for
Anthropic Messages. Calls and results pair by position, because real sessions repeat ids. Every check is O(window).
"""

from __future__ import annotations

from gc_core.providers.rules.edits import check_collection, check_repeat
from gc_core.providers.rules.framed_text import FRAMES, check_framed
from gc_core.providers.rules.requests import check_request
from gc_core.providers.rules.violations import Violation

__all__ = [
    "FRAMES",
    "Violation",
    "check_collection",
    "check_framed",
    "check_repeat",
    "check_request",
]
