"""Carries a script out on a session, and looks after each step whether the promises hold."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest import mock

import attrs

import gc_core as gc
import gc_core.session.session  # before the clock is patched: a default of its modules is the real one
from gc_core.errors import (
    InconsistentReplyError,
    LogError,
    MessageError,
    RereadLoopError,
    RuleError,
    SourceError,
    SpendLimitError,
)
from gc_core.events import CollectionFinished, ProviderCompacted
from gc_core.session.recall_suggestions import auto_expand
from gc_core.storage.audit import verify
from tests.fuzz.histories import Script, Step
from tests.fuzz.plain import JSON, canonical
from tests.fuzz.promises import (
    Breach,
    Held,
    Sealed,
    bare_id_breaches,
    difference,
    error_breach,
    flat,
    head,
    last_thinking_breaches,
    log_breaches,
    normalised,
    reasoning_before,
    recall_breaches,
    request_breaches,
    texts_of,
    window_of,
)
from tests.fuzz.shapes import SHAPES

# Processor time that one call may take: far above what any of these histories needs, far below what a pattern of
# quadratic time takes.
SLOW_SECONDS = 2.0


# As long as the path of a directory is, whatever the machine.
PATH_LETTERS = 32
# A reader reads all files once more: one in so many sessions is looked at by one.
READ_EVERY = 4
# What is left of a late result that is cut: its frame, and what was left out.
LINE_TOKENS = 75
# Of the window: a request that a provider may find too long.
LARGE = 0.7


class RefusedError(Exception):
    """What a provider says of a request that is too long."""


class Refuses:
    """A plugin that finds every reply inconsistent."""

    @gc.hookimpl
    def gc_validate_reply(self, reply: JSON) -> gc.Inconsistency:
        return gc.Inconsistency(reason=f"a reply of {len(reply)} fields")


@attrs.define
class Clock:
    """
    A clock that tells the same times in every run: the log holds them, and offsets into it are in the window. All of
    them have three decimals, and no other thread moves it on.
    """

    now: float = 1_795_438_301.125

    def __call__(self) -> float:
        if threading.current_thread() is threading.main_thread():
            self.now += 0.25
        return self.now


@attrs.define
class Run:
    """One script, the session that it drives, and what was seen."""

    script: Script
    directory: Path
    breaches: list[Breach] = attrs.Factory(list)
    requests: int = 0
    overflows: int = 0
    session: gc.GCSession = attrs.field(init=False)
    usable: int = attrs.field(init=False)
    held: Held = attrs.Factory(Held)
    sealed: Sealed = attrs.Factory(Sealed)
    led_to: dict[str, str] = attrs.Factory(dict)
    appended: list[str] = attrs.Factory(list)
    taken: dict[tuple[str, ...], JSON] = attrs.Factory(dict)
    newest_reply: JSON | None = None
    last: list[str] | None = None
    standing: int = 0
    last_head: str = ""
    broken: bool = False
    head_waits: bool = False
    replied: bool = False
    over: bool = False
    stands: bool = False
    pinned_turns: set[int] = attrs.Factory(set)

    model: str | None = None
    locked_sources: set[str] = attrs.Factory(set)
    unsent: set[str] = attrs.Factory(set)

    def __attrs_post_init__(self) -> None:
        self.model = self.script.model
        self.pinned_turns.update(self.script.config.get("pinned_turn_indices", ()))
        self.usable = self.script.usable

    def go(self) -> list[Breach]:
        """Carry out all steps, and the end: closed, opened, compared, verified."""
        with mock.patch("time.time", Clock()):
            self._make()
            for step in self.script.steps:
                if not self.over:
                    self._step(step)
            self._end()
        return self.breaches

    def _make(self) -> None:
        config = gc.GCConfig(**self.script.config)
        self.session = gc.GCSession(
            config,
            format=self.script.format,
            model=self.script.model,
            directory=self.directory,
            plugins=installed(),
            on_event=self._hear,
        )

    def _hear(self, event: object) -> None:
        if isinstance(event, CollectionFinished | ProviderCompacted):
            self.broken = True

    def breach(self, *breaches: Breach) -> None:
        """Note each kind once."""
        known = {breach.kind for breach in self.breaches}
        self.breaches += [breach for breach in breaches if breach.kind not in known]

    def _step(self, step: Step) -> None:
        started = time.process_time()
        with self._guarded(step.do, *ALLOWED.get(step.do, ()), *((MessageError,) if step.odd else ())):
            getattr(self, f"do_{step.do}")(**step.given)
        if time.process_time() - started > SLOW_SECONDS:
            self.breach(Breach(f"slow: {step.do}", f"{time.process_time() - started:.1f} s"))

    @contextmanager
    def _guarded(self, call: str, *documented: type[BaseException]) -> Iterator[None]:
        try:
            yield
        except documented:
            pass
        except Exception as error:  # noqa: BLE001 - every error is a breach, and is reported
            self.breach(error_breach(error, call))

    # -- the loop

    def do_append(self, message: JSON, policy: str | None, role: str) -> None:
        before = canonical(message)
        options = {} if policy is None else {"policy": gc.GCPolicy(policy)}
        ids = self.session.append(message, **options)
        if canonical(message) != before:
            self.breach(Breach("changed: append changed the host's message", before[:300]))
        self.appended.append(before)
        if role != "system" and ids:
            self.taken[ids] = message
        self._hold(message, role, policy, ids)

    def _hold(self, message: JSON, role: str, policy: str | None, ids: tuple[str, ...]) -> None:
        original = role == "user" and not self.replied and policy is None
        if role == "system" and self.script.format != "gemini":
            original = True
        if original or policy == "locked":
            for place, text in enumerate(texts_of(message)):
                self.held.hold(f"{'original' if role == 'user' else role} {ids} {place}", text)

    def do_call(self, reply: JSON, usage: float | None) -> None:
        if not self._send():
            return
        self.sealed.take(reply)
        before = canonical(reply)
        options = {} if usage is None else {"usage": self._usage(usage)}
        self.led_to |= reasoning_before(reply)
        self.session.post_turn(reply, **options)
        self.replied = True
        self.newest_reply = reply
        self.appended.append(before)
        if canonical(reply) != before:
            self.breach(Breach("changed: post_turn changed the host's reply", before[:300]))

    def do_call_by_item(self, items: list[JSON]) -> None:
        """A reply that the host appends item by item, as the client lists them."""
        if not self._send():
            return
        self.led_to |= reasoning_before({"output": items})
        for item in items:
            self.sealed.take(item)
            self.session.append(item)
            self.appended.append(canonical(item))
        self.replied = True

    def do_refuse(self, reply: JSON) -> None:
        """A reply that a plugin refuses: it is not taken, and the session goes on."""
        if not self._send():
            return
        self.broken = True
        self.session.plugins.register(Refuses(), name="refuses")
        try:
            self.session.post_turn(reply)
        except InconsistentReplyError:
            self.held.let_go("pinned")
        else:
            self.breach(Breach("refused: an inconsistent reply was taken", canonical(reply)[:300]))
        finally:
            self.session.plugins.unregister("refuses")

    def _usage(self, share: float) -> JSON:
        return SHAPES[self.script.format]().usage(int(self.session.budget.total * share))

    def do_send(self) -> None:
        self._send()

    def _send(self) -> bool:
        """One request, everything that is promised of it, and another one with nothing new between."""
        request = self._request()
        if request is None:
            return False
        self.requests += 1
        self.unsent.clear()
        now = flat(self.script.format, request)
        self.breach(
            *request_breaches(self.session, request, self._room(request)),
            *self.held.breaches(request),
            *self.sealed.breaches(request),
            *(last_thinking_breaches(request, self.newest_reply) if self.model in FREE_THINKING else ()),
            *bare_id_breaches(request, self.led_to),
        )
        if self.last is not None and not self.broken:
            before = self.last[: self.standing]
            if now[: len(before)] != before:
                self.breach(Breach("still: the prefix changed without a collection", difference(before, now)))
            if head(request) != self.last_head:
                self.breach(Breach("still: the head changed without a collection", f"{self.last_head} {head(request)}"))
        self.last, self.last_head, self.broken = now, head(request), False
        self.standing = standing_pieces(self.script.format, request)
        self._again(now)
        return True

    def _room(self, request: gc.Request) -> int:
        """Tokens that the request may have by our count: usage reports may say that the provider counts fewer."""
        estimated = self.session.port.estimate(request.tokens)
        return int(self.usable * max(1.0, request.tokens / max(1, estimated)))

    def _request(self) -> gc.Request | None:
        try:
            return self.session.pre_send()
        except gc.ContextOverflowError as error:
            self.overflows += 1
            if self._could_fit(error):
                self.breach(Breach("stuck: overflow, though what is held would fit", str(error)[:400]))
            self.broken = True
        except SpendLimitError:
            if "max_total_tokens" not in self.script.config:
                raise
            self.broken = True
        except RereadLoopError:
            if self.script.config.get("reread_guard") != "raise":
                raise
        return None

    def _could_fit(self, error: gc.ContextOverflowError) -> bool:
        """
        Whether what nothing can shorten takes less than half of the room: LOCKED, pins, the newest step's calls, the
        whole reply where it has thinking (N5), and of what stands from there or from the newest input on (A5), or
        beside system text inside the conversation (N4), a line each.
        """
        if not self.script.config.get("auto_trigger", True):
            return False
        items = self.session.items()
        pinned = {item.unit for item in items if item.pinned or item.turn in self.pinned_turns}
        units = pinned | {item.unit for item in items if item.policy is gc.GCPolicy.LOCKED}
        step = max((item.unit for item in items if item.step >= 0), default=-1)
        heard = (item.unit for item in items if item.kind in HEARD and not item.synthetic)
        newest = min(step, max(heard, default=step))
        thinking = {item.unit for item in items if item.kind is gc.ItemKind.THINKING and item.unit >= step}
        bound = {gc.ItemKind.THINKING, gc.ItemKind.ASSISTANT_TEXT, gc.ItemKind.TOOL_CALL}
        held = [
            item for item in items if item.unit in units or item.fixed or (item.unit in thinking and item.kind in bound)
        ]
        stay = {item.unit for item in items if item.unit >= newest} | units_next_to_system(items)
        answered = [item for item in items if item.unit in stay and item.turn >= 0 and item not in held]
        lines = sum(min(item.tokens, LINE_TOKENS) if item.kind in SHORTENED else item.tokens for item in answered)
        counted, least = sum(error.owners.values()), sum(item.tokens for item in held) + lines
        # What a refusal or a usage report says may mean that each token costs more, or the request as a whole.
        reported = max(least * error.needed / counted, least + error.needed - counted, least)
        return reported < error.limit / 2

    def _again(self, now: list[str]) -> None:
        request = self._request()
        if request is None:
            self.breach(Breach("still: a second pre_send raises what the first did not", ""))
        elif (then := flat(self.script.format, request)) != now:
            what = "adds to" if then[: len(now)] == now else "changes"
            what = f"collects, and {what}" if self.broken else what
            self.breach(Breach(f"still: a second pre_send with nothing appended {what} it", difference(now, then)))
            self.last, self.last_head = then, head(request)
            self.standing = min(self.standing, len(then))
        elif self.broken:
            self.breach(Breach("still: a second pre_send with nothing appended collects", "the request is the same"))
        self.broken = False

    # -- sources

    def do_system(self, parts: dict[str, str], source: str, refresh: str) -> None:
        self.session.system(source=source, refresh=refresh, **parts)
        self.head_waits |= refresh == "break"
        for name, text in parts.items():
            self.held.change(f"system {source}:{name}", text, waits=self.last is not None and refresh == "break")
        if refresh == "now":
            self.broken = True

    def do_tools(self, schemas: list[JSON], discoverable: list[str], refresh: str) -> None:
        self.session.tools(schemas, discoverable=discoverable, refresh=refresh)
        self.head_waits |= refresh == "break"
        if refresh == "now":
            self.broken = True

    def do_register(self, name: str, policy: str, layer: int, cap: int | None) -> None:
        if policy == "locked":
            self.locked_sources.add(name)
        self.session.register_source(gc.InstructionSource(name=name, policy=gc.GCPolicy(policy), layer=layer, cap=cap))

    def do_enrich(self, texts: dict[str, str]) -> None:
        self.session.enrich(**texts)

    def do_memory(self, source: str, texts: dict[str, str]) -> None:
        self.session.memory(source, **texts)
        for name, text in texts.items() if source in self.locked_sources else ():
            self.held.let_go(f"memory {source}:{name}")
            if "<" not in text:  # that is escaped inside a block's frame
                self.held.hold(f"memory {source}:{name}", text)
                self.unsent.add(f"memory {source}:{name}")

    def do_expand(self) -> None:
        auto_expand(self.session)

    def do_stream(self, text: str) -> None:
        self.session.on_stream(text=text)

    def do_objective(self, text: str) -> None:
        self.session.objective = text

    # -- holding

    def _item(self, at: float, *kinds: gc.ItemKind) -> gc.Item | None:
        items = [item for item in self.session.items() if ID.fullmatch(item.id)]
        items = [item for item in items if not kinds or item.kind in kinds]
        return items[int(at * len(items))] if items else None

    def do_pin(self, at: float) -> None:
        item = self._item(at)
        if item is not None:
            self.session.pin(item=item.id)
            self._hold_item(item, "pinned")

    def _hold_item(self, item: gc.Item, why: str) -> None:
        """What was in the last request, and no collection came since, has to stay as it is."""
        sent = self.last or []
        if item.kind in HOLDABLE and not self.broken and any(quoted(item.text) in one for one in sent):
            self.held.hold(f"{why} {item.id}", item.text)

    def do_pin_turn(self, turn: int) -> None:
        self.session.pin(turn=turn)
        self.pinned_turns.add(turn)

    def do_unpin(self, at: float) -> None:
        item = self._item(at)
        if item is not None:
            self.held.let_go(f"pinned {item.id}")
            self.session.unpin(item=item.id)

    def do_set_policy(self, at: float, policy: str) -> None:
        item = self._item(at)
        if item is not None:
            self.session.set_policy(item.id, gc.GCPolicy(policy))
            self.held.let_go("original" if policy != "locked" else "-")
            self.held.let_go(f"locked {item.id}")
            if policy == "locked":
                self._hold_item(item, "locked")
            else:
                self.held.let_go_of_text(item.text)

    # -- collections, and back

    def do_collect(self, target: float | None) -> None:
        self.session.collect_now(target_percent=target)

    def do_there_and_back(self, target: float) -> None:
        """
        A collection and its undoing: the same request as if nothing had been; but system text and tools that waited for
        a break take effect with it, and are the host's own wish.
        """
        if not self._send() or self.last is None or self.head_waits:
            self.head_waits = False
            return
        before = self.last
        freed = self.session.collect_now(target_percent=target).removals
        self.broken = True
        if not freed or not self.session.undo():
            return
        self.broken = False
        request = self._request()
        if request is not None and not self.broken:  # a block that waited may stand behind it
            now = flat(self.script.format, request)[: len(before)]
            if now != before:
                text = difference(before, now)
                self.breach(Breach("undone: undo does not bring back the request of before", text))
        self.broken = True
        self.session.release()

    def do_condense(self, at: float, text: str | int, cap: int | None) -> None:
        item = self._item(at, gc.ItemKind.TOOL_RESULT)
        if item is not None:
            self.session.condense({item.id: text}, cap=cap)

    def do_restore(self, at: float) -> None:
        self.broken = True
        if self.taken:
            ids = tuple(self.taken)[int(at * len(self.taken))]
            self.session.restore(ids[0])
            units = {item.unit for item in self.session.items() if item.id in ids}
            for item in self.session.items():  # the whole unit is back: what was pinned as a stub is none any more
                if item.unit in units:
                    self.held.let_go(f"pinned {item.id}")

    def do_undo(self) -> None:
        self.broken = True
        self.session.undo()

    def do_redo(self) -> None:
        self.broken = True
        self.session.redo()

    def do_release(self) -> None:
        self.session.release()

    def do_checkpoint(self) -> None:
        self.session.checkpoint()

    def do_rollback(self) -> None:
        self._forget()
        self.session.rollback()

    def do_rewind(self, turn: int) -> None:
        self._forget()
        self.session.rewind(turn)

    def _forget(self) -> None:
        """Behind a way back nothing is known of what is held."""
        self.broken = True
        self.held = Held()
        self.newest_reply = None

    def do_recover(self, share: float) -> None:
        """The provider counts a large request as more than its window holds; it says nothing of the kind of a small."""
        if not self._send() or self.session.budget.total < self.usable * LARGE:
            return
        limit = self.script.config["context_limit"]
        words = f"This model's maximum context length is {limit} tokens. However, your messages resulted in "
        self.broken = True
        self.session.recover(RefusedError(f"{words}{int(limit * share)} tokens."))

    def do_switch(self, model: str | None, share: float | None) -> None:
        self.broken = True
        if model:
            self.model = model
            self.newest_reply = None  # the model before may have bound its thinking, which had to go then (N3b)
        if share is None:
            self.session.switch(model=model)
            return
        limit = max(300, int((self.usable + self.script.config["output_reservation"]) * share))
        self.session.switch(model=model, context_limit=limit)
        self.usable = limit - self.script.config["output_reservation"]

    # -- closed and opened again

    def do_reopen(self, sent: bool) -> None:
        if sent and not self._send():
            return
        window = window_of(self.session)
        self.session.close()
        for name in self.unsent:  # a block that was never sent is in no file
            self.held.let_go(name)
        self._open()
        if window_of(self.session) != window:
            text = difference(window, window_of(self.session))
            self.breach(Breach("opened: another window than before", text))
        if sent:
            self._compare_sent()

    def do_kill(self) -> None:
        """What another process would find if this one ended here: a copy of the files, opened in their place."""
        window = said_in(self.session)
        copy = self.directory.with_name(self.directory.name[:-1] + "k")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.directory, copy, copy_function=_copy_if_there)
        try:
            with gc.GCSession.open(copy, plugins=installed()) as session:
                there = said_in(session)
            if there != window:
                self.breach(Breach("killed: a copy of the files has another window", difference(window, there)))
            for finding in verify(copy):
                self.breach(Breach(f"verify: {normalised(finding.text)}", f"{finding.file}: {finding.text[:300]}"))
        finally:
            shutil.rmtree(copy, ignore_errors=True)

    def _open(self) -> None:
        try:
            self.session = gc.GCSession.open(self.directory, plugins=installed(), on_event=self._hear)
        except Exception:
            self.over = True
            raise

    def _compare_sent(self) -> None:
        """What was sent stands as it did, head and messages."""
        self.stands = False
        before, before_head = self.last or [], self.last_head
        request = self._request()
        if request is None:
            self.breach(Breach("opened: pre_send raises what it did not before", ""))
            return
        now = flat(self.script.format, request)
        self.stands = now == before
        if now != before:
            self.breach(Breach("opened: another request than before", difference(before, now)))
        if head(request) != before_head:
            self.breach(Breach("opened: another head than before", f"{before_head[:200]} {head(request)[:200]}"))

    def _end(self) -> None:
        failures = () if self.over else self._failures()
        self.breach(*(Breach(f"failures: {plugin}", text) for plugin, text in failures))
        if not self.over:
            with self._guarded("reopen"):
                self.do_reopen(sent=self.last is not None)
        if not self.over:
            with self._guarded("recall"):
                self.breach(*recall_breaches(self.session, self.taken))
            self.session.close()
        with self._guarded("read log"):
            self.breach(*log_breaches(self.directory, self.appended))
        with self._guarded("read window"):
            self._read_window()
        with self._guarded("verify"):
            for finding in verify(self.directory):
                self.breach(Breach(f"verify: {normalised(finding.text)}", f"{finding.file}: {finding.text[:300]}"))

    def _read_window(self) -> None:
        """A reader of the files sees the request that was sent last."""
        if not self.stands or self.broken or self.script.seed % READ_EVERY:
            return
        with gc.SessionReader(self.directory) as reader:
            now = flat(self.script.format, reader.window())
        if now != self.last:
            self.breach(Breach("opened: a reader sees another window", difference(self.last, now)))

    def _failures(self) -> list[tuple[str, str]]:
        return [(normalised(str(failure)), str(failure)[:400]) for failure in self.session.plugins.failures]


def units_next_to_system(items: list[gc.Item]) -> set[int]:
    """Units before and after system text inside the conversation: without them it would be in a wrong place (N4)."""
    units = list(dict.fromkeys(item.unit for item in items if item.turn >= 0))
    system_units = {item.unit for item in items if item.kind is gc.ItemKind.SYSTEM_TEXT and item.turn >= 0}
    places = [place for place, unit in enumerate(units) if unit in system_units]
    return {unit for place in places for unit in units[max(0, place - 1) : place + 2]}


def standing_pieces(provider: str, request: gc.Request) -> int:
    """
    How much of a request stands whatever comes next. Anthropic's system text at its end has to stand directly before a
    reply (N4), so that what is said before there is one comes in front of it.
    """
    messages = list(request.messages)
    while provider == "anthropic" and messages and messages[-1]["role"] == "system":
        messages.pop()
    return len(flat(provider, attrs.evolve(request, messages=tuple(messages))))


def said_in(session: gc.GCSession) -> list[str]:
    """The window without its system text, which names the directory."""
    return [line for line in window_of(session) if f" {gc.ItemKind.SYSTEM_TEXT.name} " not in line]


def quoted(text: str) -> str:
    """A text as it stands in canonical JSON."""
    return canonical(text)[1:-1]


SHORTENED = (gc.ItemKind.TOOL_RESULT, gc.ItemKind.ASSISTANT_TEXT, gc.ItemKind.USER_TEXT)
HEARD = (gc.ItemKind.USER_TEXT, gc.ItemKind.TOOL_RESULT)
HOLDABLE = (gc.ItemKind.USER_TEXT, gc.ItemKind.ASSISTANT_TEXT, gc.ItemKind.TOOL_RESULT, gc.ItemKind.ENRICHMENT)

# Parts of the system text and schemas are resident too, but pins and policies are for what was said.
ID = re.compile(r"i\d+")

# Models of Anthropic's that bind no thinking to its prefix: there a collection need not strip the newest.
FREE_THINKING = ("claude-sonnet-4-5", "claude-haiku-4-5")

# What the documents say that a call may raise. What a request may raise is looked at where it is made.
ALLOWED: dict[str, tuple[type[BaseException], ...]] = {
    "pin_turn": (SourceError,),
    "unpin": (SourceError,),
    "restore": (SourceError, RuleError),
    "condense": (RuleError, SourceError),
    "redo": (SourceError,),
    "rollback": (LogError,),
    "rewind": (SourceError,),
    "refuse": (InconsistentReplyError,),
    "recover": (gc.ContextOverflowError, SpendLimitError, RefusedError),
}


@cache
def installed() -> gc.Plugins:
    """The plugins that are installed, looked for once: that takes as long as a short session does."""
    return gc.Plugins.discover()


@cache
def root() -> Path:
    """
    Where this process keeps its sessions, and removes them: in memory where that is possible, for they are synced at
    every turn. The path is as long in every process, since it stands in the request.
    """
    memory = Path("/dev/shm")  # noqa: S108 - private by its mode
    parent = memory if memory.is_dir() else Path(tempfile.gettempdir())
    made = parent / f"gc-fuzz-{os.getpid():0{max(9, PATH_LETTERS - len(str(parent)))}}"
    made.mkdir(mode=0o700, exist_ok=True)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def run(script: Script) -> Run:
    """Run a script in a directory of its own; it is gone afterwards."""
    directory = root() / f"{script.seed:010}"
    shutil.rmtree(directory, ignore_errors=True)  # left by a run that was killed
    made = Run(script, directory)
    try:
        made.go()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        if installed().failures:  # what failed here must not be remembered there
            installed.cache_clear()
    return made


def _copy_if_there(source: str, target: str) -> None:
    """SQLite may remove its journal while the files are copied."""
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(source, target)
