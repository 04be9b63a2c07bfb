"""
The documentation's site: ``make docs`` builds it, strictly, into ``site/``.

Its source is the repository itself, so that links between README, plugins and pages are the same in both. The pages
are plain Markdown, so that they read well in the repository too. What a site needs beyond that is made here
when a page is read: its place in the navigation, the docstrings of the reference, the help of the command line.
"""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

project = "gc-core"
author = "the contributors of gc-core"
project_copyright = "%Y, the contributors of gc-core"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
root_doc = "docs/index"
include_patterns = ["docs/**.md", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "*/README.md", "*/*/README.md"]
exclude_patterns = [".*", "**/__pycache__", "site", "gc_core", "tests", "benchmarks"]
add_module_names = False
python_maximum_signature_line_length = 100

html_theme = "furo"
html_title = "gc-core"
html_copy_source = False
html_extra_path = ["_site"]
html_show_sphinx = False

myst_heading_anchors = 4
"""Down to which level headings can be linked to, by the names that a repository's viewer gives them."""

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
# Private classes share the methods of a session among them; what is the language's own is left out.
autodoc_default_options = {
    "members": True,
    "inherited-members": "object, Exception, BaseException, Enum, ReprEnum, IntEnum, StrEnum, int, str, Protocol, ABC",
}
# An attribute is told once, in its class: autodoc finds the same names again.
napoleon_use_ivar = True
napoleon_numpy_docstring = False

_SECTION = re.compile(r"^## (?P<caption>.+)\n(?P<body>(?:(?!^## ).*\n?)*)", re.MULTILINE)
_LINE = re.compile(r"^- .*$", re.MULTILINE)
_PAGE = re.compile(r"\]\((?P<page>[^)#]+)\.md\)")
_UNBUILT = "# docstrings: run `make docs`, or help(name)\n"
"""The first line of a page's first block of names, for who reads it where nothing is built."""
_NAMES = re.compile(r"^```\{api\}\n(?P<names>.*?)^```$", re.MULTILINE | re.DOTALL)
_HELP = "<!-- the help of ctxgc -->"


def setup(app: Any) -> dict[str, bool]:
    """Register what is made when a page is read."""
    app.connect("source-read", _completed)
    app.connect("autodoc-skip-member", _skipped)
    app.connect("autodoc-process-signature", _signed)
    return {"parallel_read_safe": True}


def _completed(_app: Any, page: str, content: list[str]) -> None:
    text = _NAMES.sub(_documented, content[0])
    if _HELP in text:
        text = text.replace(_HELP, _help())
    if page.rpartition("/")[2] == "index":
        text = f"{text}\n{_navigation(text)}"
    content[0] = text


# ---------------------------------------------------------------- the navigation: what the lists of an index name


def _navigation(text: str) -> str:
    """A hidden table of contents for each section of an index."""
    lists = ((found["caption"], _pages(found["body"])) for found in _SECTION.finditer(text))
    return "\n".join(_contents(caption, pages) for caption, pages in lists if pages)


def _pages(text: str) -> list[str]:
    return [page for line in _LINE.findall(text) for page in _PAGE.findall(line)]


def _contents(caption: str, pages: list[str]) -> str:
    return "\n".join(("```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""))


# ---------------------------------------------------------------- the reference: docstrings, by name


def _documented(found: re.Match[str]) -> str:
    lines = (line for name in found["names"].replace(_UNBUILT, "").split() for line in (*_directive(name), ""))
    return "\n".join(("```{eval-rst}", *lines, "```"))


def _directive(name: str) -> Iterator[str]:
    """What documents a public name: of gc_core, of gc_core.testing, or of the room that it names."""
    path = name if name.startswith(("gc_core.", "ctxgc.")) else f"gc_core.{name}"
    module, _, last = path.rpartition(".")
    value = getattr(importlib.import_module(module), last)
    if inspect.isclass(value):
        yield f".. autoclass:: {path}"
        yield from ["   :no-inherited-members:"] if name in _ALIKE else []
    elif inspect.isfunction(value):
        yield f".. autofunction:: {path}"
    else:
        yield f".. py:data:: {name}"
        yield from ("", f"   {_ABOUT[last]}")


_ABOUT = {
    "CODING_PROFILE": "The compression profile ``coding``: see :class:`~gc_core.CompressionProfile`.",
    "GENERAL_PROFILE": "The compression profile ``general``, which a session has by default.",
    "OPERATIONS_PROFILE": "The compression profile ``operations``.",
    "RESEARCH_PROFILE": "The compression profile ``research``.",
    "ORG": "The source of what an organisation's sessions share, before the team's and the user's.",
    "TEAM": "The source of what a team's sessions share.",
    "USER": "The source of what a user's sessions share.",
    "Trigger": "Any of the triggers: what a strategy may list in ``triggers``.",
    "hookimpl": "Marks a plugin's function, or method, as the implementation of a hook.",
}
"""Values have no docstring of their own."""


_ALIKE = {"AsyncGCSession"}
"""Classes that say themselves whose members they share."""


def _skipped(_app: Any, _what: str, name: str, *_: Any) -> bool | None:
    """The rules of a contract are listed, word for word, on the pages about testing."""
    return True if name.startswith("test_") else None


def _signed(_app: Any, kind: str, _name: str, value: object, *_: Any) -> tuple[str, str] | None:
    """A protocol is made by nobody, so its constructor says nothing."""
    return ("", "") if kind == "class" and getattr(value, "_is_protocol", False) else None


# ---------------------------------------------------------------- the command line, from its own help


def _help() -> str:
    command = [sys.executable, "-m", "typer", "ctxgc.cli.app", "utils", "docs", "--name", "ctxgc"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - Python itself
    return done.stdout.replace("# `ctxgc`\n", "", 1)
