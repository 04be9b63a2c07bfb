"""
The logs of Gemini CLI, pi and opencode as messages of a provider's format.

Seen (November 2026): Gemini CLI 0.61 writes ``chats/session-*.jsonl``, a line for each message and ``$set`` lines that
replace fields; before that one JSON document. pi 0.73 writes a tree of entries, each with its parent. opencode 1.18
keeps all sessions in one SQLite file, ``opencode.db``.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import attrs

from gc_core.errors import TranscriptError
from gc_core.values.json_values import read_object
from gc_core.values.messages import Payload

_DATABASE: Final = b"SQLite format 3\x00"
_MILLISECONDS: Final = 1_000
_SAFE_ID = str.maketrans({"|": "_", ":": "_", ".": "_"})


@attrs.frozen
class AgentMessage:
    """
    A message of an agent's log.

    Attributes:
        at: The number of its record, from 0; -1 if it has none.
        message: The message, in the log's format.
        time: When it was written, in seconds since 1970, or None.

    """

    at: int
    message: Payload
    time: float | None = None


@attrs.frozen(kw_only=True)
class AgentLog:
    """
    What an agent's log holds.

    Attributes:
        format: The format of the messages.
        messages: The messages, in order.

    """

    format: str
    messages: tuple[AgentMessage, ...]


def agent_log_of(records: Sequence[object]) -> AgentLog | None:
    """Return the log that these records, lines or a whole document, are; None if they are no agent's known here."""
    if not records or not isinstance(records[0], Mapping):
        return None
    first = records[0]
    if first.get("type") == "session" and isinstance(first.get("id"), str) and "cwd" in first:
        return AgentLog(format="anthropic", messages=tuple(_pi(records)))
    if isinstance(first.get("sessionId"), str) and "projectHash" in first:
        return AgentLog(format="gemini", messages=tuple(_gemini(records)))
    return None


# -- pi ----------------------------------------------------------------------------------------------------------------


def _pi(records: Sequence[object]) -> Iterator[AgentMessage]:
    """Yield the messages of the branch that ends with the newest entry; results of one reply as one message."""
    found = [(at, entry) for at, entry in enumerate(records) if isinstance(entry, Mapping)]
    results: list[AgentMessage] = []
    for at, entry in _branch(found):
        message = entry.get("message")
        if entry.get("type") != "message" or not isinstance(message, Mapping):
            continue
        time = _from_milliseconds(message.get("timestamp"))
        if message.get("role") == "toolResult":
            results.append(AgentMessage(at, {"role": "user", "content": [_pi_result(message)]}, time))
            continue
        yield from _joined(results)
        results = []
        blocks = [block for part in _listed(message.get("content")) if (block := _pi_block(part)) is not None]
        if message.get("role") in {"user", "assistant"} and blocks:
            yield AgentMessage(at, {"role": message["role"], "content": blocks}, time)
    yield from _joined(results)


def _branch(found: Sequence[tuple[int, Mapping[str, Any]]]) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the entries from the root to the newest one; all in order where entries have no ids."""
    by_id = {
        entry["id"]: (at, entry) for at, entry in found if isinstance(entry.get("id"), str) and "parentId" in entry
    }
    if not by_id:
        return list(found)
    branch, key = [], next(reversed(by_id))
    while key in by_id:
        at, entry = by_id.pop(key)  # each once: a circle ends
        branch.append((at, entry))
        key = entry.get("parentId") or ""
    return branch[::-1]


def _joined(results: Sequence[AgentMessage]) -> Iterator[AgentMessage]:
    """Yield the results of one reply as one message."""
    if results:
        blocks = [block for result in results for block in result.message["content"]]
        yield attrs.evolve(results[0], message={"role": "user", "content": blocks})


def _pi_result(message: Mapping[str, Any]) -> Payload:
    blocks = [block for part in _listed(message.get("content")) if (block := _pi_block(part)) is not None]
    result = {"type": "tool_result", "tool_use_id": _id(message.get("toolCallId")), "content": blocks}
    return {**result, "is_error": True} if message.get("isError") else result


def _pi_block(part: object) -> Payload | None:
    if isinstance(part, str):
        return {"type": "text", "text": part} if part else None
    if not isinstance(part, Mapping):
        return None
    match part.get("type"):
        case "text" if part.get("text"):
            return {"type": "text", "text": part["text"]}
        case "toolCall":
            return _tool_use(part.get("id"), part.get("name"), part.get("arguments"))
        case "image":
            source = {"type": "base64", "media_type": part.get("mimeType"), "data": part.get("data")}
            return {"type": "image", "source": source}
    return None  # thinking without the signature that a provider wants


# -- Gemini CLI --------------------------------------------------------------------------------------------------------


def _gemini(records: Sequence[object]) -> Iterator[AgentMessage]:
    messages: dict[str, tuple[int, Mapping[str, Any]]] = {}
    for at, record in enumerate(records):
        if not isinstance(record, Mapping):
            continue
        replaced = record["$set"] if isinstance(record.get("$set"), Mapping) else record
        whole = replaced.get("messages")
        if isinstance(whole, list):
            messages = {str(each.get("id")): (at, each) for each in whole if isinstance(each, Mapping)}
        elif isinstance(record.get("id"), str) and "type" in record:
            messages[record["id"]] = (at, record)  # written again, with its results, when these are there
    said = {_answered(part) for _, each in messages.values() for part in _gemini_parts(each.get("content"))} - {""}
    for at, message in messages.values():
        time = _from_text(message.get("timestamp"))
        if message["type"] == "user":
            yield from _gemini_content(at, "user", _gemini_parts(message.get("content")), time)
        elif message["type"] == "gemini":
            calls = [call for call in _listed(message.get("toolCalls")) if isinstance(call, Mapping)]
            called = [_gemini_call(call) for call in calls]
            yield from _gemini_content(at, "model", [*_gemini_parts(message.get("content")), *called], time)
            answered = [part for call in calls for part in _listed(call.get("result")) if isinstance(part, Mapping)]
            # Newer versions also write them as a user's message.
            left = [part for part in answered if _answered(part) not in said]
            yield from _gemini_content(at, "user", left, time)


def _gemini_content(at: int, role: str, parts: list[Any], time: float | None) -> Iterator[AgentMessage]:
    if parts:
        yield AgentMessage(at, {"role": role, "parts": parts}, time)


def _answered(part: object) -> str:
    """Return the id of the call that a part answers, or ""."""
    response = part.get("functionResponse") if isinstance(part, Mapping) else None
    return str(response.get("id") or "") if isinstance(response, Mapping) else ""


def _gemini_call(call: Mapping[str, Any]) -> Payload:
    return {"functionCall": {"id": call.get("id"), "name": call.get("name"), "args": call.get("args") or {}}}


def _gemini_parts(content: object) -> list[Any]:
    if isinstance(content, str):
        return [{"text": content}] if content else []
    return [{"text": part} if isinstance(part, str) else part for part in _listed(content) if part]


# -- opencode ----------------------------------------------------------------------------------------------------------


def is_database(path: Path) -> bool:
    """True for a file of SQLite."""
    try:
        with path.open("rb") as file:
            return file.read(len(_DATABASE)) == _DATABASE
    except OSError:
        return False


def newest_session(path: Path) -> str:
    """Return the id of the session in a file of opencode's that was changed last, sub-agents aside."""
    query = "SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC LIMIT 1"
    found = _queried(path, lambda database: database.execute(query).fetchone())
    if found is None:
        raise TranscriptError(f"{path}: no session, expected a file of opencode's with one")
    return str(found[0])


def opencode_log(path: Path, session: str) -> AgentLog:
    """
    Return the messages of a session in a file of opencode's, which opencode may be writing meanwhile.

    Raises TranscriptError where the file is another program's, and for a session that is not in it.
    """

    def rows(database: sqlite3.Connection) -> list[tuple[Any, ...]]:
        query = (
            "SELECT message.id, message.time_created, message.data, part.data FROM message"
            " LEFT JOIN part ON part.message_id = message.id"
            " WHERE message.session_id = ? ORDER BY message.time_created, message.id, part.id"
        )
        return database.execute(query, (session,)).fetchall()

    found = _queried(path, rows)
    if not found:
        raise TranscriptError(f"{path}: no message of the session {session!r:.200}")
    grouped: dict[str, tuple[Any, str, list[str]]] = {}
    for key, created, message, part in found:
        grouped.setdefault(key, (created, message, []))[2].extend([part] if part is not None else [])
    messages = (each for created, data, parts in grouped.values() for each in _opencode(created, data, parts))
    return AgentLog(format="anthropic", messages=tuple(messages))


def _queried(path: Path, ask: Callable[[sqlite3.Connection], Any]) -> Any:
    try:
        with contextlib.closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as database:
            return ask(database)
    except sqlite3.Error as error:
        raise TranscriptError(f"{path}: {error}, expected a file of opencode's of version 1") from error


def _opencode(created: object, data: str, parts: Sequence[str]) -> Iterator[AgentMessage]:
    role = (read_object(data) or {}).get("role")
    time = _from_milliseconds(created)
    blocks, results = list[Payload](), list[Payload]()
    for text in parts:
        part = read_object(text) or {}
        if part.get("type") == "text" and part.get("text"):
            blocks.append({"type": "text", "text": part["text"]})
        elif part.get("type") == "tool":
            state = part.get("state")
            state = state if isinstance(state, Mapping) else {}
            blocks.append(_tool_use(part.get("callID"), part.get("tool"), state.get("input")))
            results += _opencode_result(part, state)
    if role in {"user", "assistant"} and blocks:
        yield AgentMessage(-1, {"role": role, "content": blocks}, time)
    if results:
        yield AgentMessage(-1, {"role": "user", "content": results}, time)


def _opencode_result(part: Mapping[str, Any], state: Mapping[str, Any]) -> list[Payload]:
    if state.get("status") not in {"completed", "error"}:
        return []
    result = {"type": "tool_result", "tool_use_id": _id(part.get("callID"))}
    if state["status"] == "error":
        return [{**result, "content": str(state.get("error") or ""), "is_error": True}]
    return [{**result, "content": str(state.get("output") or "")}]


# -- inside ------------------------------------------------------------------------------------------------------------


def _tool_use(call_id: object, name: object, arguments: object) -> Payload:
    given = arguments if isinstance(arguments, Mapping) else {"arguments": json.dumps(arguments)} if arguments else {}
    return {"type": "tool_use", "id": _id(call_id), "name": str(name or "tool"), "input": dict(given)}


def _id(value: object) -> str:
    """Return an id as Anthropic takes it."""
    return str(value or "call").translate(_SAFE_ID)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _from_milliseconds(value: object) -> float | None:
    return value / _MILLISECONDS if isinstance(value, int | float) else None


def _from_text(value: object) -> float | None:
    try:
        return dt.datetime.fromisoformat(str(value)).timestamp()
    except ValueError:
        return None
