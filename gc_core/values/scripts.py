"""Scripts that are written without blanks, and texts without case and accents."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Final

from gc_core.values.patterns import regex

HAN: Final = "\u3400-\u9fff\uf900-\ufaff"
HIRAGANA: Final = "\u3041-\u309f"
KATAKANA: Final = "\u30a0-\u30ff\u31f0-\u31ff"
HANGUL: Final = "\uac00-\ud7af"
"""Ranges of characters, for use in patterns. Each Han character is a word of its own, the others are words in runs."""

DENSE: Final = HAN + HIRAGANA + KATAKANA
"""The scripts without blanks."""

IN_EAST_ASIA: Final = regex(f"[{DENSE}{HANGUL}]")
"""Finds a character of Chinese, Japanese or Korean."""

_AFTER_LATIN: Final = "\u0250"
_MOST_KEPT: Final = 1 << 15  # characters in a table
_FIRST_DENSE = regex(f"[{DENSE}]")
_HAN = regex(f"[{HAN}]")
_KANA = regex(f"[{HIRAGANA}]+|[{KATAKANA}]+")


def parted(text: str) -> str:
    """Return the text with blanks around the words of scripts that have none."""
    if text.isascii() or _FIRST_DENSE.search(text) is None:
        return text
    return _KANA.sub(r" \g<0> ", text).translate(_PARTING)


def is_dense(word: str) -> bool:
    """Return whether a word is of such a script: it may stand right next to another one."""
    return not word.isascii() and _FIRST_DENSE.match(word) is not None


def folded(text: str) -> str:
    """Return the text without case and, in Latin script, accents, every character in its place: as SQLite's words."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)


class _Table(dict[int, str]):
    """What becomes of each character, for ``str.translate``; made for the characters that are met."""

    def __init__(self, becomes: Callable[[str], str]) -> None:
        super().__init__()
        self._becomes = becomes

    def __missing__(self, code: int) -> str:
        made = self._becomes(chr(code))
        if len(self) < _MOST_KEPT:
            self[code] = made
        return made


def _plain(letter: str) -> str:
    base = unicodedata.normalize("NFD", letter)[0]
    return (base if base < _AFTER_LATIN else letter).lower()[:1]


_FOLDING: Final = _Table(_plain)
_PARTING: Final = _Table(lambda letter: f" {letter} " if _HAN.match(letter) else letter)
