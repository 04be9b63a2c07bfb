"""The long session: names of its own in every repetition, valid messages, and plants where they are said to be."""

import itertools
import json
from collections import Counter

import pytest
from ctxgc.evaluation.transcripts import read_transcript
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.long_corruption import run_corrupted
from benchmarks.long_plants import Kind, Stage, plants, sow
from benchmarks.long_session import Numbers, Renamer, long_session, session_files
from benchmarks.longrun import print_run, run_keep_last, run_strategy
from benchmarks.state_labels import Entry, LabelKind, holds, judge, labelled_messages, print_scores
from gc_core.relevance.name_scan import scan
from tests.support.corpus import corpus_dir, require_corpus

SMALL = ("entire--0822", "tau-bench--airline-003", "moatless--django__django-13028")
"""Sessions of three sources that are read in no time."""


def leaves(value):
    """The texts of a JSON value that a model writes: keys belong to the tool."""
    if isinstance(value, dict):
        return [text for each in value.values() for text in leaves(each)]
    if isinstance(value, list):
        return [text for each in value for text in leaves(each)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def texts_of(message):
    calls = message.get("tool_calls") or ()
    arguments = [text for call in calls for text in leaves(json.loads(call["function"]["arguments"]))]
    return [message.get("content") or "", *arguments]


def names_of(messages):
    return {name for message in messages for text in texts_of(message) for name in scan(text).names}


def small_sessions():
    require_corpus()
    return [message for file in session_files(SMALL) for message in read_transcript(file).messages]


def in_two_repetitions():
    messages, numbers = small_sessions(), Numbers()
    return messages, *([Renamer(at, numbers).message(message) for message in messages] for at in range(2))


# --- names -----------------------------------------------------------------------------------------------------------


def test_names_of_two_repetitions_never_coincide():
    _, first, second = in_two_repetitions()
    assert len(names_of(first)) > 500
    assert not names_of(first) & names_of(second)


words = st.text("aBc_1", min_size=1, max_size=6)
names = st.lists(words, min_size=1, max_size=3).map("/src/".join)


@given(names, names, st.integers(0, 400), st.integers(0, 400))
def test_no_two_names_are_renamed_alike(one, other, first, second):
    numbers = Numbers()
    renamed = Renamer(first, numbers).text(one), Renamer(second, numbers).text(other)
    if first != second:
        assert not scan(renamed[0]).names & scan(renamed[1]).names


@given(st.lists(st.integers(5, 7), max_size=200))
def test_numbers_keep_their_length_and_are_given_once(lengths):
    numbers = Numbers()
    given = [numbers.next(digits) for digits in lengths]
    assert [len(number) for number in given] == lengths
    assert len(set(given)) == len(given)


def test_a_name_is_renamed_in_the_same_way_wherever_it_stands():
    renamer = Renamer(0, Numbers())
    path, alone, text = map(renamer.text, ("src/billing_rules.py", "billing_rules.py", "see `billing_rules.py:48213`"))
    assert path.endswith(f"/{alone}")
    assert f"`{alone}:" in text
    assert renamer.text("48213") in text
    assert renamer.text("48213") != "48213"


@pytest.mark.parametrize(
    ("name", "end"), [("setup_all.go", ".go"), ("ValueError", "Error"), ("clean_test.go", "_test.go")]
)
def test_what_a_name_ends_with_stays(name, end):
    renamed = Renamer(3, Numbers()).text(name)
    assert renamed != name
    assert renamed.endswith(end)


def test_prose_stays_as_it_is():
    text = "Please have a look: why does it fail on Mondays?\\n\\tNobody knows, 404 of 1200 do."
    assert Renamer(1, Numbers()).text(text) == text


def test_a_repetition_that_has_no_tag_is_refused():
    with pytest.raises(ValueError, match="repetition 420: expected 0 to 419"):
        Renamer(420, Numbers())


# --- messages --------------------------------------------------------------------------------------------------------


def test_messages_keep_their_shape_and_calls_stay_paired():
    messages, first, _ = in_two_repetitions()
    for old, new in zip(messages, first, strict=True):
        assert new.keys() == old.keys()
        assert len(new.get("content") or "") >= len(old.get("content") or "")
        for was, call in zip(old.get("tool_calls") or (), new.get("tool_calls") or (), strict=True):
            assert call["function"]["name"] == was["function"]["name"]
            known, renamed = (json.loads(each["function"]["arguments"]) for each in (was, call))
            assert list(renamed) == list(known)
    assert [pairs_of(first)] == [pairs_of(messages)]


def pairs_of(messages):
    """By index: which call each result answers."""
    calls, found = {}, []
    for at, message in enumerate(messages):
        for place, call in enumerate(message.get("tool_calls") or ()):
            calls[call["id"]] = (at, place)
        if message["role"] == "tool":
            found.append((at, calls[message["tool_call_id"]]))
    return found


def test_no_call_of_another_repetition_has_the_same_id():
    _, first, second = in_two_repetitions()
    ids = [{call["id"] for message in its for call in message.get("tool_calls") or ()} for its in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert all(len(each) <= 40 for each in ids[0] | ids[1])


def test_a_session_has_the_steps_that_were_asked_for_again_and_again():
    require_corpus()
    for steps in (1, 7, 300):
        said = list(long_session(steps, session_files(SMALL), plants(steps)))
        assert sum(each.is_reply for each in said) == steps
        assert said[-1].step == steps
        assert [each.step for each in said] == sorted(each.step for each in said)


# --- plants ----------------------------------------------------------------------------------------------------------


def test_plants_stand_where_they_say():
    require_corpus()
    made = {plant.number: plant for plant in plants(300)}
    found = {}
    for said in long_session(300, session_files(SMALL), plants(300)):
        for sowing in said.sown:
            if sowing.stage is Stage.FAILURE:
                continue
            found[sowing.plant.number] = said.step
            late = said.step - sowing.plant.step
            assert -1 <= late <= 12  # a user message comes before its step, an open batch of calls is waited for
    assert found.keys() == made.keys()


def test_the_marker_of_a_plant_is_in_its_messages_and_nowhere_before():
    require_corpus()
    before = ""
    for said in long_session(120, session_files(SMALL), plants(120)):
        text = json.dumps(said.message)
        for plant in {sowing.plant for sowing in said.sown if sowing.stage in {Stage.USER, Stage.REPLY}}:
            assert plant.marker in text
            assert plant.marker not in before
            assert plant.old in before
        before += text


@pytest.mark.parametrize("seed", [0, 1])
def test_ten_of_each_kind_come_in_the_first_hundred_steps_and_markers_are_unique(seed):
    made = plants(10_000, seed)
    assert made == plants(10_000, seed)
    assert Counter(plant.kind for plant in made if plant.step <= 105) == dict.fromkeys(Kind, 10)
    assert len({plant.marker.lower() for plant in made}) == len(made) > 200
    assert not [one.marker for one, other in itertools.permutations(made, 2) if one.marker in other.marker]


def test_every_fourth_constraint_and_decision_takes_the_place_of_an_earlier_one():
    made = plants(1_000)
    new = {plant.old: plant for plant in made if plant.old}
    replaced = [plant for plant in made if plant.replaced_at is not None]
    assert {plant.kind for plant in replaced} == {Kind.CONSTRAINT, Kind.DECISION}
    assert {plant.marker: plant.replaced_at for plant in replaced} == {old: plant.step for old, plant in new.items()}
    for plant in replaced:
        assert plant.in_force(plant.step)
        assert not plant.in_force(plant.replaced_at)
        assert plant.marker in new[plant.marker].text


def test_an_error_fails_before_it_is_resolved():
    stages = {}
    for sowing in sow(plants(500)):
        if sowing.plant.kind is Kind.ERROR:
            stages.setdefault(sowing.plant, {})[sowing.stage] = sowing
    for plant, its in stages.items():
        assert its[Stage.FAILURE].step < its[Stage.EXCHANGE].step == plant.step
        assert plant.marker not in json.dumps(its[Stage.FAILURE].messages())
        assert all(plant.marker in json.dumps(message) for message in its[Stage.EXCHANGE].messages()[:1])


# --- a run -----------------------------------------------------------------------------------------------------------


def test_three_hundred_steps_never_go_over_the_window(capsys):
    require_corpus()
    files = session_files(("tau-bench", "tau2--retail", "moatless"))
    run = run_strategy(300, "gc_truncate", 16_000, files)
    beside = run_keep_last(300, 16_000, files)
    assert [row.step for row in run.rows] == [50, 100, 200, 300]
    assert all(row.prompt <= 16_000 for row in run.rows)
    assert run.rows[-1].raw == beside.rows[-1].raw > 3 * 16_000
    assert len(run.times.steps) == 300
    assert run.over == 0
    assert all(each.places or each.searched for each in run.found[300])
    print_run(run, beside, "`gc_truncate`")
    assert "constraints in force" in capsys.readouterr().out


def test_after_a_wrong_summary_every_message_is_back_and_the_request_that_asks_again_shows_what_was_missing():
    require_corpus()
    recovery = run_corrupted(130, "gc_summarize", 20_000)
    assert recovery.collections > 1
    assert recovery.kept
    assert recovery.right_shown
    assert "the window was restored" in recovery.error_text
    assert recovery.calls == 130
    assert recovery.most <= 20_000


# --- labels ----------------------------------------------------------------------------------------------------------


def test_a_hundred_messages_are_labelled_and_about_half_hold_nothing():
    messages = labelled_messages()
    assert len({(each.file, each.message) for each in messages}) == len(messages) == 100
    assert 40 <= sum(not each.labels for each in messages) <= 60
    assert all(bool(each.labels) != bool(each.why) for each in messages)
    assert [each.file for each in messages] == sorted(each.file for each in messages)
    assert len({each.file for each in messages}) > 20


def test_every_label_is_what_was_labelled():
    require_corpus()
    for file, group in itertools.groupby(labelled_messages(), key=lambda each: each.file):
        transcript = read_transcript(corpus_dir() / file)
        for message in group:
            assert message.text(transcript)
            for label in message.labels:
                assert message.span(transcript, label)
                assert bool(message.reason(transcript, label)) == bool(label.reason_sha256)
                assert label.resolved is None or label.resolved > message.message


def test_a_label_refuses_another_text():
    require_corpus()
    first, *_ = labelled_messages()
    other = next(each for each in labelled_messages() if each.file != first.file and each.message > first.message)
    with pytest.raises(ValueError, match="is not what was labelled"):
        first.text(read_transcript(corpus_dir() / other.file))


def everything(transcript):
    """Whoever says that every message is everything finds all, and is always wrong where there is nothing."""
    for at, message in enumerate(transcript.messages):
        for kind in LabelKind:
            yield Entry(kind=kind, message=at, text=message.get("content") or "")


def test_who_keeps_everything_finds_all_and_who_finds_nothing_has_no_false_alarm(capsys):
    require_corpus()
    scores = judge(everything)
    assert all(score.found == score.mentioned == score.labels > 0 for score in scores.values())
    assert all(score.alarms == 48 for score in scores.values())
    assert all(score.found == score.alarms == 0 for score in judge(lambda _: ()).values())
    print_scores(scores)
    assert "| constraint | 24 | 24 |" in capsys.readouterr().out


def test_half_of_the_words_are_enough():
    assert holds("never deploy on Fridays", "Never ever deploy on Fridays, please")
    assert not holds("deploy it", "never ever deploy on Fridays, please")
