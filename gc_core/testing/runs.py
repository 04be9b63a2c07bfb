"""Whole runs: a generated conversation goes through a small window, and every request is checked."""

from __future__ import annotations

import enum
import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from gc_core.events import CollectionFinished, CollectionStarted, Event
from gc_core.providers.rules import check_request
from gc_core.providers.rules.prefix import first_change
from gc_core.session.session import GCSession
from gc_core.testing.contexts import begin
from gc_core.testing.conversations import make_conversation
from gc_core.values.items import Form, Item, ItemKind
from gc_core.values.json_values import strings
from gc_core.values.messages import Request
from gc_core.values.policy import GCPolicy
from gc_core.values.protocols import GCStrategy
from gc_core.values.results import GCResult, GCTriggerReason, Goal
from gc_core.values.sources import TASK_STATE

_SHARES = (0.5, 0.35)
"""The window has room for one part in this many of the conversation."""

_LEAST = 6_000
"""The tokens of a window in which held content has room."""


_NEVER_LOGGED = frozenset({ItemKind.TOOL_SCHEMA, ItemKind.SUMMARY, ItemKind.TRACE})
"""Kinds without separate lines in the log: recall returns what a summary or a trace covers."""

_OWN = "gc:"
"""The prefix of parts of the system text that gc-core itself writes and rewrites, as it does the task state."""


class Promise(enum.Enum):
    """A promise that is checked."""

    FITS = "fits"
    VALID = "valid"
    HELD = "held"
    PINNED = "pinned"
    RECOVERABLE = "recoverable"
    STILL = "still"
    SMALLER = "smaller"
    FAULTLESS = "faultless"


@attrs.frozen(kw_only=True)
class Run:
    """
    The result of a whole run.

    Attributes:
        seed: Of the conversation.
        requests: The number of requests that were checked.
        collections: The number of collections that changed the window.
        broken: Violations, in words, by promise.

    """

    seed: int
    requests: int
    collections: int
    broken: Mapping[Promise, Sequence[str]] = attrs.field(factory=dict)


def run(seed: int, strategy: GCStrategy) -> Run:
    """Play the conversation of a seed in a window with room for a part of it; every other one in continuous mode."""
    conversation = make_conversation(seed)
    room = int(_tokens(seed) * _SHARES[seed % len(_SHARES)])
    config: dict[str, Any] = {
        "context_limit": max(_LEAST, room),
        "pressure_percent": 0 if seed % 4 == 2 else 90,  # noqa: PLR2004 - every fourth
        "preserve_recent_turns": 1 + seed % 3,
    }
    with begin(conversation, strategy, **config) as session:
        watch = _Watch(session)
        conversation.play(session, watch.on_message)
        return watch.finished(seed)


@functools.lru_cache(maxsize=256)
def _tokens(seed: int) -> int:
    conversation = make_conversation(seed)
    with begin(conversation, "none", context_limit=10**6, auto_trigger=False) as session:
        return conversation.play(session).budget.total


class _Watch:
    """Checks a session after every message, and what it would send."""

    def __init__(self, session: GCSession) -> None:
        self._session = session
        self._broken: dict[Promise, list[str]] = defaultdict(list)
        self._texts: dict[str, str] = {}
        self._locked: dict[str, str] = {}
        self._pinned: dict[str, str] = {}
        self._left: set[str] = set()
        self._sent: Request | None = None
        self._moved = False
        self._requests = self._collections = 0
        session.listen(self._on_event)

    def on_message(self, place: int) -> None:
        """Note what is new after a message, and check the request that would be next."""
        for item in self._session.items():
            self._note(item)
        if not self._session.port.open_calls:
            self._look(self._session.pre_send(), place)
        self._look_at_pins(place)

    def finished(self, seed: int) -> Run:
        """Recall everything that left."""
        self._recall()
        self._broken[Promise.FAULTLESS] += [str(failure) for failure in self._session.plugins.failures]
        return Run(seed=seed, requests=self._requests, collections=self._collections, broken=dict(self._broken))

    def _note(self, item: Item) -> None:
        if item.form is not Form.WHOLE or item.kind in _NEVER_LOGGED or item.id in self._texts:
            return
        self._texts[item.id] = item.text
        if item.policy is GCPolicy.LOCKED and not item.name.startswith(_OWN) and item.source != TASK_STATE.name:
            self._locked[item.id] = item.text
        if item.pinned:
            self._pinned[item.id] = item.text

    def _on_event(self, event: Event) -> None:
        if isinstance(event, CollectionStarted):
            self._goal = event.goal
        if isinstance(event, CollectionFinished):
            self._moved = True
            self._collections += 1
            self._look_at_collection(event.result, self._goal)

    def _look_at_collection(self, result: GCResult, goal: Goal) -> None:
        if result.tokens_after >= result.tokens_before:
            self._say(Promise.SMALLER, f"a collection went from {result.tokens_before:,} to {result.tokens_after:,}")
        self._left.update(item for removal in result.removals for item in removal.items if item in self._texts)
        if result.reason is GCTriggerReason.CONTEXT_LIMIT:
            return  # the last resort stops when the request fits, which is above its goal
        again = self._session.plan(goal=goal).plan.removals
        if again:
            self._say(Promise.STILL, f"a second collection with the same goal would continue: {again[0]}")

    def _look(self, request: Request, place: int) -> None:
        self._requests += 1
        if request.tokens > self._session.config.usable:
            self._say(Promise.FITS, f"{request.tokens:,} tokens do not fit in {self._session.config.usable:,}")
        for breach in check_request(request):
            self._say(Promise.VALID, f"after message {place}: {breach}")
        self._look_for_locked(request, place)
        if self._sent is not None and not self._moved and _is_changed(self._sent, request):
            self._say(Promise.STILL, f"after message {place} something changed without a collection")
        self._sent, self._moved = request, False

    def _look_for_locked(self, request: Request, place: int) -> None:
        sent = "\n".join(text for _, text in strings([*request.system, *request.messages]))
        for key, text in self._locked.items():
            if text not in sent:
                self._say(Promise.HELD, f"after message {place}: {key} is LOCKED, and not in the request verbatim")

    def _look_at_pins(self, place: int) -> None:
        resident = {item.id: item for item in self._session.items()} if self._pinned else {}
        for key, text in self._pinned.items():
            if key not in resident or resident[key].text != text:
                self._say(Promise.PINNED, f"after message {place}: {key} is pinned, and not in the window verbatim")

    def _recall(self) -> None:
        for key in sorted(self._left):
            text = self._session.recall(key)
            if text != self._texts[key] and not (text.strip() and text in self._texts[key]):  # without its frame
                self._say(
                    Promise.RECOVERABLE, f"{key} left as {self._texts[key]!r:.60} and is recalled as {text!r:.60}"
                )

    def _say(self, promise: Promise, text: str) -> None:
        self._broken[promise].append(text)


def _is_changed(before: Request, after: Request) -> bool:
    place = first_change(before, after)
    return place is not None and place < len(before.messages)
