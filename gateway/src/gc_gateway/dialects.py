"""The provider APIs that the gateway speaks: which requests are generations, and where their parts are."""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

Body = Mapping[str, Any]

_ASIDES: Final = ("CRITICAL: Respond with TEXT ONLY.", "Your task is to create a detailed summary", "[SUGGESTION MODE:")
"""How requests of Claude Code begin that are no turns, in its versions of 2026; no header tells them."""


class Action(enum.Enum):
    """What a request asks for."""

    GENERATE = "generate"
    COUNT = "count"
    PASS = "pass"  # noqa: S105 - no password


@attrs.frozen(kw_only=True)
class Content:
    """
    What a generation request holds.

    Attributes:
        model: The model's name.
        messages: The conversation.
        leading: The system messages before it. They may change with each request, so they are no part of it.
        system: System blocks: those that the provider takes apart from the messages, and those of ``leading``.
        tools: Tool schemas.
        reply_tokens: Tokens reserved for the reply; 0 if the request names none.
        is_aside: Its last text is a client's own, which asks for something beside the conversation: a compaction, a
            suggestion.
        has_schema: It asks for an answer in a given schema.
        is_elsewhere: The provider holds the history, or part of it, so it cannot be collected here.

    """

    model: str = ""
    messages: list[Any]
    leading: list[Any] = attrs.field(factory=list)
    system: list[Any] | None = None
    tools: list[Any] | None = None
    reply_tokens: int = 0
    is_aside: bool = False
    has_schema: bool = False
    is_elsewhere: bool = False


@attrs.frozen(kw_only=True)
class Dialect:
    """
    One provider API.

    Attributes:
        format: The session format of its messages.
        upstream: The vendor's own base URL.
        generates: Matches the path of a generation request; a group ``model`` is the model, where the path names it.
        counts: Matches the path of a request that counts tokens.
        is_its_own: True for the headers of this dialect's clients, for paths that several dialects have.
        read: Reads the content of a request body; raises KeyError, TypeError or ValueError for another shape.
        write: Returns the body with other messages and, where they changed, another system text.
        error: Returns the body of an error in the dialect's shape, from status and text.
        count: Returns the answer to a request that counts, from tokens.

    """

    format: str
    upstream: str
    generates: re.Pattern[str]
    counts: re.Pattern[str] | None = None
    read: Callable[[Body, str], Content]
    write: Callable[[Body, Iterable[Any], Iterable[Any] | None], dict[str, Any]]
    error: Callable[[int, str], dict[str, Any]]
    is_its_own: Callable[[Mapping[str, str]], bool] = lambda _headers: False
    count: Callable[[int], dict[str, Any]] = lambda tokens: {"input_tokens": tokens}

    def action(self, path: str) -> tuple[Action, str]:
        """Return what a path asks for, and the model that it names, or ""."""
        found = self.generates.fullmatch(path)
        if found:
            return Action.GENERATE, found.groupdict().get("model") or ""
        found = self.counts.fullmatch(path) if self.counts is not None else None
        return (Action.COUNT, found.groupdict().get("model") or "") if found else (Action.PASS, "")


def _list(body: Body, field: str) -> list[Any]:
    value = body[field]
    if not isinstance(value, list):
        raise TypeError(f"{field} = {type(value).__name__}: expected a list")
    return value


def _number(*values: object) -> int:
    return next((value for value in values if isinstance(value, int) and value > 0), 0)


def _blocks(system: object) -> list[Any] | None:
    if isinstance(system, str):
        return [{"type": "text", "text": system}] if system else None
    return list(system) if isinstance(system, list) and system else None


def _parted(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the system messages at the head of a list, and the rest; none where one is no text, or nothing follows."""
    leading = list(itertools.takewhile(_instructs, messages))
    parts = len(leading) < len(messages) and all(map(_texts_of, leading))
    return (leading, messages[len(leading) :]) if parts else ([], messages)


def _instructs(message: object) -> bool:
    return isinstance(message, Mapping) and message.get("role") in {"system", "developer"}


def _texts_of(message: Body) -> list[Any]:
    """Return the text blocks of a system message; none if there is another block, or an empty one."""
    blocks = _blocks(message.get("content")) or []
    return blocks if all(isinstance(block, Mapping) and _has_text(block) for block in blocks) else []


def _has_text(block: Body) -> bool:
    return isinstance(block.get("text"), str) and bool(block["text"].strip())


def _system_of(leading: list[Any], apart: object = None) -> list[Any] | None:
    """Return the system blocks of a request, whose provider takes some of them apart from the messages."""
    return [*(_blocks(apart) or ()), *itertools.chain.from_iterable(map(_texts_of, leading))] or None


def _asks_aside(messages: list[Any]) -> bool:
    """
    True where the last text of the user is Claude Code's own: its compaction keeps model, system text and tools. Texts
    of hooks may follow it.
    """
    said = (message for message in reversed(messages) if not isinstance(message, Mapping) or not _is_system(message))
    message = next(said, None)
    content = message.get("content") if isinstance(message, Mapping) else None
    last = content[-1] if isinstance(content, list) and content else content
    text = last.get("text") if isinstance(last, Mapping) else last
    return isinstance(text, str) and text.startswith(_ASIDES)


def _is_system(message: Body) -> bool:
    return message.get("role") == "system"


# -- Anthropic Messages ------------------------------------------------------------------------------------------------


def _read_messages(body: Body, _model: str) -> Content:
    output, messages = body.get("output_config"), _list(body, "messages")
    return Content(
        model=str(body.get("model", "")),
        messages=messages,
        system=_blocks(body.get("system")),
        tools=body.get("tools"),
        reply_tokens=_number(body.get("max_tokens")),
        is_aside=_asks_aside(messages),
        has_schema=isinstance(output, Mapping) and "format" in output,
        is_elsewhere=isinstance(body.get("thread"), Mapping) and body["thread"].get("type") == "continue",
    )


def _write_messages(body: Body, messages: Iterable[Any], system: Iterable[Any] | None) -> dict[str, Any]:
    changed = {} if system is None else {"system": list(system)}
    return {**body, "messages": list(messages), **changed}


def _anthropic_error(status: int, text: str) -> dict[str, Any]:
    kinds = {400: "invalid_request_error", 401: "authentication_error", 413: "request_too_large"}
    return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": text}}


ANTHROPIC: Final = Dialect(
    format="anthropic",
    upstream="https://api.anthropic.com",
    generates=re.compile(r"/v1/messages"),
    counts=re.compile(r"/v1/messages/count_tokens"),
    is_its_own=lambda headers: "anthropic-version" in headers or "x-api-key" in headers,
    read=_read_messages,
    write=_write_messages,
    error=_anthropic_error,
)

# -- OpenAI ------------------------------------------------------------------------------------------------------------


def _read_chat(body: Body, _model: str) -> Content:
    leading, messages = _parted(_list(body, "messages"))
    return Content(
        model=str(body.get("model", "")),
        messages=messages,
        leading=leading,
        system=_system_of(leading),
        tools=body.get("tools"),
        reply_tokens=_number(body.get("max_completion_tokens"), body.get("max_tokens")),
    )


def _write_chat(body: Body, messages: Iterable[Any], system: Iterable[Any] | None) -> dict[str, Any]:
    leading, _ = _parted(body["messages"])
    own = [*(system or ())][len(_system_of(leading) or ()) :]
    added = [{"role": "system", "content": own}] if own else []
    return {**body, "messages": [*leading, *added, *messages]}


def _read_responses(body: Body, _model: str) -> Content:
    leading, items = _parted(_items(body))
    last = items[-1] if items else {}
    compacts = isinstance(last, Mapping) and last.get("type") == "compaction_trigger"
    return Content(
        model=str(body.get("model", "")),
        messages=items,
        leading=leading,
        system=_system_of(leading, body.get("instructions")),
        tools=body.get("tools"),
        reply_tokens=_number(body.get("max_output_tokens")),
        is_elsewhere=compacts or bool(body.get("previous_response_id")) or bool(body.get("conversation")),
    )


def _write_responses(body: Body, messages: Iterable[Any], system: Iterable[Any] | None) -> dict[str, Any]:
    leading, _ = _parted(_items(body))
    theirs, blocks = _blocks(body.get("instructions")) or [], [*(system or ())]
    own = blocks[len(theirs) + len(_system_of(leading) or ()) :]
    text = {"instructions": "\n\n".join(block["text"] for block in [*theirs, *own])} if own else {}
    return {**body, "input": [*leading, *messages], **text}


def _items(body: Body) -> list[Any]:
    given = body["input"]
    return [{"role": "user", "content": given}] if isinstance(given, str) else _list(body, "input")


def _openai_error(status: int, text: str) -> dict[str, Any]:
    kind = "invalid_request_error" if status < 500 else "api_error"  # noqa: PLR2004 - the boundary of HTTP
    return {"error": {"message": text, "type": kind, "param": None, "code": None}}


CHAT: Final = Dialect(
    format="openai",
    upstream="https://api.openai.com",
    generates=re.compile(r"(?:/v1)?/chat/completions"),
    read=_read_chat,
    write=_write_chat,
    error=_openai_error,
)
RESPONSES: Final = Dialect(
    format="responses",
    upstream="https://api.openai.com",
    generates=re.compile(r"(?:/v1)?/responses"),
    counts=re.compile(r"(?:/v1)?/responses/input_tokens"),
    is_its_own=lambda headers: "openai-beta" in headers or "thread-id" in headers,
    read=_read_responses,
    write=_write_responses,
    error=_openai_error,
    count=lambda tokens: {"object": "response.input_tokens", "input_tokens": tokens},
)

# -- Gemini ------------------------------------------------------------------------------------------------------------

_MODEL = r"/v1(?:beta|alpha)?/models/(?P<model>[^/:]+)"


def _either(body: Body, *names: str) -> Any:
    return next((body[name] for name in names if name in body), None)


def _read_gemini(body: Body, model: str) -> Content:
    body = body.get("generateContentRequest", body)
    system = _either(body, "systemInstruction", "system_instruction")
    settings = _either(body, "generationConfig", "generation_config") or {}
    return Content(
        model=model,
        messages=_list(body, "contents"),
        system=list(system.get("parts") or ()) if isinstance(system, Mapping) else _blocks(system),
        tools=body.get("tools"),
        reply_tokens=_number(_either(settings, "maxOutputTokens", "max_output_tokens")),
        has_schema=_either(settings, "responseJsonSchema", "responseSchema", "response_schema") is not None,
        is_elsewhere=bool(_either(body, "cachedContent", "cached_content")),
    )


def _write_gemini(body: Body, messages: Iterable[Any], system: Iterable[Any] | None) -> dict[str, Any]:
    if "generateContentRequest" in body:
        return {**body, "generateContentRequest": _write_gemini(body["generateContentRequest"], messages, system)}
    name = "system_instruction" if "system_instruction" in body else "systemInstruction"
    changed = {} if system is None else {name: {**(body.get(name) or {}), "parts": list(system)}}
    return {**body, "contents": list(messages), **changed}


def _gemini_error(status: int, text: str) -> dict[str, Any]:
    kind = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 413: "INVALID_ARGUMENT"}.get(status, "INTERNAL")
    return {"error": {"code": status, "message": text, "status": kind}}


GEMINI: Final = Dialect(
    format="gemini",
    upstream="https://generativelanguage.googleapis.com",
    generates=re.compile(_MODEL + r":(?:streamGenerateContent|generateContent)"),
    counts=re.compile(_MODEL + r":countTokens"),
    is_its_own=lambda headers: "x-goog-api-key" in headers,
    read=_read_gemini,
    write=_write_gemini,
    error=_gemini_error,
    count=lambda tokens: {"totalTokens": tokens},
)

DIALECTS: Final = {each.format: each for each in (ANTHROPIC, CHAT, RESPONSES, GEMINI)}


def dialect_of(path: str, headers: Mapping[str, str]) -> Dialect:
    """Return the dialect of a request: by its path, else by the headers of its client (lower-case names)."""
    for dialect in DIALECTS.values():
        if dialect.action(path)[0] is not Action.PASS:
            return dialect
    own = (dialect for dialect in (GEMINI, ANTHROPIC, RESPONSES) if dialect.is_its_own(headers))
    return next(own, GEMINI if path.startswith("/v1beta") else CHAT)
