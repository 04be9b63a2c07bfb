"""The report of a session: the session's own figures, every text as it came, and nothing that runs but our own."""

import base64
import hashlib
import itertools
import json
import re
import sys
import time
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest
from ctxgc.cli.app import app
from ctxgc.evaluation.request_judge import Meter
from ctxgc.evaluation.transcripts import read_transcript
from ctxgc.report import page as page_module
from ctxgc.report.page import page
from ctxgc.report.reading import read
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from gc_core import ConfigError, ContextOverflowError, GCConfig, GCSession
from gc_core.errors import LogError
from gc_core.providers import format_named
from gc_core.session.reader import SessionReader
from gc_core.values.messages import Role
from tests.support.messages import anthropic_sessions_strategy, openai_sessions_strategy
from tests.support.say import answer, call, lines, result, user

OWN = [path for path in Path(page_module.__file__).parent.iterdir() if path.suffix in {".html", ".js", ".css"}]
DEMO = Path(__file__).parents[1] / "examples" / "session.jsonl"
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
WINDOW = 16_000
HOSTILE = [
    "</script><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>",
    "<!--<script> ]]> <b>bold</b> &amp; {{ 7 * 7 }} {% raw %}",
    "controls \x00\x01\x07\x1b[31m\x7f\x85 and a lone \ud800 surrogate \udc00",
    "lines\u2028and\u2029paragraphs, \u202eright to left\u202c, \ufeffmarks\r\nand returns\r",
]
MODEL = "claude-sonnet-4-5"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The directory of the demo, collected in a small window, and its prompts as they are measured from outside."""
    directory = tmp_path_factory.mktemp("demo") / "session"
    transcript = read_transcript(DEMO)
    meter, prompts = Meter(transcript), []
    with GCSession(config(), format=transcript.format, directory=directory) as session:
        session.system(base=transcript.system[0])
        for message in transcript.messages:
            if message["role"] == "assistant":
                prompts.append(meter.measure(session.pre_send()).prompt)
                session.post_turn(message)
            else:
                session.append(message)
            meter.hear(message)
    return directory, prompts


@pytest.fixture(scope="module")
def demo(measured):
    return measured[0]


@pytest.fixture(scope="module")
def report(demo):
    return read(demo)


def config(strategy="gc_budget", window=WINDOW):
    return GCConfig(strategy=strategy, context_limit=window, output_reservation=0)


def ctxgc(*arguments):
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


def total(shares):
    return sum(share.tokens for share in shares)


def texts_of(report, removal):
    return [report.texts[each.text] for each in removal.replacements]


def assert_it_adds_up(report):
    for seen in report.calls:
        assert {total(division) for division in (seen.sources, seen.policies, seen.kinds)} == {seen.tokens}
    moments = [*(seen.tokens for seen in report.calls), report.tokens]
    for moment, tokens in enumerate(moments, 1):
        stays = [stay for item in report.items for stay in item.stays if stay.first <= moment <= stay.last]
        assert sum(stay.tokens for stay in stays) + report.framing[moment - 1] == tokens


# -- the same figures as the session -----------------------------------------------------------------------------------


def run(directory, format_name, messages, *, window):
    """A made session; returns the tokens of its requests, None where it did not fit."""
    sent = []
    form = format_named(format_name)
    with GCSession(config(window=window), format=format_name, directory=directory) as session:
        session.system(base="You mend things.")
        for message in messages:
            if form.role(message) is not Role.ASSISTANT:
                session.append(message)
                continue
            try:
                sent.append(session.pre_send().tokens)
            except ContextOverflowError:
                sent.append(None)
            session.post_turn(message)
    return sent


@pytest.mark.parametrize("format_name", ["openai", "anthropic"])
@settings(max_examples=6, phases=QUICK, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_parts_of_the_window_add_up_to_each_request_that_was_sent(format_name, data, tmp_path_factory):
    made = {"openai": openai_sessions_strategy, "anthropic": anthropic_sessions_strategy}[format_name]
    messages = data.draw(made(max_turns=4))
    directory = tmp_path_factory.mktemp("made")
    sent = run(directory, format_name, messages, window=600)
    report = read(directory)
    assert len(report.calls) == len(sent)
    assert [known or call.tokens for known, call in zip(sent, report.calls, strict=True)] == [
        call.tokens for call in report.calls
    ]
    assert_it_adds_up(report)


def test_the_report_of_the_demo_agrees_with_outside_measurements(measured, report):
    assert [(seen.tokens, seen.cached) for seen in report.calls] == [
        (prompt.tokens, prompt.cached) for prompt in measured[1]
    ]
    assert_it_adds_up(report)


def test_collections_are_shown_with_removals_reasons_and_replacements(demo, report):
    known = {item.id: item for item in report.items}
    with SessionReader(demo) as reader:
        records = [entry.record for entry in reader.history()]
        assert [(each.tokens_before, each.tokens_after) for each in report.collections] == [
            (record.tokens_before, record.tokens_after) for record in records
        ]
        for change, record in zip(report.collections, records, strict=True):
            proposed = [removal for removal in change.removals if removal.strategy]
            assert [(removal.items, removal.reason, removal.freed) for removal in proposed] == [
                (removal.items, removal.reason, removal.tokens_freed) for removal in record.removals
            ]
            assert change.rewritten > 0
            for removal in proposed:
                assert all("[gc: " in text for text in texts_of(report, removal))
                assert texts_of(report, removal)
                for key in removal.items:
                    assert report.texts[known[key].original] == reader.recall(key)


def test_every_original_is_what_recall_gives(demo, report):
    numbered = [item for item in report.items if item.turn >= 0 and not item.synthetic]
    with SessionReader(demo) as reader:
        for item in numbered:
            assert report.texts[item.original] == reader.recall(item.id)
    assert len(set(report.texts)) == len(report.texts)


def test_reported_usage_is_shown_and_not_simulated(tmp_path):
    usage = {"input_tokens": 10, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 90, "output_tokens": 7}
    with GCSession(config(), format="anthropic", model=MODEL, directory=tmp_path / "s") as session:
        for number in range(2):
            session.append(user(f"Ask {number}."))
            session.pre_send()
            session.post_turn(answer("Done."), usage=usage if number else None)
    report = read(tmp_path / "s")
    simulated, recorded = (seen.cost for seen in report.calls)
    assert (recorded.read, recorded.written, recorded.fresh, recorded.output) == (900, 90, 10, 7)
    assert (recorded.recorded, simulated.recorded, report.priced) == (True, False, True)
    assert 0 < recorded.price < 0.01
    assert "The usage of 1 of 2 calls was not reported" in report.notes[0]


def synced(directory, calls):
    """A session that was given the whole list each time: the newest reply comes with the next list."""
    given = []
    with GCSession(config(), format="anthropic", model=MODEL, directory=directory) as session:
        for number in range(calls):
            given.append(user(f"Ask {number}."))
            session.sync(given)
            session.report_usage({"input_tokens": 100 + number, "output_tokens": 1})
            given.append(answer(f"Done {number}."))
    return directory


def test_a_call_whose_reply_comes_with_the_next_list_has_its_own_usage_and_is_counted(tmp_path):
    report = read(synced(tmp_path / "s", 4))
    assert [seen.cost.fresh for seen in report.calls] == [100, 101, 102, 103]
    assert [seen.number for seen in report.calls] == [1, 2, 3, 4]
    assert "usage" not in str(report.notes)
    with SessionReader(tmp_path / "s") as reader:
        assert len(tuple(reader.account().calls())) == len(report.calls)


def test_replies_of_a_list_that_was_taken_over_are_calls_without_usage(tmp_path):
    with GCSession(config(), format="anthropic", model=MODEL, directory=tmp_path / "s") as session:
        session.sync([user("Ask."), answer("Done."), user("And?")])
        session.report_usage({"input_tokens": 7, "output_tokens": 1})
        session.append(answer("Nothing."))
    report = read(tmp_path / "s")
    assert [(seen.cost.recorded, seen.cost.fresh) for seen in report.calls][1:] == [(True, 7)]
    assert not report.calls[0].cost.recorded


def test_usage_that_is_reported_after_the_next_message_belongs_to_the_reply_before_it(tmp_path, monkeypatch):
    clock = itertools.count(1_800_000_000)
    monkeypatch.setattr(time, "time", lambda: next(clock))
    with GCSession(config(), format="anthropic", model=MODEL, directory=tmp_path / "s") as session:
        session.append(user("Ask."))
        session.pre_send()
        session.post_turn(answer("Done."))
        session.append(user("And?"))
        session.report_usage({"input_tokens": 7, "output_tokens": 1})
    (seen,) = read(tmp_path / "s").calls
    assert (seen.cost.recorded, seen.cost.fresh) == (True, 7)


def test_without_reports_and_prices_cost_is_that_of_the_common_prefix(report):
    for seen in report.calls:
        assert seen.cost.price == pytest.approx(0.1 * seen.cached + 1.25 * (seen.tokens - seen.cached))
    assert not report.priced
    assert any("simulated" in note for note in report.notes)


def test_undone_and_rewound_collections_are_marked(tmp_path):
    with GCSession(config(window=1_000), directory=tmp_path / "s") as session:
        for number in range(3):
            session.append(user(f"Ask {number}."))
            session.pre_send()
            session.post_turn(call((f"c{number}", "read", {"path": "a"})))
            session.append(result(f"c{number}", lines(60)))
        session.pre_send()
        session.post_turn(answer("Read."))
        assert session.undo()
        session.rewind(2)
    report = read(tmp_path / "s")
    assert [change.what for change in report.changes][-1] == "rewound"
    assert len(report.calls) < 4
    assert_it_adds_up(report)


# -- the files ---------------------------------------------------------------------------------------------------------


def test_a_session_that_is_being_written_is_read_up_to_its_last_whole_line(tmp_path):
    with GCSession(config(), directory=tmp_path) as session:
        session.append(user("Ask."))
        session.pre_send()
        session.post_turn(answer("Done."))
        with (tmp_path / "master.jsonl").open("ab") as torn:
            torn.write(b'{"at":2,"items":["i3')  # by another process, as far as the reader knows
        report = read(tmp_path)
        session.append(user("Ask again."))  # it has its lock still
    assert len(report.calls) == 1


def test_reading_a_session_changes_none_of_its_files(demo):
    before = {path: path.stat().st_mtime_ns for path in demo.rglob("*")}
    read(demo)
    assert {path: path.stat().st_mtime_ns for path in demo.rglob("*")} == before


@pytest.mark.parametrize("name", ["master.jsonl", "ledger.jsonl"])
def test_a_damaged_line_is_named_with_its_file_and_bytes(name, demo, tmp_path):
    for path in demo.iterdir():
        if path.suffix == ".jsonl":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    file = tmp_path / name
    whole = file.read_bytes().splitlines(keepends=True)
    start = sum(map(len, whole[:3]))
    whole[3] = whole[3].replace(b'"', b"'", 9)
    file.write_bytes(b"".join(whole))
    with pytest.raises(LogError, match=rf"{name}.*bytes {start}-{start + len(whole[3])}"):
        read(tmp_path)


# -- the page ----------------------------------------------------------------------------------------------------------


class Markup(HTMLParser):
    """The elements of a page with their attributes, and the texts of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self.inside = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, _tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data


def hostile(directory):
    with GCSession(config(window=100_000), directory=directory) as session:
        session.system(base=HOSTILE[0])
        for number, text in enumerate(HOSTILE):
            session.append(user(text))
            session.pre_send()
            session.post_turn(call((f"c{number}", text[:30], {"path": text})))
            session.append(result(f"c{number}", text))
    return read(directory, name=HOSTILE[0])


def test_no_text_of_a_session_becomes_markup_or_is_changed(tmp_path):
    report = hostile(tmp_path)
    text = page(report).decode()
    markup = Markup(text)
    assert [tag for tag, _ in markup.elements if tag in {"img", "iframe", "object", "link", "base", "form"}] == ["link"]
    assert not [name for _, attributes in markup.elements for name in attributes if name.startswith("on")]
    island, *scripts = markup.scripts
    data = json.loads(zlib.decompress(base64.b64decode(island)))
    assert tuple(data["report"]["texts"]) == report.texts
    assert set(HOSTILE) <= set(report.texts)
    (policy,) = [a["content"] for _, a in markup.elements if a.get("http-equiv") == "Content-Security-Policy"]
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in policy


def test_without_its_extra_a_page_says_what_to_install(report, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(ConfigError, match=r'needs plotly: pip install "ctxgc\[report\]"'):
        page(report)


# -- the command -------------------------------------------------------------------------------------------------------


def test_a_recorded_session_is_replayed_and_written_only_for_its_owner(tmp_path):
    written = tmp_path / "page.html"
    found = ctxgc(DEMO, "--strategy", "gc_truncate", "--window", WINDOW, "--model", MODEL, "-o", written)
    assert found.exit_code == 0, found.output
    assert "73 calls" in found.output
    assert written.stat().st_mode & 0o777 == 0o600
    assert "gc_truncate" in written.read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["{examples}"], 1, "holds no session: there is no master.jsonl; to replay a recorded one name its file"),
        (["{examples}/nowhere"], 1, "does not exist, expected a session's directory or a recorded session"),
        (["{demo}", "--window", "3000"], 2, "--window: "),
        ([str(DEMO), "--strategy", "nobody"], 2, "nobody"),
        (["{demo}", "-o", "{demo}/none/page.html"], 1, "cannot be written"),
    ],
)
def test_a_session_that_cannot_be_reported_is_an_error(arguments, code, message, demo):
    found = ctxgc(*(each.format(examples=DEMO.parent, demo=demo) for each in arguments))
    assert (found.exit_code, message in found.output) == (code, True), found.output


def test_nothing_but_a_page_is_written_over(demo, tmp_path):
    copy = tmp_path / "session.jsonl"
    copy.write_bytes(DEMO.read_bytes())
    for output in (copy, tmp_path):
        found = ctxgc(copy, "--window", WINDOW, "-o", output)
        assert (found.exit_code, f"--output {output}" in found.output) == (2, True), found.output
    assert copy.read_bytes() == DEMO.read_bytes()
    link, page_of = tmp_path / "link.html", tmp_path / "page.html"
    page_of.write_text("<!DOCTYPE html>old")
    link.symlink_to(page_of)
    (tmp_path / "page.html.part").write_text("of a run that was killed")
    assert ctxgc(demo, "-o", link).exit_code == 0
    assert link.is_symlink()
    assert (page_of.stat().st_mode & 0o777, len(page_of.read_bytes()) > 1_000) == (0o600, True)
    assert not list(tmp_path.glob("*.part"))


def test_a_name_that_no_file_can_have_is_an_error():
    found = ctxgc("n" * 300)
    assert (found.exit_code, "File name too long" in found.output) == (1, True), found.output


def test_no_icon_of_the_page_needs_a_font_of_emoji(report):
    drawn = page(report).decode()
    (data,) = re.findall(r'id="data">([^<]*)<', drawn)
    icons = json.loads(zlib.decompress(base64.b64decode(data)))["indicators"]
    written = "".join(path.read_text("utf-8") for path in OWN) + "".join(icons.values())
    assert {letter for letter in written if ord(letter) > 0xFFFF or letter == "\ufe0f"} == set()
    assert len(set(icons.values())) == 4
