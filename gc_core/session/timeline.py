"""What a session can do with its past: recall, search, undo, restore, go back, branch."""

from __future__ import annotations

import abc
import contextlib
import functools
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import RLock
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, Unpack

import attrs

from gc_core.errors import LogError, SessionClosedError, SourceError
from gc_core.learning.contract import FactExtractor
from gc_core.learning.extraction import WordedExtractor
from gc_core.learning.proposals import Proposal, Said, proposals_for
from gc_core.observer import UNWATCHED, Watch
from gc_core.plugins.manager import Plugins
from gc_core.plugins.redaction import masked_name
from gc_core.storage import ledger as ledgers
from gc_core.storage import master_log as logs
from gc_core.storage.checkpoints import Checkpoint, Checkpoints
from gc_core.storage.contents import Passage, passages_of
from gc_core.storage.facts import FactChange, FactStore, Promotion
from gc_core.storage.ledger import Collected, Purged, Rewound, Undone
from gc_core.storage.master_log import LogRecord, text_of
from gc_core.storage.originals import RewoundRanges, items_of
from gc_core.storage.rebuild import survives_rewinds
from gc_core.storage.recorder import Recorder
from gc_core.storage.search import Filters, Hit, SearchIndex
from gc_core.storage.search.index_file import FILE_NAME
from gc_core.storage.search.indexer import Indexer
from gc_core.storage.search.record_texts import parts_of
from gc_core.storage.state import Position, SessionState, Settings, digest_of_messages
from gc_core.storage.store import Store
from gc_core.values.items import Item, ItemKind
from gc_core.values.loggers import Scope, bound, logger
from gc_core.values.messages import Role
from gc_core.values.policy import GCPolicy
from gc_core.values.references import ByteRange
from gc_core.values.sources import CONVERSATION, InstructionSource
from gc_core.window.memory_blocks import Block

_log = logger("gc_core.session")

_ID = re.compile(r"\bi(\d{1,18})(?:-i(\d{1,18}))?\b", re.ASCII)
_RANGE = re.compile(re.escape(logs.FILE_NAME) + r":(\d{1,18})-(\d{1,18})")

_FACTS, _KNOWN, _FACTS_LAYER = "facts", "known", 20
_SEAM = 8
"""Tokens that a text may have more inside a frame than alone."""

P = ParamSpec("P")
R = TypeVar("R")


class Locked(Protocol):
    """What takes one call at a time."""

    _scope: Scope
    _watch: Watch

    def _entered(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Inside, no other thread calls it."""


S = TypeVar("S", bound=Locked)


def synchronized(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Overlapping calls from threads wait for each other; a closed session refuses them."""

    @functools.wraps(method)
    def call(session: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with bound(session._scope), session._watch.call(method.__name__), session._entered(method.__name__):
            return method(session, *args, **kwargs)

    return call


@attrs.frozen(kw_only=True)
class HistoryEntry:
    """
    Something that was done to the window.

    Attributes:
        place: Where the ledger holds it.
        time: Seconds since 1970.
        what: ``collected``, ``restored``, ``undone``, ``redone``, ``rewound`` or ``purged``.
        text: What came of it, in words.
        in_force: Of a collection or restored item: it has not been undone.
        record: The whole of a collection, with its final texts; None for the others.
        span: In which it was done, as ``trace-span`` in hex, where telemetry watched; else "".

    """

    place: ByteRange
    time: float
    what: str
    text: str
    in_force: bool = False
    record: Collected | None = attrs.field(default=None, repr=False)
    span: str = ""


class Past(abc.ABC):
    """The part of ``GCSession`` that looks back. A call from another thread waits."""

    _lock: RLock
    _closed: bool
    _scope: Scope
    _recorder: Recorder
    _settings: Settings
    _indexer: Indexer | None
    _watch: Watch = UNWATCHED
    plugins: Plugins

    @property
    def _store(self) -> Store:
        return self._recorder.store

    @property
    def _is_over(self) -> bool:
        """Whether no call is taken: it was closed, or this is a forked child."""
        return self._closed or self._store.is_inherited

    @property
    def format(self) -> str:
        """Name of the provider's message shape, ``"openai"`` for instance."""
        return self._recorder.state.format.name

    @property
    def directory(self) -> Path:
        """Where the session's files lie; a temporary one ends with the session."""
        return self._store.directory

    # -- looking back --------------------------------------------------------------------------------------------

    @synchronized
    def recall(self, item: str) -> str:
        """
        The original text of an item, as it arrived: resident or not, also of an earlier life of the session.

        Takes an id (``i42``), a range of ids (``i5-i20``), a byte range (``master.jsonl:123-456``), or the whole text
        of a stub or trace that names one. What a range names is told item by item. Raises SourceError when the id was
        never given, LogError when no line stands at the bytes.
        """
        texts = [f"[{key}]\n{text}" for key, text in self._recalled(item)]
        return texts[0].partition("\n")[2] if len(texts) == 1 else "\n\n".join(texts)

    @synchronized
    def contents(self, reference: str) -> tuple[Passage, ...]:
        """
        What a reference of a long stretch names, part by part, at most 20 of them: each with a reference of its own,
        to ``recall`` the one that is wanted instead of all. Takes what ``recall`` takes, and raises what it raises.
        """
        form = self._recorder.state.format
        named = ((key, record, dict(parts_of(record, form))) for key, record in self._named(reference))
        return passages_of((key, record.turn, parts[key]) for key, record, parts in named if key in parts)

    @synchronized
    def search(self, query: str, **filters: Unpack[Filters]) -> tuple[Hit, ...]:
        """
        What was ever said that matches, best first, at most ``limit`` (10): see ``SearchIndex.search``.

        Filters: tool, role, first_turn, last_turn, since, until (seconds since 1970), entity. Over finished sessions
        see ``gc_core.search_sessions``.
        """
        # Opened anew each time, in half a millisecond: an idle session holds no file open.
        with contextlib.closing(SearchIndex(self._index_path, self._store.log, self._recorder.state.format)) as index:
            return index.search(query, **filters)

    @synchronized
    def history(self) -> tuple[HistoryEntry, ...]:
        """What was done to the window, oldest first; reads the whole ledger."""
        done = set(self._recorder.state.done)
        return tuple(
            attrs.evolve(_told(place, entry.time, entry.record, in_force=place in done), span=entry.span)
            for place, entry in self._store.ledger.entries()
            if isinstance(entry.record, (Collected, Undone, Rewound, Purged))
        )

    # -- memory across sessions ----------------------------------------------------------------------------------

    @synchronized
    def promote(self, facts: FactStore, promotions: Iterable[Promotion]) -> tuple[FactChange, ...]:
        """
        Keep facts, decisions and constraints for later sessions, each with the item of this one that tells it; before
        ``close``. All or none. Raises SourceError when an item was never logged, LogError when one names a fact that
        does not live, or they cannot be written.
        """
        if self.plugins.redacts:
            promotions = [self._redacted(each) for each in promotions]
        return facts.promote(promotions, session=self._store.session, locate=self._line_of)

    @synchronized
    def propose(self, facts: FactStore, extractor: FactExtractor | None = None) -> tuple[Proposal, ...]:
        """
        What this session's users said that is worth knowing later, compared with what is known: additions, updates,
        deletions, and what is left as it is. Nothing is written: hand what you confirm to ``accept``.

        Reads the whole log. What was accepted before, or said before a fact was, is not proposed again; what you
        passed over is. Raises LogError when the log cannot be read, SourceError when the extractor names an item that
        no user said.

        Args:
            facts: What is known; read anew with ``FactStore(path)`` where another session may have promoted.
            extractor: Finds the statements, for instance by a model; by default ``WordedExtractor``.

        """
        said = dict(self._user_items())
        items = tuple(item for item, _ in said.values())
        stated = (WordedExtractor() if extractor is None else extractor).extract(items)
        for each in stated:
            if each.item not in said:
                raise SourceError(f"{each.text!r:.100} is of item {each.item!r}, which is no text of a user's here")
        moments = {key: moment for key, (_, moment) in said.items()}
        return proposals_for(stated, facts, moments, self._store.session)

    @synchronized
    def accept(self, facts: FactStore, proposals: Iterable[Proposal]) -> tuple[FactChange, ...]:
        """
        Carry out what ``propose`` proposed, as ``promote`` does: all or none, and in their order.

        Raises LogError, with nothing written, when another session has changed one of the facts since; propose anew.
        """
        return self.promote(facts, [each.promotion for each in proposals if each.promotion is not None])

    @synchronized
    def load_facts(self, facts: FactStore, *, cap: int = 1_000) -> None:
        """
        Put what earlier sessions promoted at the end of the next request, as the memory block ``known`` of the source
        ``facts``, in at most ``cap`` tokens; what does not fit is named by number, what has to do with the objective,
        where there is one, and what is newest stays. Raises SourceError for another cap than before.
        """
        self._recorder.register(
            InstructionSource(name=_FACTS, policy=GCPolicy.PRESERVABLE, layer=_FACTS_LAYER, cap=cap)
        )
        counter = self._recorder.state.counter
        frame = counter.count(Block(source=_FACTS, name=_KNOWN, text="", kind=ItemKind.MEMORY_BLOCK).framed)
        text = facts.text(counter, max(0, cap - frame - _SEAM), self._recorder.state.objective.text)
        self._recorder.state.give(_FACTS, {_KNOWN: text})

    # -- undoing -------------------------------------------------------------------------------------------------

    @synchronized
    def undo(self) -> bool:
        """
        Take the last collection (or restored item) back; False when there is none.

        What had left stands where it stood, checked by its digest, and is pinned until ``release``. Nothing is refused
        here for its size: a warning in the log says so, and ``pre_send`` raises by how much. Raises LogError, with
        nothing changed, when the files do not hold what was there.
        """
        tokens, undone = self._tokens, self._recorder.undo() is not None
        if undone:
            _log.info("collection undone", tokens_before=tokens, tokens_after=self._tokens)
            self._window_changed()
        return undone

    @synchronized
    def redo(self) -> bool:
        """
        Do again what was undone last; False when there is nothing, or something was collected since. Raises
        SourceError for what the host has pinned or LOCKED meanwhile.
        """
        tokens, redone = self._tokens, self._recorder.redo() is not None
        if redone:
            _log.info("collection redone", tokens_before=tokens, tokens_after=self._tokens)
            self._window_changed()
        return redone

    @synchronized
    def restore(self, item: str) -> None:
        """
        Bring one collected item back where it stood, with the whole unit that lives and dies with it; pinned until
        ``release``. Raises SourceError when no collection in force took it, and RuleError when the request would not
        be valid with it.
        """
        tokens = self._tokens
        self._recorder.restore(item)
        _log.info("item restored", item=item, tokens_before=tokens, tokens_after=self._tokens)
        self._window_changed()

    @synchronized
    def release(self) -> None:
        """What ``undo`` and ``restore`` had brought back may be collected again."""
        self._recorder.release()
        _log.info("pins released")

    # -- going back ----------------------------------------------------------------------------------------------

    @synchronized
    def rewind(self, turn: int) -> None:
        """
        Go back to the moment before a turn (counted from 0). The log keeps what came since, and a record marks it.

        Ids go on: none is given twice. Raises SourceError when there was no such turn.
        """
        to = self._recorder.turn_began(turn)
        self._go_back(to, f"before turn {turn}", self._store.state_at(to, self._fresh))

    @synchronized
    def checkpoint(self) -> Checkpoint:
        """Write the state as it is, to go back to. Raises LogError when it cannot be written."""
        return self._store.checkpoint(self._recorder.state)

    @synchronized
    def rollback(self, checkpoint: Checkpoint | None = None) -> Checkpoint:
        """
        Go back to a checkpoint, by default the newest. Raises LogError when there is none, it was itself taken back,
        or the messages are not those of then; and for what is no checkpoint.
        """
        if not isinstance(checkpoint, Checkpoint | None):
            raise LogError(f"checkpoint = {checkpoint!r:.200}: expected one that checkpoint() gave")
        target = checkpoint or self._newest_checkpoint()
        where = f"the checkpoint at {target.at.log}"
        if target.session != self._store.session or not self._store.reaches(target.at):
            raise LogError(f"{where} is of another session or branch")
        if not survives_rewinds(self._store.ledger, target.at, self._store.position):
            raise LogError(f"{where} was itself taken back")
        state = self._store.state_at(target.at, self._fresh)
        found = digest_of_messages(state.context.messages)
        if found != target.digest:
            raise LogError(f"{where} has digest {target.digest}; the files tell {found}")
        self._go_back(target.at, where, state)
        return target

    @synchronized
    def _fork_to(self, directory: Path, at: int | None) -> None:
        position = self._store.position if at is None else self._recorder.turn_began(at)
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise LogError(f"{directory} is not empty; a branch needs a directory of its own")
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name, size in ((logs.FILE_NAME, position.log), (ledgers.FILE_NAME, position.ledger)):
                _copy(self.directory / name, directory / name, size)
        except OSError as error:
            shutil.rmtree(directory, ignore_errors=True)
            raise LogError(f"the branch {directory} cannot be written: {error}") from error
        with contextlib.suppress(LogError):  # it is kept at the plugin border; log and ledger tell the same
            self._copy_checkpoints(self._checkpoints_in(directory.absolute()), position)

    # -- inside --------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _entered(self, name: str) -> Iterator[None]:
        """Inside, no other thread calls the session; a closed one raises SessionClosedError."""
        # Before the lock: whoever held it when this process was forked never gives it back here.
        self._store.check_process(name.strip("_"))
        with self._lock:
            if self._closed:
                raise SessionClosedError(f"{name.strip('_')}() on a closed session")
            self._rebuild_if_stale()
            yield

    def _rebuild_if_stale(self) -> None:
        """Make the state anew that an interrupt left half done."""
        if self._recorder.is_stale:
            self._recorder.renew(self._store.state_at(self._store.position, self._fresh))

    @abc.abstractmethod
    def _window_changed(self) -> None:
        """Something else than a collection changed the window."""

    def _follow_with_index(self) -> None:
        """The search index of a session that is kept is filled behind the append path, by a thread of its own."""
        if self._store.temporary:
            return
        if self._indexer is None:
            self._indexer = Indexer(self._index_path, self._store.log, self._recorder.state.format)
        self._indexer.notify()

    def _close_files(self) -> None:
        if self._indexer is not None:
            self._indexer.stop()
        self._store.close()

    def _fresh(self) -> SessionState:
        store = self._store
        return self._settings.fresh(store.payload, cites=not store.temporary)

    @property
    def _tokens(self) -> int:
        """Of the request as it stands, uncalibrated."""
        return self._recorder.state.context.budget.total

    @property
    def _index_path(self) -> Path:
        return self.directory / FILE_NAME

    def _go_back(self, to: Position, why: str, state: SessionState) -> None:
        """What the host set stays as it is: model and window, sources, and what waits for the next request."""
        was = self._recorder.state
        tokens = self._tokens
        self._recorder.rewind(to, state, why)
        _log.info("session went back", to=why, tokens_before=tokens, tokens_after=self._tokens)
        if state.configured != was.configured:
            self._recorder.configure(was.configured)
        for source in was.context.budget.sources:
            self._recorder.register(source)
        for block in was.blocks.given:
            state.give(block.source, {block.name: block.text})
        with contextlib.suppress(LogError):  # it is done and written; a checkpoint only makes it quick
            self._store.checkpoint(self._recorder.state)
        self._window_changed()

    def _checkpoints_in(self, directory: Path) -> Checkpoints:
        """Where the configuration keeps the checkpoints of a directory. Raises ConfigError where it cannot."""
        name = self._settings.config.memory_backend
        return Checkpoints(self.plugins.memory_backend(name, directory), name, self.plugins.guarded)

    def _copy_checkpoints(self, to: Checkpoints, until: Position) -> None:
        known = self._store.checkpoints
        for key in known.moments(until):
            data = known.data(key)
            if data is not None:
                to.put(key, data)

    def _line_of(self, item: str) -> ByteRange:
        found = self._store.log.find(int(item[1:]))
        if found is None:
            raise SourceError(f"no item {item!r} was ever logged; a fact needs one that tells it")
        return found[0]

    def _redacted(self, promotion: Promotion) -> Promotion:
        redact, states = self.plugins.redact, promotion.states
        if states is not None:
            relation = masked_name(states.relation, redact)
            states = attrs.evolve(
                states, subject=redact(states.subject), relation=relation, object=redact(states.object)
            )
        return attrs.evolve(promotion, text=redact(promotion.text) if promotion.text else None, states=states)

    def _user_items(self) -> Iterator[tuple[str, tuple[Item, Said]]]:
        """What users said, as far as nobody went back behind it, with the time at which it was said."""
        state, log = self._recorder.state, self._store.log
        taken_back = RewoundRanges.of(self._store.ledger)
        for place, record in log.records(0, log.size):
            if record.role != Role.USER.value or record.source != CONVERSATION.name or taken_back.holds(place):
                continue
            for item in items_of([record], state.format, state.counter):
                if item.kind is ItemKind.USER_TEXT:
                    yield item.id, (item, Said(time=record.time, turn=record.turn))

    def _newest_checkpoint(self) -> Checkpoint:
        newest = self._store.newest_checkpoint()
        if newest is None:
            raise LogError(f"{self.directory} holds no checkpoint to go back to")
        return newest

    def _recalled(self, item: str) -> list[tuple[str, str]]:
        form = self._recorder.state.format
        return [(key, text_of(record, key, form)) for key, record in self._named(item)]

    def _named(self, item: str) -> list[tuple[str, LogRecord]]:
        """The items that a reference names, with their records. Raises SourceError where there is none."""
        if not isinstance(item, str):
            raise SourceError(f"item = {item!r}: expected a reference as text")
        named, place = _ID.search(item[item.rfind("[gc:") + 1 :]), _RANGE.search(item)
        found: list[tuple[str, LogRecord]] = []
        if named is not None:
            found = self._of_items(int(named.group(1)), int(named.group(2) or named.group(1)))
        elif place is not None:
            found = self._of_bytes(int(place.group(1)), int(place.group(2)))
        if not found:
            expected = "i42, i5-i20, master.jsonl:START-END or a whole [gc: ...] line; search() finds text"
            raise SourceError(f"no item {item!r:.200} was ever logged; expected {expected}")
        return found

    def _of_items(self, first: int, last: int) -> list[tuple[str, LogRecord]]:
        numbers = range(first, min(last, self._recorder.state.numbers.items) + 1)
        known = ((number, self._store.log.find(number)) for number in numbers)
        return [(f"i{number}", found[1]) for number, found in known if found is not None]

    def _of_bytes(self, start: int, end: int) -> list[tuple[str, LogRecord]]:
        """Of whole lines alone: a range that was made up may begin anywhere, and is refused."""
        inside = end <= self._store.log.size
        records = [record for _, record in self._store.log.records(start, end)] if inside else []
        if not records:
            raise LogError(f"{self._store.log.journal.path}: bytes {start}-{end} hold no line")
        return [(key, record) for record in records for key in record.items if key]


def _told(place: ByteRange, time: float, record: Any, *, in_force: bool) -> HistoryEntry:
    match record:
        case Collected():
            why = "" if record.reason is None else f"{record.reason.value}: "
            what = "collected" if record.reason else "restored"
            text = f"{why}{record.tokens_before:,} to {record.tokens_after:,} tokens"
            return HistoryEntry(place=place, time=time, what=what, text=text, in_force=in_force, record=record)
        case Undone():
            what = "redone" if record.redone else "undone"
            text = f"the collection at byte {record.place.start:,} of the ledger"
            return HistoryEntry(place=place, time=time, what=what, text=text)
        case Purged():
            text = f"{record.occurrences} times, for {record.by}"
            return HistoryEntry(place=place, time=time, what="purged", text=text)
    return HistoryEntry(place=place, time=time, what="rewound", text=record.why)


def _copy(source: Path, target: Path, size: int) -> None:
    with source.open("rb") as old, target.open("xb") as new:
        target.chmod(0o600)
        left = size
        while left and (part := old.read(min(left, 1 << 20))):
            new.write(part)
            left -= len(part)
