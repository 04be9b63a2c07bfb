"""
How known agents are pointed at a gateway: by variables, arguments or a temporary file. Nothing is written to the user's
own files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from gc_gateway.dialects import DIALECTS

_VERSION: Final = "/v1"
"""What the base URLs of OpenAI's clients end with, and the gateway's upstreams do not."""


@attrs.frozen(kw_only=True)
class Endpoint:
    """
    Where one dialect is reached.

    Attributes:
        upstream: The provider's base URL, as the gateway takes it.
        path: What a client's base URL has after the gateway's: the version, if the client's own had one, or "".

    """

    upstream: str
    path: str = ""


Urls = Mapping[str, str]
"""The base URLs that clients are given, by dialect."""


@attrs.frozen(kw_only=True)
class Launch:
    """
    How a command is started.

    Attributes:
        command: The command, with the arguments that point it at the gateway.
        environment: All of its variables.

    """

    command: tuple[str, ...]
    environment: Mapping[str, str] = attrs.field(repr=False)


def _nothing(_urls: Urls, _environment: Mapping[str, str]) -> Mapping[str, str]:
    return {}


def _no_arguments(_urls: Urls, _folder: Path) -> Sequence[str]:
    return ()


@attrs.frozen(kw_only=True)
class Client:
    """
    An agent, and what points it at the gateway.

    Attributes:
        name: Its name, for people.
        commands: The names of its command.
        variables: Variables that are set to a dialect's URL, by name.
        own_upstreams: Variables that may hold the provider's URL without being set here, by name.
        settings: Returns further variables, from the gateway's URLs and the user's environment.
        arguments: Returns arguments that follow the command; files that they name are written to the folder.
        manual: What the user has to set, where nothing can be set for one run; ``{openai}`` stands for that dialect's
            URL.

    """

    name: str
    commands: tuple[str, ...]
    variables: Mapping[str, str] = attrs.field(factory=dict)
    own_upstreams: Mapping[str, str] = attrs.field(factory=dict)
    settings: Callable[[Urls, Mapping[str, str]], Mapping[str, str]] = _nothing
    arguments: Callable[[Urls, Path], Sequence[str]] = _no_arguments
    manual: str = ""

    def upstreams(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the base URLs that the user's variables already name, by dialect."""
        named = {**self.own_upstreams, **self.variables}
        return {dialect: environment[name] for name, dialect in named.items() if environment.get(name)}

    def launch(self, command: Sequence[str], urls: Urls, environment: Mapping[str, str], folder: Path) -> Launch:
        """Return how to start the command, so that its requests pass through the gateway."""
        variables = {name: urls[dialect] for name, dialect in self.variables.items()}
        changed = {**variables, **self.settings(urls, environment), **_past_proxies(environment)}
        first, *rest = command
        return Launch(command=(first, *self.arguments(urls, folder), *rest), environment={**environment, **changed})


def endpoints_of(given: Mapping[str, str], upstreams: Mapping[str, str]) -> dict[str, Endpoint]:
    """
    Return the endpoint of each dialect.

    Args:
        given: The base URLs that the user's variables name, as clients take them: they may end with a version.
        upstreams: The gateway's own upstreams, without a version; they go before those.

    """
    openai = given.get("openai") or given.get("responses", "")
    both = {**given, **({"openai": openai, "responses": given.get("responses") or openai} if openai else {})}
    return {name: _endpoint(name, both.get(name, ""), upstreams.get(name, "")) for name in DIALECTS}


def _endpoint(dialect: str, given: str, upstream: str) -> Endpoint:
    has_version = dialect in {"openai", "responses"}
    if upstream or not given:
        return Endpoint(upstream=upstream or DIALECTS[dialect].upstream, path=_VERSION if has_version else "")
    base = given.rstrip("/")
    path = _VERSION if has_version and base.endswith(_VERSION) else ""
    return Endpoint(upstream=base.removesuffix(_VERSION), path=path)


def client_of(command: Sequence[str]) -> Client:
    """Return the client that a command starts; the one for unknown programs if none is known by its name."""
    name = Path(command[0]).name
    return next((client for client in CLIENTS if name in client.commands), UNKNOWN)


def _past_proxies(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what keeps requests to the gateway from a proxy that the environment names."""
    if not any(environment.get(name) for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")):
        return {}
    names = ("NO_PROXY", "no_proxy")
    return {name: ",".join(filter(None, (environment.get(name), "127.0.0.1"))) for name in names}


# -- the clients -------------------------------------------------------------------------------------------------------


def _codex(urls: Urls, _folder: Path) -> Sequence[str]:
    return ("-c", f"openai_base_url={json.dumps(urls['responses'])}")


def _opencode(urls: Urls, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variable with configuration that opencode merges over its files, the user's own one kept."""
    name = "OPENCODE_CONFIG_CONTENT"
    bases = {
        "anthropic": f"{urls['anthropic']}{_VERSION}",
        "openai": urls["responses"],
        "google": f"{urls['gemini']}/v1beta",
    }
    try:
        held = json.loads(environment.get(name) or "{}")
    except ValueError:
        return {}  # opencode itself tells the user
    providers = held.setdefault("provider", {})
    for provider, base in bases.items():
        providers.setdefault(provider, {}).setdefault("options", {})["baseURL"] = base
    return {name: json.dumps(held)}


_PI_EXTENSION: Final = """export default function (pi) {{
  pi.registerProvider("anthropic", {{ baseUrl: {anthropic} }});
  pi.registerProvider("openai", {{ baseUrl: {openai} }});
  pi.registerProvider("google", {{ baseUrl: {google} }});
}}
"""


def _pi(urls: Urls, folder: Path) -> Sequence[str]:
    """Write an extension that gives pi's built-in providers another base URL: its models and keys stay as they are."""
    bases = {
        "anthropic": urls["anthropic"],
        "openai": urls["responses"],
        "google": f"{urls['gemini']}/v1beta",
    }
    path = folder / "gc-gateway.js"
    path.write_text(_PI_EXTENSION.format_map({name: json.dumps(url) for name, url in bases.items()}))
    return ("--extension", str(path))


_OPENAI: Final = {"OPENAI_BASE_URL": "openai"}
_LITELLM: Final = {"OPENAI_API_BASE": "openai", "OPENAI_BASE_URL": "openai", "ANTHROPIC_API_BASE": "anthropic"}

CLIENTS: Final = (
    Client(name="Claude Code", commands=("claude",), variables={"ANTHROPIC_BASE_URL": "anthropic"}),
    Client(name="Codex", commands=("codex",), own_upstreams={"OPENAI_BASE_URL": "responses"}, arguments=_codex),
    Client(
        name="opencode",
        commands=("opencode",),
        own_upstreams={"ANTHROPIC_BASE_URL": "anthropic", "OPENAI_BASE_URL": "responses"},
        settings=_opencode,
    ),
    Client(name="Gemini CLI", commands=("gemini",), variables={"GOOGLE_GEMINI_BASE_URL": "gemini"}),
    Client(
        name="Cline",
        commands=("cline",),
        own_upstreams=_OPENAI,
        manual="Cline keeps its base URL in its settings; set it: cline auth -p openai -b {openai} -k KEY -m MODEL",
    ),
    Client(name="Qwen Code", commands=("qwen",), variables=_OPENAI),
    Client(name="pi", commands=("pi",), arguments=_pi),
    Client(name="aider", commands=("aider",), variables=_LITELLM),
    Client(name="mini-swe-agent", commands=("mini", "mini-swe-agent"), variables=_LITELLM),
    Client(name="llm", commands=("llm",), variables=_OPENAI),
)

UNKNOWN: Final = Client(
    name="",
    commands=(),
    variables={
        "ANTHROPIC_BASE_URL": "anthropic",
        **_LITELLM,
        "GOOGLE_GEMINI_BASE_URL": "gemini",
    },
    manual=(
        "no agent of this name is known; the variables of the vendors' clients are set. If it does not read them, set "
        "its base URL to {openai} (OpenAI) or {anthropic} (Anthropic)"
    ),
)
"""A program that is not in the table: most read the variables of the vendors' clients."""
