"""How old a unit is: steps since, whatever of them has left the window."""

from gc_core import GCConfig, GCRemovalItem, GCSession, Plugins
from tests.support.say import answer, call, lines, result, user


class Dropping:
    """Drops or summarises the oldest of what may go."""

    def __init__(self, how):
        self.how = how

    def collect(self, context, goal):  # noqa: ARG002 - the contract
        steps = [unit for unit in context.collectable if unit.is_step]
        if self.how == "summary" and steps:
            yield GCRemovalItem.summarize(steps[:40], max_tokens=600, whole=True, reason="old")
        for unit in steps:
            yield GCRemovalItem.drop(unit, reason="oldest")


def session(how="drop"):
    config = GCConfig(context_limit=60_000, output_reservation=0, reread_guard="off", auto_trigger=False)
    return GCSession(config, strategy=Dropping(how), plugins=Plugins())


def work(made, first, number):
    for place in range(first, first + number):
        made.append(call((f"c{place}", "read", {"path": f"f{place}.py"})))
        made.append(result(f"c{place}", lines(20, f"row{place}")))


def ages(made):
    view = made.view()
    return {unit.number: view.age(unit) for unit in view.units if not (unit.is_trace or unit.is_summary)}


def test_without_removals_it_is_the_number_of_steps_since():
    with session() as made:
        for turn in range(4):
            made.append(user(f"Task {turn}."))
            work(made, 10 * turn, 3)
            made.append(answer("Done."))
        view = made.view()
        for place, unit in enumerate(view.units):
            assert view.age(unit) == sum(other.is_step for other in view.units[place + 1 :])


def test_it_stays_when_the_steps_since_leave():
    with session() as made:
        made.append(user("Look at all of it."))
        work(made, 0, 80)
        before = ages(made)
        made.collect_now(target_percent=5)
        after = ages(made)
        assert len(after) < len(before)
        steps = [number for number in after if number != 1]
        assert {number: before[number] for number in steps} == {number: after[number] for number in steps}


def test_no_collection_makes_anything_older():
    with session() as made:
        for turn in range(30):
            made.append(user(f"Task {turn}."))
            work(made, 10 * turn, turn % 5)
            made.append(answer("Done."))
            if turn % 6 == 5:
                before = ages(made)
                made.collect_now(target_percent=5)
                after = ages(made)
                assert all(after[number] <= before[number] for number in after)


def test_a_summary_is_about_as_old_as_the_newest_step_it_covers():
    with session("summary") as made:
        made.append(user("Look at all of it."))
        work(made, 0, 50)
        made.collect_now(target_percent=10)
        work(made, 50, 100)
        view = made.view()
        (summary,) = [unit for unit in view.units if unit.is_summary]
        assert abs(view.age(summary) - 110) <= 5
