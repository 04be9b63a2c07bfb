"""A provider is one folder and one value: a made-up fifth one works, and no module outside a folder names one."""

import ast
import asyncio
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from gc_core import AsyncGCSession, GCConfig, GCSession, Plugins, hookimpl
from gc_core.errors import ConfigError, MessageError
from gc_core.integrations.agent_tools import AgentTools
from gc_core.integrations.tool_worker import ToolResultWorker
from gc_core.plugins.middleware import accepted
from gc_core.providers import PROVIDERS
from gc_core.providers.cache_terms import terms_of
from gc_core.providers.model_families import family
from gc_core.providers.replies import miss_reason
from gc_core.providers.rules import check_collection, check_request
from gc_core.session.compact import compact
from gc_core.storage.audit import verify
from gc_core.storage.purge import purge
from tests.support.inside import window_of
from tests.support.quill.provider import QUILL
from tests.support.say import lines

SECRET = "hunter2-correct"  # noqa: S105 - nobody's


class Masks:
    @hookimpl
    def gc_redact(self, text):
        return text.replace(SECRET, "[masked]") if SECRET in text else None


@pytest.fixture(autouse=True)
def quill(monkeypatch):
    monkeypatch.setitem(PROVIDERS, QUILL.name, QUILL)  # the one line


def said(text):
    return {"role": "human", "content": [{"type": "text", "text": text}]}


def called(key, path, **more):
    function = {"name": "read", "arguments": json.dumps({"path": path})}
    return {"role": "quill", "content": None, "calls": [{"id": key, "type": "function", "function": function}], **more}


def answered(key, text):
    return {"role": "tool", "answers": key, "content": [{"type": "text", "text": text}]}


def session_of(directory=None, plugins=None, **config):
    config = GCConfig(**{"context_limit": 4_000, "output_reservation": 400, "strategy": "budget", **config})
    plugins = plugins or Plugins.discover()
    return GCSession(config, format="quill", model="quill-1", directory=directory, plugins=plugins)


def worked(session, steps=14, word="line"):
    """Rounds of a call and its result; every request that was made for them."""
    requests = []
    session.append(said("Fix the login test."))
    for place in range(steps):
        requests.append(session.pre_send())
        session.post_turn(called(f"c{place}", f"f{place}", stamp=f"s{place}"))
        session.append(answered(f"c{place}", lines(60, f"{word}{place}")))
    return [*requests, session.pre_send()]


def test_a_session_of_a_fifth_provider_collects_within_its_rules():
    with session_of() as session:
        requests = worked(session)
        assert session.last_result is not None
        assert session.last_result.changed
        assert {request.format for request in requests} == {"quill"}
        assert [check_request(request) for request in requests] == [()] * len(requests)
        assert set(requests[-1].kwargs()) == {"dialog", "guidance", "abilities"}
        assert max(request.tokens for request in requests) <= session.config.usable


def test_its_own_rules_are_checked():
    form = QUILL.format
    orphan = form.request(system=(), tools=(), messages=(said("x"), answered("c1", "y")), tokens=9)
    assert "C1" in {breach.rule for breach in check_request(orphan)}
    whole = (said("x"), called("c1", "f", stamp="s"), answered("c1", "y"), said("z"))
    before = form.request(system=(), tools=(), messages=whole, tokens=90)
    changed = (whole[0], {**whole[1], "extra": 1}, *whole[2:])
    after = form.request(system=(), tools=(), messages=changed, tokens=80)
    assert "Q2" in {breach.rule for breach in check_collection(before, after)}


def test_its_requests_carry_breakpoints_where_its_blocks_may():
    with session_of(context_limit=40_000) as session:
        session.system(rules=lines(40))
        *_, last = worked(session)
        blocks = [block for message in last.messages for block in message["content"] or ()]
        marked = [each for each in (*last.system, *blocks) if "cache_control" in each]
        assert len(marked) == 2


def test_its_tool_schemas_are_those_of_the_agents_tools():
    with session_of() as session:
        tools = AgentTools(session)
        session.tools(tools.schemas())
        assert {schema.keys() >= {"ability", "about", "takes"} for schema in tools.schemas()} == {True}
        session.append(said("What is there?"))
        assert {schema["ability"] for schema in session.pre_send().kwargs()["abilities"]} >= {"recall"}
        reply = called("c1", "x")
        reply["calls"][0]["function"] = {"name": "context_status", "arguments": "{}"}
        session.post_turn(reply)
        (message,) = tools.answer(reply)
        assert (message["role"], message["answers"]) == ("tool", "c1")


def test_its_texts_are_redacted_and_its_stamps_are_not(tmp_path):
    plugins = Plugins()
    plugins.register(Masks())
    with session_of(tmp_path, plugins, strategy="none") as session:
        session.append(said(f"The key is {SECRET}."))
        session.pre_send()
        session.post_turn(called("c1", SECRET, stamp=SECRET))
        human, reply = window_of(session).render().messages
        assert human["content"][0]["text"] == "The key is [masked]."
        assert "[masked]" in reply["calls"][0]["function"]["arguments"]
        assert reply["stamp"] == SECRET


def test_middleware_may_not_change_its_stamps():
    before = called("c1", "f", stamp="s")
    assert accepted("it", before, {**before, "note": "n"}, QUILL.format)["note"] == "n"
    with pytest.raises(MessageError, match="signed, encrypted or bound"):
        accepted("it", before, {**before, "stamp": "t"}, QUILL.format)


def test_a_purge_overwrites_its_texts(tmp_path):
    with session_of(tmp_path) as session:
        worked(session, word=f"{SECRET} ")
    purge(tmp_path, SECRET, by="a test")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()] == []
    assert verify(tmp_path) == ()
    with GCSession.open(tmp_path) as again:
        assert check_request(again.pre_send()) == ()


def test_a_list_of_its_messages_is_compacted():
    messages = [said("Fix it.")]
    for place in range(12):
        messages += [called(f"c{place}", f"f{place}"), answered(f"c{place}", lines(60))]
    messages.append(said("Go on."))
    short = compact(messages, 1_500, format="quill", model="quill-1")
    assert 2 <= len(short) < len(messages)
    assert check_request(QUILL.format.request(system=(), tools=(), messages=short, tokens=1)) == ()


def test_models_counting_streams_telemetry_and_misses_are_its_own():
    assert (family("quill-2-large").name, terms_of("quill-2-large").name) == ("quill", "quill")
    assert QUILL.invalidated_by("system") == ("system", "messages")
    assert miss_reason({"cache": {"why": "edited"}}) == "edited"
    genai = pytest.importorskip("gc_core.integrations.telemetry.genai")
    assert genai.Callee(format="quill", model="quill-1").attributes[genai.PROVIDER] == "quill_works"


def test_its_client_counts_requests():
    asked = []

    def weigh(**arguments):
        asked.append(arguments)
        return SimpleNamespace(weight=321)

    client = SimpleNamespace(dialogs=SimpleNamespace(weigh=weigh))
    with GCSession(format="quill", model="quill-1", request_counter=client) as session:
        session.append(said("x"))
        session.pre_send()
    with pytest.raises(ConfigError, match="Quill's weigh counts requests of the format 'quill'"):
        GCSession(format="openai", model="gpt-5", request_counter=client)


def test_a_call_that_streams_is_carried_out():
    async def run():
        ran = []

        def read(path):
            ran.append(path)
            raise OSError("gone")

        async with (
            AsyncGCSession(format="quill", model="quill-1") as session,
            ToolResultWorker(session, {"read": read}) as worker,
        ):
            session.append(said("x"))
            await session.pre_send()
            worker.on_stream({"called": "read", "key": "c1", "with": '{"path": "f"}'})
            reply = called("c1", "f")
            await session.post_turn(reply)
            await worker.answer(reply)
            return ran, (await session.pre_send()).messages[-1]

    ran, last = asyncio.run(run())
    assert ran == ["f"]
    assert last["failed"] is True


# -- no module outside a provider's folder names a provider ------------------------------------------------------------

ROOT = Path(__file__).parents[1]
FOLDERS = ("openai", "anthropic", "responses", "gemini")
NAMES = re.compile(r"anthropic|openai|gemini|^responses$|\bproviders\.responses\b|responsesformat", re.IGNORECASE)

MENTIONS = re.compile("|".join(FOLDERS), re.IGNORECASE)

MAY_NAME = {
    "gc_core/providers/__init__.py": "lists the providers, a line for each",
    "gc_core/integrations/anthropic_memory/__init__.py": "is an integration of the vendor's own package",
    "gc_core/integrations/lanes/bodies.py": "where the bodies of each API have their messages",
    "gc_core/integrations/telemetry/genai.py": "OpenTelemetry's word for a cloud's service holds a vendor's name",
    "gc_core/relevance/task_messages.py": "holds the first words of an agent's prompt",
    "gc_core/session/compact.py": "the default of the parameter format=",
    "gc_core/session/facade.py": "the default of the parameter format=",
    "gc_core/summaries/model_choice.py": "what litellm calls the vendors of the price list, who need not have a format",
    "gc_core/testing/conversations.py": "the kit's conversations are written in the two formats that most agents speak",
    "gc_core/testing/loopback.py": "a provider that speaks every API, for tests of adapters",
    "gc_core/testing/loopback_replies.py": "what it answers in each of them",
    "gc_core/testing/middleware.py": "the formats in which the kit tries a middleware",
    "ctxgc/src/ctxgc/cli/session_commands.py": "help that says whose logs are read, agents' and vendors'",
    "ctxgc/src/ctxgc/cli/session_output.py": "help that says whose logs are read, agents' and vendors'",
    "ctxgc/src/ctxgc/cli/gateway_commands.py": "the options of an upstream name dialects",
    "ctxgc/src/ctxgc/doctor/checks.py": "extras, and the variables from which litellm takes vendors' keys",
    "ctxgc/src/ctxgc/evaluation/agent_logs.py": "the formats in which three agents keep their own sessions",
    "ctxgc/src/ctxgc/evaluation/target_advice.py": "measurements of single models",
    "ctxgc/src/ctxgc/evaluation/transcripts.py": "the formats in which two agents keep their own sessions",
}
"""Modules outside the providers' folders whose code names one, and why. Docstrings and comments may: they cite."""


def words_in(tree):
    """Names, imports and texts of a module; docstrings are prose."""
    bodies = (node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list))
    prose = {id(each.value) for body in bodies for each in body if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in prose:
                yield text
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.alias(name=name):
                yield name
            case ast.ImportFrom(module=str(name)):
                yield name


def modules_that_name_a_provider():
    own = tuple(f"gc_core/providers/{folder}/" for folder in FOLDERS)
    for path in (*ROOT.glob("gc_core/**/*.py"), *ROOT.glob("ctxgc/src/**/*.py")):
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text()
        if name.startswith(own) or not MENTIONS.search(text):
            continue
        if any(map(NAMES.search, words_in(ast.parse(text)))):
            yield name


def test_no_module_outside_a_providers_folder_names_a_provider():
    assert sorted(modules_that_name_a_provider()) == sorted(MAY_NAME)


def test_a_provider_is_one_folder_and_is_listed():
    folders = {path.parent.name for path in ROOT.glob("gc_core/providers/*/provider.py")}
    assert folders == set(FOLDERS) == PROVIDERS.keys() - {QUILL.name}
