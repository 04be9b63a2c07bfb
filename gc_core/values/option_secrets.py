"""Secrets among options: recognised by name, however deeply nested, and kept out of files and messages."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

from gc_core.values.patterns import regex

_WORDS = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_SECRET_WORDS = frozenset(
    {
        *("apikey", "auth", "authentication", "authorisation", "authorization", "bearer", "cookie", "cookies"),
        *("credential", "credentials", "jwt", "passphrase", "passwd", "password", "passwords", "pwd"),
        *("secret", "secrets", "signature", "token"),
    }
)
_RUN_TOGETHER = ("apikey", "accesskey", "secretkey", "privatekey", "password", "secret", "credential", "accesstoken")
_SCHEME = regex(r"\s{0,9}(?:bearer|basic|token|apikey)\s+\S", re.IGNORECASE)
_HEADER = regex(r"\s{0,9}([\w-]{1,100})\s{0,9}:")
_URL = regex(r"\s{0,9}[A-Za-z][\w+.-]{0,30}://")


def is_secret(name: object) -> bool:
    """
    Return whether an option, header or parameter of this name holds a secret: ``token``, ``apiKey``, ``X-Auth``, and
    names that end with the word ``key``, but not ``max_tokens``.
    """
    if not isinstance(name, str):
        return False
    words = [word.lower() for word in _WORDS.findall(name)]
    together = "".join(words)
    return (
        (bool(words) and words[-1] == "key")
        or not _SECRET_WORDS.isdisjoint(words)
        or any(each in together for each in _RUN_TOGETHER)
    )


def without_option_secrets(options: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """
    Return the options of each name without secrets: options named like secrets, unless they are numbers or flags;
    headers and pairs among nested values; values that look like ``Authorization``; user, password and secret parameters
    of URLs.
    """
    return {name: _of_mapping(own) for name, own in options.items()}


def option_secrets(options: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the secret texts that are left out, so that they can be removed from error messages too."""
    left = set(_texts(without_option_secrets(options)))
    for text in _texts(options):
        if text not in left:
            yield text
            yield from _in_url(text)


def _of_mapping(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in options.items() if not _holds(name, value)}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _of_mapping(value)
    if isinstance(value, list | tuple):
        kept = [_plain(each) for each in value if not _holds("", each)]
        return type(value)(kept) if type(value) in {list, tuple} else kept
    return _without_secrets_in_url(value) if isinstance(value, str) else value


def _holds(name: str, value: Any) -> bool:
    """Return whether an option is left out completely."""
    if isinstance(value, str):
        header = _HEADER.match(value)
        secret_header = header is not None and not _URL.match(value) and is_secret(header[1])
        return is_secret(name) or bool(_SCHEME.match(value)) or secret_header
    return _is_secret_pair(value) or (is_secret(name) and not (value is None or isinstance(value, bool | int | float)))


def _is_secret_pair(value: Any) -> bool:
    """Return whether it is a name and its value, the form in which clients take headers."""
    pair = 2
    return isinstance(value, list | tuple) and len(value) == pair and is_secret(value[0]) and isinstance(value[1], str)


def _without_secrets_in_url(text: str) -> str:
    """Return a URL without user, password and secret parameters; anything else as it is."""
    if not _URL.match(text):
        return text
    try:
        url = urllib.parse.urlsplit(text)
    except ValueError:
        return ""  # a password in it cannot be located
    query = "&".join(each for each in url.query.split("&") if not is_secret(each.partition("=")[0]))
    host = url.netloc.rpartition("@")[2]
    if (host, query) == (url.netloc, url.query):
        return text
    return urllib.parse.urlunsplit(url._replace(netloc=host, query=query))


def _in_url(text: str) -> Iterator[str]:
    """Yield the secrets in a URL: its password, and values of parameters."""
    if not _URL.match(text):
        return
    user = text.partition("://")[2].partition("/")[0].rpartition("@")[0]
    yield from filter(None, (user, user.partition(":")[2]))
    for each in text.partition("?")[2].partition("#")[0].split("&"):
        name, _, value = each.partition("=")
        if is_secret(name) and value:
            yield value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
    else:
        yield str(value)
