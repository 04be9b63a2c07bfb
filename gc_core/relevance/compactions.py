"""Recognises summaries that an agent's own compaction put into a list as user messages."""

from __future__ import annotations

import re

from gc_core.values.patterns import regex

_OPENINGS = regex(
    r"\s*(?:<(?:system-reminder|analysis|context|message)>\s*)*(?:"
    r"This (?:session|conversation) is being continued from a previous (?:conversation|session)"
    r"|Another language model started (?:to solve|working on) this problem"
    r"|<(?:state_snapshot|compressed_history|conversation_summary|context_summary|session_summary)\b"
    r"|I spoke to you previously about a number of things"
    r"|Here(?: is|'s) (?:a|the) summary of (?:the|our) (?:previous |earlier )?conversation (?:to date|so far)"
    r"|(?:The|A) (?:previous|earlier) (?:part of the )?conversation (?:has been|was) (?:compacted|summarized|condensed)"
    r"|\[?(?:Conversation|Context|Session) (?:summary|history)(?: so far)?(?: \(compacted\))?\]?:\s"
    r"|Summary of (?:the )?(?:previous|earlier) (?:conversation|session|messages|turns)"
    r")",
    re.IGNORECASE,
)


def is_compaction(text: str) -> bool:
    """
    Return whether a message is the summary with which an agent continues after compacting its history: Claude Code,
    Codex, Gemini CLI, aider, LangChain and others begin theirs with fixed words, at the very start of the message.
    """
    return _OPENINGS.match(text[:600]) is not None
