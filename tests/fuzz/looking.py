"""Looks at one seed: what a process of the fuzzer does, again and again."""

from __future__ import annotations

import logging
import traceback

import attrs

from tests.fuzz.histories import make_script
from tests.fuzz.running import run


def quiet() -> None:
    """What gc-core logs is not what is looked for."""
    logging.disable(logging.CRITICAL)


@attrs.frozen
class Seen:
    """What one seed showed."""

    seed: int
    requests: int
    overflows: int
    breaches: tuple[tuple[str, str], ...]


def look(seed: int) -> Seen:
    """Run one seed in this process."""
    try:
        made = run(make_script(seed))
    except Exception as error:  # noqa: BLE001 - the fuzzer's own fault is reported as such
        text = "".join(traceback.format_exception(error)[-2:])
        return Seen(seed, 0, 0, ((f"the fuzzer itself: {type(error).__name__}", text[-400:]),))
    found = tuple((breach.kind, breach.text) for breach in made.breaches)
    return Seen(seed, made.requests, made.overflows, found)
