"""The effects of a shell command on files: those it shows, writes and changes, as far as its words say."""

from __future__ import annotations

import enum
import functools
import itertools
import re
import shlex
from collections.abc import Iterator, Sequence

import attrs

from gc_core.values.patterns import regex

MOST_CHARS = 4_000
"""The characters of a command that are read, without the texts of here-documents."""


class Effect(enum.IntEnum):
    """The effect of a command; of several effects, the highest counts."""

    NOTHING = 0
    SEARCHES = 1
    READS = 2
    RUNS = 3
    EDITS = 4
    WRITES = 5


@attrs.frozen
class ShellReading:
    """
    The effect of a command.

    Attributes:
        effect: The strongest effect of its parts.
        files: The files that it shows, writes, changes or runs, as it names them; none for a search.
        lines: First and last line that it shows of its only file, if it names both.

    """

    effect: Effect
    files: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None


_READERS = frozenset({"cat", "head", "tail", "less", "more", "nl", "bat", "batcat", "get-content", "gc", "type"})
_SEARCHERS = frozenset(
    {"grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "ls", "tree", "wc", "locate", "dir", "du", "stat"}
    | {"select-string", "get-childitem", "which", "file"}
)
_REMOVERS = frozenset({"rm", "mv", "patch", "rename", "remove-item", "move-item", "unlink", "truncate"})
_WRITERS = frozenset({"tee", "set-content", "out-file", "new-item"})
_TEXTS = frozenset({"cat", "echo", "printf", "tee", "write-output"})
_QUIET = frozenset({"cd", "echo", "printf", "true", "export", "set", "mkdir", "pwd", "source", "sleep", "write-output"})
_PREFIXES = frozenset({"sudo", "env", "time", "nohup", "command", "exec", "then", "do", "else", "!", "{"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "powershell", "pwsh", "cmd"})
_WITH_VALUE = frozenset(
    {"-n", "-c", "-A", "-B", "-C", "-e", "-f", "-m", "-d", "-s", "-p", "--lines", "-Path", "-TotalCount", "-Tail"}
    | {"-Encoding", "-Value", "-First", "-Skip"}
)
_SUBCOMMAND_EDITS = frozenset({"rm", "mv", "apply", "am"})
_SUBCOMMAND_SEARCHES = frozenset({"grep", "ls-files", "ls-tree"})
_MATCHERS = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "fd", "select-string", "locate", "which"})
_PATTERN_OPTIONS = frozenset({"-e", "-f", "--regexp", "--file", "--files", "-Pattern"})
_MATCHER_WITH_VALUE = frozenset(
    {"-e", "-f", "-A", "-B", "-C", "-m", "-g", "-t", "-T", "--regexp", "--file", "-Pattern"}
    | {"--include", "--exclude", "--glob", "--type"}
)

_SEPARATOR = regex(r"[;&|()]+")
_ASSIGNMENT = regex(r"\w+=")
_FILE = regex(r"[^\s*?{}$<>|=,:]*\.[A-Za-z][A-Za-z0-9]{0,9}")
_RANGE = regex(r"(\d{1,7}),(\d{1,7})p|(\d{1,7})p")
_ROWS = regex(r"NR\s*>=?\s*(\d{1,7})\s*&&\s*NR\s*<=?\s*(\d{1,7})|NR\s*==\s*(\d{1,7})\s*,\s*NR\s*==\s*(\d{1,7})")
_COUNT = regex(r"-n?(\d{1,7})")
_HEREDOC = regex(r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w{0,40})\1")


@functools.lru_cache(maxsize=2_048)
def read_command(command: str) -> ShellReading:
    """Return the effect of a command. Never fails: an unreadable command counts as running something."""
    bare, patched = _without_heredocs(command[: 4 * MOST_CHARS])
    readings = [_reading(part) for part in _parts(bare[:MOST_CHARS])]
    if patched:
        readings.append(ShellReading(Effect.EDITS, patched))
    return _together(readings)


def places_searched(command: str) -> Iterator[str]:
    """Yield the words of a command that name a place in which it searches or to which it goes, but no pattern."""
    for part in _parts(_without_heredocs(command[: 4 * MOST_CHARS])[0][:MOST_CHARS]):
        words = [word for word in part.words if word not in _PREFIXES]
        program, rest = (words[0].rpartition("/")[2].lower(), words[1:]) if words else ("", [])
        if program == "git" and (subcommand := _subcommand(rest)):
            program, rest = subcommand, rest[rest.index(subcommand) + 1 :]
        if program in _SHELLS and len(rest) > 1:
            yield from places_searched(rest[-1])
        elif program in {"find", "cd"}:
            yield from itertools.takewhile(lambda word: not word.startswith("-"), rest)
        elif program in _SEARCHERS | _SUBCOMMAND_SEARCHES:
            yield from _places(rest, has_pattern=program in _MATCHERS)


# -- inside ----------------------------------------------------------------------------------------------------------


def _places(rest: Sequence[str], *, has_pattern: bool) -> list[str]:
    """Return the operands of a search without the pattern, which is the first unless an option holds it."""
    found, skips = [], False
    for word in rest:
        if skips or word.startswith("-"):
            skips = not skips and word in _MATCHER_WITH_VALUE
            has_pattern = has_pattern and word not in _PATTERN_OPTIONS
        else:
            found.append(word)
    return found[has_pattern:]


@attrs.frozen
class _Part:
    """One program with its words, and the target of its output."""

    words: tuple[str, ...]
    is_fed: bool = False
    target: str = ""
    appends: bool = False


def _together(readings: Sequence[ShellReading]) -> ShellReading:
    """
    Return the strongest effect, with the files of the parts that have it; a listing next to a view
    counts as the view.
    """
    effect = max((reading.effect for reading in readings), default=Effect.RUNS)
    if effect is Effect.NOTHING:
        effect = Effect.RUNS
    its = [reading for reading in readings if reading.effect is effect]
    files = tuple(dict.fromkeys(file for reading in its for file in reading.files))
    lines = its[0].lines if len(its) == 1 and len(files) == 1 else None
    return ShellReading(effect, () if effect is Effect.SEARCHES else files, lines)


def _without_heredocs(command: str) -> tuple[str, tuple[str, ...]]:
    """Return the command without the texts of its here-documents, and the files that patches in them change."""
    patched: list[str] = []
    while (found := _HEREDOC.search(command)) is not None:
        line = command.find("\n", found.end())
        end = -1 if line < 0 else command.find(f"\n{found[2]}", line)
        if line < 0:
            command = f"{command[: found.start()]} __heredoc__ {command[found.end() :]}"
            continue
        body = command[line : end if end >= 0 else len(command)]
        patched += _patched(body)
        rest = command[end + 1 + len(found[2]) :] if end >= 0 else ""
        command = f"{command[: found.start()]} __heredoc__ {command[found.end() : line]}\n{rest}"
    return command, tuple(dict.fromkeys(patched))


_PATCHED = regex(r"^(?:\*\*\* (?:Add|Update|Delete) File: (\S[^\n]*)|\+\+\+ (?:b/)?(\S+))", re.MULTILINE)


def _patched(body: str) -> Iterator[str]:
    for one, other in _PATCHED.findall(body):
        name = (one or other).strip()
        if name != "/dev/null":
            yield name


def _parts(command: str) -> Iterator[_Part]:
    """Yield the programs of a command, in order."""
    words: list[str] = []
    fed = False
    for word in (*_words(command), ";"):
        if not _SEPARATOR.fullmatch(word):
            words.append(word)
            continue
        if words:
            yield _part(words, is_fed=fed)
        fed = word in {"|", "|&"}
        words = []


def _words(command: str) -> list[str]:
    """Return the words of a command as a shell splits them; at blanks if quotes do not match."""
    text = command.replace("\\\n", " ").replace("\n", " ; ")
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|<>()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return text.split()


def _part(words: Sequence[str], *, is_fed: bool) -> _Part:
    """Return a program without its redirections; redirected errors do not count as output."""
    plain: list[str] = []
    target, appends, skips = "", False, False
    for place, word in enumerate(words):
        if skips:
            skips = False
        elif word[0] in "<>" if word else False:
            skips = True
            follows = words[place + 1] if place + 1 < len(words) else ""
            is_error = bool(plain) and plain[-1] == "2" and word != ">>"
            if ">" in word and "&" not in word and follows and follows != "/dev/null" and not is_error:
                target, appends = follows, word == ">>"
            if plain and plain[-1] in {"1", "2"}:
                plain.pop()
        else:
            plain.append(word)
    return _Part(words=tuple(plain), is_fed=is_fed, target=target, appends=appends)


def _reading(part: _Part) -> ShellReading:
    words = list(part.words)
    while words and (words[0] in _PREFIXES or _ASSIGNMENT.match(words[0])):
        words.pop(0)
    if words and words[0] == "timeout":
        words = words[2:]
    if not words:
        return ShellReading(Effect.WRITES, (part.target,)) if part.target else ShellReading(Effect.NOTHING)
    program, rest = words[0].rpartition("/")[2].lower(), words[1:]
    if program in _SHELLS and any(word.lstrip("-/").lower() in {"c", "lc", "command"} for word in rest):
        return read_command(rest[-1])
    return _writing(program, rest, part) or _looking(program, rest, part)


def _writing(program: str, rest: list[str], part: _Part) -> ShellReading | None:
    """Return the reading of a program that changes files, or None."""
    if part.target and program in _TEXTS:
        return ShellReading(Effect.EDITS if part.appends else Effect.WRITES, (part.target,))
    if program in _WRITERS and (not part.is_fed or "__heredoc__" in rest):
        appends = any(word in {"-a", "--append", "-Append"} for word in rest)
        return ShellReading(Effect.EDITS if appends else Effect.WRITES, tuple(_plain(rest)[:1]))
    if program in {"sed", "perl"} and any(word.startswith("-") and "i" in word[:4] for word in rest if word != "--in"):
        return ShellReading(Effect.EDITS, tuple(_after_script(rest, program)))
    if program == "git" and rest and _subcommand(rest) in _SUBCOMMAND_EDITS:
        return ShellReading(Effect.EDITS, tuple(word for word in _plain(rest)[1:] if word != "__heredoc__"))
    if program in _REMOVERS or (program == "apply_patch"):
        return ShellReading(Effect.EDITS, tuple(word for word in _plain(rest) if _names_file(word)))
    return None


def _looking(program: str, rest: list[str], part: _Part) -> ShellReading:
    """Return the reading of a program that changes no files."""
    if program in _SEARCHERS or (program == "git" and _subcommand(rest) in _SUBCOMMAND_SEARCHES):
        return ShellReading(Effect.SEARCHES)
    if part.is_fed or program in _QUIET:
        return ShellReading(Effect.NOTHING)
    if program in _READERS:
        files = [word for word in _plain(rest) if word != "__heredoc__"]
        return ShellReading(Effect.READS if files else Effect.NOTHING, tuple(files), _head_lines(program, rest))
    if program == "sed" and any(word in {"-n", "-ne", "--quiet"} for word in rest):
        return ShellReading(Effect.READS, tuple(_after_script(rest, program)), _range(rest, _RANGE))
    if program == "awk" and any("NR" in word for word in rest):
        return ShellReading(Effect.READS, tuple(_plain(rest)[1:]), _range(rest, _ROWS))
    named = (word.partition("::")[0] for word in rest if not word.startswith("-"))
    return ShellReading(Effect.RUNS, tuple(dict.fromkeys(word for word in named if _FILE.fullmatch(word))))


def _subcommand(rest: Sequence[str]) -> str:
    return next(iter(_plain(rest)), "")


def _plain(rest: Sequence[str]) -> list[str]:
    """Return the words that are neither options nor their values."""
    found, skips = [], False
    for word in rest:
        if skips:
            skips = False
        elif word in _WITH_VALUE:
            skips = True
        elif not word.startswith("-") and word:
            found.append(word)
    return found


def _after_script(rest: Sequence[str], program: str) -> list[str]:
    """Return the files of sed or perl: the words after the script, which may be an option's value."""
    has_option = any(word.startswith("-") and word.endswith("e") and word != "-n" for word in rest)
    found, skips = [], False
    for word in rest:
        if skips:
            skips = False
        elif word.startswith("-"):
            skips = word.endswith("e") and program in {"sed", "perl"} and word != "--quiet"
        elif word:
            found.append(word)
    return found if has_option else found[1:]


def _names_file(word: str) -> bool:
    """Return whether the name looks like a file rather than a directory."""
    return not word.endswith("/") and word not in {".", "..", "__heredoc__"} and "*** Begin" not in word


def _head_lines(program: str, rest: Sequence[str]) -> tuple[int, int] | None:
    """Return the lines that ``head`` shows."""
    if program != "head":
        return None
    for word, follows in zip(rest, (*rest[1:], ""), strict=True):
        count = _COUNT.fullmatch(word)
        if count:
            return 1, int(count[1])
        if word in {"-n", "--lines"} and follows.isdecimal():
            return 1, int(follows)
    return None


def _range(rest: Sequence[str], pattern: re.Pattern[str]) -> tuple[int, int] | None:
    for word in rest:
        found = pattern.fullmatch(word) if pattern is _RANGE else pattern.search(word)
        if found:
            ends = [int(group) for group in found.groups() if group]
            return ends[0], ends[-1]
    return None
