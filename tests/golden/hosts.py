"""Whole hosts: task state, facts, the model's own tools, hooks, a worker, another model, branches and sub-tasks."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import attrs

from tests.fuzz.histories import SHAPES, STRATEGIES
from tests.fuzz.texts import listing, log_lines
from tests.golden import entry
from tests.golden.recording import Case, Recording, noting_errors
from tests.golden.shapes import Use, answers, reply, usage, user

ROUNDS = 60
SWITCHED = {
    "openai": "gpt-5",
    "anthropic": "claude-opus-5-5",
    "responses": "gpt-5",
    "gemini": "gemini-3-pro",
}
DEMANDS = (
    "The login test fails on staging. Find the cause and fix it. Never delete the table users.",
    "Use port 8081 from now on, because 8080 is taken by the proxy. My name is Ada Berg.",
    "Before you push, always run pytest tests/test_login.py. I prefer tabs in Go files.",
    "Is the cache cold after a restart? Remember that order 88-20417 must stay untouched.",
    "We no longer use Redis; the sessions live in PostgreSQL 16 now.",
)
CALLS = (
    ("read", {"path": "src/login.py"}),
    ("bash", {"command": "pytest -q tests/test_login.py"}),
    ("edit", {"path": "src/login.py", "old": "def value_3(x):", "new": "def value_3(x, retries=2):"}),
    ("read", {"path": "src/parser.py", "start": 1, "end": 80}),
    ("search", {"pattern": "handle_request", "path": "src"}),
)
OWN_CALLS = (
    ("context_status", {}),
    ("search_history", {"query": "login"}),
    ("recall", {"reference": "i5"}),
    ("note", {"mode": "append", "text": "The cause is the cold cache in src/login.py."}),
    ("pin", {"item": "i1"}),
)


def cases() -> Iterator[Case]:
    """A whole host with every strategy in every format, and a worker in the formats that have one."""
    for provider in SWITCHED:
        for strategy in STRATEGIES:
            yield Case(f"host {provider} {strategy}", functools.partial(lived, provider, strategy))
    for provider in ("openai", "anthropic"):
        yield Case(f"worker {provider}", functools.partial(worked, provider))


class Hooks:
    """A plugin with an opinion in every hook that changes something."""

    @entry.hookimpl
    def gc_classify(self, item: Any) -> Any:
        return entry.GCPolicy.PRESERVABLE if "order 88-20417" in item.text else None

    @entry.hookimpl
    def gc_review_plan(self, plan: Any) -> Any:
        first = plan.removals[:1]
        return [entry.Refusal(item=item, reason="the first one stays") for each in first for item in each.items[:1]]

    @entry.hookimpl
    def gc_process_message(self, message: Any) -> Any:
        content = message.get("content")
        return {**message, "content": content.replace("\u00a0", " ")} if isinstance(content, str) else None

    @entry.hookimpl
    def gc_redact(self, text: str) -> str:
        return text.replace("s3cr3t-token", "************")


def lived(provider: str, strategy: str, recording: Recording) -> None:
    Host(provider=provider, strategy=strategy, recording=recording).live()


@attrs.define
class Host:
    """A host of a coding agent, for as many rounds as it takes to collect several times."""

    provider: str
    strategy: str
    recording: Recording
    random: Random = attrs.field(factory=lambda: Random("golden host"))
    plugins: Any = attrs.field(factory=entry.Plugins.discover)
    session: Any = None
    tools: Any = None

    def live(self) -> None:
        """Everything that a session offers, at fixed rounds."""
        self.plugins.register(Hooks(), name="hooks")
        self.begin()
        for number in range(ROUNDS):
            if number % 12 == 0:
                self.session.append(user(self.provider, DEMANDS[number // 12]))
            with noting_errors(self.recording, f"round {number}"):
                getattr(self, AT.get(number, "go_on"))(number)
            self.round(number)
        self.end()

    def begin(self) -> None:
        config = entry.GCConfig(strategy=self.strategy, context_limit=8_000, output_reservation=500)
        self.session = entry.GCSession(
            config, format=self.provider, directory=Path("work"), plugins=self.plugins, on_event=self.recording.hear
        )
        self.tools = entry.AgentTools(self.session)
        self.session.system(base="You fix bugs.", rules="Never print s3cr3t-token.")
        shape = SHAPES[self.provider]()
        names = ("read", "bash", "edit", "search")
        self.session.tools([*(shape.schema(name, f"{name.title()}s.") for name in names), *self.tools.schemas()])
        self.session.register_source(
            entry.InstructionSource(name="team", policy=entry.GCPolicy.PRESERVABLE, layer=40, cap=200)
        )
        self.session.memory("team", style="Short functions; tests first.")
        self.session.objective = "Fix the failing login test."

    # -- the loop

    def round(self, number: int) -> None:
        """One model call with one or two tool calls, and their results."""
        if number % 7 == 3:
            self.session.enrich(clock=f"Round {number} of {ROUNDS}.")
        calls = [CALLS[number % len(CALLS)], CALLS[(number + 2) % len(CALLS)]][: 1 + number % 2]
        uses = [Use(f"call_{number}_{place}", *each) for place, each in enumerate(calls)]
        self.turn(reply(self.provider, f"Step {number}: I look at {calls[0][0]} to find the cause.", uses))
        self.session.extend(answers(self.provider, uses, [self.output(each.name) for each in uses]))

    def turn(self, said: Any) -> None:
        """Send, and take the reply with the provider's report."""
        self.send(self.session)
        self.session.post_turn(said, usage=usage(self.provider, self.session.budget.total))

    def send(self, session: Any) -> None:
        self.recording.add("request", session.pre_send().kwargs())
        self.recording.numbers["requests"] += 1
        self.recording.numbers["tokens"] += session.budget.total

    def output(self, name: str) -> str:
        if name == "read":
            return listing(self.random, 40)
        if name == "edit":
            return "The file src/login.py has been updated."
        return log_lines(self.random, 25)

    # -- what happens at one round

    def go_on(self, number: int) -> None:
        """Nothing."""

    def use_own_tools(self, number: int) -> None:
        """The model looks back, notes and pins."""
        for place, (name, arguments) in enumerate(OWN_CALLS):
            said = reply(self.provider, "I look back.", [Use(f"own_{number}_{place}", name, arguments)])
            self.turn(said)
            answered = self.tools.answer(said)
            self.recording.add("answered", answered)
            self.session.extend(answered)

    def switch(self, _number: int) -> None:
        self.session.switch(model=SWITCHED[self.provider], context_limit=7_000)

    def suggest(self, _number: int) -> None:
        self.send(self.session)
        found = entry.suggest_recall(self.session)
        self.recording.add("suggested", [str(each.item) for each in found])
        self.recording.add("plan", len(self.session.plan(target_percent=20).result.removals))

    def branch(self, number: int) -> None:
        with self.session.fork(Path(f"branch-{number}")) as branch:
            branch.append(user(self.provider, "What if we used another cache?"))
            self.send(branch)

    def branch_earlier(self, _number: int) -> None:
        with self.session.fork(Path("earlier"), at=1) as branch:
            branch.append(user(self.provider, "Begin again from here."))
            self.send(branch)

    def hand_off(self, _number: int) -> None:
        """A sub-task in a session of its own, and its result."""
        self.session.collect_now(target_percent=50)
        self.send(self.session)
        with self.session.handoff(name="docs", steps=2, summary_tokens=300, result_tokens=200) as child:
            child.append(user(self.provider, "What do the docs say of the cache?"))
            self.send(child)
            child.post_turn(reply(self.provider, "The cache is cold for ten seconds after a restart."))
            self.recording.add("handed back", child.hand_back("Cold for ten seconds; see docs/cache.md."))

    def lease(self, _number: int) -> None:
        self.session.collect_now(target_percent=50)
        with self.session.lease(200, name="lint") as lease:
            self.recording.add("delivered", lease.deliver("ruff: 3 findings in src/login.py, lines 4, 9 and 12."))

    def reopen(self, _number: int) -> None:
        self.session.close()
        self.session = entry.GCSession.open(Path("work"), plugins=self.plugins, on_event=self.recording.hear)
        self.tools = entry.AgentTools(self.session)

    def condense(self, _number: int) -> None:
        found = [item.id for item in self.session.items() if item.kind is entry.ItemKind.TOOL_RESULT]
        condensed = self.session.condense({found[-1]: "All of it passed but test_retry."})
        self.recording.add("condensed", [condensed.tokens_before, condensed.tokens_after])

    def go_back(self, _number: int) -> None:
        """Collect, undo, redo; a checkpoint, and back to it."""
        self.session.collect_now(target_percent=30, focus="the cause of the failure")
        self.session.undo()
        self.send(self.session)
        self.session.redo()
        self.session.release()
        self.session.checkpoint()
        self.session.append(user(self.provider, "This is forgotten."))
        self.send(self.session)
        self.session.rollback()

    # -- the end

    def end(self) -> None:
        """What was learnt goes into a file of facts, and from there into another session."""
        self.send(self.session)
        self.recording.add("explained", self.session.explain())
        self.recording.add("state", entry.state_data(self.session))
        self.recording.add("cache", entry.cache_data(self.session))
        facts = entry.FactStore(Path("facts.jsonl"))
        proposed = self.session.propose(facts)
        self.recording.add("proposed", [entry.as_data(each) for each in proposed])
        self.session.accept(facts, proposed)
        first = next(item for item in self.session.items() if item.kind is entry.ItemKind.USER_TEXT)
        self.session.promote(
            facts, [entry.Promotion.add("The cache is cold after a restart.", entry.FactKind.FACT, first.id)]
        )
        self.session.close()
        self.record_files()
        config = entry.GCConfig(context_limit=4_000, output_reservation=0)
        with entry.GCSession(config, format=self.provider, plugins=self.plugins) as later:
            later.load_facts(facts)
            later.append(user(self.provider, "What do you know of the cache?"))
            self.send(later)

    def record_files(self) -> None:
        for record in entry.log_records(Path("work")):
            self.recording.add_line("log", record)
        for record in entry.ledger_records(Path("work")):
            self.recording.add("ledger", record)
        self.recording.add("findings", [str(finding.file) for finding in entry.verify(Path("work"))])


AT = {
    10: "use_own_tools",
    18: "suggest",
    22: "switch",
    26: "branch",
    29: "branch_earlier",
    33: "hand_off",
    38: "lease",
    42: "reopen",
    47: "condense",
    52: "go_back",
}
"""What happens before a round."""


# -- a worker


def worked(provider: str, recording: Recording) -> None:
    asyncio.run(work(provider, recording))


async def work(provider: str, recording: Recording) -> None:
    """Tool calls that a worker carries out, with notes in the place of long results and summaries by a model."""
    config = entry.GCConfig(strategy="gc_summarize", context_limit=2_500, output_reservation=0)
    summarizer = entry.AsyncFakeSummarizer()
    session = entry.AsyncGCSession(
        config, format=provider, directory=Path("work"), summarizer=summarizer, on_event=recording.hear
    )
    async with session, entry.ToolResultWorker(session, TOOLS, condense_above=300, summarizer=summarizer) as worker:
        session.append(user(provider, DEMANDS[0]))
        for number in range(24):
            recording.add("request", (await session.pre_send()).kwargs())
            recording.numbers["requests"] += 1
            recording.numbers["tokens"] += session.budget.total
            uses = [Use(f"call_{number}_{place}", name, {"number": number}) for place, name in enumerate(TOOLS)]
            said = reply(provider, "I look at both.", uses)
            await session.post_turn(said)
            recording.add("worked", await worker.answer(said))
            if number % 8 == 7:
                session.append(user(provider, DEMANDS[1 + number // 8]))
    for record in entry.ledger_records(Path("work")):
        recording.add("ledger", record)


def read_number(number: int) -> str:
    return listing(Random(number), 60)


async def run_number(number: int) -> str:
    await asyncio.sleep(0)
    if number % 5 == 4:
        raise ValueError(f"command {number} failed")
    return log_lines(Random(number), 10)


TOOLS = {"read": read_number, "bash": run_number}
