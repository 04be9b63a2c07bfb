"""The lane of a conversation without a name: the one whose history its list goes on with."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from gc_core.session.session import GCSession
from gc_core.values.loggers import logger
from gc_core.values.messages import Payload
from gc_core.window.callers_list import digest_of_given

_log = logger("gc_core.lanes")

LOOSE_END: Final = 2
"""Messages at the end of a known history that may differ in the next request of the same conversation."""

MOST_ENDS: Final = 20_000
"""Ends of histories that are remembered."""

MOST_SEARCHED: Final = 50
"""Directories of a scope that are searched for a history, the latest first."""

_FILE: Final = "ends.txt"
_DIGEST: Final = re.compile("[0-9a-f]{32}")


@attrs.frozen
class History:
    """
    A caller's list, as far as it says which conversation it is of.

    Attributes:
        scope: The scope of the caller, within which histories are compared; part of the name of its lanes' directories.
        digests: The digest of each message.
        ends: The digest of each head of the list that includes a user message, the shortest first; of each head of a
            list without one.
        openings: Of each head that comes before the first reply, the digest with the system text; none without one.

    """

    scope: str
    digests: tuple[str, ...] = attrs.field(repr=False)
    ends: tuple[str, ...] = attrs.field(repr=False)
    openings: tuple[str, ...] = attrs.field(default=(), repr=False)

    @classmethod
    def of(
        cls,
        scope: str,
        messages: Sequence[Payload],
        session: GCSession | None = None,
        *,
        system: Sequence[Payload] = (),
    ) -> History:
        """
        Read a list, without the ``system`` messages before it; a session that may know the messages spares their
        hashing.
        """
        digests = tuple(map(digest_of_given, messages)) if session is None else session.port.digests(messages)
        first, said = _first_asked(messages) - 1, sum(1 for _ in itertools.takewhile(_is_user, messages))
        openings = _heads((*map(digest_of_given, system), *digests[:said]))[len(system) + first :] if system else ()
        return cls(scope, digests, _heads(digests)[first:], openings)

    @property
    def is_answered(self) -> bool:
        """True where the list has more than an opening."""
        return len(self.openings) < len(self.ends)

    @property
    def known_by(self) -> Iterator[tuple[int, str]]:
        """
        Yield the number of messages of each beginning, and the digest by which it is known, the longest first.

        A system text may hold a clock, so it says nothing once there is a reply. Before, it tells agents apart.
        """
        for place in reversed(range(len(self.ends))):
            if place < len(self.openings):
                yield self.messages_to(place), self.openings[place]
            if self.is_answered:
                yield self.messages_to(place), self.ends[place]

    @property
    def last(self) -> tuple[str, ...]:
        """The digests by which the next list is to be known."""
        openings = () if self.is_answered else self.openings[-1:]
        return (*openings, *self.ends[-1 - LOOSE_END + len(openings) :])

    def messages_to(self, place: int) -> int:
        """Return the number of messages up to one of the ends."""
        return len(self.digests) - len(self.ends) + place + 1


@attrs.frozen
class Found:
    """
    A lane that has had the beginning of a list.

    Attributes:
        key: The lane's key.
        messages: The number of messages of that beginning.

    """

    key: str
    messages: int

    def goes_on(self, history: History, session: GCSession | None) -> bool:
        """
        Return whether a list is the same conversation as the lane's; ``session`` is the lane's if it is in memory.

        Two conversations may begin alike, such as two runs of one prompt. A list that goes on with what the lane has
        left is another one. So is a list that departs from the lane's replies while the part that they share is whole:
        a session of its own sends it in the same words.
        """
        if session is None:
            return True
        departure = session.port.departure(history.digests)
        if departure.dropped and departure.kept < self.messages:
            return False
        is_older = departure.kept == len(history.digests)
        return is_older or not departure.drops_replies or not departure.is_whole


class Histories:
    """
    The ends of the histories of conversations without names, each with its lane's key. Safe to call from threads.

    Args:
        directory: The directory of the lanes' directories; None where they are temporary.

    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory
        self._ends: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._beginnings: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._last: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._searched: set[str] = set()
        self._mutex = threading.Lock()

    def read(
        self,
        scope: str,
        messages: Sequence[Payload],
        session_of: Callable[[str], GCSession | None],
        *,
        system: Sequence[Payload] = (),
    ) -> History:
        """
        Read a list, without the ``system`` messages before it; what is in the last list of a lane that began so is not
        hashed again.
        """
        beginning = History.of(scope, messages[: _first_asked(messages)], system=system)
        with self._mutex:
            key = self._beginnings.get((scope, beginning.ends[0]), "") if beginning.ends else ""
        session = session_of(key) if key else None
        if session is None and len(beginning.digests) == len(messages):
            return beginning
        return History.of(scope, messages, session, system=system)

    def find(self, history: History) -> Found | None:
        """Return the lane that has had the most of a list; None if there is none."""
        with self._mutex:
            return self._known(history) or self._on_disk(history)

    def remember(self, history: History, key: str, directory: Path | None = None) -> None:
        """Remember by what a lane is found again; in its directory, too, if there is one that can be written."""
        last = history.last
        with self._mutex:
            news = [end for end in last if end not in self._last.get(key, ())]
            self._last[key] = last
            self._last.move_to_end(key)
            for known, ends in ((self._ends, last), (self._beginnings, history.ends[:1])):
                for end in ends:
                    known[history.scope, end] = key
                    known.move_to_end((history.scope, end))
            for bounded in (self._ends, self._beginnings, self._last):
                while len(bounded) > MOST_ENDS:
                    bounded.popitem(last=False)
        if news and directory is not None:
            try:
                with (directory / _FILE).open("a", encoding="ascii") as file:  # to add is quicker than to replace
                    file.write("".join(f"{end}\n" for end in news))
            except OSError as error:  # the conversation is read again after a restart
                _log.warning("lane will not be found again", lane=key, error=str(error))

    # -- inside --------------------------------------------------------------------------------------------------------

    def _known(self, history: History) -> Found | None:
        for messages, end in history.known_by:
            key = self._ends.get((history.scope, end))
            if key is not None:
                return Found(key, messages)
        return None

    def _on_disk(self, history: History) -> Found | None:
        """Search the directories of the scope, which an earlier process may have left."""
        if self._directory is None or history.scope in self._searched:
            return None
        self._searched.add(history.scope)
        files = self._directory.glob(f"{history.scope}-*/{_FILE}")
        for path in sorted(files, key=_changed)[-MOST_SEARCHED:]:
            for end in _ends_in(path):
                self._ends[history.scope, end] = path.parent.name
        return self._known(history)


def _changed(path: Path) -> float:
    """Return when a file was changed; 0 for one that has gone meanwhile."""
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _ends_in(path: Path) -> list[str]:
    """Return the ends that were written last; what a killed process left of a line is none."""
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
    return [line for line in lines[-1 - LOOSE_END :] if _DIGEST.fullmatch(line)]


def _first_asked(messages: Sequence[Payload]) -> int:
    """Return the number of messages up to the first one of a user; 1 where there is none, 0 of an empty list."""
    asked = (place for place, message in enumerate(messages, 1) if _is_user(message))
    return next(asked, min(1, len(messages)))


def _is_user(message: Payload) -> bool:
    return message.get("role") == "user"


def _heads(digests: Iterable[str]) -> tuple[str, ...]:
    """Return the digest of each head of a list, the shortest first, from the digests of its messages."""
    running, heads = hashlib.blake2b(digest_size=16), []
    for digest in digests:
        running.update(bytes.fromhex(digest))
        heads.append(running.hexdigest())
    return tuple(heads)
