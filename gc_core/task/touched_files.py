"""Entities that calls touch: files, tests, symbols and services, and their relations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from gc_core.relevance.tool_calls import CHANGES, CallKind, ToolCall, arguments_of, texts_in
from gc_core.task.draft import Draft
from gc_core.values.items import Item
from gc_core.values.patterns import regex

FILE, TEST, SYMBOL, SERVICE = "file", "test", "symbol", "service"
"""Kinds of entities."""

_MOST_OF_A_CALL = 12
_MOST_SYMBOLS = 8
_COMMAND_CHARS = 4_000
_SEARCHED_CHARS = 16_000
_TAIL = 6_000
_MOST_IMPORTS = 64

_TEST_NAME = regex(
    r"^(?:test_(?P<a>[\w-]+)|(?P<b>[\w-]+?)(?:_test|_spec|[.-]test|[.-]spec|Tests?|IT))(?P<ext>\.\w{1,5})$"
)
_SUFFIXES = (
    "py|pyi|js|jsx|ts|tsx|mjs|cjs|go|rs|java|kt|c|cc|cpp|h|hpp|cs|rb|php|swift|scala|sh|sql|html|css|scss|vue|svelte|md|"
    "rst|txt|json|ya?ml|toml|ini|cfg|conf|env|lock|xml|csv|tf|proto|ipynb|lua|ex|exs|hs|pl|r|m|gradle|dockerfile"
)
_PATH = regex(rf"(?<![\w@:/.-])(?:~?/)?(?:[\w@.-]+/+)*[\w@-][\w@.-]*\.(?:{_SUFFIXES})(?![\w/.-]*\w)", re.IGNORECASE)
_WRITTEN = regex(r"(?:>>?|\btee(?: -a)?|\bsed -i\S*(?: -e)?(?: '[^']*'| \"[^\"]*\")?|\btouch)\s*[\"']?$")
_CHANGED = regex(r"\b(?:sed -i|patch|git apply|perl -p?i|black|ruff format|prettier --write)\b")
_REMOVED = regex(r"\b(?:rm|git rm)\s+(?:-\w+\s+)*[\"']?$")
_READS = regex(r"^\s*(?:cd [^&;]+(?:&&|;)\s*)?(?:cat|head|tail|less|more|sed -n|nl|wc|bat|grep|rg|ls|find)\b")
_SERVICE = regex(r"\bhttps?://([\w.-]+(?::\d{1,5})?)|\b(localhost:\d{1,5}|127\.0\.0\.1:\d{1,5})")
_FAILED_TEST = regex(rf"^(?:FAILED|FAIL:?|ERROR|✗|❌|×)\s+([\w./@-]+\.(?:{_SUFFIXES}))", re.MULTILINE)
_DEFINED = regex(
    r"^[ \t]*(?:export |default |public |private |protected |static |async |pub )*"
    r"(?:def|class|function|func|fn|interface|struct|trait|enum)[ \t]+(?:\(\w+ \*?\w+\) )?([A-Za-z_]\w{2,60})",
    re.MULTILINE,
)
_IMPORTED = regex(
    r"^[ \t]*(?:\d{1,6}[→|:\t][ \t]*)?(?:"
    r"from[ \t]+(?P<from>[\w.]+)[ \t]+import\b|import[ \t]+(?P<import>[\w.]+)[ \t]*(?:as\b|[,;#]|$)"
    r"|(?:import|export)\b[^'\"\n]{0,200}['\"](?P<module>[^'\"\n]{1,200})['\"]"
    r"|(?:const|let|var)\b[^'\"\n]{0,120}\brequire\(['\"](?P<required>[^'\"\n]{1,200})['\"]"
    r"|\#include[ \t]*[<\"](?P<included>[^>\"\n]{1,200})[>\"])",
    re.MULTILINE,
)

CREATED: Final = "created"
_MAKES = regex(r"create|write", re.IGNORECASE)


@attrs.frozen(kw_only=True)
class Touch:
    """An entity that a call touches, and the action."""

    name: str
    kind: str
    state: str


def path_name(path: str) -> str:
    """Return a path as an entity's name: with slashes, without a leading ``./``."""
    name = path.strip().replace("\\", "/")
    while name.startswith("./"):
        name = name[2:]
    return name


def touches_of(item: Item, call: ToolCall) -> tuple[Touch, ...]:
    """Return what a call touches, in order; searches touch nothing."""
    if call.kind in {CallKind.SEARCH, CallKind.NOTE}:
        return ()
    command = _command(item) if call.kind in {CallKind.RUN, CallKind.OTHER} else ""
    paths = {path_name(path): _state(item, call) for path in call.paths or call.files}
    if call.kind is CallKind.RUN:
        paths |= dict(_in_command(command))
    found = {name: Touch(name=name, kind=kind_of(name), state=state) for name, state in paths.items() if name}
    for url, local in _SERVICE.findall(command):
        name = url or local
        found.setdefault(name, Touch(name=name, kind=SERVICE, state="called"))
    return tuple(found.values())[:_MOST_OF_A_CALL]


def kind_of(path: str) -> str:
    """Return the kind of a path, file or test, by its name."""
    return TEST if _TEST_NAME.match(path.rpartition("/")[2]) else FILE


def symbols_in(call: ToolCall) -> tuple[str, ...]:
    """Return the names that the texts of an edit define."""
    found = (name for text in call.new_texts for name in _DEFINED.findall(text[:_SEARCHED_CHARS]))
    return tuple(dict.fromkeys(found))[:_MOST_SYMBOLS]


def failed_tests(text: str) -> tuple[str, ...]:
    """Return the test files that the end of a result names as failed."""
    found = (path_name(path) for path in _FAILED_TEST.findall(text[-_TAIL:]))
    return tuple(dict.fromkeys(found))[:_MOST_OF_A_CALL]


def subject_of_test(test: str, entities: Mapping[str, object], names: Names) -> str:
    """
    Return the file that a test covers, by its name: a known one, otherwise the bare name; "" for
    anything but a test.
    """
    found = _TEST_NAME.match(test.rpartition("/")[2])
    if found is None:
        return ""
    bare = f"{found['a'] or found['b']}{found['ext']}"
    known = [name for name in names.of(bare.rpartition(".")[0]) if name.rpartition("/")[2] == bare and name in entities]
    return max(known, key=lambda name: (_shared(name, test), name)) if known else bare


def imported_by(text: str, names: Names, own: str) -> tuple[str, ...]:
    """Return the known files that a text imports."""
    if "import" not in text and "require(" not in text and "#include" not in text:
        return ()
    found: dict[str, None] = {}
    for place, line in enumerate(_IMPORTED.finditer(text[:_SEARCHED_CHARS])):
        if place == _MOST_IMPORTS:
            break
        dotted = line["from"] or line["import"]
        module = dotted.strip(".").replace(".", "/") if dotted else next(filter(None, line.groups()), "")
        target = names.file_of(module)
        if target and target != own:
            found[target] = None
    return tuple(found)


@attrs.define
class Names:
    """The known files, by the last part of their path without its extension: built once per extraction."""

    _by_stem: dict[str, list[str]] = attrs.field(factory=dict)

    @classmethod
    def in_(cls, draft: Draft) -> Names:
        """Return the names of a draft."""
        names = cls()
        for entity in draft.entities.values():
            if entity.kind in {FILE, TEST}:
                names.add(entity.name)
        return names

    def add(self, name: str) -> None:
        """Add a known file."""
        known = self._by_stem.setdefault(_stem(name), [])
        if name not in known:
            known.append(name)

    def of(self, stem: str) -> list[str]:
        """Return the paths whose last part is this, ignoring the extension."""
        return self._by_stem.get(stem, [])

    def of_path(self, name: str) -> bool:
        """Return whether a known file's path ends like this."""
        return any(path == name or path.endswith(f"/{name}") for path in self.of(_stem(name)))

    def known_as(self, name: str) -> str:
        """Return a path under its known name: a relative one may be the end of a known path, if of only one."""
        if name.startswith(("/", "~")):
            return name
        known = [path for path in self.of(_stem(name)) if path == name or path.endswith(f"/{name}")]
        return known[0] if len(known) == 1 else name

    def file_of(self, module: str) -> str:
        """Return the known file for a module's path, or ""."""
        path = module.rpartition("!")[2].strip("/")
        while path.startswith(("./", "../", "@/", "~/")):
            path = path.partition("/")[2]
        if not path or path in {".", ".."}:
            return ""
        bare = re.sub(rf"\.(?:{_SUFFIXES})$", "", path, flags=re.IGNORECASE)
        for name in sorted(self.of(bare.rpartition("/")[2])):
            whole = re.sub(r"\.\w{1,10}$", "", name)
            if whole == bare or whole.endswith(f"/{bare}"):
                return name
        return ""


# -- inside ----------------------------------------------------------------------------------------------------------


def _state(item: Item, call: ToolCall) -> str:
    if call.kind in CHANGES:
        command = str((arguments_of(item) or {}).get("command", ""))
        if "delete" in item.name.lower():
            return "deleted"
        makes = call.kind is CallKind.WRITE or _MAKES.search(command or item.name) or "*** Add File" in item.text
        return CREATED if makes else "edited"
    return {CallKind.READ: "read", CallKind.RUN: "run"}.get(call.kind, "named in a call")


def _command(item: Item) -> str:
    arguments = arguments_of(item)
    if arguments is None:
        return item.text[:_COMMAND_CHARS]
    return "\n".join(value for _, value in texts_in(arguments))[:_COMMAND_CHARS]


def _in_command(command: str) -> Iterator[tuple[str, str]]:
    """Yield the paths in a shell command, and what it seems to do to each."""
    reads, changes = _READS.match(command) is not None, _CHANGED.search(command) is not None
    for found in _PATH.finditer(command):
        before = command[max(0, found.start() - 60) : found.start()]
        if _WRITTEN.search(before):
            state = "edited"
        elif _REMOVED.search(before):
            state = "deleted"
        elif changes:
            state = "edited"
        else:
            state = "read" if reads else "run"
        yield path_name(found[0]), state


def _stem(name: str) -> str:
    last = name.rpartition("/")[2]
    return last.partition(".")[0] or last


def _shared(name: str, test: str) -> int:
    """Return how many leading directories two paths share."""
    pairs = zip(name.split("/"), test.split("/"), strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), 0)
