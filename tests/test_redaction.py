"""Secrets are in no file: neither what a plugin masks, wherever it is said, nor what options are named for."""

import json

import attrs
import pytest

from gc_core import GCConfig, GCPolicy, GCSession, InstructionSource, Plugins, Usage, hookimpl
from gc_core.providers.rules import check_request
from gc_core.storage.audit import verify
from gc_core.values.option_secrets import is_secret, option_secrets, without_option_secrets
from tests.support.checker import complaints
from tests.support.say import lines

SECRET = "hunter2-🦊-correct"  # noqa: S105 - nobody's


class Masks:
    @hookimpl
    def gc_redact(self, text):
        return text.replace(SECRET, "[masked]") if SECRET in text else None


class Reports:
    """A summarizer that says what it must not know."""

    def summarize(self, request):  # noqa: ARG002 - the protocol
        return f"The build was run with {SECRET} and passed."


def bytes_under(directory):
    return {path.name: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def forms():
    return {SECRET.encode(), json.dumps(SECRET)[1:-1].encode()}


def said(format_name):
    """A task, a call and its result, a message of each kind with the secret in every text and name."""
    name, text, arguments = f"run_{SECRET}", f"It is {SECRET}.", {SECRET: {f"a {SECRET}": [SECRET]}}
    match format_name:
        case "openai":
            function = {"name": name, "arguments": json.dumps(arguments)}
            calls = [{"id": "c1", "type": "function", "function": function}]
            return (
                {"role": "user", "name": SECRET, "content": text},
                {"role": "assistant", "content": text, "tool_calls": calls},
                {"role": "tool", "tool_call_id": "c1", "content": f"{text}\n{lines(300)}"},
            )
        case "anthropic":
            result = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": text * 200}]}
            use = {"type": "tool_use", "id": "c1", "name": name, "input": arguments}
            return (
                {"role": "user", "content": text},
                {"role": "assistant", "content": [{"type": "text", "text": text}, use]},
                {"role": "user", "content": [result]},
            )
        case "responses":
            call = {"type": "function_call", "call_id": "c1", "name": name, "arguments": json.dumps(arguments)}
            return (
                {"role": "user", "content": text},
                call,
                {"type": "function_call_output", "call_id": "c1", "output": f"{text}\n{lines(300)}"},
            )
    response = {"name": name, "response": {SECRET: f"{text}\n{lines(300)}"}}
    return (
        {"role": "user", "parts": [{"text": text}]},
        {"role": "model", "parts": [{"functionCall": {"name": name, "args": arguments}}]},
        {"role": "user", "parts": [{"functionResponse": response}]},
    )


def schema_of(format_name):
    parameters = {"type": "object", "properties": {SECRET: {"type": "string", "description": SECRET}}}
    named = {"name": f"run_{SECRET}", "description": SECRET}
    match format_name:
        case "openai":
            return {"type": "function", "function": {**named, "parameters": parameters}}
        case "anthropic":
            return {**named, "input_schema": parameters}
        case "responses":
            return {"type": "function", **named, "parameters": parameters}
    return {**named, "parameters": parameters}


@pytest.mark.parametrize("format_name", ["openai", "anthropic", "responses", "gemini"])
def test_nothing_that_is_written_holds_what_a_plugin_masks(format_name, tmp_path):
    plugins = Plugins.discover()
    plugins.register(Masks())
    config = GCConfig(context_limit=20_000, strategy="gc_summarize", checkpoint_every_n_steps=1)
    with GCSession(config, format=format_name, directory=tmp_path, plugins=plugins, summarizer=Reports()) as session:
        session.tools([schema_of(format_name)], discoverable=[f"run_{SECRET}"])
        session.system(**{f"rules {SECRET}": SECRET})
        session.register_source(InstructionSource(name=f"team {SECRET}", policy=GCPolicy.EPHEMERAL))
        session.memory(f"team {SECRET}", **{f"notes {SECRET}": SECRET})
        session.enrich(**{f"clock {SECRET}": SECRET})
        session.objective = f"Find {SECRET}."
        for message in said(format_name):
            session.append(message)
        request = session.pre_send()
        assert check_request(request) == ()
        assert complaints(format_name, request.kwargs()) == []
        (result,) = [item.id for item in session.items() if item.kind.value == "tool_result"]
        assert session.condense({result: f"The key is {SECRET}."}).changed
        session.book(f"judge {SECRET}", Usage(input_tokens=5, output_tokens=1), model=f"model {SECRET}")
        lease = session.lease(2_000, name=f"docs {SECRET}")
        lease.deliver(f"It is {SECRET}.")
        for place in range(20):
            role, parts = {"gemini": ("model", "parts")}.get(format_name, ("assistant", "content"))
            text = f"Step {place}: {SECRET} {lines(20)}"
            said_now = [{"text": text}] if format_name == "gemini" else text
            session.post_turn({"role": role, parts: said_now})
            session.append({"role": "user", parts: said_now})
            session.pre_send()
        session.collect_now(target_percent=10, focus=SECRET)
        session.checkpoint()
        assert session.plugins.failures == []
    for name, data in bytes_under(tmp_path).items():
        assert not any(form in data for form in forms()), name
    assert verify(tmp_path) == ()


def test_names_that_are_masked_stay_different_and_the_same_ones_the_same():
    plugins = Plugins.discover()
    plugins.register(Masks())
    with GCSession(plugins=plugins) as session:
        names = [f"a_{SECRET}", f"b_{SECRET}", "plain"]
        session.tools([{"type": "function", "function": {"name": name, "parameters": {}}} for name in names])
        sent = [tool["function"]["name"] for tool in session.pre_send().tools]
        assert len(set(sent)) == 3
        assert sent[2] == "plain"
        call = {"id": "c1", "type": "function", "function": {"name": names[0], "arguments": "{}"}}
        session.append({"role": "user", "content": "Go."})
        session.append({"role": "assistant", "content": None, "tool_calls": [call]})
        (item,) = [item for item in session.items() if item.kind.value == "tool_call"]
        assert item.name == sent[0]


# --- options ----------------------------------------------------------------------------------------------------------

NAMED = [
    *("api_key", "apikey", "apiKey", "API-KEY", "token", "auth", "authorization", "Authorization", "access_token"),
    *("authToken", "client_secret", "password", "db_passwd", "X-Api-Key", "x-auth", "Cookie", "credentials", "bearer"),
    *("OPENAI_API_KEY", "accesstoken", "private_key", "secretkey", "session_token", "refreshToken"),
]
HARMLESS = ["max_tokens", "tokens", "keep_tokens", "author", "keyword", "tokenizer", "model", "keys_kept", "monkey"]


@pytest.mark.parametrize("name", NAMED)
def test_a_secret_is_known_by_its_name_wherever_it_is_nested(name):
    options = {
        "mine": {
            name: SECRET,
            "depth": 3,
            "headers": {name: SECRET, "Accept": "text"},
            "pairs": [[name, SECRET], ["Accept", "text"]],
            "nested": {"deep": [{name: [SECRET]}, ({name: {"x": SECRET}},)]},
            "lines": [f"{name}: {SECRET}", "Accept: text"],
            "url": f"https://host/v1?{name}={SECRET}&page=2",
        }
    }
    left = without_option_secrets(options)
    assert SECRET not in repr(left)
    assert left["mine"]["depth"] == 3
    assert left["mine"]["headers"] == {"Accept": "text"}
    assert left["mine"]["pairs"] == [["Accept", "text"]]
    assert left["mine"]["url"] == "https://host/v1?page=2"
    assert SECRET in set(option_secrets(options))


@pytest.mark.parametrize("name", HARMLESS)
def test_text_without_a_secret_stays(name):
    options = {"mine": {name: "value", "url": "https://host:8080/v1?page=2#a", "more": [name, 1, None, True]}}
    assert not is_secret(name)
    assert without_option_secrets(options) == options


def test_a_number_or_flag_is_not_a_secret_whatever_its_name():
    options = {"mine": {"token": 5, "auth": True, "password": None}}
    assert without_option_secrets(options) == options


@pytest.mark.parametrize(
    "url",
    [
        f"https://ada:{SECRET}@host/v1",
        f"postgresql+psycopg://{SECRET}@host:5432/db",
        f"https://host/?a=1&access_token={SECRET}",
        f"redis://:{SECRET}@host",
        f"https://[{SECRET}@host",
    ],
)
def test_credentials_in_urls_are_left_out(url):
    left = without_option_secrets({"mine": {"base_url": url}})["mine"]["base_url"]
    assert SECRET not in left
    assert SECRET in "".join(option_secrets({"mine": {"base_url": url}}))


@pytest.mark.parametrize("value", [f"Bearer {SECRET}", f"basic {SECRET}", f"Token {SECRET}"])
def test_the_value_of_an_authorization_header_is_masked_wherever_it_is(value):
    assert SECRET not in repr(without_option_secrets({"mine": {"extra": value, "more": ["x", value]}}))


def test_neither_files_nor_texts_hold_the_secrets_among_a_strategys_options(tmp_path):
    @attrs.frozen
    class Asks:
        token: str = ""
        headers: object = None
        depth: int = 1

        def collect(self, context, goal):  # noqa: ARG002 - the protocol
            return ()

    class Offers:
        @hookimpl
        def gc_register_strategies(self, register):
            register("asks", Asks)

    plugins = Plugins()
    plugins.register(Offers())
    options = {"token": SECRET, "headers": {"X-Api-Key": SECRET}, "depth": 2}
    config = GCConfig(strategy="asks", strategies={"asks": options})
    assert SECRET not in repr(config)
    with GCSession(config, directory=tmp_path, plugins=plugins) as session:
        session.append({"role": "user", "content": "Go."})
    assert not any(form in data for data in bytes_under(tmp_path).values() for form in forms())
    with GCSession.open(tmp_path, plugins=plugins) as again:
        assert again.config.strategies == {"asks": {"headers": {}, "depth": 2}}
