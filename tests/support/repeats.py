"""Where a circle first asks again for what was there before: its calls are counted from there."""

from typing import NamedTuple

_LARGE = 25  # lines; a smaller result is known only as a whole
_SAID = 12  # letters of a line that says something
_SMALL = 60  # letters of a result that may be a circle's
_MOST = 0.9


class Repeat(NamedTuple):
    """The place of a round, and the number of calls from it until the same is asked for once more."""

    place: int
    lap: int


def first_repeat(rounds, begins):
    """
    The first round from ``begins`` whose call returns what a call returned before.

    Nobody can tell a circle from work before: until then each call brings something new.
    """
    results = {one.message["tool_call_id"]: one.message["content"] for one in rounds if one.message["role"] == "tool"}
    lines, texts, found = set(), set(), None
    for place, each in enumerate(rounds):
        for call in each.message.get("tool_calls") or []:
            text = results.get(call["id"], "")
            if found is not None and _holds(text, found[1]):
                return Repeat(found[0], calls_in(rounds[found[0] : place]))
            if found is None and place >= begins and _is_known(text, lines, texts):
                found = place, text
            lines |= lines_of(text)
            texts.add(text)
    return Repeat(begins if found is None else found[0], 0)


def calls_in(rounds):
    """The number of replies with calls."""
    return sum(bool(each.message.get("tool_calls")) for each in rounds)


def lines_of(text):
    """The lines that say something, without the numbers at their ends."""
    found = (line.strip(" 0123456789\t") for line in text.split("\n"))
    return {line for line in found if len(line) > _SAID}


def _is_known(text, lines, texts):
    its = lines_of(text)
    if len(its) > _LARGE:
        return len(its & lines) > _MOST * len(its)
    return len(text) > _SMALL and text in texts


def _holds(text, other):
    its = lines_of(other)
    return text == other or (len(its) > _LARGE and len(lines_of(text) & its) > _MOST * len(its))
