"""What it takes to begin: importing the library, the first request of a session, listing the commands."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

RUNS = 5
"""Of each; the least counts: what another process takes is no cost of ours. The first one writes the bytecode."""

_FIRST_REQUEST = """
from gc_core import GCConfig, GCSession
session = GCSession(GCConfig(strategy="gc_budget", context_limit=8_000, output_reservation=1_000))
session.append({"role": "user", "content": "Why does the login test fail?"})
session.pre_send()
"""

_MODULES = "import sys, gc_core; print(len(sys.modules))"

_STARTS = (
    ("Python alone", ("-c", "pass"), None),
    ("import gc_core", ("-c", "import gc_core"), 0.12),
    ("first request of a session", ("-c", _FIRST_REQUEST), 0.5),
    ("ctxgc --help", ("-m", "ctxgc", "--help"), 0.25),
)
"""What is begun, how, and the seconds of processor that are wanted."""


def main() -> None:
    """Print the seconds of processor of each start, Python's own included, and how many modules an import loads."""
    for name, arguments, wanted in _STARTS:
        seconds = min(_seconds(arguments) for _ in range(RUNS))
        print(f"{name:<28} {seconds:.2f} s" + ("" if wanted is None else f"  (wanted {wanted} s)"))
    print(f"{'modules after the import':<28} {int(_run(('-c', _MODULES))):,}  (wanted 250)")


def _seconds(arguments: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _run(arguments: tuple[str, ...]) -> str:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    command = (sys.executable, *arguments)
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout  # noqa: S603


if __name__ == "__main__":
    main()
