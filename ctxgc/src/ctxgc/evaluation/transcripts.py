"""
Recorded sessions, read from a file into the messages of one format.

Kinds are told apart by what is in them: messages one a line (OpenAI's, Anthropic's or Gemini's), one JSON
document with ``messages`` or ``contents`` (and ``system``, ``tools``), a bare JSON list of messages, the session files
of Claude Code, and gptme's ``conversation.jsonl``. Items of OpenAI's Responses are read in the first three of these
ways (``input`` and ``instructions`` in a document), and from the rollouts of Codex. The logs of Gemini CLI, pi and
opencode become messages first: see ``agent_logs``. A log of gc-core's own names its format in its first line.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from ctxgc.evaluation.agent_logs import AgentLog, agent_log_of, is_database, newest_session, opencode_log
from ctxgc.evaluation.own_transcripts import format_of_log, head_of_log, is_said
from gc_core.errors import MessageError, TranscriptError
from gc_core.providers import PROVIDERS, format_named, provider_named
from gc_core.providers.contract import Format
from gc_core.values.items import ItemKind
from gc_core.values.json_values import DEEPEST_RECORD, check_depth, read_json, read_json_at, read_object
from gc_core.values.messages import Payload, Role

_CLAUDE_CODE, _GPTME = format_named("anthropic"), format_named("openai")
"""The formats in which these agents keep their sessions."""

_MESSAGES = ("messages", "contents", "input")
"""The keys of a document that may contain its messages."""

_GPTME_CALL = re.compile(r"^@([\w.-]+)\(([\w.-]+)\):[ \t]*(?=\{)", re.MULTILINE)
"""How gptme writes a call into the text of a reply: the arguments follow, as JSON."""


@attrs.frozen(kw_only=True)
class TranscriptWarning:
    """
    Something in the file that was left out or mended.

    Attributes:
        file: The file.
        line: Its line, from 1 on; 0 in a JSON document that is not read by lines.
        field: The path of the field there, "" for the line itself.
        expected: The correct form.
        text: The error, as a sentence.

    """

    file: Path
    line: int
    field: str
    expected: str
    text: str

    def __str__(self) -> str:
        """Return one line that leads an editor to the place."""
        return f"{self.file}:{self.line}: {self.text}" if self.line else f"{self.file}: {self.text}"


@attrs.frozen(kw_only=True)
class Transcript:
    """
    A recorded session.

    Attributes:
        path: Where it was read.
        format: Name of the format of its messages: ``"openai"``, ``"anthropic"``, ``"gemini"`` or ``"responses"``.
        system: The system texts that came before or apart from the messages.
        tools: The tool schemas, in the shape of the format.
        messages: The messages, in order. A call may lack its result, as it does where a session was interrupted.
        warnings: What was left out or mended, in the order of the file.
        times: When each message was written, in seconds since 1970; None where the file has none. Empty where it
            has no times at all.

    """

    path: Path
    format: str
    system: tuple[str, ...] = ()
    tools: tuple[Payload, ...] = ()
    messages: tuple[Payload, ...]
    warnings: tuple[TranscriptWarning, ...] = ()
    times: tuple[float | None, ...] = ()


def read_transcript(path: str | Path, content: bytes | None = None, *, session: str = "") -> Transcript:
    """
    Return the session in a file; unreadable parts are left out, with a warning.

    Args:
        path: The file.
        content: Its bytes, where they were read already: then the file need not be there.
        session: Which one, in a file of many (opencode's); by default the one that was changed last.

    Raises:
        TranscriptError: The file is missing, or holds no message that can be read.

    """
    reader = _Reader(file=Path(path), content=content)
    if content is None and is_database(reader.file):
        return reader.agents(opencode_log(reader.file, session or newest_session(reader.file)), ())
    whole, lines = reader.records(reader.text())
    agents = agent_log_of([line.value for line in lines])
    if agents is not None:
        return reader.agents(agents, lines)
    own = format_of_log([line.value for line in lines[:1]])
    document, records = _logged(reader, lines) if own else _unrolled(reader, whole, lines)
    form = own or _format_of(document, records)
    found = reader.pieced(records, form) if own else _messages(reader, records, form)
    leads = provider_named(form.name).system_is_message
    texts, messages = _leading_system(found, form) if leads else ([], found)
    if not messages:
        raise reader.failure()
    return Transcript(
        path=reader.file,
        format=form.name,
        system=(*reader.system(document), *texts),
        tools=tuple(reader.tools(document, form)),
        messages=tuple(messages),
        warnings=tuple(reader.warnings),
        times=tuple(reader.times[len(found) - len(messages) :]) if any(reader.times) else (),
    )


def read_content(path: Path) -> bytes:
    """Return the bytes of a transcript file. Raises TranscriptError when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise TranscriptError(f"{path}: {error.strerror or error}, expected a transcript file") from error


def _messages(reader: _Reader, records: Sequence[_Record], form: Format) -> Sequence[Payload]:
    if _is_claude_code(records):
        return reader.claude_code(records)
    if _is_gptme(records):
        return reader.gptme(records)
    return reader.pieced(records, form)


@attrs.frozen
class _Record:
    """A JSON value of the file, its place (a line, or a path in the document), and the time beside it."""

    line: int
    field: str
    value: Any
    time: float | None = None


@attrs.define
class _Reader:
    """Reads one file, and keeps what it has to say about it."""

    file: Path
    content: bytes | None = None
    warnings: list[TranscriptWarning] = attrs.Factory(list)
    times: list[float | None] = attrs.Factory(list)

    def warn(self, at: _Record, error: MessageError) -> None:
        """Keep a message's error, with the field as seen from the record."""
        inner = getattr(error, "field", "")
        field = _path(at.field, inner)
        text = str(error).replace(inner, field, 1) if inner else f"{field}: {error}"
        self.say(at.line, field, getattr(error, "expected", ""), text.removeprefix(": "))

    def say(self, line: int, field: str, expected: str, text: str) -> None:
        """Keep a warning."""
        self.warnings.append(TranscriptWarning(file=self.file, line=line, field=field, expected=expected, text=text))

    def failure(self) -> TranscriptError:
        """Return why there is no transcript: the first error."""
        expected = "messages one a line, or a JSON document with them"
        if not self.warnings:
            return TranscriptError(f"{self.file} contains no messages; expected {expected}")
        return TranscriptError(f"{self.file}: no message that can be read, expected {expected}; {self.warnings[0]}")

    def text(self) -> str:
        """Return the text of the file; bytes that are not UTF-8 are replaced, with a warning."""
        data = read_content(self.file) if self.content is None else self.content
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self.say(line, "", "UTF-8", f"the byte {data[error.start]:#04x} is not UTF-8; such bytes were replaced")
            return data.decode("utf-8-sig", errors="replace")

    def records(self, text: str) -> tuple[Mapping[str, Any], list[_Record]]:
        """
        Return the document (empty if the file is read by lines) and the values that may be messages. Raises
        TranscriptError if its messages are not a list.
        """
        try:
            whole = read_json(text, DEEPEST_RECORD)
        except ValueError as error:
            return {}, list(self._lines(text, error))
        if isinstance(whole, list):
            return {}, [_Record(0, f"[{at}]", value) for at, value in enumerate(whole)]
        named = [key for key in _MESSAGES if key in whole] if isinstance(whole, dict) else []
        if not named:
            return {}, [_Record(1, "", whole)]
        (key, *_) = named
        if not isinstance(whole[key], list):
            raise TranscriptError(f"{self.file}: {key}: {type(whole[key]).__name__}, expected a list")
        return whole, [_Record(0, f"{key}[{at}]", value) for at, value in enumerate(whole[key])]

    def _lines(self, text: str, error: Exception) -> Iterator[_Record]:
        lines = text.split("\n")  # a line separator inside a JSON string does not end a line
        if self.file.suffix == ".json" and isinstance(error, json.JSONDecodeError) and not _starts_with_object(lines):
            self.say(error.lineno, "", "a JSON document", f"no JSON document: {error}")
            return
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield from self._line(number, line.strip())

    def _line(self, number: int, line: str) -> Iterator[_Record]:
        """Yield the objects of a line: one, or several that were glued together by a lost line end."""
        at = 0
        while at < len(line):
            if at:
                self.say(
                    number, "", "one JSON object a line", f"more than one JSON value on the line, at column {at + 1}"
                )
            try:
                value, at = read_json_at(line, at)
            except ValueError as error:
                self.say(number, "", "a JSON object", f"the line was left out: {error}")
                return
            yield _Record(number, "", value)
            at += len(line[at:]) - len(line[at:].lstrip())

    def messages(self, records: Iterable[_Record], form: Format) -> Iterator[Payload]:
        """Yield the messages that the format can read."""
        for record in records:
            if self._readable(record, form):
                self.times.append(_time_of(record.value) if record.time is None else record.time)
                yield record.value

    def pieced(self, records: Iterable[_Record], form: Format) -> Sequence[Payload]:
        """Return the messages that the format can read; those that are pieces of one reply as one."""
        found = list(self.messages(records, form))
        return self.joined(found, form) if form.replies_in_pieces else found

    def joined(self, found: Sequence[Payload], form: Format) -> Sequence[Payload]:
        """Return the messages, those that are pieces of one reply as one; its time is that of its first."""
        messages, times = list[Payload](), list[float | None]()
        for message, time in zip(found, self.times, strict=True):
            follows = messages and form.role(messages[-1]) is form.role(message) is Role.ASSISTANT
            whole = form.join(messages[-1], message) if follows else None
            if whole is None:
                messages.append(message)
                times.append(time)
            else:
                messages[-1] = whole
        self.times = times
        return messages

    def claude_code(self, records: Iterable[_Record]) -> Sequence[Payload]:
        """Return the messages of the main conversation in a Claude Code session."""
        conversation = _Conversation()
        for record in records:
            if not _is_spoken(record.value):
                continue
            message = record.value.get("message")
            at = attrs.evolve(record, field="message", value=_bare(message))
            if self._readable(at, conversation.form):
                conversation.add(record.value, at.value)
        self.times = conversation.times
        return conversation.messages

    def gptme(self, records: Iterable[_Record]) -> Sequence[Payload]:
        """
        Return the messages of a gptme conversation, as gptme sends them; messages that it only shows are
        left out.
        """
        steps: list[list[Payload]] = [[]]
        for record in records:
            if isinstance(record.value, Mapping) and record.value.get("ui_only"):
                continue
            if self._readable(record, _GPTME):
                self._say_files(record)
                steps += [[]] if record.value["role"] == "assistant" else []
                steps[-1].append(record.value)
        opening = steps[0]
        heads = next((at for at, value in enumerate(opening) if value["role"] != "system"), len(opening))
        messages = [*map(_bare_text, opening[:heads]), *_said(opening[heads:])]
        self.times = [_time_of(value) for value in opening]
        for step in steps[1:]:
            said = list(_step(step))
            # What came after a reply was there when its last line was.
            self.times += [_time_of(step[0]), *([_time_of(step[-1])] * (len(said) - 1))]
            messages += said
        return messages

    def _say_files(self, record: _Record) -> None:
        files = _listed(record.value.get("files"))
        if files:
            text = f"files: {len(files)} attached, which are not in the log; they were left out"
            self.say(record.line, "files", "no attached files", text)

    def agents(self, log: AgentLog, lines: Sequence[_Record]) -> Transcript:
        """Return the transcript of an agent's log. Raises TranscriptError if no message of it can be read."""
        form = format_named(log.format)
        records = [
            _Record(lines[each.at].line if each.at >= 0 else 0, "message", each.message, each.time)
            for each in log.messages
        ]
        messages = tuple(self.messages(records, form))
        if not messages:
            raise self.failure()
        times = tuple(self.times) if any(self.times) else ()
        return Transcript(
            path=self.file, format=form.name, messages=messages, warnings=tuple(self.warnings), times=times
        )  # fmt: skip

    def _readable(self, record: _Record, form: Format) -> bool:
        try:
            check_depth(record.value)
            form.read(record.value)
        except MessageError as error:
            self.warn(record, error)
            return False
        return True

    def system(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the system texts of a document: a string, or text blocks."""
        texts = [*_listed(document.get("system")), *_instructed(document), *_listed(document.get("instructions"))]
        for at, block in enumerate(texts):
            text = block.get("text") if isinstance(block, Mapping) else block
            if isinstance(text, str):
                yield text
            else:
                self.say(0, f"system[{at}]", "a text", f"system[{at}]: {text!r}, expected a text")

    def tools(self, document: Mapping[str, Any], form: Format) -> Iterator[Payload]:
        """Yield the tool schemas of a document."""
        for at, schema in enumerate(_declared(document.get("tools"))):
            try:
                form.schema_name(schema)
            except MessageError as error:
                self.warn(_Record(0, f"tools[{at}]", schema), error)
            else:
                yield schema


@attrs.define
class _Conversation:
    """
    Joins the lines of a Claude Code session.

    A reply is streamed as one line per block, all of the same message id. Results are written as they come, so that
    those of parallel calls may be between the lines of the reply that called. Here a reply is one message, and
    the results of its calls are one message right after it.
    """

    form: Format = _CLAUDE_CODE
    messages: list[Payload] = attrs.Factory(list)
    times: list[float | None] = attrs.Factory(list)
    _lines: set[str] = attrs.Factory(set)
    _reply: int = -1
    _reply_id: tuple[object, object] | None = None
    _answered: bool = False

    def add(self, line: Mapping[str, Any], message: Payload) -> None:
        """Add the message of a line, unless the line was written before (as it is when a session is resumed)."""
        if line.get("uuid") in self._lines:
            return
        self._lines.update(filter(None, [line.get("uuid")]))
        known = len(self.messages)
        if self.form.role(message) is Role.ASSISTANT:
            self._add_reply(message, _reply_id(line))
        elif self._calls() & _ids(self.form, message, ItemKind.TOOL_RESULT):
            self._add_results(message)
        else:
            self.messages.append(message)
        # Results may come after messages sent meanwhile: their time is then that of the message before them.
        self.times += [_time_of(line)] * (len(self.messages) - known)

    def _add_reply(self, message: Payload, reply_id: tuple[object, object] | None) -> None:
        if reply_id is not None and reply_id == self._reply_id:
            so_far = self.messages[self._reply]
            self.messages[self._reply] = {**so_far, "content": [*_blocks(so_far), *_blocks(message)]}
            return
        self._reply, self._reply_id, self._answered = len(self.messages), reply_id, False
        self.messages.append(message)

    def _add_results(self, message: Payload) -> None:
        after_reply = self._reply + 1
        joined = self.form.join(self.messages[after_reply], message) if self._answered else None
        self.messages[after_reply : after_reply + self._answered] = [message if joined is None else joined]
        self._answered = True

    def _calls(self) -> set[str]:
        return _ids(self.form, self.messages[self._reply], ItemKind.TOOL_CALL) if self._reply >= 0 else set()


def _step(step: Sequence[Payload]) -> Iterator[Payload]:
    """
    Yield a reply of gptme and what came after it.

    Calls are in the reply's text, and results are system messages. Where both have the call's id they become calls
    and results; where the call is a block of Markdown it stays text, and its result is what the user says.
    """
    reply, *others = step
    answers: dict[str, str] = {}
    for value in others:
        if _answers(value):
            call_id, text = value["call_id"], _text_of(value)
            answers[call_id] = f"{answers[call_id]}\n\n{text}" if call_id in answers else text
    text, calls = _gptme_calls(_text_of(reply), answers)
    called = [call["id"] for call in calls]
    yield {"role": "assistant", "content": text or None, "tool_calls": calls} if calls else _bare_text(reply)
    yield from _GPTME.results([(call_id, answers[call_id]) for call_id in called])
    yield from _said([value for value in others if not (_answers(value) and value["call_id"] in called)])


def _said(values: Iterable[Payload]) -> Iterator[Payload]:
    """
    Yield messages of the conversation of gptme: its system messages there are output, which the user's side says.

    As system texts they would be LOCKED.
    """
    for value in values:
        yield {**_bare_text(value), "role": "user"} if value["role"] == "system" else _bare_text(value)


def _answers(value: Payload) -> bool:
    return value["role"] == "system" and isinstance(value.get("call_id"), str)


def _bare_text(value: Payload) -> Payload:
    return {"role": value["role"], "content": _text_of(value)}


def _text_of(value: Payload) -> str:
    return str(value.get("content") or "")


def _gptme_calls(content: str, answers: Container[str]) -> tuple[str, list[dict[str, Any]]]:
    """Return the text of a reply without its answered calls, and these."""
    texts, calls, done = list[str](), list[dict[str, Any]](), 0
    for found in _GPTME_CALL.finditer(content):
        name, call_id = found.groups()
        end = _end_of_json(content, found.end())
        if found.start() < done or end is None or call_id not in answers or any(call_id == c["id"] for c in calls):
            continue
        calls.append(
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": content[found.end() : end]}}
        )
        texts.append(content[done : found.start()])
        done = end
    return "".join([*texts, content[done:]]).strip() if calls else content, calls


def _end_of_json(text: str, start: int) -> int | None:
    try:
        return read_json_at(text, start)[1]
    except ValueError:
        return None


def _time_of(value: Mapping[str, Any]) -> float | None:
    """Return the time in a line, in seconds since 1970."""
    try:
        return dt.datetime.fromisoformat(value["timestamp"]).timestamp()
    except (LookupError, TypeError, ValueError):
        return None


def _ids(form: Format, message: Payload, kind: ItemKind) -> set[str]:
    return {part.call_id for part in form.read(message) if part.kind is kind}


def _reply_id(line: Mapping[str, Any]) -> tuple[object, object] | None:
    """Return what the lines of one reply share; the request's id too, for some proxies give every reply the same id."""
    message_id = line["message"].get("id")
    return (message_id, line.get("requestId")) if message_id else None


def _blocks(message: Payload) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _bare(message: object) -> object:
    """Return the message as the provider takes it; a line holds more, such as the reply's usage."""
    if not isinstance(message, Mapping):
        return message
    return {key: message[key] for key in ("role", "content") if key in message}


def _is_spoken(line: object) -> bool:
    """Return whether a line of Claude Code is a message of the main conversation; errors of the API were never sent."""
    if not isinstance(line, Mapping) or line.get("type") not in ("user", "assistant"):
        return False
    return not line.get("isSidechain") and not line.get("isApiErrorMessage")


def _is_claude_code(records: Iterable[_Record]) -> bool:
    values = [record.value for record in records if isinstance(record.value, Mapping)]
    lines = sum("message" in value and "type" in value for value in values)
    return lines > sum("role" in value for value in values)


def _is_gptme(records: Sequence[_Record]) -> bool:
    """Return whether each line is a message with its time, and none calls or answers as OpenAI's do."""
    values = [record.value for record in records if isinstance(record.value, Mapping) and "role" in record.value]
    return any(record.line for record in records) and bool(values) and all(map(_is_timed_text, values))


def _is_timed_text(value: Mapping[str, Any]) -> bool:
    return (
        isinstance(value.get("timestamp"), str)
        and not isinstance(value.get("content"), list)
        and not {"tool_calls", "tool_call_id", "message"} & value.keys()
    )


def _format_of(document: Mapping[str, Any], records: Sequence[_Record]) -> Format:
    """Return the format of the last provider that recognises its own; without one the first provider's."""
    if _is_claude_code(records):
        return _CLAUDE_CODE
    values = [record.value for record in records]
    known = [*PROVIDERS.values()]
    return next((each.format for each in reversed(known) if each.wrote(document, values)), known[0].format)


def _logged(reader: _Reader, records: Sequence[_Record]) -> tuple[Mapping[str, Any], Sequence[_Record]]:
    """Return the lines of gc-core's own log as messages, each with its time, and a document of the prefix."""
    lines = [record for record in records if isinstance(record.value, Mapping)]
    for record in records:
        if not isinstance(record.value, Mapping):
            reader.say(record.line, "", "an object", f"{record.value!r:.200}, expected an object")
    head = head_of_log([line.value for line in lines])
    said = [
        _Record(line.line, "payload", line.value.get("payload"), _seconds(line.value.get("time")))
        for line in lines
        if is_said(line.value)
    ]
    return {"instructions": list(head.texts), "tools": list(head.schemas)}, said


def _seconds(time: object) -> float | None:
    return float(time) if isinstance(time, int | float) else None


def _unrolled(
    reader: _Reader, document: Mapping[str, Any], records: Sequence[_Record]
) -> tuple[Mapping[str, Any], Sequence[_Record]]:
    """Return a rollout of Codex as the items that it sent, each with its time; other files as they are."""
    lines = [record for record in records if isinstance(record.value, Mapping)]
    if not any(line.value.get("type") == "response_item" for line in lines):
        return document, records
    items = []
    for line in lines:
        payload = line.value.get("payload")
        match line.value.get("type"):
            case "response_item" | "session_meta" if not isinstance(payload, Mapping):
                reader.say(line.line, "payload", "an object", f"payload: {payload!r}, expected an object")
            case "response_item" if payload.get("type") != "ghost_snapshot":
                items.append(_Record(line.line, "payload", payload, _time_of(line.value)))
            case "session_meta" if "instructions" not in document:  # a fork repeats that of its origin after its own
                document = {**document, "instructions": _codex_instructions(payload)}
            case "compacted":
                text = "Codex compacted here; the items before it are as they were"
                reader.say(line.line, "type", "a rollout without a compaction", text)
    return document, items


def _codex_instructions(meta: Mapping[str, Any]) -> Sequence[Any]:
    instructions = meta.get("instructions") or meta.get("base_instructions")
    return _listed(instructions.get("text") if isinstance(instructions, Mapping) else instructions)


def _instructed(document: Mapping[str, Any]) -> Sequence[Any]:
    """Return the parts of Gemini's system instruction; it may be a mere text."""
    found = document.get("systemInstruction") or document.get("system_instruction")
    return _listed(found.get("parts")) if isinstance(found, Mapping) else _listed(found)


def _declared(tools: object) -> Iterator[Any]:
    """Yield the tool schemas; Gemini's come in lists of declarations."""
    for tool in _listed(tools):
        lists = ("functionDeclarations", "function_declarations")
        key = next((key for key in lists if key in tool), None) if isinstance(tool, Mapping) else None
        yield from [tool] if key is None else _listed(tool[key])


def _listed(value: object) -> Sequence[Any]:
    """Return a list as it is, nothing as no elements, anything else as the one element that it is."""
    if isinstance(value, list):
        return value
    return [value] if value else []


def _leading_system(messages: Sequence[Payload], form: Format) -> tuple[list[str], list[Payload]]:
    """Return the texts of the system messages at the head, and the messages after them."""
    texts = list[str]()
    for at, message in enumerate(messages):
        parts = form.read(message)
        if form.role(message) is not Role.SYSTEM or any(part.kind is not ItemKind.SYSTEM_TEXT for part in parts):
            return texts, list(messages[at:])
        texts += [part.text for part in parts]
    return texts, []


def _path(outer: str, inner: str) -> str:
    """
    Return the field inside a record as seen from the file; formats call the whole of what they read
    message or tool.
    """
    whole, _, rest = inner.partition(".")
    inner = rest if whole in {"message", "tool"} and outer else inner
    return f"{outer}.{inner}" if outer and inner else outer or inner


def _starts_with_object(lines: Sequence[str]) -> bool:
    """
    Return whether the first line is a JSON object by itself: then the file is one of lines,
    whatever it is called.
    """
    first = next((line for line in lines if line.strip()), "")
    return read_object(first) is not None
