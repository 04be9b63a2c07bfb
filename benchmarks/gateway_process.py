"""A gateway in a process of its own, for benchmarks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

_TICKS: Final = os.sysconf("SC_CLK_TCK")


class GatewayProcess:
    """
    A gateway in a process of its own, as ``ctxgc gateway`` starts it.

    Args:
        upstream: The base URL of its provider.
        folder: Where its settings, lanes and log go.
        settings: Its settings, in TOML.

    """

    def __init__(self, upstream: str, folder: Path, settings: str) -> None:
        config = folder / "gc.toml"
        config.write_text(settings)
        command = [sys.executable, "-m", "ctxgc", "gateway", "--config", str(config)]
        options = ["--directory", str(folder / "lanes"), "--upstream", f"anthropic={upstream}"]
        with (folder / "log").open("w") as log:
            self._process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=log, text=True)  # noqa: S603 - our own
        said = iter(self._process.stdout or ())
        self.url = next(said).split()[1]

    def close(self) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.communicate()

    @property
    def seconds(self) -> float:
        """Seconds of processor that it has taken."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def megabytes(self) -> float:
        """Megabytes of memory that it holds."""
        text = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0]) / 1_000
