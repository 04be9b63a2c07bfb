"""Escapes collected text so that it cannot pose as instructions, a speaker, or the frame around it."""

from __future__ import annotations

import re

from gc_core.values.patterns import regex

_TAGS = (
    *(
        "system",
        "system[-_](?:reminder|prompt|message|instructions?|note)s?",
        "sys(?=>)",
        "user",
        "assistant",
        "human",
        "developer",
        "instructions?",
        "summary",
    ),
    *("tool", "tool_?(?:use|call|result|output|response)s?", "function_?(?:call|result|response)s?", "invoke"),
    *("thinking", "think", "start_of_turn", "end_of_turn", "bos", "eos", "important", "gc"),
)
_BRACKETED = ("inst", "/inst", "system_prompt", "tool_calls", "tool_results", "available_tools", "/available_tools")

# Everything within one line, so that what holds for every line holds for lines put together. Roles count only when
# capitalised or in upper case: "user: root" is a key of many configuration files.
_CONTROL = regex(
    rf"(?P<tag><)(?=[ \t]{{0,9}}/?[ \t]{{0,9}}(?:\w{{1,20}}:)?(?:{'|'.join(_TAGS)})(?![\w.-]))"
    r"|(?P<token><)(?=[|｜][^|｜<>“”`\n]{1,40}[|｜]>)"
    rf"|(?P<bracket>\[)(?=[ \t]{{0,9}}gc[ \t]{{0,9}}:|(?:{'|'.join(_BRACKETED)})\])"
    r"|(?:^|(?<=[\r\x0b\x0c\x85\u2028\u2029]))(?P<blank>[ \t]*)"
    r"(?P<role>(?-i:[Hh]uman|HUMAN|[Aa]ssistant|ASSISTANT|System|SYSTEM|User|USER|Developer|DEVELOPER))"
    r"(?P<colon>[ \t]{0,9}:)",
    re.IGNORECASE | re.MULTILINE,
)


def escaped(text: str) -> str:
    """
    Return the text with everything escaped that could pass for something other than collected text.

    These are ``[gc:``, control tags in any case (``<system>``, ``</summary>``, ``<tool_result>``) and tokens of chat
    templates (``<|im_start|>``, ``[INST]``), whose first bracket is replaced, and a role with a colon at the start of a
    line, which gets parentheses. Everything else stays as it is, including other tags, code and escaped text.
    """
    return _CONTROL.sub(_disarmed, text)


def _disarmed(found: re.Match[str]) -> str:
    if found["role"]:
        return f"{found['blank']}({found['role']}){found['colon']}"
    return "(" if found["bracket"] else "‹"
