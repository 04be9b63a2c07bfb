"""The page of a report: one self-contained HTML file. Needs the extra ``report``."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import importlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Final

import attrs
import cattrs

from ctxgc.report.values import Report
from gc_core.errors import ConfigError
from gc_core.values.policy import GCPolicy

NEEDED: Final = ("jinja2", "plotly")
"""The packages that the extra ``report`` installs."""

HOW_TO_INSTALL: Final = 'pip install "ctxgc[report]"'

_HERE = Path(__file__).parent
_SCRIPTS = ("charts.js", "page.js")
_POLICY = (
    "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)

_LOCKED = "●"
"""Beside ◑ ◐ ○, which every font for text has. The lock that a terminal shows needs a font of emoji."""


@attrs.frozen(kw_only=True)
class _Tile:
    """A figure at the top of the page."""

    label: str
    value: str
    note: str


def page(report: Report) -> bytes:
    """
    Return the page as UTF-8, everything in it: charts, styles, and every text once, compressed.

    The session's content is in the page's markup only as one island of base64 and in escaped texts, and the page's own
    policy allows only gc-core's scripts to run, and nothing to be fetched.

    Raises ConfigError, saying what to install, without the extra ``report``.
    """
    jinja2, plotly = map(_needed, NEEDED)
    library = (Path(str(plotly.__file__)).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    scripts = [_inlined(text) for text in (library, *((_HERE / name).read_text("utf-8") for name in _SCRIPTS))]
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string((_HERE / "page.html").read_text("utf-8"))
    text: str = template.render(
        report=report,
        made=dt.datetime.fromtimestamp(report.made, dt.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        policy=_POLICY.format(" ".join(map(_hash, scripts))),
        style=(_HERE / "page.css").read_text("utf-8"),
        scripts=scripts,
        tiles=tuple(_tiles(report)),
        island=_island(report),
    )
    return text.encode("utf-8", "replace")


def _needed(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ConfigError(f"a report needs {name}: {HOW_TO_INSTALL}") from error


def _inlined(script: str) -> str:
    """Return a script in a form that may be inside the page: nothing in it ends it."""
    return script.replace("\r\n", "\n").replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _hash(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _island(report: Report) -> str:
    """Return the report for the page's scripts: no character of it can mean anything to HTML."""
    values = {
        "report": cattrs.unstructure(report),
        "indicators": {policy.value: _LOCKED if policy is GCPolicy.LOCKED else policy.indicator for policy in GCPolicy},
    }
    # Escaped to ASCII: lone surrogates, which have no UTF-8 form, are preserved.
    packed = zlib.compress(json.dumps(values, separators=(",", ":")).encode("ascii"))
    return base64.b64encode(packed).decode("ascii")


def _tiles(report: Report) -> Iterator[_Tile]:
    calls, collections = report.calls, report.collections
    largest = max(calls, key=lambda call: call.tokens, default=None)
    yield _Tile(label="Model calls", value=f"{len(calls):,}", note=f"{len(report.items):,} items")
    if largest is not None:
        share = f"{100 * largest.tokens / largest.limit:.0f} % of {largest.limit:,}" if largest.limit > 0 else ""
        yield _Tile(label="Largest request", value=f"{largest.tokens:,}", note=f"tokens, {share}")
    freed = sum(change.freed for change in collections)
    yield _Tile(label="Collections", value=f"{len(collections):,}", note=f"{freed:,} tokens freed")
    read = sum(call.cost.read for call in calls)
    asked = read + sum(call.cost.written + call.cost.fresh for call in calls)
    if asked:
        simulated = "" if any(call.cost.recorded for call in calls) else ", simulated"
        yield _Tile(
            label="Read from the cache", value=f"{100 * read / asked:.0f} %", note=f"of {asked:,} tokens{simulated}"
        )
        price = sum(call.cost.price for call in calls)
        value = f"${price:,.2f}" if report.priced else f"{price:,.0f}"
        unit = "of all calls" if report.priced else "tokens' worth of plain input"
        yield _Tile(label="Cost", value=value, note=f"{unit}{simulated}")
