"""Applies plugins to a message before it is logged, and checks their changes."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from gc_core.errors import GCError, MessageError
from gc_core.plugins.manager import Plugins
from gc_core.providers import provider_named
from gc_core.providers.contract import Format
from gc_core.providers.rules import check_request
from gc_core.values.items import ItemKind, Part
from gc_core.values.json_values import check_depth, objects, read_json
from gc_core.values.messages import Payload

_BOUND = {
    ItemKind.TOOL_CALL: "the tool calls",
    ItemKind.TOOL_RESULT: "which calls have results",
    ItemKind.THINKING: "the thinking",
}
"""Parts that a message must keep: calls and results belong together, and thinking is signed."""


def processed(message: Payload, plugins: Plugins, format: Format) -> Payload:  # noqa: A002 - the session's own word
    """
    Return the message after the plugins; a refused change is recorded in ``plugins.failures``.

    A message that is malformed to begin with is left to the session, which reports it.
    """
    try:
        format.read(message)
    except MessageError:
        return message
    return plugins.process(message, lambda plugin, before, answer: accepted(plugin, before, answer, format))


def accepted(plugin: str, before: Payload, answer: object, format: Format) -> Payload:  # noqa: A002 - see above
    """
    Return a plugin's version of a message, in plain JSON values. Raises MessageError, naming it, if
    it is refused.
    """
    try:
        after = _plain(answer)
        _check_bound(before, after, format)
    except (GCError, TypeError, ValueError) as error:
        raise MessageError(f"middleware {plugin!r}: {error}") from error
    return after


def _plain(answer: object) -> Payload:
    if not isinstance(answer, Mapping):
        raise MessageError(f"answered {answer!r:.200}; expected a message as a dict, or None")
    check_depth(answer)
    return read_json(json.dumps(dict(answer), ensure_ascii=False, allow_nan=False))  # type: ignore[no-any-return]


def _check_bound(before: Payload, after: Payload, format: Format) -> None:  # noqa: A002 - see above
    roles = format.role(before), format.role(after)
    if roles[0] is not roles[1]:
        raise MessageError(f"changed the role from {roles[0].value} to {roles[1].value}; expected the same")
    parts, others = format.read(before), format.read(after)
    for kind, words in _BOUND.items():
        if _bound(parts, kind) != _bound(others, kind):
            raise MessageError(f"changed {words}; expected them as they were: they belong to other messages")
    seals = provider_named(format.name).keys.sealed
    if [*_sealed(before, seals), *_fixed(parts)] != [*_sealed(after, seals), *_fixed(others)]:
        raise MessageError("changed a signed, encrypted or bound part; the provider only accepts it unmodified")
    known = {rule for rule, _ in _breaches(before, format)}
    broken = [text for rule, text in _breaches(after, format) if rule not in known]
    if broken:
        raise MessageError(f"broke a rule of the provider: {broken[0]}")


def _bound(parts: Iterable[Part], kind: ItemKind) -> list[tuple[str, ...]]:
    """Return what ties the parts of a kind to other messages; for thinking also its text."""
    found = [part for part in parts if part.kind is kind]
    if kind is ItemKind.THINKING:
        return [(part.text,) for part in found]
    return [(part.call_id, part.name if kind is ItemKind.TOOL_CALL else "") for part in found]


def _fixed(parts: Iterable[Part]) -> Iterator[tuple[str, str]]:
    for part in parts:
        if part.fixed or part.held:
            yield part.kind.value, part.text


def _sealed(value: Any, seals: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield what the provider signed or encrypted, at any depth."""
    for each in objects(value):
        yield from ((key, json.dumps(each[key], sort_keys=True)) for key in each if key in seals)


def _breaches(message: Payload, format: Format) -> list[tuple[str, str]]:  # noqa: A002 - see above
    """
    Return the violations of a request with only this message; that it is by itself violates rules too, before and
    after.
    """
    request = format.request(system=(), tools=(), messages=(format.normalise(message),), tokens=0)
    return [(breach.rule, breach.text) for breach in check_request(request, pending=True)]
