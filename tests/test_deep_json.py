"""JSON of any depth is taken or refused on arrival, and never ends in a RecursionError."""

import ast
import json
import sys
from pathlib import Path

import pytest
from ctxgc.evaluation.transcripts import read_transcript

import ctxgc
import gc_core
from gc_core import GCConfig, GCSession, compact
from gc_core.errors import GCError, MessageError
from gc_core.storage.audit import verify
from gc_core.storage.master_log import FILE_NAME
from gc_core.values.json_values import DEEPEST, DepthError, check_depth, leaves, read_json, rebuilt, strings
from tests.support.grids import half

ROOT = Path(gc_core.__file__).parent
SOURCES = [*ROOT.rglob("*.py"), *Path(ctxgc.__file__).parent.rglob("*.py")]


def nested(depth, end="the end", *, lists=False):
    value = end
    for _ in range(depth):
        value = [value] if lists else {"a": value}
    return value


def text(depth, *, lists=False):
    opening, closing = ("[", "]") if lists else ('{"a":', "}")
    return opening * depth + '"the end"' + closing * depth


def long_text(word="reading"):
    return " ".join(f"{word}{number}" for number in range(300))


# -- sessions ----------------------------------------------------------------------------------------------------------

ANTHROPIC, OPENAI, GEMINI, RESPONSES = "anthropic", "openai", "gemini", "responses"


def call(format_name, key, *, arguments):
    """A call whose arguments are a value, or a text where the provider takes one."""
    as_text = arguments if isinstance(arguments, str) else ""
    if format_name in {"openai", "responses"} and not as_text:
        as_text = json.dumps(arguments)
    match format_name:
        case "anthropic":
            return {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": key, "name": "edit", "input": arguments}],
            }
        case "openai":
            function = {"name": "edit", "arguments": as_text}
            return {"role": "assistant", "tool_calls": [{"id": key, "type": "function", "function": function}]}
        case "gemini":
            return {"role": "model", "parts": [{"functionCall": {"id": key, "name": "edit", "args": arguments}}]}
    return {"type": "function_call", "call_id": key, "name": "edit", "arguments": as_text}


def result(format_name, key, said):
    match format_name:
        case "anthropic":
            return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": key, "content": said}]}
        case "openai":
            return {"role": "tool", "tool_call_id": key, "content": said}
        case "gemini":
            answer = {"id": key, "name": "edit", "response": {"output": said} if isinstance(said, str) else said}
            return {"role": "user", "parts": [{"functionResponse": answer}]}
    return {"type": "function_call_output", "call_id": key, "output": said}


def user(format_name, said):
    match format_name:
        case "gemini":
            return {"role": "user", "parts": [{"text": said}]}
    return {"role": "user", "content": said}


def reply(format_name, said):
    match format_name:
        case "gemini":
            return {"role": "model", "parts": [{"text": said}]}
        case "responses":
            return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}
    return {"role": "assistant", "content": said}


def take(session, message):
    """The message, unless it is refused as it has to be; whether it was taken."""
    refused = None
    try:
        session.append(message)
    except MessageError as error:
        refused = str(error)
    assert refused is None or f"nested deeper than {DEEPEST} levels" in refused
    return refused is None


def lived(session, format_name, pair, *, steps=3):
    """A session with a call and its result among others, with collections; whether both were taken."""
    session.append(user(format_name, f"Edit the file. {long_text('wish')}"))
    taken = []
    for step in range(steps):
        deep, answer = pair
        if take(session, deep(f"c{step}")):
            taken += [True, take(session, answer(f"c{step}"))]
            if not taken[-1]:
                session.append(result(format_name, f"c{step}", "refused"))
        else:
            taken.append(False)
            session.append(call(format_name, f"c{step}", arguments={"path": "a.py", "text": long_text()}))
            session.append(result(format_name, f"c{step}", long_text("answer")))
        session.pre_send()
        session.append(reply(format_name, f"Done with {step}."))
        session.append(user(format_name, f"Go on with {step}."))
    session.pre_send()
    return taken


DEPTHS = (DEEPEST - 10, 450, 1_200)


def pairs(format_name, depth):
    """Deep arguments, as a value or as a text; deep results, as a text or, where the provider takes it, a value."""
    file = {"path": "a.py", "new_string": long_text()}
    plain = {"path": "a.py", "text": long_text()}
    strings_too = text(depth, lists=True)
    if format_name in {"openai", "responses"}:
        as_text = '{"path":"a.py","new_string":"' + long_text() + '","edits":' + text(depth) + "}"
        yield lambda key: call(format_name, key, arguments=as_text), lambda key: result(format_name, key, "ok")
    else:
        deep = {**file, "edits": nested(depth)}
        yield lambda key: call(format_name, key, arguments=deep), lambda key: result(format_name, key, "ok")
    yield (
        lambda key: call(format_name, key, arguments=plain),
        lambda key: result(format_name, key, f'{{"log": "{long_text()}", "tree": {strings_too}}}'),
    )
    if format_name == "gemini":
        yield (
            lambda key: call(format_name, key, arguments=plain),
            lambda key: result(format_name, key, {"log": long_text(), "tree": nested(depth, lists=True)}),
        )


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("format_name", half([ANTHROPIC, OPENAI, GEMINI, RESPONSES]))
def test_a_session_lives_on_whatever_the_depth(tmp_path, format_name, depth):
    for number, pair in enumerate(pairs(format_name, depth)):
        directory = tmp_path / str(number)
        config = GCConfig(strategy="gc_budget", context_limit=3_000, output_reservation=0)
        with GCSession(config, format=format_name, directory=directory) as session:
            taken = lived(session, format_name, pair)
            assert all(taken) or depth > DEEPEST
        with GCSession.open(directory, config) as session:
            lived(session, format_name, pair, steps=2)
            session.recall("i3")
            session.search("reading7")
        assert verify(directory) == ()


@pytest.mark.parametrize("depth", [DEEPEST + 1, 1_200, 20_000])
@pytest.mark.parametrize("lists", [False, True])
def test_what_is_too_deep_is_refused_wherever_it_comes_in(depth, lists):
    deep = nested(depth, lists=lists)
    config = GCConfig(strategy="gc_budget", context_limit=3_000, output_reservation=0)
    with GCSession(config, format="anthropic") as session:
        for refused in (
            lambda: session.append({"role": "user", "content": [{"type": "hologram", "payload": deep}]}),
            lambda: session.append({"role": "user", "content": "x", "trace": deep}),
            lambda: session.extend([{"role": "user", "content": "x", "trace": deep}]),
            lambda: session.post_turn(call("anthropic", "c", arguments={"a": deep})),
            lambda: session.tools([{"name": "look", "input_schema": {"type": "object", "properties": {"a": deep}}}]),
            lambda: compact([{"role": "user", "content": "x", "trace": deep}], 1_000),
        ):
            with pytest.raises(MessageError, match=r"nested deeper than \d+ levels"):
                refused()
        session.append({"role": "user", "content": "Hello."})
        assert len(session.pre_send().messages) == 1


def test_a_value_that_holds_itself_is_refused():
    round_and_round = {"role": "user", "content": "x"}
    round_and_round["both"] = [round_and_round, round_and_round]
    with GCSession(format="openai") as session, pytest.raises(MessageError, match="nested deeper"):
        session.append(round_and_round)


@pytest.mark.parametrize("format_name", [ANTHROPIC, GEMINI])
def test_the_deepest_message_is_taken_from_deep_inside_of_a_host(tmp_path, format_name):
    """A host has a stack of its own; what is taken there has to be taken everywhere."""
    deep = {"path": "a.py", "new_string": long_text(), "edits": nested(DEEPEST - 8)}

    def work():
        config = GCConfig(strategy="gc_budget", context_limit=3_000, output_reservation=0)
        with GCSession(config, format=format_name, directory=tmp_path) as session:
            answer = lambda key: result(format_name, key, long_text())  # noqa: E731 - one of a pair
            assert all(lived(session, format_name, (lambda key: call(format_name, key, arguments=deep), answer)))
        with GCSession.open(tmp_path, config) as session:
            session.pre_send()

    def down(levels):
        return work() if levels == 0 else down(levels - 1)

    down(350)


def test_a_transcript_with_a_deep_line_is_read_without_it(tmp_path):
    path = tmp_path / "chat.jsonl"
    lines = ['{"role":"user","content":"Hello."}', f'{{"role":"user","content":"x","deep":{text(5_000)}}}']
    path.write_text("\n".join([*lines, lines[0].replace("Hello", "Bye")]))
    transcript = read_transcript(path)
    assert [message["content"] for message in transcript.messages] == ["Hello.", "Bye."]
    assert "nested deeper" in str(transcript.warnings[0])


def test_a_log_with_a_line_that_is_too_deep_is_reported(tmp_path):
    with GCSession(format="openai", directory=tmp_path) as session:
        session.append({"role": "user", "content": "Hello.", "trace": {"a": 1}})
    log = tmp_path / FILE_NAME
    log.write_bytes(log.read_bytes().replace(b'{"a":1}', text(3_000).encode()))
    assert any("nested deeper" in str(finding) for finding in verify(tmp_path))
    with pytest.raises(GCError, match="nested deeper"):
        GCSession.open(tmp_path)


# -- values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        *('{"a": NaN}', "[Infinity]", "-Infinity", '{"a": 1e999}', "[-1e400]"),
        *(text(DEEPEST + 1), text(100_000), text(100_000, lists=True), "[" * 100_000, '{"a":' * 100_000),
        *("", "{", "nothing", "[1,]"),
    ],
    ids=lambda given: given[:12] or "empty",
)
def test_invalid_json_is_a_value_error(given):
    with pytest.raises(ValueError, match=r"."):
        read_json(given)


def test_brackets_inside_strings_are_not_levels():
    for given in ({"a": "[{" * 500}, ['"' + "[" * 500, "\\" + "[" * 500], [[]] * 500):
        assert read_json(json.dumps(given)) == given


@pytest.mark.parametrize("kind", ["chat", "responses"])
@pytest.mark.parametrize("arguments", ['{"a": NaN}', '{"a": [Infinity]}', text(DEEPEST + 1)])
def test_arguments_that_no_provider_reads_are_wrapped(kind, arguments):
    format_name = {"chat": "openai", "responses": "responses"}[kind]
    with GCSession(format=format_name) as session:
        session.append(user(format_name, "Look."))
        session.append(call(format_name, "c", arguments=arguments))
        session.append(result(format_name, "c", "ok"))
        message = session.pre_send().messages[1]
        said = message["arguments"] if kind == "responses" else message["tool_calls"][0]["function"]["arguments"]
        assert json.loads(said, parse_constant=pytest.fail) == {"arguments": arguments}


def test_a_number_that_json_does_not_have_is_refused_in_a_message():
    with GCSession(format="anthropic") as session:
        for number in (float("nan"), float("inf"), float("-inf")):
            with pytest.raises(MessageError, match="not JSON"):
                session.append({"role": "user", "content": [{"type": "hologram", "payload": number}]})


def test_walks_go_through_a_value_in_its_order():
    value = {"a": ["x", {"b": "y", "c": [[], {}, 1]}], "d": ("z",)}
    assert [*strings(value)] == [("a", "x"), ("b", "y"), ("d", "z")]
    assert [path for path, _ in leaves(value)] == [
        ("a", 0), ("a", 1, "b"), ("a", 1, "c", 0), ("a", 1, "c", 1), ("a", 1, "c", 2), ("d", 0)
    ]  # fmt: skip
    seen = []
    copy = rebuilt(value, lambda path, leaf: seen.append(path) or leaf)
    assert copy == {"a": ["x", {"b": "y", "c": [[], {}, 1]}], "d": ["z"]}
    assert seen == [("a", 0), ("a", 1, "b"), ("a", 1, "c", 2), ("d", 0)]


@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize("over", [-1, 0, 1, 50])
def test_depth_is_counted_the_same_in_a_text_and_in_a_value(over, lists):
    given = text(DEEPEST + over, lists=lists)
    value = nested(DEEPEST + over, lists=lists)
    if over <= 0:
        assert read_json(given) == value
        check_depth(value)
        return
    with pytest.raises(DepthError):
        read_json(given)
    with pytest.raises(DepthError):
        check_depth(value)


# -- no other walker ---------------------------------------------------------------------------------------------------

WORDS, BLOCKS, OWN = "a word or text that is shorter with each call", "as deep as providers nest blocks", "no JSON"
HOST = "options that the host itself has nested"
BOUNDED = {
    ("relevance.name_scan", "_names"): WORDS,
    ("ctxgc.evaluation.identifiers", "_named"): WORDS,
    ("storage.purge.secret", "_spans"): WORDS,
    ("relevance.shell", "read_command"): WORDS,
    ("relevance.shell", "_reading"): WORDS,
    ("relevance.shell", "places_searched"): WORDS,
    ("ctxgc.evaluation.cache_simulator", "_mark"): BLOCKS,
    ("providers.anthropic.format", "_marks"): BLOCKS,
    ("providers.anthropic.format", "_without_oldest_marks"): BLOCKS,
    ("providers.content_text", "_replaced"): BLOCKS,
    ("values.messages", "without_marks"): BLOCKS,
    ("providers.rules.prefix", "_cacheable"): BLOCKS,
    ("storage.usage_ledger", "checked"): OWN,
    ("ctxgc.inspector.tree", "_opened_below"): OWN,
    ("ctxgc.inspector.tree", "_reconcile"): OWN,
    ("ctxgc.inspector.tree", "_open_again"): OWN,
    ("ctxgc.inspector.tree", "_put"): OWN,
    ("learning.proposals", "_add"): OWN,
    ("learning.proposals", "_replace"): OWN,
    ("values.option_secrets", "_of_mapping"): HOST,
    ("values.option_secrets", "_plain"): HOST,
    ("values.option_secrets", "_texts"): HOST,
}
"""Functions that call themselves, and what ends them. None walks JSON."""


def test_nothing_in_the_library_calls_itself_but_what_is_known_to_end():
    found = {pair for path in SOURCES for pair in _circles(path)}
    assert found - BOUNDED.keys() == set()
    assert BOUNDED.keys() - found == set()


def test_json_is_read_in_one_place():
    """Python's own reader takes NaN, and a level of stack for each level of JSON."""
    read = {
        f"{path.parent.name}/{path.name}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "json"
        and node.attr in {"load", "loads", "JSONDecoder"}
    }
    assert {place.partition(":")[0] for place in read} == {"values/json_values.py"}


def _circles(path):
    """Functions of a module that can come back to themselves, by the names that they call."""
    root = next(root for root in (ROOT, Path(ctxgc.__file__).parent.parent) if root in path.parents)
    module = ".".join(path.relative_to(root).with_suffix("").parts)
    tree = ast.parse(path.read_text())
    scopes = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for scope in scopes:
        functions = {node.name: node for node in scope.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        calls = {name: _called(node, of_class=scope is not tree) & functions.keys() for name, node in functions.items()}
        for name in functions:
            reached, left = set(), [*calls[name]]
            while left:
                each = left.pop()
                if each not in reached:
                    reached.add(each)
                    left += calls[each]
            if name in reached:
                yield module, name


def _called(function, *, of_class):
    names = set()
    for node in ast.walk(function):
        if of_class and isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in {"self", "cls"}:
            names.add(node.attr)
        elif not of_class and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
    return names


def test_the_stack_that_tests_have_is_the_one_that_hosts_have():
    assert sys.getrecursionlimit() == 1_000
