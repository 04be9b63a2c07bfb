"""The rules of OpenAI Chat Completions (A1, A2, A4, C1-C4)."""

from __future__ import annotations

from collections.abc import Iterator

from gc_core.providers.rules.blocks import is_empty_text
from gc_core.providers.rules.call_pairs import Pairs
from gc_core.providers.rules.framed_text import a6, a9
from gc_core.providers.rules.violations import Rendered, Rule, Violation
from gc_core.values.json_values import holds_object
from gc_core.values.messages import Payload

_INSTRUCTIONS = frozenset({"system", "developer"})


def _pairs(rendered: Rendered) -> Iterator[Violation]:
    """A1, A2, C1, C4: each call has exactly one result, and only results follow until the next message."""
    pairs = Pairs("C1")
    for index, message in enumerate(rendered.messages):
        role = message.get("role")
        if role == "tool":
            breach = pairs.answer(index, message.get("tool_call_id", ""))
            if breach is not None:
                yield breach
            continue
        if pairs.open:
            rule = "C4" if role in _INSTRUCTIONS else "A2"
            pairs.interrupt(rule, f"message {index} ({role}) stands between; results come directly after their calls")
        if role == "assistant" and (calls := message.get("tool_calls")):
            pairs.call(index, [call.get("id", "") for call in calls])
    yield from pairs.unanswered(pending=rendered.pending)


def _a4(rendered: Rendered) -> Iterator[Violation]:
    """A4: no empty content and no empty text part. A tool result may be empty, but not null."""
    for index, message in enumerate(rendered.messages):
        content = message.get("content")
        if isinstance(content, str) and content:
            continue
        if isinstance(content, list) and content:
            if any(is_empty_text(part) for part in content):
                yield Violation(rule="A4", index=index, text="an empty text part; leave it out or give it a text")
        elif _needs_content(message.get("role"), content):
            yield Violation(
                rule="A4", index=index, text=f"the {message.get('role')} message is empty; it needs content"
            )


def _needs_content(role: object, content: object) -> bool:
    if role == "tool":
        return content is None
    return role != "assistant"  # an assistant message may have only calls: C2


def _c2(rendered: Rendered) -> Iterator[Violation]:
    """C2: an assistant message has content or calls, and a list of calls is never empty."""
    for index, message in rendered.by("assistant"):
        calls = message.get("tool_calls")
        if isinstance(calls, list) and not calls:
            yield Violation(rule="C2", index=index, text="tool_calls is an empty list; leave the key out")
        elif not (message.get("content") or calls or _says_otherwise(message)):
            yield Violation(
                rule="C2", index=index, text="the assistant message is empty; it needs content or tool_calls"
            )


def _says_otherwise(message: Payload) -> bool:
    return any(message.get(key) for key in ("refusal", "audio", "function_call"))


def _c3(rendered: Rendered) -> Iterator[Violation]:
    """C3: the arguments of a call are one JSON object, as text."""
    for index, message in rendered.by("assistant"):
        for call in message.get("tool_calls") or ():
            function = call.get("function")
            if function and not holds_object(function.get("arguments")):
                name = function.get("name", "")
                yield Violation(
                    rule="C3", index=index, text=f"the arguments of {name!r} are not one JSON object as text"
                )


RULES: tuple[Rule, ...] = (_pairs, _a4, _c2, _c3, a6, a9)
