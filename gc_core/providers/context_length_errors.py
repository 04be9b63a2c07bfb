"""Recognises the refusal of a request that was too long, by its known phrases."""

from __future__ import annotations

import re

_COUNT = r"(?P<{0}>\d[\d,]*)"
_SENT = _COUNT.format("sent")
_INPUT = _COUNT.format("input")
"""The input alone, where the refusal names the reply beside it; ``sent`` is the sum then."""
_ALLOWED = _COUNT.format("allowed")
_REPLY = _COUNT.format("reply")
_IN_REPLY = rf"(?: \([^)]{{0,60}}?{_REPLY} in the (?:completion|output)\))?"

# Only these phrases identify a refusal of this kind. Rate limits mention tokens too, and must not match; nor must
# Anthropic's request_too_large, a limit of bytes: a large image would be taken for a small window.
_PHRASES = re.compile(
    r"context_length_exceeded|exceed_context_size_error"
    r"|maximum context length|maximum prompt length"
    r"|input tokens exceed the configured limit|exceeds? the (?:available )?context (?:window|size|length)"
    r"|(?:prompt|input) is too long|exceed context limit"
    r"|input token count .{0,40}exceeds the maximum|input token count is \d+ but (?:the )?model"
    r"|greater than the context length|loaded with (?:a )?context length of only"
    r"|`inputs` (?:tokens \+ `max_new_tokens` must be|must have less than)",
    re.IGNORECASE,
)
_COUNTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # Anthropic
        rf"prompt is too long: {_SENT} tokens > {_ALLOWED} maximum",
        rf"exceed context limit: {_INPUT} \+ {_REPLY} > {_ALLOWED}",
        # OpenAI today, and before chat models excluded the reply from the sum (vLLM and OpenRouter still use it)
        rf"maximum context length is {_ALLOWED} tokens.{{0,40}}resulted in {_SENT} tokens",
        rf"configured limit of {_ALLOWED} tokens.{{0,40}}resulted in {_SENT} tokens",
        rf"maximum context length is {_ALLOWED} tokens.{{0,40}}requested (?:about )?{_SENT} tokens{_IN_REPLY}",
        # xAI, llama.cpp, vLLM
        rf"maximum prompt length is {_ALLOWED} but the request contains {_SENT} tokens",
        rf"request \({_SENT} tokens\) exceeds the available context size \({_ALLOWED} tokens\)",
        rf"maximum context length is {_ALLOWED} tokens.{{0,40}}(?:contains(?: at least)?|has) {_SENT} input tokens",
        # LM Studio, Text Generation Inference
        rf"keep the first {_SENT} tokens .{{0,80}}context length of only {_ALLOWED} tokens",
        rf"must be (?:<|\\u003c)= {_ALLOWED}\. Given: {_INPUT} `inputs` tokens(?: and {_REPLY} `max_new_tokens`)?",
        rf"`inputs` must have less than {_ALLOWED} tokens\. Given: {_SENT}",
        # Gemini, and Vertex AI
        rf"input token count \({_SENT}\) exceeds the maximum number of tokens allowed \(?{_ALLOWED}",
        rf"input token count is {_SENT} but (?:the )?model (?:only )?supports (?:only )?up to {_ALLOWED}",
        # one number only
        rf"exceeds the maximum number of tokens allowed \(?{_ALLOWED}",
        rf"maximum (?:context|prompt) length is {_ALLOWED}",
        rf"configured limit of {_ALLOWED} tokens",
        rf"resulted in {_SENT} tokens",
    )
)


def refused_size(error: BaseException) -> tuple[int | None, int | None] | None:
    """
    Return the input tokens sent and allowed that a context-length refusal names, each None if it is not named.

    If the refusal includes the reply, its share is subtracted from both, so that both count the input. None when the
    error is not such a refusal.
    """
    said = f"{error} {getattr(error, 'code', '')} {getattr(error, 'body', '')}"
    if not _PHRASES.search(said):
        return None
    found = next((match for pattern in _COUNTS if (match := pattern.search(said))), None)
    return (None, None) if found is None else _sizes(found)


def _sizes(found: re.Match[str]) -> tuple[int | None, int | None]:
    counts = {key: int(value.replace(",", "")) for key, value in found.groupdict().items() if value}
    sent, allowed, reply = counts.get("sent"), counts.get("allowed"), counts.get("reply", 0)
    alone = counts.get("input", None if sent is None else sent - reply)
    return alone, None if allowed is None else max(allowed - reply, 0)
