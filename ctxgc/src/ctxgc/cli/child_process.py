"""A command that has the terminal, with the signals that are meant for it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Final

_KILLED: Final = 128
"""Shells add the signal that ended a command to it."""

_PASSED_ON: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2") if hasattr(signal, name)
)
_OF_TERMINALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name))


def wait_for(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command on the same terminal, pass signals on to it, and return its exit status."""
    early: list[int] = []  # signals that come before there is a command to send them to
    with (
        _signals_to(early.append) as hand_over,
        subprocess.Popen(list(command), env=dict(environment)) as child,  # noqa: S603 - what the user asked for
    ):
        hand_over(child.send_signal)
        for number in early:
            child.send_signal(number)
        status = child.wait()
    return status if status >= 0 else _KILLED - status


@contextlib.contextmanager
def _signals_to(receiver: Callable[[int], None]) -> Iterator[Callable[[Callable[[int], None]], None]]:
    """Give signals to a receiver, and to another one as soon as the yielded function is called with it."""
    receivers = [receiver]

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if number in _OF_TERMINALS and _has_terminal():
            return  # the terminal has sent it to the command as well; an agent takes a second one for "quit"
        receivers[-1](number)

    before = {number: signal.signal(number, pass_on) for number in (*_PASSED_ON, *_OF_TERMINALS)}
    try:
        yield receivers.append
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _has_terminal() -> bool:
    """True if this process is in the foreground of a terminal, which then sends its signals to the whole group."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
