"""A gateway's lanes as they are on disk: which conversations belong to one session of an agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import attrs

from gc_agents.conversations import Conversation, tag_in
from gc_core.storage.master_log import FILE_NAME
from gc_core.values.json_values import read_object

META_NAME: Final = "lane.json"
"""The file of a lane's directory that says whose it is."""

_MOST_GENERATIONS = 100


@attrs.frozen(kw_only=True)
class LaneFolder:
    """
    A lane's directory.

    Attributes:
        directory: The directory.
        name: The name of its conversation, as its client has it.
        parent: The name of the conversation that started it, or "".

    """

    directory: Path
    name: str
    parent: str = ""

    @property
    def changed(self) -> float:
        """When its log was last written, in seconds since 1970; 0 if there is none."""
        try:
            return (self.directory / FILE_NAME).stat().st_mtime
        except OSError:
            return 0.0

    @property
    def conversation(self) -> Conversation:
        """The conversation that it holds."""
        return Conversation(directory=self.directory, name=self.name, tag=tag_in(self.directory))


class LaneFolders:
    """
    The lanes in a directory. What a lane is called never changes, so each is read once.

    Args:
        root: The directory of all lanes; it need not exist.

    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[Path, LaneFolder] = {}

    def family(self, name: str) -> tuple[Conversation, ...]:
        """Return the newest conversation of a name, then all that have the same root, the latest first."""
        return tuple(lane.conversation for lane in family_of(name, self._all()))

    def _all(self) -> list[LaneFolder]:
        try:
            paths = [path for path in self._root.iterdir() if path.is_dir() and not path.is_symlink()]
        except OSError:
            return []
        return [lane for path in paths if (lane := self._read(path)) is not None]

    def _read(self, path: Path) -> LaneFolder | None:
        known = self._known.get(path)
        if known is not None:
            return known
        try:
            meta = read_object((path / META_NAME).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            return None
        lane = None if meta is None else _lane(path, meta)
        if lane is not None:
            self._known[path] = lane
        return lane


def family_of(name: str, lanes: Iterable[LaneFolder]) -> list[LaneFolder]:
    """Return the lane of a name, the newest if there are several, then the others of its root, the latest first."""
    known = list(lanes)
    parents = {lane.name: lane.parent for lane in known}
    own = sorted((lane for lane in known if lane.name == name), key=lambda lane: -lane.changed)
    if not own:
        return []
    root = _root_of(name, parents)
    others = [lane for lane in known if lane.name != name and _root_of(lane.name, parents) == root]
    return [own[0], *sorted(others, key=lambda lane: -lane.changed)]


def _root_of(name: str, parents: Mapping[str, str]) -> str:
    """Return the name of the conversation that started it all; a circle ends somewhere."""
    for _ in range(_MOST_GENERATIONS):
        parent = parents.get(name, "")
        if not parent:
            break
        name = parent
    return name


def _lane(path: Path, meta: Mapping[str, object]) -> LaneFolder | None:
    name, parent = meta.get("name"), meta.get("parent")
    if not isinstance(name, str) or not name:
        return None
    return LaneFolder(directory=path, name=name, parent=parent if isinstance(parent, str) else "")
