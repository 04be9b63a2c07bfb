"""The calls of a reply, and how they are carried out: whatever a tool does, there is an answer."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs

from gc_core.errors import ConfigError, PluginError
from gc_core.isolation import isolated, run_in_daemon_thread
from gc_core.providers.contract import Format
from gc_core.values.items import ItemKind
from gc_core.values.json_values import read_object
from gc_core.values.messages import Payload

Tool = Callable[..., Any]
"""Takes the arguments of a call by name (free text as its only one), and returns a text or JSON; sync or async."""


@attrs.frozen(kw_only=True)
class ToolCall:
    """
    A call of the model.

    Attributes:
        call_id: The provider's id.
        name: The tool's name.
        arguments: The arguments as one JSON text, or the free text.
        free_text: The arguments are free text, not a JSON object.

    """

    call_id: str
    name: str
    arguments: str
    free_text: bool = False

    @property
    def values(self) -> Mapping[str, Any] | None:
        """The arguments by name; None if they are not a JSON object."""
        return read_object(self.arguments)

    def is_same(self, other: ToolCall) -> bool:
        """Return whether it is the same call: same id, tool and arguments."""
        if (self.call_id, self.name) != (other.call_id, other.name):
            return False
        return self.arguments == other.arguments or (self.values is not None and self.values == other.values)


@attrs.frozen(kw_only=True)
class Outcome:
    """
    The outcome of a call.

    Attributes:
        text: The text for the model.
        is_error: The tool failed.

    """

    text: str = attrs.field(repr=False)
    is_error: bool = False


def calls_of(reply: Payload, format: Format) -> tuple[ToolCall, ...]:  # noqa: A002 - the session's own word
    """Return the calls of an assistant message, in order. Raises MessageError for a malformed one."""
    parts = (part for part in format.read(format.normalise(reply)) if part.kind is ItemKind.TOOL_CALL)
    return tuple(
        ToolCall(call_id=part.call_id, name=part.name, arguments=part.text, free_text=part.free_text) for part in parts
    )


def checked_tools(tools: Mapping[str, Tool]) -> dict[str, Tool]:
    """Return a copy. Raises ConfigError for anything that cannot be called."""
    for name, tool in tools.items():
        if not callable(tool):
            raise ConfigError(f"tools.{name} = {tool!r:.200}: expected a function")
    return dict(tools)


async def carried_out(call: ToolCall, tools: Mapping[str, Tool]) -> Outcome:
    """Return the outcome of the call; for an unknown tool, invalid arguments and any error a text that reports it."""
    tool = tools.get(call.name)
    if tool is None:
        return _failed(f"there is no tool {call.name!r}; there are {sorted(tools)}")
    if not call.free_text and call.values is None:
        return _failed(f"the arguments of {call.name} are not a JSON object")
    try:
        with isolated() as attempt:
            return Outcome(text=_text_of(await _answered(tool, call)))
    except SystemExit:
        return _failed(f"{call.name} tried to end the process")
    if isinstance(attempt.error, asyncio.CancelledError):
        return _failed(f"{call.name} was cancelled from inside")
    return _failed(_error_text(attempt.error))


async def _answered(tool: Tool, call: ToolCall) -> object:
    """Run an async tool in the event loop; any other in a separate thread, which cannot be stopped."""
    named = call.values or {}
    begin = functools.partial(tool, call.arguments) if call.free_text else functools.partial(tool, **named)
    if _is_async(tool):
        return await begin()
    run = contextvars.copy_context().run
    answer = await asyncio.wrap_future(run_in_daemon_thread(lambda: run(_contained, begin)))
    return await answer if isinstance(answer, Awaitable) else answer


def _contained(begin: Callable[[], Any]) -> Any:
    """Confine what a tool does to its task or to the process to its call."""
    try:
        return begin()
    except SystemExit as error:
        raise PluginError(f"it raised {type(error).__name__}") from error


def _is_async(tool: Tool) -> bool:
    return inspect.iscoroutinefunction(tool) or inspect.iscoroutinefunction(type(tool).__call__)


def _text_of(answer: object) -> str:
    """Return the text for the model: without unpaired surrogates, which no request can carry."""
    text = answer if isinstance(answer, str) else "" if answer is None else json.dumps(answer, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()


def _error_text(error: BaseException | None) -> str:
    with isolated() as attempt:
        return _text_of(f"{type(error).__name__}: {error}")
    return f"{type(error).__name__}, whose text cannot be read: {type(attempt.error).__name__}"


def _failed(why: str) -> Outcome:
    return Outcome(text=f"failed: {why}", is_error=True)
