"""
The edits that OpenAI's Responses makes to the window on request: ``GCConfig.provider_edits`` in its requests.

Sources: OpenAI's guide to compaction, and the request types of the package openai 3.54 (November 2026).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gc_core.providers.client_arguments import EDITS, joined, not_set_by_host
from gc_core.providers.server_edits import ServerSide
from gc_core.values.provider_edits import ProviderEdits


def options(edits: ProviderEdits, usable: int, spared: Iterable[str]) -> dict[str, Any]:  # noqa: ARG001 - it clears none
    """Return the options that request the edits."""
    if edits.compact_percent is None:
        return {}
    return {EDITS: [{"type": "compaction", "compact_threshold": int(usable * edits.compact_percent / 100)}]}


def merged(options: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return both as ``joined`` does; if both request a kind of edit, the host's wins."""
    both = joined(options, own)
    ours, theirs = options.get(EDITS), own.get(EDITS)
    if isinstance(ours, list) and isinstance(theirs, Iterable):
        hosts = list(theirs)
        both[EDITS] = [*hosts, *not_set_by_host(ours, hosts)]
    return both


SERVER_SIDE: Final = ServerSide(keys=frozenset({"compact_percent"}), options=options)
