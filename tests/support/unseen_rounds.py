"""
Honest sessions and circles by somebody who has seen neither the re-read guard nor how the other ones are made.

They say what the guard does for agents that nobody had in mind who wrote it. Each honest session is long enough that
something is collected from it, and each circle asks again for what left the window. A sort is the seed's remainder;
what is left to chance within it is texts, their size, the names of tools, waits and the model's pace.
"""

from tests.support.unseen_circles import CIRCLES
from tests.support.unseen_honest import HONEST
from tests.support.unseen_texts import Script

UNSEEN_HONEST, UNSEEN_CIRCLES = len(HONEST), len(CIRCLES)


def unseen_honest(seed):
    """The name of an honest sort, and the rounds of a session of it."""
    sort = HONEST[seed % len(HONEST)]
    script = Script(sort.__name__, seed)
    sort(script)
    return sort.__name__, script.rounds


def unseen_circle(seed):
    """The name of a sort of circle, the rounds of a session of it, and the place where it begins to go round."""
    sort = CIRCLES[seed % len(CIRCLES)]
    script = Script(sort.__name__, seed, scales=(0.95, 1.1))
    begins = sort(script)
    return sort.__name__, script.rounds, begins
