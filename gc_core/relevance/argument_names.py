"""
What a call is about, as a message may name it: words of the values of its arguments.

One word is enough if it is hard to write by chance: joined by signs, with digits or capitals among its letters, or a
proper name, with a capital inside of a sentence. Of others it takes two.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from gc_core.relevance.plain_words import PlainWord, plain_words, spelt
from gc_core.relevance.tool_calls import CHANGES, COMMANDS, ToolCall, texts_in
from gc_core.values.json_values import read_object
from gc_core.values.patterns import regex
from gc_core.values.scripts import DENSE, HANGUL, folded

_LONGEST, _LONGEST_COMMAND = 120, 360
"""Characters of a value, and of a command, in which words are looked for."""

_LEAST, _LEAST_UNCASED = 5, 4
"""Letters and digits of a word that is enough by itself, and of one in Chinese, Japanese or Korean."""

_WITHOUT_BLANKS = regex(rf"[{DENSE}{HANGUL}]")
_LETTER = rf"[^\W_{DENSE}{HANGUL}]"
_JOINED = regex(rf"(?<!{_LETTER}){_LETTER}+(?:[-_./:@#]+{_LETTER}+)+")
_SIGNS = regex(r"[\W_]+")
_MIXED = regex(r"\d[^\W\d_]|[^\W\d_]\d|[a-z][A-Z]")

_NOT_LATIN = regex(r"[^\W\d_\u0000-\u024f]")

_BEFORE_SENTENCES = frozenset('.!?:;\n"“„«(*')
_BEFORE_CHARS = 60  # characters before a name that are looked at
_ARTICLE = regex(
    r"(?<!\w)(?:the|der|die|das|dem|den|eine?[nmrs]?|une?|les?|la|el|los|las|una|uno|il|lo|uma|het|een|ett)\s$",
    re.IGNORECASE,
)


_NAME_BEFORE = regex(r"(?<!\w)([^\W\d_]{2,})\.? \Z")
_NAME_BEHIND = regex(r" ([^\W\d_]{2,})(?!\w)")
_TITLE = regex(
    r"(?:mrs?|ms|miss|dr|prof\w*|sir|frau|herrn?|mme|mlle|madame|monsieur|senora?|sra?|dona?|signora?|sig|mevrouw|meneer"
    r"|mevr|pan[aiu]?|fru|herr|fr|hr|sayin|bay(?:an)?)\Z"
)
_NOUNS_HAVE_CAPITALS = regex(r"(?<!\w)(?:der|das|dem|den|und|ist|wie|wer|ich|nicht|welche\w*|von|fur|mit)(?!\w)")
"""German, where a capital makes no name."""


def values_asked(arguments: str) -> tuple[str, ...]:
    """Return the values of a call's arguments that ask for something: short ones, and the beginnings of commands."""
    strings = texts_in(read_object(arguments) or {})
    return tuple(value[:_LONGEST_COMMAND] for key, value in strings if key in COMMANDS or len(value) <= _LONGEST)


def is_whole(value: str, words: Collection[PlainWord]) -> bool:
    """Return whether some words are all words of a value, and several."""
    own = plain_words(value, _LONGEST)
    return len(own) > 1 and all(any(_is_word(word, each) for word in words) for each in own)


def are_ordered(words: Sequence[PlainWord], value: str, text: str) -> bool:
    """Return whether a text has those of some words that a value has in the value's order."""
    in_value, in_text = (tuple(spelt(each, words)) for each in (value, text))
    return [word for word in in_text if word in in_value] == [word for word in in_value if word in in_text]


def joined_names(text: str) -> tuple[str, ...]:
    """Return what is joined by signs in a text, as hosts, paths and ids are."""
    return tuple(dict.fromkeys(_JOINED.findall(text)))


def is_part(name: str, value: str) -> bool:
    """Return whether a value has all parts of a joined name next to each other, by whatever sign."""
    return f" {_parts(name)} " in f" {_parts(value)} "


def is_telling(word: str, asked: str, text: str) -> bool:
    """
    Return whether a word of a text, as it is spelt there, is hard to write by chance, of another script than the text,
    or a proper name as in the arguments, where it may have another ending.
    """
    if _WITHOUT_BLANKS.search(word):
        return len(asked) >= _LEAST_UNCASED
    if len(word) < _LEAST:
        return False
    if _MIXED.search(word) or (word.isascii() and len(_NOT_LATIN.findall(text)) > len(text) / 3):
        return word == asked
    is_proper = word[0].isupper() and asked[0].isupper()
    return is_proper and any(
        not _begins_sentence(before) and not _ARTICLE.search(before)
        for before in (text[max(0, each.start() - _BEFORE_CHARS) : each.start()] for each in _whole(word, text))
    )


def names_beside(word: str, text: str) -> tuple[str, ...]:
    """Return the proper names right beside a proper name in a text: the rest of the same person's."""
    if not word[:1].isupper() or _NOUNS_HAVE_CAPITALS.search(folded(text)) is not None:
        return ()
    found = []
    for each in _whole(word, text):
        before = _NAME_BEFORE.search(text, max(0, each.start() - _BEFORE_CHARS), each.start())
        if before is not None and not _begins_sentence(text[: before.start()]):
            found.append(before[1])
        behind = _NAME_BEHIND.match(text, each.end())
        if behind is not None:
            found.append(behind[1])
    return tuple(name for name in found if name[0].isupper() and _TITLE.match(folded(name)) is None)


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


def _is_word(word: PlainWord, other: PlainWord) -> bool:
    return word == other if word.is_pair else word.is_form(other.text)


def _parts(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().lower()


def _whole(word: str, text: str) -> Iterator[re.Match[str]]:
    return re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)


def _begins_sentence(before: str) -> bool:
    """Return whether a word behind this text begins a sentence, where any word has a capital."""
    said = before.rstrip(" \t")
    return not said or said[-1] in _BEFORE_SENTENCES
