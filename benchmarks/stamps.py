"""
Stamps: the command that made a table of the documents, the basis of its figures, and proof that it was not edited.

A table is enclosed in two comments::

    <!-- table: COMMAND; behaviour=1a2b3c4d corpus=5e6f7a8b text=9c0d1e2f -->
    ...
    <!-- end -->

``text`` is a digest of the text between them. ``behaviour`` is one of every request that the six strategies send in
``benchmarks.example``: it is the same after a refactoring, and another one when a strategy, a stub, a count or a
trigger behaves differently. ``corpus`` is one of the recorded sessions' manifest. A table whose figures are older has
``as-of=COMMIT`` instead, and tells its readers: "As of DATE, commit COMMIT". ``tests/test_tables.py`` fails for others.

- ``COMMAND | python -m benchmarks.stamps put PAGE "COMMAND"`` puts a table into its place, with a stamp of today's
  code. Commands with ``--page`` do that themselves.
- ``python -m benchmarks.stamps check`` lists the tables, and what is wrong with them.
- ``python -m benchmarks.stamps as-of COMMIT [COMMAND]`` says of this command's table, by default of all whose figures
  are older than the code, that they are of this commit: for what cannot be made again today.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs

from benchmarks.counting import corpus
from gc_core.errors import ConfigError

ROOT = Path(__file__).parents[1]
PAGES = (
    *(ROOT / "docs" / f"{name}.md" for name in ("benchmarks", "measurements")),
    *sorted((ROOT / "plugins").glob("*/README.md")),
)
_STAMP = re.compile(r"<!-- table: (?P<command>[^;\n]+); (?P<fields>[^\n]*?) ?-->(?P<body>.*?)\n<!-- end -->", re.DOTALL)
_TABLE = re.compile(r"^\|[ :|-]*---[ :|-]*\|$", re.MULTILINE)
_AS_OF = "as-of"
_SAID = re.compile(r"\AAs of [\d-]+, commit \w+\.\n\n")


@attrs.frozen(kw_only=True)
class Stamped:
    """
    A table with its stamp.

    Attributes:
        page: Its page.
        command: The command that makes it.
        fields: The stamp's fields, by name.
        body: The text between the comments.

    """

    page: Path
    command: str
    fields: dict[str, str]
    body: str

    @property
    def as_of(self) -> str | None:
        """The commit that it is of, if it was not made by today's code."""
        return self.fields.get(_AS_OF)

    def troubles(self, basis: dict[str, str]) -> Iterator[str]:
        """What is wrong with it; ``basis`` has the digests of today, without those that cannot be known here."""
        if self.fields.get("text") != digest_of(self.body):
            yield f"was edited by hand: make it again with `{self.command}`"
        if self.as_of is not None:
            if f"commit {self.as_of}" not in self.body:
                yield f"does not tell its readers that it is as of commit {self.as_of}"
        elif self.is_older(basis):
            yield f"is older than what it depends on: make it again with `{self.command}`, or say as of when it is"

    def is_older(self, basis: dict[str, str]) -> bool:
        """Whether something that it depends on is another one since; not all depend on the corpus."""
        needed = {"behaviour", *self.fields} & set(basis)
        return any(self.fields.get(name) != basis[name] for name in needed)


def digest_of(text: str) -> str:
    """Eight hex digits of a text, ignoring blanks at its ends."""
    return hashlib.blake2b(text.strip().encode(), digest_size=4).hexdigest()


def stamped(page: Path) -> list[Stamped]:
    """The tables of a page that have a stamp."""
    return [
        Stamped(
            page=page,
            command=found["command"],
            fields=dict(each.partition("=")[::2] for each in found["fields"].split()),
            body=found["body"],
        )
        for found in _STAMP.finditer(page.read_text(encoding="utf-8"))
    ]


def unstamped(page: Path) -> list[str]:
    """The first lines of the tables of a page that have none."""
    text = _STAMP.sub("", page.read_text(encoding="utf-8"))
    return [text[: found.start()].rstrip().rpartition("\n")[2] for found in _TABLE.finditer(text)]


def corpus_digest() -> str | None:
    """A digest of the recorded sessions' manifest; None where they are not."""
    manifest = corpus() / "MANIFEST.json"
    return digest_of(manifest.read_text(encoding="utf-8")) if manifest.is_file() else None


def basis() -> dict[str, str]:
    """What figures depend on, today."""
    from benchmarks.example import run

    return known_basis(run().behaviour)


def known_basis(behaviour: str) -> dict[str, str]:
    """What figures depend on, where the strategies behave like this."""
    found = corpus_digest()
    return {"behaviour": behaviour, **({"corpus": found} if found else {})}


def put(page: Path, command: str, text: str, fields: dict[str, str] | None = None) -> None:
    """Put a table into its place in a page, with a stamp. Raises ConfigError when the page has no such place."""
    page.write_text(renewed(page.read_text(encoding="utf-8"), command, text, fields or {}), encoding="utf-8")


def renewed(page: str, command: str, text: str, fields: dict[str, str]) -> str:
    """The page with this table in the place of the one that the command made before; raises ConfigError without one."""
    stamp = " ".join(f"{name}={value}" for name, value in {**fields, "text": digest_of(text)}.items())
    for found in _STAMP.finditer(page):
        if found["command"] == command:
            block = f"<!-- table: {command}; {stamp} -->\n\n{text.strip()}\n\n<!-- end -->"
            return page[: found.start()] + block + page[found.end() :]
    raise ConfigError(f"the page has no <!-- table: {command}; --> and <!-- end -->, expected both, each on its line")


def _as_of(commit: str, command: str | None) -> None:
    """Say of a command's table, or of all whose figures are older than the code, that they are of a commit."""
    today = {} if command else basis()
    for page in PAGES:
        for table in stamped(page):
            if table.command == command or (command is None and table.as_of is None and table.is_older(today)):
                body = _SAID.sub("", table.body.strip())
                put(page, table.command, f"As of {_day_of(commit)}, commit {commit}.\n\n{body}", {_AS_OF: commit})


def _day_of(commit: str) -> str:
    command = ["git", "log", "-1", "--format=%cs", commit]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603


def _check() -> int:
    today, wrong = basis(), 0
    for page in PAGES:
        for table in stamped(page):
            troubles = list(table.troubles(today))
            wrong += len(troubles)
            print(f"{_named(table)}: {'; '.join(troubles) or table.as_of or 'of today'}")
    return min(wrong, 1)


def _named(table: Stamped) -> str:
    return f"{table.page.relative_to(ROOT)}, {table.command}"


def main() -> int:
    """Do what the arguments say; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stamps", description=__doc__.partition("\n\n")[0])
    commands = parser.add_subparsers(dest="call", required=True)
    commands.add_parser("check")
    older = commands.add_parser("as-of")
    older.add_argument("commit")
    older.add_argument("command", nargs="?")
    putting = commands.add_parser("put")
    putting.add_argument("page", type=Path)
    putting.add_argument("command")
    options = parser.parse_args()
    if options.call == "check":
        return _check()
    if options.call == "as-of":
        _as_of(options.commit, options.command)
    else:
        put(options.page, options.command, sys.stdin.read(), basis())
    return 0


if __name__ == "__main__":
    sys.exit(main())
