"""
The edits that Anthropic makes to the window on request: ``GCConfig.provider_edits`` in its requests.

Sources: Anthropic's guides to context editing and compaction, and the request types of the package anthropic 2.12
(November 2026).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from gc_core.errors import SourceError
from gc_core.providers.client_arguments import BODY, EDITS, HEADERS, edit_kind, joined, not_set_by_host
from gc_core.providers.server_edits import ServerConfig, ServerSide
from gc_core.values.provider_edits import ProviderEdits

LEAST_COMPACTION: Final = 50_000
"""Input tokens below which Anthropic accepts no compaction trigger."""

BETAS: Final = {"clear": "context-management-2025-06-27", "compact": "compact-2026-01-12"}
"""The betas that a request needs, by the first word of an edit's type."""

_BETA = "anthropic-beta"


def options(edits: ProviderEdits, usable: int, spared: Iterable[str]) -> dict[str, Any]:
    """Return the options that request the edits: fields of the body, and the betas they need."""
    asked = list(_edits(edits, usable, sorted(spared)))
    if not asked:
        return {}
    betas = dict.fromkeys(BETAS[str(edit["type"]).partition("_")[0]] for edit in asked)
    return {HEADERS: {_BETA: ",".join(betas)}, BODY: {EDITS: {"edits": asked}}}


def _edits(edits: ProviderEdits, usable: int, spared: list[str]) -> Iterator[dict[str, Any]]:
    if edits.thinking_turns is not None:
        keep = {"type": "thinking_turns", "value": edits.thinking_turns}
        yield {"type": "clear_thinking_20251015", "keep": keep}
    if edits.clear_percent is not None:
        excluded = {"exclude_tools": spared} if spared else {}
        yield {"type": "clear_tool_uses_20250919", "trigger": _tokens(usable, edits.clear_percent), **excluded}
    if edits.compact_percent is not None:
        trigger = _tokens(usable, edits.compact_percent)
        if trigger["value"] >= LEAST_COMPACTION:  # a provider's refusal may have made the window smaller
            yield {"type": "compact_20260112", "trigger": trigger}


def _tokens(usable: int, percent: float) -> dict[str, Any]:
    return {"type": "input_tokens", "value": int(usable * percent / 100)}


def merged(options: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return a session's options and a host's own arguments as one set of arguments: the host's win.

    Betas, headers and fields of the body are joined. If both request a kind of edit, the host's wins, in the order that
    the provider wants. A compaction that the host requests at once (``compaction``) excludes another one.
    """
    if not options or not own:
        return {**options, **own}
    ours, theirs = dict(options), dict(own)
    if "compaction" in own or "compaction" in own.get(BODY, {}):
        ours[BODY] = {name: value for name, value in ours.get(BODY, {}).items() if name != EDITS}
    before, asked = ours.get(BODY, {}).get(EDITS), _names(ours.get(HEADERS))
    by_host = None if before is None else theirs.pop(EDITS, None) or own.get(BODY, {}).get(EDITS)
    names = [*_names(own.get(HEADERS)), *((theirs.pop("betas", None) or ()) if asked else ()), *asked]
    both = joined(ours, theirs)
    if before is not None:
        both[BODY] = {**both[BODY], EDITS: with_edits(before, by_host)}
    if asked:
        both[HEADERS] = {**both[HEADERS], _BETA: ",".join(dict.fromkeys(names))}
    return both


def with_edits(ours: Mapping[str, Any], theirs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the ``context_management`` of both: thinking first, compaction last, the host's wins."""
    by_host = list((theirs or {}).get("edits") or ())
    edits = [*by_host, *not_set_by_host(ours["edits"], by_host)]
    return {**ours, **(theirs or {}), "edits": sorted(edits, key=_rank)}


def config(options: Mapping[str, Any], by_host: Mapping[str, Any] | None) -> ServerConfig:
    """Return the tools that the provider does not clear: by the options, overridden by the host's own setting."""
    ours = options.get(BODY, {}).get(EDITS)
    if ours is not None:
        return _config_of(with_edits(ours, by_host))
    return ServerConfig() if by_host is None else _config_of(by_host)


def _config_of(context_management: Mapping[str, Any]) -> ServerConfig:
    edits = context_management.get("edits") if isinstance(context_management, Mapping) else None
    if not isinstance(edits, Sequence) or not all(isinstance(edit, Mapping) for edit in edits):
        raise SourceError(f"context_management = {context_management!r:.200}: expected {{'edits': [...]}}")
    for edit in edits:
        if str(edit.get("type")).startswith("clear_tool_uses"):
            inputs = edit.get("clear_tool_inputs") or False
            named = inputs if isinstance(inputs, bool) else frozenset(inputs)
            return ServerConfig(excluded=frozenset(edit.get("exclude_tools") or ()), inputs=named)
    return ServerConfig()


def _rank(edit: Mapping[str, Any]) -> int:
    return {"clear_thinking": 0, "compact": 2}.get(edit_kind(edit), 1)


def _names(headers: Mapping[str, str] | None) -> list[str]:
    return [name for name in (headers or {}).get(_BETA, "").split(",") if name]


SERVER_SIDE: Final = ServerSide(
    keys=frozenset({"compact_percent", "clear_percent", "thinking_turns"}),
    least_compaction=LEAST_COMPACTION,
    options=options,
    config=config,
)
