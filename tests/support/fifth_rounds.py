"""
The fifth set of sessions for the guard: honest ones, and ones that go round in circles.

They are by a hand that has not seen the guard, nor any other set of sessions: it only knew what a circle is. After a
long stretch of other work the agent asks again and again for what it has read, the same comes back, and nothing else
happens; whoever repeats itself for a reason is honest.
"""

import random

from tests.support.fifth_circles import FIFTH_CIRCLES
from tests.support.fifth_texts import with_other_names
from tests.support.fifth_work import FIFTH_HONEST
from tests.support.later_talk import Talk


def fifth_honest(seed):
    """The name of an honest sort, and a session of it."""
    make = FIFTH_HONEST[seed % len(FIFTH_HONEST)]
    talk = Talk(random.Random(f"fifth honest {seed}"))  # noqa: S311 - the same for a seed
    make(talk)
    with_other_names(talk)
    return make.__name__, talk.rounds


def fifth_circle(seed):
    """The name of a sort of circle, a session of it, and the round at which the circle begins."""
    make = FIFTH_CIRCLES[seed % len(FIFTH_CIRCLES)]
    talk = Talk(random.Random(f"fifth circle {seed}"))  # noqa: S311 - the same for a seed
    make(talk)
    with_other_names(talk)
    return make.__name__, talk.rounds, talk.begins
