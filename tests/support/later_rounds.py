"""
Further honest sessions and circles, one of each sort by turns, by a hand that has not seen the guard.

In a window of 6,000 tokens something is collected in each honest session, and each reading of a circle's second lap and
of those after it asks for text that has left the window.
"""

import random

from tests.support.later_disguises import LATER_DISGUISES
from tests.support.later_rings import LATER_RINGS
from tests.support.later_talk import Talk
from tests.support.later_waits import LATER_WAITS
from tests.support.later_work import LATER_WORK

LATER_HONEST = [*LATER_WORK, *LATER_WAITS]
LATER_CIRCLES = [*LATER_RINGS, *LATER_DISGUISES]


def later_honest(seed):
    """The name of an honest session's sort, and its rounds."""
    make = LATER_HONEST[seed % len(LATER_HONEST)]
    talk = Talk(random.Random(f"later honest {seed}"))  # noqa: S311 - the same for a seed
    make(talk)
    return make.__name__, talk.rounds


def later_circle(seed):
    """The name of a circle's sort, its rounds, and the place of the circle's first call."""
    make = LATER_CIRCLES[seed % len(LATER_CIRCLES)]
    talk = Talk(random.Random(f"later circle {seed}"))  # noqa: S311 - the same for a seed
    make(talk)
    return make.__name__, talk.rounds, talk.begins
