"""
Whether a success repeats what had failed: the same call, or a command that runs all of it and more.

A test of another file, a part of a suite and a look at a file say nothing about a failure.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final

import attrs

from gc_core.relevance.tool_calls import NAME_WORD, CallKind, ToolCall, takes_command
from gc_core.values.patterns import regex

_SEPARATOR = regex(r"[^\S\n]{0,99}(?:&&|\|\||;|\n)\s*+")
_SHOWN = regex(
    r"\s{0,9}(?:\d?>&\d|[\d&]?>\s{0,9}[^\s>]{1,400}|\|\s{0,9}(?:tail|head|grep|tee|cat|less|sed|awk)\b.{0,400})$"
)
_ASSIGNMENT = regex(r"^\w+=")
_QUIET: Final = frozenset({"cd", "echo", "export", "set", "source", "sleep", "mkdir", "true", "pwd"})
_PREFIXES: Final = frozenset(
    {"sudo", "env", "time", "nohup", "timeout", "npx", "poetry", "uv", "bundle", "exec", "run", "pnpx"}
)
_LOUDNESS: Final = regex(
    r"-(?:v+|q+|s|x|l|r\w|n\d*|vv|sv|vs)|--(?:verbose|quiet|tb(?:=\w+)?|no-header|color(?:=\w+)?|durations(?:=\d+)?"
    r"|maxfail(?:=\d+)?|lf|ff|exitfirst|no-cov|nocapture|stacktrace|info|watch(?:All)?=false|ci|runInBand|silent)"
)
"""Options that change what is shown, or in which order, but not what is run."""

_WHOLE: Final = frozenset(
    {
        "pytest",
        "py.test",
        "unittest",
        "tox",
        "nox",
        "mypy",
        "pyright",
        "ruff",
        "flake8",
        "jest",
        "vitest",
        "mocha",
        "rspec",
    }
    | {"test", "tests", "check", "lint", "tsc", "eslint", "clippy", "vet", "phpunit", "ctest"}
)
"""Programs that run everything unless something is named."""


_MAKERS: Final = frozenset({"make", "gmake", "gradle", "gradlew", "mvn", "mvnw", "ninja", "rake", "just", "task"})
"""Programs that make each target that is named; one more takes none of the others away."""


@attrs.frozen
class _Run:
    """A command's program with its subcommands, its targets, and the options that select among them."""

    program: str
    operands: tuple[str, ...]
    options: frozenset[str]


def repeats(call: ToolCall, failed: ToolCall) -> bool:
    """Return whether a successful call of the same tool repeats one that failed."""
    if call.kind is CallKind.RUN:
        return does_again(_command(call), _command(failed))
    return _plain(call.asked) == _plain(failed.asked) and _same_places(call, failed)


def does_again(command: str, failed: str) -> bool:
    """Return whether a command repeats what another one did; additional actions do not matter. Linear in both."""
    wanted = _runs(failed)
    if not wanted:
        return _plain(command) == _plain(failed)
    done = _runs(command)
    return all(any(_covers(run, want) for run in done) for want in wanted)


def _command(call: ToolCall) -> str:
    """Return the command of a shell; a tool that takes none is a command itself."""
    return call.asked if takes_command(call) else f"{call.name} {call.asked}"


def _same_places(call: ToolCall, failed: ToolCall) -> bool:
    """Return whether the calls name a path in common, or one of them names none: an editor's first word is no file."""
    ours, theirs = ({word for word in one.words if "/" in word} for one in (call, failed))
    return not ours or not theirs or not ours.isdisjoint(theirs)


def _plain(command: str) -> str:
    return " ".join(command.split())


def _runs(command: str) -> list[_Run]:
    found = (_run(part) for part in _SEPARATOR.split(command) if part.strip())
    return [run for run in found if run is not None]


def _run(part: str) -> _Run | None:
    words = _words(_SHOWN.sub("", part))
    while words and (_ASSIGNMENT.match(words[0]) or words[0] in _PREFIXES or words[0].isdigit()):
        words = words[1:]
    if not words or words[0] in _QUIET:
        return None
    if words[0].rpartition("/")[2].startswith("python") and words[1:2] == ["-m"]:
        words = words[2:]
    options = frozenset(_options(words[1:]))
    operands = tuple(word for word in _operands(words[1:], options))
    return _Run(program=words[0].rpartition("/")[2], operands=operands, options=options)


def _words(part: str) -> list[str]:
    try:
        return shlex.split(part)
    except ValueError:  # an unterminated quotation
        return part.split()


def _options(words: Sequence[str]) -> list[str]:
    """Return options with their values; a separate value is included if it cannot be an operand."""
    found = []
    for place, word in enumerate(words):
        if not word.startswith("-") or word == "--" or _LOUDNESS.fullmatch(word):
            continue
        value = words[place + 1] if place + 1 < len(words) else ""
        takes = "=" not in word and value and not value.startswith("-") and not _is_place(value)
        found.append(f"{word} {value}" if takes else word)
    return found


def _operands(words: Sequence[str], options: frozenset[str]) -> list[str]:
    values = {option.partition(" ")[2] for option in options}
    return [word for word in words if not word.startswith("-") and word not in values]


def _is_place(word: str) -> bool:
    return "/" in word or "::" in word or word in {".", "./..."}


def _covers(run: _Run, want: _Run) -> bool:
    if run.program != want.program or not run.options <= want.options:
        return False
    whole = _runs_all(run)
    if (want.options != run.options and not whole) or _narrows(run, want):
        return False
    return all(
        any(_holds(there, one, whole=whole) for there in run.operands) or _names_none(run, one) for one in want.operands
    )


def _runs_all(run: _Run) -> bool:
    """Return whether it runs more than a command that selects by an option."""
    return _is_whole(run.program) or bool(_WHOLE.intersection(run.operands))


def _is_whole(word: str) -> bool:
    return word in _WHOLE or ("." not in word and not _WHOLE.isdisjoint(NAME_WORD.findall(word)))


def _narrows(run: _Run, want: _Run) -> bool:
    """Return whether a command names what the failed one did not, and so does a part of it, or something else."""
    more = [there for there in run.operands if there not in want.operands]
    if not more or not _runs_all(want):
        return bool(more) and not (want.operands and run.program in _MAKERS)
    return not _selected(want) and bool(_selected(run))


def _selected(run: _Run) -> tuple[str, ...]:
    """Return the targets: what stands behind the word that runs everything."""
    words = [place for place, word in enumerate(run.operands) if word in _WHOLE]
    return run.operands[words[-1] + 1 :] if words else run.operands


def _names_none(run: _Run, operand: str) -> bool:
    """Return whether the command names no target, and so means everything."""
    return operand not in _WHOLE and not _selected(run) and _runs_all(run)


def _holds(there: str, one: str, *, whole: bool) -> bool:
    """Return whether a target contains another one: a folder its files, a file its tests, a module its contents."""
    if there == one or (whole and there in {".", "./..."}):
        return True
    if not whole:
        return False
    root = there.removesuffix("/...").removesuffix("/")
    return one.startswith((f"{root}/", f"{root}::", f"{root}.", f"{root}:")) if root else False
