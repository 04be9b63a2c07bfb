"""More seeded sessions beside those of ``tests.support.circles``: polls that are still, and other circles.

An honest poll waits between its calls, if only for two seconds, and reads little or asks for a state; an agent that
reads many files once more, because they left the window, reads each once.  A circle may be large or slow, may tell the
time in each result, and may describe each of its calls in other words.
"""

import json
from collections.abc import Callable
from typing import Any

from tests.support.circles import Round, _Call, _Session, _test_command, _test_report

_LARGE = 700
_NAMES = ("ci", "get_deployment", "queue_depth", "job", "pods", "build", "lamp", "printer", "inbox", "export")
_STATES = ("status: in_progress", "state: pending", '{"status": "running"}', "Status: queued", '{"phase": "Pending"}')


def _poll(s: _Session) -> _Call:
    """A call that asks for one thing, in words that need not say so."""
    name, number = s.rng.choice(_NAMES), s.rng.randint(1, 9999)
    return s.rng.choice(
        (
            _Call(name, {"id": number}),
            _Call(f"get_{name}_status", {"name": f"{name}-{number}", "region": "eu"}),
            s.shell(f"curl -s localhost:8080/{name}/{number}"),
            s.shell(f"kubectl get {name} {name}-{number} -o wide"),
            s.shell(f"ls -l /srv/out/{name}-{number}.zip"),
        )
    )


def _waiter(s: _Session, period: float) -> Callable[[tuple[_Call, str]], None]:
    """How a session waits before each of its calls: the host does, the tool does, or another tool is called."""
    way = s.rng.choice(("host", "tool", "sleep", "wait"))
    sleep = {
        "sleep": (s.shell(f"sleep {max(1, round(period))}"), "(no output)"),
        "wait": (_Call("wait", {"seconds": round(period, 1)}), "waited"),
    }.get(way)

    def step(asked: tuple[_Call, str]) -> None:
        wait = period + s.between(0, 1)
        if sleep:
            s.step(sleep, before=s.between(0.05, 1), during=wait)
        before, during = (wait, s.between(0.05, 1)) if way == "host" else (s.between(0.05, 1), wait)
        s.step(asked, before=s.between(0.05, 1) if sleep else before, during=s.between(0.05, 1) if sleep else during)

    return step


def _still_poll(s: _Session, length: int) -> None:
    """One call that gives the same small result every few seconds, until it gives another."""
    end = len(s.rounds) + length
    s.opens()
    poll, step = _poll(s), _waiter(s, s.between(2, 20))
    result = s.text("table", s.size(5, 330))
    while len(s.rounds) < end:
        step((poll, result))
    s.step((poll, "ready"))
    s.says(s.tongue.done)


def _long_state(s: _Session, length: int) -> None:
    """A state with a long table below it, which stays as it is for minutes."""
    end = len(s.rounds) + length
    s.opens()
    poll, step = _poll(s), _waiter(s, s.between(2, 20))
    result = f"{s.rng.choice(_STATES)}\n{s.text('table', s.size(300, 2000))}"
    while len(s.rounds) < end:
        step((poll, result))
    s.says(s.tongue.done)


def _flapping(s: _Session, length: int) -> None:
    """A few states that take turns, none of them new after a while."""
    end = len(s.rounds) + length
    s.opens()
    poll, step = _poll(s), _waiter(s, s.between(2, 12))
    states = [
        f"{s.rng.choice(_NAMES)} {place}\n{s.text('table', s.size(5, 300))}" for place in range(s.rng.randint(2, 5))
    ]
    in_turn, turn = s.chance(0.5), 0
    while len(s.rounds) < end:
        turn += 1
        step((poll, states[turn % len(states)] if in_turn else s.rng.choice(states)))


def _several_polls(s: _Session, length: int) -> None:
    """Several things that are asked for in turn, every few seconds."""
    end = len(s.rounds) + length
    s.opens()
    step = _waiter(s, s.between(2, 10))
    polls = [(_poll(s), s.text("table", s.size(5, 300))) for _ in range(s.rng.randint(2, 4))]
    while len(s.rounds) < end:
        for poll in polls:
            step(poll)


def _short_backoff(s: _Session, length: int) -> None:
    """A server that is busy is asked again after seconds, each time the same error."""
    end = len(s.rounds) + length
    s.opens()
    while len(s.rounds) < end:
        call, result = s.lookup(60)
        wait = s.between(2, 4)
        for _ in range(s.rng.randint(3, 8)):
            s.step((call, "Error 503: the service is starting, try again"), before=wait)
            wait = min(30.0, wait * 1.5)
        s.step((call, result), before=wait)


def _files_for_an_edit(s: _Session, length: int) -> None:
    """Files are read, leave the window, are read once more because an edit needs them, and are edited."""
    end = len(s.rounds) + length
    s.opens()
    files = [(s.read(s.path()), s.text(s.language, s.size(_LARGE, 2000))) for _ in range(s.rng.randint(5, 12))]
    while len(s.rounds) < end:
        for one in files:
            s.step(one, before=s.between(0.3, 3), during=s.between(0.05, 1))
        for call, _ in files[: s.rng.randint(1, len(files))]:
            path = next(value for value in _texts(call.args) if "/srv/app" in value)
            s.step((s.edit(path), s.edited(path)))
        s.step((_test_command(s), _test_report(s, s.rng.randint(0, 9), 41, s.size(40, 300))), during=s.between(0.5, 20))
        s.works(2, 8, _LARGE)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in _texts(each)]


_HONEST: dict[str, Callable[[_Session, int], None]] = {
    "still_poll": _still_poll,
    "long_state": _long_state,
    "flapping": _flapping,
    "several_polls": _several_polls,
    "short_backoff": _short_backoff,
    "files_for_an_edit": _files_for_an_edit,
}
MORE_HONEST: tuple[str, ...] = tuple(_HONEST)


def more_honest(seed: int) -> tuple[str, list[Round]]:
    """A kind of honest session and one of it; the kinds take turns as seeds go up."""
    kind = MORE_HONEST[seed % len(MORE_HONEST)]
    session = _Session(f"more honest {seed}")
    _HONEST[kind](session, session.rng.randint(40, 128))
    return kind, session.rounds


# Circles


def _ring(
    s: _Session,
    count: int,
    *,
    told: Callable[[str], str] = str,
    described: Callable[[_Call], _Call] = lambda call: call,
    during: tuple[float, float] = (0.5, 1.8),
) -> int:
    """Calls that were made once, and then again and again in turn."""
    asked = [s.lookup(_LARGE) for _ in range(count)]
    first = -1
    for turn in range(count + max(30, 3 * count)):
        call, result = asked[turn % count]
        place = s.step((described(call), told(result)), before=s.between(0.5, 2.8), during=s.between(*during))
        first = place if turn == count else first
    return first


def _large_ring(s: _Session) -> int:
    """Eight to twenty calls in turn."""
    return _ring(s, s.rng.randint(8, 20))


def _timed(s: _Session) -> int:
    """Each result says how long the call took, or when it was made."""
    way = s.rng.choice(("wall", "stamp", "json", "end"))

    def told(result: str) -> str:
        seconds = s.rng.randint(1, 9999) / 1000
        return {
            "wall": f"Exit code: 0\nWall time: {seconds} seconds\nOutput:\n{result}",
            "stamp": f"[{s.now()}]\n{result}",
            "json": json.dumps({"output": result, "metadata": {"exit_code": 0, "duration_seconds": seconds}}),
            "end": f"{result}\n(done in {seconds:.2f}s)",
        }[way]

    return _ring(s, s.rng.choice((1, 2, 3)), told=told)


def _described(s: _Session) -> int:
    """Each call says in other words what it is for."""
    key = s.rng.choice(("description", "explanation", "reason"))

    def described(call: _Call) -> _Call:
        return _Call(call.name, {**call.args, key: f"{s.rng.choice(s.tongue.checks)} {s.rng.randint(1, 99)}"})

    return _ring(s, s.rng.choice((1, 2, 3)), described=described)


def _slow(s: _Session) -> int:
    """A tool that takes its time."""
    return _ring(s, s.rng.choice((1, 2)), during=(9.0, 14.0))


_CIRCLES: dict[str, Callable[[_Session], int]] = {
    "large_ring": _large_ring,
    "timed": _timed,
    "described": _described,
    "slow": _slow,
}
MORE_CIRCLES: tuple[str, ...] = tuple(_CIRCLES)


def more_circle(seed: int) -> tuple[str, list[Round], int]:
    """A kind of circle, a session that ends in one, and the place of its first repeated call."""
    kind = MORE_CIRCLES[seed % len(MORE_CIRCLES)]
    session = _Session(f"more circle {seed}")
    session.user(session.rng.choice(session.tongue.tasks))
    session.works(5, 18, _LARGE)
    return kind, session.rounds, _CIRCLES[kind](session)
