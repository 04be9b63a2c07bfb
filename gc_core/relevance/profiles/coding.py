"""Importance for writing code: recognisers of lines and paragraphs."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Final

from gc_core.relevance.profiles.matchers import Line, LineClass, Reading, cues
from gc_core.values.patterns import regex

_LISTED = 12
"""The least consecutive lines with only a path each that form a listing."""

_ENDINGS: Final = frozenset(
    {"bash", "c", "cc", "cfg", "clj", "cmake", "conf", "cpp", "cs", "css", "csv", "cu", "dart", "diff", "env", "ex"}
    | {"exs", "go", "gradle", "graphql", "h", "hpp", "hs", "html", "ini", "ipynb", "java", "jl", "js", "json", "jsonl"}
    | {"jsx", "kt", "less", "lock", "log", "lua", "m", "md", "mjs", "ml", "mm", "patch", "php", "pl", "proto", "ps1"}
    | {"py", "pyi", "r", "rb", "rs", "rst", "sass", "scala", "scss", "sh", "sql", "svelte", "swift", "tf", "toml"}
    | {"ts", "tsx", "txt", "vue", "xml", "yaml", "yml", "zig", "zsh"}
)


@functools.lru_cache(maxsize=16_384)
def is_path(name: str) -> bool:
    """Return whether a name is surely a path: it begins like one, ends like a file, or has two separators."""
    head, _, last = name.rpartition("/")
    if name.startswith("//"):  # a URL without its protocol
        return False
    stem, dot, ending = last.rpartition(".")
    if dot and stem and ending.lower() in _ENDINGS:
        return True
    return bool(head) and (name.startswith(("/", "./", "../", "~/")) or head.count("/") > 0) and not name[0].isdigit()


def _paths(reading: Reading) -> Iterator[Line]:
    for span in reading.spans:
        for name in span.names:
            if ("/" in name or "." in name) and is_path(name):
                yield span.start, span.end
                break


FILE_PATH: Final = LineClass(also=_paths)
"""Lines that name a file or a directory."""

_NAME = r"[A-Za-z_$][\w$]{0,80}"
_DECLARED = (
    *cues("def ", pattern=rf"def {_NAME}[?!]?(?:[\[(\n]|$)", apart=True),
    *cues("class ", pattern=r"class [A-Z_]\w{0,80} ?(?:[:({<]|extends\b|implements\b)", apart=True),
    *cues("func", pattern=rf"func (?:\([^()\n]{{1,80}}\) ?)?{_NAME}[\[(]|function\*? {_NAME} ?[<(]", apart=True),
)
FUNCTION_SIGNATURE: Final = LineClass(
    cues=(
        *_DECLARED,
        *cues("fn ", pattern=rf"fn {_NAME}[<(]", apart=True),
        *cues("interface ", "struct ", "enum ", "trait ", pattern=r"\w{4,9} [A-Z]\w{0,80}", opens=True),
        *cues(
            "export interface ", "export enum ", "export type ", "pub struct ", "pub enum ", "pub trait ", opens=True
        ),
        *cues("type ", pattern=r"type [A-Z]\w{0,80} (?:struct|interface|func|=)", opens=True),
        *cues("impl ", "impl<", pattern=r"impl[ <][^\n{]{1,120}\{", opens=True),
        *cues(
            *("const ", "export const "),
            pattern=rf"(?:export )?const {_NAME} ?= ?(?:async ?)?(?:\([^()\n]{{0,160}}\)|\w{{1,40}})[^=\n]{{0,80}}=>",
            opens=True,
        ),
        *cues("public ", "private ", "protected ", "async ", pattern=r"\w{5,9} [^(){};=\n]{1,120}\(", opens=True),
    ),
    sought=_DECLARED,
)
"""Lines that declare a function, a method, a class or a type."""

TEST_RESULT: Final = LineClass(
    cues=(
        *cues("passed", "failed", "failing", "passing", "skipped", before=r"\d[\d,]{0,9} (?:tests? |specs? )?$"),
        *cues("PASS", "FAIL", pattern=r"(?:PASS|FAIL)(?:ED)?\b", apart=True),
        *cues("=== FAIL", "✓ ", "✔ ", "✗ ", "✘ ", "× ", "not ok ", opens=True),
        *cues("ok  \t", "OK (", "FAILED (", "Tests:", "Test Suites:", "test result: ", "Test Files ", opens=True),
        *cues("Ran ", pattern=r"Ran \d{1,7} tests? in", opens=True),
        *cues("BUILD SUCCESS", "All tests pass", "all tests pass"),
    ),
    sought=cues("ok  \t", opens=True),
)
"""Lines that say how tests ended: counts of passed and failed tests, verdicts of runners."""

ERROR_MESSAGE: Final = LineClass(
    cues=(
        *cues("Error: ", "Exception: ", before=r"(?:^|[^\w])(?:[A-Z]\w{0,22})?$"),
        *cues("error: ", "fatal: ", "panic: ", before=r"(?:^|\n|[:\])\-] )[ \t]*$"),
        *cues("npm ERR!", "FATAL"),
        *cues("error", pattern=r"error(?:\[\w{1,12}\]| TS\d{3,5})", apart=True),
        *cues("Error\n", "Traceback (most recent", "No such file or dir", "command not found", "Permission denied"),
        *cues("ERROR", pattern=r"ERROR\b(?![_.(=])", apart=True),
        *cues("xit ", pattern=r"xit (?:code|status):? [1-9]"),
        *cues("Segmentation fault", "undefined reference", "timed out"),
    ),
)
"""Lines that say what went wrong."""


def _changed(reading: Reading) -> Iterator[Line]:
    begins = 0 if reading.text.startswith("@@ -") else reading.text.find("\n@@ -")
    if begins >= 0:
        begins = max(0, reading.text.rfind("diff --git ", 0, begins))
        for sign in ("diff --git ", "@@ ", "+", "-", "rename ", "new file mode", "deleted file mode"):
            yield from reading.beginning(sign, max(0, begins - 1))


GIT_DIFF: Final = LineClass(also=_changed)
"""Lines of a unified diff: its headers, its hunks' headers, and added and removed lines."""

# -- low importance -------------------------------------------------------------------------------------------

VERBOSE_LOG: Final = LineClass(
    cues=(
        *cues("DEBUG", "INFO", "TRACE", "VERBOSE", pattern=r"[A-Z]{4,7}\b(?![_.(=])", apart=True),
        *cues("[debug]", "[info]", "[trace]", "[verbose]", "level=info", "level=debug", '"level":"info"'),
        *cues("npm info ", "npm verb ", "npm http ", "debug: ", "info: ", "> Task :", opens=True),
    )
)
"""Lines in which a program logs that it runs: debug, info and trace."""

PACKAGE_INSTALL_OUTPUT: Final = LineClass(
    cues=(
        *cues("Collecting ", "Downloading ", "Requirement already", "Installing collected", "Installing ", opens=True),
        *cues("Successfully installed ", "Using cached ", "Building wheel", "Preparing metadata", opens=True),
        *cues(
            "npm WARN", "npm warn", "Progress: resolved", "go: downloading ", "Setting up ", "Unpacking ", opens=True
        ),
        *cues("Selecting previously", "Preparing to unpack ", "Processing triggers", "Fetched ", opens=True),
        *cues("Get:", pattern=r"Get:\d", opens=True),
        *cues("added ", pattern=r"added \d{1,6} packages?", opens=True),
        *cues("Compiling ", "Downloaded ", pattern=r"\w{9,10} [\w-]{1,60} v\d", opens=True),
    )
)
"""Lines of a package manager at work: pip, npm, apt, cargo, go."""


def _listed(reading: Reading) -> Iterator[Line]:
    """Yield long runs of lines that are one path each; only in texts that consist mostly of single words per line."""
    text, run = reading.text, list[Line]()
    if len(reading.spans) < _LISTED or text.count(" ") > text.count("\n"):
        return
    for span in reading.spans:
        if run and span.start != run[-1][1] + 1:
            yield from run if len(run) >= _LISTED else ()
            run = []
        if " " not in text[span.start : span.end] and text.find("/", span.start, span.end) >= 0:
            run.append((span.start, span.end))
    yield from run if len(run) >= _LISTED else ()


FULL_FILE_LISTING: Final = LineClass(
    cues=(
        *cues("-rw", "drwx", "lrwx", "-r--", "dr-x", "-rwx", pattern=r"[-dlrwxstST]{10}[@+.]? ", opens=True),
        *cues("total ", pattern=r"total \d{1,9}(?:\.\d{1,2})?[KMG]?(?:\n|$)", opens=True),
    ),
    also=_listed,
)
"""Rows of ``ls -l``, and long runs of lines that are one path each."""

# -- kept verbatim ----------------------------------------------------------------------------------------------

_CODE = regex(
    r"(?:[;{}]|\):|=> \{|\),|\)) ?\n|(?:^|\n)[^\n]{0,60}\b(?:return |import |def |func |const |let |\w{1,40} := )"
)
_SETTING = regex(
    r"(?:^|\n)(?: {0,8}\d{1,6}→)?[ \t+\-]{0,20}(?:(?:export |ENV |set )?[A-Za-z_][\w.\-]{0,60} ?= ?[\w\"'\[{./$-]"
    r"|[\w.\-]{1,60}:(?: [\w\"'\[{./$-]|(?=\n))|\[[\w.\-\" ]{1,60}\](?=\n|$)|\"[\w.\-/@]{1,60}\" ?: ?[\w\"\[{-])"
)
_LEAST_LINES = 2


def code_snippet(reading: Reading, paragraph: Line) -> bool:
    """Return whether a paragraph is code: at least half of its lines end or begin like code."""
    return _is_made_of(_CODE, reading, paragraph, share=0.5)


def configuration_change(reading: Reading, paragraph: Line) -> bool:
    """
    Return whether a paragraph is configuration: two thirds of its lines set a key, in TOML, YAML,
    JSON, INI or a shell.
    """
    return _is_made_of(_SETTING, reading, paragraph, share=0.66)


def _is_made_of(sign: re.Pattern[str], reading: Reading, paragraph: Line, *, share: float) -> bool:
    text = reading.text[slice(*paragraph)]
    lines = text.count("\n") + 1
    return lines >= _LEAST_LINES and len(sign.findall(f"{text}\n")) >= share * lines
