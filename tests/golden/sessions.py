"""Generated sessions: every strategy in every format, with what else a host may call between the turns."""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import attrs

from tests.fuzz.histories import MODELS, SHAPES, STRATEGIES, Author, Script, Step, make_config
from tests.fuzz.shapes import Chance
from tests.golden import entry
from tests.golden.frozen import root
from tests.golden.recording import Case, Recording, noting_errors

WINDOWS = (3_000, 6_000, 12_000)
STEPS = 80
SEEDS = 5
TEXT_SHARE = 4
"""Texts are smaller than the fuzzer's by this factor: strategies have a choice, and the last resort is rare."""

MOST_TOKENS = 200_000
"""A spend limit, where a script has one, is reached late or never."""

ID = re.compile(r"i\d+")
RECALLED = 20
QUERIES = ("parser timeout", '"src/login.py"', "deploy staging")


def cases() -> Iterator[Case]:
    """Every strategy and baseline over the same scripts of each format."""
    for provider in SHAPES:
        for seed in range(SEEDS):
            for strategy in STRATEGIES:
                made = functools.partial(play, provider, seed, strategy)
                yield Case(f"session {provider} {seed} {strategy}", made)
            yield Case(f"compact {provider} {seed}", functools.partial(compacted, provider, seed))
            yield Case(f"baselines {provider} {seed}", functools.partial(baselines, provider, seed))


def make_script(provider: str, seed: int, strategy: str) -> Script:
    """The script of a seed; only its strategy differs between the strategies."""
    random = Random(f"golden {provider} {seed}")
    window = WINDOWS[seed % len(WINDOWS)]
    config = make_config(random)
    config |= {"context_limit": window, "output_reservation": random.choice((0, window // 10)), "strategy": strategy}
    config.pop("auto_trigger", None)
    if "max_total_tokens" in config:
        config["max_total_tokens"] = MOST_TOKENS
    chance = Chance(
        random=random,
        hostility=(0, 0, 0.05, 0.2)[seed % 4],
        oddity=(0, 0, 0, 0, 0.05)[seed % 5],
        window=window // TEXT_SHARE,
    )
    steps = Author(chance=chance, format=provider, shape=SHAPES[provider]()).write(STEPS)
    return Script(seed=seed, format=provider, model=random.choice(MODELS[provider]), config=config, steps=tuple(steps))


def play(provider: str, seed: int, strategy: str, recording: Recording) -> None:
    Player(make_script(provider, seed, strategy), recording).play()


def said(script: Script) -> list[Any]:
    """The messages of a script, as a host that keeps its own list would have them."""
    messages: list[Any] = []
    for step in script.steps:
        if step.do == "append":
            messages.append(step.given["message"])
        elif step.do == "call":
            reply = step.given["reply"]
            messages += reply.get("output", [reply])
    return messages


def compacted(provider: str, seed: int, recording: Recording) -> None:
    """``compact`` of the whole list with each strategy, and again of what it returned."""
    script = make_script(provider, seed, "gc_truncate")
    for strategy in STRATEGIES:
        messages = said(script)
        for share in (1, 2):
            with noting_errors(recording, f"compact {strategy}"):
                messages = entry.compact(
                    messages, budget=script.usable // share, strategy=strategy, format=provider, model=script.model
                )
                recording.add("compacted", messages)


def baselines(provider: str, seed: int, recording: Recording) -> None:
    """A replay of the same messages with everything that strategies are compared with."""
    script = make_script(provider, seed, "none")
    transcript = entry.made_transcript(f"{provider}-{seed}", provider, said(script))
    for name in entry.BASELINES:
        with noting_errors(recording, name):
            for row in entry.report_rows(entry.baseline_report(transcript, name, script.usable)):
                recording.add("row", row)


class RefusedError(Exception):
    """A provider's refusal of a request that is too long."""


class RefusesReplies:
    """A plugin that finds every reply inconsistent."""

    @entry.hookimpl
    def gc_validate_reply(self, reply: Any) -> entry.Inconsistency:
        return entry.Inconsistency(reason=f"a reply of {len(reply)} fields")


@attrs.define
class Player:
    """Carries out the steps of a script on a session in a directory, and records what comes of them."""

    script: Script
    recording: Recording
    session: entry.GCSession = attrs.field(init=False)
    taken: list[str] = attrs.Factory(list)

    @property
    def directory(self) -> Path:
        return root() / "session"

    def play(self) -> None:
        self.session = entry.GCSession(
            entry.GCConfig(**self.script.config),
            format=self.script.format,
            model=self.script.model,
            directory=self.directory,
            plugins=entry.installed(),
            on_event=self.recording.hear,
        )
        for number, step in enumerate(self.script.steps):
            self.do(number, step)
        self.end()
        if entry.installed().failures:  # what failed in one case must not be remembered in the next
            entry.installed.cache_clear()

    def do(self, number: int, step: Step) -> None:
        with noting_errors(self.recording, f"step {number} {step.do}"):
            getattr(self, f"do_{step.do}")(**step.given)

    def record_request(self, request: Any) -> None:
        self.recording.add("request", request.kwargs())
        self.recording.numbers["requests"] += 1
        self.recording.numbers["tokens"] += self.session.budget.total

    def record_window(self) -> None:
        for item in self.session.items():
            row = (item.id, item.kind.value, item.form.value, item.policy.value, item.source, item.tokens)
            self.recording.add_line("items", [*row, item.unit, item.turn, item.step, item.name, item.pinned, item.text])

    # -- the end of a session

    def end(self) -> None:
        """What the session knows, the same after it is opened again, and what its files hold."""
        self.record_window()
        self.recording.add("snapshot", self.session.snapshot())
        self.do_reopen(sent=True)
        with noting_errors(self.recording, "send at the end"):
            self.do_send()
        self.record_past()
        self.session.close()
        with entry.SessionReader(self.directory) as reader:
            self.recording.add("reader", reader.window().kwargs())
        self.recording.add("findings", [str(finding.file) for finding in entry.verify(self.directory)])
        self.record_files()

    def record_past(self) -> None:
        for item in self.taken[:RECALLED]:
            with noting_errors(self.recording, f"recall {item}"):
                self.recording.add_line("recalled", self.session.recall(item))
        for query in QUERIES:
            hits = self.session.search(query)
            self.recording.add_line("hits", [[hit.item, hit.kind, hit.tool, hit.turn, hit.preview] for hit in hits])
        self.recording.add("history", [[entry.what, entry.in_force] for entry in self.session.history()])

    def record_files(self) -> None:
        for record in entry.log_records(self.directory):
            self.recording.add_line("log", record)
        for record in entry.ledger_records(self.directory):
            self.recording.add("ledger", record)

    # -- the loop

    def do_append(self, message: Any, policy: str | None, role: str) -> None:  # noqa: ARG002 - the script's own
        given = {} if policy is None else {"policy": entry.GCPolicy(policy)}
        self.taken += self.session.append(message, **given)

    def do_call(self, reply: Any, usage: float | None) -> None:
        self.do_send()
        given = {} if usage is None else {"usage": self.usage(usage)}
        self.session.post_turn(reply, **given)

    def usage(self, share: float) -> Any:
        return SHAPES[self.script.format]().usage(int(self.session.budget.total * share))

    def do_call_by_item(self, items: list[Any]) -> None:
        self.do_send()
        for item in items:
            self.session.append(item)

    def do_refuse(self, reply: Any) -> None:
        self.do_send()
        self.session.plugins.register(RefusesReplies(), name="refuses")
        try:
            self.session.post_turn(reply)
        finally:
            self.session.plugins.unregister("refuses")

    def do_send(self) -> None:
        """A request; after an overflow what was brought back may leave again, so that the session goes on."""
        with noting_errors(self.recording, "first try"):
            self.record_request(self.session.pre_send())
            return
        self.session.release()
        self.record_request(self.session.pre_send())

    # -- sources

    def do_system(self, parts: dict[str, str], source: str, refresh: str) -> None:
        self.session.system(source=source, refresh=refresh, **parts)

    def do_tools(self, schemas: list[Any], discoverable: list[str], refresh: str) -> None:
        self.session.tools(schemas, discoverable=discoverable, refresh=refresh)

    def do_register(self, name: str, policy: str, layer: int, cap: int | None) -> None:
        source = entry.InstructionSource(name=name, policy=entry.GCPolicy(policy), layer=layer, cap=cap)
        self.session.register_source(source)

    def do_enrich(self, texts: dict[str, str]) -> None:
        self.session.enrich(**texts)

    def do_memory(self, source: str, texts: dict[str, str]) -> None:
        self.session.memory(source, **texts)

    def do_expand(self) -> None:
        entry.auto_expand(self.session)

    def do_stream(self, text: str) -> None:
        self.recording.add("streamed", [self.session.on_stream(text=text)])

    def do_objective(self, text: str) -> None:
        self.session.objective = text

    # -- single items

    def item(self, at: float, *kinds: entry.ItemKind) -> str | None:
        """The item this far into the window; ids are not known when a script is written."""
        items = [item for item in self.session.items() if ID.fullmatch(item.id) and (not kinds or item.kind in kinds)]
        return items[int(at * len(items))].id if items else None

    def do_pin(self, at: float) -> None:
        if item := self.item(at):
            self.session.pin(item=item)

    def do_pin_turn(self, turn: int) -> None:
        if turn <= max((item.turn for item in self.session.items()), default=-1):
            self.session.pin(turn=turn)

    def do_unpin(self, at: float) -> None:
        if item := self.item(at):
            self.session.unpin(item=item)

    def do_set_policy(self, at: float, policy: str) -> None:
        if item := self.item(at):
            self.session.set_policy(item, entry.GCPolicy(policy))

    def do_condense(self, at: float, text: str | int, cap: int | None) -> None:
        if item := self.item(at, entry.ItemKind.TOOL_RESULT):
            self.session.condense({item: text}, cap=cap)

    def do_restore(self, at: float) -> None:
        if self.taken:
            self.session.restore(self.taken[int(at * len(self.taken))])

    # -- collections, and back

    def do_collect(self, target: float | None) -> None:
        result = self.session.collect_now(target_percent=target)
        self.recording.add("result", [result.tokens_before, result.tokens_after, len(result.removals)])

    def do_there_and_back(self, target: float) -> None:
        self.do_collect(target)
        self.do_undo()
        self.do_send()
        self.do_release()

    def do_undo(self) -> None:
        self.session.undo()

    def do_redo(self) -> None:
        self.session.redo()

    def do_release(self) -> None:
        self.session.release()

    def do_checkpoint(self) -> None:
        self.session.checkpoint()

    def do_rollback(self) -> None:
        self.session.rollback()

    def do_rewind(self, turn: int) -> None:
        self.session.rewind(turn)

    def do_recover(self, share: float) -> None:
        limit = self.script.config["context_limit"]
        words = f"This model's maximum context length is {limit} tokens. However, your messages resulted in "
        self.record_request(self.session.recover(RefusedError(f"{words}{int(limit * share)} tokens.")))

    def do_switch(self, model: str | None, share: float | None) -> None:
        if share is None:
            self.session.switch(model=model)
        else:
            limit = max(300, int(self.script.config["context_limit"] * share))
            self.session.switch(model=model, context_limit=limit)

    # -- closed and opened again

    def do_reopen(self, sent: bool) -> None:
        if sent:
            with noting_errors(self.recording, "send before reopen"):
                self.do_send()
        self.session.close()
        self.session = entry.GCSession.open(self.directory, plugins=entry.installed(), on_event=self.recording.hear)

    def do_kill(self) -> None:
        """What another process would find if this one ended here."""
        copy = self.directory.with_name("copied")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.directory, copy)
        with entry.GCSession.open(copy, plugins=entry.installed()) as session:
            self.recording.add("killed", [[item.id, item.text] for item in session.items()])
