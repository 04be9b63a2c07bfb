"""``POST /v1/collect``: a list of messages in, one that fits out, for programs that call their provider themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from gc_core import ContextOverflowError, GCConfig, GCError, GCSession, Request, compact
from gc_core.errors import MessageError
from gc_core.providers import format_named
from gc_core.providers.fields import FieldError
from gc_gateway.bodies import parsed
from gc_gateway.dialects import CHAT, DIALECTS, Content
from gc_gateway.errors import RequestError
from gc_gateway.lane_ids import LaneId, scope_of
from gc_gateway.lanes import Lanes
from gc_gateway.request_log import RequestLine, noted
from gc_gateway.settings import Settings

PATH: Final = "/v1/collect"

_FIELDS: Final = ("dialect", "model", "messages", "system", "tools", "budget", "lane")
_BAD, _TOO_LARGE, _TYPE, _BROKEN = 400, 413, 415, 500
_LONGEST_NAME = 200
_MOST_TOKENS = 1_000_000_000


@attrs.frozen(kw_only=True)
class Asked:
    """
    What is to be collected.

    Attributes:
        format: The session format of its messages.
        content: The list, with what is sent beside it.
        system_text: True if the system text came as one string.
        budget: Tokens that the list may have, with system text and tools.
        lane: The caller's name of the conversation; "" for none: nothing is remembered then.

    """

    format: str
    content: Content = attrs.field(repr=False)
    system_text: bool = False
    budget: int
    lane: str = ""


class CollectService:
    """
    Answers requests for a collection. Every method blocks, and is meant for a worker thread.

    Args:
        settings: Those of the gateway.
        lanes: Where named conversations are kept.

    """

    def __init__(self, settings: Settings, lanes: Lanes) -> None:
        self._settings = settings
        self._lanes = lanes

    def answer(self, body: bytes, headers: Mapping[str, str], line: RequestLine) -> dict[str, Any]:
        """
        Return the answer to a request, from its body and headers (names in lower case), and fill in its line of the
        access log.

        Raises RequestError: 400 for a body that is wrong, 413 for one that does not fit, 500 where gc-core fails.
        """
        if headers.get("content-type", "application/json").partition(";")[0].strip().lower() != "application/json":
            # Whatever a web page may send without asking first has another type.
            raise RequestError(_TYPE, "expected application/json", "content-type")
        given = parsed(body, headers.get("content-encoding", ""), self._settings.body_bytes)
        if given is None:
            raise RequestError(_BAD, "expected a JSON object", "body")
        asked = self._read(given)
        try:
            request = self._in_lane(asked, headers, line) if asked.lane else self._alone(asked)
        except ContextOverflowError as error:
            raise RequestError(_TOO_LARGE, str(error), "budget") from error
        except MessageError as error:
            raise _wrong_message(asked, error) from error
        except GCError as error:
            raise RequestError(_BROKEN, str(error)) from error
        line.dialect, line.tokens_after = asked.format, request.tokens
        return _answer(asked, request)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _in_lane(self, asked: Asked, headers: Mapping[str, str], line: RequestLine) -> Request:
        """Collect in the caller's own lane, which is none of an agent behind the gateway: its scope says so."""
        scope = scope_of(f"{PATH} {asked.format}", self._settings.token, headers)
        client = headers.get("user-agent", "").partition("/")[0]
        lane_id = LaneId(scope=scope, name=f"{PATH}:{asked.lane}", client=client)
        with self._lanes.lane(lane_id, asked.format, asked.content) as lane, noted(line, lane):
            lane.reply_tokens = 0  # the budget is the list's alone
            return lane.request(asked.content, asked.budget)

    def _alone(self, asked: Asked) -> Request:
        content, tools = asked.content, format_named(asked.format).declarations(asked.content.tools or ())
        with self._lanes.slots:
            messages = compact(
                content.messages,
                asked.budget,
                format=asked.format,
                system="\n\n".join(block["text"] for block in content.system or ()),
                tools=tools,
                config=attrs.evolve(self._settings.config, cache_marks=False),  # the caller's stay where they are
                model=content.model,
            )
        with GCSession(GCConfig(context_limit=_MOST_TOKENS), format=asked.format, model=content.model) as counting:
            counting.tools(tools)
            request = counting.beside(messages, system=content.system)
        if request is None:
            raise RequestError(_TOO_LARGE, f"the list has more than {_MOST_TOKENS:,} tokens", "messages")
        return attrs.evolve(request, messages=tuple(messages), system=tuple(content.system or ()))

    def _read(self, given: Mapping[str, Any]) -> Asked:
        """Return what is asked for. Raises RequestError, naming the field that is wrong."""
        unknown = next((name for name in given if name not in _FIELDS), None)
        if unknown is not None:
            raise RequestError(_BAD, f"{unknown[:_LONGEST_NAME]!r} is no field; there are {list(_FIELDS)}", unknown)
        dialect, model = _text(given, "dialect"), _text(given, "model")
        if dialect not in DIALECTS:
            raise _wrong("dialect", dialect, f"expected one of {list(DIALECTS)}")
        messages = _objects(given, "messages")
        if not messages:
            raise _wrong("messages", messages, "expected at least one message")
        system = given.get("system")
        budget = given.get("budget", self._settings.window(model))
        if not isinstance(budget, int) or isinstance(budget, bool) or not 0 < budget < _MOST_TOKENS:
            raise _wrong("budget", budget, "expected a number of tokens")
        content = Content(
            model=model,
            messages=messages,
            system=_system(dialect, system),
            tools=_tools(dialect, given) if given.get("tools") is not None else None,
        )
        lane = _text(given, "lane") if given.get("lane") is not None else ""
        return Asked(
            format=dialect, content=content, system_text=isinstance(system, str), budget=budget, lane=lane
        )  # fmt: skip


def refusal(error: RequestError) -> dict[str, Any]:
    """Return the body of a response that refuses a request for a collection."""
    kind = "api_error" if error.status == _BROKEN else "invalid_request_error"
    return {"error": {"type": kind, "field": error.field or "body", "message": str(error)}}


def _answer(asked: Asked, request: Request) -> dict[str, Any]:
    content, messages, system = asked.content, list(request.messages), list(request.system)
    answer = {"messages": messages, "tokens": request.tokens, "collected": messages != content.messages}
    if content.system is not None:
        answer["system"] = "\n\n".join(block["text"] for block in system) if asked.system_text else system
    return {**answer, "lane": asked.lane} if asked.lane else answer


def _system(dialect: str, system: object) -> list[Any] | None:
    """Return the blocks of a system text."""
    if system is None or system in ("", []):
        return None
    if dialect == CHAT.format:
        raise RequestError(_BAD, "the system text of this dialect is one of the messages", "system")
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
    if not isinstance(blocks, list):
        raise _wrong("system", system, "expected a text, or a list of blocks with a text each")
    _check_each("system", blocks, _is_text, "expected a block with a text")
    return blocks


def _is_text(block: object) -> bool:
    return isinstance(block, dict) and isinstance(block.get("text"), str)


def _tools(dialect: str, given: Mapping[str, Any]) -> list[Any]:
    tools = _objects(given, "tools")
    provider = format_named(dialect)
    for place, tool in enumerate(tools):
        try:
            for schema in provider.declarations([tool]):
                provider.schema_name(schema)
        except (MessageError, TypeError) as error:
            raise _wrong_at("tools", place, error) from error
    return tools


def _wrong_message(asked: Asked, error: MessageError) -> RequestError:
    """Return the refusal of a list, naming the message that cannot be read. It is sought only after an error."""
    provider = format_named(asked.format)
    for place, message in enumerate(asked.content.messages):
        try:
            provider.role(message)
            provider.read(message)
        except MessageError as wrong:
            return _wrong_at("messages", place, wrong)
    return RequestError(_BAD, str(error), "messages")


def _wrong_at(field: str, place: int, error: Exception) -> RequestError:
    """Return the refusal of an element of a list, naming its place and, where the error says it, its own field."""
    said = str(error).removeprefix("message.").removeprefix("tool.")
    between = "." if isinstance(error, FieldError) else ": "
    return RequestError(_BAD, f"{field}[{place}]{between}{said}", field)


def _text(given: Mapping[str, Any], field: str) -> str:
    value = given.get(field)
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME:
        raise _wrong(field, value, f"expected a text of at most {_LONGEST_NAME} letters")
    return value


def _objects(given: Mapping[str, Any], field: str) -> list[Any]:
    value = given.get(field)
    if not isinstance(value, list):
        raise _wrong(field, value, "expected a list of objects")
    _check_each(field, value, lambda each: isinstance(each, dict), "expected an object")
    return value


def _check_each(field: str, values: list[Any], is_right: Callable[[object], bool], expected: str) -> None:
    """Raise RequestError for the first value that is wrong, naming its place."""
    for place, value in enumerate(values):
        if not is_right(value):
            raise _wrong(field, value, expected, place=f"[{place}]")


def _wrong(field: str, value: object, expected: str, *, place: str = "") -> RequestError:
    return RequestError(_BAD, f"{field}{place} = {repr(value)[:_LONGEST_NAME]}: {expected}", field)
