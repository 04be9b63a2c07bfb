"""LangChain's messages in the shape of Chat Completions, one for one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from gc_core.integrations.lanes import matched_blocks

_THINKING = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})
_CALLS = frozenset({"tool_use", "tool_call", "tool_call_chunk", "function_call", "input_json_delta"})
_ARGUMENTS = {"tool_use": "input", "tool_call": "args"}
_KEPT_THINKING = "reasoning_content"


class LangChainMessages:
    """Reads and writes LangChain's messages; see ``MessageCodec``."""

    def payload(self, message: BaseMessage) -> Mapping[str, Any] | None:
        """Return the message as Chat Completions has it; None for types that it does not have, and for empty ones."""
        match message:
            case AIMessage():
                return _reply(message)
            case ToolMessage():
                content = _content(message.content)
                if content is None:
                    return None
                return {"role": "tool", "content": content or "", "tool_call_id": message.tool_call_id}
            case HumanMessage():
                return _of("user", _content(message.content))
            case SystemMessage():
                return _of("system", _content(message.content))
        return None

    def edited(self, message: BaseMessage, payload: Mapping[str, Any]) -> BaseMessage:
        """Return a copy with the content of its payload."""
        if isinstance(message, AIMessage):
            return _edited_reply(message, payload)
        return message.model_copy(update={"content": _edited_content(message.content, payload.get("content"))})

    def written(self, payload: Mapping[str, Any]) -> BaseMessage:
        """Return a message for one of gc-core's own."""
        if payload["role"] == "tool":
            return ToolMessage(payload["content"], tool_call_id=payload["tool_call_id"])
        return HumanMessage(payload["content"])


def _of(role: str, content: object) -> dict[str, Any] | None:
    return {"role": role, "content": content} if content else None


# -- reading -----------------------------------------------------------------------------------------------------------


def _content(content: str | Sequence[Any]) -> str | list[Mapping[str, Any]] | None:
    """The content of a message that is no reply; None where a block is one of another vendor's results."""
    if isinstance(content, str):
        return content
    blocks = [_block(block) for block in content]
    return None if any(block["type"] in {"tool_use", "tool_result"} for block in blocks) else blocks


def _block(block: Any) -> Mapping[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if block.get("type") == "text":
        return {"type": "text", "text": block["text"]}
    if block.get("type") == "image" and block.get("base64"):
        url = f"data:{block.get('mime_type', 'image/png')};base64,{block['base64']}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "unknown", **block}


def _reply(message: AIMessage) -> dict[str, Any] | None:
    blocks = [{"type": "text", "text": message.content}] if isinstance(message.content, str) else message.content
    said = [_block(block) for block in blocks if _type(block) not in _THINKING | _CALLS]
    said = [block for block in said if block.get("text") != ""]
    thinking = "".join(_thoughts(message))
    calls = [_call(call) for call in message.tool_calls]
    if not said and not calls:
        return None
    only_text = len(said) == 1 and said[0]["type"] == "text"
    return {
        "role": "assistant",
        "content": (said[0]["text"] if only_text else said) or None,
        **({_KEPT_THINKING: thinking} if thinking else {}),
        **({"tool_calls": calls} if calls else {}),
    }


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = json.dumps(call["args"], ensure_ascii=False, default=str)
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}


def _thoughts(message: AIMessage) -> Iterator[str]:
    if isinstance(message.additional_kwargs.get(_KEPT_THINKING), str):
        yield message.additional_kwargs[_KEPT_THINKING]
    for block in message.content if isinstance(message.content, list) else ():
        if _type(block) in _THINKING:
            yield json.dumps(block, ensure_ascii=False, default=str)  # its signature counts, and may be all it has


def _type(block: Any) -> str:
    return "text" if isinstance(block, str) else str(block.get("type"))


# -- writing -----------------------------------------------------------------------------------------------------------


def _edited_content(before: str | Sequence[Any], after: Any) -> Any:
    if isinstance(before, str) or isinstance(after, str):
        return after or ""
    return list(matched_blocks([(block, _block(block)) for block in before], after or (), _as_text))


def _as_text(_block: object, payload: Mapping[str, Any]) -> Any:
    return dict(payload)


def _edited_reply(message: AIMessage, payload: Mapping[str, Any]) -> AIMessage:
    """Return a reply with other arguments, without its thinking, or with other texts."""
    told = {call["id"]: json.loads(call["function"]["arguments"]) for call in payload.get("tool_calls", ())}
    calls = [{**call, "args": told[call["id"]]} for call in message.tool_calls if call["id"] in told]
    dropped = {"tool_calls", *(() if _KEPT_THINKING in payload else (_KEPT_THINKING,))}
    return message.model_copy(
        update={
            "content": _edited_blocks(message, payload, told),
            "tool_calls": calls,
            "additional_kwargs": {key: each for key, each in message.additional_kwargs.items() if key not in dropped},
        }
    )


def _edited_blocks(message: AIMessage, payload: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    after = payload.get("content") or ()
    if isinstance(message.content, str):
        return after if isinstance(after, str) else "".join(block.get("text", "") for block in after)
    texts = [{"type": "text", "text": after}] if isinstance(after, str) else after
    said = [(block, _block(block)) for block in message.content if _type(block) not in _THINKING | _CALLS]
    waiting = list(matched_blocks(said, texts, _as_text))
    kept: list[Any] = []
    for block in message.content:
        if _type(block) in _CALLS:
            kept += _edited_call(block, told)
        elif _type(block) in _THINKING:
            kept += [block] if _KEPT_THINKING in payload else []
        elif waiting:
            kept.append(waiting.pop(0))
    return kept


def _edited_call(block: Mapping[str, Any], told: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a call's block with the arguments that it has now; nothing if the call is gone."""
    key = block.get("call_id") or block.get("id")
    if key in told and block["type"] == "function_call":
        yield {**block, "arguments": json.dumps(told[key], ensure_ascii=False)}
    elif key in told:
        yield {**block, _ARGUMENTS.get(block["type"], "args"): told[key]}
