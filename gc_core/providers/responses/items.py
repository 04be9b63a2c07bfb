"""Reads and edits the items of OpenAI's Responses."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gc_core.errors import MessageError
from gc_core.providers import fields
from gc_core.providers.content_text import (
    EACH,
    Binary,
    Readable,
    json_text,
    readable_block,
    readable_result,
    sendable_result,
)
from gc_core.providers.images import image_of
from gc_core.providers.responses.item_types import (
    APPROVAL,
    APPROVAL_REQUEST,
    COMPACTION,
    CUSTOM,
    FOUND,
    FUNCTION,
    INSTRUCTIONS,
    MESSAGE,
    REASONING,
    SEARCH,
    TEXTS,
    TRIGGER,
    call_key,
    is_call,
    is_result,
    result_key,
)
from gc_core.values.items import ItemKind, Part, Place
from gc_core.values.messages import Payload, Role

ITEM: Final = "item"
"""The last step of the place of a part that is a whole item."""

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM}
_TEXT_KINDS = {
    Role.SYSTEM: ItemKind.SYSTEM_TEXT,
    Role.USER: ItemKind.USER_TEXT,
    Role.ASSISTANT: ItemKind.ASSISTANT_TEXT,
}
_TEXT_OUTPUTS = frozenset({f"{FUNCTION}_output", f"{CUSTOM}_output"})
_ATTACHMENTS = frozenset({"input_image", "input_file", "input_audio"})

_SKILLS = Binary(("tools", EACH, "environment", "skills", EACH, "source", "data"), within="base64")
_BINARIES = {
    "input_file": (Binary(("file_data",)),),
    "input_audio": (Binary(("input_audio", "data")),),
    "code_interpreter_call": (Binary(("outputs", EACH)),),
    "additional_tools": (_SKILLS,),
    "tool_search_output": (_SKILLS,),
}

# The keys of the arguments of other calls, and the other keys of such an item.
_ARGUMENTS = ("action", "actions", "operation", "arguments")
_FRAME = frozenset({"type", "id", "call_id", "status", "caller", "created_by"})
_KEY = re.compile(rf"({APPROVAL_REQUEST}|[a-z_]+_call) (.+)", re.DOTALL)

# A pixel: a screenshot cannot be text.
_BLANK = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)


def kind_of(item: Payload, field: str = "item") -> str:
    """Return the type of an item; a message may omit it. Raises FieldError for anything but an item."""
    item = fields.mapping(item, field)
    if "type" in item:
        return fields.name(item, "type", field)
    if "role" in item:
        return MESSAGE
    expected = "the type of an item, or the role of a message"
    raise fields.FieldError(fields.below(field, "type"), fields.MISSING, expected)


def role_of(item: Payload, field: str = "item") -> Role:
    """Return who speaks in an item: a message's role, a tool for results, otherwise the model."""
    kind = kind_of(item, field)
    if kind == MESSAGE:
        return fields.role(item, _ROLES, {}, field)
    if kind in INSTRUCTIONS:
        return Role.SYSTEM
    if kind == TRIGGER:
        return Role.USER
    return Role.TOOL if is_result(item) else Role.ASSISTANT


def parts_of(
    item: Payload, prefix: Place, *, settled: frozenset[str] = frozenset(), field: str = "item"
) -> Iterator[Part]:
    """
    Yield the parts of an item; only messages have several, or none.

    ``settled`` are the keys of calls with results in the same reply: the provider ran them, and they do not wait.
    Raises MessageError naming the field and what was expected.
    """
    kind, role = kind_of(item, field), role_of(item, field)
    place = (*prefix, ITEM)
    if kind == MESSAGE:
        yield from _message_parts(item, prefix, role, field)
    elif kind == REASONING:
        yield _reasoning(item, place, field)
    elif kind in COMPACTION:
        yield _compaction(item, place)
    elif role is Role.TOOL and result_key(item) not in settled:
        yield _result(item, kind, place, field)
    elif is_call(item) and call_key(item) not in settled:
        yield _call(item, kind, place, field)
    else:
        yield _opaque(item, place)


def settled_in(items: Sequence[Payload]) -> frozenset[str]:
    """Return the keys of the results among the items of one reply: these the provider made itself."""
    return frozenset(result_key(item) for item in items if is_result(item))


# -- messages ----------------------------------------------------------------------------------------------------------


def _message_parts(item: Payload, prefix: Place, role: Role, field: str) -> Iterator[Part]:
    content, place = item.get("content", fields.MISSING), (*prefix, "content")
    if isinstance(content, str):
        if content:
            yield Part(kind=_TEXT_KINDS[role], place=place, text=content)
    elif isinstance(content, list | tuple):
        for at, block in fields.blocks(content, fields.below(field, "content")):
            yield _block(block, (*place, at), role, f"{fields.below(field, 'content')}[{at}]")
    else:
        raise fields.FieldError(fields.below(field, "content"), content, "a string or a list of content parts")


def _block(block: Mapping[str, Any], place: Place, role: Role, field: str) -> Part:
    if block["type"] in TEXTS:
        return Part(kind=_TEXT_KINDS[role], place=place, text=fields.text(block, "text", field))
    attached = role is Role.USER and block["type"] in _ATTACHMENTS
    return readable_block(block, _BINARIES).part(ItemKind.ATTACHMENT if attached else ItemKind.OPAQUE, place)


def message_of(text: str) -> dict[str, Any]:
    """Return a text of the model, as an item without an id."""
    block = {"type": "output_text", "text": text, "annotations": list[Any]()}
    return {"type": "message", "role": "assistant", "content": [block]}


def says_nothing(item: Payload) -> bool:
    """Return whether it is a message without content parts."""
    return kind_of(item) == MESSAGE and item.get("content") in ("", [], ())


# -- items of the model ----------------------------------------------------------------------------------------------


def _reasoning(item: Payload, place: Place, field: str) -> Part:
    texts = [
        fields.text(block, "text", f"{field}.{key}[{at}]")
        for key in ("summary", "content")
        for at, block in fields.blocks(item.get(key) or (), f"{field}.{key}")
    ]
    sealed = fields.sealed_length(item, "encrypted_content")
    return Part(kind=ItemKind.THINKING, place=place, text="\n".join(texts), sealed_bytes=sealed)


def _compaction(item: Payload, place: Place) -> Part:
    sealed = fields.sealed_length(item, "encrypted_content")
    return Part(kind=ItemKind.OPAQUE, place=place, sealed_bytes=sealed, sealed_text=True)


def _opaque(item: Payload, place: Place) -> Part:
    """
    Return an opaque part, without the item's id, which the model does not read and which may be
    removed (rule R3).
    """
    bare = {key: value for key, value in item.items() if key != "id"}
    made = bare.get("result")
    if item.get("type") != "image_generation_call" or not isinstance(made, str):
        return readable_block(bare, _BINARIES).part(ItemKind.OPAQUE, place)
    image = image_of({"image_url": f"data:image/png;base64,{made}"})
    return Readable(text=json_text({**bare, "result": ""}), images=(image,)).part(ItemKind.OPAQUE, place)


def _call(item: Payload, kind: str, place: Place, field: str) -> Part:
    fields.name(item, "id" if kind == APPROVAL_REQUEST else "call_id", field)
    plain = kind in {FUNCTION, CUSTOM, APPROVAL_REQUEST}
    return Part(
        kind=ItemKind.TOOL_CALL,
        place=place,
        text=arguments_of(item, kind),
        name=fields.name(item, "name", field) if plain else kind.removesuffix("_call"),
        call_id=call_key(item),
        free_text=kind == CUSTOM,
        fixed=not plain,
    )


def arguments_of(item: Payload, kind: str) -> str:
    """Return the arguments of a call as one text; none given means no arguments."""
    if kind in {FUNCTION, APPROVAL_REQUEST, CUSTOM}:
        given = item.get("input" if kind == CUSTOM else "arguments")
        return given if isinstance(given, str) else json_text({} if given is None else given)
    arguments = {key: item[key] for key in _ARGUMENTS if key in item}
    others = {key: value for key, value in item.items() if key not in _FRAME and key not in arguments and value}
    return json_text({**arguments, **others})


def _with_arguments(item: Payload, kind: str, text: str) -> dict[str, Any]:
    return {**item, "input" if kind == CUSTOM else "arguments": text}


def normalised(item: Payload) -> Payload:
    """
    Return the item itself, or a copy: arguments given as an object become the required JSON string, outputs of
    functions and custom tools have no empty texts, and a missing one is empty.
    """
    kind = item.get("type")
    if kind in _TEXT_OUTPUTS:
        output = sendable_result(item.get("output"), TEXTS)
        return item if output is item.get("output") else {**item, "output": output}
    if kind not in {FUNCTION, APPROVAL_REQUEST} or isinstance(item.get("arguments"), str):
        return item
    return {**item, "arguments": arguments_of(item, str(kind))}


# -- results ------------------------------------------------------------------------------------------------------


def _result(item: Payload, kind: str, place: Place, field: str) -> Part:
    named = "approval_request_id" if kind == APPROVAL else "call_id"
    if not (kind == "local_shell_call_output" and "call_id" not in item):
        fields.name(item, named, field)
    call_id, output = result_key(item), item.get("output", fields.MISSING)
    if kind == APPROVAL:
        return Part(kind=ItemKind.TOOL_RESULT, place=place, text=str(item.get("reason") or ""), call_id=call_id)
    if kind == "shell_call_output" and isinstance(output, list | tuple):
        return Part(kind=ItemKind.TOOL_RESULT, place=place, text=_shell_text(output), call_id=call_id)
    failed = kind == "apply_patch_call_output"
    if output is None or output is fields.MISSING or isinstance(output, Mapping) or kind == FOUND:
        if kind in _TEXT_OUTPUTS:
            raise fields.FieldError(fields.below(field, "output"), output, "a string or a list of content parts")
        if not failed:
            return _sealed(item, output, place, call_id)
        output = ""
    read = readable_result(_plain_blocks(output), fields.below(field, "output"), _BINARIES)
    is_error = failed and item.get("status") == "failed"
    return read.part(ItemKind.TOOL_RESULT, place, call_id=call_id, is_error=is_error)


def _sealed(item: Payload, output: object, place: Place, call_id: str) -> Part:
    """Return a result that text cannot replace: a screenshot, or tools that were found."""
    if isinstance(output, Mapping) and output.get("type") == "computer_screenshot":
        checks = item.get("acknowledged_safety_checks")
        read = Readable(text=json_text(checks) if checks else "", images=(image_of(output),))
    else:
        read = readable_block(item, _BINARIES)
    return read.part(ItemKind.TOOL_RESULT, place, call_id=call_id, fixed=True)


def _plain_blocks(output: object) -> object:
    if not isinstance(output, list | tuple):
        return output
    return [_plain_block(block) for block in output]


def _plain_block(block: Any) -> Any:
    is_text = isinstance(block, Mapping) and block.get("type") in TEXTS
    return {"type": "text", "text": block.get("text")} if is_text else block


def _shell_text(chunks: Sequence[Any]) -> str:
    said = [chunk.get(key) for chunk in chunks if isinstance(chunk, Mapping) for key in ("stdout", "stderr")]
    return "\n".join(text for text in said if isinstance(text, str) and text)


def _with_output(item: Payload, kind: str, text: str) -> dict[str, Any]:
    if kind == APPROVAL:
        return {**item, "reason": text}
    if kind == "shell_call_output" and isinstance(item.get("output"), list):
        outcomes = [chunk["outcome"] for chunk in item["output"] if isinstance(chunk, Mapping) and "outcome" in chunk]
        return {**item, "output": [_shell_chunk(text, *outcomes[-1:])]}
    return {**item, "output": text}


def _shell_chunk(text: str, outcome: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"stdout": text, "stderr": "", "outcome": outcome or {"type": "exit", "exit_code": 1}}


def answer_to(key: str, text: str) -> dict[str, Any]:
    """
    Return a result with this text for the call with a key; the outputs of screenshots and tool searches cannot contain
    it.
    """
    found = _KEY.fullmatch(key)
    kind, call_id = found.groups() if found else (FUNCTION, key)
    shown = {"type": "computer_screenshot", "image_url": _BLANK}
    answers: dict[str, dict[str, Any]] = {
        APPROVAL_REQUEST: {"type": APPROVAL, "approval_request_id": call_id, "approve": False, "reason": text},
        "local_shell_call": {"type": "local_shell_call_output", "id": call_id, "output": text},
        "shell_call": {"type": "shell_call_output", "call_id": call_id, "output": [_shell_chunk(text)]},
        "apply_patch_call": {"type": "apply_patch_call_output", "call_id": call_id, "status": "failed", "output": text},
        "computer_call": {"type": "computer_call_output", "call_id": call_id, "output": shown},
        SEARCH: {"type": FOUND, "call_id": call_id, "execution": "client", "tools": []},
    }
    return answers.get(kind) or {"type": f"{kind}_output", "call_id": call_id, "output": text}


# -- edits -------------------------------------------------------------------------------------------------------------


def edited(item: Payload, prefix: Place, texts: Mapping[Place, str | None], part: Part | None) -> Payload | None:
    """
    Return a copy with the texts at these places, or None when nothing is left; ``part`` is the only part of an item
    that is not a message. An item that cannot contain text becomes a message of the model. Raises MessageError for a
    fixed part.
    """
    if part is None or part.place[-1:] != (ITEM,):
        return _edited_message(item, (*prefix, "content"), texts)
    text = texts.get(part.place, fields.MISSING)
    if text is fields.MISSING:
        return item
    if text is None:
        return None
    if part.fixed:
        raise MessageError(f"a {item.get('type')} cannot contain text")
    kind = kind_of(item)
    if part.kind is ItemKind.TOOL_CALL:
        return _with_arguments(item, kind, str(text))
    return _with_output(item, kind, str(text)) if part.kind is ItemKind.TOOL_RESULT else message_of(str(text))


def _edited_message(item: Payload, place: Place, texts: Mapping[Place, str | None]) -> Payload | None:
    if place in texts:
        text = texts[place]
        return None if text is None else {**item, "content": text}
    if not any(each[: len(place)] == place for each in texts):
        return item
    rewrite = functools.partial(_rewritten_block, role_of(item))
    blocks = (fields.edited(block, texts, (*place, at), rewrite) for at, block in enumerate(item["content"]))
    kept = [block for block in blocks if block is not None]
    return {**item, "content": kept} if kept else None


def _rewritten_block(role: Role, block: Payload, text: str) -> Payload:
    if block["type"] in TEXTS:
        return {**block, "text": text}
    if role is Role.ASSISTANT:
        return {"type": "output_text", "text": text, "annotations": []}
    marks = {key: block[key] for key in ("prompt_cache_breakpoint",) if key in block}
    return {"type": "input_text", "text": text, **marks}
