"""
Memory files of a model: texts by path below ``/memories``, and a session's facts among them.

The commands and answers are those that Anthropic documents for its memory tool (type ``memory_20250818``; guide to the
memory tool, November 2026), on which Claude is trained. A path is a name in a ``MemoryBackend``, never one in the file
system: nothing outside can be reached.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from gc_core.errors import MemoryFileError
from gc_core.plugins.contract import MemoryBackend
from gc_core.session.facade import SessionFacade
from gc_core.storage.facts import Fact, FactKind, FactStore, Promotion
from gc_core.values.items import Item
from gc_core.values.patterns import regex
from gc_core.values.sources import CONVERSATION

ROOT: Final = "/memories"

FACTS: Final = f"{ROOT}/facts"
"""The path of the facts of a ``FactStore``: a file for each kind, a line for each fact."""

MOST_CHARS: Final = 100_000
"""The most characters of one file, as in Anthropic's hosted memories (100 kB)."""

_KEY_PREFIX, _MOST_KEY = "memory-", 200
_PLAIN = regex(r"[A-Za-z0-9-]", re.ASCII)
_PARAMETERS: Final = {
    "view": ("path", "view_range"),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str", "new_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}
_OPTIONAL = frozenset({"view_range", "new_str"})
_LEVELS = 2
_HIDDEN = frozenset({"node_modules"})
_FACT_LINE = regex(r"(?:- )?(?P<text>.*?)(?: \((?P<id>f[1-9][0-9]{0,17})\))?", re.ASCII)
_FACT_FILES: Final = {f"{FACTS}/{kind.value}s.md": kind for kind in FactKind}


class MemoryFiles:
    """
    The memory files of one session, for the model that it serves.

    Texts are kept in the backend, after the ``gc_redact`` plugins. With ``facts`` the living facts are files too,
    ``/memories/facts/constraints.md`` and so on: editing their lines adds, updates and deletes facts, each with the
    newest item of the session as its reference. Commands of several threads wait for each other.

    Args:
        session: The model's session.
        backend: The storage of the texts, for example ``FileBackend("memories")``: for as long, and for as many
            sessions, as you like.
        facts: The facts of earlier sessions, or None.

    """

    def __init__(self, session: SessionFacade, backend: MemoryBackend, facts: FactStore | None = None) -> None:
        self._session, self._kept, self._facts = session, _Kept(backend), facts
        self._lock = threading.Lock()

    def run(self, command: str, **arguments: object) -> str:
        """
        Carry out a command (``view``, ``create``, ``str_replace``, ``insert``, ``delete`` or ``rename``) with the
        arguments of the tool, and return the answer for the model.

        Raises MemoryFileError, with nothing changed, when it cannot be done; its text is for the model. LogError, when
        the backend or the file of facts cannot be read or written.
        """
        commands: dict[str, Callable[..., str]] = {
            "view": self._view,
            "create": self._create,
            "str_replace": self._str_replace,
            "insert": self._insert,
            "delete": self._delete,
            "rename": self._rename,
        }
        if command not in commands:
            raise MemoryFileError(f"Unknown command: {command!r:.100}; expected one of {[*commands]}")
        given = {name: _checked(name, value) for name, value in arguments.items() if name in _PARAMETERS[command]}
        lacking = [name for name in _PARAMETERS[command] if name not in given and name not in _OPTIONAL]
        if lacking:
            raise MemoryFileError(f"The command {command} needs the parameter `{lacking[0]}`")
        with self._lock:
            return commands[command](**given)

    def clear(self) -> None:
        """Delete all files; facts stay."""
        with self._lock:
            for path in self._kept.paths():
                self._kept.delete(path)

    # -- the commands --------------------------------------------------------------------------------------------

    def _view(self, path: str, view_range: tuple[int, int] | None = None) -> str:
        path = _clean(path)
        text = self._read(path)
        if text is None:
            return self._listing(path)
        lines = text.split("\n")
        first, last = (1, len(lines)) if view_range is None else view_range
        last = len(lines) if last == -1 else last
        if not 1 <= first <= min(last, len(lines)):
            raise MemoryFileError(
                f"Invalid `view_range` parameter: {[first, last]}. It should be [start, end] with"
                f" 1 <= start <= end, or end = -1; the file has {len(lines)} lines"
            )
        shown = "\n".join(_numbered(lines, first, min(last, len(lines))))
        return f"Here's the content of {path} with line numbers:\n{shown}"

    def _create(self, path: str, file_text: str) -> str:
        path = _clean(path)
        self._check_free(path, f"File {path} already exists")
        self._write(path, file_text)
        return f"File created successfully at: {path}"

    def _str_replace(self, path: str, old_str: str, new_str: str = "") -> str:
        path = _clean(path)
        text = self._file(path)
        found = [match.start() for match in re.finditer(f"(?={re.escape(old_str)})", text)] if old_str else []
        if not found:
            raise MemoryFileError(
                f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}."
            )
        if len(found) > 1:
            lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in found)
            raise MemoryFileError(
                f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: {lines}."
                " Please ensure it is unique"
            )
        line = text.count("\n", 0, found[0]) + 1
        self._write(path, text[: found[0]] + new_str + text[found[0] + len(old_str) :])
        now = self._read(path) or ""  # a fact has a new id and moves to the end, and a secret is masked
        return "\n".join(["The memory file has been edited.", *_around_changes(text, now, line)])

    def _insert(self, path: str, insert_line: int, insert_text: str) -> str:
        path = _clean(path)
        text = self._file(path)
        lines = text.split("\n") if text else []
        if lines and not lines[-1]:
            lines.pop()
        if not 0 <= insert_line <= len(lines):
            raise MemoryFileError(
                f"Invalid `insert_line` parameter: {insert_line}. It should be within the range of lines of the file:"
                f" [0, {len(lines)}]"
            )
        lines.insert(insert_line, insert_text.removesuffix("\n"))
        self._write(path, "\n".join([*lines, ""]))
        return f"The file {path} has been edited."

    def _delete(self, path: str) -> str:
        path = _clean(path)
        for each in self._movable(path):
            self._kept.delete(each)
        return f"Successfully deleted {path}"

    def _rename(self, old_path: str, new_path: str) -> str:
        old_path, new_path = _clean(old_path), _clean(new_path)
        moved = self._movable(old_path)
        self._check_free(new_path, f"The destination {new_path} already exists")
        if new_path == FACTS or new_path.startswith((f"{FACTS}/", f"{old_path}/")):
            raise MemoryFileError(f"Cannot rename {old_path} to {new_path}")
        names = {each: _key(new_path + each[len(old_path) :]) and new_path + each[len(old_path) :] for each in moved}
        for each, name in names.items():  # all are copied before one is deleted
            self._kept.write(name, self._file(each))
        for each in names:
            self._kept.delete(each)
        return f"Successfully renamed {old_path} to {new_path}"

    # -- inside --------------------------------------------------------------------------------------------------

    def _paths(self) -> list[str]:
        return sorted([*self._kept.paths(), *(() if self._facts is None else _FACT_FILES)])

    def _read(self, path: str) -> str | None:
        """Return the text of a file, or None if there is none."""
        if self._facts is not None and path in _FACT_FILES:
            return "\n".join(_fact_line(fact) for fact in self._living(_FACT_FILES[path]))
        return self._kept.read(path)

    def _file(self, path: str) -> str:
        text = self._read(path)
        if text is not None:
            return text
        if any(each.startswith(f"{path}/") for each in self._paths()) or path == ROOT:
            raise MemoryFileError(f"The path {path} is not a file.")
        raise MemoryFileError(f"The path {path} does not exist. Please provide a valid path.")

    def _write(self, path: str, text: str) -> None:
        if len(text) > MOST_CHARS:
            raise MemoryFileError(f"File {path} would have {len(text):,} of at most {MOST_CHARS:,} characters")
        text = self._session.plugins.redact(text) if self._session.plugins.redacts else text
        if self._facts is not None and path.startswith(f"{FACTS}/"):
            self._promote(path, text, self._facts)
        else:
            self._kept.write(path, text)

    def _check_free(self, path: str, taken: str) -> None:
        """Raise MemoryFileError if the path exists, if a file is in the way, or if it contains a secret."""
        if self._session.plugins.redacts and self._session.plugins.redact(path) != path:
            raise MemoryFileError("The path holds a secret, which is written nowhere. Please choose another path.")
        paths = self._paths()
        if path == ROOT or any(each == path or each.startswith(f"{path}/") for each in paths):
            raise MemoryFileError(taken)
        above = next((each for each in paths if path.startswith(f"{each}/")), None)
        if above is not None:
            raise MemoryFileError(f"The path {above} is a file, so {path} cannot be below it")

    def _movable(self, path: str) -> list[str]:
        """Return the files at or below a path."""
        if path == ROOT:
            raise MemoryFileError(f"Cannot delete or rename the {ROOT} directory itself")
        if self._facts is not None and (path == FACTS or path in _FACT_FILES):
            raise MemoryFileError(f"{path} stays where it is; edit its lines to change facts")
        found = [each for each in self._kept.paths() if each == path or each.startswith(f"{path}/")]
        if not found:
            raise MemoryFileError(f"The path {path} does not exist")
        return found

    def _listing(self, path: str) -> str:
        sizes = {each: len((self._read(each) or "").encode("utf-8", "surrogatepass")) for each in self._paths()}
        below = {each: size for each, size in sizes.items() if each.startswith(f"{path}/")}
        if not below and path != ROOT:
            raise MemoryFileError(f"The path {path} does not exist. Please provide a valid path.")
        rows = dict[str, int]()
        for each, size in below.items():
            parts = each[len(path) + 1 :].split("/")
            hidden = any(part.startswith(".") or part in _HIDDEN for part in parts)
            for depth in range(1, min(len(parts), _LEVELS) + 1):
                if not hidden:
                    name = "/".join([path, *parts[:depth]]) + ("/" if depth < len(parts) else "")
                    rows[name] = rows.get(name, 0) + size
        lines = [f"{_size(sum(below.values()))}\t{path}", *(f"{_size(size)}\t{row}" for row, size in rows.items())]
        note = "excluding hidden items and node_modules"
        return "\n".join([f"Here're the files and directories up to {_LEVELS} levels deep in {path}, {note}:", *lines])

    # -- facts ---------------------------------------------------------------------------------------------------

    def _living(self, kind: FactKind) -> list[Fact]:
        assert self._facts is not None  # noqa: S101 - without them there are no files of facts
        fresh = FactStore(self._facts.path)  # other sessions add facts, too
        return [fact for fact in fresh.facts.values() if fact.kind is kind]

    def _promote(self, path: str, text: str, facts: FactStore) -> None:
        if path not in _FACT_FILES:
            raise MemoryFileError(f"{FACTS} has the files {[*_FACT_FILES]} alone")
        item = next((item.id for item in reversed(self._session.items()) if _is_statement(item)), None)
        if item is None:
            raise MemoryFileError("A fact rests on something that was said, and nothing has been said yet")
        kind = _FACT_FILES[path]
        self._session.promote(facts, _promotions(self._living(kind), kind, text, item))


class _Kept:
    """Texts by path, stored in a backend."""

    def __init__(self, backend: MemoryBackend) -> None:
        self._backend = backend

    def paths(self) -> list[str]:
        return sorted(_path(key) for key in self._backend.keys(_KEY_PREFIX))

    def read(self, path: str) -> str | None:
        data = self._backend.read(_key(path)) if path != ROOT else None
        return None if data is None else data.decode("utf-8", "surrogatepass")

    def write(self, path: str, text: str) -> None:
        self._backend.write(_key(path), text.encode("utf-8", "surrogatepass"))

    def delete(self, path: str) -> None:
        self._backend.delete(_key(path))


def _promotions(known: list[Fact], kind: FactKind, text: str, item: str) -> Iterator[Promotion]:
    """Yield the promotions that make the facts equal to the lines; a line is identified by the id at its end."""
    remaining = {fact.id: fact for fact in known}
    for line in filter(str.strip, text.splitlines()):
        found = _FACT_LINE.fullmatch(line.strip())
        said, fact = (line, None) if found is None else (found["text"], remaining.pop(found["id"] or "", None))
        if fact is None:
            yield Promotion.add(said, kind, item)
        elif not said.strip():
            yield Promotion.delete(fact.id, item)
        elif not fact.says(said):
            yield Promotion.update(fact.id, said, item)
    for fact in remaining.values():
        yield Promotion.delete(fact.id, item)


def _fact_line(fact: Fact) -> str:
    return f"{' '.join(fact.text.split())} ({fact.id})"


def _is_statement(item: Item) -> bool:
    return item.source == CONVERSATION.name and not item.synthetic


def _checked(name: str, value: object) -> Any:
    """Return an argument of the expected type: the model may give any."""
    if name == "view_range":
        if value is None:
            return None
        if isinstance(value, (list, tuple)) and len(value) == len(("start", "end")) and all(map(_is_int, value)):
            return tuple(value)
        raise MemoryFileError(f"Invalid `view_range` parameter: {value!r:.100}. It should be [start, end]")
    expected = int if name == "insert_line" else str
    if not isinstance(value, expected) or isinstance(value, bool):
        raise MemoryFileError(f"Invalid `{name}` parameter: {value!r:.100}. It should be a {expected.__name__}")
    return value


def _is_int(value: object) -> bool:
    return type(value) is int


def _clean(path: str) -> str:
    """Return a path in its canonical form. Raises MemoryFileError for one that is not below the root."""
    parts = path.rstrip("/").split("/")
    if f"/{parts[1] if len(parts) > 1 else ''}" != ROOT or parts[0]:
        raise MemoryFileError(f"Path must start with {ROOT}, got: {path!r:.300}")
    if any(not part.strip() or part in {".", ".."} or not part.isprintable() or "\\" in part for part in parts[1:]):
        raise MemoryFileError(f"Path {path!r:.300} would escape {ROOT}, or has an empty or unprintable part")
    return "/".join(parts)


def _key(path: str) -> str:
    """Return the backend's key of a path: ASCII letters, digits and "-" are kept, any other byte is ``_hex``."""
    name = path[len(ROOT) + 1 :]
    name = "".join(
        char if _PLAIN.match(char) else "".join(f"_{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
        for char in name
    )
    if len(_KEY_PREFIX) + len(name) > _MOST_KEY:
        raise MemoryFileError(f"Path {path!r:.300} is too long: its name takes {len(name)} of at most 193 characters")
    return _KEY_PREFIX + name


def _path(key: str) -> str:
    path = re.sub(rb"_([0-9a-f]{2})", lambda found: bytes([int(found[1], 16)]), key[len(_KEY_PREFIX) :].encode())
    return f"{ROOT}/{path.decode('utf-8', 'surrogatepass')}"


def _numbered(lines: list[str], first: int, last: int) -> list[str]:
    return [f"{place:6}\t{lines[place - 1]}" for place in range(first, last + 1)]


def _around_changes(before: str, after: str, edited: int) -> list[str]:
    """Return the lines that are new, numbered, with two before and after; around the edited place if none is new."""
    known, lines = set(before.split("\n")), after.split("\n")
    new = [place for place, line in enumerate(lines, 1) if line not in known] or [min(edited, len(lines))]
    return _numbered(lines, max(1, new[0] - 2), min(len(lines), new[-1] + 2))


def _size(size: float) -> str:
    for unit in ("B", "K", "M"):
        if size < 1024 or unit == "M":  # noqa: PLR2004 - a unit of the next
            break
        size /= 1024
    return f"{size:.1f}".removesuffix(".0") + unit
