"""
What an agent writes for itself, or only tells its user: thoughts, plans, notes and messages.

They bring nothing new, whatever their words, and so are no progress. Two things are: an entry that is ticked off, and
the first note that belongs to a thing, as one for each patient. Comments are read by others and are work.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from gc_core.relevance.parts import digest
from gc_core.relevance.polls import SMALL
from gc_core.relevance.tool_calls import words_of
from gc_core.values.items import Item
from gc_core.values.json_values import objects, strings
from gc_core.values.patterns import regex

_THINKS: Final = frozenset({"think", "thinking", "thought", "thoughts", "sequentialthinking", "reflect", "reflection"})
_PLANS: Final = frozenset({"todo", "todos", "todowrite", "plan", "planner", "checklist"})
_NOTES: Final = frozenset({"note", "notes", "memo", "journal"})
_MEMORIES: Final = frozenset({"memory", "memories", "scratchpad", "remember"})
_TELLS: Final = frozenset({"message", "notify", "tell", "inform"})
_STATES: Final = frozenset({"status", "state", "done", "completed", "complete", "finished", "closed", "checked"})
_DONE: Final = _STATES - {"status", "state"}
_BOX = regex(r"\[[ xX✓✔]\]|[✓✔✅☑]")
_TICK = regex(r"\[[xX✓✔]\]|[✓✔✅☑]")
_WORD = regex(r"[^\W\d_]+|\d+")
_SPACE = regex(r"\s")
_FILE = regex(r"\.[A-Za-z]{1,5}$")


@attrs.frozen
class Entry:
    """
    An entry of a plan.

    Attributes:
        key: A digest of its words, or of the call that ticks off this entry alone.
        is_done: Whether it is ticked off.
        is_alone: Whether the call is about this entry alone, which another call has put into the plan.

    """

    key: bytes
    is_done: bool
    is_alone: bool = False


def is_thought(name: str, result: Item) -> bool:
    """Return whether a call only took a thought, and its result says no more."""
    return not words_of(name).isdisjoint(_THINKS) and _says_little(result)


def is_own_note(name: str, arguments: str, read: Any, result: Item) -> bool:
    """
    Return whether a call that does not read only wrote a plan or a note, or told the user something.

    Its result says no more. A note to a file is a piece of work.
    """
    words, others = words_of(name), _others(read)
    tells_user = "user" in words and not words.isdisjoint(_TELLS) and isinstance(read, dict) and len(read) == 1
    notes = not words.isdisjoint(_NOTES) and not any(_FILE.search(str(value)) for value in others.values())
    is_own = tells_user or notes or not words.isdisjoint(_PLANS | _MEMORIES)
    return is_own and (_says_little(result) or _echoes(arguments, read, result))


def thing_noted(name: str, read: Any) -> bytes:
    """Return a digest of what a note belongs to, which is all but its text or its entries; b"" if there is nothing."""
    others = _others(read)
    if not words_of(name).isdisjoint(_PLANS):
        others = {key: value for key, value in others.items() if isinstance(value, str | int)}
    return digest(name, "noted", json.dumps(others, sort_keys=True)) if others else b""


def entries(read: Any) -> Iterator[Entry]:
    """Yield the entries of a plan: lines with a box or a tick, and objects with a state."""
    for line in (line for _, text in strings(read) for line in text.split("\n") if _BOX.search(line)):
        yield Entry(_entry_key(_BOX.sub("", line)), _TICK.search(line) is not None)
    for each in objects(read):
        if not _STATES.isdisjoint(each):
            words = " ".join(value for value in each.values() if isinstance(value, str) and _SPACE.search(value))
            key = _entry_key(words) if words and each is not read else digest("entry", json.dumps(each, sort_keys=True))
            yield Entry(key, any(map(_is_done, each.items())), is_alone=each is read)


# -- inside ----------------------------------------------------------------------------------------------------------


def _says_little(result: Item) -> bool:
    return result.original_tokens <= SMALL and not result.is_error


def _echoes(arguments: str, read: Any, result: Item) -> bool:
    """Return whether a result has no word that the call did not have."""
    known = {*_WORD.findall(arguments), *(word for _, text in strings(read) for word in _WORD.findall(text))}
    return not result.is_error and known.issuperset(_WORD.findall(result.text))


def _others(read: Any) -> Mapping[str, Any]:
    """Return the arguments but the longest that is a text of several words."""
    if not isinstance(read, dict):
        return {}
    texts = [key for key, value in read.items() if isinstance(value, str) and _SPACE.search(value)]
    text = max(texts, key=lambda key: len(read[key]), default="")
    return {key: value for key, value in read.items() if key != text}


def _entry_key(words: str) -> bytes:
    return digest("entry", *_WORD.findall(words))


def _is_done(pair: tuple[str, Any]) -> bool:
    key, value = pair
    return (isinstance(value, str) and value.lower() in _DONE) or (value is True and key.lower() in _DONE)
