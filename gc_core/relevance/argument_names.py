"""
What a call is about, as a message may name it: a value of its arguments, or the short form that people use for it.

A short form is the end of a path or URL, a file without its extension, a script inside a command, or a title without
its first word. Any value is a name if it is hard to write by chance: of several words, joined by signs or with digits
among its letters. A plain word is one only as a proper name, with a capital inside of a sentence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import attrs

from gc_core.relevance.tool_calls import CHANGES, COMMANDS, ToolCall, texts_in
from gc_core.values.json_values import read_object
from gc_core.values.patterns import regex
from gc_core.values.scripts import DENSE, HANGUL

_LONGEST = 120
_LEAST, _LEAST_JOINED, _LEAST_PROPER = 8, 5, 5
"""Letters and digits of a name of several words, of a joined one, and of a plain word."""

_LEAST_UNCASED = 4
"""Characters of a name in Chinese, Japanese or Korean; a short form has one more."""

_WITHOUT_BLANKS = regex(rf"[{DENSE}{HANGUL}]")
_OF_WORD = rf"(?:[^\W{DENSE}{HANGUL}]|-)"
"""A character that continues a word; of a script without blanks it begins another one."""

_JOINED = regex(r"[^\W_][\W_]+[^\W_]|\d[^\W\d_]|[^\W\d_]\d|[a-z][A-Z]")
_SCRIPT = regex(r"(?<!\S)(?!-)[\w./:@-]*\w[.:_-]\w[\w./:@-]*")
_EXTENSION = regex(r"(?<=\w)\.[A-Za-z][A-Za-z0-9]{0,5}$")
_ENDING_AT = 0.75
"""The share of a word of a title that its forms begin with."""

_BEFORE_SENTENCES = frozenset('.!?:;\n"“„«(*')
_BEFORE_CHARS = 60  # characters before a name that are looked at
_ARTICLE = regex(
    r"(?<!\w)(?:the|der|die|das|dem|den|eine?[nmrs]?|une?|les?|la|el|los|las|una|uno|il|lo|uma|het|een|ett)\s$",
    re.IGNORECASE,
)


@attrs.frozen
class ArgumentName:
    """
    A value of a call's arguments that a text names.

    Attributes:
        name: The name as the text spells it.
        value: The whole value.

    """

    name: str
    value: str


def argument_name(arguments: str, text: str) -> ArgumentName | None:
    """Return the longest name in a text that means a value of a call's arguments, which are given as JSON."""
    read = read_object(arguments)
    strings = texts_in(read) if read is not None else ()
    found = (
        ArgumentName(spelt, value)
        for key, value in strings
        for form in _forms(" ".join(value.split()), is_command=key in COMMANDS)
        for spelt in _spelt(form, text)
    )
    return max(found, key=lambda each: len(each.name), default=None)


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


def _forms(value: str, *, is_command: bool) -> Iterator[str]:
    """Yield a value and its short forms."""
    if is_command:
        for script in _SCRIPT.findall(value[: 3 * _LONGEST]):
            yield from _ends(script)
    elif len(value) <= _LONGEST:
        yield from _ends(value)
        _, _, title = value.partition(" ")
        yield title
        first, _, _ = value.partition(" ")
        if _WITHOUT_BLANKS.search(first):  # these put the generic word last
            yield first


def _ends(value: str) -> Iterator[str]:
    """Yield a value, and of a path or URL its last parts, with and without an extension."""
    plain = value.replace("\\", "/").partition("?")[0].rstrip("/")
    parts = plain.split("/") if " " not in plain.partition("/")[0] else [plain]  # prose has strokes, too
    ends = [value, *("/".join(parts[-number:]) for number in (2, 1) if number < len(parts))]
    yield value
    for end in (*ends[1:], *(_EXTENSION.sub("", end) for end in ends)):
        if _JOINED.search(end) or (len(end) >= _LEAST_PROPER and _WITHOUT_BLANKS.search(end)):
            yield end  # what remains of ``Plan.pdf`` is any plan


def _spelt(form: str, text: str) -> Iterator[str]:
    """Yield a form as it stands in a text, if it is a name there."""
    form = form.strip("\"'./ ")
    letters = sum(map(str.isalnum, form))
    if letters < _LEAST_UNCASED or _beginning(form.partition(" ")[0]).lower() not in text.lower():
        return  # before a pattern is made, which takes longer
    for found in re.finditer(_pattern(form), text, re.IGNORECASE):
        if _is_name(form, letters, found):
            yield found.group()
            return


def _is_name(form: str, letters: int, found: re.Match[str]) -> bool:
    if _WITHOUT_BLANKS.search(form):
        return True
    if _JOINED.search(form):
        return letters >= (_LEAST if " " in form else _LEAST_JOINED)
    before = found.string[max(0, found.start() - _BEFORE_CHARS) : found.start()]
    is_proper = found.group() == form and form[0].isupper() and letters >= _LEAST_PROPER
    return is_proper and not _begins_sentence(before) and not _ARTICLE.search(before)


def _begins_sentence(before: str) -> bool:
    """Return whether a word behind this text begins a sentence, where any word has a capital."""
    said = before.rstrip(" \t")
    return not said or said[-1] in _BEFORE_SENTENCES


def _pattern(form: str) -> str:
    """Return a pattern for a form as whole words; the words of a title may have other endings."""
    words = form.split(" ")
    before = "" if _WITHOUT_BLANKS.match(form) else rf"(?<!{_OF_WORD})"
    after = "" if _WITHOUT_BLANKS.match(form[-1]) else rf"(?!{_OF_WORD})"
    if len(words) == 1:
        return before + re.escape(form) + after
    return before + r"\s+".join(map(_inflected, words)) + after


def _inflected(word: str) -> str:
    beginning = _beginning(word)
    return re.escape(beginning) + (r"\w{0,4}" if beginning != word else "")


def _beginning(word: str) -> str:
    """Return what all forms of a word of a title begin with."""
    if len(word) < _LEAST_PROPER or not word.isalpha() or _WITHOUT_BLANKS.search(word):
        return word
    return word[: math.ceil(len(word) * _ENDING_AT)]
