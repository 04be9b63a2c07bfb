"""Every pattern of the library takes time linear in the length of what it sees."""

import re
import time

import pytest

from gc_core.learning.extraction import MOST_CHARS
from gc_core.summaries.changed_values import _ASSIGNED, _ASSIGNED_AMONG
from tests.support import patterns as found

SMALL, LARGE = 120, 480
"""Letters of the texts that each pattern is tried on."""

LONG, LONGEST = 2_500, 10_000
"""Letters of those that it is tried on again where the first took long: bounds of up to 400 letters are passed then."""

LINEAR = 7.0
"""Times as long may four times the text take: four by nature, sixteen where time grows with the square."""

HOPELESS = 0.1
"""Seconds for the first texts from which no longer one is tried: no linear pattern takes as long, others take hours."""

WAYS = {
    "gc_core.summaries.digests._WORTH": {"match"},
    "gc_core.summaries.inventions._UNIT": {"fullmatch"},
    "gc_core.summaries.inventions._COUNTED": {"fullmatch"},
    "gc_core.summaries.inventions._EITHER": {"fullmatch"},
}
"""The call of a pattern in a list: the source does not name it."""

BOUNDED = ("gc_core.learning.", "gc_core.relevance.message_forms.")
"""Modules whose patterns see no more than one short sentence each, or the first 400 letters of a message."""


def cost(pattern, text, ways):
    """Seconds of this thread: what else the machine does is not counted."""
    start = time.thread_time()
    if "search" in ways:
        for _ in pattern.finditer(text):
            pass
    else:
        for way in ways:
            getattr(pattern, way)(text)
    return time.thread_time() - start


def growth(pattern, attack, ways, sizes):
    """How many times as long the larger text takes, each at the least of several tries."""
    before = after = float("inf")
    for _ in range(5):
        before = min(before, cost(pattern, attack.text(sizes[0]), ways))
        after = min(after, cost(pattern, attack.text(sizes[1]), ways))
        grown = after / max(before, 2e-6)
        if grown < LINEAR or grown > 4**4:
            break
    return grown


def suspects(pattern, ways, size):
    """The attacks that cost the most, the worst first."""
    costs = []
    for attack in found.attacks(pattern):
        seconds = cost(pattern, attack.text(size), ways)
        costs.append((seconds, attack))
        if seconds > HOPELESS:
            break
    return [attack for _, attack in sorted(costs, key=lambda pair: -pair[0])[:3]]


def is_linear(pattern, attack, ways):
    if growth(pattern, attack, ways, (SMALL, LARGE)) < LINEAR:
        return True
    if cost(pattern, attack.text(LARGE), ways) > HOPELESS:
        return False
    return growth(pattern, attack, ways, (LONG, LONGEST)) < LINEAR


def test_patterns_are_found_wherever_the_library_keeps_them():
    assert {
        "gc_core.summaries.changed_values._ASSIGNED",  # of a module
        "gc_core.learning.phrases._ENGLISH",  # in a tuple
        "gc_core.relevance.volatile_text._PATTERNS",  # in pairs
        "gc_core.learning.phrases.TAIL",  # compiled when it is first asked
    } <= set(found.patterns().values())


def test_no_text_makes_a_pattern_slower_than_its_length():
    ways = found.ways()
    slow = []
    for pattern, name in found.patterns().items():
        if name.startswith(BOUNDED):
            continue
        asked = WAYS.get(name) or ways(name)
        for attack in suspects(pattern, asked, LARGE):
            if not is_linear(pattern, attack, asked):
                slow.append(f"{name} ({'/'.join(sorted(asked))}): {pattern.pattern[:60]!r} on {attack}")
                break
    assert slow == []


def test_what_sees_short_sentences_alone_does_not_grow_without_measure():
    """64 times as long for four times the text is the cube; what is exponential takes thousands of times as long."""
    slow = [
        f"{name}: {pattern.pattern[:60]!r} on {attack}"
        for pattern, name in found.patterns().items()
        if name.startswith(BOUNDED)
        for attack in suspects(pattern, {"search"}, MOST_CHARS // 4)[:1]
        if growth(pattern, attack, {"search"}, (MOST_CHARS // 4, MOST_CHARS)) > 4**4
    ]
    assert slow == []


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        (r"a*b", (LONG, LONGEST)),
        (r"\s+x", (LONG, LONGEST)),
        (r"\bset\s+(.{2,60}?)\s+to\b", (SMALL, LARGE)),
        (r"(?:a|aa)+$", (5, 24)),
    ],
)
def test_a_pattern_that_is_not_linear_is_found(words, sizes):
    """Three times, as a pause of the machine while the shorter text is read hides how much longer the other takes."""
    pattern = re.compile(words)
    tried = (attack for _ in range(3) for attack in suspects(pattern, {"search"}, 24))
    assert any(growth(pattern, attack, {"search"}, sizes) >= LINEAR for attack in tried)


def test_what_only_a_function_has_is_escaped_or_known():
    """A pattern that is made of words at run time is not found above: only what is escaped may vary in it."""
    assert found.made_of_words() == {
        "gc_core.learning.phrases._words",  # the library's own words, for patterns of the module
        "gc_core.providers.model_families._names",  # a family's name, of the library's own table
        "gc_core.relevance.profiles.matchers.cues",  # the library's own words
        "gc_core.session.passages._places",  # escaped names
        "gc_core.storage.search.queries.finder_of",  # alternatives of escaped words
        "gc_core.summaries.fact_selection.focus_pattern",  # alternatives of escaped words
        "gc_core.summaries.inventions._starts_path",  # an escaped part of a path
        "gc_core.summaries.prompt._ends",  # a number
        "gc_core.summaries.unexplained_numbers._without",  # alternatives of escaped numbers
        "gc_core.task.phrases.words_of",  # the library's own words, for patterns of the modules
        "gc_core.task.touched_files.file_of",  # suffixes of files
        "gc_core.task.phrases._any",  # the library's own words, for patterns of the module
        "gc_core.values.patterns.compiled",  # found as ``LazyPattern``
        "gc_core.integrations.tool_worker.notes.named",  # alternatives of escaped words
    }


def test_blanks_after_a_value_take_no_more_than_their_length():
    attack = found.Attack("port: x", " ", "y")
    assert is_linear(_ASSIGNED, attack, {"search"})
    assert is_linear(_ASSIGNED_AMONG, attack, {"search"})
