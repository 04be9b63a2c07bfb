"""What an agent writes for itself hides no circle; a plan that goes forward and work that is written down are none."""

import itertools
import json
import random

import pytest

from tests.support.later_talk import NOUNS, Talk, prose
from tests.test_circles import played


def thought(talk):
    return (
        f"The {' and the '.join(talk.random.sample(NOUNS, 2))} matter, {talk.random.randrange(9_999)} was noted before."
    )


def entry(talk, place):
    return {"id": str(place), "content": thought(talk), "status": "in_progress", "priority": "high"}


def echoed(talk):
    held = [entry(talk, place) for place in range(4)]
    return ("todowrite", {"todos": held}), json.dumps(held, indent=2)


def finished_at_once(talk):
    """Entries that no plan had before are ticked off."""
    held = [{"step": thought(talk), "status": "completed"}, {"step": thought(talk), "status": "pending"}]
    return ("update_plan", {"plan": held}), "Plan updated"


def in_a_memory(talk):
    added = {"command": "insert", "path": "/memories/work.md", "insert_line": 1, "insert_text": thought(talk)}
    return ("memory", added), "The file /memories/work.md has been edited."


def remembered(talk):
    fact = thought(talk)
    return ("save_memory", {"fact": fact}), json.dumps(
        {"success": True, "message": f'Okay, I\'ve remembered: "{fact}"'}
    )


NOTES = {
    "a list that is echoed": echoed,
    "what was never planned": finished_at_once,
    "the memory tool": in_a_memory,
    "a remembered fact": remembered,
    "a note": lambda talk: (("add_note", {"text": thought(talk)}), '{"ok": true}'),
    "a scratchpad": lambda talk: (
        ("update_scratchpad", {"text": thought(talk)}),
        "Scratchpad updated (99 characters).",
    ),
}


def busy_talk(seed):
    """A session whose first reading has left the window."""
    talk = Talk(random.Random(seed))  # noqa: S311 - the same for a seed
    talk.user("Compare the rules, please.")
    rules = {f"rules/{name}.md": prose(talk.random, 40) for name in talk.random.sample(NOUNS, 2)}
    for path, text in rules.items():
        talk.run(("read_page", {"path": path}), text)
    for place in range(12):
        talk.run(("read_page", {"path": f"other/{place}.md"}), prose(talk.random, 40))
    return talk, rules


@pytest.mark.parametrize("note", NOTES)
def test_notes_in_ever_other_words_hide_no_circle(note):
    talk, rules = busy_talk(note)
    talk.begin()
    for path in itertools.islice(itertools.cycle(rules), 12):
        talk.run(("read_page", {"path": path}), rules[path])
        talk.run(*NOTES[note](talk))
    ((place, _), *_), ended = played(talk.rounds, begins=talk.begins, thinks=True)
    assert ended is None
    assert (place - talk.begins) // 2 <= 10


def ticked_off(_, place):
    steps = [
        {"content": f"Apply the rule of step {step}", "status": "completed" if step <= place else "pending"}
        for step in range(12)
    ]
    return ("todo_write", {"todos": steps}), "Todos updated."


def ticked_by_id(_, place):
    return ("update_todo", {"id": place, "status": "done"}), "ok"


def ticked_by_name(_, place):
    return ("update_plan_step", {"step": f"Apply the rule of step {place}", "status": "done"}), "ok"


def completed(_, place):
    return ("complete_todo", {"todo": f"t{place}"}), "ok"


def of_each_patient(talk, place):
    name = f"{talk.random.choice(NOUNS)} {talk.random.choice(NOUNS)} {place}"
    return ("add_note", {"patient": name, "text": f"{name}: {thought(talk)}"}), '{"ok": true}'


def on_one_ticket(talk, _):
    return ("add_comment", {"key": "OPS-7", "body": thought(talk)}), '{"created": true}'


def into_a_file(talk, _):
    changed = {"file_path": "/srv/dev/NOTES.md", "old_string": "# Notes", "new_string": f"# Notes\n{thought(talk)}"}
    return ("Edit", changed), "The file /srv/dev/NOTES.md has been updated successfully."


def under_a_key(talk, place):
    return ("memory_store", {"key": f"claim_{place}", "value": thought(talk)}), "stored"


def into_a_report(talk, _):
    return ("append_note", {"file": "comparison.md", "text": thought(talk)}), "noted"


def a_note_with_news(talk, _):
    return ("take_note", {"text": thought(talk)}), f"Saved. Related: {thought(talk)}"


WORK = (
    *(ticked_off, ticked_by_id, ticked_by_name, completed, of_each_patient, on_one_ticket, into_a_file, into_a_report),
    *(under_a_key, a_note_with_news),
)


@pytest.mark.parametrize("work", WORK)
def test_a_rule_that_is_read_again_for_each_piece_of_work_is_no_circle(work):
    talk, rules = busy_talk(work.__name__)
    path, text = next(iter(rules.items()))
    for place in range(12):
        talk.run(("read_page", {"path": path}), text)
        talk.run(*work(talk, place))
    assert played(talk.rounds, thinks=True) == ([], None)
