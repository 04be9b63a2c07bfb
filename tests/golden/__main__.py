"""Writes golden results to a file, or compares the code with a file: ``python -m tests.golden --help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.golden import frozen

frozen.install()  # before anything imports gc_core

from tests.golden.comparing import compare, show, write  # noqa: E402


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("write", "write the results of all cases"), ("compare", "name the cases that differ")):
        command = commands.add_parser(name, help=text)
        command.add_argument("file", type=Path)
        command.add_argument(
            "--only", nargs="+", default=(), metavar="TEXT", help="cases whose names hold one of these texts"
        )
    command.add_argument("--old", type=Path, metavar="CLONE", help="a clone of the code before, to show the difference")
    shown = commands.add_parser("show", help="print the texts of a case")
    for name in ("case", "kind", "number"):
        shown.add_argument(name, type=int if name == "number" else str, nargs=None if name == "case" else "?")
    given = parser.parse_args(arguments)
    if given.command == "write":
        return write(given.file, only=given.only)
    if given.command == "compare":
        return compare(given.file, only=given.only, old=given.old)
    return show(given.case, given.kind, given.number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
