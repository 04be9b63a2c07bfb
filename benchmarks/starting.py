"""The cost of starting: importing the library, the first request of a session, two commands."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from gc_core import GCConfig, GCSession

RUNS = 5
"""Of each; the least counts: what another process takes is no cost of ours. The first one writes the bytecode."""

_FIRST_REQUEST = """
from gc_core import GCConfig, GCSession
session = GCSession(GCConfig(strategy="gc_budget", context_limit=8_000, output_reservation=1_000))
session.append({"role": "user", "content": "Why does the login test fail?"})
session.pre_send()
"""

_IMPORTS = (
    ("import gc_core", "import gc_core", 250),
    ("from gc_core import GCSession", "from gc_core import GCConfig, GCSession", None),
)
"""What is imported, how, and the modules that are wanted at most."""


def main() -> None:
    """Print the seconds of processor of each start, Python's own included, and how many modules an import loads."""
    with tempfile.TemporaryDirectory() as folder:
        session = _recorded(Path(folder) / "session")
        for name, arguments, wanted in (
            ("Python alone", ("-c", "pass"), None),
            ("import gc_core", ("-c", "import gc_core"), 0.12),
            ("from gc_core import GCSession", ("-c", "from gc_core import GCConfig, GCSession"), None),
            ("first request of a session", ("-c", _FIRST_REQUEST), 0.5),
            ("ctxgc --help", ("-m", "ctxgc", "--help"), 0.25),
            ("ctxgc history", ("-m", "ctxgc", "history", str(session)), 0.25),
        ):
            seconds = min(_seconds(arguments) for _ in range(RUNS))
            print(f"{name:<30} {seconds:.2f} s" + ("" if wanted is None else f"  (wanted {wanted} s)"))
    for name, code, most in _IMPORTS:
        loaded = int(_run(("-c", f"import sys\n{code}\nprint(len(sys.modules))")))
        print(f"{name:<30} {loaded:,} modules" + ("" if most is None else f"  (wanted {most})"))


def _recorded(directory: Path) -> Path:
    """A session of fifty turns that was collected some times."""
    config = GCConfig(strategy="gc_budget", context_limit=8_000, output_reservation=1_000)
    with GCSession(config, directory=directory) as session:
        for turn in range(50):
            session.append({"role": "user", "content": f"Request {turn}: " + "why does the login test fail? " * 40})
            session.pre_send()
            session.post_turn({"role": "assistant", "content": f"Answer {turn}: " + "it waits for a mail. " * 40})
    return directory


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
