"""What a tool call did, as far as its name, its arguments and its result tell."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from gc_core.items import Item

_ASKED_CHARS = 120
_VALUE_CHARS = 300
_PATH_CHARS = 200
_HEAD, _TAIL = 300, 3_000
_LINE = 280
_MOST_VERDICTS = 2


class Deed(enum.Enum):
    """What kind of thing a call does; the value says of a file what was done to it."""

    READ = "read"
    SEARCH = "searched"
    EDIT = "edited"
    RUN = "run"
    OTHER = "named in a call"
    NOTE = "noted"


# The first that shares a word with the tool's name or, where one tool does several things, with its "command".
_DEEDS: Final = (
    (Deed.NOTE, frozenset({"todo", "task", "plan", "think", "thought", "note", "memo", "topic", "finish"})),
    (Deed.SEARCH, frozenset({"grep", "glob", "search", "find", "list", "ls"})),
    (
        Deed.EDIT,
        frozenset(
            {"edit", "editor", "write", "replace", "patch", "insert", "append", "multiedit", "create", "delete", "undo"}
        ),
    ),
    (Deed.READ, frozenset({"read", "view", "cat", "open", "get", "fetch", "show"})),
    (
        Deed.RUN,
        frozenset({"bash", "shell", "exec", "execute", "run", "command", "terminal", "python", "sql", "test", "tests"}),
    ),
)
_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PATH_KEYS = frozenset(
    {"path", "paths", "file", "files", "filename", "filepath", "file_path", "file_paths", "filePath", "notebook_path"}
    | {"target_file", "absolute_path", "source", "destination", "relative_path"}
)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (\S.*)$", re.MULTILINE)
_VALUE_WORD = re.compile(r"[\w./-]{3,}")

_FAILED_HEAD = re.compile(
    r"\s*(?:<tool_use_error>|\{\"error\"|\[?(?:fatal )?error\b|exception\b|traceback \(|fatal:|failed\b|failure\b"
    r"|command failed|exit code:? [1-9]|permission denied|no such file|execution timed out|timed out)",
    re.IGNORECASE,
)
_FAILED_TAIL = re.compile(
    r"^(?:FAIL(?:ED)?\b.*|npm ERR!.*|Traceback \(most.*|\w*Error: .*|error(?:\[\w+\])?: .*|fatal: .*)$"
    r"|\b[1-9]\d{0,6} (?:tests? )?fail(?:ed|ing|ures?)\b|\bexit(?:ed)?(?: with)?(?: code| status)[: ]{1,2}[1-9]"
    r"|\bcommand not found\b",
    re.MULTILINE,
)
_EXIT_CODE_ALONE = re.compile(r"exit code:? \d+:?", re.IGNORECASE)
_VERDICT = re.compile(
    r"\b\d{1,7} (?:tests? )?(?:passed|failed|failing|passing|failures?|errors?|warnings?)\b|^(?:PASS|FAIL|ok)\b"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)\b|\ball tests pass"
    r"|^\[[\w./-]{1,80}(?: \(root-commit\))? [0-9a-f]{7,40}\]|\bcommit [0-9a-f]{7,40}\b|\bBUILD (?:SUCCESS|FAIL)|^OK\b",
    re.MULTILINE,
)


@attrs.frozen(kw_only=True)
class Call:
    """
    A tool call, read once.

    Attributes:
        name: The tool.
        deed: What kind of thing it did.
        asked: Its first short argument, in one line.
        keys: Names of its arguments.
        words: Words of the values of its arguments.
        paths: Files that its arguments name.
        new_texts: Long texts among its arguments that it wrote.

    """

    name: str
    deed: Deed = Deed.OTHER
    asked: str = ""
    keys: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    new_texts: tuple[str, ...] = attrs.field(default=(), repr=False)

    @classmethod
    def unknown(cls, name: str) -> Call:
        """The call of a result whose call is not among the originals."""
        return cls(name=name)

    def overlaps(self, other: Call) -> bool:
        """Whether the arguments have a name in common and, where they have words, a word."""
        if self.keys and other.keys and self.keys.isdisjoint(other.keys):
            return False
        return not self.words or not other.words or not self.words.isdisjoint(other.words)


def call_of(item: Item) -> Call:
    """The call that an item is."""
    arguments = arguments_of(item)
    if arguments is None:
        return _free(item)
    strings = [(key, value) for key, value in texts_in(arguments) if value.strip()]
    paths = tuple(dict.fromkeys(_one_line(value) for key, value in strings if _is_path(key, value)))
    short = [value for _, value in strings if len(value) <= _VALUE_CHARS]
    return Call(
        name=item.name,
        deed=_deed(item.name, str(arguments.get("command", "")), has_paths=bool(paths)),
        asked=_one_line(next(iter(short), strings[0][1][:_VALUE_CHARS] if strings else ""))[:_ASKED_CHARS],
        keys=frozenset(arguments),
        words=frozenset(word for _, value in strings for word in _VALUE_WORD.findall(value[:_VALUE_CHARS])),
        paths=paths,
        new_texts=tuple(value for key, value in strings if not key.lower().startswith("old")),
    )


def arguments_of(item: Item) -> Mapping[str, Any] | None:
    """The arguments of a call; None when they are free text."""
    try:
        arguments = json.loads(item.text)
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) else None


def _free(item: Item) -> Call:
    paths = tuple(dict.fromkeys(_one_line(path)[:_PATH_CHARS] for path in _PATCHED.findall(item.text)))
    return Call(
        name=item.name,
        deed=_deed(item.name, "", has_paths=bool(paths)),
        asked=first_line(item.text, _ASKED_CHARS),
        words=frozenset(_VALUE_WORD.findall(item.text[:_VALUE_CHARS])),
        paths=paths,
        new_texts=(item.text,),
    )


def texts_in(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Texts and numbers among the arguments, and texts in lists and objects one level below, with their keys."""
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


def _is_text(pair: tuple[str, Any]) -> bool:
    return isinstance(pair[1], str)


def _is_path(key: str, value: str) -> bool:
    return key in _PATH_KEYS and len(value) <= _PATH_CHARS and any(sign in value for sign in "./\\")


def _deed(name: str, command: str, *, has_paths: bool) -> Deed:
    words = {word.lower() for word in _NAME_WORD.findall(name)}
    if "editor" in words:
        words = {word.lower() for word in _NAME_WORD.findall(command[:_ASKED_CHARS])} or words
    deed = next((deed for deed, known in _DEEDS if not known.isdisjoint(words)), Deed.OTHER)
    # "create_issue" and "replace_card" edit no file.
    return Deed.OTHER if deed is Deed.EDIT and not has_paths else deed


def _one_line(text: str) -> str:
    return " ".join(text.split())


# -- results -------------------------------------------------------------------------------------------------------


def failure_in(item: Item, deed: Deed) -> str:
    """The line by which a result says that its call failed, or "" when it does not say so."""
    text = item.text
    if item.is_error or _FAILED_HEAD.match(text[:_HEAD]):
        return _telling(text) or "no message"
    if deed is not Deed.RUN:
        return ""
    tail = text[-_TAIL:]
    found = _last(_FAILED_TAIL, tail)
    if found is None:
        return ""
    return _telling(text) if found[0].startswith("Traceback") else _line_at(tail, found.start())


def verdicts_in(text: str) -> list[str]:
    """The last lines of a result that say how a run ended: passed, failed, exit codes, commits."""
    tail = text[-_TAIL:]
    lines = dict.fromkeys(_line_at(tail, found.start()) for found in _VERDICT.finditer(tail))
    return [line for line in lines if line][-_MOST_VERDICTS:]


def first_line(text: str, most: int) -> str:
    """The first line with a letter or digit, no heading, rule or fence if there is another; cut at a blank, or ""."""
    head = text[: 4 * most]
    for line in head.split("\n"):
        stripped = line.strip()
        if not stripped.startswith(("#", "```", "---", "|")) and any(map(str.isalnum, stripped)):
            return _cut(_one_line(stripped), most)
    return _cut(_one_line(head), most) if any(map(str.isalnum, head)) else ""


def _telling(text: str) -> str:
    """The first line of an error, of a traceback the last, which names it."""
    if "Traceback (most recent call last)" in text[:_HEAD] or "Traceback (most recent call last)" in text[-_TAIL:]:
        lines = [line for line in text[-_TAIL:].split("\n") if line.strip()]
        return _cut(_one_line(lines[-1]), _LINE) if lines else ""
    line = first_line(text, _LINE)
    if not _EXIT_CODE_ALONE.fullmatch(line):
        return line
    rest = first_line(text[text.find(line) + len(line) :], _LINE - len(line))
    return f"{line} {rest}".rstrip()


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007 - the last one is what is asked for
        pass
    return found


def _line_at(text: str, place: int) -> str:
    """The line around a place, of a very long one what stands behind it."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    end = len(text) if end < 0 else end
    return _cut(_one_line(text[start if place - start <= _LINE // 2 else place : end]), _LINE)


def _cut(line: str, most: int) -> str:
    """The line itself, or its beginning up to a blank."""
    if len(line) <= most:
        return line
    blank = line.rfind(" ", most // 2, most)
    return line[: blank if blank > 0 else most]
