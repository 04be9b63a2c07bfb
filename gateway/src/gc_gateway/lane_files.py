"""The directories of lanes: what is known of each, and which one a user means."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs

from gc_gateway.errors import GatewayError

NAME: Final = "lane.json"

_LEAST: Final = 4
"""Characters from which the beginning of a key is enough."""

_SHOWN: Final = 5
"""Lanes that an error names at most."""


@attrs.frozen(kw_only=True)
class LaneFile:
    """
    What a lane's directory says of it.

    Attributes:
        client: What sends it, for people.
        format: The session's format.
        name: The client's own id of the conversation, or "".
        parent: The name of the lane of the agent that started this one, or "".
        has_tools: Its conversation has tools.

    """

    client: str = ""
    format: str = ""
    name: str = ""
    parent: str = ""
    has_tools: bool = False

    @classmethod
    def read(cls, directory: Path) -> LaneFile:
        """Return what a directory says; what it does not say is empty."""
        try:
            found = json.loads((directory / NAME).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls()
        if not isinstance(found, Mapping):
            return cls()
        texts = {key: str(found.get(key, "")) for key in ("client", "format", "name", "parent")}
        return cls(**texts, has_tools=found.get("has_tools") is True)

    def write(self, directory: Path) -> None:
        """Write it, all or nothing: a gateway that is killed finds its lanes again."""
        beside = directory / f"{NAME}.part"
        beside.write_text(json.dumps(attrs.asdict(self)), encoding="utf-8")
        os.replace(beside, directory / NAME)  # noqa: PTH105 - a Path's own takes a detour


def lane_named(directory: Path, wanted: str) -> Path | None:
    """
    Return the directory of a lane by its key, the beginning of either part of it, the client's own id, or the name on
    the page; None where no lane is called nearly so.

    Raises GatewayError, naming lanes, where several are meant, or one may be.
    """
    known = dict(_lanes(directory))
    found = [key for key, names in known.items() if wanted in names]
    if not found and len(wanted) >= _LEAST:
        found = [key for key in known if any(part.startswith(wanted) for part in (key, key.rpartition("-")[2]))]
    if len(found) == 1:
        return directory / found[0]
    if found:
        raise GatewayError(f"{wanted!r} is the beginning of {len(found)} lanes in {directory}: {_listed(found)}")
    near = difflib.get_close_matches(wanted, sorted({name for names in known.values() for name in names}), _SHOWN)
    if near:
        raise GatewayError(f"{directory} has no lane {wanted!r}; did you mean {_listed(near)}?")
    return None


def _lanes(directory: Path) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the key of each lane, and the names by which it is known."""
    for file in sorted(directory.glob(f"*/{NAME}")):
        key, name = file.parent.name, LaneFile.read(file.parent).name
        yield key, frozenset({key, key.rpartition("-")[2], name, name.partition(":")[2].rstrip(":")} - {""})


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
