"""Who may use a gateway: the token in a path or a header, and the names under which a loopback is called."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote, urlsplit

from starlette.requests import Request

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})

_CREDENTIALS: Final = re.compile(r"""(^['"](?:\w+://)?|//)[^\s'"]*@""")

_TOKEN_FIRST: Final = re.compile(r"/(?!v\d)[^/]+/(?:v\d|mcp$|chat/completions$|responses)")
"""A path whose first part belongs to no API, and may be meant as the token."""


def is_token(given: str, token: str) -> bool:
    """True for the token; takes as long for every other text of its length."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode("utf-8", "surrogatepass"))


def path_of(request: Request) -> str:
    """Return the unchanged path of a request, including its escapes."""
    path: bytes = request.scope["raw_path"]
    return path.decode("latin-1").partition("?")[0]


def without_token(path: str, headers: Mapping[str, str], token: str) -> str | None:
    """Return the path without the token; None where a token is asked for and neither path nor headers have it."""
    if not token:
        return path
    first, _, rest = path.removeprefix("/").partition("/")
    if is_token(first, token):
        return f"/{rest}"
    return path if is_token(headers.get("x-gc-token", ""), token) else None


def refusal(path: str, headers: Mapping[str, str]) -> str:
    """Return why a request is refused: its token is missing, or wrong."""
    is_given = "x-gc-token" in headers or _TOKEN_FIRST.match(path) is not None
    return "the token for this gateway is wrong" if is_given else "the token for this gateway is missing"


def is_plain(path: str) -> bool:
    """True for a path that begins with one slash and has no step upwards, however often that is escaped."""
    bare, before = path, ""
    while bare != before:
        bare, before = unquote(bare), bare
    steps = {step.partition(";")[0] for step in bare.replace("\\", "/").split("/")}
    return bare.startswith("/") and not bare.startswith("//") and "\\" not in bare and not {".", ".."} & steps


def without_credentials(url: str) -> str:
    """Return a base URL without a user's name and password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def shown(value: object) -> str:
    """Return a wrong value as an error shows it: cut, and without what may be a user's name and password."""
    return _CREDENTIALS.sub(r"\1", repr(value))[:200]


def is_loopback(host: str) -> bool:
    """
    True for a ``Host`` header that names the loopback. Another name may lead here too, if a web page made its own name
    resolve so: it would read what it is given as its own.
    """
    try:
        return urlsplit(f"//{host}").hostname in LOOPBACK
    except ValueError:
        return False
