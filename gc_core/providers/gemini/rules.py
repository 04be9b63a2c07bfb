"""
The rules of Gemini's contents (A1, A2, A4, G1-G5).

What a collection may do, and what the framework writes, is checked by the rules for all formats, on the contents as
messages of blocks: see ``as_messages``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gc_core.providers.gemini.parts import CALL, RESPONSE, TEXT, args_of, call_key, data_of, signature_of
from gc_core.providers.rules.framed_text import a6, a9
from gc_core.providers.rules.violations import Rendered, Rule, Violation
from gc_core.values.messages import Payload, Request

_ROLES = {"user": "user", "model": "assistant"}


def _pairs(rendered: Rendered) -> Iterator[Violation]:
    """A1, A2, G1, G2: a call follows the user, and the next content has all its results, and nothing else."""
    waiting: list[Payload] = []
    caller = -1
    last = len(rendered.messages) - 1
    for index, content in enumerate(rendered.messages):
        answers = _data(content, RESPONSE)
        yield from _answered(index, content, answers, waiting)
        if waiting and not (rendered.pending and index == last and answers):
            yield from _unanswered(caller, waiting, answers)
        waiting = _data(content, CALL)
        if waiting:
            caller = index
            before = rendered.messages[index - 1].get("role") if index else None
            if before != "user":
                text = "a functionCall has to come directly after a user content"
                yield Violation(rule="G1", index=index, text=text)
    if waiting and not rendered.pending:
        yield from _unanswered(caller, waiting, ())


def _answered(index: int, content: Payload, answers: Sequence[Payload], waiting: list[Payload]) -> Iterator[Violation]:
    """Remove the answered calls from those that wait."""
    called = len(waiting)
    for answer in answers:
        call = _call_of(answer, waiting)
        if call is None:
            named = f"a functionResponse for {answer.get('name')!r}, which the content before did not call"
            text = f"{named}: {called} calls, {len(answers)} responses"
            yield Violation(rule="G2", index=index, text=text)
        else:
            waiting.remove(call)
    if answers and len(answers) < len(_parts(content)):
        yield Violation(
            rule="G2", index=index, text="other parts next to functionResponses; results have a separate content"
        )


def _unanswered(caller: int, waiting: Sequence[Payload], answers: Sequence[Payload]) -> Iterator[Violation]:
    rule = "G2" if answers else "A1"
    for call in waiting:
        text = f"call {call.get('name')!r} has no functionResponse in the content directly after it"
        yield Violation(rule=rule, index=caller, text=text)


def _call_of(answer: Payload, waiting: Sequence[Payload]) -> Payload | None:
    """Find the call by id; by name and order if one of the two has no id."""
    named = [call for call in waiting if call.get("name") == answer.get("name")]
    if answer.get("id"):
        same = next((call for call in named if call.get("id") == answer["id"]), None)
        return same or next((call for call in named if not call.get("id")), None)
    return named[0] if named else None


def _g4(rendered: Rendered) -> Iterator[Violation]:
    """G4: contents start with a user content."""
    messages = rendered.messages
    if not messages:
        yield Violation(rule="G4", index=-1, text="no contents; at least one is needed, the first from the user")
    elif messages[0].get("role") != "user":
        yield Violation(
            rule="G4", index=0, text=f"the first content is {messages[0].get('role')!r}; it has to be 'user'"
        )


def _g5(rendered: Rendered) -> Iterator[Violation]:
    """G5: roles are user and model; calls are the model's, results the user's; a content has parts."""
    for index, content in enumerate(rendered.messages):
        role = content.get("role")
        if role not in _ROLES:
            yield Violation(rule="G5", index=index, text=f"role {role!r}; right are {sorted(_ROLES)}")
        if not _parts(content):
            yield Violation(rule="G5", index=index, text="a content without parts; leave it out or give it a part")
        if role == "user" and _data(content, CALL):
            yield Violation(rule="G5", index=index, text="a functionCall in a user content")
        if role == "model" and _data(content, RESPONSE):
            yield Violation(rule="G5", index=index, text="a functionResponse in a model content")


def _a4(rendered: Rendered) -> Iterator[Violation]:
    """A4: no part without data, no empty text (except with a signature); arguments are an object."""
    for index, content in enumerate(rendered.messages):
        for part in _parts(content):
            key, kind = data_of(part)
            if kind in {"", TEXT} and not part.get(key) and signature_of(part) is None:
                yield Violation(rule="A4", index=index, text="an empty part; leave it out or give it a text")
            elif kind == CALL and not isinstance(args_of(part[key]), Mapping):
                name = part[key].get("name")
                yield Violation(rule="A4", index=index, text=f"the args of {name!r} are not a JSON object")
    if any(not str(part.get(TEXT, "")).strip() for part in rendered.request.system):
        yield Violation(rule="A4", index=-1, text="an empty part of the system instruction; leave it out")


def _framed(rendered: Rendered) -> Iterator[Violation]:
    """A6, A9: on the contents as messages."""
    opened = rendered.request.recast((content, _opened(content)) for content in rendered.messages)
    view = Rendered(request=opened, pending=rendered.pending)
    yield from a6(view)
    yield from a9(view)


def _opened(content: Payload) -> Payload:
    if content.get("role") != "user":
        return {"role": "assistant"}
    return {"role": "user", "content": [_block(part, None) for part in _parts(content)]}


RULES: tuple[Rule, ...] = (_pairs, _g4, _g5, _a4, _framed)


# -- what a collection may do --------------------------------------------------------------------------------------


def signed_calls(before: Request, after: Request) -> Iterator[Violation]:
    """G3: a remaining functionCall keeps its signature, and a signed part is unmodified."""
    had = [_signed(content) for content in before.messages]
    place = 0
    for index, content in enumerate(after.messages):
        now = _signed(content)
        if not now[0] and not now[1]:
            continue
        found = next((at for at in range(place, len(had)) if had[at] == now), None)
        if found is None:
            yield Violation(
                rule="G3", index=index, text="a signed part was rebuilt or lost its signature; keep or drop it"
            )
        else:
            place = found + 1


def _signed(content: Payload) -> tuple[list[str], list[str]]:
    """Return the names of a content's calls, and its signed calls as canonical JSON."""
    names = [call_key(call) for call in _data(content, CALL)]
    parts = [part for part in _parts(content) if signature_of(part) is not None and data_of(part)[1] == CALL]
    return names, [json.dumps(part, sort_keys=True) for part in parts]


def as_messages(request: Request) -> Request:
    """
    Return the contents as messages of blocks, as the rules for all formats read them; each block contains its part.

    A result has the key of the call that it answers.
    """
    messages: list[tuple[Payload, Payload]] = []
    waiting: list[Payload] = []
    for content in request.messages:
        blocks = [_block(part, waiting) for part in _parts(content)]
        waiting = _data(content, CALL) or waiting
        role = _ROLES.get(str(content.get("role")), content.get("role"))
        messages.append((content, {"role": role, "content": blocks}))
    return request.recast(messages)


def _block(part: Payload, waiting: list[Payload] | None) -> dict[str, Any]:
    key, kind = data_of(part)
    whole = {"part": part}
    match kind:
        case "text":
            thought = part.get("thought") is True
            return {"type": "thinking", "thinking": part[key], **whole} if thought else _text(part, key)
        case "functionCall":
            call = part[key]
            return {"type": "tool_use", "id": call_key(call), "name": call.get("name"), "input": args_of(call), **whole}
        case "functionResponse":
            return _result(part, part[key], waiting)
    return {"type": "part", **whole}


def _text(part: Payload, key: str) -> dict[str, Any]:
    return {"type": "text", "text": part[key], "part": {name: value for name, value in part.items() if name != key}}


def _result(part: Payload, result: Payload, waiting: list[Payload] | None) -> dict[str, Any]:
    call = _call_of(result, waiting or ())
    if call is not None and waiting:
        waiting.remove(call)
    key = call_key(result if call is None else call)
    text = json.dumps(result.get("response"), ensure_ascii=False)
    return {"type": "tool_result", "tool_use_id": key, "content": text, "part": part}


def _parts(content: Payload) -> Sequence[Payload]:
    return content.get("parts") or ()


def _data(content: Payload, wanted: str) -> list[Payload]:
    found = ((part, *data_of(part)) for part in _parts(content))
    return [part[key] for part, key, kind in found if kind == wanted]
