"""Generated conversations: agents' messages in every shape, the same for the same seed."""

from __future__ import annotations

import enum
import functools
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from gc_core.session.session import GCSession
from gc_core.values.messages import Payload
from gc_core.values.policy import GCPolicy

_OPENAI, _ANTHROPIC = "openai", "anthropic"
_FORMATS = (_OPENAI, _ANTHROPIC)
_TOOLS = ("read_file", "grep", "run_command", "edit_file")
_DISCOVERABLE = ("web_search", "draw_chart", "send_mail")
_AREAS = ("login", "billing", "search", "export", "mailer", "parser")
_DEEDS = ("checks", "loads", "rewrites", "drops", "counts", "merges", "retries", "signs")
_THINGS = ("the token", "an invoice", "the index", "a table", "the queue", "a header", "the cache", "a session")


class Shape(enum.Enum):
    """
    The shape of a window.

    TURNS are several, with tools; COLLECTED is the same with traces and stubs. GIANT_TURN is one request with very many
    steps. CHAT uses no tools. In a HELD one everything is pinned. ONE_MESSAGE and EMPTY are as named.
    """

    TURNS = "turns"
    GIANT_TURN = "giant turn"
    COLLECTED = "collected"
    CHAT = "chat"
    HELD = "held"
    ONE_MESSAGE = "one message"
    EMPTY = "empty"


_BY_SEED = (Shape.TURNS, Shape.GIANT_TURN, Shape.COLLECTED, Shape.CHAT)
_TURNS = {Shape.GIANT_TURN: (1, 1), Shape.CHAT: (18, 24), Shape.HELD: (4, 5), Shape.ONE_MESSAGE: (1, 1)}
_STEPS = {Shape.GIANT_TURN: (35, 45), Shape.CHAT: (0, 0), Shape.ONE_MESSAGE: (0, 0)}


@attrs.frozen(kw_only=True)
class Conversation:
    """
    A generated conversation, and what a host does with its session meanwhile.

    Attributes:
        seed: Its seed.
        shape: Its shape.
        format: ``"openai"`` or ``"anthropic"``.
        system: The system text.
        tools: Tool schemas.
        discoverable: Names of the schemas that are not core.
        messages: The messages, in order; each assistant message is a reply to a request.
        enrichment: Enrichment before a reply, by the reply's index.
        held: The host's policy for a message, by index.
        pinned: Messages whose last item the host pins.
        pinned_turns: Turns that the host pins.

    """

    seed: int
    shape: Shape
    format: str
    system: str
    tools: tuple[Payload, ...]
    discoverable: frozenset[str]
    messages: tuple[Payload, ...] = attrs.field(repr=False)
    enrichment: Mapping[int, str] = attrs.field(factory=dict, repr=False)
    held: Mapping[int, GCPolicy] = attrs.field(factory=dict)
    pinned: frozenset[int] = frozenset()
    pinned_turns: frozenset[int] = frozenset()

    def play(self, session: GCSession, after: Callable[[int], object] | None = None) -> GCSession:
        """Play it in a session as an agent's loop does; ``after`` is called after every message."""
        if self.shape is not Shape.EMPTY:
            session.system(base=self.system)
            session.tools(self.tools, discoverable=self.discoverable)
        waiting = set(self.pinned_turns)
        for place, message in enumerate(self.messages):
            self._say(session, place, message)
            if waiting and (turn := session.items()[-1].turn) in waiting:
                waiting.remove(turn)
                session.pin(turn=turn)
            if place in self.pinned:
                session.pin(item=session.items()[-1].id)
            if after is not None:
                after(place)
        return session

    def _say(self, session: GCSession, place: int, message: Payload) -> None:
        if message["role"] != "assistant":
            session.append(message, policy=self.held.get(place))
            return
        if place in self.enrichment:
            session.enrich(world=self.enrichment[place])
        session.pre_send()
        session.post_turn(message)


def make_conversation(seed: int, *, shape: Shape | None = None, format: str | None = None) -> Conversation:  # noqa: A002
    """
    Return the conversation of a seed, which decides shape and format unless they are given.

    There are tools with long results, errors, files read twice, thinking, pastes, enrichment, a question back, pins,
    LOCKED and PRESERVABLE results, schemas that no call uses, and, with an odd seed, calls that still wait for results.
    """
    shape = shape or _BY_SEED[seed % len(_BY_SEED)]
    format = format or _FORMATS[(seed + seed // len(_BY_SEED)) % len(_FORMATS)]  # noqa: A001 - the session's own word
    return _Writer(seed, shape, format).conversation()


class _Writer:
    """Writes one conversation."""

    def __init__(self, seed: int, shape: Shape, format_name: str) -> None:
        self._seed, self._shape, self._format = seed, shape, format_name
        self._random = random.Random(f"{seed} {shape.value}")  # noqa: S311 - made to be the same again
        self._messages: list[Payload] = []
        self._enrichment: dict[int, str] = {}
        self._held: dict[int, GCPolicy] = {}
        self._pinned: set[int] = set()
        self._calls = 0

    def conversation(self) -> Conversation:
        turns = self._between(_TURNS.get(self._shape, (9, 12)))
        if self._shape is not Shape.EMPTY:
            for turn in range(turns):
                self._turn(turn)
            self._end(turns)
        everything = frozenset(range(turns + 1))
        some = frozenset({1}) if turns > 1 and self._seed % 3 == 0 else frozenset()
        return Conversation(
            seed=self._seed,
            shape=self._shape,
            format=self._format,
            system=f"You maintain {self._pick(_AREAS)}. Answer briefly.\n{self._prose(6)}",
            tools=tuple(schema(name, self._format) for name in (*_TOOLS, *_DISCOVERABLE)),
            discoverable=frozenset(_DISCOVERABLE),
            messages=tuple(self._messages),
            enrichment=self._enrichment,
            held=self._held,
            pinned=frozenset(self._pinned),
            pinned_turns=everything if self._shape is Shape.HELD else some,
        )

    def _turn(self, turn: int) -> None:
        self._say(user(f"Request {turn}: see to {self._pick(_AREAS)}.\n{self._prose(3)}"))
        if self._shape is Shape.ONE_MESSAGE:
            return
        for step in range(self._between(_STEPS.get(self._shape, (1, 6)))):
            self._step(turn, step)
        if self._shape is Shape.CHAT and turn % 7 == 2:  # noqa: PLR2004 - now and then
            self._say(self._reply(f"Which of the two do you mean, {self._path()} or {self._path()}?"))
            self._say(user(f"The first. Here is what it says:\n{self._output(120)}"))
        self._enrich()
        self._say(self._reply(f"Done with request {turn}: {self._prose(12 if self._shape is Shape.CHAT else 3)}"))

    def _step(self, turn: int, step: int) -> None:
        if step % 3 == 0:
            self._enrich()
        batch = [self._call() for _ in range(self._random.choice((1, 1, 1, 2, 3)))]
        self._say(self._reply(self._prose(1) if step % 2 else "", batch))
        self._answer(batch)
        if turn + step == 2:  # noqa: PLR2004 - one early result each that the host holds
            self._held[len(self._messages) - 1] = GCPolicy.LOCKED if turn else GCPolicy.PRESERVABLE
        if turn + step == 3:  # noqa: PLR2004 - and one that it pins
            self._pinned.add(len(self._messages) - 1)

    def _end(self, turns: int) -> None:
        """End it; with an odd seed the agent is in the middle of something: calls wait, one result may be there."""
        if self._seed % 2 == 0 or self._shape in {Shape.CHAT, Shape.ONE_MESSAGE}:
            return
        self._say(user(f"Request {turns}: once more."))
        batch = [self._call(), self._call()]
        self._say(self._reply("", batch))
        self._answer(batch[: self._seed % 4 // 2])

    def _say(self, message: Payload) -> None:
        self._messages.append(message)

    def _enrich(self) -> None:
        if self._random.random() < 0.5:  # noqa: PLR2004 - every other time
            self._enrichment[len(self._messages)] = f"Now it is step {len(self._messages)}. {self._prose(8)}"

    def _call(self) -> _Call:
        self._calls += 1
        name = self._random.choice(_TOOLS)
        arguments = {"path": self._path()}
        if name == "edit_file" and self._random.random() < 0.5:  # noqa: PLR2004 - every other edit is long
            arguments["content"] = self._output(30)
        return _Call(key=f"call_{self._calls}", name=name, arguments=arguments)

    def _reply(self, text: str, batch: Sequence[_Call] = ()) -> Payload:
        if self._format == _ANTHROPIC:
            thinking = f"Let me see. {self._prose(2)}" if self._random.random() < 0.4 else ""  # noqa: PLR2004
            return _anthropic_reply(text, batch, thinking)
        return _openai_reply(text, batch)

    def _answer(self, batch: Iterable[_Call]) -> None:
        answers = [(call.key, *self._result()) for call in batch]
        if not answers:
            return
        if self._format == _ANTHROPIC:
            self._say({"role": "user", "content": [_anthropic_result(*answer) for answer in answers]})
            return
        for key, text, _ in answers:
            self._say({"role": "tool", "tool_call_id": key, "content": text})

    def _result(self) -> tuple[str, bool]:
        """Return a text and whether it is an error: mostly short, sometimes long."""
        if self._random.random() < 0.15:  # noqa: PLR2004 - some fail
            return f"Error: {self._path()} not found\nexit code 1", True
        return self._output(self._random.choice((1, 3, 8, 16, 30, 60))), False

    def _output(self, lines: int) -> str:
        return "\n".join(self._line() for _ in range(lines))

    def _line(self) -> str:
        number = self._random.randrange(400)
        return f"{self._path()}:{number}: def {self._pick(_AREAS)}_{number}() {self._prose(1)}"

    def _path(self) -> str:
        return f"src/{self._pick(_AREAS)}/part_{self._random.randrange(9)}.py"

    def _prose(self, sentences: int) -> str:
        said = ((self._pick(_AREAS), self._pick(_DEEDS), self._pick(_THINGS)) for _ in range(sentences))
        return " ".join(f"The {area} {deed} {thing}." for area, deed, thing in said)

    def _pick(self, words: Sequence[str]) -> str:
        return self._random.choice(words)

    def _between(self, ends: tuple[int, int]) -> int:
        return self._random.randint(*ends)


@attrs.frozen(kw_only=True)
class _Call:
    key: str
    name: str
    arguments: Mapping[str, str]


def user(text: str) -> Payload:
    """Return a user message, alike in both formats."""
    return {"role": "user", "content": text}


@functools.cache
def schema(name: str, format_name: str) -> Payload:
    """Return a tool schema of either format."""
    parameters = {"type": "object", "properties": {"path": {"type": "string", "description": "Where to look."}}}
    said = f"{name.replace('_', ' ').capitalize()}, as often as needed."
    if format_name == _ANTHROPIC:
        return {"name": name, "description": said, "input_schema": parameters}
    return {"type": "function", "function": {"name": name, "description": said, "parameters": parameters}}


def _openai_reply(text: str, batch: Sequence[_Call]) -> Payload:
    calls = [
        {"id": call.key, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
        for call in batch
    ]
    reply: dict[str, object] = {"role": "assistant", "content": text or (None if calls else "Yes.")}
    return {**reply, "tool_calls": calls} if calls else reply


def _anthropic_reply(text: str, batch: Sequence[_Call], thinking: str) -> Payload:
    blocks: list[dict[str, object]] = []
    if thinking:
        blocks.append({"type": "thinking", "thinking": thinking, "signature": "c2VhbGVk" * 8})
    if text or not batch:
        blocks.append({"type": "text", "text": text or "Yes."})
    blocks += [{"type": "tool_use", "id": call.key, "name": call.name, "input": dict(call.arguments)} for call in batch]
    return {"role": "assistant", "content": blocks}


def _anthropic_result(key: str, text: str, is_error: bool) -> dict[str, object]:
    block: dict[str, object] = {"type": "tool_result", "tool_use_id": key, "content": text}
    return {**block, "is_error": True} if is_error else block
