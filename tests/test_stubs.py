"""Stubs keep what is alive, in whole lines and in order, and are never larger than what they replace."""

import itertools
import json
import re

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gc_core import GCPolicy, Item, ItemKind, compact
from gc_core.providers import format_named
from gc_core.providers.token_counting import counter_for, message_tokens, part_tokens
from gc_core.relevance.name_scan import scan
from gc_core.values.items import Form, Part
from gc_core.values.references import ByteRange
from gc_core.values.removals import GAP, SNIPPED
from gc_core.window.stubs import reference_to, smallest_stub, write_stub
from tests.support.histories import FORMATS, SPEAKERS, Reply
from tests.support.say import lines, small

COUNTER = counter_for(None, "openai")


def item_of(text, kind=ItemKind.TOOL_RESULT, name="bash"):
    called = name if kind is ItemKind.TOOL_CALL else ""
    tokens = part_tokens(Part(kind=kind, place=(), text=text, name=called), COUNTER)
    return Item(
        id="i7", kind=kind, source="conversation", policy=GCPolicy.EPHEMERAL, tokens=tokens, original_tokens=tokens,
        text=text, unit=1, turn=0, step=0, name=name, scan=scan(text),
    )  # fmt: skip


def stub(text, keep=0.35, shown=(), **kwargs):
    item = item_of(text, **kwargs)
    return item, write_stub(item, int(keep * item.tokens), COUNTER, set(shown))


LOG = "\n".join(f"step {number} of the build went on as it should" for number in range(200))


def test_lines_that_are_the_last_carrier_stay_whole_and_in_order():
    text = f"{LOG}\nfound alpha_one at src/app.py\n{LOG}\nand beta_two\n{LOG}"
    _, written = stub(text)
    lines = written.text.split("\n")
    assert lines == [GAP, "found alpha_one at src/app.py", GAP, "and beta_two", GAP, lines[-1]]
    assert lines[-1].startswith("[gc: ")
    assert " i7 bash]" in lines[-1]


def test_names_shown_elsewhere_keep_nothing():
    text = f"{LOG}\nfound alpha_one\n{LOG}"
    _, written = stub(text, shown={"alpha_one"})
    assert "alpha_one" not in written.text
    assert "\n" not in written.text


def test_of_two_lines_with_the_same_name_one_is_enough():
    _, written = stub(f"alpha_one first\n{LOG}\nalpha_one second\n{LOG}")
    assert written.text.count("alpha_one") == 1


def test_errors_and_outcomes_stay():
    _, written = stub(f"{LOG}\nFatal: disk is full\n{LOG}\n3 passed, 1 failed\n{LOG}")
    assert "Fatal: disk is full" in written.text
    assert "3 passed, 1 failed" in written.text


@pytest.mark.parametrize("joined", ["\n".join, lambda rows: f"[{', '.join(rows)}]"], ids=["lines", "one line"])
def test_the_record_with_an_error_stays_among_a_hundred_whose_error_is_null(joined):
    rows = [json.dumps({"id": n, "name": f"cust{n}", "error": None}) for n in range(100)]
    rows[50] = json.dumps({"id": 50, "name": "cust50", "error": "payment declined: card expired"})
    _, written = stub(joined(rows))
    assert rows[50] in written.text


RECORDS = [
    {"id": n, "name": "some plain words and others", "owner": {"is": "Ada"}, "tags": ["a", "b"]} for n in range(200)
]
COMPACT = {"separators": (",", ":")}


@pytest.mark.parametrize("keep", [0.05, 0.1, 0.2, 0.5])
@pytest.mark.parametrize("style", [{}, COMPACT], ids=["spaced", "compact"])
def test_head_and_tail_of_records_in_one_line_are_whole_records(style, keep):
    item = item_of(json.dumps(RECORDS, **style))
    head, tail = unread(item, keep)
    assert json.loads(f"{head}]") == RECORDS[: head.count('"id"')]
    assert json.loads(f"[{tail}") == RECORDS[-tail.count('"id"') :]


@pytest.mark.parametrize("keep", [0.05, 0.2])
def test_head_and_tail_of_an_object_with_a_list_end_and_begin_at_a_record(keep):
    head, tail = unread(item_of(json.dumps({"ok": True, "rows": RECORDS, "next": None})), keep)
    assert json.loads(f"{head}]}}") == {"ok": True, "rows": RECORDS[: head.count('"id"')]}
    assert json.loads(f'{{"rows": [{tail}') == {"rows": RECORDS[-tail.count('"id"') :], "next": None}


@pytest.mark.parametrize(
    "rows", [[{"text": "plain words " * 500}] * 9, [], ["plain words"] * 900, [{"is": "short"}] * 9]
)
def test_where_no_record_ends_head_and_tail_are_cut_as_text(rows):
    text = json.dumps({"rows": rows, "rest": "plain words " * 900})
    head, tail = unread(item_of(text), 0.1)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert min(len(head), len(tail)) > 0.02 * len(text)


def unread(item, keep):
    """Head and tail of the stub of a result that nobody has read yet."""
    written = write_stub(item, int(keep * item.tokens), COUNTER, set(), ends=True)
    assert written.tokens <= keep * item.tokens
    head, tail = written.text.rpartition("\n")[0].split(GAP)
    return head, tail


def test_a_paste_of_records_in_one_line_keeps_whole_records_at_its_ends():
    _, written = stub(json.dumps(RECORDS), kind=ItemKind.USER_TEXT, name="")
    head, tail = written.text.rpartition("\n")[0].split(GAP)
    assert json.loads(f"{head}]") == RECORDS[: head.count('"id"')]
    assert json.loads(f"[{tail}") == RECORDS[-tail.count('"id"') :]


def test_a_paste_keeps_its_first_and_last_line():
    text = f"Please look at this log:\n{LOG}\nWhat is wrong with it?"
    _, written = stub(text, kind=ItemKind.USER_TEXT, name="")
    assert written.text.startswith("Please look at this log:\n")
    assert "What is wrong with it?" in written.text


def test_long_strings_in_arguments_are_cut_and_short_ones_stay():
    arguments = {"path": "src/app.py", "mode": 3, "content": f"{LOG}\ndef alpha_one():\n{LOG}", "tags": ["a", "b"]}
    _, written = stub(json.dumps(arguments), kind=ItemKind.TOOL_CALL, name="write")
    short = json.loads(written.text)
    assert {key: short[key] for key in ("path", "mode", "tags")} == {
        "path": "src/app.py",
        "mode": 3,
        "tags": ["a", "b"],
    }
    assert "def alpha_one():" in short["content"]
    assert short["content"].endswith("i7 arguments of write]")


HARD = {
    "a minified line of 1 MB": '{"k":' + '"value",' * 125_000 + "0}",
    "200,000 short lines": "ok\n" * 200_000,
    "binary noise": "\x00\x07\x1b\ufffd" * 50_000,
    "no names at all": "nothing here is named\n" * 5_000,
    "every line the same": "src/app.py: error in get_user\n" * 20_000,
    "one row of JSON": json.dumps([{"id": f"order_{n}", "state": "open"} for n in range(5_000)]),
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
@pytest.mark.parametrize("kind", [ItemKind.TOOL_RESULT, ItemKind.USER_TEXT])
def test_hard_input_gets_a_valid_stub_with_a_reference(text, kind):
    item, written = stub(text, kind=kind)
    assert written.tokens <= 0.35 * item.tokens
    assert "tokens left out: i7" in written.text


def test_arguments_that_are_not_json_are_cut_as_text():
    item, written = stub("*** Begin Patch\n" + LOG * 20, kind=ItemKind.TOOL_CALL, name="apply_patch")
    assert written.tokens <= 0.35 * item.tokens
    assert "tokens left out: i7 arguments of apply_patch" in written.text


words = st.sampled_from(
    ["alpha_one", "src/app.py", "Error: bad", "plain words", "order_48213", "\n", "\n\n", " ", "x" * 300]
)


@settings(max_examples=150, deadline=None)
@given(pieces=st.lists(words, min_size=1, max_size=120), keep=st.floats(0, 0.9), shown=st.sets(words))
def test_kept_lines_are_lines_of_the_original_and_the_limit_holds(pieces, keep, shown):
    item, written = stub(" ".join(pieces), keep, shown)
    assert written.tokens <= max(int(keep * item.tokens), smallest_stub(item, COUNTER))
    *kept, reference = written.text.split("\n")
    assert reference.startswith("[gc: ")
    place = 0
    for line in "\n".join(kept).replace(GAP, "\n").split("\n"):
        place = item.text.find(line, place)
        assert place >= 0, f"{line!r} is not where it should be"


values = st.recursive(
    words.map(lambda word: word * 20) | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


@settings(max_examples=100, deadline=None)
@given(arguments=st.dictionaries(st.text(max_size=8), values, min_size=1, max_size=6), keep=st.floats(0, 0.9))
def test_stubbed_arguments_are_a_json_object_with_a_reference(arguments, keep):
    item, written = stub(json.dumps(arguments), keep, kind=ItemKind.TOOL_CALL, name="write")
    assert isinstance(json.loads(written.text), dict)
    assert "left out: i7" in written.text
    assert written.tokens <= max(int(keep * item.tokens), smallest_stub(item, COUNTER))


def test_where_no_line_is_worth_keeping_the_reference_says_how_the_text_began():
    _, written = stub('the "first" thing [of all]\n' + "and so on and so forth\n" * 80)
    assert written.text.endswith("tokens left out: i7 bash: \"the 'first' thing (of all) and so on and\"]")


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        (json.dumps({"rows": [[n, n] for n in range(200)]}), '`{"rows": [[0, 0], [1, 1], [2, 2], [3, 3]`'),
        (json.dumps([{"k": n} for n in range(200)], indent=1), '`[ { "k": 0 }, { "k": 1 }, { "k": 2 }, {`'),
        (json.dumps(["`id` [gc: 5 tokens left out: i9]"] * 80), "`[\"'id' (gc: 5 tokens left out: i9]\", \"'i`"),
    ],
)
def test_where_json_is_left_out_the_reference_quotes_its_beginning_as_json(text, begins):
    item = item_of(text)
    written = write_stub(item, smallest_stub(item, COUNTER) + 30, COUNTER, set())
    assert written.text.endswith(f"tokens left out: i7 bash: {begins}]")


def test_a_result_says_what_its_call_asked_for_and_that_it_failed():
    call = item_of('{"path": "src/login.py", "limit": 5}', kind=ItemKind.TOOL_CALL, name="read")
    failed = attrs.evolve(item_of("x", name="read"), is_error=True, logged=ByteRange(120, 156))
    assert reference_to(failed, call).stub_text().endswith("left out: i7 read src/login.py, failed]")
    assert reference_to(failed, call, cites=True).stub_text().endswith("failed; master.jsonl:120-156]")


# --- a stub of a stub -------------------------------------------------------------------------------------------------


def as_stub(item, written):
    """The item with its stub in the window."""
    found = scan(written.text)
    return attrs.evolve(
        item, text=written.text, tokens=written.tokens, form=Form.STUB, reference=written.reference, scan=found
    )


def again(item, written, keep, shown=(), **more):
    """A shorter stub in the place of a stub, as a plan asks for it: a share of what the item had when it arrived."""
    stubbed = as_stub(item, written)
    limit = int(keep * item.original_tokens)
    return stubbed, write_stub(stubbed, limit, COUNTER, set(shown), reference=stubbed.reference, **more)


def what(text):
    """What the line at the end of a stub says behind the number of tokens."""
    return text.split("\n")[-1].partition(" tokens left out: ")[2]


def is_in_order(kept, of):
    """Whether each line is among the others, in their order."""
    rest = iter(of)
    return all(line in rest for line in kept)


@settings(max_examples=50, deadline=None)
@given(
    pieces=st.lists(words, min_size=1, max_size=120), keep=st.floats(0.05, 0.9), share=st.floats(0, 1),
    shown=st.sets(words), gap=st.sampled_from([GAP, SNIPPED]),
)  # fmt: skip
def test_a_shorter_stub_of_a_stub_keeps_some_of_its_lines_in_order(pieces, keep, share, shown, gap):
    item, first = stub("\n".join(pieces), keep, shown)
    stubbed, second = again(item, first, keep * share, shown, gap=gap)
    *before, _ = first.text.split("\n")
    *after, last = second.text.split("\n")
    assert last.startswith("[gc: ")
    assert second.text.count("[gc: ") == 1
    whole = [line for line in after if line != gap and gap not in line]
    assert is_in_order(whole, [line for line in before if line != GAP])
    limit = max(int(keep * share * item.original_tokens), smallest_stub(stubbed, COUNTER, stubbed.reference))
    assert second.tokens <= limit
    assert attrs.evolve(second.reference, kept=0) == attrs.evolve(first.reference, kept=0)


@settings(max_examples=50, deadline=None)
@given(
    arguments=st.dictionaries(st.text(max_size=8), values, min_size=1, max_size=6), keep=st.floats(0.05, 0.9),
    share=st.floats(0, 1),
)  # fmt: skip
def test_stubs_of_stubbed_arguments_stay_a_json_object_with_one_reference(arguments, keep, share):
    item, first = stub(json.dumps(arguments), keep, kind=ItemKind.TOOL_CALL, name="write")
    stubbed, second = again(item, first, keep * share)
    assert isinstance(json.loads(second.text), dict)
    assert second.text.count("left out: i7") == 1
    smallest = smallest_stub(stubbed, COUNTER, stubbed.reference)
    assert second.tokens <= max(int(keep * share * item.original_tokens), smallest)


def test_the_preview_in_a_stub_is_not_repeated_by_the_next_stub():
    """The line of a stub that keeps nothing has a preview, which the reference does not know."""
    item, first = stub('the "first" thing [of all]\n' + "and so on and so forth\n" * 80)
    assert first.text.endswith('and so on and"]')
    _, second = again(item, first, 0.02)
    assert "(gc:" not in second.text
    assert second.text.count("left out") == 1


def test_the_hint_of_a_stub_does_not_count_as_a_live_line():
    """The line at its end names the path that the call asked for; nothing of it may take the place of other lines."""
    reader = item_of('{"path": "src/login_page.py"}', kind=ItemKind.TOOL_CALL, name="read")
    item = item_of(f"{LOG}\nfound alpha_one\n{LOG}\nfound beta_two\n{LOG}", name="read")
    first = write_stub(item, 90, COUNTER, set(), reference=reference_to(item, reader))
    assert "src/login_page.py" in first.text.split("\n")[-1]
    _, second = again(item, first, 60 / item.tokens)
    assert what(second.text) == what(first.text)
    assert second.text.split("\n").count("[...]") <= 3


def test_free_text_arguments_with_backslashes_keep_one_reference():
    caller = item_of("*** Begin Patch\n" + LOG * 20, kind=ItemKind.TOOL_CALL, name="C:\\apply\\patch")
    first = write_stub(caller, 400, COUNTER, {"alpha"}, ends=True)
    _, second = again(caller, first, 0.05, ends=True)
    assert second.text.count("[gc: ") == 1
    assert what(second.text) == what(first.text)


@pytest.mark.parametrize("gap", [GAP, SNIPPED])
def test_the_marks_of_an_earlier_stub_run_together(gap):
    item, first = stub("\n".join(f"{LOG}\nfound name_{number}" for number in range(8)), 0.2)
    _, second = again(item, first, 0.04, gap=gap)
    lines = second.text.split("\n")
    assert all(one != two for one, two in itertools.pairwise(lines))
    assert {line for line in lines if line.startswith("[...")} == {gap}


def left_out(text):
    """How many tokens the text says are missing."""
    return int(re.search(r"\[gc: ([\d,]+) tokens left out: ", text).group(1).replace(",", ""))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"{LOG}\nfound alpha_one at src/app.py\n{LOG}", ItemKind.TOOL_RESULT),
        (f"Read this.\n{LOG}\nNever touch alpha_one.\n{LOG}", ItemKind.USER_TEXT),
        (json.dumps({"path": "src/app.py", "content": f"{LOG}\nalpha_one\n{LOG}"}), ItemKind.TOOL_CALL),
    ],
    ids=["a result", "a paste", "arguments"],
)
@pytest.mark.parametrize("keep", [0.0, 0.3, 0.7])
def test_a_stub_says_how_much_is_missing_not_how_much_there_was(text, kind, keep):
    item = item_of(text, kind=kind)
    written = write_stub(item, int(keep * item.tokens), COUNTER, set(), ends=True)
    assert written.tokens <= max(int(keep * item.tokens), smallest_stub(item, COUNTER))
    kept = written.tokens - smallest_stub(item, COUNTER)
    assert abs(left_out(written.text) - (item.tokens - kept)) <= 2
    assert written.reference.tokens == item.tokens


def test_a_shorter_stub_of_a_stub_says_that_more_is_missing():
    item = item_of(f"{LOG}\nfound alpha_one at src/app.py\n{LOG}")
    longer = write_stub(item, item.tokens // 2, COUNTER, set(), ends=True)
    _, shorter = again(item, longer, 0.2, ends=True)
    assert left_out(longer.text) < left_out(shorter.text) < item.tokens
    assert shorter.text.count("tokens left out") == 1


@pytest.mark.parametrize("form", FORMATS)
def test_what_the_last_resort_cuts_says_how_much_of_it_is_missing(form):
    speaker = SPEAKERS[form]()
    with small(4_000, format=form, strategy="none") as session:
        session.append(speaker.user("Fix it."))
        session.post_turn(speaker.reply(Reply(parts=(("call", "c1", "read", "a.py"),))))
        for message in speaker.results([("c1", "read", lines(900, "r"))]):
            session.append(message)
        session.pre_send()
        session.post_turn(speaker.reply(Reply(parts=(("text", "Done."),))))
        session.append(speaker.user(lines(900, "u")))
        session.pre_send()
        cut = [item for item in session.items() if item.form is Form.STUB]
        assert cut
        for item in cut:
            line = item.reference.stub_text()
            missing = item.original_tokens - (item.tokens - COUNTER.count(line))
            assert line in item.text
            assert abs(left_out(item.text) - missing) <= 50  # a result's own framing is neither kept nor left out


def test_a_stub_that_comes_back_in_a_list_still_stands_for_its_whole_original():
    paste = {"role": "user", "content": lines(900, "u")}
    opening = [{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "What?"}]
    cut = compact([*opening, paste], 2_000)
    with small(8_000) as session:
        session.sync([*cut, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "And now?"}])
        item = next(item for item in session.items() if item.form is Form.STUB)
        whole = message_tokens(paste, format_named("openai"), COUNTER)
        assert abs(item.original_tokens - whole) <= 8
        assert item.reference.kept > 1_000
