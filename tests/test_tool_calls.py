"""What a call did, and to which files: against labels by somebody who has not seen the code."""

import json
from collections import Counter
from pathlib import Path

import pytest

from gc_core.relevance.tool_calls import ToolCall
from gc_core.values.items import Item, ItemKind
from gc_core.values.policy import GCPolicy

LABELLED = [json.loads(line) for line in (Path(__file__).parent / "data/tool_calls.jsonl").read_text().splitlines()]


def call(name, arguments):
    return Item(
        id="i1", kind=ItemKind.TOOL_CALL, source="conversation", policy=GCPolicy.EPHEMERAL, tokens=1, text=arguments,
        unit=1, turn=0, name=name, original_tokens=1,
    )  # fmt: skip


def read(case):
    return ToolCall.of(call(case["name"], case["arguments"]))


def wrong(field):
    return [case for case in LABELLED if not field(read(case), case)]


def kinds_agree(found, case):
    return found.kind.name.lower() == case["kind"]


def files_agree(found, case):
    return not kinds_agree(found, case) or set(found.files) == set(case["files"])


# What the first reading of the code gave on the day it was written, and no word of the code was chosen by these cases.
KINDS_RIGHT, FILES_RIGHT = 86, 97


def share_right(cases, wrong_ones):
    return 100 * (len(cases) - len(wrong_ones)) / len(cases)


def test_most_labelled_calls_are_read_as_somebody_else_labelled_them():
    assert share_right(LABELLED, wrong(kinds_agree)) >= KINDS_RIGHT, Counter(
        (case["kind"], read(case).kind.name) for case in wrong(kinds_agree)
    )


def test_their_files_are_those_that_the_labels_name():
    assert share_right(LABELLED, wrong(files_agree)) >= FILES_RIGHT


@pytest.mark.parametrize(
    ("command", "kind", "files"),
    [
        ("cd src && cat a.py", "READ", ("a.py",)),
        ("sed -n '10,40p' src/a.py", "READ", ("src/a.py",)),
        ("grep -n word src/a.py | head", "SEARCH", ()),
        ("cat > b.txt <<'EOF'\ncat a.py\nEOF", "WRITE", ("b.txt",)),
        ("sed -i 's/a/b/' a.py && pytest -q", "EDIT", ("a.py",)),
        ("pytest tests/test_a.py::test_x 2>&1 | tail -5", "RUN", ("tests/test_a.py",)),
        ("git diff -- a.py", "RUN", ("a.py",)),
        ("echo 'unbalanced", "RUN", ()),
        ("", "RUN", ()),
    ],
)
def test_a_shell_command_does_what_its_parts_do(command, kind, files):
    did = ToolCall.of(call("bash", json.dumps({"command": command})))
    assert (did.kind.name, did.files) == (kind, files)


def test_a_command_of_codex_is_a_list_of_words():
    did = ToolCall.of(call("shell", json.dumps({"command": ["bash", "-lc", "cat README.md"]})))
    assert (did.kind.name, did.files) == ("READ", ("README.md",))


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"file_path": "a.py"}, None),
        ({"file_path": "a.py", "offset": 10, "limit": 5}, (10, 14)),
        ({"file_path": "a.py", "limit": 5}, (1, 5)),
        ({"path": "a.py", "view_range": [3, 9]}, (3, 9)),
        ({"path": "a.py", "view_range": [3, -1]}, None),
    ],
)
def test_a_read_says_which_lines_it_asks_for(arguments, lines):
    assert ToolCall.of(call("Read", json.dumps(arguments))).lines == lines


def test_a_partial_read_is_not_a_read_of_the_whole():
    assert ToolCall.of(call("Read", '{"file_path": "a.py"}')).is_whole
    assert not ToolCall.of(call("Read", '{"file_path": "a.py", "offset": 10}')).is_whole
    assert not ToolCall.of(call("bash", '{"command": "head -20 a.py"}')).is_whole


@pytest.mark.parametrize("text", ["[" * 5_000, "{", "null", "[1]", '"a"', "<<EOF " * 900, "'" * 4_001])
def test_arguments_that_cannot_be_read_still_have_a_kind(text):
    assert ToolCall.of(call("bash", text)).kind is not None
    assert ToolCall.of(call("bash", json.dumps({"command": text}))).kind is not None
