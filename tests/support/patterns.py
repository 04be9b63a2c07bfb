"""Every compiled pattern of the library, and texts that are meant to make each of them slow."""

import ast
import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from re import _constants as codes  # type: ignore[attr-defined]  # how Python itself reads a pattern
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import attrs

from gc_core.values.patterns import LazyPattern

PACKAGES = ("gc_core", "ctxgc", "gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive")
FAILS = "\x00"
"""Hardly a pattern takes it: what was matched so far was in vain."""

# One letter of each kind that patterns distinguish.
KINDS = "ab1_ \t\n.,;:!?-/\\'\"`()[]{}<>=+*#$%&@|~^Aé中"


@functools.cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def modules() -> Iterator[ModuleType]:
    for name in PACKAGES:
        package = importlib.import_module(name)
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


@functools.cache
def patterns() -> dict[re.Pattern[str], str]:
    """Every pattern that a module, a class or a value in one of them holds, with the name under which it was found."""
    found: dict[re.Pattern[Any], str] = {}
    for module in modules():
        for name, value in vars(module).items():
            if not name.startswith("__"):
                for pattern in _in(value, module.__name__):
                    found.setdefault(_of_text(pattern), f"{module.__name__}.{name}")
        for function, call in _calls(module):
            words = call.args[0] if call.args else None
            if isinstance(words, ast.Constant):
                inline = _of_text(re.compile(words.value, _flags(call)))
                found.setdefault(inline, f"{module.__name__}.{function} inline")
    return found


def _of_text(pattern: re.Pattern[Any]) -> re.Pattern[str]:
    """A pattern for bytes as the same one for text."""
    if isinstance(pattern.pattern, str):
        return pattern
    return re.compile(pattern.pattern.decode("latin-1"), pattern.flags | re.ASCII)


def made_of_words() -> set[str]:
    """Functions that make a pattern of something that is neither written in them nor escaped."""
    return {
        f"{module.__name__}.{function}"
        for module in modules()
        for function, call in _calls(module)
        if call.args and not all(map(_is_fixed, _pieces(call.args[0])))
    }


def _calls(module: ModuleType) -> Iterator[tuple[str, ast.Call]]:
    """Calls of ``re`` and of ``regex`` inside of functions, with the function's name."""
    for function in ast.walk(_tree(module)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                target = node.func if isinstance(node, ast.Call) else None
                owner = target.value if isinstance(target, ast.Attribute) else None
                is_of_re = isinstance(owner, ast.Name) and owner.id == "re" and target.attr != "escape"
                if is_of_re or (isinstance(node, ast.Call) and ast.unparse(node.func) == "regex"):
                    yield function.name, node


def _pieces(words: ast.expr) -> list[ast.expr]:
    if isinstance(words, ast.JoinedStr):
        return [part.value if isinstance(part, ast.FormattedValue) else part for part in words.values]
    return [words]


def _is_fixed(piece: ast.expr) -> bool:
    is_escaped = isinstance(piece, ast.Call) and ast.unparse(piece.func) == "re.escape"
    return is_escaped or isinstance(piece, ast.Constant)


def _flags(call: ast.Call) -> int:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == "flags"), None)
    return int(getattr(re, named.attr)) if isinstance(named, ast.Attribute) else 0


def ways() -> Callable[[str], set[str]]:
    """
    By which methods the pattern of a name is asked, as the source says it; "search", which costs the most, where it
    goes elsewhere. A name that begins with "_" is its module's alone.
    """
    asked: dict[tuple[str, str], set[str]] = {}
    for module in modules():
        tree = _tree(module)
        methods = {
            id(node.value): node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr in _WAYS
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                name = node.id if isinstance(node, ast.Name) else node.attr
                place = module.__name__ if name.startswith("_") else ""
                asked.setdefault((place, name), set()).add(_WAYS.get(methods.get(id(node), ""), "search"))

    def of(full: str) -> set[str]:
        module, _, name = full.rpartition(".")
        return asked.get((module if name.startswith("_") else "", name), {"search"})

    return of


_WAYS = {
    "match": "match",
    "fullmatch": "fullmatch",
    **dict.fromkeys(("search", "finditer", "findall", "sub", "subn", "split"), "search"),
}


def _in(value: Any, module: str) -> Iterator[re.Pattern[Any]]:
    left, seen = [value], set[int]()
    while left:
        value = left.pop()
        if isinstance(value, re.Pattern):
            yield value
        elif id(value) not in seen and not isinstance(value, str | bytes | int | float | ModuleType):
            seen.add(id(value))
            left += _held(value, module)


def _held(value: Any, module: str) -> list[Any]:
    """What a value holds that may be a pattern or hold one."""
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return [*value.items()] if isinstance(value, Mapping) else [*value]
    if isinstance(value, type):
        return [*vars(value).values()] if value.__module__ == module else []
    if isinstance(value, LazyPattern):
        return [value.compiled()]
    if callable(value):
        cells = [cell.cell_contents for cell in getattr(value, "__closure__", None) or () if _is_filled(cell)]
        bound = [*getattr(value, "args", ()), getattr(value, "__wrapped__", None), getattr(value, "__self__", None)]
        return [*(getattr(value, "__defaults__", None) or ()), *cells, *bound]
    if type(value).__module__.partition(".")[0] in PACKAGES:
        slots = [getattr(value, name, None) for name in getattr(type(value), "__slots__", ())]
        return [*slots, *getattr(value, "__dict__", {}).values()]
    return []


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - it raises where there is none
    except ValueError:
        return False
    return True


@attrs.frozen
class Attack:
    """What leads to a repetition, then again and again what it may take, and at the end what it hardly takes."""

    head: str
    pump: str
    tail: str

    def text(self, size: int) -> str:
        """A text of about so many letters."""
        return self.head + (self.pump * (size // len(self.pump) + 1))[:size] + self.tail


def attacks(pattern: re.Pattern[str]) -> Iterator[Attack]:
    """Texts that are meant to make a pattern slow, in any size."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    heads, bodies = _repeated(tree)
    letters = _letters(tree, pattern.flags)
    pairs = (one + other for one in letters[:3] for other in letters[:3] if one != other)
    pumps = dict.fromkeys((*letters[:10], *bodies, *pairs))
    for head in dict.fromkeys(("", *heads)):
        for pump in pumps:
            yield Attack(head, pump, FAILS)
    for pump in pumps:
        yield Attack("", pump, "")


def _letters(tree: Any, flags: int) -> list[str]:
    """Letters that the pattern's classes distinguish, one of each kind; those that it names first."""
    classes = _classes(tree, flags)
    kinds: dict[tuple[bool, ...], str] = {}
    for letter in KINDS:
        kinds.setdefault(tuple(each.match(letter) is not None for each in classes), letter)
    taken = {kind: letter for kind, letter in kinds.items() if any(kind)}
    return sorted(taken.values(), key=lambda letter: -sum(each.match(letter) is not None for each in classes))


def _classes(tree: Any, flags: int) -> list[re.Pattern[str]]:
    found: dict[str, re.Pattern[str]] = {}
    for code, value in _nodes(tree):
        text = _class_text(code, value)
        if text and text not in found:
            found[text] = _class(text, flags & int(re.IGNORECASE | re.ASCII | re.DOTALL))
    return list(found.values())


@functools.cache
def _class(text: str, flags: int) -> re.Pattern[str]:
    return re.compile(text, flags)


def _class_text(code: Any, value: Any) -> str:
    match code:
        case codes.LITERAL:
            return re.escape(chr(value))
        case codes.NOT_LITERAL:
            return f"[^{re.escape(chr(value))}]"
        case codes.ANY:
            return "."
        case codes.IN:
            return "[" + "".join(_set_text(*each) for each in value) + "]"
    return ""


def _set_text(code: Any, value: Any) -> str:
    match code:
        case codes.NEGATE:
            return "^"
        case codes.LITERAL:
            return re.escape(chr(value))
        case codes.RANGE:
            return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}.get(str(value)[len("CATEGORY_") :]) or {
        "NOT_DIGIT": r"\D", "NOT_SPACE": r"\S", "NOT_WORD": r"\W",
    }[str(value)[len("CATEGORY_") :]]  # fmt: skip


def _nodes(tree: Any) -> Iterator[tuple[Any, Any]]:
    for code, value in tree:
        yield code, value
        for inner in _inside(code, value):
            yield from _nodes(inner)


def _inside(code: Any, value: Any) -> list[Any]:
    match code:
        case codes.BRANCH:
            return list(value[1])
        case codes.SUBPATTERN:
            return [value[3]]
        case codes.MAX_REPEAT | codes.MIN_REPEAT | codes.POSSESSIVE_REPEAT:
            return [value[2]]
        case codes.ASSERT | codes.ASSERT_NOT:
            return [value[1]]
        case codes.ATOMIC_GROUP:
            return [value]
    return []


MANY = 20
"""Repetitions from which a repetition is one that an attack can use."""


def _repeated(tree: Any, before: str = "") -> tuple[list[str], list[str]]:
    """The text before each long repetition, and an example that each of them matches."""
    heads, bodies = [], []
    for code, value in tree:
        if code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT} and value[1] > MANY:
            heads.append(before)
            bodies += filter(None, (_example(value[2]), _example(value[2], often=2)))
        for inner in _inside(code, value):
            more = _repeated(inner, before)
            heads += more[0]
            bodies += more[1]
        before += _example([(code, value)])
    return heads, bodies


def _example(tree: Any, often: int = 1) -> str:
    """A text that a pattern takes, as far as each part by itself shows it."""
    text = ""
    for code, value in tree:
        match code:
            case codes.BRANCH:
                text += _example(value[1][0], often)
            case codes.SUBPATTERN:
                text += _example(value[3], often)
            case codes.ATOMIC_GROUP:
                text += _example(value, often)
            case codes.MAX_REPEAT | codes.MIN_REPEAT | codes.POSSESSIVE_REPEAT:
                text += _example(value[2], often) * max(value[0], min(often, value[1]) if often > 1 else value[0])
            case _:
                kind = _class_text(code, value)
                if kind:
                    text += _sample(kind)
    return text


@functools.cache
def _sample(kind: str) -> str:
    """A letter of a class."""
    wanted = re.compile(kind, re.DOTALL)
    return next((letter for letter in _SAMPLES if wanted.match(letter)), "")


_SAMPLES = (
    KINDS
    + "".join(map(chr, range(33, 127)))
    + "".join(map(chr, range(0xA0, 0x250)))
    + "".join(map(chr, range(0x2000, 0x2070)))
    + "".join(map(chr, range(0x4E00, 0x9FFF)))
)
