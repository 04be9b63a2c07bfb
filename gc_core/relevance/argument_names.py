"""
What a call is about, as a message may name it: words of the values of its arguments.

One word is enough if it is hard to write by chance: joined by signs, with digits or capitals among its letters, or a
proper name, with a capital inside of a sentence. Of others it takes two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gc_core.relevance.deeds import ARTICLES
from gc_core.relevance.tool_calls import CHANGES, COMMANDS, ToolCall, texts_in
from gc_core.values.json_values import read_object
from gc_core.values.patterns import regex
from gc_core.values.scripts import DENSE, HANGUL, IN_EAST_ASIA

_LONGEST, _LONGEST_COMMAND = 120, 360
"""Characters of a value, and of a command, in which words are looked for."""

_LEAST_UNCASED = 4
"""Letters of a word in Chinese, Japanese or Korean that is enough by itself."""

_LETTER = rf"[^\W_{DENSE}{HANGUL}]"
_JOINED = regex(rf"(?<!{_LETTER}){_LETTER}+(?:[-_./:@#]+{_LETTER}+)+")
_SIGNS = regex(r"[\W_]+")
_MIXED = regex(r"\d[^\W\d_]|[^\W\d_]\d|[a-z][A-Z]")

_BEFORE_SENTENCES = frozenset('.!?:;\n"“„«(*')
_BEHIND_ARTICLE = regex(rf"(?<!\w)(?:{ARTICLES})\s$", re.IGNORECASE)
_BEFORE_CHARS = 20  # characters before a name in which its article is looked for


def values_asked(arguments: str) -> tuple[str, ...]:
    """Return the values of a call's arguments that ask for something: short ones, and the beginnings of commands."""
    strings = texts_in(read_object(arguments) or {})
    return tuple(value[:_LONGEST_COMMAND] for key, value in strings if key in COMMANDS or len(value) <= _LONGEST)


def joined_names(text: str) -> tuple[str, ...]:
    """Return what is joined by signs in a text, as hosts, paths and ids are."""
    return tuple(dict.fromkeys(_JOINED.findall(text)))


def is_part(name: str, value: str) -> bool:
    """Return whether a value has all parts of a joined name next to each other, by whatever sign."""
    return f" {_parts(name)} " in f" {_parts(value)} "


def is_telling(word: str, asked: str, text: str) -> bool:
    """
    Return whether a word of a text, as it is spelt there, is hard to write by chance, or a proper name as in the
    arguments, where it may have another ending.
    """
    if IN_EAST_ASIA.search(word):
        return len(asked) >= _LEAST_UNCASED
    if _MIXED.search(word):
        return word == asked
    is_proper = word[0].isupper() and asked[0].isupper()
    return is_proper and any(_makes_names(text[: each.start()]) for each in _whole(word, text))


def subject_of(did: ToolCall, name: str) -> str:
    """Return the word of a call's arguments that means what is named; "" if none does. A change means its files."""
    words = did.files if did.kind in CHANGES else (*did.files, *did.paths, *sorted(did.words))
    found = next((word for word in words if is_same_name(plain_name(word), name)), "")
    is_command = " " in name and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", plain_name(did.asked)) is not None
    return plain_name(found) or (name if is_command else "")


def plain_name(name: str) -> str:
    """Return a name without case, scheme and the signs around it."""
    plain = name.replace("\\", "/").lower().partition("://")[2] or name.replace("\\", "/").lower()
    while plain.startswith("./"):
        plain = plain[2:]
    return plain.lstrip("#").rstrip("/.,")


def is_same_name(word: str, name: str) -> bool:
    """Return whether a word of a call means a name: the same, or one is the end of the other's path, or its host."""
    if word.lstrip("/") == name.lstrip("/"):
        return True
    is_part = "." in word or "/" in word  # a plain word is not meant by every path that ends with it
    return (
        word.endswith(f"/{name.lstrip('/')}")
        or (is_part and name.endswith(f"/{word.lstrip('/')}"))
        or ("." in name and word.lstrip("/").startswith(f"{name}/"))
    )


# -- inside ----------------------------------------------------------------------------------------------------------


def _parts(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().lower()


def _whole(word: str, text: str) -> Iterator[re.Match[str]]:
    return re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)


def _makes_names(before: str) -> bool:
    """Return whether a capital behind this text makes a name: any word that begins a sentence has one, and any noun."""
    said = before.rstrip(" \t")
    return bool(said) and said[-1] not in _BEFORE_SENTENCES and _BEHIND_ARTICLE.search(before[-_BEFORE_CHARS:]) is None
