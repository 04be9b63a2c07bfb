"""The gateways that run on this machine say where they listen. Imports little: hooks ask for it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = "gateways"
"""The folder beside the lanes that has a file for each gateway that runs."""


class RunningGateway(NamedTuple):
    """
    A gateway that says where it listens.

    Attributes:
        url: Its base URL, with the token if it has one.
        process: Its process.

    """

    url: str
    process: int


def announce(lanes: Path, gateway: RunningGateway) -> Path:
    """Write where a gateway listens, for its owner alone; return the file, which ends with the gateway."""
    (lanes / FOLDER).mkdir(mode=0o700, parents=True, exist_ok=True)
    path = lanes / FOLDER / f"{gateway.process}.json"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123 - the mode
        json.dump({"url": gateway.url, "process": gateway.process}, file)
    return path


def running(lanes: Path) -> Iterator[RunningGateway]:
    """Yield the gateways that run; files of those that were killed are passed over."""
    try:
        paths = sorted((lanes / FOLDER).glob("*.json"))
    except OSError:
        return
    for path in paths:
        gateway = _read(path)
        if gateway is not None and _lives(gateway.process):
            yield gateway


def _read(path: Path) -> RunningGateway | None:
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    url, process = (saved.get("url"), saved.get("process")) if isinstance(saved, dict) else (None, None)
    return RunningGateway(url=url, process=process) if isinstance(url, str) and isinstance(process, int) else None


def _lives(process: int) -> bool:
    if os.name == "nt":  # a signal ends the process there, whichever it is
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
