"""
Records ``session.jsonl``: a coding agent at work on this repository.

What the agent says and does is a plan, written down here; what its tools answer is true: they run on a copy of the
repository, in which the agent also edits and tests. Run it from anywhere with the project's own Python::

    .venv/bin/python examples/record.py

The output differs from run to run only where the tools' does. No path of this machine gets into it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "examples" / "session.jsonl"
COPIED = ("gc_core", "plugins", "tests", "pyproject.toml")
STRATEGY = "plugins/gc_truncate/src/gc_truncate/__init__.py"
NEW_TEST = "plugins/gc_truncate/tests/test_spare_below.py"
MOST_LINES = 60
"""Lines of a search that are answered."""

SYSTEM = """\
You are a coding agent in the repository of gc-core, a garbage collector for the context windows of LLM agents.

- Read before you edit, in pieces; search before you read.
- Write the test first and see it fail.
- Change nothing that was not asked for.
- End every task with a short answer that names the files.

Tools: list_files(path), read_file(path, first, last), search(pattern, path), edit_file(path, old, new),
write_file(path, text), run_tests(arguments). Paths are relative to the root of the repository."""


@attrs.frozen
class Call:
    """One tool call of the plan; ``expect`` has to stand in its output, or else the plan no longer fits the code."""

    tool: str
    arguments: Mapping[str, Any]
    expect: str = ""


@attrs.frozen
class Step:
    """One reply of the agent: what it says, and the calls that it makes at once."""

    says: str
    calls: tuple[Call, ...] = ()


@attrs.frozen
class Turn:
    """What the user asks, and how the agent answers."""

    asks: str
    steps: tuple[Step, ...]


class PlanError(Exception):
    """The plan no longer fits the repository."""


# -- the tools -------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Workshop:
    """A copy of the repository and the tools that work on it."""

    root: Path

    def answer(self, call: Call) -> str:
        """What a tool says, without any path of this machine."""
        tools: dict[str, Callable[..., str]] = {
            "list_files": self.list_files, "read_file": self.read_file, "search": self.search,
            "edit_file": self.edit_file, "write_file": self.write_file, "run_tests": self.run_tests,
        }  # fmt: skip
        output = self._scrubbed(tools[call.tool](**call.arguments))
        if call.expect not in output:
            raise PlanError(f"{call.tool} {dict(call.arguments)}: no {call.expect!r} in its output:\n{output}")
        return output

    def list_files(self, path: str) -> str:
        """Files below a directory, with their sizes in bytes."""
        files = sorted(file for file in (self.root / path).rglob("*") if file.is_file())
        return "\n".join(f"{file.stat().st_size:>7} {file.relative_to(self.root)}" for file in _sources(files))

    def read_file(self, path: str, first: int, last: int) -> str:
        """Lines of a file, numbered."""
        lines = (self.root / path).read_text(encoding="utf-8").splitlines()
        shown = [f"{number:>5}  {line}" for number, line in enumerate(lines, 1) if first <= number <= last]
        return "\n".join([*shown, f"({path} has {len(lines)} lines)"])

    def search(self, pattern: str, path: str) -> str:
        """Lines that match a regular expression, with file and line."""
        found = list(self._matches(re.compile(pattern), self.root / path))
        more = [f"({len(found) - MOST_LINES} more)"] if len(found) > MOST_LINES else []
        return "\n".join([*found[:MOST_LINES], *more]) or "no match"

    def edit_file(self, path: str, old: str, new: str) -> str:
        """Replace a text that stands in a file exactly once."""
        file = self.root / path
        text = file.read_text(encoding="utf-8")
        if text.count(old) != 1:
            return f"the old text stands {text.count(old)} times in {path}; it has to stand there once"
        file.write_text(text.replace(old, new), encoding="utf-8")
        return f"edited {path}: {old.count(chr(10)) + 1} lines became {new.count(chr(10)) + 1}"

    def write_file(self, path: str, text: str) -> str:
        """Write a file."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        return f"wrote {file.write_text(text, encoding='utf-8')} characters to {path}"

    def run_tests(self, arguments: str) -> str:
        """What pytest prints, with the code of the copy."""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no", *arguments.split()]
        paths = os.pathsep.join([str(self.root), *map(str, self.root.glob("plugins/*/src"))])
        environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(  # noqa: S603 - the command is written above
            command, cwd=self.root, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        return f"{done.stdout}{done.stderr}\nexit code {done.returncode}"

    def _matches(self, pattern: re.Pattern[str], place: Path) -> Iterator[str]:
        files = [place] if place.is_file() else sorted(place.rglob("*.py"))
        for file in _sources(files):
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                if pattern.search(line):
                    yield f"{file.relative_to(self.root)}:{number}: {line.strip()}"

    def _scrubbed(self, output: str) -> str:
        inside = output.replace(f"{self.root}{os.sep}", "").replace(str(self.root), ".")
        return _without_machine(inside.replace(str(self.root.parent), ".."))


def _sources(files: list[Path]) -> Iterator[Path]:
    return (file for file in files if not {"__pycache__", ".hypothesis"} & set(file.parts))


def _without_machine(text: str) -> str:
    """The text without the places of repository, interpreter and home, and without the host's name."""
    for place, name in ((ROOT, "."), (sys.prefix, ".venv"), (sys.base_prefix, "python"), (Path.home(), "~")):
        text = text.replace(f"{place}{os.sep}", f"{name}/") if str(place) != os.sep else text
    return re.sub(rf"\b{re.escape(socket.gethostname())}\b", "host", text)


# -- the recording ---------------------------------------------------------------------------------------------------


def record(workshop: Workshop) -> Iterator[dict[str, Any]]:
    """The messages of the session, as OpenAI's Chat Completions has them."""
    yield {"role": "system", "content": SYSTEM}
    number = 0
    for turn in PLAN:
        yield {"role": "user", "content": turn.asks}
        for step in turn.steps:
            ids = [f"call_{number + place}" for place in range(1, len(step.calls) + 1)]
            number += len(ids)
            yield _reply(step, ids)
            for call_id, call in zip(ids, step.calls, strict=True):
                yield {"role": "tool", "tool_call_id": call_id, "content": workshop.answer(call)}


def _reply(step: Step, ids: list[str]) -> dict[str, Any]:
    calls = [
        {"id": call_id, "type": "function", "function": {"name": call.tool, "arguments": json.dumps(call.arguments)}}
        for call_id, call in zip(ids, step.calls, strict=True)
    ]
    return {"role": "assistant", "content": step.says, **({"tool_calls": calls} if calls else {})}


def main() -> None:
    """Record the session anew."""
    with tempfile.TemporaryDirectory(prefix="gc-record-") as directory:
        root = Path(directory).resolve() / ROOT.name
        root.mkdir()
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, root / name)
        lines = [json.dumps(message, ensure_ascii=False) for message in record(Workshop(root=root))]
    OUTPUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{OUTPUT.relative_to(ROOT)}: {len(lines)} messages, {OUTPUT.stat().st_size:,} bytes")


# -- the plan --------------------------------------------------------------------------------------------------------


def _list(path: str) -> Call:
    return Call("list_files", {"path": path})


def _read(path: str, first: int = 1, last: int = 120) -> Call:
    return Call("read_file", {"path": path, "first": first, "last": last})


def _search(pattern: str, path: str = "gc_core") -> Call:
    return Call("search", {"pattern": pattern, "path": path})


def _edit(path: str, old: str, new: str) -> Call:
    return Call("edit_file", {"path": path, "old": old, "new": new}, "edited")


def _test(arguments: str, expect: str = "exit code 0") -> Call:
    return Call("run_tests", {"arguments": arguments}, expect)


TEST_TEXT = '''\
"""Small units are spared: dropping them frees little and leaves a trace each."""

import pytest
from gc_truncate import Truncate

from gc_core import ConfigError, GCConfig, GCSession, Plugins

SMALL = 60
SHORT = "a short answer " * 12


def asked(number):
    return {"role": "user", "content": f"Question {number}?"}


def answered(text):
    return {"role": "assistant", "content": text}


def session_with(strategy):
    config = GCConfig(context_limit=4_000, output_reservation=0, preserve_recent_turns=1)
    session = GCSession(config, strategy=strategy)
    for number in range(6):
        session.extend([asked(number), answered(SHORT), asked(number), answered("a long answer " * 120)])
    return session


def short_answers(session):
    return sum(message.get("content") == SHORT for message in session.pre_send().messages)


def test_small_units_are_spared():
    with session_with(Truncate(spare_below=SMALL)) as sparing, session_with(Truncate()) as plain:
        sparing.collect_now(target_percent=40)
        plain.collect_now(target_percent=40)
        assert short_answers(sparing) > short_answers(plain)


def test_nothing_is_spared_by_default():
    assert Truncate() == Truncate(spare_below=0)


@pytest.mark.parametrize("value", [-1, "many"])
def test_a_bad_value_is_refused_by_name(value):
    with pytest.raises(ConfigError, match="spare_below"):
        Plugins.discover().strategy("gc_truncate", {"spare_below": value})
'''

OLD_CLASS = "@attrs.frozen\nclass Truncate:\n"
OLD_COLLECT = "for unit in context.collectable if not context.is_recent(unit)]"
FIRST_COLLECT = OLD_COLLECT.replace("]", " and unit.tokens >= self.spare_below]")
CHECKED_OPTION = """\
    spare_below: int = attrs.field(
        default=0, validator=[attrs.validators.instance_of(int), attrs.validators.ge(0)]
    )

"""
SPARED = """\
        units = [unit for unit in context.collectable if unit.tokens >= self.spare_below]
"""

PLAN = (
    Turn(
        "I inherited this repository. Before I change anything I want to understand one thing: what happens between "
        "the moment the window is too full and the moment something is gone? Find who decides, who proposes, who "
        "checks and where it becomes true. No edits.",
        (
            Step("I start with what there is.", (_list("gc_core"), _list("plugins"))),
            Step(
                "The session is where a host calls in.",
                (_search(r"def pre_send|def post_turn|def _collect|_commit\("),),
            ),
            Step("", (_read("gc_core/session/session.py", 190, 300),)),
            Step(
                "`pre_send` asks a scheduler. What does that decide by?",
                (_read("gc_core/collector/scheduler.py", 1, 119),),
            ),
            Step("So a goal is a number of tokens and a reason.", (_read("gc_core/values/results.py", 1, 99),)),
            Step(
                "Now the inside of `_collect` and `_commit`.",
                (_search(r"def _attempt|def _commit|def _make_fit|def _last_resort", "gc_core/session/session.py"),),
            ),
            Step("", (_read("gc_core/session/session.py", 330, 420),)),
            Step("The session hands over to the collector.", (_read("gc_core/collector/collector.py", 1, 110),)),
            Step("", (_read("gc_core/collector/collector.py", 110, 190),)),
            Step("Every proposal goes through the planner.", (_read("gc_core/collector/planner.py", 1, 125),)),
            Step("", (_read("gc_core/collector/planner.py", 125, 250),)),
            Step("", (_read("gc_core/collector/planner.py", 250, 365),)),
            Step(
                "What a strategy may propose, and what it is told:",
                (_read("gc_core/values/removals.py"), _read("gc_core/values/protocols.py", 1, 70)),
            ),
            Step("And what runs when no strategy is of help.", (_read("gc_core/collector/last_resort.py"),)),
            Step(
                "How the edits are carried out:",
                (_search(r"def edited|def _take_edited|def _keep_changed|class Edits", "gc_core/window/context.py"),),
            ),
            Step("", (_read("gc_core/window/context.py", 1, 120),)),
            Step("", (_read("gc_core/window/context.py", 190, 290),)),
            Step(
                "In short. Who decides: `gc_core/collector/scheduler.py`, asked before every model call and after "
                "it; it answers "
                "with a goal or with nothing. Who proposes: the strategy, pulled one removal at a time by "
                "`gc_core/collector/collector.py` until the goal is met. Who checks: the planner in "
                "`gc_core/collector/planner.py`, "
                "proposal by proposal, and the provider's rules on the edited request. Where it becomes true: "
                "`GCSession._commit`; up to there the edits live in a second context, so an error leaves the window "
                "as it was. If nothing helps, `gc_core/collector/last_resort.py` cuts without asking anybody."
            ),
        ),
    ),
    Turn(
        "Good. Somebody claims that a collection can remove a tool result and leave its call behind, which the "
        "provider would refuse. Is that so? Prove it either way with what is in the tests.",
        (
            Step("First the rules themselves.", (_search(r"^def |^class ", "gc_core/rules"),)),
            Step(
                "",
                (
                    _read("gc_core/providers/rules/call_pairs.py"),
                    _read("gc_core/providers/openai/rules.py"),
                ),
            ),
            Step(
                "What the planner does with parts of a unit:", (_search(r"whole|unit", "gc_core/collector/planner.py"),)
            ),
            Step("A unit is a call with all its results:", (_read("gc_core/values/items.py", 110, 189),)),
            Step("Now what the tests say.", (_search(r"def test_", "tests/test_rules.py"),)),
            Step("", (_read("tests/test_rules.py", 100, 220),)),
            Step("They should pass as they are.", (_test("tests/test_rules.py"),)),
            Step(
                "And with one rule broken by hand?",
                (
                    _edit(
                        "gc_core/providers/openai/rules.py",
                        '        if role == "tool":\n            breach = pairs.answer',
                        '        if role == "tool" and index < 0:\n            breach = pairs.answer',
                    ),
                ),
            ),
            Step("", (_test("tests/test_rules.py -x --tb=short", "exit code 1"),)),
            Step(
                "The tests notice. Back to how it was.",
                (
                    _edit(
                        "gc_core/providers/openai/rules.py",
                        '        if role == "tool" and index < 0:\n            breach = pairs.answer',
                        '        if role == "tool":\n            breach = pairs.answer',
                    ),
                ),
            ),
            Step("", (_test("tests/test_rules.py -k result"),)),
            Step(
                "It is not so. A unit, that is a call with all its results, leaves whole (`gc_core/values/items.py`, "
                "`gc_core/collector/planner.py`), and the edited request is checked once more before it is committed "
                "(`gc_core/collector/collector.py`). `tests/test_rules.py` notices at once when the pairing of "
                "calls and "
                "results is disabled; I tried, and put it back."
            ),
        ),
    ),
    Turn(
        "Then a change: gc_truncate drops tiny steps too, which frees next to nothing. Give it an option spare_below, "
        "in tokens: units smaller than that stay. Default 0, as today; a negative value or a text is refused by name. "
        "Test first.",
        (
            Step("", (_read(STRATEGY), _list("plugins/gc_truncate"))),
            Step("How are options checked and named?", (_search(r"option", "gc_core/plugins/manager.py"),)),
            Step("", (_read("gc_core/plugins/manager.py", 120, 230),)),
            Step(
                "How a test makes a session:",
                (_search(r"GCSession\(", "tests"), _read("gc_core/values/config.py", 60, 142)),
            ),
            Step("The test.", (Call("write_file", {"path": NEW_TEST, "text": TEST_TEXT}, "wrote"),)),
            Step("It has to fail now.", (_test(NEW_TEST, "exit code 1"),)),
            Step(
                "As it should. Now the option.",
                (_edit(STRATEGY, OLD_CLASS, "@attrs.frozen\nclass Truncate:\n    spare_below: int = 0\n"),),
            ),
            Step("", (_test(f"{NEW_TEST} --tb=short", "exit code 1"),)),
            Step("The option is taken, but neither checked nor obeyed.", (_read(STRATEGY, 14, 45),)),
            Step(
                "",
                (
                    _edit(STRATEGY, "    spare_below: int = 0\n", ""),
                    _edit(
                        STRATEGY,
                        "    def collect(",
                        CHECKED_OPTION + "    def collect(",
                    ),
                    _edit(
                        STRATEGY,
                        OLD_COLLECT,
                        FIRST_COLLECT,
                    ),
                ),
            ),
            Step("", (_test(f"{NEW_TEST} --tb=short"),)),
            Step(
                "They pass. But steps of recent turns are still told by their position behind the old ones, which no "
                "longer holds.",
                (_read(STRATEGY, 18, 48),),
            ),
            Step(
                "",
                (
                    _edit(
                        STRATEGY,
                        FIRST_COLLECT,
                        "for unit in units if not context.is_recent(unit)]",
                    ),
                    _edit(
                        STRATEGY,
                        "        old = [unit",
                        SPARED + "        old = [unit",
                    ),
                    _edit(STRATEGY, "in context.collectable[len(old) :]:", "in units[len(old) :]:"),
                ),
            ),
            Step("", (_test(f"{NEW_TEST} --tb=short"),)),
            Step("What the whole strategy looks like now:", (_read(STRATEGY),)),
            Step("Who else uses it?", (_search(r"Truncate|gc_truncate", "."),)),
            Step("What else has tests nearby.", (_test("plugins tests/test_calibration.py tests/test_models.py"),)),
            Step(
                f"Done: `spare_below` in `{STRATEGY}`, checked by attrs, with its tests in `{NEW_TEST}`. With the "
                "default nothing changes."
            ),
        ),
    ),
    Turn(
        "While you are at it: are tokens counted once, when a message enters, or again at every call? I saw the "
        "session slow down with a 10 MB log.",
        (
            Step("", (_search(r"\.count\(|part_tokens\(|schema_tokens\("),)),
            Step("", (_read("gc_core/providers/token_counting.py", 1, 110),)),
            Step("", (_read("gc_core/providers/token_counting.py", 110, 230),)),
            Step("Where a message becomes items:", (_search(r"    def ", "gc_core/window/intake.py"),)),
            Step("", (_read("gc_core/window/intake.py", 335, 420),)),
            Step("And what a change costs in the budget:", (_read("gc_core/window/budget.py", 1, 120),)),
            Step("", (_read("gc_core/window/budget.py", 200, 330),)),
            Step(
                "Very long texts:", (_search(r"LONG_TEXT|_pieces|_SEAM|PIECE", "gc_core/providers/token_counting.py"),)
            ),
            Step("", (_test("tests/test_tokens.py --durations=5"),)),
            Step("How long results are shortened:", (_read("gc_core/window/stubs.py", 1, 120),)),
            Step(
                "Once. `gc_core/window/intake.py` counts each part when it enters, `gc_core/window/budget.py` adds "
                "and subtracts "
                "along one path of the tree, and `gc_core/providers/token_counting.py` remembers counts by digest. "
                "A text of 10 MB is "
                "counted in pieces; `tests/test_tokens.py` has such texts. What you saw happens once for each such "
                "log, not once a call."
            ),
        ),
    ),
    Turn(
        "A customer wants to bring a strategy of their own, in a package of their own. What do they have to write, and "
        "what happens when it raises?",
        (
            Step(
                "The hooks first, and the smallest strategy there is.",
                (_read("gc_core/plugins/hookspecs.py"), _read("gc_core/plugins/nogc.py")),
            ),
            Step("How plugins are found and kept apart.", (_read("gc_core/plugins/manager.py", 60, 180),)),
            Step("What a strategy may know of the window.", (_read("gc_core/values/protocols.py", 20, 75),)),
            Step("", (_read("gc_core/window/view.py", 1, 120),)),
            Step("", (_read("gc_core/window/view.py", 120, 210),)),
            Step(
                "Which errors there are, and who raises them.",
                (_read("gc_core/errors.py"), _search(r"raise PluginError|guarded\(")),
            ),
            Step("What a host is told.", (_read("gc_core/events.py"),)),
            Step("How a package announces itself.", (_read("plugins/gc_truncate/pyproject.toml"),)),
            Step(
                "A module with a frozen class that has `collect(context, goal)`, a function marked `@hookimpl` that "
                "registers it under a name, and an entry point in the group `gc_core`; `plugins/gc_truncate` is the "
                "pattern, `gc_core/plugins/nogc.py` the smallest one. When it raises or yields something else than "
                "removals, "
                "`gc_core/plugins/manager.py` keeps the error in `failures`, the pass goes on without it, and "
                "after three "
                "failures it is no longer asked. It cannot break a request: the core checks what it proposes."
            ),
        ),
    ),
    Turn(
        "Last one. Document spare_below in the README of the plugin, in a line or two, and run once more what you "
        "touched.",
        (
            Step("", (_read("plugins/gc_truncate/README.md"), _read(STRATEGY, 1, 45))),
            Step(
                "",
                (
                    _edit(
                        "plugins/gc_truncate/README.md",
                        "the oldest turns go first.\n",
                        "the oldest turns go first.\n\n`spare_below` (tokens, default 0): units smaller than this "
                        "stay, for dropping them frees little.\n",
                    ),
                ),
            ),
            Step("", (_read("plugins/gc_truncate/README.md"),)),
            Step("", (_test(f"plugins {NEW_TEST} tests/test_models.py -v"),)),
            Step("`plugins/gc_truncate/README.md` has the option, and the tests of what I touched pass."),
        ),
    ),
)


if __name__ == "__main__":
    main()
