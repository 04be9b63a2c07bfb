"""Names are found at their places, once, whatever the text."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gc_core.relevance.name_scan import LONG_LINE, scan, spans_of
from gc_core.values.names import NOTHING

NAMED = [
    ("see src/app/login.py now", {"src/app/login.py", "login.py"}),
    ("order 48213 of user_4711", {"48213", "user_4711"}),
    ("call parseHeader, then close_file", {"parseHeader", "close_file"}),
    ("commit 3f9ac21be", {"3f9ac21be"}),
    ("module os.path.join_all", {"join_all"}),
    ("README.md says so", {"README.md"}),
    (r'{"text": "first\nsecond_line"}', {"second_line"}),
    ("plain words have no names, 1234 neither", set()),
]


@pytest.mark.parametrize(("text", "names"), NAMED)
def test_the_grammar_of_names(text, names):
    assert names <= scan(text).names
    assert bool(scan(text).names) == bool(names)


def test_every_name_is_on_its_own_line():
    text = "one\nget_user here\n\nand src/main.go:12 there\n"
    assert [(text[span.start : span.end], set(span.names)) for span in scan(text).spans] == [
        ("get_user here", {"get_user"}),
        ("and src/main.go:12 there", {"src/main.go", "main.go"}),
    ]


@given(st.text(alphabet=st.sampled_from('ab_/.1 2\n{},"') | st.characters(), max_size=3_000))
def test_spans_cover_the_text_in_order_and_names_lie_inside_them(text):
    spans = list(spans_of(text))
    assert "".join(text[start:end] for start, end in spans) == text.replace("\n", "")
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    known = set(spans)
    for span in scan(text).spans:
        assert (span.start, span.end) in known
        assert all(name in text[span.start : span.end + len(name)] for name in span.names)


def test_a_very_long_line_is_scanned_in_pieces():
    row = "[" + ", ".join(f'{{"id": "order_{number}"}}' for number in range(500)) + "]"
    spans = scan(row).spans
    assert len(row) > LONG_LINE
    assert all(span.end - span.start <= LONG_LINE for span in spans)
    assert {f"order_{number}" for number in range(500)} <= scan(row).names


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "x" * 10**6, "ab12" * 250_000, "\x00\x01\xff" * 100_000, "same line\n" * 200_000, "\ud800" * 10],
    ids=["empty", "breaks", "one letter", "base64", "noise", "short lines", "surrogates"],
)
def test_bad_input_has_no_names_and_harms_nothing(text):
    assert scan(text) == NOTHING
