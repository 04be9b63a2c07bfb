"""
Makes histories: of a seed always the same script, which is data alone.

A step that speaks of an item has a share of the way through the items that are there when it is carried out, for their
ids are not known before.
"""

from __future__ import annotations

from random import Random
from typing import Any

import attrs

from tests.fuzz.plain import JSON
from tests.fuzz.shapes import SHAPES, Call, Chance, Made, Shape, compaction, make_call
from tests.fuzz.texts import SURROGATES, listing

STRATEGIES = ("gc_truncate", "gc_budget", "gc_summarize", "gc_hybrid", "gc_rolling", "gc_progressive", "none")
MODELS = {
    "openai": (None, "gpt-4o", "gpt-5"),
    "anthropic": (None, "claude-sonnet-4-5", "claude-opus-5-5", "claude-haiku-4-5"),
    "responses": (None, "gpt-5", "gpt-4o"),
    "gemini": (None, "gemini-3-pro", "gemini-2.5-flash"),
}
# Servers of these formats repeat the ids of calls; Anthropic's and OpenAI's own never do.
REPEATING = ("openai", "gemini")
WINDOWS = (600, 1_200, 2_500, 5_000, 10_000, 32_000)


@attrs.frozen
class Step:
    """One thing that a host does: the name of a call, and what it is given."""

    do: str
    given: JSON = attrs.Factory(dict)
    odd: bool = False


@attrs.frozen
class Script:
    """A session from its making to its end."""

    seed: int
    format: str
    model: str | None
    config: JSON
    steps: tuple[Step, ...]

    @property
    def usable(self) -> int:
        return self.config["context_limit"] - self.config["output_reservation"]


def make_script(seed: int) -> Script:
    """The script of a seed."""
    random = Random(f"gc-core {seed}")
    name = random.choice(tuple(SHAPES))
    config = make_config(random)
    chance = Chance(
        random=random,
        hostility=random.choice((0, 0, 0.05, 0.3)),
        oddity=random.choice((0, 0, 0, 0.03, 0.15)),
        window=config["context_limit"] - config["output_reservation"],
    )
    author = Author(chance=chance, format=name, shape=SHAPES[name]())
    count = random.choices((6, 10, 20, 60), weights=(8, 10, 5, 1))[0]
    steps = author.write(random.randint(3, count))
    return Script(seed=seed, format=name, model=random.choice(MODELS[name]), config=config, steps=tuple(steps))


def make_config(random: Random) -> JSON:
    """Settings that the documents allow, most of them left alone."""
    limit = random.choice(WINDOWS)
    made: JSON = {
        "strategy": random.choice(STRATEGIES) if random.random() < 0.85 else random.sample(STRATEGIES[:-1], 2),
        "context_limit": limit,
        "output_reservation": random.choice((0, limit // 10)),
    }
    for key, values in SETTINGS.items():
        if random.random() < 0.12:
            made[key] = random.choice(values)
    if made.get("cache_ttl") == "1h":
        made["stable_cache_ttl"] = "1h"
    return in_order(made)


def in_order(made: JSON) -> JSON:
    """The target is at most the threshold, the threshold at most the pressure, where there is one."""
    threshold = made.get("threshold_percent", 90.0)
    if 0 < made.get("pressure_percent", 95.0) < threshold:
        made["pressure_percent"] = threshold
    return made


SETTINGS: dict[str, tuple[Any, ...]] = {
    "threshold_percent": (70.0, 80.0, 99.0),
    "target_percent": (20.0, 40.0, 65.0),
    "pressure_percent": (0, 99.0, 100.0),
    "preserve_recent_turns": (0, 1, 10),
    "preserve_recent_steps": (0, 1, 5),
    "pinned_turn_indices": ([0], [1], [0, 2]),
    "max_turns": (1, 2, 5),
    "auto_expand": (True,),
    "check_before_send": (False,),
    "auto_trigger": (False,),
    "checkpoint_every_n_steps": (0, 1, 2, 5),
    "memory_backend": ("sqlite", "memory"),
    "cache_marks": (False,),
    "cache_ttl": ("1h",),
    "keep_thinking_turns": (None, 0, 3),
    "defer": (True,),
    "tpm_budget": (2_000,),
    "reread_guard": ("off", "raise"),
    "compression_profile": ("coding", "research", "operations", "auto"),
    "task_state_percent": (0, 5, 20),
    "summarizer": ("none",),
    "max_total_tokens": (20_000, 200_000),
    "tools": ({"read": "exclude"}, {"bash": "locked"}, {"read": "preservable", "search": "ephemeral"}),
}


@attrs.define
class Author:
    """Writes steps: a loop of an agent, and what else a host may call between."""

    chance: Chance
    format: str
    shape: Shape
    steps: list[Step] = attrs.Factory(list)
    pending: list[Call] = attrs.Factory(list)
    past: list[Call] = attrs.Factory(list)
    calls: int = 0
    users: int = 0

    def write(self, count: int) -> list[Step]:
        self.open()
        while len(self.steps) < count:
            if self.chance.one_in(4):
                self.aside()
            else:
                self.go_on()
        self.steps.append(Step("send"))
        return self.steps

    def open(self) -> None:
        random = self.chance.random
        if random.random() < 0.6:
            self.add("system", parts={"base": self.chance.short() or "-"}, source="system", refresh="break")
        if random.random() < 0.5:
            self.tools()
        if random.random() < 0.2:
            self.add("register", name="team_notes", policy="preservable", layer=20, cap=None)
        self.user()

    def add(self, do: str, /, *, odd: bool = False, **given: Any) -> None:
        self.steps.append(Step(do, given, odd))

    # -- the loop

    def go_on(self) -> None:
        if self.pending:
            self.answer()
        elif self.steps[-1].do == "call" and self.chance.random.random() < 0.8:
            self.user()
        else:
            self.call()

    def user(self) -> None:
        words = self.chance.text()
        if self.chance.odd():
            words = self.chance.random.choice(SURROGATES)
        made = self.shape.user(self.chance, words)
        odd = made.odd or words in SURROGATES
        policy = self.chance.random.choice(("locked", "preservable", "ephemeral")) if self.chance.one_in(12) else None
        self.add("append", odd=odd, message=made.payload, policy=policy, role="user")
        self.users += 1

    def call(self) -> None:
        random = self.chance.random
        count = random.choices((0, 1, 2, 4), weights=(3, 6, 2, 1))[0]
        made_calls = [self.new_call() for _ in range(count)]
        calls = [call for call, _ in made_calls]
        made = self.shape.reply(self.chance, self.chance.text(), calls)
        odd = made.odd or any(odd for _, odd in made_calls)
        factor = random.choices((None, 1.0, 1.2), weights=(6, 1, 1))[0]
        if "output" in made.payload and self.chance.one_in(6):
            self.add("call_by_item", odd=odd, items=made.payload["output"])
        else:
            self.add("call", odd=odd, reply=made.payload, usage=factor)
        self.pending = called_in(made.payload, calls)

    def new_call(self) -> tuple[Call, bool]:
        self.calls += 1
        if self.format in REPEATING and self.past and self.chance.odd():
            return make_call(self.chance, self.chance.random.choice(self.past).key)[0], True
        call, odd = make_call(self.chance, f"call_{self.calls}")
        if self.chance.one_in(15):
            call = attrs.evolve(call, kind="custom_tool_call")
        return call, odd

    def answer(self) -> None:
        """The results of the batch, sometimes in another order, sometimes not all of them, sometimes after others."""
        random, answered = self.chance.random, list(self.pending)
        if self.chance.one_in(8):
            random.shuffle(answered)
        late = []
        if self.chance.one_in(15):
            late = [answered.pop()]
        for made in self.shape.results(self.chance, answered) if answered else ():
            self.add("append", odd=made.odd, message=made.payload, policy=None, role="tool")
        self.past += self.pending
        self.pending = []
        if late:
            self.call() if self.chance.one_in(2) else self.user()
            self.result(late[0])

    def result(self, call: Call) -> None:
        for made in self.shape.results(self.chance, [call]):
            self.add("append", odd=True, message=made.payload, policy=None, role="tool")

    # -- what else a host does

    def aside(self) -> None:
        what = self.chance.random.choices(tuple(ASIDES), weights=tuple(ASIDES.values()))[0]
        getattr(self, what)()

    def tools(self) -> None:
        names = self.chance.random.sample(("read", "bash", "search", "edit"), self.chance.random.randint(1, 4))
        schemas = [self.shape.schema(name, self.chance.short() or "-") for name in names]
        hidden = [names[0]] if self.chance.one_in(4) else []
        self.add("tools", schemas=schemas, discoverable=hidden, refresh=self.refresh())

    def refresh(self) -> str:
        return "now" if self.chance.one_in(4) else "break"

    def send(self) -> None:
        self.add("send")

    def enrich(self) -> None:
        name = self.chance.random.choice(("clock", "docs"))
        words = "" if self.chance.one_in(5) else self.chance.text()
        self.add("enrich", texts={name: words})

    def memory(self) -> None:
        if not any(step.do == "register" for step in self.steps):
            policy = self.chance.random.choice(("locked", "preservable", "ephemeral"))
            self.add("register", name="team_notes", policy=policy, layer=50, cap=None)
        self.add("memory", source="team_notes", texts={"style": "" if self.chance.one_in(5) else self.chance.text()})

    def system(self) -> None:
        source = self.chance.random.choice(("system", "org", "user"))
        words = "" if self.chance.one_in(5) else self.chance.short()
        parts = {self.chance.random.choice(("base", "rules")): words}
        self.add("system", parts=parts, source=source, refresh=self.refresh())

    def system_message(self) -> None:
        made = self.shape.system(self.chance.short() or "-")
        self.add("append", odd=False, message=made.payload, policy=None, role="system")

    def pin(self) -> None:
        if self.chance.one_in(3):
            self.add("pin_turn", turn=self.chance.random.randrange(max(1, self.users)))
        else:
            self.add("pin", at=self.chance.random.random())

    def unpin(self) -> None:
        self.add("unpin", at=self.chance.random.random())

    def policy(self) -> None:
        policy = self.chance.random.choice(("locked", "preservable", "ephemeral"))
        self.add("set_policy", at=self.chance.random.random(), policy=policy)

    def collect(self) -> None:
        self.add("collect", target=self.chance.random.choice((None, 0.0, 10.0, 30.0, 60.0)))

    def restore(self) -> None:
        self.add("restore", at=self.chance.random.random())

    def condense(self) -> None:
        text = self.chance.random.choice((self.chance.short(), 20))
        self.add("condense", at=self.chance.random.random(), text=text, cap=None)

    def undo(self) -> None:
        self.add("undo")

    def redo(self) -> None:
        self.add("redo")

    def release(self) -> None:
        self.add("release")

    def checkpoint(self) -> None:
        self.add("checkpoint")

    def rollback(self) -> None:
        self.add("rollback")

    def rewind(self) -> None:
        self.add("rewind", turn=self.chance.random.randrange(max(1, self.users)))
        self.pending = []
        self.user()

    def recover(self) -> None:
        self.add("recover", share=self.chance.random.choice((1.01, 1.3)))

    def switch(self) -> None:
        share = self.chance.random.choice((None, 0.5, 0.8, 2.0))
        self.add("switch", model=self.chance.random.choice(MODELS[self.format]), share=share)

    def compacted(self) -> None:
        reply = compaction(self.chance, self.format)
        if reply is not None and not self.pending:
            self.add("call", reply=reply, usage=None)

    def refused_reply(self) -> None:
        """A plugin finds the next reply inconsistent; the host asks the model again."""
        made = self.shape.reply(self.chance, self.chance.short() or "-", [])
        if not made.odd:
            self.add("refuse", reply=made.payload)

    def there_and_back(self) -> None:
        self.add("there_and_back", target=self.chance.random.choice((0.0, 20.0, 50.0)))

    def reopen(self) -> None:
        self.add("reopen", sent=self.chance.one_in(2))

    def kill(self) -> None:
        self.add("kill")

    def late(self) -> None:
        """A result of a call that has one already, or that was never made."""
        call = self.chance.random.choice(self.past) if self.past else Call("call_0", "read", "{}", {})
        self.result(call)

    def expand(self) -> None:
        self.add("expand")

    def stream(self) -> None:
        self.add("stream", text=listing(self.chance.random, 20))

    def objective(self) -> None:
        self.add("objective", text=self.chance.short())


ASIDES = {
    "send": 3,
    "enrich": 6,
    "memory": 4,
    "system": 2,
    "system_message": 2,
    "tools": 1,
    "pin": 3,
    "unpin": 1,
    "policy": 2,
    "collect": 4,
    "restore": 2,
    "condense": 2,
    "undo": 4,
    "redo": 1,
    "release": 2,
    "checkpoint": 2,
    "rollback": 1,
    "rewind": 1,
    "recover": 1,
    "switch": 2,
    "reopen": 3,
    "kill": 2,
    "late": 3,
    "expand": 1,
    "stream": 1,
    "objective": 1,
    "compacted": 1,
    "refused_reply": 1,
    "there_and_back": 3,
}


def called_in(payload: JSON, calls: list[Call]) -> list[Call]:
    """Those of the calls that the reply holds."""
    if "output" in payload:
        held = {item.get("call_id") for item in payload["output"]}
    elif "tool_calls" in payload:
        held = {call["id"] for call in payload["tool_calls"]}
    elif "parts" in payload:
        return calls if any({"functionCall", "function_call"} & set(part) for part in payload["parts"]) else []
    else:
        content = payload.get("content")
        held = {block.get("id") for block in content} if isinstance(content, list) else set()
    return [call for call in calls if call.key in held]


__all__ = ["Made", "Script", "Step", "make_script"]
