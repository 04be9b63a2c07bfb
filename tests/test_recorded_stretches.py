"""What the validator says of summaries of recorded sessions, by a hand that has not seen it; one half was looked at."""

import functools
import hashlib
import json
from pathlib import Path

import attrs
import pytest

from gc_core.summaries.validation import SummaryValidator
from gc_core.values.items import ItemKind
from tests.support.corpus import corpus_dir, require_corpus
from tests.test_checked_summaries import tools_of
from tests.test_summary_validation import plain_request

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "corpus_summaries.jsonl").read_text("utf-8").splitlines()
]
HELD_OUT = [row for row in ROWS if int(hashlib.sha256(row["id"].encode()).hexdigest(), 16) % 2 == 1]
ROLES = {"user": ItemKind.USER_TEXT, "assistant": ItemKind.ASSISTANT_TEXT, "tool": ItemKind.TOOL_RESULT}
INVENTED, LEFT = "none of the originals", "past tense"


@functools.cache
def session(name):
    return [json.loads(line) for line in (corpus_dir() / name).read_text("utf-8").splitlines()]


def originals(messages):
    """Yield kind, tool and text of each original."""
    names = {}
    for message in messages:
        content = message.get("content") or ""
        text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
        if text:
            yield ROLES.get(message["role"], ItemKind.USER_TEXT), names.get(message.get("tool_call_id"), ""), text
        for call in message.get("tool_calls") or ():
            names[call["id"]] = call["function"]["name"]
            yield ItemKind.TOOL_CALL, call["function"]["name"], call["function"]["arguments"]


@functools.cache
def told(place):
    """The complaints about a row of the held-out half."""
    row = HELD_OUT[place]
    request, messages = plain_request(100_000), session(row["session"])
    (item,) = request.items
    items = tuple(
        attrs.evolve(item, id=f"i{number}", kind=kind, name=name, text=text, original_tokens=10**6)
        for number, (kind, name, text) in enumerate(originals(messages[row["from"] : row["to"]]))
    )
    request = attrs.evolve(request, items=items, tools=tuple(sorted(tools_of(messages))))
    return SummaryValidator().validate(request, row["summary"])


def refused(words, verdict, sort=""):
    """How many rows of a verdict and a sort are refused in these words, and how many there are."""
    places = [place for place, row in enumerate(HELD_OUT) if (row["verdict"], row["sort"]) == (verdict, sort)]
    return sum(any(words in each for each in told(place)) for place in places), len(places)


@pytest.mark.parametrize(("words", "most"), [(INVENTED, 2), (LEFT, 1)])
def test_an_honest_summary_of_a_recorded_session_is_hardly_ever_refused(words, most):
    require_corpus()
    found, of = refused(words, "good")
    assert found <= most
    assert of == 70


@pytest.mark.parametrize(("sort", "least"), [("path", 11), ("long number", 8), ("name", 9), ("short number", 1)])
def test_a_path_or_long_number_that_was_invented_is_refused_and_half_of_the_names_are(sort, least):
    """Of short numbers hardly any is: among hundreds of others most stand somewhere, or follow from some."""
    require_corpus()
    found, _ = refused(INVENTED, "invented", sort)
    assert found >= least


def test_what_is_left_to_do_is_refused():
    require_corpus()
    found, of = refused(LEFT, "unfinished")
    assert found >= 9
    assert of == 12
