"""The commands that a user of Claude Code has: ``/gc`` and ``/gc-recall``, or ``/gc:gc`` of the plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OURS: Final = "of the MCP server gc"
"""In the text of each command, and of no other program's."""

COMMANDS: Final[Mapping[str, str]] = {
    "gc.md": f"""---
description: How full the window is, by what, and what was left out
---
Call the tool gc_status {OURS}, and show its answer as it is. Do nothing else.
""",
    "gc-recall.md": f"""---
description: Show the original of something that left the window
argument-hint: an id such as i42, or words to search for
---
Arguments: $ARGUMENTS

If they are an id (i42, i5-i9, i42@5f3a9c) or a [gc: …] line, call gc_recall {OURS} with them. Otherwise call gc_search with them, then gc_recall for the best hit. Show what was found word for word.
""",  # noqa: E501 - a paragraph
}
"""The text of each command, by the name of its file."""
