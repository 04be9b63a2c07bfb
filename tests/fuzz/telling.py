"""A script as Python code that uses gc-core's public API alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.fuzz.histories import Script, Step

WIDEST = 160
DEEP = 5


def as_code(script: Script) -> str:
    """The script as a program; long texts that repeat are written as a product."""
    config = ", ".join(f"{key}={value!r}" for key, value in script.config.items())
    model = f", model={script.model!r}" if script.model else ""
    lines = [
        "import gc_core as gc",
        "from tests.fuzz.texts import nested",
        f"config = gc.GCConfig({config})",
        f'session = gc.GCSession(config, format={script.format!r}{model}, directory="fuzzed")',
        *(line for step in script.steps for line in LINES[step.do](step)),
        *again(),
        'print(gc.verify("fuzzed"))',
    ]
    return "\n".join(lines)


def again() -> list[str]:
    return ["session.close()", 'session = gc.GCSession.open("fuzzed")', "session.pre_send()", "session.close()"]


def literal(value: Any) -> str:
    """A value as Python writes it, with long texts made short where they repeat, and what is deep as a call."""
    depth, leaf = unwrapped(value)
    if depth >= DEEP:
        return f"nested({depth}, {literal(leaf)})"
    if isinstance(value, str):
        return text_literal(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {literal(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return 'float("nan")' if value != value else repr(value)  # noqa: PLR0124 - only NaN differs from itself


def unwrapped(value: Any) -> tuple[int, Any]:
    """How deep ``nested`` put a value, and the value."""
    shells = []
    while (isinstance(value, list) and len(value) == 1) or (isinstance(value, dict) and list(value) == ["a"]):
        shells.append(isinstance(value, list))
        value = value[0] if isinstance(value, list) else value["a"]
    made = all(shell == ((len(shells) - 1 - place) % 3 == 0) for place, shell in enumerate(shells))
    return (len(shells), value) if made else (0, value)


def text_literal(text: str) -> str:
    if len(text) <= WIDEST:
        return repr(text)
    for start in range(24):
        for size in range(1, 24):
            unit = text[start : start + size]
            count = 0
            while text.startswith(unit, start + count * size):
                count += 1
            if count * size > WIDEST:
                rest = text[start + count * size :]
                parts = [repr(text[:start])] * bool(start) + [f"{unit!r} * {count}"]
                return " + ".join([*parts, *([text_literal(rest)] if rest else [])])
    return repr(text)


def on_item(call: str, *kinds: str) -> Callable[[Step], list[str]]:
    """A step on an item that is so far through those that are there."""

    def lines(step: Step) -> list[str]:
        chosen = f" if item.kind.name in {kinds}" if kinds else ""
        listed = f"items = [item for item in session.items(){chosen}]"
        given = {key: literal(value) for key, value in step.given.items() if key != "at"}
        return [listed, call.format(item=f"items[int({step.given['at']} * len(items))].id", **given)]

    return lines


def appended(step: Step) -> list[str]:
    policy = f", policy=gc.GCPolicy({step.given['policy']!r})" if step.given["policy"] else ""
    return [f"session.append({literal(step.given['message'])}{policy})"]


def called(step: Step) -> list[str]:
    share = step.given["usage"]
    usage = f"  # with a usage of {share} times the budget's tokens" if share else ""
    return ["session.pre_send()", f"session.post_turn({literal(step.given['reply'])}){usage}"]


def keywords(call: str, name: str) -> Callable[[Step], list[str]]:
    """A step that gives named texts."""

    def lines(step: Step) -> list[str]:
        rest = {key: literal(value) for key, value in step.given.items() if key != name}
        return [f"session.{call.format(**rest)}**{literal(step.given[name])})"]

    return lines


def registered(step: Step) -> list[str]:
    name, layer = step.given["name"], step.given["layer"]
    source = f"name={name!r}, policy=gc.GCPolicy({step.given['policy']!r}), layer={layer}"
    return [f"session.register_source(gc.InstructionSource({source}))"]


def switched(step: Step) -> list[str]:
    share = step.given["share"]
    window = "None" if share is None else f"int(session.config.context_limit * {share})"
    return [f"session.switch(model={step.given['model']!r}, context_limit={window})"]


def said(text: str) -> Callable[[Step], list[str]]:
    return lambda step: [text.format(**{key: literal(value) for key, value in step.given.items()})]


LINES: dict[str, Callable[[Step], list[str]]] = {
    "append": appended,
    "call": called,
    "send": said("session.pre_send()"),
    "call_by_item": said("session.pre_send()\nsession.extend({items})"),
    "refuse": said("session.pre_send()\nsession.post_turn({reply})  # while a plugin's gc_validate_reply refuses it"),
    "there_and_back": said("session.pre_send()\nsession.collect_now(target_percent={target})\nsession.undo()"),
    "system": keywords("system(source={source}, refresh={refresh}, ", "parts"),
    "tools": said("session.tools({schemas}, discoverable={discoverable}, refresh={refresh})"),
    "register": registered,
    "enrich": keywords("enrich(", "texts"),
    "memory": keywords("memory({source}, ", "texts"),
    "expand": said("gc.auto_expand(session)"),
    "stream": said("session.on_stream(text={text})"),
    "objective": said("session.objective = {text}"),
    "pin": on_item("session.pin(item={item})"),
    "pin_turn": said("session.pin(turn={turn})"),
    "unpin": on_item("session.unpin(item={item})"),
    "set_policy": on_item("session.set_policy({item}, gc.GCPolicy({policy}))"),
    "collect": said("session.collect_now(target_percent={target})"),
    "condense": on_item("session.condense({{{item}: {text}}}, cap={cap})", "TOOL_RESULT"),
    "restore": said("session.restore(...)  # the first item of the append that is {at} of the way through them"),
    "undo": said("session.undo()"),
    "redo": said("session.redo()"),
    "release": said("session.release()"),
    "checkpoint": said("session.checkpoint()"),
    "rollback": said("session.rollback()"),
    "rewind": said("session.rewind({turn})"),
    "recover": said("session.recover(Exception(...))  # a refusal that names {share} times the context_limit"),
    "switch": switched,
    "kill": said("# here the directory is copied, and the copy is opened"),
    "reopen": lambda _step: again()[:2],
}
