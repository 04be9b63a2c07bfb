"""
Sessions and circles of a fourth kind, one of each sort by turns, by a hand that has not seen the guard.

In a window of 6,000 tokens something is collected in each honest session, and a circle begins with the first call that
asks again for text that has left the window.
"""

import random

from tests.support.fourth_circles import FOURTH_CIRCLES
from tests.support.fourth_work import FOURTH_HONEST
from tests.support.later_talk import Talk


def fourth_honest(seed):
    """The name of an honest session's sort, and its rounds."""
    make = FOURTH_HONEST[seed % len(FOURTH_HONEST)]
    talk = Talk(random.Random(f"fourth honest {seed}"))  # noqa: S311 - the same for a seed
    make(talk)
    return make.__name__, talk.rounds


def fourth_circle(seed):
    """The name of a circle's sort, its rounds, and the place of the circle's first call."""
    make = FOURTH_CIRCLES[seed % len(FOURTH_CIRCLES)]
    talk = Talk(random.Random(f"fourth circle {seed}"))  # noqa: S311 - the same for a seed
    make(talk)
    return make.__name__, talk.rounds, talk.begins
