"""The lanes of a gateway: one session for each conversation, in memory while it is used."""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from gc_core import GCSession, Plugins, Request, Usage, compact
from gc_core.errors import LogError
from gc_core.events import CollectionFinished, Event
from gc_core.integrations.lanes import Histories, History
from gc_core.providers.prices import prices_of
from gc_core.session.opening import check_config
from gc_core.values.folders import private
from gc_core.values.loggers import logger
from gc_gateway.call_costs import CallCost, CallCosts
from gc_gateway.dialects import CHAT, Content
from gc_gateway.lane_files import LaneFile
from gc_gateway.lane_ids import LaneId, is_key
from gc_gateway.overview import Collected, Counts, LaneView, Overview
from gc_gateway.recall_tools import TAG_CHARS, recall_tool_in
from gc_gateway.settings import Settings

_log = logger("gc_gateway")

SLOTS: Final = 3
"""Threads that compute at a time."""

LETTERS_PER_TOKEN: Final = 4

LONG: Final = 2_000
"""Letters without a space from which a string is no text."""

LONGEST_NAME: Final = 200
"""Letters of a name that are shown."""

LATEST: Final = 20
"""Collections of a lane that are remembered for its view."""

_ANY_MODEL: Final = "gpt-5"
"""A model with a price, where a configuration is checked before there is a request that names one."""

MOST_LEFT: Final = 100
"""Lanes that left memory, but are still shown."""


@attrs.define(eq=False)
class Lane:
    """
    One conversation.

    Attributes:
        key: The name of its directory.
        id: Who sends it.
        format: The session's format.
        session: Its session.
        file: What its directory says of it.
        lock: Held by the request that is inside.
        used: When it was last used, in seconds of ``time.monotonic``.
        counts: What it has done since it was opened.
        latest: Its latest collections.
        tools: Its conversation has tools.
        model: The model of its last request.
        costs: What its calls cost, and would have cost.
        share: Of the client's last list, how much was sent.
        tokens: Tokens of its last request.
        given_tokens: Tokens that the client's last list would have had.
        reply_tokens: Tokens reserved for a reply whose request names none.
        learned: Tokens that the provider said the model's window has; 0 if it never refused one.
        recall_tool: The agent's own tool for recalling, as it calls it; "" if it has none.

    """

    key: str
    id: LaneId
    format: str
    session: GCSession = attrs.field(repr=False)
    file: LaneFile = attrs.field(factory=LaneFile, repr=False)
    lock: threading.Lock = attrs.field(factory=threading.Lock, repr=False)
    used: float = attrs.field(factory=time.monotonic)
    counts: Counts = attrs.field(factory=Counts)
    latest: tuple[Collected, ...] = attrs.field(default=(), repr=False)
    tools: bool = False
    model: str = ""
    costs: CallCosts = attrs.field(factory=CallCosts, repr=False)
    share: float = 1.0
    tokens: int = 0
    given_tokens: int = 0
    reply_tokens: int = 0
    learned: int = 0
    recall_tool: str = ""

    def request(self, content: Content, window: int) -> Request:
        """Return the request for a turn. Raises ContextOverflowError and other GCErrors; the call counts then too."""
        self.counts, self.share = self.counts.plus(Counts(calls=1)), 1.0
        self._fit(content, window)
        self._name_recall(content)
        self.tools = self.tools or bool(content.tools)
        synced = self.session.sync(content.messages, system=content.system, tools=content.tools)
        request = _parted(synced, content)
        self.tokens = self.session.port.estimate(request.tokens)
        given = self.given_tokens = self.tokens + tokens_left_out(content.messages, request.messages)
        self.share = self.tokens / given if given else 1.0
        self.counts = self.counts.plus(Counts(given_tokens=given, sent_tokens=self.tokens))
        return request

    def recovered(self, refusal: Exception, content: Content) -> Request:
        """Return a smaller request, after the provider refused the last one for its length. Raises GCErrors."""
        believed, refused = self.session.config.context_limit, self.tokens
        request = _parted(self.session.recover(refusal), content)
        self.learned = min(believed, self.session.config.context_limit)
        self.tokens = self.session.port.estimate(request.tokens)
        self.counts = self.counts.plus(Counts(sent_tokens=self.tokens - refused))
        return request

    def cost(self, model: str, usage: Usage) -> CallCost:
        """Return what a call cost by its usage report, and would have cost without the gateway; 0 without a price."""
        prices = prices_of(model, self.format)
        return CallCost(0.0, 0.0) if prices is None else self.costs.call(usage, self.share, prices)

    def aside(self, content: Content, window: int) -> Request | None:
        """Return the request for a list beside the conversation; None where it is to be sent as it came."""
        self._fit(content, window)
        beside = self.session.beside(content.messages, system=content.system, tools=content.tools)
        if beside is not None:
            return _parted(beside, content)
        messages = compact(
            content.messages,
            self.session.config.usable,
            format=self.format,
            system="\n\n".join(block.get("text", "") for block in content.system or ()),
            tools=content.tools or (),
            config=attrs.evolve(self.session.config, cache_marks=False),  # the client's own marks are there
            model=content.model or None,
        )
        compacted = Request(format=self.format, messages=tuple(messages), system=tuple(content.system or ()))
        return _parted(compacted, content)

    def is_aside(self, content: Content) -> bool:
        """
        True for a request that is no turn: a client's own compaction, one without the tools of the agent, and what an
        agent asks without tools before its conversation has begun (opencode: a title).
        """
        return content.is_aside or (not content.tools and (self.tools or begins_aside(self.id, content)))

    def heard(self, event: Event) -> None:
        """Take notice of what happened in the session."""
        if isinstance(event, CollectionFinished):
            result = event.result
            collected = Collected(
                id=event.collection, at=time.time(), reason=result.reason.value, tokens_freed=result.tokens_freed
            )
            self.latest = (*self.latest, collected)[-LATEST:]
            self.counts = self.counts.plus(Counts(collections=1))

    def view(self, *, is_open: bool = True) -> LaneView:
        """Return what is shown of it. It does not wait for a request that is inside."""
        return LaneView(
            key=self.key, name=self.id.name[:LONGEST_NAME], parent=self.id.parent[:LONGEST_NAME],
            client=self.id.client[:LONGEST_NAME], dialect=self.format, model=self.model[:LONGEST_NAME],
            tokens=self.tokens, limit=self.session.config.usable, counts=self.counts,
            latest=self.latest, is_open=is_open,
        )  # fmt: skip

    def _name_recall(self, content: Content) -> None:
        """Let references name the agent's own recall tool, as soon as its requests have one."""
        self.recall_tool = self.recall_tool or recall_tool_in(content)
        if self.recall_tool:
            # Sub-agents share the server of the agent that started them: their items say whose they are.
            tag = f"@{self.session.port.id[:TAG_CHARS]}" if self.id.parent else ""
            form = f"{self.recall_tool} {{id}}{tag}"
            if self.session.port.context.recall_form != form:  # a branch of the list begins with the plain one
                self.session.switch(recall_form=form)

    def _fit(self, content: Content, window: int) -> None:
        wanted = content.reply_tokens or self.reply_tokens
        reply = wanted if wanted <= window // 2 else window // 5
        usable = max(1, window - reply)
        if content.model == self.model and self.learned:
            usable = min(usable, self.learned)
        if content.model != self.model or self.session.config.context_limit != usable:
            self.session.switch(model=content.model or None, context_limit=usable)
            self.learned = self.learned if content.model == self.model else 0
            self.model = content.model


class Lanes:
    """
    All lanes: found by id or by history, opened from their directories, and closed when they are idle.

    Safe to call from threads. Raises ConfigError where a lane could not be opened as the settings say, and LogError
    where their directory cannot be written.

    Attributes:
        slots: Held by each thread that computes: many of them would keep the server's loop from passing streams on.

    """

    def __init__(self, settings: Settings, listener: Any = None) -> None:
        self._settings = settings
        # Each request says what its reply may have: that is taken from the window, and nothing beside it.
        self._config = attrs.evolve(settings.config, output_reservation=0)
        self._listener = listener
        self._open: OrderedDict[str, Lane] = OrderedDict()
        self._histories = Histories(settings.directory)
        self._left: OrderedDict[str, LaneView] = OrderedDict()
        self._done = Counts()
        self._mutex = threading.Lock()
        self._gates: weakref.WeakValueDictionary[str, threading.Lock] = weakref.WeakValueDictionary()
        self._plugins = Plugins.discover()  # once for all lanes: it would be half of what a lane takes to begin
        self.slots = threading.Semaphore(SLOTS)
        check_config(self._config, self._plugins, format=CHAT.format, model=_ANY_MODEL)
        private(settings.directory)

    @contextlib.contextmanager
    def lane(self, lane_id: LaneId, format_name: str, content: Content) -> Iterator[Lane]:
        """Hold the lane of a turn, which is begun if there is none; other requests of the lane wait."""
        history = None if lane_id.name else self._read(lane_id, content)
        key = lane_id.folder if history is None else self._by_history(history)
        with self.again(key or f"{lane_id.scope}-{uuid.uuid4().hex[:24]}", lane_id, format_name, content) as lane:
            try:
                yield lane
            finally:
                self._remember(lane, history)  # also where the list does not fit: it has been taken in

    def known(self, lane_id: LaneId, content: Content) -> str:
        """Return the key of the lane of a request that begins none; "" if there is no such lane."""
        found = None if lane_id.name else self._histories.find(self._read(lane_id, content))
        key = lane_id.folder if lane_id.name else "" if found is None else found.key
        is_there = self.find(key) is not None or (self._settings.directory / key / "master.jsonl").exists()
        return key if key and is_there else ""

    @contextlib.contextmanager
    def again(self, key: str, lane_id: LaneId, format_name: str, content: Content) -> Iterator[Lane]:
        """Hold a lane that is known by its key; a request that waits for another one of its lane computes nothing."""
        while True:
            lane = self._used(key, lane_id, format_name, content)
            with lane.lock:
                if self._open.get(key) is not lane:
                    continue  # it left memory before this request held it
                with self.slots:
                    yield lane
                return

    def find(self, key: str) -> Lane | None:
        """Return the lane in memory with this directory's name; None if it is not there."""
        with self._mutex:
            return self._open.get(key)

    @contextlib.contextmanager
    def changing(self, key: str) -> Iterator[GCSession]:
        """
        Hold the session of a lane to change its window: the one in memory, or else one that is opened for this alone.
        Raises LogError where there is none, or another process writes it.
        """
        while (lane := self.find(key)) is not None:
            with lane.lock:
                if self._open.get(key) is not lane:
                    continue  # it left memory before this call held it
                lane.used = time.monotonic()
                yield lane.session
                return
        if not is_key(key):
            raise LogError(f"{key[:LONGEST_NAME]!r} is no lane of {self._settings.directory}")
        with self._gate(key), GCSession.open_idle(self._settings.directory / key) as session:
            yield session

    def close_idle(self, now: float | None = None) -> int:
        """Close the lanes that were idle for too long, and the least used of too many; return their number."""
        moment = time.monotonic() if now is None else now
        with self._mutex:
            over = len(self._open) - self._settings.open_lanes
            return self._close(
                lane
                for place, lane in enumerate(self._open.values())
                if place < over or moment - lane.used > self._settings.idle_seconds
            )

    def close(self) -> None:
        """Close all lanes."""
        for lane in self.open:
            with lane.lock, self._mutex:  # in this order: a request inside takes the second one before it leaves
                if self._open.pop(lane.key, None) is lane:
                    self._leave(lane)

    def totals(self) -> Counts:
        """Return what all lanes have done since the gateway started, including those that left memory."""
        return self.overview().totals

    def passed(self, *, counted: bool) -> None:
        """Count a call that was sent as it came; ``counted`` where its lane has counted it among its calls."""
        with self._mutex:
            self._done = self._done.plus(Counts(calls=0 if counted else 1, passed=1))

    @property
    def busiest(self) -> str:
        """The key of the lane with the most calls since the gateway started; "" if none was opened."""
        lanes = self.overview().lanes
        return max(lanes, key=lambda lane: lane.counts.calls).key if lanes else ""

    @property
    def open(self) -> tuple[Lane, ...]:
        """The lanes in memory, the latest last."""
        with self._mutex:
            return tuple(self._open.values())

    def overview(self) -> Overview:
        """Return what is shown of all lanes."""
        with self._mutex:
            lanes = (*self._left.values(), *(lane.view() for lane in self._open.values()))
            done = self._done
        for lane in lanes:
            done = done.plus(lane.counts) if lane.is_open else done
        return Overview(lanes=lanes, totals=done)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _close(self, lanes: Iterable[Lane]) -> int:
        """Close those of the lanes in which there is no request; return their number."""
        closed = [lane for lane in lanes if lane.lock.acquire(blocking=False)]
        for lane in closed:
            del self._open[lane.key]
            self._leave(lane)
            lane.lock.release()
        return len(closed)

    def _leave(self, lane: Lane) -> None:
        """Close a lane's session, and keep what is shown of it."""
        lane.session.close()
        self._done = self._done.plus(lane.counts)
        self._left[lane.key] = lane.view(is_open=False)
        while len(self._left) > MOST_LEFT:
            self._left.popitem(last=False)

    def _used(self, key: str, lane_id: LaneId, format_name: str, content: Content) -> Lane:
        """Return a lane, opened if it has to be: beside other lanes, and once where several requests ask for it."""
        with self._gate(key):
            with self._mutex:
                lane = self._open.get(key)
                if lane is not None:
                    self._open.move_to_end(key)
                    lane.used = time.monotonic()
                    return lane
            with self.slots:
                lane = self._opened(key, lane_id, format_name, content)
            with self._mutex:
                self._close([*self._open.values()][: max(0, len(self._open) - self._settings.open_lanes + 1)])
                self._left.pop(key, None)
                self._open[key] = lane
        return lane

    def _gate(self, key: str) -> threading.Lock:
        """Return the lock of whoever opens the directory of a lane."""
        with self._mutex:
            return self._gates.setdefault(key, threading.Lock())

    def _opened(self, key: str, lane_id: LaneId, format_name: str, content: Content) -> Lane:
        directory = private(self._settings.directory) / key
        session = None
        if (directory / "master.jsonl").exists():
            try:
                session = GCSession.open(directory, self._config, plugins=self._plugins)
            except LogError as error:
                _log.warning("lane cannot be opened", lane=key, error=str(error)[:500])
                directory = directory.with_name(f"{key}-{uuid.uuid4().hex[:8]}")
        if session is None:
            session = GCSession(
                self._config, format=format_name, model=content.model or None, directory=directory,
                plugins=self._plugins,
            )  # fmt: skip
            made = LaneFile(client=lane_id.client, format=format_name, name=lane_id.name, parent=lane_id.parent)
            made.write(directory)
        reserved, file = self._settings.config.output_reservation, LaneFile.read(directory)
        lane = Lane(
            key=key, id=lane_id, format=format_name, session=session, file=file, tools=file.has_tools,
            reply_tokens=reserved,
        )  # fmt: skip
        session.listen(lambda event: self._heard(lane, event))
        return lane

    def _heard(self, lane: Lane, event: Event) -> None:
        lane.heard(event)
        if self._listener is not None:
            self._listener(lane, event)

    def _read(self, lane_id: LaneId, content: Content) -> History:
        return self._histories.read(lane_id.scope, content.messages, self._session, system=content.leading)

    def _by_history(self, history: History) -> str:
        """Return the key of the lane that a list goes on with; "" for none."""
        found = self._histories.find(history)
        return found.key if found is not None and found.goes_on(history, self._session(found.key)) else ""

    def _session(self, key: str) -> GCSession | None:
        """Return the session of a lane in memory."""
        lane = self.find(key)
        return None if lane is None else lane.session

    def _remember(self, lane: Lane, history: History | None) -> None:
        """Write down by what the lane is found again, if that is news."""
        if history is not None:
            self._histories.remember(history, lane.key, lane.session.directory)
        if lane.tools != lane.file.has_tools:
            lane.file = attrs.evolve(lane.file, has_tools=lane.tools)
            lane.file.write(lane.session.directory)


def _parted(request: Request, content: Content) -> Request:
    """Return the request with the system text apart from the messages, also where a session writes it as the first."""
    first = request.messages[0] if content.leading and request.messages else {}
    if first.get("role") != "system":
        return request
    blocks = first["content"] if isinstance(first["content"], list) else ()
    own = blocks[1:]  # the first one is the client's
    return attrs.evolve(request, messages=request.messages[1:], system=(*(content.system or ()), *own))


def tokens_left_out(given: Sequence[Any], sent: Sequence[Any]) -> int:
    """
    Return about how many tokens a list has more than what is sent for it, from the letters of both: at a fourth of a
    token each, which is less than most texts take.

    Messages that are the same objects are not looked at. Nor are long strings without a space: images and signatures,
    whose letters say nothing of their tokens.
    """
    ours = {id(message) for message in sent}
    theirs = {id(message) for message in given}
    gone = sum(_letters(message) for message in given if id(message) not in ours)
    instead = sum(_letters(message) for message in sent if id(message) not in theirs)
    return max(0, gone - instead) // LETTERS_PER_TOKEN


def _letters(value: object) -> int:
    if isinstance(value, str):
        return 0 if len(value) > LONG and not any(map(str.isspace, value[:LONG])) else len(value)
    if isinstance(value, Mapping):
        return sum(map(_letters, value.values()))
    return sum(map(_letters, value)) if isinstance(value, list) else 0


def begins_aside(lane_id: LaneId, content: Content) -> bool:
    """True for a request without tools that comes before an agent's conversation: a title is asked for first."""
    return lane_id.is_agent and not content.tools and not _is_answered(content)


def _is_answered(content: Content) -> bool:
    """True if a list has a reply of the model's."""
    return any(isinstance(each, Mapping) and each.get("role") in {"assistant", "model"} for each in content.messages)
