"""
How known agents are pointed at a gateway: by variables, arguments or a temporary file. Nothing is written to the user's
own files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from gc_core.values.folders import private
from gc_gateway.dialects import DIALECTS
from gc_gateway.errors import GatewayError

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


def _nothing(_urls: Urls, _environment: Mapping[str, str], _folder: Path) -> Mapping[str, str]:
    return {}


def _no_upstreams(_environment: Mapping[str, str]) -> Mapping[str, str]:
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
        configured: Returns the base URLs that its own files name, by dialect.
        settings: Returns further variables, from the gateway's URLs and the user's environment; files that they name
            are written to the folder. Raises GatewayError if the client cannot be pointed at the gateway as it is.
        arguments: Returns arguments that follow the command; files that they name are written to the folder.
        manual: What the user has to set, where nothing can be set for one run; ``{openai}`` stands for that dialect's
            URL.

    """

    name: str
    commands: tuple[str, ...]
    variables: Mapping[str, str] = attrs.field(factory=dict)
    own_upstreams: Mapping[str, str] = attrs.field(factory=dict)
    configured: Callable[[Mapping[str, str]], Mapping[str, str]] = _no_upstreams
    settings: Callable[[Urls, Mapping[str, str], Path], Mapping[str, str]] = _nothing
    arguments: Callable[[Urls, Path], Sequence[str]] = _no_arguments
    manual: str = ""

    def upstreams(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the base URLs that the user's variables and files already name, by dialect."""
        named = {**self.own_upstreams, **self.variables}
        found = {dialect: environment[name] for name, dialect in named.items() if environment.get(name)}
        return {**found, **self.configured(environment)}

    def launch(self, command: Sequence[str], urls: Urls, environment: Mapping[str, str], folder: Path) -> Launch:
        """Return how to start the command, so that its requests pass through the gateway. Raises GatewayError."""
        variables = {name: urls[dialect] for name, dialect in self.variables.items()}
        changed = {**variables, **self.settings(urls, environment, folder), **_past_proxies(environment)}
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


def _opencode(urls: Urls, environment: Mapping[str, str], _folder: Path) -> Mapping[str, str]:
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


_CLINE_BASES: Final = {
    "openai-compatible": ("openai", ""),
    "openai-native": ("openai", ""),
    "anthropic": ("anthropic", _VERSION),
    "gemini": ("gemini", "/v1beta"),
}
"""Cline's providers that take a base URL: the dialect, and what its base URL has after the gateway's."""
_CLINE_SETTINGS: Final = "CLINE_PROVIDER_SETTINGS_PATH"


def _cline_file(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return what Cline knows of its providers; nothing if that cannot be read."""
    home = Path(environment.get("CLINE_DIR") or Path(environment.get("HOME", "~")).expanduser() / ".cline")
    data = Path(environment.get("CLINE_DATA_DIR") or home / "data")
    try:
        held = json.loads(Path(environment.get(_CLINE_SETTINGS) or data / "settings" / "providers.json").read_text())
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) and isinstance(held.get("providers"), dict) else {}


def _cline_settings(held: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the settings of the providers that take a base URL."""
    known = {name: held.get("providers", {}).get(name) for name in _CLINE_BASES}
    return {name: each["settings"] for name, each in known.items() if isinstance(each, dict) and "settings" in each}


def _cline_upstreams(environment: Mapping[str, str]) -> Mapping[str, str]:
    found = dict[str, str]()
    for name, settings in _cline_settings(_cline_file(environment)).items():
        dialect, path = _CLINE_BASES[name]
        if settings.get("baseUrl"):
            found.setdefault(dialect, settings["baseUrl"].rstrip("/").removesuffix(path))
    return found


def _cline(urls: Urls, environment: Mapping[str, str], folder: Path) -> Mapping[str, str]:
    """
    Write a copy of Cline's providers that names the gateway, for this run: it keeps base URLs in that file alone.

    Providers with a login are left out: Cline renews it in the file that it reads, and a copy would keep the new one.
    """
    held = _cline_file(environment)
    known, last = _cline_settings(held), held.get("lastUsedProvider", "")
    if last not in known:
        raise GatewayError(
            f"Cline's provider {last!r} takes no base URL: choose one of {', '.join(_CLINE_BASES)} with "
            "cline auth -p PROVIDER -k KEY -m MODEL"
        )
    copied = {
        name: {**held["providers"][name], "settings": {**settings, "baseUrl": urls[dialect] + path}}
        for name, settings in known.items()
        for dialect, path in (_CLINE_BASES[name],)
    }
    path = private(folder) / "cline-providers.json"
    path.touch(mode=0o600)  # it holds the user's keys
    path.write_text(json.dumps({**held, "providers": copied}))
    return {_CLINE_SETTINGS: str(path)}


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
        configured=_cline_upstreams,
        settings=_cline,
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
        "unknown agent: the variables that the vendors' clients read are set. If it ignores them, set its base URL "
        "to {openai} (OpenAI) or {anthropic} (Anthropic)"
    ),
)
"""A program that is not in the table: most read the variables of the vendors' clients."""
