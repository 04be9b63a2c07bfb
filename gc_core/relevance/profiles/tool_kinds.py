"""The kind of a tool call, by its name and, for a shell or an editor, by its command."""

from __future__ import annotations

from typing import Final

from gc_core.relevance.tool_calls import NAME_WORD, VIEWS, command_in
from gc_core.values.json_values import read_object
from gc_core.values.patterns import regex

FILE_READ, FILE_WRITE, SHELL_EXEC, SEARCH_RESULTS = "file_read", "file_write", "shell_exec", "search_results"
WEB_SEARCH, DOCUMENT_READ, DATABASE_QUERY = "web_search", "document_read", "database_query"
LOG_QUERY, METRIC_QUERY, OTHER = "log_query", "metric_query", "other"

TOOL_KINDS: Final = (
    *(FILE_READ, FILE_WRITE, SHELL_EXEC, SEARCH_RESULTS, WEB_SEARCH, DOCUMENT_READ, DATABASE_QUERY),
    *(LOG_QUERY, METRIC_QUERY, OTHER),
)
"""Every kind that ``tool_kind`` returns."""

# The first group whose words are all in the name. A name is split into words: "read_file" and "ReadFile" have the same
# two.
_KINDS: Final = (
    (WEB_SEARCH, (("web", "search"), ("google", "search"), ("search", "internet"), ("search", "web"), ("websearch",))),
    (DOCUMENT_READ, (("web", "fetch"), ("fetch",), ("browse",), ("browser",), ("visit",), ("document",), ("url",))),
    (DOCUMENT_READ, (("webfetch",), ("scrape",), ("pdf",), ("page",))),
    (DATABASE_QUERY, (("sql",), ("database",), ("db",), ("query", "table"), ("psql",), ("sqlite",))),
    (LOG_QUERY, (("logs",), ("log",), ("journalctl",), ("loki",), ("traces",))),
    (METRIC_QUERY, (("metrics",), ("metric",), ("prometheus",), ("grafana",), ("alerts",), ("dashboard",))),
    (SEARCH_RESULTS, (("grep",), ("glob",), ("rg",), ("search",), ("find",), ("ls",), ("list", "directory"))),
    (SEARCH_RESULTS, (("list", "files"), ("list", "dir"), ("codebase",))),
    (FILE_WRITE, (("edit",), ("write",), ("replace",), ("patch",), ("insert",), ("create", "file"), ("notebook",))),
    (FILE_READ, (("read",), ("cat",), ("view",), ("open", "file"), ("show", "file"), ("get", "file"))),
    (SHELL_EXEC, (("bash",), ("shell",), ("exec",), ("execute",), ("run",), ("command",), ("terminal",), ("sh",))),
    (DATABASE_QUERY, (("query",),)),
)
_EDITOR: Final = "editor"

_COMMANDS: Final = {
    FILE_READ: frozenset({"cat", "head", "tail", "less", "more", "nl", "bat"}),
    SEARCH_RESULTS: frozenset({"grep", "egrep", "rg", "ag", "ack", "find", "fd", "ls", "tree"}),
    DATABASE_QUERY: frozenset({"psql", "mysql", "sqlite3", "mongosh"}),
    LOG_QUERY: frozenset({"journalctl", "dmesg"}),
}
_SED_READS = regex(r"sed -n\b")
_MOST_COMMAND = 400
_LONGEST = 100
"""The characters of a tool's name, and of a command, that are read."""


def tool_kind(name: str, arguments: str = "") -> str:
    """
    Return the kind of a tool, one of ``TOOL_KINDS``, from its name and the JSON text of a call's arguments.

    "Read", "read_file" and "cat" are ``file_read``, and so is "str_replace_editor" when its command views, and a shell
    that runs ``cat``. Unknown tools are ``other``. Arguments that are not JSON are ignored.
    """
    words = frozenset(word.lower() for word in NAME_WORD.findall(name[:_LONGEST]))
    if _EDITOR in words:
        return FILE_READ if _command(arguments) in VIEWS else FILE_WRITE
    kind = next((kind for kind, groups in _KINDS if any(words.issuperset(group) for group in groups)), OTHER)
    return _kind_of_command(_command(arguments)) if kind == SHELL_EXEC and arguments else kind


def _command(arguments: str) -> str:
    """Return the command among a call's arguments, or ""."""
    return command_in(read_object(arguments) or {})[:_MOST_COMMAND]


def _kind_of_command(command: str) -> str:
    """Return the kind of a shell command: of the last of several commands, and the first of a pipe."""
    last = command.strip().replace("||", "&&").replace(";", "&&").rpartition("&&")[2].strip()
    first = last.partition("|")[0].strip()
    if _SED_READS.match(first):
        return FILE_READ
    word = first.partition(" ")[0].rpartition("/")[2]
    if ">" in first and word in _COMMANDS[FILE_READ]:
        return FILE_WRITE
    return next((kind for kind, known in _COMMANDS.items() if word in known), SHELL_EXEC)
