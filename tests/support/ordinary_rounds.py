"""
Sessions and circles as ordinary agents have them, one of each sort by turns, by a hand that has not seen the guard.

In a window of 6,000 tokens something is collected in each honest session, and a circle begins with the first call that
asks again for text that has left the window.
"""

import random

from tests.support.later_talk import Talk
from tests.support.ordinary_circles import ORDINARY_CIRCLES
from tests.support.ordinary_work import ORDINARY_HONEST


def ordinary_honest(seed):
    """The name of an honest session's sort, and its rounds."""
    make = ORDINARY_HONEST[seed % len(ORDINARY_HONEST)]
    talk = Talk(random.Random(f"ordinary honest {seed}"))  # noqa: S311 - the same for a seed
    make(talk)
    return make.__name__, talk.rounds


def ordinary_circle(seed):
    """The name of a circle's sort, its rounds, and the place of the circle's first call."""
    make = ORDINARY_CIRCLES[seed % len(ORDINARY_CIRCLES)]
    talk = Talk(random.Random(f"ordinary circle {seed}"))  # noqa: S311 - the same for a seed
    make(talk)
    return make.__name__, talk.rounds, talk.begins
