"""The commands ``ctxgc gateway`` and ``ctxgc run``: agents behind the gateway of the distribution gc-gateway."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import secrets
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from gc_core.errors import GCError

if TYPE_CHECKING:
    from gc_gateway.app import Gateway
    from gc_gateway.lanes import Lanes
    from gc_gateway.overview import Counts
    from gc_gateway.settings import Settings

_LOG_NAME: Final = "gateway.log"
_EXAMPLE: Final = "'gpt-5*=200000'"

_Upstream = Annotated[
    list[str] | None,
    typer.Option(
        "--upstream",
        metavar="DIALECT=URL",
        help="Provider of anthropic, openai, responses or gemini, with or without /v1.",
    ),
]
_Window = Annotated[
    list[str] | None,
    typer.Option(
        "--window", metavar="MODEL=TOKENS", help="Window of the models that a pattern names: 'gpt-5*=200000'."
    ),
]
_Config = Annotated[Path | None, typer.Option(help="A TOML file with tables [gateway] and [gc].", dir_okay=False)]
_Directory = Annotated[Path | None, typer.Option(help="Where the conversations are kept.", file_okay=False)]


def gateway(
    *,
    host: Annotated[str | None, typer.Option(help="Address to listen on; loopback by default.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; a free one by default.", min=0, max=65_535)] = None,
    token: Annotated[str | None, typer.Option(help="What clients send as x-gc-token, or first in the path.")] = None,
    directory: _Directory = None,
    upstream: _Upstream = None,
    window: _Window = None,
    config: _Config = None,
) -> None:
    """
    Serve a base URL that keeps requests within windows. Agents that use it stay within the windows of their models,
    until SIGTERM or SIGINT.
    """
    with _reported():
        settings = _settings(
            config, host=host, port=port, token=token, directory=directory, upstream=upstream, window=window
        )
        from gc_gateway.serving import serve

        with _logging(sys.stderr):
            serve(settings, lambda url: typer.echo(f"gateway: {url}"))


def run(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The agent, with its arguments.")],
    *,
    directory: _Directory = None,
    upstream: _Upstream = None,
    window: _Window = None,
    config: _Config = None,
) -> None:
    """Run an agent behind its own gateway. Prints at the end what was saved."""
    with _reported():
        if shutil.which(command[0]) is None:
            raise _RefusedError(f"{command[0]}: command not found", status=127)
        settings = _settings(
            config, token=secrets.token_urlsafe(16), directory=directory, upstream=upstream, window=window
        )
        status = _run(command, settings)
    raise typer.Exit(status)


def _run(command: list[str], settings: Settings) -> int:
    """Return the command's exit status; as shells have it, 128 and the signal that ended it."""
    import attrs
    from gc_gateway.clients import client_of, endpoints_of
    from gc_gateway.serving import running

    from ctxgc.cli.child_process import wait_for

    client = client_of(command)
    endpoints = endpoints_of(client.upstreams(os.environ), settings.upstreams)
    upstreams = {name: endpoint.upstream for name, endpoint in endpoints.items()}
    # Port 0: whatever a configuration says, only this command uses the gateway.
    settings = attrs.evolve(settings, host="127.0.0.1", port=0, upstreams=upstreams)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_logging_to(settings.directory))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ctxgc-")))
        url, gateway = stack.enter_context(running(settings))
        urls = {name: f"{url}{endpoint.path}" for name, endpoint in endpoints.items()}
        if client.manual:
            typer.echo(f"ctxgc: {client.manual.format_map(urls)}", err=True)
        launch = client.launch(command, urls, os.environ, folder)
        status = wait_for(launch.command, launch.environment)
    _report_savings(gateway)
    return status


def _report_savings(gateway: Gateway) -> None:
    """Print on stderr what was done; the gateway has ended, so everything is counted."""
    from ctxgc.cli.tables import many

    totals, lanes = gateway.lanes.totals(), gateway.lanes
    saved = totals.given_tokens - totals.sent_tokens
    percent = 100 * saved / totals.given_tokens if totals.given_tokens else 0
    money = _money(totals.spent, totals.spent_without)
    typer.echo(f"ctxgc: {many(totals.calls, 'call')}, {many(totals.collections, 'collection')}", err=True)
    typer.echo(f"ctxgc: saved {saved:,} of {totals.given_tokens:,} input tokens ({percent:.0f}%), {money}", err=True)
    for line in _where(lanes, totals, gateway.settings.directory):
        typer.echo(f"ctxgc: {line}", err=True)


def _money(spent: float, without: float) -> str:
    if not without:
        return "money unknown: no price of the model, or no usage reported"
    return f"{without - spent:.2f} of {without:.2f} USD"


def _where(lanes: Lanes, totals: Counts, directory: Path) -> Iterator[str]:
    """Yield what was not collected for, and where to look."""
    from ctxgc.cli.tables import many

    log = directory / _LOG_NAME
    if totals.passed:
        sent = "was sent as it came" if totals.passed == 1 else "were sent as they came"
        yield f"{totals.passed:,} of {many(totals.calls, 'call')} {sent}, and nothing was collected for that: see {log}"
    if lanes.busiest:
        yield f"report: ctxgc report {shlex.quote(str(directory / lanes.busiest))}{_needed_for_reports()}"
    elif not totals.passed:
        yield f"no conversation passed through the gateway; its log is {log}"


def _needed_for_reports() -> str:
    """Return the end of the advice: what has to be installed before, or nothing."""
    from ctxgc.report.page import HOW_TO_INSTALL, NEEDED

    is_installed = all(importlib.util.find_spec(name) for name in NEEDED)
    return "" if is_installed else f" (first {HOW_TO_INSTALL})"


# -- settings ----------------------------------------------------------------------------------------------------------


class _RefusedError(GCError):
    """What the user asked for cannot be done. ``status`` is the exit status for it."""

    def __init__(self, text: str, *, status: int = 2) -> None:
        super().__init__(text)
        self.status = status


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    """Print an error and exit: 2 for what the user can put right."""
    try:
        yield
    except GCError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(error.status if isinstance(error, _RefusedError) else 2) from error


def _settings(config: Path | None, *, upstream: list[str] | None, window: list[str] | None, **flags: Any) -> Settings:
    """Return the gateway's settings. Raises GCErrors for what cannot be."""
    if importlib.util.find_spec("gc_gateway") is None:
        raise _RefusedError("the gateway is a separate distribution: pip install gc-gateway")
    from gc_gateway.settings_loading import load_settings

    upstreams = _pairs("--upstream", upstream, "anthropic=https://api.anthropic.com")
    windows = {model: _tokens(model, text) for model, text in _pairs("--window", window, _EXAMPLE).items()}
    return load_settings(config, upstreams=upstreams or None, windows=windows or None, **flags)


def _pairs(option: str, texts: list[str] | None, example: str) -> Mapping[str, str]:
    pairs = [text.partition("=") for text in texts or ()]
    wrong = next(("".join(pair) for pair in pairs if not pair[0] or not pair[2]), None)
    if wrong is not None:
        raise _RefusedError(f"{option} {wrong}: expected a name and a value, as in {option} {example}")
    return {name: value for name, _, value in pairs}


def _tokens(model: str, text: str) -> int:
    plain = text.replace("_", "").replace(",", "")
    if not plain.isdecimal() or not int(plain):
        raise _RefusedError(f"--window {model}={text}: expected a number of tokens, as in --window {_EXAMPLE}")
    return int(plain)


# -- logs --------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _logging_to(directory: Path) -> Iterator[None]:
    """Log to a file of the directory: the terminal is the agent's."""
    from gc_core.values.folders import private

    path = private(directory) / _LOG_NAME
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise _RefusedError(f"{path} cannot be written: {error.strerror}") from error
    with file, _logging(file):
        yield


@contextlib.contextmanager
def _logging(stream: Any) -> Iterator[None]:
    """Log there, one line an event, as long as the block runs."""
    import structlog

    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.root.addHandler(handler)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(stream),
    )
    try:
        yield
    finally:
        structlog.reset_defaults()
        logging.root.removeHandler(handler)
