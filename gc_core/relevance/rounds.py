"""
What a call and its result are to the re-read guard: which text was read, and whether it brought anything.

A large text that was read before is the same text, whatever words asked for it. A small result belongs to its call. An
error that says no more than the call said brings nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from gc_core.relevance.call_results import failure_in
from gc_core.relevance.only_reads import STATEMENTS, only_reads, selects
from gc_core.relevance.parts import Target, digest
from gc_core.relevance.polls import SMALL, asks_for_state, tells_state, waits
from gc_core.relevance.shell import places_searched
from gc_core.relevance.tool_calls import (
    COMMANDS,
    NAME_WORD,
    PARTIAL,
    CallKind,
    ToolCall,
    command_in,
    texts_in,
)
from gc_core.values.items import Item
from gc_core.values.json_values import read_json
from gc_core.values.patterns import regex

_LOOKS_BACK = frozenset({"recall", "search_history", "context_status"})
_DESCRIBES = frozenset({"description", "explanation", "reason", "rationale", "intent", "justification", "thought"})
_MATCHED = frozenset(
    {"query", "queries", "pattern", "patterns", "q", "regex", "regexp", "text", "keyword", "keywords", "search"}
    | {"term", "terms", "phrase", "question", "glob", "globs", "include", "exclude", "filter", "string", "words"}
)
"""Last words of the arguments that say what a search matches."""

_AMOUNTS = frozenset(
    {"limit", "count", "max", "min", "top", "k", "n", "num", "number", "page", "size", "results", "offset", "context"}
    | {"lines", "depth", "timeout", "start", "end", "head"}
)
_WORD = regex(r"[\w.-]+")
_PROGRAM = regex(r"(?:^|[|;&\n])[ \t]{0,9}[\w.-]{1,99}")
_SCHEMES = frozenset({"http", "https"})
_COUNTED = regex(r"(?<=[?&])(?:utm_\w{1,20}|gclid|fbclid|msclkid|mc_[ce]id)=[^&]{0,200}&?")
_SPOKEN = regex(r"[^\W\d_]+|\d+")
_NOT_THERE = regex(
    r"not found|no such|does(?: not|n't) exist|denied|timed? ?out|connection refused|unreachable|too large"
    r"|is a directory|out of range|unknown|not allowed",
    re.IGNORECASE,
)
_STATUS = regex(r"\W{0,3}(?:HTTP\S{0,4} |status(?: code)?:? |error )?[45]\d\d[ :,-]{1,3}[A-Z]")
_SHOWN = 120  # characters of a call in a notice
_SHORT = 200  # characters of an error


@attrs.frozen(kw_only=True)
class MadeCall:
    """
    A call whose result has not come.

    Attributes:
        name: The tool's name.
        arguments: Its arguments.
        read: What they hold; None if they are not JSON.
        digest: Of both, without what makes no difference.
        shown: The call in a notice.
        looks_back: It looks for collected content.
        waits: It lets time pass.
        asks: It asks for a state.
        changes: It changes files.
        reads: It surely changes nothing.
        searches: It reads, and searches for something.
        target: What it reads, or reads a part of.
        words: The words by which it may name what it asks for, in order; of a search where it looks, for what it
            matches is a way to ask.

    """

    name: str
    arguments: str
    read: Any
    digest: bytes
    shown: str
    looks_back: bool
    waits: bool
    asks: bool
    changes: bool
    reads: bool
    searches: bool
    target: Target
    words: tuple[str, ...]

    @classmethod
    def of(cls, item: Item) -> MadeCall:
        """Return the call of an item."""
        call, shown = ToolCall.of(item), f"{item.name}({item.text})"
        asks, read = asks_for_state(item.name, item.text), _read(item.text)
        reads = (not asks or selects(call, item.text)) and only_reads(call, item.text)
        return cls(
            name=item.name,
            arguments=item.text,
            read=read,
            digest=digest(item.name, item.text if read is None else json.dumps(_plain(read), sort_keys=True)),
            shown=shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}...",
            looks_back=item.name in _LOOKS_BACK,
            waits=waits(item.name, item.text),
            asks=asks,
            changes=call.changes,
            reads=reads,
            searches=reads and call.kind is CallKind.SEARCH,
            target=Target.of(call, item.text, read) if reads else Target(),
            words=tuple(_words(call, item.text, read, reads=reads)),
        )

    def is_cheap(self, result: Item) -> bool:
        """Return whether a round costs no more than a look at a state; an edit is none."""
        return not (self.looks_back or self.changes) and (
            self.asks or result.original_tokens <= SMALL or tells_state(result.text)
        )

    def brings_text(self, result: Item) -> bool:
        """
        Return whether what came is a text that may be known, and no error: larger than a state, or a part of a file.
        What a call of unknown effect brings is one as well, as the output of code that prints a file.
        """
        if self.reads:
            return (result.original_tokens > SMALL or bool(self.target.file)) and not self.failed(result)
        return result.original_tokens > SMALL and not (self.changes or self.asks or result.is_error)

    def failed(self, result: Item) -> bool:
        """Return whether a result is no more than an error; an attempt to do something has to have failed to begin."""
        if self.changes or len(result.text) > _SHORT:
            return self.reads and result.is_error
        if self.reads and (failure_in(result, CallKind.OTHER) or _STATUS.match(result.text)):
            return True
        return _NOT_THERE.search(result.text) is not None

    def remainder(self, result: Item) -> bytes:
        """Return a digest of what a result says that the call did not say: without its arguments and any number."""
        known = {*_SPOKEN.findall(self.arguments)}
        said = [word for word in _SPOKEN.findall(result.text) if word not in known and not word.isdecimal()]
        return digest(self.name, "remainder", *said)


# -- inside ----------------------------------------------------------------------------------------------------------


def _read(arguments: str) -> Any:
    """Return what arguments hold; None if they are not JSON."""
    try:
        return read_json(arguments)
    except ValueError:
        return None


def _plain(read: Any) -> Any:
    """Return arguments without what merely describes the call."""
    if isinstance(read, dict) and not read.keys() <= _DESCRIBES:
        return {key: value for key, value in read.items() if key not in _DESCRIBES}
    return read


def _words(call: ToolCall, arguments: str, read: Any, *, reads: bool) -> Iterator[str]:
    """Yield words that may name a thing: of a call that reads no range, option or program, of another no option."""
    if call.changes or (reads and not isinstance(read, dict)):
        return
    is_search = reads and call.kind is CallKind.SEARCH
    is_command = reads and not is_search and bool(command_in(read))
    for text in _texts(read, arguments, reads=reads, is_search=is_search):
        for word in _WORD.findall(_PROGRAM.sub(" ", text) if is_command else text):
            name = word.strip(".-").lower()  # of "." and ".." nothing is left
            if name and not (word.startswith("-") or word in _SCHEMES or (is_command and word.isdecimal())):
                yield name


def _texts(read: Any, arguments: str, *, reads: bool, is_search: bool) -> Iterable[str]:
    if is_search:
        return _searched_texts(read)
    return _naming_texts(read, reads=reads) if isinstance(read, dict) else (arguments,)


def _searched_texts(read: dict[str, Any]) -> Iterator[str]:
    """Yield the values of a search that may name a thing: where it looks, not what it matches or how much it gets."""
    yield from places_searched(command_in(read))
    for key, text in texts_in({key: value for key, value in _plain(read).items() if key not in COMMANDS}):
        words = [word.lower() for word in NAME_WORD.findall(key)]
        if not (words[-1:] and words[-1] in _MATCHED) and not (text.isdecimal() and not _AMOUNTS.isdisjoint(words)):
            yield text


def _naming_texts(read: dict[str, Any], *, reads: bool) -> Iterator[str]:
    """
    Yield the values that may name a thing; of a page the address says all, without the place on it; of a
    qualified name of SQL each part is one.
    """
    address = read.get("url") if reads else None
    meant = {"url": _page_of(address)} if isinstance(address, str) else _plain(read)
    for key, value in meant.items():
        if not (reads and key in PARTIAL):
            text = value if isinstance(value, str) else json.dumps(value)
            yield text.replace(".", " ") if key in STATEMENTS else text


def _page_of(address: str) -> str:
    """Return an address without the place on its page, and without what only counts who comes."""
    page = _COUNTED.sub("", address.partition("#")[0])
    return page.replace("://www.", "://", 1)
