"""What ``benchmarks.editing_loop`` promises: an agent that misses a line fetches it, and every call is counted."""

import json
from pathlib import Path

import pytest
from ctxgc.evaluation.baselines import KeepLast
from ctxgc.evaluation.replay import replay, replay_baseline
from ctxgc.evaluation.transcripts import Transcript

from benchmarks import editing_loop
from benchmarks.editing_loop import MOST_EXTRA, MOST_LINES, Files, System, main, played, recording_of, row_of, window_of
from benchmarks.peers.catalog import ADAPTERS, Peer
from gc_core import GCConfig
from gc_core.values.items import ItemKind, Part
from tests.support.say import answer, call, lines, result, user

WINDOW, WIDE = 1_500, 100_000
SOURCE = [f"def widget_{number}(): return gadget({number})" for number in range(20)]
OLD = f"{SOURCE[4]}\n{SOURCE[5]}"
KEEP_LAST, NO_COLLECTION, TRUNCATE = (System(name=name) for name in ("keep last", "no collection", "gc_truncate"))
WITH_RECALL = System(name="gc_truncate", recalls=True)


def numbered(texts, start=1, between="→"):
    return "\n".join(f"{number:>6}{between}{text}" for number, text in enumerate(texts, start))


def editing(*first, fillers=12):
    """Something that shows the file, a lot that has nothing to do with it, and an edit of two of its lines."""
    messages = [user("Go."), *first]
    for number in range(fillers):
        messages += [call((f"f{number}", "Bash", {"command": "ls"})), result(f"f{number}", lines(40, f"f{number}"))]
    edit = {"file_path": "a.py", "old_string": OLD, "new_string": "pass"}
    messages += [call(("e", "Edit", edit)), result("e", "The file a.py has been updated."), answer("Done.")]
    return Transcript(path=Path("made.jsonl"), format="openai", messages=tuple(messages))


def reading():
    return editing(call(("r", "Read", {"file_path": "a.py"})), result("r", numbered(SOURCE)))


def outcome(system, transcript=None, *, window=WINDOW, **more):
    return played(recording_of(transcript or reading(), window=window), system, **more)


def part(name, **arguments):
    return Part(kind=ItemKind.TOOL_CALL, place=(), name=name, text=json.dumps(arguments), call_id="c")


def files_after(*calls):
    files = Files()
    for its, text in calls:
        files.hear(its, text)
    return files


READ = (part("Read", file_path="a.py"), numbered(SOURCE))
EDIT = part("Edit", file_path="a.py", old_string=f"{SOURCE[4]}\n", new_string="def other():\n    return 12345\n")


# -- the loop --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", [KEEP_LAST, NO_COLLECTION, TRUNCATE, WITH_RECALL], ids=lambda system: system.label)
def test_an_agent_whose_prompt_shows_all_makes_no_other_call(system):
    found = outcome(system, window=WIDE)
    assert (found.calls, found.reads, found.recalls, found.edits, found.failed, found.over) == (15, 0, 0, 1, 0, 0)
    assert found.price == pytest.approx(found.price_without)


@pytest.mark.parametrize("system", [KEEP_LAST, TRUNCATE], ids=lambda system: system.label)
def test_an_agent_whose_read_was_dropped_reads_again_once_and_its_edit_succeeds(system):
    found = outcome(system)
    assert (found.reads, found.recalls, found.failed, found.over) == (1, 0, 0, 0)


def test_an_agent_that_can_recall_does_so_instead_of_reading():
    found = outcome(WITH_RECALL)
    assert (found.reads, found.recalls, found.failed, found.over) == (0, 1, 0, 0)


def test_what_is_read_again_is_the_file_as_it_is_now_with_its_path(monkeypatch):
    fetched = []
    whole = editing_loop._Loop._fetched
    monkeypatch.setattr(
        editing_loop._Loop, "_fetched", lambda loop, *what: (fetched.append(what), whole(loop, *what))[1]
    )
    outcome(KEEP_LAST)
    assert fetched == [("read_again", {"path": "a.py"}, numbered(SOURCE))]


def test_where_no_file_is_known_it_reads_what_showed_the_lines_last():
    shown = editing(call(("g", "Bash", {"command": "cat a.py"})), result("g", "\n".join(SOURCE)))
    found = outcome(KEEP_LAST, shown)
    assert (found.reads, found.failed) == (1, 0)


def test_lines_that_last_stood_in_two_texts_come_back_with_one_call():
    shown = editing(
        call(("g", "Bash", {"command": "head a.py"})),
        result("g", SOURCE[4]),
        call(("w", "Write", {"path": "b.py", "content": SOURCE[5]})),
        result("w", "ok"),
    )
    found = outcome(KEEP_LAST, shown)
    assert (found.reads, found.failed) == (1, 0)


def test_a_prompt_over_the_window_fails_its_edits_at_once():
    found = outcome(NO_COLLECTION)
    assert (found.reads, found.failed) == (0, 1)
    assert found.over > 1


def test_an_agent_gives_up_after_four_other_calls(monkeypatch):
    monkeypatch.setattr(Files, "around", lambda *_: "The disk is busy.")
    found = outcome(KEEP_LAST)
    assert (found.reads, found.failed) == (MOST_EXTRA, 1) == (4, 1)


def test_other_calls_cost_their_prompts():
    assert outcome(KEEP_LAST).tokens > replayed(KEEP_LAST).summary().tokens_sent


@pytest.mark.parametrize("system", [KEEP_LAST, TRUNCATE], ids=lambda system: system.label)
def test_without_other_calls_the_figures_are_those_of_a_replay(system, monkeypatch):
    monkeypatch.setattr(editing_loop, "MOST_EXTRA", 0)
    found, expected = outcome(system), replayed(system)
    summary = expected.summary()
    assert found.failed == sum(one.fit.edits.whole - one.fit.edits.kept for one in expected.calls) == 1
    assert (found.tokens, found.over) == (summary.tokens_sent, summary.calls_over)
    assert found.price / found.price_without == pytest.approx(summary.cost)


def replayed(system):
    config = GCConfig(context_limit=WINDOW, output_reservation=0)
    if system is KEEP_LAST:
        return replay_baseline(reading(), config=config, baseline=KeepLast())
    return replay(reading(), config=config, strategy=system.name)


def test_a_peer_learns_what_was_read_again(tmp_path):
    peer = Peer(name="keep last here", package="", venv="", adapter=ADAPTERS / "keep_last.py")
    found = outcome(System(name=peer.name, peer=peer), home=tmp_path)
    assert (found.reads, found.failed, found.over, found.errors) == (1, 0, 0, ())


# -- the files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("between", ["→", "\t"])
def test_a_file_is_rebuilt_from_a_read_and_an_edit(between):
    files = files_after((READ[0], numbered(SOURCE, between=between)), (EDIT, "The file a.py has been updated."))
    now = [*SOURCE[:4], "def other():", "    return 12345", *SOURCE[5:]]
    assert files.around(["return 12345", SOURCE[19]]) == numbered(now)
    assert files.around([SOURCE[4]]) is None


def test_an_edit_that_was_refused_changes_nothing():
    files = files_after(READ, (EDIT, "<tool_use_error>String to replace not found in file.</tool_use_error>"))
    assert files.around([SOURCE[4]]) == numbered(SOURCE)


def test_parts_of_a_file_grow_together_and_lines_nobody_showed_stay_unknown():
    files = files_after(
        (part("Read", file_path="a.py", limit=3), numbered(SOURCE[:3])),
        (part("read", path="a.py", offset=9), "\n".join(SOURCE[8:])),
    )
    assert files.around([SOURCE[2], SOURCE[8]]) == f"{numbered(SOURCE[:3])}\n{numbered(SOURCE[8:], 9)}"
    assert files.around([SOURCE[2], SOURCE[5]]) is None


def test_a_whole_read_takes_the_place_of_what_was_known():
    files = files_after(READ, (part("read", path="a.py"), "\n".join(SOURCE[:2])))
    assert files.around([SOURCE[0]]) == numbered(SOURCE[:2])
    assert files.around([SOURCE[2]]) is None


def test_several_edits_of_one_call_and_edits_everywhere_are_applied():
    twice = [SOURCE[0], SOURCE[1], SOURCE[0]]
    both = [{"oldText": SOURCE[0], "newText": "first_of_all()"}, {"oldText": SOURCE[1], "newText": "second_of_all()"}]
    written = (part("write", path="a.py", content="\n".join(twice)), "Successfully wrote 100 bytes to a.py")
    once = files_after(written, (part("edit", path="a.py", edits=both), "ok"))
    assert once.around(["second_of_all()"]) == numbered(["first_of_all()", "second_of_all()", SOURCE[0]])
    arguments = {"file_path": "a.py", "old_string": SOURCE[0], "new_string": "everywhere()", "replace_all": True}
    every = files_after(written, (part("Edit", **arguments), "ok"))
    assert every.around(["everywhere()"]) == numbered(["everywhere()", SOURCE[1], "everywhere()"])


def test_of_several_files_the_named_one_is_read_first_and_then_the_last_one():
    files = files_after(
        *[(part("Write", file_path=path, content=f"{SOURCE[0]}\n# {path * 3}"), "ok") for path in "abc"]
    )
    assert "# bbb" in files.around([SOURCE[0]], "b")
    assert "# ccc" in files.around([SOURCE[0]])


def test_of_a_long_file_two_hundred_lines_around_are_shown():
    long = [f"the line of number {number}" for number in range(1, 1_001)]
    files = files_after((part("Write", file_path="a.py", content="\n".join(long)), "ok"))
    shown = files.around([long[499], long[519]]).split("\n")
    assert len(shown) == MOST_LINES
    assert shown[0].startswith("   410→")


# -- the table -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tokens", "window"), [(13_000, 8_000), (44_999, 14_000), (650_000, 100_000)])
def test_the_window_is_a_third_of_a_session_in_whole_thousands(tokens, window):
    assert window_of(tokens) == window


def test_a_system_that_lacks_a_session_is_last():
    few, many = outcome(KEEP_LAST, window=WIDE), outcome(TRUNCATE)
    rows = sorted(map(row_of, ([few], [many, many])), key=lambda row: row.rank)
    assert [(row.system, row.sessions, row.calls) for row in rows] == [("gc_truncate", 2, 32), ("keep last", 1, 15)]


def test_an_unknown_system_is_refused_with_the_known_ones(capsys):
    with pytest.raises(SystemExit):
        main(["--systems", "nobody"])
    assert "no system 'nobody'; there are: gc_truncate, gc_truncate + recall" in capsys.readouterr().err
