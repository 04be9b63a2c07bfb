"""Patches between two versions of a window, whichever messages left, came, or changed places."""

from hypothesis import given
from hypothesis import strategies as st

from gc_core.values.messages import Message, Role
from gc_core.window.patches import hunks_between, patched

NUMBERS = st.integers(min_value=0, max_value=14)


def message(number):
    payload = {"role": "user", "content": f"Message {number}."}
    return Message(id=f"m{number}", role=Role.USER, payload=payload, items=(), overhead=0, as_logged=False)


@given(st.lists(NUMBERS, unique=True), st.lists(NUMBERS, unique=True))
def test_patches_lead_from_one_list_to_the_other_and_back(before, after):
    made = {number: message(number) for number in {*before, *after}}
    old, new = [made[number] for number in before], [made[number] for number in after]
    hunks = hunks_between(old, new)
    assert ids(patched(old, hunks, loaded, None)) == ids(new)
    assert ids(patched(new, [hunk.reverse for hunk in hunks], loaded, None)) == ids(old)


def loaded(saved):
    return message(int(saved.id.removeprefix("m")))


def ids(messages):
    return [each.id for each in messages]
