"""The state that two sessions share when one was opened from the other's files, and a walk that fills one."""

import itertools
import json
import random
import shutil

import attrs

from gc_core import ContextOverflowError, GCError, GCPolicy, GCResult, GCSession, InstructionSource, ItemKind
from gc_core.providers import format_named
from gc_core.values.messages import Role
from tests.support.inside import counter_of, state_of, window_of
from tests.support.promises import recount

LINES = [f"line {place} of a longer output" for place in range(60)]


def likeness(session, *, ledger=True):
    """
    Everything that makes a session what it is, in plain values; what may be of other identity is left out.

    Without ``ledger`` also where things stand in the ledger: every opening is an entry of it.
    """
    state, context = state_of(session), window_of(session)
    request = context.render()
    return {
        # As text: another order of keys would be another prompt for the provider's cache.
        "messages": [json.dumps(message, ensure_ascii=False) for message in request.messages],
        "system": json.dumps(request.system, ensure_ascii=False),
        "tools": json.dumps(request.tools, ensure_ascii=False),
        "tokens": request.tokens,
        "items": [(item, item.scan) for item in session.items()],
        "held": [(m.id, m.role, m.overhead, m.synthetic, m.as_logged, m.digest) for m in context.messages],
        "cursor": attrs.evolve(context.cursor, results=None),
        "results": None if context.cursor.results is None else context.cursor.results.id,
        "head": (list(context.head.parts.items()), context.head.schemas, context.head.discoverable, state.sent),
        "left_out": context.head.left_out,
        "changes": (list(state.changes.parts.items()), state.changes.schemas),
        "calibration": state.calibration,
        "pinned turns": state.pinned_turns,
        "newest blocks": dict(state.blocks.newest),
        "undone": state.undone,
        "done": state.done if ledger else len(state.done),
        "taken back": state.taken_back if ledger else len(state.taken_back),
        "turns": [(turn.log, turn.ledger if ledger else 0) for turn in state.turns],
        "thinking": state.thinking,
        "model": (state.model, state.counter.name, state.configured),
        "marked": sorted(context._marked),
        "units": context.units(),
        "budget": ordered(context.budget.snapshot()),
    }


def ordered(entry):
    """A budget's tree without the order of its branches: sums are what counts."""
    children = {name: entry[name] for name in ("sources", "children", "entries", "items") if name in entry}
    plain = {name: value for name, value in entry.items() if name not in children}
    return [plain, *(sorted(map(ordered, branch), key=repr) for branch in children.values())]


def assert_alike(session, other):
    """The other one is what the session is, and the books of each are right."""
    assert_same(likeness(session), likeness(other))
    assert_books_are_right(session)
    assert_books_are_right(other)


def assert_same(expected, found):
    """Two likenesses, and where they differ."""
    unlike = [name for name in expected if expected[name] != found[name]]
    assert unlike == [], {name: first_difference(expected[name], found[name]) for name in unlike}


def assert_books_are_right(session):
    """The budget is what is rendered, and the current batch of results is the message that is in the window."""
    request = window_of(session).render()
    dropped = any(item.kind is ItemKind.THINKING and not item.tokens for item in session.items())
    if not dropped:  # the model does not count it either, but it is sent
        form = format_named(request.format)
        between = counter_of(session).per_message * _parted_replies(session) * form.replies_in_pieces
        assert recount(request, form, counter_of(session)) + between == request.tokens
    assert session.budget.total == request.tokens
    results = window_of(session).cursor.results
    assert results is None or any(message is results for message in window_of(session).messages)


def first_difference(expected, found):
    if isinstance(expected, (list, tuple)) and isinstance(found, (list, tuple)):
        for place, (one, other) in enumerate(zip(expected, found, strict=False)):
            if one != other:
                return f"at {place}: {one!r:.900} != {other!r:.900}"
        return f"{len(expected)} != {len(found)}: {[*expected, *found][-1]!r:.600}"
    return f"{expected!r:.900} != {found!r:.900}"


def copied(directory, copy):
    """A copy of a session's files as they are now; derived files are rebuilt."""
    if copy.exists():
        shutil.rmtree(copy)
    copy.mkdir()
    for name in ("master.jsonl", "ledger.jsonl"):
        shutil.copy(directory / name, copy / name)
    if (directory / "checkpoints").exists():
        shutil.copytree(directory / "checkpoints", copy / "checkpoints")
    return copy


class Walk:
    """
    Steps through a conversation, with all else that a host does thrown in by chance.

    A step depends only on the session, so that two sessions which are alike can take the same one.
    """

    def __init__(self, format_name, messages, seed, *, models=(None,), extras=0.3):
        self.format_name = format_name
        self.messages = messages
        self.models = models
        self.extras = extras
        self.chance = random.Random(seed)  # noqa: S311 - no secrets here

    def begin(self, session: GCSession):
        session.register_source(InstructionSource(name="team", policy=GCPolicy.PRESERVABLE, layer=20, cap=500))
        session.system(base="You are careful.", rules="Never guess.")
        session.tools(self.schemas("look", "find"), discoverable={"find"})

    def steps(self):
        """The steps: each message as an agent's loop has it, and in between what the chance says."""
        for place, message in enumerate(self.messages):
            if self.chance.random() < self.extras:
                yield self.aside(place)
            if message["role"] == "assistant":
                yield self.model_call(message)
            else:
                yield lambda session, message=message: session.append(message)

    def schemas(self, *names):
        properties = {"type": "object", "properties": {"where": {"type": "string"}}}
        if self.format_name == "anthropic":
            return [{"name": name, "description": f"To {name}.", "input_schema": properties} for name in names]
        function = ({"name": name, "description": f"To {name}.", "parameters": properties} for name in names)
        return [{"type": "function", "function": one} for one in function]

    def model_call(self, reply):
        factor = self.chance.choice([None, None, 0.8, 1.1, 1.4])
        name = {"openai": "prompt_tokens", "anthropic": "input_tokens"}[self.format_name]
        output_key = {"openai": "completion_tokens", "anthropic": "output_tokens"}[self.format_name]

        def call(session):
            try:
                request = session.pre_send()
            except ContextOverflowError:
                return session.append(reply)
            usage = None if factor is None else {name: int(request.tokens * factor), output_key: 7}
            return session.post_turn(reply, usage)

        return call

    def aside(self, place):
        chance, pick = self.chance, self.chance.randrange(10**6)
        model, refresh = chance.choice(self.models), chance.choice(["break", "now"])
        percent, window = chance.choice([20.0, 40.0]), chance.choice([2_500, 3_000, 4_000])

        def item(session):
            return window_of(session).messages and [item.id for m in window_of(session).messages for item in m.items]

        def pin(session):
            keys = item(session)
            return keys and session.pin(item=keys[pick % len(keys)])

        def unpin(session):
            pinned = [one.id for one in session.items() if one.pinned]
            return pinned and session.unpin(item=pinned[pick % len(pinned)])

        def hold(session):
            keys = item(session)
            policy = list(GCPolicy)[pick % len(GCPolicy)]
            return keys and session.set_policy(keys[pick % len(keys)], policy)

        return self.chance.choice(
            [
                lambda session: session.enrich(clock=f"It is step {place}.", weather="mild"),
                lambda session: session.enrich(clock=f"It is about step {place}."),
                lambda session: session.memory("team", notes=f"We met {place} times."),
                lambda session: session.system(rules=f"Never guess; {place}.", refresh=refresh),
                lambda session: session.system(extra="" if pick % 3 == 0 else f"More {pick % 5}.", refresh=refresh),
                lambda session: session.tools(
                    self.schemas("look", "find", f"dig{pick % 3}"), discoverable={"find"}, refresh=refresh
                ),
                pin,
                pin,
                unpin,
                lambda session: session.pin(turn=pick % 4),
                lambda session: session.unpin(turn=pick % 4),
                hold,
                hold,
                lambda session: session.collect_now(target_percent=percent),
                lambda session: session.collect_now(),
                lambda session: session.switch(model=model),
                lambda session: session.switch(context_limit=window * max(1, session.config.context_limit // 4_000)),
                lambda session: session.register_source(
                    InstructionSource(name=f"more{pick % 2}", policy=GCPolicy.EPHEMERAL, layer=30)
                ),
                lambda session: session.memory(f"more{pick % 2}", note=f"{pick}"),
            ]
        )


def taken(step, session):
    """The outcome of a step: its result, or its error in words; both must be the same for sessions that are alike."""
    try:
        came = step(session)
    except GCError as error:
        return f"{type(error).__name__}: {error}"
    return attrs.evolve(came, seconds=0.0) if isinstance(came, GCResult) else came


def grown(messages, seed):
    """Made messages with results that are long enough to be worth collecting."""
    chance = random.Random(seed)  # noqa: S311 - no secrets here
    return [_grown(message, chance) for message in messages]


def _grown(message, chance):
    copy = json.loads(json.dumps(message))
    more = "\n".join([f"{chance.randrange(10**6)} begins", *LINES[: chance.choice([0, 5, 60])]])
    if copy["role"] == "tool" and isinstance(copy["content"], str):
        copy["content"] += more
    for block in copy["content"] if isinstance(copy.get("content"), list) else ():
        if block.get("type") == "tool_result" and isinstance(block.get("content"), str):
            block["content"] += more
    return copy


def _parted_replies(session):
    """Replies side by side whose block between them has left: they stay two messages, each with its frame."""
    roles = [message.role for message in window_of(session).messages]
    return sum(pair == (Role.ASSISTANT, Role.ASSISTANT) for pair in itertools.pairwise(roles))
