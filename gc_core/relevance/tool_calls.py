"""
The one reader of tool calls: the action of a call and its files, by its name and its arguments.

Everything that has to know what a call did uses it: summaries, the task state, liveness, suggestions and the working
set. Tools are recognised by the shape of their arguments and by the words of their names, shell commands by what their
parts do.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from gc_core.relevance.shell import Effect, read_command
from gc_core.values.items import Item, Part
from gc_core.values.json_values import keys_and_values, read_object
from gc_core.values.patterns import regex

_ASKED_CHARS = 120
_VALUE_CHARS = 300
_PATH_CHARS = 300


class CallKind(enum.Enum):
    """The kind of action of a call; the value describes the action on a file."""

    READ = "read"
    SEARCH = "searched"
    WRITE = "written"
    EDIT = "edited"
    RUN = "run"
    OTHER = "named in a call"
    NOTE = "noted"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is Python code, and every call is looked up


CHANGES: Final = frozenset({CallKind.WRITE, CallKind.EDIT})
"""Kinds of calls that change files."""

REPLACED: Final = frozenset(
    {"old_string", "old_str", "oldString", "oldText", "old_text", "old_content", "old", "before"}
)
"""Arguments in which an edit quotes what it replaces."""

_REPLACING: Final = REPLACED | {"search", "find", "diff", "patch", "edits", "insert_line", "new_str", "new_string"}
_CONTENT: Final = frozenset(
    {"content", "contents", "file_text", "text", "code", "source_code", "code_edit", "new_source"}
)
_PATHS: Final = frozenset(
    {"path", "paths", "file", "files", "filename", "filepath", "file_path", "file_paths", "filePath", "notebook_path"}
    | {"target_file", "absolute_path", "source", "destination", "relative_path", "fileName", "file_name", "uri"}
    | {"AbsolutePath", "TargetFile", "include", "abs_path", "target_notebook", "old_path", "new_path"}
)
_FILE_ARGUMENTS: Final = _PATHS - {"source", "destination", "include", "uri"}
COMMANDS: Final = ("command", "cmd", "script", "commandLine", "CommandLine", "input", "action")
"""Arguments that may contain a shell command."""

_SHELL_WORDS: Final = frozenset(
    {"bash", "shell", "terminal", "command", "sh", "powershell", "cmd", "exec", "execute", "run"}
)
_NOTE_WORDS: Final = frozenset(
    {"todo", "todos", "task", "plan", "think", "thought", "thinking", "note", "memo", "topic", "finish", "memory"}
    | {"attempt", "ask", "respond", "complete", "submit"}
)
_SEARCH_WORDS: Final = frozenset({"grep", "glob", "search", "find", "list", "ls", "tree", "codebase", "definitions"})
_EDIT_WORDS: Final = frozenset(
    {"edit", "editor", "replace", "patch", "insert", "append", "multiedit", "delete", "undo", "move", "rename", "apply"}
    | {"modify", "remove"}
)
_WRITE_WORDS: Final = frozenset({"write", "create", "save", "overwrite"})
_READ_WORDS: Final = frozenset({"read", "view", "cat", "open", "get", "fetch", "show"})
_FILE_WORDS: Final = frozenset(
    {"read", "view", "cat", "file", "files", "text", "many", "multiple", "code", "tool", "image"}
)
_RUN_WORDS: Final = _SHELL_WORDS | {
    "python",
    "test",
    "tests",
    "build",
    "lint",
    "compile",
    "ipython",
    "jupyter",
    "notebook",
}
_UPDATE_WORDS: Final = _EDIT_WORDS | _WRITE_WORDS | {"update", "set", "put", "close", "transition", "assign"}
VIEWS: Final = frozenset({"view", "read", "cat", "open", "show"})
"""Commands of an editor that only show a file."""

_PART_READERS = regex(r"\b(?:head|tail|sed|awk|less|more)\b")

NAME_WORD = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PATCHED = regex(r"^\*\*\* (Add|Update|Delete) File: (\S.*)$|^\+\+\+ (?:b/)?(\S+)", re.MULTILINE)
_MOVED = regex(r"^\*\*\* Move to: (\S.*)$", re.MULTILINE)
_VALUE_WORD = regex(r"[\w./-]{3,}")
_RANGES: Final = (
    ("start_line", "end_line"), ("startLine", "endLine"), ("line_start", "line_end"), ("start", "end"),
    ("start_line_one_indexed", "end_line_one_indexed_inclusive"), ("from_line", "to_line"), ("StartLine", "EndLine"),
    ("start_line_one_indexed", "end_line_one_indexed"), ("first_line", "last_line"), ("begin_line", "end_line"),
)  # fmt: skip
PARTIAL: Final = frozenset(
    {"offset", "limit", "view_range", "range", "lines", "pages", "line"}.union(*map(set, _RANGES))
)


@attrs.frozen(kw_only=True)
class ToolCall:
    """
    A tool call, parsed once.

    Attributes:
        name: The tool's name.
        kind: The kind of its action.
        asked: Its first short argument, in one line.
        keys: Names of its arguments.
        words: Words of the values of its arguments.
        paths: Files that its arguments name.
        files: The files that it showed, wrote or changed, also as a shell command; none for a search.
        lines: First and last line that it requested from its file, if it names both; None: the whole file, or unknown.
        is_whole: It requested the whole file.
        new_texts: Long texts among its arguments that it wrote.

    """

    name: str
    kind: CallKind = CallKind.OTHER
    asked: str = ""
    keys: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None
    is_whole: bool = True
    new_texts: tuple[str, ...] = attrs.field(default=(), repr=False)

    @classmethod
    def of(cls, item: Item | Part) -> ToolCall:
        """Return the call of an item."""
        return _KNOWN.of(item.name, item.text)

    @classmethod
    def unknown(cls, name: str) -> ToolCall:
        """Return the call of a result whose call is not among the originals."""
        return cls(name=name)

    @property
    def changes(self) -> bool:
        """True if it changed files."""
        return self.kind in CHANGES


def arguments_of(item: Item) -> Mapping[str, Any] | None:
    """Return the arguments of a call; None when they are free text."""
    return read_object(item.text)


def could_read_files(name: str, schema: Any) -> bool:
    """Return whether a tool could read a file of the host, by the words of its name and its arguments: a shell, too."""
    has_files = not _FILE_ARGUMENTS.isdisjoint(map(str, keys_and_values(schema)))
    return _kind_by_name(words_of(name), has_files=has_files) in {CallKind.READ, CallKind.EDIT, CallKind.RUN}


def words_of(name: str) -> frozenset[str]:
    """Return the words of a tool's name in lower case, without those of the server that it belongs to."""
    own = name.removeprefix("mcp__").partition("__")[2] or name
    return frozenset(word.lower() for word in NAME_WORD.findall(own))


def texts_in(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield texts and numbers among the arguments, and texts in lists and objects one level below, with their keys."""
    for key, value in arguments.items():
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, list):
            yield from ((key, inner) for inner in value if isinstance(inner, str))
            yield from (pair for inner in value if isinstance(inner, dict) for pair in inner.items() if _is_text(pair))
        elif isinstance(value, dict):
            yield from (pair for pair in value.items() if _is_text(pair))
        elif isinstance(value, int | float):
            yield key, str(value)


def first_line(text: str, most: int) -> str:
    """Return the first line with a letter or digit, preferably not a heading, rule or fence, cut at a blank; or ""."""
    head = text[: 4 * most]
    for line in head.split("\n"):
        stripped = line.strip()
        if not stripped.startswith(("#", "```", "---", "|")) and any(map(str.isalnum, stripped)):
            return cut_line(one_line(stripped), most)
    return cut_line(one_line(head), most) if any(map(str.isalnum, head)) else ""


def cut_line(line: str, most: int) -> str:
    """Return the line itself, or its beginning, cut at a blank."""
    if len(line) <= most:
        return line
    blank = line.rfind(" ", most // 2, most)
    return line[: blank if blank > 0 else most]


def one_line(text: str) -> str:
    """Return the text with single blanks."""
    return " ".join(text.split())


# -- inside ----------------------------------------------------------------------------------------------------------


@attrs.frozen
class _Did:
    """The action of a call, its files, and the lines it requested."""

    kind: CallKind
    files: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None


class _Known:
    """
    A cache of the calls that were read: every collection asks for them while they are resident.

    Bounded by their number and their characters, because the arguments of a call may be a whole file; it is emptied
    when it is full.
    """

    most, most_letters = 4_096, 2_000_000

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], ToolCall] = {}
        self._letters = 0

    def of(self, name: str, text: str) -> ToolCall:
        known = self._calls.get((name, text))
        if known is None:
            if len(self._calls) >= self.most or self._letters >= self.most_letters:
                self._calls, self._letters = {}, 0
            known = self._calls[name, text] = _read(name, text)
            self._letters += len(text)
        return known


_KNOWN = _Known()


def _read(name: str, text: str) -> ToolCall:
    arguments = read_object(text)
    if arguments is None:
        return _free(name, text)
    strings = [(key, value) for key, value in texts_in(arguments) if value.strip()]
    paths = tuple(dict.fromkeys(one_line(value) for key, value in strings if _is_path(key, value)))
    short = [value for _, value in strings if len(value) <= _VALUE_CHARS]
    did = _did(name, arguments, _named_files(strings))
    return ToolCall(
        name=name,
        kind=did.kind,
        asked=one_line(next(iter(short), strings[0][1][:_VALUE_CHARS] if strings else ""))[:_ASKED_CHARS],
        keys=frozenset(arguments),
        words=frozenset(word for _, value in strings for word in _VALUE_WORD.findall(value[:_VALUE_CHARS])),
        paths=paths,
        files=did.files,
        lines=did.lines,
        is_whole=did.lines is None and PARTIAL.isdisjoint(arguments) and _shows_all(command_in(arguments)),
        new_texts=tuple(value for key, value in strings if not key.lower().startswith("old")),
    )


def _free(name: str, text: str) -> ToolCall:
    """Return a call whose arguments are not a JSON object: a patch, a command, or truncated JSON."""
    did = _patch(text) or _free_did(name, text)
    return ToolCall(
        name=name,
        kind=did.kind,
        asked=first_line(text, _ASKED_CHARS),
        words=frozenset(_VALUE_WORD.findall(text[:_VALUE_CHARS])),
        paths=did.files if did.kind in CHANGES else (),
        files=did.files,
        new_texts=(text,),
    )


def _is_text(pair: tuple[str, Any]) -> bool:
    return isinstance(pair[1], str)


def _is_path(key: str, value: str) -> bool:
    return key in _PATHS and len(value) <= _PATH_CHARS and any(sign in value for sign in "./\\")


def _named_files(strings: list[tuple[str, str]]) -> tuple[str, ...]:
    """Return the files under the usual argument keys: values with a dot or a slash, or keys that mean a file."""
    named = (value.strip() for key, value in strings if key in _PATHS and len(value) <= _PATH_CHARS)
    return tuple(dict.fromkeys(value for value in named if "\n" not in value))


def _did(name: str, arguments: Mapping[str, Any], files: tuple[str, ...]) -> _Did:
    words = words_of(name)
    command = command_in(arguments)
    if "editor" in words or "based" in words:
        return _of_editor(command, arguments, files)
    patch = _patch(next((value for value in arguments.values() if isinstance(value, str) and "\n" in value), ""))
    if patch is not None and not words.isdisjoint({"patch", "apply", "diff"}):
        return patch
    if command and not files and not words.isdisjoint(_SHELL_WORDS):
        return _of_shell(command)
    return _of_tool(words, arguments, files)


def command_in(arguments: Mapping[str, Any]) -> str:
    """Return the command among a call's arguments, or ""."""
    for key in COMMANDS:
        value = arguments.get(key)
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return value[-1] if len(value) > 1 and value[-2] in {"-c", "-lc"} else " ".join(value)
        if isinstance(value, str) and value:
            return value
    return ""


def takes_command(call: ToolCall) -> bool:
    """Return whether a call's argument is a command: free text, or under a name for commands."""
    return not call.keys or not call.keys.isdisjoint(COMMANDS)


def updates(call: ToolCall) -> bool:
    """Return whether a call changes files, or by its name anything else that its arguments name, such as a ticket."""
    return call.changes or (call.kind is CallKind.OTHER and not words_of(call.name).isdisjoint(_UPDATE_WORDS))


def _shows_all(command: str) -> bool:
    return _PART_READERS.search(command[:_ASKED_CHARS]) is None


_EFFECTS: Final = {
    Effect.SEARCHES: CallKind.SEARCH,
    Effect.READS: CallKind.READ,
    Effect.EDITS: CallKind.EDIT,
    Effect.WRITES: CallKind.WRITE,
}


def _of_shell(command: str) -> _Did:
    reading = read_command(command)
    return _Did(_EFFECTS.get(reading.effect, CallKind.RUN), reading.files, reading.lines)


def _of_editor(command: str, arguments: Mapping[str, Any], files: tuple[str, ...]) -> _Did:
    """Return what an editor did; its command says which of several actions."""
    words = words_of(command[:_ASKED_CHARS])
    if not words.isdisjoint(VIEWS):
        return _Did(CallKind.READ, files, _lines(arguments))
    return _Did(CallKind.WRITE if not words.isdisjoint(_WRITE_WORDS) else CallKind.EDIT, files)


def _of_tool(words: frozenset[str], arguments: Mapping[str, Any], files: tuple[str, ...]) -> _Did:
    """Return what a tool other than a shell did: by its arguments first, then by its name."""
    if files and _replaces(arguments):
        return _Did(CallKind.EDIT, files)
    if files and not words.isdisjoint(_WRITE_WORDS | {"file"}) and not _CONTENT.isdisjoint(arguments):
        return _Did(CallKind.WRITE, files)
    kind = _kind_by_name(words, has_files=bool(files))
    if kind is CallKind.READ:
        return _Did(kind, files, _lines(arguments))
    return _Did(kind, files if kind in {*CHANGES, CallKind.RUN} else ())


def _kind_by_name(words: frozenset[str], *, has_files: bool) -> CallKind:
    """Return the first kind that the words of a name indicate."""
    speaks = (
        (CallKind.NOTE, not has_files and not words.isdisjoint(_NOTE_WORDS)),
        (CallKind.SEARCH, not words.isdisjoint(_SEARCH_WORDS) and words.isdisjoint(_READ_WORDS - {"get"})),
        (CallKind.EDIT, has_files and not words.isdisjoint(_EDIT_WORDS)),
        (CallKind.WRITE, has_files and not words.isdisjoint(_WRITE_WORDS)),
        (CallKind.READ, not words.isdisjoint(_READ_WORDS) and (has_files or words <= _FILE_WORDS)),
        (CallKind.RUN, not words.isdisjoint(_RUN_WORDS)),
    )
    return next((kind for kind, says in speaks if says), CallKind.OTHER)


def _replaces(arguments: Mapping[str, Any]) -> bool:
    return not (_REPLACING - {"search", "find"}).isdisjoint(arguments) or (
        "replace" in arguments and ("search" in arguments or "find" in arguments)
    )


def _free_did(name: str, text: str) -> _Did:
    """Return what free text did: a shell's command, or an edit of unknown files."""
    words = words_of(name)
    if not words.isdisjoint(_SHELL_WORDS):
        return _of_shell(text)
    return _of_tool(words, {}, ())


def _patch(text: str) -> _Did | None:
    """Return what a patch did, in Codex's format or diff's; None for other texts."""
    found = _PATCHED.findall(text) if "*** " in text or "+++ " in text else []
    if not found:
        return None
    names = [(one or other).strip()[:_PATH_CHARS] for _, one, other in found]
    moved = [name.strip() for name in _MOVED.findall(text)]
    adds = all(what == "Add" for what, _, _ in found)
    files = tuple(dict.fromkeys(one_line(name) for name in (*names, *moved) if name != "/dev/null"))
    return _Did(CallKind.WRITE if adds else CallKind.EDIT, files)


def _lines(arguments: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the lines that a call requests, if it names both ends."""
    view = arguments.get("view_range")
    if isinstance(view, list) and len(view) == 2 and all(type(end) is int for end in view):  # noqa: PLR2004 - both ends
        return (view[0], view[1]) if view[1] >= view[0] else None
    for first, last in _RANGES:
        start, end = _whole(arguments.get(first)), _whole(arguments.get(last))
        if start is not None and end is not None:
            return (start, end) if end >= start else None
    limit, offset = _whole(arguments.get("limit")), _whole(arguments.get("offset"))
    if limit:
        start = max(1, offset or 1)
        return start, start + limit - 1
    return None


def _whole(value: object) -> int | None:
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if type(value) is int else None
