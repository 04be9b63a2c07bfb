"""The turns of a client: each in the lane of its conversation."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gc_core import ContextOverflowError, GCConfig
from gc_core.errors import LogError, MessageError
from gc_core.integrations.lanes import Lane, Lanes, Plain, Turn
from gc_core.providers import format_named
from gc_core.values.loggers import logger

_log = logger("gc_clients")

LANE: Final = "x-gc-lane"
"""The header that names a request's conversation. It is not sent to the provider."""

_PASSED_BY: Final = (ContextOverflowError, MessageError, LogError, OSError)
"""What keeps no request back: it does not fit by any means, or files cannot be read or written."""


class Refused(Exception):  # noqa: N818 - a provider's answer, which a session reads as an error
    """What the provider said against a request."""


class Turns:
    """
    The turns of one client, in whichever API. What does not fit by any means is sent as it is: the provider's own
    refusal reaches the caller. So is everything while the lanes' files cannot be read or written.

    Args:
        config: How the lanes collect.
        directory: The directory of their files.
        options: More keyword arguments for each ``GCSession``.

    """

    def __init__(self, config: GCConfig | None, directory: str | Path | None, options: Mapping[str, Any]) -> None:
        self._lanes = {
            name: Lanes(Plain(), format=name, config=config, directory=directory, **options)
            for name in ("anthropic", "openai", "responses", "gemini")
        }

    def fitted(self, turn: Turn, lane: str) -> Mapping[str, Any]:
        """Return the body to send. Raises SpendLimitError."""
        try:
            with self._lane(turn, lane) as held:
                return turn.with_messages(held.fitted(turn.call))
        except _PASSED_BY as error:
            _log.warning("sent as it came", error=str(error)[:500])
            return turn.body

    def recovered(self, turn: Turn, lane: str, answer: str) -> Mapping[str, Any] | None:
        """Return the body for a second try, after the provider refused the first; None where there is none to try."""
        refusal = Refused(answer)
        if format_named(turn.format).refused_size(refusal) is None:
            return None
        try:
            with self._lane(turn, lane) as held:
                return turn.with_messages(held.recovered(turn.call, refusal))
        except _PASSED_BY as error:
            _log.warning("not sent again", error=str(error)[:500])
            return None

    def report(self, turn: Turn, lane: str, usage: Mapping[str, Any]) -> None:
        """Take the usage that the provider reported, in its own shape; a report that cannot be read changes nothing."""
        try:
            counts = format_named(turn.format).usage(usage)
            with self._lane(turn, lane) as held:
                held.report(counts)
        except _PASSED_BY as error:
            _log.debug("usage not taken", error=str(error)[:200])

    def _lane(self, turn: Turn, name: str) -> contextlib.AbstractContextManager[Lane[Mapping[str, Any]]]:
        lanes = self._lanes[turn.format]
        return lanes.lane(name, turn.call.model) if name else lanes.lane_of(turn.call, turn.key)

    def close(self) -> None:
        """Close the lanes."""
        for lanes in self._lanes.values():
            lanes.close()
