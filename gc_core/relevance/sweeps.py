"""Commands that change files without naming each: by a folder, a pattern, or in the whole tree."""

from __future__ import annotations

import fnmatch
from typing import Final

from gc_core.relevance.argument_names import plain_name
from gc_core.relevance.tool_calls import ToolCall, command_in
from gc_core.values.json_values import read_object
from gc_core.values.patterns import regex

PHRASES: Final = (
    *(f"git {word}" for word in ("checkout", "restore", "reset", "stash", "pull", "merge", "rebase", "revert")),
    *("sed -i", "perl -pi", "rm -r", "rm -rf"),
)
"""What such a command contains."""

_IN_TREE = regex(r"(?<![\w-])git (?:reset --hard|stash(?! (?:list|show))|pull|merge|rebase|revert)(?![\w-])")
_OF_PATHS = regex(r"(?<![\w-])git (?:checkout|restore) ([^;&|\n]*)")


def sweeps(call: ToolCall, arguments: str, file: str) -> bool:
    """Return whether a call may have changed a file by a folder or pattern, or with all others."""
    command = command_in(read_object(arguments) or {}) or arguments
    if _IN_TREE.search(command) is not None:
        return True
    paths = [word for found in _OF_PATHS.findall(command) for word in found.replace('"', " ").replace("'", " ").split()]
    return any(_covers(path, file) for path in (*paths, *(call.files if call.changes else ())))


# -- inside ----------------------------------------------------------------------------------------------------------


def _covers(path: str, file: str) -> bool:
    """Return whether a file is in a folder or meets a pattern, as a command spells them from wherever it runs."""
    if path in {".", "./", "*"}:
        return True
    plain, sought = plain_name(path), f"/{plain_name(file)}"
    return any(fnmatch.fnmatchcase(sought, pattern) for pattern in (f"*/{plain}", f"*/{plain}/*"))
